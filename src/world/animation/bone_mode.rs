//! Bone modes: the parts of the bones' transforms that animation changes.

use engine_animation::Pose;

/// Parts of bones that animation changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BoneMode {
    /// Positions, rotations and scales.
    #[default]
    Transform,
    PositionAndRotation,
    /// Positions and scales are those of the unit: for animations of a character with other
    /// proportions.
    Rotation,
    /// Nothing. State machines, events and root motion go on.
    Ignore,
}

impl BoneMode {
    /// All modes, by their names in scripts.
    pub const ALL: [(&'static str, BoneMode); 4] = [
        ("transform", BoneMode::Transform),
        ("position_and_rotation", BoneMode::PositionAndRotation),
        ("rotation", BoneMode::Rotation),
        ("ignore", BoneMode::Ignore),
    ];

    pub fn name(self) -> &'static str {
        let found = BoneMode::ALL.iter().find(|(_, mode)| *mode == self);
        found.expect("all modes are in the list").0
    }

    /// Replaces the parts of a pose that the mode leaves alone by those of `base`.
    pub(super) fn apply(self, pose: &mut Pose, base: &Pose) {
        match self {
            BoneMode::Transform => {}
            BoneMode::PositionAndRotation => pose.copy_parts(base, false, true),
            BoneMode::Rotation => pose.copy_parts(base, true, true),
            BoneMode::Ignore => pose.clone_from(base),
        }
    }
}
