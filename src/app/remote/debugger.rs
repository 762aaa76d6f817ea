//! The debugger of a running game, for one tool: its requests while the game runs, and the wait for
//! requests while a script is stopped. The script is stopped inside of a callback then, in the
//! middle of a frame: the main loop does not run, and other messages wait. The requests are
//! answered by the prelude (lua/debug/debugger.lua).

use super::debugger_flow::FlowBreakpoints;
use super::message_table::{MessageRow, check, description, find};
use super::pause_link::{FrameReplay, PauseLink};
use super::saved_text::add_saved_text;
use super::status::{StatusFacts, status_of};
use super::stopped_game::StoppedGame;
use super::worker_debugger::{self, with_workers};
use super::{IncomingCall, PendingReply, Refusal, RemoteTools, eval};
use crate::App;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{json, log, panic};
use engine_platform as platform;
use engine_remote::{ClientEvent, ClientEventKind, RemoteConnection};
use engine_runtime::Engine;
use engine_script::{DebugRequest, DebuggerHost, ScriptValue};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// CPU time of a request while no script is stopped, in seconds. The files with breakpoints are
/// compiled again, and all objects are walked.
const REQUEST_SECONDS: f64 = 5.0;
/// Wait for a message of a tool between two polls of the window.
const WAIT: Duration = Duration::from_millis(10);

/// The tool that debugs a game.
pub struct DebuggingTool {
    pub peer: Arc<RemoteConnection>,
    /// True if the tool has set its breakpoints, so that a game that waits for it can start.
    pub is_ready: bool,
    /// Its breakpoints in graphs.
    pub flow: FlowBreakpoints,
}

impl DebuggingTool {
    /// Sends an event to the tool.
    pub fn send(&self, name: &str, fields: SjsonTree) {
        send_event(&self.peer, name, fields);
    }
}

pub fn send_event(peer: &RemoteConnection, name: &str, fields: SjsonTree) {
    let mut entries = vec![("type".to_string(), json::text(name))];
    if let SjsonTree::Object(fields) = fields {
        entries.extend(fields);
    }
    peer.answer(json::write(&SjsonTree::Object(entries)));
}

/// The requests of a tool to a stopped script.
struct StoppedScript {
    link: Rc<PauseLink>,
    peer: Arc<RemoteConnection>,
    /// The request that is being answered, and its fields.
    reply: Option<(PendingReply, ScriptValue)>,
    /// The event of the stop, until no worker is stopped.
    unsent_stop: Option<SjsonTree>,
    /// The number of lines of the log before it.
    logged_before: u64,
    /// True if the script must continue, and stop no more.
    ends: bool,
    /// The stop as the window and other tools show it.
    stopped: StoppedGame,
}

