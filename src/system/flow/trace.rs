//! Recording of the events of one instance, for tools: the last events, and how often each node
//! ran. Nothing is recorded while no tool asks.

use super::instance::InstanceId;
use super::program::Program;
use super::task::NO_WIRE;
use super::value::Slot;
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of events that are kept.
pub const TRACE_EVENTS_MAX: usize = 1000;
/// Maximum number of instances that are recorded at one time.
pub const TRACES_MAX: usize = 16;

/// An event that arrived at a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TraceEvent {
    pub sequence: u64,
    pub frame: u64,
    /// Index of the node.
    pub node: u32,
    /// Index of the wire; `NO_WIRE` if the event came from outside.
    pub wire: u32,
    /// Event input, or the output of an entry point.
    pub input: u32,
}

/// The last state of an instance that has ended.
#[derive(Debug)]
pub struct EndedInstance {
    pub program: Arc<Program>,
    pub slots: Box<[Slot]>,
}

/// The recorded events of an instance.
#[derive(Debug)]
pub struct FlowTrace {
    pub instance: InstanceId,
    pub events: VecDeque<TraceEvent>,
    /// By node.
    pub counts: Vec<u32>,
    /// Number of the last event, by node.
    pub last: Vec<u64>,
    pub sequence: u64,
    /// Error of the last event that failed; empty for none.
    pub problem: String,
    /// Seconds of real time at the last question of a tool.
    pub asked_at: f64,
    /// The values in the last answer to a tool.
    pub shown: Vec<Slot>,
    /// Number of that answer, which no earlier recording had.
    pub revision: u64,
    /// Set when the instance has ended, so that tools still get its last events and values.
    pub ended: Option<EndedInstance>,
}

impl FlowTrace {
    /// Begins a recording at a time in seconds.
    pub fn new(instance: InstanceId, nodes: usize, now: f64) -> FlowTrace {
        FlowTrace {
            instance,
            events: VecDeque::with_capacity(TRACE_EVENTS_MAX),
            counts: vec![0; nodes],
            last: vec![0; nodes],
            sequence: 0,
            problem: String::new(),
            asked_at: now,
            shown: Vec::new(),
            revision: (now * 1e6) as u64,
            ended: None,
        }
    }

    /// Records that a node runs.
    pub fn record(&mut self, frame: u64, node: u32, wire: u32, input: u32) {
        self.sequence += 1;
        self.counts[node as usize] += 1;
        self.last[node as usize] = self.sequence;
        if self.events.len() >= TRACE_EVENTS_MAX {
            self.events.pop_front();
        }
        let sequence = self.sequence;
        self.events.push_back(TraceEvent { sequence, frame, node, wire, input });
    }
}

impl TraceEvent {
    /// Returns true if the event came from another node.
    pub fn has_wire(&self) -> bool {
        self.wire != NO_WIRE
    }
}
