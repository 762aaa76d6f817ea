//! Transfer of unit tile maps to the renderer. The layers are split into pieces, which are built
//! when they are first visible and rebuilt when one of their tiles changes or shows another
//! animation frame.

use super::particles::is_in_frustum;
use super::sprite_draws::SurfaceKey;
use super::{Assets, Worlds};
use engine_foundation::{Mat4, Quat, Vec3, log};
use engine_frame_packet::View;
use engine_frame_packet::scene::{DrawChange, DrawMesh, DrawTransform, flag as draw_flag};
use engine_textures::SceneTexture;
use engine_tilemaps::TilemapId;
use engine_world::WorldId;
use engine_world::instance_table::flag;
use engine_world::tilemap::{TilemapInstance, TilemapPiece};
use engine_world::unit::UnitId;

/// The plane of a map in its world.
pub struct MapPlane {
    pub unit: UnitId,
    /// Bottom left of the map.
    pub origin: Vec3,
    /// Directions of the map's axes, as long as a texel.
    pub right: Vec3,
    pub up: Vec3,
    /// Rotation of the map's node.
    pub rotation: Quat,
}

/// Minimum part of a view's direction across a map. A flatter view has no middle on the map.
const ACROSS_MIN: f32 = 1e-3;

/// Returns the point of a map, in texels from its bottom left, in the middle of the first view of a
/// scene. `None` if no view shows the scene, or if it looks along the map.
fn view_center(
    matrix: &Mat4,
    map: &TilemapInstance,
    views: &[View],
    scene: u64,
) -> Option<[f32; 2]> {
    let view = views.iter().find(|view| view.scene == Some(scene))?;
    let camera = matrix.inverse() * view.camera.view.inverse();
    let at = camera.transform_point3(Vec3::ZERO);
    let direction = camera.transform_vector3(Vec3::Z).try_normalize()?;
    if direction.y.abs() < ACROSS_MIN {
        return None;
    }
    let point = (at - direction * (at.y / direction.y)) * map.placement.pixels_per_metre;
    let center = [point.x, point.z];
    center.iter().all(|part| part.is_finite()).then_some(center)
}

impl Worlds {
    /// Sends changed maps to the scenes, as far as views show them.
    pub(super) fn send_tilemaps(&mut self, assets: &mut Assets, views: &[View]) {
        let mut maps = std::mem::take(&mut self.scenes.maps);
        for map in maps.iter_mut() {
            self.send_tilemap(assets, map, views);
        }
        self.scenes.maps = maps;
    }

    fn send_tilemap(&mut self, assets: &mut Assets, map: &mut TilemapInstance, views: &[View]) {
        let world = self.units.of(map.unit).world;
        let number = world.0.to_number() as u64;
        let edits = assets.tilemaps.of_mut(map.map).take_edits();
        map.mark_chunks_changed(&edits.chunks);
        let is_new = edits.layers || map.flags & flag::NEW != 0;
        let moved = map.flags & flag::LISTED != 0;
        map.flags &= !(flag::NEW | flag::LISTED);
        let seconds = self.world(world).time;
        let node = self.units.scene.world(map.unit.row(), usize::from(map.node));
        let matrix = node * map.placement.plane_to_node();
        let state = assets.tilemaps.of(map.map).animation_state(seconds);
        let shown: Vec<Mat4> = views
            .iter()
            .filter(|view| view.scene == Some(number))
            .map(|view| view.camera.projection * view.camera.view)
            .collect();
        let center = view_center(&matrix, map, views, number);
        let scale = matrix.to_scale_rotation_translation().0.abs().max_element();
        let metres = 1.0 / map.placement.pixels_per_metre;
        let mut pieces = std::mem::take(&mut map.pieces);
        for (sequence, piece) in (0..).zip(&mut pieces) {
            let tilemap = assets.tilemaps.of(map.map);
            let layer = &tilemap.map().layers[piece.chunk.layer as usize];
            // Without a view, parallax does not move the piece.
            let shift = match center.filter(|_| layer.parallax != [1.0; 2]) {
                Some(center) => layer.parallax_shift(tilemap.map(), center),
                None => piece.shift,
            };
            let matrix = match shift {
                [0.0, 0.0] => matrix,
                [x, y] => matrix * Mat4::from_translation(Vec3::new(x, 0.0, y) * metres),
            };
            let pose = DrawTransform::of(&matrix);
            let moved = moved || shift != piece.shift;
            piece.shift = shift;
            if piece.stale || piece.animated && piece.shown != state {
                let (middle, radius) = tilemap.chunk_sphere(piece.chunk);
                let middle = Vec3::new(middle[0], 0.0, middle[1]) * metres;
                let center = matrix.transform_point3(middle);
                let is_visible =
                    |shown: &Mat4| is_in_frustum(shown, center, radius * metres * scale);
                if shown.iter().any(is_visible) {
                    self.build_piece(assets, world, map, piece, (seconds, state));
                }
            }
            if piece.mesh.is_none() {
                continue;
            }
            if is_new || !piece.sent {
                self.send_tilemap_piece(assets, world, map, (piece, sequence), pose);
            } else if moved {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(piece.draw);
                frame.poses.push(pose);
            }
        }
        map.pieces = pieces;
        self.send_walls(assets, map, &matrix, (is_new, moved));
    }

