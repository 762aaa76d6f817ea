//! Skeletons: bones with their parents and their rest transforms.

use engine_foundation::compact_sort::CompactSort;
use engine_foundation::{Error, Quat, Vec3, error, suggest};

/// Maximum number of bones of a skeleton.
pub const BONES_MAX: usize = 2048;

/// Transform of a bone relative to its parent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoneTransform {
    pub position: Vec3,
    /// Quaternion of length 1.
    pub rotation: Quat,
    pub scale: Vec3,
}

impl BoneTransform {
    pub const IDENTITY: BoneTransform =
        BoneTransform { position: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };
}

/// Bones of a character, parents before children.
#[derive(Clone, PartialEq, Debug)]
pub struct Skeleton {
    names: Vec<String>,
    parents: Vec<Option<u16>>,
    rest: Vec<BoneTransform>,
    /// Bones with parents, and the parents, in the order of their depth.
    by_depth: Vec<(u16, u16)>,
}

impl Skeleton {
    /// Creates a skeleton of bones with a name, a parent and a rest transform. Fails if there are
    /// none or too many, if a parent does not precede its child, or if a number is not finite.
    pub fn new(bones: Vec<(String, Option<u16>, BoneTransform)>) -> Result<Skeleton, Error> {
        if bones.is_empty() || bones.len() > BONES_MAX {
            return Err(error!(
                "a skeleton has 1 to {BONES_MAX} bones (BONES_MAX), and this one has {}",
                bones.len()
            ));
        }
        let mut skeleton =
            Skeleton { names: vec![], parents: vec![], rest: vec![], by_depth: vec![] };
        let mut depths: Vec<u16> = Vec::with_capacity(bones.len());
        for (index, (name, parent, rest)) in bones.into_iter().enumerate() {
            if parent.is_some_and(|parent| usize::from(parent) >= index) {
                return Err(error!("bone '{name}' comes before its parent"));
            }
            let finite =
                rest.position.is_finite() && rest.rotation.is_finite() && rest.scale.is_finite();
            if !finite || rest.rotation.length_squared() < 0.5 {
                return Err(error!("bone '{name}' has a rest transform that is not valid"));
            }
            let above = parent.map(|parent| depths[usize::from(parent)]);
            depths.push(above.map_or(0, |depth| depth + 1));
            if let Some(parent) = parent {
                skeleton.by_depth.push((index as u16, parent));
            }
            skeleton.names.push(name);
            skeleton.parents.push(parent);
            skeleton.rest.push(BoneTransform { rotation: rest.rotation.normalize(), ..rest });
        }
        skeleton.by_depth.sort_compact_by_key(|(bone, _)| depths[usize::from(*bone)]);
        Ok(skeleton)
    }

    /// Replaces the rest transforms without any change of their numbers. There is one for each
    /// bone, and all of them are valid.
    pub(crate) fn with_rest(self, rest: Vec<BoneTransform>) -> Skeleton {
        assert_eq!(rest.len(), self.bone_count());
        Skeleton { rest, ..self }
    }

    /// Returns the bones with these names and all bones above them, sorted.
    ///
    /// # Errors
    /// Returns an error that suggests a similar name if there is no such bone.
    pub fn with_parents<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<u16>, Error> {
        let mut is_kept = vec![false; self.bone_count()];
        for name in names {
            let mut next = Some(self.find(name).ok_or_else(|| {
                let hint = suggest::hint(name, self.names.iter().map(String::as_str));
                error!("the model has no bone '{name}'{hint}")
            })?);
            while let Some(bone) = next {
                is_kept[usize::from(bone)] = true;
                next = self.parents[usize::from(bone)];
            }
        }
        let kept = is_kept.iter().zip(0..).filter(|(is_kept, _)| **is_kept);
        Ok(kept.map(|(_, bone)| bone).collect())
    }

    /// Returns the skeleton of some of the bones, which are sorted and have all bones above them.
    /// Panics if they do not, or if there are none.
    pub fn part(&self, bones: &[u16]) -> Skeleton {
        let parent = |bone: u16| {
            let parent = self.parents[usize::from(bone)]?;
            Some(bones.binary_search(&parent).expect("the bones above are listed") as u16)
        };
        let rest = |bone: u16| self.rest[usize::from(bone)];
        let row = |bone: &u16| (self.names[usize::from(*bone)].clone(), parent(*bone), rest(*bone));
        let part = Skeleton::new(bones.iter().map(row).collect()).expect("the bones are valid");
        // The rotations of this skeleton have the length 1 already.
        part.with_rest(bones.iter().map(|bone| rest(*bone)).collect())
    }

    pub fn bone_count(&self) -> usize {
        self.parents.len()
    }

    /// Returns the number of groups of four bones, the unit in which poses are stored.
    pub fn group_count(&self) -> usize {
        self.parents.len().div_ceil(4)
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn parents(&self) -> &[Option<u16>] {
        &self.parents
    }

    /// Returns the bones that have a parent, with it, in the order of their depth.
    pub(crate) fn by_depth(&self) -> &[(u16, u16)] {
        &self.by_depth
    }

    pub fn rest(&self) -> &[BoneTransform] {
        &self.rest
    }

    pub fn find(&self, name: &str) -> Option<u16> {
        self.names.iter().position(|known| known == name).map(|index| index as u16)
    }

    /// Returns, for each bone, the distance in metres from its origin at which its rotation has a
    /// visible effect: that of its farthest descendant, and at least `shell`.
    pub fn reaches(&self, shell: f32) -> Vec<f32> {
        let mut reaches = vec![shell; self.bone_count()];
        for bone in (0..self.bone_count()).rev() {
            if let Some(parent) = self.parents[bone] {
                let own = self.rest[bone].position.length() + reaches[bone];
                let parent = &mut reaches[usize::from(parent)];
                *parent = parent.max(own);
            }
        }
        reaches
    }
}
