//! Search for the smallest compiled clip within its tolerance: forms of the tracks; for each choice
//! of them rounds in which the tolerances of all tracks are adjusted to the errors that were
//! measured, and then the growth of single ones.

use super::compile::{ClipSettings, CompiledClip, Input, assemble, sample_track};
use super::compile_measure::Measure;
use super::skeleton::Skeleton;
use super::source::TrackProperty;
use super::uniform_fit::UniformCurve;
use super::uniform_plan::{ESTIMATE_PART, Forms, Plan, plan};
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
/// Part of the best steps from which steps grow at last.
const A_LITTLE_SMALLER: f32 = 0.85;
const GROWTH_STARTS: usize = 4;
/// Parts of the tolerance up to which the steps of single tracks grow at last: the first one with
/// which the clip is within its tolerance. Errors between keyframes are measured only for whole
/// clips.
const GROWTH_LIMITS: [f32; 4] = [0.985, 0.97, 0.95, 0.9];

/// Parts of the tolerance that the interpolation between keyframes takes at most, one after another
/// until a clip is within its tolerance: errors of a bone and of its parents can add up.
const INTERPOLATION_PARTS: [f32; 4] = [0.7, 0.5, 0.3, 0.1];

/// Least part of its tolerance that the keys of a track get where joints have tolerances of their
/// own: one that is above its tolerance with these is not nearer with finer ones.
const FACTOR_MIN: f32 = 1e-3;

/// Largest number of bones, each at one time, that are measured in the search for a clip. Where it
/// is reached, the search ends with the best clip so far. Ten minutes of 60 bones at 30 keys a
/// second take half of it.
pub const MEASURED_BONES_MAX: u64 = 1 << 29;

/// Work of a search.
pub struct SearchWork {
    most: u64,
    done: u64,
}

impl SearchWork {
    /// `most` is the number of measured bones after which the search ends. The round that reaches
    /// it is complete.
    pub fn new(most: u64) -> SearchWork {
        SearchWork { most, done: 0 }
    }

    fn is_over(&self) -> bool {
        self.done >= self.most
    }
}

/// Reduces the curves to the smallest clip within the tolerance. If there is none, or none was
/// found with `work`, the clip with the least error has a warning.
pub fn smallest(
    input: &Input,
    settings: &ClipSettings,
    mut work: SearchWork,
) -> Result<CompiledClip, Error> {
    let bones = input.skeleton.bone_count();
    let mut forms = Forms { keyed_bones: vec![false; bones], interpolation: 0.0 };
    let mut best: Option<Found> = None;
    for attempt in 0..INTERPOLATION_PARTS.len() + 2 {
        match (INTERPOLATION_PARTS.get(attempt), &best) {
            (Some(part), _) => forms.interpolation = *part,
            // Keys instead of keyframes for the bones that exceed their tolerance, then for all.
            (None, Some(best)) if attempt == INTERPOLATION_PARTS.len() => {
                forms.keyed_bones = exceeding(&best.ratios, input.skeleton);
            }
            _ => forms.keyed_bones.fill(true),
        }
        let found = search(input, settings, &forms, &mut work)?;
        let has_keyframes = found.compiled.clip.stats().uniform_tracks > 0;
        let is_last = found.is_within() || !has_keyframes || work.is_over();
        if best.as_ref().is_none_or(|best| found.is_better_than(best)) {
            best = Some(found);
        }
        if is_last {
            break;
        }
    }
    let mut best = best.expect("there is at least one search");
    // The keyframes of fast movements can take more than keys of their own do.
    if best.is_within() && best.bytes > best.keyed_bytes && !work.is_over() {
        forms.keyed_bones.fill(true);
        let found = search(input, settings, &forms, &mut work)?;
        if found.is_better_than(&best) {
            best = found;
        }
    }
    if !best.is_within() {
        best.compiled.warning = warning(input, settings, &best);
    }
    best.compiled.measured_bones = work.done;
    Ok(best.compiled)
}

