//! A real window, on a display that nobody sees (Xvfb), played with synthesized keys and mouse
//! (xdotool). Where one of the two is missing, says so and passes.

#![cfg(target_os = "linux")]

use engine::resource::image::{Decoded, Pixels, decode};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long the game may take to say something, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says that a test did not run, past the test harness, which would keep it from the terminal.
fn skip(what: &str) {
    let words = format!("SKIPPED: {what} (to install it: apt-get install xvfb xdotool)");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{words}");
    writeln!(std::io::stderr(), "{words}").expect("stderr can be written to");
}

/// A display of its own.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// Starts one; none where it is not installed.
    fn start() -> Option<Display> {
        let found = |tool: &str| {
            let paths = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&paths).any(|folder| folder.join(tool).is_file())
        };
        for tool in ["Xvfb", "xdotool"] {
            if !found(tool) {
                skip(&format!("there is no {tool}, so no window was opened"));
                return None;
            }
        }
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        let mut line = String::new();
        let told = server.stdout.as_mut().expect("it is piped");
        BufReader::new(told).read_line(&mut line).expect("it tells its number");
        Some(Display { server, name: format!(":{}", line.trim()) })
    }

    /// Runs xdotool: what it prints.
    fn tool(&self, arguments: &[&str]) -> String {
        let run = Command::new("xdotool").args(arguments).env("DISPLAY", &self.name).output();
        let run = run.expect("it is installed");
        let error = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success(), "xdotool {arguments:?}: {error}");
        String::from_utf8_lossy(&run.stdout).trim().to_string()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // It is the last to go, and nothing of it is kept.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A game that is played in a window.
struct Playing {
    process: Child,
    lines: Receiver<String>,
    window: String,
    said: Vec<String>,
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("engine-window-{}-{name}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
    }
    std::fs::create_dir_all(folder.join("game")).expect("a scratch folder can be made");
    folder
}

/// Writes a game's script as editors do: whole, at once.
fn write(folder: &Path, main: &str) {
    let (new, file) = (folder.join("main.new"), folder.join("game/main.lua"));
    std::fs::write(&new, main).expect("a scratch file can be written");
    std::fs::rename(&new, &file).expect("a scratch file can be renamed");
}

impl Playing {
    fn start(display: &Display, folder: &Path, main: &str, arguments: &[&str]) -> Playing {
        write(folder, main);
        let settings = "window = { title = \"Yard\", width = 400, height = 300 }\n";
        std::fs::write(folder.join("game/settings.sjson"), settings).expect("it can be written");
        let mut process = Command::new(env!("CARGO_BIN_EXE_engine"))
            .arg("run")
            .arg(folder.join("game"))
            .args(arguments)
            .env("DISPLAY", &display.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_RUNTIME_DIR", folder)
            .env("ENGINE_SAVE_DIR", folder.join("saves"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let (send, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] = [
            Box::new(process.stdout.take().expect("it is piped")),
            Box::new(process.stderr.take().expect("it is piped")),
        ];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Playing { process, lines, window: String::new(), said: Vec::new() }
    }

    /// Waits until a line begins so.
    #[track_caller]
    fn hears(&mut self, wanted: &str) -> String {
        let began = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.starts_with(wanted) {
                        return line;
                    }
                }
                Err(_) => panic!("no line began with '{wanted}':\n{}", self.said.join("\n")),
            }
        }
    }

    /// Finds the window and gives it the focus, which no window manager does here.
    fn focus(&mut self, display: &Display) {
        self.window = display.tool(&["search", "--sync", "--name", "^Yard$"]);
        display.tool(&["windowfocus", "--sync", &self.window]);
        self.hears("active\ttrue");
    }

    /// Waits for the process's end: its exit code.
    #[track_caller]
    fn ends(&mut self) -> Option<i32> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(status) = self.process.try_wait().expect("it is ours") {
                self.said.extend(self.lines.iter());
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the game did not end:\n{}", self.said.join("\n"));
    }

