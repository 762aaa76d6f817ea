//! The Lua modules `Unit` and `World`: events that characters send, and the log of characters. Also
//! the native part of the callback `on_animation_event` (lua/world/animation_events.lua).

use super::animation::character;
use crate::api_row::{ModuleRows, NodeFlag, func, module, more};
use crate::value::ScriptValue;
use engine_foundation::{Error, log};
use engine_runtime::{Engine, Worlds};
use engine_world::WorldId;
use engine_world::animation::{AnimationEvent, EVENTS_MAX};
use engine_world::unit::UnitId;

pub static UNIT: ModuleRows = more(
    "Unit",
    &[func(
        "set_animation_logging",
        set_animation_logging,
        &[("unit", "a unit"), ("enabled", "true to log, false to stop")],
        "Logs the transitions of a unit's state machine, and the events that it gets and \
             sends.",
    )],
);

pub static WORLD: ModuleRows = more(
    "World",
    &[func(
        "animation_events",
        animation_events,
        &[("world", "a world")],
        "Returns the events that the characters of a world have sent since the last call, the \
         oldest first: tables with `unit`, `event` and `layer`. States send the events in their \
         `enter`, `exit` and `events`, and their animations those of their files, as do those that \
         `Unit.crossfade_animation` plays. At most 16,384 events of a world wait; then the oldest \
         are dropped. The callback `on_animation_event` gets the same events.",
    )
    .node(NodeFlag::Hidden)],
);

/// Native functions in the prelude's table `core`.
pub static CORE: ModuleRows = module(
    "core",
    "Events of characters, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "has_fresh_animation_events",
            has_fresh_animation_events,
            &[],
            "Returns true if characters sent events in the last update of a world.",
        )
        .pure(),
        func(
            "fresh_animation_events",
            fresh_animation_events,
            &[],
            "Returns the events of the last update: unit, event, and layer from 1, in turn.",
        )
        .pure(),
    ],
);

fn set_animation_logging(engine: &mut Engine, unit: UnitId, enabled: bool) -> Result<(), Error> {
    character(engine, unit)?;
    let Worlds { animations, units, .. } = &mut engine.worlds;
    animations.set_logging(units, unit, enabled);
    Ok(())
}

/// Returns the unit, the name and the layer of an event.
fn values(event: &AnimationEvent) -> [ScriptValue; 3] {
    [
        ScriptValue::Number(event.unit.0.to_number()),
        ScriptValue::Text(event.origin.name().to_string()),
        ScriptValue::Number(f64::from(event.layer) + 1.0),
    ]
}

fn animation_events(engine: &mut Engine, world: WorldId) -> ScriptValue {
    let (events, dropped) = engine.worlds.animations.events.take(world);
    if dropped > 0 {
        let message = format!(
            "{dropped} animation events of a world were dropped, because {EVENTS_MAX} were waiting \
             (EVENTS_MAX): call World.animation_events in every frame"
        );
        log::warn("World.animation_events", &message);
    }
    let row = |event: &AnimationEvent| {
        let keys = ["unit", "event", "layer"].map(str::to_string);
        ScriptValue::Table(keys.into_iter().zip(values(event)).collect())
    };
    ScriptValue::List(events.iter().map(row).collect())
}

fn has_fresh_animation_events(engine: &mut Engine) -> bool {
    !engine.worlds.animations.events.fresh().is_empty()
}

fn fresh_animation_events(engine: &mut Engine) -> ScriptValue {
    let events = engine.worlds.animations.events.fresh();
    ScriptValue::List(events.iter().flat_map(values).collect())
}
