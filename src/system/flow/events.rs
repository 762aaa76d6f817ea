//! Events that start chains: those that the caller raises, and those of updates: delays, timers,
//! timelines, actions.

use super::instance::InstanceId;
use super::program::{EventKind, WORLD_SLOT};
use super::runtime::{EVENT_VALUES_MAX, EVENTS_MAX, Flow, NESTED_EVENTS_MAX, WaitingEvent};
use super::task::RunMode;
use super::value::Slot;
use engine_foundation::{Handle, log};
use std::collections::VecDeque;

impl Flow {
    fn push(&mut self, event: WaitingEvent) {
        if self.queue.len() >= EVENTS_MAX {
            let message =
                format!("{EVENTS_MAX} events of graphs wait (EVENTS_MAX): one was dropped");
            log::warn("flow/events", &message);
            return;
        }
        self.queue.push_back(event);
    }

    /// Sends an event to an instance. `output` is the output of the entry points that continues.
    /// Returns true if the graph has such an entry point.
    pub fn raise(
        &mut self,
        id: InstanceId,
        kind: EventKind,
        name: &str,
        values: &[Slot],
        output: u32,
    ) -> bool {
        let Some(instance) = self.instances.get(id) else { return false };
        let program = self.programs[instance.program as usize].program.clone();
        let mut array = [Slot::NIL; EVENT_VALUES_MAX];
        let count = values.len().min(EVENT_VALUES_MAX);
        array[..count].copy_from_slice(&values[..count]);
        let mut taken = false;
        for entry in program.entries(kind).iter().filter(|entry| entry.name == name) {
            taken = true;
            self.push(WaitingEvent {
                instance: id,
                node: entry.node,
                mode: RunMode::Fire,
                output,
                count: count as u8,
                values: array,
            });
        }
        taken
    }

    /// Returns true if a graph receives a kind of events.
    pub fn receives(&self, id: InstanceId, kind: EventKind, name: Option<&str>) -> bool {
        let Some(instance) = self.instances.get(id) else { return false };
        let entries = self.programs[instance.program as usize].program.entries(kind);
        entries.iter().any(|entry| name.is_none_or(|name| entry.name == name))
    }

    /// Starts an instance: its timers, and the event `spawned`.
    pub fn start(&mut self, id: InstanceId) {
        let Some(instance) = self.instances.get(id) else { return };
        let program = self.programs[instance.program as usize].program.clone();
        for entry in program.entries(EventKind::Timer) {
            self.push(WaitingEvent {
                instance: id,
                node: entry.node,
                mode: RunMode::Start,
                output: 0,
                count: 0,
                values: [Slot::NIL; EVENT_VALUES_MAX],
            });
        }
        self.raise(id, EventKind::Spawned, "", &[], 0);
    }

    /// Queues the events of a world's update: delays and timers that are due, updates, and
    /// timelines. Instances that wait for none of these are not visited.
    pub fn update(&mut self, world: Handle, time: f64, dt: f64) {
        self.nodes_run = 0;
        if self.queue.is_empty() && self.is_idle() && self.heap.is_sweep_due() {
            self.sweep(&[]);
        }
        while let Some(timer) = self.timers.next_due(world, time) {
            let Some(instance) = self.instances.get(timer.instance) else { continue };
            let loaded = &self.programs[instance.program as usize];
            let node = loaded.program.node(timer.node);
            let state = loaded.program.nodes[node.info()].outputs.len();
            let generation = instance.slots[node.outputs() + state].as_number() as u32;
            if generation == timer.generation {
                self.push(WaitingEvent {
                    instance: timer.instance,
                    node: timer.node,
                    mode: RunMode::Fire,
                    output: 0,
                    count: 0,
                    values: [Slot::NIL; EVENT_VALUES_MAX],
                });
            }
        }
        for at in 0..self.active.len() {
            let id = self.active[at];
            let Some(instance) = self.instances.get(id) else { continue };
            if instance.slots[WORLD_SLOT as usize].as_handle() == Some(world) {
                self.update_instance(id, dt);
            }
        }
        self.retire_finished();
    }

