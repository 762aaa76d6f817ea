//! Weights of the clips of a state, and its playback rate: at the end of an update, and before the
//! variables changed in it.

use super::data::*;
use super::expression::{least, most};
use super::playback::{Update, WEIGHT_MAX, length};
use super::runtime::*;

/// Maximum absolute playback rate.
pub(super) const SPEED_MAX: f32 = 1000.0;

/// Weights of the clips of a state.
pub(super) struct ClipWeights {
    /// 0 where the state has no clip.
    pub weights: [f32; STATE_CLIPS_MAX],
    /// Index of the clip with the greatest weight.
    pub main: usize,
    /// Weighted mean of the lengths in seconds.
    pub seconds: f32,
    /// True if the weights sum to 0 although one clip is always shown.
    pub is_empty: bool,
}

impl Update<'_> {
    /// Returns the playback rate of a state.
    pub(super) fn speed(&self, state: u16) -> f32 {
        let mut speed = 1.0;
        for factor in &self.machine.states[usize::from(state)].speeds {
            speed *= self.machine.table.evaluate(*factor, self.variables);
        }
        least(most(speed, -SPEED_MAX), SPEED_MAX)
    }

    /// Returns the weights of the clips of a track before the variables changed in the update;
    /// `None` if they have not.
    pub(super) fn weights_before(&self, track: &Track) -> Option<ClipWeights> {
        let state = &self.machine.states[usize::from(track.state)];
        if state.clips.len() == 1 || self.before == self.variables {
            return None;
        }
        Some(self.clip_weights_with::<false>(state, track.choice, self.before))
    }

    pub(super) fn clip_weights(&self, state: &State, choice: u8) -> ClipWeights {
        self.clip_weights_with::<true>(state, choice, self.variables)
    }

    /// Returns the mean weights of the clips of a state in the update; 0 for those that are added.
    pub(super) fn step_weights(
        &self,
        state: &State,
        now: &ClipWeights,
        before: Option<&ClipWeights>,
    ) -> [f32; STATE_CLIPS_MAX] {
        let mut weights = now.weights;
        if let Some(before) = before {
            let all = weights.iter_mut().zip(before.weights);
            all.for_each(|(weight, before)| *weight = (*weight + before) * 0.5);
        }
        let mut sum = 0.0;
        for (clip, weight) in state.clips.iter().zip(&mut weights) {
            if state.additive || self.clip(clip.clip).additive {
                *weight = 0.0;
            }
            sum += *weight;
        }
        if sum > 0.0 && sum != 1.0 {
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        weights
    }

    pub(super) fn clip_weights_with<const NOTES: bool>(
        &self,
        state: &State,
        choice: u8,
        variables: &[f32],
    ) -> ClipWeights {
        let mut weights = [0.0; STATE_CLIPS_MAX];
        let mut main = 0;
        let mut sum = 0.0;
        let mut seconds = 0.0;
        let chosen = matches!(state.kind, StateKind::RandomClip | StateKind::ClipChoice);
        if chosen || state.clips.len() == 1 && !state.additive {
            main = usize::from(choice).min(state.clips.len() - 1);
            weights[main] = 1.0;
            seconds = length(self.clip(state.clips[main].clip));
            return ClipWeights { weights, main, seconds, is_empty: false };
        }
        let most_weight = if state.additive { 1.0 } else { WEIGHT_MAX };
        for (index, clip) in state.clips.iter().enumerate() {
            let table = &self.machine.table;
            let evaluate = |weight| table.evaluate_with::<NOTES>(weight, variables);
            let weight = clip.weight.map_or(1.0, evaluate);
            let weight = least(most(weight, 0.0), most_weight);
            weights[index] = weight;
            sum += weight;
            seconds += weight * length(self.clip(clip.clip));
            if weight > weights[main] {
                main = index;
            }
        }
        if sum > 0.0 {
            seconds /= sum;
        } else {
            seconds = length(self.clip(state.clips[0].clip));
        }
        if !state.additive {
            // Weights that sum to 0 show the first clip.
            if sum > 0.0 {
                weights[..state.clips.len()].iter_mut().for_each(|weight| *weight /= sum);
            } else {
                weights[0] = 1.0;
            }
        }
        ClipWeights { weights, main, seconds, is_empty: !state.additive && sum <= 0.0 }
    }
}
