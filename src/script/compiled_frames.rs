//! Locals of compiled functions, for error reports. When compiled code ends early, LuaJIT restores
//! the locals that are used later (kept_locals.rs); the others are not known any more. Reads
//! LuaJIT's own reflection (`jit.util`), runs no code of the game, and never raises.

use super::kept_locals::{self, Instruction, Slots};
use super::lua_variables::push_field;
use mlua::ffi::*;
use std::collections::{BTreeSet, HashSet};
use std::ffi::c_int;

/// The last number of a trace: the limit that lua/boot/core.lua sets.
const TRACES_MAX: usize = 16_000;
/// Number of free trace numbers after which no trace is expected: LuaJIT takes the lowest.
const MISSING_MAX: usize = 500;
/// Maximum number of calls of the reflection for one report. Above it, every function counts as
/// compiled.
const CALLS_MAX: usize = 2_000_000;
/// Maximum number of instructions of a function that are read. Above it, no local counts as kept.
const INSTRUCTIONS_MAX: usize = 20_000;
/// The type of a function's prototype, which only the reflection pushes.
const PROTOTYPE: c_int = 9;
/// Bytes of a prototype before its code: compiled code names functions by either address.
const PROTOTYPE_BYTES: usize = 104;
/// The type of addresses in a trace's instructions (`IRT_P64`), and the bits that hold the type.
const ADDRESS: i64 = 9;
const TYPE_BITS: i64 = 31;
/// The first number that is no constant in references to a trace's instructions.
const CONSTANTS_END: i64 = 0x8000;

/// The functions that compiled code runs, by the addresses of their prototypes.
#[derive(Default)]
pub struct CompiledFunctions {
    prototypes: HashSet<usize>,
    /// True if not everything could be read. Every function counts as compiled then.
    is_partial: bool,
}

/// The reflection library at a position of the stack.
struct Reflection {
    l: *mut lua_State,
    at: c_int,
    calls: usize,
}

impl Reflection {
    /// Pushes the library. Returns `None` if there is none.
    ///
    /// # Safety
    /// `l` is a live state with a few free slots; so it is for the other functions.
    unsafe fn push(l: *mut lua_State) -> Option<Reflection> {
        // SAFETY: as the caller promised; the registry's tables have no metamethods.
        unsafe {
            lua_getfield(l, LUA_REGISTRYINDEX, c"_PRELOAD".as_ptr());
            if lua_type(l, -1) != LUA_TTABLE {
                return None;
            }
            push_field(l, lua_gettop(l), "jit.util");
            let is_opened = lua_type(l, -1) == LUA_TFUNCTION && lua_pcall(l, 0, 1, 0) == LUA_OK;
            let is_library = is_opened && lua_type(l, -1) == LUA_TTABLE;
            is_library.then(|| Reflection { l, at: lua_gettop(l), calls: 0 })
        }
    }

    /// Returns false if this LuaJIT was built without a compiler.
    unsafe fn has_traces(&self) -> bool {
        // SAFETY: as for `push`; the value is popped again.
        unsafe {
            push_field(self.l, self.at, "tracesnap");
            let is_function = lua_type(self.l, -1) == LUA_TFUNCTION;
            lua_settop(self.l, -2);
            is_function
        }
    }

    /// Calls a function with a number or the value at `subject`, and a number. Pushes `results`
    /// values, and returns false if it raised or does not exist.
    unsafe fn call(&mut self, name: &str, subject: Subject, at: i64, results: c_int) -> bool {
        self.calls += 1;
        // SAFETY: as for `push`.
        unsafe {
            push_field(self.l, self.at, name);
            match subject {
                Subject::Trace(number) => lua_pushnumber(self.l, number as lua_Number),
                Subject::Function(function) => lua_pushvalue(self.l, function),
            }
            lua_pushnumber(self.l, at as lua_Number);
            self.calls <= CALLS_MAX && lua_pcall(self.l, 2, results, 0) == LUA_OK
        }
    }

    /// Returns the integer at a position of the stack, counted from its top.
    unsafe fn integer(&self, at: c_int) -> i64 {
        // SAFETY: as for `push`.
        unsafe { lua_tonumber(self.l, at) as i64 }
    }
}

#[derive(Clone, Copy)]
enum Subject {
    Trace(usize),
    Function(c_int),
}

