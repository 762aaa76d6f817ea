//! Tests of image decoding: an image in every format, and damaged files. Malicious headers are
//! refused before any allocation.

use super::*;
use ::image::codecs::{bmp, hdr, jpeg, qoi, tga, webp};
use ::image::{ExtendedColorType, ImageEncoder};
use engine_test_support::images::{SMALL, dds_file, ktx2_file, samples};

/// Decodes a file with this extension, which must be an uncompressed image.
pub(super) fn image(bytes: &[u8], extension: &str) -> Image {
    match decode(bytes, extension).unwrap_or_else(|error| panic!("{extension}: {error}")) {
        DecodedImage::Image(image) => image,
        DecodedImage::Blocks(_) => panic!("{extension}: a picture was wanted"),
    }
}

#[track_caller]
pub(super) fn refused(bytes: &[u8], extension: &str, message: &str) {
    assert_eq!(decode(bytes, extension).unwrap_err().message, message);
}

/// Returns a PNG with a custom header: width, height, bits, color type.
fn png_header(width: u32, height: u32, bits: u8, kind: u8) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = b"IHDR".to_vec();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([bits, kind, 0, 0, 0]);
    out.extend(13u32.to_be_bytes());
    out.extend(&header);
    out.extend(crc(&header).to_be_bytes());
    out.extend([0, 0, 0, 0]);
    out.extend(b"IDAT");
    out.extend(crc(b"IDAT").to_be_bytes());
    out
}

