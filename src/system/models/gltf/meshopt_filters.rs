//! Filters of meshopt-compressed attributes: they restore unit vectors, quaternions, floats and
//! colors from the integers that compress well. Works in place, after the decoder.

use engine_foundation::Error;
use engine_foundation::error;
use std::f32::consts::FRAC_1_SQRT_2;

/// Filter of a buffer of attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeshoptFilter {
    None,
    /// Unit vectors, projected onto an octahedron.
    Octahedral,
    /// Quaternions without their largest component.
    Quaternion,
    /// Floats of 24 bits and an exponent.
    Exponential,
    /// Luma and chroma, with the number of bits in the alpha.
    Color,
}

/// Applies a filter to elements of `stride` bytes.
pub fn apply(filter: MeshoptFilter, bytes: &mut [u8], stride: usize) -> Result<(), Error> {
    let allowed: &[usize] = match filter {
        MeshoptFilter::None | MeshoptFilter::Exponential => return with_floats(filter, bytes),
        MeshoptFilter::Octahedral | MeshoptFilter::Color => &[4, 8],
        MeshoptFilter::Quaternion => &[8],
    };
    if !allowed.contains(&stride) {
        return Err(error!("elements of {stride} bytes cannot have the filter {filter:?}"));
    }
    match (filter, stride) {
        (MeshoptFilter::Quaternion, _) => quaternions(bytes),
        (_, 4) => {
            for four in bytes.chunks_exact_mut(4) {
                let values = [0, 1, 2, 3].map(|at| i32::from(four[at] as i8));
                let filtered = filter_four(filter, values, 8);
                four.copy_from_slice(&filtered.map(|value| value as u8));
            }
        }
        _ => {
            for eight in bytes.chunks_exact_mut(8) {
                let filtered = filter_four(filter, shorts(eight), 16);
                store_shorts(eight, filtered);
            }
        }
    }
    Ok(())
}

fn with_floats(filter: MeshoptFilter, bytes: &mut [u8]) -> Result<(), Error> {
    if filter == MeshoptFilter::Exponential {
        for four in bytes.chunks_exact_mut(4) {
            let packed = i32::from_le_bytes([four[0], four[1], four[2], four[3]]);
            let (exponent, mantissa) = (packed >> 24, packed << 8 >> 8);
            let value = mantissa as f32 * 2f32.powi(exponent);
            four.copy_from_slice(&value.to_le_bytes());
        }
    }
    Ok(())
}

fn shorts(eight: &[u8]) -> [i32; 4] {
    [0, 2, 4, 6].map(|at| i32::from(i16::from_le_bytes([eight[at], eight[at + 1]])))
}

fn store_shorts(eight: &mut [u8], values: [i32; 4]) {
    for (two, value) in eight.chunks_exact_mut(2).zip(values) {
        two.copy_from_slice(&(value as i16).to_le_bytes());
    }
}

/// Filters four integers of `bits` bits. Only their lowest bits are used.
fn filter_four(filter: MeshoptFilter, values: [i32; 4], bits: u32) -> [i32; 4] {
    match filter {
        MeshoptFilter::Color => color(values, bits),
        _ => unit_vector(values, (1 << (bits - 1)) - 1),
    }
}

/// Restores a unit vector. The third value is the one that stands for 1.
fn unit_vector([x, y, one, rest]: [i32; 4], most: i32) -> [i32; 4] {
    let (mut x, mut y) = (x as f32 / one as f32, y as f32 / one as f32);
    let z = 1.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    x -= if x >= 0.0 { fold } else { -fold };
    y -= if y >= 0.0 { fold } else { -fold };
    let scale = most as f32 / (x * x + y * y + z * z).sqrt();
    let [x, y, z] = [x, y, z].map(|part| ((part * scale).round() as i32).clamp(-most, most));
    [x, y, z, rest]
}

/// Restores the largest component of quaternions from the others.
fn quaternions(bytes: &mut [u8]) {
    const MOST: f32 = 32767.0;
    for eight in bytes.chunks_exact_mut(8) {
        let [x, y, z, w] = shorts(eight);
        let largest = (w & 3) as usize;
        let scale = FRAC_1_SQRT_2 / (w | 3) as f32;
        let [x, y, z] = [x, y, z].map(|part| part as f32 * scale);
        let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
        let mut out = [0; 4];
        for (slot, part) in [(1, x), (2, y), (3, z), (0, w)] {
            out[(largest + slot) % 4] = (part * MOST).round().clamp(-MOST, MOST) as i32;
        }
        store_shorts(eight, out);
    }
}

/// Restores red, green, blue and alpha. The highest bit of the alpha tells the number of its bits.
fn color([luma, orange, green, alpha]: [i32; 4], bits: u32) -> [i32; 4] {
    let most = (1i32 << bits) - 1;
    let (luma, alpha) = (luma & most, alpha & most);
    let width = 32 - alpha.leading_zeros();
    let whole = ((1i64 << width) - 1).max(1) as i32;
    let [red, green, blue] = [luma + orange - green, luma + green, luma - orange - green];
    let rest = alpha & whole >> 1;
    let alpha = rest << 1 | rest & 1;
    let scale = most as f32 / whole as f32;
    [red, green, blue, alpha].map(|part| ((part as f32 * scale).round() as i32).clamp(0, most))
}
