//! The table of messages: what tools can ask, with which fields. `help` is made of it, and every
//! message is checked by it before it is handled.

use super::{Call, Refusal, devices, figures, look, pictures, resources, script, streams, window};
use crate::foundation::sjson::Tree;
use crate::foundation::suggest;
use crate::system::tools::{MESSAGE_BYTES_MAX, VERSION, json};

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Text,
    /// A number between these.
    Number(f64, f64),
    /// A whole number between these.
    Whole(u64, u64),
    Truth,
    /// A list of texts.
    Texts,
    /// A list of numbers, of this many at most.
    Numbers(usize),
}

impl Kind {
    fn name(self) -> String {
        match self {
            Kind::Text => "text".to_string(),
            Kind::Number(least, most) => format!("number from {least} to {most}"),
            Kind::Whole(least, most) => format!("whole number from {least} to {most}"),
            Kind::Truth => "true or false".to_string(),
            Kind::Texts => "list of texts".to_string(),
            Kind::Numbers(most) => format!("list of at most {most} numbers"),
        }
    }

    fn fits(self, value: &Tree) -> bool {
        match (self, value) {
            (Kind::Text, Tree::String(_)) | (Kind::Truth, Tree::Bool(_)) => true,
            (Kind::Number(least, most), Tree::Number(number)) => (least..=most).contains(number),
            (Kind::Whole(least, most), Tree::Number(number)) => {
                number.fract() == 0.0 && (least as f64..=most as f64).contains(number)
            }
            (Kind::Texts, Tree::Array(items)) => {
                items.iter().all(|item| matches!(item, Tree::String(_)))
            }
            (Kind::Numbers(most), Tree::Array(items)) => {
                items.len() <= most && items.iter().all(|item| matches!(item, Tree::Number(_)))
            }
            _ => false,
        }
    }
}

/// A field of a message.
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub optional: bool,
    pub words: &'static str,
}

const fn must(name: &'static str, kind: Kind, words: &'static str) -> Field {
    Field { name, kind, optional: false, words }
}

const fn may(name: &'static str, kind: Kind, words: &'static str) -> Field {
    Field { name, kind, optional: true, words }
}

/// What handles a message: the answer's fields; nothing, where it is answered later.
type Run = fn(&mut Call) -> Result<Option<Tree>, Refusal>;

/// A message.
pub struct Row {
    pub name: &'static str,
    pub words: &'static str,
    pub fields: &'static [Field],
    /// What the answer has beside `type` and `id`.
    pub answer: &'static str,
    pub run: Run,
}

/// Numbers of units: handles are below it.
const HANDLE: Kind = Kind::Whole(0, 1 << 53);
const SECONDS: Kind = Kind::Number(0.01, 60.0);

