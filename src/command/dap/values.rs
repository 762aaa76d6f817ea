//! The requests of the editor about expressions, and breakpoints that have no line: those of
//! functions and of values.

use super::point_ids::PointList;
use super::requests::{is_of_mouse, limited};
use super::responses::{Context, Pending, items, number, text};
use super::workers;
use super::{Adapter, LOST_VERSION, UnsavedSource};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

/// Maximum number of breakpoints of functions, and of values.
const BREAKPOINTS_MAX: usize = 1000;
/// Maximum length of a text to complete, in characters.
const COMPLETED_CHARS_MAX: usize = 4096;

/// A line to which a stopped function can jump.
#[derive(PartialEq)]
pub struct JumpTarget {
    source: UnsavedSource,
    line: f64,
}

fn jump_fields(source: &UnsavedSource, line: f64) -> Vec<(&'static str, SjsonTree)> {
    let mut fields = vec![("file", json::text(&source.script)), ("line", limited(line, 2e9))];
    fields.extend(source.version.map(|version| ("version", SjsonTree::Number(version))));
    fields
}

/// Returns the texts of a key of all breakpoints.
fn list(points: &[SjsonTree], key: &str) -> SjsonTree {
    SjsonTree::Array(points.iter().map(|point| json::text(text(point, key))).collect())
}

impl Adapter {
    pub fn set_function_breakpoints(&mut self, pending: Pending, arguments: &SjsonTree) {
        let points = items(arguments, "breakpoints");
        if points.len() > BREAKPOINTS_MAX {
            return self.refuse(&pending, "there are too many breakpoints (BREAKPOINTS_MAX)");
        }
        let fields = vec![
            ("names", list(points, "name")),
            ("conditions", list(points, "condition")),
            ("hits", list(points, "hitCondition")),
        ];
        self.functions = fields.clone();
        let context = Context::Breakpoints(PointList::Functions);
        self.ask_game(pending, "debug_functions", fields, context);
    }

    pub fn set_data_breakpoints(&mut self, pending: Pending, arguments: &SjsonTree) {
        let points = items(arguments, "breakpoints");
        if points.len() > BREAKPOINTS_MAX {
            return self.refuse(&pending, "there are too many breakpoints (BREAKPOINTS_MAX)");
        }
        let fields = vec![
            ("data", list(points, "dataId")),
            ("conditions", list(points, "condition")),
            ("hits", list(points, "hitCondition")),
        ];
        self.ask_game(pending, "debug_data", fields, Context::Breakpoints(PointList::Data));
    }

    pub fn data_breakpoint_info(&mut self, pending: Pending, arguments: &SjsonTree) {
        let reference = number(arguments, "variablesReference");
        if reference < 1.0 {
            return self.respond(&pending, unknown_data("choose a variable in the list"));
        }
        let fields = vec![
            ("reference", limited(reference, 2e9)),
            ("name", json::text(text(arguments, "name"))),
        ];
        self.ask_game(pending, "debug_data_info", fields, Context::Data);
    }

    pub fn set_expression(&mut self, pending: Pending, arguments: &SjsonTree) {
        let fields = vec![
            ("expression", json::text(text(arguments, "expression"))),
            ("text", json::text(text(arguments, "value"))),
            ("frame", limited(number(arguments, "frameId") - 1.0, 2e9)),
        ];
        self.ask_game(pending, "debug_set_expression", fields, Context::Value("value"));
    }

    pub fn complete(&mut self, pending: Pending, arguments: &SjsonTree) {
        let before = text(arguments, "text").chars();
        let count = (number(arguments, "column") - 1.0).clamp(0.0, COMPLETED_CHARS_MAX as f64);
        let before: String = before.take(count as usize).collect();
        let id = number(arguments, "frameId");
        let context = Context::Completions;
        if id < 1.0 && !self.is_stopped {
            return self.ask_game(pending, "complete", vec![("text", json::text(before))], context);
        }
        let fields = vec![("text", json::text(before)), ("frame", limited(id - 1.0, 2e9))];
        self.ask_game(pending, "debug_complete", fields, context);
    }

    pub fn evaluate(&mut self, pending: Pending, arguments: &SjsonTree) {
        let expression = text(arguments, "expression");
        let line = json::text(expression);
        let id = number(arguments, "frameId");
        // The mouse must not call functions of the game.
        let is_raw = is_of_mouse(arguments);
        if id < 1.0 && is_raw {
            return self.refuse(&pending, "names are shown while a script is stopped");
        }
        if id < 1.0 {
            return self.ask_game(pending, "eval", vec![("text", line)], Context::Values);
        }
        self.last_frame = id - 1.0;
        let is_whole = SjsonTree::Bool(text(arguments, "context") == "clipboard");
        let is_command = SjsonTree::Bool(text(arguments, "context") == "repl");
        let frame = limited(id - 1.0, 2e9);
        let fields = vec![
            ("text", line),
            ("frame", frame),
            ("whole", is_whole),
            ("command", is_command),
            ("raw", SjsonTree::Bool(is_raw)),
        ];
        self.ask_game(pending, "debug_evaluate", fields, Context::Value("result"));
    }

    pub fn find_jump_targets(&mut self, pending: Pending, arguments: &SjsonTree) {
        let Some(source) = self.source_of(arguments) else {
            let none = SjsonTree::Array(Vec::new());
            return self.respond(&pending, json::object([("targets", none)]));
        };
        let fields = jump_fields(&source, number(arguments, "line"));
        self.ask_game(pending, "debug_jump_targets", fields, Context::Jumps(source));
    }

    /// Returns the answer to `gotoTargets`.
    pub fn jump_targets(&mut self, source: &UnsavedSource, tree: &SjsonTree) -> SjsonTree {
        let mut targets = Vec::new();
        for line in items(tree, "lines") {
            let SjsonTree::Number(line) = *line else { continue };
            let target = JumpTarget { source: source.clone(), line };
            let known = self.jump_targets.iter().position(|known| *known == target);
            let index = known.unwrap_or_else(|| {
                self.jump_targets.push(target);
                self.jump_targets.len() - 1
            });
            targets.push(json::object([
                ("id", SjsonTree::Number((index + 1) as f64)),
                ("label", json::text(format!("line {line}"))),
                ("line", SjsonTree::Number(line)),
            ]));
        }
        json::object([("targets", SjsonTree::Array(targets))])
    }

    pub fn jump(&mut self, pending: Pending, arguments: &SjsonTree) {
        if number(arguments, "threadId") != workers::thread(self.stopped_worker) {
            return self.refuse(&pending, "only the thread that is stopped can jump");
        }
        let id = number(arguments, "targetId");
        match self.jump_targets.get((id - 1.0).max(0.0) as usize) {
            Some(target) if id >= 1.0 => {
                let fields = jump_fields(&target.source, target.line);
                self.ask_game(pending, "debug_jump", fields, Context::Jumped);
            }
            _ => self.refuse(&pending, "there is no target with this number"),
        }
    }

    /// Forgets the texts that a game kept which was restarted.
    pub fn forget_texts(&mut self) {
        self.loaded.clear();
        self.jump_targets.clear();
        for source in &mut self.sources {
            // The editor keeps the numbers of these sources.
            source.version = source.version.map(|_| LOST_VERSION);
        }
    }
}

/// The answer to `dataBreakpointInfo` for a value that cannot be followed.
pub fn unknown_data(reason: &str) -> SjsonTree {
    json::object([("dataId", SjsonTree::Null), ("description", json::text(reason))])
}
