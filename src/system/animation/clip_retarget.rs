//! Retargeting of compiled clips: a clip of one skeleton becomes one of another skeleton. Keys are
//! fractions of the range of their track, so that the ranges change and the keys do not.

use super::clip::{Clip, JumpFrame, Key, Track};
use super::clip_data::{VALUE_MAX, append_key};
use super::retarget::{BoneChange, bone_map, no_counterpart, size_ratio};
use super::root_motion::RootTrack;
use super::skeleton::Skeleton;
use super::source::TrackProperty;
use engine_foundation::{Error, error};
use std::collections::BTreeSet;

impl Clip {
    /// Returns this clip of the skeleton `theirs` as a clip of the skeleton `ours`, as
    /// [`super::retarget()`] does before a compilation. Root motion is scaled by the ratio of the
    /// sizes of the skeletons.
    ///
    /// # Errors
    /// Fails if the clip is not one of `theirs`, if a name of `names` does not exist, if no
    /// animated bone has a counterpart, or if a movement gets too large.
    pub fn retargeted(
        &self,
        theirs: &Skeleton,
        ours: &Skeleton,
        names: &[(String, String)],
    ) -> Result<Clip, Error> {
        if self.bone_count() != theirs.bone_count() {
            return Err(error!(
                "the clip has {} bones, and its skeleton {}",
                self.bone_count(),
                theirs.bone_count()
            ));
        }
        let size = size_ratio(theirs, ours);
        let kept = self.retargeted_tracks((theirs, ours), names, size)?;
        let mut numbers = vec![None; self.tracks.len()];
        for (new, (old, _)) in kept.iter().enumerate() {
            numbers[*old] = Some(new as u16);
        }
        let mut clip = Clip {
            seconds: self.seconds,
            bones: ours.bone_count() as u16,
            features: self.features.clone(),
            tracks: kept.iter().map(|(_, track)| *track).collect(),
            stream: Vec::new(),
            jump_frames: Vec::with_capacity(self.jump_frames.len()),
        };
        if let Some(RootTrack { positions, .. }) = &mut clip.features.root {
            positions.iter_mut().for_each(|(_, position)| *position *= size);
        }
        let mut frames = self.jump_frames.iter().peekable();
        let mut offset = 0;
        loop {
            while let Some(frame) = frames.next_if(|frame| frame.offset as usize <= offset) {
                let pair = |(new, (old, _)): (usize, &(usize, Track))| {
                    frame.keys[*old].map(|key| Key { track: new as u16, ..key })
                };
                let keys = kept.iter().enumerate().map(pair).collect();
                let offset = clip.stream.len() as u32;
                clip.jump_frames.push(JumpFrame { tick: frame.tick, offset, keys });
            }
            let Some((key, next)) = self.key_at(offset) else { break };
            if let Some(track) = numbers[usize::from(key.track)] {
                let stored = clip.tracks[usize::from(track)];
                append_key(&mut clip.stream, &stored, Key { track, ..key });
            }
            offset = next;
        }
        Ok(clip)
    }

    /// Returns the tracks of bones with a counterpart, with their previous numbers, in the order of
    /// a clip.
    fn retargeted_tracks(
        &self,
        (theirs, ours): (&Skeleton, &Skeleton),
        names: &[(String, String)],
        size: f32,
    ) -> Result<Vec<(usize, Track)>, Error> {
        let map = bone_map(theirs, ours, names)?;
        let mut used = BTreeSet::new();
        let mut kept: Vec<(usize, Track)> = Vec::new();
        let mut unknown = None;
        for (number, track) in self.tracks.iter().enumerate() {
            if track.property == TrackProperty::Weight {
                continue;
            }
            let Some(counterpart) = map.get(&track.bone).copied() else {
                unknown = unknown.or(Some(&theirs.names()[usize::from(track.bone)]));
                continue;
            };
            if !used.insert((track.property, counterpart)) {
                continue;
            }
            let change = BoneChange::new((theirs, track.bone), (ours, counterpart), size);
            let track = self.retargeted_track(track, counterpart, &change);
            let range = &track.range;
            let size = range.least.abs().max_element().max(range.extent.abs().max_element());
            if size.is_nan() || size > VALUE_MAX {
                return Err(error!(
                    "the {:?} of '{}' would be above {VALUE_MAX} (VALUE_MAX): the skeletons differ \
                     too much in size",
                    track.property,
                    ours.names()[usize::from(counterpart)]
                ));
            }
            kept.push((number, track));
        }
        if let (Some(name), true) = (unknown, kept.is_empty()) {
            return Err(no_counterpart(name, ours));
        }
        kept.sort_by_key(|(_, track)| (track.property, track.bone));
        Ok(kept)
    }

    fn retargeted_track(&self, track: &Track, bone: u16, change: &BoneChange) -> Track {
        let mut changed = Track { bone, ..*track };
        let range = &mut changed.range;
        let additive = self.is_additive();
        match track.property {
            // Differences of rotations are relative to the bone, and those of scales are factors.
            TrackProperty::Rotation | TrackProperty::Scale if additive => {}
            TrackProperty::Rotation => range.mean = (change.turn * range.mean).normalize(),
            TrackProperty::Position => {
                range.least = match additive {
                    true => range.least * change.ratio,
                    false => change.position(range.least),
                };
                range.extent *= change.ratio;
            }
            TrackProperty::Scale => {
                range.least *= change.scale;
                range.extent *= change.scale;
            }
            TrackProperty::Weight => {}
        }
        changed.set_bits(track.bits);
        changed
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        BoneTransform, Clip, ClipPlayer, ClipSettings, Pose, RootMotion, Skeleton, SourceClip,
        SourceInterpolation, SourceTrack, TrackProperty, compile, read_clip, retarget,
    };
    use engine_foundation::{Quat, Vec3};

