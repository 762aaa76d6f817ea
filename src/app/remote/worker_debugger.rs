//! The debugger's connection to workers. While the script of a worker is stopped, the game may wait
//! for it in the middle of a frame, so the requests of the tool are passed to the worker on the
//! thread that has read them, and the worker answers them itself.

use super::debugger::{NO_FRAME, send_event, to_tree};
use super::message_table::{check, find};
use super::{IncomingCall, PendingReply, Refusal};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{json, log, panic};
use engine_remote::{ClientEvent, ClientEventKind, RemoteConnection};
use engine_script::{DebugRequest, ScriptValue, WorkerDebugHub};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Messages of the debugger that the game answers also while a worker is stopped: they are about
/// all scripts.
const GAME_REQUESTS: [&str; 9] = [
    "debug_attach",
    "debug_ready",
    "debug_detach",
    "debug_breakpoints",
    "debug_functions",
    "debug_errors",
    "debug_workers",
    "debug_restart_frame",
    "debug_pause_worker",
];
/// Messages that end the stop of a worker.
const ENDING_MESSAGES: [&str; 3] = ["quit", "restart", "debug_detach"];

/// Returns the key of a message that sets breakpoints or errors for all scripts.
fn setting_key(name: &str, fields: &ScriptValue) -> Option<String> {
    let ScriptValue::Table(entries) = fields else { return None };
    let file = entries.iter().find_map(|(key, value)| match value {
        ScriptValue::Text(file) if key == "file" => Some(file),
        _ => None,
    });
    match (name, file) {
        ("debug_breakpoints", Some(file)) => Some(format!("file {file}")),
        ("debug_functions" | "debug_errors", _) => Some(name.to_string()),
        _ => None,
    }
}

/// Returns true if a message removes all breakpoints of a file or of functions.
fn removes_all(fields: &ScriptValue) -> bool {
    let ScriptValue::Table(entries) = fields else { return false };
    entries.iter().any(|(key, value)| match value {
        ScriptValue::List(items) => items.is_empty() && ["lines", "names"].contains(&key.as_str()),
        _ => false,
    })
}

/// Returns the size of the fields of a message.
fn size_of(fields: &ScriptValue) -> usize {
    json::write(&fields.to_tree()).len()
}

/// The fields of a message that workers need. `saved` is the text with the lines.
const SETTING_FIELDS: [&str; 14] = [
    "file",
    "lines",
    "names",
    "conditions",
    "hits",
    "logs",
    "on",
    "caught",
    "warnings",
    "text",
    "caught_text",
    "warning_text",
    "reason",
    "saved",
];

/// Returns the fields of a request for workers, with the ids of the game's answer.
fn with_ids(mut fields: ScriptValue, answer: &SjsonTree) -> ScriptValue {
    if let ScriptValue::Table(entries) = &mut fields {
        entries.retain(|(key, _)| SETTING_FIELDS.contains(&key.as_str()));
    }
    if let (Some(SjsonTree::Array(points)), ScriptValue::Table(entries)) =
        (answer.get("breakpoints"), &mut fields)
    {
        let ids = points.iter().filter_map(|point| point.get("id"));
        let ids = ids.map(ScriptValue::from_tree).collect();
        entries.push(("ids".to_string(), ScriptValue::List(ids)));
    }
    fields
}

/// The workers of a game, as its tools see them.
#[derive(Default)]
pub struct DebuggedWorkers {
    pub hub: Arc<WorkerDebugHub>,
    /// The number of the client that debugs the game, or 0.
    tool: AtomicU64,
    /// The event of the stop of a worker.
    stop: Arc<Mutex<Option<SjsonTree>>>,
    /// True if a file of tests is run in place of the game, which does not restart.
    runs_tests: AtomicBool,
}

impl DebuggedWorkers {
    /// Begins to debug all workers.
    pub fn attach(&self, peer: &Arc<RemoteConnection>) {
        self.tool.store(peer.number, Ordering::SeqCst);
        let (peer, stop) = (peer.clone(), self.stop.clone());
        self.hub.attach(Arc::new(move |name, fields| {
            let fields = to_tree(&fields);
            match name {
                "debug_stopped" => *panic::lock(&stop) = Some(fields.clone()),
                "debug_continued" => *panic::lock(&stop) = None,
                _ => {}
            }
            send_event(&peer, name, fields);
        }));
    }

    /// Returns the event of the stop while the script of a worker is stopped.
    pub fn stop(&self) -> Option<SjsonTree> {
        let event = panic::lock(&self.stop).clone();
        event.filter(|_| self.hub.is_worker_stopped())
    }

    pub fn detach(&self) {
        self.tool.store(0, Ordering::SeqCst);
        self.hub.detach();
    }

    /// Notes that a file of tests is run in place of the game.
    pub fn note_tests(&self) {
        self.runs_tests.store(true, Ordering::SeqCst);
    }

    /// Returns a message if a request is to restart tests.
    pub fn check_restart(&self, name: &str) -> Result<(), String> {
        match name == "restart" && self.runs_tests.load(Ordering::SeqCst) {
            true => Err("tests do not restart: end the session, and start them again".to_string()),
            false => Ok(()),
        }
    }

