//! Tests of secondary windows: their content, their keyboard input, and each way of closing them.

use super::display::{Display, GameProcess, skip};
use super::scratch;
use super::x11_client::X11Client;
use engine::foundation::Vec2;
use engine::frame_packet::{FramePacket, View, ViewTarget, WindowFrame};
use engine::system::render::{
    AdapterChoice, RenderQuality, Renderer, RendererEvent, RendererOptions, SurfaceTarget, Vsync,
};
use engine::system::window::ForeignWindow;
use engine::world::camera::Camera;
use engine_test_support::test_path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Maximum wait, on a busy machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

const GAME: &str = r#"
local map, width, height
local asked = 0
function init() map = Window.open { title = "Map", width = 300, height = 200, x = 500, y = 60 } end
function update()
  if Keyboard.pressed("w") then print("w", Window.has_focus(), Window.has_focus(map)) end
  if Keyboard.released("w") then print("w released") end
  if Keyboard.pressed("q") then print("down", Keyboard.button("w")) end
  if Mouse.pressed("left") then
    print("click", Window.mouse_focus(), Window.mouse_focus(map), Window.cursor(map))
  end
  if Keyboard.pressed("n") then
    for i = 1, 300 do Window.close(Window.open { title = "Short" }) end
    print("eight", pcall(function()
      for i = 1, 9 do Window.open { title = "More" .. i, visible = i % 2 == 0 } end
    end))
  end
  local w, h = Window.resolution(map)
  if Window.is_open(map) and (w ~= width or h ~= height) then
    width, height = w, h
    print("size", w, h)
  end
  if Window.is_closing(map) then print("closing", Window.is_open(map)) end
end
function on_activate(active) print("active", active) end
function on_close(window)
  asked = asked + 1
  print("asked", window == map, asked)
  return asked ~= 1
end
function shutdown() print("shutdown", Window.alive(map)) end
"#;

fn number(window: &str) -> u32 {
    window.parse().expect("a window has a number")
}

