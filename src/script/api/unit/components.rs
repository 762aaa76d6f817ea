//! The Lua module `Unit`: functions for the sounds and particles that a unit's components play, and
//! native functions in the prelude's table `core` about components of units
//! (lua/world/component_queries.lua, lua/world/unit/inspect.lua).

use crate::api::sound::arguments::StartedVoice;
use crate::api::unit::meshes::no_such;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::{NameOrIndex, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_foundation::sjson::SjsonTree;
use engine_navigation::AgentId;
use engine_particles::EffectId;
use engine_runtime::Engine;
use engine_sound::VoiceId;
use engine_world::WorldId;
use engine_world::unit::UnitId;
use engine_world::unit_resource::UnitResource;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "voice",
            voice,
            &[UNIT_ARG, ("sound", "the name of a component `sound`, or its index from 1")],
            "Returns the voice of a component `sound`; nil if the voice has ended. The functions \
             of `Sound` take it.",
        )
        .pure(),
        func(
            "num_voices",
            num_voices,
            &[UNIT_ARG],
            "Returns the number of the unit's components `sound`, including those whose voice has \
             ended.",
        )
        .pure(),
        func(
            "agent",
            agent,
            &[UNIT_ARG],
            "Returns the agent of a component `agent`; nil until its world has a navigation mesh \
             with ground at the unit, and if the agent was destroyed.",
        )
        .pure(),
        func(
            "particles",
            particles,
            &[UNIT_ARG, ("particles", "the name of a component `particles`, or its index from 1")],
            "Returns the effect of a component `particles`; nil if the effect has ended. The \
             functions of `World` for particles take it.",
        )
        .pure(),
        func(
            "num_particles",
            num_particles,
            &[UNIT_ARG],
            "Returns the number of the unit's components `particles`, including those whose effect \
             has ended.",
        )
        .pure(),
    ],
);

/// Functions of `Unit`.
pub static UNIT_CORE: ModuleRows = more(
    "Unit",
    &[
        func(
            "has_component",
            has_component,
            &[UNIT_ARG, ("component", "")],
            "Returns true if a unit has a component of a type.",
        )
        .pure(),
        func(
            "unit_parts",
            unit_parts,
            &[UNIT_ARG],
            "Returns name, type, node and fields of each component of a unit.",
        )
        .public_name("Unit.inspect_table")
        .pure(),
    ],
);

/// Functions of `World`.
pub static WORLD_CORE: ModuleRows = more(
    "World",
    &[func(
        "units_with",
        units_with,
        &[("world", ""), ("component", "")],
        "Returns the units of a world that have a component of a type.",
    )
    .pure()],
);

/// Returns the index of a component among those of its type, given by name or index.
fn index_of<'a>(
    engine: &Engine,
    unit: UnitId,
    kind: &str,
    which: NameOrIndex,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, Error> {
    let count = names.clone().count();
    let found = which.position(names.clone(), count);
    found.ok_or_else(|| no_such(engine, unit, kind, which, (names, count)))
}

fn voice(engine: &mut Engine, unit: UnitId, which: NameOrIndex) -> Result<StartedVoice, Error> {
    let resource = engine.worlds.units.of(unit).resource.clone();
    let names = resource.template.sounds.iter().map(|part| &part.name[..]);
    let index = index_of(engine, unit, "sound", which, names)?;
    let voice = engine.worlds.voices.of_unit(unit.row()).get(index).and_then(|entry| entry.voice);
    let slots = &engine.devices.sounds.voices.slots;
    Ok(StartedVoice(voice.filter(|voice| slots.get(*voice).is_some()).map(VoiceId)))
}

fn agent(engine: &mut Engine, unit: UnitId) -> Option<AgentId> {
    engine.unit_agent(unit)
}

fn num_voices(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.units.of(unit).resource.template.sounds.len() as u64
}

fn particles(
    engine: &mut Engine,
    unit: UnitId,
    which: NameOrIndex,
) -> Result<Option<EffectId>, Error> {
    let resource = engine.worlds.units.of(unit).resource.clone();
    let names = resource.template.effects.iter().map(|part| &part.name[..]);
    let index = index_of(engine, unit, "particles", which, names)?;
    let effect = engine.worlds.scenes.effects.of_unit(unit.row()).get(index).map(|it| it.id);
    let slots = engine.worlds.particles.slots();
    Ok(effect.filter(|effect| slots.get(effect.0).is_some()))
}

fn num_particles(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.units.of(unit).resource.template.effects.len() as u64
}

fn has(resource: &UnitResource, component: &str) -> bool {
    resource.parts.iter().any(|part| part.component == component)
}

fn has_component(engine: &mut Engine, unit: UnitId, component: TextArgument) -> bool {
    has(&engine.worlds.units.of(unit).resource, component.as_str())
}

fn units_with(engine: &mut Engine, world: WorldId, component: TextArgument) -> ScriptValue {
    let units = engine.worlds.units.slots.iter();
    let found = units.filter(|(_, unit)| unit.world == world);
    let found = found.filter(|(_, unit)| has(&unit.resource, component.as_str()));
    ScriptValue::List(found.map(|(handle, _)| ScriptValue::Number(handle.to_number())).collect())
}

fn unit_parts(engine: &mut Engine, unit: UnitId) -> ScriptValue {
    let resource = &engine.worlds.units.of(unit).resource;
    let parts = resource.parts.iter().map(|part| {
        let node = match part.fields.get("node") {
            Some(SjsonTree::String(name)) => resource.node(name).unwrap_or(0),
            _ => 0,
        };
        ScriptValue::List(vec![
            ScriptValue::Text(part.name.clone()),
            ScriptValue::Text(part.component.clone()),
            ScriptValue::Number(node as f64 + 1.0),
            ScriptValue::from_tree(&part.fields),
        ])
    });
    ScriptValue::List(parts.collect())
}
