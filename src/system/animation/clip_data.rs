//! Compiled form of a clip as bytes: written by the compiler, and read with a check of everything
//! that a player relies on.

use super::clip::{
    CLIP_SECONDS_MAX, Clip, ClipFeatures, JumpFrame, Key, LAST_TICK, MORPH_TARGETS_MAX, NEGATIVE,
    Track,
};
use super::clip_events::{BEATS_MAX, ClipEvent, EVENTS_MAX, EventCue, sort_and_check};
use super::clip_uniform_data::{check_properties, read_regular, write_regular};
use super::constant_track::Constants;
use super::quantization::{KeyBits, TrackRange};
use super::rest_tracks::RestTracks;
use super::root_motion::RootTrack;
use super::skeleton::BONES_MAX;
use super::source::TrackProperty;
use super::uniform_track::UniformTracks;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::{Error, Quat, Vec3, error};

/// Version of the compiled form. A change of this number recompiles every clip.
pub const VERSION: u32 = 11;
const MAGIC: [u8; 4] = *b"CLIP";
/// Minimum number of ticks between jump frames.
pub const JUMP_TICKS_MIN: u16 = 64;
/// Maximum size of a component of a position in metres, of a scale, and of a weight.
pub const VALUE_MAX: f32 = 1e6;

/// Settings of the repetition of a clip, by their numbers in the compiled form.
const LOOPS: [Option<bool>; 3] = [None, Some(false), Some(true)];

/// Flags of the parts of a clip that are not empty. The other parts are not stored.
pub const HAS_CONSTANTS: u8 = 1;
pub const HAS_KEYFRAMES: u8 = 1 << 1;
const HAS_KEYS: u8 = 1 << 2;
const HAS_ROOT: u8 = 1 << 3;
const HAS_BEATS: u8 = 1 << 4;
const HAS_EVENTS: u8 = 1 << 5;
const IS_ADDITIVE: u8 = 1 << 6;
const HAS_RESTS: u8 = 1 << 7;

pub(super) const PROPERTIES: [TrackProperty; 4] =
    [TrackProperty::Rotation, TrackProperty::Position, TrackProperty::Scale, TrackProperty::Weight];

impl Clip {
    /// Returns the clip in its compiled form.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        write_float(&mut writer, &self.seconds);
        write_word(&mut writer, self.bones);
        writer.u8(self.parts());
        write_regular(&mut writer, self);
        if !self.rests.tracks.is_empty() {
            self.rests.write(&mut writer);
        }
        write_word(&mut writer, self.jump_ticks);
        self.features.write(&mut writer);
        if !self.tracks.is_empty() {
            self.write_keyed(&mut writer);
        }
        writer.into_frame(MAGIC, VERSION)
    }

    /// Returns the flags of the parts that are not empty.
    fn parts(&self) -> u8 {
        let ClipFeatures { additive, root, beats, events, .. } = &self.features;
        let flags = [
            (HAS_CONSTANTS, !self.constants.tracks.is_empty()),
            (HAS_KEYFRAMES, self.keyframes.count > 0),
            (HAS_KEYS, !self.tracks.is_empty()),
            (HAS_ROOT, root.is_some()),
            (HAS_BEATS, !beats.is_empty()),
            (HAS_EVENTS, !events.is_empty()),
            (IS_ADDITIVE, *additive),
            (HAS_RESTS, !self.rests.tracks.is_empty()),
        ];
        flags.into_iter().filter(|flag| flag.1).fold(0, |parts, flag| parts | flag.0)
    }

    /// Writes the tracks with keys at times of their own.
    fn write_keyed(&self, writer: &mut BlobWriter) {
        writer.list(&self.tracks, |writer, track| {
            writer.u32(u32::from(track.bone));
            writer.u8(PROPERTIES.iter().position(|it| *it == track.property).unwrap_or(0) as u8);
            writer.u8(KeyBits::ALL.iter().position(|it| *it == track.bits).unwrap_or(0) as u8);
            writer.u8(u8::from(track.step));
            let TrackRange { mean, least, extent } = track.range;
            mean.to_array().iter().for_each(|value| write_float(writer, value));
            least.to_array().iter().for_each(|value| write_float(writer, value));
            extent.to_array().iter().for_each(|value| write_float(writer, value));
        });
        writer.bytes(&self.stream);
        let mut keys = Vec::new();
        for key in self.jump_frames.first().map_or(&[][..], |frame| frame.keys.as_flattened()) {
            append_key(&mut keys, &self.tracks[usize::from(key.track)], *key);
        }
        writer.bytes(&keys);
    }
}

pub(super) fn write_word(writer: &mut BlobWriter, word: u16) {
    word.to_le_bytes().into_iter().for_each(|byte| writer.u8(byte));
}

pub(super) fn read_word(reader: &mut BlobReader) -> Result<u16, Error> {
    Ok(u16::from_le_bytes([reader.u8()?, reader.u8()?]))
}

