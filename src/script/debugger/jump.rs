//! Jumps of a stopped function to another line (`goto` of editors).
//!
//! The stopped function cannot get other code, because instructions on the stack lead into the code
//! that it has. So the instructions of its current line are exchanged for a jump to the first
//! instruction of the wanted statement, and restored as soon as that is reached: the script
//! continues with the line hook, and nothing else runs in between. The jump is the instruction that
//! LuaJIT uses for a `goto` out of a block: it also closes variables that closures have captured.
//!
//! The position of the statement is that of a call which is inserted before it in a copy of the
//! text that the function was compiled from: what precedes the call is compiled to the same
//! instructions, apart from variables that become nil together. Variables whose declaration is
//! skipped become nil, but nothing can jump into a loop whose hidden variables are not set: LuaJIT
//! does not check them.

use super::super::context::ScriptContext;
use super::super::luajit_layout::{self, STRING_TEXT};
use super::code_swap::{Prototype, STRING, THREAD, each_object, function_at, functions_of};
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

/// Instructions of this LuaJIT, which `is_known` compares.
const KSTR: u32 = 39;
const KNIL: u32 = 44;
const UCLO: u32 = 50;
const TGETS: u32 = 57;
const CALLM: u32 = 65;
const CALL: u32 = 66;
/// The value of a jump by no instructions.
const JUMP_BIAS: usize = 0x8000;
/// The name that the inserted call has in the table of string functions.
const MARK: &CStr = c"\x1bgoto";
/// Maximum number of stack levels of one coroutine that are searched for functions in a call. With
/// more, nothing jumps.
const LEVELS_MAX: c_int = 1000;
/// The names of variables that are stored as a number: those of loops.
const HIDDEN_NAMES: u8 = 7;

/// A local variable of a function.
#[derive(Clone, Copy, PartialEq)]
struct LocalVariable {
    /// The instructions in which it exists.
    first: usize,
    end: usize,
    /// True for a variable of a loop without a name.
    is_hidden: bool,
}

/// A jump that was begun.
pub struct Jump {
    thread: *mut lua_State,
    prototype: Prototype,
    /// The line that is left.
    line: c_int,
    /// The turn of the interrupt.
    turn: u64,
    /// The instructions that were exchanged.
    saved: Vec<(usize, u32)>,
    /// The numbers of the variables that become nil.
    skipped: Vec<c_int>,
}

fn number(bytes: &mut *const u8) -> usize {
    let (mut value, mut shift) = (0, 0);
    loop {
        // SAFETY: the numbers of a prototype are complete.
        let byte = unsafe {
            let byte = bytes.read();
            *bytes = bytes.add(1);
            byte
        };
        value |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 28 {
            return value;
        }
    }
}

impl Prototype {
    /// Returns the local variables in the order of their declarations.
    unsafe fn locals(self) -> Vec<LocalVariable> {
        let mut found = Vec::new();
        // SAFETY: the list of a prototype ends with a zero byte.
        unsafe {
            let mut at = self.variable_bytes();
            if at.is_null() {
                return found;
            }
            let mut first = 0;
            loop {
                let kind = at.read();
                if kind == 0 {
                    return found;
                }
                let is_hidden = kind < HIDDEN_NAMES;
                if !is_hidden {
                    at = at.add(CStr::from_ptr(at.cast()).count_bytes());
                }
                at = at.add(1);
                first += number(&mut at);
                let end = first + number(&mut at);
                found.push(LocalVariable { first, end, is_hidden });
            }
        }
    }

    /// Returns the string constant with a number.
    unsafe fn string(self, constant: usize) -> Option<&'static CStr> {
        // SAFETY: the constants are alive with the prototype.
        unsafe {
            let objects = self.objects();
            let object = objects.len().checked_sub(constant + 1).map(|at| objects[at])?;
            ((*object).kind == STRING)
                .then(|| CStr::from_ptr(object.cast::<u8>().add(STRING_TEXT).cast()))
        }
    }

    /// Returns the position of the inserted call. A function that has its name itself has none:
    /// such a text could name any position.
    unsafe fn marked_position(self) -> Option<usize> {
        // SAFETY: the code has this size.
        unsafe {
            let is_mark = |at: &usize| {
                let code = self.code().add(*at).read();
                let constant = match code & 0xff {
                    TGETS => code >> 16 & 0xff,
                    KSTR => code >> 16,
                    _ => return false,
                };
                self.string(constant as usize) == Some(MARK)
            };
            // Before it, the empty text is loaded.
            let mut found = (2..self.code_size()).filter(is_mark);
            found.next().filter(|_| found.next().is_none()).map(|at| at - 1)
        }
    }
}

/// Returns the variables that exist at an instruction.
fn active(locals: &[LocalVariable], at: usize) -> Vec<LocalVariable> {
    locals.iter().copied().filter(|it| it.first <= at && at < it.end).collect()
}

