//! The part of the debugger in the interrupt: the hook for executed lines, and callbacks that are
//! stopped for a while.

use super::{Interrupt, StopReason, UNSEEN};
use engine_foundation::panic;
use mlua::ffi::lua_State;
use std::sync::atomic::Ordering::SeqCst;

/// The budget of a callback that is interrupted, and its part that is used.
#[derive(Clone, Copy, Debug)]
pub struct SuspendedBudget {
    used_micros: u64,
    budget_micros: u64,
}

impl SuspendedBudget {
    /// Returns the same with `factor` times the whole budget.
    pub fn extended(self, factor: u64) -> SuspendedBudget {
        SuspendedBudget { budget_micros: self.budget_micros.saturating_mul(factor), ..self }
    }
}

impl Interrupt {
    /// Sets if the debugger follows executed lines (debugger/). As for line counts, the JIT
    /// compiler must be off meanwhile.
    pub fn debug_lines(&self, state: *mut lua_State, on: bool) {
        if self.debugged.swap(on, SeqCst) == on {
            return;
        }
        match self.reasons.load(SeqCst) {
            0 => self.unhook_when_done(state),
            _ => self.hook(),
        }
    }

    /// Lets a worker's script take over settings of the debugger, soon; can be called from any
    /// thread.
    pub fn request_debugger(&self) {
        self.has_settings.store(true, SeqCst);
    }

    /// Lets the script take over settings of the debugger at its next instruction, before the
    /// watchdog looks. Must be called on the thread that runs it.
    pub fn look_at_settings(&self) {
        if self.has_settings.load(SeqCst) {
            self.arm(StopReason::Debugger);
        }
    }

    /// Interrupts the script so that it takes over settings of the debugger.
    pub(super) fn arm_debugger(&self) {
        let watched = panic::lock(&self.watched);
        if !self.closing.load(SeqCst) && !self.state.load(SeqCst).is_null() {
            self.reasons.fetch_or(StopReason::Debugger as u32, SeqCst);
            self.interrupt_thread(watched.as_ref());
        }
    }

    /// Returns true if the script must end in any case.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(SeqCst)
    }

    /// Returns true while a callback runs that uses its budget.
    pub fn is_in_callback(&self) -> bool {
        self.turn() % 2 == 1
    }

    /// Interrupts the running callback: it uses no budget until [`Interrupt::resume`]. Callbacks
    /// may be begun and ended meanwhile.
    pub fn suspend(&self) -> SuspendedBudget {
        let (started, now) = (self.started_micros.load(SeqCst), self.cpu_micros());
        let used_micros = if started == UNSEEN { 0 } else { now.saturating_sub(started) };
        let budget_micros = self.budget_micros.load(SeqCst);
        self.turn.fetch_add(1, SeqCst);
        SuspendedBudget { used_micros, budget_micros }
    }

    /// Continues the callback that was interrupted, with the rest of its budget.
    pub fn resume(&self, suspended: SuspendedBudget) {
        let started = self.cpu_micros().saturating_sub(suspended.used_micros);
        self.started_micros.store(started, SeqCst);
        self.budget_micros.store(suspended.budget_micros, SeqCst);
        self.turn.fetch_add(1, SeqCst);
    }

    /// Lets the running callback continue after a part of it was stopped, with a new budget.
    pub fn renew_budget(&self, state: *mut lua_State) {
        self.started_micros.store(self.cpu_micros(), SeqCst);
        self.disarm(StopReason::Time, state);
    }

    /// Stops the running callback at its next instruction, as if the end of the process was
    /// requested. Must be called on the thread that runs it.
    pub fn stop_callback(&self) {
        self.armed_turn.store(self.turn(), SeqCst);
        self.arm(StopReason::End);
    }

    /// Returns a number that differs from callback to callback, and before and after a suspension.
    pub fn turn(&self) -> u64 {
        self.turn.load(SeqCst)
    }
}
