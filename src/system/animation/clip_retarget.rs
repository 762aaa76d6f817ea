//! Retargeting of compiled clips: a clip of one skeleton becomes one of another skeleton. Keys are
//! fractions of the range of their track, or steps of a size, so that the ranges and the sizes
//! change and the keys do not.

use super::clip::{Clip, Key, Track};
use super::clip_data::{VALUE_MAX, append_key};
use super::constant_track::{ConstantTrack, Constants};
use super::rest_tracks::RestTracks;
use super::retarget::{BoneChange, UnmatchedBones, bone_map, no_counterpart, size_ratio};
use super::root_motion::RootTrack;
use super::skeleton::Skeleton;
use super::source::TrackProperty;
use super::uniform_track::{STEPS_MAX, UniformTrack, UniformTracks, UniformValue};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::{Error, Quat, Vec3, Vec4, error};
use std::collections::{BTreeMap, BTreeSet};

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
        let map = bone_map(theirs, ours, names)?;
        let size = size_ratio(theirs, ours);
        Retarget::new(self, (theirs, ours), size, map).clip()
    }

    /// Returns the animated bones of the skeleton `theirs` that [`Clip::retargeted`] leaves out.
    pub fn unmatched_bones(
        &self,
        theirs: &Skeleton,
        ours: &Skeleton,
        names: &[(String, String)],
    ) -> UnmatchedBones {
        let constants = self.constants.tracks.iter().map(|track| (track.property, track.bone));
        let keyframes = self.keyframes.tracks.iter().map(|track| (track.property, track.bone));
        let own = self.tracks.iter().map(|track| (track.property, track.bone));
        let all = constants.chain(keyframes).chain(own);
        let moves = all.filter(|(property, _)| *property != TrackProperty::Weight);
        UnmatchedBones::new(&moves.map(|(_, bone)| bone).collect(), (theirs, ours), names)
    }

    /// Returns this clip of a skeleton as one of some of its bones. `bones` has the index of each
    /// bone of `part` in the whole skeleton. Weights of morph targets are left out. Returns `None`
    /// if the clip moves none of the bones.
    ///
    /// # Errors
    /// Returns an error if the clip is streamed or of another skeleton, or cannot be encoded.
    pub fn of_bones(
        &self,
        whole: &Skeleton,
        part: &Skeleton,
        bones: &[u16],
    ) -> Result<Option<Clip>, Error> {
        if self.chunks.is_some() || self.bone_count() != whole.bone_count() {
            return Err(error!("a clip is streamed, or of another skeleton"));
        }
        let constants = self.constants.tracks.iter().map(|track| (track.property, track.bone));
        let keyframes = self.keyframes.tracks.iter().map(|track| (track.property, track.bone));
        let own = self.tracks.iter().map(|track| (track.property, track.bone));
        let moves = |(property, bone): (TrackProperty, u16)| {
            property != TrackProperty::Weight && bones.binary_search(&bone).is_ok()
        };
        if !constants.chain(keyframes).chain(own).any(moves) {
            return Ok(None);
        }
        let map = bones.iter().copied().zip(0..).collect();
        let retarget = Retarget::new(self, (whole, part), 1.0, map);
        Retarget { has_weights: false, ..retarget }.clip().map(Some)
    }
}

impl Retarget<'_> {
    /// Returns the clip of the other skeleton.
    fn clip(mut self) -> Result<Clip, Error> {
        let (source, size, bones) = (self.clip, self.size, self.ours.bone_count());
        let constants = self.constants();
        let keyframes = self.keyframes()?;
        let kept = self.tracks();
        self.finish()?;
        let rests = self.rests();
        let mut clip = Clip {
            seconds: source.seconds,
            features: source.features.clone(),
            constants,
            rests,
            keyframes,
            tracks: kept.iter().map(|(_, track)| *track).collect(),
            jump_ticks: source.jump_ticks,
            ..Clip::empty(bones as u16)
        };
        if let Some(RootTrack { positions, .. }) = &mut clip.features.root {
            positions.iter_mut().for_each(|(_, position)| *position *= size);
        }
        let mut numbers = vec![None; source.tracks.len()];
        for (new, (old, _)) in kept.iter().enumerate() {
            numbers[*old] = Some(new as u16);
        }
        let mut offset = 0;
        while let Some((key, next)) = source.key_at(offset) {
            if let Some(track) = numbers[usize::from(key.track)] {
                let stored = clip.tracks[usize::from(track)];
                append_key(&mut clip.stream, &stored, Key { track, ..key });
            }
            offset = next;
        }
        let first = |(new, (old, _)): (usize, &(usize, Track))| {
            source.jump_frames[0].keys[*old].map(|key| Key { track: new as u16, ..key })
        };
        clip.save_jump_frames(kept.iter().enumerate().map(first).collect())?;
        Ok(clip)
    }
}

