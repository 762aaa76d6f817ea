//! Compilation of an animation: samples of its curves are reduced to keyframes and keys within a
//! tolerance (uniform_plan.rs chooses), and quantized; the stream is sorted by the time at which
//! each key is needed.
//!
//! The error of a clip is measured as in Nicholas Frechette's Animation Compression Library: as the
//! displacement, in the space of the model, of points at a distance from each bone.

use super::additive::{self, AdditiveReference};
use super::bone_scales::BoneScales;
use super::clip::{Clip, ClipFeatures, Key, LAST_TICK, Track};
use super::clip_data::{JUMP_TICKS_MIN, append_key};
use super::clip_events::{ClipEvent, sort_and_check};
use super::clip_uniform_data::state_keyframes;
use super::compile_check::{check, check_settings};
use super::compile_chunks;
use super::compile_search::{MEASURED_BONES_MAX, SearchWork, smallest};
use super::constant_track::Constants;
use super::key_reduction::{MORPH_REACH, TrackSample, displacement, keys};
use super::pose::Pose;
use super::quantization::{KeyBits, QuantizedValue, TrackRange};
use super::rest_tracks::RestTracks;
use super::root_motion::{RootMotion, extract};
use super::skeleton::{BoneTransform, Skeleton};
use super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use super::source_range::cut;
use super::uniform_fit::UniformCurve;
use super::uniform_plan::{Plan, are_keyframes};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Quat, Vec4, error};

/// Samples per second of curves between their keys.
pub(super) const SAMPLES_PER_SECOND: f32 = 60.0;
/// Parts of the time between two samples, or keyframes, at which the interpolation is compared with
/// the source: rotations differ most near the first and the last one.
pub(super) const INTERVAL_PARTS: [f32; 3] = [0.21, 0.5, 0.79];
/// Part of the tolerance that the interpolation between two samples of a curve takes at most.
const SAMPLE_PART: f32 = 0.1;
/// How often the time between two samples is halved for it.
const HALVES_MAX: u32 = 5;

/// Maximum number of keys of a curve: 600 seconds at 436 keys a second.
pub const TRACK_KEYS_MAX: usize = 1 << 18;

/// Where the keys of a clip are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KeyForm {
    /// Each track has the smallest form: one value, keyframes, or keys in the stream.
    #[default]
    Smallest,
    /// All keys of all tracks are in the stream, in the order in which they are needed. A constant
    /// track has exactly two.
    Stream,
}

impl KeyForm {
    pub const ALL: [KeyForm; 2] = [KeyForm::Smallest, KeyForm::Stream];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            KeyForm::Smallest => "smallest",
            KeyForm::Stream => "stream",
        }
    }
}

/// Settings of the compilation of a clip.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipSettings {
    pub keys: KeyForm,
    /// Largest displacement in metres.
    pub tolerance: f32,
    /// Distance in metres from each bone at which the displacement is measured.
    pub shell: f32,
    /// Seconds between saved states, from which a player reads after a jump.
    pub jump_seconds: f32,
    /// True if the source is a recording: its keys are samples of a motion, and rotations between
    /// two of them are those that players show. Otherwise they are even turns, as files say.
    pub recorded: bool,
    /// Largest displacement in metres of single bones, by name.
    pub joints: Vec<(String, f32)>,
    /// True if the start of the clip follows its end, and false if it keeps its last pose. `None`:
    /// states of state machines repeat it, and other players do not.
    pub looping: Option<bool>,
    pub root_motion: RootMotion,
    /// Bone whose movement is the root motion. `None` chooses the first bone that has a position
    /// track and no animated parents.
    pub root_bone: Option<String>,
    /// Start and end in seconds of the part of the source that becomes the clip.
    pub range: Option<[f32; 2]>,
    /// Reference pose of an additive clip.
    pub additive: Option<AdditiveReference>,
    /// Times of the beats in seconds from the start of the clip.
    pub beats: Vec<f32>,
    pub events: Vec<ClipEvent>,
    /// Largest errors of weights by their numbers, for weights that are no morph targets. The
    /// others follow `tolerance`.
    pub weight_tolerances: Vec<f32>,
    /// Length in seconds of the chunks of a streamed clip; `None` for a clip that is in memory as a
    /// whole.
    pub chunk_seconds: Option<f32>,
}

