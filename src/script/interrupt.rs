//! Stopping a running script: for its time, its memory, or the end of the process. The one owner of
//! Lua's hook, which is otherwise unset, and of the watchdog thread.
//!
//! A callback is *begun* with a budget of CPU time and *ended*. The watchdog looks at it fifty
//! times a second; what it finds too long is stopped by a hook that raises an error at every
//! instruction until the callback has ended, so that no `pcall` of the script's can swallow it.

use super::cx::Cx;
use super::describe::ENGINE_CHUNK;
use super::report::{self, Report};
use crate::foundation::{fault, log};
use crate::system::platform::{self, Poke, ThreadClock};
use mlua::ffi::*;
use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::io;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, Thread};
use std::time::Duration;

/// How often the watchdog looks.
const WATCH_PERIOD: Duration = Duration::from_millis(20);
/// The watchdog did not look yet since the callback began.
const UNSEEN: u64 = u64::MAX;
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
    /// The engine does.
    EngineMemory = 16,
    /// The process was asked to end.
    End = 4,
    /// Somebody wants to know where it is (sampler.rs). It is not stopped.
    Where = 8,
}

/// What the watchdog thread and the thread that runs Lua share.
pub struct Interrupt {
    state: AtomicPtr<lua_State>,
    reasons: AtomicU32,
    /// Odd while a callback runs.
    turn: AtomicU64,
    /// The turn that `Time` and `End` were armed for.
    armed_turn: AtomicU64,
    /// Whether the hook struck since the watchdog looked: it stands.
    struck: AtomicBool,
    /// Whether this VM's own thread is changing the hook.
    hooking: AtomicBool,
    started_micros: AtomicU64,
    budget_micros: AtomicU64,
    /// Whether the process had been asked to end when the callback began.
    late: AtomicBool,
    /// The thread that runs Lua.
    watched: Mutex<Option<Watched>>,
    /// The next one in the list of this thread's.
    next: AtomicPtr<Interrupt>,
    closing: AtomicBool,
    /// Whether the lines that run are counted.
    lines: AtomicBool,
    /// Whether the script is to end, whatever it does.
    cancelled: AtomicBool,
    watcher: Mutex<Option<Thread>>,
    /// Called when the process cannot end by itself.
    last_words: Mutex<Option<LastWords>>,
}

/// What is called when the process cannot end by itself.
type LastWords = Box<dyn Fn(Stuck) + Send>;

/// Who does not let the process end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stuck {
    Script,
    Engine,
}

#[derive(Clone, Copy)]
struct Watched {
    clock: ThreadClock,
    poke: Poke,
}

thread_local! {
    /// The first of the interrupts whose VMs run on this thread. A list that a signal handler can
    /// walk at any time: every change of it is one store.
    static FIRST: Cell<*const Interrupt> = const { Cell::new(null()) };
}

