//! Textures of lights: the light of spots through pictures (cookies), and the distribution of omni
//! lights in all directions. They become small squares of numbers among the clusters, so that the
//! shaders of meshes need no further textures.

use super::super::numeric_map::NumberMap;
use super::super::textures::TextureTable;
use engine_foundation::Vec3;
use engine_frame_packet::scene::{LightFrame, LightKind, LightTexture};
use engine_frame_packet::texture::{TexelFormat, TextureSlot, TextureTexels};
use engine_resource::image::from_half;

/// Side length of a square. The same as in forward/light_textures.wgsl.
pub const SIDE: usize = 64;
/// Words of a light with a texture: the pose of the texture, and where its square begins.
const HEADER_LENGTH: usize = 16;
/// Squares and headers begin at multiples of this number of words.
const ALIGNMENT: usize = 64;
/// Bits of [`super::lights::LightUniform::layers`] that hold the layers; the others say where the
/// header begins.
const LAYER_BITS: u32 = 8;
/// Maximum number of textures of lights in a frame. Lights with further ones shine without.
pub const LIGHT_TEXTURES_MAX: usize = 64;
/// Largest half angle of the picture of a spot, in radians.
const HALF_ANGLE_MAX: f32 = 1.5;

/// A texture as a square.
struct LightSquare {
    /// `None`: the texture cannot be one, which was reported.
    packed: Option<Vec<u32>>,
    /// Generation of the textures in which it was compared.
    generation: u64,
    texels: Option<TextureTexels>,
}

/// The textures of all lights, by their slots.
#[derive(Default)]
pub struct LightTextures {
    squares: NumberMap<u32, LightSquare>,
    /// Messages about textures that cannot be used.
    pub messages: Vec<(TextureSlot, String)>,
    is_limit_reported: bool,
}

fn is_same(a: Option<&TextureTexels>, b: Option<&TextureTexels>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            std::ptr::eq(&raw const a.bytes[..], &raw const b.bytes[..])
                && (a.start, a.width, a.height, a.format) == (b.start, b.width, b.height, b.format)
        }
        _ => false,
    }
}

impl LightTextures {
    /// Prepares the squares of the textures of some lights, and drops all others.
    pub fn prepare<'a>(
        &mut self,
        textures: &TextureTable,
        lights: impl Iterator<Item = &'a LightFrame>,
    ) {
        let mut used: Vec<u32> = lights.filter_map(|light| Some(light.texture?.slot.0)).collect();
        used.sort_unstable();
        used.dedup();
        if used.len() > LIGHT_TEXTURES_MAX {
            if !std::mem::replace(&mut self.is_limit_reported, true) {
                let message = format!(
                    "lights have {} different textures, and only {LIGHT_TEXTURES_MAX} of them are \
                     shown (LIGHT_TEXTURES_MAX)",
                    used.len()
                );
                self.messages.push((TextureSlot(used[LIGHT_TEXTURES_MAX]), message));
            }
            used.truncate(LIGHT_TEXTURES_MAX);
        }
        self.squares.retain(|slot, _| used.binary_search(slot).is_ok());
        for slot in used {
            self.prepare_square(textures, TextureSlot(slot));
        }
    }

    fn prepare_square(&mut self, textures: &TextureTable, slot: TextureSlot) {
        let (generation, texels) = (textures.generation, textures.texels_of(slot));
        if let Some(known) = self.squares.get_mut(&slot.0)
            && (known.generation == generation || is_same(known.texels.as_ref(), texels))
        {
            known.generation = generation;
            return;
        }
        let converted =
            match texels {
                Some(texels) => square(texels),
                None => Err("the texture of a light needs a slot of its own, and is not drawn to"
                    .to_string()),
            };
        let packed = match converted {
            Ok(packed) => Some(packed),
            Err(message) => {
                self.messages.push((slot, message));
                None
            }
        };
        let texels = texels.cloned();
        self.squares.insert(slot.0, LightSquare { packed, generation, texels });
    }

    fn packed(&self, slot: TextureSlot) -> Option<&[u32]> {
        self.squares.get(&slot.0)?.packed.as_deref()
    }
}

