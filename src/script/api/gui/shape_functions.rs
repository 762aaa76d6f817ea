//! The functions of `Gui` that draw triangles, lines, polygons, circles and arcs. Their rows are in
//! rows.rs. See draw_functions.rs for their structure.

#![allow(clippy::too_many_arguments, reason = "the functions have the arguments of scripts")]

use crate::api::gui::arguments::{
    ChangeResult, CornerColors, CornerUvs, CreateResult, GradientAngle, Layer, Length, LineEnd,
    LineOptions, LinePoints, NewObject, ObjectNumber, OptionalSource, Point, PolygonPoints,
    Position, Radii, Tint,
};
use crate::api::gui::draw_call::{
    DrawCall, DrawResult, DrawTarget, layer_or_default, outline_width,
};
use engine_gui::mesh::{MeshCorner, mesh_polygon};
use engine_gui::stroke::{LineCap, stroke};
use engine_gui::tessellation;
use engine_gui::{DrawRefused, GuiId, PLAIN, PrimitiveKind};
use engine_runtime::Engine;

/// Declares the function that draws a new object, and the one that changes an object, from a
/// function of a target and the arguments.
macro_rules! draws {
    ($new:ident, $change:ident = $submit:ident($($name:ident: $t:ty),*)) => {
        #[inline(always)]
        pub(super) fn $new(engine: &mut Engine, gui: GuiId, $($name: $t),*) -> CreateResult {
            $submit(engine, DrawTarget::new(gui), $($name),*).map(NewObject)
        }

        #[inline(always)]
        pub(super) fn $change(
            engine: &mut Engine,
            gui: GuiId,
            object: ObjectNumber,
            $($name: $t),*
        ) -> ChangeResult {
            $submit(engine, DrawTarget::change(gui, object), $($name),*).map(drop)
        }
    };
}

draws!(triangle, update_triangle =
    submit_triangle(p1: Point, p2: Point, p3: Point, layer: Option<Layer>, color: Tint));
draws!(line, update_line = submit_line(
    from: Position, to: LineEnd, thickness: Length, color: Tint, options: LineOptions));
draws!(polyline, update_polyline = submit_polyline(
    points: LinePoints,
    thickness: Length,
    layer: Option<Layer>,
    color: Tint,
    closed: Option<bool>,
    options: LineOptions));
draws!(polygon, update_polygon =
    submit_polygon(points: PolygonPoints, layer: Option<Layer>, color: Tint));
draws!(polygon_uv, update_polygon_uv = submit_polygon_uv(
    material: OptionalSource,
    points: PolygonPoints,
    uvs: CornerUvs,
    layer: Option<Layer>,
    colors: CornerColors));
draws!(circle, update_circle =
    submit_circle(center: Position, radius: Length, color: Tint, outline: Option<Length>));
draws!(ellipse, update_ellipse =
    submit_ellipse(center: Position, radii: Radii, color: Tint, outline: Option<Length>));
draws!(gradient_ellipse, update_gradient_ellipse = submit_gradient_ellipse(
    center: Position, radii: Radii, color: Tint, to_color: Tint, angle: GradientAngle));
draws!(arc, update_arc = submit_arc(
    center: Position,
    radius: Length,
    from: f32,
    until: f32,
    color: Tint,
    thickness: Option<Length>));

#[inline(always)]
fn submit_triangle(
    engine: &mut Engine,
    target: DrawTarget,
    p1: Point,
    p2: Point,
    p3: Point,
    layer: Option<Layer>,
    color: Tint,
) -> DrawResult {
    let corners = [p1, p2, p3];
    let (sum, z) =
        (corners.iter().map(|corner| corner.x + corner.y).sum(), layer_or_default(layer));
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Triangle, z, sum)?;
    let shape_style = draw.shape_style(color.0, 0.0, 0.0);
    let corners = corners.map(|corner| [corner.x, corner.y]);
    draw.one(PLAIN, |_| tessellation::triangle(corners, shape_style.color, shape_style.reach))
}

