//! The first half of the compiler: subgraphs are inserted in place of their nodes, wires through
//! borders are followed to their ends, and literals become constants. No recursion: depth is
//! limited by `GRAPH_DEPTH_MAX`, and the work by `STEPS_MAX`.

use super::check::{GraphOwner, check};
use super::literal::{Literal, literal, pin_literal, zero};
use super::node_type::{Catalogue, NodeKind, NodeType, Pin, PinDefault};
use super::op::Op;
use super::pins::{GraphLoader, NodePins, variable};
use super::program::{LEVEL_SLOT, OWNER_SLOTS, UNIT_SLOT, WORLD_SLOT};
use super::source::{
    GRAPHS_MAX, GraphSource, InputSource, NODES_MAX, NodeSource, Problem, SLOTS_MAX, Severity,
    WIRES_MAX,
};
use super::value::{Conversion, FlowType, Slot, conversion};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of graphs that are inside of each other.
pub const GRAPH_DEPTH_MAX: usize = 16;
/// Maximum number of borders that one wire, or one output with all its wires, leads through.
const STEPS_MAX: usize = 65_536;

/// Source of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Constant(u32),
    Slot(u32),
    /// A data output of a node.
    Output(u32, u32),
}

/// Target of an event output: node, index of the event input, wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventTarget {
    pub node: u32,
    pub input: u32,
    pub wire: u32,
}

/// A node without borders around it.
pub struct FlatNode {
    pub path: String,
    pub kind: String,
    pub op: Op,
    pub hidden: bool,
    /// True if the node has no events.
    pub query: bool,
    /// Scope and index of the source; `None` for hidden nodes.
    source: Option<(usize, usize)>,
    pub inputs: Vec<Operand>,
    pub input_pins: Vec<(String, FlowType)>,
    pub outputs: Vec<(String, FlowType)>,
    pub event_outputs: Vec<String>,
    pub targets: Vec<Vec<EventTarget>>,
    /// Type number for checks.
    pub payload: u32,
    /// The node with its settings; empty for hidden nodes.
    pub settings: NodeSource,
    /// Slot of the variable that the node names.
    pub variable: u32,
}

/// A wire between two nodes.
pub struct FlatWire {
    pub from: u32,
    pub from_pin: String,
    pub to: u32,
    pub to_pin: String,
}

/// A variable of one scope.
pub struct FlatVariable {
    pub name: String,
    pub kind: FlowType,
    pub initial: Literal,
}

/// A graph whose subgraphs were inserted.
#[derive(Default)]
pub struct FlatGraph {
    pub nodes: Vec<FlatNode>,
    pub wires: Vec<FlatWire>,
    pub variables: Vec<FlatVariable>,
    pub own_variables: usize,
    pub constants: Vec<Literal>,
    /// Names of the subgraphs, sorted.
    pub graphs: Vec<String>,
}

/// One use of a graph.
struct Scope {
    graph: Arc<GraphSource>,
    pins: Arc<Vec<NodePins>>,
    /// The scope and the node that stand for it.
    parent: Option<(usize, usize)>,
    prefix: String,
    first_variable: u32,
    /// By node: the scope of its graph.
    children: HashMap<usize, usize>,
    /// By node: the flat node.
    flat: Vec<u32>,
    depth: usize,
    name: String,
}

const NO_NODE: u32 = u32::MAX;

/// A checked subgraph.
type KnownGraph = (Arc<GraphSource>, Arc<Vec<NodePins>>);

pub struct Flattener<'a> {
    catalogue: &'a Catalogue,
    owner: GraphOwner<'a>,
    scopes: Vec<Scope>,
    known: HashMap<String, KnownGraph>,
    flat: FlatGraph,
    pub problems: Vec<Problem>,
    constants: HashMap<String, u32>,
}

