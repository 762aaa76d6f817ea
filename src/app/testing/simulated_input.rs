//! Simulated input of a test: converts its table of presses, moves and other events into a frame's
//! input. It goes through the same queue as events of devices and the window.

use crate::frame_input::FrameInput;
use crate::input_translation::release_all_inputs;
use engine_foundation::{Handle, HandleKind, Vec3, suggest};
use engine_input::button_names::{DeviceClass, InputName, hint};
use engine_input::{DeviceId, EventKind, Input, InputEvent, KEYBOARD, PAD, TOUCH, TouchPhase};
use engine_script::ScriptValue;
use engine_script::api::{class_of, device_name, device_of, ended_window};
use engine_window::{SecondaryWindows, WindowChange, WindowId};

/// The actions of an entry, with their optional fields.
const ACTIONS: &[(&str, &[&str])] = &[
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

/// Converts a test's table. Returns a message if it is invalid.
pub fn read(
    value: &ScriptValue,
    input: &Input,
    windows: &SecondaryWindows,
) -> Result<FrameInput, String> {
    let entries = match value {
        ScriptValue::List(entries) => entries.as_slice(),
        // An empty Lua list cannot be distinguished from an empty table.
        ScriptValue::Table(fields) if fields.is_empty() => &[],
        ScriptValue::Table(_) => std::slice::from_ref(value),
        _ => return Err("test.input: argument #1 'events' must be a table".to_string()),
    };
    let mut frame_input = FrameInput::default();
    for (at, entry) in entries.iter().enumerate() {
        let read = InputAction::of(entry).and_then(|entry| entry.read(input, &mut frame_input));
        let read = read
            .and_then(|()| frame_input.changes.iter().try_for_each(|it| check_window(it, windows)));
        read.map_err(|message| format!("test.input: event #{}: {message}", at + 1))?;
    }
    Ok(frame_input)
}

/// Returns a message if a change refers to a window that was closed.
fn check_window(change: &WindowChange, windows: &SecondaryWindows) -> Result<(), String> {
    let WindowChange::Of(number, _) = change else { return Ok(()) };
    match ended_window(windows, *number) {
        Some(message) => Err(format!("'window': {message}")),
        None => Ok(()),
    }
}

struct InputAction<'a> {
    fields: &'a [(String, ScriptValue)],
    verb: &'static str,
}

/// Returns true if a device is connected after the events of this frame so far.
fn is_connected(device: DeviceId, input: &Input, frame_input: &FrameInput) -> bool {
    let mut events = frame_input.events.iter().rev().filter(|event| event.device == device);
    let latest = events.find_map(|event| match event.kind {
        EventKind::Connected { .. } => Some(true),
        EventKind::Disconnected => Some(false),
        _ => None,
    });
    latest.unwrap_or(input.device(device).connected)
}

