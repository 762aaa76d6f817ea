//! Textures of decals: each becomes a layer of one array, with squares of the same size, so that
//! the shaders of meshes need a single further texture. Copies nothing to an adapter
//! (forward/decal_images.rs does).

use super::super::numeric_map::NumberMap;
use super::super::textures::TextureTable;
use super::light_textures::{MipLevel, averaged, channel, is_same, level_of, srgb_table};
use engine_frame_packet::decal::{DecalFrame, DecalTextures};
use engine_frame_packet::texture::{TexelFormat, TextureSlot, TextureTexels};

/// Side length of a layer. The same as in forward/decals.wgsl.
pub const SIDE: usize = 256;
/// Number of mip levels of a layer.
pub const LEVELS: u32 = SIDE.ilog2() + 1;
/// Maximum number of textures of decals in a frame. Decals whose color or emitted light needs
/// further ones are not shown.
pub const DECAL_TEXTURES_MAX: usize = 128;
/// Maximum number of textures that become layers in a frame. Further new ones are missing until a
/// later frame, and further changed ones show their old texels.
const CONVERTED_MAX: usize = 2;

/// The numbers of a decal's layers: one byte for each texture, in the order of [`DecalTextures`];
/// 0: it has none.
pub type DecalLayers = [u8; 4];

/// A texture, with a flag: its texels are colors.
pub type TextureKey = (u32, bool);

/// A layer of the array.
struct DecalLayer {
    /// Index in [`DecalLayerTable::images`]; `None`: the texture cannot be a layer, which was
    /// reported.
    index: Option<usize>,
    /// Generation of the textures in which it was compared.
    generation: u64,
    texels: Option<TextureTexels>,
}

/// The texels of a layer with all mip levels, and the number of their newest change. Without
/// texels, the layer is free.
#[derive(Default)]
pub struct LayerImage {
    pub bytes: Vec<u8>,
    pub version: u64,
}

/// The layers of the textures of all decals.
#[derive(Default)]
pub struct DecalLayerTable {
    layers: NumberMap<TextureKey, DecalLayer>,
    pub images: Vec<LayerImage>,
    /// Messages about textures that cannot be used.
    pub messages: Vec<(TextureSlot, String)>,
    is_limit_reported: bool,
    version: u64,
}

