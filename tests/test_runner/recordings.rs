//! Tests of recordings as tests: the same run in another folder and process, one that differs, and
//! files that are not recordings.

use super::Scratch;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MAIN: &str = "local n = 0\nfunction update()\n  n = n + Math.random()\n  \
                    if Application.frame_index() > 7 then STEP() end\n  Application.hash(n)\nend\n\
                    function STEP() end\n";
const SETTINGS: &str = "id = \"yard\"\nversion = \"1.0\"\n";

fn record(folder: &Path, file: &str, frames: &str) {
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", ".", "--headless", "--frames", frames, "--seed", "9", "--record", file])
        .current_dir(folder)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn game(name: &str, main: &str, settings: &str) -> Scratch {
    Scratch::new(name, &[("main.lua", main), ("settings.sjson", settings)])
}

#[test]
fn recording_replays_in_another_folder_and_in_parallel() {
    let first = game("recorded", MAIN, SETTINGS);
    fs::create_dir_all(first.0.join("runs")).unwrap();
    record(&first.0, "runs/a.recording", "30");
    let second = game("replayed", MAIN, SETTINGS);
    for name in ["a", "b", "c"] {
        let to = second.0.join(format!("{name}.recording"));
        fs::copy(first.0.join("runs/a.recording"), to).unwrap();
    }
    for scratch in [&first, &second] {
        for jobs in ["1", "2"] {
            let (code, out, err) = scratch.test(&[".", "-j", jobs]);
            assert_eq!(code, 0, "{out}{err}");
        }
    }
    let (_, out, _) = second.test(&[".", "-j", "2", "-o", "tap"]);
    assert!(out.contains("ok 2 - b.recording: b.recording replays as it was recorded\n"), "{out}");
    let (_, out, _) = second.test(&[".", "--list"]);
    assert!(out.starts_with("a.recording:1: a.recording replays as it was recorded\n"), "{out}");
    let (_, out, _) = second.test(&[".", "--filter", "^b"]);
    assert_eq!(out.lines().last(), Some("1 passed, 0 failed, 0 skipped"), "{out}");
    assert_eq!(second.test(&[".", "--tags", "x"]).0, 3);
}

#[test]
fn diverging_replay_fails_with_frame_and_difference() {
    let scratch = game("differs", MAIN, SETTINGS);
    record(&scratch.0, "a.recording", "20");
    fs::write(
        scratch.0.join("main.lua"),
        MAIN.replace("STEP() end\n", "STEP() Math.random() end\n"),
    )
    .unwrap();
    let (code, out, _) = scratch.test(&["."]);
    assert_eq!(code, 1);
    let message = "FAILED a.recording replays as it was recorded\n  a.recording\n  the replay \
                 differs from the recording in frame 8: random numbers (the game's files changed \
                 since the recording)\n    random numbers: the random numbers of the game";
    assert!(out.contains(message), "{out}");
    assert!(out.contains("(the game's files changed since the recording)"), "{out}");
    fs::write(scratch.0.join("main.lua"), "function update() error('ouch') end").unwrap();
    let (_, out, _) = scratch.test(&["."]);
    let message = "the replay fails in frame 1, and the recording does not: ";
    assert!(out.contains(message) && out.contains("ouch"), "{out}");
    fs::write(scratch.0.join("main.lua"), "function update() Application.quit() end").unwrap();
    let (_, out, _) = scratch.test(&["."]);
    assert!(out.contains("differs") || out.contains("the game quit after 1 frames"), "{out}");
}

/// Runs `engine run` headless with some arguments. Returns exit code and standard error.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", ".", "--headless"])
        .args(arguments)
        .current_dir(folder)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .output()
        .unwrap();
    (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
}

/// Returns all files below a folder with their contents.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(contents(&entry.path())),
            false => found.push((entry.path(), fs::read(entry.path()).unwrap())),
        }
    }
    found.sort();
    found
}

