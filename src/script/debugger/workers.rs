//! The debugger in workers: each has a VM and a thread of its own. What the tool has set reaches
//! them through a [`WorkerDebugHub`], between two instructions of their scripts: the watchdog asks
//! for that. At most one script is stopped at a time, in a worker or in the game, and all requests
//! of the tool are about that one.

use super::super::context::ScriptContext;
use super::super::interrupt::Interrupt;
use super::super::vm::Vm;
use super::{DebugRequest, DebuggerHost, DebuggerState, call_core};
use crate::value::ScriptValue;
use engine_foundation::panic;
use engine_platform as platform;
use engine_runtime::Engine;
use mlua::ffi::lua_State;
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Longest wait of a stopped worker before it looks again whether it was cancelled.
const RECHECK: Duration = Duration::from_millis(20);
/// Interval at which running functions are given their code again.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of requests that wait for a stopped worker, and of their bytes. More are refused.
const REQUESTS_MAX: usize = 1024;
const REQUEST_BYTES_MAX: usize = 4 << 20;
/// Maximum number of settings, most of which are the breakpoints of a file, and of their bytes. Of
/// removals, the last ones are kept, for workers that have not taken them yet.
const SETTINGS_MAX: usize = 1000;
const SETTING_BYTES_MAX: usize = 16 << 20;

/// Receives an event of a worker's script: its name and fields.
pub type WorkerEvents = Arc<dyn Fn(&str, ScriptValue) + Send + Sync>;
/// Receives the answer to a request.
pub type WorkerReply = Box<dyn FnOnce(Result<ScriptValue, String>) + Send>;

/// A setting of the tool for all workers, such as the breakpoints of a file.
struct WorkerSetting {
    /// One with the same key takes its place.
    key: String,
    version: u64,
    name: String,
    fields: ScriptValue,
    /// The size of the tool's message; 0 for a removal.
    bytes: usize,
}

/// A request that waits for the stopped worker.
struct WaitingRequest {
    request: DebugRequest,
    bytes: usize,
    reply: WorkerReply,
}

struct RegisteredWorker {
    number: u64,
    name: String,
    interrupt: Arc<Interrupt>,
    /// True if it has to stop at its next line.
    pauses: bool,
}

#[derive(Default)]
struct HubState {
    /// Present while a tool debugs the game.
    events: Option<WorkerEvents>,
    /// The number of the tool's session: a worker may wait from one to the next.
    session: u64,
    version: u64,
    settings: Vec<WorkerSetting>,
    last_number: u64,
    workers: Vec<RegisteredWorker>,
    /// The worker whose script is stopped.
    stopped: Option<u64>,
    /// True while a script of the game itself is stopped.
    is_game_stopped: bool,
    requests: VecDeque<WaitingRequest>,
}

impl HubState {
    /// Lets all workers look at the settings.
    fn changed(&mut self) {
        self.version += 1;
        self.workers.iter().for_each(|worker| worker.interrupt.request_debugger());
    }

    fn worker(&self, number: u64) -> Option<&RegisteredWorker> {
        self.workers.iter().find(|worker| worker.number == number)
    }
}

/// State that the tool's connection and the workers of a game share.
#[derive(Default)]
pub struct WorkerDebugHub {
    state: Mutex<HubState>,
    changed: Condvar,
}

