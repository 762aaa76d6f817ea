//! Tests of a game that the debugger stops, in a real window: it shows the last frame with a
//! banner, also after a change of size, answers tools, and can be closed.

use super::console_and_errors::{ask, connect};
use super::x11_client::X11Client;
use super::{Display, GameProcess, scratch};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;
use std::path::Path;
use std::time::{Duration, Instant};

const WAIT_MAX: Duration = Duration::from_secs(60);

/// Fills the window with green, and stops at line 10.
const GAME: &str = r#"
local gui
function init() Application.set_time_step_policy("no_smoothing", "system_step_range", 0, 100)
  gui = World.create_screen_gui(Application.main_world(), "immediate")
end
steps, longest = 0, 0
function update(dt)
  steps = steps + 1
  longest = math.max(longest, dt)
  secret = steps * 2
end
function render()
  local width, height = Window.resolution()
  Gui.rect(gui, Vector2(0, 0), Vector2(width, height), Color(0, 200, 0))
  Application.render_world(Application.main_world())
end
function shutdown() print("shutdown", longest < 5) end
"#;

fn request(client: &mut RemoteClient, kind: &str, fields: Vec<(&str, SjsonTree)>) -> SjsonTree {
    let answer = client.request(kind, fields, WAIT_MAX, |_| ());
    answer.unwrap_or_else(|error| panic!("{kind}: {}", json::write(&error)))
}

