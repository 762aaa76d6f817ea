//! Tests of games that try to reach the engine through hot reload.

use super::harness::Game;
use engine::script::ScriptValue;

/// Loads the module `x` with a searcher, as the file and with the chunk name of this test. The
/// result of its first load has `first`, and that of each later load `later`.
fn game_with(first: &str, later: &str, name: &str, file: &str) -> Game {
    let begin = format!(
        "n = 0
         function evil() evils = (evils or 0) + 1 end
         table.insert(package.searchers, function(module)
           if module ~= 'x' then return end
           n = n + 1
           local text = n == 1 and [[return {{ f = {first} }}]] or [[return {{ f = {later} }}]]
           return load(text, '{name}'), '{file}'
         end)
         kept = {{ rawget = rawget, gmatch = string.gmatch('abc', '.') }}
         found, problem = pcall(require, 'x')"
    );
    let mut game = Game::start(&[("m.lua", "return 1")]);
    game.step(&begin).unwrap_or_else(|report| panic!("{report}"));
    game
}

#[test]
fn no_searched_module_can_claim_functions_of_the_engine() {
    let names = ["=[C]", "@[C]", "=[C]\\0x", "=[engine] boot/core", "=console", "@eval"];
    for (first, later) in [
        ("rawget", "coroutine.wrap(evil)"),
        ("rawget", "('x'):gmatch('.')"),
        ("kept.gmatch", "coroutine.wrap(evil)"),
        ("Gui.rect", "function() evil() end"),
    ] {
        for name in names {
            let mut game = game_with(first, later, name, "m.lua");
            game.step("assert(not found and problem:find('use another name', 1, true), problem)")
                .unwrap_or_else(|report| panic!("{name}: {report}"));
        }
        // Without the name, such functions are values like any other.
        let mut game = game_with(first, later, "@m.lua", "m.lua");
        game.step("assert(found, problem) require 'm'").unwrap();
        for round in 0..3 {
            game.reload(&[("m.lua", &format!("return {round}"))]);
            game.step(
                "assert(rawget == kept.rawget and rawget({ 4 }, 1) == 4 and not evils)
                 assert(Gui.rect ~= require 'x'.f or debug.getinfo(Gui.rect).what == 'C')",
            )
            .unwrap_or_else(|report| panic!("{first}: {report}"));
        }
        game.step("assert(kept.gmatch() == 'a' and kept.gmatch() == 'b')").unwrap();
    }
}

#[test]
fn a_file_of_a_searcher_cannot_have_a_name_of_the_engine() {
    for file in ["[C]", "[C]\\0", "[engine] boot/core", "console", "eval"] {
        let mut game = game_with("rawget", "evil", "@x.fnl", file);
        game.step(
            "assert(not found and problem:find('the file that package.searchers[3] returned', 1,
               true) and problem:find('use another name', 1, true), problem)",
        )
        .unwrap_or_else(|report| panic!("{file}: {report}"));
    }
}

#[test]
fn metamethods_of_package_loaded_run_only_in_the_dry_run() {
    let mut game = Game::start(&[("m.lua", "return { v = 1 }")]);
    game.step(
        "setmetatable(package.loaded, { __newindex = function(t, k, v)
           if k == 'y' and armed then while true do end end
           rawset(t, k, v)
         end })
         m = require 'm' package.loaded.y = 1 armed = true",
    )
    .unwrap();
    // The entry is put back after the dry run, when nothing can be interrupted.
    game.reload(&[("m.lua", "rawset(package.loaded, 'y', nil) return { v = 2 }")]);
    game.step("assert(m.v == 2 and rawget(package.loaded, 'y') == 1)").unwrap();
}

#[test]
fn the_environment_of_typed_lines_is_out_of_reach() {
    let mut game = Game::start(&[]);
    game.step(
        "function leak() seen = { getfenv(2), getfenv(1) } end
         function check(fn) return getfenv(fn) == _G, pcall(setmetatable, getfenv(fn), {}) end",
    )
    .unwrap();
    for line in ["leak()", "function made() return leak end"] {
        let arguments = [ScriptValue::Text(line.to_string())];
        game.app().vm().call_core("tool_eval", &arguments, 1.0).unwrap();
    }
    game.step("assert(seen[1] == _G and seen[2] == _G and getfenv(made) == _G)").unwrap();
}
