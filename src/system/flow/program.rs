//! A compiled graph: one block of numbers that every instance shares. A node is addressed by the
//! offset of its record from the start of the block, and nothing in the block is an address, so
//! that it can be copied. Names are kept next to the block, for tools and for errors.

use super::literal::Literal;
use super::op::Op;
use super::pins::CurvePoints;
use super::value::FlowType;
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::kind_names;

/// Length of a node's record before its inputs, in numbers of 32 bits.
pub const HEADER_LENGTH: usize = 6;
/// Marks an operand as the index of a constant. Other operands are slots of the instance.
pub const CONSTANT: u32 = 1 << 31;

/// Slots of every instance: its unit, level and world.
pub const UNIT_SLOT: u32 = 0;
pub const LEVEL_SLOT: u32 = 1;
pub const WORLD_SLOT: u32 = 2;
/// Number of slots before the variables.
pub const OWNER_SLOTS: u32 = 3;

/// Kind of an event that starts a chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum EventKind {
    Spawned,
    Destroyed,
    Update,
    Custom,
    Collision,
    TriggerEnter,
    TriggerLeave,
    Animation,
    LevelLoaded,
    Input,
    Timer,
}

impl EventKind {
    /// All kinds with the node types that receive them.
    pub const ALL: [(EventKind, &'static str); 11] = [
        (EventKind::Spawned, "event.spawned"),
        (EventKind::Destroyed, "event.destroyed"),
        (EventKind::Update, "event.update"),
        (EventKind::Custom, "event.custom"),
        (EventKind::Collision, "event.collision"),
        (EventKind::TriggerEnter, "event.trigger_enter"),
        (EventKind::TriggerLeave, "event.trigger_leave"),
        (EventKind::Animation, "event.animation"),
        (EventKind::LevelLoaded, "event.level_loaded"),
        (EventKind::Input, "event.input"),
        (EventKind::Timer, "event.timer"),
    ];

    /// Returns the kind that a node type receives.
    pub fn of_type(name: &str) -> Option<EventKind> {
        EventKind::ALL.iter().find(|(_, node)| *node == name).map(|(kind, _)| *kind)
    }
}

/// A node that starts a chain.
#[derive(Clone, PartialEq, Debug)]
pub struct EntryPoint {
    pub kind: EventKind,
    /// Name of a custom event, an animation event or an input action.
    pub name: String,
    /// Offset of the node's record.
    pub node: u32,
}

/// Names of a node.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeInfo {
    /// Id in the source; `n8/n3` for the node n3 of the subgraph n8.
    pub path: String,
    /// Name of the node type.
    pub kind: String,
    /// Offset of the record.
    pub offset: u32,
    /// Names and types of the data outputs.
    pub outputs: Vec<(String, FlowType)>,
    /// Names and types of the data inputs.
    pub inputs: Vec<(String, FlowType)>,
    /// Settings of the node, sorted by name.
    pub settings: Vec<(String, SjsonTree)>,
    /// Number of slots after the outputs.
    pub state: u32,
    /// True for nodes that the compiler has inserted into wires.
    pub hidden: bool,
}

/// Where the source of a node is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeLocation {
    /// Name of the graph whose source has the node, with its kind.
    pub graph: String,
    /// Id of the node in that graph.
    pub node: String,
    /// Input of the node; empty for none.
    pub pin: String,
}

/// Ends of an event wire, for tools and for errors.
#[derive(Clone, PartialEq, Debug)]
pub struct WireInfo {
    /// Index of the node.
    pub from: u32,
    pub from_pin: String,
    pub to: u32,
    pub to_pin: String,
}

/// A variable of the graph itself, not of its subgraphs.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramVariable {
    pub name: String,
    pub kind: FlowType,
    pub slot: u32,
    pub initial: Literal,
}

/// A compiled graph.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Name of the graph, with its kind: `units/barrel.unit`.
    pub name: String,
    pub code: Vec<u32>,
    pub constants: Vec<Literal>,
    /// Number of slots of an instance.
    pub slots: u32,
    /// Variables of the graph, then those of subgraphs under `n8/name`.
    pub variables: Vec<ProgramVariable>,
    /// Number of variables of the graph itself.
    pub own_variables: usize,
    /// Sorted by kind, then in the order of the nodes.
    pub events: Vec<EntryPoint>,
    pub nodes: Vec<NodeInfo>,
    pub wires: Vec<WireInfo>,
    /// Names of the node types that `Op::Call` calls.
    pub functions: Vec<String>,
    /// Curves of timelines, by the payload of the node.
    pub curves: Vec<Vec<CurvePoints>>,
    /// Names of the graphs that are part of it.
    pub graphs: Vec<String>,
    /// Nodes that stand for another graph: their paths, and the names of the graphs.
    pub uses: Vec<(String, String)>,
}

