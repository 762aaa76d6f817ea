//! The Lua module `Camera`: the position, projection and view of cameras.

use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{MaybeHandle, TextArgument};
use engine_foundation::deterministic_math::tan_f64;
use engine_foundation::{Error, Mat4, Quat, Vec2, Vec3};
use engine_runtime::Engine;
use engine_world::camera::{
    ANGLE_MIN, CameraId, NEAR_MIN, OrthographicView, Projection, VIEW_DISTANCE_MAX, ViewportId,
};
use std::f64::consts::PI;

/// Maximum ratio of the two sides of a picture.
const ASPECT_MAX: f64 = 1.0e6;

pub(super) const CAMERA_ARG: (&str, &str) = ("camera", "a camera");
pub(super) const VIEWPORT_ARG: (&str, &str) =
    ("viewport", "the viewport that shows the camera's picture; the whole screen if left out");

pub static CAMERA: ModuleRows = module(
    "Camera",
    "A camera shows a world. `Application.main_camera()` always exists, \
     `World.main_camera(world)` returns the one of a 2D world, and `Application.create_camera` \
     creates more. It looks along the y axis of its pose, with z up \
     and x to the right. Positions on the screen are in units of its Guis from the bottom left.",
    r#"local camera = Application.main_camera()
Camera.set_local_position(camera, Vector3(0, -10, 2))
Camera.set_vertical_fov(camera, math.rad(60))
local place, depth = Camera.world_to_screen(camera, Vector3(0, 0, 2))
assert(math.abs(depth - 10) < 0.001)"#,
    &[
        hot(
            "alive",
            alive,
            &[("camera", "a number that may be a camera's handle; nil and false are none")],
            "Returns true if the handle refers to an existing camera. Never raises for a stale \
             handle.",
        )
        .pure(),
        func(
            "local_pose",
            local_pose,
            &[CAMERA_ARG],
            "Returns its pose; for a camera of a unit, relative to its node.",
        )
        .pure(),
        func("world_pose", pose, &[CAMERA_ARG], "Returns its pose in the world.").pure(),
        hot("local_position", local_position, &[CAMERA_ARG], "Returns its position, in metres.")
            .pure(),
        hot("world_position", position, &[CAMERA_ARG], "Returns its position in the world.").pure(),
        hot("local_rotation", local_rotation, &[CAMERA_ARG], "Returns its rotation.").pure(),
        hot("world_rotation", rotation, &[CAMERA_ARG], "Returns its rotation in the world.").pure(),
        func(
            "set_local_pose",
            set_pose,
            &[CAMERA_ARG, ("pose", "its axes must be perpendicular and of length 1")],
            "Sets its pose; for a camera of a unit, relative to its node.",
        ),
        hot(
            "set_local_position",
            set_position,
            &[CAMERA_ARG, ("position", "in metres")],
            "Sets its position.",
        ),
        hot(
            "set_local_rotation",
            set_rotation,
            &[CAMERA_ARG, ("rotation", "the new rotation")],
            "Sets its rotation.",
        ),
        func(
            "projection_type",
            projection_type,
            &[CAMERA_ARG],
            "Returns its projection: \"perspective\" or \"orthographic\".",
        )
        .pure(),
        func(
            "set_projection_type",
            set_projection_type,
            &[CAMERA_ARG, ("projection", "\"perspective\" or \"orthographic\"")],
            "Sets its projection. In perspective, distant objects look smaller.",
        ),
        func(
            "projection",
            projection,
            &[CAMERA_ARG, ("aspect", "width divided by height; the screen's if left out")],
            "Returns the matrix from camera space (x right, y up, z backward) to clip space, with \
             depth from 0 to 1.",
        )
        .pure(),
        hot(
            "vertical_fov",
            vertical_fov,
            &[CAMERA_ARG],
            "Returns the vertical field of view, in radians.",
        )
        .pure(),
        hot(
            "set_vertical_fov",
            set_vertical_fov,
            &[CAMERA_ARG, ("angle", "radians, above 0 and below pi")],
            "Sets the vertical field of view: the angle between the lowest and the highest line of \
             sight.",
        ),
        hot(
            "near_range",
            near_range,
            &[CAMERA_ARG],
            "Returns the smallest distance that it shows, in metres.",
        )
        .pure(),
        hot(
            "far_range",
            far_range,
            &[CAMERA_ARG],
            "Returns the largest distance that it shows, in metres.",
        )
        .pure(),
        hot(
            "set_near_range",
            set_near_range,
            &[CAMERA_ARG, ("near", "metres, above 0 in perspective, less than the far range")],
            "Sets the smallest distance that it shows.",
        ),
        hot(
            "set_far_range",
            set_far_range,
            &[CAMERA_ARG, ("far", "metres, more than the near range")],
            "Sets the largest distance that it shows.",
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
            "Sets the area that an orthographic camera shows.",
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
            "Sets what a perspective camera shows, by its edges at the near range instead of an \
             angle.",
        ),
        func(
            "set_frustum_half_angles",
            set_frustum_half_angles,
            &[
                CAMERA_ARG,
                ("left", "radians from straight ahead, negative to the left"),
                ("right", "radians from straight ahead"),
                ("bottom", "radians from straight ahead, negative downward"),
                ("top", "radians from straight ahead"),
            ],
            "Sets what a perspective camera shows, by the angles of its edges.",
        ),
        func(
            "world_to_screen",
            world_to_screen,
            &[CAMERA_ARG, ("position", "a point in the world"), VIEWPORT_ARG],
            "Returns the position of a point on the screen, and its depth: the distance in front \
             of the camera, in metres. x and y are in logical pixels of the screen, or in pixels \
             of the viewport's texture. If the depth is below 0, the point is behind the camera, \
             and x and y have no meaning.",
        )
        .returns(&["position x and y on the screen", "depth metres in front of the camera"])
        .pure(),
        func(
            "screen_to_world",
            screen_to_world,
            &[
                CAMERA_ARG,
                ("position", "x and y in logical pixels of the screen"),
                ("depth", "metres in front of the camera; 0 if left out"),
                VIEWPORT_ARG,
            ],
            "Returns the point in the world that is visible at a position on the screen.",
        )
        .pure(),
        hot(
            "inside_frustum",
            inside_frustum,
            &[CAMERA_ARG, ("position", "a point in the world")],
            "Returns how many metres a point is inside the view of the camera; below 0 it is \
             outside.",
        )
        .pure(),
    ],
);

