//! Stack traces of scripts: the frames with source lines, locals and upvalues, and the lines of
//! `Script.context` among them. Runs no code of the game and never raises. The report that contains
//! the trace is in report.rs.

use super::compiled_frames::CompiledFunctions;
use super::context::ScriptContext;
use super::describe_value::{ENGINE_CHUNK, bytes, chunk_name, literal};
use super::kept_locals::Slots;
use super::lua_variables::push_field;
use super::report::{SourceLocation, StackFrame, split_location};
use mlua::ffi::*;
use std::cell::OnceCell;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

/// Number of frames at each end that are shown of a deeper stack.
const FRAMES_SHOWN: usize = 10;
/// Maximum number of locals and upvalues that are shown of a frame.
const VARIABLES_MAX: c_int = 24;
/// Number of innermost frames of the game whose locals are shown.
const FRAMES_WITH_VARIABLES: usize = 6;
/// Follows the value of a local that compiled code may have lost.
const LOST: &str = ", or no longer kept by compiled code";
/// Maximum number of nested coroutines whose stacks are shown.
const COROUTINES_SHOWN: usize = 8;
/// Maximum number of frames that are searched for contexts of an error that the game catches.
const CONTEXT_LEVELS_MAX: c_int = 64;
/// The chunk of the prelude that calls the game's callbacks.
const FRAME: &str = "[engine] boot/frame";
/// The chunk of `Script.context`, and of the contexts of components.
const CONTEXT: &str = "[engine] boot/context";
/// Chunks of the prelude that call the game's functions, and are not called by them.
const CALLERS: [&str; 3] = [FRAME, "[engine] boot/modules", CONTEXT];

/// The result of a stack walk.
#[derive(Default)]
pub struct StackWalk {
    /// Frames, innermost first.
    pub frames: Vec<StackFrame>,
    /// The lines of `Script.context`, outermost first.
    pub contexts: Vec<String>,
    /// True if the innermost frames are library functions without a calling function of the game,
    /// because it was left by a tail call, `return string.rep(…)`.
    pub tail_called: bool,
}

/// Walks the stack from `level` outwards. Functions of the engine's own Lua are left out, except
/// for the one that the game called. A dead coroutine does not know the line of its innermost
/// function; the line of the error's `location` is used instead.
///
/// # Safety
/// `l` is a live state, or a coroutine that died of an error.
pub unsafe fn walk(
    l: *mut lua_State,
    cx: &ScriptContext,
    level: c_int,
    location: Option<SourceLocation>,
) -> StackWalk {
    let mut location = location;
    let mut walk = StackWalk::default();
    let compiled = OnceCell::new();
    // The outermost function so far in a run of engine functions.
    let mut called: Option<String> = None;
    let mut library = false;
    // SAFETY: the record is filled by lua_getstack before it is read.
    unsafe {
        let depth = depth(l, level);
        if lua_checkstack(l, 12) == 0 {
            return walk;
        }
        let mut level = level;
        while level < depth {
            let mut ar = MaybeUninit::<lua_Debug>::zeroed();
            if lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
                break;
            }
            let to = depth - FRAMES_SHOWN as c_int;
            if walk.frames.len() == FRAMES_SHOWN
                && level < to
                && let Some(last) = walk.frames.last_mut()
                && last.left_out == 0
            {
                last.left_out = (to - level) as usize;
                level = to;
                continue;
            }
            lua_getinfo(l, c"nSlu".as_ptr(), ar.as_mut_ptr());
            let ar = ar.assume_init_mut();
            let died_at = location.take().filter(|location| {
                ar.currentline <= 0 && ar.linedefined >= 0 && chunk_name(ar) == location.file
            });
            ar.currentline = died_at.map_or(ar.currentline, |location| location.line as c_int);
            if let Some(line) = script_context(l, cx, ar) {
                walk.contexts.push(line);
            } else if is_game(ar) {
                walk.frames.extend(called.take().map(StackFrame::of_engine));
                let named = !called_by_prelude(l, level + 1);
                let mut frame = game_frame(cx, ar, named);
                if walk.frames.len() < FRAMES_WITH_VARIABLES {
                    add_variables(l, cx, ar, &compiled, &mut frame);
                }
                walk.frames.push(frame);
            } else {
                // The prelude's own `error` is not a function that a game called.
                let name = name(ar);
                library |=
                    name.as_deref() != Some("error") && !CALLERS.contains(&chunk_name(ar).as_str());
                called = name.filter(|name| is_informative(name)).or(called);
            }
            level += 1;
        }
    }
    walk.contexts.reverse();
    walk.tail_called = library && walk.frames.is_empty();
    walk
}

