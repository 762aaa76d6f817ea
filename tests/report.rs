//! Tests of log files and stored reports from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scratch(name: &str, main: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("engine-report-{}-{name}", std::process::id()));
    std::fs::create_dir_all(folder.join("game")).expect("a scratch folder can be made");
    std::fs::write(folder.join("game/main.lua"), main).expect("a scratch file can be written");
    folder
}

fn engine(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(arguments)
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .current_dir(folder)
        .output()
        .expect("the engine starts")
}

fn output_text(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{err}")
}

#[test]
fn logs_of_recent_runs_are_kept() {
    let folder =
        scratch("log", "function init() print('hello ' .. (Application.argv() or '')) end");
    std::fs::write(folder.join("game/settings.sjson"), "log = { files = 2 }\n").unwrap();
    let none = engine(&folder, &["report", "game", "--log"]);
    assert!(output_text(&none).contains("they are kept for runs that are paced by the clock"));
    for run in ["one", "two", "three"] {
        let played = engine(
            &folder,
            &["run", "game", "--headless", "--realtime", "--frames", "1", "--", run],
        );
        assert!(played.status.success(), "{}", output_text(&played));
    }
    let shown = engine(&folder, &["report", "game", "--log"]);
    assert!(output_text(&shown).contains("info    hello three"), "{}", output_text(&shown));
    let logs = walk(&folder.join("saves")).into_iter();
    let logs: Vec<_> = logs.filter(|path| path.contains("logs")).collect();
    assert_eq!(logs.len(), 2, "{logs:?}");
    std::fs::remove_dir_all(&folder).unwrap();
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
    assert_eq!(none.status.code(), Some(1));
    assert!(output_text(&none).contains("there is no crash report in"), "{}", output_text(&none));
    let compiled = engine(&folder, &["compile", "game", "--out", "game.bundle", "--bundle"]);
    assert!(compiled.status.success(), "{}", output_text(&compiled));
    let played = engine(&folder, &["run", "game.bundle", "--headless", "--frames", "1"]);
    assert_eq!(played.status.code(), Some(1), "{}", output_text(&played));
    let shown = engine(&folder, &["report", "game"]);
    assert!(shown.status.success(), "{}", output_text(&shown));
    let adapter = "Adapter: none, because nothing was drawn";
    for expected in ["Crash report", adapter, "main.lua:1", "local score = 7", "  before"] {
        assert!(
            output_text(&shown).contains(expected),
            "'{expected}' is not in\n{}",
            output_text(&shown)
        );
    }
    let other = engine(&folder, &["report", "game/main.lua"]);
    assert!(output_text(&other).contains("is not a crash report"), "{}", output_text(&other));
    std::fs::remove_dir_all(&folder).unwrap();
}
