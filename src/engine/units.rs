//! Units with their components: reading of unit resources, spawning and destruction. The rows of
//! units are in `engine_world`, and each component is in its own file there.

use super::{Assets, Devices, Engine, Worlds};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, doing, error, log};
use engine_models::Model;
use engine_resource::reload_steps::ChangedResources;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use engine_world::WorldId;
use engine_world::animation::{AnimatedModel, BoundMachine, ClipFiles};
use engine_world::component_table::{COMPONENTS, ComponentHost, ComponentView};
use engine_world::scene_graph::NodePose;
use engine_world::sprite_skeleton::SpriteRig;
use engine_world::unit::UnitId;
use engine_world::unit_resource::{UnitReader, UnitResource};
use engine_world::unit_template::{ResolvedResource, ResourceReference};
use std::sync::Arc;

/// Maximum number of meshes of a model that a message names.
const MESHES_SHOWN: usize = 8;

/// Returns the message for a component `mesh` that does not say which mesh of its model it shows.
fn many_meshes_message(model: &Model) -> String {
    let names = model.data.meshes.iter().map(|mesh| mesh.name.as_str());
    let names: Vec<&str> = names.take(MESHES_SHOWN).collect();
    let more = if model.meshes.len() > names.len() { ", …" } else { "" };
    format!(
        "the model '{0}' has {1} meshes: choose one with mesh = \"{2}\" (it has {3}{more}), or \
         give the unit model = \"{0}\" instead, which shows all of them",
        model.name,
        model.meshes.len(),
        names.first().unwrap_or(&""),
        names.join(", ")
    )
}

/// Returns true if a resource exists and has no error.
fn is_compiled(store: &ResourceStore, kind: &str, name: &str) -> bool {
    let resource = ResourceName::new(kind, name);
    store.has(&resource) && store.failure(&resource).is_none()
}

/// Warns of components that are named like a node of the unit, and are attached to the root.
fn warn_of_node_names(unit: &UnitResource) {
    for part in &unit.parts {
        let is_native = COMPONENTS.by_name(&part.component).is_some();
        let is_at_root = part.fields.get("node").is_none() && part.name != unit.node_names[0];
        if is_native && is_at_root && unit.node_names.contains(&part.name) {
            log::warning(&format!(
                "unit '{0}': the component '{1}' is attached to the root, and there is a node \
                 '{1}': write node = \"{1}\" if it belongs there, or node = \"{2}\"",
                unit.name, part.name, unit.node_names[0]
            ));
        }
    }
}

impl ClipFiles for Assets {
    fn store(&mut self) -> &mut ResourceStore {
        &mut self.store
    }

    fn model(&mut self, name: &str) -> Result<Arc<Model>, Error> {
        Assets::model(self, name)
    }
}

impl Worlds {
    /// Returns the unit resource with that name. It is read on the first request.
    pub fn unit_resource(
        &mut self,
        assets: &mut Assets,
        name: &str,
    ) -> Result<Arc<UnitResource>, Error> {
        if let Some(known) = self.units.resources.get(name) {
            return Ok(known.clone());
        }
        doing!("When reading unit:", name);
        let reader = UnitReader::open(&mut assets.store, name)?;
        let model = reader.model().map(|model| assets.model(model)).transpose()?;
        let unit = reader.finish(model.as_deref())?;
        let mut resolved = Vec::with_capacity(unit.references.len());
        for reference in &unit.references {
            let found = self.resolve(assets, &reference.resource);
            resolved.push(found.map_err(|error| reference.in_component(error))?);
        }
        let resource = Arc::new(unit.finish(&resolved)?);
        warn_of_node_names(&resource);
        self.units.resources.insert(name.to_string(), resource.clone());
        Ok(resource)
    }

    /// Returns a state machine for the clips of a model. It is read on the first request.
    pub fn find_state_machine(
        &mut self,
        assets: &mut Assets,
        name: &str,
        model: &AnimatedModel,
    ) -> Result<Arc<BoundMachine>, Error> {
        let bound = self.animations.machine(name, &model.name, assets)?;
        self.check_event_cues(assets, &bound)?;
        Ok(bound)
    }