/// Every message.
pub static MESSAGES: &[Row] = &[
    Row {
        name: "help",
        words: "Lists the messages and streams.",
        fields: &[],
        answer: "version, messages, streams, message_bytes_max",
        run: help,
    },
    Row {
        name: "status",
        words: "Says which game runs, and how.",
        fields: &[],
        answer: "game, version, engine, build, deterministic, frame, seconds, paused, problem, \
                 draws, size, scale, worlds, units, clients, refused, dropped",
        run: super::status,
    },
    Row {
        name: "eval",
        words: "Runs Lua in the game: an expression, or statements. What takes too long is \
                stopped, and the game goes on.",
        fields: &[
            must("text", Kind::Text, "Lua"),
            may("seconds", Kind::Number(0.001, 60.0), "CPU time that it may take [0.5]"),
            may("data", Kind::Truth, "give the first value as JSON, not in words"),
        ],
        answer: "values (in words), or data; logged (the lines of the log meanwhile)",
        run: script::eval,
    },
    Row {
        name: "script",
        words: "Runs Lua in the game for what it does, as 'eval' does: what it has to say it sends \
                with Application.console_send.",
        fields: &[must("script", Kind::Text, "Lua")],
        answer: "nothing",
        run: script::run,
    },
    Row {
        name: "complete",
        words: "Says what the name at a text's end could go on with.",
        fields: &[must("text", Kind::Text, "Lua, up to the cursor")],
        answer: "start (what the words replace), words, signatures",
        run: script::complete,
    },
    Row {
        name: "subscribe",
        words: "Follows a stream; the same again changes how.",
        fields: &[
            must("stream", Kind::Text, "one of help's streams"),
            may("every", SECONDS, "seconds between two messages [0.1]"),
            may("width", Kind::Whole(16, 4096), "of pictures, at most [640]"),
            may("names", Kind::Texts, "of the counters to follow"),
        ],
        answer: "stream",
        run: streams::subscribe,
    },
    Row {
        name: "unsubscribe",
        words: "Follows a stream no longer.",
        fields: &[must("stream", Kind::Text, "one of help's streams")],
        answer: "stream",
        run: streams::unsubscribe,
    },
    Row {
        name: "reload",
        words: "Takes resources again from their files: those of a kind, one, or, without fields, \
                whatever changed in the folder.",
        fields: &[
            may("kind", Kind::Text, "lua, texture, unit, …"),
            may("name", Kind::Text, "with its kind: units/barrel.unit"),
        ],
        answer: "reloaded, problems",
        run: resources::reload,
    },
    Row {
        name: "pause",
        words: "Stops the game after this frame. Answered when it stands.",
        fields: &[],
        answer: "paused",
        run: super::pause,
    },
    Row {
        name: "step",
        words: "Plays frames of a paused game. Answered when it stands again.",
        fields: &[may("frames", Kind::Whole(1, 10_000), "how many [1]")],
        answer: "paused",
        run: super::step,
    },
    Row {
        name: "resume",
        words: "Lets a paused game go on.",
        fields: &[],
        answer: "paused",
        run: super::resume,
    },
    Row {
        name: "quit",
        words: "Ends the game after this frame.",
        fields: &[],
        answer: "nothing",
        run: super::quit,
    },
    Row {
        name: "screenshot",
        words: "Gives a picture of the frame.",
        fields: &[may("width", Kind::Whole(16, 16384), "at most [as it is]")],
        answer: "frame, width, height, png (base64)",
        run: pictures::screenshot,
    },
    Row {
        name: "attach_window",
        words: "Shows the game in a window of the tool's, by its number on the display (X11). The \
                game takes its size, also when it changes, and no input from it.",
        fields: &[must("window", Kind::Whole(1, u32::MAX as u64), "its number")],
        answer: "width, height",
        run: window::attach,
    },
    Row {
        name: "detach_window",
        words: "Shows the game in that window no longer.",
        fields: &[],
        answer: "nothing",
        run: window::detach,
    },
    Row {
        name: "input",
        words: "Has a device say something in the next frame. Give one of button, axis, text.",
        fields: &[
            must("device", Kind::Text, "keyboard, mouse, touch, pad1 to pad8"),
            may("button", Kind::Text, "its name; of a key also the code of web pages: KeyA"),
            may("value", Kind::Number(0.0, 1.0), "of the button: 0 up, 1 down [1]"),
            may("axis", Kind::Text, "its name"),
            may("to", Kind::Numbers(3), "where the axis stands now"),
            may("by", Kind::Numbers(3), "how far it moved, instead"),
            may("text", Kind::Text, "what was typed"),
        ],
        answer: "nothing",
        run: devices::input,
    },
    Row {
        name: "units",
        words: "Lists the worlds and their units.",
        fields: &[
            may("world", HANDLE, "one world alone"),
            may("text", Kind::Text, "only units whose name has it"),
            may("max", Kind::Whole(1, 20_000), "how many at most [1000]"),
        ],
        answer: "worlds: world, main, seconds, count, units (unit, name, nodes, parent, position)",
        run: look::units,
    },
    Row {
        name: "unit",
        words: "Looks into a unit.",
        fields: &[must("unit", HANDLE, "its handle")],
        answer: "unit, name, world, bases, components, nodes (name, parent, local, rotation, \
                 scale, position), text (what Unit.inspect says)",
        run: look::unit,
    },
    Row {
        name: "resources",
        words: "Lists resources, with whom they name.",
        fields: &[
            may("kind", Kind::Text, "one kind alone"),
            may("text", Kind::Text, "only those whose name has it"),
            may("max", Kind::Whole(1, 50_000), "how many at most [5000]"),
        ],
        answer: "count, resources (name, kind, path, variants, loaded, names)",
        run: resources::list,
    },
    Row {
        name: "resource",
        words: "Looks into a resource: what it is made of, whom it names and who names it.",
        fields: &[must("name", Kind::Text, "with its kind: units/barrel.unit")],
        answer: "name, kind, hash, serves, loaded, variants (properties, files, data), names, \
                 missing, dependents, all_dependents",
        run: resources::look,
    },
    Row {
        name: "counters",
        words: "Lists counters with what they came to in the last frame.",
        fields: &[
            may("text", Kind::Text, "only those whose name has it"),
            may("max", Kind::Whole(1, 20_000), "how many at most [5000]"),
        ],
        answer: "frame, count, counters (name, value)",
        run: figures::list,
    },
    Row {
        name: "profile",
        words: "Gives the profiler's rows and its last frames.",
        fields: &[
            may("frames", Kind::Whole(0, 64), "how many frames [1]"),
            may("reset", Kind::Truth, "forget averages and extremes before"),
        ],
        answer: "names, threads (name, rows: name's number, parents, calls, seconds, own \
                 seconds, min, average and max percent), frames (index, began, seconds, scopes: \
                 thread's number, name's number, parents, began, seconds; left_out: how many more \
                 it had), lost",
        run: figures::profile,
    },
    Row {
        name: "memory",
        words: "Says who holds how much memory: a tree of owners, and what scripts hold.",
        fields: &[
            may("walk", Kind::Truth, "name what scripts hold: the game waits for the walk"),
            may("mark", Kind::Truth, "the same, and remember it: later walks tell what grew since"),
        ],
        answer: "counts, scripts, scripts_most, rows (name, path, parents, bytes, blocks, made), \
                 after a walk held (name, bytes, objects, more_bytes, more_objects), marked (the \
                 frame of the mark) and seconds that it took",
        run: figures::memory,
    },
    Row {
        name: "sampling",
        words: "Asks scripts a thousand times a second where they are, or no longer, and gives \
                where they were met.",
        fields: &[may("on", Kind::Truth, "whether they are asked from now on [as it is]")],
        answer: "on, samples, scripts, functions, lines (name, samples, allocated_bytes, \
                 engine_calls)",
        run: figures::sampling,
    },
    Row {
        name: "time_step",
        words: "Gives the last frames' time steps, as the stream of that name does.",
        fields: &[may("frames", Kind::Whole(1, 1024), "how many [256]")],
        answer: "frame, measured, delta, debt (lists)",
        run: streams::time_step,
    },
];