/// Returns the different textures of decals, in ascending order.
pub fn keys_of_all<'a>(decals: impl Iterator<Item = &'a DecalFrame>) -> Vec<TextureKey> {
    let mut found: Vec<TextureKey> =
        decals.flat_map(|decal| keys(&decal.textures)).flatten().collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the textures of a decal, with a flag: the texels are colors.
fn keys(textures: &DecalTextures) -> [Option<TextureKey>; 4] {
    let DecalTextures { color, normal, roughness, emissive } = *textures;
    [(color, true), (normal, false), (roughness, false), (emissive, true)]
        .map(|(slot, is_color)| Some((slot?.0, is_color)))
}

impl DecalLayerTable {
    /// Prepares the layers of some textures, and frees all others.
    pub fn prepare(&mut self, textures: &TextureTable, used: impl Iterator<Item = TextureKey>) {
        let texels_of = |slot| textures.texels_of(TextureSlot(slot));
        let is_target = |slot| textures.target_of(TextureSlot(slot)).is_some();
        self.update(textures.generation, (texels_of, is_target), used);
    }

    fn update<'a>(
        &mut self,
        generation: u64,
        (texels_of, is_target): (impl Fn(u32) -> Option<&'a TextureTexels>, impl Fn(u32) -> bool),
        used: impl Iterator<Item = TextureKey>,
    ) {
        let mut used: Vec<TextureKey> = used.collect();
        if used.is_empty() && self.layers.is_empty() {
            return;
        }
        used.sort_unstable();
        used.dedup();
        self.limit(&mut used);
        let images = &mut self.images;
        self.layers.retain(|key, layer| {
            let is_used = used.binary_search(key).is_ok();
            if let Some(index) = layer.index.filter(|_| !is_used) {
                images[index] = LayerImage::default();
            }
            is_used
        });
        if self.layers.is_empty() {
            images.clear();
        }
        // A texture that is not there yet follows in a later frame.
        used.retain(|key| texels_of(key.0).is_some() || is_target(key.0));
        for key in self.stale(generation, used, &texels_of) {
            self.convert(generation, key, texels_of(key.0));
        }
    }

    fn limit(&mut self, used: &mut Vec<TextureKey>) {
        if used.len() <= DECAL_TEXTURES_MAX {
            return;
        }
        if !std::mem::replace(&mut self.is_limit_reported, true) {
            let message = format!(
                "decals have {} different textures, and only {DECAL_TEXTURES_MAX} of them are \
                 shown (DECAL_TEXTURES_MAX)",
                used.len()
            );
            self.messages.push((TextureSlot(used[DECAL_TEXTURES_MAX].0), message));
        }
        used.truncate(DECAL_TEXTURES_MAX);
    }

    /// Returns the textures that become layers in this frame: the new ones first, then those that
    /// have waited longest.
    fn stale<'a>(
        &mut self,
        generation: u64,
        used: Vec<TextureKey>,
        texels_of: impl Fn(u32) -> Option<&'a TextureTexels>,
    ) -> Vec<TextureKey> {
        let mut stale = Vec::new();
        for key in used {
            match self.layers.get_mut(&key) {
                None => stale.push((None, key)),
                Some(known) if known.generation == generation => {}
                Some(known) if is_same(known.texels.as_ref(), texels_of(key.0)) => {
                    known.generation = generation;
                }
                Some(known) => stale.push((Some(known.generation), key)),
            }
        }
        stale.sort_unstable();
        stale.into_iter().take(CONVERTED_MAX).map(|(_, key)| key).collect()
    }

    fn convert(&mut self, generation: u64, key: TextureKey, texels: Option<&TextureTexels>) {
        let own = "the texture of a decal needs a slot of its own, and is not drawn to";
        let converted = texels.ok_or(own.to_string()).and_then(|texels| layer(texels, key.1));
        let before = self.layers.get(&key).and_then(|layer| layer.index);
        let index = match converted {
            Ok(bytes) => {
                let free = || self.images.iter().position(|image| image.bytes.is_empty());
                let index = before.or_else(free).unwrap_or(self.images.len());
                if index == self.images.len() {
                    self.images.push(LayerImage::default());
                }
                self.version += 1;
                self.images[index] = LayerImage { bytes, version: self.version };
                Some(index)
            }
            Err(message) => {
                if let Some(index) = before {
                    self.version += 1;
                    self.images[index] = LayerImage::default();
                }
                self.messages.push((TextureSlot(key.0), message));
                None
            }
        };
        self.layers.insert(key, DecalLayer { index, generation, texels: texels.cloned() });
    }

    /// Returns the layers of a decal.
    pub fn of(&self, textures: &DecalTextures) -> DecalLayers {
        keys(textures).map(|key| {
            let index = key.and_then(|key| self.layers.get(&key)?.index);
            index.map_or(0, |index| index as u8 + 1)
        })
    }

    /// Returns true if a decal has the layers of its color and of the light that it emits. Without
    /// them, it would be a box of one color.
    pub fn is_ready(&self, textures: &DecalTextures) -> bool {
        let [color, _, _, emissive] = self.of(textures);
        (color != 0 || textures.color.is_none()) && (emissive != 0 || textures.emissive.is_none())
    }

    /// Returns the number of the newest change.
    pub fn version(&self) -> u64 {
        self.version
    }
}

const _: () = assert!(DECAL_TEXTURES_MAX < u8::MAX as usize);

