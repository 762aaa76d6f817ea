//! Tests of respawned units whose components or data cause problems.

use super::harness::Game;
use engine::script::ScriptValue;

const UNIT: &str = "components = { c = { speed = 1 color = { r = 1 g = 2 } } }
data = { food = \"cheese\" list = [1, 2] }
";

/// A component that counts its units, and calls `problem` when one ends.
const COMPONENT: &str = "return {
  spawned = function(units)
    started, seen = started + #units, Unit.has_data(units[1], 'c', 'speed')
  end,
  unspawned = function(units) ends = ends + 1 if problem then problem(units[1]) end end,
  update = function(units) updated = #units end,
}";

/// Starts a game with three units, whose `speed` the game has set to 9.
fn game() -> Game {
    let other = ("units/b.unit", "components = { c = {} }");
    let mut game = Game::start(&[("units/a.unit", UNIT), other, ("components/c.lua", COMPONENT)]);
    game.step(
        "started, ends = 0, 0
         w = Application.new_world()
         local at = { Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(2, 0, 0) }
         a = World.spawn_units(w, 'units/a', at)
         for _, unit in ipairs(a) do Unit.set_data(unit, 'c', 'speed', 9) end
         function check()
           World.update(w, 0.1)
           assert(updated == 3 and started == 6, tostring(updated) .. ' ' .. started)
           for _, unit in ipairs(a) do
             assert(Unit.alive(unit) and Unit.get_data(unit, 'c', 'speed') == 9)
             assert(Unit.get_data(unit, 'food') == 'cheese')
           end
         end",
    )
    .unwrap();
    game
}

/// Respawns the units. Returns the report of an error.
fn respawn(game: &mut Game, seconds: f64) -> Result<(), String> {
    let names = ScriptValue::List(vec![ScriptValue::Text("units/a".to_string())]);
    let outcome = game.app().vm().call_core("respawn_units", &[names], seconds);
    outcome.map(|_| ()).map_err(|report| report.to_string())
}

#[track_caller]
fn step(game: &mut Game, code: &str) {
    game.step(code).unwrap_or_else(|report| panic!("{report}"));
}

#[test]
fn component_error_does_not_prevent_respawns() {
    let mut game = game();
    step(&mut game, "function problem(unit) if unit == a[1] then error('no end') end end");
    let report = respawn(&mut game, 10.0).unwrap_err();
    assert!(report.contains("no end"), "{report}");
    step(&mut game, "assert(ends == 3) check() check()");
    step(&mut game, "function problem() error('each') end");
    assert!(respawn(&mut game, 10.0).is_err());
    let lines = engine::foundation::log::last_lines();
    let wanted = "error: 2 more errors followed while units were respawned";
    assert!(lines.iter().any(|line| line == wanted), "{lines:?}");
}

#[test]
fn respawn_stopped_by_a_time_limit_completes_next_frame() {
    let mut game = game();
    step(&mut game, "function problem() problem = nil while true do end end");
    let report = respawn(&mut game, 0.3).unwrap_err();
    assert!(report.contains("stopped: this ran for 0.3 seconds"), "{report}");
    // Only the units whose respawn had begun are completed.
    step(&mut game, "started = 6 check() assert(ends == 1)");
    respawn(&mut game, 10.0).unwrap();
    step(&mut game, "assert(ends == 4) started = 6 check()");
}

#[test]
fn respawned_units_share_a_component_with_units_that_stay() {
    let mut game = game();
    step(
        &mut game,
        "for _ = 1, 9 do World.spawn_unit(w, 'units/b') end
         World.update(w, 0.1) assert(updated == 12)",
    );
    respawn(&mut game, 10.0).unwrap();
    for _ in 0..2 {
        step(&mut game, "updated = 0 World.update(w, 0.1) assert(updated == 12, updated)");
    }
}

#[test]
fn data_that_the_game_removed_stays_removed() {
    let mut game = game();
    step(
        &mut game,
        "Unit.set_data(a[1], 'food', nil) Unit.set_data(a[1], 'c', 'speed', nil)
         Unit.set_data(a[1], 'c', 'color', 'g', nil) Unit.set_data(a[2], 'c', nil)
         Unit.set_data(a[3], 'list', {})",
    );
    respawn(&mut game, 10.0).unwrap();
    step(
        &mut game,
        "assert(seen == false and not Unit.has_data(a[1], 'food'))
         assert(not Unit.has_data(a[1], 'c', 'speed'))
         assert(not Unit.has_data(a[1], 'c', 'color', 'g'))
         assert(Unit.get_data(a[1], 'c', 'color', 'r') == 1 and not Unit.has_data(a[2], 'c'))
         assert(#Unit.get_data(a[3], 'list') == 0 and Unit.get_data(a[3], 'c', 'speed') == 9)
         assert(Unit.get_data(a[2], 'food') == 'cheese')",
    );
}

#[test]
fn component_error_without_text_is_a_problem_like_any_other() {
    for (raised, shown) in [("{}", "table"), ("nil", "nil"), ("true", "boolean true")] {
        let mut game = game();
        let begin = format!(
            "package.loaded['components.c'] = nil
             package.preload['components.c'] = function() error({raised}) end"
        );
        step(&mut game, &begin);
        respawn(&mut game, 10.0).unwrap();
        let lines = engine::foundation::log::last_lines();
        let wanted = format!("error: units/a.unit: a component raised {shown}, not a message");
        assert!(lines.iter().any(|line| line.starts_with(&wanted)), "{wanted}: {lines:?}");
        step(&mut game, "assert(ends == 0 and started == 3)");
    }
}

#[test]
fn the_log_counts_the_units_that_were_respawned() {
    let mut game = game();
    step(
        &mut game,
        "function problem(unit) if unit == a[1] then World.destroy_unit(w, a[2]) end end",
    );
    respawn(&mut game, 10.0).unwrap();
    let lines = engine::foundation::log::last_lines();
    let wanted = "reloaded units/a.unit: 2 units were respawned";
    assert!(lines.iter().any(|line| line.starts_with(wanted)), "{lines:?}");
}
