//! The Lua module `Unit`: functions for the ragdolls of units.

use super::animation::character;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use crate::value::ScriptValue;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_runtime::Engine;
use engine_world::animation::{
    BoundMachine, CharacterRagdoll, LyingSide, RAGDOLL_BODIES_MAX, RagdollOptions,
};
use engine_world::physics::ActorId;
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");

/// Maximum duration of a fade-out in seconds.
const BLEND_SECONDS_MAX: f64 = 3600.0;

const OPTIONS: [&str; 2] = ["bones", "strength"];

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "start_ragdoll",
            start_ragdoll,
            &[
                UNIT_ARG,
                (
                    "options",
                    "a table: `bones`, a list of bones whose bodies, with all below them, move by \
                     forces (all by default), and `strength`, from 0 (limp) to 1, with which \
                     motors pull the bodies towards the animation (that of the unit's file by \
                     default)",
                ),
            ],
            "Hands the bones of a unit to physics: bodies begin with the pose and the velocities \
             of the animation. They exist at once, so that you can push them.",
        ),
        func(
            "stop_ragdoll",
            stop_ragdoll,
            &[UNIT_ARG, ("blend_time", "seconds in which the animation takes over; 0 by default")],
            "Ends the ragdoll that `Unit.start_ragdoll` started. The unit and its mover move to \
             the pelvis in the next update, so that the character gets up where it lies. Does \
             nothing if no ragdoll runs.",
        ),
        func(
            "is_ragdoll",
            is_ragdoll,
            &[UNIT_ARG],
            "Returns true while bodies move the bones of a unit: all of them, or some.",
        )
        .pure(),
        func(
            "ragdoll_actor",
            ragdoll_actor,
            &[UNIT_ARG, ("bone", "the name of a bone")],
            "Returns the actor that moves a bone while a ragdoll runs, or nil if the animation \
             moves the bone.",
        )
        .pure(),
        func(
            "ragdoll_bones",
            ragdoll_bones,
            &[UNIT_ARG],
            "Returns the names of the bones that have bodies of their own, the pelvis first. \
             Without a ragdoll in its file, a unit has none until the first \
             `Unit.start_ragdoll`.",
        )
        .pure(),
        func(
            "ragdoll_side",
            ragdoll_side,
            &[UNIT_ARG],
            "Returns the side on which a ragdoll lies, for the choice of an animation that gets \
             up: \"back\" or \"belly\". Returns nil if the pelvis is not moved by forces.",
        )
        .pure(),
        func(
            "set_ragdoll_strength",
            set_ragdoll_strength,
            &[UNIT_ARG, ("strength", "0 (limp) to 1")],
            "Sets the strength of the motors that pull the bodies of a ragdoll towards the \
             animation.",
        ),
    ],
);

fn ragdoll(engine: &Engine, unit: UnitId) -> Option<&CharacterRagdoll> {
    engine.worlds.animations.of(unit.row())?.ragdoll.as_deref()
}

/// Prepares a unit for the ragdolls of a state machine.
pub(super) fn prepare(
    engine: &mut Engine,
    unit: UnitId,
    machine: &BoundMachine,
) -> Result<(), Error> {
    if !machine.has_ragdolls() {
        return Ok(());
    }
    let world = engine.worlds.units.of(unit).world;
    if !engine.worlds.world(world).flags.no_physics {
        engine.physics_world(world)?;
    }
    let prepared = engine.worlds.animations.prepare_ragdoll(unit, None);
    prepared.map_err(|error| named(engine, unit, error))
}

/// Adds the name of the unit to an error.
fn named(engine: &Engine, unit: UnitId, error: Error) -> Error {
    let name = &engine.worlds.units.of(unit).resource.name;
    Error { message: format!("unit \"{name}\": {}", error.message), ..error }
}

fn read_strength(value: f64, subject: &str) -> Result<f32, Error> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(value as f32),
        false => Err(error!("{subject} must be 0 to 1, got {value}")),
    }
}

