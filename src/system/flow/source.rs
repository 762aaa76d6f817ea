//! Graphs as sources have them: nodes by id, wires, variables, and the pins of subgraphs. Reading
//! collects all problems of the form; types and pins are checked in check.rs. The order of entries
//! in the text has no effect: nodes and wires are sorted by their ids.

use super::node_type::{Pin, PinDefault};
use super::old_names::{ambiguous_old_name, read_was};
use super::value::FlowType;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::{SjsonTree, SjsonValue};
use engine_foundation::suggest;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Maximum number of nodes of a graph, with the nodes of its subgraphs.
pub const NODES_MAX: usize = 65_536;
/// Maximum number of event wires of a graph, with those of its subgraphs.
pub const WIRES_MAX: usize = 262_144;
/// Maximum number of subgraphs of a graph, with those inside of them.
pub const GRAPHS_MAX: usize = 4096;
/// Maximum number of values of an instance: outputs, variables, and states of nodes.
pub const SLOTS_MAX: u32 = 1 << 18;
/// Maximum number of variables of a graph.
pub const VARIABLES_MAX: usize = 4096;
/// Maximum number of inputs or outputs of a subgraph.
pub const GRAPH_PINS_MAX: usize = 64;
/// Maximum number of problems of a graph that are listed.
pub const PROBLEMS_MAX: usize = 200;
/// Maximum length of a node's id in bytes.
pub const ID_BYTES_MAX: usize = 32;

/// Beginning of the message of a problem of another graph.
const IN_GRAPH: &str = "in the graph '";

const KEYS: [&str; 8] =
    ["variables", "inputs", "outputs", "nodes", "events", "positions", "comments", "groups"];

/// Importance of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Error,
    Warning,
}

/// A problem of a graph, with the node, pin or wire that has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub severity: Severity,
    /// Id of the node; empty if the problem is of no node.
    pub node: String,
    pub pin: String,
    /// Key of the event wire.
    pub wire: String,
    pub message: String,
}

impl Problem {
    /// Returns an error of a node and a pin; empty for none.
    pub fn error(node: &str, pin: &str, message: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Error,
            node: node.to_string(),
            pin: pin.to_string(),
            wire: String::new(),
            message: message.into(),
        }
    }

    pub fn warning(node: &str, pin: &str, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(node, pin, message) }
    }

    fn of_wire(wire: &str, message: impl Into<String>) -> Problem {
        Problem { wire: wire.to_string(), ..Problem::error("", "", message) }
    }

    /// Returns a problem of a node that stands for another graph: the problem is one of that graph.
    pub fn in_subgraph(node: &str, graph: &str, problem: &Problem) -> Problem {
        Problem::error(node, "", format!("{IN_GRAPH}{graph}': {}", problem.text()))
    }

    /// Returns the name of the graph whose problem it is, if it is not the graph of the node.
    pub fn of_subgraph(&self) -> Option<&str> {
        self.message.strip_prefix(IN_GRAPH)?.split('\'').next()
    }

    /// Shortens a list of problems to `PROBLEMS_MAX`, and says so.
    pub fn limit(problems: &mut Vec<Problem>) {
        if problems.len() > PROBLEMS_MAX {
            problems.truncate(PROBLEMS_MAX);
            let message = format!(
                "the first {PROBLEMS_MAX} problems are listed (PROBLEMS_MAX): repair these"
            );
            problems.push(Problem::error("", "", message));
        }
    }

    /// Returns the problem as one line, with its node and pin.
    pub fn text(&self) -> String {
        match (self.node.as_str(), self.pin.as_str(), self.wire.as_str()) {
            ("", _, "") => self.message.clone(),
            ("", _, wire) => format!("wire '{wire}': {}", self.message),
            (node, "", _) => format!("node {node}: {}", self.message),
            (node, pin, _) => format!("node {node}, pin '{pin}': {}", self.message),
        }
    }
}

/// Value of an input in a source.
#[derive(Clone, PartialEq, Debug)]
pub enum InputSource {
    Literal(SjsonTree),
    /// A wire from an output: node id and pin.
    Wire(String, String),
}

/// A node of a source.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NodeSource {
    pub id: String,
    /// Name of the node type.
    pub kind: String,
    pub inputs: Vec<(String, InputSource)>,
    /// Fields other than the type, the inputs and the note.
    pub settings: Vec<(String, SjsonTree)>,
}

impl NodeSource {
    /// Returns the source of an input, if it has one.
    pub fn input(&self, name: &str) -> Option<&InputSource> {
        self.inputs.iter().find(|(input, _)| input == name).map(|(_, source)| source)
    }

