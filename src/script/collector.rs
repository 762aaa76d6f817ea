//! Scheduling of Lua's garbage collector: never during a frame, and with a time budget at the
//! frame's end. Deterministic runs use a budget of work instead, so that a replay collects at the
//! same points.
//!
//! A cycle begins when the heap is half as big again as the live data. Memory that was allocated
//! while a cycle ran is not counted as live, because most of it is garbage that only the next cycle
//! can find: a heap that is measured with it grows a little more with every cycle. Above the
//! ceiling the budget grows with the excess, up to [`PRESSURE_MAX`] times, so that memory stays
//! bounded whatever a game allocates.
//!
//! Two steps cannot be divided: the end of the marking, and the marking of one large table. They
//! must not exceed a frame's budget: if a good part of the budget is used, they wait for the next
//! frame. The end of the marking has to mark the objects that were written to in the meantime. To
//! keep it short, these objects are marked again before, in steps, until few are left.

use super::context::ScriptContext;
use super::luajit_layout::{self, CollectorPhase, SWEPT};
use engine_runtime::CollectorSettings;
use mlua::ffi::*;
use std::ffi::c_int;
use std::time::Instant;

/// Largest factor by which memory pressure can multiply the budget.
pub const PRESSURE_MAX: f64 = 8.0;
/// Heap size in bytes below which no cycle is started.
const SMALL_HEAP: usize = 8 << 20;
/// Units of work that replace one millisecond in deterministic runs, about 12 ns each. One unit is
/// a swept object, a marked slot of a large table, or all strings of one hash.
const WORK_PER_MILLISECOND: f64 = 80_000.0;
/// Work units for marking an object.
const MARKED: u64 = 10;
/// Work units between two readings of the clock: about 2.5 us.
const WORK_PER_CLOCK_READ: u64 = 200;
/// Fraction of a budget after which no indivisible step is begun.
const LATE: f64 = 0.1;
/// Number of frames of marking after which written objects are marked again. Objects that are
/// written to within this many frames are left to the end of the marking.
const FRAMES_AT_ONCE: u32 = 3;
/// Maximum number of times that written objects are marked again before the end of the marking. A
/// game that writes faster than the collector marks must not delay it forever.
const PASSES_MAX: u32 = 4;
/// LuaJIT's size of one collector step: the smallest, which is one object, and LuaJIT's default.
const STEP_LEAST: c_int = 1;
const STEP_USUAL: c_int = 200;

/// Pacing state of the garbage collector.
pub struct Collector {
    /// True if the budget is counted in work instead of time.
    pub deterministic: bool,
    cycling: bool,
    /// Frames since everything was marked for the first time in this cycle, or was last marked
    /// again.
    marking_frames: u32,
    /// Number of times that written objects were marked again in this cycle.
    passes: u32,
    /// True if an indivisible step was postponed to this frame.
    waits: bool,
    /// Bytes of live data: those that existed at the end of the last cycle and were allocated
    /// before it.
    alive: usize,
    /// Bytes allocated since the running cycle began.
    allocated: usize,
    /// Bytes in use when the collector last finished its work.
    left: usize,
}

impl Collector {
    pub fn new(deterministic: bool) -> Collector {
        Collector {
            deterministic,
            cycling: false,
            marking_frames: 0,
            passes: 0,
            waits: false,
            alive: 0,
            allocated: 0,
            left: 0,
        }
    }

    /// Sets the number of live bytes when it is known already, so that no cycle has to find it.
    pub fn note_alive(&mut self, bytes: usize) {
        (self.alive, self.left) = (bytes, bytes);
    }

    fn ceiling(&self, budget: CollectorSettings) -> f64 {
        match budget.ceiling_mib {
            0.0 => (self.alive * 2 + (64 << 20)) as f64,
            mib => mib * 1_048_576.0,
        }
    }

