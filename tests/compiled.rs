//! Compiled data that nobody compiled: of every kind of resource a sample is made that uses what
//! there is, each number in it is changed to others with all checksums right, and the data is
//! opened as a bundle's is. What is refused has words; what is accepted is played for some frames.
//! Nothing panics, nothing takes more than some seconds of CPU time, no memory is asked for beyond
//! what a sample's size can explain, and none is kept.
//!
//! The gate opens a part of all changes and plays a few. All of them take minutes:
//!
//!     ENGINE_TEST_COMPILED=all cargo test --test compiled -- --nocapture
//!
//! `ENGINE_TEST_COMPILED=texture` is all of one kind.

#[path = "compiled/measure.rs"]
mod measure;
#[path = "compiled/mutations.rs"]
mod mutations;
#[path = "compiled/play.rs"]
mod play;
#[path = "compiled/samples.rs"]
mod samples;

use engine::app::kinds::KINDS;
use engine::foundation::hash::murmur64a;
use engine::resource::kind::Kind;
use measure::{Cost, Meter, held};
use mutations::{Form, Mutation};
use samples::{Sample, Samples};
use std::collections::HashSet;
use std::time::Instant;

/// How many changes of a kind's samples the gate opens, all together, and how many of those that
/// were accepted it plays.
const OPENED: usize = 4000;
const PLAYED: usize = 12;
/// The same of shaders, whose text is parsed.
const OPENED_SHADERS: usize = 100;
/// Up to this length a sample is changed at every byte, and a longer one at aligned words.
const DENSE_BYTES_MAX: usize = 8192;

/// The most that opening a change may cost. Of a byte, a tree makes a value; shaders are parsed.
fn opening(sample: &Sample) -> Cost {
    let bytes = if sample.kind == "shader" { 16 << 20 } else { 1 << 20 };
    Cost { seconds: 1.0, bytes: bytes + sample.data.len() * 64 }
}

/// The most that playing one may cost: emitters may have a million particles.
const PLAYING: Cost = Cost { seconds: 5.0, bytes: 1 << 30 };
/// The most that all plays of a kind may leave behind: names, and tables that grow.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// What a run is to do.
enum Extent {
    Part,
    /// All changes, of one kind or of every.
    All(Option<String>),
}

fn extent() -> Extent {
    match std::env::var("ENGINE_TEST_COMPILED") {
        Err(_) => Extent::Part,
        Ok(kind) if kind == "all" => Extent::All(None),
        Ok(kind) => Extent::All(Some(kind)),
    }
}

/// The form of a kind's data: those with a frame have a checksum of their own.
fn form(kind: &Kind) -> Form {
    match kind.name {
        "font" | "model" | "particles" => Form::Framed,
        _ => Form::Plain,
    }
}

/// Changes of a sample, spread over it: all of them, or as many as `most`.
fn some(sample: &Sample, form: Form, most: Option<usize>) -> impl Iterator<Item = Mutation> {
    let all = mutations::all(&sample.data, form, sample.data.len() <= DENSE_BYTES_MAX);
    let step = most.map_or(1, |most| all.len().div_ceil(most).max(1));
    // An odd step meets every kind of change.
    all.into_iter().step_by(step | 1)
}

#[test]
fn no_change_of_compiled_data_panics_or_takes_long() {
    let (meter, samples, extent) = (Meter::start(), Samples::new(), extent());
    for kind in KINDS.0 {
        if matches!(&extent, Extent::All(Some(wanted)) if wanted != kind.name) {
            continue;
        }
        let form = form(kind);
        let (mut seen, mut accepted) = (HashSet::new(), Vec::new());
        let of_kind: Vec<&Sample> = samples.of(kind.name).collect();
        assert!(!of_kind.is_empty(), "there is no sample of {}", kind.name);
        let (mut row, mut costs) = ([0; 3], [Cost::default(); 2]);
        for sample in &of_kind {
            let opened = if kind.name == "shader" { OPENED_SHADERS } else { OPENED };
            let most = matches!(extent, Extent::Part).then_some(opened / of_kind.len());
            for mutation in some(sample, form, most) {
                row[0] += 1;
                let data = mutation.of(&sample.data, form);
                let words = || format!("opening {sample:?}: {mutation:?}");
                let (opened, cost) = meter.run(opening(sample), words, || (kind.validate)(&data));
                costs[0] = costs[0].max(cost);
                if let Err(fault) = &opened {
                    assert!(!fault.message.is_empty(), "{sample:?}: {mutation:?}");
                } else if seen.insert(murmur64a(&data, 7)) {
                    accepted.push((*sample, mutation));
                }
            }
        }
        row[1] = accepted.len();
        let step = match extent {
            Extent::Part => accepted.len().div_ceil(PLAYED).max(1),
            Extent::All(_) => 1,
        };
        let mut before = None;
        for (sample, mutation) in accepted.into_iter().step_by(step) {
            let data = mutation.of(&sample.data, form);
            let words = || format!("playing {sample:?}: {mutation:?}");
            let (_, cost) = meter.run(PLAYING, words, || samples.play(sample, &data));
            costs[1] = costs[1].max(cost);
            row[2] += 1;
            // The first makes what all of them share.
            let kept = held().saturating_sub(*before.get_or_insert_with(held));
            assert!(kept <= KEPT_BYTES_MAX, "{kept} bytes are kept after {}", words());
        }
        let most = costs.map(|cost| format!("{:.2} s, {} KiB", cost.seconds, cost.bytes >> 10));
        println!(
            "{}: {} changes opened ({}), {} accepted, {} played ({})",
            kind.name, row[0], most[0], row[1], row[2], most[1]
        );
    }
}

#[test]
fn every_sample_plays_as_it_was_compiled() {
    let (meter, samples) = (Meter::start(), Samples::new());
    let began = Instant::now();
    let mut faults = Vec::new();
    for sample in &samples.all {
        let words = || format!("playing {sample:?} as it is");
        let (words, _) = meter.run(PLAYING, words, || samples.play(sample, &sample.data));
        if !words.is_empty() {
            faults.push(format!("{sample:?}: {words}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{} samples in {:?}", samples.all.len(), began.elapsed());
}
