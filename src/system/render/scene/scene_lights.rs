//! The lights of a scene, with the spheres that they reach into. Chooses none for a view.

use super::clusters::LightSphere;
use super::culling::Spheres;
use super::shadows::LampShape;
use engine_foundation::Vec3;
use engine_frame_packet::scene::{
    AREA_SIDE_MAX, AREA_SIDE_MIN, FLAT_HEIGHT_MAX, LIGHT_RANGE_MAX, LightFrame, LightKind,
    SOURCE_SIZE_MAX,
};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

/// The smallest angle between the axis of a spot and the end of its cone.
const OUTER_MIN: f32 = 0.001;

/// The lights of one scene.
#[derive(Default)]
pub struct SceneLights {
    pub all: Vec<LightFrame>,
    /// Spheres of omni and spot lights that shine; those of other lights are never visible.
    pub spheres: Spheres,
    /// Indices of the suns that shine.
    pub suns: Vec<u32>,
    /// True if an omni or spot light casts shadows.
    pub has_shadows: bool,
    /// True if a light has a texture.
    pub has_textures: bool,
    /// Number of the newest change.
    pub version: u64,
}

impl SceneLights {
    /// Replaces all lights. Lights with numbers that are not finite do not shine; only their range
    /// may be infinite.
    pub fn set(&mut self, lights: &[LightFrame]) {
        self.version += 1;
        self.all.clear();
        self.all.extend(lights.iter().map(limited));
        let is_lamp = |light: &LightFrame| LampShape::of(&light.kind).is_some();
        self.has_shadows = self.all.iter().any(is_lamp);
        self.has_textures = self.all.iter().any(|light| light.texture.is_some());
        self.suns.clear();
        self.spheres = Spheres::default();
        self.spheres.resize(lights.len());
        for (i, light) in self.all.iter().enumerate() {
            if !is_finite(light) {
                continue;
            }
            match sphere(&light.kind) {
                None => self.suns.push(i as u32),
                Some(LightSphere { center, radius }) if radius > 0.0 => {
                    self.spheres.set(i, center, radius);
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns the light with a range of at most the maximum, and with an angle that a cone can have.
fn limited(light: &LightFrame) -> LightFrame {
    let mut light = *light;
    // A number that is not finite stays, so that the light does not shine.
    if light.source_size.is_finite() {
        light.source_size = light.source_size.clamp(0.0, SOURCE_SIZE_MAX);
    }
    light.flat_height = light.flat_height.map(|height| match height.is_nan() {
        true => height,
        false => height.clamp(0.0, FLAT_HEIGHT_MAX),
    });
    let limit = |range: f32| if range.is_nan() { 0.0 } else { range.min(LIGHT_RANGE_MAX) };
    match &mut light.kind {
        LightKind::Sun { .. } => {}
        LightKind::Omni { range, .. } => *range = limit(*range),
        LightKind::Spot { range, inner, outer, .. } => {
            *range = limit(*range);
            *outer = outer.clamp(OUTER_MIN, FRAC_PI_2);
            *inner = inner.max(0.0).min(*outer);
        }
        LightKind::Area { range, right, half_height, .. } => {
            *range = limit(*range);
            // Numbers that are not finite stay, so that the light does not shine.
            if right.is_finite() && half_height.is_finite() {
                let [least, most] = [AREA_SIDE_MIN, AREA_SIDE_MAX].map(|side| 0.5 * side);
                let length = right.length().clamp(least, most);
                *right = right.normalize_or(Vec3::X) * length;
                *half_height = half_height.clamp(least, most);
            }
        }
    }
    light
}

/// Returns true if all numbers of a light are finite.
fn is_finite(light: &LightFrame) -> bool {
    let of_kind = match light.kind {
        LightKind::Sun { direction, .. } => direction.is_finite(),
        LightKind::Omni { position, .. } => position.is_finite(),
        LightKind::Spot { position, direction, inner, outer, .. } => {
            position.is_finite() && direction.is_finite() && inner.is_finite() && outer.is_finite()
        }
        LightKind::Area { position, direction, right, half_height, .. } => {
            let vectors = [position, direction, right];
            vectors.iter().all(|vector| vector.is_finite()) && half_height.is_finite()
        }
    };
    let numbers = light.color.iter().chain([&light.shadow_bias, &light.source_size]);
    let numbers = numbers.chain(&light.flat_height);
    of_kind && numbers.into_iter().all(|number| number.is_finite())
}

/// Returns the sphere that a light reaches into; `None` for a sun.
pub fn sphere(kind: &LightKind) -> Option<LightSphere> {
    match *kind {
        LightKind::Sun { .. } => None,
        LightKind::Omni { position, range, .. } | LightKind::Area { position, range, .. } => {
            Some(LightSphere { center: position, radius: range.max(0.0) })
        }
        LightKind::Spot { position, direction, range, outer, .. } => {
            let direction = direction.normalize_or(Vec3::NEG_Z);
            let range = range.max(0.0);
            // Through the tip and the rim of the cone; of a wide cone, around the rim.
            let (ahead, radius) = if outer > FRAC_PI_4 {
                (range * outer.cos(), range * outer.sin())
            } else {
                let radius = range / (2.0 * outer.cos());
                (radius, radius)
            };
            Some(LightSphere { center: position + direction * ahead, radius })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    fn spot(outer: f32) -> LightKind {
        LightKind::Spot {
            position: Vec3::new(1.0, 2.0, 3.0),
            direction: Vec3::new(0.6, 0.0, 0.8),
            range: 5.0,
            inner: 0.0,
            outer,
            casts_shadows: false,
        }
    }

    #[test]
    fn the_sphere_of_a_spot_contains_its_cone() {
        let mut random = Random::seed(3);
        for outer in [0.01, 0.5, 0.785, 0.79, 1.2, FRAC_PI_2] {
            let LightKind::Spot { position, direction, range, .. } = spot(outer) else {
                unreachable!("it is a spot")
            };
            let sphere = sphere(&spot(outer)).expect("it has a sphere");
            assert!(sphere.radius <= range);
            for _ in 0..1000 {
                let mut number = || random.next_f64() as f32;
                let (turn, angle, metres) = (number() * 6.3, number() * outer, number() * range);
                let side = Vec3::Y * turn.cos() + direction.cross(Vec3::Y) * turn.sin();
                let point = position + (direction * angle.cos() + side * angle.sin()) * metres;
                let off = point.distance(sphere.center) - sphere.radius;
                assert!(off < 1e-4, "{outer}: {point} is {off} outside");
            }
        }
    }

    #[test]
    fn lights_with_numbers_that_are_not_finite_do_not_shine() {
        let shines = |light: LightFrame| {
            let mut lights = SceneLights::default();
            lights.set(&[light]);
            lights.spheres.radius[0] >= 0.0 || !lights.suns.is_empty()
        };
        let omni = |position: Vec3, range: f32| LightFrame {
            kind: LightKind::Omni { position, range, casts_shadows: true },
            ..LightFrame::DEFAULT
        };
        assert!(shines(omni(Vec3::ZERO, 1.0)) && shines(omni(Vec3::ZERO, f32::INFINITY)));
        assert!(!shines(omni(Vec3::NAN, 1.0)) && !shines(omni(Vec3::ZERO, f32::NAN)));
        assert!(!shines(omni(Vec3::ZERO, 0.0)) && !shines(omni(Vec3::ZERO, -1.0)));
        assert!(!shines(LightFrame { color: [f32::NAN; 3], ..omni(Vec3::ZERO, 1.0) }));
        assert!(!shines(LightFrame { shadow_bias: f32::INFINITY, ..omni(Vec3::ZERO, 1.0) }));
        for source_size in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(!shines(LightFrame { source_size, ..omni(Vec3::ZERO, 1.0) }));
        }
        let huge = LightFrame { source_size: 1e30, ..omni(Vec3::ZERO, 1.0) };
        assert_eq!((limited(&huge).source_size, shines(huge)), (SOURCE_SIZE_MAX, true));
        let below = LightFrame { source_size: -1.0, ..omni(Vec3::ZERO, 1.0) };
        assert_eq!((limited(&below).source_size, shines(below)), (0.0, true));
        let flat = |height| LightFrame { flat_height: Some(height), ..omni(Vec3::ZERO, 1.0) };
        assert!(shines(flat(0.0)) && !shines(flat(f32::NAN)));
        let limits = [(-1.0, 0.0), (f32::INFINITY, FLAT_HEIGHT_MAX)];
        for (height, limit) in limits {
            assert_eq!(limited(&flat(height)).flat_height, Some(limit));
        }
        assert!(!shines(LightFrame { kind: spot(f32::NAN), ..LightFrame::DEFAULT }));
        assert!(shines(LightFrame { kind: spot(9.0), ..LightFrame::DEFAULT }));
        let area = |right: Vec3, half_height: f32| LightFrame {
            kind: LightKind::Area {
                position: Vec3::ZERO,
                direction: Vec3::Y,
                right,
                half_height,
                is_ellipse: false,
                range: 2.0,
                casts_shadows: true,
            },
            ..LightFrame::DEFAULT
        };
        for number in [f32::NAN, f32::INFINITY] {
            assert!(!shines(area(Vec3::X * number, 1.0)) && !shines(area(Vec3::X, number)));
        }
        for (right, height) in [(Vec3::ZERO, 0.0), (Vec3::X * 1e38, 1e38), (Vec3::X, -1.0)] {
            let LightKind::Area { right, half_height, .. } = limited(&area(right, height)).kind
            else {
                unreachable!("it is an area")
            };
            assert!(shines(area(right, height)));
            let sides = [AREA_SIDE_MIN, AREA_SIDE_MAX].map(|side| side * 0.5);
            for side in [right.length(), half_height] {
                assert!((sides[0] * 0.999..=sides[1] * 1.001).contains(&side), "{side}");
            }
        }
        let direction = Vec3::new(0.0, f32::INFINITY, 0.0);
        let kind = LightKind::Sun { direction, casts_shadows: true };
        assert!(!shines(LightFrame { kind, ..LightFrame::DEFAULT }));
    }
}
