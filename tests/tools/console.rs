//! `engine console`, as somebody meets it who types.

use super::{COUNTING, Playing, engine};
use std::io::Write;
use std::process::Stdio;

/// Exit code, standard output, standard error.
fn run(game: &Playing, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut process = engine(&game.folder, &[&["console", "game"], arguments].concat())
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
fn one_text_is_run_and_its_values_are_printed() {
    let game = Playing::start("console", "function boom() error('no') end\n");
    let (code, out, err) = run(&game, &["--eval", "1 + 1, 'x'"], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "2\n\"x\"\n", ""));
    let (code, out, err) = run(&game, &["--eval", "boom()"], "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error: no\n") && err.contains("In main.lua:1"), "{err}");
    let (code, _, err) = run(&game, &["--eval", "while true do end", "--seconds", "0.1"], "");
    assert_eq!(code, 1);
    assert!(err.contains("0.1 seconds of CPU time"), "{err}");
}

#[test]
fn lines_from_a_pipe_are_run_one_after_the_other() {
    let game = Playing::start("pipe", COUNTING);
    let (code, out, err) = run(&game, &[], "x = 20\nx + 1\n\nnothing.at\nx + 2\n");
    assert_eq!((code, out.as_str()), (1, "21\n22\n"), "{err}");
    assert!(err.contains("attempt to index global 'nothing'"), "{err}");
    assert!(err.ends_with("error: one line failed\n"), "{err}");
    assert_eq!(run(&game, &[], "x\n").0, 0);
}

#[test]
fn where_no_game_runs_it_says_how_to_start_one() {
    let mut game = Playing::start("nobody", COUNTING);
    super::ask(&mut game.connect(), "quit", vec![]);
    game.wait();
    let (code, _, err) = run(&game, &["--eval", "1"], "");
    assert_eq!(code, 1);
    assert_eq!(
        err,
        "error: no game that runs in game lets tools in: start it with `engine run --tools game`\n"
    );
    // One that ended without a word leaves its file.
    game.session.write(&game.folder.join("game")).expect("it is written");
    let (code, _, err) = run(&game, &["--eval", "1"], "");
    assert_eq!(code, 1);
    assert!(err.contains("does not answer"), "{err}");
}
