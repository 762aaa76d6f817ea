//! Tile maps of units on their way to the renderer: pieces of their layers, made when they are
//! first seen, and made anew when a tile in them is another or shows another frame.

use super::Engine;
use super::particles::is_seen;
use super::scene::WorldScene;
use super::sprites::SurfaceKey;
use crate::foundation::{Error, Mat4, Vec3, log};
use crate::packet::View;
use crate::packet::scene::{DrawChange, Pose, Put, flag as draw_flag};
use crate::resource::name::ResourceName;
use crate::system::tilemaps::{TilemapId, chunks};
use crate::world::WorldId;
use crate::world::mesh::flag;
use crate::world::unit::UnitId;
use crate::world::unit_map::{MapPart, Piece, UnitMap};

impl Engine {
    /// Makes a map of a unit.
    ///
    /// # Errors
    /// There are too many, or its file or a texture of it cannot be read.
    pub(super) fn spawn_map(
        &mut self,
        world: WorldId,
        unit: UnitId,
        part: &MapPart,
    ) -> Result<(), Error> {
        let Engine { tilemaps, store, .. } = self;
        let id = tilemaps.add(store, &part.map, part.level.as_deref())?;
        tilemaps.of_mut(id).owner = Some(unit.0);
        let mut map = UnitMap {
            unit,
            node: part.node,
            map: id,
            stand: part.stand,
            flags: flag::NEW | if part.visible { 0 } else { flag::HIDDEN },
            group: part.group,
            sets: Vec::new(),
            pieces: Vec::new(),
        };
        let made = self.fill_map(world, &mut map);
        // A part of it may be there: it ends with the unit.
        self.scenes.maps.of.entry(unit.row()).or_default().push(map);
        made
    }

    /// Gives a map its textures and pieces.
    fn fill_map(&mut self, world: WorldId, map: &mut UnitMap) -> Result<(), Error> {
        let Engine { tilemaps, textures, store, scenes, .. } = self;
        let tilemap = tilemaps.of(map.map);
        let found = tilemap.sets().iter().map(|set| textures.find(store, &set.texture));
        map.sets = found.collect::<Result<_, Error>>()?;
        let all = chunks(tilemap);
        let scene = scenes.of(world);
        scene.check_room(all.len())?;
        map.pieces.extend(all.into_iter().map(|chunk| Piece::new(chunk, scene.take_slot())));
        for set in map.sets.clone() {
            self.place_picture(set);
        }
        Ok(())
    }

    /// Ends the pieces of a map.
    fn empty_map(&mut self, world: WorldId, map: &mut UnitMap) {
        for piece in map.pieces.drain(..) {
            self.scenes.of(world).end(piece.draw);
            if let Some(mesh) = piece.mesh {
                self.models.end_own(mesh);
            }
        }
    }

    /// Ends the maps of a unit; `place` is the script's line, for the words of stale handles.
    pub(super) fn end_maps(&mut self, world: WorldId, row: u32, place: &str) {
        for mut map in self.scenes.maps.of.remove(&row).unwrap_or_default() {
            self.empty_map(world, &mut map);
            self.tilemaps.remove(map.map, self.frame.index, place);
        }
    }

    /// Tells the scenes what is new about maps, as far as views show it.
    pub(super) fn tell_maps(&mut self, views: &[View]) {
        let mut maps = std::mem::take(&mut self.scenes.maps);
        for map in maps.iter_mut() {
            self.tell_map(map, views);
        }
        self.scenes.maps = maps;
    }

    fn tell_map(&mut self, map: &mut UnitMap, views: &[View]) {
        let world = self.units.of(map.unit).world;
        let number = world.0.to_number() as u64;
        let edits = self.tilemaps.of_mut(map.map).take_edits();
        map.note_cells(&edits.cells);
        let anew = edits.layers || map.flags & flag::NEW != 0;
        let moved = map.flags & flag::LISTED != 0;
        map.flags &= !(flag::NEW | flag::LISTED);
        let seconds = self.world(world).time;
        let node = self.units.scene.world(map.unit.row(), usize::from(map.node));
        let matrix = node * map.stand.turn();
        let pose = Pose::of(&matrix);
        let state = self.tilemaps.of(map.map).animation_state(seconds);
        let shown: Vec<Mat4> = views
            .iter()
            .filter(|view| view.scene == Some(number))
            .map(|view| view.camera.projection * view.camera.view)
            .collect();
        let scale = matrix.to_scale_rotation_translation().0.abs().max_element();
        let metres = 1.0 / map.stand.pixels_per_metre;
        let mut pieces = std::mem::take(&mut map.pieces);
        for piece in &mut pieces {
            if piece.stale || piece.animated && piece.shown != state {
                let (middle, radius) = self.tilemaps.of(map.map).chunk_sphere(piece.chunk);
                let middle = Vec3::new(middle[0], 0.0, middle[1]) * metres;
                let center = matrix.transform_point3(middle);
                let seen = |shown: &Mat4| is_seen(shown, center, radius * metres * scale);
                if shown.iter().any(seen) {
                    self.build_piece(world, map, piece, (seconds, state));
                }
            }
            if piece.mesh.is_none() {
                continue;
            }
            if anew || !piece.told {
                self.tell_piece(world, map, piece, pose);
            } else if moved {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(piece.draw);
                frame.poses.push(pose);
            }
        }
        map.pieces = pieces;
    }

