//! Arguments and results of the drawing functions of `Gui`: how Lua checks and unpacks them, and
//! what the functions in draw_functions.rs and text.rs receive. The Lua names in the forms are
//! declared in unpacked_chunk.rs and in the files of lua/gui/.

use super::text::TextStyleFloats;
use crate::argument::{ByteArgument, UnboxedArgument, gui_message};
use crate::context::ScriptContext;
use crate::types::{ApiType, ValueShape};
use crate::unpacked_row::{LuaForm, REFUSED, UnpackedArgument, UnpackedReturn};
use engine_foundation::{Color, Mat4};
use engine_frame_packet::gui::GradientDirection;
use engine_frame_packet::material::BlendMode;
use engine_frame_packet::text::FontNumber;
use engine_gui::stroke::{DASH_LENGTHS_MAX, LineCap, LineJoin, StrokeStyle};
use engine_gui::{DrawRefused, GuiId, PLAIN, SourceNumber};
use std::ffi::{c_char, c_void};

/// The left bottom of an object, and its layer.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// A position along the axes of a pose.
#[derive(Clone, Copy)]
pub(super) struct PlanePosition(pub [f32; 3]);

/// A point without a layer.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub x: f32,
    pub y: f32,
}

/// The end of a line that begins at a [`Position`].
#[derive(Clone, Copy)]
pub(super) struct LineEnd(pub Point);

/// A point of an image, from 0, 0 (its left top) to 1, 1.
#[derive(Clone, Copy)]
pub(super) struct Uv(pub Point);

/// A width and a height.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub width: f32,
    pub height: f32,
}

/// Half the width and half the height of an ellipse, 0 or more.
#[derive(Clone, Copy)]
pub(super) struct Radii {
    pub x: f32,
    pub y: f32,
}

/// A length, 0 or more; it can be NaN.
#[derive(Clone, Copy)]
pub(super) struct Length(pub f32);

/// A layer, not yet rounded.
#[derive(Clone, Copy)]
pub(super) struct Layer(pub f32);

/// An angle in radians, counterclockwise; 0 if left out.
#[derive(Clone, Copy)]
pub(super) struct Rotation(pub f32);

/// The point of an image that is at its position: 0, 0 is the left bottom, 1, 1 the right top.
#[derive(Clone, Copy)]
pub(super) struct Origin(pub Point);

/// Factors of the width and the height; 1 if left out.
#[derive(Clone, Copy)]
pub(super) struct ScaleFactors(pub Point);

/// Mirroring of an image: bit 0 along x, bit 1 along y.
#[derive(Clone, Copy)]
pub(super) struct Flip(pub u32);

/// The blend mode of an object; that of the Gui if left out.
#[derive(Clone, Copy)]
pub(super) struct Blend(pub Option<BlendMode>);

/// The angle of a gradient; radial if left out.
#[derive(Clone, Copy)]
pub(super) struct GradientAngle(pub GradientDirection);

/// The colour that multiplies an object's pixels; white if left out.
#[derive(Clone, Copy)]
pub(super) struct Tint(pub [u8; 4]);

/// The plane of an object, relative to the world. Its address is valid during the call.
#[derive(Clone, Copy)]
pub(super) struct Pose(*const c_void);

/// The number of a retained object, or of none.
#[derive(Clone, Copy)]
pub(super) struct ObjectNumber(pub f64);

/// The texture or material of a text; the default if left out.
#[derive(Clone, Copy)]
pub(super) struct OptionalSource(pub SourceNumber);

/// Borders of a nine-patch: left, bottom, right, top.
#[derive(Clone, Copy)]
pub(super) struct Borders(pub [f32; 4]);

/// The points of a line, at least two. They are valid during the call.
#[derive(Clone, Copy)]
pub(super) struct LinePoints(*const [[f32; 2]]);

/// The corners of a polygon, at least three. They are valid during the call.
#[derive(Clone, Copy)]
pub(super) struct PolygonPoints(*const [[f32; 2]]);

/// The points of an image at the corners of a polygon, or none. They are valid during the call.
#[derive(Clone, Copy)]
pub(super) struct CornerUvs(*const [[f32; 2]]);

