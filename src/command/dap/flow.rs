//! Breakpoints in graphs of Flow, which editors set by the lines of the graphs' files. While one
//! stops the events, the editor sees a thread of its own: its functions are nodes.

use super::point_ids::PointList;
use super::responses::{Context, Pending, items, number, text};
use super::{Adapter, Fields};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::collections::BTreeMap;

/// The number of the thread of graphs. That of the scripts is 1.
const THREAD: f64 = 1_000_000.0;
/// Numbers of frames and of the scope of values begin here, after those of scripts. Editors expect
/// numbers of 32 bits.
const FIRST_FRAME: f64 = 1_500_000_000.0;
/// The number after the frames of the last coroutine, by `COROUTINES_MAX` and `COROUTINE_FRAMES` in
/// lua/debug/stack_values.lua.
const FRAMES_END: f64 = 1_001.0 * 1_000_000.0;
const _: () = assert!(FRAMES_END < FIRST_FRAME);
/// Endings of files with graphs.
const ENDINGS: [&str; 3] = [".flow", ".unit", ".level"];

/// The message at breakpoints in graphs that are set while a script is stopped.
const WAITS: &str = "a script is stopped, and the breakpoint is set when it continues";

/// Returns true if a file has a graph, and no functions.
pub fn is_graph(file: &str) -> bool {
    ENDINGS.iter().any(|ending| file.ends_with(ending))
}

fn line(point: &SjsonTree) -> f64 {
    number(point, "line")
}

/// Returns true if a breakpoint stops each time.
fn is_plain(point: &SjsonTree) -> bool {
    ["condition", "hitCondition", "logMessage"].iter().all(|key| text(point, key).is_empty())
}

/// Puts breakpoints that were not set, by their index and line, among those in an answer.
pub fn add_refused(points: &mut Vec<SjsonTree>, refused: &[(usize, f64)]) {
    for (at, line) in refused {
        let message = "breakpoints of graphs have no conditions, numbers of hits or log messages";
        let point = json::object([
            ("verified", SjsonTree::Bool(false)),
            ("line", SjsonTree::Number(*line)),
            ("message", json::text(message)),
        ]);
        points.insert((*at).min(points.len()), point);
    }
}

/// The breakpoints and nodes that chosen nodes replace, until the game has set these.
pub struct ReplacedPoints {
    files: BTreeMap<String, Fields>,
    nodes: Option<Fields>,
}

impl Adapter {
    /// Sets the breakpoints of a graph's file. Those with a condition are not set: a graph has no
    /// Lua, and nodes that stop each time would not be what the editor asks for.
    pub fn set_flow_breakpoints(&mut self, pending: Pending, file: String, points: &[SjsonTree]) {
        let lines = json::numbers(points.iter().filter(|it| is_plain(it)).map(line));
        let fields = vec![("file", json::text(&file)), ("lines", lines)];
        self.flow_breakpoints.insert(file.clone(), fields.clone());
        let refused = points.iter().enumerate().filter(|(_, it)| !is_plain(it));
        let refused = refused.map(|(at, it)| (at, line(it))).collect();
        let lines = points.iter().filter(|it| is_plain(it)).map(line).collect();
        let context = Context::FlowBreakpoints { file, lines, refused };
        self.ask_game(pending, "debug_flow_breakpoints", fields, context);
        if self.is_stopped {
            self.answer_waiting_graphs();
        }
    }

