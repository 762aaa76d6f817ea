//! The rows of the text functions of `Gui`, and of its queries of texts and images. Lua unpacks
//! their arguments (arguments.rs). The functions are in text.rs.

use crate::api::gui::rows::{COLOR, GUI, LAYER, MATERIAL, NUMBER, OBJECT, OWNER, POSE};
use crate::api::gui::text::{
    has_all_glyphs, text, text_3d, text_extents, texture_size, update_text, update_text_3d,
};
use crate::api_row::{ModuleRows, ParamRow, more};
use crate::unpacked_row::unpacked;

const FONT: ParamRow = ("font", "the name of a font; the engine's default font if nil");
const TEXT: ParamRow = ("text", "as for `Gui.text`");
const OPTIONS: ParamRow = ("options", "as for `Gui.text`");
const MEASURED: ParamRow = ("gui", "the Gui to measure for");
const TEXT_PIXELS: ParamRow = ("size", "units for each em: pixels on the screen");
const TEXT_SIZE: ParamRow = ("size", "units for each em");
const TEXT_MATERIAL: ParamRow = ("material", "the material to draw with; nil for the default");
const BASELINE: ParamRow =
    ("position", "the left end of the first line's baseline; z is the layer");
const PLANE_BASELINE: ParamRow =
    ("position", "the left end of the first line's baseline, along the axes of the pose");

pub static TEXTS: ModuleRows = more(
    "Gui",
    &[
        unpacked(
            "text",
            text,
            &[
                GUI,
                (
                    "text",
                    "UTF-8, any number of lines; {#color(255,0,0)} sets a colour, {#reset()} \
                     resets",
                ),
                FONT,
                TEXT_PIXELS,
                TEXT_MATERIAL,
                BASELINE,
                COLOR,
                ("options", "align, width, outline, glow, shadow, markup, spans"),
            ],
            "Draws a text. You can also pass the position after the text, and then one table with \
             all other arguments by name: `Gui.text(gui, \"Hello\", Vector3(20, 40, 1), { size = \
             24, align = \"center\" })`. Its size is 20 if left out.",
        )
        .returns(NUMBER)
        .named_form(
            "if (istype(V3, a3) or istype(V2, a3)) and (a4 == nil or type(a4) == 'table') then\n\
             a3, a4, a5, a6, a7, a8 = text_by_name('Gui.text', 4, a3, a4, a5) end\n",
        ),
        unpacked(
            "update_text",
            update_text,
            &[OWNER, OBJECT, TEXT, FONT, TEXT_PIXELS, TEXT_MATERIAL, BASELINE, COLOR, OPTIONS],
            "Changes a text in a retained Gui. The call replaces all of its properties. Arguments \
             by name are possible as for `Gui.text`.",
        )
        .named_form(
            "if (istype(V3, a4) or istype(V2, a4)) and (a5 == nil or type(a5) == 'table') then\n\
             a4, a5, a6, a7, a8, a9 = text_by_name('Gui.update_text', 5, a4, a5, a6) end\n",
        ),
        unpacked(
            "text_3d",
            text_3d,
            &[
                GUI,
                TEXT,
                FONT,
                TEXT_SIZE,
                TEXT_MATERIAL,
                POSE,
                PLANE_BASELINE,
                LAYER,
                COLOR,
                OPTIONS,
            ],
            "Draws a text on a separate plane.",
        )
        .returns(NUMBER),
        unpacked(
            "update_text_3d",
            update_text_3d,
            &[
                OWNER,
                OBJECT,
                TEXT,
                FONT,
                TEXT_SIZE,
                TEXT_MATERIAL,
                POSE,
                PLANE_BASELINE,
                LAYER,
                COLOR,
                OPTIONS,
            ],
            "Changes a text on a separate plane. The call replaces all of its properties.",
        ),
        unpacked(
            "text_extents",
            text_extents,
            &[MEASURED, TEXT, FONT, TEXT_SIZE, OPTIONS],
            "Returns the bounds of a text, relative to the point at which it is drawn. You can \
             also pass one table with all arguments after the text by name.",
        )
        .returns(&[
            "min the left bottom",
            "max the right top",
            "caret the position of the next letter",
        ])
        .named_form(
            "if type(a3) == 'table' and a4 == nil then local _\n\
             a3, a4, _, _, _, a5 = text_by_name('Gui.text_extents', 3, nil, a3) end\n",
        ),
        unpacked(
            "has_all_glyphs",
            has_all_glyphs,
            &[("gui", "the Gui to check for"), TEXT, FONT],
            "Returns true if a font or its fallback fonts have a glyph for every letter of a text.",
        )
        .returns(&["complete false if a letter would be shown as missing"]),
        unpacked(
            "texture_size",
            texture_size,
            &[GUI, MATERIAL],
            "Returns the width and height of the image of a texture or material, as two numbers \
             like `Gui.resolution`.",
        )
        .returns(&["width in texels", "height in texels"]),
    ],
);
