//! Poses: the local transforms of all bones, in groups of four, and weighted sums of poses.

use super::dispatch::dispatched_to;
use super::lanes::Lanes;
use super::numbers::{SimdFloat, dot, normalize};
use super::skeleton::{BoneTransform, Skeleton};
use engine_foundation::hash::StateHash;
use engine_foundation::{Quat, Vec3};

/// Local transforms of as many bones as a vector has numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Transforms<V> {
    /// x, y, z and w. Their length is near 1, and exactly 1 only at keys.
    pub rotation: [V; 4],
    pub position: [V; 3],
    pub scale: [V; 3],
}

/// Local transforms of four bones.
pub type PoseGroup = Transforms<Lanes>;

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

    /// Copies a bone of another pose. Panics if there is no such bone.
    #[inline]
    pub fn copy_bone(&mut self, bone: usize, other: &Pose, from: usize) {
        let (group, other) = (&mut self.groups[bone / 4], &other.groups[from / 4]);
        let (lane, from) = (bone % 4, from % 4);
        let lanes = group.rotation.iter_mut().chain(&mut group.position).chain(&mut group.scale);
        let theirs = other.rotation.iter().chain(&other.position).chain(&other.scale);
        lanes.zip(theirs).for_each(|(lanes, theirs)| lanes.0[lane] = theirs.0[from]);
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
    /// Without any weight, its numbers mean nothing.
    sum: Pose,
    weight: f32,
}

impl BlendSum {
    /// Starts a sum. Reuses the memory of the previous one.
    pub fn clear(&mut self) {
        self.weight = 0.0;
    }

    /// Adds a pose. A weight that is not above 0 adds nothing. All poses of a sum have the same
    /// number of bones.
    pub fn add(&mut self, pose: &Pose, weight: f32) {
        if weight.is_nan() || weight <= 0.0 {
            return;
        }
        if self.weight <= 0.0 {
            // All numbers are written: those of the previous sum stay until then.
            self.sum.groups.resize(pose.groups.len(), PoseGroup::IDENTITY);
            scale(&pose.groups, &mut self.sum.groups, weight);
            self.weight = weight;
            return;
        }
        debug_assert_eq!(self.sum.groups.len(), pose.groups.len());
        add_weighted(&mut self.sum.groups, &pose.groups, Lanes::splat(weight));
        self.weight += weight;
    }

    /// Writes the mean into `pose`. Without any weight, `pose` is left as it is.
    pub fn finish(&self, pose: &mut Pose) {
        if self.weight > 0.0 {
            pose.groups.resize(self.sum.groups.len(), PoseGroup::IDENTITY);
            normalize_sum(&self.sum.groups, &mut pose.groups, 1.0 / self.weight);
        }
    }
}

impl<V: SimdFloat> Transforms<V> {
    /// Returns all numbers multiplied by a factor. Loops, as `map` is compiled without the
    /// instructions of wide vectors: it would be a call for each of them.
    #[inline(always)]
    fn scaled(mut self, factor: V) -> Transforms<V> {
        for number in &mut self.rotation {
            *number = *number * factor;
        }
        for number in &mut self.position {
            *number = *number * factor;
        }
        for number in &mut self.scale {
            *number = *number * factor;
        }
        self
    }
}

/// A calculation for each bone of a pose.
trait EachBone {
    fn apply<V: SimdFloat>(&self, transforms: Transforms<V>) -> Transforms<V>;
}

struct ScaleBy(f32);

impl EachBone for ScaleBy {
    #[inline(always)]
    fn apply<V: SimdFloat>(&self, transforms: Transforms<V>) -> Transforms<V> {
        transforms.scaled(V::splat(self.0))
    }
}

/// The mean of a sum, from 1 divided by its weights.
struct NormalizeSum(f32);

impl EachBone for NormalizeSum {
    #[inline(always)]
    fn apply<V: SimdFloat>(&self, transforms: Transforms<V>) -> Transforms<V> {
        let rotation = normalize(transforms.rotation);
        Transforms { rotation, ..transforms.scaled(V::splat(self.0)) }
    }
}

/// Writes the changed bones of a pose to another one. `WIDE`: the processor has AVX2.
#[inline(always)]
fn change_with<const WIDE: bool>(from: &[PoseGroup], to: &mut [PoseGroup], change: impl EachBone) {
    #[cfg(target_arch = "x86_64")]
    let (from, to) = match WIDE {
        true => wide::change_pairs(from, to, &change),
        false => (from, to),
    };
    for (group, out) in from.iter().zip(to) {
        *out = change.apply(*group);
    }
}