/// Checks a graph with its subgraphs, and flattens it.
///
/// # Errors
/// Returns all problems, of which at least one is an error.
pub fn flatten(
    graph: Arc<GraphSource>,
    catalogue: &Catalogue,
    owner: GraphOwner,
    load: &mut GraphLoader,
) -> Result<(FlatGraph, Vec<Problem>), Vec<Problem>> {
    let checked = check(&graph, catalogue, owner, load);
    let mut flattener = Flattener {
        catalogue,
        owner,
        scopes: Vec::new(),
        known: HashMap::new(),
        flat: FlatGraph::default(),
        problems: checked.problems,
        constants: HashMap::new(),
    };
    if flattener.has_errors() {
        return Err(flattener.problems);
    }
    flattener.add_scope(graph, Arc::new(checked.pins), None, String::new());
    flattener.flat.own_variables = flattener.flat.variables.len();
    let mut at = 0;
    while at < flattener.scopes.len() && !flattener.has_errors() {
        flattener.expand(at, load);
        at += 1;
    }
    if !flattener.has_errors() {
        flattener.connect();
    }
    flattener.flat.graphs = flattener.known.keys().cloned().collect();
    flattener.flat.graphs.sort();
    match flattener.has_errors() {
        true => Err(flattener.problems),
        false => Ok((flattener.flat, flattener.problems)),
    }
}

