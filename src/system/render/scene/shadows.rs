//! The projections of shadow maps: the cascades of a sun, the cones of spots, and the six sides of
//! omni lights. Draws nothing.
//!
//! Cascades: the view is split by distance, and each piece has its own map. The splits follow the
//! practical split scheme (Zhang, Sun, Xu, Lun: "Parallel-Split Shadow Maps for Large-scale Virtual
//! Environments", 2006). A map covers the sphere around its piece and moves by whole texels, so
//! that shadow edges do not shimmer while the camera moves and turns (Valient: "Stable Rendering of
//! Cascaded Shadow Maps", ShaderX6, 2008).

use super::clusters::LightSphere;
use engine_foundation::projections::{orthographic, perspective};
use engine_foundation::views::look_to_mat4;
use engine_foundation::{Mat4, Vec3, Vec4};
use engine_frame_packet::CameraFrame;
use engine_frame_packet::scene::LightKind;
use std::f32::consts::FRAC_PI_2;

/// The most cascades of a view.
pub const CASCADES_MAX: usize = 4;
/// Part of each cascade, at its end, in which it blends into the next.
const BLENDED: f32 = 0.1;
/// Weight of the logarithmic split; the rest is uniform.
const LOGARITHMIC: f32 = 0.75;
/// Depth ranges of visible objects are rounded to this many metres, so that maps do not change
/// while objects move.
const DEPTH_STEP: f32 = 8.0;
/// The largest near distance of the maps of omni and spot lights, in metres.
const LAMP_NEAR_MAX: f32 = 0.2;
/// Number of maps of an omni light: one for each direction of an axis.
pub const FACES: usize = 6;
/// Texels around the map of one side of an omni light, for the filter's samples.
const FACE_BORDER: f32 = 2.0;
/// Distance in metres in front of the map of a cascade up to which soft shadows know how far away
/// the objects are that cast them. Objects that are nearer to the sun count as being there.
const SOFT_REACH: f32 = 50.0;
/// Spheres' radii are rounded up to this many metres, so that shadows do not flicker.
const RADIUS_STEP: f32 = 1.0 / 16.0;

/// The cascades of a sun in a view.
#[derive(Clone, Copy, Debug)]
pub struct SunCascades {
    pub count: usize,
    pub to_clip: [Mat4; CASCADES_MAX],
    /// Distance ahead of the camera at which each cascade ends.
    pub ends: [f32; CASCADES_MAX],
    /// Distance ahead of the camera from which each cascade blends into the next.
    pub blends: [f32; CASCADES_MAX],
    /// Metres that a texel of each cascade covers.
    pub texels: [f32; CASCADES_MAX],
}

/// An omni or spot light, as far as its shadow maps depend on it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LampShape {
    pub position: Vec3,
    pub range: f32,
    /// Direction, and half the angle of the cone; `None` for an omni light.
    pub cone: Option<(Vec3, f32)>,
}

/// Returns an up vector that is not parallel to a direction.
fn up_for(direction: Vec3) -> Vec3 {
    if direction.z.abs() < 0.99 { Vec3::Z } else { Vec3::Y }
}

impl LampShape {
    /// Returns the shape of a light with shadow maps; `None`: it has none.
    pub fn of(kind: &LightKind) -> Option<LampShape> {
        match *kind {
            LightKind::Omni { position, range, casts_shadows: true } => {
                Some(LampShape { position, range, cone: None })
            }
            LightKind::Spot { position, direction, range, outer, casts_shadows: true, .. } => {
                let direction = direction.normalize_or(Vec3::NEG_Z);
                Some(LampShape { position, range, cone: Some((direction, outer)) })
            }
            // That of a spot which shines to one side.
            LightKind::Area { position, direction, range, casts_shadows: true, .. } => {
                let direction = direction.normalize_or(Vec3::NEG_Z);
                Some(LampShape { position, range, cone: Some((direction, FRAC_PI_2)) })
            }
            _ => None,
        }
    }

    /// Returns the number of its maps.
    pub fn faces(&self) -> usize {
        if self.cone.is_some() { 1 } else { FACES }
    }

