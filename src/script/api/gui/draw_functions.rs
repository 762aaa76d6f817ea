//! The functions of `Gui` that draw boxes and images. Shapes are in shape_functions.rs, and texts
//! in text.rs. Their rows are in rows.rs. Lua unpacks the arguments (arguments.rs), so that an
//! object costs some nanoseconds.
//!
//! A pair of functions that draw and change the same kind of object, and their forms on separate
//! planes, share one function that takes a [`DrawTarget`]. All are inlined into the entries that
//! Lua calls: otherwise positions and sizes would be passed in memory, written as single floats and
//! read in pairs, which stalls the processor for as long as the rest of the call takes.

#![allow(clippy::too_many_arguments, reason = "the functions have the arguments of scripts")]

use crate::api::gui::arguments::{
    Blend, Borders, ChangeResult, CreateResult, Flip, Layer, Length, NewObject, ObjectNumber,
    Origin, PlanePosition, Point, Pose, Position, Rotation, ScaleFactors, Size, Tint, Uv,
};
use crate::api::gui::draw_call::{DrawCall, DrawResult, DrawTarget, outline_width};
use engine_frame_packet::gui::{GradientDirection, QuadInstance};
use engine_gui::tessellation;
use engine_gui::{DrawRefused, GuiId, PLAIN, PrimitiveKind, SourceNumber, TextureSource};
use engine_runtime::Engine;

impl Position {
    fn sum(self, size: Size) -> f32 {
        self.x + self.y + size.width + size.height
    }

    /// Returns the left, bottom, right and top edge of a rectangle.
    fn edges(self, size: Size) -> [f32; 4] {
        [self.x, self.y, self.x + size.width, self.y + size.height]
    }
}

#[inline(always)]
fn submit_rect(
    engine: &mut Engine,
    target: DrawTarget,
    position: Position,
    size: Size,
    color: Tint,
) -> DrawResult {
    let sum = position.sum(size);
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Rect, position.z, sum)?;
    let edges = position.edges(size);
    if !draw.is_straight() {
        let shape_style = draw.shape_style(color.0, 0.0, 0.0);
        return draw.one(PLAIN, |_| tessellation::box_quad(sorted(edges), shape_style));
    }
    draw.one(PLAIN, |of| tessellation::quad(edges, of, color.0))
}

/// Returns the edges of a rectangle whose size can be negative, the lower ones first.
fn sorted([left, bottom, right, top]: [f32; 4]) -> [f32; 4] {
    [left.min(right), bottom.min(top), left.max(right), bottom.max(top)]
}

#[inline(always)]
pub(super) fn rect(
    engine: &mut Engine,
    gui: GuiId,
    position: Position,
    size: Size,
    color: Tint,
) -> CreateResult {
    submit_rect(engine, DrawTarget::new(gui), position, size, color).map(NewObject)
}

#[inline(always)]
pub(super) fn update_rect(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    position: Position,
    size: Size,
    color: Tint,
) -> ChangeResult {
    submit_rect(engine, DrawTarget::change(gui, object), position, size, color).map(drop)
}

#[inline(always)]
pub(super) fn rect_3d(
    engine: &mut Engine,
    gui: GuiId,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    size: Size,
    color: Tint,
) -> CreateResult {
    let plane = pose.plane_at(position);
    let target = DrawTarget::new(gui).on(&plane);
    submit_rect(engine, target, layer.origin(), size, color).map(NewObject)
}

#[inline(always)]
pub(super) fn update_rect_3d(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    size: Size,
    color: Tint,
) -> ChangeResult {
    let plane = pose.plane_at(position);
    let target = DrawTarget::change(gui, object).on(&plane);
    submit_rect(engine, target, layer.origin(), size, color).map(drop)
}

#[inline(always)]
fn submit_box(
    engine: &mut Engine,
    target: DrawTarget,
    (position, size): (Position, Size),
    radius: f32,
    outline: f32,
    color: Tint,
) -> DrawResult {
    let sum = position.sum(size) + radius + outline;
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Rect, position.z, sum)?;
    let shape_style = draw.shape_style(color.0, radius, outline);
    draw.one(PLAIN, |_| tessellation::box_quad(sorted(position.edges(size)), shape_style))
}

#[inline(always)]
pub(super) fn rect_outline(
    engine: &mut Engine,
    gui: GuiId,
    position: Position,
    size: Size,
    thickness: Length,
    color: Tint,
) -> CreateResult {
    let target = DrawTarget::new(gui);
    submit_box(engine, target, (position, size), 0.0, thickness.0, color).map(NewObject)
}

