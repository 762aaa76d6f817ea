//! The drawing functions of `Gui`, for the prelude only (lua/gui/gui.lua). They are C functions
//! that compiled Lua calls with plain numbers, so that the vectors of a call are never created and
//! an object costs some nanoseconds. Types are checked in Lua, everything else here. An error
//! returns -1, and `core.gui_refusal` returns its message.

use crate::api::gui::text::{text, text_extents};
use crate::context::ScriptContext;
use engine_foundation::{Color, Handle, Mat4, Vec4};
use engine_frame_packet::gui::{GuiSpace, QuadInstance};
use engine_gui::tessellation::{self, ShapeStyle};
use engine_gui::{
    Affine2, DrawRefused, DrawRequest, GuiId, PLAIN, PrimitiveKind, SourceNumber, SourcePart,
};
use engine_runtime::Engine;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Name, C type and address of each function.
pub const NATIVES: &[(&str, &str, FunctionAddress)] = &natives::ALL;

/// The address of a function.
#[derive(Clone, Copy)]
pub struct FunctionAddress(pub *const c_void);

// SAFETY: the address of a function, never written through.
unsafe impl Sync for FunctionAddress {}

pub(in crate::api) type DrawResult = Result<f64, DrawRefused>;
pub(in crate::api) type BytePointer = *const c_char;
pub(in crate::api) type FloatPointer = *const c_void;

/// The destination of a drawing call: the Gui and, for a change, the object.
#[derive(Clone, Copy)]
pub(in crate::api) struct DrawDestination {
    gui: f64,
    object: f64,
    /// A Matrix4x4 for `_3d` forms, else null.
    pose: *const c_void,
}

/// Runs a call; returns -1 if it is refused.
#[inline(always)]
fn guarded(cx: *mut ScriptContext, call: impl FnOnce(&mut Engine) -> DrawResult) -> f64 {
    // SAFETY: compiled Lua passes the context that it received at boot; the engine lives as long as
    // the VM, and is not borrowed while Lua runs.
    let (cx, engine) = unsafe { (&mut *cx, &mut *(*cx).engine) };
    if cx.restricted {
        return -1.0;
    }
    match catch_unwind(AssertUnwindSafe(|| call(engine))) {
        Ok(Ok(object)) => object,
        Ok(Err(DrawRefused)) => -1.0,
        Err(_) => {
            cx.panic = Some(engine_foundation::panic::take_panic());
            -1.0
        }
    }
}

macro_rules! c_type {
    (f64) => {
        ", double"
    };
    (f32) => {
        ", float"
    };
    (u32) => {
        ", uint32_t"
    };
    (BytePointer) => {
        ", const char *"
    };
    (FloatPointer) => {
        ", const void *"
    };
}

macro_rules! natives {
    ($($name:ident($($arg:ident: $t:ident),* $(,)?);)*) => {
        mod natives {
            use super::*;
            pub(in crate::api) type BytePointer = *const c_char;
            pub(in crate::api) type FloatPointer = *const c_void;
            $(unsafe extern "C-unwind" fn $name(
                cx: *mut ScriptContext, gui: f64, object: f64, pose: FloatPointer, $($arg: $t),*
            ) -> f64 {
                guarded(cx, |engine| {
                    super::$name(engine, DrawDestination { gui, object, pose }, $($arg),*)
                })
            })*
            pub const ALL: [(&str, &str, FunctionAddress); [$(stringify!($name)),*].len()] = [$((
                stringify!($name),
                concat!(
                    "double (*)(void *, double, double, const void *" $(, c_type!($t))*, ")"
                ),
                FunctionAddress($name as *const c_void),
            )),*];
        }
    };
}

