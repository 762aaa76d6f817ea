//! Built-in particle textures, generated when they are first requested. Texels are red, green, blue
//! and premultiplied alpha.

use engine_foundation::noise::{Fractal, fractal};

/// A generated texture.
pub struct BuiltInTexture {
    pub name: &'static str,
    pub side: u32,
    /// Returns the light (0 to 1) at a position. Coordinates are -1 to 1, to the right and up.
    light: fn(f32, f32) -> f32,
}

/// All built-in textures.
pub const ALL: &[BuiltInTexture] = &[
    BuiltInTexture { name: "core/particles/soft", side: 64, light: soft },
    BuiltInTexture { name: "core/particles/spark", side: 64, light: spark },
    BuiltInTexture { name: "core/particles/smoke", side: 256, light: smoke },
    BuiltInTexture { name: "core/particles/ring", side: 64, light: ring },
    BuiltInTexture { name: "core/particles/star", side: 64, light: star },
];

/// Texture of emitters that name none.
pub const SOFT: &str = "core/particles/soft";

/// Returns the built-in texture with a name.
pub fn find(name: &str) -> Option<&'static BuiltInTexture> {
    ALL.iter().find(|texture| texture.name == name)
}

/// Converts linear light to an sRGB byte.
fn to_byte(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let high = light > 0.003_130_8;
    let part = if high { 1.055 * light.powf(1.0 / 2.4) - 0.055 } else { light * 12.92 };
    (part * 255.0 + 0.5) as u8
}

impl BuiltInTexture {
    /// Returns its texels, rows from the top.
    pub fn texels(&self) -> Vec<u8> {
        let side = self.side;
        let mut out = Vec::with_capacity((side * side * 4) as usize);
        for row in 0..side {
            for column in 0..side {
                let at = |i: u32| (i as f32 + 0.5) / side as f32 * 2.0 - 1.0;
                let light = (self.light)(at(column), -at(row)).clamp(0.0, 1.0);
                // White, premultiplied with alpha in linear light.
                let white = to_byte(light);
                out.extend([white, white, white, (light * 255.0 + 0.5) as u8]);
            }
        }
        out
    }
}

fn linear_falloff(x: f32, y: f32) -> f32 {
    (1.0 - (x * x + y * y).sqrt()).max(0.0)
}

fn soft(x: f32, y: f32) -> f32 {
    // A bell curve: perceived brightness is logarithmic, so a steeper curve would look like a disc.
    let gaussian = |squared: f32| (-4.5 * squared).exp();
    (gaussian(x * x + y * y) - gaussian(1.0)) / (1.0 - gaussian(1.0))
}

fn spark(x: f32, y: f32) -> f32 {
    let falloff = linear_falloff(x, y);
    0.35 * falloff * falloff + falloff.powi(5) * 1.6
}

fn ring(x: f32, y: f32) -> f32 {
    let off = ((x * x + y * y).sqrt() - 0.8).abs() / 0.18;
    (1.0 - off).max(0.0).powi(2)
}

fn star(x: f32, y: f32) -> f32 {
    let falloff = linear_falloff(x, y);
    let rays = (1.0 - (x * y).abs() * 60.0).max(0.0) * falloff * falloff;
    falloff.powi(4) + rays
}

/// Returns the brightness at a point of four puffs of smoke in a 2 × 2 grid.
fn smoke(x: f32, y: f32) -> f32 {
    let puff = |at: f32| at.fract().abs() * 2.0;
    let (u, v) = (puff((x + 1.0) * 0.999) - 1.0, puff((y + 1.0) * 0.999) - 1.0);
    let number = u64::from(x >= 0.0) + 2 * u64::from(y >= 0.0);
    let shape = Fractal { octaves: 4, lacunarity: 2.1, gain: 0.55 };
    let cloud = fractal(11 + number, [f64::from(u) * 1.7, f64::from(v) * 1.7], &shape) as f32;
    let ragged = fractal(31 + number, [f64::from(u) * 2.4, f64::from(v) * 2.4], &shape) as f32;
    let out = (u * u + v * v).sqrt() + ragged * 0.55;
    let falloff = (1.0 - out).clamp(0.0, 1.0);
    let falloff = falloff * falloff * (3.0 - 2.0 * falloff);
    // Fades out so that no puff reaches the edge of its quarter.
    let rim = (4.0 - 4.0 * (u * u + v * v).sqrt()).clamp(0.0, 1.0);
    falloff * (0.62 + 0.9 * cloud).clamp(0.0, 1.0) * rim
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_textures_are_dark_at_the_edge() {
        for texture in ALL {
            let texels = texture.texels();
            let side = texture.side as usize;
            assert_eq!(texels.len(), side * side * 4);
            let alpha = |x: usize, y: usize| texels[(y * side + x) * 4 + 3];
            let edge = (0..side).map(|i| alpha(i, 0).max(alpha(0, i))).max();
            let most = (0..side * side).map(|i| texels[i * 4 + 3]).max();
            assert!(edge < Some(12) && most > Some(150), "{} {edge:?} {most:?}", texture.name);
        }
    }
}
