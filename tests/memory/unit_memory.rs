//! Measures the memory of a unit, block by block, so that growth is noticed: the memory that a unit
//! of one node with one mesh holds in every array of the engine, in the recorder that replaces a
//! renderer, and in Lua. docs/performance.md (Units) has the same sum by parts.

use super::allocator;
use super::fuzz::targets::lock_measurement;
use engine::app::{App, Game, GameLaunch};
use engine::world::scene_graph::SceneGraph;
use std::fs;
use std::path::PathBuf;

/// Script that spawns as many units in one frame as the argument says. All of them are in view.
const MAIN: &str = r#"
local world, camera, count
function init()
  world, camera, count = Application.new_world(), Application.main_camera(), Application.argv()
  Camera.set_local_position(camera, Vector3(0, -500, 0))
  Camera.set_far_range(camera, 5000)
end
function update(dt)
  for i = 1, tonumber(count) do
    World.spawn_unit(world, "units/thing", Vector3(i % 100 - 50, i % 90, i % 80 - 40))
  end
  count = 0
  World.update(world, dt)
end
function render() Application.render_world(world, camera) end
"#;

/// First number of units. Arrays that double their capacity have no spare capacity at this number
/// and at twice this number.
const FIRST: usize = 1 << 14;

/// Maximum memory of a unit in bytes if no array has spare capacity.
const BYTES_MAX: isize = 320;

/// A folder with the game, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("engine-unit-memory-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir_all(folder.0.join("units")).unwrap();
        fs::write(folder.0.join("main.lua"), MAIN).unwrap();
        let unit = "components = { it = { component = \"mesh\", model = \"core/models/cube\" } }";
        fs::write(folder.0.join("units/thing.unit"), unit).unwrap();
        folder
    }

    /// Returns the bytes that a game with `count` units holds, including spare capacity of arrays.
    /// The memory reserved for all nodes is allocated with the first one, regardless of its use,
    /// and is not counted.
    fn game_bytes(&self, count: usize) -> isize {
        let before = allocator::allocated_bytes() as isize;
        let opening = GameLaunch {
            arguments: vec![count.to_string()],
            seed: 1,
            threads: Some(1),
            ..GameLaunch::headless(Game::Folder(self.0.clone()))
        };
        let mut app = App::open(opening).unwrap_or_else(|error| panic!("{error}"));
        app.start().unwrap_or_else(|report| panic!("{report}"));
        for _ in 0..10 {
            app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
            app.end_frame();
        }
        app.vm().collect_all();
        assert_eq!(app.vm().engine().worlds.units.slots.len(), count);
        allocator::allocated_bytes() as isize - before + app.vm().memory().0 as isize
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn unit_memory_is_within_the_documented_size() {
    let _alone = lock_measurement();
    let folder = Folder::new();
    // The first run creates the state that exists once per process.
    folder.game_bytes(1);
    let held = [FIRST, FIRST * 2].map(|count| folder.game_bytes(count));
    let node = SceneGraph::NODE_BYTES as isize;
    let each = (held[1] - held[0]) / FIRST as isize + node;
    println!("a unit takes {each} bytes, {node} of them for its node");
    assert!(each > 200, "{each} bytes: that cannot be all");
    assert!(
        each <= BYTES_MAX,
        "a unit takes {each} bytes (BYTES_MAX is {BYTES_MAX}): make it smaller, or tell of it in \
         docs/performance.md, Units"
    );
}
