//! What a test does in the player's place: its table of presses, moves and the like, as a frame's
//! input. The same queue takes it that devices and the window go through.

use crate::app::desk::let_go;
use crate::app::given::Given;
use crate::foundation::{Handle, Kind, Vec3, suggest};
use crate::script::Value;
use crate::script::api::{class_of, device_name, device_of, ended_window};
use crate::system::input::names::{Class, Name, hint};
use crate::system::input::{DeviceId, Event, Input, KEYBOARD, PAD, Phase, TOUCH, What};
use crate::system::window::{Change, Others, WindowId};

/// What an entry can do, and the fields that it can have besides.
const WORDS: &[(&str, &[&str])] = &[
    ("press", &["value", "age", "repeated"]),
    ("release", &["age"]),
    ("tap", &["age"]),
    ("axis", &["x", "y", "age"]),
    ("motion", &["x", "y", "age"]),
    ("text", &["age"]),
    ("compose", &[]),
    ("touch", &["phase", "x", "y", "pressure", "age"]),
    ("connect", &["name"]),
    ("disconnect", &[]),
    ("focus", &["window"]),
    ("resize", &["window"]),
    ("drop", &["window"]),
    ("cursor", &["window"]),
    ("close", &["window"]),
];

/// Reads what a test gave; the words say what is wrong with it.
pub fn read(value: &Value, input: &Input, windows: &Others) -> Result<Given, String> {
    let entries = match value {
        Value::List(entries) => entries.as_slice(),
        // A list of nothing looks like a table of nothing.
        Value::Table(fields) if fields.is_empty() => &[],
        Value::Table(_) => std::slice::from_ref(value),
        _ => return Err("test.input: argument #1 'events' must be a table".to_string()),
    };
    let mut given = Given::default();
    for (at, entry) in entries.iter().enumerate() {
        let read = Entry::of(entry).and_then(|entry| entry.read(input, &mut given));
        let read = read.and_then(|()| given.changes.iter().try_for_each(|it| lives(it, windows)));
        read.map_err(|words| format!("test.input: event #{}: {words}", at + 1))?;
    }
    Ok(given)
}

/// The words where a change is of a window that has ended.
fn lives(change: &Change, windows: &Others) -> Result<(), String> {
    let Change::Of(number, _) = change else { return Ok(()) };
    match ended_window(windows, *number) {
        Some(words) => Err(format!("'window': {words}")),
        None => Ok(()),
    }
}

struct Entry<'a> {
    fields: &'a [(String, Value)],
    verb: &'static str,
}