#[inline(always)]
fn submit_line(
    engine: &mut Engine,
    target: DrawTarget,
    from: Position,
    to: LineEnd,
    thickness: Length,
    color: Tint,
    options: LineOptions,
) -> DrawResult {
    let (Position { x, y, z }, LineEnd(to), Length(thickness)) = (from, to, thickness);
    let (from, to) = ([x, y], [to.x, to.y]);
    let sum = x + y + to[0] + to[1] + thickness;
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, sum)?;
    let Some(style) = options.read(LineCap::Butt) else {
        let shape_style = draw.shape_style(color.0, 0.0, 0.0);
        return draw.one(PLAIN, |_| tessellation::line(from, to, thickness, false, shape_style));
    };
    let (mut instances, pixel) = (Vec::new(), draw.pixel());
    let drawn = (&style, color.0, pixel);
    match stroke(&[from, to], false, thickness, drawn, &mut instances) {
        Ok(()) => draw.many(PLAIN, &instances),
        Err(message) => draw.engine.drawing.guis.refuse(message),
    }
}

#[inline(always)]
fn submit_polyline(
    engine: &mut Engine,
    target: DrawTarget,
    points: LinePoints,
    thickness: Length,
    layer: Option<Layer>,
    color: Tint,
    closed: Option<bool>,
    options: LineOptions,
) -> DrawResult {
    let z = layer_or_default(layer);
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, thickness.0)?;
    let (points, closed) = (points.as_slice(), closed == Some(true));
    draw.check_points(points)?;
    let mut instances = Vec::new();
    let drawn = match options.read(LineCap::Round) {
        Some(style) => {
            let drawn = (&style, color.0, draw.pixel());
            stroke(points, closed, thickness.0, drawn, &mut instances)
        }
        None => {
            let shape_style = draw.shape_style(color.0, 0.0, 0.0);
            tessellation::polyline(points, closed, thickness.0, shape_style, &mut instances);
            Ok(())
        }
    };
    match drawn {
        Ok(()) => draw.many(PLAIN, &instances),
        Err(message) => draw.engine.drawing.guis.refuse(message),
    }
}

#[inline(always)]
fn submit_polygon(
    engine: &mut Engine,
    target: DrawTarget,
    points: PolygonPoints,
    layer: Option<Layer>,
    color: Tint,
) -> DrawResult {
    let z = layer_or_default(layer);
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, 0.0)?;
    draw.check_points(points.as_slice())?;
    let (mut instances, pixel) = (Vec::new(), draw.pixel());
    match tessellation::polygon(points.as_slice(), color.0, pixel, &mut instances) {
        Ok(()) => draw.many(PLAIN, &instances),
        Err(message) => draw.engine.drawing.guis.refuse(message),
    }
}

/// Draws a polygon with an image and a color at each corner.
fn submit_polygon_uv(
    engine: &mut Engine,
    target: DrawTarget,
    OptionalSource(source): OptionalSource,
    points: PolygonPoints,
    uvs: CornerUvs,
    layer: Option<Layer>,
    colors: CornerColors,
) -> DrawResult {
    let z = layer_or_default(layer);
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, 0.0)?;
    let points = points.as_slice();
    draw.check_points(points)?;
    let count = points.len();
    let color_count = colors.as_slice().len();
    if color_count != 1 && color_count != count {
        return draw.engine.drawing.guis.refuse(format!(
            "there are {color_count} colours for {count} corners: give one colour, or one for each"
        ));
    }
    if let Some(uvs) = uvs.as_slice() {
        if uvs.len() != count {
            return draw.engine.drawing.guis.refuse(format!(
                "there are {} points of the image for {count} corners: give one for each",
                uvs.len()
            ));
        }
        draw.check_points(uvs)?;
        draw.check_part(source, uvs.as_flattened())?;
    }
    let Some(of) = draw.engine.drawing.guis.source(source) else { return Err(DrawRefused) };
    let spread = spread_of(points);
    let corner = |i: usize| {
        let uv = uvs.as_slice().map_or_else(|| spread(points[i]), |uvs| uvs[i]);
        MeshCorner { point: points[i], uv: of.point(uv), color: colors.at(i) }
    };
    let corners: Vec<MeshCorner> = (0..count).map(corner).collect();
    let (paint, mut instances) = (of.paint, Vec::new());
    let pixel = draw.pixel();
    match mesh_polygon(&corners, paint, pixel, &mut instances) {
        Ok(()) => draw.many(source, &instances),
        Err(message) => draw.engine.drawing.guis.refuse(message),
    }
}

