//! The sampling profiler of scripts. It records the location of the running script some hundred
//! times a second of script time. A thread requests each sample, and the hook takes it at the
//! script's next instruction (interrupt.rs). Allocations and engine calls between two samples are
//! attributed to the script of the later sample, so small numbers are guesses, while sums are
//! reliable.

use super::context::ScriptContext;
use super::interrupt::Interrupt;
use super::vm::ScriptWork;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::{Error, panic};
use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval between two samples of a script that runs all the time.
pub const PERIOD: Duration = Duration::from_millis(1);
/// Maximum number of stack frames that a sample records.
const DEPTH_MAX: c_int = 64;
/// Maximum number of locations that are counted separately; further locations are counted under one
/// name.
pub const LOCATIONS_MAX: usize = 20_000;
/// Number of rows in each table of the report.
const ROWS: usize = 20;
/// Number of rows in each table that scripts and tools receive.
const ROWS_RETURNED: usize = 200;

/// Totals of the samples at one location.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct SampleCount {
    pub samples: u64,
    pub allocated_bytes: u64,
    pub engine_calls: u64,
}

impl SampleCount {
    fn add(&mut self, other: SampleCount) {
        self.samples += other.samples;
        self.allocated_bytes += other.allocated_bytes;
        self.engine_calls += other.engine_calls;
    }
}

/// A frame of a stack: the file, the function, and the line in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct StackLocation {
    file: String,
    function: String,
    line: i32,
}

/// The samples of one VM.
#[derive(Default)]
pub struct ScriptSamples {
    locations: HashMap<StackLocation, SampleCount>,
    /// Stacks, outermost first: `main.lua:update;main.lua:think`.
    stacks: HashMap<String, u64>,
    before: ScriptWork,
    total: SampleCount,
    /// True if samples are taken for the whole run, as its command line requested.
    whole_run: bool,
    /// The sampling thread, which ends when the samples are dropped.
    _guard: Option<SamplerGuard>,
}

/// Starts sampling a VM's scripts. `whole_run`: until the run ends.
///
/// # Errors
/// Returns an error if sampling is on already, or if the system has no thread left.
pub fn begin(cx: &mut ScriptContext, whole_run: bool) -> Result<(), Error> {
    if let Some(samples) = &cx.samples {
        return Err(error!("scripts are sampled already{}", of_whole_run(samples)));
    }
    let guard = SamplerGuard::begin(cx.interrupt.clone())
        .map_err(|reason| error!("no thread is left to sample the scripts: {reason}"))?;
    let samples = ScriptSamples { before: cx.work(), whole_run, ..ScriptSamples::default() };
    cx.samples = Some(Box::new(ScriptSamples { _guard: Some(guard), ..samples }));
    Ok(())
}

fn of_whole_run(samples: &ScriptSamples) -> &'static str {
    if samples.whole_run { ", for all of this run (--profile-scripts)" } else { "" }
}

/// Stops sampling and returns the samples, unless sampling is on for the whole run.
///
/// # Errors
/// Returns an error if sampling is off, or if the run's command line requested it.
pub fn end(cx: &mut ScriptContext) -> Result<Box<ScriptSamples>, Error> {
    match cx.samples.take_if(|samples| !samples.whole_run) {
        Some(samples) => Ok(samples),
        None => Err(match &cx.samples {
            Some(samples) => error!("scripts are sampled{}", of_whole_run(samples)),
            None => error!("scripts are not sampled: call Profiler.start_sampling first"),
        }),
    }
}

impl ScriptSamples {
    /// Records the location of a state. `now`: the work of the scripts so far.
    ///
    /// # Safety
    /// `l` is a live state, inside of its hook.
    pub unsafe fn note(&mut self, l: *mut lua_State, now: ScriptWork) {
        let count = SampleCount {
            samples: 1,
            allocated_bytes: now.allocated_bytes - self.before.allocated_bytes,
            engine_calls: now.engine_calls - self.before.engine_calls,
        };
        self.before = now;
        self.total.add(count);
        // SAFETY: as the caller promised.
        let frames = unsafe { spots(l) };
        // The innermost frame of the game's own code. Work of the engine's Lua is attributed to
        // this frame.
        let own = frames.iter().find(|frame| !frame.file.starts_with('['));
        let Some(frame) = own.or(frames.first()) else { return };
        let room = self.locations.len() < LOCATIONS_MAX;
        let other = || StackLocation { file: "(others)".into(), function: String::new(), line: 0 };
        let location = match room || self.locations.contains_key(frame) {
            true => frame.clone(),
            false => other(),
        };
        self.locations.entry(location).or_default().add(count);
        let names = frames.iter().rev().map(|frame| format!("{}:{}", frame.file, frame.function));
        let stack = names.collect::<Vec<_>>().join(";");
        if self.stacks.len() < LOCATIONS_MAX || self.stacks.contains_key(&stack) {
            *self.stacks.entry(stack).or_default() += 1;
        }
    }