impl StoppedScript {
    /// Handles an event: returns a request, or keeps the event until the script continues.
    fn accept(&mut self, event: ClientEvent, engine: &mut Engine) -> Option<DebugRequest> {
        let ClientEvent { peer, kind } = event;
        let is_own = peer.number == self.peer.number;
        let ClientEventKind::Message(message, bytes) = kind else {
            self.ends |= is_own && kind == ClientEventKind::Left;
            self.link.defer(ClientEvent { peer, kind });
            return None;
        };
        let row = message.as_ref().ok().and_then(|tree| find(tree).ok());
        let (Some(row), Ok(fields)) = (row, &message) else {
            self.defer(peer, message, bytes);
            return None;
        };
        let id = fields.get("id").cloned().unwrap_or(SjsonTree::Null);
        let reply = PendingReply { peer: peer.clone(), kind: row.name, id };
        if self.answer_now(row, &reply, engine) {
            return None;
        }
        let is_request = row.name.starts_with("debug_");
        let waits = row.name == "debug_detach" || row.name.starts_with("debug_flow_");
        if row.name != "eval" && (!is_request || waits) {
            // The frame ends without another stop before the game restarts.
            let ends = is_own
                && ["debug_detach", "restart"].contains(&row.name)
                && check(row, fields).is_ok();
            if self.defer(peer, message, bytes) && ends {
                self.link.leaves.set(true);
            }
            return None;
        }
        let problem = match check(row, fields) {
            Err(message) => Some(message),
            Ok(()) if is_request && !is_own => Some(BUSY.to_string()),
            Ok(()) if row.name == "debug_restart_frame" && !self.link.plays_frame.get() => {
                Some(NO_FRAME.to_string())
            }
            Ok(()) if ["debug_attach", "debug_ready"].contains(&row.name) => {
                reply.answer(json::object([]));
                return None;
            }
            Ok(()) => None,
        };
        let name = if is_request { row.name } else { "debug_evaluate" }.to_string();
        let mut fields = ScriptValue::from_tree(fields);
        if !is_request && let ScriptValue::Table(entries) = &mut fields {
            entries.push(("command".to_string(), ScriptValue::Boolean(true)));
        }
        add_saved_text(&self.link.folder, &name, &mut fields);
        let problem = problem.or_else(|| self.link.workers.check_room(row.name, &fields).err());
        if let Some(message) = problem {
            reply.refuse(Refusal::of(message));
            return None;
        }
        self.reply = Some((reply, fields.clone()));
        (self.logged_before, _) = log::lines_after(u64::MAX);
        Some(DebugRequest { name, fields })
    }

    /// Answers a message that needs no script, and returns true; false for any other.
    fn answer_now(&mut self, row: &MessageRow, reply: &PendingReply, engine: &mut Engine) -> bool {
        match (row.name, self.link.workers.check_restart(row.name)) {
            ("quit", _) => {
                engine.frame.quit.get_or_insert(crate::exit::SUCCESS);
                reply.answer(json::object([]));
                self.ends = true;
            }
            ("help", _) => reply.answer(description()),
            ("status", _) => reply.answer(self.status(engine, reply.peer.dropped())),
            (_, Err(problem)) => reply.refuse(Refusal::of(problem)),
            _ => return false,
        }
        true
    }

    /// Returns the status of the game. `dropped` is the number of messages that the tool lost.
    fn status(&self, engine: &Engine, dropped: u64) -> SjsonTree {
        let facts = StatusFacts {
            folder: &self.link.folder,
            paused: true,
            problem: None,
            stopped: Some(self.stopped.location()),
            clients: self.link.clients.get(),
            refused: self.link.server.refused(),
            dropped,
        };
        status_of(engine, &facts)
    }

    /// Keeps a message until the script continues. Returns false if it was refused.
    fn defer(
        &self,
        peer: Arc<RemoteConnection>,
        message: Result<SjsonTree, String>,
        bytes: usize,
    ) -> bool {
        let kind = ClientEventKind::Message(message, bytes);
        let Some(ClientEvent { peer, .. }) = self.link.defer(ClientEvent { peer, kind }) else {
            return true;
        };
        let reply = PendingReply { peer, kind: "", id: SjsonTree::Null };
        reply.refuse(Refusal::of(
            "the debugger has stopped the game, and too many messages wait (DEFERRED_MAX)",
        ));
        false
    }
}

/// Requests that are answered while another script is the stopped one.
const SETTING_REQUESTS: [&str; 3] = ["debug_breakpoints", "debug_functions", "debug_errors"];
const ANOTHER_STOP: &str = "another script is stopped: this one stops when that one continues";
const BUSY: &str = "another tool debugs the game: end its session first";
pub const NO_FRAME: &str = "only a frame can start again, and no frame is played now: 'init' and \
                            tests are no frames";

impl DebuggerHost for StoppedScript {
    fn next(&mut self, engine: &mut Engine) -> Option<DebugRequest> {
        self.link.was_stopped.set(true);
        self.stopped.begin(engine);
        // A panic must not unwind through Lua. If it was one of the window, the main loop reports
        // it as it does without a debugger.
        let waited = panic::contain(|| self.wait(engine));
        waited.unwrap_or_else(|error| {
            log::error(&format!("the debugger lets the script continue: {error}"));
            self.ends = true;
            None
        })
    }

