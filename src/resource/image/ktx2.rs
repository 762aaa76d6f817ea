//! KTX2 files: blocks of the BC family as they are, and plain texels as a picture. The format is
//! Khronos's "KTX File Format Specification 2.0". Levels may be packed by Zstandard (zstd.rs);
//! other supercompression, cubes, volumes and arrays are refused.

use super::blocks::{Blocks, Encoding, check_blocks, check_header, level_size, short};
use super::plain::{self, Layout};
use super::{Decoded, Image, zstd};
use crate::error;
use crate::foundation::Error;
use std::borrow::Cow;

pub const MAGIC: [u8; 12] = [0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, 13, 10, 0x1a, 10];

/// Where the places of the levels are told: two words of eight bytes and the size unpacked, each.
const LEVELS_AT: usize = 80;
/// Schemes of supercompression.
const PLAIN: u32 = 0;
const ZSTANDARD: u32 = 2;

enum Texels {
    Blocks(Encoding, bool),
    Plain(Layout),
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Error> {
    let found = bytes.get(at..at + 4).ok_or_else(short)?;
    Ok(u32::from_le_bytes(found.try_into().expect("four bytes")))
}

/// The bytes of a level, which must be as many as it has texels for.
fn level(bytes: &[u8], scheme: u32, index: u32, wanted: usize) -> Result<Cow<'_, [u8]>, Error> {
    let at = LEVELS_AT + index as usize * 24;
    let number = |at: usize| -> Result<u64, Error> {
        Ok(u64::from(word(bytes, at)?) | u64::from(word(bytes, at + 4)?) << 32)
    };
    let (start, length, unpacked) = (number(at)?, number(at + 8)?, number(at + 16)?);
    let end = start.checked_add(length).ok_or_else(short)?;
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let found = range.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(short)?;
    let there = if scheme == PLAIN { found.len() as u64 } else { unpacked };
    // What is packed has the size that it says, which is known before it is unpacked.
    if there < wanted as u64 || scheme != PLAIN && there > wanted as u64 {
        let index = index + 1;
        return Err(error!(
            "the file is damaged: level {index} has {there} bytes and needs {wanted}"
        ));
    }
    match scheme {
        PLAIN => Ok(Cow::Borrowed(&found[..wanted])),
        _ => zstd::unpack(found, wanted).map(Cow::Owned).map_err(|reason| {
            error!("the file is damaged: level {}: {}", index + 1, reason.message)
        }),
    }
}

/// Reads a file that begins with [`MAGIC`].
pub fn read(bytes: &[u8]) -> Result<Decoded, Error> {
    let scheme = word(bytes, 44)?;
    if scheme != PLAIN && scheme != ZSTANDARD {
        let name = match scheme {
            1 => "BasisLZ",
            3 => "ZLIB",
            _ => "an unknown scheme",
        };
        return Err(error!(
            "the file is supercompressed ({name}), which cannot be read: export it with Zstandard \
             or without supercompression, for example by `ktx create` with --zstd and without \
             --encode"
        ));
    }
    let (width, height) = (word(bytes, 20)?, word(bytes, 24)?);
    let levels = word(bytes, 40)?.max(1);
    check_header(width, height, levels)?;
    let (depth, layers, faces) = (word(bytes, 28)?, word(bytes, 32)?, word(bytes, 36)?);
    if depth > 1 || layers > 1 || faces > 1 {
        return Err(error!(
            "cubes, volumes and arrays are no textures here: export a flat texture"
        ));
    }
    match texels(word(bytes, 12)?)? {
        Texels::Plain(layout) => {
            let wanted = width as usize * height as usize * layout.bytes();
            let texels = level(bytes, scheme, 0, wanted)?;
            let pixels = plain::read(&texels, width, height, layout)?;
            Ok(Decoded::Image(Image { width, height, pixels }))
        }
        Texels::Blocks(encoding, srgb) => {
            check_blocks(width, height)?;
            let mut data = Vec::new();
            for index in 0..levels {
                let (w, h) = level_size(width, height, index);
                data.extend_from_slice(&level(bytes, scheme, index, encoding.level_bytes(w, h))?);
            }
            let srgb = Some(srgb);
            Ok(Decoded::Blocks(Blocks { width, height, levels, encoding, srgb, bytes: data }))
        }
    }
}

/// A format by its Vulkan number.
fn texels(number: u32) -> Result<Texels, Error> {
    Ok(match number {
        9 => Texels::Plain(Layout::Grey),
        23 | 29 => Texels::Plain(Layout::Rgb),
        37 | 43 => Texels::Plain(Layout::Rgba),
        44 | 50 => Texels::Plain(Layout::Bgra),
        97 => Texels::Plain(Layout::Half),
        109 => Texels::Plain(Layout::Float),
        131 | 133 => Texels::Blocks(Encoding::Bc1, false),
        132 | 134 => Texels::Blocks(Encoding::Bc1, true),
        137 => Texels::Blocks(Encoding::Bc3, false),
        138 => Texels::Blocks(Encoding::Bc3, true),
        139 => Texels::Blocks(Encoding::Bc4, false),
        141 => Texels::Blocks(Encoding::Bc5, false),
        145 => Texels::Blocks(Encoding::Bc7, false),
        146 => Texels::Blocks(Encoding::Bc7, true),
        _ => {
            return Err(error!(
                "the texture's format (Vulkan format {number}) cannot be read: export it as BC1, \
                 BC3, BC4, BC5, BC7 or plain RGBA"
            ));
        }
    })
}

/// A KTX2 with levels, for tests: packed where the scheme says so.
#[cfg(test)]
pub fn write(width: u32, height: u32, format: u32, scheme: u32, levels: &[&[u8]]) -> Vec<u8> {
    let packed = levels.iter().map(|level| match scheme {
        ZSTANDARD => zstd::stored(level),
        _ => level.to_vec(),
    });
    let packed: Vec<_> = packed.collect();
    let mut out = MAGIC.to_vec();
    let count = levels.len() as u32;
    let words = [format, 1, width, height, 0, 0, 1, count, scheme, 0, 0, 0, 0, 0, 0, 0, 0];
    out.extend(words.iter().flat_map(|word: &u32| word.to_le_bytes()));
    let mut start = LEVELS_AT + levels.len() * 24;
    for (level, packed) in levels.iter().zip(&packed) {
        for number in [start, packed.len(), level.len()] {
            out.extend((number as u64).to_le_bytes());
        }
        start += packed.len();
    }
    packed.iter().for_each(|level| out.extend(level));
    out
}
