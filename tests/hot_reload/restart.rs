//! Tests of restarts in the running process: what is reset and what stays, recordings of
//! restarts, restarts because of a saved file, and that nothing is left of the earlier starts.

use super::{Scratch, WAIT_MAX};
use crate::game_folder::{Outcome, outcome};
use std::time::{Duration, Instant};

/// A game that restarts in each 5th frame. It counts its starts in a save.
const RESTARTING: &str = "count = (count or 0) + 1
local starts
function init()
  local save = Save.read('starts')
  starts = (save and save.count or 0) + 1
  Save.write('starts', { count = starts })
  world = Application.new_world()
  for i = 1, 50 do World.spawn_unit(world, 'units/rat', Vector3(i, 0, 0)) end
  print('start', starts, 'global', count, 'frame', Application.frame_index(),
    'random', math.random(1000), 'title', Window.title())
  Window.set_title('level ' .. starts)
end
function update(dt)
  World.update(world, dt)
  Application.hash(starts, Application.frame_index())
  if Application.frame_index() == 5 then Application.restart() end
end
function shutdown() print('shutdown', starts) end
";

fn scratch(name: &str) -> Scratch {
    Scratch::new(name, &[("main.lua", RESTARTING), ("units/rat.unit", "nodes = { head = {} }")])
}

fn run(scratch: &Scratch, arguments: &[&str]) -> Outcome {
    outcome(scratch.command().env_remove("ENGINE_QUIET").arg("--headless").args(arguments))
}

#[test]
fn a_restart_resets_everything_but_saves() {
    let scratch = scratch("reset");
    let (code, out, err) = run(&scratch, &["--frames", "12", "--seed", "3"]);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 6, "{out}");
    let random = lines[0].split('\t').nth(7).expect("it is printed");
    for (start, line) in lines.iter().step_by(2).enumerate() {
        let start = start + 1;
        let wanted = format!("start\t{start}\tglobal\t1\tframe\t0\trandom\t{random}\ttitle\tgame");
        assert_eq!(*line, wanted);
        assert_eq!(lines[start * 2 - 1], format!("shutdown\t{start}"));
    }
    assert_eq!(err.matches("engine: the game was restarted").count(), 2, "{err}");
    assert!(err.contains("engine: played 12 frames, without an error"), "{err}");
}

#[test]
fn a_recording_contains_restarts() {
    let scratch = scratch("recorded");
    let file = scratch.path("restarts.recording");
    let file = file.to_str().expect("it is text");
    // The saves of an earlier run are part of the recording.
    run(&scratch, &["--frames", "2"]);
    let (code, out, err) = run(&scratch, &["--frames", "13", "--record", file]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("start\t2\t") && out.contains("\nstart\t4\t"), "{out}");
    let (code, again, err) = outcome(scratch.command().args(["--replay", file]));
    assert_eq!((code, &again), (0, &out), "{err}");
    assert!(err.contains("replayed 13 frames, each as it was recorded"), "{err}");
    let mut test = scratch.0.command(&["test"]);
    let (code, out, err) = outcome(test.arg(scratch.path("")));
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn an_error_after_a_restart_is_recorded() {
    let main = RESTARTING
        .replace("Window.set_title", "if starts == 2 then error('twice') end\nWindow.set_title");
    let scratch = Scratch::new("recorded_error", &[("main.lua", &main), ("units/rat.unit", "")]);
    let file = scratch.path("restarts.recording");
    let file = file.to_str().expect("it is text");
    let (code, _, err) = run(&scratch, &["--frames", "13", "--record", file]);
    assert!(code == 1 && err.contains("the game stopped before its first frame"), "{err}");
    let (code, _, err) = outcome(scratch.command().args(["--replay", file]));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("replayed 5 frames, each as it was recorded, and then the same"), "{err}");
}

/// Restarts often, with worlds, sounds, a worker and a timer, and prints the memory of the engine
/// and of scripts, and the numbers of threads and open files, at each start.
const LEAKING: &str = "local frames = 0
function init()
  world = Application.new_world()
  units = World.spawn_units(world, 'units/rat', { Vector3(1, 0, 0), Vector3(2, 0, 0) })
  gui = World.create_screen_gui(world)
  big = {}
  for i = 1, 20000 do big[i] = { i } end
  Timer.after(100, function() end)
  Sound.trigger(world, 'beep')
  print('memory', (Memory.engine_usage()))
end
function update(dt)
  World.update(world, dt)
  frames = frames + 1
  if frames == 2 then Application.restart() end
end
";

#[test]
fn restarts_leave_nothing_behind() {
    let files = [("main.lua", LEAKING), ("units/rat.unit", "")];
    let scratch = Scratch::new("leaks", &files);
    scratch.save("beep.wav", engine_test_wav());
    let (code, out, err) = run(&scratch, &["--frames", "120", "--audio-out", "sound.wav"]);
    assert_eq!(code, 0, "{err}");
    let bytes: Vec<f64> =
        out.lines().filter_map(|line| line.split('\t').nth(1)?.parse().ok()).collect();
    assert!(bytes.len() > 50, "{out}");
    let (early, late) = (bytes[9], bytes[bytes.len() - 1]);
    assert!(late <= early * 1.02 + 16384.0, "{early} bytes became {late}: {bytes:?}");
    // The file goes on over all starts: 120 frames of a sixtieth of a second.
    let sound = std::fs::metadata(scratch.0.join("sound.wav")).expect("it was written").len();
    assert!(sound > 48_000 * 2 * 2 * 19 / 10, "{sound}");
}

