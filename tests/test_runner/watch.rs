//! Tests of watch mode (`--watch`): the tests that a saved file affects run again, until the
//! process is asked to end.

use super::Scratch;
use crate::game_folder::save;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Maximum wait, long enough for any machine. Successful runs never wait this long.
const WAIT_MAX: Duration = Duration::from_secs(60);

struct WatchProcess {
    child: Child,
    lines: Receiver<String>,
}

impl WatchProcess {
    fn start(scratch: &Scratch) -> WatchProcess {
        let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
            .args(["test", ".", "--watch", "-j", "1"])
            .current_dir(&scratch.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (outbox, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = outbox.send(line);
            }
        });
        WatchProcess { child, lines }
    }

    /// Returns the lines up to one that contains this text.
    fn wait_for_line(&self, expected: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.contains(expected)) {
            let line = self.lines.recv_timeout(WAIT_MAX);
            lines.push(line.unwrap_or_else(|_| panic!("no '{expected}' after {lines:?}")));
        }
        lines
    }
}

impl Drop for WatchProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn saved_file_reruns_affected_tests() {
    let scratch = Scratch::new(
        "watch",
        &[
            ("deep.lua", "return 1"),
            ("enemy.lua", "return require('deep')"),
            ("lonely.lua", "return 3"),
            ("a_test.lua", "it('a', function() assert.equals(1, require('enemy')) end)"),
            ("b_test.lua", "it('b', function() end)"),
        ],
    );
    let mut watching = WatchProcess::start(&scratch);
    let lines = watching.wait_for_line(" passed, 0 failed");
    assert!(lines.last().unwrap().starts_with("2 passed"), "{lines:?}");
    save(&scratch.0.join("deep.lua"), "return 2");
    let lines = watching.wait_for_line("0 passed, 1 failed");
    assert!(lines.contains(&"changed: deep.lua".to_string()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("b_test.lua")), "{lines:?}");
    save(&scratch.0.join("lonely.lua"), "return 4");
    watching.wait_for_line("no test depends on it");
    save(&scratch.0.join("deep.lua"), "return 1");
    watching.wait_for_line("1 passed, 0 failed");
    save(&scratch.0.join("words.txt"), "any test may read it");
    watching.wait_for_line("2 passed, 0 failed");
    let id = watching.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(watching.child.wait().unwrap().code(), Some(0));
}
