//! Compiled form of a clip: constant tracks, tracks with a key in every keyframe of regular times
//! (uniform_track.rs), and tracks with keys at times of their own, in the order in which they are
//! needed, with their jump frames.
//!
//! A key of the last kind is a track number of 15 bits with the sign of a rotation's real part, a
//! time in ticks, and three components. The first two keys of each track come first. Key i of a
//! track is needed at the time of key i - 1, because the player interpolates between two keys.

use super::bit_stream::PADDING;
use super::clip_chunks::ClipChunks;
use super::clip_events::ClipEvent;
use super::constant_track::Constants;
use super::quantization::{KeyBits, QuantizedValue, TrackRange};
use super::rest_tracks::RestTracks;
use super::rigid_transform::RigidTransform;
use super::root_motion::RootTrack;
use super::source::TrackProperty;
use super::uniform_track::UniformTracks;
use engine_foundation::{Vec3, Vec4};
use std::sync::Arc;

/// Last tick of every clip.
pub const LAST_TICK: u16 = u16::MAX;
/// Maximum length of a clip in seconds: a tick is then 9 milliseconds long.
pub const CLIP_SECONDS_MAX: f32 = 600.0;
/// Maximum number of morph targets that a clip can animate.
pub const MORPH_TARGETS_MAX: usize = 1024;
/// Bit of a key's track number: the real part of the rotation is negative.
pub(crate) const NEGATIVE: u16 = 1 << 15;

/// Track: the keys of one property of one bone, or of the weight of one morph target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Track {
    /// Index of the bone; for weights, index of the morph target.
    pub bone: u16,
    pub property: TrackProperty,
    pub bits: KeyBits,
    /// True if a value is held until the next key.
    pub step: bool,
    pub range: TrackRange,
    /// Size of a step of each component: that of `bits` in `range`.
    pub step_size: Vec3,
}

impl Track {
    /// Sets the bits of the components of keys.
    pub fn set_bits(&mut self, bits: KeyBits) {
        (self.bits, self.step_size) = (bits, self.range.step_size(bits));
    }

    pub(super) fn key_bytes(&self) -> usize {
        4 + self.property.stored_components() * self.bits.bytes_per_component()
    }
}

/// Key of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    pub track: u16,
    pub tick: u16,
    pub value: QuantizedValue,
}

/// State of a player at a tick: the two keys of each track, and the offset of the next key.
#[derive(Clone, PartialEq, Debug)]
pub struct JumpFrame {
    pub tick: u16,
    pub offset: u32,
    pub keys: Vec<[Key; 2]>,
}

/// Properties of a clip in addition to its keys.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClipFeatures {
    /// See [`super::ClipSettings::looping`].
    pub looping: Option<bool>,
    /// True if poses of the clip are differences that are added to another pose.
    pub additive: bool,
    pub root: Option<RootTrack>,
    /// Seconds from the start of the clip, ascending.
    pub beats: Vec<f32>,
    /// Ascending in time.
    pub events: Vec<ClipEvent>,
    /// Largest measured difference from the source in metres.
    pub error: f32,
    /// Number of keys of the source.
    pub source_keys: u32,
}

/// Clip of a skeleton.
#[derive(Clone, PartialEq, Debug)]
pub struct Clip {
    pub seconds: f32,
    pub(crate) bones: u16,
    pub(crate) features: ClipFeatures,
    pub(super) constants: Constants,
    pub(super) rests: RestTracks,
    pub(super) keyframes: UniformTracks,
    /// Tracks with keys at times of their own, sorted by property and bone.
    pub(crate) tracks: Vec<Track>,
    pub(crate) stream: Vec<u8>,
    /// Ticks between jump frames, and between saved states of keyframes.
    pub(super) jump_ticks: u16,
    /// The first one has tick 0.
    pub(crate) jump_frames: Vec<JumpFrame>,
    /// The tracks of a streamed clip, which has none of its own.
    pub(super) chunks: Option<Arc<ClipChunks>>,
}

/// Sizes of a clip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipStats {
    pub tracks: usize,
    /// Tracks with one value.
    pub constant_tracks: usize,
    /// Tracks that keep the rest transform. They have no values.
    pub rest_tracks: usize,
    /// Tracks with a key in every keyframe.
    pub uniform_tracks: usize,
    /// Number of keyframes.
    pub keyframes: usize,
    pub keys: usize,
    pub stream_bytes: usize,
    pub jump_frames: usize,
    /// Keys of the root track.
    pub root_keys: usize,
}

