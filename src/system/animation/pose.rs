//! Poses: the local transforms of all bones, in groups of four, and weighted sums of poses.

use super::dispatch::dispatched_to;
use super::lanes::Lanes;
use super::skeleton::{BoneTransform, Skeleton};
use engine_foundation::hash::StateHash;
use engine_foundation::{Quat, Vec3};

/// Local transforms of four bones.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct PoseGroup {
    /// x, y, z and w. Their length is near 1, and exactly 1 only at keys.
    pub rotation: [Lanes; 4],
    pub position: [Lanes; 3],
    pub scale: [Lanes; 3],
}

impl PoseGroup {
    const IDENTITY: PoseGroup = PoseGroup {
        rotation: [Lanes::ZERO, Lanes::ZERO, Lanes::ZERO, Lanes::ONE],
        position: [Lanes::ZERO; 3],
        scale: [Lanes::ONE; 3],
    };
}

/// Local transforms of the bones of a skeleton.
#[derive(PartialEq, Debug, Default)]
pub struct Pose {
    pub(crate) groups: Vec<PoseGroup>,
}

impl Clone for Pose {
    fn clone(&self) -> Pose {
        Pose { groups: self.groups.clone() }
    }

    /// Copies a pose without a new allocation, if there is room.
    fn clone_from(&mut self, source: &Pose) {
        self.groups.clone_from(&source.groups);
    }
}

impl Pose {
    /// Creates a pose from a transform for each bone.
    pub fn new(transforms: &[BoneTransform]) -> Pose {
        let mut pose = Pose { groups: vec![PoseGroup::IDENTITY; transforms.len().div_ceil(4)] };
        for (bone, transform) in transforms.iter().enumerate() {
            pose.set(bone, transform);
        }
        pose
    }

    /// Creates the rest pose of a skeleton.
    pub fn rest(skeleton: &Skeleton) -> Pose {
        Pose::new(skeleton.rest())
    }

    /// Replaces the transform of a bone. Panics if the pose has no such bone.
    pub fn set(&mut self, bone: usize, transform: &BoneTransform) {
        let (group, lane) = (&mut self.groups[bone / 4], bone % 4);
        for (lanes, value) in group.rotation.iter_mut().zip(transform.rotation.to_array()) {
            lanes.0[lane] = value;
        }
        for (lanes, value) in group.position.iter_mut().zip(transform.position.to_array()) {
            lanes.0[lane] = value;
        }
        for (lanes, value) in group.scale.iter_mut().zip(transform.scale.to_array()) {
            lanes.0[lane] = value;
        }
    }

    /// Copies the positions, the scales or both of another pose with the same number of bones.
    pub fn copy_parts(&mut self, other: &Pose, positions: bool, scales: bool) {
        debug_assert_eq!(self.groups.len(), other.groups.len());
        for (group, other) in self.groups.iter_mut().zip(&other.groups) {
            if positions {
                group.position = other.position;
            }
            if scales {
                group.scale = other.scale;
            }
        }
    }

    /// Writes the pose into a hash of a state.
    pub fn write_state(&self, hash: &mut StateHash) {
        for group in &self.groups {
            let lanes = group.rotation.iter().chain(&group.position).chain(&group.scale);
            lanes.flat_map(|lanes| lanes.0).for_each(|number| hash.write_f32(number));
        }
    }

    /// Returns the transform of a bone, with a rotation of length 1. Panics if the pose has no such
    /// bone.
    pub fn transform(&self, bone: usize) -> BoneTransform {
        let (group, lane) = (&self.groups[bone / 4], bone % 4);
        let [x, y, z, w] = group.rotation.map(|lanes| lanes.0[lane]);
        BoneTransform {
            position: Vec3::from_array(group.position.map(|lanes| lanes.0[lane])),
            rotation: Quat::from_xyzw(x, y, z, w).normalize(),
            scale: Vec3::from_array(group.scale.map(|lanes| lanes.0[lane])),
        }
    }
}

/// Weighted sum of poses. The result is the sum divided by the weights; rotations take the shorter
/// arc to the first pose.
#[derive(Clone, Debug, Default)]
pub struct BlendSum {
    sum: Pose,
    weight: f32,
}

impl BlendSum {
    /// Starts a sum. Reuses the memory of the previous one.
    pub fn clear(&mut self) {
        self.sum.groups.clear();
        self.weight = 0.0;
    }

    /// Adds a pose. A weight that is not above 0 adds nothing. All poses of a sum have the same
    /// number of bones.
    pub fn add(&mut self, pose: &Pose, weight: f32) {
        if weight.is_nan() || weight <= 0.0 {
            return;
        }
        let factor = Lanes::splat(weight);
        if self.sum.groups.is_empty() {
            self.sum.groups.extend(pose.groups.iter().map(|group| PoseGroup {
                rotation: group.rotation.map(|lanes| lanes * factor),
                position: group.position.map(|lanes| lanes * factor),
                scale: group.scale.map(|lanes| lanes * factor),
            }));
            self.weight = weight;
            return;
        }
        debug_assert_eq!(self.sum.groups.len(), pose.groups.len());
        add_weighted(&mut self.sum.groups, &pose.groups, factor);
        self.weight += weight;
    }