    fn update_instance(&mut self, id: InstanceId, dt: f64) {
        let instance = self.instances.get(id).expect("the caller found it");
        let index = instance.program as usize;
        let (playing, program) = (instance.playing, self.programs[index].program.clone());
        self.raise(id, EventKind::Update, "", &[Slot::number(dt)], 0);
        if playing == 0 {
            return;
        }
        for at in 0..self.programs[index].timelines.len() {
            let node = self.programs[index].timelines[at];
            let record = program.node(node);
            let outputs = program.nodes[record.info()].outputs.len();
            let slots = &mut self.instances.get_mut(id).expect("it is there").slots;
            let direction = record.outputs() + outputs;
            if slots[direction].as_number() != 0.0 {
                slots[direction + 1] = Slot::number(dt);
                let values = [Slot::NIL; EVENT_VALUES_MAX];
                let (mode, count) = (RunMode::Tick, 0);
                self.push(WaitingEvent { instance: id, node, mode, output: 0, count, values });
            }
        }
    }

    /// Removes instances from the active ones whose timelines have ended.
    pub(super) fn retire_finished(&mut self) {
        let (instances, programs) = (&mut self.instances, &self.programs);
        self.active.retain(|id| {
            let Some(instance) = instances.get_mut(*id) else { return false };
            let keep = instance.playing > 0 || programs[instance.program as usize].visited;
            instance.active = keep;
            keep
        });
    }

    /// Returns the names of the input actions that graphs in a world wait for, sorted.
    pub fn action_names(&self, world: Handle) -> Vec<String> {
        let in_world = self
            .active
            .iter()
            .filter_map(|id| self.instances.get(*id))
            .filter(|one| one.slots[WORLD_SLOT as usize].as_handle() == Some(world));
        let programs = in_world.map(|one| &self.programs[one.program as usize].program);
        let entries = programs.flat_map(|program| program.entries(EventKind::Input));
        let mut names: Vec<String> = entries.map(|entry| entry.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Sends the change of an input action to the graphs of a world.
    pub fn raise_action(&mut self, world: Handle, name: &str, pressed: bool) {
        for at in 0..self.active.len() {
            let id = self.active[at];
            let Some(instance) = self.instances.get(id) else { continue };
            if instance.slots[WORLD_SLOT as usize].as_handle() == Some(world) {
                self.raise(id, EventKind::Input, name, &[], u32::from(!pressed));
            }
        }
    }

    /// Begins events inside of a function that is being called: the destroyed unit of a graph gets
    /// its last event before it ends. Returns false if too many are inside of each other.
    pub fn begin_nested(&mut self) -> bool {
        if self.suspended.len() >= NESTED_EVENTS_MAX {
            return false;
        }
        let task = std::mem::take(&mut self.task);
        self.suspended.push((task, self.pending.take()));
        true
    }

    /// Ends nested events: the function that was being called continues.
    pub fn end_nested(&mut self) {
        if let Some((task, pending)) = self.suspended.pop() {
            self.task = task;
            self.pending = pending;
            // An event that stopped at a breakpoint inside of the function is lost.
            self.stopped = false;
        }
    }

    /// Moves the events that wait for an instance to the front.
    pub fn hurry(&mut self, id: InstanceId) {
        let (mut first, mut rest) = (VecDeque::new(), VecDeque::new());
        for event in self.queue.drain(..) {
            if event.instance == id { first.push_back(event) } else { rest.push_back(event) }
        }
        first.extend(rest);
        self.queue = first;
    }

    /// Ends calls that did not return, after an error that ended the scripts of the frame.
    pub fn recover(&mut self) {
        while self.pending.is_some() || !self.suspended.is_empty() {
            self.fail_call("the function did not return");
            self.end_nested();
        }
    }
}
