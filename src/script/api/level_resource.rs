//! `LevelResource`: what a level's file says, whether or not it is spawned.

use crate::engine::Engine;
use crate::foundation::{Error, Quat, Vec3};
use crate::script::arg::{Integer, Text};
use crate::script::row::{Module, func, module};
use crate::script::value::Value;
use crate::world::level_resource::{LevelResource, LevelUnit};
use std::sync::Arc;

const LEVEL_ARG: (&str, &str) = ("resource", "the name of a level, as \"levels/yard\"");
const INDEX_ARG: (&str, &str) = ("index", "a unit's place in the file, from 1");

pub static LEVEL_RESOURCE: Module = module(
    "LevelResource",
    "What a level's file says of its units, without spawning it: for lists of what there is, and \
     for games that spawn a part by themselves.",
    r#"assert(not pcall(LevelResource.num_units, "levels/of_no_game"))"#,
    &[
        func("num_units", num_units, &[LEVEL_ARG], "How many units the level has.").pure(),
        func("unit_name", unit_name, &[LEVEL_ARG, INDEX_ARG], "The name of a unit in the file.")
            .pure(),
        func(
            "unit_resource",
            unit_resource,
            &[LEVEL_ARG, INDEX_ARG],
            "The name of the resource that a unit is spawned from.",
        )
        .pure(),
        func(
            "unit_position",
            unit_position,
            &[LEVEL_ARG, INDEX_ARG],
            "Where a unit is in the level, in metres.",
        )
        .pure(),
        func(
            "unit_rotation",
            unit_rotation,
            &[LEVEL_ARG, INDEX_ARG],
            "How a unit is turned in the level; not at all where the file does not say.",
        )
        .pure(),
        func(
            "unit_data",
            unit_data,
            &[LEVEL_ARG, INDEX_ARG],
            "What the level says of a unit's data, as a table.",
        )
        .pure(),
        func(
            "unit_indices",
            unit_indices,
            &[LEVEL_ARG, ("unit", "the name of a unit's resource; every unit if left out")],
            "The places of the units that are spawned from a resource.",
        )
        .pure(),
        func(
            "object_set_names",
            object_set_names,
            &[LEVEL_ARG],
            "The names of the level's sets of units.",
        )
        .pure(),
        func(
            "unit_indices_in_object_set",
            unit_indices_in_object_set,
            &[LEVEL_ARG, ("object_set", "the name of a set")],
            "The places of the units of a set.",
        )
        .pure(),
        func("data", data, &[LEVEL_ARG], "The level's own data, as a table.").pure(),
    ],
);

fn level(engine: &mut Engine, name: &Text) -> Result<Arc<LevelResource>, Error> {
    let Engine { levels, store, .. } = engine;
    levels.resource(store, name.as_str())
}

/// Gives what is wanted of one of the level's units.
fn of_unit<T>(
    engine: &mut Engine,
    name: &Text,
    index: Integer,
    of: impl FnOnce(&LevelUnit) -> T,
) -> Result<T, Error> {
    let level = level(engine, name)?;
    let unit = usize::try_from(index.0 - 1).ok().and_then(|place| level.units.get(place));
    unit.map(of).ok_or_else(|| {
        crate::error!(
            "argument #2 'index': level \"{}\" has {} units, got {}",
            level.name,
            level.units.len(),
            index.0
        )
    })
}

fn num_units(engine: &mut Engine, name: Text) -> Result<f64, Error> {
    Ok(level(engine, &name)?.units.len() as f64)
}

fn unit_name(engine: &mut Engine, name: Text, index: Integer) -> Result<String, Error> {
    of_unit(engine, &name, index, |unit| unit.name.clone())
}

fn unit_resource(engine: &mut Engine, name: Text, index: Integer) -> Result<String, Error> {
    of_unit(engine, &name, index, |unit| unit.unit.clone())
}

fn unit_position(engine: &mut Engine, name: Text, index: Integer) -> Result<Vec3, Error> {
    of_unit(engine, &name, index, |unit| unit.placed.position)
}

fn unit_rotation(engine: &mut Engine, name: Text, index: Integer) -> Result<Quat, Error> {
    of_unit(engine, &name, index, |unit| unit.placed.rotation.unwrap_or(Quat::IDENTITY))
}

fn unit_data(engine: &mut Engine, name: Text, index: Integer) -> Result<Value, Error> {
    of_unit(engine, &name, index, |unit| Value::from_tree(&unit.data))
}

fn places(level: &LevelResource, is_wanted: impl Fn(&LevelUnit) -> bool) -> Value {
    let wanted = (0..level.units.len()).filter(|place| is_wanted(&level.units[*place]));
    Value::List(wanted.map(|place| Value::Number(place as f64 + 1.0)).collect())
}

fn unit_indices(engine: &mut Engine, name: Text, unit: Option<Text>) -> Result<Value, Error> {
    let level = level(engine, &name)?;
    Ok(places(&level, |it| unit.as_ref().is_none_or(|unit| it.unit == unit.as_str())))
}

fn object_set_names(engine: &mut Engine, name: Text) -> Result<Vec<String>, Error> {
    Ok(level(engine, &name)?.object_sets.clone())
}

fn unit_indices_in_object_set(engine: &mut Engine, name: Text, set: Text) -> Result<Value, Error> {
    let level = level(engine, &name)?;
    let set = level.object_set(set.as_str())?;
    Ok(places(&level, |unit| unit.is_in(set)))
}

fn data(engine: &mut Engine, name: Text) -> Result<Value, Error> {
    Ok(Value::from_tree(&level(engine, &name)?.data))
}
