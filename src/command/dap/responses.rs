//! Translation of what the game sends: answers to the requests of the editor, and events.

use super::flow::ReplacedPoints;
use super::point_ids::PointList;
use super::values::unknown_data;
use super::{Adapter, UnsavedSource, flow, workers};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::path::Path;

/// A request of the editor that waits for the game.
pub struct Pending {
    /// The number of the request.
    pub number: SjsonTree,
    pub command: String,
    /// True if it changes nothing, so that it can be cancelled.
    pub is_reading: bool,
    pub context: Context,
}

/// How an answer of the game is translated.
pub enum Context {
    /// The response has no body.
    Nothing,
    /// The response of a request that lets the script continue.
    Continued,
    Breakpoints(PointList),
    /// Breakpoints on lines of a graph's file. Those with these indices and lines were not sent.
    FlowBreakpoints {
        file: String,
        lines: Vec<f64>,
        refused: Vec<(usize, f64)>,
    },
    /// Nodes were chosen for breakpoints, in place of these.
    Nodes(ReplacedPoints),
    Locations,
    Stack,
    Scopes,
    /// Variables; all of them if the editor did not ask for a page.
    Variables {
        is_page: bool,
    },
    /// A value: the response names it `result` or `value`.
    Value(&'static str),
    /// The values of a line that runs without a stopped script.
    Values,
    Error,
    Source,
    /// Samples of scripts.
    Samples,
    /// The answer is the body.
    Whole,
    Sources,
    Threads,
    /// Lines of a text to which a function can jump.
    Jumps(UnsavedSource),
    /// The response of a request that lets the script jump.
    Jumped,
    Completions,
    /// The name of a value for data breakpoints.
    Data,
}

/// Returns the number of a field, or 0.
pub fn number(tree: &SjsonTree, key: &str) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => 0.0,
    }
}

/// Returns the text of a field, or an empty one.
pub fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

/// Returns the items of a list in a field.
pub fn items<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

fn field(tree: &SjsonTree, key: &str) -> SjsonTree {
    tree.get(key).cloned().unwrap_or(SjsonTree::Null)
}

fn value(name: &'static str, tree: &SjsonTree) -> Vec<(String, SjsonTree)> {
    let entries = [
        (name, field(tree, "value")),
        ("type", field(tree, "kind")),
        ("variablesReference", SjsonTree::Number(number(tree, "reference"))),
    ];
    let counts = [("indexedVariables", "indexed"), ("namedVariables", "named")];
    let counts = counts.map(|(name, key)| (name, field(tree, key)));
    let known = entries.into_iter().chain(counts).filter(|(_, value)| *value != SjsonTree::Null);
    known.map(|(key, value)| (key.to_string(), value)).collect()
}

/// Returns the answer to `variables`. If the editor has asked for all and some are missing, the
/// last one says so.
fn variables(tree: &SjsonTree, is_page: bool) -> SjsonTree {
    let variable = |variable: &SjsonTree| {
        let mut entries = value("value", variable);
        entries.push(("name".to_string(), field(variable, "name")));
        SjsonTree::Object(entries)
    };
    let mut variables: Vec<SjsonTree> = items(tree, "variables").iter().map(variable).collect();
    let follow = number(tree, "follow");
    if follow >= 1.0 && !is_page {
        let rest = format!("{follow} or more follow: an expression shows one, such as list[2000]");
        variables.push(json::object([
            ("name", json::text("…")),
            ("value", json::text(rest)),
            ("variablesReference", SjsonTree::Number(0.0)),
        ]));
    }
    json::object([("variables", SjsonTree::Array(variables))])
}

/// Returns the answer to `exceptionInfo`.
fn error(tree: &SjsonTree) -> SjsonTree {
    let details =
        json::object([("message", field(tree, "message")), ("stackTrace", field(tree, "report"))]);
    let (id, mode) = match text(tree, "kind") {
        "caught" => ("error", "always"),
        "warning" => ("warning", "always"),
        _ => ("error", "unhandled"),
    };
    json::object([
        ("exceptionId", json::text(id)),
        ("description", field(tree, "message")),
        ("breakMode", json::text(mode)),
        ("details", details),
    ])
}