impl ClipSettings {
    /// 0.1 mm at a distance of 3 cm, and a saved state every half second.
    pub const DEFAULT: ClipSettings = ClipSettings {
        keys: KeyForm::Smallest,
        tolerance: 1e-4,
        shell: 0.03,
        jump_seconds: 0.5,
        recorded: false,
        joints: Vec::new(),
        looping: None,
        root_motion: RootMotion::None,
        root_bone: None,
        range: None,
        additive: None,
        beats: Vec::new(),
        events: Vec::new(),
        weight_tolerances: Vec::new(),
        chunk_seconds: None,
    };
}

/// Result of a compilation.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledClip {
    pub clip: Clip,
    /// Largest measured displacement in metres, with an allowance for those between the measured
    /// times.
    pub error: f32,
    /// Largest ratio of a displacement to the tolerance of its bone. Above 1, the tolerance could
    /// not be reached.
    pub error_ratio: f32,
    /// Message that names the bone if its error is above its tolerance.
    pub warning: Option<String>,
    /// Bones, each at one time, that were measured in the search for the clip.
    pub measured_bones: u64,
}

/// Source of a compilation after its settings were applied.
pub(super) struct Input<'a> {
    pub source: SourceClip,
    pub skeleton: &'a Skeleton,
    /// Transforms of bones without tracks.
    pub base: Vec<BoneTransform>,
    pub features: ClipFeatures,
    /// Largest displacement of each bone in metres.
    pub tolerances: Vec<f32>,
    /// The least of it among each bone and its descendants.
    pub strictest: Vec<f32>,
    pub scales: BoneScales,
    /// Largest errors of weights that are no morph targets.
    pub weight_tolerances: Vec<f32>,
    pub keys: KeyForm,
    /// Tracks that are stored even if they keep the rest transform: those that another chunk of the
    /// clip stores. Sorted.
    pub stored: Vec<(TrackProperty, u16)>,
}

/// Samples of a track and the keys that were chosen.
pub(super) struct TrackKeys<'a> {
    pub source: &'a SourceTrack,
    pub track: Track,
    /// Distance from the bone in metres at which errors are measured.
    pub reach: f32,
    /// Largest displacement: in metres, or in units of the parent's space for positions.
    pub tolerance: f32,
    pub samples: Vec<TrackSample>,
    pub kept: Vec<usize>,
}

/// Failure of a compilation.
#[derive(Clone, PartialEq, Debug)]
pub struct FailedCompile {
    /// Keys of the setting in an `.animation` file, the most likely one first.
    pub keys: &'static [&'static str],
    pub error: Error,
}

impl FailedCompile {
    fn at(keys: &'static [&'static str]) -> impl Fn(Error) -> FailedCompile {
        move |error| FailedCompile { keys, error }
    }
}

/// Compiles an animation for a skeleton, as [`compile_settings`] does.
///
/// # Errors
/// Fails if a number of the animation, or of the settings, is not valid, and if the settings name a
/// bone that does not exist.
pub fn compile(
    source: &SourceClip,
    skeleton: &Skeleton,
    settings: &ClipSettings,
) -> Result<CompiledClip, Error> {
    compile_settings(source, skeleton, settings).map_err(|failed| failed.error)
}

/// Compiles an animation for a skeleton: cuts it, extracts the root motion, subtracts the reference
/// pose of additive clips, and reduces the curves to keys.
///
/// # Errors
/// Fails if a number of the animation, or of the settings, is not valid, and if the settings name a
/// bone that does not exist.
pub fn compile_settings(
    source: &SourceClip,
    skeleton: &Skeleton,
    settings: &ClipSettings,
) -> Result<CompiledClip, FailedCompile> {
    compile_within(source, skeleton, settings, MEASURED_BONES_MAX)
}

/// Compiles an animation. The search for the smallest clip ends after `most` measured bones.
pub(super) fn compile_within(
    source: &SourceClip,
    skeleton: &Skeleton,
    settings: &ClipSettings,
    most: u64,
) -> Result<CompiledClip, FailedCompile> {
    let of_clip = FailedCompile::at(&["clip", "source"]);
    check(source, skeleton).map_err(&of_clip)?;
    check_settings(settings).map_err(FailedCompile::at(&["tolerance", "shell", "joints"]))?;
    let input = prepare(source, skeleton, settings)?;
    let compiled = match settings.chunk_seconds {
        Some(seconds) => compile_chunks::compile(&input, settings, (seconds, most)),
        None => smallest(&input, settings, SearchWork::new(most)),
    };
    compiled.map_err(of_clip)
}

