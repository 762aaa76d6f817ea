//! The script context that all native entry points share, and the dispatcher of calls from Lua.
//! Each VM has one context, at a fixed address, which can be found from any of its Lua states.

use super::api_row::FunctionRow;
use super::ctypes::ValueTypeIds;
use super::debugger::{DebuggerState, WorkerLink};
use super::describe_value;
use super::heap::MarkTable;
use super::interrupt::Interrupt;
use super::line_coverage::LineHits;
use super::lua_memory::LuaMemory;
use super::luajit_layout;
use super::report::ErrorReport;
use super::sampler::ScriptSamples;
use super::stack_trace;
use super::vm::ScriptWork;
use engine_foundation::Error;
use engine_foundation::memory::{OwnerScope, limit};
use engine_resource::bundle::SharedBytes;
use engine_runtime::Engine;
use mlua::ffi::*;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::Arc;

/// Returns the advice about a script that needs more time, in a game or in a worker.
pub fn time_remedy(is_worker: bool) -> &'static str {
    match is_worker {
        true => "give Worker.start more seconds, or raise limits.worker_seconds in settings.sjson",
        false => "raise limits.update_seconds or limits.init_seconds in settings.sjson",
    }
}

/// State shared by the native entry points of one VM.
pub struct ScriptContext {
    /// Lua's memory, shared with the allocator.
    pub memory: Rc<LuaMemory>,
    /// Set by a fast form that refuses its arguments; the checked form then writes the error
    /// message.
    pub fault: u32,
    /// Buffer in which fast forms return vectors.
    pub scratch: [f32; SCRATCH],
    /// The engine, alive as long as the VM. It is borrowed only while a call from Lua is served.
    pub engine: *mut Engine,
    /// Every function that scripts can call, with its number of calls. Closures hold the addresses
    /// of the rows, so capacity for all rows is reserved from the start.
    pub registered: Vec<RegisteredFunction>,
    /// Number of calls of each fast form, counted in coverage runs only. Addresses are fixed as in
    /// `registered`.
    pub fast_calls: Vec<f64>,
    /// The value types that native code reads.
    pub ctypes: ValueTypeIds,
    /// The interrupt that can stop the running script.
    pub interrupt: Arc<Interrupt>,
    /// A panic inside a fast form, which the checked form reports.
    pub panic: Option<String>,
    /// The contexts of the error that an engine function returned last, or that the game caught
    /// last.
    pub error_contexts: Option<ErrorContexts>,
    /// The report of the error that is being handled, created where the error was raised.
    pub report: Option<Box<ErrorReport>>,
    /// The message of the last internal engine error in a call.
    pub engine_fault: Option<String>,
    /// The message of the error that the hook raised last.
    pub interrupted: Option<String>,
    /// Lowest native stack address that scripts may reach; below it the stack is nearly full.
    pub stack_floor: usize,
    /// The source text of every file's chunk, by chunk name, for the source lines in stack traces.
    pub sources: HashMap<String, SharedBytes>,
    /// The source texts of strings that were loaded, by chunk name. If a name is in both maps, the
    /// file's text is used.
    pub loaded: LoadedTexts,
    /// The Lua state of the running call.
    pub caller: *mut lua_State,
    /// The VM's main state.
    pub main: *mut lua_State,
    /// True during the dry run of a changed file: functions with side effects are refused.
    pub reloading: bool,
    /// True if the engine was found to hold more than its memory limit and the reserve beyond it:
    /// functions that may need more memory are refused.
    pub reserve_used: bool,
    /// True if `reloading` or `reserve_used` is set; see [`ScriptContext::restrict`].
    pub restricted: bool,
    /// The marks of a heap walk, kept from its first half to its second.
    pub marks: Option<MarkTable>,
    /// The message of the error that the running call ended with.
    pub message: String,
    /// Number of executions of each line, if lines are counted.
    pub lines: Option<Box<LineHits>>,
    /// Script locations collected by the sampler while sampling is on.
    pub samples: Option<Box<ScriptSamples>>,
    /// The debugger, while a tool debugs the game.
    pub debugger: Option<Box<DebuggerState>>,
    /// In a worker: the tool that may debug it.
    pub worker_link: Option<Box<WorkerLink>>,
    /// True if this VM runs a worker.
    pub worker: bool,
    /// Advice to a person whose script needs more time.
    pub time_remedy: &'static str,
}

