//! Tests of models, units, sheets, textures and tile maps when their files change or disappear
//! while a game runs: the objects created from them are updated, or stay.

use super::game_folder::save;
use super::start::start;
use engine::app::{self, App, GameLaunch};
use engine::foundation::{Vec3, log};
use engine::system::physics::QueryFilter;
use engine::world::WorldId;
use engine::world::scene_graph::NodePose;
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

/// Returns a model with a number of triangles and of nodes without meshes.
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
        let launch = GameLaunch::headless(app::Game::Folder(folder.clone()));
        let app = start(GameLaunch { watch: true, ..launch });
        Game { folder, app }
    }

    /// Plays a frame. Returns the number of triangles of the unit spawned at the start.
    fn triangles(&mut self) -> u32 {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
        let engine = self.app.vm().engine();
        let (_, mesh) = engine.worlds.scenes.meshes.slots.iter().next().expect("its unit lives");
        engine.assets.models.entry(mesh.mesh).triangles
    }

    /// Returns the number of nodes of a unit spawned now, or the error.
    fn nodes(&mut self) -> Result<usize, String> {
        self.triangles();
        let engine = self.app.vm().engine();
        let resource = engine.worlds.unit_resource(&mut engine.assets, "units/thing");
        resource.map(|resource| resource.parents.len()).map_err(|fault| fault.message)
    }

    /// Plays until a condition holds.
    fn wait_until(&mut self, condition: &str, mut holds: impl FnMut(&mut Game) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < Duration::from_secs(60), "{condition}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Returns true if an error after the first `count` errors names the resource. Other tests of this
/// process log errors, too.
fn is_logged(count: u64, resource: &str) -> bool {
    log::errors_since(count).iter().any(|error| error.contains(resource))
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn units_follow_changes_of_their_model_file() {
    let mut game = Game::start("model-changes");
    assert_eq!((game.triangles(), game.nodes()), (1, Ok(2)));
    save(&game.folder.join("units/body.gltf"), model(5, 2));
    game.wait_until("the unit has other triangles", |game| game.triangles() == 5);
    assert_eq!(game.nodes(), Ok(4), "the next unit has other nodes");
    let errors = log::error_count();
    save(&game.folder.join("units/body.gltf"), "{ broken");
    game.wait_until("the change is reported", |game| {
        game.triangles();
        is_logged(errors, "units/body")
    });
    assert_eq!((game.triangles(), game.nodes()), (5, Ok(4)), "what was good stays");
}

#[test]
fn units_survive_removal_of_their_files() {
    let mut game = Game::start("model-gone");
    assert_eq!(game.nodes(), Ok(2));
    fs::remove_file(game.folder.join("units/thing.unit")).unwrap();
    game.wait_until("the file is gone", |game| game.nodes().is_err());
    let message = game.nodes().unwrap_err();
    assert!(message.starts_with("there is no unit 'units/thing'"), "{message}");
    assert_eq!(game.triangles(), 1);
    fs::remove_file(game.folder.join("units/body.gltf")).unwrap();
    save(&game.folder.join("units/thing.unit"), "data = { a = 1 }");
    game.wait_until("there is another", |game| game.nodes() == Ok(1));
    assert_eq!(game.triangles(), 1, "what was spawned lives on");
}

#[test]
fn characters_follow_changes_of_their_animation_files() {
    let mut game = Game::start("animation-changes");
    let write = |game: &Game, name: &str, text: &str| {
        save(&game.folder.join("units").join(name), text);
    };
    let column = include_str!("lua/models/column.gltf");
    let part = |end: &str| format!("source = \"units/column#Rise\" loop = true range = [0, {end}]");
    write(&game, "column.gltf", column);
    write(&game, "part.animation", &part("0.5"));
    let unit = "model = \"units/column\" components = { animation = { clip = \"units/part\" } }";
    write(&game, "riser.unit", unit);
    let mut row = 0;
    game.wait_until("the unit can be spawned", |game| {
        game.triangles();
        let engine = game.app.vm().engine();
        let resource = engine.worlds.unit_resource(&mut engine.assets, "units/riser");
        let Ok(resource) = resource else { return false };
        let (world, _) = engine.worlds.slots.iter().next().expect("the game has a world");
        let spawned = engine.spawn_unit(WorldId(world), &resource, &NodePose::IDENTITY);
        row = spawned.unwrap().row();
        true
    });
    let seconds = |game: &mut Game| {
        game.triangles();
        let character = game.app.vm().engine().worlds.animations.of(row).expect("it lives");
        let playing = &character.playing()[0];
        assert_eq!(character.playing().len(), 1);
        (character.model.clips[usize::from(playing.clip)].clip.seconds, playing.options.range[1])
    };
    assert_eq!(seconds(&mut game), (0.5, 0.5));
    write(&game, "part.animation", &part("0.25"));
    game.wait_until("the clip is shorter", |game| seconds(game) == (0.25, 0.25));
    let errors = log::error_count();
    write(&game, "column.gltf", &column.replace("\"Rise\"", "\"Climb\""));
    game.wait_until("the change of the source is reported", |game| {
        game.triangles();
        is_logged(errors, "units/part.animation")
    });
    assert_eq!(seconds(&mut game), (0.25, 0.25), "the last version stays");
    write(&game, "part.animation", &part("0.75").replace("Rise", "Climb"));
    game.wait_until("the clip is longer", |game| seconds(game) == (0.75, 0.75));
    let chunks = |game: &mut Game| {
        let character = game.app.vm().engine().worlds.animations.of(row).expect("it lives");
        let clip = &character.model.clips[usize::from(character.playing()[0].clip)].clip;
        clip.chunks().map(|chunks| chunks.count())
    };
    assert_eq!(chunks(&mut game), None);
    let streamed = |end: &str| part(end).replace("Rise", "Climb") + " stream = 0.25";
    for (end, seconds_now, chunks_now) in [("1", 1.0, 4), ("0.5", 0.5, 2)] {
        write(&game, "part.animation", &streamed(end));
        game.wait_until("the clip is streamed", |game| seconds(game).0 == seconds_now);
        assert_eq!(chunks(&mut game), Some(chunks_now));
        game.triangles();
    }
    write(&game, "part.animation", &part("0.25").replace("Rise", "Climb"));
    game.wait_until("the clip is whole again", |game| seconds(game) == (0.25, 0.25));
    assert_eq!(chunks(&mut game), None);
}

/// Returns an image of `columns` by `rows` blocks of 4 x 4 texels, in one color.
fn tga(columns: u16, rows: u16, level: u8) -> Vec<u8> {
    let (width, height) = (columns * 4, rows * 4);
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
    bytes.extend([24, 0]);
    bytes.extend(vec![level; usize::from(width) * usize::from(height) * 3]);
    bytes
}

/// Returns a map with two rows of its first tile.
fn map(columns: usize) -> String {
    let tiles = vec!["1"; columns * 2].join(",");
    format!(
        r#"{{"type":"map","orientation":"orthogonal","width":{columns},"height":2,"tilewidth":4,
        "tileheight":4,"infinite":false,"tilesets":[{{"firstgid":1,"name":"rock","image":"rock.tga",
        "imagewidth":8,"imageheight":4,"tilewidth":4,"tileheight":4,"columns":2,"tilecount":2,
        "margin":0,"spacing":0}}],"layers":[{{"type":"tilelayer","name":"ground","width":{columns},
        "height":2,"x":0,"y":0,"opacity":1,"visible":true,"class":"solid","data":[{tiles}]}}]}}"#
    )
}

