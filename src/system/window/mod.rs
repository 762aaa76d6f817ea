//! Windows as the game sees them: their state, updated from desktop events, and the queued commands
//! to the desktop. secondary_windows.rs has the windows besides the main one. Without a display,
//! only this state exists. desktop.rs and native_window.rs have the native windows. Without the
//! feature `desktop`, no_desktop.rs replaces all files that use libraries of the desktop.

mod clipboard;
#[cfg(feature = "desktop")]
mod desktop;
#[cfg(feature = "desktop")]
mod desktop_clipboard;
#[cfg(feature = "desktop")]
mod display_loss;
mod dropped_files;
mod event;
#[cfg(feature = "desktop")]
mod foreign_window;
pub mod key_codes;
#[cfg(feature = "desktop")]
mod native_window;
#[cfg(not(feature = "desktop"))]
mod no_desktop;
#[cfg(any(not(feature = "desktop"), not(target_os = "linux")))]
mod no_window;
mod secondary_windows;
mod text_validation;
mod window_options;

use engine_foundation::hash::StateHash;
use engine_foundation::{Vec2, log};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

pub use clipboard::{CLIPBOARD_BYTES_MAX, Clipboard};
pub use dropped_files::{DROPPED_BYTES_MAX, read_as_if_dropped, read_dropped};
pub use event::{DesktopError, DisplayMode, ForeignWindowStatus, Monitor};
pub use event::{PointerPhase, WindowChange, WindowEvent};
#[cfg(not(feature = "desktop"))]
pub use no_desktop::{Desktop, DesktopClipboard, ForeignWindow};
pub use secondary_windows::{SecondaryWindows, WINDOWS_MAX, WindowId};
pub use text_validation::{TITLE_BYTES_MAX, clipboard_error, title_error, title_of};
pub use window_options::WindowOptions;
#[cfg(feature = "desktop")]
pub use {desktop::Desktop, desktop_clipboard::DesktopClipboard, foreign_window::ForeignWindow};

/// Minimum and maximum side of a window that can be requested, in logical pixels.
pub const SIDE_MIN: u32 = 1;
pub const SIDE_MAX: u32 = 16384;
/// Maximum number of remembered files that were dropped on the window.
pub const DROPPED_MAX: usize = 4096;
/// Maximum side of a cursor image or icon, in pixels.
pub const IMAGE_SIDE_MAX: u32 = 256;
/// Maximum number of queued commands.
pub const COMMANDS_MAX: usize = 4096;

/// Declares an enum with a name in scripts and settings for each variant.
macro_rules! keyword_enum {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$item_doc:meta])* $item:ident = $word:literal),* $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$item_doc])* $item),* }

        impl $name {
            pub const NAMES: &'static [&'static str] = &[$($word),*];

            pub fn name(self) -> &'static str {
                match self { $($name::$item => $word),* }
            }

            pub fn of(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$item),)* _ => None }
            }
        }
    };
}

// It uses the macro above.
mod scaling;

pub use scaling::{DesignResolution, PictureMapping, Scaling};

keyword_enum! {
    /// Fullscreen mode of a window.
    Fullscreen {
        Off = "off",
        /// As large as the monitor, in the desktop's resolution.
        Borderless = "borderless",
        /// In its own display mode if the system supports this; otherwise borderless.
        Exclusive = "exclusive",
    }
}

keyword_enum! {
    /// Vertical synchronization mode.
    Vsync {
        /// At the monitor's refresh rate, without tearing.
        On = "on",
        /// Immediately, with tearing.
        Off = "off",
        /// At the monitor's refresh rate; a late image is shown immediately.
        Adaptive = "adaptive",
        /// The newest image at the monitor's refresh rate; the game does not wait.
        Mailbox = "mailbox",
    }
}

keyword_enum! {
    /// Confinement of the mouse cursor.
    CursorMode {
        Free = "free",
        /// Confined to the window.
        Clip = "clip",
        /// Locked in place and hidden: only its motion is reported.
        Lock = "lock",
    }
}