#[inline(always)]
pub(super) fn update_rect_outline(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    position: Position,
    size: Size,
    thickness: Length,
    color: Tint,
) -> ChangeResult {
    let target = DrawTarget::change(gui, object);
    submit_box(engine, target, (position, size), 0.0, thickness.0, color).map(drop)
}

/// Draws a rectangle with a gradient between two colors.
#[inline(always)]
fn submit_gradient_rect(
    engine: &mut Engine,
    target: DrawTarget,
    (position, size): (Position, Size),
    colors: (Tint, Tint),
    angle: Rotation,
    radius: Option<Length>,
) -> DrawResult {
    let radius = radius.map_or(0.0, |radius| radius.0);
    let sum = position.sum(size) + angle.0 + radius;
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Rect, position.z, sum)?;
    let (Tint(from), Tint(to)) = colors;
    let shape_style = draw.shape_style(from, radius, 0.0);
    draw.one(PLAIN, |_| {
        let shape = tessellation::box_quad(sorted(position.edges(size)), shape_style);
        shape.with_gradient(to, GradientDirection::Linear(angle.0))
    })
}

#[inline(always)]
pub(super) fn gradient_rect(
    engine: &mut Engine,
    gui: GuiId,
    position: Position,
    size: Size,
    color: Tint,
    to_color: Tint,
    angle: Rotation,
    radius: Option<Length>,
) -> CreateResult {
    let (target, colors) = (DrawTarget::new(gui), (color, to_color));
    submit_gradient_rect(engine, target, (position, size), colors, angle, radius).map(NewObject)
}

#[inline(always)]
pub(super) fn update_gradient_rect(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    position: Position,
    size: Size,
    color: Tint,
    to_color: Tint,
    angle: Rotation,
    radius: Option<Length>,
) -> ChangeResult {
    let (target, colors) = (DrawTarget::change(gui, object), (color, to_color));
    submit_gradient_rect(engine, target, (position, size), colors, angle, radius).map(drop)
}

#[inline(always)]
pub(super) fn rounded_rect(
    engine: &mut Engine,
    gui: GuiId,
    position: Position,
    size: Size,
    radius: Length,
    color: Tint,
    outline: Option<Length>,
) -> CreateResult {
    let (target, outline) = (DrawTarget::new(gui), outline_width(outline));
    submit_box(engine, target, (position, size), radius.0, outline, color).map(NewObject)
}

#[inline(always)]
pub(super) fn update_rounded_rect(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    position: Position,
    size: Size,
    radius: Length,
    color: Tint,
    outline: Option<Length>,
) -> ChangeResult {
    let (target, outline) = (DrawTarget::change(gui, object), outline_width(outline));
    submit_box(engine, target, (position, size), radius.0, outline, color).map(drop)
}

/// The placement of an image: how it is turned, scaled and mirrored.
#[derive(Clone, Copy)]
struct Placement {
    rotation: f32,
    origin: Point,
    scale: Point,
    flip: u32,
}

impl Placement {
    /// The left bottom of the image is at its position.
    const PLAIN: Placement = Placement {
        rotation: 0.0,
        origin: Point { x: 0.0, y: 0.0 },
        scale: Point { x: 1.0, y: 1.0 },
        flip: 0,
    };

    #[inline(always)]
    fn new(rotation: Rotation, origin: Origin, scale: ScaleFactors, flip: Flip) -> Placement {
        Placement { rotation: rotation.0, origin: origin.0, scale: scale.0, flip: flip.0 }
    }

    /// Returns a sum of all numbers, which is finite if they are.
    fn sum(&self) -> f32 {
        self.rotation + self.origin.x + self.origin.y + self.scale.x + self.scale.y
    }