/// Sizes of a program in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramSize {
    /// The code and the constants, which all instances share.
    pub program: usize,
    /// The slots of an instance.
    pub instance: usize,
}

/// A view of a node's record.
#[derive(Clone, Copy)]
pub struct NodeRecord<'a> {
    code: &'a [u32],
    at: usize,
}

/// All operations by number.
static OPERATIONS: [Op; super::op::OPS] = operations();

const fn operations() -> [Op; super::op::OPS] {
    let mut table = [Op::Event; super::op::OPS];
    let mut at = 0;
    while at < table.len() {
        // SAFETY: `Op` is a u16 whose variants have the numbers 0 to `OPS`, without gaps.
        table[at] = unsafe { std::mem::transmute::<u16, Op>(at as u16) };
        at += 1;
    }
    table
}

impl<'a> NodeRecord<'a> {
    #[inline(always)]
    fn word(self, index: usize) -> u32 {
        self.code[self.at + index]
    }

    #[inline(always)]
    pub fn op(self) -> Op {
        OPERATIONS[(self.word(0) & 0xffff) as usize]
    }

    /// Returns the number of data inputs.
    #[inline(always)]
    pub fn inputs(self) -> usize {
        (self.word(0) >> 16 & 0xff) as usize
    }

    /// Returns the number of event outputs.
    #[inline(always)]
    pub fn event_outputs(self) -> usize {
        (self.word(0) >> 24) as usize
    }

    /// Returns the index of the node's names.
    #[inline(always)]
    pub fn info(self) -> usize {
        self.word(1) as usize
    }

    /// Returns the first slot of the outputs; the state follows them.
    #[inline(always)]
    pub fn outputs(self) -> usize {
        self.word(2) as usize
    }

    #[inline(always)]
    pub fn payload(self) -> u32 {
        self.word(3)
    }

    /// Returns the queries to evaluate before the node runs, as offsets of their records.
    #[inline(always)]
    pub fn pulls(self) -> &'a [u32] {
        let at = self.word(4) as usize;
        let count = self.code[at] as usize;
        &self.code[at + 1..at + 1 + count]
    }

    /// Returns the operand of an input.
    #[inline(always)]
    pub fn operand(self, input: usize) -> u32 {
        self.word(HEADER_LENGTH + input)
    }

    /// Returns the targets of an event output: offset of the node, input, wire.
    #[inline(always)]
    pub fn targets(self, output: usize) -> &'a [[u32; 3]] {
        let at = self.code[self.word(5) as usize + output] as usize;
        let count = self.code[at] as usize;
        self.code[at + 1..at + 1 + count * 3].as_chunks().0
    }
}

impl Program {
    /// Returns the record of a node.
    #[inline(always)]
    pub fn node(&self, offset: u32) -> NodeRecord<'_> {
        NodeRecord { code: &self.code, at: offset as usize }
    }

    /// Returns the exact sizes in bytes.
    pub fn size(&self) -> ProgramSize {
        let slot = size_of::<super::value::Slot>();
        ProgramSize {
            program: self.code.len() * 4 + self.constants.len() * slot,
            instance: self.slots as usize * slot,
        }
    }

    /// Returns the entry points of a kind.
    pub fn entries(&self, kind: EventKind) -> &[EntryPoint] {
        let first = self.events.partition_point(|entry| entry.kind < kind);
        let end = self.events.partition_point(|entry| entry.kind <= kind);
        &self.events[first..end]
    }

    /// Returns the variable with that name; `n8/name` for a variable of the subgraph n8.
    pub fn variable(&self, name: &str) -> Option<&ProgramVariable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// Returns the location of a node in the sources of the graph.
    pub fn source_of(&self, node: &NodeInfo) -> NodeLocation {
        // The path of a conversion is the one of its node with the input: `n8/n3.value`.
        let (path, pin) = match node.path.split_once('.') {
            Some((path, pin)) if node.hidden => (path, pin),
            _ => (node.path.as_str(), ""),
        };
        let (graph, id) = match path.rsplit_once('/') {
            Some((outer, id)) => {
                let used = self.uses.iter().find(|(path, _)| path == outer);
                (used.map(|(_, graph)| format!("{graph}.{}", kind_names::FLOW)), id)
            }
            None => (None, path),
        };
        let graph = graph.unwrap_or_else(|| self.name.clone());
        NodeLocation { graph, node: id.to_string(), pin: pin.to_string() }
    }

    /// Returns the index of a node by its path.
    pub fn node_by_path(&self, path: &str) -> Option<usize> {
        self.nodes.iter().position(|node| !node.hidden && node.path == path)
    }
}