impl CompiledFunctions {
    /// Reads which functions the existing traces run.
    ///
    /// # Safety
    /// `l` is a live state that can run.
    pub unsafe fn read(l: *mut lua_State) -> CompiledFunctions {
        let mut found = CompiledFunctions::default();
        // SAFETY: as the caller promised; the values are popped again.
        unsafe {
            let top = lua_gettop(l);
            if lua_checkstack(l, 16) != 0
                && let Some(mut reflection) = Reflection::push(l)
                && reflection.has_traces()
            {
                let mut known = HashSet::new();
                let mut missing = 0;
                for trace in 1..=TRACES_MAX {
                    match found.read_trace(&mut reflection, trace, &mut known) {
                        None => found.is_partial = true,
                        Some(false) => missing += 1,
                        Some(true) => missing = 0,
                    }
                    if found.is_partial || missing > MISSING_MAX {
                        break;
                    }
                }
            }
            lua_settop(l, top);
        }
        found
    }

    /// Adds the functions of a trace: those in its snapshots, and those whose prototypes it
    /// compares. Returns false if there is no such trace, and `None` if the reflection failed.
    unsafe fn read_trace(
        &mut self,
        reflection: &mut Reflection,
        trace: usize,
        known: &mut HashSet<usize>,
    ) -> Option<bool> {
        let trace = Subject::Trace(trace);
        let mut constants = BTreeSet::new();
        // SAFETY: as for `read`.
        unsafe {
            // Every trace has a snapshot, at its start.
            if !read_snapshots(reflection, trace, &mut constants)? {
                return Some(false);
            }
            read_instructions(reflection, trace, &mut constants)?;
            let top = lua_gettop(reflection.l);
            for constant in constants {
                if !reflection.call("tracek", trace, constant, 1) {
                    return None;
                }
                self.note(reflection, known)?;
                lua_settop(reflection.l, top);
            }
        }
        Some(true)
    }

    /// Adds the function that the constant on top of the stack is, if it is one.
    unsafe fn note(
        &mut self,
        reflection: &mut Reflection,
        known: &mut HashSet<usize>,
    ) -> Option<()> {
        let l = reflection.l;
        // SAFETY: as for `read`.
        unsafe {
            match lua_type(l, -1) {
                LUA_TFUNCTION if known.insert(lua_topointer(l, -1).addr()) => {
                    let address = prototype(reflection, lua_gettop(l))?;
                    self.prototypes.extend((address != 0).then_some(address));
                }
                PROTOTYPE => {
                    self.prototypes.insert(lua_topointer(l, -1).addr());
                }
                LUA_TNUMBER => {
                    let code = lua_tonumber(l, -1) as usize;
                    self.prototypes.extend(code.checked_sub(PROTOTYPE_BYTES));
                }
                _ => {}
            }
        }
        Some(())
    }

    /// Returns the slots of the function on top of the stack whose values are known after `line`;
    /// `None` if it was not compiled, so that all are.
    ///
    /// # Safety
    /// `l` is a live state that can run, with a function of Lua on top.
    pub unsafe fn kept(&self, l: *mut lua_State, line: c_int) -> Option<Slots> {
        // SAFETY: as the caller promised; the values are popped again.
        unsafe {
            let function = lua_gettop(l);
            let kept = match (lua_checkstack(l, 16) != 0).then(|| Reflection::push(l)).flatten() {
                Some(mut reflection) => self.kept_of(&mut reflection, function, line),
                None => None,
            };
            lua_settop(l, function);
            kept
        }
    }

    unsafe fn kept_of(
        &self,
        reflection: &mut Reflection,
        function: c_int,
        line: c_int,
    ) -> Option<Slots> {
        // SAFETY: as for `kept`.
        unsafe {
            // If one of them cannot be read, no local counts as kept.
            let Some(address) = prototype(reflection, function) else {
                return Some(Slots::default());
            };
            let Some(mut code) = code(reflection, function) else { return Some(Slots::default()) };
            let is_compiled = self.is_partial
                || self.prototypes.contains(&address)
                || kept_locals::begins_trace(&code);
            if !is_compiled {
                return None;
            }
            // Without lines, no local counts as kept.
            if !add_lines(reflection, function, &mut code) {
                code.clear();
            }
            Some(kept_locals::kept_after(&code, line.try_into().unwrap_or_default()))
        }
    }
}