/// Applies the settings to the source.
fn prepare<'a>(
    source: &SourceClip,
    skeleton: &'a Skeleton,
    settings: &ClipSettings,
) -> Result<Input<'a>, FailedCompile> {
    let at = FailedCompile::at;
    let mut tolerances = vec![settings.tolerance; skeleton.bone_count()];
    for (name, tolerance) in &settings.joints {
        let bone = skeleton.find(name).ok_or_else(|| {
            let names = skeleton.names().iter().map(String::as_str);
            let message = "does not exist in the skeleton";
            at(&["joints"])(error!("the joint '{name}' {message}{}", hint(name, names)))
        })?;
        tolerances[usize::from(bone)] = *tolerance;
    }
    let mut clip = match settings.range {
        Some([from, to]) => cut(source, from, to).map_err(at(&["range"]))?,
        None => source.clone(),
    };
    let mut base = skeleton.rest().to_vec();
    let mut root = None;
    if let Some(reference) = &settings.additive {
        if settings.root_motion != RootMotion::None {
            return Err(at(&["additive"])(error!(
                "an additive clip has no root motion: remove 'additive' or 'root_motion'"
            )));
        }
        let other = reference.source.as_ref().unwrap_or(source);
        if reference.source.is_some() {
            check(other, skeleton).map_err(at(&["additive"]))?;
        }
        clip = additive::subtract(&clip, skeleton, other, reference.time)
            .map_err(at(&["additive"]))?;
        base.fill(BoneTransform::IDENTITY);
    } else {
        let choice = (settings.root_motion, settings.root_bone.as_deref());
        (clip, root) = extract(&clip, skeleton, choice, settings.tolerance)
            .map_err(at(&["root_bone", "root_motion"]))?;
    }
    if settings.recorded {
        let is_linear =
            |track: &&mut SourceTrack| track.interpolation == SourceInterpolation::Linear;
        let linear = clip.tracks.iter_mut().filter(is_linear);
        linear.for_each(|track| track.interpolation = SourceInterpolation::Mixed);
    }
    let (mut beats, mut events) = (settings.beats.clone(), settings.events.clone());
    sort_and_check(clip.seconds, &mut beats, &mut []).map_err(at(&["beats"]))?;
    sort_and_check(clip.seconds, &mut [], &mut events).map_err(at(&["events"]))?;
    let (looping, additive) = (settings.looping, settings.additive.is_some());
    let source_keys = source.tracks.iter().map(|track| track.times.len() as u32).sum();
    let error = 0.0;
    let features = ClipFeatures { looping, additive, root, beats, events, error, source_keys };
    let scales = BoneScales::new(skeleton, &clip, settings.shell);
    let mut strictest = tolerances.clone();
    for bone in (0..strictest.len()).rev() {
        if let Some(parent) = skeleton.parents()[bone] {
            let parent = usize::from(parent);
            strictest[parent] = strictest[parent].min(strictest[bone]);
        }
    }
    let weight_tolerances = settings.weight_tolerances.clone();
    Ok(Input {
        source: clip,
        skeleton,
        base,
        features,
        tolerances,
        strictest,
        scales,
        weight_tolerances,
        keys: settings.keys,
        stored: Vec::new(),
    })
}

/// Returns the times, in ticks, at which curves are sampled: at the keys, at the start and the end,
/// and, with `between`, at regular intervals. Without it, values are held.
pub(super) fn sample_ticks(times: &[f32], seconds: f32, between: bool) -> Vec<u16> {
    let tick = |time: &f32| match between {
        true => tick_of(*time, seconds),
        false => held_tick(*time, seconds),
    };
    let mut ticks: Vec<u16> = times.iter().map(tick).collect();
    if between {
        let count = (seconds * SAMPLES_PER_SECOND).ceil() as u32;
        ticks.extend((0..count).map(|index| tick_of(index as f32 / SAMPLES_PER_SECOND, seconds)));
    }
    ticks.extend([0, LAST_TICK]);
    ticks.sort_compact();
    ticks.dedup();
    ticks
}

fn tick_of(time: f32, seconds: f32) -> u16 {
    match seconds > 0.0 {
        true => ((time / seconds) * f32::from(LAST_TICK)).round().clamp(0.0, 65535.0) as u16,
        false => 0,
    }
}

/// Returns the tick at which a held value begins: the last one that players reach by the time of
/// its key, so that they show the value at exactly this time.
fn held_tick(time: f32, seconds: f32) -> u16 {
    let nearest = tick_of(time, seconds);
    let is_late = f32::from(nearest) * (seconds / f32::from(LAST_TICK)) > time;
    nearest.saturating_sub(u16::from(is_late))
}