fn read_options(options: Option<ScriptValue>) -> Result<RagdollOptions, Error> {
    let mut read = RagdollOptions::default();
    let entries = match options {
        None => Vec::new(),
        Some(ScriptValue::Table(entries)) => entries,
        Some(ScriptValue::List(items)) if items.is_empty() => Vec::new(),
        Some(_) => return Err(error!("argument #2 'options' must be a table of options")),
    };
    for (key, value) in entries {
        match (key.as_str(), value) {
            ("strength", ScriptValue::Number(value)) => {
                read.strength = Some(read_strength(value, "'strength'")?);
            }
            ("strength", _) => return Err(error!("'strength' must be a number from 0 to 1")),
            ("bones", ScriptValue::List(items)) => read.bones = Some(read_names(items)?),
            ("bones", _) => return Err(error!("'bones' must be a list of names of bones")),
            (key, _) => {
                let near = hint(key, OPTIONS);
                return Err(error!(
                    "argument #2 'options' has no option '{key}'{near}: it has bones and strength"
                ));
            }
        }
    }
    Ok(read)
}

fn read_names(items: Vec<ScriptValue>) -> Result<Vec<String>, Error> {
    if items.len() > RAGDOLL_BODIES_MAX {
        return Err(error!(
            "'bones' has at most {RAGDOLL_BODIES_MAX} names (BODIES_MAX), got {}",
            items.len()
        ));
    }
    let name = |item: ScriptValue| match item {
        ScriptValue::Text(name) => Ok(name),
        _ => Err(error!("'bones' must be a list of names of bones")),
    };
    items.into_iter().map(name).collect()
}

fn start_ragdoll(
    engine: &mut Engine,
    unit: UnitId,
    options: Option<ScriptValue>,
) -> Result<(), Error> {
    character(engine, unit)?;
    let options = read_options(options)?;
    let world = engine.worlds.units.of(unit).world;
    let physics_world = engine.physics_world(world).map_err(|error| named(engine, unit, error))?;
    let worlds = &mut engine.worlds;
    let physics = (&mut worlds.physics, physics_world);
    worlds
        .animations
        .start_ragdoll(unit, &mut worlds.units, physics, &options)
        .map_err(|error| named(engine, unit, error))
}

fn stop_ragdoll(engine: &mut Engine, unit: UnitId, blend: Option<f64>) -> Result<(), Error> {
    let blend = blend.unwrap_or(0.0);
    if !(0.0..=BLEND_SECONDS_MAX).contains(&blend) {
        return Err(error!(
            "argument #2 'blend_time' must be 0 to {BLEND_SECONDS_MAX}, got {blend}"
        ));
    }
    let Some(ragdoll) = character(engine, unit)?.ragdoll.as_deref_mut() else { return Ok(()) };
    ragdoll.stop(blend as f32).map(drop).map_err(|error| named(engine, unit, error))
}

fn is_ragdoll(engine: &mut Engine, unit: UnitId) -> bool {
    ragdoll(engine, unit).is_some_and(CharacterRagdoll::is_active)
}

fn ragdoll_actor(
    engine: &mut Engine,
    unit: UnitId,
    bone: TextArgument,
) -> Result<Option<ActorId>, Error> {
    character(engine, unit)?;
    let Some(ragdoll) = ragdoll(engine, unit) else { return Ok(None) };
    let found = ragdoll.actor(unit, &engine.worlds.physics, bone.as_str());
    found.map_err(|error| named(engine, unit, error))
}

fn ragdoll_bones(engine: &mut Engine, unit: UnitId) -> ScriptValue {
    let names = ragdoll(engine, unit).map_or(&[][..], CharacterRagdoll::bone_names);
    ScriptValue::List(names.iter().map(|name| ScriptValue::Text(name.to_string())).collect())
}

fn ragdoll_side(engine: &mut Engine, unit: UnitId) -> ScriptValue {
    match ragdoll(engine, unit).and_then(CharacterRagdoll::lying_side) {
        Some(LyingSide::FaceUp) => ScriptValue::Text("back".to_string()),
        Some(LyingSide::FaceDown) => ScriptValue::Text("belly".to_string()),
        None => ScriptValue::Nil,
    }
}

fn set_ragdoll_strength(engine: &mut Engine, unit: UnitId, strength: f64) -> Result<(), Error> {
    let strength = read_strength(strength, "argument #2 'strength'")?;
    match character(engine, unit)?.ragdoll.as_deref_mut() {
        Some(ragdoll) => {
            ragdoll.strength = strength;
            Ok(())
        }
        None => {
            let error = error!(
                "it has no ragdoll: describe one in its file, or call Unit.start_ragdoll first"
            );
            Err(named(engine, unit, error))
        }
    }
}
