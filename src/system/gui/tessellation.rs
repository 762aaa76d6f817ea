//! Shapes as quads: boxes, lines, circles, arcs, polygons, nine-patches. Knows no Guis: it fills
//! arrays. Lengths are in the Gui's units. Angles are in radians, counterclockwise from the right.

use super::TextureSource;
use super::triangulation::{POINT_TESTS_MAX, doubled_area, keeps_edges, shifted, triangles};
use engine_frame_packet::gui::{QuadInstance, paint};

/// Maximum number of points of a polygon or polyline.
pub const POINTS_MAX: usize = 4096;

/// Margin of quads around smooth shapes on the screen, in logical pixels.
pub const EDGE_MARGIN: f32 = 1.0;

/// Converts left, bottom, right and top to corners.
#[inline(always)]
pub fn corners([left, bottom, right, top]: [f32; 4]) -> [f32; 8] {
    [left, bottom, right, bottom, right, top, left, top]
}

/// Builds a rectangle filled with a source, from its bottom left.
#[inline(always)]
pub fn quad(rect: [f32; 4], source: &TextureSource, color: [u8; 4]) -> QuadInstance {
    let (uv, paint) = (source.uv, source.paint);
    QuadInstance { corners: corners(rect), uv, color, paint, extra: [0.0; 2] }
}

/// Builds a triangle in one color, with smooth edges.
pub fn triangle(corners: [[f32; 2]; 3], color: [u8; 4], reach: f32) -> QuadInstance {
    let area = doubled_area(corners[0], corners[1], corners[2]);
    let length = |i: usize| {
        let (from, to) = (corners[i], corners[(i + 1) % 3]);
        (to[0] - from[0]).hypot(to[1] - from[1])
    };
    // The quad lies along the longest side, which minimizes its area for slivers.
    let longest = (1..3).fold(0, |best, i| if length(i) > length(best) { i } else { best });
    let (a, long) = (corners[longest], length(longest));
    let b = corners[(longest + 1) % 3];
    let high = area.abs() / long;
    if !(high.is_normal() && long.is_normal()) {
        return hard_triangle(corners, color);
    }
    let along = [(b[0] - a[0]) / long, (b[1] - a[1]) / long];
    let side = area.signum();
    let across = [-along[1] * side, along[0] * side];
    let at =
        |x: f32, y: f32| [a[0] + along[0] * x + across[0] * y, a[1] + along[1] * x + across[1] * y];
    let (left, right, low, top) = (-reach, long + reach, -reach, high + reach);
    let [p, q, r, s] = [at(left, low), at(right, low), at(right, top), at(left, top)];
    // Barycentric weights of the second and the third corner at a point.
    let near = |p: [f32; 2]| {
        let [first, second, third] = corners;
        [doubled_area(p, third, first) / area, doubled_area(p, first, second) / area]
    };
    let [[p2, p3], [q2, q3], extra] = [near(p), near(q), near(s)];
    QuadInstance {
        corners: [p[0], p[1], q[0], q[1], r[0], r[1], s[0], s[1]],
        uv: [p2, p3, q2, q3],
        color,
        paint: QuadInstance::paint(paint::TRIANGLE, 0, 0),
        extra,
    }
}

/// Builds a triangle without antialiasing, so that adjacent triangles meet without a gap.
pub(super) fn hard_triangle([a, b, c]: [[f32; 2]; 3], color: [u8; 4]) -> QuadInstance {
    QuadInstance {
        corners: [a[0], a[1], b[0], b[1], c[0], c[1], c[0], c[1]],
        uv: TextureSource::PLAIN.uv,
        color,
        paint: TextureSource::PLAIN.paint,
        extra: [0.0; 2],
    }
}

/// Style of a box, ellipse, line or arc.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShapeStyle {
    pub color: [u8; 4],
    /// Radius of a box's corners.
    pub radius: f32,
    /// Width of the outline, inside the edge; 0 for a filled shape.
    pub outline: f32,
    /// Margin of the quad beyond the edge.
    pub reach: f32,
}

