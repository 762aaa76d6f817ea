//! When Lua's collector works, and for how long: never during a frame, in a budget of time at its
//! end. Deterministic runs budget by work instead, so that a replay collects at the same points.
//!
//! A cycle begins when the heap is half as big again as what is alive. What was made while a cycle
//! ran is not counted as alive, for most of it is garbage that only the next cycle can find: a heap
//! that is measured with it grows a little more with every cycle. Above the ceiling the budget
//! grows with the excess, up to [`PRESSURE_MAX`] times, so that memory stays bounded whatever a
//! game allocates.

use super::cx::Cx;
use crate::engine::Collection;
use mlua::ffi::*;
use std::time::{Duration, Instant};

/// The most that pressure can multiply the budget by.
pub const PRESSURE_MAX: f64 = 8.0;
/// A heap below this many bytes is not worth a cycle.
const SMALL_HEAP: usize = 8 << 20;
/// Collector steps that stand for one millisecond where time must not matter.
const STEPS_PER_MILLISECOND: f64 = 400.0;

/// The state of the pacing.
pub struct Collector {
    /// Counted in work, not in time.
    pub deterministic: bool,
    cycling: bool,
    /// Bytes that were there at the end of the last cycle and older than it: what is alive.
    alive: usize,
    /// Bytes made since the running cycle began.
    made: usize,
    /// Bytes held when the collector was last done.
    left: usize,
}

impl Collector {
    pub fn new(deterministic: bool) -> Collector {
        Collector { deterministic, cycling: false, alive: 0, made: 0, left: 0 }
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
        }
        let pressure = (used as f64 / self.ceiling(budget)).powi(2).clamp(1.0, PRESSURE_MAX);
        let milliseconds = budget.milliseconds * pressure;
        let deadline = Instant::now() + Duration::from_secs_f64(milliseconds / 1e3);
        let mut steps = (milliseconds * STEPS_PER_MILLISECOND) as u64;
        // SAFETY: as the caller promised.
        unsafe {
            while steps > 0 {
                if lua_gc(l, LUA_GCSTEP, 0) != 0 {
                    self.cycling = false;
                    self.alive = Cx::of(l).memory.used().saturating_sub(self.made);
                    break;
                }
                match self.deterministic {
                    true => steps -= 1,
                    false if Instant::now() >= deadline => break,
                    false => continue,
                }
            }
            // A step sets a threshold of its own, at which the collector would start by itself.
            lua_gc(l, LUA_GCSTOP, 0);
            self.left = Cx::of(l).memory.used();
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