impl Clip {
    pub fn bone_count(&self) -> usize {
        usize::from(self.bones)
    }

    /// Returns the bones that have keys, sorted. Bones with rest tracks alone are not moved.
    pub fn animated_bones(&self) -> Vec<u16> {
        if let Some(chunks) = &self.chunks {
            return chunks.first().animated_bones();
        }
        let constants = self.constants.tracks.iter().map(|track| track.bone);
        let keyframes = self.keyframes.tracks.iter().map(|track| track.bone);
        // Tracks of weights have the numbers of morph targets.
        let moves = |track: &&Track| track.property != TrackProperty::Weight;
        let own = self.tracks.iter().filter(moves).map(|track| track.bone);
        let mut bones: Vec<u16> = constants.chain(keyframes).chain(own).collect();
        bones.sort_unstable();
        bones.dedup();
        bones
    }

    /// Returns the length of a tick in seconds.
    pub fn tick_seconds(&self) -> f32 {
        self.seconds / f32::from(LAST_TICK)
    }

    /// Returns the sizes. Those of a streamed clip are the sums of the chunks in memory.
    pub fn stats(&self) -> ClipStats {
        if let Some(chunks) = &self.chunks {
            return self.chunk_stats(chunks);
        }
        let mut keys = self.tracks.len() * 2;
        let mut offset = 0;
        while let Some((_, next)) = self.key_at(offset) {
            (keys, offset) = (keys + 1, next);
        }
        let (constants, keyframes) = (self.constants.tracks.len(), &self.keyframes);
        ClipStats {
            tracks: self.tracks.len() + constants + keyframes.tracks.len(),
            constant_tracks: constants,
            rest_tracks: self.rests.tracks.len(),
            uniform_tracks: keyframes.tracks.len(),
            keyframes: keyframes.count as usize,
            keys: keys + constants + keyframes.tracks.len() * keyframes.count as usize,
            stream_bytes: self.stream.len() + keyframes.stream.len().saturating_sub(PADDING),
            jump_frames: self.jump_frames.len().max(keyframes.states.count()),
            root_keys: self
                .features
                .root
                .as_ref()
                .map_or(0, |root| root.positions.len() + root.rotations.len()),
        }
    }

    fn chunk_stats(&self, chunks: &ClipChunks) -> ClipStats {
        let head = Clip { chunks: None, ..self.clone() }.stats();
        let sum = |sum: ClipStats, chunk: ClipStats| ClipStats {
            keyframes: sum.keyframes + chunk.keyframes,
            keys: sum.keys + chunk.keys,
            stream_bytes: sum.stream_bytes + chunk.stream_bytes,
            jump_frames: sum.jump_frames + chunk.jump_frames,
            ..sum
        };
        let all = chunks.all_resident().into_iter().map(|chunk| chunk.stats());
        ClipStats { root_keys: head.root_keys, ..all.reduce(sum).unwrap_or(head) }
    }

    /// Returns the largest difference from the source in metres that the compiler measured.
    pub fn error(&self) -> f32 {
        self.features.error
    }

    /// Returns the number of keys of the source.
    pub fn source_keys(&self) -> u32 {
        self.features.source_keys
    }

    /// Returns the size of the compiled form in bytes, with the chunks that are in memory.
    pub fn byte_count(&self) -> usize {
        let chunks = self.chunks.iter().flat_map(|chunks| chunks.all_resident());
        self.write().len() + chunks.map(|chunk| chunk.byte_count()).sum::<usize>()
    }

    /// Returns the bytes of memory of the keys, about.
    pub fn memory_bytes(&self) -> usize {
        let frame = |frame: &JumpFrame| size_of::<JumpFrame>() + size_of_val(&frame.keys[..]);
        let frames: usize = self.jump_frames.iter().map(frame).sum();
        // The values of constants are also in the layout for players.
        let constants = size_of_val(&self.constants.tracks[..]) * 2;
        let tracks = size_of_val(&self.tracks[..]) + self.stream.len() + frames + constants;
        let tracks = tracks + self.rests.memory_bytes();
        size_of::<Clip>() + tracks + self.keyframes.memory_bytes()
    }

