//! Secondary windows: those that a game opens besides its main one. Each is a [`Window`] with a
//! handle. Desktop events name a secondary window by its handle.

use super::{DROPPED_MAX, Window, WindowChange, WindowOptions};
use engine_foundation::{Handle, HandleKind, Slots};
use std::collections::VecDeque;

/// Maximum number of secondary windows that exist at once.
pub const WINDOWS_MAX: usize = 8;

/// Handle of a secondary window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowId(pub Handle);

impl WindowId {
    /// Returns the number that identifies the window in scripts, packets and the desktop code.
    pub fn number(self) -> u64 {
        self.0.to_number() as u64
    }
}

/// Registry of the secondary windows.
pub struct SecondaryWindows {
    slots: Slots<Window>,
    /// True if the game has closed the window that had the focus.
    lost_focus: bool,
    /// Newest files that the player dropped on any window.
    player_files: VecDeque<String>,
}

impl Default for SecondaryWindows {
    fn default() -> SecondaryWindows {
        let slots = Slots::new(HandleKind::Window, WINDOWS_MAX);
        SecondaryWindows { slots, lost_focus: false, player_files: VecDeque::new() }
    }
}

impl SecondaryWindows {
    pub fn slots(&self) -> &Slots<Window> {
        &self.slots
    }

    /// Adds a window. It uses a desktop if `main` does. Returns `None` if [`WINDOWS_MAX`] windows
    /// exist.
    pub fn open(&mut self, opening: &WindowOptions, main: &Window) -> Option<WindowId> {
        let mut window = Window::new(opening);
        window.focused = false;
        if main.is_listening() {
            window.listen();
        }
        self.slots.add(window).map(WindowId)
    }

    /// Destroys a window. Errors about its stale handle mention `location`, the line of the script.
    pub fn close(&mut self, window: WindowId, frame: u64, location: &str) {
        let title = self.of(window).title.clone();
        self.shut(window);
        self.slots.remove(window.0, &title, frame, location);
    }

    /// Marks a window as no longer shown by the desktop; its handle stays valid.
    pub fn shut(&mut self, window: WindowId) {
        if let Some(window) = self.slots.get_mut(window.0) {
            self.lost_focus |= window.focused;
            window.shut();
        }
    }

    /// Returns true if the focused window was closed since the last call.
    pub fn take_lost_focus(&mut self) -> bool {
        std::mem::take(&mut self.lost_focus)
    }

    /// Returns a live window. The handle must already be checked.
    pub fn of(&mut self, window: WindowId) -> &mut Window {
        self.slots.get_mut(window.0).expect("the handle was checked where it came in")
    }

    /// Returns all windows with their handles.
    pub fn iter(&self) -> impl Iterator<Item = (WindowId, &Window)> {
        self.slots.iter().map(|(handle, window)| (WindowId(handle), window))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (WindowId, &mut Window)> {
        self.slots.iter_mut().map(|(handle, window)| (WindowId(handle), window))
    }

    /// Begins a frame with the changes reported by the desktop since the last one.
    pub fn begin_frame(&mut self, changes: &[WindowChange]) {
        for (window, state) in self.iter_mut() {
            state.begin_frame(changes.iter().filter_map(|change| change.of(Some(window.number()))));
        }
    }

    /// Returns the visible windows that the player has asked to close in this frame.
    pub fn closing(&self) -> Vec<WindowId> {
        let closing = self.iter().filter(|(_, window)| window.closing && !window.shut);
        closing.map(|(window, _)| window).collect()
    }

    /// Records the files dropped in these changes as actions of the player. Pass only changes
    /// reported by the desktop: those of recordings and tests come from files of the game.
    pub fn note_player_files(&mut self, changes: &[WindowChange]) {
        for path in changes.iter().filter_map(WindowChange::dropped_file) {
            if self.player_files.len() == DROPPED_MAX {
                self.player_files.pop_front();
            }
            self.player_files.push_back(path.to_string());
        }
    }

    /// Returns true if the player dropped this file on a window.
    pub fn is_player_file(&self, path: &str) -> bool {
        self.player_files.iter().any(|file| file == path)
    }

    /// Removes the focus from all secondary windows.
    pub fn lose_focus(&mut self) {
        self.iter_mut().for_each(|(_, window)| window.focused = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_delivered_only_to_their_window() {
        let (mut main, mut others) =
            (Window::new(&WindowOptions::default()), SecondaryWindows::default());
        main.listen();
        let opening = WindowOptions { width: 300, height: 200, ..WindowOptions::default() };
        let (first, second) =
            (others.open(&opening, &main).unwrap(), others.open(&opening, &main).unwrap());
        let of = |window: WindowId, change| WindowChange::Of(window.number(), Box::new(change));
        let changes = [
            of(second, WindowChange::Resized { width: 30, height: 20 }),
            of(second, WindowChange::Close),
            WindowChange::Resized { width: 9, height: 9 },
        ];
        main.begin_frame(&changes);
        others.begin_frame(&changes);
        assert_eq!((main.pixels, others.of(first).pixels), ((9, 9), (300, 200)));
        assert_eq!((others.of(second).pixels, main.closing), ((30, 20), false));
        assert_eq!(others.closing(), [second]);
        others.begin_frame(&[of(second, WindowChange::Removed)]);
        assert!(others.of(second).closing && others.of(second).shut);
        assert_eq!(others.closing(), [], "nobody is asked");
    }

    #[test]
    fn the_window_limit_is_enforced_and_closing_frees_a_slot() {
        let (main, mut others) =
            (Window::new(&WindowOptions::default()), SecondaryWindows::default());
        let opening = WindowOptions::default();
        let all: Vec<_> = (0..WINDOWS_MAX).map(|_| others.open(&opening, &main)).collect();
        assert_eq!(others.open(&opening, &main), None);
        others.close(all[0].unwrap(), 3, "main.lua:1");
        assert!(others.slots().get(all[0].unwrap().0).is_none());
        assert!(others.open(&opening, &main).is_some());
    }
}
