//! The engine's memory limit, as the scripts of one VM meet it. What is held, and by whom, is
//! counted elsewhere (foundation/memory); here growth beyond the limit becomes one error, and not
//! one for every block.

use crate::foundation::memory::limit::{self, BATCH_BYTES, Charge};
use std::cell::{Cell, RefCell};

/// What a VM knows of the engine's memory.
pub struct EngineMemory {
    /// How much was held when the scripts were told last; 0 since it fell below the limit.
    reported: Cell<usize>,
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
        EngineMemory { reported: Cell::new(0), recoveries: Cell::new(0), charge }
    }

    /// Whether more is held than may be, and more than when the scripts were told last.
    pub fn has_grown(&self) -> bool {
        let recoveries = limit::recoveries();
        if self.recoveries.replace(recoveries) != recoveries {
            self.reported.set(0);
        }
        let Some(limit) = limit::limit() else { return false };
        limit::held() > limit.max(self.reported.get() + BATCH_BYTES)
    }

    /// The message of an error that is due, once for what has grown.
    pub fn take_message(&self) -> Option<String> {
        self.has_grown().then(|| {
            self.reported.set(limit::held());
            limit::over_message()
        })
    }

    /// What has grown so far is no error: releasing may take a little, too.
    pub fn forgive(&self) {
        if self.has_grown() {
            self.reported.set(limit::held());
        }
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
