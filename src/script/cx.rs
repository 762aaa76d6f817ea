//! The context that every native entry works in, and the dispatcher of calls from Lua. One per VM,
//! at a fixed address, found from any of its Lua states.

use super::ctypes::Ctypes;
use super::describe;
use super::heap::Marks;
use super::interrupt::Interrupt;
use super::layout;
use super::lines::LineHits;
use super::memory::Memory;
use super::report::Report;
use super::row::Func;
use super::sampler::Samples;
use super::vm::Work;
use crate::engine::Engine;
use crate::foundation::Error;
use crate::foundation::memory::{Owner, limit};
use crate::resource::bundle::Bytes;
use mlua::ffi::*;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::Arc;

/// What the native entries of one VM share.
pub struct Cx {
    /// Lua's memory, shared with the allocator.
    pub memory: Rc<Memory>,
    /// Set by a fast form that refuses; the checked form then words the error.
    pub fault: u32,
    /// Where fast forms leave vectors.
    pub scratch: [f32; SCRATCH],
    /// The engine, alive as long as the VM. Borrowed only while a call of Lua's is served.
    pub engine: *mut Engine,
    /// Every function that scripts can call, with how often each was used.
    /// Closures hold the addresses of the rows, so there is room for all of them from the start.
    pub registered: Vec<Registered>,
    /// How often each fast form was called, counted in coverage runs only. As `registered`.
    pub fast_calls: Vec<f64>,
    /// The value types that native code reads.
    pub ctypes: Ctypes,
    /// Who may stop the running script.
    pub interrupt: Arc<Interrupt>,
    /// A panic inside a fast form, to be told by the checked form.
    pub panic: Option<String>,
    /// The words of the error that an engine function returned last, and its contexts.
    pub error_contexts: Option<(String, Vec<String>)>,
    /// The report of the error being handled, made where it was raised.
    pub report: Option<Box<Report>>,
    /// The words of the last fault of the engine's own in a call.
    pub engine_fault: Option<String>,
    /// The words of the error that the hook raised last.
    pub interrupted: Option<String>,
    /// Where the native stack is nearly full: the least address that scripts may lead to.
    pub stack_floor: usize,
    /// The text of every file's chunk, by its name, for the source lines in stacks.
    pub sources: HashMap<String, Bytes>,
    /// The same of strings that were loaded; where a name is in both, it is the file's.
    pub loaded: LoadedTexts,
    /// The state of the running call.
    pub caller: *mut lua_State,
    /// The VM's first state.
    pub main: *mut lua_State,
    /// Whether a changed file is on its trial run: functions with effects are refused.
    pub reloading: bool,
    /// Whether the engine was found to hold more than its limit and the reserve beyond it:
    /// functions are refused that may need more.
    pub reserve_used: bool,
    /// Whether either is so; see [`Cx::restrict`].
    pub restricted: bool,
    /// What the walk over the heap has seen, between its two halves.
    pub marks: Option<Marks>,
    /// The words of the error that the running call ended in.
    pub words: String,
    /// How often each line ran, where that is counted.
    pub lines: Option<Box<LineHits>>,
    /// Where scripts were met, while that is asked for.
    pub samples: Option<Box<Samples>>,
    /// Whether this VM runs a worker.
    pub worker: bool,
}

/// How many bytes of loaded strings are kept.
pub const LOADED_BYTES_MAX: usize = 8 << 20;
/// What a kept string costs beside its bytes, at least.
const LOADED_ENTRY_BYTES: usize = 64;

/// The texts of the strings that a game loaded under names of their own.
#[derive(Default)]
pub struct LoadedTexts {
    texts: HashMap<String, String>,
    bytes: usize,
}

impl LoadedTexts {
    /// Keeps a text in place of the one before, where there is room.
    pub fn note(&mut self, chunk: String, text: String) {
        let cost = |text: &str| chunk.len() + text.len() + LOADED_ENTRY_BYTES;
        // Also where the new one cannot be kept: its lines are not those of the old one.
        if let Some(before) = self.texts.remove(&chunk) {
            self.bytes -= cost(&before);
        }
        let bytes = self.bytes.saturating_add(cost(&text));
        if bytes <= LOADED_BYTES_MAX {
            self.bytes = bytes;
            self.texts.insert(chunk, text);
        }
    }

    /// The text of a chunk, where it is kept.
    pub fn get(&self, chunk: &str) -> Option<&str> {
        self.texts.get(chunk).map(String::as_str)
    }