/// The activities of the engine and of the game when an error was raised.
#[derive(Clone)]
pub struct ErrorContexts {
    /// The message, as the engine returned it or as the game caught it.
    pub message: String,
    /// Outermost first.
    pub lines: Vec<String>,
    /// True if a `pcall` of the game caught the error, which the game may raise again.
    pub is_caught: bool,
}

/// Maximum total size of the kept texts of loaded strings, in bytes.
pub const LOADED_BYTES_MAX: usize = 8 << 20;
/// Minimum overhead of a kept string in addition to its bytes.
const LOADED_ENTRY_BYTES: usize = 64;

/// The source texts of strings that a game loaded with chunk names of its choice.
#[derive(Default)]
pub struct LoadedTexts {
    texts: HashMap<String, String>,
    bytes: usize,
}

impl LoadedTexts {
    /// Keeps a text in place of the previous text of this chunk name, if there is room.
    pub fn note(&mut self, chunk: String, text: String) {
        let cost = |text: &str| chunk.len() + text.len() + LOADED_ENTRY_BYTES;
        // The old text is removed even if the new one cannot be kept, because its lines are out of
        // date.
        if let Some(before) = self.texts.remove(&chunk) {
            self.bytes -= cost(&before);
        }
        let bytes = self.bytes.saturating_add(cost(&text));
        if bytes <= LOADED_BYTES_MAX {
            self.bytes = bytes;
            self.texts.insert(chunk, text);
        }
    }

    /// Returns the text of a chunk, if it is kept.
    pub fn get(&self, chunk: &str) -> Option<&str> {
        self.texts.get(chunk).map(String::as_str)
    }

    /// Returns the total size of the kept texts.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// An engine function that is registered in Lua.
pub struct RegisteredFunction {
    /// The context of the VM in which the function is registered.
    pub cx: *mut ScriptContext,
    pub module: &'static str,
    pub func: &'static FunctionRow,
    /// True if only the prelude can call the function.
    pub is_core: bool,
    /// The owner to which memory allocated by the function is attributed.
    pub owner: u8,
    pub calls: u64,
    pub errors: u64,
}

thread_local! {
    static CURRENT: Cell<*mut ScriptContext> = const { Cell::new(null_mut()) };
    /// The memory of the current VM. It is separate from the context because engine memory can grow
    /// while the context is borrowed.
    static CURRENT_MEMORY: Cell<*const LuaMemory> = const { Cell::new(null()) };
}

/// Index of the floats of arguments in [`ScriptContext::scratch`], after those of a result. Each
/// argument has room for a vector.
pub const ARGUMENT_FLOATS: usize = 16;
pub const FLOATS_PER_ARGUMENT: usize = 4;
const SCRATCH: usize = ARGUMENT_FLOATS + 8 * FLOATS_PER_ARGUMENT;

impl ScriptContext {
    /// Returns an empty buffer for floats that pass between Lua and Rust.
    pub const fn scratch() -> [f32; SCRATCH] {
        [0.0; SCRATCH]
    }
}

/// Returns the script line that called the engine, as `main.lua:12`; empty outside of a call.
pub fn script_location() -> String {
    let cx = CURRENT.get();
    if cx.is_null() {
        return String::new();
    }
    // SAFETY: `CURRENT` is set only while that VM runs, and its caller while a call is served.
    unsafe {
        match (*cx).caller.is_null() {
            true => String::new(),
            false => describe_value::script_location((*cx).caller).unwrap_or_default(),
        }
    }
}

/// Returns the script line at a level above the engine's function: 1 is the line that called it, 2
/// the line that called that function of the game; empty if there is no such level.
pub fn script_location_at(level: usize) -> String {
    let cx = CURRENT.get();
    // SAFETY: as for `script_location`.
    unsafe {
        match cx.is_null() || (*cx).caller.is_null() {
            true => String::new(),
            false => describe_value::location_at((*cx).caller, level).unwrap_or_default(),
        }
    }
}

/// Growth hook of the engine's memory ([`limit::set_growth_hook`]): checks the limit for the VM
/// that this thread runs. Allocates nothing.
pub fn engine_memory_grew() {
    // SAFETY: set only while that VM runs; its memory lies outside of the context, and is only ever
    // shared.
    if let Some(memory) = unsafe { CURRENT_MEMORY.get().as_ref() } {
        memory.check_engine_memory();
    }
}

/// Guard that marks a VM as the one that this thread runs until it is dropped. [`script_location`]
/// reports the location in this VM.
pub struct RunningVmGuard(*mut ScriptContext, *const LuaMemory);

impl RunningVmGuard {
    /// Begins to run the VM of this context on this thread.
    ///
    /// # Safety
    /// The context lives longer than the returned guard.
    pub unsafe fn begin(cx: *mut ScriptContext) -> RunningVmGuard {
        // SAFETY: as the caller promised.
        let memory = unsafe { Rc::as_ptr(&(*cx).memory) };
        RunningVmGuard(CURRENT.replace(cx), CURRENT_MEMORY.replace(memory))
    }
}

impl Drop for RunningVmGuard {
    fn drop(&mut self) {
        CURRENT.set(self.0);
        CURRENT_MEMORY.set(self.1);
    }
}

impl ScriptContext {
    /// Returns the context of a state.
    ///
    /// # Safety
    /// The state must belong to a VM created by vm.rs.
    pub unsafe fn of<'a>(l: *mut lua_State) -> &'a mut ScriptContext {
        let mut user: *mut c_void = null_mut();
        // SAFETY: vm.rs passes the memory to the allocator, and the context to the memory.
        unsafe {
            lua_getallocf(l, &mut user);
            &mut *(*(user as *const LuaMemory)).context.get()
        }
    }

