//! Choice of the form of each track: one value, a key in every keyframe, or keys at times of its
//! own; and of the number of keyframes.

use super::clip::{LAST_TICK, Track};
use super::compile::{INTERVAL_PARTS, Input, KeyForm, TrackKeys};
use super::constant_track::ConstantTrack;
use super::key_reduction::displacement;
use super::quantization::TrackRange;
use super::skeleton::BoneTransform;
use super::source::{SourceTrack, TrackProperty};
use super::uniform_fit::UniformCurve;
use super::uniform_search::{ExactBone, FIT_BYTES, FitSkeleton, UniformFit};
use super::uniform_track::{KEYFRAMES_MAX, UniformValue};
use engine_foundation::memory::limit::check_room;
use engine_foundation::{Error, Quat, Vec3, Vec4};

/// Keys of the source from which their rate counts.
const RATE_KEYS_MIN: usize = 4;
/// Keyframes per second without such keys, and the most.
const RATE_DEFAULT: f32 = 30.0;
const RATE_MAX: f32 = 120.0;
/// Divisors of the rate of the source that are tried.
const DIVISORS: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
/// The same for curves that turn too fast for keyframes at the rate of the source.
const FINE_DIVISORS: [f32; 3] = [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0];
/// Part of the tolerance that a constant value takes at most.
const CONSTANT_PART: f32 = 0.1;
/// Part of the tolerance for the first estimate of the sizes of keys.
pub const ESTIMATE_PART: f32 = 0.5;
/// Bytes of a keyframe of a curve while it is compiled: its exact value and its numbers.
const KEYFRAME_BYTES: usize = size_of::<Vec4>() + size_of::<UniformValue>();
/// Bytes of a track with keys of its own, without its keys beyond the first two.
const KEYED_HEAD: usize = 47;

/// Forms of the tracks of a clip.
pub struct Plan<'a> {
    pub constants: Vec<ConstantTrack>,
    pub keyed: Vec<TrackKeys<'a>>,
    pub fit: UniformFit<'a>,
    /// Estimated bytes of the tracks that are not constant with keys of their own.
    pub keyed_bytes: usize,
}

/// Limits of the forms of tracks.
pub struct Forms {
    /// Bones whose tracks have keys of their own.
    pub keyed_bones: Vec<bool>,
    /// Part of the tolerance that the interpolation between keyframes takes at most.
    pub interpolation: f32,
}

/// Chooses the forms of tracks, which are sorted by property and bone. `estimate` is the part of
/// the tolerance that keys take.
///
/// # Errors
/// Fails if there is no memory for the values of the keyframes.
pub fn plan<'a>(
    input: &'a Input,
    mut tracks: Vec<TrackKeys<'a>>,
    (forms, estimate): (&Forms, f32),
) -> Result<Plan<'a>, Error> {
    let mut constants = Vec::new();
    if input.keys == KeyForm::Stream {
        tracks.iter_mut().for_each(TrackKeys::keep_constant);
        tracks.iter_mut().for_each(|keys| keys.choose(estimate));
        let fit = uniform_fit(input, &constants, &tracks, Vec::new())?;
        return Ok(Plan { constants, keyed: tracks, fit, keyed_bytes: usize::MAX });
    }
    tracks.retain(|keys| match keys.constant() {
        Some(value) => {
            let (bone, property) = (keys.track.bone, keys.track.property);
            constants.push(ConstantTrack { bone, property, value });
            false
        }
        None => true,
    });
    let keyed_bytes: Vec<usize> = tracks
        .iter_mut()
        .map(|keys| {
            keys.choose(estimate);
            KEYED_HEAD + keys.kept.len() * keys.track.key_bytes()
        })
        .collect();
    let mut best: Option<(usize, Vec<Option<UniformCurve>>)> = None;
    let mut is_too_coarse = false;
    for divisor in DIVISORS.into_iter().chain(FINE_DIVISORS) {
        let intervals = keyframe_intervals(input, &tracks, divisor);
        let is_fine = divisor < 1.0;
        let rate = intervals / input.source.seconds;
        let is_too_fine = is_fine && (!is_too_coarse || rate > RATE_MAX);
        if intervals >= KEYFRAMES_MAX as f32 || intervals < 1.0 || is_too_fine {
            continue;
        }
        let count = intervals as u32 + 1;
        // Those of this number of keyframes, and those of the best number so far.
        check_room(2 * tracks.len() * count as usize * KEYFRAME_BYTES)?;
        let mut curves: Vec<Option<UniformCurve>> = Vec::with_capacity(tracks.len());
        for (keys, bytes) in tracks.iter().zip(&keyed_bytes) {
            let is_keyed = forms.keyed_bones.get(usize::from(keys.track.bone)) == Some(&true);
            if is_keyed || keys.track.step || keys.track.property == TrackProperty::Weight {
                curves.push(None);
                continue;
            }
            let curve = uniform_curve(input, keys, count, forms.interpolation);
            is_too_coarse |= divisor == 1.0 && curve.is_none();
            curves.push(curve.filter(|it| it.byte_count() < *bytes));
        }
        let bytes = |(curve, keyed): (&Option<UniformCurve>, &usize)| match curve {
            Some(curve) => curve.byte_count(),
            None => *keyed,
        };
        let total = curves.iter().zip(&keyed_bytes).map(bytes).sum();
        if best.as_ref().is_none_or(|best| total < best.0) {
            best = Some((total, curves));
        }
    }
    let curves = best.map_or_else(Vec::new, |best| best.1);
    let mut kept = curves.iter().map(Option::is_none).collect::<Vec<bool>>().into_iter();
    tracks.retain(|_| kept.next().unwrap_or(true));
    let curves: Vec<UniformCurve> = curves.into_iter().flatten().collect();
    let fit = uniform_fit(input, &constants, &tracks, curves)?;
    let keyed_bytes = keyed_bytes.iter().sum();
    Ok(Plan { constants, keyed: tracks, fit, keyed_bytes })
}

