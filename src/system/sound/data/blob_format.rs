//! The binary encoding of the parts of a compiled sound: options, parameters, layers and nodes.
//! Reading rejects numbers that are not finite, and unknown values of enumerations.

use super::{
    LoopRange, Rolloff, SoundLayer, SoundNode, SoundOptions, SoundParameter, StreamingMode,
    VoiceLimitPolicy,
};
use crate::limits::{OPTIONS, damaged};
use crate::parameters::ValueTag;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::hash::IdString32;

pub(super) fn float(writer: &mut BlobWriter, value: f32) {
    writer.u32(value.to_bits());
}

pub(super) fn write_options(writer: &mut BlobWriter, options: &SoundOptions) {
    writer.text(&options.bus);
    let mut numbers = options.clone();
    OPTIONS.iter().for_each(|(_, _, field)| float(writer, *field(&mut numbers)));
    writer.u32(options.voices);
    writer.u8(options.policy as u8);
    writer.u8(options.rolloff as u8);
    writer.u8(options.streaming as u8);
}

pub(super) fn read_options(reader: &mut BlobReader) -> Result<SoundOptions, Error> {
    let mut options = SoundOptions { bus: reader.text()?.to_string(), ..SoundOptions::new() };
    for (_, _, field) in OPTIONS {
        *field(&mut options) = reader.finite()?;
    }
    options.voices = reader.u32()?;
    let (policy, rolloff, streaming) = (reader.u8()?, reader.u8()?, reader.u8()?);
    options.policy = VoiceLimitPolicy::ALL.get(usize::from(policy)).ok_or_else(damaged)?.1;
    options.rolloff = Rolloff::ALL.get(usize::from(rolloff)).ok_or_else(damaged)?.1;
    options.streaming = match streaming {
        0 => StreamingMode::Auto,
        1 => StreamingMode::Always,
        2 => StreamingMode::Never,
        _ => return Err(damaged()),
    };
    Ok(options)
}

pub(super) fn read_parameter(reader: &mut BlobReader) -> Result<SoundParameter, Error> {
    let (key, name) = (IdString32(reader.u32()?), reader.text()?.to_string());
    let tag = if reader.flag()? { ValueTag::Text } else { ValueTag::Number };
    let (has_default, bits) = (reader.flag()?, reader.u32()?);
    let default_name = reader.text()?.to_string();
    Ok(SoundParameter { key, name, tag, default: has_default.then_some(bits), default_name })
}

pub(super) fn read_layer(reader: &mut BlobReader) -> Result<SoundLayer, Error> {
    let root = reader.u32()?;
    let (volume_db, pitch) = (reader.finite()?, reader.finite()?);
    let delay_seconds = reader.finite()?;
    let repeats = reader.flag()?;
    let repeat = LoopRange { start_seconds: reader.finite()?, end_seconds: reader.finite()? };
    let (first_curve, curves) = (reader.u32()?, reader.u32()?);
    let repeat = repeats.then_some(repeat);
    Ok(SoundLayer { root, volume_db, pitch, delay_seconds, repeat, first_curve, curves })
}

pub(super) fn write_node(writer: &mut BlobWriter, node: &SoundNode) {
    const NONE: u32 = u32::MAX;
    let (kind, fields) = match *node {
        SoundNode::File { file, volume_db, pitch } => {
            (0, [file.unwrap_or(NONE), volume_db.to_bits(), pitch.to_bits(), 0])
        }
        SoundNode::Random { first, count } => (1, [first, count, 0, 0]),
        SoundNode::Sequence { first, count } => (2, [first, count, 0, 0]),
        SoundNode::Switch { parameter, first, count, default } => {
            (3, [first, count, parameter, default.unwrap_or(NONE)])
        }
    };
    writer.u8(kind);
    fields.into_iter().for_each(|value| writer.u32(value));
}

pub(super) fn read_node(reader: &mut BlobReader) -> Result<SoundNode, Error> {
    let kind = reader.u8()?;
    let [a, b, c, d] = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
    let index = |value: u32| (value != u32::MAX).then_some(value);
    Ok(match kind {
        0 => {
            let (volume_db, pitch) = (f32::from_bits(b), f32::from_bits(c));
            if !volume_db.is_finite() || !pitch.is_finite() {
                return Err(damaged());
            }
            SoundNode::File { file: index(a), volume_db, pitch }
        }
        1 => SoundNode::Random { first: a, count: b },
        2 => SoundNode::Sequence { first: a, count: b },
        3 => SoundNode::Switch { first: a, count: b, parameter: c, default: index(d) },
        _ => return Err(damaged()),
    })
}
