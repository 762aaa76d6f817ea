//! Tests of `engine console` from a user's view.

use super::{COUNTING, GameProcess, engine};
use std::io::{Read, Write};
use std::process::Stdio;

/// Runs `engine console` with some input. Returns its exit code, standard output and standard
/// error.
fn run(create_game: &GameProcess, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut process = engine(&create_game.folder, &[&["console", "game"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let mut pipe = process.stdin.take().expect("it is piped");
    pipe.write_all(input.as_bytes()).expect("it is read");
    drop(pipe);
    let output = process.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is text");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn eval_option_prints_the_values() {
    let create_game = GameProcess::start("console", "function boom() error('no') end\n");
    let (code, out, err) = run(&create_game, &["--eval", "1 + 1, 'x'"], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "2\n\"x\"\n", ""));
    let (code, out, err) = run(&create_game, &["2 + 2"], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "4\n", ""));
    let (code, _, err) = run(&create_game, &["2 + 2", "--eval", "3"], "");
    assert!(code == 2 && err.contains("cannot be used with"), "{err}");
    let (code, out, err) = run(&create_game, &["--eval", "boom()"], "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error: no\n") && err.contains("In main.lua:1"), "{err}");
    let (code, _, err) =
        run(&create_game, &["--eval", "while true do end", "--seconds", "0.1"], "");
    assert_eq!(code, 1);
    assert!(err.contains("0.1 seconds of CPU time"), "{err}");
}

#[test]
fn line_output_is_printed_and_failed_command_is_an_error() {
    let create_game =
        GameProcess::start("commands-of", "function say(n) print('said', n) return n end\n");
    let (code, out, err) = run(&create_game, &["--eval", "say(7)"], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "said\t7\n7\n", ""));
    let (code, out, _) = run(&create_game, &["--eval", "help graph"], "");
    assert_eq!(code, 0);
    assert!(out.starts_with("graph make|add|"), "{out}");
    let (code, out, err) = run(&create_game, &["--eval", "graph make"], "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error: graph: a graph's name is missing"), "{err}");
    let (code, out, err) = run(&create_game, &["--eval", "say(8) error('no')"], "");
    assert_eq!((code, out.as_str()), (1, "said\t8\n"));
    assert!(err.starts_with("error: "), "{err}");
    // The report names the entered line, even if the line is an expression.
    let (_, _, err) = run(&create_game, &["--eval", "lost.thing -- a comment"], "");
    assert!(err.contains("attempt to index global 'lost'"), "{err}");
    let (_, _, err) = run(&create_game, &["--eval", "lost.thing"], "");
    assert!(err.contains("In eval:1\n        1 | lost.thing"), "{err}");
}

#[test]
fn piped_lines_run_in_order() {
    let create_game = GameProcess::start("pipe", COUNTING);
    let (code, out, err) = run(&create_game, &[], "x = 20\nx + 1\n\nnothing.at\nx + 2\n");
    assert_eq!((code, out.as_str()), (1, "21\n22\n"), "{err}");
    assert!(err.contains("attempt to index global 'nothing'"), "{err}");
    assert!(err.ends_with("error: one line failed\n"), "{err}");
    assert_eq!(run(&create_game, &[], "x\n").0, 0);
}

#[test]
fn lines_can_read_and_set_file_locals() {
    let main = "local score, steps = 3, { 1 }\n\
                local function add() score = score + #steps - 1 end\n\
                function update() add() end\nother = 1\n";
    let create_game = GameProcess::start("locals", main);
    let lines = "score\nscore = 40\nscore + 2\nnew = 5\nnew\n_G.score\nother\ncore\n";
    let (code, out, err) = run(&create_game, &[], lines);
    assert_eq!((code, out.as_str()), (0, "3\n42\n5\nnil\n1\nnil\n"), "{err}");
}

#[test]
fn first_frame_has_a_regular_time_step() {
    let create_game = GameProcess::start("first", "function update(dt) first = first or dt end\n");
    // A tool that is faster than the game is answered before the first update.
    let answers = (0..100).map(|_| run(&create_game, &["--eval", "first"], "").1);
    let first = answers.into_iter().find(|answer| answer != "nil\n");
    assert_eq!(first.as_deref(), Some("0.016666666666667\n"));
}

#[test]
fn console_without_a_game_explains_how_to_start_one() {
    let mut create_game = GameProcess::start("nobody", COUNTING);
    super::ask(&mut create_game.connect(), "quit", vec![]);
    create_game.wait();
    let (code, _, err) = run(&create_game, &["--eval", "1"], "");
    assert_eq!(code, 1);
    assert_eq!(
        err,
        "error: no game that runs in game lets tools in: start it with `engine run --tools game`\n"
    );
    // A killed game leaves its session file behind.
    create_game.session.write(&create_game.folder.join("game")).expect("it is written");
    let (code, _, err) = run(&create_game, &["--eval", "1"], "");
    assert_eq!(code, 1);
    assert!(err.contains("does not answer"), "{err}");
}

/// Returns true if a program is installed.
#[cfg(target_os = "linux")]
fn has(tool: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(tool).is_file())
}

#[cfg(target_os = "linux")]
#[test]
fn terminal_console_completes_and_prints_the_log_above() {
    // The program `script` provides a terminal.
    if !has("script") {
        return super::browser::skip("there is no script, so no terminal was tried", "bsdutils");
    }
    let main = "hero = { lives = 3, level = 1 }\nfunction say() print('from the game') end\n";
    let create_game = GameProcess::start("terminal", main);
    let command = format!("{} console game", env!("CARGO_BIN_EXE_engine"));
    let mut process = std::process::Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .current_dir(&create_game.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it is installed");
    let mut keys = process.stdin.take().expect("it is piped");
    let mut shown = process.stdout.take().expect("it is piped");
    let (send, pieces) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        let mut piece = [0; 1024];
        while let Ok(count @ 1..) = shown.read(&mut piece) {
            let text = String::from_utf8_lossy(&piece[..count]).into_owned();
            if send.send(text).is_err() {
                return;
            }
        }
    });
    let mut received = String::new();
    let mut wait_for = |expected: &str| {
        let end = std::time::Instant::now() + super::WAIT_MAX;
        while !received.contains(expected) {
            let left = end.saturating_duration_since(std::time::Instant::now());
            match pieces.recv_timeout(left) {
                Ok(piece) => received += &piece,
                Err(_) => panic!("no {expected:?} in {received:?}"),
            }
        }
        received = received.split_off(received.find(expected).unwrap_or_default() + expected.len());
    };
    let mut press = |bytes: &str| keys.write_all(bytes.as_bytes()).expect("it reads");
    wait_for("Tab completes");
    press("hero.li\t + 38");
    wait_for("> hero.lives + 38");
    // The end is corrected, with the cursor moved back.
    press("\x17\x7f\x7f* 4\x1b[D1\r");
    wait_for("> hero.lives * 14\r\n");
    wait_for("42\r\n");
    press("hero.l\t");
    press("\t");
    wait_for("level  lives\r\n");
    press("\x03say()\r");
    wait_for("from the game\r\n");
    press("\x1b[A\x1b[A\r");
    wait_for("42\r\n");
    press("while true do end\x01\x0b\x04");
    assert!(process.wait().expect("it ends").success());
    reading.join().expect("it ends with the terminal");
    let lines =
        std::fs::read_to_string(create_game.folder.join("game/.engine/console_history.txt"));
    assert_eq!(lines.expect("it is kept"), "hero.lives * 14\nsay()\nhero.lives * 14\n");
}
