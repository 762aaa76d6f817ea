//! Texels that files for the graphics card hold plainly, as a picture. Only the largest level is
//! taken: the smaller ones are made anew, as for every picture.

use super::Pixels;
use super::blocks::short;
use crate::foundation::Error;

/// How a texel lies in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    Grey,
    Rgb,
    Bgr,
    Rgba,
    Rgbx,
    Bgra,
    Bgrx,
    /// Four floats of 16 bits.
    Half,
    /// Four floats of 32 bits.
    Float,
}

impl Layout {
    pub const fn bytes(self) -> usize {
        match self {
            Layout::Grey => 1,
            Layout::Rgb | Layout::Bgr => 3,
            Layout::Rgba | Layout::Rgbx | Layout::Bgra | Layout::Bgrx => 4,
            Layout::Half => 8,
            Layout::Float => 16,
        }
    }
}

/// The first `width * height` texels of `data`.
pub fn read(data: &[u8], width: u32, height: u32, layout: Layout) -> Result<Pixels, Error> {
    let texels = width as usize * height as usize;
    let data = data.get(..texels * layout.bytes()).ok_or_else(short)?;
    let each = data.chunks_exact(layout.bytes());
    let bytes = |texel: fn(&[u8]) -> [u8; 4]| Pixels::Bytes(each.clone().flat_map(texel).collect());
    Ok(match layout {
        Layout::Grey => bytes(|t| [t[0], t[0], t[0], 255]),
        Layout::Rgb | Layout::Rgbx => bytes(|t| [t[0], t[1], t[2], 255]),
        Layout::Bgr | Layout::Bgrx => bytes(|t| [t[2], t[1], t[0], 255]),
        Layout::Rgba => Pixels::Bytes(data.to_vec()),
        Layout::Bgra => bytes(|t| [t[2], t[1], t[0], t[3]]),
        Layout::Half => {
            let parts = data.chunks_exact(2);
            Pixels::Floats(parts.map(|p| from_half(u16::from_le_bytes([p[0], p[1]]))).collect())
        }
        Layout::Float => {
            let parts = data.chunks_exact(4);
            let part = |p: &[u8]| f32::from_le_bytes([p[0], p[1], p[2], p[3]]);
            Pixels::Floats(parts.map(part).collect())
        }
    })
}

/// A float of 16 bits (IEEE 754 binary16).
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

/// The nearest float of 16 bits; what is too large becomes the largest one. NaN becomes 0, for it
/// would spread over everything that it is mixed with.
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
    // 13 bits of the fraction are rounded away; a carry into the exponent is right as it is.
    let rounded = bits + 0xfff + (bits >> 13 & 1);
    sign | ((rounded >> 13) - ((127 - 15) << 10)) as u16
}
