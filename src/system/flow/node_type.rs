//! Types of nodes: pins, settings, and the catalogue in which graphs look them up. The types that
//! the engine executes itself are in built_in.rs; functions of the engine and nodes of games are
//! added by the caller.

use super::built_in;
use super::op::Op;
use super::value::FlowType;
use engine_foundation::sjson::SjsonTree;
use std::collections::HashMap;

/// Use of a node in a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// Starts a chain of events.
    Event,
    /// Runs when an event arrives.
    Action,
    /// Has no events: it is evaluated when a node needs its outputs.
    Query,
    /// Stands for another graph, or is the border of a graph.
    Graph,
}

impl NodeKind {
    /// Returns the name in messages of tools.
    pub const fn name(self) -> &'static str {
        match self {
            NodeKind::Event => "event",
            NodeKind::Action => "action",
            NodeKind::Query => "query",
            NodeKind::Graph => "graph",
        }
    }
}

/// Origin of a node type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeOrigin {
    BuiltIn,
    /// A function of the engine.
    Function,
    /// A node that a script of the game defines, with its file.
    Script(String),
}

/// Default of an input without a value in the graph.
#[derive(Clone, PartialEq, Debug)]
pub enum PinDefault {
    /// The input is required.
    Required,
    /// No value: a function gets nil.
    Nil,
    /// The graph's own unit, level or world.
    Owner,
    Value(SjsonTree),
}

/// An input or an output of a node type.
#[derive(Clone, PartialEq, Debug)]
pub struct Pin {
    pub name: String,
    pub kind: FlowType,
    pub doc: String,
    pub default: PinDefault,
    /// Possible texts; empty for any.
    pub choices: Vec<String>,
    /// Kind of the resource that a text names.
    pub resource: Option<String>,
    /// Names that the pin had: graphs that use them follow.
    pub was: Vec<String>,
}

impl Pin {
    pub fn new(name: &str, kind: FlowType) -> Pin {
        Pin {
            name: name.to_string(),
            kind,
            doc: String::new(),
            default: PinDefault::Required,
            choices: Vec::new(),
            resource: None,
            was: Vec::new(),
        }
    }

    /// Returns the pin with a default.
    pub fn or(self, default: PinDefault) -> Pin {
        Pin { default, ..self }
    }
}

/// Type of a setting of a node: a field of the node next to its inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingKind {
    /// Name of a variable of the graph.
    Variable,
    Text,
    /// A whole number of outputs.
    Count,
    /// Name of a type.
    Type,
    /// Name of a graph.
    Graph,
    /// Keys that are outputs: `cases = { red = true blue = true }`.
    Cases,
    /// Curves that are outputs: `curves = { angle = [[0, 0], [1, 90]] }`.
    Curves,
}

impl SettingKind {
    /// Returns the name in messages of tools.
    pub const fn name(self) -> &'static str {
        match self {
            SettingKind::Variable => "variable",
            SettingKind::Text => "text",
            SettingKind::Count => "number",
            SettingKind::Type => "type",
            SettingKind::Graph => "graph",
            SettingKind::Cases => "cases",
            SettingKind::Curves => "curves",
        }
    }
}

/// A setting of a node type.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeSetting {
    pub name: &'static str,
    pub kind: SettingKind,
    pub doc: &'static str,
    /// The value without an entry in the graph; `None` if the setting is required.
    pub default: Option<SjsonTree>,
}

/// A type of nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeType {
    /// The name in sources, such as `flow.branch`.
    pub name: String,
    /// The name for people.
    pub title: String,
    pub category: String,
    pub doc: String,
    pub kind: NodeKind,
    pub origin: NodeOrigin,
    pub op: Op,
    pub inputs: Vec<Pin>,
    pub outputs: Vec<Pin>,
    pub settings: Vec<NodeSetting>,
    /// True if an output can be sent later than the event that started the node.
    pub latent: bool,
    /// True if pins depend on the settings (pins.rs).
    pub dynamic: bool,
}

/// All types of nodes, by name.
#[derive(Clone, Default, Debug)]
pub struct Catalogue {
    types: Vec<NodeType>,
    by_name: HashMap<String, usize>,
    changes: u64,
}

impl Catalogue {
    /// Returns the catalogue of the types that the engine executes itself.
    pub fn built_in() -> Catalogue {
        let mut catalogue = Catalogue::default();
        for node in built_in::types() {
            catalogue.set(node);
        }
        catalogue
    }

    /// Adds a type, or replaces the type of the same name.
    pub fn set(&mut self, node: NodeType) {
        self.changes += 1;
        match self.by_name.get(&node.name) {
            Some(at) => self.types[*at] = node,
            None => {
                self.by_name.insert(node.name.clone(), self.types.len());
                self.types.push(node);
            }
        }
    }

    /// Removes the types that scripts of the game define.
    pub fn remove_scripted(&mut self) {
        self.changes += 1;
        self.types.retain(|node| !matches!(node.origin, NodeOrigin::Script(_)));
        let names = self.types.iter().enumerate().map(|(at, node)| (node.name.clone(), at));
        self.by_name = names.collect();
    }

    /// Returns the types that scripts of the game define.
    pub fn scripted(&self) -> Vec<NodeType> {
        let is_scripted = |node: &&NodeType| matches!(node.origin, NodeOrigin::Script(_));
        self.types.iter().filter(is_scripted).cloned().collect()
    }

    /// Returns the type with that name.
    pub fn find(&self, name: &str) -> Option<&NodeType> {
        self.by_name.get(name).map(|at| &self.types[*at])
    }

    /// Returns the number of changes since the catalogue was created.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns all types, in the order in which they were added.
    pub fn types(&self) -> &[NodeType] {
        &self.types
    }

    /// Returns the index of a type, which functions of programs are called by.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}
