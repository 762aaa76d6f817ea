//! Tests of Lua sources that occupy LuaJIT's parser for very long, because each makes it walk a
//! list of earlier items. Every loader of scripts refuses them with a message.

use crate::bad_input::{Game, check_in_order, run_result};
use std::process::Command;

/// Lua expressions, each of which yields a source that would take minutes.
const SLOW_SOURCES: [&str; 4] = [
    "\"if true then \" .. (\"elseif true then \"):rep(900000) .. \"end\"",
    "\"return a\" .. (\" and a\"):rep(2600000)",
    "\"return a\" .. (\" or a\"):rep(2600000)",
    "\"return a\" .. (\"?a:a\"):rep(3000000)",
];

fn elseif_chain() -> String {
    format!("if true then {} end", "elseif true then ".repeat(900_000))
}

const REFUSED: &str = "it takes more than 2.5 seconds to compile (LOAD_SECONDS_MAX), as ";

#[test]
fn load_refuses_sources_that_compile_too_long() {
    let labels = "local t = {} for i = 1, 65000 do t[i] = \"goto a\" .. i .. \" ::a\" .. i .. \
                  \":: \" end return table.concat(t)";
    let mut main = String::from(
        "local function try(text)\n  local began = os.clock()\n  local chunk, problem = load(text, \
         \"=text\")\n  print(chunk, (problem or \"\"):sub(1, 200))\n  \
         assert(os.clock() - began < 3, os.clock() - began)\nend\n",
    );
    for text in SLOW_SOURCES {
        main += &format!("try({text})\n");
    }
    main +=
        &format!("try((function() {labels} end)())\ntry((\"goto a \"):rep(65000) .. \"::a::\")\n");
    let game = Game::new("loading", &main).with("settings.sjson", "limits = { init_seconds = 60 }");
    let arguments = ["--headless", "--realtime", "--frames", "1"];
    let result = run_result(game.command(&arguments).output().expect("the engine starts"));
    assert_eq!(result.code, Some(0), "{}", result.err);
    let long = format!("nil\ttext:1: {REFUSED}");
    let many = "nil\ttext:1: one function has more than 10000 of `goto`, `break`, `continue` and \
                `::` (JUMPS_MAX)";
    let deep = "nil\ttext:1: it is nested too deeply: write `a ? b : c` with ";
    check_in_order(&result.out, &[&long, &long, &long, deep, many, many]);
}

#[test]
fn script_files_have_the_same_compile_time_limit() {
    let game = Game::new("loading_main", &elseif_chain());
    let result = game.play(&[]);
    assert_eq!(result.code, Some(1));
    check_in_order(&result.err, &["Error: ", REFUSED, "divide it\n    In main.lua:1\n"]);

    let main = "print(pcall(require, \"long\"))";
    let game = Game::new("loading_module", main).with("long.lua", elseif_chain());
    let game = game.with("settings.sjson", "limits = { init_seconds = 60 }");
    check_in_order(&game.play(&[]).out, &["false\tlong.lua:1: ", REFUSED]);
}

#[test]
fn check_reports_scripts_that_compile_too_long() {
    let game = Game::new("loading_check", "").with("long.lua", elseif_chain());
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command
        .arg("check")
        .arg(&game.folder)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", &game.saves);
    command.env("XDG_CACHE_HOME", game.folder.with_file_name("cache"));
    let result = run_result(command.output().expect("the engine starts"));
    assert_eq!(result.code, Some(1), "{}", result.out);
    check_in_order(&result.err, &["long.lua:1: ", REFUSED]);
}
