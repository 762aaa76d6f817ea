//! Sprite sheets: many frames in one picture, as TexturePacker and Aseprite export them (JSON, hash
//! or array), or in a plain grid. The data compiler slices the sheet into frames, restores trimmed
//! borders and undoes rotation. Each frame is then an ordinary texture, and small frames share the
//! atlas. Tags name animations, which scripts play.

use super::aseprite;
use super::data::{self, TextureHeader};
use super::resource::{self, ImportSettings};
use super::sheet_slicing::{self, FrameRectangle, SheetSlices};
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;
use engine_foundation::sjson;
use engine_resource::image::{DecodedImage, Image, PixelFormat, TEXELS_MAX};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use std::collections::HashMap;

/// Maximum number of frames of one sheet.
pub const FRAMES_MAX: usize = 4096;
/// Duration of a frame if its file does not specify one.
pub const FRAME_MILLISECONDS: f64 = 100.0;

/// The resource kind of sheets.
pub static SHEET: ResourceKind = ResourceKind {
    name: kind_names::SHEET,
    doc: "Frames of animations in one picture: from TexturePacker, Aseprite, or in a grid",
    extensions: &[
        ("sheet", SourceForm::Own),
        ("aseprite", SourceForm::Raw),
        ("ase", SourceForm::Raw),
    ],
    version: 4,
    framed: false,
    reload: &[ReloadStep::Sheets, ReloadStep::Sequences, ReloadStep::UnitResources],
    compile: compiler(compile),
    validate: |bytes| read(bytes).map(drop),
};

/// Order in which the frames of a tag are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayDirection {
    Forward,
    Reverse,
    /// Forward and backward. The first and the last frame are shown once per cycle.
    PingPong,
    PingPongReverse,
}

impl PlayDirection {
    const ALL: [(PlayDirection, &'static str); 4] = [
        (PlayDirection::Forward, "forward"),
        (PlayDirection::Reverse, "reverse"),
        (PlayDirection::PingPong, "pingpong"),
        (PlayDirection::PingPongReverse, "pingpong_reverse"),
    ];

    /// Returns its name in files and scripts.
    pub fn name(self) -> &'static str {
        PlayDirection::ALL.iter().find(|known| known.0 == self).expect("all are there").1
    }

    pub fn parse(word: &str) -> Option<PlayDirection> {
        PlayDirection::ALL.iter().find(|known| known.1 == word).map(|known| known.0)
    }
}

/// A frame: its name, without the extension added by the exporter, and its duration.
#[derive(Clone, PartialEq, Debug)]
pub struct SheetFrame {
    pub name: String,
    pub milliseconds: f64,
    /// Index of its picture in the sheet. Identical frames share a picture.
    pub picture: u32,
}

/// A named range of a sheet's frames.
#[derive(Clone, PartialEq, Debug)]
pub struct SheetTag {
    pub name: String,
    /// First frame, from 0. `to` is the last frame.
    pub from: u32,
    pub to: u32,
    pub direction: PlayDirection,
    /// Number of repetitions; 0: unlimited.
    pub repeat: u32,
}

/// A compiled sheet.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SheetData {
    pub frames: Vec<SheetFrame>,
    pub tags: Vec<SheetTag>,
    /// Byte range of each picture's data (data.rs) in the sheet's data.
    pub pictures: Vec<std::ops::Range<usize>>,
}

/// Input of the sheet compiler: frames as pictures.
pub struct SheetSource {
    pub frames: Vec<(String, f64, Image)>,
    pub tags: Vec<SheetTag>,
}

/// The pictures with the normals of all frames, if a sheet has them, and the path of their file.
type NormalFrames = Option<(String, Vec<Image>)>;

/// Frames and tags of a sheet without its pictures.
#[derive(Clone, PartialEq, Debug)]
pub struct SheetFrames {
    /// Name and duration in milliseconds of each frame.
    pub frames: Vec<(String, f64)>,
    pub tags: Vec<SheetTag>,
}

