//! Drawing of tile maps on Guis: combines maps, textures and Guis.

use super::{Assets, Devices, Drawing, Frame};
use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::gui::{GuiSpace, QuadInstance};
use engine_gui::{DrawRequest, GuiDesc, GuiId, GuiMode, PrimitiveKind, SourceNumber, tessellation};
use engine_tilemaps::{TileLayer, TileQuad, TilemapData, TilemapId, sort_by_texture};
use std::collections::{HashMap, HashSet};

/// Options for drawing a tile map.
#[derive(Clone, Debug)]
pub struct TilemapDrawOptions {
    /// Position of the map's bottom left on the Gui.
    pub at: [f32; 2],
    /// Gui layer of the map's lowest layer; each further layer uses the next Gui layer.
    pub layer: i32,
    /// Gui units per texel.
    pub scale: f32,
    /// Tint of every tile: red, green, blue, alpha.
    pub color: [u8; 4],
    /// Layers of the map to draw; if empty, all visible layers.
    pub layers: Vec<usize>,
}

/// Textures that were drawn on each Gui layer.
#[derive(Default)]
struct TextureRuns {
    drawn: HashSet<(i32, u32)>,
    last: Option<(i32, u32)>,
}

impl TextureRuns {
    /// Returns true if the quads of another texture came between those of this texture, so that a
    /// new batch must begin.
    fn is_interrupted(&mut self, layer: i32, texture: u32) -> bool {
        let follows = self.last.replace((layer, texture)) == Some((layer, texture));
        !self.drawn.insert((layer, texture)) && !follows
    }
}

/// Returns the distance by which parallax moves a layer. Guis in worlds have no middle.
fn parallax_shift(
    desc: &GuiDesc,
    map: &TilemapData,
    layer: &TileLayer,
    [left, bottom, right, top]: [f32; 4],
) -> [f32; 2] {
    match desc.space == GuiSpace::World || layer.parallax == [1.0; 2] {
        true => [0.0; 2],
        false => layer.parallax_shift(map, [(left + right) * 0.5, (bottom + top) * 0.5]),
    }
}

impl Drawing {
    /// Draws the part of a map that a Gui can show. Returns the number of tiles drawn.
    ///
    /// # Errors
    /// Returns an error if the Gui is retained, a texture is missing, or the Gui is full.
    pub fn draw_tilemap(
        &mut self,
        assets: &mut Assets,
        devices: &Devices,
        frame: &Frame,
        map: TilemapId,
        gui: GuiId,
        look: &TilemapDrawOptions,
    ) -> Result<usize, Error> {
        let desc = self.guis.slots().get(gui.0).map(|gui| gui.desc);
        let Some(desc) = desc.filter(|desc| desc.mode == GuiMode::Immediate) else {
            return Err(error!(
                "tile maps are drawn in immediate Guis: make it with \
                 World.create_screen_gui(world, \"immediate\"), or use Application.main_gui()"
            ));
        };
        let sources = self.tile_sources(assets, map)?;
        let visible = self.visible_texels(devices, gui, &desc, look);
        let tilemap = assets.tilemaps.of(map);
        let layers = match look.layers.is_empty() {
            true => (0..tilemap.map().layers.len()).filter(|at| tilemap.is_visible(*at)).collect(),
            false => look.layers.clone(),
        };
        let textures = self.texture_numbers(&sources);
        let (mut runs, mut drawn, mut quads) = (TextureRuns::default(), 0, Vec::new());
        for layer in layers {
            let of = &tilemap.map().layers[layer];
            let shift = parallax_shift(&desc, tilemap.map(), of, visible);
            let [left, bottom, right, top] = visible;
            let shown = [left - shift[0], bottom - shift[1], right - shift[0], top - shift[1]];
            quads.clear();
            tilemap.quads(layer, shown, frame.total, &mut quads);
            sort_by_texture(&mut quads, &textures, of.overlaps);
            drawn += quads.len();
            let gui_layer = look.layer.saturating_add(of.level as i32);
            for run in quads.chunk_by(|a, b| a.set == b.set) {
                let set = run[0].set;
                if runs.is_interrupted(gui_layer, textures[set]) {
                    self.guis.begin_batch(gui, gui_layer, sources[set]);
                }
                let inset = tilemap.sets()[set].half_texel();
                let instances = self.tile_instances(run, (sources[set], inset), of, look, shift);
                let request = DrawRequest {
                    gui,
                    object: 0.0,
                    primitive: PrimitiveKind::Bitmap,
                    layer: gui_layer,
                    pose: None,
                    blend: None,
                };
                if self.guis.submit_quads(request, sources[set], instances.into_iter()).is_err() {
                    return Err(Error::new(self.guis.take_refusal()));
                }
            }
        }
        Ok(drawn)
    }

