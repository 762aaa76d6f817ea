//! Characters for remote tools: their list, the state and the graph of one of them, and what tools
//! change: variables, events, the drawing of its skeleton.

use super::inspect::handle;
use super::message_table::{boolean, integer, number, text};
use super::{IncomingCall, Refusal};
use engine_foundation::HandleKind;
use engine_foundation::hash::murmur64a;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest::hint;
use engine_runtime::Worlds;
use engine_world::animation::{Character, CharacterMachine};
use engine_world::unit::UnitId;

/// Default number of characters to list.
const CHARACTERS_LISTED: u64 = 1000;

/// Returns a number with the shortest decimal form of the float.
fn float(value: f32) -> SjsonTree {
    SjsonTree::Number(value.to_string().parse().unwrap_or(f64::from(value)))
}

fn list<T>(items: impl IntoIterator<Item = T>, write: impl FnMut(T) -> SjsonTree) -> SjsonTree {
    SjsonTree::Array(items.into_iter().map(write).collect())
}

/// Lists the units with characters.
pub fn characters(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let first = integer(call.fields, "first").unwrap_or(0) as usize;
    let most = integer(call.fields, "max").unwrap_or(CHARACTERS_LISTED) as usize;
    let filter = text(call.fields, "text").unwrap_or_default().to_lowercase();
    let worlds = &call.app.vm.engine().worlds;
    let matches = |character: &&Character| {
        let name = &worlds.units.of(character.unit).resource.name;
        filter.is_empty() || name.to_lowercase().contains(&filter)
    };
    let found: Vec<&Character> = worlds.animations.iter().filter(matches).collect();
    let row = |character: &&Character| {
        let machine = character.machine.as_ref();
        let layers = machine.map_or(0, |machine| machine.bound.machine.layers().len() as u16);
        let states = (0..layers).filter_map(|layer| {
            let machine = machine?;
            machine.state.layer_info(&machine.bound.machine, layer)
        });
        json::object([
            ("unit", SjsonTree::Number(character.unit.0.to_number())),
            ("name", json::text(&worlds.units.of(character.unit).resource.name)),
            ("model", json::text(&character.model.name)),
            ("state_machine", optional_text(machine.map(|it| &it.bound.name[..]))),
            ("states", list(states, |info| json::text(info.state))),
        ])
    };
    Ok(Some(json::object([
        ("first", json::count(first)),
        ("count", json::count(found.len())),
        ("units", list(found.iter().skip(first).take(most), row)),
    ])))
}

fn optional_text(text: Option<&str>) -> SjsonTree {
    text.map_or(SjsonTree::Null, json::text)
}

/// Returns the unit of a message that has a character.
fn unit_of(call: &mut IncomingCall) -> Result<UnitId, Refusal> {
    let handle = handle(call.fields, "unit", HandleKind::Unit)?;
    let worlds = &call.app.vm.engine().worlds;
    let Some(unit) = handle.filter(|unit| worlds.units.slots.get(*unit).is_some()) else {
        return Err(Refusal::of("the unit is gone"));
    };
    match worlds.animations.of(UnitId(unit).row()) {
        Some(_) => Ok(UnitId(unit)),
        None => Err(Refusal::of("the unit has no animations")),
    }
}