#[inline(always)]
fn scale_with<const WIDE: bool>(from: &[PoseGroup], to: &mut [PoseGroup], factor: f32) {
    change_with::<WIDE>(from, to, ScaleBy(factor));
}

#[inline(always)]
fn normalize_sum_with<const WIDE: bool>(from: &[PoseGroup], to: &mut [PoseGroup], factor: f32) {
    change_with::<WIDE>(from, to, NormalizeSum(factor));
}

dispatched_to! { scale_with: fn scale(from: &[PoseGroup], to: &mut [PoseGroup], factor: f32) }
dispatched_to! {
    normalize_sum_with: fn normalize_sum(from: &[PoseGroup], to: &mut [PoseGroup], factor: f32)
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
        let signed = dot(&sum.rotation, &group.rotation).sign() * factor;
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

/// The calculations with vectors of eight numbers.
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide {
    use super::super::numbers::wide::Lanes8;
    use super::{EachBone, Lanes, PoseGroup, Transforms};
    use std::arch::x86_64::{
        __m128, __m256, _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set_m128,
        _mm256_storeu_ps,
    };

    /// Joins the transforms of two groups.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub unsafe fn join(first: &PoseGroup, second: &PoseGroup) -> Transforms<Lanes8> {
        // SAFETY: the caller has promised it.
        unsafe {
            let zero = Lanes8::join(Lanes::ZERO, Lanes::ZERO);
            let mut both =
                Transforms { rotation: [zero; 4], position: [zero; 3], scale: [zero; 3] };
            for axis in 0..4 {
                both.rotation[axis] = Lanes8::join(first.rotation[axis], second.rotation[axis]);
            }
            for axis in 0..3 {
                both.position[axis] = Lanes8::join(first.position[axis], second.position[axis]);
                both.scale[axis] = Lanes8::join(first.scale[axis], second.scale[axis]);
            }
            both
        }
    }

    /// Writes the transforms of both groups.
    #[inline(always)]
    pub fn store(both: &Transforms<Lanes8>, first: &mut PoseGroup, second: &mut PoseGroup) {
        for axis in 0..4 {
            [first.rotation[axis], second.rotation[axis]] = both.rotation[axis].halves();
        }
        for axis in 0..3 {
            [first.position[axis], second.position[axis]] = both.position[axis].halves();
            [first.scale[axis], second.scale[axis]] = both.scale[axis].halves();
        }
    }

    /// Writes the changed bones of two groups at a time. Returns the groups that are left. The
    /// processor has AVX2.
    #[inline(always)]
    pub(super) fn change_pairs<'a>(
        from: &'a [PoseGroup],
        to: &'a mut [PoseGroup],
        change: &impl EachBone,
    ) -> (&'a [PoseGroup], &'a mut [PoseGroup]) {
        let ((pairs, last), (out, last_out)) = (from.as_chunks::<2>(), to.as_chunks_mut::<2>());
        for ([first, second], [first_out, second_out]) in pairs.iter().zip(out) {
            // SAFETY: the processor has the instructions.
            let both = unsafe { join(first, second) };
            store(&change.apply(both), first_out, second_out);
        }
        (last, last_out)
    }

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
        let bits = |groups: &[PoseGroup]| -> Vec<u32> {
            let numbers = |it: &PoseGroup| {
                let lanes = it.rotation.into_iter().chain(it.position).chain(it.scale);
                lanes.flat_map(|lanes| lanes.0).map(f32::to_bits).collect::<Vec<u32>>()
            };
            groups.iter().flat_map(numbers).collect()
        };
        assert!(bits(&wide) == bits(&plain) && wide != groups);
        scale_with::<true>(&wide.clone(), &mut wide, 0.3);
        scale_with::<false>(&plain.clone(), &mut plain, 0.3);
        wide[3].rotation[0].0[1] = 1e-20;
        plain[3].rotation[0].0[1] = 1e-20;
        for axis in 0..4 {
            (wide[7].rotation[axis], plain[7].rotation[axis]) = (Lanes::ZERO, Lanes::ZERO);
        }
        normalize_sum_with::<true>(&wide.clone()[..49], &mut wide[..49], 1.7);
        normalize_sum_with::<false>(&plain.clone()[..49], &mut plain[..49], 1.7);
        assert_eq!(bits(&wide), bits(&plain));
    }
}