    fn interrupt(&self) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("every system has it").success());
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        // A test that failed leaves none behind.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const GAME: &str = r#"
local width, height
function update()
  if Keyboard.pressed("w") then print("w") end
  if Keyboard.released("w") then print("w released") end
  for _, key in ipairs(Keyboard.keystrokes()) do print("typed", key) end
  if Mouse.pressed("left") then print("click", Mouse.axis("cursor")) end
  local wheel = Mouse.axis("wheel").y
  if wheel ~= 0 then print("wheel", wheel) end
  local w, h = Window.resolution()
  if w ~= width or h ~= height then
    width, height = w, h
    print("size", w, h)
  end
end
function init() print("init", Window.is_open(), Window.resolution()) end
function on_activate(active) print("active", active) end
function shutdown() print("shutdown") end
"#;

#[test]
fn a_window_is_played_with_keys_and_mouse_and_resized() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("played");
    let mut game = Playing::start(&display, &folder, GAME, &["--renderer", "null"]);
    game.hears("init\ttrue\t400\t300");
    game.focus(&display);
    display.tool(&["keydown", "w"]);
    game.hears("w");
    display.tool(&["keyup", "w"]);
    game.hears("w released");
    display.tool(&["type", "aB"]);
    game.hears("typed\ta");
    game.hears("typed\tB");
    display.tool(&["mousemove", "--window", &game.window, "100", "50"]);
    display.tool(&["click", "1"]);
    game.hears("click\tVector3(100, 250, 0)");
    display.tool(&["click", "4"]);
    // How far a turn is depends on the driver; a synthesized one counts press and release.
    let wheel = game.hears("wheel\t");
    assert!(wheel == "wheel\t1" || wheel == "wheel\t2", "{wheel}");
    display.tool(&["windowsize", &game.window, "500", "200"]);
    game.hears("size\t500\t200");
    game.interrupt();
    assert_eq!(game.ends(), Some(0), "{}", game.said.join("\n"));
    assert!(game.said.iter().any(|line| line == "shutdown"));
}

#[test]
fn a_key_is_released_with_the_focus_and_a_window_that_is_taken_away_ends_the_game() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("focus");
    let mut game = Playing::start(&display, &folder, GAME, &["--renderer", "null"]);
    game.focus(&display);
    display.tool(&["keydown", "w"]);
    game.hears("w");
    let other = display.tool(&["search", "--maxdepth", "0", ".*"]);
    let root = other.lines().next().expect("there is the root").to_string();
    display.tool(&["windowfocus", &root]);
    game.hears("active\tfalse");
    game.hears("w released");
    display.tool(&["windowclose", &game.window]);
    assert_eq!(game.ends(), Some(0), "{}", game.said.join("\n"));
}

#[test]
fn what_was_recorded_in_a_window_replays_without_one() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("recorded");
    let arguments = ["--renderer", "null", "--record", "run.recording"];
    let mut game = Playing::start(&display, &folder, GAME, &arguments);
    game.focus(&display);
    display.tool(&["type", "wasd"]);
    game.hears("typed\td");
    display.tool(&["windowsize", &game.window, "320", "240"]);
    game.hears("size\t320\t240");
    game.interrupt();
    assert_eq!(game.ends(), Some(0), "{}", game.said.join("\n"));
    let replay = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", "game", "--replay", "run.recording"])
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .current_dir(&folder)
        .output()
        .expect("the engine starts");
    let (out, err) =
        (String::from_utf8_lossy(&replay.stdout), String::from_utf8_lossy(&replay.stderr));
    assert_eq!(replay.status.code(), Some(0), "{out}\n{err}");
    for line in ["init\ttrue\t400\t300", "w", "typed\td", "size\t320\t240", "shutdown"] {
        assert!(out.lines().any(|said| said == line), "'{line}' is not in:\n{out}");
    }
}

