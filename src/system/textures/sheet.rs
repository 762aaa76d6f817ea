//! Sheets: many frames in one picture, as TexturePacker and Aseprite export them (JSON, hash or
//! array), or in a plain grid. The data compiler cuts the frames out, restores what was trimmed and
//! turns back what was rotated, so that each is a texture like any other and small ones share the
//! atlas. Tags name animations; playing them is the scripts' affair.

use super::aseprite;
use super::compile::{self, Import};
use super::cut::{self, Cut};
use super::data;
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::sjson;
use crate::resource::image::{Decoded, Image, Pixels, TEXELS_MAX};
use crate::resource::kind::{Compiling, Form, Kind};
use std::collections::HashMap;

/// The most frames of one sheet.
pub const FRAMES_MAX: usize = 4096;
/// How long a frame is shown where its file does not say.
pub const FRAME_MILLISECONDS: f64 = 100.0;

/// Sheets.
pub static SHEET: Kind = Kind {
    name: "sheet",
    words: "Frames of animations in one picture: from TexturePacker, Aseprite, or in a grid",
    extensions: &[("sheet", Form::Own), ("aseprite", Form::Raw), ("ase", Form::Raw)],
    version: 2,
    compile,
    validate: |bytes| read(bytes).map(drop),
};

/// The order in which the frames of a tag are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Forward,
    Reverse,
    /// Forth and back; the first and the last are shown once in a turn.
    PingPong,
    PingPongReverse,
}

impl Direction {
    const ALL: [(Direction, &'static str); 4] = [
        (Direction::Forward, "forward"),
        (Direction::Reverse, "reverse"),
        (Direction::PingPong, "pingpong"),
        (Direction::PingPongReverse, "pingpong_reverse"),
    ];

    /// The word by which files and scripts know it.
    pub fn name(self) -> &'static str {
        Direction::ALL.iter().find(|known| known.0 == self).expect("all are there").1
    }

    pub fn parse(word: &str) -> Option<Direction> {
        Direction::ALL.iter().find(|known| known.1 == word).map(|known| known.0)
    }
}

/// A frame's name, without the ending that the exporter gave it, and how long it is shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    pub name: String,
    pub milliseconds: f64,
    /// Which of the sheet's pictures; frames that look the same have the same.
    pub picture: u32,
}

/// A part of a sheet's frames.
#[derive(Clone, PartialEq, Debug)]
pub struct Tag {
    pub name: String,
    /// The first and the last frame, from 0.
    pub from: u32,
    pub to: u32,
    pub direction: Direction,
    /// How often it is played; 0: for ever.
    pub repeat: u32,
}

/// A compiled sheet.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sheet {
    pub frames: Vec<Frame>,
    pub tags: Vec<Tag>,
    /// Where each picture's data (data.rs) is in the sheet's own.
    pub pictures: Vec<std::ops::Range<usize>>,
}

/// What the compiler makes a sheet of: its frames as pictures.
pub struct Source {
    pub frames: Vec<(String, f64, Image)>,
    pub tags: Vec<Tag>,
}

fn compile(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    if compiling.form == Form::Raw {
        let source = aseprite::read(&compiling.bytes)
            .map_err(|fault| error!("{}: {}", compiling.path, fault.message))?;
        return write(&compiling.path, source, &Import::DEFAULT);
    }
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
    let (cut, import) = cut::read(compiling, &document)?;
    let source = match cut {
        Cut::Aseprite(path) => {
            let bytes = compiling.read(&path)?;
            aseprite::read(&bytes).map_err(|fault| error!("{path}: {}", fault.message))?
        }
        Cut::Picture { path, rectangles, tags } => {
            let bytes = compiling.read(&path)?;
            let picture = picture(&path, &bytes)?;
            // Before any of them is cut out: a few lines of text can ask for very much.
            let texels =
                rectangles.iter().map(|r| u64::from(r.full_width) * u64::from(r.full_height));
            check_size(&compiling.path, rectangles.len(), texels.sum())?;
            let frames = rectangles.iter().map(|rectangle| {
                let image = cut::frame(&picture, rectangle);
                let image = image.map_err(|words| error!("{}: {words}", compiling.path))?;
                Ok((rectangle.name.clone(), rectangle.milliseconds, image))
            });
            Source { frames: frames.collect::<Result<_, Error>>()?, tags }
        }
    };
    write(&compiling.path, source, &import)
}

/// The picture of a sheet, in bytes.
fn picture(path: &str, bytes: &[u8]) -> Result<Image, Error> {
    match compile::decode(path, bytes)? {
        Decoded::Image(image) if matches!(image.pixels, Pixels::Bytes(_)) => Ok(image),
        _ => Err(error!("{path}: a sheet's picture must have 8 bits a part: save it as PNG")),
    }
}

