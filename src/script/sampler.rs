//! The sampling profiler of scripts: where they were when they were asked, some hundred times a
//! second of their own running. The asking is a thread's; the answer is given at the script's next
//! instruction, by the hook (interrupt.rs). What a script allocated and called between two samples
//! counts as that of the one that was met, so figures of little are guesses, and sums are not.

use super::cx::Cx;
use super::interrupt::Interrupt;
use super::vm::Work;
use crate::error;
use crate::foundation::{Error, fault};
use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two samples of a script that runs all the time.
pub const PERIOD: Duration = Duration::from_millis(1);
/// Frames of a stack that are told apart.
const DEPTH_MAX: c_int = 64;
/// Places that are told apart; those beyond count under one name.
pub const PLACES_MAX: usize = 20_000;
/// Rows of each table of the report.
const ROWS: usize = 20;
/// Rows of each table that scripts and tools get.
const ROWS_TOLD: usize = 200;

/// What was met at one place.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Met {
    pub samples: u64,
    pub allocated_bytes: u64,
    pub engine_calls: u64,
}

impl Met {
    fn add(&mut self, other: Met) {
        self.samples += other.samples;
        self.allocated_bytes += other.allocated_bytes;
        self.engine_calls += other.engine_calls;
    }
}

/// A frame of a stack: the file, the function, the line in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Spot {
    file: String,
    function: String,
    line: i32,
}

/// The samples of one VM.
#[derive(Default)]
pub struct Samples {
    places: HashMap<Spot, Met>,
    /// Stacks, outermost first: `main.lua:update;main.lua:think`.
    stacks: HashMap<String, u64>,
    before: Work,
    total: Met,
    /// Whether they are taken for the whole run, by its command line.
    whole_run: bool,
    /// Ends with the samples.
    _asking: Option<Asking>,
}

/// Begins to ask a VM's scripts where they are. `whole_run`: until the run ends.
///
/// # Errors
/// Where they are asked already, or the system has no thread left.
pub fn begin(cx: &mut Cx, whole_run: bool) -> Result<(), Error> {
    if let Some(samples) = &cx.samples {
        return Err(error!("scripts are sampled already{}", of_whole_run(samples)));
    }
    let asking = Asking::begin(cx.interrupt.clone())
        .map_err(|reason| error!("no thread is left to sample the scripts: {reason}"))?;
    let samples = Samples { before: cx.work(), whole_run, ..Samples::default() };
    cx.samples = Some(Box::new(Samples { _asking: Some(asking), ..samples }));
    Ok(())
}

fn of_whole_run(samples: &Samples) -> &'static str {
    if samples.whole_run { ", for all of this run (--profile-scripts)" } else { "" }
}

/// Asks no longer, where that is not for the whole run: what was met.
///
/// # Errors
/// Where nobody asks, or the run's command line wants it.
pub fn end(cx: &mut Cx) -> Result<Box<Samples>, Error> {
    match cx.samples.take_if(|samples| !samples.whole_run) {
        Some(samples) => Ok(samples),
        None => Err(match &cx.samples {
            Some(samples) => error!("scripts are sampled{}", of_whole_run(samples)),
            None => error!("scripts are not sampled: call Profiler.start_sampling first"),
        }),
    }
}

impl Samples {
    /// Notes where a state is. `now`: what the scripts did so far.
    ///
    /// # Safety
    /// `l` is a live state, inside of its hook.
    pub unsafe fn note(&mut self, l: *mut lua_State, now: Work) {
        let met = Met {
            samples: 1,
            allocated_bytes: now.allocated_bytes - self.before.allocated_bytes,
            engine_calls: now.engine_calls - self.before.engine_calls,
        };
        self.before = now;
        self.total.add(met);
        // SAFETY: as the caller promised.
        let spots = unsafe { spots(l) };
        // The innermost one of the game's own: what the engine's Lua does, it does for that.
        let own = spots.iter().find(|spot| !spot.file.starts_with('['));
        let Some(spot) = own.or(spots.first()) else { return };
        let room = self.places.len() < PLACES_MAX;
        let other = || Spot { file: "(others)".into(), function: String::new(), line: 0 };
        let place = match room || self.places.contains_key(spot) {
            true => spot.clone(),
            false => other(),
        };
        self.places.entry(place).or_default().add(met);
        let names = spots.iter().rev().map(|spot| format!("{}:{}", spot.file, spot.function));
        let stack = names.collect::<Vec<_>>().join(";");
        if self.stacks.len() < PLACES_MAX || self.stacks.contains_key(&stack) {
            *self.stacks.entry(stack).or_default() += 1;
        }
    }

    /// The stacks as flame graph tools read them, a line each.
    pub fn folded(&self) -> String {
        let mut lines: Vec<_> = self.stacks.iter().map(|(at, n)| format!("{at} {n}\n")).collect();
        lines.sort();
        lines.concat()
    }