    /// Answers the lists of breakpoints in graphs that wait for a stopped script: the game looks at
    /// them when it continues, and the editor may wait for the answer first.
    pub fn answer_waiting_graphs(&mut self) {
        let waits = |it: &Pending| matches!(it.context, Context::FlowBreakpoints { .. });
        let ids: Vec<u64> =
            self.pending.iter().filter(|(_, it)| waits(it)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(pending) = self.pending.remove(&id) else { continue };
            let Context::FlowBreakpoints { file, lines, refused } = &pending.context else {
                continue;
            };
            let list = PointList::File(file.clone());
            let numbers = self.points.reserve(&list, lines.len());
            let point = |(line, number): (&f64, u64)| {
                json::object([
                    ("id", SjsonTree::Number(number as f64)),
                    ("verified", SjsonTree::Bool(false)),
                    ("line", SjsonTree::Number(*line)),
                    ("message", json::text(WAITS)),
                ])
            };
            let mut points = lines.iter().zip(numbers).map(point).collect();
            add_refused(&mut points, refused);
            self.respond(&pending, json::object([("breakpoints", SjsonTree::Array(points))]));
            // The answer to an earlier list of the file is about breakpoints that are none now.
            self.restored_lists.retain(|_, earlier| *earlier != list);
            self.restored_lists.insert(id, list);
        }
    }

    /// Handles the events of graphs. Returns false if it is another event.
    pub fn handle_flow_event(&mut self, tree: &SjsonTree) -> bool {
        match text(tree, "type") {
            "debug_flow_stopped" => {
                self.flow_frames = items(tree, "frames").to_vec();
                let frame = self.flow_frames.first();
                let (graph, node) =
                    frame.map_or(("", ""), |frame| (text(frame, "graph"), text(frame, "node")));
                let stop = format!("before the node {node} of {graph}");
                let points = items(tree, "points");
                let reason = if points.is_empty() { "step" } else { "breakpoint" };
                let body = [
                    ("reason", json::text(reason)),
                    ("description", json::text(format!("Stopped {stop}"))),
                    ("text", json::text(stop)),
                    ("threadId", SjsonTree::Number(THREAD)),
                    ("allThreadsStopped", SjsonTree::Bool(true)),
                    ("hitBreakpointIds", self.points.of_all(points)),
                ];
                self.event("stopped", json::object(body));
            }
            "debug_flow_continued" => self.end_flow_stop(),
            "debug_flow_verified" => {
                let point = json::object([
                    ("id", SjsonTree::Number(self.points.of(number(tree, "point")))),
                    ("verified", SjsonTree::Bool(true)),
                ]);
                self.breakpoint_event("changed", point);
            }
            _ => return false,
        }
        true
    }

    /// Tells the editor that graphs continue, if one is stopped.
    pub fn end_flow_stop(&mut self) {
        if !self.flow_frames.is_empty() {
            self.flow_frames.clear();
            let body = [
                ("threadId", SjsonTree::Number(THREAD)),
                ("allThreadsContinued", SjsonTree::Bool(true)),
            ];
            self.event("continued", json::object(body));
        }
    }

    /// Returns the thread of the graphs while one is stopped.
    pub fn flow_thread(&self) -> Option<SjsonTree> {
        (!self.flow_frames.is_empty()).then(|| {
            json::object([("id", SjsonTree::Number(THREAD)), ("name", json::text("flow"))])
        })
    }

    /// Handles a request about the stopped graph. Gives it back if it is about something else.
    pub fn handle_flow_request(
        &mut self,
        pending: Pending,
        arguments: &SjsonTree,
    ) -> Option<Pending> {
        let is_own = number(arguments, "threadId") == THREAD
            || number(arguments, "frameId") >= FIRST_FRAME
            || number(arguments, "variablesReference") >= FIRST_FRAME;
        if !is_own {
            return Some(pending);
        }
        match pending.command.as_str() {
            "continue" => {
                self.flow_frames.clear();
                self.ask_game(pending, "flow_resume", vec![], Context::Continued);
            }
            "next" | "stepIn" | "stepOut" => {
                self.ask_game(pending, "flow_step", vec![], Context::Nothing);
            }
            "pause" => self.refuse(&pending, "set a breakpoint at a node to stop a graph"),
            "stackTrace" => {
                let frames = self.flow_frames.clone();
                let frames: Vec<SjsonTree> =
                    frames.iter().enumerate().map(|(i, frame)| self.flow_frame(i, frame)).collect();
                let count = json::count(frames.len());
                let body = [("stackFrames", SjsonTree::Array(frames)), ("totalFrames", count)];
                self.respond(&pending, json::object(body));
            }
            "scopes" => {
                let values = json::object([
                    ("name", json::text("Values")),
                    ("presentationHint", json::text("locals")),
                    ("variablesReference", SjsonTree::Number(FIRST_FRAME)),
                    ("expensive", SjsonTree::Bool(false)),
                ]);
                let scopes = SjsonTree::Array(vec![values]);
                self.respond(&pending, json::object([("scopes", scopes)]));
            }
            "variables" => {
                let context = Context::Variables { is_page: true };
                self.ask_game(pending, "debug_flow_values", vec![], context);
            }
            _ => self.refuse(&pending, "a graph has no Lua: choose a function of a script"),
        }
        None
    }