    /// Checks a state machine that no character has used, with the model that its file names: its
    /// clips, its bones, and the sounds and effects of its events. Machines and models that do not
    /// exist or were not compiled have errors of their own.
    ///
    /// # Errors
    /// Returns an error that names the file and the line.
    pub fn check_unused_machine(&mut self, assets: &mut Assets, name: &str) -> Result<(), Error> {
        if !is_compiled(&assets.store, kind_names::STATE_MACHINE, name) {
            return Ok(());
        }
        let skeleton = self.animations.skeleton_of_unused(name, &mut assets.store)?;
        let Some(skeleton) = skeleton else { return Ok(()) };
        if !is_compiled(&assets.store, kind_names::MODEL, &skeleton) {
            return Ok(());
        }
        let model = assets.model(&skeleton)?;
        let model = self.animations.model(&model)?;
        self.find_state_machine(assets, name, &model).map(drop)
    }

    /// Returns the index of a clip of a character's model: one of the model, or one of another
    /// file, which is added to the clips of the model on the first request.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn find_clip(
        &mut self,
        assets: &mut Assets,
        model: &Arc<AnimatedModel>,
        name: &str,
    ) -> Result<u16, Error> {
        let clip = self.animations.clip(&model.name, name, assets)?;
        let model = self.animations.current(model);
        self.check_clip_cues(assets, &model, clip)?;
        Ok(clip)
    }

    /// Returns the resource that a component refers to.
    fn resolve(
        &mut self,
        assets: &mut Assets,
        reference: &ResourceReference,
    ) -> Result<ResolvedResource, Error> {
        match reference {
            ResourceReference::Mesh { model, mesh } => {
                let model = assets.model(model)?;
                if let (None, [_, _, ..]) = (mesh, &model.meshes[..]) {
                    return Err(error!("{}", many_meshes_message(&model)));
                }
                let mesh = assets.models.mesh_of(&model, mesh.as_deref())?;
                let material_slots = assets.models.entry(mesh).materials.len();
                Ok(ResolvedResource::Mesh { mesh, material_slots })
            }
            ResourceReference::Animation(model) => {
                let model = assets.model(model)?;
                self.animations.model(&model).map(ResolvedResource::Animation)
            }
            ResourceReference::Skeleton(model) => {
                let model = assets.model(model)?;
                let (textures, store) = (&mut assets.textures, &mut assets.store);
                let rig = SpriteRig::new(&model, |texture| textures.find(store, texture))?;
                Ok(ResolvedResource::Skeleton(Arc::new(rig)))
            }
            ResourceReference::StateMachine { machine, model } => {
                let model = assets.model(model)?;
                let model = self.animations.model(&model)?;
                self.find_state_machine(assets, machine, &model).map(ResolvedResource::StateMachine)
            }
            ResourceReference::Clip { model, clip } => {
                let loaded = assets.model(model)?;
                let model = self.animations.model(&loaded)?;
                self.find_clip(assets, &model, clip).map(|_| ResolvedResource::Clip)
            }
            ResourceReference::Skin { model, skin } => {
                let model = assets.model(model)?;
                let found = model.data.skins.iter().position(|known| known.name == *skin);
                found.map(|index| ResolvedResource::Skin(index as u16)).ok_or_else(|| {
                    let names = model.data.skins.iter().map(|skin| skin.name.as_str());
                    error!("the model '{}' has no skin '{skin}'{}", model.name, hint(skin, names))
                })
            }
            ResourceReference::MeshMaterial(name) => {
                doing!("When applying material:", name);
                assets.find_mesh_material(name).map(|found| ResolvedResource::Material(found.0))
            }
            ResourceReference::PictureMaterial(name) => {
                doing!("When applying material:", name);
                let material = assets.find_material(name)?;
                assets.check_image_material(material)?;
                Ok(ResolvedResource::Material(material.0))
            }
            ResourceReference::Texture(name) => {
                assets.textures.find(&mut assets.store, name).map(ResolvedResource::Texture)
            }
            ResourceReference::Sequence { sheet, tag } => {
                self.sequence(assets, sheet, tag.as_deref()).map(ResolvedResource::Sequence)
            }
            ResourceReference::Tilemap { map, level } => {
                let found = assets.tilemaps.find_map(&mut assets.store, map, level.as_deref());
                found.map(|_| ResolvedResource::Tilemap)
            }
            ResourceReference::Particles(name) => {
                self.find_particles(assets, name).map(ResolvedResource::Particles)
            }
        }
    }
}

