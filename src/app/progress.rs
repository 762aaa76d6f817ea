//! Progress of long work: a line with counts on a terminal, shown once the work has taken a second.

use engine_foundation::terminal::{self, StyledText};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Work that takes less time than this shows no progress.
const SHOW_DELAY: Duration = Duration::from_secs(1);
/// Minimum time between two updates of the line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// The progress line of one task. All threads that work on the task may update it.
pub struct ProgressLine {
    began: Instant,
    /// Time of the last update of the line.
    last_update: Mutex<Option<Instant>>,
    terminal: bool,
    activity: &'static str,
}

impl ProgressLine {
    /// Creates the line for a task that starts now. `activity` is a participle such as `compiling`.
    pub fn new(activity: &'static str) -> ProgressLine {
        let terminal = terminal::is_error_terminal();
        ProgressLine { began: Instant::now(), last_update: Mutex::new(None), terminal, activity }
    }

    /// Shows that `done` of `all` items are done.
    pub fn show(&self, done: usize, all: usize) {
        if let Some(line) = self.line(Instant::now(), done, all) {
            terminal::print_error_styled(&line);
        }
    }

    /// Returns the text to write at time `now`, or `None` if no update is due.
    fn line(&self, now: Instant, done: usize, all: usize) -> Option<StyledText> {
        if !self.terminal || now.duration_since(self.began) < SHOW_DELAY {
            return None;
        }
        let mut last_update = self.last_update.try_lock().ok()?;
        if last_update.is_some_and(|last_update| now.duration_since(last_update) < UPDATE_INTERVAL)
        {
            return None;
        }
        *last_update = Some(now);
        let line = StyledText::plain(&format!("{} {done} of {all} ", self.activity));
        Some(StyledText::to_column(0).then(&line))
    }

    /// Erases the line, if it was shown.
    pub fn clear(&self) {
        if self.last_update.lock().is_ok_and(|last_update| last_update.is_some()) {
            terminal::print_error_styled(&StyledText::command("\r\x1b[K"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_printed_ten_times_a_second_on_a_terminal() {
        let mut progress = ProgressLine { terminal: true, ..ProgressLine::new("compiling") };
        let began = progress.began;
        let line =
            |milliseconds| progress.line(began + Duration::from_millis(milliseconds), 3, 2000);
        assert_eq!(line(990), None);
        let shown = line(1000);
        assert_eq!(shown.as_ref().map(StyledText::as_str), Some("\rcompiling 3 of 2000 "));
        assert_eq!(line(1090), None);
        assert!(line(1100).is_some());
        progress = ProgressLine { terminal: false, ..ProgressLine::new("compiling") };
        assert_eq!(progress.line(began + Duration::from_secs(9), 3, 2000), None);
    }
}
