//! Tests of requests to end by SIGINT, SIGTERM and SIGHUP: the process ends within a second, after
//! `shutdown` was called.
//!
//! The time limit is a guarantee of the engine, so these tests measure time, as few others do. On a
//! machine that is busy with other tests, a process can wait many seconds for its turn, so an end
//! that took too long is tried again ([`check_end_time`]).
#![cfg(unix)]

use crate::bad_input::{Game, RunResult, check_in_order, run_result};
use crate::game_folder::check_end_time;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time after which a process that did not start or end counts as failed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Message of a process that a script keeps from ending.
const HUNG_MESSAGE: &str = "the process was asked to end, and a script did not let it end within a \
                     second\n";

/// Waits until a condition holds. Returns false after [`TIMEOUT`].
fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < TIMEOUT {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Sends a signal and waits for the end. Returns the output and the time that the end took.
fn send_signal_and_wait(mut child: Child, signal: &str) -> (RunResult, Duration) {
    let asked = Instant::now();
    let id = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap();
    assert!(sent.success(), "the process was gone already");
    if !wait_until(|| child.try_wait().unwrap().is_some()) {
        child.kill().unwrap();
    }
    let took = asked.elapsed();
    (run_result(child.wait_with_output().unwrap()), took)
}

/// Plays a game of [`game`] until it has marked its start, sends the signal, and waits. Returns the
/// output and the time that the end took.
fn end_with_signal(game: &Game, signal: &str, arguments: &[&str]) -> (RunResult, Duration) {
    let child = game.command(&[&["--headless"], arguments].concat()).spawn().unwrap();
    let marker = game.saves.join("started/user_settings.sjson");
    assert!(wait_until(|| marker.exists()), "the game did not start");
    // The line after the one that created the marker is the loop.
    std::thread::sleep(Duration::from_millis(30));
    send_signal_and_wait(child, signal)
}

/// Returns a game that marks its start by saving its settings, then runs `body`.
fn game(name: &str, main: &str) -> Game {
    let started = "function started() Application.save_user_settings() end\n";
    Game::new(name, &format!("{started}{main}")).with("settings.sjson", "id = \"started\"")
}

#[track_caller]
fn check_ends(
    name: &str,
    signal: &str,
    arguments: &[&str],
    main: &str,
    code: i32,
    expected: &[&str],
) -> RunResult {
    let mut last = None;
    check_end_time(name, || {
        let (result, took) = end_with_signal(&game(name, main), signal, arguments);
        assert_eq!(result.code, Some(code), "{name}: {}{}", result.out, result.err);
        check_in_order(&result.err, expected);
        last = Some(result);
        took
    });
    last.expect("there was an attempt")
}

const STOPPED: &str = "Error: stopped: the process was asked to end, and this did not return\n";

#[test]
fn signal_ends_game_after_shutdown_callback() {
    let main = "function update() if not done then done = true started() end end
function shutdown() print(\"saved\") end";
    for signal in ["INT", "TERM", "HUP"] {
        let result = check_ends(&format!("play_{signal}"), signal, &["--realtime"], main, 0, &[]);
        assert_eq!((result.out.as_str(), result.err.as_str()), ("saved\n", ""));
    }
    let slow = format!("Application.set_time_step_policy(\"throttle\", 1)\n{main}");
    let result = check_ends("play_slow", "INT", &["--realtime"], &slow, 0, &[]);
    assert_eq!(result.out, "saved\n");
}

#[test]
fn game_under_nohup_ignores_hangup() {
    let main = "function update() if not done then done = true started() end end
function shutdown() print(\"saved\") end";
    let game = game("play_nohup", main);
    let run = game.command(&["--headless", "--realtime"]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(run.get_program());
    command
        .args(run.get_args())
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", &game.saves)
        .stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let marker = game.saves.join("started/user_settings.sjson");
    assert!(wait_until(|| marker.exists()), "the game did not start");
    let hung_up = Command::new("kill").args(["-HUP", &child.id().to_string()]).status();
    assert!(hung_up.unwrap().success());
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    let (result, _) = send_signal_and_wait(child, "TERM");
    assert_eq!((result.code, result.out.as_str()), (Some(0), "saved\n"), "{}", result.err);
}

#[test]
fn signal_stops_endless_callback_with_exit_code_1() {
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
        let expected = [&*format!("When calling: {callback}\n{STOPPED}"), "    In main.lua:2\n"];
        let result = check_ends(&format!("endless_{i}"), "TERM", &[], &main, 1, &expected);
        assert_eq!(result.out, "saved\n");
    }
}

#[test]
fn endless_shutdown_is_stopped_and_not_repeated() {
    let main = "function init() started() end
function shutdown() print(\"saving\") while true do end end";
    let expected = [&*format!("When calling: shutdown\n{STOPPED}")];
    let result = check_ends("shutdown", "INT", &[], main, 1, &expected);
    assert_eq!(result.out, "saving\n");
    assert_eq!(result.err.matches("Error:").count(), 1, "{}", result.err);
}

#[test]
fn hung_process_writes_report_and_exits_with_code_4() {
    check_end_time("stuck", end_hung_process);
}

fn end_hung_process() -> Duration {
    // Writing into a full pipe without a reader never returns to the script.
    let main = "print(\"writing\")\nprint((\"x\"):rep(2 ^ 20))";
    let game = Game::new("stuck", main);
    let mut child = game.command(&["--headless"]).spawn().unwrap();
    let mut unread = child.stdout.take().expect("it is a pipe");
    read_line(&mut unread, "writing\n");
    // A blocked process shows no progress. If it is not blocked yet, it will be.
    std::thread::sleep(Duration::from_millis(300));
    let (result, took) = send_signal_and_wait(child, "TERM");
    assert_eq!(result.code, Some(4), "{}", result.err);
    check_in_order(&result.err, &[&format!("error: {HUNG_MESSAGE}error: the report is in ")]);
    check_in_order(
        &report(&game),
        &["Crash report\n", "Engine: ", HUNG_MESSAGE, "Last lines of the log:\n  writing"],
    );
    drop(unread);
    took
}

#[test]
#[cfg(target_os = "linux")]
fn hung_process_with_full_stderr_writes_report() {
    check_end_time("stuck_error", end_hung_process_with_full_stderr);
}

#[cfg(target_os = "linux")]
fn end_hung_process_with_full_stderr() -> Duration {
    let game = Game::new("stuck_error", "print(\"running\")\nerror(\"told to nobody\")");
    let (unread, mut errors) = std::io::pipe().unwrap();
    // Fills the pipe, so that the first line of an error blocks forever.
    std::io::Write::write_all(&mut errors, &[b' '; 65_536]).unwrap();
    let mut child = game.command(&["--headless"]).stderr(errors).spawn().unwrap();
    read_line(child.stdout.as_mut().expect("it is a pipe"), "running\n");
    std::thread::sleep(Duration::from_millis(300));
    let (result, took) = send_signal_and_wait(child, "TERM");
    assert_eq!(result.code, Some(4));
    let message = "and the engine did not let it end within a second\n";
    check_in_order(
        &report(&game),
        &["Crash report\n", message, "Last lines of the log:\n", "error: "],
    );
    drop(unread);
    took
}

/// Reads the first line of a process, which begins its script with it.
fn read_line(stdout: &mut impl std::io::Read, line: &str) {
    let mut found = vec![0; line.len()];
    stdout.read_exact(&mut found).expect("the script runs");
    assert_eq!(String::from_utf8_lossy(&found), line);
}

/// Returns the text of a game's single crash report.
fn report(game: &Game) -> String {
    let saves = game.saves.join("game");
    let files = std::fs::read_dir(saves).unwrap().map(|entry| entry.unwrap().path());
    let mut reports = files.filter(|path| {
        path.extension().is_some_and(|send_signal_and_wait| send_signal_and_wait == "txt")
    });
    std::fs::read_to_string(reports.next().expect("there is a report")).unwrap()
}

#[test]
fn signal_ends_game_during_startup() {
    check_end_time("opening", end_game_during_startup);
}

fn end_game_during_startup() -> Duration {
    let game = Game::new("opening", "function init() end");
    // Enough files that opening the game takes a while.
    for i in 0..20_000 {
        std::fs::write(game.folder.join(format!("{i}.txt")), "a text").unwrap();
    }
    let child = game.command(&["--headless"]).spawn().unwrap();
    assert!(wait_until(|| game.folder.join(".engine/data").exists()), "nothing is compiled");
    // No signal is handled yet, and a shell starts background processes with INT ignored.
    let (result, took) = send_signal_and_wait(child, "TERM");
    assert_eq!((result.code, result.out.as_str(), result.err.as_str()), (None, "", ""));
    took
}