/// Adds the constants in a trace's snapshots. Returns false if there is none.
unsafe fn read_snapshots(
    reflection: &mut Reflection,
    trace: Subject,
    constants: &mut BTreeSet<i64>,
) -> Option<bool> {
    let l = reflection.l;
    // SAFETY: as for `CompiledFunctions::read`.
    unsafe {
        let top = lua_gettop(l);
        for snapshot in 0.. {
            if !reflection.call("tracesnap", trace, snapshot, 1) {
                return None;
            }
            if lua_type(l, -1) != LUA_TTABLE {
                lua_settop(l, top);
                return Some(snapshot > 0);
            }
            for i in 2..=lua_objlen(l, -1) {
                lua_rawgeti(l, -1, i as _);
                let reference = (reflection.integer(-1) & 0xffff) - CONSTANTS_END;
                lua_settop(l, -2);
                constants.extend((reference < 0).then_some(reference));
            }
            lua_settop(l, top);
        }
    }
    None
}

/// Adds the constant addresses that a trace's instructions use.
unsafe fn read_instructions(
    reflection: &mut Reflection,
    trace: Subject,
    constants: &mut BTreeSet<i64>,
) -> Option<()> {
    let l = reflection.l;
    // SAFETY: as for `CompiledFunctions::read`.
    unsafe {
        let top = lua_gettop(l);
        for instruction in 0.. {
            if !reflection.call("traceir", trace, instruction, 4) {
                return None;
            }
            if lua_type(l, -1) == LUA_TNIL {
                lua_settop(l, top);
                return Some(());
            }
            if reflection.integer(-3) & TYPE_BITS == ADDRESS {
                let mode = reflection.integer(-4);
                let (first, second) = (reflection.integer(-2), reflection.integer(-1));
                constants.extend((mode & 3 == 0 && first < 0).then_some(first));
                constants.extend((mode & 12 == 0 && second < 0).then_some(second));
            }
            lua_settop(l, top);
        }
    }
    None
}

/// Returns the address of the prototype of the function at a position; 0 for native functions, and
/// `None` if the reflection failed.
unsafe fn prototype(reflection: &mut Reflection, function: c_int) -> Option<usize> {
    let l = reflection.l;
    // SAFETY: as for `CompiledFunctions::read`.
    unsafe {
        let top = lua_gettop(l);
        let mut address = None;
        if reflection.call("funcinfo", Subject::Function(function), 0, 1) {
            push_field(l, lua_gettop(l), "proto");
            let is_prototype = lua_type(l, -1) == PROTOTYPE;
            address = Some(if is_prototype { lua_topointer(l, -1).addr() } else { 0 });
        }
        lua_settop(l, top);
        address
    }
}

/// Returns the code of the function at a position of the stack, without lines; `None` if it is too
/// long or could not be read.
unsafe fn code(reflection: &mut Reflection, function: c_int) -> Option<Vec<Instruction>> {
    let l = reflection.l;
    let mut code = Vec::new();
    // SAFETY: as for `CompiledFunctions::read`.
    unsafe {
        let top = lua_gettop(l);
        while code.len() < INSTRUCTIONS_MAX {
            let at = code.len() as i64;
            if !reflection.call("funcbc", Subject::Function(function), at, 2) {
                break;
            }
            let is_end = lua_type(l, -1) == LUA_TNIL;
            let (bits, mode) = (reflection.integer(-2) as u32, reflection.integer(-1) as u32);
            lua_settop(l, top);
            if is_end {
                return Some(code);
            }
            code.push(Instruction { bits, mode, line: 0 });
        }
        lua_settop(l, top);
    }
    None
}

/// Sets the line of each instruction. Returns false if they could not be read.
unsafe fn add_lines(
    reflection: &mut Reflection,
    function: c_int,
    code: &mut [Instruction],
) -> bool {
    let l = reflection.l;
    // SAFETY: as for `CompiledFunctions::read`.
    unsafe {
        let top = lua_gettop(l);
        for (at, instruction) in (0..).zip(code) {
            if !reflection.call("funcinfo", Subject::Function(function), at, 1) {
                lua_settop(l, top);
                return false;
            }
            push_field(l, lua_gettop(l), "currentline");
            instruction.line = reflection.integer(-1) as u32;
            lua_settop(l, top);
        }
    }
    true
}
