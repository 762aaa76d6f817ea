//! Additive clips: differences to a reference pose, which are added to another pose.

use super::clip_events::rounded_seconds;
use super::compile::source_transforms;
use super::pose::Pose;
use super::skeleton::{BoneTransform, Skeleton};
use super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use engine_foundation::{Error, Quat, Vec3, Vec4, error};

/// Files round their numbers: a time can be this much after the end.
const ROUNDED_SECONDS: f32 = 1e-3;

/// Reference pose of an additive clip.
#[derive(Clone, PartialEq, Debug)]
pub struct AdditiveReference {
    /// Animation with the reference pose; `None` is the animation of the clip itself, before its
    /// range is cut.
    pub source: Option<SourceClip>,
    /// Time of the reference pose in seconds, within its animation.
    pub time: f32,
}

/// Returns the animation as differences to the pose that `reference` has at a time in seconds.
///
/// The difference of a rotation is applied before the rotation of the other pose, that of a
/// position is added, and that of a scale is a factor. A scale of 0 in the reference counts as 1.
/// Weights of morph targets are differences, too.
///
/// # Errors
/// Fails if the time is not finite, or after the end of the animation with the reference pose.
pub fn subtract(
    source: &SourceClip,
    skeleton: &Skeleton,
    reference: &SourceClip,
    time: f32,
) -> Result<SourceClip, Error> {
    if !time.is_finite() {
        return Err(error!("the time of the additive reference is {time}: use a time in seconds"));
    }
    if time > reference.seconds + ROUNDED_SECONDS {
        return Err(error!(
            "'additive' has the time {time}, and the animation of the reference pose ends at {} \
             seconds",
            rounded_seconds(reference.seconds)
        ));
    }
    let references = source_transforms(reference, skeleton.rest(), |track| track.sample(time));
    let mut tracks: Vec<SourceTrack> = source.tracks.clone();
    // Bones that only the reference moves have a constant difference.
    for track in &reference.tracks {
        let (bone, property) = (track.bone, track.property);
        if tracks.iter().any(|own| own.bone == bone && own.property == property) {
            continue;
        }
        let value = match (property, skeleton.rest().get(usize::from(bone))) {
            (TrackProperty::Rotation, Some(rest)) => rest.rotation.to_array(),
            (TrackProperty::Position, Some(rest)) => rest.position.extend(0.0).to_array(),
            (TrackProperty::Scale, Some(rest)) => rest.scale.extend(0.0).to_array(),
            _ => [0.0; 4],
        };
        let interpolation = SourceInterpolation::Step;
        let (times, values) = (vec![0.0], vec![value]);
        tracks.push(SourceTrack { bone, property, interpolation, times, values });
    }
    for track in &mut tracks {
        let weight = reference
            .tracks
            .iter()
            .find(|it| (it.bone, it.property) == (track.bone, TrackProperty::Weight));
        let weight = weight.map_or(0.0, |track| track.sample(time)[0]);
        subtract_track(track, &references, weight);
    }
    Ok(SourceClip { seconds: source.seconds, tracks })
}

fn subtract_track(track: &mut SourceTrack, references: &[BoneTransform], weight: f32) {
    let cubic = track.interpolation == SourceInterpolation::Cubic;
    for (index, value) in track.values.iter_mut().enumerate() {
        // Tangents of cubic keys are differences already.
        let tangent = cubic && index % 3 != 1;
        let reference = match track.property {
            TrackProperty::Weight => BoneTransform::IDENTITY,
            _ => references[usize::from(track.bone)],
        };
        let number = Vec4::from_array(*value);
        *value = match track.property {
            TrackProperty::Rotation => {
                (reference.rotation.conjugate() * Quat::from_vec4(number)).to_array()
            }
            TrackProperty::Position if tangent => *value,
            TrackProperty::Position => (number - reference.position.extend(0.0)).to_array(),
            TrackProperty::Scale => (number / divisors(reference.scale).extend(1.0)).to_array(),
            TrackProperty::Weight if tangent => *value,
            TrackProperty::Weight => [value[0] - weight, 0.0, 0.0, 0.0],
        };
    }
}

fn divisors(scale: Vec3) -> Vec3 {
    let divisor = |value: f32| if value.abs() < 1e-6 { 1.0 } else { value };
    Vec3::new(divisor(scale.x), divisor(scale.y), divisor(scale.z))
}

/// Returns the pose that changes nothing if it is added to another one by
/// [`Pose::add_difference`]: the rest pose of additive clips.
pub fn additive_rest(skeleton: &Skeleton) -> Pose {
    Pose::new(&vec![BoneTransform::IDENTITY; skeleton.bone_count()])
}
