//! Tests of a game's environment: its folder, its files, its settings, the command line, the save
//! folder.

use crate::bad_input::{Game, check_error, check_in_order, check_prints, run_result, scratch};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Runs the engine with these arguments. Returns the exit code, and standard error with `folder` as
/// `DIR`.
fn engine(folder: &Path, arguments: &[&OsStr]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.args(arguments).env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", folder.join("saves"));
    let result = run_result(command.output().expect("the engine starts"));
    (result.code, result.err.replace(&*folder.to_string_lossy(), "DIR"))
}

#[test]
fn folder_without_game_gets_explanation() {
    let base = scratch("no_game");
    std::fs::create_dir(base.join("empty")).unwrap();
    std::fs::write(base.join("file.lua"), "").unwrap();
    let rows = [
        ("missing", "error: there is no folder 'DIR/missing': give the game's folder, or make one with `engine new DIR/missing`\n"),
        ("file.lua", "error: 'DIR/file.lua' is a file: give the folder that it is in (a game is a folder with a main.lua)\n"),
        ("empty", "error: the game stopped before its first frame
Error: 'DIR/empty' has no main.lua
    A game is a folder with a main.lua, which the engine runs: write one, or make a game with `engine new NAME`\n"),
    ];
    for (name, message) in rows {
        let folder = base.join(name);
        let arguments = ["run", "--headless", "--frames", "1"].map(OsStr::new);
        let result = engine(&base, &[&arguments[..], &[folder.as_os_str()]].concat());
        assert_eq!(result, (Some(1), message.to_string()));
    }
}

#[test]
fn missing_boot_script_gets_suggestion() {
    let game = Game::new("boot", "").with("start.lua", "print(\"started\")");
    assert_eq!(game.play(&["--boot", "start"]).out, "started\n");
    let result = game.play(&["--boot", "strat"]).err;
    let expected =
        "there is no module 'strat' to start with, did you mean 'start'? (looked for strat.lua,";
    check_in_order(&result, &[expected, "boot_script in settings.sjson, or --boot, names it"]);
}

#[test]
fn invalid_command_line_exits_with_code_2() {
    let rows: [(&[&str], &str); 5] = [
        (&["run", "x", "--headles"], "tip: a similar argument exists: '--headless'"),
        (&["compile"], "required arguments were not provided:\n  --out <FOLDER"),
        (&["run", "x", "--frames", "many"], "invalid value 'many' for '--frames <N>'"),
        (
            &["run", "x", "--fixed-step", "0"],
            "must be a number of seconds, above 0 and at most 0.1",
        ),
        (&["dance"], "unrecognized subcommand 'dance'"),
    ];
    for (arguments, message) in rows {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let (code, output) = engine(Path::new("nowhere"), &arguments);
        check_in_order(&output, &[message]);
        assert_eq!(code, Some(2), "{output}");
    }
}

#[test]
fn invalid_settings_error_has_line_and_remedy() {
    let rows = [
        ("\nnmae = \"x\"", "settings.sjson:2: unknown setting 'nmae', did you mean 'name'?\n"),
        (
            "name = \"x",
            "settings.sjson:1:8: text is not closed: add '\"', or use \"\"\" for several lines\n",
        ),
        (
            "limits = { update_seconds = \"fast\" }",
            "settings.sjson:1: 'limits.update_seconds' must be a number, got text\n",
        ),
        (
            "limits = { update_seconds = 0 }",
            "settings.sjson:1: 'limits.update_seconds' must be 0.05 to 3600, got 0\n",
        ),
        ("time_step = [\"smothing\"]", "settings.sjson: 'time_step': "),
    ];
    for (i, (settings, message)) in rows.iter().enumerate() {
        check_error(&format!("settings_{i}"), settings, "print(1)", &[message]);
    }
}

#[test]
fn misspelled_callback_gets_a_warning() {
    let main = "function udpate(dt) end function draw() end function spawn() end \
                local function init_all() end init_all()";
    let warned = |name: &str, meant: &str| {
        format!(
            "warning: the global function '{name}' is never called by the engine: did you mean \
             '{meant}'?\n"
        )
    };
    let result = Game::new("callbacks", main).play(&[]);
    assert_eq!(result.err, warned("draw", "render") + &warned("udpate", "update"));
    let main = "function on_anim_event() end function on_animation_evnt() end";
    let result = Game::new("callbacks_short", main).play(&[]);
    let wanted = ["on_anim_event", "on_animation_evnt"].map(|it| warned(it, "on_animation_event"));
    assert_eq!(result.err, wanted.concat());
    let right = "function update(dt) end function render() end function updates() end";
    assert_eq!(Game::new("callbacks_right", right).play(&[]).err, "");
}

#[test]
fn module_load_error_gives_the_reason() {
    let game = Game::new("modules", "require(arg_ or Application.argv())")
        .with("scripts/enemy.lua", "")
        .with("a.lua", "require(\"b\")")
        .with("b.lua", "return require(\"a\")")
        .with("binary.lua", b"\x1bLJ\x02")
        .with("latin.lua", b"-- one\n-- caf\xe9")
        .with("wrong.lua", "x = = 1")
        .with("folder.lua/x.lua", "");
    let rows = [
        (
            "scripts.enmy",
            "require: there is no module 'scripts.enmy', did you mean 'scripts.enemy'? (looked for scripts/enmy.lua, scripts/enmy/init.lua, core/scripts/enmy.lua, core/scripts/enmy/init.lua)",
        ),
        (
            "a",
            "require: modules need each other in a circle: a -> b -> a: move what both need into a third module, or require one of them inside a function",
        ),
        (
            "binary",
            "require: binary.lua is a compiled chunk: games are text, put the Lua source there",
        ),
        ("latin", "require: latin.lua:2: the file is not UTF-8: save it as UTF-8 text"),
        ("wrong", "unexpected symbol near '='\n    In wrong.lua:1\n        1 | x = = 1"),
        (
            "../etc",
            "require: the module's name '../etc' must have a name between its dots or slashes, as in require \"scripts.enemy\"",
        ),
        ("folder", "require: there is no module 'folder' (looked for"),
    ];
    for (module, message) in rows {
        let result = game.play(&["--", module]);
        check_in_order(&result.err, &[&format!("When loading: main\nError: {message}")]);
        assert_eq!(result.code, Some(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn non_utf8_file_names_are_handled() {
    use std::os::unix::ffi::OsStrExt;
    let base = scratch("bytes");
    let folder = base.join(OsStr::from_bytes(b"yard\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("main.lua"), "print(\"played\") require(\"y\")").unwrap();
    std::fs::write(folder.join(OsStr::from_bytes(b"y\xfe.lua")), "").unwrap();
    let run = ["run", "--headless", "--frames", "1"].map(OsStr::new);
    let (code, message) = engine(&base, &[&run[..], &[folder.as_os_str()]].concat());
    check_in_order(
        &message,
        &["When loading: main\nError: require: there is no module 'y' (looked for y.lua"],
    );
    assert_eq!(code, Some(1), "{message}");
    let missing = base.join(OsStr::from_bytes(b"no\xff"));
    let (code, message) = engine(&base, &[&run[..], &[missing.as_os_str()]].concat());
    check_in_order(&message, &["error: there is no folder 'DIR/no\u{fffd}'"]);
    assert_eq!(code, Some(1));
    let argument = [OsStr::new("--"), OsStr::from_bytes(b"\xff")];
    let (code, message) = engine(&base, &[&run[..], &[folder.as_os_str()], &argument[..]].concat());
    check_in_order(&message, &["error: invalid UTF-8 was detected in one or more arguments"]);
    assert_eq!(code, Some(2));
}

#[test]
fn game_in_read_only_folder_plays_and_reports_failures() {
    // A file in place of a folder, because permissions do not stop root.
    let main = "Application.set_user_setting(\"volume\", 1)
local saved, problem = Application.save_user_settings()
print(saved, problem:match(\"user_settings.sjson cannot be written: Not a directory\") ~= nil)
print(Application.user_setting(\"volume\"))";
    let game = Game::new("unwritable", main).with(".engine", "");
    std::fs::write(&game.saves, "").unwrap();
    let result = game.play(&[]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    let message = "the game's folder is not written to: its data is in ";
    check_in_order(&result.out, &[message, "\nnil\ttrue\n1\n"]);
    check_in_order(&result.err, &["warning: ", "the definitions for editors are not written: "]);
}

#[test]
fn broken_user_settings_are_backed_up_and_defaults_used() {
    let main = "print(Application.user_setting(\"volume\"))
print((Application.user_settings_load_error():gsub(\"^.*/\", \"\")))
if Application.argv() == \"save\" then
  Application.set_user_setting(\"volume\", 5)
  Application.save_user_settings()
  Application.set_user_setting(\"volume\", 6)
  Application.save_user_settings()
end";
    let game = Game::new("broken_saves", main)
        .with("settings.sjson", "id = \"yard\"\nuser_settings = { volume = 3 }");
    let saves = game.saves.join("yard");
    std::fs::create_dir_all(&saves).unwrap();
    std::fs::write(saves.join("user_settings.sjson"), "volume = ").unwrap();
    let result = game.play(&[]);
    let expected = "3\nuser_settings.sjson:1:1: key 'volume' has no value: write one after it\n";
    assert_eq!((result.code, result.out.as_str()), (Some(0), expected), "{}", result.err);
    let text = std::fs::read_to_string(saves.join("user_settings.sjson")).unwrap();
    assert_eq!(text, "volume = ", "nothing is lost until the game saves");
    let message = "user_settings.sjson:1:1: key 'volume' has no value: write one after it (the \
                next save keeps that file as user_settings.broken.sjson)\n";
    check_in_order(&result.err, &["warning: the saved user settings are not used: ", message]);
    let result = game.play(&["--", "save"]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    let text = std::fs::read_to_string(saves.join("user_settings.broken.sjson")).unwrap();
    assert_eq!(text, "volume = ", "the first save alone puts it aside");
    let saved = std::fs::read_to_string(saves.join("user_settings.sjson")).unwrap();
    assert_eq!(saved.trim(), "volume = 6");
}

#[test]
fn invalid_player_bindings_fall_back_to_the_games() {
    let main = "Input.set_actions({ jump = 'space', fire = 'f', dash = 'q',
  go = { axis = 'pad:left.x' } })
for _, name in ipairs({ 'jump', 'fire', 'dash' }) do print(Input.bindings(name)[1]) end
print(Input.bindings('go', 'axis')[1], Input.bindings('go', 'negative')[1])";
    let saved = "input = { bindings = {
  jump = { bindings = [\"spce\"] }
  fire = 5
  dash = { bindings = [\"e\"], left = [\"a\"] }
  go = { negative = [\"a\"] axis = \"pad9:left.x\" }
  gone = { bindings = [\"x\"] }
} }";
    let game = Game::new("broken_bindings", main).with("settings.sjson", "id = \"yard\"");
    let saves = game.saves.join("yard");
    std::fs::create_dir_all(&saves).unwrap();
    std::fs::write(saves.join("user_settings.sjson"), saved).unwrap();
    let result = game.play(&[]);
    assert_eq!((result.code, result.out.as_str()), (Some(0), "space\nf\ne\npad:left.x\ta\n"));
    let one = |device: &str| {
        format!("warning: the player's bindings of {device} (the game's own are used)")
    };
    for device in [
        "jump: binding 'spce': there is no key 'spce', did you mean 'space'?",
        "fire: must be a table, got number 5",
        "dash: the action has no part 'left'",
        "go: binding 'pad9:left.x': there is no device 'pad9', did you mean 'pad'?",
    ] {
        assert!(result.err.contains(&one(device)), "{device}\n{}", result.err);
    }
}

#[test]
fn warnings_are_counted_per_location_at_exit() {
    let main = "function update()
  Script.warn(\"slow\")
  Script.warn(\"late\")
end";
    let result = Game::new("warned", main).play(&[]);
    let expected = [
        "warning: main.lua:2: slow\nwarning: main.lua:3: late\n",
        "warning: main.lua:2: warned 2 times\nwarning: main.lua:3: warned 2 times\n",
    ];
    assert_eq!(result.err, expected.concat());
}

#[test]
fn prints_go_to_stdout_and_messages_to_stderr() {
    let game =
        Game::new("streams", "print(\"score\", 3, nil)\nScript.warn(\"slow\")\nerror(\"boom\")");
    let result = game.play(&[]);
    assert_eq!(result.out, "score\t3\tnil\n");
    check_in_order(
        &result.err,
        &["warning: main.lua:2: slow\n", "error: the game stopped", "Error: boom\n"],
    );
    check_prints("bytes_printed", "print(\"caf\\233 \\0 ok\")", "caf\u{fffd} \0 ok");
}