/// The colours at the corners of a polygon, or one for all. They are valid during the call.
#[derive(Clone, Copy)]
pub(super) struct CornerColors(*const [[f32; 4]]);

/// Options of a line, as floats, or null. They are valid during the call.
#[derive(Clone, Copy)]
pub(super) struct LineOptions(*const c_void);

/// Options of a text, as floats, or null. They are valid during the call.
#[derive(Clone, Copy)]
pub(super) struct TextOptions(*const c_void);

/// The number of a new object; 0 in an immediate Gui.
pub(super) struct NewObject(pub f64);

/// The bounds of a text: left bottom, right top, and the position of the next letter.
pub(super) struct TextBounds(pub [[f32; 2]; 3]);

/// The size of an image, in texels.
pub(super) struct ImageSize(pub [f32; 2]);

pub(super) type CreateResult = Result<NewObject, DrawRefused>;
pub(super) type ChangeResult = Result<(), DrawRefused>;

/// Implements an argument from its documented type, its Lua form, and its scalars.
macro_rules! argument {
    ($t:ty, $lua:expr, $form:expr, ($($v:ident: $c:ty),*) => $value:expr) => {
        impl UnpackedArgument for $t {
            const TYPE: ApiType = $lua;
            const LUA: LuaForm = $form;
            type Scalars<Rest> = scalars!(Rest; $($c),*);

            #[inline(always)]
            unsafe fn pack<'a, Rest>(
                scalars: &'a Self::Scalars<Rest>,
                _: &mut ScriptContext,
            ) -> Option<(Self, &'a Rest)> {
                let pattern!(rest; $($v)*) = scalars;
                $(let $v = *$v;)*
                Some(($value, rest))
            }
        }
    };
}

macro_rules! scalars {
    ($rest:ident;) => { $rest };
    ($rest:ident; $first:ty $(, $more:ty)*) => { ($first, scalars!($rest; $($more),*)) };
}

macro_rules! pattern {
    ($rest:ident;) => { $rest };
    ($rest:ident; $first:ident $($more:ident)*) => { ($first, pattern!($rest; $($more)*)) };
}

const fn documented(lua: &'static str) -> ApiType {
    ApiType::new(lua, ValueShape::Unpacked)
}

const NUMBER: &str = "type($) == 'number'";
const NUMBER_OR_NIL: &str = "$ == nil or type($) == 'number'";
const FLAT_OR_NOT: &str = "istype(V2, $) or istype(V3, $)";
const POSITION: LuaForm = LuaForm::plain(
    "Vector3 or Vector2",
    FLAT_OR_NOT,
    &["$._x", "$._y", "istype(V3, $) and $._z or 0"],
)
.usual("istype(V3, $)")
.usual_values(&["$._x", "$._y", "$._z"]);
const SIZE: LuaForm =
    LuaForm::plain("Vector2 or Vector3", FLAT_OR_NOT, &["$._x", "$._y"]).usual("istype(V2, $)");

argument!(Position, documented("Vector3|Vector2"), POSITION,
    (x: f32, y: f32, z: f32) => Position { x, y, z });
argument!(PlanePosition, documented("Vector3"), POSITION,
    (x: f32, y: f32, z: f32) => PlanePosition([x, y, z]));
argument!(Point, documented("Vector2|Vector3"),
    LuaForm::plain("Vector2 or Vector3", FLAT_OR_NOT, &["$._x", "$._y"]),
    (x: f32, y: f32) => Point { x, y });
argument!(LineEnd, documented("Vector3|Vector2"),
    LuaForm::plain("Vector3 or Vector2", FLAT_OR_NOT, &["$._x", "$._y"]),
    (x: f32, y: f32) => LineEnd(Point { x, y }));
argument!(Uv, documented("Vector2"),
    LuaForm::plain("Vector2", "istype(V2, $)", &["$._x", "$._y"]),
    (x: f32, y: f32) => Uv(Point { x, y }));
argument!(Size, documented("Vector2"), SIZE,
    (width: f32, height: f32) => Size { width, height });
