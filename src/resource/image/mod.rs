//! Image files: decoding with limits that are checked before large allocations, and PNG encoding.
//! Independent of the use of an image; textures are created elsewhere (src/system/textures). This
//! module decodes PNG, JPEG, TGA, BMP, QOI, WebP and HDR, with the special cases of jpeg.rs, bmp.rs
//! and tga.rs. DDS and KTX2, which can hold compressed blocks for the graphics card, are read by
//! dds.rs and ktx2.rs (with zstd.rs).

mod block_compressed;
mod bmp;
mod dds;
#[cfg(test)]
mod form_tests;
mod jpeg;
mod ktx2;
#[cfg(test)]
pub mod tests;
mod tga;
mod uncompressed;
pub mod zstd;

use ::image::codecs::png::PngDecoder;
use ::image::codecs::webp::WebPDecoder;
use ::image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use engine_foundation::Error;
use engine_foundation::error;
use jpeg::JpegScans;
use std::io::Cursor;

pub use block_compressed::{
    BlockEncoding, CompressedTexture, check_blocks, check_header, level_size, levels_of,
};
pub use uncompressed::{from_half, to_half};

/// Maximum width and height of an image in texels.
pub const SIDE_MAX: u32 = 16384;
/// Maximum number of texels of an image: 512 MiB at one byte per channel.
pub const TEXELS_MAX: u64 = 1 << 27;

/// File extensions of the formats that can be read.
pub const EXTENSIONS: [&str; 10] =
    ["png", "jpg", "jpeg", "tga", "bmp", "qoi", "webp", "hdr", "ktx2", "dds"];

/// An image: rows from the top, with red, green, blue and alpha for each texel, without padding.
#[derive(Clone, PartialEq, Debug)]
pub struct Image {
    pub width: u32,
    pub height: u32,
    pub pixels: PixelFormat,
}

/// Pixels of an image. Alpha is straight (not premultiplied).
#[derive(Clone, PartialEq, Debug)]
pub enum PixelFormat {
    /// One byte per channel; colors are sRGB.
    Bytes(Vec<u8>),
    /// Linear light, where 1 is white, of an image with high dynamic range.
    Floats(Vec<f32>),
}

/// Content of an image file.
#[derive(Clone, PartialEq, Debug)]
pub enum DecodedImage {
    Image(Image),
    /// All mip levels in compressed blocks, as the graphics card reads them.
    Blocks(CompressedTexture),
}

/// Returns the width and height that a picture's header states, in texels.
pub fn stated_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    reader.into_dimensions().ok()
}

/// Decodes a file. `extension` is the file's extension in lower case without the dot. The content
/// must match the extension. Images with 16 bits per channel are reduced to 8.
pub fn decode(bytes: &[u8], extension: &str) -> Result<DecodedImage, Error> {
    if bytes.is_empty() {
        return Err(error!("the file is empty"));
    }
    let wanted = format_of(extension);
    let known = sniff(bytes);
    if let Some(found) = known
        && known != wanted
    {
        return Err(match format_name(found) {
            (name, Some(ending)) => {
                error!("the file is {name}, not .{extension}: rename it to end in .{ending}")
            }
            (name, None) => error!("the file is {name}, which cannot be read: save it as PNG"),
        });
    }
    // A file without its format's signature has no valid header. TGA has no signature to check.
    let header_format = wanted.filter(|wanted| known.is_some() || *wanted == TGA);
    if let Some((width, height)) = peek(bytes, header_format) {
        check_size(width, height)?;
    }
    match wanted {
        Some(SourceFormat::Dds) => dds::read(bytes),
        Some(SourceFormat::Ktx2) => ktx2::read(bytes),
        Some(SourceFormat::Common(format)) => {
            decode_common(bytes, format, extension).map(DecodedImage::Image)
        }
        None => Err(error!(
            "'.{extension}' is no picture that can be read: use one of .{}",
            EXTENSIONS.join(", .")
        )),
    }
}

/// Encodes pixels as PNG. `rgba` has red, green, blue and straight alpha, rows from the top. Panics
/// unless `rgba` has `width * height * 4` bytes.
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

