//! The requests of the editor.

use super::flow;
use super::game::{DebuggedGame, DebuggedTests, Launch};
use super::launch_arguments;
use super::paths::GamePaths;
use super::point_ids::PointList;
use super::positions::Positions;
use super::responses::{Context, Pending, items, number, text};
use super::workers;
use super::{Adapter, LOST_VERSION, UnsavedSource};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::path::{Component, Path};

/// Maximum number of breakpoints of one file, that of the message `debug_breakpoints`.
const BREAKPOINTS_MAX: usize = 1000;
/// Maximum number of functions and variables in one answer.
const ITEMS_MAX: f64 = 1000.0;
/// Maximum number of a coroutine.
const THREADS_MAX: f64 = 1001.0;

/// Requests that can be cancelled, because they change nothing. `evaluate` runs a line, unless the
/// mouse points at a name.
const READING_REQUESTS: [&str; 10] = [
    "breakpointLocations",
    "completions",
    "exceptionInfo",
    "gotoTargets",
    "loadedSources",
    "scopes",
    "source",
    "stackTrace",
    "threads",
    "variables",
];

/// Abilities of the adapter.
const CAPABILITIES: [&str; 21] = [
    "supportsConfigurationDoneRequest",
    "supportsFunctionBreakpoints",
    "supportsDataBreakpoints",
    "supportsSetExpression",
    "supportsCompletionsRequest",
    "supportsLoadedSourcesRequest",
    "supportsRestartRequest",
    "supportsRestartFrame",
    "supportsGotoTargetsRequest",
    "supportsExceptionFilterOptions",
    "supportsClipboardContext",
    "supportsCancelRequest",
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

/// Returns the fields of `debug_errors` from the filters that the editor has chosen.
fn error_filters(arguments: &SjsonTree) -> Vec<(&'static str, SjsonTree)> {
    let options = items(arguments, "filterOptions");
    let option = |name: &str| options.iter().find(|it| text(it, "filterId") == name);
    let chosen = texts(arguments, "filters");
    let is_on =
        |name: &str| SjsonTree::Bool(chosen.iter().any(|it| it == name) || option(name).is_some());
    let wanted = |name: &str| json::text(option(name).map_or("", |it| text(it, "condition")));
    vec![
        ("on", is_on("uncaught")),
        ("caught", is_on("caught")),
        ("warnings", is_on("warning")),
        ("text", wanted("uncaught")),
        ("caught_text", wanted("caught")),
        ("warning_text", wanted("warning")),
    ]
}

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

/// Returns true if an `evaluate` request looks up what the mouse points at.
pub fn is_of_mouse(arguments: &SjsonTree) -> bool {
    text(arguments, "context") == "hover"
}

/// Returns a number of a request, limited to what the game accepts.
pub fn limited(number: f64, most: f64) -> SjsonTree {
    SjsonTree::Number(number.clamp(0.0, most).floor())
}

impl Adapter {
    pub fn handle_request(&mut self, tree: &SjsonTree) {
        if text(tree, "type") != "request" {
            return;
        }
        let command = text(tree, "command").to_string();
        let arguments = tree.get("arguments").cloned();
        let mut arguments = arguments.unwrap_or(SjsonTree::Object(Vec::new()));
        if command == "initialize" {
            self.positions = Positions::of_editor(&arguments);
        } else {
            self.positions.read_request(&mut arguments);
        }
        let arguments = &arguments;
        let pending = Pending {
            number: SjsonTree::Number(number(tree, "seq")),
            is_reading: READING_REQUESTS.contains(&command.as_str())
                || command == "evaluate" && is_of_mouse(arguments),
            command,
            context: Context::Nothing,
        };
        match pending.command.as_str() {
            "initialize" => self.initialize(&pending),
            "launch" | "attach" => self.begin(&pending, arguments),
            "configurationDone" => self.ask_game(pending, "debug_ready", vec![], Context::Nothing),
            "setBreakpoints" => self.set_breakpoints(pending, arguments),
            "breakpointLocations" => self.breakpoint_locations(pending, arguments),
            "setFunctionBreakpoints" => self.set_function_breakpoints(pending, arguments),
            "setDataBreakpoints" => self.set_data_breakpoints(pending, arguments),
            "dataBreakpointInfo" => self.data_breakpoint_info(pending, arguments),
            "setExceptionBreakpoints" => {
                self.errors = error_filters(arguments);
                self.ask_game(pending, "debug_errors", self.errors.clone(), Context::Nothing);
            }
            "threads" if self.is_stopped => {
                self.ask_game(pending, "debug_coroutines", vec![], Context::Threads);
            }
            "threads" if self.game.is_none() => {
                let threads = SjsonTree::Array(vec![workers::main_thread()]);
                self.respond(&pending, json::object([("threads", threads)]));
            }
            "threads" => self.ask_game(pending, "debug_workers", vec![], Context::Threads),
            "loadedSources" => self.ask_game(pending, "debug_sources", vec![], Context::Sources),
            // A stopped script continues by itself.
            "restart" => self.ask_game(pending, "restart", vec![], Context::Nothing),
            "disconnect" => self.disconnect(&pending, arguments),
            "terminate" => self.ask_game(pending, "quit", vec![], Context::Nothing),
            "cancel" => self.cancel(&pending, arguments),
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
            "pause" => self.pause(pending, arguments),
            "stackTrace" => self.stack_trace(pending, arguments),
            "gotoTargets" => self.find_jump_targets(pending, arguments),
            "goto" => self.jump(pending, arguments),
            "restartFrame" => {
                self.ask_game(pending, "debug_restart_frame", vec![], Context::Nothing);
            }
            "scopes" => {
                let id = frame(number(arguments, "frameId"));
                self.last_frame = (number(arguments, "frameId") - 1.0).max(0.0);
                self.ask_game(pending, "debug_scopes", vec![("frame", id)], Context::Scopes);
            }
            "variables" => {
                let count = number(arguments, "count");
                let fields = vec![
                    ("reference", limited(number(arguments, "variablesReference"), 2e9)),
                    ("first", limited(number(arguments, "start"), 2e9)),
                    ("max", most(arguments, "count")),
                    ("filter", json::text(text(arguments, "filter"))),
                ];
                let is_page = (1.0..=ITEMS_MAX).contains(&count);
                self.ask_game(pending, "debug_variables", fields, Context::Variables { is_page });
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
            "setExpression" => self.set_expression(pending, arguments),
            "completions" => self.complete(pending, arguments),
            "evaluate" => self.evaluate(pending, arguments),
            "engineSampling" => self.sample(pending, arguments),
            "engineFlowNodes" => {
                self.ask_game(pending, "debug_flow_nodes", vec![], Context::Whole);
            }
            "engineFlowBreakpoints" => self.set_flow_nodes(pending, arguments),
            "exceptionInfo" => self.ask_game(pending, "debug_error", vec![], Context::Error),
            "source" => self.ask_source(pending, arguments),
            command => {
                let message = format!("engine dap does not know the request '{command}'");
                self.refuse(&pending, &message);
            }
        }
    }

    fn pause(&mut self, pending: Pending, arguments: &SjsonTree) {
        self.stop_reason = "pause";
        match workers::number_of(arguments) {
            Some(worker) => {
                let fields = vec![("worker", worker)];
                self.ask_game(pending, "debug_pause_worker", fields, Context::Nothing);
            }
            None => self.ask_game(pending, "debug_pause", vec![], Context::Nothing),
        }
    }

    fn stack_trace(&mut self, pending: Pending, arguments: &SjsonTree) {
        let is_graph_stopped = !self.is_stopped && self.flow_thread().is_some();
        if is_graph_stopped || workers::runs(arguments, self.stopped_worker) {
            // A graph or another script is stopped, and this one has no stack to show.
            let body = [("stackFrames", SjsonTree::Array(vec![])), ("totalFrames", json::count(0))];
            return self.respond(&pending, json::object(body));
        }
        let coroutine = match workers::number_of(arguments) {
            Some(_) => 1.0,
            None => number(arguments, "threadId").clamp(1.0, THREADS_MAX).floor(),
        };
        let fields = vec![
            ("first", limited(number(arguments, "startFrame"), 2e9)),
            ("max", most(arguments, "levels")),
            ("coroutine", SjsonTree::Number(coroutine)),
        ];
        self.ask_game(pending, "debug_stack", fields, Context::Stack);
    }

    /// Asks for the text of a script without a file.
    fn ask_source(&mut self, pending: Pending, arguments: &SjsonTree) {
        let at = arguments.get("source").map_or(0.0, |it| number(it, "sourceReference"));
        let at = at.max(number(arguments, "sourceReference"));
        match self.sources.get((at - 1.0).max(0.0) as usize) {
            Some(source) if at >= 1.0 && source.version != Some(LOST_VERSION) => {
                let mut fields = vec![("file", json::text(&source.script))];
                fields.extend(source.version.map(|it| ("version", SjsonTree::Number(it))));
                self.ask_game(pending, "debug_source", fields, Context::Source);
            }
            _ => self.refuse(&pending, "there is no source with this number"),
        }
    }

    fn initialize(&mut self, pending: &Pending) {
        let filter = |name: &str, label: &str, description: &str| {
            json::object([
                ("filter", json::text(name)),
                ("label", json::text(label)),
                ("description", json::text(description)),
                ("default", SjsonTree::Bool(name == "uncaught")),
                ("supportsCondition", SjsonTree::Bool(true)),
                ("conditionDescription", json::text("a text that the message must have")),
            ])
        };
        let filters = vec![
            filter("uncaught", "Uncaught Errors", "Errors that no pcall of the game catches"),
            filter("caught", "Caught Errors", "Errors that a pcall of the game catches"),
            filter("warning", "Warnings", "Warnings that the engine writes while a script runs"),
        ];
        let mut capabilities: Vec<(String, SjsonTree)> =
            CAPABILITIES.map(|name| (name.to_string(), SjsonTree::Bool(true))).to_vec();
        let triggers = SjsonTree::Array([".", ":"].map(json::text).to_vec());
        capabilities.push(("completionTriggerCharacters".to_string(), triggers));
        let filters = SjsonTree::Array(filters);
        capabilities.push(("exceptionBreakpointFilters".to_string(), filters));
        self.respond(pending, SjsonTree::Object(capabilities));
    }

    /// Starts a game, or finds a running one.
    fn begin(&mut self, pending: &Pending, arguments: &SjsonTree) {
        if self.game.is_some() {
            return self.refuse(pending, "a game is debugged already");
        }
        if let Err(message) = launch_arguments::check(arguments) {
            return self.refuse(pending, &message);
        }
        let folder = launch_arguments::folder(arguments);
        let opened = GamePaths::new(Path::new(folder)).and_then(|paths| {
            let game = match pending.command.as_str() {
                "launch" => {
                    let launch = Launch {
                        headless: boolean(arguments, "headless"),
                        engine_arguments: texts(arguments, "engineArguments"),
                        arguments: texts(arguments, "arguments"),
                        tests: tests_of(&paths, arguments)?,
                    };
                    if launch.tests.is_none() {
                        launch_arguments::check_launch(&paths, &launch.engine_arguments)?;
                    }
                    DebuggedGame::launch(paths.folder(), &launch, &self.sender)
                }
                _ => DebuggedGame::attach(paths.folder(), &self.sender),
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
        self.poll_game();
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
        if flow::is_graph(&script) {
            return self.set_flow_breakpoints(pending, script, points);
        }
        let list = |key: &str| {
            SjsonTree::Array(points.iter().map(|point| json::text(text(point, key))).collect())
        };
        let lines = json::numbers(points.iter().map(|point| number(point, "line")));
        let fields = vec![
            ("file", json::text(&script)),
            ("lines", lines),
            ("conditions", list("condition")),
            ("hits", list("hitCondition")),
            ("logs", list("logMessage")),
        ];
        self.breakpoints.insert(script.clone(), fields.clone());
        let context = Context::Breakpoints(PointList::File(script));
        self.ask_game(pending, "debug_breakpoints", fields, context);
    }

    /// Refuses a request that the game has not answered, if it only reads: it is carried out.
    fn cancel(&mut self, pending: &Pending, arguments: &SjsonTree) {
        let request = SjsonTree::Number(number(arguments, "requestId"));
        let is_it = |it: &Pending| it.number == request && it.is_reading;
        let found = self.pending.iter().find(|(_, it)| is_it(it)).map(|(id, _)| *id);
        if let Some(cancelled) = found.and_then(|id| self.pending.remove(&id)) {
            self.refuse(&cancelled, "cancelled");
        }
        self.respond(pending, json::object([]));
    }

    fn script_of(&self, arguments: &SjsonTree) -> Option<String> {
        self.source_of(arguments).map(|source| source.script)
    }

    /// Returns the script that a request names, and the number of an earlier text of it.
    pub fn source_of(&self, arguments: &SjsonTree) -> Option<UnsavedSource> {
        let source = arguments.get("source")?;
        let reference = number(source, "sourceReference");
        if reference >= 1.0 {
            return self.sources.get(reference as usize - 1).cloned();
        }
        let script = self.paths.as_ref()?.script_of(Path::new(text(source, "path")))?;
        Some(UnsavedSource { script, version: None })
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
            match ends {
                true if game.is_own() => _ = game.wait(),
                true => {}
                false => game.release(),
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
