//! Pictures as files: decoding them, with limits that are checked before anything large is
//! allocated, and encoding PNG. Knows nothing of what a picture is for; textures are made elsewhere
//! (src/system/textures). PNG, JPEG, TGA, BMP, QOI, WebP and HDR are decoded here; DDS and KTX2,
//! which can hold blocks for the graphics card, are read by dds.rs and ktx2.rs (with zstd.rs).

mod blocks;
mod dds;
mod ktx2;
mod plain;
#[cfg(test)]
pub mod tests;
mod zstd;

use crate::error;
use crate::foundation::Error;
use ::image::codecs::png::PngDecoder;
use ::image::codecs::webp::WebPDecoder;
use ::image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use std::io::Cursor;

pub use blocks::{Blocks, Encoding, check_blocks, check_header, level_size, levels_of};
#[cfg(test)]
pub use ktx2::write as write_ktx2;
pub use plain::{from_half, to_half};

/// The most texels that a picture can be wide or high.
pub const SIDE_MAX: u32 = 16384;
/// The most texels that a picture can have in all: 512 MiB, a byte for each part of the colour.
pub const TEXELS_MAX: u64 = 1 << 27;

/// The endings of the files that are read.
pub const EXTENSIONS: [&str; 10] =
    ["png", "jpg", "jpeg", "tga", "bmp", "qoi", "webp", "hdr", "ktx2", "dds"];

/// A picture: rows from the top, red, green, blue and alpha for each texel, without padding.
#[derive(Clone, PartialEq, Debug)]
pub struct Image {
    pub width: u32,
    pub height: u32,
    pub pixels: Pixels,
}

/// The parts of a picture's colours. Alpha is not multiplied in.
#[derive(Clone, PartialEq, Debug)]
pub enum Pixels {
    /// A byte for each part; colours are sRGB.
    Bytes(Vec<u8>),
    /// Linear light, 1 is white, of a picture with a high range.
    Floats(Vec<f32>),
}

/// What a file held.
#[derive(Clone, PartialEq, Debug)]
pub enum Decoded {
    Image(Image),
    /// Blocks as the graphics card reads them, every level.
    Blocks(Blocks),
}

/// Decodes a file. `extension` is the file's ending, in lower case and without the dot: what is in
/// the file must be what the ending says. Pictures of 16 bits a part come out with 8.
pub fn decode(bytes: &[u8], extension: &str) -> Result<Decoded, Error> {
    if bytes.is_empty() {
        return Err(error!("the file is empty"));
    }
    let wanted = format_of(extension);
    let known = sniff(bytes);
    if let Some(found) = known
        && known != wanted
    {
        let (name, ending) = words_of(found);
        return Err(error!("the file is {name}, not .{extension}: rename it to end in .{ending}"));
    }
    // What does not begin as its format does has no header; of TGA that cannot be told.
    let headed = wanted.filter(|wanted| known.is_some() || *wanted == TGA);
    if let Some((width, height)) = peek(bytes, headed) {
        check_size(width, height)?;
    }
    match wanted {
        Some(Format::Dds) => dds::read(bytes),
        Some(Format::Ktx2) => ktx2::read(bytes),
        Some(Format::Common(format)) => common(bytes, format, extension).map(Decoded::Image),
        None => Err(error!(
            "'.{extension}' is no picture that can be read: use one of .{}",
            EXTENSIONS.join(", .")
        )),
    }
}

/// A PNG of a picture's bytes: red, green, blue, alpha (not multiplied in), rows from the top.
/// Panics unless `rgba` has `width * height * 4` bytes.
pub fn encode_png(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    use ::image::ImageEncoder;
    use ::image::codecs::png::{CompressionType, FilterType, PngEncoder};
    let mut out = Vec::new();
    let encoder =
        PngEncoder::new_with_quality(&mut out, CompressionType::Fast, FilterType::Adaptive);
    let kind = ::image::ExtendedColorType::Rgba8;
    encoder.write_image(rgba, width, height, kind).expect("memory can be written to");
    out
}

/// Refuses sizes that no texture can have, before anything is allocated for them.
fn check_size(width: u32, height: u32) -> Result<(), Error> {
    if width == 0 || height == 0 {
        return Err(error!("the picture has no texels: it is {width} x {height}"));
    }
    if width > SIDE_MAX || height > SIDE_MAX {
        return Err(error!(
            "the picture is {width} x {height}, and {SIDE_MAX} is the most for either side \
             (SIDE_MAX): make it smaller"
        ));
    }
    if u64::from(width) * u64::from(height) > TEXELS_MAX {
        return Err(error!(
            "the picture is {width} x {height}, more than {} million texels (TEXELS_MAX): make it \
             smaller",
            TEXELS_MAX / 1_000_000
        ));
    }
    Ok(())
}