impl InputAction<'_> {
    fn of(value: &ScriptValue) -> Result<InputAction<'_>, String> {
        let ScriptValue::Table(fields) = value else {
            return Err("must be a table such as { press = \"space\" }".to_string());
        };
        let verbs: Vec<_> =
            ACTIONS.iter().filter(|(verb, _)| fields.iter().any(|(key, _)| key == verb)).collect();
        let all = || ACTIONS.iter().map(|(verb, _)| *verb);
        let [(verb, others)] = verbs[..] else {
            let first = fields.first().map(|(key, _)| key.as_str()).unwrap_or_default();
            let hint = suggest::hint(first, all());
            let all = all().collect::<Vec<_>>().join(", ");
            return Err(format!("must have exactly one of {all}{hint}"));
        };
        for (key, _) in fields {
            if key != verb && !others.contains(&key.as_str()) {
                let hint = suggest::hint(key, others.iter().copied());
                return Err(format!("'{verb}' has no '{key}'{hint}"));
            }
        }
        Ok(InputAction { fields, verb })
    }

    fn get(&self, key: &str) -> Option<&ScriptValue> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn number(&self, key: &str, default: f64) -> Result<f64, String> {
        match self.get(key) {
            None => Ok(default),
            Some(ScriptValue::Number(number)) if number.is_finite() => Ok(*number),
            Some(_) => Err(format!("'{key}' must be a finite number")),
        }
    }

    fn text(&self, key: &str) -> Result<&str, String> {
        match self.get(key) {
            Some(ScriptValue::Text(text)) => Ok(text),
            _ => Err(format!("'{key}' must be a string")),
        }
    }

    /// Returns the device of a text and the text after its name: "pad1:a", or only "a" for a key.
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

    fn position(&self) -> Result<Vec3, String> {
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

    fn touch(&self) -> Result<EventKind, String> {
        let finger = self.number("touch", 0.0)?.max(0.0) as u64;
        let phase = match self.text("phase")? {
            "began" => TouchPhase::Began,
            "moved" => TouchPhase::Moved,
            "ended" => TouchPhase::Ended,
            "cancelled" => TouchPhase::Cancelled,
            other => {
                let hint = suggest::hint(other, ["began", "moved", "ended", "cancelled"]);
                return Err(format!("there is no phase '{other}'{hint}"));
            }
        };
        let placed = self.get("x").is_some() && self.get("y").is_some();
        if !placed && phase != TouchPhase::Cancelled {
            return Err("a finger needs 'x' and 'y', in pixels of the window".to_string());
        }
        let (at, pressure) = (self.position()?, self.number("pressure", 1.0)? as f32);
        Ok(EventKind::Touch { finger, phase, at, pressure })
    }

    fn focus(&self, input: &Input, frame_input: &mut FrameInput) -> Result<(), String> {
        let Some(ScriptValue::Boolean(on)) = self.get("focus") else {
            return Err("'focus' must be true or false".to_string());
        };
        frame_input.changes.push(self.of_window(WindowChange::Focus(*on))?);
        if !on {
            let age = self.number("age", 0.0)?;
            frame_input
                .events
                .extend(release_all_inputs(input).map(|event| InputEvent { age, ..event }));
        }
        Ok(())
    }

    /// Returns a change of the window that the entry names, or of the main window.
    fn of_window(&self, change: WindowChange) -> Result<WindowChange, String> {
        let handle = match self.get("window") {
            None => return Ok(change),
            Some(ScriptValue::Number(number)) => Handle::from_number(*number),
            Some(_) => None,
        };
        let window = handle.filter(|handle| HandleKind::of(*handle) == Some(HandleKind::Window));
        let window = window.ok_or("'window' must be one that Window.open returned")?;
        Ok(WindowChange::Of(WindowId(window).number(), Box::new(change)))
    }

    /// Returns the position of the mouse over a secondary window.
    fn cursor(&self) -> Result<WindowChange, String> {
        let coordinates = match self.get("cursor") {
            Some(ScriptValue::List(coordinates)) => &coordinates[..],
            _ => &[],
        };
        match *coordinates {
            [ScriptValue::Number(x), ScriptValue::Number(y)] if self.get("window").is_some() => {
                Ok(WindowChange::Cursor { x: x as f32, y: y as f32 })
            }
            [ScriptValue::Number(_), ScriptValue::Number(_)] => {
                Err("over the main window use axis = \"mouse:cursor\"".to_string())
            }
            _ => Err("'cursor' must be { x, y }, in pixels of the window".to_string()),
        }
    }

    fn close(&self) -> Result<WindowChange, String> {
        match self.get("close") {
            Some(ScriptValue::Boolean(true)) => Ok(WindowChange::Close),
            _ => Err("'close' must be true".to_string()),
        }
    }

    fn resize(&self) -> Result<WindowChange, String> {
        let sides = match self.get("resize") {
            Some(ScriptValue::List(sides)) => &sides[..],
            _ => &[],
        };
        match *sides {
            [ScriptValue::Number(width), ScriptValue::Number(height)]
                if (0.0..=16384.0).contains(&width) && (0.0..=16384.0).contains(&height) =>
            {
                Ok(WindowChange::Resized { width: width as u32, height: height as u32 })
            }
            _ => Err("'resize' must be { width, height }, in pixels".to_string()),
        }
    }

    fn read(&self, input: &Input, frame_input: &mut FrameInput) -> Result<(), String> {
        let age = self.number("age", 0.0)?;
        let mut add = |device: DeviceId, kind: EventKind| {
            // Using a pad connects it.
            if class_of(device.0) == DeviceClass::Pad
                && !is_connected(device, input, frame_input)
                && !matches!(kind, EventKind::Connected { .. } | EventKind::Disconnected)
            {
                let name = "Test pad".to_string();
                frame_input.events.push(InputEvent {
                    device,
                    age,
                    kind: EventKind::Connected { name, motors: 2 },
                });
            }
            frame_input.events.push(InputEvent { device, age, kind });
        };
        match self.verb {
            "press" => {
                let (device, button) = self.button()?;
                let repeat = self.get("repeated") == Some(&ScriptValue::Boolean(true));
                let value = self.number("value", 1.0)? as f32;
                add(device, EventKind::Button { button, value, repeat });
            }
            "release" => {
                let (device, button) = self.button()?;
                add(device, EventKind::Button { button, value: 0.0, repeat: false });
            }
            "tap" => {
                let (device, button) = self.button()?;
                add(device, EventKind::Button { button, value: 1.0, repeat: false });
                add(device, EventKind::Button { button, value: 0.0, repeat: false });
            }
            "axis" => {
                let (device, axis) = self.axis()?;
                add(device, EventKind::Axis { axis, value: self.position()? });
            }
            "motion" => {
                let (device, axis) = self.axis()?;
                add(device, EventKind::Motion { axis, by: self.position()? });
            }
            "text" => add(KEYBOARD, EventKind::Text(self.text("text")?.to_string())),
            "compose" => {
                let text = self.text("compose")?.to_string();
                add(KEYBOARD, EventKind::Compose { text, cursor: None });
            }
            "touch" => add(TOUCH, self.touch()?),
            "connect" => {
                let (device, _) = self.device(&format!("{}:", self.text("connect")?))?;
                let name = match self.get("name") {
                    None => "Test pad".to_string(),
                    Some(_) => self.text("name")?.to_string(),
                };
                add(device, EventKind::Connected { name, motors: 2 });
            }
            "disconnect" => {
                let (device, _) = self.device(&format!("{}:", self.text("disconnect")?))?;
                add(device, EventKind::Disconnected);
            }
            "focus" => self.focus(input, frame_input)?,
            "resize" => frame_input.changes.push(self.of_window(self.resize()?)?),
            "cursor" => frame_input.changes.push(self.of_window(self.cursor()?)?),
            "close" => frame_input.changes.push(self.of_window(self.close()?)?),
            _ => {
                let dropped = WindowChange::Dropped(self.text("drop")?.to_string());
                frame_input.changes.push(self.of_window(dropped)?);
            }
        }
        Ok(())
    }
}

