//! Description of animations, of the clips of models and of state machines for `engine explain`.

use engine_animation::{AnimationData, read_clip, read_state_machine};
use engine_foundation::Error;
use engine_models::data::ModelData;

/// Returns the description of an animation from its compiled form.
pub fn of_animation(name: &str, bytes: &[u8]) -> Result<String, Error> {
    Ok(AnimationData::read(bytes)?.describe(name))
}

/// Returns the description of the clips of a model from its compiled form.
pub fn of_model(name: &str, bytes: &[u8]) -> Result<String, Error> {
    let model = ModelData::read(bytes)?;
    let mut text = model.sprite_skeleton.as_ref().map_or_else(String::new, |sprite_skeleton| {
        let bones: Vec<&str> = model.nodes.iter().map(|node| node.name.as_str()).collect();
        format!("skeleton {name}\n{}", sprite_skeleton.describe(&bones))
    });
    for clip in &model.clips {
        let described = read_clip(&clip.bytes)?.describe();
        text += &format!("clip {name}#{}\n{described}", clip.name);
    }
    Ok(text)
}

/// Returns the description of a state machine from its compiled form.
pub fn of_state_machine(name: &str, bytes: &[u8]) -> Result<String, Error> {
    Ok(read_state_machine(bytes)?.describe(name))
}
