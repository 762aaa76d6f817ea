//! Tests of attacks on every reader of files: links out of the game's folder, pipes, devices,
//! folders, sparse files of gigabytes, cyclic links. None of them is read, and no read blocks.

use crate::bad_input::{Game, RunResult, check_in_order, run_result, scratch};
use engine::foundation::file_access::readers::READERS;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Content of a file outside of the game's folder, which no run may print.
const SECRET: &str = "SECRET-KEY-4711";

/// Time limit of a run, longer than any run takes. It detects readers that block.
const RUN_TIME_MAX: Duration = Duration::from_secs(60);

/// The object in place of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Attack {
    LinkOut,
    Device,
    Pipe,
    Folder,
    SparseFile,
    LinkCycle,
}

use Attack::*;

const ATTACKS: [Attack; 6] = [LinkOut, Device, Pipe, Folder, SparseFile, LinkCycle];

const LINK_REFUSED: &str =
    "a link leads out of the game's folder, and only files in it can be read";
const SPECIAL_FILE_REFUSED: &str =
    "it is a pipe, a socket or a device, and only regular files are read";

impl Attack {
    fn create_at(self, path: &Path) {
        let _ = fs::remove_file(path);
        let folder = path.parent().expect("it has one");
        fs::create_dir_all(folder).unwrap();
        match self {
            LinkOut => {
                let secret = path.ancestors().find(|above| above.ends_with("bad_input"));
                let secret = secret.expect("all are in the scratch folder").join("secret");
                fs::write(&secret, SECRET).unwrap();
                symlink(secret, path).unwrap();
            }
            Device => symlink("/dev/zero", path).unwrap(),
            Pipe => {
                let status = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
                assert!(status.success());
            }
            Folder => fs::create_dir(path).unwrap(),
            SparseFile => File::create(path).unwrap().set_len(3 << 30).unwrap(),
            LinkCycle => symlink(path.file_name().expect("it has one"), path).unwrap(),
        }
    }

    /// Returns the reason for which a reader refuses the object. `limit` is the name of the
    /// reader's size limit.
    fn refusal(self, limit: &str) -> String {
        match self {
            LinkOut | Device => LINK_REFUSED.to_string(),
            Pipe => SPECIAL_FILE_REFUSED.to_string(),
            Folder => "it is a folder, and a file is needed: rename it".to_string(),
            SparseFile => format!("{limit})"),
            LinkCycle => "Too many levels of symbolic links".to_string(),
        }
    }
}

/// Runs a command that must end by itself and must not print the secret.
#[track_caller]
fn run(mut command: Command) -> RunResult {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the engine starts");
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > RUN_TIME_MAX {
            child.kill().unwrap();
            let result = run_result(child.wait_with_output().unwrap());
            panic!("{command:?} waits for ever:\n{}{}", result.out, result.err);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let result = run_result(child.wait_with_output().unwrap());
    assert!(matches!(result.code, Some(0..=2)), "{command:?} {:?}:\n{}", result.code, result.err);
    let printed = format!("{}{}", result.out, result.err);
    assert!(!printed.contains(SECRET), "{command:?} gives a secret away:\n{printed}");
    result
}

fn engine(arguments: &[&str], path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.args(arguments).arg(path);
    let base = path.ancestors().find(|above| above.parent().unwrap().ends_with("bad_input"));
    command
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", base.expect("it is in a scratch folder").join("saves"));
    command.env("XDG_CACHE_HOME", base.expect("it is there").join("cache"));
    command
}

const GLTF: &str = r#"{ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
  "nodes": [{ "name": "a" }], "buffers": [{ "uri": "model_buffer.dat", "byteLength": 4 }] }"#;
const MAP: &str = r#"{ "type": "map", "version": "1.10", "orientation": "orthogonal", "width": 1,
  "height": 1, "tilewidth": 8, "tileheight": 8, "infinite": false, "layers": [],
  "tilesets": [{ "firstgid": 1, "source": "tiles.tsj" }] }"#;

