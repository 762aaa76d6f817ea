//! Weights of the clips of a state, and its playback rate: at the end of an update, before the
//! variables changed in it, and their means in a step.

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

/// Changes of a state in a step, because variables changed: all values go evenly from those before
/// to those at the end.
pub(super) struct Change {
    /// The weights before. `None` if they are those at the end.
    weights: Option<ClipWeights>,
    /// Part of the update that the step takes, which ends with it.
    part: f32,
    /// Playback rates at the start and at the end of the step, relative to the length at the end.
    speeds: (f32, f32),
}

impl Change {
    /// Returns the mean playback rate, relative to the length at the end.
    pub fn speed(&self) -> f32 {
        match self.speeds.0 == self.speeds.1 {
            true => self.speeds.1,
            false => (self.speeds.0 + self.speeds.1) * 0.5,
        }
    }

    /// Returns by how much the weights before count in the mean. Those while the state plays faster
    /// count more.
    fn part_of_start(&self) -> f32 {
        let (from, to) = (self.speeds.0.abs(), self.speeds.1.abs());
        let is_turn = (self.speeds.0 < 0.0) != (self.speeds.1 < 0.0);
        let sum = from + to;
        let part = if sum > 0.0 && !is_turn { (from * 2.0 + to) / (sum * 3.0) } else { 0.5 };
        part * self.part
    }
}

impl Update<'_> {
    /// Returns the playback rate of a state at the end of the update.
    pub(super) fn speed(&self, state: u16) -> f32 {
        self.speed_with::<true>(state, self.variables)
    }

    fn speed_with<const NOTES: bool>(&self, state: u16, variables: &[f32]) -> f32 {
        let mut speed = 1.0;
        for factor in &self.machine.states[usize::from(state)].speeds {
            speed *= self.machine.table.evaluate_with::<NOTES>(*factor, variables);
        }
        least(most(speed, -SPEED_MAX), SPEED_MAX)
    }

    /// Returns the changes of a track in a step of `dt` seconds that ends with the update. Its
    /// length at the end is `seconds`.
    pub(super) fn change(&self, track: &Track, seconds: f32, dt: f32) -> Change {
        let state = &self.machine.states[usize::from(track.state)];
        let is_scrubbed = matches!(state.kind, StateKind::Time(_));
        let now = if is_scrubbed { 1.0 } else { self.speed(track.state) };
        let is_constant = state.clips.len() == 1 && state.speeds.is_empty();
        if is_constant || self.before == self.variables {
            return Change { weights: None, part: 1.0, speeds: (now, now) };
        }
        let weights = self.weights_before(track);
        let part = if dt < self.dt { dt / self.dt } else { 1.0 };
        let mut before = now;
        if !is_scrubbed {
            if !state.speeds.is_empty() {
                before = self.speed_with::<false>(track.state, self.before);
            }
            // The length changes with the weights.
            if let Some(weights) = &weights
                && weights.seconds > 0.0
                && weights.seconds != seconds
            {
                before *= least(seconds / weights.seconds, 2.0 * SPEED_MAX);
            }
        }
        if part < 1.0 {
            before = now + (before - now) * part;
        }
        Change { weights, part, speeds: (before, now) }
    }

    /// Returns the weights of the clips of a track before the variables changed in the update;
    /// `None` if they do not depend on them.
    fn weights_before(&self, track: &Track) -> Option<ClipWeights> {
        let state = &self.machine.states[usize::from(track.state)];
        if state.clips.len() == 1 {
            return None;
        }
        Some(self.clip_weights_with::<false>(state, track.choice, self.before))
    }

    pub(super) fn clip_weights(&self, state: &State, choice: u8) -> ClipWeights {
        self.clip_weights_with::<true>(state, choice, self.variables)
    }

    /// Returns the mean weights of the clips of a state in a step; 0 for those that are added.
    pub(super) fn step_weights(
        &self,
        state: &State,
        now: &ClipWeights,
        change: &Change,
    ) -> [f32; STATE_CLIPS_MAX] {
        let mut weights = now.weights;
        if let Some(before) = &change.weights {
            let part = change.part_of_start();
            let all = weights.iter_mut().zip(before.weights);
            all.for_each(|(weight, before)| *weight += (before - *weight) * part);
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
