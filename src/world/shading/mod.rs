//! Shading environments: values of sky, fog, exposure and post effects that scripts, resources and
//! volumes of levels override. Stores and resolves values; drawing is the renderer's.

mod resource;
mod volumes;

pub use resource::{SHADING_ENVIRONMENT, range_of};
pub use volumes::{ShadingVolume, blend_volumes, check_volume};

use super::WorldId;
use super::level::{LevelInstance, Levels};
use engine_foundation::{Error, Handle, HandleKind, Slots, error};
use engine_frame_packet::shading_environment::{FLOATS_MAX, ShadingEnvironment};
use engine_resource::store::ResourceStore;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of shading environments of all worlds.
pub const SHADING_ENVIRONMENTS_MAX: usize = 1024;
/// Maximum number of resources that one environment blends.
pub const BLENDED_MAX: usize = 32;
/// Maximum weight of a resource.
pub const WEIGHT_MAX: f64 = 1e6;

/// Handle of a shading environment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShadingEnvironmentId(pub Handle);

/// The names of an environment's textures.
pub const TEXTURES: [&str; 2] = ["color_table", "sky_texture"];
/// Names of textures, in the order of [`TEXTURES`].
pub type ShadingTextures = [Option<Arc<str>>; TEXTURES.len()];

/// The values and textures of a view.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ResolvedShading {
    pub values: ShadingEnvironment,
    pub textures: ShadingTextures,
}

impl ResolvedShading {
    /// Moves towards another environment, as [`ShadingEnvironment::blend`]. Textures change at a
    /// weight of one half.
    fn blend(&mut self, other: &ResolvedShading, weight: f32) {
        self.values.blend(&other.values, weight);
        if weight >= 0.5 {
            self.textures.clone_from(&other.textures);
        }
    }
}

/// Values that replace those of another environment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShadingOverrides {
    values: ShadingEnvironment,
    /// Textures that are replaced.
    pub textures: ShadingTextures,
    /// A bit for each float: true if it is replaced.
    is_set: [u64; FLOATS_MAX / 64],
}

impl ShadingOverrides {
    /// Returns true if the float with that index is replaced.
    pub fn has(&self, index: usize) -> bool {
        self.is_set[index / 64] >> (index % 64) & 1 != 0
    }

    /// Replaces floats from an index on.
    pub fn set(&mut self, first: usize, floats: &[f32]) {
        self.values.floats_mut()[first..][..floats.len()].copy_from_slice(floats);
        for index in first..first + floats.len() {
            self.is_set[index / 64] |= 1 << (index % 64);
        }
    }

    /// Writes the replaced values and textures to an environment.
    pub fn apply(&self, environment: &mut ResolvedShading) {
        for (texture, own) in environment.textures.iter_mut().zip(&self.textures) {
            if own.is_some() {
                texture.clone_from(own);
            }
        }
        let floats = environment.values.floats_mut();
        for (word, bits) in self.is_set.iter().enumerate() {
            let mut left = *bits;
            while left != 0 {
                let index = word * 64 + left.trailing_zeros() as usize;
                floats[index] = self.values.floats()[index];
                left &= left - 1;
            }
        }
    }
}

/// A shading environment of a world. Its values are those of the world, replaced by those of its
/// resources, replaced by those that the game has set.
#[derive(Clone, Debug)]
pub struct ShadingInstance {
    pub world: WorldId,
    /// Names of its resources with their weights. One resource has the weight 1.
    pub resources: Vec<(String, f32)>,
    /// Values that the game has set.
    pub own: ShadingOverrides,
}

/// All shading environments, and the resources that they use.
pub struct ShadingEnvironments {
    pub slots: Slots<ShadingInstance>,
    /// Resources that were read, by name. A changed one is removed, and read again when needed.
    resources: HashMap<String, Arc<ShadingOverrides>>,
    /// By world: the environment of views that name none.
    applied: HashMap<Handle, ShadingEnvironmentId>,
}