/// One file of every resource kind.
const RESOURCES: &[&str] = &[
    "all.package",
    "boom.wav",
    "crate.unit",
    "de.strings",
    "dusk.shading_environment",
    "film.cube",
    "glow.material",
    "hero.sheet",
    "house.glb",
    "lamp.ies",
    "level.config",
    "music.mixer",
    "numbers.binary",
    "order.render_config",
    "paint.wgsl",
    "place.tmx",
    "print.ttf",
    "rules.physics_properties",
    "smoke.particles",
    "wall.png",
    "words.txt",
    "yard.level",
];
/// Files that other files reference, and a module.
const REFERENCED_FILES: &[&str] = &["model_buffer.dat", "tiles.tsj", "module.lua"];

#[test]
fn resource_readers_refuse_links_pipes_and_sparse_files() {
    for attack in ATTACKS {
        let game = Game::new(&format!("files_{attack:?}"), "print(pcall(require, 'module'))")
            .with("model.gltf", GLTF)
            .with("map.tmj", MAP);
        for path in RESOURCES.iter().chain(REFERENCED_FILES) {
            attack.create_at(&game.folder.join(path));
        }
        let result = run(game.command(&["--headless", "--frames", "1"]));
        let printed = result.out + &result.err;
        // The buffer of the model cannot be read, so the run fails in the end.
        assert_eq!(result.code, Some(1), "{attack:?}:\n{printed}");
        // Pipes, folders and dangling links are not files, so they are not resources.
        let resources =
            if matches!(attack, LinkOut | Device | SparseFile) { RESOURCES } else { &[] };
        for path in resources.iter().chain(REFERENCED_FILES) {
            let refers = |line: &&str| {
                line.contains(&format!("{path}: ")) || line.contains(&format!("'{path}' cannot be"))
            };
            let line = printed.lines().find(refers);
            let reason = attack.refusal("_BYTES_MAX");
            match line {
                Some(line) => assert!(line.contains(&reason), "{attack:?}: {line}"),
                // A folder may have the name of a module.
                None if attack == Folder && *path == "module.lua" => {}
                None => panic!("{attack:?}: nothing of {path} in:\n{printed}"),
            }
        }
    }
}

#[test]
fn main_script_and_settings_must_be_regular_files() {
    for attack in ATTACKS {
        let game = Game::new(&format!("main_{attack:?}"), "");
        attack.create_at(&game.folder.join("main.lua"));
        let result = run(game.command(&["--headless", "--frames", "1"]));
        assert_eq!(result.code, Some(1), "{attack:?}: {}", result.err);
        match attack {
            Folder => check_in_order(&result.err, &["has no main.lua"]),
            _ => check_in_order(&result.err, &["main.lua: ", &attack.refusal("SCRIPT_BYTES_MAX")]),
        }
        let game = Game::new(&format!("settings_{attack:?}"), "print('played')");
        attack.create_at(&game.folder.join("settings.sjson"));
        let result = run(game.command(&["--headless", "--frames", "1"]));
        let reason = attack.refusal("SETTINGS_BYTES_MAX");
        check_in_order(&result.err, &["settings.sjson cannot be read: ", &reason]);
        assert_eq!((result.code, result.out.as_str()), (Some(1), ""), "{attack:?}");
    }
}

#[test]
fn other_commands_do_not_block_on_special_files() {
    for attack in [LinkOut, Pipe, SparseFile] {
        let game = Game::new(&format!("commands_{attack:?}"), "").with("a.txt", "a");
        for path in ["module.lua", "wall.png"] {
            attack.create_at(&game.folder.join(path));
        }
        // Another user may have put files into the engine's own folder.
        fs::create_dir_all(game.folder.join(".engine/definitions")).unwrap();
        let kept = ["definitions/written_by.txt", "session.json", "data/linux/index"];
        for path in kept.into_iter().chain(["console_history.txt"]) {
            attack.create_at(&game.folder.join(".engine").join(path));
        }
        let out = game.folder.with_file_name("out");
        let mut compile = engine(&["compile"], &game.folder);
        compile.arg("--out").arg(&out);
        run(compile);
        let checked = run(engine(&["check"], &game.folder));
        let expected = if attack == Pipe { Some(0) } else { Some(1) };
        assert_eq!(checked.code, expected, "{attack:?}: {}", checked.err);
        let mut explain = engine(&["explain"], &game.folder);
        explain.arg("a.text");
        assert_eq!(run(explain).code, Some(0), "{attack:?}");
        let console = run(engine(&["console"], &game.folder));
        assert_eq!(console.code, Some(1), "{attack:?}");
    }
}

