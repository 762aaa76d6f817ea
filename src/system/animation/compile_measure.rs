//! Measurement of the error of a compiled clip, at regular times. Between keys, the source is
//! interpolated as players do it, so that the error is that of the compression.

use super::clip::Clip;
use super::compile::{Input, SAMPLES_PER_SECOND, source_transforms, source_weights};
use super::key_reduction::MORPH_REACH;
use super::palette::{ModelMatrix, model_matrices};
use super::player::ClipPlayer;
use super::pose::Pose;
use engine_foundation::Vec3;

/// Maximum number of matrices of the source that are kept between two measurements: 50 MB.
const KEPT_MATRICES_MAX: usize = 1 << 20;

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
    /// `rate` is the number of keyframes per second.
    pub fn new<'a>(input: &'a Input<'a>, shell: f32, rate: f32) -> Measure<'a> {
        let seconds = input.source.seconds;
        let rate = if rate > SAMPLES_PER_SECOND { rate } else { SAMPLES_PER_SECOND };
        let count = (seconds * rate).ceil() as u32;
        let time = |index: u32| (index as f32 / rate).min(seconds);
        let mut measure = Measure {
            input,
            shell,
            base: Pose::new(&input.base),
            times: (0..=count).map(time).collect(),
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
        let transforms = source_transforms(source, base, |track| track.sample_as_played(time));
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
        let Input { source, skeleton, scales, tolerances, .. } = self.input;
        let bones = skeleton.bone_count();
        let mut player = ClipPlayer::new(clip, skeleton);
        let (mut wanted, mut shown) = (Vec::new(), Vec::new());
        let (mut exact_weights, mut played_weights) = (Vec::new(), Vec::new());
        let (mut worst, mut ratios) = (0.0_f32, vec![0.0_f32; bones]);
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
            for (bone, (wanted, shown)) in wanted.iter().zip(&shown).enumerate() {
                let displacement = shell_displacement(wanted, shown, self.shell / scales.own[bone]);
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
    /// Returns the largest ratio of a displacement to the tolerance of each bone, without what
    /// moves within a tick: keys have their times in ticks, so that jumps can be as much earlier or
    /// later.
    pub fn ratios_beyond_ticks(&self, clip: &Clip) -> Vec<f32> {
        let Input { skeleton, scales, tolerances, .. } = self.input;
        let mut player = ClipPlayer::new(clip, skeleton);
        let mut ratios = vec![0.0_f32; skeleton.bone_count()];
        let (mut wanted, mut shown) = (Vec::new(), Vec::new());
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for time in &self.times {
            self.exact(*time, &mut wanted);
            self.exact((time - clip.tick_seconds()).max(0.0), &mut before);
            self.exact(time + clip.tick_seconds(), &mut after);
            let mut played = Pose::default();
            player.seek(clip, *time);
            player.sample(&self.base, &mut played);
            self.matrices(played, &mut shown);
            for (bone, ratio) in ratios.iter_mut().enumerate() {
                let error = |other: &[ModelMatrix]| {
                    let shell = self.shell / scales.own[bone];
                    shell_displacement(&wanted[bone], &other[bone], shell)
                };
                let moved = error(&before).max(error(&after));
                *ratio = ratio.max((error(&shown) - moved) / tolerances[bone]);
            }
        }
        ratios
    }
}

fn shell_displacement(wanted: &ModelMatrix, shown: &ModelMatrix, shell: f32) -> f32 {
    let points = [[shell, 0.0, 0.0], [0.0, shell, 0.0], [0.0, 0.0, shell]];
    let distance = |point: [f32; 3]| {
        let (a, b) = (wanted.transform_point(point), shown.transform_point(point));
        (Vec3::from_array(a) - Vec3::from_array(b)).length()
    };
    points.into_iter().map(distance).fold(0.0, f32::max)
}