pub(super) fn write_float(writer: &mut BlobWriter, value: &f32) {
    writer.u32(value.to_bits());
}

impl ClipFeatures {
    fn write(&self, writer: &mut BlobWriter) {
        writer.u8(LOOPS.iter().position(|it| *it == self.looping).unwrap_or(0) as u8);
        if let Some(RootTrack { positions, rotations }) = &self.root {
            writer.list(positions, |writer, (tick, position)| {
                writer.u32(u32::from(*tick));
                position.to_array().iter().for_each(|value| write_float(writer, value));
            });
            writer.list(rotations, |writer, (tick, rotation)| {
                writer.u32(u32::from(*tick));
                rotation.to_array().iter().for_each(|value| write_float(writer, value));
            });
        }
        if !self.beats.is_empty() {
            writer.list(&self.beats, write_float);
        }
        if !self.events.is_empty() {
            writer.list(&self.events, |writer, ClipEvent { name, time, cue, line }| {
                writer.text(name);
                write_float(writer, time);
                cue.write(writer);
                writer.u32(*line);
            });
        }
        write_float(writer, &self.error);
        writer.u32(self.source_keys);
    }

    fn read(reader: &mut BlobReader, parts: u8, seconds: f32) -> Result<ClipFeatures, Error> {
        let looping = reader.choice(&LOOPS)?;
        let additive = parts & IS_ADDITIVE != 0;
        let root = if parts & HAS_ROOT != 0 { Some(read_root(reader)?) } else { None };
        let (mut beats, mut events) = (Vec::new(), Vec::new());
        if parts & HAS_BEATS != 0 {
            beats = reader.list_at_most((BEATS_MAX, "BEATS_MAX"), BlobReader::finite)?;
        }
        if parts & HAS_EVENTS != 0 {
            events = reader.list_at_most((EVENTS_MAX, "EVENTS_MAX"), |reader| {
                let (name, time) = (reader.text()?.to_string(), reader.finite()?);
                Ok(ClipEvent { name, time, cue: EventCue::read(reader)?, line: reader.u32()? })
            })?;
        }
        sort_and_check(seconds, &mut beats, &mut events)
            .map_err(|error| error!("it is damaged: {}", error.message))?;
        let (error, source_keys) = (reader.finite()?, reader.u32()?);
        Ok(ClipFeatures { looping, additive, root, beats, events, error, source_keys })
    }
}

fn read_root(reader: &mut BlobReader) -> Result<RootTrack, Error> {
    let most = (usize::from(LAST_TICK) + 1, "LAST_TICK");
    let positions = reader.list_at_most(most, |reader| {
        let tick = read_tick(reader)?;
        let position = Vec3::new(reader.finite()?, reader.finite()?, reader.finite()?);
        match position.abs().max_element() <= VALUE_MAX {
            true => Ok((tick, position)),
            false => Err(damaged("a position of the root track")),
        }
    })?;
    let rotations = reader.list_at_most(most, |reader| {
        let tick = read_tick(reader)?;
        let [x, y, z, w] = [reader.finite()?, reader.finite()?, reader.finite()?, reader.finite()?];
        let rotation = Quat::from_xyzw(x, y, z, w);
        match (0.9..1.1).contains(&rotation.length_squared()) {
            true => Ok((tick, rotation)),
            false => Err(damaged("a rotation of the root track")),
        }
    })?;
    let ascending = positions.windows(2).all(|pair| pair[0].0 < pair[1].0)
        && rotations.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let first = positions.first().map(|key| key.0) == Some(0)
        && rotations.first().map(|key| key.0) == Some(0);
    match ascending && first {
        true => Ok(RootTrack { positions, rotations }),
        false => Err(damaged("the order of the root track")),
    }
}

fn read_tick(reader: &mut BlobReader) -> Result<u16, Error> {
    u16::try_from(reader.u32()?).map_err(|_| damaged("a time"))
}