/// Returns the state of a character.
pub fn character(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let unit = unit_of(call)?;
    let with_graph = boolean(call.fields, "graph");
    let worlds = &call.app.vm.engine().worlds;
    let character = worlds.animations.of(unit.row()).expect("it was just there");
    let machine = character.machine.as_ref();
    let version = machine.map(|machine| version(machine, &graph(machine)));
    let graph = machine.filter(|_| with_graph).map_or(SjsonTree::Null, graph);
    Ok(Some(json::object([
        ("unit", SjsonTree::Number(unit.0.to_number())),
        ("name", json::text(&worlds.units.of(unit).resource.name)),
        ("model", json::text(&character.model.name)),
        ("bones", json::count(character.model.skeleton.bone_count())),
        ("skeleton", SjsonTree::Bool(worlds.animations.skeletons.has(unit))),
        ("playing", list(character.playing(), |clip| playing_clip(character, clip))),
        ("state_machine", optional_text(machine.map(|it| &it.bound.name[..]))),
        ("version", optional_text(version.as_deref())),
        ("enabled", SjsonTree::Bool(machine.is_some_and(|it| it.enabled))),
        ("variables", machine.map_or(SjsonTree::Array(Vec::new()), variables)),
        ("constraints", machine.map_or(SjsonTree::Array(Vec::new()), constraints)),
        ("layers", machine.map_or(SjsonTree::Array(Vec::new()), layers)),
        ("sent", sent_events(worlds, unit)),
        ("graph", graph),
    ])))
}

fn playing_clip(character: &Character, clip: &engine_world::animation::PlayingClip) -> SjsonTree {
    let [start, end] = clip.options.range;
    json::object([
        ("id", json::count(clip.id as usize)),
        ("clip", json::text(&character.model.clips[usize::from(clip.clip)].name)),
        ("layer", json::count(usize::from(clip.options.layer) + 1)),
        ("time", float(clip.time - start)),
        ("seconds", float(end - start)),
        ("weight", float(clip.share())),
    ])
}

fn variables(machine: &CharacterMachine) -> SjsonTree {
    let variables = machine.bound.machine.variables().iter().zip(machine.state.variables());
    list(variables, |(variable, value)| {
        json::object([
            ("name", json::text(&variable.name)),
            ("value", float(*value)),
            ("min", float(variable.min)),
            ("max", float(variable.max)),
        ])
    })
}

/// Returns the weights of the constraints.
fn constraints(machine: &CharacterMachine) -> SjsonTree {
    let weights = &machine.output().constraints;
    list(machine.bound.machine.constraints().iter().zip(weights), |(constraint, weight)| {
        json::object([("name", json::text(&constraint.name)), ("weight", float(*weight))])
    })
}

/// Returns the activity of each layer, with the samples of its pose.
fn layers(machine: &CharacterMachine) -> SjsonTree {
    let (data, output) = (&machine.bound.machine, machine.output());
    list(data.layers().iter().zip(0u16..), |(layer, index)| {
        let info = machine.layer_info(index);
        let weight = output.layers.get(usize::from(index)).map_or(0.0, |layer| layer.weight);
        let samples = output.samples.iter().filter(|sample| sample.layer == index);
        let samples = list(samples, |sample| {
            let clip = data.clips().get(usize::from(sample.clip));
            json::object([
                ("clip", json::text(clip.map_or("", |clip| &clip.name))),
                ("time", float(sample.time)),
                ("weight", float(sample.weight)),
            ])
        });
        let from = info.and_then(|info| info.transition);
        json::object([
            ("name", json::text(&layer.name)),
            ("state", optional_text(info.map(|info| info.state))),
            ("time", float(info.map_or(0.0, |info| info.time))),
            ("seconds", float(info.map_or(0.0, |info| info.seconds))),
            ("from", optional_text(from.map(|(state, _)| state))),
            ("progress", float(from.map_or(1.0, |(_, progress)| progress))),
            ("waits", SjsonTree::Bool(info.is_some_and(|info| info.waits))),
            ("weight", float(weight)),
            ("samples", samples),
        ])
    })
}

