//! Transfer of decals to the renderer. All decals of a world are sent again when one of them
//! changes. Worlds without decals cost nothing.

use super::{Assets, Worlds};
use engine_foundation::log;
use engine_frame_packet::decal::{DecalFrame, DecalTextures};
use engine_frame_packet::texture::TextureSlot;
use engine_textures::TextureNumber;
use engine_world::decal::DecalId;
use engine_world::render_scenes::WorldRenderScene;
use engine_world::unit::UnitId;

impl Worlds {
    /// Sends the decals to the scenes in which decals were added, removed, changed or moved.
    /// `seconds` is the game time.
    pub(super) fn send_decals(&mut self, assets: &mut Assets, seconds: f64) {
        self.scenes.decals.follow_textures(assets.textures.version());
        for row in std::mem::take(&mut self.scenes.decals.changed) {
            if let Some(world) = self.world_of_row(row) {
                self.scenes.of(world).decals_changed = true;
            }
        }
        let is_changed = |scene: &&mut WorldRenderScene| scene.decals_changed;
        let mut any = false;
        for scene in self.scenes.worlds.iter_mut().flatten().filter(is_changed) {
            scene.frame.decals.clear();
            scene.frame.decals_changed = true;
            any = true;
        }
        if !any {
            return;
        }
        let all: Vec<(u32, Vec<DecalId>)> =
            self.scenes.decals.all().map(|(row, all)| (row, all.to_vec())).collect();
        for (row, decals) in all {
            let Some(world) = self.world_of_row(row) else { continue };
            if !self.scenes.of(world).decals_changed {
                continue;
            }
            for decal in decals {
                if let Some(frame) = self.decal_frame(assets, row, decal, seconds) {
                    self.scenes.of(world).frame.decals.push(frame);
                }
            }
        }
        let scenes = self.scenes.worlds.iter_mut().flatten();
        scenes.for_each(|scene| scene.decals_changed = false);
    }

    /// Returns the names of a unit's decals, each with the time from which its lifetime counts.
    pub(super) fn decal_begins(&self, unit: UnitId) -> Vec<(String, Option<f64>)> {
        let parts = &self.units.of(unit).resource.template.decals;
        let begin = |id: &DecalId| self.scenes.decals.slots.get(id.0).and_then(|it| it.begin);
        let begins = self.scenes.decals.of_unit(unit.row()).iter().map(begin);
        parts.iter().map(|part| part.name.clone()).zip(begins).collect()
    }

    /// Sets the times from which the lifetimes of a unit's decals count, by their names.
    pub(super) fn set_decal_begins(&mut self, unit: UnitId, begins: &[(String, Option<f64>)]) {
        let resource = self.units.of(unit).resource.clone();
        let all = self.scenes.decals.of_unit(unit.row()).to_vec();
        for (part, id) in resource.template.decals.iter().zip(all) {
            if let Some((_, begin)) = begins.iter().find(|(name, _)| *name == part.name) {
                self.scenes.decals.change(id).begin = *begin;
            }
        }
    }

    /// Returns a decal for the renderer; `None`: it is off, or has ended.
    fn decal_frame(
        &mut self,
        assets: &mut Assets,
        row: u32,
        decal: DecalId,
        seconds: f64,
    ) -> Option<DecalFrame> {
        let decal = self.scenes.decals.slots.get_mut(decal.0).expect("its unit lives");
        let begin = *decal.begin.get_or_insert(seconds);
        let (settings, node) = (decal.settings, usize::from(decal.node));
        let lifetime = f64::from(settings.lifetime[0]);
        let is_over = lifetime > 0.0 && begin + lifetime <= seconds;
        if !settings.enabled || decal.hidden != 0 || is_over {
            return None;
        }
        let [color, normal, roughness, emissive] =
            settings.textures.map(|texture| assets.decal_texture(texture?));
        let textures = DecalTextures { color, normal, roughness, emissive };
        let pose = self.units.scene.world(row, node);
        Some(settings.to_frame(&pose, textures, begin))
    }
}

impl Assets {
    /// Returns the slot of the texture of a decal. One without room is reported once.
    fn decal_texture(&mut self, texture: TextureNumber) -> Option<TextureSlot> {
        let slot = self.textures.slot(&mut self.store, texture);
        if let Err(error) = &slot {
            log::warn("textures of decals", &error.message);
        }
        slot.ok()
    }
}

#[cfg(test)]
mod tests {
    use engine_foundation::Vec3;
    use engine_frame_packet::FramePacket;
    use engine_frame_packet::scene::SceneFrame;
    use engine_world::WorldFlags;
    use engine_world::scene_graph::NodePose;

    fn sent(engine: &mut crate::Engine) -> SceneFrame {
        let packet = engine.take_packet(FramePacket::default());
        packet.scenes.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn decals_are_sent_when_they_change_and_until_they_end() {
        let mut engine = crate::tests::engine();
        let world = engine.worlds.new_world(WorldFlags::default()).unwrap();
        assert!(!sent(&mut engine).decals_changed, "a world without decals sends none");
        let resource = engine.worlds.unit_resource(&mut engine.assets, "core/units/decal").unwrap();
        let unit = engine.spawn_unit(world, &resource, &NodePose::IDENTITY).unwrap();
        let frame = sent(&mut engine);
        assert!(frame.decals_changed && frame.decals.len() == 1);
        assert_eq!(frame.decals[0].pose.transform_point(Vec3::ONE), Vec3::splat(0.5));
        assert!(!sent(&mut engine).decals_changed, "nothing has changed");
        let decal = engine.worlds.scenes.decals.of_unit(unit.row())[0];
        engine.worlds.scenes.decals.change(decal).settings.enabled = false;
        let frame = sent(&mut engine);
        assert!(frame.decals_changed && frame.decals.is_empty());
        engine.worlds.scenes.decals.change(decal).settings.enabled = true;
        for hidden in [true, false] {
            engine.worlds.scenes.hide(unit.row(), None, 1, hidden);
            engine.worlds.scenes.hide(unit.row(), Some(3), 2, true);
            let frame = sent(&mut engine);
            assert!(frame.decals_changed && frame.decals.is_empty() == hidden);
        }
        engine.worlds.scenes.decals.change(decal).settings.lifetime = [2.0, 1.0];
        assert_eq!(sent(&mut engine).decals[0].life, Some([1.0, 2.0]));
        // A hot reload does not begin a lifetime again.
        engine.worlds.scenes.decals.change(decal).begin = Some(-5.0);
        engine.respawn_unit(unit, &resource).expect("there is room");
        let respawned = engine.worlds.scenes.decals.of_unit(unit.row())[0];
        let begin = engine.worlds.scenes.decals.slots.get(respawned.0).map(|it| it.begin);
        assert!(respawned != decal && begin == Some(Some(-5.0)));
    }
}
