//! Tests of watch mode (`--watch`): the tests that a saved file affects run again, until the
//! process is asked to end.

use super::Scratch;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Maximum wait, long enough for any machine. Successful runs never wait this long.
const PATIENCE: Duration = Duration::from_secs(30);

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(scratch: &Scratch) -> Watching {
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
        Watching { child, lines }
    }

    /// Returns the lines up to one that contains this text.
    fn until(&self, wanted: &str) -> Vec<String> {
        let mut seen = Vec::new();
        while !seen.last().is_some_and(|line: &String| line.contains(wanted)) {
            let line = self.lines.recv_timeout(PATIENCE);
            seen.push(line.unwrap_or_else(|_| panic!("no '{wanted}' after {seen:?}")));
        }
        seen
    }
}

impl Drop for Watching {
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
    let mut watching = Watching::start(&scratch);
    let seen = watching.until(" passed, 0 failed");
    assert!(seen.last().unwrap().starts_with("2 passed"), "{seen:?}");
    fs::write(scratch.0.join("deep.lua"), "return 2").unwrap();
    let seen = watching.until("0 passed, 1 failed");
    assert!(seen.contains(&"changed: deep.lua".to_string()), "{seen:?}");
    assert!(!seen.iter().any(|line| line.contains("b_test.lua")), "{seen:?}");
    fs::write(scratch.0.join("lonely.lua"), "return 4").unwrap();
    watching.until("no test depends on it");
    fs::write(scratch.0.join("deep.lua"), "return 1").unwrap();
    watching.until("1 passed, 0 failed");
    fs::write(scratch.0.join("words.txt"), "any test may read it").unwrap();
    watching.until("2 passed, 0 failed");
    let id = watching.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(watching.child.wait().unwrap().code(), Some(0));
}
