//! Hot reload of collision shapes that are built from models' meshes. Everything else of an actor
//! stays: its handle, pose, motion, filter, and mass.

use super::actors::Actor;
use super::template::{ActorDesc, ShapeForm};
use super::{ActorId, PhysicsTables, model_shape};
use engine_foundation::{Error, Vec3, log};
use engine_models::Models;
use engine_physics::ColliderShape;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::store::ResourceStore;
use std::sync::Arc;

/// A shape of an actor that is built from a mesh of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelShape {
    /// Index among the actor's shapes.
    index: usize,
    mesh: String,
    hull: bool,
    /// Scale of the actor's node when the actor was created.
    scale: Vec3,
}

/// Returns the shapes of a description that are built from models, or `None` if there are none.
pub(super) fn model_shapes(spec: &ActorDesc, scale: Vec3) -> Option<Arc<[ModelShape]>> {
    let of_model = |(index, form): (usize, &ShapeForm)| match form {
        ShapeForm::Model { mesh, hull } => {
            Some(ModelShape { index, mesh: mesh.clone(), hull: *hull, scale })
        }
        ShapeForm::Collider(_) => None,
    };
    let forms = spec.shapes.iter().map(|shape| &shape.form);
    let shapes: Vec<ModelShape> = forms.enumerate().filter_map(of_model).collect();
    (!shapes.is_empty()).then(|| shapes.into())
}

/// Returns true if a mesh belongs to a model.
fn is_of(mesh: &str, model: &str) -> bool {
    mesh.strip_prefix(model).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Actor {
    /// Returns true if the actor has a shape of that model.
    pub fn has_shape_of(&self, model: &str) -> bool {
        self.model_shapes.iter().flat_map(|all| all.iter()).any(|shape| is_of(&shape.mesh, model))
    }
}

impl PhysicsTables {
    /// Returns the shape of a model's mesh, scaled. It is built on the first request.
    ///
    /// # Errors
    /// Returns an error if the mesh does not exist, or has no valid shape.
    pub(super) fn model_solid(
        &mut self,
        (mesh, hull): (&str, bool),
        scale: Vec3,
        store: &mut ResourceStore,
    ) -> Result<ColliderShape, Error> {
        let key = (mesh.to_string(), hull, scale.to_array().map(f32::to_bits));
        if let Some(known) = self.solids.get(&key) {
            return Ok(known.clone());
        }
        let scaled = model_shape(Models::shape(store, mesh)?, hull).scaled(scale)?.solid(false)?;
        self.solids.insert(key, scaled.clone());
        Ok(scaled)
    }

    /// Builds the shapes of changed models again, and gives them to the existing actors. An actor
    /// whose new shape is invalid keeps the old one, which is logged.
    pub(super) fn reload_shapes(&mut self, store: &mut ResourceStore, changed: &ChangedResources) {
        self.solids.clear();
        let actors = self.actors.iter();
        let with_models = actors.filter_map(|(id, actor)| Some((id, actor.model_shapes.clone()?)));
        for (actor, shapes) in with_models.collect::<Vec<_>>() {
            let models = || changed.of(ReloadStep::CollisionShapes).filter(|name| store.has(name));
            let is_changed = |shape: &&ModelShape| models().any(|it| is_of(&shape.mesh, &it.name));
            let new: Vec<&ModelShape> = shapes.iter().filter(is_changed).collect();
            for shape in new {
                if let Err(error) = self.reload_shape(ActorId(actor), shape, store) {
                    let name = &self.actor(ActorId(actor)).name;
                    log::error(&format!(
                        "the actor '{name}' keeps its old shape, because the new one of \
                         \"{}\" cannot be used: {}",
                        shape.mesh, error.message
                    ));
                }
            }
        }
    }

    fn reload_shape(
        &mut self,
        actor: ActorId,
        shape: &ModelShape,
        store: &mut ResourceStore,
    ) -> Result<(), Error> {
        let solid = self.model_solid((&shape.mesh, shape.hull), shape.scale, store)?;
        let (simulation, body) = self.body_mut(actor);
        let mass = simulation.mass(body);
        simulation.set_shape(body, shape.index, &solid)?;
        if mass > 0.0 {
            // The new volume would change the mass that the file or the game has set.
            simulation.set_mass(body, mass);
            simulation.wake_up(body);
        }
        Ok(())
    }
}
