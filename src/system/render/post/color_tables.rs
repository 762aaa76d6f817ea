//! Color tables of color grading: textures of colors become cubes of differences on the adapter. A
//! difference is exactly 0 where a table changes nothing, whatever its format and its size are.

use super::super::RendererEvent;
use super::super::device::GpuDevice;
use super::super::numeric_map::NumberMap;
use super::super::textures::TextureTable;
use super::images::{ImageMaker, PostImage};
use engine_frame_packet::texture::{TexelFormat, TextureSlot, TextureTexels};
use engine_resource::image::{from_half, to_half};

/// Side lengths that a table may have, in texels.
const SIDE_MIN: u32 = 2;
const SIDE_MAX: u32 = 64;
/// Tables that no view has needed for this number of frames are dropped.
const UNUSED_FRAMES_MAX: u64 = 60;

/// A color table on the adapter.
#[derive(Clone)]
pub struct ColorTable {
    pub image: PostImage,
    pub side: u32,
}

struct KeptTable {
    /// `None`: the texture is no table, which was reported.
    table: Option<ColorTable>,
    /// The texels that it was converted from, which are shared with the texture.
    texels: Option<TextureTexels>,
    /// Generation of the textures in which the texels were compared.
    generation: u64,
    /// The frame that needed it last.
    used: u64,
}

/// The color tables of all views, by the slots of their textures.
#[derive(Default)]
pub struct ColorTables {
    kept: NumberMap<u32, KeptTable>,
    /// True if bind groups may contain a table that was replaced.
    replaced: bool,
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

impl ColorTables {
    /// Returns the table in a texture for a frame; `None`: it is none, which is reported once.
    pub fn get(
        &mut self,
        (device, maker): (&GpuDevice, &mut ImageMaker),
        textures: &TextureTable,
        (slot, frame): (TextureSlot, u64),
        events: &mut Vec<RendererEvent>,
    ) -> Option<ColorTable> {
        let generation = textures.generation;
        if let Some(kept) = self.kept.get_mut(&slot.0) {
            let is_current = kept.generation == generation
                || is_same(kept.texels.as_ref(), textures.texels_of(slot));
            if is_current {
                (kept.used, kept.generation) = (frame, generation);
                return kept.table.clone();
            }
            self.replaced = true;
        }
        let texels = textures.texels_of(slot).cloned();
        let converted = match &texels {
            Some(texels) => differences(texels),
            None => Err("a color table needs a texture of its own, whose colors are known; this \
                         slot has none, or is drawn to"
                .to_string()),
        };
        let table = match converted {
            Ok((side, bytes)) => Some(ColorTable { image: maker.cube(device, side, &bytes), side }),
            Err(message) => {
                events.push(RendererEvent::TextureRefused { slot, message });
                None
            }
        };
        let kept = KeptTable { table: table.clone(), texels, generation, used: frame };
        self.kept.insert(slot.0, kept);
        table
    }

    /// Drops tables that no view needs. Returns true if bind groups may have old ones.
    pub fn drop_unused(&mut self, frame: u64) -> bool {
        let before = self.kept.len();
        self.kept.retain(|_, kept| frame - kept.used <= UNUSED_FRAMES_MAX);
        std::mem::take(&mut self.replaced) || self.kept.len() < before
    }

