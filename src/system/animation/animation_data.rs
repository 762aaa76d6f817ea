//! Compiled form of an `.animation` file: the clip, and the skeleton that it was compiled for. A
//! character with another skeleton plays the clip by the names of its bones.
//!
//! The data is a head, which is a frame, and the chunks of a streamed clip behind it. Head and
//! chunks have checksums of their own, so that each can be read without the rest.

use super::clip::Clip;
use super::clip_chunks::{CHUNKS_MAX, ChunkState, ClipChunks, check_starts};
use super::clip_data;
use super::retarget::UnmatchedBones;
use super::skeleton::{BONES_MAX, Skeleton};
use engine_foundation::blob::{BlobReader, BlobWriter, FRAME_BYTES, unframe};
use engine_foundation::{Error, error};
use std::ops::Range;
use std::sync::Arc;

/// Version of the compiled form. A change of this number recompiles every animation.
pub const ANIMATION_VERSION: u32 = clip_data::VERSION << 8 | 6;
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
    /// Line of `root_motion` in the file, for warnings; 0 if the file does not have it.
    pub root_line: u32,
    /// Animated bones of the source that `skeleton` does not have.
    pub unmatched: Vec<String>,
    /// Warning of the compilation: a bone is not within its tolerance, or many are not in the
    /// skeleton. Empty if there is none.
    pub warning: String,
}

/// The head of an animation: all of it except for the chunks of a streamed clip.
#[derive(Debug)]
pub struct AnimationHead {
    /// The animation. The clip has no tracks if it is streamed.
    pub data: AnimationData,
    /// Start in seconds of each chunk; none if the clip is not streamed.
    starts: Vec<f32>,
    /// Position of the end of the head, and of that of each chunk.
    ends: Vec<u64>,
}

impl AnimationHead {
    /// Returns the bytes of the head of an animation from its first [`FRAME_BYTES`] bytes.
    ///
    /// # Errors
    /// Fails if there are fewer.
    pub fn byte_count(start: &[u8]) -> Result<u64, Error> {
        let length = start.get(8..16).filter(|_| start.len() >= FRAME_BYTES);
        let length = length.and_then(|length| length.try_into().ok()).map(u64::from_le_bytes);
        length
            .and_then(|length| length.checked_add(FRAME_BYTES as u64))
            .ok_or_else(|| error!("it is cut short: {} bytes", start.len()))
    }

    /// Reads the head. Everything that a player relies on is checked.
    ///
    /// # Errors
    /// Fails if it is damaged.
    pub fn read(bytes: &[u8]) -> Result<AnimationHead, Error> {
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
        let root_line = reader.u32()?;
        let unmatched = reader
            .list_at_most((BONES_MAX, "BONES_MAX"), |reader| Ok(reader.text()?.to_string()))?;
        let warning = reader.text()?.to_string();
        let chunks = reader.list_at_most((CHUNKS_MAX, "CHUNKS_MAX"), |reader| {
            Ok((reader.finite()?, reader.u32()?))
        })?;
        if !reader.is_done() {
            return Err(error!("it is damaged: the size of the animation is not valid"));
        }
        let mut ends = vec![bytes.len() as u64];
        for (_, bytes) in &chunks {
            ends.push(ends[ends.len() - 1] + u64::from(*bytes));
        }
        let starts: Vec<f32> = chunks.iter().map(|(start, _)| *start).collect();
        if !starts.is_empty() {
            check_starts(&starts, clip.seconds)?;
        }
        let data = AnimationData { source, skeleton, clip, names, root_line, unmatched, warning };
        Ok(AnimationHead { data, starts, ends })
    }

    /// Returns true if the clip is in chunks.
    pub fn is_streamed(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Returns the size of the whole animation in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.ends[self.starts.len()]
    }

    /// Returns the position of a chunk in the data.
    pub fn range(&self, chunk: usize) -> Range<u64> {
        self.ends[chunk]..self.ends[chunk + 1]
    }

    /// Returns the start and the end of a chunk in seconds.
    pub fn times(&self, chunk: usize) -> (f32, f32) {
        let end = self.starts.get(chunk + 1).copied().unwrap_or(self.data.clip.seconds);
        (self.starts[chunk], end)
    }

