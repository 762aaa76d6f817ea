//! The interpreter: one event with everything that follows from it, as a stack of nodes that still
//! have to run. It uses no native recursion, so it can stop before any node, and continue later.

use super::control;
use super::instance::InstanceId;
use super::op::Op;
use super::pins::CurvePoints;
use super::program::{NodeRecord, Program};
use super::queries::{CallResult, Machine};
use super::timers::FlowTimers;
use super::trace::FlowTrace;
use super::value::Slot;
use engine_foundation::hash::StateHash;

/// Maximum number of nodes that wait on the stack of one event.
pub const STACK_MAX: usize = 65_536;
/// Number of queries that an event may evaluate for each node of its limit.
const QUERIES_PER_NODE: u64 = 32;
/// Number of wires that the error of an endless event names.
const WIRES_KEPT: usize = 8;

/// Reason for which a node runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RunMode {
    /// An event arrived at an input.
    Input,
    /// An entry point starts a chain at its output.
    Fire,
    /// A timer begins.
    Start,
    /// A loop continues.
    Continue,
    /// A timeline advances.
    Tick,
}

/// A node that has to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    pub node: u32,
    pub mode: RunMode,
    /// Event input, or the output of an entry point.
    pub input: u32,
    /// Wire by which the event came; `NO_WIRE` for none.
    pub wire: u32,
}

/// Nodes that wait. A frame is kept as two numbers of 64 bits: the node that runs next was often
/// added just before, and a processor reads a value back at once only if it was written as a whole.
#[derive(Debug, Default)]
pub struct FrameStack(Vec<[u64; 2]>);

impl FrameStack {
    /// All modes by number; the last ones are not used.
    const MODES: [RunMode; 8] = [
        RunMode::Input,
        RunMode::Fire,
        RunMode::Start,
        RunMode::Continue,
        RunMode::Tick,
        RunMode::Input,
        RunMode::Input,
        RunMode::Input,
    ];