/// Encodes pixels as JPEG, without their alpha. `quality` is from 1 to 100; `rgba` as for
/// [`encode_png`]. Refuses pictures with a side above 65535, the maximum of the format, and `rgba`
/// with another number of bytes than `width * height * 4`.
pub fn encode_jpeg(width: u32, height: u32, rgba: &[u8], quality: u8) -> Result<Vec<u8>, Error> {
    let side = |side: u32| {
        u16::try_from(side).map_err(|_| error!("a JPEG has at most 65535 pixels a side: {side}"))
    };
    let pixels = JpegPixels { rgba, width: side(width)?, height: side(height)? };
    let wanted = u64::from(width) * u64::from(height) * 4;
    if rgba.len() as u64 != wanted {
        let found = rgba.len();
        return Err(error!("a picture of {width} x {height} needs {wanted} bytes, not {found}"));
    }
    let mut bytes = Vec::new();
    // `encode` would bring a copy of the encoder for each kind of pixels.
    jpeg_encoder::Encoder::new(&mut bytes, quality)
        .encode_image(pixels)
        .map_err(|reason| error!("the picture cannot be a JPEG: {reason}"))?;
    Ok(bytes)
}

/// Pixels of [`encode_jpeg`].
struct JpegPixels<'a> {
    rgba: &'a [u8],
    width: u16,
    height: u16,
}

impl jpeg_encoder::ImageBuffer for JpegPixels<'_> {
    fn get_jpeg_color_type(&self) -> jpeg_encoder::JpegColorType {
        jpeg_encoder::JpegColorType::Ycbcr
    }

    fn width(&self) -> u16 {
        self.width
    }

    fn height(&self) -> u16 {
        self.height
    }

    fn fill_buffers(&self, row: u16, buffers: &mut [Vec<u8>; 4]) {
        let bytes = usize::from(self.width) * 4;
        let pixels = &self.rgba[usize::from(row) * bytes..][..bytes];
        let [luma, blue, red, _] = buffers;
        for channel in [&mut *luma, &mut *blue, &mut *red] {
            channel.reserve(usize::from(self.width));
        }
        for pixel in pixels.chunks_exact(4) {
            let (y, cb, cr) = jpeg_encoder::rgb_to_ycbcr(pixel[0], pixel[1], pixel[2]);
            luma.push(y);
            blue.push(cb);
            red.push(cr);
        }
    }
}

/// Refuses sizes that no texture can have, before any allocation.
pub fn check_size(width: u32, height: u32) -> Result<(), Error> {
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

/// Reads the size from headers that have it at a fixed offset, so that the error message is the
/// engine's own.
fn peek(bytes: &[u8], format: Option<SourceFormat>) -> Option<(u32, u32)> {
    let bytes_at = |at: usize, count: usize| bytes.get(at..at + count);
    let u32_at =
        |at| bytes_at(at, 4).map(|b| u32::from_be_bytes(b.try_into().expect("four bytes")));
    let u16_at = |at| bytes_at(at, 2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])));
    match format {
        Some(SourceFormat::Common(ImageFormat::Png)) => u32_at(16).zip(u32_at(20)),
        Some(SourceFormat::Common(ImageFormat::Qoi)) => u32_at(4).zip(u32_at(8)),
        Some(SourceFormat::Common(ImageFormat::Tga)) => u16_at(12).zip(u16_at(14)),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum SourceFormat {
    Common(ImageFormat),
    Dds,
    Ktx2,
}

const TGA: SourceFormat = SourceFormat::Common(ImageFormat::Tga);

fn format_of(extension: &str) -> Option<SourceFormat> {
    Some(match extension {
        "png" => SourceFormat::Common(ImageFormat::Png),
        "jpg" | "jpeg" => SourceFormat::Common(ImageFormat::Jpeg),
        "tga" => SourceFormat::Common(ImageFormat::Tga),
        "bmp" => SourceFormat::Common(ImageFormat::Bmp),
        "qoi" => SourceFormat::Common(ImageFormat::Qoi),
        "webp" => SourceFormat::Common(ImageFormat::WebP),
        "hdr" => SourceFormat::Common(ImageFormat::Hdr),
        "dds" => SourceFormat::Dds,
        "ktx2" => SourceFormat::Ktx2,
        _ => return None,
    })
}

/// Detects the format from the first bytes of a file. TGA has no signature.
fn sniff(bytes: &[u8]) -> Option<SourceFormat> {
    if bytes.starts_with(&dds::MAGIC) {
        return Some(SourceFormat::Dds);
    }
    if bytes.starts_with(&ktx2::MAGIC) {
        return Some(SourceFormat::Ktx2);
    }
    ::image::guess_format(bytes).ok().map(SourceFormat::Common)
}

/// Returns the name of a format for messages, and the file extension of formats that can be read.
fn format_name(format: SourceFormat) -> (&'static str, Option<&'static str>) {
    match format {
        SourceFormat::Dds => ("a DDS texture", Some("dds")),
        SourceFormat::Ktx2 => ("a KTX2 texture", Some("ktx2")),
        SourceFormat::Common(ImageFormat::Png) => ("a PNG picture", Some("png")),
        SourceFormat::Common(ImageFormat::Jpeg) => ("a JPEG picture", Some("jpg")),
        SourceFormat::Common(ImageFormat::Tga) => ("a TGA picture", Some("tga")),
        SourceFormat::Common(ImageFormat::Bmp) => ("a BMP picture", Some("bmp")),
        SourceFormat::Common(ImageFormat::Qoi) => ("a QOI picture", Some("qoi")),
        SourceFormat::Common(ImageFormat::WebP) => ("a WebP picture", Some("webp")),
        SourceFormat::Common(ImageFormat::Hdr) => ("an HDR picture", Some("hdr")),
        SourceFormat::Common(ImageFormat::Gif) => ("a GIF picture", None),
        SourceFormat::Common(ImageFormat::Tiff) => ("a TIFF picture", None),
        SourceFormat::Common(_) => ("a picture of another format", None),
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_MAX);
    limits.max_image_height = Some(SIDE_MAX);
    // Sixteen bytes per texel, and 64 MiB for the decoder's own rows.
    limits.max_alloc = Some(TEXELS_MAX * 16 + (64 << 20));
    limits
}

fn decode_common(bytes: &[u8], format: ImageFormat, extension: &str) -> Result<Image, Error> {
    let decode_error = |reason: ImageError| error!("{}", limit_message(&reason, extension));
    match format {
        ImageFormat::Png => {
            let decoder =
                PngDecoder::with_limits(Cursor::new(bytes), limits()).map_err(decode_error)?;
            if decoder.is_apng().map_err(decode_error)? {
                return Err(animation_error());
            }
            decode_pixels(decoder, extension)
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(decode_error)?;
            if decoder.has_animation() {
                return Err(animation_error());
            }
            decode_pixels(decoder, extension)
        }
        ImageFormat::Jpeg => {
            let scans = jpeg::scans(bytes)?;
            if bytes.starts_with(&[0xff, 0xd8]) && jpeg::is_cut_short(bytes) {
                return Err(cut_short_error());
            }
            match scans {
                JpegScans::Separate => jpeg::decode_separate(bytes),
                JpegScans::Together => decode_plain(bytes, format, extension),
            }
        }
        ImageFormat::Bmp => decode_plain(&bmp::with_known_header(bytes)?, format, extension),
        ImageFormat::Tga => {
            let mut image = decode_plain(&tga::with_known_attributes(bytes), format, extension)?;
            if let PixelFormat::Bytes(texels) = &mut image.pixels {
                tga::apply_alpha(tga::alpha(bytes), texels);
            }
            Ok(image)
        }
        _ => decode_plain(bytes, format, extension),
    }
}

/// Decodes a file of a format without special cases.
fn decode_plain(bytes: &[u8], format: ImageFormat, extension: &str) -> Result<Image, Error> {
    let decode_error = |reason: ImageError| error!("{}", limit_message(&reason, extension));
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits());
    decode_pixels(reader.into_decoder().map_err(decode_error)?, extension)
}

