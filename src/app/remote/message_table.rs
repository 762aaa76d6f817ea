//! The table of messages that remote tools can send, with their fields. `help` is generated from
//! it, and every message is checked against it before it is handled.

use super::{
    IncomingCall, Refusal, animation, content_messages, data_messages, debug_messages,
    debugger_flow, eval, flow_messages, foreign_window, inspect, navigation, profiler, resources,
    screenshots, simulated_devices, stats, subscriptions, units,
};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest;
use engine_remote::{MESSAGE_BYTES_MAX, VERSION};

/// Type of a field's value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FieldType {
    Text,
    /// A number in this range.
    Number(f64, f64),
    /// An integer in this range.
    Integer(u64, u64),
    Boolean,
    /// A list of strings.
    Texts,
    /// A list of numbers with at most this many items.
    Numbers(usize),
}

impl FieldType {
    fn name(self) -> String {
        match self {
            FieldType::Text => "text".to_string(),
            FieldType::Number(least, most) => format!("number from {least} to {most}"),
            FieldType::Integer(least, most) => format!("whole number from {least} to {most}"),
            FieldType::Boolean => "true or false".to_string(),
            FieldType::Texts => "list of texts".to_string(),
            FieldType::Numbers(most) => format!("list of at most {most} numbers"),
        }
    }

    fn accepts(self, value: &SjsonTree) -> bool {
        match (self, value) {
            (FieldType::Text, SjsonTree::String(_)) | (FieldType::Boolean, SjsonTree::Bool(_)) => {
                true
            }
            (FieldType::Number(least, most), SjsonTree::Number(number)) => {
                (least..=most).contains(number)
            }
            (FieldType::Integer(least, most), SjsonTree::Number(number)) => {
                number.fract() == 0.0 && (least as f64..=most as f64).contains(number)
            }
            (FieldType::Texts, SjsonTree::Array(items)) => {
                items.iter().all(|item| matches!(item, SjsonTree::String(_)))
            }
            (FieldType::Numbers(most), SjsonTree::Array(items)) => {
                items.len() <= most && items.iter().all(|item| matches!(item, SjsonTree::Number(_)))
            }
            _ => false,
        }
    }
}

/// A field of a message.
pub struct MessageField {
    pub name: &'static str,
    pub kind: FieldType,
    pub optional: bool,
    pub doc: &'static str,
}

pub const fn required(name: &'static str, kind: FieldType, doc: &'static str) -> MessageField {
    MessageField { name, kind, optional: false, doc }
}

pub const fn optional(name: &'static str, kind: FieldType, doc: &'static str) -> MessageField {
    MessageField { name, kind, optional: true, doc }
}

/// Handler of a message. Returns the fields of the reply, or `None` if the reply follows later.
type MessageHandler = fn(&mut IncomingCall) -> Result<Option<SjsonTree>, Refusal>;

/// A row of the table: one message with its fields and its handler.
pub struct MessageRow {
    pub name: &'static str,
    pub doc: &'static str,
    pub fields: &'static [MessageField],
    /// Fields of the reply in addition to `type` and `id`.
    pub answer: &'static str,
    pub run: MessageHandler,
}

/// Range of handles, such as those of units.
pub const HANDLE: FieldType = FieldType::Integer(0, 1 << 53);
const SECONDS: FieldType = FieldType::Number(0.01, 60.0);

/// Returns all messages.
fn messages() -> impl Iterator<Item = &'static MessageRow> {
    let others = [
        flow_messages::MESSAGES,
        data_messages::MESSAGES,
        content_messages::MESSAGES,
        debug_messages::MESSAGES,
        debugger_flow::MESSAGES,
        navigation::MESSAGES,
    ];
    MESSAGES.iter().chain(others.into_iter().flatten())
}

