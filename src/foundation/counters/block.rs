//! The array that one thread adds to. Others only read it.

use super::registry::COUNTERS_MAX;
use crate::foundation::fault;
use crate::foundation::log;
use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Threads that can count at once; those beyond add to an array that nobody reads.
pub const BLOCKS_MAX: usize = 128;
/// Counters that one bit of `touched` stands for.
pub const CHUNK: usize = COUNTERS_MAX / 64;

pub struct Block {
    /// Numbers of 64-bit floats. Those of the thread that plays the frames begin anew with each,
    /// those of the others go on and on.
    values: [AtomicU64; COUNTERS_MAX],
    /// Which parts of the array were ever added to from Rust.
    touched: AtomicU64,
    taken: AtomicBool,
}

static BLOCKS: Mutex<Vec<&'static Block>> = Mutex::new(Vec::new());
/// What is added to by threads that have no array of their own.
static NOBODYS: Block = Block::new();

thread_local! {
    static OWN: Cell<Option<&'static Block>> = const { Cell::new(None) };
    static LEASE: RefCell<Option<Lease>> = const { RefCell::new(None) };
}

/// Gives an array back when its thread ends. What it came to stays in it, and goes on from there.
struct Lease(&'static Block);

impl Drop for Lease {
    fn drop(&mut self) {
        OWN.set(Some(&NOBODYS));
        self.0.taken.store(false, Ordering::Release);
    }
}

/// This thread's array.
#[inline(always)]
pub fn own() -> &'static Block {
    match OWN.get() {
        Some(block) => block,
        None => take(),
    }
}

#[cold]
#[inline(never)]
fn take() -> &'static Block {
    crate::owner!("statistics");
    let mut blocks = fault::lock(&BLOCKS);
    let free = blocks.iter().find(|block| !block.taken.load(Ordering::Acquire)).copied();
    let block = match free {
        Some(block) => block,
        None if blocks.len() < BLOCKS_MAX => {
            let block = Block::on_heap();
            blocks.push(block);
            block
        }
        None => {
            drop(blocks);
            OWN.set(Some(&NOBODYS));
            log::warn("statistics", &format!("more than {BLOCKS_MAX} threads: some do not count"));
            return &NOBODYS;
        }
    };
    block.taken.store(true, Ordering::Release);
    drop(blocks);
    let _ = LEASE.try_with(|lease| *lease.borrow_mut() = Some(Lease(block)));
    OWN.set(Some(block));
    block
}

/// Every array but one.
pub fn others(own: &'static Block) -> Vec<&'static Block> {
    let blocks = fault::lock(&BLOCKS);
    blocks.iter().copied().filter(|block| !std::ptr::eq(*block, own)).collect()
}

impl Block {
    const fn new() -> Block {
        Block {
            values: [const { AtomicU64::new(0) }; COUNTERS_MAX],
            touched: AtomicU64::new(0),
            taken: AtomicBool::new(true),
        }
    }

    /// One that is there for good. It is never on the stack, for it is large.
    fn on_heap() -> &'static Block {
        let layout = std::alloc::Layout::new::<Block>();
        // SAFETY: the layout has a size; a block of zeros is one that counts nothing, and is taken
        // by nobody.
        unsafe {
            let block = std::alloc::alloc_zeroed(layout).cast::<Block>();
            if block.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            &*block
        }
    }

    /// Adds to a number. To be called by the thread that has taken the block.
    #[inline(always)]
    pub fn add(&self, number: u32, amount: f64) {
        let value = &self.values[number as usize & (COUNTERS_MAX - 1)];
        let sum = f64::from_bits(value.load(Ordering::Relaxed)) + amount;
        value.store(sum.to_bits(), Ordering::Relaxed);
        let bit = 1u64 << ((number as usize / CHUNK) & 63);
        if self.touched.load(Ordering::Relaxed) & bit == 0 {
            self.touched.fetch_or(bit, Ordering::Release);
        }
    }

    #[inline(always)]
    pub fn value(&self, number: usize) -> f64 {
        f64::from_bits(self.values[number].load(Ordering::Relaxed))
    }

    /// Moves this thread's numbers to `into`, and begins them at zero.
    pub fn take_all(&self, into: &mut [f64]) {
        for (value, into) in self.values.iter().zip(into) {
            *into = f64::from_bits(value.load(Ordering::Relaxed));
            value.store(0, Ordering::Relaxed);
        }
    }

    pub fn clear(&self) {
        for value in &self.values {
            value.store(0, Ordering::Relaxed);
        }
    }

    /// The parts that were added to, as bits.
    pub fn touched(&self) -> u64 {
        self.touched.load(Ordering::Acquire)
    }

    pub fn address(&self, number: u32) -> *mut f64 {
        self.values[number as usize & (COUNTERS_MAX - 1)].as_ptr().cast()
    }
}

#[cfg(test)]
pub fn leaked() -> &'static Block {
    Block::on_heap()
}