/// Script with a state that depends on its saves and on the player's settings.
const SAVING: &str = "local n\nfunction init()\n  n = (Save.read(\"n\") or 0) + 1\n  \
                      local m = (Application.user_setting(\"m\") or 0) + 1\n  \
                      Application.hash(m)\n  \
                      Application.set_user_setting(\"m\", m)\n  \
                      Application.save_user_settings()\n  Save.write(\"n\", n)\nend\n\
                      function update()\n  n = n + 1\n  Save.write(\"n\", n)\n  \
                      Application.hash(n, Application.user_setting(\"m\"), #Save.list())\nend\n";

#[test]
fn recording_includes_saves_and_replay_keeps_them() {
    let scratch = game("saves", SAVING, SETTINGS);
    for name in ["a", "b", "c"] {
        record(&scratch.0, &format!("{name}.recording"), "5");
        let before = contents(&scratch.0.join("saves"));
        assert!(before.len() >= 2, "{before:?}");
        for _ in 0..2 {
            let (code, err) = run(&scratch.0, &["--replay", &format!("{name}.recording")]);
            assert!(code == Some(0) && err.contains("replayed 5 frames"), "{name}: {err}");
            assert_eq!(contents(&scratch.0.join("saves")), before);
        }
    }
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(
        (code, out.lines().last()),
        (0, Some("3 passed, 0 failed, 0 skipped")),
        "{out}{err}"
    );
}

#[test]
fn saves_too_large_for_recording_are_omitted_with_warning() {
    let main = "function init()\n  local n = Save.read(\"n\")\n  Application.hash(n ~= nil)\n  \
                Save.write(\"n\", (\"x\"):rep(9e6))\n  Save.write(\"n\", (\"x\"):rep(9e6))\nend\n\
                function update() Application.hash(1) end\n";
    let scratch = game("much", main, SETTINGS);
    assert_eq!(run(&scratch.0, &["--frames", "1"]).0, Some(0));
    let (code, err) = run(&scratch.0, &["--frames", "2", "--record", "a.recording"]);
    assert_eq!(code, Some(0), "{err}");
    let message = "the saves and user settings have more than 16 MiB (INITIAL_SAVES_BYTES_MAX): \
                 the recording is without them, and its replay begins without any";
    assert!(err.contains(message), "{err}");
    assert!(fs::metadata(scratch.0.join("a.recording")).unwrap().len() < 100_000);
}

#[test]
fn error_ending_a_run_is_recorded_and_replayed() {
    let main = "local n = 0\nfunction update()\n  n = n + 1\n  Application.hash(n)\n  \
                if n == 5 then error('boom of frame ' .. n) end\nend\n";
    let scratch = game("fails-recorded", main, SETTINGS);
    let (code, err) = run(&scratch.0, &["--frames", "9", "--record", "a.recording"]);
    assert!(code == Some(1) && err.contains("recorded 4 frames and the error after them"), "{err}");
    let (code, err) = run(&scratch.0, &["--replay", "a.recording"]);
    let message = "replayed 4 frames, each as it was recorded, and then the same error";
    assert!(code == Some(0) && err.contains(message), "{err}");
    assert!(err.contains("main.lua:5") && err.contains("boom of frame 5"), "{err}");
    assert_eq!(scratch.test(&["."]).0, 0);
    let differs = |text: &str, message: &str| {
        fs::write(scratch.0.join("main.lua"), text).unwrap();
        let (code, out, err) = scratch.test(&["."]);
        assert!(code == 1 && out.contains(message), "no '{message}' in: {out}{err}");
        let (code, err) = run(&scratch.0, &["--replay", "a.recording"]);
        assert!(code == Some(1) && err.contains(message), "no '{message}' in: {err}");
    };
    let fixed = main.replace("n == 5", "n == 6");
    differs(&fixed, "the recording ends with an error in frame 5, which the replay does not reach");
    let other = main.replace("boom", "bang");
    differs(&other, "the replay fails in frame 5, as the recording does, with another error");
    let sooner = main.replace("n == 5", "n == 3");
    differs(&sooner, "the replay fails in frame 3, and the recording does not");
}

