//! The actors of units, for the prelude's `Unit.actor` and its like (lua/physics_units.lua).

use crate::engine::Engine;
use crate::foundation::Error;
use crate::foundation::sjson::Tree;
use crate::script::arg::Text;
use crate::script::row::{Module, func, module};
use crate::script::value::Value;
use crate::world::physics::{ActorId, ActorSpec};
use crate::world::unit::UnitId;

/// What the prelude's functions of `Unit` stand on. They carry the names by which games know them.
pub static CORE: Module = module(
    "Unit",
    "Actors of units, for the prelude.",
    "assert(core == nil)",
    &[
        func("num_actors", num_actors, &[("unit", "a unit")], "How many places there are.").pure(),
        func("actor", unit_actor, &[("unit", "a unit"), ("actor", "")], "One of them.").pure(),
        func("find_actor", find_actor, &[("unit", "a unit"), ("name", "a name")], "Its place.")
            .pure(),
        func(
            "create_actor",
            create_actor,
            &[("unit", "a unit"), ("actor", ""), ("fields", "as in a unit's file")],
            "Makes it again, or a new one of that name where there are fields.",
        ),
        func("teleport", teleport, &[("unit", "a unit")], "Puts its actors where its nodes are."),
        func("disable_physics", disable_physics, &[("unit", "a unit")], "Takes its actors out."),
        func("enable_physics", enable_physics, &[("unit", "a unit")], "Puts them back."),
    ],
);

fn num_actors(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.physics.num_actors(unit) as u64
}

/// The place of an actor of a unit, from 0, of its name or its place from 1.
fn place(engine: &Engine, unit: UnitId, key: &Value) -> Result<usize, Error> {
    let resource = &engine.units.of(unit).resource.name;
    match key {
        Value::Text(name) => engine.physics.find_actor(unit, name).ok_or_else(|| {
            let hint = engine.physics.near_name(unit, name);
            crate::error!("argument #2 'actor': unit \"{resource}\" has no actor '{name}'{hint}")
        }),
        Value::Number(at) => {
            let count = engine.physics.num_actors(unit);
            if count == 0 {
                return Err(crate::error!(
                    "argument #2 'actor': unit \"{resource}\" has no actors"
                ));
            }
            match at.fract() == 0.0 && *at >= 1.0 && *at <= count as f64 {
                true => Ok(*at as usize - 1),
                false => Err(crate::error!(
                    "argument #2 'actor': unit \"{resource}\" has the actors 1 to {count}, got {at}"
                )),
            }
        }
        _ => Err(crate::error!("argument #2 'actor' must be a name or a whole number")),
    }
}

fn disable_physics(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    engine.switch_unit_physics(unit, false)
}

fn enable_physics(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    engine.switch_unit_physics(unit, true)
}

fn has_no_physics(engine: &mut Engine, unit: UnitId) -> bool {
    let world = engine.units.of(unit).world;
    engine.world(world).flags.no_physics
}

fn unit_actor(engine: &mut Engine, unit: UnitId, key: Value) -> Result<Option<ActorId>, Error> {
    if has_no_physics(engine, unit) {
        return Ok(None);
    }
    Ok(engine.physics.unit_actor(unit, place(engine, unit, &key)?))
}

fn teleport(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    let Engine { physics, units, .. } = engine;
    physics.teleport_unit(unit, units)
}

fn find_actor(engine: &mut Engine, unit: UnitId, name: Text) -> Value {
    let found = engine.physics.find_actor(unit, name.as_str());
    found.map_or(Value::Nil, |place| Value::Number(place as f64 + 1.0))
}

fn create_actor(
    engine: &mut Engine,
    unit: UnitId,
    key: Value,
    fields: Value,
) -> Result<ActorId, Error> {
    if has_no_physics(engine, unit) {
        return Err(crate::error!("the world was made with the flag \"no_physics\""));
    }
    if !matches!(fields, Value::Nil) {
        let Value::Text(name) = &key else {
            return Err(crate::error!(
                "argument #2 'actor' must be the name of the new actor, where there are fields"
            ));
        };
        return new_actor(engine, unit, name, &fields);
    }
    let place = place(engine, unit, &key)?;
    engine.create_unit_actor(unit, place)
}

fn new_actor(
    engine: &mut Engine,
    unit: UnitId,
    name: &str,
    fields: &Value,
) -> Result<ActorId, Error> {
    let tree = match fields.to_tree() {
        Tree::Array(items) if items.is_empty() => Tree::Object(Vec::new()),
        tree => tree,
    };
    if engine.physics.find_actor(unit, name).is_some() {
        return Err(crate::error!("the unit has an actor '{name}' already: give it another name"));
    }
    let spec = ActorSpec::read(name, &tree, true)?;
    engine.create_new_actor(unit, &spec)
}