/// Reads the frames and tags of a sheet for the compiler of another resource. All files that it
/// reads, and those whose later creation would change the result, are recorded in the context.
///
/// # Errors
/// Returns an error that names the file that is missing or invalid.
pub fn read_frames(compiling: &mut CompileContext, name: &str) -> Result<SheetFrames, Error> {
    let own = (std::mem::take(&mut compiling.bytes), compiling.path.clone(), compiling.form);
    let read = open_source(compiling, name).and_then(|()| source_frames(compiling));
    (compiling.bytes, compiling.path, compiling.form) = own;
    read
}

/// Replaces the source of the context by that of a sheet.
fn open_source(compiling: &mut CompileContext, name: &str) -> Result<(), Error> {
    for (ending, form) in SHEET.extensions {
        let path = format!("{name}.{ending}");
        if let Ok(bytes) = compiling.read(&path) {
            (compiling.bytes, compiling.path, compiling.form) = (bytes, path, *form);
            return Ok(());
        }
    }
    Err(error!(
        "there is no sheet '{name}': its file would be {name}.sheet, {name}.aseprite or {name}.ase"
    ))
}

fn source_frames(compiling: &mut CompileContext) -> Result<SheetFrames, Error> {
    let (frames, tags) = if compiling.form == SourceForm::Raw {
        let source = aseprite::read(&compiling.bytes)
            .map_err(|fault| error!("{}: {}", compiling.path, fault.message))?;
        (source.frames.into_iter().map(|(name, time, _)| (name, time)).collect(), source.tags)
    } else {
        let document = sjson::parse_bytes(&compiling.bytes)
            .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
        match sheet_slicing::read(compiling, &document)?.0 {
            SheetSlices::Aseprite(path) => {
                let bytes = compiling.read(&path)?;
                let source =
                    aseprite::read(&bytes).map_err(|fault| error!("{path}: {}", fault.message))?;
                let frames = source.frames.into_iter().map(|(name, time, _)| (name, time));
                (frames.collect(), source.tags)
            }
            SheetSlices::Picture { rectangles, tags, .. } => {
                let frames = rectangles.into_iter().map(|it| (it.name, it.milliseconds));
                (frames.collect(), tags)
            }
        }
    };
    let frames: Vec<(String, f64)> = frames;
    check_size(&compiling.path, frames.len(), 0)?;
    check_names(frames.iter().map(|(name, time)| (&name[..], *time)), &tags)
        .map_err(|message| error!("{}: {message}", compiling.path))?;
    Ok(SheetFrames { frames, tags })
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    if compiling.form == SourceForm::Raw {
        let source = aseprite::read(&compiling.bytes)
            .map_err(|fault| error!("{}: {}", compiling.path, fault.message))?;
        return write(&compiling.path, (source, None), &ImportSettings::DEFAULT);
    }
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
    let (cut, import) = sheet_slicing::read(compiling, &document)?;
    if import.data && import.normal_image.is_some() {
        return Err(error!(
            "{}: only pictures have normals, and it holds data: take 'normal_image' out",
            compiling.path
        ));
    }
    let (source, normals) = match cut {
        SheetSlices::Aseprite(path) => {
            let normals = import.normal_image.clone().map(|path| {
                let frames = aseprite_file(compiling, &path)?.frames;
                Ok((path, frames.into_iter().map(|(_, _, image)| image).collect()))
            });
            (aseprite_file(compiling, &path)?, normals.transpose()?)
        }
        SheetSlices::Picture { path, rectangles, tags } => {
            let bytes = compiling.read(&path)?;
            let picture = picture(&path, &bytes)?;
            // Checked before slicing, because a few lines of text can ask for a huge amount of
            // memory.
            let texels =
                rectangles.iter().map(|r| u64::from(r.full_width) * u64::from(r.full_height));
            check_size(&compiling.path, rectangles.len(), texels.sum())?;
            let frames = rectangles.iter().map(|rectangle| {
                let image = sheet_slicing::frame(&picture, rectangle);
                let image = image.map_err(|message| error!("{}: {message}", compiling.path))?;
                Ok((rectangle.name.clone(), rectangle.milliseconds, image))
            });
            let source = SheetSource { frames: frames.collect::<Result<_, Error>>()?, tags };
            let size = (picture.width, picture.height);
            (source, normal_frames(compiling, &import, (size, &rectangles))?)
        }
    };
    write(&compiling.path, (source, normals), &import)
}

