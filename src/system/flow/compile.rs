//! The second half of the compiler: a flattened graph becomes a program. The order of queries is
//! computed here, so that the interpreter needs no recursion, and cycles are refused. The same
//! source gives the same program, whatever the order of its entries.

use super::check::GraphOwner;
use super::flatten::{EventTarget, FlatGraph, FlatNode, Operand, flatten};
use super::literal::Literal;
use super::node_type::Catalogue;
use super::op::Op;
use super::pins::{GraphLoader, cases, curves, item_type};
use super::program::{
    CONSTANT, EntryPoint, EventKind, HEADER_LENGTH, NodeInfo, OWNER_SLOTS, Program,
    ProgramVariable, WireInfo,
};
use super::source::{GraphSource, Problem, SLOTS_MAX};
use super::value::Slot;
use engine_foundation::compact_sort::CompactSort;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of query evaluations that all nodes of a graph need together, if each runs once.
pub const PULLS_MAX: usize = 1 << 20;
/// Maximum number of data inputs, and of event outputs, of a node.
const PINS_MAX: usize = 255;

/// A compiled graph with its warnings.
pub struct Compiled {
    pub program: Program,
    pub warnings: Vec<Problem>,
}

/// Compiles a graph.
///
/// # Errors
/// Returns all problems of the graph, of which at least one is an error.
pub fn compile(
    name: &str,
    graph: Arc<GraphSource>,
    catalogue: &Catalogue,
    owner: GraphOwner,
    load: &mut GraphLoader,
) -> Result<Compiled, Vec<Problem>> {
    let (flat, mut problems) = flatten(graph, catalogue, owner, load)?;
    let mut fail = |problem: Problem| {
        let mut all = std::mem::take(&mut problems);
        all.push(problem);
        all
    };
    let order = query_order(&flat).map_err(&mut fail)?;
    check_event_cycles(&flat).map_err(&mut fail)?;
    let program = layout(name, flat, &order).map_err(&mut fail)?;
    Ok(Compiled { program, warnings: problems })
}

fn query_inputs<'a>(flat: &'a FlatGraph, at: usize) -> impl Iterator<Item = usize> + 'a {
    flat.nodes[at].inputs.iter().filter_map(|operand| match operand {
        Operand::Output(node, _) if flat.nodes[*node as usize].query => Some(*node as usize),
        _ => None,
    })
}

/// Returns, for each node, the queries that it needs, in the order of their evaluation.
fn query_order(flat: &FlatGraph) -> Result<Vec<Vec<u32>>, Problem> {
    check_query_cycles(flat)?;
    let mut order = vec![Vec::new(); flat.nodes.len()];
    let mut visited = vec![u32::MAX; flat.nodes.len()];
    let mut total = 0;
    for (at, found) in order.iter_mut().enumerate() {
        if flat.nodes[at].query {
            continue;
        }
        let mut stack: Vec<(usize, bool)> = query_inputs(flat, at).map(|q| (q, false)).collect();
        stack.reverse();
        while let Some((query, complete)) = stack.pop() {
            if complete {
                found.push(query as u32);
            } else if visited[query] != at as u32 {
                visited[query] = at as u32;
                stack.push((query, true));
                let inputs: Vec<usize> = query_inputs(flat, query).collect();
                stack.extend(inputs.into_iter().rev().map(|input| (input, false)));
            }
        }
        total += found.len();
        if total > PULLS_MAX {
            let message = format!(
                "its values, with those of other nodes, come from more than {PULLS_MAX} queries \
                 (PULLS_MAX): keep some of them in variables"
            );
            return Err(Problem::error(&flat.nodes[at].path, "", message));
        }
    }
    Ok(order)
}

/// Returns the nodes of a cycle, if the edges have one.
fn find_cycle<I: Iterator<Item = usize>>(
    count: usize,
    edges: impl Fn(usize) -> I,
) -> Option<Vec<usize>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; count];
    for start in 0..count {
        if state[start] != NEW {
            continue;
        }
        state[start] = OPEN;
        let mut path = vec![(start, edges(start))];
        while let Some((at, rest)) = path.last_mut() {
            match rest.next() {
                Some(next) if state[next] == NEW => {
                    state[next] = OPEN;
                    path.push((next, edges(next)));
                }
                Some(next) if state[next] == OPEN => {
                    let nodes: Vec<usize> = path.iter().map(|(node, _)| *node).collect();
                    let first = nodes.iter().position(|node| *node == next).unwrap_or(0);
                    return Some(nodes[first..].to_vec());
                }
                Some(_) => {}
                None => {
                    state[*at] = DONE;
                    path.pop();
                }
            }
        }
    }
    None
}

