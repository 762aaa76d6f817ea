//! Benchmarks of the core: engine calls, vectors, script work compared with a bare VM, wide code,
//! garbage, and startup. Each workload is described next to its rows. The Lua code is in
//! benches/lua.
//!
//!     cargo bench -- spine
//!     cargo bench -- spine calls vectors    some parts
//!
//! Times are CPU time of the measuring thread, so a busy machine disturbs them little.

mod bare;
pub mod game;
mod start;

use crate::run::Run;
use crate::table::{Group, Row, median, named, row};
use bare::Bare;
use engine::platform::ThreadClock;
use engine::script::VmConfig;
use game::Game;

/// A group's name and its measuring function.
type Measure = (&'static str, fn() -> Group);

/// All groups, in order. Startup is first, because a child's peak memory is never reported below
/// its parent's.
const GROUPS: &[Measure] = &[
    ("start", start::measure),
    ("calls", calls),
    ("vectors", vectors),
    ("script", script),
    ("wide", wide),
    ("garbage", garbage),
];

pub fn run(run: &mut Run) {
    for (name, measure) in GROUPS {
        run.part(name, measure);
    }
}

/// Returns the seconds of this thread's CPU time that `f` takes.
fn cpu(f: impl FnOnce()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let before = clock.seconds();
    f();
    clock.seconds() - before
}

/// Target for the cost of a call in compiled code.
#[derive(Clone, Copy)]
enum Limit {
    Hot,
    Cold,
    Stated,
}

/// Case in calls.lua, description, target.
const CALLS: &[(&str, &str, Limit)] = &[
    ("empty_loop", "the loop alone, an addition", Limit::Stated),
    ("lua_function", "a Lua function, for comparison", Limit::Stated),
    ("world_time", "World.time(world)", Limit::Hot),
    ("world_delta_time", "World.delta_time(world)", Limit::Hot),
    ("world_alive", "World.alive(world)", Limit::Hot),
    ("frame_index", "Application.frame_index()", Limit::Hot),
    ("delta_time", "Application.delta_time()", Limit::Hot),
    ("random", "Math.random()", Limit::Stated),
    ("random_range", "Math.random(1, 6)", Limit::Stated),
    ("noise", "Math.noise(x, y)", Limit::Stated),
    ("noise_at", "Math.noise_at(vector)", Limit::Stated),
    ("random_in_box", "Math.random_in_box(vector, vector), a vector out", Limit::Stated),
    // The row and the prelude's function around it, which updates components of scripts.
    ("world_update", "World.update(world, dt) of an empty world", Limit::Stated),
    ("num_nodes", "Unit.num_nodes(unit)", Limit::Cold),
    ("next_random", "Math.next_random(seed, 1, 6), two results", Limit::Cold),
    ("next_random_real", "Math.next_random(seed), two results", Limit::Cold),
];

fn calls() -> Group {
    const ROUNDS: usize = 9;
    let cost = |case: &str, jit, n: f64| {
        let mut game = Game::open("calls", &[case, &n.to_string()], jit);
        game.call("init");
        let mut round = || {
            let seconds = cpu(|| game.call("render"));
            game.vm.collect_all();
            seconds / n * 1e9
        };
        median((0..ROUNDS).map(|_| round()).collect())
    };
    let mut rows = Vec::new();
    for (case, label, limit) in CALLS {
        let target = match limit {
            Limit::Hot => Some(5.0),
            Limit::Cold => Some(35.0),
            Limit::Stated => None,
        };
        let kind = match limit {
            Limit::Hot => "hot: ",
            Limit::Cold => "cold: ",
            Limit::Stated => "",
        };
        rows.push(named(format!("{kind}{label}"), cost(case, true, 1e6), "ns", target));
        rows.push(named(format!("  interpreted: {label}"), cost(case, false, 2e5), "ns", None));
    }
    Group {
        name: "calls",
        title: "An engine call from Lua, with all checks",
        workload: "1,000,000 calls in a loop of one Lua function (200,000 interpreted), results \
                   used, module names looked up in every round, the loop's own cost included; one \
                   VM for each row; median of 9 loops after a warm-up. Targets: 5 ns for hot \
                   getters and setters, 35 ns for cold functions of up to three numbers; the \
                   others are for information.",
        rows,
    }
}

fn vectors() -> Group {
    const ROUNDS: usize = 9;
    const N: f64 = 1e6;
    let measure = |case: &str, jit| {
        let mut game = Game::open("vectors", &[case, &N.to_string()], jit);
        game.call("init");
        let (mut times, mut bytes) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            game.vm.collect_all();
            let before = game.vm.memory().0;
            times.push(cpu(|| game.call("render")) / N * 1e9);
            bytes.push((game.vm.memory().0 as f64 - before as f64) / N);
        }
        (median(times), median(bytes))
    };
    let mut rows = Vec::new();
    for (case, label, time_max, bytes_max) in [
        ("local", "result in a local", 5.0, 0.001),
        ("stored", "result stored in a table", 35.0, 28.001),
    ] {
        let (time, bytes) = measure(case, true);
        rows.push(named(format!("p + v * dt, {label}"), time, "ns", Some(time_max)));
        rows.push(named(format!("  its garbage, {label}"), bytes, "bytes", Some(bytes_max)));
        let (time, bytes) = measure(case, false);
        rows.push(named(format!("  interpreted, {label}"), time, "ns", None));
        rows.push(named(format!("  its garbage, interpreted, {label}"), bytes, "bytes", None));
    }
    Group {
        name: "vectors",
        title: "p = p + v * dt with Vector3",
        workload: "1,000,000 times in a loop: the position in a local, or 10,000 positions in a \
                   table replaced in turn. Garbage is the growth of Lua's memory, with the \
                   collector stopped. Median of 9 loops. (The garbage of the whole call, a few \
                   hundred bytes, is spread over the loop: hence the thousandth in the targets.)",
        rows,
    }
}

