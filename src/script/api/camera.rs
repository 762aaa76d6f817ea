//! `Camera`: from where and how a world is seen.

use crate::engine::Engine;
use crate::foundation::angles::tan_f64;
use crate::foundation::{Error, Handle, Mat4, Quat, Vec2, Vec3};
use crate::script::arg::{AnyNumber, Text};
use crate::script::row::{Module, func, hot, module};
use crate::world::camera::{CameraId, Projection, ViewportId};
use std::f64::consts::PI;

const CAMERA_ARG: (&str, &str) = ("camera", "a camera");
const VIEWPORT_ARG: (&str, &str) =
    ("viewport", "where the camera's picture is; the whole screen if left out");

pub static CAMERA: Module = module(
    "Camera",
    "A camera sees a world: `Application.main_camera()` is there by itself, and \
     `Application.create_camera` makes more. It looks along the y axis of its pose, with z up and \
     x to the right. Places on the screen are logical pixels from the left bottom.",
    r#"local camera = Application.main_camera()
Camera.set_local_position(camera, Vector3(0, -10, 2))
Camera.set_vertical_fov(camera, math.rad(60))
local place, depth = Camera.world_to_screen(camera, Vector3(0, 0, 2))
assert(math.abs(depth - 10) < 0.001)"#,
    &[
        hot(
            "alive",
            alive,
            &[("camera", "a number that may be a camera's handle")],
            "Whether the handle leads to a camera that is there. Never raises for a stale handle.",
        )
        .pure(),
        func(
            "local_pose",
            local_pose,
            &[CAMERA_ARG],
            "Where it is and how it is turned; that of a unit, relative to its node.",
        )
        .pure(),
        func("world_pose", pose, &[CAMERA_ARG], "The same, in the world.").pure(),
        hot("local_position", local_position, &[CAMERA_ARG], "Where it is, in metres.").pure(),
        hot("world_position", position, &[CAMERA_ARG], "Where it is in the world.").pure(),
        hot("local_rotation", local_rotation, &[CAMERA_ARG], "How it is turned.").pure(),
        hot("world_rotation", rotation, &[CAMERA_ARG], "How it is turned in the world.").pure(),
        func(
            "set_local_pose",
            set_pose,
            &[CAMERA_ARG, ("pose", "its axes must be at right angles and of length 1")],
            "Moves and turns it; that of a unit, relative to its node.",
        ),
        hot("set_local_position", set_position, &[CAMERA_ARG, ("position", "metres")], "Moves it."),
        hot(
            "set_local_rotation",
            set_rotation,
            &[CAMERA_ARG, ("rotation", "how it is turned from now on")],
            "Turns it.",
        ),
        func(
            "projection_type",
            projection_type,
            &[CAMERA_ARG],
            "\"perspective\" or \"orthographic\".",
        )
        .pure(),
        func(
            "set_projection_type",
            set_projection_type,
            &[CAMERA_ARG, ("projection", "\"perspective\" or \"orthographic\"")],
            "Says whether what is far looks smaller.",
        ),
        func(
            "projection",
            projection,
            &[CAMERA_ARG, ("aspect", "width divided by height; the screen's if left out")],
            "The matrix that takes what is before the camera (x right, y up, z backward) to clip \
             space, depth from 0 to 1.",
        )
        .pure(),
        hot(
            "vertical_fov",
            vertical_fov,
            &[CAMERA_ARG],
            "From the lowest to the highest, radians.",
        )
        .pure(),
        hot(
            "set_vertical_fov",
            set_vertical_fov,
            &[CAMERA_ARG, ("angle", "radians, above 0 and below pi")],
            "Sets how much it sees from the lowest to the highest line of sight.",
        ),
        hot("near_range", near_range, &[CAMERA_ARG], "Metres from which on it sees.").pure(),
        hot("far_range", far_range, &[CAMERA_ARG], "Metres up to which it sees.").pure(),
        hot(
            "set_near_range",
            set_near_range,
            &[CAMERA_ARG, ("near", "metres, above 0 in perspective, less than the far range")],
            "Sets from how near on it sees.",
        ),
        hot(
            "set_far_range",
            set_far_range,
            &[CAMERA_ARG, ("far", "metres, more than the near range")],
            "Sets up to how far it sees.",
        ),
        func(
            "set_orthographic_view",
            set_orthographic_view,
            &[
                CAMERA_ARG,
                ("min_x", "metres to the right of the camera"),
                ("max_x", "metres to the right of the camera"),
                ("min_z", "metres above the camera"),
                ("max_z", "metres above the camera"),
            ],
            "What an orthographic camera sees.",
        ),
        func(
            "set_frustum",
            set_frustum,
            &[
                CAMERA_ARG,
                ("left", "metres at the near range"),
                ("right", "metres at the near range"),
                ("bottom", "metres at the near range"),
                ("top", "metres at the near range"),
            ],
            "Sets what a perspective camera sees by its edges at the near range, in place of an \
             angle.",
        ),
        func(
            "set_frustum_half_angles",
            set_frustum_half_angles,
            &[
                CAMERA_ARG,
                ("left", "radians from straight ahead, below 0 to the left"),
                ("right", "radians from straight ahead"),
                ("bottom", "radians from straight ahead, below 0 downward"),
                ("top", "radians from straight ahead"),
            ],
            "The same by the angles of the edges.",
        ),
        func(
            "world_to_screen",
            world_to_screen,
            &[CAMERA_ARG, ("position", "a point in the world"), VIEWPORT_ARG],
            "Where a point is seen, x and y in logical pixels of the screen (of a viewport that is \
             a texture, in its pixels), and how many metres before the camera it is; below 0 it is \
             behind.",
        )
        .pure(),
        func(
            "screen_to_world",
            screen_to_world,
            &[
                CAMERA_ARG,
                ("position", "x and y in logical pixels of the screen"),
                ("depth", "metres before the camera; 0 if left out"),
                VIEWPORT_ARG,
            ],
            "The point in the world that is seen at a place of the screen.",
        )
        .pure(),
        hot(
            "inside_frustum",
            inside_frustum,
            &[CAMERA_ARG, ("position", "a point in the world")],
            "How many metres inside of what the camera sees a point is; below 0 it is outside.",
        )
        .pure(),
    ],
);

