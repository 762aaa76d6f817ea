//! Stopping a running script: for its time, its memory, or the end of the process. The one owner of
//! Lua's hook, which is otherwise unset, and of the watchdog thread.
//!
//! A callback is *begun* with a budget of CPU time and *ended*. The watchdog looks at it fifty
//! times a second; what it finds too long is stopped by a hook that raises an error at every
//! instruction until the callback has ended, so that no `pcall` of the script's can swallow it.

use super::cx::Cx;
use super::report::{self, Report};
use crate::system::platform::{self, ThreadClock};
use mlua::ffi::*;
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::Duration;

/// How often the watchdog looks.
const WATCH_PERIOD: Duration = Duration::from_millis(20);
/// A process that is asked to end gives the callback that runs this long to finish by itself.
const GRACE_SECONDS: f64 = 0.1;
/// Callbacks that begin after the asking (`shutdown`) have until this long after it.
const FAREWELL_SECONDS: f64 = 0.8;
/// A process that is asked to end and cannot ends hard after this long.
const PATIENCE_SECONDS: f64 = 1.0;

/// Why a script is stopped.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(u32)]
pub enum Reason {
    /// It used more CPU time than it may.
    Time = 1,
    /// Lua holds more memory than it may.
    Memory = 2,
    /// The process was asked to end.
    End = 4,
}

/// What the watchdog thread and the thread that runs Lua share.
pub struct Interrupt {
    state: AtomicPtr<lua_State>,
    reasons: AtomicU32,
    /// Odd while a callback runs.
    turn: AtomicU64,
    /// The turn that `Time` and `End` were armed for.
    armed_turn: AtomicU64,
    started_micros: AtomicU64,
    budget_micros: AtomicU64,
    /// Whether the process had been asked to end when the callback began.
    late: AtomicBool,
    clock: Mutex<Option<ThreadClock>>,
    closing: AtomicBool,
    /// Whether the lines that run are counted.
    lines: AtomicBool,
    watcher: Mutex<Option<Thread>>,
    /// Called when the process cannot end by itself.
    last_words: Mutex<Option<Box<dyn Fn() + Send>>>,
}

unsafe extern "C-unwind" {
    fn script_hook(l: *mut lua_State, ar: *mut lua_Debug);
}

impl Interrupt {
    pub fn new() -> Arc<Interrupt> {
        Arc::new(Interrupt {
            state: AtomicPtr::new(null_mut()),
            reasons: AtomicU32::new(0),
            turn: AtomicU64::new(0),
            armed_turn: AtomicU64::new(0),
            started_micros: AtomicU64::new(0),
            budget_micros: AtomicU64::new(0),
            late: AtomicBool::new(false),
            clock: Mutex::new(None),
            closing: AtomicBool::new(false),
            lines: AtomicBool::new(false),
            watcher: Mutex::new(None),
            last_words: Mutex::new(None),
        })
    }

    /// Names the state to stop, and starts watching the calling thread, which is to run it.
    pub fn watch(self: &Arc<Interrupt>, state: *mut lua_State) {
        self.state.store(state, SeqCst);
        *self.clock.lock().unwrap() = Some(ThreadClock::of_this_thread());
        let shared = self.clone();
        let watch = move || {
            while !shared.closing.load(SeqCst) {
                thread::park_timeout(WATCH_PERIOD);
                shared.look();
            }
        };
        let spawned = thread::Builder::new().name("watchdog".into()).spawn(watch);
        // Without a watchdog a game still runs; it only cannot be stopped in an endless loop.
        match spawned {
            Ok(handle) => *self.watcher.lock().unwrap() = Some(handle.thread().clone()),
            Err(error) => crate::foundation::log::warning(&format!("no watchdog: {error}")),
        }
    }

    /// What to do when the process was asked to end and a script does not let it.
    pub fn set_last_words(&self, f: Box<dyn Fn() + Send>) {
        *self.last_words.lock().unwrap() = Some(f);
    }

