//! The text of `engine explain` about a state machine and its model, without a run of the game.

use engine_foundation::Error;
use engine_foundation::error::messages;
use engine_models::Model;
use engine_models::data::ModelData;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use engine_world::animation::{Animations, ClipFiles};
use std::sync::Arc;

/// Compiled models and animations, for a state machine.
struct CompiledClips(ResourceStore);

impl ClipFiles for CompiledClips {
    fn store(&mut self) -> &mut ResourceStore {
        &mut self.0
    }

    fn model(&mut self, name: &str) -> Result<Arc<Model>, Error> {
        let data = ModelData::read(&self.0.read(&ResourceName::new(kind_names::MODEL, name))?)?;
        let (meshes, materials) = (Vec::new(), Vec::new());
        Ok(Arc::new(Model { name: name.to_string(), data, meshes, materials }))
    }
}

/// Returns the errors of a state machine with the model that its file names, as the check of a game
/// reports them: animations that do not exist, and bones that the model does not have. Empty if
/// there are none.
pub fn errors_with_model(store: ResourceStore, name: &str) -> String {
    let mut files = CompiledClips(store);
    let mut animations = Animations::default();
    let mut model_name = String::new();
    let bound = animations
        .skeleton_of_unused(name, &mut files.0)
        .and_then(|skeleton| {
            model_name = skeleton.unwrap_or_default();
            files.model(&model_name)
        })
        .and_then(|model| animations.model(&model))
        .and_then(|model| animations.machine(name, &model.name, &mut files));
    let Err(error) = bound else { return String::new() };
    let lines = messages(&error.message).into_iter().map(|message| format!("  {message}\n"));
    format!("Errors with the model '{model_name}':\n{}\n", lines.collect::<String>())
}
