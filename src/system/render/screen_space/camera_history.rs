//! The cameras of a view in successive frames: the reprojection from one frame to the one before,
//! cuts, and the jitter of temporal anti-aliasing. Pure arithmetic.

use super::uniforms::{HistoryInputs, is_orthographic};
use engine_foundation::{DMat4, Mat4, Vec2};
use engine_frame_packet::CameraFrame;

/// A camera that moves further than this in a frame, in metres, is a cut.
const CUT_METRES: f32 = 10.0;
/// A camera that turns by a greater angle in a frame is a cut: the cosine of 30 degrees.
const CUT_COSINE: f32 = 0.866;
/// A camera whose scale changes by a greater factor is a cut.
const CUT_SCALE: f32 = 1.25;
/// Number of jitter offsets, which then repeat.
const JITTERS: u32 = 16;
/// The least share of the new picture in the history.
const NEW_SHARE_MIN: f32 = 0.06;

/// The history of a view's cameras.
#[derive(Default)]
pub struct CameraHistory {
    previous: Option<CameraFrame>,
    /// Frames since the last cut.
    frames: u32,
}

/// Returns the number of an index in the Halton sequence of a base: from 0 to 1. Halton, "On the
/// efficiency of certain quasi-random sequences of points", 1960.
fn halton(mut index: u32, base: u32) -> f32 {
    let (mut sum, mut share) = (0.0, 1.0);
    while index > 0 {
        share /= base as f32;
        sum += share * (index % base) as f32;
        index /= base;
    }
    sum
}

/// Returns true if a camera shows something else than the one before.
fn is_cut(before: &CameraFrame, camera: &CameraFrame) -> bool {
    let ahead = |camera: &CameraFrame| camera.view.transpose().z_axis.truncate();
    let scale = camera.projection.y_axis.y / before.projection.y_axis.y;
    // Numbers that are not finite are cuts too.
    let is_near = before.position.distance(camera.position) <= CUT_METRES;
    let is_along = ahead(before).dot(ahead(camera)) >= CUT_COSINE;
    let is_alike = (1.0 / CUT_SCALE..=CUT_SCALE).contains(&scale);
    let is_same_kind = is_orthographic(before) == is_orthographic(camera);
    !(is_near && is_along && is_alike && is_same_kind)
}

/// Returns the matrix from a camera's clip space to that of another one. Positions are relative to
/// the cameras in double precision, because the cameras may be far from the origin.
fn reprojection(before: &CameraFrame, camera: &CameraFrame) -> Mat4 {
    let clip = |camera: &CameraFrame| {
        let matrix = |matrix: &Mat4| DMat4::from_cols_array(&matrix.to_cols_array().map(f64::from));
        (matrix(&camera.projection), matrix(&camera.view))
    };
    let ((projection, view), (old_projection, old_view)) = (clip(camera), clip(before));
    let whole = old_projection * (old_view * view.inverse()) * projection.inverse();
    Mat4::from_cols_array(&whole.to_cols_array().map(|number| number as f32))
}