    /// Builds or rebuilds the mesh of a piece.
    fn build_piece(
        &mut self,
        assets: &mut Assets,
        world: WorldId,
        map: &TilemapInstance,
        piece: &mut TilemapPiece,
        (seconds, state): (f64, u64),
    ) {
        let lit = map.placement.lit;
        let placed = map.sets.iter().map(|set| assets.assign_scene_texture(*set, lit));
        let placed: Vec<SceneTexture> = placed.collect();
        let smooth: Vec<bool> = placed.iter().map(|placed| !placed.sampling.nearest).collect();
        let tilemap = assets.tilemaps.of(map.map);
        if piece.stale {
            piece.animated = tilemap.is_animated(piece.chunk);
        }
        (piece.stale, piece.shown, piece.sent) = (false, state, false);
        let metres = 1.0 / map.placement.pixels_per_metre;
        let (mesh, sets) = tilemap.chunk_mesh(piece.chunk, seconds, metres, &smooth);
        if sets.is_empty() {
            if let Some(mesh) = piece.mesh.take() {
                assets.models.remove_game_mesh(mesh);
                // The piece keeps its draw slot.
                self.scenes.of(world).frame.changes.push(DrawChange::End(piece.draw));
            }
            return;
        }
        piece.surfaces.clear();
        for set in sets {
            let SceneTexture { slot, sampling, normals, .. } = placed[set];
            let material_slot = assets.material_slot(map.placement.material);
            let key = SurfaceKey { slot, sampling, normals, lit, mask: false, material_slot };
            piece.surfaces.push(assets.sprites.surface(&mut assets.materials, key));
        }
        match piece.mesh {
            Some(known) => assets.models.update_game_mesh(known, mesh),
            None => match assets.models.add_game_mesh(mesh) {
                Ok(number) => piece.mesh = Some(number),
                Err(error) => log::error(&error.message),
            },
        }
    }

    fn send_tilemap_piece(
        &mut self,
        assets: &Assets,
        world: WorldId,
        map: &TilemapInstance,
        (piece, sequence): (&mut TilemapPiece, u32),
        pose: DrawTransform,
    ) {
        let Some(mesh) = piece.mesh else { return };
        let mesh = assets.models.entry(mesh).slot;
        let layer = piece.chunk.layer;
        let tilemap = assets.tilemaps.of(map.map);
        let visible = map.flags & flag::ANY_HIDDEN == 0 && tilemap.is_visible(layer as usize);
        let level = tilemap.map().layers[layer as usize].level;
        let frame = &mut self.scenes.of(world).frame;
        let surfaces = (frame.surfaces.len() as u32, piece.surfaces.len() as u32);
        frame.surfaces.extend_from_slice(&piece.surfaces);
        frame.changes.push(DrawChange::Set(DrawMesh {
            slot: piece.draw,
            mesh,
            surfaces,
            pose,
            flags: if visible { draw_flag::VISIBLE } else { 0 },
            tint: map.placement.tint,
            range: map.placement.range,
            order: Some(map.placement.layer.saturating_add(level as i32)),
            sequence,
            ..DrawMesh::DEFAULT
        }));
        piece.sent = true;
    }

    /// Returns the plane of a unit's map in its world, or `None` for a map that a script created.
    pub fn map_plane(&mut self, assets: &Assets, id: TilemapId) -> Option<MapPlane> {
        let owner = assets.tilemaps.of(id).owner?;
        let maps = self.scenes.maps.of_unit(UnitId(owner).row());
        let map = maps.iter().find(|map| map.map == id)?;
        let (unit, node, placement) = (map.unit, usize::from(map.node), map.placement);
        let rotation = self.units.scene.world_rotation(unit.row(), node);
        let matrix = self.units.scene.world(unit.row(), node) * placement.plane_to_node();
        let texel = 1.0 / placement.pixels_per_metre;
        Some(MapPlane {
            unit,
            origin: matrix.transform_point3(Vec3::ZERO),
            right: matrix.transform_vector3(Vec3::X * texel),
            up: matrix.transform_vector3(Vec3::Z * texel),
            rotation,
        })
    }

    /// Converts a world point into texels from the bottom left of a unit's map. Returns `None` for
    /// a map that a script created.
    pub fn point_on_map(
        &mut self,
        assets: &Assets,
        id: TilemapId,
        point: Vec3,
    ) -> Option<[f64; 2]> {
        let owner = assets.tilemaps.of(id).owner?;
        let maps = self.scenes.maps.of_unit(UnitId(owner).row());
        let map = maps.iter().find(|map| map.map == id)?;
        let (row, node, placement) = (map.unit.row(), usize::from(map.node), map.placement);
        let matrix = self.units.scene.world(row, node) * placement.plane_to_node();
        let at = matrix.inverse().transform_point3(point) * placement.pixels_per_metre;
        Some([at.x.into(), at.z.into()])
    }

    /// Returns the map of a unit for changes, or `None` for a map that a script created.
    pub fn unit_map(&mut self, assets: &Assets, id: TilemapId) -> Option<&mut TilemapInstance> {
        let owner = assets.tilemaps.of(id).owner?;
        let maps = self.scenes.maps.of.get_mut(&UnitId(owner).row())?;
        maps.iter_mut().find(|map| map.map == id)
    }
}