/// Returns the stack of the coroutine that raised the error with this message, innermost frame
/// first. For each resuming coroutine, the prelude records the coroutine that died last.
///
/// # Safety
/// As for [`walk`].
pub unsafe fn coroutines(l: *mut lua_State, cx: &ScriptContext, raised: &str) -> Vec<StackFrame> {
    let mut stacks: Vec<Vec<StackFrame>> = Vec::new();
    // SAFETY: raw reads, popped again. A coroutine that died of an error keeps its frames.
    unsafe {
        let top = lua_gettop(l);
        if lua_checkstack(l, 16) == 0 {
            return Vec::new();
        }
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_pushlstring(l, c"died".as_ptr(), 4);
        lua_rawget(l, -2);
        let died = lua_gettop(l);
        let mut resumer = l;
        while stacks.len() < COROUTINES_SHOWN && lua_type(l, died) == LUA_TTABLE {
            // The main state is recognized by the result of `lua_pushthread`, because it cannot see
            // itself.
            if lua_pushthread(resumer) == 1 {
                lua_settop(resumer, -2);
                lua_pushlstring(l, c"main".as_ptr(), 4);
            } else if resumer != l {
                lua_xmove(resumer, l, 1);
            }
            lua_rawget(l, died);
            if lua_type(l, -1) != LUA_TTABLE {
                break;
            }
            lua_rawgeti(l, -1, 1);
            lua_rawgeti(l, -2, 2);
            let thread = lua_tothread(l, -2);
            let its = match lua_type(l, -1) {
                LUA_TSTRING => String::from_utf8_lossy(bytes(l, -1)).into_owned(),
                _ => String::new(),
            };
            let (location, message) = split_location(&its);
            let same = raised.contains(message);
            lua_settop(l, died);
            if thread.is_null() || thread == l || !same || lua_status(thread) <= LUA_YIELD {
                break;
            }
            stacks.push(walk(thread, cx, 0, location).frames);
            resumer = thread;
        }
        lua_settop(l, top);
    }
    stacks.into_iter().rev().flatten().collect()
}

/// Returns the number of levels of the stack, found by doubling and halving.
unsafe fn depth(l: *mut lua_State, from: c_int) -> c_int {
    let exists = |level| {
        let mut ar = MaybeUninit::<lua_Debug>::zeroed();
        // SAFETY: only asks if the level exists.
        unsafe { lua_getstack(l, level, ar.as_mut_ptr()) != 0 }
    };
    let (mut low, mut high) = (from, from + 1);
    while exists(high) {
        low = high;
        high *= 2;
    }
    if !exists(low) {
        return low;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if exists(middle) { low = middle } else { high = middle }
    }
    high
}

/// Returns the contexts of the frames from `level` outwards, outermost first, without the rest of
/// the trace. Reads [`CONTEXT_LEVELS_MAX`] levels.
///
/// # Safety
/// As for [`walk`].
pub unsafe fn contexts(l: *mut lua_State, cx: &ScriptContext, level: c_int) -> Vec<String> {
    let mut lines = Vec::new();
    // SAFETY: the record is filled by lua_getstack before it is read.
    unsafe {
        if lua_checkstack(l, 6) == 0 {
            return lines;
        }
        for level in level..level + CONTEXT_LEVELS_MAX {
            let mut ar = MaybeUninit::<lua_Debug>::zeroed();
            if lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
                break;
            }
            lua_getinfo(l, c"S".as_ptr(), ar.as_mut_ptr());
            lines.extend(script_context(l, cx, ar.assume_init_mut()));
        }
    }
    lines.reverse();
    lines
}

