//! Devices: the connections of the game to the machine that it runs on, and to connected tools.

use engine_foundation::tasks::TaskPool;
use engine_input::Input;
use engine_remote::outbox::RemoteOutbox;
use engine_sound::SoundSystem;
use engine_window::{SecondaryWindows, Window};
use engine_workers::Workers;

/// Input, windows, sound, threads, and the messages for connected tools.
pub struct Devices {
    pub input: Input,
    /// The main window.
    pub window: Window,
    /// All windows except the main one.
    pub windows: SecondaryWindows,
    /// Thread pool for the tasks of a frame.
    pub tasks: TaskPool,
    /// Workers for long jobs of the game, in parallel with its frames.
    pub workers: Workers,
    /// The sound device, and the voices that it plays.
    pub sounds: SoundSystem,
    /// Messages of the game for connected tools.
    pub outbox: RemoteOutbox,
}
