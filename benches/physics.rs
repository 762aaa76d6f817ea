//! Physics' figures: piles of boxes that are units, with everything that a frame does for them, and
//! rays from Lua.
//!
//!     cargo bench --bench physics                    everything, as a table
//!     cargo bench --bench physics -- --json FILE     the table as JSON, too
//!
//! A miss is printed as a miss; the exit code tells only whether everything could be measured.

#[path = "spine/table.rs"]
#[allow(dead_code)]
mod table;

use engine::app::{App, Opening};
use engine::engine::Build;
use engine::system::platform::ThreadClock;
use engine::system::sound::Destination;
use std::path::PathBuf;
use table::{Group, named};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const STEP: f64 = 1.0 / 60.0;
const STEPS: usize = 180;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let json = match (words.next().as_deref(), words.next()) {
        (None, _) => None,
        (Some("--json"), Some(file)) => Some(file),
        _ => panic!("known is only: --json FILE"),
    };
    let groups = [piles(), rays()];
    groups.iter().for_each(table::print);
    table::print_sum(&groups);
    if let Some(file) = json {
        std::fs::write(&file, table::json(&groups)).expect("the JSON file cannot be written");
    }
}

/// A game's folder, removed at its end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const CRATE: &str = "
components = {
  physics = { actors = { body = { type = \"dynamic\", shape = \"box\", size = [0.5, 0.5, 0.5] } } }
}
";

/// Boxes of half a metre over a plane: in columns of 10 by 10, or of 50 (100 from 5,000 on) in a
/// bin in two dimensions, as workload 8 of the comparison with LÖVE.
const MAIN: &str = "
local world, physics
local function jitter(i) return (i * 7919 % 1000 / 1000 - 0.5) * 0.125 end
function init()
  world = Application.new_world(FLAT and '2d' or nil)
  physics = World.physics_world(world)
  PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0), FLAT and Vector3(0, 1, 0) or Vector3(0, 0, 1))
  local columns = COUNT >= 5000 and 100 or 50
  if FLAT then
    local half = columns * 0.5625 / 2 + 0.625
    PhysicsWorld.spawn_plane(physics, Vector3(-half, 0, 0), Vector3(1, 0, 0))
    PhysicsWorld.spawn_plane(physics, Vector3(half, 0, 0), Vector3(-1, 0, 0))
  end
  for i = 0, COUNT - 1 do
    local at
    if FLAT then
      local column, row = i % columns, math.floor(i / columns)
      at = Vector3((column - (columns - 1) / 2) * 0.5625 + jitter(i), 0.625 + row * 0.5625, 0)
    else
      local x, y, z = i % 10, math.floor(i / 10) % 10, math.floor(i / 100)
      at = Vector3((x - 4.5) * 0.6 + jitter(i), (y - 4.5) * 0.6 + jitter(i + 7), 0.5 + z * 0.6)
    end
    World.spawn_unit(world, 'crate', at)
  end
end
function update(dt)
  if Application.frame_index() > IDLE then World.update(world, dt) end
  RAYS(physics)
end
function render() end
";

fn open(count: usize, flat: bool, idle: usize, rays: &str) -> (App, Folder) {
    let name = format!("engine-bench-physics-{}-{count}-{flat}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&folder.0).expect("the folder can be made");
    let main = MAIN
        .replace("COUNT", &count.to_string())
        .replace("FLAT", &flat.to_string())
        .replace("IDLE", &idle.to_string())
        .replace("RAYS", rays);
    std::fs::write(folder.0.join("main.lua"), main).expect("it can be written");
    std::fs::write(folder.0.join("crate.unit"), CRATE).expect("it can be written");
    let mut app = App::open(Opening {
        game: engine::app::Game::Folder(folder.0.clone()),
        build: Build::Development,
        arguments: Vec::new(),
        seed: 1,
        deterministic: true,
        boot: None,
        forget: true,
        sandbox: true,
        coverage: false,
        lines: false,
        store: None,
        watch: false,
        threads: Some(1),
        sound: Destination::Null,
    })
    .expect("the game is right");
    app.start().unwrap_or_else(|report| panic!("{report}"));
    (app, folder)
}

/// Milliseconds of this thread's CPU time that each of so many frames takes.
fn frames(app: &mut App, count: usize) -> Vec<f64> {
    let clock = ThreadClock::of_this_thread();
    let one = |_| {
        let before = clock.seconds();
        app.frame(STEP).unwrap_or_else(|report| panic!("{report}"));
        (clock.seconds() - before) * 1e3
    };
    (0..count).map(one).collect()
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn piles() -> Group {
    let mut rows = Vec::new();
    for (flat, words) in [(false, "in 3D"), (true, "in 2D by locked axes")] {
        for (count, target) in [(1000, 0.82), (5000, 8.8)] {
            let idle = 20;
            let (mut app, _folder) = open(count, flat, idle, "(function() end)");
            let empty = mean(&frames(&mut app, idle));
            let times = frames(&mut app, STEPS);
            let (whole, most) = (mean(&times), times.iter().copied().fold(0.0, f64::max));
            rows.push(named(
                format!("{count} boxes {words}: World.update, mean of {STEPS} steps"),
                whole - empty,
                "ms",
                Some(target),
            ));
            rows.push(named(format!("{count} boxes {words}: the longest"), most, "ms", None));
        }
    }
    Group {
        name: "piles",
        title: "boxes falling into a pile, as units of a file",
        workload: "Boxes of 0.5 m over a plane, in columns of 10 by 10 (3D) or 50 and 100 columns \
                   in a bin (2D); every box a unit with one actor, spawned from Lua. World.update \
                   whole: components, physics, contacts noted, nodes written back and brought up \
                   to date, one thread; what a frame takes without World.update is taken off.",
        rows,
    }
}

const RAYS: usize = 20_000;

fn rays() -> Group {
    let cast = format!(
        "(function(physics)
           if Application.frame_index() % 2 == 0 then
             local hits, raycast, down = 0, PhysicsWorld.raycast, Vector3(0.1, 0.05, -1)
             for i = 1, {RAYS} do
               local from = Vector3((i % 100) * 0.12 - 6, (i % 73) * 0.16 - 6, 40)
               local hit, position, distance, normal, actor = raycast(physics, from, down, 100)
               if hit then hits = hits + 1 end
             end
             assert(hits > 0)
           end
         end)"
    );
    let (mut app, _folder) = open(5000, false, 1_000_000, &cast);
    frames(&mut app, 20);
    let times = frames(&mut app, 60);
    let (mut with, mut without): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (at, time) in times.iter().enumerate() {
        if at % 2 == 1 { with.push(*time) } else { without.push(*time) }
    }
    let (with, without) = (mean(&with), mean(&without));
    let (with, without) = (with.max(without), with.min(without));
    let each = (with - without) * 1e3 / RAYS as f64;
    Group {
        name: "rays",
        title: "rays from Lua against 5,000 boxes",
        workload: "20,000 PhysicsWorld.raycast in every other frame, from 40 m above a stack of \
                   5,000 boxes, slightly aslant, closest hit; position, distance, normal and actor \
                   come back. The frames without them are taken off.",
        rows: vec![
            named("a ray".to_string(), each, "us", Some(1.0)),
            named("rays a second".to_string(), 1e6 / each, "", None),
        ],
    }
}
