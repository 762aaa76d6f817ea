//! Parameters that a voice does not have itself: those of its buses and of the game, the defaults
//! of its sound, and the error messages about them.

use super::bus::BusStates;
use super::container_selection::ValueSource;
use super::data::SoundRules;
use super::parameters::{ParameterList, ParameterTable, ValueTag};

/// Returns the list that has a parameter if the voice lacks it, and a text that names its owner.
fn find_inherited(
    parameters: &ParameterTable,
    buses: &BusStates,
    global: ParameterList,
    bus: usize,
    definition: &SoundRules,
    index: u32,
) -> Option<(ParameterList, String)> {
    let key = definition.parameters[index as usize].key;
    let has = |list: &ParameterList| parameters.bits(*list, key).is_some();
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

/// In checked mode: returns an error if a parameter from a bus or the game has the wrong type.
pub fn check(
    parameters: &ParameterTable,
    buses: &BusStates,
    global: ParameterList,
    bus: usize,
    definition: &SoundRules,
    index: u32,
    own: ParameterList,
) -> Result<(), String> {
    let parameter = &definition.parameters[index as usize];
    if parameters.bits(own, parameter.key).is_some() {
        return Ok(());
    }
    let Some((list, origin)) = find_inherited(parameters, buses, global, bus, definition, index)
    else {
        return Ok(());
    };
    let name = &parameter.name;
    match (parameter.tag, parameters.tag(list, parameter.key)) {
        (ValueTag::Text, Some(ValueTag::Number)) => {
            let number = f32::from_bits(parameters.bits(list, parameter.key).unwrap_or(0));
            Err(format!(
                "the parameter '{name}' is a text, which a switch reads; got the number {number} \
                 ({origin})"
            ))
        }
        (ValueTag::Number, Some(ValueTag::Text)) => Err(format!(
            "the parameter '{name}' is a number, which a curve reads; got a text ({origin})"
        )),
        _ => Ok(()),
    }
}

/// Returns the source of a switch's value that the trigger does not set.
pub fn inherited_value<'a>(
    parameters: &ParameterTable,
    buses: &BusStates,
    global: ParameterList,
    bus: usize,
    definition: &'a SoundRules,
    index: u32,
) -> ValueSource<'a> {
    if let Some((_, origin)) = find_inherited(parameters, buses, global, bus, definition, index) {
        return ValueSource::Elsewhere(origin);
    }
    let parameter = &definition.parameters[index as usize];
    match parameter.default {
        Some(_) => ValueSource::Default(&parameter.default_name),
        None => ValueSource::Nothing,
    }
}