/// Native functions on which the prelude's functions are built.
pub static CORE: ModuleRows = module(
    "Camera",
    "Lines of sight, for the prelude.",
    "assert(core == nil)",
    &[func(
        "screen_to_ray",
        screen_to_ray,
        &[("camera", ""), ("position", ""), ("viewport", "")],
        "Returns the start and the direction of a line of sight.",
    )
    .public_name("Camera.screen_to_ray")
    .pure()],
);

fn alive(engine: &mut Engine, camera: MaybeHandle) -> bool {
    camera.handle().is_some_and(|handle| engine.worlds.cameras.get(handle).is_some())
}

fn pose(engine: &mut Engine, camera: CameraId) -> Mat4 {
    engine.worlds.camera(camera).pose
}

/// Returns the camera's local pose: relative to the node that it is attached to, if there is one.
fn local(engine: &mut Engine, camera: CameraId) -> &mut Mat4 {
    let camera = engine.worlds.camera(camera);
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
    engine.worlds.camera(camera).pose.w_axis.truncate()
}

fn rotation(engine: &mut Engine, camera: CameraId) -> Quat {
    Quat::from_mat4(&engine.worlds.camera(camera).pose)
}

fn set_pose(engine: &mut Engine, camera: CameraId, pose: Mat4) -> Result<(), Error> {
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate());
    let right = |a: usize, b: usize| axes[a].dot(axes[b]).abs() < 1e-3;
    let whole = axes.iter().all(|axis| (axis.length() - 1.0).abs() < 1e-3);
    if !(whole && right(0, 1) && right(1, 2) && right(0, 2)) {
        return Err(engine_foundation::error!(
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
        return Err(engine_foundation::error!(
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
    match engine.worlds.camera(camera).projection {
        Projection::Perspective => "perspective".to_string(),
        Projection::Orthographic => "orthographic".to_string(),
    }
}

fn set_projection_type(
    engine: &mut Engine,
    camera: CameraId,
    projection: TextArgument,
) -> Result<(), Error> {
    let known = ["perspective", "orthographic"];
    let word = projection.as_str();
    let camera = engine.worlds.camera(camera);
    camera.projection = match known.iter().position(|known| *known == word) {
        Some(0) if camera.near < NEAR_MIN => {
            return Err(engine_foundation::error!(
                "the near range is {}, and a camera in perspective needs one above 0 (at least \
                 {NEAR_MIN}): Camera.set_near_range first",
                camera.near
            ));
        }
        Some(0) => Projection::Perspective,
        Some(_) => Projection::Orthographic,
        None => {
            let hint = engine_foundation::suggest::hint(word, known);
            return Err(engine_foundation::error!(
                "argument #2 'projection' must be \"perspective\" or \"orthographic\", got \
                 \"{word}\"{hint}"
            ));
        }
    };
    Ok(())
}

/// Returns the screen's width and height, at least 1, because a window can have no size.
fn screen_size(engine: &Engine) -> Vec2 {
    engine.devices.window.picture_size().max(Vec2::ONE)
}

fn projection(engine: &mut Engine, camera: CameraId, wanted: Option<f64>) -> Result<Mat4, Error> {
    let screen = screen_size(engine);
    let wanted = wanted.unwrap_or(f64::from(screen.x / screen.y));
    if !(1.0 / ASPECT_MAX..=ASPECT_MAX).contains(&wanted) {
        return Err(engine_foundation::error!(
            "argument #2 'aspect' must be above 0, and neither side more than {ASPECT_MAX} times \
             the other, got {wanted}: it is width divided by height"
        ));
    }
    Ok(engine.worlds.camera(camera).projection(Vec2::new(screen.y * wanted as f32, screen.y)))
}

fn vertical_fov(engine: &mut Engine, camera: CameraId) -> f64 {
    engine.worlds.camera(camera).vertical_fov.into()
}

fn set_vertical_fov(engine: &mut Engine, camera: CameraId, angle: f64) -> Result<(), Error> {
    if !(angle > 0.0 && angle < PI) {
        return Err(engine_foundation::error!(
            "argument #2 'angle' must be above 0 and below pi radians, got {angle}: math.rad \
             converts degrees to radians"
        ));
    }
    let least = f64::from(ANGLE_MIN);
    if angle < least || angle > PI - least {
        return Err(engine_foundation::error!(
            "argument #2 'angle' must be at least {ANGLE_MIN} radians from 0 and from pi, got \
             {angle}"
        ));
    }
    let camera = engine.worlds.camera(camera);
    camera.vertical_fov = angle as f32;
    camera.frustum = None;
    Ok(())
}

fn near_range(engine: &mut Engine, camera: CameraId) -> f64 {
    engine.worlds.camera(camera).near.into()
}

fn far_range(engine: &mut Engine, camera: CameraId) -> f64 {
    engine.worlds.camera(camera).far.into()
}

/// Checks a distance along the view.
///
/// # Errors
/// Returns an error if the distance is beyond the maximum range of a camera.
fn range(argument: &str, metres: f64) -> Result<f32, Error> {
    match metres.abs() <= f64::from(VIEW_DISTANCE_MAX) {
        true => Ok(metres as f32),
        false => Err(engine_foundation::error!(
            "argument {argument} must be at most {VIEW_DISTANCE_MAX} metres \
             (VIEW_DISTANCE_MAX), got {metres:e}"
        )),
    }
}

fn set_near_range(engine: &mut Engine, camera: CameraId, near: f64) -> Result<(), Error> {
    let near = range("#2 'near'", near)?;
    let camera = engine.worlds.camera(camera);
    let least = camera.projection == Projection::Orthographic || near >= NEAR_MIN;
    if !least || near >= camera.far {
        return Err(engine_foundation::error!(
            "argument #2 'near' must be above 0 in perspective (at least {NEAR_MIN}) and less \
             than the far range {}, got {near}: Camera.set_far_range sets that one",
            camera.far
        ));
    }
    camera.near = near;
    Ok(())
}

fn set_far_range(engine: &mut Engine, camera: CameraId, far: f64) -> Result<(), Error> {
    let far = range("#2 'far'", far)?;
    let camera = engine.worlds.camera(camera);
    if far <= camera.near {
        return Err(engine_foundation::error!(
            "argument #2 'far' must be more than the near range {}, got {far}: \
             Camera.set_near_range sets that one",
            camera.near
        ));
    }
    camera.far = far;
    Ok(())
}

/// Checks the minimum and maximum of two directions, with their names.
fn edges(
    names: [&str; 4],
    [least_x, most_x, least_z, most_z]: [f64; 4],
) -> Result<[f32; 4], Error> {
    let all = [least_x, most_x, least_z, most_z];
    for (index, edge) in all.into_iter().enumerate() {
        range(&format!("#{} '{}'", index + 2, names[index]), edge)?;
    }
    let near = all.map(|edge| edge as f32);
    for [low, high] in [[0, 1], [2, 3]] {
        if near[low] >= near[high] {
            return Err(engine_foundation::error!(
                "the edges must be in order: '{}', {}, must be less than '{}', {}",
                names[low],
                all[low],
                names[high],
                all[high]
            ));
        }
    }
    Ok(near)
}

fn set_orthographic_view(
    engine: &mut Engine,
    camera: CameraId,
    min_x: f64,
    max_x: f64,
    min_z: f64,
    max_z: f64,
) -> Result<(), Error> {
    let names = ["min_x", "max_x", "min_z", "max_z"];
    let edges = edges(names, [min_x, max_x, min_z, max_z])?;
    engine.worlds.camera(camera).orthographic = OrthographicView::Edges(edges);
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
    let names = ["left", "right", "bottom", "top"];
    engine.worlds.camera(camera).frustum = Some(edges(names, [left, right, bottom, top])?);
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
        return Err(engine_foundation::error!(
            "the angles must be less than half of pi to either side, got {left}, {right}, {bottom} \
             and {top}: math.rad converts degrees to radians"
        ));
    }
    let near = f64::from(engine.worlds.camera(camera).near);
    if near <= 0.0 {
        return Err(engine_foundation::error!(
            "the near range is {near}, and edges in perspective lie in front of the camera: \
             Camera.set_near_range first"
        ));
    }
    let [left, right, bottom, top] = [left, right, bottom, top].map(|angle| near * tan_f64(angle));
    set_frustum(engine, camera, left, right, bottom, top)
}

/// Returns a viewport's corner and its size. The size is at least 1, because a window can have no
/// size.
pub(super) fn corner_and_size(engine: &Engine, viewport: Option<ViewportId>) -> (Vec2, Vec2) {
    let viewport = engine.drawing.viewport(viewport);
    (
        engine.devices.viewport_corner(&viewport),
        engine.devices.viewport_size(&viewport).max(Vec2::ONE),
    )
}

fn world_to_screen(
    engine: &mut Engine,
    camera: CameraId,
    position: Vec3,
    viewport: Option<ViewportId>,
) -> (Vec3, f64) {
    let (corner, size) = corner_and_size(engine, viewport);
    let (point, depth) = engine.worlds.camera(camera).world_to_screen(position, size);
    ((corner + point).extend(0.0), depth.into())
}

fn screen_to_world(
    engine: &mut Engine,
    camera: CameraId,
    position: Vec3,
    depth: Option<f64>,
    viewport: Option<ViewportId>,
) -> Result<Vec3, Error> {
    let (corner, size) = corner_and_size(engine, viewport);
    let depth = range("#3 'depth'", depth.unwrap_or(0.0))?;
    Ok(engine.worlds.camera(camera).screen_to_world(position.truncate() - corner, depth, size))
}

fn screen_to_ray(
    engine: &mut Engine,
    camera: CameraId,
    position: Vec3,
    viewport: Option<ViewportId>,
) -> (Vec3, Vec3) {
    let (corner, size) = corner_and_size(engine, viewport);
    engine.worlds.camera(camera).ray(position.truncate() - corner, size)
}

fn inside_frustum(engine: &mut Engine, camera: CameraId, position: Vec3) -> f64 {
    let size = screen_size(engine);
    engine.worlds.camera(camera).inside_frustum(position, size).into()
}