impl Default for ShadingEnvironments {
    fn default() -> ShadingEnvironments {
        ShadingEnvironments {
            slots: Slots::new(HandleKind::ShadingEnvironment, SHADING_ENVIRONMENTS_MAX),
            resources: HashMap::new(),
            applied: HashMap::new(),
        }
    }
}

impl ShadingEnvironments {
    /// Creates an environment with the values of its world.
    ///
    /// # Errors
    /// Returns an error if there are [`SHADING_ENVIRONMENTS_MAX`].
    pub fn create(&mut self, world: WorldId) -> Result<ShadingEnvironmentId, Error> {
        let (resources, own) = (Vec::new(), ShadingOverrides::default());
        let added = self.slots.add(ShadingInstance { world, resources, own });
        added.map(ShadingEnvironmentId).ok_or_else(|| {
            error!(
                "{SHADING_ENVIRONMENTS_MAX} shading environments already exist \
                 (SHADING_ENVIRONMENTS_MAX): destroy one first"
            )
        })
    }

    /// Destroys an environment. Views that showed it have the values of their world again.
    pub fn destroy(&mut self, environment: ShadingEnvironmentId, frame: u64, location: &str) {
        self.applied.retain(|_, applied| *applied != environment);
        self.slots.remove(environment.0, "", frame, location);
    }

    /// Destroys the environments of a world.
    pub fn release_world(&mut self, world: WorldId, frame: u64, location: &str) {
        self.applied.remove(&world.0);
        let of_world = self.slots.iter().filter(|(_, it)| it.world == world);
        let ended: Vec<Handle> = of_world.map(|(handle, _)| handle).collect();
        for handle in ended {
            self.slots.remove(handle, "", frame, location);
        }
    }

    /// Returns a living environment.
    pub fn of_mut(&mut self, environment: ShadingEnvironmentId) -> &mut ShadingInstance {
        self.slots.get_mut(environment.0).expect("the handle was checked where it came in")
    }

    /// Sets the environment of views that name none.
    pub fn apply(&mut self, environment: ShadingEnvironmentId) {
        let world = self.of_mut(environment).world;
        self.applied.insert(world.0, environment);
    }

    /// Returns the environment of a world's views that name none.
    pub fn applied(&self, world: WorldId) -> Option<ShadingEnvironmentId> {
        self.applied.get(&world.0).copied()
    }

    /// Returns the values of a resource. They are read on the first request.
    ///
    /// # Errors
    /// Returns an error if the resource is missing or broken.
    pub fn resource(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
    ) -> Result<Arc<ShadingOverrides>, Error> {
        if let Some(known) = self.resources.get(name) {
            return Ok(known.clone());
        }
        let read = Arc::new(resource::read(store, name)?);
        self.resources.insert(name.to_string(), read.clone());
        Ok(read)
    }

    /// Reads a changed resource again, if it was read or a living level names it. If that fails,
    /// its old values stay.
    ///
    /// # Errors
    /// Returns an error if the resource is broken.
    pub fn reload(
        &mut self,
        store: &mut ResourceStore,
        levels: &Levels,
        name: &str,
    ) -> Result<(), Error> {
        let names = |level: &LevelInstance| {
            level.resource.shading.iter().any(|volume| volume.environment == name)
        };
        let is_used = || levels.slots.iter().any(|(_, level)| names(level));
        if self.resources.contains_key(name) || is_used() {
            let read = resource::read(store, name)?;
            self.resources.insert(name.to_string(), Arc::new(read));
        }
        Ok(())
    }

