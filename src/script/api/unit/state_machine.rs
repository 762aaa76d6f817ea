//! The Lua module `Unit`: functions for the state machines of units.

use super::animation::character;
use crate::api_row::{ModuleRows, func, hot, more};
use crate::argument::{Argument, ArgumentError, Integer, NameOrIndex, TextArgument};
use crate::context::ScriptContext;
use crate::return_value::ReturnValue;
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_runtime::{Engine, Worlds};
use engine_world::animation::{CharacterMachine, IndexKind};
use engine_world::unit::{UnitId, Units};
use mlua::ffi::lua_State;
use std::ffi::c_int;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
const EVENT_ARG: (&str, &str) = ("event", "the name of an event, or its index");
const VARIABLE_ARG: (&str, &str) = ("variable", "the name of a variable, or its index");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "has_animation_state_machine",
            has_animation_state_machine,
            &[UNIT_ARG],
            "Returns true if the unit has a state machine of animations.",
        )
        .pure(),
        func(
            "set_animation_state_machine",
            set_animation_state_machine,
            &[UNIT_ARG, ("state_machine", "the name of a state machine; nil removes it")],
            "Replaces the state machine of a unit. The new one begins in its initial states.",
        ),
        func(
            "enable_animation_state_machine",
            enable_animation_state_machine,
            &[UNIT_ARG],
            "Lets the state machine of a unit run again.",
        ),
        func(
            "disable_animation_state_machine",
            disable_animation_state_machine,
            &[UNIT_ARG],
            "Stops the state machine of a unit: it stands still and does not affect the pose.",
        ),
        hot(
            "animation_event",
            animation_event,
            &[UNIT_ARG, EVENT_ARG],
            "Sends an event to the state machine of a unit. The states change at once, and the \
             pose follows in the updates of the world. Returns true if a layer has a transition \
             for the event.",
        ),
        func(
            "has_animation_event",
            has_animation_event,
            &[UNIT_ARG, ("event", "the name of an event")],
            "Returns true if the state machine of a unit has transitions for an event.",
        )
        .pure(),
        func(
            "animation_find_event",
            animation_find_event,
            &[UNIT_ARG, ("event", "the name of an event")],
            "Returns the index of an event, for `Unit.animation_event`.",
        )
        .pure(),
        func(
            "animation_has_variable",
            animation_has_variable,
            &[UNIT_ARG, ("variable", "the name of a variable")],
            "Returns true if the state machine of a unit has a variable of that name.",
        )
        .pure(),
        func(
            "animation_find_variable",
            animation_find_variable,
            &[UNIT_ARG, ("variable", "the name of a variable")],
            "Returns the index of a variable, for `Unit.animation_set_variable`.",
        )
        .pure(),
        hot(
            "animation_get_variable",
            animation_get_variable,
            &[UNIT_ARG, VARIABLE_ARG],
            "Returns the value of a variable.",
        )
        .pure(),
        hot(
            "animation_set_variable",
            animation_set_variable,
            &[UNIT_ARG, VARIABLE_ARG, ("value", "a number; it is limited to the variable's range")],
            "Sets a variable of the state machine of a unit.",
        ),
        func(
            "animation_layer_info",
            animation_layer_info,
            &[UNIT_ARG, ("layer", "the name of a layer, or its index from 1; 1 by default")],
            "Returns a table about a layer of the state machine: `state`, its `time` and `length` \
             in seconds, and during a cross-fade `from`, the previous state, and `progress`, from \
             0 to 1.",
        )
        .pure(),
        func(
            "animation_get_state",
            animation_get_state,
            &[UNIT_ARG],
            "Returns the states of all layers, and of springs and feet of its constraints, as a \
             list of numbers, for `Unit.animation_set_state`. Seeds and values that are set to \
             variables are not part of it; only the values of the latest update are, for the root \
             motion of the next one.",
        )
        .pure(),
        func(
            "animation_set_state",
            animation_set_state,
            &[UNIT_ARG, ("state", "the result of `Unit.animation_get_state`")],
            "Sets the states of all layers, springs and feet. In a list without springs and feet, \
             these begin again.",
        ),
        func(
            "animation_get_seeds",
            animation_get_seeds,
            &[UNIT_ARG],
            "Returns the seed of the random choices of the state machine.",
        )
        .pure(),
        func(
            "animation_set_seeds",
            animation_set_seeds,
            &[UNIT_ARG, ("seed", "a whole number from 0 to 4294967295")],
            "Sets the seed of the random choices of the state machine.",
        ),
    ],
);

/// Returns the state machine of a unit.
#[inline]
pub(super) fn machine(engine: &mut Engine, unit: UnitId) -> Result<&mut CharacterMachine, Error> {
    let Engine { worlds, .. } = engine;
    match worlds.animations.of_mut(unit.row()).and_then(|it| it.machine.as_mut()) {
        Some(machine) => Ok(machine),
        None => Err(without_machine(&worlds.units, unit)),
    }
}

#[cold]
fn without_machine(units: &Units, unit: UnitId) -> Error {
    let name = &units.of(unit).resource.name;
    error!(
        "unit \"{name}\" has no state machine: name one in the component 'animation' of its file, \
         or call Unit.set_animation_state_machine"
    )
}

