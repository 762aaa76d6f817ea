//! Nodes that control the flow of events: branches, gates, loops, delays, timelines, variables.

use super::op::Op;
use super::pins::CurvePoints;
use super::program::{EventKind, NodeRecord, WORLD_SLOT};
use super::queries::{Machine, checked_item};
use super::task::{Frame, NO_WIRE, Request, RunMode, Surroundings, Task, push_targets};
use super::value::{Slot, Tag};

/// Maximum number of times that a timer runs in one update, if its seconds are fewer than those of
/// the update.
pub const TIMER_RUNS_MAX: f64 = 8.0;

/// Runs a node, and pushes the nodes that follow.
///
/// # Errors
/// Returns a message if the node cannot do its work.
pub fn run(
    task: &mut Task,
    node: NodeRecord,
    frame: Frame,
    machine: &mut Machine,
    around: &mut Surroundings,
) -> Result<(), String> {
    let output = match node.op() {
        Op::Event => return entry(task, node, frame, machine, around),
        Op::Branch => usize::from(!machine.boolean(node, 0)),
        Op::Sequence => {
            (0..node.event_outputs()).rev().for_each(|output| push_targets(task, node, output));
            return Ok(());
        }
        Op::SwitchNumber | Op::SwitchText => switch(node, machine),
        Op::RandomOutput => {
            let count = node.event_outputs();
            let chosen = machine.host.random() * count as f64;
            (chosen as usize).min(count - 1)
        }
        Op::Gate | Op::Once | Op::DoN | Op::FlipFlop | Op::Counter => {
            match memory(node, frame, machine) {
                Some(output) => output,
                None => return Ok(()),
            }
        }
        Op::Loop | Op::ForEach | Op::While => match repeat(task, node, frame, machine)? {
            Some(output) => output,
            None => return Ok(()),
        },
        Op::Delay => return delay(task, node, frame, machine, around),
        Op::Timeline => return timeline(task, node, frame, machine, around),
        Op::SetVariable => {
            let value = machine.input(node, 0);
            machine.slots[node.payload() as usize] = value;
            machine.set(node, 0, value);
            0
        }
        Op::AddVariable => {
            let slot = node.payload() as usize;
            let sum = machine.slots[slot].as_number() + machine.number(node, 0);
            machine.slots[slot] = Slot::number(sum);
            machine.set(node, 0, Slot::number(sum));
            0
        }
        op => {
            request(op, node, machine, around);
            0
        }
    };
    push_targets(task, node, output);
    Ok(())
}

/// Records an effect that the caller applies.
fn request(op: Op, node: NodeRecord, machine: &Machine, around: &mut Surroundings) {
    let name = || machine.constants[node.payload() as usize];
    around.requests.push(match op {
        Op::Send => Request::Send(machine.input(node, 0), name(), machine.input(node, 1)),
        Op::Raise => Request::Raise(name(), machine.input(node, 0)),
        Op::Print => Request::Print(machine.input(node, 0)),
        _ => Request::Stop,
    });
}

/// Returns the first state slot of a node.
fn state(node: NodeRecord, outputs: usize) -> usize {
    node.outputs() + outputs
}

/// Starts a chain at an entry point.
fn entry(
    task: &mut Task,
    node: NodeRecord,
    frame: Frame,
    machine: &mut Machine,
    around: &mut Surroundings,
) -> Result<(), String> {
    if node.payload() == EventKind::Collision as u32 {
        let force = machine.slots[node.outputs() + 5].as_number();
        if force < machine.number(node, 0) {
            return Ok(());
        }
    } else if node.payload() == EventKind::Timer as u32 {
        restart_timer(task, node, frame, machine, around)?;
        if frame.mode == RunMode::Start {
            return Ok(());
        }
    }
    push_targets(task, node, frame.input as usize);
    Ok(())
}

/// Starts a timer, or starts it again when it runs. Each time counts from the one before, so that
/// updates that are longer or shorter do not change how often the timer runs.
fn restart_timer(
    task: &mut Task,
    node: NodeRecord,
    frame: Frame,
    machine: &mut Machine,
    around: &mut Surroundings,
) -> Result<(), String> {
    let seconds = seconds(node, machine)?;
    let now = now(machine)?;
    if frame.mode == RunMode::Start {
        return wait(task, node, now + seconds, frame.node, machine, around);
    }
    if !machine.boolean(node, 1) {
        return Ok(());
    }
    let due_slot = state(node, 0) + 1;
    let next = machine.slots[due_slot].as_number() + seconds;
    if next > now {
        return wait(task, node, next, frame.node, machine, around);
    }
    if seconds <= 0.0 || now - next > seconds * TIMER_RUNS_MAX {
        // It is too late for all the times that were missed.
        return wait(task, node, now + seconds, frame.node, machine, around);
    }
    machine.slots[due_slot] = Slot::number(next);
    task.stack.push(Frame { wire: NO_WIRE, ..frame });
    Ok(())
}

