//! Statistics: counters with names like paths. Each counter is a number that is summed during a
//! frame and starts at zero in the next one. After "Recording Statistics – An Exercise in
//! Minimalism" (Bitsquid).
//!
//! Code counts with [`counter!`](crate::counter), from any thread:
//!
//! ```text
//! counter!("renderer/draw_calls") += 1;
//! ```
//!
//! Every thread adds to its own array, without locks. A counter's index in the array never changes.
//! At the end of a frame, [`push`] sums the arrays. Only watched counters keep a history. Counters
//! are never deleted. This module knows no clocks and no scripts.

mod alarms;
mod export;
mod registry;
mod results;
mod thread_counters;

use results::CounterResults;
use std::ops::{AddAssign, Deref, DerefMut};
use std::sync::Mutex;
use thread_counters::ThreadCounters;

pub use alarms::{ALARMS_MAX, RaisedAlarm};
pub use export::{EXPORT_VALUES_MAX, ExportFormat};
pub use registry::{COUNTERS_MAX, CounterSite, NAME_BYTES_MAX, counter, find, name_of, names};
pub use results::{HISTORY_FRAMES, WATCHED_MAX};

/// Adds to a counter of this thread: `counter!("gui/objects") += 1;`
#[macro_export]
macro_rules! counter {
    ($name:literal) => {
        *$crate::counters::CounterSlot::of({
            static SITE: $crate::counters::CounterSite = $crate::counters::CounterSite::new($name);
            &SITE
        })
    };
}

/// A reference to a counter in this thread's array. Created by [`counter!`](crate::counter).
pub struct CounterSlot(Summable);

/// The target of `+=` for a counter.
pub struct Summable {
    block: &'static ThreadCounters,
    number: u32,
}

impl CounterSlot {
    #[inline(always)]
    pub fn of(site: &CounterSite) -> CounterSlot {
        CounterSlot(Summable { block: thread_counters::of_this_thread(), number: site.number() })
    }
}

impl Deref for CounterSlot {
    type Target = Summable;
    fn deref(&self) -> &Summable {
        &self.0
    }
}

impl DerefMut for CounterSlot {
    fn deref_mut(&mut self) -> &mut Summable {
        &mut self.0
    }
}

macro_rules! adds {
    ($($t:ty)*) => {
        $(impl AddAssign<$t> for Summable {
            #[inline(always)]
            fn add_assign(&mut self, amount: $t) {
                self.block.add(self.number, amount as f64);
            }
        })*
    };
}

adds!(f64 i32 u32 i64 u64 usize);

/// Adds to the counter with a number that [`counter`] returned.
#[inline]
pub fn add(number: u32, amount: f64) {
    thread_counters::of_this_thread().add(number, amount);
}

/// Returns the address of a counter's value in this thread's array, for code that adds to it
/// directly. Only this thread may use the address. It is valid until the process ends.
pub fn address(number: u32) -> *mut f64 {
    thread_counters::of_this_thread().address(number)
}

/// Returns the number of a profiler scope's counter. If the table is full, returns 0: the number
/// that is never read.
pub fn scope_counter(path: &str) -> u32 {
    let mut end = path.len().min(NAME_BYTES_MAX);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    let clean: String = path[..end].chars().filter(|letter| !letter.is_control()).collect();
    let clean: Vec<_> = clean.split('/').filter(|part| !part.trim().is_empty()).collect();
    counter(&clean.join("/")).unwrap_or(0)
}

static RESULTS: Mutex<Option<CounterResults>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut CounterResults) -> R) -> R {
    crate::owner!("statistics");
    let mut results = RESULTS.lock().unwrap_or_else(|poison| poison.into_inner());
    f(results.get_or_insert_with(CounterResults::new))
}

/// Ends a frame: stores the sum over all threads as each counter's newest value, and resets this
/// thread's values to zero. Must be called by the thread that plays the frames.
pub fn push() {
    let (own, count) = (thread_counters::of_this_thread(), registry::count());
    with(|results| results.push(own, &thread_counters::other_threads(own), count));
}