impl Flattener<'_> {
    fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    fn add_scope(
        &mut self,
        graph: Arc<GraphSource>,
        pins: Arc<Vec<NodePins>>,
        parent: Option<(usize, usize)>,
        name: String,
    ) {
        let (prefix, depth) = match parent {
            None => (String::new(), 1),
            Some((scope, node)) => {
                let outer = &self.scopes[scope];
                (format!("{}{}/", outer.prefix, outer.graph.nodes[node].id), outer.depth + 1)
            }
        };
        let first_variable = OWNER_SLOTS + self.flat.variables.len() as u32;
        for variable in &graph.variables {
            let units = self.owner.units().filter(|_| parent.is_none());
            let value = variable.value.as_ref();
            let initial = value.and_then(|value| literal(variable.kind, value, units).ok());
            self.flat.variables.push(FlatVariable {
                name: format!("{prefix}{}", variable.name),
                kind: variable.kind,
                initial: initial.unwrap_or_else(|| zero(variable.kind)),
            });
        }
        let flat = vec![NO_NODE; graph.nodes.len()];
        let children = HashMap::new();
        let scope =
            Scope { graph, pins, parent, prefix, first_variable, children, flat, depth, name };
        self.scopes.push(scope);
    }

    /// Adds the nodes of a scope, and the scopes of its subgraphs.
    fn expand(&mut self, at: usize, load: &mut GraphLoader) {
        let (graph, pins) = (self.scopes[at].graph.clone(), self.scopes[at].pins.clone());
        if self.flat.nodes.len() + graph.nodes.len() > NODES_MAX {
            let message = format!(
                "the graph and its subgraphs have more than {NODES_MAX} nodes (NODES_MAX): \
                 divide it"
            );
            self.problems.push(Problem::error("", "", message));
            return;
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            let kind = self.catalogue.find(&node.kind).expect("the graph was checked");
            if kind.name == "graph" {
                self.expand_graph(at, index, node, load);
            } else if kind.op != Op::Alias {
                self.scopes[at].flat[index] = self.flat.nodes.len() as u32;
                let path = format!("{}{}", self.scopes[at].prefix, node.id);
                let mut flat = flat_node(path, kind, (at, index), &pins[index]);
                flat.settings = node.clone();
                if node.setting("variable").is_some() {
                    let variable = variable(node, &graph).expect("the graph was checked");
                    flat.variable = self.scopes[at].first_variable + variable as u32;
                }
                self.flat.nodes.push(flat);
            }
        }
    }

    fn expand_graph(&mut self, at: usize, index: usize, node: &NodeSource, load: &mut GraphLoader) {
        let name = node.text_setting("graph").expect("the graph was checked").to_string();
        let path = format!("{}{}", self.scopes[at].prefix, node.id);
        let mut scope = Some(at);
        while let Some(outer) = scope {
            if self.scopes[outer].name == name {
                let message = format!("the graph '{name}' contains itself");
                self.problems.push(Problem::error(&path, "", message));
                return;
            }
            scope = self.scopes[outer].parent.map(|(parent, _)| parent);
        }
        if self.scopes[at].depth >= GRAPH_DEPTH_MAX {
            let message = format!(
                "graphs are inside of each other more than {GRAPH_DEPTH_MAX} times \
                 (GRAPH_DEPTH_MAX)"
            );
            self.problems.push(Problem::error(&path, "", message));
            return;
        }
        if self.scopes.len() > GRAPHS_MAX || self.flat.variables.len() > SLOTS_MAX as usize {
            // Once, not for each of thousands of nodes.
            if !self.has_errors() {
                let message = format!(
                    "more than {GRAPHS_MAX} subgraphs are inside of each other (GRAPHS_MAX), or \
                     their variables are more than {SLOTS_MAX} (SLOTS_MAX)"
                );
                self.problems.push(Problem::error(&path, "", message));
            }
            return;
        }
        let known = match self.known.get(&name) {
            Some(known) => known.clone(),
            None => match self.load_graph(&name, &path, load) {
                Some(known) => known,
                None => return,
            },
        };
        let child = self.scopes.len();
        self.scopes[at].children.insert(index, child);
        self.add_scope(known.0, known.1, Some((at, index)), name);
    }

    fn load_graph(&mut self, name: &str, path: &str, load: &mut GraphLoader) -> Option<KnownGraph> {
        let graph = match load(name) {
            Ok(graph) => graph,
            Err(message) => {
                self.problems.push(Problem::error(path, "", message));
                return None;
            }
        };
        let checked = check(&graph, self.catalogue, GraphOwner::Unit, load);
        let errors = checked.problems.iter().filter(|one| one.severity == Severity::Error);
        let mut failed = false;
        for problem in errors {
            failed = true;
            let message = format!("in the graph '{name}': {}", problem.text());
            self.problems.push(Problem::error(path, "", message));
        }
        if failed {
            return None;
        }
        let known = (graph, Arc::new(checked.pins));
        self.known.insert(name.to_string(), known.clone());
        Some(known)
    }

    fn constant(&mut self, value: Literal) -> Operand {
        // Equal literals share a constant. The key is exact: slots show their bits.
        let key = format!("{value:?}");
        let next = self.flat.constants.len() as u32;
        let at = *self.constants.entry(key).or_insert(next);
        if at == next {
            self.flat.constants.push(value);
        }
        Operand::Constant(at)
    }

    /// Returns the operand for a default or a literal.
    fn value_operand(
        &mut self,
        pin: &Pin,
        value: Option<&engine_foundation::sjson::SjsonTree>,
        outer: bool,
    ) -> Operand {
        let units = self.owner.units().filter(|_| outer);
        let value = match (value, &pin.default) {
            (Some(value), _) => pin_literal(pin, value, units).ok(),
            (None, PinDefault::Value(value)) => pin_literal(pin, value, None).ok(),
            (None, PinDefault::Owner) => {
                return Operand::Slot(match pin.kind {
                    FlowType::Level => LEVEL_SLOT,
                    FlowType::World => WORLD_SLOT,
                    FlowType::Handle if matches!(self.owner, GraphOwner::Level(_)) => LEVEL_SLOT,
                    _ => UNIT_SLOT,
                });
            }
            (None, PinDefault::Nil) => Some(Literal::Slot(Slot::NIL)),
            (None, PinDefault::Required) => None,
        };
        let value = value.unwrap_or_else(|| zero(pin.kind));
        match value {
            Literal::LevelUnit(name) => {
                let name = self.constant(Literal::Text(name));
                self.hidden("level unit", Op::LevelUnit, name, FlowType::Unit, 0)
            }
            value => self.constant(value),
        }
    }

    /// Adds a hidden query node, and returns its output.
    fn hidden(
        &mut self,
        path: &str,
        op: Op,
        input: Operand,
        kind: FlowType,
        payload: u32,
    ) -> Operand {
        let at = self.flat.nodes.len() as u32;
        self.flat.nodes.push(FlatNode {
            path: path.to_string(),
            kind: "hidden".to_string(),
            op,
            hidden: true,
            query: true,
            source: None,
            inputs: vec![input],
            input_pins: vec![("value".to_string(), FlowType::Any)],
            outputs: vec![("value".to_string(), kind)],
            event_outputs: Vec::new(),
            targets: Vec::new(),
            payload,
            settings: NodeSource::default(),
            variable: 0,
        });
        Operand::Output(at, 0)
    }

    /// Returns the source of an input, with its type.
    fn input(
        &mut self,
        scope: usize,
        node: usize,
        pin: &Pin,
    ) -> Result<(Operand, FlowType), String> {
        let (mut scope, mut node, mut pin) = (scope, node, pin.clone());
        for _ in 0..STEPS_MAX {
            let graph = self.scopes[scope].graph.clone();
            let (from, from_pin) = match graph.nodes[node].input(&pin.name) {
                Some(InputSource::Wire(from, from_pin)) => (from.clone(), from_pin.clone()),
                Some(InputSource::Literal(value)) => {
                    let outer = self.scopes[scope].parent.is_none();
                    return Ok((self.value_operand(&pin, Some(value), outer), pin.kind));
                }
                None => return Ok((self.value_operand(&pin, None, false), pin.kind)),
            };
            let at = graph.find(&from).expect("the graph was checked");
            let source = &graph.nodes[at];
            match source.kind.as_str() {
                "variable.value" => {
                    let index = variable(source, &graph)?;
                    let slot = self.scopes[scope].first_variable + index as u32;
                    return Ok((Operand::Slot(slot), graph.variables[index].kind));
                }
                "self.unit" => return Ok((Operand::Slot(UNIT_SLOT), FlowType::Unit)),
                "self.level" => return Ok((Operand::Slot(LEVEL_SLOT), FlowType::Level)),
                "self.world" => return Ok((Operand::Slot(WORLD_SLOT), FlowType::World)),
                "graph" => {
                    let child = self.scopes[scope].children[&at];
                    let inner = self.scopes[child].graph.clone();
                    let output = inner.outputs.iter().find(|output| output.name == from_pin);
                    let output = output.expect("the graph was checked").clone();
                    let border = inner.nodes.iter().position(|one| one.kind == "graph.outputs");
                    let Some(border) = border else {
                        return Ok((self.value_operand(&output, None, false), output.kind));
                    };
                    (scope, node, pin) = (child, border, output);
                }
                "graph.inputs" => match self.scopes[scope].parent {
                    Some((parent, at)) => {
                        let input = graph.inputs.iter().find(|input| input.name == from_pin);
                        let input = input.expect("the graph was checked").clone();
                        (scope, node, pin) = (parent, at, input);
                    }
                    None => {
                        let input = graph.inputs.iter().find(|input| input.name == from_pin);
                        let input = input.expect("the graph was checked").clone();
                        return Ok((self.value_operand(&input, None, false), input.kind));
                    }
                },
                _ => {
                    let flat = self.scopes[scope].flat[at];
                    let outputs = &self.flat.nodes[flat as usize].outputs;
                    let output = outputs.iter().position(|(name, _)| *name == from_pin);
                    let output = output.expect("the graph was checked");
                    let kind = outputs[output].1;
                    return Ok((Operand::Output(flat, output as u32), kind));
                }
            }
        }
        Err("is part of a cycle of wires through subgraphs".to_string())
    }

    /// Returns the targets of an event output, in the order of the wires.
    fn targets(
        &mut self,
        scope: usize,
        node: usize,
        pin: &str,
    ) -> Result<Vec<EventTarget>, String> {
        let Some(&from) = self.scopes[scope].flat.get(node).filter(|flat| **flat != NO_NODE) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut stack = vec![(scope, node, pin.to_string())];
        let mut steps = 0;
        while let Some((scope, node, name)) = stack.pop() {
            steps += 1;
            if steps > STEPS_MAX {
                return Err("starts a cycle of events through subgraphs".to_string());
            }
            if self.flat.wires.len() >= WIRES_MAX {
                return Err(format!("leads to more than {WIRES_MAX} wires (WIRES_MAX)"));
            }
            let graph = self.scopes[scope].graph.clone();
            if self.scopes[scope].flat[node] != NO_NODE && steps > 1 {
                let target = EventTarget {
                    node: self.scopes[scope].flat[node],
                    input: self.event_input(scope, node, &name),
                    wire: self.flat.wires.len() as u32,
                };
                self.flat.wires.push(FlatWire {
                    from,
                    from_pin: pin.to_string(),
                    to: target.node,
                    to_pin: name,
                });
                found.push(target);
                continue;
            }
            self.follow(scope, node, &name, &graph, &mut stack);
        }
        Ok(found)
    }

    /// Pushes the ends of the wires from an output, or of the border behind it, in reverse.
    fn follow(
        &self,
        scope: usize,
        node: usize,
        pin: &str,
        graph: &GraphSource,
        stack: &mut Vec<(usize, usize, String)>,
    ) {
        let id = &graph.nodes[node].id;
        let order = |wire: &super::source::WireSource| {
            super::source::natural_order(&wire.from, id)
                .then_with(|| wire.from_pin.as_str().cmp(pin))
        };
        let first = graph.wires.partition_point(|wire| order(wire).is_lt());
        let wires = &graph.wires[first..];
        let count = wires.iter().take_while(|wire| order(wire).is_eq()).count();
        for wire in wires[..count].iter().rev() {
            let to = graph.find(&wire.to).expect("the graph was checked");
            match graph.nodes[to].kind.as_str() {
                "graph" => {
                    let child = self.scopes[scope].children[&to];
                    let inner = &self.scopes[child].graph;
                    let border = inner.nodes.iter().position(|one| one.kind == "graph.inputs");
                    stack.extend(border.map(|border| (child, border, wire.to_pin.clone())));
                }
                "graph.outputs" => {
                    let parent = self.scopes[scope].parent;
                    stack.extend(parent.map(|(parent, at)| (parent, at, wire.to_pin.clone())));
                }
                _ => stack.push((scope, to, wire.to_pin.clone())),
            }
        }
    }

    fn event_input(&self, scope: usize, node: usize, pin: &str) -> u32 {
        let inputs = &self.scopes[scope].pins[node].inputs;
        let events = inputs.iter().filter(|one| one.kind == FlowType::Event);
        events.into_iter().position(|one| one.name == pin).unwrap_or(0) as u32
    }

    /// Resolves all inputs and event outputs.
    fn connect(&mut self) {
        for at in 0..self.flat.nodes.len() {
            let Some((scope, node)) = self.flat.nodes[at].source else { continue };
            let pins = self.scopes[scope].pins.clone();
            let data = pins[node].inputs.iter().filter(|pin| pin.kind != FlowType::Event);
            for pin in data {
                let operand = self
                    .input(scope, node, pin)
                    .and_then(|(operand, from)| self.convert(at, operand, from, pin));
                match operand {
                    Ok(operand) => self.flat.nodes[at].inputs.push(operand),
                    Err(message) => {
                        let path = self.flat.nodes[at].path.clone();
                        self.problems.push(Problem::error(&path, &pin.name, message));
                    }
                }
            }
            for output in self.flat.nodes[at].event_outputs.clone() {
                match self.targets(scope, node, &output) {
                    Ok(targets) => self.flat.nodes[at].targets.push(targets),
                    Err(message) => {
                        let path = self.flat.nodes[at].path.clone();
                        self.problems.push(Problem::error(&path, &output, message));
                    }
                }
            }
        }
    }

    fn convert(
        &mut self,
        at: usize,
        operand: Operand,
        from: FlowType,
        pin: &Pin,
    ) -> Result<Operand, String> {
        let path = format!("{}.{}", self.flat.nodes[at].path, pin.name);
        let (op, payload) = match conversion(from, pin.kind) {
            Some(Conversion::None) => return Ok(operand),
            Some(Conversion::Convert) => match pin.kind {
                FlowType::Number => (Op::ToNumber, 0),
                FlowType::Boolean => (Op::ToBoolean, 0),
                _ => (Op::ToText, 0),
            },
            Some(Conversion::Check) => (Op::Check, pin.kind as u32),
            None => {
                return Err(format!(
                    "is of type {}, and its value is of type {}",
                    pin.kind.name(),
                    from.name()
                ));
            }
        };
        Ok(self.hidden(&path, op, operand, pin.kind, payload))
    }
}

fn flat_node(path: String, kind: &NodeType, source: (usize, usize), pins: &NodePins) -> FlatNode {
    let data = |pins: &[Pin]| {
        let data = pins.iter().filter(|pin| pin.kind != FlowType::Event);
        data.map(|pin| (pin.name.clone(), pin.kind)).collect::<Vec<_>>()
    };
    let events = pins.outputs.iter().filter(|pin| pin.kind == FlowType::Event);
    FlatNode {
        path,
        kind: kind.name.clone(),
        op: kind.op,
        hidden: false,
        query: kind.kind == NodeKind::Query,
        source: Some(source),
        inputs: Vec::new(),
        input_pins: data(&pins.inputs),
        outputs: data(&pins.outputs),
        event_outputs: events.map(|pin| pin.name.clone()).collect(),
        targets: Vec::new(),
        payload: 0,
        settings: NodeSource::default(),
        variable: 0,
    }
}