/// Waits until a pixel of a window has a color.
#[track_caller]
fn wait_for_pixel(other: &X11Client, window: u32, (x, y): (i16, i16), expected: [u8; 3]) {
    let began = Instant::now();
    loop {
        let found = other.pixel(window, x, y);
        if found == expected {
            return;
        }
        assert!(began.elapsed() < WAIT_MAX, "{found:?} at {x}, {y}, not {expected:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn second_window_receives_input_and_close_requests() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("second");
    let arguments = ["--renderer", "null", "--record", "run.recording"];
    let mut game = GameProcess::start(&display, &folder, GAME, &arguments);
    game.wait_for_line("size\t300\t200");
    let map = display.tool(&["search", "--sync", "--onlyvisible", "--name", "^Map$"]);
    game.focus(&display);
    display.tool(&["keydown", "w"]);
    game.wait_for_line("w\ttrue\tfalse");
    display.tool(&["windowfocus", "--sync", &map]);
    game.wait_for_line("w released");
    display.tool(&["keyup", "w"]);
    display.tool(&["key", "w"]);
    game.wait_for_line("w\tfalse\ttrue");
    display.tool(&["mousemove", "--window", &map, "30", "50", "click", "1"]);
    game.wait_for_line("click\tfalse\ttrue\tVector3(30, 150, 0)");
    display.tool(&["windowsize", &map, "320", "100"]);
    game.wait_for_line("size\t320\t100");
    let other = X11Client::on(&display);
    other.ask_to_close(number(&map));
    game.wait_for_line("asked\ttrue\t1");
    game.wait_for_line("closing\ttrue");
    other.ask_to_close(number(&map));
    game.wait_for_line("asked\ttrue\t2");
    game.wait_for_line("closing\tfalse");
    display.tool(&["windowfocus", "--sync", &game.window]);
    display.tool(&["key", "w"]);
    game.wait_for_line("w\ttrue\tfalse");
    other.ask_to_close(number(&game.window));
    game.wait_for_line("asked\tfalse\t3");
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    assert!(game.output.iter().any(|line| line == "shutdown\ttrue"));
    let replay = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run", "game", "--replay", "run.recording"])
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .current_dir(&folder)
        .output()
        .expect("the engine starts");
    let out = String::from_utf8_lossy(&replay.stdout);
    let err = String::from_utf8_lossy(&replay.stderr);
    assert_eq!(replay.status.code(), Some(0), "{out}\n{err}");
    let is_from_engine =
        |line: &&String| line.starts_with("engine:") || line.starts_with("warning:");
    let output: Vec<_> = game.output.iter().filter(|line| !is_from_engine(line)).collect();
    assert_eq!(out.lines().collect::<Vec<_>>(), output);
}

#[test]
fn many_or_destroyed_windows_do_not_end_the_game() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("hundreds");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "null"]);
    game.wait_for_line("size\t300\t200");
    game.focus(&display);
    display.tool(&["keydown", "w"]);
    game.wait_for_line("w\ttrue\tfalse");
    display.tool(&["key", "n"]);
    let output = game.wait_for_line("eight\tfalse");
    assert!(output.contains("8 windows already exist besides the main one"), "{output}");
    display.tool(&["search", "--sync", "--name", "^More6$"]);
    // Opening a window does not release a key that the player holds.
    display.tool(&["key", "q"]);
    let down = game.wait_for_line("down");
    assert_eq!(down, "down\t1", "{}", game.output.join("\n"));
    assert!(!game.output.iter().any(|line| line == "w released"), "{}", game.output.join("\n"));
    display.tool(&["keyup", "w"]);
    game.wait_for_line("w released");
    let map = display.tool(&["search", "--name", "^Map$"]);
    display.tool(&["windowclose", &map]);
    game.wait_for_line("closing\tfalse");
    display.tool(&["windowfocus", "--sync", &game.window]);
    display.tool(&["key", "w"]);
    game.wait_for_line("w\ttrue\tfalse");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

#[test]
fn each_window_shows_its_own_world_and_guis() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("pictures");
    let main = r#"
local map, world, gui
function init()
  map = Window.open { title = "Map", width = 300, height = 200, x = 500, y = 60 }
  world = Application.new_world()
  gui = World.create_screen_gui(world, "immediate")
end
function on_activate(active) print("active", active) end
function update()
  if map and Window.is_open(map) and Keyboard.pressed("c") then
    Window.close(map)
    map = nil
    print("closed")
  end
  if Keyboard.pressed("o") then
    map = Window.open { title = "Again", width = 300, height = 200, x = 500, y = 60 }
  end
  if map and Window.is_closing(map) then print("taken", Window.is_open(map)) end
end
function render()
  Gui.rect(Application.main_gui(), Vector3(0, 0, 1), Vector2(9999, 9999), Color(255, 0, 0))
  Application.render_world(Application.main_world())
  if not map then return end
  Gui.rect(gui, Vector3(0, 0, 1), Vector2(50, 50), Color(0, 255, 0))
  Application.render_world(world, nil, nil, nil, map)
end
"#;
    let mut game = GameProcess::start(&display, &folder, main, &["--renderer", "software"]);
    let output = game.wait_for_any_line(&["engine: tools", "error: no software adapter"]);
    if output.starts_with("error") {
        return skip("there is no adapter to draw with");
    }
    let map = display.tool(&["search", "--sync", "--onlyvisible", "--name", "^Map$"]);
    let other = X11Client::on(&display);
    let wait_for_pixel =
        |window: &str, at, expected| wait_for_pixel(&other, number(window), at, expected);
    game.focus(&display);
    wait_for_pixel(&map, (25, 175), [0, 255, 0]);
    wait_for_pixel(&map, (75, 175), [0, 0, 0]);
    wait_for_pixel(&game.window, (200, 150), [255, 0, 0]);
    // The content follows the window's size: its lower left corner moves.
    display.tool(&["windowsize", &map, "320", "300"]);
    wait_for_pixel(&map, (25, 275), [0, 255, 0]);
    wait_for_pixel(&map, (25, 175), [0, 0, 0]);
    display.tool(&["key", "c"]);
    game.wait_for_line("closed");
    // A window destroyed while it is drawn to does not end the game.
    display.tool(&["key", "o"]);
    let map = display.tool(&["search", "--sync", "--onlyvisible", "--name", "^Again$"]);
    wait_for_pixel(&map, (25, 175), [0, 255, 0]);
    display.tool(&["windowclose", &map]);
    game.wait_for_line("taken\tfalse");
    wait_for_pixel(&game.window, (200, 150), [255, 0, 0]);
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