    pub fn bytes(&self) -> u64 {
        self.kept.values().flat_map(|kept| &kept.table).map(|table| table.image.bytes()).sum()
    }
}

/// Returns one channel of a texel as a number from 0 to 1, and the error that its format allows.
fn channel(texel: &[u8], number: usize, format: TexelFormat) -> (f32, f32) {
    if format == TexelFormat::Rgba16Float {
        let half = u16::from_le_bytes([texel[2 * number], texel[2 * number + 1]]);
        let value = from_half(half);
        let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
        return (value, 1.0 / 2048.0);
    }
    (f32::from(texel[number]) / 255.0, 0.501 / 255.0)
}

/// Returns the side length of a table, and its differences as a cube of half floats: the difference
/// between the color of each texel and the color that it stands for.
fn differences(texels: &TextureTexels) -> Result<(u32, Vec<u8>), String> {
    let TextureTexels { width, height: side, format, .. } = *texels;
    let texel_bytes = match format {
        TexelFormat::Rgba8 | TexelFormat::Rgba8Srgb => 4,
        TexelFormat::Rgba16Float => 8,
        _ => {
            return Err(format!(
                "it is a color table with the format {format:?}: compile it uncompressed"
            ));
        }
    };
    if !(SIDE_MIN..=SIDE_MAX).contains(&side) || width != side * side {
        return Err(format!(
            "it is a color table of {width} × {side} texels: it needs a height from {SIDE_MIN} to \
             {SIDE_MAX}, and a width of the square of it"
        ));
    }
    let bytes = texels.bytes.get(texels.start..).unwrap_or_default();
    if bytes.len() < (width * side) as usize * texel_bytes {
        return Err("it is a color table with too few texels".to_string());
    }
    let last = (side - 1) as f32;
    let mut cube = Vec::with_capacity((side * side * side) as usize * 8);
    for blue in 0..side {
        for green in 0..side {
            for red in 0..side {
                let at = (green * width + blue * side + red) as usize * texel_bytes;
                for (number, level) in [red, green, blue].into_iter().enumerate() {
                    let unchanged = level as f32 / last;
                    let (value, error) = channel(&bytes[at..], number, format);
                    let difference = value - unchanged;
                    let known = if difference.abs() <= error { 0.0 } else { difference };
                    cube.extend_from_slice(&to_half(known).to_le_bytes());
                }
                cube.extend_from_slice(&[0; 2]);
            }
        }
    }
    Ok((side, cube))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::texture::{SamplerSettings, WrapMode};

    fn strip(width: u32, height: u32, format: TexelFormat, bytes: Vec<u8>) -> TextureTexels {
        let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
        TextureTexels { width, height, levels: 1, format, sampling, bytes: bytes.into(), start: 0 }
    }

    fn identity(side: u32, format: TexelFormat) -> TextureTexels {
        let mut bytes = Vec::new();
        for green in 0..side {
            for at in 0..side * side {
                for level in [at % side, green, at / side, side - 1] {
                    let value = level as f32 / (side - 1) as f32;
                    match format {
                        TexelFormat::Rgba16Float => bytes.extend(to_half(value).to_le_bytes()),
                        _ => bytes.push((value * 255.0).round() as u8),
                    }
                }
            }
        }
        strip(side * side, side, format, bytes)
    }

    #[test]
    fn an_identity_table_has_no_differences() {
        for format in [TexelFormat::Rgba8, TexelFormat::Rgba8Srgb, TexelFormat::Rgba16Float] {
            for side in [2, 16, 33, 64] {
                let (found, cube) = differences(&identity(side, format)).expect("a table");
                assert_eq!((found, cube.len()), (side, (side * side * side * 8) as usize));
                assert!(cube.iter().all(|byte| *byte == 0), "{format:?} {side}");
            }
        }
    }

    #[test]
    fn a_difference_is_at_its_red_green_and_blue() {
        let mut texels = identity(4, TexelFormat::Rgba8);
        let mut bytes = texels.bytes.to_vec();
        // Red 1, green 2, blue 3.
        bytes[((2 * 16 + 3 * 4 + 1) * 4) as usize] = 255;
        texels.bytes = bytes.into();
        let (_, cube) = differences(&texels).expect("a table");
        let changed: Vec<usize> = (0..cube.len() / 8).filter(|i| cube[i * 8 + 1] != 0).collect();
        assert_eq!(changed, [3 * 16 + 2 * 4 + 1]);
        let half = u16::from_le_bytes([cube[changed[0] * 8], cube[changed[0] * 8 + 1]]);
        assert!((from_half(half) - 2.0 / 3.0).abs() < 1e-3);
    }

    #[test]
    fn textures_of_other_sizes_and_formats_are_refused() {
        let refuses = |texels: &TextureTexels, wanted: &str| {
            let message = differences(texels).expect_err("no table");
            assert!(message.contains(wanted), "{message}");
        };
        let plain = TexelFormat::Rgba8;
        refuses(&strip(16, 16, plain, vec![0; 1024]), "16 × 16 texels");
        refuses(&strip(1, 1, plain, vec![0; 4]), "1 × 1 texels");
        refuses(&strip(0, 0, plain, Vec::new()), "0 × 0 texels");
        refuses(&strip(128 * 128, 128, plain, Vec::new()), "16384 × 128 texels");
        refuses(&strip(16, 4, plain, vec![0; 8]), "too few texels");
        refuses(&strip(16, 4, TexelFormat::Bc7, vec![0; 64]), "Bc7");
        let nan = to_half(f32::INFINITY).to_le_bytes().repeat(16 * 4 * 4);
        let (_, cube) = differences(&strip(16, 4, TexelFormat::Rgba16Float, nan)).expect("a table");
        let halves = cube.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]]));
        assert!(halves.map(from_half).all(|value| (0.0..=1.0).contains(&value)));
    }
}