keyword_enum! {
    /// Cursor shape provided by the desktop.
    CursorShape {
        Arrow = "arrow",
        Hand = "hand",
        Crosshair = "crosshair",
        Text = "text",
        Wait = "wait",
        Progress = "progress",
        Help = "help",
        Move = "move",
        Grab = "grab",
        Grabbing = "grabbing",
        NotAllowed = "not allowed",
        ResizeHorizontal = "resize horizontal",
        ResizeVertical = "resize vertical",
        ResizeDiagonalDown = "resize diagonal down",
        ResizeDiagonalUp = "resize diagonal up",
        ZoomIn = "zoom in",
        ZoomOut = "zoom out",
    }
}

/// Image for icons and cursors: rows from the top, red, green, blue, alpha.
#[derive(Clone, PartialEq, Debug)]
pub struct IconImage {
    pub width: u32,
    pub height: u32,
    pub rgba: Arc<[u8]>,
}

/// Command from the game to the desktop.
#[derive(Clone, PartialEq, Debug)]
pub enum WindowCommand {
    Title(String),
    /// Size in logical pixels.
    Size(u32, u32),
    /// Position of the top left corner, in pixels of the desktop.
    Position(i32, i32),
    Fullscreen(Fullscreen),
    Resizable(bool),
    Minimize,
    Maximize,
    Restore,
    Focus,
    Visible(bool),
    ShowCursor(bool),
    CursorMode(CursorMode),
    CursorShape(CursorShape),
    /// Cursor image with its hotspot, measured from the top left corner.
    CursorImage(IconImage, u32, u32),
    /// Position in logical pixels from the bottom left corner.
    MoveCursor(f32, f32),
    Ime(bool),
    /// Area of the text that is being edited, for placing the candidate list: left, bottom, width
    /// and height in logical pixels.
    ImeArea([f32; 4]),
    Icon(IconImage),
}

/// State of one window.
pub struct Window {
    pub title: String,
    /// True if the desktop shows the window. The other fields are valid without a desktop window,
    /// too.
    pub is_open: bool,
    /// Width and height in screen pixels.
    pub pixels: (u32, u32),
    /// Number of screen pixels per logical pixel.
    pub scale: f64,
    /// Position of the top left corner, in pixels of the desktop.
    pub position: (i32, i32),
    pub focused: bool,
    pub hidden: bool,
    /// True if the game wants the window to be visible.
    pub visible: bool,
    pub minimized: bool,
    pub maximized: bool,
    pub mouse_inside: bool,
    pub fullscreen: Fullscreen,
    pub vsync: Vsync,
    pub resizable: bool,
    pub cursor_shown: bool,
    pub cursor_mode: CursorMode,
    pub cursor_shape: CursorShape,
    pub ime: bool,
    /// True if typed text is collected.
    pub keystrokes: bool,
    /// True if the player has asked to close the window in this frame.
    pub closing: bool,
    /// True if the game itself has asked to close the window.
    pub asked_to_close: bool,
    /// True if the player has closed the window or the desktop has removed it. Only the game's
    /// handle is left.
    pub shut: bool,
    /// Position of the mouse over the window, in logical pixels from the bottom left corner. For
    /// the main window, the mouse device reports the position instead.
    pub cursor: Vec2,
    pub monitors: Vec<Monitor>,
    pub modes: Vec<DisplayMode>,
    /// Files dropped on the window, and the number of those dropped before this frame.
    pub dropped: Vec<PathBuf>,
    pub dropped_before: usize,
    pub clipboard: Clipboard,
    /// Latency from the newest input to the image that shows it, in frames and in seconds; recent
    /// averages.
    pub latency: (f32, f32),
    /// Resolution that the game is made for. If `None`, its units are logical pixels.
    pub design: Option<DesignResolution>,
    /// Color beside a picture that does not fill the window: sRGB from 0 to 1.
    pub bar_color: [f32; 3],
    /// Options that the window was opened with.
    pub opening: WindowOptions,
    commands: VecDeque<WindowCommand>,
    /// True if there is no desktop and commands take effect immediately.
    detached: bool,
}

