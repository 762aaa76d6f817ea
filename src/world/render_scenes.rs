//! Visible components of all units, and the render scenes of worlds: the draw slots of each world,
//! and its changes for the next packet. The transfer to the renderer is in
//! src/engine/render_scene.rs.

use super::WorldId;
use super::camera::UnitCameras;
use super::component_table::COMPONENTS;
use super::decal::Decals;
use super::environment::Environment;
use super::instance_table::flag;
use super::light::Lights;
use super::light_occluder::LightOccluders;
use super::mesh::{MeshInstance, Meshes};
use super::particles_component::UnitEffects;
use super::reflection_probe::ReflectionProbe;
use super::sprite::Sprites;
use super::sprite_skeleton::SpriteSkeletons;
use super::tilemap::TilemapInstances;
use engine_foundation::error;
use engine_foundation::{Error, Handle};
use engine_frame_packet::mesh::SLOTS_MAX;
use engine_frame_packet::reflection_probe::ProbeFrame;
use engine_frame_packet::scene::{DrawChange, DrawSlot, SceneFrame};
use engine_models::MeshNumber;
use engine_textures::TextureNumber;

/// Visible components of all units, and the render scenes of worlds.
#[derive(Default)]
pub struct RenderScenes {
    pub meshes: Meshes,
    pub lights: Lights,
    pub occluders: LightOccluders,
    pub decals: Decals,
    pub sprites: Sprites,
    pub skeletons: SpriteSkeletons,
    pub maps: TilemapInstances,
    pub cameras: UnitCameras,
    /// Particle effects of units' components.
    pub effects: UnitEffects,
    /// Render scenes by world index.
    pub worlds: Vec<Option<WorldRenderScene>>,
    /// Scenes of worlds that were released.
    pub ended: Vec<u64>,
    /// Textures of spawned tile maps that are to be placed for scenes, and true for those in light.
    pub new_textures: Vec<(TextureNumber, bool)>,
}

/// Render scene of one world.
pub struct WorldRenderScene {
    pub world: Handle,
    /// Draw slots that are free, and those that become free when the frame has been taken.
    pub free: Vec<DrawSlot>,
    pub freed: Vec<DrawSlot>,
    /// Number of draw slots that were ever taken.
    used: u32,
    /// Changes for the next packet.
    pub frame: SceneFrame,
    /// The surroundings; `None` until the default ones of the world were sent.
    pub environment: Option<Environment>,
    /// True if all lights must be sent again.
    pub lights_changed: bool,
    /// True if all decals must be sent again.
    pub decals_changed: bool,
    /// The reflection probes, and those that the renderer has.
    pub probes: Vec<ReflectionProbe>,
    pub sent_probes: Vec<ProbeFrame>,
}

impl WorldRenderScene {
    fn new(world: Handle) -> WorldRenderScene {
        WorldRenderScene {
            world,
            free: Vec::new(),
            freed: Vec::new(),
            used: 0,
            frame: SceneFrame::default(),
            environment: None,
            lights_changed: false,
            decals_changed: false,
            probes: Vec::new(),
            sent_probes: Vec::new(),
        }
    }

    /// Returns the number of draw slots in use, including those about to be freed.
    pub fn used_draws(&self) -> u32 {
        self.used - self.free.len() as u32
    }

    /// Refuses a number of additional draws that exceeds the scene's limit.
    pub fn check_room(&self, count: usize) -> Result<(), Error> {
        let (used, most) = (self.used_draws() as usize, SLOTS_MAX as usize);
        match used + count <= most {
            true => Ok(()),
            false => Err(error!(
                "a world shows {most} meshes, sprites and pieces of tile maps at most (SLOTS_MAX): \
                 destroy units that are not needed"
            )),
        }
    }

    /// Takes a free draw slot. [`WorldRenderScene::end`] frees it.
    pub fn take_slot(&mut self) -> DrawSlot {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            DrawSlot(self.used - 1)
        })
    }

    /// Ends a draw. Its slot is free when the frame has been taken.
    pub fn end(&mut self, slot: DrawSlot) {
        self.frame.changes.push(DrawChange::End(slot));
        self.freed.push(slot);
    }
}

impl RenderScenes {
    /// Returns the scene of a world. It is created on the first request.
    pub fn of(&mut self, world: WorldId) -> &mut WorldRenderScene {
        scene_of(&mut self.worlds, world)
    }

    /// Records that meshes changed, so that all objects that show them are sent to the renderer
    /// again.
    pub fn mark_meshes_changed(&mut self, numbers: &[MeshNumber]) {
        let is_drawn = |mesh: &MeshInstance| numbers.contains(&mesh.mesh);
        let slots: Vec<usize> = self
            .meshes
            .slots
            .iter()
            .filter(|(_, mesh)| is_drawn(mesh))
            .map(|(handle, _)| handle.index())
            .collect();
        for slot in slots {
            self.meshes.record_change(slot, flag::NEW);
        }
    }

    /// Records that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        COMPONENTS.note_moved(self, rows);
    }

    /// Sets or clears a reason why the visible components of a unit are hidden, for one group or
    /// for all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        COMPONENTS.hide(self, row, group, (reason, hidden));
    }
}

/// Returns the scene of a world in the list of scenes. It is created on the first request.
pub fn scene_of(
    worlds: &mut Vec<Option<WorldRenderScene>>,
    world: WorldId,
) -> &mut WorldRenderScene {
    let index = world.0.index();
    if worlds.len() <= index {
        worlds.resize_with(index + 1, || None);
    }
    worlds[index].get_or_insert_with(|| WorldRenderScene::new(world.0))
}

/// Returns the scene of a world in the list of scenes, if it was ever used.
pub fn existing_scene(
    worlds: &mut [Option<WorldRenderScene>],
    world: WorldId,
) -> Option<&mut WorldRenderScene> {
    worlds.get_mut(world.0.index())?.as_mut()
}
