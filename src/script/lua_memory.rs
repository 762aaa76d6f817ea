//! Lua's memory: its current use, its limit, and the response when the limit is reached. The pacing
//! of the collector is in collector.rs.
//!
//! Allocation never fails inside an engine call, because a Lua error must not cross a Rust frame.
//! At the limit the interrupt hook is armed, which collects garbage and raises an ordinary error,
//! with a stack, at the next instruction. Only a request that would exceed three times the limit is
//! refused here. This error has no line, because LuaJIT then calls no message handler.

use super::context::ScriptContext;
use super::engine_memory_limit::EngineMemory;
use super::interrupt::{Interrupt, StopReason};
use engine_foundation::memory::UncountedAllocator;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

const ALIGN: usize = 16;
/// Number of times that a script may reach the limit again after the error about it. Stack slots
/// that are not overwritten yet keep what it has dropped, so what catches the error must be able to
/// go on for a few instructions.
const FULL_TIMES_MAX: u32 = 8;

/// Counts the bytes that Lua holds, and keeps them below a limit. It is stored outside of the
/// context and is only ever shared, because Lua allocates while the context is borrowed.
pub struct LuaMemory {
    /// The context of the VM. A Lua state leads to this memory, and the memory to the context.
    pub context: Cell<*mut ScriptContext>,
    /// Bytes held now.
    used: Cell<usize>,
    /// Maximum number of bytes ever held.
    peak: Cell<usize>,
    /// Maximum number of bytes held since the charged amount was last lowered.
    high: Cell<usize>,
    /// The smaller of `high` and `limit`. An allocation that stays below it needs no further check.
    mark: Cell<usize>,
    /// Number of bytes below which less memory is charged (engine_memory_limit.rs).
    low: Cell<usize>,
    /// Total bytes freed, and total number of allocations.
    freed: Cell<u64>,
    allocations: Cell<u64>,
    /// Number of bytes at which the running script is stopped by an error.
    pub limit: usize,
    /// While this is above zero, no allocation is refused.
    lenient: Cell<u32>,
    /// How often the script may still be over the limit without an error.
    full_times_left: Cell<u32>,
    /// The interrupt that stops the script at the limit.
    interrupt: Arc<Interrupt>,
    /// The limit on the memory that the engine holds in addition to Lua's.
    pub engine: EngineMemory,
}

impl LuaMemory {
    /// Creates the counter with a limit of `limit` bytes. The memory of a worker also counts as
    /// engine memory.
    pub fn new(limit: usize, interrupt: Arc<Interrupt>, is_worker: bool) -> LuaMemory {
        LuaMemory {
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
            full_times_left: Cell::new(0),
            interrupt,
            engine: EngineMemory::new(is_worker),
        }
    }

    /// Returns the bytes held now.
    pub fn used(&self) -> usize {
        self.used.get()
    }

    /// Returns the maximum number of bytes ever held.
    pub fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Returns the total bytes ever allocated, and the number of allocations.
    pub fn total_allocated(&self) -> (u64, u64) {
        (self.used.get() as u64 + self.freed.get(), self.allocations.get())
    }

    /// Begins a lenient section, until [`LuaMemory::end_lenient`]: no allocation is refused, and no
    /// hook raises, because an engine call or the handling of an error is in progress. Lenient
    /// sections can be nested.
    #[inline]
    pub fn begin_lenient(&self) {
        self.lenient.set(self.lenient.get() + 1);
    }

    /// Ends the section that [`LuaMemory::begin_lenient`] began.
    #[inline]
    pub fn end_lenient(&self) {
        self.lenient.set(self.lenient.get() - 1);
    }

    /// Returns the number of nested lenient sections.
    #[inline]
    pub fn lenience(&self) -> u32 {
        self.lenient.get()
    }

    /// Restores an earlier [`LuaMemory::lenience`], because an error may have skipped the ends of
    /// some sections.
    #[inline]
    pub fn restore_lenience(&self, before: u32) {
        self.lenient.set(before);
    }

    /// Returns true if the script must be stopped: Lua holds nearly as much as the limit. Called
    /// after a collection.
    pub fn must_stop(&self) -> bool {
        let left = self.full_times_left.get();
        let is_full = self.used.get() > self.limit / 100 * 95;
        self.full_times_left.set(match (is_full, left) {
            (false, _) => 0,
            (true, 0) => FULL_TIMES_MAX,
            (true, _) => left - 1,
        });
        is_full && left == 0
    }

    /// Returns the number of bytes that no request may exceed. A table or a string that doubles its
    /// size may exceed the limit once, and the error at the next instruction reports its line.
    /// LuaJIT's concatenation holds the old string, its buffer and the new string at the same time:
    /// for a string of half the limit, that is two and a half times the limit.
    fn refused_above(&self) -> usize {
        self.limit.saturating_mul(3)
    }

    /// Returns true if Lua holds more than any request may reach. Checked by code that allocates
    /// much in a lenient section.
    pub fn is_far_over(&self) -> bool {
        self.used.get() > self.refused_above()
    }

    /// Returns true if `wanted` bytes may be held, and records them as held. Called for more than
    /// `high` or `limit` bytes.
    #[inline(never)]
    fn allows(&self, wanted: usize) -> bool {
        if wanted > self.limit {
            self.interrupt.arm(StopReason::Memory);
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

    /// Lowers the charged amount after enough memory was freed.
    #[cold]
    #[inline(never)]
    fn lower(&self) {
        self.high.set(self.used.get());
        self.mark.set(self.high.get().min(self.limit));
        self.low.set(self.engine.charge_lua(self.high.get()));
    }

    /// Checks the engine's memory limit. If it is exceeded, the running script is stopped by an
    /// error at its next instruction.
    pub fn check_engine_memory(&self) {
        if self.engine.has_grown(None) {
            self.interrupt.arm(StopReason::EngineMemory);
        }
    }

    /// Checks the engine's memory limit after a call for which other threads may have worked.
    /// `before`: bytes held before the call, if they exceeded the limit.
    pub fn check_after_call(&self, before: Option<usize>) {
        if self.engine.check_after_call(before) {
            self.interrupt.arm(StopReason::EngineMemory);
        }
    }
}

/// The allocator for `lua_newstate`; `user` is the [`LuaMemory`].
///
/// # Safety
/// Called by Lua only, with a pointer that an earlier call returned and its size.
pub unsafe extern "C" fn allocate(
    user: *mut c_void,
    old: *mut c_void,
    old_size: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: `user` is the `LuaMemory` that the state was created with. It outlives the state and
    // is never borrowed mutably: its changing fields are cells. Old pointers and sizes come from
    // this allocator.
    unsafe {
        let memory = &*(user as *const LuaMemory);
        let layout = |size| Layout::from_size_align_unchecked(size, ALIGN);
        let old_size = if old.is_null() { 0 } else { old_size };
        let wanted = (memory.used.get() - old_size).saturating_add(size);
        if size == 0 {
            if old_size > 0 {
                UncountedAllocator.dealloc(old as *mut u8, layout(old_size));
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
        let block = match old_size {
            0 => UncountedAllocator.alloc(layout(size)),
            _ => UncountedAllocator.realloc(old as *mut u8, layout(old_size), size),
        };
        if !block.is_null() {
            memory.used.set(wanted);
            if size < old_size {
                memory.freed.set(memory.freed.get() + (old_size - size) as u64);
                if wanted < memory.low.get() {
                    memory.lower();
                }
            }
            memory.allocations.set(memory.allocations.get() + 1);
        }
        block as *mut c_void
    }
}
