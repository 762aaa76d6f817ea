//! A running game follows a move of a resource, by hot reload.

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