/// Builds a box (left, bottom, right, top), optionally rounded or outlined.
pub fn box_quad([left, bottom, right, top]: [f32; 4], look: ShapeStyle) -> QuadInstance {
    let half = [(right - left) / 2.0, (top - bottom) / 2.0];
    let reach = look.reach;
    QuadInstance {
        corners: corners([left - reach, bottom - reach, right + reach, top + reach]),
        uv: [half[0], half[1], look.radius.min(half[0]).min(half[1]).max(0.0), look.outline],
        color: look.color,
        paint: QuadInstance::paint(paint::BOX, 0, 0),
        extra: [reach, 0.0],
    }
}

/// Builds a straight line with square or round ends.
pub fn line(
    from: [f32; 2],
    to: [f32; 2],
    thickness: f32,
    round: bool,
    look: ShapeStyle,
) -> QuadInstance {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy);
    let along = if length > 0.0 { [dx / length, dy / length] } else { [1.0, 0.0] };
    let half = thickness / 2.0;
    let ends = if round { half } else { 0.0 };
    let middle = [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0];
    let sides = [length / 2.0 + ends, half];
    let corner = |x: f32, y: f32| {
        let (x, y) = (x * (sides[0] + look.reach), y * (sides[1] + look.reach));
        [middle[0] + along[0] * x - along[1] * y, middle[1] + along[1] * x + along[0] * y]
    };
    let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    QuadInstance {
        corners: [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]],
        uv: [sides[0], sides[1], if round { half } else { 0.0 }, 0.0],
        color: look.color,
        paint: QuadInstance::paint(paint::BOX, 0, 0),
        extra: [look.reach, 0.0],
    }
}

/// Builds a polyline with round joins.
pub fn polyline(
    points: &[[f32; 2]],
    closed: bool,
    thickness: f32,
    look: ShapeStyle,
    into: &mut Vec<QuadInstance>,
) {
    let ends = points.iter().skip(1).chain(closed.then_some(&points[0]));
    into.extend(points.iter().zip(ends).map(|(a, b)| line(*a, *b, thickness, true, look)));
}

/// Builds an ellipse, filled or outlined.
pub fn ellipse(center: [f32; 2], radii: [f32; 2], look: ShapeStyle) -> QuadInstance {
    let reach = [radii[0] + look.reach, radii[1] + look.reach];
    let rect =
        [center[0] - reach[0], center[1] - reach[1], center[0] + reach[0], center[1] + reach[1]];
    QuadInstance {
        corners: corners(rect),
        uv: [radii[0], radii[1], 0.0, look.outline],
        color: look.color,
        paint: QuadInstance::paint(paint::ELLIPSE, 0, 0),
        extra: [look.reach, 0.0],
    }
}

/// Builds a part of a ring between two angles. It is filled to the center if `thickness` is the
/// radius.
pub fn arc(
    center: [f32; 2],
    radius: f32,
    thickness: f32,
    (from, to): (f32, f32),
    look: ShapeStyle,
) -> QuadInstance {
    let reach = radius + look.reach;
    let rect = [center[0] - reach, center[1] - reach, center[0] + reach, center[1] + reach];
    let half = thickness / 2.0;
    let span = (to - from).abs().min(std::f32::consts::TAU);
    QuadInstance {
        corners: corners(rect),
        uv: [radius - half, half, from.min(to) + span / 2.0, span / 2.0],
        color: look.color,
        paint: QuadInstance::paint(paint::ARC, 0, 0),
        extra: [look.reach, 0.0],
    }
}

/// Triangulates the interior of a polygon.
///
/// # Errors
/// Returns an error under the conditions of [`triangles`].
fn triangulate(
    points: &[[f32; 2]],
    color: [u8; 4],
    into: &mut Vec<QuadInstance>,
) -> Result<(), String> {
    let each = triangles(points, POINT_TESTS_MAX)?;
    into.extend(each.iter().map(|corners| hard_triangle(corners.map(|i| points[i]), color)));
    Ok(())
}

