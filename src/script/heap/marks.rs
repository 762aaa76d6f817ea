//! Objects of Lua's heap by address, with flags. A walk asks for every reference of the heap, so
//! what it asks about most is packed closely: two bits for each place where an object can begin.

use std::collections::HashMap;
use std::ffi::c_void;

/// The walk has been at it.
pub const VISITED: usize = 1;
/// An old function, whose holders are wanted.
pub const TARGET: usize = 2;
/// A new object that may have been there before.
pub const CANDIDATE: usize = 4;
/// It is to be exchanged for another.
pub const MAPPED: usize = 8;

/// Objects begin at multiples of 16 bytes (memory.rs).
const PLACE_BITS: u32 = 4;
/// A page of bits covers this many bytes of addresses, as a power of two.
const PAGE_BITS: u32 = 21;
/// Places in a page, in words of 32: one bit each for "visited" and for "has other flags".
const PAGE_WORDS: usize = 1 << (PAGE_BITS - PLACE_BITS - 5);

type Page = Box<[u64; PAGE_WORDS]>;

/// Flags by object.
pub struct Marks {
    /// Pages by the upper bits of the address, open addressing, at most half full: 0 is nothing.
    numbers: Vec<usize>,
    pages: Vec<Option<Page>>,
    used: usize,
    /// The other flags of the few objects that have some.
    others: HashMap<usize, usize>,
}

impl Marks {
    pub fn new() -> Marks {
        let pages = (0..64).map(|_| None).collect();
        Marks { numbers: vec![0; 64], pages, used: 0, others: HashMap::new() }
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

    /// The word with an object's bits, and where they begin in it.
    #[inline]
    fn word(&mut self, address: usize) -> (&mut u64, u32) {
        let number = address >> PAGE_BITS;
        let mut at = Marks::position(&self.numbers, number);
        if self.numbers[at] == 0 {
            at = self.add_page(number);
        }
        let place = (address >> PLACE_BITS) & (PAGE_WORDS * 32 - 1);
        let page = self.pages[at].as_mut().expect("every number has its page");
        (&mut page[place / 32], (place % 32) as u32 * 2)
    }

    #[cold]
    fn add_page(&mut self, number: usize) -> usize {
        self.used += 1;
        if self.used * 2 > self.numbers.len() {
            let length = self.numbers.len() * 2;
            let numbers = std::mem::replace(&mut self.numbers, vec![0; length]);
            let mut pages: Vec<Option<Page>> = (0..length).map(|_| None).collect();
            for (number, page) in numbers.into_iter().zip(self.pages.drain(..)) {
                if number != 0 {
                    let at = Marks::position(&self.numbers, number);
                    (self.numbers[at], pages[at]) = (number, page);
                }
            }
            self.pages = pages;
        }
        let at = Marks::position(&self.numbers, number);
        self.numbers[at] = number;
        self.pages[at] = Some(vec![0; PAGE_WORDS].try_into().expect("it is as long as a page"));
        at
    }

    /// Flags an object: the flags it had.
    #[inline]
    pub fn mark(&mut self, object: *const c_void, flags: usize) -> usize {
        let address = object as usize;
        let (word, shift) = self.word(address);
        let bits = (*word >> shift) as usize & 3;
        *word |= ((flags & VISITED) as u64) << shift;
        if flags != VISITED || bits & 2 != 0 {
            *word |= u64::from(flags & !VISITED != 0) << (shift + 1);
            return bits & VISITED | self.mark_others(address, flags & !VISITED);
        }
        bits
    }

    #[cold]
    fn mark_others(&mut self, address: usize, flags: usize) -> usize {
        let known = self.others.entry(address >> PLACE_BITS).or_default();
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
    fn marks_are_kept_apart() {
        let mut marks = Marks::new();
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
