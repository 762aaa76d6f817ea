//! Validation of one graph: types, settings, pins, literals and wires. Each problem names its node
//! and pin. Cycles are found by the compiler, because they can lead through subgraphs.

use super::literal::{UnitNames, literal, pin_literal};
use super::node_type::{Catalogue, NodeKind, NodeOrigin, NodeType, Pin, PinDefault};
use super::pins::{GraphLoader, NodePins, pins_of};
use super::source::{GraphSource, InputSource, NodeSource, PROBLEMS_MAX, Problem, WireSource};
use super::value::{Conversion, FlowType, conversion};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Owner of a graph.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum GraphOwner<'a> {
    /// A unit, or any unit or level for a file of its own.
    Unit,
    /// A level, with the names of its units.
    Level(&'a [String]),
}

impl<'a> GraphOwner<'a> {
    /// Returns the names of the level's units.
    pub fn units(self) -> Option<UnitNames<'a>> {
        match self {
            GraphOwner::Unit => None,
            GraphOwner::Level(units) => Some(UnitNames::new(units)),
        }
    }
}

/// A checked graph: the pins of each node, by the index of the node.
pub struct CheckedGraph {
    pub pins: Vec<Arc<NodePins>>,
    pub problems: Vec<Problem>,
}

/// Checks a graph.
pub fn check(
    graph: &GraphSource,
    catalogue: &Catalogue,
    owner: GraphOwner,
    load: &mut GraphLoader,
) -> CheckedGraph {
    let mut checker = GraphChecker {
        graph,
        catalogue,
        owner,
        units: owner.units(),
        types: Vec::with_capacity(graph.nodes.len()),
        known: Vec::with_capacity(graph.nodes.len()),
        shared: HashMap::new(),
        subgraphs: HashMap::new(),
        checked: CheckedGraph { pins: Vec::new(), problems: Vec::new() },
    };
    for node in &graph.nodes {
        checker.read_pins(node, load);
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        if checker.is_full() {
            break;
        }
        checker.check_inputs(at, node);
    }
    checker.check_wires();
    checker.check_borders();
    checker.check_values();
    checker.warn_of_idle_nodes();
    checker.warn_after_end();
    Problem::limit(&mut checker.checked.problems);
    checker.checked
}

/// Returns the hint for the old name of an input that has a value under its new name, too.
fn renamed_hint(node: &NodeSource, old: &str, pins: &[Pin]) -> Option<String> {
    let mut renamed = pins.iter().filter(|pin| pin.was.iter().any(|was| was == old));
    let now = &renamed.next()?.name;
    let is_only = renamed.next().is_none();
    let is_used = is_only && node.input(now).is_some();
    is_used.then(|| format!(": '{old}' is '{now}' now, which has a value, too: remove one"))
}

/// Returns a warning about a literal number with which a timer or a loop never ends.
fn endless_value(node: &NodeSource, input: &str, source: &InputSource) -> Option<&'static str> {
    let InputSource::Literal(SjsonTree::Number(number)) = source else { return None };
    let is_once = match node.input("loop") {
        Some(InputSource::Literal(value)) => *value == SjsonTree::Bool(false),
        Some(InputSource::Wire(..)) => true,
        None => false,
    };
    match (&node.kind[..], input) {
        ("event.timer", "seconds") if *number <= 0.0 && !is_once => {
            Some("is not more than 0, so that the timer runs in each update: use event.update")
        }
        ("flow.for", "step") if *number == 0.0 => {
            Some("is 0, so that the loop never ends: write 1, or -1 to count down")
        }
        _ => None,
    }
}

/// Types of nodes that end the unit of their input `unit`, which is the graph's own by default.
const ENDS_UNIT: [&str; 3] = ["unit.destroy", "unit.replace", "World.destroy_unit"];

struct GraphChecker<'a> {
    graph: &'a GraphSource,
    catalogue: &'a Catalogue,
    owner: GraphOwner<'a>,
    units: Option<UnitNames<'a>>,
    types: Vec<Option<&'a NodeType>>,
    /// By node: true if its pins are known.
    known: Vec<bool>,
    /// Pins of the types whose nodes all have the same, by name.
    shared: HashMap<&'a str, Arc<NodePins>>,
    /// Pins of subgraphs, by their names.
    subgraphs: HashMap<String, Arc<NodePins>>,
    checked: CheckedGraph,
}

