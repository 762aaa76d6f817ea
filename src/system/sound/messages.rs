//! Error messages for parameters that do not fit a sound.

use super::data::SoundRules;
use super::parameters::ValueTag;
use super::voices::ParameterValue;
use engine_foundation::hash::IdString32;
use engine_foundation::suggest;

/// Checks that a sound reads a parameter of this name and type. The error says what the sound
/// reads.
pub fn check_parameter(
    definition: &SoundRules,
    name: &str,
    value: &ParameterValue,
) -> Result<(), String> {
    let Some(parameter) = definition.parameter(IdString32::new(name)) else {
        let known: Vec<&str> = definition.parameters.iter().map(|p| p.name.as_str()).collect();
        if known.is_empty() {
            return Err(format!("it has no parameter '{name}', because it reads none"));
        }
        let hint = suggest::hint(name, known.iter().copied());
        return Err(format!("it has no parameter '{name}'{hint} (known: {})", known.join(", ")));
    };
    match (parameter.tag, value) {
        (ValueTag::Number, ParameterValue::Number(_))
        | (ValueTag::Text, ParameterValue::Text(_)) => Ok(()),
        (ValueTag::Text, ParameterValue::Number(number)) => Err(format!(
            "the parameter '{name}' is a text, which a switch reads; got the number {number}"
        )),
        (ValueTag::Number, ParameterValue::Text(text)) => Err(format!(
            "the parameter '{name}' is a number, which a curve reads; got the text \"{text}\""
        )),
    }
}
