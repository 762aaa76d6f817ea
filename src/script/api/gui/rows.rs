//! The rows of the drawing functions of `Gui`, and of its queries of texts and images. Lua unpacks
//! their arguments (arguments.rs). The functions are in draw_functions.rs and text.rs.

use crate::api::gui::draw_functions::{
    arc, bitmap, bitmap_3d, bitmap_3d_uv, bitmap_uv, circle, ellipse, line, nine_patch, polygon,
    polyline, rect, rect_3d, rect_outline, rounded_rect, triangle, update_bitmap, update_bitmap_3d,
    update_bitmap_3d_uv, update_bitmap_uv, update_nine_patch, update_rect, update_rect_3d,
    update_rounded_rect, update_triangle,
};
use crate::api::gui::text::{
    has_all_glyphs, text, text_3d, text_extents, texture_size, update_text, update_text_3d,
};
use crate::api_row::{ModuleRows, ParamRow, more};
use crate::unpacked_row::unpacked;

const COLOR: ParamRow = ("color", "white if left out");
const GUI: ParamRow = ("gui", "the Gui to draw on");
const SIZE: ParamRow = ("size", "its width and height");
const OBJECT: ParamRow = ("object", "its number");
const MATERIAL: ParamRow = ("material", "as for `Gui.bitmap`");
const POSITION: ParamRow = ("position", "its left bottom; z is the layer");
const POSE: ParamRow = ("pose", "the plane: to the right along its x axis, up along its z axis");
const LAYER: ParamRow = ("layer", "its layer");
const FONT: ParamRow = ("font", "the name of a font; the engine's default font if nil");
const TEXT: ParamRow = ("text", "as for `Gui.text`");
const UV00: ParamRow = ("uv00", "the part's left top, from 0, 0 (the image's left top) to 1, 1");
const UV11: ParamRow = ("uv11", "the part's right bottom");
const OPTIONS: ParamRow = ("options", "as for `Gui.text`");
const THICKNESS: ParamRow = ("thickness", "the width of the line");
const OWNER: ParamRow = ("gui", "the Gui that contains it");
const MEASURED: ParamRow = ("gui", "the Gui to measure for");
const PLANE_POSITION: ParamRow = ("position", "its left bottom, along the axes of the pose");
const TEXT_PIXELS: ParamRow = ("size", "units for each em: pixels on the screen");
const TEXT_SIZE: ParamRow = ("size", "units for each em");
const TEXT_MATERIAL: ParamRow = ("material", "the material to draw with; nil for the default");
const BOX_OUTLINE: ParamRow =
    ("outline", "the width of its outline, inside its edges; filled if left out");
const OUTLINE: ParamRow =
    ("outline", "the width of its outline, inside its edge; filled if left out");
const LAYER_OR_0: ParamRow = ("layer", "0 if left out");
const CENTER: ParamRow = ("center", "its center; z is the layer");
const BASELINE: ParamRow =
    ("position", "the left end of the first line's baseline; z is the layer");
const PLANE_BASELINE: ParamRow =
    ("position", "the left end of the first line's baseline, along the axes of the pose");
const PART_POSITION: ParamRow = ("position", "the left bottom on the Gui; z is the layer");
const IMAGE_SIZE: ParamRow = ("size", "its width and height; the image's own if left out");
const P1: ParamRow = ("p1", "a corner; only x and y are used");
const P2: ParamRow = ("p2", "the next corner");
const P3: ParamRow = ("p3", "the last corner");
const NUMBER: &[&str] = &["object its number, in a retained Gui"];
const NUMBER_OF_RECT: &[&str] = &["object its number, in a retained Gui; the object is a rect"];
const NUMBER_OF_BITMAP: &[&str] = &["object its number, in a retained Gui; the object is a bitmap"];
const NUMBER_OF_SHAPE: &[&str] = &["object its number, in a retained Gui; the object is a shape"];

