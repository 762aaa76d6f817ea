//! Integration of unit sprites with the textures and sheets that they show, and their transfer to
//! the renderer: each sprite is a draw of one square with a part of a texture.

use super::{Assets, Worlds};
use engine_foundation::{Error, Handle, Vec3, log};
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::mesh::{
    MeshBounds, MeshFrame, MeshPart, MeshSlot, MeshVertex, SurfaceAlphaMode, SurfaceFrame,
    SurfaceSlot, SurfaceTexture,
};
use engine_frame_packet::scene::{DrawChange, DrawMesh, DrawSlot, flag as draw_flag};
use engine_frame_packet::texture::{SamplerSettings, TextureSlot};
use engine_materials::{MaterialId, Materials};
use engine_models::MeshNumber;
use engine_textures::{SHOWN_AS_PLACEHOLDER, SceneTexture, TextureNumber};
use engine_tilemaps::TilemapId;
use engine_world::instance_table::flag;
use engine_world::sprite::{SequenceNumber, SpriteAlpha, SpritePlacement, SpriteSettings};
use std::collections::HashMap;

/// Alpha value from which on a texel of a masked sprite is opaque.
const MASK_CUTOFF: f32 = 0.5;
/// Inset in texels at each side of an image part, so that rounding never samples neighboring
/// texels.
const INSET: f32 = 1.0 / 32.0;

/// Shared render resources of sprites and tile maps.
#[derive(Default)]
pub struct SpriteResources {
    /// Scene textures of all textures shown so far, and the texture version that they are up to
    /// date with.
    placed: HashMap<(TextureNumber, TextureUse), SceneTexture>,
    version: u64,
    surfaces: HashMap<SurfaceKey, SurfaceSlot>,
    /// The unit square (0, 0 to 1, 1) that all sprites are drawn with.
    square: Option<MeshNumber>,
    /// The surface of light occluders.
    pub(super) occluder_surface: Option<SurfaceSlot>,
}

/// How a sprite or a tile map shows a texture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum TextureUse {
    /// The picture alone.
    Unlit,
    /// The picture, with its normals if it has them.
    Lit,
    /// In a slot of its own, together with another texture that is not of its file.
    Own,
}

impl TextureUse {
    pub(super) fn of(is_lit: bool) -> TextureUse {
        if is_lit { TextureUse::Lit } else { TextureUse::Unlit }
    }
}

/// Properties that sprites and tile maps with the same surface share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct SurfaceKey {
    pub slot: TextureSlot,
    pub sampling: SamplerSettings,
    pub normals: SurfaceTexture,
    pub lit: bool,
    pub mask: bool,
    /// Material that draws the surface.
    pub material_slot: Option<MaterialSlot>,
}

impl SpriteResources {
    /// Returns all surfaces with a material, and the slot of that material.
    pub(super) fn surfaces_with_material(
        &self,
    ) -> impl Iterator<Item = (SurfaceSlot, MaterialSlot)> + '_ {
        self.surfaces.iter().filter_map(|(key, surface)| Some((*surface, key.material_slot?)))
    }

    /// Returns the surface for a key. It is created on the first request.
    pub(super) fn surface(&mut self, materials: &mut Materials, key: SurfaceKey) -> SurfaceSlot {
        *self.surfaces.entry(key).or_insert_with(|| {
            materials.add_plain_surface(SurfaceFrame {
                name: "sprites and tile maps".to_string(),
                base_color_texture: Some((key.slot, key.sampling)),
                normal_texture: key.normals,
                alpha: if key.mask {
                    SurfaceAlphaMode::Mask(MASK_CUTOFF)
                } else {
                    SurfaceAlphaMode::Blend
                },
                double_sided: true,
                unlit: !key.lit,
                custom_material: key.material_slot,
                ..SurfaceFrame::DEFAULT
            })
        })
    }
}

