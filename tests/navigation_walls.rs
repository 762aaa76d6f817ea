//! Random paths on the mesh of a world, compared with its physics: no path crosses a wall. With
//! `ENGINE_WALL_PATHS=100000`, so many paths are tried; otherwise a part of them.

use super::game_folder::GameFolder;
use super::start::start;
use engine::app::{Game, GameLaunch};

/// Paths that are tried in a usual run, and those of a world.
const PATHS: usize = 5_000;
const PATHS_OF_WORLD: usize = 2_500;

/// Walls with doors, and boxes that are turned and lean on each other. A sphere is moved along each
/// path: simplified edges of the mesh may be nearer to a wall than the radius of characters, but
/// never in it.
const MAIN: &str = r#"
local SIDE, PATHS_OF_UPDATE = 60, 100
local wanted, of_world
local world, mesh
local paths, joined = 0, 0

local function spawn(position, size, angle)
  local rotation = Quaternion(Vector3.up(), angle)
  local unit = World.spawn_unit(world, "core/units/empty", position, rotation)
  Unit.create_actor(unit, "box", { type = "static", shape = "box", size = size })
end

local function fill()
  spawn(Vector3(SIDE / 2, SIDE / 2, -0.5), { SIDE, SIDE, 1 }, 0)
  for x = 15, SIDE - 15, 15 do
    local door = 5 + Math.random() * (SIDE - 15)
    spawn(Vector3(x, door / 2, 1.5), { 0.3, door, 3 }, 0)
    local rest = SIDE - door - 2
    spawn(Vector3(x, SIDE - rest / 2, 1.5), { 0.3, rest, 3 }, 0)
  end
  for _ = 1, 60 do
    local at = Vector3(Math.random() * SIDE, Math.random() * SIDE, 1.5)
    local size = { 0.2 + Math.random() * 4, 0.2 + Math.random() * 4, 3 }
    spawn(at, size, Math.random() * math.pi)
  end
end

local function check(physics, points)
  local up = Vector3(0, 0, 1)
  for i = 2, #points do
    local from, to = points[i - 1] + up, points[i] + up
    if Vector3.distance(from, to) > 0.01 then
      local hits = PhysicsWorld.linear_sphere_sweep(physics, from, to, 0.1)
      assert(not hits, "path " .. paths .. " crosses a wall: " .. tostring(from))
    end
  end
end

function init()
  local first, second = Application.argv()
  wanted, of_world = tonumber(first), tonumber(second)
  Math.set_seed(7)
end

function update()
  if paths % of_world == 0 then
    if world then
      NavigationMesh.destroy(mesh)
      Application.release_world(world)
    end
    world = Application.new_world()
    fill()
    World.update(world, 0)
    mesh = NavigationMesh.create(world)
  end
  local physics = World.physics_world(world)
  for _ = 1, PATHS_OF_UPDATE do
    local from, to = NavigationMesh.random_point(mesh), NavigationMesh.random_point(mesh)
    local points, reason = NavigationMesh.find_path(mesh, from, to)
    joined = joined + (reason == nil and 1 or 0)
    check(physics, points)
    paths = paths + 1
  end
  if paths >= wanted then
    assert(joined * 4 > wanted, joined .. " of " .. paths .. " paths arrive")
    Application.quit(3)
  end
end
"#;

#[test]
fn no_path_crosses_a_wall_of_the_physics() {
    let folder = GameFolder::new("navigation", "walls");
    folder.write("main.lua", MAIN);
    let wanted = std::env::var("ENGINE_WALL_PATHS").ok();
    let wanted: usize = wanted.map_or(PATHS, |number| number.parse().expect("a number"));
    let launch = GameLaunch {
        arguments: vec![wanted.to_string(), PATHS_OF_WORLD.to_string()],
        ..GameLaunch::headless(Game::Folder(folder.to_path_buf()))
    };
    let mut app = start(launch);
    while app.quit().is_none() {
        app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }
    assert_eq!(app.quit(), Some(3));
}
