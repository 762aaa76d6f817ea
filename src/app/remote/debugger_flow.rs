//! Breakpoints of the debugger in graphs, by the lines of their files, and the nodes before which
//! events stop. A stopped graph pauses the game between two frames: no script is stopped.

use super::debugger::{check_tool, send_event};
use super::flow::subgraph_paths;
use super::message_table::{FieldType, MessageRow, required, text};
use super::{IncomingCall, Refusal, RemoteTools};
use crate::App;
use crate::flow::GraphFile;
use engine_flow::{Flow, InstanceId, LiveKnown, Program, StoppedNode};
use engine_foundation::json::{self, object};
use engine_foundation::sjson::{self, SjsonTree};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

/// Maximum number of breakpoints in the graphs of one file.
const BREAKPOINTS_MAX: usize = 1000;
/// The ids of breakpoints in graphs begin here, after those of breakpoints in scripts.
const FIRST_ID: u32 = 1_000_000_000;
/// Maximum number of nodes in one list.
const NODES_MAX: usize = 5000;
/// Maximum number of values of a stopped graph in one answer.
const VALUES_MAX: usize = 1000;
/// Maximum depth of subgraphs, as for graphs themselves.
const DEPTH_MAX: usize = 64;

/// Messages about graphs.
pub static MESSAGES: &[MessageRow] = &[
    MessageRow {
        name: "debug_flow_breakpoints",
        doc: "Sets the breakpoints of the graph in a file, in place of those before. A line means \
              the node whose text it is in.",
        fields: &[
            required("file", FieldType::Text, "in the game's folder: units/door.unit"),
            required("lines", FieldType::Numbers(BREAKPOINTS_MAX), "lines, from 1"),
        ],
        answer: "breakpoints (id, line, verified, message)",
        run: set_lines,
    },
    MessageRow {
        name: "debug_flow_nodes",
        doc: "Lists the nodes of all graphs in the game's folder.",
        fields: &[],
        answer: "nodes (graph, node, title, breaks)",
        run: list_nodes,
    },
    MessageRow {
        name: "debug_flow_set_nodes",
        doc: "Sets the breakpoints of all graphs, in place of those before.",
        fields: &[
            required("graphs", FieldType::Texts, "the graph of each node: units/door.unit"),
            required("nodes", FieldType::Texts, "the nodes"),
        ],
        answer: "kept (the ids of breakpoints that were set before and stay)",
        run: set_nodes,
    },
    MessageRow {
        name: "debug_flow_values",
        doc: "Returns the values of the graph that a breakpoint has stopped.",
        fields: &[],
        answer: "variables (name, value)",
        run: values,
    },
];

/// Breakpoints of a tool in graphs.
#[derive(Default)]
pub struct FlowBreakpoints {
    points: Vec<FlowPoint>,
    last_number: u32,
    /// The loaded programs when the points were last looked for in them.
    known_programs: Vec<Weak<Program>>,
    /// The node at which the tool knows the events to be stopped.
    announced: Option<(InstanceId, String)>,
}

/// A breakpoint before a node.
struct FlowPoint {
    id: u32,
    /// The graph with the node, and the node's key in it.
    graph: String,
    node: String,
    /// Programs that contain the graph, with the path of the node in them.
    set_in: BTreeSet<(String, String)>,
}

type Answer = Result<Option<SjsonTree>, Refusal>;

/// Returns the first and the last line of each node in the text of a graph's file.
fn node_lines(file: &GraphFile) -> Vec<(String, usize, usize)> {
    let Ok(document) = sjson::parse(&file.text) else { return Vec::new() };
    let graph = match file.block() {
        "" => Some(document.root()),
        block => document.root().get(block),
    };
    let entries = graph.and_then(|graph| graph.get("nodes")).and_then(|nodes| nodes.entries());
    let lines = entries.into_iter().flatten().map(|entry| {
        let last = document.position(entry.value.span().end.saturating_sub(1)).0;
        (entry.key.to_string(), entry.line(), last)
    });
    lines.collect()
}

