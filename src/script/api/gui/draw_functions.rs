//! The drawing functions of `Gui`, without texts, which are in text.rs. Their rows are in
//! rows.rs. Lua unpacks the arguments (arguments.rs), so that an object costs some nanoseconds.
//!
//! A pair of functions that draw and change the same kind of object, and their forms on separate
//! planes, share one function that takes a [`DrawTarget`]. All are inlined into the entries that
//! Lua calls: otherwise positions and sizes would be passed in memory, written as single floats and
//! read in pairs, which stalls the processor for as long as the rest of the call takes.

#![allow(clippy::too_many_arguments, reason = "the functions have the arguments of scripts")]

use crate::api::gui::arguments::{
    Borders, ChangeResult, CreateResult, Layer, Length, LineEnd, LinePoints, NewObject,
    ObjectNumber, PlanePosition, Point, PolygonPoints, Pose, Position, Radii, Size, Tint, Uv,
};
use crate::api::gui::draw_call::{DrawCall, DrawResult, DrawTarget};
use engine_frame_packet::gui::QuadInstance;
use engine_gui::tessellation;
use engine_gui::{DrawRefused, GuiId, PLAIN, PrimitiveKind, SourceNumber};
use engine_runtime::Engine;

/// Returns a layer as a number; 0 if it was left out.
fn layer_or_default(layer: Option<Layer>) -> f32 {
    layer.map_or(0.0, |layer| layer.0)
}

/// Returns the width of an outline; 0 if it was left out.
fn outline_width(outline: Option<Length>) -> f32 {
    outline.map_or(0.0, |outline| outline.0)
}

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

