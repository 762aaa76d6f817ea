//! Memory owners: names with numbers, the current owner of each thread, and the memory of each
//! owner.

use super::OwnerUsage;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};

/// Maximum number of owners. Further owners count as [`ENGINE`].
pub const OWNERS_MAX: usize = 256;
/// Maximum length of a name in bytes.
pub const NAME_BYTES_MAX: usize = 80;

/// Owner numbers: memory of number 0 is not counted; number 1 is the owner of memory without
/// another owner.
pub(super) const NOBODY: u8 = 0;
const ENGINE: u8 = 1;

/// The counts of one owner. Each has its own cache line, because threads count concurrently.
#[repr(align(64))]
struct OwnerCount {
    bytes: AtomicI64,
    allocated: AtomicU64,
    freed: AtomicU64,
}

static COUNTS: [OwnerCount; OWNERS_MAX] = [const {
    OwnerCount { bytes: AtomicI64::new(0), allocated: AtomicU64::new(0), freed: AtomicU64::new(0) }
}; OWNERS_MAX];

/// The names, indexed by owner number, from 1.
struct OwnerNames {
    list: [&'static str; OWNERS_MAX],
    count: usize,
}

static NAMES: Mutex<OwnerNames> = {
    let mut list = [""; OWNERS_MAX];
    list[ENGINE as usize] = "engine";
    Mutex::new(OwnerNames { list, count: 2 })
};

thread_local! {
    static CURRENT: Cell<u8> = const { Cell::new(ENGINE) };
}

/// Returns the owner of this thread's allocations.
#[inline(always)]
pub(super) fn current() -> u8 {
    CURRENT.get()
}

#[inline(always)]
pub(super) fn add_block(owner: u8, bytes: usize) {
    let count = &COUNTS[owner as usize];
    count.bytes.fetch_add(bytes as i64, Ordering::Relaxed);
    count.allocated.fetch_add(1, Ordering::Relaxed);
}

#[inline(always)]
pub(super) fn release(owner: u8, bytes: usize) {
    let count = &COUNTS[owner as usize];
    count.bytes.fetch_sub(bytes as i64, Ordering::Relaxed);
    count.freed.fetch_add(1, Ordering::Relaxed);
}

#[inline(always)]
pub(super) fn resize(owner: u8, before: usize, after: usize) {
    adjust(owner, after as i64 - before as i64);
}

/// Adds bytes to an owner without a block; a negative number subtracts.
#[inline(always)]
pub(super) fn adjust(owner: u8, change: i64) {
    COUNTS[owner as usize].bytes.fetch_add(change, Ordering::Relaxed);
}

/// Returns the number of a name, and registers the name if needed. If the table is full, returns
/// the number of "engine".
pub fn number_of(name: &str) -> u8 {
    // The names themselves have no owner, because they are never freed.
    let _nobody = OwnerScope::enter(NOBODY);
    let mut names = NAMES.lock().unwrap_or_else(|poison| poison.into_inner());
    let count = names.count;
    if let Some(number) = names.list[1..count].iter().position(|known| *known == name) {
        return number as u8 + 1;
    }
    if count == OWNERS_MAX || name.is_empty() || name.len() > NAME_BYTES_MAX {
        return ENGINE;
    }
    names.list[count] = Box::leak(name.to_string().into_boxed_str());
    names.count += 1;
    count as u8
}

/// Returns every owner that ever allocated memory.
pub(super) fn all() -> Vec<(&'static str, OwnerUsage)> {
    let names = {
        let names = NAMES.lock().unwrap_or_else(|poison| poison.into_inner());
        names.list[..names.count].to_vec()
    };
    let each = names.into_iter().enumerate().skip(1).map(|(number, name)| {
        let count = &COUNTS[number];
        let allocations = count.allocated.load(Ordering::Relaxed);
        let blocks = allocations as i64 - count.freed.load(Ordering::Relaxed) as i64;
        (name, OwnerUsage { bytes: count.bytes.load(Ordering::Relaxed), blocks, allocations })
    });
    each.filter(|(_, held)| held.allocations > 0).collect()
}

/// Calls `each` for every owner with its number, its name, its bytes and the number of blocks that
/// it ever allocated. Allocates nothing.
pub fn each(mut each: impl FnMut(u8, &'static str, i64, u64)) {
    let (list, count) = {
        let names = NAMES.lock().unwrap_or_else(|poison| poison.into_inner());
        (names.list, names.count)
    };
    for (number, name) in list[..count].iter().enumerate().skip(1) {
        let OwnerCount { bytes, allocated, .. } = &COUNTS[number];
        each(number as u8, name, bytes.load(Ordering::Relaxed), allocated.load(Ordering::Relaxed));
    }
}

/// A call site of `owner!`: the owner's name, and its number after the first use.
pub struct OwnerSite {
    name: &'static str,
    number: AtomicU8,
}

impl OwnerSite {
    pub const fn new(name: &'static str) -> OwnerSite {
        OwnerSite { name, number: AtomicU8::new(0) }
    }

    #[inline(always)]
    fn number(&self) -> u8 {
        match self.number.load(Ordering::Relaxed) {
            0 => self.register(),
            number => number,
        }
    }

    #[cold]
    #[inline(never)]
    fn register(&self) -> u8 {
        let number = number_of(self.name);
        self.number.store(number, Ordering::Relaxed);
        number
    }
}

/// A guard that attributes its thread's allocations to an owner while it lives. Created by
/// [`owner!`](crate::owner).
#[must_use]
pub struct OwnerScope {
    before: u8,
    _not_send: PhantomData<*const ()>,
}

impl OwnerScope {
    #[inline(always)]
    pub fn of(site: &OwnerSite) -> OwnerScope {
        OwnerScope::enter(site.number())
    }

    /// Enters the owner with a number that [`number_of`] returned.
    #[inline(always)]
    pub fn enter(number: u8) -> OwnerScope {
        OwnerScope { before: CURRENT.replace(number), _not_send: PhantomData }
    }

    /// Sets the owner of all of this thread's allocations from now on.
    pub fn of_thread(name: &str) {
        CURRENT.set(number_of(name));
    }
}

impl Drop for OwnerScope {
    #[inline(always)]
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_previous_owner_is_restored_when_a_block_ends() {
        std::thread::spawn(|| {
            let outer = number_of("tests/outer");
            assert_eq!(current(), ENGINE);
            {
                crate::owner!("tests/outer");
                assert_eq!(current(), outer);
                {
                    crate::owner!("tests/inner");
                    assert_eq!(current(), number_of("tests/inner"));
                }
                assert_eq!(current(), outer);
            }
            assert_eq!(current(), ENGINE);
            OwnerScope::of_thread("tests/outer");
            assert_eq!(current(), outer);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn an_invalid_owner_name_counts_as_the_engine() {
        assert_eq!((number_of(""), number_of(&"a".repeat(81))), (ENGINE, ENGINE));
    }
}
