//! The functions of `Application` and `Viewport` for the game's render config: the values of its
//! settings, and the order of passes of a viewport.

use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_resource::render_config_data::DEBUG_VIEW_SETTING;
use engine_runtime::Engine;
use engine_world::camera::ViewportId;

const NAME_ARG: (&str, &str) = ("name", "a setting of the render config");

pub static APPLICATION: ModuleRows = more(
    "Application",
    &[
        func(
            "set_render_setting",
            set_render_setting,
            &[NAME_ARG, ("value", "a number, or true or false for a switch")],
            "Sets a setting of the game's render config, from the next frame on. A number outside \
             of the setting's range is limited to it. The value stays when the config is reloaded. \
             The setting `debug_view` is the engine's: the name of the value or image that worlds \
             show instead of light, such as \"normals\", or \"none\".",
        ),
        func(
            "render_setting",
            render_setting,
            &[NAME_ARG],
            "Returns the value of a setting of the game's render config: a number, or true or \
             false; the name of the debug view for `debug_view`.",
        )
        .pure(),
    ],
);

pub static VIEWPORT: ModuleRows = more(
    "Viewport",
    &[func(
        "set_frame",
        set_frame,
        &[
            ("viewport", "a viewport"),
            ("name", "a viewport of the render config; its first one if left out"),
        ],
        "Sets the order of passes that draws it: one of the `viewports` of the game's render \
         config.",
    )],
);

fn set_render_setting(
    engine: &mut Engine,
    name: TextArgument,
    value: ScriptValue,
) -> Result<(), Error> {
    engine.select_render_config();
    if name.as_str() == DEBUG_VIEW_SETTING {
        let ScriptValue::Text(value) = value else {
            return Err(engine_foundation::error!(
                "the value of '{DEBUG_VIEW_SETTING}' must be the name of a debug view"
            ));
        };
        return engine.drawing.render_configs.set_debug_view(&value);
    }
    let (number, is_switch) = match value {
        ScriptValue::Number(number) => (number as f32, false),
        ScriptValue::Boolean(value) => (f32::from(u8::from(value)), true),
        _ => {
            return Err(engine_foundation::error!(
                "the value of a render setting must be a number, true or false"
            ));
        }
    };
    engine.drawing.render_configs.set_setting(name.as_str(), number, is_switch)
}

fn render_setting(engine: &mut Engine, name: TextArgument) -> Result<ScriptValue, Error> {
    engine.select_render_config();
    if name.as_str() == DEBUG_VIEW_SETTING {
        let view = engine.drawing.render_configs.debug_view();
        return Ok(ScriptValue::Text(view.name().to_string()));
    }
    let (value, is_switch) = engine.drawing.render_configs.setting(name.as_str())?;
    Ok(match is_switch {
        true => ScriptValue::Boolean(value != 0.0),
        false => ScriptValue::Number(f64::from(value)),
    })
}

fn set_frame(
    engine: &mut Engine,
    viewport: ViewportId,
    name: Option<TextArgument>,
) -> Result<(), Error> {
    engine.select_render_config();
    let name = name.as_ref().map(TextArgument::as_str);
    let frame = name.map(|name| engine.drawing.render_configs.viewport(name)).transpose()?;
    let viewport = engine.drawing.viewports.get_mut(viewport.0);
    viewport.expect("the handle was checked where it came in").frame = frame;
    Ok(())
}
