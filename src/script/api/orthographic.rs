//! The orthographic view in the Lua module `Camera`: the height, the scale and the size of the area
//! that a camera shows. Cameras in perspective are in camera.rs.

use crate::api::camera::{CAMERA_ARG, VIEWPORT_ARG, corner_and_size};
use crate::api_row::{ModuleRows, func, more};
use engine_foundation::{Error, Vec2};
use engine_runtime::Engine;
use engine_world::camera::{CameraId, NEAR_MIN, OrthographicView, VIEW_DISTANCE_MAX, ViewportId};

/// Minimum and maximum number of units per metre of an orthographic view.
const SCALE_MIN: f64 = 1.0e-3;
const SCALE_MAX: f64 = 1.0e6;

pub static CAMERA: ModuleRows = more(
    "Camera",
    &[
        func(
            "set_orthographic_size",
            set_orthographic_size,
            &[CAMERA_ARG, ("height", "height of the visible area in metres, the whole height")],
            "Sets the height of the area that an orthographic camera shows. The width follows from \
             the shape of the screen or viewport.",
        ),
        func(
            "set_orthographic_scale",
            set_orthographic_scale,
            &[
                CAMERA_ARG,
                (
                    "units_per_metre",
                    "length of a metre on the screen, in units of the screen's Guis, or in pixels \
                     of the viewport's texture; 100 in the camera of a 2D world",
                ),
            ],
            "Sets the scale of an orthographic camera. A larger screen or viewport shows more \
             metres. If the scale is the `pixels_per_metre` of a sprite, a pixel of its picture is \
             as large as one in a Gui.",
        ),
        func(
            "orthographic_size",
            orthographic_size,
            &[CAMERA_ARG, VIEWPORT_ARG],
            "Returns the width and height of the area that an orthographic camera shows, in \
             metres.",
        )
        .returns(&["width in metres", "height in metres"])
        .pure(),
        func(
            "orthographic_scale",
            orthographic_scale,
            &[CAMERA_ARG, VIEWPORT_ARG],
            "Returns the number of units of the screen per vertical metre of an orthographic \
             camera.",
        )
        .pure(),
    ],
);

fn set_orthographic_size(engine: &mut Engine, camera: CameraId, height: f64) -> Result<(), Error> {
    if !(f64::from(NEAR_MIN)..=f64::from(VIEW_DISTANCE_MAX)).contains(&height) {
        return Err(engine_foundation::error!(
            "argument #2 'height' must be {NEAR_MIN} to {VIEW_DISTANCE_MAX} metres, above 0, got \
             {height}"
        ));
    }
    engine.worlds.camera(camera).orthographic = OrthographicView::Height(height as f32);
    Ok(())
}

fn set_orthographic_scale(engine: &mut Engine, camera: CameraId, scale: f64) -> Result<(), Error> {
    if !(SCALE_MIN..=SCALE_MAX).contains(&scale) {
        return Err(engine_foundation::error!(
            "argument #2 'units_per_metre' must be {SCALE_MIN} to {SCALE_MAX}, above 0, got {scale}"
        ));
    }
    engine.worlds.camera(camera).orthographic = OrthographicView::Scale(scale as f32);
    Ok(())
}

/// Returns width and height of a camera's orthographic view in metres, and the size of its target.
fn view_size(engine: &mut Engine, camera: CameraId, viewport: Option<ViewportId>) -> (Vec2, Vec2) {
    let (_, target) = corner_and_size(engine, viewport);
    let [left, right, bottom, top] = engine.worlds.camera(camera).orthographic.edges(target);
    (Vec2::new(right - left, top - bottom), target)
}

fn orthographic_size(
    engine: &mut Engine,
    camera: CameraId,
    viewport: Option<ViewportId>,
) -> (f64, f64) {
    let (size, _) = view_size(engine, camera, viewport);
    (size.x.into(), size.y.into())
}

fn orthographic_scale(engine: &mut Engine, camera: CameraId, viewport: Option<ViewportId>) -> f64 {
    let (size, target) = view_size(engine, camera, viewport);
    (target.y / size.y).into()
}