/// A light of a view that has a texture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TexturedLight {
    /// Index among the lights of the view.
    pub index: usize,
    texture: LightTexture,
    axis: Vec3,
    /// Tangent of the half angle of a spot; 0 for an omni light.
    slope: f32,
}

impl TexturedLight {
    /// Returns the textured light of a light; `None` without a texture.
    pub fn new(index: usize, light: &LightFrame) -> Option<TexturedLight> {
        let texture = light.texture.filter(|it| it.axis.is_finite() && it.right.is_finite())?;
        let (axis, slope) = match light.kind {
            LightKind::Sun { .. } => return None,
            LightKind::Omni { .. } => (texture.axis.normalize_or(Vec3::Y), 0.0),
            LightKind::Spot { direction, outer, .. } => {
                let slope = outer.clamp(0.0, HALF_ANGLE_MAX).tan().max(1e-3);
                (direction.normalize_or(Vec3::Y), slope)
            }
        };
        Some(TexturedLight { index, texture, axis, slope })
    }
}

/// The squares that a frame's grid contains, by the slots of their textures.
#[derive(Default)]
pub struct FrameSquares {
    begins: NumberMap<u32, u32>,
}

impl FrameSquares {
    pub fn clear(&mut self) {
        self.begins.clear();
    }

    /// Adds a light to the grid. Returns what its layers need to refer to it; 0: it has no texture.
    pub fn add(
        &mut self,
        light: &TexturedLight,
        textures: &LightTextures,
        grid: &mut Vec<u32>,
    ) -> u32 {
        let slot = light.texture.slot;
        let Some(packed) = textures.packed(slot) else { return 0 };
        let begin = *self.begins.entry(slot.0).or_insert_with(|| {
            grid.resize(grid.len().next_multiple_of(ALIGNMENT), 0);
            let begin = grid.len() as u32;
            grid.extend_from_slice(packed);
            begin
        });
        grid.resize(grid.len().next_multiple_of(ALIGNMENT), 0);
        let header = grid.len();
        let (axis, right) = (light.axis, light.texture.right);
        // The picture stays upright if the axes of the light are not perpendicular.
        let right = (right - axis * right.dot(axis)).normalize_or(axis.any_orthonormal_vector());
        let up = right.cross(axis);
        for vector in [axis, right, up] {
            grid.extend(vector.to_array().map(f32::to_bits));
        }
        grid.extend([light.slope.to_bits(), begin]);
        grid.resize(header + HEADER_LENGTH, 0);
        ((header / ALIGNMENT) as u32) << LAYER_BITS
    }
}

/// Returns a channel of a texel as linear light from 0 to 1.
fn channel(texel: &[u8], number: usize, format: TexelFormat) -> f32 {
    match format {
        TexelFormat::Rgba16Float => {
            let value = from_half(u16::from_le_bytes([texel[2 * number], texel[2 * number + 1]]));
            if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
        }
        TexelFormat::Rgba8Srgb => {
            let value = f32::from(texel[number]) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        }
        _ => f32::from(texel[number]) / 255.0,
    }
}