    /// Returns counts of the work that the scripts did since the VM was created.
    pub fn work(&self) -> ScriptWork {
        let (allocated_bytes, allocations) = self.memory.total_allocated();
        let calls = self.registered.iter().map(|row| row.calls).sum::<u64>();
        let fast = self.fast_calls.iter().sum::<f64>() as u64;
        ScriptWork { allocated_bytes, allocations, engine_calls: calls + fast }
    }

    /// Collects all garbage and leaves the collector stopped as before, except in a worker.
    ///
    /// # Safety
    /// `l` is a live state of this VM.
    pub unsafe fn collect_now(&mut self, l: *mut lua_State) {
        // SAFETY: as the caller promised.
        unsafe {
            lua_gc(l, LUA_GCCOLLECT, 0);
            if !self.worker {
                lua_gc(l, LUA_GCSTOP, 0);
            }
        }
    }

    /// Runs a fast form. A panic or `None` sets the fault flag for the checked form, which also
    /// decides which calls are allowed while a file is reloaded.
    #[inline(always)]
    pub fn guarded<R: Default>(&mut self, f: impl FnOnce(&mut ScriptContext) -> Option<R>) -> R {
        if self.restricted {
            self.fault = 1;
            return R::default();
        }
        match catch_unwind(AssertUnwindSafe(|| f(self))) {
            Ok(Some(result)) => result,
            Ok(None) => {
                self.fault = 1;
                R::default()
            }
            Err(_) => {
                self.fault = 1;
                self.panic = Some(engine_foundation::panic::take_panic());
                R::default()
            }
        }
    }

    /// Stores the contexts of an error that a script is about to see, and returns its message.
    pub fn keep_contexts(&mut self, error: Error) -> String {
        if error.is_engine_fault {
            self.engine_fault = Some(error.message.clone());
        }
        self.error_contexts = Some(ErrorContexts {
            message: error.message.clone(),
            lines: error.contexts,
            is_caught: false,
        });
        error.message
    }

    /// Stores the message of the error that a call ends with, and returns [`FAILED`].
    #[cold]
    pub fn fail(&mut self, message: String) -> c_int {
        self.message = message;
        FAILED
    }

    /// Stores the message of an internal engine error that a call ends with, and returns
    /// [`FAILED`].
    #[cold]
    fn fail_internal(&mut self, message: String) -> c_int {
        self.engine_fault = Some(message.clone());
        self.fail(message)
    }

    /// Serves one call. Returns the number of results, or [`FAILED`].
    #[inline(always)]
    unsafe fn serve(&mut self, l: *mut lua_State, func: &'static FunctionRow) -> c_int {
        // SAFETY: `l` is the state of the running call.
        unsafe {
            let usual = !self.restricted && self.panic.is_none() && !func.boxed;
            if (!usual || luajit_layout::argument_count(l) > func.params.len())
                && !self.prepare(l, func)
            {
                return FAILED;
            }
            match catch_unwind(AssertUnwindSafe(|| func.call_from_lua(l, self))) {
                Ok(count) => count,
                Err(_) => self.fail_internal(engine_foundation::panic::take_panic()),
            }
        }
    }

    /// Updates `restricted` after `reloading` or `reserve_used` has changed.
    pub fn restrict(&mut self) {
        self.restricted = self.reloading || self.reserve_used;
    }

