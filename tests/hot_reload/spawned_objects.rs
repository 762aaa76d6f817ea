//! Tests of what a running game says and does when units, levels and tile maps are saved, and of
//! saves that take a moment.

use super::{QUICK, Scratch};
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

const RAT: &str = "nodes = { head = { position = [0, 0, 1] } }
components = { legs = { count = 4 speed = 1 } }
data = { food = \"cheese\" }
";

/// Spawns three rats and a flea on the head of one, and prints their state when it changes.
const MAIN: &str = "local world, rats, flea, last
function init()
  world = Application.new_world()
  local at = { Vector3(1, 0, 0), Vector3(2, 0, 0), Vector3(3, 0, 0) }
  rats = World.spawn_units(world, 'units/rat', at)
  flea = World.spawn_unit(world, 'units/flea')
  World.link_unit(world, flea, rats[1], Unit.node(rats[1], 'head'))
  Unit.set_data(rats[1], 'legs', 'speed', 9)
  level = World.spawn_level(world, 'levels/yard')
  map = Tilemap.new('maps/cave')
  print('ready')
end
function update(dt)
  World.update(world, dt)
  local rat = rats[1]
  local text = string.format('%s nodes %d legs %s speed %s food %s flea at %s',
    tostring(Unit.alive(rat)), Unit.num_nodes(rat), tostring(Unit.get_data(rat, 'legs', 'count')),
    tostring(Unit.get_data(rat, 'legs', 'speed')), tostring(Unit.get_data(rat, 'food')),
    tostring(Unit.world_position(flea)))
  if text ~= last then last = text print(text) end
end
";

const LEGS: &str = "return {
  spawned = function(units) print('legs spawned', #units) end,
  unspawned = function(units) print('legs unspawned', #units) end,
}
";

const MAP: &str = "<map orientation=\"orthogonal\" width=\"1\" height=\"1\" tilewidth=\"8\" \
                   tileheight=\"8\"><layer name=\"floor\" width=\"1\" height=\"1\">\
                   <data encoding=\"csv\">0</data></layer></map>";

fn scratch(name: &str, settings: &str) -> Scratch {
    let files = [
        ("main.lua", MAIN),
        ("components/legs.lua", LEGS),
        ("units/rat.unit", RAT),
        ("units/flea.unit", ""),
        ("levels/yard.level", "units = { a = { unit = \"units/flea\" } }"),
        ("maps/cave.tmx", MAP),
        ("settings.sjson", settings),
    ];
    Scratch::new(name, &files)
}

#[test]
fn reload_reports_the_objects_that_keep_the_old_version() {
    let scratch = scratch("spawned", "");
    let mut game = scratch.play();
    game.wait_for_line("ready");
    game.wait_for_line("true nodes 2 legs 4 speed 9 food cheese flea at Vector3(1, 0, 1)");
    scratch.save("units/rat.unit", RAT.replace("count = 4", "count = 6"));
    let remedy = "or set reload.respawn in settings.sjson";
    game.wait_for_line(&format!(
        "reloaded units/rat.unit: 3 units that are spawned keep their old components; spawn them \
         again, {remedy}"
    ));
    // A graph starts in units that are spawned, too.
    let graph = "flow = { nodes = { s = { type = \"event.spawned\" } } }";
    scratch.save("units/flea.unit", graph);
    game.wait_for_line("reloaded units/flea.unit: its components have not changed");
    scratch.save("levels/yard.level", "units = {}");
    game.wait_for_line("reloaded levels/yard.level: 1 level is up to date: 1 unit destroyed");
    scratch.save("maps/cave.tmx", MAP.replace("floor", "ground"));
    game.wait_for_line(&format!(
        "reloaded maps/cave.tmx: 1 map keeps the old tiles; create it again, {remedy}"
    ));
    scratch.save("units/bat.unit", "");
    game.wait_for_line("reloaded units/bat.unit: units that are spawned from now on use it");
    fs::remove_file(scratch.path("units/rat.unit")).expect("it is there");
    game.wait_for_line("units/rat.unit was deleted: 3 units that are spawned stay");
    assert!(!game.output.iter().any(|line| line.contains("legs unspawned")));
    game.check_running();
}

#[test]
fn respawned_units_keep_handle_links_and_changed_data() {
    let scratch = scratch("respawned", "reload = { respawn = true }");
    let mut game = scratch.play();
    game.wait_for_line("true nodes 2 legs 4 speed 9 food cheese flea at Vector3(1, 0, 1)");
    let rat = RAT.replace("count = 4 speed = 1", "count = 6 speed = 2");
    let rat =
        rat.replace("head = { position = [0, 0, 1] }", "tail = {} head = { position = [0, 0, 4] }");
    scratch.save("units/rat.unit", rat.replace("cheese", "bread"));
    game.wait_for_lines(&[
        "legs unspawned\t1",
        "legs spawned\t3",
        "reloaded units/rat.unit: 3 units were respawned, with the same handles, pose, links and \
         changed data; nodes and components are new",
        // The data that the game changed stays, and the rest is that of the file.
        "true nodes 3 legs 6 speed 9 food bread flea at Vector3(1, 0, 4)",
    ]);
    scratch.save("maps/cave.tmx", MAP.replace("floor", "ground"));
    game.wait_for_line("reloaded maps/cave.tmx: 1 map shows it");
    // A unit that cannot be spawned changes nothing.
    scratch.save("units/rat.unit", "components = { wings = {} }");
    game.wait_for_line("error: units/rat.unit: ");
    game.wait_for_line("The units that are spawned stay as they were.");
    scratch.save("units/flea.unit", "data = { jumps = 3 }");
    game.wait_for_line("reloaded units/flea.unit: 2 units were respawned");
    game.check_running();
}

/// Prints the units of a level and of a nested one when they change.
const LEVELS: &str = "local last
function init()
  world = Application.new_world()
  level = World.spawn_level(world, 'yard', Vector3(100, 0, 0))
  moved = Level.unit(level, 'c')
  Unit.set_local_position(moved, 1, Vector3(0, 0, 50))
  World.destroy_unit(world, Level.unit(level, 'd'))
  print('ready')
end
local function text_of(level)
  local parts = {}
  for _, unit in ipairs(Level.units(level)) do
    local at = Unit.local_position(unit, 1)
    parts[#parts + 1] = string.format('%s %s %g,%g', Level.unit_name(level, unit),
      Unit.debug_name(unit), at.x, at.z)
  end
  for _, nested in ipairs(Level.nested_levels(level)) do
    parts[#parts + 1] = '(' .. text_of(nested) .. ')'
  end
  return table.concat(parts, '; ')
end
function update(dt)
  World.update(world, dt)
  local text = text_of(level)
  if text ~= last then last = text print(text) end
end
";

/// Returns a level file with units, each as `name unit x`.
fn level(units: &[&str], rest: &str) -> String {
    let unit = |text: &&str| {
        let parts: Vec<&str> = text.split(' ').collect();
        format!("{} = {{ unit = \"{}\" position = [{}, 0, 0] }}\n", parts[0], parts[1], parts[2])
    };
    format!("units = {{\n{}}}\n{rest}", units.iter().map(unit).collect::<String>())
}

#[test]
fn spawned_levels_follow_their_saved_file() {
    let nested = "levels = { in = { level = \"cellar\" position = [0, 0, 5] } }";
    let units = ["a rat 1", "b rat 2", "c rat 3", "d rat 4"];
    let files = [
        ("main.lua", LEVELS),
        ("rat.unit", ""),
        ("bat.unit", "components = { wings = {} }"),
        ("components/wings.lua", "return { spawned = function(units) print('wings', #units) end }"),
        ("cellar.level", &level(&["x rat 1"], "")),
        ("yard.level", &level(&units, nested)),
    ];
    let scratch = Scratch::new("levels", &files);
    let mut game = scratch.play();
    game.wait_for_line("a rat 101,0; b rat 102,0; c rat 0,50; (x rat 101,5)");
    // `a` moves, `b` becomes another unit, `c` was moved by the game, `d` was destroyed by it.
    let units = ["a rat 5", "b bat 2", "c rat 9", "d rat 4", "e rat 7"];
    scratch.save("yard.level", level(&units, nested));
    game.wait_for_lines(&[
        "reloaded yard.level: 1 level is up to date: 1 unit moved, 2 units spawned, 1 unit \
         destroyed, 1 unit left where the game moved it",
        "wings\t1",
        "a rat 105,0; b bat 102,0; c rat 0,50; e rat 107,0; (x rat 101,5)",
    ]);
    // A nested level follows its own file.
    scratch.save("cellar.level", level(&["x rat 3", "y rat 4"], ""));
    game.wait_for_line("(x rat 103,5; y rat 104,5)");
    // What cannot change is named.
    let nested = nested.replace("[0, 0, 5]", "[0, 0, 6]");
    let data =
        level(&["a rat 5"], &nested).replace("unit = \"rat\"", "unit = \"rat\" data = { hp = 2 }");
    scratch.save("yard.level", data);
    game.wait_for_line(
        "reloaded yard.level: 1 level is up to date: 3 units destroyed; except for the data of 1 \
         unit, its nested levels: destroy and spawn it again",
    );
    // A unit that cannot be spawned changes nothing else.
    scratch.save("yard.level", level(&["a rat 6", "z wolf 1", "f rat 8"], &nested));
    game.wait_for_lines(&[
        "level \"yard\", unit 'z': ",
        "a rat 106,0; f rat 108,0; (x rat 103,5; y rat 104,5)",
    ]);
    game.check_running();
}

#[test]
fn script_written_in_parts_reports_no_error() {
    // A busy machine may need longer for a save than the engine waits, and reads a part as the
    // whole: such a game shows nothing.
    let is_quick = (0..50).any(|_| write_in_parts());
    assert!(is_quick, "the machine is never quick enough");
}

/// Plays a game whose script is written in parts five times, and checks that no error is reported.
/// Returns false if the machine took too long for a save.
fn write_in_parts() -> bool {
    let main = "function update() if not said then said = true print('one') end end";
    let scratch = Scratch::new("parts", &[("main.lua", main)]);
    let mut game = scratch.play();
    game.wait_for_line("one");
    let mut longest = Duration::ZERO;
    // The file is closed between the parts, as by programs that append to it.
    for round in 0..5 {
        let text = format!(
            "function update() if said ~= {round} then said = {round} print('whole {round}') end \
             end"
        );
        let (first, second) = text.split_at(40);
        let began = Instant::now();
        fs::write(scratch.path("main.lua"), "").expect("it can be written");
        std::thread::sleep(Duration::from_millis(20));
        fs::write(scratch.path("main.lua"), first).expect("it can be written");
        std::thread::sleep(Duration::from_millis(20));
        let mut file = fs::File::options().append(true).open(scratch.path("main.lua"));
        file.as_mut()
            .expect("it is there")
            .write_all(second.as_bytes())
            .expect("it can be written");
        drop(file);
        longest = longest.max(began.elapsed());
        game.wait_for_line(&format!("whole {round}"));
    }
    let is_quick = longest < QUICK * 2;
    let has_error = game.output.iter().any(|line| line.contains("error"));
    assert!(!is_quick || !has_error, "{}", game.output.join("\n"));
    is_quick
}

#[test]
fn references_of_suites_are_not_resources_of_the_game() {
    let main = "function init() print('ready') end
function on_reload(names) print('on_reload: ' .. table.concat(names, ', ')) end";
    let scratch = Scratch::new("references", &[("main.lua", main)]);
    scratch.save("tests/hud_test.golden/menu.png", super::picture(1));
    let mut game = scratch.play();
    game.wait_for_line("ready");
    scratch.save("tests/hud_test.golden/menu.png", super::picture(2));
    scratch.save("tests/hud_test.golden/other.png", "nothing");
    scratch.save("ship.png", super::picture(3));
    assert_eq!(game.wait_for_line("on_reload"), "on_reload: ship.texture");
    assert!(!game.output.iter().any(|line| line.contains("error")), "{}", game.output.join("\n"));
}