/// Returns the seconds of a delay or a timer.
fn seconds(node: NodeRecord, machine: &Machine) -> Result<f64, String> {
    let seconds = machine.number(node, 0);
    match seconds.is_finite() {
        true => Ok(if seconds > 0.0 { seconds } else { 0.0 }),
        false => Err(format!("'seconds' must be a finite number, got {seconds}")),
    }
}

/// Returns the time of the graph's world.
fn now(machine: &mut Machine) -> Result<f64, String> {
    let world = machine.owner(WORLD_SLOT).ok_or("the graph has no world")?;
    Ok(machine.host.time(world))
}

/// Starts a timer of a node that is due at a time.
fn wait(
    task: &Task,
    node: NodeRecord,
    time: f64,
    offset: u32,
    machine: &mut Machine,
    around: &mut Surroundings,
) -> Result<(), String> {
    let world = machine.owner(WORLD_SLOT).ok_or("the graph has no world")?;
    let instance = task.instance.expect("a task that runs has an instance");
    let generation = machine.slots[state(node, 0)].as_number() as u32;
    match around.timers.start(world, time, instance, offset, generation) {
        true => Ok(()),
        false => Err(format!(
            "{} delays and timers of this world already wait (TIMERS_MAX)",
            super::timers::TIMERS_MAX
        )),
    }
}

fn delay(
    task: &mut Task,
    node: NodeRecord,
    frame: Frame,
    machine: &mut Machine,
    around: &mut Surroundings,
) -> Result<(), String> {
    match (frame.mode, frame.input) {
        (RunMode::Fire, _) => {
            push_targets(task, node, 0);
            Ok(())
        }
        (_, 0) => {
            let time = now(machine)? + seconds(node, machine)?;
            wait(task, node, time, frame.node, machine, around)
        }
        _ => {
            cancel(node, machine);
            Ok(())
        }
    }
}

/// Cancels the delays of a node that wait.
fn cancel(node: NodeRecord, machine: &mut Machine) {
    next_generation(&mut machine.slots[state(node, 0)]);
}

/// Changes the state of a node with timers, so that those that wait are cancelled.
pub fn next_generation(slot: &mut Slot) {
    let next = (slot.as_number() as u32).wrapping_add(1);
    *slot = Slot::number(f64::from(next));
}

/// Returns the output of the equal case, or the last one.
fn switch(node: NodeRecord, machine: &Machine) -> usize {
    let count = node.event_outputs() - 1;
    let value = machine.input(node, 0);
    let first = node.payload() as usize;
    let cases = &machine.constants[first..first + count];
    let equal = |case: &Slot| match case.tag {
        Tag::Text => machine.heap.text(*case) == machine.heap.text(value),
        _ => case.as_number() == value.as_number(),
    };
    cases.iter().position(equal).unwrap_or(count)
}

/// Nodes that remember something. Returns the output, or `None` if the event ends here.
fn memory(node: NodeRecord, frame: Frame, machine: &mut Machine) -> Option<usize> {
    let slot = node.outputs();
    let value = machine.slots[slot];
    match (node.op(), frame.input) {
        (Op::Gate, input) => {
            let open = match value.tag {
                Tag::Nil => machine.boolean(node, 0),
                _ => value.as_boolean(),
            };
            let next = match input {
                0 => return open.then_some(0),
                1 => true,
                2 => false,
                _ => !open,
            };
            machine.slots[slot] = Slot::boolean(next);
            None
        }
        (Op::Once, 0) => {
            machine.slots[slot] = Slot::boolean(true);
            (!value.as_boolean()).then_some(0)
        }
        (Op::Once, _) => {
            machine.slots[slot] = Slot::boolean(false);
            None
        }
        (Op::FlipFlop, input) => {
            let on = match input {
                0 => !value.as_boolean(),
                1 => true,
                _ => false,
            };
            machine.slots[slot] = Slot::boolean(on);
            Some(usize::from(!on))
        }
        (_, 1) => {
            machine.slots[slot] = Slot::number(0.0);
            None
        }
        (Op::DoN, _) => {
            let number = value.as_number() + 1.0;
            if number > machine.number(node, 0) {
                return Some(1);
            }
            machine.slots[slot] = Slot::number(number);
            Some(0)
        }
        _ => {
            let number = value.as_number() + 1.0;
            let reached = number >= machine.number(node, 0);
            machine.slots[slot] = Slot::number(if reached { 0.0 } else { number });
            Some(usize::from(reached))
        }
    }
}