fn unknown(word: &str, noun: &str, names: &[InputName]) -> String {
    format!("there is no {noun} '{word}'{}", hint(word, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(fields: &[(&str, ScriptValue)]) -> ScriptValue {
        let fields = fields.iter().map(|(key, value)| (key.to_string(), value.clone()));
        ScriptValue::Table(fields.collect())
    }

    fn text(text: &str) -> ScriptValue {
        ScriptValue::Text(text.to_string())
    }

    #[test]
    fn errors_in_simulated_input_have_a_location() {
        let check = |entry: ScriptValue, wanted: &str| {
            let message = read(
                &ScriptValue::List(vec![entry]),
                &Input::default(),
                &SecondaryWindows::default(),
            )
            .unwrap_err();
            assert_eq!(message, wanted);
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
    fn using_a_pad_connects_it() {
        for nothing in [ScriptValue::List(Vec::new()), ScriptValue::Table(Vec::new())] {
            let frame_input = read(&nothing, &Input::default(), &SecondaryWindows::default());
            assert_eq!(frame_input, Ok(FrameInput::default()));
        }
        let press = table(&[("press", text("pad2:a"))]);
        let presses = ScriptValue::List(vec![press.clone(), press]);
        let frame_input = read(&presses, &Input::default(), &SecondaryWindows::default()).unwrap();
        assert_eq!(frame_input.events.len(), 3);
        assert!(matches!(frame_input.events[0].kind, EventKind::Connected { .. }));
    }
}
