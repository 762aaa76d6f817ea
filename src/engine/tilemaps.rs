//! Tile maps on Guis: where the tiles of maps, textures and Guis come together.

use super::Engine;
use crate::error;
use crate::foundation::Error;
use crate::packet::gui::{Instance, Space};
use crate::system::gui::{GuiId, Making, Mode, SourceNumber, Thing, What, shape};
use crate::system::tilemaps::TilemapId;

/// How a map is drawn.
#[derive(Clone, Debug)]
pub struct TilemapLook {
    /// Where the map's left bottom is on the Gui.
    pub at: [f32; 2],
    /// The Gui's layer of the map's lowest one; each next layer is drawn on the next.
    pub layer: i32,
    /// Units of the Gui for each texel.
    pub scale: f32,
    /// Multiplies every tile: red, green, blue, alpha.
    pub color: [u8; 4],
    /// Which layers of the map; all that are visible if none are named.
    pub layers: Vec<usize>,
}

impl Engine {
    /// Draws what a Gui can see of a map: how many tiles these are.
    ///
    /// # Errors
    /// The Gui is retained, a texture is missing, or the Gui has no room.
    pub fn draw_tilemap(
        &mut self,
        map: TilemapId,
        gui: GuiId,
        look: &TilemapLook,
    ) -> Result<usize, Error> {
        let making = self.guis.slots().get(gui.0).map(|gui| gui.making);
        let Some(making) = making.filter(|making| making.mode == Mode::Immediate) else {
            return Err(error!(
                "tile maps are drawn in immediate Guis: make it with \
                 World.create_screen_gui(world, \"immediate\"), or use Application.main_gui()"
            ));
        };
        let sources = self.tile_sources(map)?;
        let seen = self.seen_texels(gui, &making, look);
        let (mut drawn, mut quads) = (0, Vec::new());
        let seconds = self.frame.total;
        let layers = match look.layers.is_empty() {
            true => {
                let tilemap = self.tilemaps.of(map);
                (0..tilemap.map().layers.len()).filter(|at| tilemap.is_visible(*at)).collect()
            }
            false => look.layers.clone(),
        };
        for layer in layers {
            quads.clear();
            self.tilemaps.of(map).quads(layer, seen, seconds, &mut quads);
            // One texture after the other; within one, tiles stay in their order.
            quads.sort_by_key(|quad| quad.set);
            let opacity = self.tilemaps.of(map).map().layers[layer].opacity;
            let [red, green, blue, alpha] = look.color;
            let color = [red, green, blue, (f32::from(alpha) * opacity).round() as u8];
            for run in quads.chunk_by(|a, b| a.set == b.set) {
                let source = sources[run[0].set];
                let Some(of) = self.guis.source(source).cloned() else { continue };
                // Where texels are mixed, none of a tile's neighbours is.
                let half = self.tilemaps.of(map).sets()[run[0].set].half_texel();
                let half = of.span(half);
                let instances = run.iter().map(|quad| {
                    let mut corners = quad.corners;
                    for (i, corner) in corners.iter_mut().enumerate() {
                        *corner = look.at[i % 2] + *corner * look.scale;
                    }
                    let uv = of.part(quad.part[0], quad.part[1]);
                    Instance { corners, uv, extra: half, ..shape::quad([0.0; 4], &of, color) }
                });
                let thing = Thing {
                    gui,
                    object: 0.0,
                    what: What::Bitmap,
                    layer: look.layer.saturating_add(layer as i32),
                    pose: None,
                };
                if self.guis.put_each(thing, source, instances).is_err() {
                    return Err(Error::new(self.guis.take_refusal()));
                }
                drawn += run.len();
            }
        }
        Ok(drawn)
    }

    /// What Guis draw each of a map's tile sets with.
    fn tile_sources(&mut self, map: TilemapId) -> Result<Vec<SourceNumber>, Error> {
        let sets = self.tilemaps.of(map).sets();
        let textures: Vec<String> = sets.iter().map(|set| set.texture.clone()).collect();
        textures.iter().map(|texture| self.source(texture)).collect()
    }

    /// The part of a map that a Gui shows: left, bottom, right and top in texels.
    fn seen_texels(&mut self, gui: GuiId, making: &Making, look: &TilemapLook) -> [f32; 4] {
        if making.space == Space::World {
            return [f32::MIN, f32::MIN, f32::MAX, f32::MAX];
        }
        let [left_bottom, right_top] = making.seen(self.window.logical().to_array());
        let ([left, bottom], [right, top]) = (left_bottom.into(), right_top.into());
        let back = self.guis.pen(gui).transform().and_then(|transform| transform.inverse());
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
