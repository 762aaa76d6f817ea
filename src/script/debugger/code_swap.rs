//! Exchanges the code of functions in place: every function of a chunk gets the code of its
//! counterpart in another version of the chunk's text, and stays the same object with the same
//! upvalues. Functions that are running, also in suspended coroutines, keep their code.
//!
//! Two versions differ only by calls that breakpoints insert (lua/debug/breakpoints.lua), so their
//! functions form the same tree, and each has the same parameters and upvalues in both. The order
//! of the upvalues is that of their first use, and an inserted call may use one earlier: the
//! upvalues of a function are put in the order of its new code. This is compared before anything is
//! changed. LuaJIT's version is pinned by Cargo.lock; `is_known` compares the layout with values
//! that are known from Lua's C interface.

use super::super::context::ScriptContext;
use super::super::luajit_layout::{self, STRING_TEXT};
use mlua::ffi::*;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

/// Type numbers of objects in the collector's list.
pub const THREAD: u8 = 6;
const PROTOTYPE: u8 = 7;
const FUNCTION: u8 = 8;
/// The value that distinguishes a Lua function from a native one.
const OF_LUA: u8 = 0;
/// Maximum depth of nested functions, that of LuaJIT's parser.
const DEPTH_MAX: usize = 200;
/// Maximum number of stack levels of a coroutine that are searched for running functions: Lua's
/// stack has no more.
const LEVELS_MAX: c_int = 200_000;
/// Flags of a prototype that do not change while it is used: children, varargs, FFI constants.
const LASTING_FLAGS: u8 = 0x07;

/// The first fields of every object.
#[repr(C)]
pub struct RawObject {
    next: *const RawObject,
    pub marked: u8,
    pub kind: u8,
}

/// The first fields of LuaJIT's `GCfunc`.
#[repr(C)]
struct RawFunction {
    next: *const RawObject,
    marked: u8,
    kind: u8,
    variant: u8,
    upvalues: u8,
    environment: *const u8,
    gray: *const u8,
    code: *const u32,
}

/// LuaJIT's `GCproto`. The code follows it.
#[repr(C)]
struct RawPrototype {
    next: *const RawObject,
    marked: u8,
    kind: u8,
    parameters: u8,
    frame_size: u8,
    code_size: u32,
    unused: u32,
    gray: *const u8,
    constants: *const u64,
    upvalues: *const u16,
    object_constants: u32,
    number_constants: u32,
    bytes: u32,
    upvalue_count: u8,
    flags: u8,
    trace: u16,
    chunk: *const u8,
    first_line: u32,
    line_count: u32,
    debug: [*const u8; 3],
}

const _: () = {
    assert!(size_of::<RawPrototype>() == 104);
    assert!(std::mem::offset_of!(RawPrototype, constants) == 32);
    assert!(std::mem::offset_of!(RawPrototype, upvalue_count) == 60);
    assert!(std::mem::offset_of!(RawPrototype, first_line) == 72);
    assert!(std::mem::offset_of!(RawFunction, code) == 32);
};

/// A prototype. It is alive as long as a function that leads to it.
#[derive(Clone, Copy, PartialEq)]
pub struct Prototype(*const RawPrototype);

impl Prototype {
    unsafe fn of_function(function: *const RawFunction) -> Prototype {
        // SAFETY: a Lua function's code follows its prototype.
        unsafe { Prototype((*function).code.cast::<RawPrototype>().sub(1)) }
    }

    /// Returns the instructions.
    pub fn code(self) -> *const u32 {
        // The code follows the prototype.
        self.0.wrapping_add(1).cast()
    }

    /// Returns the number of instructions.
    ///
    /// # Safety
    /// The prototype is alive, as for the functions below.
    pub unsafe fn code_size(self) -> usize {
        // SAFETY: as the caller promised.
        unsafe { (*self.0).code_size as usize }
    }

    /// Returns the names and ranges of the local variables, as LuaJIT stores them.
    ///
    /// # Safety
    /// As for `code_size`.
    pub unsafe fn variable_bytes(self) -> *const u8 {
        // SAFETY: as the caller promised.
        unsafe { (*self.0).debug[2] }
    }

