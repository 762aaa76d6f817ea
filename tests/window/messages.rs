//! Tests of messages to players: a packaged game that cannot start shows the reason in a window,
//! because nobody reads its standard error.

use super::display::{Display, skip};
use super::scratch;
use crate::game_folder::write_program;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The text in the settings of the game, which is stored as it is.
const MARK: &str = "A game about damage";

/// Makes a package of a game with this script, unpacks it, and returns the program.
fn packaged(folder: &Path, main: &str) -> PathBuf {
    fs::write(folder.join("game/main.lua"), main).expect("it can be written");
    let settings = format!(
        "package = {{ title = \"Yard\", email = \"help@example.com\", description = \"{MARK}\" }}"
    );
    fs::write(folder.join("game/settings.sjson"), settings).expect("it can be written");
    let run = |command: &mut Command| {
        let output = command.current_dir(folder).output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let engine = env!("CARGO_BIN_EXE_engine");
    run(Command::new(engine).args(["package", "game", "--out", "out", "--skip-check"]));
    let archive = format!("out/yard-0.1.0-linux-{}.tar.gz", std::env::consts::ARCH);
    run(Command::new("tar").args(["-xzf", &archive]));
    folder.join("yard-0.1.0/yard")
}

/// A started program, which is killed at the end of its test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program as a desktop does: its errors go to a file, and `programs` is the only folder
/// of programs.
fn start(display: &Display, program: &Path, folder: &Path) -> Started {
    let log = File::create(folder.join("session.log")).expect("it can be made");
    let process = Command::new(program)
        .env_clear()
        .env("DISPLAY", &display.name)
        .env("PATH", folder.join("programs"))
        .env("HOME", folder)
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .env("XDG_RUNTIME_DIR", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    Started(process.expect("the game starts"))
}

impl Started {
    #[track_caller]
    fn wait_for_exit(&mut self, folder: &Path) -> Option<i32> {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.0.try_wait().expect("it is ours") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it did not end: {}", fs::read_to_string(folder.join("session.log")).unwrap());
    }
}

/// Makes a program that stands for the desktop's own, and writes its arguments to a file.
fn fake_zenity(folder: &Path) -> PathBuf {
    let shown = folder.join("shown.txt");
    fs::create_dir_all(folder.join("programs")).expect("it can be made");
    let program = folder.join("programs/zenity");
    let text = format!("#!/bin/sh\nprintf '%s|' \"$@\" >> '{}'\n", shown.display());
    write_program(&program, text);
    shown
}

#[track_caller]
fn wait_for_text(file: &Path, end: &str) -> String {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.ends_with(end) {
            return text;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was shown: {text}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_damaged_game_shows_the_reason_in_a_window() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("cut");
    let program = packaged(&folder, "function update() end");
    let whole = fs::read(&program).expect("it can be read");
    let shown = fake_zenity(&folder);
    let mut changed = whole.clone();
    let mark = MARK.as_bytes();
    let at = changed.windows(mark.len()).rposition(|window| window == mark);
    changed[at.expect("settings are stored as they are")] ^= 1;
    for (bytes, problem) in [
        (&changed[..], "it is damaged: its checksum does not match its content"),
        (&whole[..whole.len() - 10], "it is cut short: its end is missing. Copy it again"),
    ] {
        write_program(&program, bytes);
        let mut game = start(&display, &program, &folder);
        assert_eq!(game.wait_for_exit(&folder), Some(1));
        let start = "--error|--no-markup|--title=yard|--text=this game cannot be played: ";
        let wanted = format!("{start}{problem}|");
        assert_eq!(wait_for_text(&shown, "|"), wanted);
        fs::remove_file(&shown).expect("it can be removed");
    }
    // A window of the smallest desktop, drawn on the display.
    let xmessage = Path::new("/usr/bin/xmessage");
    if !xmessage.exists() {
        return skip("there is no xmessage, so its window was not looked for");
    }
    fs::remove_file(folder.join("programs/zenity")).expect("it can be removed");
    symlink(xmessage, folder.join("programs/xmessage")).expect("it can be linked");
    let mut game = start(&display, &program, &folder);
    assert_eq!(game.wait_for_exit(&folder), Some(1));
    let window = display.tool(&["search", "--sync", "--onlyvisible", "--name", "^xmessage$"]);
    assert!(!window.is_empty(), "it has a window");
}

#[test]
fn a_confined_game_shows_an_error_at_its_end_once() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("late");
    let main = "function update() Application.quit() end function shutdown() error('late') end";
    let program = packaged(&folder, main);
    let shown = fake_zenity(&folder);
    let mut game = start(&display, &program, &folder);
    assert_eq!(game.wait_for_exit(&folder), Some(1));
    let text = wait_for_text(&shown, "help@example.com|");
    assert!(text.starts_with("--error|--no-markup|--title=yard|--text="), "{text}");
    assert!(text.contains("main.lua:1: late\n\nthe report is in "), "{text}");
    assert_eq!(text.matches("--error").count(), 1, "{text}");
}
