//! Shading environments of views: what a view shows follows from its world's surroundings, its
//! environment, and the volumes of levels around its camera.

use super::{Assets, Engine, Worlds};
use engine_foundation::{Vec3, doing, log};
use engine_frame_packet::scene::SkyFrame;
use engine_frame_packet::shading_environment::{ShadingEnvironment, SurroundingsValues};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_world::WorldId;
use engine_world::level::LevelId;
use engine_world::shading::{ShadingEnvironmentId, blend_volumes};

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
    ) -> (Option<SkyFrame>, ShadingEnvironment) {
        let of_world = self.world_shading(world);
        let environment = environment.or_else(|| self.shading.applied(world));
        let mut values = of_world;
        if let Some(environment) = environment {
            values = self.shading.resolve(environment, &of_world);
        }
        blend_volumes(&self.levels, &self.shading, world, position, &mut values);
        let own = values.surroundings != of_world.surroundings;
        let sky = own.then(|| values.surroundings.applied_to(&self.environment(world).sky));
        (sky, values)
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
