//! The debugger of scripts: breakpoints, steps, and the state of a stopped script. A tool controls
//! it through a [`DebuggerHost`]; the connection is in src/app/remote. Without a tool nothing of
//! this runs, and no function differs.
//!
//! **Breakpoints are inserted calls.** A breakpoint at a line inserts a call before the first
//! statement of the line (lua/debug/breakpoints.lua; the lint's parser finds the statements). The
//! changed text is compiled, and every function of the file gets its code from the new version, in
//! place (code_swap.rs). A function stays the same object with the same upvalues, so nothing that
//! refers to it has to be found, and hot reload's records stay valid. Only the file with the
//! breakpoint changes; all other code runs as without a debugger, compiled. When the last
//! breakpoint of a file is removed, its functions get the code of the unchanged text.
//!
//! **Running functions keep their code**: the instruction that they return to is in it. Their lines
//! with breakpoints, and those of the functions that they create, are found by the line hook, with
//! the JIT compiler off, until they have returned. lua/debug/breakpoints.lua tries again in each
//! frame.
//!
//! **Steps use the line hook**, too. Only interrupt.rs sets it. LuaJIT runs no hook inside of a
//! hook, so a stop in the hook clears that mark: otherwise nothing could stop a line that a tool
//! evaluates.
//!
//! **A stopped script is inside of a call**: `core.debug_next` waits for the next request of the
//! tool, and lua/debug/debugger.lua answers it. The watchdog is suspended meanwhile, except during
//! `core.debug_protect`, which has a budget of its own.

mod code_swap;
mod coroutines;
mod errors;
mod jump;
mod native_rows;
mod stepping;
mod workers;

use super::context::ScriptContext;
use super::interrupt::SuspendedBudget;
use super::report;
use super::value::{ScriptValue, push_value, read_value};
use super::vm::Vm;
use engine_foundation::log;
use engine_runtime::Engine;
use mlua::ffi::*;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_int};
use stepping::{LineEvent, Step, StepMode};

pub use errors::{error_caught, error_raised};
pub use workers::{WorkerDebugHub, WorkerEvents, WorkerLink, WorkerReply, settings_changed};

/// Factor of a callback's budget of CPU time during a step: without the JIT compiler and with the
/// line hook, code takes about a hundred times as long.
const STEP_BUDGETS: u64 = 20;

/// Maximum number of functions that a condition may have called when it is ended by its time. With
/// more, its callback is ended.
const CONDITION_LEVELS_MAX: c_int = 1000;

/// The advice about a line of the debugger that needs more time.
const TIME_REMEDY: &str = "do it in a function of the game";

/// A request of a tool to a stopped script.
pub struct DebugRequest {
    /// The name of the request, as the prelude knows it.
    pub name: String,
    pub fields: ScriptValue,
}

/// The tool that debugs the scripts, as the VM sees it.
pub trait DebuggerHost {
    /// Waits for the next request while a script is stopped. Returns `None` if the script has to
    /// continue: the tool has left, or the game ends.
    fn next(&mut self, engine: &mut Engine) -> Option<DebugRequest>;
    /// Ends the stop: the script continues, for whatever reason.
    fn continues(&mut self, engine: &mut Engine);
    /// Answers the request that [`DebuggerHost::next`] returned last, with its result or a message.
    fn answer(&mut self, answer: Result<ScriptValue, String>);
    /// Sends an event.
    fn send(&mut self, name: &str, fields: ScriptValue);
}

/// State of the debugger of one VM.
pub struct DebuggerState {
    host: Box<dyn DebuggerHost>,
    /// The budget of the callback in which a script is stopped.
    suspended: Option<SuspendedBudget>,
    step: Option<Step>,
    /// Lines with inserted calls, by chunk.
    lines: HashMap<Vec<u8>, HashSet<c_int>>,
    /// Addresses of the code with these calls.
    current: HashSet<usize>,
    /// True if functions may run whose code does not have them.
    has_old_code: bool,
    /// The coroutine and the line at which the script has continued, until it reaches another line.
    /// Its breakpoint does not stop it again.
    resumed: Option<(usize, c_int)>,
    /// True if a step has ended at a line whose inserted call follows.
    step_ended: bool,
    /// True if errors that the game does not catch stop the script.
    stops_at_errors: bool,
    /// True if errors that the game catches stop the script.
    stops_at_caught_errors: bool,
    /// True if values are compared at each line (data breakpoints).
    compares: bool,
    /// A jump to another line that has not arrived there.
    jump: Option<jump::Jump>,
    /// The code of the engine's functions that have a breakpoint.
    rows: native_rows::NativeRows,
}