argument!(Option<Size>, documented("Vector2").or_nil(),
    LuaForm::plain(
        "Vector2, Vector3 or nil",
        "istype(V2, $) or istype(V3, $) or $ == nil",
        &["$ and $._x or 0", "$ and $._y or 0", "$ and 1 or 0"],
    )
    .usual("istype(V2, $)")
    .usual_values(&["$._x", "$._y", "1"]),
    (width: f32, height: f32, has_size: u32) => (has_size != 0).then_some(Size { width, height }));
argument!(Radii, documented("Vector2"),
    SIZE.usual("istype(V2, $) and $._x >= 0 and $._y >= 0")
        .convert("if min($._x, $._y) < 0 then below_zero(@, min($._x, $._y)) end"),
    (x: f32, y: f32) => Radii { x, y });
argument!(f32, documented("number"), LuaForm::plain("number", NUMBER, &["$"]), (n: f32) => n);
argument!(Length, documented("number"),
    LuaForm::plain("number", NUMBER, &["$"])
        .usual("type($) == 'number' and $ >= 0")
        .convert("if $ < 0 then below_zero(@, $) end"),
    (n: f32) => Length(n));
// A number below 0 represents nil.
argument!(Option<Length>, documented("number").or_nil(),
    LuaForm::plain("number or nil", NUMBER_OR_NIL, &["$ or -1"])
        .usual("$ == nil")
        .usual_values(&["-1"])
        .convert("if $ and $ < 0 then below_zero(@, $) end"),
    (n: f32) => if n < 0.0 { None } else { Some(Length(n)) });
argument!(Layer, documented("integer"), LuaForm::plain("number", NUMBER, &["$"]),
    (n: f32) => Layer(n));
argument!(Option<Layer>, documented("integer").or_nil(),
    LuaForm::plain("number or nil", NUMBER_OR_NIL, &["$ or 0"]).usual(NUMBER).usual_values(&["$"]),
    (n: f32) => Some(Layer(n)));
argument!(Option<bool>, documented("boolean").or_nil(),
    LuaForm::plain("boolean or nil", "$ == nil or type($) == 'boolean'", &["$ and 1 or 0"]),
    (on: u32) => Some(on != 0));
argument!(Tint, documented("Color").or_nil(),
    LuaForm::plain("Color or nil", "istype(C, $) or $ == nil", &["$._r", "$._g", "$._b", "$._a"])
        .usual("istype(C, $)")
        .convert("$ = $ or WHITE"),
    (r: f32, g: f32, b: f32, a: f32) =>
        Tint(Color { red: r, green: g, blue: b, alpha: a }.to_bytes()));
argument!(Pose, documented("Matrix4x4"),
    LuaForm::plain("Matrix4x4", "istype(M, $)", &["$"]), (floats: *const c_void) => Pose(floats));
// Native code has the message for a number that no object has.
argument!(ObjectNumber, documented("GuiObject"),
    LuaForm::plain("the number of an object", NUMBER, &["$"]),
    (n: f64) => ObjectNumber(if n > 0.0 { n } else { -1.0 }));
argument!(SourceNumber, documented("string|Material"),
    LuaForm::plain(
        "string or Material",
        "type($) == 'string' or type($) == 'number'",
        &["source_$"],
    )
    .lookup("local source_$ = sources[$]")
    .usual("source_$")
    .convert("source_$ = source_$ or source_of(@, $)"),
    (number: u32) => SourceNumber(number));
argument!(OptionalSource, documented("string|Material|nil"),
    LuaForm::plain(
        "string, Material or nil",
        "$ == nil or type($) == 'string' or type($) == 'number'",
        &["source_$"],
    )
    .usual("$ == nil")
    .usual_values(&["0"])
    .convert("local source_$ = $ == nil and 0 or source_of(@, $)"),
    (number: u32) => OptionalSource(SourceNumber(number)));
const _: () = assert!(PLAIN.0 == 0, "the form of a text without a material passes 0");
argument!(FontNumber, documented("string|nil"),
    LuaForm::plain("string or nil", "$ == nil or type($) == 'string'", &["font_$"])
        .lookup("local font_$ = fonts[$]")
        .usual("font_$")
        .convert("font_$ = font_$ or font_of(@, $)"),
    (number: u32) => FontNumber(number));
