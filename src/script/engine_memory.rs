//! The engine's memory limit, as the scripts of one VM meet it. What is held, and by whom, is
//! counted elsewhere (foundation/memory); here growth beyond the limit becomes one error, and not
//! one for every block.

use crate::foundation::memory::limit::{self, BATCH_BYTES, Charge};
use std::cell::{Cell, RefCell};

/// What a VM knows of the engine's memory.
pub struct EngineMemory {
    /// The thread's part when the scripts were told last; none since all fell below the limit.
    reported: Cell<Option<i64>>,
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
        EngineMemory { reported: Cell::new(None), recoveries: Cell::new(0), charge }
    }

    /// Whether more is held than may be, and this thread holds more than when its scripts were told
    /// last: what others take meanwhile is not their doing.
    pub fn has_grown(&self) -> bool {
        let recoveries = limit::recoveries();
        if self.recoveries.replace(recoveries) != recoveries {
            self.reported.set(None);
        }
        let grown = |reported| limit::own_part() > reported + BATCH_BYTES as i64;
        limit::limit().is_some_and(|limit| limit::held() > limit)
            && self.reported.get().is_none_or(grown)
    }

    /// The message of an error that is due, once for what has grown.
    pub fn take_message(&self) -> Option<String> {
        self.has_grown().then(|| {
            self.reported.set(Some(limit::own_part()));
            limit::over_message()
        })
    }

    /// What has grown so far is no error: releasing may take a little, too.
    pub fn forgive(&self) {
        if self.has_grown() {
            self.reported.set(Some(limit::own_part()));
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