impl Adapter {
    /// Handles a message of the game: an answer, or an event.
    pub fn handle_game_message(&mut self, tree: &SjsonTree) {
        if let Some(SjsonTree::Number(id)) = tree.get("id")
            && let Some(pending) = self.pending.remove(&(*id as u64))
        {
            return match text(tree, "type") {
                "error" => self.failed(pending, text(tree, "message")),
                _ => self.answered(&pending, tree),
            };
        }
        if let Some(SjsonTree::Number(id)) = tree.get("id")
            && let Some(list) = self.restored_lists.remove(&(*id as u64))
        {
            return self.handle_restored_list(&list, tree);
        }
        if self.handle_flow_event(tree) {
            return;
        }
        match text(tree, "type") {
            "debug_stopped" => self.stopped(tree),
            "debug_breakpoints_changed" => {
                self.breakpoints_event("changed", text(tree, "file"), items(tree, "breakpoints"));
            }
            "debug_breakpoints_listed" => self.breakpoints_listed(tree),
            // The next script may be stopped already.
            "debug_continued" if number(tree, "worker") != self.stopped_worker => {}
            "debug_continued" => (self.is_stopped, self.stopped_worker) = (false, 0.0),
            "debug_sources_changed" => {
                for script in items(tree, "files") {
                    if let SjsonTree::String(script) = script {
                        self.source_event("changed", script);
                    }
                }
            }
            "debug_source_loaded" => {
                let file = text(tree, "file");
                if self.loaded.insert(file.to_string()) {
                    self.source_event("new", file);
                }
            }
            "debug_restarted" => {
                (self.is_stopped, self.stopped_worker) = (false, 0.0);
                self.restore_session();
            }
            "message" => {
                let level = text(tree, "level");
                let category = if level == "info" { "stdout" } else { "stderr" };
                let prefix = if level == "info" { "" } else { level };
                let separator = if prefix.is_empty() { "" } else { ": " };
                let line = format!("{prefix}{separator}{}\n", text(tree, "message"));
                self.output(category, &line);
            }
            _ => {}
        }
    }

    /// Handles the message of a problem in place of an answer.
    fn failed(&mut self, mut pending: Pending, problem: &str) {
        match std::mem::replace(&mut pending.context, Context::Nothing) {
            Context::Data => return self.respond(&pending, unknown_data(problem)),
            Context::Nodes(replaced) => self.restore_replaced(replaced),
            _ => {}
        }
        self.refuse(&pending, problem);
    }

    /// Tells the editor that a script was loaded for the first time, or again.
    fn source_event(&mut self, reason: &str, script: &str) {
        let source = self.source(script);
        let body = [("reason", json::text(reason)), ("source", source)];
        self.event("loadedSource", json::object(body));
    }

    fn stopped(&mut self, tree: &SjsonTree) {
        let reason = match text(tree, "reason") {
            "breakpoint" => "breakpoint",
            "function" => "function breakpoint",
            "data" => "data breakpoint",
            "error" => "exception",
            _ => self.stop_reason,
        };
        self.is_stopped = true;
        self.stop_reason = "step";
        self.last_frame = 0.0;
        self.stopped_worker = number(tree, "worker").max(0.0);
        let mut body = vec![
            ("reason".to_string(), json::text(reason)),
            ("threadId".to_string(), SjsonTree::Number(workers::thread(self.stopped_worker))),
            ("allThreadsStopped".to_string(), SjsonTree::Bool(true)),
        ];
        if tree.get("message").is_some() {
            body.push(("text".to_string(), field(tree, "message")));
        }
        if tree.get("breakpoints").is_some() {
            let ids = self.points.of_all(items(tree, "breakpoints"));
            body.push(("hitBreakpointIds".to_string(), ids));
        }
        self.event("stopped", SjsonTree::Object(body));
        self.answer_waiting_graphs();
    }