natives! {
    rect(x: f32, y: f32, z: f32, w: f32, h: f32, r: f32, g: f32, b: f32, a: f32);
    boxed(
        x: f32, y: f32, z: f32, w: f32, h: f32, radius: f32, outline: f32,
        r: f32, g: f32, b: f32, a: f32,
    );
    bitmap(source: u32, x: f32, y: f32, z: f32, w: f32, h: f32, r: f32, g: f32, b: f32, a: f32);
    bitmap_uv(
        source: u32, u0: f32, v0: f32, u1: f32, v1: f32,
        x: f32, y: f32, z: f32, w: f32, h: f32, r: f32, g: f32, b: f32, a: f32,
    );
    nine_patch(
        source: u32, left: f32, bottom: f32, right: f32, top: f32,
        x: f32, y: f32, z: f32, w: f32, h: f32, r: f32, g: f32, b: f32, a: f32,
    );
    line(
        x0: f32, y0: f32, x1: f32, y1: f32, z: f32, thickness: f32,
        r: f32, g: f32, b: f32, a: f32,
    );
    ellipse(
        x: f32, y: f32, z: f32, rx: f32, ry: f32, outline: f32, r: f32, g: f32, b: f32, a: f32,
    );
    arc(
        x: f32, y: f32, z: f32, radius: f32, thickness: f32, from: f32, to: f32,
        r: f32, g: f32, b: f32, a: f32,
    );
    polygon(points: FloatPointer, count: u32, z: f32, r: f32, g: f32, b: f32, a: f32);
    polyline(
        points: FloatPointer, count: u32, closed: u32, thickness: f32, z: f32,
        r: f32, g: f32, b: f32, a: f32,
    );
    text(
        text: BytePointer, length: u32, font: u32, size: f32, source: u32, style: FloatPointer,
        x: f32, y: f32, z: f32, r: f32, g: f32, b: f32, a: f32,
    );
    text_extents(
        text: BytePointer, length: u32, font: u32, size: f32, style: FloatPointer,
        out: FloatPointer,
    );
    triangle(
        x0: f32, y0: f32, x1: f32, y1: f32, x2: f32, y2: f32, z: f32,
        r: f32, g: f32, b: f32, a: f32,
    );
}

/// Converts a height into a layer by rounding down.
#[inline(always)]
fn layer(z: f32) -> i32 {
    // `floor` is a call into the C library on plain x86-64. The conversion saturates at the limits.
    let whole = z as i32;
    if whole as f32 > z { whole.saturating_sub(1) } else { whole }
}

#[inline(always)]
pub(in crate::api) fn bytes(r: f32, g: f32, b: f32, a: f32) -> [u8; 4] {
    Color { red: r, green: g, blue: b, alpha: a }.to_bytes()
}

/// Maps a plane's own x and y to a pose's axes; a Gui's plane lies on the pose's x and z.
const UPRIGHT: Mat4 = Mat4::from_cols(Vec4::X, Vec4::Z, Vec4::new(0.0, -1.0, 0.0, 0.0), Vec4::W);

/// Converts a pose into a transform of the plane on the pose's x and z axes.
pub fn plane_of(pose: Mat4) -> Mat4 {
    pose * UPRIGHT
}

/// Converts a pose relative to a Gui into a transform within the Gui's plane.
pub fn plane_within(pose: Mat4) -> Mat4 {
    UPRIGHT.transpose() * pose * UPRIGHT
}

/// Minimum scale; objects that are scaled below it are not visible.
const STRETCH_MIN: f32 = 1e-3;

/// A checked drawing call. The check for numbers that are not finite uses their sum.
pub(in crate::api) struct DrawCall<'a> {
    pub engine: &'a mut Engine,
    pub gui: GuiId,
    pub object: f64,
    pub pose: Option<Mat4>,
    pub primitive: PrimitiveKind,
    pub layer: i32,
}

impl<'a> DrawCall<'a> {
    #[inline(always)]
    pub fn begin(
        engine: &'a mut Engine,
        to: DrawDestination,
        primitive: PrimitiveKind,
        z: f32,
        sum: f32,
    ) -> Result<Self, DrawRefused> {
        let gui = Handle::from_number(to.gui)
            .filter(|gui| engine.drawing.guis.slots().get(*gui).is_some());
        let Some(gui) = gui else {
            let message = crate::argument::gui_message(engine, to.gui);
            return engine.drawing.guis.refuse(format!("argument #1 'gui': {message}"));
        };
        if !(sum + z).is_finite() {
            return engine.drawing.guis.refuse(
                "positions, sizes and layers must be finite numbers (is something divided by \
                 zero?)",
            );
        }
        let pose = match to.pose.is_null() {
            true => None,
            false => {
                // SAFETY: the prelude passes a Matrix4x4, alive for the time of the call.
                let pose = Mat4::from_cols_array(unsafe { &*(to.pose as *const [f32; 16]) });
                if !pose.is_finite() {
                    return engine
                        .drawing
                        .guis
                        .refuse("a pose must be finite (is something divided by zero?)");
                }
                Some(plane_within(pose))
            }
        };
        let (object, layer) = (to.object, layer(z));
        Ok(DrawCall { engine, gui: GuiId(gui), object, pose, primitive, layer })
    }

    /// Draws one quadrilateral of a source.
    #[inline(always)]
    fn one(
        self,
        source: u32,
        make: impl FnOnce(&engine_gui::TextureSource) -> QuadInstance,
    ) -> DrawResult {
        let DrawCall { engine, gui, object, pose, primitive, layer } = self;
        let pose = pose.as_ref();
        let request = DrawRequest { gui, object, primitive, layer, pose };
        engine.drawing.guis.submit_quad(request, SourceNumber(source), make)
    }