/// Returns the checksum of PNG's chunks (ISO 3309).
pub(super) fn crc(bytes: &[u8]) -> u32 {
    let mut sum = !0u32;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

#[test]
fn a_png_survives_a_round_trip() {
    let image = image(&encode_png(2, 2, &SMALL), "png");
    assert_eq!((image.width, image.height), (2, 2));
    assert_eq!(image.pixels, PixelFormat::Bytes(SMALL.to_vec()));
}

#[test]
fn every_common_format_is_read() {
    let kind = ExtendedColorType::Rgba8;
    let mut out = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    tga::TgaEncoder::new(&mut out[0]).write_image(&SMALL, 2, 2, kind).unwrap();
    bmp::BmpEncoder::new(&mut out[1]).write_image(&SMALL, 2, 2, kind).unwrap();
    qoi::QoiEncoder::new(&mut out[2]).write_image(&SMALL, 2, 2, kind).unwrap();
    webp::WebPEncoder::new_lossless(&mut out[3]).write_image(&SMALL, 2, 2, kind).unwrap();
    for (bytes, extension) in out.iter().zip(["tga", "bmp", "qoi", "webp"]) {
        assert_eq!(
            image(bytes, extension).pixels,
            PixelFormat::Bytes(SMALL.to_vec()),
            "{extension}"
        );
    }
    let mut bytes = Vec::new();
    let grey = [100u8; 64 * 3];
    let encoder = jpeg::JpegEncoder::new_with_quality(&mut bytes, 95);
    encoder.write_image(&grey, 8, 8, ExtendedColorType::Rgb8).unwrap();
    for extension in ["jpg", "jpeg"] {
        let PixelFormat::Bytes(texels) = image(&bytes, extension).pixels else { panic!("bytes") };
        assert!(texels.chunks(4).all(|texel| texel[0].abs_diff(100) < 3 && texel[3] == 255));
    }
    let mut bytes = Vec::new();
    let light = [::image::Rgb([4.0f32, 0.5, 0.0]); 4];
    hdr::HdrEncoder::new(&mut bytes).encode(&light, 2, 2).unwrap();
    let PixelFormat::Floats(texels) = image(&bytes, "hdr").pixels else { panic!("floats") };
    assert_eq!(texels[..4], [4.0, 0.5, 0.0, 1.0]);
}

#[test]
fn grey_sixteen_bit_and_palette_images_become_rgba() {
    let encoded = |bytes: &[u8], kind| {
        let mut out = Vec::new();
        let encoder = ::image::codecs::png::PngEncoder::new(&mut out);
        encoder.write_image(bytes, 2, 1, kind).unwrap();
        image(&out, "png").pixels
    };
    let wanted = PixelFormat::Bytes(vec![0, 0, 0, 255, 128, 128, 128, 255]);
    assert_eq!(encoded(&[0, 128], ExtendedColorType::L8), wanted);
    let halves = [0u16, 0x8080].map(u16::to_ne_bytes).concat();
    assert_eq!(encoded(&halves, ExtendedColorType::L16), wanted);
    // A BMP of 2 x 1 with a palette of two colors and one bit per texel.
    let mut bytes = b"BM".to_vec();
    for word in [66u32, 0, 62, 40, 2, 1] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([1, 0, 1, 0]);
    bytes.extend([0u8; 24]);
    bytes.extend([0, 0, 0, 0, 128, 128, 128, 0, 0b0100_0000, 0, 0, 0]);
    assert_eq!(image(&bytes, "bmp").pixels, wanted);
}

#[test]
fn an_enormous_header_is_refused_before_allocation() {
    let message = "the picture is 60000 x 60000, and 16384 is the most for either side (SIDE_MAX): \
                   make it smaller";
    refused(&png_header(60_000, 60_000, 8, 6), "png", message);
    refused(
        &png_header(16_384, 16_384, 8, 6),
        "png",
        "the picture is 16384 x 16384, more than 134 million texels (TEXELS_MAX): make it smaller",
    );
    let mut qoi = b"qoif".to_vec();
    qoi.extend([0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 4, 0]);
    refused(&qoi, "qoi", message);
    let mut tga = vec![0u8; 18];
    (tga[2], tga[12], tga[13], tga[14], tga[15], tga[16]) = (2, 0x60, 0xea, 0x60, 0xea, 32);
    refused(&tga, "tga", message);
    let dds = dds_file(60_000, 60_000, b"DXT1", &[]);
    refused(&dds, "dds", message);
}

#[test]
fn an_image_without_texels_is_refused() {
    let mut tga = vec![0u8; 18];
    (tga[2], tga[16]) = (2, 32);
    refused(&tga, "tga", "the picture has no texels: it is 0 x 0");
    let dds = dds_file(0, 4, b"DXT1", &[]);
    refused(&dds, "dds", "the picture has no texels: it is 0 x 4");
    refused(&png_header(0, 3, 8, 6), "png", "the picture has no texels: it is 0 x 3");
}

#[test]
fn the_extension_must_match_the_content() {
    let png = encode_png(2, 2, &SMALL);
    refused(&png, "jpg", "the file is a PNG picture, not .jpg: rename it to end in .png");
    refused(&png, "tga", "the file is a PNG picture, not .tga: rename it to end in .png");
    refused(
        b"GIF89a....",
        "png",
        "the file is a GIF picture, which cannot be read: save it as PNG",
    );
    refused(b"", "png", "the file is empty");
    assert!(decode(b"text", "png").is_err() && decode(b"text", "txt").is_err());
    // Bytes of no known format have no size.
    for extension in ["png", "qoi"] {
        let message = decode(&[0xfe; 64], extension).unwrap_err().message;
        assert!(message.contains("damaged"), "{extension}: {message}");
    }
}

#[test]
fn a_file_truncated_at_any_byte_is_refused_with_a_message() {
    let png = encode_png(2, 2, &SMALL);
    for length in 8..png.len() - 12 {
        let message = decode(&png[..length], "png").unwrap_err().message;
        assert!(
            message.contains("cut short") || message.contains("damaged"),
            "{length}: {message}"
        );
    }
    let dds = dds_file(8, 8, b"DXT5", &[7; 64]);
    let ktx2 = ktx2_file(8, 8, 145, 0, &[&[7; 64]]);
    for (bytes, extension) in [(dds, "dds"), (ktx2, "ktx2")] {
        assert!(decode(&bytes, extension).is_ok());
        for length in 12..bytes.len() {
            let message = decode(&bytes[..length], extension).unwrap_err().message;
            assert!(message.contains("cut short"), "{extension} {length}: {message}");
        }
    }
}

#[test]
fn no_flipped_bit_causes_a_panic() {
    let mut tried = 0;
    for (extension, bytes) in samples() {
        for bit in 0..bytes.len().min(120) * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // Decoding may fail or succeed, but it must return.
            tried += usize::from(decode(&bytes, extension).is_ok()).min(1) + 1;
        }
    }
    assert!(tried > 4000);
}

#[test]
fn compressed_blocks_are_kept_unchanged() {
    let blocks: Vec<u8> = (0..48).collect();
    let dds = dds_file(8, 4, b"DXT5", &blocks[..32]);
    let Ok(DecodedImage::Blocks(found)) = decode(&dds, "dds") else { panic!("blocks") };
    assert_eq!((found.width, found.height, found.levels), (8, 4, 1));
    assert_eq!((found.encoding, found.srgb), (BlockEncoding::Bc3, None));
    assert_eq!(found.bytes, blocks[..32]);
    let ktx2 = ktx2_file(8, 4, 146, 0, &[&blocks[..32], &blocks[32..]]);
    let Ok(DecodedImage::Blocks(found)) = decode(&ktx2, "ktx2") else { panic!("blocks") };
    assert_eq!((found.encoding, found.srgb, found.levels), (BlockEncoding::Bc7, Some(true), 2));
    assert_eq!(found.bytes, blocks);
    let packed = ktx2_file(8, 4, 146, 2, &[&blocks[..32], &blocks[32..]]);
    let Ok(DecodedImage::Blocks(unpacked)) = decode(&packed, "ktx2") else { panic!("blocks") };
    assert_eq!(unpacked, found, "packed by Zstandard it is the same");
}