    /// Returns the line of an instruction other than the first.
    ///
    /// # Safety
    /// As for `code_size`; the instruction exists.
    pub unsafe fn line(self, at: usize) -> usize {
        // SAFETY: as the caller promised; each instruction has an entry of this size.
        unsafe {
            let (raw, at) = (&*self.0, at - 1);
            let lines = raw.debug[0];
            let distance = match raw.line_count {
                _ if lines.is_null() => return 0,
                0..0x100 => lines.add(at).read() as usize,
                0x100..0x1_0000 => lines.cast::<u16>().add(at).read() as usize,
                _ => lines.cast::<u32>().add(at).read() as usize,
            };
            raw.first_line as usize + distance
        }
    }

    unsafe fn chunk<'a>(self) -> &'a CStr {
        // SAFETY: the chunk's name is a Lua string with a zero byte.
        unsafe { CStr::from_ptr((*self.0).chunk.add(STRING_TEXT).cast()) }
    }

    /// Returns the object constants, the last one first.
    ///
    /// # Safety
    /// As for `code_size`.
    pub unsafe fn objects<'a>(self) -> &'a [*const RawObject] {
        // SAFETY: they are right before the numbers.
        unsafe {
            let count = (*self.0).object_constants as usize;
            let first = (*self.0).constants.cast::<*const RawObject>().sub(count);
            std::slice::from_raw_parts(first, count)
        }
    }

    /// Appends this function and those inside of it, in the order of the text.
    unsafe fn collect(self, depth: usize, parent: usize, found: &mut Vec<VersionFunction>) {
        let own = found.len();
        found.push(VersionFunction { prototype: self, parent });
        if depth == DEPTH_MAX {
            return;
        }
        // SAFETY: constants that are prototypes are alive with this one.
        unsafe {
            for object in self.objects().iter().rev() {
                if (**object).kind == PROTOTYPE {
                    Prototype(object.cast()).collect(depth + 1, own, found);
                }
            }
        }
    }

    /// Returns where the function that creates this one finds each upvalue: with `OF_PARENT` in a
    /// slot of its stack, without it among its own upvalues.
    unsafe fn upvalues<'a>(self) -> &'a [u16] {
        // SAFETY: the prototype is alive.
        unsafe {
            let count = (*self.0).upvalue_count as usize;
            std::slice::from_raw_parts((*self.0).upvalues, count)
        }
    }

    /// Returns true if functions of both prototypes can exchange their code, apart from the order
    /// of upvalues.
    unsafe fn is_alike(self, other: Prototype) -> bool {
        // SAFETY: both are alive.
        let (a, b) = unsafe { (&*self.0, &*other.0) };
        a.upvalue_count == b.upvalue_count
            && a.parameters == b.parameters
            && (a.first_line, a.line_count) == (b.first_line, b.line_count)
            && (a.flags ^ b.flags) & 0x02 == 0
    }

    /// Returns true if both prototypes have the same upvalues in the same order, and the same
    /// parameters.
    unsafe fn is_exchangeable(self, other: Prototype) -> bool {
        // SAFETY: both are alive.
        unsafe { self.is_alike(other) && self.upvalues() == other.upvalues() }
    }

    /// Returns true if the two have the same code. Opcodes are not compared, because LuaJIT
    /// replaces some of them while a function runs, with some operands.
    ///
    /// # Safety
    /// Both are alive.
    pub unsafe fn is_same_code(self, other: Prototype) -> bool {
        // SAFETY: both are alive; sizes are compared before anything of that size is read.
        unsafe {
            let (a, b) = (&*self.0, &*other.0);
            if !self.is_exchangeable(other)
                || a.code_size != b.code_size
                || a.frame_size != b.frame_size
                || a.object_constants != b.object_constants
                || a.number_constants != b.number_constants
                || (a.flags ^ b.flags) & LASTING_FLAGS != 0
            {
                return false;
            }
            let size = a.code_size as usize;
            // The first instruction is the function's header.
            let code = (1..size).all(|i| {
                is_same_instruction(self.code().add(i).read(), other.code().add(i).read())
            });
            let numbers = (0..a.number_constants as usize)
                .all(|i| a.constants.add(i).read() == b.constants.add(i).read());
            let objects = self
                .objects()
                .iter()
                .zip(other.objects())
                .all(|(a, b)| a == b || ((**a).kind == (**b).kind && (**a).kind != STRING));
            code && numbers && objects
        }
    }
}

