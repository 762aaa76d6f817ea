//! Tests of a real window on a virtual display (Xvfb), with synthesized keys and mouse input
//! (xdotool). If one of the two programs is missing, the tests report this and pass.

mod broker;
pub mod console_and_errors;
mod debugging;
pub mod display;
mod input_devices;
mod lost_display;
mod messages;
mod secondary_windows;
mod x11_client;

use crate::game_folder::{GameFolder, check_end_time};
use display::{Display, GameProcess, skip};
use engine::resource::image::{DecodedImage, PixelFormat, decode};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use x11_client::X11Client;

/// Makes a folder for a test, with an empty folder for the game.
#[track_caller]
fn scratch(name: &str) -> GameFolder {
    let folder = GameFolder::new("window", name);
    std::fs::create_dir_all(folder.join("game")).expect("a scratch folder can be made");
    folder
}

/// Writes a game's script atomically, as editors do.
fn write(folder: &Path, main: &str) {
    let (new, file) = (folder.join("main.new"), folder.join("game/main.lua"));
    std::fs::write(&new, main).expect("a scratch file can be written");
    std::fs::rename(&new, &file).expect("a scratch file can be renamed");
}

impl GameProcess {
    fn start(display: &Display, folder: &Path, main: &str, arguments: &[&str]) -> GameProcess {
        write(folder, main);
        let settings = "window = { title = \"Yard\", width = 400, height = 300 }\n";
        std::fs::write(folder.join("game/settings.sjson"), settings).expect("it can be written");
        GameProcess::run(display, &folder.join("game"), folder, arguments)
    }

    /// Focuses the window. A focus change before the game has begun is not reported to it, so the
    /// change is repeated.
    fn focus(&mut self, display: &Display) {
        for _ in 0..10 {
            self.take_focus(display, "Yard");
            if self.wait_for_line_within(&["active\ttrue"], Duration::from_secs(6)).is_some() {
                return;
            }
            let roots = display.tool(&["search", "--maxdepth", "0", ".*"]);
            display.tool(&["windowfocus", roots.lines().next().expect("there is the root")]);
        }
        panic!("the game got no event of the focus:\n{}", self.output.join("\n"));
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
fn window_receives_keys_mouse_and_resizes() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("played");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "null"]);
    game.wait_for_line("init\ttrue\t400\t300");
    game.focus(&display);
    display.tool(&["keydown", "w"]);
    game.wait_for_line("w");
    display.tool(&["keyup", "w"]);
    game.wait_for_line("w released");
    display.tool(&["type", "aB"]);
    game.wait_for_line("typed\ta");
    game.wait_for_line("typed\tB");
    display.tool(&["mousemove", "--window", &game.window, "100", "50"]);
    display.tool(&["click", "1"]);
    game.wait_for_line("click\tVector3(100, 250, 0)");
    display.tool(&["click", "4"]);
    // The distance of a wheel turn depends on the driver. A synthesized turn counts press and
    // release.
    let wheel = game.wait_for_line("wheel\t");
    assert!(wheel == "wheel\t1" || wheel == "wheel\t2", "{wheel}");
    display.tool(&["windowsize", &game.window, "500", "200"]);
    game.wait_for_line("size\t500\t200");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    assert!(game.output.iter().any(|line| line == "shutdown"));
}

#[test]
fn focus_loss_releases_keys_and_destroyed_window_ends_game() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("focus");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "null"]);
    game.focus(&display);
    display.tool(&["keydown", "w"]);
    game.wait_for_line("w");
    let other = display.tool(&["search", "--maxdepth", "0", ".*"]);
    let root = other.lines().next().expect("there is the root").to_string();
    display.tool(&["windowfocus", &root]);
    game.wait_for_line("active\tfalse");
    game.wait_for_line("w released");
    display.tool(&["windowclose", &game.window]);
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

#[test]
fn windowed_recording_replays_headless() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("recorded");
    let arguments = ["--renderer", "null", "--record", "run.recording"];
    let mut game = GameProcess::start(&display, &folder, GAME, &arguments);
    game.focus(&display);
    display.tool(&["type", "wasd"]);
    game.wait_for_line("typed\td");
    display.tool(&["windowsize", &game.window, "320", "240"]);
    game.wait_for_line("size\t320\t240");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    let replay = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", "game", "--replay", "run.recording"])
        .env("ENGINE_QUIET", "1")
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
        assert!(out.lines().any(|output| output == line), "'{line}' is not in:\n{out}");
    }
}

