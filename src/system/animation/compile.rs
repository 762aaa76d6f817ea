//! Compilation of an animation: samples of its curves are reduced to keys within a tolerance, the
//! keys are quantized, and the stream is sorted by the time at which each key is needed.
//!
//! The error of a clip is measured as in Nicholas Frechette's Animation Compression Library: as the
//! displacement, in the space of the model, of points at a distance from each bone.

use super::clip::{CLIP_SECONDS_MAX, Clip, JumpFrame, Key, LAST_TICK, Track, append_key};
use super::key_reduction::{TrackSample, displacement, keys};
use super::palette::{ModelMatrix, model_matrices};
use super::player::ClipPlayer;
use super::pose::Pose;
use super::quantization::{KeyBits, TrackRange};
use super::skeleton::Skeleton;
use super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use engine_foundation::{Error, Quat, Vec3, Vec4, error};

/// Samples per second of curves between their keys.
const SAMPLES_PER_SECOND: f32 = 60.0;
/// Rounds in which the tolerance of tracks is adjusted until the clip is within its tolerance.
const ROUNDS_MAX: usize = 8;

/// Settings of the compilation of a clip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipSettings {
    /// Largest displacement in metres.
    pub tolerance: f32,
    /// Distance in metres from each bone at which the displacement is measured.
    pub shell: f32,
    /// Seconds between jump frames.
    pub jump_seconds: f32,
}

impl ClipSettings {
    /// 0.1 mm at a distance of 3 cm, and a jump frame every two seconds.
    pub const DEFAULT: ClipSettings =
        ClipSettings { tolerance: 1e-4, shell: 0.03, jump_seconds: 2.0 };
}

/// Result of a compilation.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledClip {
    pub clip: Clip,
    /// Largest measured displacement in metres.
    pub error: f32,
}

/// Samples of a track and the keys that were chosen.
struct TrackKeys<'a> {
    source: &'a SourceTrack,
    track: Track,
    samples: Vec<TrackSample>,
    kept: Vec<usize>,
}

/// Compiles an animation for a skeleton. Fails if a number of the animation, or of the settings, is
/// not valid.
pub fn compile(
    source: &SourceClip,
    skeleton: &Skeleton,
    settings: &ClipSettings,
) -> Result<CompiledClip, Error> {
    check(source, skeleton, settings)?;
    let reaches = skeleton.reaches(settings.shell);
    let mut tracks = Vec::new();
    for track in &source.tracks {
        tracks.extend(sample_track(track, source.seconds, skeleton, &reaches, settings));
    }
    tracks.sort_by_key(|keys| (keys.track.property, keys.track.bone));
    // Errors of parents add to those of their children, so that the tolerance of a track is
    // smaller than that of the clip.
    let mut tolerance = settings.tolerance * 0.5;
    let mut best: Option<CompiledClip> = None;
    for _ in 0..ROUNDS_MAX {
        for keys in &mut tracks {
            keys.choose(reaches[usize::from(keys.track.bone)], tolerance);
        }
        let clip = assemble(source.seconds, skeleton, &tracks, settings.jump_seconds);
        let error = measure(source, skeleton, &clip, settings.shell);
        let better = best.as_ref().is_none_or(|best| error < best.error);
        if better {
            best = Some(CompiledClip { clip, error });
        }
        if error <= settings.tolerance {
            break;
        }
        tolerance *= (0.9 * settings.tolerance / error).clamp(0.1, 0.9);
    }
    Ok(best.expect("there is at least one round"))
}

fn check(source: &SourceClip, skeleton: &Skeleton, settings: &ClipSettings) -> Result<(), Error> {
    if !(0.0..=CLIP_SECONDS_MAX).contains(&source.seconds) {
        return Err(error!(
            "it is {} seconds long, and {CLIP_SECONDS_MAX} is the most (CLIP_SECONDS_MAX)",
            source.seconds
        ));
    }
    for (name, value) in [
        ("tolerance", settings.tolerance),
        ("shell", settings.shell),
        ("jump_seconds", settings.jump_seconds),
    ] {
        if !(value.is_finite() && value >= 1e-6) {
            return Err(error!("'{name}' is {value}, and must be at least 0.000001"));
        }
    }
    let mut known = std::collections::BTreeSet::new();
    for track in &source.tracks {
        let (bone, property) = (track.bone, track.property);
        let name = skeleton.names().get(usize::from(bone));
        let name = name.ok_or_else(|| error!("it animates bone {bone}, which does not exist"))?;
        if !known.insert((bone, property)) {
            return Err(error!("it animates the {property:?} of '{name}' twice"));
        }
        let per_key = if track.interpolation == SourceInterpolation::Cubic { 3 } else { 1 };
        let finite = track.values.iter().flatten().chain(&track.times).all(|it| it.is_finite());
        let ascending = track.times.windows(2).all(|pair| pair[0] < pair[1]);
        let complete = !track.times.is_empty() && track.values.len() == track.times.len() * per_key;
        if !finite || !ascending || !complete {
            return Err(error!("the {property:?} of '{name}' has keys that are not valid"));
        }
    }
    Ok(())
}

