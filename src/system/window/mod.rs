//! The window as the game sees it: its state, made of what the desktop tells, and the wishes that
//! wait to be done; those beside the main one are in others.rs. Without a display the state is all
//! there is. The desktop's own windows are in desktop.rs and shown.rs; nothing else here knows of
//! them.

mod clipboard;
mod desktop;
mod dropped;
mod lent;
mod lost;
mod others;
mod shown;
mod texts;
mod told;

use crate::foundation::hash::StateHash;
use crate::foundation::{Vec2, log};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

pub use clipboard::{CLIPBOARD_BYTES_MAX, Clipboard};
pub use desktop::{Desktop, NoDesktop};
pub use dropped::{DROPPED_BYTES_MAX, read_as_if_dropped, read_dropped};
pub use lent::{Became, Lent};
pub use others::{Others, WINDOWS_MAX, WindowId};
pub use texts::{TITLE_BYTES_MAX, clipboard_fault, title_fault, title_of};
pub use told::{Change, DisplayMode, Monitor, Told, Touched};

/// The smallest and the largest side that a window can be wished to have, in logical pixels.
pub const SIDE_MIN: u32 = 1;
pub const SIDE_MAX: u32 = 16384;
/// The most files that are remembered as dropped on the window.
pub const DROPPED_MAX: usize = 4096;
/// The largest side of a cursor's picture and of an icon.
pub const PICTURE_SIDE_MAX: u32 = 256;
/// The most wishes that wait at once.
pub const WISHES_MAX: usize = 4096;

/// Declares a set of words that scripts and settings use.
macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$item_doc:meta])* $item:ident = $word:literal),* $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$item_doc])* $item),* }

        impl $name {
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            pub fn word(self) -> &'static str {
                match self { $($name::$item => $word),* }
            }

            pub fn of(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$item),)* _ => None }
            }
        }
    };
}

words! {
    /// How the window stands on the screen.
    Fullscreen {
        Off = "off",
        /// As large as the monitor, with the desktop's own resolution.
        Borderless = "borderless",
        /// With a resolution of its own, where the system has such a thing; else as borderless.
        Exclusive = "exclusive",
    }
}

words! {
    /// When a picture is shown.
    Vsync {
        /// At the monitor's pace, never torn.
        On = "on",
        /// At once, torn where it comes in between.
        Off = "off",
        /// At the monitor's pace; one that is late is shown at once.
        Adaptive = "adaptive",
        /// The newest at the monitor's pace: the game runs on.
        Mailbox = "mailbox",
    }
}

words! {
    /// Where the mouse's cursor can go.
    CursorMode {
        Free = "free",
        /// Not out of the window.
        Clip = "clip",
        /// Nowhere, and it is not seen: only its motion is told.
        Lock = "lock",
    }
}

words! {
    /// The desktop's own cursors.
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

/// A picture in the form that desktops want: rows from the top, red, green, blue, alpha.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgba: Arc<[u8]>,
}

/// What the game wants of the desktop.
#[derive(Clone, PartialEq, Debug)]
pub enum Wish {
    Title(String),
    /// In logical pixels.
    Size(u32, u32),
    /// Of the upper left corner, in pixels of the desktop.
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
    /// With the place of its tip, from its upper left corner.
    CursorPicture(Picture, u32, u32),
    /// In logical pixels from the lower left corner.
    MoveCursor(f32, f32),
    Ime(bool),
    /// Where the text is that is being written, for the list of candidates: left, bottom, width and
    /// height in logical pixels.
    ImeArea([f32; 4]),
    Icon(Picture),
}

/// How a window is opened.
#[derive(Clone, PartialEq, Debug)]
pub struct Opening {
    pub title: String,
    /// In logical pixels.
    pub width: u32,
    pub height: u32,
    pub fullscreen: Fullscreen,
    pub vsync: Vsync,
    pub resizable: bool,
    /// Which monitor, from 1; 0: where the desktop puts it.
    pub monitor: usize,
    /// Its upper left corner, in pixels of the desktop; where the desktop puts it if none.
    pub position: Option<(i32, i32)>,
    pub visible: bool,
}

impl Default for Opening {
    fn default() -> Opening {
        Opening {
            title: String::new(),
            width: 1280,
            height: 720,
            fullscreen: Fullscreen::Off,
            vsync: Vsync::On,
            resizable: true,
            monitor: 0,
            position: None,
            visible: true,
        }
    }
}

