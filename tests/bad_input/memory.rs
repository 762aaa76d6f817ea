//! Tests of games that make the engine hold more and more memory: each receives an ordinary error,
//! continues, and regains the memory when it releases its objects.

mod accounting;

use crate::bad_input::{Game, RunResult, check_in_order, run_result};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

/// Script that creates objects until that fails, releases them, waits until the engine holds as
/// little memory as before (other threads may take a moment), and creates some again.
const HARNESS: &str = r#"
local MIB = 2 ^ 20
local it, stage, before, waited = {}, "fill", 0, 0
local world

local function blob(mib) return ("x"):rep(mib * MIB) end

CASE

local function fill()
  world = Application.main_world()
  if it.begin then it.begin() end
  before = Memory.engine_usage()
  local n = 0
  local ok, problem = pcall(function()
    while true do
      n = n + 1
      it.make(n)
    end
  end)
  assert(not ok)
  problem = tostring(problem)
  print(problem:match("not enough memory[^\n]*") or problem)
  -- This call is refused, too, as long as another thread still holds what exceeds the limit.
  local allowed, held, limit = pcall(Memory.engine_usage)
  assert(allowed or tostring(held):find("not enough memory", 1, true), held)
  assert(not allowed or held < limit * 1.6, "it holds " .. tostring(held))
end

-- Whether memory came down; tables of handles stay, to be used again.
local function is_down()
  return it.keeps or Memory.engine_usage() < before + 8 * MIB
end

local function again()
  local make = it.again or it.make
  for n = 1, it.keeps and 1000 or 1 do make(n) end
  it.release()
end

function update(dt)
  if stage == "fill" then
    fill()
    stage = "release"
  elseif stage == "release" then
    it.release()
    stage = "wait"
  elseif stage == "wait" then
    waited = waited + 1
    assert(waited < 1e6, "memory does not come down")
    if waited > 2 and is_down() then stage = "again" end
  else
    again()
    print("again")
    Application.quit()
  end
end
"#;

const IDLE_WORKER: &str = "return function() while true do Worker.wait(Worker.parent()) end end";
const SENDING_WORKER: &str = "return function() local text = (\"x\"):rep(2 ^ 22)\n\
                      while true do Worker.send(Worker.parent(), text) end end";
/// Takes no message, so its own memory stays the same.
const BUSY_WORKER: &str = "return function() while true do end end";
const GROWING_WORKER: &str = "return function() local all = {}\n\
                       for i = 1, 1e9 do all[i] = { i } end end";

/// Plays `count` frames headless.
fn play_frames(game: &Game, count: &str) -> RunResult {
    run_result(
        game.command(&["--headless", "--frames", count]).output().expect("the engine starts"),
    )
}

/// Plays a case (Lua that fills in `it`) under a limit of `mib` MiB. `expected` is part of its
/// error message; if empty, the message of the limit itself.
#[track_caller]
fn check_memory_limit(name: &str, mib: usize, case: &str, expected: &str) {
    let settings = format!("limits = {{ engine_memory_mib = {mib}, update_seconds = 60 }}");
    let game = Game::new(&format!("memory_{name}"), &HARNESS.replace("CASE", case))
        .with("settings.sjson", settings)
        .with("units/thing.unit", "")
        .with("sleeper.lua", IDLE_WORKER)
        .with("talker.lua", SENDING_WORKER)
        .with("hoarder.lua", GROWING_WORKER);
    let result = game.command(&["--headless"]).output().expect("the engine starts");
    let result = crate::bad_input::run_result(result);
    assert_eq!(result.code, Some(0), "{name}: {}\n{}", result.out, result.err);
    let full = format!("not enough memory: the engine holds all of its {mib} MiB");
    let expected = if expected.is_empty() { full.as_str() } else { expected };
    check_in_order(&result.out, &[expected, "again\n"]);
    assert_eq!(result.out.lines().count(), 2, "{name}: {}", result.out);
}

const NOT_ENOUGH_MEMORY: &str = "not enough memory: this takes ";

