//! Units with their components: reading of unit resources, spawning and destruction. The rows of
//! units are in `engine_world`, and each component is in its own file there.

use super::Engine;
use super::models::ModelLoader;
use engine_foundation::doing;
use engine_foundation::{Error, Handle};
use engine_models::MeshNumber;
use engine_textures::TextureNumber;
use engine_world::WorldId;
use engine_world::mesh_component::{self, ResourceLookup};
use engine_world::scene_graph::NodePose;
use engine_world::sprite::SequenceNumber;
use engine_world::unit::UnitId;
use engine_world::unit_resource::UnitResource;
use std::sync::Arc;

impl ResourceLookup for Engine {
    fn mesh(&mut self, model: &str, mesh: Option<&str>) -> Result<(MeshNumber, usize), Error> {
        let model = self.model(model)?;
        let number = self.models.mesh_of(&model, mesh)?;
        Ok((number, self.models.entry(number).materials.len()))
    }

    fn material(&mut self, name: &str) -> Result<Handle, Error> {
        let material = self.find_mesh_material(name)?;
        Ok(material.0)
    }

    fn picture_material(&mut self, name: &str) -> Result<Handle, Error> {
        let material = self.find_material(name)?;
        self.check_picture_material(material)?;
        Ok(material.0)
    }

    fn picture(&mut self, name: &str) -> Result<TextureNumber, Error> {
        self.textures.find(&mut self.store, name)
    }

    fn sequence(&mut self, sheet: &str, tag: Option<&str>) -> Result<SequenceNumber, Error> {
        Engine::sequence(self, sheet, tag)
    }

    fn tilemap(&mut self, name: &str, level: Option<&str>) -> Result<(), Error> {
        self.tilemaps.find_map(&mut self.store, name, level).map(|_| ())
    }
}

impl Engine {
    /// Returns the unit resource with that name. It is read on the first request.
    pub fn unit_resource(&mut self, name: &str) -> Result<Arc<UnitResource>, Error> {
        if let Some(known) = self.units.resources.get(name) {
            return Ok(known.clone());
        }
        doing!("When reading unit:", name);
        let Engine { models, materials, textures, store, .. } = self;
        let mut loader = ModelLoader { models, materials, textures };
        let mut resource =
            UnitResource::read(store, name, &mut |store, model| loader.load(store, model))?;
        resource.template = mesh_component::read_render_template(&resource, self)?;
        let resource = Arc::new(resource);
        self.units.resources.insert(name.to_string(), resource.clone());
        Ok(resource)
    }

    /// Spawns a unit with its native components.
    ///
    /// # Errors
    /// Returns an error if there are too many objects, or if a resource that its file names does
    /// not exist.
    pub fn spawn_unit(
        &mut self,
        world: WorldId,
        resource: &Arc<UnitResource>,
        pose: &NodePose,
    ) -> Result<UnitId, Error> {
        let unit = self.units.spawn(world, resource, pose)?;
        let added = self.add_unit_physics(unit);
        match added.and_then(|()| self.spawn_render_template(world, unit, resource)) {
            Ok(()) => Ok(unit),
            Err(error) => {
                self.destroy_render_components(unit, "");
                self.physics.end_unit(unit, self.frame.index, "");
                self.units.destroy(unit, self.frame.index, "");
                Err(error)
            }
        }
    }

    /// Destroys a unit with its native components. `location` is the script line.
    pub fn end_unit(&mut self, unit: UnitId, location: &str) {
        self.physics.end_unit(unit, self.frame.index, location);
        self.destroy_render_components(unit, location);
        self.units.destroy(unit, self.frame.index, location);
    }
}