impl Engine {
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
        let unit = self.worlds.units.spawn(world, resource, pose)?;
        let spawned = self.spawn_components(world, unit, resource);
        self.worlds.assign_new_scene_textures(&mut self.assets);
        match spawned {
            Ok(()) => {
                self.worlds.create_spawned_agent(world, unit);
                Ok(unit)
            }
            Err(error) => {
                self.end_unit(unit, "");
                Err(error)
            }
        }
    }

    pub(super) fn spawn_components(
        &mut self,
        world: WorldId,
        unit: UnitId,
        resource: &UnitResource,
    ) -> Result<(), Error> {
        // The physics of a world is created for its first unit with the component.
        let template = &resource.template;
        let has_bodies = template.physics.is_some()
            || template.maps.iter().any(|map| map.collision.is_some())
            || template.animation.as_ref().is_some_and(|animation| animation.needs_physics());
        if has_bodies && !self.worlds.world(world).flags.no_physics {
            self.physics_world(world)?;
        }
        COMPONENTS.spawn(&mut self.component_host(), (world, unit), &resource.template)
    }

    /// Destroys a unit with its native components. `location` is the script line.
    pub fn end_unit(&mut self, unit: UnitId, location: &str) {
        self.end_components(unit, location);
        self.worlds.units.destroy(unit, self.frame.index, location);
    }

    /// Destroys the native components of a unit. `location` is the script line.
    pub(super) fn end_components(&mut self, unit: UnitId, location: &str) {
        COMPONENTS.end(&mut self.component_host(), unit, location);
    }

    /// Applies changed resources to the components of units (hot reload).
    pub fn reload_components(&mut self, changed: &ChangedResources) {
        COMPONENTS.reload(&mut self.component_host(), changed);
        self.worlds.assign_new_scene_textures(&mut self.assets);
    }

    /// Returns the parts of the engine that components can change.
    pub(super) fn component_host(&mut self) -> ComponentHost<'_> {
        ComponentHost {
            worlds: &self.worlds.slots,
            units: &mut self.worlds.units,
            physics: &mut self.worlds.physics,
            scenes: &mut self.worlds.scenes,
            cameras: &mut self.worlds.cameras,
            particles: &mut self.worlds.particles,
            voices: &mut self.worlds.voices,
            animations: &mut self.worlds.animations,
            agents: &mut self.worlds.agents,
            walkers: &mut self.worlds.navigation.agents,
            sounds: &mut self.devices.sounds,
            models: &mut self.assets.models,
            textures: &mut self.assets.textures,
            tilemaps: &mut self.assets.tilemaps,
            store: &mut self.assets.store,
            tasks: &self.devices.tasks,
            frame: self.frame.index,
        }
    }
}

impl Worlds {
    /// Returns the description of a unit's components, as lines of text.
    pub fn inspect_components(
        &mut self,
        assets: &Assets,
        devices: &Devices,
        unit: UnitId,
    ) -> Vec<String> {
        // Cameras take the poses of their nodes when they are used.
        for camera in self.scenes.cameras.of_unit(unit.row()).to_vec() {
            self.follow(camera);
        }
        COMPONENTS.inspect(&self.component_view(assets, devices), unit)
    }

    /// Returns the parts of the engine that the state and the text of components are read from.
    pub(super) fn component_view<'a>(
        &'a self,
        assets: &'a Assets,
        devices: &'a Devices,
    ) -> ComponentView<'a> {
        ComponentView {
            physics: &self.physics,
            scenes: &self.scenes,
            cameras: &self.cameras,
            particles: &self.particles,
            voices: &self.voices,
            animations: &self.animations,
            agents: &self.agents,
            walkers: &self.navigation.agents,
            sounds: &devices.sounds,
            models: &assets.models,
            materials: &assets.materials,
            textures: &assets.textures,
            tilemaps: &assets.tilemaps,
        }
    }
}
