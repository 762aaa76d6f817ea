//! Generation of a ragdoll from the rest pose of a skeleton.

use super::{BODIES_MAX, BodyShape, JointLimits, Ragdoll, RagdollBody};
use crate::constraints::ModelPose;
use crate::rigid_transform::RigidTransform;
use crate::skeleton::Skeleton;
use crate::{Pose, model_matrices};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Quat, Vec3, error};
use std::f32::consts::PI;

/// Length of a bone without children, as a part of the distance to its parent.
const LEAF_PART: f32 = 0.7;
/// Minimum length of a limb of the pelvis, as a part of the longest limb of the skeleton.
const LIMB_PART: f32 = 0.15;
/// Minimum radius and half extent of a shape in metres.
const RADIUS_MIN: f32 = 0.005;
/// Maximum radius and length of a described shape in metres.
const SHAPE_MAX: f32 = 1000.0;

/// Settings of a generated ragdoll.
#[derive(Clone, PartialEq, Debug)]
pub struct RagdollSettings {
    /// Names of the bones that get bodies. If the list is empty, bones are chosen by their length:
    /// from the first bone with two limbs on, which is the pelvis.
    pub bones: Vec<String>,
    /// Minimum length of a bone that gets a body by itself, as a part of the longest limb of
    /// the pelvis.
    pub length_part_min: f32,
    /// Radius of a capsule as a part of its bone's length, 0.01 to 0.5.
    pub radius_ratio: f32,
    /// Mass of all bodies in kilograms. The share of each is that of its volume.
    pub mass: f32,
    /// Limits of single joints, by the name of the bone; others have [`JointLimits::DEFAULT`].
    pub limits: Vec<(String, JointLimits)>,
    /// Capsules of single bones, by their names. These bones get bodies even if they are short.
    pub shapes: Vec<(String, BoneShape)>,
    /// Bodies with shapes of their own. If there are any, these are all bodies of the ragdoll.
    pub described: Vec<DescribedBody>,
}

/// Body of a bone with its own shape.
#[derive(Clone, PartialEq, Debug)]
pub struct DescribedBody {
    /// Name for messages.
    pub name: String,
    /// Name of the bone.
    pub bone: String,
    pub shape: BodyShape,
    /// Center and rotation of the shape in the frame of the bone, in metres.
    pub offset: RigidTransform,
    /// Kilograms. Without a mass, the body has its share by volume.
    pub mass: Option<f32>,
}

/// Capsule along a bone, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoneShape {
    pub radius: f32,
    /// Length with both ends. `None` is that of the bone.
    pub length: Option<f32>,
}

impl RagdollSettings {
    /// An adult.
    pub const DEFAULT: RagdollSettings = RagdollSettings {
        bones: Vec::new(),
        length_part_min: 0.06,
        radius_ratio: 0.2,
        mass: 75.0,
        limits: Vec::new(),
        shapes: Vec::new(),
        described: Vec::new(),
    };
}

/// Rest pose in model space, and the hierarchy.
struct Rest {
    positions: Vec<Vec3>,
    rotations: Vec<Quat>,
    children: Vec<Vec<usize>>,
    /// Length of each bone in metres: the distance to its main child.
    lengths: Vec<f32>,
    /// The child with the longest limb.
    main: Vec<Option<usize>>,
    /// Length of the longest path down from each bone.
    limbs: Vec<f32>,
}

