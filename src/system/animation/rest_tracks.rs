//! Rest tracks: tracks that keep the rest transform of their bone for the whole clip. They have no
//! value. A player shows them only over the pose of other clips, which they hide.

use super::clip::Clip;
use super::clip_data::{damaged, read_word, write_word};
use super::compile::Input;
use super::pose::{Pose, PoseGroup};
use super::source::TrackProperty;
use super::uniform_layout::{LaneMask, select_all};
use super::uniform_plan::Plan;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use std::collections::BTreeSet;

/// Property and bone of a track.
pub(super) type TrackName = (TrackProperty, u16);

/// Properties of bones, in the order of tracks.
const PROPERTIES: [TrackProperty; 3] =
    [TrackProperty::Rotation, TrackProperty::Position, TrackProperty::Scale];

/// Bones of a group of a pose whose rotations, positions and scales keep the rest transform.
#[derive(Clone, PartialEq, Debug)]
struct RestGroup {
    /// Index of the group of the pose.
    group: u32,
    tracked: [LaneMask; PROPERTIES.len()],
}

/// The rest tracks of a clip, sorted by property and bone.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct RestTracks {
    pub tracks: Vec<TrackName>,
    groups: Vec<RestGroup>,
}

impl RestTracks {
    /// Creates the tracks. Those of morph targets are left out, because their default belongs to
    /// the mesh.
    pub fn new(tracks: impl IntoIterator<Item = TrackName>) -> RestTracks {
        let mut rests = RestTracks::default();
        let is_bone = |track: &TrackName| PROPERTIES.contains(&track.0);
        let sorted: BTreeSet<TrackName> = tracks.into_iter().filter(is_bone).collect();
        for (property, bone) in sorted {
            let group = u32::from(bone) / 4;
            let found = rests.groups.binary_search_by_key(&group, |it| it.group);
            let index = found.unwrap_or_else(|index| {
                let tracked = [LaneMask::default(); PROPERTIES.len()];
                rests.groups.insert(index, RestGroup { group, tracked });
                index
            });
            let part = PROPERTIES.iter().position(|it| *it == property).unwrap_or(0);
            rests.groups[index].tracked[part][usize::from(bone % 4)] = u32::MAX;
            rests.tracks.push((property, bone));
        }
        rests
    }

    /// Returns the tracks of a source that a plan does not store. Differences that add nothing are
    /// no tracks.
    pub fn of_plan(input: &Input, plan: &Plan) -> RestTracks {
        if input.features.additive {
            return RestTracks::default();
        }
        let constants = plan.constants.iter().map(|track| (track.property, track.bone));
        let uniform = plan.fit.curves.iter().map(|it| (it.track.property, it.track.bone));
        let keyed = plan.keyed.iter().map(|keys| (keys.track.property, keys.track.bone));
        let stored: BTreeSet<TrackName> = constants.chain(uniform).chain(keyed).collect();
        let source = input.source.tracks.iter().map(|track| (track.property, track.bone));
        RestTracks::new(source.filter(|name| !stored.contains(name)))
    }

