//! The engine's memory limit as seen by the scripts of one VM. Memory use by owner is counted in
//! foundation/memory. Here, growth beyond the limit becomes a single error instead of one error for
//! every block.

use engine_foundation::memory::limit::{self, BATCH_BYTES, MemoryCharge};
use std::cell::{Cell, RefCell};

/// Engine memory limit state of one VM.
pub struct EngineMemory {
    /// Bytes held when the last error was raised; `None` after memory has fallen below the limit.
    reported: Cell<Option<usize>>,
    /// Bytes held by this thread at the last error, or when the running callback began.
    thread_total: Cell<i64>,
    /// True if an error is due because other threads allocated memory for a call.
    due: Cell<bool>,
    /// The value of [`limit::recoveries`] at the last check.
    recoveries: Cell<u64>,
    /// The memory that Lua holds, if it counts as engine memory: in a worker.
    charge: Option<RefCell<MemoryCharge>>,
}

/// Granularity in bytes with which Lua's memory is charged.
const CHARGE_STEP: usize = 1 << 20;

impl EngineMemory {
    /// Creates the state. `is_worker`: Lua's memory counts as engine memory.
    pub fn new(is_worker: bool) -> EngineMemory {
        let charge = is_worker.then(|| RefCell::new(MemoryCharge::new("workers/lua")));
        EngineMemory {
            reported: Cell::new(None),
            thread_total: Cell::new(0),
            due: Cell::new(false),
            recoveries: Cell::new(0),
            charge,
        }
    }

    /// Begins a callback and resets this thread's share. Memory that this thread allocates and
    /// another frees (messages, frames that are drawn) would add up from callback to callback,
    /// although nothing grows.
    pub fn begin_callback(&self) {
        self.thread_total.set(limit::thread_total());
    }

    /// Returns true if memory exceeds the limit and has grown since the last error because of this
    /// thread. Growth caused by other threads meanwhile is not an error of its scripts.
    /// `before_call`: bytes held before a call for which other threads may have worked.
    pub fn has_grown(&self, before_call: Option<usize>) -> bool {
        let recoveries = limit::recoveries();
        if self.recoveries.replace(recoveries) != recoveries {
            self.reported.set(None);
            self.due.set(false);
        }
        let held = limit::total();
        let by_call = || before_call.is_some_and(|before| held > before + BATCH_BYTES);
        let by_thread = || limit::thread_total() > self.thread_total.get() + BATCH_BYTES as i64;
        let grown = |reported| held > reported + BATCH_BYTES && (by_thread() || by_call());
        limit::limit().is_some_and(|limit| held > limit) && self.reported.get().is_none_or(grown)
    }

    /// Checks the limit after a call. Returns true if an error is due.
    pub fn check_after_call(&self, before: Option<usize>) -> bool {
        self.due.set(self.due.get() | self.has_grown(before));
        self.due.get()
    }

    /// Returns the message of an error that is due, once for each growth.
    pub fn take_message(&self) -> Option<String> {
        let grown = self.has_grown(None);
        (self.due.take() | grown).then(|| {
            self.accept_all_growth();
            limit::over_message()
        })
    }

    /// Accepts the growth so far without an error, because releasing memory may allocate a little,
    /// too.
    pub fn accept_growth(&self, before_call: Option<usize>) {
        if self.has_grown(before_call) {
            self.accept_all_growth();
        }
    }

    fn accept_all_growth(&self) {
        self.reported.set(Some(limit::total()));
        self.thread_total.set(limit::thread_total());
    }

    /// Charges the bytes that Lua holds, if they count as engine memory, rounded up to the next
    /// step. Returns the number of bytes below which it must be called again, or 0.
    pub fn charge_lua(&self, bytes: usize) -> usize {
        let Some(charge) = &self.charge else { return 0 };
        let mut charge = charge.borrow_mut();
        let charged = charge.bytes() as usize;
        let wanted = bytes.next_multiple_of(CHARGE_STEP);
        // One extra step is kept, so that small fluctuations change nothing.
        if bytes > charged || wanted + CHARGE_STEP < charged {
            charge.set(wanted as i64);
        }
        (charge.bytes() as usize).saturating_sub(2 * CHARGE_STEP)
    }
}