/// Loops: runs the body with the loop itself behind it on the stack, or returns `done`.
fn repeat(
    task: &mut Task,
    node: NodeRecord,
    frame: Frame,
    machine: &mut Machine,
) -> Result<Option<usize>, String> {
    let begins = frame.mode == RunMode::Input;
    let continues = match node.op() {
        Op::While => machine.boolean(node, 0),
        Op::Loop => {
            let at = state(node, 1);
            let (index, last, step) = match begins {
                true => (machine.number(node, 0), machine.number(node, 1), machine.number(node, 2)),
                false => {
                    let [index, last, step] =
                        std::array::from_fn(|part| machine.slots[at + part].as_number());
                    (index + step, last, step)
                }
            };
            for (part, number) in [index, last, step].into_iter().enumerate() {
                machine.slots[at + part] = Slot::number(number);
            }
            machine.set(node, 0, Slot::number(index));
            if step < 0.0 { index >= last } else { index <= last }
        }
        _ => {
            let at = state(node, 2);
            let index = if begins { 0 } else { machine.slots[at + 1].as_number() as usize + 1 };
            if begins {
                machine.slots[at] = machine.input(node, 0);
            }
            machine.slots[at + 1] = Slot::number(index as f64);
            let item = machine.heap.list(machine.slots[at]).get(index).copied();
            let value = checked_item(item.unwrap_or(Slot::NIL), index + 1, node)?;
            machine.set(node, 0, value);
            machine.set(node, 1, Slot::number(index as f64 + 1.0));
            item.is_some()
        }
    };
    if !continues {
        return Ok(Some(1));
    }
    task.stack.push(Frame { mode: RunMode::Continue, input: 0, wire: NO_WIRE, ..frame });
    Ok(Some(0))
}

/// Returns the value of a curve at a time, between its points.
pub fn curve_value(points: &CurvePoints, time: f64) -> f64 {
    let next = points.partition_point(|point| point[0] <= time);
    match (next.checked_sub(1).map(|at| points[at]), points.get(next)) {
        (Some(before), Some(after)) => {
            let share = (time - before[0]) / (after[0] - before[0]);
            before[1] + (after[1] - before[1]) * share
        }
        (Some(last), None) => last[1],
        (None, Some(first)) => first[1],
        (None, None) => 0.0,
    }
}

/// A timeline. Its state after the outputs: the direction, and the seconds of the current update.
fn timeline(
    task: &mut Task,
    node: NodeRecord,
    frame: Frame,
    machine: &mut Machine,
    around: &mut Surroundings,
) -> Result<(), String> {
    let curves = &around.curves[node.payload() as usize];
    let direction_slot = node.outputs() + 1 + curves.len();
    let direction = machine.slots[direction_slot].as_number();
    let length = curves.iter().filter_map(|points| points.last()).map(|last| last[0]);
    let length = length.fold(0.0, f64::max);
    let time = machine.slots[node.outputs()].as_number();
    match (frame.mode, frame.input) {
        (RunMode::Tick, _) if direction == 0.0 => {}
        (RunMode::Tick, _) => {
            let step = machine.slots[direction_slot + 1].as_number();
            let speed = machine.number(node, 0);
            let time = (time + step * speed * direction).clamp(0.0, length);
            machine.set(node, 0, Slot::number(time));
            for (at, points) in curves.iter().enumerate() {
                machine.set(node, 1 + at, Slot::number(curve_value(points, time)));
            }
            let ends = if speed * direction < 0.0 { time <= 0.0 } else { time >= length };
            if ends {
                machine.slots[direction_slot] = Slot::number(0.0);
                *around.playing -= 1;
                push_targets(task, node, 1);
            }
            push_targets(task, node, 0);
        }
        (_, input) => {
            let next = match input {
                0 => 1.0,
                1 => 0.0,
                _ => -1.0,
            };
            // A timeline that is at its end plays from the beginning again.
            if next > 0.0 && time >= length {
                machine.set(node, 0, Slot::number(0.0));
            }
            machine.slots[direction_slot] = Slot::number(next);
            match (direction == 0.0, next == 0.0) {
                (true, false) => *around.playing += 1,
                (false, true) => *around.playing -= 1,
                _ => {}
            }
        }
    }
    Ok(())
}