    /// Returns a breakpoint as the editor knows it.
    fn breakpoint(&mut self, script: &str, point: &SjsonTree) -> SjsonTree {
        let mut entries = vec![("verified".to_string(), field(point, "verified"))];
        if !script.is_empty() {
            entries.push(("source".to_string(), self.source(script)));
        }
        if point.get("id").is_some() {
            let id = SjsonTree::Number(self.points.of(number(point, "id")));
            entries.push(("id".to_string(), id));
        }
        for key in ["line", "message"] {
            entries.extend(point.get(key).map(|value| (key.to_string(), value.clone())));
        }
        SjsonTree::Object(entries)
    }

    /// Tells the editor of breakpoints: "changed", "new" or "removed".
    pub fn breakpoints_event(&mut self, reason: &str, file: &str, points: &[SjsonTree]) {
        for point in points {
            let point = self.breakpoint(file, point);
            self.breakpoint_event(reason, point);
        }
    }

    pub fn breakpoint_event(&mut self, reason: &str, point: SjsonTree) {
        let body = [("reason", json::text(reason)), ("breakpoint", point)];
        self.event("breakpoint", json::object(body));
    }

    /// Notes breakpoints that a reload has moved, or that a command of the console has set or
    /// removed: a restarted game gets them as they are now.
    fn breakpoints_listed(&mut self, tree: &SjsonTree) {
        let file = text(tree, "file");
        let list = PointList::File(file.to_string());
        // A list that the editor has sent meanwhile takes the place of this one.
        let is_later =
            |it: &Pending| matches!(&it.context, Context::Breakpoints(later) if *later == list);
        if self.pending.values().any(is_later) {
            return;
        }
        self.breakpoints_event(text(tree, "reason"), file, items(tree, "changed"));
        self.points.keep(list, tree);
        let keys = ["lines", "conditions", "hits", "logs"];
        let lists = keys.map(|key| (key, SjsonTree::Array(items(tree, key).to_vec())));
        let fields = std::iter::once(("file", json::text(file))).chain(lists).collect();
        self.breakpoints.insert(file.to_string(), fields);
    }

    /// Returns the breakpoints of a list in an answer.
    fn points_of(&mut self, list: &PointList, tree: &SjsonTree) -> Vec<SjsonTree> {
        let points = items(tree, "breakpoints").iter();
        points.map(|point| self.breakpoint(list.file(), point)).collect()
    }

    /// Returns a script as the editor knows it. One without a file has a number.
    pub fn source(&mut self, script: &str) -> SjsonTree {
        let name = Path::new(script).file_name().map_or(script.into(), |it| it.to_string_lossy());
        let path = self.paths.as_ref().and_then(|paths| paths.path_of(script));
        if let Some(path) = path {
            let path = path.to_string_lossy().into_owned();
            return json::object([("name", json::text(name)), ("path", json::text(path))]);
        }
        let source = UnsavedSource { script: script.to_string(), version: None };
        self.unsaved_source(source, script)
    }

    /// Returns the text that a script had before a reload, which running functions keep.
    fn earlier_source(&mut self, script: &str, version: f64) -> SjsonTree {
        let source = UnsavedSource { script: script.to_string(), version: Some(version) };
        self.unsaved_source(source, &format!("{script} (before the reload)"))
    }

    /// Returns a text that is in no file, as the editor knows it.
    fn unsaved_source(&mut self, source: UnsavedSource, name: &str) -> SjsonTree {
        let known = self.sources.iter().position(|known| *known == source);
        let index = known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        let reference = SjsonTree::Number((index + 1) as f64);
        json::object([("name", json::text(name)), ("sourceReference", reference)])
    }