impl WorkerDebugHub {
    fn lock(&self) -> MutexGuard<'_, HubState> {
        panic::lock(&self.state)
    }

    /// Begins to debug all workers, those that start later, too.
    pub fn attach(&self, events: WorkerEvents) {
        let mut state = self.lock();
        state.events = Some(events);
        state.session += 1;
        state.changed();
    }

    /// Ends that: removes all breakpoints, and lets a stopped worker continue.
    pub fn detach(&self) {
        let mut state = self.lock();
        state.events = None;
        state.settings.clear();
        state.workers.iter_mut().for_each(|worker| worker.pauses = false);
        let waiting = std::mem::take(&mut state.requests);
        state.changed();
        drop(state);
        self.changed.notify_all();
        for WaitingRequest { reply, .. } in waiting {
            reply(Err("the debugger has left".to_string()));
        }
    }

    /// Returns true if there is room for a setting with this key and this size.
    pub fn has_room(&self, key: &str, bytes: usize) -> bool {
        let state = self.lock();
        let others = state.settings.iter().filter(|known| known.key != key && known.bytes > 0);
        let (count, all) = others.fold((1, bytes), |(n, all), it| (n + 1, all + it.bytes));
        count <= SETTINGS_MAX && all <= SETTING_BYTES_MAX
    }

    /// Applies a request of the tool in all workers, in place of the last with this key. `bytes` is
    /// the size of its message, and 0 for one that removes what the last has set.
    pub fn set(&self, key: &str, name: &str, fields: ScriptValue, bytes: usize) {
        let mut state = self.lock();
        let is_known = state.settings.iter().any(|known| known.key == key);
        if state.events.is_none() || bytes == 0 && !is_known {
            return;
        }
        state.changed();
        let version = state.version;
        state.settings.retain(|known| known.key != key);
        let (key, name) = (key.to_string(), name.to_string());
        state.settings.push(WorkerSetting { key, version, name, fields, bytes });
        let removals = state.settings.iter().filter(|it| it.bytes == 0);
        if removals.count() > SETTINGS_MAX
            && let Some(oldest) = state.settings.iter().position(|it| it.bytes == 0)
        {
            state.settings.remove(oldest);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Returns the numbers and names of all workers.
    pub fn list(&self) -> Vec<(u64, String)> {
        let state = self.lock();
        state.workers.iter().map(|worker| (worker.number, worker.name.clone())).collect()
    }

    /// Returns true while the script of a worker is stopped.
    pub fn is_worker_stopped(&self) -> bool {
        self.lock().stopped.is_some()
    }

    /// Stops a worker at its next line. Returns false if there is no such worker.
    pub fn pause(&self, number: u64) -> bool {
        let mut state = self.lock();
        let worker = state.workers.iter_mut().find(|worker| worker.number == number);
        let found = worker.map(|worker| worker.pauses = true).is_some();
        if found {
            state.changed();
        }
        found
    }

    /// Notes that a script of the game is stopped. Returns false while one of a worker is.
    pub fn stop_game(&self) -> bool {
        let mut state = self.lock();
        state.is_game_stopped = state.stopped.is_none();
        state.is_game_stopped
    }

    /// Notes that it continues.
    pub fn continue_game(&self) {
        self.lock().is_game_stopped = false;
        self.changed.notify_all();
    }

    /// Passes a request, whose message has this size, to the stopped worker. Returns false if no
    /// worker is stopped. If too many requests wait, it is refused.
    pub fn ask(&self, request: DebugRequest, bytes: usize, reply: WorkerReply) -> bool {
        let mut state = self.lock();
        if state.stopped.is_none() {
            return false;
        }
        let all = state.requests.iter().map(|it| it.bytes).sum::<usize>() + bytes;
        if state.requests.len() >= REQUESTS_MAX || all > REQUEST_BYTES_MAX {
            drop(state);
            let limits = "(REQUESTS_MAX, REQUEST_BYTES_MAX)";
            reply(Err(format!("too many requests wait for the stopped worker {limits}")));
            return true;
        }
        state.requests.push_back(WaitingRequest { request, bytes, reply });
        drop(state);
        self.changed.notify_all();
        true
    }

    fn register(&self, name: &str, interrupt: &Arc<Interrupt>) -> u64 {
        let mut state = self.lock();
        state.last_number += 1;
        let number = state.last_number;
        let (name, interrupt) = (name.to_string(), interrupt.clone());
        state.workers.push(RegisteredWorker { number, name, interrupt, pauses: false });
        number
    }
}

/// The hub as a worker sees it.
pub struct WorkerLink {
    hub: Arc<WorkerDebugHub>,
    number: u64,
    /// The version of the settings that the worker has.
    version: Rc<Cell<u64>>,
    /// The session of the tool that has begun to debug it.
    session: Cell<u64>,
    /// The time at which running functions are given their code again.
    retry: Cell<Instant>,
}

/// Changes for a worker.
struct WorkerChanges {
    is_on: bool,
    session: u64,
    pauses: bool,
    settings: Vec<DebugRequest>,
}

impl WorkerLink {
    /// Returns what has changed since the last call.
    fn changes(&self) -> Option<WorkerChanges> {
        let mut state = self.hub.lock();
        let before = self.version.replace(state.version);
        if before == state.version {
            return None;
        }
        let own = state.workers.iter_mut().find(|worker| worker.number == self.number);
        let pauses = own.is_some_and(|worker| std::mem::take(&mut worker.pauses));
        let newer = state.settings.iter().filter(|setting| setting.version > before);
        let settings = newer.map(setting_request).collect();
        let (is_on, session) = (state.events.is_some(), state.session);
        Some(WorkerChanges { is_on, session, pauses, settings })
    }
}

impl Drop for WorkerLink {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        state.workers.retain(|worker| worker.number != self.number);
        state.stopped.take_if(|number| *number == self.number);
    }
}