/// Returns the unit square (0, 0 to 1, 1) in the plane of x and z, seen from behind y.
fn square() -> MeshFrame {
    let corner = |x: f32, z: f32| MeshVertex {
        position: [x, 0.0, z],
        normal: MeshVertex::packed(Vec3::NEG_Y, 0.0),
        tangent: MeshVertex::packed(Vec3::X, 1.0),
        uv: [x, 1.0 - z],
        color: [255; 4],
    };
    let vertices = vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)];
    MeshFrame {
        name: "the square of sprites".to_string(),
        bounds: MeshBounds::of(&vertices),
        vertices,
        indices: vec![0, 1, 2, 0, 2, 3],
        parts: vec![MeshPart { first: 0, count: 6, surface: 0 }],
        skin: None,
        morph: None,
    }
}

/// Returns the part of the texture that a sprite shows, as encoded in draws.
pub(super) fn part_of(settings: &SpriteSettings, placed: &SceneTexture) -> [u16; 4] {
    let ([left, top, width, height], [all_width, all_height]) = (placed.part, placed.size);
    let [x, y, part_width, part_height] = settings.part;
    let part = match part_width > 0.0 {
        false => [left, top, width, height],
        true => [
            left + (x + INSET) / all_width * width,
            top + (y + INSET) / all_height * height,
            (part_width - 2.0 * INSET) / all_width * width,
            (part_height - 2.0 * INSET) / all_height * height,
        ],
    };
    part.map(|number| (number.clamp(0.0, 1.0) * f32::from(u16::MAX)).round() as u16)
}

/// A sprite or a tile map of a unit.
pub(super) enum SpriteOrTilemap {
    Sprite(TextureNumber),
    Map(TilemapId),
}

impl Worlds {
    /// Calls `each` for all sprites and tile map pieces, with the draw slot and the row of the
    /// unit.
    pub(super) fn flat_owners(&self, mut each: impl FnMut(DrawSlot, u32, SpriteOrTilemap)) {
        for (_, sprite) in self.scenes.sprites.table.slots.iter() {
            each(sprite.draw, sprite.unit, SpriteOrTilemap::Sprite(sprite.picture));
        }
        self.skeleton_owners(|draw, row, texture| {
            each(draw, row, SpriteOrTilemap::Sprite(texture));
        });
        for map in self.scenes.maps.iter() {
            for piece in &map.pieces {
                each(piece.draw, map.unit.row(), SpriteOrTilemap::Map(map.map));
            }
        }
    }

    /// Places the textures that new tile maps show.
    pub(super) fn assign_new_scene_textures(&mut self, assets: &mut Assets) {
        for (number, is_lit) in std::mem::take(&mut self.scenes.new_textures) {
            assets.assign_scene_texture(number, is_lit);
        }
    }

    /// Places the textures of all changed sprites, before textures are sent to the renderer.
    pub(super) fn assign_scene_textures(&mut self, assets: &mut Assets) {
        self.assign_skeleton_textures(assets);
        let version = assets.textures.version();
        if std::mem::replace(&mut assets.sprites.version, version) != version {
            self.reassign_scene_textures(assets);
        }
        for at in 0..self.scenes.sprites.table.changed.len() {
            let slot = self.scenes.sprites.table.changed[at] as usize;
            if let Some(sprite) = self.scenes.sprites.table.slots.at(slot) {
                let is_lit = sprite.settings.placement.lit;
                assets.assign_sprite_textures((sprite.picture, is_lit), sprite.shown_normal());
            }
        }
    }

