//! The Lua VM: it is created, booted, called, garbage collected and closed here. The functions that
//! scripts can call are in api/; the engine's own Lua is the prelude (lua/).

use super::collector::Collector;
use super::context::{self, LoadedTexts, RegisteredFunction, RunningVmGuard, ScriptContext};
use super::ctypes::ValueTypeIds;
use super::interrupt::{Interrupt, memory_message};
use super::load::load_or_message;
use super::lua_memory::{self, LuaMemory};
use super::luajit_layout;
use super::prelude_natives::NATIVES;
use super::report::{ErrorReport, handler};
use super::sampler::{self, ScriptSamples};
use super::value::{ScriptValue, push_value, read_value};
use super::{
    api, bytecode, debugger, error_hints, extra_arguments, ffi_wrappers, heap, heap_snapshot,
    prelude, prelude_check, reload_dry_run,
};
use engine_foundation::Error;
use engine_foundation::memory::{limit, number_of as memory_of};
use engine_foundation::profile::ProfileScope;
use engine_platform as platform;
use engine_runtime::Engine;
use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns the maximum number of Rust functions that are registered for scripts and the prelude.
fn rows() -> usize {
    let modules = api::MODULES.iter().chain(api::CORE_MODULES).copied();
    #[cfg(test)]
    let modules = modules.chain([&tests::BROKEN]);
    modules.chain([&api::lfs::CORE]).map(|module| module.funcs.len()).sum()
}

/// Heap size in bytes from which a full collection runs after a game has started.
const START_HEAP: usize = 16 << 20;

/// Options for creating a VM.
#[derive(Clone, Copy, Debug)]
pub struct VmConfig {
    /// Lua's memory limit in bytes.
    pub memory_limit: usize,
    /// True if scripts are compiled to machine code.
    pub jit: bool,
    /// Budgets the collector by work instead of time, so that runs are equal.
    pub deterministic: bool,
    /// Restricts scripts to the sandbox; if false, they have the whole standard library.
    pub sandbox: bool,
    /// Loads the test library.
    pub tests: bool,
    /// Counts the calls of every engine function, including fast forms and prelude functions.
    pub coverage: bool,
    /// Counts the executions of each line of a script; nothing is compiled to machine code then.
    pub lines: bool,
    /// Runs a worker: only data and values are accessible, and the collector runs automatically.
    pub worker: bool,
}

impl VmConfig {
    pub const DEFAULT: VmConfig = VmConfig {
        memory_limit: 1 << 30,
        jit: true,
        deterministic: false,
        sandbox: true,
        tests: false,
        coverage: false,
        lines: false,
        worker: false,
    };
}

/// Result of a call into Lua: the returned value, or the report of the unexpected error.
pub type CallOutcome = Result<ScriptValue, Box<ErrorReport>>;

/// The chunk names of the fast forms: in the interpreter or compiled, counted or not.
const FAST_FORM_CHUNKS: [&str; 4] =
    ["twins", "compiled twins", "counted twins", "compiled, counted twins"];

static ALL_CALLS: AtomicBool = AtomicBool::new(false);

/// Makes all VMs that are created from now on count the calls of fast forms, too.
pub fn count_all_calls() {
    ALL_CALLS.store(true, Ordering::Relaxed);
}

fn all_calls() -> bool {
    ALL_CALLS.load(Ordering::Relaxed)
}

/// Counts of the work that scripts did; they only grow.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct ScriptWork {
    pub allocated_bytes: u64,
    pub allocations: u64,
    /// Number of calls of Rust functions; fast forms are counted only in tests and on request.
    pub engine_calls: u64,
}

/// A Lua VM with the engine's API, and the engine that the API operates on.
pub struct Vm {
    l: *mut lua_State,
    cx: *mut ScriptContext,
    collector: Collector,
    config: VmConfig,
    /// Address of the number of the next new string (luajit_layout.rs).
    string_number: *mut u32,
    /// True if the memory is left to the operating system when the VM is dropped.
    ends_with_process: bool,
}

unsafe extern "C-unwind" {
    fn script_entry(l: *mut lua_State) -> c_int;
}