/// Returns the name of the prelude's function that the game called, if it is a function of this
/// module of the API: the message of a native function that the prelude calls is about that one.
///
/// # Safety
/// `l` is the state of a running call, with a few free slots.
pub unsafe fn called_function(l: *mut lua_State, module: &str) -> Option<String> {
    let mut called = None;
    // SAFETY: the record is filled by lua_getstack before it is read; raw reads, popped again.
    unsafe {
        let top = lua_gettop(l);
        if lua_checkstack(l, 6) == 0 {
            return None;
        }
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        push_field(l, lua_gettop(l), "api");
        let is_known = lua_type(l, -1) == LUA_TTABLE && {
            push_field(l, lua_gettop(l), module);
            lua_type(l, -1) == LUA_TTABLE
        };
        let functions = lua_gettop(l);
        for level in 0..CONTEXT_LEVELS_MAX {
            let mut ar = MaybeUninit::<lua_Debug>::zeroed();
            if !is_known || lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
                break;
            }
            lua_getinfo(l, c"nSl".as_ptr(), ar.as_mut_ptr());
            let ar = ar.assume_init_ref();
            if is_game(ar) {
                break;
            }
            if let Some(name) = name(ar) {
                push_field(l, functions, &name);
                if lua_type(l, -1) == LUA_TFUNCTION {
                    called = Some(name);
                }
                lua_settop(l, functions);
            }
        }
        lua_settop(l, top);
    }
    called
}

/// Returns the line of a context's frame. Its first two locals are texts; the third may be a list
/// of units.
unsafe fn script_context(
    l: *mut lua_State,
    cx: &ScriptContext,
    ar: &mut lua_Debug,
) -> Option<String> {
    // SAFETY: as for `walk`; the values are popped again.
    unsafe {
        let source = CStr::from_ptr(ar.source).to_bytes();
        if source.get(1..) != Some(CONTEXT.as_bytes()) || *ar.what != b'L' as c_char {
            return None;
        }
        let mut texts = [String::new(), String::new()];
        for (i, word) in texts.iter_mut().enumerate() {
            if lua_getlocal(l, ar, i as c_int + 1).is_null() {
                return None;
            }
            match lua_type(l, -1) {
                LUA_TSTRING => *word = String::from_utf8_lossy(bytes(l, -1)).into_owned(),
                // A frame that is no context, or a wrong argument of the function with a context.
                _ => {
                    lua_settop(l, -2);
                    return None;
                }
            }
            lua_settop(l, -2);
        }
        let units = units_text(l, cx, ar).unwrap_or_default();
        Some(format!("{} {}{units}", texts[0], texts[1]))
    }
}

/// Returns the text for the units of a context, ` of unit units/rat#17` or ` of 12 units`.
unsafe fn units_text(l: *mut lua_State, cx: &ScriptContext, ar: &mut lua_Debug) -> Option<String> {
    // SAFETY: as for `walk`; the values are popped again.
    unsafe {
        let name = lua_getlocal(l, ar, 3);
        if name.is_null() {
            return None;
        }
        let top = lua_gettop(l) - 1;
        let is_list = CStr::from_ptr(name) == c"units" && lua_type(l, -1) == LUA_TTABLE;
        let text = match if is_list { lua_objlen(l, -1) } else { 0 } {
            0 => None,
            1 => {
                lua_rawgeti(l, -1, 1);
                Some(format!(" of unit {}", literal(l, -1, cx)))
            }
            count => Some(format!(" of {count} units")),
        };
        lua_settop(l, top);
        text
    }
}

/// Returns true if a frame is a Lua function of the game.
unsafe fn is_game(ar: &lua_Debug) -> bool {
    // SAFETY: the record was filled with `S` and `l`.
    ar.currentline > 0 && !unsafe { chunk_name(ar) }.starts_with(ENGINE_CHUNK)
}

/// Returns the name by which a function was called.
unsafe fn name(ar: &lua_Debug) -> Option<String> {
    // SAFETY: the record was filled with `n`.
    unsafe { (!ar.name.is_null()).then(|| CStr::from_ptr(ar.name).to_string_lossy().into_owned()) }
}

/// Returns true if the name of an engine function is worth a line in the trace.
fn is_informative(name: &str) -> bool {
    !["error", "assert", "?"].contains(&name) && !name.starts_with('(')
}

impl StackFrame {
    fn of_engine(name: String) -> StackFrame {
        StackFrame { description: format!("engine function '{name}'"), ..StackFrame::default() }
    }
}