impl Game {
    /// Writes a unit's file and the files that it shows, and spawns the unit as soon as all are
    /// compiled.
    fn spawn(&mut self, unit: &str, files: &[(&str, &[u8])]) {
        for (file, bytes) in files {
            save(&self.folder.join(file), bytes);
        }
        save(&self.folder.join("units/flat.unit"), unit);
        self.wait_until("the unit is compiled", |game| {
            game.triangles();
            let engine = game.app.vm().engine();
            let Ok(resource) = engine.worlds.unit_resource(&mut engine.assets, "units/flat") else {
                return false;
            };
            let world = engine.worlds.slots.iter().next().map(|(handle, _)| WorldId(handle));
            engine.spawn_unit(world.unwrap(), &resource, &NodePose::IDENTITY).unwrap();
            true
        });
    }
}

#[test]
fn sprite_follows_changes_of_its_sheet() {
    let mut game = Game::start("sprite-changes");
    let sheet = |milliseconds: u32| {
        format!("image = \"units/hero.tga\" frame = [4, 4] duration = {milliseconds}")
    };
    let unit = "components = { body = { component = \"sprite\", sheet = \"units/hero\" } }";
    let (picture, text) = (tga(2, 1, 9), sheet(100));
    game.spawn(unit, &[("units/hero.tga", &picture), ("units/hero.sheet", text.as_bytes())]);
    let sequence = |game: &mut Game| {
        game.triangles();
        let sequence = &game.app.vm().engine().worlds.scenes.sprites.sequences[0];
        (sequence.frames.len(), (sequence.seconds() * 1000.0).round())
    };
    assert_eq!(sequence(&mut game), (2, 200.0));
    save(&game.folder.join("units/hero.sheet"), sheet(300));
    game.wait_until("frames last longer", |game| sequence(game) == (2, 600.0));
    save(&game.folder.join("units/hero.tga"), tga(4, 1, 9));
    game.wait_until("there are more frames", |game| sequence(game) == (4, 1200.0));
    let errors = log::error_count();
    fs::remove_file(game.folder.join("units/hero.sheet")).unwrap();
    game.wait_until("the change is reported", |game| {
        sequence(game);
        is_logged(errors, "units/hero")
    });
    assert_eq!(sequence(&mut game), (4, 1200.0), "what plays goes on");
}

