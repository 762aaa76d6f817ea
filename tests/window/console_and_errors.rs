//! Tests of the console over a game, and of the screen of a game that an error stopped, in a real
//! window.

use super::{Display, GameProcess, scratch, write};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;
use engine::system::remote::endpoint_file::EndpointFile;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const WAIT_MAX: Duration = Duration::from_secs(60);

const GAME: &str = r#"
typed = 0
function on_activate(active) print("active", active) end
function update()
  if Keyboard.pressed("w") then print("w") end
  if Keyboard.released("w") then print("w released") end
  if Keyboard.pressed("grave") then print("grave") end
  if Keyboard.pressed("escape") then print("escape") end
  for _, key in ipairs(Keyboard.keystrokes()) do print("typed", key) end
  local wheel = Mouse.axis("wheel").y
  if wheel ~= 0 then print("wheel") end
end
"#;

#[test]
fn console_takes_the_keyboard_of_a_real_window() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("console");
    let mut game = GameProcess::start(&display, &folder, GAME, &["--renderer", "null"]);
    game.focus(&display);
    display.tool(&["keydown", "w"]);
    game.wait_for_line("w");
    display.tool(&["key", "grave"]);
    game.wait_for_line("w released");
    display.tool(&["mousemove", "--window", &game.window, "50", "20"]);
    display.tool(&["click", "4"]);
    display.tool(&["type", "print('from the console')"]);
    display.tool(&["key", "Return"]);
    game.wait_for_line("from the console");
    display.tool(&["key", "Escape"]);
    display.tool(&["keyup", "w"]);
    display.tool(&["mousemove", "--window", &game.window, "50", "280"]);
    display.tool(&["click", "4"]);
    game.wait_for_line("wheel");
    display.tool(&["key", "x"]);
    game.wait_for_line("typed\tx");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    let all = game.output.join("\n");
    let unwanted = ["grave", "escape", "typed\tp", "typed\t`"];
    assert!(!game.output.iter().any(|line| unwanted.contains(&&line[..])), "{all}");
    assert_eq!(game.output.iter().filter(|line| *line == "wheel").count(), 1, "{all}");
    // Held keys repeat on the desktop; those after the console was opened are not the game's.
    let released = game.output.iter().position(|line| line == "w released").unwrap();
    assert!(!game.output[released..].contains(&"typed\tw".to_string()), "{all}");
}

