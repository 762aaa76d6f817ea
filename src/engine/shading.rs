//! Shading environments of views: what a view shows follows from its world's surroundings, its
//! environment, and the volumes of levels around its camera.

use super::{Assets, Engine, Worlds};
use engine_foundation::{Vec3, doing, log};
use engine_frame_packet::scene::SkyFrame;
use engine_frame_packet::shading_environment::{
    EnvironmentTextures, ShadingEnvironment, SurroundingsValues,
};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_world::WorldId;
use engine_world::level::LevelId;
use engine_world::shading::{
    ResolvedShading, ShadingEnvironmentId, ShadingTextures, blend_volumes,
};
use std::sync::Arc;

impl Worlds {
    /// Returns the values of a world without any environment.
    pub fn world_shading(&mut self, world: WorldId) -> ShadingEnvironment {
        let surroundings = SurroundingsValues::of(&self.environment(world).sky);
        ShadingEnvironment { surroundings, ..ShadingEnvironment::DEFAULT }
    }

    /// Returns the sky and the values of a view. `environment`: `None` is the one that is applied
    /// to the world, if any. The sky is `None` if it is that of the world.
    pub(super) fn shading_of_view(
        &mut self,
        world: WorldId,
        environment: Option<ShadingEnvironmentId>,
        position: Vec3,
    ) -> (Option<SkyFrame>, ResolvedShading) {
        let of_world = self.world_shading(world);
        let environment = environment.or_else(|| self.shading.applied(world));
        let mut shading = match environment {
            Some(environment) => self.shading.resolve(environment, &of_world),
            None => ResolvedShading { values: of_world, ..ResolvedShading::default() },
        };
        blend_volumes(&self.levels, &self.shading, world, position, &mut shading);
        let surroundings = shading.values.surroundings;
        let own = surroundings != of_world.surroundings;
        let sky = own.then(|| surroundings.applied_to(&self.environment(world).sky));
        (sky, shading)
    }

    /// Reads the environments of a level's volumes, and of its nested levels. One that cannot be
    /// read is reported, and its volume changes nothing.
    pub fn load_level_shading(&mut self, assets: &mut Assets, level: LevelId) {
        for level in self.levels.with_nested(level) {
            let resource = self.levels.of(level).resource.clone();
            for volume in &resource.shading {
                doing!("When loading the environment of a volume in level:", &resource.name);
                let read = self.shading.resource(&mut assets.store, &volume.environment);
                if let Err(error) = read {
                    log::error(&error.to_string());
                }
            }
        }
    }
}

impl Assets {
    /// Returns the textures of a view. One that cannot be read is reported once, and left out.
    pub(super) fn textures_of_view(&mut self, names: &ShadingTextures) -> EnvironmentTextures {
        let mut slot = |name: &Option<Arc<str>>| {
            let name = name.as_deref()?;
            let found = self.find_drawable_texture(name);
            let slot = found.and_then(|number| self.textures.slot(&mut self.store, number));
            if let Err(error) = &slot {
                log::warn(&format!("texture of a shading environment, '{name}'"), &error.message);
            }
            slot.ok()
        };
        let [color_table, sky] = names;
        EnvironmentTextures { color_table: slot(color_table), sky: slot(sky) }
    }
}

impl Engine {
    /// Reads changed shading environments again.
    pub fn reload_shading(&mut self, changed: &ChangedResources) {
        for resource in changed.of(ReloadStep::ShadingEnvironments) {
            let store = &mut self.assets.store;
            if !store.has(resource) {
                continue;
            }
            if let Err(error) = self.worlds.shading.reload(store, &resource.name) {
                log::error(&error.to_string());
            }
        }
    }
}