#[test]
fn screenshots_and_latency_are_available() {
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
    let mut game = GameProcess::start(&display, &folder, main, &[]);
    game.focus(&display);
    display.tool(&["key", "w"]);
    let shot = game.wait_for_line("shot\t");
    if shot.contains("nothing is drawn in this run") {
        return skip("there is no adapter to draw with");
    }
    let output = shot.trim_start_matches("shot\t").to_string();
    let latency = game.wait_for_line("latency\t");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    // The latency depends on the machine and is in docs/performance.md. The test only checks that
    // it is measured.
    let frames = latency.split('\t').nth(1).and_then(|number| number.parse::<f64>().ok());
    assert!(frames.is_some_and(|frames| frames > 0.0), "{latency}");
    assert!(output.ends_with("screenshots/yard.png"), "{output}");
    let png = std::fs::read(&output).expect("the picture was written");
    let Ok(DecodedImage::Image(picture)) = decode(&png, "png") else {
        panic!("{output} is no picture")
    };
    let PixelFormat::Bytes(bytes) = picture.pixels else { panic!("{output} has other pixels") };
    let at = |x: usize, y: usize| &bytes[(y * 400 + x) * 4..][..3];
    assert_eq!((picture.width, picture.height, at(100, 150)), (400, 300, &[255, 0, 0][..]));
    assert_ne!(at(300, 150), [255, 0, 0]);
}

#[test]
fn window_has_its_icon_and_accepts_dropped_files() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("dropped");
    // Two adjacent texels, in the order blue, green, red.
    let head = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 24, 0];
    let tga = [&head[..], &[3, 2, 1, 6, 5, 4]].concat();
    std::fs::write(folder.join("game/mark.tga"), tga).expect("it can be written");
    let file = folder.join("käse und brot.txt");
    std::fs::write(&file, "crumbs").expect("it can be written");
    let main = r#"
function init() Window.set_icon("mark") end
function on_activate(active) print("active", active) end
function update()
  for _, path in ipairs(Window.dropped_files()) do
    print("dropped", path, Window.read_dropped_file(path))
  end
