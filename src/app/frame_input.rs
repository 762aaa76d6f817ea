//! Input of one frame: events of devices and changes of windows. A recording needs no other input.

use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_input::button_names::DeviceClass;
use engine_input::{EventKind, InputEvent, KEYBOARD};
use engine_window::WindowChange;

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