/// What a thread that runs Lua does when its watchdog pokes it. LuaJIT's hook may be set from a
/// signal handler on the thread that runs the state, and from no other thread.
fn poked() {
    let mut at = FIRST.get();
    // SAFETY: an interrupt is in the list from `watch` to `close`, both called on this thread, and
    // its VM holds it for longer.
    while let Some(interrupt) = unsafe { at.as_ref() } {
        if interrupt.reasons.load(SeqCst) != 0 && !interrupt.hooking.load(SeqCst) {
            interrupt.hook();
        }
        at = interrupt.next.load(SeqCst);
    }
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
            struck: AtomicBool::new(false),
            hooking: AtomicBool::new(false),
            started_micros: AtomicU64::new(0),
            budget_micros: AtomicU64::new(0),
            late: AtomicBool::new(false),
            watched: Mutex::new(None),
            next: AtomicPtr::new(null_mut()),
            closing: AtomicBool::new(false),
            lines: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            watcher: Mutex::new(None),
            last_words: Mutex::new(None),
        })
    }

    /// Names the state to stop, and starts watching the calling thread, which is to run it and to
    /// call [`Interrupt::close`]. Fails where the system has no thread left for the watchdog.
    pub fn watch(self: &Arc<Interrupt>, state: *mut lua_State) -> io::Result<()> {
        self.watch_by(state, thread::Builder::new())
    }

    fn watch_by(self: &Arc<Interrupt>, state: *mut lua_State, thread: Builder) -> io::Result<()> {
        self.state.store(state, SeqCst);
        let (clock, poke) = (ThreadClock::of_this_thread(), Poke::this_thread(poked));
        *fault::lock(&self.watched) = Some(Watched { clock, poke });
        self.next.store(FIRST.get().cast_mut(), SeqCst);
        FIRST.set(Arc::as_ptr(self));
        let shared = self.clone();
        let watch = move || {
            while !shared.closing.load(SeqCst) {
                thread::park_timeout(WATCH_PERIOD);
                let look = || shared.look(platform::asked_to_end());
                // Without it nothing stops a script that does not end: it goes on looking.
                if let Err(error) = fault::contain(look) {
                    log::error(&format!("the watchdog failed: {error}"));
                }
            }
        };
        let handle = fault::spawn_with(thread, "watchdog", watch)?;
        *fault::lock(&self.watcher) = Some(handle.thread().clone());
        Ok(())
    }

    /// Stops what runs and what will run, soon; from any thread.
    pub fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
        if let Some(watcher) = &*fault::lock(&self.watcher) {
            watcher.unpark();
        }
    }

    /// The running callback has all of its time anew; from the thread that runs it.
    pub fn renew(&self) {
        self.started_micros.store(self.cpu_micros(), SeqCst);
    }

    /// What to do when the process was asked to end and does not.
    pub fn set_last_words(&self, f: LastWords) {
        *fault::lock(&self.last_words) = Some(f);
    }

    /// Stops watching: the state is about to be closed.
    pub fn close(&self) {
        self.closing.store(true, SeqCst);
        // Taken under the lock that the watchdog holds while it uses the state and the thread.
        let watched = fault::lock(&self.watched);
        self.state.store(null_mut(), SeqCst);
        self.leave_list();
        drop(watched);
        if let Some(watcher) = &*fault::lock(&self.watcher) {
            watcher.unpark();
        }
    }

    /// Takes this one out of its thread's list.
    fn leave_list(&self) {
        let next = self.next.load(SeqCst);
        if std::ptr::eq(FIRST.get(), self) {
            FIRST.set(next);
            return;
        }
        let mut at = FIRST.get();
        // SAFETY: as in `poked`.
        while let Some(other) = unsafe { at.as_ref() } {
            if std::ptr::eq(other.next.load(SeqCst), self) {
                other.next.store(next, SeqCst);
            }
            at = other.next.load(SeqCst);
        }
    }

    fn cpu_micros(&self) -> u64 {
        let watched = *fault::lock(&self.watched);
        watched.map_or(0, |watched| (watched.clock.seconds() * 1e6) as u64)
    }

    /// A callback begins; it may use `budget` seconds of CPU time (infinite: as much as it likes).
    pub fn begin(&self, budget: f64) {
        // Asking for the time costs as much as a short callback: the watchdog does when it looks.
        self.started_micros.store(UNSEEN, SeqCst);
        let micros = if budget.is_finite() { (budget * 1e6) as u64 } else { u64::MAX };
        self.budget_micros.store(micros, SeqCst);
        self.late.store(platform::asked_to_end().is_some(), SeqCst);
        self.turn.fetch_add(1, SeqCst);
    }

    /// The callback has ended: whatever was armed for it is disarmed.
    pub fn end(&self, state: *mut lua_State) {
        self.turn.fetch_add(1, SeqCst);
        if self.reasons.load(SeqCst) != 0 {
            let _lock = fault::lock(&self.watched);
            let kept = Reason::Memory as u32 | Reason::EngineMemory as u32;
            self.reasons.fetch_and(kept, SeqCst);
            self.unhook_when_done(state);
        }
    }

    fn unhook_when_done(&self, state: *mut lua_State) {
        if self.reasons.load(SeqCst) == 0 {
            let lines = self.lines.load(SeqCst);
            self.hooking.store(true, SeqCst);
            // SAFETY: called on the thread that runs this state.
            unsafe {
                match lines {
                    true => _ = lua_sethook(state, Some(script_hook), LUA_MASKLINE, 0),
                    false => _ = lua_sethook(state, None, 0, 0),
                }
            }
            self.hooking.store(false, SeqCst);
        }
    }

    /// Sets the hook that stops the script, on the thread that runs the state.
    fn hook(&self) {
        let state = self.state.load(SeqCst);
        if state.is_null() {
            return;
        }
        let lines = if self.lines.load(SeqCst) { LUA_MASKLINE } else { 0 };
        self.hooking.store(true, SeqCst);
        // SAFETY: the state is open: `close` forgets it first, on this thread. LuaJIT's hook may be
        // set at any time, by a signal handler too (LUA_MASKCOUNT is checked in compiled loops by
        // LUAJIT_ENABLE_CHECKHOOK).
        unsafe { lua_sethook(state, Some(script_hook), LUA_MASKCOUNT | lines, 1) };
        self.hooking.store(false, SeqCst);
    }

    /// Counts the lines that run from now on (lines.rs). Compiled code does not tell: the compiler
    /// must be off.
    pub fn count_lines(&self, state: *mut lua_State) {
        self.lines.store(true, SeqCst);
        self.unhook_when_done(state);
    }

    /// One look of the watchdog, `asked` seconds after the process was asked to end.
    fn look(&self, asked: Option<f64>) {
        let turn = self.turn.load(SeqCst);
        if turn % 2 == 1 {
            let now = self.cpu_micros();
            // As if it began now; another one may have begun meanwhile, of which that holds, too.
            let seen = self.started_micros.compare_exchange(UNSEEN, now, SeqCst, SeqCst);
            let used = seen.err().map_or(0, |started| now.saturating_sub(started));
            if used > self.budget_micros.load(SeqCst) {
                self.arm_for(turn, Reason::Time);
            }
        }
        if turn % 2 == 1 && self.cancelled.load(SeqCst) {
            self.arm_for(turn, Reason::End);
        }
        if let Some(seconds) = asked {
            let late = self.late.load(SeqCst);
            let allowed = if late { FAREWELL_SECONDS } else { GRACE_SECONDS };
            if seconds > allowed && turn % 2 == 1 {
                self.arm_for(turn, Reason::End);
            }
            if seconds > PATIENCE_SECONDS
                && !self.closing.load(SeqCst)
                && let Some(last_words) = &*fault::lock(&self.last_words)
            {
                last_words(if turn % 2 == 1 { Stuck::Script } else { Stuck::Engine });
            }
        }
    }

    /// Has the script stopped, where it still runs this turn. Again and again, for the hook can be
    /// lost to what it met the thread at; but not while it strikes.
    fn arm_for(&self, turn: u64, reason: Reason) {
        let struck = self.struck.swap(false, SeqCst);
        if struck && self.armed(reason) && self.armed_turn.load(SeqCst) == turn {
            return;
        }
        self.armed_turn.store(turn, SeqCst);
        let watched = fault::lock(&self.watched);
        if self.closing.load(SeqCst) || self.state.load(SeqCst).is_null() {
            return;
        }
        self.reasons.fetch_or(reason as u32, SeqCst);
        // SAFETY: the thread has not called `close` yet, for that takes the lock.
        let poked = watched.is_some_and(|watched| unsafe { watched.poke.poke() });
        if !poked {
            // Where there are no signals the hook is set from here, though LuaJIT changes the same
            // words without a lock: what it may lose is this hook, which comes again.
            self.hook();
        }
    }

    /// Arms the hook, on the thread that runs the state: it is stopped at its next instruction.
    pub fn arm(&self, reason: Reason) {
        if self.closing.load(SeqCst) {
            return;
        }
        self.reasons.fetch_or(reason as u32, SeqCst);
        self.hook();
    }

    /// Has the running script say where it is, from another thread.
    pub fn ask_where(&self) {
        let watched = fault::lock(&self.watched);
        let runs = self.turn.load(SeqCst) % 2 == 1;
        if !runs || self.closing.load(SeqCst) || self.state.load(SeqCst).is_null() {
            return;
        }
        self.reasons.fetch_or(Reason::Where as u32, SeqCst);
        // SAFETY: the thread has not called `close` yet, for that takes the lock. Where there are
        // no signals, or the hook gets lost, the next asking comes soon.
        if !watched.is_some_and(|watched| unsafe { watched.poke.poke() }) {
            self.hook();
        }
    }

    fn armed(&self, reason: Reason) -> bool {
        self.reasons.load(SeqCst) & reason as u32 != 0
    }

    /// Whether the running callback is to be stopped: for work in the engine that a hook of Lua's
    /// does not reach.
    pub fn is_stopping(&self) -> bool {
        let armed = self.armed(Reason::Time) || self.armed(Reason::End);
        armed && self.armed_turn.load(SeqCst) == self.turn.load(SeqCst)
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
        if note_place(l, ar, cx) && cx.interrupt.reasons.load(SeqCst) == 0 {
            return 0;
        }
        cx.interrupt.struck.store(true, SeqCst);
        if cx.memory.lenience() > 0 {
            return 0;
        }
        let interrupt = cx.interrupt.clone();
        if interrupt.armed(Reason::Memory) {
            // What is held may be garbage: the collector does not run during a frame.
            interrupt.disarm(Reason::Memory, l);
            cx.collect_now(l);
            if cx.memory.used() > cx.memory.limit / 100 * 95 {
                return raise(l, cx, memory_words(cx), false);
            }
        }
        if interrupt.armed(Reason::EngineMemory) && runs_engine(l, ar) {
            // It would be left in the middle of what it does, with units that nobody was told of:
            // the error comes at the next instruction of the game's. Meanwhile the reserve holds.
            cx.is_full();
        } else if interrupt.armed(Reason::EngineMemory) {
            interrupt.disarm(Reason::EngineMemory, l);
            if let Some(message) = cx.memory.engine.take_message() {
                cx.is_full();
                return raise(l, cx, message, false);
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
                let remedy = match cx.worker {
                    true => "give Worker.start more seconds, or raise limits.worker_seconds in",
                    false => "raise limits.update_seconds or limits.init_seconds in",
                };
                format!(
                    "stopped: this ran for {seconds} seconds of CPU time without an end (if it \
                     needs more, {remedy} settings.sjson)"
                )
            }
            false => "stopped: the process was asked to end, and this did not return".to_string(),
        };
        raise(l, cx, words, true)
    }
}

