//! Transfer of light occluders to the renderer: each is a draw of its walls that is only in shadow
//! maps. Worlds without occluders cost nothing.

use super::{Assets, Worlds};
use engine_frame_packet::mesh::{SurfaceFrame, SurfaceSlot};
use engine_frame_packet::scene::{DrawChange, DrawMesh, flag as draw_flag};
use engine_world::instance_table::flag;

impl Worlds {
    /// Sends changed light occluders to the scenes.
    pub(super) fn send_occluder_changes(&mut self, assets: &mut Assets) {
        let mut changed = std::mem::take(&mut self.scenes.occluders.table.changed);
        for slot in changed.drain(..) {
            let taken = self.scenes.occluders.table.take_change(slot);
            let Some((flags, occluder)) = taken else { continue };
            let (row, node, draw) = (occluder.unit, usize::from(occluder.node), occluder.draw);
            let (mesh, settings) = (occluder.mesh, &occluder.settings);
            let locals = [false, true].map(|mirrored| settings.mesh_to_node(mirrored));
            let casts = settings.enabled && flags & flag::ANY_HIDDEN == 0;
            let Some(world) = self.world_of_row(row) else { continue };
            let is_mirrored = self.units.scene.world(row, node).determinant() < 0.0;
            let pose = self.mesh_pose(row, node, Some(locals[usize::from(is_mirrored)]));
            if flags & flag::NEW == 0 {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(draw);
                frame.poses.push(pose);
                continue;
            }
            let surface = assets.occluder_surface();
            let mesh = assets.models.entry(mesh).slot;
            let frame = &mut self.scenes.of(world).frame;
            let surfaces = (frame.surfaces.len() as u32, 1);
            frame.surfaces.push(surface);
            frame.changes.push(DrawChange::Set(DrawMesh {
                slot: draw,
                mesh,
                surfaces,
                pose,
                flags: if casts { draw_flag::CASTS_SHADOW } else { 0 },
                ..DrawMesh::DEFAULT
            }));
        }
        // Keeps the allocation of the list.
        changed.append(&mut self.scenes.occluders.table.changed);
        self.scenes.occluders.table.changed = changed;
    }
}

impl Assets {
    /// Returns the surface of all occluders. What lies within a closed shape is not in its shadow.
    pub(super) fn occluder_surface(&mut self) -> SurfaceSlot {
        *self.sprites.occluder_surface.get_or_insert_with(|| {
            self.materials.add_plain_surface(SurfaceFrame {
                name: "light occluders".to_string(),
                back_shadow: true,
                ..SurfaceFrame::DEFAULT
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use engine_foundation::{Vec2, Vec3};
    use engine_frame_packet::FramePacket;
    use engine_frame_packet::mesh::{MeshChange, SurfaceChange};
    use engine_frame_packet::scene::{DrawChange, DrawMesh, SceneFrame, flag as draw_flag};
    use engine_world::WorldFlags;
    use engine_world::light_occluder::{LightOccluderId, OccluderShape};
    use engine_world::scene_graph::NodePose;

    fn sent(engine: &mut crate::Engine) -> (SceneFrame, FramePacket) {
        let mut packet = engine.take_packet(FramePacket::default());
        (packet.scenes.pop().unwrap_or_default(), packet)
    }

    fn drawn(frame: &SceneFrame) -> DrawMesh {
        match &frame.changes[..] {
            [DrawChange::Set(draw)] => *draw,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn occluders_are_sent_as_shadows_alone() {
        let mut engine = crate::tests::engine();
        let flags = WorldFlags { flat: true, ..WorldFlags::default() };
        let world = engine.worlds.new_world(flags).unwrap();
        let name = "core/units/light_occluder";
        let resource = engine.worlds.unit_resource(&mut engine.assets, name).unwrap();
        let unit = engine.spawn_unit(world, &resource, &NodePose::IDENTITY).unwrap();
        let (frame, packet) = sent(&mut engine);
        let draw = drawn(&frame);
        assert_eq!(draw.flags, draw_flag::CASTS_SHADOW);
        // In the plane of x and y, ten metres to each side of it.
        let corner = draw.pose.transform_point(Vec3::new(0.5, 1.0, -0.5));
        assert!(corner.distance(Vec3::new(0.5, -0.5, -10.0)) < 1e-5, "{corner}");
        let is_back = |change: &SurfaceChange| match change {
            SurfaceChange::Set { surface, .. } => surface.back_shadow,
            SurfaceChange::End { .. } => false,
        };
        assert!(packet.surfaces.iter().any(is_back));
        assert!(sent(&mut engine).0.changes.is_empty(), "nothing has changed");

        let table = &engine.worlds.scenes.occluders.table;
        let id =
            LightOccluderId(table.slots.handle_at(table.first_of(unit.row()).unwrap()).unwrap());
        let circle = (OccluderShape::Circle(2.0), Vec2::X);
        let models = &mut engine.assets.models;
        engine.worlds.scenes.occluders.set_shape(models, id, circle).unwrap();
        let (frame, packet) = sent(&mut engine);
        let center = drawn(&frame).pose.transform_point(Vec3::ZERO);
        assert_eq!((center, drawn(&frame).mesh == draw.mesh), (Vec3::X, false));
        let ended =
            |change: &MeshChange| matches!(change, MeshChange::End { slot } if *slot == draw.mesh);
        assert!(packet.meshes.iter().any(ended), "no occluder has the mesh of boxes");

        engine.worlds.scenes.hide(unit.row(), None, 2, true);
        assert_eq!(drawn(&sent(&mut engine).0).flags, 0);
        engine.end_unit(unit, "");
        let changes = sent(&mut engine).0.changes;
        assert!(matches!(changes[..], [DrawChange::End(slot)] if slot == draw.slot));
        assert!(engine.worlds.scenes.occluders.table.slots.is_empty());
    }
}