/// Instructions that LuaJIT has replaced for compiled code.
const JFORL: u32 = 81;
const JITERL: u32 = 84;
const JLOOP: u32 = 87;

/// Compares the operands of two instructions. Compiled code has its number in some of them.
fn is_same_instruction(a: u32, b: u32) -> bool {
    let is_any = |codes: &[u32]| codes.contains(&(a & 0xff)) || codes.contains(&(b & 0xff));
    // This one takes the place of the whole instruction at which compiled code begins.
    let is_replaced = is_any(&[JLOOP]);
    let has_same_slot = is_any(&[JFORL, JITERL]) && a >> 8 & 0xff == b >> 8 & 0xff;
    is_replaced || has_same_slot || a >> 8 == b >> 8
}

/// Type number of a string. Strings with the same text are the same object.
pub const STRING: u8 = 4;
/// The bit of an upvalue that is a local of the function that creates the closure.
const OF_PARENT: u16 = 0x8000;

/// A function of one version of a chunk.
#[derive(Clone, Copy)]
pub struct VersionFunction {
    pub prototype: Prototype,
    /// Index of the function around it. That of the main function is its own.
    parent: usize,
}

/// Returns for each function of the version `new` the positions of its upvalues in the version
/// `old`; `None` for functions that cannot exchange their code.
unsafe fn upvalue_orders(
    old: &[VersionFunction],
    new: &[VersionFunction],
) -> Vec<Option<Vec<usize>>> {
    let mut orders: Vec<Option<Vec<usize>>> = Vec::with_capacity(new.len());
    for (from, to) in old.iter().zip(new) {
        // A function follows the one around it.
        let outer: Option<Vec<usize>> = orders.get(to.parent).cloned().flatten();
        // SAFETY: both versions are alive.
        let order = unsafe {
            let before = from.prototype.upvalues();
            let position = |upvalue: &u16| {
                let wanted = match upvalue & OF_PARENT {
                    0 => *outer.as_ref()?.get(usize::from(*upvalue))? as u16,
                    _ => *upvalue,
                };
                before.iter().position(|known| *known == wanted)
            };
            let alike = from.parent == to.parent && from.prototype.is_alike(to.prototype);
            alike.then(|| to.prototype.upvalues().iter().map(position).collect()).flatten()
        };
        orders.push(order);
    }
    orders
}

/// Gives a function the code of a prototype, and puts its upvalues in the order of that code.
unsafe fn give_code(function: *const RawFunction, code: *const u32, order: &[usize]) {
    // SAFETY: the caller has checked that the function has these upvalues, which follow its fields.
    unsafe {
        let upvalues = function.add(1).cast_mut().cast::<u64>();
        let before: Vec<u64> = (0..order.len()).map(|n| upvalues.add(n).read()).collect();
        for (n, from) in order.iter().enumerate() {
            upvalues.add(n).write(before[*from]);
        }
        (*function.cast_mut()).code = code;
    }
}

/// The result of an exchange.
#[derive(Default)]
struct Exchange {
    exchanged: usize,
    /// Running functions, which keep their code.
    running: Vec<*const RawFunction>,
}

/// The functions of one version of a chunk, in the order of the text, from its main function at
/// `i`.
///
/// # Safety
/// `l` is a live state with a Lua function at `i`.
pub unsafe fn functions_of(l: *mut lua_State, i: c_int) -> Vec<VersionFunction> {
    let mut found = Vec::new();
    // SAFETY: the prelude passes a main function.
    unsafe {
        let function = lua_topointer(l, i).cast::<RawFunction>();
        Prototype::of_function(function).collect(0, 0, &mut found);
    }
    found
}

/// Returns the prototype of the function at an index of the stack.
///
/// # Safety
/// `l` is a live state with a Lua function at `i`.
pub unsafe fn function_at(l: *mut lua_State, i: c_int) -> Prototype {
    // SAFETY: as the caller promised.
    unsafe { Prototype::of_function(lua_topointer(l, i).cast()) }
}