argument!(Borders, documented("number|number[]"),
    LuaForm::plain(
        "number or table",
        "type($) == 'number' or type($) == 'table'",
        &["left_$", "bottom_$", "right_$", "top_$"],
    )
    .usual("type($) == 'number' and $ >= 0")
    .usual_values(&["$", "$", "$", "$"])
    .convert("local left_$, bottom_$, right_$, top_$ = borders_of(@, $)"),
    (left: f32, bottom: f32, right: f32, top: f32) => Borders([left, bottom, right, top]));
argument!(LinePoints, documented("(Vector2|Vector3)[]"),
    LuaForm::plain("table", "type($) == 'table'", &["points_buffer", "count_$"])
        .usual("")
        .convert("local count_$ = take_points(@, $, 2)"),
    (points: *const c_void, count: u32) =>
        LinePoints(std::ptr::slice_from_raw_parts(points.cast(), count as usize)));
argument!(PolygonPoints, documented("(Vector2|Vector3)[]"),
    LuaForm::plain("table", "type($) == 'table'", &["points_buffer", "count_$"])
        .usual("")
        .convert("local count_$ = take_points(@, $, 3)"),
    (points: *const c_void, count: u32) =>
        PolygonPoints(std::ptr::slice_from_raw_parts(points.cast(), count as usize)));
argument!(ByteArgument, documented("string"),
    LuaForm::plain("string", "type($) == 'string'", &["$", "#$"]),
    (start: *const c_char, length: u32) =>
        ByteArgument::new(std::ptr::slice_from_raw_parts(start.cast(), length as usize)));
argument!(CornerUvs, documented("Vector2[]").or_nil(),
    LuaForm::plain(
        "table or nil",
        "$ == nil or type($) == 'table'",
        &["$ and uvs_buffer or nil", "count_$"],
    )
        .usual("")
        .convert("local count_$ = $ and take_uvs(@, $) or 0"),
    (points: *const c_void, count: u32) =>
        CornerUvs(std::ptr::slice_from_raw_parts(points.cast(), count as usize)));
argument!(CornerColors, documented("Color|Color[]").or_nil(),
    LuaForm::plain(
        "Color, table or nil",
        "$ == nil or istype(C, $) or type($) == 'table'",
        &["colors_buffer", "count_$"],
    )
        .usual("")
        .convert("local count_$ = take_colors(@, $)"),
    (colors: *const c_void, count: u32) =>
        CornerColors(std::ptr::slice_from_raw_parts(colors.cast(), count as usize)));
argument!(LineOptions, documented("table").or_nil(),
    LuaForm::plain("table or nil", "$ == nil or type($) == 'table'", &["stroke_$"])
        .usual("$ == nil")
        .usual_values(&["nil"])
        .convert("local stroke_$ = stroke_of(@, $)"),
    (floats: *const c_void) => LineOptions(floats));
argument!(Rotation, documented("number").or_nil(),
    LuaForm::plain("number or nil", NUMBER_OR_NIL, &["$ or 0"])
        .usual("$ == nil")
        .usual_values(&["0"]),
    (n: f32) => Rotation(n));
argument!(GradientAngle, documented("number").or_nil(),
LuaForm::plain("number or nil", NUMBER_OR_NIL, &["$ or 0", "$ and 1 or 0"]),
(n: f32, has_angle: u32) => GradientAngle(match has_angle {
    0 => GradientDirection::Radial,
    _ => GradientDirection::Linear(n),
}));
argument!(Origin, documented("Vector2").or_nil(),
    LuaForm::plain(
        "Vector2, Vector3 or nil",
        "istype(V2, $) or istype(V3, $) or $ == nil",
        &["$ and $._x or 0", "$ and $._y or 0"],
    )
    .usual("$ == nil")
    .usual_values(&["0", "0"]),
    (x: f32, y: f32) => Origin(Point { x, y }));
argument!(ScaleFactors, documented("number|Vector2|nil"),
    LuaForm::plain(
        "number, Vector2, Vector3 or nil",
        "$ == nil or type($) == 'number' or istype(V2, $) or istype(V3, $)",
        &[
            "type($) == 'number' and $ or $ and $._x or 1",
            "type($) == 'number' and $ or $ and $._y or 1",
        ],
    )
    .usual("$ == nil")
    .usual_values(&["1", "1"]),
    (x: f32, y: f32) => ScaleFactors(Point { x, y }));
