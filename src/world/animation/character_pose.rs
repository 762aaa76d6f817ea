//! The evaluated pose of a character. Characters in the same state share it, and the scene graph
//! and the renderer read it without a copy.

use engine_animation::{ModelMatrix, Pose};
use std::sync::Arc;

/// Pose of a skeleton, as local transforms and as matrices.
#[derive(Clone, Debug, Default)]
pub struct CharacterPose {
    pub pose: Pose,
    /// Matrix of each bone, from the bone's space into the space of the unit's first node. Empty
    /// before the first evaluation.
    pub matrices: Vec<ModelMatrix>,
}

/// Poses of a character: that of the last evaluation, and memory for the next one.
#[derive(Clone, Debug)]
pub(super) struct PoseBuffers {
    /// Own poses, the current one first.
    own: [Arc<CharacterPose>; 2],
    /// Pose of another character, which replaces the own one.
    shared: Option<Arc<CharacterPose>>,
}

impl PoseBuffers {
    pub fn new(pose: Pose) -> PoseBuffers {
        let current = Arc::new(CharacterPose { pose, matrices: Vec::new() });
        PoseBuffers { own: [current, Arc::default()], shared: None }
    }

    /// Returns the pose of the last evaluation.
    pub fn current(&self) -> &Arc<CharacterPose> {
        self.shared.as_ref().unwrap_or(&self.own[0])
    }

    /// Returns memory for the next pose, which becomes the current one. It has an old pose.
    pub fn next(&mut self) -> &mut CharacterPose {
        self.shared = None;
        self.own.swap(0, 1);
        if Arc::get_mut(&mut self.own[0]).is_none() {
            // Another character still shows it, because it skips updates.
            self.own[0] = Arc::default();
        }
        Arc::get_mut(&mut self.own[0]).expect("it is new")
    }

    /// Shows the pose of another character until the next evaluation.
    pub fn share(&mut self, pose: &Arc<CharacterPose>) {
        self.shared = Some(pose.clone());
    }

    /// Returns the current pose for changes, which no other character sees.
    pub fn edit(&mut self) -> &mut CharacterPose {
        if let Some(shared) = self.shared.take() {
            self.own[0] = shared;
        }
        Arc::make_mut(&mut self.own[0])
    }
}