/// Returns a warning that names the bone whose error is the farthest above its tolerance, if any is
/// for another reason than the rounding of the times of keys. That is no excuse for joints with
/// tolerances of their own.
fn warning(input: &Input, settings: &ClipSettings, found: &Found) -> Option<String> {
    let stats = found.compiled.clip.stats();
    let mut beyond = found.ratios.clone();
    if stats.tracks > stats.uniform_tracks + stats.constant_tracks {
        let intervals = stats.keyframes.saturating_sub(1) as u32;
        let measure = Measure::new(input, settings.shell, (intervals, true));
        beyond = measure.beyond_corners(&found.compiled.clip);
    }
    let own_tolerance = |bone: usize| {
        let name = &input.skeleton.names()[bone];
        settings.joints.iter().any(|(joint, _)| joint == name)
    };
    for (bone, beyond) in beyond.iter_mut().enumerate().filter(|(bone, _)| own_tolerance(*bone)) {
        *beyond = found.ratios[bone];
    }
    let bones = beyond.iter().enumerate().filter(|(_, beyond)| **beyond > 1.0);
    let (bone, _) = bones.max_by(|a, b| a.1.total_cmp(b.1))?;
    let (ratio, tolerance) = (found.ratios[bone], input.tolerances[bone]);
    let (name, digits) = (&input.skeleton.names()[bone], if tolerance < 1e-5 { 6 } else { 3 });
    let advice = match own_tolerance(bone) {
        true => format!("a higher tolerance of '{name}' in 'joints'"),
        false => "a higher 'tolerance'".to_string(),
    };
    Some(format!(
        "the bone '{name}' is up to {:.digits$} mm away from the source, and its tolerance is \
         {:.digits$} mm: use fewer or smoother keys, or {advice}",
        ratio * tolerance * 1e3,
        tolerance * 1e3
    ))
}

/// Returns which bones have errors above their tolerance, with their parents, which move them.
fn exceeding(ratios: &[f32], skeleton: &Skeleton) -> Vec<bool> {
    let mut exceeds: Vec<bool> = ratios.iter().map(|ratio| *ratio > 1.0).collect();
    for bone in (0..exceeds.len()).rev() {
        if let Some(parent) = skeleton.parents()[bone].filter(|_| exceeds[bone]) {
            exceeds[usize::from(parent)] = true;
        }
    }
    exceeds
}

/// Searches for the smallest clip within the tolerance, with these forms of its tracks.
fn search(
    input: &Input,
    settings: &ClipSettings,
    forms: &Forms,
    work: &mut SearchWork,
) -> Result<Found, Error> {
    let mut found = rounds(input, settings, (forms, ESTIMATE_PART), work)?;
    // Errors of keys are not corrected along chains of bones, so that their tolerance is often far
    // below the estimate.
    let factor = found.best.factors.iter().copied().fold(0.0, f32::max);
    if !found.plan.keyed.is_empty() && factor < ESTIMATE_PART * 0.5 && !work.is_over() {
        let other = rounds(input, settings, (forms, factor), work)?;
        if other.best.is_better_than(&found.best) {
            found = other;
        }
    }
    match found.best.compiled.error_ratio <= 1.0 && !found.plan.fit.curves.is_empty() {
        true => with_growth(input, settings, found, work),
        false => Ok(found.best),
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
    (forms, estimate): (&Forms, f32),
    work: &mut SearchWork,
) -> Result<Rounds<'a>, Error> {
    let mut tracks = Vec::new();
    for track in &input.source.tracks {
        tracks.extend(sample_track(track, input));
    }
    tracks.sort_compact_by_key(|keys| (keys.track.property, keys.track.bone));
    let mut plan = plan(input, tracks, (forms, estimate))?;
    let keyframes = plan.fit.curves.first().map_or(0, UniformCurve::keyframe_count);
    let has_keys = !plan.keyed.is_empty();
    let measure = Measure::new(input, settings.shell, (keyframes.saturating_sub(1), has_keys));
    // Errors of parents add to those of their children, so that the tolerance of a track is
    // smaller than that of the clip.
    let mut factors = vec![0.5; input.skeleton.bone_count()];
    let mut best: Option<Found> = None;
    for round in 0..ROUNDS_MAX {
        choose(&mut plan, &factors);
        plan.fit.quantize();
        let found = measured(input, settings, &plan, (&measure, &factors))?;
        work.done += measure.bone_count();
        let (error_ratio, ratios) = (found.compiled.error_ratio, found.ratios.clone());
        if best.as_ref().is_none_or(|best| found.is_better_than(best)) {
            best = Some(found);
        }
        let is_last = work.is_over() || error_ratio <= 1.0 && round >= SEARCH_ROUNDS;
        if is_last || (error_ratio <= 1.0 && plan.fit.curves.is_empty()) {
            break;
        }
        if error_ratio > 1.0 && settings.joints.is_empty() {
            let change = (0.9 / error_ratio).clamp(0.1, 0.9);
            factors.iter_mut().for_each(|factor| *factor *= change);
        } else if error_ratio > 1.0 {
            // A joint that does not reach its own tolerance is no reason for finer keys of others.
            let worst = worst_moved(&ratios, input.skeleton);
            for (factor, ratio) in factors.iter_mut().zip(worst).filter(|it| it.1 > 1.0) {
                *factor = (*factor * (0.9 / ratio).clamp(0.1, 0.9)).max(FACTOR_MIN);
            }
        }
        plan.fit.adjust(&ratios, round < SEARCH_ROUNDS);
    }
    Ok(Rounds { plan, measure, best: best.expect("there is at least one round") })
}

