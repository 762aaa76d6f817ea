//! Tests of bad input from the user's view: games that fail, run endlessly or probe the sandbox,
//! and bad files around a game. The built engine plays each game in its own folder. Each test
//! checks the messages on the terminal and the exit code.

mod bounds;
mod broken_files;
mod environment;
mod error_contexts;
mod injection;
#[cfg(unix)]
mod input_files;
mod memory;
mod native_stack;
mod newcomer_errors;
mod output_files;
mod resource_limits;
mod runaway_scripts;
mod sandbox;
mod script_errors;
mod signals;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A game in its own folder, with an empty folder for its saves.
struct Game {
    folder: PathBuf,
    saves: PathBuf,
}

/// Result of a run: standard output, standard error, exit code.
struct RunResult {
    out: String,
    err: String,
    code: Option<i32>,
}

/// Creates an empty scratch folder. No two tests use the same name.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_input").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder for tests can be written");
    folder
}

impl Game {
    fn new(name: &str, main: &str) -> Game {
        let base = scratch(name);
        let game = Game { folder: base.join("game"), saves: base.join("saves") };
        game.with("main.lua", main)
    }

    /// Adds a file by its path relative to the game's folder.
    fn with(self, path: &str, text: impl AsRef<[u8]>) -> Game {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in the game's folder")).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        command.arg("run").arg(&self.folder).args(arguments);
        command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", &self.saves).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.folder.with_file_name("cache"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Plays two frames headless, unless the arguments change this.
    fn play(&self, arguments: &[&str]) -> RunResult {
        let arguments = [&["--headless", "--frames", "2"], arguments].concat();
        run_result(self.command(&arguments).output().expect("the engine starts"))
    }
}

fn run_result(output: std::process::Output) -> RunResult {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    RunResult { out: text(&output.stdout), err: text(&output.stderr), code: output.status.code() }
}

/// Checks that a game fails with exactly these lines on standard error, and exit code 1.
#[track_caller]
fn check_fails(name: &str, main: &str, expected: &str) {
    let result = Game::new(name, main).play(&[]);
    assert_eq!(result.err.trim_end(), expected.trim(), "\n{name} said:\n{}", result.err);
    assert_eq!(result.code, Some(1), "{name}");
}

/// Checks that a game with settings fails with exit code 1, and with these texts in this order on
/// standard error.
#[track_caller]
fn check_error(name: &str, settings: &str, main: &str, expected: &[&str]) -> String {
    let game = Game::new(name, main).with("settings.sjson", settings);
    let result = game.play(&[]);
    // Shown if the test fails: several games of a test can print the same.
    println!("{name}");
    check_in_order(&result.err, expected);
    assert_eq!(result.code, Some(1), "{name}: {}", result.err);
    result.err
}

#[track_caller]
fn check_in_order(text: &str, expected: &[&str]) {
    let mut rest = text;
    for part in expected {
        let at = rest.find(part);
        let at = at.unwrap_or_else(|| panic!("'{part}' is not (in this order) in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

/// Checks that a game prints exactly these lines and ends successfully.
#[track_caller]
fn check_prints(name: &str, main: &str, expected: &str) {
    let result = Game::new(name, main).play(&[]);
    assert_eq!(result.out.trim_end(), expected.trim(), "\n{name} said:\n{}", result.err);
    assert_eq!(result.code, Some(0), "{name}: {}", result.err);
}