/// Waits until the game has drawn frames: one that stops in its first shows none.
fn wait_for_frames(client: &mut RemoteClient) {
    let began = Instant::now();
    loop {
        let line = vec![("text", json::text("return (steps or 0) >= 3 and 'drawn'"))];
        let answer = request(client, "eval", line);
        if json::write(&answer).contains("drawn") {
            return;
        }
        assert!(began.elapsed() < WAIT_MAX, "{answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the game is stopped at line 10.
fn wait_for_stop(client: &mut RemoteClient) {
    let began = Instant::now();
    loop {
        let status = ask(client, "status");
        if status.get("stopped") == Some(&json::text("main.lua:10")) {
            return;
        }
        assert!(began.elapsed() < WAIT_MAX, "{status:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Lets the tool stop the game at line 10. Returns the connection.
fn stop(game: &Path) -> RemoteClient {
    let mut client = connect(game);
    wait_for_frames(&mut client);
    request(&mut client, "debug_attach", vec![]);
    set_lines(&mut client, json::numbers([10.0]));
    wait_for_stop(&mut client);
    client
}

/// Waits until points of the window have these colors: of the banner, or of the game.
fn wait_for_colors(display: &Display, window: &str, points: &[(i16, i16)], wanted: &[bool]) {
    let window = window.parse().expect("xdotool prints a number");
    let client = X11Client::on(display);
    let began = Instant::now();
    loop {
        let found: Vec<[u8; 3]> =
            points.iter().map(|(x, y)| client.pixel(window, *x, *y)).collect();
        let is_banner = |[red, green, blue]: &[u8; 3]| blue > green && *red < 60;
        let is_game = |[red, green, blue]: &[u8; 3]| *green > 150 && *red < 60 && *blue < 60;
        let fits = |(color, banner): (&[u8; 3], &bool)| match banner {
            true => is_banner(color),
            false => is_game(color),
        };
        if found.iter().zip(wanted).all(fits) {
            return;
        }
        assert!(began.elapsed() < WAIT_MAX, "{found:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_stopped_game_shows_its_last_frame_with_a_banner() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("stopped");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "software"]);
    let mut client = stop(&folder.join("game"));
    game.take_focus(&display, "Yard");
    wait_for_colors(&display, &game.window, &[(395, 8), (200, 250)], &[true, false]);
    display.tool(&["windowsize", "--sync", &game.window, "600", "500"]);
    wait_for_colors(&display, &game.window, &[(595, 8), (300, 450)], &[true, false]);
    // Another tool evaluates in the stopped function, and sees what the line prints.
    let mut other = connect(&folder.join("game"));
    let line = vec![("text", json::text("print('asked') return steps + 1"))];
    let answer = request(&mut other, "eval", line);
    assert_eq!(answer.get("logged"), Some(&json::texts(["asked"])), "{answer:?}");
    request(&mut other, "help", vec![]);
    // The time of the stop is no time of the game. Its first frames may take long.
    request(&mut other, "eval", vec![("text", json::text("longest = 0"))]);
    std::thread::sleep(Duration::from_secs(6));
    let no_lines = SjsonTree::Array(vec![]);
    let fields = vec![("file", json::text("main.lua")), ("lines", no_lines)];
    request(&mut client, "debug_breakpoints", fields);
    request(&mut client, "debug_continue", vec![]);
    let began = Instant::now();
    while ask(&mut other, "status").get("stopped") != Some(&SjsonTree::Null) {
        assert!(began.elapsed() < WAIT_MAX, "it continues");
    }
    wait_for_colors(&display, &game.window, &[(595, 8), (300, 450)], &[false, false]);
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    assert!(game.output.iter().any(|line| line == "shutdown\ttrue"), "{:?}", game.output);
}

#[test]
fn a_stop_in_the_frame_of_its_attachment_shows_its_banner() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("stopped-at-once");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "software"]);
    let mut client = connect(&folder.join("game"));
    wait_for_frames(&mut client);
    // The game answers messages that arrive together in one frame, which stops.
    client.send("debug_attach", vec![]).expect("it is connected");
    let fields = vec![("file", json::text("main.lua")), ("lines", json::numbers([10.0]))];
    client.send("debug_breakpoints", fields).expect("it is connected");
    wait_for_stop(&mut client);
    game.take_focus(&display, "Yard");
    wait_for_colors(&display, &game.window, &[(395, 8), (200, 250)], &[true, false]);
    display.tool(&["windowclose", &game.window]);
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

/// Sets the lines of `main.lua` at which the game stops.
fn set_lines(client: &mut RemoteClient, lines: SjsonTree) {
    let fields = vec![("file", json::text("main.lua")), ("lines", lines)];
    request(client, "debug_breakpoints", fields);
}

#[test]
fn each_stop_shows_its_banner_however_the_last_one_ended() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("stopped-again");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "software"]);
    let mut client = stop(&folder.join("game"));
    game.take_focus(&display, "Yard");
    let points = [(395, 8), (200, 250)];
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    // A command lets the game continue to the next frame, after it has shown this one.
    let line = |text: &str| vec![("text", json::text(text))];
    request(&mut client, "eval", line("mark = steps"));
    request(&mut client, "eval", line("continue"));
    let began = Instant::now();
    loop {
        let answer = request(&mut client, "eval", line("return steps > mark"));
        if json::write(&answer).contains("true") {
            break;
        }
        assert!(began.elapsed() < WAIT_MAX, "{answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    // The frame is played again to its end, and the next one stops.
    set_lines(&mut client, SjsonTree::Array(vec![]));
    request(&mut client, "debug_restart_frame", vec![]);
    wait_for_colors(&display, &game.window, &points, &[false, false]);
    set_lines(&mut client, json::numbers([10.0]));
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    set_lines(&mut client, SjsonTree::Array(vec![]));
    request(&mut client, "debug_continue", vec![]);
    wait_for_colors(&display, &game.window, &points, &[false, false]);
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

/// As `GAME`, and waits for a worker if it is asked to.
fn waiting_game() -> String {
    let start = "  worker = Worker.start(\"answer\", {}, { seconds = 600 })\nend\nsteps,";
    let wait = "function update(dt)\n  if asks then\n    asks = nil\n    \
        Worker.send(worker, 1)\n    Worker.wait(worker)\n  end\n";
    GAME.replacen("end\nsteps,", start, 1).replacen("function update(dt)\n", wait, 1)
}

#[test]
fn a_game_that_waits_for_a_stopped_worker_shows_the_stop() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("stopped-answer");
    let answer = "return function()\n  local parent = Worker.parent()\n  while true do\n    \
        local message = Worker.wait(parent)\n    Worker.send(parent, message)\n  end\nend\n";
    std::fs::write(folder.join("game/answer.lua"), answer).expect("it can be written");
    let options = ["--renderer", "software"];
    let mut game = GameProcess::start(&display, &folder, &waiting_game(), &options);
    let mut client = connect(&folder.join("game"));
    wait_for_frames(&mut client);
    game.take_focus(&display, "Yard");
    request(&mut client, "debug_attach", vec![]);
    let lines = json::numbers([5.0]);
    let fields = vec![("file", json::text("answer.lua")), ("lines", lines)];
    request(&mut client, "debug_breakpoints", fields);
    request(&mut client, "eval", vec![("text", json::text("longest = 0 asks = true"))]);
    let points = [(395, 8), (200, 250)];
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    display.tool(&["windowsize", "--sync", &game.window, "600", "500"]);
    wait_for_colors(&display, &game.window, &[(595, 8), (300, 450)], &[true, false]);
    request(&mut client, "debug_continue", vec![]);
    wait_for_colors(&display, &game.window, &[(595, 8), (300, 450)], &[false, false]);
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    // The time of the stop is no time of the game.
    assert!(game.output.iter().any(|line| line == "shutdown\ttrue"), "{:?}", game.output);
}

#[test]
fn a_stopped_game_can_be_closed() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("stopped-closed");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "null"]);
    let client = stop(&folder.join("game"));
    game.take_focus(&display, "Yard");
    display.tool(&["windowclose", &game.window]);
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    drop(client);
}

#[test]
fn a_stop_in_shutdown_shows_its_banner_and_can_be_closed() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("stopped-shutdown");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "software"]);
    let mut client = stop(&folder.join("game"));
    game.take_focus(&display, "Yard");
    let line = 1 + GAME.lines().position(|line| line.contains("function shutdown")).expect("it is");
    request(&mut client, "eval", vec![("text", json::text("longest = 0"))]);
    let fields = vec![("names", json::texts(["shutdown"]))];
    request(&mut client, "debug_functions", fields);
    set_lines(&mut client, SjsonTree::Array(vec![]));
    request(&mut client, "debug_continue", vec![]);
    let points = [(395, 8), (200, 250)];
    wait_for_colors(&display, &game.window, &points, &[false, false]);
    request(&mut client, "quit", vec![]);
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    let status = ask(&mut client, "status");
    assert_eq!(status.get("stopped"), Some(&json::text(format!("main.lua:{line}"))), "{status:?}");
    display.tool(&["windowclose", &game.window]);
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    assert!(game.output.iter().any(|line| line == "shutdown\ttrue"), "{:?}", game.output);
}

