//! Transfer of the walls of tile maps to the renderer: solid tiles cast shadows of lights. Each
//! part of the walls is rebuilt when one of its tiles changes.

use super::{Assets, Worlds};
use engine_foundation::{Mat4, Vec2, Vec3, log};
use engine_frame_packet::mesh::MeshFrame;
use engine_frame_packet::scene::{DrawChange, DrawMesh, DrawTransform, flag as draw_flag};
use engine_tilemaps::{Outlines, Segment};
use engine_world::instance_table::flag;
use engine_world::light_occluder::{OccluderSettings, wall_mesh};
use engine_world::tilemap::TilemapInstance;

/// Returns the walls of outlines, in metres.
fn mesh_of(outlines: &Outlines, metres: f32) -> Option<MeshFrame> {
    let point = |at: [f64; 2]| Vec2::new(at[0] as f32, at[1] as f32) * metres;
    let wall = |segment: &Segment| [point(segment.from), point(segment.to)];
    (!outlines.solid.is_empty()).then(|| wall_mesh(outlines.solid.iter().map(wall)))
}

impl Worlds {
    /// Sends the changed walls of a map to its scene. `matrix` is the transform from the plane of
    /// the map to the world.
    pub(super) fn send_walls(
        &mut self,
        assets: &mut Assets,
        map: &mut TilemapInstance,
        matrix: &Mat4,
        (is_new, moved): (bool, bool),
    ) {
        let Some(mut walls) = map.walls.take() else { return };
        let world = self.units.of(map.unit).world;
        let edited = assets.tilemaps.of_mut(map.map).take_edited_walls();
        let height = OccluderSettings::DEFAULT.height;
        // A mirrored map does not turn its walls inside out.
        let height = if matrix.determinant() < 0.0 { -height } else { height };
        let pose = DrawTransform::of(&(*matrix * Mat4::from_scale(Vec3::new(1.0, height, 1.0))));
        let metres = 1.0 / map.placement.pixels_per_metre;
        let flags = match map.flags & flag::ANY_HIDDEN {
            0 => draw_flag::CASTS_SHADOW,
            _ => 0,
        };
        for part in &mut walls.parts {
            if part.stale || edited.contains(&part.part) {
                (part.stale, part.sent) = (false, false);
                let outlines = assets.tilemaps.of(map.map).outlines(&walls.table, part.part);
                if let Err(error) = &outlines {
                    log::error(&error.message);
                }
                let mesh = outlines.ok().and_then(|outlines| mesh_of(&outlines, metres));
                match (part.mesh, mesh) {
                    (Some(known), Some(mesh)) => assets.models.update_game_mesh(known, mesh),
                    (None, Some(mesh)) => match assets.models.add_game_mesh(mesh) {
                        Ok(number) => part.mesh = Some(number),
                        Err(error) => log::error(&error.message),
                    },
                    (Some(known), None) => {
                        assets.models.remove_game_mesh(known);
                        part.mesh = None;
                        // The part keeps its draw slot.
                        self.scenes.of(world).frame.changes.push(DrawChange::End(part.draw));
                    }
                    (None, None) => {}
                }
            }
            let Some(mesh) = part.mesh else { continue };
            let (mesh, slot) = (assets.models.entry(mesh).slot, part.draw);
            if is_new || !part.sent {
                let surface = assets.occluder_surface();
                let frame = &mut self.scenes.of(world).frame;
                let surfaces = (frame.surfaces.len() as u32, 1);
                frame.surfaces.push(surface);
                let draw = DrawMesh { slot, mesh, surfaces, pose, flags, ..DrawMesh::DEFAULT };
                frame.changes.push(DrawChange::Set(draw));
                part.sent = true;
            } else if moved {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(slot);
                frame.poses.push(pose);
            }
        }
        map.walls = Some(walls);
    }
}
