//! Tests of rare forms of common formats: JPEG with separate scans, BMP of OS/2 and with run
//! lengths, attribute bits of TGA, transparent colors of PNG.

use super::tests::{crc, image, refused};
use super::*;

fn texels(bytes: &[u8], extension: &str) -> Vec<u8> {
    match image(bytes, extension).pixels {
        PixelFormat::Bytes(texels) => texels,
        PixelFormat::Floats(_) => panic!("bytes were wanted"),
    }
}

/// Joins bits, the first one highest, and fills the last byte with ones.
fn packed(bits: &str) -> Vec<u8> {
    let digits: Vec<u8> = bits.bytes().filter(|digit| *digit != b' ').collect();
    let byte = |digits: &[u8]| {
        (0..8).fold(0, |byte, at| byte << 1 | u8::from(digits.get(at) != Some(&b'0')))
    };
    digits.chunks(8).map(byte).collect()
}

fn push_segment(out: &mut Vec<u8>, marker: u8, bytes: &[u8]) {
    out.extend([0xff, marker]);
    out.extend((bytes.len() as u16 + 2).to_be_bytes());
    out.extend(bytes);
}

/// Returns a JPEG of 16 x 16 texels of one color (200, 100, 50), whose chroma has half the size.
/// Each scan has these components.
fn jpeg_420(frame: u8, scans: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![0xff, 0xd8];
    // Every coefficient counts eightfold, so that the average of a block is a whole number.
    push_segment(&mut out, 0xdb, &[&[0][..], &[8; 64]].concat());
    push_segment(&mut out, frame, &[8, 0, 16, 0, 16, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]);
    // Averages: 0 is "00", three bits are "01", six bits are "10".
    let lengths = |first: [u8; 2]| [&first[..], &[0; 14]].concat();
    push_segment(&mut out, 0xc4, &[&[0][..], &lengths([0, 3]), &[0, 3, 6]].concat());
    // No other coefficients: "0".
    push_segment(&mut out, 0xc4, &[&[0x10][..], &lengths([1, 0]), &[0]].concat());
    // Differences of the averages: -4 of the luma, then three blocks of the same, -42 and 54.
    let luma = "01 011 0  00 0  00 0  00 0 ";
    let (blue, red) = ("10 010101 0 ", "10 110110 0 ");
    for components in scans {
        let mut header = vec![components.len() as u8];
        components.iter().for_each(|component| header.extend([*component, 0]));
        header.extend([0, 63, 0]);
        push_segment(&mut out, 0xda, &header);
        let of = |component: &u8| [luma, blue, red][usize::from(*component) - 1];
        out.extend(packed(&components.iter().map(of).collect::<String>()));
    }
    out.extend([0xff, 0xd9]);
    out
}

#[test]
fn jpeg_scans_can_be_separate() {
    for scans in [&[&[1u8, 2, 3][..]][..], &[&[1], &[2], &[3]], &[&[1], &[2, 3]]] {
        let texels = texels(&jpeg_420(0xc0, scans), "jpg");
        assert_eq!(texels.len(), 16 * 16 * 4);
        for texel in texels.chunks(4) {
            let near = [200u8, 100, 50].iter().zip(texel).all(|(a, b)| a.abs_diff(*b) <= 3);
            assert!(near && texel[3] == 255, "{scans:?}: {texel:?}");
        }
    }
    let whole = jpeg_420(0xc0, &[&[1], &[2], &[3]]);
    for length in 4..whole.len() - 1 {
        refused(&whole[..length], "jpg", "the file is cut short: copy or export it again");
    }
}

#[test]
fn jpegs_are_written_only_of_all_pixels() {
    use crate::image::encode_jpeg;
    let encode = |width, height, bytes: usize| {
        encode_jpeg(width, height, &vec![9; bytes], 90).map(|_| ()).map_err(|error| error.message)
    };
    assert_eq!(encode(3, 2, 24), Ok(()));
    for bytes in [0, 20, 23, 25, 48] {
        let wanted = format!("a picture of 3 x 2 needs 24 bytes, not {bytes}");
        assert_eq!(encode(3, 2, bytes), Err(wanted));
    }
    assert!(encode(0, 0, 0).is_err());
    let wanted = "a JPEG has at most 65535 pixels a side: 65536";
    assert_eq!(encode(65_536, 1, 65_536 * 4), Err(wanted.to_string()));
}

