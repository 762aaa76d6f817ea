//! The log: lines with a level, kept in order, written to the terminal and kept for tests and
//! reports. One log per process; a warning is written once per place and counted from then on.

use super::log_file::LogFile;
use super::terminal;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

/// How many of the last lines are kept for crash reports.
pub const LINES_KEPT: usize = 200;
/// A longer line is kept by its beginning, of this many bytes.
pub const LINE_BYTES_KEPT: usize = 4096;
/// How many places a warning can come from before all further ones are counted as one.
pub const WARNING_PLACES_MAX: usize = 10_000;

/// How many errors are held for a test; the first ones say what is wrong.
pub const ERRORS_HELD_MAX: usize = 100;

/// How much a line matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    /// The name of the level.
    pub fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }

    /// The word before the line; information has none.
    fn word(self) -> &'static str {
        match self {
            Level::Info => "",
            Level::Warning => "warning: ",
            Level::Error => "error: ",
        }
    }
}

#[derive(Default)]
struct Log {
    last: VecDeque<(Level, String)>,
    /// How many lines there were in all.
    written: u64,
    errors: u64,
    warnings: BTreeMap<String, u64>,
    silent: bool,
    held: Option<Vec<String>>,
    file: Option<LogFile>,
}

impl Log {
    /// Counts and keeps a line. Returns whether the terminal gets it, too.
    fn keep(&mut self, level: Level, text: &str) -> bool {
        if level == Level::Error {
            self.errors += 1;
        }
        let held = self.held.as_mut().filter(|_| level == Level::Error);
        let is_held = held.is_some();
        if let Some(held) = held.filter(|held| held.len() < ERRORS_HELD_MAX) {
            held.push(text.to_string());
        }
        self.written += 1;
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        let kept = &text[..text.floor_char_boundary(LINE_BYTES_KEPT)];
        self.last.push_back((level, kept.to_string()));
        if let Some(file) = &mut self.file {
            file.line(level, text);
        }
        !self.silent && !is_held
    }
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut Log) -> R) -> R {
    crate::owner!("log");
    let mut log: MutexGuard<Option<Log>> = LOG.lock().unwrap_or_else(|poison| poison.into_inner());
    f(log.get_or_insert_default())
}

/// Keeps lines from the terminal from now on (they are still kept and counted), or lets them
/// through.
pub fn set_silent(silent: bool) {
    with(|log| log.silent = silent);
}

/// Writes a line. What a game prints goes to standard output, warnings and errors to standard
/// error. What steers a terminal is escaped here, before anybody gets or keeps the line: the
/// terminal, the log's file, crash reports, tools.
pub fn write(level: Level, text: &str) {
    let text = &*terminal::escape(text);
    let to_terminal = with(|log| log.keep(level, text));
    // With the lock open again: a terminal or pipe that takes nothing more holds up only the
    // thread that writes to it, and the report of a stuck process still finds the last lines.
    match level {
        _ if !to_terminal => {}
        Level::Info => terminal::print_game_line(text),
        _ => terminal::print_error(&format!("{}{text}\n", level.word())),
    }
}

/// Writes every line from now on to a file, too; to none if there is none.
pub fn keep_in(file: Option<LogFile>) {
    with(|log| log.file = file);
}

/// Writes information.
pub fn info(text: &str) {
    write(Level::Info, text);
}

/// Writes information that players need not see: into the log's file and the lines that are kept,
/// not to the terminal.
pub fn note(text: &str) {
    let silent = with(|log| std::mem::replace(&mut log.silent, true));
    write(Level::Info, text);
    set_silent(silent);
}

/// Writes an error.
pub fn error(text: &str) {
    write(Level::Error, text);
}

/// Writes a warning that has no place, each time.
pub fn warning(text: &str) {
    write(Level::Warning, text);
}