/// The changes that a jump needs.
struct JumpPlan {
    positions: Vec<usize>,
    level: usize,
    skipped: Vec<c_int>,
}

/// Returns true if the instruction before the target also belongs to the wanted statement: LuaJIT
/// sets variables that become nil one after the other with one instruction.
unsafe fn is_merged(own: Prototype, marked: Prototype, target: usize) -> bool {
    // SAFETY: the caller has compared the target with the size of both.
    unsafe {
        let (own, marked) =
            (own.code().add(target - 1).read(), marked.code().add(target - 1).read());
        own & 0xff == KNIL && own != marked
    }
}

/// Returns true if a function of the prototype waits in a call: in the running coroutine around the
/// stopped function, or in another one. What walks over that stack reads the instruction of the
/// call.
unsafe fn waits_in_call(l: *mut lua_State, own: Prototype) -> bool {
    let mut threads = vec![l];
    // SAFETY: objects that wait to be swept are left out, and the collector is stopped while
    // scripts run.
    unsafe {
        each_object(l, |object| {
            let thread = object.cast::<lua_State>().cast_mut();
            if (*object).kind == THREAD
                && !luajit_layout::is_dead(l, (*object).marked)
                && thread != l
                && lua_status(thread) <= LUA_YIELD
            {
                threads.push(thread);
            }
        });
        let mut found = 0;
        for thread in threads {
            let mut ar = std::mem::MaybeUninit::<lua_Debug>::zeroed();
            let mut level = 0;
            while lua_getstack(thread, level, ar.as_mut_ptr()) != 0 {
                if level == LEVELS_MAX {
                    return true;
                }
                lua_getinfo(thread, c"f".as_ptr(), ar.as_mut_ptr());
                let is_own = lua_iscfunction(thread, -1) == 0 && function_at(thread, -1) == own;
                lua_settop(thread, -2);
                found += usize::from(is_own);
                level += 1;
            }
        }
        // The stopped one is one of them.
        found > 1
    }
}

/// Plans a jump from a line to an instruction; `None` if it is not possible.
unsafe fn plan(own: Prototype, line: c_int, target: usize, by_call: bool) -> Option<JumpPlan> {
    // SAFETY: the prototype is that of a running function.
    unsafe {
        let on_line: Vec<usize> =
            (1..own.code_size()).filter(|at| own.line(*at) == line as usize).collect();
        if on_line.is_empty() || target == 0 || target >= own.code_size() {
            return None;
        }
        // A statement without instructions, such as `do`, may lead to the line that is left.
        if own.line(target) == line as usize {
            return None;
        }
        let locals = own.locals();
        let wanted = active(&locals, target);
        let is_set = |it: &LocalVariable| on_line.iter().all(|at| (it.first..it.end).contains(at));
        if wanted.iter().any(|it| it.is_hidden && !is_set(it)) {
            return None;
        }
        let skipped = wanted.iter().enumerate().filter(|(_, it)| !is_set(it));
        let skipped: Vec<c_int> = skipped.map(|(n, _)| n as c_int + 1).collect();
        // Slots from this one on belong to other variables now: closures keep those of before.
        let level = skipped.first().map_or(wanted.len(), |number| *number as usize - 1);
        // The call that returns here says where its results belong.
        let is_left =
            |at: &usize| !by_call || ![CALL, CALLM].contains(&(own.code().add(*at).read() & 0xff));
        let positions: Vec<usize> = on_line.into_iter().filter(is_left).collect();
        let fits = |at: &usize| (target + JUMP_BIAS).checked_sub(at + 1).is_some_and(|d| d < 65536);
        let fits = positions.iter().all(fits);
        fits.then_some(JumpPlan { positions, level, skipped })
    }
}

/// Returns the number of a function in a version of its text.
unsafe fn index_in(l: *mut lua_State, version: c_int, own: Prototype) -> Option<usize> {
    // SAFETY: the prelude passes a main function.
    unsafe {
        let functions = functions_of(l, version);
        let known = functions.iter().position(|it| it.prototype == own);
        known.or_else(|| {
            let mut same =
                functions.iter().enumerate().filter(|(_, it)| it.prototype.is_same_code(own));
            same.next().filter(|_| same.next().is_none()).map(|(i, _)| i)
        })
    }
}

/// `debug_is_version(function, main)`: returns true if a Lua function has its code from a version
/// of the text of its chunk.
pub unsafe extern "C-unwind" fn debug_is_version(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes Lua functions.
    unsafe {
        let known = index_in(l, 2, function_at(l, 1)).is_some();
        lua_pushboolean(l, c_int::from(known));
    }
    1
}