/// Returns a cycle as text: `n3 > n9 > n3`.
fn cycle_text(flat: &FlatGraph, cycle: &[usize]) -> String {
    const SHOWN: usize = 8;
    let visible: Vec<&str> = cycle
        .iter()
        .filter(|at| !flat.nodes[**at].hidden)
        .map(|at| flat.nodes[*at].path.as_str())
        .collect();
    let mut text = visible[..visible.len().min(SHOWN)].join(" > ");
    if visible.len() > SHOWN {
        text += " > …";
    }
    format!("{text} > {}", visible.first().copied().unwrap_or_default())
}

fn visible(flat: &FlatGraph, cycle: &[usize]) -> String {
    let found = cycle.iter().find(|at| !flat.nodes[**at].hidden);
    found.map_or(String::new(), |at| flat.nodes[*at].path.clone())
}

fn check_query_cycles(flat: &FlatGraph) -> Result<(), Problem> {
    match find_cycle(flat.nodes.len(), |at| query_inputs(flat, at)) {
        None => Ok(()),
        Some(mut cycle) => {
            cycle.reverse();
            let message = format!(
                "its value depends on itself: {}: keep one of the values in a variable",
                cycle_text(flat, &cycle)
            );
            Err(Problem::error(&visible(flat, &cycle), "", message))
        }
    }
}

/// Returns true if an event input never sends an event.
fn is_silent(op: Op, input: u32) -> bool {
    match op {
        Op::Gate | Op::Once | Op::DoN | Op::FlipFlop | Op::Counter | Op::Delay => input > 0,
        Op::Timeline | Op::Stop => true,
        _ => false,
    }
}

fn check_event_cycles(flat: &FlatGraph) -> Result<(), Problem> {
    let edges = |at: usize| {
        let node = &flat.nodes[at];
        let is_latent = matches!(node.op, Op::Delay | Op::Timeline);
        let targets: &[Vec<EventTarget>] = if is_latent { &[] } else { &node.targets };
        let found: Vec<usize> = targets
            .iter()
            .flatten()
            .filter(|target| !is_silent(flat.nodes[target.node as usize].op, target.input))
            .map(|target| target.node as usize)
            .collect();
        found.into_iter()
    };
    match find_cycle(flat.nodes.len(), edges) {
        None => Ok(()),
        Some(cycle) => {
            let message = format!(
                "its events form a cycle without a delay, which would never end: {}: put \
                 'flow.delay' into it, or use 'flow.while'",
                cycle_text(flat, &cycle)
            );
            Err(Problem::error(&visible(flat, &cycle), "", message))
        }
    }
}

/// Returns the number of state slots after the outputs of a node.
fn state_slots(op: Op) -> u32 {
    match op {
        Op::Gate | Op::Once | Op::Delay => 1,
        Op::Event | Op::ForEach | Op::Timeline => 2,
        Op::Loop => 3,
        _ => 0,
    }
}

struct Layout {
    program: Program,
    functions: HashMap<String, u32>,
    /// Offset of each flat node.
    offsets: Vec<u32>,
}

fn layout(name: &str, flat: FlatGraph, order: &[Vec<u32>]) -> Result<Program, Problem> {
    let mut layout = Layout {
        program: Program {
            name: name.to_string(),
            graphs: flat.graphs,
            uses: flat.uses,
            ..Program::default()
        },
        functions: HashMap::new(),
        offsets: Vec::with_capacity(flat.nodes.len()),
    };
    layout.program.constants = flat.constants;
    layout.program.own_variables = flat.own_variables;
    let mut slots = OWNER_SLOTS;
    for variable in flat.variables {
        let (name, kind, initial) = (variable.name, variable.kind, variable.initial);
        layout.program.variables.push(ProgramVariable { name, kind, slot: slots, initial });
        slots += 1;
    }
    let mut at = 1;
    let mut first_slots = Vec::with_capacity(flat.nodes.len());
    for node in &flat.nodes {
        if node.inputs.len() > PINS_MAX || node.targets.len() > PINS_MAX {
            let message = format!("has more than {PINS_MAX} pins (PINS_MAX)");
            return Err(Problem::error(&node.path, "", message));
        }
        layout.offsets.push(at);
        at += (HEADER_LENGTH + node.inputs.len()) as u32;
        first_slots.push(slots);
        slots += node.outputs.len() as u32 + state_slots(node.op);
        if slots > SLOTS_MAX {
            let message = format!("the graph has more than {SLOTS_MAX} values (SLOTS_MAX)");
            return Err(Problem::error(&node.path, "", message));
        }
    }
    layout.program.slots = slots;
    layout.program.code = vec![0; at as usize];
    for wire in flat.wires {
        layout.program.wires.push(WireInfo {
            from: wire.from,
            from_pin: wire.from_pin,
            to: wire.to,
            to_pin: wire.to_pin,
        });
    }
    for (index, node) in flat.nodes.into_iter().enumerate() {
        layout.node(index, node, &first_slots, &order[index])?;
    }
    layout.program.events.sort_compact_by_key(|entry| entry.kind);
    Ok(layout.program)
}