    fn flow_frame(&mut self, index: usize, frame: &SjsonTree) -> SjsonTree {
        let name = match text(frame, "title") {
            "" => format!("{}: {}", text(frame, "graph"), text(frame, "node")),
            title => format!("{}: {title} ({})", text(frame, "graph"), text(frame, "node")),
        };
        json::object([
            ("id", SjsonTree::Number(FIRST_FRAME + index as f64)),
            ("name", json::text(name)),
            ("line", SjsonTree::Number(number(frame, "line"))),
            ("column", SjsonTree::Number(1.0)),
            ("source", self.source(text(frame, "file"))),
        ])
    }

    /// Sets breakpoints at nodes: `{"nodes": [{"graph": …, "node": …}]}`.
    pub fn set_flow_nodes(&mut self, pending: Pending, arguments: &SjsonTree) {
        let list = |key: &str| {
            json::texts(items(arguments, "nodes").iter().map(|node| text(node, key).to_string()))
        };
        let fields = vec![("graphs", list("graph")), ("nodes", list("node"))];
        let replaced = self.replace_nodes(fields.clone());
        self.ask_game(pending, "debug_flow_set_nodes", fields, Context::Nodes(replaced));
    }

    /// Notes chosen nodes, and returns what they take the place of: not the lists that the editor
    /// sends later.
    pub fn replace_nodes(&mut self, fields: Fields) -> ReplacedPoints {
        let files = std::mem::take(&mut self.flow_breakpoints);
        ReplacedPoints { files, nodes: self.flow_nodes.replace(fields) }
    }

    /// Tells the editor which of its breakpoints the nodes have replaced. `answer` has the others,
    /// which the editor goes on to show, and at which the game stops as before.
    pub fn nodes_set(&mut self, replaced: &ReplacedPoints, answer: &SjsonTree) {
        let kept = items(answer, "kept").iter().filter_map(|point| match point {
            SjsonTree::Number(id) => Some(self.points.of(*id) as u64),
            _ => None,
        });
        let kept = kept.collect();
        for file in replaced.files.keys() {
            let removed = self.points.retain(&PointList::File(file.clone()), &kept);
            self.remove_points(&removed);
        }
    }

    /// Notes that chosen nodes were refused: what they would have replaced is still set.
    pub fn restore_replaced(&mut self, replaced: ReplacedPoints) {
        self.flow_nodes = replaced.nodes;
        for (file, fields) in replaced.files {
            self.flow_breakpoints.entry(file).or_insert(fields);
        }
    }

    /// Starts or stops the sampling of scripts: `{"on": true}`.
    pub fn sample(&mut self, pending: Pending, arguments: &SjsonTree) {
        let fields = match arguments.get("on") {
            Some(SjsonTree::Bool(on)) => vec![("on", SjsonTree::Bool(*on))],
            _ => vec![],
        };
        self.ask_game(pending, "sampling", fields, Context::Samples);
    }
}

