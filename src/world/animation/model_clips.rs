//! Conversion of a model's nodes and animations for the system of animation: the skeleton of a
//! model, and its clips. A skeleton has a bone for each node of the model, in the same order. The
//! morph targets of all nodes have one numbering, node by node.

use engine_animation::{
    BONES_MAX, BoneTransform, ClipSettings, MORPH_TARGETS_MAX, Skeleton, SourceClip,
    SourceInterpolation, SourceTrack, TrackProperty, compile,
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

/// Morph targets of a node's mesh, in the numbering of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MorphRange {
    /// Node with the mesh, which is also the number of its bone.
    pub node: u16,
    /// Index of the mesh in the model.
    pub mesh: u32,
    /// Number of the first target, and the number of targets.
    pub first: u16,
    pub count: u16,
}

/// Returns the morph targets of a model, in the order of its nodes. Targets beyond
/// [`MORPH_TARGETS_MAX`] are left out.
pub fn morph_ranges(model: &ModelData) -> Vec<MorphRange> {
    let mut ranges: Vec<MorphRange> = Vec::new();
    let mut first = 0;
    for (node, it) in model.nodes.iter().enumerate().take(BONES_MAX) {
        let Some(mesh) = it.mesh else { continue };
        let count = model.meshes.get(mesh as usize).map_or(0, |mesh| mesh.targets.len());
        if count > 0 && first + count <= MORPH_TARGETS_MAX {
            let (node, count) = (node as u16, count as u16);
            ranges.push(MorphRange { node, mesh, first: first as u16, count });
            first += usize::from(count);
        }
    }
    ranges
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
    model.warnings.extend(scale_warning(&skeleton));
    let morphs = morph_ranges(model);
    for animation in animations {
        let source = source_clip(&animation, &morphs);
        let compiled = compile(&source, &skeleton, &ClipSettings::DEFAULT)
            .map_err(|error| error!("animation '{}': {}", animation.name, error.message))?;
        let bytes = compiled.clip.write();
        let warning = compiled.warning.map(|text| format!("clip '{}': {text}", animation.name));
        model.warnings.extend(warning);
        model.clips.push(ClipData { name: animation.name, bytes });
    }
    Ok(())
}

