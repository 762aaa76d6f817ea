//! Flow, the visual scripting: graphs of nodes as text, their validation and compiler, and the
//! interpreter that runs instances of them. Events and values come from the caller, and functions
//! that are not known here are handed out to it. Knows no units, files or scripts.
//!
//! The form of the data follows N. Frykholm, "Visual Scripting the Data-Oriented Way" (Bitsquid,
//! 2010): one static block for each graph, and one dynamic block for each instance.

mod absent_events;
mod built_in;
mod calls;
mod chains;
mod check;
mod compile;
mod connect;
mod control;
mod control_rows;
mod events;
mod explain;
mod failure;
#[cfg(test)]
mod failure_tests;
mod flatten;
mod instance;
#[cfg(test)]
mod limit_tests;
mod literal;
mod live;
#[cfg(test)]
mod live_tests;
mod loaded;
mod merge;
mod node_type;
mod old_names;
#[cfg(test)]
mod old_names_tests;
mod op;
mod picture;
mod pins;
mod program;
mod queries;
mod reload;
pub mod resource;
mod runtime;
mod source;
#[cfg(test)]
mod source_tests;
mod task;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod time_tests;
mod timers;
mod tools;
mod trace;
mod value;
mod value_rows;
#[cfg(test)]
mod value_tests;

pub use absent_events::{EventSources, absent_events};
pub use built_in::{pin_list, pin_tree};
pub use check::{GraphOwner, check};
pub use compile::{Compiled, PULLS_MAX, compile};
pub use explain::{catalogue_tree, explain, node_markdown, node_text, problem_tree};
pub use flatten::GRAPH_DEPTH_MAX;
pub use instance::{INSTANCES_MAX, InstanceId, instance_bytes};
pub use literal::{Literal, check_default};
pub use live::LiveKnown;
pub use merge::{MergeConflict, edit_text, merge};
pub use node_type::{
    Catalogue, NodeKind, NodeOrigin, NodeSetting, NodeType, Pin, PinDefault, SettingKind,
};
pub use old_names::{OldNames, ambiguous_old_name, follow, read_was};
pub use op::Op;
pub use picture::difference_svg;
pub use pins::{GraphLoader, NodePins, pins_of};
pub use program::{EventKind, NodeLocation, Program, ProgramSize};
pub use queries::{CallResult, FlowHost};
pub use runtime::{
    EVENT_VALUES_MAX, EVENTS_MAX, Flow, FlowCall, FlowEvent, FlowOwner, NESTED_EVENTS_MAX,
    NODES_PER_EVENT_MAX, RunState, StoppedNode,
};
pub use source::{
    GraphSource, InputSource, NODES_MAX, NodeSource, Problem, Severity, VARIABLES_MAX, find_line,
    line_of,
};
pub use task::{CALL_EVENTS_MAX, CALL_PINS_MAX, NATIVE_INPUTS_MAX};
pub use timers::TIMERS_MAX;
pub use trace::{FlowTrace, TRACE_EVENTS_MAX};
pub use value::{FlowHeap, FlowType, LIST_ITEMS_MAX, Slot, TEXT_BYTES_MAX, Tag};
