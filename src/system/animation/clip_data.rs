//! Compiled form of a clip as bytes: written by the compiler, and read with a check of everything
//! that a player relies on.

use super::clip::{
    CLIP_SECONDS_MAX, Clip, ClipFeatures, JumpFrame, Key, LAST_TICK, MORPH_TARGETS_MAX, NEGATIVE,
    Track,
};
use super::clip_events::{BEATS_MAX, ClipEvent, EVENTS_MAX, EventCue, sort_and_check};
use super::quantization::{KeyBits, TrackRange};
use super::root_motion::RootTrack;
use super::skeleton::BONES_MAX;
use super::source::TrackProperty;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::{Error, Quat, Vec3, error};

/// Version of the compiled form. A change of this number recompiles every clip.
pub const VERSION: u32 = 4;
const MAGIC: [u8; 4] = *b"CLIP";
/// Maximum size of a component of a position in metres, of a scale, and of a weight.
pub const VALUE_MAX: f32 = 1e6;

const PROPERTIES: [TrackProperty; 4] =
    [TrackProperty::Rotation, TrackProperty::Position, TrackProperty::Scale, TrackProperty::Weight];

impl Clip {
    /// Returns the clip in its compiled form.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        write_float(&mut writer, &self.seconds);
        writer.u32(u32::from(self.bones));
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
        writer.list(&self.jump_frames, |writer, frame| {
            writer.u32(u32::from(frame.tick));
            writer.u32(frame.offset);
            let mut keys = Vec::new();
            for key in frame.keys.as_flattened() {
                append_key(&mut keys, &self.tracks[usize::from(key.track)], *key);
            }
            writer.bytes(&keys);
        });
        self.features.write(&mut writer);
        writer.into_frame(MAGIC, VERSION)
    }
}

fn write_float(writer: &mut BlobWriter, value: &f32) {
    writer.u32(value.to_bits());
}

impl ClipFeatures {
    fn write(&self, writer: &mut BlobWriter) {
        writer.u8(u8::from(self.looping));
        writer.u8(u8::from(self.additive));
        writer.u8(u8::from(self.root.is_some()));
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
        writer.list(&self.beats, write_float);
        writer.list(&self.events, |writer, ClipEvent { name, time, cue }| {
            writer.text(name);
            write_float(writer, time);
            cue.write(writer);
        });
        write_float(writer, &self.error);
        writer.u32(self.source_keys);
    }

    fn read(reader: &mut BlobReader, seconds: f32) -> Result<ClipFeatures, Error> {
        let (looping, additive) = (reader.flag()?, reader.flag()?);
        let root = if reader.flag()? { Some(read_root(reader)?) } else { None };
        let mut beats = reader.list_at_most((BEATS_MAX, "BEATS_MAX"), BlobReader::finite)?;
        let mut events = reader.list_at_most((EVENTS_MAX, "EVENTS_MAX"), |reader| {
            let (name, time) = (reader.text()?.to_string(), reader.finite()?);
            Ok(ClipEvent { name, time, cue: EventCue::read(reader)? })
        })?;
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
    let features = ClipFeatures::default();
    let mut clip = Clip { seconds, bones, features, tracks, stream, jump_frames: Vec::new() };
    clip.jump_frames = reader.list(|reader| {
        let (tick, offset) = (read_tick(reader)?, reader.u32()?);
        let keys = reader.bytes()?.to_vec();
        Ok(JumpFrame { tick, offset, keys: jump_keys(&clip, keys)? })
    })?;
    check_jump_frames(&clip)?;
    check_stream(&clip)?;
    clip.features = ClipFeatures::read(&mut reader, seconds)?;
    match reader.is_done() {
        true => Ok(clip),
        false => Err(damaged("the size of the clip")),
    }
}

fn damaged(subject: &str) -> Error {
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

/// Reads the keys of a jump frame: two for each track, in the order of the tracks.
fn jump_keys(clip: &Clip, keys: Vec<u8>) -> Result<Vec<[Key; 2]>, Error> {
    let holder = Clip {
        seconds: clip.seconds,
        bones: clip.bones,
        features: ClipFeatures::default(),
        tracks: clip.tracks.clone(),
        stream: keys,
        jump_frames: Vec::new(),
    };
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
