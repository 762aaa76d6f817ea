//! Quantized values of keys. The components of a value are fractions of the range that the track
//! has in its clip, with 8, 16 or 24 bits each. Rotations are stored relative to the track's mean
//! rotation, without their real part, which follows from the other three.

use super::lanes::Lanes;
use super::source::TrackProperty;
use engine_foundation::{Quat, Vec3, Vec4};

/// Bits of each of the three components of a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum KeyBits {
    Eight,
    Sixteen,
    TwentyFour,
}

impl KeyBits {
    pub const ALL: [KeyBits; 3] = [KeyBits::Eight, KeyBits::Sixteen, KeyBits::TwentyFour];

    pub fn bytes_per_component(self) -> usize {
        match self {
            KeyBits::Eight => 1,
            KeyBits::Sixteen => 2,
            KeyBits::TwentyFour => 3,
        }
    }

    fn steps(self) -> f32 {
        (match self {
            KeyBits::Eight => 0xff_u32,
            KeyBits::Sixteen => 0xffff,
            KeyBits::TwentyFour => 0xff_ffff,
        }) as f32
    }
}

/// Range of the values of a track.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TrackRange {
    /// Mean rotation, to which the rotations of the track are relative.
    pub mean: Quat,
    pub least: Vec3,
    pub extent: Vec3,
}

/// Quantized value: three components, and the sign of the real part of a rotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuantizedValue {
    pub components: [u32; 3],
    /// True if the real part of the rotation, relative to the mean, is negative.
    pub negative: bool,
}

impl TrackRange {
    /// Returns the range of values. Rotations that follow each other should have positive dot
    /// products, so that their interpolation takes the shorter arc.
    pub fn of(property: TrackProperty, values: impl Iterator<Item = Vec4> + Clone) -> TrackRange {
        let mean = match property {
            TrackProperty::Rotation => mean_rotation(values.clone()),
            _ => Quat::IDENTITY,
        };
        let mut least = Vec3::splat(f32::INFINITY);
        let mut most = Vec3::splat(f32::NEG_INFINITY);
        for value in values {
            let (stored, _) = stored_components(property, mean, value);
            least = least.min(stored);
            most = most.max(stored);
        }
        TrackRange { mean, least, extent: most - least }
    }

    pub fn quantize(&self, property: TrackProperty, bits: KeyBits, value: Vec4) -> QuantizedValue {
        let (stored, negative) = stored_components(property, self.mean, value);
        let component = |axis: usize| match self.extent[axis] > 0.0 {
            true => {
                let part = (stored[axis] - self.least[axis]) / self.extent[axis];
                (part.clamp(0.0, 1.0) * bits.steps()).round() as u32
            }
            false => 0,
        };
        QuantizedValue { components: [component(0), component(1), component(2)], negative }
    }

    /// Returns the size of a step of each component of keys with a number of bits.
    pub fn step_size(&self, bits: KeyBits) -> Vec3 {
        self.extent / bits.steps()
    }

    /// Returns the value of a key. `step_size` is that of the track's bits.
    #[inline(always)]
    pub fn restore(&self, property: TrackProperty, step_size: Vec3, key: QuantizedValue) -> Vec4 {
        // Components have 24 bits at most, and signed integers are converted faster.
        let [x, y, z] = key.components;
        let parts = Vec3::new(x as i32 as f32, y as i32 as f32, z as i32 as f32);
        let stored = self.least + step_size * parts;
        match property {
            TrackProperty::Position | TrackProperty::Scale | TrackProperty::Weight => {
                stored.extend(0.0)
            }
            TrackProperty::Rotation => {
                let square = stored.x * stored.x + stored.y * stored.y + stored.z * stored.z;
                let real = if square < 1.0 { (1.0 - square).sqrt() } else { 0.0 };
                let sign = if key.negative { -1.0 } else { 1.0 };
                product(self.mean, (stored * sign).extend(real * sign))
            }
        }
    }
}

/// Product of a rotation and a quaternion, in one order on every machine.
#[inline(always)]
fn product(a: Quat, b: Vec4) -> Vec4 {
    let sum = Lanes([a.x, a.y, a.z, a.w]) * Lanes::splat(b.w)
        + Lanes([a.w, a.z, -a.y, -a.x]) * Lanes::splat(b.x)
        + Lanes([-a.z, a.w, a.x, -a.y]) * Lanes::splat(b.y)
        + Lanes([a.y, -a.x, a.w, -a.z]) * Lanes::splat(b.z);
    Vec4::from_array(sum.0)
}

/// Returns the product of two rotations, of which `b` is applied first.
pub fn rotation_product(a: Quat, b: Vec4) -> Vec4 {
    product(a, b)
}

/// Returns a rotation relative to another one.
pub fn conjugate_product(a: Quat, b: Vec4) -> Vec4 {
    product(a.conjugate(), b)
}

/// Returns the components that are stored for a value, and the sign of the real part.
fn stored_components(property: TrackProperty, mean: Quat, value: Vec4) -> (Vec3, bool) {
    match property {
        TrackProperty::Position | TrackProperty::Scale | TrackProperty::Weight => {
            (value.truncate(), false)
        }
        TrackProperty::Rotation => {
            let relative = product(mean.conjugate(), value).normalize_or(Vec4::W);
            match relative.w < 0.0 {
                true => (-relative.truncate(), true),
                false => (relative.truncate(), false),
            }
        }
    }
}

fn mean_rotation(values: impl Iterator<Item = Vec4>) -> Quat {
    let mut sum = Vec4::ZERO;
    for value in values {
        sum += if sum.dot(value) < 0.0 { -value } else { value };
    }
    Quat::from_vec4(sum.normalize_or(Vec4::W))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotations() -> Vec<Vec4> {
        let mut all = Vec::new();
        for step in 0..200 {
            let step = step as f32;
            let axis = Vec3::new(step.sin(), (step * 0.7).cos(), 0.3).normalize();
            all.push(Vec4::from(Quat::from_axis_angle(axis, step * 0.05)));
        }
        all
    }

    #[test]
    fn restored_rotations_are_close() {
        let all = rotations();
        let range = TrackRange::of(TrackProperty::Rotation, all.iter().copied());
        for (bits, most) in [(KeyBits::Sixteen, 4e-3), (KeyBits::TwentyFour, 3e-4)] {
            for value in &all {
                let key = range.quantize(TrackProperty::Rotation, bits, *value);
                let size = range.step_size(bits);
                let restored = range.restore(TrackProperty::Rotation, size, key);
                let error = (restored - *value).length();
                assert!(error < most, "{bits:?}: {value} became {restored}");
            }
        }
    }

    #[test]
    fn restored_positions_are_within_half_a_step() {
        let all = [Vec4::new(-3.0, 0.0, 10.0, 0.0), Vec4::new(5.0, 0.0, 10.5, 0.0)];
        let range = TrackRange::of(TrackProperty::Position, all.into_iter());
        assert_eq!(range.extent, Vec3::new(8.0, 0.0, 0.5));
        for value in all {
            let key = range.quantize(TrackProperty::Position, KeyBits::Eight, value);
            let size = range.step_size(KeyBits::Eight);
            let restored = range.restore(TrackProperty::Position, size, key);
            assert!((restored - value).abs().max_element() <= 8.0 / 255.0 / 2.0);
        }
    }
}
