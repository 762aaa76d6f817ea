//! The functions of `Window` that open and close windows in addition to the main window.

use crate::api::window::{POSITION_MAX, check_title, choice};
use crate::argument::{ArgumentError, MaybeHandle, stale_message};
use crate::value::ScriptValue;
use engine_foundation::{Error, Handle, HandleKind, suggest};
use engine_runtime::Engine;
use engine_window::{
    Fullscreen, SIDE_MAX, SIDE_MIN, SecondaryWindows, WINDOWS_MAX, WindowId, WindowOptions,
};

pub fn alive(engine: &mut Engine, window: MaybeHandle) -> bool {
    let handle = window.handle();
    handle.is_some_and(|handle| engine.devices.windows.slots().get(handle).is_some())
}

/// Returns the error message for a window that no longer exists.
pub fn ended_window(windows: &SecondaryWindows, number: u64) -> Option<String> {
    let handle = Handle::from_number(number as f64)?;
    let slots = windows.slots();
    if slots.get(handle).is_some() {
        return None;
    }
    match stale_message(HandleKind::Window, slots.stale(handle), number as f64) {
        ArgumentError::Message(message) | ArgumentError::RestArgument(_, message) => Some(message),
        ArgumentError::Type => None,
    }
}

const OPTIONS: &[&str] =
    &["title", "x", "y", "width", "height", "visible", "resizable", "fullscreen"];

/// Reads a whole number option within a range.
fn whole_number(key: &str, value: &ScriptValue, least: i64, most: i64) -> Result<i64, Error> {
    match value {
        ScriptValue::Number(number)
            if number.fract() == 0.0 && (least as f64..=most as f64).contains(number) =>
        {
            Ok(*number as i64)
        }
        ScriptValue::Number(number) => Err(engine_foundation::error!(
            "'{key}' must be a whole number from {least} to {most}, got {number}"
        )),
        _ => Err(engine_foundation::error!("'{key}' must be a number")),
    }
}

/// Reads the options of a new window. `title` is the default title.
fn opening(title: String, options: Option<ScriptValue>) -> Result<WindowOptions, Error> {
    let entries = match options {
        None => Vec::new(),
        Some(ScriptValue::Table(entries)) => entries,
        Some(ScriptValue::List(items)) if items.is_empty() => Vec::new(),
        Some(_) => {
            return Err(engine_foundation::error!(
                "argument #1 'options' must be a table of options"
            ));
        }
    };
    let mut opening = WindowOptions { title, width: 640, height: 480, ..WindowOptions::default() };
    let (mut x, mut y) = (None, None);
    let (side, range) = ((SIDE_MIN.into(), SIDE_MAX.into()), (-POSITION_MAX, POSITION_MAX));
    for (key, value) in &entries {
        match (key.as_str(), value) {
            ("title", ScriptValue::Text(title)) => {
                check_title("'title'", title)?;
                opening.title.clone_from(title);
            }
            ("title", _) => return Err(engine_foundation::error!("'title' must be a string")),
            ("x", value) => x = Some(whole_number("x", value, range.0, range.1)? as i32),
            ("y", value) => y = Some(whole_number("y", value, range.0, range.1)? as i32),
            ("width", value) => {
                opening.width = whole_number("width", value, side.0, side.1)? as u32
            }
            ("height", value) => {
                opening.height = whole_number("height", value, side.0, side.1)? as u32
            }
            ("visible", ScriptValue::Boolean(on)) => opening.visible = *on,
            ("resizable", ScriptValue::Boolean(on)) => opening.resizable = *on,
            ("visible" | "resizable", _) => {
                return Err(engine_foundation::error!("'{key}' must be true or false"));
            }
            ("fullscreen", ScriptValue::Text(mode)) => {
                opening.fullscreen =
                    choice(mode, "'fullscreen'", Fullscreen::NAMES, Fullscreen::of)?;
            }
            ("fullscreen", _) => {
                return Err(engine_foundation::error!("'fullscreen' must be a string"));
            }
            _ => {
                let hint = suggest::hint(key, OPTIONS.iter().copied());
                let all = OPTIONS.join(", ");
                return Err(engine_foundation::error!(
                    "there is no option '{key}'{hint} (there are {all})"
                ));
            }
        }
    }
    opening.position = match (x, y) {
        (Some(x), Some(y)) => Some((x, y)),
        (None, None) => None,
        _ => {
            return Err(engine_foundation::error!(
                "'x' and 'y' belong together: give both, or neither"
            ));
        }
    };
    Ok(opening)
}

pub fn open(engine: &mut Engine, options: Option<ScriptValue>) -> Result<WindowId, Error> {
    let opening = opening(engine.devices.window.title.clone(), options)?;
    let (windows, window) = (&mut engine.devices.windows, &mut engine.devices.window);
    windows.open(&opening, window).ok_or_else(|| {
        engine_foundation::error!(
            "{WINDOWS_MAX} windows already exist besides the main one (WINDOWS_MAX): close one \
             first"
        )
    })
}

pub fn close(engine: &mut Engine, window: Option<WindowId>) {
    match window {
        None => engine.devices.window.asked_to_close = true,
        Some(window) => {
            let location = crate::script_location();
            engine.devices.windows.close(window, engine.frame.index, &location);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_option_is_accepted() {
        for key in OPTIONS {
            // Nil is valid for none of the options. The error must be about the known option.
            let wrong = opening(
                String::new(),
                Some(ScriptValue::Table(vec![(key.to_string(), ScriptValue::Nil)])),
            );
            let message = wrong.unwrap_err().message;
            assert!(message.starts_with(&format!("'{key}' must be ")), "{message}");
        }
        let other = ScriptValue::Table(vec![("colour".to_string(), ScriptValue::Nil)]);
        let message = opening(String::new(), Some(other)).unwrap_err().message;
        assert!(message.starts_with("there is no option 'colour'"), "{message}");
    }
}
