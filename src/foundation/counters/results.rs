//! Counter results: the values of the last frame and the histories of watched counters, and at the
//! end of a frame the update of alarms and the export.

use super::alarms::AlarmTable;
use super::export::CounterExport;
use super::registry::COUNTERS_MAX;
use super::thread_counters::{CHUNK, ThreadCounters};
use crate::Error;
use crate::error;
use crate::memory::LazyZeroed;

/// Number of frames in the history of a watched counter.
pub const HISTORY_FRAMES: usize = 1024;
/// Maximum number of counters that can be watched at once.
pub const WATCHED_MAX: usize = 1024;

/// The history of one counter: a ring buffer indexed by the frame number that all counters share.
struct CounterHistory {
    number: u32,
    /// Number of `watch` calls that were not yet ended.
    watches: u32,
    /// The first frame in the history.
    since: u64,
    values: Box<[f64]>,
}

/// The results of all counters, and what is recorded of them.
pub struct CounterResults {
    /// Number of frames pushed so far.
    pub frame: u64,
    newest: LazyZeroed<f64>,
    /// Totals of the other threads' arrays at the end of the last frame.
    last_values: Vec<(*const ThreadCounters, LazyZeroed<f64>)>,
    histories: Vec<CounterHistory>,
    pub alarms: AlarmTable,
    pub export: Option<CounterExport>,
}

// SAFETY: the pointers to the arrays are only compared, never dereferenced.
unsafe impl Send for CounterResults {}

/// Allocates a zeroed value for each possible counter. Only the pages of existing counters are ever
/// touched.
fn all_counters() -> LazyZeroed<f64> {
    // SAFETY: zeroed bytes are valid floats.
    unsafe { LazyZeroed::new(COUNTERS_MAX) }
}

impl CounterResults {
    pub fn new() -> CounterResults {
        CounterResults {
            frame: 0,
            newest: all_counters(),
            last_values: Vec::new(),
            histories: Vec::new(),
            alarms: AlarmTable::default(),
            export: None,
        }
    }