pub(super) fn unknown<'a>(
    machine: &CharacterMachine,
    (noun, name): (&str, &str),
    known: impl Iterator<Item = &'a str>,
) -> Error {
    error!("the state machine '{}' has no {noun} '{name}'{}", machine.bound.name, hint(name, known))
}

fn event_names(machine: &CharacterMachine) -> impl Iterator<Item = &str> {
    machine.bound.machine.events().iter().map(String::as_str)
}

fn variable_names(machine: &CharacterMachine) -> impl Iterator<Item = &str> {
    machine.bound.machine.variables().iter().map(|variable| variable.name.as_str())
}

fn find_event(machine: &CharacterMachine, name: &str) -> Result<u16, Error> {
    let found = machine.bound.machine.find_event(name);
    found.ok_or_else(|| unknown(machine, ("event", name), event_names(machine)))
}

fn find_variable(machine: &CharacterMachine, name: &str) -> Result<u16, Error> {
    let found = machine.bound.machine.find_variable(name);
    found.ok_or_else(|| unknown(machine, ("variable", name), variable_names(machine)))
}

/// Returns the index of an event, a variable or a target from its name or its index from 1.
#[inline]
pub(super) fn index_of(
    machine: &CharacterMachine,
    which: &NameOrIndex,
    kind: IndexKind,
    find: fn(&CharacterMachine, &str) -> Result<u16, Error>,
) -> Result<u16, Error> {
    match which {
        NameOrIndex::Name(name) => find(machine, name.as_str()),
        NameOrIndex::Index(index) => match machine.bound.machine_index(kind, *index) {
            Some(index) => Ok(index),
            None => Err(index_error(machine, *index, kind)),
        },
    }
}

#[cold]
fn index_error(machine: &CharacterMachine, index: i64, kind: IndexKind) -> Error {
    let (bound, noun) = (&machine.bound, kind.noun());
    if let Some(removed) = bound.removed_name(kind, index) {
        return error!(
            "the state machine '{}' has no {noun} '{removed}' any more, whose index was {index}: \
             the file was changed",
            bound.name
        );
    }
    let count = bound.script_index_count(kind);
    error!(
        "the state machine '{}' has {count} {noun}s, and {index} is not the index of one",
        bound.name
    )
}

/// Returns the index for scripts from the index in a machine.
pub(super) fn script_index(machine: &CharacterMachine, kind: IndexKind, index: u16) -> u64 {
    machine.bound.script_index(kind, index) as u64
}

fn has_animation_state_machine(engine: &mut Engine, unit: UnitId) -> bool {
    engine.worlds.animations.of(unit.row()).is_some_and(|it| it.machine.is_some())
}

fn set_animation_state_machine(
    engine: &mut Engine,
    unit: UnitId,
    name: Option<TextArgument>,
) -> Result<(), Error> {
    let model = character(engine, unit)?.model.clone();
    let machine = match name {
        None => None,
        Some(name) => {
            let (worlds, assets) = (&mut engine.worlds, &mut engine.assets);
            let bound = worlds.find_state_machine(assets, name.as_str(), &model)?;
            super::ragdoll::prepare(engine, unit, &bound)?;
            Some(CharacterMachine::new(bound, unit.row()))
        }
    };
    character(engine, unit)?.set_machine(machine);
    let Worlds { animations, units, .. } = &mut engine.worlds;
    animations.note_machine_change();
    animations.prepare_bone_sets(unit, units);
    Ok(())
}

fn enable_animation_state_machine(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    machine(engine, unit)?;
    character(engine, unit)?.set_machine_enabled(true);
    Ok(())
}

fn disable_animation_state_machine(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    machine(engine, unit)?;
    character(engine, unit)?.set_machine_enabled(false);
    Ok(())
}

#[inline]
pub(crate) fn animation_event(
    engine: &mut Engine,
    unit: UnitId,
    event: NameOrIndex,
) -> Result<bool, Error> {
    let machine = machine(engine, unit)?;
    let event = index_of(machine, &event, IndexKind::Event, find_event)?;
    let is_taken = machine.send_event(event);
    let Worlds { animations, units, .. } = &mut engine.worlds;
    if !animations.log.is_empty() {
        animations.log_event(units, unit, event, is_taken);
    }
    Ok(is_taken)
}

fn has_animation_event(
    engine: &mut Engine,
    unit: UnitId,
    event: TextArgument,
) -> Result<bool, Error> {
    Ok(machine(engine, unit)?.bound.machine.find_event(event.as_str()).is_some())
}

fn animation_find_event(
    engine: &mut Engine,
    unit: UnitId,
    event: TextArgument,
) -> Result<u64, Error> {
    let machine = machine(engine, unit)?;
    let index = find_event(machine, event.as_str())?;
    Ok(script_index(machine, IndexKind::Event, index))
}

fn animation_has_variable(
    engine: &mut Engine,
    unit: UnitId,
    variable: TextArgument,
) -> Result<bool, Error> {
    Ok(machine(engine, unit)?.bound.machine.find_variable(variable.as_str()).is_some())
}

