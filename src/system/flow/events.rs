//! Events that start chains: those that the caller raises, and those of updates: delays, timers,
//! timelines, actions.

use super::instance::InstanceId;
use super::op::Op;
use super::program::{EventKind, Program, WORLD_SLOT};
use super::runtime::{EVENT_VALUES_MAX, EVENTS_MAX, Flow, NESTED_EVENTS_MAX, WaitingEvent};
use super::task::RunMode;
use super::value::Slot;
use engine_foundation::{Handle, log};
use std::collections::VecDeque;

/// Returns the slot of the state that cancels the timers of a node.
fn generation_slot(program: &Program, node: u32) -> usize {
    let record = program.node(node);
    record.outputs() + program.nodes[record.info()].outputs.len()
}

impl Flow {
    fn push(&mut self, event: WaitingEvent) {
        match self.queue.len() < EVENTS_MAX {
            true => self.queue.push_back(event),
            false => self.warn_of_dropped_event(),
        }
    }

    pub(super) fn warn_of_dropped_event(&self) {
        let message = format!("{EVENTS_MAX} events of graphs wait (EVENTS_MAX): one was dropped");
        log::warn("flow/events", &message);
    }

    /// Sends an event with at most `EVENT_VALUES_MAX` values to an instance. `output` is the output
    /// of the entry points that continues. Returns true if the graph has such an entry point.
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
        let count = values.len();
        array[..count].copy_from_slice(values);
        let mut taken = false;
        let depth = self.event_depth();
        for entry in program.entries(kind).iter().filter(|entry| entry.name == name) {
            taken = true;
            if !self.takes_event(id, kind, entry.node, depth) {
                continue;
            }
            self.push(WaitingEvent {
                instance: id,
                node: entry.node,
                mode: RunMode::Fire,
                output,
                depth,
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
            self.start_timer(id, entry.node);
        }
        self.raise(id, EventKind::Spawned, "", &[], 0);
    }

    /// Starts the timer of an entry point.
    pub(super) fn start_timer(&mut self, id: InstanceId, node: u32) {
        self.push(WaitingEvent {
            instance: id,
            node,
            mode: RunMode::Start,
            output: 0,
            depth: 0,
            count: 0,
            values: [Slot::NIL; EVENT_VALUES_MAX],
        });
    }

    /// Removes timers that were cancelled, or whose graphs have ended, if there are many.
    pub(super) fn sweep_timers(&mut self) {
        let Flow { timers, instances, programs, .. } = self;
        timers.sweep(|timer| {
            instances.get(timer.instance).is_some_and(|instance| {
                let program = &programs[instance.program as usize].program;
                instance.slots[generation_slot(program, timer.node)].as_number() as u32
                    == timer.generation
            })
        });
    }

    /// Sets the number of the current frame. A game that updates no world has a budget each frame.
    pub fn begin_frame(&mut self, frame: u64) {
        if self.frame != frame {
            self.frame = frame;
            self.nodes_run = 0;
        }
    }

    /// Queues the events of a world's update: delays and timers that are due, updates, and
    /// timelines. Instances that wait for none of these are not visited.
    pub fn update(&mut self, world: Handle, time: f64, dt: f64) {
        self.nodes_run = 0;
        self.chains.clear();
        if self.queue.is_empty() && self.is_idle() && self.heap.is_sweep_due() {
            self.sweep(&[]);
        }
        while let Some(timer) = self.timers.next_due(world, time) {
            let Some(instance) = self.instances.get_mut(timer.instance) else { continue };
            let program = &self.programs[instance.program as usize].program;
            let state = generation_slot(program, timer.node);
            if instance.slots[state].as_number() as u32 == timer.generation {
                if program.node(timer.node).op() == Op::Event {
                    // The next time of a timer counts from this one.
                    instance.slots[state + 1] = Slot::number(timer.time);
                }
                self.push(WaitingEvent {
                    instance: timer.instance,
                    node: timer.node,
                    mode: RunMode::Fire,
                    output: 0,
                    depth: 0,
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
                let (mode, depth, count) = (RunMode::Tick, 0, 0);
                let event =
                    WaitingEvent { instance: id, node, mode, output: 0, depth, count, values };
                self.push(event);
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

    /// Returns the names of the input actions that graphs wait for, sorted, and the number of their
    /// last change.
    pub fn action_names(&mut self) -> (&[String], u64) {
        if self.actions_known != self.actions_changes {
            self.actions_known = self.actions_changes;
            let running = self.programs.iter().filter(|loaded| loaded.instances > 0);
            let entries = running.flat_map(|loaded| loaded.program.entries(EventKind::Input));
            self.actions = entries.map(|entry| entry.name.clone()).collect();
            self.actions.sort();
            self.actions.dedup();
        }
        (&self.actions, self.actions_changes)
    }

    /// Returns the nodes of running graphs that wait for an action: names of graphs, and the ids
    /// of nodes, `n8/n3` in subgraphs.
    pub fn nodes_of_action(&self, action: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for loaded in self.programs.iter().filter(|loaded| loaded.instances > 0) {
            let program = &loaded.program;
            let entries = program.entries(EventKind::Input).iter();
            for entry in entries.filter(|entry| entry.name == action) {
                let node = &program.nodes[program.node(entry.node).info()];
                found.push((program.name.clone(), node.path.clone()));
            }
        }
        found
    }

    /// Returns the number of the last change of the input actions that graphs wait for; 0 if no
    /// graph has ever waited for one.
    pub fn actions_changes(&self) -> u64 {
        self.actions_changes
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
            let message = format!(
                "graphs destroy units inside of {NESTED_EVENTS_MAX} others that end \
                 (NESTED_EVENTS_MAX): one of them ended without its event.destroyed"
            );
            log::warn("flow/nested", &message);
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
