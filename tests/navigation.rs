//! Tests of the navigation of levels in running games: files that are saved while the game runs,
//! bakes that fail, and `engine explain`.

use super::game_folder::{GameFolder, combined_output};
use super::start::start;
use engine::app::{self, App, GameLaunch};
use engine::foundation::{Vec3, log};
use engine::system::navigation::NavigationMeshId;
use std::process::Command;
use std::time::{Duration, Instant};

const MAIN: &str = r#"
local world, level
function init()
  world = Application.new_world()
  level = World.spawn_level(world, "yard")
  local mesh = Level.navigation_mesh(level)
  NavigationMesh.add_box(mesh, 0, Vector3(-6, 6, 0.5), Vector3(2, 2, 1))
  NavigationMesh.set_dispersion(mesh, 3)
  Agent.set_destination(Unit.agent(Level.unit(level, "walker")), Vector3(8, 0, 0))
end
function update(dt) World.update(world, dt) end
"#;

const GROUND: &str = "components = { physics = { actors = { ground = { type = \"static\" \
                      shape = \"box\" size = [20, 20, 1] position = [0, 0, -0.5] } } } }";
const LEVEL: &str = "units = { ground = { unit = \"ground\" } \
                     walker = { unit = \"walker\" position = [-8, 0, 0] } }\n\
                     navigation = \"yard\"\n";
const NAVIGATION: &str = "agents = { walker = { radius = 0.4 } }\n\
                          areas = { water = { cost = 4 } }\n\
                          volumes = { pond = { area = \"water\" shape = \"box\" size = [4, 4, 1] } \
                          lost = { area = \"water\" volume = \"lost\" } }\n\
                          links = { hop = { from = [0, 0, 0] to = [0, 8, 0] } }\n\
                          seeds = [[0, 0, 0]]\n";

fn folder(name: &str) -> GameFolder {
    let folder = GameFolder::new("navigation", name);
    folder.write("main.lua", MAIN);
    folder.write("ground.unit", GROUND);
    folder.write("walker.unit", "components = { agent = { speed = 2 } }");
    folder.write("yard.level", LEVEL);
    folder.write("yard.navigation", NAVIGATION);
    folder
}

struct Game {
    folder: GameFolder,
    app: App,
}