impl Ragdoll {
    /// Generates bodies and joints from the rest pose of a skeleton: capsules along bones, and
    /// boxes around bones with several limbs.
    ///
    /// # Errors
    /// Fails if the settings name a bone that does not exist, if bones are not below the first one,
    /// if a number is not valid, if there are too many bodies, or if the skeleton has no size.
    pub fn generate(skeleton: &Skeleton, settings: &RagdollSettings) -> Result<Ragdoll, Error> {
        check(settings)?;
        let rest = Rest::new(skeleton);
        let start = rest.pelvis();
        let size = rest.limbs[start];
        if !(size.is_finite() && size > 1e-4) {
            return Err(error!("the skeleton has no size, so that a ragdoll has no shapes"));
        }
        let shapes = bone_shapes(skeleton, settings)?;
        let described: Vec<String> =
            settings.described.iter().map(|body| body.bone.clone()).collect();
        let bones = match (described.is_empty(), settings.bones.is_empty()) {
            (false, _) => named_bones(skeleton, &described)?,
            (_, false) => named_bones(skeleton, &settings.bones)?,
            _ => rest.choose(skeleton, start, size * settings.length_part_min, &shapes),
        };
        if bones.len() > BODIES_MAX {
            return Err(error!(
                "the ragdoll has {} bodies, and {BODIES_MAX} are the most (BODIES_MAX): list its \
                 bones, or raise 'length_part_min'",
                bones.len()
            ));
        }
        let limits = joint_limits(skeleton, settings)?;
        let mut bodies: Vec<RagdollBody> = Vec::with_capacity(bones.len());
        for bone in &bones {
            let parent = body_above(skeleton, &bodies, *bone);
            if parent.is_none() && !bodies.is_empty() {
                return Err(error!(
                    "bone '{}' of the ragdoll is not below '{}': list the pelvis first",
                    skeleton.names()[*bone],
                    skeleton.names()[bones[0]]
                ));
            }
            let mut body = rest.body(*bone, settings.radius_ratio, size);
            if let Some(shape) = shapes[*bone] {
                (body.shape, body.offset) = rest.capsule(*bone, body.axis, &shape);
            }
            let is_own = |described: &&DescribedBody| described.bone == skeleton.names()[*bone];
            if let Some(described) = settings.described.iter().find(is_own) {
                (body.shape, body.offset) = (described.shape, described.offset);
                body.mass = described.mass.unwrap_or(0.0);
            }
            body.limits = limits[*bone];
            if let Some(parent) = parent {
                let above = usize::from(bodies[parent].bone);
                let back = rest.rotations[above].conjugate();
                body.parent = Some(parent as u16);
                body.anchor = back * (rest.positions[*bone] - rest.positions[above]);
                body.rest_rotation = (back * rest.rotations[*bone]).normalize();
            }
            bodies.push(body);
        }
        let total: f32 = bodies.iter().map(|body| volume(&body.shape)).sum();
        for body in bodies.iter_mut().filter(|body| body.mass == 0.0) {
            body.mass = settings.mass * self::volume(&body.shape) / total;
        }
        Ok(Ragdoll { bodies })
    }
}

fn check(settings: &RagdollSettings) -> Result<(), Error> {
    let RagdollSettings { length_part_min, radius_ratio, mass, .. } = settings;
    for (name, value, least, most) in [
        ("length_part_min", *length_part_min, 0.0, 1.0),
        ("radius_ratio", *radius_ratio, 0.01, 0.5),
        ("mass", *mass, 0.001, 1e6),
    ] {
        if !(least..=most).contains(&value) {
            return Err(error!("'{name}' of the ragdoll is {value}: use {least} to {most}"));
        }
    }
    Ok(())
}

/// Returns the index of a bone that a setting names.
fn find(skeleton: &Skeleton, key: &str, name: &str) -> Result<usize, Error> {
    let bone = skeleton.find(name).map(usize::from);
    bone.ok_or_else(|| {
        let near = hint(name, skeleton.names().iter().map(String::as_str));
        error!(
            "'{key}' of the ragdoll names the bone '{name}', which the skeleton does not have{near}"
        )
    })
}

fn named_bones(skeleton: &Skeleton, names: &[String]) -> Result<Vec<usize>, Error> {
    let mut bones = Vec::new();
    for name in names {
        let bone = find(skeleton, "bones", name)?;
        if bones.contains(&bone) {
            return Err(error!("bone '{name}' is twice in the ragdoll: remove one"));
        }
        bones.push(bone);
    }
    bones.sort_unstable();
    Ok(bones)
}

