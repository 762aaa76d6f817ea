//! Evaluation of the output of a state machine into weights of morph targets, as evaluate.rs does
//! for poses.

use super::playback::{Sample, SampleMode, StateMachineOutput};

/// Memory for the evaluation of weights, for use with one character after another.
#[derive(Clone, Debug, Default)]
pub struct WeightEvaluator {
    sampled: Vec<f32>,
    sum: Vec<f32>,
    zeros: Vec<f32>,
    /// Values of the sample with the largest weight, from the first that cannot be mixed.
    chosen: Vec<f32>,
}

/// Share of a layer or a clip in a value from which on it chooses those that cannot be mixed.
pub const CHOICE_PART: f32 = 0.5;

impl WeightEvaluator {
    /// Writes the weights of a character into `weights`. `mixed` is the number of those that are
    /// mixed; further ones are those of the sample with the largest weight. `mask` returns the
    /// weight of a target in a mask of the machine. `sample` is called for each sample with the
    /// weights of targets that the clip does not animate, and writes the weights of the clip into
    /// its last argument.
    pub fn evaluate(
        &mut self,
        output: &StateMachineOutput,
        (rest, mixed): (&[f32], usize),
        mask: impl Fn(u16, usize) -> f32,
        weights: &mut Vec<f32>,
        mut sample: impl FnMut(&Sample, &[f32], &mut Vec<f32>),
    ) {
        weights.clear();
        weights.extend_from_slice(rest);
        let mixed = mixed.min(rest.len());
        self.zeros.clear();
        self.zeros.resize(rest.len(), 0.0);
        for layer in &output.layers {
            let (first, end) = (layer.samples.0 as usize, layer.samples.1 as usize);
            let samples = output.samples.get(first..end).unwrap_or_default();
            let part = |target: usize| layer.mask.map_or(1.0, |index| mask(index, target));
            self.sum.clear();
            self.sum.resize(rest.len(), 0.0);
            let (mut total, mut largest) = (0.0, 0.0);
            for it in samples.iter().filter(|it| it.mode == SampleMode::Mean && it.weight > 0.0) {
                sample(it, rest, &mut self.sampled);
                for (sum, sampled) in self.sum.iter_mut().zip(&self.sampled) {
                    *sum += sampled * it.weight;
                }
                total += it.weight;
                if it.weight > largest {
                    largest = it.weight;
                    self.chosen.clear();
                    self.chosen.extend(self.sampled.iter().take(rest.len()).skip(mixed));
                }
            }
            if total > 0.0 {
                let covered = (layer.weight * layer.coverage).clamp(0.0, 1.0);
                let (first, last) = weights.split_at_mut(mixed);
                for (index, (weight, chosen)) in last.iter_mut().zip(&self.chosen).enumerate() {
                    if covered * part(mixed + index) >= CHOICE_PART {
                        *weight = *chosen;
                    }
                }
                for (target, (weight, sum)) in first.iter_mut().zip(&self.sum).enumerate() {
                    *weight += (sum / total - *weight) * (covered * part(target));
                }
            }
            for it in samples.iter().filter(|it| it.mode != SampleMode::Mean) {
                let is_difference = it.mode == SampleMode::Add;
                let base = if is_difference { &self.zeros[..] } else { rest };
                sample(it, base, &mut self.sampled);
                let added = it.weight * layer.weight;
                let mixed = weights[..mixed].iter_mut();
                for (target, (weight, sampled)) in mixed.zip(&self.sampled).enumerate() {
                    let base = if is_difference { 0.0 } else { rest[target] };
                    *weight += (sampled - base) * (added * part(target));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::playback::LayerOutput;
    use super::*;

    fn sample(clip: u16, mode: SampleMode, weight: f32) -> Sample {
        Sample {
            clip,
            layer: 0,
            track: 0,
            mode,
            time: 0.0,
            from: 0.0,
            loops: 0,
            wraps: false,
            weight,
        }
    }

    fn layer() -> LayerOutput {
        LayerOutput {
            weight: 1.0,
            coverage: 1.0,
            mask: None,
            samples: (0, 2),
            steps_weight: 1.0,
            steps_coverage: 1.0,
            steps: (0, 0),
        }
    }

    #[test]
    fn layers_mix_replace_and_add_weights() {
        let samples = vec![
            sample(0, SampleMode::Mean, 1.0),
            sample(1, SampleMode::Mean, 3.0),
            sample(2, SampleMode::Add, 0.5),
            sample(1, SampleMode::AddFromRest, 1.0),
        ];
        let layer = layer();
        let upper = LayerOutput { weight: 0.5, mask: Some(0), samples: (2, 4), ..layer };
        let mut output = StateMachineOutput::default();
        (output.samples, output.layers) = (samples, vec![layer, upper]);
        let clips = [[0.0, 1.0], [1.0, 0.5], [0.4, 0.4]];
        let mut weights = Vec::new();
        let mask = |_: u16, target: usize| target as f32;
        let mut evaluator = WeightEvaluator::default();
        evaluator.evaluate(&output, (&[0.25, 0.25], 2), mask, &mut weights, |it, _, sampled| {
            sampled.clear();
            sampled.extend(clips[usize::from(it.clip)]);
        });
        let second = (1.0 + 3.0 * 0.5) / 4.0 + 0.4 * 0.25 + (0.5 - 0.25) * 0.5;
        assert!((weights[0] - 0.75).abs() < 1e-6, "{weights:?}");
        assert!((weights[1] - second).abs() < 1e-6, "{weights:?}");
    }
    #[test]
    fn values_that_cannot_be_mixed_are_chosen() {
        let samples = vec![sample(0, SampleMode::Mean, 1.0), sample(1, SampleMode::Mean, 3.0)];
        let layer = layer();
        let mut output = StateMachineOutput::default();
        (output.samples, output.layers) = (samples, vec![layer]);
        let clips = [[0.0, 4.0], [1.0, 7.0]];
        let mut found = |weight: f32| {
            output.layers[0].weight = weight;
            let (mut weights, mut evaluator) = (Vec::new(), WeightEvaluator::default());
            let rest = (&[0.0, 2.0][..], 1);
            evaluator.evaluate(
                &output,
                rest,
                |_, _| 1.0,
                &mut weights,
                |it, _, sampled| {
                    sampled.clear();
                    sampled.extend(clips[usize::from(it.clip)]);
                },
            );
            [weights[0], weights[1]]
        };
        assert_eq!(found(1.0), [0.75, 7.0]);
        assert_eq!(found(0.4), [0.3, 2.0], "a layer without enough weight chooses nothing");
    }
}
