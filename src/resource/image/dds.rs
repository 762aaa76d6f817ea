//! Reader of DDS files. Blocks of the BC family stay compressed; uncompressed texels become an
//! image. The format is described in Microsoft's "Programming Guide for DDS". Cubes, volumes and
//! arrays are refused.

use super::block_compressed::{
    BlockEncoding, CompressedTexture, check_blocks, check_header, cut_short, level_size,
};
use super::uncompressed::{self, TexelLayout};
use super::{DecodedImage, Image};
use engine_foundation::Error;
use engine_foundation::error;

pub const MAGIC: [u8; 4] = *b"DDS ";

const HEADER_BYTES: usize = 128;
const HEADER_10_BYTES: usize = 20;
/// Flags of the pixel format: a four-character code, uncompressed RGB, a single channel.
const FOUR_LETTERS: u32 = 0x4;
const RGB: u32 = 0x40;
const LUMINANCE: u32 = 0x20000;
/// Flags in the second word of the capabilities: a cube, a volume.
const CUBE: u32 = 0x200;
const VOLUME: u32 = 0x20_0000;

/// Format of the texels.
enum DdsFormat {
    Blocks(BlockEncoding, Option<bool>),
    Plain(TexelLayout),
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Error> {
    let found = bytes.get(at..at + 4).ok_or_else(cut_short)?;
    Ok(u32::from_le_bytes(found.try_into().expect("four bytes")))
}

/// Reads a file that begins with [`MAGIC`].
pub fn read(bytes: &[u8]) -> Result<DecodedImage, Error> {
    if bytes.len() < HEADER_BYTES {
        return Err(cut_short());
    }
    let (height, width) = (word(bytes, 12)?, word(bytes, 16)?);
    // Files without mip levels often store 0.
    let levels = word(bytes, 28)?.max(1);
    check_header(width, height, levels)?;
    let has_layers = word(bytes, 112)? & (CUBE | VOLUME) != 0;
    let (texels, start, arrays) = texels(bytes)?;
    if has_layers || arrays > 1 {
        return Err(error!(
            "cubes, volumes and arrays are no textures here: export a flat texture"
        ));
    }
    let data = &bytes[start..];
    match texels {
        DdsFormat::Plain(layout) => {
            let pixels = uncompressed::read(data, width, height, layout)?;
            Ok(DecodedImage::Image(Image { width, height, pixels }))
        }
        DdsFormat::Blocks(encoding, srgb) => {
            check_blocks(width, height)?;
            let sizes = (0..levels).map(|level| level_size(width, height, level));
            let all = sizes.map(|(w, h)| encoding.level_bytes(w, h)).sum();
            let bytes = data.get(..all).ok_or_else(cut_short)?.to_vec();
            Ok(DecodedImage::Blocks(CompressedTexture {
                width,
                height,
                levels,
                encoding,
                srgb,
                bytes,
            }))
        }
    }
}

/// Returns the format of the texels, their offset, and the number of textures in the array.
fn texels(bytes: &[u8]) -> Result<(DdsFormat, usize, u32), Error> {
    let flags = word(bytes, 80)?;
    let letters = &bytes[84..88];
    if flags & FOUR_LETTERS == 0 {
        return Ok((DdsFormat::Plain(masks(bytes, flags)?), HEADER_BYTES, 1));
    }
    let encoding = match letters {
        b"DX10" => {
            let start = HEADER_BYTES + HEADER_10_BYTES;
            if bytes.len() < start {
                return Err(cut_short());
            }
            return Ok((format_of_dxgi(word(bytes, 128)?)?, start, word(bytes, 140)?));
        }
        b"DXT1" => BlockEncoding::Bc1,
        b"DXT4" | b"DXT5" => BlockEncoding::Bc3,
        b"ATI1" | b"BC4U" => BlockEncoding::Bc4,
        b"ATI2" | b"BC5U" => BlockEncoding::Bc5,
        // A Direct3D 9 format number in place of the four-character code.
        [113, 0, 0, 0] => return Ok((DdsFormat::Plain(TexelLayout::Half), HEADER_BYTES, 1)),
        [116, 0, 0, 0] => return Ok((DdsFormat::Plain(TexelLayout::Float), HEADER_BYTES, 1)),
        _ => {
            let name = String::from_utf8_lossy(letters);
            return Err(unsupported(&format!("'{}'", name.escape_default())));
        }
    };
    Ok((DdsFormat::Blocks(encoding, None), HEADER_BYTES, 1))
}

/// Returns the format with a DXGI number.
fn format_of_dxgi(number: u32) -> Result<DdsFormat, Error> {
    Ok(match number {
        2 => DdsFormat::Plain(TexelLayout::Float),
        10 => DdsFormat::Plain(TexelLayout::Half),
        28 | 29 => DdsFormat::Plain(TexelLayout::Rgba),
        61 => DdsFormat::Plain(TexelLayout::Grey),
        87 | 91 => DdsFormat::Plain(TexelLayout::Bgra),
        88 | 93 => DdsFormat::Plain(TexelLayout::Bgrx),
        71 => DdsFormat::Blocks(BlockEncoding::Bc1, Some(false)),
        72 => DdsFormat::Blocks(BlockEncoding::Bc1, Some(true)),
        77 => DdsFormat::Blocks(BlockEncoding::Bc3, Some(false)),
        78 => DdsFormat::Blocks(BlockEncoding::Bc3, Some(true)),
        80 => DdsFormat::Blocks(BlockEncoding::Bc4, Some(false)),
        83 => DdsFormat::Blocks(BlockEncoding::Bc5, Some(false)),
        98 => DdsFormat::Blocks(BlockEncoding::Bc7, Some(false)),
        99 => DdsFormat::Blocks(BlockEncoding::Bc7, Some(true)),
        _ => return Err(unsupported(&format!("DXGI format {number}"))),
    })
}

/// Returns the texel layout described by channel masks.
fn masks(bytes: &[u8], flags: u32) -> Result<TexelLayout, Error> {
    let bits = word(bytes, 88)?;
    let red = word(bytes, 92)?;
    let alpha = word(bytes, 104)?;
    let plain = flags & RGB != 0;
    match (bits, red) {
        (32, 0xff) if plain && alpha != 0 => Ok(TexelLayout::Rgba),
        (32, 0xff) if plain => Ok(TexelLayout::Rgbx),
        (32, 0xff_0000) if plain && alpha != 0 => Ok(TexelLayout::Bgra),
        (32, 0xff_0000) if plain => Ok(TexelLayout::Bgrx),
        (24, 0xff_0000) if plain => Ok(TexelLayout::Bgr),
        (24, 0xff) if plain => Ok(TexelLayout::Rgb),
        (8, _) if flags & LUMINANCE != 0 => Ok(TexelLayout::Grey),
        _ => Err(unsupported(&format!("{bits} bits a texel with a red mask of {red:#x}"))),
    }
}

fn unsupported(name: &str) -> Error {
    error!(
        "the texture's format ({name}) cannot be read: export it as BC1, BC3, BC4, BC5, BC7 or \
         plain RGBA"
    )
}
