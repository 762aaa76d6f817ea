//! Being asked to end, by SIGINT and SIGTERM: within a second, with `shutdown` called.
#![cfg(unix)]

use crate::{Ended, Game, ended, in_order};
use std::process::Command;
use std::time::{Duration, Instant};

/// Plays until the game's first line is printed, sends the signal, and waits: what was told, and
/// how long the end took.
fn asked_to_end(game: &Game, signal: &str, arguments: &[&str]) -> (Ended, Duration) {
    let mut child = game.command(&[&["--headless"], arguments].concat()).spawn().unwrap();
    let started = Instant::now();
    let marker = game.saves.join("started/user_settings.sjson");
    while !marker.exists() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The line after the one that made the marker is the loop.
    std::thread::sleep(Duration::from_millis(30));
    let asked = Instant::now();
    let id = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap();
    assert!(sent.success(), "the process was gone already");
    while child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
        if asked.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
        }
    }
    let took = asked.elapsed();
    (ended(child.wait_with_output().unwrap()), took)
}

/// A game that says it has started by saving its settings, then does `body`.
fn game(name: &str, main: &str) -> Game {
    let started = "function started() Application.save_user_settings() end\n";
    Game::new(name, &format!("{started}{main}")).with("settings.sjson", "id = \"started\"")
}

#[track_caller]
fn ends(
    name: &str,
    signal: &str,
    arguments: &[&str],
    main: &str,
    code: i32,
    told: &[&str],
) -> Ended {
    let (ended, took) = asked_to_end(&game(name, main), signal, arguments);
    assert_eq!(ended.code, Some(code), "{name}: {}{}", ended.out, ended.err);
    in_order(&ended.err, told);
    // A second, and what a busy machine adds.
    assert!(took < Duration::from_millis(1500), "{name} took {took:?}");
    ended
}

const STOPPED: &str = "Error: stopped: the process was asked to end, and this did not return\n";

#[test]
fn a_game_that_plays_ends_well_with_its_shutdown() {
    let main = "function update() if not done then done = true started() end end
function shutdown() print(\"saved\") end";
    for (signal, pace) in [("INT", "--realtime"), ("TERM", "--realtime")] {
        let ended = ends(&format!("play_{signal}"), signal, &[pace], main, 0, &[]);
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("saved\n", ""));
    }
    let slow = format!("Application.set_time_step_policy(\"throttle\", 1)\n{main}");
    let ended = ends("play_slow", "INT", &["--realtime"], &slow, 0, &[]);
    assert_eq!(ended.out, "saved\n");
}

#[test]
fn an_endless_callback_is_stopped_told_and_shut_down_with_exit_code_1() {
    let rows = [
        ("update", "function update() started() while true do end end"),
        (
            "update",
            "function update() started() while true do pcall(function() while true do end end) end end",
        ),
        ("init", "function init() started() while true do end end"),
    ];
    for (i, (callback, body)) in rows.iter().enumerate() {
        let main = format!("{body}\nfunction shutdown() print(\"saved\") end");
        let told = [&*format!("When calling: {callback}\n{STOPPED}"), "    In main.lua:2\n"];
        let ended = ends(&format!("endless_{i}"), "TERM", &[], &main, 1, &told);
        assert_eq!(ended.out, "saved\n");
    }
}

#[test]
fn an_endless_shutdown_is_stopped_and_not_called_again() {
    let main = "function init() started() end
function shutdown() print(\"saving\") while true do end end";
    let told = [&*format!("When calling: shutdown\n{STOPPED}")];
    let ended = ends("shutdown", "INT", &[], main, 1, &told);
    assert_eq!(ended.out, "saving\n");
    assert_eq!(ended.err.matches("Error:").count(), 1, "{}", ended.err);
}

#[test]
fn a_process_that_cannot_be_stopped_leaves_a_report_and_exit_code_4() {
    // Reading a named pipe that nobody writes to never returns to the script.
    let game = Game::new("stuck", "print(\"reading\")\nApplication.user_setting(\"volume\")");
    let saves = game.saves.join("game");
    std::fs::create_dir_all(&saves).unwrap();
    let pipe = saves.join("user_settings.sjson");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = game.command(&["--headless"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    while child.try_wait().unwrap().is_none() && asked.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = asked.elapsed();
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    let words = "the process was asked to end, and a script did not let it for a second\n";
    in_order(&ended.err, &[&format!("error: {words}error: the report is in ")]);
    assert!(took < Duration::from_millis(2000), "{took:?}");
    let report = std::fs::read_dir(&saves).unwrap().map(|entry| entry.unwrap().path());
    let report = report.filter(|path| *path != pipe).collect::<Vec<_>>();
    let text = std::fs::read_to_string(&report[0]).unwrap();
    in_order(&text, &["Crash report\n", "Engine: ", words, "Last lines of the log:\n  reading"]);
}
