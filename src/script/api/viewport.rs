//! The Lua module `Viewport`, and the functions of `Application` that show worlds.

use crate::api::gui::whole_size;
use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{MaybeHandle, TextArgument};
use engine_foundation::{Color, Error, Vec2};
use engine_gui::GuiId;
use engine_runtime::Engine;
use engine_window::WindowId;
use engine_world::WorldId;
use engine_world::camera::{CameraId, Viewport, ViewportId};
use engine_world::shading::ShadingEnvironmentId;

const VIEWPORT_ARG: (&str, &str) = ("viewport", "a viewport");

pub static VIEWPORT: ModuleRows = module(
    "Viewport",
    "A part of the screen, or a texture, in which a world is shown.",
    r#"local left = Application.create_viewport()
Viewport.set_rect(left, 0, 0, 0.5, 1)
Viewport.set_background(left, Color(20, 20, 40))
Application.render_world(Application.main_world(), Application.main_camera(), left)
Application.destroy_viewport(left)
local map = Application.create_viewport("map", 256, 256)
Application.render_world(Application.main_world(), Application.main_camera(), map)
Gui.bitmap(Application.main_gui(), "map", Vector3(0, 0, 1), Vector2(128, 128))
Application.destroy_viewport(map)"#,
    &[
        hot(
            "alive",
            alive,
            &[("viewport", "a number that may be a viewport's handle; nil and false are none")],
            "Returns true if the handle refers to an existing viewport. Never raises for a stale \
             handle.",
        )
        .pure(),
        func(
            "set_rect",
            set_rect,
            &[
                VIEWPORT_ARG,
                ("x", "its left edge, as a fraction of the screen's width"),
                ("y", "its lower edge, as a fraction of the screen's height"),
                ("width", "as a fraction of the screen's width"),
                ("height", "as a fraction of the screen's height"),
            ],
            "Sets the part of the screen, or of its texture, that it covers: 0, 0, 1, 1 is all of \
             it.",
        ),
        func(
            "set_background",
            set_background,
            &[VIEWPORT_ARG, ("color", "the colour; nil: nothing is filled")],
            "Sets the colour that it is filled with before a world is shown on it; black at the \
             start. A later view on the same screen is filled only if it does not cover all of it.",
        ),
        func(
            "size",
            size,
            &[VIEWPORT_ARG],
            "Returns the width and height in logical pixels, or in pixels of its texture.",
        )
        .pure(),
    ],
);

fn alive(engine: &mut Engine, viewport: MaybeHandle) -> bool {
    viewport.handle().is_some_and(|handle| engine.drawing.viewports.get(handle).is_some())
}

fn viewport(engine: &mut Engine, viewport: ViewportId) -> &mut Viewport {
    engine.drawing.viewports.get_mut(viewport.0).expect("the handle was checked where it came in")
}

fn set_rect(
    engine: &mut Engine,
    of: ViewportId,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
) -> Result<(), Error> {
    let within = x >= 0.0 && y >= 0.0 && x + width <= 1.0 && y + height <= 1.0;
    if !(within && width > 0.0 && height > 0.0) {
        return Err(engine_foundation::error!(
            "the rectangle must lie within 0, 0 and 1, 1, got {x}, {y} and a size of {width}, \
             {height}"
        ));
    }
    viewport(engine, of).rectangle = [x, y, width, height].map(|part| part as f32);
    Ok(())
}

fn set_background(engine: &mut Engine, of: ViewportId, color: Option<Color>) {
    viewport(engine, of).background = color;
}

fn size(engine: &mut Engine, of: ViewportId) -> Vec2 {
    let viewport = *viewport(engine, of);
    engine.devices.viewport_size(&viewport)
}

/// Native function of a row in `Application`.
pub fn create_viewport(
    engine: &mut Engine,
    texture: Option<TextArgument>,
    width: Option<f64>,
    height: Option<f64>,
) -> Result<ViewportId, Error> {
    match (texture, width, height) {
        (None, None, None) => engine.drawing.new_viewport(Viewport::DEFAULT),
        (Some(name), Some(width), Some(height)) => engine.drawing.new_texture_viewport(
            &mut engine.assets,
            &engine.frame,
            name.as_str(),
            whole_size(width, height)?,
        ),
        _ => Err(engine_foundation::error!(
            "a texture takes a name, a width and a height; a part of the screen takes nothing"
        )),
    }
}

pub fn destroy_viewport(engine: &mut Engine, viewport: ViewportId) {
    let location = crate::script_location();
    engine.drawing.viewports.remove(viewport.0, "", engine.frame.index, &location);
}

pub fn main_gui(engine: &mut Engine) -> Result<GuiId, Error> {
    engine.drawing.main_gui(&mut engine.worlds)
}

pub fn main_camera(engine: &mut Engine) -> Result<CameraId, Error> {
    engine.worlds.main_camera()
}

/// Native function of a row in `World`.
pub fn camera_of_world(engine: &mut Engine, world: WorldId) -> Result<CameraId, Error> {
    engine.worlds.camera_of_world(world)
}

pub fn create_camera(engine: &mut Engine) -> Result<CameraId, Error> {
    engine.worlds.new_camera()
}

pub fn destroy_camera(engine: &mut Engine, camera: CameraId) {
    let location = crate::script_location();
    engine.worlds.cameras.remove(camera.0, "", engine.frame.index, &location);
}

pub fn render_world(
    engine: &mut Engine,
    world: WorldId,
    camera: Option<CameraId>,
    viewport: Option<ViewportId>,
    environment: Option<ShadingEnvironmentId>,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let camera = match camera {
        Some(camera) => camera,
        None => engine.worlds.camera_of_world(world)?,
    };
    if let Some(environment) = environment
        && engine.worlds.shading.of_mut(environment).world != world
    {
        return Err(engine_foundation::error!(
            "argument #4 'environment': it belongs to another world"
        ));
    }
    engine.render_world(world, camera, viewport, environment, window)
}
