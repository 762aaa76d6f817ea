//! The Lua module `Renderer`: textures that scripts draw onto with generators of the render config.

use crate::api::viewport;
use crate::api_row::{ModuleRows, func, module};
use crate::argument::TextArgument;
use engine_foundation::Error;
use engine_frame_packet::ViewTarget;
use engine_runtime::Engine;
use engine_world::camera::ViewportId;

/// The kind of resource that can be created.
const RENDER_TARGET: &str = "render_target";
const RESOURCE_ARG: (&str, &str) = ("resource", "a resource from `Renderer.create_resource`");

pub static RENDERER: ModuleRows = module(
    "Renderer",
    "Textures that generators of the game's render config draw onto.",
    r#"local map = Renderer.create_resource("render_target", "noise_map", 256, 256)
-- If the render config has such a generator: Renderer.run_resource_generator("noise", map)
Gui.bitmap(Application.main_gui(), "noise_map", Vector3(0, 0, 1), Vector2(128, 128))
Renderer.destroy_resource(map)"#,
    &[
        func(
            "create_resource",
            create_resource,
            &[
                ("kind", "\"render_target\""),
                ("name", "the name of a new texture"),
                ("width", "width in pixels"),
                ("height", "height in pixels"),
            ],
            "Creates a texture that generators and views draw onto: the viewport of the texture. \
             Guis and materials draw with the texture by its name until it is destroyed.",
        ),
        func(
            "destroy_resource",
            destroy_resource,
            &[RESOURCE_ARG],
            "Destroys a texture from `Renderer.create_resource`.",
        ),
        func(
            "run_resource_generator",
            run_resource_generator,
            &[("generator", "the name of a generator of the render config"), RESOURCE_ARG],
            "Draws onto a texture once, in this frame, before any view: runs a generator that uses \
             no image but `target`. What it draws stays until something else is drawn.",
        ),
    ],
);

fn create_resource(
    engine: &mut Engine,
    kind: TextArgument,
    name: TextArgument,
    width: f64,
    height: f64,
) -> Result<ViewportId, Error> {
    if kind.as_str() != RENDER_TARGET {
        return Err(engine_foundation::error!(
            "there is no kind '{}' of resource: use \"{RENDER_TARGET}\"",
            kind.as_str()
        ));
    }
    viewport::create_viewport(engine, Some(name), Some(width), Some(height))
}

fn destroy_resource(engine: &mut Engine, resource: ViewportId) {
    viewport::destroy_viewport(engine, resource);
}

fn run_resource_generator(
    engine: &mut Engine,
    generator: TextArgument,
    resource: ViewportId,
) -> Result<(), Error> {
    engine.select_render_config();
    let ViewTarget::Texture(onto) = engine.drawing.viewport(Some(resource)).target else {
        return Err(engine_foundation::error!(
            "the viewport is a part of the screen: a generator draws onto a texture"
        ));
    };
    engine.drawing.render_configs.run(generator.as_str(), onto)
}
