//! Tests of navigation meshes that are baked when levels are compiled: they are those that a game
//! would bake, they follow every file that they are baked from, and other actors are baked when the
//! level is spawned.

use super::game_folder::GameFolder;
use super::start::start;
use engine::app::resource_kinds::KINDS;
use engine::app::{self, App, GameLaunch};
use engine::engine::level_navigation::ClassMesh;
use engine::foundation::Vec3;
use engine::foundation::hash::murmur64a;
use engine::foundation::random::Random;
use engine::resource::compile::{CompileResult, CompileTarget, compile, read_data};
use engine::resource::index::ResourceIndex;
use engine::resource::resource_name::ResourceName;
use engine::system::navigation::mesh::NavigationMesh;
use engine::system::navigation::search::{PolygonPath, Searcher};
use engine::world::level_navigation::CompiledMeshes;
use std::time::{Duration, Instant};

/// The level is spawned in the second frame, so that a test can change what is known before.
const MAIN: &str = r#"
local world, level
function init() world = Application.new_world() end
function update(dt)
  World.update(world, dt)
  level = level or World.spawn_level(world, "yard")
end
"#;

const LEVEL: &str = "units = {\n\
                     floor = { unit = \"floor\" }\n\
                     crate = { unit = \"crate\" position = [3, 2, 0] rotation = [0, 0, 30] }\n\
                     far = { unit = \"crate\" position = [-6, -5, 0] scale = [2, 1, 1] }\n}\n\
                     levels = { shed = { level = \"shed\" position = [0, 14, 0.25] } }\n\
                     navigation = {\n\
                     agents = { small = { radius = 0.4 } \
                     large = { radius = 1 costs = { mud = 8 } } }\n\
                     areas = { mud = { cost = 4 } }\n\
                     volumes = { pond = { area = \"mud\" shape = \"box\" size = [4, 4, 1] } }\n\
                     blockers = { rock = { shape = \"cylinder\" radius = 1 height = 2 \
                     position = [-6, 6, 0] } }\n\
                     links = { hop = { from = [0, 0, 0] to = [0, 8, 0] } }\n\
                     jumps = { gap = { distance = 6 up = 1 down = 1 } }\n\
                     seeds = [[0, 0, 0]]\n}\n";
const FLOOR: &str = "components = { physics = { actors = { floor = { type = \"static\" \
                     shape = \"mesh\" mesh = \"floor\" } } } }";
const CRATE: &str = "components = { physics = { actors = { body = { type = \"static\" \
                     shape = \"box\" size = [2, 2, 2] position = [0, 0, 1] } \
                     ball = { type = \"dynamic\" shape = \"box\" size = [1, 1, 1] } } } }";
const SHED: &str = "units = { floor = { unit = \"slab\" } }";
const SLAB: &str = "components = { physics = { actors = { slab = { type = \"static\" \
                    shape = \"box\" size = [6, 4, 0.5] position = [0, 0, -0.25] } } } }";

/// A square of ground as a glTF file, whose corners are in another file.
const GLTF: &str = r#"{ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
  "nodes": [{ "name": "ground", "mesh": 0 }],
  "meshes": [{ "name": "ground", "primitives": [{ "attributes": { "POSITION": 0 },
    "indices": 1 }] }],
  "buffers": [{ "uri": "floor.bin", "byteLength": 60 }],
  "bufferViews": [{ "buffer": 0, "byteOffset": 0, "byteLength": 48 },
    { "buffer": 0, "byteOffset": 48, "byteLength": 12 }],
  "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3",
    "min": [-99, 0, -99], "max": [99, 0, 99] },
    { "bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR" }] }"#;

/// Returns the corners of the ground, which reaches this far to each side, and its triangles.
fn corners(half: f32) -> Vec<u8> {
    let points = [[-half, 0.0, half], [half, 0.0, half], [half, 0.0, -half], [-half, 0.0, -half]];
    let points = points.as_flattened().iter().flat_map(|number| number.to_le_bytes());
    let indices = [0u16, 1, 2, 0, 2, 3];
    points.chain(indices.iter().flat_map(|index| index.to_le_bytes())).collect()
}