#[test]
fn command_line_input_must_be_regular_files() {
    let base = scratch("named");
    let game = Game::new("named/inner", "");
    for (attack, reason) in [(Pipe, SPECIAL_FILE_REFUSED), (Device, SPECIAL_FILE_REFUSED)] {
        let pipe = base.join(format!("{attack:?}"));
        attack.create_at(&pipe);
        let bundle = pipe.with_extension("bundle");
        attack.create_at(&bundle);
        check_in_order(
            &run(engine(&["run", "--headless"], &bundle)).err,
            &["the bundle '", ".bundle' cannot be played: ", reason],
        );
        let result = run(engine(&["run", "--headless"], &pipe)).err;
        check_in_order(&result, &["is a file: give the folder that it is in"]);
        check_in_order(&run(engine(&["report"], &pipe)).err, &["cannot be read: ", reason]);
        let mut replay = game.command(&["--headless", "--replay"]);
        replay.arg(&pipe);
        check_in_order(&run(replay).err, &["the recording '", "cannot be read: ", reason]);
        let mut font = engine(&["font"], &pipe);
        font.arg(base.join("out.fnt"));
        check_in_order(&run(font).err, &["cannot be read: ", reason]);
    }
    let hole = base.join("hole.bundle");
    SparseFile.create_at(&hole);
    let result = run(engine(&["run", "--headless"], &hole));
    check_in_order(&result.err, &["hole.bundle' cannot be played: it is something else"]);
    let mut replay = game.command(&["--headless", "--replay"]);
    replay.arg(&hole);
    check_in_order(&run(replay).err, &["larger than 256 MiB (RECORDING_BYTES_MAX)"]);
}

#[test]
fn suites_and_their_files_stay_in_the_folder() {
    for attack in ATTACKS {
        let base = scratch(&format!("suites_{attack:?}"));
        let folder = base.join("game");
        for path in ["a_test.lua", "run.recording"] {
            attack.create_at(&folder.join(path));
        }
        fs::write(folder.join("b_test.lua"), "it('holds', function() end)").unwrap();
        let result = run(engine(&["test"], &folder));
        let printed = result.out + &result.err;
        assert!(printed.contains("1 passed, "), "{attack:?}: {printed}");
        if attack != Folder {
            let reason = match attack {
                Pipe => "it is no file (a pipe, a socket or a device)".to_string(),
                LinkCycle => "it is a link to nothing".to_string(),
                other => other.refusal("_BYTES_MAX"),
            };
            for path in ["a_test.lua", "run.recording"] {
                let line = |line: &&str| line.contains(path) && line.contains(&reason);
                assert!(
                    printed.lines().any(|each| line(&each)),
                    "{attack:?}: {path} in\n{printed}"
                );
            }
        }
        attack.create_at(&folder.join(".busted"));
        let result = run(engine(&["test"], &folder));
        assert_eq!(result.code, Some(2), "{attack:?}: {}", result.err);
        let reason = attack.refusal("SUITE_CONFIG_BYTES_MAX");
        check_in_order(&result.err, &[".busted' cannot be used: ", &reason]);
    }
}