/// Returns a texture as a square of words, with the square roots of red, green and blue in a byte
/// each, so that dark parts have fine steps.
fn square(texels: &TextureTexels) -> Result<Vec<u32>, String> {
    let TextureTexels { width, height, format, .. } = *texels;
    let texel_bytes = match format {
        TexelFormat::Rgba8 | TexelFormat::Rgba8Srgb => 4,
        TexelFormat::Rgba16Float => 8,
        _ => {
            return Err(format!(
                "it is the texture of a light with the format {format:?}: compile it uncompressed"
            ));
        }
    };
    let (width, height) = (width as usize, height as usize);
    let bytes = texels.bytes.get(texels.start..).unwrap_or_default();
    if width == 0 || height == 0 || bytes.len() < width * height * texel_bytes {
        return Err("it is the texture of a light with too few texels".to_string());
    }
    // The texels that a part of the square covers, at least one.
    let range = |at: usize, length: usize| {
        let first = at * length / SIDE;
        first..((at + 1) * length).div_ceil(SIDE).clamp(first + 1, length)
    };
    let mut packed = Vec::with_capacity(SIDE * SIDE);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let mut sum = [0.0; 3];
            let (rows, columns) = (range(row, height), range(column, width));
            let count = (rows.len() * columns.len()) as f32;
            for y in rows {
                for x in columns.clone() {
                    let texel = &bytes[(y * width + x) * texel_bytes..];
                    for (number, sum) in sum.iter_mut().enumerate() {
                        *sum += channel(texel, number, format);
                    }
                }
            }
            let roots = sum.map(|sum| ((sum / count).sqrt() * 255.0).round() as u8);
            packed.push(u32::from_le_bytes([roots[0], roots[1], roots[2], 255]));
        }
    }
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::texture::{SamplerSettings, WrapMode};

    fn texels(width: u32, height: u32, format: TexelFormat, bytes: Vec<u8>) -> TextureTexels {
        let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
        TextureTexels { width, height, levels: 1, format, sampling, bytes: bytes.into(), start: 0 }
    }

    #[test]
    fn pictures_of_any_size_become_squares() {
        for (width, height) in [(1, 1), (2, 2), (63, 200), (64, 64), (300, 1)] {
            let bytes = [255, 0, 0, 255].repeat((width * height) as usize);
            let packed = square(&texels(width, height, TexelFormat::Rgba8Srgb, bytes)).unwrap();
            assert_eq!(packed, vec![0xff00_00ff; SIDE * SIDE], "{width} x {height}");
        }
        let halves = [0x7e00u16, 0x7c00, 0xbc00, 0x3c00].map(u16::to_le_bytes).concat();
        let packed = square(&texels(1, 1, TexelFormat::Rgba16Float, halves)).unwrap();
        assert_eq!(packed[0], 0xff00_ff00, "not a number, infinite and negative light");
    }

    #[test]
    fn other_textures_are_refused() {
        let refuses = |texels: TextureTexels, wanted: &str| {
            let message = square(&texels).expect_err(wanted);
            assert!(message.contains(wanted), "{message}");
        };
        refuses(texels(4, 4, TexelFormat::Bc7, vec![0; 16]), "Bc7");
        refuses(texels(4, 4, TexelFormat::Rgba8, vec![0; 16]), "too few texels");
        refuses(texels(0, 0, TexelFormat::Rgba8, Vec::new()), "too few texels");
    }

    #[test]
    fn lights_share_the_square_of_their_texture() {
        let texture = LightTexture { slot: TextureSlot(3), axis: Vec3::Y, right: Vec3::X };
        let light = LightFrame { texture: Some(texture), ..LightFrame::DEFAULT };
        let textured = TexturedLight::new(0, &light).expect("it has a texture");
        let mut textures = LightTextures::default();
        let known = LightSquare { packed: Some(vec![7; 4096]), generation: 0, texels: None };
        textures.squares.insert(3, known);
        let (mut frame, mut grid) = (FrameSquares::default(), vec![1; 10]);
        let [first, second] = [(); 2].map(|()| frame.add(&textured, &textures, &mut grid));
        assert_eq!([first >> LAYER_BITS, second >> LAYER_BITS], [1 + 64, 1 + 64 + 1]);
        let header = &grid[(second >> LAYER_BITS) as usize * ALIGNMENT..][..HEADER_LENGTH];
        assert_eq!([header[0], header[1], header[2]], [0.0, 1.0, 0.0].map(f32::to_bits));
        assert_eq!((header[9], header[10]), (0, 64));
        let other = LightTexture { slot: TextureSlot(4), ..texture };
        let light = LightFrame { texture: Some(other), ..LightFrame::DEFAULT };
        let textured = TexturedLight::new(0, &light).expect("it has a texture");
        assert_eq!(frame.add(&textured, &textures, &mut grid), 0, "it has no square");
        let wrong = LightTexture { right: Vec3::NAN, ..texture };
        let light = LightFrame { texture: Some(wrong), ..LightFrame::DEFAULT };
        assert!(TexturedLight::new(0, &light).is_none());
    }
}
