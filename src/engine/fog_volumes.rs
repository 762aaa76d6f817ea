//! Transfer of fog volumes to the renderer.

use super::Worlds;
use engine_frame_packet::fog_volume::FogVolumeFrame;
use engine_world::WorldId;

impl Worlds {
    /// Replaces the fog volumes of a world.
    pub fn set_fog_volumes(&mut self, world: WorldId, volumes: Vec<FogVolumeFrame>) {
        let frame = &mut self.scenes.of(world).frame;
        frame.fog_volumes_changed = true;
        frame.fog_volumes = volumes;
    }
}
