//! Constant tracks and keyframes of a clip as bytes: written by the compiler, and read with a check
//! of everything that a player relies on.

use super::bit_stream::PADDING;
use super::clip::{Clip, LAST_TICK};
use super::clip_data::{
    HAS_CONSTANTS, HAS_KEYFRAMES, PROPERTIES, VALUE_MAX, damaged, read_word, write_float,
    write_word,
};
use super::constant_track::{ConstantTrack, Constants};
use super::source::TrackProperty;
use super::uniform_track::{KEYFRAMES_MAX, MEAN_STEP, STEP_CODE_MAX, UniformTrack, UniformTracks};
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::{Error, Vec3, Vec4, error};

/// Flag of a track whose real part is stored, beside the index of its property.
const HAS_REAL: u8 = 1 << 7;
/// Flag of a track whose bone is the next one after that of the track before it.
const NEXT_BONE: u8 = 1 << 6;
/// Flag of a track in its shorter form: the numbers of the mean rotation have 8 bits, because they
/// are multiples of [`MEAN_STEP`]; or the steps of all components are equal.
const IS_SHORT: u8 = 1 << 5;

/// Keyframes before their states are computed.
pub struct UniformParts {
    count: u32,
    tracks: Vec<UniformTrack>,
    stream: Vec<u8>,
}

impl UniformParts {
    /// Creates the keyframes, with a saved state after each `jump_ticks`.
    ///
    /// # Errors
    /// Fails if the stream is damaged.
    pub fn into_keyframes(self, jump_ticks: u16) -> Result<UniformTracks, Error> {
        let interval = state_keyframes(self.count, jump_ticks);
        UniformTracks::new(self.count, self.tracks, self.stream, interval)
    }
}

/// Returns the keyframes between saved states.
pub fn state_keyframes(count: u32, jump_ticks: u16) -> u32 {
    let keyframes =
        u64::from(count.saturating_sub(1)) * u64::from(jump_ticks) / u64::from(LAST_TICK);
    u32::try_from(keyframes).unwrap_or(u32::MAX).max(1)
}

fn property_index(property: TrackProperty) -> u8 {
    PROPERTIES.iter().position(|it| *it == property).unwrap_or(0) as u8
}

fn write_vector(writer: &mut BlobWriter, vector: Vec3) {
    vector.to_array().iter().for_each(|value| write_float(writer, value));
}

/// Writes the constant tracks and the keyframes of a clip.
pub fn write_regular(writer: &mut BlobWriter, clip: &Clip) {
    if !clip.constants.tracks.is_empty() {
        write_constants(writer, &clip.constants.tracks);
    }
    if clip.keyframes.count > 0 {
        write_keyframes(writer, &clip.keyframes);
    }
}

fn write_constants(writer: &mut BlobWriter, tracks: &[ConstantTrack]) {
    writer.list(tracks, |writer, track| {
        write_word(writer, track.bone);
        writer.u8(property_index(track.property));
        let numbers = if track.property == TrackProperty::Rotation { 4 } else { 3 };
        track.value.to_array()[..numbers].iter().for_each(|value| write_float(writer, value));
    });
}

fn write_keyframes(writer: &mut BlobWriter, keyframes: &UniformTracks) {
    writer.u32(keyframes.count);
    let mut next = 0;
    writer.list(&keyframes.tracks, |writer, track| {
        let is_short = match track.property {
            TrackProperty::Rotation => track.mean.iter().all(|part| part % MEAN_STEP == 0),
            _ => track.step == Vec3::splat(track.step.x),
        };
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        let flags = flag(HAS_REAL, track.has_real)
            | flag(NEXT_BONE, track.bone == next)
            | flag(IS_SHORT, is_short);
        writer.u8(property_index(track.property) | flags);
        if track.bone != next {
            write_word(writer, track.bone);
        }
        next = track.bone.wrapping_add(1);
        if track.property != TrackProperty::Rotation {
            write_vector(writer, track.origin);
            let steps = track.step.to_array();
            steps[..if is_short { 1 } else { 3 }].iter().for_each(|step| write_float(writer, step));
            return;
        }
        track.step_codes.into_iter().for_each(|code| writer.u8(code));
        for part in track.mean {
            match is_short {
                true => writer.u8((part / MEAN_STEP) as u8),
                false => write_word(writer, part as u16),
            }
        }
    });
    writer.bytes(&keyframes.stream[..keyframes.stream.len().saturating_sub(PADDING)]);
}

fn read_bone(reader: &mut BlobReader, bones: u16) -> Result<u16, Error> {
    check_bone(read_word(reader)?, bones)
}

fn check_bone(bone: u16, bones: u16) -> Result<u16, Error> {
    match bone < bones {
        true => Ok(bone),
        false => Err(error!("it is damaged: a track of the clip names bone {bone} of {bones}")),
    }
}

/// Reads the index of a property that is not a weight.
fn read_property(byte: u8) -> Result<TrackProperty, Error> {
    let property = PROPERTIES.get(usize::from(byte)).copied();
    property
        .filter(|property| *property != TrackProperty::Weight)
        .ok_or_else(|| damaged("the property of a track"))
}

