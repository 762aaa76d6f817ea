//! The first half of the compiler: subgraphs are inserted in place of their nodes, and literals
//! become constants. Wires are in connect.rs. No recursion: depth is limited by `GRAPH_DEPTH_MAX`.

use super::check::{GraphOwner, check};
use super::literal::{Literal, UnitNames, literal, pin_literal, zero};
use super::node_type::{Catalogue, NodeKind, NodeType, Pin, PinDefault};
use super::old_names::follow;
use super::op::Op;
use super::pins::{GraphLoader, NodePins, variable};
use super::program::{LEVEL_SLOT, OWNER_SLOTS, UNIT_SLOT, WORLD_SLOT};
use super::source::{
    GRAPHS_MAX, GraphSource, NODES_MAX, NodeSource, PROBLEMS_MAX, Problem, SLOTS_MAX, Severity,
};
use super::value::{FlowType, Slot, Tag};
use engine_foundation::compact_sort::CompactSort;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of graphs that are inside of each other.
pub const GRAPH_DEPTH_MAX: usize = 16;

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
    pub(super) source: Option<(usize, usize)>,
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
    /// Nodes that stand for a subgraph: their paths, and the names of the graphs.
    pub uses: Vec<(String, String)>,
}

/// One use of a graph.
pub(super) struct Scope {
    pub(super) graph: Arc<GraphSource>,
    pub(super) pins: Arc<Vec<Arc<NodePins>>>,
    /// The scope and the node that stand for it.
    pub(super) parent: Option<(usize, usize)>,
    pub(super) prefix: String,
    pub(super) first_variable: u32,
    /// By node: the scope of its graph.
    pub(super) children: HashMap<usize, usize>,
    /// By node: the flat node.
    pub(super) flat: Vec<u32>,
    pub(super) depth: usize,
    pub(super) name: String,
    /// The nodes of its borders.
    pub(super) inputs: Option<usize>,
    pub(super) outputs: Option<usize>,
}

pub(super) const NO_NODE: u32 = u32::MAX;

/// A checked subgraph.
type KnownGraph = (Arc<GraphSource>, Arc<Vec<Arc<NodePins>>>);

pub struct Flattener<'a> {
    catalogue: &'a Catalogue,
    pub(super) owner: GraphOwner<'a>,
    pub(super) units: Option<UnitNames<'a>>,
    pub(super) scopes: Vec<Scope>,
    known: HashMap<String, KnownGraph>,
    pub(super) flat: FlatGraph,
    pub problems: Vec<Problem>,
    /// True if one of the problems is an error.
    failed: bool,
    constants: HashMap<ConstantKey, u32>,
}

/// A constant by its bytes: equal ones share a slot of the program.
#[derive(PartialEq, Eq, Hash)]
enum ConstantKey {
    Slot(Tag, [u32; 4]),
    Text(String),
    LevelUnit(String),
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
    let subgraphs = graph.nodes.iter().filter(|node| node.kind == "graph").count();
    if subgraphs > GRAPHS_MAX {
        let message = format!("more than {GRAPHS_MAX} subgraphs (GRAPHS_MAX): divide the graph");
        return Err(vec![Problem::error("", "", message)]);
    }
    let (graph, mut problems) = follow(graph, catalogue, load);
    let checked = check(&graph, catalogue, owner, load);
    let failed = checked.problems.iter().any(|one| one.severity == Severity::Error);
    problems.extend(checked.problems);
    if failed {
        return Err(problems);
    }
    let mut flattener = Flattener {
        catalogue,
        owner,
        units: owner.units(),
        failed,
        scopes: Vec::new(),
        known: HashMap::new(),
        flat: FlatGraph::default(),
        problems,
        constants: HashMap::new(),
    };
    flattener.add_scope(graph, Arc::new(checked.pins), None, String::new());
    flattener.flat.own_variables = flattener.flat.variables.len();
    let mut at = 0;
    while at < flattener.scopes.len() && !flattener.failed {
        flattener.expand(at, load);
        at += 1;
    }
    if !flattener.failed {
        flattener.connect();
    }
    flattener.flat.graphs = flattener.known.keys().cloned().collect();
    flattener.flat.graphs.sort_compact();
    Problem::limit(&mut flattener.problems);
    match flattener.failed {
        true => Err(flattener.problems),
        false => Ok((flattener.flat, flattener.problems)),
    }
}