#[test]
fn a_jpeg_without_the_end_of_its_scan_is_refused() {
    let rgba: Vec<u8> = (0..64 * 64 * 4u32).map(|at| (at * at / 97) as u8).collect();
    let whole = crate::image::encode_jpeg(64, 64, &rgba, 90).unwrap();
    assert!(decode(&whole, "jpg").is_ok());
    for length in [whole.len() / 2, whole.len() * 9 / 10, whole.len() - 1] {
        refused(&whole[..length], "jpg", "the file is cut short: copy or export it again");
    }
    // Bytes after the end are harmless.
    assert!(decode(&[&whole[..], b"more"].concat(), "jpg").is_ok());
}

#[test]
fn the_size_of_a_picture_is_read_from_its_header() {
    let png = crate::image::encode_png(30, 20, &[0; 2400]);
    assert_eq!(stated_size(&png), Some((30, 20)));
    assert_eq!(stated_size(b"no picture"), None);
}

#[test]
fn pictures_of_other_formats_are_named() {
    refused(b"GIF89a", "png", "the file is a GIF picture, which cannot be read: save it as PNG");
    let message = "the file is a JPEG picture, not .png: rename it to end in .jpg";
    refused(&jpeg_420(0xc0, &[&[1, 2, 3]]), "png", message);
}

#[test]
fn unreadable_jpegs_are_named() {
    let check = |frame: u8, form: &str| {
        let message = format!(
            "this form of .jpg cannot be read ({form}): save it as an ordinary JPEG, or as PNG"
        );
        refused(&jpeg_420(frame, &[&[1, 2, 3]]), "jpg", &message);
    };
    check(0xc9, "arithmetic coding");
    check(0xca, "arithmetic coding");
    check(0xc3, "lossless coding");
    check(0xc5, "hierarchical coding");
    let mut deep = jpeg_420(0xc1, &[&[1, 2, 3]]);
    let frame = deep.windows(2).position(|two| two == [0xff, 0xc1]).unwrap();
    deep[frame + 4] = 12;
    let message = "this form of .jpg cannot be read (12 bits per channel): save it as an ordinary \
                   JPEG, or as PNG";
    refused(&deep, "jpg", message);
}

/// Returns a BMP with this header after the one of the file, a palette of red, green and blue with
/// entries of four bytes, and texels.
fn bmp(header: &[u8], colors: usize, data: &[u8]) -> Vec<u8> {
    let start = 14 + header.len() + colors * 4;
    let mut out = b"BM".to_vec();
    for word in [start + data.len(), 0, start] {
        out.extend((word as u32).to_le_bytes());
    }
    out.extend(header);
    let palette = [[0, 0, 255, 0], [0, 255, 0, 0], [255, 0, 0, 0]];
    (0..colors).for_each(|color| out.extend(palette[color % 3]));
    out.extend(data);
    out
}

/// Returns a header: its size, width and height, bits, compression and number of colors.
fn bmp_header(size: usize, side: [i32; 2], bits: u16, compression: u32, colors: u32) -> Vec<u8> {
    let mut header = (size as u32).to_le_bytes().to_vec();
    side.iter().for_each(|side| header.extend(side.to_le_bytes()));
    header.extend(1u16.to_le_bytes());
    header.extend(bits.to_le_bytes());
    for word in [compression, 0, 0, 0, colors, 0] {
        header.extend(word.to_le_bytes());
    }
    header.resize(size, 0);
    header
}

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const BLACK: [u8; 4] = [0, 0, 0, 255];