impl GraphChecker<'_> {
    fn error(&mut self, node: &str, pin: &str, message: impl Into<String>) {
        self.checked.problems.push(Problem::error(node, pin, message));
    }

    /// Returns true if more problems would not be listed.
    fn is_full(&self) -> bool {
        self.checked.problems.len() > PROBLEMS_MAX
    }

    fn read_pins(&mut self, node: &NodeSource, load: &mut GraphLoader) {
        let kind = self.catalogue.find(&node.kind);
        self.types.push(kind);
        let Some(kind) = kind else {
            if !self.is_full() {
                let names = self.catalogue.types().iter().map(|one| one.name.as_str());
                let hint = suggest::hint(&node.kind, names);
                self.error(&node.id, "", format!("there is no node type '{}'{hint}", node.kind));
            }
            self.known.push(false);
            self.checked.pins.push(Arc::default());
            return;
        };
        for (name, _) in &node.settings {
            if !kind.settings.iter().any(|setting| setting.name == name) {
                let known = ["type", "inputs", "note"].into_iter();
                let names = kind.settings.iter().map(|setting| setting.name).chain(known);
                let hint = suggest::hint(name, names);
                let message = format!("a node of type '{}' has no field '{name}'{hint}", kind.name);
                self.error(&node.id, "", message);
            }
        }
        for setting in &kind.settings {
            if setting.default.is_none() && node.text_setting(setting.name).is_none() {
                let message = format!("needs '{}': the {}", setting.name, setting.doc);
                self.error(&node.id, "", message);
            }
        }
        let subgraph = node.text_setting("graph").filter(|_| kind.name == "graph");
        let shared = match subgraph {
            Some(graph) => self.subgraphs.get(graph),
            None => self.shared.get(&kind.name[..]).filter(|_| !kind.dynamic),
        };
        let pins = match shared {
            Some(pins) => Ok(pins.clone()),
            None => pins_of(node, kind, self.graph, load).map(Arc::new),
        };
        match (&pins, subgraph) {
            (Ok(pins), Some(graph)) if !self.subgraphs.contains_key(graph) => {
                self.subgraphs.insert(graph.to_string(), pins.clone());
            }
            (Ok(pins), None) if !kind.dynamic => {
                self.shared.entry(&kind.name).or_insert_with(|| pins.clone());
            }
            _ => {}
        }
        self.known.push(pins.is_ok());
        match pins {
            Ok(pins) => self.checked.pins.push(pins),
            Err(message) => {
                if kind.settings.iter().all(|setting| node.setting(setting.name).is_some()) {
                    self.error(&node.id, "", message);
                }
                self.checked.pins.push(Arc::default());
            }
        }
        if kind.name == "variable.add"
            && let Ok(at) = super::pins::variable(node, self.graph)
            && self.graph.variables[at].kind != FlowType::Number
        {
            self.error(&node.id, "", "the variable is not a number: use variable.set");
        } else if kind.name == "variable.add"
            && let Err(message) = super::pins::variable(node, self.graph)
            && node.setting("variable").is_some()
        {
            self.error(&node.id, "", message);
        }
    }

    /// Returns an output of a node, or the message for a missing one; `None` if the pins of the
    /// node are not known, which was reported.
    fn output(&self, node: &str, pin: &str) -> Result<Option<&Pin>, String> {
        let Some(at) = self.graph.find(node) else {
            let hint = suggest::hint(node, self.graph.nodes.iter().map(|one| one.id.as_str()));
            return Err(format!("comes from the node '{node}', which does not exist{hint}"));
        };
        if !self.known[at] {
            return Ok(None);
        }
        let outputs = &self.checked.pins[at].outputs;
        outputs.iter().find(|output| output.name == pin).map(Some).ok_or_else(|| {
            let mut hint = self.pin_hint(at, pin, outputs);
            if hint.is_empty() && !outputs.is_empty() {
                let names: Vec<_> = outputs.iter().map(|one| one.name.as_str()).take(8).collect();
                hint = format!(": it has {}", names.join(", "));
            }
            format!("comes from '{node}.{pin}', and the node '{node}' has no such output{hint}")
        })
    }

    /// Returns a suggestion for a missing pin. A pin of another graph, or of a node in Lua, was
    /// probably renamed: to one without a wire.
    fn pin_hint(&self, at: usize, missing: &str, pins: &[Pin]) -> String {
        let names = || pins.iter().map(|pin| pin.name.as_str());
        let node = &self.graph.nodes[at];
        let is_of_game = |kind: &NodeType| matches!(kind.origin, NodeOrigin::Script(_));
        if node.kind != "graph" && !self.types[at].is_some_and(is_of_game) {
            return suggest::hint(missing, names());
        }
        let near = suggest::hint(missing, names());
        if !near.is_empty() {
            return near;
        }
        let wires = self.graph.wires.iter();
        let ends = wires.flat_map(|wire| [(&wire.from, &wire.from_pin), (&wire.to, &wire.to_pin)]);
        let nodes = self.graph.nodes.iter();
        let values = nodes.flat_map(|node| &node.inputs).filter_map(|(_, source)| match source {
            InputSource::Wire(from, pin) => Some((from, pin)),
            InputSource::Literal(_) => None,
        });
        let of_node = ends.chain(values).filter(|(id, _)| **id == node.id);
        let used: HashSet<&str> = of_node.map(|(_, pin)| pin.as_str()).collect();
        let free = |name: &&str| !used.contains(name) && node.input(name).is_none();
        let free: Vec<&str> = names().filter(free).collect();
        match free[..] {
            [name] => format!(": was it renamed to '{name}'?"),
            _ => suggest::hint_or_names(missing, names()),
        }
    }

    fn check_inputs(&mut self, at: usize, node: &NodeSource) {
        if !self.known[at] {
            return;
        }
        let known = self.checked.pins[at].clone();
        let pins = &known.inputs;
        for (name, source) in &node.inputs {
            let Some(pin) = pins.iter().find(|pin| pin.name == *name) else {
                let hint = renamed_hint(node, name, pins);
                let hint = hint.unwrap_or_else(|| self.pin_hint(at, name, pins));
                self.error(&node.id, name, format!("there is no such input{hint}"));
                continue;
            };
            if pin.kind == FlowType::Event {
                let message = "is an event: connect it in 'events'";
                self.error(&node.id, name, message);
                continue;
            }
            match (self.check_input(pin, source), self.wire_hint(source)) {
                (Err(message), hint) => {
                    self.error(&node.id, name, message + &hint.unwrap_or_default());
                }
                (Ok(()), Some(hint)) => {
                    let message = format!("is a text{hint}");
                    self.checked.problems.push(Problem::warning(&node.id, name, message));
                }
                (Ok(()), None) => {
                    if let Some(message) = endless_value(node, name, source) {
                        self.checked.problems.push(Problem::warning(&node.id, name, message));
                    }
                }
            }
        }
        for pin in pins.iter().filter(|pin| pin.kind != FlowType::Event) {
            if pin.default == PinDefault::Required && node.input(&pin.name).is_none() {
                let message = "has no value: connect a wire, or set a value";
                self.error(&node.id, &pin.name, message);
            }
            let is_level = matches!(self.owner, GraphOwner::Level(_));
            if pin.default == PinDefault::Owner
                && pin.kind == FlowType::Unit
                && is_level
                && node.input(&pin.name).is_none()
            {
                let message = "has no value: a level's graph has no unit of its own";
                self.error(&node.id, &pin.name, message);
            }
        }
    }

    /// Returns a hint for a literal text that is the name of an output, such as `count.value`.
    fn wire_hint(&self, source: &InputSource) -> Option<String> {
        let InputSource::Literal(SjsonTree::String(text)) = source else { return None };
        let (node, pin) = text.rsplit_once('.')?;
        let at = self.graph.find(node)?;
        let mut outputs = self.checked.pins[at].outputs.iter();
        let output = outputs.find(|output| output.name == pin)?;
        Some(match output.kind {
            FlowType::Event => format!("; '{text}' is an event: connect it in 'events'"),
            _ => format!("; for the value of this output, write {{ wire = \"{text}\" }}"),
        })
    }

    fn check_input(&self, pin: &Pin, source: &InputSource) -> Result<(), String> {
        match source {
            InputSource::Literal(value) => pin_literal(pin, value, self.units.as_ref()).map(|_| ()),
            InputSource::Wire(from, from_pin) => {
                let Some(output) = self.output(from, from_pin)? else { return Ok(()) };
                match conversion(output.kind, pin.kind) {
                    Some(Conversion::None | Conversion::Convert | Conversion::Check) => Ok(()),
                    None => Err(format!(
                        "is of type {}, and '{from}.{from_pin}' is of type {}: connect another \
                         output, or convert it with a node",
                        pin.kind.name(),
                        output.kind.name()
                    )),
                }
            }
        }
    }

    fn check_wires(&mut self) {
        for wire in &self.graph.wires {
            if self.is_full() {
                return;
            }
            if let Err(message) = self.check_wire(wire) {
                let known = self.graph.find(&wire.from).is_some();
                let node = if known { &wire.from } else { &wire.to };
                let problem = Problem { wire: wire.key(), ..Problem::error(node, "", message) };
                self.checked.problems.push(problem);
            }
        }
    }

    fn check_wire(&self, wire: &WireSource) -> Result<(), String> {
        if let Some(output) = self.output(&wire.from, &wire.from_pin)?
            && output.kind != FlowType::Event
        {
            return Err(format!(
                "'{}.{}' is a value: connect it in the inputs of a node",
                wire.from, wire.from_pin
            ));
        }
        let Some(at) = self.graph.find(&wire.to) else {
            let names = self.graph.nodes.iter().map(|one| one.id.as_str());
            let hint = suggest::hint(&wire.to, names);
            return Err(format!("leads to the node '{}', which does not exist{hint}", wire.to));
        };
        let events = || {
            let inputs = self.checked.pins[at].inputs.iter();
            inputs.filter(|pin| pin.kind == FlowType::Event)
        };
        if self.known[at] && !events().any(|pin| pin.name == wire.to_pin) {
            let events: Vec<Pin> = events().cloned().collect();
            let hint = self.pin_hint(at, &wire.to_pin, &events);
            return Err(format!(
                "leads to '{}.{}', and this node has no such input for events{hint}",
                wire.to, wire.to_pin
            ));
        }
        Ok(())
    }

    /// Checks that a graph has at most one node of each border.
    fn check_borders(&mut self) {
        for border in ["graph.inputs", "graph.outputs"] {
            let nodes: Vec<_> =
                self.graph.nodes.iter().filter(|node| node.kind == border).collect();
            if let [_, second, ..] = nodes[..] {
                let message = format!("a graph has one node of type '{border}': remove this one");
                self.error(&second.id, "", message);
            }
        }
    }

    fn check_values(&mut self) {
        for variable in &self.graph.variables {
            if let Some(value) = &variable.value
                && let Err(message) = literal(variable.kind, value, self.units.as_ref())
            {
                self.error("", "", format!("the value of variable '{}' {message}", variable.name));
            }
        }
        for pin in self.graph.inputs.iter().chain(&self.graph.outputs) {
            if let PinDefault::Value(value) = &pin.default
                && let Err(message) = literal(pin.kind, value, None)
            {
                self.error("", "", format!("the value of '{}' {message}", pin.name));
            }
        }
    }

    /// Warns of event wires that leave a node which ends the unit of the graph: what follows never
    /// runs.
    fn warn_after_end(&mut self) {
        if matches!(self.owner, GraphOwner::Level(_)) {
            return;
        }
        for wire in &self.graph.wires {
            let Some(at) = self.graph.find(&wire.from) else { continue };
            let node = &self.graph.nodes[at];
            if self.is_full() || !ENDS_UNIT.contains(&node.kind.as_str()) {
                continue;
            }
            let is_own = match node.input("unit") {
                None => true,
                Some(InputSource::Wire(from, _)) => {
                    self.graph.find(from).is_some_and(|at| self.graph.nodes[at].kind == "self.unit")
                }
                Some(InputSource::Literal(_)) => false,
            };
            if is_own {
                let message = format!(
                    "'{}.{}' never runs: this node ends the unit of the graph, and the graph with \
                     it. Put it before '{}'",
                    wire.to, wire.to_pin, node.id
                );
                let problem =
                    Problem { wire: wire.key(), ..Problem::warning(&node.id, "", message) };
                self.checked.problems.push(problem);
            }
        }
    }

    /// Warns of nodes that no event reaches.
    fn warn_of_idle_nodes(&mut self) {
        let nodes = &self.graph.nodes;
        let mut reached = vec![false; nodes.len()];
        let mut stack: Vec<usize> = Vec::new();
        for (at, kind) in self.types.iter().enumerate() {
            let starts = match kind {
                Some(kind) => {
                    kind.kind == NodeKind::Event
                        || kind.name == "graph.inputs"
                        || kind.name == "graph"
                }
                None => true,
            };
            if starts {
                reached[at] = true;
                stack.push(at);
            }
        }
        while let Some(at) = stack.pop() {
            let from = &nodes[at].id;
            let first = self
                .graph
                .wires
                .partition_point(|wire| super::source::natural_order(&wire.from, from).is_lt());
            for wire in self.graph.wires[first..].iter().take_while(|wire| wire.from == *from) {
                if let Some(to) = self.graph.find(&wire.to)
                    && !reached[to]
                {
                    reached[to] = true;
                    stack.push(to);
                }
            }
        }
        for (at, node) in nodes.iter().enumerate() {
            let is_action = self.types[at].is_some_and(|kind| kind.kind == NodeKind::Action);
            if is_action && !reached[at] {
                let message = "no event reaches this node, so it never runs";
                self.checked.problems.push(Problem::warning(&node.id, "", message));
            }
        }
    }
}