#[test]
fn busted_config_cannot_name_paths_outside_the_folder() {
    let outside = "is outside of the folder";
    let rows = [
        ("lpath = '../ext/?.lua'", outside),
        ("lpath = '/ext/?.lua'", outside),
        ("helper = '../helper.lua'", outside),
        ("ROOT = { '..' }", outside),
        ("['exclude-names-file'] = '../../secret'", "only files in the game's folder can be read"),
        ("['log-success'] = '../profile'", "its path leads out of the folder"),
        ("['log-success'] = 'linked'", "a link on its path, or in its place, leads elsewhere"),
        ("coverage = true", "it is a link, and only plain files are written"),
    ];
    for (i, (config, message)) in rows.into_iter().enumerate() {
        let base = scratch(&format!("configured_{i}"));
        let folder = base.join("game");
        fs::create_dir_all(&folder).unwrap();
        fs::write(base.join("profile"), "mine").unwrap();
        fs::write(base.join("helper.lua"), "print('HELPED')").unwrap();
        fs::write(folder.join("module.lua"), "return 1").unwrap();
        fs::write(folder.join("a_test.lua"), "it('$(id)', function() require('module') end)")
            .unwrap();
        fs::write(folder.join(".busted"), format!("return {{ default = {{ {config} }} }}"))
            .unwrap();
        for name in ["linked", "lcov.info"] {
            symlink("../profile", folder.join(name)).unwrap();
        }
        let result = run(engine(&["test"], &folder));
        let printed = result.out + &result.err;
        assert!(printed.contains(message) && !printed.contains("HELPED"), "{config}: {printed}");
        assert_eq!(fs::read_to_string(base.join("profile")).unwrap(), "mine", "{config}");
    }
}

#[test]
fn snapshots_do_not_follow_links() {
    let base = scratch("snapshots");
    let folder = base.join("game");
    let suite = "it('shows', function()\n  test.boot() test.frames(1) test.screenshot('menu') end)";
    fs::create_dir_all(folder.join("spec")).unwrap();
    fs::write(folder.join("main.lua"), "").unwrap();
    fs::write(folder.join("spec/a_spec.lua"), suite).unwrap();
    fs::create_dir(base.join("outside")).unwrap();
    // Finds the folder of the suite's references, and replaces it by a link.
    let result = run(engine(&["test", "--update-golden"], &folder));
    let result = result.out + &result.err;
    let mut golden = Vec::new();
    for entry in fs::read_dir(folder.join("spec")).unwrap().flatten() {
        if entry.path().is_dir() {
            golden.push(entry.path());
        }
    }
    assert_eq!(golden.len(), 1, "{result}");
    fs::remove_dir_all(&golden[0]).unwrap();
    symlink(base.join("outside"), &golden[0]).unwrap();
    let result = run(engine(&["test", "--update-golden"], &folder));
    check_in_order(&(result.out + &result.err), &["cannot be ", "link"]);
    assert_eq!(fs::read_dir(base.join("outside")).unwrap().count(), 0);
}

#[test]
fn saves_and_user_settings_must_be_small_regular_files() {
    let main = "print('save', Save.read('slot'))\nprint('setting', Application.user_setting('a'))";
    for attack in [Device, Pipe, Folder, SparseFile, LinkCycle] {
        let game = Game::new(&format!("saves_{attack:?}"), main);
        let saves = game.saves.join("game");
        attack.create_at(&saves.join("saves/slot 1.1.save"));
        attack.create_at(&saves.join("user_settings.sjson"));
        let result = run(game.command(&["--headless", "--frames", "1"]));
        assert_eq!(result.code, Some(0), "{attack:?}: {}", result.err);
        check_in_order(&result.out, &["save\tnil", "setting\tnil"]);
        let reason = match attack {
            // A user's own link may lead to a device.
            Device => SPECIAL_FILE_REFUSED.to_string(),
            SparseFile => "USER_SETTINGS_BYTES_MAX)".to_string(),
            other => other.refusal(""),
        };
        check_in_order(&result.err, &["user_settings.sjson", &reason]);
    }
}