/// Returns the limits of the joint of each bone.
fn joint_limits(
    skeleton: &Skeleton,
    settings: &RagdollSettings,
) -> Result<Vec<JointLimits>, Error> {
    let mut limits = vec![JointLimits::DEFAULT; skeleton.bone_count()];
    for (name, limit) in &settings.limits {
        let valid = match limit {
            JointLimits::Ball { swing, twist } => {
                (0.0..=PI).contains(swing) && (0.0..=PI).contains(twist)
            }
            JointLimits::Hinge { axis, angles: [least, most] } => {
                axis.try_normalize().is_some() && -PI <= *least && least <= most && *most <= PI
            }
        };
        if !valid {
            return Err(error!(
                "the joint '{name}' of the ragdoll has limits that are not valid: use radians up \
                 to {PI} and an axis with a direction"
            ));
        }
        limits[find(skeleton, "limits", name)?] = match *limit {
            JointLimits::Hinge { axis, angles } => {
                JointLimits::Hinge { axis: axis.normalize_or(Vec3::X), angles }
            }
            ball => ball,
        };
    }
    Ok(limits)
}

/// Returns the described capsule of each bone.
fn bone_shapes(
    skeleton: &Skeleton,
    settings: &RagdollSettings,
) -> Result<Vec<Option<BoneShape>>, Error> {
    let mut shapes = vec![None; skeleton.bone_count()];
    for (name, shape) in &settings.shapes {
        let BoneShape { radius, length } = *shape;
        let is_valid = |value: f32| (RADIUS_MIN..=SHAPE_MAX).contains(&value);
        if !is_valid(radius) || !length.is_none_or(is_valid) {
            return Err(error!(
                "the shape of '{name}' in the ragdoll is not valid: use a radius and a length of \
                 {RADIUS_MIN} to {SHAPE_MAX} metres"
            ));
        }
        shapes[find(skeleton, "shapes", name)?] = Some(*shape);
    }
    Ok(shapes)
}

/// Returns the index of the nearest body above a bone.
fn body_above(skeleton: &Skeleton, bodies: &[RagdollBody], bone: usize) -> Option<usize> {
    let mut next = skeleton.parents()[bone];
    while let Some(parent) = next {
        if let Some(index) = bodies.iter().position(|body| body.bone == parent) {
            return Some(index);
        }
        next = skeleton.parents()[usize::from(parent)];
    }
    None
}

fn volume(shape: &BodyShape) -> f32 {
    match shape {
        BodyShape::Capsule { half_height, radius } => {
            PI * radius * radius * (2.0 * half_height + 4.0 / 3.0 * radius)
        }
        BodyShape::Box { half } => 8.0 * half.x * half.y * half.z,
        BodyShape::Sphere { radius } => 4.0 / 3.0 * PI * radius * radius * radius,
    }
}

impl Rest {
    fn new(skeleton: &Skeleton) -> Rest {
        let count = skeleton.bone_count();
        let (mut pose, mut matrices) = (Pose::rest(skeleton), Vec::new());
        model_matrices(skeleton, &pose, &mut matrices);
        let rig = ModelPose { skeleton, pose: &mut pose, matrices: &mut matrices };
        let positions: Vec<Vec3> = (0..count).map(|bone| rig.origin(bone as u16)).collect();
        let mut rotations: Vec<Quat> = Vec::with_capacity(count);
        for (rest, parent) in skeleton.rest().iter().zip(skeleton.parents()) {
            let above = parent.map_or(Quat::IDENTITY, |parent| rotations[usize::from(parent)]);
            rotations.push((above * rest.rotation).normalize());
        }
        let mut all = Rest {
            positions,
            rotations,
            children: vec![Vec::new(); count],
            lengths: vec![0.0; count],
            main: vec![None; count],
            limbs: vec![0.0; count],
        };
        for bone in (0..count).rev() {
            let Some(parent) = skeleton.parents()[bone].map(usize::from) else { continue };
            all.children[parent].push(bone);
            let distance = (all.positions[bone] - all.positions[parent]).length();
            let limb = distance + all.limbs[bone];
            if all.main[parent].is_none() || limb > all.limbs[parent] {
                all.limbs[parent] = limb;
                (all.main[parent], all.lengths[parent]) = (Some(bone), distance);
            }
        }
        for bone in 0..count {
            if let (None, Some(parent)) = (all.main[bone], skeleton.parents()[bone]) {
                let distance = all.positions[bone] - all.positions[usize::from(parent)];
                all.lengths[bone] = LEAF_PART * distance.length();
            }
        }
        all
    }

