//! Constraints that set the transform of a bone: to a target position, or to that of another bone.

use super::{ModelPose, find_bone, valid_weight};
use crate::skeleton::Skeleton;
use engine_foundation::{Error, Vec3, error};

/// Bone that moves to a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveBone {
    pub(super) bone: u16,
}

impl MoveBone {
    /// Creates a constraint of a bone by name.
    ///
    /// # Errors
    /// Fails if the bone does not exist.
    pub fn new(skeleton: &Skeleton, bone: &str) -> Result<MoveBone, Error> {
        Ok(MoveBone { bone: find_bone(skeleton, bone)? })
    }

    /// Moves the bone to a position in model space, in metres. A weight below 1 moves it a part of
    /// the way.
    pub fn apply(&self, rig: &mut ModelPose, target: Vec3, weight: f32) {
        rig.move_to(self.bone, target, weight);
    }
}

/// Bone that follows another bone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CopyBone {
    pub(super) bone: u16,
    source: u16,
    position: bool,
    rotation: bool,
}

impl CopyBone {
    /// Creates a constraint by which `bone` copies the position, the rotation or both from
    /// `source`, in model space.
    ///
    /// # Errors
    /// Fails if a bone does not exist, if the source is the bone itself or below it, or if nothing
    /// is copied.
    pub fn new(
        skeleton: &Skeleton,
        (bone, source): (&str, &str),
        (position, rotation): (bool, bool),
    ) -> Result<CopyBone, Error> {
        let (own, other) = (find_bone(skeleton, bone)?, find_bone(skeleton, source)?);
        if !position && !rotation {
            return Err(error!("'{bone}' copies nothing: copy the position, the rotation or both"));
        }
        let mut next = Some(other);
        while let Some(above) = next {
            if above == own {
                return Err(error!(
                    "'{bone}' cannot copy '{source}', which moves with it: copy a bone that is not \
                     below '{bone}'"
                ));
            }
            next = skeleton.parents()[usize::from(above)];
        }
        Ok(CopyBone { bone: own, source: other, position, rotation })
    }

    /// Copies the transform. A weight below 1 copies a part of it.
    pub fn apply(&self, rig: &mut ModelPose, weight: f32) {
        let Some(weight) = valid_weight(weight) else { return };
        if self.rotation {
            let wanted = rig.parent_rotation(self.bone).conjugate() * rig.rotation(self.source);
            rig.set_local_rotation(self.bone, wanted, weight);
            rig.update_subtree(self.bone);
        }
        if self.position {
            rig.move_to(self.bone, rig.origin(self.source), weight);
        }
    }
}
