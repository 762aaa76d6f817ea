//! Templates of units: the settings of all components of a unit resource, which every spawn copies.
//! Components list the resources that they refer to. The engine resolves the list once for each
//! unit resource, and the resolved resources are then stored in the template.

use super::agent_component::AgentComponent;
use super::animation::{AnimatedModel, AnimationComponent, BoundMachine};
use super::camera_component::CameraComponent;
use super::component_fields::text;
use super::component_table::{COMPONENTS, Component, Components};
use super::decal::DecalComponent;
use super::light::LightComponent;
use super::light_occluder::OccluderComponent;
use super::mesh::MeshComponent;
use super::particles_component::ParticlesComponent;
use super::physics::PhysicsTemplate;
use super::sound_component::SoundComponent;
use super::sprite::{SequenceNumber, SpriteComponent};
use super::sprite_skeleton::{SkeletonComponent, SpriteRig};
use super::tilemap_component::TilemapComponent;
use super::unit_resource::{ComponentSource, UnitResource};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::{Error, Handle};
use engine_models::MeshNumber;
use engine_textures::TextureNumber;
use std::sync::Arc;

/// Components of a unit, ready to be copied by a spawn.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UnitTemplate {
    pub meshes: Vec<MeshComponent>,
    pub lights: Vec<LightComponent>,
    pub occluders: Vec<OccluderComponent>,
    pub decals: Vec<DecalComponent>,
    pub cameras: Vec<CameraComponent>,
    pub sprites: Vec<SpriteComponent>,
    pub maps: Vec<TilemapComponent>,
    pub effects: Vec<ParticlesComponent>,
    pub sounds: Vec<SoundComponent>,
    /// `None` without a component `agent`.
    pub agent: Option<AgentComponent>,
    /// `None` without a component `skeleton`.
    pub skeleton: Option<SkeletonComponent>,
    /// `None` without a component `animation`.
    pub animation: Option<AnimationComponent>,
    /// Physics objects; `None` without a component `physics`.
    pub physics: Option<Arc<PhysicsTemplate>>,
    /// Names of the visibility groups, by number.
    pub groups: Vec<String>,
}

/// A resource that a component refers to.
#[derive(Clone, PartialEq, Debug)]
pub enum ResourceReference {
    /// A mesh of a model. Without a name, the model's only mesh.
    Mesh { model: String, mesh: Option<String> },
    /// The skeleton, clips and skins of a model.
    Animation(String),
    /// The pictures of a two-dimensional model.
    Skeleton(String),
    /// A state machine, for the clips of a model.
    StateMachine { machine: String, model: String },
    /// A clip for characters with a model, of the model or of another file.
    Clip { model: String, clip: String },
    /// A skin of a model.
    Skin { model: String, skin: String },
    /// A material for meshes.
    MeshMaterial(String),
    /// A material for sprites and tile maps.
    PictureMaterial(String),
    /// A texture or a frame of a sheet.
    Texture(String),
    /// The frames of a sheet's tag. Without a tag, all frames.
    Sequence { sheet: String, tag: Option<String> },
    /// A tile map. It must exist, and have the level if one is named.
    Tilemap { map: String, level: Option<String> },
    /// A particle effect.
    Particles(String),
}

/// A resource that the engine has found for a [`ResourceReference`] of the same kind.
#[derive(Clone, PartialEq, Debug)]
pub enum ResolvedResource {
    Mesh {
        mesh: MeshNumber,
        material_slots: usize,
    },
    Animation(Arc<AnimatedModel>),
    Skeleton(Arc<SpriteRig>),
    StateMachine(Arc<BoundMachine>),
    /// A clip, which the model has in its table now.
    Clip,
    /// Index of the skin in its model.
    Skin(u16),
    Material(Handle),
    Texture(TextureNumber),
    Sequence(SequenceNumber),
    Tilemap,
    /// Index of the effect among those in use.
    Particles(usize),
}

impl ResolvedResource {
    /// Returns a mesh and its number of material slots. Panics if the resource is of another kind,
    /// like the functions below.
    pub fn mesh(&self) -> (MeshNumber, usize) {
        match self {
            ResolvedResource::Mesh { mesh, material_slots } => (*mesh, *material_slots),
            other => panic!("a mesh was resolved as {other:?}"),
        }
    }

    pub fn animation(&self) -> Arc<AnimatedModel> {
        match self {
            ResolvedResource::Animation(model) => model.clone(),
            other => panic!("the animation of a model was resolved as {other:?}"),
        }
    }

    pub fn skeleton(&self) -> Arc<SpriteRig> {
        match self {
            ResolvedResource::Skeleton(rig) => rig.clone(),
            other => panic!("the pictures of a model were resolved as {other:?}"),
        }
    }

    pub fn state_machine(&self) -> Arc<BoundMachine> {
        match self {
            ResolvedResource::StateMachine(machine) => machine.clone(),
            other => panic!("a state machine was resolved as {other:?}"),
        }
    }

