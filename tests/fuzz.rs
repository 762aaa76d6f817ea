//! Every fuzz target with the cases that were found, with good inputs, and with some random changes
//! of those, always the same. The long search, which goes by coverage, is fuzz/run.

#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "../fuzz/targets/mod.rs"]
mod targets;

use engine::foundation::fault;
use mutate::{Random, mutate};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use targets::{Target, dictionary, seeds_of, targets};

/// A case that takes longer than this, on a machine that is busy, hangs.
const CASE_SECONDS: u64 = 120;
/// As the main thread of a process has.
const STACK_BYTES: usize = 8 << 20;

/// How many panics there were that are findings: those, too, that the engine caught and told.
static PANICS: AtomicU64 = AtomicU64::new(0);
/// Whether the target that is tried contains the panics of libraries.
static CONTAINS: AtomicBool = AtomicBool::new(false);

#[test]
fn no_input_of_any_target_ends_in_a_panic_or_a_hang() {
    let words = Arc::new(Mutex::new(String::new()));
    let (kept, own) = (words.clone(), words.clone());
    std::panic::set_hook(Box::new(move |info| {
        fault::keep_panic(info);
        *kept.lock().unwrap() = info.to_string();
        let file = info.location().map_or("", |at| at.file());
        if targets::counts(CONTAINS.load(Ordering::SeqCst), file) {
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
        match receiver.recv_timeout(Duration::from_secs(CASE_SECONDS)) {
            Ok(Said::Begins(case)) => last = case,
            Ok(Said::Failed(words)) => failed.push(words),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{last}: no end after {CASE_SECONDS} s"),
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

/// Tries one target: the kept cases and seeds as they are, then changes of them.
fn try_target(target: &Target, words: &Mutex<String>, say: &dyn Fn(Said)) {
    let began = std::time::Instant::now();
    CONTAINS.store(target.contains, Ordering::SeqCst);
    let seeds = seeds_of(&target.name, target.bytes_max);
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    let dictionary = dictionary(&seeds);
    let times = std::env::var("FUZZ_CASES").map_or(1, |times| times.parse().unwrap());
    let mut random = Random::new(target.name.len() as u64 + times as u64);
    let mut cases = 0;
    let mut run = |name: String, bytes: &[u8]| {
        cases += 1;
        say(Said::Begins(name.clone()));
        let before = PANICS.load(Ordering::SeqCst);
        let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes)));
        if ended.is_err() || PANICS.load(Ordering::SeqCst) > before {
            let path = std::env::temp_dir().join(format!("fuzz-{name}"));
            std::fs::write(&path, bytes).unwrap();
            let words = words.lock().unwrap();
            say(Said::Failed(format!("{name}: {words}\n    the input is in {}", path.display())));
        }
    };
    for (i, seed) in seeds.iter().enumerate() {
        run(format!("{}-{i}", target.name), seed);
        for k in 0..target.gate_cases * times {
            let bytes = mutate(&mut random, seed, &dictionary, target.bytes_max);
            run(format!("{}-{i}-{k}", target.name), &bytes);
        }
    }
    if std::env::var_os("FUZZ_TELL").is_some() {
        let seconds = began.elapsed().as_secs_f64();
        eprintln!("{:28} {:4} seeds {cases:6} cases {seconds:6.2} s", target.name, seeds.len());
    }
}
