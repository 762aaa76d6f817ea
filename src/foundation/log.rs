//! The log: lines with a severity level, kept in order, written to the terminal, and kept for tests
//! and reports. Each process has one log. A warning is written once per location; repetitions are
//! counted.

use super::log_file::LogFile;
use super::terminal;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

/// Number of most recent lines that are kept for crash reports.
pub const LINES_KEPT: usize = 200;
/// Maximum bytes of a kept line. Only the beginning of a longer line is kept.
pub const LINE_BYTES_KEPT: usize = 4096;
/// Maximum number of locations whose warnings are counted separately. Warnings from further
/// locations are counted as one.
pub const WARNING_LOCATIONS_MAX: usize = 10_000;

/// Maximum number of errors that are held back for a test. The first errors usually show the cause.
pub const ERRORS_HELD_MAX: usize = 100;

/// The severity of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LogLevel {
    Info,
    Warning,
    Error,
}

impl LogLevel {
    /// Returns the name of the level.
    pub fn name(self) -> &'static str {
        match self {
            LogLevel::Info => "info",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
        }
    }

    /// Returns the prefix of a line; information has none.
    fn prefix(self) -> &'static str {
        match self {
            LogLevel::Info => "",
            LogLevel::Warning => "warning: ",
            LogLevel::Error => "error: ",
        }
    }
}

#[derive(Default)]
struct LogState {
    last: VecDeque<(LogLevel, String)>,
    /// Total number of lines so far.
    written: u64,
    errors: u64,
    warnings: BTreeMap<String, u64>,
    silent: bool,
    captured: Option<Vec<String>>,
    /// Held back warnings about data of the game.
    data_warnings: Option<Vec<String>>,
    file: Option<LogFile>,
}

impl LogState {
    /// Counts and keeps a line. Returns true if the terminal should show it, too.
    fn record(&mut self, level: LogLevel, text: &str) -> bool {
        if level == LogLevel::Error {
            self.errors += 1;
        }
        let captured = self.captured.as_mut().filter(|_| level == LogLevel::Error);
        let is_captured = captured.is_some();
        if let Some(captured) = captured.filter(|captured| captured.len() < ERRORS_HELD_MAX) {
            captured.push(text.to_string());
        }
        self.written += 1;
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        let shortened = &text[..text.floor_char_boundary(LINE_BYTES_KEPT)];
        self.last.push_back((level, shortened.to_string()));
        if let Some(file) = &mut self.file {
            file.line(level, text);
        }
        !self.silent && !is_captured
    }
}

static LOG: Mutex<Option<LogState>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut LogState) -> R) -> R {
    crate::owner!("log");
    let mut log: MutexGuard<Option<LogState>> =
        LOG.lock().unwrap_or_else(|poison| poison.into_inner());
    f(log.get_or_insert_default())
}

/// Turns terminal output off or on. While it is off, lines are still kept and counted.
pub fn set_silent(silent: bool) {
    with(|log| log.silent = silent);
}

/// Writes a line. A game's output goes to standard output; warnings and errors go to standard
/// error. Terminal control characters are escaped here, before the line reaches the terminal, the
/// log file, crash reports or tools.
pub fn write(level: LogLevel, text: &str) {
    let text = &*terminal::escape(text);
    let to_terminal = with(|log| log.record(level, text));
    // The lock is already released. A blocked terminal or pipe delays only the thread that writes
    // to it, and the report of a hung process can still read the last lines.
    match level {
        _ if !to_terminal => {}
        LogLevel::Info => terminal::print_game_line(text),
        _ => terminal::print_error(&format!("{}{text}\n", level.prefix())),
    }
}

/// Also writes every line from now on to a file; `None` stops writing to a file.
pub fn attach_file(file: Option<LogFile>) {
    with(|log| log.file = file);
}

/// Writes information.
pub fn info(text: &str) {
    write(LogLevel::Info, text);
}

/// Writes information that players need not see: to the log file and the kept lines, but not to the
/// terminal.
pub fn note(text: &str) {
    let silent = with(|log| std::mem::replace(&mut log.silent, true));
    write(LogLevel::Info, text);
    set_silent(silent);
}

/// Writes an error.
pub fn error(text: &str) {
    write(LogLevel::Error, text);
}

/// Writes a warning without a location. It is not counted and is written each time.
pub fn warning(text: &str) {
    write(LogLevel::Warning, text);
}

/// Writes a warning once per location. Later warnings from that location are counted and reported
/// by [`counted_warnings`]. A warning without a location must use [`warning`]: counted, it would
/// hide every other such warning.
pub fn warn(location: &str, text: &str) {
    assert!(!location.is_empty(), "a warning that is counted has a place");
    let first = with(|log| {
        let full =
            log.warnings.len() >= WARNING_LOCATIONS_MAX && !log.warnings.contains_key(location);
        let location = if full { "elsewhere" } else { location };
        let count = log.warnings.entry(location.to_string()).or_insert(0);
        *count += 1;
        *count == 1
    });
    if first {
        warning(&format!("{location}: {text}"));
    }
}