fn animation_find_variable(
    engine: &mut Engine,
    unit: UnitId,
    variable: TextArgument,
) -> Result<u64, Error> {
    let machine = machine(engine, unit)?;
    let index = find_variable(machine, variable.as_str())?;
    Ok(script_index(machine, IndexKind::Variable, index))
}

#[inline]
fn variable_index(machine: &CharacterMachine, which: &NameOrIndex) -> Result<u16, Error> {
    index_of(machine, which, IndexKind::Variable, find_variable)
}

#[inline]
fn animation_get_variable(
    engine: &mut Engine,
    unit: UnitId,
    variable: NameOrIndex,
) -> Result<f64, Error> {
    let machine = machine(engine, unit)?;
    let index = variable_index(machine, &variable)?;
    Ok(f64::from(machine.state.variable(index).expect("the index was checked")))
}

#[inline]
pub(crate) fn animation_set_variable(
    engine: &mut Engine,
    unit: UnitId,
    variable: NameOrIndex,
    value: f64,
) -> Result<(), Error> {
    let machine = machine(engine, unit)?;
    let index = variable_index(machine, &variable)?;
    machine.state.set_variable(&machine.bound.machine, index, value as f32);
    Ok(())
}

fn layer_index(machine: &CharacterMachine, which: &NameOrIndex) -> Result<u16, Error> {
    let (layers, name) = (machine.bound.machine.layers(), &machine.bound.name);
    match which {
        NameOrIndex::Name(layer) => {
            let found = machine.bound.machine.find_layer(layer.as_str());
            let names = layers.iter().map(|layer| layer.name.as_str());
            found.ok_or_else(|| unknown(machine, ("layer", layer.as_str()), names))
        }
        NameOrIndex::Index(index) if (1..=layers.len() as i64).contains(index) => {
            Ok(*index as u16 - 1)
        }
        NameOrIndex::Index(index) => Err(error!(
            "the state machine '{name}' has the layers 1 to {}, got {index}",
            layers.len()
        )),
    }
}

fn animation_layer_info(
    engine: &mut Engine,
    unit: UnitId,
    layer: Option<NameOrIndex>,
) -> Result<ScriptValue, Error> {
    let machine = machine(engine, unit)?;
    let layer = layer_index(machine, &layer.unwrap_or(NameOrIndex::Index(1)))?;
    let info = machine.layer_info(layer).expect("the layer was checked");
    let number = |value: f32| ScriptValue::Number(f64::from(value));
    let mut fields = vec![
        ("state".to_string(), ScriptValue::Text(info.state.to_string())),
        ("time".to_string(), number(info.time)),
        ("length".to_string(), number(info.seconds)),
    ];
    if let Some((from, progress)) = info.transition {
        fields.push(("from".to_string(), ScriptValue::Text(from.to_string())));
        fields.push(("progress".to_string(), number(progress)));
    }
    // Any value, so that graphs have it as a query.
    Ok(ScriptValue::Table(fields))
}

/// A list of numbers, an array in Lua.
struct NumberList(Vec<f64>);

impl ReturnValue for NumberList {
    const TYPES: &'static [ApiType] = &[NumberList::TYPE];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        let numbers = self.0.into_iter().map(ScriptValue::Number).collect();
        // SAFETY: as the caller promised.
        unsafe { ScriptValue::List(numbers).push(l, cx) }
    }
}

impl Argument for NumberList {
    const TYPE: ApiType = ApiType::new("number[]", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<NumberList, ArgumentError> {
        // SAFETY: as the caller promised.
        let value = unsafe { ScriptValue::read(l, i, cx)? };
        let number = |item: &ScriptValue| match item {
            ScriptValue::Number(number) => Some(*number),
            _ => None,
        };
        let numbers = match &value {
            ScriptValue::List(items) => items.iter().map(number).collect(),
            _ => None,
        };
        let numbers: Option<Vec<f64>> = numbers;
        let refused = || ArgumentError::Message("must be a list of numbers".to_string());
        numbers.map(NumberList).ok_or_else(refused)
    }
}

fn animation_get_state(engine: &mut Engine, unit: UnitId) -> Result<NumberList, Error> {
    let mut numbers = Vec::new();
    machine(engine, unit)?.save(&mut numbers);
    Ok(NumberList(numbers))
}

fn animation_set_state(engine: &mut Engine, unit: UnitId, state: NumberList) -> Result<(), Error> {
    machine(engine, unit)?.load(&state.0)
}

fn animation_get_seeds(engine: &mut Engine, unit: UnitId) -> Result<u64, Error> {
    Ok(u64::from(machine(engine, unit)?.state.seed()))
}

fn animation_set_seeds(
    engine: &mut Engine,
    unit: UnitId,
    Integer(seed): Integer,
) -> Result<(), Error> {
    let seed = u32::try_from(seed)
        .map_err(|_| error!("argument #2 'seed' must be 0 to {}, got {seed}", u32::MAX))?;
    machine(engine, unit)?.state.set_seed(seed);
    Ok(())
}
