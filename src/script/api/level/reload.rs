//! Native functions of the prelude for levels whose file was saved while the game runs
//! (lua/world/level_reload.lua).

use crate::api_row::{ModuleRows, func, more};
use crate::value::ScriptValue;
use engine_foundation::{Error, Quat, Vec3};
use engine_runtime::Engine;
use engine_world::level::LevelId;
use engine_world::scene_graph::NodePose;

/// Largest difference of positions and scales that count as equal, relative to their size.
const EQUAL_MAX: f32 = 1e-4;

pub static CORE: ModuleRows = more(
    "World",
    &[
        func(
            "update_level",
            update_level,
            &[("level", "")],
            "Gives a level the new version of its resource, and moves its units.",
        ),
        func(
            "skip_level_unit",
            skip_level_unit,
            &[("level", "")],
            "Leaves out the next unit of a level.",
        ),
    ],
);

/// Moves the units that have another pose in the new version and are still at the old one. Returns
/// the units that the new version does not have, and the numbers of the other changes.
fn update_level(engine: &mut Engine, level: LevelId) -> Result<ScriptValue, Error> {
    let (levels, units) = (&mut engine.worlds.levels, &mut engine.worlds.units);
    let name = levels.of(level).resource.name.clone();
    let new = levels.resource(&mut engine.assets.store, &name)?;
    let update = levels.update(level, &new, |unit| units.slots.get(unit.0).is_some());
    let transform = levels.of(level).transform;
    let (mut moved, mut stayed) = (0, 0);
    for change in update.moved {
        let (row, root) = (change.unit.row(), units.of(change.unit).resource.poses[0]);
        let (before, now) =
            (transform.pose(&change.before, &root), transform.pose(&change.now, &root));
        let is_possible = now.position.is_finite() && now.scale.is_finite();
        let scene = &mut units.scene;
        if is_possible && scene.parent(row, 0).is_none() && is_equal(&scene.local(row, 0), &before)
        {
            scene.set_local(row, 0, &now);
            moved += 1;
        } else {
            stayed += 1;
        }
    }
    engine.worlds.load_level_shading(&mut engine.assets, level);
    let removed = update.removed.iter().map(|unit| ScriptValue::Number(unit.0.to_number()));
    let number = |key: &str, count: usize| (key.to_string(), ScriptValue::Number(count as f64));
    Ok(ScriptValue::Table(vec![
        ("removed".to_string(), ScriptValue::List(removed.collect())),
        number("added", update.added),
        number("moved", moved),
        number("stayed", stayed),
        number("other_data", update.other_data),
        number("other_nested", usize::from(update.other_nested)),
        number("other_level_data", usize::from(update.other_level_data)),
    ]))
}

/// Returns true if a unit's pose is that of its level, as far as rounding allows.
fn is_equal(pose: &NodePose, other: &NodePose) -> bool {
    let near = |a: Vec3, b: Vec3| (a - b).length() <= EQUAL_MAX * (1.0 + b.length());
    let same_rotation = |a: Quat, b: Quat| a.dot(b).abs() >= 1.0 - EQUAL_MAX;
    near(pose.position, other.position)
        && near(pose.scale, other.scale)
        && same_rotation(pose.rotation, other.rotation)
}

fn skip_level_unit(engine: &mut Engine, level: LevelId) {
    engine.worlds.levels.skip_waiting(level);
}