fn alive(engine: &mut Engine, camera: AnyNumber) -> bool {
    Handle::from_number(camera.0).is_some_and(|handle| engine.cameras.get(handle).is_some())
}

fn pose(engine: &mut Engine, camera: CameraId) -> Mat4 {
    engine.camera(camera).pose
}

/// Its pose as it is set: relative to the node that it hangs on, if it does.
fn local(engine: &mut Engine, camera: CameraId) -> &mut Mat4 {
    let camera = engine.camera(camera);
    match &mut camera.owner {
        Some(owner) => &mut owner.local,
        None => &mut camera.pose,
    }
}

fn local_pose(engine: &mut Engine, camera: CameraId) -> Mat4 {
    *local(engine, camera)
}

fn local_position(engine: &mut Engine, camera: CameraId) -> Vec3 {
    local(engine, camera).w_axis.truncate()
}

fn local_rotation(engine: &mut Engine, camera: CameraId) -> Quat {
    Quat::from_mat4(local(engine, camera))
}

fn position(engine: &mut Engine, camera: CameraId) -> Vec3 {
    engine.camera(camera).pose.w_axis.truncate()
}

fn rotation(engine: &mut Engine, camera: CameraId) -> Quat {
    Quat::from_mat4(&engine.camera(camera).pose)
}

fn set_pose(engine: &mut Engine, camera: CameraId, pose: Mat4) -> Result<(), Error> {
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate());
    let right = |a: usize, b: usize| axes[a].dot(axes[b]).abs() < 1e-3;
    let whole = axes.iter().all(|axis| (axis.length() - 1.0).abs() < 1e-3);
    if !(whole && right(0, 1) && right(1, 2) && right(0, 2)) {
        return Err(crate::error!(
            "argument #2 'pose': its axes must be at right angles and of length 1: a camera is not \
             scaled"
        ));
    }
    *local(engine, camera) = pose;
    Ok(())
}

fn set_position(engine: &mut Engine, camera: CameraId, position: Vec3) {
    local(engine, camera).w_axis = position.extend(1.0);
}

