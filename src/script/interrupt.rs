//! Interrupting a running script: because of its time, its memory, or the end of the process. This
//! module is the only owner of Lua's hook, which is otherwise unset, and of the watchdog thread.
//!
//! A callback is *begun* with a budget of CPU time and *ended*. The watchdog checks it 50 times a
//! second. A callback that takes too long is stopped by a hook that raises an error at every
//! instruction until the callback has ended: no `pcall` of the script can swallow the error.

mod suspension;
#[cfg(test)]
mod tests;

use super::context::ScriptContext;
use super::debugger;
use super::describe_value::ENGINE_CHUNK;
use super::report::{self, ErrorReport};
use engine_foundation::{log, panic};
use engine_platform::{self as platform, ThreadClock, ThreadInterrupt};
use mlua::ffi::*;
use std::ffi::{CStr, c_int};
use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, Thread};
use std::time::Duration;

pub use suspension::SuspendedBudget;

/// Interval between two checks of the watchdog.
const WATCH_PERIOD: Duration = Duration::from_millis(20);
/// Marks that the watchdog has not checked since the callback began.
const UNSEEN: u64 = u64::MAX;
/// Time that the running callback has to finish by itself after the end of the process is
/// requested.
const GRACE_SECONDS: f64 = 0.1;
/// Time after the request within which callbacks that begin later (`shutdown`) must end.
const SHUTDOWN_SECONDS: f64 = 0.8;
/// Time after the request at which a process that cannot end is terminated.
const KILL_SECONDS: f64 = 1.0;

/// The reason why a script is interrupted.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(u32)]
pub enum StopReason {
    /// The script exceeded its budget of CPU time.
    Time = 1,
    /// Lua holds more memory than its limit.
    Memory = 2,
    /// The engine holds more memory than its limit.
    EngineMemory = 16,
    /// The end of the process was requested.
    End = 4,
    /// The sampler asks for the script's location (sampler.rs). The script is not stopped.
    Where = 8,
    /// The debugger has settings for a worker. The script is not stopped.
    Debugger = 32,
}

/// State shared by the watchdog thread and the thread that runs Lua.
pub struct Interrupt {
    state: AtomicPtr<lua_State>,
    reasons: AtomicU32,
    /// Odd while a callback runs.
    turn: AtomicU64,
    /// The turn for which `Time` and `End` were armed.
    armed_turn: AtomicU64,
    /// True if the hook has run since the watchdog's last check: the hook is in place.
    struck: AtomicBool,
    /// True while this VM's own thread is changing the hook.
    hooking: AtomicBool,
    started_micros: AtomicU64,
    budget_micros: AtomicU64,
    /// True if the end of the process had been requested before the callback began.
    late: AtomicBool,
    /// The thread that runs Lua.
    watched: Mutex<Option<WatchedScript>>,
    /// The next interrupt in this thread's list.
    next: AtomicPtr<Interrupt>,
    closing: AtomicBool,
    /// True if executed lines are counted.
    lines: AtomicBool,
    /// True if the debugger follows executed lines.
    debugged: AtomicBool,
    /// True if the debugger has settings that the script has not taken over.
    has_settings: AtomicBool,
    /// True if the script must end in any case.
    cancelled: AtomicBool,
    watcher: Mutex<Option<Thread>>,
    /// Called when the process cannot end by itself.
    on_hang: Mutex<Option<OnHang>>,
}

/// A callback for a process that cannot end by itself.
type OnHang = Box<dyn Fn(HangCause) + Send>;

/// The part of the program that prevents the process from ending.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum HangCause {
    Script,
    Engine,
}

struct WatchedScript {
    clock: ThreadClock,
    thread_interrupt: ThreadInterrupt,
}

thread_local! {
    /// The first of the interrupts whose VMs run on this thread. A signal handler can walk this
    /// list at any time, because every change of the list is a single store.
    static FIRST: AtomicPtr<Interrupt> = const { AtomicPtr::new(null_mut()) };
}

fn first() -> *mut Interrupt {
    FIRST.with(|first| first.load(SeqCst))
}