impl DebuggerState {
    fn new(host: Box<dyn DebuggerHost>) -> DebuggerState {
        DebuggerState {
            host,
            suspended: None,
            step: None,
            lines: HashMap::new(),
            current: HashSet::new(),
            has_old_code: false,
            resumed: None,
            step_ended: false,
            stops_at_errors: false,
            stops_at_caught_errors: false,
            compares: false,
            jump: None,
            rows: native_rows::NativeRows::default(),
        }
    }

    /// Returns true if the line hook is needed.
    fn follows_lines(&self) -> bool {
        self.step.is_some() || self.has_old_code || self.compares
    }

    fn is_paused(&self) -> bool {
        self.suspended.is_some()
    }
}

impl Vm {
    /// Lets a tool debug the scripts from now on, or ends that. No script runs meanwhile.
    pub fn set_debugger(&mut self, host: Option<Box<dyn DebuggerHost>>) {
        if let Some(mut ended) = self.cx().debugger.take() {
            // SAFETY: this VM is open.
            unsafe { ended.rows.restore() };
            ended.restore_jump();
        }
        self.cx().debugger = host.map(|host| Box::new(DebuggerState::new(host)));
    }

    /// Returns true if a tool debugs the scripts.
    pub fn is_debugged(&mut self) -> bool {
        self.cx().debugger.is_some()
    }
}

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[
    (c"debug_exchange", code_swap::debug_exchange),
    (c"debug_fits", code_swap::debug_fits),
    (c"debug_replace", code_swap::debug_replace),
    (c"debug_is_native", native_rows::debug_is_native),
    (c"debug_row", native_rows::debug_row),
    (c"debug_coroutines", coroutines::debug_coroutines),
    (c"debug_thread_addresses", coroutines::debug_thread_addresses),
    (c"debug_compare", compare),
    (c"debug_restart_frame", restart_frame),
    (c"debug_is_possible", is_possible),
    (c"debug_begin_pause", begin_pause),
    (c"debug_end_pause", end_pause),
    (c"debug_next", next_request),
    (c"debug_answer", answer),
    (c"debug_send", send),
    (c"debug_protect", protect),
    (c"debug_take_step", take_step),
    (c"debug_break", break_next),
    (c"debug_follow", follow),
    (c"debug_stop_at_errors", errors::stop_at_errors),
    (c"debug_report", errors::debug_report),
    (c"debug_uncaught", errors::debug_uncaught),
    (c"debug_main_thread", main_thread),
    (c"debug_is_version", jump::debug_is_version),
    (c"debug_jump_position", jump::debug_jump_position),
    (c"debug_jump", jump::debug_jump),
];

/// `debug_is_possible()`: returns true if a tool debugs the scripts, and this LuaJIT has the layout
/// that the exchange of code expects.
unsafe extern "C-unwind" fn is_possible(l: *mut lua_State) -> c_int {
    // SAFETY: pushes a boolean.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        let possible = cx.debugger.is_some()
            && code_swap::is_known(l)
            && jump::is_known(l)
            && super::luajit_layout::set_hook_runs(l, false).is_some();
        lua_pushboolean(l, c_int::from(possible));
        cx.memory.end_lenient();
    }
    1
}

/// `debug_begin_pause()`: suspends the watchdog and steps. Returns false if a script is stopped
/// already, or if no tool debugs the scripts.
unsafe extern "C-unwind" fn begin_pause(l: *mut lua_State) -> c_int {
    // SAFETY: pushes a boolean.
    unsafe {
        let cx = ScriptContext::of(l);
        let begins = match &mut cx.debugger {
            Some(debugger) if !debugger.is_paused() && !cx.reloading => {
                (debugger.step, debugger.step_ended) = (None, false);
                debugger.restore_jump();
                debugger.suspended = Some(cx.interrupt.suspend());
                true
            }
            _ => false,
        };
        if begins {
            cx.interrupt.debug_lines(l, false);
        }
        lua_pushboolean(l, c_int::from(begins));
    }
    1
}

