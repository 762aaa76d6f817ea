//! The requests of the editor.

use super::Adapter;
use super::flow;
use super::game::{DebuggedGame, DebuggedTests, Launch};
use super::paths::GamePaths;
use super::responses::{Context, Pending, items, number, text};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::path::{Component, Path};

/// Maximum number of breakpoints of one file, that of the message `debug_breakpoints`.
const BREAKPOINTS_MAX: usize = 1000;
/// Maximum number of functions and variables in one answer.
const ITEMS_MAX: f64 = 1000.0;

/// Abilities of the adapter.
const CAPABILITIES: [&str; 10] = [
    "supportsConfigurationDoneRequest",
    "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints",
    "supportsLogPoints",
    "supportsBreakpointLocationsRequest",
    "supportsEvaluateForHovers",
    "supportsSetVariable",
    "supportsExceptionInfoRequest",
    "supportsTerminateRequest",
    "supportTerminateDebuggee",
];

fn boolean(tree: &SjsonTree, key: &str) -> bool {
    tree.get(key) == Some(&SjsonTree::Bool(true))
}

fn texts(tree: &SjsonTree, key: &str) -> Vec<String> {
    let text = |item: &SjsonTree| match item {
        SjsonTree::String(text) => Some(text.clone()),
        _ => None,
    };
    items(tree, key).iter().filter_map(text).collect()
}

/// Returns a number of a request, limited to what the game accepts.
fn limited(number: f64, most: f64) -> SjsonTree {
    SjsonTree::Number(number.clamp(0.0, most).floor())
}

impl Adapter {
    pub fn handle_request(&mut self, tree: &SjsonTree) {
        if text(tree, "type") != "request" {
            return;
        }
        let pending = Pending {
            number: SjsonTree::Number(number(tree, "seq")),
            command: text(tree, "command").to_string(),
            context: Context::Nothing,
        };
        let nothing = SjsonTree::Object(Vec::new());
        let arguments = tree.get("arguments").unwrap_or(&nothing);
        match pending.command.as_str() {
            "initialize" => self.initialize(&pending),
            "launch" | "attach" => self.begin(&pending, arguments),
            "configurationDone" => self.ask_game(pending, "debug_ready", vec![], Context::Nothing),
            "setBreakpoints" => self.set_breakpoints(pending, arguments),
            "breakpointLocations" => self.breakpoint_locations(pending, arguments),
            "setExceptionBreakpoints" => {
                self.stops_at_errors =
                    texts(arguments, "filters").iter().any(|it| it == "uncaught");
                let on = vec![("on", SjsonTree::Bool(self.stops_at_errors))];
                self.ask_game(pending, "debug_errors", on, Context::Nothing);
            }
            "threads" => {
                let main =
                    json::object([("id", SjsonTree::Number(1.0)), ("name", json::text("main"))]);
                let threads = [main].into_iter().chain(self.flow_thread()).collect();
                let threads = SjsonTree::Array(threads);
                self.respond(&pending, json::object([("threads", threads)]));
            }
            "disconnect" => self.disconnect(&pending, arguments),
            "terminate" => self.ask_game(pending, "quit", vec![], Context::Nothing),
            // Requests are answered in order and at once.
            "cancel" => self.respond(&pending, json::object([])),
            _ => self.handle_request_to_script(pending, arguments),
        }
    }

