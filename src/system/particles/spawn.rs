//! Where a new particle begins and which way it goes, by an emitter's shape.

use super::definition::{Numbers, Shape};
use crate::foundation::angles::{cube_root, sin_cos};
use crate::foundation::random::Random;
use crate::foundation::{Quat, Vec3};
use std::f32::consts::TAU;

/// Two numbers in 0 <= x < 1.
#[inline(always)]
pub fn two(random: &mut Random) -> [f32; 2] {
    let bits = random.next_u64();
    let part = |bits: u32| (bits >> 8) as f32 * (1.0 / (1 << 24) as f32);
    [part(bits as u32), part((bits >> 32) as u32)]
}

/// A number between two.
#[inline(always)]
pub fn between([low, high]: [f32; 2], part: f32) -> f32 {
    low + (high - low) * part
}

/// A whole number between two, both included.
pub fn count_between([low, high]: [u32; 2], random: &mut Random) -> u32 {
    if low == high { low } else { random.range_i64(low.into(), high.into()) as u32 }
}

/// What is drawn by lot for every particle of an emitter, resolved once a step.
#[derive(Clone, Copy, Debug)]
pub struct Spawner {
    shape: Shape,
    flat: bool,
    extents: Vec3,
    radius: f32,
    inner: f32,
    /// Half a cone's opening.
    angle: f32,
    /// None: as the shape has it.
    direction: Option<Vec3>,
    spread: f32,
    /// From up to the direction.
    turned: Quat,
}

impl Spawner {
    /// Of an emitter, whose direction a variable may have set. `flat`: in the plane of x and y.
    pub fn new(numbers: &Numbers, direction: Vec3, flat: bool) -> Spawner {
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

    /// A place and a direction, seen from the emitter.
    #[inline(always)]
    pub fn draw(&self, random: &mut Random) -> (Vec3, Vec3) {
        let [a, b] = two(random);
        let place = match self.shape {
            Shape::Point => Vec3::ZERO,
            Shape::Line => self.extents * a,
            Shape::Box => {
                let [c, _] = two(random);
                let z = if self.flat { 0.0 } else { 2.0 * c - 1.0 };
                self.extents * Vec3::new(2.0 * a - 1.0, 2.0 * b - 1.0, z)
            }
            Shape::Sphere => self.ball(random, a, b),
            Shape::Circle | Shape::Ring => self.disc(a, b),
            Shape::Cone => return self.cone(random, a, b),
        };
        let direction = match (self.direction, self.shape) {
            (Some(_), _) => self.off(random, self.spread),
            (None, Shape::Sphere | Shape::Circle | Shape::Ring) if place != Vec3::ZERO => {
                place.normalize()
            }
            _ => self.anywhere(random),
        };
        (place, direction)
    }

    /// In a sphere, or in a disc where all is flat.
    fn ball(&self, random: &mut Random, a: f32, b: f32) -> Vec3 {
        if self.flat {
            return self.disc(a, b);
        }
        let [c, _] = two(random);
        let cube = self.inner * self.inner * self.inner;
        let radius = self.radius * cube_root(between([cube, 1.0], a));
        let rise = 2.0 * b - 1.0;
        let level = (1.0 - rise * rise).sqrt();
        let (sin, cos) = sin_cos(c * TAU);
        Vec3::new(level * cos, level * sin, rise) * radius
    }

    /// In a disc that faces the direction; where all is flat, in the plane.
    fn disc(&self, a: f32, b: f32) -> Vec3 {
        let radius = self.radius * between([self.inner * self.inner, 1.0], a).sqrt();
        let (sin, cos) = sin_cos(b * TAU);
        let place = Vec3::new(cos, sin, 0.0) * radius;
        if self.flat { place } else { self.turned * place }
    }

    /// On a cone's base, and away from its tip: the farther out, the more aslant.
    fn cone(&self, random: &mut Random, a: f32, b: f32) -> (Vec3, Vec3) {
        if self.flat {
            let across = 2.0 * a - 1.0;
            let (sin, cos) = sin_cos(across * self.angle);
            let place = self.turned * Vec3::new(across * self.radius, 0.0, 0.0);
            return (place, self.turned * Vec3::new(sin, cos, 0.0));
        }
        if self.radius == 0.0 {
            return (Vec3::ZERO, self.off(random, self.angle));
        }
        let out = a.sqrt();
        let (sin, cos) = sin_cos(b * TAU);
        let (level, rise) = sin_cos(out * self.angle);
        let place = Vec3::new(cos, sin, 0.0) * (out * self.radius);
        (self.turned * place, self.turned * Vec3::new(cos * level, sin * level, rise))
    }

    /// A direction at most `angle` off the given one, or off up.
    fn off(&self, random: &mut Random, angle: f32) -> Vec3 {
        let [a, b] = two(random);
        if self.flat {
            let (sin, cos) = sin_cos((2.0 * a - 1.0) * angle);
            return self.turned * Vec3::new(sin, cos, 0.0);
        }
        let rise = between([sin_cos(angle).1, 1.0], a);
        let level = (1.0 - rise * rise).max(0.0).sqrt();
        let (sin, cos) = sin_cos(b * TAU);
        self.turned * Vec3::new(level * cos, level * sin, rise)
    }

    fn anywhere(&self, random: &mut Random) -> Vec3 {
        let [a, b] = two(random);
        let (sin, cos) = sin_cos(a * TAU);
        let rise = if self.flat { 0.0 } else { 2.0 * b - 1.0 };
        let level = (1.0 - rise * rise).sqrt();
        Vec3::new(level * cos, level * sin, rise)
    }
}
