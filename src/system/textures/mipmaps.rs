//! Texel operations: premultiplication by alpha, mip levels, atlas cells. All work in linear light,
//! so that an edge between bright and dark texels keeps its brightness, and with premultiplied
//! alpha, so that invisible texels contribute no color. Knows no files and no names.

use engine_frame_packet::atlas_cell;
use engine_frame_packet::texture::{ATLAS_LEVELS, TexelFormat};
use engine_resource::image::{from_half, level_size, levels_of, to_half};
use std::sync::LazyLock;

/// Linear light of each sRGB byte (IEC 61966-2-1).
static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let part = byte as f64 / 255.0;
        let light = if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
        light as f32
    })
});

/// Linear light at which the nearest sRGB byte changes to the next.
static STEPS: LazyLock<[f32; 255]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let part = (byte as f64 + 0.5) / 255.0;
        let light = if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
        light as f32
    })
});

/// Converts linear light to an sRGB byte.
fn to_srgb(light: f32) -> u8 {
    // There are at most 255 steps, so the count fits.
    STEPS.partition_point(|step| *step < light) as u8
}

fn to_byte(part: f32) -> u8 {
    (part * 255.0 + 0.5) as u8
}

/// Multiplies sRGB colors by their alpha, in linear light.
pub fn premultiply(rgba: &mut [u8]) {
    for texel in rgba.chunks_exact_mut(4) {
        match texel[3] {
            255 => {}
            0 => texel[..3].fill(0),
            alpha => {
                for part in &mut texel[..3] {
                    *part = to_srgb(LINEAR[usize::from(*part)] * f32::from(alpha) / 255.0);
                }
            }
        }
    }
}

/// Converts linear light to half floats, multiplied by alpha if `premultiply` is true.
pub fn to_halves(rgba: &[f32], premultiply: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(rgba.len() * 2);
    for texel in rgba.chunks_exact(4) {
        let factor = if premultiply { texel[3] } else { 1.0 };
        for part in [texel[0] * factor, texel[1] * factor, texel[2] * factor, texel[3]] {
            out.extend(to_half(part).to_le_bytes());
        }
    }
    out
}

/// Returns true if a format stores blocks of 4 x 4 texels.
pub const fn is_blocks(format: TexelFormat) -> bool {
    use TexelFormat::*;
    matches!(format, Bc1Srgb | Bc3Srgb | Bc4 | Bc5 | Bc7Srgb | Bc7)
}

/// Returns the number of bytes per texel of a format without blocks.
pub const fn texel_bytes(format: TexelFormat) -> usize {
    match format {
        TexelFormat::R8 => 1,
        TexelFormat::Rgba16Float => 8,
        _ => 4,
    }
}

/// Returns the number of bytes of a mip level.
pub fn level_bytes(format: TexelFormat, width: u32, height: u32) -> usize {
    let blocks = width.div_ceil(4) as usize * height.div_ceil(4) as usize;
    match format {
        TexelFormat::Bc1Srgb | TexelFormat::Bc4 => blocks * 8,
        TexelFormat::Bc3Srgb | TexelFormat::Bc5 | TexelFormat::Bc7Srgb | TexelFormat::Bc7 => {
            blocks * 16
        }
        _ => width as usize * height as usize * texel_bytes(format),
    }
}

/// Returns the number of bytes of the first `levels` mip levels.
pub fn chain_bytes(format: TexelFormat, width: u32, height: u32, levels: u32) -> usize {
    let sizes = (0..levels).map(|level| level_size(width, height, level));
    sizes.map(|(w, h)| level_bytes(format, w, h)).sum()
}