/// Lets the steps of single tracks grow from the best round, from smaller steps, from equal parts
/// of the tolerance, and from steps a little smaller than the best ones of these. Returns the
/// smallest clip.
fn with_growth(
    input: &Input,
    settings: &ClipSettings,
    found: Rounds,
    work: &mut SearchWork,
) -> Result<Found, Error> {
    let Rounds { mut plan, measure, mut best } = found;
    let first = best.shares.clone();
    let scaled = |shares: &[f32], part: f32| shares.iter().map(|share| share * part).collect();
    for start in 0..GROWTH_STARTS {
        let shares: Vec<f32> = match start {
            0 => first.clone(),
            1 => scaled(&first, SMALLER),
            2 => vec![EVEN_SHARE; first.len()],
            _ => scaled(&best.shares, A_LITTLE_SMALLER),
        };
        for most in GROWTH_LIMITS {
            if work.is_over() {
                return Ok(best);
            }
            choose(&mut plan, &best.factors);
            plan.fit.set_shares(&shares);
            plan.fit.quantize();
            plan.fit.grow(most);
            let found = measured(input, settings, &plan, (&measure, &best.factors))?;
            work.done += measure.bone_count();
            let is_within = found.compiled.error_ratio <= 1.0;
            if found.is_better_than(&best) {
                best = found;
            }
            if is_within {
                break;
            }
        }
    }
    Ok(best)
}

/// Result of a round of the search.
struct Found {
    compiled: CompiledClip,
    bytes: usize,
    /// Largest ratio of an error to its tolerance, for each bone.
    ratios: Vec<f32>,
    /// Parts of the tolerance of the curves of keyframes.
    shares: Vec<f32>,
    /// Part of the tolerance of the other tracks, for each bone.
    factors: Vec<f32>,
    /// Number of bones above their tolerance.
    exceeding: usize,
    /// Estimated bytes with keys of their own for all tracks.
    keyed_bytes: usize,
}

impl Found {
    /// Within the tolerance, the smaller clip is better. Otherwise a bone that cannot reach its
    /// tolerance must not take the others beyond theirs: one such bone less, or half of the worst
    /// error, is worth four times the bytes.
    fn is_better_than(&self, other: &Found) -> bool {
        let cost = |it: &Found| {
            let ratio = f64::from(it.compiled.error_ratio) * 2.0_f64.powi(it.exceeding as i32);
            ratio * ratio * it.bytes as f64
        };
        match (self.is_within(), other.is_within()) {
            (true, true) => self.bytes < other.bytes,
            (false, false) => cost(self) < cost(other),
            (is_within, _) => is_within,
        }
    }

    fn is_within(&self) -> bool {
        self.compiled.error_ratio <= 1.0
    }
}

/// Creates the clip of a plan, and measures it.
fn measured(
    input: &Input,
    settings: &ClipSettings,
    plan: &Plan,
    (measure, factors): (&Measure, &[f32]),
) -> Result<Found, Error> {
    let mut clip = assemble(input, plan, settings.jump_seconds)?;
    let (error, ratios) = measure.clip(&clip);
    let error_ratio = ratios.iter().copied().fold(0.0, f32::max);
    // Differences that are too large to measure are the largest number.
    clip.features.error = error.min(f32::MAX);
    let bytes = clip.byte_count();
    let shares = plan.fit.shares();
    let compiled = CompiledClip { clip, error, error_ratio, warning: None, measured_bones: 0 };
    let exceeding = ratios.iter().filter(|ratio| **ratio > 1.0).count();
    let (factors, keyed_bytes) = (factors.to_vec(), plan.keyed_bytes);
    Ok(Found { compiled, bytes, ratios, shares, factors, exceeding, keyed_bytes })
}

/// Chooses the keys of the tracks that have their own, for a part of the tolerance of each bone.
fn choose(plan: &mut Plan, factors: &[f32]) {
    for keys in &mut plan.keyed {
        // The errors of weights are those of the first bone.
        let of_weight = keys.track.property == TrackProperty::Weight;
        let bone = if of_weight { 0 } else { usize::from(keys.track.bone) };
        keys.choose(factors[bone]);
    }
}

/// Returns the largest ratio among each bone and those below it.
fn worst_moved(ratios: &[f32], skeleton: &Skeleton) -> Vec<f32> {
    let mut worst = ratios.to_vec();
    for bone in (0..worst.len()).rev() {
        if let Some(parent) = skeleton.parents()[bone] {
            let parent = usize::from(parent);
            worst[parent] = worst[parent].max(worst[bone]);
        }
    }
    worst
}
