//! Texture compiler: import settings (a `.texture` file next to the picture), decoding,
//! premultiplication by alpha, mip levels. Does not allocate atlas space.

use super::SMALL_SIDE_MAX;
use super::color_table_file;
use super::data::{self, FilterMode, TextureHeader};
use super::light_profile;
use super::mipmaps;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::{self, ObjectEntry};
use engine_foundation::suggest::hint;
use engine_frame_packet::texture::{TexelFormat, WrapMode};
use engine_resource::image::{
    BlockEncoding, CompressedTexture, DecodedImage, Image, PixelFormat, SIDE_MAX, check_size,
    decode as decode_bytes, level_size,
};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};

/// The resource kind of pictures and the settings next to them.
pub static TEXTURE: ResourceKind = ResourceKind {
    name: kind_names::TEXTURE,
    doc: "A picture, settings for the picture of the same name next to it, a colour table, or the \
          light of a lamp",
    extensions: &[
        ("texture", SourceForm::Own),
        ("png", SourceForm::Raw),
        ("jpg", SourceForm::Raw),
        ("jpeg", SourceForm::Raw),
        ("tga", SourceForm::Raw),
        ("bmp", SourceForm::Raw),
        ("qoi", SourceForm::Raw),
        ("webp", SourceForm::Raw),
        ("hdr", SourceForm::Raw),
        ("ktx2", SourceForm::Raw),
        ("dds", SourceForm::Raw),
        (color_table_file::EXTENSION, SourceForm::Raw),
        (light_profile::EXTENSION, SourceForm::Raw),
    ],
    version: 5,
    framed: false,
    reload: &[ReloadStep::Textures],
    compile: compiler(compile),
    validate: |bytes| data::read(bytes).map(drop),
};

/// Import settings in a `.texture` file.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportSettings {
    /// Path of the picture from the game's folder, if it is not the picture next to the file.
    pub source: Option<String>,
    pub filter: FilterMode,
    pub wrap: WrapMode,
    /// True for mip levels. `None`: if they can be generated for the format.
    pub mips: Option<bool>,
    /// True if the texels are numbers and not colors.
    pub data: bool,
    /// True if the compiler multiplies colors by their alpha. `None`: if the format allows it.
    pub premultiply: Option<bool>,
    /// True if it may share the atlas. `None`: if it is small enough.
    pub atlas: Option<bool>,
    /// Maximum number of texels of a side.
    pub max_size: Option<u32>,
    /// Path from the game's folder of the picture with its normals.
    pub normal_image: Option<String>,
}

impl ImportSettings {
    /// Settings of a picture without a `.texture` file.
    pub const DEFAULT: ImportSettings = ImportSettings {
        source: None,
        filter: FilterMode::Default,
        wrap: WrapMode::Clamp,
        mips: None,
        data: false,
        premultiply: None,
        atlas: None,
        max_size: None,
        normal_image: None,
    };
}

const KEYS: [&str; 9] = [
    "source",
    "filter",
    "wrap",
    "mips",
    "data",
    "premultiply",
    "atlas",
    "max_size",
    "normal_image",
];

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    if let Some(compile_numbers) = numbers_compiler(&compiling.path) {
        return compile_numbers(&compiling.path, &compiling.bytes);
    }
    if compiling.form == SourceForm::Raw {
        let decoded = decode(&compiling.path, &compiling.bytes)?;
        return build(decoded, &ImportSettings::DEFAULT)
            .map_err(|fault| at(&compiling.path, &fault));
    }
    let import = read_import(compiling)?;
    let path = match import.source.clone().or_else(|| compiling.files.first().cloned()) {
        Some(path) => path,
        None => {
            return Err(error!(
                "{}: there is no picture of the same name next to it: add one, or name it by \
                 source = \"path/of/picture.png\"",
                compiling.path
            ));
        }
    };
    if numbers_compiler(&path).is_some() {
        return Err(error!("{}: {path} has no settings: remove the file", compiling.path));
    }
    let bytes = compiling.read(&path)?;
    let decoded = decode(&path, &bytes)?;
    let data = build(decoded, &import).map_err(|fault| at(&compiling.path, &fault))?;
    let Some(path) = &import.normal_image else { return Ok(data) };
    if import.data {
        return Err(error!(
            "{}: only a picture has normals, and it holds data: take 'normal_image' out",
            compiling.path
        ));
    }
    let bytes = compiling.read(path)?;
    let normals = build_normals(decode(path, &bytes)?, &import, false);
    Ok(data::with_normals(data, &normals.map_err(|fault| at(path, &fault))?))
}

