//! Textures on their way from files to data: import settings (a `.texture` beside the picture),
//! decoding, colours multiplied by alpha, smaller levels. Places nothing.

use super::SMALL_SIDE_MAX;
use super::data::{self, Filter, Head};
use super::texels;
use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::{self, Entry};
use crate::foundation::suggest::hint;
use crate::packet::texture::{Format, Wrap};
use crate::resource::image::{
    Blocks, Decoded, Encoding, Image, Pixels, SIDE_MAX, decode as decode_bytes, level_size,
};
use crate::resource::kind::{Compiling, Form, Kind};

/// Pictures, and settings beside them.
pub static TEXTURE: Kind = Kind {
    name: "texture",
    words: "A picture, or settings for the picture of the same name beside it",
    extensions: &[
        ("texture", Form::Own),
        ("png", Form::Raw),
        ("jpg", Form::Raw),
        ("jpeg", Form::Raw),
        ("tga", Form::Raw),
        ("bmp", Form::Raw),
        ("qoi", Form::Raw),
        ("webp", Form::Raw),
        ("hdr", Form::Raw),
        ("ktx2", Form::Raw),
        ("dds", Form::Raw),
    ],
    version: 2,
    compile,
    validate: |bytes| data::read(bytes).map(drop),
};

/// What a `.texture` can say.
#[derive(Clone, PartialEq, Debug)]
pub struct Import {
    /// The picture's path from the game's folder, where it is not the one beside.
    pub source: Option<String>,
    pub filter: Filter,
    pub wrap: Wrap,
    /// Smaller levels; `None`: where the format can have them made.
    pub mips: Option<bool>,
    /// Numbers instead of colours.
    pub data: bool,
    /// Whether colours are multiplied by their alpha here; `None`: where they can be.
    pub premultiply: Option<bool>,
    /// Whether it may share the atlas; `None`: where it is small enough.
    pub atlas: Option<bool>,
    /// The most texels of a side.
    pub max_size: Option<u32>,
}

impl Import {
    /// What a picture without settings gets.
    pub const DEFAULT: Import = Import {
        source: None,
        filter: Filter::Usual,
        wrap: Wrap::Clamp,
        mips: None,
        data: false,
        premultiply: None,
        atlas: None,
        max_size: None,
    };
}

const KEYS: [&str; 8] =
    ["source", "filter", "wrap", "mips", "data", "premultiply", "atlas", "max_size"];

fn compile(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    if compiling.form == Form::Raw {
        let decoded = decode(&compiling.path, &compiling.bytes)?;
        return build(decoded, &Import::DEFAULT).map_err(|fault| at(&compiling.path, &fault));
    }
    let import = read_import(compiling)?;
    let path = match import.source.clone().or_else(|| compiling.files.first().cloned()) {
        Some(path) => path,
        None => {
            return Err(error!(
                "{}: there is no picture of the same name beside it: add one, or name it by \
                 source = \"path/of/picture.png\"",
                compiling.path
            ));
        }
    };
    let bytes = compiling.read(&path)?;
    let decoded = decode(&path, &bytes)?;
    build(decoded, &import).map_err(|fault| at(&compiling.path, &fault))
}

/// An error with the path of the file before it.
fn at(path: &str, fault: &Error) -> Error {
    error!("{path}: {}", fault.message)
}

/// Decodes a file by its path's ending.
pub fn decode(path: &str, bytes: &[u8]) -> Result<Decoded, Error> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    decode_bytes(bytes, &extension.to_ascii_lowercase()).map_err(|fault| at(path, &fault))
}

fn read_import(compiling: &Compiling) -> Result<Import, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
    let mut import = Import::DEFAULT;
    for entry in document.root().entries().into_iter().flatten() {
        set(&mut import, &entry).map_err(|words| compiling.fault(entry.line(), &words))?;
    }
    Ok(import)
}

/// Takes one key of a `.texture`, or of a sheet's settings.
pub fn set(import: &mut Import, entry: &Entry) -> Result<(), String> {
    let (key, value) = (entry.key, entry.value);
    let must = |what: &str| format!("'{key}' must be {what}, got {}", value.kind());
    let truth = || value.as_bool().ok_or_else(|| must("true or false"));
    let text = || value.as_str().ok_or_else(|| must("text in quotes"));
    match key {
        "source" => import.source = Some(text()?.to_string()),
        "filter" => import.filter = filter(text()?)?,
        "wrap" => import.wrap = wrap(text()?)?,
        "mips" => import.mips = Some(truth()?),
        "data" => import.data = truth()?,
        "premultiply" => import.premultiply = Some(truth()?),
        "atlas" => import.atlas = Some(truth()?),
        "max_size" => {
            let size = value.as_f64().ok_or_else(|| must("a number"))?;
            if size.fract() != 0.0 || size < 1.0 || size > f64::from(SIDE_MAX) {
                let words = format!("'max_size' must be a whole number from 1 to {SIDE_MAX}");
                return Err(words);
            }
            import.max_size = Some(size as u32);
        }
        _ => return Err(format!("unknown setting '{key}'{}", hint(key, KEYS))),
    }
    Ok(())
}

/// A filter by its word.
pub fn filter(word: &str) -> Result<Filter, String> {
    match word {
        "linear" => Ok(Filter::Linear),
        "nearest" => Ok(Filter::Nearest),
        _ => Err(format!("'filter' must be \"linear\" or \"nearest\", got \"{word}\"")),
    }
}

