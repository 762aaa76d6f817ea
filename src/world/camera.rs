//! Cameras and viewports: the view of a world, and the part of a render target that shows it. Draws
//! nothing.
//!
//! A camera looks along its y axis, with z up and x to the right. Points of a target are in logical
//! pixels from its bottom left.

use crate::sprite::SpritePlacement;
use crate::unit::UnitId;
use engine_foundation::hash::IdString32;
use engine_foundation::{Color, DMat4, DVec3, DVec4, Handle, Mat4, Vec2, Vec3, Vec4, projections};
pub use engine_frame_packet::{ANGLE_MIN, NEAR_MIN, VIEW_DISTANCE_MAX};
use engine_frame_packet::{CameraFrame, ViewTarget};
use std::collections::BTreeMap;

/// Maximum number of cameras at one time.
pub const CAMERAS_MAX: usize = 1024;
/// Maximum number of viewports at one time.
pub const VIEWPORTS_MAX: usize = 64;

/// Handle of a camera.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CameraId(pub Handle);

/// Handle of a viewport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewportId(pub Handle);

/// Projection of a camera: perspective or orthographic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Projection {
    Perspective,
    Orthographic,
}

/// The area that an orthographic camera shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OrthographicView {
    /// Minimum x, maximum x, minimum z and maximum z in metres, on a target of any shape.
    Edges([f32; 4]),
    /// Height in metres. The width follows from the shape of the target.
    Height(f32),
    /// Units of the target per metre. Width and height follow from the size of the target.
    Scale(f32),
}

impl OrthographicView {
    /// Returns minimum x, maximum x, minimum z and maximum z in metres, on a target of this size.
    pub fn edges(self, target: Vec2) -> [f32; 4] {
        let half = match self {
            OrthographicView::Edges(edges) => return edges,
            OrthographicView::Height(height) => {
                Vec2::new(height * (target.x / target.y), height) / 2.0
            }
            OrthographicView::Scale(units) => target / (2.0 * units),
        };
        [-half.x, half.x, -half.y, half.y]
    }
}

/// A camera. Sizes of targets are in their units, at least 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Camera {
    pub pose: Mat4,
    pub projection: Projection,
    /// Vertical field of view in radians.
    pub vertical_fov: f32,
    pub near: f32,
    pub far: f32,
    pub orthographic: OrthographicView,
    /// Custom frustum: left, right, bottom and top at the near plane, if it was set.
    pub frustum: Option<[f32; 4]>,
    /// Unit's node that the camera is attached to. In that case `pose` is a cached world transform
    /// from the last request.
    pub owner: Option<CameraNode>,
}

/// Node that a camera is attached to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CameraNode {
    pub unit: UnitId,
    /// Index of the node, from 0.
    pub node: u16,
    /// Transform of the camera relative to the node.
    pub local: Mat4,
}

/// Converts to the nearest float, clamped to the range of floats.
fn bounded(number: f64) -> f32 {
    number.clamp(f32::MIN.into(), f32::MAX.into()) as f32
}

impl Camera {
    /// A camera at the origin that looks along y, with a field of view of 60 degrees.
    pub const DEFAULT: Camera = Camera {
        pose: Mat4::IDENTITY,
        projection: Projection::Perspective,
        vertical_fov: std::f32::consts::FRAC_PI_3,
        near: 0.1,
        far: 1000.0,
        orthographic: OrthographicView::Edges([-5.0, 5.0, -5.0, 5.0]),
        frustum: None,
        owner: None,
    };

    /// The camera of a two-dimensional world, at the origin: x points to the right, y up. The scale
    /// is that of sprites, and what is up to 1000 metres behind or in front of it is visible.
    pub const FLAT: Camera = Camera {
        pose: Mat4::from_cols(Vec4::X, Vec4::NEG_Z, Vec4::Y, Vec4::W),
        projection: Projection::Orthographic,
        near: -Camera::DEFAULT.far,
        orthographic: OrthographicView::Scale(SpritePlacement::DEFAULT.pixels_per_metre),
        ..Camera::DEFAULT
    };

