//! Cameras and viewports: from where a world is seen, and on which part of a target. Draws nothing.
//!
//! A camera looks along its y axis, with z up and x to the right. Points of a target are in logical
//! pixels from its left bottom.

use crate::foundation::{Color, DMat4, DVec3, DVec4, Handle, Mat4, Vec2, Vec3, Vec4, projections};
pub use crate::packet::{ANGLE_MIN, NEAR_MIN, SIGHT_MAX};
use crate::packet::{CameraFrame, Target};
use crate::world::unit::UnitId;
use std::collections::BTreeMap;

/// The most cameras that can be there at once.
pub const CAMERAS_MAX: usize = 1024;
/// The most viewports that can be there at once.
pub const VIEWPORTS_MAX: usize = 64;

/// The handle of a camera.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CameraId(pub Handle);

/// The handle of a viewport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewportId(pub Handle);

/// How depth shortens what is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Projection {
    Perspective,
    Orthographic,
}

/// A camera.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Camera {
    pub pose: Mat4,
    pub projection: Projection,
    /// From the lowest to the highest line of sight, in radians.
    pub vertical_fov: f32,
    pub near: f32,
    pub far: f32,
    /// What an orthographic camera sees, in metres: least x, most x, least z and most z.
    pub orthographic: [f32; 4],
    /// Left, right, bottom and top of what is seen at the near plane, where that was set itself.
    pub frustum: Option<[f32; 4]>,
    /// Whether `orthographic` says the height alone, and the width follows the target's.
    pub fits_width: bool,
    /// The unit's node that it hangs on; `pose` is then its place in the world as it was last
    /// asked for.
    pub owner: Option<Owner>,
}

/// What a camera hangs on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Owner {
    pub unit: UnitId,
    /// From 0.
    pub node: u16,
    /// Where the camera is relative to the node.
    pub local: Mat4,
}

/// The nearest float to a number that may be larger than all of them.
fn bounded(number: f64) -> f32 {
    number.clamp(f32::MIN.into(), f32::MAX.into()) as f32
}

impl Camera {
    /// At the origin, looking along y; 60 degrees.
    pub const DEFAULT: Camera = Camera {
        pose: Mat4::IDENTITY,
        projection: Projection::Perspective,
        vertical_fov: std::f32::consts::FRAC_PI_3,
        near: 0.1,
        far: 1000.0,
        orthographic: [-5.0, 5.0, -5.0, 5.0],
        frustum: None,
        fits_width: false,
        owner: None,
    };

    /// From the world to the camera: x right, y up, z backward.
    pub fn view(&self) -> Mat4 {
        // The camera's forward y becomes -z, its z becomes y.
        let turned = Mat4::from_cols(Vec4::X, Vec4::new(0.0, 0.0, -1.0, 0.0), Vec4::Y, Vec4::W);
        turned * self.pose.inverse()
    }

    /// From the camera to clip space, for a target of `aspect` = width / height.
    pub fn projection(&self, aspect: f32) -> Mat4 {
        let (near, far) = (self.near, self.far);
        match (self.projection, self.frustum) {
            (Projection::Orthographic, _) => {
                let [mut left, mut right, bottom, top] = self.orthographic;
                if self.fits_width {
                    let half = (top - bottom) / 2.0 * aspect;
                    (left, right) = (-half, half);
                }
                projections::orthographic(left, right, bottom, top, near, far)
            }
            (_, Some([left, right, bottom, top])) => {
                let (width, height) = (right - left, top - bottom);
                Mat4::from_cols(
                    Vec4::new(2.0 * near / width, 0.0, 0.0, 0.0),
                    Vec4::new(0.0, 2.0 * near / height, 0.0, 0.0),
                    Vec4::new(
                        (right + left) / width,
                        (top + bottom) / height,
                        far / (near - far),
                        -1.0,
                    ),
                    Vec4::new(0.0, 0.0, near * far / (near - far), 0.0),
                )
            }
            _ => projections::perspective(self.vertical_fov, aspect, near, far),
        }
    }

    pub fn frame(&self, aspect: f32) -> CameraFrame {
        CameraFrame {
            view: self.view(),
            projection: self.projection(aspect),
            position: self.pose.w_axis.truncate(),
            near: self.near,
            far: self.far,
        }
    }

    /// Where a point of the world is on a target of that size, and how far before the camera.
    pub fn world_to_screen(&self, point: Vec3, size: Vec2) -> (Vec2, f32) {
        let seen = self.view() * point.extend(1.0);
        let clip = self.projection(size.x / size.y) * seen;
        // A point in the camera's own plane is on no place of the screen: take one far away.
        let w = if clip.w.abs() < 1e-6 { 1e-6f32.copysign(clip.w) } else { clip.w };
        let place = (Vec2::new(clip.x / w, clip.y / w) * 0.5 + 0.5) * size;
        if place.is_finite() && seen.z.is_finite() {
            return (place, -seen.z);
        }
        // Floats do not reach that far.
        let seen = self.view_wide() * point.as_dvec3().extend(1.0);
        let clip = self.projection(size.x / size.y).as_dmat4() * seen;
        let w = if clip.w.abs() < 1e-6 { 1e-6f64.copysign(clip.w) } else { clip.w };
        let place = |part: f64, size: f32| bounded((part / w * 0.5 + 0.5) * f64::from(size));
        (Vec2::new(place(clip.x, size.x), place(clip.y, size.y)), bounded(-seen.z))
    }