    /// Returns true if poses of the clip are differences, to be added to another pose with
    /// [`super::Pose::add_difference`].
    pub fn is_additive(&self) -> bool {
        self.features.additive
    }

    /// Returns the number of morph targets: 1 above the highest target that the clip animates.
    pub fn weight_count(&self) -> usize {
        if let Some(chunks) = &self.chunks {
            return chunks.first().weight_count();
        }
        let last = self.tracks.last().filter(|track| track.property == TrackProperty::Weight);
        last.map_or(0, |track| usize::from(track.bone) + 1)
    }

    /// Returns true if the clip moves the character by root motion.
    pub fn has_root_motion(&self) -> bool {
        self.features.root.is_some()
    }

    /// Returns the root movement between two times in seconds, relative to the character at the
    /// time `from`. `loops` is how often the end of the clip was crossed, negative in reverse: the
    /// result of [`Clip::step`]. The sum over a sequence of steps depends on its first and last
    /// time alone, so that it is independent of the frame rate. Times that are not within the clip
    /// are limited to it; NaN is 0. Without root motion, nothing moves.
    pub fn root_delta(&self, from: f32, to: f32, loops: i32) -> RigidTransform {
        self.root_delta_in([0.0, self.seconds], from, to, loops)
    }

    /// Returns the root movement between two times in seconds, as [`Clip::root_delta`] does, of a
    /// part of the clip that loops. `range` has the start and the end of the part.
    pub fn root_delta_in(&self, range: [f32; 2], from: f32, to: f32, loops: i32) -> RigidTransform {
        let Some(root) = &self.features.root else { return RigidTransform::IDENTITY };
        let range = range.map(|time| self.tick_at(time));
        root.delta(range, (self.tick_at(from), self.tick_at(to)), loops)
    }

    /// Returns the movement of the root at a time in seconds, relative to its rest transform.
    pub fn root_at(&self, time: f32) -> RigidTransform {
        let root = self.features.root.as_ref();
        root.map_or(RigidTransform::IDENTITY, |root| root.at(self.tick_at(time)))
    }

    /// Returns a time in ticks, with its fraction.
    fn tick_at(&self, time: f32) -> f32 {
        let last = f32::from(LAST_TICK);
        match time > 0.0 && self.seconds > 0.0 {
            true => (time / self.seconds * last).min(last),
            false => 0.0,
        }
    }

    /// Returns the track number and the track of the key at an offset of the stream.
    #[inline]
    pub(crate) fn track_at(&self, offset: usize) -> Option<u16> {
        let head = self.stream.get(offset..offset + 2)?;
        Some(u16::from_le_bytes([head[0], head[1]]) & !NEGATIVE)
    }

    /// Returns the key at an offset of the stream, and the offset of the next one.
    #[inline]
    pub(crate) fn key_at(&self, offset: usize) -> Option<(Key, usize)> {
        let head = self.stream.get(offset..offset + 4)?;
        let word = u16::from_le_bytes([head[0], head[1]]);
        let number = word & !NEGATIVE;
        let track = self.tracks.get(usize::from(number))?;
        let end = offset + track.key_bytes();
        let stored = self.stream.get(offset + 4..end)?;
        let components = match (stored, track.bits) {
            (&[x, y, z], KeyBits::Eight) => [x, y, z].map(u32::from),
            (&[a, b, c, d, e, f], KeyBits::Sixteen) => {
                let word = |low, high| u32::from(u16::from_le_bytes([low, high]));
                [word(a, b), word(c, d), word(e, f)]
            }
            (&[a, b, c, d, e, f, g, h, i], KeyBits::TwentyFour) => {
                let word = |low, middle, high| u32::from_le_bytes([low, middle, high, 0]);
                [word(a, b, c), word(d, e, f), word(g, h, i)]
            }
            // The weight of a morph target.
            _ => {
                let bytes = stored.iter().rev();
                [bytes.fold(0, |sum, byte| sum << 8 | u32::from(*byte)), 0, 0]
            }
        };
        let value = QuantizedValue { components, negative: word & NEGATIVE != 0 };
        let tick = u16::from_le_bytes([head[2], head[3]]);
        Some((Key { track: number, tick, value }, end))
    }

    /// Returns the value of a key.
    #[inline]
    pub(crate) fn restore(&self, key: Key) -> Vec4 {
        let track = &self.tracks[usize::from(key.track)];
        track.range.restore(track.property, track.step_size, key.value)
    }
}
