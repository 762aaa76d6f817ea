//! The requests of the editor about expressions, and breakpoints that have no line: those of
//! functions and of values.

use super::Adapter;
use super::requests::limited;
use super::responses::{Context, Pending, items, number, text};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

/// Maximum number of breakpoints of functions, and of values.
const BREAKPOINTS_MAX: usize = 1000;
/// Maximum length of a text to complete, in characters.
const COMPLETED_CHARS_MAX: usize = 4096;

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
        self.ask_game(pending, "debug_functions", fields, Context::Breakpoints(String::new()));
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
        self.ask_game(pending, "debug_data", fields, Context::Breakpoints(String::new()));
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
        let is_path = |c: char| c.is_alphanumeric() || "_.[]\"'".contains(c);
        if text(arguments, "context") == "hover" && !expression.chars().all(is_path) {
            // The mouse must not call functions of the game.
            return self.refuse(&pending, "only names and fields are shown here");
        }
        let line = json::text(expression);
        let id = number(arguments, "frameId");
        if id < 1.0 {
            return self.ask_game(pending, "eval", vec![("text", line)], Context::Values);
        }
        self.last_frame = id - 1.0;
        let is_whole = SjsonTree::Bool(text(arguments, "context") == "clipboard");
        let is_command = SjsonTree::Bool(text(arguments, "context") == "repl");
        let frame = limited(id - 1.0, 2e9);
        let fields =
            vec![("text", line), ("frame", frame), ("whole", is_whole), ("command", is_command)];
        self.ask_game(pending, "debug_evaluate", fields, Context::Value("result"));
    }

    /// Lets a stopped script continue, as the answer to another request.
    pub fn continue_script(&mut self) {
        if !self.is_stopped {
            return;
        }
        if let Some(game) = &mut self.game
            && let Err(error) = game.client.send("debug_continue", Vec::new())
        {
            self.output("stderr", &format!("engine dap: {}\n", error.message));
        }
    }
}

/// The answer to `dataBreakpointInfo` for a value that cannot be followed.
pub fn unknown_data(reason: &str) -> SjsonTree {
    json::object([("dataId", SjsonTree::Null), ("description", json::text(reason))])
}

/// Returns the answer to `gotoTargets`, whose targets have the lines as their numbers.
pub fn jump_targets(tree: &SjsonTree) -> SjsonTree {
    let target = |line: &SjsonTree| {
        let label = match line {
            SjsonTree::Number(line) => format!("line {line}"),
            _ => String::new(),
        };
        json::object([("id", line.clone()), ("label", json::text(label)), ("line", line.clone())])
    };
    let targets = items(tree, "lines").iter().map(target).collect();
    json::object([("targets", SjsonTree::Array(targets))])
}
