//! The windows that a game opens beside its main one. Each is a [`Window`] behind a handle; what
//! the desktop tells of one names it by that.

use super::{Change, DROPPED_MAX, Opening, Window};
use crate::foundation::{Handle, Kind, Slots};
use std::collections::VecDeque;

/// The most windows that can be there at once beside the main one.
pub const WINDOWS_MAX: usize = 8;

/// The handle of a window beside the main one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowId(pub Handle);

impl WindowId {
    /// The number by which scripts, packets and the desktop's part know it.
    pub fn number(self) -> u64 {
        self.0.to_number() as u64
    }
}

/// All of them.
pub struct Others {
    slots: Slots<Window>,
    /// Whether the game has closed the one that had the focus.
    lost_focus: bool,
    /// The newest files that the player dropped on any window.
    player_files: VecDeque<String>,
}

impl Default for Others {
    fn default() -> Others {
        let slots = Slots::new(Kind::Window, WINDOWS_MAX);
        Others { slots, lost_focus: false, player_files: VecDeque::new() }
    }
}

impl Others {
    pub fn slots(&self) -> &Slots<Window> {
        &self.slots
    }

    /// Adds one; `main` says whether somebody does what is wished. `None`: there are
    /// [`WINDOWS_MAX`] already.
    pub fn open(&mut self, opening: &Opening, main: &Window) -> Option<WindowId> {
        let mut window = Window::new(opening);
        window.focused = false;
        if main.is_listening() {
            window.listen();
        }
        self.slots.add(window).map(WindowId)
    }

    /// Ends one; `place` is the script's line, for the words of its stale handle.
    pub fn close(&mut self, window: WindowId, frame: u64, place: &str) {
        let title = self.of(window).title.clone();
        self.shut(window);
        self.slots.remove(window.0, &title, frame, place);
    }

    /// Has the desktop show one no more; its handle stays.
    pub fn shut(&mut self, window: WindowId) {
        if let Some(window) = self.slots.get_mut(window.0) {
            self.lost_focus |= window.focused;
            window.shut();
        }
    }

    /// Whether the one that had the focus was closed since the last time.
    pub fn take_lost_focus(&mut self) -> bool {
        std::mem::take(&mut self.lost_focus)
    }

    /// A living one: handles are checked where they come in.
    pub fn of(&mut self, window: WindowId) -> &mut Window {
        self.slots.get_mut(window.0).expect("the handle was checked where it came in")
    }

    /// All that are there, with their handles.
    pub fn iter(&self) -> impl Iterator<Item = (WindowId, &Window)> {
        self.slots.iter().map(|(handle, window)| (WindowId(handle), window))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (WindowId, &mut Window)> {
        self.slots.iter_mut().map(|(handle, window)| (WindowId(handle), window))
    }

    /// A frame begins, with what the desktop told since the last one.
    pub fn begin_frame(&mut self, changes: &[Change]) {
        for (window, state) in self.iter_mut() {
            state.begin_frame(changes.iter().filter_map(|change| change.of(Some(window.number()))));
        }
    }

    /// Those that the player has asked in this frame to close, and that are still shown.
    pub fn closing(&self) -> Vec<WindowId> {
        let closing = self.iter().filter(|(_, window)| window.closing && !window.shut);
        closing.map(|(window, _)| window).collect()
    }

    /// The desktop tells these changes. Recordings and tests tell changes of their own, which come
    /// from files of the game: only what comes through here is the player's doing.
    pub fn note_player_files(&mut self, changes: &[Change]) {
        for path in changes.iter().filter_map(Change::dropped_file) {
            if self.player_files.len() == DROPPED_MAX {
                self.player_files.pop_front();
            }
            self.player_files.push_back(path.to_string());
        }
    }

    /// Whether the player dropped this file on a window.
    pub fn is_player_file(&self, path: &str) -> bool {
        self.player_files.iter().any(|file| file == path)
    }

    /// None of them has the focus.
    pub fn lose_focus(&mut self) {
        self.iter_mut().for_each(|(_, window)| window.focused = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_window_reaches_that_one_alone() {
        let (mut main, mut others) = (Window::new(&Opening::default()), Others::default());
        main.listen();
        let opening = Opening { width: 300, height: 200, ..Opening::default() };
        let (first, second) =
            (others.open(&opening, &main).unwrap(), others.open(&opening, &main).unwrap());
        let of = |window: WindowId, change| Change::Of(window.number(), Box::new(change));
        let changes = [
            of(second, Change::Resized { width: 30, height: 20 }),
            of(second, Change::Close),
            Change::Resized { width: 9, height: 9 },
        ];
        main.begin_frame(&changes);
        others.begin_frame(&changes);
        assert_eq!((main.pixels, others.of(first).pixels), ((9, 9), (300, 200)));
        assert_eq!((others.of(second).pixels, main.closing), ((30, 20), false));
        assert_eq!(others.closing(), [second]);
        others.begin_frame(&[of(second, Change::Gone)]);
        assert!(others.of(second).closing && others.of(second).shut);
        assert_eq!(others.closing(), [], "nobody is asked");
    }

    #[test]
    fn there_are_so_many_windows_at_most_and_a_closed_one_makes_room() {
        let (main, mut others) = (Window::new(&Opening::default()), Others::default());
        let opening = Opening::default();
        let all: Vec<_> = (0..WINDOWS_MAX).map(|_| others.open(&opening, &main)).collect();
        assert_eq!(others.open(&opening, &main), None);
        others.close(all[0].unwrap(), 3, "main.lua:1");
        assert!(others.slots().get(all[0].unwrap().0).is_none());
        assert!(others.open(&opening, &main).is_some());
    }
}
