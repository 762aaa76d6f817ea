//! Lua's memory: what it uses, its limit, and what happens there. Knows nothing of the collector's
//! pacing; that is collector.rs.
//!
//! Allocation never fails inside an engine call, for a Lua error must not cross a Rust frame. At
//! the limit the interrupt hook is armed, which collects garbage and raises an ordinary error, with
//! a stack, at the next instruction. Only a request that would lead beyond twice the limit is
//! refused here: that error has no line, for LuaJIT calls no handler then.

use super::interrupt::{Interrupt, Reason};
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

const ALIGN: usize = 16;

/// Counts what Lua holds, in bytes, and keeps it below a limit.
pub struct Memory {
    /// Bytes held now.
    pub used: usize,
    /// The most bytes ever held.
    pub peak: usize,
    /// At this many bytes the running script is stopped by an error.
    pub limit: usize,
    /// Above zero nothing is refused: an engine call, or the handling of an error, is under way.
    pub lenient: u32,
    /// Who stops the script at the limit.
    pub interrupt: Arc<Interrupt>,
}

impl Memory {
    /// Nothing held yet, and `limit` bytes allowed.
    pub fn new(limit: usize, interrupt: Arc<Interrupt>) -> Memory {
        Memory { used: 0, peak: 0, limit, lenient: 0, interrupt }
    }

    /// What no request may pass. A table or a string that doubles may do so once, and the error at
    /// the next instruction tells its line.
    fn refused_above(&self) -> usize {
        self.limit.saturating_mul(2)
    }

    #[inline]
    fn allowed(&mut self, more: usize) -> bool {
        let wanted = self.used.saturating_add(more);
        wanted <= self.limit || self.allowed_beyond(wanted)
    }

    #[cold]
    fn allowed_beyond(&mut self, wanted: usize) -> bool {
        self.interrupt.arm(Reason::Memory);
        self.lenient > 0 || wanted <= self.refused_above()
    }

    #[inline]
    fn hold(&mut self, more: usize) {
        self.used += more;
        if self.used > self.peak {
            self.peak = self.used;
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
    // SAFETY: `user` is the Memory that the state was made with, and outlives it; no other
    // reference to it is alive while Lua allocates. Old pointers and sizes come from here.
    unsafe {
        let memory = &mut *(user as *mut Memory);
        let layout = |size| Layout::from_size_align_unchecked(size, ALIGN);
        if size == 0 {
            if !old.is_null() && old_size > 0 {
                memory.used -= old_size;
                dealloc(old as *mut u8, layout(old_size));
            }
            return null_mut();
        }
        let old_size = if old.is_null() { 0 } else { old_size };
        if size > old_size && !memory.allowed(size - old_size) {
            return null_mut();
        }
        let made = match old_size {
            0 => alloc(layout(size)),
            _ => realloc(old as *mut u8, layout(old_size), size),
        };
        if !made.is_null() {
            memory.used -= old_size;
            memory.hold(size);
        }
        made as *mut c_void
    }
}