/// Runs when the watchdog interrupts a thread that runs Lua: LuaJIT's hook may be set between any
/// two of its instructions, not while they run. `first` is the thread's list.
fn on_thread_interrupt(first: *const ()) {
    // SAFETY: the list lives as long as its thread, which is interrupted now.
    let list = unsafe { first.cast::<AtomicPtr<Interrupt>>().as_ref() };
    // A signal of another sender may come before the list is known.
    let Some(list) = list else { return };
    let mut at = list.load(SeqCst).cast_const();
    // SAFETY: an interrupt is in the list from `watch` to `close`, both called on its thread, and
    // its VM holds it for longer.
    while let Some(interrupt) = unsafe { at.as_ref() } {
        if interrupt.reasons.load(SeqCst) != 0 && !interrupt.hooking.load(SeqCst) {
            interrupt.hook();
        }
        at = interrupt.next.load(SeqCst).cast_const();
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
            debugged: AtomicBool::new(false),
            has_settings: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            watcher: Mutex::new(None),
            on_hang: Mutex::new(None),
        })
    }

    /// Sets the state to stop, and starts watching the calling thread, which must run it and call
    /// [`Interrupt::close`]. Fails if the system has no thread left for the watchdog.
    pub fn watch(self: &Arc<Interrupt>, state: *mut lua_State) -> io::Result<()> {
        self.watch_by(state, thread::Builder::new())
    }

    fn watch_by(self: &Arc<Interrupt>, state: *mut lua_State, thread: Builder) -> io::Result<()> {
        self.state.store(state, SeqCst);
        let list = FIRST.with(|first| std::ptr::from_ref(first).cast());
        let thread_interrupt = ThreadInterrupt::this_thread(on_thread_interrupt, list);
        let clock = ThreadClock::of_this_thread();
        *panic::lock(&self.watched) = Some(WatchedScript { clock, thread_interrupt });
        self.next.store(first(), SeqCst);
        FIRST.with(|first| first.store(Arc::as_ptr(self).cast_mut(), SeqCst));
        let shared = self.clone();
        let watch = move || {
            while !shared.closing.load(SeqCst) {
                thread::park_timeout(WATCH_PERIOD);
                let look = || shared.check(platform::end_requested());
                // Without the watchdog nothing stops a script that does not end, so it keeps
                // checking.
                if let Err(error) = panic::contain(look) {
                    log::error(&format!("the watchdog failed: {error}"));
                }
            }
        };
        let handle = panic::spawn_with(thread, "watchdog", watch)?;
        *panic::lock(&self.watcher) = Some(handle.thread().clone());
        Ok(())
    }

    /// Stops the running callback and all later ones, soon; can be called from any thread.
    pub fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
        if let Some(watcher) = &*panic::lock(&self.watcher) {
            watcher.unpark();
        }
    }

    /// Restarts the time budget of the running callback; must be called from the thread that runs
    /// it.
    pub fn renew(&self) {
        self.started_micros.store(self.cpu_micros(), SeqCst);
    }

    /// Sets the function to call if the process does not end after a request.
    pub fn set_on_hang(&self, f: OnHang) {
        *panic::lock(&self.on_hang) = Some(f);
    }

    /// Stops watching, because the state is about to be closed.
    pub fn close(&self) {
        self.closing.store(true, SeqCst);
        // The lock is the one that the watchdog holds while it uses the state and the thread.
        let watched = panic::lock(&self.watched);
        self.state.store(null_mut(), SeqCst);
        self.unlink();
        drop(watched);
        if let Some(watcher) = &*panic::lock(&self.watcher) {
            watcher.unpark();
        }
    }

    /// Removes this interrupt from its thread's list.
    fn unlink(&self) {
        let next = self.next.load(SeqCst);
        if std::ptr::eq(first(), self) {
            FIRST.with(|first| first.store(next, SeqCst));
            return;
        }
        let mut at = first();
        // SAFETY: as in `on_thread_interrupt`.
        while let Some(other) = unsafe { at.as_ref() } {
            if std::ptr::eq(other.next.load(SeqCst), self) {
                other.next.store(next, SeqCst);
            }
            at = other.next.load(SeqCst);
        }
    }

    fn cpu_micros(&self) -> u64 {
        let watched = panic::lock(&self.watched);
        watched.as_ref().map_or(0, |watched| (watched.clock.seconds() * 1e6) as u64)
    }

    /// Begins a callback, which may use `budget` seconds of CPU time (infinite: no limit).
    pub fn begin(&self, budget: f64) {
        // Reading the time costs as much as a short callback, so the watchdog reads it at its next
        // check.
        self.started_micros.store(UNSEEN, SeqCst);
        let micros = if budget.is_finite() { (budget * 1e6) as u64 } else { u64::MAX };
        self.budget_micros.store(micros, SeqCst);
        self.late.store(platform::end_requested().is_some(), SeqCst);
        self.turn.fetch_add(1, SeqCst);
    }

    /// Ends the callback and disarms everything that was armed for it.
    pub fn end(&self, state: *mut lua_State) {
        self.turn.fetch_add(1, SeqCst);
        if self.reasons.load(SeqCst) != 0 {
            let _lock = panic::lock(&self.watched);
            let kept = StopReason::Memory as u32 | StopReason::EngineMemory as u32;
            self.reasons.fetch_and(kept, SeqCst);
            self.unhook_when_done(state);
        }
    }

    fn unhook_when_done(&self, state: *mut lua_State) {
        if self.reasons.load(SeqCst) == 0 {
            let lines = self.follows_lines();
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
        let lines = if self.follows_lines() { LUA_MASKLINE } else { 0 };
        self.hooking.store(true, SeqCst);
        // SAFETY: the state is open: `close` clears it first, on this thread. LuaJIT's hook may be
        // set at any time, by a signal handler too (LUA_MASKCOUNT is checked in compiled loops by
        // LUAJIT_ENABLE_CHECKHOOK).
        unsafe { lua_sethook(state, Some(script_hook), LUA_MASKCOUNT | lines, 1) };
        self.hooking.store(false, SeqCst);
    }

    /// Starts counting executed lines (line_coverage.rs). Compiled code does not report its lines,
    /// so the JIT compiler must be off.
    pub fn count_lines(&self, state: *mut lua_State) {
        self.lines.store(true, SeqCst);
        self.unhook_when_done(state);
    }

    fn follows_lines(&self) -> bool {
        self.lines.load(SeqCst) || self.debugged.load(SeqCst)
    }

    /// Returns the CPU time that the callback of a turn has used at a time: none at the first
    /// check, as if it began then.
    fn used_micros(&self, turn: u64, now: u64) -> u64 {
        let previous = self.started_micros.compare_exchange(UNSEEN, now, SeqCst, SeqCst);
        if previous.is_ok() && self.turn.load(SeqCst) != turn {
            // Another callback has begun since the time was read, which can be long ago on a busy
            // machine: it begins at the next check.
            let _ = self.started_micros.compare_exchange(now, UNSEEN, SeqCst, SeqCst);
        }
        previous.err().map_or(0, |started| now.saturating_sub(started))
    }

    /// Performs one check of the watchdog, `asked` seconds after the end of the process was
    /// requested.
    fn check(&self, asked: Option<f64>) {
        let turn = self.turn.load(SeqCst);
        if turn % 2 == 1
            && self.used_micros(turn, self.cpu_micros()) > self.budget_micros.load(SeqCst)
        {
            self.arm_for(turn, StopReason::Time);
        }
        if turn % 2 == 1 && self.cancelled.load(SeqCst) {
            self.arm_for(turn, StopReason::End);
        }
        if turn % 2 == 1 && self.has_settings.load(SeqCst) {
            self.arm_debugger();
        }
        if let Some(seconds) = asked {
            let late = self.late.load(SeqCst);
            let allowed = if late { SHUTDOWN_SECONDS } else { GRACE_SECONDS };
            if seconds > allowed && turn % 2 == 1 {
                self.arm_for(turn, StopReason::End);
            }
            if seconds > KILL_SECONDS
                && !self.closing.load(SeqCst)
                && let Some(on_hang) = &*panic::lock(&self.on_hang)
            {
                on_hang(if turn % 2 == 1 { HangCause::Script } else { HangCause::Engine });
            }
        }
    }

    /// Stops the script if it still runs in this turn. The interrupt is repeated, because the hook
    /// can be lost, depending on where the signal interrupts the thread; it is not repeated while
    /// the hook works.
    fn arm_for(&self, turn: u64, reason: StopReason) {
        let struck = self.struck.swap(false, SeqCst);
        if struck && self.is_armed(reason) && self.armed_turn.load(SeqCst) == turn {
            return;
        }
        self.armed_turn.store(turn, SeqCst);
        let watched = panic::lock(&self.watched);
        if self.closing.load(SeqCst) || self.state.load(SeqCst).is_null() {
            return;
        }
        self.reasons.fetch_or(reason as u32, SeqCst);
        self.interrupt_thread(watched.as_ref());
    }

    /// Interrupts the thread that runs the state, and so sets the hook, now or at the next check.
    fn interrupt_thread(&self, watched: Option<&WatchedScript>) {
        if let Some(watched) = watched {
            // SAFETY: the thread has not called `close` yet, because `close` takes the lock. The
            // callers are other threads: the watchdog and the sampler.
            unsafe { watched.thread_interrupt.send() };
        }
    }

    /// Arms the hook on the thread that runs the state: the script is interrupted at its next
    /// instruction.
    pub fn arm(&self, reason: StopReason) {
        if self.closing.load(SeqCst) {
            return;
        }
        self.reasons.fetch_or(reason as u32, SeqCst);
        self.hook();
    }

    /// Requests the location of the running script, from another thread.
    pub fn request_sample(&self) {
        let watched = panic::lock(&self.watched);
        let runs = self.turn.load(SeqCst) % 2 == 1;
        if !runs || self.closing.load(SeqCst) || self.state.load(SeqCst).is_null() {
            return;
        }
        self.reasons.fetch_or(StopReason::Where as u32, SeqCst);
        // If the hook gets lost, the next request follows soon.
        self.interrupt_thread(watched.as_ref());
    }

    fn is_armed(&self, reason: StopReason) -> bool {
        self.reasons.load(SeqCst) & reason as u32 != 0
    }

    /// Returns true if the running callback is to be stopped. For engine work that Lua's hook does
    /// not reach.
    pub fn is_stopping(&self) -> bool {
        let armed = self.is_armed(StopReason::Time) || self.is_armed(StopReason::End);
        armed && self.armed_turn.load(SeqCst) == self.turn.load(SeqCst)
    }

    fn disarm(&self, reason: StopReason, state: *mut lua_State) {
        self.reasons.fetch_and(!(reason as u32), SeqCst);
        self.unhook_when_done(state);
    }
}