fn set_rotation(engine: &mut Engine, camera: CameraId, rotation: Quat) -> Result<(), Error> {
    if (rotation.length() - 1.0).abs() > 1e-3 {
        return Err(crate::error!(
            "argument #2 'rotation' must have length 1, got {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let pose = local(engine, camera);
    let position = pose.w_axis.truncate();
    *pose = Mat4::from_rotation_translation(rotation.normalize(), position);
    Ok(())
}

fn projection_type(engine: &mut Engine, camera: CameraId) -> String {
    match engine.camera(camera).projection {
        Projection::Perspective => "perspective".to_string(),
        Projection::Orthographic => "orthographic".to_string(),
    }
}

fn set_projection_type(
    engine: &mut Engine,
    camera: CameraId,
    projection: Text,
) -> Result<(), Error> {
    let known = ["perspective", "orthographic"];
    let word = projection.as_str();
    let camera = engine.camera(camera);
    camera.projection = match known.iter().position(|known| *known == word) {
        Some(0) => Projection::Perspective,
        Some(_) => Projection::Orthographic,
        None => {
            let hint = crate::foundation::suggest::hint(word, known);
            return Err(crate::error!(
                "argument #2 'projection' must be \"perspective\" or \"orthographic\", got \
                 \"{word}\"{hint}"
            ));
        }
    };
    Ok(())
}

/// The screen's width and height, at least 1: a window can have no size at all.
fn screen_size(engine: &Engine) -> Vec2 {
    engine.window.logical().max(Vec2::ONE)
}

fn aspect(engine: &Engine) -> f32 {
    let size = screen_size(engine);
    size.x / size.y
}

fn projection(engine: &mut Engine, camera: CameraId, wanted: Option<f64>) -> Result<Mat4, Error> {
    let aspect = wanted.map_or(aspect(engine), |aspect| aspect as f32);
    if aspect <= 0.0 {
        return Err(crate::error!("argument #2 'aspect' must be above 0, got {aspect}"));
    }
    Ok(engine.camera(camera).projection(aspect))
}

fn vertical_fov(engine: &mut Engine, camera: CameraId) -> f64 {
    engine.camera(camera).vertical_fov.into()
}

fn set_vertical_fov(engine: &mut Engine, camera: CameraId, angle: f64) -> Result<(), Error> {
    if !(angle > 0.0 && angle < PI) {
        return Err(crate::error!(
            "argument #2 'angle' must be above 0 and below pi radians, got {angle}: math.rad makes \
             radians of degrees"
        ));
    }
    let camera = engine.camera(camera);
    camera.vertical_fov = angle as f32;
    camera.frustum = None;
    Ok(())
}

fn near_range(engine: &mut Engine, camera: CameraId) -> f64 {
    engine.camera(camera).near.into()
}

fn far_range(engine: &mut Engine, camera: CameraId) -> f64 {
    engine.camera(camera).far.into()
}

fn set_near_range(engine: &mut Engine, camera: CameraId, near: f64) -> Result<(), Error> {
    let camera = engine.camera(camera);
    let least = camera.projection == Projection::Orthographic || near > 0.0;
    if !least || near as f32 >= camera.far {
        return Err(crate::error!(
            "argument #2 'near' must be above 0 in perspective and less than the far range {}, got \
             {near}",
            camera.far
        ));
    }
    camera.near = near as f32;
    Ok(())
}

fn set_far_range(engine: &mut Engine, camera: CameraId, far: f64) -> Result<(), Error> {
    let camera = engine.camera(camera);
    if far as f32 <= camera.near {
        return Err(crate::error!(
            "argument #2 'far' must be more than the near range {}, got {far}",
            camera.near
        ));
    }
    camera.far = far as f32;
    Ok(())
}

fn edges(low: [f64; 2], high: [f64; 2]) -> Result<[f32; 4], Error> {
    if low[0] >= low[1] || high[0] >= high[1] {
        return Err(crate::error!(
            "the edges must be in order: {} is not left of {}, or {} not below {}",
            low[0],
            low[1],
            high[0],
            high[1]
        ));
    }
    Ok([low[0], low[1], high[0], high[1]].map(|edge| edge as f32))
}

fn set_orthographic_view(
    engine: &mut Engine,
    camera: CameraId,
    min_x: f64,
    max_x: f64,
    min_z: f64,
    max_z: f64,
) -> Result<(), Error> {
    let edges = edges([min_x, max_x], [min_z, max_z])?;
    let camera = engine.camera(camera);
    (camera.orthographic, camera.fits_width) = (edges, false);
    Ok(())
}

fn set_frustum(
    engine: &mut Engine,
    camera: CameraId,
    left: f64,
    right: f64,
    bottom: f64,
    top: f64,
) -> Result<(), Error> {
    engine.camera(camera).frustum = Some(edges([left, right], [bottom, top])?);
    Ok(())
}

fn set_frustum_half_angles(
    engine: &mut Engine,
    camera: CameraId,
    left: f64,
    right: f64,
    bottom: f64,
    top: f64,
) -> Result<(), Error> {
    if [left, right, bottom, top].iter().any(|angle| angle.abs() >= PI / 2.0) {
        return Err(crate::error!("the angles must be less than half of pi to either side"));
    }
    let near = f64::from(engine.camera(camera).near);
    let [left, right, bottom, top] = [left, right, bottom, top].map(|angle| near * tan_f64(angle));
    set_frustum(engine, camera, left, right, bottom, top)
}

/// Where a viewport begins, and its size: at least 1, for a window can have no size at all.
fn place(engine: &Engine, viewport: Option<ViewportId>) -> (Vec2, Vec2) {
    let viewport = engine.viewport(viewport);
    (engine.viewport_corner(&viewport), engine.viewport_size(&viewport).max(Vec2::ONE))
}

fn world_to_screen(
    engine: &mut Engine,
    camera: CameraId,
    position: Vec3,
    viewport: Option<ViewportId>,
) -> (Vec3, f64) {
    let (corner, size) = place(engine, viewport);
    let (place, depth) = engine.camera(camera).world_to_screen(position, size);
    ((corner + place).extend(0.0), depth.into())
}

fn screen_to_world(
    engine: &mut Engine,
    camera: CameraId,
    position: Vec3,
    depth: Option<f64>,
    viewport: Option<ViewportId>,
) -> Vec3 {
    let (corner, size) = place(engine, viewport);
    let depth = depth.unwrap_or(0.0) as f32;
    engine.camera(camera).screen_to_world(position.truncate() - corner, depth, size)
}

fn inside_frustum(engine: &mut Engine, camera: CameraId, position: Vec3) -> f64 {
    let aspect = aspect(engine);
    engine.camera(camera).inside_frustum(position, aspect).into()
}