/// The window's state.
pub struct Window {
    pub title: String,
    /// Whether the desktop shows one; without, everything else here still answers.
    pub is_open: bool,
    /// In pixels of the screen.
    pub pixels: (u32, u32),
    /// Pixels of the screen for each logical pixel.
    pub scale: f64,
    /// Of the upper left corner, in pixels of the desktop.
    pub position: (i32, i32),
    pub focused: bool,
    pub hidden: bool,
    /// Whether the game wants it to be seen.
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
    /// Whether text is collected.
    pub keystrokes: bool,
    /// Whether the player has asked to close it in this frame.
    pub closing: bool,
    /// Whether the game itself asks for that.
    pub asked_to_close: bool,
    /// The player has closed it, or the desktop taken it away: what is there is the game's handle.
    pub shut: bool,
    /// Where the mouse is over it, in logical pixels from the lower left corner; devices tell it of
    /// the main window.
    pub cursor: Vec2,
    pub monitors: Vec<Monitor>,
    pub modes: Vec<DisplayMode>,
    /// Files that were dropped on it: all of them, and how many before this frame.
    pub dropped: Vec<PathBuf>,
    pub dropped_before: usize,
    pub clipboard: Clipboard,
    /// From the newest input to the picture that shows it: frames, and seconds; recent averages.
    pub latency: (f32, f32),
    /// How it was to be opened.
    pub opening: Opening,
    wishes: VecDeque<Wish>,
    /// Whether the wishes come true by themselves, for there is nobody to ask.
    alone: bool,
}

