//! Devices: the connections of the game to the machine that it runs on, and to connected tools.

use super::Engine;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Handle, Vec2};
use engine_frame_packet::ViewTarget;
use engine_input::{Input, InputCapture};
use engine_remote::outbox::RemoteOutbox;
use engine_sound::SoundSystem;
use engine_window::{SecondaryWindows, Window, WindowChange};
use engine_workers::Workers;
use engine_world::camera::Viewport;
use std::rc::Rc;

/// Shows the game while it waits for a worker that the debugger has stopped: called again and
/// again, and once after the stop. It takes some milliseconds, which count for no script.
pub type WorkerStopView = Rc<dyn Fn(&mut Engine)>;

/// Input, windows, sound, threads, and the messages for connected tools.
pub struct Devices {
    pub input: Input,
    /// The part of the input that the console takes while it is open.
    pub console: InputCapture,
    /// The main window.
    pub window: Window,
    /// All windows except the main one.
    pub windows: SecondaryWindows,
    /// Thread pool for the tasks of a frame.
    pub tasks: TaskPool,
    /// Workers for long jobs of the game, in parallel with its frames.
    pub workers: Workers,
    /// Present if tools can debug the game.
    pub worker_stop_view: Option<WorkerStopView>,
    /// The sound device, and the voices that it plays.
    pub sounds: SoundSystem,
    /// Messages of the game for connected tools.
    pub outbox: RemoteOutbox,
}

impl Devices {
    /// Returns width and height of a window's content in the units of its Guis; zero if the window
    /// does not exist.
    pub(super) fn screen_size(&self, target: ViewTarget) -> Vec2 {
        let ViewTarget::Window(number) = target else { return self.window.picture_size() };
        let handle = Handle::from_number(number as f64);
        let window = handle.and_then(|handle| self.windows.slots().get(handle));
        window.map_or(Vec2::ZERO, Window::logical)
    }

    /// Returns width and height of a viewport: units of the screen's Guis, or pixels of its
    /// texture.
    pub fn viewport_size(&self, viewport: &Viewport) -> Vec2 {
        let [_, _, width, height] = viewport.rectangle;
        self.target_size(viewport) * Vec2::new(width, height)
    }

    /// Returns the bottom left of a viewport on its target, in the units of
    /// [`Devices::viewport_size`].
    pub fn viewport_corner(&self, viewport: &Viewport) -> Vec2 {
        let [left, bottom, ..] = viewport.rectangle;
        self.target_size(viewport) * Vec2::new(left, bottom)
    }

    fn target_size(&self, viewport: &Viewport) -> Vec2 {
        match viewport.target {
            ViewTarget::Screen | ViewTarget::Window(_) => self.screen_size(viewport.target),
            ViewTarget::Texture(_) => Vec2::from(viewport.pixels.map(|side| side as f32)),
        }
    }

    /// Starts a frame of the windows, with the window changes since the last frame.
    pub fn begin_windows(&mut self, changes: &[WindowChange]) {
        self.window.begin_frame(changes);
        self.windows.begin_frame(changes);
    }

    /// Returns true if one of the game's windows has the focus.
    pub fn has_focus(&self) -> bool {
        self.window.focused || self.windows.iter().any(|(_, window)| window.focused)
    }
}
