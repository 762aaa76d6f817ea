//! Flags of the objects of Lua's heap, by address. A heap walk looks up every reference of the
//! heap, so the most frequent flags are packed closely: two bits for each address where an object
//! can begin.

use std::collections::HashMap;
use std::ffi::c_void;

/// The walk has visited the object.
pub const VISITED: usize = 1;
/// An old function whose holders are to be found.
pub const TARGET: usize = 2;
/// A new object that may be the new version of an older one.
pub const CANDIDATE: usize = 4;
/// The object is to be replaced by another.
pub const MAPPED: usize = 8;

/// Alignment of objects as a power of two: they begin at multiples of 16 bytes (lua_memory.rs).
const ALIGNMENT_BITS: u32 = 4;
/// Size of the address range that a page of bits covers, as a power of two in bytes.
const PAGE_BITS: u32 = 21;
/// Size of a page in words of 32 object slots: one bit each for "visited" and for "has other
/// flags".
const PAGE_LENGTH: usize = 1 << (PAGE_BITS - ALIGNMENT_BITS - 5);

type MarkPage = Box<[u64; PAGE_LENGTH]>;

/// Flags by object address.
pub struct MarkTable {
    /// Page numbers (the upper bits of the address) in a hash table with open addressing, at most
    /// half full; 0 marks an empty slot.
    numbers: Vec<usize>,
    pages: Vec<Option<MarkPage>>,
    used: usize,
    /// Flags that do not fit in the pages' bits, of the few objects that have any.
    others: HashMap<usize, usize>,
}

impl MarkTable {
    pub fn new() -> MarkTable {
        let pages = (0..64).map(|_| None).collect();
        MarkTable { numbers: vec![0; 64], pages, used: 0, others: HashMap::new() }
    }

    fn position(numbers: &[usize], number: usize) -> usize {
        let mut i = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> 40;
        loop {
            i &= numbers.len() - 1;
            if numbers[i] == number || numbers[i] == 0 {
                return i;
            }
            i += 1;
        }
    }

    /// Returns the word that holds an object's bits, and their offset in it.
    #[inline]
    fn word(&mut self, address: usize) -> (&mut u64, u32) {
        let number = address >> PAGE_BITS;
        let mut at = MarkTable::position(&self.numbers, number);
        if self.numbers[at] == 0 {
            at = self.add_page(number);
        }
        let word = (address >> ALIGNMENT_BITS) & (PAGE_LENGTH * 32 - 1);
        let page = self.pages[at].as_mut().expect("every number has its page");
        (&mut page[word / 32], (word % 32) as u32 * 2)
    }

    #[cold]
    fn add_page(&mut self, number: usize) -> usize {
        self.used += 1;
        if self.used * 2 > self.numbers.len() {
            let length = self.numbers.len() * 2;
            let numbers = std::mem::replace(&mut self.numbers, vec![0; length]);
            let mut pages: Vec<Option<MarkPage>> = (0..length).map(|_| None).collect();
            for (number, page) in numbers.into_iter().zip(self.pages.drain(..)) {
                if number != 0 {
                    let at = MarkTable::position(&self.numbers, number);
                    (self.numbers[at], pages[at]) = (number, page);
                }
            }
            self.pages = pages;
        }
        let at = MarkTable::position(&self.numbers, number);
        self.numbers[at] = number;
        self.pages[at] = Some(vec![0; PAGE_LENGTH].try_into().expect("it is as long as a page"));
        at
    }

    /// Sets flags of an object. Returns the previous flags.
    #[inline]
    pub fn mark(&mut self, object: *const c_void, flags: usize) -> usize {
        let address = object as usize;
        let (word, shift) = self.word(address);
        let bits = (*word >> shift) as usize & 3;
        *word |= ((flags & VISITED) as u64) << shift;
        if flags != VISITED || bits & 2 != 0 {
            *word |= u64::from(flags & !VISITED != 0) << (shift + 1);
            return bits & VISITED | self.mark_white(address, flags & !VISITED);
        }
        bits
    }

    #[cold]
    fn mark_white(&mut self, address: usize, flags: usize) -> usize {
        let known = self.others.entry(address >> ALIGNMENT_BITS).or_default();
        std::mem::replace(known, *known | flags)
    }

    pub fn flags(&mut self, object: *const c_void) -> usize {
        self.mark(object, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_objects_are_independent() {
        let mut marks = MarkTable::new();
        let object = |i: usize| (0x7000_0000_0000 + i * 0x1_2340) as *const c_void;
        for i in 0..5000 {
            let flags = if i % 3 == 0 { TARGET } else { VISITED };
            assert_eq!(marks.mark(object(i), flags), 0, "{i}");
        }
        for i in 0..5000 {
            let flags = if i % 3 == 0 { TARGET } else { VISITED };
            assert_eq!(marks.mark(object(i), MAPPED | VISITED), flags, "{i}");
            assert_eq!(marks.flags(object(i)), flags | MAPPED | VISITED, "{i}");
            assert_eq!(marks.flags(object(i).wrapping_byte_add(16)), 0, "{i}");
        }
    }
}