    /// Ends a frame for the first `count` counters.
    pub fn push(
        &mut self,
        own: &ThreadCounters,
        other_threads: &[&'static ThreadCounters],
        count: usize,
    ) {
        own.take_all(&mut self.newest[..count]);
        for other in other_threads {
            self.add_thread(other);
        }
        // Counter 0 means no counter, and is never read.
        self.newest[0] = 0.0;
        for history in &mut self.histories {
            let at = (self.frame % HISTORY_FRAMES as u64) as usize;
            history.values[at] = self.newest[history.number as usize];
        }
        self.alarms.check(&self.newest);
        if let Some(export) = &mut self.export {
            export.record_frame(&self.newest[..count]);
        }
        self.frame += 1;
    }

    fn add_thread(&mut self, other: &'static ThreadCounters) {
        let mut touched = other.changed_chunks();
        if touched == 0 {
            return;
        }
        let known = self.last_values.iter().position(|(block, _)| std::ptr::eq(*block, other));
        let at = known.unwrap_or_else(|| {
            self.last_values.push((other, all_counters()));
            self.last_values.len() - 1
        });
        let last_values = &mut self.last_values[at].1;
        while touched != 0 {
            let chunk = touched.trailing_zeros() as usize;
            touched &= touched - 1;
            for number in chunk * CHUNK..(chunk + 1) * CHUNK {
                let value = other.value(number);
                self.newest[number] += value - last_values[number];
                last_values[number] = value;
            }
        }
    }

    pub fn newest(&self, number: u32) -> f64 {
        self.newest.get(number as usize).copied().unwrap_or(0.0)
    }

    pub fn watch(&mut self, number: u32) -> Result<(), Error> {
        if let Some(history) = self.histories.iter_mut().find(|it| it.number == number) {
            history.watches += 1;
            return Ok(());
        }
        if self.histories.len() >= WATCHED_MAX {
            return Err(error!(
                "{WATCHED_MAX} counters are watched already (WATCHED_MAX): unwatch others first"
            ));
        }
        let (since, values) = (self.frame, vec![0.0; HISTORY_FRAMES].into_boxed_slice());
        self.histories.push(CounterHistory { number, watches: 1, since, values });
        Ok(())
    }

    pub fn unwatch(&mut self, number: u32) {
        for history in self.histories.iter_mut().filter(|it| it.number == number) {
            history.watches -= 1;
        }
        self.histories.retain(|history| history.watches > 0);
    }

    pub fn history(&self, number: u32, count: usize) -> Option<Vec<f64>> {
        let history = self.histories.iter().find(|it| it.number == number)?;
        let oldest = self.frame.saturating_sub(HISTORY_FRAMES.min(count) as u64).max(history.since);
        let at = |frame: u64| history.values[(frame % HISTORY_FRAMES as u64) as usize];
        Some((oldest..self.frame).map(at).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::thread_counters::leaked;
    use super::*;

    /// Plays the frames 0 to 9, and adds each amount in its frame.
    fn play(
        results: &mut CounterResults,
        block: &ThreadCounters,
        number: u32,
        amounts: &[(f64, f64)],
    ) {
        for frame in 0..10 {
            let frame = f64::from(frame);
            for (amount, at) in amounts {
                if (frame..frame + 1.0).contains(at) {
                    block.add(number, *amount);
                }
            }
            results.push(block, &[], 10);
        }
    }

    #[test]
    fn values_are_summed_within_a_frame_and_start_at_zero() {
        let (mut results, block) = (CounterResults::new(), leaked());
        results.watch(3).unwrap();
        play(&mut results, block, 3, &[(782.0, 3.5), (1003.0, 6.1), (450.0, 6.3), (510.0, 9.2)]);
        let expected = [0.0, 0.0, 0.0, 782.0, 0.0, 0.0, 1453.0, 0.0, 0.0, 510.0];
        assert_eq!(results.history(3, usize::MAX).unwrap(), expected);
        assert_eq!(results.history(3, 4).unwrap(), expected[6..]);
        assert_eq!(results.newest(3), 510.0);
    }

    #[test]
    fn history_is_recorded_only_while_a_counter_is_watched() {
        let (mut results, block) = (CounterResults::new(), leaked());
        play(&mut results, block, 4, &[(1.0, 0.5)]);
        assert_eq!(results.history(4, 10), None);
        results.watch(4).unwrap();
        assert_eq!(results.history(4, 10), Some(vec![]));
        play(&mut results, block, 4, &[(7.0, 9.5)]);
        assert_eq!(results.history(4, 3), Some(vec![0.0, 0.0, 7.0]));
        results.watch(4).unwrap();
        results.unwatch(4);
        assert!(results.history(4, 10).is_some());
        results.unwatch(4);
        assert_eq!(results.history(4, 10), None);
    }

    #[test]
    fn a_history_keeps_the_last_frames() {
        let (mut results, block) = (CounterResults::new(), leaked());
        results.watch(1).unwrap();
        for frame in 0..HISTORY_FRAMES + 3 {
            block.add(1, frame as f64);
            results.push(block, &[], 2);
        }
        let history = results.history(1, usize::MAX).unwrap();
        assert_eq!((history.len(), history[0]), (HISTORY_FRAMES, 3.0));
        assert_eq!(history.last(), Some(&((HISTORY_FRAMES + 2) as f64)));
    }

    #[test]
    fn totals_of_other_threads_count_by_their_increase() {
        let (mut results, own, other) = (CounterResults::new(), leaked(), leaked());
        other.add(5, 3.0);
        own.add(5, 1.0);
        results.push(own, &[other], 10);
        assert_eq!(results.newest(5), 4.0);
        other.add(5, 2.5);
        results.push(own, &[other], 10);
        assert_eq!(results.newest(5), 2.5);
        results.push(own, &[other], 10);
        assert_eq!(results.newest(5), 0.0);
    }

    #[test]
    fn the_number_of_watched_counters_is_limited() {
        let mut results = CounterResults::new();
        for number in 0..WATCHED_MAX as u32 {
            results.watch(number + 1).unwrap();
        }
        let message = results.watch(9999).unwrap_err().message;
        assert!(message.contains("1024 counters are watched already (WATCHED_MAX)"), "{message}");
    }
}