/// Appends a key in its stored form.
pub fn append_key(stream: &mut Vec<u8>, track: &Track, key: Key) {
    let sign = if key.value.negative { NEGATIVE } else { 0 };
    stream.extend((key.track | sign).to_le_bytes());
    stream.extend(key.tick.to_le_bytes());
    for component in &key.value.components[..track.property.stored_components()] {
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
    let bones = read_word(&mut reader)?;
    if bones == 0 || usize::from(bones) > BONES_MAX {
        return Err(error!("it is damaged: the clip has {bones} bones"));
    }
    let parts = reader.u8()?;
    let (constants, uniform_parts) = read_regular(&mut reader, parts, (bones, seconds))?;
    let rests = match parts & HAS_RESTS != 0 {
        true => RestTracks::read(&mut reader, bones)?,
        false => RestTracks::default(),
    };
    let jump_ticks = read_word(&mut reader)?.max(JUMP_TICKS_MIN);
    let features = ClipFeatures::read(&mut reader, parts, seconds)?;
    let keyframes = uniform_parts.into_keyframes(jump_ticks)?;
    let mut clip =
        Clip { seconds, features, constants, rests, keyframes, jump_ticks, ..Clip::empty(bones) };
    let mut keys = Vec::new();
    if parts & HAS_KEYS != 0 {
        clip.tracks = reader.list(|reader| read_track(reader, bones))?;
        let sorted =
            |pair: &[Track]| (pair[0].property, pair[0].bone) < (pair[1].property, pair[1].bone);
        if !clip.tracks.windows(2).all(sorted) {
            return Err(error!("it is damaged: the tracks of the clip are not sorted"));
        }
        clip.stream = reader.bytes()?.to_vec();
        keys = first_keys(&clip, reader.bytes()?.to_vec())?;
    }
    clip.save_jump_frames(keys)?;
    check_properties(&clip)?;
    match reader.is_done() {
        true => Ok(clip),
        false => Err(damaged("the size of the clip")),
    }
}

pub(super) fn damaged(subject: &str) -> Error {
    error!("it is damaged: {subject} is not valid")
}

fn read_track(reader: &mut BlobReader, bones: u16) -> Result<Track, Error> {
    let bone = reader.u32()?;
    let property = reader.choice(&PROPERTIES)?;
    let count = if property == TrackProperty::Weight { MORPH_TARGETS_MAX } else { bones.into() };
    if bone as usize >= count {
        return Err(error!("it is damaged: a track of the clip names bone {bone} of {count}"));
    }
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
    let most = if property == TrackProperty::Rotation { 2.0 } else { 2.0 * VALUE_MAX };
    let inside = [range.least, range.extent].iter().all(|it| it.abs().max_element() <= most);
    if !inside || !(0.9..1.1).contains(&range.mean.length_squared()) {
        return Err(damaged("the range of a track"));
    }
    let step_size = range.step_size(bits);
    Ok(Track { bone: bone as u16, property, bits, step, range, step_size })
}

/// Reads the first keys: two for each track, in the order of the tracks.
fn first_keys(clip: &Clip, keys: Vec<u8>) -> Result<Vec<[Key; 2]>, Error> {
    let holder = Clip { tracks: clip.tracks.clone(), stream: keys, ..Clip::empty(clip.bones) };
    let mut pairs = Vec::with_capacity(holder.tracks.len());
    let mut offset = 0;
    for track in 0..holder.tracks.len() {
        let mut next = || {
            let (key, end) = holder.key_at(offset).ok_or_else(|| damaged("a first key"))?;
            offset = end;
            match usize::from(key.track) == track {
                true => Ok(key),
                false => Err(damaged("the order of the first keys")),
            }
        };
        let pair = [next()?, next()?];
        if pair[0].tick > pair[1].tick {
            return Err(damaged("the times of the first keys"));
        }
        pairs.push(pair);
    }
    match offset == holder.stream.len() {
        true => Ok(pairs),
        false => Err(damaged("the size of the first keys")),
    }
}

impl Clip {
    /// Clip without tracks and length.
    pub(super) fn empty(bones: u16) -> Clip {
        Clip {
            seconds: 0.0,
            bones,
            features: ClipFeatures::default(),
            constants: Constants::default(),
            rests: RestTracks::default(),
            keyframes: UniformTracks::none(),
            tracks: Vec::new(),
            stream: Vec::new(),
            jump_ticks: JUMP_TICKS_MIN,
            jump_frames: Vec::new(),
            chunks: None,
        }
    }

    /// Reads the stream once: checks that the keys of each track are in order, and saves a jump
    /// frame after each `jump_ticks`, if at least as many keys as tracks were read since the last
    /// one. So jump frames are never much larger than the stream.
    pub(super) fn save_jump_frames(&mut self, mut keys: Vec<[Key; 2]>) -> Result<(), Error> {
        let mut frames = vec![JumpFrame { tick: 0, offset: 0, keys: keys.clone() }];
        let (mut offset, mut due, mut count) = (0, 0, 0);
        let mut next_jump = u32::from(self.jump_ticks);
        while offset < self.stream.len() {
            let (key, next) = self.key_at(offset).ok_or_else(|| damaged("a key of the clip"))?;
            let pair = &keys[usize::from(key.track)];
            let end = pair[1].tick;
            if key.tick < end || end < due {
                return Err(damaged("the order of the keys"));
            }
            // A jump frame has the state in which all keys that are due at its time were read.
            if u32::from(end) > next_jump && end > due && count >= keys.len() {
                let tick = (u32::from(end) - 1) as u16;
                frames.push(JumpFrame { tick, offset: offset as u32, keys: keys.clone() });
                (next_jump, count) = (u32::from(end) + u32::from(self.jump_ticks), 0);
            }
            let pair = &mut keys[usize::from(key.track)];
            *pair = [pair[1], key];
            (due, offset, count) = (end, next, count + 1);
        }
        self.jump_frames = frames;
        Ok(())
    }
}
