//! The rows of the drawing functions of `Gui`, without texts, which are in text_rows.rs. Lua
//! unpacks their arguments (arguments.rs). The functions are in draw_functions.rs and
//! shape_functions.rs.

use crate::api::gui::draw_functions::{
    bitmap, bitmap_3d, bitmap_3d_uv, bitmap_uv, gradient_rect, nine_patch, rect, rect_3d,
    rect_outline, rounded_rect, update_bitmap, update_bitmap_3d, update_bitmap_3d_uv,
    update_bitmap_uv, update_gradient_rect, update_nine_patch, update_rect, update_rect_3d,
    update_rect_outline, update_rounded_rect,
};
use crate::api::gui::shape_functions::{
    arc, circle, ellipse, gradient_ellipse, line, polygon, polygon_uv, polyline, triangle,
    update_arc, update_circle, update_ellipse, update_gradient_ellipse, update_line,
    update_polygon, update_polygon_uv, update_polyline, update_triangle,
};
use crate::api_row::{ModuleRows, ParamRow, more};
use crate::unpacked_row::unpacked;

pub(super) const COLOR: ParamRow = ("color", "white if left out");
pub(super) const GUI: ParamRow = ("gui", "the Gui to draw on");
const SIZE: ParamRow = ("size", "its width and height");
pub(super) const OBJECT: ParamRow = ("object", "its number");
pub(super) const MATERIAL: ParamRow = ("material", "as for `Gui.bitmap`");
const POSITION: ParamRow = ("position", "its left bottom; z is the layer");
pub(super) const POSE: ParamRow =
    ("pose", "the plane: to the right along its x axis, up along its z axis");
pub(super) const LAYER: ParamRow = ("layer", "its layer");
const UV00: ParamRow = ("uv00", "the part's left top, from 0, 0 (the image's left top) to 1, 1");
const UV11: ParamRow = ("uv11", "the part's right bottom");
const THICKNESS: ParamRow = ("thickness", "the width of the line");
pub(super) const OWNER: ParamRow = ("gui", "the Gui that contains it");
const PLANE_POSITION: ParamRow = ("position", "its left bottom, along the axes of the pose");
const BOX_OUTLINE: ParamRow =
    ("outline", "the width of its outline, inside its edges; filled if left out");
const OUTLINE: ParamRow =
    ("outline", "the width of its outline, inside its edge; filled if left out");
const LAYER_OR_0: ParamRow = ("layer", "0 if left out");
const CENTER: ParamRow = ("center", "its center; z is the layer");
const PART_POSITION: ParamRow = ("position", "the left bottom on the Gui; z is the layer");
const IMAGE_SIZE: ParamRow = ("size", "its width and height; the image's own if left out");
const P1: ParamRow = ("p1", "a corner; only x and y are used");
const P2: ParamRow = ("p2", "the next corner");
const P3: ParamRow = ("p3", "the last corner");
const ROTATION: ParamRow =
    ("rotation", "radians counterclockwise around its origin; 0 if left out");
const ORIGIN: ParamRow = (
    "origin",
    "the point of the image that is at the position: 0, 0, its left bottom, if left out; 0.5, 0.5 \
     is its middle",
);
const SCALE: ParamRow =
    ("scale", "factors of its width and height, from its origin; 1 if left out");
const FLIP: ParamRow =
    ("flip", "mirrors it in its place: \"x\" sideways, \"y\" upside down, \"xy\" both");
const BLEND: ParamRow = ("blend", "its blend mode, as for `Gui.push_blend`");
const LINE_OPTIONS: ParamRow = (
    "options",
    "join (\"round\", \"miter\", \"bevel\"), miter_limit, cap (\"butt\", \"round\", \"square\"), \
     dash, dash_offset",
);
const LINE_POINTS: ParamRow = ("points", "2 to 4096 points; only x and y are used");
const CLOSED: ParamRow = ("closed", "true to join the last point to the first");
const CORNERS: ParamRow = ("points", "3 to 4096 corners; only x and y are used");
const UVS: ParamRow = (
    "uvs",
    "the image's point at each corner, from 0, 0 (its left top) to 1, 1; spread over the polygon's \
     bounds if left out",
);
const CORNER_COLORS: ParamRow = ("colors", "one colour, or one for each corner; white if left out");
const TO_COLOR: ParamRow = ("to_color", "the colour at its end; white if left out");
const RECT_ANGLE: ParamRow =
    ("angle", "radians counterclockwise: 0, to the right, if left out; math.pi / 2 is up");