    /// What they take together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// One function that was given to Lua.
pub struct Registered {
    /// The context that it works in.
    pub cx: *mut Cx,
    pub module: &'static str,
    pub func: &'static Func,
    /// Whether the prelude alone can call it.
    pub is_core: bool,
    /// Whose the memory is that it makes.
    pub owner: u8,
    pub calls: u64,
    pub errors: u64,
}

thread_local! {
    static CURRENT: Cell<*mut Cx> = const { Cell::new(null_mut()) };
    /// The memory of the same VM. Blocks of the engine's grow while the context is borrowed.
    static CURRENT_MEMORY: Cell<*const Memory> = const { Cell::new(null()) };
}

/// Where the floats of arguments stand in [`Cx::scratch`], behind those of a result; each argument
/// has room for a vector.
pub const GIVEN: usize = 16;
pub const GIVEN_FLOATS: usize = 4;
const SCRATCH: usize = GIVEN + 8 * GIVEN_FLOATS;

impl Cx {
    /// Empty room for floats that cross.
    pub const fn scratch() -> [f32; SCRATCH] {
        [0.0; SCRATCH]
    }
}

/// The script line that called the engine, as `main.lua:12`; empty outside of a call.
pub fn place() -> String {
    let cx = CURRENT.get();
    if cx.is_null() {
        return String::new();
    }
    // SAFETY: `CURRENT` is set only while that VM runs, and its caller while a call is served.
    unsafe {
        match (*cx).caller.is_null() {
            true => String::new(),
            false => describe::place((*cx).caller).unwrap_or_default(),
        }
    }
}

/// The growth hook of the engine's memory ([`limit::set_growth_hook`]): the VM that this thread
/// runs looks at the limit. Allocates nothing.
pub fn engine_memory_grew() {
    // SAFETY: set only while that VM runs; its memory lies outside of the context, and is only
    // ever shared.
    if let Some(memory) = unsafe { CURRENT_MEMORY.get().as_ref() } {
        memory.look_at_engine();
    }
}

/// Says which VM this thread runs until the value is dropped: the one whose calls [`place`] is
/// asked for.
pub struct Running(*mut Cx, *const Memory);

impl Running {
    /// # Safety
    /// The context lives longer than the value.
    pub unsafe fn begin(cx: *mut Cx) -> Running {
        // SAFETY: as the caller promised.
        let memory = unsafe { Rc::as_ptr(&(*cx).memory) };
        Running(CURRENT.replace(cx), CURRENT_MEMORY.replace(memory))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        CURRENT.set(self.0);
        CURRENT_MEMORY.set(self.1);
    }
}

impl Cx {
    /// The context of a state.
    ///
    /// # Safety
    /// The state must belong to a VM made by vm.rs.
    pub unsafe fn of<'a>(l: *mut lua_State) -> &'a mut Cx {
        let mut user: *mut c_void = null_mut();
        // SAFETY: vm.rs gives the allocator the memory, and the memory the context.
        unsafe {
            lua_getallocf(l, &mut user);
            &mut *(*(user as *const Memory)).context.get()
        }
    }

    /// What the scripts did since the VM was made.
    pub fn work(&self) -> Work {
        let (allocated_bytes, allocations) = self.memory.made();
        let calls = self.registered.iter().map(|row| row.calls).sum::<u64>();
        let fast = self.fast_calls.iter().sum::<f64>() as u64;
        Work { allocated_bytes, allocations, engine_calls: calls + fast }
    }

    /// Collects all garbage, and leaves the collector as it was: at rest, but for a worker's.
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