#[test]
fn startup_error_is_recorded_and_replayed() {
    let scratch = game("fails-start", "function init() error('no start') end", SETTINGS);
    let (code, err) = run(&scratch.0, &["--frames", "9", "--record", "a.recording"]);
    assert!(code == Some(1) && err.contains("recorded 0 frames and the error after"), "{err}");
    assert_eq!(run(&scratch.0, &["--replay", "a.recording"]).0, Some(0));
    assert_eq!(scratch.test(&["."]).0, 0);
    fs::write(scratch.0.join("main.lua"), "function init() end").unwrap();
    let (code, out, _) = scratch.test(&["."]);
    let message =
        "the recording ends with an error when the game starts, which the replay does not";
    assert!(code == 1 && out.contains(message), "{out}");
}

/// Returns a script that prints the `pairs` order of a table with forty names that are in its
/// source. (Names concatenated at run time may have another order in compiled code.)
fn pairs_order_script() -> String {
    let names: Vec<String> = (0..40).map(|i| format!("t.key{} = {i}", i * 7919 % 1000)).collect();
    format!(
        "local function order()\n  local t, keys = {{}}, {{}}\n  {}\n  \
         for key in pairs(t) do keys[#keys + 1] = key end\n  \
         return table.concat(keys, ' ')\nend\n",
        names.join("\n  ")
    )
}

#[test]
fn pairs_order_in_replay_is_independent_of_earlier_runs() {
    let main = format!("{}function update() Application.hash(order()) end", pairs_order_script());
    let scratch = game("walks", &main, SETTINGS);
    record(&scratch.0, "a0.recording", "3");
    for i in 1..10 {
        fs::copy(scratch.0.join("a0.recording"), scratch.0.join(format!("a{i}.recording")))
            .unwrap();
    }
    for jobs in ["1", "2"] {
        let (code, out, err) = scratch.test(&[".", "-j", jobs]);
        assert_eq!(code, 0, "{out}{err}");
    }
}

#[test]
fn pairs_order_is_the_same_in_every_file_and_run() {
    let suite =
        format!("{}it('walks', function() print('order ' .. order()) end)", pairs_order_script());
    let names: Vec<String> = (0..10).map(|i| format!("f{i}_test.lua")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], &suite[..])).collect();
    let scratch = Scratch::new("order", &files);
    let mut orders = BTreeSet::new();
    let runs: [&[&str]; 4] =
        [&["-j", "1"], &["-j", "2"], &["-j", "1", "--shuffle", "--seed", "7"], &["f3"]];
    for options in runs {
        let (code, out, err) = scratch.test(&[&["."], options].concat());
        assert_eq!(code, 0, "{out}{err}");
        orders.extend(out.lines().filter(|line| line.starts_with("order ")).map(str::to_string));
    }
    assert_eq!(orders.len(), 1, "{orders:#?}");
}

/// Script with an agent, which has a speed.
const WALKER: &str = r#"
local mesh
function init()
  local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
  mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
  local agent = Agent.create(mesh, Vector3(3, 3, 0), { speed = SPEED })
  Agent.set_destination(agent, Vector3(16, 16, 0))
end
function update(dt) NavigationMesh.update(mesh, dt) end
"#;

#[test]
fn diverging_agents_are_named() {
    let scratch = Scratch::new("walker", &[("settings.sjson", SETTINGS)]);
    let write = |speed: &str| {
        fs::write(scratch.0.join("main.lua"), WALKER.replace("SPEED", speed)).unwrap();
    };
    write("0.1");
    record(&scratch.0, "a.recording", "10");
    assert_eq!(scratch.test(&["."]).0, 0);
    write("5");
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("    worlds: agent ") && out.contains(" at (3."), "{out}");
    assert!(!out.contains("worlds: world "), "{out}");
}

/// Script with three units, of which the second one moves, a sound, and two hashed values.
const OBJECTS: &str = r#"
local barrel, lid, voice
function init()
  local world = Application.main_world()
  barrel = World.spawn_unit(world, "barrel")
  lid = World.spawn_unit(world, "lid")
  World.spawn_unit(world, "barrel")
  SPAWN()