    /// Stops watching: the state is about to be closed.
    pub fn close(&self) {
        self.closing.store(true, SeqCst);
        // Taken under the lock that `arm` holds while it uses the state.
        let clock = self.clock.lock().unwrap();
        self.state.store(null_mut(), SeqCst);
        drop(clock);
        if let Some(watcher) = &*self.watcher.lock().unwrap() {
            watcher.unpark();
        }
    }

    fn cpu_micros(&self) -> u64 {
        let clock = *self.clock.lock().unwrap();
        clock.map_or(0, |clock| (clock.seconds() * 1e6) as u64)
    }

    /// A callback begins; it may use `budget` seconds of CPU time (infinite: as much as it likes).
    pub fn begin(&self, budget: f64) {
        self.started_micros.store(self.cpu_micros(), SeqCst);
        let micros = if budget.is_finite() { (budget * 1e6) as u64 } else { u64::MAX };
        self.budget_micros.store(micros, SeqCst);
        self.late.store(platform::asked_to_end().is_some(), SeqCst);
        self.turn.fetch_add(1, SeqCst);
    }

    /// The callback has ended: whatever was armed for it is disarmed.
    pub fn end(&self, state: *mut lua_State) {
        self.turn.fetch_add(1, SeqCst);
        if self.reasons.load(SeqCst) != 0 {
            let _lock = self.clock.lock().unwrap();
            self.reasons.fetch_and(Reason::Memory as u32, SeqCst);
            self.unhook_when_done(state);
        }
    }

    fn unhook_when_done(&self, state: *mut lua_State) {
        if self.reasons.load(SeqCst) == 0 {
            let (hook, mask) = match self.lines.load(SeqCst) {
                true => (Some(script_hook as unsafe extern "C-unwind" fn(_, _)), LUA_MASKLINE),
                false => (None, 0),
            };
            // SAFETY: called on the thread that runs this state.
            unsafe { lua_sethook(state, hook, mask, 0) };
        }
    }

    /// Counts the lines that run from now on (lines.rs). Compiled code does not tell: the compiler
    /// must be off.
    pub fn count_lines(&self, state: *mut lua_State) {
        self.lines.store(true, SeqCst);
        self.unhook_when_done(state);
    }

    /// One look of the watchdog.
    fn look(&self) {
        let turn = self.turn.load(SeqCst);
        if turn % 2 == 1 {
            let used = self.cpu_micros().saturating_sub(self.started_micros.load(SeqCst));
            if used > self.budget_micros.load(SeqCst) {
                self.arm_for(turn, Reason::Time);
            }
        }
        if let Some(seconds) = platform::asked_to_end() {
            let late = self.late.load(SeqCst);
            let allowed = if late { FAREWELL_SECONDS } else { GRACE_SECONDS };
            if seconds > allowed && turn % 2 == 1 {
                self.arm_for(turn, Reason::End);
            }
            if seconds > PATIENCE_SECONDS
                && !self.closing.load(SeqCst)
                && let Some(last_words) = &*self.last_words.lock().unwrap()
            {
                last_words();
            }
        }
    }

    fn arm_for(&self, turn: u64, reason: Reason) {
        self.armed_turn.store(turn, SeqCst);
        let lock = self.clock.lock().unwrap();
        self.arm(reason);
        drop(lock);
    }

    /// Arms the hook: the script is stopped at its next instruction.
    pub fn arm(&self, reason: Reason) {
        let state = self.state.load(SeqCst);
        if state.is_null() || self.closing.load(SeqCst) {
            return;
        }
        self.reasons.fetch_or(reason as u32, SeqCst);
        let lines = if self.lines.load(SeqCst) { LUA_MASKLINE } else { 0 };
        // SAFETY: the state is open (`close` takes the lock first), and LuaJIT's hook may be set at
        // any time, from a signal handler or another thread (LUA_MASKCOUNT, checked in compiled
        // loops by LUAJIT_ENABLE_CHECKHOOK).
        unsafe { lua_sethook(state, Some(script_hook), LUA_MASKCOUNT | lines, 1) };
    }