/// Adds ticks between others until linear interpolation between two of them follows the curve.
fn between(
    source: &SourceTrack,
    seconds: f32,
    ticks: &[u16],
    (reach, tolerance): (f32, f32),
) -> Vec<u16> {
    let value =
        |tick: f32| Vec4::from_array(source.sample(tick * (seconds / f32::from(LAST_TICK))));
    let follows = |from: u16, to: u16| {
        let (a, b) = (value(f32::from(from)), value(f32::from(to)));
        let b = if source.property == TrackProperty::Rotation && a.dot(b) < 0.0 { -b } else { b };
        INTERVAL_PARTS.iter().all(|part| {
            let exact = value(f32::from(from) + f32::from(to - from) * part);
            displacement(source.property, reach, exact, a + (b - a) * *part) <= tolerance
        })
    };
    let mut all = Vec::with_capacity(ticks.len());
    let mut waiting: Vec<(u16, u32)> = Vec::new();
    for tick in ticks {
        waiting.push((*tick, 0));
        while let Some((to, halves)) = waiting.pop() {
            let from = all.last().copied().unwrap_or(to);
            if to - from > 1 && halves < HALVES_MAX && !follows(from, to) {
                waiting.extend([(to, halves + 1), (from + (to - from) / 2, halves + 1)]);
            } else {
                all.push(to);
            }
        }
    }
    all
}

/// Samples a track at regular intervals and at its keys. Returns `None` if the bone keeps its rest
/// transform.
pub(super) fn sample_track<'a>(source: &'a SourceTrack, input: &Input) -> Option<TrackKeys<'a>> {
    let seconds = input.source.seconds;
    let step = source.interpolation == SourceInterpolation::Step;
    let mut ticks = sample_ticks(&source.times, seconds, !step);
    let (bone, property) = (source.bone, source.property);
    // Errors are those of the bones below, too.
    let (reach, tolerance) = match property {
        TrackProperty::Weight => (MORPH_REACH, input.weight_tolerance(bone)),
        TrackProperty::Position => {
            let bone = usize::from(bone);
            (1.0, input.strictest[bone] / input.scales.parents[bone])
        }
        TrackProperty::Rotation | TrackProperty::Scale => {
            (input.scales.reaches[usize::from(bone)], input.strictest[usize::from(bone)])
        }
    };
    // Parts of a mix between two keys are exact between the whole ones only.
    let is_mix =
        source.interpolation == SourceInterpolation::Mixed && property == TrackProperty::Rotation;
    let count = source.times.len() as u32;
    if !source.is_played_exactly() || is_mix && !are_keyframes(&source.times, seconds, count) {
        ticks = between(source, seconds, &ticks, (reach, tolerance * SAMPLE_PART));
    }
    let tick_seconds = seconds / f32::from(LAST_TICK);
    let mut samples: Vec<TrackSample> = Vec::with_capacity(ticks.len());
    for tick in ticks {
        let time = match step {
            // The last key that begins by then.
            true => {
                let begins = |key: &f32| held_tick(*key, seconds) <= tick;
                source.times[source.times.partition_point(begins).saturating_sub(1)]
            }
            false => f32::from(tick) * tick_seconds,
        };
        let mut value = Vec4::from_array(source.sample(time));
        if source.property == TrackProperty::Rotation {
            let previous = samples.last().map_or(Vec4::W, |sample| sample.value);
            value = if previous.dot(value) < 0.0 { -value } else { value };
        }
        samples.push(TrackSample { tick, value, restored: value });
    }
    let base = |values: &[BoneTransform]| values[usize::from(bone)];
    // The default of a weight belongs to the mesh, so its track is always stored.
    let rest = match property {
        TrackProperty::Rotation => Some(Vec4::from(base(&input.base).rotation)),
        TrackProperty::Position => Some(base(&input.base).position.extend(0.0)),
        TrackProperty::Scale => Some(base(&input.base).scale.extend(0.0)),
        TrackProperty::Weight => None,
    };
    let keeps_rest = |rest: Vec4| {
        samples
            .iter()
            .all(|sample| displacement(property, reach, sample.value, rest) <= tolerance * 0.05)
    };
    let is_stored = input.stored.binary_search(&(property, bone)).is_ok();
    if !is_stored && rest.is_some_and(keeps_rest) {
        return None;
    }
    let range = TrackRange::of(property, samples.iter().map(|sample| sample.value));
    let bits = KeyBits::TwentyFour;
    let track = Track { bone, property, bits, step, range, step_size: range.step_size(bits) };
    Some(TrackKeys { source, track, reach, tolerance, samples, kept: Vec::new() })
}