/// Returns the number of intervals between keyframes for a part of the rate of the source's keys.
fn keyframe_intervals(input: &Input, tracks: &[TrackKeys], divisor: f32) -> f32 {
    let rate = |keys: &TrackKeys| {
        let times = &keys.source.times;
        let seconds = times[times.len() - 1] - times[0];
        (times.len() >= RATE_KEYS_MIN).then(|| (times.len() - 1) as f32 / seconds)
    };
    let mut rates: Vec<f32> = tracks.iter().filter_map(rate).collect();
    rates.sort_by(f32::total_cmp);
    let rate = rates.get(rates.len() / 2).copied().unwrap_or(RATE_DEFAULT).min(RATE_MAX);
    // Finer keyframes have some at the times of the coarser ones.
    let fine = if divisor < 1.0 { (1.0 / divisor).round() } else { 1.0 };
    (rate * input.source.seconds / divisor.max(1.0)).round() * fine
}

/// Returns the values of a track at the keyframes. Rotations take the shorter arc to the previous
/// one.
fn values_at_keyframes(source: &SourceTrack, seconds: f32, count: u32) -> Vec<Vec4> {
    let mut previous = Vec4::W;
    let value = |keyframe: u32| {
        let value = Vec4::from_array(source.sample(keyframe_time(seconds, count, keyframe)));
        let flips = source.property == TrackProperty::Rotation && previous.dot(value) < 0.0;
        previous = if flips { -value } else { value };
        previous
    };
    (0..count).map(value).collect()
}

fn keyframe_time(seconds: f32, count: u32, keyframe: u32) -> f32 {
    seconds * (keyframe as f32 / (count - 1) as f32)
}

/// Returns the curve of a track in keyframes, if the interpolation between keyframes takes at most
/// a part of the tolerance. The track has a rotation, position or scale that is not held.
fn uniform_curve(
    input: &Input,
    keys: &TrackKeys,
    count: u32,
    interpolation: f32,
) -> Option<UniformCurve> {
    let (bone, property) = (keys.track.bone, keys.track.property);
    let values = values_at_keyframes(keys.source, input.source.seconds, count);
    if !follows(input, keys, &values, keys.tolerance * interpolation) {
        return None;
    }
    let (reach, tolerance) = match property {
        TrackProperty::Rotation => {
            let bone = usize::from(bone);
            (input.scales.arms[bone], keys.tolerance)
        }
        TrackProperty::Scale => (Vec3::splat(keys.reach), keys.tolerance),
        TrackProperty::Position | TrackProperty::Weight => (Vec3::ONE, keys.tolerance),
    };
    let mut curve = UniformCurve::new((property, bone), values, tolerance, reach);
    curve.quantize_exact();
    Some(curve)
}

/// Returns true if the times of keys are those of the keyframes, within half a tick.
pub(super) fn are_keyframes(times: &[f32], seconds: f32, count: u32) -> bool {
    let most = seconds / f32::from(LAST_TICK) * 0.5;
    let is_keyframe = |(keyframe, time): (u32, &f32)| {
        (time - keyframe_time(seconds, count, keyframe)).abs() <= most
    };
    times.len() == count as usize && (0..count).zip(times).all(is_keyframe)
}