impl Layout {
    fn node(
        &mut self,
        index: usize,
        node: FlatNode,
        first_slots: &[u32],
        pulls: &[u32],
    ) -> Result<(), Problem> {
        let at = self.offsets[index] as usize;
        let payload = self.payload(index, &node)?;
        let pull_list = match pulls.is_empty() {
            true => 0,
            false => self
                .push_list(pulls.len(), pulls.iter().map(|q| self.offsets[*q as usize]).collect()),
        };
        let mut lists = Vec::with_capacity(node.targets.len());
        for targets in &node.targets {
            let entries = targets
                .iter()
                .flat_map(|target| [self.offsets[target.node as usize], target.input, target.wire]);
            let entries: Vec<u32> = entries.collect();
            lists.push(if entries.is_empty() { 0 } else { self.push_list(targets.len(), entries) });
        }
        let events = self.program.code.len() as u32;
        self.program.code.extend(lists);
        let counts = (node.inputs.len() as u32) << 16 | (node.targets.len() as u32) << 24;
        let header =
            [node.op as u32 | counts, index as u32, first_slots[index], payload, pull_list, events];
        self.program.code[at..at + HEADER_LENGTH].copy_from_slice(&header);
        for (input, operand) in node.inputs.iter().enumerate() {
            self.program.code[at + HEADER_LENGTH + input] = match operand {
                Operand::Constant(at) => at | CONSTANT,
                Operand::Slot(slot) => *slot,
                Operand::Output(node, output) => first_slots[*node as usize] + output,
            };
        }
        self.program.nodes.push(NodeInfo {
            path: node.path,
            kind: node.kind,
            offset: at as u32,
            outputs: node.outputs,
            inputs: node.input_pins,
            settings: node.settings.settings,
            state: state_slots(node.op),
            hidden: node.hidden,
        });
        Ok(())
    }

    /// Appends a count and entries; returns their offset. The offset 0 is an empty list.
    fn push_list(&mut self, count: usize, entries: Vec<u32>) -> u32 {
        let at = self.program.code.len() as u32;
        self.program.code.push(count as u32);
        self.program.code.extend(entries);
        at
    }

    fn constant(&mut self, value: Literal) -> u32 {
        self.program.constants.push(value);
        self.program.constants.len() as u32 - 1
    }

    fn payload(&mut self, index: usize, node: &FlatNode) -> Result<u32, Problem> {
        let problem = |message: String| Problem::error(&node.path, "", message);
        let text = |name: &str| node.settings.text_setting(name).unwrap_or_default().to_string();
        Ok(match node.op {
            Op::Event => {
                let kind = EventKind::of_type(&node.kind).expect("a row of the table");
                let (name, node) = (text("name"), self.offsets[index]);
                self.program.events.push(EntryPoint { kind, name, node });
                kind as u32
            }
            Op::Call => {
                let next = self.program.functions.len() as u32;
                let at = *self.functions.entry(node.kind.clone()).or_insert(next);
                if at == next {
                    self.program.functions.push(node.kind.clone());
                }
                at
            }
            Op::SwitchNumber | Op::SwitchText => {
                let first = self.program.constants.len() as u32;
                for case in cases(&node.settings).map_err(problem)? {
                    let value = match node.op {
                        Op::SwitchText => Literal::Text(case),
                        _ => Literal::Slot(Slot::number(case.parse().unwrap_or(0.0))),
                    };
                    self.constant(value);
                }
                first
            }
            Op::Timeline => {
                let curves = curves(&node.settings).map_err(problem)?;
                self.program.curves.push(curves.into_iter().map(|(_, points)| points).collect());
                self.program.curves.len() as u32 - 1
            }
            Op::ForEach | Op::ListItem => item_type(&node.settings).map_err(problem)? as u32,
            Op::SetVariable | Op::AddVariable => node.variable,
            Op::Send | Op::Raise => self.constant(Literal::Text(text("name"))),
            _ => node.payload,
        })
    }
}
