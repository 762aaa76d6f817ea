//! The names of scopes: each has a number for good, which is what a scope writes down.

use crate::foundation::fault;
use crate::foundation::log;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

/// Names that can be known at once.
pub const SCOPES_MAX: usize = 4096;
/// Bytes of a name.
pub const NAME_BYTES_MAX: usize = 100;

#[derive(Default)]
struct Names {
    list: Vec<&'static str>,
    numbers: HashMap<&'static str, u32>,
}

static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(Mutex::default);

/// What a place in the code that opens a scope knows: the name, and its number once it was asked
/// for.
pub struct Site {
    name: &'static str,
    number: AtomicU32,
}

/// The number of a name that found no room, at a site: it is not asked for again.
const REFUSED: u32 = u32::MAX;

impl Site {
    pub const fn new(name: &'static str) -> Site {
        Site { name, number: AtomicU32::new(0) }
    }

    /// The name's number; 0 where there is no room for it.
    #[inline(always)]
    pub(super) fn id(&self) -> u32 {
        match self.number.load(Ordering::Relaxed) {
            0 => self.register(),
            REFUSED => 0,
            number => number,
        }
    }

    #[cold]
    #[inline(never)]
    fn register(&self) -> u32 {
        let number = name_id(self.name).unwrap_or(REFUSED);
        self.number.store(number, Ordering::Relaxed);
        if number == REFUSED { 0 } else { number }
    }
}

/// The number of a name, from 1; `None` where [`SCOPES_MAX`] others are known.
pub fn name_id(name: &str) -> Option<u32> {
    crate::owner!("profiler");
    let mut names = fault::lock(&NAMES);
    if let Some(number) = names.numbers.get(name) {
        return Some(*number);
    }
    if names.list.len() >= SCOPES_MAX {
        drop(names);
        let words = format!("{SCOPES_MAX} names of scopes are known: '{name}' is left out");
        log::warn("profiler", &words);
        return None;
    }
    let name: &'static str = Box::leak(name.to_string().into_boxed_str());
    names.list.push(name);
    let number = names.list.len() as u32;
    names.numbers.insert(name, number);
    Some(number)
}

/// The number of a name, where it has one.
pub(super) fn known(name: &str) -> Option<u32> {
    fault::lock(&NAMES).numbers.get(name).copied()
}

/// The name of a number that [`name_id`] gave.
pub fn name_of(number: u32) -> &'static str {
    let names = fault::lock(&NAMES);
    names.list.get((number as usize).wrapping_sub(1)).copied().unwrap_or("")
}

/// How many names a thread finds again without a lock.
const KNOWN: usize = 64;

thread_local! {
    static LATELY: [Cell<(usize, usize, u32)>; KNOWN] = const {
        [const { Cell::new((0, 0, 0)) }; KNOWN]
    };
}

/// The number of a name that lives for good; 0 where there is no room for it.
pub(super) fn id_of_static(name: &'static str) -> u32 {
    let (address, length) = (name.as_ptr().addr(), name.len());
    LATELY.with(|lately| {
        let place = &lately[(address >> 3 ^ length) % KNOWN];
        match place.get() {
            (known, bytes, number) if known == address && bytes == length => number,
            _ => {
                let number = name_id(name).unwrap_or(0);
                place.set((address, length, number));
                number
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let number = name_id("a name of a scope").unwrap();
        assert_eq!(name_id("a name of a scope"), Some(number));
        assert_eq!(
            (id_of_static("a name of a scope"), name_of(number)),
            (number, "a name of a scope")
        );
        assert_eq!((name_of(0), name_of(u32::MAX)), ("", ""));
    }
}