    fn continues(&mut self, engine: &mut Engine) {
        self.stopped.end(engine);
        self.link.workers.hub.continue_game();
    }

    fn answer(&mut self, answer: Result<ScriptValue, String>) {
        let Some((reply, fields)) = self.reply.take() else { return };
        match answer {
            Ok(answer) if reply.kind == "eval" => {
                let logged = eval::lines_since(self.logged_before);
                reply.answer(as_eval(&answer, logged));
            }
            Ok(answer) => {
                let answer = to_tree(&answer);
                self.link.workers.set(reply.kind, fields, &answer);
                reply.answer(with_workers(reply.kind, answer, &self.link.workers.hub));
            }
            Err(message) => reply.refuse(Refusal::of(message)),
        }
    }

    fn send(&mut self, name: &str, fields: ScriptValue) {
        let mut fields = to_tree(&fields);
        let is = |key: &str, text: &str| fields.get(key) == Some(&json::text(text));
        if name == "debug_stopped" {
            self.stopped.note(&fields);
            let is_error = is("reason", "error") && is("kind", "uncaught");
            let replay = if is_error { FrameReplay::AfterFix } else { FrameReplay::Never };
            self.link.replay.set(replay);
            self.unsent_stop = Some(fields);
            return;
        }
        if fields.get("restarts").is_some() {
            self.link.replay.set(FrameReplay::Asked);
        }
        if name == "debug_breakpoints_listed" {
            self.link.workers.set_listed(&fields);
            if let SjsonTree::Object(entries) = &mut fields {
                // The tool has the file.
                entries.retain(|(key, _)| key != "saved");
            }
        }
        if name == "debug_continued" && self.unsent_stop.take().is_some() {
            // The tool does not know of the stop.
            return;
        }
        send_event(&self.peer, name, fields);
    }
}

impl StoppedScript {
    /// Waits for the next request. Returns `None` if the script has to continue. Tools are
    /// answered also while the script of a worker is the stopped one.
    fn wait(&mut self, engine: &mut Engine) -> Option<DebugRequest> {
        loop {
            let link = self.link.clone();
            if self.ends
                || link.leaves.get()
                || platform::end_requested().is_some()
                || link.poll_window(engine, &mut self.stopped)
            {
                return None;
            }
            // One script is stopped at a time: the tool learns of this stop when it is the one.
            if let Some(event) = self.unsent_stop.take_if(|_| link.workers.hub.stop_game()) {
                send_event(&self.peer, "debug_stopped", event);
            }
            let event = link.server.wait(WAIT);
            let Some(request) = event.and_then(|event| self.accept(event, engine)) else {
                continue;
            };
            let is_eval = self.reply.as_ref().is_some_and(|(reply, _)| reply.kind == "eval");
            let is_setting = SETTING_REQUESTS.contains(&request.name.as_str());
            if self.unsent_stop.is_none() || is_eval || is_setting {
                return Some(request);
            }
            self.answer(Err(ANOTHER_STOP.to_string()));
        }
    }
}

/// Returns the answer to `eval` from that to `debug_evaluate`.
fn as_eval(answer: &ScriptValue, logged: SjsonTree) -> SjsonTree {
    let value = answer.to_tree().get("value").cloned();
    let values = SjsonTree::Array(value.into_iter().collect());
    json::object([("values", values), ("logged", logged)])
}

/// Converts an answer of the prelude. An empty Lua table becomes an empty list for keys that hold
/// lists.
pub fn to_tree(answer: &ScriptValue) -> SjsonTree {
    const LISTS: [&str; 10] = [
        "breakpoints",
        "changed",
        "coroutines",
        "earlier",
        "files",
        "frames",
        "lines",
        "scopes",
        "variables",
        "words",
    ];
    let mut tree = answer.to_tree();
    if let SjsonTree::Object(entries) = &mut tree {
        for (key, value) in entries {
            if LISTS.contains(&key.as_str()) && *value == SjsonTree::Object(Vec::new()) {
                *value = SjsonTree::Array(Vec::new());
            }
        }
    }
    tree
}