/// Returns the request with which the prelude applies a setting.
fn setting_request(setting: &WorkerSetting) -> DebugRequest {
    let entries =
        [("name", ScriptValue::Text(setting.name.clone())), ("fields", setting.fields.clone())];
    let fields = entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    DebugRequest { name: "debug_setting".to_string(), fields: ScriptValue::Table(fields) }
}

/// The tool as the VM of a worker sees it.
struct WorkerHost {
    hub: Arc<WorkerDebugHub>,
    number: u64,
    session: u64,
    version: Rc<Cell<u64>>,
    interrupt: Arc<Interrupt>,
    reply: Option<WorkerReply>,
    /// True if the tool knows that the script is stopped.
    is_announced: bool,
}

impl WorkerHost {
    fn must_continue(&self, state: &HubState) -> bool {
        state.events.is_none()
            || state.session != self.session
            || self.interrupt.is_cancelled()
            || platform::end_requested().is_some()
    }

    /// Waits until no other script is stopped. Returns false if the tool has left.
    fn stop(&self) -> bool {
        let mut state = self.hub.lock();
        while !self.must_continue(&state) {
            if state.stopped.is_none() && !state.is_game_stopped {
                state.stopped = Some(self.number);
                return true;
            }
            state = wait(&self.hub, state);
        }
        false
    }
}

fn wait<'a>(hub: &'a WorkerDebugHub, state: MutexGuard<'a, HubState>) -> MutexGuard<'a, HubState> {
    let waited = hub.changed.wait_timeout(state, RECHECK);
    waited.unwrap_or_else(|poison| poison.into_inner()).0
}

impl DebuggerHost for WorkerHost {
    fn next(&mut self, _: &mut Engine) -> Option<DebugRequest> {
        let mut state = self.hub.lock();
        loop {
            if self.must_continue(&state) || state.stopped != Some(self.number) {
                return None;
            }
            let version = self.version.get();
            let newer = state.settings.iter().filter(|setting| setting.version > version);
            if let Some(setting) = newer.min_by_key(|setting| setting.version) {
                self.version.set(setting.version);
                return Some(setting_request(setting));
            }
            if let Some(WaitingRequest { request, reply, .. }) = state.requests.pop_front() {
                self.reply = Some(reply);
                return Some(request);
            }
            state = wait(&self.hub, state);
        }
    }

    fn continues(&mut self, _: &mut Engine) {
        let mut state = self.hub.lock();
        state.stopped.take_if(|number| *number == self.number);
        let waiting = std::mem::take(&mut state.requests);
        drop(state);
        self.hub.changed.notify_all();
        for WaitingRequest { reply, .. } in waiting {
            reply(Err("the script has continued".to_string()));
        }
    }

    fn answer(&mut self, answer: Result<ScriptValue, String>) {
        if let Some(reply) = self.reply.take() {
            reply(answer);
        }
    }