/// Returns the functions that run in any coroutine.
unsafe fn running_functions(l: *mut lua_State) -> HashSet<*const RawFunction> {
    let mut running = HashSet::new();
    // SAFETY: the list has live objects, because a full collection was finished.
    unsafe {
        each_object(l, |object| {
            if (*object).kind != THREAD {
                return;
            }
            let thread = object.cast::<lua_State>().cast_mut();
            // What has died of an error is kept for its report, and never runs again.
            if lua_status(thread) > LUA_YIELD {
                return;
            }
            for level in 0..LEVELS_MAX {
                let mut ar = MaybeUninit::<lua_Debug>::zeroed();
                if lua_getstack(thread, level, ar.as_mut_ptr()) == 0 {
                    break;
                }
                lua_getinfo(thread, c"f".as_ptr(), ar.as_mut_ptr());
                running.insert(lua_topointer(thread, -1).cast());
                lua_settop(thread, -2);
            }
        });
    }
    running
}

/// Calls `each` for every object of the collector.
///
/// # Safety
/// `l` is a live state; `each` creates no object, and leaves those alone that wait to be swept.
pub unsafe fn each_object(l: *mut lua_State, mut each: impl FnMut(*const RawObject)) {
    // SAFETY: as the caller promised: the list is not changed meanwhile.
    unsafe {
        let mut object = luajit_layout::first_object(l).cast::<RawObject>();
        while !object.is_null() {
            each(object);
            object = (*object).next;
        }
    }
}

/// Gives every function of a chunk its code in the version `target`.
unsafe fn exchange(
    l: *mut lua_State,
    chunk: &CStr,
    versions: &[Vec<VersionFunction>],
    target: &[VersionFunction],
) -> Exchange {
    let mut result = Exchange::default();
    let versions: Vec<&Vec<VersionFunction>> =
        versions.iter().filter(|version| version.len() == target.len()).collect();
    // The version and the position of each prototype.
    let mut known = HashMap::new();
    for (number, version) in versions.iter().enumerate() {
        known.extend(version.iter().enumerate().map(|(i, it)| (it.prototype.0, (number, i))));
    }
    // SAFETY: no object is created or freed meanwhile, and running functions are left alone.
    unsafe {
        let orders: Vec<_> =
            versions.iter().map(|version| upvalue_orders(version, target)).collect();
        // Prototypes of the text as it was loaded, before the debugger compiled it again.
        let mut found: HashMap<*const RawPrototype, Option<(usize, usize)>> = HashMap::new();
        let same_code = |own: Prototype| {
            versions.iter().enumerate().find_map(|(number, version)| {
                let is_same = |i: &usize| version[*i].prototype.is_same_code(own);
                let mut same = (0..version.len()).filter(is_same);
                same.next().filter(|_| same.next().is_none()).map(|i| (number, i))
            })
        };
        let running = running_functions(l);
        each_object(l, |object| {
            let function = object.cast::<RawFunction>();
            if (*object).kind != FUNCTION || (*function).variant != OF_LUA {
                return;
            }
            let own = Prototype::of_function(function);
            if own.chunk() != chunk {
                return;
            }
            let found_at = known
                .get(&own.0)
                .copied()
                .or_else(|| *found.entry(own.0).or_insert_with(|| same_code(own)));
            let Some((version, i)) = found_at else { return };
            let new = target[i].prototype;
            let Some(order) = orders[version][i].as_ref().filter(|_| own != new) else { return };
            if running.contains(&function) {
                result.running.push(function);
            } else if i != 0 {
                // Main functions stay: those of `versions` say which code belongs together.
                give_code(function, new.code(), order);
                result.exchanged += 1;
            }
        });
    }
    result
}

/// Returns true if the functions of two versions, whose main functions are at `a` and `b`, can
/// exchange their code.
unsafe fn can_exchange(l: *mut lua_State, a: c_int, b: c_int) -> bool {
    // SAFETY: the prelude passes main functions.
    unsafe {
        let (a, b) = (functions_of(l, a), functions_of(l, b));
        a.len() == b.len() && upvalue_orders(&a, &b).iter().all(Option::is_some)
    }
}

/// `debug_fits(plain, changed)`: returns true if the functions of both versions can exchange their
/// code.
pub unsafe extern "C-unwind" fn debug_fits(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two main functions.
    unsafe {
        let fits = can_exchange(l, 1, 2);
        lua_pushboolean(l, c_int::from(fits));
    }
    1
}

