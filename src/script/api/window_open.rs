//! The rows of `Window` that open and close windows beside the main one.

use super::window::{PLACE_MAX, check_title, choice};
use crate::engine::Engine;
use crate::foundation::{Error, Handle, Kind, suggest};
use crate::script::arg::{AnyNumber, Wrong, stale_words};
use crate::script::value::Value;
use crate::system::window::{
    Fullscreen, Opening, Others, SIDE_MAX, SIDE_MIN, WINDOWS_MAX, WindowId,
};

pub fn alive(engine: &mut Engine, window: AnyNumber) -> bool {
    let handle = Handle::from_number(window.0);
    handle.is_some_and(|handle| engine.windows.slots().get(handle).is_some())
}

/// The words on a window that has ended.
pub fn ended_window(windows: &Others, number: u64) -> Option<String> {
    let handle = Handle::from_number(number as f64)?;
    let slots = windows.slots();
    if slots.get(handle).is_some() {
        return None;
    }
    match stale_words(Kind::Window, slots.stale(handle), number as f64) {
        Wrong::Words(words) | Wrong::Later(_, words) => Some(words),
        Wrong::Type => None,
    }
}

const OPTIONS: &[&str] =
    &["title", "x", "y", "width", "height", "visible", "resizable", "fullscreen"];

/// A whole number of the options that lies within a range.
fn whole(key: &str, value: &Value, least: i64, most: i64) -> Result<i64, Error> {
    match value {
        Value::Number(number)
            if number.fract() == 0.0 && (least as f64..=most as f64).contains(number) =>
        {
            Ok(*number as i64)
        }
        Value::Number(number) => Err(crate::error!(
            "'{key}' must be a whole number from {least} to {most}, got {number}"
        )),
        _ => Err(crate::error!("'{key}' must be a number")),
    }
}

/// What a window is opened as; where nothing else is said, with that title.
fn opening(title: String, options: Option<Value>) -> Result<Opening, Error> {
    let entries = match options {
        None => Vec::new(),
        Some(Value::Table(entries)) => entries,
        Some(Value::List(items)) if items.is_empty() => Vec::new(),
        Some(_) => return Err(crate::error!("argument #1 'options' must be a table of options")),
    };
    let mut opening = Opening { title, width: 640, height: 480, ..Opening::default() };
    let (mut x, mut y) = (None, None);
    let (side, place) = ((SIDE_MIN.into(), SIDE_MAX.into()), (-PLACE_MAX, PLACE_MAX));
    for (key, value) in &entries {
        match (key.as_str(), value) {
            ("title", Value::Text(title)) => {
                check_title("'title'", title)?;
                opening.title.clone_from(title);
            }
            ("title", _) => return Err(crate::error!("'title' must be a string")),
            ("x", value) => x = Some(whole("x", value, place.0, place.1)? as i32),
            ("y", value) => y = Some(whole("y", value, place.0, place.1)? as i32),
            ("width", value) => opening.width = whole("width", value, side.0, side.1)? as u32,
            ("height", value) => opening.height = whole("height", value, side.0, side.1)? as u32,
            ("visible", Value::Boolean(on)) => opening.visible = *on,
            ("resizable", Value::Boolean(on)) => opening.resizable = *on,
            ("visible" | "resizable", _) => {
                return Err(crate::error!("'{key}' must be true or false"));
            }
            ("fullscreen", Value::Text(mode)) => {
                opening.fullscreen =
                    choice(mode, "'fullscreen'", Fullscreen::WORDS, Fullscreen::of)?;
            }
            ("fullscreen", _) => return Err(crate::error!("'fullscreen' must be a string")),
            _ => {
                let hint = suggest::hint(key, OPTIONS.iter().copied());
                let all = OPTIONS.join(", ");
                return Err(crate::error!("there is no option '{key}'{hint} (there are {all})"));
            }
        }
    }
    opening.position = match (x, y) {
        (Some(x), Some(y)) => Some((x, y)),
        (None, None) => None,
        _ => return Err(crate::error!("'x' and 'y' belong together: give both, or neither")),
    };
    Ok(opening)
}

pub fn open(engine: &mut Engine, options: Option<Value>) -> Result<WindowId, Error> {
    let opening = opening(engine.window.title.clone(), options)?;
    let Engine { windows, window, .. } = engine;
    windows.open(&opening, window).ok_or_else(|| {
        crate::error!(
            "{WINDOWS_MAX} windows are there already beside the main one (WINDOWS_MAX): close one \
             first"
        )
    })
}

pub fn close(engine: &mut Engine, window: Option<WindowId>) {
    match window {
        None => engine.window.asked_to_close = true,
        Some(window) => {
            let place = crate::script::place();
            engine.windows.close(window, engine.frame.index, &place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_is_named_is_one() {
        for key in OPTIONS {
            // Nothing is right for all of them: what is wrong is said of a known one.
            let wrong =
                opening(String::new(), Some(Value::Table(vec![(key.to_string(), Value::Nil)])));
            let words = wrong.unwrap_err().message;
            assert!(words.starts_with(&format!("'{key}' must be ")), "{words}");
        }
        let other = Value::Table(vec![("colour".to_string(), Value::Nil)]);
        let words = opening(String::new(), Some(other)).unwrap_err().message;
        assert!(words.starts_with("there is no option 'colour'"), "{words}");
    }
}
