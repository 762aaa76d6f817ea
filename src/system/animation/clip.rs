//! Compiled form of a clip: its tracks, the keys of all tracks in the order in which they are
//! needed, and the jump frames.
//!
//! A key is a track number of 15 bits with the sign of a rotation's real part, a time in ticks, and
//! three components. The first two keys of each track come first. Key i of a track is needed at the
//! time of key i - 1, because the player interpolates between two keys.

use super::quantization::{KeyBits, QuantizedValue, TrackRange};
use super::skeleton::BONES_MAX;
use super::source::TrackProperty;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::{Error, Quat, Vec3, Vec4, error};

/// Version of the compiled form. A change of this number recompiles every clip.
pub const VERSION: u32 = 1;
const MAGIC: [u8; 4] = *b"CLIP";
/// Last tick of every clip.
pub const LAST_TICK: u16 = u16::MAX;
/// Maximum length of a clip in seconds: a tick is then 9 milliseconds long.
pub const CLIP_SECONDS_MAX: f32 = 600.0;
/// Bit of a key's track number: the real part of the rotation is negative.
const NEGATIVE: u16 = 1 << 15;

const PROPERTIES: [TrackProperty; 3] =
    [TrackProperty::Rotation, TrackProperty::Position, TrackProperty::Scale];

/// Track: the keys of one property of one bone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Track {
    pub bone: u16,
    pub property: TrackProperty,
    pub bits: KeyBits,
    /// True if a value is held until the next key.
    pub step: bool,
    pub range: TrackRange,
}

impl Track {
    fn key_bytes(&self) -> usize {
        4 + 3 * self.bits.bytes_per_component()
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

/// Clip of a skeleton.
#[derive(Clone, PartialEq, Debug)]
pub struct Clip {
    pub seconds: f32,
    pub(crate) bones: u16,
    /// Sorted by property and bone.
    pub(crate) tracks: Vec<Track>,
    pub(crate) stream: Vec<u8>,
    /// The first one has tick 0.
    pub(crate) jump_frames: Vec<JumpFrame>,
}

/// Sizes of a clip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipStats {
    pub tracks: usize,
    pub keys: usize,
    pub stream_bytes: usize,
    pub jump_frames: usize,
}

impl Clip {
    pub fn bone_count(&self) -> usize {
        usize::from(self.bones)
    }

    /// Returns the bones that have keys, sorted.
    pub fn animated_bones(&self) -> Vec<u16> {
        let mut bones: Vec<u16> = self.tracks.iter().map(|track| track.bone).collect();
        bones.sort_unstable();
        bones.dedup();
        bones
    }

    /// Returns the length of a tick in seconds.
    pub fn tick_seconds(&self) -> f32 {
        self.seconds / f32::from(LAST_TICK)
    }

    pub fn stats(&self) -> ClipStats {
        let mut keys = self.tracks.len() * 2;
        let mut offset = 0;
        while let Some((_, next)) = self.key_at(offset) {
            (keys, offset) = (keys + 1, next);
        }
        ClipStats {
            tracks: self.tracks.len(),
            keys,
            stream_bytes: self.stream.len(),
            jump_frames: self.jump_frames.len(),
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
        let size = track.bits.bytes_per_component();
        let end = offset + track.key_bytes();
        let stored = self.stream.get(offset + 4..end)?;
        let component = |axis: usize| {
            let bytes = &stored[axis * size..(axis + 1) * size];
            bytes.iter().rev().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte))
        };
        let value = QuantizedValue {
            components: [component(0), component(1), component(2)],
            negative: word & NEGATIVE != 0,
        };
        let tick = u16::from_le_bytes([head[2], head[3]]);
        Some((Key { track: number, tick, value }, end))
    }

    /// Returns the value of a key.
    #[inline]
    pub(crate) fn restore(&self, key: Key) -> Vec4 {
        let track = &self.tracks[usize::from(key.track)];
        track.range.restore(track.property, track.bits, key.value)
    }

    /// Returns the clip in its compiled form.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        let float = |writer: &mut BlobWriter, value: f32| writer.u32(value.to_bits());
        float(&mut writer, self.seconds);
        writer.u32(u32::from(self.bones));
        writer.list(&self.tracks, |writer, track| {
            writer.u32(u32::from(track.bone));
            writer.u8(PROPERTIES.iter().position(|it| *it == track.property).unwrap_or(0) as u8);
            writer.u8(KeyBits::ALL.iter().position(|it| *it == track.bits).unwrap_or(0) as u8);
            writer.u8(u8::from(track.step));
            let TrackRange { mean, least, extent } = track.range;
            mean.to_array().iter().for_each(|value| float(writer, *value));
            least.to_array().iter().for_each(|value| float(writer, *value));
            extent.to_array().iter().for_each(|value| float(writer, *value));
        });
        writer.bytes(&self.stream);
        writer.list(&self.jump_frames, |writer, frame| {
            writer.u32(u32::from(frame.tick));
            writer.u32(frame.offset);
            let mut keys = Vec::new();
            for key in frame.keys.as_flattened() {
                append_key(&mut keys, &self.tracks[usize::from(key.track)], *key);
            }
            writer.bytes(&keys);
        });
        writer.into_frame(MAGIC, VERSION)
    }
}