/// Returns a texture as a layer with its mip levels: four bytes for each texel. Those of colors are
/// the square roots of linear light, so that dark parts have fine steps; alpha is linear.
fn layer(texels: &TextureTexels, is_color: bool) -> Result<Vec<u8>, String> {
    let format = texels.format;
    let texel_bytes = match format {
        TexelFormat::Rgba8 | TexelFormat::Rgba8Srgb => 4,
        TexelFormat::Rgba16Float => 8,
        _ => {
            return Err(format!(
                "it is the texture of a decal with the format {format:?}: compile it uncompressed"
            ));
        }
    };
    let MipLevel { width, height, begin } = level_of(texels, texel_bytes, SIDE);
    let bytes = texels.bytes.get(texels.start.saturating_add(begin)..).unwrap_or_default();
    let needed = width.saturating_mul(height).saturating_mul(texel_bytes);
    if texels.width == 0 || texels.height == 0 || bytes.len() < needed {
        return Err("it is the texture of a decal with too few texels".to_string());
    }
    let mut level = Vec::with_capacity(SIDE * SIDE);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let (mut sum, mut count) = ([0.0; 4], 0.0);
            for y in averaged(row, height, SIDE) {
                for x in averaged(column, width, SIDE) {
                    let texel = &bytes[(y * width + x) * texel_bytes..];
                    let values = values(texel, format);
                    sum = std::array::from_fn(|number| sum[number] + values[number]);
                    count += 1.0;
                }
            }
            level.push(sum.map(|sum| sum / count));
        }
    }
    Ok(packed(level, is_color))
}

/// Returns the linear values of a texel.
fn values(texel: &[u8], format: TexelFormat) -> [f32; 4] {
    // Alpha has no curve.
    let of_alpha = if format == TexelFormat::Rgba8Srgb { TexelFormat::Rgba8 } else { format };
    std::array::from_fn(|number| {
        channel(texel, number, if number == 3 { of_alpha } else { format }, srgb_table())
    })
}