fn read(format: TexelFormat, bytes: &[u8], texel: usize) -> [f32; 4] {
    match format {
        TexelFormat::Rgba8Srgb => {
            let t: [u8; 4] = bytes[texel * 4..][..4].try_into().expect("four bytes");
            let light = |part: u8| LINEAR[usize::from(part)];
            [light(t[0]), light(t[1]), light(t[2]), f32::from(t[3]) / 255.0]
        }
        TexelFormat::Rgba16Float => std::array::from_fn(|part| {
            let at = texel * 8 + part * 2;
            from_half(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
        }),
        _ => std::array::from_fn(|part| f32::from(bytes[texel * 4 + part]) / 255.0),
    }
}

fn write(format: TexelFormat, out: &mut Vec<u8>, texel: [f32; 4]) {
    match format {
        TexelFormat::Rgba8Srgb => {
            out.extend([to_srgb(texel[0]), to_srgb(texel[1]), to_srgb(texel[2]), to_byte(texel[3])])
        }
        TexelFormat::Rgba16Float => {
            out.extend(texel.iter().flat_map(|p| to_half(*p).to_le_bytes()))
        }
        _ => out.extend(texel.map(to_byte)),
    }
}

/// Returns the texels along a side that one texel of the next mip level covers, with their weights:
/// two, or three if the side is odd, so that none is left out.
fn taps(side: u32, at: u32) -> [(u32, f32); 3] {
    if side == 1 {
        return [(0, 1.0), (0, 0.0), (0, 0.0)];
    }
    if side.is_multiple_of(2) {
        return [(at * 2, 0.5), (at * 2 + 1, 0.5), (at * 2, 0.0)];
    }
    let count = (side / 2) as f32;
    let whole = side as f32;
    let (before, after) = ((count - at as f32) / whole, (at as f32 + 1.0) / whole);
    [(at * 2, before), (at * 2 + 1, count / whole), (at * 2 + 2, after)]
}

/// Returns the next smaller mip level of a picture without blocks.
pub fn next_mipmap(format: TexelFormat, width: u32, height: u32, bytes: &[u8]) -> Vec<u8> {
    let (w, h) = level_size(width, height, 1);
    let mut out = Vec::with_capacity(level_bytes(format, w, h));
    for y in 0..h {
        let rows = taps(height, y);
        for x in 0..w {
            let mut sum = [0.0; 4];
            for (column, across) in taps(width, x) {
                for (row, down) in rows {
                    let weight = across * down;
                    if weight > 0.0 {
                        let texel = read(format, bytes, (row * width + column) as usize);
                        for (sum, part) in sum.iter_mut().zip(texel) {
                            *sum += part * weight;
                        }
                    }
                }
            }
            write(format, &mut out, sum);
        }
    }
    out
}

/// Returns the number of mip levels of a picture without blocks, down to one texel, and their
/// bytes.
pub fn chain(format: TexelFormat, width: u32, height: u32, mut bytes: Vec<u8>) -> (u32, Vec<u8>) {
    let levels = levels_of(width, height);
    let mut start = 0;
    for level in 1..levels {
        let (w, h) = level_size(width, height, level - 1);
        let next = next_mipmap(format, w, h, &bytes[start..]);
        start = bytes.len();
        bytes.extend(next);
    }
    (levels, bytes)
}

/// Returns the number of bytes of an atlas cell's mip levels below the largest.
pub fn cell_levels_bytes(width: u32, height: u32) -> usize {
    let (width, height) = atlas_cell::size(width, height);
    let level = |level: u32| (width >> level) as usize * (height >> level) as usize * 4;
    (1..ATLAS_LEVELS).map(level).sum()
}

/// Returns the mip levels of a small picture's atlas cell below the largest. The data compiler
/// stores them after the picture, because generating them takes longer than the rest of its
/// loading.
pub fn cell_levels(format: TexelFormat, width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    let (cell_width, cell_height) = atlas_cell::size(width, height);
    let mut above = atlas_cell::with_border(width, height, rgba);
    let mut out = Vec::with_capacity(cell_levels_bytes(width, height));
    for level in 1..ATLAS_LEVELS {
        let (w, h) = (cell_width >> (level - 1), cell_height >> (level - 1));
        above = next_mipmap(format, w, h, &above);
        out.extend_from_slice(&above);
    }
    out
}

/// Returns the atlas cell of a small picture with every mip level. `data` is the picture followed
/// by its [`cell_levels`].
pub fn cell(width: u32, height: u32, data: &[u8]) -> Vec<u8> {
    let (rgba, levels) = data.split_at(width as usize * height as usize * 4);
    let mut out = atlas_cell::with_border(width, height, rgba);
    out.extend_from_slice(levels);
    out
}

/// Returns the placeholder for a missing texture: a checkerboard that cannot be mistaken for a
/// texture of the game.
pub fn checkerboard() -> (u32, u32, Vec<u8>) {
    const SIDE: u32 = 32;
    const SQUARE: u32 = 8;
    let texel = |at: u32| {
        let (x, y) = (at % SIDE / SQUARE, at / SIDE / SQUARE);
        if (x + y).is_multiple_of(2) { [255, 0, 255, 255] } else { [20, 0, 20, 255] }
    };
    (SIDE, SIDE, (0..SIDE * SIDE).flat_map(texel).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_srgb_byte_survives_conversion_to_linear_and_back() {
        for byte in 0..=255u8 {
            assert_eq!(to_srgb(LINEAR[usize::from(byte)]), byte);
        }
        assert_eq!((to_srgb(-1.0), to_srgb(9.0)), (0, 255));
    }

    #[test]
    fn colours_are_premultiplied_in_linear_space() {
        let mut texels = [255, 128, 0, 128, 255, 255, 255, 0, 9, 8, 7, 255];
        premultiply(&mut texels);
        // Half of the light of 255 is 188 as sRGB, not 128.
        assert_eq!(texels, [188, 93, 0, 128, 0, 0, 0, 0, 9, 8, 7, 255]);
    }

    #[test]
    fn black_and_white_average_in_linear_space() {
        let rows = [0, 0, 0, 255, 255, 255, 255, 255];
        assert_eq!(next_mipmap(TexelFormat::Rgba8Srgb, 2, 1, &rows), [188, 188, 188, 255]);
        assert_eq!(
            next_mipmap(TexelFormat::Rgba8, 2, 1, &rows),
            [128, 128, 128, 255],
            "data is not light"
        );
    }

    #[test]
    fn transparent_texels_do_not_bleed() {
        let mut texels = [255, 0, 0, 255, 0, 255, 0, 0];
        premultiply(&mut texels);
        let mixed = next_mipmap(TexelFormat::Rgba8Srgb, 2, 1, &texels);
        assert_eq!(mixed, [188, 0, 0, 128], "red at half alpha, and no green");
    }

    #[test]
    fn odd_sizes_include_every_texel() {
        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255];
        assert_eq!(next_mipmap(TexelFormat::Rgba8, 3, 1, &bytes), [85, 85, 85, 85]);
        let (levels, bytes) = chain(TexelFormat::Rgba8, 5, 3, vec![51; 60]);
        assert_eq!((levels, bytes.len()), (3, chain_bytes(TexelFormat::Rgba8, 5, 3, 3)));
        assert!(bytes.iter().all(|byte| *byte == 51));
    }

    #[test]
    fn high_dynamic_range_images_have_mipmaps() {
        let bytes = to_halves(&[4.0, 2.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0], true);
        let mixed = next_mipmap(TexelFormat::Rgba16Float, 2, 1, &bytes);
        assert_eq!(read(TexelFormat::Rgba16Float, &mixed, 0), [1.0, 0.5, 0.0, 0.75]);
    }

    #[test]
    fn a_cell_has_every_level_of_the_atlas() {
        let mut data = vec![10, 10, 10, 255, 20, 20, 20, 255];
        data.extend(cell_levels(TexelFormat::Rgba8Srgb, 2, 1, &data));
        assert_eq!(data.len(), 8 + cell_levels_bytes(2, 1));
        let cell = super::cell(2, 1, &data);
        assert_eq!(cell.len(), (256 + 64 + 16 + 4) * 4);
        assert!(cell.ends_with(&data[8..]) && cell[..4] == [10, 10, 10, 255]);
    }
}
