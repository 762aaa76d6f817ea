//! Sprites of units brought together with the textures and sheets that they show, and on their way
//! to the renderer: each is a draw of one square, with a part of a texture.

use super::{Engine, Scenes};
use crate::error;
use crate::foundation::{Error, Handle, Vec3, log};
use crate::packet::material::MaterialSlot;
use crate::packet::mesh::{Alpha, Bounds, Mesh, MeshSlot, Part, Surface, SurfaceSlot, Vertex};
use crate::packet::scene::{DrawChange, DrawSlot, Put, flag as draw_flag};
use crate::packet::texture::{Sampling, TextureSlot};
use crate::resource::name::ResourceName;
use crate::system::materials::{MaterialId, Materials};
use crate::system::models::MeshNumber;
use crate::system::textures::{Direction, Placed, TextureNumber};
use crate::system::tilemaps::TilemapId;
use crate::world::WorldId;
use crate::world::mesh::flag;
use crate::world::sprite::{Sequence, SequenceNumber, SpriteAlpha, SpriteLook};
use std::collections::HashMap;

/// A mask is there where it has at least this much alpha.
const MASK_CUTOFF: f32 = 0.5;
/// By how many texels a part of a picture is drawn smaller, so that rounding takes none of the
/// neighbours.
const INSIDE: f32 = 1.0 / 32.0;

/// What flat things are drawn with.
#[derive(Default)]
pub struct Pictures {
    /// Where scenes find each texture that was shown, and in which state of all textures.
    placed: HashMap<TextureNumber, Placed>,
    version: u64,
    surfaces: HashMap<SurfaceKey, SurfaceSlot>,
    /// The square from 0, 0 to 1, 1 that all sprites are.
    square: Option<MeshNumber>,
}

/// What two flat things that have one surface have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct SurfaceKey {
    pub slot: TextureSlot,
    pub sampling: Sampling,
    pub lit: bool,
    pub mask: bool,
    /// The material that paints it.
    pub painter: Option<MaterialSlot>,
}

impl Pictures {
    /// Every surface that a material paints, with that material's slot.
    pub(super) fn painted(&self) -> impl Iterator<Item = (SurfaceSlot, MaterialSlot)> + '_ {
        self.surfaces.iter().filter_map(|(key, surface)| Some((*surface, key.painter?)))
    }

    /// Where scenes find a texture that [`Engine::place_picture`] has placed.
    pub(super) fn placed(&self, number: TextureNumber) -> Option<Placed> {
        self.placed.get(&number).copied()
    }

    /// The surface of all that is drawn alike.
    pub(super) fn surface(&mut self, materials: &mut Materials, key: SurfaceKey) -> SurfaceSlot {
        *self.surfaces.entry(key).or_insert_with(|| {
            materials.add_plain_surface(Surface {
                name: "sprites and tile maps".to_string(),
                base_color_texture: Some((key.slot, key.sampling)),
                alpha: if key.mask { Alpha::Mask(MASK_CUTOFF) } else { Alpha::Blend },
                double_sided: true,
                unlit: !key.lit,
                painter: key.painter,
                ..Surface::DEFAULT
            })
        })
    }
}

/// The square from 0, 0 to 1, 1 in the plane of x and z, seen from behind y.
fn square() -> Mesh {
    let corner = |x: f32, z: f32| Vertex {
        position: [x, 0.0, z],
        normal: Vertex::packed(Vec3::NEG_Y, 0.0),
        tangent: Vertex::packed(Vec3::X, 1.0),
        uv: [x, 1.0 - z],
        color: [255; 4],
    };
    let vertices = vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)];
    Mesh {
        name: "the square of sprites".to_string(),
        bounds: Bounds::of(&vertices),
        vertices,
        indices: vec![0, 1, 2, 0, 2, 3],
        parts: vec![Part { first: 0, count: 6, place: 0 }],
    }
}

/// Which part of its texture a sprite shows, as draws have it.
fn part_of(look: &SpriteLook, placed: &Placed) -> [u16; 4] {
    let ([left, top, width, height], [all_width, all_height]) = (placed.part, placed.size);
    let [x, y, part_width, part_height] = look.part;
    let part = match part_width > 0.0 {
        false => [left, top, width, height],
        true => [
            left + (x + INSIDE) / all_width * width,
            top + (y + INSIDE) / all_height * height,
            (part_width - 2.0 * INSIDE) / all_width * width,
            (part_height - 2.0 * INSIDE) / all_height * height,
        ],
    };
    part.map(|number| (number.clamp(0.0, 1.0) * f32::from(u16::MAX)).round() as u16)
}

/// What of a unit is flat.
pub(super) enum FlatThing {
    Sprite(TextureNumber),
    Map(TilemapId),
}

impl Scenes {
    /// Calls with the place in its scene of every flat thing, and the row of its unit.
    pub(super) fn flat_owners(&self, mut each: impl FnMut(DrawSlot, u32, FlatThing)) {
        for (_, sprite) in self.sprites.slots.iter() {
            each(sprite.draw, sprite.unit, FlatThing::Sprite(sprite.picture));
        }
        for map in self.maps.iter() {
            for piece in &map.pieces {
                each(piece.draw, map.unit.row(), FlatThing::Map(map.map));
            }
        }
    }
}

