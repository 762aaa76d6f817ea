//! Curves that become tracks of keyframes: the step of each track, and the numbers of its values.

use super::quantization::{conjugate_product, rotation_product};
use super::source::TrackProperty;
use super::uniform_track::{
    STEPS_MAX, UNIFORM_REACH_MAX, UniformTrack, UniformTracks, UniformValue,
};
use engine_foundation::{Quat, Vec3, Vec4};

/// Least real part, relative to the mean, of rotations whose real part is not stored.
const REAL_MIN: f32 = 0.35;
/// Limits of the part of the tolerance that the error of one track takes.
pub const SHARE: (f32, f32) = (0.02, 8.0);
/// Part of the tolerance of the first round.
const FIRST_SHARE: f32 = 0.5;

/// Curve that becomes a track of keyframes.
pub struct UniformCurve {
    pub track: UniformTrack,
    /// Exact values at the keyframes. Rotations that follow each other have positive dot products.
    exact: Vec<Vec4>,
    /// Largest displacement: in metres, or in units of the parent's space for positions.
    tolerance: f32,
    /// Distances in metres at which errors of each component are visible: for rotations, those of
    /// the farthest child from each axis, because children correct the error.
    reach: Vec3,
    /// Part of the tolerance that is spent on the error of this track.
    pub share: f32,
    pub values: Vec<UniformValue>,
}

impl UniformCurve {
    pub fn new(
        (property, bone): (TrackProperty, u16),
        exact: Vec<Vec4>,
        tolerance: f32,
        reach: Vec3,
    ) -> UniformCurve {
        let mut track = UniformTrack {
            bone,
            property,
            has_real: false,
            mean: [0; 3],
            origin: Vec3::ZERO,
            step: Vec3::ZERO,
            step_codes: [0; 3],
        };
        if property == TrackProperty::Rotation {
            let mut sum = Vec4::ZERO;
            exact.iter().for_each(|value| sum += *value);
            track.set_short_mean(Quat::from_vec4(sum.normalize_or(Vec4::W)));
            let mean = track.mean_rotation();
            // A real part that changes its sign between two keyframes is as bad as a small one.
            let real = |value: &Vec4| conjugate_product(mean, *value).w;
            let least = exact.iter().map(real).fold(1.0, f32::min);
            track.has_real = least < REAL_MIN;
        } else {
            let least = exact.iter().fold(Vec4::INFINITY, |least, value| least.min(*value));
            let most = exact.iter().fold(Vec4::NEG_INFINITY, |most, value| most.max(*value));
            track.origin = ((least + most) * 0.5).truncate();
        }
        let values = Vec::with_capacity(exact.len());
        let mut curve = UniformCurve { track, exact, tolerance, reach, share: FIRST_SHARE, values };
        curve.choose_step();
        curve
    }

    /// Returns the number of keyframes.
    pub fn keyframe_count(&self) -> u32 {
        self.exact.len() as u32
    }

    /// Sets the size of a step from the share.
    pub fn choose_step(&mut self) {
        let error = self.tolerance * self.share;
        let steps = error / self.reach;
        if self.track.property == TrackProperty::Rotation {
            return self.track.set_rotation_steps(steps);
        }
        let most = |most: f32, value: &Vec4| {
            most.max((value.truncate() - self.track.origin).abs().max_element())
        };
        let size = self.exact.iter().fold(0.0, most);
        // The largest step with which the track is valid, and a little less for rounding. It is
        // always above the least one, because values are limited, too.
        let most = Vec3::splat(UNIFORM_REACH_MAX * 0.999) - self.track.origin.abs();
        let least = Vec3::splat(size / (STEPS_MAX / 2) as f32);
        self.track.step = steps.min(most / STEPS_MAX as f32).max(least);
    }

    /// Sets the share and the size of a step. Rotations keep their numbers for the time being.
    pub fn set_share(&mut self, share: f32) {
        self.share = share.clamp(SHARE.0, SHARE.1);
        self.choose_step();
        if self.track.property != TrackProperty::Rotation {
            self.quantize_exact();
        }
    }

    /// Takes back [`UniformCurve::set_share`].
    pub fn restore(&mut self, (share, track): (f32, UniformTrack)) {
        (self.share, self.track) = (share, track);
        if self.track.property != TrackProperty::Rotation {
            self.quantize_exact();
        }
    }