fn folder(name: &str) -> GameFolder {
    let folder = GameFolder::new("navigation-compile", name);
    folder.write("main.lua", MAIN);
    folder.write("yard.level", LEVEL);
    folder.write("shed.level", SHED);
    folder.write("floor.unit", FLOOR);
    folder.write("crate.unit", CRATE);
    folder.write("slab.unit", SLAB);
    folder.write("floor.gltf", GLTF);
    std::fs::write(folder.join("floor.bin"), corners(10.0)).unwrap();
    folder
}

fn compiled(folder: &GameFolder) -> CompileResult {
    let target = CompileTarget {
        root: folder,
        data: folder.join(".data"),
        kinds: KINDS,
        source_platform: "linux",
        release: false,
        exclude: &[],
        threads: 2,
    };
    compile(&target, &|_, _| {}).unwrap()
}

fn mesh_name() -> ResourceName {
    ResourceName::new("navigation_mesh", "yard")
}

/// Returns the data of the meshes of the level.
fn data(folder: &GameFolder, index: &ResourceIndex) -> Vec<u8> {
    let entry = &index.variants(&mesh_name())[0];
    read_data(&folder.join(".data"), &entry.data).unwrap()
}

struct Game {
    folder: GameFolder,
    app: App,
}

impl Game {
    fn start(folder: GameFolder) -> Game {
        let launch = GameLaunch::headless(app::Game::Folder(folder.to_path_buf()));
        let app = start(GameLaunch { watch: true, ..launch });
        Game { folder, app }
    }

    fn frame(&mut self) {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
    }

    fn wait_until(&mut self, condition: &str, mut holds: impl FnMut(&mut Game) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < Duration::from_secs(60), "{condition}");
            std::thread::sleep(Duration::from_millis(5));
            self.frame();
        }
    }

    /// Returns the meshes of the level's classes.
    fn meshes(&mut self) -> Vec<(&ClassMesh, &NavigationMesh)> {
        let navigation = &self.app.vm().engine().worlds.navigation;
        let meshes = navigation.levels.iter().flat_map(|level| &level.meshes);
        meshes.map(|class| (class, navigation.meshes.get(class.mesh.0).unwrap())).collect()
    }

    fn are_compiled(&mut self) -> Vec<bool> {
        self.meshes().iter().map(|(class, _)| class.is_compiled).collect()
    }

    fn has_ground(&mut self, x: f32, y: f32) -> bool {
        let (_, mesh) = self.meshes()[0];
        mesh.nearest(Vec3::new(x, y, 0.0), 0.2, 1.0).is_some()
    }
}

/// The corners, the neighbours and the area of a polygon.
type PolygonState = (Vec<Vec3>, Vec<u32>, u8);

/// Everything that a mesh is.
fn state(mesh: &NavigationMesh) -> (Vec<u64>, Vec<PolygonState>) {
    let mut numbers = Vec::new();
    mesh.write_state(&mut |number| numbers.push(number));
    let polygon = |at: u32| {
        (mesh.corners(at).to_vec(), mesh.neighbors(at).collect::<Vec<u32>>(), mesh.area(at))
    };
    (numbers, (0..mesh.num_polygons() as u32).map(polygon).collect())
}

#[test]
fn compiled_meshes_are_those_that_a_spawned_level_bakes() {
    let mut loaded = Game::start(folder("loaded"));
    loaded.frame();
    assert_eq!(loaded.are_compiled(), [true, true]);
    let mut baked = Game::start(folder("baked"));
    let store = &mut baked.app.vm().engine().assets.store;
    let mut index = store.index().clone();
    index.entries.retain(|entry| entry.resource != mesh_name());
    store.replace(index, &[]);
    baked.frame();
    assert_eq!(baked.are_compiled(), [false, false]);
    for ((a, one), (b, other)) in loaded.meshes().into_iter().zip(baked.meshes()) {
        assert!(one.baked_tiles() == other.baked_tiles() && one.num_polygons() > 10);
        assert_eq!(state(one), state(other));
        assert_eq!((&a.class, &a.edits), (&b.class, &b.edits));
    }
    let [(small, _), ..] = loaded.meshes()[..] else { panic!("two classes") };
    assert!(small.edits.iter().any(|edit| edit.kind == "jumps" && edit.has_effect));
}