    /// What [`Camera::view`] is, for numbers whose squares no float holds.
    fn view_wide(&self) -> DMat4 {
        let turned = DMat4::from_cols(DVec4::X, DVec4::NEG_Z, DVec4::Y, DVec4::W);
        turned * self.pose.as_dmat4().inverse()
    }

    /// What is seen at a place of a target of that size: x to the right, y before the camera and z
    /// up, from the camera, `depth` metres before it; and the way there for each metre of depth.
    fn sight(&self, place: Vec2, depth: f64, size: Vec2) -> (DVec3, DVec3) {
        let projection = self.projection(size.x / size.y).as_dmat4();
        let at = place.as_dvec2() / size.as_dvec2() * 2.0 - 1.0;
        match self.projection {
            Projection::Orthographic => {
                let x = (at.x - projection.w_axis.x) / projection.x_axis.x;
                let z = (at.y - projection.w_axis.y) / projection.y_axis.y;
                (DVec3::new(x, depth, z), DVec3::Y)
            }
            Projection::Perspective => {
                let x = (at.x + projection.z_axis.x) / projection.x_axis.x;
                let z = (at.y + projection.z_axis.y) / projection.y_axis.y;
                let way = DVec3::new(x, 1.0, z);
                (way * depth, way)
            }
        }
    }

    /// The point of the world at a place of a target of that size, `depth` metres before the
    /// camera.
    pub fn screen_to_world(&self, place: Vec2, depth: f32, size: Vec2) -> Vec3 {
        let (seen, _) = self.sight(place, f64::from(depth), size);
        let point = self.pose.as_dmat4().transform_point3(seen);
        Vec3::new(bounded(point.x), bounded(point.y), bounded(point.z))
    }

    /// The line of sight at a place of a target of that size: where it begins, at the near range,
    /// and where it goes, of length 1.
    pub fn ray(&self, place: Vec2, size: Vec2) -> (Vec3, Vec3) {
        let (_, way) = self.sight(place, 0.0, size);
        let way = self.pose.as_dmat4().transform_vector3(way).normalize();
        (self.screen_to_world(place, self.near, size), way.as_vec3().normalize())
    }

    /// How far inside of what the camera sees a point is: metres to the nearest side, below 0
    /// outside.
    pub fn inside_frustum(&self, point: Vec3, aspect: f32) -> f32 {
        let depth = -(self.view() * point.extend(1.0)).z;
        let rows = (self.projection(aspect) * self.view()).transpose();
        let (x, y, w) = (rows.x_axis, rows.y_axis, rows.w_axis);
        // Source: G. Gribb, K. Hartmann, "Fast Extraction of Viewing Frustum Planes" (2001). The
        // near and the far plane are known, and would lose digits on the way through the matrix.
        let sides = [w + x, w - x, w + y, w - y];
        let sides = sides.map(|plane| plane.dot(point.extend(1.0)) / plane.truncate().length());
        if sides.iter().all(|side| side.is_finite()) && depth.is_finite() {
            let ends = [depth - self.near, self.far - depth];
            return sides.into_iter().chain(ends).fold(f32::INFINITY, f32::min);
        }
        // Floats do not reach that far.
        let (view, point) = (self.view_wide(), point.as_dvec3().extend(1.0));
        let depth = -(view * point).z;
        let rows = (self.projection(aspect).as_dmat4() * view).transpose();
        let (x, y, w) = (rows.x_axis, rows.y_axis, rows.w_axis);
        let sides = [w + x, w - x, w + y, w - y];
        let sides = sides.map(|plane| plane.dot(point) / plane.truncate().length());
        let ends = [depth - f64::from(self.near), f64::from(self.far) - depth];
        bounded(sides.into_iter().chain(ends).fold(f64::INFINITY, f64::min))
    }
}

/// The cameras of units, by the rows of units, in the order of their resources.
#[derive(Default)]
pub struct UnitCameras {
    of: BTreeMap<u32, Vec<CameraId>>,
}

impl UnitCameras {
    pub fn add(&mut self, row: u32, camera: CameraId) {
        self.of.entry(row).or_default().push(camera);
    }

    pub fn of_unit(&self, row: u32) -> &[CameraId] {
        self.of.get(&row).map_or(&[], |all| &all[..])
    }

    /// The unit ends: its cameras end with it.
    pub fn take(&mut self, row: u32) -> Vec<CameraId> {
        self.of.remove(&row).unwrap_or_default()
    }
}

