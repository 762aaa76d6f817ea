//! Physics benchmarks: piles of boxes that are units, with all the work of a frame for them,
//! raycasts from Lua, and movers.
//!
//!     cargo bench -- physics

mod bare;
mod movers;

use crate::run::{Run, launch, start};
use crate::table::{Group, median, named};
use engine::app::{App, GameLaunch};
use engine::platform::ThreadClock;
use std::path::PathBuf;

const STEP: f64 = 1.0 / 60.0;
const STEPS: usize = 180;

pub fn run(run: &mut Run) {
    run.part("piles", piles);
    run.part("rays", rays);
    run.part("movers", movers::movers);
}

/// A game's folder, removed on drop.
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

/// Arrangement of a pile of boxes with sides of half a meter.
#[derive(Clone, Copy, PartialEq)]
enum Pile {
    /// 10 by 10 columns, a meter from box to box: bare rapier's 0.55 and 5.9 ms are for these.
    Column,
    /// Columns 0.6 m apart with small offsets, so that the boxes fall over each other.
    Heap,
    /// Columns in a bin in two dimensions, as in workload 8 of the comparison with LÖVE.
    Bin,
}

impl Pile {
    const fn label(self) -> &'static str {
        match self {
            Pile::Column => "in columns, 3D",
            Pile::Heap => "in a heap, 3D",
            Pile::Bin => "in a bin, 2D",
        }
    }

    /// Returns half the width of the bin.
    fn side(count: usize) -> f64 {
        Pile::columns(count) as f64 * 0.5625 / 2.0 + 0.625
    }

    const fn columns(count: usize) -> usize {
        if count >= 5000 { 100 } else { 50 }
    }

    fn positions(self, count: usize) -> Vec<[f64; 3]> {
        let aside = |i: usize| ((i * 7919 % 1000) as f64 / 1000.0 - 0.5) * 0.125;
        let position = |i: usize| {
            let [x, y, z] = [i % 10, i / 10 % 10, i / 100].map(|at| at as f64);
            match self {
                Pile::Column => [x - 4.5, y - 4.5, 1.0 + z],
                Pile::Heap => {
                    [(x - 4.5) * 0.6 + aside(i), (y - 4.5) * 0.6 + aside(i + 7), 0.5 + z * 0.6]
                }
                Pile::Bin => {
                    let (column, row) = (i % Pile::columns(count), i / Pile::columns(count));
                    let middle = (Pile::columns(count) - 1) as f64 / 2.0;
                    let x = (column as f64 - middle) * 0.5625 + aside(i);
                    [x, 0.625 + row as f64 * 0.5625, 0.0]
                }
            }
        };
        (0..count).map(position).collect()
    }
}

const MAIN: &str = "
local world, physics
function init()
  world = Application.new_world(FLAGS)
  physics = World.physics_world(world)
  PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0), FLAT and Vector3(0, 1, 0) or Vector3(0, 0, 1))
  if FLAT then
    PhysicsWorld.spawn_plane(physics, Vector3(-SIDE, 0, 0), Vector3(1, 0, 0))
    PhysicsWorld.spawn_plane(physics, Vector3(SIDE, 0, 0), Vector3(-1, 0, 0))
  end
  for _, place in ipairs(require('places')) do
    World.spawn_unit(world, 'crate', Vector3(place[1], place[2], place[3]))
  end
end
function update(dt)
  if Application.frame_index() > IDLE then World.update(world, dt) end
  RAYS(physics)
end
function render() end
";