fn cut_short_error() -> Error {
    error!("the file is cut short: copy or export it again")
}

fn animation_error() -> Error {
    error!("the picture moves: export its frames as a sheet (see the manual on textures)")
}

/// Checks the header before decoding.
fn decode_pixels(mut decoder: impl ImageDecoder, extension: &str) -> Result<Image, Error> {
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    let decode_error = |reason: ImageError| error!("{}", limit_message(&reason, extension));
    decoder.set_limits(limits()).map_err(decode_error)?;
    // A damaged orientation tag is no reason to refuse the image.
    let orientation = decoder.orientation().unwrap_or(::image::metadata::Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(decode_error)?;
    image.apply_orientation(orientation);
    let (width, height) = (image.width(), image.height());
    let pixels = match &image {
        DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_) => {
            PixelFormat::Floats(image.into_rgba32f().into_raw())
        }
        _ => PixelFormat::Bytes(image.into_rgba8().into_raw()),
    };
    Ok(Image { width, height, pixels })
}

fn limit_message(reason: &ImageError, extension: &str) -> String {
    match reason {
        ImageError::IoError(problem) if problem.kind() == std::io::ErrorKind::UnexpectedEof => {
            cut_short_error().message
        }
        ImageError::Unsupported(name) => {
            format!("this form of .{extension} cannot be read ({name}): save it as PNG")
        }
        ImageError::Limits(_) => format!(
            "the picture needs more room than {SIDE_MAX} x {SIDE_MAX} texels or {} million in all \
             (SIDE_MAX, TEXELS_MAX): make it smaller",
            TEXELS_MAX / 1_000_000
        ),
        other => {
            // Some decoders end their messages with a line break.
            let problem = other.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            let problem = problem.trim_end_matches('.');
            format!("the file is damaged ({problem}): export it again")
        }
    }
}