    fn many(self, source: SourceNumber, instances: &[QuadInstance]) -> DrawResult {
        let DrawCall { engine, gui, object, pose, primitive, layer } = self;
        let pose = pose.as_ref();
        let request = DrawRequest { gui, object, primitive, layer, pose };
        engine.drawing.guis.put(request, &[SourcePart { source, instances }])
    }

    fn look(&mut self, color: [u8; 4], radius: f32, outline: f32) -> ShapeStyle {
        let reach = tessellation::EDGE_MARGIN * self.logical_pixel();
        ShapeStyle { color, radius, outline, reach }
    }

    /// Returns the length of a logical pixel in the units of this call; 0 in the world, where it
    /// has no length.
    fn logical_pixel(&mut self) -> f32 {
        let gui = self.engine.drawing.guis.gui(self.gui);
        match (gui.desc.space, gui.transform_stack.transform()) {
            (GuiSpace::World, _) => 0.0,
            (GuiSpace::Screen, None) => 1.0,
            (GuiSpace::Screen, Some(moved)) => 1.0 / moved.scale_min().max(STRETCH_MIN),
        }
    }

    /// Returns the length of a pixel of the render target in the units of this call.
    fn pixel(&mut self) -> f32 {
        let drawn_into = self.engine.drawing.guis.gui(self.gui).desc.target.is_some();
        let scale = if drawn_into { 1.0 } else { self.engine.devices.window.scale as f32 };
        self.logical_pixel() / scale
    }

    /// Returns true if upright shapes are drawn upright, without rotation.
    #[inline(always)]
    fn is_straight(&mut self) -> bool {
        let gui = self.engine.drawing.guis.gui(self.gui);
        let flat = self.pose.is_none() || gui.desc.space == GuiSpace::World;
        flat && gui.transform_stack.transform().is_none_or(Affine2::is_straight)
    }