    /// Returns the bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.tracks[..]) + size_of_val(&self.groups[..])
    }

    /// Copies the transforms of the tracks from the rest pose into another one.
    fn copy(&self, rest: &[PoseGroup], groups: &mut [PoseGroup]) {
        for it in &self.groups {
            let [rotation, position, scale] = it.tracked;
            let (target, rest) = (&mut groups[it.group as usize], &rest[it.group as usize]);
            select_all(&mut target.rotation, rest.rotation, rotation);
            select_all(&mut target.position, rest.position, position);
            select_all(&mut target.scale, rest.scale, scale);
        }
    }

    /// Writes the bones of each property as bits.
    pub fn write(&self, writer: &mut BlobWriter) {
        for property in PROPERTIES {
            let bones = || self.tracks.iter().filter(|it| it.0 == property).map(|it| it.1);
            let (first, last) = (bones().min().unwrap_or(0) / 8, bones().max());
            let mut bits = vec![0_u8; last.map_or(0, |last| usize::from(last / 8 - first) + 1)];
            bones().for_each(|bone| bits[usize::from(bone / 8 - first)] |= 1 << (bone % 8));
            write_word(writer, first);
            write_word(writer, bits.len() as u16);
            bits.into_iter().for_each(|byte| writer.u8(byte));
        }
    }

    /// Reads what [`RestTracks::write`] wrote, for a clip with this number of bones.
    ///
    /// # Errors
    /// Fails if a bone does not exist.
    pub fn read(reader: &mut BlobReader, bones: u16) -> Result<RestTracks, Error> {
        let mut tracks = Vec::new();
        for property in PROPERTIES {
            let (first, count) = (u32::from(read_word(reader)?), read_word(reader)?);
            for index in 0..u32::from(count) {
                let byte = reader.u8()?;
                for bit in (0..8).filter(|bit| byte & 1 << bit != 0) {
                    let bone = (first + index) * 8 + bit;
                    if bone >= u32::from(bones) {
                        return Err(damaged("a bone that keeps its rest transform"));
                    }
                    tracks.push((property, bone as u16));
                }
            }
        }
        Ok(RestTracks::new(tracks))
    }
}

impl Clip {
    /// Returns the tracks that keep the rest transform: those of all chunks of a streamed clip.
    pub(super) fn rest_tracks(&self) -> &RestTracks {
        self.chunks.as_ref().map_or(&self.rests, |chunks| &chunks.first().rests)
    }

