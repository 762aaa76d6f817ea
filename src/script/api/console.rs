//! Native functions of the console for the prelude: what was typed into it, and the lines of the
//! log. The console itself is in lua/debug/console.lua.

use crate::api_row::{ModuleRows, func, module};
use crate::return_value::ManyResults;
use crate::value::ScriptValue;
use engine_foundation::{Vec2, log};
use engine_input::CapturedInput;
use engine_input::button_names::DeviceClass;
use engine_runtime::Engine;

pub static CORE: ModuleRows = module(
    "core",
    "Native functions of the console, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "console_input",
            console_input,
            &[],
            "Returns what was typed into the open console in this frame (characters and names of \
             keys), the notches of the wheel, and the text that is being composed; nil if it is \
             closed.",
        )
        .pure(),
        func(
            "set_console_area",
            set_console_area,
            &[("left", ""), ("bottom", ""), ("right", ""), ("top", "")],
            "Sets the area in which the open console takes the mouse, in logical pixels.",
        ),
        func(
            "overlay_position",
            overlay_position,
            &[("x", ""), ("y", "")],
            "Returns a position of the game's picture on the console's Gui.",
        )
        .pure(),
        func(
            "log_lines_after",
            log_lines_after,
            &[("count", "")],
            "Returns the number of lines written so far, and the kept lines after the first \
             `count`, each with its level and its text.",
        )
        .pure(),
    ],
);

/// Keys that the console handles. Those in the second list are handled while a control key is held.
const KEYS: [&str; 12] = [
    "backspace",
    "delete",
    "enter",
    "tab",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "page up",
    "page down",
];
const KEYS_WITH_CTRL: [&str; 3] = ["home", "end", "v"];

/// Returns the name of a key for the console, or `None` if the console does not handle the key.
fn key_name(button: u16, ctrl: bool) -> Option<String> {
    let name = DeviceClass::Keyboard.buttons().get(usize::from(button))?.name;
    let name = if name == "numpad enter" { "enter" } else { name };
    match ctrl {
        true if KEYS_WITH_CTRL.contains(&name) => Some(format!("ctrl+{name}")),
        _ => KEYS.contains(&name).then(|| name.to_string()),
    }
}

fn console_input(engine: &mut Engine) -> ManyResults {
    let console = &engine.devices.console;
    if !console.is_open() {
        return ManyResults(vec![ScriptValue::Nil]);
    }
    let (mut typed, mut notches) = (Vec::new(), 0.0);
    for input in console.captured() {
        match input {
            CapturedInput::Text(text) => {
                typed.extend(text.chars().map(|character| ScriptValue::Text(character.into())));
            }
            CapturedInput::Key { button, ctrl } => {
                typed.extend(key_name(*button, *ctrl).map(ScriptValue::Text));
            }
            CapturedInput::Wheel(by) => notches += f64::from(*by),
        }
    }
    ManyResults(vec![
        ScriptValue::List(typed),
        ScriptValue::Number(notches),
        ScriptValue::Text(console.composing().to_string()),
    ])
}

fn set_console_area(engine: &mut Engine, left: f64, bottom: f64, right: f64, top: f64) {
    // The cursor that the area is compared with has units of the game's picture.
    let window = &engine.devices.window;
    let low = window.logical_to_units(Vec2::new(left as f32, bottom as f32));
    let high = window.logical_to_units(Vec2::new(right as f32, top as f32));
    engine.devices.console.set_area([low.x, low.y, high.x, high.y]);
}

fn overlay_position(engine: &mut Engine, x: f64, y: f64) -> (f64, f64) {
    let position = engine.devices.window.units_to_logical(Vec2::new(x as f32, y as f32));
    (f64::from(position.x), f64::from(position.y))
}

fn log_lines_after(_: &mut Engine, count: f64) -> ManyResults {
    let (written, lines) = log::lines_after(count as u64);
    let line = |(level, text): (log::LogLevel, String)| {
        ScriptValue::List(vec![ScriptValue::Text(level.name().into()), ScriptValue::Text(text)])
    };
    ManyResults(vec![
        ScriptValue::Number(written as f64),
        ScriptValue::List(lines.into_iter().map(line).collect()),
    ])
}