/// Begins to debug the game.
pub fn attach(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    if let Some(tool) = &call.state.debugger {
        return match tool.peer.number == call.reply.peer.number {
            true => Ok(Some(json::object([]))),
            false => Err(Refusal::of(BUSY)),
        };
    }
    let peer = call.reply.peer.clone();
    let (link, reply, logged_before) = (call.state.link.clone(), None, 0);
    let stopped = StoppedGame::default();
    let host = StoppedScript {
        link: link.clone(),
        peer: peer.clone(),
        reply,
        unsent_stop: None,
        logged_before,
        ends: false,
        stopped,
    };
    link.leaves.set(false);
    let vm = &mut call.app.vm;
    vm.set_debugger(Some(Box::new(host)));
    let begun = vm.call_core("debugger_begin", &[], eval::INSPECT_SECONDS);
    let problem = match begun {
        Ok(ScriptValue::Nil) => None,
        Ok(ScriptValue::Text(problem)) => Some(Refusal::of(problem)),
        Ok(_) => None,
        Err(report) => Some(eval::refusal(&report)),
    };
    if let Some(problem) = problem {
        vm.set_debugger(None);
        return Err(problem);
    }
    link.workers.attach(&peer);
    call.state.debugger =
        Some(DebuggingTool { peer, is_ready: false, flow: FlowBreakpoints::default() });
    Ok(Some(json::object([])))
}

/// Returns a refusal if another tool, or none, debugs the game.
pub fn check_tool(call: &IncomingCall) -> Result<(), Refusal> {
    match &call.state.debugger {
        Some(tool) if tool.peer.number == call.reply.peer.number => Ok(()),
        Some(_) => Err(Refusal::of(BUSY)),
        None => Err(Refusal::of("the game is not debugged: send 'debug_attach' first")),
    }
}

/// Lets a game start that waits for the debugger.
pub fn ready(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    check_tool(call)?;
    if let Some(tool) = &mut call.state.debugger {
        tool.is_ready = true;
    }
    Ok(Some(json::object([])))
}

pub fn detach(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    check_tool(call)?;
    call.state.link.workers.detach();
    let tool = call.state.debugger.take();
    let was_stopped = tool.is_some_and(|mut tool| tool.flow.end(call.app));
    call.state.is_graph_stopped &= !was_stopped;
    end(call.app).map_err(|report| eval::refusal(&report))?;
    if was_stopped {
        super::flow::continue_events(call.app);
    }
    Ok(Some(json::object([])))
}

/// Removes all breakpoints and ends the debugger.
fn end(app: &mut App) -> Result<(), Box<engine_script::ErrorReport>> {
    let ended = app.vm.call_core("debugger_finish", &[], REQUEST_SECONDS).map(drop);
    app.vm.set_debugger(None);
    ended
}

/// Stops the script at its next line.
pub fn pause(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    check_tool(call)?;
    let paused = call.app.vm.call_core("debugger_pause", &[], eval::INSPECT_SECONDS);
    paused.map(|_| Some(json::object([]))).map_err(|report| eval::refusal(&report))
}

