//! Weights of the bones of a skeleton in a mask.

use super::super::lanes::Lanes;
use super::super::skeleton::Skeleton;
use super::constraint_description::ConstraintDescription;
use super::data::{Mask, MaskBone, StateMachine};
use engine_foundation::{Error, error, suggest};

/// Weights of all bones in a mask, in groups of four.
#[derive(Clone, PartialEq, Debug)]
pub struct BoneMask {
    pub(crate) groups: Vec<Lanes>,
}

impl BoneMask {
    /// Creates a mask from a weight for each bone.
    pub fn new(weights: &[f32]) -> BoneMask {
        let mut groups = vec![Lanes::ZERO; weights.len().div_ceil(4)];
        for (bone, weight) in weights.iter().enumerate() {
            groups[bone / 4].0[bone % 4] = *weight;
        }
        BoneMask { groups }
    }

    /// Returns the weight of a bone. Panics if the mask has no such bone.
    pub fn weight(&self, bone: usize) -> f32 {
        self.groups[bone / 4].0[bone % 4]
    }

    /// Returns the weight of a bone; `None` if the mask has no such bone.
    pub fn find_weight(&self, bone: usize) -> Option<f32> {
        Some(self.groups.get(bone / 4)?.0[bone % 4])
    }

    /// Applies a mask to a skeleton. A bone without a weight has that of its parent, or 0. Bones
    /// that the skeleton does not have are left out.
    fn bind(mask: &Mask, skeleton: &Skeleton) -> BoneMask {
        let mut own = vec![None; skeleton.bone_count()];
        for bone in &mask.bones {
            if let Some(index) = skeleton.find(&bone.bone) {
                own[usize::from(index)] = Some(bone.weight);
            }
        }
        let mut weights: Vec<f32> = Vec::with_capacity(own.len());
        for (weight, parent) in own.iter().zip(skeleton.parents()) {
            let inherited = parent.map_or(0.0, |parent| weights[usize::from(parent)]);
            weights.push(weight.unwrap_or(inherited));
        }
        BoneMask::new(&weights)
    }
}

impl StateMachine {
    /// Returns an error for each bone of a mask or a constraint that a skeleton does not have, with
    /// path and line.
    pub fn bone_errors(&self, skeleton: &Skeleton) -> Vec<Error> {
        let missing = |bone: &str, (line, subject): (u32, String)| {
            if skeleton.find(bone).is_some() {
                return None;
            }
            let hint = suggest::hint(bone, skeleton.names().iter().map(String::as_str));
            let path = &self.path;
            Some(error!("{path}:{line}: {subject}: the skeleton has no bone '{bone}'{hint}"))
        };
        let of_mask = |mask: &Mask| {
            let subject = format!("mask '{}'", mask.name);
            let error = |it: &MaskBone| missing(&it.bone, (it.line, subject.clone()));
            mask.bones.iter().filter_map(error).collect::<Vec<Error>>()
        };
        let of_constraint = |constraint: &ConstraintDescription| {
            let location = (constraint.line, format!("constraint '{}'", constraint.name));
            let bones = constraint.bones.iter();
            bones.filter_map(|bone| missing(bone, location.clone())).collect::<Vec<Error>>()
        };
        let masks = self.masks.iter().flat_map(of_mask);
        masks.chain(self.constraints.iter().flat_map(of_constraint)).collect()
    }

    /// Applies the masks to a skeleton.
    ///
    /// # Errors
    /// Returns an error that names path and line if a mask or a constraint names a bone that the
    /// skeleton does not have.
    pub fn bind(&self, skeleton: &Skeleton) -> Result<Vec<BoneMask>, Error> {
        match Error::several(self.bone_errors(skeleton)) {
            Some(error) => Err(error),
            None => Ok(self.masks.iter().map(|mask| BoneMask::bind(mask, skeleton)).collect()),
        }
    }

    /// Returns an error that names path and line if a clip is not one of the known ones.
    ///
    /// # Errors
    /// Returns an error for the first clip that does not exist.
    pub fn check_clips<'a>(
        &self,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Result<(), Error> {
        for clip in &self.clips {
            if !known.clone().into_iter().any(|name| name == clip.name) {
                let hint = suggest::hint(&clip.name, known.clone());
                let (path, line, name) = (&self.path, clip.line, &clip.name);
                return Err(error!("{path}:{line}: there is no clip '{name}'{hint}"));
            }
        }
        Ok(())
    }
}