/// `debug_replace(function, other)`: gives a Lua function the code of another one, which has at
/// most as many upvalues and uses them in the same order. Compiled code must have been discarded
/// before. Returns false if the function runs, and keeps its code.
pub unsafe extern "C-unwind" fn debug_replace(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two Lua functions. The collector has ended a cycle, as in
    // `debug_exchange`.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.collect_now(l);
        lua_checkstack(l, 20);
        let function = lua_topointer(l, 1).cast::<RawFunction>();
        let other = lua_topointer(l, 2).cast::<RawFunction>();
        let is_free = !running_functions(l).contains(&function);
        if is_free {
            (*function.cast_mut()).code = (*other).code;
        }
        lua_pushboolean(l, c_int::from(is_free));
    }
    1
}

/// Adds the addresses of the code of all functions of a version, whose main function is at `i`.
///
/// # Safety
/// `l` is a live state, and a Lua function at `i`.
pub unsafe fn collect_code(l: *mut lua_State, i: c_int, found: &mut HashSet<usize>) {
    // SAFETY: as the caller promised.
    let functions = unsafe { functions_of(l, i) };
    found.extend(functions.iter().map(|function| function.prototype.code().addr()));
}

/// Returns the address of the code of the Lua function at `i`.
///
/// # Safety
/// As for [`collect_code`].
pub unsafe fn code_address(l: *mut lua_State, i: c_int) -> usize {
    // SAFETY: as the caller promised.
    unsafe { (*lua_topointer(l, i).cast::<RawFunction>()).code.addr() }
}

/// `debug_exchange(chunk, versions, target)`: gives every function of the chunk its code in
/// `target`, the main function of a version of its text. `versions` has the main functions of all
/// versions that functions may have their code from, the version without breakpoints first.
/// Compiled code must have been discarded before. Returns the number of exchanged functions and a
/// list of running ones, which keep their code.
pub unsafe extern "C-unwind" fn debug_exchange(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string, a list of functions and a function.
    unsafe {
        let cx = ScriptContext::of(l);
        // Between two collections every object has the same color, so that a function may refer to
        // another prototype without a barrier.
        cx.collect_now(l);
        cx.memory.begin_lenient();
        lua_settop(l, 3);
        lua_checkstack(l, 20);
        let mut versions = Vec::new();
        for i in 1..=lua_objlen(l, 2) as lua_Integer {
            lua_rawgeti(l, 2, i);
            versions.push(functions_of(l, -1));
            lua_settop(l, 3);
        }
        let target = functions_of(l, 3);
        let chunk = CStr::from_ptr(lua_tolstring(l, 1, std::ptr::null_mut()));
        let result = exchange(l, chunk, &versions, &target);
        lua_pushnumber(l, result.exchanged as f64);
        lua_createtable(l, 0, 0);
        for (i, function) in result.running.iter().enumerate() {
            luajit_layout::push_function(l, function.cast());
            lua_rawseti(l, -2, i as lua_Integer + 1);
        }
        cx.memory.end_lenient();
        2
    }
}

/// Returns true if functions and prototypes have the layout that this file expects.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn is_known(l: *mut lua_State) -> bool {
    const PROBE: &[u8] = b"local a, b = 1, 2\nlocal function f(x, y, z)\n  return a + b\nend\n\
        return f, function() end";
    // SAFETY: the chunk leaves a function with two upvalues and three parameters.
    unsafe {
        let top = lua_gettop(l);
        let loaded = luaL_loadbuffer(l, PROBE.as_ptr().cast(), PROBE.len(), c"=probe".as_ptr());
        if loaded != LUA_OK {
            lua_settop(l, top);
            return false;
        }
        let tree = functions_of(l, -1);
        if lua_pcall(l, 0, 1, 0) != LUA_OK {
            lua_settop(l, top);
            return false;
        }
        let own = Prototype::of_function(lua_topointer(l, -1).cast());
        let raw = &*own.0;
        let right = tree.len() == 3
            && tree[1].prototype == own
            && (raw.kind, raw.parameters, raw.upvalue_count) == (PROTOTYPE, 3, 2)
            && (raw.first_line, raw.line_count) == (2, 2)
            && own.chunk() == c"=probe"
            && own.is_same_code(own)
            && !own.is_exchangeable(tree[2].prototype)
            && (tree[1].parent, tree[2].parent) == (0, 0);
        lua_settop(l, top);
        right
    }
}