/// Called by the hook, through C, which raises the error on the stack when this returns 1.
///
/// # Safety
/// Called by Lua only, with a state of a VM of the engine.
#[unsafe(no_mangle)]
unsafe extern "C" fn script_interrupted(l: *mut lua_State, ar: *mut lua_Debug) -> c_int {
    // SAFETY: as above; the calls below are allowed in a hook.
    unsafe {
        if (*ar).event == LUA_HOOKLINE && ScriptContext::of(l).debugger.is_some() {
            debugger::line_reached(l, ar);
        }
        let cx = ScriptContext::of(l);
        let debugs = cx.debugger.is_some() && (*ar).event == LUA_HOOKLINE;
        if (note_location(l, ar, cx) || debugs) && cx.interrupt.reasons.load(SeqCst) == 0 {
            return 0;
        }
        cx.interrupt.struck.store(true, SeqCst);
        if cx.memory.lenience() > 0 {
            return 0;
        }
        let interrupt = cx.interrupt.clone();
        if interrupt.is_armed(StopReason::Memory) {
            // The memory in use may be garbage, because the collector does not run during a frame.
            interrupt.disarm(StopReason::Memory, l);
            cx.collect_now(l);
            if cx.memory.must_stop() {
                return raise(l, cx, memory_message(cx), false);
            }
        }
        if interrupt.is_armed(StopReason::EngineMemory) && runs_engine(l, ar) {
            // Stopping the engine's own Lua would leave its work half done, with units that were
            // not announced. The error is raised at the next instruction of the game's code; until
            // then the reserve is used.
            cx.is_full();
        } else if interrupt.is_armed(StopReason::EngineMemory) {
            interrupt.disarm(StopReason::EngineMemory, l);
            if let Some(message) = cx.memory.engine.take_message() {
                cx.is_full();
                return raise(l, cx, message, false);
            }
        }
        if interrupt.is_armed(StopReason::Debugger) && !runs_engine(l, ar) {
            take_settings(l, &interrupt);
        }
        if !interrupt.is_armed(StopReason::Time) && !interrupt.is_armed(StopReason::End) {
            return 0;
        }
        if interrupt.armed_turn.load(SeqCst) != interrupt.turn.load(SeqCst) {
            // The stop was armed for a callback that has ended meanwhile.
            interrupt.disarm(StopReason::Time, l);
            interrupt.disarm(StopReason::End, l);
            return 0;
        }
        if interrupt.is_armed(StopReason::Time) && debugger::take_condition_test(l) {
            // Only the condition of a breakpoint ends, with an error. If it catches that and
            // takes as long again, its callback ends.
            interrupt.renew_budget(l);
            return raise(l, cx, "it takes too long".to_string(), false);
        }
        let message = match interrupt.is_armed(StopReason::Time) {
            true => {
                let seconds = interrupt.budget_micros.load(SeqCst) as f64 / 1e6;
                format!(
                    "stopped: this ran for {seconds} seconds of CPU time without an end (if it \
                     needs more, {})",
                    cx.time_remedy
                )
            }
            false => "stopped: the process was asked to end, and this did not return".to_string(),
        };
        raise(l, cx, message, true)
    }
}