fn aseprite_file(compiling: &mut CompileContext, path: &str) -> Result<SheetSource, Error> {
    let bytes = compiling.read(path)?;
    aseprite::read(&bytes).map_err(|fault| error!("{path}: {}", fault.message))
}

/// Cuts the frames out of the picture with the normals, as those of the sheet's own picture, whose
/// size is given.
fn normal_frames(
    compiling: &mut CompileContext,
    import: &ImportSettings,
    ((width, height), rectangles): ((u32, u32), &[FrameRectangle]),
) -> Result<NormalFrames, Error> {
    let Some(path) = import.normal_image.clone() else { return Ok(None) };
    let bytes = compiling.read(&path)?;
    let normals = picture(&path, &bytes)?;
    if (normals.width, normals.height) != (width, height) {
        return Err(error!(
            "{path}: the normals are {} x {} texels, and the sheet's picture is {width} x \
             {height}: save both in one size",
            normals.width, normals.height
        ));
    }
    let frame = |rectangle: &FrameRectangle| {
        let image = sheet_slicing::frame(&normals, rectangle);
        image.map_err(|message| error!("{path}: {message}"))
    };
    let frames = rectangles.iter().map(frame).collect::<Result<_, Error>>()?;
    Ok(Some((path, frames)))
}

/// Decodes the picture of a sheet, with 8 bits per channel.
fn picture(path: &str, bytes: &[u8]) -> Result<Image, Error> {
    match resource::decode(path, bytes)? {
        DecodedImage::Image(image) if matches!(image.pixels, PixelFormat::Bytes(_)) => Ok(image),
        _ => Err(error!("{path}: a sheet's picture must have 8 bits a channel: save it as PNG")),
    }
}

