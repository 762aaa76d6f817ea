//! Data of a model that characters share: its skeleton, its clips and its skins.

use super::animation_resource::canonical_name;
use super::clip_stream::ClipStream;
use super::model_clips::skeleton_of;
use super::morph::{MeshMorphs, morphs_of};
use super::slot_values::values_of;
use crate::scene_graph::NodePose;
use engine_animation::{
    BoneTransform, Clip, ClipPlayer, ModelMatrix, Pose, Skeleton, additive_rest, model_matrices,
    read_clip,
};
use engine_foundation::hash::murmur64a;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Vec3, error};
use engine_models::Model;
use engine_models::data::{ModelData, SkinData};
use engine_models::sprite_skeleton::SpriteSkeletonData;
use std::sync::Arc;

/// A model whose nodes can be animated.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimatedModel {
    pub name: String,
    pub skeleton: Skeleton,
    /// Pose of the nodes as in the model.
    pub rest: Pose,
    /// Longest side of the box around the model in that pose, in metres.
    pub extent: f32,
    /// Pose below the clips that are differences.
    pub no_difference: Pose,
    /// Clips of the model, then those of other files that characters use.
    pub clips: Vec<Arc<NamedClip>>,
    pub skins: Vec<Skin>,
    /// Morph targets of the meshes, in the order of their numbers.
    pub morphs: Vec<MeshMorphs>,
    /// Bone of each morph target.
    pub morph_bones: Vec<u16>,
    /// Slots and pictures of a two-dimensional model. Their values are in `morphs`.
    pub sprite_skeleton: Option<Arc<SpriteSkeletonData>>,
}

/// File that a clip is from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClipOrigin {
    /// The model with the skeleton.
    Own,
    /// Another model, by its name.
    Model(String),
    /// An animation of the same name.
    Animation,
}

/// A clip for the skeleton of a model.
#[derive(Clone, Debug)]
pub struct NamedClip {
    /// Name, unique among the clips of the model: `Walk`, `models/orc#Walk`, `animations/walk`.
    pub name: String,
    /// Hash of the name.
    pub hash: u64,
    pub origin: ClipOrigin,
    pub clip: Clip,
    /// Bones with keys, sorted.
    pub bones: Vec<u16>,
    /// Source of the chunks of the clip; `None` if it is not streamed.
    pub stream: Option<Arc<ClipStream>>,
}

impl PartialEq for NamedClip {
    fn eq(&self, other: &NamedClip) -> bool {
        (&self.name, &self.origin, &self.clip) == (&other.name, &other.origin, &other.clip)
    }
}

/// The bones that move the vertices of meshes.
#[derive(Clone, PartialEq, Debug)]
pub struct Skin {
    /// Name, unique in the model.
    pub name: String,
    /// Bone of each joint, and the matrix from the mesh's space into the bone's.
    pub joints: Vec<(u16, ModelMatrix)>,
}

impl NamedClip {
    pub fn new(name: &str, clip: Clip, origin: ClipOrigin) -> NamedClip {
        let (hash, bones) = (murmur64a(name.as_bytes(), 0), clip.animated_bones());
        NamedClip { name: name.to_string(), hash, origin, clip, bones, stream: None }
    }
}

/// Returns the longest side of the box around the joints of all skins and the meshes without skins
/// in a pose; around all bones if there are neither. Cameras, lights and empty nodes have no size.
fn extent_of(skeleton: &Skeleton, pose: &Pose, data: &ModelData) -> f32 {
    let mut matrices = Vec::new();
    model_matrices(skeleton, pose, &mut matrices);
    let position_of = |bone: usize, point: [f32; 3]| {
        matrices.get(bone).map(|matrix| Vec3::from_array(matrix.transform_point(point)))
    };
    let joints = data.skins.iter().flat_map(|skin| &skin.joints);
    let joints = joints.filter_map(|joint| position_of(*joint as usize, [0.0; 3]));
    let meshes = data.nodes.iter().enumerate().filter(|(_, node)| node.skin.is_none());
    let corners =
        meshes.filter_map(|(bone, node)| Some((bone, data.meshes.get(node.mesh? as usize)?)));
    let corners = corners.flat_map(|(bone, mesh)| {
        let sides = [mesh.bounds.min, mesh.bounds.max];
        let corner =
            move |index: usize| [sides[index & 1].x, sides[index >> 1 & 1].y, sides[index >> 2].z];
        (0..8).filter_map(move |index| position_of(bone, corner(index)))
    });
    let mut points: Vec<Vec3> = joints.chain(corners).collect();
    if points.is_empty() {
        points = (0..matrices.len()).filter_map(|bone| position_of(bone, [0.0; 3])).collect();
    }
    let (least, most) =
        points.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(least, most), position| {
            (least.min(*position), most.max(*position))
        });
    (most - least).max_element()
}