    /// Builds the quad of an image from its texture coordinates.
    #[inline(always)]
    fn quad(
        &self,
        position: Position,
        size: Size,
        (of, uv): (&TextureSource, [f32; 4]),
        color: [u8; 4],
    ) -> QuadInstance {
        let [mut left, mut bottom, mut right, mut top] = uv;
        if self.flip & 1 != 0 {
            (left, right) = (right, left);
        }
        if self.flip & 2 != 0 {
            (bottom, top) = (top, bottom);
        }
        let uv = [left, bottom, right, top];
        let (width, height) = (size.width * self.scale.x, size.height * self.scale.y);
        let (x, y) = (-self.origin.x * width, -self.origin.y * height);
        let edges =
            [position.x + x, position.y + y, position.x + x + width, position.y + y + height];
        let upright = QuadInstance { uv, ..tessellation::quad(edges, of, color) };
        if self.rotation == 0.0 {
            return upright;
        }
        let (sin, cos) = self.rotation.sin_cos();
        let at = |x: f32, y: f32| [position.x + x * cos - y * sin, position.y + x * sin + y * cos];
        let ([ax, ay], [bx, by]) = (at(x, y), at(x + width, y));
        let ([cx, cy], [dx, dy]) = (at(x + width, y + height), at(x, y + height));
        QuadInstance { corners: [ax, ay, bx, by, cx, cy, dx, dy], ..upright }
    }
}

/// An image that is not turned, with the blend mode of its Gui.
const PLAIN_IMAGE: (Placement, Blend) = (Placement::PLAIN, Blend(None));

/// Draws an image; in its own size if `size` is `None`.
#[inline(always)]
fn submit_bitmap(
    engine: &mut Engine,
    target: DrawTarget,
    source: SourceNumber,
    (position, size): (Position, Option<Size>),
    color: Tint,
    (placement, blend): (Placement, Blend),
) -> DrawResult {
    let sum = position.sum(size.unwrap_or(Size { width: 0.0, height: 0.0 })) + placement.sum();
    let draw = DrawCall::begin(engine, target, PrimitiveKind::Bitmap, position.z, sum)?;
    draw.blended(blend).one(source, |of| {
        let [width, height] = of.size;
        let size = size.unwrap_or(Size { width, height });
        placement.quad(position, size, (of, of.uv), color.0)
    })
}

#[inline(always)]
pub(super) fn bitmap(
    engine: &mut Engine,
    gui: GuiId,
    source: SourceNumber,
    position: Position,
    size: Option<Size>,
    color: Tint,
    rotation: Rotation,
    origin: Origin,
    scale: ScaleFactors,
    flip: Flip,
    blend: Blend,
) -> CreateResult {
    let (target, placement) = (DrawTarget::new(gui), Placement::new(rotation, origin, scale, flip));
    submit_bitmap(engine, target, source, (position, size), color, (placement, blend))
        .map(NewObject)
}

#[inline(always)]
pub(super) fn update_bitmap(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    source: SourceNumber,
    position: Position,
    size: Option<Size>,
    color: Tint,
    rotation: Rotation,
    origin: Origin,
    scale: ScaleFactors,
    flip: Flip,
    blend: Blend,
) -> ChangeResult {
    let (target, placement) =
        (DrawTarget::change(gui, object), Placement::new(rotation, origin, scale, flip));
    submit_bitmap(engine, target, source, (position, size), color, (placement, blend)).map(drop)
}

#[inline(always)]
pub(super) fn bitmap_3d(
    engine: &mut Engine,
    gui: GuiId,
    source: SourceNumber,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    size: Size,
    color: Tint,
) -> CreateResult {
    let plane = pose.plane_at(position);
    let target = DrawTarget::new(gui).on(&plane);
    submit_bitmap(engine, target, source, (layer.origin(), Some(size)), color, PLAIN_IMAGE)
        .map(NewObject)
}

#[inline(always)]
pub(super) fn update_bitmap_3d(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    source: SourceNumber,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    size: Size,
    color: Tint,
) -> ChangeResult {
    let plane = pose.plane_at(position);
    let target = DrawTarget::change(gui, object).on(&plane);
    submit_bitmap(engine, target, source, (layer.origin(), Some(size)), color, PLAIN_IMAGE)
        .map(drop)
}

/// Returns `extra` for a part of an image: its samples do not reach beyond the part, unless that is
/// the whole image or repeats it.
#[inline(always)]
fn edge_clamp(part: [f32; 4]) -> [f32; 2] {
    let is_inside = part.iter().all(|at| (0.0..=1.0).contains(at));
    let is_whole = part.iter().all(|at| *at == 0.0 || *at == 1.0);
    if is_inside && !is_whole { QuadInstance::HALF_TEXEL } else { [0.0; 2] }
}