argument!(Flip, documented("string").or_nil(),
    LuaForm::plain("\"x\", \"y\", \"xy\" or nil", "$ == nil or flips[$]", &["$ and flips[$] or 0"])
        .usual("$ == nil")
        .usual_values(&["0"]),
    (bits: u32) => Flip(bits));
argument!(Blend, documented("string").or_nil(),
    LuaForm::plain(
        "\"alpha\", \"add\", \"multiply\", \"replace\", \"premultiplied\" or nil",
        "$ == nil or blends[$]",
        &["$ and blends[$] or 0"],
    )
    .usual("$ == nil")
    .usual_values(&["0"]),
    (number: u32) => Blend(BlendMode::ALL.get((number as usize).wrapping_sub(1)).copied()));
argument!(TextOptions, documented("table").or_nil(),
    LuaForm::plain("table or nil", "$ == nil or type($) == 'table'", &["style_$"])
        .usual("$ == nil")
        .usual_values(&["nil"])
        .convert("local style_$ = style_of(@, $)"),
    (floats: *const c_void) => TextOptions(floats));

impl LinePoints {
    pub(super) fn as_slice(&self) -> &[[f32; 2]] {
        // SAFETY: the prelude passes an array with that many points, alive for the call.
        unsafe { &*self.0 }
    }
}

impl PolygonPoints {
    pub(super) fn as_slice(&self) -> &[[f32; 2]] {
        // SAFETY: as above.
        unsafe { &*self.0 }
    }
}

impl CornerUvs {
    pub(super) fn as_slice(&self) -> Option<&[[f32; 2]]> {
        // SAFETY: the prelude passes an array with that many points, alive for the call, or null.
        (!self.0.is_null()).then(|| unsafe { &*self.0 })
    }
}

impl CornerColors {
    /// Returns the colour of a corner.
    pub(super) fn at(&self, corner: usize) -> [u8; 4] {
        let colors = self.as_slice();
        let [red, green, blue, alpha] = colors[if colors.len() == 1 { 0 } else { corner }];
        Color { red, green, blue, alpha }.to_bytes()
    }

    pub(super) fn as_slice(&self) -> &[[f32; 4]] {
        // SAFETY: the prelude passes an array with that many colours, alive for the call.
        unsafe { &*self.0 }
    }
}

impl LineOptions {
    /// Decodes the options, if there are any. `cap` is the shape of ends that have none.
    pub(super) fn read(&self, cap: LineCap) -> Option<StrokeStyle> {
        // SAFETY: the prelude passes a whole buffer of a style, alive for the call, or null.
        let floats = unsafe { (self.0 as *const StrokeFloats).as_ref() }?;
        let [join, cap_number, miter_limit, dash_offset, dash_count] = floats.head;
        Some(StrokeStyle {
            join: match join as u32 {
                0 => LineJoin::Round,
                1 => LineJoin::Miter,
                _ => LineJoin::Bevel,
            },
            cap: match cap_number as i32 {
                0 => LineCap::Butt,
                1 => LineCap::Round,
                2 => LineCap::Square,
                _ => cap,
            },
            miter_limit,
            dashes: floats.dashes,
            dash_count: (dash_count as usize).min(DASH_LENGTHS_MAX),
            dash_offset,
        })
    }
}

/// The layout of a line's options in lua/gui/lines.lua.
#[repr(C)]
struct StrokeFloats {
    /// Join, cap, miter limit, offset into the dashes, and their number.
    head: [f32; 5],
    dashes: [f32; DASH_LENGTHS_MAX],
}

impl TextOptions {
    /// Decodes the options, if there are any.
    pub(super) fn read(&self) -> Option<TextStyleFloats> {
        // SAFETY: the prelude passes a whole buffer of styles, alive for the call, or null.
        (!self.0.is_null()).then(|| unsafe { TextStyleFloats::read(self.0) })
    }
}