fn open(count: usize, pile: Pile, pipelined: bool, idle: usize, rays: &str) -> (App, Folder) {
    let name = format!("engine-bench-physics-{}-{count}-{}", std::process::id(), pile as u8);
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&folder.0).expect("the folder can be made");
    let flat = pile == Pile::Bin;
    let flags: Vec<&str> = [(flat, "'2d'"), (pipelined, "'pipelined_physics'")]
        .into_iter()
        .filter_map(|(enabled, flag)| enabled.then_some(flag))
        .collect();
    let main = MAIN
        .replace("FLAGS", &flags.join(", "))
        .replace("FLAT", &flat.to_string())
        .replace("SIDE", &Pile::side(count).to_string())
        .replace("IDLE", &idle.to_string())
        .replace("RAYS", rays);
    std::fs::write(folder.0.join("main.lua"), main).expect("it can be written");
    std::fs::write(folder.0.join("crate.unit"), CRATE).expect("it can be written");
    let position = |[x, y, z]: [f64; 3]| format!("{{{x}, {y}, {z}}},\n");
    let positions: String = pile.positions(count).into_iter().map(position).collect();
    let positions = format!("return {{\n{positions}}}\n");
    std::fs::write(folder.0.join("places.lua"), positions).expect("it can be written");
    let threads = Some(if pipelined { 2 } else { 1 });
    (start(GameLaunch { threads, ..launch(&folder.0) }), folder)
}

/// Returns the CPU time of this thread for each of `count` frames, in milliseconds.
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

/// Returns the mean frame time of a pile without the time of an idle frame, and the longest frame,
/// in milliseconds.
fn pile_of(count: usize, pile: Pile, pipelined: bool) -> (f64, f64) {
    let idle = 20;
    let (mut app, _folder) = open(count, pile, pipelined, idle, "(function() end)");
    // The median, because in the first frames the collector still works after the spawning.
    let empty = median(frames(&mut app, idle));
    let times = frames(&mut app, STEPS);
    (mean(&times) - empty, times.iter().copied().fold(0.0, f64::max))
}

fn piles() -> Group {
    let mut rows = Vec::new();
    for pile in [Pile::Column, Pile::Bin, Pile::Heap] {
        for (count, target) in [(1000, 0.82), (5000, 8.8)] {
            let (whole, most) = pile_of(count, pile, false);
            let target = Some(target).filter(|_| pile != Pile::Heap);
            let label = format!("{count} boxes {}", pile.label());
            rows.push(named(format!("{label}: World.update, mean"), whole, "ms", target));
            let positions: Vec<[f32; 3]> = pile
                .positions(count)
                .into_iter()
                .map(|position| position.map(|at| at as f32))
                .collect();
            let side = (pile == Pile::Bin).then(|| Pile::side(count) as f32);
            let bare = mean(&bare::steps(&positions, side, STEPS));
            rows.push(named(format!("{label}: bare rapier, mean"), bare, "ms", None));
            rows.push(named(format!("{label}: the longest update"), most, "ms", None));
        }
    }
    let (own, _) = pile_of(5000, Pile::Column, true);
    let label = "5000 boxes in columns, pipelined: of the game's thread, mean";
    rows.push(named(label.to_string(), own, "ms", None));
    Group {
        name: "piles",
        title: "boxes falling into a pile, as units of a file",
        workload: "Boxes of 0.5 m over a plane, 180 steps. In columns: 10 by 10, a metre from box \
                   to box; in a bin: 50 columns (100 from 5,000 on) between two planes, as \
                   workload 8 of the comparison with LÖVE, on locked axes; in a heap: 10 by 10, \
                   0.6 m apart and slightly offset. Every box is a unit with one actor, spawned \
                   from Lua. World.update whole: components, physics, contacts recorded, nodes \
                   written back and brought up to date, one thread; the time of a frame without \
                   World.update is subtracted. Bare rapier: the same boxes over the top of a box, \
                   no units, no reports of contacts.",
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
    let (mut app, _folder) = open(5000, Pile::Heap, false, 1_000_000, &cast);
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
                   5,000 boxes, slightly tilted, closest hit; position, distance, normal and actor \
                   come back. The frames without them are subtracted.",
        rows: vec![
            named("a ray".to_string(), each, "us", Some(1.0)),
            named("rays a second".to_string(), 1e6 / each, "", None),
        ],
    }
}
