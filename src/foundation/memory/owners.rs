//! Owners: names with numbers, which one is the thread's, and what each holds.

use super::Held;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};

/// Owners that can be there; those beyond count as [`ENGINE`].
pub const OWNERS_MAX: usize = 256;
/// Bytes of a name.
pub const NAME_BYTES_MAX: usize = 80;

/// Number 0 counts nothing, number 1 is whoever has no other name.
pub(super) const NOBODY: u8 = 0;
const ENGINE: u8 = 1;

/// What one owner holds. Its own line of the cache, for threads count at once.
#[repr(align(64))]
struct Count {
    bytes: AtomicI64,
    made: AtomicU64,
    freed: AtomicU64,
}

static COUNTS: [Count; OWNERS_MAX] = [const {
    Count { bytes: AtomicI64::new(0), made: AtomicU64::new(0), freed: AtomicU64::new(0) }
}; OWNERS_MAX];

/// The names, in the order of their numbers from 1.
struct Names {
    list: [&'static str; OWNERS_MAX],
    count: usize,
}

static NAMES: Mutex<Names> = {
    let mut list = [""; OWNERS_MAX];
    list[ENGINE as usize] = "engine";
    Mutex::new(Names { list, count: 2 })
};

thread_local! {
    static CURRENT: Cell<u8> = const { Cell::new(ENGINE) };
}

/// The owner of what this thread allocates.
#[inline(always)]
pub(super) fn current() -> u8 {
    CURRENT.get()
}

#[inline(always)]
pub(super) fn hold(owner: u8, bytes: usize) {
    let count = &COUNTS[owner as usize];
    count.bytes.fetch_add(bytes as i64, Ordering::Relaxed);
    count.made.fetch_add(1, Ordering::Relaxed);
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

/// Counts bytes, or below zero takes them away, without a block.
#[inline(always)]
pub(super) fn adjust(owner: u8, change: i64) {
    COUNTS[owner as usize].bytes.fetch_add(change, Ordering::Relaxed);
}

/// The number of a name. Where there is no room for another, it is that of "engine".
pub fn number_of(name: &str) -> u8 {
    // The names themselves are nobody's: they stay for good.
    let _nobody = Owner::enter(NOBODY);
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

/// Every owner that ever allocated anything.
pub(super) fn all() -> Vec<(&'static str, Held)> {
    let names = {
        let names = NAMES.lock().unwrap_or_else(|poison| poison.into_inner());
        names.list[..names.count].to_vec()
    };
    let each = names.into_iter().enumerate().skip(1).map(|(number, name)| {
        let count = &COUNTS[number];
        let made = count.made.load(Ordering::Relaxed);
        let blocks = made as i64 - count.freed.load(Ordering::Relaxed) as i64;
        (name, Held { bytes: count.bytes.load(Ordering::Relaxed), blocks, made })
    });
    each.filter(|(_, held)| held.made > 0).collect()
}

/// Calls `each` for every owner with its number, its name, the bytes that it holds and the blocks
/// that it ever allocated; allocates nothing.
pub fn each(mut each: impl FnMut(u8, &'static str, i64, u64)) {
    let (list, count) = {
        let names = NAMES.lock().unwrap_or_else(|poison| poison.into_inner());
        (names.list, names.count)
    };
    for (number, name) in list[..count].iter().enumerate().skip(1) {
        let Count { bytes, made, .. } = &COUNTS[number];
        each(number as u8, name, bytes.load(Ordering::Relaxed), made.load(Ordering::Relaxed));
    }
}

/// What a place in the code that names an owner knows.
pub struct Site {
    name: &'static str,
    number: AtomicU8,
}

impl Site {
    pub const fn new(name: &'static str) -> Site {
        Site { name, number: AtomicU8::new(0) }
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

/// While the value is there, what its thread allocates is an owner's. Made by
/// [`owner!`](crate::owner).
#[must_use]
pub struct Owner {
    before: u8,
    here: PhantomData<*const ()>,
}

impl Owner {
    #[inline(always)]
    pub fn of(site: &Site) -> Owner {
        Owner::enter(site.number())
    }

    /// The owner of a number that [`number_of`] gave.
    #[inline(always)]
    pub fn enter(number: u8) -> Owner {
        Owner { before: CURRENT.replace(number), here: PhantomData }
    }

    /// Names the owner of all that this thread allocates from now on.
    pub fn of_thread(name: &str) {
        CURRENT.set(number_of(name));
    }
}

impl Drop for Owner {
    #[inline(always)]
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_one_owner_at_a_time_and_the_one_before_when_its_block_ends() {
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
            Owner::of_thread("tests/outer");
            assert_eq!(current(), outer);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_name_that_cannot_be_one_is_the_engines() {
        assert_eq!((number_of(""), number_of(&"a".repeat(81))), (ENGINE, ENGINE));
    }
}
