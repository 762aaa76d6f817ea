//! Choice of the form of each track: one value, a key in every keyframe, or keys at times of its
//! own; and of the number of keyframes.

use super::clip::{LAST_TICK, Track};
use super::compile::{Input, KeyForm, SAMPLES_PER_SECOND, TrackKeys};
use super::constant_track::ConstantTrack;
use super::key_reduction::displacement;
use super::quantization::TrackRange;
use super::skeleton::BoneTransform;
use super::source::{SourceInterpolation, SourceTrack, TrackProperty};
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
const DIVISORS: [u32; 4] = [1, 2, 3, 4];
/// Part of the tolerance that the interpolation between keyframes takes at most.
const INTERPOLATION_PART: f32 = 0.4;
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
}

/// Chooses the forms of tracks, which are sorted by property and bone. Those of the bones of
/// `keyed_bones` have keys of their own. `estimate` is the part of the tolerance that keys take.
///
/// # Errors
/// Fails if there is no memory for the values of the keyframes.
pub fn plan<'a>(
    input: &'a Input,
    mut tracks: Vec<TrackKeys<'a>>,
    (keyed_bones, estimate): (&[bool], f32),
) -> Result<Plan<'a>, Error> {
    let mut constants = Vec::new();
    if input.keys == KeyForm::Stream {
        tracks.iter_mut().for_each(TrackKeys::keep_constant);
        tracks.iter_mut().for_each(|keys| keys.choose(estimate));
        let fit = uniform_fit(input, &constants, &tracks, Vec::new())?;
        return Ok(Plan { constants, keyed: tracks, fit });
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
    for divisor in DIVISORS {
        let intervals = keyframe_intervals(input, &tracks, divisor);
        if intervals >= KEYFRAMES_MAX as f32 {
            continue;
        }
        if intervals < 1.0 {
            break;
        }
        let count = intervals as u32 + 1;
        // Those of this number of keyframes, and those of the best number so far.
        check_room(2 * tracks.len() * count as usize * KEYFRAME_BYTES)?;
        let curves: Vec<Option<UniformCurve>> = tracks
            .iter()
            .zip(&keyed_bytes)
            .map(|(keys, bytes)| {
                if keyed_bones.get(usize::from(keys.track.bone)) == Some(&true) {
                    return None;
                }
                uniform_curve(input, keys, count).filter(|it| it.byte_count() < *bytes)
            })
            .collect();
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
    Ok(Plan { constants, keyed: tracks, fit })
}

/// Returns the number of intervals between keyframes for a part of the rate of the source's keys.
fn keyframe_intervals(input: &Input, tracks: &[TrackKeys], divisor: u32) -> f32 {
    let rate = |keys: &TrackKeys| {
        let times = &keys.source.times;
        let seconds = times[times.len() - 1] - times[0];
        (times.len() >= RATE_KEYS_MIN).then(|| (times.len() - 1) as f32 / seconds)
    };
    let mut rates: Vec<f32> = tracks.iter().filter_map(rate).collect();
    rates.sort_by(f32::total_cmp);
    let rate = rates.get(rates.len() / 2).copied().unwrap_or(RATE_DEFAULT).min(RATE_MAX);
    (rate * input.source.seconds / divisor as f32).round()
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

/// Returns the curve of a track in keyframes, if the interpolation between keyframes is exact
/// enough.
fn uniform_curve(input: &Input, keys: &TrackKeys, count: u32) -> Option<UniformCurve> {
    let (bone, property) = (keys.track.bone, keys.track.property);
    if keys.track.step || property == TrackProperty::Weight {
        return None;
    }
    let values = values_at_keyframes(keys.source, input.source.seconds, count);
    // Keyframes at the keys of a source that interpolates linearly are as exact as keyframes can
    // be.
    let linear = keys.source.interpolation == SourceInterpolation::Linear;
    let seconds = input.source.seconds;
    let has_keys = linear && are_keyframes(&keys.source.times, seconds, count);
    if !has_keys && !follows(input, keys, &values) {
        return None;
    }
    let (reach, tolerance) = match property {
        TrackProperty::Rotation => {
            let bone = usize::from(bone);
            (input.scales.arms[bone], keys.tolerance.min(input.strictest[bone]))
        }
        TrackProperty::Scale => (Vec3::splat(keys.reach), keys.tolerance),
        TrackProperty::Position | TrackProperty::Weight => (Vec3::ONE, keys.tolerance),
    };
    let mut curve = UniformCurve::new((property, bone), values, tolerance, reach);
    curve.quantize_exact();
    Some(curve)
}

/// Returns true if the times of keys are those of the keyframes, within half a tick.
fn are_keyframes(times: &[f32], seconds: f32, count: u32) -> bool {
    let most = seconds / f32::from(LAST_TICK) * 0.5;
    let is_keyframe = |(keyframe, time): (u32, &f32)| {
        (time - keyframe_time(seconds, count, keyframe)).abs() <= most
    };
    times.len() == count as usize && (0..count).zip(times).all(is_keyframe)
}

/// Returns true if the interpolation between keyframes follows the source.
fn follows(input: &Input, keys: &TrackKeys, values: &[Vec4]) -> bool {
    let seconds = input.source.seconds;
    let rate = (values.len() - 1) as f32 / seconds;
    let count = (seconds * SAMPLES_PER_SECOND) as u32;
    let regular = (0..count).map(|index| index as f32 / SAMPLES_PER_SECOND);
    let times = keys.source.times.iter().copied().filter(|time| (0.0..=seconds).contains(time));
    regular.chain(times).all(|time| {
        let position = time * rate;
        let before = (position as usize).min(values.len() - 2);
        let (from, to) = (values[before], values[before + 1]);
        let shown = from + (to - from) * (position - before as f32);
        let exact = Vec4::from_array(keys.source.sample(time));
        let error = displacement(keys.track.property, keys.reach, exact, shown);
        error <= keys.tolerance * INTERPOLATION_PART
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
