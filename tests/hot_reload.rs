//! Tests of hot reload from a programmer's view: the session of the manual, broken files, deleted
//! and replaced files, ten thousand files at once, two engines in one folder, a full disk.

mod edit_storm;
mod other_languages;
mod restart;
mod spawned_objects;

use super::game_folder::{GameFolder, is_alone, output_lines};
use super::start::start;
use engine::app::{self, App, GameLaunch};
use engine::frame_packet::FramePacket;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const MANUAL: &str = include_str!("../docs/hot_reload.md");

/// Maximum wait, longer than any step takes on a busy machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A folder with a game in its subfolder `game`.
struct Scratch(GameFolder);

impl Scratch {
    fn new(name: &str, files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch(GameFolder::new("playing", name));
        files.iter().for_each(|(path, text)| scratch.save(path, text));
        scratch
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.join("game").join(path)
    }

    /// Saves as most editors do: writes a temporary file, which then replaces the file.
    fn save(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        let temporary = self.0.join("beside");
        fs::write(&temporary, bytes).expect("it can be written");
        fs::rename(&temporary, path).expect("it can be renamed");
    }

    fn command(&self) -> Command {
        let mut command = self.0.command(&["run"]);
        command.arg(self.path("")).stdin(Stdio::null());
        command
    }

    fn play(&self) -> GameProcess {
        let mut command = self.command();
        command.args(["--headless", "--realtime"]);
        GameProcess::start(command)
    }
}

/// A game played in its own process.
struct GameProcess {
    process: Child,
    lines: Receiver<String>,
    output: Vec<String>,
}

impl GameProcess {
    fn start(mut command: Command) -> GameProcess {
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let lines = output_lines(&mut process);
        GameProcess { process, lines, output: Vec::new() }
    }

    /// Waits until a line contains this text.
    #[track_caller]
    fn wait_for_line(&mut self, expected: &str) -> String {
        let began = Instant::now();
        loop {
            let left = WAIT_MAX.saturating_sub(began.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.output.push(line.clone());
                    if line.contains(expected) {
                        return line;
                    }
                }
                Err(_) => panic!("no line has '{expected}' in it:\n{}", self.output.join("\n")),
            }
        }
    }

    /// Waits until each of these texts has appeared in a line, in any order.
    #[track_caller]
    fn wait_for_lines(&mut self, expected: &[&str]) {
        let from = self.output.len();
        for text in expected {
            if !self.output[from..].iter().any(|line| line.contains(text)) {
                self.wait_for_line(text);
            }
        }
    }

    /// Checks that the game still runs after a while in which nothing should happen.
    #[track_caller]
    fn check_running(&mut self) {
        let status = self.process.try_wait().expect("it is ours");
        assert!(status.is_none(), "the game ended:\n{}", self.output.join("\n"));
    }
}