/// The row of a message.
pub fn find(message: &Tree) -> Result<&'static Row, String> {
    let Tree::Object(_) = message else {
        return Err("a message is an object: {\"type\": \"help\"}".to_string());
    };
    let Some(Tree::String(name)) = message.get("type") else {
        return Err("the message has no text 'type': send {\"type\": \"help\"}".to_string());
    };
    MESSAGES.iter().find(|row| row.name == name).ok_or_else(|| {
        let hint = suggest::hint(name, MESSAGES.iter().map(|row| row.name));
        format!("there is no message '{name}'{hint} ('help' lists them)")
    })
}

/// Whether a message has the fields of its row, and no others.
pub fn check(row: &Row, message: &Tree) -> Result<(), String> {
    let Tree::Object(entries) = message else { return Ok(()) };
    for (name, value) in entries {
        if name == "type" || name == "id" {
            continue;
        }
        let Some(field) = row.fields.iter().find(|field| field.name == name) else {
            let hint = suggest::hint(name, row.fields.iter().map(|field| field.name));
            return Err(format!("'{}' has no field '{name}'{hint}", row.name));
        };
        if !field.kind.fits(value) {
            return Err(format!("'{}': '{name}' must be a {}", row.name, field.kind.name()));
        }
    }
    let missing = row.fields.iter().find(|it| !it.optional && message.get(it.name).is_none());
    match missing {
        Some(field) => Err(format!(
            "'{}' needs the field '{}': {} ({})",
            row.name,
            field.name,
            field.words,
            field.kind.name()
        )),
        None => Ok(()),
    }
}

/// The text of a field that was checked.
pub fn text<'a>(fields: &'a Tree, name: &str) -> Option<&'a str> {
    match fields.get(name) {
        Some(Tree::String(text)) => Some(text),
        _ => None,
    }
}

pub fn number(fields: &Tree, name: &str) -> Option<f64> {
    match fields.get(name) {
        Some(Tree::Number(number)) => Some(*number),
        _ => None,
    }
}

pub fn whole(fields: &Tree, name: &str) -> Option<u64> {
    number(fields, name).map(|number| number as u64)
}

pub fn truth(fields: &Tree, name: &str) -> bool {
    fields.get(name) == Some(&Tree::Bool(true))
}

fn help(_: &mut Call) -> Result<Option<Tree>, Refusal> {
    let field = |field: &Field| {
        json::object([
            ("name", json::text(field.name)),
            ("type", json::text(field.kind.name())),
            ("optional", Tree::Bool(field.optional)),
            ("words", json::text(field.words)),
        ])
    };
    let message = |row: &Row| {
        json::object([
            ("type", json::text(row.name)),
            ("words", json::text(row.words)),
            ("fields", Tree::Array(row.fields.iter().map(field).collect())),
            ("answer", json::text(row.answer)),
        ])
    };
    Ok(Some(json::object([
        ("version", Tree::Number(f64::from(VERSION))),
        ("messages", Tree::Array(MESSAGES.iter().map(message).collect())),
        ("streams", streams::in_words()),
        ("message_bytes_max", json::count(MESSAGE_BYTES_MAX)),
    ])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, wanted: &str) {
        let message = json::read(text).unwrap();
        let words = find(&message).and_then(|row| check(row, &message)).unwrap_err();
        assert_eq!(words, wanted);
    }

    #[test]
    fn a_message_is_checked_by_its_row() {
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
    fn every_message_is_in_the_manual_and_has_words() {
        let manual = include_str!("../../../docs/tools.md");
        for row in MESSAGES {
            assert!(manual.contains(&format!("| `{}` |", row.name)), "docs/tools.md: {}", row.name);
            assert!(row.words.ends_with('.') && !row.answer.is_empty(), "{}", row.name);
            for field in row.fields {
                let named = format!("`{}`", field.name);
                assert!(manual.contains(&named), "docs/tools.md: {} of {}", named, row.name);
            }
        }
    }
}