/// Draws an image; in its own size if `size` is `None`.
#[inline(always)]
fn submit_bitmap(
    engine: &mut Engine,
    target: DrawTarget,
    source: SourceNumber,
    position: Position,
    size: Option<Size>,
    color: Tint,
) -> DrawResult {
    let sum = position.sum(size.unwrap_or(Size { width: 0.0, height: 0.0 }));
    let draw = DrawCall::begin(engine, target, PrimitiveKind::Bitmap, position.z, sum)?;
    draw.one(source, |of| {
        let [width, height] = of.size;
        let size = size.unwrap_or(Size { width, height });
        tessellation::quad(position.edges(size), of, color.0)
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
) -> CreateResult {
    submit_bitmap(engine, DrawTarget::new(gui), source, position, size, color).map(NewObject)
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
) -> ChangeResult {
    submit_bitmap(engine, DrawTarget::change(gui, object), source, position, size, color).map(drop)
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
    submit_bitmap(engine, target, source, layer.origin(), Some(size), color).map(NewObject)
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
    submit_bitmap(engine, target, source, layer.origin(), Some(size), color).map(drop)
}

/// Draws the part of an image between two points of it.
#[inline(always)]
fn submit_bitmap_uv(
    engine: &mut Engine,
    target: DrawTarget,
    (source, uv00, uv11): (SourceNumber, Uv, Uv),
    position: Position,
    size: Size,
    color: Tint,
) -> DrawResult {
    let [u0, v0, u1, v1] = [uv00.0.x, uv00.0.y, uv11.0.x, uv11.0.y];
    let sum = position.sum(size) + u0 + v0 + u1 + v1;
    let draw = DrawCall::begin(engine, target, PrimitiveKind::Bitmap, position.z, sum)?;
    let outside = [u0, v0, u1, v1].iter().any(|at| !(0.0..=1.0).contains(at));
    if outside && draw.engine.drawing.guis.source(source).is_some_and(|of| of.is_shared()) {
        return draw.engine.drawing.guis.refuse(
            "the part goes beyond 0 to 1, and this texture shares an atlas with others: give it \
             its own texture with wrap = \"repeat\" in its .texture file",
        );
    }
    draw.one(source, |of| {
        let uv = of.part([u0, v0], [u1, v1]);
        QuadInstance { uv, ..tessellation::quad(position.edges(size), of, color.0) }
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
) -> CreateResult {
    let target = DrawTarget::new(gui);
    submit_bitmap_uv(engine, target, (source, uv00, uv11), position, size, color).map(NewObject)
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
) -> ChangeResult {
    let target = DrawTarget::change(gui, object);
    submit_bitmap_uv(engine, target, (source, uv00, uv11), position, size, color).map(drop)
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
    let part = (source, uv00, uv11);
    submit_bitmap_uv(engine, target, part, layer.origin(), size, color).map(NewObject)
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
    submit_bitmap_uv(engine, target, (source, uv00, uv11), layer.origin(), size, color).map(drop)
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

#[inline(always)]
fn submit_triangle(
    engine: &mut Engine,
    target: DrawTarget,
    corners: [Point; 3],
    layer: Option<Layer>,
    color: Tint,
) -> DrawResult {
    let (sum, z) =
        (corners.iter().map(|corner| corner.x + corner.y).sum(), layer_or_default(layer));
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Triangle, z, sum)?;
    let shape_style = draw.shape_style(color.0, 0.0, 0.0);
    let corners = corners.map(|corner| [corner.x, corner.y]);
    draw.one(PLAIN, |_| tessellation::triangle(corners, shape_style.color, shape_style.reach))
}

#[inline(always)]
pub(super) fn triangle(
    engine: &mut Engine,
    gui: GuiId,
    p1: Point,
    p2: Point,
    p3: Point,
    layer: Option<Layer>,
    color: Tint,
) -> CreateResult {
    submit_triangle(engine, DrawTarget::new(gui), [p1, p2, p3], layer, color).map(NewObject)
}

#[inline(always)]
pub(super) fn update_triangle(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    p1: Point,
    p2: Point,
    p3: Point,
    layer: Option<Layer>,
    color: Tint,
) -> ChangeResult {
    submit_triangle(engine, DrawTarget::change(gui, object), [p1, p2, p3], layer, color).map(drop)
}

#[inline(always)]
pub(super) fn line(
    engine: &mut Engine,
    gui: GuiId,
    from: Position,
    to: LineEnd,
    thickness: Length,
    color: Tint,
) -> CreateResult {
    let (Position { x, y, z }, LineEnd(to), Length(thickness)) = (from, to, thickness);
    let sum = x + y + to.x + to.y + thickness;
    let mut draw = DrawCall::begin(engine, DrawTarget::new(gui), PrimitiveKind::Shape, z, sum)?;
    let shape_style = draw.shape_style(color.0, 0.0, 0.0);
    let drawn = draw
        .one(PLAIN, |_| tessellation::line([x, y], [to.x, to.y], thickness, false, shape_style));
    drawn.map(NewObject)
}

#[inline(always)]
pub(super) fn polyline(
    engine: &mut Engine,
    gui: GuiId,
    points: LinePoints,
    thickness: Length,
    layer: Option<Layer>,
    color: Tint,
    closed: Option<bool>,
) -> CreateResult {
    let (target, z) = (DrawTarget::new(gui), layer_or_default(layer));
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, thickness.0)?;
    draw.check_points(points.as_slice())?;
    let shape_style = draw.shape_style(color.0, 0.0, 0.0);
    let (mut instances, closed) = (Vec::new(), closed == Some(true));
    tessellation::polyline(points.as_slice(), closed, thickness.0, shape_style, &mut instances);
    draw.many(PLAIN, &instances).map(NewObject)
}

#[inline(always)]
pub(super) fn polygon(
    engine: &mut Engine,
    gui: GuiId,
    points: PolygonPoints,
    layer: Option<Layer>,
    color: Tint,
) -> CreateResult {
    let (target, z) = (DrawTarget::new(gui), layer_or_default(layer));
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, 0.0)?;
    draw.check_points(points.as_slice())?;
    let (mut instances, pixel) = (Vec::new(), draw.pixel());
    let covered = tessellation::polygon(points.as_slice(), color.0, pixel, &mut instances);
    if let Err(message) = covered {
        return draw.engine.drawing.guis.refuse(message);
    }
    draw.many(PLAIN, &instances).map(NewObject)
}

#[inline(always)]
pub(super) fn circle(
    engine: &mut Engine,
    gui: GuiId,
    center: Position,
    radius: Length,
    color: Tint,
    outline: Option<Length>,
) -> CreateResult {
    ellipse(engine, gui, center, Radii { x: radius.0, y: radius.0 }, color, outline)
}

#[inline(always)]
pub(super) fn ellipse(
    engine: &mut Engine,
    gui: GuiId,
    center: Position,
    radii: Radii,
    color: Tint,
    outline: Option<Length>,
) -> CreateResult {
    let (Position { x, y, z }, outline) = (center, outline_width(outline));
    let sum = x + y + radii.x + radii.y + outline;
    let mut draw = DrawCall::begin(engine, DrawTarget::new(gui), PrimitiveKind::Shape, z, sum)?;
    let shape_style = draw.shape_style(color.0, 0.0, outline);
    let drawn = draw.one(PLAIN, |_| tessellation::ellipse([x, y], [radii.x, radii.y], shape_style));
    drawn.map(NewObject)
}

/// Draws a slice of a circle, or a part of a ring if `thickness` is not `None`.
#[inline(always)]
pub(super) fn arc(
    engine: &mut Engine,
    gui: GuiId,
    center: Position,
    radius: Length,
    from: f32,
    until: f32,
    color: Tint,
    thickness: Option<Length>,
) -> CreateResult {
    let (Position { x, y, z }, Length(radius)) = (center, radius);
    // A thickness that is not a number is kept here, and refused below.
    let thickness = match thickness {
        Some(Length(thickness)) if thickness <= radius || thickness.is_nan() => thickness,
        _ => radius,
    };
    let sum = x + y + radius + thickness + from + until;
    let mut draw = DrawCall::begin(engine, DrawTarget::new(gui), PrimitiveKind::Shape, z, sum)?;
    let shape_style = draw.shape_style(color.0, 0.0, 0.0);
    let drawn = draw
        .one(PLAIN, |_| tessellation::arc([x, y], radius, thickness, (from, until), shape_style));
    drawn.map(NewObject)
}
