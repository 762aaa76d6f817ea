//! Benchmarks of movers: moves on still ground and on lifts, and being carried.

use super::{Folder, frames};
use crate::run::{launch, start};
use crate::table::{Group, Row, median, named};

const MOVERS: usize = 100;
const FRAMES: usize = 400;

const WALKER: &str = "
components = { physics = { movers = { walking = { radius = 0.3, height = 1.8 } } } }
";
const LIFT: &str = "
components = {
  physics = { actors = { plate = { type = \"kinematic\", shape = \"box\", size = [6, 6, 0.5] } } }
}
";

/// Script of the game. `TIMED` runs in every other frame, `ALWAYS` in each frame.
const MAIN: &str = "
local world, movers, lifts = nil, {}, {}
local always, timed
function init()
  world = Application.new_world()
  PhysicsWorld.spawn_plane(World.physics_world(world), Vector3(0, 0, 0))
  for i = 1, LIFTS do
    lifts[i] = World.spawn_unit(world, 'lift', Vector3(i * 8 - 44, 0, 3))
  end
  for i = 0, MOVERS - 1 do
    local along, place = i % 10 * 8 - 36, math.floor(i / 10)
    local at = Vector3(along + place % 4 * 1.2 - 1.8, math.floor(place / 4) * 1.2 - 1.2,
      LIFTS > 0 and 3.27 or 0.02)
    movers[i + 1] = Unit.mover(World.spawn_unit(world, 'walker', at))
  end
end
local function walk(frame)
  local velocity = Vector3(math.cos(frame * 0.05), math.sin(frame * 0.05), -1)
  for _, mover in ipairs(movers) do Mover.move(mover, velocity / 60, 1 / 60) end
end
local function lift(frame)
  for i, unit in ipairs(lifts) do
    Unit.set_local_position(unit, 1, Vector3(i * 8 - 44, 0, 3 + math.sin(frame * 0.01)))
  end
end
always, timed = ALWAYS, TIMED
function update(dt)
  local frame = Application.frame_index()
  if frame < 20 then walk(frame) end
  if always then always(frame) end
  if frame % 2 == 0 then timed(frame) end
  World.update(world, dt)
  assert(LIFTS == 0 or Mover.standing_on(movers[1]))
end
function render() end
";

/// Returns the microseconds per mover of the work in every other frame.
fn time_each(lifts: usize, always: &str, timed: &str) -> f64 {
    let name = format!("engine-bench-movers-{}-{lifts}-{timed}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&folder.0).expect("the folder can be made");
    let main = MAIN
        .replace("LIFTS", &lifts.to_string())
        .replace("MOVERS", &MOVERS.to_string())
        .replace("ALWAYS", always)
        .replace("TIMED", timed);
    for (file, text) in [("main.lua", &*main), ("walker.unit", WALKER), ("lift.unit", LIFT)] {
        std::fs::write(folder.0.join(file), text).expect("it can be written");
    }
    let mut app = start(launch(&folder.0));
    frames(&mut app, 60);
    let times = frames(&mut app, FRAMES);
    let every = |first: usize| median(times.iter().copied().skip(first).step_by(2).collect());
    // The first frame has an odd number.
    let (without, with) = (every(0), every(1));
    (with - without) * 1e3 / MOVERS as f64
}

/// Returns the row of a time. Other load on the machine can exceed the measured time and make it
/// negative.
fn measured(name: &str, lifts: usize, always: &str, timed: &str) -> Row {
    let value = time_each(lifts, always, timed);
    let row = named(name.to_string(), value, "us", None);
    match value > 0.0 {
        true => row,
        false => Row { measured: f64::NAN, note: "not measured: disturbed".to_string(), ..row },
    }
}

pub fn movers() -> Group {
    Group {
        name: "movers",
        title: "movers that walk, and are carried",
        workload: "100 movers, 1.2 m apart in groups of ten, each of which walks in a circle at a \
                   metre a second with Mover.move, pressed to the ground; on a plane, and each \
                   group on a lift that goes up and down. The frames without moves are subtracted. \
                   Carried: the lifts are moved in every other frame, and the movers stand; those \
                   frames' World.update, with the ten lifts, without that of the others.",
        rows: vec![
            measured("a move on the ground", 0, "nil", "walk"),
            measured("a move on a lift", 10, "lift", "walk"),
            measured("carried by a lift, each", 10, "nil", "lift"),
        ],
    }
}