impl Game {
    fn start(name: &str) -> Game {
        let folder = folder(name);
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

    /// Returns the mesh of the level.
    fn mesh(&mut self) -> NavigationMeshId {
        self.app.vm().engine().worlds.navigation.levels[0].meshes[0].mesh
    }

    /// Returns the area and the cost of the ground at a position; `None` without ground.
    fn ground(&mut self, x: f32, y: f32) -> Option<(u8, f32)> {
        let id = self.mesh();
        let mesh = self.app.vm().engine().worlds.navigation.meshes.get(id.0).unwrap();
        let found = mesh.nearest(Vec3::new(x, y, 0.0), 0.2, 1.0)?;
        let area = mesh.area(found.polygon);
        Some((area, mesh.area_cost(area)))
    }
}

#[test]
fn a_saved_navigation_file_changes_the_mesh_of_a_running_level() {
    let mut game = Game::start("saved");
    let mesh = game.mesh();
    assert_eq!(game.ground(0.0, 0.0), Some((2, 4.0)));
    game.folder.write(
        "yard.navigation",
        NAVIGATION.replace("cost = 4", "cost = 7").replace(
            "seeds",
            "blockers = { rock = { \
         shape = \"cylinder\" radius = 1 height = 2 position = [0, 6, 1] } }\nseeds",
        ),
    );
    game.wait_until("the new cost", |game| game.ground(0.0, 0.0) == Some((2, 7.0)));
    assert_eq!(game.mesh(), mesh, "the handle stays");
    assert_eq!(game.ground(0.0, 6.0), None);
    assert_eq!(game.ground(-6.0, 6.0), None, "what the game added");
    // The walker was under way, and goes on around the pond.
    game.wait_until("the walker arrives", |game| {
        let navigation = &game.app.vm().engine().worlds.navigation;
        navigation.agents.slots.iter().any(|(_, agent)| agent.state.name() == "arrived")
    });
    // A level that is saved moves its ground, and the mesh follows.
    let moved = LEVEL.replace("unit = \"ground\"", "unit = \"ground\" position = [5, 0, 0]");
    game.folder.write("yard.level", moved);
    game.wait_until("the moved ground", |game| game.ground(14.0, 0.0).is_some());
    assert_eq!(game.mesh(), mesh);
    // Without navigation, the mesh ends.
    game.folder.write("yard.level", LEVEL.replace("navigation = \"yard\"\n", ""));
    game.wait_until("the end of the mesh", |game| {
        game.app.vm().engine().worlds.navigation.meshes.get(mesh.0).is_none()
    });
}

#[test]
fn the_dispersion_of_the_game_stays_until_the_file_has_another() {
    let mut game = Game::start("dispersion");
    let mesh = game.mesh();
    let dispersion = |game: &mut Game| {
        let agents = &game.app.vm().engine().worlds.navigation.agents;
        agents.dispersion(mesh.0)
    };
    assert_eq!(dispersion(&mut game), 3.0);
    let other = NAVIGATION.replace("cost = 4", "cost = 7");
    game.folder.write("yard.navigation", &other);
    game.wait_until("the new cost", |game| game.ground(0.0, 0.0) == Some((2, 7.0)));
    assert_eq!(dispersion(&mut game), 3.0);
    let other = other.replace("radius = 0.4", "radius = 0.4 dispersion = 5");
    game.folder.write("yard.navigation", other);
    game.wait_until("the new dispersion", |game| dispersion(game) == 5.0);
}

#[test]
fn units_get_their_costs_again_when_an_area_comes_back() {
    let folder = folder("costs");
    let unit = "components = { agent = { costs = { water = 5 mud = 3 } } }";
    folder.write("walker.unit", unit);
    let named = |name: &str| {
        let mud = format!("areas = {{ mud = {{ cost = 2 }} {name} =");
        let pond = format!("area = \"{name}\"");
        NAVIGATION.replace("areas = { water =", &mud).replace("area = \"water\"", &pond)
    };
    folder.write("yard.navigation", named("water"));
    let launch = GameLaunch::headless(app::Game::Folder(folder.to_path_buf()));
    let app = start(GameLaunch { watch: true, ..launch });
    let mut game = Game { folder, app };
    let costs = |game: &mut Game, expected: [Option<f32>; 2]| {
        let navigation = &game.app.vm().engine().worlds.navigation;
        let (_, agent) = navigation.agents.slots.iter().next().unwrap();
        let cost = |area: u8| agent.own_costs.as_ref().and_then(|own| own.cost(area));
        [cost(2), cost(3)] == expected
    };
    assert!(costs(&mut game, [Some(3.0), Some(5.0)]));
    game.folder.write("yard.navigation", named("swamp"));
    game.wait_until("other areas", |game| costs(game, [Some(3.0), None]));
    game.folder.write("yard.navigation", named("water"));
    game.wait_until("the old areas", |game| costs(game, [Some(3.0), Some(5.0)]));
}

#[test]
fn a_bake_that_fails_leaves_the_old_mesh() {
    let mut game = Game::start("fails");
    let errors = log::error_count();
    let huge = "agents = { walker = { cell_size = 0.01 cell_height = 0.01 tile_cells = 1024 \
                radius = 0 } giant = { radius = 99 cell_size = 0.5 } }";
    let broken = NAVIGATION.replace("agents = { walker = { radius = 0.4 } }", huge);
    game.folder.write("yard.navigation", broken.replace("cell_size = 0.01", "cell_size = 0.001"));
    game.wait_until("a refused file", |_| {
        log::errors_since(errors).iter().any(|error| error.contains("'cell_size' must be 0.01"))
    });
    assert_eq!(game.ground(0.0, 0.0), Some((2, 4.0)));
    let errors = log::error_count();
    game.folder.write("ground.unit", "data = {}");
    game.folder.write("yard.level", LEVEL.replace("unit = \"ground\" }", "unit = \"walker\" }"));
    game.wait_until("a failed bake", |_| {
        log::errors_since(errors).iter().any(|error| {
            error.contains("navigation of level \"yard\": the level has no static actors")
                && error.ends_with("the old navigation mesh stays")
        })
    });
    assert_eq!(game.ground(0.0, 0.0), Some((2, 4.0)));
}

#[test]
fn a_bake_that_fails_names_class_and_tile() {
    let mut game = Game::start("located");
    let fine = NAVIGATION.replace(
        "walker = { radius = 0.4 }",
        "giant = { radius = 3 } walker = { radius = 0 cell_size = 0.05 tile_cells = 1000 }",
    );
    game.folder.write("yard.navigation", &fine);
    game.wait_until("both classes", |game| {
        game.app.vm().engine().worlds.navigation.levels[0].meshes.len() == 2
    });
    // Posts whose outlines have too many corners for a tile. For the giant, they leave no ground.
    let mut posts = String::new();
    for at in 0..900 {
        let (x, y) = (f64::from(at % 30) * 0.64 - 9.3, f64::from(at / 30) * 0.64 - 9.3);
        posts += &format!(
            "post_{at} = {{ type = \"static\" shape = \"box\" size = [0.3, 0.3, 3] \
             position = [{x}, {y}, 1.5] rotation = [0, 0, 30] }} ",
        );
    }
    let errors = log::error_count();
    game.folder.write("ground.unit", GROUND.replace("ground = {", &format!("{posts} ground = {{")));
    game.wait_until("a failed bake", |_| {
        log::errors_since(errors).iter().any(|error| {
            error.contains("agents 'walker': baking failed in the tile from (-10.0, -10.0) on: ")
                && error.contains("CORNERS_MAX")
        })
    });
    assert_eq!(game.ground(0.0, 0.0), Some((2, 4.0)));
}

/// Pillars that scripts add to the mesh of a level: too many for a tile.
const PILLARS: &str = r#"
local world
function init()
  world = Application.new_world()
  local mesh = Level.navigation_mesh(World.spawn_level(world, "yard"))
  for i = 0, 899 do
    local position = Vector3(i % 30 * 0.64 - 9.3, math.floor(i / 30) * 0.64 - 9.3, 0)
    NavigationMesh.add_cylinder(mesh, 0, position, 0.2, 2)
  end
end
function update(dt) World.update(world, dt) end
"#;

#[test]
fn a_tile_that_fails_names_level_class_and_volumes() {
    let folder = folder("pillars");
    folder.write("main.lua", PILLARS);
    let fine = NAVIGATION.replace("radius = 0.4", "radius = 0 cell_size = 0.05 tile_cells = 1000");
    folder.write("yard.navigation", fine);
    let errors = log::error_count();
    let app = start(GameLaunch::headless(app::Game::Folder(folder.to_path_buf())));
    let mut game = Game { folder, app };
    game.wait_until("a failed tile", |_| {
        log::errors_since(errors).iter().any(|error| {
            error.contains("navigation of level \"yard\", agents 'walker': baking failed in the ")
                && error.contains("CORNERS_MAX")
                && error.contains("the tile has volume 'pond' of level \"yard\", volume 4097, ")
                && error.ends_with("and others: the old ground stays")
        })
    });
}

/// A crowd with costs of its own, doors, obstacles and requests for paths.
const CROWD: &str = r#"
local world, level, mesh
local agents, frame, obstacle, answers = {}, 0, nil, 0
function init()
  world = Application.new_world()
  level = World.spawn_level(world, "yard")
  mesh = Level.navigation_mesh(level)
  for i = 1, 30 do
    agents[i] = Agent.create(mesh, NavigationMesh.random_point(mesh), { radius = 0.3 })
    if i % 3 == 0 then Agent.set_area_cost(agents[i], 2, i % 2 == 0 and 0 or 9) end
  end
end
function update(dt)
  frame = frame + 1
  if frame % 25 == 1 then
    for _, agent in ipairs(agents) do
      Agent.set_destination(agent, NavigationMesh.random_point(mesh))
    end
    local door = NavigationMesh.find_nearest_polygon(mesh, Vector3(6, -6, 0), 5)
    NavigationMesh.set_obstructed(mesh, door, not NavigationMesh.is_obstructed(mesh, door))
  end
  if frame % 40 == 10 then
    if obstacle then NavigationMesh.remove_volume(mesh, obstacle) end
    local position = Vector3(Math.random() * 16 - 8, Math.random() * 16 - 8, 0)
    obstacle = NavigationMesh.add_cylinder(mesh, 0, position, 1.5, 2)
  end
  for _ = 1, 40 do
    local from, to = NavigationMesh.random_point(mesh), NavigationMesh.random_point(mesh)
    NavigationMesh.find_path_async(mesh, from, to, function(points)
      answers = answers + 1
      Application.hash(#points, points[#points].x)
    end)
  end
  World.update(world, dt)
  if frame == 200 then assert(answers > 5000, answers) end
end
"#;

#[test]
fn a_recorded_crowd_replays_on_any_number_of_threads() {
    let folder = folder("replay");
    folder.write("main.lua", CROWD);
    let play = |arguments: &[&str]| {
        let run = ["run", ".", "--headless"];
        combined_output(&mut folder.command(&[&run[..], arguments].concat()))
    };
    let record = ["--single-threaded", "--frames", "200", "--record", "a.recording"];
    let (code, text) = play(&record);
    assert_eq!(code, Some(0), "{text}");
    for threads in ["1", "2", "4", "8"] {
        let (code, text) = play(&["--replay", "a.recording", "--threads", threads]);
        assert_eq!(code, Some(0), "{threads} threads: {text}");
    }
    // A door that does not close is found.
    folder
        .write("main.lua", CROWD.replace("not NavigationMesh.is_obstructed(mesh, door)", "false"));
    let (code, text) = play(&["--replay", "a.recording"]);
    assert!(code != Some(0) && text.contains("differs"), "{text}");
}

#[test]
fn explain_shows_the_navigation_of_a_level() {
    let folder = folder("explain");
    let explain = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        let output = command.arg("explain").arg(&*folder).args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr), output.status.success())
    };
    let (text, errors, is_fine) = explain(&["yard.level", "--navigation"]);
    assert!(is_fine, "{errors}");
    for part in [
        "navigation of level \"yard\"",
        "agents 'walker'",
        "cells of 0.3 x 0.2 m: the radius counts as 0.6 m, and openings of 1.8 m are wide enough",
        "compiled with the level",
        "polygons",
        "bytes",
        "1 island",
        "area 'water' (number 2, cost 4)",
        "volume 'pond' gives about 16.0 m² the area 'water' (number 2, cost 4)",
        "volume 'lost' does nothing: the level \"yard\" has no volume 'lost'",
        "link 'hop' joins (0.0, 0.0, 0.0) and (0.0, 8.0, 0.0)",
        "seed '1' at (0.0, 0.0, 0.0) keeps what can be reached",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Its name is enough, although its navigation has the same one.
    let (text, errors, _) = explain(&["yard", "--navigation"]);
    assert!(text.contains("navigation of level \"yard\""), "{text} {errors}");
    let (text, _, _) = explain(&["yard.navigation"]);
    assert!(text.contains("agents 'walker': radius 0.4, height 2"), "{text}");
    assert!(text.contains("area 'water', cost 4"), "{text}");
    let jumps = "agents = { walker = {} }\n\
                 jumps = { hop = {} drop = { distance = 2 up = 0 down = 4 spacing = 5 cost = 6 \
                 manual = true name = \"ledge\" agents = [\"walker\"] } }\n";
    folder.write("jumps.navigation", jumps);
    let (text, errors, _) = explain(&["jumps.navigation"]);
    for part in [
        "  jumps 'hop': links over at most 3 m, up 0.5 m, down 2 m, 3 m apart, \
         cost of their length\n",
        "  jumps 'drop': links over at most 2 m, up 0 m, down 4 m, 5 m apart, cost 6, \
         named 'ledge', manual, for the agents 'walker'\n",
    ] {
        assert!(text.contains(part), "{part}: {text} {errors}");
    }
    // The ground of a thin volume is there as the volume says.
    let thin = "agents = { walker = { radius = 0.3 } }\nareas = { mud = { cost = 4 } }\n\
                volumes = { strip = { area = \"mud\" shape = \"box\" size = [2, 0.5, 2] \
                position = [0, 0, 0.5] } }\n";
    folder.write("yard.navigation", thin);
    let (text, errors, _) = explain(&["yard.level", "--navigation"]);
    assert!(text.contains("area 'mud' (number 2, cost 4): "), "{text} {errors}");
    assert!(!text.contains(": 0.0 m²"), "{text}");
    assert!(text.contains("volume 'strip' gives about 1.0 m²"), "{text}");
    let (_, errors, is_fine) = explain(&["ground.unit", "--navigation"]);
    assert!(!is_fine && errors.contains("--navigation is for levels"), "{errors}");
}

