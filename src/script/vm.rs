//! The Lua VM: made, booted, called, collected, closed. What scripts can call is in api/; what the
//! engine's own Lua does is in the prelude (lua/).

use super::collector::Collector;
use super::ctypes::Ctypes;
use super::cx::{self, Cx, LoadedTexts, Registered, Running};
use super::interrupt::{Interrupt, memory_words};
use super::layout;
use super::load::Fault;
use super::memory::{self, Memory};
use super::native::NATIVES;
use super::report::{Report, handler};
use super::sampler::{self, Samples};
use super::value::{Value, push_value, read_value};
use super::{api, bytecode, heap, hint, prelude, trial, twin, undo};
use crate::engine::Engine;
use crate::foundation::Error;
use crate::foundation::memory::{limit, number_of as memory_of};
use crate::foundation::profile::Scope;
use crate::system::platform;
use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many functions in Rust scripts and the prelude are given at most.
fn rows() -> usize {
    let modules = api::MODULES.iter().chain(api::CORE_MODULES).copied();
    #[cfg(test)]
    let modules = modules.chain([&tests::BROKEN]);
    modules.chain([&api::disk::CORE]).map(|module| module.funcs.len()).sum()
}

/// The heap, in bytes, from which on all of it is collected when a game has started.
const START_HEAP: usize = 16 << 20;

/// How a VM is made.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Lua's memory limit in bytes.
    pub memory_limit: usize,
    /// Whether scripts are compiled to machine code.
    pub jit: bool,
    /// Collect by work and not by time, so that runs are equal.
    pub deterministic: bool,
    /// Leave the whole standard library to scripts.
    pub sandbox: bool,
    /// Load the test library.
    pub tests: bool,
    /// Count the calls of every engine function, fast forms and prelude functions too.
    pub coverage: bool,
    /// Count how often each line of a script runs; nothing is compiled to machine code then.
    pub lines: bool,
    /// Run a worker: what is not data and values is out of reach, and the collector works by
    /// itself.
    pub worker: bool,
}

impl Config {
    pub const DEFAULT: Config = Config {
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

/// What a call into Lua left: the value it returned, or the report of its unexpected error.
pub type Outcome = Result<Value, Box<Report>>;

/// The names of the chunks of fast forms: in the interpreter or compiled, counted or not.
const TWINS: [&str; 4] = ["twins", "compiled twins", "counted twins", "compiled, counted twins"];

static ALL_CALLS: AtomicBool = AtomicBool::new(false);

/// Has VMs that are made from now on count the calls of fast forms, too.
pub fn count_all_calls() {
    ALL_CALLS.store(true, Ordering::Relaxed);
}

fn all_calls() -> bool {
    ALL_CALLS.load(Ordering::Relaxed)
}

/// What scripts did: sums that only grow.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Work {
    pub allocated_bytes: u64,
    pub allocations: u64,
    /// Calls of functions in Rust; fast forms are counted in tests, and where it was asked for.
    pub engine_calls: u64,
}

/// A Lua VM with the engine's API in it, and the engine that the API speaks to.
pub struct Vm {
    l: *mut lua_State,
    cx: *mut Cx,
    collector: Collector,
    config: Config,
    /// Where the number of the next new string is kept (layout.rs).
    string_number: *mut u32,
    /// What it holds is left to the system.
    ends_with_process: bool,
}

unsafe extern "C-unwind" {
    fn script_entry(l: *mut lua_State) -> c_int;
}

impl Vm {
    /// Makes a VM for `engine` and boots the prelude. The calling thread is the one that runs it.
    pub fn new(engine: Engine, config: Config) -> Result<Vm, Box<Report>> {
        let config = Config { jit: config.jit && !config.lines, ..config };
        limit::set_growth_hook(cx::engine_memory_grew);
        let interrupt = Interrupt::new();
        let memory = Rc::new(Memory::new(config.memory_limit, interrupt.clone(), config.worker));
        let cx = Box::into_raw(Box::new(Cx {
            memory: memory.clone(),
            fault: 0,
            scratch: Cx::scratch(),
            engine: Box::into_raw(Box::new(engine)),
            registered: Vec::with_capacity(rows()),
            fast_calls: Vec::new(),
            ctypes: Ctypes::default(),
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
            words: String::new(),
            lines: config.lines.then(Default::default),
            samples: None,
            worker: config.worker,
        }));
        memory.context.set(cx);
        let user = Rc::as_ptr(&memory).cast_mut().cast::<c_void>();
        // Before the first string of the state: it is to have its number, too.
        layout::string_number_place();
        // SAFETY: the memory, which the context holds, outlives the state: `Drop` closes it first.
        let l = unsafe { lua_newstate(memory::allocate, user) };
        assert!(!l.is_null(), "there is no memory for a Lua state");
        // SAFETY: just made, and nothing runs yet.
        unsafe {
            (*cx).main = l;
            let known = layout::holds(l);
            assert!(known, "this LuaJIT lays out its data in another way: see layout.rs, raise.c");
        }
        let collector = Collector::new(config.deterministic);
        let string_number = null_mut();
        let mut vm = Vm { l, cx, collector, config, string_number, ends_with_process: false };
        if let Err(error) = interrupt.watch(l) {
            let words = format!("no thread is left to watch the scripts: {error}");
            return Err(Box::new(Report::of_words(words)));
        }
        vm.boot()?;
        // What the prelude made lives as long as the VM.
        let used = vm.cx().memory.used();
        vm.collector.note_alive(used);
        if config.worker {
            // It has no frames that the collector could wait for the end of.
            // SAFETY: nothing runs in the state.
            unsafe { lua_gc(l, LUA_GCRESTART, 0) };
        }
        if config.lines {
            interrupt.count_lines(l);
        }
        Ok(vm)
    }

