//! When Lua's collector works, and for how long: never during a frame, in a budget of time at its
//! end. Deterministic runs budget by work instead, so that a replay collects at the same points.
//!
//! A cycle begins when the heap is half as big again as what is alive. What was made while a cycle
//! ran is not counted as alive, for most of it is garbage that only the next cycle can find: a heap
//! that is measured with it grows a little more with every cycle. Above the ceiling the budget
//! grows with the excess, up to [`PRESSURE_MAX`] times, so that memory stays bounded whatever a
//! game allocates.
//!
//! Two things cannot be divided: the end of the marking, and the marking of one large table. What
//! they take does not come on top of a frame's budget: where a good part of it is used, they wait
//! for the next frame. The end of the marking has to mark what was written to in the meantime, so
//! that is marked again before, in steps, until little is left.

use super::cx::Cx;
use super::layout::{self, Next, SWEPT};
use crate::engine::Collection;
use mlua::ffi::*;
use std::ffi::c_int;
use std::time::Instant;

/// The most that pressure can multiply the budget by.
pub const PRESSURE_MAX: f64 = 8.0;
/// A heap below this many bytes is not worth a cycle.
const SMALL_HEAP: usize = 8 << 20;
/// Work that stands for one millisecond where time must not matter, about 12 ns each: an object
/// swept or a place of a large table marked is one, and so are the strings of one hash.
const WORK_PER_MILLISECOND: f64 = 80_000.0;
/// The work of marking an object.
const MARKED: u64 = 10;
/// Work after which the clock is looked at: about 2.5 us.
const WORK_PER_LOOK: u64 = 200;
/// The part of a budget after which nothing is begun that cannot be divided.
const LATE: f64 = 0.1;
/// What is written to in so many frames is left to the end of the marking.
const FRAMES_AT_ONCE: u32 = 3;
/// How often what was written to is marked again before that, at most: a game that writes faster
/// than this marks must not hold it up.
const PASSES_MAX: u32 = 4;
/// LuaJIT's measure of one step: the least, which is one object, and its own.
const STEP_LEAST: c_int = 1;
const STEP_USUAL: c_int = 200;

/// The state of the pacing.
pub struct Collector {
    /// Counted in work, not in time.
    pub deterministic: bool,
    cycling: bool,
    /// Frames since everything was marked, or marked again, for the first time in this cycle.
    marking_frames: u32,
    /// How often it was marked again.
    passes: u32,
    /// Something that cannot be divided was left for this frame.
    waits: bool,
    /// Bytes that were there at the end of the last cycle and older than it: what is alive.
    alive: usize,
    /// Bytes made since the running cycle began.
    made: usize,
    /// Bytes held when the collector was last done.
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
            made: 0,
            left: 0,
        }
    }

    /// Says how many bytes are known to be alive: no cycle has to find it out.
    pub fn note_alive(&mut self, bytes: usize) {
        (self.alive, self.left) = (bytes, bytes);
    }

    fn ceiling(&self, budget: Collection) -> f64 {
        match budget.ceiling_mib {
            0.0 => (self.alive * 2 + (64 << 20)) as f64,
            mib => mib * 1_048_576.0,
        }
    }

    /// Works within the budget; `l` must be outside of any call.
    ///
    /// # Safety
    /// `l` is the main state of an open VM, with nothing running in it.
    pub unsafe fn frame(&mut self, l: *mut lua_State, budget: Collection) {
        // SAFETY: as the caller promised.
        let used = unsafe { Cx::of(l).memory.used() };
        self.made += used.saturating_sub(self.left);
        self.left = used;
        if !self.cycling {
            if used < SMALL_HEAP.max(self.alive + self.alive / 2) {
                return;
            }
            (self.cycling, self.made) = (true, 0);
            (self.marking_frames, self.passes) = (0, 0);
        }
        self.marking_frames += 1;
        let pressure = (used as f64 / self.ceiling(budget)).powi(2).clamp(1.0, PRESSURE_MAX);
        // SAFETY: as the caller promised.
        unsafe {
            lua_gc(l, LUA_GCSETSTEPMUL, STEP_LEAST);
            self.slice(l, budget.milliseconds * pressure);
            lua_gc(l, LUA_GCSETSTEPMUL, STEP_USUAL);
            // A step sets a threshold of its own, at which the collector would start by itself.
            lua_gc(l, LUA_GCSTOP, 0);
            self.left = Cx::of(l).memory.used();
        }
    }

    /// Goes on with the cycle, one object at a time.
    unsafe fn slice(&mut self, l: *mut lua_State, milliseconds: f64) {
        let begun = Instant::now();
        let (mut work, mut looked, mut used) = (0, 0, 0.0);
        while used < 1.0 {
            // SAFETY: as for `frame`.
            let mut next = unsafe { layout::next_step(l) };
            if next == Next::EndMarking && self.marking_frames > FRAMES_AT_ONCE {
                self.marking_frames = 0;
                if self.passes < PASSES_MAX {
                    self.passes += 1;
                    // SAFETY: as for `frame`.
                    next = unsafe {
                        layout::mark_again(l);
                        layout::next_step(l)
                    };
                }
            }
            let whole = matches!(next, Next::MarkLarge(_) | Next::EndMarking);
            if whole || work - looked >= WORK_PER_LOOK {
                looked = work;
                used = match self.deterministic {
                    true => work as f64 / (milliseconds * WORK_PER_MILLISECOND),
                    false => begun.elapsed().as_secs_f64() * 1e3 / milliseconds,
                };
                // It waits once: a game that always has something smaller to mark is no reason to
                // wait for ever.
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
                self.alive = unsafe { Cx::of(l) }.memory.used().saturating_sub(self.made);
                break;
            }
            work += match next {
                Next::Mark => MARKED,
                Next::MarkLarge(places) => MARKED + places as u64,
                // What that was cannot be seen: it had its frame.
                Next::EndMarking => break,
                Next::SweepStrings => 1,
                Next::Other => SWEPT,
            };
        }
    }

    /// Collects everything, where nobody notices.
    ///
    /// # Safety
    /// As for [`Collector::frame`].
    pub unsafe fn full(&mut self, l: *mut lua_State) {
        // SAFETY: as the caller promised.
        unsafe {
            lua_gc(l, LUA_GCCOLLECT, 0);
            lua_gc(l, LUA_GCSTOP, 0);
            self.left = Cx::of(l).memory.used();
        }
        (self.alive, self.cycling) = (self.left, false);
    }
}