/// Returns the index of the node whose text a line is in, or of the next one.
fn node_at(lines: &[(String, usize, usize)], line: usize) -> Option<usize> {
    let next = lines.iter().enumerate().filter(|(_, (_, _, last))| *last >= line);
    next.min_by_key(|(_, (_, first, _))| *first).map(|(at, _)| at)
}

impl FlowBreakpoints {
    /// Returns the loaded programs if they are others than the known ones.
    fn changed_programs(&self, flow: &Flow) -> Option<Vec<Weak<Program>>> {
        let programs = flow.program_names().into_iter().map(|(_, index)| flow.program(index));
        let programs: Vec<Weak<Program>> = programs.map(Arc::downgrade).collect();
        let known = &self.known_programs;
        let is_same = programs.len() == known.len()
            && programs.iter().zip(known).all(|(program, known)| program.ptr_eq(known));
        (!is_same).then_some(programs)
    }

    /// Removes all breakpoints but those that stay.
    fn keep(&mut self, app: &mut App, stays: impl Fn(&FlowPoint) -> bool) {
        let flow = app.vm().engine().worlds.flow.get_mut();
        self.points.retain(|point| {
            let stays = stays(point);
            for (program, path) in point.set_in.iter().filter(|_| !stays) {
                // A program that is not loaded any more has no breakpoints.
                let _ = flow.set_breakpoint(program, path, false);
            }
            stays
        });
    }

    /// Adds a breakpoint, and returns its id and true if a loaded graph has the node.
    fn add(&mut self, app: &mut App, graph: &str, node: &str) -> (u32, bool) {
        self.last_number += 1;
        let id = FIRST_ID + self.last_number;
        let (graph, node) = (graph.to_string(), node.to_string());
        let mut point = FlowPoint { id, graph, node, set_in: BTreeSet::new() };
        point.set(app);
        let added = (point.id, !point.set_in.is_empty());
        self.points.push(point);
        added
    }

    /// Ends the debugger's part in graphs: removes the breakpoints and lets events continue.
    /// Returns true if they were stopped.
    pub fn end(&mut self, app: &mut App) -> bool {
        self.keep(app, |_| false);
        self.announced = None;
        let flow = app.vm().engine().worlds.flow.get_mut();
        let was_stopped = flow.stopped_node().is_some();
        flow.resume(false);
        was_stopped
    }
}

impl FlowPoint {
    /// Sets the breakpoint in all programs that are loaded and contain its graph.
    fn set(&mut self, app: &mut App) {
        let programs = app.vm().engine().worlds.flow.get().program_names();
        let subgraph = self.graph.strip_suffix(".flow").map(str::to_string);
        for (program, index) in programs {
            let flow = app.vm().engine().worlds.flow.get();
            let contains = |sub: &String| flow.program(index).graphs.contains(sub);
            let prefixes = match &subgraph {
                _ if program == self.graph => vec![String::new()],
                Some(sub) if contains(sub) => subgraph_paths(app, &program, &self.graph, "", 0),
                _ => continue,
            };
            let flow = app.vm().engine().worlds.flow.get_mut();
            for prefix in prefixes {
                let path = format!("{prefix}{}", self.node);
                if flow.set_breakpoint(&program, &path, true).is_ok() {
                    self.set_in.insert((program.clone(), path));
                }
            }
        }
    }
}