    /// After a change of textures, marks the sprites and tile maps that show a texture with a new
    /// location.
    fn reassign_scene_textures(&mut self, assets: &mut Assets) {
        let old = std::mem::take(&mut assets.sprites.placed);
        let mut keys: Vec<(TextureNumber, TextureUse)> = old.keys().copied().collect();
        keys.sort_by_key(|(number, shown)| (number.0, *shown));
        keys.retain(|key| assets.locate_scene_texture(*key) != old[key]);
        if keys.is_empty() {
            return;
        }
        let is_drawn = |picture: TextureNumber| keys.iter().any(|(number, _)| *number == picture);
        let sprites = self.scenes.sprites.table.slots.iter();
        let stale = sprites.filter(|(_, sprite)| {
            is_drawn(sprite.picture) || sprite.shown_normal().is_some_and(is_drawn)
        });
        let stale: Vec<usize> = stale.map(|(handle, _)| handle.index()).collect();
        for slot in stale {
            self.scenes.sprites.table.record_change(slot, flag::NEW);
        }
        self.scenes
            .skeletons
            .mark_stale(|it| it.rig.parts.iter().any(|part| is_drawn(part.texture)));
        for map in self.scenes.maps.iter_mut().filter(|map| map.sets.iter().any(|it| is_drawn(*it)))
        {
            map.pieces.iter_mut().for_each(|piece| piece.stale = true);
        }
    }

    /// Sends changed sprites to the scenes.
    pub(super) fn send_sprite_changes(&mut self, assets: &mut Assets) {
        let mut changed = std::mem::take(&mut self.scenes.sprites.table.changed);
        for slot in changed.drain(..) {
            let taken = self.scenes.sprites.table.take_change(slot);
            let Some((flags, sprite)) = taken else { continue };
            let (row, node, draw) = (sprite.unit, usize::from(sprite.node), sprite.draw);
            let (settings, picture, normal) =
                (sprite.settings, sprite.picture, sprite.shown_normal());
            let Some(world) = self.world_of_row(row) else { continue };
            let of = (picture, settings.placement.lit);
            let placed = assets.assign_sprite_textures(of, normal);
            let pose = self.mesh_pose(row, node, Some(settings.square_to_node(placed.size)));
            if flags & flag::NEW == 0 {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(draw);
                frame.poses.push(pose);
                continue;
            }
            let surface = assets.picture_surface(&settings.placement, settings.alpha, &placed);
            let mesh = assets.sprite_mesh();
            let bit = |set: bool, bit: u32| if set { bit } else { 0 };
            let visible = flags & flag::ANY_HIDDEN == 0;
            let frame = &mut self.scenes.of(world).frame;
            let surfaces = (frame.surfaces.len() as u32, 1);
            frame.surfaces.push(surface);
            frame.changes.push(DrawChange::Set(DrawMesh {
                slot: draw,
                mesh,
                surfaces,
                pose,
                flags: bit(visible, draw_flag::VISIBLE | draw_flag::CASTS_SHADOW)
                    | bit(settings.flip_x, draw_flag::FLIP_X)
                    | bit(settings.flip_y, draw_flag::FLIP_Y),
                tint: settings.placement.tint,
                part: part_of(&settings, &placed),
                range: settings.placement.range,
                order: Some(settings.placement.layer),
                ..DrawMesh::DEFAULT
            }));
        }
        // Keeps the allocation of the list.
        changed.append(&mut self.scenes.sprites.table.changed);
        self.scenes.sprites.table.changed = changed;
    }

    /// Prepares the destruction of a material: sprites and tile maps that use it are shown without
    /// a material.
    pub(super) fn forget_material_slot(&mut self, material: MaterialId) {
        let has = Some(material.0);
        let mut slots = Vec::new();
        for (handle, sprite) in self.scenes.sprites.table.slots.iter_mut() {
            if sprite.settings.placement.material == has {
                sprite.settings.placement.material = None;
                slots.push(handle.index());
            }
        }
        for slot in slots {
            self.scenes.sprites.table.record_change(slot, flag::NEW);
        }
        self.scenes.skeletons.forget_material(material.0);
        for map in self.scenes.maps.iter_mut().filter(|map| map.placement.material == has) {
            map.set_material(None);
        }
    }

