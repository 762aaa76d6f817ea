//! Description of animations, of the clips of models and of state machines for `engine explain`.

use super::{Args, compiled_data};
use engine_animation::{AnimationData, read_clip, read_state_machine};
use engine_app::resource_kinds::KINDS;
use engine_foundation::{Error, error, suggest};
use engine_models::data::{ClipData, ModelData};
use engine_resource::index::ResourceIndex;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::{ResourceName, SourceName};
use engine_resource::variant::VariantPreferences;

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
        text += &describe_clip(name, clip)?;
    }
    Ok(text)
}

fn describe_clip(model: &str, clip: &ClipData) -> Result<String, Error> {
    let described = read_clip(&clip.bytes)?.describe();
    Ok(format!("clip {model}#{}\n{described}", clip.name))
}

/// Returns the description of the clip of a model that the command line names, `models/orc#Walk`;
/// `None` if it names something else.
///
/// # Errors
/// Returns an error that suggests a similar name if the model has no such clip.
pub fn of_clip(
    index: &ResourceIndex,
    args: &Args,
    chosen: (&str, &VariantPreferences),
) -> Result<Option<String>, Error> {
    let is_resource = index.entries.iter().any(|entry| entry.resource.name == args.resource);
    let Some((model, name)) = args.resource.split_once('#').filter(|_| !is_resource) else {
        return Ok(None);
    };
    let of_file = SourceName::of(model, &KINDS).and_then(Result::ok).map(|file| file.resource);
    let names = [Some(ResourceName::new(kind_names::MODEL, model)), of_file].into_iter().flatten();
    let mut models = names.filter(|it| it.kind == kind_names::MODEL);
    let Some(resource) = models.find(|it| !index.variants(it).is_empty()) else { return Ok(None) };
    let data = ModelData::read(&compiled_data(index, &resource, args, chosen)?)?;
    let Some(clip) = data.clips.iter().find(|clip| clip.name == name) else {
        let hint = suggest::hint(name, data.clips.iter().map(|clip| clip.name.as_str()));
        return Err(error!("the model '{}' has no animation '{name}'{hint}", resource.name));
    };
    describe_clip(&resource.name, clip).map(Some)
}

/// Returns the description of a state machine from its compiled form.
pub fn of_state_machine(name: &str, bytes: &[u8]) -> Result<String, Error> {
    Ok(read_state_machine(bytes)?.describe(name))
}
