//! The words for parameters that a voice does not have itself: those of its buses, of the game, and
//! the defaults of its sound.

use super::bus::Buses;
use super::choose::Given;
use super::definition::Definition;
use super::parameters::{List, Parameters, Tag};

/// The list that has a parameter where the voice has none, and the words for where that is.
fn found(
    parameters: &Parameters,
    buses: &Buses,
    global: List,
    bus: usize,
    definition: &Definition,
    index: u32,
) -> Option<(List, String)> {
    let key = definition.parameters[index as usize].key;
    let has = |list: &List| parameters.bits(*list, key).is_some();
    let mut at = Some(bus);
    while let Some(bus) = at {
        let list = buses.states[bus].parameters;
        if has(&list) {
            return Some((list, format!("set for bus '{}'", buses.mixer.buses[bus].name)));
        }
        at = buses.mixer.buses[bus].parent;
    }
    has(&global).then(|| (global, "set globally".to_string()))
}

/// In checked mode: whether what a voice takes from its buses or the game is of its type.
pub fn check(
    parameters: &Parameters,
    buses: &Buses,
    global: List,
    bus: usize,
    definition: &Definition,
    index: u32,
    own: List,
) -> Result<(), String> {
    let parameter = &definition.parameters[index as usize];
    if parameters.bits(own, parameter.key).is_some() {
        return Ok(());
    }
    let Some((list, place)) = found(parameters, buses, global, bus, definition, index) else {
        return Ok(());
    };
    let name = &parameter.name;
    match (parameter.tag, parameters.tag(list, parameter.key)) {
        (Tag::Text, Some(Tag::Number)) => {
            let number = f32::from_bits(parameters.bits(list, parameter.key).unwrap_or(0));
            Err(format!(
                "the parameter '{name}' is a text, which a switch reads; got the number {number} \
                 ({place})"
            ))
        }
        (Tag::Number, Some(Tag::Text)) => Err(format!(
            "the parameter '{name}' is a number, which a curve reads; got a text ({place})"
        )),
        _ => Ok(()),
    }
}

/// Where the value of a switch comes from that its trigger does not give.
pub fn given<'a>(
    parameters: &Parameters,
    buses: &Buses,
    global: List,
    bus: usize,
    definition: &'a Definition,
    index: u32,
) -> Given<'a> {
    if let Some((_, place)) = found(parameters, buses, global, bus, definition, index) {
        return Given::Elsewhere(place);
    }
    let parameter = &definition.parameters[index as usize];
    match parameter.default {
        Some(_) => Given::Default(&parameter.default_name),
        None => Given::Nothing,
    }
}