pub static BOXES: ModuleRows = more(
    "Gui",
    &[
        unpacked("rect", rect, &[GUI, POSITION, SIZE, COLOR], "Draws a filled rectangle.")
            .returns(NUMBER),
        unpacked(
            "update_rect",
            update_rect,
            &[OWNER, OBJECT, POSITION, SIZE, COLOR],
            "Changes a rectangle in a retained Gui. The call replaces all of its properties.",
        ),
        unpacked(
            "rect_3d",
            rect_3d,
            &[GUI, POSE, PLANE_POSITION, LAYER, SIZE, COLOR],
            "Draws a filled rectangle on a separate plane.",
        )
        .returns(NUMBER),
        unpacked(
            "update_rect_3d",
            update_rect_3d,
            &[OWNER, OBJECT, POSE, PLANE_POSITION, LAYER, SIZE, COLOR],
            "Changes a rectangle on a separate plane. The call replaces all of its properties.",
        ),
        unpacked(
            "rect_outline",
            rect_outline,
            &[GUI, POSITION, SIZE, THICKNESS, COLOR],
            "Draws the outline of a rectangle, inside its edges.",
        )
        .returns(NUMBER_OF_RECT),
        unpacked(
            "rounded_rect",
            rounded_rect,
            &[GUI, POSITION, SIZE, ("radius", "corner radius"), COLOR, BOX_OUTLINE],
            "Draws a rectangle with round corners.",
        )
        .returns(NUMBER_OF_RECT),
        unpacked(
            "update_rounded_rect",
            update_rounded_rect,
            &[
                OWNER,
                OBJECT,
                POSITION,
                SIZE,
                ("radius", "corner radius; 0 for square corners"),
                COLOR,
                BOX_OUTLINE,
            ],
            "Changes a rectangle in a retained Gui to one with round corners or an outline. The \
             call replaces\n\
             all of its properties.",
        ),
    ],
);

pub static IMAGES: ModuleRows = more(
    "Gui",
    &[
        unpacked(
            "bitmap",
            bitmap,
            &[
                GUI,
                ("material", "a material, or a material's or texture's name (`ship`: ship.png)"),
                POSITION,
                IMAGE_SIZE,
                ("color", "multiplies the image's colours; white if left out"),
            ],
            "Draws an image.",
        )
        .returns(NUMBER),
        unpacked(
            "update_bitmap",
            update_bitmap,
            &[OWNER, OBJECT, MATERIAL, POSITION, IMAGE_SIZE, COLOR],
            "Changes a bitmap in a retained Gui. The call replaces all of its properties.",
        ),
        unpacked(
            "bitmap_3d",
            bitmap_3d,
            &[GUI, MATERIAL, POSE, PLANE_POSITION, LAYER, SIZE, COLOR],
            "Draws an image on a separate plane.",
        )
        .returns(NUMBER),
        unpacked(
            "update_bitmap_3d",
            update_bitmap_3d,
            &[OWNER, OBJECT, MATERIAL, POSE, PLANE_POSITION, LAYER, SIZE, COLOR],
            "Changes an image on a separate plane. The call replaces all of its properties.",
        ),
        unpacked(
            "bitmap_uv",
            bitmap_uv,
            &[GUI, MATERIAL, UV00, UV11, PART_POSITION, SIZE, COLOR],
            "Draws a part of an image.",
        )
        .returns(NUMBER),
        unpacked(
            "update_bitmap_uv",
            update_bitmap_uv,
            &[OWNER, OBJECT, MATERIAL, UV00, UV11, PART_POSITION, SIZE, COLOR],
            "Changes a part of an image in a retained Gui. The call replaces all of its \
             properties.",
        ),
        unpacked(
            "bitmap_3d_uv",
            bitmap_3d_uv,
            &[GUI, MATERIAL, UV00, UV11, POSE, PLANE_POSITION, LAYER, SIZE, COLOR],
            "Draws a part of an image on a separate plane.",
        )
        .returns(NUMBER_OF_BITMAP),
        unpacked(
            "update_bitmap_3d_uv",
            update_bitmap_3d_uv,
            &[OWNER, OBJECT, MATERIAL, UV00, UV11, POSE, PLANE_POSITION, LAYER, SIZE, COLOR],
            "Changes a part of an image on a separate plane. The call replaces all of its \
             properties.",
        ),
        unpacked(
            "nine_patch",
            nine_patch,
            &[
                GUI,
                MATERIAL,
                ("borders", "widths in texels: one number, or left, bottom, right, top"),
                POSITION,
                ("size", "its width and height; borders that do not fit shrink"),
                COLOR,
            ],
            "Draws a nine-patch: an image whose borders keep their size while its middle is \
             stretched, for\n\
             example a button or a window.",
        )
        .returns(NUMBER_OF_BITMAP),
        unpacked(
            "update_nine_patch",
            update_nine_patch,
            &[
                OWNER,
                OBJECT,
                MATERIAL,
                ("borders", "as for `Gui.nine_patch`"),
                POSITION,
                SIZE,
                COLOR,
            ],
            "Changes a nine-patch in a retained Gui. The call replaces all of its properties.",
        ),
    ],
);