    /// Returns the sequence of a sheet's tag. It is created on the first request. Without a tag, it
    /// has all frames.
    ///
    /// # Errors
    /// Returns an error if the sheet or tag does not exist or cannot be read.
    pub fn sequence(
        &mut self,
        assets: &mut Assets,
        sheet: &str,
        tag: Option<&str>,
    ) -> Result<SequenceNumber, Error> {
        self.scenes.sprites.sequence(&mut assets.textures, &mut assets.store, (sheet, tag))
    }
}

impl Assets {
    /// Places a texture for scenes and returns it; for light, with its normals. If the texture
    /// cannot be loaded, the error is reported and the checkerboard is shown.
    pub(super) fn assign_scene_texture(
        &mut self,
        number: TextureNumber,
        is_lit: bool,
    ) -> SceneTexture {
        self.locate_scene_texture((number, TextureUse::of(is_lit)))
    }

    /// Places the textures of a sprite: its picture, in light or not, and its normal texture if it
    /// has one besides the normals of the picture.
    fn assign_sprite_textures(
        &mut self,
        (picture, is_lit): (TextureNumber, bool),
        normal: Option<TextureNumber>,
    ) -> SceneTexture {
        let Some(normal) = normal else { return self.assign_scene_texture(picture, is_lit) };
        let SceneTexture { slot, sampling, .. } =
            self.locate_scene_texture((normal, TextureUse::Own));
        let placed = self.locate_scene_texture((picture, TextureUse::Own));
        SceneTexture { normals: Some((slot, sampling)), ..placed }
    }

    /// Places a texture for scenes and returns it.
    fn locate_scene_texture(&mut self, key: (TextureNumber, TextureUse)) -> SceneTexture {
        if let Some(known) = self.sprites.placed.get(&key) {
            return *known;
        }
        let ((number, shown), store) = (key, &mut self.store);
        let found = match shown {
            TextureUse::Own => self.textures.own_scene_texture(store, number),
            TextureUse::Lit => self.textures.scene_texture(store, number, true),
            TextureUse::Unlit => self.textures.scene_texture(store, number, false),
        };
        // A picture whose normals cannot be shown is shown without them.
        let found = match (found, shown) {
            (Err(error), TextureUse::Lit) => {
                let flat = self.textures.scene_texture(store, number, false);
                flat.inspect(|_| log::error(&error.to_string()))
            }
            (found, _) => found,
        };
        let placed = found.or_else(|error| {
            log::error(&format!("{error}: {SHOWN_AS_PLACEHOLDER}"));
            self.textures.scene_texture(store, TextureNumber::MISSING, false)
        });
        let placed = placed.expect("the checkerboard is made when the first texture is");
        self.sprites.placed.insert(key, placed);
        placed
    }

    /// Returns the surface of a picture.
    pub(super) fn picture_surface(
        &mut self,
        placement: &SpritePlacement,
        alpha: SpriteAlpha,
        placed: &SceneTexture,
    ) -> SurfaceSlot {
        let SceneTexture { slot, sampling, normals, .. } = *placed;
        let (lit, mask) = (placement.lit, alpha == SpriteAlpha::Mask);
        let material_slot = self.material_slot(placement.material);
        let key = SurfaceKey { slot, sampling, normals, lit, mask, material_slot };
        self.sprites.surface(&mut self.materials, key)
    }

    /// Returns the slot of the material that draws a sprite or tile map.
    pub(super) fn material_slot(&self, material: Option<Handle>) -> Option<MaterialSlot> {
        self.materials.slots().get(material?).map(|material| material.slot)
    }

    pub(super) fn sprite_mesh(&mut self) -> MeshSlot {
        let known = self.sprites.square;
        let number = known.unwrap_or_else(|| {
            let added = self.models.add_game_mesh(square());
            added.expect("the models keep a place for it")
        });
        self.sprites.square = Some(number);
        self.models.entry(number).slot
    }
}
