//! The options that a window is opened with.

use super::{DesignResolution, Fullscreen, Vsync};

/// Options that a window is opened with.
#[derive(Clone, PartialEq, Debug)]
pub struct WindowOptions {
    pub title: String,
    /// Width and height in logical pixels.
    pub width: u32,
    pub height: u32,
    pub fullscreen: Fullscreen,
    pub vsync: Vsync,
    pub resizable: bool,
    /// Number of the monitor, from 1; 0 lets the desktop choose.
    pub monitor: usize,
    /// Position of the top left corner, in pixels of the desktop; `None` lets the desktop choose.
    pub position: Option<(i32, i32)>,
    pub visible: bool,
    /// Resolution that the game is made for. If `None`, its units are logical pixels.
    pub design: Option<DesignResolution>,
    /// Color beside a picture that does not fill the window: sRGB from 0 to 1.
    pub bar_color: [f32; 3],
}

impl Default for WindowOptions {
    fn default() -> WindowOptions {
        WindowOptions {
            title: String::new(),
            width: 1280,
            height: 720,
            fullscreen: Fullscreen::Off,
            vsync: Vsync::On,
            resizable: true,
            monitor: 0,
            position: None,
            visible: true,
            design: None,
            bar_color: [0.0; 3],
        }
    }
}