#[test]
fn check_reports_meshes_and_units_without_ground() {
    let folder = folder("check");
    folder.write("main.lua", "");
    folder.write("yard.navigation", "agents = { man = { radius = 20 } }");
    folder.write("walker.unit", "components = { agent = { class = \"man\" } }");
    folder.write("typo.unit", "components = { legs = { component = \"agent\" class = \"mann\" } }");
    folder.write(
        "pier.level",
        "units = { ground = { unit = \"ground\" } typo = { unit = \"stranger\" } }\n\
         navigation = { agents = { man = {} }\n\
         platforms = { raft = { unit = \"ground\" \
         stops = { shore = { ashore = [0, 0, 0] aboard = [0, 0, 0] } } } } }",
    );
    folder.write("stranger.unit", "components = { agent = { class = \"men\" } }");
    let check = || combined_output(&mut folder.command(&["check", "."])).1;
    let text = check();
    let no_class = "component 'agent': the unit gets no agent before a level with its class is \
                    spawned: no navigation of its world has agents 'men', did you mean 'man'?";
    for (part, count) in [
        (
            "navigation of level \"yard\", agents 'man': the navigation mesh has no ground: no \
             5.76 m² of it ('region_min'), not steeper than 45 degrees, have room for characters \
             of the radius 20 (it counts as 20.1, because cells have a 'cell_size' of 0.3) and the \
             height 2",
            1,
        ),
        (
            "unit \"walker\", component 'agent': a unit at (-8.0, 0.0, 0.0) gets no agent yet: no \
             ground is within 2 metres of it; its navigation mesh has no ground at all",
            1,
        ),
        (
            "unit \"typo\", component 'legs': the unit gets no agent in any level: no navigation \
             of the game has agents 'mann', did you mean 'man'?",
            1,
        ),
        // A unit of a level is reported with its level alone.
        (&format!("unit \"stranger\", {no_class}"), 1),
        ("unit \"stranger\"", 1),
        ("platform of the unit \"ground\": its actors are static", 1),
    ] {
        assert_eq!(text.matches(part).count(), count, "{part}: {text}");
    }
    // An error of a navigation file is reported once, and blockers are no volumes.
    folder.write("yard.navigation", "agents = { man = {} }\nsorce = \"world\"\n");
    let text = check();
    assert_eq!(text.matches("unknown key 'sorce'").count(), 1, "{text}");
    folder.write("yard.navigation", "blockers = { rock = { shape = \"bx\" size = [1, 1, 1] } }\n");
    let text = check();
    let shape = "yard.navigation:1: 'shape' of 'rock' must be box";
    assert_eq!(text.matches(shape).count(), 1, "{text}");
}