    /// Handles the requests about a stopped script.
    fn handle_request_to_script(&mut self, pending: Pending, arguments: &SjsonTree) {
        let Some(pending) = self.handle_flow_request(pending, arguments) else { return };
        let frame = |id: f64| limited(id - 1.0, 2e9);
        let mode = |mode: &'static str| vec![("mode", json::text(mode))];
        match pending.command.as_str() {
            "continue" => self.ask_game(pending, "debug_continue", vec![], Context::Continued),
            "next" => self.ask_game(pending, "debug_step", mode("over"), Context::Nothing),
            "stepIn" => self.ask_game(pending, "debug_step", mode("in"), Context::Nothing),
            "stepOut" => self.ask_game(pending, "debug_step", mode("out"), Context::Nothing),
            "pause" => {
                self.stop_reason = "pause";
                self.ask_game(pending, "debug_pause", vec![], Context::Nothing);
            }
            "stackTrace" => {
                let first = limited(number(arguments, "startFrame"), 2e9);
                let fields = vec![("first", first), ("max", most(arguments, "levels"))];
                self.ask_game(pending, "debug_stack", fields, Context::Stack);
            }
            "scopes" => {
                let id = frame(number(arguments, "frameId"));
                self.last_frame = (number(arguments, "frameId") - 1.0).max(0.0);
                self.ask_game(pending, "debug_scopes", vec![("frame", id)], Context::Scopes);
            }
            "variables" => {
                let fields = vec![
                    ("reference", limited(number(arguments, "variablesReference"), 2e9)),
                    ("first", limited(number(arguments, "start"), 2e9)),
                    ("max", most(arguments, "count")),
                ];
                self.ask_game(pending, "debug_variables", fields, Context::Variables);
            }
            "setVariable" => {
                let fields = vec![
                    ("reference", limited(number(arguments, "variablesReference"), 2e9)),
                    ("frame", limited(self.last_frame, 2e9)),
                    ("name", json::text(text(arguments, "name"))),
                    ("text", json::text(text(arguments, "value"))),
                ];
                self.ask_game(pending, "debug_set", fields, Context::Value("value"));
            }
            "evaluate" => self.evaluate(pending, arguments),
            "engineSampling" => self.sample(pending, arguments),
            "engineFlowNodes" => {
                self.ask_game(pending, "debug_flow_nodes", vec![], Context::Whole);
            }
            "engineFlowBreakpoints" => self.set_flow_nodes(pending, arguments),
            "exceptionInfo" => self.ask_game(pending, "debug_error", vec![], Context::Error),
            "source" => {
                let at = arguments.get("source").map_or(0.0, |it| number(it, "sourceReference"));
                let at = at.max(number(arguments, "sourceReference"));
                match self.sources.get((at - 1.0).max(0.0) as usize).cloned() {
                    Some(file) if at >= 1.0 => {
                        let fields = vec![("file", json::text(file))];
                        self.ask_game(pending, "debug_source", fields, Context::Source);
                    }
                    _ => self.refuse(&pending, "there is no source with this number"),
                }
            }
            command => {
                let message = format!("engine dap does not know the request '{command}'");
                self.refuse(&pending, &message);
            }
        }
    }

    fn initialize(&mut self, pending: &Pending) {
        let filter = json::object([
            ("filter", json::text("uncaught")),
            ("label", json::text("Uncaught Errors")),
            ("description", json::text("Errors that no pcall of the game catches")),
            ("default", SjsonTree::Bool(true)),
        ]);
        let mut capabilities: Vec<(String, SjsonTree)> =
            CAPABILITIES.map(|name| (name.to_string(), SjsonTree::Bool(true))).to_vec();
        let filters = SjsonTree::Array(vec![filter]);
        capabilities.push(("exceptionBreakpointFilters".to_string(), filters));
        self.respond(pending, SjsonTree::Object(capabilities));
    }

    /// Starts a game, or finds a running one.
    fn begin(&mut self, pending: &Pending, arguments: &SjsonTree) {
        if self.game.is_some() {
            return self.refuse(pending, "a game is debugged already");
        }
        let folder = match text(arguments, "folder") {
            "" => match text(arguments, "cwd") {
                "" => ".",
                folder => folder,
            },
            folder => folder,
        };
        let opened = GamePaths::new(Path::new(folder)).and_then(|paths| {
            let game = match pending.command.as_str() {
                "launch" => {
                    let launch = Launch {
                        headless: boolean(arguments, "headless"),
                        engine_arguments: texts(arguments, "engineArguments"),
                        arguments: texts(arguments, "arguments"),
                        tests: tests_of(&paths, arguments)?,
                    };
                    DebuggedGame::launch(paths.folder(), &launch, &self.sender)
                }
                _ => DebuggedGame::attach(paths.folder()),
            };
            game.map(|game| (game, paths))
        });
        let (mut game, paths) = match opened {
            Ok(opened) => opened,
            Err(message) => return self.refuse(pending, &message),
        };
        let mut begun = game.request("debug_attach", Vec::new());
        if begun.is_ok() && boolean(arguments, "stopOnEntry") {
            self.stop_reason = "entry";
            begun = game.request("debug_pause", Vec::new());
        }
        if begun.is_ok() && !game.is_own() {
            // A game that was started prints its log.
            begun = game.request("subscribe", vec![("stream", json::text("log"))]);
        }
        if let Err(message) = begun {
            game.end();
            return self.refuse(pending, &message);
        }
        (self.game, self.paths) = (Some(game), Some(paths));
        self.respond(pending, json::object([]));
        self.event("initialized", json::object([]));
    }

    /// Debugs a game that was restarted.
    pub fn set_up_again(&mut self) {
        let Some(game) = &mut self.game else { return };
        let mut done = game.client.send("debug_attach", Vec::new());
        for fields in self.breakpoints.values() {
            done = done.and_then(|_| game.client.send("debug_breakpoints", fields.clone()));
        }
        self.flow_frames.clear();
        for fields in self.flow_breakpoints.values() {
            done = done.and_then(|_| game.client.send("debug_flow_breakpoints", fields.clone()));
        }
        let on = vec![("on", SjsonTree::Bool(self.stops_at_errors))];
        done = done.and_then(|_| game.client.send("debug_errors", on));
        done = done.and_then(|_| game.client.send("debug_ready", Vec::new()));
        if let Err(error) = done {
            self.output("stderr", &format!("engine dap: {}\n", error.message));
        }
    }

