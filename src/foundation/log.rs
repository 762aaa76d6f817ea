//! The log: lines with a level, kept in order, written to the terminal and kept for tests and
//! reports. One log per process; a warning is written once per place and counted from then on.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::{Mutex, MutexGuard};

/// How many of the last lines are kept for crash reports.
pub const LINES_KEPT: usize = 200;
/// A longer line is kept by its beginning, of this many bytes.
pub const LINE_BYTES_KEPT: usize = 4096;
/// How many places a warning can come from before all further ones are counted as one.
pub const WARNING_PLACES_MAX: usize = 10_000;

/// How much a line matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
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
    errors: u64,
    warnings: BTreeMap<String, u64>,
    silent: bool,
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut Log) -> R) -> R {
    let mut log: MutexGuard<Option<Log>> = LOG.lock().unwrap_or_else(|poison| poison.into_inner());
    f(log.get_or_insert_default())
}

/// Keeps lines from the terminal from now on (they are still kept and counted), or lets them
/// through.
pub fn set_silent(silent: bool) {
    with(|log| log.silent = silent);
}

/// Writes a line. What a game prints goes to standard output, warnings and errors to standard
/// error.
pub fn write(level: Level, text: &str) {
    with(|log| {
        if level == Level::Error {
            log.errors += 1;
        }
        if log.last.len() == LINES_KEPT {
            log.last.pop_front();
        }
        let kept = &text[..text.floor_char_boundary(LINE_BYTES_KEPT)];
        log.last.push_back((level, kept.to_string()));
        if log.silent {
            return;
        }
        // A closed pipe must not end a game: `engine run mygame | head` goes on without its output.
        let _ = match level {
            Level::Info => writeln!(std::io::stdout(), "{text}"),
            _ => writeln!(std::io::stderr(), "{}{text}", level.word()),
        };
    });
}

/// Writes information.
pub fn info(text: &str) {
    write(Level::Info, text);
}

/// Writes an error.
pub fn error(text: &str) {
    write(Level::Error, text);
}

/// Warns, once per place; later ones from that place are counted and told by [`counted_warnings`].
pub fn warn(place: &str, text: &str) {
    let first = with(|log| {
        let full = log.warnings.len() >= WARNING_PLACES_MAX && !log.warnings.contains_key(place);
        let place = if full { "elsewhere" } else { place };
        let count = log.warnings.entry(place.to_string()).or_insert(0);
        *count += 1;
        *count == 1
    });
    if first {
        let text = if place.is_empty() { text.to_string() } else { format!("{place}: {text}") };
        write(Level::Warning, &text);
    }
}

/// The places that warned more than once, with how often.
pub fn counted_warnings() -> Vec<(String, u64)> {
    with(|log| {
        let repeated = log.warnings.iter().filter(|(_, count)| **count > 1);
        repeated.map(|(place, count)| (place.clone(), *count)).collect()
    })
}

/// The last lines, oldest first.
pub fn last_lines() -> Vec<String> {
    with(|log| log.last.iter().map(|(level, text)| format!("{}{text}", level.word())).collect())
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
}