    fn send(&mut self, name: &str, mut fields: ScriptValue) {
        match name {
            "debug_stopped" => {
                self.is_announced = self.stop();
                if !self.is_announced {
                    return;
                }
            }
            "debug_continued" if !std::mem::take(&mut self.is_announced) => return,
            _ => {}
        }
        let (events, worker) = {
            let state = self.hub.lock();
            if state.session != self.session {
                return;
            }
            let name = state.worker(self.number).map(|it| it.name.clone()).unwrap_or_default();
            (state.events.clone(), name)
        };
        if let ScriptValue::Table(entries) = &mut fields {
            entries.push(("worker".to_string(), ScriptValue::Number(self.number as f64)));
            entries.push(("worker_name".to_string(), ScriptValue::Text(worker)));
        }
        if let Some(events) = events {
            events(name, fields);
        }
    }
}

impl Vm {
    /// Lets the tool debug this worker, now or later.
    pub fn join_debugger(&mut self, hub: Arc<WorkerDebugHub>, name: &str) {
        let number = hub.register(name, &self.interrupt());
        let cx = self.cx();
        let (version, session) = (Rc::default(), Cell::new(0));
        let retry = Cell::new(Instant::now());
        cx.worker_link = Some(Box::new(WorkerLink { hub, number, version, session, retry }));
        // SAFETY: nothing runs in the main state.
        unsafe { settings_changed(cx.main) };
    }
}

/// Gives functions of a worker that have returned the code of their breakpoints, once a second.
///
/// # Safety
/// `l` is a live state in its hook; nothing of the context is borrowed.
pub unsafe fn retry_running(l: *mut lua_State) {
    // SAFETY: as the caller promised.
    unsafe {
        let Some(link) = &ScriptContext::of(l).worker_link else { return };
        let now = Instant::now();
        if now >= link.retry.get() {
            link.retry.set(now + RETRY);
            call_core(l, c"debugger_retry", &[]);
        }
    }
}

/// Lets the tool debug a worker, if it does not yet.
unsafe fn begin(l: *mut lua_State, session: u64) {
    // SAFETY: the caller passes a live state, and borrows nothing of the context.
    unsafe {
        let cx = ScriptContext::of(l);
        let Some(link) = &cx.worker_link else { return };
        if cx.debugger.is_some() {
            return;
        }
        let number = ScriptValue::Number(link.number as f64);
        let host = WorkerHost {
            hub: link.hub.clone(),
            number: link.number,
            session,
            version: link.version.clone(),
            interrupt: cx.interrupt.clone(),
            reply: None,
            is_announced: false,
        };
        cx.debugger = Some(Box::new(DebuggerState::new(Box::new(host))));
        call_core(l, c"debugger_begin", &[number]);
    }
}

/// Ends the debugger of a worker.
unsafe fn finish(l: *mut lua_State) {
    // SAFETY: as in `begin`.
    unsafe {
        call_core(l, c"debugger_finish", &[]);
        if let Some(mut ended) = ScriptContext::of(l).debugger.take() {
            ended.rows.restore();
            ended.restore_jump();
        }
        ScriptContext::of(l).interrupt.clone().debug_lines(l, false);
    }
}

