//! The answer to a tool that watches an instance: its newest events, and the counts and values
//! that changed.

use super::instance::InstanceId;
use super::program::Program;
use super::runtime::Flow;
use super::trace::{FlowTrace, TraceEvent};
use super::value::{FlowHeap, Slot, Tag};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::collections::HashMap;

/// The part of an instance that a tool knows already.
#[derive(Clone, Copy, Default, Debug)]
pub struct LiveKnown {
    /// Number of the newest event.
    pub event: u64,
    /// Revision of the values; 0 for none.
    pub values: u64,
}

impl Flow {
    /// Returns what happened in an instance since a tool asked: `sequence`, `lost`, `wires`,
    /// `events` (number, frame, index of the wire), `counts`, `revision`, `values`, and the last
    /// `problem`. The first question begins the recording; after the end of the instance, `ended`
    /// is true. `now` is in seconds.
    pub fn live(
        &mut self,
        id: InstanceId,
        known: LiveKnown,
        now: f64,
    ) -> Option<Vec<(String, SjsonTree)>> {
        if !self.is_recorded(id) {
            self.trace(id, now)?;
        }
        let trace = self.traces.iter_mut().find(|trace| trace.instance == id)?;
        trace.asked_at = now;
        let ended = trace.ended.take();
        let (program, slots) = match (&ended, self.instances.get(id)) {
            (Some(ended), _) => (&ended.program, &ended.slots),
            (None, instance) => {
                let instance = instance?;
                (&self.programs[instance.program as usize].program, &instance.slots)
            }
        };
        // A later event is one of a recording before this one.
        let after = if known.event > trace.sequence { 0 } else { known.event };
        let oldest = trace.events.front().map_or(trace.sequence + 1, |event| event.sequence);
        let lost = oldest.saturating_sub(after + 1);
        let (wires, events) = events_tree(program, trace, after);
        let values = values_tree(program, trace, slots, &self.heap, known.values);
        trace.revision += 1;
        let mut entries = vec![
            ("sequence", json::count(trace.sequence as usize)),
            ("lost", json::count(lost as usize)),
            ("wires", wires),
            ("events", events),
            ("counts", counts_tree(program, trace, after)),
            ("revision", json::count(trace.revision as usize)),
            ("values", values),
            ("ended", SjsonTree::Bool(ended.is_some())),
        ];
        trace.ended = ended;
        if !trace.problem.is_empty() {
            entries.push(("problem", json::text(&trace.problem)));
        }
        Some(entries.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }

    /// Returns true if an instance has ended, and its recording is still there.
    pub fn is_recorded(&self, id: InstanceId) -> bool {
        self.traces.iter().any(|trace| trace.instance == id && trace.ended.is_some())
    }
}

/// Returns the ends of a wire: node, pin, node, pin. Events from outside have no wire.
fn wire_tree(program: &Program, event: &TraceEvent) -> SjsonTree {
    let node = &program.nodes[event.node as usize].path;
    json::texts(match program.wires.get(event.wire as usize) {
        Some(wire) => {
            let from = &program.nodes[wire.from as usize].path;
            [from.as_str(), wire.from_pin.as_str(), node.as_str(), wire.to_pin.as_str()]
        }
        None => ["", "", node.as_str(), ""],
    })
}

/// Returns the wires of the events after a number, each once, and these events.
fn events_tree(program: &Program, trace: &FlowTrace, after: u64) -> (SjsonTree, SjsonTree) {
    let mut wires = Vec::new();
    let mut known = HashMap::new();
    let first = trace.events.partition_point(|event| event.sequence <= after);
    let events = trace.events.range(first..).map(|event| {
        let wire = *known.entry((event.node, event.wire)).or_insert_with(|| {
            wires.push(wire_tree(program, event));
            wires.len() - 1
        });
        json::numbers([event.sequence as f64, event.frame as f64, wire as f64])
    });
    let events = events.collect();
    (SjsonTree::Array(wires), SjsonTree::Array(events))
}

/// Returns how often the nodes ran, for those that ran after an event.
fn counts_tree(program: &Program, trace: &FlowTrace, after: u64) -> SjsonTree {
    let nodes = program.nodes.iter().enumerate().filter(|(_, node)| !node.hidden);
    let ran = nodes.filter(|(at, _)| trace.last[*at] > after);
    SjsonTree::Object(
        ran.map(|(at, node)| (node.path.clone(), json::count(trace.counts[at] as usize))).collect(),
    )
}

/// Returns the values of data outputs and of variables: those that changed since a revision, if it
/// is the last one, and otherwise all.
fn values_tree(
    program: &Program,
    trace: &mut FlowTrace,
    slots: &[Slot],
    heap: &FlowHeap,
    known: u64,
) -> SjsonTree {
    let is_known = known == trace.revision && trace.shown.len() == slots.len();
    let shown = &trace.shown;
    let is_new = |at: usize| {
        // Texts and lists can change behind an equal reference.
        !is_known || shown[at] != slots[at] || matches!(slots[at].tag, Tag::Text | Tag::List)
    };
    let value = |at: usize| json::text(slots[at].describe(heap));
    let mut found = Vec::new();
    for node in program.nodes.iter().filter(|node| !node.hidden) {
        let first = program.node(node.offset).outputs();
        for (at, (name, _)) in node.outputs.iter().enumerate().filter(|(at, _)| is_new(first + at))
        {
            found.push((format!("{}.{name}", node.path), value(first + at)));
        }
    }
    for variable in program.variables.iter().filter(|one| is_new(one.slot as usize)) {
        found.push((format!("variable {}", variable.name), value(variable.slot as usize)));
    }
    trace.shown.clear();
    trace.shown.extend_from_slice(slots);
    SjsonTree::Object(found)
}
