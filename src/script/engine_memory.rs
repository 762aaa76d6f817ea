//! The engine's memory limit, as the scripts of one VM meet it. What is held, and by whom, is
//! counted elsewhere (foundation/memory); here growth beyond the limit becomes one error, and not
//! one for every block.

use crate::foundation::memory::limit::{self, BATCH_BYTES, Charge};
use std::cell::{Cell, RefCell};

/// What a VM knows of the engine's memory.
pub struct EngineMemory {
    /// How much was held when the last error was raised; none since it fell below the limit.
    reported: Cell<Option<usize>>,
    /// This thread's part then, or when the running callback began.
    own_part: Cell<i64>,
    /// An error is due for what other threads took for a call.
    due: Cell<bool>,
    /// [`limit::recoveries`], when that was looked at last.
    recoveries: Cell<u64>,
    /// What Lua holds, where that counts as the engine's: in a worker.
    charge: Option<RefCell<Charge>>,
}

/// Lua's memory is charged in steps of this many bytes.
const CHARGE_STEP: usize = 1 << 20;

impl EngineMemory {
    /// `is_worker`: what Lua holds counts as the engine's.
    pub fn new(is_worker: bool) -> EngineMemory {
        let charge = is_worker.then(|| RefCell::new(Charge::new("workers/lua")));
        EngineMemory {
            reported: Cell::new(None),
            own_part: Cell::new(0),
            due: Cell::new(false),
            recoveries: Cell::new(0),
            charge,
        }
    }

    /// A callback begins. What this thread takes and another gives back (messages, frames that are
    /// drawn) adds up from callback to callback, although nothing grows.
    pub fn begin_callback(&self) {
        self.own_part.set(limit::own_part());
    }

    /// Whether more is held than may be, and more than at the last error, by this thread's doing:
    /// what others take meanwhile is no error of its scripts. `before_call`: what was held before
    /// a call for which other threads may have worked.
    pub fn has_grown(&self, before_call: Option<usize>) -> bool {
        let recoveries = limit::recoveries();
        if self.recoveries.replace(recoveries) != recoveries {
            self.reported.set(None);
            self.due.set(false);
        }
        let held = limit::held();
        let by_call = || before_call.is_some_and(|before| held > before + BATCH_BYTES);
        let by_thread = || limit::own_part() > self.own_part.get() + BATCH_BYTES as i64;
        let grown = |reported| held > reported + BATCH_BYTES && (by_thread() || by_call());
        limit::limit().is_some_and(|limit| held > limit) && self.reported.get().is_none_or(grown)
    }

    /// Looks after a call. Returns whether an error is due.
    pub fn look_after_call(&self, before: Option<usize>) -> bool {
        self.due.set(self.due.get() | self.has_grown(before));
        self.due.get()
    }

    /// The message of an error that is due, once for what has grown.
    pub fn take_message(&self) -> Option<String> {
        let grown = self.has_grown(None);
        (self.due.take() | grown).then(|| {
            self.forgive_all();
            limit::over_message()
        })
    }

    /// What has grown so far is no error: releasing may take a little, too.
    pub fn forgive(&self, before_call: Option<usize>) {
        if self.has_grown(before_call) {
            self.forgive_all();
        }
    }

    fn forgive_all(&self) {
        self.reported.set(Some(limit::held()));
        self.own_part.set(limit::own_part());
    }

    /// Lua holds so many bytes, where that counts: charges those, to the next step. The bytes below
    /// which it is to be called again, or 0.
    pub fn charge_lua(&self, bytes: usize) -> usize {
        let Some(charge) = &self.charge else { return 0 };
        let mut charge = charge.borrow_mut();
        let charged = charge.bytes() as usize;
        let wanted = bytes.next_multiple_of(CHARGE_STEP);
        // One step above is kept, so that what comes and goes changes nothing.
        if bytes > charged || wanted + CHARGE_STEP < charged {
            charge.set(wanted as i64);
        }
        (charge.bytes() as usize).saturating_sub(2 * CHARGE_STEP)
    }
}