impl Vm {
    /// Creates a VM for `engine` and boots the prelude. The VM must be used on the calling thread.
    pub fn new(engine: Engine, config: VmConfig) -> Result<Vm, Box<ErrorReport>> {
        let config = VmConfig { jit: config.jit && !config.lines, ..config };
        limit::set_growth_hook(context::engine_memory_grew);
        let interrupt = Interrupt::new();
        let memory = Rc::new(LuaMemory::new(config.memory_limit, interrupt.clone(), config.worker));
        let cx = Box::into_raw(Box::new(ScriptContext {
            memory: memory.clone(),
            fault: 0,
            scratch: ScriptContext::scratch(),
            engine: Box::into_raw(Box::new(engine)),
            registered: Vec::with_capacity(rows()),
            fast_calls: Vec::new(),
            ctypes: ValueTypeIds::default(),
            interrupt: interrupt.clone(),
            panic: None,
            error_contexts: None,
            report: None,
            engine_fault: None,
            interrupted: None,
            stack_floor: platform::stack_floor(),
            sources: HashMap::new(),
            loaded: LoadedTexts::default(),
            caller: null_mut(),
            main: null_mut(),
            reloading: false,
            reserve_used: false,
            restricted: false,
            marks: None,
            message: String::new(),
            lines: config.lines.then(Default::default),
            samples: None,
            debugger: None,
            worker_link: None,
            worker: config.worker,
            time_remedy: context::time_remedy(config.worker),
        }));
        memory.context.set(cx);
        let user = Rc::as_ptr(&memory).cast_mut().cast::<c_void>();
        // Called before the first string of the state is created, which needs a number, too.
        luajit_layout::string_id_address();
        // SAFETY: the memory, which the context holds, outlives the state: `Drop` closes it first.
        let l = unsafe { lua_newstate(lua_memory::allocate, user) };
        assert!(!l.is_null(), "there is no memory for a Lua state");
        // SAFETY: the state was just created, and nothing runs yet.
        unsafe {
            (*cx).main = l;
            let known = luajit_layout::layout_matches(l);
            assert!(known, "this LuaJIT lays out data differently: see luajit_layout.rs, raise.c");
        }
        let collector = Collector::new(config.deterministic);
        let string_number = null_mut();
        let mut vm = Vm { l, cx, collector, config, string_number, ends_with_process: false };
        if let Err(error) = interrupt.watch(l) {
            let message = format!("no thread is left to watch the scripts: {error}");
            return Err(Box::new(ErrorReport::from_message(message)));
        }
        vm.boot()?;
        // The objects that the prelude created live as long as the VM.
        let used = vm.cx().memory.used();
        vm.collector.note_alive(used);
        if config.worker {
            // A worker has no frames at whose end the collector could run. SAFETY: nothing runs in
            // the state.
            unsafe { lua_gc(l, LUA_GCRESTART, 0) };
        }
        if config.lines {
            interrupt.count_lines(l);
        }
        Ok(vm)
    }

    pub(super) fn cx(&mut self) -> &mut ScriptContext {
        // SAFETY: alive until `Drop`, and not borrowed elsewhere while no Lua runs.
        unsafe { &mut *self.cx }
    }

    /// Returns the engine behind the API. The reference must not be held across a call into Lua.
    pub fn engine(&mut self) -> &mut Engine {
        // SAFETY: as for `cx`.
        unsafe { &mut *(*self.cx).engine }
    }

    /// Returns the interrupt that can stop the running script.
    pub fn interrupt(&mut self) -> Arc<Interrupt> {
        self.cx().interrupt.clone()
    }

    /// Returns the bytes that Lua holds now, and the maximum that it ever held.
    pub fn memory(&mut self) -> (usize, usize) {
        (self.cx().memory.used(), self.cx().memory.peak())
    }

    /// Returns counts of the work that the scripts did since the VM was created.
    pub fn work(&mut self) -> ScriptWork {
        self.cx().work()
    }

    /// Starts sampling the scripts, for the whole run or until [`Vm::end_sampling`].
    ///
    /// # Errors
    /// Returns an error if sampling is on already, or if the system has no thread left.
    pub fn begin_sampling(&mut self, whole_run: bool) -> Result<(), Error> {
        sampler::begin(self.cx(), whole_run)
    }

    /// Returns the samples while sampling is on.
    pub fn samples(&mut self) -> Option<&ScriptSamples> {
        self.cx().samples.as_deref()
    }

    /// Stops sampling and returns the samples.
    ///
    /// # Errors
    /// Returns an error if sampling is off, or if the run's command line requested it.
    pub fn end_sampling(&mut self) -> Result<Box<ScriptSamples>, Error> {
        sampler::end(self.cx())
    }