/// Notes the line that runs, and where the script is, for those who count lines or sample. Returns
/// whether that is what the hook was for.
unsafe fn note_place(l: *mut lua_State, ar: *mut lua_Debug, cx: &mut Cx) -> bool {
    let mut noted = false;
    // SAFETY: as the caller's: the record is the hook's.
    unsafe {
        if (*ar).event == LUA_HOOKLINE
            && let Some(lines) = &mut cx.lines
        {
            noted = true;
            if lua_getinfo(l, c"S".as_ptr(), ar) != 0 {
                let source = CStr::from_ptr((*ar).source).to_bytes();
                lines.note(source, usize::try_from((*ar).currentline).unwrap_or(0));
            }
        }
        if cx.interrupt.armed(Reason::Where) {
            noted = true;
            let work = cx.work();
            if let Some(samples) = &mut cx.samples {
                samples.note(l, work);
            }
            cx.interrupt.clone().disarm(Reason::Where, l);
        }
    }
    noted
}

/// Whether the function that a hook met is one of the engine's own Lua.
unsafe fn runs_engine(l: *mut lua_State, ar: *mut lua_Debug) -> bool {
    // SAFETY: as the caller's: the record is the hook's.
    unsafe {
        lua_getinfo(l, c"S".as_ptr(), ar) != 0
            && CStr::from_ptr((*ar).source).to_bytes().strip_prefix(b"=").is_some_and(|name| {
                // A game's chunk cannot have such a name (lua/modules.lua).
                name.starts_with(ENGINE_CHUNK.as_bytes())
            })
    }
}

