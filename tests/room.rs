//! The room that a unit takes, counted block by block, so that it cannot grow unseen: what a unit
//! of one node with one mesh holds in every array of the engine, in the recorder that stands in for
//! a renderer, and in Lua. docs/performance.md (Units) has the same sum by parts.

use engine::app::{App, Game, Opening};
use engine::engine::Build;
use engine::system::sound::Destination;
use engine::world::scene::SceneGraph;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicIsize, Ordering};

/// The system's allocator, which counts the bytes that are held.
struct Held;

static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call is handed on as it came.
unsafe impl GlobalAlloc for Held {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as the caller promised; so below.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(size as isize - layout.size() as isize, Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Held = Held;

/// Makes units in one frame, as many as the argument says; all of them are in view.
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

/// Units at the first count. Arrays that grow by doubling have no room to spare at this and at
/// twice this.
const FIRST: usize = 1 << 14;

/// The most bytes that a unit may take where no array has room to spare.
const BYTES_MAX: isize = 320;

/// A folder with the game, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("engine-room-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir_all(folder.0.join("units")).unwrap();
        fs::write(folder.0.join("main.lua"), MAIN).unwrap();
        let unit = "components = { it = { component = \"mesh\", model = \"core/models/cube\" } }";
        fs::write(folder.0.join("units/thing.unit"), unit).unwrap();
        folder
    }

    /// What a game with so many units holds, all arrays with their room to spare. The room for all
    /// nodes is taken with the first one, whatever is used of it: it does not count.
    fn held(&self, count: usize) -> isize {
        let before = HELD.load(Ordering::Relaxed);
        let opening = Opening {
            game: Game::Folder(self.0.clone()),
            build: Build::Development,
            arguments: vec![count.to_string()],
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
        };
        let mut app = App::open(opening).unwrap_or_else(|error| panic!("{error}"));
        app.start().unwrap_or_else(|report| panic!("{report}"));
        for _ in 0..10 {
            app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
            app.end_frame();
        }
        app.vm().collect_all();
        assert_eq!(app.vm().engine().units.slots.len(), count);
        HELD.load(Ordering::Relaxed) - before + app.vm().memory().0 as isize
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_unit_of_one_node_with_a_mesh_takes_no_more_room_than_is_told() {
    let folder = Folder::new();
    // What is made once in a process is made by the first of them.
    folder.held(1);
    let held = [FIRST, FIRST * 2].map(|count| folder.held(count));
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