    /// What was met by script, by function or by line, the most first.
    fn by(&self, name: impl Fn(&Spot) -> String) -> Vec<(String, Met)> {
        let mut sums: HashMap<String, Met> = HashMap::new();
        for (spot, met) in &self.places {
            sums.entry(name(spot)).or_default().add(*met);
        }
        let mut all: Vec<_> = sums.into_iter().collect();
        all.sort_by(|a, b| b.1.samples.cmp(&a.1.samples).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// How often scripts were met.
    pub fn count(&self) -> u64 {
        self.total.samples
    }

    /// What was met by script, by function and by line, the most first.
    fn all(&self) -> [Vec<(String, Met)>; 3] {
        let function = |spot: &Spot| match spot.function.as_str() {
            "" => spot.file.clone(),
            function => format!("{function} in {}", spot.file),
        };
        let line = |spot: &Spot| format!("{}:{} in {}", spot.file, spot.line, spot.function);
        [self.by(|spot| spot.file.clone()), self.by(function), self.by(line)]
    }

    /// The same by its names, as much of it as scripts and tools are told.
    pub fn tables(&self) -> [(&'static str, Vec<(String, Met)>); 3] {
        let [mut scripts, mut functions, mut lines] = self.all();
        for table in [&mut scripts, &mut functions, &mut lines] {
            table.truncate(ROWS_TOLD);
        }
        [("scripts", scripts), ("functions", functions), ("lines", lines)]
    }

    /// The tables of scripts, functions and lines.
    pub fn report(&self) -> String {
        let share = |samples: u64| samples as f64 / self.total.samples.max(1) as f64 * 100.0;
        let mut text = format!("{} samples of scripts\n", self.total.samples);
        text += "\n  Time % :  Allocated : Engine calls : Script\n";
        let [scripts, functions, lines] = self.all();
        for (name, met) in scripts.into_iter().take(ROWS) {
            let (share, kib) = (share(met.samples), met.allocated_bytes as f64 / 1024.0);
            text += &format!("  {share:6.1} : {kib:6.0} KiB : {:12} : {name}\n", met.engine_calls);
        }
        for (title, rows) in [("Function", functions), ("Line", lines)] {
            text += &format!("\n  Time % : {title}\n");
            for (name, met) in rows.into_iter().take(ROWS) {
                text += &format!("  {:6.1} : {name}\n", share(met.samples));
            }
        }
        text
    }
}

unsafe fn text(start: *const c_char) -> Option<String> {
    // SAFETY: a string of Lua's with its zero byte, or null.
    unsafe {
        (!start.is_null())
            .then(|| CStr::from_ptr(start).to_string_lossy().replace([';', '\n'], ","))
    }
}

/// The frames of a stack, innermost first, without native ones.
unsafe fn spots(l: *mut lua_State) -> Vec<Spot> {
    let mut spots = Vec::new();
    for level in 0..DEPTH_MAX {
        let mut ar = MaybeUninit::<lua_Debug>::zeroed();
        // SAFETY: the state is live, and in its hook; the record is filled before it is read.
        unsafe {
            if lua_getstack(l, level, ar.as_mut_ptr()) == 0
                || lua_getinfo(l, c"Snl".as_ptr(), ar.as_mut_ptr()) == 0
            {
                break;
            }
            let ar = ar.assume_init();
            let source = text(ar.source).unwrap_or_default();
            if source == "=[C]" {
                continue;
            }
            let file = source.trim_start_matches(['@', '=']).to_string();
            let function = text(ar.name).unwrap_or_else(|| match ar.linedefined {
                0 => "the file itself".into(),
                line => format!("function at line {line}"),
            });
            spots.push(Spot { file, function, line: ar.currentline });
        }
    }
    spots
}

/// Asks, until it is dropped.
pub struct Asking {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Asking {
    /// Begins to ask. Fails where the system has no thread left.
    pub fn begin(interrupt: Arc<Interrupt>) -> std::io::Result<Asking> {
        let ends = Arc::new(AtomicBool::new(false));
        let ended = ends.clone();
        let ask = move || {
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(PERIOD);
                interrupt.ask_where();
            }
        };
        let thread = fault::spawn("script sampler", ask)?;
        Ok(Asking { ends, thread: Some(thread) })
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A fault there was logged by the thread itself.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_scripts_functions_and_lines_the_most_first() {
        let mut samples = Samples::default();
        let spot = |file: &str, function: &str, line| Spot {
            file: file.into(),
            function: function.into(),
            line,
        };
        let met = |samples| Met { samples, allocated_bytes: samples * 1024, engine_calls: 5 };
        samples.places.insert(spot("enemy.lua", "think", 10), met(6));
        samples.places.insert(spot("enemy.lua", "think", 12), met(1));
        samples.places.insert(spot("main.lua", "update", 3), met(3));
        samples.total = met(10);
        let expected = "10 samples of scripts\n
  Time % :  Allocated : Engine calls : Script
    70.0 :      7 KiB :           10 : enemy.lua
    30.0 :      3 KiB :            5 : main.lua\n
  Time % : Function
    70.0 : think in enemy.lua
    30.0 : update in main.lua\n
  Time % : Line
    60.0 : enemy.lua:10 in think
    30.0 : main.lua:3 in update
    10.0 : enemy.lua:12 in think\n";
        assert_eq!(samples.report(), expected);
    }
}