    /// Returns a setting of the node, if it is set.
    pub fn setting(&self, name: &str) -> Option<&SjsonTree> {
        self.settings.iter().find(|(setting, _)| setting == name).map(|(_, value)| value)
    }

    /// Returns a setting that is a text.
    pub fn text_setting(&self, name: &str) -> Option<&str> {
        match self.setting(name) {
            Some(SjsonTree::String(text)) => Some(text),
            _ => None,
        }
    }
}

/// An event wire of a source.
#[derive(Clone, PartialEq, Debug)]
pub struct WireSource {
    pub from: String,
    pub from_pin: String,
    pub to: String,
    pub to_pin: String,
}

impl WireSource {
    /// Reads the key of a wire: `n3.out > n9.in`.
    pub fn of_key(key: &str) -> Option<WireSource> {
        let (from, to) = key.split_once('>')?;
        let ((from, from_pin), (to, to_pin)) = (split_end(from)?, split_end(to)?);
        Some(WireSource {
            from: from.to_string(),
            from_pin: from_pin.trim().to_string(),
            to: to.to_string(),
            to_pin: to_pin.trim().to_string(),
        })
    }

    /// Returns the key in the source.
    pub fn key(&self) -> String {
        format!("{}.{} > {}.{}", self.from, self.from_pin, self.to, self.to_pin)
    }
}

/// A variable of a graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    pub name: String,
    pub kind: FlowType,
    pub value: Option<SjsonTree>,
}

/// A graph.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GraphSource {
    /// Sorted by name.
    pub variables: Vec<Variable>,
    /// Pins of the graph as a subgraph, sorted by name.
    pub inputs: Vec<Pin>,
    pub outputs: Vec<Pin>,
    /// Sorted by id.
    pub nodes: Vec<NodeSource>,
    /// Sorted by their ends.
    pub wires: Vec<WireSource>,
    by_id: HashMap<String, usize>,
}

impl GraphSource {
    /// Returns the index of a node.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns the variable with that name.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|variable| variable.name == name)
    }

    /// Sorts the event wires by their ends. Equal ones become one.
    pub fn sort_wires(&mut self) {
        self.wires.sort_compact_by(|a, b| {
            natural_order(&a.from, &b.from)
                .then_with(|| a.from_pin.cmp(&b.from_pin))
                .then_with(|| natural_order(&a.to, &b.to))
                .then_with(|| a.to_pin.cmp(&b.to_pin))
        });
        self.wires.dedup();
    }

    /// Reads a graph, with the problems of its form. Entries with problems are left out.
    pub fn read(tree: &SjsonTree) -> (GraphSource, Vec<Problem>) {
        GraphSource::read_as(tree, false)
    }

    /// Reads the changes of an inherited graph: entries may lack their types, and `null` removes
    /// what is inherited.
    pub fn read_changes(tree: &SjsonTree) -> (GraphSource, Vec<Problem>) {
        GraphSource::read_as(tree, true)
    }

    fn read_as(tree: &SjsonTree, changes: bool) -> (GraphSource, Vec<Problem>) {
        let mut reader = SourceReader { changes, ..SourceReader::default() };
        let SjsonTree::Object(entries) = tree else {
            let message = "a graph must be a block: { nodes = { … } events = { … } }";
            return (reader.graph, vec![Problem::error("", "", message)]);
        };
        for (key, value) in entries {
            reader.entry(key, value);
        }
        reader.check_old_names();
        let SourceReader { mut graph, mut problems, .. } = reader;
        Problem::limit(&mut problems);
        graph.nodes.sort_compact_by(|a, b| natural_order(&a.id, &b.id));
        graph.variables.sort_compact_by(|a, b| a.name.cmp(&b.name));
        graph.inputs.sort_compact_by(|a, b| a.name.cmp(&b.name));
        graph.outputs.sort_compact_by(|a, b| a.name.cmp(&b.name));
        graph.sort_wires();
        graph.by_id =
            graph.nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        (graph, problems)
    }
}

/// Compares ids so that n2 is before n10.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    /// Returns the text before the digits at the end, and the digits without zeros before them.
    fn split(text: &[u8]) -> (&[u8], &[u8]) {
        let mut at = text.len();
        while at > 0 && text[at - 1].is_ascii_digit() {
            at -= 1;
        }
        let mut number = at;
        while number + 1 < text.len() && text[number] == b'0' {
            number += 1;
        }
        (&text[..at], &text[number..])
    }
    let ((a_text, a_number), (b_text, b_number)) = (split(a.as_bytes()), split(b.as_bytes()));
    let numbers = || a_number.len().cmp(&b_number.len()).then_with(|| a_number.cmp(b_number));
    a_text.cmp(b_text).then_with(numbers).then_with(|| a.cmp(b))
}