    /// Returns a bit for each of its maps.
    pub fn all_faces(&self) -> u8 {
        (1 << self.faces()) - 1
    }

    pub fn sphere(&self) -> LightSphere {
        LightSphere { center: self.position, radius: self.range }
    }

    /// Returns half the angle of a map with a side in texels.
    fn half_angle(&self, side: u32) -> f32 {
        match self.cone {
            // A cone of 180 degrees has no map: the part beyond three fifths of pi stays lit.
            Some((_, outer)) => outer.clamp(0.01, 0.3 * std::f32::consts::PI) * 1.02,
            None => (side as f32 / (side as f32 - 2.0 * FACE_BORDER).max(1.0)).atan(),
        }
    }

    /// Returns the width of a map's image, one metre ahead.
    pub fn width(&self, side: u32) -> f32 {
        2.0 * self.half_angle(side).tan()
    }

    /// Returns the projection of one of its maps, by the number of the side: right, left, ahead,
    /// back, above, below.
    pub fn to_clip(self, face: usize, side: u32) -> Mat4 {
        let axes = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
        let direction = self.cone.map_or(axes[face], |(direction, _)| direction);
        let view = look_to_mat4(self.position, direction, up_for(direction));
        perspective(2.0 * self.half_angle(side), 1.0, self.near(), self.range) * view
    }

    /// Returns the distance in metres up to which objects cast no shadow.
    pub fn near(&self) -> f32 {
        (self.range * 0.005).clamp(0.02, LAMP_NEAR_MAX).min(self.range * 0.5)
    }
}

/// Inputs of a sun's cascades.
#[derive(Clone, Copy, Debug)]
pub struct CascadeInputs {
    pub count: usize,
    /// Side length of each map, in texels.
    pub texels: u32,
    /// Distance up to which there are shadows, in metres.
    pub distance: f32,
    /// For an orthographic camera, which shows objects at the same size at every distance: the
    /// depth range of the visible objects. Only this range has shadows.
    pub between: Option<[f32; 2]>,
    /// True if the width of shadows' edges depends on the distance of the objects that cast them.
    pub is_soft: bool,
}

impl CascadeInputs {
    /// Returns the range of distances that has shadows.
    fn span(&self, camera: &CameraFrame) -> (f32, f32) {
        let Some([begin, end]) = self.between else {
            let far = camera.near.max(0.0) + self.distance.max(0.1);
            return (camera.near, camera.far.min(far));
        };
        let begin = ((begin / DEPTH_STEP).floor() * DEPTH_STEP).clamp(camera.near, camera.far);
        let end = ((end / DEPTH_STEP).ceil() * DEPTH_STEP).clamp(camera.near, camera.far);
        (begin, end.max(begin + 0.1))
    }
}

impl SunCascades {
    pub fn new(camera: &CameraFrame, sun: Vec3, wanted: CascadeInputs) -> SunCascades {
        let count = wanted.count.clamp(1, CASCADES_MAX);
        let mut all = SunCascades {
            count,
            to_clip: [Mat4::IDENTITY; CASCADES_MAX],
            ends: [0.0; CASCADES_MAX],
            blends: [0.0; CASCADES_MAX],
            texels: [1.0; CASCADES_MAX],
        };
        let rays = corners(camera);
        let (near, far) = wanted.span(camera);
        let split = |part: f32| match wanted.between {
            Some(_) => near + (far - near) * part,
            None => cascade_split(near, far, part),
        };
        let light = look_to_mat4(Vec3::ZERO, sun, up_for(sun));
        let mut begin = near;
        for i in 0..count {
            let end = split((i + 1) as f32 / count as f32);
            let mut points = [Vec3::ZERO; 8];
            for (k, (near, ray)) in rays.iter().enumerate() {
                let along = |depth: f32| *near + *ray * (depth - camera.near);
                // A map also covers the part in which the one before blends into it.
                points[2 * k] = along(if i > 0 { all.blends[i - 1] } else { begin });
                points[2 * k + 1] = along(end);
            }
            let middle = points.iter().sum::<Vec3>() / 8.0;
            let reach = points.iter().map(|it| it.distance(middle)).fold(0.0, f32::max);
            let radius = ((reach / RADIUS_STEP).ceil() * RADIUS_STEP).max(RADIUS_STEP);
            // One more texel on each side, for the filter's samples.
            let texel = 2.0 * radius / (wanted.texels.max(8) - 4) as f32;
            let half = texel * wanted.texels as f32 * 0.5;
            let at = light.transform_point3(middle);
            let whole = |value: f32| (value / texel).floor() * texel;
            let (x, y, z) = (whole(at.x), whole(at.y), whole(at.z));
            // Looking along -z of the light's own space; objects that are nearer to the sun are
            // drawn at 0.
            let near = -z - radius - if wanted.is_soft { SOFT_REACH } else { 0.0 };
            let project = orthographic(x - half, x + half, y - half, y + half, near, -z + radius);
            all.to_clip[i] = project * light;
            all.ends[i] = end;
            all.blends[i] = end - (end - begin) * BLENDED;
            all.texels[i] = texel;
            begin = end;
        }
        all
    }
}