impl Engine {
    /// Has scenes find a texture; what cannot be loaded is told, and shown as the checkerboard.
    pub(super) fn place_picture(&mut self, number: TextureNumber) -> Placed {
        if let Some(known) = self.scenes.pictures.placed(number) {
            return known;
        }
        let Engine { textures, store, .. } = self;
        let placed = textures.placed(store, number).or_else(|fault| {
            log::error(&format!("{fault}: it is shown as a checkerboard"));
            textures.placed(store, TextureNumber::MISSING)
        });
        let placed = placed.expect("the checkerboard is made when the first texture is");
        self.scenes.pictures.placed.insert(number, placed);
        placed
    }

    /// Has scenes find all that changed sprites show; before textures are handed to the renderer.
    pub(super) fn place_pictures(&mut self) {
        let version = self.textures.version();
        if std::mem::replace(&mut self.scenes.pictures.version, version) != version {
            self.place_again();
        }
        for at in 0..self.scenes.sprites.changed.len() {
            let place = self.scenes.sprites.changed[at] as usize;
            let picture = self.scenes.sprites.slots.at(place).map(|sprite| sprite.picture);
            if let Some(picture) = picture {
                self.place_picture(picture);
            }
        }
    }

    /// Textures are not what they were: who shows one that is elsewhere now is told anew.
    fn place_again(&mut self) {
        let old = std::mem::take(&mut self.scenes.pictures.placed);
        let mut numbers: Vec<TextureNumber> = old.keys().copied().collect();
        numbers.sort_by_key(|number| number.0);
        numbers.retain(|number| self.place_picture(*number) != old[number]);
        if numbers.is_empty() {
            return;
        }
        let shows = |picture: TextureNumber| numbers.contains(&picture);
        let sprites = self.scenes.sprites.slots.iter();
        let stale = sprites.filter(|(_, sprite)| shows(sprite.picture));
        let stale: Vec<usize> = stale.map(|(handle, _)| handle.index()).collect();
        for place in stale {
            self.scenes.sprites.note(place, flag::NEW);
        }
        for map in self.scenes.maps.iter_mut().filter(|map| map.sets.iter().any(|it| shows(*it))) {
            map.pieces.iter_mut().for_each(|piece| piece.stale = true);
        }
    }

    /// Moves the sprites of a world on that play.
    pub fn update_sprites(&mut self, world: WorldId, delta: f64) {
        let Engine { scenes, units, .. } = self;
        let has = |row: u32| units.slots.at(row as usize).is_some_and(|unit| unit.world == world);
        scenes.sprites.play(delta, has);
    }

    /// Tells the scenes what is new about sprites.
    pub(super) fn tell_sprites(&mut self) {
        let mut changed = std::mem::take(&mut self.scenes.sprites.changed);
        for place in changed.drain(..) {
            let Some(sprite) = self.scenes.sprites.slots.at_mut(place as usize) else { continue };
            let flags = sprite.flags;
            if flags & flag::LISTED == 0 {
                // It was listed before its place was used again, and told since.
                continue;
            }
            sprite.flags &= !(flag::LISTED | flag::NEW);
            let (row, node, slot) = (sprite.unit, usize::from(sprite.node), sprite.draw);
            let (look, picture) = (sprite.look, sprite.picture);
            let Some(world) = self.world_of_row(row) else { continue };
            let placed = self.place_picture(picture);
            let pose = self.mesh_pose(row, node, Some(look.placed(placed.size)));
            if flags & flag::NEW == 0 {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(slot);
                frame.poses.push(pose);
                continue;
            }
            let surface = self.sprite_surface(&look, &placed);
            let mesh = self.sprite_mesh();
            let bit = |set: bool, bit: u32| if set { bit } else { 0 };
            let visible = flags & flag::ANY_HIDDEN == 0;
            let frame = &mut self.scenes.of(world).frame;
            let surfaces = (frame.surfaces.len() as u32, 1);
            frame.surfaces.push(surface);
            frame.changes.push(DrawChange::Put(Put {
                slot,
                mesh,
                surfaces,
                pose,
                flags: bit(visible, draw_flag::VISIBLE | draw_flag::CASTS_SHADOW)
                    | bit(look.flip_x, draw_flag::FLIP_X)
                    | bit(look.flip_y, draw_flag::FLIP_Y),
                tint: look.stand.tint,
                part: part_of(&look, &placed),
                range: look.stand.range,
                order: Some(look.stand.layer),
                ..Put::DEFAULT
            }));
        }
        // Its room is kept.
        changed.append(&mut self.scenes.sprites.changed);
        self.scenes.sprites.changed = changed;
    }