    /// Quantizes the values without a correction.
    pub fn quantize_exact(&mut self) {
        self.values.clear();
        for keyframe in 0..self.exact.len() {
            let value = match self.track.property {
                TrackProperty::Rotation => self.nearest(self.exact[keyframe], self.values.last()).0,
                _ => {
                    let part =
                        (self.exact[keyframe].truncate() - self.track.origin) / self.track.step;
                    [whole(part.x), whole(part.y), whole(part.z), 0]
                }
            };
            self.values.push(value);
        }
    }

    /// Returns the nearest numbers of a rotation, and the rotation as it is restored.
    pub fn nearest(&self, value: Vec4, previous: Option<&UniformValue>) -> (UniformValue, Quat) {
        let step = self.track.step.extend(self.track.step.x);
        let relative = self.relative(value, previous);
        let mut steps = (relative / step).to_array().map(whole);
        let mut restored = Vec4::from_array(steps.map(|it| it as f32)) * step;
        if !self.track.has_real {
            steps[3] = 0;
            restored.w = real_part(restored.truncate());
        }
        let restored = rotation_product(self.track.mean_rotation(), restored);
        (steps, Quat::from_vec4(restored.normalize_or(Vec4::W)))
    }

    /// Returns a rotation relative to the mean, with the sign that its numbers have.
    pub fn relative(&self, value: Vec4, previous: Option<&UniformValue>) -> Vec4 {
        let relative = conjugate_product(self.track.mean_rotation(), value).normalize_or(Vec4::W);
        let flips = match self.track.has_real {
            true => {
                let previous =
                    previous.map_or(Vec4::W, |it| Vec4::from_array(it.map(|it| it as f32)));
                relative.dot(previous) < 0.0
            }
            false => relative.w < 0.0,
        };
        if flips { -relative } else { relative }
    }

    /// Returns the value of a keyframe of a track that is no rotation, as it is restored.
    pub fn restored(&self, keyframe: usize) -> Vec3 {
        let [x, y, z, _] = self.values[keyframe].map(|number| number as f32);
        self.track.origin + self.track.step * Vec3::new(x, y, z)
    }

    /// Returns the bytes that the track takes, about.
    pub fn byte_count(&self) -> usize {
        let head = if self.track.property == TrackProperty::Rotation { 16 } else { 32 };
        head + UniformTracks::bits_of_track(&self.values, self.track.components()) / 8
    }
}

/// Returns the nearest whole number that can be stored.
fn whole(number: f32) -> i32 {
    number.round().clamp(-STEPS_MAX as f32, STEPS_MAX as f32) as i32
}

/// Returns the real part of a rotation with this imaginary part.
pub fn real_part(part: Vec3) -> f32 {
    (1.0 - part.length_squared()).max(0.0).sqrt()
}

impl UniformTrack {
    /// Turns the rotations of a track: `turn` is applied after them.
    pub fn turn(&mut self, turn: Quat, values: &mut [UniformValue]) {
        if !self.has_real {
            let mean = turn * self.mean_rotation();
            self.set_mean(mean);
            // Rotations are relative to the rounded mean. Near half a turn it differs by up to
            // 0.8 degrees.
            let change = conjugate_product(self.mean_rotation(), Vec4::from(mean));
            let change = if change.w < 0.0 { -change } else { change };
            if change.truncate().abs().max_element() > self.step.min_element() * 0.5 {
                let change = Quat::from_vec4(change).normalize();
                values.iter_mut().for_each(|value| self.change(change, value));
            }
            return;
        }
        for value in values {
            let turned = rotation_product(turn, Vec4::from_array(value.map(|it| it as f32)));
            *value = turned.to_array().map(|number| number.round() as i32);
        }
    }

    /// Applies a small rotation after one whose real part is not stored.
    fn change(&self, change: Quat, value: &mut UniformValue) {
        let [x, y, z, _] = value.map(|it| it as f32);
        let part = Vec3::new(x, y, z) * self.step;
        let real = (1.0 - part.length_squared()).max(0.0).sqrt();
        let changed = rotation_product(change, part.extend(real));
        let changed = if changed.w < 0.0 { -changed } else { changed };
        let [x, y, z] = (changed.truncate() / self.step).to_array().map(|it| it.round() as i32);
        *value = [x, y, z, 0];
    }
}