/// Takes over the settings of the debugger, in the hook.
unsafe fn take_settings(l: *mut lua_State, interrupt: &Arc<Interrupt>) {
    // SAFETY: as for the caller, in which nothing is borrowed at this point.
    unsafe {
        interrupt.has_settings.store(false, SeqCst);
        interrupt.disarm(StopReason::Debugger, l);
        let runs = super::luajit_layout::set_hook_runs(l, false);
        debugger::settings_changed(l);
        if runs == Some(true) {
            super::luajit_layout::set_hook_runs(l, true);
        }
    }
}

/// Records the executed line and the script's location, for line counting and sampling. Returns
/// true if the hook was set for this purpose.
unsafe fn note_location(l: *mut lua_State, ar: *mut lua_Debug, cx: &mut ScriptContext) -> bool {
    let mut noted = false;
    // SAFETY: as for the caller: the record is the hook's.
    unsafe {
        if (*ar).event == LUA_HOOKLINE
            && let Some(lines) = &mut cx.lines
        {
            noted = true;
            if lua_getinfo(l, c"S".as_ptr(), ar) != 0 {
                let source = CStr::from_ptr((*ar).source).to_bytes();
                lines.count_line(source, usize::try_from((*ar).currentline).unwrap_or(0));
            }
        }
        if cx.interrupt.is_armed(StopReason::Where) {
            noted = true;
            let work = cx.work();
            if let Some(samples) = &mut cx.samples {
                samples.note(l, work);
            }
            cx.interrupt.clone().disarm(StopReason::Where, l);
        }
    }
    noted
}

