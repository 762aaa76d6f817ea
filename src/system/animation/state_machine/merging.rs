//! Comparison of characters in the same state, which can show one pose: the outputs of their state
//! machines, and the times at which their states begin.

use super::playback::{LayerOutput, Sample, StateMachineOutput};
use super::runtime::{ClipInfo, StateMachineState};

/// Largest difference of weights between outputs that count as the same.
const WEIGHT_DRIFT_MAX: f32 = 0.1;

/// Time in the state whose pose began last on a layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StateTime {
    pub state: u16,
    /// Seconds.
    pub time: f32,
    /// Length of the state in seconds.
    pub seconds: f32,
    /// Seconds since the pose began.
    pub age: f32,
}

impl StateMachineOutput {
    /// Returns a number that is equal for outputs with the same clips in the same roles.
    pub fn signature(&self) -> u64 {
        let mut number = self.layers.len() as u64;
        let mut add = |part: u64| {
            number = (number.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95);
        };
        for Sample { clip, layer, mode, .. } in &self.samples {
            add(u64::from(*clip) << 32 | u64::from(*layer) << 8 | *mode as u64);
        }
        number
    }

    /// Returns the seconds by which the first clip of another output is ahead of that of this one,
    /// if the outputs have the same clips, and no time differs by more than `drift` seconds.
    /// Weights may differ by as much as in a cross-fade of one second, at most by
    /// [`WEIGHT_DRIFT_MAX`].
    pub fn offset_of(
        &self,
        other: &StateMachineOutput,
        clips: &[ClipInfo],
        drift: f32,
    ) -> Option<f32> {
        let tolerance = drift.min(WEIGHT_DRIFT_MAX);
        let is_near = |a: f32, b: f32| (a - b).abs() <= tolerance;
        let is_layer = |(a, b): (&LayerOutput, &LayerOutput)| {
            let parts = is_near(a.weight, b.weight) && is_near(a.coverage, b.coverage);
            parts && a.mask == b.mask && a.samples == b.samples
        };
        if self.samples.len() != other.samples.len()
            || self.layers.len() != other.layers.len()
            || !self.layers.iter().zip(&other.layers).all(is_layer)
        {
            return None;
        }
        let mut first = None;
        for (own, theirs) in self.samples.iter().zip(&other.samples) {
            let is_same = (own.clip, own.layer, own.mode, own.wraps)
                == (theirs.clip, theirs.layer, theirs.mode, theirs.wraps);
            if !is_same || !is_near(own.weight, theirs.weight) {
                return None;
            }
            let mut offset = theirs.time - own.time;
            if own.wraps {
                let length = clips.get(usize::from(own.clip)).map_or(0.0, |clip| clip.seconds);
                if offset > length * 0.5 {
                    offset -= length;
                } else if offset < length * -0.5 {
                    offset += length;
                }
            }
            if offset.is_nan() || offset.abs() > drift {
                return None;
            }
            first = first.or(Some(offset));
        }
        Some(first.unwrap_or(0.0))
    }
}

impl StateMachineState {
    /// Returns the time in the state whose pose began last on a layer. A state without clips has no
    /// time.
    pub fn state_time(&self, layer: u16) -> Option<StateTime> {
        let track = self.layers.get(usize::from(layer))?.top();
        let (phase, seconds, age) = (track.phase, track.seconds, track.fade.elapsed);
        let time = StateTime { state: track.state, time: phase * seconds, seconds, age };
        (seconds > 0.0).then_some(time)
    }

    /// Moves the state whose pose began last on a layer to a time, and its samples in the output of
    /// the last update. Events up to that time are not sent.
    pub fn set_state_time(
        &mut self,
        layer: u16,
        time: f32,
        clips: &[ClipInfo],
        output: &mut StateMachineOutput,
    ) {
        let Some(state) = self.layers.get_mut(usize::from(layer)) else { return };
        let track = &mut state.tracks[usize::from(state.count) - 1];
        let phase = time / track.seconds;
        if !(0.0..=1.0).contains(&phase) {
            return;
        }
        track.phase = phase;
        let is_own = |it: &&mut Sample| it.layer == layer && it.track == track.serial;
        for sample in output.samples.iter_mut().filter(is_own) {
            let length = clips.get(usize::from(sample.clip)).map_or(0.0, |clip| clip.seconds);
            sample.time = phase * length;
            (sample.from, sample.loops) = (sample.time, 0);
        }
    }
}