    /// Checks the reserve beyond the engine's memory limit. Returns true if the reserve is used up.
    pub fn is_full(&mut self) -> bool {
        self.reserve_used = limit::is_reserve_used();
        self.restrict();
        self.reserve_used
    }

    /// Checks a call that is not on the fast path (a few plain values, with no restriction).
    /// Returns false if the call cannot be served, and stores its error.
    #[inline(never)]
    unsafe fn prepare(&mut self, l: *mut lua_State, func: &'static FunctionRow) -> bool {
        if let Some(message) = self.panic.take() {
            self.fail_internal(message);
            return false;
        }
        if self.reloading && !func.pure {
            self.fail(REFUSED_WHILE_RELOADING.to_string());
            return false;
        }
        if self.reserve_used && !func.pure && !func.when_full && self.is_full() {
            self.fail(limit::over_message());
            return false;
        }
        // SAFETY: `l` is the state of the running call.
        unsafe {
            let (argument_count, takes) = (luajit_layout::argument_count(l), func.params.len());
            if argument_count > takes && !func.types.last().is_some_and(|last| last.rest) {
                let extra =
                    (takes + 1..=argument_count).any(|i| lua_type(l, i as c_int) != LUA_TNIL);
                if extra {
                    let plural = if takes == 1 { "" } else { "s" };
                    self.fail(format!("takes {takes} argument{plural}, got {argument_count}"));
                    return false;
                }
            }
            if func.boxed && lua_checkstack(l, 32) == 0 {
                self.fail("the Lua stack is full".into());
                return false;
            }
        }
        true
    }

    /// Pushes the error message of a failed call of this function, with location and name.
    #[cold]
    unsafe fn push_error(&mut self, l: *mut lua_State, row: &mut RegisteredFunction) {
        let message = std::mem::take(&mut self.message);
        row.errors += 1;
        // SAFETY: `l` is the state of the running call, in which allocation cannot fail.
        unsafe {
            let location = describe_value::script_location(l)
                .map(|location| location + ": ")
                .unwrap_or_default();
            let called = match row.func.public_name {
                None if row.is_core => stack_trace::called_function(l, row.module),
                _ => None,
            };
            let text = match (row.func.public_name, called) {
                (Some(public), _) => format!("{location}{public}: {message}"),
                (None, Some(name)) => format!("{location}{}.{name}: {message}", row.module),
                (None, None) => format!("{location}{}.{}: {message}", row.module, row.func.name),
            };
            lua_pushlstring(l, text.as_ptr() as *const _, text.len());
        }
    }
}

/// The reason why the dry run of a changed file cannot call a function; the message begins with the
/// function's name.
pub const REFUSED_WHILE_RELOADING: &str = "not while reloading: this changes the engine, and a \
    file's top level runs again at each reload: move it into a function such as init()";

/// Return value of an entry whose call ends with an error; the message is in
/// [`ScriptContext::message`].
pub const FAILED: c_int = -1;

/// Entry point for calls from C. When it returns -1, the C code raises the error that is on the
/// stack.
///
/// # Safety
/// Called by Lua only, through `script_entry`, whose first upvalue is the address of a row.
#[unsafe(no_mangle)]
unsafe extern "C" fn script_call(l: *mut lua_State) -> c_int {
    // SAFETY: the closure was created by vm.rs; its state belongs to a VM of the engine.
    unsafe {
        // The upvalue is the address of the row, which also leads to the context.
        let row = luajit_layout::upvalue(l) as *mut RegisteredFunction;
        let cx = &mut *(*row).cx;
        let outer = cx.caller;
        cx.caller = l;
        cx.fault = 0;
        cx.memory.begin_lenient();
        (*row).calls += 1;
        // The functions that are called most often allocate little or nothing, so they set no
        // owner.
        let owner = (*row).func.fast.is_none().then(|| OwnerScope::enter((*row).owner));
        let before = (owner.is_some() && limit::is_over()).then(limit::total);
        let result = cx.serve(l, (*row).func);
        // Allocations of other threads that worked for this call have not called this thread's
        // growth hook.
        if owner.is_some() && limit::is_over() {
            match (*row).func.when_full {
                true => cx.memory.engine.accept_growth(before),
                false => cx.memory.check_after_call(before),
            }
        }
        drop(owner);
        if result == FAILED {
            cx.push_error(l, &mut *row);
        }
        cx.memory.end_lenient();
        cx.caller = outer;
        result
    }
}