/// Returns a counter's value in the last frame.
pub fn newest(number: u32) -> f64 {
    with(|results| results.newest(number))
}

/// Returns all counters with their values in the last frame, in order of creation.
pub fn all() -> Vec<(&'static str, f64)> {
    let names = names();
    with(|results| {
        let values = (1..).map(|number| results.newest(number));
        names.into_iter().zip(values).collect()
    })
}

/// Returns the number of frames pushed so far.
pub fn frames() -> u64 {
    with(|results| results.frame)
}

/// Starts to record the history of a counter: its last [`HISTORY_FRAMES`] values.
///
/// # Errors
/// Returns an error if [`WATCHED_MAX`] other counters are watched.
pub fn watch(number: u32) -> Result<(), crate::Error> {
    with(|results| results.watch(number))
}

/// Ends one [`watch`]. The last call for a counter deletes its history.
pub fn unwatch(number: u32) {
    with(|results| results.unwatch(number));
}

/// Returns the last values of a watched counter, oldest first, at most `count`.
pub fn history(number: u32, count: usize) -> Option<Vec<f64>> {
    with(|results| results.history(number, count))
}

/// Sets an alarm: [`take_alarms`] reports when the counter rises above a limit.
///
/// # Errors
/// Returns an error if [`ALARMS_MAX`] alarms are set.
pub fn set_alarm(number: u32, limit: f64) -> Result<(), crate::Error> {
    with(|results| results.alarms.set(number, limit))
}

/// Removes a counter's alarm. Returns true if it existed.
pub fn remove_alarm(number: u32) -> bool {
    with(|results| results.alarms.remove(number))
}

/// Returns the counters that rose above their limits since the last call.
pub fn take_alarms() -> Vec<RaisedAlarm> {
    with(|results| std::mem::take(&mut results.alarms.raised))
}

/// Starts to record the values of all counters in all frames, for [`exported`].
pub fn begin_export() {
    with(|results| results.export = Some(export::CounterExport::default()));
}

/// Returns everything recorded since [`begin_export`], as a table of frames and counters. The
/// second value is the number of frames at the end that did not fit.
pub fn exported(form: ExportFormat) -> (String, u64) {
    with(|results| {
        results.export.as_ref().map_or_else(Default::default, |export| export.write(form))
    })
}

/// Clears values, histories, watches and alarms before another game starts in this process.
/// Counters keep their numbers.
pub fn clear_all() {
    let own = thread_counters::of_this_thread();
    own.clear();
    with(|results| {
        let export = results.export.take();
        *results = CounterResults::new();
        results.push(own, &thread_counters::other_threads(own), registry::count());
        results.export = export;
        results.frame = 0;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_incremented_from_rust_and_pushed() {
        let _alone = crate::profile::exclusive();
        clear_all();
        let number = counter("tests/added").unwrap();
        for _ in 0..3 {
            counter!("tests/added") += 1;
        }
        counter!("tests/added") += 0.5;
        std::thread::spawn(|| counter!("tests/added") += 10usize).join().unwrap();
        push();
        assert_eq!((newest(number), name_of(number)), (13.5, "tests/added"));
        push();
        assert_eq!(newest(number), 0.0);
        // SAFETY: this is this thread's own value, and no other code uses it at the same time.
        unsafe { *address(number) += 4.0 };
        push();
        assert_eq!(newest(number), 4.0);
        assert!(all().contains(&("tests/added", 4.0)));
    }

    #[test]
    fn a_scope_with_any_name_has_a_counter() {
        let number = scope_counter("scopes//odd\n/ /name/");
        assert_eq!(name_of(number), "scopes/odd/name");
        assert_eq!(name_of(scope_counter(&"ä".repeat(100))).len(), NAME_BYTES_MAX);
    }
}