impl Flattener<'_> {
    pub(super) fn fail(&mut self, node: &str, pin: &str, message: String) {
        self.add(Problem::error(node, pin, message));
    }

    fn add(&mut self, error: Problem) {
        self.failed = true;
        if self.problems.len() <= PROBLEMS_MAX {
            self.problems.push(error);
        }
    }

    fn add_scope(
        &mut self,
        graph: Arc<GraphSource>,
        pins: Arc<Vec<Arc<NodePins>>>,
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
            let units = self.units.as_ref().filter(|_| parent.is_none());
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
        let border = |kind: &str| graph.nodes.iter().position(|node| node.kind == kind);
        let (inputs, outputs) = (border("graph.inputs"), border("graph.outputs"));
        self.scopes.push(Scope {
            graph,
            pins,
            parent,
            prefix,
            first_variable,
            children,
            flat,
            depth,
            name,
            inputs,
            outputs,
        });
    }

    /// Adds the nodes of a scope, and the scopes of its subgraphs.
    fn expand(&mut self, at: usize, load: &mut GraphLoader) {
        let (graph, pins) = (self.scopes[at].graph.clone(), self.scopes[at].pins.clone());
        if self.flat.nodes.len() + graph.nodes.len() > NODES_MAX {
            let message = format!(
                "the graph and its subgraphs have more than {NODES_MAX} nodes (NODES_MAX): \
                 divide it"
            );
            self.fail("", "", message);
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
                // Inputs are read from the source.
                let (id, kind) = (node.id.clone(), node.kind.clone());
                let settings = node.settings.clone();
                flat.settings = NodeSource { id, kind, inputs: Vec::new(), settings };
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
                self.fail(&path, "", format!("the graph '{name}' contains itself"));
                return;
            }
            scope = self.scopes[outer].parent.map(|(parent, _)| parent);
        }
        if self.scopes[at].depth >= GRAPH_DEPTH_MAX {
            let message = format!(
                "graphs are inside of each other more than {GRAPH_DEPTH_MAX} times \
                 (GRAPH_DEPTH_MAX)"
            );
            self.fail(&path, "", message);
            return;
        }
        if self.scopes.len() > GRAPHS_MAX || self.flat.variables.len() > SLOTS_MAX as usize {
            // Once, not for each of thousands of nodes.
            if !self.failed {
                let message = format!(
                    "more than {GRAPHS_MAX} subgraphs are inside of each other (GRAPHS_MAX), or \
                     their variables are more than {SLOTS_MAX} (SLOTS_MAX)"
                );
                self.fail(&path, "", message);
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
        self.flat.uses.push((path, name.clone()));
        self.add_scope(known.0, known.1, Some((at, index)), name);
    }

    fn load_graph(&mut self, name: &str, path: &str, load: &mut GraphLoader) -> Option<KnownGraph> {
        let graph = match load(name) {
            Ok(graph) => graph,
            Err(message) => {
                self.fail(path, "", message);
                return None;
            }
        };
        // The notes are those of the other graph's own check.
        let (graph, _) = follow(graph, self.catalogue, load);
        let checked = check(&graph, self.catalogue, GraphOwner::Unit, load);
        let errors = checked.problems.iter().filter(|one| one.severity == Severity::Error);
        let mut failed = false;
        for problem in errors {
            failed = true;
            self.add(Problem::in_subgraph(path, name, problem));
        }
        if failed {
            return None;
        }
        let known = (graph, Arc::new(checked.pins));
        self.known.insert(name.to_string(), known.clone());
        Some(known)
    }

    fn constant(&mut self, value: Literal) -> Operand {
        let key = match &value {
            Literal::Slot(slot) => ConstantKey::Slot(slot.tag, slot.bits()),
            Literal::Text(text) => ConstantKey::Text(text.clone()),
            Literal::LevelUnit(name) => ConstantKey::LevelUnit(name.clone()),
        };
        let next = self.flat.constants.len() as u32;
        let at = *self.constants.entry(key).or_insert(next);
        if at == next {
            self.flat.constants.push(value);
        }
        Operand::Constant(at)
    }

    /// Returns the operand for a default or a literal.
    pub(super) fn value_operand(
        &mut self,
        pin: &Pin,
        value: Option<&engine_foundation::sjson::SjsonTree>,
        outer: bool,
        at: u32,
    ) -> Operand {
        let units = self.units.as_ref().filter(|_| outer);
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
                let path = format!("{}.{}", self.flat.nodes[at as usize].path, pin.name);
                self.hidden(&path, Op::LevelUnit, name, FlowType::Unit, 0)
            }
            value => self.constant(value),
        }
    }

    /// Adds a hidden query node, and returns its output.
    pub(super) fn hidden(
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