impl Entry<'_> {
    fn of(value: &Value) -> Result<Entry<'_>, String> {
        let Value::Table(fields) = value else {
            return Err("must be a table such as { press = \"space\" }".to_string());
        };
        let verbs: Vec<_> =
            WORDS.iter().filter(|(verb, _)| fields.iter().any(|(key, _)| key == verb)).collect();
        let all = || WORDS.iter().map(|(verb, _)| *verb);
        let [(verb, others)] = verbs[..] else {
            let first = fields.first().map(|(key, _)| key.as_str()).unwrap_or_default();
            let hint = suggest::hint(first, all());
            let all = all().collect::<Vec<_>>().join(", ");
            return Err(format!("says what is done by one of {all}{hint}"));
        };
        for (key, _) in fields {
            if key != verb && !others.contains(&key.as_str()) {
                let hint = suggest::hint(key, others.iter().copied());
                return Err(format!("'{verb}' has no '{key}'{hint}"));
            }
        }
        Ok(Entry { fields, verb })
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn number(&self, key: &str, default: f64) -> Result<f64, String> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Number(number)) if number.is_finite() => Ok(*number),
            Some(_) => Err(format!("'{key}' must be a finite number")),
        }
    }

    fn text(&self, key: &str) -> Result<&str, String> {
        match self.get(key) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(format!("'{key}' must be a string")),
        }
    }

    /// A device of the list, and what follows its name: "pad1:a", or only "a" for a key.
    fn device<'t>(&self, text: &'t str) -> Result<(DeviceId, &'t str), String> {
        let (name, rest) = text.split_once(':').unwrap_or(("keyboard", text));
        let name = match name {
            "key" => "keyboard",
            "pad" => "pad1",
            name => name,
        };
        let device = device_of(name).ok_or_else(|| {
            let all: Vec<String> = (0..PAD.0 + 8).map(|at| device_name(DeviceId(at))).collect();
            let hint = suggest::hint(name, all.iter().map(String::as_str));
            format!("there is no device '{name}'{hint}")
        })?;
        Ok((device, rest))
    }

    fn place(&self) -> Result<Vec3, String> {
        Ok(Vec3::new(self.number("x", 0.0)? as f32, self.number("y", 0.0)? as f32, 0.0))
    }

    fn button(&self) -> Result<(DeviceId, u16), String> {
        let (device, name) = self.device(self.text(self.verb)?)?;
        let class = class_of(device.0);
        let found = class.button(name).ok_or_else(|| unknown(name, "button", class.buttons()))?;
        Ok((device, found as u16))
    }

    fn axis(&self) -> Result<(DeviceId, u8), String> {
        let (device, name) = self.device(self.text(self.verb)?)?;
        let class = class_of(device.0);
        let found = class.axis(name).ok_or_else(|| unknown(name, "axis", class.axes()))?;
        Ok((device, found as u8))
    }

    fn touch(&self) -> Result<What, String> {
        let finger = self.number("touch", 0.0)?.max(0.0) as u64;
        let phase = match self.text("phase")? {
            "began" => Phase::Began,
            "moved" => Phase::Moved,
            "ended" => Phase::Ended,
            "cancelled" => Phase::Cancelled,
            other => {
                let hint = suggest::hint(other, ["began", "moved", "ended", "cancelled"]);
                return Err(format!("there is no phase '{other}'{hint}"));
            }
        };
        let placed = self.get("x").is_some() && self.get("y").is_some();
        if !placed && phase != Phase::Cancelled {
            return Err("a finger needs 'x' and 'y', in pixels of the window".to_string());
        }
        let (at, pressure) = (self.place()?, self.number("pressure", 1.0)? as f32);
        Ok(What::Touch { finger, phase, at, pressure })
    }

    fn focus(&self, input: &Input, given: &mut Given) -> Result<(), String> {
        let Some(Value::Boolean(on)) = self.get("focus") else {
            return Err("'focus' must be true or false".to_string());
        };
        given.changes.push(self.of_window(Change::Focus(*on))?);
        if !on {
            let age = self.number("age", 0.0)?;
            given.events.extend(let_go(input).map(|event| Event { age, ..event }));
        }
        Ok(())
    }

    /// A change of the window that the entry names, or of the main one.
    fn of_window(&self, change: Change) -> Result<Change, String> {
        let handle = match self.get("window") {
            None => return Ok(change),
            Some(Value::Number(number)) => Handle::from_number(*number),
            Some(_) => None,
        };
        let window = handle.filter(|handle| Kind::of(*handle) == Some(Kind::Window));
        let window = window.ok_or("'window' must be one that Window.open gave")?;
        Ok(Change::Of(WindowId(window).number(), Box::new(change)))
    }

    /// Where the mouse is over a window beside the main one.
    fn cursor(&self) -> Result<Change, String> {
        let places = match self.get("cursor") {
            Some(Value::List(places)) => &places[..],
            _ => &[],
        };
        match *places {
            [Value::Number(x), Value::Number(y)] if self.get("window").is_some() => {
                Ok(Change::Cursor { x: x as f32, y: y as f32 })
            }
            [Value::Number(_), Value::Number(_)] => {
                Err("over the main window use axis = \"mouse:cursor\"".to_string())
            }
            _ => Err("'cursor' must be { x, y }, in pixels of the window".to_string()),
        }
    }

    fn close(&self) -> Result<Change, String> {
        match self.get("close") {
            Some(Value::Boolean(true)) => Ok(Change::Close),
            _ => Err("'close' must be true".to_string()),
        }
    }

    fn resize(&self) -> Result<Change, String> {
        let sides = match self.get("resize") {
            Some(Value::List(sides)) => &sides[..],
            _ => &[],
        };
        match *sides {
            [Value::Number(width), Value::Number(height)]
                if (0.0..=16384.0).contains(&width) && (0.0..=16384.0).contains(&height) =>
            {
                Ok(Change::Resized { width: width as u32, height: height as u32 })
            }
            _ => Err("'resize' must be { width, height }, in pixels".to_string()),
        }
    }

    fn read(&self, input: &Input, given: &mut Given) -> Result<(), String> {
        let age = self.number("age", 0.0)?;
        let mut add = |device: DeviceId, what: What| {
            // A pad that is used is there.
            let mut told = given.events.iter().rev().filter(|event| event.device == device);
            let there = told.find_map(|event| match event.what {
                What::Connected { .. } => Some(true),
                What::Disconnected => Some(false),
                _ => None,
            });
            if class_of(device.0) == Class::Pad
                && !there.unwrap_or(input.device(device).connected)
                && !matches!(what, What::Connected { .. } | What::Disconnected)
            {
                let name = "Test pad".to_string();
                given.events.push(Event { device, age, what: What::Connected { name, motors: 2 } });
            }
            given.events.push(Event { device, age, what });
        };
        match self.verb {
            "press" => {
                let (device, button) = self.button()?;
                let repeat = self.get("repeated") == Some(&Value::Boolean(true));
                let value = self.number("value", 1.0)? as f32;
                add(device, What::Button { button, value, repeat });
            }
            "release" => {
                let (device, button) = self.button()?;
                add(device, What::Button { button, value: 0.0, repeat: false });
            }
            "tap" => {
                let (device, button) = self.button()?;
                add(device, What::Button { button, value: 1.0, repeat: false });
                add(device, What::Button { button, value: 0.0, repeat: false });
            }
            "axis" => {
                let (device, axis) = self.axis()?;
                add(device, What::Axis { axis, value: self.place()? });
            }
            "motion" => {
                let (device, axis) = self.axis()?;
                add(device, What::Motion { axis, by: self.place()? });
            }
            "text" => add(KEYBOARD, What::Text(self.text("text")?.to_string())),
            "compose" => {
                let text = self.text("compose")?.to_string();
                add(KEYBOARD, What::Compose { text, cursor: None });
            }
            "touch" => add(TOUCH, self.touch()?),
            "connect" => {
                let (device, _) = self.device(&format!("{}:", self.text("connect")?))?;
                let name = match self.get("name") {
                    None => "Test pad".to_string(),
                    Some(_) => self.text("name")?.to_string(),
                };
                add(device, What::Connected { name, motors: 2 });
            }
            "disconnect" => {
                let (device, _) = self.device(&format!("{}:", self.text("disconnect")?))?;
                add(device, What::Disconnected);
            }
            "focus" => self.focus(input, given)?,
            "resize" => given.changes.push(self.of_window(self.resize()?)?),
            "cursor" => given.changes.push(self.of_window(self.cursor()?)?),
            "close" => given.changes.push(self.of_window(self.close()?)?),
            _ => {
                let dropped = Change::Dropped(self.text("drop")?.to_string());
                given.changes.push(self.of_window(dropped)?);
            }
        }
        Ok(())
    }
}