    fn armed(&self, reason: Reason) -> bool {
        self.reasons.load(SeqCst) & reason as u32 != 0
    }

    /// Lets the running callback go on after a part of it was stopped, with its budget anew.
    pub fn forgive(&self, state: *mut lua_State) {
        self.started_micros.store(self.cpu_micros(), SeqCst);
        self.disarm(Reason::Time, state);
    }

    fn disarm(&self, reason: Reason, state: *mut lua_State) {
        self.reasons.fetch_and(!(reason as u32), SeqCst);
        self.unhook_when_done(state);
    }
}

/// Called by the hook, through C, which raises the error on the stack when this returns 1.
///
/// # Safety
/// Called by Lua only, with a state of a VM of ours.
#[unsafe(no_mangle)]
unsafe extern "C" fn script_interrupted(l: *mut lua_State, ar: *mut lua_Debug) -> c_int {
    // SAFETY: as above; the calls below are allowed in a hook.
    unsafe {
        let cx = Cx::of(l);
        if (*ar).event == LUA_HOOKLINE
            && let Some(lines) = &mut cx.lines
        {
            if lua_getinfo(l, c"S".as_ptr(), ar) != 0 {
                let source = CStr::from_ptr((*ar).source).to_bytes();
                lines.note(source, usize::try_from((*ar).currentline).unwrap_or(0));
            }
            if cx.interrupt.reasons.load(SeqCst) == 0 {
                return 0;
            }
        }
        if cx.memory.lenient > 0 {
            return 0;
        }
        let interrupt = cx.interrupt.clone();
        if interrupt.armed(Reason::Memory) {
            // What is held may be garbage: the collector does not run during a frame.
            interrupt.disarm(Reason::Memory, l);
            lua_gc(l, LUA_GCCOLLECT, 0);
            lua_gc(l, LUA_GCSTOP, 0);
            if cx.memory.used > cx.memory.limit / 100 * 95 {
                return raise(l, cx, memory_words(cx.memory.limit), false);
            }
        }
        if !interrupt.armed(Reason::Time) && !interrupt.armed(Reason::End) {
            return 0;
        }
        if interrupt.armed_turn.load(SeqCst) != interrupt.turn.load(SeqCst) {
            // Armed for a callback that ended meanwhile.
            interrupt.disarm(Reason::Time, l);
            interrupt.disarm(Reason::End, l);
            return 0;
        }
        let words = match interrupt.armed(Reason::Time) {
            true => {
                let seconds = interrupt.budget_micros.load(SeqCst) as f64 / 1e6;
                format!(
                    "stopped: this ran for {seconds} seconds of CPU time without an end (if it \
                     needs more, raise limits.update_seconds or limits.init_seconds in \
                     settings.sjson)"
                )
            }
            false => "stopped: the process was asked to end, and this did not return".to_string(),
        };
        raise(l, cx, words, true)
    }
}

/// The words for Lua's memory limit.
pub fn memory_words(limit: usize) -> String {
    format!(
        "not enough memory: Lua holds all of its {} MiB (if the game needs more, raise \
         limits.lua_memory_mib in settings.sjson)",
        limit >> 20
    )
}

/// Pushes the error and keeps its report. Of a script that must stop the first one is told, for
/// that is where it really was; an error of memory is an ordinary one, which the game may catch.
unsafe fn raise(l: *mut lua_State, cx: &mut Cx, words: String, stopped: bool) -> c_int {
    // SAFETY: as the caller promised; lenient, so that pushing cannot fail.
    unsafe {
        cx.memory.lenient += 1;
        let place = super::describe::place(l).map(|place| place + ": ").unwrap_or_default();
        let text = place + &words;
        if !cx.report.as_ref().is_some_and(|known| known.stopped) {
            let report = report::capture(l, cx, &text, 0);
            cx.report = Some(Box::new(Report { stopped, ..report }));
        }
        cx.interrupted = Some(text.clone());
        lua_pushlstring(l, text.as_ptr() as *const _, text.len());
        cx.memory.lenient -= 1;
        1
    }
}
