//! The state of Flow in a running game: loaded programs, instances, events that wait, and the event
//! that is running. Functions that only scripts can call are handed out as `RunState::Call`; the
//! caller stores the results and runs on.

use super::chains::EventChains;
use super::control::next_generation;
use super::failure::Failure;
use super::instance::{Instance, InstanceId, Instances};
use super::loaded::LoadedProgram;
use super::node_type::Catalogue;
use super::program::{EventKind, LEVEL_SLOT, Program, UNIT_SLOT, WORLD_SLOT};
use super::queries::{FlowHost, Machine};
use super::task::{self, Frame, NO_WIRE, Outcome, Request, RunMode, Surroundings, Task};
use super::timers::FlowTimers;
use super::trace::{EndedInstance, FlowTrace};
use super::value::{FlowHeap, Slot};
use engine_foundation::{Error, Handle, error, log};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Maximum number of events that wait.
pub const EVENTS_MAX: usize = 65_536;
/// Maximum number of values of an event.
pub const EVENT_VALUES_MAX: usize = 6;
/// Default of the maximum number of nodes that run for one event.
pub const NODES_PER_EVENT_MAX: u32 = 10_000;
/// Maximum number of nodes and queries that run between two updates: an event that sends itself
/// again and again continues in the next update.
pub const NODES_PER_UPDATE_MAX: u64 = 1_000_000;
/// Default of the maximum number of events that one graph gets in an update because of events
/// before them, from the fourth on. More are taken for a loop.
pub const EVENT_CHAIN_MAX: u32 = 1000;
/// Number of events that may follow from each other before they are counted.
pub(super) const EVENT_CHAIN_FREE: u32 = 4;
/// Maximum number of events that run inside of functions of other events.
pub const NESTED_EVENTS_MAX: usize = 16;
/// Maximum number of dynamic blocks that a program keeps for its next instances.
const POOLED_MAX: usize = 1024;

/// Unit or level of an instance, with its world.
#[derive(Clone, Copy, Debug)]
pub struct FlowOwner {
    pub unit: Option<Handle>,
    pub level: Option<Handle>,
    pub world: Handle,
}

/// An event for the scripts' callback.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowEvent {
    /// Unit or level.
    pub owner: Handle,
    pub name: String,
    pub value: Slot,
}

/// A function that the caller has to call.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowCall {
    /// A node type, by its index in the catalogue.
    Function(u32),
    /// The callback for events out of Flow.
    Callback(FlowEvent),
}

/// State after a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    /// No event waits.
    Idle,
    /// A function has to be called.
    Call(FlowCall),
    /// A breakpoint stopped the events.
    Stopped,
}

/// Node before which the events stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct StoppedNode {
    pub instance: InstanceId,
    pub graph: String,
    pub node: String,
}

/// An event that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingEvent {
    pub instance: InstanceId,
    pub node: u32,
    pub mode: RunMode,
    pub output: u32,
    /// Number of events of which it is a consequence.
    pub depth: u32,
    pub count: u8,
    pub values: [Slot; EVENT_VALUES_MAX],
}

/// Call that waits for its results.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum PendingCall {
    /// Offset of the node.
    Node(u32),
    Callback,
}

/// All graphs of a game.
pub struct Flow {
    pub catalogue: Catalogue,
    pub(super) programs: Vec<LoadedProgram>,
    pub(super) by_name: HashMap<String, u32>,
    pub(super) instances: Instances,
    pub(super) of_owner: HashMap<Handle, InstanceId>,
    pub heap: FlowHeap,
    pub(super) queue: VecDeque<WaitingEvent>,
    pub(super) task: Task,
    pub(super) pending: Option<PendingCall>,
    pub(super) suspended: Vec<(Task, Option<PendingCall>)>,
    /// Instances that each update of their world visits, in the order in which they became active.
    pub(super) active: Vec<InstanceId>,
    pub(super) timers: FlowTimers,
    /// Names of the input actions that graphs wait for, and the numbers of the change that they are
    /// of and of the last one.
    pub(super) actions: Vec<String>,
    pub(super) actions_known: u64,
    pub(super) actions_changes: u64,
    pub(super) requests: Vec<Request>,
    pub(super) callbacks: VecDeque<FlowEvent>,
    pub(super) traces: Vec<FlowTrace>,
    /// Maximum number of nodes that run for one event.
    pub nodes_max: u32,
    /// Maximum number of events that one graph gets in an update because of each other.
    pub chained_events_max: u32,
    /// Nodes and queries that ran since the last update.
    pub(super) nodes_run: u64,
    /// Events that followed from others.
    pub(super) chains: EventChains,
    /// Number of the current frame.
    pub(super) frame: u64,
    pub(super) stopped: bool,
    pub(super) single_step: bool,
    /// Number of events that failed.
    pub errors: u64,
    pub(super) last_error: String,
    /// Errors that are not in the log yet.
    pub(super) failures: Vec<Failure>,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow {
            catalogue: Catalogue::default(),
            programs: Vec::new(),
            by_name: HashMap::new(),
            instances: Instances::default(),
            of_owner: HashMap::new(),
            heap: FlowHeap::default(),
            queue: VecDeque::new(),
            task: Task::default(),
            pending: None,
            suspended: Vec::new(),
            active: Vec::new(),
            timers: FlowTimers::default(),
            actions: Vec::new(),
            actions_known: 0,
            actions_changes: 0,
            requests: Vec::new(),
            callbacks: VecDeque::new(),
            traces: Vec::new(),
            nodes_max: NODES_PER_EVENT_MAX,
            chained_events_max: EVENT_CHAIN_MAX,
            nodes_run: 0,
            chains: EventChains::default(),
            frame: 0,
            stopped: false,
            single_step: false,
            errors: 0,
            last_error: String::new(),
            failures: Vec::new(),
        }
    }
}