/// Samples a track at regular intervals and at its keys. Returns `None` if the bone keeps its rest
/// transform.
fn sample_track<'a>(
    source: &'a SourceTrack,
    seconds: f32,
    skeleton: &Skeleton,
    reaches: &[f32],
    settings: &ClipSettings,
) -> Option<TrackKeys<'a>> {
    let tick_of = |time: f32| match seconds > 0.0 {
        true => ((time / seconds) * f32::from(LAST_TICK)).round().clamp(0.0, 65535.0) as u16,
        false => 0,
    };
    let step = source.interpolation == SourceInterpolation::Step;
    let mut ticks: Vec<u16> = source.times.iter().map(|time| tick_of(*time)).collect();
    if !step {
        let count = (seconds * SAMPLES_PER_SECOND).ceil() as u32;
        ticks.extend((0..count).map(|index| tick_of(index as f32 / SAMPLES_PER_SECOND)));
    }
    ticks.extend([0, LAST_TICK]);
    ticks.sort_unstable();
    ticks.dedup();
    let tick_seconds = seconds / f32::from(LAST_TICK);
    let mut samples: Vec<TrackSample> = Vec::with_capacity(ticks.len());
    for tick in ticks {
        // Held values change at their keys, which are rounded to ticks.
        let key = source.times.iter().find(|time| step && tick_of(**time) == tick);
        let time = key.copied().unwrap_or(f32::from(tick) * tick_seconds);
        let mut value = Vec4::from_array(source.sample(time));
        if source.property == TrackProperty::Rotation {
            let previous = samples.last().map_or(Vec4::W, |sample| sample.value);
            value = if previous.dot(value) < 0.0 { -value } else { value };
        }
        samples.push(TrackSample { tick, value, restored: value });
    }
    let rest = skeleton.rest()[usize::from(source.bone)];
    let rest = match source.property {
        TrackProperty::Rotation => Vec4::from(rest.rotation),
        TrackProperty::Position => rest.position.extend(0.0),
        TrackProperty::Scale => rest.scale.extend(0.0),
    };
    let reach = reaches[usize::from(source.bone)];
    let still = settings.tolerance * 0.05;
    let keeps_rest =
        |sample: &TrackSample| displacement(source.property, reach, sample.value, rest) <= still;
    if samples.iter().all(keeps_rest) {
        return None;
    }
    let range = TrackRange::of(source.property, samples.iter().map(|sample| sample.value));
    let (bone, property) = (source.bone, source.property);
    let track = Track { bone, property, bits: KeyBits::TwentyFour, step, range };
    Some(TrackKeys { source, track, samples, kept: Vec::new() })
}

impl TrackKeys<'_> {
    /// Chooses the bits and the keys for a tolerance in metres.
    fn choose(&mut self, reach: f32, tolerance: f32) {
        for bits in KeyBits::ALL {
            self.track.bits = bits;
            let mut worst: f32 = 0.0;
            for sample in &mut self.samples {
                let (range, property) = (self.track.range, self.track.property);
                let key = range.quantize(property, bits, sample.value);
                sample.restored = range.restore(property, bits, key);
                let error = displacement(property, reach, sample.value, sample.restored);
                worst = worst.max(error);
            }
            if worst <= tolerance * 0.35 {
                break;
            }
        }
        self.kept = keys(self.source.property, &self.samples, reach, tolerance, self.track.step);
    }

    /// Returns the keys in order of time: at least two.
    fn stored(&self, number: u16) -> Vec<Key> {
        let key = |index: &usize| {
            let sample = &self.samples[*index];
            let Track { property, bits, range, .. } = self.track;
            Key {
                track: number,
                tick: sample.tick,
                value: range.quantize(property, bits, sample.value),
            }
        };
        let mut stored: Vec<Key> = self.kept.iter().map(key).collect();
        // The last value of a held track applies from its own time on, not from the end on.
        if stored.len() < 2 || self.track.step {
            stored.extend(stored.last().copied());
        }
        stored
    }
}