/// `debug_end_pause(mode, depth, source, line)`: lets the stopped script continue. `mode` is nil,
/// or says where it stops next: "in", "over" or "out". `depth` is the number of functions on its
/// stack, `source` and `line` are its location.
unsafe extern "C-unwind" fn end_pause(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes strings and numbers, or nil. No Lua code runs while the engine is
    // borrowed.
    unsafe {
        let cx = ScriptContext::of(l);
        let mode = match report::error_text(l, 1, cx).as_str() {
            _ if lua_type(l, 1) != LUA_TSTRING => None,
            "in" => Some(StepMode::In),
            "over" => Some(StepMode::Over),
            "out" => Some(StepMode::Out),
            _ => None,
        };
        let source = report::error_text(l, 3, cx);
        let (depth, line) = (lua_tonumber(l, 2) as c_int, lua_tonumber(l, 4) as c_int);
        let interrupt = cx.interrupt.clone();
        let engine = &mut *cx.engine;
        if let Some(debugger) = &mut cx.debugger
            && let Some(suspended) = debugger.suspended.take()
        {
            debugger.host.continues(engine);
            interrupt.resume(match mode {
                Some(_) => suspended.extended(STEP_BUDGETS),
                None => suspended,
            });
            let turn = interrupt.turn();
            debugger.resumed = Some((l.addr(), line));
            debugger.step =
                mode.map(|mode| Step::new(l, mode, depth, (source.into_bytes(), line), turn));
            let follows = debugger.follows_lines();
            interrupt.debug_lines(l, follows);
        }
        if cx.worker_link.is_some() {
            // Settings may have changed since the stop began.
            interrupt.request_debugger();
        }
    }
    0
}

/// `debug_next()`: waits for the next request. Returns its name and fields, or nothing if the
/// script has to continue.
unsafe extern "C-unwind" fn next_request(l: *mut lua_State) -> c_int {
    // SAFETY: no Lua code runs while the engine is borrowed, and no call of the engine is served
    // while a script is stopped.
    unsafe {
        let cx = ScriptContext::of(l);
        let engine = &mut *cx.engine;
        let Some(debugger) = &mut cx.debugger else { return 0 };
        let Some(request) = debugger.host.next(engine) else { return 0 };
        cx.memory.begin_lenient();
        lua_pushlstring(l, request.name.as_ptr().cast(), request.name.len());
        let top = lua_gettop(l);
        let pushed = push_value(l, &request.fields);
        if pushed.is_err() {
            lua_settop(l, top);
            lua_createtable(l, 0, 0);
        }
        cx.memory.end_lenient();
        2
    }
}

/// `debug_answer(answer, problem)`: answers the last request of `debug_next`, with plain data or
/// with a message.
unsafe extern "C-unwind" fn answer(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes plain data, and a string or nil.
    unsafe {
        lua_settop(l, 2);
        let cx = ScriptContext::of(l);
        let answer = match lua_type(l, 2) {
            LUA_TSTRING => Err(report::error_text(l, 2, cx)),
            _ => read_value(l, 1, cx).map_err(|message| format!("the answer {message}")),
        };
        if let Some(debugger) = &mut cx.debugger {
            debugger.host.answer(answer);
        }
    }
    0
}

/// `debug_send(name, fields)`: sends an event to the tool.
unsafe extern "C-unwind" fn send(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string and plain data.
    unsafe {
        lua_settop(l, 2);
        let cx = ScriptContext::of(l);
        let name = report::error_text(l, 1, cx);
        match (read_value(l, 2, cx), &mut cx.debugger) {
            (Ok(fields), Some(debugger)) => debugger.host.send(&name, fields),
            (Err(message), _) => log::error(&format!("the debugger's event {name} {message}")),
            (Ok(_), None) => {}
        }
    }
    0
}

/// `debug_protect(seconds, fn, ...)`: calls a function with a budget of CPU time of its own; the
/// budget of what runs now waits meanwhile. Returns true and its results, or false and the message
/// of its error.
unsafe extern "C-unwind" fn protect(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a number and a function; what raises in it ends at lua_pcall.
    unsafe {
        let seconds = lua_tonumber(l, 1);
        lua_remove(l, 1);
        let cx = ScriptContext::of(l);
        let interrupt = cx.interrupt.clone();
        // The report of the error at which the script is stopped.
        let report = cx.report.take();
        let remedy = std::mem::replace(&mut cx.time_remedy, TIME_REMEDY);
        let outer = interrupt.is_in_callback().then(|| interrupt.suspend());
        interrupt.begin(seconds);
        let status = lua_pcall(l, lua_gettop(l) - 1, LUA_MULTRET, 0);
        interrupt.end(l);
        if let Some(outer) = outer {
            interrupt.resume(outer);
        }
        let cx = ScriptContext::of(l);
        (cx.report, cx.time_remedy) = (report, remedy);
        cx.memory.begin_lenient();
        if status != LUA_OK {
            let message = report::error_text(l, -1, cx);
            lua_settop(l, 0);
            lua_pushlstring(l, message.as_ptr().cast(), message.len());
        }
        lua_checkstack(l, 2);
        lua_pushboolean(l, c_int::from(status == LUA_OK));
        lua_insert(l, 1);
        cx.memory.end_lenient();
        lua_gettop(l)
    }
}