#[test]
#[allow(clippy::too_many_lines, reason = "rows of a table")]
fn world_object_memory_is_limited_and_freed() {
    let rows = [
        (
            "broadphase",
            // The tables double from 40 MiB to 80 MiB, which the reserve still covers.
            74,
            "local grid
            function it.make(n)
              grid = grid or Broadphase.new(1)
              Broadphase.add(grid, n, Vector3(n % 1000, n / 1000, 0), 0.5)
            end
            function it.release() Broadphase.destroy(grid) grid = nil end",
            "",
        ),
        (
            "units",
            32,
            "local units = {}
            it.keeps = true
            function it.make(n) units[n] = World.spawn_unit(world, \"units/thing\") end
            function it.release() World.destroy_units(world, units) units = {} end",
            "",
        ),
        (
            "actors",
            32,
            "local own
            function it.make(n)
              own = own or Application.new_world()
              local physics = World.physics_world(own)
              PhysicsWorld.spawn_box(physics, Vector3(n * 4, 0, 0), Vector3(1, 1, 1))
            end
            function it.release() Application.release_world(own) own = nil end",
            "",
        ),
        (
            "snapshots",
            64,
            "local own, physics
            local kept = {}
            function it.make(n)
              if not own then
                own = Application.new_world()
                physics = World.physics_world(own)
                for i = 1, 2000 do
                  PhysicsWorld.spawn_box(physics, Vector3(i * 4, 0, 0), Vector3(1, 1, 1))
                end
              end
              kept[n] = PhysicsWorld.snapshot(physics)
            end
            function it.release()
              for i = 1, #kept do PhysicsWorld.drop_snapshot(physics, kept[i]) end
              Application.release_world(own)
              own, kept = nil, {}
            end",
            NOT_ENOUGH_MEMORY,
        ),
        (
            "meshes",
            64,
            "local unit, meshes, positions = nil, {}, Float32Array(3 * 60000)
            function it.make(n)
              unit = unit or World.spawn_unit(world, \"units/thing\")
              meshes[n] = Mesh.new(unit, { positions = positions })
            end
            function it.release()
              for i = 1, #meshes do Mesh.destroy(meshes[i]) end
              meshes = {}
            end",
            "not enough memory: ",
        ),
        (
            "lines",
            64,
            "local objects = {}
            function it.make(n)
              if n % 100000 == 1 then objects[#objects + 1] = World.create_line_object(world) end
              local red, zero = Color(255, 0, 0), Vector3(0, 0, 0)
              LineObject.add_line(objects[#objects], red, zero, zero)
            end
            function it.release()
              for i = 1, #objects do World.destroy_line_object(world, objects[i]) end
              objects = {}
            end",
            "",
        ),
    ];
    for (name, mib, case, expected) in rows {
        check_memory_limit(name, mib, case, expected);
    }
}

#[test]
fn drawing_memory_is_limited_and_freed() {
    let rows = [
        (
            "texture_guis",
            "local guis = {}
            function it.make(n)
              guis[n] = World.create_texture_gui(world, \"drawn\" .. n, 2048, 1024)
            end
            function it.release()
              for i = 1, #guis do World.destroy_gui(world, guis[i]) end
              guis = {}
            end",
            NOT_ENOUGH_MEMORY,
        ),
        (
            "texture_views",
            "local views = {}
            function it.make(n)
              views[n] = Application.create_viewport(\"seen\" .. n, 2048, 1024)
            end
            function it.release()
              for i = 1, #views do Application.destroy_viewport(views[i]) end
              views = {}
            end",
            NOT_ENOUGH_MEMORY,
        ),
        (
            "retained",
            "local gui
            it.keeps = true
            function it.make(n)
              gui = gui or World.create_screen_gui(world)
              Gui.rect(gui, Vector3(n % 100, 0, 1), Vector2(10, 10), Color(255, 0, 0))
            end
            function it.release() World.destroy_gui(world, gui) gui = nil end",
            "",
        ),
        (
            "immediate",
            "local gui
            function it.make(n)
              gui = gui or World.create_screen_gui(world, \"immediate\")
              Gui.rect(gui, Vector3(n % 100, 0, 1), Vector2(10, 10), Color(255, 0, 0))
            end
            function it.release() World.destroy_gui(world, gui) gui = nil end",
            "",
        ),
        (
            "debug_texts",
            "local text = blob(1)
            function it.make() Debug.text(text, Color(255, 255, 255), 1000) end
            it.release = Debug.clear",
            "",
        ),
    ];
    for (name, case, expected) in rows {
        check_memory_limit(name, 64, case, expected);
    }
}

#[test]
fn message_and_save_memory_is_limited_and_freed() {
    let rows = [
        (
            "saves",
            "local requests, text = {}, blob(4)
            function it.make(n) requests[n] = Save.write_async(\"slot\", { text, n }) end
            function it.release()
              -- One of this frame is not done yet.
              for i = 1, #requests do
                if Save.status(requests[i]) ~= \"busy\" then Save.result(requests[i]) end
              end
              requests = {}
            end",
        ),
        (
            "messages_to_a_worker",
            "local worker, text = nil, blob(4)
            function it.make()
              worker = worker or Worker.start(\"sleeper\")
              Worker.send(worker, text)
            end
            function it.release() Worker.cancel(worker) worker = nil end",
        ),
        // Here the worker fills the memory, and the game receives the error, too.
        (
            "messages_of_a_worker",
            "local worker
            function it.make()
              worker = worker or Worker.start(\"talker\")
              Worker.wait(worker)
              if Worker.status(worker) ~= \"running\" then error(select(2, Worker.result(worker))) end
            end
            function it.release()
              pcall(Worker.cancel, worker)
              worker = nil
            end
            function it.again() worker = Worker.start(\"sleeper\") end",
        ),
        (
            "scripts_of_a_worker",
            "local worker
            function it.make()
              worker = worker or Worker.start(\"hoarder\")
              Worker.wait(worker)
              if Worker.status(worker) ~= \"running\" then error(select(2, Worker.result(worker))) end
            end
            function it.release()
              pcall(Worker.cancel, worker)
              worker = nil
            end
            function it.again() worker = Worker.start(\"sleeper\") end",
        ),
    ];
    for (name, case) in rows {
        check_memory_limit(name, 64, case, "");
    }
}

#[test]
fn huge_single_allocation_is_refused_up_front() {
    let main = r#"
local world = Application.main_world()
local function refused(...)
  local before = Memory.engine_usage()
  local ok, problem = pcall(...)
  print(ok, problem)
  assert(Memory.engine_usage() - before < 2 ^ 20)
end
function update()
  refused(World.create_texture_gui, world, "wall", 16384, 16384)
  refused(Application.create_viewport, "wall", 16384, 16384)
  local unit = World.spawn_unit(world, "units/thing")
  refused(Mesh.new, unit, { positions = Float32Array(3 * 2 ^ 20) })
  print(World.create_texture_gui(world, "wall", 64, 64) ~= nil)
end"#;
    let game = Game::new("memory_at_once", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 64 }")
        .with("units/thing.unit", "");
    let result = play_frames(&game, "1");
    assert_eq!(result.code, Some(0), "{}", result.err);
    let takes = |mib: usize| format!("not enough memory: this takes {mib} MiB, and the engine");
    check_in_order(
        &result.out,
        &[
            "false\t",
            "World.create_texture_gui: ",
            &takes(1024),
            " of its 64 MiB",
            ": ask for less, release some of it, or raise limits.engine_memory_mib in settings.sjson",
            "false\t",
            "Application.create_viewport: ",
            &takes(1024),
            "false\t",
            "Mesh.new: ",
            &takes(128),
            "true\n",
        ],
    );
}

#[test]
fn memory_error_has_line_and_largest_owner() {
    let main = "local grid\nfunction update()\n  grid = Broadphase.new(1)\n  \
                for i = 1, 1e7 do\n    \
                Broadphase.add(grid, i, Vector3(i, 0, 0), 1)\n  end\nend";
    let game = Game::new("memory_line", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 64, update_seconds = 30 }");
    let result = game.play(&[]);
    assert_eq!(result.code, Some(1), "{}", result.err);
    let remedy = " MiB): release some of it, or raise limits.engine_memory_mib in settings.sjson\n";
    let full = "not enough memory: the engine holds all of its 64 MiB (calls/Broadphase ";
    let expected = ["When calling: update\nError: ", full, remedy, "main.lua:"];
    check_in_order(&result.err, &expected);
}

#[test]
fn catching_memory_errors_uses_at_most_the_reserve() {
    let main = r#"
local grid, n = Broadphase.new(1), 0
local function add()
  n = n + 1
  Broadphase.add(grid, n, Vector3(n % 1000, n / 1000, 0), 0.5)
end
function update()
  local refused = 0
  while refused < 2000 do
    if not pcall(add) then refused = refused + 1 end
  end
  local held, limit = Memory.engine_usage()
  -- Beside the reserve: the table that exceeded the limit and the one that doubles last.
  print(held > limit, held < limit * 2)
end
function shutdown()
  -- Releasing is always possible.
  Broadphase.destroy(grid)
  grid = Broadphase.new(1)
  add()
  print("alive")
end"#;
    let game = Game::new("memory_caught_often", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 64, update_seconds = 60 }");
    let result = play_frames(&game, "3");
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert_eq!(result.out, "true\ttrue\n".repeat(3) + "alive\n");
}

#[test]
fn table_grown_beyond_the_limit_can_be_freed() {
    let main = r#"
local grid, n, frame = Broadphase.new(1), 0, 0
local function fill()
  while true do
    n = n + 1
    Broadphase.add(grid, n, Vector3(n % 1000, n / 1000, 0), 0.5)
  end
end
function update()
  frame = frame + 1
  if frame == 1 then
    local ok = pcall(fill)
    local held, limit = Memory.engine_usage()
    print(ok, held > limit * 1.125)
  elseif frame == 4 then
    Broadphase.destroy(grid)
    grid = Broadphase.new(1)
    Broadphase.add(grid, 1, Vector3(0, 0, 0), 0.5)
    print("released")
  end
end"#;
    // The tables double from 40 MiB to 80 MiB, far beyond this limit plus an eighth of it. Before
    // that, the grid has 59.5 MiB, and the engine itself half of one.
    let game = Game::new("memory_doubled", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 62, update_seconds = 60 }");
    let result = play_frames(&game, "5");
    assert_eq!(
        (result.code, result.out.as_str()),
        (Some(0), "false\ttrue\nreleased\n"),
        "{}",
        result.err
    );
}

#[test]
fn memory_freed_in_time_is_not_an_error() {
    let main = "function update()\n  for i = 1, 20 do\n    \
                local world = Application.main_world()\n    \
                local gui = World.create_texture_gui(world, 'x' .. i, 1024, 1024)\n    \
                World.destroy_gui(world, gui)\n    \
                Application.hash(('x'):rep(2 ^ 24))\n  end\n  end";
    let game = Game::new("memory_released", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 128 }");
    let result = play_frames(&game, "3");
    assert_eq!((result.code, result.err.as_str()), (Some(0), ""));
}

/// Plays a game while the operating system limits the memory of the process to `kib` KiB.
#[cfg(target_os = "linux")]
fn play_with_system_limit(game: &Game, kib: usize) -> RunResult {
    let mut command = Command::new("bash");
    let script = format!("ulimit -v {kib} && exec \"$@\"");
    command.args(["-c", &script, "bash"]).arg(env!("CARGO_BIN_EXE_engine"));
    command.arg("run").arg(&game.folder).args(["--headless", "--frames", "1"]);
    command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", &game.saves).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", game.folder.with_file_name("cache"));
    crate::bad_input::run_result(command.output().expect("there is bash"))
}

#[test]
#[cfg(target_os = "linux")]
fn memory_error_precedes_abort_under_system_limit() {
    let rows = [
        "Save.write_async(\"s\" .. i, { text, i })",
        "Debug.text(text, Color(255, 255, 255), 1000)",
        "local w = 1 + i % 12 made[w] = made[w] or Worker.start(\"busy\") \
         Worker.send(made[w], text)",
        "grid = Broadphase.new(1) for j = 1, 1e5 do Broadphase.add(grid, j, \
         Vector3(j % 1000, j / 1000, 0), 0.5) end",
    ];
    for (i, row) in rows.iter().enumerate() {
        let main = format!(
            "local made, grid, text = {{}}, nil, (\"x\"):rep(2 ^ 24)\nfunction update()\n  \
             print(pcall(function() for i = 1, 200 do {row} end end))\nend\n\
             function shutdown() print(\"alive\") end"
        );
        let settings = "limits = { engine_memory_mib = 128, update_seconds = 60 }";
        let game = Game::new(&format!("memory_system_{i}"), &main)
            .with("settings.sjson", settings)
            .with("busy.lua", BUSY_WORKER);
        let result = play_with_system_limit(&game, 1_500_000);
        let full = "not enough memory: the engine holds all of its 128 MiB (";
        match result.code {
            Some(0) => check_in_order(&result.out, &["false\t", full, "alive\n"]),
            // Slow workers still hold the messages when the protected call has returned, and the
            // next line of `update` raises the error again.
            Some(1) if row.contains("Worker") => check_in_order(&result.err, &[full]),
            code => panic!("{row}: {code:?}: {}", result.err),
        }
    }
}
