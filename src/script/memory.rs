//! Lua's memory: what it uses, its limit, and what happens there. Knows nothing of the collector's
//! pacing; that is collector.rs.
//!
//! Allocation never fails inside an engine call, for a Lua error must not cross a Rust frame. At
//! the limit the interrupt hook is armed, which collects garbage and raises an ordinary error, with
//! a stack, at the next instruction. Only a request that would lead beyond twice the limit is
//! refused here: that error has no line, for LuaJIT calls no handler then.

use super::cx::Cx;
use super::engine_memory::EngineMemory;
use super::interrupt::{Interrupt, Reason};
use crate::foundation::memory::Plain;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

const ALIGN: usize = 16;

/// Counts what Lua holds, in bytes, and keeps it below a limit. It lies outside of the context and
/// is only ever shared: Lua allocates while the context is borrowed.
pub struct Memory {
    /// The context of the VM: a Lua state leads here, and here leads there.
    pub context: Cell<*mut Cx>,
    /// Bytes held now.
    used: Cell<usize>,
    /// The most bytes ever held.
    peak: Cell<usize>,
    /// The most bytes held since what is charged was last lowered.
    high: Cell<usize>,
    /// The lesser of that and limit: an allocation that stays below it needs no other look.
    mark: Cell<usize>,
    /// Below this many bytes less is charged (engine_memory.rs).
    low: Cell<usize>,
    /// Bytes that were ever given back, and how often any were asked for.
    freed: Cell<u64>,
    allocations: Cell<u64>,
    /// At this many bytes the running script is stopped by an error.
    pub limit: usize,
    /// Above zero nothing is refused.
    lenient: Cell<u32>,
    /// Who stops the script at the limit.
    interrupt: Arc<Interrupt>,
    /// The limit on what the engine holds beside this.
    pub engine: EngineMemory,
}

impl Memory {
    /// Nothing held yet, and `limit` bytes allowed. Those of a worker count as the engine's, too.
    pub fn new(limit: usize, interrupt: Arc<Interrupt>, is_worker: bool) -> Memory {
        Memory {
            context: Cell::new(null_mut()),
            used: Cell::new(0),
            peak: Cell::new(0),
            high: Cell::new(0),
            mark: Cell::new(0),
            low: Cell::new(0),
            freed: Cell::new(0),
            allocations: Cell::new(0),
            limit,
            lenient: Cell::new(0),
            interrupt,
            engine: EngineMemory::new(is_worker),
        }
    }

    /// Bytes held now.
    pub fn used(&self) -> usize {
        self.used.get()
    }

    /// The most bytes ever held.
    pub fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Bytes that were ever asked for, and how often any were.
    pub fn made(&self) -> (u64, u64) {
        (self.used.get() as u64 + self.freed.get(), self.allocations.get())
    }

    /// From here to [`Memory::be_strict`] nothing is refused, and no hook raises: an engine call,
    /// or the handling of an error, is under way. Such stretches can lie inside each other.
    #[inline]
    pub fn be_lenient(&self) {
        self.lenient.set(self.lenient.get() + 1);
    }

    /// Ends what [`Memory::be_lenient`] began.
    #[inline]
    pub fn be_strict(&self) {
        self.lenient.set(self.lenient.get() - 1);
    }

    /// How many stretches of leniency lie inside each other now.
    #[inline]
    pub fn lenience(&self) -> u32 {
        self.lenient.get()
    }

    /// Goes back to an earlier [`Memory::lenience`]: an error may have passed the ends of some.
    #[inline]
    pub fn restore_lenience(&self, before: u32) {
        self.lenient.set(before);
    }

    /// What no request may pass. A table or a string that doubles may do so once, and the error at
    /// the next instruction tells its line.
    fn refused_above(&self) -> usize {
        self.limit.saturating_mul(2)
    }

    /// Whether Lua holds more than any request may lead to: what allocates much while nothing is
    /// refused looks at this.
    pub fn is_far_over(&self) -> bool {
        self.used.get() > self.refused_above()
    }

    /// Whether so many bytes may be held, which are more than ever or more than the limit. Notes
    /// them as held.
    #[inline(never)]
    fn allows(&self, wanted: usize) -> bool {
        if wanted > self.limit {
            self.interrupt.arm(Reason::Memory);
            if self.lenient.get() == 0 && wanted > self.refused_above() {
                return false;
            }
        }
        self.high.set(self.high.get().max(wanted));
        self.peak.set(self.peak.get().max(wanted));
        self.mark.set(self.high.get().min(self.limit));
        self.low.set(self.engine.charge_lua(self.high.get()));
        true
    }

    /// So much was given back that less is charged.
    #[cold]
    #[inline(never)]
    fn lower(&self) {
        self.high.set(self.used.get());
        self.mark.set(self.high.get().min(self.limit));
        self.low.set(self.engine.charge_lua(self.high.get()));
    }

    /// The engine may hold more than its limit: the running script is stopped by an error at its
    /// next instruction, if so.
    pub fn look_at_engine(&self) {
        if self.engine.has_grown(None) {
            self.interrupt.arm(Reason::EngineMemory);
        }
    }

    /// The same after a call for which other threads may have worked; `before`: what was held
    /// before it, if that was more than may be.
    pub fn look_after_call(&self, before: Option<usize>) {
        if self.engine.look_after_call(before) {
            self.interrupt.arm(Reason::EngineMemory);
        }
    }
}

/// The allocator given to `lua_newstate`; `user` is the [`Memory`].
///
/// # Safety
/// Called by Lua only, with a pointer and size that an earlier call returned and was given.
pub unsafe extern "C" fn allocate(
    user: *mut c_void,
    old: *mut c_void,
    old_size: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: `user` is the Memory that the state was made with, which outlives it and is never
    // borrowed to be changed: what changes in it is in cells. Old pointers and sizes are ours.
    unsafe {
        let memory = &*(user as *const Memory);
        let layout = |size| Layout::from_size_align_unchecked(size, ALIGN);
        let old_size = if old.is_null() { 0 } else { old_size };
        let wanted = (memory.used.get() - old_size).saturating_add(size);
        if size == 0 {
            if old_size > 0 {
                Plain.dealloc(old as *mut u8, layout(old_size));
                memory.freed.set(memory.freed.get() + old_size as u64);
            }
            memory.used.set(wanted);
            if wanted < memory.low.get() {
                memory.lower();
            }
            return null_mut();
        }
        if wanted > memory.mark.get() && size > old_size && !memory.allows(wanted) {
            return null_mut();
        }
        let made = match old_size {
            0 => Plain.alloc(layout(size)),
            _ => Plain.realloc(old as *mut u8, layout(old_size), size),
        };
        if !made.is_null() {
            memory.used.set(wanted);
            if size < old_size {
                memory.freed.set(memory.freed.get() + (old_size - size) as u64);
                if wanted < memory.low.get() {
                    memory.lower();
                }
            }
            memory.allocations.set(memory.allocations.get() + 1);
        }
        made as *mut c_void
    }
}