/// Returns true if the interpolation between keyframes follows the source, as players show it.
fn follows(input: &Input, keys: &TrackKeys, values: &[Vec4], tolerance: f32) -> bool {
    let seconds = input.source.seconds;
    let count = values.len() as u32;
    let times = &keys.source.times;
    // Keyframes at the keys of a source are exact where players interpolate as the source does.
    if keys.source.is_played_exactly() && are_keyframes(times, seconds, count) {
        return true;
    }
    let rate = (count - 1) as f32 / seconds;
    let between = |keyframe: u32| {
        let time = move |part: &f32| (keyframe as f32 + part) / rate;
        INTERVAL_PARTS.iter().map(time)
    };
    let regular = (0..count - 1).flat_map(between);
    let times = times.iter().copied().filter(|time| (0.0..=seconds).contains(time));
    regular.chain(times).all(|time| {
        let position = time * rate;
        let before = (position as usize).min(values.len() - 2);
        let (from, to) = (values[before], values[before + 1]);
        let shown = from + (to - from) * (position - before as f32);
        let exact = Vec4::from_array(keys.source.sample(time));
        displacement(keys.track.property, keys.reach, exact, shown) <= tolerance
    })
}

/// Creates the fit of the keyframes, with the rotations of all bones.
///
/// # Errors
/// Fails if there is no memory for the poses of all keyframes.
fn uniform_fit<'a>(
    input: &'a Input,
    constants: &[ConstantTrack],
    keyed: &[TrackKeys],
    curves: Vec<UniformCurve>,
) -> Result<UniformFit<'a>, Error> {
    let parents = input.skeleton.parents();
    let mut played = vec![None; parents.len()];
    let is_rotation = |property| property == TrackProperty::Rotation;
    for track in constants.iter().filter(|track| is_rotation(track.property)) {
        played[usize::from(track.bone)] = Some(Quat::from_vec4(track.value));
    }
    let is_track =
        |track: &Track, bone| is_rotation(track.property) && usize::from(track.bone) == bone;
    let mut exact: Vec<ExactBone> = Vec::new();
    // Differences are added to other poses, so that their errors cannot be corrected.
    if !input.features.additive {
        let count = curves.first().map_or(0, |curve| curve.keyframe_count());
        let rest = |(base, scale): (&BoneTransform, &f32)| ExactBone {
            rotation: base.rotation,
            position: base.position * *scale,
        };
        let scales = &input.scales.parents;
        check_room(FIT_BYTES * parents.len() * count as usize)?;
        let keyframe: Vec<ExactBone> = input.base.iter().zip(scales).map(rest).collect();
        exact = keyframe.repeat(count as usize);
        for track in &input.source.tracks {
            let bone = usize::from(track.bone);
            let values = values_at_keyframes(track, input.source.seconds, count);
            for (exact, value) in exact.chunks_exact_mut(parents.len()).zip(values) {
                match track.property {
                    TrackProperty::Rotation => exact[bone].rotation = Quat::from_vec4(value),
                    TrackProperty::Position => {
                        exact[bone].position = value.truncate() * scales[bone];
                    }
                    TrackProperty::Scale | TrackProperty::Weight => {}
                }
            }
        }
        for (bone, played) in played.iter_mut().enumerate() {
            // A track that keeps the rest transform is not stored.
            let keyed = keyed.iter().any(|keys| is_track(&keys.track, bone));
            if played.is_none() && !keyed {
                *played = Some(input.base[bone].rotation);
            }
        }
    }
    let skeleton = FitSkeleton {
        parents,
        scales: &input.scales.parents,
        tolerances: &input.tolerances,
        shell: input.scales.shell,
    };
    Ok(UniformFit::new(curves, skeleton, exact, played))
}

impl TrackKeys<'_> {
    /// Returns the value of a track that has one, other than a weight.
    fn constant(&self) -> Option<Vec4> {
        (self.track.property != TrackProperty::Weight).then(|| self.value()).flatten()
    }

    /// Gives a track that has one value two equal keys: at the start and at the end.
    fn keep_constant(&mut self) {
        let Some(value) = self.value() else { return };
        let property = self.track.property;
        let last = self.samples.len() - 1;
        self.samples = vec![self.samples[0], self.samples[last]];
        self.samples.iter_mut().for_each(|sample| sample.value = value);
        self.track.range = TrackRange::of(property, std::iter::once(value));
        self.track.set_bits(self.track.bits);
    }

    /// Returns the value of a track that has one.
    fn value(&self) -> Option<Vec4> {
        let property = self.track.property;
        let first = self.samples.first()?.value;
        let limit = self.tolerance * CONSTANT_PART;
        let keeps = |value: Vec4| {
            let error = |value, other| displacement(property, self.reach, value, other);
            self.samples.iter().all(|sample| error(sample.value, value) <= limit)
        };
        keeps(first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_keyframes_if_their_times_are() {
        assert!(are_keyframes(&[0.0, 0.5, 1.0], 1.0, 3));
        assert!(are_keyframes(&[0.0, 0.500_005, 1.0], 1.0, 3), "less than half a tick");
        assert!(!are_keyframes(&[0.0, 0.501, 1.0], 1.0, 3));
        assert!(!are_keyframes(&[0.0, 0.5], 1.0, 3));
    }
}