    /// Makes the triangles of a piece, or makes them anew.
    fn build_piece(
        &mut self,
        world: WorldId,
        map: &UnitMap,
        piece: &mut Piece,
        (seconds, state): (f64, u64),
    ) {
        let smooth = map.sets.iter().map(|set| !self.place_picture(*set).sampling.nearest);
        let smooth: Vec<bool> = smooth.collect();
        let tilemap = self.tilemaps.of(map.map);
        if piece.stale {
            piece.animated = tilemap.is_animated(piece.chunk);
        }
        (piece.stale, piece.shown, piece.told) = (false, state, false);
        let metres = 1.0 / map.stand.pixels_per_metre;
        let (mesh, sets) = tilemap.chunk_mesh(piece.chunk, seconds, metres, &smooth);
        if sets.is_empty() {
            if let Some(mesh) = piece.mesh.take() {
                self.models.end_own(mesh);
                // Its place stays its own.
                self.scenes.of(world).frame.changes.push(DrawChange::End(piece.draw));
            }
            return;
        }
        piece.surfaces.clear();
        for set in sets {
            let placed = self.place_picture(map.sets[set]);
            let (slot, sampling) = (placed.slot, placed.sampling);
            let painter = self.painter(map.stand.material);
            let key = SurfaceKey { slot, sampling, lit: map.stand.lit, mask: false, painter };
            piece.surfaces.push(self.scenes.pictures.surface(&mut self.materials, key));
        }
        match piece.mesh {
            Some(known) => self.models.set_own(known, mesh),
            None => match self.models.add_own(mesh) {
                Ok(made) => piece.mesh = Some(made),
                Err(fault) => log::error(&fault.message),
            },
        }
    }

    fn tell_piece(&mut self, world: WorldId, map: &UnitMap, piece: &mut Piece, pose: Pose) {
        let Some(mesh) = piece.mesh else { return };
        let mesh = self.models.entry(mesh).slot;
        let layer = piece.chunk.layer;
        let visible = map.flags & flag::ANY_HIDDEN == 0
            && self.tilemaps.of(map.map).is_visible(layer as usize);
        let frame = &mut self.scenes.of(world).frame;
        let surfaces = (frame.surfaces.len() as u32, piece.surfaces.len() as u32);
        frame.surfaces.extend_from_slice(&piece.surfaces);
        frame.changes.push(DrawChange::Put(Put {
            slot: piece.draw,
            mesh,
            surfaces,
            pose,
            flags: if visible { draw_flag::VISIBLE } else { 0 },
            tint: map.stand.tint,
            range: map.stand.range,
            order: Some(map.stand.layer + layer as i32),
            ..Put::DEFAULT
        }));
        piece.told = true;
    }

    /// Where a point of the world is on a map of a unit, in texels from its left bottom; none of a
    /// map that a script made.
    pub fn point_on_map(&mut self, id: TilemapId, point: Vec3) -> Option<[f64; 2]> {
        let owner = self.tilemaps.of(id).owner?;
        let maps = self.scenes.maps.of_unit(UnitId(owner).row());
        let map = maps.iter().find(|map| map.map == id)?;
        let (row, node, stand) = (map.unit.row(), usize::from(map.node), map.stand);
        let matrix = self.units.scene.world(row, node) * stand.turn();
        let at = matrix.inverse().transform_point3(point) * stand.pixels_per_metre;
        Some([at.x.into(), at.z.into()])
    }

    /// The map of a unit, to change; none of one that a script made.
    pub fn unit_map(&mut self, id: TilemapId) -> Option<&mut UnitMap> {
        let owner = self.tilemaps.of(id).owner?;
        let maps = self.scenes.maps.of.get_mut(&UnitId(owner).row())?;
        maps.iter_mut().find(|map| map.map == id)
    }

    /// Takes in maps and sheets that were made anew, where units show them.
    pub fn reload_flat(&mut self, changed: &[ResourceName]) {
        self.reload_sprites(changed);
        let is_new = |name: &str| {
            changed.iter().any(|resource| resource.kind == "tilemap" && resource.name == name)
        };
        let mut maps = std::mem::take(&mut self.scenes.maps);
        for map in maps.iter_mut() {
            if !is_new(&self.tilemaps.of(map.map).name) {
                continue;
            }
            let world = self.units.of(map.unit).world;
            let Engine { tilemaps, store, .. } = self;
            if let Err(fault) = tilemaps.renew(store, map.map) {
                log::error(&format!("{}: the map stays as it was", fault.message));
                continue;
            }
            self.empty_map(world, map);
            if let Err(fault) = self.fill_map(world, map) {
                log::error(&fault.message);
            }
            map.flags |= flag::NEW;
        }
        self.scenes.maps = maps;
        if changed.iter().any(|name| ["sheet", "tilemap"].contains(&name.kind.as_str())) {
            self.units.resources.clear();
        }
    }
}

impl WorldScene {
    /// Refuses what would need more draws than a scene can have.
    pub(super) fn check_room(&self, count: usize) -> Result<(), Error> {
        let (used, most) = (self.used_draws() as usize, crate::packet::mesh::SLOTS_MAX as usize);
        match used + count <= most {
            true => Ok(()),
            false => Err(crate::error!(
                "a world shows {most} meshes, sprites and pieces of tile maps at most (SLOTS_MAX): \
                 destroy units that are not needed"
            )),
        }
    }
}
