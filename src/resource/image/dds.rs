//! DDS files: blocks of the BC family as they are, and plain texels as a picture. The format is
//! Microsoft's "Programming Guide for DDS". Cubes, volumes and arrays are refused.

use super::blocks::{Blocks, Encoding, check_blocks, check_header, level_size, short};
use super::plain::{self, Layout};
use super::{Decoded, Image};
use crate::error;
use crate::foundation::Error;

pub const MAGIC: [u8; 4] = *b"DDS ";

const HEADER_BYTES: usize = 128;
const HEADER_10_BYTES: usize = 20;
/// Flags of the pixel format: a code of four letters, plain colours, one channel.
const FOUR_LETTERS: u32 = 0x4;
const RGB: u32 = 0x40;
const LUMINANCE: u32 = 0x20000;
/// Flags of the second word of capabilities: a cube, a volume.
const CUBE: u32 = 0x200;
const VOLUME: u32 = 0x20_0000;

/// What the texels are.
enum Texels {
    Blocks(Encoding, Option<bool>),
    Plain(Layout),
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Error> {
    let found = bytes.get(at..at + 4).ok_or_else(short)?;
    Ok(u32::from_le_bytes(found.try_into().expect("four bytes")))
}

/// Reads a file that begins with [`MAGIC`].
pub fn read(bytes: &[u8]) -> Result<Decoded, Error> {
    if bytes.len() < HEADER_BYTES {
        return Err(short());
    }
    let (height, width) = (word(bytes, 12)?, word(bytes, 16)?);
    // Files without levels often say 0.
    let levels = word(bytes, 28)?.max(1);
    check_header(width, height, levels)?;
    let several = word(bytes, 112)? & (CUBE | VOLUME) != 0;
    let (texels, start, arrays) = texels(bytes)?;
    if several || arrays > 1 {
        return Err(error!(
            "cubes, volumes and arrays are no textures here: export a flat texture"
        ));
    }
    let data = &bytes[start..];
    match texels {
        Texels::Plain(layout) => {
            let pixels = plain::read(data, width, height, layout)?;
            Ok(Decoded::Image(Image { width, height, pixels }))
        }
        Texels::Blocks(encoding, srgb) => {
            check_blocks(width, height)?;
            let sizes = (0..levels).map(|level| level_size(width, height, level));
            let all = sizes.map(|(w, h)| encoding.level_bytes(w, h)).sum();
            let bytes = data.get(..all).ok_or_else(short)?.to_vec();
            Ok(Decoded::Blocks(Blocks { width, height, levels, encoding, srgb, bytes }))
        }
    }
}

/// What the texels are, where they begin, and how many textures there are.
fn texels(bytes: &[u8]) -> Result<(Texels, usize, u32), Error> {
    let flags = word(bytes, 80)?;
    let letters = &bytes[84..88];
    if flags & FOUR_LETTERS == 0 {
        return Ok((Texels::Plain(masks(bytes, flags)?), HEADER_BYTES, 1));
    }
    let encoding = match letters {
        b"DX10" => {
            let start = HEADER_BYTES + HEADER_10_BYTES;
            if bytes.len() < start {
                return Err(short());
            }
            return Ok((numbered(word(bytes, 128)?)?, start, word(bytes, 140)?));
        }
        b"DXT1" => Encoding::Bc1,
        b"DXT4" | b"DXT5" => Encoding::Bc3,
        b"ATI1" | b"BC4U" => Encoding::Bc4,
        b"ATI2" | b"BC5U" => Encoding::Bc5,
        // The number of a format of Direct3D 9 stands where the letters would.
        [113, 0, 0, 0] => return Ok((Texels::Plain(Layout::Half), HEADER_BYTES, 1)),
        [116, 0, 0, 0] => return Ok((Texels::Plain(Layout::Float), HEADER_BYTES, 1)),
        _ => {
            let name = String::from_utf8_lossy(letters);
            return Err(cannot(&format!("'{}'", name.escape_default())));
        }
    };
    Ok((Texels::Blocks(encoding, None), HEADER_BYTES, 1))
}

/// A format by its DXGI number.
fn numbered(number: u32) -> Result<Texels, Error> {
    Ok(match number {
        2 => Texels::Plain(Layout::Float),
        10 => Texels::Plain(Layout::Half),
        28 | 29 => Texels::Plain(Layout::Rgba),
        61 => Texels::Plain(Layout::Grey),
        87 | 91 => Texels::Plain(Layout::Bgra),
        88 | 93 => Texels::Plain(Layout::Bgrx),
        71 => Texels::Blocks(Encoding::Bc1, Some(false)),
        72 => Texels::Blocks(Encoding::Bc1, Some(true)),
        77 => Texels::Blocks(Encoding::Bc3, Some(false)),
        78 => Texels::Blocks(Encoding::Bc3, Some(true)),
        80 => Texels::Blocks(Encoding::Bc4, Some(false)),
        83 => Texels::Blocks(Encoding::Bc5, Some(false)),
        98 => Texels::Blocks(Encoding::Bc7, Some(false)),
        99 => Texels::Blocks(Encoding::Bc7, Some(true)),
        _ => return Err(cannot(&format!("DXGI format {number}"))),
    })
}

/// A layout by the masks of its channels.
fn masks(bytes: &[u8], flags: u32) -> Result<Layout, Error> {
    let bits = word(bytes, 88)?;
    let red = word(bytes, 92)?;
    let alpha = word(bytes, 104)?;
    let plain = flags & RGB != 0;
    match (bits, red) {
        (32, 0xff) if plain && alpha != 0 => Ok(Layout::Rgba),
        (32, 0xff) if plain => Ok(Layout::Rgbx),
        (32, 0xff_0000) if plain && alpha != 0 => Ok(Layout::Bgra),
        (32, 0xff_0000) if plain => Ok(Layout::Bgrx),
        (24, 0xff_0000) if plain => Ok(Layout::Bgr),
        (24, 0xff) if plain => Ok(Layout::Rgb),
        (8, _) if flags & LUMINANCE != 0 => Ok(Layout::Grey),
        _ => Err(cannot(&format!("{bits} bits a texel with a red mask of {red:#x}"))),
    }
}

fn cannot(what: &str) -> Error {
    error!(
        "the texture's format ({what}) cannot be read: export it as BC1, BC3, BC4, BC5, BC7 or \
         plain RGBA"
    )
}

/// A DDS of blocks, for tests.
#[cfg(test)]
pub fn write(width: u32, height: u32, letters: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut words = [0u32; 31];
    (words[0], words[2], words[3], words[6]) = (124, height, width, 1);
    (words[18], words[19], words[20]) = (32, FOUR_LETTERS, u32::from_le_bytes(*letters));
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend(data);
    out
}
