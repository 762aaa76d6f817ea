//! Input of one frame: events of devices and changes of windows. A recording needs no other input.

use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_input::button_names::DeviceClass;
use engine_input::{EventKind, InputEvent, KEYBOARD, PRESSED_AT, TouchPhase};
use engine_window::WindowChange;

/// Maximum number of input events that are kept during a pause.
const PAUSED_EVENTS_MAX: usize = 1024;

/// Input of one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameInput {
    pub events: Vec<InputEvent>,
    pub changes: Vec<WindowChange>,
}

impl FrameInput {
    /// Adds later input.
    pub fn append(&mut self, later: FrameInput) {
        self.events.extend(later.events);
        self.changes.extend(later.changes);
    }

    /// Adds later input that arrived while the game was paused, within a limit.
    pub fn append_limited(&mut self, later: FrameInput) {
        let room = PAUSED_EVENTS_MAX.saturating_sub(self.events.len());
        self.events.extend(later.events.into_iter().take(room));
        self.changes.extend(later.changes);
    }

    /// Returns the part of the input that a paused game keeps for its next frame: releases of
    /// buttons and touches, and presses of the key that restarts the game. All other input to
    /// devices is discarded.
    pub fn during_pause(mut self, restart_key: Option<u16>) -> FrameInput {
        self.events.retain(|event| match &event.kind {
            EventKind::Button { button, .. } if Some(*button) == restart_key => true,
            EventKind::Button { value, .. } => *value == 0.0,
            EventKind::Touch { phase, .. } => {
                matches!(phase, TouchPhase::Ended | TouchPhase::Cancelled)
            }
            EventKind::Axis { .. } | EventKind::Motion { .. } => false,
            EventKind::Text(_) | EventKind::Compose { .. } => false,
            EventKind::Label { .. } | EventKind::Connected { .. } => true,
            EventKind::Disconnected | EventKind::Reset => true,
        });
        self
    }

    /// Returns true if the player wants to end a stopped game: Escape was pressed, or the window is
    /// closed.
    pub fn requests_quit(&self) -> bool {
        let escape = DeviceClass::Keyboard.button("escape").map(|at| at as u16);
        let pressed = |event: &InputEvent| match event.kind {
            EventKind::Button { button, value, .. } => value > 0.0 && Some(button) == escape,
            _ => false,
        };
        self.events.iter().any(|event| event.device == KEYBOARD && pressed(event))
            || self
                .changes
                .iter()
                .any(|change| matches!(change, WindowChange::Close | WindowChange::Removed))
    }

    /// Replaces presses of the key that restarts the game by a request to restart it, which does
    /// not depend on settings. Returns true if there was one.
    pub fn replace_restart_key(&mut self, key: Option<u16>) -> bool {
        let before = self.events.len();
        self.events.retain(|event| !presses(event, key));
        let is_pressed = self.events.len() < before;
        if is_pressed {
            self.changes.push(WindowChange::Restart);
        }
        is_pressed
    }

    /// Returns true if a press of this key is among the input.
    pub fn has_press_of(&self, key: Option<u16>) -> bool {
        self.events.iter().any(|event| presses(event, key))
    }

    /// Returns true if a player or a tool asks to restart the game.
    pub fn requests_restart(&self) -> bool {
        self.changes.contains(&WindowChange::Restart)
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        writer.list(&self.events, |writer, event| event.write(writer));
        writer.list(&self.changes, |writer, change| change.write(writer));
    }

    pub fn read(reader: &mut BlobReader) -> Result<FrameInput, Error> {
        Ok(FrameInput {
            events: reader.list(InputEvent::read)?,
            changes: reader.list(WindowChange::read)?,
        })
    }
}

/// Returns true if an event is a press of this key, and no repetition.
fn presses(event: &InputEvent, key: Option<u16>) -> bool {
    match event.kind {
        EventKind::Button { button, value, repeat: false } => {
            event.device == KEYBOARD && value >= PRESSED_AT && Some(button) == key
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_press_of_the_key_restarts() {
        let key = DeviceClass::Keyboard.button("f5").map(|key| key as u16);
        let check = |value: f32, repeat: bool, key: Option<u16>, wanted: bool| {
            let button = DeviceClass::Keyboard.button("f5").expect("there is one") as u16;
            let kind = EventKind::Button { button, value, repeat };
            let events = vec![InputEvent { device: KEYBOARD, age: 0.0, kind }];
            let mut input = FrameInput { events, ..FrameInput::default() };
            assert_eq!(input.has_press_of(key), wanted);
            assert_eq!(input.replace_restart_key(key), wanted);
            assert_eq!((input.requests_restart(), input.events.len() == 1), (wanted, !wanted));
        };
        check(1.0, false, key, true);
        check(1.0, true, key, false);
        check(0.0, false, key, false);
        check(1.0, false, None, false);
    }
}
