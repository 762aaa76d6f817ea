//! Runs every fuzz target with the cases of the corpus, with valid inputs, and with a fixed set of
//! random mutations of those. The long coverage-guided search is fuzz/run.

#[cfg(target_os = "linux")]
mod long_search;
mod mutate;
mod tables;
#[path = "../../fuzz/targets/mod.rs"]
pub mod targets;

use super::allocator::{peak, reset_peak};
use engine::foundation::panic;
use mutate::{Random, mutate};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use targets::{Target, cpu_seconds, data, dictionary, seeds_of, targets};

/// Limits of one case.
struct Limits {
    /// CPU time of all threads.
    cpu_seconds: f64,
    /// Memory in addition to the memory allocated before the case.
    bytes: usize,
}

const LIMITS: Limits = Limits { cpu_seconds: 5.0, bytes: 4 << 30 };
/// Time after which a case counts as hanging, even on a busy machine.
const WAIT_SECONDS: u64 = 120;
/// Stack size, as that of a process's main thread.
const STACK_BYTES: usize = 8 << 20;

/// Number of panics that are findings, including those that the engine caught and reported.
static PANICS: AtomicU64 = AtomicU64::new(0);

#[test]
fn no_fuzz_target_panics_or_hangs() {
    let _alone = targets::lock_measurement();
    let panic_message = Arc::new(Mutex::new(String::new()));
    let (kept, own) = (panic_message.clone(), panic_message.clone());
    std::panic::set_hook(Box::new(move |info| {
        panic::store_panic(info);
        if targets::is_finding(info.location().map_or("", |at| at.file())) {
            *kept.lock().unwrap() = info.to_string();
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
    }));
    let (sender, receiver) = channel();
    let all = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let only = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let selected = |target: &Target| target.name.contains(&only);
        let found: Vec<_> = targets().into_iter().filter(selected).collect();
        for target in &found {
            try_target(target, &own, &|case| sender.send(case).unwrap());
        }
        drop(sender);
        targets::remove_scratch();
    });
    let all = all.unwrap();
    let mut last = String::new();
    let mut failed = Vec::new();
    loop {
        match receiver.recv_timeout(Duration::from_secs(WAIT_SECONDS)) {
            Ok(Progress::Begins(case)) => last = case,
            Ok(Progress::Failed(panic_message)) => failed.push(panic_message),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{last}: no end after {WAIT_SECONDS} s"),
        }
    }
    let _ = std::panic::take_hook();
    assert!(failed.is_empty(), "\n\n{}\n", failed.join("\n"));
    if all.join().is_err() {
        panic!("{last}: {}", panic_message.lock().unwrap());
    }
}

enum Progress {
    Begins(String),
    Failed(String),
}

/// Maximum cost of a target's cases.
#[derive(Default)]
struct MaxCost {
    cases: usize,
    cpu_seconds: f64,
    bytes: usize,
}

/// Runs one case. Returns a message if it fails.
fn try_case(
    run: &dyn Fn(),
    panic_message: &Mutex<String>,
    most: &mut MaxCost,
    limits: &Limits,
) -> String {
    let (panics, cpu, allocated_bytes) =
        (PANICS.load(Ordering::SeqCst), cpu_seconds(), reset_peak());
    let ended = catch_unwind(AssertUnwindSafe(run));
    let (used, taken) = (cpu_seconds() - cpu, peak().saturating_sub(allocated_bytes));
    most.cases += 1;
    most.cpu_seconds = most.cpu_seconds.max(used);
    most.bytes = most.bytes.max(taken);
    if ended.is_err() || PANICS.load(Ordering::SeqCst) > panics {
        return panic_message.lock().unwrap().clone();
    }
    if used > limits.cpu_seconds {
        return format!("it takes {used:.1} s of CPU time");
    }
    if taken > limits.bytes {
        return format!("it takes {} MiB of memory", taken >> 20);
    }
    String::new()
}

/// Runs one target: the corpus and the seeds unchanged, then mutations of them.
fn try_target(target: &Target, panic_message: &Mutex<String>, report: &dyn Fn(Progress)) {
    let began = std::time::Instant::now();
    let seeds = seeds_of(&target.name, target.bytes_max);
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    let dictionary = dictionary(&seeds);
    let times = std::env::var("FUZZ_CASES").map_or(1, |times| times.parse().unwrap());
    let mut random = Random::new(target.name.len() as u64 + times as u64);
    let mut most = MaxCost::default();
    report(Progress::Begins(format!("{}: the first case", target.name)));
    target.prepare();
    let mut run = |name: String, bytes: &[u8]| {
        report(Progress::Begins(name.clone()));
        let wrong = try_case(&|| (target.run)(bytes), panic_message, &mut most, &LIMITS);
        if !wrong.is_empty() {
            let path = std::env::temp_dir().join(format!("fuzz-{name}"));
            std::fs::write(&path, bytes).unwrap();
            report(Progress::Failed(format!(
                "{name}: {wrong}\n    the input is in {}",
                path.display()
            )));
        }
    };
    let kind = target.name.strip_prefix("data.").or(target.name.strip_prefix("use."));
    let mut judged = 0;
    for (i, seed) in seeds.iter().enumerate() {
        run(format!("{}-{i}", target.name), seed);
        for k in 0..target.gate_cases * times {
            let bytes = mutate(&mut random, seed, &dictionary, target.bytes_max);
            run(format!("{}-{i}-{k}", target.name), &bytes);
            judged += usize::from(
                kind.is_some_and(|kind| data::is_judged_by_content(kind, seed, &bytes)),
            );
        }
    }
    if kind.is_some() && judged == 0 {
        let name = &target.name;
        report(Progress::Failed(format!(
            "{name}: no change passes the frame (`framed` in the row of its kind)"
        )));
    }
    if std::env::var_os("FUZZ_REPORT").is_some() {
        let (seconds, seeds) = (began.elapsed().as_secs_f64(), seeds.len());
        let MaxCost { cases, cpu_seconds, bytes } = most;
        let (name, mib) = (&target.name, bytes >> 20);
        eprintln!(
            "{name:28} {seeds:4} seeds {cases:6} cases {seconds:6.2} s; at most \
             {cpu_seconds:5.2} s of CPU time, {mib:4} MiB"
        );
    }
}

#[test]
fn case_over_its_limits_is_a_finding() {
    let _alone = targets::lock_measurement();
    let (panic_message, mut most) = (Mutex::default(), MaxCost::default());
    let limits = Limits { cpu_seconds: 0.2, bytes: 64 << 20 };
    let mut check = |run: &dyn Fn(), expected: &str| {
        let wrong = try_case(run, &panic_message, &mut most, &limits);
        assert!(wrong.contains(expected) && wrong.is_empty() == expected.is_empty(), "{wrong}");
    };
    check(&|| (), "");
    check(&|| drop(std::hint::black_box(Vec::<u8>::with_capacity(65 << 20))), "of memory");
    let work = || {
        let began = cpu_seconds();
        while cpu_seconds() - began < 0.4 {}
    };
    // Work counts on any thread.
    check(&|| thread::scope(|scope| drop(scope.spawn(work).join())), "s of CPU time");
}