    fn cx(&mut self) -> &mut Cx {
        // SAFETY: alive until `Drop`, and not borrowed elsewhere while no Lua runs.
        unsafe { &mut *self.cx }
    }

    /// The engine behind the API. Not to be held across a call into Lua.
    pub fn engine(&mut self) -> &mut Engine {
        // SAFETY: as for `cx`.
        unsafe { &mut *(*self.cx).engine }
    }

    /// Who may stop the running script.
    pub fn interrupt(&mut self) -> Arc<Interrupt> {
        self.cx().interrupt.clone()
    }

    /// Bytes that Lua holds now, and the most that it ever held.
    pub fn memory(&mut self) -> (usize, usize) {
        (self.cx().memory.used(), self.cx().memory.peak())
    }

    /// What the scripts did since the VM was made.
    pub fn work(&mut self) -> Work {
        self.cx().work()
    }

    /// Has the scripts be asked where they are, again and again, for all of the run or until
    /// [`Vm::end_sampling`].
    ///
    /// # Errors
    /// Where they are asked already, or the system has no thread left.
    pub fn begin_sampling(&mut self, whole_run: bool) -> Result<(), Error> {
        sampler::begin(self.cx(), whole_run)
    }

    /// Where they were met, while they are asked.
    pub fn samples(&mut self) -> Option<&Samples> {
        self.cx().samples.as_deref()
    }

    /// Asks no longer: where they were.
    ///
    /// # Errors
    /// Where nobody asks, or the run's command line wants it.
    pub fn end_sampling(&mut self) -> Result<Box<Samples>, Error> {
        sampler::end(self.cx())
    }

    fn boot(&mut self) -> Result<(), Box<Report>> {
        // SAFETY: a fresh state, on the thread that made it. What raises here is only want of
        // memory, which a limit of less than the libraries need would cause: a fault of ours.
        unsafe {
            luaL_openlibs(self.l);
            lua_gc(self.l, LUA_GCSTOP, 0);
            let known = heap::plain::holds(self.l);
            assert!(known, "this LuaJIT lays out its objects in another way: see heap/plain.rs");
            lua_createtable(self.l, 0, 64);
            for module in api::MODULES {
                self.register(module, false);
            }
            #[cfg(test)]
            self.register(&tests::BROKEN, false);
            for module in api::CORE_MODULES {
                self.register(module, true);
            }
            // Last: the chunk of fast forms counts on the others' places.
            if !self.config.sandbox {
                self.register(&api::disk::CORE, true);
            }
            let natives = [NATIVES, heap::NATIVES, hint::NATIVES, trial::NATIVES, undo::NATIVES];
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
        ];
        let options = options.map(|(name, on)| (name.to_string(), Value::Boolean(on))).to_vec();
        let options = Value::Table(options);
        let files = prelude::files(self.config.tests, self.config.sandbox);
        for file in files {
            self.run_prelude(file, &options)?;
        }
        self.install_twins()?;
        self.run_prelude(prelude::LAST, &options)?;
        self.check_value_layout();
        // SAFETY: the state is alive as long as the VM.
        self.string_number = unsafe { layout::string_number(self.l) };
        Ok(())
    }