#[test]
fn golden_files_must_be_regular_files() {
    let suite = "it('holds', function() test.boot() test.frames(1) test.screenshot('a') end)";
    for attack in ATTACKS {
        let base = scratch(&format!("golden_{attack:?}"));
        let folder = base.join("game");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("main.lua"), "").unwrap();
        fs::write(folder.join("a_test.lua"), suite).unwrap();
        run(engine(&["test", "--update-golden"], &folder));
        let mut golden = Vec::new();
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.path().is_dir() && entry.file_name() != ".engine" {
                let files = fs::read_dir(entry.path()).unwrap().flatten();
                golden.extend(files.map(|file| file.path()));
            }
        }
        assert_eq!(golden.len(), 1, "{golden:?}");
        attack.create_at(&golden[0]);
        let result = run(engine(&["test"], &folder));
        assert_eq!(result.code, Some(1), "{attack:?}: {}", result.out);
        let printed = result.out + &result.err;
        assert!(printed.contains(&attack.refusal("GOLDEN_BYTES_MAX")), "{attack:?}: {printed}");
    }
}

#[test]
fn compiled_data_that_is_not_a_file_is_recompiled() {
    for attack in ATTACKS {
        let game = Game::new(&format!("data_{attack:?}"), "print(Application.data('text', 'a'))")
            .with("a.txt", "whole");
        assert_eq!(run(game.command(&["--headless", "--frames", "1"])).out, "whole\n");
        let platform = fs::read_dir(game.folder.join(".engine/data")).unwrap().next().unwrap();
        let mut attacked = 0;
        for file in fs::read_dir(platform.unwrap().path()).unwrap().flatten() {
            if file.file_name() != "index" && file.path().is_file() {
                attack.create_at(&file.path());
                attacked += 1;
            }
        }
        assert!(attacked > 0);
        let result = run(game.command(&["--headless", "--frames", "1"]));
        match attack {
            // A folder blocks the file's location. The user must remove it.
            Folder => assert_eq!(result.out, ""),
            // It is a regular file, so the error is found when it is read.
            SparseFile => check_in_order(
                &result.err,
                &["cannot be read: ", &attack.refusal("COMPILED_BYTES_MAX")],
            ),
            _ => assert_eq!((result.code, &*result.out), (Some(0), "whole\n"), "{}", result.err),
        }
    }
}

#[test]
fn manual_output_never_reads_special_files() {
    for attack in [Device, Pipe, SparseFile] {
        let folder = scratch(&format!("pages_{attack:?}"));
        let first = run(engine(&["docs", "--markdown", "--out"], &folder));
        assert_eq!(first.code, Some(0), "{}", first.err);
        attack.create_at(&folder.join("settings.md"));
        let result = run(engine(&["docs", "--markdown", "--out"], &folder));
        let size = fs::symlink_metadata(folder.join("settings.md")).unwrap().len();
        assert!(result.code == Some(1) || size < 1 << 20, "{attack:?}: {}", result.err);
    }
}

