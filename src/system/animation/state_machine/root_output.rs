//! Root motion of a state machine: the movement of the samples' root bones in an update, blended
//! like the pose of the root bone.

use super::super::clip::Clip;
use super::super::rigid_transform::RigidTransform;
use super::mask::BoneMask;
use super::playback::{SampleMode, StateMachineOutput};
use engine_foundation::{Quat, Vec3, Vec4};

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
            let mask_weight = mask.map_or(1.0, |mask| mask.weight(ROOT_BONE));
            let weight = layer.weight * layer.coverage * mask_weight;
            if weight.is_nan() || weight <= 0.0 {
                continue;
            }
            let (first, end) = (layer.samples.0 as usize, layer.samples.1 as usize);
            let (mut position, mut rotation, mut weights) = (Vec3::ZERO, Vec4::ZERO, 0.0);
            for sample in self.samples.get(first..end).unwrap_or_default() {
                if sample.mode != SampleMode::Mean {
                    continue;
                }
                let delta = clip(sample.clip).map_or(RigidTransform::IDENTITY, |clip| {
                    clip.root_delta(sample.from, sample.time, sample.loops)
                });
                let turn = Vec4::from(delta.rotation);
                let turn = if turn.w < 0.0 { -turn } else { turn };
                position += delta.position * sample.weight;
                rotation += turn * sample.weight;
                weights += sample.weight;
            }
            if weights > 0.0 {
                let rotation = Quat::from_vec4(rotation.normalize_or(Vec4::W));
                let mean = RigidTransform { position: position * (1.0 / weights), rotation };
                total = total.blended(&mean, weight);
            }
        }
        total
    }
}