#[test]
fn a_stopped_worker_shows_its_banner_and_can_be_closed() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("stopped-worker");
    std::fs::create_dir_all(folder.join("game/jobs")).expect("a folder");
    let job = "return function()\n  local n = 0\n  while true do\n    n = n + 1\n  end\nend\n";
    std::fs::write(folder.join("game/jobs/endless.lua"), job).expect("a script");
    let main = GAME.replace(
        "function init()",
        "function init() worker = Worker.start(\"jobs/endless\", {}, { seconds = 600 })",
    );
    let mut game = GameProcess::start(&display, &folder, &main, &["--renderer", "software"]);
    let mut client = connect(&folder.join("game"));
    game.take_focus(&display, "Yard");
    let points = [(395, 8), (200, 250)];
    wait_for_colors(&display, &game.window, &points, &[false, false]);
    request(&mut client, "debug_attach", vec![]);
    let set = |client: &mut RemoteClient, lines: SjsonTree| {
        let fields = vec![("file", json::text("jobs/endless.lua")), ("lines", lines)];
        request(client, "debug_breakpoints", fields);
    };
    set(&mut client, json::numbers([4.0]));
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    // So has a window of another size, in which no frame is drawn over it.
    display.tool(&["windowsize", "--sync", &game.window, "600", "500"]);
    wait_for_colors(&display, &game.window, &[(595, 8), (300, 450)], &[true, false]);
    request(&mut client, "pause", vec![]);
    display.tool(&["windowsize", "--sync", &game.window, "500", "400"]);
    let points = [(495, 8), (300, 350)];
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    std::thread::sleep(Duration::from_millis(500));
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    request(&mut client, "resume", vec![]);
    // Each stop has its banner, and a worker that plays on has none.
    set(&mut client, SjsonTree::Array(vec![]));
    request(&mut client, "debug_continue", vec![]);
    wait_for_colors(&display, &game.window, &points, &[false, false]);
    set(&mut client, json::numbers([4.0]));
    wait_for_colors(&display, &game.window, &points, &[true, false]);
    display.tool(&["windowclose", &game.window]);
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}
