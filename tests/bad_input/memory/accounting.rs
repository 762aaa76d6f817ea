//! Tests of the accounting of a game's memory, and of the time of the error: not in the middle of
//! the engine's own work, not for released memory, and not for the data compiler's parallel work.

use super::play_frames;
use crate::bad_input::{Game, check_in_order, run_result};
use std::fs;
use std::path::Path;
use std::time::Duration;

#[test]
fn unit_spawn_at_the_memory_limit_is_atomic() {
    let main = r#"
local frame, notified, lists = 0, {}, {}
local world
package.loaded["components.counted"] = {
  spawned = function(units)
    for i = 1, #units do notified[units[i]] = true end
  end,
}
local function fill()
  local positions = {}
  for i = 1, 500 do positions[i] = Vector3(i, 0, 0) end
  while true do lists[#lists + 1] = World.spawn_units(world, "units/counted", positions) end
end
function update()
  frame = frame + 1
  world = Application.main_world()
  if frame == 1 then
    local ok, problem = pcall(fill)
    print(ok, (tostring(problem):gsub(" %(.*", "")))
  elseif frame == 3 then
    local living = World.units(world)
    for i = 1, #living do
      assert(notified[living[i]], "its component was not notified")
      assert(Unit.has_data(living[i], "counted", "at"), "it has no data")
    end
    local handles = 0
    for i = 1, #lists do handles = handles + #lists[i] end
    print(#living == handles or #living == handles + 500, handles > 5000)
    World.destroy_units(world, living)
    print(#World.units(world))
  end
end"#;
    let game = Game::new("memory_whole_units", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 32, update_seconds = 60 }")
        .with("units/counted.unit", "components = { counted = { at = 7 } }");
    let result = play_frames(&game, "4");
    let full = "not enough memory: the engine holds all of its 32 MiB";
    assert_eq!(result.code, Some(0), "{}", result.err);
    check_in_order(&result.out, &["false\t", full, "\ntrue\ttrue\n0\n"]);
}

#[test]
fn workers_are_charged_for_their_current_memory() {
    let worker = "return function()
  while true do
    Worker.wait(Worker.parent())
    local all = {}
    for i = 1, 4e5 do all[i] = { i } end
    Worker.send(Worker.parent(), 1)
    Worker.wait(Worker.parent())
    all = nil
    collectgarbage()
    Worker.send(Worker.parent(), 2)
  end
end";
    let main = r#"
local MIB, WORKERS = 2 ^ 20, 4
function update()
  local workers = {}
  local before, most = Memory.engine_usage(), 0
  for i = 1, WORKERS do workers[i] = Worker.start("peaks") end
  -- One after the other: each holds much for a moment, and little then.
  for i = 1, WORKERS do
    Worker.send(workers[i], 0)
    Worker.wait(workers[i])
    most = math.max(most, Memory.engine_usage() - before)
    Worker.send(workers[i], 0)
    Worker.wait(workers[i])
  end
  local left = Memory.engine_usage() - before
  assert(most > 25 * MIB, most)
  assert(left < WORKERS * 15 * MIB, left)
  print("lowered")
  for i = 1, WORKERS do Worker.cancel(workers[i]) end
end"#;
    let game = Game::new("memory_peaks", main)
        .with("settings.sjson", "limits = { update_seconds = 60 }")
        .with("peaks.lua", worker);
    let result = play_frames(&game, "1");
    assert_eq!((result.code, result.out.as_str()), (Some(0), "lowered\n"), "{}", result.err);
}

/// Returns a run-length-encoded TGA image: small on disk, `side` x `side` texels in memory.
fn picture(side: u16, gray: u8) -> Vec<u8> {
    let [low, high] = side.to_le_bytes();
    let mut bytes = vec![0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, low, high, low, high, 32, 8];
    for _ in 0..usize::from(side) * usize::from(side) / 128 {
        bytes.extend([0x80 | 127, gray, gray, gray, 255]);
    }
    bytes
}

#[test]
fn data_compiler_memory_is_not_charged_to_the_game() {
    let main = r#"
local began = false
function update()
  -- Growth of the game's own makes it look at the limit.
  local world = Application.main_world()
  World.destroy_unit(world, World.spawn_unit(world, "units/thing"))
  Debug.text(("x"):rep(2 ^ 17), Color(255, 255, 255), 1)
  Debug.clear()
  if not began then
    began = true
    print("runs")
  end
  if Application.can_get("config", "done") then
    print("done", Application.can_get("texture", "large"))
    Application.quit()
  end
end"#;
    let game = Game::new("memory_compiler", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 24, update_seconds = 60 }")
        .with("units/thing.unit", "")
        .with("small.tga", picture(128, 1));
    let mut command = game.command(&["--headless", "--realtime"]);
    let mut child = command.spawn().expect("the engine starts");
    let out = child.stdout.take().expect("it is piped");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(out));
    assert_eq!(lines.next().unwrap().unwrap(), "runs");
    // Texels of 64 MiB, and as much again while mip levels are created.
    save(&game.folder, "large.tga", &picture(4096, 7));
    save(&game.folder, "done.config", b"done = true");
    let last_line = lines.next().map(Result::unwrap);
    let result = run_result(child.wait_with_output().expect("it ends"));
    assert_eq!(
        (result.code, last_line.as_deref()),
        (Some(0), Some("done\ttrue")),
        "{}",
        result.err
    );
}

/// Saves a file atomically, as editors do.
fn save(folder: &Path, name: &str, bytes: &[u8]) {
    let whole = folder.join(format!(".{name}"));
    fs::write(&whole, bytes).unwrap();
    fs::rename(whole, folder.join(name)).unwrap();
    std::thread::sleep(Duration::from_millis(5));
}