impl Window {
    /// Creates a window without a desktop window: commands take effect immediately.
    pub fn new(opening: &WindowOptions) -> Window {
        Window {
            title: opening.title.clone(),
            is_open: false,
            pixels: (opening.width, opening.height),
            scale: 1.0,
            position: opening.position.unwrap_or((0, 0)),
            focused: true,
            hidden: false,
            visible: opening.visible,
            minimized: false,
            maximized: false,
            mouse_inside: false,
            fullscreen: opening.fullscreen,
            vsync: opening.vsync,
            resizable: opening.resizable,
            cursor_shown: true,
            cursor_mode: CursorMode::Free,
            cursor_shape: CursorShape::Arrow,
            ime: false,
            keystrokes: true,
            closing: false,
            asked_to_close: false,
            shut: false,
            cursor: Vec2::ZERO,
            monitors: Vec::new(),
            modes: Vec::new(),
            dropped: Vec::new(),
            dropped_before: 0,
            clipboard: Clipboard::default(),
            latency: (0.0, 0.0),
            design: opening.design,
            bar_color: opening.bar_color,
            opening: opening.clone(),
            commands: VecDeque::new(),
            detached: true,
        }
    }

    /// Connects the window to a desktop: commands are queued, and only desktop events change the
    /// window.
    pub fn listen(&mut self) {
        self.detached = false;
    }

    /// Returns true if a desktop executes the commands and reports their results.
    pub fn is_listening(&self) -> bool {
        !self.detached
    }

    /// Returns width and height in logical pixels.
    pub fn logical(&self) -> Vec2 {
        Vec2::new(self.pixels.0 as f32, self.pixels.1 as f32) / self.scale as f32
    }

    /// Returns the location of the game's picture in the window.
    pub fn mapping(&self) -> PictureMapping {
        PictureMapping::new(self.design, self.pixels, self.scale)
    }

    /// Returns width and height of the game's picture in units: those of the design resolution, or
    /// logical pixels without one.
    pub fn picture_size(&self) -> Vec2 {
        self.mapping().size
    }

    /// Converts a position from units to logical pixels.
    pub fn units_to_logical(&self, position: Vec2) -> Vec2 {
        match self.design {
            Some(_) => self.mapping().to_pixels(position) / self.scale as f32,
            None => position,
        }
    }

    /// Converts a position from logical pixels to units.
    pub fn logical_to_units(&self, position: Vec2) -> Vec2 {
        match self.design {
            Some(_) => self.mapping().to_units(position * self.scale as f32),
            None => position,
        }
    }

