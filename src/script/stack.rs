//! A script's stack in words: its frames with source lines, locals and upvalues, and the lines of
//! `Script.context` among them. Runs no code of the game's and never raises. The report around it
//! is report.rs.

use super::cx::Cx;
use super::describe::{ENGINE_CHUNK, bytes, chunk_name, literal};
use super::report::{Frame, Place, split_place};
use mlua::ffi::*;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

/// A deeper stack is shown by this many frames at each end.
const FRAMES_SHOWN: usize = 10;
/// At most this many locals and upvalues are shown of a frame.
const VARIABLES_MAX: c_int = 24;
/// Locals are shown of this many innermost frames of the game.
const FRAMES_WITH_VARIABLES: usize = 6;
/// Coroutines inside each other whose stacks are shown.
const COROUTINES_SHOWN: usize = 8;
/// Chunks of the prelude that call the game's functions, and are not called by them.
const CALLERS: [&str; 3] = ["[engine] frame", "[engine] modules", "[engine] context"];

/// What a walk over a stack found.
#[derive(Default)]
pub struct Walk {
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// The lines of `Script.context`, outermost first.
    pub contexts: Vec<String>,
    /// Whether the innermost frames are library functions, and none of the game's called them: it
    /// was left by a tail call, `return string.rep(…)`.
    pub tail_called: bool,
}

/// Frames from `level` outwards. Functions of the engine's own Lua are left out, but for the one
/// that the game called. A dead coroutine does not know the line of its innermost function: it is
/// the one of the error's `place`.
///
/// # Safety
/// `l` is a live state, or a coroutine that died of an error.
pub unsafe fn walk(l: *mut lua_State, cx: &Cx, level: c_int, place: Option<Place>) -> Walk {
    let mut place = place;
    let mut walk = Walk::default();
    // The outermost so far of a run of engine functions.
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
            let died_at = place.take().filter(|place| {
                ar.currentline <= 0 && ar.linedefined >= 0 && chunk_name(ar) == place.file
            });
            ar.currentline = died_at.map_or(ar.currentline, |place| place.line as c_int);
            if let Some(line) = script_context(l, ar) {
                walk.contexts.push(line);
            } else if is_game(ar) {
                walk.frames.extend(called.take().map(Frame::of_engine));
                let named = !called_by_prelude(l, level + 1);
                walk.frames.push(game_frame(l, cx, ar, walk.frames.len(), named));
            } else {
                // The prelude's own `error` is no function that a game called.
                let name = name(ar);
                library |=
                    name.as_deref() != Some("error") && !CALLERS.contains(&chunk_name(ar).as_str());
                called = name.filter(|name| tells(name)).or(called);
            }
            level += 1;
        }
    }
    walk.contexts.reverse();
    walk.tail_called = library && walk.frames.is_empty();
    walk
}

/// The stack of the coroutine that the error with these words came out of, innermost frame first:
/// the prelude notes the one that died last, for everyone who resumed one.
///
/// # Safety
/// As for [`walk`].
pub unsafe fn coroutines(l: *mut lua_State, cx: &Cx, words: &str) -> Vec<Frame> {
    let mut stacks: Vec<Vec<Frame>> = Vec::new();
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
            // The main state is known by the word, for it cannot see itself.
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
            let (place, message) = split_place(&its);
            let same = words.contains(message);
            lua_settop(l, died);
            if thread.is_null() || thread == l || !same || lua_status(thread) <= LUA_YIELD {
                break;
            }
            stacks.push(walk(thread, cx, 0, place).frames);
            resumer = thread;
        }
        lua_settop(l, top);
    }
    stacks.into_iter().rev().flatten().collect()
}

