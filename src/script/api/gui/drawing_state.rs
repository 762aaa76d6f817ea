//! Functions of `Gui` that change how everything after them is drawn: matrices, blend modes and
//! masks; and the background of Guis that draw into textures. The prelude's part of them is in
//! lua/gui/transforms.lua.

use crate::api_row::{ModuleRows, func, hidden, hot, module, more};
use engine_foundation::{Color, Error};
use engine_frame_packet::material::BlendMode;
use engine_gui::{Affine2, GuiId};
use engine_resource::material_data::BLENDS;
use engine_runtime::Engine;

const GUI_ARG: (&str, &str) = ("gui", "a Gui");

pub static STATE: ModuleRows = more(
    "Gui",
    &hidden([
        hot(
            "pop_blend",
            pop_blend,
            &[GUI_ARG],
            "Restores the blend mode from before the last `Gui.push_blend`.",
        )
        .when_full(),
        hot(
            "begin_mask",
            begin_mask,
            &[("gui", "an immediate Gui on the screen or in a texture")],
            "Makes what is drawn next the shape of a mask, until `Gui.end_mask`. The shape itself \
             is not visible. Shapes, pictures and texts can be masks: their alpha is the coverage.",
        ),
        func(
            "end_mask",
            end_mask,
            &[GUI_ARG, ("outside", "true to draw outside of the shape; inside if left out")],
            "Draws everything after it through the mask whose shape was drawn, until \
             `Gui.pop_mask`. Masks that apply already still do.",
        )
        .when_full(),
        hot("pop_mask", pop_mask, &[GUI_ARG], "Ends the mask that was begun last.").when_full(),
        func(
            "clear",
            clear,
            &[
                ("gui", "a Gui that draws into a texture"),
                ("color", "the new background; transparent if left out"),
            ],
            "Fills the texture of a Gui with a colour, before everything else that this frame \
             draws into it. Removes what an immediate Gui has drawn in this frame.",
        ),
    ]),
);

/// Native functions of the prelude.
pub static CORE: ModuleRows = module(
    "core",
    "Drawing states of Guis, for the prelude.",
    "assert(core == nil)",
    &[
        hot(
            "gui_transform",
            transform,
            &[GUI_ARG, ("xx", ""), ("xy", ""), ("yx", ""), ("yy", ""), ("x", ""), ("y", "")],
            "Applies a matrix to everything that is drawn next.",
        )
        .public_name("Gui.transform"),
        hot(
            "gui_shear",
            shear,
            &[GUI_ARG, ("x", ""), ("y", "")],
            "Slants everything that is drawn next.",
        )
        .public_name("Gui.shear"),
        hot(
            "gui_push_blend",
            push_blend,
            &[GUI_ARG, ("number", "")],
            "Sets the blend mode of everything that is drawn next.",
        )
        .public_name("Gui.push_blend"),
        func("gui_blends", blends, &[], "Returns the names of the blend modes, in order.").pure(),
    ],
);

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn transform(engine: &mut Engine, gui: GuiId, xx: f64, xy: f64, yx: f64, yy: f64, x: f64, y: f64) {
    let part = |x: f64, y: f64| [x as f32, y as f32];
    let matrix = Affine2 { x: part(xx, xy), y: part(yx, yy), origin: part(x, y) };
    engine.drawing.guis.transform_stack(gui).apply(matrix);
}

fn shear(engine: &mut Engine, gui: GuiId, x: f64, y: f64) {
    transform(engine, gui, 1.0, y, x, 1.0, 0.0, 0.0);
}

fn push_blend(engine: &mut Engine, gui: GuiId, number: f64) -> Result<(), Error> {
    let blend = BlendMode::ALL[(number as usize).clamp(1, BlendMode::ALL.len()) - 1];
    engine.drawing.guis.transform_stack(gui).push_blend(blend).map_err(Error::new)
}

fn pop_blend(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.drawing.guis.transform_stack(gui).pop_blend().map_err(Error::new)
}

fn blends(_: &mut Engine) -> Vec<String> {
    BLENDS.iter().map(|name| name.to_string()).collect()
}

fn begin_mask(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.drawing.guis.begin_mask(gui).map_err(Error::new)
}

fn end_mask(engine: &mut Engine, gui: GuiId, outside: Option<bool>) -> Result<(), Error> {
    engine.drawing.guis.end_mask(gui, outside == Some(true)).map_err(Error::new)
}

fn pop_mask(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.drawing.guis.transform_stack(gui).pop_mask().map_err(Error::new)
}

fn clear(engine: &mut Engine, gui: GuiId, color: Option<Color>) -> Result<(), Error> {
    let color = color.map_or([0; 4], |color| color.to_bytes());
    engine.drawing.guis.clear(gui, color).map_err(Error::new)
}