    fn set_breakpoints(&mut self, pending: Pending, arguments: &SjsonTree) {
        let points = items(arguments, "breakpoints");
        let Some(script) = self.script_of(arguments) else {
            let unknown = |point: &SjsonTree| {
                json::object([
                    ("verified", SjsonTree::Bool(false)),
                    ("line", SjsonTree::Number(number(point, "line"))),
                    ("message", json::text("this file is not in the game's folder")),
                ])
            };
            let points = points.iter().map(unknown).collect();
            return self
                .respond(&pending, json::object([("breakpoints", SjsonTree::Array(points))]));
        };
        if points.len() > BREAKPOINTS_MAX {
            let message =
                format!("a file can have {BREAKPOINTS_MAX} breakpoints (BREAKPOINTS_MAX)");
            return self.refuse(&pending, &message);
        }
        let list = |key: &str| {
            SjsonTree::Array(points.iter().map(|point| json::text(text(point, key))).collect())
        };
        let lines = json::numbers(points.iter().map(|point| number(point, "line")));
        if flow::is_graph(&script) {
            return self.set_flow_breakpoints(pending, script, lines);
        }
        let fields = vec![
            ("file", json::text(&script)),
            ("lines", lines),
            ("conditions", list("condition")),
            ("hits", list("hitCondition")),
            ("logs", list("logMessage")),
        ];
        self.breakpoints.insert(script.clone(), fields.clone());
        self.ask_game(pending, "debug_breakpoints", fields, Context::Breakpoints(script));
    }

    fn script_of(&self, arguments: &SjsonTree) -> Option<String> {
        let source = arguments.get("source")?;
        let reference = number(source, "sourceReference");
        if reference >= 1.0 {
            return self.sources.get(reference as usize - 1).cloned();
        }
        self.paths.as_ref()?.script_of(Path::new(text(source, "path")))
    }

    fn breakpoint_locations(&mut self, pending: Pending, arguments: &SjsonTree) {
        let Some(script) = self.script_of(arguments) else {
            return self
                .respond(&pending, json::object([("breakpoints", SjsonTree::Array(Vec::new()))]));
        };
        let line = number(arguments, "line");
        let last = number(arguments, "endLine").max(line);
        let fields = vec![
            ("file", json::text(script)),
            ("line", limited(line, 2e9)),
            ("last", limited(last, 2e9)),
        ];
        self.ask_game(pending, "debug_locations", fields, Context::Locations);
    }

    fn evaluate(&mut self, pending: Pending, arguments: &SjsonTree) {
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
        let fields = vec![("text", line), ("frame", limited(id - 1.0, 2e9))];
        self.ask_game(pending, "debug_evaluate", fields, Context::Value("result"));
    }

    fn disconnect(&mut self, pending: &Pending, arguments: &SjsonTree) {
        self.is_done = true;
        if let Some(mut game) = self.game.take() {
            let ends = match arguments.get("terminateDebuggee") {
                Some(SjsonTree::Bool(ends)) => *ends,
                _ => game.is_own(),
            };
            match ends {
                // If the game does not answer, its process is ended.
                true => _ = game.client.send("quit", Vec::new()),
                false => _ = game.request("debug_detach", Vec::new()),
            }
            if ends && game.is_own() {
                game.wait();
            }
        }
        self.respond(pending, json::object([]));
    }
}

/// Returns the tests that are to be run in place of the game, if there are any.
fn tests_of(paths: &GamePaths, arguments: &SjsonTree) -> Result<Option<DebuggedTests>, String> {
    let name = text(arguments, "test").to_string();
    let suite = match text(arguments, "suite") {
        "" if name.is_empty() => return Ok(None),
        "" => return Err("'test' needs 'suite', the file that the test is in".to_string()),
        suite => suite,
    };
    let leaves = Path::new(suite).components().any(|part| part == Component::ParentDir);
    let inside = paths.script_of(&paths.folder().join(suite)).filter(|_| !leaves);
    let suite = inside.ok_or_else(|| format!("the suite {suite} is not in the game's folder"))?;
    Ok(Some(DebuggedTests { suite, name }))
}

/// Returns a number of items; none, or 0, is as many as possible.
fn most(arguments: &SjsonTree, key: &str) -> SjsonTree {
    match number(arguments, key) {
        count if count >= 1.0 => limited(count, ITEMS_MAX),
        _ => SjsonTree::Number(ITEMS_MAX),
    }
}