/// What is beyond the edge, by its word.
pub fn wrap(word: &str) -> Result<Wrap, String> {
    match word {
        "clamp" => Ok(Wrap::Clamp),
        "repeat" => Ok(Wrap::Repeat),
        "mirror" => Ok(Wrap::Mirror),
        _ => Err(format!("'wrap' must be \"clamp\", \"repeat\" or \"mirror\", got \"{word}\"")),
    }
}

/// Makes a texture's data.
pub fn build(decoded: Decoded, import: &Import) -> Result<Vec<u8>, Error> {
    match decoded {
        Decoded::Image(image) => of_image(image, import),
        Decoded::Blocks(blocks) => of_blocks(blocks, import),
    }
}

fn of_image(image: Image, import: &Import) -> Result<Vec<u8>, Error> {
    let (picture_width, picture_height) = (image.width, image.height);
    let (format, mut bytes) = match image.pixels {
        Pixels::Floats(light) => (
            Format::Rgba16Float,
            texels::to_halves(&light, import.premultiply.unwrap_or(!import.data)),
        ),
        Pixels::Bytes(bytes) if import.data => (Format::Rgba8, bytes),
        Pixels::Bytes(mut bytes) => {
            if import.premultiply != Some(false) {
                texels::premultiply(&mut bytes);
            }
            (Format::Rgba8Srgb, bytes)
        }
    };
    let (mut width, mut height) = (picture_width, picture_height);
    while import.max_size.is_some_and(|most| width.max(height) > most) {
        bytes = texels::half(format, width, height, &bytes);
        (width, height) = level_size(width, height, 1);
    }
    let small = may_share(import, format, width, height)?;
    let (levels, mut bytes) = match !small && import.mips != Some(false) {
        true => texels::chain(format, width, height, bytes),
        false => (1, bytes),
    };
    if small {
        bytes.extend(texels::cell_levels(width, height, &bytes));
    }
    let (filter, wrap) = (import.filter, import.wrap);
    let head =
        Head { picture_width, picture_height, width, height, levels, format, filter, wrap, small };
    Ok(data::write(&head, &bytes))
}

/// Whether a texture shares the atlas; an error where it was asked to and cannot.
fn may_share(import: &Import, format: Format, width: u32, height: u32) -> Result<bool, Error> {
    let reason = if import.wrap != Wrap::Clamp {
        "it repeats (wrap)".to_string()
    } else if import.mips == Some(false) {
        "it has no smaller levels (mips = false)".to_string()
    } else if format == Format::Rgba8 {
        "it holds data".to_string()
    } else if format != Format::Rgba8Srgb {
        "it holds light beyond white".to_string()
    } else if width.max(height) > SMALL_SIDE_MAX {
        format!("it is larger than {SMALL_SIDE_MAX} texels (SMALL_SIDE_MAX)")
    } else {
        return Ok(import.atlas != Some(false));
    };
    match import.atlas {
        Some(true) => {
            Err(error!("it cannot share the atlas (atlas = true), because {reason}: change either"))
        }
        _ => Ok(false),
    }
}

fn of_blocks(blocks: Blocks, import: &Import) -> Result<Vec<u8>, Error> {
    // Data where the settings say so, or where the file does and the settings leave it open.
    let data = import.data || blocks.srgb == Some(false) && blocks.encoding == Encoding::Bc7;
    let format = match (blocks.encoding, data) {
        (Encoding::Bc1 | Encoding::Bc3, true) => {
            return Err(error!(
                "'data' cannot be true for BC1 and BC3, which hold colours: export it as BC7, BC5 \
                 or BC4"
            ));
        }
        (Encoding::Bc1, false) => Format::Bc1Srgb,
        (Encoding::Bc3, false) => Format::Bc3Srgb,
        (Encoding::Bc4, _) => Format::Bc4,
        (Encoding::Bc5, _) => Format::Bc5,
        (Encoding::Bc7, true) => Format::Bc7,
        (Encoding::Bc7, false) => Format::Bc7Srgb,
    };
    if import.premultiply == Some(true) {
        return Err(error!(
            "'premultiply' cannot be true for blocks, which are taken as they are: export them \
            with alpha multiplied in"
        ));
    }
    if import.atlas == Some(true) {
        return Err(error!("it cannot share the atlas (atlas = true), because it is in blocks"));
    }
    let (mut first, mut start) = (0, 0);
    while import.max_size.is_some_and(|most| {
        let (w, h) = level_size(blocks.width, blocks.height, first);
        w.max(h) > most
    }) {
        let (w, h) = level_size(blocks.width, blocks.height, first);
        start += blocks.encoding.level_bytes(w, h);
        first += 1;
        let (w, h) = level_size(blocks.width, blocks.height, first);
        if first == blocks.levels || w % 4 != 0 || h % 4 != 0 {
            return Err(error!(
                "it is in blocks, and has no level as small as 'max_size' says: export it smaller"
            ));
        }
    }
    let (width, height) = level_size(blocks.width, blocks.height, first);
    let mut levels = blocks.levels - first;
    let mut bytes = &blocks.bytes[start..];
    if import.mips == Some(false) {
        levels = 1;
        bytes = &bytes[..blocks.encoding.level_bytes(width, height)];
    }
    let head = Head {
        picture_width: blocks.width,
        picture_height: blocks.height,
        width,
        height,
        levels,
        format,
        filter: import.filter,
        wrap: import.wrap,
        small: false,
    };
    Ok(data::write(&head, bytes))
}
