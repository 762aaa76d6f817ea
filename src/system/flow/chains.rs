//! Events that follow from other events in one update: a graph that sends an event to itself, at
//! once or through a script, and a unit that spawns itself, end with an error that names the loop.

use super::instance::InstanceId;
use super::program::EventKind;
use super::runtime::{EVENT_CHAIN_FREE, Flow, PendingCall};
use engine_foundation::log;
use std::collections::HashMap;

/// Number of frames between two warnings of dropped events.
const WARNING_FRAMES: u64 = 300;

/// Receiver of events that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Receiver {
    Instance(InstanceId),
    /// All instances of a program: each new unit gets one event.
    Program(u32),
}

/// Numbers of events that followed from others in the current update.
#[derive(Default)]
pub(super) struct EventChains {
    frame: u64,
    counts: HashMap<Receiver, u32>,
    /// Dropped events that no warning has counted yet, and the receiver of the last one.
    dropped: u64,
    last_dropped: String,
    /// First frame in which the next warning may be logged.
    warning_frame: u64,
}

impl EventChains {
    /// Sets all counts to 0.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Counts an event; returns the number of those that the receiver got.
    fn count(&mut self, frame: u64, receiver: Receiver) -> u32 {
        if self.frame != frame {
            self.frame = frame;
            self.counts.clear();
        }
        let count = self.counts.entry(receiver).or_default();
        *count = count.saturating_add(1);
        *count
    }
}

impl Flow {
    /// Returns the length of the chain of events that has led to an event that is sent now.
    pub(super) fn event_depth(&self) -> u32 {
        match (self.task.instance, self.suspended.last()) {
            (Some(_), _) => self.task.depth.saturating_add(1),
            (None, Some((task, _))) => task.depth.saturating_add(1),
            (None, None) => 0,
        }
    }

    /// Returns false if an event must be dropped, because its graph got too many that followed from
    /// each other. `node` is the offset of the node that gets it.
    pub(super) fn takes_event(
        &mut self,
        id: InstanceId,
        kind: EventKind,
        node: u32,
        depth: u32,
    ) -> bool {
        if depth < EVENT_CHAIN_FREE {
            return true;
        }
        let Some(program) = self.instances.get(id).map(|instance| instance.program) else {
            return false;
        };
        let receiver = match kind {
            EventKind::Custom => Receiver::Instance(id),
            EventKind::Spawned => Receiver::Program(program),
            _ => return true,
        };
        let count = self.chains.count(self.frame, receiver);
        if count <= self.chained_events_max {
            return true;
        }
        if count == self.chained_events_max + 1 {
            let message = self.chain_message(kind);
            self.note_failure(id, node, &message);
            let program = &self.programs[program as usize].program;
            let path = &program.nodes[program.node(node).info()].path;
            self.chains.last_dropped = format!("graph {}, node {path}", program.name);
        }
        self.chains.dropped += 1;
        false
    }

    /// Warns of the events that were dropped, now and then: the error of a node is logged once.
    pub(super) fn report_dropped_events(&mut self) {
        let (frame, chains) = (self.frame, &mut self.chains);
        if chains.dropped == 0 || chains.frame == frame || frame < chains.warning_frame {
            return;
        }
        log::warning(&format!(
            "{}: {} events were dropped, because it got more than {} in one update (limits.\
             flow_events in settings.sjson)",
            chains.last_dropped, chains.dropped, self.chained_events_max
        ));
        chains.dropped = 0;
        chains.warning_frame = frame + WARNING_FRAMES;
    }

    #[cold]
    fn chain_message(&self, kind: EventKind) -> String {
        let (events, question) = match kind {
            EventKind::Spawned => ("units with this graph were spawned", "does it spawn itself?"),
            _ => ("events came", "does it send itself?"),
        };
        let task = match self.task.instance {
            Some(_) => Some(&self.task),
            None => self.suspended.last().map(|(task, _)| task),
        };
        let sender = task.and_then(|task| {
            let instance = self.instances.get(task.instance?)?;
            let program = &self.programs[instance.program as usize].program;
            let by_script = match self.pending {
                Some(PendingCall::Callback) => " from on_flow_event,",
                _ => "",
            };
            let wires = task.wire_names(program);
            Some(format!(
                " The last one came{by_script} after the wires {wires} of {}",
                program.name
            ))
        });
        format!(
            "{} {events} in one update because of each other, which is the limit \
             (limits.flow_events in settings.sjson), and further ones are dropped: {question}{}",
            self.chained_events_max,
            sender.unwrap_or_default()
        )
    }
}
