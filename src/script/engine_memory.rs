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

    /// Lua may hold so many bytes from now on.
    pub fn charge_lua(&self, bytes: usize) {
        let Some(charge) = &self.charge else { return };
        let mut charge = charge.borrow_mut();
        if bytes as i64 > charge.bytes() {
            charge.set(bytes.next_multiple_of(CHARGE_STEP) as i64);
        }
    }
}
