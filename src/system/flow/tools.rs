//! Breakpoints, single steps and the recording of events, for tools; the hash of the state.

use super::instance::InstanceId;
use super::runtime::{Flow, StoppedNode};
use super::trace::{FlowTrace, TRACES_MAX};
use engine_foundation::hash::StateHash;

impl Flow {
    /// Returns the node before which events stopped.
    pub fn stopped_node(&self) -> Option<StoppedNode> {
        let instance = self.task.instance.filter(|_| self.stopped)?;
        let program = &self.programs[self.instances.get(instance)?.program as usize].program;
        let frame = self.task.stack.last()?;
        let node = program.nodes[program.node(frame.node).info()].path.clone();
        Some(StoppedNode { instance, graph: program.name.clone(), node })
    }

    /// Returns the nodes of a graph with breakpoints; none if it does not run.
    pub fn breakpoints(&self, graph: &str) -> Vec<String> {
        let Some(index) = self.find_program(graph) else { return Vec::new() };
        let loaded = &self.programs[index as usize];
        let program = &loaded.program;
        let name = |offset: &u32| program.nodes[program.node(*offset).info()].path.clone();
        loaded.breakpoints.iter().map(name).collect()
    }

    /// Sets or removes a breakpoint; returns the nodes of the graph with breakpoints.
    ///
    /// # Errors
    /// Returns an error if the graph does not run, or has no such node.
    pub fn set_breakpoint(
        &mut self,
        graph: &str,
        node: &str,
        on: bool,
    ) -> Result<Vec<String>, String> {
        let index = self.find_program(graph).ok_or("the graph does not run in the game")?;
        let loaded = &mut self.programs[index as usize];
        let program = loaded.program.clone();
        let at = program
            .node_by_path(node)
            .ok_or_else(|| format!("the graph {graph} has no node '{node}'"))?;
        let offset = program.nodes[at].offset;
        loaded.breakpoints.retain(|known| *known != offset);
        if on {
            loaded.breakpoints.push(offset);
            loaded.breakpoints.sort_unstable();
        }
        Ok(self.breakpoints(graph))
    }

    /// Continues after a breakpoint: with one node, or until the next breakpoint.
    pub fn resume(&mut self, single_step: bool) {
        if self.stopped {
            self.stopped = false;
            self.task.passes_breakpoint = true;
        }
        self.single_step = single_step;
    }

    /// Records the events of an instance, and returns the record. `now` is in seconds.
    pub fn trace(&mut self, id: InstanceId, now: f64) -> Option<&FlowTrace> {
        let instance = self.instances.get(id)?;
        let nodes = self.programs[instance.program as usize].program.nodes.len();
        let known = self.traces.iter().position(|trace| trace.instance == id);
        let at = match known {
            Some(at) => at,
            None => {
                if self.traces.len() >= TRACES_MAX {
                    self.traces.remove(0);
                }
                self.traces.push(FlowTrace::new(id, nodes, now));
                self.traces.len() - 1
            }
        };
        let trace = &mut self.traces[at];
        if trace.counts.len() != nodes {
            *trace = FlowTrace::new(id, nodes, now);
        }
        trace.asked_at = now;
        Some(trace)
    }

    /// Ends the recordings for which no tool asked in the last seconds.
    pub fn end_old_traces(&mut self, now: f64, seconds: f64) {
        self.traces.retain(|trace| now - trace.asked_at <= seconds);
    }

    /// Adds all instances, events and timers to a state hash.
    pub fn write_state(&self, hash: &mut StateHash) {
        for (id, instance) in self.instances.iter() {
            hash.write_f64(id.to_number());
            hash.write_bytes(self.programs[instance.program as usize].program.name.as_bytes());
            instance.slots.iter().for_each(|slot| slot.write_state(&self.heap, hash));
        }
        hash.write_u64(self.queue.len() as u64);
        for event in &self.queue {
            hash.write_f64(event.instance.to_number());
            hash.write_u64(u64::from(event.node) << 32 | u64::from(event.output));
            hash.write_u64(event.mode as u64);
            let values = &event.values[..event.count as usize];
            values.iter().for_each(|value| value.write_state(&self.heap, hash));
        }
        let running = self.suspended.iter().map(|(task, _)| task).chain([&self.task]);
        running.for_each(|task| task.write_state(hash));
        hash.write_u64(self.callbacks.len() as u64);
        for event in &self.callbacks {
            hash.write_f64(event.owner.to_number());
            hash.write_bytes(event.name.as_bytes());
            event.value.write_state(&self.heap, hash);
        }
        self.timers.write_state(hash);
    }
}
