//! `Keyboard`: the device, and what is typed on it.

use super::device::device_rows;
use crate::engine::Engine;
use crate::script::ret::Many;
use crate::script::row::{Module, module};
use crate::script::value::Value;
use crate::system::input::names::Class;
use crate::system::input::{KEYBOARD, What};

pub static KEYBOARD_MODULE: Module = module(
    "Keyboard",
    "The keyboard. Keys are known by their place, named as on a keyboard of the United States.",
    r#"if Keyboard.pressed("space") then print("jump") end
local run = Keyboard.button("left shift") > 0
assert(not run)"#,
    device_rows!(
        { KEYBOARD.0 },
        func(
            "keystrokes",
            keystrokes,
            &[],
            "What was typed since the last frame, in its order: each character is a string, and \
             keys that edit text are there by their names (\"backspace\", \"left\", \"enter\"). \
             Held keys repeat.",
        )
        .pure(),
        func(
            "composition",
            composition,
            &[],
            "The text that is being composed by an input method and is not typed yet, \"\" where \
             there is none; then the first and the last character of it that is marked, where \
             the input method says so (the last is one before the first where only the cursor \
             is there).",
        )
        .pure(),
    ),
);

/// Keys that have a place among typed characters, for fields of text.
const EDITING: [&str; 11] = [
    "backspace",
    "delete",
    "enter",
    "numpad enter",
    "tab",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
];

fn keystrokes(engine: &mut Engine) -> Vec<String> {
    let mut strokes = Vec::new();
    if !engine.window.keystrokes {
        return strokes;
    }
    for event in engine.input.events().iter().filter(|event| event.device == KEYBOARD) {
        match &event.what {
            What::Text(text) => strokes.extend(text.chars().map(String::from)),
            What::Button { button, value, .. } if *value > 0.0 => {
                let name = Class::Keyboard.buttons().get(usize::from(*button)).map(|key| key.name);
                if let Some(name) = name.filter(|name| EDITING.contains(name)) {
                    let name = if name == "numpad enter" { "enter" } else { name };
                    strokes.push(name.to_string());
                }
            }
            _ => {}
        }
    }
    strokes
}

fn composition(engine: &mut Engine) -> Many {
    let composing = engine.input.composing();
    let mut results = vec![Value::Text(composing.text.clone())];
    if let Some((first, last)) = composing.cursor {
        let characters = marked(&composing.text, first, last);
        results.extend(characters.map(|character| Value::Number(character as f64)));
    }
    Many(results)
}

/// The first and the last character that is marked, of bytes: the last byte is the first one that
/// is not marked.
fn marked(text: &str, first: u32, last: u32) -> [usize; 2] {
    let before = |byte: u32| text.char_indices().filter(|(at, _)| *at < byte as usize).count();
    [before(first) + 1, before(last)]
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn the_marked_characters_of_a_composition_are_counted_from_one_to_the_last_itself() {
        assert_eq!(marked("かな字", 0, 9), [1, 3]);
        assert_eq!(marked("かな字", 3, 6), [2, 2]);
        assert_eq!(marked("かな字", 9, 9), [4, 3], "the cursor behind all");
    }
}