    #[inline(always)]
    pub fn push(&mut self, frame: Frame) {
        let target = u64::from(frame.node) | u64::from(frame.input) << 32;
        let origin = u64::from(frame.wire) | (frame.mode as u64) << 32;
        self.0.push([target, origin]);
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<Frame> {
        self.0.pop().map(FrameStack::unpack)
    }

    pub fn last(&self) -> Option<Frame> {
        self.0.last().copied().map(FrameStack::unpack)
    }

    pub fn iter(&self) -> impl Iterator<Item = Frame> {
        self.0.iter().copied().map(FrameStack::unpack)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    #[inline(always)]
    fn unpack([target, origin]: [u64; 2]) -> Frame {
        Frame {
            node: target as u32,
            mode: FrameStack::MODES[(origin >> 32) as usize % FrameStack::MODES.len()],
            input: (target >> 32) as u32,
            wire: origin as u32,
        }
    }
}

/// No wire.
pub const NO_WIRE: u32 = u32::MAX;

/// An event that is running.
#[derive(Debug, Default)]
pub struct Task {
    pub instance: Option<InstanceId>,
    pub stack: FrameStack,
    /// The node that is running, and the number of its queries that were evaluated.
    pub current: Option<(Frame, u32)>,
    /// Number of nodes that ran.
    pub count: u32,
    /// Number of nodes that ran and of queries that were evaluated.
    pub work: u64,
    /// Number of events of which this one is a consequence.
    pub depth: u32,
    /// True if the next node runs even if it has a breakpoint.
    pub passes_breakpoint: bool,
    /// The last wires, in a ring.
    wires: [u32; WIRES_KEPT],
}

impl Task {
    /// Starts an event.
    pub fn begin(&mut self, instance: InstanceId) {
        self.instance = Some(instance);
        self.stack.clear();
        self.current = None;
        self.count = 0;
        self.work = 0;
        self.passes_breakpoint = false;
        self.wires = [NO_WIRE; WIRES_KEPT];
    }

    /// Adds the event to a state hash, if one is running.
    pub fn write_state(&self, hash: &mut StateHash) {
        let Some(instance) = self.instance else { return };
        hash.write_f64(instance.to_number());
        hash.write_u64(u64::from(self.count));
        let current = self.current.iter().map(|(frame, _)| *frame);
        for frame in self.stack.iter().chain(current) {
            hash.write_u64(u64::from(frame.node) << 32 | u64::from(frame.input));
            hash.write_u64(frame.mode as u64);
        }
    }

    /// Returns the names of the last wires.
    pub fn wire_names(&self, program: &Program) -> String {
        let mut names: Vec<String> = Vec::new();
        for at in 0..WIRES_KEPT {
            let wire = self.wires[(self.count as usize + at) % WIRES_KEPT];
            if let Some(wire) = program.wires.get(wire as usize) {
                let from = &program.nodes[wire.from as usize].path;
                let to = &program.nodes[wire.to as usize].path;
                let name = format!("{from}.{} > {to}.{}", wire.from_pin, wire.to_pin);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names.join(", ")
    }
}

/// Result of running a task.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The event is complete.
    Complete,
    /// The node that ran has requests; the event continues after them.
    Requests,
    /// The current node, or one of its queries, calls a function that only the caller can call.
    Call {
        /// Offset of the node that calls.
        node: u32,
        function: u32,
    },
    /// A breakpoint stopped the event before the current node.
    Stopped,
    /// A node failed: its offset and a message.
    Failed(u32, String),
}

/// Everything that running nodes use, apart from the data of the instance.
pub struct Surroundings<'a> {
    pub timers: &'a mut FlowTimers,
    pub trace: Option<&'a mut FlowTrace>,
    pub breakpoints: &'a [u32],
    /// True to stop before every node.
    pub single_step: bool,
    pub nodes_max: u32,
    pub frame: u64,
    /// Native functions by the program's functions; `NO_FUNCTION` for those of the caller.
    pub natives: &'a [u32],
    /// Curves of the program's timelines.
    pub curves: &'a [Vec<CurvePoints>],
    pub requests: &'a mut Vec<Request>,
    pub playing: &'a mut u32,
}

/// A function that only the caller can call.
pub const NO_FUNCTION: u32 = u32::MAX;

/// An effect on other instances, which the caller applies after the node.
#[derive(Clone, Debug)]
pub enum Request {
    /// Sends a custom event: to, name, value.
    Send(Slot, Slot, Slot),
    /// Calls the callback of scripts: name, value.
    Raise(Slot, Slot),
    Print(Slot),
    /// Ends delays and timelines.
    Stop,
}

/// Runs a task until it is complete, calls a function, or stops.
pub fn run(
    task: &mut Task,
    program: &Program,
    machine: &mut Machine,
    around: &mut Surroundings,
) -> Outcome {
    loop {
        let (frame, first) = match task.current.take() {
            Some(current) => current,
            None => match task.stack.pop() {
                Some(frame) => {
                    if let Some(outcome) = before_node(task, program, frame, around) {
                        return outcome;
                    }
                    (frame, 0)
                }
                None => return Outcome::Complete,
            },
        };
        let node = program.node(frame.node);
        let pulls = node.pulls();
        let mut at = first as usize;
        while at < pulls.len() {
            let query = program.node(pulls[at]);
            at += 1;
            task.work += 1;
            if query.op() == Op::Call {
                match call(query, machine, around) {
                    Some(Ok(())) => {}
                    Some(Err(message)) => return Outcome::Failed(pulls[at - 1], message.into()),
                    None => {
                        task.current = Some((frame, at as u32));
                        return Outcome::Call { node: pulls[at - 1], function: query.payload() };
                    }
                }
            } else if let Err(message) = machine.evaluate(query) {
                return Outcome::Failed(pulls[at - 1], message);
            }
        }
        if node.op() == Op::Call {
            match call(node, machine, around) {
                Some(Ok(())) => {}
                Some(Err(message)) => return Outcome::Failed(frame.node, message.into()),
                // The caller stores the results and pushes the nodes that follow.
                None => return Outcome::Call { node: frame.node, function: node.payload() },
            }
            push_targets(task, node, 0);
        } else if let Err(message) = control::run(task, node, frame, machine, around) {
            return Outcome::Failed(frame.node, message);
        }
        if task.stack.len() > STACK_MAX {
            let message = format!("more than {STACK_MAX} nodes wait for one event (STACK_MAX)");
            return Outcome::Failed(frame.node, message);
        }
        if !around.requests.is_empty() {
            return Outcome::Requests;
        }
    }
}

/// Counts a node; returns an outcome if it must not run now.
#[inline(always)]
fn before_node(
    task: &mut Task,
    program: &Program,
    frame: Frame,
    around: &mut Surroundings,
) -> Option<Outcome> {
    if (around.single_step || !around.breakpoints.is_empty())
        && !task.passes_breakpoint
        && (around.single_step || around.breakpoints.contains(&frame.node))
    {
        task.stack.push(frame);
        return Some(Outcome::Stopped);
    }
    task.passes_breakpoint = false;
    task.wires[task.count as usize % WIRES_KEPT] = frame.wire;
    task.count += 1;
    task.work += 1;
    // A loop that continues gets no event.
    if frame.mode != RunMode::Continue
        && let Some(trace) = &mut around.trace
    {
        trace.record(around.frame, program.node(frame.node).info() as u32, frame.wire, frame.input);
    }
    let work_max = u64::from(around.nodes_max) * QUERIES_PER_NODE;
    if task.count > around.nodes_max || task.work > work_max {
        let message = endless(task, program, around.nodes_max);
        return Some(Outcome::Failed(frame.node, message));
    }
    None
}

#[cold]
fn endless(task: &Task, program: &Program, nodes_max: u32) -> String {
    let setting = "limits.flow_nodes in settings.sjson";
    let ran = match task.count > nodes_max {
        true => format!("{nodes_max} nodes ran for one event, which is the limit ({setting})"),
        false => format!(
            "{} nodes and queries ran for one event: {QUERIES_PER_NODE} for each of the \
             {nodes_max} nodes that it may run ({setting})",
            u64::from(nodes_max) * QUERIES_PER_NODE
        ),
    };
    let wires = match &task.wire_names(program)[..] {
        // The body of the loop is empty.
        "" => String::new(),
        wires => format!(" The last wires: {wires}"),
    };
    format!("{ran}: is this loop endless?{wires}")
}

/// Maximum number of inputs and outputs of a function.
pub const CALL_PINS_MAX: usize = 16;
/// Maximum number of event outputs of a node that is a function.
pub const CALL_EVENTS_MAX: usize = 32;
/// Maximum number of inputs of a native function.
pub const NATIVE_INPUTS_MAX: usize = 8;

/// Calls a native function. Returns `None` if only the caller can call it.
#[inline(always)]
fn call(node: NodeRecord, machine: &mut Machine, around: &Surroundings) -> Option<CallResult> {
    let native = around.natives[node.payload() as usize];
    if native == NO_FUNCTION {
        return None;
    }
    let mut inputs = [Slot::NIL; NATIVE_INPUTS_MAX];
    let count = node.inputs().min(NATIVE_INPUTS_MAX);
    for (at, input) in inputs[..count].iter_mut().enumerate() {
        *input = machine.operand(node.operand(at));
    }
    let outputs = &mut machine.slots[node.outputs()..];
    Some(machine.host.call(native, &inputs[..count], outputs, machine.heap))
}

/// Pushes the targets of an event output, so that the first one runs next.
#[inline(always)]
pub fn push_targets(task: &mut Task, node: NodeRecord, output: usize) {
    if output >= node.event_outputs() {
        return;
    }
    for [target, input, wire] in node.targets(output).iter().rev() {
        let (node, input, wire) = (*target, *input, *wire);
        task.stack.push(Frame { node, mode: RunMode::Input, input, wire });
    }
}
