//! Transfer of unit tile maps to the renderer. The layers are split into pieces, which are built
//! when they are first visible and rebuilt when one of their tiles changes or shows another
//! animation frame.

use super::Engine;
use super::particles::is_seen;
use super::render_scene::WorldRenderScene;
use super::sprite_templates::SurfaceKey;
use engine_foundation::{Error, Mat4, Vec3, log};
use engine_frame_packet::View;
use engine_frame_packet::scene::{DrawChange, DrawMesh, DrawTransform, flag as draw_flag};
use engine_resource::resource_name::ResourceName;
use engine_tilemaps::{TilemapId, chunks};
use engine_world::WorldId;
use engine_world::mesh::flag;
use engine_world::tilemap_component::{TilemapComponent, TilemapInstance, TilemapPiece};
use engine_world::unit::UnitId;

impl Engine {
    /// Creates a tile map of a unit.
    ///
    /// # Errors
    /// Returns an error if there are too many maps, or if the map's file or a texture cannot be
    /// read.
    pub(super) fn spawn_map(
        &mut self,
        world: WorldId,
        unit: UnitId,
        part: &TilemapComponent,
    ) -> Result<(), Error> {
        let (tilemaps, store) = (&mut self.assets.tilemaps, &mut self.assets.store);
        let id = tilemaps.add(store, &part.map, part.level.as_deref())?;
        tilemaps.of_mut(id).owner = Some(unit.0);
        let mut map = TilemapInstance {
            unit,
            node: part.node,
            map: id,
            placement: part.placement,
            flags: flag::NEW | if part.visible { 0 } else { flag::HIDDEN },
            group: part.group,
            sets: Vec::new(),
            pieces: Vec::new(),
        };
        let filled = self.fill_map(world, &mut map);
        // The map may be incomplete; it ends with the unit.
        self.worlds.scenes.maps.of.entry(unit.row()).or_default().push(map);
        filled
    }

    /// Sets the textures and pieces of a map.
    fn fill_map(&mut self, world: WorldId, map: &mut TilemapInstance) -> Result<(), Error> {
        let (tilemaps, textures, store, scenes) = (
            &mut self.assets.tilemaps,
            &mut self.assets.textures,
            &mut self.assets.store,
            &mut self.worlds.scenes,
        );
        let tilemap = tilemaps.of(map.map);
        let found = tilemap.sets().iter().map(|set| textures.find(store, &set.texture));
        map.sets = found.collect::<Result<_, Error>>()?;
        let all = chunks(tilemap);
        let scene = scenes.of(world);
        scene.check_room(all.len())?;
        map.pieces.extend(all.into_iter().map(|chunk| TilemapPiece::new(chunk, scene.take_slot())));
        for set in map.sets.clone() {
            self.assign_scene_texture(set);
        }
        Ok(())
    }

    /// Ends the pieces of a map.
    fn empty_map(&mut self, world: WorldId, map: &mut TilemapInstance) {
        for piece in map.pieces.drain(..) {
            self.worlds.scenes.of(world).end(piece.draw);
            if let Some(mesh) = piece.mesh {
                self.assets.models.remove_game_mesh(mesh);
            }
        }
    }

    /// Destroys the maps of a unit. `location` is the script line that messages about stale handles
    /// show.
    pub(super) fn end_maps(&mut self, world: WorldId, row: u32, location: &str) {
        for mut map in self.worlds.scenes.maps.of.remove(&row).unwrap_or_default() {
            self.empty_map(world, &mut map);
            self.assets.tilemaps.remove(map.map, self.frame.index, location);
        }
    }

    /// Sends changed maps to the scenes, as far as views show them.
    pub(super) fn send_tilemaps(&mut self, views: &[View]) {
        let mut maps = std::mem::take(&mut self.worlds.scenes.maps);
        for map in maps.iter_mut() {
            self.send_tilemap(map, views);
        }
        self.worlds.scenes.maps = maps;
    }

