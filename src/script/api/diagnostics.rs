//! Native functions of the prelude for messages: descriptions of handles, warnings with a location,
//! callbacks of other engines.

use crate::api_row::{ModuleRows, func, more};
use crate::argument::{HandleNumber, Integer, TextArgument};
use crate::callbacks::CALLBACKS;
use crate::context::{script_location, script_location_at};
use crate::value::ScriptValue;
use crate::{argument_remedies, describe_handle, familiar_names, lint};
use engine_foundation::{log, suggest};
use engine_runtime::{BuildMode, Engine};

/// Maximum level of a warning's location.
const LEVEL_MAX: i64 = 100;

pub static CORE: ModuleRows = more(
    "core",
    &[
        func(
            "handle_text",
            handle_text,
            &[("number", "")],
            "Returns the text for a number that is a handle, or nil.",
        )
        .pure(),
        func(
            "described_handle",
            described_handle,
            &[("number", "")],
            "Returns the text for a handle with its kind, or nil.",
        )
        .pure(),
        func(
            "handle_kind",
            handle_kind,
            &[("number", "")],
            "Returns the kind of the living object of a handle, or nil.",
        )
        .pure(),
        func(
            "remedy",
            remedy,
            &[("expected", ""), ("argument", ""), ("got", "")],
            "Returns the remedy after a message about an argument, or an empty text.",
        )
        .pure(),
        func(
            "warn_at",
            warn_at,
            &[("level", ""), ("text", "")],
            "Logs a warning of a line on the stack, once for each line.",
        )
        .pure(),
        func(
            "warn_of_color",
            warn_of_color,
            &[("text", "")],
            "Warns of the colour that a line of the game creates.",
        )
        .pure(),
        func(
            "warn_of_conditions",
            warn_of_conditions,
            &[("chunk", ""), ("text", "")],
            "Warns of numbers of devices that a script uses as conditions.",
        )
        .pure(),
        func(
            "callback_of_other_engine",
            callback_of_other_engine,
            &[("name", "")],
            "Returns the callback that a function of another engine corresponds to, or of which \
             the name is an abbreviation; otherwise nil.",
        )
        .pure(),
    ],
);

fn optional(text: Option<impl Into<String>>) -> ScriptValue {
    text.map_or(ScriptValue::Nil, |text| ScriptValue::Text(text.into()))
}

fn handle_text(engine: &mut Engine, number: HandleNumber) -> ScriptValue {
    optional(describe_handle::text(engine, number.0))
}

fn described_handle(engine: &mut Engine, number: HandleNumber) -> ScriptValue {
    optional(describe_handle::text_with_kind(engine, number.0))
}

fn handle_kind(engine: &mut Engine, number: HandleNumber) -> ScriptValue {
    optional(describe_handle::kind(engine, number.0).map(|kind| kind.name()))
}

fn remedy(
    _: &mut Engine,
    expected: TextArgument,
    argument: TextArgument,
    got: TextArgument,
) -> String {
    argument_remedies::remedy(expected.as_str(), argument.as_str(), got.as_str()).to_string()
}

fn warn_at(_: &mut Engine, level: Integer, message: TextArgument) {
    let location = script_location_at(level.0.clamp(1, LEVEL_MAX) as usize);
    log::warn(if location.is_empty() { "engine" } else { &location }, message.as_str());
}

fn warn_of_color(engine: &mut Engine, message: TextArgument) {
    engine.drawing.builder.warned_of_dark = true;
    log::warn(&script_location(), message.as_str());
}

fn warn_of_conditions(engine: &mut Engine, chunk: TextArgument, text: TextArgument) {
    if engine.game.build == BuildMode::Release {
        return;
    }
    for (line, message) in lint::always_true_conditions(text.as_str()) {
        log::warn(&format!("{}:{line}", chunk.as_str()), &message);
    }
}

/// Callbacks that no table of other engines' names lists, because the words are everyday ones.
const OTHER_CALLBACKS: [(&str, &str); 7] = [
    ("draw", "render"),
    ("load", "init"),
    ("quit", "shutdown"),
    ("setup", "init"),
    ("main", "init"),
    ("loop", "update"),
    ("game_loop", "update"),
];

fn callback_of_other_engine(_: &mut Engine, name: TextArgument) -> ScriptValue {
    let name = name.as_str();
    let other = OTHER_CALLBACKS.iter().find(|(other, _)| *other == name).map(|(_, here)| *here);
    let is_callback = |here: &&str| CALLBACKS.iter().any(|callback| callback.name == *here);
    let here = other.or_else(|| familiar_names::target(name)).filter(is_callback);
    let here = here.or_else(|| suggest::abbreviated(name, CALLBACKS.iter().map(|it| it.name)));
    optional(here.filter(|here| *here != name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_callbacks_correspond_to_real_ones() {
        for (other, here) in OTHER_CALLBACKS {
            let known = CALLBACKS.iter().any(|callback| callback.name == here);
            assert!(known, "'{other}' corresponds to '{here}', which is no callback");
        }
    }
}