/// A part of a target that a world is shown on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Viewport {
    pub target: Target,
    /// Width and height of the texture that it is; 0 where it is a part of the screen.
    pub pixels: [u32; 2],
    /// Left, bottom, width and height as fractions of the target.
    pub rectangle: [f32; 4],
    /// What it is filled with first; `None`: nothing is.
    pub background: Option<Color>,
}

impl Viewport {
    /// The whole screen, on black.
    pub const DEFAULT: Viewport = Viewport {
        target: Target::Screen,
        pixels: [0, 0],
        rectangle: [0.0, 0.0, 1.0, 1.0],
        background: Some(Color { red: 0.0, green: 0.0, blue: 0.0, alpha: 255.0 }),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Vec2 = Vec2::new(200.0, 100.0);

    fn cameras() -> [Camera; 3] {
        let pose = Mat4::from_rotation_z(0.4) * Mat4::from_translation(Vec3::new(1.0, -8.0, 3.0));
        let camera = Camera { pose, ..Camera::DEFAULT };
        let frustum = Some([-0.1, 0.2, -0.05, 0.1]);
        let orthographic = [-4.0, 8.0, -2.0, 3.0];
        [
            camera,
            Camera { frustum, ..camera },
            Camera { projection: Projection::Orthographic, orthographic, ..camera },
        ]
    }

    #[test]
    fn what_lies_ahead_is_in_the_middle_and_what_is_above_is_above() {
        let camera = Camera::DEFAULT;
        let (place, depth) = camera.world_to_screen(Vec3::new(0.0, 10.0, 0.0), SIZE);
        assert!((place - SIZE / 2.0).length() < 1e-4 && (depth - 10.0).abs() < 1e-5);
        let (place, _) = camera.world_to_screen(Vec3::new(1.0, 10.0, 2.0), SIZE);
        assert!(place.x > 100.0 && place.y > 50.0);
    }

    #[test]
    fn places_on_the_screen_lead_back_to_their_points() {
        for camera in cameras() {
            let point = camera.pose.transform_point3(Vec3::new(1.0, 7.0, -0.5));
            let (place, depth) = camera.world_to_screen(point, SIZE);
            let back = camera.screen_to_world(place, depth, SIZE);
            assert!((back - point).length() < 1e-3, "{camera:?}: {back} is not {point}");
        }
    }

    #[test]
    fn a_ray_goes_through_what_is_seen_at_its_place() {
        for camera in cameras() {
            let point = camera.pose.transform_point3(Vec3::new(1.0, 7.0, -0.5));
            let (place, _) = camera.world_to_screen(point, SIZE);
            let (from, way) = camera.ray(place, SIZE);
            let beside = (point - from).cross(way).length();
            assert!(beside < 1e-3 && (way.length() - 1.0).abs() < 1e-6, "{camera:?}");
            let (_, depth) = camera.world_to_screen(from, SIZE);
            assert!((depth - camera.near).abs() < 1e-3);
        }
    }

    #[test]
    fn what_is_farther_than_floats_reach_has_finite_answers() {
        for camera in cameras() {
            for point in [Vec3::splat(3e38), Vec3::new(-3e38, 3e38, 0.0), Vec3::splat(1e-38)] {
                for pose in [camera.pose, Mat4::from_translation(Vec3::new(3e38, -3e38, 3e38))] {
                    let camera = Camera { pose, ..camera };
                    let (place, depth) = camera.world_to_screen(point, SIZE);
                    assert!(place.is_finite() && depth.is_finite(), "{point}: {place}, {depth}");
                    assert!(camera.inside_frustum(point, 2.0).is_finite(), "{point}");
                    assert!(camera.screen_to_world(place, depth, SIZE).is_finite(), "{place}");
                    let (from, way) = camera.ray(place, SIZE);
                    assert!(from.is_finite() && (way.length() - 1.0).abs() < 1e-5, "{place}");
                }
            }
        }
        let far = Camera::DEFAULT.inside_frustum(Vec3::new(0.0, -3e38, 0.0), 1.0);
        assert!(far < -1e38, "it is behind: {far}");
    }

    #[test]
    fn depth_goes_from_zero_at_the_near_plane_to_one_at_the_far_one() {
        for camera in cameras() {
            let depth = |y: f32| {
                let clip = camera.projection(2.0) * Vec4::new(0.0, 0.0, -y, 1.0);
                clip.z / clip.w
            };
            assert!(depth(camera.near).abs() < 1e-5 && (depth(camera.far) - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn what_is_seen_is_inside_of_the_frustum() {
        let camera = Camera::DEFAULT;
        let inside = |x: f32, y: f32| camera.inside_frustum(Vec3::new(x, y, 0.0), 1.0);
        assert!(inside(0.0, 10.0) > 0.0);
        assert!(inside(0.0, -1.0) < 0.0 && inside(30.0, 10.0) < 0.0 && inside(0.0, 2000.0) < 0.0);
        assert!((inside(0.0, 999.0) - 1.0).abs() < 1e-2);
    }
}
