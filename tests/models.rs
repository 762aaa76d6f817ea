//! Models and units of a running game whose files change or go away: what is made of them changes
//! with them, or stays.

use engine::app::{self, App, Opening};
use engine::engine::Build;
use engine::foundation::log;
use engine::system::sound::Destination;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const MAIN: &str = r#"
local world
function init()
  world = Application.new_world()
  World.spawn_unit(world, "units/thing")
end
function update(dt) World.update(world, dt) end
"#;

/// A model of so many triangles, and so many nodes without meshes.
fn model(triangles: usize, nodes: usize) -> String {
    let more: String = (0..nodes).map(|i| format!(", {{\"name\": \"n{i}\"}}")).collect();
    let scene: String = (0..nodes).map(|i| format!(", {}", i + 1)).collect();
    let indices: Vec<String> = (0..triangles).map(|_| "AAABAAIA".to_string()).collect();
    let indices = indices.concat();
    let positions = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let count = triangles * 3;
    let bytes = count * 2;
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scenes": [{{"nodes": [0{scene}]}}],
        "nodes": [{{"name": "body", "mesh": 0}}{more}],
        "materials": [{{"name": "Wood"}}],
        "meshes": [{{"name": "Body", "primitives": [
          {{"attributes": {{"POSITION": 0}}, "indices": 1, "material": 0}}]}}],
        "accessors": [
          {{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}},
          {{"bufferView": 1, "componentType": 5123, "count": {count}, "type": "SCALAR"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}, {{"buffer": 1, "byteLength": {bytes}}}],
        "buffers": [{{"byteLength": 36, "uri": "data:;base64,{positions}"}},
          {{"byteLength": {bytes}, "uri": "data:;base64,{indices}"}}]}}"#
    )
}

struct Game {
    folder: PathBuf,
    app: App,
}

impl Game {
    fn start(name: &str) -> Game {
        let folder = std::env::temp_dir().join(format!("engine-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("units")).unwrap();
        fs::write(folder.join("main.lua"), MAIN).unwrap();
        fs::write(folder.join("units/thing.unit"), "model = \"units/body\"").unwrap();
        fs::write(folder.join("units/body.gltf"), model(1, 0)).unwrap();
        let mut app = App::open(Opening {
            game: app::Game::Folder(folder.clone()),
            build: Build::Development,
            arguments: Vec::new(),
            seed: 0,
            deterministic: true,
            boot: None,
            forget: true,
            sandbox: true,
            coverage: false,
            lines: false,
            store: None,
            watch: true,
            threads: None,
            sound: Destination::Null,
        })
        .unwrap_or_else(|error| panic!("{error}"));
        app.start().unwrap_or_else(|report| panic!("{report}"));
        Game { folder, app }
    }

    /// After a frame: how many triangles the unit that was spawned at the start has.
    fn triangles(&mut self) -> u32 {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
        let engine = self.app.vm().engine();
        let (_, mesh) = engine.scenes.meshes.slots.iter().next().expect("its unit lives");
        engine.models.entry(mesh.mesh).triangles
    }

    /// How many nodes a unit would have that was spawned now, or why it cannot be.
    fn nodes(&mut self) -> Result<usize, String> {
        self.triangles();
        let resource = self.app.vm().engine().unit_resource("units/thing");
        resource.map(|resource| resource.parents.len()).map_err(|fault| fault.message)
    }

    /// Plays until something holds.
    fn wait(&mut self, what: &str, mut holds: impl FnMut(&mut Game) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn what_is_made_of_a_model_changes_with_its_file() {
    let mut game = Game::start("model-changes");
    assert_eq!((game.triangles(), game.nodes()), (1, Ok(2)));
    fs::write(game.folder.join("units/body.gltf"), model(5, 2)).unwrap();
    game.wait("the unit has other triangles", |game| game.triangles() == 5);
    assert_eq!(game.nodes(), Ok(4), "the next unit has other nodes");
    let errors = log::error_count();
    fs::write(game.folder.join("units/body.gltf"), "{ broken").unwrap();
    game.wait("it is told", |game| {
        game.triangles();
        log::error_count() > errors
    });
    assert_eq!((game.triangles(), game.nodes()), (5, Ok(4)), "what was good stays");
}

#[test]
fn units_live_on_without_their_files() {
    let mut game = Game::start("model-gone");
    assert_eq!(game.nodes(), Ok(2));
    fs::remove_file(game.folder.join("units/thing.unit")).unwrap();
    game.wait("the file is gone", |game| game.nodes().is_err());
    let words = game.nodes().unwrap_err();
    assert_eq!(words, "there is no unit 'units/thing'");
    assert_eq!(game.triangles(), 1);
    fs::remove_file(game.folder.join("units/body.gltf")).unwrap();
    fs::write(game.folder.join("units/thing.unit"), "data = { a = 1 }").unwrap();
    game.wait("there is another", |game| game.nodes() == Ok(1));
    assert_eq!(game.triangles(), 1, "what was spawned lives on");
}
