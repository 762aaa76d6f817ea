//! Root motion of a state machine: the movement of the root bones of its clips in an update, with
//! their mean weights in the update.

use super::super::clip::Clip;
use super::super::movement_stack::MovementSum;
use super::super::rigid_transform::RigidTransform;
use super::mask::BoneMask;
use super::playback::StateMachineOutput;

/// Bone whose weight in the mask of a layer is the layer's weight for root motion.
const ROOT_BONE: usize = 0;

impl StateMachineOutput {
    /// Returns the movement of the root in the update, relative to the character before it. Clips
    /// without root motion and states without clips stand still; clips that are added do not count.
    /// `clip` returns a clip of the state machine by its number.
    pub fn root_delta<'a>(
        &self,
        clip: &dyn Fn(u16) -> Option<&'a Clip>,
        masks: &[BoneMask],
    ) -> RigidTransform {
        let mut total = RigidTransform::IDENTITY;
        for layer in &self.layers {
            let mask = layer.mask.and_then(|mask| masks.get(usize::from(mask)));
            let weight = layer.steps_weight * mask.map_or(1.0, |mask| mask.weight(ROOT_BONE));
            if weight.is_nan() || weight <= 0.0 {
                continue;
            }
            let mut sum = MovementSum::EMPTY;
            sum.add(&total, 1.0 - weight * layer.steps_coverage);
            let (first, end) = (layer.steps.0 as usize, layer.steps.1 as usize);
            for step in self.steps.get(first..end).unwrap_or_default() {
                let delta = clip(step.clip).map_or(RigidTransform::IDENTITY, |clip| {
                    clip.root_delta(step.from, step.time, step.loops)
                });
                sum.add(&delta, step.weight * weight);
            }
            total = sum.sum();
        }
        total
    }
}