/// Draws the part of an image between two points of it.
#[inline(always)]
fn submit_bitmap_uv(
    engine: &mut Engine,
    target: DrawTarget,
    (source, uv00, uv11): (SourceNumber, Uv, Uv),
    (position, size): (Position, Size),
    color: Tint,
    (placement, blend): (Placement, Blend),
) -> DrawResult {
    let [u0, v0, u1, v1] = [uv00.0.x, uv00.0.y, uv11.0.x, uv11.0.y];
    let sum = position.sum(size) + u0 + v0 + u1 + v1 + placement.sum();
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Bitmap, position.z, sum)?;
    draw.check_part(source, &[u0, v0, u1, v1])?;
    draw.blended(blend).one(source, |of| {
        let uv = of.part([u0, v0], [u1, v1]);
        let extra = edge_clamp([u0, v0, u1, v1]);
        QuadInstance { extra, ..placement.quad(position, size, (of, uv), color.0) }
    })
}

#[inline(always)]
pub(super) fn bitmap_uv(
    engine: &mut Engine,
    gui: GuiId,
    source: SourceNumber,
    uv00: Uv,
    uv11: Uv,
    position: Position,
    size: Size,
    color: Tint,
    rotation: Rotation,
    origin: Origin,
    scale: ScaleFactors,
    flip: Flip,
    blend: Blend,
) -> CreateResult {
    let (target, part) = (DrawTarget::new(gui), (source, uv00, uv11));
    let placement = Placement::new(rotation, origin, scale, flip);
    submit_bitmap_uv(engine, target, part, (position, size), color, (placement, blend))
        .map(NewObject)
}

#[inline(always)]
pub(super) fn update_bitmap_uv(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    source: SourceNumber,
    uv00: Uv,
    uv11: Uv,
    position: Position,
    size: Size,
    color: Tint,
    rotation: Rotation,
    origin: Origin,
    scale: ScaleFactors,
    flip: Flip,
    blend: Blend,
) -> ChangeResult {
    let (target, part) = (DrawTarget::change(gui, object), (source, uv00, uv11));
    let placement = Placement::new(rotation, origin, scale, flip);
    submit_bitmap_uv(engine, target, part, (position, size), color, (placement, blend)).map(drop)
}

#[inline(always)]
pub(super) fn bitmap_3d_uv(
    engine: &mut Engine,
    gui: GuiId,
    source: SourceNumber,
    uv00: Uv,
    uv11: Uv,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    size: Size,
    color: Tint,
) -> CreateResult {
    let plane = pose.plane_at(position);
    let target = DrawTarget::new(gui).on(&plane);
    let (part, at) = ((source, uv00, uv11), (layer.origin(), size));
    submit_bitmap_uv(engine, target, part, at, color, PLAIN_IMAGE).map(NewObject)
}

#[inline(always)]
pub(super) fn update_bitmap_3d_uv(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    source: SourceNumber,
    uv00: Uv,
    uv11: Uv,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    size: Size,
    color: Tint,
) -> ChangeResult {
    let plane = pose.plane_at(position);
    let target = DrawTarget::change(gui, object).on(&plane);
    let (part, at) = ((source, uv00, uv11), (layer.origin(), size));
    submit_bitmap_uv(engine, target, part, at, color, PLAIN_IMAGE).map(drop)
}

#[inline(always)]
fn submit_nine_patch(
    engine: &mut Engine,
    target: DrawTarget,
    (source, borders): (SourceNumber, Borders),
    position: Position,
    size: Size,
    color: Tint,
) -> DrawResult {
    let sum = position.sum(size) + borders.0.iter().sum::<f32>();
    let draw = DrawCall::begin(engine, target, PrimitiveKind::Bitmap, position.z, sum)?;
    let mut instances = Vec::with_capacity(9);
    let Some(of) = draw.engine.drawing.guis.source(source) else {
        return Err(DrawRefused);
    };
    let edges = position.edges(size);
    tessellation::nine_patch(edges, borders.0, of, color.0, &mut instances);
    draw.many(source, &instances)
}

#[inline(always)]
pub(super) fn nine_patch(
    engine: &mut Engine,
    gui: GuiId,
    source: SourceNumber,
    borders: Borders,
    position: Position,
    size: Size,
    color: Tint,
) -> CreateResult {
    let target = DrawTarget::new(gui);
    submit_nine_patch(engine, target, (source, borders), position, size, color).map(NewObject)
}

#[inline(always)]
pub(super) fn update_nine_patch(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    source: SourceNumber,
    borders: Borders,
    position: Position,
    size: Size,
    color: Tint,
) -> ChangeResult {
    let target = DrawTarget::change(gui, object);
    submit_nine_patch(engine, target, (source, borders), position, size, color).map(drop)
}
