//! Textures of lights: the light of spots through pictures (cookies), and the distribution of omni
//! lights in all directions. They become small squares of numbers among the clusters, so that the
//! shaders of meshes need no further textures.

use super::super::numeric_map::NumberMap;
use super::super::textures::TextureTable;
use super::area_light_table::AREA_LIGHT_TABLE;
use engine_foundation::Vec3;
use engine_frame_packet::scene::{LightFrame, LightKind, LightTexture};
use engine_frame_packet::texture::{TexelFormat, TextureSlot, TextureTexels};
use engine_resource::image::from_half;
use std::sync::OnceLock;

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
/// Maximum number of textures that become squares in a frame. Lights with further new ones shine
/// without until a later frame, and those with further changed ones show the old texels.
const CONVERTED_MAX: usize = 16;
/// Maximum number of rows and of columns of texels that are averaged for a texel of a square.
const AVERAGED_MAX: usize = 4;
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

pub(super) fn is_same(a: Option<&TextureTexels>, b: Option<&TextureTexels>) -> bool {
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
        let texels_of = |slot| textures.texels_of(TextureSlot(slot));
        for slot in self.stale_squares(textures.generation, used, texels_of) {
            self.convert(textures.generation, TextureSlot(slot), texels_of(slot));
        }
    }

    /// Returns the slots whose squares are to be converted in this frame: the new ones first, then
    /// those that have waited longest.
    fn stale_squares<'a>(
        &mut self,
        generation: u64,
        used: Vec<u32>,
        texels_of: impl Fn(u32) -> Option<&'a TextureTexels>,
    ) -> Vec<u32> {
        let mut stale = Vec::new();
        for slot in used {
            match self.squares.get_mut(&slot) {
                None => stale.push((None, slot)),
                Some(known) if known.generation == generation => {}
                Some(known) if is_same(known.texels.as_ref(), texels_of(slot)) => {
                    known.generation = generation;
                }
                Some(known) => stale.push((Some(known.generation), slot)),
            }
        }
        stale.sort_unstable();
        stale.into_iter().take(CONVERTED_MAX).map(|(_, slot)| slot).collect()
    }

    fn convert(&mut self, generation: u64, slot: TextureSlot, texels: Option<&TextureTexels>) {
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
            LightKind::Sun { .. } | LightKind::Area { .. } => return None,
            LightKind::Omni { .. } => (texture.axis.normalize_or(Vec3::Y), 0.0),
            LightKind::Spot { direction, outer, .. } => {
                let slope = outer.clamp(0.0, HALF_ANGLE_MAX).tan().max(1e-3);
                // The same fallback as that of the light's cone.
                (direction.normalize_or(Vec3::NEG_Z), slope)
            }
        };
        Some(TexturedLight { index, texture, axis, slope })
    }
}

/// The squares that a frame's grid contains, by the slots of their textures.
#[derive(Default)]
pub struct FrameSquares {
    begins: NumberMap<u32, u32>,
    /// Where the table of area lights begins, if a light of the frame needs it.
    area_table: Option<u32>,
}

impl FrameSquares {
    pub fn clear(&mut self) {
        self.begins.clear();
        self.area_table = None;
    }

    /// Adds the table of area lights to the grid, if the frame does not have it. Returns what the
    /// layers of such a light need to refer to it.
    pub fn add_area_table(&mut self, grid: &mut Vec<u32>) -> u32 {
        let begin = *self.area_table.get_or_insert_with(|| {
            grid.resize(grid.len().next_multiple_of(ALIGNMENT), 0);
            let begin = grid.len() as u32;
            grid.extend_from_slice(area_light_numbers());
            begin
        });
        (begin / ALIGNMENT as u32) << LAYER_BITS
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

/// Returns the table of area lights with a word for each number: not all adapters unpack halves.
fn area_light_numbers() -> &'static [u32] {
    static NUMBERS: OnceLock<Vec<u32>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let pair = |word: &u32| [*word as u16, (word >> 16) as u16].map(from_half);
        AREA_LIGHT_TABLE.iter().flat_map(pair).map(f32::to_bits).collect()
    })
}

/// The linear light of each byte of an sRGB texture.
pub(super) fn srgb_table() -> &'static [f32; 256] {
    static TABLE: OnceLock<[f32; 256]> = OnceLock::new();
    TABLE.get_or_init(|| {
        std::array::from_fn(|byte| {
            let value = byte as f32 / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    })
}

/// Returns a channel of a texel as linear light from 0 to 1.
pub(super) fn channel(texel: &[u8], number: usize, format: TexelFormat, srgb: &[f32; 256]) -> f32 {
    match format {
        TexelFormat::Rgba16Float => {
            let value = from_half(u16::from_le_bytes([texel[2 * number], texel[2 * number + 1]]));
            if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
        }
        TexelFormat::Rgba8Srgb => srgb[usize::from(texel[number])],
        _ => f32::from(texel[number]) / 255.0,
    }
}

/// A mip level: its size in texels, and the offset of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MipLevel {
    pub width: usize,
    pub height: usize,
    pub begin: usize,
}

/// Returns the smallest mip level that has a texel for each texel of a square with a side length,
/// or the largest one.
pub(super) fn level_of(texels: &TextureTexels, texel_bytes: usize, square: usize) -> MipLevel {
    let side = |length: u32, level: u32| (length >> level.min(31)).max(1) as usize;
    let (width, height) = (side(texels.width, 0), side(texels.height, 0));
    let mut chosen = MipLevel { width, height, begin: 0 };
    for level in 1..texels.levels.min(32) {
        let (width, height) = (side(texels.width, level), side(texels.height, level));
        if width < square || height < square {
            break;
        }
        let bytes = chosen.width.saturating_mul(chosen.height).saturating_mul(texel_bytes);
        let begin = chosen.begin.saturating_add(bytes);
        chosen = MipLevel { width, height, begin };
    }
    chosen
}

