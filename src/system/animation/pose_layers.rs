//! Poses over poses: blending by weight and mask, differences and their addition.

use super::dispatch::dispatched;
use super::lanes::Lanes;
use super::pose::{Pose, PoseGroup, normalize, product};

/// Least absolute scale by which a difference of scales is divided.
const SCALE_MIN: f32 = 1e-6;

#[inline(always)]
fn dot(a: &[Lanes; 4], b: &[Lanes; 4]) -> Lanes {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

#[inline(always)]
fn mix<const N: usize>(from: [Lanes; N], to: [Lanes; N], part: Lanes) -> [Lanes; N] {
    std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * part)
}

dispatched! {
    fn blend(groups: &mut [PoseGroup], others: &[PoseGroup], weight: f32, mask: Option<&[Lanes]>) {
        let whole = Lanes::splat(weight).clamp_to_unit();
        for (index, (group, other)) in groups.iter_mut().zip(others).enumerate() {
            let masked = mask.and_then(|mask| mask.get(index)).copied();
            let part = masked.map_or(whole, |masked| masked * whole);
            if part == Lanes::ZERO {
                continue;
            }
            let sign = dot(&group.rotation, &other.rotation).sign();
            let rotation = other.rotation.map(|lanes| lanes * sign);
            group.rotation = normalize(mix(normalize(group.rotation), rotation, part));
            group.position = mix(group.position, other.position, part);
            group.scale = mix(group.scale, other.scale, part);
        }
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
            let turned = difference.rotation.map(|lanes| lanes * sign);
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