/// How many levels the stack has, found by doubling and halving.
unsafe fn depth(l: *mut lua_State, from: c_int) -> c_int {
    let exists = |level| {
        let mut ar = MaybeUninit::<lua_Debug>::zeroed();
        // SAFETY: asks only whether the level is there.
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

/// The line of a frame of `Script.context`, which holds it in its first two locals.
unsafe fn script_context(l: *mut lua_State, ar: &mut lua_Debug) -> Option<String> {
    // SAFETY: as for `walk`; the two values are popped again.
    unsafe {
        if chunk_name(ar) != "[engine] context" || *ar.what != b'L' as c_char {
            return None;
        }
        let mut words = [String::new(), String::new()];
        for (i, word) in words.iter_mut().enumerate() {
            if lua_getlocal(l, ar, i as c_int + 1).is_null() {
                return None;
            }
            if lua_type(l, -1) == LUA_TSTRING {
                *word = String::from_utf8_lossy(bytes(l, -1)).into_owned();
            }
            lua_settop(l, -2);
        }
        Some(format!("{} {}", words[0], words[1]))
    }
}

/// Whether a frame is a Lua function of the game's.
unsafe fn is_game(ar: &lua_Debug) -> bool {
    // SAFETY: the record was filled with `S` and `l`.
    ar.currentline > 0 && !unsafe { chunk_name(ar) }.starts_with(ENGINE_CHUNK)
}

/// The name by which a function was called.
unsafe fn name(ar: &lua_Debug) -> Option<String> {
    // SAFETY: the record was filled with `n`.
    unsafe { (!ar.name.is_null()).then(|| CStr::from_ptr(ar.name).to_string_lossy().into_owned()) }
}

/// Whether the name of an engine function is worth a line.
fn tells(name: &str) -> bool {
    !["error", "assert", "?"].contains(&name) && !name.starts_with('(')
}

impl Frame {
    fn of_engine(name: String) -> Frame {
        Frame { what: format!("engine function '{name}'"), ..Frame::default() }
    }
}

/// Whether the function at `level` is one of the engine's own Lua, which calls the game's functions
/// by names of its own. The callbacks it calls by theirs.
unsafe fn called_by_prelude(l: *mut lua_State, level: c_int) -> bool {
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    // SAFETY: the record is filled by lua_getstack before it is read.
    unsafe {
        if lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
            return false;
        }
        lua_getinfo(l, c"S".as_ptr(), ar.as_mut_ptr());
        let chunk = chunk_name(ar.assume_init_ref());
        chunk.starts_with(ENGINE_CHUNK) && chunk != "[engine] frame"
    }
}

unsafe fn game_frame(
    l: *mut lua_State,
    cx: &Cx,
    ar: &mut lua_Debug,
    index: usize,
    named: bool,
) -> Frame {
    // SAFETY: as for `walk`.
    unsafe {
        let place = Place { file: chunk_name(ar), line: ar.currentline as u32 };
        let what = match (*ar.what as u8, ar.name.is_null() || !named) {
            (b'm', _) => "main chunk".to_string(),
            (_, false) => format!("function '{}'", CStr::from_ptr(ar.name).to_string_lossy()),
            (_, true) => format!("a function defined at line {}", ar.linedefined),
        };
        let mut frame = Frame { source: cx.source_line(&place), what, ..Frame::default() };
        frame.place = Some(place);
        if index < FRAMES_WITH_VARIABLES {
            frame.locals = variables(l, cx, |i| lua_getlocal(l, ar, i));
            lua_getinfo(l, c"f".as_ptr(), ar);
            frame.upvalues = variables(l, cx, |i| lua_getupvalue(l, -1, i));
            lua_settop(l, -2);
        }
        frame
    }
}

/// Names and values that `next` pushes one by one, without functions, which say nothing.
unsafe fn variables(
    l: *mut lua_State,
    cx: &Cx,
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
            // Names in brackets are the VM's own temporaries.
            if !name.starts_with('(') && lua_type(l, -1) != LUA_TFUNCTION {
                let mut value = literal(l, -1, cx);
                // A trace that is left restores the locals that are used after its exit. In the
                // place of another may be a link between frames, which reads as such a number.
                if lua_type(l, -1) == LUA_TNUMBER && lua_tonumber(l, -1).is_subnormal() {
                    value.push_str(", or no longer kept by compiled code");
                }
                found.push((name.into_owned(), value));
            }
            lua_settop(l, -2);
        }
    }
    found
}
