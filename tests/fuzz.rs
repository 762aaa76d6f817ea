//! Every fuzz target with the cases that were found, with good inputs, and with some random changes
//! of those, always the same. The long search, which goes by coverage, is fuzz/run.

#[cfg(target_os = "linux")]
#[path = "fuzz/long_search.rs"]
mod long_search;
#[path = "fuzz/memory.rs"]
mod memory;
#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "fuzz/tables.rs"]
mod tables;
#[path = "../fuzz/targets/mod.rs"]
mod targets;

use engine::foundation::fault;
use mutate::{Random, mutate};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use targets::{Target, cpu_seconds, data, dictionary, seeds_of, targets};

/// What a case may take.
struct Limits {
    /// CPU time, of all threads.
    cpu_seconds: f64,
    /// Memory beyond what was held before it.
    bytes: usize,
}

const LIMITS: Limits = Limits { cpu_seconds: 5.0, bytes: 4 << 30 };
/// A case that has not ended after this, on a machine that is busy, waits for something that does
/// not come.
const WAIT_SECONDS: u64 = 120;
/// As the main thread of a process has.
const STACK_BYTES: usize = 8 << 20;

/// How many panics there were that are findings: those, too, that the engine caught and told.
static PANICS: AtomicU64 = AtomicU64::new(0);

#[test]
fn no_input_of_any_target_ends_in_a_panic_or_a_hang() {
    let _alone = targets::alone();
    let words = Arc::new(Mutex::new(String::new()));
    let (kept, own) = (words.clone(), words.clone());
    std::panic::set_hook(Box::new(move |info| {
        fault::keep_panic(info);
        if targets::counts(info.location().map_or("", |at| at.file())) {
            *kept.lock().unwrap() = info.to_string();
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
    }));
    let (sender, receiver) = channel();
    let all = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let only = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let wanted = |target: &Target| target.name.contains(&only);
        let found: Vec<_> = targets().into_iter().filter(wanted).collect();
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
            Ok(Said::Begins(case)) => last = case,
            Ok(Said::Failed(words)) => failed.push(words),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{last}: no end after {WAIT_SECONDS} s"),
        }
    }
    let _ = std::panic::take_hook();
    assert!(failed.is_empty(), "\n\n{}\n", failed.join("\n"));
    if all.join().is_err() {
        panic!("{last}: {}", words.lock().unwrap());
    }
}

enum Said {
    Begins(String),
    Failed(String),
}

/// What the cases of a target took at most.
#[derive(Default)]
struct Most {
    cases: usize,
    cpu_seconds: f64,
    bytes: usize,
}

/// Runs one case: the words of what is wrong with it.
fn try_case(run: &dyn Fn(), words: &Mutex<String>, most: &mut Most, limits: &Limits) -> String {
    let (panics, cpu, held) = (PANICS.load(Ordering::SeqCst), cpu_seconds(), memory::begin());
    let ended = catch_unwind(AssertUnwindSafe(run));
    let (used, taken) = (cpu_seconds() - cpu, memory::most_held().saturating_sub(held));
    most.cases += 1;
    most.cpu_seconds = most.cpu_seconds.max(used);
    most.bytes = most.bytes.max(taken);
    if ended.is_err() || PANICS.load(Ordering::SeqCst) > panics {
        return words.lock().unwrap().clone();
    }
    if used > limits.cpu_seconds {
        return format!("it takes {used:.1} s of CPU time");
    }
    if taken > limits.bytes {
        return format!("it takes {} MiB of memory", taken >> 20);
    }
    String::new()
}

/// Tries one target: the kept cases and seeds as they are, then changes of them.
fn try_target(target: &Target, words: &Mutex<String>, say: &dyn Fn(Said)) {
    let began = std::time::Instant::now();
    let seeds = seeds_of(&target.name, target.bytes_max);
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    let dictionary = dictionary(&seeds);
    let times = std::env::var("FUZZ_CASES").map_or(1, |times| times.parse().unwrap());
    let mut random = Random::new(target.name.len() as u64 + times as u64);
    let mut most = Most::default();
    say(Said::Begins(format!("{}: the first case", target.name)));
    target.prepare();
    let mut run = |name: String, bytes: &[u8]| {
        say(Said::Begins(name.clone()));
        let wrong = try_case(&|| (target.run)(bytes), words, &mut most, &LIMITS);
        if !wrong.is_empty() {
            let path = std::env::temp_dir().join(format!("fuzz-{name}"));
            std::fs::write(&path, bytes).unwrap();
            say(Said::Failed(format!("{name}: {wrong}\n    the input is in {}", path.display())));
        }
    };
    let kind = target.name.strip_prefix("data.").or(target.name.strip_prefix("use."));
    let mut judged = 0;
    for (i, seed) in seeds.iter().enumerate() {
        run(format!("{}-{i}", target.name), seed);
        for k in 0..target.gate_cases * times {
            let bytes = mutate(&mut random, seed, &dictionary, target.bytes_max);
            run(format!("{}-{i}-{k}", target.name), &bytes);
            judged += usize::from(kind.is_some_and(|kind| data::judges(kind, seed, &bytes)));
        }
    }
    if kind.is_some() && judged == 0 {
        let name = &target.name;
        say(Said::Failed(format!("{name}: no change passes the frame (FRAMED in data.rs)")));
    }
    if std::env::var_os("FUZZ_TELL").is_some() {
        let (seconds, seeds) = (began.elapsed().as_secs_f64(), seeds.len());
        let Most { cases, cpu_seconds, bytes } = most;
        let (name, mib) = (&target.name, bytes >> 20);
        eprintln!(
            "{name:28} {seeds:4} seeds {cases:6} cases {seconds:6.2} s; at most \
             {cpu_seconds:5.2} s of CPU time, {mib:4} MiB"
        );
    }
}

#[test]
fn a_case_that_takes_too_much_is_a_finding() {
    let _alone = targets::alone();
    let (words, mut most) = (Mutex::default(), Most::default());
    let limits = Limits { cpu_seconds: 0.2, bytes: 64 << 20 };
    let mut check = |run: &dyn Fn(), wanted: &str| {
        let wrong = try_case(run, &words, &mut most, &limits);
        assert!(wrong.contains(wanted) && wrong.is_empty() == wanted.is_empty(), "{wrong}");
    };
    check(&|| (), "");
    check(&|| drop(std::hint::black_box(Vec::<u8>::with_capacity(65 << 20))), "of memory");
    let work = || {
        let began = cpu_seconds();
        while cpu_seconds() - began < 0.4 {}
    };
    // Work counts on whichever thread it is done.
    check(&|| thread::scope(|scope| drop(scope.spawn(work).join())), "s of CPU time");
}