/// Returns true if a text can be the id of a node.
pub fn is_id(text: &str) -> bool {
    text.len() <= ID_BYTES_MAX
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Splits `n3.out` into the node and the pin.
fn split_end(text: &str) -> Option<(&str, &str)> {
    text.trim().split_once('.').filter(|(node, pin)| is_id(node) && !pin.is_empty())
}

#[derive(Default)]
struct SourceReader {
    graph: GraphSource,
    problems: Vec<Problem>,
    /// True if the tree changes a graph that is inherited.
    changes: bool,
}

impl SourceReader {
    fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(Problem::error("", "", message));
    }

    fn entry(&mut self, key: &str, value: &SjsonTree) {
        if !KEYS.contains(&key) {
            let hint = suggest::hint(key, KEYS);
            return self.problem(format!("unknown key '{key}' in a graph{hint}"));
        }
        let SjsonTree::Object(entries) = value else {
            return self.problem(format!("'{key}' must be a block: {key} = {{ … }}"));
        };
        let limits = [
            ("nodes", NODES_MAX, "NODES_MAX"),
            ("events", WIRES_MAX, "WIRES_MAX"),
            ("variables", VARIABLES_MAX, "VARIABLES_MAX"),
            ("inputs", GRAPH_PINS_MAX, "GRAPH_PINS_MAX"),
            ("outputs", GRAPH_PINS_MAX, "GRAPH_PINS_MAX"),
        ];
        if let Some((_, most, name)) = limits.iter().find(|(limited, ..)| *limited == key)
            && entries.len() > *most
        {
            let count = entries.len();
            return self.problem(format!(
                "'{key}' has {count} entries, and {most} are the most ({name}): divide the graph"
            ));
        }
        for (name, value) in entries {
            if self.changes && *value == SjsonTree::Null {
                continue;
            }
            match key {
                "nodes" => self.node(name, value),
                "events" => self.wire(name, value),
                "variables" => self.variable(name, value),
                "inputs" | "outputs" => self.pin(key, name, value),
                // Positions, comments and groups are of the editor only.
                _ => {}
            }
        }
    }

    fn node(&mut self, id: &str, value: &SjsonTree) {
        let error = |message: String| Problem::error(id, "", message);
        if !is_id(id) {
            self.problems.push(error(format!(
                "'{id}' is not the id of a node: use letters, digits and '_', at most \
                 {ID_BYTES_MAX}, beginning with a letter"
            )));
            return;
        }
        let SjsonTree::Object(fields) = value else {
            let message = format!("must be a block: {id} = {{ type = \"event.spawned\" }}");
            self.problems.push(error(message));
            return;
        };
        let mut node = NodeSource {
            id: id.to_string(),
            kind: String::new(),
            inputs: Vec::new(),
            settings: Vec::new(),
        };
        for (field, value) in fields {
            match (field.as_str(), value) {
                ("type", SjsonTree::String(kind)) => node.kind = kind.clone(),
                ("type", _) => {
                    self.problems.push(error("'type' must be the name of a node type".to_string()));
                }
                ("note", _) => {}
                ("inputs", SjsonTree::Object(inputs)) => {
                    for (name, value) in inputs {
                        if self.changes && *value == SjsonTree::Null {
                            continue;
                        }
                        match input(value) {
                            Ok(source) => node.inputs.push((name.clone(), source)),
                            Err(message) => self.problems.push(Problem::error(id, name, message)),
                        }
                    }
                }
                ("inputs", _) => {
                    let message = "'inputs' must be a block: inputs = { seconds = 2 }";
                    self.problems.push(error(message.to_string()));
                }
                _ => node.settings.push((field.clone(), value.clone())),
            }
        }
        node.inputs.sort_compact_by(|a, b| a.0.cmp(&b.0));
        node.settings.sort_compact_by(|a, b| a.0.cmp(&b.0));
        if node.kind.is_empty() && !self.changes {
            if !fields.iter().any(|(field, _)| field == "type") {
                let message = "has no type: type = \"event.spawned\"";
                self.problems.push(error(message.to_string()));
            }
            return;
        }
        self.graph.nodes.push(node);
    }

    fn wire(&mut self, key: &str, value: &SjsonTree) {
        if *value != SjsonTree::Bool(true) {
            let message = "an event wire has the value true; remove the entry to remove the wire";
            return self.problems.push(Problem::of_wire(key, message));
        }
        match WireSource::of_key(key) {
            Some(wire) => self.graph.wires.push(wire),
            None => {
                let message = "an event wire is \"NODE.PIN > NODE.PIN\" = true";
                self.problems.push(Problem::of_wire(key, message));
            }
        }
    }

    fn check_old_names(&mut self) {
        let blocks = [("inputs", &self.graph.inputs), ("outputs", &self.graph.outputs)];
        let found = blocks.map(|(block, pins)| {
            ambiguous_old_name(pins).map(|old| {
                format!("two pins in '{block}' had the name '{old}': remove it from one 'was'")
            })
        });
        found.into_iter().flatten().for_each(|message| self.problem(message));
    }

    /// Returns true if an entry only changes a part of an inherited one.
    fn is_change(&self, value: &SjsonTree) -> bool {
        self.changes && matches!(value, SjsonTree::Object(_)) && value.get("type").is_none()
    }

    fn variable(&mut self, name: &str, value: &SjsonTree) {
        match (is_id(name), declared_type(value)) {
            (true, Err(_)) if self.is_change(value) => {}
            (false, _) => self.problem(format!(
                "'{name}' is not the name of a variable: use letters, digits and '_'"
            )),
            (_, Err(message)) => self.problem(format!("variable '{name}': {message}")),
            (_, Ok(FlowType::Event)) => {
                self.problem(format!("variable '{name}': an event is no value"));
            }
            (_, Ok(kind)) => {
                let value = value.get("value").cloned();
                self.graph.variables.push(Variable { name: name.to_string(), kind, value });
            }
        }
    }

    fn pin(&mut self, block: &str, name: &str, value: &SjsonTree) {
        let kind = match declared_type(value) {
            Ok(_) if !is_id(name) => {
                return self.problem(format!(
                    "'{name}' in '{block}' is not the name of a pin: use letters, digits and '_'"
                ));
            }
            Ok(kind) => kind,
            Err(_) if self.is_change(value) => return,
            Err(message) => return self.problem(format!("'{name}' in '{block}': {message}")),
        };
        let default = match value.get("value") {
            Some(value) => PinDefault::Value(value.clone()),
            None if kind.is_handle() && kind != FlowType::Handle => PinDefault::Owner,
            None => PinDefault::Required,
        };
        let doc = match value.get("doc") {
            Some(SjsonTree::String(doc)) => doc.clone(),
            _ => String::new(),
        };
        let was = match read_was(name, value.get("was")) {
            Ok(was) => was,
            Err(message) => return self.problem(format!("'{name}' in '{block}': {message}")),
        };
        let pin = Pin { doc, was, ..Pin::new(name, kind).or(default) };
        match block {
            "inputs" => self.graph.inputs.push(pin),
            _ => self.graph.outputs.push(pin),
        }
    }
}