const ELLIPSE_ANGLE: ParamRow = (
    "angle",
    "radians counterclockwise, 0 is to the right; from the middle to the edge if left out",
);
const FROM: ParamRow = ("from", "one end; z is the layer");
const TO: ParamRow = ("to", "the other end");
const RADIUS: ParamRow = ("radius", "from the center to its edge");
const RADII: ParamRow = ("radii", "half its width and half its height");
const START_ANGLE: ParamRow =
    ("from", "the start angle: radians counterclockwise, 0 is to the right");
const RING: ParamRow =
    ("thickness", "the width of the ring; the whole slice is filled if left out");
pub(super) const NUMBER: &[&str] = &["object its number, in a retained Gui"];
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
            "update_rect_outline",
            update_rect_outline,
            &[OWNER, OBJECT, POSITION, SIZE, THICKNESS, COLOR],
            "Changes a rectangle in a retained Gui to an outline. The call replaces all of its \
             properties.",
        ),
        unpacked(
            "gradient_rect",
            gradient_rect,
            &[
                GUI,
                POSITION,
                SIZE,
                ("color", "the colour at its start; white if left out"),
                TO_COLOR,
                RECT_ANGLE,
                ("radius", "corner radius; 0 if left out"),
            ],
            "Draws a rectangle with a gradient from edge to edge. Colours are mixed as they are \
             written (in sRGB). For more colours, draw several, or a `Gui.polygon_uv`.",
        )
        .returns(NUMBER_OF_RECT),
        unpacked(
            "update_gradient_rect",
            update_gradient_rect,
            &[
                OWNER,
                OBJECT,
                POSITION,
                SIZE,
                COLOR,
                TO_COLOR,
                RECT_ANGLE,
                ("radius", "corner radius; 0 if left out"),
            ],
            "Changes a rectangle in a retained Gui to one with a gradient. The call replaces all \
             of its properties.",
        ),
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
                ROTATION,
                ORIGIN,
                SCALE,
                FLIP,
                BLEND,
            ],
            "Draws an image.",
        )
        .returns(NUMBER),
        unpacked(
            "update_bitmap",
            update_bitmap,
            &[
                OWNER, OBJECT, MATERIAL, POSITION, IMAGE_SIZE, COLOR, ROTATION, ORIGIN, SCALE,
                FLIP, BLEND,
            ],
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
            &[
                GUI,
                MATERIAL,
                UV00,
                UV11,
                PART_POSITION,
                SIZE,
                COLOR,
                ROTATION,
                ORIGIN,
                SCALE,
                FLIP,
                BLEND,
            ],
            "Draws a part of an image.",
        )
        .returns(NUMBER),
        unpacked(
            "update_bitmap_uv",
            update_bitmap_uv,
            &[
                OWNER,
                OBJECT,
                MATERIAL,
                UV00,
                UV11,
                PART_POSITION,
                SIZE,
                COLOR,
                ROTATION,
                ORIGIN,
                SCALE,
                FLIP,
                BLEND,
            ],
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
            &[GUI, FROM, TO, THICKNESS, COLOR, LINE_OPTIONS],
            "Draws a straight line. Its ends are straight unless `options` say otherwise.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_line",
            update_line,
            &[OWNER, OBJECT, FROM, TO, THICKNESS, COLOR, LINE_OPTIONS],
            "Changes a shape in a retained Gui to a line. The call replaces all of its properties.",
        ),
        unpacked(
            "polyline",
            polyline,
            &[GUI, LINE_POINTS, THICKNESS, LAYER_OR_0, COLOR, CLOSED, LINE_OPTIONS],
            "Draws a line through points, with round joins and ends. If it is translucent, the \
             parts that overlap at its corners are visible, but not with `options`, not even \
             empty ones.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_polyline",
            update_polyline,
            &[OWNER, OBJECT, LINE_POINTS, THICKNESS, LAYER_OR_0, COLOR, CLOSED, LINE_OPTIONS],
            "Changes a shape in a retained Gui to a line through points. The call replaces all of \
             its properties.",
        ),
        unpacked(
            "polygon",
            polygon,
            &[GUI, CORNERS, LAYER_OR_0, COLOR],
            "Draws a filled polygon. Its edges must not cross: the area covered is then undefined.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_polygon",
            update_polygon,
            &[OWNER, OBJECT, CORNERS, LAYER_OR_0, COLOR],
            "Changes a shape in a retained Gui to a polygon. The call replaces all of its \
             properties.",
        ),
        unpacked(
            "polygon_uv",
            polygon_uv,
            &[
                GUI,
                ("material", "as for `Gui.bitmap`; nil for colours alone"),
                CORNERS,
                UVS,
                LAYER_OR_0,
                CORNER_COLORS,
            ],
            "Draws a polygon that is filled with an image, with a colour for each corner. Between \
             the corners, colours are mixed as they are written (in sRGB). Its edges must not \
             cross.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_polygon_uv",
            update_polygon_uv,
            &[
                OWNER,
                OBJECT,
                ("material", "as for `Gui.polygon_uv`"),
                CORNERS,
                UVS,
                LAYER_OR_0,
                CORNER_COLORS,
            ],
            "Changes a shape in a retained Gui to a polygon with an image. The call replaces all \
             of its properties.",
        ),
    ],
);

