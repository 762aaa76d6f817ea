//! The words for parameters that do not fit a sound.

use super::definition::Definition;
use super::parameters::Tag;
use super::voices::ParameterValue;
use crate::foundation::hash::IdString32;
use crate::foundation::suggest;

/// Whether a sound reads a parameter of that name and type; the words say what it reads.
pub fn check_parameter(
    definition: &Definition,
    name: &str,
    value: &ParameterValue,
) -> Result<(), String> {
    let Some(parameter) = definition.parameter(IdString32::new(name)) else {
        let known: Vec<&str> = definition.parameters.iter().map(|p| p.name.as_str()).collect();
        if known.is_empty() {
            return Err(format!("it has no parameter '{name}', for it reads none"));
        }
        let hint = suggest::hint(name, known.iter().copied());
        return Err(format!("it has no parameter '{name}'{hint} (known: {})", known.join(", ")));
    };
    match (parameter.tag, value) {
        (Tag::Number, ParameterValue::Number(_)) | (Tag::Text, ParameterValue::Text(_)) => Ok(()),
        (Tag::Text, ParameterValue::Number(number)) => Err(format!(
            "the parameter '{name}' is a text, which a switch reads; got the number {number}"
        )),
        (Tag::Number, ParameterValue::Text(text)) => Err(format!(
            "the parameter '{name}' is a number, which a curve reads; got the text \"{text}\""
        )),
    }
}