/// Sets the breakpoints of a file by their lines.
fn set_lines(call: &mut IncomingCall) -> Answer {
    check_tool(call)?;
    let graph = text(call.fields, "file").unwrap_or_default().to_string();
    let file = call.app.read_graph(&graph).map_err(|error| Refusal::of(error.message))?;
    let nodes = node_lines(&file);
    let wanted: Vec<f64> = match call.fields.get("lines") {
        Some(SjsonTree::Array(lines)) => lines.iter().filter_map(number).collect(),
        _ => Vec::new(),
    };
    let Some(tool) = &mut call.state.debugger else { return Ok(None) };
    tool.flow.keep(call.app, |point| point.graph != graph);
    let points = wanted.iter().map(|line| {
        let found = node_at(&nodes, line.clamp(0.0, 1e9) as usize);
        let Some((node, first, _)) = found.map(|at| &nodes[at]) else {
            return object([
                ("line", SjsonTree::Number(*line)),
                ("verified", SjsonTree::Bool(false)),
                ("message", json::text("there is no node on this line or after it")),
            ]);
        };
        let (id, is_set) = tool.flow.add(call.app, &graph, node);
        let mut entries = vec![
            ("id".to_string(), json::count(id as usize)),
            ("line".to_string(), json::count(*first)),
            ("verified".to_string(), SjsonTree::Bool(is_set)),
        ];
        if !is_set {
            let message = "nothing in the game runs the graph yet";
            entries.push(("message".to_string(), json::text(message)));
        }
        SjsonTree::Object(entries)
    });
    let points = SjsonTree::Array(points.collect());
    Ok(Some(object([("breakpoints", points)])))
}

fn number(tree: &SjsonTree) -> Option<f64> {
    match tree {
        SjsonTree::Number(number) => Some(*number),
        _ => None,
    }
}

fn list_nodes(call: &mut IncomingCall) -> Answer {
    check_tool(call)?;
    let mut found = Vec::new();
    for graph in call.app.graph_names() {
        let Ok(file) = call.app.read_graph(&graph) else { continue };
        let Some(SjsonTree::Object(nodes)) = file.tree.get("nodes") else { continue };
        let points = call.state.debugger.iter().flat_map(|tool| &tool.flow.points);
        let set: BTreeSet<&str> =
            points.filter(|it| it.graph == graph).map(|it| it.node.as_str()).collect();
        for (node, fields) in nodes.iter().take(NODES_MAX - found.len()) {
            let title = text(fields, "type").unwrap_or_default();
            found.push(object([
                ("graph", json::text(&graph)),
                ("node", json::text(node)),
                ("title", json::text(title)),
                ("breaks", SjsonTree::Bool(set.contains(node.as_str()))),
            ]));
        }
    }
    Ok(Some(object([("nodes", SjsonTree::Array(found))])))
}

