//! Data of a model that characters share: its skeleton, its clips and its skins.

use super::model_clips::skeleton_of;
use engine_animation::{Clip, ModelMatrix, Pose, Skeleton, read_clip};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::Model;
use engine_models::data::SkinData;

/// A model whose nodes can be animated.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimatedModel {
    pub name: String,
    pub skeleton: Skeleton,
    /// Pose of the nodes as in the model.
    pub rest: Pose,
    pub clips: Vec<NamedClip>,
    pub skins: Vec<Skin>,
}

/// A clip of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedClip {
    /// Name, unique in the model.
    pub name: String,
    pub clip: Clip,
    /// Bones with keys, sorted.
    pub bones: Vec<u16>,
}

/// The bones that move the vertices of meshes.
#[derive(Clone, PartialEq, Debug)]
pub struct Skin {
    /// Name, unique in the model.
    pub name: String,
    /// Bone of each joint, and the matrix from the mesh's space into the bone's.
    pub joints: Vec<(u16, ModelMatrix)>,
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
            let bones = clip.animated_bones();
            clips.push(NamedClip { name: data.name.clone(), clip, bones });
        }
        Ok(AnimatedModel {
            name: model.name.clone(),
            rest: Pose::rest(&skeleton),
            skeleton,
            clips,
            skins: model.data.skins.iter().map(Skin::read).collect(),
        })
    }

    /// Returns the index of a clip.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name.
    pub fn find_clip(&self, name: &str) -> Result<u16, Error> {
        let found = self.clips.iter().position(|clip| clip.name == name);
        found.map(|index| index as u16).ok_or_else(|| {
            let names = self.clips.iter().map(|clip| clip.name.as_str());
            match self.clips.is_empty() {
                true => error!("the model '{}' has no animations", self.name),
                false => error!(
                    "the model '{}' has no animation '{name}'{}",
                    self.name,
                    hint(name, names)
                ),
            }
        })
    }
}

impl Skin {
    fn read(data: &SkinData) -> Skin {
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
