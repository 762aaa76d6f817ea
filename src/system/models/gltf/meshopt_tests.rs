//! Tests of the decoder of meshopt streams. The streams were written by the reference encoder
//! (meshoptimizer 1.0) from the values that the tests compute.

use super::meshopt::{MeshoptLayout, MeshoptMode, decode};
use super::meshopt_filters::MeshoptFilter;
use data_encoding::HEXLOWER;

const ATTRIBUTES: [&str; 2] = [
    "a01f0002060a0e12161a1e22262a2e32363a3e42464a4e52565a5e62666a6e72767affff00007e82868a8e92969a\
     1480020080808000002a0666666666666666666666666666666666666666000000000100008000000015303c0f03\
     cdcecdcecdcec0f03c0fcdcecdcecdcecd03c00000cecd15303c0f03cdcecdcecdcec0f03c0fcdcecdcecdcecd03\
     c00000cecd0000000000000000000000000000000000000000000000000000e80307003412",
    "a19b5a0002060a0e12161a1e22262a2e32363a3e42464a4e52565a5e62666a6e72767a7e82868a8e92969a2a0666\
     6666666666666666666666666666666666660000000000628ccdcecdcecdce31c6cdcecdcecdcecd1800cecd0062\
     8ccdcecdcecdce31c6cdcecdcecdcecd1800cecd00000000000000000000000000000000e803070034120100",
];
const TRIANGLES: &str =
    "e1fe1e100e100e8e1e140e130e8e1e130e130e0f08007687566778a9866589689801690000";
const SEQUENCE: &str = "d1000404049103050404ad88110400000000";

fn bytes(hex: &str) -> Vec<u8> {
    HEXLOWER.decode(hex.as_bytes()).unwrap()
}

fn layout(mode: MeshoptMode, count: usize, stride: usize) -> MeshoptLayout {
    MeshoptLayout { mode, filter: MeshoptFilter::None, count, stride }
}

/// Returns forty elements of four numbers.
fn elements() -> Vec<u8> {
    let of = |i: u16| [i * i, 1000 + 3 * i, 7, if i.is_multiple_of(5) { 0x1234 } else { 0xabcd }];
    (0..40).flat_map(of).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn attributes_of_both_versions_are_decoded() {
    for stream in ATTRIBUTES {
        let stream = bytes(stream);
        let decoded = decode(&stream, layout(MeshoptMode::Attributes, 40, 8)).unwrap();
        assert_eq!(decoded, elements());
    }
}

#[test]
fn triangles_are_decoded() {
    let stream = bytes(TRIANGLES);
    let turned = |triangle: &[u32]| {
        let first = (0..3).min_by_key(|at| triangle[*at]).unwrap();
        [0, 1, 2].map(|at| triangle[(first + at) % 3])
    };
    let mut wanted = Vec::new();
    for corner in [0u32, 1, 2, 4, 5, 6, 8, 9, 10] {
        wanted.push(turned(&[corner, corner + 1, corner + 4]));
        wanted.push(turned(&[corner + 4, corner + 1, corner + 5]));
    }
    for stride in [2, 4] {
        let decoded = decode(&stream, layout(MeshoptMode::Triangles, 54, stride)).unwrap();
        let number = |bytes: &[u8]| {
            bytes.iter().rev().fold(0u32, |number, byte| number << 8 | u32::from(*byte))
        };
        let indices: Vec<u32> = decoded.chunks(stride).map(number).collect();
        let triangles: Vec<[u32; 3]> = indices.chunks(3).map(turned).collect();
        assert_eq!(triangles, wanted, "{stride}");
    }
}

#[test]
fn index_sequences_are_decoded() {
    let stream = bytes(SEQUENCE);
    let decoded = decode(&stream, layout(MeshoptMode::Indices, 10, 4)).unwrap();
    let wanted = [0u32, 1, 2, 3, 100, 101, 4, 5, 70_000, 6].map(u32::to_le_bytes).concat();
    assert_eq!(decoded, wanted);
    let short = decode(&stream, layout(MeshoptMode::Indices, 10, 2)).unwrap_err().message;
    assert_eq!(short, "the compressed data is damaged: export it again", "70,000 has 3 bytes");
}

#[test]
fn filters_restore_the_values() {
    let filtered = |filter, stride, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        super::meshopt_filters::apply(filter, &mut bytes, stride).unwrap();
        bytes
    };
    let signed = |bytes: Vec<u8>| bytes.iter().map(|byte| *byte as i8).collect::<Vec<_>>();
    let small = [0i8, 0, 127, 5, 127, 0, 127, 0, -40, 30, 127, 1, -20, -100, 127, 0];
    let small = small.map(|byte| byte as u8);
    let wanted = [0, 0, 127, 5, 127, 0, 0, 0, -67, 50, 95, 1, -25, -124, 9, 0];
    assert_eq!(signed(filtered(MeshoptFilter::Octahedral, 4, &small)), wanted);
    let shorts = |numbers: &[i16]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let octahedral = shorts(&[0, 0, 511, 5, 100, -300, 511, 7]);
    let wanted = shorts(&[0, 0, 32767, 5, 9777, -29331, 10852, 7]);
    assert_eq!(filtered(MeshoptFilter::Octahedral, 8, &octahedral), wanted);
    let quaternions = shorts(&[0, 0, 0, 8191, 1000, -500, 200, 8189]);
    let wanted = shorts(&[0, 0, 0, 32767, 566, 32609, 2829, -1414]);
    assert_eq!(filtered(MeshoptFilter::Quaternion, 8, &quaternions), wanted);
    let packed = [5i32, -3 << 24 | (-7 & 0xff_ffff)].map(i32::to_le_bytes).concat();
    let wanted = [5.0f32, -0.875].map(f32::to_le_bytes).concat();
    assert_eq!(filtered(MeshoptFilter::Exponential, 4, &packed), wanted);
    // Luma 63 of 127 without chroma, and opaque: the alpha has all bits of its width.
    let grey = filtered(MeshoptFilter::Color, 4, &[63, 0, 0, 0b0111_1111]);
    assert_eq!(grey, [126, 126, 126, 255]);
    let wrong = super::meshopt_filters::apply(MeshoptFilter::Quaternion, &mut [0; 4], 4);
    let message = wrong.unwrap_err().message;
    assert_eq!(message, "elements of 4 bytes cannot have the filter Quaternion");
}