fn write(path: &str, source: Source, import: &Import) -> Result<Vec<u8>, Error> {
    check(path, &source)?;
    let (mut pictures, mut known): (Vec<Vec<u8>>, HashMap<Vec<u8>, u32>) = Default::default();
    let mut frames = Vec::new();
    for (name, milliseconds, image) in source.frames {
        let data = compile::build(Decoded::Image(image), import)
            .map_err(|fault| error!("{path}: frame '{name}': {}", fault.message))?;
        let next = pictures.len() as u32;
        let picture = *known.entry(data.clone()).or_insert(next);
        if picture == next {
            pictures.push(data);
        }
        frames.push(Frame { name, milliseconds, picture });
    }
    let mut writer = Writer::default();
    writer.list(&frames, |writer, frame| {
        writer.text(&frame.name);
        writer.f64(frame.milliseconds);
        writer.u32(frame.picture);
    });
    writer.list(&source.tags, |writer, tag| {
        writer.text(&tag.name);
        writer.u32(tag.from);
        writer.u32(tag.to);
        writer.text(tag.direction.name());
        writer.u32(tag.repeat);
    });
    writer.list(&pictures, |writer, picture| writer.bytes(picture));
    Ok(writer.finish())
}

/// Refuses a sheet that is too large.
fn check_size(path: &str, count: usize, texels: u64) -> Result<(), Error> {
    if count == 0 {
        return Err(error!("{path}: the sheet has no frames"));
    }
    if count > FRAMES_MAX {
        return Err(error!(
            "{path}: the sheet has more than {FRAMES_MAX} frames (FRAMES_MAX): make two of it"
        ));
    }
    if texels > TEXELS_MAX {
        return Err(error!(
            "{path}: all frames together have {texels} texels, and {TEXELS_MAX} is the most \
             (TEXELS_MAX): make two sheets of it"
        ));
    }
    Ok(())
}

/// What holds for every sheet, wherever it is from.
fn check(path: &str, source: &Source) -> Result<(), Error> {
    let sizes = source.frames.iter().map(|(_, _, i)| u64::from(i.width) * u64::from(i.height));
    check_size(path, source.frames.len(), sizes.sum())?;
    let frames = source.frames.iter().map(|(name, milliseconds, _)| (&name[..], *milliseconds));
    check_names(frames, &source.tags).map_err(|words| error!("{path}: {words}"))
}

/// Refuses frames and tags that cannot be, in a source as in compiled data.
fn check_names<'a>(
    frames: impl ExactSizeIterator<Item = (&'a str, f64)>,
    tags: &[Tag],
) -> Result<(), String> {
    let (count, mut seen) = (frames.len(), std::collections::HashSet::new());
    for (name, milliseconds) in frames {
        if !seen.insert(name) {
            return Err(format!("two frames are named '{name}': rename one"));
        }
        if !milliseconds.is_finite() || milliseconds <= 0.0 {
            return Err(format!("frame '{name}' is shown for {milliseconds} milliseconds"));
        }
    }
    for Tag { name, from, to, .. } in tags {
        if from > to || *to as usize >= count {
            return Err(format!(
                "tag '{name}' is of the frames {} to {}, counted from 1, and the sheet has {count}",
                u64::from(*from) + 1,
                u64::from(*to) + 1
            ));
        }
    }
    Ok(())
}

/// Reads a compiled sheet.
///
/// # Errors
/// It is damaged, or says what no sheet can: every picture in it is a texture that can be read.
pub fn read(bytes: &[u8]) -> Result<Sheet, Error> {
    let mut reader = Reader::new(bytes);
    let frames = reader.list_at_most((FRAMES_MAX, "FRAMES_MAX"), |reader| {
        let (name, milliseconds) = (reader.text()?.to_string(), reader.f64()?);
        Ok(Frame { name, milliseconds, picture: reader.u32()? })
    })?;
    let tags = reader.list(|reader| {
        let name = reader.text()?.to_string();
        let (from, to) = (reader.u32()?, reader.u32()?);
        let direction = Direction::parse(reader.text()?)
            .ok_or_else(|| error!("it is damaged: there is no such direction"))?;
        Ok(Tag { name, from, to, direction, repeat: reader.u32()? })
    })?;
    let all = bytes.len();
    let (mut texels, mut sizes) = (0, Vec::new());
    let pictures = reader.list_at_most((FRAMES_MAX, "FRAMES_MAX"), |reader| {
        let data = reader.bytes()?;
        let (head, _) = data::read(data)?;
        sizes.push(u64::from(head.picture_width) * u64::from(head.picture_height));
        let end = all - reader.left();
        Ok(end - data.len()..end)
    })?;
    reader.end()?;
    for frame in &frames {
        let size = sizes.get(frame.picture as usize);
        texels += size.ok_or_else(|| error!("it is damaged: it names a picture too many"))?;
    }
    if frames.is_empty() || frames.len() > FRAMES_MAX || texels > TEXELS_MAX {
        return Err(error!(
            "it is damaged: it has {} frames with {texels} texels (FRAMES_MAX, TEXELS_MAX)",
            frames.len()
        ));
    }
    check_names(frames.iter().map(|frame| (&frame.name[..], frame.milliseconds)), &tags)
        .map_err(|words| error!("it is damaged: {words}"))?;
    Ok(Sheet { frames, tags, pictures })
}