#[test]
fn compressed_levels_of_wrong_size_are_refused() {
    let whole = ktx2_file(2, 2, 37, 2, &[&SMALL]);
    assert_eq!(image(&whole, "ktx2"), image(&ktx2_file(2, 2, 37, 0, &[&SMALL]), "ktx2"));
    // Offset of the uncompressed size, and offset of the compressed bytes.
    let (size, start) = (80 + 16, 80 + 24);
    let with = |at: usize, bytes: &[u8]| {
        let mut file = whole.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    for level_bytes in [15u8, 17] {
        let message = format!("the file is damaged: level 1 has {level_bytes} bytes and needs 16");
        refused(&with(size, &[level_bytes]), "ktx2", &message);
    }
    refused(
        &with(start + 13, &[1 | 15 << 3]),
        "ktx2",
        "the file is damaged: level 1: it contains only 15 of the stated 16 bytes",
    );
    // A header of the largest texture, followed by almost no data.
    let mut bomb = with(20, &[0, 64, 0, 0, 0, 32, 0, 0]);
    bomb[size..size + 8].copy_from_slice(&(16384u64 * 8192 * 4).to_le_bytes());
    refused(
        &bomb,
        "ktx2",
        "the file is damaged: level 1: 32 compressed bytes cannot contain the stated \
         536870912 bytes",
    );
    for length in 12..whole.len() {
        assert!(decode(&whole[..length], "ktx2").is_err(), "{length}");
    }
}

#[test]
fn uncompressed_texels_in_containers_are_images() {
    let ktx2 = ktx2_file(2, 2, 44, 0, &[&SMALL]);
    let PixelFormat::Bytes(texels) = image(&ktx2, "ktx2").pixels else { panic!("bytes") };
    assert_eq!(texels[..4], [0, 0, 255, 255], "blue stands first in the file");
    let halves: Vec<u8> =
        [0x4400u16, 0x3800, 0, 0x3c00].iter().flat_map(|half| half.to_le_bytes()).collect();
    let ktx2 = ktx2_file(1, 1, 97, 0, &[&halves]);
    assert_eq!(image(&ktx2, "ktx2").pixels, PixelFormat::Floats(vec![4.0, 0.5, 0.0, 1.0]));
}

#[test]
fn unsupported_container_contents_are_refused() {
    refused(
        &ktx2_file(4, 4, 0, 1, &[&[0; 16]]),
        "ktx2",
        "the file is supercompressed (BasisLZ), which cannot be read: export it with Zstandard or \
         without supercompression, for example by `ktx create` with --zstd and without --encode",
    );
    refused(
        &ktx2_file(4, 4, 0, 2, &[&[0; 16]]),
        "ktx2",
        "the file is in Basis Universal (UASTC), which cannot be read: export it as BC7 or plain \
         RGBA, for example by `ktx create` with --zstd and without --encode",
    );
    refused(
        &ktx2_file(4, 4, 143, 0, &[&[0; 16]]),
        "ktx2",
        "the texture's format (Vulkan format 143) cannot be read: export it as BC1, BC3, BC4, BC5, \
         BC7 or plain RGBA",
    );
    refused(
        &dds_file(6, 4, b"DXT1", &[0; 16]),
        "dds",
        "the texture is 6 x 4, and textures in blocks must be multiples of 4: resize it",
    );
    let mut cube = dds_file(4, 4, b"DXT1", &[0; 16]);
    cube[113] = 2;
    refused(&cube, "dds", "cubes, volumes and arrays are no textures here: export a flat texture");
    let mut levels = dds_file(4, 4, b"DXT1", &[0; 16]);
    levels[28] = 9;
    refused(
        &levels,
        "dds",
        "the file is damaged: it says it has 9 levels, and 4 x 4 texels have 1 to 3",
    );
}

#[test]
fn half_floats_round_to_the_nearest() {
    for (value, half) in [(1.0, 0x3c00), (-2.0, 0xc000), (0.0, 0), (65504.0, 0x7bff), (1e9, 0x7bff)]
    {
        assert_eq!(to_half(value), half, "{value}");
    }
    for half in (0..0x7c00).step_by(7) {
        assert_eq!(to_half(uncompressed::from_half(half)), half);
    }
    assert_eq!(to_half(f32::NAN), 0);
}