#[test]
fn damaged_meshopt_streams_are_refused() {
    let attributes = layout(MeshoptMode::Attributes, 40, 8);
    let triangles = layout(MeshoptMode::Triangles, 54, 4);
    let sequence = layout(MeshoptMode::Indices, 10, 4);
    let streams = [
        (bytes(ATTRIBUTES[0]), attributes),
        (bytes(ATTRIBUTES[1]), attributes),
        (bytes(TRIANGLES), triangles),
        (bytes(SEQUENCE), sequence),
    ];
    for (stream, layout) in &streams {
        for length in 0..stream.len() {
            assert!(decode(&stream[..length], *layout).is_err(), "{layout:?} {length}");
        }
        for bit in 0..stream.len() * 8 {
            let mut stream = stream.clone();
            stream[bit / 8] ^= 1 << (bit % 8);
            // The stream may still be valid, but the length of its data never changes.
            if let Ok(decoded) = decode(&stream, *layout) {
                assert_eq!(decoded.len(), layout.count * layout.stride);
            }
        }
        let mut more = stream.clone();
        more.push(0);
        assert!(decode(&more, *layout).is_err(), "{layout:?}");
    }
}

#[test]
fn huge_meshopt_counts_are_refused_before_allocation() {
    let huge = 3 << 40;
    for (stream, mode, stride) in [
        (bytes(ATTRIBUTES[0]), MeshoptMode::Attributes, 8),
        (bytes(ATTRIBUTES[1]), MeshoptMode::Attributes, 8),
        (bytes(TRIANGLES), MeshoptMode::Triangles, 4),
        (bytes(SEQUENCE), MeshoptMode::Indices, 4),
    ] {
        let message = decode(&stream, layout(mode, huge, stride)).unwrap_err().message;
        assert_eq!(message, "the compressed data ends too early: export it again", "{mode:?}");
    }
    let stream = bytes(ATTRIBUTES[0]);
    for stride in [0, 6, 260] {
        let message =
            decode(&stream, layout(MeshoptMode::Attributes, 1, stride)).unwrap_err().message;
        let wanted =
            format!("an element has {stride} bytes, and must have a multiple of 4 up to 256");
        assert_eq!(message, wanted);
    }
}