#[test]
fn bmp_headers_of_os2_are_read() {
    let row = [0, 1, 2, 0];
    let wanted = [RED, GREEN, BLUE, RED].concat();
    for size in [40, 64] {
        let file = bmp(&bmp_header(size, [4, 1], 8, 0, 3), 3, &row);
        assert_eq!(texels(&file, "bmp"), wanted, "{size}");
    }
    // The short header ends after the number of bits, so its palette has all colors.
    let file = bmp(&bmp_header(16, [4, 1], 8, 0, 0), 256, &row);
    assert_eq!(texels(&file, "bmp"), wanted);
    for (compression, form) in [(3, "Huffman coding of OS/2"), (4, "RLE24 coding of OS/2")] {
        let file = bmp(&bmp_header(64, [4, 1], 24, compression, 0), 0, &row);
        let message = format!("this form of .bmp cannot be read ({form}): save it as PNG");
        refused(&file, "bmp", &message);
    }
}

#[test]
fn bmp_run_lengths_are_read() {
    // Two texels of color 1; an end of the row; one texel that is skipped, then three as they are.
    let data = [2, 1, 1, 2, 1, 0, 0, 0, 0, 2, 1, 0, 0, 3, 2, 1, 0, 0, 0, 1];
    for size in [40, 64] {
        let file = bmp(&bmp_header(size, [4, 2], 8, 1, 3), 3, &data);
        let wanted = [BLACK, BLUE, GREEN, RED, GREEN, GREEN, BLUE, RED].concat();
        assert_eq!(texels(&file, "bmp"), wanted, "{size}");
    }
    let short = bmp(&bmp_header(40, [4, 2], 8, 1, 3), 3, &data[..5]);
    refused(&short, "bmp", "the file is cut short: copy or export it again");
}

#[test]
fn small_deviations_of_bmp_headers_are_read() {
    let long_palette = bmp(&bmp_header(40, [4, 1], 8, 0, 300), 300, &[0, 1, 2, 0]);
    assert_eq!(texels(&long_palette, "bmp"), [RED, GREEN, BLUE, RED].concat());
    let mut masks = bmp_header(40, [2, 1], 32, 6, 0);
    for mask in [0xffu32, 0xff00, 0xff_0000, 0xff00_0000] {
        masks.extend(mask.to_le_bytes());
    }
    let file = bmp(&masks, 0, &[10, 20, 30, 40, 50, 60, 70, 80]);
    assert_eq!(texels(&file, "bmp"), [10, 20, 30, 40, 50, 60, 70, 80]);
    let deep = bmp(&bmp_header(40, [1, 1], 64, 0, 0), 0, &[0; 8]);
    let message = "this form of .bmp cannot be read (64 bits per texel): save it as PNG";
    refused(&deep, "bmp", message);
}

/// Returns a TGA of one row of 32-bit texels (or others) with this number of attribute bits, and a
/// type of attributes in an extension area.
fn tga(depth: u8, bits: u8, data: &[u8], attributes: Option<u8>) -> Vec<u8> {
    let mut out = vec![0; 18];
    out[2] = 2;
    (out[12], out[14]) = ((data.len() / usize::from(depth / 8)) as u8, 1);
    (out[16], out[17]) = (depth, bits | 32);
    out.extend(data);
    if let Some(attributes) = attributes {
        let start = out.len() as u32;
        out.extend(495u16.to_le_bytes());
        out.resize(start as usize + 494, 0);
        out.push(attributes);
        out.extend(start.to_le_bytes());
        out.extend([0; 4]);
        out.extend(b"TRUEVISION-XFILE.\0");
    }
    out
}