    pub fn skin(&self) -> u16 {
        match self {
            ResolvedResource::Skin(index) => *index,
            other => panic!("a skin was resolved as {other:?}"),
        }
    }

    pub fn material(&self) -> Handle {
        match self {
            ResolvedResource::Material(material) => *material,
            other => panic!("a material was resolved as {other:?}"),
        }
    }

    pub fn texture(&self) -> TextureNumber {
        match self {
            ResolvedResource::Texture(texture) => *texture,
            other => panic!("a texture was resolved as {other:?}"),
        }
    }

    pub fn particles(&self) -> usize {
        match self {
            ResolvedResource::Particles(index) => *index,
            other => panic!("an effect was resolved as {other:?}"),
        }
    }

    pub fn sequence(&self) -> SequenceNumber {
        match self {
            ResolvedResource::Sequence(sequence) => *sequence,
            other => panic!("a sequence was resolved as {other:?}"),
        }
    }
}

/// A reference of a component, and where the resolved resource is stored.
pub struct ComponentReference {
    /// Name of the component in the unit.
    component: String,
    pub resource: ResourceReference,
    /// Index of the component's entry in its list of the template.
    entry: usize,
    set: fn(&mut UnitTemplate, usize, &ResolvedResource),
}

impl ComponentReference {
    /// Adds the name of the component to the error of a resource that cannot be resolved.
    pub fn in_component(&self, error: Error) -> Error {
        in_component(&self.component, error)
    }
}

/// A template while its components are read.
#[derive(Default)]
pub struct TemplateBuilder {
    pub template: UnitTemplate,
    references: Vec<ComponentReference>,
    /// Name of the component that is being read.
    component: String,
    /// Model of the first mesh of the unit, for messages.
    pub mesh_model: Option<String>,
}

impl TemplateBuilder {
    /// Lists a resource. When it is resolved, `set` stores it in the component's entry with that
    /// index.
    pub fn refer(
        &mut self,
        entry: usize,
        resource: ResourceReference,
        set: fn(&mut UnitTemplate, usize, &ResolvedResource),
    ) {
        let component = self.component.clone();
        self.references.push(ComponentReference { component, resource, entry, set });
    }

    /// Reads the components of a unit that are in a table, up to the first error.
    ///
    /// # Errors
    /// Returns the first error, with the name of the component.
    pub fn read(&mut self, unit: &UnitResource, table: &Components) -> Result<(), Error> {
        let mut meshes = unit.parts.iter().filter(|part| part.component == "mesh");
        let model = meshes.find_map(|part| text(&part.fields, "model"));
        self.mesh_model = model.map(str::to_string);
        let mut parts: Vec<(u16, &ComponentSource, &Component)> = Vec::new();
        for part in &unit.parts {
            let Some(component) = table.by_name(&part.component) else { continue };
            let node = text(&part.fields, "node").map_or(Some(0), |node| unit.node(node));
            let node = node.ok_or_else(|| error!("component '{}' has no node", part.name))?;
            parts.push((node as u16, part, component));
        }
        parts.sort_compact_by_key(
            |(node, _, component)| if component.in_node_order { *node } else { 0 },
        );
        for (node, part, component) in parts {
            self.component.clone_from(&part.name);
            let read = (component.read)(part, node, self);
            read.map_err(|error| in_component(&part.name, error))?;
        }
        Ok(())
    }
}

/// Adds the name of the component to the message of an error.
fn in_component(name: &str, error: Error) -> Error {
    Error { message: format!("component '{name}': {}", error.message), ..error }
}

/// A unit resource whose references are not resolved.
pub struct UnresolvedUnit {
    unit: UnitResource,
    /// Resources to be resolved, in this order.
    pub references: Vec<ComponentReference>,
    /// First error of the components. An error of a reference that is listed is reported instead,
    /// because it was read before the error.
    read_result: Result<(), Error>,
}

impl UnresolvedUnit {
    /// Reads the components of a unit.
    pub fn read(unit: UnitResource) -> UnresolvedUnit {
        let mut builder = TemplateBuilder::default();
        let read_result = builder.read(&unit, &COMPONENTS);
        let TemplateBuilder { template, references, .. } = builder;
        UnresolvedUnit { unit: UnitResource { template, ..unit }, references, read_result }
    }

    /// Returns the unit without resolved resources, for its nodes and physics alone.
    ///
    /// # Errors
    /// Returns the first error of the components.
    pub fn without_references(self) -> Result<UnitResource, Error> {
        self.read_result.map(|()| self.unit)
    }

    /// Stores the resolved resources in the template, and returns the unit. They are in the order
    /// of the references.
    ///
    /// # Errors
    /// Returns the first error of the components.
    pub fn finish(mut self, resolved: &[ResolvedResource]) -> Result<UnitResource, Error> {
        self.read_result?;
        assert_eq!(self.references.len(), resolved.len(), "each reference is resolved once");
        for (reference, resolved) in self.references.iter().zip(resolved) {
            (reference.set)(&mut self.unit.template, reference.entry, resolved);
        }
        Ok(self.unit)
    }
}