/// Retargeting of a clip: the tracks that have counterparts so far.
struct Retarget<'a> {
    clip: &'a Clip,
    theirs: &'a Skeleton,
    ours: &'a Skeleton,
    /// Ratio of the sizes of the skeletons.
    size: f32,
    map: BTreeMap<u16, u16>,
    /// False if constant weights of morph targets are left out.
    has_weights: bool,
    used: BTreeSet<(TrackProperty, u16)>,
    /// First animated bone without a counterpart.
    unknown: Option<u16>,
    /// Track with values that are too large.
    too_large: Option<(TrackProperty, u16)>,
}

impl<'a> Retarget<'a> {
    fn new(
        clip: &'a Clip,
        (theirs, ours): (&'a Skeleton, &'a Skeleton),
        size: f32,
        map: BTreeMap<u16, u16>,
    ) -> Retarget<'a> {
        let (used, unknown, too_large) = (BTreeSet::new(), None, None);
        Retarget { clip, theirs, ours, size, map, has_weights: true, used, unknown, too_large }
    }

    /// Returns the counterpart of a bone that has no other track of the property, and the change.
    fn counterpart(&mut self, property: TrackProperty, bone: u16) -> Option<(u16, BoneChange)> {
        let Some(counterpart) = self.map.get(&bone).copied() else {
            self.unknown = self.unknown.or(Some(bone));
            return None;
        };
        let change = || BoneChange::new((self.theirs, bone), (self.ours, counterpart), self.size);
        self.used.insert((property, counterpart)).then(|| (counterpart, change()))
    }

    /// Notes a track whose values are too large.
    fn check(&mut self, property: TrackProperty, bone: u16, size: f32) {
        if size.is_nan() || size > VALUE_MAX {
            self.too_large = self.too_large.or(Some((property, bone)));
        }
    }

    fn constants(&mut self) -> Constants {
        let mut kept = Vec::new();
        for track in &self.clip.constants.tracks {
            if track.property == TrackProperty::Weight && !self.has_weights {
                continue;
            }
            let Some((bone, change)) = self.counterpart(track.property, track.bone) else {
                continue;
            };
            let value = track.value;
            let vector = value.truncate();
            let value = match track.property {
                TrackProperty::Rotation | TrackProperty::Scale if self.clip.is_additive() => value,
                TrackProperty::Rotation => {
                    Vec4::from((change.turn * Quat::from_vec4(value)).normalize())
                }
                TrackProperty::Position if self.clip.is_additive() => {
                    (vector * change.ratio).extend(0.0)
                }
                TrackProperty::Position => change.position(vector).extend(0.0),
                TrackProperty::Scale => (vector * change.scale).extend(0.0),
                TrackProperty::Weight => value,
            };
            self.check(track.property, bone, value.abs().max_element());
            kept.push(ConstantTrack { bone, value, ..*track });
        }
        kept.sort_compact_by_key(|track| (track.property, track.bone));
        Constants::new(kept)
    }

    fn keyframes(&mut self) -> Result<UniformTracks, Error> {
        let keyframes = &self.clip.keyframes;
        let mut kept: Vec<(UniformTrack, Vec<UniformValue>)> = Vec::new();
        for (track, values) in keyframes.tracks.iter().zip(keyframes.values()) {
            if track.property == TrackProperty::Weight && !self.has_weights {
                continue;
            }
            let Some((bone, change)) = self.counterpart(track.property, track.bone) else {
                continue;
            };
            let mut changed = UniformTrack { bone, ..*track };
            let additive = self.clip.is_additive();
            let mut values = values;
            match track.property {
                TrackProperty::Rotation if additive => {}
                TrackProperty::Rotation => changed.turn(change.turn, &mut values),
                TrackProperty::Position => {
                    changed.origin = match additive {
                        true => track.origin * change.ratio,
                        false => change.position(track.origin),
                    };
                    changed.step *= change.ratio;
                }
                TrackProperty::Scale if additive => {}
                TrackProperty::Scale | TrackProperty::Weight => {
                    changed.origin *= change.scale;
                    changed.step *= change.scale;
                }
            }
            let reach = |value: &UniformValue| {
                let numbers = Vec3::new(value[0] as f32, value[1] as f32, value[2] as f32);
                (changed.origin + changed.step * numbers).abs().max_element()
            };
            let mut most = changed.step.abs().max_element() * STEPS_MAX as f32 / 8.0;
            values.iter().for_each(|value| most = most.max(reach(value)));
            if track.property != TrackProperty::Rotation {
                self.check(track.property, bone, most);
            }
            kept.push((changed, values));
        }
        if self.too_large.is_some() {
            return Ok(UniformTracks::none());
        }
        kept.sort_compact_by_key(|(track, _)| (track.property, track.bone));
        let (tracks, values): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
        UniformTracks::encode(tracks, &values, keyframes.state_keyframes)
    }

    /// Returns the tracks with keys of their own, with their previous numbers, in the order of a
    /// clip.
    fn tracks(&mut self) -> Vec<(usize, Track)> {
        let mut kept: Vec<(usize, Track)> = Vec::new();
        for (number, track) in self.clip.tracks.iter().enumerate() {
            if track.property == TrackProperty::Weight {
                continue;
            }
            let Some((bone, change)) = self.counterpart(track.property, track.bone) else {
                continue;
            };
            let track = self.clip.retargeted_track(track, bone, &change);
            let range = &track.range;
            let size = range.least.abs().max_element().max(range.extent.abs().max_element());
            self.check(track.property, bone, size);
            kept.push((number, track));
        }
        kept.sort_compact_by_key(|(_, track)| (track.property, track.bone));
        kept
    }

    /// Returns the tracks that keep the rest transform, which that of the other skeleton replaces.
    fn rests(&mut self) -> RestTracks {
        let mut kept = Vec::new();
        for (property, bone) in self.clip.rests.tracks.iter().copied() {
            let counterpart = self.map.get(&bone).map(|bone| (property, *bone));
            kept.extend(counterpart.filter(|name| self.used.insert(*name)));
        }
        RestTracks::new(kept)
    }

    fn finish(&self) -> Result<(), Error> {
        if let Some((property, bone)) = self.too_large {
            return Err(error!(
                "the {property:?} of '{}' would be above {VALUE_MAX} (VALUE_MAX): the skeletons \
                 differ too much in size",
                self.ours.names()[usize::from(bone)]
            ));
        }
        match self.unknown {
            Some(bone) if self.used.is_empty() => {
                Err(no_counterpart(&self.theirs.names()[usize::from(bone)], self.ours))
            }
            _ => Ok(()),
        }
    }
}