#[test]
fn textures_with_a_transparent_color_follow_their_picture() {
    let mut game = Game::start("color-changes");
    let path = game.folder.join("units/rock.tga");
    save(&path, tga(2, 1, 9));
    let names = ["units/rock", "units/rock#090909", "units/rock#0a0a0a"];
    game.wait_until("the textures are found", |game| {
        game.triangles();
        let assets = &mut game.app.vm().engine().assets;
        names.iter().all(|name| assets.textures.find(&mut assets.store, name).is_ok())
    });
    let widths = |game: &mut Game| {
        game.triangles();
        let textures = &game.app.vm().engine().assets.textures;
        names.map(|name| {
            let entry = textures.entry(textures.get_loaded(name).unwrap());
            entry.loaded.then_some(entry.width)
        })
    };
    assert_eq!(widths(&mut game), [Some(8); 3]);
    save(&path, tga(4, 1, 9));
    game.wait_until("all are wider", |game| widths(game) == [Some(16); 3]);
    fs::remove_file(&path).unwrap();
    game.wait_until("all are checkerboards", |game| widths(game) == [None; 3]);
    save(&path, tga(3, 1, 9));
    game.wait_until("all are loaded again", |game| widths(game) == [Some(12); 3]);
}

/// Returns true if a ray from above hits a body.
fn has_ground(game: &mut Game, x: f32) -> bool {
    let physics = &game.app.vm().engine().worlds.physics;
    let (_, world) = physics.worlds.iter().next().unwrap();
    let (from, down) = (Vec3::new(x, 0.0, 5.0), Vec3::NEG_Z);
    world.simulation.raycast(from, down, 9.0, &QueryFilter::DEFAULT).is_some()
}