fn unknown(word: &str, what: &str, names: &[Name]) -> String {
    format!("there is no {what} '{word}'{}", hint(word, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(fields: &[(&str, Value)]) -> Value {
        let fields = fields.iter().map(|(key, value)| (key.to_string(), value.clone()));
        Value::Table(fields.collect())
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_string())
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let check = |entry: Value, wanted: &str| {
            let words =
                read(&Value::List(vec![entry]), &Input::default(), &Others::default()).unwrap_err();
            assert_eq!(words, wanted);
        };
        check(
            table(&[("press", text("spce"))]),
            "test.input: event #1: there is no button 'spce', did you mean 'space'?",
        );
        check(
            table(&[("press", text("pda1:a"))]),
            "test.input: event #1: there is no device 'pda1', did you mean 'pad1'?",
        );
        check(
            table(&[("tap", text("a")), ("valu", text("a"))]),
            "test.input: event #1: 'tap' has no 'valu'",
        );
        check(text("space"), "test.input: event #1: must be a table such as { press = \"space\" }");
    }

    #[test]
    fn a_pad_that_is_used_is_there() {
        for nothing in [Value::List(Vec::new()), Value::Table(Vec::new())] {
            let given = read(&nothing, &Input::default(), &Others::default());
            assert_eq!(given, Ok(Given::default()));
        }
        let press = table(&[("press", text("pad2:a"))]);
        let presses = Value::List(vec![press.clone(), press]);
        let given = read(&presses, &Input::default(), &Others::default()).unwrap();
        assert_eq!(given.events.len(), 3);
        assert!(matches!(given.events[0].what, What::Connected { .. }));
    }
}