/// Compiles a file with the numbers of a texture. The first argument is its path.
type NumbersCompiler = fn(&str, &[u8]) -> Result<Vec<u8>, Error>;

/// Returns the compiler of a file that has the numbers of a texture, and no picture.
fn numbers_compiler(path: &str) -> Option<NumbersCompiler> {
    let (_, ending) = path.rsplit_once('.')?;
    let all: [(&str, NumbersCompiler); 2] = [
        (color_table_file::EXTENSION, color_table_file::compile),
        (light_profile::EXTENSION, light_profile::compile),
    ];
    let found = all.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
    found.map(|(_, compile)| *compile)
}

/// Returns an error with the path of the file as a prefix.
fn at(path: &str, fault: &Error) -> Error {
    error!("{path}: {}", fault.message)
}

/// Decodes a file by the extension of its path.
pub fn decode(path: &str, bytes: &[u8]) -> Result<DecodedImage, Error> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    decode_bytes(bytes, &extension.to_ascii_lowercase()).map_err(|fault| at(path, &fault))
}

fn read_import(compiling: &CompileContext) -> Result<ImportSettings, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
    let mut import = ImportSettings::DEFAULT;
    for entry in document.root().entries().into_iter().flatten() {
        set(&mut import, &entry).map_err(|message| compiling.error_at(entry.line(), &message))?;
    }
    Ok(import)
}

/// Applies one key of a `.texture` file, or of a sheet's settings.
pub fn set(import: &mut ImportSettings, entry: &ObjectEntry) -> Result<(), String> {
    let (key, value) = (entry.key, entry.value);
    let must = |expected: &str| format!("'{key}' must be {expected}, got {}", value.kind());
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
        "normal_image" => import.normal_image = Some(text()?.to_string()),
        "max_size" => {
            let size = value.as_f64().ok_or_else(|| must("a number"))?;
            if size.fract() != 0.0 || size < 1.0 || size > f64::from(SIDE_MAX) {
                let message = format!("'max_size' must be a whole number from 1 to {SIDE_MAX}");
                return Err(message);
            }
            import.max_size = Some(size as u32);
        }
        _ => return Err(format!("unknown setting '{key}'{}", hint(key, KEYS))),
    }
    Ok(())
}

/// Parses a filter.
pub fn filter(word: &str) -> Result<FilterMode, String> {
    match word {
        "linear" => Ok(FilterMode::Linear),
        "nearest" => Ok(FilterMode::Nearest),
        _ => Err(format!("'filter' must be \"linear\" or \"nearest\", got \"{word}\"")),
    }
}

/// Parses a wrap mode, which determines the texels beyond the edge.
pub fn wrap(word: &str) -> Result<WrapMode, String> {
    match word {
        "clamp" => Ok(WrapMode::Clamp),
        "repeat" => Ok(WrapMode::Repeat),
        "mirror" => Ok(WrapMode::Mirror),
        _ => Err(format!("'wrap' must be \"clamp\", \"repeat\" or \"mirror\", got \"{word}\"")),
    }
}

/// Builds the data of a texture.
pub fn build(decoded: DecodedImage, import: &ImportSettings) -> Result<Vec<u8>, Error> {
    match decoded {
        DecodedImage::Image(image) => of_image(image, import, None),
        DecodedImage::Blocks(blocks) => of_blocks(blocks, import),
    }
}

/// Builds the data of the texture with the normals of a picture with these settings. `small`: it
/// has the form of a texture in the atlas, for a page of a sheet.
///
/// # Errors
/// Returns an error if the normals have a form that cannot be read in the scene.
pub fn build_normals(
    decoded: DecodedImage,
    import: &ImportSettings,
    small: bool,
) -> Result<Vec<u8>, Error> {
    let import = ImportSettings { data: true, premultiply: None, atlas: None, ..import.clone() };
    match decoded {
        DecodedImage::Image(image) if matches!(image.pixels, PixelFormat::Bytes(_)) => {
            of_image(image, &import, Some(small))
        }
        DecodedImage::Blocks(blocks) if blocks.encoding == BlockEncoding::Bc7 => {
            of_blocks(blocks, &import)
        }
        _ => Err(error!(
            "normals must have 8 bits a channel, or be compressed as BC7: save them as PNG"
        )),
    }
}