/// `debug_break()`: stops the script at its next line, in the next callback.
unsafe extern "C-unwind" fn break_next(l: *mut lua_State) -> c_int {
    // SAFETY: called while no function of the game runs.
    unsafe {
        let cx = ScriptContext::of(l);
        let interrupt = cx.interrupt.clone();
        if let Some(debugger) = &mut cx.debugger {
            let origin = (Vec::new(), 0);
            debugger.step = Some(Step::new(l, StepMode::In, 0, origin, interrupt.turn()));
            interrupt.debug_lines(l, true);
        }
    }
    0
}

/// `debug_take_step()`: returns true once if a step has ended at the line that is executed now.
unsafe extern "C-unwind" fn take_step(l: *mut lua_State) -> c_int {
    // SAFETY: pushes a boolean.
    unsafe {
        let cx = ScriptContext::of(l);
        let interrupt = cx.interrupt.clone();
        let mut ended = false;
        if let Some(debugger) = &mut cx.debugger {
            ended = std::mem::take(&mut debugger.step_ended);
            if ended {
                debugger.step = None;
                interrupt.debug_lines(l, debugger.follows_lines());
            }
        }
        lua_pushboolean(l, c_int::from(ended));
    }
    1
}

/// `debug_follow(lines, targets, has_old_code)`: sets the lines with inserted calls, a list of
/// chunks and lines; the main functions of the texts with these calls; and true if functions may
/// run that have the code of another text.
unsafe extern "C-unwind" fn follow(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a list of strings and numbers, a list of functions, and a boolean.
    unsafe {
        let cx = ScriptContext::of(l);
        lua_settop(l, 3);
        let (mut lines, mut current) = (HashMap::new(), HashSet::new());
        for i in (1..=lua_objlen(l, 1) as lua_Integer).step_by(2) {
            lua_rawgeti(l, 1, i);
            lua_rawgeti(l, 1, i + 1);
            let chunk = report::error_text(l, -2, cx).into_bytes();
            let of_chunk: &mut HashSet<c_int> = lines.entry(chunk).or_default();
            of_chunk.insert(lua_tonumber(l, -1) as c_int);
            lua_settop(l, 3);
        }
        for i in 1..=lua_objlen(l, 2) as lua_Integer {
            lua_rawgeti(l, 2, i);
            code_swap::collect_code(l, -1, &mut current);
            lua_settop(l, 3);
        }
        let interrupt = cx.interrupt.clone();
        if let Some(debugger) = &mut cx.debugger {
            (debugger.lines, debugger.current) = (lines, current);
            debugger.has_old_code = lua_toboolean(l, 3) != 0;
            let follows = debugger.follows_lines();
            if !debugger.is_paused() {
                interrupt.debug_lines(l, follows);
            }
        } else {
            interrupt.debug_lines(l, false);
        }
    }
    0
}

/// `debug_compare(on)`: sets if `debugger_line` is called at each line, to compare values.
unsafe extern "C-unwind" fn compare(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a boolean.
    unsafe {
        let cx = ScriptContext::of(l);
        let interrupt = cx.interrupt.clone();
        if let Some(debugger) = &mut cx.debugger {
            debugger.compares = lua_toboolean(l, 1) != 0;
            if !debugger.is_paused() {
                interrupt.debug_lines(l, debugger.follows_lines());
            }
        }
    }
    0
}

/// `debug_restart_frame()`: ends the running callback, after the script continues, with an error
/// that the game cannot catch. The frame is played again.
unsafe extern "C-unwind" fn restart_frame(l: *mut lua_State) -> c_int {
    // SAFETY: called by the prelude, after the pause has ended.
    unsafe {
        ScriptContext::of(l).interrupt.clone().stop_callback();
    }
    0
}

/// `debug_main_thread()`: returns the main coroutine, whose stack leads to the running one.
unsafe extern "C-unwind" fn main_thread(l: *mut lua_State) -> c_int {
    // SAFETY: the main state is alive as long as the VM, and has room for one value.
    unsafe {
        let main = ScriptContext::of(l).main;
        lua_pushthread(main);
        if main != l {
            lua_xmove(main, l, 1);
        }
        lua_pushboolean(l, c_int::from(main == l));
    }
    2
}

