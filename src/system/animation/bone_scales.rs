//! Sizes of bones in model space, with which the errors of a clip are measured.

use super::skeleton::Skeleton;
use super::source::{SourceClip, TrackProperty};
use engine_foundation::Vec3;

/// Minimum scale of a bone for the measurement of errors.
const BONE_SCALE_MIN: f32 = 1e-4;

/// Sizes of bones in model space: their scales are those of the rest pose, and their distances the
/// largest of the rest pose and of an animation.
#[derive(Clone)]
pub struct BoneScales {
    /// Metres for each unit of the space of each bone's parent. A character from a file in
    /// centimetres has a root bone with a scale of 0.01.
    pub parents: Vec<f32>,
    /// Metres for each unit of each bone's space.
    pub own: Vec<f32>,
    /// Distance in metres from each bone at which its rotation has a visible effect: that of its
    /// farthest descendant, and at least the shell.
    pub reaches: Vec<f32>,
    /// Distances of the farthest child from each axis of the bone, and at least the shell.
    pub arms: Vec<Vec3>,
    pub shell: f32,
}

impl BoneScales {
    pub fn new(skeleton: &Skeleton, clip: &SourceClip, shell: f32) -> BoneScales {
        let count = skeleton.bone_count();
        let mut scales = BoneScales {
            parents: vec![1.0; count],
            own: vec![1.0; count],
            reaches: vec![shell; count],
            arms: vec![Vec3::splat(shell); count],
            shell,
        };
        for (bone, parent) in skeleton.parents().iter().enumerate() {
            let above = parent.map_or(1.0, |parent| scales.own[usize::from(parent)]);
            let own = above * skeleton.rest()[bone].scale.abs().max_element();
            scales.parents[bone] = above;
            scales.own[bone] = own.clamp(BONE_SCALE_MIN, 1.0 / BONE_SCALE_MIN);
        }
        let extents = extents(skeleton, clip);
        for bone in (0..count).rev() {
            if let Some(parent) = skeleton.parents()[bone] {
                let at = extents[bone] * scales.parents[bone];
                let reach = at.length() + scales.reaches[bone];
                let parent = usize::from(parent);
                scales.reaches[parent] = scales.reaches[parent].max(reach);
                let arms = Vec3::splat(at.length_squared()) - at * at;
                let arms = Vec3::new(arms.x.sqrt(), arms.y.sqrt(), arms.z.sqrt());
                scales.arms[parent] = scales.arms[parent].max(arms);
            }
        }
        scales
    }
}

/// Returns the largest distances of each bone from its parent along each axis.
fn extents(skeleton: &Skeleton, clip: &SourceClip) -> Vec<Vec3> {
    let mut extents: Vec<Vec3> = skeleton.rest().iter().map(|it| it.position.abs()).collect();
    for track in clip.tracks.iter().filter(|track| track.property == TrackProperty::Position) {
        let extent = &mut extents[usize::from(track.bone)];
        for key in 0..track.times.len() {
            *extent = extent.max(track.value(key).truncate().abs());
        }
    }
    extents
}