/// Returns a function that spreads an image over the bounds of points.
fn spread_of(points: &[[f32; 2]]) -> impl Fn([f32; 2]) -> [f32; 2] {
    let along = |i: usize, pick: fn(f32, f32) -> f32| {
        points.iter().map(|point| point[i]).fold(points[0][i], pick)
    };
    let low = [0, 1].map(|i| along(i, f32::min));
    let high = [0, 1].map(|i| along(i, f32::max));
    move |point| {
        let at = |i: usize| ((point[i] - low[i]) / (high[i] - low[i])).clamp(0.0, 1.0);
        [at(0), 1.0 - at(1)]
    }
}

#[inline(always)]
fn submit_circle(
    engine: &mut Engine,
    target: DrawTarget,
    center: Position,
    radius: Length,
    color: Tint,
    outline: Option<Length>,
) -> DrawResult {
    submit_ellipse(engine, target, center, Radii { x: radius.0, y: radius.0 }, color, outline)
}

#[inline(always)]
fn submit_ellipse(
    engine: &mut Engine,
    target: DrawTarget,
    center: Position,
    radii: Radii,
    color: Tint,
    outline: Option<Length>,
) -> DrawResult {
    let (Position { x, y, z }, outline) = (center, outline_width(outline));
    let sum = x + y + radii.x + radii.y + outline;
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, sum)?;
    let shape_style = draw.shape_style(color.0, 0.0, outline);
    draw.one(PLAIN, |_| tessellation::ellipse([x, y], [radii.x, radii.y], shape_style))
}

#[inline(always)]
fn submit_gradient_ellipse(
    engine: &mut Engine,
    target: DrawTarget,
    Position { x, y, z }: Position,
    radii: Radii,
    Tint(color): Tint,
    Tint(to_color): Tint,
    GradientAngle(direction): GradientAngle,
) -> DrawResult {
    let sum = x + y + radii.x + radii.y + direction.angle();
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, sum)?;
    let shape_style = draw.shape_style(color, 0.0, 0.0);
    draw.one(PLAIN, |_| {
        let shape = tessellation::ellipse([x, y], [radii.x, radii.y], shape_style);
        shape.with_gradient(to_color, direction)
    })
}

/// Draws a slice of a circle, or a part of a ring if `thickness` is not `None`.
#[inline(always)]
fn submit_arc(
    engine: &mut Engine,
    target: DrawTarget,
    center: Position,
    radius: Length,
    from: f32,
    until: f32,
    color: Tint,
    thickness: Option<Length>,
) -> DrawResult {
    let (Position { x, y, z }, Length(radius)) = (center, radius);
    // A thickness that is not a number is kept here, and refused below.
    let thickness = match thickness {
        Some(Length(thickness)) if thickness <= radius || thickness.is_nan() => thickness,
        _ => radius,
    };
    let sum = x + y + radius + thickness + from + until;
    let mut draw = DrawCall::begin(engine, target, PrimitiveKind::Shape, z, sum)?;
    let shape_style = draw.shape_style(color.0, 0.0, 0.0);
    draw.one(PLAIN, |_| tessellation::arc([x, y], radius, thickness, (from, until), shape_style))
}