/// `small`: it has the form of a texture in the atlas; `None`: if it can be there.
fn of_image(image: Image, import: &ImportSettings, small: Option<bool>) -> Result<Vec<u8>, Error> {
    let (picture_width, picture_height) = (image.width, image.height);
    // A sheet can cut out more than its picture has.
    check_size(picture_width, picture_height)?;
    let (format, mut bytes) = match image.pixels {
        PixelFormat::Floats(light) => (
            TexelFormat::Rgba16Float,
            mipmaps::to_halves(&light, import.premultiply.unwrap_or(!import.data)),
        ),
        PixelFormat::Bytes(bytes) if import.data => (TexelFormat::Rgba8, bytes),
        PixelFormat::Bytes(mut bytes) => {
            if import.premultiply != Some(false) {
                mipmaps::premultiply(&mut bytes);
            }
            (TexelFormat::Rgba8Srgb, bytes)
        }
    };
    let (mut width, mut height) = (picture_width, picture_height);
    while import.max_size.is_some_and(|most| width.max(height) > most) {
        bytes = mipmaps::next_mipmap(format, width, height, &bytes);
        (width, height) = level_size(width, height, 1);
    }
    let small = small.map_or_else(|| may_share(import, format, width, height), Ok)?;
    let (levels, mut bytes) = match !small && import.mips != Some(false) {
        true => mipmaps::chain(format, width, height, bytes),
        false => (1, bytes),
    };
    if small {
        bytes.extend(mipmaps::cell_levels(format, width, height, &bytes));
    }
    let (filter, wrap) = (import.filter, import.wrap);
    let head = TextureHeader {
        picture_width,
        picture_height,
        width,
        height,
        levels,
        format,
        filter,
        wrap,
        small,
        has_normals: false,
    };
    Ok(data::write(&head, &bytes))
}

/// Returns true if a texture shares the atlas. Returns an error if the settings require it and the
/// texture cannot.
fn may_share(
    import: &ImportSettings,
    format: TexelFormat,
    width: u32,
    height: u32,
) -> Result<bool, Error> {
    let reason = if import.wrap != WrapMode::Clamp {
        "it repeats (wrap)".to_string()
    } else if import.mips == Some(false) {
        "it has no smaller levels (mips = false)".to_string()
    } else if format == TexelFormat::Rgba8 {
        "it holds data".to_string()
    } else if format != TexelFormat::Rgba8Srgb {
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

fn of_blocks(blocks: CompressedTexture, import: &ImportSettings) -> Result<Vec<u8>, Error> {
    // The texture is data if the settings say so, or if the file says so and the settings do not.
    let data = import.data || blocks.srgb == Some(false) && blocks.encoding == BlockEncoding::Bc7;
    let format = match (blocks.encoding, data) {
        (BlockEncoding::Bc1 | BlockEncoding::Bc3, true) => {
            return Err(error!(
                "'data' cannot be true for BC1 and BC3, which hold colours: export it as BC7, BC5 \
                 or BC4"
            ));
        }
        (BlockEncoding::Bc1, false) => TexelFormat::Bc1Srgb,
        (BlockEncoding::Bc3, false) => TexelFormat::Bc3Srgb,
        (BlockEncoding::Bc4, _) => TexelFormat::Bc4,
        (BlockEncoding::Bc5, _) => TexelFormat::Bc5,
        (BlockEncoding::Bc7, true) => TexelFormat::Bc7,
        (BlockEncoding::Bc7, false) => TexelFormat::Bc7Srgb,
    };
    if import.premultiply == Some(true) {
        return Err(error!(
            "'premultiply' cannot be true for blocks, which are taken as they are: export them \
            with alpha multiplied in"
        ));
    }
    if import.atlas == Some(true) {
        return Err(error!(
            "it cannot share the atlas (atlas = true), because it is block-compressed"
        ));
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
                "it is block-compressed, and has no level as small as 'max_size' says: export it \
                 smaller"
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
    let head = TextureHeader {
        picture_width: blocks.width,
        picture_height: blocks.height,
        width,
        height,
        levels,
        format,
        filter: import.filter,
        wrap: import.wrap,
        small: false,
        has_normals: false,
    };
    Ok(data::write(&head, bytes))
}
