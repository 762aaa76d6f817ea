//! When Lua's collector works, and for how long: never during a frame, in a budget of time at its
//! end. Deterministic runs budget by work instead, so that a replay collects at the same points.
//!
//! A cycle begins when the heap has grown by half since the last one ended. Above the ceiling the
//! budget grows with the excess, up to [`PRESSURE_MAX`] times, so that memory stays bounded
//! whatever a game allocates.

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
    /// Bytes alive at the end of the last cycle.
    kept: usize,
}

impl Collector {
    pub fn new(deterministic: bool) -> Collector {
        Collector { deterministic, cycling: false, kept: 0 }
    }

    fn ceiling(&self, budget: Collection) -> f64 {
        match budget.ceiling_mib {
            0.0 => (self.kept * 2 + (32 << 20)) as f64,
            mib => mib * 1_048_576.0,
        }
    }

    /// Works within the budget; `l` must be outside of any call.
    ///
    /// # Safety
    /// `l` is the main state of an open VM, with nothing running in it.
    pub unsafe fn frame(&mut self, l: *mut lua_State, budget: Collection) {
        // SAFETY: as the caller promised.
        let used = unsafe { Cx::of(l).memory.used };
        if !self.cycling && used < SMALL_HEAP.max(self.kept + self.kept / 2) {
            return;
        }
        self.cycling = true;
        let pressure = (used as f64 / self.ceiling(budget)).powi(2).clamp(1.0, PRESSURE_MAX);
        let milliseconds = budget.milliseconds * pressure;
        let deadline = Instant::now() + Duration::from_secs_f64(milliseconds / 1e3);
        let mut steps = (milliseconds * STEPS_PER_MILLISECOND) as u64;
        // SAFETY: as the caller promised.
        unsafe {
            while steps > 0 {
                if lua_gc(l, LUA_GCSTEP, 0) != 0 {
                    self.cycling = false;
                    self.kept = Cx::of(l).memory.used;
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
            self.kept = Cx::of(l).memory.used;
        }
        self.cycling = false;
    }
}