/// The size in the headers that have it at a fixed place, so that its words are ours.
fn peek(bytes: &[u8], format: Option<Format>) -> Option<(u32, u32)> {
    let part = |at: usize, count: usize| bytes.get(at..at + count);
    let big = |at| part(at, 4).map(|b| u32::from_be_bytes(b.try_into().expect("four bytes")));
    let short = |at| part(at, 2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])));
    match format {
        Some(Format::Common(ImageFormat::Png)) => big(16).zip(big(20)),
        Some(Format::Common(ImageFormat::Qoi)) => big(4).zip(big(8)),
        Some(Format::Common(ImageFormat::Tga)) => short(12).zip(short(14)),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Common(ImageFormat),
    Dds,
    Ktx2,
}

const TGA: Format = Format::Common(ImageFormat::Tga);

fn format_of(extension: &str) -> Option<Format> {
    Some(match extension {
        "png" => Format::Common(ImageFormat::Png),
        "jpg" | "jpeg" => Format::Common(ImageFormat::Jpeg),
        "tga" => Format::Common(ImageFormat::Tga),
        "bmp" => Format::Common(ImageFormat::Bmp),
        "qoi" => Format::Common(ImageFormat::Qoi),
        "webp" => Format::Common(ImageFormat::WebP),
        "hdr" => Format::Common(ImageFormat::Hdr),
        "dds" => Format::Dds,
        "ktx2" => Format::Ktx2,
        _ => return None,
    })
}

/// What the first bytes say that a file is. TGA has no such bytes.
fn sniff(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(&dds::MAGIC) {
        return Some(Format::Dds);
    }
    if bytes.starts_with(&ktx2::MAGIC) {
        return Some(Format::Ktx2);
    }
    ::image::guess_format(bytes).ok().map(Format::Common)
}

/// What a format is called, and the ending of its files.
fn words_of(format: Format) -> (&'static str, &'static str) {
    match format {
        Format::Dds => ("a DDS texture", "dds"),
        Format::Ktx2 => ("a KTX2 texture", "ktx2"),
        Format::Common(ImageFormat::Png) => ("a PNG picture", "png"),
        Format::Common(ImageFormat::Jpeg) => ("a JPEG picture", "jpg"),
        Format::Common(ImageFormat::Tga) => ("a TGA picture", "tga"),
        Format::Common(ImageFormat::Bmp) => ("a BMP picture", "bmp"),
        Format::Common(ImageFormat::Qoi) => ("a QOI picture", "qoi"),
        Format::Common(ImageFormat::WebP) => ("a WebP picture", "webp"),
        Format::Common(ImageFormat::Hdr) => ("an HDR picture", "hdr"),
        Format::Common(ImageFormat::Gif) => {
            ("a GIF, which cannot be read; save it as PNG, or as a sheet if it moves", "png")
        }
        Format::Common(_) => ("in a format that cannot be read; save it as PNG", "png"),
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_MAX);
    limits.max_image_height = Some(SIDE_MAX);
    // Sixteen bytes a texel, and as much again for the decoder's own rows.
    limits.max_alloc = Some(TEXELS_MAX * 16 + (64 << 20));
    limits
}

fn common(bytes: &[u8], format: ImageFormat, extension: &str) -> Result<Image, Error> {
    let wrong = |reason: ImageError| error!("{}", words_for(&reason, extension));
    match format {
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(Cursor::new(bytes), limits()).map_err(wrong)?;
            if decoder.is_apng().map_err(wrong)? {
                return Err(moving());
            }
            finish(decoder, extension)
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(wrong)?;
            if decoder.has_animation() {
                return Err(moving());
            }
            finish(decoder, extension)
        }
        _ => {
            let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
            reader.limits(limits());
            finish(reader.into_decoder().map_err(wrong)?, extension)
        }
    }
}

fn moving() -> Error {
    error!("the picture moves: export its frames as a sheet (see the manual on textures)")
}

/// Checks what the header says, and only then decodes.
fn finish(mut decoder: impl ImageDecoder, extension: &str) -> Result<Image, Error> {
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    let wrong = |reason: ImageError| error!("{}", words_for(&reason, extension));
    decoder.set_limits(limits()).map_err(wrong)?;
    // A damaged note about the orientation is no reason to refuse the picture.
    let turned = decoder.orientation().unwrap_or(::image::metadata::Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(wrong)?;
    image.apply_orientation(turned);
    let (width, height) = (image.width(), image.height());
    let pixels = match &image {
        DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_) => {
            Pixels::Floats(image.into_rgba32f().into_raw())
        }
        _ => Pixels::Bytes(image.into_rgba8().into_raw()),
    };
    Ok(Image { width, height, pixels })
}

fn words_for(reason: &ImageError, extension: &str) -> String {
    match reason {
        ImageError::IoError(fault) if fault.kind() == std::io::ErrorKind::UnexpectedEof => {
            "the file is cut short: copy or export it again".to_string()
        }
        ImageError::Unsupported(what) => {
            format!("this form of .{extension} cannot be read ({what}): save it as PNG")
        }
        ImageError::Limits(_) => format!(
            "the picture needs more room than {SIDE_MAX} x {SIDE_MAX} texels or {} million in all \
             (SIDE_MAX, TEXELS_MAX): make it smaller",
            TEXELS_MAX / 1_000_000
        ),
        other => {
            let fault = other.to_string();
            let fault = fault.trim_end_matches('.');
            format!("the file is damaged ({fault}): export it again")
        }
    }
}