#[test]
fn missing_ground_is_one_warning_in_a_game() {
    let folder = folder("groundless");
    folder.write(
        "main.lua",
        r#"
local world
function init()
  world = Application.new_world()
  World.spawn_level(world, "yard")
  for _ = 1, 3 do World.spawn_unit(world, "walker", Vector3(0, 0, 30)) end
  local corners = { 0, 0, 0, 9, 0, 0, 0, 9, 0 }
  for _ = 1, 2 do NavigationMesh.create_from_triangles(corners, { 1, 3, 2 }) end
  NavigationMesh.create(world, { radius = 20 })
end
function update(dt) World.update(world, dt) end
"#,
    );
    let run = |frames: &str| {
        let arguments = ["run", ".", "--headless", "--frames", frames];
        combined_output(&mut folder.command(&arguments)).1
    };
    let text = run("80");
    for part in [
        "unit \"walker\", component 'agent': a unit at (0.0, 0.0, 30.0) gets no agent yet: no \
         ground is within 2 metres of it; the nearest ground is 2",
        "main.lua:8: NavigationMesh.create_from_triangles: the mesh has no ground: all triangles \
         are clockwise as seen from above",
        "main.lua:9: NavigationMesh.create: the mesh has no ground: no 5.76 m² of it",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
    // It can still fall or be moved.
    let text = run("20");
    assert!(!text.contains("gets no agent yet"), "{text}");
}

#[test]
fn a_lift_that_does_not_move_is_reported() {
    let folder = folder("still-lift");
    folder.write(
        "lift.unit",
        "components = { physics = { actors = { floor = { type = \"kinematic\" shape = \"box\" \
         size = [6, 6, 0.2] position = [0, 0, -0.1] } } } }",
    );
    folder.write(
        "yard.level",
        "units = { ground = { unit = \"ground\" } lift = { unit = \"lift\" position = [14, 0, 0] } \
         roof = { unit = \"ground\" position = [28, 0, 6] } walker = { unit = \"walker\" } }\n\
         navigation = { agents = { man = { radius = 0.4 } }\n\
         platforms = { lift = { unit = \"lift\" \
         stops = { yard = { ashore = [9, 0, 0] aboard = [-2, 0, 0] distance = 4 } \
         roof = { ashore = [19, 0, 6] aboard = [2, 0, 0] distance = 4 } } } } }",
    );
    folder.write(
        "main.lua",
        r#"
local world
function init()
  world = Application.new_world()
  local level = World.spawn_level(world, "yard")
  Unit.set_local_position(Level.unit(level, "lift"), 1, Vector3(14, 0, 6))
  local walker = Unit.agent(Level.unit(level, "walker"))
  assert(Agent.set_destination(walker, Vector3(28, 0, 6)))
end
function update(dt) World.update(world, dt) end
"#,
    );
    let run = |frames: &str| {
        let arguments = ["run", ".", "--headless", "--frames", frames];
        combined_output(&mut folder.command(&arguments)).1
    };
    let message = "platform of the unit \"lift\": characters have waited for it for 1800 updates, \
                   and it has not moved";
    let text = run("2600");
    assert_eq!(text.matches(message).count(), 1, "{text}");
    assert!(!run("1700").contains(message));
}