/// Writes a warning about a game's data once per location, or holds it back for
/// [`release_data_warnings`].
pub fn data_warning(location: &str, text: &str) {
    let is_held = with(|log| {
        let Some(held) = &mut log.data_warnings else { return false };
        if held.len() < ERRORS_HELD_MAX {
            held.push(format!("{location}: {text}"));
        }
        true
    });
    if !is_held {
        warn(location, text);
    }
}

/// Starts to hold back warnings about a game's data, for [`release_data_warnings`].
pub fn capture_data_warnings() {
    with(|log| log.data_warnings = Some(Vec::new()));
}

/// Returns true while warnings about a game's data are held back.
pub fn holds_data_warnings() -> bool {
    with(|log| log.data_warnings.is_some())
}

/// Stops holding back warnings about a game's data, and returns them.
pub fn release_data_warnings() -> Vec<String> {
    with(|log| log.data_warnings.take().unwrap_or_default())
}

/// Returns the locations that warned more than once, with their counts.
pub fn counted_warnings() -> Vec<(String, u64)> {
    with(|log| {
        let repeated = log.warnings.iter().filter(|(_, count)| **count > 1);
        repeated.map(|(location, count)| (location.clone(), *count)).collect()
    })
}

/// Resets the counts of warnings before another game starts in this process.
pub fn forget_warnings() {
    with(|log| log.warnings.clear());
}

/// Starts to hold back errors from the terminal, for [`take_errors`].
pub fn capture_errors() {
    with(|log| log.captured = Some(Vec::new()));
}

/// Returns true if errors are held back for [`take_errors`].
pub fn has_captured_errors() -> bool {
    with(|log| log.captured.as_ref().is_some_and(|captured| !captured.is_empty()))
}

/// Returns the errors that were held back since the last call, at most [`ERRORS_HELD_MAX`].
pub fn take_errors() -> Vec<String> {
    with(|log| log.captured.as_mut().map(std::mem::take).unwrap_or_default())
}

/// Stops holding back errors. Returns the errors that are still held back.
pub fn release_errors() -> Vec<String> {
    with(|log| log.captured.take().unwrap_or_default())
}

/// Returns the kept lines with their prefixes, oldest first.
pub fn last_lines() -> Vec<String> {
    with(|log| log.last.iter().map(|(level, text)| format!("{}{text}", level.prefix())).collect())
}

/// Returns the number of lines written so far, and the kept lines after line `number`, oldest
/// first.
pub fn lines_after(number: u64) -> (u64, Vec<(LogLevel, String)>) {
    with(|log| {
        let new = log.written.saturating_sub(number).min(log.last.len() as u64) as usize;
        (log.written, log.last.iter().skip(log.last.len() - new).cloned().collect())
    })
}

/// Returns the errors written after the first `count` errors, as far as they are kept.
pub fn errors_since(count: u64) -> Vec<String> {
    with(|log| {
        let new = log.errors.saturating_sub(count) as usize;
        let errors = log.last.iter().filter(|(level, _)| *level == LogLevel::Error);
        let errors: Vec<&String> = errors.map(|(_, text)| text).collect();
        errors[errors.len().saturating_sub(new)..].iter().map(|text| text.to_string()).collect()
    })
}

/// Returns the number of errors written so far.
pub fn error_count() -> u64 {
    with(|log| log.errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_logged_once_per_location_and_counted() {
        set_silent(true);
        for _ in 0..3 {
            warn("enemy.lua:40", "old name of Unit.alive");
        }
        let written = last_lines().iter().filter(|line| line.contains("old name")).count();
        assert_eq!(written, 1);
        assert!(counted_warnings().contains(&("enemy.lua:40".to_string(), 3)));
    }

    #[test]
    fn lines_are_followed_by_number() {
        set_silent(true);
        let (before, _) = lines_after(u64::MAX);
        info("followed one");
        error("followed two");
        // Other tests write lines at the same time.
        let (after, lines) = lines_after(before);
        assert!(after >= before + 2 && lines.len() as u64 <= after - before);
        let own: Vec<_> = lines.iter().filter(|(_, text)| text.starts_with("followed")).collect();
        assert_eq!(own.len(), 2, "{lines:?}");
        assert_eq!(own[1].0.name(), "error");
        assert!(lines_after(0).1.len() <= LINES_KEPT);
    }

    #[test]
    fn a_warning_without_a_location_is_logged_each_time() {
        set_silent(true);
        for text in ["no watch over files", "no watch over files", "no watch over tests"] {
            warning(text);
        }
        let written = last_lines().iter().filter(|line| line.contains("no watch over")).count();
        assert_eq!(written, 3);
        assert!(std::panic::catch_unwind(|| warn("", "hides every other one")).is_err());
    }
}