    fn frame(&mut self, frame: &SjsonTree) -> SjsonTree {
        let script = text(frame, "file").to_string();
        let mut entries = vec![
            ("id".to_string(), SjsonTree::Number(number(frame, "frame") + 1.0)),
            ("name".to_string(), field(frame, "name")),
            ("line".to_string(), SjsonTree::Number(number(frame, "line"))),
            ("column".to_string(), SjsonTree::Number(if script.is_empty() { 0.0 } else { 1.0 })),
        ];
        if frame.get("engine").is_some() {
            entries.push(("presentationHint".to_string(), json::text("subtle")));
        }
        if let Some(SjsonTree::Number(version)) = frame.get("version") {
            entries.push(("source".to_string(), self.earlier_source(&script, *version)));
        } else if !script.is_empty() {
            entries.push(("source".to_string(), self.source(&script)));
        }
        SjsonTree::Object(entries)
    }

    fn answered(&mut self, pending: &Pending, tree: &SjsonTree) {
        let body = match &pending.context {
            Context::Nothing => json::object([]),
            Context::Continued => json::object([("allThreadsContinued", SjsonTree::Bool(true))]),
            Context::Breakpoints(list) => {
                self.points.set(list.clone(), tree);
                let points = self.points_of(list, tree);
                json::object([("breakpoints", SjsonTree::Array(points))])
            }
            Context::FlowBreakpoints { file, refused, .. } => {
                let list = PointList::File(file.clone());
                self.points.set(list.clone(), tree);
                let mut points = self.points_of(&list, tree);
                flow::add_refused(&mut points, refused);
                json::object([("breakpoints", SjsonTree::Array(points))])
            }
            Context::Nodes(replaced) => {
                self.nodes_set(replaced, tree);
                json::object([])
            }
            Context::Locations => {
                let line = |line: &SjsonTree| json::object([("line", line.clone())]);
                let lines = items(tree, "lines").iter().map(line).collect();
                json::object([("breakpoints", SjsonTree::Array(lines))])
            }
            Context::Stack => {
                let frames = items(tree, "frames").iter().map(|frame| self.frame(frame)).collect();
                json::object([
                    ("stackFrames", SjsonTree::Array(frames)),
                    ("totalFrames", field(tree, "count")),
                ])
            }
            Context::Scopes => {
                let scopes = items(tree, "scopes").iter().map(scope).collect();
                json::object([("scopes", SjsonTree::Array(scopes))])
            }
            Context::Variables { is_page } => variables(tree, *is_page),
            Context::Value(name) => SjsonTree::Object(value(name, tree)),
            Context::Values => {
                let values = items(tree, "values").iter().filter_map(|value| match value {
                    SjsonTree::String(text) => Some(text.as_str()),
                    _ => None,
                });
                let result = values.collect::<Vec<_>>().join(", ");
                let reference = SjsonTree::Number(0.0);
                json::object([("result", json::text(result)), ("variablesReference", reference)])
            }
            Context::Error => error(tree),
            Context::Jumps(source) => self.jump_targets(source, tree),
            Context::Jumped => {
                self.stop_reason = "goto";
                json::object([])
            }
            Context::Samples => flow::samples(tree),
            Context::Whole => tree.clone(),
            context => self.listed(context, tree),
        };
        self.respond(pending, body);
    }

    /// Translates answers that have sources or names.
    fn listed(&mut self, context: &Context, tree: &SjsonTree) -> SjsonTree {
        match context {
            Context::Sources => {
                let mut sources = Vec::new();
                for file in items(tree, "files").iter().chain(items(tree, "engine_files")) {
                    if let SjsonTree::String(file) = file {
                        sources.push(self.source(file));
                    }
                }
                for earlier in items(tree, "earlier") {
                    let (script, version) = (text(earlier, "file"), number(earlier, "version"));
                    sources.push(self.earlier_source(script, version));
                }
                json::object([("sources", SjsonTree::Array(sources))])
            }
            Context::Threads => {
                let threads = workers::threads(tree, self.stopped_worker);
                let threads = threads.into_iter().chain(self.flow_thread()).collect();
                json::object([("threads", SjsonTree::Array(threads))])
            }
            Context::Completions => {
                let target = |word: &SjsonTree| {
                    let length = text(tree, "start").chars().count() as f64;
                    json::object([("label", word.clone()), ("length", SjsonTree::Number(length))])
                };
                let targets = items(tree, "words").iter().map(target).collect();
                json::object([("targets", SjsonTree::Array(targets))])
            }
            Context::Source => json::object([
                ("content", field(tree, "text")),
                ("mimeType", json::text("text/x-lua")),
            ]),
            _ => {
                let accesses = SjsonTree::Array(vec![json::text("write")]);
                json::object([
                    ("dataId", field(tree, "data")),
                    ("description", field(tree, "text")),
                    ("accessTypes", accesses),
                    ("canPersist", SjsonTree::Bool(false)),
                ])
            }
        }
    }
}