impl CameraHistory {
    /// Begins a frame. `has_jitter`: temporal anti-aliasing is on. `size` is in pixels.
    pub fn advance(
        &mut self,
        camera: &CameraFrame,
        has_jitter: bool,
        (width, height): (u32, u32),
    ) -> HistoryInputs {
        let before = self.previous.replace(*camera).filter(|before| !is_cut(before, camera));
        let matrix = before.map(|before| reprojection(&before, camera));
        let matrix = matrix.filter(|matrix| matrix.is_finite());
        self.frames = if matrix.is_some() { self.frames.saturating_add(1) } else { 0 };
        let index = self.frames % JITTERS + 1;
        let offset = Vec2::new(halton(index, 2), halton(index, 3)) - Vec2::splat(0.5);
        let jitter = offset * 2.0 / Vec2::new(width as f32, height as f32);
        let to_clip = |camera: &CameraFrame| camera.projection * camera.view;
        let both = before.filter(|_| matrix.is_some());
        HistoryInputs {
            to_clip: both.map(|before| [to_clip(camera), to_clip(&before)]),
            reprojection: matrix.unwrap_or(Mat4::IDENTITY),
            jitter: if has_jitter { jitter } else { Vec2::ZERO },
            // The first pictures count equally, later ones less and less.
            new_share: (1.0 / (self.frames as f32 + 1.0)).max(NEW_SHARE_MIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::{Vec3, Vec4, projections, views};

    fn camera(from: Vec3, at: Vec3) -> CameraFrame {
        CameraFrame {
            view: views::look_at_mat4(from, at, Vec3::Z),
            projection: projections::perspective(0.7, 1.5, 0.1, 200.0),
            position: from,
            near: 0.1,
            far: 200.0,
        }
    }

    const SIZE: (u32, u32) = (200, 100);

    #[test]
    fn a_point_is_reprojected_to_where_it_was() {
        let far_away = Vec3::new(5000.0, -3000.0, 40.0);
        let one = camera(far_away, far_away + Vec3::new(0.0, 1.0, 0.1));
        let two = camera(far_away + Vec3::X * 0.1, far_away + Vec3::new(0.2, 1.0, 0.0));
        let mut history = CameraHistory::default();
        history.advance(&one, false, SIZE);
        let matrix = history.advance(&two, false, SIZE).reprojection;
        let point = (far_away + Vec3::new(1.0, 6.0, 0.5)).extend(1.0);
        let on = |camera: &CameraFrame| {
            let clip: Vec4 = camera.projection * (camera.view * point);
            clip / clip.w
        };
        let found = matrix * on(&two);
        assert!((found / found.w - on(&one)).truncate().length() < 2e-3);
        let still = history.advance(&two, false, SIZE).reprojection;
        assert!(still.abs_diff_eq(Mat4::IDENTITY, 1e-6), "{still}");
    }

    #[test]
    fn cuts_and_cameras_that_are_not_finite_reset_the_history() {
        let start = camera(Vec3::ZERO, Vec3::Y);
        let shares = |next: CameraFrame| {
            let mut history = CameraHistory::default();
            history.advance(&start, true, SIZE);
            assert_eq!(history.advance(&start, true, SIZE).new_share, 0.5);
            history.advance(&next, true, SIZE)
        };
        assert!(shares(camera(Vec3::X, Vec3::new(1.0, 1.0, 0.1))).new_share < 0.5);
        let zoomed = CameraFrame {
            projection: projections::perspective(0.3, 1.5, 0.1, 200.0),
            ..camera(Vec3::ZERO, Vec3::Y)
        };
        let flat = CameraFrame {
            projection: projections::orthographic(-1.0, 1.0, -1.0, 1.0, 0.1, 9.0),
            ..camera(Vec3::ZERO, Vec3::Y)
        };
        let broken = CameraFrame { view: Mat4::from_scale(Vec3::NAN), ..start };
        let lost = CameraFrame { position: Vec3::INFINITY, ..start };
        let jump = camera(Vec3::X * 11.0, Vec3::new(11.0, 1.0, 0.0));
        for next in [jump, camera(Vec3::ZERO, Vec3::X), zoomed, flat, broken, lost] {
            let found = shares(next);
            assert_eq!((found.new_share, found.reprojection), (1.0, Mat4::IDENTITY));
        }
    }

    #[test]
    fn jitter_stays_within_a_pixel_around_its_middle() {
        let start = camera(Vec3::ZERO, Vec3::Y);
        let mut history = CameraHistory::default();
        let mut sum = Vec2::ZERO;
        for _ in 0..JITTERS {
            let jitter = history.advance(&start, true, SIZE).jitter * Vec2::new(100.0, 50.0);
            assert!(jitter.abs().max_element() <= 0.5, "{jitter}");
            sum += jitter / JITTERS as f32;
        }
        assert!(sum.abs().max_element() < 0.05, "{sum}");
        assert_eq!(history.advance(&start, false, SIZE).jitter, Vec2::ZERO);
    }
}
