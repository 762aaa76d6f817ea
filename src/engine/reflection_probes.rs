//! Transfer of reflection probes to the renderer. Their textures are looked up in each frame,
//! because a reload can move them.

use super::{Assets, Worlds};
use engine_foundation::log;
use engine_frame_packet::reflection_probe::ProbeFrame;
use engine_frame_packet::scene::DrawTransform;
use engine_world::WorldId;
use engine_world::reflection_probe::ReflectionProbe;

impl Worlds {
    /// Replaces the reflection probes of a world.
    pub fn set_reflection_probes(&mut self, world: WorldId, probes: Vec<ReflectionProbe>) {
        self.scenes.of(world).probes = probes;
    }

    /// Sends probes that changed. One whose texture cannot be read is reported once, and left out.
    pub(super) fn send_probes(&mut self, assets: &mut Assets) {
        for scene in self.scenes.worlds.iter_mut().flatten() {
            if scene.probes.is_empty() && scene.sent_probes.is_empty() {
                continue;
            }
            let probes: Vec<ProbeFrame> =
                scene.probes.iter().filter_map(|probe| assets.probe_frame(probe)).collect();
            if probes != scene.sent_probes {
                scene.frame.probes_changed = true;
                scene.frame.probes.clone_from(&probes);
                scene.sent_probes = probes;
            }
        }
    }
}

impl Assets {
    fn probe_frame(&mut self, probe: &ReflectionProbe) -> Option<ProbeFrame> {
        let found = self.find_drawable_texture(&probe.texture);
        let slot = found.and_then(|number| self.textures.slot(&mut self.store, number));
        if let Err(error) = &slot {
            let name = format!("texture of a reflection probe, '{}'", probe.texture);
            log::warn(&name, &error.message);
        }
        Some(ProbeFrame {
            pose: DrawTransform::of(&probe.box_transform()),
            position: probe.center,
            blend_distance: probe.blend_distance,
            priority: probe.priority,
            intensity: probe.intensity,
            texture: slot.ok()?,
        })
    }
}
