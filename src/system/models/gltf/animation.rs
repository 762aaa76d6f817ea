//! Skins and animations of a glTF file, checked and kept for the animation of units.

use super::accessor::GltfSource;
use super::nodes::{
    NodeOrder, matrix_to_z_up, model_index, rotation_to_z_up, scale_to_z_up, to_z_up,
};
use crate::data::{
    AnimationChannel, AnimationData, ChannelTarget, KeyInterpolation, ModelData, SkinData,
};
use crate::unique_names::UniqueNames;
use crate::validate::JOINTS_MAX;
use engine_foundation::Error;
use engine_foundation::error;
use gltf::json::accessor::Type;
use gltf::json::animation::{Animation, Channel, Interpolation, Property};
use gltf::json::validation::Checked;

/// Reads the skins. A skin with joints outside of the scene is an error.
pub fn skins(source: &GltfSource, ordered: &NodeOrder) -> Result<Vec<SkinData>, Error> {
    let mut names = UniqueNames::default();
    let mut skins = Vec::new();
    for (index, skin) in source.root.skins.iter().enumerate() {
        let name = names.add(skin.name.as_deref(), "skin", index);
        if skin.joints.len() > JOINTS_MAX {
            return Err(error!(
                "skin '{name}' has {} joints, and {JOINTS_MAX} is the most (JOINTS_MAX)",
                skin.joints.len()
            ));
        }
        let mut joints = Vec::new();
        for joint in &skin.joints {
            let joint_index = model_index(ordered, joint.value(), &format!("skin '{name}'"))?;
            joints.push(joint_index.ok_or_else(|| {
                error!("skin '{name}' has joints that are not in the scene: export it whole")
            })?);
        }
        let inverse_bind = match skin.inverse_bind_matrices {
            None => Vec::new(),
            Some(index) => {
                let label = "inverse bind matrices";
                let matrices = source.floats::<16>(index.value(), label, Type::Mat4)?;
                if matrices.len() < joints.len() {
                    return Err(error!(
                        "skin '{name}' has {} joints and {} matrices for them",
                        joints.len(),
                        matrices.len()
                    ));
                }
                matrices.iter().take(joints.len()).map(matrix_to_z_up).collect()
            }
        };
        skins.push(SkinData { name, joints, inverse_bind });
    }
    Ok(skins)
}

/// Reads the animations. Channels of nodes outside of the scene are left out.
pub fn clips(
    source: &GltfSource,
    ordered: &NodeOrder,
    model: &ModelData,
) -> Result<Vec<AnimationData>, Error> {
    let mut names = UniqueNames::default();
    let mut clips = Vec::new();
    for (index, animation) in source.root.animations.iter().enumerate() {
        let name = names.add(animation.name.as_deref(), "animation", index);
        let mut channels = Vec::new();
        for (number, channel) in animation.channels.iter().enumerate() {
            let read = one(source, ordered, model, (animation, channel)).map_err(|fault| {
                error!("animation '{name}', channel {number}: {}", fault.message)
            })?;
            channels.extend(read);
        }
        clips.push(AnimationData { name, channels });
    }
    Ok(clips)
}

fn one(
    source: &GltfSource,
    ordered: &NodeOrder,
    model: &ModelData,
    (animation, channel): (&Animation, &Channel),
) -> Result<Option<AnimationChannel>, Error> {
    let sampler = animation.samplers.get(channel.sampler.value());
    let sampler = sampler.ok_or_else(|| error!("it names a sampler that does not exist"))?;
    let Some(node) = model_index(ordered, channel.target.node.value(), "it")? else {
        return Ok(None);
    };
    let (Checked::Valid(property), Checked::Valid(between)) =
        (channel.target.path, sampler.interpolation)
    else {
        return Err(error!("it animates a property that glTF does not know"));
    };
    let between = match between {
        Interpolation::Linear => KeyInterpolation::Linear,
        Interpolation::Step => KeyInterpolation::Step,
        Interpolation::CubicSpline => KeyInterpolation::Cubic,
    };
    let times = source.floats::<1>(sampler.input.value(), "times", Type::Scalar)?;
    let times: Vec<f32> = times.into_iter().map(|[time]| time).collect();
    if times.windows(2).any(|two| two[1] < two[0]) {
        return Err(error!("its times do not ascend"));
    }
    let output = sampler.output.value();
    let (track, values, width) = match property {
        Property::Translation => {
            let moved = source.floats::<3>(output, "positions", Type::Vec3)?;
            (ChannelTarget::Position, flat(moved.into_iter().map(to_z_up)), 3)
        }
        Property::Rotation => {
            let turns = source.floats::<4>(output, "rotations", Type::Vec4)?;
            (ChannelTarget::Rotation, flat(turns.into_iter().map(rotation_to_z_up)), 4)
        }
        Property::Scale => {
            let sizes = source.floats::<3>(output, "scales", Type::Vec3)?;
            (ChannelTarget::Scale, flat(sizes.into_iter().map(scale_to_z_up)), 3)
        }
        Property::MorphTargetWeights => {
            let mesh = model.nodes[node as usize].mesh;
            let targets = mesh.and_then(|mesh| model.meshes.get(mesh as usize));
            let weights = source.floats::<1>(output, "weights", Type::Scalar)?;
            (
                ChannelTarget::Weights,
                flat(weights.into_iter()),
                targets.map_or(0, |m| m.targets.len()),
            )
        }
    };
    let wanted = times.len() * width * if between == KeyInterpolation::Cubic { 3 } else { 1 };
    if values.len() != wanted {
        return Err(error!(
            "it has {} times, which need {wanted} numbers, and {} exist",
            times.len(),
            values.len()
        ));
    }
    Ok(Some(AnimationChannel { node, track, between, times, values }))
}

fn flat<const N: usize>(all: impl Iterator<Item = [f32; N]>) -> Vec<f32> {
    all.flatten().collect()
}
