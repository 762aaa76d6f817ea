//! Gamepads: detected while the game runs, read, and converted to events. On Linux they are kernel
//! input devices. On Windows and macOS a library reads them (controllers.rs).

#[cfg(any(windows, target_os = "macos"))]
mod controllers;
mod database;
#[cfg(target_os = "linux")]
mod device_scan;
#[cfg(any(test, target_os = "linux"))]
mod mapping;
#[cfg(any(test, target_os = "linux"))]
mod translator;

pub use database::MappingDatabase;
#[cfg(target_os = "linux")]
pub use mapping::{DeviceCodes, rules_of};

use super::{InputEvent, RumbleCommand};
#[cfg(any(windows, target_os = "macos"))]
use controllers::Controllers as SystemPads;
#[cfg(target_os = "linux")]
use device_scan::DeviceNodes as SystemPads;

/// Gamepads of the system.
pub struct Pads(SystemPads);

impl Pads {
    /// Starts to look for gamepads. `database` has a game's own mappings of their buttons.
    pub fn new(database: MappingDatabase) -> Pads {
        Pads(SystemPads::new(database))
    }

    /// Appends the events of the gamepads since the last call.
    pub fn poll(&mut self, events: &mut Vec<InputEvent>) {
        self.0.poll(events);
    }

    /// Sends a rumble command to a gamepad that supports it.
    pub fn rumble(&mut self, wanted: RumbleCommand) {
        self.0.rumble(wanted);
    }
}