/// Returns a short recording.
fn engine_test_wav() -> Vec<u8> {
    let samples = [0u8; 200];
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + samples.len() as u32).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16u32.to_le_bytes());
    for number in [1u16, 1] {
        wav.extend(number.to_le_bytes());
    }
    for number in [48_000u32, 96_000] {
        wav.extend(number.to_le_bytes());
    }
    for number in [2u16, 16] {
        wav.extend(number.to_le_bytes());
    }
    wav.extend(b"data");
    wav.extend((samples.len() as u32).to_le_bytes());
    wav.extend(samples);
    wav
}

/// Restarts in its third frame. The starts 5 and 65 wait until a file changes.
const RESTING: &str = "local go, starts
function init()
  local save = Save.read('starts')
  starts = (save and save.count or 0) + 1
  Save.write('starts', { count = starts })
end
function update()
  if Application.frame_index() < 3 then return end
  if starts ~= 5 and starts ~= 65 then return Application.restart() end
  local text = Application.data('text', 'go')
  if not go then
    go = text
    print('rests')
  elseif text ~= go then
    Application.restart()
  end
end";

#[test]
fn threads_and_files_of_earlier_starts_are_closed() {
    let scratch = Scratch::new("handles", &[("main.lua", RESTING), ("go.txt", "no")]);
    let mut game = scratch.play();
    let process = game.process.id();
    let count = |folder: &str| {
        std::fs::read_dir(format!("/proc/{process}/{folder}")).map_or(0, Iterator::count)
    };
    let counts = || (count("task"), count("fd"));
    game.wait_for_line("rests");
    // Threads of the start before may still end.
    let measured = (0..20).map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        counts()
    });
    let early = measured
        .fold((usize::MAX, usize::MAX), |least, now| (least.0.min(now.0), least.1.min(now.1)));
    scratch.save("go.txt", "go");
    game.wait_for_line("rests");
    if cfg!(target_os = "linux") {
        assert!(early.0 > 0, "{early:?}");
        let began = Instant::now();
        while counts().0 > early.0 || counts().1 > early.1 {
            assert!(began.elapsed() < WAIT_MAX, "{early:?} {:?}", counts());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_saved_init_restarts_if_the_run_asks_for_it() {
    let main = "function init() print('one') end\nfunction update() end";
    let scratch = Scratch::new("saved_init", &[("main.lua", main)]);
    let mut command = scratch.command();
    command.args(["--headless", "--realtime", "--restart-on-save", "init"]);
    let mut game = super::GameProcess::start(command);
    game.wait_for_line("one");
    // Another function is reloaded as usual.
    scratch.save(
        "main.lua",
        main.replace(
            "function update() end",
            "function update() if not x then x = 1 print('two') end end",
        ),
    );
    game.wait_for_line("two");
    assert!(!game.output.iter().any(|line| line.contains("restart")), "{:?}", game.output);
    // A broken file does not restart.
    scratch.save("main.lua", main.replace("print('one')", "print('three'"));
    game.wait_for_line("error: The saved code cannot be loaded");
    scratch.save("main.lua", main.replace("'one'", "'three'"));
    game.wait_for_line("main.lua:1: `init` was saved: the game restarts");
    game.wait_for_line("three");
    game.check_running();
}

#[test]
fn any_saved_file_restarts_if_the_run_asks_for_it() {
    let main = "function init() print(Application.data('text', 'words')) end";
    let scratch = Scratch::new("saved_any", &[("main.lua", main), ("words.txt", "one")]);
    let mut command = scratch.command();
    command.args(["--headless", "--realtime", "--restart-on-save", "any"]);
    let mut game = super::GameProcess::start(command);
    game.wait_for_line("one");
    scratch.save("words.txt", "two");
    game.wait_for_line("a file was saved: the game restarts");
    game.wait_for_line("two");
    scratch.save("main.lua", "function init( end");
    game.wait_for_line("error: The saved code cannot be loaded");
    scratch.save("main.lua", "function init() print('three') end");
    game.wait_for_line("three");
}

#[test]
fn a_new_init_is_reported() {
    let main = "function update() end";
    let scratch = Scratch::new(
        "new_init",
        &[("main.lua", "function update() if not x then x = 1 print('runs') end end")],
    );
    let mut game = scratch.play();
    game.wait_for_line("runs");
    scratch.save("main.lua", format!("{main}\nfunction init() print('late') end"));
    game.wait_for_line(
        "warning: main.lua:2: `init` is new, and the game has started without it: it is called at \
         the next start (Application.restart() restarts the game; on_reload can do it now)",
    );
    assert!(!game.output.iter().any(|line| line == "late"));
}

#[test]
fn a_restart_key_that_cannot_be_is_refused() {
    let check = |settings: &str, wanted: &str| {
        let scratch = Scratch::new("key", &[("main.lua", ""), ("settings.sjson", settings)]);
        let (code, _, err) = run(&scratch, &["--frames", "1"]);
        assert!(code == 1 && err.contains(wanted), "{err}");
    };
    check(
        "restart = { key = \"f55\" }",
        "settings.sjson: 'restart.key' is \"f55\", which is not a key",
    );
    check(
        "restart = { key = \"grave\" }",
        "settings.sjson: 'restart.key' and 'console.key' are both \"grave\": choose another key",
    );
}