    /// Copies the transforms of bones that the clip keeps at rest from the rest pose into another
    /// pose. Both poses have the bones of the clip.
    pub(super) fn copy_rests(&self, rest: &Pose, pose: &mut Pose) {
        self.rest_tracks().copy(&rest.groups, &mut pose.groups);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::skeleton;
    use super::*;
    use crate::{
        BoneTransform, ClipPlayer, ClipSettings, RootMotion, Skeleton, SourceClip,
        SourceInterpolation, SourceTrack, compile, read_clip,
    };
    use engine_foundation::{Quat, Vec3};

    const BONES: u16 = 21;

    fn track(bone: u16, property: TrackProperty, values: [[f32; 4]; 2]) -> SourceTrack {
        let (interpolation, times) = (SourceInterpolation::Linear, vec![0.0, 4.0]);
        SourceTrack { bone, property, interpolation, times, values: values.to_vec() }
    }

    /// Bone 1 turns, and bones 1 to 3, 9 and 20 have keys at rest.
    fn source(skeleton: &Skeleton) -> SourceClip {
        let rest = |bone: u16| skeleton.rest()[usize::from(bone)];
        let mut tracks = Vec::new();
        for bone in [1, 2, 3, 9, 20] {
            let rotation = rest(bone).rotation.to_array();
            let turned = if bone == 1 { Quat::from_rotation_y(1.0).to_array() } else { rotation };
            tracks.push(track(bone, TrackProperty::Rotation, [rotation, turned]));
            tracks.push(track(bone, TrackProperty::Scale, [[1.0, 1.0, 1.0, 0.0]; 2]));
        }
        let position = rest(2).position.extend(0.0).to_array();
        tracks.push(track(2, TrackProperty::Position, [position; 2]));
        SourceClip { seconds: 4.0, tracks }
    }

    /// Returns a pose of a clip over one in which each bone is somewhere else.
    fn shown(clip: &Clip, skeleton: &Skeleton) -> (Pose, Pose) {
        let moved = BoneTransform {
            position: Vec3::new(3.0, 4.0, 5.0),
            rotation: Quat::from_rotation_z(0.5),
            scale: Vec3::splat(2.0),
        };
        let below = Pose::new(&vec![moved; skeleton.bone_count()]);
        let mut player = ClipPlayer::new(clip, skeleton);
        player.seek(clip, 2.0);
        let mut pose = Pose::default();
        player.sample_over(clip, (&below, &Pose::rest(skeleton)), &mut pose);
        (below, pose)
    }

    fn check_pose(clip: &Clip, skeleton: &Skeleton) {
        let (below, pose) = shown(clip, skeleton);
        for bone in 0..skeleton.bone_count() {
            let (is, below, rest) =
                (pose.transform(bone), below.transform(bone), skeleton.rest()[bone]);
            let keyed = [1, 2, 3, 9, 20].contains(&bone);
            let position = if bone == 2 { rest.position } else { below.position };
            let scale = if keyed { rest.scale } else { below.scale };
            assert_eq!((is.position, is.scale), (position, scale), "{bone}");
            match bone {
                1 => assert!(is.rotation.angle_between(Quat::from_rotation_y(0.5)) < 0.1),
                _ if keyed => assert_eq!(is.rotation, rest.rotation, "{bone}"),
                _ => assert_eq!(is.rotation, below.rotation, "{bone}"),
            }
        }
    }

    #[test]
    fn bones_with_keys_at_rest_hide_the_pose_below() {
        let skeleton = skeleton(BONES);
        for chunk_seconds in [None, Some(2.0)] {
            let settings = ClipSettings { chunk_seconds, ..ClipSettings::DEFAULT };
            let clip = compile(&source(&skeleton), &skeleton, &settings).unwrap().clip;
            check_pose(&clip, &skeleton);
            let retargeted = match chunk_seconds {
                None => clip.retargeted(&skeleton, &skeleton, &[]).unwrap(),
                Some(_) => clip,
            };
            check_pose(&retargeted, &skeleton);
        }
    }

    #[test]
    fn rest_tracks_are_stored_as_bits() {
        let skeleton = skeleton(BONES);
        let source = source(&skeleton);
        let with = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
        let bytes = with.write();
        let read = read_clip(&bytes).unwrap();
        assert_eq!(read, with);
        check_pose(&read, &skeleton);
        let moves = SourceClip { seconds: 4.0, tracks: source.tracks[..1].to_vec() };
        let without = compile(&moves, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
        assert!(without.rests.tracks.is_empty());
        // Ten tracks: the first byte and their number, and 3 + 1 + 3 bytes of bits.
        assert_eq!(bytes.len() - without.write().len(), 3 * 4 + 7);
        // A bone beyond the last one is refused.
        let rests = RestTracks::new([(TrackProperty::Scale, BONES)]);
        let damaged = Clip { rests, ..with.clone() }.write();
        let message = read_clip(&damaged).unwrap_err().message;
        assert_eq!(message, "it is damaged: a bone that keeps its rest transform is not valid");
        // A bone must not have another track of the property.
        let rests = RestTracks::new([(TrackProperty::Rotation, 1)]);
        let damaged = Clip { rests, ..with }.write();
        let message = read_clip(&damaged).unwrap_err().message;
        assert_eq!(message, "it is damaged: a bone with two tracks of a property is not valid");
    }

    #[test]
    fn other_bones_and_differences_have_no_rest_tracks() {
        let skeleton = skeleton(BONES);
        let mut source = source(&skeleton);
        source.tracks.push(track(0, TrackProperty::Weight, [[0.0; 4]; 2]));
        let additive = crate::AdditiveReference { source: None, time: 0.0 };
        let settings = ClipSettings { additive: Some(additive), ..ClipSettings::DEFAULT };
        let clip = compile(&source, &skeleton, &settings).unwrap().clip;
        assert!(clip.rests.tracks.is_empty(), "differences that add nothing");
        let settings = ClipSettings { root_motion: RootMotion::None, ..ClipSettings::DEFAULT };
        let clip = compile(&source, &skeleton, &settings).unwrap().clip;
        assert_eq!(clip.rests.tracks.len(), 10, "all but the turn and the morph target");
        assert_eq!(clip.animated_bones(), [1], "and not the number of the morph target");
        let wanted = "
  tracks: 2 (1 rotations, 1 weights of morph targets and slots), of 1 of the 21 nodes of the model
  at rest: 10 tracks of 5 nodes have keys with the pose of the model: they hold the nodes over \
                      animations of lower layers
";
        assert!(clip.describe().contains(wanted), "{}", clip.describe());
        let few = skeleton.part(&[0, 1]);
        let part = clip.of_bones(&skeleton, &few, &[0, 1]).unwrap().unwrap();
        assert_eq!(part.rests.tracks, [(TrackProperty::Scale, 1)]);
    }
}