    fn boot(&mut self) -> Result<(), Box<ErrorReport>> {
        // SAFETY: a fresh state, on the thread that created it. The only possible error here is
        // lack of memory, which a limit below the needs of the libraries would cause: an internal
        // error.
        unsafe {
            luaL_openlibs(self.l);
            lua_gc(self.l, LUA_GCSTOP, 0);
            let known = heap::raw_objects::layout_matches(self.l);
            assert!(known, "this LuaJIT lays out its objects differently: see heap/raw_objects.rs");
            lua_createtable(self.l, 0, 64);
            for module in api::MODULES {
                self.register(module, false);
            }
            #[cfg(test)]
            self.register(&tests::BROKEN, false);
            for module in api::CORE_MODULES {
                self.register(module, true);
            }
            // This must be last, because the chunk of fast forms relies on the indices of the
            // others.
            if !self.config.sandbox {
                self.register(&api::lfs::CORE, true);
            }
            let natives = [
                NATIVES,
                heap::NATIVES,
                error_hints::NATIVES,
                reload_dry_run::NATIVES,
                heap_snapshot::NATIVES,
                debugger::NATIVES,
            ];
            let measuring = [api::profiler::NATIVES, api::stats::NATIVES];
            for (name, function) in [natives.concat(), measuring.concat()].concat() {
                lua_pushcclosure(self.l, function, 0);
                lua_setfield(self.l, -2, name.as_ptr());
            }
            lua_setfield(self.l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        }
        let options = [
            ("sandbox", self.config.sandbox),
            ("jit", self.config.jit),
            ("coverage", self.config.coverage),
            ("deterministic", self.config.deterministic),
            ("worker", self.config.worker),
            ("tests", self.config.tests),
        ];
        let options =
            options.map(|(name, on)| (name.to_string(), ScriptValue::Boolean(on))).to_vec();
        let options = ScriptValue::Table(options);
        let files = prelude::files(self.config.tests, self.config.sandbox);
        prelude_check::run(self, files, &options)?;
        self.install_fast_forms()?;
        self.run_prelude(prelude::LAST, &options)?;
        self.check_value_layout();
        // SAFETY: the state is alive as long as the VM.
        self.string_number = unsafe { luajit_layout::string_number(self.l) };
        Ok(())
    }

    /// Restarts the numbering of strings from a number derived from `at`, where strings are not
    /// numbered by their text (string_ids.c). Tables then order the strings that are created from
    /// now on alike in every run, regardless of earlier strings such as file names or strings of
    /// tools. The numbers of different values of `at` lie far apart, because close numbers would
    /// collide in tables.
    pub fn reseed_string_ids(&mut self, at: u32) {
        // The golden ratio, of 32 bits (Knuth, The Art of Computer Programming 3, 6.4).
        let number = at.wrapping_mul(0x9e37_79b1);
        // SAFETY: the address is valid as long as the state.
        unsafe { self.string_number.write(number) }
    }

    /// Registers a module's functions in a global table, or in the table on top of the stack.
    ///
    /// # Safety
    /// On boot only, with the core table on top of the stack.
    unsafe fn register(&mut self, module: &'static super::api_row::ModuleRows, into_core: bool) {
        let l = self.l;
        // SAFETY: as the caller promised.
        unsafe {
            if !into_core {
                let name = CString::new(module.name).expect("names have no zero bytes");
                lua_getfield(l, LUA_GLOBALSINDEX, name.as_ptr());
                // A module can be declared in several files.
                if lua_type(l, -1) != LUA_TTABLE {
                    lua_settop(l, -2);
                    lua_createtable(l, 0, module.funcs.len() as c_int);
                }
            }
            let owner = match into_core {
                true => memory_of("calls/core"),
                false => memory_of(&format!("calls/{}", module.name)),
            };
            for func in module.funcs.iter().filter(|func| func.unpacked.is_none()) {
                let (cx, module) = (self.cx, module.name);
                let registered = &mut self.cx().registered;
                assert!(registered.len() < registered.capacity(), "a row's address would change");
                let is_core = into_core;
                let (calls, errors) = (0, 0);
                registered.push(RegisteredFunction {
                    cx,
                    module,
                    func,
                    is_core,
                    owner,
                    calls,
                    errors,
                });
                let last = registered.len() - 1;
                let row = registered.as_ptr().add(last);
                lua_pushnumber(l, luajit_layout::address(row.cast()));
                lua_pushcclosure(l, script_entry, 1);
                let name = CString::new(func.name).expect("names have no zero bytes");
                lua_setfield(l, -2, name.as_ptr());
            }
            if !into_core {
                let name = CString::new(module.name).expect("names have no zero bytes");
                lua_setfield(l, LUA_GLOBALSINDEX, name.as_ptr());
            }
        }
    }

    /// Runs one file of the prelude, with the table `core` and `options` as arguments.
    pub(super) fn run_prelude(
        &mut self,
        file: prelude::PreludeFile,
        options: &ScriptValue,
    ) -> Result<(), Box<ErrorReport>> {
        let done = self.protected(f64::INFINITY, |l, _| {
            // SAFETY: pushes within the room that `protected` made; build.rs dumped the bytecode.
            unsafe {
                if !bytecode::load(l, file.bytecode) {
                    let text = extra_arguments::with_checks(file.name, file.text);
                    load_or_message(l, &format!("=[engine] {}", file.name), &text)?;
                }
                store_chunk(l, file.name);
                lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
                push_value(l, options)?;
                Ok(2)
            }
        });
        done.map(|_| ())
    }

    fn install_fast_forms(&mut self) -> Result<(), Box<ErrorReport>> {
        let VmConfig { jit, coverage, tests, .. } = self.config;
        let counted = coverage || tests || all_calls();
        let cx = self.cx();
        cx.fast_calls = vec![0.0; cx.registered.len()];
        // The rows are the same in every VM, so the chunk depends only on these flags.
        let name = FAST_FORM_CHUNKS[usize::from(jit) + 2 * usize::from(counted)];
        let text = || ffi_wrappers::chunk(&cx.registered, jit, counted);
        let bytes = bytecode::cached_bytecode(name, "=[engine] twins", text);
        let done = self.protected(f64::INFINITY, |l, cx| {
            // SAFETY: as above; the addresses stay valid as long as the state.
            unsafe {
                assert!(bytecode::load(l, bytes), "this LuaJIT made them");
                store_chunk(l, name);
                lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
                lua_createtable(l, cx.registered.len() as c_int, 0);
                for (i, row) in cx.registered.iter().enumerate() {
                    let address = row.func.fast.map_or(null_mut(), |fast| fast.0.cast_mut());
                    lua_pushlightuserdata(l, address);
                    lua_rawseti(l, -2, i as lua_Integer + 1);
                }
                lua_pushlightuserdata(l, std::ptr::from_mut(cx).cast());
                lua_pushlightuserdata(l, cx.scratch.as_mut_ptr().cast());
                lua_pushlightuserdata(l, std::ptr::from_mut(&mut cx.fault).cast());
                lua_pushlightuserdata(l, cx.fast_calls.as_mut_ptr().cast());
                Ok(6)
            }
        });
        done.map(|_| ())
    }

    /// Reads a known vector, so that a VM with another value layout is detected at once.
    fn check_value_layout(&mut self) {
        let known = self.call_core("layout_check", &[], f64::INFINITY);
        let right = matches!(known, Ok(ScriptValue::Boolean(true)));
        assert!(right, "this LuaJIT lays out its FFI values differently: see Ctypes::number");
    }

    /// Calls a function of the prelude's core table with `budget` seconds of CPU time.
    pub fn call_core(&mut self, name: &str, arguments: &[ScriptValue], budget: f64) -> CallOutcome {
        let name = CString::new(name).expect("names have no zero bytes");
        self.protected(budget, |l, _| {
            // SAFETY: pushes within the room that `protected` made.
            unsafe {
                lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
                lua_getfield(l, -1, name.as_ptr());
                lua_remove(l, -2);
                for argument in arguments {
                    push_value(l, argument)?;
                }
                Ok(arguments.len() as c_int)
            }
        })
    }

    /// Sets the advice in the error of a script that needs more time.
    pub fn set_time_remedy(&mut self, remedy: &'static str) {
        self.cx().time_remedy = remedy;
    }

    /// Runs a protected call of the function that `prepare` pushes, with the number of arguments
    /// that it returns.
    fn protected(
        &mut self,
        budget: f64,
        prepare: impl FnOnce(*mut lua_State, &mut ScriptContext) -> Result<c_int, String>,
    ) -> CallOutcome {
        let l = self.l;
        let cx = self.cx();
        cx.error_contexts = None;
        let interrupt = cx.interrupt.clone();
        // SAFETY: nothing runs in this state; what can raise is inside lua_pcall, and allocation
        // cannot fail around it.
        unsafe {
            let top = lua_gettop(l);
            cx.memory.begin_lenient();
            lua_checkstack(l, 20);
            lua_pushcclosure(l, handler, 0);
            let prepared = prepare(l, cx);
            cx.memory.end_lenient();
            let outcome = match prepared {
                Err(message) => Err(Box::new(ErrorReport::from_message(message))),
                Ok(count) => {
                    let lenience = cx.memory.lenience();
                    let _running = RunningVmGuard::begin(self.cx);
                    // An error may have skipped the end of a scope.
                    let _scopes = ProfileScope::close_on_drop();
                    interrupt.begin(budget);
                    self.cx().memory.engine.begin_callback();
                    let status = lua_pcall(l, count, 1, top + 1);
                    interrupt.end(l);
                    // An error can skip the end of an atomic section (reload_dry_run.rs).
                    self.cx().memory.restore_lenience(lenience);
                    self.outcome(status)
                }
            };
            lua_settop(l, top);
            outcome
        }
    }

    /// Converts the result of `lua_pcall` on the stack into an outcome.
    unsafe fn outcome(&mut self, status: c_int) -> CallOutcome {
        let l = self.l;
        let cx = self.cx();
        cx.memory.begin_lenient();
        let report = cx.report.take();
        // SAFETY: one value is on the stack.
        let outcome = unsafe {
            match (status, report) {
                (LUA_OK, Some(report)) if report.stopped => Err(report),
                (LUA_OK, _) => match read_value(l, -1, cx) {
                    Ok(value) => Ok(value),
                    Err(message) => Err(Box::new(ErrorReport::from_message(message))),
                },
                (LUA_ERRMEM, _) => {
                    cx.collect_now(l);
                    Err(Box::new(ErrorReport::from_message(memory_message(cx))))
                }
                (_, Some(report)) => Err(report),
                (_, None) => {
                    let message = super::report::error_text(l, -1, cx);
                    let message = super::error_hints::overflow_message(&message).unwrap_or(message);
                    Err(Box::new(ErrorReport::from_message(message)))
                }
            }
        };
        self.cx().memory.end_lenient();
        outcome
    }

    /// Runs the collector at the end of a frame.
    pub fn collect(&mut self) {
        let budget = self.engine().frame.collection;
        // SAFETY: nothing runs in the state.
        unsafe { self.collector.frame(self.l, budget) }
    }

    /// Runs a full collection, at a time when a pause is not noticed.
    pub fn collect_all(&mut self) {
        // SAFETY: nothing runs in the state.
        unsafe { self.collector.full(self.l) }
    }

    /// Sets if scripts get memory beyond their limit from now on.
    pub fn refuse_no_memory(&mut self, on: bool) {
        let memory = &self.cx().memory;
        match on {
            true => memory.begin_lenient(),
            false => memory.end_lenient(),
        }
    }

    /// Leaves Lua's memory to the operating system when the VM is dropped, because the process ends
    /// then and freeing every object would be wasted work.
    pub fn end_with_process(&mut self) {
        self.ends_with_process = true;
    }

    /// Runs a full collection after the start of a game, if the heap is large enough to be worth
    /// it. A small heap is collected during the frames, so that the first frame appears earlier.
    pub fn collect_start(&mut self) {
        if self.cx().memory.used() >= START_HEAP {
            self.collect_all();
        }
    }

    /// Returns the number of executions of each line of each file since the last call.
    pub fn line_hits(&mut self) -> Vec<(String, Vec<u64>)> {
        self.cx().lines.as_mut().map_or_else(Vec::new, |lines| lines.take())
    }

    /// Returns the number of calls of each engine function: module, name, calls, fast calls,
    /// errors.
    pub fn usage(&mut self) -> Vec<(&'static str, &'static super::api_row::FunctionRow, [u64; 3])> {
        let cx = self.cx();
        let rows = cx.registered.iter().zip(&cx.fast_calls).filter(|(row, _)| !row.is_core);
        rows.map(|(row, fast)| (row.module, row.func, [row.calls, *fast as u64, row.errors]))
            .collect()
    }
}

/// Keeps the chunk on top of the stack alive, and with it every string in it. Otherwise a string
/// could be collected, at a time that depends on what was compiled, and created again with another
/// number. Tables would then hold it at another position, and the order of `pairs` would change.
///
/// # Safety
/// `l` has room for two values, and a function on top.
unsafe fn store_chunk(l: *mut lua_State, name: &str) {
    let name = CString::new(format!("engine.chunk {name}")).expect("no zero bytes");
    // SAFETY: as the caller promised.
    unsafe {
        lua_pushvalue(l, -1);
        lua_setfield(l, LUA_REGISTRYINDEX, name.as_ptr());
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        // SAFETY: the watchdog releases the state before it is closed, and the state is closed
        // before the context and the engine that its functions use.
        unsafe {
            self.cx().samples = None;
            self.cx().interrupt.close();
            // A state that ends with the process stays open: no Lua code runs any more.
            if !self.ends_with_process {
                (*self.cx).memory.begin_lenient();
                lua_close(self.l);
            }
            drop(Box::from_raw((*self.cx).engine));
            drop(Box::from_raw(self.cx));
        }
    }
}

#[cfg(test)]
#[path = "vm_tests.rs"]
mod tests;