/// Returns a folder with a map that lies on the floor.
fn folder_with_map(name: &str, level: &str, (map, pixels): (&str, u32)) -> GameFolder {
    let folder = folder(name);
    folder.write("yard.level", level.replace("units = {", "units = { cave = { unit = \"cave\" }"));
    folder.write(
        "cave.unit",
        format!(
            "components = {{ walls = {{ component = \"tilemap\" map = \"maps/cave\" \
             plane = \"flat\" pixels_per_metre = {pixels} collision = true }} }}"
        ),
    );
    std::fs::create_dir_all(folder.join("maps")).unwrap();
    folder.write("maps/cave.tmx", map);
    let picture = include_bytes!("lua/maps/rock.png");
    std::fs::write(folder.join("maps/rock.png"), picture).unwrap();
    folder
}

#[test]
fn solid_tiles_have_no_ground_inside() {
    // A block of 8 by 6 metres with a yard of 3 by 3. The first row is the upper one.
    let row = |row: usize| {
        let tile = |column: usize| {
            let is_block = (1..9).contains(&column) && (1..7).contains(&row);
            let is_yard = (5..8).contains(&column) && (3..6).contains(&row);
            if is_block && !is_yard { "2," } else { "1," }
        };
        (0..10).map(tile).collect::<String>()
    };
    let rows = (0..8).map(row).collect::<String>();
    let map = include_str!("lua/maps/cave.tmx");
    let (start, rest) = map.split_once("<layer").unwrap();
    let (_, end) = rest.split_once("</layer>\n <layer").unwrap();
    let (_, end) = end.split_once("</layer>").unwrap();
    let map = format!(
        "{start}<layer id=\"1\" name=\"ground\" width=\"10\" height=\"8\">\
         <data encoding=\"csv\">{}</data></layer>{end}",
        rows.trim_end_matches(',')
    );
    let map = map.replace("width=\"4\" height=\"3\"", "width=\"10\" height=\"8\"");
    // Without seeds, which would leave the ground inside out.
    let level = LEVEL
        .replace("seeds = [[0, 0, 0]]\n", "")
        .replace("radius = 0.4", "radius = 0.4 region_min = 0.5")
        .replace("position = [3, 2, 0]", "position = [-3, 2, 0]");
    let check = |game: &mut Game, is_compiled: bool| {
        game.frame();
        assert_eq!(game.are_compiled(), [is_compiled; 2]);
        let mut random = Random::seed(3);
        for (_, mesh) in game.meshes() {
            let is_inside = |at: Vec3| {
                let is_block = (1.0..9.0).contains(&at.x) && (1.0..7.0).contains(&at.y);
                let is_yard = (5.0..8.0).contains(&at.x) && (2.0..5.0).contains(&at.y);
                is_block && !is_yard
            };
            for _ in 0..2000 {
                let at = mesh.random_point(|| random.next_f64()).unwrap().position;
                assert!(!is_inside(at), "{at}");
            }
            assert!(mesh.nearest(Vec3::new(3.0, 4.0, 0.0), 1.5, 20.0).is_none());
            // A target inside is put on the ground beside it, to which a path leads.
            let target = mesh.snap(Vec3::new(1.5, 4.0, 0.0)).unwrap();
            assert!(target.position.x < 1.0, "{}", target.position);
            let from = mesh.snap(Vec3::new(5.0, -5.0, 0.0)).unwrap();
            let (mut searcher, mut path) = (Searcher::default(), PolygonPath::default());
            searcher.search(mesh, from, target, 4096, &mut path);
            assert_eq!(path.partial, None);
        }
        assert!(game.has_ground(6.5, 3.5), "the yard");
        let (_, small) = game.meshes()[0];
        state(small)
    };
    let mut loaded = Game::start(folder_with_map("block", &level, (&map, 8)));
    let compiled = check(&mut loaded, true);
    let mut baked = Game::start(folder_with_map("block-baked", &level, (&map, 8)));
    let store = &mut baked.app.vm().engine().assets.store;
    let mut index = store.index().clone();
    index.entries.retain(|entry| entry.resource != mesh_name());
    store.replace(index, &[]);
    assert_eq!(check(&mut baked, false), compiled);
}