    /// Runs a fast form: a panic, or `None`, leaves the fault flag for the checked form, which also
    /// decides what is allowed while a file is reloaded.
    #[inline(always)]
    pub fn guarded<R: Default>(&mut self, f: impl FnOnce(&mut Cx) -> Option<R>) -> R {
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
                self.panic = Some(crate::foundation::fault::take_panic());
                R::default()
            }
        }
    }

    /// Keeps the contexts of an error that a script is about to see, and gives its words.
    pub fn keep_contexts(&mut self, error: Error) -> String {
        if error.is_fault {
            self.engine_fault = Some(error.message.clone());
        }
        self.error_contexts = Some((error.message.clone(), error.contexts));
        error.message
    }

    /// Leaves the words of the error that a call ends in.
    #[cold]
    pub fn failed(&mut self, words: String) -> c_int {
        self.words = words;
        FAILED
    }

    /// The same of a fault of the engine's own.
    #[cold]
    fn failed_itself(&mut self, words: String) -> c_int {
        self.engine_fault = Some(words.clone());
        self.failed(words)
    }

    /// Serves one call: the number of results, or [`FAILED`].
    #[inline(always)]
    unsafe fn serve(&mut self, l: *mut lua_State, func: &'static Func) -> c_int {
        // SAFETY: `l` is the state of the running call.
        unsafe {
            let usual = !self.restricted && self.panic.is_none() && !func.boxed;
            if (!usual || layout::given(l) > func.params.len()) && !self.prepare(l, func) {
                return FAILED;
            }
            match catch_unwind(AssertUnwindSafe(|| (func.call)(l, self, func))) {
                Ok(count) => count,
                Err(_) => self.failed_itself(crate::foundation::fault::take_panic()),
            }
        }
    }

    /// Sets what is restricted, after one of its reasons has changed.
    pub fn restrict(&mut self) {
        self.restricted = self.reloading || self.reserve_used;
    }

    /// Looks at the reserve beyond the engine's memory limit: whether it is used up.
    pub fn is_full(&mut self) -> bool {
        self.reserve_used = limit::is_reserve_used();
        self.restrict();
        self.reserve_used
    }

    /// Whether a call can be served that is not one of a few plain values at a usual time; its
    /// error is left where it cannot.
    #[inline(never)]
    unsafe fn prepare(&mut self, l: *mut lua_State, func: &'static Func) -> bool {
        if let Some(words) = self.panic.take() {
            self.failed_itself(words);
            return false;
        }
        if self.reloading && !func.pure {
            self.failed(REFUSED_WHILE_RELOADING.to_string());
            return false;
        }
        if self.reserve_used && !func.pure && !func.when_full && self.is_full() {
            self.failed(limit::over_message());
            return false;
        }
        // SAFETY: `l` is the state of the running call.
        unsafe {
            let (given, takes) = (layout::given(l), func.params.len());
            if given > takes && !func.types.last().is_some_and(|last| last.rest) {
                let extra = (takes + 1..=given).any(|i| lua_type(l, i as c_int) != LUA_TNIL);
                if extra {
                    let plural = if takes == 1 { "" } else { "s" };
                    self.failed(format!("takes {takes} argument{plural}, got {given}"));
                    return false;
                }
            }
            if func.boxed && lua_checkstack(l, 32) == 0 {
                self.failed("the Lua stack is full".into());
                return false;
            }
        }
        true
    }

    /// Pushes the words of the error that a call of this function ended in, with place and name.
    #[cold]
    unsafe fn push_error(&mut self, l: *mut lua_State, row: &mut Registered) {
        let words = std::mem::take(&mut self.words);
        row.errors += 1;
        // SAFETY: `l` is the state of the running call, in which allocation cannot fail.
        unsafe {
            let place = describe::place(l).map(|place| place + ": ").unwrap_or_default();
            let text = match row.func.told {
                Some(public) => format!("{place}{public}: {words}"),
                None => format!("{place}{}.{}: {words}", row.module, row.func.name),
            };
            lua_pushlstring(l, text.as_ptr() as *const _, text.len());
        }
    }
}

/// Why the trial run of a changed file cannot call a function; its name stands before this.
pub const REFUSED_WHILE_RELOADING: &str = "not while reloading: this changes the engine, and a \
    file's top level runs again at each reload: move it into a function such as init()";

/// What an entry returns where the call ends in an error, whose words are in [`Cx::words`].
pub const FAILED: c_int = -1;

/// Called from C, which raises the error that is on the stack when this returns -1.
///
/// # Safety
/// Called by Lua only, through `script_entry`, whose first upvalue is the address of a row.
#[unsafe(no_mangle)]
unsafe extern "C" fn script_call(l: *mut lua_State) -> c_int {
    // SAFETY: the closure was made by vm.rs; its state belongs to a VM of ours.
    unsafe {
        // The upvalue is the address of the row, which leads to the context, too.
        let row = layout::upvalue(l) as *mut Registered;
        let cx = &mut *(*row).cx;
        let outer = cx.caller;
        cx.caller = l;
        cx.fault = 0;
        cx.memory.be_lenient();
        (*row).calls += 1;
        // What is called most often makes none, or little.
        let owner = (*row).func.fast.is_none().then(|| Owner::enter((*row).owner));
        let before = (owner.is_some() && limit::is_over()).then(limit::held);
        let result = cx.serve(l, (*row).func);
        // Blocks of other threads that worked for this call have not told this one.
        if owner.is_some() && limit::is_over() {
            match (*row).func.when_full {
                true => cx.memory.engine.forgive(before),
                false => cx.memory.look_after_call(before),
            }
        }
        drop(owner);
        if result == FAILED {
            cx.push_error(l, &mut *row);
        }
        cx.memory.be_strict();
        cx.caller = outer;
        result
    }
}