    /// Reads a chunk, for the skeleton of the animation.
    ///
    /// # Errors
    /// Fails if the chunk is damaged.
    pub fn read_chunk(&self, chunk: usize, bytes: &[u8]) -> Result<Clip, Error> {
        let (clip, (start, end)) = (clip_data::read(bytes)?, self.times(chunk));
        if !clip.is_chunk_of(&self.data.clip, start, end) {
            return Err(error!("it is damaged: a chunk is not of its animation"));
        }
        Ok(clip)
    }

    /// Returns the streamed clip for characters with a skeleton, with its first chunk for the same
    /// skeleton.
    ///
    /// # Errors
    /// Fails as [`AnimationData::fit`] does.
    pub fn fit(&self, first: Clip, ours: &Skeleton) -> Result<Clip, Error> {
        let chunks = ClipChunks::new(self.starts.clone(), first, ours.clone());
        Ok(self.data.fit_clip(&self.data.clip, ours)?.with_chunks(chunks))
    }
}

impl AnimationData {
    /// Returns the compiled form. All chunks of a streamed clip have to be in memory.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.text(&self.source);
        self.skeleton.write(&mut writer);
        writer.bytes(&self.clip.write());
        writer.list(&self.names, |writer, (name, other)| {
            writer.text(name);
            writer.text(other);
        });
        writer.u32(self.root_line);
        writer.list(&self.unmatched, |writer, name| writer.text(name));
        writer.text(&self.warning);
        let table = self.clip.chunks();
        let written: Vec<(f32, Vec<u8>)> = table.map_or_else(Vec::new, |table| {
            let chunks = table.all_resident().into_iter().enumerate();
            chunks.map(|(index, chunk)| (table.start(index), chunk.write())).collect()
        });
        writer.list(&written, |writer, (start, bytes)| {
            clip_data::write_float(writer, start);
            writer.u32(bytes.len() as u32);
        });
        let mut bytes = writer.into_frame(MAGIC, ANIMATION_VERSION);
        written.into_iter().for_each(|(_, chunk)| bytes.extend(chunk));
        bytes
    }

    /// Reads the compiled form, with all chunks. Everything that a player relies on is checked.
    ///
    /// # Errors
    /// Fails if the data is damaged.
    pub fn read(bytes: &[u8]) -> Result<AnimationData, Error> {
        let cut_short = || error!("it is cut short or too long: {} bytes", bytes.len());
        let end = usize::try_from(AnimationHead::byte_count(bytes)?).map_err(|_| cut_short())?;
        let head = AnimationHead::read(bytes.get(..end).ok_or_else(cut_short)?)?;
        if head.total_bytes() != bytes.len() as u64 {
            return Err(cut_short());
        }
        if !head.is_streamed() {
            return Ok(head.data);
        }
        let skeleton = &head.data.skeleton;
        let read = |chunk: usize| {
            let range = head.range(chunk);
            head.read_chunk(chunk, &bytes[range.start as usize..range.end as usize])
        };
        let clip = head.fit(read(0)?, skeleton)?;
        if let Some(table) = clip.chunks() {
            for chunk in 1..table.count() {
                table.set(chunk, ChunkState::Resident(Arc::new(read(chunk)?)));
            }
        }
        Ok(AnimationData { clip, ..head.data })
    }

    /// Returns the animated bones that another skeleton does not have.
    pub fn unmatched_with(&self, skeleton: &Skeleton) -> UnmatchedBones {
        self.clip.unmatched_bones(&self.skeleton, skeleton, &self.names)
    }

    /// Returns the clip for characters with a skeleton.
    ///
    /// # Errors
    /// Fails if the skeleton differs, and lacks the animated bones or a bone of `names`.
    pub fn fit(&self, skeleton: &Skeleton) -> Result<Clip, Error> {
        self.fit_clip(&self.clip, skeleton)
    }

    /// Returns a clip of the skeleton of the animation, such as a chunk, for characters with
    /// another skeleton.
    ///
    /// # Errors
    /// Fails as [`AnimationData::fit`] does.
    pub fn fit_clip(&self, clip: &Clip, skeleton: &Skeleton) -> Result<Clip, Error> {
        match self.skeleton == *skeleton {
            true => Ok(clip.clone()),
            false => clip.retargeted(&self.skeleton, skeleton, &self.names),
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
        AnimationData {
            source,
            skeleton,
            clip,
            names,
            root_line: 7,
            unmatched: vec!["tail".to_string()],
            warning: "it differs".to_string(),
        }
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