/// File in benches/lua/work, description of the test, frames in one sample.
const WORK: &[(&str, &str, u32)] = &[
    ("entities", "a 10,000 entities", 40),
    ("nbody", "b n-body, 2,000 steps", 10),
    ("strings", "c1 format, match, gsub, concat", 5),
    ("tables", "c2 insert and remove, also in front", 2),
    ("sort", "c2 sort 5,000 with a comparator", 2),
    ("closures", "c3 20,000 closures", 2),
    ("pcalls", "c4 20,000 pcalls, 5 % fail", 4),
    ("coroutines", "c5 10,000 coroutine resumes", 10),
    ("classes", "d classes and metatables, 40,000 calls", 10),
];

/// Cost of one workload in both VMs: ratio, times and bytes of a frame. Each time is that of the
/// fastest VM.
struct Comparison {
    ratio: f64,
    engine_micros: f64,
    bare_micros: f64,
    engine_bytes: f64,
    bare_bytes: f64,
}

fn compare(name: &str, times: u32, jit: bool) -> Comparison {
    const PAIRS_OF_VMS: usize = 10;
    const SAMPLES: usize = 9;
    let (mut least, mut least_bare) = (f64::MAX, f64::MAX);
    let (mut engine_bytes, mut bare_bytes) = (0, 0);
    for pair in 0..PAIRS_OF_VMS {
        let mut bare = Bare::open(name, times, pair + 1, jit);
        let sum = bare.sample();
        let (sum, seed) = (format!("{sum:?}"), (pair + 1).to_string());
        let mut game = Game::open("work", &[name, &times.to_string(), &sum, &seed], jit);
        game.call("init");
        let (mut engine, mut plain) = (Vec::new(), Vec::new());
        for sample in 0..SAMPLES + 2 {
            game.vm.collect_all();
            bare.collect_all();
            let before = (game.vm.memory().0, bare.used());
            let mut ours = || cpu(|| game.call("render"));
            let mut theirs = || {
                cpu(|| {
                    bare.sample();
                })
            };
            // The two take turns in going first, because the first one finds colder memory.
            let (ours, theirs) = if sample % 2 == 0 {
                let ours = ours();
                (ours, theirs())
            } else {
                let theirs = theirs();
                (ours(), theirs)
            };
            engine_bytes = game.vm.memory().0.saturating_sub(before.0);
            bare_bytes = bare.used().saturating_sub(before.1);
            // The first two samples are warm-up.
            if sample >= 2 {
                engine.push(ours / f64::from(times) * 1e6);
                plain.push(theirs / f64::from(times) * 1e6);
            }
        }
        (least, least_bare) = (least.min(median(engine)), least_bare.min(median(plain)));
    }
    Comparison {
        ratio: least / least_bare,
        engine_micros: least,
        bare_micros: least_bare,
        engine_bytes: engine_bytes as f64 / f64::from(times),
        bare_bytes: bare_bytes as f64 / f64::from(times),
    }
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

fn script() -> Group {
    let mut rows = Vec::new();
    let mut compiled = Vec::new();
    for (name, label, times) in WORK {
        let c = compare(name, *times, true);
        let note = format!(
            "{:.0} us against {:.0} us; allocates {:.0} KiB against {:.0} KiB",
            c.engine_micros,
            c.bare_micros,
            c.engine_bytes / 1024.0,
            c.bare_bytes / 1024.0
        );
        rows.push(Row { note, ..row(label, c.ratio, "x", None) });
        compiled.push(c.ratio);
    }
    let mean = geometric_mean(&compiled);
    rows.push(row("geometric mean, engine / bare VM", mean, "x", Some(1.03)));
    let mut interpreted = Vec::new();
    for (name, label, times) in WORK {
        let c = compare(name, *times, false);
        let note = format!("{:.0} us against {:.0} us", c.engine_micros, c.bare_micros);
        rows.push(Row { note, ..named(format!("  interpreted: {label}"), c.ratio, "x", None) });
        interpreted.push(c.ratio);
    }
    let mean = geometric_mean(&interpreted);
    rows.push(row("  interpreted: geometric mean", mean, "x", None));
    Group {
        name: "script",
        title: "Script work against a bare VM",
        workload: "The files of benches/lua/work, each run by the engine as a game's module and by \
                   a bare LuaJIT state: the same build, all standard libraries, the same allocator \
                   (mimalloc, counted), the same JIT limits; no sandbox, no watchdog, no memory \
                   limit. Both run in turn in one process: 10 fresh pairs of VMs, 9 samples each; \
                   the median of each VM's samples, and of the VMs of a kind the fastest. Which \
                   branch of a loop the JIT compiles first is chance, and worth up to 15 % (test \
                   d): so each VM's counters of what is hot are randomized before. The collector \
                   is stopped during a sample in both, and collects all between samples, untimed; \
                   the note has the memory that is allocated in a frame.",
        rows,
    }
}

fn worst(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn wide() -> Group {
    const FUNCTIONS: &str = "3000";
    const FRAMES: usize = 200;
    const EARLY: usize = 20;
    let play = |config| {
        let mut game = Game::open_with("many_functions", &[FUNCTIONS], config);
        let mut times = Vec::new();
        for _ in 0..FRAMES {
            times.push(cpu(|| game.call("render")) * 1e3);
            game.vm.collect();
        }
        (times, game)
    };
    let (compiled, _) = play(VmConfig::DEFAULT);
    let (interpreted, _) = play(VmConfig { jit: false, ..VmConfig::DEFAULT });
    let (_, mut watched) = play(VmConfig { sandbox: false, ..VmConfig::DEFAULT });
    watched.call("shutdown");
    let flushes = watched.vm.engine().frame.quit.expect("many_functions.lua gives an exit code");
    let late = |times: &[f64]| median(times[FRAMES / 2..].to_vec());
    Group {
        name: "wide",
        title: "3,000 distinct hot functions",
        workload: "3,000 functions with different code, each a loop of 100 with a branch, all \
                   called once a frame, 200 frames. Late: the last 100. Thrashing would be that \
                   the JIT runs into one of its limits, throws all compiled code away and records \
                   it again; how often that happens is counted in a separate run.",
        rows: vec![
            row("all compiled code thrown away", f64::from(flushes), "times", Some(0.0)),
            row("late median of a frame", late(&compiled), "ms", None),
            row("worst late frame", worst(&compiled[FRAMES / 2..]), "ms", None),
            row("worst of the first 20 frames", worst(&compiled[..EARLY]), "ms", None),
            row("all of the first 20 frames", compiled[..EARLY].iter().sum(), "ms", None),
            row("  interpreted: late median", late(&interpreted), "ms", None),
        ],
    }
}

/// Result of one run of the garbage workload.
struct GarbageRun {
    worst_ms: f64,
    median_ms: f64,
    mean_ms: f64,
    live_mib: f64,
    most_mib: f64,
    last_mib: f64,
}

fn run_garbage(frames: usize) -> GarbageRun {
    let mut game = Game::open("garbage", &[], true);
    game.call("init");
    game.vm.collect_all();
    let live_mib = game.vm.memory().0 as f64 / MIB;
    let (mut collections, mut held) = (Vec::new(), Vec::new());
    for _ in 0..frames {
        game.call("render");
        collections.push(cpu(|| game.vm.collect()) * 1e3);
        held.push(game.vm.memory().0 as f64 / MIB);
    }
    GarbageRun {
        worst_ms: worst(&collections),
        mean_ms: collections.iter().sum::<f64>() / frames as f64,
        median_ms: median(collections),
        live_mib,
        most_mib: worst(&held),
        last_mib: held[frames - 1],
    }
}

fn garbage() -> Group {
    const RUNS: usize = 5;
    const LONG_RUNS: usize = 3;
    let runs: Vec<GarbageRun> = (0..RUNS).map(|_| run_garbage(600)).collect();
    let of = |metric: fn(&GarbageRun) -> f64| median(runs.iter().map(metric).collect());
    let longs: Vec<GarbageRun> = (0..LONG_RUNS).map(|_| run_garbage(3000)).collect();
    let long = |metric: fn(&GarbageRun) -> f64| median(longs.iter().map(metric).collect());
    let live = of(|run| run.live_mib);
    let bound = (live * 2.0 + 64.0) * 1.5;
    Group {
        name: "garbage",
        title: "10,000 small tables a frame, 130,000 live objects",
        workload: "130,000 live tables of two fields; each frame makes 10,000 more, of which 1,000 \
                   take the place of old ones. 600 frames, the collector's default budget (1 ms); \
                   the median of 5 such runs. The heap still grows then, so memory, and the worst \
                   frame again, are judged by 3 runs of 3,000 frames. Bounded: never more is held \
                   than one and a half times the heap above which the collector works harder \
                   (twice what is alive, plus 64 MiB).",
        rows: vec![
            row("worst frame's collection", of(|run| run.worst_ms), "ms", Some(4.0)),
            row("median frame's collection", of(|run| run.median_ms), "ms", None),
            row("mean frame's collection", of(|run| run.mean_ms), "ms", None),
            row("live at the start", live, "MiB", None),
            row("most held in 600 frames", of(|run| run.most_mib), "MiB", None),
            row("most held in 3,000 frames", long(|run| run.most_mib), "MiB", Some(bound)),
            row("held after the last of 3,000", long(|run| run.last_mib), "MiB", None),
            row("worst collection of 3,000 frames", long(|run| run.worst_ms), "ms", Some(4.0)),
            row("mean collection of 3,000 frames", long(|run| run.mean_ms), "ms", None),
        ],
    }
}

const MIB: f64 = 1_048_576.0;
