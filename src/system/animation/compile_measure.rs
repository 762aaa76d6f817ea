//! Measurement of the error of a compiled clip: the difference between the source and what a player
//! shows, at regular times and at keys of the source.

use super::clip::{Clip, LAST_TICK};
use super::compile::{
    INTERVAL_PARTS, Input, SAMPLES_PER_SECOND, source_transforms, source_weights,
};
use super::key_reduction::MORPH_REACH;
use super::palette::{ModelMatrix, model_matrices};
use super::player::ClipPlayer;
use super::pose::Pose;
use super::source::{SourceClip, SourceInterpolation, SourceTrack};
use engine_foundation::Vec3;
use std::collections::VecDeque;

/// Maximum number of matrices of the source that are kept between two measurements: 50 MB.
const KEPT_MATRICES_MAX: usize = 1 << 20;
/// Least number of measured intervals in a second.
const RATE_MIN: f32 = 30.0;
/// Errors between the measured times, as a part of the measured ones.
const BETWEEN: f32 = 1.01;
/// Part of a position that is lost in sums of positions.
const ROUNDING: f32 = 4.0 * f32::EPSILON;
/// Seconds from a corner up to which its error can be seen: as far as the next sample of a curve.
const CORNER_SECONDS: f32 = 1.0 / SAMPLES_PER_SECOND;
/// Ticks between two times that are measured once.
const SAME_TIME: f32 = 0.1;
/// Ticks between two changes of a held value from which on each has a tick of its own.
const CHANGE_TICKS: f32 = 2.0;

/// The poses of the source.
pub struct Measure<'a> {
    input: &'a Input<'a>,
    shell: f32,
    base: Pose,
    times: Vec<f32>,
    /// Matrices of the source at each time, or none if there are too many.
    kept: Vec<ModelMatrix>,
}