    fn sprite_surface(&mut self, look: &SpriteLook, placed: &Placed) -> SurfaceSlot {
        let Placed { slot, sampling, .. } = *placed;
        let (lit, mask) = (look.stand.lit, look.alpha == SpriteAlpha::Mask);
        let painter = self.painter(look.stand.material);
        let key = SurfaceKey { slot, sampling, lit, mask, painter };
        self.scenes.pictures.surface(&mut self.materials, key)
    }

    /// The slot of what paints a flat thing.
    pub(super) fn painter(&self, material: Option<Handle>) -> Option<MaterialSlot> {
        self.materials.slots().get(material?).map(|material| material.slot)
    }

    /// A material is about to end: what it paints is shown as without one.
    pub(super) fn forget_painter(&mut self, material: MaterialId) {
        let has = Some(material.0);
        let mut places = Vec::new();
        for (handle, sprite) in self.scenes.sprites.slots.iter_mut() {
            if sprite.look.stand.material == has {
                sprite.look.stand.material = None;
                places.push(handle.index());
            }
        }
        for place in places {
            self.scenes.sprites.note(place, flag::NEW);
        }
        for map in self.scenes.maps.iter_mut().filter(|map| map.stand.material == has) {
            map.set_material(None);
        }
    }

    fn sprite_mesh(&mut self) -> MeshSlot {
        let known = self.scenes.pictures.square;
        let number = known.unwrap_or_else(|| {
            let made = self.models.add_own(square());
            made.expect("the models keep a place for it")
        });
        self.scenes.pictures.square = Some(number);
        self.models.entry(number).slot
    }

    /// The sequence of a sheet's tag, made when first asked for; all frames without one.
    ///
    /// # Errors
    /// There is no such sheet or tag, or it cannot be read.
    pub fn sequence(&mut self, sheet: &str, tag: Option<&str>) -> Result<SequenceNumber, Error> {
        let known = |it: &Sequence| it.sheet == sheet && it.tag.as_deref() == tag;
        if let Some(place) = self.scenes.sprites.sequences.iter().position(known) {
            return Ok(SequenceNumber(place as u32));
        }
        let made = self.make_sequence(sheet, tag)?;
        self.scenes.sprites.sequences.push(made);
        Ok(SequenceNumber(self.scenes.sprites.sequences.len() as u32 - 1))
    }

    fn make_sequence(&mut self, name: &str, tag: Option<&str>) -> Result<Sequence, Error> {
        let Engine { textures, store, .. } = self;
        let sheet = textures.sheet(store, name)?;
        let last = sheet.frames.len() - 1;
        let (from, to, direction, repeat) = match tag {
            None => (0, last, Direction::Forward, 0),
            Some(tag) => {
                let found = sheet.tags.iter().find(|known| known.name == tag).ok_or_else(|| {
                    let names = sheet.tags.iter().map(|known| known.name.as_str());
                    let near = crate::foundation::suggest::hint(tag, names);
                    error!("the sheet '{name}' has no tag '{tag}'{near}")
                })?;
                (found.from as usize, found.to as usize, found.direction, found.repeat)
            }
        };
        let forward = from..=to;
        // Those between the first and the last, which are shown once in a turn.
        let between = from + 1..to.max(from + 1);
        let order: Vec<usize> = match direction {
            Direction::Forward => forward.collect(),
            Direction::Reverse => forward.rev().collect(),
            Direction::PingPong => forward.chain(between.rev()).collect(),
            Direction::PingPongReverse => forward.rev().chain(between).collect(),
        };
        let shown: Vec<(String, f64)> = order
            .iter()
            .map(|at| &sheet.frames[*at])
            .map(|frame| (format!("{name}/{}", frame.name), frame.milliseconds / 1000.0))
            .collect();
        let (mut frames, mut end) = (Vec::new(), 0.0);
        for (frame, seconds) in shown {
            end += seconds;
            frames.push((textures.find(store, &frame)?, end));
        }
        let back = matches!(direction, Direction::PingPong | Direction::PingPongReverse);
        let rest = if back { 0 } else { frames.len() as u32 - 1 };
        let turns = if repeat == 0 { f64::INFINITY } else { f64::from(repeat) };
        let (sheet, tag) = (name.to_string(), tag.map(str::to_string));
        Ok(Sequence { sheet, tag, frames, turns, rest })
    }

    /// Takes in sheets that were made anew. What cannot be used goes on as it was, and is told.
    pub(super) fn reload_sprites(&mut self, changed: &[ResourceName]) {
        for resource in changed.iter().filter(|resource| resource.kind == "sheet") {
            for place in 0..self.scenes.sprites.sequences.len() {
                let Sequence { sheet, tag, .. } = &self.scenes.sprites.sequences[place];
                if *sheet != resource.name {
                    continue;
                }
                let (sheet, tag) = (sheet.clone(), tag.clone());
                match self.make_sequence(&sheet, tag.as_deref()) {
                    Ok(made) => {
                        self.scenes.sprites.redefine(SequenceNumber(place as u32), made);
                    }
                    Err(fault) => {
                        let words = "what plays it goes on as it was";
                        log::error(&format!("{}: {words}", fault.message));
                    }
                }
            }
        }
    }
}