/// Returns the states and transitions of all layers, and the events.
fn graph(machine: &CharacterMachine) -> SjsonTree {
    let data = &machine.bound.machine;
    let summary = data.summary();
    let layers = list(data.layers(), |layer| {
        let states = summary.states.iter().filter(|state| state.layer == layer.name);
        let transitions = summary.transitions.iter().filter(|it| it.layer == layer.name);
        let initial = &data.states()[usize::from(layer.initial)].name;
        json::object([
            ("name", json::text(&layer.name)),
            ("initial", json::text(initial)),
            (
                "states",
                list(states, |state| {
                    json::object([
                        ("name", json::text(&state.name)),
                        ("kind", json::text(state.kind)),
                        ("clips", json::texts(&state.clips)),
                        ("choices", json::texts(&state.choices)),
                    ])
                }),
            ),
            (
                "transitions",
                list(transitions, |it| {
                    json::object([
                        ("from", json::text(&it.from)),
                        ("to", json::text(&it.to)),
                        ("event", optional_text(it.event.as_deref())),
                        ("blend", float(it.blend_seconds)),
                        ("mode", json::text(it.mode)),
                    ])
                }),
            ),
        ])
    });
    json::object([("events", json::texts(data.events())), ("layers", layers)])
}

/// Returns a text that is another one for each version of a state machine with another graph, other
/// variables or other constraints.
fn version(machine: &CharacterMachine, graph: &SjsonTree) -> String {
    let data = &machine.bound.machine;
    let variables = list(data.variables(), |it| {
        json::object([
            ("name", json::text(&it.name)),
            ("min", float(it.min)),
            ("max", float(it.max)),
        ])
    });
    let constraints = json::texts(data.constraints().iter().map(|it| &it.name));
    let all = SjsonTree::Array(vec![graph.clone(), variables, constraints]);
    format!("{:016x}", murmur64a(json::write(&all).as_bytes(), 0))
}

/// Returns the last events of a unit, each with its number among all events.
fn sent_events(worlds: &Worlds, unit: UnitId) -> SjsonTree {
    let events = worlds.animations.events.recent().filter(|(_, event)| event.unit == unit);
    list(events, |(number, event)| {
        json::object([
            ("number", SjsonTree::Number(number as f64)),
            ("event", json::text(event.origin.name())),
            ("layer", json::count(usize::from(event.layer) + 1)),
        ])
    })
}

/// Changes a character: sends an event, sets a variable, draws its skeleton.
pub fn control(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let unit = unit_of(call)?;
    let fields = call.fields;
    let (event, variable) = (text(fields, "event"), text(fields, "variable"));
    let worlds = &mut call.app.vm.engine().worlds;
    let skeleton = fields.get("skeleton").map(|value| *value == SjsonTree::Bool(true));
    if let Some(enabled) = skeleton {
        worlds.animations.skeletons.set(unit, enabled);
    }
    let mut is_taken = false;
    if event.is_some() || variable.is_some() {
        let machine = worlds.animations.of_mut(unit.row()).and_then(|it| it.machine.as_mut());
        let Some(machine) = machine else {
            return Err(Refusal::of("the unit has no state machine"));
        };
        if let Some(name) = variable {
            set_variable(machine, name, number(fields, "value"))?;
        }
        if let Some(name) = event {
            let data = &machine.bound.machine;
            let Some(index) = data.find_event(name) else {
                let names = data.events().iter().map(String::as_str);
                let message = format!("there is no event '{name}'{}", hint(name, names));
                return Err(Refusal::of(message));
            };
            is_taken = machine.send_event(index);
            let Worlds { animations, units, .. } = worlds;
            animations.log_event(units, unit, index, is_taken);
        }
    }
    Ok(Some(json::object([("taken", SjsonTree::Bool(is_taken))])))
}

fn set_variable(
    machine: &mut CharacterMachine,
    name: &str,
    value: Option<f64>,
) -> Result<(), Refusal> {
    let data = &machine.bound.machine;
    let Some(index) = data.find_variable(name) else {
        let names = data.variables().iter().map(|variable| variable.name.as_str());
        return Err(Refusal::of(format!("there is no variable '{name}'{}", hint(name, names))));
    };
    let Some(value) = value else {
        return Err(Refusal::of(format!("'value' is missing: the value of the variable '{name}'")));
    };
    machine.state.set_variable(data, index, value as f32);
    Ok(())
}