    /// Returns the first bone with two limbs, or bone 0 of a chain without limbs.
    fn pelvis(&self) -> usize {
        let longest = self.limbs.iter().copied().fold(0.0, f32::max);
        let is_limb = |bone: usize, child: usize| {
            let length = (self.positions[child] - self.positions[bone]).length();
            length + self.limbs[child] > LIMB_PART * longest
        };
        let limbs =
            |bone: usize| self.children[bone].iter().filter(|child| is_limb(bone, **child)).count();
        (0..self.positions.len()).find(|bone| limbs(*bone) > 1).unwrap_or(0)
    }

    /// Returns the bones that get bodies, parents first.
    fn choose(
        &self,
        skeleton: &Skeleton,
        start: usize,
        length_min: f32,
        shapes: &[Option<BoneShape>],
    ) -> Vec<usize> {
        let count = self.positions.len();
        let mut below = vec![false; count];
        let mut chosen = Vec::new();
        for bone in start..count {
            let parent = skeleton.parents()[bone].map(usize::from);
            below[bone] = bone == start || parent.is_some_and(|parent| below[parent]);
            let is_chosen = self.lengths[bone] >= length_min || shapes[bone].is_some();
            if below[bone] && (bone == start || is_chosen) {
                chosen.push(bone);
            }
        }
        chosen
    }

    /// Returns the body of a bone without its joint.
    fn body(&self, bone: usize, radius_ratio: f32, size: f32) -> RagdollBody {
        let back = self.rotations[bone].conjugate();
        let local = |other: usize| back * (self.positions[other] - self.positions[bone]);
        let along = match self.main[bone] {
            Some(child) => local(child),
            None => {
                // A bone without children continues the direction of its parent.
                self.direction_of_leaf(bone, back) * self.lengths[bone]
            }
        };
        let length = along.length();
        let axis = along.normalize_or(Vec3::Z);
        let least = RADIUS_MIN.max(size * 0.01);
        let limbs = self.children[bone].iter().filter(|child| self.limbs[**child] > 0.1 * size);
        let (shape, offset) = match limbs.count() > 1 {
            true => {
                let origins = self.children[bone].iter().map(|child| local(*child));
                let (mut low, mut high) = (Vec3::ZERO, Vec3::ZERO);
                for origin in origins {
                    (low, high) = (low.min(origin), high.max(origin));
                }
                let widest = (high - low).max_element();
                let half =
                    (high - low) * 0.5 + Vec3::splat((radius_ratio * 0.5 * widest).max(least));
                let (position, rotation) = ((low + high) * 0.5, Quat::IDENTITY);
                (BodyShape::Box { half }, RigidTransform { position, rotation })
            }
            false => {
                let radius = (length * radius_ratio).max(least);
                let half_height = (length * 0.5 - radius).max(least * 0.1);
                let rotation = crate::constraints::shortest_arc(Vec3::Z, axis);
                let offset = RigidTransform { position: along * 0.5, rotation };
                (BodyShape::Capsule { half_height, radius }, offset)
            }
        };
        RagdollBody {
            bone: bone as u16,
            parent: None,
            shape,
            offset,
            mass: 0.0,
            limits: JointLimits::DEFAULT,
            anchor: Vec3::ZERO,
            rest_rotation: self.rotations[bone],
            axis,
        }
    }

    /// Returns a capsule from the origin of a bone along it, in the frame of the bone.
    fn capsule(&self, bone: usize, axis: Vec3, shape: &BoneShape) -> (BodyShape, RigidTransform) {
        let length = shape.length.unwrap_or(self.lengths[bone]).max(2.0 * shape.radius);
        let half_height = (length * 0.5 - shape.radius).max(RADIUS_MIN * 0.1);
        let rotation = crate::constraints::shortest_arc(Vec3::Z, axis);
        let offset = RigidTransform { position: axis * (length * 0.5), rotation };
        (BodyShape::Capsule { half_height, radius: shape.radius }, offset)
    }

    fn direction_of_leaf(&self, bone: usize, back: Quat) -> Vec3 {
        let parent = self.children.iter().position(|children| children.contains(&bone));
        let offset = parent.map(|parent| self.positions[bone] - self.positions[parent]);
        back * offset.and_then(|offset| offset.try_normalize()).unwrap_or(Vec3::Z)
    }
}