/// Environment variable of the child process, in which this program runs itself on another display.
const CHILD_DISPLAY: &str = "ENGINE_TEST_WINDOW_AGAIN";

/// Returns a packet that fills a window with a color.
fn filled_packet(number: u64, [red, green, blue]: [u8; 3]) -> FramePacket {
    let color = [red, green, blue].map(|part| f32::from(part) / 255.0);
    let view = View {
        target: ViewTarget::Window(number),
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear: Some([color[0], color[1], color[2], 1.0]),
        camera: Camera::DEFAULT.frame(Vec2::ONE),
        scene: None,
        layers: u32::MAX,
        sky: None,
        environment: Default::default(),
        environment_textures: Default::default(),
        viewport: None,
        guis: Vec::new(),
    };
    let windows = vec![WindowFrame { number, scale: 1.0 }];
    FramePacket { scale: 1.0, windows, views: vec![view], ..FramePacket::default() }
}

#[test]
fn lost_device_is_recovered_in_every_window() {
    // Windows of other programs are found on the display of the environment, which no thread may
    // change. A child process therefore gets another environment.
    let Ok(name) = std::env::var(CHILD_DISPLAY) else {
        let Some(display) = Display::start() else { return };
        let test = test_path(module_path!(), "lost_device_is_recovered_in_every_window");
        let run = Command::new(std::env::current_exe().expect("it runs"))
            .args([&test, "--exact", "--nocapture"])
            .envs([(CHILD_DISPLAY, &display.name), ("DISPLAY", &display.name)])
            .output()
            .expect("it starts");
        let (out, err) =
            (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        return assert!(run.status.success() && out.contains("1 passed"), "{out}\n{err}");
    };
    let started = Renderer::start(RendererOptions {
        choice: AdapterChoice::Software,
        output: SurfaceTarget::Offscreen { width: 8, height: 8 },
        threaded: true,
        vsync: Vsync::Off,
        timing: false,
        quality: RenderQuality::DEFAULT,
        clock: || 0.0,
    });
    let Ok(mut renderer) = started else { return skip("there is no adapter to draw with") };
    let other = X11Client::at(&name);
    let window = other.show(64, 48);
    let foreign_window = ForeignWindow::open(window.into()).expect("it is there");
    renderer
        .open_window(7, foreign_window.handle(), foreign_window.size())
        .expect("it can be drawn to");
    renderer.submit(filled_packet(7, [255, 0, 0]));
    wait_for_pixel(&other, window, (30, 20), [255, 0, 0]);
    renderer.lose_device();
    renderer.submit(filled_packet(7, [0, 255, 0]));
    wait_for_pixel(&other, window, (30, 20), [0, 255, 0]);
    let events = renderer.events();
    assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
    // A window that is missing in the packet, or unknown, is not drawn to.
    renderer.submit(filled_packet(8, [0, 0, 255]));
    renderer.submit(FramePacket { windows: Vec::new(), ..filled_packet(7, [0, 0, 255]) });
    renderer.finish();
    assert_eq!(other.pixel(window, 30, 20), [0, 255, 0]);
    renderer.close_window(7);
    renderer.submit(filled_packet(7, [255, 0, 0]));
    renderer.finish();
    assert_eq!(renderer.events(), []);
}
