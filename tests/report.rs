//! Tests of log files and stored reports from outside.

use crate::game_folder::{GameFolder, combined_output};
use std::path::Path;

fn scratch(name: &str, main: &str) -> GameFolder {
    let folder = GameFolder::new("report", name);
    folder.write("game/main.lua", main);
    folder
}

/// Runs the engine. Returns the exit code and all output.
fn engine(folder: &GameFolder, arguments: &[&str]) -> (Option<i32>, String) {
    combined_output(&mut folder.command(arguments))
}

#[test]
fn logs_of_recent_runs_are_kept() {
    let folder =
        scratch("log", "function init() print('hello ' .. (Application.argv() or '')) end");
    folder.write("game/settings.sjson", "log = { files = 2 }\n");
    let none = engine(&folder, &["report", "game", "--log"]);
    assert!(none.1.contains("they are kept for runs that are paced by the clock"));
    for run in ["one", "two", "three"] {
        let played = engine(
            &folder,
            &["run", "game", "--headless", "--realtime", "--frames", "1", "--", run],
        );
        assert!(played.0 == Some(0), "{}", played.1);
    }
    let shown = engine(&folder, &["report", "game", "--log"]);
    assert!(shown.1.contains("info    hello three"), "{}", shown.1);
    for fact in ["\nEngine: ", "\nDate: 20", "\nSystem: ", "\nProcessor: ", "\nMemory: "] {
        assert!(shown.1.contains(fact), "'{fact}' is not in\n{}", shown.1);
    }
    let logs = walk(&folder.join("saves")).into_iter();
    let logs: Vec<_> = logs.filter(|path| path.contains("logs")).collect();
    assert_eq!(logs.len(), 2, "{logs:?}");
}

fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(walk(&entry.path())),
            false => found.push(entry.path().display().to_string()),
        }
    }
    found
}

#[test]
fn crash_report_of_a_release_is_printed() {
    let main = "function update() local score = 7 print('before') nothing() end";
    let folder = scratch("crash", main);
    let none = engine(&folder, &["report", "game"]);
    assert_eq!(none.0, Some(1));
    assert!(none.1.contains("there is no crash report in"), "{}", none.1);
    let compiled =
        engine(&folder, &["compile", "game", "--out", "game.bundle", "--bundle", "--skip-check"]);
    assert!(compiled.0 == Some(0), "{}", compiled.1);
    let played = engine(&folder, &["run", "game.bundle", "--headless", "--frames", "1"]);
    assert_eq!(played.0, Some(1), "{}", played.1);
    let shown = engine(&folder, &["report", "game"]);
    assert!(shown.0 == Some(0), "{}", shown.1);
    let adapter = "Adapter: none, because nothing was drawn";
    for expected in ["Crash report", adapter, "main.lua:1", "local score = 7", "  before"] {
        assert!(shown.1.contains(expected), "'{expected}' is not in\n{}", shown.1);
    }
    // Each fact about the run and the machine has a line with a value.
    for fact in ["Engine: ", "Date: 20", "System: ", "Processor: ", "Memory: ", "Frame: 1"] {
        let line = shown.1.lines().find(|line| line.starts_with(fact));
        let line = line.unwrap_or_else(|| panic!("'{fact}' is not in\n{}", shown.1));
        assert!(line.len() > "Frame: ".len() && !line.contains("unknown"), "{line}");
    }
    assert!(shown.1.contains(&format!("Engine: {}", env!("CARGO_PKG_VERSION"))), "{}", shown.1);
    let other = engine(&folder, &["report", "game/main.lua"]);
    assert!(other.1.contains("is not a crash report"), "{}", other.1);
}
