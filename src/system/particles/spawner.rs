//! Random initial position and direction of a new particle, by the emitter's shape.

use super::data::{EmitterData, Shape};
use engine_foundation::deterministic_math::{cube_root, sin_cos};
use engine_foundation::random::Random;
use engine_foundation::{Quat, Vec3};
use std::f32::consts::TAU;

/// Returns two random numbers in 0 <= x < 1.
#[inline(always)]
pub fn random_pair(random: &mut Random) -> [f32; 2] {
    let bits = random.next_u64();
    let part = |bits: u32| (bits >> 8) as f32 * (1.0 / (1 << 24) as f32);
    [part(bits as u32), part((bits >> 32) as u32)]
}

/// Interpolates between two numbers.
#[inline(always)]
pub fn between([low, high]: [f32; 2], part: f32) -> f32 {
    low + (high - low) * part
}

/// Returns a random integer between two numbers, both included.
pub fn count_between([low, high]: [u32; 2], random: &mut Random) -> u32 {
    if low == high { low } else { random.range_i64(low.into(), high.into()) as u32 }
}

/// Parameters of an emitter's random positions and directions, resolved once a step.
#[derive(Clone, Copy, Debug)]
pub struct Spawner {
    shape: Shape,
    flat: bool,
    extents: Vec3,
    radius: f32,
    inner: f32,
    /// Half the opening angle of a cone.
    angle: f32,
    /// Initial direction. `None`: determined by the shape.
    direction: Option<Vec3>,
    spread: f32,
    /// Rotation from up to the direction.
    turned: Quat,
}

impl Spawner {
    /// Creates the spawner of an emitter. A variable may have set the direction. `flat` confines it
    /// to the xy plane.
    pub fn new(numbers: &EmitterData, direction: Vec3, flat: bool) -> Spawner {
        let shape = Shape::of(numbers.shape);
        let up = if flat { Vec3::Y } else { Vec3::Z };
        let direction = direction.try_normalize();
        let turned = Quat::from_rotation_arc(up, direction.unwrap_or(up));
        Spawner {
            shape,
            flat,
            extents: Vec3::from_array(numbers.extents),
            radius: numbers.radius,
            inner: numbers.inner,
            angle: numbers.angle,
            direction,
            spread: numbers.spread,
            turned,
        }
    }

    /// Returns a random position and direction, relative to the emitter.
    #[inline(always)]
    pub fn draw(&self, random: &mut Random) -> (Vec3, Vec3) {
        let [a, b] = random_pair(random);
        let offset = match self.shape {
            Shape::Point => Vec3::ZERO,
            Shape::Line => self.extents * a,
            Shape::Box => {
                let [c, _] = random_pair(random);
                let z = if self.flat { 0.0 } else { 2.0 * c - 1.0 };
                self.extents * Vec3::new(2.0 * a - 1.0, 2.0 * b - 1.0, z)
            }
            Shape::Sphere => self.ball(random, a, b),
            Shape::Circle | Shape::Ring => self.disc(a, b),
            Shape::Cone => return self.cone(random, a, b),
        };
        let direction = match (self.direction, self.shape) {
            (Some(_), _) => self.direction_within(random, self.spread),
            (None, Shape::Sphere | Shape::Circle | Shape::Ring) if offset != Vec3::ZERO => {
                offset.normalize()
            }
            _ => self.random_point(random),
        };
        (offset, direction)
    }

    /// Returns a random position in a sphere, or in a disc if the emitter is flat.
    fn ball(&self, random: &mut Random, a: f32, b: f32) -> Vec3 {
        if self.flat {
            return self.disc(a, b);
        }
        let [c, _] = random_pair(random);
        let cube = self.inner * self.inner * self.inner;
        let radius = self.radius * cube_root(between([cube, 1.0], a));
        let rise = 2.0 * b - 1.0;
        let level = (1.0 - rise * rise).sqrt();
        let (sin, cos) = sin_cos(c * TAU);
        Vec3::new(level * cos, level * sin, rise) * radius
    }

    /// Returns a position in a disc that faces the direction, or in the xy plane if the emitter is
    /// flat.
    fn disc(&self, a: f32, b: f32) -> Vec3 {
        let radius = self.radius * between([self.inner * self.inner, 1.0], a).sqrt();
        let (sin, cos) = sin_cos(b * TAU);
        let offset = Vec3::new(cos, sin, 0.0) * radius;
        if self.flat { offset } else { self.turned * offset }
    }

    /// Returns a random position on the base of a cone, and a direction away from its tip that is
    /// more oblique farther out.
    fn cone(&self, random: &mut Random, a: f32, b: f32) -> (Vec3, Vec3) {
        if self.flat {
            let across = 2.0 * a - 1.0;
            let (sin, cos) = sin_cos(across * self.angle);
            let offset = self.turned * Vec3::new(across * self.radius, 0.0, 0.0);
            return (offset, self.turned * Vec3::new(sin, cos, 0.0));
        }
        if self.radius == 0.0 {
            return (Vec3::ZERO, self.direction_within(random, self.angle));
        }
        let out = a.sqrt();
        let (sin, cos) = sin_cos(b * TAU);
        let (level, rise) = sin_cos(out * self.angle);
        let offset = Vec3::new(cos, sin, 0.0) * (out * self.radius);
        (self.turned * offset, self.turned * Vec3::new(cos * level, sin * level, rise))
    }

    /// Returns a random direction at most `angle` from the emitter's direction, or from up.
    fn direction_within(&self, random: &mut Random, angle: f32) -> Vec3 {
        let [a, b] = random_pair(random);
        if self.flat {
            let (sin, cos) = sin_cos((2.0 * a - 1.0) * angle);
            return self.turned * Vec3::new(sin, cos, 0.0);
        }
        let rise = between([sin_cos(angle).1, 1.0], a);
        let level = (1.0 - rise * rise).max(0.0).sqrt();
        let (sin, cos) = sin_cos(b * TAU);
        self.turned * Vec3::new(level * cos, level * sin, rise)
    }

    fn random_point(&self, random: &mut Random) -> Vec3 {
        let [a, b] = random_pair(random);
        let (sin, cos) = sin_cos(a * TAU);
        let rise = if self.flat { 0.0 } else { 2.0 * b - 1.0 };
        let level = (1.0 - rise * rise).sqrt();
        Vec3::new(level * cos, level * sin, rise)
    }
}
