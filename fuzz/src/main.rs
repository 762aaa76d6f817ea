//! The fuzzer: libFuzzer around one target of the table, which the variable FUZZ_TARGET names.
//! Without it, the program writes what fuzz/run needs: with FUZZ_SEEDS, a folder of seeds and a
//! dictionary for each target; otherwise the names of all targets.

#![no_main]

#[path = "../targets/mod.rs"]
mod targets;

use engine::foundation::fault;
use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::env::var_os;
use std::fs;
use std::path::Path;
use targets::{Target, dictionary, seeds_of, targets};

thread_local! {
    static TARGET: OnceCell<Target> = const { OnceCell::new() };
}

/// The target that is wanted.
fn target() -> Target {
    let wanted = var_os("FUZZ_TARGET").unwrap_or_default();
    let found = targets().into_iter().find(|target| *target.name == *wanted);
    found.unwrap_or_else(|| panic!("there is no target {}", wanted.display()))
}

/// Does what is done without a target, and ends.
fn begin() {
    if var_os("FUZZ_TARGET").is_some() {
        let end = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |at| at.file());
            // Another thread than the targets' own has no part in containment.
            let counts = |target: &OnceCell<Target>| {
                target.get().is_none_or(|target| targets::counts(target.contains, file))
            };
            match TARGET.try_with(counts).unwrap_or(true) {
                true => end(info),
                false => fault::keep_panic(info),
            }
        }));
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
    let words: String = dictionary(&seeds).iter().map(quoted).collect();
    fs::write(folder.join(format!("{}.dict", target.name)), words).expect("it can be written");
}

fuzz_target!(init: begin(), |data: &[u8]| {
    TARGET.with(|known| (known.get_or_init(target).run)(data));
});
