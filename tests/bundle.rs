//! Tests of bundles from the view of someone who ships a game: a bundle plays as the folder does,
//! its content, the messages about a damaged one, and an executable with an appended bundle.

mod corruption;
mod forged;
mod streamed_animations;

use crate::game_folder::{GameFolder, outcome};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with a game in its subfolder `game`.
struct Scratch(GameFolder);

impl Scratch {
    /// Creates the folder, with these files in its subfolder `game`.
    fn new(name: &str, files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch(GameFolder::new("bundle", name));
        fs::create_dir(scratch.path("game")).unwrap();
        for (path, text) in files {
            scratch.save(path, text);
        }
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn save(&self, path: &str, text: &str) {
        self.0.write(&format!("game/{path}"), text);
    }

    /// Runs a program in the folder.
    fn run<A: AsRef<OsStr>>(&self, program: impl AsRef<OsStr>, arguments: &[A]) -> RunResult {
        let (code, out, err) = outcome(&mut self.0.program(program, arguments));
        RunResult { code, out, err }
    }

    fn engine(&self, arguments: &str) -> RunResult {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        self.run(env!("CARGO_BIN_EXE_engine"), &arguments)
    }

    /// Compiles the folder into `game.bundle`.
    fn bundle(&self) -> PathBuf {
        let compiled = self.engine("compile game --bundle --out game.bundle");
        assert_eq!(compiled.code, 0, "{}{}", compiled.out, compiled.err);
        self.path("game.bundle")
    }

    /// Returns the text of all crash reports that were written.
    fn reports(&self) -> String {
        let games = fs::read_dir(self.path("saves")).into_iter().flatten().flatten();
        let files = games.flat_map(|game| fs::read_dir(game.path()).unwrap().flatten());
        let reports = files.filter(|file| file.file_name().to_string_lossy().starts_with("crash"));
        reports.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
    }
}

struct RunResult {
    code: i32,
    out: String,
    err: String,
}

impl RunResult {
    #[track_caller]
    fn check(&self, code: i32, out: &str, err: &str) {
        assert_eq!((self.code, &*self.out, &*self.err), (code, out, err));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let name = entry.file_name();
        match entry.path().is_dir() {
            true if name == ".engine" => {}
            true => copy(&entry.path(), &to.join(name)),
            false => drop(fs::copy(entry.path(), to.join(name)).unwrap()),
        }
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Game that queries its resources in every way that could differ between a folder and a bundle:
/// modules, variants, packages, settings, error messages.
const GAME: &[(&str, &str)] = &[
    ("settings.sjson", "version = \"2.1\"\nlinux = { user_settings = { volume = 0.5 } }"),
    (
        "main.lua",
        r#"require "strict"
local parts = require "parts"
print(parts, require("scripts.enemy"), Application.settings().version)
print(Application.user_setting("volume"), Application.argv())
print(Application.data("text", "secret_text"), Application.data("config", "level").hidden_key)
print(Application.can_get("text", "only"), Application.can_get("text", "nothing"))
local function print_error(fn, ...)
  local _, raised = pcall(fn, ...)
  print(raised)
end
print_error(require, "scripts.enemi")
print_error(require, "scripts/enemy")
print_error(Application.resource_package, "x")
local set
function init()
  Application.set_property_preference_order("secret_word")
  set = Application.resource_package("set")
  ResourcePackage.load(set)
end
function on_reload(names)
  print(table.concat(names, " "))
end
function update()
  print(Application.data("text", "secret_text"), Application.can_get("text", "only"))
  print(ResourcePackage.has_loaded(set), require("scripts.enemy"))
end
function shutdown()
  ResourcePackage.unload(set)
  print(Application.data("text", "secret_text"))
end
"#,
    ),
    ("parts/init.lua", "return 'parts'"),
    ("scripts/enemy.lua", "return 'enemy'"),
    ("secret_text.txt", "base"),
    ("secret_text.secret_word.txt", "word"),
    ("only.secret_word.txt", "only"),
    ("level.config", "hidden_key = 20"),
    ("set.package", "text = [\"secret_*\"]\nconfig = [\"level\"]"),
];

#[test]
fn bundle_behaves_like_its_folder() {
    let scratch = Scratch::new("same", GAME);
    scratch.bundle();
    let folder = scratch.engine("run game --headless --frames 3 -- a b");
    let bundle = scratch.engine("run game.bundle --headless --frames 3 -- a b");
    assert_eq!(folder.code, 0, "{}", folder.err);
    let expected = "parts\tenemy\t2.1\n0.5\ta\tb\nbase\t20\nfalse\tfalse\n";
    assert!(folder.out.starts_with(expected), "{}", folder.out);
    assert!(folder.out.contains("did you mean 'scripts.enemy'?"), "{}", folder.out);
    let changed = "only.text secret_text.text\nword\ttrue\ntrue\tenemy\n";
    assert!(folder.out.contains(changed), "{}", folder.out);
    bundle.check(0, &folder.out, &folder.err);
}

#[test]
fn property_preference_change_reloads_bundled_scripts() {
    let main = "local greeting = require 'greeting'\n\
                function init() Application.set_property_preference_order('fr') end\n\
                function on_reload(names) print(names[1], #names) end\n\
                function update()\n  print(greeting.words())\n  \
                Application.set_property_preference_order()\nend\n";
    let scratch = Scratch::new("scripts", &[("main.lua", main)]);
    for (path, word) in [("greeting.lua", "hello"), ("greeting.fr.lua", "bonjour")] {
        let text = format!("local M = {{}}\nfunction M.words() return '{word}' end\nreturn M\n");
        scratch.save(path, &text);
    }
    scratch.bundle();
    let reload_lines = "reloaded greeting.lua: 1 function\ngreeting.lua\t1\n";
    let expected = format!("{reload_lines}bonjour\n{reload_lines}hello\nhello\n");
    scratch.engine("run game --headless --frames 3").check(0, &expected, "");
    scratch.engine("run game.bundle --headless --frames 3").check(0, &expected, "");
}

#[test]
fn template_output_is_the_same_from_folder_and_bundle() {
    let scratch = Scratch::new("template", &[]);
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("game_template");
    copy(&template, &scratch.path("game"));
    let text = std::fs::read_to_string(template.join("main.lua")).unwrap();
    let more = "\nfunction shutdown() print(width, paddle.x, wind.speed) end\n";
    scratch.save("main.lua", &(text + more));
    scratch.bundle();
    let folder = scratch.engine("run game --headless --frames 400");
    assert!(folder.out.starts_with("1280\t640\t"), "{}{}", folder.out, folder.err);
    let bundle = scratch.engine("run game.bundle --headless --frames 400");
    bundle.check(0, &folder.out, &folder.err);
}

#[test]
fn executable_with_appended_bundle_plays_it() {
    let main = "print(Application.build(), Application.argv())\n\
                function update() Application.quit(7) end";
    let scratch = Scratch::new("appended", &[("main.lua", main)]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/linux.sh");
    if !cfg!(target_os = "linux") {
        return;
    }
    let compiled = scratch.run(&script, &["game", "out/play", env!("CARGO_BIN_EXE_engine")]);
    assert_eq!(compiled.code, 0, "{}{}", compiled.out, compiled.err);
    assert!(compiled.out.contains("out/play: "), "{}", compiled.out);
    let play = |display: Option<&str>, arguments: &[&str]| {
        let mut command = scratch.0.program(scratch.path("out/play"), arguments);
        command.env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET").env_remove("DISPLAY");
        outcome(command.envs(display.map(|display| ("DISPLAY", display))))
    };
    // A player gets a message in place of frames that nobody sees.
    let (code, out, err) = play(None, &[]);
    assert_eq!((code, &*out), (1, ""));
    assert!(err.starts_with("error: the game needs a window, and there is no display ("), "{err}");
    // The folder is not needed, and the bundle does not read files of the working directory.
    fs::remove_dir_all(scratch.path("game")).unwrap();
    fs::write(scratch.path("main.lua"), "print 'not this'").unwrap();
    #[cfg(target_os = "linux")]
    if let Some(display) = crate::window::display::Display::start() {
        let (code, out, err) = play(Some(&display.name), &["--help", "x"]);
        assert_eq!((code, &*out), (7, "release\t--help\tx\n"), "{err}");
        assert_eq!(play(Some(&display.name), &[]).1, "release\n");
    }
    let run = scratch.engine("run out/play");
    assert_eq!((run.code, &*run.out), (7, "release\n"), "{}", run.err);
    let usage = scratch.run(&script, &["game"]);
    assert_eq!(usage.code, 2, "{}", usage.err);
    let missing = scratch.run(&script, &["game", "x", "no_engine"]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.starts_with("there is no engine at no_engine: run "), "{}", missing.err);
}

#[test]
fn a_bundle_without_a_name_is_named_after_the_game() {
    let scratch = Scratch::new("default_name", &[("main.lua", "print('plays')")]);
    let compiled = scratch.engine("compile game --bundle");
    assert_eq!(compiled.code, 0, "{}", compiled.err);
    assert!(compiled.out.contains("game.bundle: "), "{}", compiled.out);
    assert_eq!(scratch.engine("run game.bundle --headless --frames 1").out, "plays\n");
    let compiled = scratch.engine("compile game");
    assert!(compiled.code == 2 && compiled.err.contains("--out"), "{}", compiled.err);
    // A second bundle of the folder does not contain the first one.
    let inside = |scratch: &Scratch| {
        let mut command = scratch.0.command(&["compile", "--bundle"]);
        command.current_dir(scratch.path("game"));
        outcome(&mut command)
    };
    let (code, out, err) = inside(&scratch);
    assert_eq!(code, 0, "{err}");
    assert_eq!(inside(&scratch).1, out);
}

#[test]
fn a_wrong_bundle_or_folder_is_explained() {
    let scratch = Scratch::new("wrong_place", &[("main.lua", ""), ("parts/a.lua", "")]);
    scratch.bundle();
    let check = |arguments: &str, wanted: &str| {
        let run = scratch.engine(arguments);
        let output = format!("{}{}", run.out, run.err);
        assert!(run.code != 0 && output.contains(wanted), "{arguments}: {output}");
    };
    for command in ["check", "test", "compile --bundle", "console"] {
        check(&format!("{command} game.bundle"), "is a bundle");
    }
    check("report game.bundle", "is a bundle");
    check("run .", "There is a game in the folder './game'");
    check("run game/parts", "There is a game in the folder above, '");
    scratch.save("../project.godot", "");
    fs::remove_file(scratch.path("game/main.lua")).unwrap();
    check("run .", "There is a bundle in it, which `engine run ./game.bundle` plays");
    fs::remove_file(scratch.path("game.bundle")).unwrap();
    check("run .", "Its project.godot is a file of Godot, whose games this engine does not run");
    check("console 1+1", "there is no folder '1+1': give the folder of the game that runs");
}

#[test]
fn bundle_contains_only_script_paths_as_names() {
    let scratch = Scratch::new("names", GAME);
    let bytes = fs::read(scratch.bundle()).unwrap();
    // The script itself contains the names as strings.
    let main = GAME[1].1.as_bytes();
    let at = bytes.windows(main.len()).position(|window| window == main).unwrap();
    let rest = [&bytes[..at], &bytes[at + main.len()..]].concat();
    // The bundle contains the settings, which have their own keys: `textures`.
    for name in ["secret", "level", ".text", "text\0", "hidden_key = "] {
        assert!(!contains(&rest, name), "{name}");
    }
    for path in ["main.lua", "scripts/enemy.lua", "parts/init.lua"] {
        assert!(contains(&rest, path), "{path}");
    }
}

#[test]
fn released_game_writes_nothing_next_to_its_bundle() {
    let scratch = Scratch::new("beside", &[("main.lua", "print 'hi'")]);
    let bundle = scratch.bundle();
    let folder = scratch.path("alone");
    fs::create_dir(&folder).unwrap();
    fs::rename(bundle, folder.join("game.bundle")).unwrap();
    scratch.engine("run alone/game.bundle --headless --frames 2").check(0, "hi\n", "");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn release_error_is_one_line_and_a_report() {
    let main = "-- a comment\nfunction update() local lives = 3 error('no lives') end";
    let files = [("main.lua", main), ("settings.sjson", "id = \"hero\"\nversion = \"1.5\"")];
    let scratch = Scratch::new("crash", &files);
    scratch.bundle();
    let result = scratch.engine("run game.bundle --headless");
    assert_eq!(result.code, 1);
    let mut lines = result.err.lines();
    let expected = "error: the game stopped in frame 1: main.lua:2: no lives";
    assert_eq!(lines.next(), Some(expected));
    assert!(lines.next().unwrap().starts_with("error: the report is in "), "{}", result.err);
    assert_eq!(lines.next(), None);
    let report = scratch.reports();
    for part in ["Game: game 1.5\n", "(linux, release)", "main.lua:2", "local lives = 3"] {
        let part = part.replace("linux", std::env::consts::OS);
        assert!(report.contains(&part), "no '{part}' in:\n{report}");
    }
}

#[test]
fn engine_memory_limit_applies_in_a_release() {
    let main = "local grid = Broadphase.new(1)\nfunction update()\n  \
                for i = 1, 1e7 do Broadphase.add(grid, i, Vector3(i, 0, 0), 1) end\nend";
    let settings = "limits = { engine_memory_mib = 32, update_seconds = 60 }";
    let scratch = Scratch::new("memory", &[("main.lua", main), ("settings.sjson", settings)]);
    scratch.bundle();
    let result = scratch.engine("run game.bundle --headless --frames 2");
    assert_eq!(result.code, 1);
    // Owners are not counted in a release.
    let full = "not enough memory: the engine holds all of its 32 MiB: release some of it, or raise \
                limits.engine_memory_mib in settings.sjson";
    assert!(result.err.contains(full), "{}", result.err);
}

#[test]
fn game_with_errors_or_no_main_script_is_not_bundled() {
    let scratch = Scratch::new("errors", &[("main.lua", ""), ("a.config", "x = [")]);
    let compiled = scratch.engine("compile game --bundle --out game.bundle");
    assert_eq!(
        (compiled.code, &*compiled.out),
        (
            1,
            "2 variants of 2 resources for linux: 2 new, 0 removed\n"
                .replace("2 variants of 2 resources", "1 variant of 1 resource")
                .replace("2 new", "1 new")
                .replace("linux", std::env::consts::OS)
                .as_str()
        )
    );
    assert!(
        compiled.err.starts_with("error: a.config:1:5: list is not closed"),
        "{}",
        compiled.err
    );
    assert!(
        compiled.err.ends_with("1 could not be compiled; no bundle was made\n"),
        "{}",
        compiled.err
    );
    assert!(!scratch.path("game.bundle").exists());
    let scratch = Scratch::new("no-start", &[("man.lua", "")]);
    let compiled = scratch.engine("compile game --bundle --out game.bundle");
    assert_eq!(compiled.code, 1);
    let expected = "error: 'game' has no main.lua, did you mean 'man'?\nA game is";
    assert!(compiled.err.starts_with(expected), "{}", compiled.err);
    let scratch = Scratch::new("lacking", &[("main.lua", ""), ("p.package", "text = [\"no\"]")]);
    let compiled = scratch.engine("compile game --bundle --out game.bundle");
    let message = "error: p.package:1: there is no text 'no' (its file would end in .text, .txt, \
                 .md, .fnl, .moon or .tl, and its name has no ending)\nthe check found 1 error; no \
                 bundle was made (--skip-check makes it)\n";
    compiled.check(1, &compiled.out, message);
}

#[test]
fn bundle_has_game_name_and_platform_data() {
    let files = [("main.lua", "print(Application.data('text', 'a'))"), ("a.txt", "plain")];
    let scratch = Scratch::new("platforms", &files);
    scratch.save("a.android.txt", "android");
    fs::create_dir(scratch.path("out")).unwrap();
    let compiled = scratch.engine("compile game --bundle --out out --source-platform android");
    assert_eq!(compiled.code, 0, "{}", compiled.err);
    let here = std::env::consts::OS;
    assert_eq!(
        compiled.out,
        format!(
            "2 variants of 2 resources for {here}: 2 new, 0 removed\nout{}game.bundle: 3 KiB for \
             {here}\n",
            std::path::MAIN_SEPARATOR
        )
    );
    scratch.engine("run out/game.bundle --headless --frames 1").check(0, "android\n", "");
    // A dot in the folder's name is not a file extension.
    copy(&scratch.path("game"), &scratch.path("my.game"));
    assert_eq!(scratch.engine("compile my.game --bundle --out out").code, 0);
    assert!(scratch.path("out/my.game.bundle").is_file());
    scratch.bundle();
    scratch.engine("run game.bundle --headless --frames 1").check(0, "plain\n", "");
    let other = if here == "windows" { "linux" } else { "windows" };
    scratch.engine(&format!("compile game --bundle --out game.bundle --platform {other}"));
    let message = format!(
        "error: the bundle 'game.bundle' cannot be played: it is for {other}, and this is {here}: \
         make it with `--platform {here}`\n"
    );
    scratch.engine("run game.bundle --headless").check(1, "", &message);
}

#[test]
fn tests_are_excluded_from_bundle_by_default() {
    let main = "local fine, m = pcall(require, 'parts.helper') print(fine, fine and m)\n\
                print(Application.can_get('text', 'notes/todo'))\n\
                function init() Application.quit() end";
    let files = [
        ("main.lua", main),
        ("main_test.lua", "this is no Lua"),
        ("spec/a_spec.lua", "nor is this"),
        ("tests/data/broken.config", "x = ["),
        ("parts/helper.lua", "return 'helped'"),
        ("notes/todo.txt", "a lot"),
    ];
    let scratch = Scratch::new("exclude", &files);
    let bundle = scratch.bundle();
    let bytes = fs::read(&bundle).unwrap();
    assert!(contains(&bytes, "parts/helper.lua") && !contains(&bytes, "main_test"));
    scratch.engine("run game.bundle --headless").check(0, "true\thelped\ntrue\n", "");
    // The game's own list replaces the usual one, and a script that requires an excluded module
    // causes a warning.
    let exclude = "bundle = { exclude = [\"**/*_test.lua\", \"s*/**\", \"tests/**\", \"notes/**\", \
                   \"parts/*\"] }";
    scratch.save("settings.sjson", exclude);
    let compiled = scratch.engine("compile game --bundle --out game.bundle");
    assert_eq!(compiled.code, 0, "{}{}", compiled.out, compiled.err);
    let message = "warning: main.lua names 'parts/helper', and parts/helper.lua is not in the \
                 bundle (bundle.exclude in settings.sjson)\n";
    assert!(compiled.err.contains(message), "{}", compiled.err);
    scratch.engine("run game.bundle --headless").check(0, "false\tfalse\nfalse\n", "");
    scratch.save("settings.sjson", "bundle = { exclude = [] }");
    let compiled = scratch.engine("compile game --bundle --out game.bundle");
    assert!(
        compiled.code == 1 && compiled.err.contains("error: main_test.lua:1: "),
        "{}",
        compiled.err
    );
    scratch.save("settings.sjson", "bundle = { exclude = [\"/x\"] }");
    let compiled = scratch.engine("compile game --bundle --out game.bundle");
    let message = "error: settings.sjson: 'bundle.exclude': '/x' must be a path from the game's \
                 folder, with '/'\n";
    assert_eq!((compiled.code, &*compiled.err), (1, message));
}