    /// Returns the view matrix, from the world to the camera: x right, y up, z backward.
    pub fn view(&self) -> Mat4 {
        // The camera's forward y becomes -z, its z becomes y.
        let turned = Mat4::from_cols(Vec4::X, Vec4::new(0.0, 0.0, -1.0, 0.0), Vec4::Y, Vec4::W);
        turned * self.pose.inverse()
    }

    /// Returns the projection matrix, from the camera to clip space, for a target of this size.
    pub fn projection(&self, target: Vec2) -> Mat4 {
        let (near, far) = (self.near, self.far);
        match (self.projection, self.frustum) {
            (Projection::Orthographic, _) => {
                let [left, right, bottom, top] = self.orthographic.edges(target);
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
            _ => projections::perspective(self.vertical_fov, target.x / target.y, near, far),
        }
    }

    pub fn frame(&self, target: Vec2) -> CameraFrame {
        CameraFrame {
            view: self.view(),
            projection: self.projection(target),
            position: self.pose.w_axis.truncate(),
            near: self.near,
            far: self.far,
        }
    }

    /// Projects a world point onto a target of this size. Returns the point on the target, and its
    /// depth in front of the camera.
    pub fn world_to_screen(&self, point: Vec3, size: Vec2) -> (Vec2, f32) {
        let in_view = self.view() * point.extend(1.0);
        let clip = self.projection(size) * in_view;
        // A point in the camera's own plane has no position on the screen; a distant position is
        // used.
        let w = if clip.w.abs() < 1e-6 { 1e-6f32.copysign(clip.w) } else { clip.w };
        let position = (Vec2::new(clip.x / w, clip.y / w) * 0.5 + 0.5) * size;
        if position.is_finite() && in_view.z.is_finite() {
            return (position, -in_view.z);
        }
        // The numbers exceed the range of floats.
        let in_view = self.view_wide() * point.as_dvec3().extend(1.0);
        let clip = self.projection(size).as_dmat4() * in_view;
        let w = if clip.w.abs() < 1e-6 { 1e-6f64.copysign(clip.w) } else { clip.w };
        let to_pixels = |part: f64, size: f32| bounded((part / w * 0.5 + 0.5) * f64::from(size));
        (Vec2::new(to_pixels(clip.x, size.x), to_pixels(clip.y, size.y)), bounded(-in_view.z))
    }

    /// Computes [`Camera::view`] in double precision, for numbers with squares beyond the range of
    /// floats.
    fn view_wide(&self) -> DMat4 {
        let turned = DMat4::from_cols(DVec4::X, DVec4::NEG_Z, DVec4::Y, DVec4::W);
        turned * self.pose.as_dmat4().inverse()
    }

    /// Unprojects a point of a target of this size into the camera's space: x to the right, y
    /// forward and z up, `depth` metres in front of the camera. Also returns the change of the
    /// point per metre of depth.
    fn unproject(&self, position: Vec2, depth: f64, size: Vec2) -> (DVec3, DVec3) {
        let projection = self.projection(size).as_dmat4();
        let at = position.as_dvec2() / size.as_dvec2() * 2.0 - 1.0;
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

    /// Returns the world point at a point of a target of this size, `depth` metres in front of the
    /// camera.
    pub fn screen_to_world(&self, position: Vec2, depth: f32, size: Vec2) -> Vec3 {
        let (in_view, _) = self.unproject(position, f64::from(depth), size);
        let point = self.pose.as_dmat4().transform_point3(in_view);
        Vec3::new(bounded(point.x), bounded(point.y), bounded(point.z))
    }

    /// Returns the ray at a point of a target of this size: its origin on the near plane, and its
    /// direction of length 1.
    pub fn ray(&self, position: Vec2, size: Vec2) -> (Vec3, Vec3) {
        let (_, way) = self.unproject(position, 0.0, size);
        let way = self.pose.as_dmat4().transform_vector3(way).normalize();
        (self.screen_to_world(position, self.near, size), way.as_vec3().normalize())
    }

    /// Returns the distance of a point from the nearest plane of the view frustum, in metres:
    /// positive inside, negative outside.
    pub fn inside_frustum(&self, point: Vec3, target: Vec2) -> f32 {
        let depth = -(self.view() * point.extend(1.0)).z;
        let rows = (self.projection(target) * self.view()).transpose();
        let (x, y, w) = (rows.x_axis, rows.y_axis, rows.w_axis);
        // Source: G. Gribb, K. Hartmann, "Fast Extraction of Viewing Frustum Planes" (2001). The
        // near and the far plane are known directly; extraction from the matrix would lose
        // precision.
        let sides = [w + x, w - x, w + y, w - y];
        let sides = sides.map(|plane| plane.dot(point.extend(1.0)) / plane.truncate().length());
        if sides.iter().all(|side| side.is_finite()) && depth.is_finite() {
            let ends = [depth - self.near, self.far - depth];
            return sides.into_iter().chain(ends).fold(f32::INFINITY, f32::min);
        }
        // The numbers exceed the range of floats.
        let (view, point) = (self.view_wide(), point.as_dvec3().extend(1.0));
        let depth = -(view * point).z;
        let rows = (self.projection(target).as_dmat4() * view).transpose();
        let (x, y, w) = (rows.x_axis, rows.y_axis, rows.w_axis);
        let sides = [w + x, w - x, w + y, w - y];
        let sides = sides.map(|plane| plane.dot(point) / plane.truncate().length());
        let ends = [depth - f64::from(self.near), f64::from(self.far) - depth];
        bounded(sides.into_iter().chain(ends).fold(f64::INFINITY, f64::min))
    }
}

/// Cameras of units, by unit row, in the order of their resources.
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

    /// Removes and returns the cameras of a unit that is destroyed.
    pub fn take(&mut self, row: u32) -> Vec<CameraId> {
        self.of.remove(&row).unwrap_or_default()
    }
}

/// A part of a render target that shows a world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Viewport {
    pub target: ViewTarget,
    /// Width and height of the target texture; 0 if the target is the screen.
    pub pixels: [u32; 2],
    /// Left, bottom, width and height as fractions of the target.
    pub rectangle: [f32; 4],
    /// Clear color; `None` does not clear.
    pub background: Option<Color>,
    /// The viewport of the game's render config that draws it, by its name; `None`: the first one.
    pub frame: Option<IdString32>,
}

