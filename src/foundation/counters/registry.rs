//! The registry of counters: their names and their permanent numbers.

use crate::error;
use crate::panic;
use crate::{Error, log};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// Maximum number of counters. Number 0 means no counter: amounts added to it are lost.
pub const COUNTERS_MAX: usize = 1 << 14;
/// Maximum length of a counter's name in bytes.
pub const NAME_BYTES_MAX: usize = 120;

struct CounterRegistry {
    names: Vec<&'static str>,
    numbers: HashMap<&'static str, u32>,
}

static REGISTRY: LazyLock<Mutex<CounterRegistry>> = LazyLock::new(|| {
    COUNT.store(1, Ordering::Release);
    Mutex::new(CounterRegistry { names: vec![""], numbers: HashMap::new() })
});

/// Count of assigned numbers, including 0.
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub(super) fn count() -> usize {
    COUNT.load(Ordering::Acquire)
}

/// A call site of `counter!`: the counter's name, and its number after the first use.
pub struct CounterSite {
    name: &'static str,
    number: AtomicU32,
}

const UNKNOWN: u32 = u32::MAX;

impl CounterSite {
    pub const fn new(name: &'static str) -> CounterSite {
        CounterSite { name, number: AtomicU32::new(UNKNOWN) }
    }

    #[inline(always)]
    pub(super) fn number(&self) -> u32 {
        match self.number.load(Ordering::Relaxed) {
            UNKNOWN => self.register(),
            number => number,
        }
    }

    #[cold]
    #[inline(never)]
    fn register(&self) -> u32 {
        let number = counter(self.name).unwrap_or_else(|error| {
            log::warn("statistics", &error.message);
            0
        });
        self.number.store(number, Ordering::Relaxed);
        number
    }
}

/// Returns the reason why a counter's name is invalid, if it is.
fn name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    } else if name.len() > NAME_BYTES_MAX {
        return Some("it is longer than 120 bytes");
    } else if name.chars().any(char::is_control) {
        return Some("it has a control character");
    }
    let blank = name.split('/').any(|part| part.trim().is_empty());
    blank.then_some("a part between its slashes is empty")
}

/// Returns the number of a counter, and creates the counter if it does not exist.
///
/// # Errors
/// Returns an error if the name is not a path such as `enemies/alive`, or if [`COUNTERS_MAX`]
/// counters exist.
pub fn counter(name: &str) -> Result<u32, Error> {
    crate::owner!("statistics");
    let mut table = panic::lock(&REGISTRY);
    if let Some(number) = table.numbers.get(name) {
        return Ok(*number);
    }
    if let Some(message) = name_problem(name) {
        return Err(error!("'{name}' cannot name a counter: {message} (right: \"enemies/alive\")"));
    }
    if table.names.len() >= COUNTERS_MAX {
        return Err(error!(
            "there are {COUNTERS_MAX} counters already (COUNTERS_MAX), and '{name}' is one too \
             many: is something counted under a name that changes?"
        ));
    }
    let name: &'static str = Box::leak(name.to_string().into_boxed_str());
    let number = table.names.len() as u32;
    table.names.push(name);
    table.numbers.insert(name, number);
    COUNT.store(table.names.len(), Ordering::Release);
    Ok(number)
}

/// Returns the number of an existing counter.
pub fn find(name: &str) -> Option<u32> {
    panic::lock(&REGISTRY).numbers.get(name).copied()
}

/// Returns the name of a number that [`counter`] returned.
pub fn name_of(number: u32) -> &'static str {
    let table = panic::lock(&REGISTRY);
    table.names.get(number as usize).copied().unwrap_or("")
}

/// Returns the names of all counters, in order of creation.
pub fn names() -> Vec<&'static str> {
    panic::lock(&REGISTRY).names[1..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths() {
        let check = |name: &str, message: &str| {
            let error = counter(name).unwrap_err().message;
            assert!(error.contains(message), "{error}");
        };
        check("", "it is empty");
        check("a//b", "a part between its slashes is empty");
        check("/a", "a part between its slashes is empty");
        check("a/", "a part between its slashes is empty");
        check("a\nb", "it has a control character");
        check(&"a".repeat(121), "it is longer than 120 bytes");
    }

    #[test]
    fn a_counter_keeps_its_index() {
        let number = counter("tests/number").unwrap();
        assert!(number > 0);
        assert_eq!((counter("tests/number"), find("tests/number")), (Ok(number), Some(number)));
        assert_eq!((find("tests/never"), name_of(number)), (None, "tests/number"));
        assert!(names().contains(&"tests/number"));
    }
}