    /// Returns a message if there is no room for what a request sets.
    pub fn check_room(&self, name: &str, fields: &ScriptValue) -> Result<(), String> {
        let has_room = |key: String| self.hub.has_room(&key, size_of(fields));
        match removes_all(fields) || setting_key(name, fields).is_none_or(has_room) {
            true => Ok(()),
            false => Err("there are breakpoints in too many files (SETTINGS_MAX, \
                          SETTING_BYTES_MAX)"
                .to_string()),
        }
    }

    /// Passes what the tool has set in the game on to all workers. `answer` is that of the game,
    /// whose numbers of breakpoints count for workers, too.
    pub fn set(&self, name: &str, fields: ScriptValue, answer: &SjsonTree) {
        let Some(key) = setting_key(name, &fields) else { return };
        let mut fields = with_ids(fields, answer);
        let removes = removes_all(&fields);
        if let (true, ScriptValue::Table(entries)) = (removes, &mut fields) {
            entries.retain(|(key, _)| key != "saved");
        }
        let bytes = if removes { 0 } else { size_of(&fields) };
        self.hub.set(&key, name, fields, bytes);
    }

    /// Passes the breakpoints of a file on to workers: those that a command has changed in the
    /// game, or that a reload has moved. Workers that have loaded the file keep its code, and leave
    /// out the latter. `event` has them.
    pub fn set_listed(&self, event: &SjsonTree) {
        let fields = ScriptValue::from_tree(event);
        match self.check_room("debug_breakpoints", &fields) {
            Ok(()) => self.set("debug_breakpoints", fields, event),
            Err(problem) => log::warning(&format!("workers do not get a breakpoint: {problem}")),
        }
    }

    /// Takes an event if it is a request to the stopped worker.
    pub fn filter(&self, event: ClientEvent) -> Option<ClientEvent> {
        let is_own = event.peer.number == self.tool.load(Ordering::SeqCst);
        let ClientEventKind::Message(Ok(fields), bytes) = &event.kind else {
            if is_own && event.kind == ClientEventKind::Left {
                self.detach();
            }
            return Some(event);
        };
        let Ok(row) = find(fields) else { return Some(event) };
        let problem = check(row, fields).and_then(|()| self.check_restart(row.name)).err();
        let ends = row.name == "quit" || is_own && ENDING_MESSAGES.contains(&row.name);
        if ends && problem.is_none() {
            self.detach();
        }
        let is_worker_stopped = is_own && self.hub.is_worker_stopped();
        let is_passed = is_worker_stopped
            && row.name.starts_with("debug_")
            && !row.name.starts_with("debug_flow_")
            && !GAME_REQUESTS.contains(&row.name);
        let id = fields.get("id").cloned().unwrap_or(SjsonTree::Null);
        let reply = PendingReply { peer: event.peer.clone(), kind: row.name, id };
        if !is_passed {
            // The game may wait for the worker: `debug_continue` must not wait behind this.
            if is_worker_stopped && !event.peer.has_room(*bytes) {
                reply.refuse(Refusal::of(
                    "a worker is stopped, and too many messages wait for the game",
                ));
                return None;
            }
            return Some(event);
        }
        if let Some(problem) = problem {
            reply.refuse(Refusal::of(problem));
            return None;
        }
        let bytes = *bytes;
        let (name, fields) = (row.name.to_string(), ScriptValue::from_tree(fields));
        let hub = self.hub.clone();
        let answer = move |answer: Result<ScriptValue, String>| match answer {
            Ok(answer) => reply.answer(with_workers(reply.kind, to_tree(&answer), &hub)),
            Err(message) => reply.refuse(Refusal::of(message)),
        };
        match self.hub.ask(DebugRequest { name, fields }, bytes, Box::new(answer)) {
            true => None,
            // It has continued meanwhile.
            false => Some(event),
        }
    }
}

/// Adds the workers to the answer to `debug_coroutines`.
pub fn with_workers(name: &str, mut answer: SjsonTree, hub: &WorkerDebugHub) -> SjsonTree {
    if name == "debug_coroutines"
        && let SjsonTree::Object(entries) = &mut answer
    {
        entries.push(("workers".to_string(), workers(hub)));
    }
    answer
}

fn workers(hub: &WorkerDebugHub) -> SjsonTree {
    let worker = |(number, name): (u64, String)| {
        json::object([("worker", SjsonTree::Number(number as f64)), ("name", json::text(name))])
    };
    SjsonTree::Array(hub.list().into_iter().map(worker).collect())
}

/// Lists the workers.
pub fn list(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    super::debugger::check_tool(call)?;
    let hub = &call.state.link.workers.hub;
    Ok(Some(json::object([("workers", workers(hub))])))
}

/// Stops a worker at its next line.
pub fn pause(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    super::debugger::check_tool(call)?;
    let number = match call.fields.get("worker") {
        Some(SjsonTree::Number(number)) => *number as u64,
        _ => 0,
    };
    match call.state.link.workers.hub.pause(number) {
        true => Ok(Some(json::object([]))),
        false => Err(Refusal::of("this worker has ended")),
    }
}

/// Refuses to begin a frame again while a worker is stopped.
pub fn check_frame(call: &IncomingCall) -> Result<(), Refusal> {
    match call.state.link.workers.hub.is_worker_stopped() {
        true => Err(Refusal::of(NO_FRAME)),
        false => Ok(()),
    }
}
