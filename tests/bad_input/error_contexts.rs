//! Tests of the contexts in reports: what the engine and the game did when an error occurred, by
//! name, outermost first.

use crate::bad_input::{Game, check_in_order, check_prints};

/// Plays a game with a level of one unit that has a component in Lua, and compares the report from
/// its second line to the line of the error.
#[track_caller]
fn check(name: &str, main: &str, component: &str, expected: &str) {
    let game = Game::new(name, main)
        .with("levels/yard.level", "units = { rat = { unit = \"units/rat\" } }")
        .with("units/rat.unit", "components = { guard = { hp = 3 } }")
        .with("units/bare.unit", BARE)
        .with("components/guard.lua", component);
    let result = game.play(&[]);
    let lines: Vec<&str> = result.err.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("When calling: "));
    let first = first.unwrap_or_else(|| panic!("{name}: {}", result.err));
    let error = lines.iter().position(|line| line.starts_with("Error: ")).unwrap();
    assert_eq!(lines[first..=error].join("\n"), expected, "{name}: {}", result.err);
}

/// A unit whose mesh has a material that does not exist.
const BARE: &str = "components = { body = { component = \"mesh\", model = \"core/models/cube\", \
                    material = \"fur\" } }";
const SPAWN_LEVEL: &str =
    "function init() World.spawn_level(Application.main_world(), 'levels/yard') end";
const SPAWN_RATS: &str = "function init()
  local world = Application.main_world()
  World.spawn_units(world, 'units/rat', { Vector3(0, 0, 0), Vector3(1, 0, 0) })
end";
const SPAWN_RAT: &str =
    "function init() World.spawn_unit(Application.main_world(), 'units/rat') end";
const FAIL: &str = "error('no post', 0)";

#[test]
fn spawned_level_unit_and_component_are_named() {
    check(
        "context_level",
        SPAWN_LEVEL,
        &format!("return {{ spawned = function(units) {FAIL} end }}"),
        "When calling: init\nWhen spawning level: levels/yard\nWhen spawning component: guard of \
         unit units/rat#0\nError: no post",
    );
    check(
        "context_units",
        SPAWN_RATS,
        &format!("return {{ spawned = function(units) {FAIL} end }}"),
        "When calling: init\nWhen spawning units: units/rat\nWhen spawning component: guard of 2 \
         units\nError: no post",
    );
}

#[test]
fn updated_component_is_named_with_its_unit() {
    check(
        "context_update",
        SPAWN_RAT,
        &format!("return {{ update = function(units, dt) {FAIL} end }}"),
        "When calling: update\nWhen updating component: guard of unit units/rat#0\nError: no post",
    );
}

#[test]
fn material_that_cannot_be_applied_is_named() {
    check(
        "context_material",
        "function init() World.spawn_unit(Application.main_world(), 'units/bare') end",
        "return {}",
        "When calling: init\nWhen spawning unit: units/bare\nWhen reading unit: units/bare\nWhen \
         applying material: fur\nError: World.spawn_unit: component 'body': there is no material \
         'fur' (its file would end in .material, and its name has no ending)",
    );
}

#[test]
fn caught_errors_keep_their_contexts() {
    let main = "local function fail() error('no bird') end
local function place() Script.context('When placing:', 'bird', fail) end
function init()
  local ok, problem = pcall(Script.context, 'When spawning wave:', '3', place)
  print(problem)
  print(table.concat(Script.contexts(problem), ' | '))
  print(table.concat(Script.contexts(), ' | '), Script.contexts('another'))
  local _, again = xpcall(place, function(text) return text .. '!' end)
  print(again)
end";
    check_prints(
        "context_caught",
        main,
        "main.lua:1: no bird
When calling: init | When spawning wave: 3 | When placing: bird
When calling: init\tnil
main.lua:1: no bird!",
    );
}

#[test]
fn error_that_is_raised_again_keeps_its_contexts() {
    let main = "local function fail() error('no bird') end
function init()
  local ok, problem = pcall(Script.context, 'When placing:', 'bird', fail)
  Script.context('When giving up:', 'wave', function() error(problem, 0) end)
end";
    let result = Game::new("context_again", main).play(&[]);
    let contexts = "When calling: init\nWhen giving up: wave\nWhen placing: bird\nError: no bird";
    check_in_order(&result.err, &[contexts, "In main.lua:1"]);
    // The next error of that line has its own contexts alone.
    let main = "local function fail() error('no bird') end
function init()
  pcall(Script.context, 'When placing:', 'bird', fail)
  Script.context('When placing:', 'fish', fail)
end";
    let result = Game::new("context_next", main).play(&[]);
    check_in_order(&result.err, &["When calling: init\nWhen placing: fish\nError: no bird"]);
}

#[test]
fn handles_in_reports_name_their_objects() {
    let main = "function init()
  local world, gui = Application.main_world(), Application.main_gui()
  local unit = World.spawn_unit(world, 'core/units/light')
  local light, gone = Unit.light(unit, 1), World.spawn_unit(world, 'core/units/cube')
  World.destroy_unit(world, gone)
  local list = { unit, hp = 3 }
  error('stop')
end";
    let result = Game::new("handle_locals", main).play(&[]);
    check_in_order(
        &result.err,
        &[
            "local world = World#0\n",
            "local gui = Gui#",
            "local unit = core/units/light#0\n",
            "local light = Light#0 of core/units/light#0\n",
            "local gone = destroyed unit \"core/units/cube\"\n",
            "local list = {core/units/light#0, hp = 3}\n",
        ],
    );
}
