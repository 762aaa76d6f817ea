//! What comes from outside in one frame: events of devices, news of the window. It is all that a
//! recording needs of them.

use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::system::input::names::Class;
use crate::system::input::{Event, KEYBOARD, What};
use crate::system::window::Change;

/// One frame's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    pub events: Vec<Event>,
    pub changes: Vec<Change>,
}

impl Given {
    /// Adds what comes later.
    pub fn append(&mut self, later: Given) {
        self.events.extend(later.events);
        self.changes.extend(later.changes);
    }

    /// Whether the player of a stopped game has enough of it: Escape, or the window is closed.
    pub fn asks_to_end(&self) -> bool {
        let escape = Class::Keyboard.button("escape").map(|at| at as u16);
        let pressed = |event: &Event| match event.what {
            What::Button { button, value, .. } => value > 0.0 && Some(button) == escape,
            _ => false,
        };
        self.events.iter().any(|event| event.device == KEYBOARD && pressed(event))
            || self.changes.iter().any(|change| matches!(change, Change::Close | Change::Gone))
    }

    pub fn write(&self, writer: &mut Writer) {
        writer.list(&self.events, |writer, event| event.write(writer));
        writer.list(&self.changes, |writer, change| change.write(writer));
    }

    pub fn read(reader: &mut Reader) -> Result<Given, Error> {
        Ok(Given { events: reader.list(Event::read)?, changes: reader.list(Change::read)? })
    }
}