#[test]
fn reloaded_tile_map_keeps_the_games_changes() {
    let mut game = Game::start("map-changes");
    let unit = "components = { ground = { component = \"tilemap\", map = \"units/yard\", \
                collision = true } }";
    let (picture, text) = (tga(2, 1, 9), map(3));
    game.spawn(unit, &[("units/rock.tga", &picture), ("units/yard.tmj", text.as_bytes())]);
    let engine = game.app.vm().engine();
    let (id, pieces) = {
        let map = engine.worlds.scenes.maps.iter().next().unwrap();
        (map.map, map.pieces.len())
    };
    assert_eq!(pieces, 1);
    assert!(engine.assets.tilemaps.of_mut(id).set_tile(0, 2, 1, 2));
    let tiles = |game: &mut Game| -> Vec<Option<u32>> {
        game.triangles();
        let map = game.app.vm().engine().assets.tilemaps.of(id);
        [1, 2, 40].map(|column| map.tile(0, column, 1)).to_vec()
    };
    assert_eq!(tiles(&mut game), [Some(1), Some(2), None]);
    assert_eq!([0.05, 1.0].map(|x| has_ground(&mut game, x)), [true, false]);
    save(&game.folder.join("units/yard.tmj"), map(40));
    game.wait_until("it is wider", |game| tiles(game)[2].is_some());
    assert_eq!(tiles(&mut game), [Some(1), Some(2), Some(1)]);
    assert_eq!([0.05, 1.0].map(|x| has_ground(&mut game, x)), [true, true]);
    let maps = &game.app.vm().engine().worlds.scenes.maps;
    assert_eq!(maps.iter().next().unwrap().pieces.len(), 2);
    let errors = log::error_count();
    save(&game.folder.join("units/yard.tmj"), "{ broken");
    game.wait_until("the change is reported", |game| {
        tiles(game);
        is_logged(errors, "units/yard")
    });
    assert_eq!(tiles(&mut game), [Some(1), Some(2), Some(1)], "it stays as it was");
}

/// A model with a static triangle, whose corners are in another file.
const HILL: &str = r#"{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}],
  "nodes": [{"name": "hill", "mesh": 0, "extras": {"physics": "static"}}],
  "meshes": [{"name": "Hill", "primitives": [{"attributes": {"POSITION": 0}}]}],
  "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
  "bufferViews": [{"buffer": 0, "byteLength": 36}],
  "buffers": [{"byteLength": 36, "uri": "hill.bin"}]}"#;

/// Returns the corners of the triangle, at this height in metres.
fn corners(height: f32) -> Vec<u8> {
    let corners = [[-4.0, height, 4.0], [8.0, height, 4.0], [-4.0, height, -8.0]];
    corners.iter().flatten().flat_map(|number: &f32| number.to_le_bytes()).collect()
}

#[test]
fn existing_actors_get_the_shape_of_a_saved_model() {
    let mut game = Game::start("hill-changes");
    let files: [(&str, &[u8]); 2] =
        [("units/hill.bin", &corners(1.0)), ("units/hill.gltf", HILL.as_bytes())];
    game.spawn("model = \"units/hill\"", &files);
    let actor = |game: &mut Game| {
        let actors = game.app.vm().engine().worlds.physics.actors.iter();
        actors.map(|(handle, _)| handle).next()
    };
    let before = actor(&mut game);
    let height = |game: &mut Game| {
        let physics = &game.app.vm().engine().worlds.physics;
        let (_, world) = physics.worlds.iter().next().unwrap();
        let (from, down) = (Vec3::Z * 9.0, Vec3::NEG_Z);
        let hit = world.simulation.raycast(from, down, 20.0, &QueryFilter::DEFAULT);
        hit.map(|hit| hit.position.z.round())
    };
    assert_eq!(height(&mut game), Some(1.0));
    save(&game.folder.join("units/hill.bin"), corners(3.0));
    game.wait_until("the shape is new", |game| {
        game.triangles();
        height(game) == Some(3.0)
    });
    assert_eq!(actor(&mut game), before, "it is the same actor");
    let errors = log::error_count();
    save(&game.folder.join("units/hill.gltf"), HILL.replace("Hill", "Hull"));
    game.wait_until("the reason is reported", |game| {
        game.triangles();
        is_logged(errors, "keeps its old shape")
    });
    assert_eq!(height(&mut game), Some(3.0));
}