/// The words for Lua's memory limit.
pub fn memory_words(cx: &Cx) -> String {
    let (who, setting) = match cx.worker {
        true => ("a worker", "worker_memory_mib"),
        false => ("the game", "lua_memory_mib"),
    };
    format!(
        "not enough memory: Lua holds all of its {} MiB (if {who} needs more, raise \
         limits.{setting} in settings.sjson)",
        cx.memory.limit >> 20
    )
}

/// Pushes the error and keeps its report. Of a script that must stop the first one is told, for
/// that is where it really was; an error of memory is an ordinary one, which the game may catch.
unsafe fn raise(l: *mut lua_State, cx: &mut Cx, words: String, stopped: bool) -> c_int {
    // SAFETY: as the caller promised; lenient, so that pushing cannot fail.
    unsafe {
        cx.memory.be_lenient();
        let place = super::describe::place(l).map(|place| place + ": ").unwrap_or_default();
        let text = place + &words;
        if !cx.report.as_ref().is_some_and(|known| known.stopped) {
            let report = report::capture(l, cx, &text, 0);
            cx.report = Some(Box::new(Report { stopped, ..report }));
        }
        cx.interrupted = Some(text.clone());
        lua_pushlstring(l, text.as_ptr() as *const _, text.len());
        cx.memory.be_strict();
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_thread_for_the_watchdog_there_is_no_vm() {
        let interrupt = Interrupt::new();
        let giant = Builder::new().stack_size(1 << 60);
        assert!(interrupt.watch_by(null_mut(), giant).is_err());
        interrupt.close();
    }

    #[test]
    fn the_last_words_tell_a_script_from_the_engine() {
        let interrupt = Interrupt::new();
        let (told, tells) = std::sync::mpsc::channel();
        interrupt.set_last_words(Box::new(move |stuck| told.send(stuck).unwrap()));
        interrupt.look(Some(PATIENCE_SECONDS / 2.0));
        interrupt.look(Some(PATIENCE_SECONDS * 2.0));
        interrupt.begin(f64::INFINITY);
        interrupt.look(Some(PATIENCE_SECONDS * 2.0));
        assert_eq!(tells.try_iter().collect::<Vec<_>>(), [Stuck::Engine, Stuck::Script]);
    }

    #[test]
    fn interrupts_leave_their_threads_list_in_any_order() {
        let all = [Interrupt::new(), Interrupt::new(), Interrupt::new()];
        for interrupt in &all {
            interrupt.watch(null_mut()).unwrap();
        }
        let listed = || {
            let first = std::iter::successors(Some(FIRST.get()), |at| {
                // SAFETY: they are all alive.
                let next = unsafe { at.as_ref() }?.next.load(SeqCst);
                Some(next.cast_const())
            });
            first.take_while(|at| !at.is_null()).collect::<Vec<_>>()
        };
        let [a, b, c] = [0, 1, 2].map(|i| Arc::as_ptr(&all[i]));
        assert_eq!(listed(), [c, b, a]);
        all[1].close();
        assert_eq!(listed(), [c, a]);
        all[2].close();
        assert_eq!(listed(), [a]);
        all[0].close();
        assert!(listed().is_empty());
    }
}