    /// Returns the stacks in the format of flame graph tools, one line each.
    pub fn folded(&self) -> String {
        let mut lines: Vec<_> = self.stacks.iter().map(|(at, n)| format!("{at} {n}\n")).collect();
        lines.sort_compact();
        lines.concat()
    }

    /// Returns the totals grouped by `name`, largest first.
    fn by(&self, name: impl Fn(&StackLocation) -> String) -> Vec<(String, SampleCount)> {
        let mut sums: HashMap<String, SampleCount> = HashMap::new();
        for (spot, count) in &self.locations {
            sums.entry(name(spot)).or_default().add(*count);
        }
        let mut all: Vec<_> = sums.into_iter().collect();
        all.sort_compact_by(|a, b| b.1.samples.cmp(&a.1.samples).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// Returns the number of samples.
    pub fn count(&self) -> u64 {
        self.total.samples
    }

    /// Returns the totals by script, by function and by line, largest first.
    fn all(&self) -> [Vec<(String, SampleCount)>; 3] {
        let function = |spot: &StackLocation| match spot.function.as_str() {
            "" => spot.file.clone(),
            function => format!("{function} in {}", spot.file),
        };
        let line =
            |spot: &StackLocation| format!("{}:{} in {}", spot.file, spot.line, spot.function);
        [self.by(|spot| spot.file.clone()), self.by(function), self.by(line)]
    }

    /// Returns the totals with the names of the tables, limited to the rows that scripts and tools
    /// receive.
    pub fn tables(&self) -> [(&'static str, Vec<(String, SampleCount)>); 3] {
        let [mut scripts, mut functions, mut lines] = self.all();
        for table in [&mut scripts, &mut functions, &mut lines] {
            table.truncate(ROWS_RETURNED);
        }
        [("scripts", scripts), ("functions", functions), ("lines", lines)]
    }

    /// Returns the tables of scripts, functions and lines as text.
    pub fn report(&self) -> String {
        let share = |samples: u64| samples as f64 / self.total.samples.max(1) as f64 * 100.0;
        let mut text = format!("{} samples of scripts\n", self.total.samples);
        text += "\n  Time % :  Allocated : Engine calls : Script\n";
        let [scripts, functions, lines] = self.all();
        for (name, count) in scripts.into_iter().take(ROWS) {
            let (share, kib) = (share(count.samples), count.allocated_bytes as f64 / 1024.0);
            text +=
                &format!("  {share:6.1} : {kib:6.0} KiB : {:12} : {name}\n", count.engine_calls);
        }
        for (title, rows) in [("Function", functions), ("Line", lines)] {
            text += &format!("\n  Time % : {title}\n");
            for (name, count) in rows.into_iter().take(ROWS) {
                text += &format!("  {:6.1} : {name}\n", share(count.samples));
            }
        }
        text
    }
}

unsafe fn text(start: *const c_char) -> Option<String> {
    // SAFETY: a Lua string with its zero byte, or null.
    unsafe {
        (!start.is_null())
            .then(|| CStr::from_ptr(start).to_string_lossy().replace([';', '\n'], ","))
    }
}

/// Returns the frames of a stack, innermost first, without native frames.
unsafe fn spots(l: *mut lua_State) -> Vec<StackLocation> {
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
            spots.push(StackLocation { file, function, line: ar.currentline });
        }
    }
    spots
}

/// Requests samples until it is dropped.
pub struct SamplerGuard {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SamplerGuard {
    /// Starts requesting samples. Fails if the system has no thread left.
    pub fn begin(interrupt: Arc<Interrupt>) -> std::io::Result<SamplerGuard> {
        let ends = Arc::new(AtomicBool::new(false));
        let ended = ends.clone();
        let ask = move || {
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(PERIOD);
                interrupt.request_sample();
            }
        };
        let thread = panic::spawn("script sampler", ask)?;
        Ok(SamplerGuard { ends, thread: Some(thread) })
    }
}

impl Drop for SamplerGuard {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread itself has logged a failure.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_lists_the_most_frequent_samples_first() {
        let mut samples = ScriptSamples::default();
        let spot = |file: &str, function: &str, line| StackLocation {
            file: file.into(),
            function: function.into(),
            line,
        };
        let count =
            |samples| SampleCount { samples, allocated_bytes: samples * 1024, engine_calls: 5 };
        samples.locations.insert(spot("enemy.lua", "think", 10), count(6));
        samples.locations.insert(spot("enemy.lua", "think", 12), count(1));
        samples.locations.insert(spot("main.lua", "update", 3), count(3));
        samples.total = count(10);
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
