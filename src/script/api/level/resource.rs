//! The Lua module `LevelResource`: the content of a level's file, even if the level is not spawned.

use crate::api_row::{ModuleRows, NodeFlag, func, module};
use crate::argument::{Integer, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::{Error, Quat, Vec3};
use engine_runtime::Engine;
use engine_world::level_resource::{LevelResource, LevelUnit};
use std::sync::Arc;

const LEVEL_ARG: (&str, &str) = ("resource", "the name of a level, such as \"levels/yard\"");
const INDEX_ARG: (&str, &str) = ("index", "index of the unit in the file, from 1");

pub static LEVEL_RESOURCE: ModuleRows = module(
    "LevelResource",
    "The units in a level's file, without spawning the level: for lists of them, and for games \
     that spawn a part of a level themselves.",
    r#"assert(not pcall(LevelResource.num_units, "levels/of_no_game"))"#,
    &[
        func("num_units", num_units, &[LEVEL_ARG], "Returns the number of units in the level.")
            .pure(),
        func(
            "unit_name",
            unit_name,
            &[LEVEL_ARG, INDEX_ARG],
            "Returns the name of a unit in the file.",
        )
        .pure(),
        func(
            "unit_resource",
            unit_resource,
            &[LEVEL_ARG, INDEX_ARG],
            "Returns the name of the resource that a unit is spawned from.",
        )
        .pure(),
        func(
            "unit_position",
            unit_position,
            &[LEVEL_ARG, INDEX_ARG],
            "Returns the position of a unit in the level, in metres.",
        )
        .pure(),
        func(
            "unit_rotation",
            unit_rotation,
            &[LEVEL_ARG, INDEX_ARG],
            "Returns the rotation of a unit in the level; the identity if the file does not set \
             one.",
        )
        .pure(),
        func(
            "unit_data",
            unit_data,
            &[LEVEL_ARG, INDEX_ARG],
            "Returns the data that the level sets for a unit, as a table.",
        )
        .pure()
        .node(NodeFlag::Hidden),
        func(
            "unit_indices",
            unit_indices,
            &[LEVEL_ARG, ("unit", "the name of a unit resource; all units if left out")],
            "Returns the indices of the units that are spawned from a resource.",
        )
        .pure(),
        func(
            "object_set_names",
            object_set_names,
            &[LEVEL_ARG],
            "Returns the names of the level's object sets.",
        )
        .pure(),
        func(
            "unit_indices_in_object_set",
            unit_indices_in_object_set,
            &[LEVEL_ARG, ("object_set", "the name of an object set")],
            "Returns the indices of the units in an object set.",
        )
        .pure(),
        func("data", data, &[LEVEL_ARG], "Returns the level's own data, as a table.")
            .pure()
            .node(NodeFlag::Hidden),
    ],
);

fn level(engine: &mut Engine, name: &TextArgument) -> Result<Arc<LevelResource>, Error> {
    let (levels, store) = (&mut engine.worlds.levels, &mut engine.assets.store);
    levels.resource(store, name.as_str())
}

/// Returns a property of one of the level's units.
fn of_unit<T>(
    engine: &mut Engine,
    name: &TextArgument,
    index: Integer,
    of: impl FnOnce(&LevelUnit) -> T,
) -> Result<T, Error> {
    let level = level(engine, name)?;
    let unit = usize::try_from(index.0 - 1).ok().and_then(|index| level.units.get(index));
    unit.map(of).ok_or_else(|| {
        engine_foundation::error!(
            "argument #2 'index': level \"{}\" has {} units, got {}",
            level.name,
            level.units.len(),
            index.0
        )
    })
}

fn num_units(engine: &mut Engine, name: TextArgument) -> Result<u64, Error> {
    Ok(level(engine, &name)?.units.len() as u64)
}

fn unit_name(engine: &mut Engine, name: TextArgument, index: Integer) -> Result<String, Error> {
    of_unit(engine, &name, index, |unit| unit.name.clone())
}

fn unit_resource(engine: &mut Engine, name: TextArgument, index: Integer) -> Result<String, Error> {
    of_unit(engine, &name, index, |unit| unit.unit.clone())
}

fn unit_position(engine: &mut Engine, name: TextArgument, index: Integer) -> Result<Vec3, Error> {
    of_unit(engine, &name, index, |unit| unit.pose.position)
}

fn unit_rotation(engine: &mut Engine, name: TextArgument, index: Integer) -> Result<Quat, Error> {
    of_unit(engine, &name, index, |unit| unit.pose.rotation.unwrap_or(Quat::IDENTITY))
}

fn unit_data(
    engine: &mut Engine,
    name: TextArgument,
    index: Integer,
) -> Result<ScriptValue, Error> {
    of_unit(engine, &name, index, |unit| ScriptValue::from_tree(&unit.data))
}

fn indices_of(level: &LevelResource, is_wanted: impl Fn(&LevelUnit) -> bool) -> ScriptValue {
    let wanted = (0..level.units.len()).filter(|index| is_wanted(&level.units[*index]));
    ScriptValue::List(wanted.map(|index| ScriptValue::Number(index as f64 + 1.0)).collect())
}

fn unit_indices(
    engine: &mut Engine,
    name: TextArgument,
    unit: Option<TextArgument>,
) -> Result<ScriptValue, Error> {
    let level = level(engine, &name)?;
    Ok(indices_of(&level, |it| unit.as_ref().is_none_or(|unit| it.unit == unit.as_str())))
}

fn object_set_names(engine: &mut Engine, name: TextArgument) -> Result<Vec<String>, Error> {
    Ok(level(engine, &name)?.object_sets.clone())
}

fn unit_indices_in_object_set(
    engine: &mut Engine,
    name: TextArgument,
    set: TextArgument,
) -> Result<ScriptValue, Error> {
    let level = level(engine, &name)?;
    let set = level.object_set(set.as_str())?;
    Ok(indices_of(&level, |unit| unit.is_in(set)))
}

fn data(engine: &mut Engine, name: TextArgument) -> Result<ScriptValue, Error> {
    Ok(ScriptValue::from_tree(&level(engine, &name)?.data))
}