/// Returns the bytes of a level and of all smaller ones.
fn packed(mut level: Vec<[f32; 4]>, is_color: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SIDE * SIDE * 16 / 3 + 4);
    let mut side = SIDE;
    loop {
        for texel in &level {
            for (number, value) in texel.iter().enumerate() {
                let value = if is_color && number < 3 { value.sqrt() } else { *value };
                bytes.push((value * 255.0).round() as u8);
            }
        }
        if side == 1 {
            return bytes;
        }
        let half = side / 2;
        let average = |at: usize| -> [f32; 4] {
            let (x, y) = (at % half * 2, at / half * 2);
            let corners = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
            let corners = corners.map(|(x, y)| level[y * side + x]);
            std::array::from_fn(|number| corners.iter().map(|it| it[number]).sum::<f32>() / 4.0)
        };
        level = (0..half * half).map(average).collect();
        side = half;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::texture::{SamplerSettings, WrapMode};

    fn texels(side: u32, format: TexelFormat, bytes: Vec<u8>) -> TextureTexels {
        let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
        let (width, height) = (side, side);
        TextureTexels { width, height, levels: 1, format, sampling, bytes: bytes.into(), start: 0 }
    }

    fn decal(color: u32) -> DecalFrame {
        let color = Some(TextureSlot(color));
        let textures = DecalTextures { color, ..DecalTextures::default() };
        DecalFrame { textures, ..DecalFrame::DEFAULT }
    }

    #[test]
    fn the_shader_knows_the_size_of_a_layer() {
        let shader = include_str!("../forward/decals.wgsl");
        assert!(shader.contains(&format!("const DECAL_SIDE: f32 = {SIDE}.0;")));
    }

    #[test]
    fn a_layer_has_all_levels_of_a_texture_of_any_size() {
        let size = (0..LEVELS).map(|level| (SIDE >> level).pow(2) * 4).sum::<usize>();
        for side in [1, 3, 256, 300] {
            let bytes = [255, 64, 0, 128].repeat((side * side) as usize);
            let color = layer(&texels(side, TexelFormat::Rgba8, bytes.clone()), true).unwrap();
            assert_eq!(color.len(), size, "{side}");
            assert_eq!((color[..4].to_vec(), color[size - 4..].to_vec()), {
                let root = vec![255, 128, 0, 128];
                (root.clone(), root)
            });
            let data = layer(&texels(side, TexelFormat::Rgba8, bytes), false).unwrap();
            assert_eq!(data[..4], [255, 64, 0, 128]);
        }
        assert!(layer(&texels(4, TexelFormat::Rgba8, vec![0; 8]), true).is_err(), "too few texels");
        assert!(layer(&texels(0, TexelFormat::Rgba8, Vec::new()), true).is_err());
    }

    #[test]
    fn layers_are_freed_and_used_again() {
        let mut table = DecalLayerTable::default();
        let picture = texels(1, TexelFormat::Rgba8, vec![255; 4]);
        for slot in [1, 2] {
            table.convert(0, (slot, true), Some(&picture));
        }
        assert_eq!(table.of(&decal(1).textures), [1, 0, 0, 0]);
        assert_eq!(table.of(&decal(2).textures), [2, 0, 0, 0]);
        assert_eq!(table.of(&decal(3).textures), [0; 4]);
        let all = |_: u32| Some(&picture);
        table.update(0, (all, |_| false), [(2, true)].into_iter());
        assert!(table.images[0].bytes.is_empty(), "its texture is not used any more");
        table.convert(0, (7, true), Some(&picture));
        assert_eq!(table.of(&decal(7).textures), [1, 0, 0, 0]);
        table.update(0, (all, |_| false), [].into_iter());
        assert!(table.images.is_empty());
    }

    #[test]
    fn textures_that_are_not_there_yet_are_not_reported() {
        let mut table = DecalLayerTable::default();
        let picture = texels(1, TexelFormat::Rgba8, vec![255; 4]);
        let update = |table: &mut DecalLayerTable, there: bool, is_target: bool| {
            let texels_of = |_: u32| Some(&picture).filter(|_| there);
            table.update(0, (texels_of, |_| is_target), [(3, true)].into_iter());
            (table.of(&decal(3).textures)[0], table.messages.len())
        };
        assert_eq!(update(&mut table, false, false), (0, 0));
        assert_eq!(update(&mut table, true, false), (1, 0));
        let mut table = DecalLayerTable::default();
        assert_eq!(update(&mut table, false, true), (0, 1), "a render target is refused");
        assert_eq!(update(&mut table, false, true), (0, 1), "once");
    }

    #[test]
    fn decals_wait_for_the_layers_of_their_colors() {
        let mut table = DecalLayerTable::default();
        let picture = texels(1, TexelFormat::Rgba8, vec![255; 4]);
        let all = [decal(1), decal(2), decal(3)];
        let ready = |table: &DecalLayerTable| all.map(|decal| table.is_ready(&decal.textures));
        assert_eq!(ready(&table), [false; 3]);
        let update = |table: &mut DecalLayerTable| {
            let texels_of = |_: u32| Some(&picture);
            table.update(0, (texels_of, |_| false), keys_of_all(all.iter()).into_iter());
            (ready(table), table.version())
        };
        assert_eq!(update(&mut table), ([true, true, false], 2), "two in each frame");
        assert_eq!(update(&mut table), ([true; 3], 3));
        let glow = DecalTextures { emissive: Some(TextureSlot(9)), ..all[0].textures };
        assert!(!table.is_ready(&glow));
        let bent = DecalTextures { normal: Some(TextureSlot(9)), ..all[0].textures };
        assert!(table.is_ready(&bent), "it is flat until then");
        assert!(table.is_ready(&DecalTextures::default()));
        table.convert(1, (1, true), None);
        assert_eq!((ready(&table), table.version()), ([false, true, true], 4));
    }

    #[test]
    fn textures_beyond_the_limit_are_reported_once() {
        let mut table = DecalLayerTable::default();
        for _ in 0..3 {
            let mut used: Vec<TextureKey> = (0..200).map(|slot| (slot, true)).collect();
            table.limit(&mut used);
            assert_eq!(used.len(), DECAL_TEXTURES_MAX);
        }
        assert_eq!(table.messages.len(), 1);
    }
}
