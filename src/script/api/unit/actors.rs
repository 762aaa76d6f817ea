//! The actors of units: native functions for the prelude's `Unit.actor` and related functions
//! (lua/world/unit/physics.lua).

use crate::api_row::{ModuleRows, func, module};
use crate::argument::TextArgument;
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_foundation::sjson::SjsonTree;
use engine_runtime::Engine;
use engine_world::physics::{ActorDesc, ActorId};
use engine_world::unit::UnitId;

/// Native functions on which the prelude's functions of `Unit` are built. They have the names of
/// the public functions.
pub static CORE: ModuleRows = module(
    "Unit",
    "Native functions on the actors of units, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "num_actors",
            num_actors,
            &[("unit", "a unit")],
            "Returns the number of a unit's actors, including destroyed ones.",
        )
        .pure(),
        func(
            "actor",
            unit_actor,
            &[("unit", "a unit"), ("actor", "")],
            "Returns an actor of a unit.",
        )
        .pure(),
        func(
            "find_actor",
            find_actor,
            &[("unit", "a unit"), ("name", "a name")],
            "Returns the index of an actor.",
        )
        .pure(),
        func(
            "create_actor",
            create_actor,
            &[("unit", "a unit"), ("actor", ""), ("fields", "as in a unit's file")],
            "Creates an actor of the file again, or a new one if fields are passed.",
        ),
        func(
            "teleport",
            teleport,
            &[("unit", "a unit")],
            "Moves the actors of a unit to its nodes.",
        ),
        func(
            "disable_physics",
            disable_physics,
            &[("unit", "a unit")],
            "Removes the actors of a unit from the simulation.",
        ),
        func(
            "enable_physics",
            enable_physics,
            &[("unit", "a unit")],
            "Puts the actors of a unit back into the simulation.",
        ),
    ],
);

fn num_actors(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.physics.num_actors(unit) as u64
}

/// Returns the 0-based index of a unit's actor, from its name or its 1-based index.
fn index_of(engine: &Engine, unit: UnitId, key: &ScriptValue) -> Result<usize, Error> {
    let resource = &engine.worlds.units.of(unit).resource.name;
    match key {
        ScriptValue::Text(name) => engine.worlds.physics.find_actor(unit, name).ok_or_else(|| {
            let hint = engine.worlds.physics.name_hint(unit, name);
            engine_foundation::error!(
                "argument #2 'actor': unit \"{resource}\" has no actor '{name}'{hint}"
            )
        }),
        ScriptValue::Number(at) => {
            let count = engine.worlds.physics.num_actors(unit);
            if count == 0 {
                return Err(engine_foundation::error!(
                    "argument #2 'actor': unit \"{resource}\" has no actors"
                ));
            }
            match at.fract() == 0.0 && *at >= 1.0 && *at <= count as f64 {
                true => Ok(*at as usize - 1),
                false => Err(engine_foundation::error!(
                    "argument #2 'actor': unit \"{resource}\" has the actors 1 to {count}, got {at}"
                )),
            }
        }
        _ => Err(engine_foundation::error!("argument #2 'actor' must be a name or a whole number")),
    }
}

fn disable_physics(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    engine.set_unit_physics_enabled(unit, false)
}

fn enable_physics(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    engine.set_unit_physics_enabled(unit, true)
}

fn has_no_physics(engine: &mut Engine, unit: UnitId) -> bool {
    let world = engine.worlds.units.of(unit).world;
    engine.worlds.world(world).flags.no_physics
}

fn unit_actor(
    engine: &mut Engine,
    unit: UnitId,
    key: ScriptValue,
) -> Result<Option<ActorId>, Error> {
    if has_no_physics(engine, unit) {
        return Ok(None);
    }
    Ok(engine.worlds.physics.unit_actor(unit, index_of(engine, unit, &key)?))
}

fn teleport(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    let (physics, units) = (&mut engine.worlds.physics, &mut engine.worlds.units);
    physics.teleport_unit(unit, units)
}

fn find_actor(engine: &mut Engine, unit: UnitId, name: TextArgument) -> ScriptValue {
    let found = engine.worlds.physics.find_actor(unit, name.as_str());
    found.map_or(ScriptValue::Nil, |index| ScriptValue::Number(index as f64 + 1.0))
}

fn create_actor(
    engine: &mut Engine,
    unit: UnitId,
    key: ScriptValue,
    fields: ScriptValue,
) -> Result<ActorId, Error> {
    if has_no_physics(engine, unit) {
        return Err(engine_foundation::error!("the world was made with the flag \"no_physics\""));
    }
    if !matches!(fields, ScriptValue::Nil) {
        let ScriptValue::Text(name) = &key else {
            return Err(engine_foundation::error!(
                "argument #2 'actor' must be the name of the new actor, where there are fields"
            ));
        };
        return new_actor(engine, unit, name, &fields);
    }
    let index = index_of(engine, unit, &key)?;
    engine.worlds.create_unit_actor(&mut engine.assets, unit, index)
}

fn new_actor(
    engine: &mut Engine,
    unit: UnitId,
    name: &str,
    fields: &ScriptValue,
) -> Result<ActorId, Error> {
    let tree = match fields.to_tree() {
        SjsonTree::Array(items) if items.is_empty() => SjsonTree::Object(Vec::new()),
        tree => tree,
    };
    if engine.worlds.physics.find_actor(unit, name).is_some() {
        return Err(engine_foundation::error!(
            "the unit has an actor '{name}' already: give it another name"
        ));
    }
    let spec = ActorDesc::read(name, &tree, true)?;
    engine.create_new_actor(unit, &spec)
}
