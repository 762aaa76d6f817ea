//! How far something is that takes long: a line with counts, on a terminal, from the second second
//! on.

use crate::foundation::terminal::{self, Styled};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What takes less long is not told.
const SILENT: Duration = Duration::from_secs(1);
/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(100);

/// The line of one piece of work. Every thread that does some of it may show it.
pub struct Progress {
    began: Instant,
    /// When the line was last written.
    shown: Mutex<Option<Instant>>,
    terminal: bool,
    doing: &'static str,
}

impl Progress {
    /// For work that begins now; `doing` is a word such as `compiling`.
    pub fn new(doing: &'static str) -> Progress {
        let terminal = terminal::is_error_watched();
        Progress { began: Instant::now(), shown: Mutex::new(None), terminal, doing }
    }

    /// So many pieces are done, of so many.
    pub fn show(&self, done: usize, all: usize) {
        if let Some(line) = self.line(Instant::now(), done, all) {
            terminal::print_error_styled(&line);
        }
    }

    /// What is written at a time, if anything is.
    fn line(&self, now: Instant, done: usize, all: usize) -> Option<Styled> {
        if !self.terminal || now.duration_since(self.began) < SILENT {
            return None;
        }
        let mut shown = self.shown.try_lock().ok()?;
        if shown.is_some_and(|shown| now.duration_since(shown) < EVERY) {
            return None;
        }
        *shown = Some(now);
        let line = Styled::plain(&format!("{} {done} of {all} ", self.doing));
        Some(Styled::to_column(0).then(&line))
    }

    /// Takes the line away, if there is one.
    pub fn clear(&self) {
        if self.shown.lock().is_ok_and(|shown| shown.is_some()) {
            terminal::print_error_styled(&Styled::command("\r\x1b[K"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_than_a_second_is_told_ten_times_a_second_on_a_terminal() {
        let mut progress = Progress { terminal: true, ..Progress::new("compiling") };
        let began = progress.began;
        let line =
            |milliseconds| progress.line(began + Duration::from_millis(milliseconds), 3, 2000);
        assert_eq!(line(990), None);
        let shown = line(1000);
        assert_eq!(shown.as_ref().map(Styled::as_str), Some("\rcompiling 3 of 2000 "));
        assert_eq!(line(1090), None);
        assert!(line(1100).is_some());
        progress = Progress { terminal: false, ..Progress::new("compiling") };
        assert_eq!(progress.line(began + Duration::from_secs(9), 3, 2000), None);
    }
}