impl Input<'_> {
    /// Returns the tolerance of a weight as a displacement: its own, or that of the strictest bone.
    pub fn weight_tolerance(&self, weight: u16) -> f32 {
        if let Some(own) = self.weight_tolerances.get(usize::from(weight)) {
            return own * MORPH_REACH;
        }
        self.tolerances.iter().copied().fold(f32::INFINITY, f32::min)
    }
}

impl TrackKeys<'_> {
    /// Chooses the bits and the keys for a part of the tolerance.
    pub fn choose(&mut self, factor: f32) {
        let (reach, tolerance) = (self.reach, self.tolerance * factor);
        for bits in KeyBits::ALL {
            self.track.set_bits(bits);
            let mut worst: f32 = 0.0;
            for sample in &mut self.samples {
                let (range, property) = (self.track.range, self.track.property);
                let key = range.quantize(property, bits, sample.value);
                sample.restored = range.restore(property, self.track.step_size, key);
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
        let ends_held = stored.iter().rev().map(|key| key.value).take(2);
        let changes = |values: Vec<QuantizedValue>| values.windows(2).any(|it| it[0] != it[1]);
        if stored.len() < 2 || (self.track.step && changes(ends_held.collect())) {
            stored.extend(stored.last().copied());
        }
        stored
    }
}

/// Sorts the keys of all tracks by the time at which they are needed, and adds the keyframes and
/// the saved states.
pub(super) fn assemble(input: &Input, plan: &Plan, jump_seconds: f32) -> Result<Clip, Error> {
    let seconds = input.source.seconds;
    let tracks = &plan.keyed;
    let most = f32::from(LAST_TICK);
    let jump_ticks = match seconds > 0.0 {
        true => (jump_seconds / seconds * most).clamp(JUMP_TICKS_MIN.into(), most) as u16,
        false => LAST_TICK,
    };
    let count = plan.fit.curves.first().map_or(0, UniformCurve::keyframe_count);
    let mut clip = Clip {
        seconds,
        features: input.features.clone(),
        constants: Constants::new(plan.constants.clone()),
        rests: RestTracks::of_plan(input, plan),
        keyframes: plan.fit.keyframes(state_keyframes(count, jump_ticks))?,
        tracks: tracks.iter().map(|keys| keys.track).collect(),
        jump_ticks,
        ..Clip::empty(input.skeleton.bone_count() as u16)
    };
    let stored: Vec<Vec<Key>> =
        tracks.iter().enumerate().map(|(number, keys)| keys.stored(number as u16)).collect();
    let first: Vec<[Key; 2]> = stored.iter().map(|keys| [keys[0], keys[1]]).collect();
    let mut due: Vec<(u16, u16, usize)> = Vec::new();
    for (number, keys) in stored.iter().enumerate() {
        due.extend((2..keys.len()).map(|index| (keys[index - 1].tick, number as u16, index)));
    }
    due.sort_compact();
    for (_, number, index) in due {
        let key = stored[usize::from(number)][index];
        append_key(&mut clip.stream, &clip.tracks[usize::from(number)], key);
    }
    clip.save_jump_frames(first)?;
    Ok(clip)
}

/// Writes the pose of the curves at a time in seconds. Bones without tracks have their rest
/// transform.
pub fn source_pose(source: &SourceClip, skeleton: &Skeleton, time: f32, pose: &mut Pose) {
    *pose = Pose::new(&source_transforms(source, skeleton.rest(), |track| track.sample(time)));
}

/// Returns the transforms of the curves, whose values `sample` returns. Bones without tracks have
/// those of `base`.
pub(super) fn source_transforms(
    source: &SourceClip,
    base: &[BoneTransform],
    sample: impl Fn(&SourceTrack) -> [f32; 4],
) -> Vec<BoneTransform> {
    let mut transforms = base.to_vec();
    for track in source.tracks.iter().filter(|track| track.property != TrackProperty::Weight) {
        let value = Vec4::from_array(sample(track));
        let transform = &mut transforms[usize::from(track.bone)];
        match track.property {
            TrackProperty::Rotation => transform.rotation = Quat::from_vec4(value),
            TrackProperty::Position => transform.position = value.truncate(),
            TrackProperty::Scale => transform.scale = value.truncate(),
            TrackProperty::Weight => {}
        }
    }
    transforms
}

/// Writes the weights of the morph targets at a time in seconds. Targets without tracks have 0.
pub fn source_weights(source: &SourceClip, time: f32, weights: &mut Vec<f32>) {
    weights.clear();
    for track in source.tracks.iter().filter(|track| track.property == TrackProperty::Weight) {
        let target = usize::from(track.bone);
        weights.resize(weights.len().max(target + 1), 0.0);
        weights[target] = track.sample(time)[0];
    }
}