pub fn connect(game: &Path) -> RemoteClient {
    let began = Instant::now();
    loop {
        if let Ok(session) = EndpointFile::read(game) {
            return RemoteClient::connect(&session).expect("the game lets tools in");
        }
        assert!(began.elapsed() < WAIT_MAX, "no session");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn ask(client: &mut RemoteClient, kind: &str) -> SjsonTree {
    let answer = client.request(kind, vec![], WAIT_MAX, |_| ());
    answer.unwrap_or_else(|error| panic!("{kind}: {}", json::write(&error)))
}

/// Asks for the status until `is_so` accepts the problem and the pause.
#[track_caller]
fn wait_for_status(client: &mut RemoteClient, is_so: impl Fn(&str, bool) -> bool) {
    let began = Instant::now();
    loop {
        let status = ask(client, "status");
        let paused = status.get("paused") == Some(&SjsonTree::Bool(true));
        let problem = match status.get("problem") {
            Some(SjsonTree::String(problem)) => problem.clone(),
            _ => String::new(),
        };
        if is_so(&problem, paused) {
            return;
        }
        assert!(began.elapsed() < WAIT_MAX, "paused: {paused}, problem: {problem}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn newest_problem_comes_first_and_survives_a_pause() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("newest");
    let broken = "function update() print(nothing.here) end";
    let mut game = GameProcess::start(&display, &folder, broken, &["--renderer", "null"]);
    game.wait_for_line(
        "engine: save a file to try again; F5 restarts the game; Escape, or closing",
    );
    let mut client = connect(&folder.join("game"));
    let first = "attempt to index global 'nothing'";
    wait_for_status(&mut client, |problem, _| problem.contains(first));
    write(&folder, "function update() return return end");
    let also = "The game is also stopped by this error:";
    wait_for_status(&mut client, |problem, _| {
        let newest = problem.find("unexpected symbol near 'return'");
        let [also, older] = [also, first].map(|text| problem.find(text));
        newest.is_some() && newest < also && also < older
    });
    // A texture that cannot be loaded is newer still, and the script still waits for its fix.
    std::fs::write(folder.join("game/ship.png"), "nothing").expect("it can be written");
    wait_for_status(&mut client, |problem, _| problem.starts_with("ship.png: "));
    ask(&mut client, "pause");
    wait_for_status(&mut client, |problem, paused| problem.contains(first) && paused);
    ask(&mut client, "resume");
    wait_for_status(&mut client, |problem, paused| problem.contains(first) && !paused);
    ask(&mut client, "pause");
    write(&folder, "function update() if not said then said = true print('it runs') end end");
    game.wait_for_line("engine: a file was saved: the game is still paused");
    wait_for_status(&mut client, |problem, paused| problem.is_empty() && paused);
    ask(&mut client, "resume");
    game.wait_for_line("it runs");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
}

#[test]
fn keys_of_the_error_screen_scroll_it_and_do_not_reach_the_game() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("scrolled");
    let broken = "function on_activate(active) print('active', active) end
function update()
  if Keyboard.pressed('x') then error(('line\\n'):rep(60)) end
  if Keyboard.button('page down') > 0 then print('a key is down') end
end";
    let mut game = GameProcess::start(&display, &folder, broken, &["--renderer", "null"]);
    game.focus(&display);
    display.tool(&["key", "x"]);
    game.wait_for_line("engine: save a file to try again");
    display.tool(&["key", "Next", "Next", "Prior", "Home", "End", "Up", "Down"]);
    display.tool(&["click", "5"]);
    write(&folder, &format!("{broken}\nprint('loaded again')"));
    game.wait_for_line("engine: a file was saved: continuing");
    display.tool(&["key", "x"]);
    game.wait_for_line("engine: save a file to try again");
    display.tool(&["key", "Escape"]);
    assert_eq!(game.wait_for_exit(), Some(1), "{}", game.output.join("\n"));
    assert!(!game.output.iter().any(|line| line == "a key is down"));
}

#[test]
fn restart_key_works_while_a_game_runs_and_after_an_error() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("restarted");
    let main = "function on_activate(active) print('active', active) end
function init() frames = 0 print('started', Window.resolution()) end
function update()
  frames = frames + 1
  if frames == 2 then print('plays', Keyboard.button('f5')) end
  if Keyboard.pressed('f5') then print('the game has the key') end
  if Keyboard.pressed('x') then error('stop') end
end
function shutdown() print('shutdown') end";
    let mut game = GameProcess::start(&display, &folder, main, &["--renderer", "null"]);
    game.focus(&display);
    display.tool(&["key", "F5"]);
    game.wait_for_line("shutdown");
    game.wait_for_line("started\t400\t300");
    game.wait_for_line("plays\t0");
    display.tool(&["key", "x"]);
    game.wait_for_line("engine: save a file to try again; F5 restarts the game;");
    display.tool(&["key", "F5"]);
    game.wait_for_line("engine: the game was restarted");
    game.wait_for_line("plays\t0");
    // A tool can do the same.
    let mut client = connect(&folder.join("game"));
    display.tool(&["key", "x"]);
    wait_for_status(&mut client, |problem, _| problem.contains("stop"));
    ask(&mut client, "restart");
    wait_for_status(&mut client, |problem, _| problem.is_empty());
    game.wait_for_line("plays\t0");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    let count = |text: &str| game.output.iter().filter(|line| *line == text).count();
    assert_eq!((count("shutdown"), count("the game has the key")), (2, 0));
}

#[test]
fn a_released_game_reports_an_error_to_its_player() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("player");
    // An error after a request to restart stops the game, too.
    let main = "function init() Window.set_show_cursor(false) end
function update()
  if Application.frame_index() == 3 then Application.restart() error('stop') end
end";
    write(&folder, main);
    let settings = "window = { title = \"Yard\", width = 640, height = 360 }
error_window = { text = \"Send this to us:\", address = \"help@example.com\" }";
    std::fs::write(folder.join("game/settings.sjson"), settings).expect("it can be written");
    let compiled = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["compile", "game", "--bundle", "--out", "game.bundle"])
        .current_dir(&folder)
        .status();
    assert!(compiled.expect("the engine starts").success());
    let bundle = folder.join("game.bundle");
    let mut game = GameProcess::run(&display, &bundle, &folder, &["--renderer", "software"]);
    let line = game.wait_for_line("error: the report is in ");
    let report = line.trim_start_matches("error: the report is in ");
    let text = std::fs::read_to_string(report).expect("the report was written");
    assert!(text.starts_with("Crash report\n\nSend to: help@example.com\nGame: "), "{text}");
    game.take_focus(&display, "Yard");
    std::thread::sleep(Duration::from_millis(500));
    assert!(game.process.try_wait().expect("it is ours").is_none(), "the window stays open");
    // F5 is for developers.
    display.tool(&["key", "F5"]);
    display.tool(&["key", "Escape"]);
    assert_eq!(game.wait_for_exit(), Some(1), "{}", game.output.join("\n"));
    assert!(!game.output.iter().any(|line| line.contains("restart")), "{:?}", game.output);
    let reports = game.output.iter().filter(|line| line.contains("the report is in")).count();
    assert_eq!(reports, 1, "{:?}", game.output);
}

#[test]
fn an_error_after_a_requested_restart_stops_the_game() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("restart_and_error");
    let broken = "function init() print('started') end
function update() Application.restart() error('stop') end";
    let mut game = GameProcess::start(&display, &folder, broken, &["--renderer", "null"]);
    game.wait_for_line("engine: save a file to try again; F5 restarts the game;");
    let mut client = connect(&folder.join("game"));
    wait_for_status(&mut client, |problem, _| problem.contains("stop"));
    std::thread::sleep(Duration::from_millis(300));
    write(&folder, "function update() print('it plays') end");
    game.wait_for_line("it plays");
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    assert_eq!(game.output.iter().filter(|line| *line == "started").count(), 1);
}

#[test]
fn a_run_with_an_end_does_not_wait_at_an_error() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("ended");
    let broken = "function update() error('stop') end";
    for arguments in [&["--frames", "30"][..], &["--screenshot", "there.png@9"]] {
        let arguments = [&["--renderer", "null"], arguments].concat();
        let mut game = GameProcess::start(&display, &folder, broken, &arguments);
        assert_eq!(game.wait_for_exit(), Some(1), "{}", game.output.join("\n"));
    }
}