/// `debug_jump_position(function, line, main, marked, by_call)`: returns the position to which a
/// function, stopped at a line, can jump; nil if it cannot. `main` is the version of the text that
/// the function is from, and `marked` that with a call before the wanted statement. `by_call` is
/// true if an inserted call has stopped it, and false if the hook has.
pub unsafe extern "C-unwind" fn debug_jump_position(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes these.
    unsafe {
        let own = function_at(l, 1);
        let (line, by_call) = (lua_tonumber(l, 2) as c_int, lua_toboolean(l, 5) != 0);
        let found = index_in(l, 3, own).and_then(|i| {
            let marked = functions_of(l, 4).get(i)?.prototype;
            let target = marked.marked_position()?;
            let plan = plan(own, line, target, by_call)?;
            let is_call = |at: &usize| [CALL, CALLM].contains(&(own.code().add(*at).read() & 0xff));
            let is_refused = is_merged(own, marked, target)
                || plan.positions.iter().any(is_call) && waits_in_call(l, own);
            (!is_refused).then_some(target)
        });
        match found {
            Some(target) => lua_pushnumber(l, target as f64),
            None => lua_pushnil(l),
        }
    }
    1
}

/// `debug_jump(function, line, position, by_call)`: lets the stopped function continue at the
/// position that `debug_jump_position` returned. The JIT compiler must be off, and a step begun.
pub unsafe extern "C-unwind" fn debug_jump(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes the function at which the script is stopped.
    unsafe {
        let prototype = function_at(l, 1);
        let (line, target) = (lua_tonumber(l, 2) as c_int, lua_tonumber(l, 3) as usize);
        let cx = ScriptContext::of(l);
        // The turn changes at the end of the pause.
        let turn = cx.interrupt.turn() + 1;
        if let Some(debugger) = &mut cx.debugger
            && let Some(plan) = plan(prototype, line, target, lua_toboolean(l, 4) != 0)
        {
            debugger.restore_jump();
            let mut saved = Vec::with_capacity(plan.positions.len());
            for at in plan.positions {
                let code = prototype.code().add(at).cast_mut();
                saved.push((at, code.read()));
                let distance = (target + JUMP_BIAS - at - 1) as u32;
                code.write(UCLO | (plan.level as u32) << 8 | distance << 16);
            }
            let skipped = plan.skipped;
            debugger.jump = Some(Jump { thread: l, prototype, line, turn, saved, skipped });
        }
    }
    0
}

impl super::DebuggerState {
    /// Restores the instructions that a jump has exchanged.
    pub fn restore_jump(&mut self) -> Option<Jump> {
        let jump = self.jump.take()?;
        for (at, instruction) in &jump.saved {
            // SAFETY: the function runs, or its prototype is kept by the versions of its text.
            unsafe { jump.prototype.code().add(*at).cast_mut().write(*instruction) };
        }
        Some(jump)
    }

    /// Ends a jump if the hook has reached its target. Returns true while it has not.
    ///
    /// # Safety
    /// `l` is a live state in its hook, and `ar` the hook's record.
    pub unsafe fn has_to_jump(&mut self, l: *mut lua_State, ar: *mut lua_Debug, turn: u64) -> bool {
        let Some(jump) = &self.jump else { return false };
        // SAFETY: as the caller promised.
        unsafe {
            lua_getinfo(l, c"S".as_ptr(), ar);
            if (*ar).source.read() != b'@' as std::ffi::c_char {
                // The functions of the debugger return.
                return true;
            }
            lua_getinfo(l, c"f".as_ptr(), ar);
            let is_own = jump.thread == l
                && lua_iscfunction(l, -1) == 0
                && function_at(l, -1) == jump.prototype;
            lua_settop(l, -2);
            if is_own && turn == jump.turn && (*ar).currentline == jump.line {
                return true;
            }
            if let Some(jump) = self.restore_jump()
                && is_own
            {
                for number in jump.skipped {
                    lua_pushnil(l);
                    if lua_setlocal(l, ar, number).is_null() {
                        lua_settop(l, -2);
                    }
                }
            }
        }
        false
    }
}

/// Returns true if instructions and variables have the layout that this file expects.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn is_known(l: *mut lua_State) -> bool {
    const PROBE: &[u8] = b"do\n  local probe = 1\n  function f() return probe end\nend\n\
        if (\"\")[\"\\27goto\"](1) then end\ndo local a, b end\n";
    // SAFETY: the chunk is not run.
    unsafe {
        let top = lua_gettop(l);
        let loaded = luaL_loadbuffer(l, PROBE.as_ptr().cast(), PROBE.len(), c"=probe".as_ptr());
        let right = loaded == LUA_OK && {
            let main = function_at(l, -1);
            let op = |at: usize| main.code().add(at).read() & 0xff;
            let locals = main.locals();
            let at = main.marked_position();
            at.is_some_and(|at| {
                main.line(at) == 5
                    && op(at - 1) == UCLO
                    && op(at) == KSTR
                    && op(at + 1) == TGETS
                    && (at + 2..at + 6).any(|at| op(at) == CALL)
                    && (at..main.code_size()).any(|at| op(at) == KNIL)
                    && locals.len() == 3
                    && active(&locals, 2).len() == 1
                    && active(&locals, at).is_empty()
            })
        };
        lua_settop(l, top);
        right
    }
}