pub static ROUND_SHAPES: ModuleRows = more(
    "Gui",
    &[
        unpacked("circle", circle, &[GUI, CENTER, RADIUS, COLOR, OUTLINE], "Draws a circle.")
            .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_circle",
            update_circle,
            &[OWNER, OBJECT, CENTER, RADIUS, COLOR, OUTLINE],
            "Changes a shape in a retained Gui to a circle. The call replaces all of its \
             properties.",
        ),
        unpacked("ellipse", ellipse, &[GUI, CENTER, RADII, COLOR, OUTLINE], "Draws an ellipse.")
            .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_ellipse",
            update_ellipse,
            &[OWNER, OBJECT, CENTER, RADII, COLOR, OUTLINE],
            "Changes a shape in a retained Gui to an ellipse. The call replaces all of its \
             properties.",
        ),
        unpacked(
            "gradient_ellipse",
            gradient_ellipse,
            &[
                GUI,
                CENTER,
                RADII,
                ("color", "the colour in its middle, or at its start; white if left out"),
                TO_COLOR,
                ELLIPSE_ANGLE,
            ],
            "Draws an ellipse with a gradient: a glow, a ball, a vignette. Colours are mixed as \
             they are written (in sRGB).",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_gradient_ellipse",
            update_gradient_ellipse,
            &[OWNER, OBJECT, CENTER, RADII, COLOR, TO_COLOR, ELLIPSE_ANGLE],
            "Changes a shape in a retained Gui to an ellipse with a gradient. The call replaces \
             all of its properties.",
        ),
        unpacked(
            "arc",
            arc,
            &[
                GUI,
                ("center", "the circle's center; z is the layer"),
                ("radius", "from the center to the edge"),
                START_ANGLE,
                ("to", "the end angle"),
                COLOR,
                RING,
            ],
            "Draws a part of a circle: a slice, or a part of a ring.",
        )
        .returns(NUMBER_OF_SHAPE),
        unpacked(
            "update_arc",
            update_arc,
            &[
                OWNER,
                OBJECT,
                ("center", "the circle's center; z is the layer"),
                ("radius", "from the center to the edge"),
                START_ANGLE,
                ("to", "the end angle"),
                COLOR,
                RING,
            ],
            "Changes a shape in a retained Gui to a part of a circle. The call replaces all of its \
             properties.",
        ),
    ],
);
