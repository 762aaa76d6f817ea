//! Retargeting: an animation of one skeleton becomes one of another skeleton, by the names of the
//! bones.

use super::skeleton::Skeleton;
use super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use engine_foundation::suggest::{hint, nearest};
use engine_foundation::{Error, Quat, Vec3, Vec4, error};
use std::collections::{BTreeMap, BTreeSet};

/// Bones without a rest length: shorter than this part of the skeleton.
const LENGTH_PART_MIN: f32 = 1e-3;

/// Returns an animation of the skeleton `theirs` as one of the skeleton `ours`. Both should have
/// the same kind of rig: bones that point in the same directions in the rest pose.
///
/// Bones correspond by name. `names` maps names of `theirs` to names of `ours` where they differ.
/// Bones without a counterpart keep their rest transform. Rotations and scales are relative to the
/// rest pose. Movements are scaled by the ratio of the bones' rest lengths; those of bones of which
/// one is at the origin of its parent, by the ratio of the sizes of the skeletons. Weights of morph
/// targets belong to a mesh and are left out.
///
/// # Errors
/// Fails if a name of the map does not exist, if two bones map to the same one, if no animated bone
/// has a counterpart, or if a track names a bone that does not exist.
pub fn retarget(
    source: &SourceClip,
    theirs: &Skeleton,
    ours: &Skeleton,
    names: &[(String, String)],
) -> Result<SourceClip, Error> {
    let map = bone_map(theirs, ours, names)?;
    let size = size_ratio(theirs, ours);
    let mut tracks: Vec<SourceTrack> = Vec::new();
    let mut unknown = None;
    for track in source.tracks.iter().filter(|track| track.property != TrackProperty::Weight) {
        let bone = usize::from(track.bone);
        let name = theirs.names().get(bone);
        let name = name.ok_or_else(|| error!("it animates bone {bone}, which does not exist"))?;
        match map.get(&track.bone) {
            Some(counterpart) => {
                let change = BoneChange::new((theirs, track.bone), (ours, *counterpart), size);
                tracks.push(retarget_track(track, *counterpart, &change));
            }
            None => unknown = unknown.or(Some(name)),
        }
    }
    match unknown {
        Some(name) if tracks.is_empty() => Err(no_counterpart(name, ours)),
        _ => Ok(SourceClip { seconds: source.seconds, tracks }),
    }
}

/// Bones of a message.
const LISTED_MAX: usize = 4;
/// Bones that are compared with the names of others.
const COMPARED_MAX: usize = 64;

/// Animated bones of an animation that a skeleton does not have, so that they are left out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UnmatchedBones {
    /// Their names.
    pub names: Vec<String>,
    /// Number of animated bones.
    animated: usize,
    /// One of them, and nearly the same name of a bone that is no counterpart of another one.
    near: Option<(String, String)>,
}

impl UnmatchedBones {
    pub(super) fn new(
        animated: &BTreeSet<u16>,
        (theirs, ours): (&Skeleton, &Skeleton),
        names: &[(String, String)],
    ) -> UnmatchedBones {
        // The map of an animation that fits the skeleton itself has names of other ones.
        if theirs == ours {
            return UnmatchedBones::default();
        }
        let Ok(map) = bone_map(theirs, ours, names) else { return UnmatchedBones::default() };
        let missing = animated.iter().filter(|bone| !map.contains_key(bone));
        let names: Vec<String> =
            missing.filter_map(|bone| theirs.names().get(usize::from(*bone)).cloned()).collect();
        let used: BTreeSet<u16> = map.into_values().collect();
        let free: Vec<&str> = (0_u16..)
            .zip(ours.names())
            .filter(|(bone, _)| !used.contains(bone))
            .map(|(_, name)| name.as_str())
            .collect();
        let near = names.iter().take(COMPARED_MAX).find_map(|name| {
            let other = nearest(name, free.iter().copied())?;
            Some((name.clone(), other.to_string()))
        });
        UnmatchedBones { names, animated: animated.len(), near }
    }