fn scope(scope: &SjsonTree) -> SjsonTree {
    let (name, hint) = match text(scope, "name") {
        "locals" => ("Locals", "locals"),
        "upvalues" => ("Upvalues", "upvalues"),
        "engine" => ("Engine", "engine"),
        _ => ("Globals", "globals"),
    };
    json::object([
        ("name", json::text(name)),
        ("presentationHint", json::text(hint)),
        ("variablesReference", field(scope, "reference")),
        ("expensive", SjsonTree::Bool(["Globals", "Engine"].contains(&name))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_later_list_of_the_editor_counts() {
        let (sender, arrivals) = std::sync::mpsc::channel();
        let mut adapter = Adapter::new(arrivals, sender);
        let listed = r#"{"type": "debug_breakpoints_listed", "file": "a.lua", "reason": "moved",
            "breakpoints": [{"id": 1}], "changed": [], "lines": [7], "conditions": [""],
            "hits": [""], "logs": [""]}"#;
        let listed = json::read(listed).expect("JSON");
        let lines = |adapter: &Adapter| {
            let fields = adapter.breakpoints.get("a.lua").expect("it has some").iter();
            let lines = fields.filter(|(key, _)| *key == "lines").map(|(_, lines)| lines.clone());
            lines.collect::<Vec<_>>()
        };
        adapter.handle_game_message(&listed);
        assert_eq!(lines(&adapter), [json::numbers([7.0])]);
        // The game sends its list again before it reads that of the editor.
        let sent = vec![("lines", json::numbers([9.0]))];
        adapter.breakpoints.insert("a.lua".to_string(), sent);
        let pending = |file: &str| Pending {
            number: SjsonTree::Null,
            command: "setBreakpoints".to_string(),
            is_reading: false,
            context: Context::Breakpoints(PointList::File(file.to_string())),
        };
        adapter.pending.insert(5, pending("a.lua"));
        adapter.handle_game_message(&listed);
        assert_eq!(lines(&adapter), [json::numbers([9.0])]);
        // That of another file has nothing to do with it.
        adapter.pending = [(6, pending("b.lua"))].into();
        adapter.handle_game_message(&listed);
        assert_eq!(lines(&adapter), [json::numbers([7.0])]);
    }

    #[test]
    fn chosen_nodes_that_are_refused_replace_nothing() {
        let (sender, arrivals) = std::sync::mpsc::channel();
        let mut adapter = Adapter::new(arrivals, sender);
        let lines = |line: f64| vec![("lines", json::numbers([line]))];
        let file = |name: &str, line: f64| (name.to_string(), lines(line));
        adapter.flow_breakpoints = [file("a.unit", 1.0), file("b.unit", 2.0)].into();
        let replaced = adapter.replace_nodes(lines(5.0));
        assert_eq!(adapter.flow_nodes, Some(lines(5.0)));
        // The editor has sent one of them again.
        adapter.flow_breakpoints.insert("a.unit".to_string(), lines(3.0));
        adapter.restore_replaced(replaced);
        assert_eq!(adapter.flow_nodes, None);
        let wanted = BTreeMap::from([file("a.unit", 3.0), file("b.unit", 2.0)]);
        assert_eq!(adapter.flow_breakpoints, wanted);
    }
}