    /// Returns the `count` points at `points`.
    fn points(&mut self, points: *const c_void, count: u32) -> Result<Vec<[f32; 2]>, DrawRefused> {
        // SAFETY: the prelude passes an array with that many points.
        let points =
            unsafe { std::slice::from_raw_parts(points as *const [f32; 2], count as usize) };
        if points.iter().flatten().any(|number| !number.is_finite()) {
            return self
                .engine
                .drawing
                .guis
                .refuse("points must be finite (is something divided by zero?)");
        }
        Ok(points.to_vec())
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn rect(
    engine: &mut Engine,
    to: DrawDestination,
    x: f32,
    y: f32,
    z: f32,
    w: f32,
    h: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let mut draw = DrawCall::begin(engine, to, PrimitiveKind::Rect, z, x + y + w + h)?;
    if !draw.is_straight() {
        let look = draw.look(bytes(r, g, b, a), 0.0, 0.0);
        let rect = [x.min(x + w), y.min(y + h), x.max(x + w), y.max(y + h)];
        return draw.one(PLAIN.0, |_| tessellation::box_quad(rect, look));
    }
    draw.one(PLAIN.0, |of| tessellation::quad([x, y, x + w, y + h], of, bytes(r, g, b, a)))
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn boxed(
    engine: &mut Engine,
    to: DrawDestination,
    x: f32,
    y: f32,
    z: f32,
    w: f32,
    h: f32,
    radius: f32,
    outline: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let mut draw =
        DrawCall::begin(engine, to, PrimitiveKind::Rect, z, x + y + w + h + radius + outline)?;
    let look = draw.look(bytes(r, g, b, a), radius, outline);
    let rect = [x.min(x + w), y.min(y + h), x.max(x + w), y.max(y + h)];
    draw.one(PLAIN.0, |_| tessellation::box_quad(rect, look))
}

#[inline(always)]
#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn bitmap(
    engine: &mut Engine,
    to: DrawDestination,
    source: u32,
    x: f32,
    y: f32,
    z: f32,
    w: f32,
    h: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let draw = DrawCall::begin(engine, to, PrimitiveKind::Bitmap, z, x + y + w + h)?;
    draw.one(source, |of| tessellation::quad([x, y, x + w, y + h], of, bytes(r, g, b, a)))
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn bitmap_uv(
    engine: &mut Engine,
    to: DrawDestination,
    source: u32,
    u0: f32,
    v0: f32,
    u1: f32,
    v1: f32,
    x: f32,
    y: f32,
    z: f32,
    w: f32,
    h: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let draw =
        DrawCall::begin(engine, to, PrimitiveKind::Bitmap, z, x + y + w + h + u0 + v0 + u1 + v1)?;
    let outside = [u0, v0, u1, v1].iter().any(|at| !(0.0..=1.0).contains(at));
    let shared =
        draw.engine.drawing.guis.source(SourceNumber(source)).is_some_and(|of| of.is_shared());
    if outside && shared {
        return draw.engine.drawing.guis.refuse(
            "the part goes beyond 0 to 1, and this texture shares an atlas with others: give it \
             its own texture with wrap = \"repeat\" in its .texture file",
        );
    }
    draw.one(source, |of| {
        let uv = of.part([u0, v0], [u1, v1]);
        QuadInstance { uv, ..tessellation::quad([x, y, x + w, y + h], of, bytes(r, g, b, a)) }
    })
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn nine_patch(
    engine: &mut Engine,
    to: DrawDestination,
    source: u32,
    left: f32,
    bottom: f32,
    right: f32,
    top: f32,
    x: f32,
    y: f32,
    z: f32,
    w: f32,
    h: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let sum = x + y + w + h + left + bottom + right + top;
    let draw = DrawCall::begin(engine, to, PrimitiveKind::Bitmap, z, sum)?;
    let mut instances = Vec::with_capacity(9);
    let Some(of) = draw.engine.drawing.guis.source(SourceNumber(source)) else {
        return Err(DrawRefused);
    };
    let (rect, borders) = ([x, y, x + w, y + h], [left, bottom, right, top]);
    tessellation::nine_patch(rect, borders, of, bytes(r, g, b, a), &mut instances);
    draw.many(SourceNumber(source), &instances)
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn line(
    engine: &mut Engine,
    to: DrawDestination,
    x0: f32,
    y0: f32,
    x1: f32,
    y1: f32,
    z: f32,
    thickness: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let mut draw =
        DrawCall::begin(engine, to, PrimitiveKind::Shape, z, x0 + y0 + x1 + y1 + thickness)?;
    let look = draw.look(bytes(r, g, b, a), 0.0, 0.0);
    draw.one(PLAIN.0, |_| tessellation::line([x0, y0], [x1, y1], thickness, false, look))
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn ellipse(
    engine: &mut Engine,
    to: DrawDestination,
    x: f32,
    y: f32,
    z: f32,
    rx: f32,
    ry: f32,
    outline: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let mut draw = DrawCall::begin(engine, to, PrimitiveKind::Shape, z, x + y + rx + ry + outline)?;
    let look = draw.look(bytes(r, g, b, a), 0.0, outline);
    draw.one(PLAIN.0, |_| tessellation::ellipse([x, y], [rx, ry], look))
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn arc(
    engine: &mut Engine,
    to: DrawDestination,
    x: f32,
    y: f32,
    z: f32,
    radius: f32,
    thickness: f32,
    from: f32,
    until: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let sum = x + y + radius + thickness + from + until;
    let mut draw = DrawCall::begin(engine, to, PrimitiveKind::Shape, z, sum)?;
    let look = draw.look(bytes(r, g, b, a), 0.0, 0.0);
    draw.one(PLAIN.0, |_| tessellation::arc([x, y], radius, thickness, (from, until), look))
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn polygon(
    engine: &mut Engine,
    to: DrawDestination,
    points: *const c_void,
    count: u32,
    z: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let mut draw = DrawCall::begin(engine, to, PrimitiveKind::Shape, z, 0.0)?;
    let points = draw.points(points, count)?;
    let (mut instances, pixel) = (Vec::new(), draw.pixel());
    if let Err(message) = tessellation::polygon(&points, bytes(r, g, b, a), pixel, &mut instances) {
        return draw.engine.drawing.guis.refuse(message);
    }
    draw.many(PLAIN, &instances)
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn polyline(
    engine: &mut Engine,
    to: DrawDestination,
    points: *const c_void,
    count: u32,
    closed: u32,
    thickness: f32,
    z: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let mut draw = DrawCall::begin(engine, to, PrimitiveKind::Shape, z, thickness)?;
    let points = draw.points(points, count)?;
    let look = draw.look(bytes(r, g, b, a), 0.0, 0.0);
    let mut instances = Vec::new();
    tessellation::polyline(&points, closed != 0, thickness, look, &mut instances);
    draw.many(PLAIN, &instances)
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
fn triangle(
    engine: &mut Engine,
    to: DrawDestination,
    x0: f32,
    y0: f32,
    x1: f32,
    y1: f32,
    x2: f32,
    y2: f32,
    z: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let mut draw =
        DrawCall::begin(engine, to, PrimitiveKind::Triangle, z, x0 + y0 + x1 + y1 + x2 + y2)?;
    let points = [[x0, y0], [x1, y1], [x2, y2]];
    let look = draw.look(bytes(r, g, b, a), 0.0, 0.0);
    draw.one(PLAIN.0, |_| tessellation::triangle(points, look.color, look.reach))
}