    fn rig(names: &[&str], size: f32, turn: f32) -> Skeleton {
        let bone = |(index, name): (usize, &&str)| {
            let position = Vec3::new(0.0, 0.1 * index as f32, 0.5) * size;
            let rotation = Quat::from_rotation_x(turn * index as f32);
            let parent = index.checked_sub(1).map(|parent| parent as u16);
            (name.to_string(), parent, BoneTransform { position, rotation, scale: Vec3::ONE })
        };
        Skeleton::new(names.iter().enumerate().map(bone).collect()).unwrap()
    }

    /// Three seconds of movement of all bones.
    fn source(bones: u16) -> SourceClip {
        let times: Vec<f32> = (0..31).map(|key| key as f32 / 10.0).collect();
        let mut tracks = Vec::new();
        for bone in 0..bones {
            let angle = |time: &f32| (time * 3.0 + f32::from(bone)).sin();
            let rotations =
                times.iter().map(|time| Quat::from_rotation_z(angle(time)).to_array()).collect();
            let positions = times.iter().map(|time| [angle(time) * 0.2, *time, 0.5, 0.0]).collect();
            for (property, values) in
                [(TrackProperty::Rotation, rotations), (TrackProperty::Position, positions)]
            {
                let (times, interpolation) = (times.clone(), SourceInterpolation::Linear);
                tracks.push(SourceTrack { bone, property, interpolation, times, values });
            }
        }
        SourceClip { seconds: 3.0, tracks }
    }

    fn pose(clip: &Clip, skeleton: &Skeleton, time: f32) -> Pose {
        let mut player = ClipPlayer::new(clip, skeleton);
        let mut pose = Pose::default();
        player.seek(clip, time);
        player.sample(&Pose::rest(skeleton), &mut pose);
        pose
    }

    #[test]
    fn compiled_clips_move_like_clips_that_were_retargeted_before() {
        let theirs = rig(&["root", "Hips", "tail", "spine"], 1.0, 0.0);
        let ours = rig(&["root", "spine", "pelvis"], 0.5, 0.3);
        let names = [("Hips".to_string(), "pelvis".to_string())];
        let settings = ClipSettings {
            jump_seconds: 0.4,
            tolerance: 1e-5,
            looping: true,
            ..ClipSettings::DEFAULT
        };
        let compiled = compile(&source(4), &theirs, &settings).unwrap().clip;
        let clip = compiled.retargeted(&theirs, &ours, &names).unwrap();
        assert_eq!(read_clip(&clip.write()).unwrap(), clip, "the result is a valid clip");
        assert!(clip.is_looping());
        assert_eq!((clip.bone_count(), clip.animated_bones()), (3, vec![0, 1, 2]));
        let exact = retarget(&source(4), &theirs, &ours, &names).unwrap();
        let exact = compile(&exact, &ours, &settings).unwrap().clip;
        for time in [0.0, 0.35, 1.23, 2.9, 3.0] {
            let (a, b) = (pose(&clip, &ours, time), pose(&exact, &ours, time));
            for bone in 0..3 {
                let (a, b) = (a.transform(bone), b.transform(bone));
                assert!((a.position - b.position).length() < 1e-3, "{time} {bone}: {a:?} {b:?}");
                assert!(a.rotation.dot(b.rotation).abs() > 0.9999, "{time} {bone}: {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn root_motion_follows_the_size() {
        let (theirs, ours) = (rig(&["root", "b"], 1.0, 0.0), rig(&["root", "b"], 2.0, 0.0));
        let settings = ClipSettings { root_motion: RootMotion::Xy, ..ClipSettings::DEFAULT };
        let clip = compile(&source(2), &theirs, &settings).unwrap().clip;
        let other = clip.retargeted(&theirs, &ours, &[]).unwrap();
        let (a, b) = (clip.root_delta(0.0, 3.0, 0), other.root_delta(0.0, 3.0, 0));
        assert!((a.position.y - 3.0).abs() < 0.01, "{a:?}");
        assert!((b.position - a.position * 2.0).length() < 1e-3, "{a:?} {b:?}");
    }

    #[test]
    fn unsuitable_skeletons_are_refused() {
        let theirs = rig(&["root", "hips"], 1.0, 0.0);
        let clip = compile(&source(2), &theirs, &ClipSettings::DEFAULT).unwrap().clip;
        let refusal = |theirs: &Skeleton, ours: &Skeleton| {
            clip.retargeted(theirs, ours, &[]).unwrap_err().message
        };
        let other = rig(&["base", "hip"], 1.0, 0.0);
        let message = refusal(&theirs, &other);
        assert!(message.contains("no animated bone exists"), "{message}");
        let message = refusal(&rig(&["a"], 1.0, 0.0), &other);
        assert_eq!(message, "the clip has 2 bones, and its skeleton 1");
        let message = refusal(&theirs, &rig(&["root", "hips"], 1e9, 0.0));
        assert!(message.contains("differ too much in size"), "{message}");
    }
}