    fn send_tilemap(&mut self, map: &mut TilemapInstance, views: &[View]) {
        let world = self.worlds.units.of(map.unit).world;
        let number = world.0.to_number() as u64;
        let edits = self.assets.tilemaps.of_mut(map.map).take_edits();
        map.mark_cells_changed(&edits.cells);
        let is_new = edits.layers || map.flags & flag::NEW != 0;
        let moved = map.flags & flag::LISTED != 0;
        map.flags &= !(flag::NEW | flag::LISTED);
        let seconds = self.worlds.world(world).time;
        let node = self.worlds.units.scene.world(map.unit.row(), usize::from(map.node));
        let matrix = node * map.placement.plane_to_node();
        let pose = DrawTransform::of(&matrix);
        let state = self.assets.tilemaps.of(map.map).animation_state(seconds);
        let shown: Vec<Mat4> = views
            .iter()
            .filter(|view| view.scene == Some(number))
            .map(|view| view.camera.projection * view.camera.view)
            .collect();
        let scale = matrix.to_scale_rotation_translation().0.abs().max_element();
        let metres = 1.0 / map.placement.pixels_per_metre;
        let mut pieces = std::mem::take(&mut map.pieces);
        for piece in &mut pieces {
            if piece.stale || piece.animated && piece.shown != state {
                let (middle, radius) = self.assets.tilemaps.of(map.map).chunk_sphere(piece.chunk);
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
            if is_new || !piece.sent {
                self.send_tilemap_piece(world, map, piece, pose);
            } else if moved {
                let frame = &mut self.worlds.scenes.of(world).frame;
                frame.moved.push(piece.draw);
                frame.poses.push(pose);
            }
        }
        map.pieces = pieces;
    }

    /// Builds or rebuilds the mesh of a piece.
    fn build_piece(
        &mut self,
        world: WorldId,
        map: &TilemapInstance,
        piece: &mut TilemapPiece,
        (seconds, state): (f64, u64),
    ) {
        let smooth = map.sets.iter().map(|set| !self.assign_scene_texture(*set).sampling.nearest);
        let smooth: Vec<bool> = smooth.collect();
        let tilemap = self.assets.tilemaps.of(map.map);
        if piece.stale {
            piece.animated = tilemap.is_animated(piece.chunk);
        }
        (piece.stale, piece.shown, piece.sent) = (false, state, false);
        let metres = 1.0 / map.placement.pixels_per_metre;
        let (mesh, sets) = tilemap.chunk_mesh(piece.chunk, seconds, metres, &smooth);
        if sets.is_empty() {
            if let Some(mesh) = piece.mesh.take() {
                self.assets.models.remove_game_mesh(mesh);
                // The piece keeps its draw slot.
                self.worlds.scenes.of(world).frame.changes.push(DrawChange::End(piece.draw));
            }
            return;
        }
        piece.surfaces.clear();
        for set in sets {
            let placed = self.assign_scene_texture(map.sets[set]);
            let (slot, sampling) = (placed.slot, placed.sampling);
            let material_slot = self.material_slot(map.placement.material);
            let key =
                SurfaceKey { slot, sampling, lit: map.placement.lit, mask: false, material_slot };
            piece
                .surfaces
                .push(self.worlds.scenes.pictures.surface(&mut self.assets.materials, key));
        }
        match piece.mesh {
            Some(known) => self.assets.models.update_game_mesh(known, mesh),
            None => match self.assets.models.add_game_mesh(mesh) {
                Ok(number) => piece.mesh = Some(number),
                Err(fault) => log::error(&fault.message),
            },
        }
    }

    fn send_tilemap_piece(
        &mut self,
        world: WorldId,
        map: &TilemapInstance,
        piece: &mut TilemapPiece,
        pose: DrawTransform,
    ) {
        let Some(mesh) = piece.mesh else { return };
        let mesh = self.assets.models.entry(mesh).slot;
        let layer = piece.chunk.layer;
        let visible = map.flags & flag::ANY_HIDDEN == 0
            && self.assets.tilemaps.of(map.map).is_visible(layer as usize);
        let frame = &mut self.worlds.scenes.of(world).frame;
        let surfaces = (frame.surfaces.len() as u32, piece.surfaces.len() as u32);
        frame.surfaces.extend_from_slice(&piece.surfaces);
        frame.changes.push(DrawChange::Put(DrawMesh {
            slot: piece.draw,
            mesh,
            surfaces,
            pose,
            flags: if visible { draw_flag::VISIBLE } else { 0 },
            tint: map.placement.tint,
            range: map.placement.range,
            order: Some(map.placement.layer + layer as i32),
            ..DrawMesh::DEFAULT
        }));
        piece.sent = true;
    }

    /// Converts a world point into texels from the bottom left of a unit's map. Returns `None` for
    /// a map that a script created.
    pub fn point_on_map(&mut self, id: TilemapId, point: Vec3) -> Option<[f64; 2]> {
        let owner = self.assets.tilemaps.of(id).owner?;
        let maps = self.worlds.scenes.maps.of_unit(UnitId(owner).row());
        let map = maps.iter().find(|map| map.map == id)?;
        let (row, node, placement) = (map.unit.row(), usize::from(map.node), map.placement);
        let matrix = self.worlds.units.scene.world(row, node) * placement.plane_to_node();
        let at = matrix.inverse().transform_point3(point) * placement.pixels_per_metre;
        Some([at.x.into(), at.z.into()])
    }

    /// Returns the map of a unit for changes, or `None` for a map that a script created.
    pub fn unit_map(&mut self, id: TilemapId) -> Option<&mut TilemapInstance> {
        let owner = self.assets.tilemaps.of(id).owner?;
        let maps = self.worlds.scenes.maps.of.get_mut(&UnitId(owner).row())?;
        maps.iter_mut().find(|map| map.map == id)
    }

    /// Applies changed maps and sheets that units show (hot reload).
    pub fn reload_flat(&mut self, changed: &[ResourceName]) {
        self.reload_sprites(changed);
        let is_new = |name: &str| {
            changed.iter().any(|resource| resource.kind == "tilemap" && resource.name == name)
        };
        let mut maps = std::mem::take(&mut self.worlds.scenes.maps);
        for map in maps.iter_mut() {
            if !is_new(&self.assets.tilemaps.of(map.map).name) {
                continue;
            }
            let world = self.worlds.units.of(map.unit).world;
            let (tilemaps, store) = (&mut self.assets.tilemaps, &mut self.assets.store);
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
        self.worlds.scenes.maps = maps;
        if changed.iter().any(|name| ["sheet", "tilemap"].contains(&name.kind.as_str())) {
            self.worlds.units.resources.clear();
        }
    }
}

impl WorldRenderScene {
    /// Refuses a number of additional draws that exceeds the scene's limit.
    pub(super) fn check_room(&self, count: usize) -> Result<(), Error> {
        let (used, most) =
            (self.used_draws() as usize, engine_frame_packet::mesh::SLOTS_MAX as usize);
        match used + count <= most {
            true => Ok(()),
            false => Err(engine_foundation::error!(
                "a world shows {most} meshes, sprites and pieces of tile maps at most (SLOTS_MAX): \
                 destroy units that are not needed"
            )),
        }
    }
}