impl Clip {
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
            looping: Some(true),
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

    #[test]
    fn clips_of_some_bones_move_like_the_whole_clip() {
        let whole = rig(&["root", "hips", "spine", "head"], 1.0, 0.2);
        let mut moves = source(4);
        // The head does not move, and a morph target has the number of the first bone.
        moves.tracks.retain(|track| track.bone != 3);
        moves.tracks.push(SourceTrack {
            bone: 0,
            property: TrackProperty::Weight,
            interpolation: SourceInterpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![[0.0; 4], [1.0; 4]],
        });
        let clip = compile(&moves, &whole, &ClipSettings::DEFAULT).unwrap().clip;
        let part = whole.part(&[0, 1]);
        let few = clip.of_bones(&whole, &part, &[0, 1]).unwrap().unwrap();
        for time in [0.0, 0.7, 2.9] {
            let (all, some) = (pose(&clip, &whole, time), pose(&few, &part, time));
            for bone in 0..2 {
                let (all, some) = (all.transform(bone), some.transform(bone));
                assert!(all.position.distance(some.position) < 1e-4, "{time}: {all:?} {some:?}");
                assert!(all.rotation.dot(some.rotation).abs() > 0.99999, "{time}");
            }
        }
        // Only the morph target and bones that are not in the part.
        moves.tracks.retain(|track| track.bone == 2 || track.property == TrackProperty::Weight);
        let clip = compile(&moves, &whole, &ClipSettings::DEFAULT).unwrap().clip;
        assert!(clip.of_bones(&whole, &part, &[0, 1]).unwrap().is_none());
        let other = rig(&["root"], 1.0, 0.0);
        assert!(clip.of_bones(&other, &other, &[0]).is_err(), "another skeleton");
    }
}