    /// Returns a warning if they are more than half of the animated bones, or if one has nearly the
    /// name of another bone.
    pub fn warning(&self) -> Option<String> {
        let count = self.names.len();
        if count * 2 <= self.animated && self.near.is_none() {
            return None;
        }
        let lacks = format!("the skeleton lacks {count} of the {} animated bones", self.animated);
        Some(match &self.near {
            Some((name, other)) => format!(
                "{lacks}: '{name}', did you mean '{other}'? Then write retarget = \
                 {{ {name} = \"{other}\" }}"
            ),
            None => {
                let shown: Vec<String> =
                    self.names.iter().take(LISTED_MAX).map(|name| format!("'{name}'")).collect();
                let more = if count > shown.len() { ", …" } else { "" };
                format!(
                    "{lacks}: {}{more}: map their names by retarget = {{ {} = \"…\" }}",
                    shown.join(", "),
                    self.names[0]
                )
            }
        })
    }
}

/// Returns the animated bones of the skeleton `theirs` that [`retarget()`] leaves out, without
/// those of names that are not valid.
pub fn unmatched_bones(
    source: &SourceClip,
    theirs: &Skeleton,
    ours: &Skeleton,
    names: &[(String, String)],
) -> UnmatchedBones {
    let tracks = source.tracks.iter().filter(|it| it.property != TrackProperty::Weight);
    let animated = tracks.map(|track| track.bone).collect();
    UnmatchedBones::new(&animated, (theirs, ours), names)
}

/// Returns the error for an animation of which no bone exists in a skeleton.
pub(super) fn no_counterpart(name: &str, ours: &Skeleton) -> Error {
    error!(
        "no animated bone exists in the skeleton, for example '{name}'{}: map the names by \
         retarget = {{ {name} = \"…\" }}",
        hint(name, ours.names().iter().map(String::as_str))
    )
}

/// Returns the bone of `ours` for each bone of `theirs` that has one.
pub(super) fn bone_map(
    theirs: &Skeleton,
    ours: &Skeleton,
    names: &[(String, String)],
) -> Result<BTreeMap<u16, u16>, Error> {
    let find = |skeleton: &Skeleton, name: &str, owner: &str| {
        skeleton.find(name).ok_or_else(|| {
            let near = hint(name, skeleton.names().iter().map(String::as_str));
            error!("'retarget' names the bone '{name}', which {owner} does not have{near}")
        })
    };
    let mut map = BTreeMap::new();
    let mut used: BTreeMap<u16, &str> = BTreeMap::new();
    for (name, counterpart) in names {
        let bone = find(theirs, name, "the skeleton of the source")?;
        let own = find(ours, counterpart, "the skeleton of the clip")?;
        if let Some(other) = used.insert(own, name) {
            return Err(error!(
                "'retarget' maps '{other}' and '{name}' to the same bone '{counterpart}': remove \
                 one"
            ));
        }
        if map.insert(bone, own).is_some() {
            return Err(error!("'retarget' maps '{name}' twice: remove one"));
        }
    }
    let known: BTreeMap<&str, u16> =
        ours.names().iter().zip(0..).map(|(name, bone)| (name.as_str(), bone)).collect();
    for (name, bone) in theirs.names().iter().zip(0..) {
        if let Some(own) = known.get(name.as_str()).filter(|own| !used.contains_key(own)) {
            map.entry(bone).or_insert(*own);
        }
    }
    Ok(map)
}

/// Returns the largest distance of a bone from the root, along the bones, in units of the file.
fn size(skeleton: &Skeleton) -> f32 {
    skeleton.reaches(0.0).into_iter().fold(0.0, f32::max)
}

/// Returns the size of `ours`, divided by that of `theirs`.
pub(super) fn size_ratio(theirs: &Skeleton, ours: &Skeleton) -> f32 {
    let ratio = size(ours) / size(theirs);
    if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
}

/// Differences between the rest transforms of a bone and its counterpart.
pub(super) struct BoneChange {
    /// Rotation from the rest pose of the bone to that of the counterpart.
    pub(super) turn: Quat,
    /// Ratio of movements.
    pub(super) ratio: f32,
    /// Ratio of scales.
    pub(super) scale: Vec3,
    /// Positions of the bone and of the counterpart at rest.
    pub(super) from: Vec3,
    pub(super) to: Vec3,
}

