//! Events at a later time of a world: delays and timers, in a heap for each world. Instances that
//! wait are not visited.

use super::instance::InstanceId;
use engine_foundation::Handle;
use engine_foundation::hash::StateHash;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Maximum number of delays and timers of a world that wait.
pub const TIMERS_MAX: usize = 1 << 20;

/// Minimum number of timers before a sweep.
const SWEEP_TIMERS_MIN: usize = 1024;

/// A delay or a timer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowTimer {
    /// Time of the world at which it is due.
    pub time: f64,
    /// Order of creation.
    pub sequence: u64,
    pub instance: InstanceId,
    /// Offset of the node.
    pub node: u32,
    /// State of the node when the timer was started; another state cancels it.
    pub generation: u32,
}

impl Eq for FlowTimer {}

impl Ord for FlowTimer {
    /// The earliest timer is the greatest, as the heap returns the greatest first.
    fn cmp(&self, other: &FlowTimer) -> Ordering {
        other.time.total_cmp(&self.time).then(other.sequence.cmp(&self.sequence))
    }
}

impl PartialOrd for FlowTimer {
    fn partial_cmp(&self, other: &FlowTimer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The timers of all worlds.
#[derive(Default)]
pub struct FlowTimers {
    /// Worlds in the order of their first timer.
    worlds: Vec<(Handle, BinaryHeap<FlowTimer>)>,
    sequence: u64,
    /// Number of timers, and the number at which the next sweep is due.
    count: usize,
    sweep_at: usize,
}

impl FlowTimers {
    /// Starts a timer; false if the world has `TIMERS_MAX`.
    pub fn start(
        &mut self,
        world: Handle,
        time: f64,
        instance: InstanceId,
        node: u32,
        generation: u32,
    ) -> bool {
        let at = match self.worlds.iter().position(|(known, _)| *known == world) {
            Some(at) => at,
            None => {
                self.worlds.push((world, BinaryHeap::new()));
                self.worlds.len() - 1
            }
        };
        let heap = &mut self.worlds[at].1;
        if heap.len() >= TIMERS_MAX {
            return false;
        }
        self.sequence += 1;
        self.count += 1;
        heap.push(FlowTimer { time, sequence: self.sequence, instance, node, generation });
        true
    }

    /// Removes and returns the first timer of a world that is due.
    pub fn next_due(&mut self, world: Handle, time: f64) -> Option<FlowTimer> {
        let (_, heap) = self.worlds.iter_mut().find(|(known, _)| *known == world)?;
        match heap.peek() {
            Some(first) if first.time <= time => {
                self.count -= 1;
                heap.pop()
            }
            _ => None,
        }
    }

    /// Returns true if a sweep is due.
    #[inline(always)]
    pub fn is_sweep_due(&self) -> bool {
        self.count >= self.sweep_at.max(SWEEP_TIMERS_MIN)
    }

    /// Removes the timers that are not live, if their number has doubled since the last time.
    pub fn sweep(&mut self, is_live: impl Fn(&FlowTimer) -> bool) {
        if self.is_sweep_due() {
            self.retain(|timer| is_live(timer));
            self.sweep_at = self.count * 2;
        }
    }

    /// Removes the timers of a world.
    pub fn release_world(&mut self, world: Handle) {
        self.worlds.retain(|(known, _)| *known != world);
        self.recount();
    }

    fn recount(&mut self) {
        self.count = self.worlds.iter().map(|(_, heap)| heap.len()).sum();
    }

    /// Changes all timers; those for which `change` returns false are removed.
    pub fn retain(&mut self, mut change: impl FnMut(&mut FlowTimer) -> bool) {
        for (_, heap) in &mut self.worlds {
            let mut timers = std::mem::take(heap).into_vec();
            timers.retain_mut(&mut change);
            *heap = BinaryHeap::from(timers);
        }
        self.recount();
    }

    /// Returns the number of timers that wait.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Adds the timers to a state hash, in the order in which they are due.
    pub fn write_state(&self, hash: &mut StateHash) {
        for (world, heap) in &self.worlds {
            hash.write_f64(world.to_number());
            let mut timers: Vec<&FlowTimer> = heap.iter().collect();
            timers.sort_by(|a, b| b.cmp(a));
            for timer in timers {
                hash.write_f64(timer.time);
                hash.write_f64(timer.instance.to_number());
                hash.write_u64(u64::from(timer.node) << 32 | u64::from(timer.generation));
            }
        }
    }
}
