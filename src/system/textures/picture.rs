//! A texture's data as a plain picture again, for what is shown by the desktop and not by the
//! renderer: cursors and icons.

use super::data;
use crate::error;
use crate::foundation::Error;
use crate::packet::texture::Format;

/// Width, height and texels of a texture's largest level: red, green, blue, alpha, a byte each,
/// colour as sRGB, alpha not multiplied in, rows from the top.
pub fn picture(bytes: &[u8]) -> Result<(u32, u32, Vec<u8>), Error> {
    let (head, start) = data::read(bytes)?;
    let size = head.width as usize * head.height as usize * 4;
    let mut rgba = match head.format {
        Format::Rgba8Srgb | Format::Rgba8 => bytes[start..start + size].to_vec(),
        other => {
            return Err(error!(
                "a cursor or icon needs a picture of colours of 8 bits, and this is stored as \
                 {other:?}"
            ));
        }
    };
    if head.format == Format::Rgba8Srgb {
        rgba.chunks_exact_mut(4).for_each(divide);
    }
    Ok((head.width, head.height, rgba))
}

/// Takes the alpha out of a colour, in linear light: IEC 61966-2-1.
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
        let seen = match light <= 0.003_130_8 {
            true => light * 12.92,
            false => 1.055 * light.powf(1.0 / 2.4) - 0.055,
        };
        *part = (seen * 255.0 + 0.5) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_comes_out_as_it_was_drawn() {
        for alpha in [40u8, 128, 254, 255] {
            let drawn = [200u8, 90, 250, alpha];
            let mut texel = drawn;
            super::super::texels::premultiply(&mut texel);
            divide(&mut texel);
            for (part, wanted) in texel.iter().zip(drawn) {
                assert!(part.abs_diff(wanted) <= 3, "{texel:?} from {drawn:?}");
            }
        }
    }
}