#[test]
fn what_is_seen_can_be_kept_as_a_picture_and_the_wait_for_it_is_known() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("seen");
    let main = r#"
function on_activate(active) print("active", active) end
function render()
  Gui.rect(Application.main_gui(), Vector3(0, 0, 1), Vector2(200, 300), Color(255, 0, 0))
  Application.render_world(Application.main_world())
  if Keyboard.pressed("w") then print("shot", Application.screenshot("yard")) end
  if Window.latency() > 0 then print("latency", Window.latency()) end
end
"#;
    let mut game = Playing::start(&display, &folder, main, &[]);
    game.focus(&display);
    display.tool(&["key", "w"]);
    let shot = game.hears("shot\t");
    if shot.contains("nothing is drawn in this run") {
        return skip("there is no adapter to draw with");
    }
    let said = shot.trim_start_matches("shot\t").to_string();
    let latency = game.hears("latency\t");
    game.interrupt();
    assert_eq!(game.ends(), Some(0), "{}", game.said.join("\n"));
    // How long it is depends on the machine, and is in docs/performance.md; that it is known does
    // not.
    let frames = latency.split('\t').nth(1).and_then(|number| number.parse::<f64>().ok());
    assert!(frames.is_some_and(|frames| frames > 0.0), "{latency}");
    assert!(said.ends_with("screenshots/yard.png"), "{said}");
    let png = std::fs::read(&said).expect("the picture was written");
    let Ok(Decoded::Image(picture)) = decode(&png, "png") else { panic!("{said} is no picture") };
    let Pixels::Bytes(bytes) = picture.pixels else { panic!("{said} has other pixels") };
    let at = |x: usize, y: usize| &bytes[(y * 400 + x) * 4..][..3];
    assert_eq!((picture.width, picture.height, at(100, 150)), (400, 300, &[255, 0, 0][..]));
    assert_ne!(at(300, 150), [255, 0, 0]);
}

#[test]
fn an_error_leaves_the_window_open_and_a_saved_file_goes_on() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("broken");
    let broken = "function update() print(nothing.here) end\n\
                  function on_activate(active) print('active', active) end";
    let mut game = Playing::start(&display, &folder, broken, &["--renderer", "null"]);
    game.hears("engine: save a file to try again; Escape, or closing the window, ends");
    let mended = "function update() if Keyboard.pressed('x') then error('again') end end\n\
                  function on_activate(active) print('active', active) end";
    write(&folder, mended);
    game.hears("engine: a file was saved: going on");
    game.focus(&display);
    display.tool(&["key", "x"]);
    game.hears("Error: again");
    game.hears("engine: save a file to try again");
    display.tool(&["key", "Escape"]);
    assert_eq!(game.ends(), Some(1), "{}", game.said.join("\n"));
}

#[test]
fn a_game_that_cannot_start_begins_anew_when_it_is_mended() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("anew");
    let broken = "error('not yet')";
    let mut game = Playing::start(&display, &folder, broken, &["--renderer", "null"]);
    game.hears("engine: save a file to try again");
    write(&folder, "function init() print('started', Window.resolution()) end");
    game.hears("started\t400\t300");
    game.interrupt();
    assert_eq!(game.ends(), Some(0), "{}", game.said.join("\n"));
}

#[test]
fn without_a_display_a_game_plays_a_while_and_says_so() {
    let folder = scratch("nowhere");
    write(
        &folder,
        "local n = 0\nfunction update() n = n + 1 end\nfunction shutdown() print(n) end",
    );
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", "game", "--renderer", "null"])
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .current_dir(&folder)
        .output()
        .expect("the engine starts");
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(0), "{err}");
    assert_eq!(out.trim(), "300");
    let wanted = "engine: there is no display (neither WAYLAND_DISPLAY nor WAYLAND_SOCKET nor \
                  DISPLAY is set.): playing 300 frames without a window (--headless plays until \
                  stopped)";
    assert!(err.lines().any(|line| line == wanted), "{err}");
}
