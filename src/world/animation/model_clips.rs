//! Conversion of a model's nodes and animations for the system of animation: the skeleton of a
//! model, and its clips. A skeleton has a bone for each node of the model, in the same order.

use engine_animation::{
    BONES_MAX, BoneTransform, ClipSettings, Skeleton, SourceClip, SourceInterpolation, SourceTrack,
    TrackProperty, compile,
};
use engine_foundation::{Error, Quat, Vec3, error};
use engine_models::data::{
    AnimationChannel, AnimationData, ChannelTarget, ClipData, KeyInterpolation, ModelData,
};

/// Returns the skeleton of a model.
///
/// # Errors
/// Returns an error if the model has no nodes, or more than [`BONES_MAX`].
pub fn skeleton_of(model: &ModelData) -> Result<Skeleton, Error> {
    let bone = |node: &engine_models::data::ModelNode| {
        let rest = BoneTransform {
            position: Vec3::from_array(node.position),
            rotation: Quat::from_array(node.rotation),
            scale: Vec3::from_array(node.scale),
        };
        (node.name.clone(), node.parent.map(|parent| parent as u16), rest)
    };
    if model.nodes.len() > BONES_MAX {
        return Err(error!(
            "it has {} nodes, and {BONES_MAX} is the most that can be animated (BONES_MAX)",
            model.nodes.len()
        ));
    }
    Skeleton::new(model.nodes.iter().map(bone).collect())
}

/// Compiles the animations of an imported model. Animations of a model with too many nodes are left
/// out, with a warning of the model.
///
/// # Errors
/// Returns an error that names the animation that cannot be compiled.
pub fn compile_clips(model: &mut ModelData) -> Result<(), Error> {
    let animations = std::mem::take(&mut model.animations);
    if animations.is_empty() {
        return Ok(());
    }
    let skeleton = match skeleton_of(model) {
        Ok(skeleton) => skeleton,
        Err(error) => {
            model.warnings.push(format!("its animations are left out: {}", error.message));
            return Ok(());
        }
    };
    for animation in animations {
        let source = source_clip(&animation);
        let compiled = compile(&source, &skeleton, &ClipSettings::DEFAULT)
            .map_err(|error| error!("animation '{}': {}", animation.name, error.message))?;
        let bytes = compiled.clip.write();
        model.clips.push(ClipData { name: animation.name, bytes });
    }
    Ok(())
}

/// Scales an animation like the nodes at the top of its model.
pub fn scale_animation(animation: &mut AnimationData, is_top: impl Fn(u32) -> bool, scale: f32) {
    for channel in animation.channels.iter_mut().filter(|channel| is_top(channel.node)) {
        if matches!(channel.track, ChannelTarget::Position | ChannelTarget::Scale) {
            channel.values.iter_mut().for_each(|value| *value *= scale);
        }
    }
}

/// Returns the curves of an animation. A clip lasts until the last key.
fn source_clip(animation: &AnimationData) -> SourceClip {
    let last = animation.channels.iter().filter_map(|channel| channel.times.last().copied());
    let seconds = last.fold(0.0, f32::max);
    let mut known = std::collections::BTreeSet::new();
    let tracks = animation.channels.iter().filter_map(source_track);
    // The first channel of a property counts; a second one is not valid in glTF.
    let tracks = tracks.filter(|track| known.insert((track.bone, track.property))).collect();
    SourceClip { seconds, tracks }
}

/// Returns the curve of a channel; `None` for morph targets and for channels without keys. Of keys
/// at the same time, the last one counts.
fn source_track(channel: &AnimationChannel) -> Option<SourceTrack> {
    let (property, width) = match channel.track {
        ChannelTarget::Position => (TrackProperty::Position, 3),
        ChannelTarget::Rotation => (TrackProperty::Rotation, 4),
        ChannelTarget::Scale => (TrackProperty::Scale, 3),
        ChannelTarget::Weights => return None,
    };
    let (interpolation, per_key) = match channel.between {
        KeyInterpolation::Linear => (SourceInterpolation::Linear, 1),
        KeyInterpolation::Step => (SourceInterpolation::Step, 1),
        KeyInterpolation::Cubic => (SourceInterpolation::Cubic, 3),
    };
    let mut times: Vec<f32> = Vec::with_capacity(channel.times.len());
    let mut values: Vec<[f32; 4]> = Vec::with_capacity(channel.times.len() * per_key);
    for (time, key) in channel.times.iter().zip(channel.values.chunks_exact(width * per_key)) {
        if times.last() == Some(time) {
            times.pop();
            values.truncate(values.len() - per_key);
        }
        times.push(*time);
        for value in key.chunks_exact(width) {
            values.push([value[0], value[1], value[2], value.get(3).copied().unwrap_or(0.0)]);
        }
    }
    (!times.is_empty()).then_some(SourceTrack {
        bone: channel.node as u16,
        property,
        interpolation,
        times,
        values,
    })
}
