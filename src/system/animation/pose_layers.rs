//! Poses over poses: blending by weight and mask, differences and their addition.

use super::dispatch::dispatched_to;
use super::lanes::Lanes;
#[cfg(target_arch = "x86_64")]
use super::numbers::wide::Lanes8;
use super::numbers::{SimdFloat, dot, mix, normalize, product};
#[cfg(target_arch = "x86_64")]
use super::pose::wide;
use super::pose::{Pose, PoseGroup, Transforms};

/// Least absolute scale by which a difference of scales is divided.
const SCALE_MIN: f32 = 1e-6;

/// Returns the transforms between two. The part of each bone is 0 for the first.
#[inline(always)]
fn between<V: SimdFloat>(from: Transforms<V>, to: Transforms<V>, part: V) -> Transforms<V> {
    let sign = dot(&from.rotation, &to.rotation).sign();
    let [x, y, z, w] = to.rotation;
    let rotation = [x * sign, y * sign, z * sign, w * sign];
    Transforms {
        rotation: normalize(mix(normalize(from.rotation), rotation, part)),
        position: mix(from.position, to.position, part),
        scale: mix(from.scale, to.scale, part),
    }
}

dispatched_to! {
    blend_with:
    fn blend(groups: &mut [PoseGroup], others: &[PoseGroup], weight: f32, mask: Option<&[Lanes]>)
}

/// Moves a pose towards another one. `WIDE`: the processor has AVX2.
#[inline(always)]
fn blend_with<const WIDE: bool>(
    groups: &mut [PoseGroup],
    others: &[PoseGroup],
    weight: f32,
    mask: Option<&[Lanes]>,
) {
    let whole = Lanes::splat(weight).clamp_to_unit();
    let part_of = |index: usize| {
        let masked = mask.and_then(|mask| mask.get(index)).copied();
        masked.map_or(whole, |masked| masked * whole)
    };
    let count = groups.len().min(others.len());
    let mut index = 0;
    while index < count {
        let part = part_of(index);
        #[cfg(target_arch = "x86_64")]
        if WIDE && index + 1 < count && part != Lanes::ZERO {
            let next = part_of(index + 1);
            if next != Lanes::ZERO {
                let (first, second) = (&others[index], &others[index + 1]);
                let [group, other] = groups[index..].first_chunk_mut().expect("two are left");
                // SAFETY: the processor has the instructions.
                let (from, to, part) = unsafe {
                    let both = (wide::join(group, other), wide::join(first, second));
                    (both.0, both.1, Lanes8::join(part, next))
                };
                wide::store(&between(from, to, part), group, other);
                index += 2;
                continue;
            }
        }
        // A group with no part keeps its bits.
        if part != Lanes::ZERO {
            groups[index] = between(groups[index], others[index], part);
        }
        index += 1;
    }
}

impl Pose {
    /// Moves this pose towards another one: a weight of 0 keeps this pose, and 1 gives the other.
    /// The mask has a weight for each group of bones. Rotations take the shorter arc. Both poses
    /// have the same number of bones.
    pub fn blend_towards(&mut self, other: &Pose, weight: f32, mask: Option<&[Lanes]>) {
        debug_assert_eq!(self.groups.len(), other.groups.len());
        blend(&mut self.groups, &other.groups, weight, mask);
    }

    /// Replaces this pose by its difference from a reference: rotations relative to the
    /// reference, differences of positions, and quotients of scales. A scale of 0 in the reference
    /// gives a quotient of 1.
    pub fn subtract(&mut self, reference: &Pose) {
        debug_assert_eq!(self.groups.len(), reference.groups.len());
        for (group, reference) in self.groups.iter_mut().zip(&reference.groups) {
            let [x, y, z, w] = normalize(reference.rotation);
            let rotation = product([-x, -y, -z, w], normalize(group.rotation));
            let scale = std::array::from_fn(|axis| {
                let (scale, reference) = (group.scale[axis].0, reference.scale[axis].0);
                Lanes(std::array::from_fn(|lane| match reference[lane].abs() < SCALE_MIN {
                    true => 1.0,
                    false => scale[lane] / reference[lane],
                }))
            });
            let position =
                std::array::from_fn(|axis| group.position[axis] - reference.position[axis]);
            *group = PoseGroup { rotation, position, scale };
        }
    }