impl Drop for GameProcess {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SHIP: &str = "local M, hits = {}, 0
function M.words(frames)
  hits = hits + 1
  return 'one, ' .. (hits == frames and 'nothing is lost' or 'the count is lost')
end
return M
";

const MAIN: &str = "local ship, frames, last = require 'ship', 0, nil
function init() print('ready') end
function update()
  frames = frames + 1
  local words = ship.words(frames)
  if words ~= last then last = words print(words) end
end
function on_reload(names) print('on_reload: ' .. table.concat(names, ', ')) end
";

/// Returns the lines of the manual's session: the expected output, in order.
fn session() -> Vec<&'static str> {
    let (_, rest) = MANUAL.split_once("## A session").expect("the manual has one");
    let (_, block) = rest.split_once("```\n").expect("it has a block");
    let (block, _) = block.split_once("```").expect("the block has an end");
    block.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn manual_session_works_as_documented() {
    let scratch = Scratch::new("session", &[("main.lua", MAIN), ("ship.lua", SHIP)]);
    let mut game = scratch.play();
    let lines = session();
    let mut lines = lines.into_iter();
    let mut expect_lines = |game: &mut GameProcess, count: usize| {
        // Standard output and standard error arrive through different pipes.
        game.wait_for_lines(&lines.by_ref().take(count).collect::<Vec<_>>());
    };
    expect_lines(&mut game, 2);
    scratch.save("ship.lua", SHIP.replace("one", "two"));
    expect_lines(&mut game, 3);
    scratch.save("ship.lua", SHIP.replace("return 'one", "return return 'one"));
    expect_lines(&mut game, 3);
    scratch.save("ship.lua", SHIP.replace("one", "three"));
    expect_lines(&mut game, 3);
    scratch.save("main.lua", MAIN.replace("'ready'", "'ready to go'"));
    expect_lines(&mut game, 3);
    scratch.save("settings.sjson", "name = \"Yard\"\nlimits = { update_seconds = 1 }\n");
    expect_lines(&mut game, 2);
    scratch.save("settings.sjson", "limits = { update_second = 1 }\n");
    expect_lines(&mut game, 1);
    assert_eq!(lines.next(), None, "all of the session was heard");
    game.check_running();
}

/// Script that queries every resource in each frame and prints changes.
const QUERY_SCRIPT: &str = "local last = {}
local function report(name, text)
  if text ~= last[name] then last[name] = text print(name .. ': ' .. text) end
end
local function ask(name, fn, ...)
  local ok, value = pcall(fn, ...)
  report(name, ok and (type(value) == 'table' and value.v or tostring(value)) or value)
end
function init() print('ready') end
function update()
  ask('config', Application.data, 'config', 'level')
  ask('text', Application.data, 'text', 'a/words')
  ask('picture', function() Texture.unload('ship') Texture.load('ship') return 'a picture' end)
end
function on_reload(names) print('reloaded: ' .. table.concat(names, ', ')) end
";

fn picture(red: u8) -> Vec<u8> {
    engine::resource::image::encode_png(2, 2, &[red, 0, 0, 255].repeat(4))
}

#[test]
fn broken_file_keeps_old_version_and_reports_location() {
    let files =
        [("main.lua", QUERY_SCRIPT), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("broken", &files);
    scratch.save("ship.png", picture(255));
    let mut game = scratch.play();
    game.wait_for_line("config: one");
    game.wait_for_line("text: one");
    game.wait_for_line("picture: a picture");
    scratch.save("level.config", "v = \"two\"\nw = [1, 2\n");
    game.wait_for_line("error: level.config:2:5: list is not closed");
    scratch.save("ship.png", "GIF89a, and not a PNG");
    game.wait_for_line("error: ship.png: ");
    scratch.save("a/words.txt", [b'o', 0xff]);
    game.wait_for_line("error: a/words.txt:1: the file is not UTF-8");
    // All problems are reported until they are fixed, and the game keeps the old data.
    scratch.save("level.config", "v = \"three\"");
    game.wait_for_lines(&["level.config is fixed", "config: three"]);
    scratch.save("a/words.txt", "four");
    game.wait_for_lines(&["a/words.txt is fixed", "text: four"]);
    assert!(!game.output.iter().any(|line| line.contains("could not be compiled")));
    // Deleted and then created again as a broken file: requests return the reason.
    fs::remove_file(scratch.path("ship.png")).expect("it is there");
    game.wait_for_line("picture: ");
    scratch.save("ship.png", "nothing");
    let message = game.wait_for_line("texture 'ship' could not be compiled: ship.png: ");
    assert!(message.starts_with("picture: "), "{message}");
    scratch.save("ship.png", picture(9));
    game.wait_for_lines(&["ship.png is fixed", "picture: a picture"]);
}

#[test]
fn broken_file_is_reported_once() {
    let files =
        [("main.lua", QUERY_SCRIPT), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("once", &files);
    scratch.save("ship.png", picture(255));
    scratch.save("broken.config", "x = [");
    let mut game = scratch.play();
    game.wait_for_line("text: one");
    scratch.save("level.config", "v = ");
    game.wait_for_line("error: level.config:1:1: ");
    for round in 0..5 {
        scratch.save("a/words.txt", format!("round {round}"));
        game.wait_for_line(&format!("text: round {round}"));
    }
    scratch.save("level.config", "v = \"two\"");
    game.wait_for_line("config: two");
    // If the file breaks again, it is reported again.
    scratch.save("level.config", "v = ");
    game.wait_for_line("error: level.config:1:1: ");
    for file in ["broken.config:1:5: ", "level.config:1:1: "] {
        let lines = game.output.iter().filter(|line| line.starts_with(&format!("error: {file}")));
        let expected = if file.starts_with('b') { 1 } else { 2 };
        assert_eq!(lines.count(), expected, "{file}:\n{}", game.output.join("\n"));
    }
}

#[test]
fn removed_broken_script_does_not_block_reloads() {
    let files = [("main.lua", MAIN), ("ship.lua", SHIP), ("other.lua", SHIP)];
    let scratch = Scratch::new("gone", &files);
    let mut game = scratch.play();
    game.wait_for_line("one, nothing is lost");
    for round in 0..2 {
        scratch.save("ship.lua", "local M = = 1");
        game.wait_for_line("In ship.lua:1");
        match round {
            0 => fs::remove_file(scratch.path("ship.lua")).expect("it is there"),
            _ => {
                fs::rename(scratch.path("ship.lua"), scratch.path("ship.old")).expect("it is there")
            }
        }
        let source = MAIN.replace("require 'ship'", "require 'other'");
        scratch.save("main.lua", source.replace("on_reload: ", &format!("round {round}: ")));
        game.wait_for_line(&format!("round {round}: "));
        scratch.save("ship.lua", SHIP);
        game.wait_for_line(&format!("round {round}: ship.lua"));
    }
    game.check_running();
}

/// Maximum time of a save that shows that the engine waits for its end. The engine waits for at
/// least 100 milliseconds, and a machine that is busy may need longer for the save.
const QUICK: Duration = Duration::from_millis(50);

#[test]
fn briefly_missing_file_is_tolerated() {
    let main = "function update()
  local _, text = pcall(Application.data, 'text', 'a')
  if text ~= last then last = text print('a: ' .. text) end
end";
    let scratch = Scratch::new("away", &[("main.lua", main), ("a.txt", "0")]);
    let mut game = scratch.play();
    game.wait_for_line("a: 0");
    let (mut quick, mut round) = (0, 0);
    // The messages of a slow save may arrive in the next round.
    let mut was_slow = false;
    while quick < 9 {
        round += 1;
        assert!(round < 1000, "the machine is never quick enough");
        // As vim saves, on a busy disk.
        let began = Instant::now();
        fs::rename(scratch.path("a.txt"), scratch.path("a.txt~")).expect("it is there");
        std::thread::sleep(Duration::from_millis(15));
        fs::write(scratch.path("a.txt"), round.to_string()).expect("it can be written");
        let is_slow = began.elapsed() >= QUICK;
        let is_quick = !is_slow && !std::mem::replace(&mut was_slow, is_slow);
        let from = game.output.len();
        let wanted = format!("a: {round}");
        game.wait_for_line(&wanted);
        let is_wrong =
            |line: &&String| line.starts_with("a: ") && **line != wanted || line.contains("error");
        let wrong: Vec<&String> = game.output[from..].iter().filter(is_wrong).collect();
        assert!(!is_quick || wrong.is_empty(), "{wrong:?}");
        quick += u32::from(is_quick);
    }
    game.check_running();
}

#[test]
fn read_only_game_folder_uses_the_user_cache() {
    let main = "print(Application.data('text', 'a'))";
    let scratch = Scratch::new("cache", &[("main.lua", main), ("a.txt", "it is there")]);
    // A file in place of the engine's folder: no user can write in it, the superuser included.
    scratch.save(".engine", "");
    let run = |home: &str| {
        let mut command = scratch.command();
        command.args(["--headless", "--frames", "1"]);
        for name in ["XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
            command.env(name, scratch.path(home));
        }
        let run = command.output().expect("the engine starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        (run.status.code(), text(run.stdout), text(run.stderr))
    };
    let (code, out, err) = run("../home");
    assert_eq!(code, Some(0), "{out}{err}");
    let expected = "the game's folder is not written to: its data is in ";
    assert!(out.starts_with(expected) && out.ends_with("\nit is there\n"), "{out}{err}");
    assert!(!err.contains("could not be compiled"), "{err}");
    // Bundles, too.
    let mut command = scratch.0.command(&["compile", "--bundle", "--out"]);
    command.arg(scratch.path("../a.bundle")).arg(scratch.path(""));
    for name in ["XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        command.env(name, scratch.path("../home"));
    }
    let bundled = command.output().expect("the engine starts");
    assert!(bundled.status.success(), "{}", String::from_utf8_lossy(&bundled.stderr));
    // A link never leads out of the folder, not even to check whether its target is writable.
    #[cfg(unix)]
    {
        fs::remove_file(scratch.path(".engine")).expect("it is there");
        fs::create_dir(scratch.path("../other")).expect("it can be made");
        let link = std::os::unix::fs::symlink("../other", scratch.path(".engine"));
        link.expect("it can be made");
        let (code, out, err) = run("../home");
        assert_eq!(code, Some(1), "{out}{err}");
        assert!(
            err.contains(".engine is a link, and compiled data stays here: remove it"),
            "{err}"
        );
        let inside = fs::read_dir(scratch.path("../other")).expect("it is there");
        assert_eq!(inside.count(), 0, "nothing was written");
        fs::remove_file(scratch.path(".engine")).expect("it is there");
        scratch.save(".engine", "");
    }
    // No folder is writable: requests return the reason.
    let (code, out, err) = run(".engine/home");
    assert_eq!(code, Some(1), "{out}{err}");
    let message =
        "there is no text 'a': resources could not be compiled: nothing can be written into ";
    assert!(err.contains(message), "{err}");
}

#[test]
fn deleted_renamed_and_replaced_files_are_handled() {
    let files =
        [("main.lua", QUERY_SCRIPT), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("moved", &files);
    scratch.save("ship.png", picture(255));
    let mut game = scratch.play();
    game.wait_for_line("text: one");
    fs::rename(scratch.path("a"), scratch.path("b")).expect("it can be renamed");
    game.wait_for_line("there is no text 'a/words'");
    fs::rename(scratch.path("b"), scratch.path("a")).expect("it can be renamed");
    game.wait_for_line("text: one");
    fs::remove_file(scratch.path("a/words.txt")).expect("it is there");
    fs::create_dir(scratch.path("a/words.txt")).expect("it can be made");
    game.wait_for_line("there is no text 'a/words'");
    fs::remove_dir(scratch.path("a/words.txt")).expect("it is there");
    scratch.save("a/words.txt", "two");
    game.wait_for_line("text: two");
    // A folder that appears complete, and links that form a cycle.
    #[cfg(unix)]
    std::os::unix::fs::symlink(scratch.path(""), scratch.path("a/again")).expect("it can be made");
    scratch.save("a/words.txt", "three");
    game.wait_for_line("text: three");
    game.check_running();
}

#[test]
fn ten_thousand_files_can_change_at_once() {
    let files =
        [("main.lua", QUERY_SCRIPT), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("many", &files);
    scratch.save("ship.png", picture(255));
    for folder in 0..10 {
        fs::create_dir_all(scratch.path(&format!("many/{folder}"))).expect("it can be made");
    }
    let many = |text: &str| {
        for i in 0..10_000 {
            let path = scratch.path(&format!("many/{}/t{i}.txt", i % 10));
            fs::write(path, format!("{text}{i}")).expect("it can be written");
        }
    };
    many("old ");
    let mut game = scratch.play();
    game.wait_for_line("text: one");
    many("new ");
    // Changes after the storm are noticed, too.
    game.wait_for_line("reloaded: many/");
    scratch.save("a/words.txt", "two");
    game.wait_for_line("text: two");
    game.check_running();
}

#[test]
fn two_engines_can_play_one_folder() {
    let files =
        [("main.lua", QUERY_SCRIPT), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("two", &files);
    scratch.save("ship.png", picture(255));
    let mut games = [scratch.play(), scratch.play()];
    games.iter_mut().for_each(|game| _ = game.wait_for_line("picture: a picture"));
    for round in 0..10 {
        scratch.save("a/words.txt", format!("round {round}"));
        scratch.save("ship.png", picture(round));
        for game in &mut games {
            game.wait_for_line(&format!("text: round {round}"));
        }
    }
    for game in &mut games {
        game.check_running();
        let lines =
            game.output.iter().find(|line| line.contains("damaged") || line.contains("error"));
        assert_eq!(lines, None, "{}", game.output.join("\n"));
    }
}

/// With a limit on file sizes, a write fails as on a full disk.
#[cfg(unix)]
#[test]
fn full_disk_while_compiling_keeps_old_data() {
    let files =
        [("main.lua", QUERY_SCRIPT), ("level.config", "v = \"one\""), ("a/words.txt", "one")];
    let scratch = Scratch::new("full", &files);
    scratch.save("ship.png", picture(255));
    let once = |limited: bool| {
        let engine = scratch.command();
        let mut command = Command::new("sh");
        let limit = if limited { "ulimit -f 0; " } else { "" };
        command.args(["-c", &format!("trap '' XFSZ; {limit}exec \"$0\" \"$@\"")]);
        command.arg(engine.get_program()).args(engine.get_args());
        command.args(["--headless", "--frames", "2"]).current_dir(&scratch.0);
        command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", scratch.0.join("saves"));
        let output = command.output().expect("every system has a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = once(false);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("text: one"), "{out}");
    scratch.save("a/words.txt", "two");
    let (code, out, err) = once(true);
    assert_eq!(code, Some(1), "the run reports it in the end: {out}{err}");
    assert!(err.contains(" cannot be written: "), "{err}");
    assert!(out.contains("text: one"), "the old data runs: {out}{err}");
    // With free space again, everything works.
    let (code, out, err) = once(false);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("text: two"), "{out}");
}

#[test]
fn missing_driver_is_reported_and_null_renderer_works() {
    let main = "function shutdown() print('played') end";
    let scratch = Scratch::new("driver", &[("main.lua", main)]);
    let run = |arguments: &[&str]| {
        let mut command = scratch.command();
        command.args(["--headless", "--frames", "2"]).args(arguments);
        // The search paths of drivers contain none.
        command.env("VK_DRIVER_FILES", scratch.path("none.json"));
        command.env("VK_ICD_FILENAMES", scratch.path("none.json"));
        command.env("WGPU_BACKEND", "vulkan");
        let run = command.output().expect("the engine starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        (run.status.code(), text(run.stdout), text(run.stderr))
    };
    let check = |arguments: &[&str], code: i32, played: &str, message: &str| {
        let (found, out, err) = run(arguments);
        assert_eq!((found, out.as_str()), (Some(code), played), "{arguments:?}: {err}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    };
    check(&["--renderer", "null"], 0, "played\n", "");
    let message = "no software adapter was found: no graphics driver answers. Install one (on \
                 Debian and Ubuntu: apt install mesa-vulkan-drivers), or run with --renderer null";
    check(&["--renderer", "software"], 1, "", message);
    let message = "no graphics card can be used: no graphics driver answers. Install its driver";
    check(&["--renderer", "gpu"], 1, "", message);
    // No adapter was asked for explicitly: the game is played, and the screenshot is missing.
    let message =
        "nothing can be drawn: nothing to draw with was found: no graphics driver answers";
    check(&["--screenshot", "shot.png"], 1, "played\n", message);
}

#[test]
fn drivers_are_silent_without_wayland() {
    let scratch = Scratch::new("quiet", &[("main.lua", "function update() end")]);
    // With these variables, the driver also looks for the card of the Wayland compositor.
    for (variable, value) in [("UNUSED", ""), ("DRI_PRIME", "1"), ("XDG_RUNTIME_DIR", "relative")] {
        let mut command = scratch.command();
        command.args(["--headless", "--frames", "2", "--renderer", "software"]);
        // The last one is set for tests that draw in this process (tests/all.rs).
        for name in ["XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "NODEVICE_SELECT"] {
            command.env_remove(name);
        }
        let run = command.env(variable, value).output().expect("the engine starts");
        let err = String::from_utf8_lossy(&run.stderr);
        // Without any driver the engine prints one line.
        let own = err.is_empty() || err.starts_with("error: no software adapter was found");
        assert!(own && !err.contains("XDG_RUNTIME_DIR"), "{variable}: {err}");
    }
}

/// Opens the game in this process, with a watcher, as if it were displayed.
fn open_displayed(scratch: &Scratch) -> App {
    let launch = GameLaunch::headless(app::Game::Folder(scratch.path("")));
    let mut app = start(GameLaunch { watch: true, ..launch });
    app.vm().engine().drawing.builder.is_shown = true;
    app
}

/// Plays frames until the message over the game contains this text, or is gone.
#[track_caller]
fn play_until_overlay(app: &mut App, expected: Option<&str>) -> usize {
    let began = Instant::now();
    loop {
        app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
        let engine = app.vm().engine();
        let views = engine.take_packet(FramePacket::default()).views.len();
        let refusals = engine.drawing.refusals();
        let is_so = match expected {
            Some(message) => refusals.iter().any(|line| line.contains(message)),
            None => refusals.is_empty(),
        };
        if is_so {
            return views;
        }
        assert!(began.elapsed() < WAIT_MAX, "not {expected:?}: {refusals:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn reload_overlay_shows_error_until_fixed() {
    // Errors of other tests would be shown, too.
    if !is_alone(module_path!(), "reload_overlay_shows_error_until_fixed") {
        return;
    }
    let scratch = Scratch::new("told", &[("main.lua", MAIN), ("ship.lua", SHIP)]);
    scratch.save("settings.sjson", "name = \"Yard\"");
    let mut app = open_displayed(&scratch);
    assert_eq!(play_until_overlay(&mut app, None), 0, "the game itself shows nothing");
    scratch.save("ship.lua", SHIP.replace("return 'one", "return return 'one"));
    assert_eq!(play_until_overlay(&mut app, Some("In ship.lua:4")), 1);
    // A valid change of another file does not hide the message.
    scratch.save("words.txt", "fine");
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(300) {
        play_until_overlay(&mut app, Some("In ship.lua:4"));
    }
    scratch.save("ship.lua", SHIP);
    play_until_overlay(&mut app, None);
    scratch.save("ship.png", "nothing");
    play_until_overlay(&mut app, Some("ship.png: "));
    scratch.save("ship.png", picture(1));
    play_until_overlay(&mut app, None);
    scratch.save("settings.sjson", "nmae = \"Yard\"");
    play_until_overlay(&mut app, Some("unknown setting 'nmae', did you mean 'name'?"));
    scratch.save("settings.sjson", "collector = { milliseconds = 3 }\ntime_step = [\"no\"]");
    play_until_overlay(&mut app, Some("'time_step': "));
    assert_eq!(app.vm().engine().frame.collection.milliseconds, 1.0, "all or nothing");
    scratch.save("settings.sjson", "collector = { milliseconds = 3 }\nwindow = { width = 300 }");
    play_until_overlay(&mut app, None);
    assert_eq!(app.vm().engine().frame.collection.milliseconds, 3.0);
    assert_eq!(app.vm().engine().devices.window.pixels.0, 300);
}