fn declared_type(value: &SjsonTree) -> Result<FlowType, String> {
    match value.get("type") {
        Some(SjsonTree::String(name)) => FlowType::by_name(name).ok_or_else(|| {
            let hint = suggest::hint(name, FlowType::ALL.map(FlowType::name));
            format!("there is no type '{name}'{hint}")
        }),
        _ => Err("must be a block with a type: { type = \"number\" value = 0 }".to_string()),
    }
}

fn input(value: &SjsonTree) -> Result<InputSource, String> {
    let SjsonTree::Object(fields) = value else {
        return Ok(InputSource::Literal(value.clone()));
    };
    match &fields[..] {
        [(key, SjsonTree::String(wire))] if key == "wire" => {
            let (node, pin) = split_end(wire).ok_or_else(|| {
                format!("'{wire}' is not an output: write {{ wire = \"NODE.PIN\" }}")
            })?;
            Ok(InputSource::Wire(node.to_string(), pin.to_string()))
        }
        _ => Err("a value is a literal, or { wire = \"NODE.PIN\" }".to_string()),
    }
}

/// Returns the line of a problem in a text: of the node, of the wire, or of the graph.
pub fn line_of(graph: SjsonValue, problem: &Problem) -> usize {
    find_line(graph, problem).unwrap_or_else(|| graph.line())
}

/// Returns the line of a problem in a text: of its node or its wire, if the text has one.
pub fn find_line(graph: SjsonValue, problem: &Problem) -> Option<usize> {
    let find = |block: &str, name: &str| {
        let block = graph.get(block)?;
        block.entries()?.find(|entry| entry.key == name)
    };
    let node = problem.node.split('/').next().unwrap_or_default();
    let entry = match problem.wire.as_str() {
        "" => find("nodes", node),
        wire => find("events", wire),
    };
    let entry = entry?;
    let input = entry.value.get("inputs").and_then(|inputs| inputs.get(&problem.pin));
    Some(input.map_or_else(|| entry.line(), |value| value.line()))
}
