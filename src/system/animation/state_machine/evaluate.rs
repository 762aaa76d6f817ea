//! Evaluation of the output of a state machine into a pose: the mean of each layer over the layers
//! below it, by weight and mask, and the addition of differences.

use super::super::pose::{BlendSum, Pose};
use super::mask::BoneMask;
use super::playback::{LayerOutput, Sample, SampleMode, StateMachineOutput};

/// Memory for the evaluation of poses, for use with one character after another.
#[derive(Clone, Debug, Default)]
pub struct PoseEvaluator {
    sum: BlendSum,
    sampled: Pose,
    mean: Pose,
}

impl PoseEvaluator {
    /// Writes the pose of a character into `pose`. Calls `sample` for each sample, in order, with
    /// its index; it writes the pose of the clip into its last argument: a difference for
    /// [`SampleMode::Add`]. Bones that no layer covers have their rest pose.
    pub fn evaluate(
        &mut self,
        output: &StateMachineOutput,
        masks: &[BoneMask],
        rest: &Pose,
        pose: &mut Pose,
        mut sample: impl FnMut(usize, &Sample, &mut Pose),
    ) {
        let show_rest = |pose: &mut Pose| {
            pose.groups.clear();
            pose.groups.extend_from_slice(&rest.groups);
        };
        if output.layers.is_empty() {
            show_rest(pose);
        }
        for (number, layer) in output.layers.iter().enumerate() {
            let (first, end) = (layer.samples.0 as usize, layer.samples.1 as usize);
            let samples = output.samples.get(first..end).unwrap_or_default();
            let mask = layer.mask.and_then(|mask| masks.get(usize::from(mask)));
            let mask = mask.map(|mask| &mask.groups[..]);
            let mean = samples.iter().filter(|it| it.mode == SampleMode::Mean).count();
            let covers = mask.is_none() && layer.weight * layer.coverage >= 1.0;
            // A first layer that covers everything replaces the whole pose.
            let has_weight = |it: &Sample| it.mode == SampleMode::Mean && it.weight > 0.0;
            if number == 0 && !(covers && (mean == 1 || samples.iter().any(has_weight))) {
                show_rest(pose);
            }
            if mean == 1 && covers {
                // A single clip that covers everything needs no sum.
                let index = samples.iter().position(|it| it.mode == SampleMode::Mean);
                let index = index.expect("one was counted");
                sample(first + index, &samples[index], pose);
            } else if mean > 0 {
                self.blend_layer(layer, samples, mask, pose, &mut sample);
            }
            for (index, it) in samples.iter().enumerate() {
                if it.mode != SampleMode::Mean {
                    sample(first + index, it, &mut self.sampled);
                    if it.mode == SampleMode::AddFromRest {
                        self.sampled.subtract(rest);
                    }
                    pose.add_difference(&self.sampled, it.weight * layer.weight, mask);
                }
            }
        }
    }

    fn blend_layer(
        &mut self,
        layer: &LayerOutput,
        samples: &[Sample],
        mask: Option<&[super::super::lanes::Lanes]>,
        pose: &mut Pose,
        sample: &mut impl FnMut(usize, &Sample, &mut Pose),
    ) {
        let first = layer.samples.0 as usize;
        let weight = layer.weight * layer.coverage;
        let means = || samples.iter().enumerate().filter(|(_, it)| it.mode == SampleMode::Mean);
        if means().count() == 1 {
            // The mean of one pose is that pose.
            means().for_each(|(index, it)| sample(first + index, it, &mut self.mean));
            pose.blend_towards(&self.mean, weight, mask);
            return;
        }
        self.sum.clear();
        for (index, it) in means() {
            sample(first + index, it, &mut self.sampled);
            self.sum.add(&self.sampled, it.weight);
        }
        if mask.is_none() && weight >= 1.0 {
            self.sum.finish(pose);
        } else {
            self.sum.finish(&mut self.mean);
            pose.blend_towards(&self.mean, weight, mask);
        }
    }
}
