//! Steps: decides at each executed line if the script stops there.

use super::{DebuggerState, code_swap};
use mlua::ffi::*;
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

/// The lines at which a step ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepMode {
    /// Any line.
    In,
    /// A line of the same function, or of one that called it.
    Over,
    /// A line of a function that called it.
    Out,
}

/// A step that was begun.
pub struct Step {
    mode: StepMode,
    /// The coroutine in which it was begun. The registry keeps it alive.
    thread: *mut lua_State,
    /// The number of functions on the stack.
    depth: c_int,
    /// The chunk and the line.
    origin: (Vec<u8>, c_int),
    /// The turn of the interrupt: it changes with the callback.
    turn: u64,
    /// True if another line of the same function was reached.
    moved: bool,
}

/// Key of the registry for the coroutine of a step.
const THREAD: &CStr = c"engine.debugged_thread";

impl Step {
    /// Begins a step in the coroutine `l`.
    ///
    /// # Safety
    /// `l` is a live state with room on its stack.
    pub unsafe fn new(
        l: *mut lua_State,
        mode: StepMode,
        depth: c_int,
        origin: (Vec<u8>, c_int),
        turn: u64,
    ) -> Step {
        // SAFETY: as the caller promised.
        unsafe {
            lua_pushthread(l);
            lua_setfield(l, LUA_REGISTRYINDEX, THREAD.as_ptr());
        }
        Step { mode, thread: l, depth, origin, turn, moved: false }
    }

    /// Returns true if the step ends at this line, in a function of the game.
    unsafe fn ends(&mut self, l: *mut lua_State, source: &[u8], line: c_int, turn: u64) -> bool {
        if turn != self.turn {
            // The callback has ended.
            return true;
        }
        if l != self.thread {
            // SAFETY: the registry keeps the coroutine alive.
            return self.mode == StepMode::In || unsafe { has_left(self.thread) };
        }
        // SAFETY: the state is in its hook.
        let depth = unsafe { depth(l) };
        let is_origin = depth == self.depth && line == self.origin.1 && source == self.origin.0;
        if is_origin && !self.moved {
            return false;
        }
        self.moved |= depth <= self.depth;
        match self.mode {
            StepMode::In => true,
            StepMode::Over => depth <= self.depth,
            StepMode::Out => depth < self.depth,
        }
    }
}

/// Returns true if a coroutine has yielded or ended.
unsafe fn has_left(thread: *mut lua_State) -> bool {
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    // SAFETY: the caller keeps the coroutine alive.
    unsafe { lua_status(thread) != LUA_OK || lua_getstack(thread, 0, ar.as_mut_ptr()) == 0 }
}

/// Returns the number of functions on a stack.
unsafe fn depth(l: *mut lua_State) -> c_int {
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    // SAFETY: the state is alive; the record is only written.
    let mut has = |level: c_int| unsafe { lua_getstack(l, level, ar.as_mut_ptr()) != 0 };
    let mut above = 1;
    while has(above) {
        above *= 2;
    }
    let mut below = above / 2;
    while above - below > 1 {
        let middle = (above + below) / 2;
        match has(middle) {
            true => below = middle,
            false => above = middle,
        }
    }
    above
}

/// Event at an executed line.
#[derive(PartialEq, Debug)]
pub enum LineEvent {
    Passes,
    /// A step ends here.
    Stops,
    /// A function that does not have the inserted call of this line has reached it.
    HasBreakpoint,
    /// Values are compared here (data breakpoints).
    Compares,
}

/// Classifies the line that the hook has reached.
///
/// # Safety
/// `l` is a live state in its hook, and `ar` the hook's record, whose source is filled in.
pub unsafe fn classify(
    debugger: &mut DebuggerState,
    l: *mut lua_State,
    ar: *mut lua_Debug,
    turn: u64,
) -> LineEvent {
    // SAFETY: as the caller promised.
    unsafe {
        if lua_getinfo(l, c"S".as_ptr(), ar) == 0 {
            return LineEvent::Passes;
        }
        let (source, line) = (CStr::from_ptr((*ar).source).to_bytes(), (*ar).currentline);
        let Some(chunk) = source.strip_prefix(b"@") else { return LineEvent::Passes };
        let listed = debugger.lines.get(chunk).is_some_and(|lines| lines.contains(&line));
        let mut is_old = false;
        if listed && debugger.has_old_code {
            lua_getinfo(l, c"f".as_ptr(), ar);
            is_old = !debugger.current.contains(&code_swap::code_address(l, -1));
            lua_settop(l, -2);
        }
        let is_resumed = debugger.resumed == Some((l.addr(), line));
        if !is_resumed {
            debugger.resumed = None;
        }
        if is_old && !is_resumed {
            return LineEvent::HasBreakpoint;
        }
        let ends = match &mut debugger.step {
            Some(step) => step.ends(l, source, line, turn),
            None => false,
        };
        // The inserted call of a line stops the script itself, as it knows the breakpoint.
        debugger.step_ended = ends && listed;
        match (ends && !listed, debugger.compares) {
            (true, _) => LineEvent::Stops,
            (false, true) => LineEvent::Compares,
            (false, false) => LineEvent::Passes,
        }
    }
}