/// All messages, apart from those about graphs, data, files and navigation.
static MESSAGES: &[MessageRow] = &[
    MessageRow {
        name: "help",
        doc: "Lists the messages and streams.",
        fields: &[],
        answer: "version, messages, streams, message_bytes_max",
        run: help,
    },
    MessageRow {
        name: "status",
        doc: "Returns which game runs, and its state.",
        fields: &[],
        answer: "game, folder, version, engine, build, deterministic, frame, seconds, paused, \
                 problem, stopped (the line at which the debugger has stopped a script), \
                 sound_held (sounds pause meanwhile), draws, size, scale, worlds, units, clients, \
                 refused, dropped",
        run: super::status::status,
    },
    MessageRow {
        name: "eval",
        doc: "Runs Lua in the game: an expression, or statements. Lua that takes too long is \
                stopped, and the game continues.",
        fields: &[
            required("text", FieldType::Text, "Lua"),
            optional(
                "seconds",
                FieldType::Number(0.001, 60.0),
                "limit of CPU time in seconds [0.5]",
            ),
            optional("data", FieldType::Boolean, "return the first value as JSON instead of text"),
        ],
        answer: "values (as text), or data; logged (the lines logged meanwhile)",
        run: eval::eval,
    },
    MessageRow {
        name: "script",
        doc: "Runs Lua in the game for its side effects, as 'eval' does. It can send results \
                with Application.console_send.",
        fields: &[required("script", FieldType::Text, "Lua")],
        answer: "nothing",
        run: eval::run,
    },
    MessageRow {
        name: "complete",
        doc: "Returns completions of the name at the end of a text.",
        fields: &[required("text", FieldType::Text, "Lua, up to the cursor")],
        answer: "start (of the text that the words replace), words, signatures",
        run: eval::complete,
    },
    MessageRow {
        name: "subscribe",
        doc: "Subscribes to a stream, or changes the options of a subscription.",
        fields: &[
            required("stream", FieldType::Text, "one of help's streams"),
            optional("every", SECONDS, "minimum seconds between two messages [0.1]"),
            optional(
                "width",
                FieldType::Integer(16, 4096),
                "maximum width of pictures in pixels [640]",
            ),
            optional("names", FieldType::Texts, "names of the counters to follow"),
            optional("format", FieldType::Text, "file format of pictures: jpeg or png [jpeg]"),
            optional(
                "acknowledge",
                FieldType::Boolean,
                "send the next picture only after 'picture_shown'",
            ),
        ],
        answer: "stream",
        run: subscriptions::subscribe,
    },
    MessageRow {
        name: "unsubscribe",
        doc: "Ends the subscription to a stream.",
        fields: &[required("stream", FieldType::Text, "one of help's streams")],
        answer: "stream",
        run: subscriptions::unsubscribe,
    },
    MessageRow {
        name: "reload",
        doc: "Reloads resources from their files: those of a kind, one, or, without fields, all \
                that changed in the folder.",
        fields: &[
            optional("kind", FieldType::Text, "lua, texture, unit, …"),
            optional("name", FieldType::Text, "with its kind: units/barrel.unit"),
        ],
        answer: "reloaded, problems",
        run: resources::reload,
    },
    MessageRow {
        name: "pause",
        doc: "Pauses the game after this frame. Answered when it is paused.",
        fields: &[],
        answer: "paused",
        run: super::pause,
    },
    MessageRow {
        name: "step",
        doc: "Plays frames of a paused game. Answered when it is paused again.",
        fields: &[optional("frames", FieldType::Integer(1, 10_000), "number of frames [1]")],
        answer: "paused",
        run: super::step,
    },
    MessageRow {
        name: "resume",
        doc: "Resumes a paused game.",
        fields: &[],
        answer: "paused",
        run: super::resume,
    },
    MessageRow {
        name: "restart",
        doc: "Restarts the game after this frame, or after an error. Everything but the window and \
                the connection starts again.",
        fields: &[],
        answer: "nothing",
        run: super::restart,
    },
    MessageRow {
        name: "quit",
        doc: "Ends the game after this frame.",
        fields: &[],
        answer: "nothing",
        run: super::quit,
    },
    MessageRow {
        name: "screenshot",
        doc: "Returns a picture of the frame.",
        fields: &[optional(
            "width",
            FieldType::Integer(16, 16384),
            "maximum width in pixels [the frame's width]",
        )],
        answer: "frame, width, height, png (base64)",
        run: screenshots::screenshot,
    },
    MessageRow {
        name: "picture_shown",
        doc: "Reports that the last picture of the stream was shown, if the client subscribed with \
                'acknowledge'. The next picture follows.",
        fields: &[],
        answer: "nothing",
        run: screenshots::picture_shown,
    },
    MessageRow {
        name: "attach_window",
        doc: "Shows the game in a window of the tool, given by its number on the display (X11). \
                The game follows the window's size, and takes no input from it.",
        fields: &[required("window", FieldType::Integer(1, u32::MAX as u64), "its number")],
        answer: "width, height",
        run: foreign_window::attach,
    },
    MessageRow {
        name: "detach_window",
        doc: "Stops showing the game in that window.",
        fields: &[],
        answer: "nothing",
        run: foreign_window::detach,
    },
    MessageRow {
        name: "input",
        doc: "Simulates input of a device in the next frame. Give one of button, axis, text.",
        fields: &[
            required("device", FieldType::Text, "keyboard, mouse, touch, pad1 to pad8"),
            optional(
                "button",
                FieldType::Text,
                "its name; for a key also its code in web browsers: KeyA",
            ),
            optional("value", FieldType::Number(0.0, 1.0), "value of the button: 0 up, 1 down [1]"),
            optional("axis", FieldType::Text, "its name"),
            optional("to", FieldType::Numbers(3), "new value of the axis"),
            optional("by", FieldType::Numbers(3), "change of the axis, instead of 'to'"),
            optional("text", FieldType::Text, "typed text"),
        ],
        answer: "nothing",
        run: simulated_devices::input,
    },
    MessageRow {
        name: "units",
        doc: "Lists the worlds and their units. Units follow the unit to which they are linked.",
        fields: &[
            optional("world", HANDLE, "only this world"),
            optional(
                "text",
                FieldType::Text,
                "only units with it in the name, the name in the level, or the data; or this \
                 handle",
            ),
            optional("first", FieldType::Integer(0, 1 << 20), "number of units to skip [0]"),
            optional("max", FieldType::Integer(1, 20_000), "maximum number of units [1000]"),
        ],
        answer: "first, problem (why not all data was searched), worlds: world, main, seconds, \
                 count (of all that match), units (unit, name, nodes, parent, depth, level, \
                 level_unit, position)",
        run: units::units,
    },
    MessageRow {
        name: "unit",
        doc: "Returns the details of a unit.",
        fields: &[required("unit", HANDLE, "its handle")],
        answer: "unit, name, level, level_unit, world, bases, components, nodes (name, parent, \
                 local, rotation, scale, position), text (of Unit.inspect)",
        run: inspect::unit,
    },
    MessageRow {
        name: "characters",
        doc: "Lists the units with animations.",
        fields: &[
            optional("text", FieldType::Text, "only units with it in the name"),
            optional("first", FieldType::Integer(0, 1 << 20), "number of units to skip [0]"),
            optional("max", FieldType::Integer(1, 20_000), "maximum number of units [1000]"),
        ],
        answer: "first, count (of all that match), units: unit, name, model, state_machine, \
                 states",
        run: animation::characters,
    },
    MessageRow {
        name: "character",
        doc: "Returns the state of a unit's animation.",
        fields: &[
            required("unit", HANDLE, "its handle"),
            optional("graph", FieldType::Boolean, "with the states and transitions [false]"),
        ],
        answer: "unit, name, model, bones, skeleton (whether it is drawn), playing (id, clip, \
                 layer, time, seconds, weight), state_machine, version (another text for each \
                 version of the machine), enabled, variables (name, value, min, max), \
                 constraints (name, weight), layers (name, state, time, seconds, from, progress, \
                 waits, weight, samples: clip, time, weight), sent (the last events: \
                 number, event, layer), \
                 graph (events, layers: name, initial, states: name, kind, clips, choices; \
                 transitions: from, to, event, blend, mode)",
        run: animation::character,
    },
    MessageRow {
        name: "control_character",
        doc: "Sends an event to the state machine of a unit, sets a variable, or draws its \
              skeleton in the world.",
        fields: &[
            required("unit", HANDLE, "its handle"),
            optional("event", FieldType::Text, "the event"),
            optional("variable", FieldType::Text, "the variable that is set"),
            optional("value", FieldType::Number(-1e9, 1e9), "the value of the variable"),
            optional("skeleton", FieldType::Boolean, "true to draw the skeleton, false to stop"),
        ],
        answer: "taken (true if a state had a transition for the event)",
        run: animation::control,
    },
    MessageRow {
        name: "resources",
        doc: "Lists resources, with the resources that they name.",
        fields: &[
            optional("kind", FieldType::Text, "only this kind"),
            optional("text", FieldType::Text, "only those whose name contains it"),
            optional("max", FieldType::Integer(1, 50_000), "maximum number in the answer [5000]"),
        ],
        answer: "count, kinds (name, count), resources (name, kind, path, variants, loaded, names)",
        run: resources::list,
    },
    MessageRow {
        name: "resource",
        doc: "Returns the details of a resource: its files, the resources that it names, and \
                those that name it.",
        fields: &[required("name", FieldType::Text, "with its kind: units/barrel.unit")],
        answer: "name, kind, hash, serves, loaded, variants (properties, files, data), names, \
                 built_in (named, and part of the engine), missing, dependents, all_dependents",
        run: resources::inspect,
    },
    MessageRow {
        name: "counters",
        doc: "Lists counters with their values in the last frame.",
        fields: &[
            optional("text", FieldType::Text, "only those whose name contains it"),
            optional("max", FieldType::Integer(1, 20_000), "maximum number in the answer [5000]"),
        ],
        answer: "frame, count, counters (name, value)",
        run: stats::list,
    },
    MessageRow {
        name: "profile",
        doc: "Returns the profiler's rows and its last frames.",
        fields: &[
            optional("frames", FieldType::Integer(0, 64), "number of frames [1]"),
            optional("frame", HANDLE, "instead, this one of the last 600 frames, completely"),
            optional("reset", FieldType::Boolean, "reset averages and extremes before"),
        ],
        answer: "names, threads (name, rows: name's number, parents, calls, seconds, own seconds, \
                 min, average and max percent), frames (index, began, seconds, scopes: thread's \
                 number, name's number, parents, began, seconds; left_out: number of further \
                 scopes), gpu (index, passes: name, began, seconds), lost",
        run: profiler::profile,
    },
    MessageRow {
        name: "memory",
        doc: "Returns the memory that each owner holds, as a tree, and the memory that scripts \
                hold.",
        fields: &[
            optional(
                "walk",
                FieldType::Boolean,
                "walk the scripts' heap and name what it holds: the game waits for the walk",
            ),
            optional(
                "mark",
                FieldType::Boolean,
                "the same, and remember the result: later walks return the growth since then",
            ),
        ],
        answer: "counts, scripts, scripts_most, rows (name, path, parents, bytes, blocks, made), \
                 after a walk held (name, bytes, objects, more_bytes, more_objects), marked (the \
                 frame of the mark) and seconds (duration of the walk)",
        run: stats::memory,
    },
    MessageRow {
        name: "sampling",
        doc: "Switches the sampling of scripts, a thousand times per second, on or off, and \
                returns the samples.",
        fields: &[optional("on", FieldType::Boolean, "true to sample from now on [unchanged]")],
        answer: "on, samples, scripts, functions, lines (name, samples, allocated_bytes, \
                 engine_calls)",
        run: stats::sampling,
    },
    MessageRow {
        name: "time_step",
        doc: "Returns the time steps of the last frames, as the stream of that name does.",
        fields: &[optional("frames", FieldType::Integer(1, 1024), "number of frames [256]")],
        answer: "frame, measured, delta, debt (lists)",
        run: subscriptions::time_step,
    },
];

