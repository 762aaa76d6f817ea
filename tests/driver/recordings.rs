//! Recordings as tests: the same run from another folder and process, one that differs, and files
//! that are none.

use super::Scratch;
use std::fs;
use std::path::Path;
use std::process::Command;

const MAIN: &str = "local n = 0\nfunction update()\n  n = n + Math.random()\n  \
                    if Application.frame_index() > 7 then STEP() end\n  Application.hash(n)\nend\n\
                    function STEP() end\n";
const SETTINGS: &str = "id = \"yard\"\nversion = \"1.0\"\n";

fn record(folder: &Path, file: &str, frames: &str) {
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", ".", "--headless", "--frames", frames, "--seed", "9", "--record", file])
        .current_dir(folder)
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn game(name: &str, main: &str, settings: &str) -> Scratch {
    Scratch::new(name, &[("main.lua", main), ("settings.sjson", settings)])
}

#[test]
fn a_recording_replays_equal_from_another_folder_and_in_several_processes() {
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
fn a_run_that_differs_fails_with_its_frame_and_what_differs() {
    let scratch = game("differs", MAIN, SETTINGS);
    record(&scratch.0, "a.recording", "20");
    fs::write(
        scratch.0.join("main.lua"),
        MAIN.replace("STEP() end\n", "STEP() Math.random() end\n"),
    )
    .unwrap();
    let (code, out, _) = scratch.test(&["."]);
    assert_eq!(code, 1);
    let words = "FAILED a.recording replays as it was recorded\n  a.recording\n  the replay \
                 differs from the recording in frame 8: random numbers (the game's files changed \
                 since the recording)\n    random numbers: the random numbers of the game";
    assert!(out.contains(words), "{out}");
    assert!(out.contains("(the game's files changed since the recording)"), "{out}");
    fs::write(scratch.0.join("main.lua"), "function update() error('ouch') end").unwrap();
    let (_, out, _) = scratch.test(&["."]);
    assert!(out.contains("in frame 1: ") && out.contains("ouch"), "{out}");
    fs::write(scratch.0.join("main.lua"), "function update() Application.quit() end").unwrap();
    let (_, out, _) = scratch.test(&["."]);
    assert!(out.contains("differs") || out.contains("the game quit after 1 frames"), "{out}");
}

/// Three units, of which the second one moves, a sound, and two values that are hashed.
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
fn the_objects_that_differ_are_named() {
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
    for words in [
        "the replay differs from the recording in frame 6: worlds, what the game hashed (the \
         game's files changed since the recording)\n",
        "    worlds: unit ",
        " 'lid' at (12.000, 0.000, 0.000)\n",
        "    what the game hashed: call 2 of Application.hash in that frame (main.lua:16)\n",
    ] {
        assert!(out.contains(words), "no '{words}' in:\n{out}");
    }
    assert!(!out.contains("'barrel'") && !out.contains("call 1 of"), "{out}");
    // Also where `engine run` replays.
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", ".", "--headless", "--replay", "a.recording"])
        .current_dir(&scratch.0)
        .env("ENGINE_SAVE_DIR", scratch.0.join("saves"))
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{err}");
    assert!(err.contains("  worlds: unit ") && err.contains(" 'lid' at (12.000"), "{err}");
    // One that is there only now, and one that is there no more.
    write("World.spawn_unit(world, 'lid')", "1");
    let (_, out, _) = scratch.test(&["."]);
    assert!(out.contains(" 'lid' at (0.000, 0.000, 0.000), which the recording has not"), "{out}");
    fs::remove_file(scratch.0.join("a.recording")).unwrap();
    record(&scratch.0, "a.recording", "10");
    write("", "1");
    let (_, out, _) = scratch.test(&["."]);
    assert!(out.contains("which is not there now"), "{out}");
}

#[test]
fn what_is_no_recording_of_this_game_fails_with_words() {
    let scratch = game("refused", MAIN, SETTINGS);
    record(&scratch.0, "a.recording", "5");
    let bytes = fs::read(scratch.0.join("a.recording")).unwrap();
    let words = |wanted: &str| {
        let (code, out, err) = scratch.test(&["."]);
        assert_eq!((code, out.lines().last()), (1, Some("0 passed, 1 failed, 0 skipped")), "{err}");
        assert!(out.contains(wanted), "no '{wanted}' in:\n{out}");
    };
    let mut damaged = bytes.clone();
    damaged[60] ^= 4;
    fs::write(scratch.0.join("a.recording"), damaged).unwrap();
    words("cannot be used: it is damaged: its checksum does not fit its content");
    fs::write(scratch.0.join("a.recording"), &bytes[..40]).unwrap();
    words("cannot be used: it is cut short");
    fs::write(scratch.0.join("a.recording"), "").unwrap();
    words("cannot be used: it is cut short: 0 bytes");
    fs::write(scratch.0.join("a.recording"), &bytes).unwrap();
    fs::write(scratch.0.join("settings.sjson"), SETTINGS.replace("1.0", "2.0")).unwrap();
    words("the recording is of version 1.0 of the game, and this one is version 2.0");
    fs::write(scratch.0.join("settings.sjson"), SETTINGS.replace("yard", "cave")).unwrap();
    words("the recording is of the game 'yard', and this one is 'cave'");
}
