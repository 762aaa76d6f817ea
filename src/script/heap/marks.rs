//! Objects of Lua's heap by address, with flags.

use std::ffi::c_void;

/// The walk has been at it.
pub const VISITED: usize = 1;
/// An old function, whose holders are wanted.
pub const TARGET: usize = 2;
/// A new object that may have been there before.
pub const CANDIDATE: usize = 4;
/// It is to be exchanged for another.
pub const MAPPED: usize = 8;
/// All of them.
pub const FLAGS: usize = 15;

/// Objects by address, with flags in the address's free bits. Open addressing, never more than half
/// full: a walk looks up every reference of the heap.
pub struct Marks {
    slots: Vec<usize>,
    used: usize,
    shift: u32,
}

impl Marks {
    pub fn new() -> Marks {
        Marks { slots: vec![0; 1 << 12], used: 0, shift: 64 - 12 }
    }

    fn position(&self, address: usize) -> usize {
        let hash = (address as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut i = (hash >> self.shift) as usize;
        while self.slots[i] != 0 && self.slots[i] & !FLAGS != address {
            i = (i + 1) & (self.slots.len() - 1);
        }
        i
    }

    /// Flags an object: the flags it had.
    #[inline]
    pub fn mark(&mut self, object: *const c_void, flags: usize) -> usize {
        let address = object as usize & !FLAGS;
        let i = self.position(address);
        let before = self.slots[i];
        self.slots[i] = before | address | flags;
        if before == 0 {
            self.used += 1;
            if self.used * 2 > self.slots.len() {
                self.grow();
            }
        }
        before & FLAGS
    }

    pub fn flags(&self, object: *const c_void) -> usize {
        self.slots[self.position(object as usize & !FLAGS)] & FLAGS
    }

    fn grow(&mut self) {
        let doubled = vec![0; self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, doubled);
        self.shift -= 1;
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let i = self.position(slot & !FLAGS);
            self.slots[i] = slot;
        }
    }
}