impl Pose {
    /// Returns the pose moved by a position along its axes. The sums are computed in double
    /// precision, as `*` of the scripts' matrices does.
    pub(super) fn at(&self, position: PlanePosition) -> Mat4 {
        // SAFETY: the address of a Matrix4x4, alive for the call.
        let mut floats = unsafe { *(self.0 as *const [f32; 16]) };
        let [x, y, z] = position.0.map(f64::from);
        if [x, y, z] != [0.0; 3] {
            for i in 0..4 {
                let [right, front, up, origin] =
                    [0, 4, 8, 12].map(|row| f64::from(floats[row + i]));
                floats[12 + i] = (x * right + y * front + z * up + origin) as f32;
            }
        }
        Mat4::from_cols_array(&floats)
    }
}

/// The Gui that a function draws on; its first argument.
impl UnpackedArgument for GuiId {
    const TYPE: ApiType = documented("Gui");
    const LUA: LuaForm = LuaForm::plain("Gui", NUMBER, &["$"]);
    type Scalars<Rest> = (f64, Rest);

    #[inline(always)]
    unsafe fn pack<'a, Rest>(
        (number, rest): &'a (f64, Rest),
        cx: &mut ScriptContext,
    ) -> Option<(GuiId, &'a Rest)> {
        // SAFETY: a handle is a number, which is always valid to pass.
        match unsafe { GuiId::from_c(*number, 0, cx) } {
            Some(gui) => Some((gui, rest)),
            None => {
                refuse_gui(*number, cx);
                None
            }
        }
    }
}

#[cold]
fn refuse_gui(number: f64, cx: &mut ScriptContext) {
    // SAFETY: the engine lives as long as the VM, and is not borrowed while Lua runs.
    let engine = unsafe { &mut *cx.engine };
    let message = format!("argument #1 'gui': {}", gui_message(engine, number));
    let _ = engine.drawing.guis.refuse::<()>(message);
}

impl UnpackedReturn for CreateResult {
    const TYPES: &'static [ApiType] = &[documented("GuiObject").or_nil()];
    const LUA: &'static str =
        "if r == 0 then return end if r > 0 then return r end raise_refusal(@)\n";
    #[inline(always)]
    fn into_number(self, _: &mut ScriptContext) -> f64 {
        self.map_or(REFUSED, |object| object.0)
    }
}

impl UnpackedReturn for ChangeResult {
    const TYPES: &'static [ApiType] = &[];
    const LUA: &'static str = "if r < 0 then raise_refusal(@) end return\n";
    #[inline(always)]
    fn into_number(self, _: &mut ScriptContext) -> f64 {
        self.map_or(REFUSED, |()| 0.0)
    }
}

impl UnpackedReturn for Result<bool, DrawRefused> {
    const TYPES: &'static [ApiType] = &[documented("boolean")];
    const LUA: &'static str = "if r < 0 then raise_refusal(@) end\nreturn r ~= 0\n";
    fn into_number(self, _: &mut ScriptContext) -> f64 {
        self.map_or(REFUSED, f64::from)
    }
}

impl UnpackedReturn for Result<ImageSize, DrawRefused> {
    const TYPES: &'static [ApiType] = &[documented("integer"); 2];
    const LUA: &'static str = "if r < 0 then raise_refusal(@) end\nreturn scratch[0], scratch[1]\n";
    fn into_number(self, cx: &mut ScriptContext) -> f64 {
        let Ok(ImageSize(size)) = self else { return REFUSED };
        cx.scratch[..2].copy_from_slice(&size);
        0.0
    }
}

impl UnpackedReturn for Result<TextBounds, DrawRefused> {
    const TYPES: &'static [ApiType] = &[documented("Vector3"); 3];
    const LUA: &'static str = "if r < 0 then raise_refusal(@) end\n\
        return V3(scratch[0], scratch[1], 0), V3(scratch[2], scratch[3], 0), \
        V3(scratch[4], scratch[5], 0)\n";
    fn into_number(self, cx: &mut ScriptContext) -> f64 {
        let Ok(TextBounds(bounds)) = self else { return REFUSED };
        cx.scratch[..6].copy_from_slice(bounds.as_flattened());
        0.0
    }
}