    /// Adds a difference of poses, scaled by a weight and a mask.
    pub fn add_difference(&mut self, difference: &Pose, weight: f32, mask: Option<&[Lanes]>) {
        debug_assert_eq!(self.groups.len(), difference.groups.len());
        let whole = Lanes::splat(weight).clamp_to_unit();
        let identity = [Lanes::ZERO, Lanes::ZERO, Lanes::ZERO, Lanes::ONE];
        for (index, (group, difference)) in
            self.groups.iter_mut().zip(&difference.groups).enumerate()
        {
            let masked = mask.and_then(|mask| mask.get(index)).copied();
            let part = masked.map_or(whole, |masked| masked * whole);
            if part == Lanes::ZERO {
                continue;
            }
            let sign = difference.rotation[3].sign();
            let [x, y, z, w] = difference.rotation;
            let turned = [x * sign, y * sign, z * sign, w * sign];
            let turned = normalize(mix(identity, turned, part));
            group.rotation = product(normalize(group.rotation), turned);
            for (position, moved) in group.position.iter_mut().zip(difference.position) {
                *position = *position + moved * part;
            }
            for (scale, factor) in group.scale.iter_mut().zip(difference.scale) {
                *scale = *scale * (Lanes::ONE + (factor - Lanes::ONE) * part);
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::dispatch::has_wide_vectors;
    use engine_foundation::random::Random;

    /// Returns the bits of all numbers. All NaN have the same ones, as their signs and the rest of
    /// their bits are not defined.
    fn bits(groups: &[PoseGroup]) -> Vec<u32> {
        let of = |number: f32| if number.is_nan() { f32::NAN.to_bits() } else { number.to_bits() };
        let numbers = |it: &PoseGroup| {
            let lanes = it.rotation.into_iter().chain(it.position).chain(it.scale);
            lanes.flat_map(|lanes| lanes.0).map(of).collect::<Vec<u32>>()
        };
        groups.iter().flat_map(numbers).collect()
    }

    #[test]
    fn wide_vectors_blend_poses_with_the_bits_of_others() {
        if !has_wide_vectors() {
            return;
        }
        let mut random = Random::seed(3);
        let mut lanes =
            || Lanes(std::array::from_fn(|_| random.range_i64(-9999, 9999) as f32 / 7e3));
        let mut group = || PoseGroup {
            rotation: [(); 4].map(|()| lanes()),
            position: [(); 3].map(|()| lanes()),
            scale: [(); 3].map(|()| lanes()),
        };
        let mut groups: Vec<PoseGroup> = (0..21).map(|_| group()).collect();
        let mut others: Vec<PoseGroup> = (0..21).map(|_| group()).collect();
        // Rotations without a length, opposite ones, negative zeros and infinite numbers.
        groups[1].rotation = [Lanes::ZERO; 4];
        others[2].rotation = groups[2].rotation.map(|lanes| Lanes(lanes.0.map(|it| -it)));
        groups[6].rotation = [Lanes::splat(-0.0); 4];
        (groups[6].position, others[6].position) = ([Lanes::splat(-0.0); 3], [Lanes::ZERO; 3]);
        others[8].position[1] = Lanes::splat(f32::INFINITY);
        groups[11].rotation[2] = Lanes::splat(f32::NEG_INFINITY);
        groups[13].scale[0] = Lanes::splat(f32::NAN);
        let mut mask: Vec<Lanes> =
            (0..19).map(|index| Lanes([0.0, 0.3, 1.0, index as f32 / 20.0])).collect();
        for index in [0, 3, 4, 9] {
            mask[index] = Lanes::ZERO;
        }
        mask[15].0[1] = f32::NAN;
        for mask in [None, Some(&mask[..])] {
            let (mut wide, mut plain) = (groups.clone(), groups.clone());
            blend_with::<true>(&mut wide, &others, 0.7, mask);
            blend_with::<false>(&mut plain, &others, 0.7, mask);
            assert!(bits(&wide) == bits(&plain) && bits(&wide) != bits(&groups));
        }
    }
}
