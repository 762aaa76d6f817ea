//! The design resolution in the Lua module `Window`: the units that a game is made for.

use crate::api::window::{choice, side};
use crate::api_row::{ModuleRows, func, module};
use crate::argument::{Integer, TextArgument};
use crate::return_value::ManyResults;
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_window::{DesignResolution, Scaling};

pub static DESIGN: ModuleRows = module(
    "Window",
    "With a design resolution, the main window has the same coordinates at any size.",
    r#"Window.set_design_resolution(320, 180, "integer")
assert(Window.resolution() == 320)
Window.set_design_resolution()"#,
    &[
        func(
            "design_resolution",
            design_resolution,
            &[],
            "Returns the width, the height and the scaling that the game is made for, as in the \
             settings `window.design` and `window.scaling`; nil without a design resolution.",
        )
        .pure(),
        func(
            "set_design_resolution",
            set_design_resolution,
            &[
                ("width", "in units; nil removes the design resolution"),
                ("height", "in units"),
                (
                    "scaling",
                    "\"fit\" (the whole picture, with bars), \"fill\" (no bars, a part may be \
                     outside), \"stretch\", \"integer\" (as \"fit\", by whole factors), \
                     \"expand\" (no bars, more units) or \"none\"; \"fit\" if left out",
                ),
            ],
            "Sets the resolution that the game is made for. From the next frame on, Guis, the \
             cursor, touches and cameras have its units, in a window of any size.",
        ),
        func(
            "visible_rect",
            visible_rect,
            &[],
            "Returns the part of the picture that the main window shows: left, bottom, width and \
             height in units. It is the whole picture, unless the scaling is \"fill\".",
        )
        .pure(),
    ],
);

fn design_resolution(engine: &mut Engine) -> ManyResults {
    let Some(design) = engine.devices.window.design else {
        return ManyResults(vec![ScriptValue::Nil]);
    };
    ManyResults(vec![
        ScriptValue::Number(design.width.into()),
        ScriptValue::Number(design.height.into()),
        ScriptValue::Text(design.scaling.name().to_string()),
    ])
}

fn set_design_resolution(
    engine: &mut Engine,
    width: Option<Integer>,
    height: Option<Integer>,
    scaling: Option<TextArgument>,
) -> Result<(), Error> {
    engine.devices.window.design = match (width, height) {
        (None, None) => None,
        (Some(width), Some(height)) => {
            let argument = "argument #3 'scaling'";
            let scaling = match &scaling {
                Some(scaling) => choice(scaling.as_str(), argument, Scaling::NAMES, Scaling::of)?,
                None => Scaling::Fit,
            };
            let (width, height) = (side(width, 1, "width")?, side(height, 2, "height")?);
            Some(DesignResolution { width, height, scaling })
        }
        (Some(_), None) => {
            return Err(engine_foundation::error!("argument #2 'height' is missing"));
        }
        (None, Some(_)) => return Err(engine_foundation::error!("argument #1 'width' is missing")),
    };
    Ok(())
}

fn visible_rect(engine: &mut Engine) -> ManyResults {
    let [low, high] = engine.devices.window.mapping().visible();
    let size = high - low;
    ManyResults([low.x, low.y, size.x, size.y].map(|side| ScriptValue::Number(side.into())).into())
}