/// Returns the table row of a message.
pub fn find(message: &SjsonTree) -> Result<&'static MessageRow, String> {
    let SjsonTree::Object(_) = message else {
        return Err("a message is an object: {\"type\": \"help\"}".to_string());
    };
    let Some(SjsonTree::String(name)) = message.get("type") else {
        return Err("the message has no text 'type': send {\"type\": \"help\"}".to_string());
    };
    messages().find(|row| row.name == name).ok_or_else(|| {
        let hint = suggest::hint(name, messages().map(|row| row.name));
        format!("there is no message '{name}'{hint} ('help' lists them)")
    })
}

/// Checks that a message has the fields of its row, and no others.
pub fn check(row: &MessageRow, message: &SjsonTree) -> Result<(), String> {
    let SjsonTree::Object(entries) = message else { return Ok(()) };
    for (name, value) in entries {
        if name == "type" || name == "id" {
            continue;
        }
        let Some(field) = row.fields.iter().find(|field| field.name == name) else {
            let hint = suggest::hint(name, row.fields.iter().map(|field| field.name));
            return Err(format!("'{}' has no field '{name}'{hint}", row.name));
        };
        if !field.kind.accepts(value) {
            return Err(format!("'{}': '{name}' must be a {}", row.name, field.kind.name()));
        }
    }
    let missing = row.fields.iter().find(|it| !it.optional && message.get(it.name).is_none());
    match missing {
        Some(field) => Err(format!(
            "'{}' needs the field '{}': {} ({})",
            row.name,
            field.name,
            field.doc,
            field.kind.name()
        )),
        None => Ok(()),
    }
}