/// Sorts the keys of all tracks by the time at which they are needed, and adds the jump frames.
fn assemble(seconds: f32, skeleton: &Skeleton, tracks: &[TrackKeys], jump_seconds: f32) -> Clip {
    let mut clip = Clip {
        seconds,
        bones: skeleton.bone_count() as u16,
        tracks: tracks.iter().map(|keys| keys.track).collect(),
        stream: Vec::new(),
        jump_frames: Vec::new(),
    };
    let stored: Vec<Vec<Key>> =
        tracks.iter().enumerate().map(|(number, keys)| keys.stored(number as u16)).collect();
    let mut active: Vec<[Key; 2]> = stored.iter().map(|keys| [keys[0], keys[1]]).collect();
    let mut due: Vec<(u16, u16, usize)> = Vec::new();
    for (number, keys) in stored.iter().enumerate() {
        due.extend((2..keys.len()).map(|index| (keys[index - 1].tick, number as u16, index)));
    }
    due.sort_unstable();
    let interval = match seconds > 0.0 {
        true => (jump_seconds / seconds * f32::from(LAST_TICK)).clamp(64.0, 65535.0) as u32,
        false => u32::from(LAST_TICK),
    };
    clip.jump_frames.push(JumpFrame { tick: 0, offset: 0, keys: active.clone() });
    let mut next_jump = interval;
    for (tick, number, index) in due {
        // A jump frame has the state in which all keys that are due at its time were read.
        while u32::from(tick) > next_jump {
            let offset = clip.stream.len() as u32;
            let (tick, keys) = (next_jump as u16, active.clone());
            clip.jump_frames.push(JumpFrame { tick, offset, keys });
            next_jump += interval;
        }
        let key = stored[usize::from(number)][index];
        append_key(&mut clip.stream, &clip.tracks[usize::from(number)], key);
        let pair = &mut active[usize::from(number)];
        *pair = [pair[1], key];
    }
    clip
}

/// Returns the largest displacement in metres of points around the bones, between the curves and
/// the compiled clip.
fn measure(source: &SourceClip, skeleton: &Skeleton, clip: &Clip, shell: f32) -> f32 {
    let rest = Pose::rest(skeleton);
    let (mut exact, mut played) = (rest.clone(), Pose::default());
    let (mut wanted, mut shown) = (Vec::new(), Vec::new());
    let mut player = ClipPlayer::new(clip, skeleton);
    let count = (source.seconds * SAMPLES_PER_SECOND).ceil() as u32;
    let mut worst: f32 = 0.0;
    for index in 0..=count {
        let time = (index as f32 / SAMPLES_PER_SECOND).min(source.seconds);
        source_pose(source, skeleton, time, &mut exact);
        player.seek(clip, time);
        player.sample(&rest, &mut played);
        model_matrices(skeleton, &exact, &mut wanted);
        model_matrices(skeleton, &played, &mut shown);
        for (wanted, shown) in wanted.iter().zip(&shown) {
            worst = worst.max(shell_displacement(wanted, shown, shell));
        }
    }
    worst
}

fn shell_displacement(wanted: &ModelMatrix, shown: &ModelMatrix, shell: f32) -> f32 {
    let points = [[shell, 0.0, 0.0], [0.0, shell, 0.0], [0.0, 0.0, shell]];
    let distance = |point: [f32; 3]| {
        let (a, b) = (wanted.transform_point(point), shown.transform_point(point));
        (Vec3::from_array(a) - Vec3::from_array(b)).length()
    };
    points.into_iter().map(distance).fold(0.0, f32::max)
}

/// Writes the pose of the curves at a time in seconds.
pub fn source_pose(source: &SourceClip, skeleton: &Skeleton, time: f32, pose: &mut Pose) {
    let mut transforms = skeleton.rest().to_vec();
    for track in &source.tracks {
        let value = Vec4::from_array(track.sample(time));
        let transform = &mut transforms[usize::from(track.bone)];
        match track.property {
            TrackProperty::Rotation => transform.rotation = Quat::from_vec4(value),
            TrackProperty::Position => transform.position = value.truncate(),
            TrackProperty::Scale => transform.scale = value.truncate(),
        }
    }
    *pose = Pose::new(&transforms);
}