/// Brings what the tool has set into the VM of a worker.
///
/// # Safety
/// `l` is a live state; nothing of the context is borrowed, and no function of the engine runs.
pub unsafe fn settings_changed(l: *mut lua_State) {
    // SAFETY: as the caller promised.
    unsafe {
        let cx = ScriptContext::of(l);
        let Some(link) = &cx.worker_link else { return };
        if cx.debugger.as_ref().is_some_and(|debugger| debugger.is_paused()) {
            return;
        }
        let Some(changes) = link.changes() else { return };
        let is_another = link.session.replace(changes.session) != changes.session;
        if cx.debugger.is_some() && (is_another || !changes.is_on) {
            finish(l);
        }
        if !changes.is_on {
            return;
        }
        begin(l, changes.session);
        for DebugRequest { name, fields } in changes.settings {
            call_core(l, c"debugger_request", &[ScriptValue::Text(name), fields]);
        }
        if changes.pauses {
            call_core(l, c"debugger_pause", &[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> DebugRequest {
        DebugRequest { name: "debug_stack".to_string(), fields: ScriptValue::Table(Vec::new()) }
    }

    #[test]
    fn a_session_leaves_nothing_for_the_next() {
        let hub = WorkerDebugHub::default();
        let number = hub.register("job", &Interrupt::new());
        hub.attach(Arc::new(|_, _| {}));
        hub.set("file a.lua", "debug_breakpoints", ScriptValue::Nil, 10);
        assert!(hub.pause(number) && !hub.pause(number + 1));
        let first = hub.lock().session;
        hub.detach();
        hub.attach(Arc::new(|_, _| {}));
        let state = hub.lock();
        assert!(state.session > first && state.settings.is_empty());
        assert!(!state.worker(number).expect("it is registered").pauses);
    }

    #[test]
    fn the_last_setting_of_a_key_reaches_all_workers() {
        let hub = Arc::new(WorkerDebugHub::default());
        hub.attach(Arc::new(|_, _| {}));
        hub.set("file a.lua", "debug_breakpoints", ScriptValue::Number(1.0), 10);
        let link = || WorkerLink {
            hub: hub.clone(),
            number: hub.register("job", &Interrupt::new()),
            version: Rc::default(),
            session: Cell::new(0),
            retry: Cell::new(Instant::now()),
        };
        let taken = |link: &WorkerLink| {
            let changes = link.changes().map_or(Vec::new(), |changes| changes.settings);
            let fields = changes.into_iter().map(|request| request.fields.to_tree());
            fields.map(|tree| tree.get("fields").cloned()).collect::<Vec<_>>()
        };
        let early = link();
        let number = |number: f64| Some(engine_foundation::sjson::SjsonTree::Number(number));
        assert_eq!(taken(&early), [number(1.0)]);
        assert!(taken(&early).is_empty());
        hub.set("file a.lua", "debug_breakpoints", ScriptValue::Number(2.0), 20);
        assert_eq!((taken(&early), taken(&link())), (vec![number(2.0)], vec![number(2.0)]));
        let sizes = hub.lock().settings.iter().map(|it| it.bytes).collect::<Vec<_>>();
        assert_eq!(sizes, [20]);
    }

    #[test]
    fn settings_and_requests_have_limits() {
        let hub = WorkerDebugHub::default();
        hub.attach(Arc::new(|_, _| {}));
        for i in 0..SETTINGS_MAX {
            let key = format!("file {i}");
            assert!(hub.has_room(&key, 1));
            hub.set(&key, "debug_breakpoints", ScriptValue::Nil, 1);
        }
        assert!(hub.has_room("file 1", 1) && !hub.has_room("another", 1));
        assert!(!hub.has_room("file 1", SETTING_BYTES_MAX));
        // A removal takes no room, and one of what is not set is none.
        let remove = |key: &str| hub.set(key, "debug_breakpoints", ScriptValue::Nil, 0);
        remove("file 1");
        remove("none");
        assert_eq!(hub.lock().settings.len(), SETTINGS_MAX);
        assert!(hub.has_room("another", 1));
        for i in 0..3 * SETTINGS_MAX {
            let key = format!("later {i}");
            hub.set(&key, "debug_breakpoints", ScriptValue::Nil, 1);
            remove(&key);
        }
        assert_eq!(hub.lock().settings.len(), 2 * SETTINGS_MAX - 1);
        assert!(!hub.ask(request(), 1, Box::new(|_| {})), "no worker is stopped");
        hub.lock().stopped = Some(1);
        assert!(hub.ask(request(), REQUEST_BYTES_MAX, Box::new(|_| {})));
        let refused = Arc::new(Mutex::new(None));
        let reply = refused.clone();
        let reply = move |answer: Result<ScriptValue, String>| *panic::lock(&reply) = answer.err();
        assert!(hub.ask(request(), 1, Box::new(reply)));
        let message = panic::lock(&refused).take().expect("it is refused");
        assert!(message.contains("REQUEST_BYTES_MAX"), "{message}");
    }
}