fn read_vector(reader: &mut BlobReader) -> Result<Vec3, Error> {
    Ok(Vec3::new(reader.finite()?, reader.finite()?, reader.finite()?))
}

/// Reads what [`write_regular`] wrote: the parts whose flags are in `parts`.
///
/// # Errors
/// Fails if a track is damaged.
pub fn read_regular(
    reader: &mut BlobReader,
    parts: u8,
    (bones, seconds): (u16, f32),
) -> Result<(Constants, UniformParts), Error> {
    let mut constants = Vec::new();
    if parts & HAS_CONSTANTS != 0 {
        constants = read_constants(reader, bones)?;
    }
    let mut keyframes = UniformParts { count: 0, tracks: Vec::new(), stream: Vec::new() };
    if parts & HAS_KEYFRAMES != 0 {
        keyframes = read_keyframes(reader, bones, seconds)?;
    }
    Ok((Constants::new(constants), keyframes))
}

fn read_constants(reader: &mut BlobReader, bones: u16) -> Result<Vec<ConstantTrack>, Error> {
    reader.list(|reader| {
        let bone = read_bone(reader, bones)?;
        let property = read_property(reader.u8()?)?;
        let value = read_vector(reader)?;
        let rotates = property == TrackProperty::Rotation;
        let value = value.extend(if rotates { reader.finite()? } else { 0.0 });
        let valid = match rotates {
            true => (0.9..1.1).contains(&value.length_squared()),
            false => value.abs().max_element() <= VALUE_MAX,
        };
        match valid {
            true => Ok(ConstantTrack { bone, property, value }),
            false => Err(damaged("the value of a constant track")),
        }
    })
}

fn read_keyframes(
    reader: &mut BlobReader,
    bones: u16,
    seconds: f32,
) -> Result<UniformParts, Error> {
    let count = reader.u32()?;
    if count > KEYFRAMES_MAX {
        return Err(error!("it is damaged: the clip has {count} keyframes"));
    }
    if count > 0 && !(count as f32 / seconds).is_finite() {
        return Err(damaged("the number of keyframes"));
    }
    let mut next = 0;
    let tracks = reader.list(|reader| {
        let track = read_uniform_track(reader, bones, next)?;
        next = track.bone.wrapping_add(1);
        Ok(track)
    })?;
    let mut stream = reader.bytes()?.to_vec();
    if count > 0 {
        stream.extend([0; PADDING]);
    }
    Ok(UniformParts { count, tracks, stream })
}

/// `next` is the bone after that of the track before it.
fn read_uniform_track(
    reader: &mut BlobReader,
    bones: u16,
    next: u16,
) -> Result<UniformTrack, Error> {
    let byte = reader.u8()?;
    let property = read_property(byte & !(HAS_REAL | NEXT_BONE | IS_SHORT))?;
    let has_real = byte & HAS_REAL != 0;
    let bone = match byte & NEXT_BONE != 0 {
        true => check_bone(next, bones)?,
        false => read_bone(reader, bones)?,
    };
    let mut track = UniformTrack {
        bone,
        property,
        has_real,
        mean: [0; 3],
        origin: Vec3::ZERO,
        step: Vec3::ZERO,
        step_codes: [0; 3],
    };
    let valid = if property == TrackProperty::Rotation {
        let codes = [reader.u8()?, reader.u8()?, reader.u8()?];
        let equal = codes.iter().all(|code| *code == codes[0]);
        if codes.iter().any(|code| *code > STEP_CODE_MAX) || (has_real && !equal) {
            return Err(damaged("the step of a rotation"));
        }
        track.set_step_codes(codes);
        for part in &mut track.mean {
            *part = match byte & IS_SHORT != 0 {
                true => i16::from(reader.u8()? as i8) * MEAN_STEP,
                false => read_word(reader)? as i16,
            };
        }
        let mean = Vec4::from(track.mean_rotation()).length_squared();
        (0.9..1.1).contains(&mean)
    } else {
        track.origin = read_vector(reader)?;
        track.step = match byte & IS_SHORT != 0 {
            true => Vec3::splat(reader.finite()?),
            false => read_vector(reader)?,
        };
        !has_real && track.is_within_reach()
    };
    match valid {
        true => Ok(track),
        false => Err(damaged("the range of a track")),
    }
}

/// Checks that the tracks of each kind are sorted, and that no bone has two tracks of a property.
///
/// # Errors
/// Fails if it does.
pub fn check_properties(clip: &Clip) -> Result<(), Error> {
    let constants: Vec<_> =
        clip.constants.tracks.iter().map(|track| (track.property, track.bone)).collect();
    let keyframes: Vec<_> =
        clip.keyframes.tracks.iter().map(|track| (track.property, track.bone)).collect();
    for list in [&constants, &keyframes] {
        if !list.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(damaged("the order of the tracks"));
        }
    }
    let own = clip.tracks.iter().map(|track| (track.property, track.bone));
    let rests = clip.rests.tracks.iter().copied();
    let mut all: Vec<_> = constants.into_iter().chain(keyframes).chain(own).chain(rests).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    match all.len() == count {
        true => Ok(()),
        false => Err(damaged("a bone with two tracks of a property")),
    }
}
