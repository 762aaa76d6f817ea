//! Skins and animations of a glTF file, checked and kept for the animation of units.

use super::accessor::GltfSource;
use super::instancing::InstancedMeshes;
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
use std::collections::BTreeSet;

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

/// Reads the animations, and adds them to the model. Channels of nodes outside of the scene are
/// left out, and so are morph targets of nodes that show no mesh of their own.
pub fn add_clips(
    source: &GltfSource,
    instanced: &InstancedMeshes,
    ordered: &NodeOrder,
    model: &mut ModelData,
) -> Result<(), Error> {
    let mut names = UniqueNames::default();
    let mut reader = ChannelReader { source, instanced, ordered, model, left_out: BTreeSet::new() };
    let mut clips = Vec::new();
    for (index, animation) in source.root.animations.iter().enumerate() {
        let name = names.add(animation.name.as_deref(), "animation", index);
        let mut channels = Vec::new();
        for (number, channel) in animation.channels.iter().enumerate() {
            let read = reader.read_channel(animation, channel).map_err(|fault| {
                error!("animation '{name}', channel {number}: {}", fault.message)
            })?;
            channels.extend(read);
        }
        clips.push(AnimationData { name, channels });
    }
    let warning = reader.left_out_message();
    model.animations = clips;
    model.warnings.extend(warning);
    Ok(())
}

/// Reader of the channels of all animations.
struct ChannelReader<'a> {
    source: &'a GltfSource,
    instanced: &'a InstancedMeshes,
    ordered: &'a NodeOrder,
    /// The model without its animations.
    model: &'a ModelData,
    /// Nodes of the model whose morph targets are not animated, because instances have their mesh.
    left_out: BTreeSet<u32>,
}

impl ChannelReader<'_> {
    /// Returns the number of morph targets of a node's mesh in the file. The node of the model has
    /// no mesh if it is hidden, or if its instances have the mesh.
    fn targets(&self, node: usize) -> usize {
        let own = self.source.root.nodes.get(node).and_then(|node| node.mesh);
        let mesh = own.or_else(|| self.instanced.get(&node).copied().flatten());
        let mesh = mesh.and_then(|mesh| self.model.meshes.get(mesh.value()));
        mesh.map_or(0, |mesh| mesh.targets.len())
    }

    fn left_out_message(&self) -> Option<String> {
        let first = &self.model.nodes[*self.left_out.first()? as usize].name;
        let others = match self.left_out.len() - 1 {
            0 => String::new(),
            1 => " and of 1 other".to_string(),
            count => format!(" and of {count} others"),
        };
        Some(format!(
            "the animations of the morph targets of node '{first}'{others} are left out, because \
             the mesh is drawn as instances (EXT_mesh_gpu_instancing)"
        ))
    }

    /// Reads a channel; `None` if it changes nothing that the model shows.
    fn read_channel(
        &mut self,
        animation: &Animation,
        channel: &Channel,
    ) -> Result<Option<AnimationChannel>, Error> {
        let source = self.source;
        let sampler = animation.samplers.get(channel.sampler.value());
        let sampler = sampler.ok_or_else(|| error!("it names a sampler that does not exist"))?;
        let file_node = channel.target.node.value();
        let Some(node) = model_index(self.ordered, file_node, "it")? else {
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
        let (track, values, width) = self.read_values(file_node, property, output)?;
        let wanted = times.len() * width * if between == KeyInterpolation::Cubic { 3 } else { 1 };
        if values.len() != wanted {
            return Err(error!(
                "it has {} times, which need {wanted} numbers, and {} exist",
                times.len(),
                values.len()
            ));
        }
        let shows_mesh = self.model.nodes[node as usize].mesh.is_some();
        if track == ChannelTarget::Weights && !shows_mesh {
            self.left_out.extend(self.instanced.contains_key(&file_node).then_some(node));
            return Ok(None);
        }
        Ok(Some(AnimationChannel { node, track, between, times, values }))
    }

    /// Reads the values of a channel. Returns how they are used, and the numbers of each key.
    fn read_values(
        &self,
        file_node: usize,
        property: Property,
        output: usize,
    ) -> Result<(ChannelTarget, Vec<f32>, usize), Error> {
        let source = self.source;
        Ok(match property {
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
                let weights = source.floats::<1>(output, "weights", Type::Scalar)?;
                (ChannelTarget::Weights, flat(weights.into_iter()), self.targets(file_node))
            }
        })
    }
}

fn flat<const N: usize>(all: impl Iterator<Item = [f32; N]>) -> Vec<f32> {
    all.flatten().collect()
}