    /// Runs the collector within the budget; `l` must be outside of any call.
    ///
    /// # Safety
    /// `l` is the main state of an open VM, with nothing running in it.
    pub unsafe fn frame(&mut self, l: *mut lua_State, budget: CollectorSettings) {
        // SAFETY: as the caller promised.
        let used = unsafe { ScriptContext::of(l).memory.used() };
        self.allocated += used.saturating_sub(self.left);
        self.left = used;
        if !self.cycling {
            if used < SMALL_HEAP.max(self.alive + self.alive / 2) {
                return;
            }
            (self.cycling, self.allocated) = (true, 0);
            (self.marking_frames, self.passes) = (0, 0);
        }
        self.marking_frames += 1;
        let pressure = (used as f64 / self.ceiling(budget)).powi(2).clamp(1.0, PRESSURE_MAX);
        // SAFETY: as the caller promised.
        unsafe {
            lua_gc(l, LUA_GCSETSTEPMUL, STEP_LEAST);
            self.slice(l, budget.milliseconds * pressure);
            lua_gc(l, LUA_GCSETSTEPMUL, STEP_USUAL);
            // Each step sets a threshold at which the collector would start automatically.
            lua_gc(l, LUA_GCSTOP, 0);
            self.left = ScriptContext::of(l).memory.used();
        }
    }

    /// Continues the cycle, one object at a time.
    unsafe fn slice(&mut self, l: *mut lua_State, milliseconds: f64) {
        let begun = Instant::now();
        let (mut work, mut looked, mut used) = (0, 0, 0.0);
        while used < 1.0 {
            // SAFETY: as for `frame`.
            let mut next = unsafe { luajit_layout::next_step(l) };
            if next == CollectorPhase::EndMarking && self.marking_frames > FRAMES_AT_ONCE {
                self.marking_frames = 0;
                if self.passes < PASSES_MAX {
                    self.passes += 1;
                    // SAFETY: as for `frame`.
                    next = unsafe {
                        luajit_layout::re_mark_written(l);
                        luajit_layout::next_step(l)
                    };
                }
            }
            let whole = matches!(next, CollectorPhase::MarkLarge(_) | CollectorPhase::EndMarking);
            if whole || work - looked >= WORK_PER_CLOCK_READ {
                looked = work;
                used = match self.deterministic {
                    true => work as f64 / (milliseconds * WORK_PER_MILLISECOND),
                    false => begun.elapsed().as_secs_f64() * 1e3 / milliseconds,
                };
                // An indivisible step waits only once. Otherwise a game that always has something
                // smaller to mark would delay it forever.
                let late = whole && used >= LATE && !self.waits;
                if late || used >= 1.0 {
                    self.waits = whole;
                    break;
                }
                self.waits &= !whole;
            }
            // SAFETY: as for `frame`.
            if unsafe { lua_gc(l, LUA_GCSTEP, 0) } != 0 {
                self.cycling = false;
                // SAFETY: as for `frame`.
                self.alive =
                    unsafe { ScriptContext::of(l) }.memory.used().saturating_sub(self.allocated);
                break;
            }
            work += match next {
                CollectorPhase::Mark => MARKED,
                CollectorPhase::MarkLarge(places) => MARKED + places as u64,
                // The work of this step is unknown, so it is the last step of the frame.
                CollectorPhase::EndMarking => break,
                CollectorPhase::SweepStrings => 1,
                CollectorPhase::Other => SWEPT,
            };
        }
    }

    /// Runs a full collection, at a time when a pause is not noticed.
    ///
    /// # Safety
    /// As for [`Collector::frame`].
    pub unsafe fn full(&mut self, l: *mut lua_State) {
        // SAFETY: as the caller promised.
        unsafe {
            lua_gc(l, LUA_GCCOLLECT, 0);
            lua_gc(l, LUA_GCSTOP, 0);
            self.left = ScriptContext::of(l).memory.used();
        }
        (self.alive, self.cycling) = (self.left, false);
    }
}