#[test]
fn tile_maps_are_part_of_compiled_meshes() {
    let map = include_str!("lua/maps/cave.tmx");
    let game = |name: &str, map: &str| Game::start(folder_with_map(name, LEVEL, (map, 4)));
    let mut with_walls = game("tiles", map);
    with_walls.frame();
    assert_eq!(with_walls.are_compiled(), [true, true]);
    // The upper row of the map is solid.
    assert!(!with_walls.has_ground(4.0, 5.0));
    let mut without = game("no-tiles", &map.replace("2,2,2,2", "1,1,1,1"));
    without.frame();
    assert_eq!(without.are_compiled(), [true, true]);
    assert!(without.has_ground(4.0, 5.0));
}

#[test]
fn compiled_meshes_follow_the_files_that_they_are_baked_from() {
    let folder = folder("follow");
    let first = compiled(&folder);
    assert_eq!(first.problems, [""; 0]);
    let meshes = CompiledMeshes::read_data(&data(&folder, &first.index)).unwrap();
    assert_eq!(
        meshes.classes.iter().map(|class| &class.name[..]).collect::<Vec<_>>(),
        ["small", "large"]
    );
    let entry = &first.index.variants(&mesh_name())[0];
    let files: Vec<&str> = entry.files.iter().map(|stamp| &stamp.path[..]).collect();
    for file in ["yard.level", "shed.level", "floor.unit", "slab.unit", "floor.gltf", "floor.bin"] {
        assert!(files.contains(&file), "{file}: {files:?}");
    }
    let has_changed = |wanted: bool| {
        let compiled = compiled(&folder);
        assert_eq!(compiled.problems, [""; 0]);
        assert_eq!(compiled.changed.contains(&mesh_name()), wanted, "{:?}", compiled.changed);
        compiled
    };
    has_changed(false);
    let before = data(&folder, &first.index);
    // The corners of the model, a unit, a level inside, and the settings of a class.
    std::fs::write(folder.join("floor.bin"), corners(12.0)).unwrap();
    has_changed(true);
    folder.write("crate.unit", CRATE.replace("[2, 2, 2]", "[2, 3, 2]"));
    has_changed(true);
    folder.write("shed.level", SHED.replace("\"slab\"", "\"slab\" position = [1, 0, 0]"));
    has_changed(true);
    folder.write("yard.level", LEVEL.replace("radius = 0.4", "radius = 0.5"));
    has_changed(true);
    // A dynamic actor is no ground, and the same files are the same mesh.
    folder.write("crate.unit", CRATE.replace("size = [1, 1, 1]", "size = [2, 1, 1]"));
    folder.write("shed.level", SHED);
    folder.write("yard.level", LEVEL);
    std::fs::write(folder.join("floor.bin"), corners(10.0)).unwrap();
    let last = has_changed(true);
    assert!(data(&folder, &last.index) == before, "the same level has the same bytes");
}

#[test]
fn a_bake_that_fails_in_a_compile_keeps_the_old_mesh() {
    let folder = folder("fails");
    let first = compiled(&folder);
    let before = data(&folder, &first.index);
    let fine = "radius = 1 costs = { mud = 8 }";
    folder.write("yard.level", LEVEL.replace(fine, "cell_size = 0.01 cell_height = 0.01"));
    std::fs::write(folder.join("floor.bin"), corners(60.0)).unwrap();
    let failed = compiled(&folder);
    let [problem] = &failed.problems[..] else { panic!("{:?}", failed.problems) };
    assert!(problem.starts_with("yard.level: navigation: agents 'large': "), "{problem}");
    assert!(problem.contains("CELLS_MAX"), "{problem}");
    assert!(data(&folder, &failed.index) == before);
    // The failure is known, and the next compile says it again without a bake.
    assert_eq!(compiled(&folder).problems, failed.problems);
    folder.write("yard.level", LEVEL);
    assert_eq!(compiled(&folder).problems, [""; 0]);
}