/// Appends a key in its stored form.
pub fn append_key(stream: &mut Vec<u8>, track: &Track, key: Key) {
    let sign = if key.value.negative { NEGATIVE } else { 0 };
    stream.extend((key.track | sign).to_le_bytes());
    stream.extend(key.tick.to_le_bytes());
    for component in key.value.components {
        stream.extend(&component.to_le_bytes()[..track.bits.bytes_per_component()]);
    }
}

/// Reads the compiled form of a clip. Everything that a player relies on is checked.
pub fn read(bytes: &[u8]) -> Result<Clip, Error> {
    let mut reader = BlobReader::new(unframe(bytes, MAGIC, VERSION)?);
    let seconds = reader.finite()?;
    if !(0.0..=CLIP_SECONDS_MAX).contains(&seconds) {
        return Err(error!("it is damaged: the clip has {seconds} seconds"));
    }
    let bones = reader.u32()?;
    if bones == 0 || bones as usize > BONES_MAX {
        return Err(error!("it is damaged: the clip has {bones} bones"));
    }
    let bones = bones as u16;
    let tracks = reader.list(|reader| read_track(reader, bones))?;
    let sorted =
        |pair: &[Track]| (pair[0].property, pair[0].bone) < (pair[1].property, pair[1].bone);
    if !tracks.windows(2).all(sorted) {
        return Err(error!("it is damaged: the tracks of the clip are not sorted"));
    }
    let stream = reader.bytes()?.to_vec();
    let mut clip = Clip { seconds, bones, tracks, stream, jump_frames: Vec::new() };
    clip.jump_frames = reader.list(|reader| {
        let tick = reader.u32()?;
        let offset = reader.u32()?;
        let keys = reader.bytes()?.to_vec();
        let tick = u16::try_from(tick).map_err(|_| damaged("the time of a jump frame"))?;
        Ok(JumpFrame { tick, offset, keys: jump_keys(&clip, keys)? })
    })?;
    check_jump_frames(&clip)?;
    check_stream(&clip)?;
    Ok(clip)
}

fn damaged(subject: &str) -> Error {
    error!("it is damaged: {subject} is not valid")
}

fn read_track(reader: &mut BlobReader, bones: u16) -> Result<Track, Error> {
    let bone = reader.u32()?;
    if bone >= u32::from(bones) {
        return Err(error!("it is damaged: a track of the clip names bone {bone} of {bones}"));
    }
    let property = reader.choice(&PROPERTIES)?;
    let bits = reader.choice(&KeyBits::ALL)?;
    let step = reader.flag()?;
    let mut numbers = [0.0; 10];
    for number in &mut numbers {
        *number = reader.finite()?;
    }
    let [x, y, z, w, numbers @ ..] = numbers;
    let range = TrackRange {
        mean: Quat::from_xyzw(x, y, z, w),
        least: Vec3::new(numbers[0], numbers[1], numbers[2]),
        extent: Vec3::new(numbers[3], numbers[4], numbers[5]),
    };
    Ok(Track { bone: bone as u16, property, bits, step, range })
}

/// Reads the keys of a jump frame: two for each track, in the order of the tracks.
fn jump_keys(clip: &Clip, keys: Vec<u8>) -> Result<Vec<[Key; 2]>, Error> {
    let tracks = clip.tracks.clone();
    let holder = Clip { stream: keys, tracks, jump_frames: Vec::new(), ..*clip };
    let mut pairs = Vec::with_capacity(holder.tracks.len());
    let mut offset = 0;
    for track in 0..holder.tracks.len() {
        let mut next = || {
            let (key, end) = holder.key_at(offset).ok_or_else(|| damaged("a jump frame"))?;
            offset = end;
            match usize::from(key.track) == track {
                true => Ok(key),
                false => Err(damaged("the order of a jump frame")),
            }
        };
        let pair = [next()?, next()?];
        if pair[0].tick > pair[1].tick {
            return Err(damaged("the times of a jump frame"));
        }
        pairs.push(pair);
    }
    match offset == holder.stream.len() {
        true => Ok(pairs),
        false => Err(damaged("the size of a jump frame")),
    }
}

fn check_jump_frames(clip: &Clip) -> Result<(), Error> {
    let first = clip.jump_frames.first().ok_or_else(|| damaged("the list of jump frames"))?;
    let sorted = clip.jump_frames.windows(2).all(|pair| pair[0].tick < pair[1].tick);
    if first.tick != 0 || first.offset != 0 || !sorted {
        return Err(damaged("the order of the jump frames"));
    }
    Ok(())
}

/// Checks that the keys of each track are in order, and that jump frames start at keys.
fn check_stream(clip: &Clip) -> Result<(), Error> {
    let mut ends: Vec<u16> = clip.jump_frames[0].keys.iter().map(|pair| pair[1].tick).collect();
    let mut offset = 0;
    let mut due = 0;
    let mut starts = clip.jump_frames.iter().map(|frame| frame.offset as usize).peekable();
    loop {
        while starts.next_if_eq(&offset).is_some() {}
        if offset == clip.stream.len() {
            break;
        }
        let (key, next) = clip.key_at(offset).ok_or_else(|| damaged("a key of the clip"))?;
        let end = &mut ends[usize::from(key.track)];
        if key.tick < *end || *end < due {
            return Err(damaged("the order of the keys"));
        }
        (due, *end, offset) = (*end, key.tick, next);
    }
    match starts.next() {
        None => Ok(()),
        Some(_) => Err(damaged("the offset of a jump frame")),
    }
}