pub static SHAPES: ModuleRows = more(
    "Gui",
    &[
        unpacked(
            "triangle",
            triangle,
            &[GUI, P1, P2, P3, LAYER_OR_0, COLOR],
            "Draws a filled triangle.",
        )
        .returns(NUMBER),
        unpacked(
            "update_triangle",
            update_triangle,
            &[OWNER, OBJECT, P1, P2, P3, LAYER_OR_0, COLOR],
            "Changes a triangle in a retained Gui. The call replaces all of its properties.",
        ),
        unpacked(
            "line",
            line,
            &[GUI, ("from", "one end; z is the layer"), ("to", "the other end"), THICKNESS, COLOR],
            "Draws a straight line.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "polyline",
            polyline,
            &[
                GUI,
                ("points", "2 to 4096 points; only x and y are used"),
                THICKNESS,
                LAYER_OR_0,
                COLOR,
                ("closed", "true to join the last point to the first"),
            ],
            "Draws a line through points, with round joins. In a translucent line, overlapping \
             parts are\n\
             visible.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "polygon",
            polygon,
            &[GUI, ("points", "3 to 4096 corners; only x and y are used"), LAYER_OR_0, COLOR],
            "Draws a filled polygon. Its edges must not cross: the area covered is then undefined.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "circle",
            circle,
            &[GUI, CENTER, ("radius", "from the center to its edge"), COLOR, OUTLINE],
            "Draws a circle.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "ellipse",
            ellipse,
            &[GUI, CENTER, ("radii", "half its width and half its height"), COLOR, OUTLINE],
            "Draws an ellipse.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "arc",
            arc,
            &[
                GUI,
                ("center", "the circle's center; z is the layer"),
                ("radius", "from the center to the edge"),
                ("from", "the start angle: radians counterclockwise, 0 is to the right"),
                ("to", "the end angle"),
                COLOR,
                ("thickness", "the width of the ring; the whole slice is filled if left out"),
            ],
            "Draws a part of a circle: a slice, or a part of a ring.",
        )
        .returns(NUMBER_OF_SHAPE),
    ],
);

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
            "Draws a text.",
        )
        .returns(NUMBER),
        unpacked(
            "update_text",
            update_text,
            &[OWNER, OBJECT, TEXT, FONT, TEXT_PIXELS, TEXT_MATERIAL, BASELINE, COLOR, OPTIONS],
            "Changes a text in a retained Gui. The call replaces all of its properties.",
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
            "Returns the bounds of a text, relative to the point at which it is drawn.",
        )
        .returns(&[
            "min the left bottom",
            "max the right top",
            "caret the position of the next letter",
        ]),
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