impl Measure<'_> {
    /// `intervals` is the number of intervals between keyframes; `has_keys`: there are tracks with
    /// keys of their own.
    pub fn new<'a>(
        input: &'a Input<'a>,
        shell: f32,
        (intervals, has_keys): (u32, bool),
    ) -> Measure<'a> {
        let mut measure = Measure {
            input,
            shell,
            base: Pose::new(&input.base),
            times: times(&input.source, (intervals, has_keys)),
            kept: Vec::new(),
        };
        let bones = input.skeleton.bone_count();
        if measure.times.len().saturating_mul(bones) <= KEPT_MATRICES_MAX {
            let mut matrices = Vec::new();
            let mut kept = Vec::new();
            for time in &measure.times {
                measure.exact(*time, &mut matrices);
                kept.extend_from_slice(&matrices);
            }
            measure.kept = kept;
        }
        measure
    }

    /// Writes the matrices of the source at a time.
    fn exact(&self, time: f32, matrices: &mut Vec<ModelMatrix>) {
        let Input { source, base, .. } = self.input;
        let transforms = source_transforms(source, base, |track| track.sample(time));
        self.matrices(Pose::new(&transforms), matrices);
    }

    /// Writes the matrices of a pose. Additive clips are measured on the rest pose.
    fn matrices(&self, pose: Pose, matrices: &mut Vec<ModelMatrix>) {
        let skeleton = self.input.skeleton;
        if !self.input.features.additive {
            return model_matrices(skeleton, &pose, matrices);
        }
        let mut sum = Pose::rest(skeleton);
        sum.add_difference(&pose, 1.0, None);
        model_matrices(skeleton, &sum, matrices);
    }

    /// Returns the largest displacement in metres of points around the bones, between the curves
    /// and the compiled clip, and the largest ratio of a displacement to the tolerance of each
    /// bone. Errors of weights belong to the first bone.
    pub fn clip(&self, clip: &Clip) -> (f32, Vec<f32>) {
        self.errors(clip, |_, _| {})
    }

    /// Returns the number of bones in a measurement, each at one time.
    pub fn bone_count(&self) -> u64 {
        self.times.len() as u64 * self.input.skeleton.bone_count() as u64
    }

    /// Returns the errors of a clip. `allow` writes the displacement of each bone that is allowed
    /// at a time, and does not count.
    fn errors(&self, clip: &Clip, mut allow: impl FnMut(f32, &mut [f32])) -> (f32, Vec<f32>) {
        let Input { source, skeleton, scales, tolerances, .. } = self.input;
        let bones = skeleton.bone_count();
        let mut player = ClipPlayer::new(clip, skeleton);
        let (mut wanted, mut shown) = (Vec::new(), Vec::new());
        let (mut exact_weights, mut played_weights) = (Vec::new(), Vec::new());
        let (mut worst, mut ratios) = (0.0_f32, vec![0.0_f32; bones]);
        let mut allowed = vec![0.0; bones];
        for (index, time) in self.times.iter().enumerate() {
            let wanted = match self.kept.get(index * bones..(index + 1) * bones) {
                Some(kept) => kept,
                None => {
                    self.exact(*time, &mut wanted);
                    &wanted
                }
            };
            let mut played = Pose::default();
            player.seek(clip, *time);
            player.sample(&self.base, &mut played);
            self.matrices(played, &mut shown);
            allow(*time, &mut allowed);
            for (bone, (wanted, shown)) in wanted.iter().zip(&shown).enumerate() {
                let shell = self.shell / scales.own[bone];
                let displacement = shell_displacement(wanted, shown, shell) * BETWEEN;
                let displacement = (displacement - allowed[bone]).max(0.0);
                worst = worst.max(displacement);
                ratios[bone] = ratios[bone].max(displacement / tolerances[bone]);
            }
            if clip.weight_count() == 0 {
                continue;
            }
            source_weights(source, *time, &mut exact_weights);
            player.sample_weights(&[], &mut played_weights);
            let own = self.input.weight_tolerances.len();
            // Tracks with tolerances of their own reach them by their keys, which have no
            // keyframes.
            let pairs = (0_u16..).zip(exact_weights.iter().zip(&played_weights));
            for (weight, (wanted, shown)) in pairs.skip(own) {
                let displacement = (wanted - shown).abs() * MORPH_REACH;
                worst = worst.max(displacement);
                ratios[0] = ratios[0].max(displacement / self.input.weight_tolerance(weight));
            }
        }
        (worst, ratios)
    }
}

impl Measure<'_> {
    /// Returns the largest ratio of a displacement to the tolerance of each bone, without those
    /// because the times of keys are rounded: near a corner of a curve, as far as the source is
    /// from a straight movement within a tick.
    pub fn beyond_corners(&self, clip: &Clip) -> Vec<f32> {
        let tick = clip.tick_seconds();
        let mut matrices: [Vec<ModelMatrix>; 3] = Default::default();
        let mut ahead = self.times.iter().copied().peekable();
        let mut near: VecDeque<(f32, Vec<f32>)> = VecDeque::new();
        let allow = |time: f32, allowed: &mut [f32]| {
            while let Some(next) = ahead.next_if(|next| *next <= time + CORNER_SECONDS) {
                near.push_back((next, self.bends(next, tick, &mut matrices)));
            }
            while near.pop_front_if(|bends| bends.0 < time - CORNER_SECONDS).is_some() {}
            allowed.fill(0.0);
            for (_, bends) in &near {
                for (allowed, bend) in allowed.iter_mut().zip(bends) {
                    *allowed = allowed.max(*bend);
                }
            }
        };
        self.errors(clip, allow).1
    }

    /// Returns how far each bone of the source is from a straight movement from a tick before a
    /// time to a tick after it. Held values do not count: they are measured where they are exact.
    /// There is no corner at the ends.
    fn bends(&self, time: f32, tick: f32, matrices: &mut [Vec<ModelMatrix>; 3]) -> Vec<f32> {
        let Input { source, base, scales, skeleton, .. } = self.input;
        let mut bends = vec![0.0_f32; skeleton.bone_count()];
        if time < tick || time > source.seconds - tick {
            return bends;
        }
        for (matrices, at) in matrices.iter_mut().zip([time - tick, time, time + tick]) {
            let value = |track: &SourceTrack| match track.interpolation {
                SourceInterpolation::Step => track.sample(time),
                _ => track.sample(at),
            };
            self.matrices(Pose::new(&source_transforms(source, base, value)), matrices);
        }
        for (bone, bend) in bends.iter_mut().enumerate() {
            for point in shell_points(self.shell / scales.own[bone]) {
                let [before, now, after] = [0, 1, 2].map(|index: usize| {
                    Vec3::from_array(matrices[index][bone].transform_point(point))
                });
                let bent = (before + after - now * 2.0).length();
                *bend = bend.max(bent - now.length() * ROUNDING);
            }
        }
        bends
    }
}