end
local n = 0
function update(dt)
  n = n + 1
  local step = n == 6 and STEP or 1
  Unit.set_local_position(lid, 1, Vector3(n * step, 0, 0))
  Application.hash("first", 1)
  Application.hash("second", n * step)
end
"#;

#[test]
fn diverging_objects_are_named() {
    let text = |spawn: &str, step: &str| OBJECTS.replace("SPAWN()", spawn).replace("STEP", step);
    let unit = "nodes = { lid = { position = [0, 0, 1] } }";
    let files = [("barrel.unit", unit), ("lid.unit", unit), ("settings.sjson", SETTINGS)];
    let scratch = Scratch::new("objects", &files);
    let write = |spawn: &str, step: &str| {
        fs::write(scratch.0.join("main.lua"), text(spawn, step)).unwrap();
    };
    write("", "1");
    record(&scratch.0, "a.recording", "10");
    assert_eq!(scratch.test(&["."]).0, 0);
    write("", "2");
    let (code, out, err) = scratch.test(&["."]);
    assert_eq!(code, 1, "{out}{err}");
    for message in [
        "the replay differs from the recording in frame 6: worlds, game hashes (the \
         game's files changed since the recording)\n",
        "    worlds: unit ",
        " 'lid' at (12.000, 0.000, 0.000)\n",
        "    game hashes: call 2 of Application.hash in that frame (main.lua:16)\n",
    ] {
        assert!(out.contains(message), "no '{message}' in:\n{out}");
    }
    assert!(!out.contains("'barrel'") && !out.contains("call 1 of"), "{out}");
    // The same with a replay by `engine run`.
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", ".", "--headless", "--replay", "a.recording"])
        .current_dir(&scratch.0)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", scratch.0.join("saves"))
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{err}");
    assert!(err.contains("  worlds: unit ") && err.contains(" 'lid' at (12.000"), "{err}");
    // An object that is missing in the recording, and one that is missing in the replay.
    write("World.spawn_unit(world, 'lid')", "1");
    let (_, out, _) = scratch.test(&["."]);
    assert!(
        out.contains(" 'lid' at (0.000, 0.000, 0.000), which the recording does not have"),
        "{out}"
    );
    fs::remove_file(scratch.0.join("a.recording")).unwrap();
    record(&scratch.0, "a.recording", "10");
    write("", "1");
    let (_, out, _) = scratch.test(&["."]);
    assert!(out.contains("which does not exist now"), "{out}");
}

#[test]
fn invalid_recording_fails_with_message() {
    let scratch = game("refused", MAIN, SETTINGS);
    record(&scratch.0, "a.recording", "5");
    let bytes = fs::read(scratch.0.join("a.recording")).unwrap();
    let check_refused = |expected: &str| {
        let (code, out, err) = scratch.test(&["."]);
        assert_eq!((code, out.lines().last()), (1, Some("0 passed, 1 failed, 0 skipped")), "{err}");
        assert!(out.contains(expected), "no '{expected}' in:\n{out}");
    };
    let mut damaged = bytes.clone();
    damaged[60] ^= 4;
    fs::write(scratch.0.join("a.recording"), damaged).unwrap();
    check_refused("cannot be used: it is damaged: its checksum does not match its content");
    fs::write(scratch.0.join("a.recording"), &bytes[..40]).unwrap();
    check_refused("cannot be used: it is cut short");
    fs::write(scratch.0.join("a.recording"), "").unwrap();
    check_refused("cannot be used: it is cut short: 0 bytes");
    fs::write(scratch.0.join("a.recording"), &bytes).unwrap();
    fs::write(scratch.0.join("settings.sjson"), SETTINGS.replace("1.0", "2.0")).unwrap();
    check_refused("the recording is of version 1.0 of the game, and this one is version 2.0");
    fs::write(scratch.0.join("settings.sjson"), SETTINGS.replace("yard", "cave")).unwrap();
    check_refused("the recording is of the game 'yard', and this one is 'cave'");
}