impl AnimatedModel {
    /// Reads the skeleton, the clips and the skins of a loaded model.
    ///
    /// # Errors
    /// Returns an error if the model has too many nodes, or a clip is damaged.
    pub fn read(model: &Model) -> Result<AnimatedModel, Error> {
        let in_model = |error: Error| error!("model '{}': {}", model.name, error.message);
        let skeleton = skeleton_of(&model.data).map_err(in_model)?;
        let mut clips = Vec::with_capacity(model.data.clips.len());
        for data in &model.data.clips {
            let clip = read_clip(&data.bytes).map_err(in_model)?;
            if clip.bone_count() != skeleton.bone_count() {
                return Err(error!(
                    "model '{}': clip '{}' has {} bones, and the model has {} nodes",
                    model.name,
                    data.name,
                    clip.bone_count(),
                    skeleton.bone_count()
                ));
            }
            clips.push(Arc::new(NamedClip::new(&data.name, clip, ClipOrigin::Own)));
        }
        let morphs = match &model.data.sprite_skeleton {
            Some(sprite_skeleton) => values_of(sprite_skeleton),
            None => morphs_of(model),
        };
        let bones = |it: &MeshMorphs| std::iter::repeat_n(it.bone, it.rest.len());
        let rest = Pose::rest(&skeleton);
        Ok(AnimatedModel {
            name: model.name.clone(),
            extent: extent_of(&skeleton, &rest, &model.data),
            rest,
            no_difference: additive_rest(&skeleton),
            skeleton,
            clips,
            skins: model.data.skins.iter().map(Skin::read).collect(),
            morph_bones: morphs.iter().flat_map(bones).collect(),
            morphs,
            sprite_skeleton: model.data.sprite_skeleton.clone(),
        })
    }

    /// Returns true if the file of the model has neither animations, skins nor morph targets.
    pub fn has_no_animation(&self) -> bool {
        self.skins.is_empty() && self.morphs.is_empty() && self.own_clips().next().is_none()
    }

    /// Returns the index of a clip with a name in the table. A clip of another model is also found
    /// with the ending of the model's file.
    pub fn position(&self, name: &str) -> Option<u16> {
        let of = |name: &str| self.clips.iter().position(|clip| clip.name == name);
        let found = of(name).or_else(|| of(&canonical_name(name)?));
        found.map(|index| index as u16)
    }

    /// Returns the pose of a bone at a time of a clip, or of a chunk, in seconds.
    pub(super) fn sample(&self, clip: &Clip, bone: usize, time: f32) -> NodePose {
        let base = if clip.is_additive() { &self.no_difference } else { &self.rest };
        let mut player = ClipPlayer::new(clip, &self.skeleton);
        let mut pose = Pose::default();
        player.seek(clip, time);
        player.sample(base, &mut pose);
        let BoneTransform { position, rotation, scale } = pose.transform(bone);
        NodePose { position, rotation, scale }
    }

    /// Returns the clips that the file of the model has.
    pub fn own_clips(&self) -> impl Iterator<Item = &NamedClip> {
        self.clips.iter().map(|clip| &**clip).filter(|clip| clip.origin == ClipOrigin::Own)
    }

    /// Returns the index of a clip of the model.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn find_clip(&self, name: &str) -> Result<u16, Error> {
        let found =
            self.clips.iter().position(|it| it.name == name && it.origin == ClipOrigin::Own);
        found.map(|index| index as u16).ok_or_else(|| {
            let mut names = self.own_clips().map(|clip| clip.name.as_str()).peekable();
            match names.peek() {
                None => error!("the model '{}' has no animations", self.name),
                Some(_) => error!(
                    "the model '{}' has no animation '{name}'{}",
                    self.name,
                    hint(name, names)
                ),
            }
        })
    }
}

impl Skin {
    pub(crate) fn read(data: &SkinData) -> Skin {
        // Without matrices, meshes are bound where their joints have no transform (glTF 2.0,
        // 3.7.3).
        let bind = |index: usize| match data.inverse_bind.get(index) {
            Some(columns) => ModelMatrix::from_columns(*columns),
            None => ModelMatrix::IDENTITY,
        };
        let joints = data.joints.iter().enumerate();
        Skin {
            name: data.name.clone(),
            joints: joints.map(|(index, joint)| (*joint as u16, bind(index))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::node;
    use super::*;
    use engine_frame_packet::mesh::MeshBounds;
    use engine_models::data::MeshData;

    /// Returns the extent of a model with a mesh of 2 by 4 by 1 metres, and a camera far away.
    fn extent(has_skin: bool, mesh: Option<u32>) -> f32 {
        let mut data = ModelData {
            nodes: vec![node("mill", None), node("wing", Some(0)), node("camera", None)],
            ..ModelData::default()
        };
        data.nodes[1].position = [0.0, 0.0, 3.0];
        data.nodes[1].scale = [1.0, 2.0, 1.0];
        data.nodes[1].mesh = mesh;
        data.nodes[2].position = [0.0, -100.0, 0.0];
        let (min, max) = (Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, 3.0, 1.0));
        let bounds = MeshBounds { min, max, center: Vec3::ZERO, radius: 4.0 };
        data.meshes.push(MeshData {
            name: "wing".to_string(),
            vertices: Vec::new(),
            indices: Vec::new(),
            parts: Vec::new(),
            surfaces: Vec::new(),
            bounds,
            joints: Vec::new(),
            weights: Vec::new(),
            targets: Vec::new(),
            target_names: Vec::new(),
            target_weights: Vec::new(),
        });
        if has_skin {
            let (name, joints) = ("skin".to_string(), vec![0, 1]);
            data.skins.push(SkinData { name, joints, inverse_bind: Vec::new() });
        }
        let (name, meshes, materials) = ("mill".to_string(), vec![], vec![]);
        AnimatedModel::read(&Model { name, data, meshes, materials }).unwrap().extent
    }

    #[test]
    fn the_extent_is_that_of_meshes_and_joints() {
        assert_eq!(extent(false, Some(0)), 8.0, "the mesh with the scale of its node");
        assert_eq!(extent(true, None), 3.0, "the joints");
        assert_eq!(extent(true, Some(0)), 8.0);
        assert_eq!(extent(false, None), 100.0, "all nodes");
    }
}