#[test]
fn tga_attribute_bits_are_alpha_if_they_mean_it() {
    let (visible, hidden) = ([10, 20, 30, 128, 40, 50, 60, 0], [10, 20, 30, 0, 40, 50, 60, 0]);
    let alpha =
        |file: &[u8]| -> Vec<u8> { texels(file, "tga").chunks(4).map(|texel| texel[3]).collect() };
    for (bits, data, attributes, wanted) in [
        (8, visible, None, [128, 0]),
        (8, hidden, None, [0, 0]),
        // Files without stated bits often have alpha; where all of it is 0, it means nothing.
        (0, visible, None, [128, 0]),
        (0, hidden, None, [255, 255]),
        (8, visible, Some(0), [255, 255]),
        (8, visible, Some(2), [255, 255]),
        (0, visible, Some(3), [128, 0]),
        (8, visible, Some(4), [128, 0]),
        (3, visible, None, [128, 0]),
    ] {
        let file = tga(32, bits, &data, attributes);
        assert_eq!(alpha(&file), wanted, "{bits} {data:?} {attributes:?}");
    }
    let premultiplied = texels(&tga(32, 8, &visible, Some(4)), "tga");
    assert_eq!(premultiplied[..4], [60, 40, 20, 128]);
    // The bit of 16-bit texels is no alpha, whatever it is.
    for data in [[0x1f, 0x80], [0x1f, 0x00]] {
        for bits in [0, 1, 8] {
            assert_eq!(texels(&tga(16, bits, &data, None), "tga"), BLUE, "{bits}");
        }
    }
    assert_eq!(texels(&tga(24, 8, &[1, 2, 3], None), "tga"), [3, 2, 1, 255]);
}

fn push_chunk(out: &mut Vec<u8>, kind: &[u8; 4], bytes: &[u8]) {
    let content = [&kind[..], bytes].concat();
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(&content);
    out.extend(crc(&content).to_be_bytes());
}

/// Returns a PNG of two texels in one row, with a transparent color. `kind` is the color type.
fn png(bits: u8, kind: u8, palette: &[u8], transparent: &[u8], row: &[u8]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let header = [&2u32.to_be_bytes()[..], &1u32.to_be_bytes(), &[bits, kind, 0, 0, 0]].concat();
    push_chunk(&mut out, b"IHDR", &header);
    if !palette.is_empty() {
        push_chunk(&mut out, b"PLTE", palette);
    }
    push_chunk(&mut out, b"tRNS", transparent);
    // Stored without compression, after the filter of the row.
    let row = [&[0][..], row].concat();
    let (mut a, mut b) = (1u32, 0u32);
    for byte in &row {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let length = row.len() as u16;
    let stored =
        [&[0x78, 1, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), &row].concat();
    push_chunk(&mut out, b"IDAT", &[stored, (b << 16 | a).to_be_bytes().to_vec()].concat());
    push_chunk(&mut out, b"IEND", &[]);
    out
}

#[test]
fn transparent_colors_of_png_are_transparent() {
    let check = |file: Vec<u8>, wanted: [[u8; 4]; 2]| {
        assert_eq!(texels(&file, "png"), wanted.concat());
    };
    let (white, clear) = ([255; 4], [0; 4]);
    check(png(1, 0, &[], &[0, 0], &[0b0100_0000]), [clear, white]);
    check(png(4, 0, &[], &[0, 15], &[0x0f]), [BLACK, [255, 255, 255, 0]]);
    check(png(8, 0, &[], &[0, 9], &[9, 8]), [[9, 9, 9, 0], [8, 8, 8, 255]]);
    // All sixteen bits count: 0x0900 and 0x0901 look the same.
    check(png(16, 0, &[], &[9, 0], &[9, 0, 9, 1]), [[9, 9, 9, 0], [9, 9, 9, 255]]);
    check(png(8, 2, &[], &[0, 1, 0, 2, 0, 3], &[1, 2, 3, 1, 2, 4]), [[1, 2, 3, 0], [1, 2, 4, 255]]);
    let deep = [1, 0, 2, 0, 3, 0, 1, 0, 2, 0, 3, 1];
    check(png(16, 2, &[], &[1, 0, 2, 0, 3, 0], &deep), [[1, 2, 3, 0], [1, 2, 3, 255]]);
    // A palette can have more colors than transparencies.
    check(png(8, 3, &[1, 2, 3, 4, 5, 6], &[7], &[0, 1]), [[1, 2, 3, 7], [4, 5, 6, 255]]);
    // Transparency of colors that have an alpha, or of more colors than the palette, is ignored.
    check(png(8, 6, &[], &[0, 0], &[1, 2, 3, 4, 5, 6, 7, 8]), [[1, 2, 3, 4], [5, 6, 7, 8]]);
    check(png(8, 3, &[1, 2, 3], &[7, 8], &[0, 0]), [[1, 2, 3, 255]; 2]);
}