/// Returns true if the function at `level` belongs to the engine's own Lua and calls the game's
/// functions by internal names. Callbacks are excluded, because the engine calls them by their own
/// names.
unsafe fn called_by_prelude(l: *mut lua_State, level: c_int) -> bool {
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    // SAFETY: the record is filled by lua_getstack before it is read.
    unsafe {
        if lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
            return false;
        }
        lua_getinfo(l, c"S".as_ptr(), ar.as_mut_ptr());
        let chunk = chunk_name(ar.assume_init_ref());
        chunk.starts_with(ENGINE_CHUNK) && chunk != FRAME
    }
}

unsafe fn game_frame(cx: &ScriptContext, ar: &mut lua_Debug, named: bool) -> StackFrame {
    // SAFETY: as for `walk`.
    unsafe {
        let location = SourceLocation { file: chunk_name(ar), line: ar.currentline as u32 };
        let description = match (*ar.what as u8, ar.name.is_null() || !named) {
            (b'm', _) => "main chunk".to_string(),
            (_, false) => format!("function '{}'", CStr::from_ptr(ar.name).to_string_lossy()),
            (_, true) => format!("a function defined at line {}", ar.linedefined),
        };
        let mut frame =
            StackFrame { source: cx.source_line(&location), description, ..StackFrame::default() };
        frame.location = Some(location);
        frame
    }
}

/// Adds the locals and upvalues of a function. Locals of which compiled code may have lost the
/// values are marked.
unsafe fn add_variables(
    l: *mut lua_State,
    cx: &ScriptContext,
    ar: &mut lua_Debug,
    compiled: &OnceCell<CompiledFunctions>,
    frame: &mut StackFrame,
) {
    // SAFETY: as for `walk`; the function is popped again, also from the other state.
    unsafe {
        // A coroutine that has died cannot call the functions that say if one is compiled.
        let caller = if lua_status(l) == LUA_OK { l } else { cx.main };
        let compiled = compiled.get_or_init(|| CompiledFunctions::read(caller));
        lua_getinfo(l, c"f".as_ptr(), ar);
        let mut kept = None;
        if lua_checkstack(caller, 2) != 0 {
            lua_pushvalue(l, -1);
            lua_xmove(l, caller, 1);
            kept = compiled.kept(caller, ar.currentline);
            lua_settop(caller, -2);
        }
        frame.locals = variables(l, cx, kept, |i| lua_getlocal(l, ar, i));
        frame.upvalues = variables(l, cx, None, |i| lua_getupvalue(l, -1, i));
        lua_settop(l, -2);
    }
}

/// Returns the names and values that `next` pushes one by one. Functions are left out, because they
/// are not informative. Values that are not in `kept` are marked.
unsafe fn variables(
    l: *mut lua_State,
    cx: &ScriptContext,
    kept: Option<Slots>,
    mut next: impl FnMut(c_int) -> *const c_char,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for i in 1..=VARIABLES_MAX {
        let name = next(i);
        if name.is_null() {
            break;
        }
        // SAFETY: a name came with a value on the stack, which is popped again.
        unsafe {
            let name = CStr::from_ptr(name).to_string_lossy();
            // Names in parentheses are temporaries of the VM. A lost value may read as a function.
            let is_lost = kept.is_some_and(|kept| !kept.contains(i as u32 - 1));
            if !name.starts_with('(') && (is_lost || lua_type(l, -1) != LUA_TFUNCTION) {
                let mut value = literal(l, -1, cx);
                // The place of a lost local may hold a frame link, which reads as a subnormal
                // number.
                let is_link = lua_type(l, -1) == LUA_TNUMBER && lua_tonumber(l, -1).is_subnormal();
                if is_lost || is_link {
                    value.push_str(LOST);
                }
                found.push((name.into_owned(), value));
            }
            lua_settop(l, -2);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::CALLERS;
    use crate::prelude;

    #[test]
    fn chunks_that_call_games_are_prelude_files() {
        for chunk in CALLERS {
            let found =
                prelude::FILES.iter().any(|file| chunk == format!("[engine] {}", file.name));
            assert!(found, "{chunk} is no file: was it moved? Traces would change silently");
        }
    }
}