impl Viewport {
    /// The whole screen, cleared to black.
    pub const DEFAULT: Viewport = Viewport {
        target: ViewTarget::Screen,
        pixels: [0, 0],
        rectangle: [0.0, 0.0, 1.0, 1.0],
        background: Some(Color { red: 0.0, green: 0.0, blue: 0.0, alpha: 255.0 }),
        frame: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Vec2 = Vec2::new(200.0, 100.0);

    fn cameras() -> [Camera; 4] {
        let pose = Mat4::from_rotation_z(0.4) * Mat4::from_translation(Vec3::new(1.0, -8.0, 3.0));
        let camera = Camera { pose, ..Camera::DEFAULT };
        let frustum = Some([-0.1, 0.2, -0.05, 0.1]);
        let orthographic = OrthographicView::Edges([-4.0, 8.0, -2.0, 3.0]);
        [
            camera,
            Camera { frustum, ..camera },
            Camera { projection: Projection::Orthographic, orthographic, ..camera },
            Camera { pose, ..Camera::FLAT },
        ]
    }

    #[test]
    fn points_ahead_are_centered_and_points_above_are_above() {
        let camera = Camera::DEFAULT;
        let (position, depth) = camera.world_to_screen(Vec3::new(0.0, 10.0, 0.0), SIZE);
        assert!((position - SIZE / 2.0).length() < 1e-4 && (depth - 10.0).abs() < 1e-5);
        let (position, _) = camera.world_to_screen(Vec3::new(1.0, 10.0, 2.0), SIZE);
        assert!(position.x > 100.0 && position.y > 50.0);
    }

    #[test]
    fn the_flat_camera_shows_the_plane_of_x_and_y_in_units() {
        let camera = Camera::FLAT;
        let (position, depth) = camera.world_to_screen(Vec3::new(0.5, 0.25, -3.0), SIZE);
        assert!((position - Vec2::new(150.0, 75.0)).length() < 1e-3, "{position}");
        assert_eq!(depth, 3.0);
        assert_eq!(camera.screen_to_world(position, 0.0, SIZE), Vec3::new(0.5, 0.25, 0.0));
        assert!(camera.inside_frustum(Vec3::new(0.0, 0.0, 900.0), SIZE) > 0.0);
    }

    #[test]
    fn an_orthographic_view_follows_the_shape_of_its_target() {
        let check = |view: OrthographicView, edges: [f32; 4]| assert_eq!(view.edges(SIZE), edges);
        check(OrthographicView::Height(4.0), [-4.0, 4.0, -2.0, 2.0]);
        check(OrthographicView::Scale(10.0), [-10.0, 10.0, -5.0, 5.0]);
        check(OrthographicView::Edges([1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn screen_positions_convert_back_to_their_points() {
        for camera in cameras() {
            let point = camera.pose.transform_point3(Vec3::new(1.0, 7.0, -0.5));
            let (position, depth) = camera.world_to_screen(point, SIZE);
            let back = camera.screen_to_world(position, depth, SIZE);
            assert!((back - point).length() < 1e-3, "{camera:?}: {back} is not {point}");
        }
    }

    #[test]
    fn a_ray_passes_through_its_screen_position() {
        for camera in cameras() {
            let point = camera.pose.transform_point3(Vec3::new(1.0, 7.0, -0.5));
            let (position, _) = camera.world_to_screen(point, SIZE);
            let (from, way) = camera.ray(position, SIZE);
            let distance = (point - from).cross(way).length();
            assert!(distance < 1e-3 && (way.length() - 1.0).abs() < 1e-6, "{camera:?}");
            let (_, depth) = camera.world_to_screen(from, SIZE);
            assert!((depth - camera.near).abs() < 1e-3);
        }
    }

    #[test]
    fn points_beyond_the_range_of_floats_give_finite_results() {
        for camera in cameras() {
            for point in [Vec3::splat(3e38), Vec3::new(-3e38, 3e38, 0.0), Vec3::splat(1e-38)] {
                for pose in [camera.pose, Mat4::from_translation(Vec3::new(3e38, -3e38, 3e38))] {
                    let camera = Camera { pose, ..camera };
                    let (position, depth) = camera.world_to_screen(point, SIZE);
                    assert!(
                        position.is_finite() && depth.is_finite(),
                        "{point}: {position}, {depth}"
                    );
                    assert!(camera.inside_frustum(point, SIZE).is_finite(), "{point}");
                    assert!(
                        camera.screen_to_world(position, depth, SIZE).is_finite(),
                        "{position}"
                    );
                    let (from, way) = camera.ray(position, SIZE);
                    assert!(from.is_finite() && (way.length() - 1.0).abs() < 1e-5, "{position}");
                }
            }
        }
        let far = Camera::DEFAULT.inside_frustum(Vec3::new(0.0, -3e38, 0.0), Vec2::ONE);
        assert!(far < -1e38, "it is behind: {far}");
    }

    #[test]
    fn depth_is_zero_at_the_near_plane_and_one_at_the_far_plane() {
        for camera in cameras() {
            let depth = |y: f32| {
                let clip = camera.projection(SIZE) * Vec4::new(0.0, 0.0, -y, 1.0);
                clip.z / clip.w
            };
            assert!(depth(camera.near).abs() < 1e-5 && (depth(camera.far) - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn visible_points_are_inside_the_frustum() {
        let camera = Camera::DEFAULT;
        let inside = |x: f32, y: f32| camera.inside_frustum(Vec3::new(x, y, 0.0), Vec2::ONE);
        assert!(inside(0.0, 10.0) > 0.0);
        assert!(inside(0.0, -1.0) < 0.0 && inside(30.0, 10.0) < 0.0 && inside(0.0, 2000.0) < 0.0);
        assert!((inside(0.0, 999.0) - 1.0).abs() < 1e-2);
    }
}