end
"#;
    let mut game = GameProcess::start(&display, &folder, main, &["--renderer", "null"]);
    game.focus(&display);
    let window = game.window.parse().expect("a window has a number");
    let other = X11Client::on(&display);
    let began = Instant::now();
    let icon = loop {
        let icon = other.property(window, "_NET_WM_ICON");
        if !icon.is_empty() || began.elapsed() > Duration::from_secs(60) {
            break icon;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(icon, [2, 1, 0xff01_0203, 0xff04_0506], "width, height, and colours with alpha");
    let encoded: String = file.to_str().expect("it is UTF-8").bytes().map(encode).collect();
    other.drop_on(window, &format!("file://{encoded}\r\n"));
    let expected = format!("dropped\t{}\tcrumbs", file.display());
    assert_eq!(game.wait_for_line("dropped"), expected);
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

#[test]
fn clipboard_is_shared_and_close_request_asks_the_game() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("shared");
    let main = r#"
local asked = 0
function init() print("copied", Window.set_clipboard("käse")) end
function on_activate(active) print("active", active) end
function update() if Keyboard.pressed("v") then print("pasted", Window.clipboard()) end end
function on_close()
  asked = asked + 1
  print("asked", asked)
  return asked == 2
end
"#;
    let mut game = GameProcess::start(&display, &folder, main, &["--renderer", "null"]);
    game.wait_for_line("copied\ttrue");
    game.focus(&display);
    let other = X11Client::on(&display);
    assert_eq!(other.clipboard(), "käse");
    other.take_clipboard();
    display.tool(&["key", "v"]);
    other.serve_clipboard("brot");
    game.wait_for_line("pasted\tbrot");
    let window = game.window.parse().expect("a window has a number");
    other.ask_to_close(window);
    game.wait_for_line("asked\t1");
    other.ask_to_close(window);
    game.wait_for_line("asked\t2");
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

/// Returns a byte of a path in the form of URLs.
fn encode(byte: u8) -> String {
    match byte {
        b'/' | b'.' | b'-' | b'_' => (byte as char).to_string(),
        _ if byte.is_ascii_alphanumeric() => (byte as char).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

#[test]
fn exit_request_does_not_wait_for_a_slow_frame() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("slow");
    let main = r#"
local world
function init()
  world = Application.main_world()
  for i = 1, 300 do
    World.spawn_unit(world, "core/units/torus", Vector3(i % 20 - 10, 4 + i % 15, i % 7 - 3))
  end
  World.spawn_unit(world, "core/units/sun", Vector3(0, 0, 9),
    Quaternion.look(Vector3(0.6, 1, -1.2), Vector3.up()))
end
local frame = 0
function update(dt)
  frame = frame + 1
  World.update(world, dt)
  if frame == 3 then print("playing") end
end
function shutdown() print("shutdown") end
"#;
    std::fs::write(folder.join("game/main.lua"), main).expect("it can be written");
    let settings = "window = { title = \"Yard\", width = 1000, height = 700 }\n\
                    render = { quality = \"high\", shadow_texels = 4096 }\n";
    std::fs::write(folder.join("game/settings.sjson"), settings).expect("it can be written");
    let arguments = ["--renderer", "software"];
    // The driver's thread for its cache has the priority of an idle machine. Linux removes a
    // process after its last thread ran once more: on a busy machine, many seconds later.
    let set = [("MESA_SHADER_CACHE_DISABLE", "true")];
    let game_folder = folder.join("game");
    check_end_time("slow", || {
        let mut game = GameProcess::run_with(&display, &game_folder, &folder, &arguments, &set);
        let output = game.wait_for_any_line(&["playing", "error: no software adapter"]);
        if output != "playing" {
            skip("there is no adapter to draw with");
            return Duration::ZERO;
        }
        let asked = Instant::now();
        game.interrupt();
        assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
        let took = asked.elapsed();
        assert!(game.output.iter().any(|line| line == "shutdown"), "{}", game.output.join("\n"));
        took
    });
}

#[test]
fn error_keeps_window_open_and_saved_fix_resumes() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("broken");
    let broken = "function update() print(nothing.here) end\n\
                  function on_activate(active) print('active', active) end";
    let mut game = GameProcess::start(&display, &folder, broken, &["--renderer", "null"]);
    game.wait_for_line(
        "engine: save a file to try again; F5 restarts the game; Escape, or closing",
    );
    let fixed = "function update() if Keyboard.pressed('x') then error('again') end end\n\
                  function on_activate(active) print('active', active) end";
    write(&folder, fixed);
    game.wait_for_line("engine: a file was saved: continuing");
    game.focus(&display);
    display.tool(&["key", "x"]);
    game.wait_for_line("Error: again");
    game.wait_for_line("engine: save a file to try again");
    display.tool(&["key", "Escape"]);
    assert_eq!(game.wait_for_exit(), Some(1), "{}", game.output.join("\n"));
}

#[test]
fn game_that_failed_to_start_restarts_when_fixed() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("again");
    let broken = "error('not yet')";
    let mut game = GameProcess::start(&display, &folder, broken, &["--renderer", "null"]);
    game.wait_for_line("engine: save a file to try again");
    write(&folder, "function init() print('started', Window.resolution()) end");
    game.wait_for_line("started\t400\t300");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

#[test]
fn missing_display_falls_back_to_headless_with_warning() {
    let folder = scratch("nowhere");
    write(
        &folder,
        "local n = 0\nfunction update() n = n + 1 end\nfunction shutdown() print(n) end",
    );
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", "game", "--renderer", "null"])
        .env("ENGINE_QUIET", "1")
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
    let expected = "engine: there is no display (neither WAYLAND_DISPLAY nor WAYLAND_SOCKET nor \
                  DISPLAY is set.): playing 300 frames without a window (--headless plays until \
                  stopped)";
    assert!(err.lines().any(|line| line == expected), "{err}");
}

#[test]
fn units_that_no_view_shows_are_reported_once() {
    let run = |name: &str, render: &str, frames: &str| {
        let folder = scratch(name);
        let main = "function init()
  world = Application.new_world()
  World.spawn_unit(world, 'units/rat')
end
function update(dt) World.update(world, dt) end
";
        write(&folder, &format!("{main}{render}"));
        std::fs::create_dir(folder.join("game/units")).expect("a folder can be made");
        std::fs::write(folder.join("game/units/rat.unit"), "").expect("it can be written");
        let run = Command::new(env!("CARGO_BIN_EXE_engine"))
            .args(["run", "game", "--headless", "--renderer", "null", "--frames", frames])
            .env("ENGINE_QUIET", "1")
            .env("ENGINE_SAVE_DIR", folder.join("saves"))
            .current_dir(&folder)
            .output()
            .expect("the engine starts");
        assert_eq!(run.status.code(), Some(0));
        // Nothing was saved, so there is no folder of saves.
        let saves = std::fs::read_dir(folder.join("saves")).map_or(0, Iterator::count);
        assert_eq!(saves, 0);
        let err = String::from_utf8_lossy(&run.stderr).into_owned();
        err.matches("Application.render_world(world, camera)").count()
    };
    assert_eq!(run("viewless", "", "300"), 1);
    assert_eq!(run("viewless_short", "", "100"), 0);
    let shown = "function render() Application.render_world(world) end";
    assert_eq!(run("viewed", shown, "300"), 0);
}
