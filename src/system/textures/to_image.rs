//! Conversion of a texture's data back to a plain picture, for images of scripts, and for those
//! that the desktop shows: cursors and icons.

use super::data;
use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::texture::TexelFormat;

/// Returns width, height and texels of a texture's largest level: red, green, blue, alpha, one byte
/// each, sRGB colors not multiplied by alpha, rows from the top.
pub fn picture(bytes: &[u8]) -> Result<(u32, u32, Vec<u8>), Error> {
    let (head, start) = data::read(bytes)?;
    let size = head.width as usize * head.height as usize * 4;
    let mut rgba = match head.format {
        TexelFormat::Rgba8Srgb | TexelFormat::Rgba8 => bytes[start..start + size].to_vec(),
        other => {
            return Err(error!(
                "only pictures with 8 bits per channel can be read, and this is stored as {other:?}"
            ));
        }
    };
    if head.format == TexelFormat::Rgba8Srgb {
        rgba.chunks_exact_mut(4).for_each(divide);
    }
    Ok((head.width, head.height, rgba))
}

/// Divides a color by its alpha, in linear light: IEC 61966-2-1.
fn divide(texel: &mut [u8]) {
    let alpha = f32::from(texel[3]) / 255.0;
    if alpha == 0.0 || alpha == 1.0 {
        return;
    }
    for part in &mut texel[..3] {
        let stored = f32::from(*part) / 255.0;
        let light = match stored <= 0.04045 {
            true => stored / 12.92,
            false => ((stored + 0.055) / 1.055).powf(2.4),
        };
        let light = (light / alpha).min(1.0);
        let encoded = match light <= 0.003_130_8 {
            true => light * 12.92,
            false => 1.055 * light.powf(1.0 / 2.4) - 0.055,
        };
        *part = (encoded * 255.0 + 0.5) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_survives_conversion_to_an_image() {
        for alpha in [40u8, 128, 254, 255] {
            let drawn = [200u8, 90, 250, alpha];
            let mut texel = drawn;
            super::super::mipmaps::premultiply(&mut texel);
            divide(&mut texel);
            for (part, wanted) in texel.iter().zip(drawn) {
                assert!(part.abs_diff(wanted) <= 3, "{texel:?} from {drawn:?}");
            }
        }
    }
}
