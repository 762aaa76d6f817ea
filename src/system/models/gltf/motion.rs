//! Skins and animations of a glTF file: read and checked, and kept for the animation of units.

use super::accessor::Source;
use super::nodes::{Ordered, place_of, turned, turned_matrix, turned_rotation, turned_scale};
use crate::error;
use crate::foundation::Error;
use crate::system::models::check::JOINTS_MAX;
use crate::system::models::data::{Between, ChannelData, ClipData, ModelData, SkinData, Track};
use crate::system::models::names::Names;
use gltf::json::accessor::Type;
use gltf::json::animation::{Animation, Channel, Interpolation, Property};
use gltf::json::validation::Checked;

/// Reads the skins; joints outside of the scene make a skin useless.
pub fn skins(source: &Source, ordered: &Ordered) -> Result<Vec<SkinData>, Error> {
    let mut names = Names::default();
    let mut made = Vec::new();
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
            let place = place_of(ordered, joint.value(), &format!("skin '{name}'"))?;
            joints.push(place.ok_or_else(|| {
                error!("skin '{name}' has joints that are not in the scene: export it whole")
            })?);
        }
        let inverse_bind = match skin.inverse_bind_matrices {
            None => Vec::new(),
            Some(index) => {
                let what = "inverse bind matrices";
                let matrices = source.floats::<16>(index.value(), what, Type::Mat4)?;
                if matrices.len() < joints.len() {
                    return Err(error!(
                        "skin '{name}' has {} joints and {} matrices for them",
                        joints.len(),
                        matrices.len()
                    ));
                }
                matrices.iter().take(joints.len()).map(turned_matrix).collect()
            }
        };
        made.push(SkinData { name, joints, inverse_bind });
    }
    Ok(made)
}

/// Reads the animations. Channels of nodes outside of the scene are left out.
pub fn clips(
    source: &Source,
    ordered: &Ordered,
    model: &ModelData,
) -> Result<Vec<ClipData>, Error> {
    let mut names = Names::default();
    let mut made = Vec::new();
    for (index, animation) in source.root.animations.iter().enumerate() {
        let name = names.add(animation.name.as_deref(), "animation", index);
        let mut channels = Vec::new();
        for (number, channel) in animation.channels.iter().enumerate() {
            let read = one(source, ordered, model, (animation, channel)).map_err(|fault| {
                error!("animation '{name}', channel {number}: {}", fault.message)
            })?;
            channels.extend(read);
        }
        made.push(ClipData { name, channels });
    }
    Ok(made)
}

fn one(
    source: &Source,
    ordered: &Ordered,
    model: &ModelData,
    (animation, channel): (&Animation, &Channel),
) -> Result<Option<ChannelData>, Error> {
    let sampler = animation.samplers.get(channel.sampler.value());
    let sampler = sampler.ok_or_else(|| error!("it names a sampler that is not there"))?;
    let Some(node) = place_of(ordered, channel.target.node.value(), "it")? else {
        return Ok(None);
    };
    let (Checked::Valid(property), Checked::Valid(between)) =
        (channel.target.path, sampler.interpolation)
    else {
        return Err(error!("it moves what glTF does not know"));
    };
    let between = match between {
        Interpolation::Linear => Between::Linear,
        Interpolation::Step => Between::Step,
        Interpolation::CubicSpline => Between::Cubic,
    };
    let times = source.floats::<1>(sampler.input.value(), "times", Type::Scalar)?;
    let times: Vec<f32> = times.into_iter().map(|[time]| time).collect();
    if times.windows(2).any(|two| two[1] < two[0]) {
        return Err(error!("its times do not rise"));
    }
    let output = sampler.output.value();
    let (track, values, width) = match property {
        Property::Translation => {
            let moved = source.floats::<3>(output, "positions", Type::Vec3)?;
            (Track::Position, flat(moved.into_iter().map(turned)), 3)
        }
        Property::Rotation => {
            let turns = source.floats::<4>(output, "rotations", Type::Vec4)?;
            (Track::Rotation, flat(turns.into_iter().map(turned_rotation)), 4)
        }
        Property::Scale => {
            let sizes = source.floats::<3>(output, "scales", Type::Vec3)?;
            (Track::Scale, flat(sizes.into_iter().map(turned_scale)), 3)
        }
        Property::MorphTargetWeights => {
            let mesh = model.nodes[node as usize].mesh;
            let targets = mesh.and_then(|mesh| model.meshes.get(mesh as usize));
            let weights = source.floats::<1>(output, "weights", Type::Scalar)?;
            (Track::Weights, flat(weights.into_iter()), targets.map_or(0, |m| m.targets.len()))
        }
    };
    let wanted = times.len() * width * if between == Between::Cubic { 3 } else { 1 };
    if values.len() != wanted {
        return Err(error!(
            "it has {} times, for which {wanted} numbers should be there, and {} are",
            times.len(),
            values.len()
        ));
    }
    Ok(Some(ChannelData { node, track, between, times, values }))
}

fn flat<const N: usize>(all: impl Iterator<Item = [f32; N]>) -> Vec<f32> {
    all.flatten().collect()
}
