//! The work queue: tasks that are ready but not started, as linked lists in the records. The
//! highest priority comes first, then the task that became ready first. Knows nothing about
//! completion.

use super::PRIORITY_MAX;
use super::task::{AFFINITIES, NONE, TaskRecord, ThreadAffinity};

/// Number of queue levels, two for each priority. Tasks of a nested graph precede others of the
/// same priority, because a running task waits for them.
const LEVELS: usize = 2 * (PRIORITY_MAX as usize + 1);
const _: () = assert!(LEVELS <= u64::BITS as usize);

#[derive(Clone, Copy)]
struct TaskList {
    first: u32,
    last: u32,
}

#[derive(Clone)]
pub(super) struct ReadyQueue {
    lists: [[TaskList; LEVELS]; AFFINITIES],
    /// Bit set of the levels that are not empty, by affinity.
    filled: [u64; AFFINITIES],
    pushed: u64,
}

impl ReadyQueue {
    pub fn new() -> ReadyQueue {
        let none = TaskList { first: NONE, last: NONE };
        ReadyQueue { lists: [[none; LEVELS]; AFFINITIES], filled: [0; AFFINITIES], pushed: 0 }
    }

    pub fn push(&mut self, records: &mut [TaskRecord], slot: u32) {
        let record = &mut records[slot as usize];
        (record.next, record.ready_at) = (NONE, self.pushed);
        self.pushed += 1;
        let level = 2 * record.priority as usize + usize::from(record.nested);
        let affinity = record.affinity as usize;
        let list = &mut self.lists[affinity][level];
        if list.first == NONE {
            list.first = slot;
            self.filled[affinity] |= 1 << level;
        } else {
            records[list.last as usize].next = slot;
        }
        list.last = slot;
    }

    /// Removes and returns the first task whose affinity is in `mask`, of one graph or of all
    /// graphs (`NONE`).
    pub fn take(&mut self, records: &mut [TaskRecord], mask: u8, graph: u32) -> Option<u32> {
        let mut best: Option<QueueSlot> = None;
        for affinity in ThreadAffinity::ALL {
            if mask & affinity.bit() != 0
                && let Some(found) = self.find(records, affinity as usize, graph)
                && best.as_ref().is_none_or(|best| found.precedes(best, records))
            {
                best = Some(found);
            }
        }
        let QueueSlot { affinity, level, slot, previous } = best?;
        let next = records[slot as usize].next;
        let list = &mut self.lists[affinity][level];
        if previous == NONE {
            list.first = next;
        } else {
            records[previous as usize].next = next;
        }
        if list.last == slot {
            list.last = previous;
        }
        if list.first == NONE {
            self.filled[affinity] &= !(1 << level);
        }
        Some(slot)
    }

    fn find(&self, records: &[TaskRecord], affinity: usize, graph: u32) -> Option<QueueSlot> {
        let mut filled = self.filled[affinity];
        while filled != 0 {
            let level = filled.ilog2() as usize;
            filled &= !(1 << level);
            let (mut slot, mut previous) = (self.lists[affinity][level].first, NONE);
            while slot != NONE {
                let record = &records[slot as usize];
                if graph == NONE || record.graph == graph {
                    return Some(QueueSlot { affinity, level, slot, previous });
                }
                (previous, slot) = (slot, record.next);
            }
        }
        None
    }

    /// Appends all queued tasks to `slots`.
    pub fn list_into(&self, records: &[TaskRecord], slots: &mut Vec<u32>) {
        for (lists, filled) in self.lists.iter().zip(self.filled) {
            for level in super::scheduler::set_bits(filled) {
                let mut slot = lists[level as usize].first;
                while slot != NONE {
                    slots.push(slot);
                    slot = records[slot as usize].next;
                }
            }
        }
    }
}

/// The position of a task in the queue.
struct QueueSlot {
    affinity: usize,
    level: usize,
    slot: u32,
    previous: u32,
}

impl QueueSlot {
    fn precedes(&self, other: &QueueSlot, records: &[TaskRecord]) -> bool {
        let ready_at = |found: &QueueSlot| records[found.slot as usize].ready_at;
        (other.level, ready_at(self)) < (self.level, ready_at(other))
    }
}