    /// Writes the mean into `pose`. Without any weight, `pose` is left as it is.
    pub fn finish(&self, pose: &mut Pose) {
        if self.weight <= 0.0 {
            return;
        }
        let factor = Lanes::splat(1.0 / self.weight);
        pose.groups.clear();
        pose.groups.extend(self.sum.groups.iter().map(|group| PoseGroup {
            rotation: normalize(group.rotation),
            position: group.position.map(|lanes| lanes * factor),
            scale: group.scale.map(|lanes| lanes * factor),
        }));
    }
}

dispatched_to! {
    add_weighted_with: fn add_weighted(sums: &mut [PoseGroup], groups: &[PoseGroup], factor: Lanes)
}

/// Adds a pose to a sum. `WIDE`: the processor has AVX2.
#[inline(always)]
fn add_weighted_with<const WIDE: bool>(
    sums: &mut [PoseGroup],
    groups: &[PoseGroup],
    factor: Lanes,
) {
    for (sum, group) in sums.iter_mut().zip(groups) {
        let [a, b] = [&sum.rotation, &group.rotation];
        let dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        let signed = dot.sign() * factor;
        #[cfg(target_arch = "x86_64")]
        if WIDE {
            // SAFETY: the processor has the instructions.
            unsafe { wide::add_group(sum, group, signed, factor) };
            continue;
        }
        for (sum, lanes) in sum.rotation.iter_mut().zip(group.rotation) {
            *sum = *sum + lanes * signed;
        }
        for (sum, lanes) in sum.position.iter_mut().zip(group.position) {
            *sum = *sum + lanes * factor;
        }
        for (sum, lanes) in sum.scale.iter_mut().zip(group.scale) {
            *sum = *sum + lanes * factor;
        }
    }
}

/// The addition with vectors of eight numbers.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Lanes, PoseGroup};
    use std::arch::x86_64::{
        __m128, __m256, _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set_m128,
        _mm256_storeu_ps,
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn twice(lanes: Lanes) -> __m256 {
        // SAFETY: both are 16 bytes with four numbers.
        let four = unsafe { std::mem::transmute::<[f32; 4], __m128>(lanes.0) };
        _mm256_set_m128(four, four)
    }

    /// Adds a group to a sum: rotations with the factor `turn`, the rest with `factor`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn add_group(sum: &mut PoseGroup, group: &PoseGroup, turn: Lanes, factor: Lanes) {
        const EIGHTS: usize = size_of::<PoseGroup>() / size_of::<__m256>();
        const ROTATION_EIGHTS: usize = 2;
        let (turn, factor) = (twice(turn), twice(factor));
        let sum: *mut f32 = std::ptr::from_mut(sum).cast();
        let group: *const f32 = std::ptr::from_ref(group).cast();
        for eight in 0..EIGHTS {
            let factor = if eight < ROTATION_EIGHTS { turn } else { factor };
            // SAFETY: a group has 40 numbers, one after another.
            unsafe {
                let (sum, number) = (sum.add(eight * 8), _mm256_loadu_ps(group.add(eight * 8)));
                let added = _mm256_mul_ps(number, factor);
                _mm256_storeu_ps(sum, _mm256_add_ps(_mm256_loadu_ps(sum), added));
            }
        }
    }
}

/// Returns the products of two rotations, of which `b` is applied first.
#[inline(always)]
pub fn product(a: [Lanes; 4], b: [Lanes; 4]) -> [Lanes; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Scales four quaternions to length 1. Opposite rotations of equal weight can cancel out; the
/// result is then no rotation.
#[inline(always)]
pub fn normalize(rotation: [Lanes; 4]) -> [Lanes; 4] {
    let [x, y, z, w] = rotation;
    let square = x * x + y * y + z * z + w * w;
    let tiny = Lanes::splat(1e-12);
    let real = square.if_below(tiny, Lanes::splat(1e-3), w);
    let square = square.if_below(tiny, Lanes::splat(1e-6), square);
    let factor = Lanes::ONE / square.sqrt();
    [x * factor, y * factor, z * factor, real * factor]
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::dispatch::has_wide_vectors;
    use engine_foundation::random::Random;

    #[test]
    fn wide_vectors_add_poses_with_the_bits_of_others() {
        if !has_wide_vectors() {
            return;
        }
        let mut random = Random::seed(12);
        let mut lanes =
            || Lanes(std::array::from_fn(|_| random.range_i64(-9999, 9999) as f32 / 7.0));
        let mut group = || PoseGroup {
            rotation: [(); 4].map(|()| lanes()),
            position: [(); 3].map(|()| lanes()),
            scale: [(); 3].map(|()| lanes()),
        };
        let groups: Vec<PoseGroup> = (0..50).map(|_| group()).collect();
        let before: Vec<PoseGroup> = (0..50).map(|_| group()).collect();
        let (mut wide, mut plain) = (before.clone(), before);
        let factor = Lanes::splat(0.3);
        add_weighted_with::<true>(&mut wide, &groups, factor);
        add_weighted_with::<false>(&mut plain, &groups, factor);
        assert!(wide == plain && wide != groups);
    }
}
