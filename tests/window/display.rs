//! A virtual display (Xvfb), and a game played on it with synthesized keys and mouse input
//! (xdotool). It does not know the games.

use crate::game_folder::{GameFolder, output_lines};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Maximum wait for the game, on a busy machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Reports a skipped test directly on the terminal, because the test harness captures normal
/// output.
pub fn skip(missing: &str) {
    let message = format!("SKIPPED: {missing} (to install it: apt-get install xvfb xdotool)");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{message}");
    writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
}

/// A virtual display with its own server.
pub struct Display {
    pub server: Child,
    /// Value of the environment variable `DISPLAY`.
    pub name: String,
}

impl Display {
    /// Starts a display. Returns `None` if Xvfb or xdotool is not installed.
    pub fn start() -> Option<Display> {
        let found = |tool: &str| {
            let paths = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&paths).any(|folder| folder.join(tool).is_file())
        };
        for tool in ["Xvfb", "xdotool"] {
            if !found(tool) {
                skip(&format!("there is no {tool}, so no window was opened"));
                return None;
            }
        }
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        let mut line = String::new();
        let stdout = server.stdout.as_mut().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it tells its number");
        Some(Display { server, name: format!(":{}", line.trim()) })
    }

    /// Runs xdotool and returns its output. xdotool would wait forever for a window that never
    /// appears.
    pub fn tool(&self, arguments: &[&str]) -> String {
        let timeout = WAIT_MAX.as_secs().to_string();
        let run = Command::new("timeout")
            .args([&timeout, "xdotool"])
            .args(arguments)
            .env("DISPLAY", &self.name)
            .output();
        let run = run.expect("it is installed");
        let error = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success(), "xdotool {arguments:?}: {error}");
        String::from_utf8_lossy(&run.stdout).trim().to_string()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // No data of the server is needed any more.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A game played in a window.
pub struct GameProcess {
    pub process: Child,
    lines: Receiver<String>,
    pub window: String,
    pub output: Vec<String>,
    /// The folder of the game, if it is removed when the game has ended.
    pub folder: Option<GameFolder>,
}

impl GameProcess {
    /// Runs the game of a folder. All other files are written to `scratch`.
    pub fn run(display: &Display, game: &Path, scratch: &Path, arguments: &[&str]) -> GameProcess {
        GameProcess::run_with(display, game, scratch, arguments, &[])
    }

    /// Runs the game with further environment variables.
    pub fn run_with(
        display: &Display,
        game: &Path,
        scratch: &Path,
        arguments: &[&str],
        set: &[(&str, &str)],
    ) -> GameProcess {
        let mut process = Command::new(env!("CARGO_BIN_EXE_engine"))
            .arg("run")
            .arg(game)
            .args(arguments)
            .env("DISPLAY", &display.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_RUNTIME_DIR", scratch)
            .env("ENGINE_QUIET", "1")
            .env("ENGINE_SAVE_DIR", scratch.join("saves"))
            .env("XDG_CACHE_HOME", scratch.join("cache"))
            .envs(set.iter().copied())
            .current_dir(scratch)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let lines = output_lines(&mut process);
        GameProcess { process, lines, window: String::new(), output: Vec::new(), folder: None }
    }

    /// Waits until a line begins with this text.
    #[track_caller]
    pub fn wait_for_line(&mut self, expected: &str) -> String {
        self.wait_for_any_line(&[expected])
    }

    /// Waits until a line begins with one of these texts.
    #[track_caller]
    pub fn wait_for_any_line(&mut self, expected: &[&str]) -> String {
        self.wait_for_line_within(expected, WAIT_MAX).unwrap_or_else(|| {
            panic!("no line began with {expected:?}:\n{}", self.output.join("\n"))
        })
    }

    /// Waits until a line begins with one of these texts, at most for `timeout`.
    pub fn wait_for_line_within(&mut self, expected: &[&str], timeout: Duration) -> Option<String> {
        let began = Instant::now();
        loop {
            let left = timeout.saturating_sub(began.elapsed());
            let line = self.lines.recv_timeout(left).ok()?;
            self.output.push(line.clone());
            if expected.iter().any(|beginning| line.starts_with(beginning)) {
                return Some(line);
            }
        }
    }

    /// Finds the window by its title and gives it the focus, because no window manager runs here.
    /// A window that is not shown yet cannot have it.
    pub fn take_focus(&mut self, display: &Display, title: &str) {
        let name = format!("^{title}$");
        self.window = display.tool(&["search", "--sync", "--onlyvisible", "--name", &name]);
        display.tool(&["windowfocus", "--sync", &self.window]);
    }

    /// Waits for the end of the process and returns its exit code.
    #[track_caller]
    pub fn wait_for_exit(&mut self) -> Option<i32> {
        let began = Instant::now();
        while began.elapsed() < WAIT_MAX {
            if let Some(status) = self.process.try_wait().expect("it is ours") {
                self.output.extend(self.lines.iter());
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the game did not end:\n{}", self.output.join("\n"));
    }

    /// Asks the process to end, as Ctrl+C does.
    pub fn interrupt(&self) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("every system has it").success());
    }
}

impl Drop for GameProcess {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