impl BoneChange {
    pub(super) fn new(
        (theirs, bone): (&Skeleton, u16),
        (ours, counterpart): (&Skeleton, u16),
        size_ratio: f32,
    ) -> BoneChange {
        let from = theirs.rest()[usize::from(bone)];
        let to = ours.rest()[usize::from(counterpart)];
        let (length, own_length) = (from.position.length(), to.position.length());
        let has_length =
            length > LENGTH_PART_MIN * size(theirs) && own_length > LENGTH_PART_MIN * size(ours);
        let factor = |own: f32, other: f32| if other.abs() < 1e-6 { 1.0 } else { own / other };
        BoneChange {
            turn: to.rotation * from.rotation.conjugate(),
            ratio: if has_length { own_length / length } else { size_ratio },
            scale: Vec3::new(
                factor(to.scale.x, from.scale.x),
                factor(to.scale.y, from.scale.y),
                factor(to.scale.z, from.scale.z),
            ),
            from: from.position,
            to: to.position,
        }
    }

    pub(super) fn position(&self, position: Vec3) -> Vec3 {
        self.to + (position - self.from) * self.ratio
    }
}

fn retarget_track(track: &SourceTrack, bone: u16, change: &BoneChange) -> SourceTrack {
    let cubic = track.interpolation == SourceInterpolation::Cubic;
    let convert = |(index, value): (usize, &[f32; 4])| {
        // Tangents of cubic keys are differences already.
        let tangent = cubic && index % 3 != 1;
        let number = Vec4::from_array(*value);
        match track.property {
            TrackProperty::Rotation => (change.turn * Quat::from_vec4(number)).to_array(),
            TrackProperty::Position if tangent => (number * change.ratio).to_array(),
            TrackProperty::Position => change.position(number.truncate()).extend(0.0).to_array(),
            TrackProperty::Scale => (number * change.scale.extend(0.0)).to_array(),
            TrackProperty::Weight => *value,
        }
    };
    let values = track.values.iter().enumerate().map(convert).collect();
    SourceTrack { bone, values, ..track.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoneTransform, Pose, source_pose};

    fn rig(names: [&str; 4], size: f32, turn: f32) -> Skeleton {
        let bone = |index: usize, parent: Option<u16>, position: Vec3| {
            let rotation = Quat::from_rotation_x(turn * index as f32);
            let rest = BoneTransform { position: position * size, rotation, scale: Vec3::ONE };
            (names[index].to_string(), parent, rest)
        };
        Skeleton::new(vec![
            bone(0, None, Vec3::ZERO),
            bone(1, Some(0), Vec3::new(0.0, 0.0, 1.0)),
            bone(2, Some(1), Vec3::new(0.0, 0.1, 0.3)),
            bone(3, Some(2), Vec3::new(0.0, 0.0, 0.3)),
        ])
        .unwrap()
    }

    fn track(bone: u16, property: TrackProperty, values: &[[f32; 4]]) -> SourceTrack {
        let times = (0..values.len()).map(|key| key as f32).collect();
        let interpolation = SourceInterpolation::Linear;
        SourceTrack { bone, property, interpolation, times, values: values.to_vec() }
    }

    fn clip() -> SourceClip {
        let turned = |angle: f32| Quat::from_rotation_z(angle).to_array();
        SourceClip {
            seconds: 1.0,
            tracks: vec![
                track(0, TrackProperty::Position, &[[0.0; 4], [0.0, 2.0, 0.0, 0.0]]),
                track(1, TrackProperty::Position, &[[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.8, 0.0]]),
                track(2, TrackProperty::Rotation, &[turned(0.0), turned(1.0)]),
                track(3, TrackProperty::Scale, &[[1.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 0.0]]),
                track(0, TrackProperty::Weight, &[[1.0, 0.0, 0.0, 0.0]]),
            ],
        }
    }

    fn names(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn movements_follow_the_size_and_rotations_the_rest_pose() {
        let theirs = rig(["root", "Hips", "Spine", "head"], 1.0, 0.0);
        let ours = rig(["root", "pelvis", "Spine", "head"], 0.5, 0.2);
        let clip = retarget(&clip(), &theirs, &ours, &names(&[("Hips", "pelvis")])).unwrap();
        assert_eq!(clip.tracks.len(), 4, "weights are left out");
        let mut pose = Pose::default();
        source_pose(&clip, &ours, 1.0, &mut pose);
        assert!((pose.transform(0).position - Vec3::new(0.0, 1.0, 0.0)).length() < 1e-6);
        assert!((pose.transform(1).position - Vec3::new(0.0, 0.0, 0.4)).length() < 1e-6);
        let wanted = ours.rest()[2].rotation * Quat::from_rotation_z(1.0);
        assert!(pose.transform(2).rotation.dot(wanted).abs() > 0.999_999);
        assert_eq!(pose.transform(3).scale, Vec3::new(2.0, 1.0, 0.0));
        source_pose(&clip, &ours, 0.0, &mut pose);
        for bone in 0..4 {
            let (shown, rest) = (pose.transform(bone), ours.rest()[bone]);
            assert!((shown.position - rest.position).length() < 1e-6, "the rest pose stays");
            assert!(shown.rotation.dot(rest.rotation).abs() > 0.999_999);
        }
    }

    #[test]
    fn cubic_tangents_are_scaled_with_their_values() {
        let theirs = rig(["root", "hips", "spine", "head"], 1.0, 0.0);
        let ours = rig(["root", "hips", "spine", "head"], 3.0, 0.0);
        let mut cubic = track(1, TrackProperty::Position, &[]);
        cubic.interpolation = SourceInterpolation::Cubic;
        cubic.times = vec![0.0, 1.0];
        let at = |z: f32| [0.0, 0.0, z, 0.0];
        cubic.values = vec![at(0.0), at(1.0), at(2.0), at(-1.0), at(1.5), at(0.0)];
        let source = SourceClip { seconds: 1.0, tracks: vec![cubic] };
        let clip = retarget(&source, &theirs, &ours, &[]).unwrap();
        for step in 0..=10 {
            let time = step as f32 / 10.0;
            let (a, b) = (source.tracks[0].sample(time)[2], clip.tracks[0].sample(time)[2]);
            assert!((a * 3.0 - b).abs() < 1e-5, "{time}: {a} {b}");
        }
    }

    #[test]
    fn skeletons_without_size_give_finite_tracks() {
        let theirs = rig(["root", "hips", "spine", "head"], 0.0, 0.0);
        let ours = rig(["root", "hips", "spine", "head"], 2.0, 0.0);
        for (theirs, ours) in [(&theirs, &ours), (&ours, &theirs), (&theirs, &theirs)] {
            let clip = retarget(&clip(), theirs, ours, &[]).unwrap();
            let mut values = clip.tracks.iter().flat_map(|track| track.values.as_flattened());
            assert!(values.all(|value| value.is_finite()));
        }
    }

    #[test]
    fn wrong_maps_are_refused() {
        let theirs = rig(["root", "Hips", "Spine", "Head"], 1.0, 0.0);
        let ours = rig(["base", "pelvis", "chest", "skull"], 1.0, 0.0);
        let check = |pairs: &[(&str, &str)], wanted: &str| {
            let error = retarget(&clip(), &theirs, &ours, &names(pairs)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        };
        check(&[], "no animated bone exists in the skeleton, for example 'root'");
        check(
            &[("Hip", "pelvis")],
            "'Hip', which the skeleton of the source does not have, did you mean 'Hips'?",
        );
        check(
            &[("Hips", "pelvs")],
            "'pelvs', which the skeleton of the clip does not have, did you mean 'pelvis'?",
        );
        check(
            &[("Hips", "pelvis"), ("Spine", "pelvis")],
            "maps 'Hips' and 'Spine' to the same bone 'pelvis': remove one",
        );
        check(&[("Hips", "pelvis"), ("Hips", "chest")], "maps 'Hips' twice");
        let mut foreign = clip();
        foreign.tracks[0].bone = 9;
        assert!(retarget(&foreign, &theirs, &theirs, &[]).is_err());
    }
}