/// Builds a polygon with antialiased edges; `pixel` is the width of a pixel. If `pixel` is 0, the
/// edges are hard. The edges must not cross.
///
/// The interior ends half a pixel inside the edge, and a fringe fades out to half a pixel outside.
/// Interior and fringe share corners, so that every pixel is painted exactly once.
///
/// # Errors
/// Returns an error under the conditions of [`triangles`].
pub fn polygon(
    points: &[[f32; 2]],
    color: [u8; 4],
    pixel: f32,
    into: &mut Vec<QuadInstance>,
) -> Result<(), String> {
    let mut points: Vec<[f32; 2]> = points.to_vec();
    points.dedup();
    if points.len() > 1 && points[0] == points[points.len() - 1] {
        points.pop();
    }
    if pixel <= 0.0 || points.len() < 3 {
        return triangulate(&points, color, into);
    }
    let (inner, outer) = shifted(&points, pixel / 2.0);
    let count = points.len();
    let first = into.len();
    // A polygon thinner than a pixel has no such interior; its edges then fade only outside.
    let fits = keeps_edges(&points, &inner) && triangulate(&inner, color, into).is_ok();
    if !fits {
        into.truncate(first);
        triangulate(&points, color, into)?;
    }
    let (inner, full) = if fits { (&inner, 1.0) } else { (&points, 0.5) };
    for i in 0..count {
        let next = (i + 1) % count;
        let [a, b, c, d] = [inner[i], inner[next], outer[next], outer[i]];
        into.push(QuadInstance {
            corners: [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]],
            uv: TextureSource::PLAIN.uv,
            color,
            paint: QuadInstance::paint(paint::FRINGE, 0, 0),
            extra: [full, 0.0],
        });
    }
    Ok(())
}

/// Builds an image whose borders keep their size while its center is stretched. `borders` are left,
/// bottom, right and top, in texels of the source; they shrink together if the rectangle is too
/// small. A rectangle whose right is left of its left, or whose top is below its bottom, mirrors
/// the image.
pub fn nine_patch(
    rect: [f32; 4],
    borders: [f32; 4],
    source: &TextureSource,
    color: [u8; 4],
    into: &mut Vec<QuadInstance>,
) {
    let [left, bottom, right, top] = rect;
    let (flips_x, flips_y) = (right < left, top < bottom);
    let straight = [left.min(right), bottom.min(top), left.max(right), bottom.max(top)];
    let first = into.len();
    upright_patch(straight, borders, source, color, into);
    for corners in into[first..].iter_mut().map(|instance| &mut instance.corners) {
        for (i, at) in corners.iter_mut().enumerate() {
            match i % 2 {
                0 if flips_x => *at = left + right - *at,
                1 if flips_y => *at = bottom + top - *at,
                _ => {}
            }
        }
    }
}

fn upright_patch(
    [left, bottom, right, top]: [f32; 4],
    borders: [f32; 4],
    source: &TextureSource,
    color: [u8; 4],
    into: &mut Vec<QuadInstance>,
) {
    let fit = |size: f32, both: f32| if both > size { size / both } else { 1.0 };
    let scale =
        fit(right - left, borders[0] + borders[2]).min(fit(top - bottom, borders[1] + borders[3]));
    let xs = [left, left + borders[0] * scale, right - borders[2] * scale, right];
    let ys = [bottom, bottom + borders[1] * scale, top - borders[3] * scale, top];
    let us = [0.0, borders[0] / source.size[0], 1.0 - borders[2] / source.size[0], 1.0];
    let vs = [1.0, 1.0 - borders[1] / source.size[1], borders[3] / source.size[1], 0.0];
    for (i, j) in (0..3).flat_map(|j| (0..3).map(move |i| (i, j))) {
        let rect = [xs[i], ys[j], xs[i + 1], ys[j + 1]];
        if rect[0] < rect[2] && rect[1] < rect[3] {
            let uv = source.part([us[i], vs[j + 1]], [us[i + 1], vs[j]]);
            into.push(QuadInstance { uv, ..quad(rect, source, color) });
        }
    }
}
