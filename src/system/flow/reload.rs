//! Hot reload of graphs: instances continue with the new program, and keep the state of each node
//! and variable that still exists. The rest is reported.

use super::instance::InstanceId;
use super::program::{EventKind, OWNER_SLOTS, Program};
use super::runtime::Flow;
use super::task::{NO_FUNCTION, Task};
use super::trace::FlowTrace;
use super::value::Slot;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Positions of the state of a program in another one.
struct StateMap {
    /// Ranges of slots: from, to, count.
    ranges: Vec<(usize, usize, usize)>,
    /// Offsets of nodes.
    nodes: HashMap<u32, u32>,
    /// Nodes and variables whose state is dropped.
    dropped: Vec<String>,
}

fn state_map(from: &Program, to: &Program) -> StateMap {
    let mut map = StateMap {
        ranges: vec![(0, 0, OWNER_SLOTS as usize)],
        nodes: HashMap::new(),
        dropped: Vec::new(),
    };
    for variable in &from.variables {
        match to.variable(&variable.name).filter(|known| known.kind == variable.kind) {
            Some(known) => map.ranges.push((variable.slot as usize, known.slot as usize, 1)),
            None => map.dropped.push(format!("variable {}", variable.name)),
        }
    }
    let by_path: HashMap<&str, usize> = to
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| !node.hidden)
        .map(|(at, node)| (node.path.as_str(), at))
        .collect();
    for node in from.nodes.iter().filter(|node| !node.hidden) {
        let same = by_path.get(node.path.as_str()).map(|at| &to.nodes[*at]);
        let same = same.filter(|known| known.kind == node.kind && known.outputs == node.outputs);
        let has_state = node.state > 0 || !node.outputs.is_empty();
        match same {
            Some(known) => {
                let count = node.outputs.len() + node.state.min(known.state) as usize;
                let (first, next) =
                    (from.node(node.offset).outputs(), to.node(known.offset).outputs());
                map.ranges.push((first, next, count));
                map.nodes.insert(node.offset, known.offset);
            }
            None if has_state => map.dropped.push(format!("node {} ({})", node.path, node.kind)),
            None => {}
        }
    }
    map
}

impl Flow {
    /// Returns the indices in the catalogue of a program's functions; `NO_FUNCTION` for those that
    /// do not exist.
    pub(super) fn function_indices(&self, program: &Program) -> Box<[u32]> {
        let index = |name: &String| self.catalogue.index_of(name);
        let indices = program.functions.iter().map(index);
        indices.map(|at| at.map_or(NO_FUNCTION, |at| at as u32)).collect()
    }

    /// Looks up the functions of all programs again, because node types were removed or added: a
    /// program that cannot be compiled again continues with the functions that still exist.
    pub fn relink_functions(&mut self) {
        for at in 0..self.programs.len() {
            self.programs[at].functions = self.function_indices(&self.programs[at].program);
        }
    }

    /// Replaces a program: its instances continue with the new one. Returns the nodes and variables
    /// whose state was dropped. An event that is running in one of the instances ends.
    pub fn replace_program(
        &mut self,
        index: u32,
        program: Program,
        native: &dyn Fn(&str) -> Option<u32>,
    ) -> Vec<String> {
        let old = self.program(index).clone();
        let map = state_map(&old, &program);
        let mut loaded = self.load(Arc::new(program), native);
        let instances: Vec<InstanceId> = self.instances_of(index);
        loaded.instances = instances.len();
        let nodes = self.programs[index as usize].breakpoints.iter();
        loaded.breakpoints = nodes.filter_map(|node| map.nodes.get(node).copied()).collect();
        for id in &instances {
            let mut slots = loaded.template.clone();
            let instance = self.instances.get_mut(*id).expect("it is in the list");
            for (from, to, count) in &map.ranges {
                slots[*to..to + count].copy_from_slice(&instance.slots[*from..from + count]);
            }
            instance.slots = slots;
            let direction = |node: &u32| {
                let record = loaded.program.node(*node);
                record.outputs() + loaded.program.nodes[record.info()].outputs.len()
            };
            let playing = loaded.timelines.iter().map(direction);
            let slots = &instance.slots;
            instance.playing = playing
                .filter(|slot| slots[*slot] != Slot::NIL && slots[*slot].as_number() != 0.0)
                .count() as u32;
        }
        self.actions_changes += u64::from(loaded.listens || self.programs[index as usize].listens);
        self.programs[index as usize] = loaded;
        self.forget_failures(index);
        self.refresh_active(&instances);
        self.move_events(index, &instances, &map);
        map.dropped
    }

    /// Moves the events, delays and timers of instances to the nodes of their new program. Those of
    /// nodes that do not exist any more end, and timers that are new start.
    fn move_events(&mut self, index: u32, instances: &[InstanceId], map: &StateMap) {
        let changed: HashSet<InstanceId> = instances.iter().copied().collect();
        if self.task.instance.is_some_and(|id| changed.contains(&id)) {
            self.task = Task::default();
            self.pending = None;
            self.stopped = false;
        }
        let moved = |instance: InstanceId, node: &mut u32| {
            if !changed.contains(&instance) {
                return true;
            }
            let next = map.nodes.get(node).copied();
            *node = next.unwrap_or(*node);
            next.is_some()
        };
        self.queue.retain_mut(|event| moved(event.instance, &mut event.node));
        self.timers.retain(|timer| moved(timer.instance, &mut timer.node));
        let known: HashSet<u32> = map.nodes.values().copied().collect();
        let program = self.program(index).clone();
        // Nothing that follows the reload is lost, also if no tool asks between.
        for trace in self.traces.iter_mut().filter(|trace| changed.contains(&trace.instance)) {
            *trace = FlowTrace::new(trace.instance, program.nodes.len(), trace.asked_at);
        }
        let timers = program.entries(EventKind::Timer).iter().map(|entry| entry.node);
        for node in timers.filter(|node| !known.contains(node)) {
            instances.iter().for_each(|id| self.start_timer(*id, node));
        }
    }
}