/// Returns a warning about nodes whose scale is 0 in the pose of the model.
fn scale_warning(skeleton: &Skeleton) -> Option<String> {
    let is_flat = |rest: &BoneTransform| rest.scale.abs().min_element() == 0.0;
    let flat = skeleton.rest().iter().zip(skeleton.names()).filter(|(rest, _)| is_flat(rest));
    let mut names = flat.map(|(_, name)| name);
    let (first, others) = (names.next()?, names.count());
    let others = match others {
        0 => String::new(),
        1 => ", and that of another one".to_string(),
        _ => format!(", and those of {others} others"),
    };
    Some(format!(
        "the scale of node '{first}' is 0{others}: constraints and animations of other models have \
         no effect below it"
    ))
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
pub fn source_clip(animation: &AnimationData, morphs: &[MorphRange]) -> SourceClip {
    let last = animation.channels.iter().filter_map(|channel| channel.times.last().copied());
    let seconds = last.fold(0.0, f32::max);
    let mut known = std::collections::BTreeSet::new();
    let tracks = animation.channels.iter().flat_map(|channel| source_tracks(channel, morphs));
    // The first channel of a property counts; a second one is not valid in glTF.
    let tracks = tracks.filter(|track| known.insert((track.bone, track.property))).collect();
    SourceClip { seconds, tracks }
}

/// Returns the curves of a channel: one, or one for each morph target of its node. None if the
/// channel has no keys, or its morph targets are left out.
fn source_tracks(channel: &AnimationChannel, morphs: &[MorphRange]) -> Vec<SourceTrack> {
    let track = |property, bone, width, parts: std::ops::Range<usize>| {
        source_track(channel, (property, bone), (width, parts))
    };
    let node = channel.node as u16;
    let single = |property, width: usize| track(property, node, width, 0..width);
    match channel.track {
        ChannelTarget::Position => single(TrackProperty::Position, 3).into_iter().collect(),
        ChannelTarget::Rotation => single(TrackProperty::Rotation, 4).into_iter().collect(),
        ChannelTarget::Scale => single(TrackProperty::Scale, 3).into_iter().collect(),
        // Values of slots are animated like weights; their number is that of the channel's node.
        ChannelTarget::Slot => single(TrackProperty::Weight, 1).into_iter().collect(),
        ChannelTarget::Weights => {
            let range = morphs.iter().find(|range| u32::from(range.node) == channel.node);
            let Some(MorphRange { first, count, .. }) = range.copied() else { return Vec::new() };
            let width = usize::from(count);
            let targets = (0..width).filter_map(|target| {
                track(TrackProperty::Weight, first + target as u16, width, target..target + 1)
            });
            targets.collect()
        }
    }
}

/// Returns the curve of some of the numbers of a channel. Of keys at the same time, the last one
/// counts.
fn source_track(
    channel: &AnimationChannel,
    (property, bone): (TrackProperty, u16),
    (width, parts): (usize, std::ops::Range<usize>),
) -> Option<SourceTrack> {
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
            let mut numbers = [0.0; 4];
            numbers[..parts.len()].copy_from_slice(&value[parts.clone()]);
            values.push(numbers);
        }
    }
    (!times.is_empty()).then_some(SourceTrack { bone, property, interpolation, times, values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::animation::AnimatedModel;
    use engine_animation::{ClipPlayer, Pose, model_matrices};
    use engine_models::Model;
    use engine_models::data::ModelNode;

    #[test]
    fn weights_become_a_curve_for_each_morph_target() {
        let weights = AnimationChannel {
            node: 5,
            track: ChannelTarget::Weights,
            between: KeyInterpolation::Linear,
            times: vec![0.0, 2.0],
            values: vec![0.0, 1.0, 0.5, 0.25],
        };
        let animation = AnimationData { name: "smile".to_string(), channels: vec![weights] };
        let range = MorphRange { node: 5, mesh: 0, first: 3, count: 2 };
        let clip = source_clip(&animation, &[range]);
        assert_eq!(clip.seconds, 2.0);
        let read = |index: usize| {
            let track: &SourceTrack = &clip.tracks[index];
            (track.bone, track.property, track.values[0][0], track.values[1][0])
        };
        assert_eq!(read(0), (3, TrackProperty::Weight, 0.0, 0.5));
        assert_eq!(read(1), (4, TrackProperty::Weight, 1.0, 0.25));
        assert!(source_clip(&animation, &[]).tracks.is_empty());
    }

    /// A model of a chain of nodes that turn one another, as an arm with very many joints.
    fn chain(nodes: usize) -> ModelData {
        let node = |index: usize| ModelNode {
            position: [0.0, 0.0, 0.01],
            ..crate::animation::tests::node(
                &format!("n{index}"),
                index.checked_sub(1).map(|parent| parent as u32),
            )
        };
        let turn = |node: usize| AnimationChannel {
            node: node as u32,
            track: ChannelTarget::Rotation,
            between: KeyInterpolation::Linear,
            times: vec![0.0, 1.0],
            values: [Quat::IDENTITY, Quat::from_rotation_x(0.01)]
                .map(|turn| turn.to_array())
                .concat(),
        };
        let channels = (0..nodes).map(turn).collect();
        let animations = vec![AnimationData { name: "bend".to_string(), channels }];
        let nodes = (0..nodes).map(node).collect();
        ModelData { nodes, animations, ..ModelData::default() }
    }

    #[test]
    fn a_model_of_two_thousand_joints_plays() {
        let mut data = chain(BONES_MAX);
        compile_clips(&mut data).unwrap();
        assert!(data.warnings.is_empty() && data.clips.len() == 1, "{:?}", data.warnings);
        let model = Model { name: "worm".to_string(), data, meshes: vec![], materials: vec![] };
        let model = AnimatedModel::read(&model).unwrap();
        let clip = &model.clips[0].clip;
        let mut player = ClipPlayer::new(clip, &model.skeleton);
        player.seek(clip, 0.5);
        let (mut pose, mut matrices) = (Pose::default(), Vec::new());
        player.sample(&model.rest, &mut pose);
        model_matrices(&model.skeleton, &pose, &mut matrices);
        assert_eq!(matrices.len(), BONES_MAX);
        // The joints lie on a circle: each turns by half of 0.01, and is 0.01 long.
        let tip = Vec3::from_array(matrices[BONES_MAX - 1].transform_point([0.0; 3]));
        let radius = 0.01 / (2.0 * 0.0025_f32.sin());
        let angle = 0.005 * (BONES_MAX - 1) as f32;
        let along = 2.0 * radius * (angle / 2.0).sin();
        let first = Vec3::from_array(matrices[0].transform_point([0.0; 3]));
        assert!((tip.distance(first) - along.abs()).abs() < 0.02, "{tip} {along}");
    }

    #[test]
    fn animations_of_more_joints_are_left_out_with_a_warning() {
        let mut data = chain(BONES_MAX + 1);
        compile_clips(&mut data).unwrap();
        assert!(data.clips.is_empty());
        let wanted = "its animations are left out: it has 2049 nodes, and 2048 is the most that \
                      can be animated (BONES_MAX)";
        assert_eq!(data.warnings, [wanted]);
    }

    #[test]
    fn nodes_without_scale_are_named() {
        for (flat, others) in
            [(1, ""), (2, ", and that of another one"), (3, ", and those of 2 others")]
        {
            let mut data = chain(4);
            data.nodes[1..=flat].iter_mut().for_each(|node| node.scale = [1.0, 0.0, 1.0]);
            compile_clips(&mut data).unwrap();
            assert_eq!(data.clips.len(), 1);
            let wanted = format!(
                "the scale of node 'n1' is 0{others}: constraints and animations of other models \
                 have no effect below it"
            );
            assert_eq!(data.warnings, [wanted]);
        }
    }
}