    /// Makes an environment the mean of resources by their weights, which must not all be 0. Values
    /// that a resource omits count as those of the world. Values that the game has set are reset.
    ///
    /// # Errors
    /// Returns an error if a resource is missing or broken, and changes nothing.
    pub fn blend(
        &mut self,
        store: &mut ResourceStore,
        environment: ShadingEnvironmentId,
        resources: Vec<(String, f32)>,
    ) -> Result<(), Error> {
        for (name, _) in &resources {
            self.resource(store, name)?;
        }
        let instance = self.of_mut(environment);
        instance.resources = resources;
        instance.own = ShadingOverrides::default();
        Ok(())
    }

    /// Returns the values of an environment over those of its world.
    pub fn resolve(
        &self,
        environment: ShadingEnvironmentId,
        of_world: &ShadingEnvironment,
    ) -> ResolvedShading {
        let instance = self.slots.get(environment.0).expect("the handle was checked");
        let textures = ShadingTextures::default();
        let base = ResolvedShading { values: *of_world, textures };
        let mut resolved = base.clone();
        let mut sum = 0.0;
        for (name, weight) in &instance.resources {
            let Some(values) = self.resources.get(name) else { continue };
            let mut layer = base.clone();
            values.apply(&mut layer);
            sum += weight;
            if sum > 0.0 {
                // The weighted mean of the layers so far.
                resolved.blend(&layer, weight / sum);
            }
        }
        instance.own.apply(&mut resolved);
        resolved.values.sanitize();
        resolved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> WorldId {
        let mut slots = Slots::new(HandleKind::World, 4);
        WorldId(slots.add(()).expect("there is room"))
    }

    fn with(name: &str, value: f32) -> Arc<ShadingOverrides> {
        let mut overrides = ShadingOverrides::default();
        let (first, _) = ShadingEnvironment::find(name).expect("it exists");
        overrides.set(first, &[value]);
        Arc::new(overrides)
    }

    fn environments() -> (ShadingEnvironments, ShadingEnvironmentId) {
        let mut all = ShadingEnvironments::default();
        all.resources.insert("day".to_string(), with("exposure", 4.0));
        all.resources.insert("night".to_string(), with("exposure", 1.0));
        all.resources.insert("mist".to_string(), with("fog_density", 1.0));
        let environment = all.create(world()).expect("there is room");
        (all, environment)
    }

    #[test]
    fn resources_are_blended_by_their_weights() {
        let (mut all, environment) = environments();
        let names = [("day", 1.0), ("night", 2.0), ("mist", 1.0)];
        let names = names.map(|(name, weight)| (name.to_string(), weight)).to_vec();
        all.of_mut(environment).resources = names;
        let found = all.resolve(environment, &ShadingEnvironment::DEFAULT).values;
        let exposure = found.surroundings.exposure;
        // (4 + 1 + 1 + the world's 1) / 4.
        assert!((exposure - 1.75).abs() < 1e-6, "{exposure}");
        let density = found.sky.fog_density;
        assert!((density - 0.25).abs() < 1e-6, "{density}");
    }

    #[test]
    fn values_of_the_game_replace_those_of_resources() {
        let (mut all, environment) = environments();
        all.of_mut(environment).resources = vec![("day".to_string(), 1.0)];
        let (first, _) = ShadingEnvironment::find("exposure").expect("it exists");
        all.of_mut(environment).own.set(first, &[f32::NAN]);
        let found = all.resolve(environment, &ShadingEnvironment::DEFAULT);
        assert_eq!(found.values.surroundings.exposure, 1.0, "a number that is none is the default");
        all.of_mut(environment).own.set(first, &[7.0]);
        let found = all.resolve(environment, &ShadingEnvironment::DEFAULT);
        assert_eq!(found.values.surroundings.exposure, 7.0);
    }

    #[test]
    fn environments_end_with_their_world() {
        let (mut all, environment) = environments();
        let world = all.of_mut(environment).world;
        all.apply(environment);
        assert_eq!(all.applied(world), Some(environment));
        all.release_world(world, 1, "");
        assert_eq!((all.applied(world), all.slots.get(environment.0).is_some()), (None, false));
    }
}