/// Returns the text of a checked field.
pub fn text<'a>(fields: &'a SjsonTree, name: &str) -> Option<&'a str> {
    match fields.get(name) {
        Some(SjsonTree::String(text)) => Some(text),
        _ => None,
    }
}

pub fn number(fields: &SjsonTree, name: &str) -> Option<f64> {
    match fields.get(name) {
        Some(SjsonTree::Number(number)) => Some(*number),
        _ => None,
    }
}

pub fn integer(fields: &SjsonTree, name: &str) -> Option<u64> {
    number(fields, name).map(|number| number as u64)
}

pub fn boolean(fields: &SjsonTree, name: &str) -> bool {
    fields.get(name) == Some(&SjsonTree::Bool(true))
}

fn help(_: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    Ok(Some(description()))
}

/// Returns the description of all messages.
pub fn description() -> SjsonTree {
    let field = |field: &MessageField| {
        json::object([
            ("name", json::text(field.name)),
            ("type", json::text(field.kind.name())),
            ("optional", SjsonTree::Bool(field.optional)),
            ("words", json::text(field.doc)),
        ])
    };
    let message = |row: &MessageRow| {
        json::object([
            ("type", json::text(row.name)),
            ("words", json::text(row.doc)),
            ("fields", SjsonTree::Array(row.fields.iter().map(field).collect())),
            ("answer", json::text(row.answer)),
        ])
    };
    json::object([
        ("version", SjsonTree::Number(f64::from(VERSION))),
        ("messages", SjsonTree::Array(messages().map(message).collect())),
        ("streams", subscriptions::describe()),
        ("message_bytes_max", json::count(MESSAGE_BYTES_MAX)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, wanted: &str) {
        let message = json::read(text).unwrap();
        let message = find(&message).and_then(|row| check(row, &message)).unwrap_err();
        assert_eq!(message, wanted);
    }

    #[test]
    fn a_message_is_validated_against_its_row() {
        refused("[]", "a message is an object: {\"type\": \"help\"}");
        refused("{}", "the message has no text 'type': send {\"type\": \"help\"}");
        refused(
            "{\"type\": \"evil\"}",
            "there is no message 'evil', did you mean 'eval'? ('help' lists them)",
        );
        refused("{\"type\": \"eval\"}", "'eval' needs the field 'text': Lua (text)");
        refused("{\"type\": \"eval\", \"text\": 1}", "'eval': 'text' must be a text");
        refused(
            "{\"type\": \"eval\", \"text\": \"\", \"second\": 1}",
            "'eval' has no field 'second', did you mean 'seconds'?",
        );
        refused(
            "{\"type\": \"step\", \"frames\": 1.5}",
            "'step': 'frames' must be a whole number from 1 to 10000",
        );
        refused(
            "{\"type\": \"input\", \"device\": \"mouse\", \"to\": [1, 2, 3, 4]}",
            "'input': 'to' must be a list of at most 3 numbers",
        );
        let good = json::read("{\"type\": \"pause\", \"id\": \"a\"}").unwrap();
        assert_eq!(check(find(&good).unwrap(), &good), Ok(()));
    }

    #[test]
    fn every_message_is_in_the_manual_and_documented() {
        let manual = include_str!("../../../docs/tools.md");
        for row in messages() {
            assert!(manual.contains(&format!("| `{}` |", row.name)), "docs/tools.md: {}", row.name);
            assert!(row.doc.ends_with('.') && !row.answer.is_empty(), "{}", row.name);
            for field in row.fields {
                let named = format!("`{}`", field.name);
                assert!(manual.contains(&named), "docs/tools.md: {} of {}", named, row.name);
            }
        }
    }
}