/// Returns the split distance for a fraction of the range from near to far.
fn cascade_split(near: f32, far: f32, part: f32) -> f32 {
    let even = near + (far - near) * part;
    let low = near.max(0.05);
    if far <= low {
        return even;
    }
    let logarithmic = low * (far / low).powf(part);
    even + (logarithmic - even) * LOGARITHMIC
}

/// Returns the view's four edges: the start of each, and its direction for each metre ahead.
fn corners(camera: &CameraFrame) -> [(Vec3, Vec3); 4] {
    let back = (camera.projection * camera.view).inverse();
    let depth = (camera.far - camera.near).max(1e-3);
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| {
        let at = |z: f32| {
            let point = back * Vec4::new(x, y, z, 1.0);
            point.truncate() / point.w
        };
        (at(0.0), (at(1.0) - at(0.0)) / depth)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(position: Vec3) -> CameraFrame {
        CameraFrame {
            view: look_to_mat4(position, Vec3::Y, Vec3::Z),
            projection: perspective(1.0, 1.6, 0.1, 500.0),
            position,
            near: 0.1,
            far: 500.0,
        }
    }

    const INPUTS: CascadeInputs =
        CascadeInputs { count: 3, texels: 1024, distance: 60.0, between: None, is_soft: false };

    #[test]
    fn every_visible_point_is_in_the_map_of_its_cascade() {
        let sun = Vec3::new(0.3, 0.4, -0.8).normalize();
        let cascades = SunCascades::new(&camera(Vec3::ZERO), sun, INPUTS);
        assert!((cascades.ends[2] - 60.1).abs() < 0.01, "{:?}", cascades.ends);
        let mut begin = 0.1;
        for i in 0..3 {
            let blended = if i > 0 { cascades.blends[i - 1] } else { begin + 0.01 };
            for depth in [blended, (begin + cascades.ends[i]) * 0.5, cascades.ends[i]] {
                let point = cascades.to_clip[i].project_point3(Vec3::new(0.2 * depth, depth, 0.0));
                assert!(point.abs().max_element() <= 1.0 && point.z >= 0.0, "{depth}: {point}");
            }
            begin = cascades.ends[i];
        }
    }

    #[test]
    fn orthographic_cascades_cover_the_visible_depth_range() {
        let sun = Vec3::new(0.3, 0.4, -0.8).normalize();
        let projection = orthographic(-8.0, 8.0, -5.0, 5.0, -50.0, 900.0);
        let camera = CameraFrame { projection, near: -50.0, far: 900.0, ..camera(Vec3::ZERO) };
        let wanted = CascadeInputs { between: Some([297.0, 318.0]), ..INPUTS };
        let cascades = SunCascades::new(&camera, sun, wanted);
        assert_eq!(
            cascades.ends[..3].iter().map(|end| end.round()).collect::<Vec<_>>(),
            [304.0, 312.0, 320.0]
        );
        for (layer, depth) in [(0, 297.0), (1, 308.0), (2, 318.0)] {
            let point = Vec3::new(7.0, depth, -4.0);
            let point = cascades.to_clip[layer].project_point3(point);
            assert!(point.abs().max_element() <= 1.0 && point.z >= 0.0, "{depth}: {point}");
        }
    }

    #[test]
    fn soft_shadows_know_objects_in_front_of_a_map() {
        let sun = Vec3::new(0.3, 0.4, -0.8).normalize();
        let soft = CascadeInputs { is_soft: true, ..INPUTS };
        let [hard, soft] = [INPUTS, soft].map(|it| SunCascades::new(&camera(Vec3::ZERO), sun, it));
        assert_eq!((hard.texels, hard.ends), (soft.texels, soft.ends));
        let depth = |all: &SunCascades, metres: f32| {
            all.to_clip[0].project_point3(Vec3::new(0.0, 1.0, 0.0) - sun * metres).z
        };
        assert!(depth(&hard, 40.0) < 0.0 && depth(&soft, 40.0) > 0.0);
        // Positions on the map are the same.
        let [hard, soft] = [hard, soft].map(|it| it.to_clip[0].project_point3(Vec3::Y));
        assert!((hard - soft).truncate().length() < 1e-5, "{hard} {soft}");
    }

    #[test]
    fn maps_move_by_whole_texels() {
        let sun = Vec3::new(0.3, 0.4, -0.8).normalize();
        let a = SunCascades::new(&camera(Vec3::ZERO), sun, INPUTS);
        let b = SunCascades::new(&camera(Vec3::new(0.37, 0.11, 0.05)), sun, INPUTS);
        for i in 0..3 {
            assert_eq!(a.texels[i], b.texels[i]);
            let still = Vec3::new(1.0, 2.0, 0.0);
            let moved = a.to_clip[i].project_point3(still) - b.to_clip[i].project_point3(still);
            let texels = moved.truncate() * (INPUTS.texels as f32 * 0.5);
            let off = (texels - texels.round()).abs().max_element();
            assert!(off < 0.02, "{texels}");
        }
    }

    fn spot(position: Vec3, direction: Vec3, range: f32) -> LampShape {
        LampShape { position, range, cone: Some((direction, 0.5)) }
    }

    #[test]
    fn a_spot_shadow_map_covers_its_cone() {
        let shape = spot(Vec3::new(0.0, 0.0, 3.0), Vec3::NEG_Z, 10.0);
        let edge = Vec3::new(3.0 * 0.5f32.tan(), 0.0, 0.0);
        let point = shape.to_clip(0, 512).project_point3(edge);
        assert!(point.abs().max_element() <= 1.0 && point.z > 0.0, "{point}");
        // However long its range is, an object closely in front of it casts a shadow.
        let shape = spot(Vec3::ZERO, Vec3::Y, 500.0);
        let point = shape.to_clip(0, 512).project_point3(Vec3::new(0.0, 0.25, 0.0));
        assert!(point.z > 0.0, "{point}");
    }

    #[test]
    fn the_maps_of_an_omni_light_cover_all_directions() {
        let position = Vec3::new(1.0, -2.0, 3.0);
        let shape = LampShape { position, range: 8.0, cone: None };
        for side in [64, 512] {
            // Corners and edges of a cube, and the middles of its sides.
            for i in 0..27 {
                let towards =
                    Vec3::new((i % 3 - 1) as f32, (i / 3 % 3 - 1) as f32, (i / 9 - 1) as f32);
                if towards == Vec3::ZERO {
                    continue;
                }
                let faces = (0..FACES).filter(|face| {
                    let point = shape.to_clip(*face, side).project_point3(position + towards * 2.0);
                    // Within the border, there is room for the filter's samples.
                    let most = 1.0 - 2.0 / side as f32;
                    point.truncate().abs().max_element() <= most && (0.0..1.0).contains(&point.z)
                });
                let axes = towards.abs().to_array().iter().filter(|part| **part > 0.5).count();
                assert_eq!(faces.count(), axes, "{towards}");
            }
        }
    }
}
