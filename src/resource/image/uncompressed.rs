//! Converts uncompressed texels of DDS and KTX2 files into an image. Only the largest mip level is
//! used; the smaller levels are generated again, as for every image.

use super::PixelFormat;
use super::block_compressed::cut_short;
use engine_foundation::Error;

/// Layout of a texel in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TexelLayout {
    Grey,
    Rgb,
    Bgr,
    Rgba,
    Rgbx,
    Bgra,
    Bgrx,
    /// Four 16-bit floats.
    Half,
    /// Four 32-bit floats.
    Float,
}

impl TexelLayout {
    pub const fn bytes(self) -> usize {
        match self {
            TexelLayout::Grey => 1,
            TexelLayout::Rgb | TexelLayout::Bgr => 3,
            TexelLayout::Rgba | TexelLayout::Rgbx | TexelLayout::Bgra | TexelLayout::Bgrx => 4,
            TexelLayout::Half => 8,
            TexelLayout::Float => 16,
        }
    }
}

/// Returns the first `width * height` texels of `data`.
pub fn read(
    data: &[u8],
    width: u32,
    height: u32,
    layout: TexelLayout,
) -> Result<PixelFormat, Error> {
    let texels = width as usize * height as usize;
    let data = data.get(..texels * layout.bytes()).ok_or_else(cut_short)?;
    let each = data.chunks_exact(layout.bytes());
    let bytes =
        |texel: fn(&[u8]) -> [u8; 4]| PixelFormat::Bytes(each.clone().flat_map(texel).collect());
    Ok(match layout {
        TexelLayout::Grey => bytes(|t| [t[0], t[0], t[0], 255]),
        TexelLayout::Rgb | TexelLayout::Rgbx => bytes(|t| [t[0], t[1], t[2], 255]),
        TexelLayout::Bgr | TexelLayout::Bgrx => bytes(|t| [t[2], t[1], t[0], 255]),
        TexelLayout::Rgba => PixelFormat::Bytes(data.to_vec()),
        TexelLayout::Bgra => bytes(|t| [t[2], t[1], t[0], t[3]]),
        TexelLayout::Half => {
            let parts = data.chunks_exact(2);
            PixelFormat::Floats(
                parts.map(|p| from_half(u16::from_le_bytes([p[0], p[1]]))).collect(),
            )
        }
        TexelLayout::Float => {
            let parts = data.chunks_exact(4);
            let part = |p: &[u8]| f32::from_le_bytes([p[0], p[1], p[2], p[3]]);
            PixelFormat::Floats(parts.map(part).collect())
        }
    })
}

/// Converts a 16-bit float (IEEE 754 binary16).
pub fn from_half(half: u16) -> f32 {
    let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f32::from(half & 1023));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

/// Converts to the nearest 16-bit float. Values out of range become the largest one. NaN becomes 0,
/// because NaN would spread to every value that it is mixed with.
pub fn to_half(value: f32) -> u16 {
    const LARGEST: f32 = 65504.0;
    if value.is_nan() {
        return 0;
    }
    let sign = u16::from(value.is_sign_negative()) << 15;
    let size = value.abs().min(LARGEST);
    if size < 2f32.powi(-14) {
        return sign | (size * 2f32.powi(24)).round_ties_even() as u16;
    }
    let bits = size.to_bits();
    // The lowest 13 bits of the fraction are rounded; a carry into the exponent gives the correct
    // result.
    let rounded = bits + 0xfff + (bits >> 13 & 1);
    sign | ((rounded >> 13) - ((127 - 15) << 10)) as u16
}