impl Window {
    /// A window that nothing shows: what is wished is so.
    pub fn new(opening: &Opening) -> Window {
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
            opening: opening.clone(),
            wishes: VecDeque::new(),
            alone: true,
        }
    }

    /// From now on wishes wait for somebody, and only what is told changes the window.
    pub fn listen(&mut self) {
        self.alone = false;
    }

    /// Whether somebody does what is wished and tells what came of it.
    pub fn is_listening(&self) -> bool {
        !self.alone
    }

    /// Width and height in logical pixels.
    pub fn logical(&self) -> Vec2 {
        Vec2::new(self.pixels.0 as f32, self.pixels.1 as f32) / self.scale as f32
    }

    /// A frame begins, with what the desktop told since the last one.
    pub fn begin_frame<'a>(&mut self, changes: impl IntoIterator<Item = &'a Change>) {
        self.dropped_before = self.dropped.len();
        self.closing = false;
        for change in changes {
            self.take(change);
        }
        let surplus = self.dropped.len().saturating_sub(DROPPED_MAX);
        if surplus > self.dropped_before {
            let words = format!(
                "more than {DROPPED_MAX} files were dropped on the window at once: the first of \
                 them are left out (DROPPED_MAX)"
            );
            log::warn("dropped", &words);
        }
        self.dropped.drain(..surplus);
        self.dropped_before = self.dropped_before.saturating_sub(surplus);
    }

    fn take(&mut self, change: &Change) {
        match change {
            Change::Opened => self.is_open = true,
            Change::Resized { width, height } => self.pixels = (*width, *height),
            Change::Scale(scale) => self.scale = *scale,
            Change::Moved { x, y } => self.position = (*x, *y),
            Change::Focus(focused) => self.focused = *focused,
            Change::Hidden(hidden) => self.hidden = *hidden,
            Change::Minimized(minimized) => self.minimized = *minimized,
            Change::Maximized(maximized) => self.maximized = *maximized,
            Change::MouseInside(inside) => self.mouse_inside = *inside,
            Change::Close => self.closing = true,
            Change::Gone => {
                self.closing = true;
                self.shut();
            }
            Change::Cursor { x, y } => self.cursor = Vec2::new(*x, *y),
            Change::Dropped(path) => self.dropped.push(PathBuf::from(path)),
            Change::Monitors(monitors) => self.monitors.clone_from(monitors),
            Change::Modes(modes) => self.modes.clone_from(modes),
            // Of another window.
            Change::Of(..) => {}
        }
    }

    /// The desktop shows it no more.
    pub fn shut(&mut self) {
        (self.shut, self.is_open, self.focused, self.mouse_inside) = (true, false, false, false);
        self.wishes.clear();
    }

    /// Whether nothing of it can be seen. One that has the focus is not minimized, whatever was
    /// said before.
    pub fn is_unseen(&self) -> bool {
        let minimized = self.minimized && !self.focused;
        !self.visible || self.hidden || minimized || self.pixels.0.min(self.pixels.1) == 0
    }

    /// Wishes something; what of the window's state follows at once is so from now on.
    pub fn wish(&mut self, wish: Wish) {
        match &wish {
            Wish::Title(title) => self.title.clone_from(title),
            Wish::Fullscreen(fullscreen) => self.fullscreen = *fullscreen,
            Wish::Resizable(resizable) => self.resizable = *resizable,
            Wish::Visible(visible) => self.visible = *visible,
            Wish::ShowCursor(shown) => self.cursor_shown = *shown,
            Wish::CursorMode(mode) => self.cursor_mode = *mode,
            Wish::CursorShape(shape) => self.cursor_shape = *shape,
            Wish::Ime(on) => self.ime = *on,
            Wish::Minimize => (self.minimized, self.maximized) = (true, false),
            Wish::Maximize => (self.minimized, self.maximized) = (false, true),
            Wish::Restore => (self.minimized, self.maximized) = (false, false),
            _ => {}
        }
        if self.alone {
            match wish {
                Wish::Size(width, height) => {
                    let pixels = |side: u32| (f64::from(side) * self.scale).round() as u32;
                    self.pixels = (pixels(width), pixels(height));
                }
                Wish::Position(x, y) => self.position = (x, y),
                Wish::Focus => self.focused = !self.shut,
                _ => {}
            }
        } else if !self.shut && self.wishes.len() < WISHES_MAX {
            self.wishes.push_back(wish);
        }
    }

    /// What is to be done, in its order.
    pub fn take_wishes(&mut self) -> impl Iterator<Item = Wish> {
        std::mem::take(&mut self.wishes).into_iter()
    }

    pub fn write_state(&self, hash: &mut StateHash) {
        for number in [self.pixels.0, self.pixels.1] {
            hash.write_u64(u64::from(number));
        }
        hash.write_f64(self.scale);
        hash.write_u64(u64::from(self.focused));
        // As it was before windows could be closed without an end of the game.
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
    fn without_a_desktop_wishes_come_true_at_once() {
        let mut window = Window::new(&Opening::default());
        window.wish(Wish::Size(640, 360));
        window.wish(Wish::Position(3, -4));
        window.wish(Wish::Title("Yard".into()));
        window.wish(Wish::Fullscreen(Fullscreen::Borderless));
        assert_eq!((window.pixels, window.position), ((640, 360), (3, -4)));
        assert_eq!((&window.title[..], window.fullscreen), ("Yard", Fullscreen::Borderless));
        assert_eq!(window.take_wishes().count(), 0);
    }

    #[test]
    fn with_a_desktop_the_size_is_what_it_tells() {
        let mut window = Window::new(&Opening::default());
        window.listen();
        window.wish(Wish::Size(640, 360));
        assert_eq!(window.pixels, (1280, 720));
        assert_eq!(window.take_wishes().collect::<Vec<_>>(), [Wish::Size(640, 360)]);
        let changes =
            [Change::Scale(2.0), Change::Resized { width: 1280, height: 700 }, Change::Close];
        window.begin_frame(&changes);
        assert_eq!(window.logical(), Vec2::new(640.0, 350.0));
        assert!(window.closing);
        window.begin_frame(&[]);
        assert!(!window.closing);
    }

    #[test]
    fn a_window_is_unseen_while_it_is_hidden_or_minimized_or_has_no_size() {
        let mut window = Window::new(&Opening::default());
        assert!(!window.is_unseen());
        for (change, unseen) in [
            (Change::Hidden(true), true),
            (Change::Hidden(false), false),
            // Not every desktop tells that a window is not minimized any more.
            (Change::Minimized(true), false),
            (Change::Focus(false), true),
            (Change::Minimized(false), false),
            (Change::Resized { width: 0, height: 9 }, true),
            (Change::Resized { width: 9, height: 9 }, false),
        ] {
            window.begin_frame([&change]);
            assert_eq!(window.is_unseen(), unseen, "{change:?}");
        }
        window.wish(Wish::Visible(false));
        assert!(window.is_unseen());
    }

    #[test]
    fn what_is_wished_of_a_window_that_was_taken_away_waits_for_nobody() {
        let mut window = Window::new(&Opening::default());
        window.listen();
        window.begin_frame(&[Change::Opened, Change::Focus(true)]);
        window.wish(Wish::Minimize);
        window.begin_frame(&[Change::Gone]);
        assert!(window.closing && window.shut && !window.is_open && !window.focused);
        window.wish(Wish::Focus);
        assert_eq!(window.take_wishes().count(), 0);
    }

    #[test]
    fn only_the_newest_dropped_files_are_kept() {
        let mut window = Window::new(&Opening::default());
        let dropped = |number: usize| Change::Dropped(format!("{number}.png"));
        let all: Vec<_> = (0..DROPPED_MAX + 2).map(dropped).collect();
        window.begin_frame(&all[..3]);
        window.begin_frame(&all[3..]);
        assert_eq!(window.dropped.len(), DROPPED_MAX);
        assert_eq!(window.dropped_before, 1);
        assert_eq!(window.dropped[0], PathBuf::from("2.png"));
    }
}