/// The test that attacks each reader, and the file that contains the test.
const ATTACKED: &[(&str, &str, &str)] = &[
    ("SETTINGS", THIS_FILE, "main_script_and_settings_must_be_regular_files"),
    ("SCRIPT", THIS_FILE, "main_script_and_settings_must_be_regular_files"),
    ("SOURCE_TEXT", THIS_FILE, "resource_readers_refuse_links_pipes_and_sparse_files"),
    ("SOURCE", THIS_FILE, "resource_readers_refuse_links_pipes_and_sparse_files"),
    ("SUITE_CONFIG", THIS_FILE, "suites_and_their_files_stay_in_the_folder"),
    ("GOLDEN", THIS_FILE, "golden_files_must_be_regular_files"),
    ("WATCHED", "src/app/testing/watch_mode.rs", "only_plain_files_are_compared"),
    ("INDEX", THIS_FILE, "other_commands_do_not_block_on_special_files"),
    ("COMPILED", THIS_FILE, "compiled_data_that_is_not_a_file_is_recompiled"),
    ("SESSION", THIS_FILE, "other_commands_do_not_block_on_special_files"),
    ("STAMP", THIS_FILE, "other_commands_do_not_block_on_special_files"),
    ("HISTORY", THIS_FILE, "other_commands_do_not_block_on_special_files"),
    ("TEST_RECORDING", THIS_FILE, "suites_and_their_files_stay_in_the_folder"),
    ("RECORDING", THIS_FILE, "command_line_input_must_be_regular_files"),
    ("SAVE", THIS_FILE, "saves_and_user_settings_must_be_small_regular_files"),
    ("USER_SETTINGS", THIS_FILE, "saves_and_user_settings_must_be_small_regular_files"),
    (
        "TOOL_ADDRESSES",
        "src/system/remote/stable_address.rs",
        "a_file_of_addresses_that_is_no_regular_file_is_refused",
    ),
    ("REPORT", THIS_FILE, "command_line_input_must_be_regular_files"),
    ("FONT_INPUT", THIS_FILE, "command_line_input_must_be_regular_files"),
    ("DROPPED", "src/system/window/dropped_files.rs", "only_plain_files_up_to_a_size_are_read"),
    ("LICENSE", "src/package/writer_tests.rs", "links_pipes_and_large_files_are_not_packed"),
    ("PACKAGE_ICON", "src/package/writer_tests.rs", "links_pipes_and_large_files_are_not_packed"),
    (
        "ENGINE_EXECUTABLE",
        "src/package/writer_tests.rs",
        "links_pipes_and_large_files_are_not_packed",
    ),
    (
        "APPIMAGE_RUNTIME",
        "src/package/writer_tests.rs",
        "links_pipes_and_large_files_are_not_packed",
    ),
    ("PAGE", THIS_FILE, "manual_output_never_reads_special_files"),
];

const THIS_FILE: &str = "tests/bad_input/input_files.rs";

#[test]
fn every_file_reader_has_an_attack_test() {
    let attacked: Vec<_> = ATTACKED.iter().map(|(reader, ..)| *reader).collect();
    let readers: Vec<_> = READERS.iter().map(|reader| reader.name).collect();
    assert_eq!(attacked, readers, "the rows of ATTACKED and of the table of readers");
    for (reader, file, test) in ATTACKED {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert!(text.contains(&format!("fn {test}()")), "{reader}: {file} has no test {test}");
    }
}

/// Replaces a file's content by another of the same size, and restores its modification time.
fn replace_silently(path: &Path, text: &str) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(before.len(), text.len() as u64, "of the same size");
    fs::write(path, text).unwrap();
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
}

#[test]
fn same_size_and_mtime_change_is_detected_at_startup() {
    let game = Game::new("stale", "print(require('module'), Application.data('text', 'a'))")
        .with("module.lua", "return 'old'")
        .with("a.txt", "old");
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(100_000);
    for path in ["module.lua", "a.txt"] {
        let file = File::options().append(true).open(game.folder.join(path)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    // The clock has advanced by now, so the compiler can trust modification times.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(game.play(&[]).out, "old\told\n");
    assert_eq!(game.play(&[]).out, "old\told\n");
    replace_silently(&game.folder.join("module.lua"), "return 'new'");
    replace_silently(&game.folder.join("a.txt"), "new");
    assert_eq!(game.play(&[]).out, "new\tnew\n");
}

#[test]
fn same_size_and_mtime_change_is_reloaded_at_runtime() {
    use std::io::{BufRead, BufReader};
    let main = "local said\nfunction update()\n  local text = Application.data('text', 'a')\n  \
                if text ~= said then said = text print(text) end\nend";
    let game = Game::new("stale_playing", main).with("a.txt", "old");
    let mut command = game.command(&["--headless", "--realtime"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "old");
    std::thread::sleep(Duration::from_millis(50));
    let (send, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    replace_silently(&game.folder.join("a.txt"), "new");
    let line = heard.recv_timeout(RUN_TIME_MAX);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line.as_deref(), Ok("new"));
}