    /// Where strings are not numbered by their text (strings.c), has those that are made from here
    /// on be numbered from what `at` gives: with it, tables order them alike in every run, whatever
    /// was made before of the names of files or by tools. The numbers of different places lie far
    /// apart, for those that are near in tables would be in each other's way.
    pub fn number_strings(&mut self, at: u32) {
        // The golden ratio, of 32 bits (Knuth, The Art of Computer Programming 3, 6.4).
        let number = at.wrapping_mul(0x9e37_79b1);
        // SAFETY: the place holds as long as the state.
        unsafe { self.string_number.write(number) }
    }

    /// Registers a module's functions in a global table, or in the table on top of the stack.
    ///
    /// # Safety
    /// On boot only, with the core table on top of the stack.
    unsafe fn register(&mut self, module: &'static super::row::Module, into_core: bool) {
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
            for func in module.funcs {
                let (cx, module) = (self.cx, module.name);
                let registered = &mut self.cx().registered;
                assert!(registered.len() < registered.capacity(), "a row's address would change");
                let is_core = into_core;
                let (calls, errors) = (0, 0);
                registered.push(Registered { cx, module, func, is_core, owner, calls, errors });
                let last = registered.len() - 1;
                let row = registered.as_ptr().add(last);
                lua_pushnumber(l, layout::address(row.cast()));
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

    fn run_prelude(&mut self, file: prelude::File, options: &Value) -> Result<(), Box<Report>> {
        let done = self.protected(f64::INFINITY, |l, _| {
            // SAFETY: pushes within the room that `protected` made; build.rs dumped the bytecode.
            unsafe {
                if !bytecode::load(l, file.bytecode) {
                    load(l, &format!("=[engine] {}", file.name), file.text)?;
                }
                keep_chunk(l, file.name);
                lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
                push_value(l, options)?;
                Ok(2)
            }
        });
        done.map(|_| ())
    }

    fn install_twins(&mut self) -> Result<(), Box<Report>> {
        let Config { jit, coverage, tests, .. } = self.config;
        let counted = coverage || tests || all_calls();
        let cx = self.cx();
        cx.fast_calls = vec![0.0; cx.registered.len()];
        // The rows are the same in every VM, so the chunk depends on these alone.
        let name = TWINS[usize::from(jit) + 2 * usize::from(counted)];
        let text = || twin::chunk(&cx.registered, jit, counted);
        let bytes = bytecode::made(name, "=[engine] twins", text);
        let done = self.protected(f64::INFINITY, |l, cx| {
            // SAFETY: as above; the addresses stay valid as long as the state.
            unsafe {
                assert!(bytecode::load(l, bytes), "this LuaJIT made them");
                keep_chunk(l, name);
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

    /// Reads a known vector, so that a VM whose values are laid out otherwise is found at once.
    fn check_value_layout(&mut self) {
        let known = self.call_core("layout_check", &[], f64::INFINITY);
        let right = matches!(known, Ok(Value::Boolean(true)));
        assert!(right, "this LuaJIT lays out its FFI values in another way: see Ctypes::number");
    }

    /// Calls a function of the prelude's core table with `budget` seconds of CPU time.
    pub fn call_core(&mut self, name: &str, arguments: &[Value], budget: f64) -> Outcome {
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

    /// Runs what `prepare` pushes (a function, then as many arguments as it says), protected.
    fn protected(
        &mut self,
        budget: f64,
        prepare: impl FnOnce(*mut lua_State, &mut Cx) -> Result<c_int, String>,
    ) -> Outcome {
        let l = self.l;
        let cx = self.cx();
        let interrupt = cx.interrupt.clone();
        // SAFETY: nothing runs in this state; what can raise is inside lua_pcall, and allocation
        // cannot fail around it.
        unsafe {
            let top = lua_gettop(l);
            cx.memory.be_lenient();
            lua_checkstack(l, 20);
            lua_pushcclosure(l, handler, 0);
            let prepared = prepare(l, cx);
            cx.memory.be_strict();
            let outcome = match prepared {
                Err(words) => Err(Box::new(Report::of_words(words))),
                Ok(count) => {
                    let lenience = cx.memory.lenience();
                    let _running = Running::begin(self.cx);
                    // An error may have passed by the end of a scope.
                    let _scopes = Scope::bracket();
                    interrupt.begin(budget);
                    self.cx().memory.engine.begin_callback();
                    let status = lua_pcall(l, count, 1, top + 1);
                    interrupt.end(l);
                    // An error can pass by the end of what was to be done as a whole (trial.rs).
                    self.cx().memory.restore_lenience(lenience);
                    self.outcome(status)
                }
            };
            lua_settop(l, top);
            outcome
        }
    }

    /// What `lua_pcall` left on the stack.
    unsafe fn outcome(&mut self, status: c_int) -> Outcome {
        let l = self.l;
        let cx = self.cx();
        cx.memory.be_lenient();
        let report = cx.report.take();
        // SAFETY: one value is on the stack.
        let outcome = unsafe {
            match (status, report) {
                (LUA_OK, Some(report)) if report.stopped => Err(report),
                (LUA_OK, _) => match read_value(l, -1, cx) {
                    Ok(value) => Ok(value),
                    Err(words) => Err(Box::new(Report::of_words(words))),
                },
                (LUA_ERRMEM, _) => {
                    cx.collect_now(l);
                    Err(Box::new(Report::of_words(memory_words(cx))))
                }
                (_, Some(report)) => Err(report),
                (_, None) => {
                    let words = super::report::error_words(l, -1, cx);
                    let words = super::hint::overflow_without_place(&words).unwrap_or(words);
                    Err(Box::new(Report::of_words(words)))
                }
            }
        };
        self.cx().memory.be_strict();
        outcome
    }

    /// Lets the collector work at the end of a frame.
    pub fn collect(&mut self) {
        let budget = self.engine().collection;
        // SAFETY: nothing runs in the state.
        unsafe { self.collector.frame(self.l, budget) }
    }

    /// Collects all garbage, where nobody notices.
    pub fn collect_all(&mut self) {
        // SAFETY: nothing runs in the state.
        unsafe { self.collector.full(self.l) }
    }

    /// Whether scripts get memory beyond their limit from now on.
    pub fn refuse_no_memory(&mut self, on: bool) {
        let memory = &self.cx().memory;
        match on {
            true => memory.be_lenient(),
            false => memory.be_strict(),
        }
    }

    /// Lua's memory is left to the system when this is dropped, for the process ends then: taking
    /// it apart object by object would be work for nothing.
    pub fn end_with_process(&mut self) {
        self.ends_with_process = true;
    }

    /// Collects everything after the start of a game, where the heap is large enough to be worth
    /// it: a small one waits for the frames, which have time for it, and the first picture comes
    /// earlier.
    pub fn collect_start(&mut self) {
        if self.cx().memory.used() >= START_HEAP {
            self.collect_all();
        }
    }

    /// How often each line of each file ran, since the last time that this was asked.
    pub fn line_hits(&mut self) -> Vec<(String, Vec<u64>)> {
        self.cx().lines.as_mut().map_or_else(Vec::new, |lines| lines.take())
    }

    /// How often each engine function was called: module, name, calls, fast calls, errors.
    pub fn usage(&mut self) -> Vec<(&'static str, &'static super::row::Func, [u64; 3])> {
        let cx = self.cx();
        let rows = cx.registered.iter().zip(&cx.fast_calls).filter(|(row, _)| !row.is_core);
        rows.map(|(row, fast)| (row.module, row.func, [row.calls, *fast as u64, row.errors]))
            .collect()
    }
}

/// Keeps the chunk on top of the stack, and with it every string in it: one that were collected, at
/// a time that hangs on what was compiled, and then made again would stand elsewhere in tables,
/// and `pairs` go through them in another order.
///
/// # Safety
/// `l` has room for two values, and a function on top.
unsafe fn keep_chunk(l: *mut lua_State, name: &str) {
    let name = CString::new(format!("engine.chunk {name}")).expect("no zero bytes");
    // SAFETY: as the caller promised.
    unsafe {
        lua_pushvalue(l, -1);
        lua_setfield(l, LUA_REGISTRYINDEX, name.as_ptr());
    }
}

/// Loads a text chunk; the words of a syntax error become the error's.
///
/// # Safety
/// `l` has room for one value.
unsafe fn load(l: *mut lua_State, name: &str, text: &str) -> Result<(), String> {
    let name = CString::new(name).map_err(|_| "a chunk's name has a zero byte".to_string())?;
    // SAFETY: as the caller promised.
    unsafe {
        super::load::load(l, &name, text.as_bytes()).map_err(|fault| match fault {
            Fault::Told => super::report::error_words(l, -1, Cx::of(l)),
            Fault::Refused(words) => words,
        })
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        // SAFETY: the watchdog lets go of the state before it is closed, and the state before the
        // context and the engine that its functions use.
        unsafe {
            self.cx().samples = None;
            self.cx().interrupt.close();
            if self.ends_with_process {
                // Nothing of Lua's runs any more that could ask for the context.
                drop(Box::from_raw((*self.cx).engine));
                drop(Box::from_raw(self.cx));
                return;
            }
            (*self.cx).memory.be_lenient();
            lua_close(self.l);
            drop(Box::from_raw((*self.cx).engine));
            drop(Box::from_raw(self.cx));
        }
    }
}

#[cfg(test)]
#[path = "vm_tests.rs"]
mod tests;