/// Returns true if the function that the hook interrupted belongs to the engine's own Lua.
unsafe fn runs_engine(l: *mut lua_State, ar: *mut lua_Debug) -> bool {
    // SAFETY: as for the caller: the record is the hook's.
    unsafe {
        lua_getinfo(l, c"S".as_ptr(), ar) != 0
            && CStr::from_ptr((*ar).source).to_bytes().strip_prefix(b"=").is_some_and(|name| {
                // A game's chunk cannot have this name (lua/boot/modules.lua).
                name.starts_with(ENGINE_CHUNK.as_bytes())
            })
    }
}

/// Returns the error message for Lua's memory limit.
pub fn memory_message(cx: &ScriptContext) -> String {
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

/// Pushes the error and keeps its report. If the script must stop, the first error is reported,
/// because it has the true location. An error of memory is an ordinary error, which the game may
/// catch.
unsafe fn raise(
    l: *mut lua_State,
    cx: &mut ScriptContext,
    message: String,
    stopped: bool,
) -> c_int {
    // SAFETY: as the caller promised; lenient, so that pushing cannot fail.
    unsafe {
        cx.memory.begin_lenient();
        let location = super::describe_value::script_location(l)
            .map(|location| location + ": ")
            .unwrap_or_default();
        let text = location + &message;
        if !cx.report.as_ref().is_some_and(|known| known.stopped) {
            let report = report::capture(l, cx, &text, 0);
            cx.report = Some(Box::new(ErrorReport { stopped, ..report }));
        }
        cx.interrupted = Some(text.clone());
        lua_pushlstring(l, text.as_ptr() as *const _, text.len());
        cx.memory.end_lenient();
        1
    }
}
