//! Reader of KTX2 files. Blocks of the BC family stay compressed; uncompressed texels become an
//! image. The format is described in Khronos's "KTX File Format Specification 2.0". Levels may be
//! compressed with Zstandard (zstd.rs). Other supercompression, cubes, volumes and arrays are
//! refused.

use super::block_compressed::{
    BlockEncoding, CompressedTexture, check_blocks, check_header, cut_short, level_size,
};
use super::uncompressed::{self, TexelLayout};
use super::{DecodedImage, Image, zstd};
use engine_foundation::Error;
use engine_foundation::error;
use std::borrow::Cow;

pub const MAGIC: [u8; 12] = [0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, 13, 10, 0x1a, 10];

/// Offset of the level index. Each entry has the level's offset and length, with eight bytes each,
/// and its uncompressed size.
const LEVELS_AT: usize = 80;
/// Supercompression schemes.
const PLAIN: u32 = 0;
const ZSTANDARD: u32 = 2;

enum Ktx2Format {
    Blocks(BlockEncoding, bool),
    Plain(TexelLayout),
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Error> {
    let found = bytes.get(at..at + 4).ok_or_else(cut_short)?;
    Ok(u32::from_le_bytes(found.try_into().expect("four bytes")))
}

/// Returns the bytes of a mip level. Their number must match the number of texels.
fn level(bytes: &[u8], scheme: u32, index: u32, wanted: usize) -> Result<Cow<'_, [u8]>, Error> {
    let at = LEVELS_AT + index as usize * 24;
    let number = |at: usize| -> Result<u64, Error> {
        Ok(u64::from(word(bytes, at)?) | u64::from(word(bytes, at + 4)?) << 32)
    };
    let (start, length, unpacked) = (number(at)?, number(at + 8)?, number(at + 16)?);
    let end = start.checked_add(length).ok_or_else(cut_short)?;
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let found = range.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(cut_short)?;
    let there = if scheme == PLAIN { found.len() as u64 } else { unpacked };
    // The size of compressed data is declared, so it is checked before decompression.
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
pub fn read(bytes: &[u8]) -> Result<DecodedImage, Error> {
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
        Ktx2Format::Plain(layout) => {
            let wanted = width as usize * height as usize * layout.bytes();
            let texels = level(bytes, scheme, 0, wanted)?;
            let pixels = uncompressed::read(&texels, width, height, layout)?;
            Ok(DecodedImage::Image(Image { width, height, pixels }))
        }
        Ktx2Format::Blocks(encoding, srgb) => {
            check_blocks(width, height)?;
            let mut data = Vec::new();
            for index in 0..levels {
                let (w, h) = level_size(width, height, index);
                data.extend_from_slice(&level(bytes, scheme, index, encoding.level_bytes(w, h))?);
            }
            let srgb = Some(srgb);
            Ok(DecodedImage::Blocks(CompressedTexture {
                width,
                height,
                levels,
                encoding,
                srgb,
                bytes: data,
            }))
        }
    }
}

/// Returns the format with a Vulkan number.
fn texels(number: u32) -> Result<Ktx2Format, Error> {
    Ok(match number {
        9 => Ktx2Format::Plain(TexelLayout::Grey),
        23 | 29 => Ktx2Format::Plain(TexelLayout::Rgb),
        37 | 43 => Ktx2Format::Plain(TexelLayout::Rgba),
        44 | 50 => Ktx2Format::Plain(TexelLayout::Bgra),
        97 => Ktx2Format::Plain(TexelLayout::Half),
        109 => Ktx2Format::Plain(TexelLayout::Float),
        131 | 133 => Ktx2Format::Blocks(BlockEncoding::Bc1, false),
        132 | 134 => Ktx2Format::Blocks(BlockEncoding::Bc1, true),
        137 => Ktx2Format::Blocks(BlockEncoding::Bc3, false),
        138 => Ktx2Format::Blocks(BlockEncoding::Bc3, true),
        139 => Ktx2Format::Blocks(BlockEncoding::Bc4, false),
        141 => Ktx2Format::Blocks(BlockEncoding::Bc5, false),
        145 => Ktx2Format::Blocks(BlockEncoding::Bc7, false),
        146 => Ktx2Format::Blocks(BlockEncoding::Bc7, true),
        0 => {
            return Err(error!(
                "the file is in Basis Universal (UASTC), which cannot be read: export it as BC7 or \
                 plain RGBA, for example by `ktx create` with --zstd and without --encode"
            ));
        }
        _ => {
            return Err(error!(
                "the texture's format (Vulkan format {number}) cannot be read: export it as BC1, \
                 BC3, BC4, BC5, BC7 or plain RGBA"
            ));
        }
    })
}