    /// Returns the instances for quads of one source. The inset keeps linear filtering from
    /// sampling neighboring tiles. `shift` is the distance by which the layer is moved.
    fn tile_instances(
        &self,
        quads: &[TileQuad],
        (source, inset): (SourceNumber, [f32; 2]),
        layer: &TileLayer,
        look: &TilemapDrawOptions,
        shift: [f32; 2],
    ) -> Vec<QuadInstance> {
        let Some(source) = self.guis.source(source) else { return Vec::new() };
        let extra = source.span(inset);
        let instance = |quad: &TileQuad| {
            let mut corners = quad.corners;
            for (i, corner) in corners.iter_mut().enumerate() {
                *corner = look.at[i % 2] + (*corner + shift[i % 2]) * look.scale;
            }
            let (uv, color) =
                (source.part(quad.part[0], quad.part[1]), layer.color(look.color, quad.alpha));
            QuadInstance { corners, uv, extra, ..tessellation::quad([0.0; 4], source, color) }
        };
        quads.iter().map(instance).collect()
    }

    /// Returns the Gui source of each of a map's tile sets.
    fn tile_sources(
        &mut self,
        assets: &mut Assets,
        map: TilemapId,
    ) -> Result<Vec<SourceNumber>, Error> {
        let file = assets.tilemaps.of(map).file().clone();
        file.sets.iter().map(|set| self.source(assets, &set.texture)).collect()
    }

    /// Returns a number for each source; sources with equal numbers can share a batch.
    fn texture_numbers(&self, sources: &[SourceNumber]) -> Vec<u32> {
        let mut known = HashMap::new();
        let number = |source: &SourceNumber| {
            let key = self.guis.source(*source).map(|source| (source.material, source.texture));
            let next = known.len() as u32;
            *known.entry(key).or_insert(next)
        };
        sources.iter().map(number).collect()
    }

    /// Returns the part of a map that a Gui shows: left, bottom, right and top in texels.
    fn visible_texels(
        &mut self,
        devices: &Devices,
        gui: GuiId,
        desc: &GuiDesc,
        look: &TilemapDrawOptions,
    ) -> [f32; 4] {
        if desc.space == GuiSpace::World {
            return [f32::MIN, f32::MIN, f32::MAX, f32::MAX];
        }
        let [left_bottom, right_top] = desc.visible_area(devices.window.picture_size().to_array());
        let ([left, bottom], [right, top]) = (left_bottom.into(), right_top.into());
        let back =
            self.guis.transform_stack(gui).transform().and_then(|transform| transform.inverse());
        let corners: [[f32; 2]; 4] = [[left, bottom], [right, bottom], [left, top], [right, top]];
        let corners = corners.map(|corner| {
            let [x, y] = back.map_or(corner, |back| back.apply(corner));
            [(x - look.at[0]) / look.scale, (y - look.at[1]) / look.scale]
        });
        let low = |i: usize| corners.iter().map(|at| at[i]).fold(f32::INFINITY, f32::min);
        let high = |i: usize| corners.iter().map(|at| at[i]).fold(f32::NEG_INFINITY, f32::max);
        [low(0), low(1), high(0), high(1)]
    }
}