#[test]
fn ground_that_is_too_far_is_an_error_of_the_compile() {
    let folder = folder("far");
    let first = compiled(&folder);
    let before = data(&folder, &first.index);
    folder.write("yard.level", LEVEL.replace("[-6, -5, 0]", "[-6, -2000000, 0]"));
    let failed = compiled(&folder);
    let [problem] = &failed.problems[..] else { panic!("{:?}", failed.problems) };
    assert!(problem.starts_with("yard.level: navigation: vertex "), "{problem}");
    assert!(problem.ends_with("coordinates must be within 1000000 metres"), "{problem}");
    assert!(data(&folder, &failed.index) == before, "the last mesh stays");
}

#[test]
fn files_that_were_missing_are_baked_once_they_exist() {
    let folder = folder("missing");
    let properties = "global.physics_properties";
    std::fs::remove_file(folder.join("slab.unit")).unwrap();
    let classes = || {
        let compiled = compiled(&folder);
        let meshes = CompiledMeshes::read_data(&data(&folder, &compiled.index)).unwrap();
        meshes.classes.len()
    };
    assert_eq!(classes(), 0, "a level inside has a unit that does not exist");
    folder.write("slab.unit", "inherit = \"base\"");
    assert_eq!(classes(), 0, "the unit inherits from one that does not exist");
    folder.write("base.unit", SLAB);
    assert_eq!(classes(), 2);
    let compiled = compiled(&folder);
    let entry = &compiled.index.variants(&mesh_name())[0];
    let stamp = entry.files.iter().find(|stamp| stamp.path == properties);
    assert!(stamp.is_some_and(|stamp| stamp.is_missing()), "{:?}", entry.files);
}

#[test]
fn a_mesh_depends_on_the_current_files_of_broken_units() {
    let folder = folder("broken");
    let before = data(&folder, &compiled(&folder).index);
    let broken = "components = {";
    folder.write("crate.unit", broken);
    let compile_broken = || {
        let compiled = compiled(&folder);
        assert_eq!(compiled.problems.len(), 1, "{:?}", compiled.problems);
        assert!(data(&folder, &compiled.index) == before);
        let files = &compiled.index.variants(&mesh_name())[0].files;
        let stamp = files.iter().find(|stamp| stamp.path == "crate.unit").unwrap();
        assert_eq!(stamp.content, murmur64a(broken.as_bytes(), 0), "no compile bakes it again");
    };
    compile_broken();
    compile_broken();
    folder.write("crate.unit", CRATE.replace("[2, 2, 2]", "[2, 3, 2]"));
    let fixed = compiled(&folder);
    assert_eq!(fixed.problems, [""; 0]);
    assert!(data(&folder, &fixed.index) != before);
}

#[test]
fn a_saved_level_is_part_of_the_next_compiled_mesh() {
    let mut game = Game::start(folder("saved"));
    game.frame();
    assert!(game.has_ground(0.0, 14.0) && !game.has_ground(9.0, 14.0));
    let moved = SHED.replace("unit = \"slab\"", "unit = \"slab\" position = [9, 0, 0]");
    game.folder.write("shed.level", moved);
    game.wait_until("the saved level", |game| game.has_ground(9.0, 14.0));
    assert_eq!(game.are_compiled(), [true, true]);
}

#[test]
fn other_actors_than_those_of_files_are_baked_at_the_spawn() {
    let moved = folder("moved");
    moved.write("main.lua", MAIN.replace("\"yard\")", "\"yard\", Vector3(1, 0, 0))"));
    let mut game = Game::start(moved);
    game.frame();
    assert_eq!(game.are_compiled(), [false, false], "it is at another position");
    assert!(game.has_ground(10.3, 0.0));
    let scripts = folder("scripts");
    scripts.write(
        "components/adds.lua",
        "local Adds = {}\nfunction Adds.spawned(units)\n  Unit.create_actor(units[1], \"more\", \
         { type = \"static\", shape = \"box\", size = { 40, 2, 1 } })\nend\nreturn Adds\n",
    );
    scripts.write("slab.unit", SLAB.replace("physics =", "adds = {} physics ="));
    let mut game = Game::start(scripts);
    game.frame();
    assert_eq!(game.are_compiled(), [false, false], "a script has added ground");
    assert!(game.has_ground(18.0, 14.0));
}