/// Returns the times of a measurement, ascending: regular ones, those of keyframes and between
/// them, and those of the keys of the source. Held values that change do so up to a tick early, so
/// that there is none right before such a change.
fn times(source: &SourceClip, (intervals, has_keys): (u32, bool)) -> Vec<f32> {
    let seconds = source.seconds;
    let rate = match (has_keys, intervals) {
        (true, 0) => SAMPLES_PER_SECOND * 2.0,
        (true, _) => SAMPLES_PER_SECOND,
        (false, _) => RATE_MIN,
    };
    let least = ((seconds * rate).ceil() as u32).max(1);
    let intervals = intervals.max(1);
    let intervals = intervals * least.div_ceil(intervals);
    let parts = |interval: u32| {
        let time = move |part: &f32| seconds * ((interval as f32 + part) / intervals as f32);
        [0.0].iter().chain(&INTERVAL_PARTS).map(time)
    };
    let mut times: Vec<f32> = (0..intervals).flat_map(parts).chain([seconds]).collect();
    let mut keys: Vec<f32> = source.tracks.iter().flat_map(|track| track.times.clone()).collect();
    keys.retain(|time| (0.0..=seconds).contains(time));
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    times.extend(keys.iter().step_by(keys.len().div_ceil(times.len()).max(1)));
    times.sort_by(f32::total_cmp);
    let tick = seconds / f32::from(LAST_TICK);
    times.dedup_by(|next, time| *next - *time <= tick * SAME_TIME);
    let changes = changes(source, tick);
    times.retain(|time| {
        let next = changes.partition_point(|change| change <= time);
        changes.get(next).is_none_or(|change| change - time > tick)
    });
    times
}

/// Returns the times at which held values change, ascending, without those that are too near to
/// others of the same track to have a tick of their own.
fn changes(source: &SourceClip, tick: f32) -> Vec<f32> {
    let is_held = |track: &&SourceTrack| track.interpolation == SourceInterpolation::Step;
    let mut changes = Vec::new();
    for track in source.tracks.iter().filter(is_held) {
        let is_apart = |index: usize| {
            let near = &track.times[index.saturating_sub(1)..(index + 2).min(track.times.len())];
            near.windows(2).all(|pair| pair[1] - pair[0] > tick * CHANGE_TICKS)
        };
        changes.extend((0..track.times.len()).filter(|it| is_apart(*it)).map(|it| track.times[it]));
    }
    changes.sort_by(f32::total_cmp);
    changes
}

/// Points around a bone at which it is measured.
fn shell_points(shell: f32) -> [[f32; 3]; 3] {
    [[shell, 0.0, 0.0], [0.0, shell, 0.0], [0.0, 0.0, shell]]
}

fn shell_displacement(wanted: &ModelMatrix, shown: &ModelMatrix, shell: f32) -> f32 {
    let distance = |point: [f32; 3]| {
        let (a, b) = (wanted.transform_point(point), shown.transform_point(point));
        (Vec3::from_array(a) - Vec3::from_array(b)).length()
    };
    shell_points(shell).into_iter().map(distance).fold(0.0, f32::max)
}
