//! The fuzzer: libFuzzer around one target of the table, named by the environment variable
//! FUZZ_TARGET. FUZZ_LAST names a folder in which the last cases are kept, for a target with cases
//! that depend on earlier ones. FUZZ_REPORT prints the CPU time of each case. Without a target, the
//! program writes the files that fuzz/run needs: with FUZZ_SEEDS, a folder of seeds and a
//! dictionary for each target; otherwise the names of all targets.

#![no_main]

#[path = "../targets/mod.rs"]
mod targets;

use engine::foundation::panic;
use libfuzzer_sys::fuzz_target;
use std::cell::{Cell, OnceCell};
use std::env::var_os;
use std::fs;
use std::path::{Path, PathBuf};
use targets::{CASES_MAX, Target, cpu_seconds, dictionary, seeds_of, targets};

thread_local! {
    static TARGET: OnceCell<Target> = const { OnceCell::new() };
    /// Number of cases so far.
    static CASES: Cell<usize> = const { Cell::new(0) };
}

/// Returns the target that FUZZ_TARGET names.
fn target() -> Target {
    let selected = var_os("FUZZ_TARGET").unwrap_or_default();
    let found = targets().into_iter().find(|target| *target.name == *selected);
    found.unwrap_or_else(|| panic!("there is no target {}", selected.display()))
}

/// Prepares the target. Without a target, writes names and seeds and ends the process.
fn begin() {
    if var_os("FUZZ_TARGET").is_some() {
        let end = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            match targets::is_finding(info.location().map_or("", |at| at.file())) {
                true => end(info),
                false => panic::store_panic(info),
            }
        }));
        // On the thread that runs the cases.
        TARGET.with(|known| known.get_or_init(target).prepare());
        return;
    }
    let folder = var_os("FUZZ_SEEDS");
    for target in targets() {
        println!("{} {}", target.name, target.bytes_max);
        if let Some(folder) = &folder {
            write_seeds(Path::new(folder), &target);
        }
    }
    targets::remove_scratch();
    std::process::exit(0);
}

fn write_seeds(folder: &Path, target: &Target) {
    let own = folder.join(&target.name);
    fs::create_dir_all(&own).expect("a folder can be made");
    let seeds = seeds_of(&target.name, target.bytes_max);
    for (i, seed) in seeds.iter().enumerate() {
        fs::write(own.join(format!("seed_{i}")), seed).expect("a seed can be written");
    }
    let quoted = |word: &Vec<u8>| {
        let bytes: String = word.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("\"{bytes}\"\n")
    };
    let tokens: String = dictionary(&seeds).iter().map(quoted).collect();
    fs::write(folder.join(format!("{}.dict", target.name)), tokens).expect("it can be written");
}

/// Writes a case to the folder, which keeps the last [`CASES_MAX`] cases: as many as one game
/// plays.
fn keep_case(folder: &Path, case: &[u8]) {
    let number = CASES.get();
    CASES.set(number + 1);
    let path = |number: usize| -> PathBuf { folder.join(format!("{number:012}")) };
    if let Some(old) = number.checked_sub(CASES_MAX) {
        // An error means that the file belongs to an earlier run and is already gone.
        let _ = fs::remove_file(path(old));
    }
    fs::write(path(number), case).expect("a case can be kept");
}

fuzz_target!(init: begin(), |data: &[u8]| {
    TARGET.with(|known| {
        let target = known.get_or_init(target);
        if let (true, Some(folder)) = (target.keeps, var_os("FUZZ_LAST")) {
            keep_case(Path::new(&folder), data);
        }
        let before = cpu_seconds();
        (target.run)(data);
        if var_os("FUZZ_REPORT").is_some() {
            println!("cpu {:.0} ms", (cpu_seconds() - before) * 1000.0);
        }
    });
});