fn write(
    path: &str,
    (source, normals): (SheetSource, NormalFrames),
    import: &ImportSettings,
) -> Result<Vec<u8>, Error> {
    check(path, &source)?;
    if let Some((path, normals)) = &normals {
        check_normals(path, &source, normals)?;
    }
    let mut normals = normals.map(|(_, normals)| normals.into_iter());
    let (mut pictures, mut known): (Vec<Vec<u8>>, HashMap<Vec<u8>, u32>) = Default::default();
    let mut frames = Vec::new();
    for (name, milliseconds, image) in source.frames {
        let normal = normals.as_mut().and_then(Iterator::next);
        let data = frame_data(image, normal, import)
            .map_err(|fault| error!("{path}: frame '{name}': {}", fault.message))?;
        let next = pictures.len() as u32;
        let picture = *known.entry(data.clone()).or_insert(next);
        if picture == next {
            pictures.push(data);
        }
        frames.push(SheetFrame { name, milliseconds, picture });
    }
    let mut writer = BlobWriter::default();
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

/// Returns the data of the texture of a frame, with its normals.
fn frame_data(
    image: Image,
    normal: Option<Image>,
    import: &ImportSettings,
) -> Result<Vec<u8>, Error> {
    let data = resource::build(DecodedImage::Image(image), import)?;
    let Some(normal) = normal else { return Ok(data) };
    let is_small = data::read(&data)?.0.small;
    let normals = resource::build_normals(DecodedImage::Image(normal), import, is_small)?;
    Ok(data::with_normals(data, &normals))
}

/// Returns an error if the normals are not those of the frames.
fn check_normals(path: &str, source: &SheetSource, normals: &[Image]) -> Result<(), Error> {
    let (count, wanted) = (normals.len(), source.frames.len());
    if count != wanted {
        return Err(error!(
            "{path}: it has the normals of {count} frames, and the sheet has {wanted} frames"
        ));
    }
    for ((name, _, image), normal) in source.frames.iter().zip(normals) {
        if (normal.width, normal.height) != (image.width, image.height) {
            return Err(error!(
                "{path}: the normals of frame '{name}' are {} x {} texels, and the frame is {} x \
                 {}: save both in one size",
                normal.width, normal.height, image.width, image.height
            ));
        }
    }
    Ok(())
}

/// Returns an error if a sheet is empty or too large.
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

/// Checks the rules that hold for every sheet, regardless of its format.
fn check(path: &str, source: &SheetSource) -> Result<(), Error> {
    let sizes = source.frames.iter().map(|(_, _, i)| u64::from(i.width) * u64::from(i.height));
    check_size(path, source.frames.len(), sizes.sum())?;
    let frames = source.frames.iter().map(|(name, milliseconds, _)| (&name[..], *milliseconds));
    check_names(frames, &source.tags).map_err(|message| error!("{path}: {message}"))
}

/// Rejects invalid frames and tags, in a source as well as in compiled data.
fn check_names<'a>(
    frames: impl ExactSizeIterator<Item = (&'a str, f64)>,
    tags: &[SheetTag],
) -> Result<(), String> {
    let (count, mut known_names) = (frames.len(), std::collections::HashSet::new());
    for (name, milliseconds) in frames {
        if !known_names.insert(name) {
            return Err(format!("two frames are named '{name}': rename one"));
        }
        if !milliseconds.is_finite() || milliseconds <= 0.0 {
            return Err(format!("frame '{name}' is shown for {milliseconds} milliseconds"));
        }
    }
    for SheetTag { name, from, to, .. } in tags {
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
/// Returns an error if the data is damaged or has values that no sheet can have. Every picture in
/// it is checked as a texture.
pub fn read(bytes: &[u8]) -> Result<SheetData, Error> {
    let mut reader = BlobReader::new(bytes);
    let frames = reader.list_at_most((FRAMES_MAX, "FRAMES_MAX"), |reader| {
        let (name, milliseconds) = (reader.text()?.to_string(), reader.f64()?);
        Ok(SheetFrame { name, milliseconds, picture: reader.u32()? })
    })?;
    let tags = reader.list(|reader| {
        let name = reader.text()?.to_string();
        let (from, to) = (reader.u32()?, reader.u32()?);
        let direction = PlayDirection::parse(reader.text()?)
            .ok_or_else(|| error!("it is damaged: unknown direction"))?;
        Ok(SheetTag { name, from, to, direction, repeat: reader.u32()? })
    })?;
    let all = bytes.len();
    let (mut texels, mut sizes) = (0, Vec::new());
    let pictures = reader.list_at_most((FRAMES_MAX, "FRAMES_MAX"), |reader| {
        let data = reader.bytes()?;
        let (head, _) = data::read(data)?;
        if let Some((normals, _)) = data::normals(data)? {
            let form = |head: &TextureHeader| (head.width, head.height, head.small);
            if form(&normals) != form(&head) {
                return Err(error!("it is damaged: the normals of a frame have another size"));
            }
        }
        sizes.push(u64::from(head.picture_width) * u64::from(head.picture_height));
        let end = all - reader.remaining();
        Ok(end - data.len()..end)
    })?;
    reader.end()?;
    for frame in &frames {
        let size = sizes.get(frame.picture as usize);
        texels +=
            size.ok_or_else(|| error!("it is damaged: it names a picture that does not exist"))?;
    }
    if frames.is_empty() || frames.len() > FRAMES_MAX || texels > TEXELS_MAX {
        return Err(error!(
            "it is damaged: it has {} frames with {texels} texels (FRAMES_MAX, TEXELS_MAX)",
            frames.len()
        ));
    }
    check_names(frames.iter().map(|frame| (&frame.name[..], frame.milliseconds)), &tags)
        .map_err(|message| error!("it is damaged: {message}"))?;
    Ok(SheetData { frames, tags, pictures })
}