/// Warns, once per place; later ones from that place are counted and told by [`counted_warnings`].
/// A warning without a place is a [`warning`]: counted, it would hide every other one.
pub fn warn(place: &str, text: &str) {
    assert!(!place.is_empty(), "a warning that is counted has a place");
    let first = with(|log| {
        let full = log.warnings.len() >= WARNING_PLACES_MAX && !log.warnings.contains_key(place);
        let place = if full { "elsewhere" } else { place };
        let count = log.warnings.entry(place.to_string()).or_insert(0);
        *count += 1;
        *count == 1
    });
    if first {
        warning(&format!("{place}: {text}"));
    }
}

/// The places that warned more than once, with how often.
pub fn counted_warnings() -> Vec<(String, u64)> {
    with(|log| {
        let repeated = log.warnings.iter().filter(|(_, count)| **count > 1);
        repeated.map(|(place, count)| (place.clone(), *count)).collect()
    })
}

/// Counts warnings from nothing again: another game begins in this process.
pub fn forget_warnings() {
    with(|log| log.warnings.clear());
}

/// Holds errors back from the terminal from now on, for [`take_errors`].
pub fn hold_errors() {
    with(|log| log.held = Some(Vec::new()));
}

/// Whether there is something for [`take_errors`].
pub fn holds_errors() -> bool {
    with(|log| log.held.as_ref().is_some_and(|held| !held.is_empty()))
}

/// The errors that were held since the last time, at most [`ERRORS_HELD_MAX`].
pub fn take_errors() -> Vec<String> {
    with(|log| log.held.as_mut().map(std::mem::take).unwrap_or_default())
}

/// Lets errors through to the terminal again: those that are still held.
pub fn release_errors() -> Vec<String> {
    with(|log| log.held.take().unwrap_or_default())
}

/// The last lines, oldest first.
pub fn last_lines() -> Vec<String> {
    with(|log| log.last.iter().map(|(level, text)| format!("{}{text}", level.word())).collect())
}

/// How many lines have been written so far, and those of them that came after line `number` and
/// are still kept, oldest first.
pub fn lines_after(number: u64) -> (u64, Vec<(Level, String)>) {
    with(|log| {
        let new = log.written.saturating_sub(number).min(log.last.len() as u64) as usize;
        (log.written, log.last.iter().skip(log.last.len() - new).cloned().collect())
    })
}

/// The errors that were written since there were `count` of them, as far as they are kept.
pub fn errors_since(count: u64) -> Vec<String> {
    with(|log| {
        let new = log.errors.saturating_sub(count) as usize;
        let errors = log.last.iter().filter(|(level, _)| *level == Level::Error);
        let errors: Vec<&String> = errors.map(|(_, text)| text).collect();
        errors[errors.len().saturating_sub(new)..].iter().map(|text| text.to_string()).collect()
    })
}

/// How many errors have been written so far.
pub fn error_count() -> u64 {
    with(|log| log.errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_written_once_per_place_and_counted() {
        set_silent(true);
        for _ in 0..3 {
            warn("enemy.lua:40", "old name of Unit.alive");
        }
        let written = last_lines().iter().filter(|line| line.contains("old name")).count();
        assert_eq!(written, 1);
        assert!(counted_warnings().contains(&("enemy.lua:40".to_string(), 3)));
    }

    #[test]
    fn lines_are_followed_by_their_number() {
        set_silent(true);
        let (before, _) = lines_after(u64::MAX);
        info("followed one");
        error("followed two");
        // Other tests write, too.
        let (after, lines) = lines_after(before);
        assert!(after >= before + 2 && lines.len() as u64 <= after - before);
        let own: Vec<_> = lines.iter().filter(|(_, text)| text.starts_with("followed")).collect();
        assert_eq!(own.len(), 2, "{lines:?}");
        assert_eq!(own[1].0.name(), "error");
        assert!(lines_after(0).1.len() <= LINES_KEPT);
    }

    #[test]
    fn a_warning_without_a_place_is_written_each_time_and_never_counted() {
        set_silent(true);
        for text in ["no watch over files", "no watch over files", "no watch over tests"] {
            warning(text);
        }
        let written = last_lines().iter().filter(|line| line.contains("no watch over")).count();
        assert_eq!(written, 3);
        assert!(std::panic::catch_unwind(|| warn("", "hides every other one")).is_err());
    }
}
