//! Tests of forged compiled data: a sample of every resource kind uses all features of its format.
//! Each number in it is changed, with all checksums corrected, and the data is opened like that of
//! a bundle. Refused data has an error message; accepted data is played for some frames. Nothing
//! may panic or take more than some seconds of CPU time. Memory use must be explained by the
//! sample's size, and all memory must be freed.
//!
//! The gate opens a part of all changes and plays a few. All of them take minutes:
//!
//!     ENGINE_TEST_COMPILED=all cargo test --test memory compiled:: -- --nocapture
//!
//! `ENGINE_TEST_COMPILED=texture` runs all changes of one kind.

mod measure;
mod mutations;
mod sample_game;
mod samples;

use crate::allocator::allocated_bytes;
use engine::app::resource_kinds::KINDS;
use engine::foundation::hash::murmur64a;
use engine::resource::resource_kind::ResourceKind;
use measure::{Cost, Meter};
use mutations::{Form, Mutation};
use samples::{Sample, Samples};
use std::collections::HashSet;
use std::time::Instant;

/// Number of changes to a kind's samples that the gate opens, in total.
const OPENED_MAX: usize = 4000;
/// Number of accepted changes that the gate plays.
const PLAYED_MAX: usize = 12;
/// Number of changes of shaders that the gate opens. It is smaller because their text is parsed.
const OPENED_SHADERS_MAX: usize = 100;
/// Samples up to this length are changed at every byte, longer ones at aligned words.
const DENSE_BYTES_MAX: usize = 8192;

/// Returns the maximum cost of opening a change. A tree creates a value from each byte; shaders are
/// parsed.
fn opening_limit(sample: &Sample) -> Cost {
    let bytes = if sample.kind == "shader" { 16 << 20 } else { 1 << 20 };
    Cost { seconds: 1.0, bytes: bytes + sample.data.len() * 64 }
}

/// Maximum cost of playing a change: emitters may have a million particles.
const PLAYING_LIMIT: Cost = Cost { seconds: 5.0, bytes: 1 << 30 };
/// Maximum memory that all plays of a kind may leave allocated: names, and tables that grow.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// Extent of a run.
enum Extent {
    Part,
    /// All changes, of one kind or of every kind.
    All(Option<String>),
}

fn extent() -> Extent {
    match std::env::var("ENGINE_TEST_COMPILED") {
        Err(_) => Extent::Part,
        Ok(kind) if kind == "all" => Extent::All(None),
        Ok(kind) => Extent::All(Some(kind)),
    }
}

/// Returns the form of a kind's data. Data with a frame has its own checksum.
fn form(kind: &ResourceKind) -> Form {
    if kind.framed { Form::Framed } else { Form::Plain }
}

/// Returns changes spread over a sample: all of them, or at most `most`.
fn select_mutations(
    sample: &Sample,
    form: Form,
    most: Option<usize>,
) -> impl Iterator<Item = Mutation> {
    let all = mutations::all(&sample.data, form, sample.data.len() <= DENSE_BYTES_MAX);
    let step = most.map_or(1, |most| all.len().div_ceil(most).max(1));
    // An odd step reaches every type of change.
    all.into_iter().step_by(step | 1)
}

#[test]
fn mutated_compiled_data_never_panics_or_hangs() {
    let (meter, samples, extent) = (Meter::start(), Samples::new(), extent());
    for kind in KINDS.0 {
        if matches!(&extent, Extent::All(Some(selected)) if selected != kind.name) {
            continue;
        }
        let form = form(kind);
        let (mut visited, mut accepted) = (HashSet::new(), Vec::new());
        let of_kind: Vec<&Sample> = samples.of(kind.name).collect();
        assert!(!of_kind.is_empty(), "there is no sample of {}", kind.name);
        let (mut row, mut costs) = ([0; 3], [Cost::default(); 2]);
        for sample in &of_kind {
            let opened = if kind.name == "shader" { OPENED_SHADERS_MAX } else { OPENED_MAX };
            let most = matches!(extent, Extent::Part).then_some(opened / of_kind.len());
            for mutation in select_mutations(sample, form, most) {
                row[0] += 1;
                let data = mutation.of(&sample.data, form);
                let describe = || format!("opening {sample:?}: {mutation:?}");
                let (opened, cost) =
                    meter.run(opening_limit(sample), describe, || (kind.validate)(&data));
                costs[0] = costs[0].max(cost);
                if let Err(fault) = &opened {
                    assert!(!fault.message.is_empty(), "{sample:?}: {mutation:?}");
                } else if visited.insert(murmur64a(&data, 7)) {
                    accepted.push((*sample, mutation));
                }
            }
        }
        row[1] = accepted.len();
        let step = match extent {
            Extent::Part => accepted.len().div_ceil(PLAYED_MAX).max(1),
            Extent::All(_) => 1,
        };
        let mut before = None;
        for (sample, mutation) in accepted.into_iter().step_by(step) {
            let data = mutation.of(&sample.data, form);
            let describe = || format!("playing {sample:?}: {mutation:?}");
            let (_, cost) = meter.run(PLAYING_LIMIT, describe, || samples.play(sample, &data));
            costs[1] = costs[1].max(cost);
            row[2] += 1;
            // The first play creates the state that all plays share.
            let kept =
                allocated_bytes().saturating_sub(*before.get_or_insert_with(allocated_bytes));
            assert!(kept <= KEPT_BYTES_MAX, "{kept} bytes are kept after {}", describe());
        }
        let most = costs.map(|cost| format!("{:.2} s, {} KiB", cost.seconds, cost.bytes >> 10));
        println!(
            "{}: {} changes opened ({}), {} accepted, {} played ({})",
            kind.name, row[0], most[0], row[1], row[2], most[1]
        );
    }
}

#[test]
fn unchanged_samples_play() {
    let (meter, samples) = (Meter::start(), Samples::new());
    let began = Instant::now();
    let mut errors = Vec::new();
    for sample in &samples.all {
        let describe = || format!("playing {sample:?} as it is");
        let (message, _) =
            meter.run(PLAYING_LIMIT, describe, || samples.play(sample, &sample.data));
        if !message.is_empty() {
            errors.push(format!("{sample:?}: {message}"));
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    println!("{} samples in {:?}", samples.all.len(), began.elapsed());
}
