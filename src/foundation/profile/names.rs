//! The names of scopes. Each name has a permanent number, which is recorded in events.

use crate::log;
use crate::panic;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

/// Maximum number of names.
pub const SCOPES_MAX: usize = 4096;
/// Maximum length of a name in bytes.
pub const NAME_BYTES_MAX: usize = 100;

#[derive(Default)]
struct ScopeNames {
    list: Vec<&'static str>,
    numbers: HashMap<&'static str, u32>,
}

static NAMES: LazyLock<Mutex<ScopeNames>> = LazyLock::new(Mutex::default);

/// A call site of `scope!`: the scope's name, and its number after the first use.
pub struct ScopeSite {
    name: &'static str,
    number: AtomicU32,
}

/// Number at a call site whose name did not fit in the table. The name is not looked up again.
const REFUSED: u32 = u32::MAX;

impl ScopeSite {
    pub const fn new(name: &'static str) -> ScopeSite {
        ScopeSite { name, number: AtomicU32::new(0) }
    }

    /// Returns the name's number, or 0 if the table is full.
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

/// Returns the number of a name, from 1, or `None` if [`SCOPES_MAX`] other names exist.
pub fn name_id(name: &str) -> Option<u32> {
    crate::owner!("profiler");
    let mut names = panic::lock(&NAMES);
    if let Some(number) = names.numbers.get(name) {
        return Some(*number);
    }
    if names.list.len() >= SCOPES_MAX {
        drop(names);
        let message = format!("{SCOPES_MAX} names of scopes already exist: '{name}' is ignored");
        log::warn("profiler", &message);
        return None;
    }
    let name: &'static str = Box::leak(name.to_string().into_boxed_str());
    names.list.push(name);
    let number = names.list.len() as u32;
    names.numbers.insert(name, number);
    Some(number)
}

/// Returns the number of a name, if it has one.
pub(super) fn find_id(name: &str) -> Option<u32> {
    panic::lock(&NAMES).numbers.get(name).copied()
}

/// Returns the name of a number that [`name_id`] returned.
pub fn name_of(number: u32) -> &'static str {
    let names = panic::lock(&NAMES);
    names.list.get((number as usize).wrapping_sub(1)).copied().unwrap_or("")
}

/// Size of the per-thread cache of names, which needs no lock.
const RECENT_NAMES_MAX: usize = 64;

thread_local! {
    static RECENT_IDS: [Cell<(usize, usize, u32)>; RECENT_NAMES_MAX] = const {
        [const { Cell::new((0, 0, 0)) }; RECENT_NAMES_MAX]
    };
}

/// Returns the number of a static name, or 0 if the table is full.
pub(super) fn id_of_static(name: &'static str) -> u32 {
    let (address, length) = (name.as_ptr().addr(), name.len());
    RECENT_IDS.with(|lately| {
        let cache_slot = &lately[(address >> 3 ^ length) % RECENT_NAMES_MAX];
        match cache_slot.get() {
            (known, bytes, number) if known == address && bytes == length => number,
            _ => {
                let number = name_id(name).unwrap_or(0);
                cache_slot.set((address, length, number));
                number
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_index() {
        let number = name_id("a name of a scope").unwrap();
        assert_eq!(name_id("a name of a scope"), Some(number));
        assert_eq!(
            (id_of_static("a name of a scope"), name_of(number)),
            (number, "a name of a scope")
        );
        assert_eq!((name_of(0), name_of(u32::MAX)), ("", ""));
    }
}