impl Flow {
    /// Adds a program, or replaces the program of the same name for new instances.
    pub fn add_program(&mut self, program: Program, native: &dyn Fn(&str) -> Option<u32>) -> u32 {
        let name = program.name.clone();
        let loaded = self.load(Arc::new(program), native);
        self.programs.push(loaded);
        let index = self.programs.len() as u32 - 1;
        self.by_name.insert(name, index);
        index
    }

    /// Returns the index of a loaded program.
    pub fn find_program(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Returns a loaded program.
    pub fn program(&self, index: u32) -> &Arc<Program> {
        &self.programs[index as usize].program
    }

    /// Returns the names and indices of the loaded programs, sorted by name.
    pub fn program_names(&self) -> Vec<(String, u32)> {
        let mut names: Vec<_> =
            self.by_name.iter().map(|(name, index)| (name.clone(), *index)).collect();
        names.sort();
        names
    }

    /// Creates an instance of a program for a unit or a level. No event is sent yet.
    ///
    /// # Errors
    /// Returns an error if `INSTANCES_MAX` exist.
    pub fn create(&mut self, index: u32, owner: FlowOwner) -> Result<InstanceId, Error> {
        let handle = owner.unit.or(owner.level).unwrap_or(owner.world);
        let loaded = &mut self.programs[index as usize];
        let mut slots = match loaded.pool.pop() {
            Some(mut slots) => {
                slots.copy_from_slice(&loaded.template);
                slots
            }
            None => loaded.template.clone(),
        };
        let owner_slot = |owner: Option<Handle>| owner.map_or(Slot::NIL, Slot::handle);
        slots[UNIT_SLOT as usize] = owner_slot(owner.unit);
        slots[LEVEL_SLOT as usize] = owner_slot(owner.level);
        slots[WORLD_SLOT as usize] = Slot::handle(owner.world);
        let active = loaded.visited;
        let instance = Instance { slots, owner: handle, program: index, playing: 0, active };
        let Some(id) = self.instances.add(instance) else {
            return Err(error!(
                "{} graphs already run (INSTANCES_MAX): destroy units with graphs first",
                super::instance::INSTANCES_MAX
            ));
        };
        let loaded = &mut self.programs[index as usize];
        loaded.instances += 1;
        self.actions_changes += u64::from(loaded.listens && loaded.instances == 1);
        if active {
            self.active.push(id);
        }
        self.of_owner.insert(handle, id);
        Ok(id)
    }

    /// Destroys an instance. Its delays and its events end.
    pub fn destroy(&mut self, id: InstanceId) {
        let Some(instance) = self.instances.remove(id) else { return };
        if let Some(trace) = self.traces.iter_mut().find(|trace| trace.instance == id) {
            let program = self.programs[instance.program as usize].program.clone();
            trace.ended = Some(EndedInstance { program, slots: instance.slots.clone() });
        }
        if self.of_owner.get(&instance.owner) == Some(&id) {
            self.of_owner.remove(&instance.owner);
        }
        // The next update removes it from the active instances.
        let loaded = &mut self.programs[instance.program as usize];
        loaded.instances -= 1;
        self.actions_changes += u64::from(loaded.listens && loaded.instances == 0);
        if loaded.pool.len() < POOLED_MAX && instance.slots.len() == loaded.template.len() {
            loaded.pool.push(instance.slots);
        }
    }

    /// Returns the instance of a unit or a level.
    pub fn instance_of(&self, owner: Handle) -> Option<InstanceId> {
        self.of_owner.get(&owner).copied()
    }

    /// Returns the owner and the program of an instance.
    pub fn instance(&self, id: InstanceId) -> Option<(Handle, u32)> {
        self.instances.get(id).map(|instance| (instance.owner, instance.program))
    }

    /// Returns the unit, the level and the world of an instance.
    pub fn owner(&self, id: InstanceId) -> Option<FlowOwner> {
        let slots = &self.instances.get(id)?.slots;
        Some(FlowOwner {
            unit: slots[UNIT_SLOT as usize].as_handle(),
            level: slots[LEVEL_SLOT as usize].as_handle(),
            world: slots[WORLD_SLOT as usize].as_handle()?,
        })
    }

    /// Returns the slots of an instance, to show them.
    pub fn slots(&self, id: InstanceId) -> &[Slot] {
        self.instances.get(id).map_or(&[], |instance| &instance.slots)
    }

    /// Returns the instances of a program, in the order of their slots.
    pub fn instances_of(&self, index: u32) -> Vec<InstanceId> {
        let of_program = self.instances.iter().filter(|(_, one)| one.program == index);
        of_program.map(|(id, _)| id).collect()
    }

    /// Returns the number of instances.
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// Returns the number of instances that updates visit.
    pub fn active_count(&self) -> usize {
        self.active.len()
    }

    /// Returns the number of delays and timers that wait.
    pub fn timer_count(&self) -> usize {
        self.timers.len()
    }

    /// Destroys the instances of a world, with their delays and timers.
    pub fn release_world(&mut self, world: Handle) {
        let in_world = self
            .instances
            .iter()
            .filter(|(_, instance)| instance.slots[WORLD_SLOT as usize].as_handle() == Some(world));
        let ids: Vec<InstanceId> = in_world.map(|(id, _)| id).collect();
        ids.into_iter().for_each(|id| self.destroy(id));
        self.timers.release_world(world);
    }

    /// Updates the list of active instances after their program has changed.
    pub(super) fn refresh_active(&mut self, changed: &[InstanceId]) {
        for id in changed {
            let Some(instance) = self.instances.get_mut(*id) else { continue };
            let visited = self.programs[instance.program as usize].visited;
            if (visited || instance.playing > 0) && !instance.active {
                instance.active = true;
                self.active.push(*id);
            }
        }
        self.retire_finished();
    }

    /// Returns true if no event is running.
    pub fn is_idle(&self) -> bool {
        self.task.instance.is_none() && self.suspended.is_empty() && self.pending.is_none()
    }

    /// Makes room for a text or a list of a script, if no event runs. `kept` are values that the
    /// script has stored for its next call.
    ///
    /// # Errors
    /// Returns an error if there is no room.
    pub fn make_room(&mut self, kept: &[Slot]) -> Result<(), Error> {
        if self.heap.check_room().is_err() && self.queue.is_empty() && self.is_idle() {
            self.sweep(kept);
        }
        self.heap.check_room().map_err(Error::new)
    }

    /// Frees texts and lists that nothing uses, neither here nor in `kept`.
    pub(super) fn sweep(&mut self, kept: &[Slot]) {
        let programs = self.programs.iter();
        let shared = programs.flat_map(|loaded| loaded.constants.iter().chain(&loaded.template));
        let slots = self.instances.iter().flat_map(|(_, instance)| instance.slots.iter());
        let events = self.callbacks.iter().map(|event| &event.value);
        let ended = self.traces.iter().filter_map(|trace| trace.ended.as_ref());
        let ended = ended.flat_map(|ended| ended.slots.iter());
        self.heap.sweep(shared.chain(slots).chain(events).chain(ended).chain(kept));
    }

    /// Begins the next event that waits; false if none does.
    fn next_event(&mut self) -> bool {
        while let Some(event) = self.queue.pop_front() {
            let Some(instance) = self.instances.get_mut(event.instance) else { continue };
            let program = &self.programs[instance.program as usize].program;
            let node = program.node(event.node);
            let info = &program.nodes[node.info()];
            let (first, outputs) = (node.outputs(), info.outputs.len());
            if event.mode == RunMode::Fire && info.kind.starts_with("event.") {
                // Outputs without a value must not keep the one of an earlier event.
                let values = &event.values[..event.count as usize];
                for at in 0..outputs.min(EVENT_VALUES_MAX) {
                    let value = values.get(at).copied().unwrap_or(Slot::NIL);
                    instance.slots[first + at] = value;
                }
            }
            self.task.begin(event.instance);
            self.task.depth = event.depth;
            let (node, mode, input) = (event.node, event.mode, event.output);
            self.task.stack.push(Frame { node, mode, input, wire: NO_WIRE });
            return true;
        }
        false
    }

    /// Runs events until none waits, or a function has to be called.
    pub fn run(&mut self, host: &mut dyn FlowHost) -> RunState {
        loop {
            if !self.failures.is_empty() {
                self.report_failures(host);
            }
            self.report_dropped_events();
            if self.stopped {
                return RunState::Stopped;
            }
            if self.pending.is_some() {
                return RunState::Idle;
            }
            if let Some(event) = self.callbacks.pop_front() {
                self.pending = Some(PendingCall::Callback);
                return RunState::Call(FlowCall::Callback(event));
            }
            if self.timers.is_sweep_due() {
                self.sweep_timers();
            }
            if self.task.instance.is_none() && !(self.has_budget() && self.next_event()) {
                return RunState::Idle;
            }
            if let Some(call) = self.run_task(host) {
                return RunState::Call(call);
            }
        }
    }

    /// Returns false if events have to wait for the next update.
    fn has_budget(&mut self) -> bool {
        if self.nodes_run < NODES_PER_UPDATE_MAX {
            return true;
        }
        if let Some(event) = self.queue.front()
            && let Some(instance) = self.instances.get(event.instance)
        {
            let program = &self.programs[instance.program as usize].program;
            let info = &program.nodes[program.node(event.node).info()];
            let message = format!(
                "graph {}, node {}: {NODES_PER_UPDATE_MAX} nodes ran in one update \
                 (NODES_PER_UPDATE_MAX), and its events wait for the next one: does an event send \
                 itself?",
                program.name, info.path
            );
            log::warn("flow/budget", &message);
        }
        false
    }

    /// Runs the current event; returns a function that has to be called.
    fn run_task(&mut self, host: &mut dyn FlowHost) -> Option<FlowCall> {
        let id = self.task.instance?;
        let Some(instance) = self.instances.get_mut(id) else {
            // The graph destroyed its own unit.
            self.task.instance = None;
            return None;
        };
        let loaded = &self.programs[instance.program as usize];
        let mut machine = Machine {
            slots: &mut instance.slots,
            constants: &loaded.constants,
            heap: &mut self.heap,
            host,
        };
        let trace = match self.traces.is_empty() {
            true => None,
            false => self.traces.iter_mut().find(|trace| trace.instance == id),
        };
        let mut around = Surroundings {
            timers: &mut self.timers,
            trace,
            breakpoints: &loaded.breakpoints,
            single_step: self.single_step,
            nodes_max: self.nodes_max,
            frame: self.frame,
            natives: &loaded.natives,
            curves: &loaded.program.curves,
            requests: &mut self.requests,
            playing: &mut instance.playing,
        };
        let before = self.task.work;
        let outcome = task::run(&mut self.task, &loaded.program, &mut machine, &mut around);
        self.nodes_run += self.task.work - before;
        if instance.playing > 0 && !instance.active {
            instance.active = true;
            self.active.push(id);
        }
        match outcome {
            Outcome::Complete => self.task.instance = None,
            Outcome::Requests => self.apply_requests(id),
            Outcome::Stopped => self.stopped = true,
            Outcome::Failed(node, message) => self.fail_task(id, node, &message),
            Outcome::Call { node, function } => {
                self.pending = Some(PendingCall::Node(node));
                return Some(FlowCall::Function(loaded.functions[function as usize]));
            }
        }
        None
    }

    fn apply_requests(&mut self, id: InstanceId) {
        let requests = std::mem::take(&mut self.requests);
        let owner = self.instances.get(id).map(|instance| instance.owner);
        for request in &requests {
            match *request {
                Request::Send(to, name, value) => {
                    let target = to.as_handle().and_then(|to| self.instance_of(to));
                    if let Some(target) = target {
                        let sender = owner.map_or(Slot::NIL, Slot::handle);
                        let name = self.heap.text(name).to_string();
                        self.raise(target, EventKind::Custom, &name, &[value, sender], 0);
                    }
                }
                Request::Raise(name, value) => {
                    let name = self.heap.text(name).to_string();
                    match owner {
                        Some(owner) if self.callbacks.len() < EVENTS_MAX => {
                            self.callbacks.push_back(FlowEvent { owner, name, value });
                        }
                        Some(_) => self.warn_of_dropped_event(),
                        None => {}
                    }
                }
                Request::Print(value) => log::info(&value.describe(&self.heap)),
                Request::Stop => self.stop_timers(id),
            }
        }
        self.requests = requests;
        self.requests.clear();
    }

    /// Ends the delays and the timelines of an instance.
    fn stop_timers(&mut self, id: InstanceId) {
        let Some(instance) = self.instances.get_mut(id) else { return };
        let loaded = &self.programs[instance.program as usize];
        for node in &loaded.delays {
            let record = loaded.program.node(*node);
            next_generation(&mut instance.slots[record.outputs()]);
        }
        for node in &loaded.timelines {
            let record = loaded.program.node(*node);
            let outputs = loaded.program.nodes[record.info()].outputs.len();
            instance.slots[record.outputs() + outputs] = Slot::number(0.0);
        }
        instance.playing = 0;
    }

    /// Returns the text of the last error; empty if there was none.
    pub fn last_error(&self) -> &str {
        &self.last_error
    }
}
