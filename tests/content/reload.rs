//! A running game follows a move of a resource, by hot reload.

use super::game;
use crate::game_folder::{GameFolder, output_lines};
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const MAIN: &str = r#"
local shown
function update(dt)
  local value = Application.data("config", "balance/enemy").speed
  if value ~= shown then
    shown = value
    print("speed is " .. value)
  end
end
"#;

/// Waits for a line that contains a text.
pub fn wait_for(lines: &Receiver<String>, wanted: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    let mut all = Vec::new();
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        let Ok(line) = lines.recv_timeout(left) else { break };
        if line.contains(wanted) {
            return;
        }
        all.push(line);
    }
    panic!("no '{wanted}' in {all:#?}");
}

#[test]
fn a_running_game_follows_a_moved_resource() {
    let game = GameFolder::new("content", "reload");
    game.write("main.lua", MAIN);
    game.write("balance/enemy.config", "speed = 1\n");
    let mut command = game.command(&["run", ".", "--headless", "--realtime"]);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = output_lines(&mut running);
    wait_for(&lines, "speed is 1");
    let (code, out, errors) = game.engine(&["mv", ".", "balance/enemy", "balance/foe"]);
    assert_eq!(code, 0, "{out}{errors}");
    game.write("balance/foe.config", "speed = 2\n");
    wait_for(&lines, "speed is 2");
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn an_unseen_run_fails_with_files_that_cannot_be_compiled() {
    let folder = game("unseen");
    let main = "function init()\n  if Application.argv() then Application.quit(3) end\nend\n";
    folder.write("main.lua", main);
    let run = |more: &[&str]| {
        let all = [&["run", ".", "--headless", "--frames", "2"], more].concat();
        let (code, out, errors) = folder.engine(&all);
        (code, out + &errors)
    };
    assert_eq!(run(&[]).0, 0);
    folder.write("units/box.unit", "modle = 3\n");
    let (code, output) = run(&[]);
    assert_eq!(code, 1, "{output}");
    for part in [
        "units/box.unit:1: ",
        "old data is used for units/box.unit: it was compiled before the errors above",
        "the run fails, because units/box.unit cannot be compiled",
    ] {
        assert_eq!(output.matches(part).count(), 1, "{part}\n{output}");
    }
    // The code that the game itself chose says more.
    assert_eq!(run(&["--", "quit"]).0, 3);
    // A file without old data fails the run, too, and no old data is named.
    folder.write("units/box.unit", "");
    folder.write("units/new.unit", "modle = 3\n");
    let (code, output) = run(&[]);
    assert_eq!(code, 1, "{output}");
    assert!(!output.contains("old data"), "{output}");
    std::fs::remove_file(folder.join("units/new.unit")).unwrap();
    assert_eq!(run(&[]).0, 0);
}
