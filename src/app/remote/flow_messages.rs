//! The rows of the table of messages that are about graphs.

use super::flow;
use super::message_table::{FieldType, HANDLE, MessageField, MessageRow, optional, required};

const GRAPH: MessageField =
    required("graph", FieldType::Text, "with its kind: units/barrel.unit, graphs/door.flow");
const INSTANCE: MessageField = required("instance", HANDLE, "its number");

/// All messages about graphs.
pub static MESSAGES: &[MessageRow] = &[
    MessageRow {
        name: "flow_graphs",
        doc: "Lists the graphs of the game.",
        fields: &[],
        answer: "graphs: graph, path, instances, nodes, problems (number of errors), size \
                 (static, dynamic)",
        run: flow::graphs,
    },
    MessageRow {
        name: "flow_nodes",
        doc: "Returns the types of nodes.",
        fields: &[],
        answer: "types, conversions (from, to, checked), nodes (type, name, category, doc, kind, \
                 origin, latent, dynamic, settings, inputs, outputs)",
        run: flow::nodes,
    },
    MessageRow {
        name: "flow_open",
        doc: "Returns the source of a graph from its file.",
        fields: &[
            GRAPH,
            optional("known", FieldType::Text, "a revision: of it, no source is returned"),
        ],
        answer: "graph, revision, and unchanged; or path, kind, units (of a level), source (JSON \
                 text)",
        run: flow::open,
    },
    MessageRow {
        name: "flow_validate",
        doc: "Validates a source.",
        fields: &[GRAPH, required("source", FieldType::Text, "the source as JSON text")],
        answer: "problems (severity, node, pin, wire, message), pins (of nodes whose pins depend \
                 on settings), size (static, dynamic), catalogue (changes of the node types), \
                 renamed (the source with the new names of pins, or null)",
        run: flow::validate,
    },
    MessageRow {
        name: "flow_save",
        doc: "Saves a source in its file, merged with the changes on disk since it was opened. A \
              .flow file is created if it does not exist.",
        fields: &[
            GRAPH,
            required("base", FieldType::Text, "the source as it was opened, as JSON text"),
            required("source", FieldType::Text, "the source as JSON text"),
            optional("resolve", FieldType::Text, "for conflicts: mine or disk"),
        ],
        answer: "saved, merged, revision, source; or conflicts (path, base, mine, disk), and \
                 nothing is saved",
        run: flow::save,
    },
    MessageRow {
        name: "flow_apply_renames",
        doc: "Writes the new names of renamed pins into the files of all graphs that use old ones, \
              as one change: all files or none. `engine undo` takes it back.",
        fields: &[],
        answer: "graphs (those that were changed), skipped (path and message of files that cannot \
                 be read), more (true if files are left for the next message)",
        run: flow::apply_renames,
    },
    MessageRow {
        name: "flow_instances",
        doc: "Lists the instances of a graph, and of graphs that contain it as a subgraph.",
        fields: &[GRAPH],
        answer: "instances (instance, graph, prefix of the subgraph's nodes, world, unit, level, \
                 name, position)",
        run: flow::instances,
    },
    MessageRow {
        name: "flow_live",
        doc: "Returns the newest events of an instance, and its values. The first message begins \
              the recording, which ends after two seconds without one. The last events of an \
              instance that has ended are there as long as its recording.",
        fields: &[
            INSTANCE,
            optional("after", HANDLE, "only events and counts after this event [0]"),
            optional("known", HANDLE, "revision of the last values: only later changes of them"),
        ],
        answer: "frame, sequence, lost, wires (node, pin, node, pin), events (number, frame, index \
                 of the wire from 0), counts, revision, values, ended (true after the end of the \
                 instance), paused (node, instance, graph), problem",
        run: flow::live,
    },
    MessageRow {
        name: "flow_breakpoint",
        doc: "Sets a breakpoint: the game pauses before the node runs. Returns the breakpoints of \
              the graph; without a node, nothing is set.",
        fields: &[
            GRAPH,
            optional("node", FieldType::Text, "id of the node"),
            optional("on", FieldType::Boolean, "true sets it, false removes it [false]"),
        ],
        answer: "breakpoints, paused (node, instance, graph)",
        run: flow::breakpoint,
    },
    MessageRow {
        name: "flow_step",
        doc: "Runs one node after a breakpoint.",
        fields: &[],
        answer: "paused (node, instance, graph)",
        run: flow::step,
    },
    MessageRow {
        name: "flow_resume",
        doc: "Continues the events after a breakpoint, and the game.",
        fields: &[],
        answer: "nothing",
        run: flow::resume,
    },
    MessageRow {
        name: "flow_event",
        doc: "Sends a custom event to an instance.",
        fields: &[INSTANCE, required("name", FieldType::Text, "name of the event")],
        answer: "taken",
        run: flow::event,
    },
];