/// Answers any other request while no script is stopped.
pub fn request(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    check_tool(call)?;
    if call.reply.kind == "debug_restart_frame" {
        worker_debugger::check_frame(call)?;
    }
    let workers = &call.state.link.workers;
    let mut fields = ScriptValue::from_tree(call.fields);
    add_saved_text(&call.state.link.folder, call.reply.kind, &mut fields);
    workers.check_room(call.reply.kind, &fields).map_err(Refusal::of)?;
    let arguments = [ScriptValue::Text(call.reply.kind.to_string()), fields.clone()];
    match call.app.vm.call_core("debugger_request", &arguments, REQUEST_SECONDS) {
        Ok(ScriptValue::Table(entries)) => {
            let field = |name: &str| {
                entries.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
            };
            match (field("answer"), field("problem")) {
                (_, Some(ScriptValue::Text(problem))) => Err(Refusal::of(problem)),
                (answer, _) => {
                    let answer = to_tree(&answer.unwrap_or(ScriptValue::Table(Vec::new())));
                    call.state.link.workers.set(call.reply.kind, fields, &answer);
                    Ok(Some(answer))
                }
            }
        }
        Ok(_) => Ok(Some(json::object([]))),
        Err(report) => Err(eval::refusal(&report)),
    }
}

impl RemoteTools {
    /// Ends the debugger if this client was its tool.
    pub(super) fn end_debugger(&mut self, app: &mut App, client: u64) {
        let ended = self.state.debugger.take_if(|tool| tool.peer.number == client);
        let Some(mut tool) = ended else { return };
        self.state.link.workers.detach();
        let was_stopped = tool.flow.end(app);
        self.state.is_graph_stopped &= !was_stopped;
        if let Err(report) = end(app) {
            log::error(&report.to_string());
        }
        if was_stopped {
            super::flow::continue_events(app);
        }
    }

    /// Lets the debugger reach functions that were running when their breakpoints were set.
    pub(super) fn update_debugger(&mut self, app: &mut App) {
        if self.state.debugger.is_some()
            && let Err(report) = app.vm.call_core("debugger_update", &[], REQUEST_SECONDS)
        {
            log::error(&report.to_string());
        }
    }

    /// Tells the tool that the game was restarted, and is not debugged any more.
    pub(super) fn forget_debugger(&mut self) {
        self.state.link.workers.detach();
        if let Some(tool) = self.state.debugger.take() {
            tool.send("debug_restarted", json::object([]));
        }
    }
}

impl App {
    /// Lets the workers that the game starts find the tool that debugs it, and shows their stops
    /// while a script waits for them.
    pub(super) fn share_workers(&mut self, tools: &RemoteTools) {
        let hub = tools.state.link.workers.hub.clone();
        let (link, interrupt) = (tools.state.link.clone(), self.vm.interrupt());
        let devices = &mut self.vm.engine().devices;
        devices.workers.companion = Some(hub);
        devices.worker_stop_view = Some(Rc::new(move |engine| {
            let budget = interrupt.suspend();
            link.show_worker_stop(engine);
            interrupt.resume(budget);
        }));
    }

    /// Notes that a file of tests is run in place of the game.
    pub(crate) fn note_tests(&self) {
        if let Some(tools) = &self.tools {
            tools.state.link.workers.note_tests();
        }
    }

    /// Returns true if a tool debugs the game, and has set its breakpoints.
    pub(crate) fn is_debugger_ready(&self) -> bool {
        let debugger = self.tools.as_ref().and_then(|tools| tools.state.debugger.as_ref());
        debugger.is_some_and(|tool| tool.is_ready)
    }

    /// Notes that a frame begins, which can be played again, or that it has ended.
    pub(crate) fn note_frame(&self, begins: bool) {
        if let Some(tools) = &self.tools {
            let link = &tools.state.link;
            link.plays_frame.set(begins);
            if begins {
                // A stop in a frame that did not fail has no effect on later ones.
                link.replay.set(FrameReplay::Never);
            }
        }
    }

    /// Returns true if a tool debugs the game.
    pub(crate) fn is_debugged(&self) -> bool {
        self.tools.as_ref().is_some_and(|tools| tools.state.debugger.is_some())
    }

    /// Returns what a stopped script shares with the main loop, if tools can connect: the answers
    /// to their messages in a frame can begin to debug the scripts of the same frame.
    pub(crate) fn pause_link(&self) -> Option<Rc<PauseLink>> {
        self.tools.as_ref().map(|tools| tools.state.link.clone())
    }
}
