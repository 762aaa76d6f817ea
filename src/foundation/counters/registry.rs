//! The names of counters, and their numbers, which hold for good.

use crate::error;
use crate::foundation::fault;
use crate::foundation::{Error, log};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// Counters that can be there. Number 0 is none: what is added to it goes nowhere.
pub const COUNTERS_MAX: usize = 1 << 14;
/// Bytes of a name.
pub const NAME_BYTES_MAX: usize = 120;

struct Registry {
    names: Vec<&'static str>,
    numbers: HashMap<&'static str, u32>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(|| {
    COUNT.store(1, Ordering::Release);
    Mutex::new(Registry { names: vec![""], numbers: HashMap::new() })
});

/// How many numbers are taken, with the one that is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub(super) fn count() -> usize {
    COUNT.load(Ordering::Acquire)
}

/// What a place in the code that counts knows: the name, and its number once it was asked for.
pub struct Site {
    name: &'static str,
    number: AtomicU32,
}

const UNKNOWN: u32 = u32::MAX;

impl Site {
    pub const fn new(name: &'static str) -> Site {
        Site { name, number: AtomicU32::new(UNKNOWN) }
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

/// What is wrong with a counter's name.
fn wrong(name: &str) -> Option<&'static str> {
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

/// The number of a counter, which is made where there is none of that name.
///
/// # Errors
/// Where the name is no path (`enemies/alive`), or [`COUNTERS_MAX`] are there.
pub fn counter(name: &str) -> Result<u32, Error> {
    crate::owner!("statistics");
    let mut table = fault::lock(&REGISTRY);
    if let Some(number) = table.numbers.get(name) {
        return Ok(*number);
    }
    if let Some(words) = wrong(name) {
        return Err(error!("'{name}' cannot name a counter: {words} (right: \"enemies/alive\")"));
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

/// The number of a counter, where there is one of that name.
pub fn find(name: &str) -> Option<u32> {
    fault::lock(&REGISTRY).numbers.get(name).copied()
}

/// The name of a number that [`counter`] gave.
pub fn name_of(number: u32) -> &'static str {
    let table = fault::lock(&REGISTRY);
    table.names.get(number as usize).copied().unwrap_or("")
}

/// The names of all counters, in the order of their making.
pub fn names() -> Vec<&'static str> {
    fault::lock(&REGISTRY).names[1..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths() {
        let check = |name: &str, words: &str| {
            let error = counter(name).unwrap_err().message;
            assert!(error.contains(words), "{error}");
        };
        check("", "it is empty");
        check("a//b", "a part between its slashes is empty");
        check("/a", "a part between its slashes is empty");
        check("a/", "a part between its slashes is empty");
        check("a\nb", "it has a control character");
        check(&"a".repeat(121), "it is longer than 120 bytes");
    }

    #[test]
    fn a_counter_keeps_its_number() {
        let number = counter("tests/number").unwrap();
        assert!(number > 0);
        assert_eq!((counter("tests/number"), find("tests/number")), (Ok(number), Some(number)));
        assert_eq!((find("tests/never"), name_of(number)), (None, "tests/number"));
        assert!(names().contains(&"tests/number"));
    }
}
