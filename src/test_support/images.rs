//! Small images in all formats that the engine decodes.

use image::codecs::{bmp, hdr, jpeg, png, qoi, tga, webp};
use image::{ExtendedColorType, ImageEncoder};

/// Pixels of a 2 x 2 image: red, green, half transparent blue, white.
pub const SMALL: [u8; 16] = [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 128, 255, 255, 255, 255];

const KTX2_MAGIC: [u8; 12] = [0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, 13, 10, 0x1a, 10];
const KTX2_ZSTANDARD: u32 = 2;
/// Offset of the level index. Each entry has the level's offset and length, with eight bytes each,
/// and its uncompressed size.
const KTX2_LEVELS_AT: usize = 80;
const DDS_MAGIC: [u8; 4] = *b"DDS ";
/// Flags of the pixel format: a four-character code, uncompressed RGB, a single channel.
const DDS_FOUR_LETTERS: u32 = 0x4;
/// Maximum number of bytes that a block decompresses to, and minimum number of bytes that a block
/// occupies.
const ZSTD_BLOCK_BYTES: usize = 128 << 10;

/// Returns a small image in each format that can be decoded, by its extension.
pub fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let kind = ExtendedColorType::Rgba8;
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut encode = |extension, write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        files.push((extension, out));
    };
    encode("png", &|out| png::PngEncoder::new(out).write_image(&SMALL, 2, 2, kind).unwrap());
    encode("tga", &|out| tga::TgaEncoder::new(out).write_image(&SMALL, 2, 2, kind).unwrap());
    encode("bmp", &|out| bmp::BmpEncoder::new(out).write_image(&SMALL, 2, 2, kind).unwrap());
    encode("qoi", &|out| qoi::QoiEncoder::new(out).write_image(&SMALL, 2, 2, kind).unwrap());
    encode("webp", &|out| {
        webp::WebPEncoder::new_lossless(out).write_image(&SMALL, 2, 2, kind).unwrap()
    });
    for extension in ["jpg", "jpeg"] {
        encode(extension, &|out| {
            let encoder = jpeg::JpegEncoder::new_with_quality(out, 95);
            encoder.write_image(&[100; 64 * 3], 8, 8, ExtendedColorType::Rgb8).unwrap();
        });
    }
    encode("hdr", &|out| {
        let light = [image::Rgb([4.0f32, 0.5, 0.0]); 4];
        hdr::HdrEncoder::new(out).encode(&light, 2, 2).unwrap();
    });
    encode("dds", &|out| *out = dds_file(8, 8, b"DXT1", &[7; 32]));
    encode("ktx2", &|out| *out = ktx2_file(8, 8, 145, 0, &[&[7; 64]]));
    encode("ktx2", &|out| *out = ktx2_file(2, 2, 37, 2, &[&SMALL]));
    files
}

/// Writes a KTX2 file with mip levels. The levels are compressed if the scheme requires
/// it.
pub fn ktx2_file(width: u32, height: u32, format: u32, scheme: u32, levels: &[&[u8]]) -> Vec<u8> {
    let packed = levels.iter().map(|level| match scheme {
        KTX2_ZSTANDARD => zstd_stored(level),
        _ => level.to_vec(),
    });
    let packed: Vec<_> = packed.collect();
    let mut out = KTX2_MAGIC.to_vec();
    let count = levels.len() as u32;
    let values = [format, 1, width, height, 0, 0, 1, count, scheme, 0, 0, 0, 0, 0, 0, 0, 0];
    out.extend(values.iter().flat_map(|word: &u32| word.to_le_bytes()));
    let mut start = KTX2_LEVELS_AT + levels.len() * 24;
    for (level, packed) in levels.iter().zip(&packed) {
        for number in [start, packed.len(), level.len()] {
            out.extend((number as u64).to_le_bytes());
        }
        start += packed.len();
    }
    packed.iter().for_each(|level| out.extend(level));
    out
}

/// Returns a frame with uncompressed blocks.
pub fn zstd_stored(bytes: &[u8]) -> Vec<u8> {
    // The magic number, and a single-segment header with a size of eight bytes.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    out.extend((bytes.len() as u64).to_le_bytes());
    let mut blocks = bytes.chunks(ZSTD_BLOCK_BYTES).peekable();
    while let Some(block) = blocks.next() {
        let last = u32::from(blocks.peek().is_none());
        out.extend(&(last | (block.len() as u32) << 3).to_le_bytes()[..3]);
        out.extend(block);
    }
    out
}

/// Writes a block-compressed DDS file.
pub fn dds_file(width: u32, height: u32, letters: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut out = DDS_MAGIC.to_vec();
    let mut values = [0u32; 31];
    (values[0], values[2], values[3], values[6]) = (124, height, width, 1);
    (values[18], values[19], values[20]) = (32, DDS_FOUR_LETTERS, u32::from_le_bytes(*letters));
    out.extend(values.iter().flat_map(|word| word.to_le_bytes()));
    out.extend(data);
    out
}