/// Calls a function of the core table. An error in it is an internal error.
unsafe fn call_core(l: *mut lua_State, name: &CStr, arguments: &[ScriptValue]) {
    // SAFETY: the core table is in the registry; what raises ends at lua_pcall.
    unsafe {
        let top = lua_gettop(l);
        let cx = ScriptContext::of(l);
        if lua_checkstack(l, 10) == 0 {
            return;
        }
        cx.memory.begin_lenient();
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_getfield(l, -1, name.as_ptr());
        let pushed = arguments.iter().all(|argument| push_value(l, argument).is_ok());
        cx.memory.end_lenient();
        if pushed && lua_pcall(l, arguments.len() as c_int, 0, 0) != LUA_OK {
            let message = report::error_text(l, -1, ScriptContext::of(l));
            log::error(&format!("the debugger failed: {message}"));
        }
        lua_settop(l, top);
    }
}

/// Returns true if an inserted call tests the condition of its breakpoint without a budget of its
/// own. Returns that only once for each test, so that a condition cannot continue after errors.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn take_condition_test(l: *mut lua_State) -> bool {
    // SAFETY: as the caller promised; the registry has the core table. The field exists, so
    // setting it allocates nothing.
    unsafe {
        if ScriptContext::of(l).debugger.is_none() || lua_checkstack(l, 4) == 0 {
            return false;
        }
        let top = lua_gettop(l);
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_getfield(l, -1, c"tests_condition".as_ptr());
        let mut is_running = false;
        if lua_type(l, -1) == LUA_TFUNCTION {
            // A condition that has yielded leaves the call in the field, but not on this stack.
            let call = lua_topointer(l, -1);
            let mut ar = std::mem::MaybeUninit::<lua_Debug>::zeroed();
            let mut level = 0;
            while !is_running
                && level < CONDITION_LEVELS_MAX
                && lua_getstack(l, level, ar.as_mut_ptr()) != 0
            {
                lua_getinfo(l, c"f".as_ptr(), ar.as_mut_ptr());
                is_running = lua_topointer(l, -1) == call;
                lua_settop(l, -2);
                level += 1;
            }
            lua_pushboolean(l, 0);
            lua_setfield(l, top + 1, c"tests_condition".as_ptr());
        }
        lua_settop(l, top);
        is_running
    }
}

/// Returns true while a condition calls functions, which do not stop and end no step.
unsafe fn tests_condition(l: *mut lua_State) -> bool {
    // SAFETY: the caller passes a live state; the registry has the core table.
    unsafe {
        if lua_checkstack(l, 2) == 0 {
            return false;
        }
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_getfield(l, -1, c"is_testing".as_ptr());
        let is_testing = lua_toboolean(l, -1) != 0;
        lua_settop(l, -3);
        is_testing
    }
}

/// Handles an executed line, in the hook. Returns after the script was stopped and continued, if
/// it stops here.
///
/// # Safety
/// `l` is a live state in its hook, and `ar` the hook's record.
pub unsafe fn line_reached(l: *mut lua_State, ar: *mut lua_Debug) {
    // SAFETY: as the caller promised.
    unsafe {
        let cx = ScriptContext::of(l);
        if cx.reloading {
            return;
        }
        let turn = cx.interrupt.turn();
        let Some(debugger) = &mut cx.debugger else { return };
        if debugger.is_paused() || debugger.has_to_jump(l, ar, turn) || tests_condition(l) {
            return;
        }
        let reason = match stepping::classify(debugger, l, ar, turn) {
            LineEvent::Passes if debugger.has_old_code => return workers::retry_running(l),
            LineEvent::Passes => return,
            LineEvent::Stops => {
                debugger.step = None;
                "step"
            }
            LineEvent::HasBreakpoint => "breakpoint",
            LineEvent::Compares => "data",
        };
        let source = CStr::from_ptr((*ar).source).to_string_lossy();
        let chunk = source.trim_start_matches('@').to_string();
        let line = ScriptValue::Number(f64::from((*ar).currentline));
        let runs = super::luajit_layout::set_hook_runs(l, false);
        let text = ScriptValue::Text;
        call_core(l, c"debugger_line", &[text(reason.into()), text(chunk), line]);
        // A step may have ended at a condition that does not hold.
        let cx = ScriptContext::of(l);
        if let Some(debugger) = &cx.debugger {
            cx.interrupt.debug_lines(l, debugger.follows_lines());
        }
        if runs == Some(true) {
            super::luajit_layout::set_hook_runs(l, true);
        }
    }
}