fn texts<'a>(fields: &'a SjsonTree, key: &str) -> impl Iterator<Item = &'a str> {
    let items = match fields.get(key) {
        Some(SjsonTree::Array(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(|item| match item {
        SjsonTree::String(text) => Some(text.as_str()),
        _ => None,
    })
}

fn set_nodes(call: &mut IncomingCall) -> Answer {
    check_tool(call)?;
    let Some(tool) = &mut call.state.debugger else { return Ok(None) };
    let nodes = texts(call.fields, "graphs").zip(texts(call.fields, "nodes"));
    let nodes: BTreeSet<(&str, &str)> = nodes.take(BREAKPOINTS_MAX).collect();
    let is_wanted = |it: &FlowPoint| nodes.contains(&(it.graph.as_str(), it.node.as_str()));
    tool.flow.keep(call.app, is_wanted);
    let points = &tool.flow.points;
    let kept = json::numbers(points.iter().map(|it| f64::from(it.id)).collect::<Vec<_>>());
    let known: BTreeSet<(String, String)> =
        points.iter().map(|it| (it.graph.clone(), it.node.clone())).collect();
    for (graph, node) in nodes {
        if !known.contains(&(graph.to_string(), node.to_string())) {
            tool.flow.add(call.app, graph, node);
        }
    }
    Ok(Some(object([("kept", kept)])))
}

fn values(call: &mut IncomingCall) -> Answer {
    check_tool(call)?;
    let flow = call.app.vm().engine().worlds.flow.get_mut();
    let stopped = flow.stopped_node().ok_or_else(|| Refusal::of("no graph is stopped"))?;
    let known = LiveKnown { event: 0, values: u64::MAX };
    let now = super::flow::now();
    let live = SjsonTree::Object(flow.live(stopped.instance, known, now).unwrap_or_default());
    let variable = |(name, value): &(String, SjsonTree)| {
        object([("name", json::text(name)), ("value", value.clone())])
    };
    let variables = match live.get("values") {
        Some(SjsonTree::Object(values)) => values.iter().take(VALUES_MAX).map(variable).collect(),
        _ => Vec::new(),
    };
    Ok(Some(object([("variables", SjsonTree::Array(variables))])))
}

/// Returns the node before which events are stopped, and the nodes of the graphs around it that use
/// its graph: the innermost first, each with the file and the line.
fn frames(app: &mut App, stopped: &StoppedNode) -> SjsonTree {
    let mut frames = Vec::new();
    let mut graph = stopped.graph.clone();
    for node in stopped.node.split('/').take(DEPTH_MAX) {
        let file = app.read_graph(&graph).ok();
        let lines = file.as_ref().map(node_lines).unwrap_or_default();
        let line = lines.iter().find(|(key, ..)| key == node).map_or(1, |(_, first, _)| *first);
        let fields = file.as_ref().and_then(|file| file.tree.get("nodes")?.get(node).cloned());
        let title = fields.as_ref().and_then(|fields| text(fields, "type")).unwrap_or_default();
        frames.push(object([
            ("graph", json::text(&graph)),
            ("node", json::text(node)),
            ("title", json::text(title)),
            ("file", json::text(file.as_ref().map_or(graph.as_str(), |file| &file.path))),
            ("line", json::count(line)),
        ]));
        match fields.as_ref().and_then(|fields| text(fields, "graph")) {
            Some(inner) => graph = format!("{inner}.flow"),
            None => break,
        }
    }
    frames.reverse();
    SjsonTree::Array(frames)
}

impl RemoteTools {
    /// Sets breakpoints of graphs that were loaded since, and tells the tool where events stop.
    pub(super) fn update_flow_debugger(&mut self, app: &mut App) {
        let Some(tool) = &mut self.state.debugger else { return };
        if let Some(programs) = tool.flow.changed_programs(app.vm().engine().worlds.flow.get()) {
            tool.flow.known_programs = programs;
            for point in &mut tool.flow.points {
                let was_set = !point.set_in.is_empty();
                point.set(app);
                if !was_set && !point.set_in.is_empty() {
                    let fields = [("point", json::count(point.id as usize))];
                    send_event(&tool.peer, "debug_flow_verified", object(fields));
                }
            }
        }
        let stopped = app.vm().engine().worlds.flow.get().stopped_node();
        let at = stopped.as_ref().map(|stopped| (stopped.instance, stopped.node.clone()));
        if at == tool.flow.announced {
            return;
        }
        tool.flow.announced = at;
        match stopped {
            Some(stopped) => {
                let set = |point: &&FlowPoint| {
                    point.set_in.contains(&(stopped.graph.clone(), stopped.node.clone()))
                };
                let ids = tool.flow.points.iter().filter(set).map(|point| f64::from(point.id));
                let points = json::numbers(ids.collect::<Vec<_>>());
                let fields = [("frames", frames(app, &stopped)), ("points", points)];
                send_event(&tool.peer, "debug_flow_stopped", object(fields));
            }
            None => send_event(&tool.peer, "debug_flow_continued", object([])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_means_the_node_that_it_is_in_or_the_next_one() {
        let nodes = [("a", 3, 5), ("b", 6, 6), ("c", 9, 12)];
        let nodes = nodes.map(|(name, first, last)| (name.to_string(), first, last));
        for (line, wanted) in [(0, 0), (3, 0), (5, 0), (6, 1), (7, 2), (12, 2)] {
            assert_eq!(node_at(&nodes, line), Some(wanted), "{line}");
        }
        assert_eq!(node_at(&nodes, 13), None);
        assert_eq!(node_at(&[], 1), None);
    }
}
