//! Compiled form of an `.animation` file: the clip, and the skeleton that it was compiled for. A
//! character with another skeleton plays the clip by the names of its bones.

use super::clip::Clip;
use super::clip_data;
use super::skeleton::{BONES_MAX, Skeleton};
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::{Error, error};

/// Version of the compiled form. A change of this number recompiles every animation.
pub const ANIMATION_VERSION: u32 = clip_data::VERSION << 8 | 1;
const MAGIC: [u8; 4] = *b"ANIM";

/// Animation that characters of several skeletons can play.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimationData {
    /// File and animation that it was compiled from, for messages: `models/orc.gltf#Walk`.
    pub source: String,
    pub skeleton: Skeleton,
    pub clip: Clip,
    /// Names of bones of `skeleton`, and those of other skeletons.
    pub names: Vec<(String, String)>,
}

impl AnimationData {
    /// Returns the compiled form.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.text(&self.source);
        self.skeleton.write(&mut writer);
        writer.bytes(&self.clip.write());
        writer.list(&self.names, |writer, (name, other)| {
            writer.text(name);
            writer.text(other);
        });
        writer.into_frame(MAGIC, ANIMATION_VERSION)
    }

    /// Reads the compiled form. Everything that a player relies on is checked.
    ///
    /// # Errors
    /// Fails if the data is damaged.
    pub fn read(bytes: &[u8]) -> Result<AnimationData, Error> {
        let mut reader = BlobReader::new(unframe(bytes, MAGIC, ANIMATION_VERSION)?);
        let source = reader.text()?.to_string();
        let skeleton = Skeleton::read(&mut reader)?;
        let clip = clip_data::read(reader.bytes()?)?;
        if clip.bone_count() != skeleton.bone_count() {
            return Err(error!(
                "it is damaged: the clip has {} bones, and the skeleton {}",
                clip.bone_count(),
                skeleton.bone_count()
            ));
        }
        let names = reader.list_at_most((BONES_MAX, "BONES_MAX"), |reader| {
            Ok((reader.text()?.to_string(), reader.text()?.to_string()))
        })?;
        match reader.is_done() {
            true => Ok(AnimationData { source, skeleton, clip, names }),
            false => Err(error!("it is damaged: the size of the animation is not valid")),
        }
    }

    /// Returns the clip for characters with a skeleton.
    ///
    /// # Errors
    /// Fails if the skeleton differs, and lacks the animated bones or a bone of `names`.
    pub fn fit(&self, skeleton: &Skeleton) -> Result<Clip, Error> {
        match self.skeleton == *skeleton {
            true => Ok(self.clip.clone()),
            false => self.clip.retargeted(&self.skeleton, skeleton, &self.names),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BoneTransform, ClipSettings, SourceClip, SourceInterpolation, SourceTrack, TrackProperty,
        compile,
    };

    fn rig(name: &str) -> Skeleton {
        let bone = |name: &str, parent| (name.to_string(), parent, BoneTransform::IDENTITY);
        Skeleton::new(vec![bone("hip", None), bone(name, Some(0))]).unwrap()
    }

    fn data() -> AnimationData {
        let track = SourceTrack {
            bone: 1,
            property: TrackProperty::Position,
            interpolation: SourceInterpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![[0.0; 4], [1.0, 2.0, 3.0, 0.0]],
        };
        let source = SourceClip { seconds: 1.0, tracks: vec![track] };
        let skeleton = rig("head");
        let clip = compile(&source, &skeleton, &ClipSettings::DEFAULT).unwrap().clip;
        let names = vec![("head".to_string(), "skull".to_string())];
        let source = "a.gltf#Nod".to_string();
        AnimationData { source, skeleton, clip, names }
    }

    #[test]
    fn data_is_read_as_it_was_written() {
        let bytes = data().write();
        assert_eq!(AnimationData::read(&bytes).unwrap(), data());
        for cut in 0..bytes.len() {
            assert!(AnimationData::read(&bytes[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn every_damaged_byte_is_refused_or_gives_valid_data() {
        let bytes = data().write();
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x41;
            assert!(AnimationData::read(&damaged).is_err(), "the checksum covers byte {index}");
        }
    }

    #[test]
    fn other_skeletons_play_it_by_names() {
        let data = data();
        assert_eq!(data.fit(&rig("head")).unwrap(), data.clip);
        assert_eq!(data.fit(&rig("skull")).unwrap().animated_bones(), [1]);
        let message = data.fit(&rig("skul")).unwrap_err().message;
        assert!(message.contains("'skull'"), "{message}");
        assert!(message.contains("did you mean 'skul'"), "{message}");
    }
}