/// Returns the answer to `sampling`, with a report as Markdown.
pub fn samples(tree: &SjsonTree) -> SjsonTree {
    let total = number(tree, "samples");
    let mut report = format!("# Samples of scripts\n\n{total} samples.\n");
    for (title, key) in [("Scripts", "scripts"), ("Functions", "functions"), ("Lines", "lines")] {
        report += &format!("\n## {title}\n\n| Samples | Part | Allocated bytes | Name |\n");
        report += "|---:|---:|---:|---|\n";
        for row in items(tree, key) {
            let count = number(row, "samples");
            let part = if total > 0.0 { 100.0 * count / total } else { 0.0 };
            let bytes = number(row, "allocated_bytes");
            // A name with these characters would end its cell.
            let name = text(row, "name").replace(['|', '`', '\n'], " ");
            report += &format!("| {count} | {part:.1} % | {bytes} | `{name}` |\n");
        }
    }
    let on = tree.get("on").cloned().unwrap_or(SjsonTree::Bool(false));
    json::object([("on", on), ("samples", SjsonTree::Number(total)), ("text", json::text(report))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_reported_as_tables() {
        let answer = r#"{"on": false, "samples": 4, "scripts": [], "lines": [],
            "functions": [{"name": "a|`b`", "samples": 3, "allocated_bytes": 16}]}"#;
        let answer = samples(&json::read(answer).expect("JSON"));
        assert!(text(&answer, "text").contains("| 3 | 75.0 % | 16 | `a  b ` |\n"), "{answer:?}");
        let none = samples(&json::object([]));
        assert!(text(&none, "text").contains("0 samples"), "{none:?}");
    }

    #[test]
    fn lists_that_wait_for_a_stopped_script_are_answered() {
        let (sender, arrivals) = std::sync::mpsc::channel();
        let mut adapter = Adapter::new(arrivals, sender);
        let file = || "a.unit".to_string();
        let context =
            || Context::FlowBreakpoints { file: file(), lines: vec![3.0], refused: Vec::new() };
        let pending = || Pending {
            number: SjsonTree::Null,
            command: "setBreakpoints".to_string(),
            is_reading: false,
            context: context(),
        };
        adapter.pending.insert(5, pending());
        // A script stops before the game has read the list.
        let stopped = json::read(r#"{"type": "debug_stopped", "reason": "step"}"#);
        adapter.handle_game_message(&stopped.expect("JSON"));
        assert!(adapter.pending.is_empty() && adapter.restored_lists.len() == 1);
        // The next list is another one of the same file.
        adapter.pending.insert(6, pending());
        adapter.answer_waiting_graphs();
        assert_eq!(adapter.restored_lists.keys().collect::<Vec<_>>(), [&6]);
        let answer = r#"{"type": "debug_flow_breakpoints", "id": 6,
            "breakpoints": [{"id": 1000000001, "line": 3, "verified": true}]}"#;
        adapter.handle_game_message(&json::read(answer).expect("JSON"));
        assert_eq!((adapter.points.of(1_000_000_001.0), adapter.restored_lists.len()), (2.0, 0));
    }

    #[test]
    fn a_list_that_is_refused_later_is_known_as_not_set() {
        let (sender, arrivals) = std::sync::mpsc::channel();
        let mut adapter = Adapter::new(arrivals, sender);
        let file = "a.unit".to_string();
        let list = PointList::File(file.clone());
        let context = Context::FlowBreakpoints { file, lines: vec![3.0], refused: Vec::new() };
        let (number, command) = (SjsonTree::Null, "setBreakpoints".to_string());
        adapter.pending.insert(5, Pending { number, command, is_reading: false, context });
        adapter.answer_waiting_graphs();
        let sent = adapter.last_number;
        let refusal = r#"{"type": "error", "id": 5, "message": "there is no graph"}"#;
        adapter.handle_game_message(&json::read(refusal).expect("JSON"));
        // A line of output, and the change of the breakpoint.
        assert_eq!(adapter.last_number, sent + 2);
        assert!(adapter.restored_lists.is_empty() && adapter.points.forget(&list).is_empty());
    }
}
