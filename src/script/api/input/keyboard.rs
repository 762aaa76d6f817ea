//! The Lua module `Keyboard`: the device, and the text typed on it. `Keyboard.keystrokes` and the
//! names of its keys are in the prelude (lua/input/keyboard.lua).

use crate::api::input::device::device_rows;
use crate::api_row::{ModuleRows, func, module, more};
use crate::return_value::ManyResults;
use crate::value::ScriptValue;
use engine_input::button_names::DeviceClass;
use engine_input::{EventKind, KEYBOARD};
use engine_runtime::Engine;

pub static KEYBOARD_MODULE: ModuleRows = module(
    "Keyboard",
    "The keyboard. Keys are named by their position, as on a US keyboard.",
    r#"if Keyboard.pressed("space") then print("jump") end
local run = Keyboard.held("left shift")
assert(not run)"#,
    device_rows!(
        { KEYBOARD.0 },
        func(
            "composition",
            composition,
            &[],
            "Returns the text that an input method is composing and that is not typed yet, \"\" if \
             there is none. If the input method reports marked characters, also returns the first \
             and the last of them. The last is one before the first if there is only the cursor.",
        )
        .pure(),
    ),
);

/// Native functions on which the prelude's functions are built.
pub static CORE: ModuleRows = more(
    "Keyboard",
    &[func(
        "keystrokes",
        keystrokes,
        &[],
        "Returns what was typed since the last frame, in order.",
    )
    .pure()],
);

/// Keys that are included among typed characters, for text fields.
const EDITING: [&str; 27] = [
    "backspace",
    "delete",
    "enter",
    "numpad enter",
    "tab",
    "escape",
    "insert",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "page up",
    "page down",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
];

fn keystrokes(engine: &mut Engine) -> Vec<String> {
    let mut strokes = Vec::new();
    if !engine.devices.window.keystrokes {
        return strokes;
    }
    for event in engine.devices.input.events().iter().filter(|event| event.device == KEYBOARD) {
        match &event.kind {
            EventKind::Text(text) => strokes.extend(text.chars().map(String::from)),
            EventKind::Button { button, value, .. } if *value > 0.0 => {
                let name =
                    DeviceClass::Keyboard.buttons().get(usize::from(*button)).map(|key| key.name);
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

fn composition(engine: &mut Engine) -> ManyResults {
    let composing = engine.devices.input.composing();
    let mut results = vec![ScriptValue::Text(composing.text.clone())];
    if let Some((first, last)) = composing.cursor {
        let characters = marked(&composing.text, first, last);
        results.extend(characters.map(|character| ScriptValue::Number(character as f64)));
    }
    ManyResults(results)
}

/// Converts a marked byte range into the numbers of its first and last character. `last` is the
/// offset of the first byte that is not marked.
fn marked(text: &str, first: u32, last: u32) -> [usize; 2] {
    let before = |byte: u32| text.char_indices().filter(|(at, _)| *at < byte as usize).count();
    [before(first) + 1, before(last)]
}

#[cfg(test)]
mod tests {
    use super::{DeviceClass, EDITING, marked};

    #[test]
    fn listed_keys_exist() {
        let keys = DeviceClass::Keyboard.buttons();
        for name in EDITING {
            assert!(keys.iter().any(|key| key.name == name), "{name}");
        }
    }

    #[test]
    fn composition_ranges_are_one_based_and_inclusive() {
        assert_eq!(marked("かな字", 0, 9), [1, 3]);
        assert_eq!(marked("かな字", 3, 6), [2, 2]);
        assert_eq!(marked("かな字", 9, 9), [4, 3], "the cursor behind all");
    }
}
