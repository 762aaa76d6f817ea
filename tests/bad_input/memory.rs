//! Games that have the engine hold ever more for them: each meets an ordinary error, lives on, and
//! gets its memory back when it releases what it holds.

use crate::{Ended, Game, in_order};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

/// Plays each case: makes things until that fails, releases them, looks at what the engine holds,
/// and makes one again.
const HARNESS: &str = r#"
local MIB = 2 ^ 20
local cases, world = {}, nil

local function case(name, make, release, begin)
  cases[#cases + 1] = { name = name, make = make, release = release, begin = begin }
end

local function blob(mib) return ("x"):rep(mib * MIB) end

CASES

local at, stage, before = 1, "fill", 0

local function fill(it)
  world = world or Application.main_world()
  if it.begin then it.begin() end
  before = Memory.engine_usage()
  local n = 0
  local ok, problem = pcall(function()
    while true do
      n = n + 1
      it.make(n)
    end
  end)
  assert(not ok and n > 1, it.name)
  print(it.name .. ": " .. tostring(problem))
  local held, limit = Memory.engine_usage()
  assert(held < limit * 1.5, it.name .. " holds " .. held)
end

local function release(it)
  it.release()
end

local function again(it)
  local held = Memory.engine_usage()
  assert(held < before + 12 * MIB, it.name .. " keeps " .. (held - before) / MIB .. " MiB")
  it.make(1)
  it.release()
end

function update(dt)
  local it = cases[at]
  if not it then
    print("all are done")
    return Application.quit()
  end
  if stage == "fill" then
    fill(it)
    stage = "release"
  elseif stage == "release" then
    release(it)
    stage = "wait"
  elseif stage == "wait" then
    stage = "again"
  else
    again(it)
    at, stage = at + 1, "fill"
  end
end
"#;

/// Cases in Lua, and for each its name and the words of its error.
fn plays(name: &str, cases: &str, files: &[(&str, &str)], wanted: &[(&str, &str)]) {
    let mut game = Game::new(name, &HARNESS.replace("CASES", cases));
    let settings = "limits = { engine_memory_mib = 64, update_seconds = 30 }";
    for (path, text) in files.iter().chain(&[("settings.sjson", settings)]) {
        game = game.with(path, text);
    }
    let ended = game.play(&["--frames", "100"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.last(), Some(&"all are done"), "{}\n{}", ended.out, ended.err);
    for ((case, message), line) in wanted.iter().zip(&lines) {
        in_order(line, &[case, ": ", message]);
    }
    assert_eq!(lines.len(), wanted.len() + 1, "{}", ended.out);
}

/// What every error of the limit says.
const FULL: &str = "not enough memory: the engine holds all of its 64 MiB (";
const NO_ROOM: &str = "not enough memory: this takes ";

#[test]
fn what_a_game_makes_in_worlds_is_limited_and_given_back() {
    let cases = r#"
local made, physics, unit = {}, nil, nil
case("broadphase", function(n)
  made[1] = made[1] or Broadphase.new(1)
  Broadphase.add(made[1], n, Vector3(n % 1000, n / 1000, 0), 0.5)
end, function() Broadphase.destroy(made[1]) made = {} end)
case("units", function(n)
  made[n] = World.spawn_unit(world, "units/thing")
end, function() World.destroy_units(world, made) made = {} end)
case("actors", function(n)
  physics = World.physics_world(world)
  made[n] = PhysicsWorld.spawn_box(physics, Vector3(n * 4, 0, 0), Vector3(1, 1, 1))
end, function()
  for i = 1, #made do PhysicsWorld.destroy_actor(physics, made[i]) end
  made = {}
end)
local bodies = {}
case("snapshots", function(n)
  if #bodies == 0 then
    for i = 1, 4000 do
      bodies[i] = PhysicsWorld.spawn_box(physics, Vector3(i * 4, 0, 0), Vector3(1, 1, 1))
    end
  end
  made[n] = PhysicsWorld.snapshot(physics)
end, function()
  for i = 1, #made do PhysicsWorld.drop_snapshot(physics, made[i]) end
  for i = 1, #bodies do PhysicsWorld.destroy_actor(physics, bodies[i]) end
  made, bodies = {}, {}
end)
local positions = Float32Array(3 * 60000)
case("meshes", function(n)
  unit = unit or World.spawn_unit(world, "units/thing")
  made[n] = Mesh.new(unit, { positions = positions })
end, function()
  for i = 1, #made do Mesh.destroy(made[i]) end
  made = {}
end)
case("lines", function(n)
  if n % 100000 == 1 then made[#made + 1] = World.create_line_object(world) end
  LineObject.add_line(made[#made], Color(1, 1, 1), Vector3(0, 0, 0), Vector3(1, 1, 1))
end, function()
  for i = 1, #made do World.destroy_line_object(world, made[i]) end
  made = {}
end)
"#;
    let wanted = [
        ("broadphase", FULL),
        ("units", FULL),
        ("actors", FULL),
        ("snapshots", NO_ROOM),
        ("meshes", "not enough memory: "),
        ("lines", FULL),
    ];
    plays("memory_worlds", cases, &[("units/thing.unit", "")], &wanted);
}

#[test]
fn what_a_game_draws_is_limited_and_given_back() {
    let cases = r#"
local made, gui = {}, nil
case("textures that Guis draw into", function(n)
  made[n] = World.create_texture_gui(world, "drawn" .. n, 2048, 1024)
end, function()
  for i = 1, #made do World.destroy_gui(world, made[i]) end
  made = {}
end)
case("textures that views draw into", function(n)
  made[n] = Application.create_viewport("seen" .. n, 2048, 1024)
end, function()
  for i = 1, #made do Application.destroy_viewport(made[i]) end
  made = {}
end)
case("retained objects", function(n)
  gui = gui or World.create_screen_gui(world)
  Gui.rect(gui, Vector3(n % 100, 0, 1), Vector2(10, 10), Color(255, 0, 0))
end, function() World.destroy_gui(world, gui) gui = nil end)
case("immediate drawing", function(n)
  gui = gui or World.create_screen_gui(world, "immediate")
  Gui.rect(gui, Vector3(n % 100, 0, 1), Vector2(10, 10), Color(255, 0, 0))
end, function() World.destroy_gui(world, gui) gui = nil end)
local text = blob(1)
case("debug texts", function(n) Debug.text(text, Color(255, 255, 255), 1000) end, Debug.clear)
"#;
    let wanted = [
        ("textures that Guis draw into", NO_ROOM),
        ("textures that views draw into", NO_ROOM),
        ("retained objects", FULL),
        ("immediate drawing", FULL),
        ("debug texts", FULL),
    ];
    plays("memory_drawing", cases, &[], &wanted);
}

#[test]
fn what_a_game_sends_elsewhere_is_limited_and_given_back() {
    let cases = r#"
local made, text = {}, blob(4)
case("saves", function(n)
  made[n] = Save.write_async("slot", { text, n })
end, function()
  -- Those of this frame are not done yet.
  for i = 1, #made do
    if Save.status(made[i]) ~= "busy" then Save.result(made[i]) end
  end
  made = {}
end)
case("messages to a worker", function(n)
  made[1] = made[1] or Worker.start("sleeper")
  Worker.send(made[1], text)
end, function() Worker.cancel(made[1]) made = {} end)
case("messages of a worker", function(n)
  made[1] = made[1] or Worker.start("talker")
  if n > 1 then error(select(2, Worker.result(made[1]))) end
  Worker.wait(made[1])
  made[2] = true
end, function() pcall(Worker.cancel, made[1]) made = {} end)
case("scripts of a worker", function(n)
  made[1] = made[1] or Worker.start("hoarder")
  if n > 1 then error(select(2, Worker.result(made[1]))) end
  Worker.wait(made[1])
end, function() pcall(Worker.cancel, made[1]) made = {} end)
"#;
    let sleeper = "return function() Worker.receive(Worker.parent())\n\
                   while true do Worker.wait(Worker.parent()) end end";
    let talker = "return function() local text = ('x'):rep(2 ^ 22)\n\
                  for i = 1, 1000 do Worker.send(Worker.parent(), text) end end";
    let hoarder = "return function() local all = {}\n\
                   for i = 1, 1e9 do all[i] = { i } end end";
    let files = [("sleeper.lua", sleeper), ("talker.lua", talker), ("hoarder.lua", hoarder)];
    let wanted = [
        ("saves", FULL),
        ("messages to a worker", FULL),
        ("messages of a worker", "not enough memory: the engine holds all of its 64 MiB"),
        ("scripts of a worker", "not enough memory: the engine holds all of its 64 MiB"),
    ];
    plays("memory_elsewhere", cases, &files, &wanted);
}

#[test]
fn one_call_that_takes_far_too_much_is_refused_before_it_takes_it() {
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
    let ended = game.play(&["--frames", "1"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let takes = |mib: usize| format!("not enough memory: this takes {mib} MiB, and the engine");
    in_order(
        &ended.out,
        &[
            "false\tWorld.create_texture_gui: ",
            &takes(1024),
            " of its 64 MiB",
            ": ask for less, release some of it, or raise limits.engine_memory_mib in settings.sjson",
            "false\tApplication.create_viewport: ",
            &takes(1024),
            "false\tMesh.new: ",
            &takes(128),
            "true\n",
        ],
    );
}

#[test]
fn the_error_stands_at_the_line_that_asks_and_names_who_holds_most() {
    let main = "local grid\nfunction update()\n  grid = Broadphase.new(1)\n  for i = 1, 1e7 do\n    \
                Broadphase.add(grid, i, Vector3(i, 0, 0), 1)\n  end\nend";
    let game = Game::new("memory_line", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 64, update_seconds = 30 }");
    let ended = game.play(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    let remedy = " MiB): release some of it, or raise limits.engine_memory_mib in settings.sjson\n";
    let wanted = ["When calling: update\nError: ", FULL, "calls/Broadphase ", remedy, "main.lua:"];
    in_order(&ended.err, &wanted);
}

#[test]
fn a_game_that_catches_the_error_again_and_again_gets_no_more_than_the_reserve() {
    let main = r#"
local grid, most, n = Broadphase.new(1), 0, 0
local function add()
  n = n + 1
  Broadphase.add(grid, n, Vector3(n % 1000, n / 1000, 0), 0.5)
end
function update()
  local ended, refused = Application.frame_index() * 3e5, 0
  while n < ended do
    if not pcall(add) then refused = refused + 1 end
  end
  local held, limit = Memory.engine_usage()
  print(held > limit, held < limit * 1.3, refused > 100, Application.frame_index())
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
    let ended = game.play(&["--frames", "4"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    in_order(&ended.out, &["true\ttrue\ttrue\t4\n", "alive\n"]);
}

#[test]
fn what_is_released_in_time_is_no_error() {
    let main = "function update()\n  for i = 1, 20 do\n    \
                local gui = World.create_texture_gui(Application.main_world(), 'x' .. i, 1024, 1024)\n    \
                World.destroy_gui(Application.main_world(), gui)\n    \
                Application.hash(('x'):rep(2 ^ 24))\n  end\n  end";
    let game = Game::new("memory_released", main)
        .with("settings.sjson", "limits = { engine_memory_mib = 128 }");
    let ended = game.play(&["--frames", "3"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
}

/// Plays a game while the system gives the process no more than so much memory.
#[cfg(target_os = "linux")]
fn play_within(game: &Game, kib: usize) -> Ended {
    let mut command = Command::new("bash");
    let script = format!("ulimit -v {kib} && exec \"$@\"");
    command.args(["-c", &script, "bash"]).arg(env!("CARGO_BIN_EXE_engine"));
    command.arg("run").arg(&game.folder).args(["--headless", "--frames", "2"]);
    command.env("ENGINE_SAVE_DIR", &game.saves).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", game.folder.with_file_name("cache"));
    crate::ended(command.output().expect("there is bash"))
}

#[test]
#[cfg(target_os = "linux")]
fn under_a_limit_of_the_system_the_error_comes_before_the_abort() {
    let rows = [
        "Save.write_async(\"s\" .. i, { text, i })",
        "Debug.text(text .. i, Color(255, 255, 255), 1000)",
        "made[i] = made[i] or Worker.start(\"sleeper\") Worker.send(made[i], text)",
        "grid = grid or Broadphase.new(1) for j = 1, 1e5 do Broadphase.add(grid, j, \
         Vector3(j % 1000, j / 1000, 0), 0.5) end",
    ];
    for (i, row) in rows.iter().enumerate() {
        let main = format!(
            "local made, grid, text = {{}}, nil, (\"x\"):rep(2 ^ 24)\nfunction update()\n  \
             for i = 1, 200 do {row} end\nend\nfunction shutdown() print(\"alive\") end"
        );
        let settings = "limits = { engine_memory_mib = 256, update_seconds = 60 }";
        let game = Game::new(&format!("memory_system_{i}"), &main)
            .with("settings.sjson", settings)
            .with("sleeper.lua", "return function() Worker.wait(Worker.parent()) end");
        let ended = play_within(&game, 2_500_000);
        assert_eq!(ended.code, Some(1), "{row}: {}", ended.err);
        let full = "not enough memory: the engine holds all of its 256 MiB (";
        in_order(&ended.err, &["When calling: update\nError: ", full]);
        assert_eq!(ended.out, "alive\n", "{row}");
    }
}