    /// Begins a frame with the changes reported by the desktop since the last one.
    pub fn begin_frame<'a>(&mut self, changes: impl IntoIterator<Item = &'a WindowChange>) {
        self.dropped_before = self.dropped.len();
        self.closing = false;
        for change in changes {
            self.take(change);
        }
        let surplus = self.dropped.len().saturating_sub(DROPPED_MAX);
        if surplus > self.dropped_before {
            let message = format!(
                "more than {DROPPED_MAX} files were dropped on the window at once: the first of \
                 them are left out (DROPPED_MAX)"
            );
            log::warn("dropped", &message);
        }
        self.dropped.drain(..surplus);
        self.dropped_before = self.dropped_before.saturating_sub(surplus);
    }

    fn take(&mut self, change: &WindowChange) {
        match change {
            WindowChange::Opened => self.is_open = true,
            WindowChange::Resized { width, height } => self.pixels = (*width, *height),
            WindowChange::Scale(scale) => self.scale = *scale,
            WindowChange::Moved { x, y } => self.position = (*x, *y),
            WindowChange::Focus(focused) => self.focused = *focused,
            WindowChange::Hidden(hidden) => self.hidden = *hidden,
            WindowChange::Minimized(minimized) => self.minimized = *minimized,
            WindowChange::Maximized(maximized) => self.maximized = *maximized,
            WindowChange::MouseInside(inside) => self.mouse_inside = *inside,
            WindowChange::Close => self.closing = true,
            WindowChange::Removed => {
                self.closing = true;
                self.shut();
            }
            WindowChange::Cursor { x, y } => self.cursor = Vec2::new(*x, *y),
            WindowChange::Dropped(path) => self.dropped.push(PathBuf::from(path)),
            WindowChange::Monitors(monitors) => self.monitors.clone_from(monitors),
            WindowChange::Modes(modes) => self.modes.clone_from(modes),
            // A change of another window, or of the run.
            WindowChange::Of(..) | WindowChange::Restart => {}
        }
    }

    /// Marks the window as no longer shown by the desktop.
    pub fn shut(&mut self) {
        (self.shut, self.is_open, self.focused, self.mouse_inside) = (true, false, false, false);
        self.commands.clear();
    }

    /// Returns true if no part of the window is visible. A focused window counts as not minimized,
    /// even if it was reported as minimized.
    pub fn is_unseen(&self) -> bool {
        let minimized = self.minimized && !self.focused;
        !self.visible || self.hidden || minimized || self.pixels.0.min(self.pixels.1) == 0
    }

    /// Begins a new game in the open window, as if it had just been opened with these options. The
    /// window keeps its size, position and fullscreen mode, and the desktop's part of its state.
    pub fn begin_game(&mut self, opening: &WindowOptions) {
        self.commands.clear();
        if self.title != opening.title {
            self.push_command(WindowCommand::Title(opening.title.clone()));
        }
        if self.resizable != opening.resizable {
            self.push_command(WindowCommand::Resizable(opening.resizable));
        }
        if self.visible != opening.visible {
            self.push_command(WindowCommand::Visible(opening.visible));
        }
        self.reset_cursor();
        if self.ime {
            self.push_command(WindowCommand::Ime(false));
        }
        (self.closing, self.asked_to_close, self.keystrokes) = (false, false, true);
        self.dropped.clear();
        self.dropped_before = 0;
        (self.design, self.bar_color) = (opening.design, opening.bar_color);
        self.vsync = opening.vsync;
        self.opening = opening.clone();
    }

    /// Shows the arrow as the cursor, free to leave the window.
    pub fn reset_cursor(&mut self) {
        if self.cursor_mode != CursorMode::Free {
            self.push_command(WindowCommand::CursorMode(CursorMode::Free));
        }
        // A picture as the cursor is not a shape, so the shape is set in any case.
        self.push_command(WindowCommand::CursorShape(CursorShape::Arrow));
        if !self.cursor_shown {
            self.push_command(WindowCommand::ShowCursor(true));
        }
    }

    /// Issues a command. State that follows from the command changes immediately.
    pub fn push_command(&mut self, push_command: WindowCommand) {
        match &push_command {
            WindowCommand::Title(title) => self.title.clone_from(title),
            WindowCommand::Fullscreen(fullscreen) => self.fullscreen = *fullscreen,
            WindowCommand::Resizable(resizable) => self.resizable = *resizable,
            WindowCommand::Visible(visible) => self.visible = *visible,
            WindowCommand::ShowCursor(shown) => self.cursor_shown = *shown,
            WindowCommand::CursorMode(mode) => self.cursor_mode = *mode,
            WindowCommand::CursorShape(shape) => self.cursor_shape = *shape,
            WindowCommand::Ime(on) => self.ime = *on,
            WindowCommand::Minimize => (self.minimized, self.maximized) = (true, false),
            WindowCommand::Maximize => (self.minimized, self.maximized) = (false, true),
            WindowCommand::Restore => (self.minimized, self.maximized) = (false, false),
            _ => {}
        }
        if self.detached {
            match push_command {
                WindowCommand::Size(width, height) => {
                    let pixels = |side: u32| (f64::from(side) * self.scale).round() as u32;
                    self.pixels = (pixels(width), pixels(height));
                }
                WindowCommand::Position(x, y) => self.position = (x, y),
                WindowCommand::Focus => self.focused = !self.shut,
                _ => {}
            }
        } else if !self.shut && self.commands.len() < COMMANDS_MAX {
            self.commands.push_back(push_command);
        }
    }

    /// Takes the queued commands in their order.
    pub fn take_commands(&mut self) -> impl Iterator<Item = WindowCommand> {
        std::mem::take(&mut self.commands).into_iter()
    }

    pub fn write_state(&self, hash: &mut StateHash) {
        for number in [self.pixels.0, self.pixels.1] {
            hash.write_u64(u64::from(number));
        }
        hash.write_f64(self.scale);
        hash.write_u64(u64::from(self.focused));
        // Keeps the hash of open windows as it was before windows could close without ending the
        // game.
        if self.shut {
            hash.write_u64(1);
        }
        hash.write_u64(self.dropped.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_desktop_commands_take_effect_immediately() {
        let mut window = Window::new(&WindowOptions::default());
        window.push_command(WindowCommand::Size(640, 360));
        window.push_command(WindowCommand::Position(3, -4));
        window.push_command(WindowCommand::Title("Yard".into()));
        window.push_command(WindowCommand::Fullscreen(Fullscreen::Borderless));
        assert_eq!((window.pixels, window.position), ((640, 360), (3, -4)));
        assert_eq!((&window.title[..], window.fullscreen), ("Yard", Fullscreen::Borderless));
        assert_eq!(window.take_commands().count(), 0);
    }

    #[test]
    fn with_a_desktop_the_size_follows_its_events() {
        let mut window = Window::new(&WindowOptions::default());
        window.listen();
        window.push_command(WindowCommand::Size(640, 360));
        assert_eq!(window.pixels, (1280, 720));
        assert_eq!(window.take_commands().collect::<Vec<_>>(), [WindowCommand::Size(640, 360)]);
        let changes = [
            WindowChange::Scale(2.0),
            WindowChange::Resized { width: 1280, height: 700 },
            WindowChange::Close,
        ];
        window.begin_frame(&changes);
        assert_eq!(window.logical(), Vec2::new(640.0, 350.0));
        assert!(window.closing);
        window.begin_frame(&[]);
        assert!(!window.closing);
    }

    #[test]
    fn hidden_minimized_and_empty_windows_are_invisible() {
        let mut window = Window::new(&WindowOptions::default());
        assert!(!window.is_unseen());
        for (change, unseen) in [
            (WindowChange::Hidden(true), true),
            (WindowChange::Hidden(false), false),
            // Not every desktop reports that a window is no longer minimized.
            (WindowChange::Minimized(true), false),
            (WindowChange::Focus(false), true),
            (WindowChange::Minimized(false), false),
            (WindowChange::Resized { width: 0, height: 9 }, true),
            (WindowChange::Resized { width: 9, height: 9 }, false),
        ] {
            window.begin_frame([&change]);
            assert_eq!(window.is_unseen(), unseen, "{change:?}");
        }
        window.push_command(WindowCommand::Visible(false));
        assert!(window.is_unseen());
    }

    #[test]
    fn commands_to_a_removed_window_are_discarded() {
        let mut window = Window::new(&WindowOptions::default());
        window.listen();
        window.begin_frame(&[WindowChange::Opened, WindowChange::Focus(true)]);
        window.push_command(WindowCommand::Minimize);
        window.begin_frame(&[WindowChange::Removed]);
        assert!(window.closing && window.shut && !window.is_open && !window.focused);
        window.push_command(WindowCommand::Focus);
        assert_eq!(window.take_commands().count(), 0);
    }

    #[test]
    fn a_new_game_resets_the_window_except_size_and_position() {
        let opening = WindowOptions { title: "Yard".into(), ..WindowOptions::default() };
        let mut window = Window::new(&opening);
        window.begin_frame(&[WindowChange::Dropped("a".into()), WindowChange::Close]);
        for command in [
            WindowCommand::Size(640, 360),
            WindowCommand::Title("Level 3".into()),
            WindowCommand::CursorMode(CursorMode::Lock),
            WindowCommand::ShowCursor(false),
            WindowCommand::Ime(true),
        ] {
            window.push_command(command);
        }
        window.listen();
        window.begin_game(&opening);
        assert_eq!((&window.title[..], window.pixels), ("Yard", (640, 360)));
        assert_eq!((window.cursor_mode, window.cursor_shown), (CursorMode::Free, true));
        assert!(!window.ime && !window.closing && window.dropped.is_empty());
        assert_eq!(window.take_commands().count(), 5, "the desktop gets the changes");
        window.begin_game(&opening);
        let commands: Vec<_> = window.take_commands().collect();
        assert_eq!(commands, [WindowCommand::CursorShape(CursorShape::Arrow)]);
    }

    #[test]
    fn only_the_newest_dropped_files_are_kept() {
        let mut window = Window::new(&WindowOptions::default());
        let dropped = |number: usize| WindowChange::Dropped(format!("{number}.png"));
        let all: Vec<_> = (0..DROPPED_MAX + 2).map(dropped).collect();
        window.begin_frame(&all[..3]);
        window.begin_frame(&all[3..]);
        assert_eq!(window.dropped.len(), DROPPED_MAX);
        assert_eq!(window.dropped_before, 1);
        assert_eq!(window.dropped[0], PathBuf::from("2.png"));
    }
}