/// Returns the rows or columns of a level that are averaged for one of a square with a side length:
/// at least one, and at most [`AVERAGED_MAX`] with equal distances.
pub(super) fn averaged(
    at: usize,
    length: usize,
    square: usize,
) -> impl Iterator<Item = usize> + Clone {
    let first = at * length / square;
    let end = ((at + 1) * length).div_ceil(square).clamp(first + 1, length);
    let covered = end - first;
    let count = covered.min(AVERAGED_MAX);
    (0..count).map(move |number| first + (2 * number + 1) * covered / (2 * count))
}

/// Returns a texture as a square of words, with the square roots of red, green and blue in a byte
/// each, so that dark parts have fine steps.
fn square(texels: &TextureTexels) -> Result<Vec<u32>, String> {
    let format = texels.format;
    let texel_bytes = match format {
        TexelFormat::Rgba8 | TexelFormat::Rgba8Srgb => 4,
        TexelFormat::Rgba16Float => 8,
        _ => {
            return Err(format!(
                "it is the texture of a light with the format {format:?}: compile it uncompressed"
            ));
        }
    };
    let MipLevel { width, height, begin } = level_of(texels, texel_bytes, SIDE);
    let bytes = texels.bytes.get(texels.start.saturating_add(begin)..).unwrap_or_default();
    let needed = width.saturating_mul(height).saturating_mul(texel_bytes);
    if texels.width == 0 || texels.height == 0 || bytes.len() < needed {
        return Err("it is the texture of a light with too few texels".to_string());
    }
    let srgb = srgb_table();
    let mut packed = Vec::with_capacity(SIDE * SIDE);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let (mut sum, mut count) = ([0.0; 3], 0.0);
            for y in averaged(row, height, SIDE) {
                for x in averaged(column, width, SIDE) {
                    let texel = &bytes[(y * width + x) * texel_bytes..];
                    for (number, sum) in sum.iter_mut().enumerate() {
                        *sum += channel(texel, number, format, srgb);
                    }
                    count += 1.0;
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
    fn large_textures_cost_no_more_than_small_ones() {
        let read = |length: usize| {
            let rows = (0..SIDE).map(|at| averaged(at, length, SIDE).count());
            assert!(
                (0..SIDE).all(|at| averaged(at, length, SIDE).all(|row| row < length)),
                "{length}"
            );
            rows.sum::<usize>()
        };
        assert_eq!([1, 64, 128, 256].map(read), [64, 64, 128, 256]);
        assert_eq!([4096, 16384].map(read), [256, 256]);
        // The left half of each part is white, and the right half is black.
        let halves = (0..1024 * 64).flat_map(|at| [if at % 16 < 8 { 255 } else { 0 }; 4]).collect();
        let packed = square(&texels(1024, 64, TexelFormat::Rgba8, halves)).unwrap();
        assert_eq!(packed, vec![0xffb4_b4b4; SIDE * SIDE], "the square root of one half");
    }

    #[test]
    fn the_smallest_level_with_enough_texels_is_read() {
        // 256 x 128 texels of red, 128 x 64 of green, and 64 x 32 of blue.
        let colors = [([255, 0, 0, 255], 256 * 128), ([0, 255, 0, 255], 128 * 64)];
        let mut bytes: Vec<u8> = colors.iter().flat_map(|(it, count)| it.repeat(*count)).collect();
        bytes.extend([0, 0, 255, 255].repeat(64 * 32));
        let all = TextureTexels { levels: 3, ..texels(256, 128, TexelFormat::Rgba8, bytes) };
        let level = MipLevel { width: 128, height: 64, begin: 256 * 128 * 4 };
        assert_eq!(level_of(&all, 4, SIDE), level);
        assert_eq!(square(&all).unwrap(), vec![0xff00_ff00; SIDE * SIDE]);
        let wrong = TextureTexels { levels: u32::MAX, width: u32::MAX, ..all };
        assert!(square(&wrong).is_err(), "its bytes are missing");
    }

    #[test]
    fn a_frame_converts_few_textures() {
        let mut lights = LightTextures::default();
        let white = texels(1, 1, TexelFormat::Rgba8, vec![255; 4]);
        let used: Vec<u32> = (0..40).collect();
        let mut converted = Vec::new();
        for _ in 0..3 {
            let slots = lights.stale_squares(1, used.clone(), |_| Some(&white));
            slots.iter().for_each(|slot| lights.convert(1, TextureSlot(*slot), Some(&white)));
            converted.push(slots.len());
        }
        assert_eq!(converted, [CONVERTED_MAX, CONVERTED_MAX, 8]);
        assert!(lights.stale_squares(2, used.clone(), |_| Some(&white)).is_empty(), "unchanged");
        // All change in each frame: none waits for ever.
        let mut waiting: Vec<u32> = used.clone();
        for generation in 3..6 {
            let other = texels(1, 1, TexelFormat::Rgba8, vec![generation as u8; 4]);
            for slot in lights.stale_squares(generation, used.clone(), |_| Some(&other)) {
                lights.convert(generation, TextureSlot(slot), Some(&other));
                waiting.retain(|it| *it != slot);
            }
        }
        assert!(waiting.is_empty(), "{waiting:?}");
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
