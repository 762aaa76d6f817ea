//! Weights of the bones of a skeleton in a mask.

use super::super::lanes::Lanes;
use super::super::skeleton::Skeleton;
use super::data::{Mask, StateMachine};
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

    /// Applies a mask to a skeleton. A bone without a weight has that of its parent, or 0.
    ///
    /// # Errors
    /// Returns an error that names path and line if the skeleton has no bone of the mask.
    fn bind(path: &str, mask: &Mask, skeleton: &Skeleton) -> Result<BoneMask, Error> {
        let mut own = vec![None; skeleton.bone_count()];
        for bone in &mask.bones {
            let Some(index) = skeleton.find(&bone.bone) else {
                let (line, name, mask) = (bone.line, &bone.bone, &mask.name);
                let hint = suggest::hint(name, skeleton.names().iter().map(String::as_str));
                return Err(error!(
                    "{path}:{line}: mask '{mask}': the skeleton has no bone '{name}'{hint}"
                ));
            };
            own[usize::from(index)] = Some(bone.weight);
        }
        let mut weights: Vec<f32> = Vec::with_capacity(own.len());
        for (weight, parent) in own.iter().zip(skeleton.parents()) {
            let inherited = parent.map_or(0.0, |parent| weights[usize::from(parent)]);
            weights.push(weight.unwrap_or(inherited));
        }
        Ok(BoneMask::new(&weights))
    }
}

impl StateMachine {
    /// Applies the masks to a skeleton.
    ///
    /// # Errors
    /// Returns an error that names path and line if a mask or a constraint names a bone that the
    /// skeleton does not have.
    pub fn bind(&self, skeleton: &Skeleton) -> Result<Vec<BoneMask>, Error> {
        for constraint in &self.constraints {
            for bone in &constraint.bones {
                if skeleton.find(bone).is_none() {
                    let hint = suggest::hint(bone, skeleton.names().iter().map(String::as_str));
                    let (path, line, name) = (&self.path, constraint.line, &constraint.name);
                    return Err(error!(
                        "{path}:{line}: constraint '{name}': the skeleton has no bone \
                         '{bone}'{hint}"
                    ));
                }
            }
        }
        self.masks.iter().map(|mask| BoneMask::bind(&self.path, mask, skeleton)).collect()
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
