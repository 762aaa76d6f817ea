//! Search for the smallest compiled clip within its tolerance: rounds in which the tolerances of
//! all tracks are adjusted to the errors that were measured, and then the growth of single ones.

use super::compile::{ClipSettings, CompiledClip, Input, assemble, sample_track};
use super::compile_measure::Measure;
use super::uniform_fit::UniformCurve;
use super::uniform_plan::{ESTIMATE_PART, Plan, plan};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;

/// Rounds in which the tolerance of tracks is adjusted until the clip is within its tolerance.
const ROUNDS_MAX: usize = 24;
/// Rounds in which the tolerance of tracks also grows.
const SEARCH_ROUNDS: usize = 8;
/// Part of the tolerance of each track from which steps grow.
const EVEN_SHARE: f32 = 0.25;
/// Part of the steps of the best round from which steps grow.
const SMALLER: f32 = 0.7;
/// Parts of the tolerance up to which the steps of single tracks grow at last: the first one with
/// which the clip is within its tolerance. Errors between keyframes are measured only for whole
/// clips.
const GROWTH_LIMITS: [f32; 4] = [0.995, 0.98, 0.95, 0.9];

/// Searches for the smallest clip within the tolerance. The tracks of the bones of `keyed_bones`
/// are not stored as keyframes.
pub fn search(
    input: &Input,
    settings: &ClipSettings,
    keyed_bones: &[bool],
) -> Result<CompiledClip, Error> {
    let mut found = rounds(input, settings, (keyed_bones, ESTIMATE_PART))?;
    // Errors of keys are not corrected along chains of bones, so that their tolerance is often far
    // below the estimate.
    let factor = found.best.factor;
    if !found.plan.keyed.is_empty() && factor < ESTIMATE_PART * 0.5 {
        let other = rounds(input, settings, (keyed_bones, factor))?;
        if other.best.is_better_than(&found.best) {
            found = other;
        }
    }
    match found.best.compiled.error_ratio <= 1.0 && !found.plan.fit.curves.is_empty() {
        true => with_growth(input, settings, found),
        false => Ok(found.best.compiled),
    }
}

/// The plan of a clip, and the best round with it.
struct Rounds<'a> {
    plan: Plan<'a>,
    measure: Measure<'a>,
    best: Found,
}

/// Searches with an estimate of the tolerance of keys, as a part of the whole.
fn rounds<'a>(
    input: &'a Input,
    settings: &ClipSettings,
    (keyed_bones, estimate): (&[bool], f32),
) -> Result<Rounds<'a>, Error> {
    let mut tracks = Vec::new();
    for track in &input.source.tracks {
        tracks.extend(sample_track(track, input));
    }
    tracks.sort_compact_by_key(|keys| (keys.track.property, keys.track.bone));
    let mut plan = plan(input, tracks, (keyed_bones, estimate))?;
    let keyframes = plan.fit.curves.first().map_or(0, UniformCurve::keyframe_count);
    let measure = Measure::new(input, settings.shell, keyframes as f32 / input.source.seconds);
    // Errors of parents add to those of their children, so that the tolerance of a track is
    // smaller than that of the clip.
    let mut factor = 0.5;
    let mut best: Option<Found> = None;
    for round in 0..ROUNDS_MAX {
        plan.keyed.iter_mut().for_each(|keys| keys.choose(factor));
        plan.fit.quantize();
        let found = measured(input, settings, &plan, (&measure, factor))?;
        let (error_ratio, ratios) = (found.compiled.error_ratio, found.ratios.clone());
        if best.as_ref().is_none_or(|best| found.is_better_than(best)) {
            best = Some(found);
        }
        let is_last = error_ratio <= 1.0 && round >= SEARCH_ROUNDS;
        if is_last || (error_ratio <= 1.0 && plan.fit.curves.is_empty()) {
            break;
        }
        if error_ratio > 1.0 {
            factor *= (0.9 / error_ratio).clamp(0.1, 0.9);
        }
        plan.fit.adjust(&ratios, round < SEARCH_ROUNDS);
    }
    Ok(Rounds { plan, measure, best: best.expect("there is at least one round") })
}

/// Lets the steps of single tracks grow from the best round, from smaller steps, and from equal
/// parts of the tolerance. Returns the smallest clip.
fn with_growth(
    input: &Input,
    settings: &ClipSettings,
    found: Rounds,
) -> Result<CompiledClip, Error> {
    let Rounds { mut plan, measure, mut best } = found;
    let smaller = best.shares.iter().map(|share| share * SMALLER).collect();
    for shares in [best.shares.clone(), smaller, vec![EVEN_SHARE; best.shares.len()]] {
        for most in GROWTH_LIMITS {
            plan.keyed.iter_mut().for_each(|keys| keys.choose(best.factor));
            plan.fit.set_shares(&shares);
            plan.fit.quantize();
            plan.fit.grow(most);
            let found = measured(input, settings, &plan, (&measure, best.factor))?;
            let is_within = found.compiled.error_ratio <= 1.0;
            if found.is_better_than(&best) {
                best = found;
            }
            if is_within {
                break;
            }
        }
    }
    Ok(best.compiled)
}

/// Result of a round of the search.
struct Found {
    compiled: CompiledClip,
    bytes: usize,
    /// Largest ratio of an error to its tolerance, for each bone.
    ratios: Vec<f32>,
    /// Parts of the tolerance of the curves of keyframes.
    shares: Vec<f32>,
    /// Part of the tolerance of the other tracks.
    factor: f32,
}

impl Found {
    fn is_better_than(&self, other: &Found) -> bool {
        let (ratio, best) = (self.compiled.error_ratio, other.compiled.error_ratio);
        match ratio <= 1.0 {
            true => best > 1.0 || self.bytes < other.bytes,
            false => ratio < best,
        }
    }
}

/// Creates the clip of a plan, and measures it.
fn measured(
    input: &Input,
    settings: &ClipSettings,
    plan: &Plan,
    (measure, factor): (&Measure, f32),
) -> Result<Found, Error> {
    let mut clip = assemble(input, plan, settings.jump_seconds)?;
    let (error, ratios) = measure.clip(&clip);
    let error_ratio = ratios.iter().copied().fold(0.0, f32::max);
    // Differences that are too large to measure are the largest number.
    clip.features.error = error.min(f32::MAX);
    let bytes = clip.byte_count();
    let shares = plan.fit.shares();
    let compiled = CompiledClip { clip, error, error_ratio, warning: None };
    Ok(Found { compiled, bytes, ratios, shares, factor })
}
