//! Lines through points with joins, caps and dashes, as quads that do not overlap. Knows no Guis:
//! it fills arrays. Lengths are in the Gui's units.
//!
//! The line is a strip: each segment is a quad between two cross-sections, and neighbours share
//! the inner corner of their join. The quads end half a pixel inside the edge, and a fringe fades
//! out to half a pixel outside.

use super::tessellation::hard_triangle;
use engine_frame_packet::gui::{QuadInstance, paint};
use std::f32::consts::PI;

/// Maximum number of lengths in a dash pattern.
pub const DASH_LENGTHS_MAX: usize = 16;
/// Maximum number of dashes of one line.
pub const DASHES_MAX: usize = 1 << 14;
/// Maximum number of triangles of a round join or cap.
const FAN_MAX: usize = 32;

/// The shape of the corners of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineJoin {
    Round,
    /// The edges continue until they meet; a bevel where that is too far away.
    Miter,
    Bevel,
}

/// The shape of the ends of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineCap {
    /// The line ends at its last point.
    Butt,
    Round,
    /// The line ends half its thickness after its last point.
    Square,
}

/// Style of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StrokeStyle {
    pub join: LineJoin,
    pub cap: LineCap,
    /// Length of the longest miter, from the inner to the outer corner, as a multiple of the
    /// thickness.
    pub miter_limit: f32,
    /// Lengths of dashes and gaps in turn, 0 or more; none for a solid line.
    pub dashes: [f32; DASH_LENGTHS_MAX],
    pub dash_count: usize,
    /// Distance into the pattern at the first point.
    pub dash_offset: f32,
}

impl StrokeStyle {
    /// A solid line with round joins and caps.
    pub const DEFAULT: StrokeStyle = StrokeStyle {
        join: LineJoin::Round,
        cap: LineCap::Round,
        miter_limit: 4.0,
        dashes: [0.0; DASH_LENGTHS_MAX],
        dash_count: 0,
        dash_offset: 0.0,
    };
}

type Point = [f32; 2];

fn add(a: Point, b: Point, by: f32) -> Point {
    [a[0] + b[0] * by, a[1] + b[1] * by]
}

fn dot(a: Point, b: Point) -> f32 {
    a[0] * b[0] + a[1] * b[1]
}

/// Returns the direction from one point to another, and their distance.
fn direction(a: Point, b: Point) -> (Point, f32) {
    let (x, y) = (b[0] - a[0], b[1] - a[1]);
    let length = x.hypot(y);
    ([x / length, y / length], length)
}

/// Builds a line through points. `pixel` is the width of a pixel; if it is 0, the edges are hard.
///
/// # Errors
/// Returns an error if the pattern gives too many dashes.
pub fn stroke(
    points: &[Point],
    closed: bool,
    thickness: f32,
    (style, color, pixel): (&StrokeStyle, [u8; 4], f32),
    into: &mut Vec<QuadInstance>,
) -> Result<(), String> {
    let mut points = points.to_vec();
    points.dedup();
    if closed && points.len() > 2 && points[0] == points[points.len() - 1] {
        points.pop();
    }
    let closed = closed && points.len() > 2;
    let half = thickness / 2.0;
    let (inner, outer) = ((half - pixel / 2.0).max(0.0), half + pixel / 2.0);
    // A line thinner than a pixel covers a part of it.
    let full = if pixel > 0.0 { (thickness / outer).min(1.0) } else { 1.0 };
    let mut stroker = Stroker { style, color, pixel, half, inner, outer, full, into };
    if thickness <= 0.0 {
        return Ok(());
    }
    if style.dash_count == 0 {
        stroker.run(&points, closed);
        return Ok(());
    }
    if closed {
        points.push(points[0]);
    }
    stroker.dashes(&points)
}

/// The corners of a line at a cross-section: at the inside and the outside of its smooth edges.
#[derive(Clone, Copy)]
struct CrossSection {
    left: [Point; 2],
    right: [Point; 2],
}

struct Stroker<'a> {
    style: &'a StrokeStyle,
    color: [u8; 4],
    pixel: f32,
    half: f32,
    /// Half the thickness, half a pixel less and more.
    inner: f32,
    outer: f32,
    /// Coverage of the interior.
    full: f32,
    into: &'a mut Vec<QuadInstance>,
}

impl Stroker<'_> {
    /// Cuts a line into dashes.
    fn dashes(&mut self, points: &[Point]) -> Result<(), String> {
        let pattern = &self.style.dashes[..self.style.dash_count];
        let total: f32 = points.windows(2).map(|ends| direction(ends[0], ends[1]).1).sum();
        let mut period: f32 = pattern.iter().sum();
        if pattern.len() % 2 == 1 {
            period *= 2.0;
        }
        let dashes = total / period * pattern.len() as f32;
        if dashes.is_nan() || dashes >= DASHES_MAX as f32 {
            return Err(format!(
                "this line has more than {DASHES_MAX} dashes (DASHES_MAX): use longer ones"
            ));
        }
        let offset = self.style.dash_offset.rem_euclid(period);
        let (mut index, mut left) = (0, offset);
        while left > 0.0 && left >= pattern[index % pattern.len()] {
            left -= pattern[index % pattern.len()];
            index += 1;
        }
        let mut rest = pattern[index % pattern.len()] - left;
        let mut run: Vec<Point> = Vec::new();
        if index % 2 == 0 {
            run.push(points[0]);
        }
        for ends in points.windows(2) {
            let (along, length) = direction(ends[0], ends[1]);
            let mut at = 0.0;
            while length - at > rest {
                at += rest;
                let point = add(ends[0], along, at);
                if index % 2 == 0 {
                    run.push(point);
                    self.run(&run, false);
                    run.clear();
                } else {
                    run.push(point);
                }
                index += 1;
                rest = pattern[index % pattern.len()];
            }
            rest -= length - at;
            if index % 2 == 0 {
                run.push(ends[1]);
            }
        }
        self.run(&run, false);
        Ok(())
    }

    /// Builds a line without dashes.
    fn run(&mut self, points: &[Point], closed: bool) {
        let mut points = points.to_vec();
        points.dedup();
        let count = points.len();
        if count < 2 {
            if let Some(point) = points.first() {
                self.dot(*point);
            }
            return;
        }
        let segments = if closed { count } else { count - 1 };
        let of = |i: usize| direction(points[i % count], points[(i + 1) % count]);
        let mut start = match closed {
            true => self.join(points[0], of(count - 1), of(0)).1,
            false => self.cap(points[0], of(0).0, of(0).1, -1.0),
        };
        for i in 0..segments {
            let (along, length) = of(i);
            let at = points[(i + 1) % count];
            let is_last = i + 1 == segments;
            let (end, next) = match is_last {
                false => self.join(at, (along, length), of(i + 1)),
                // The join of the first point was built at the beginning.
                true if closed => (self.sections(at, (along, length), of(0)).0, start),
                true => (self.cap(at, along, length, 1.0), start),
            };
            self.segment(start, end);
            start = next;
        }
    }

    /// Builds the line of a single point.
    fn dot(&mut self, at: Point) {
        let along = [1.0, 0.0];
        let (half, pixel) = (self.half, self.pixel);
        match self.style.cap {
            LineCap::Butt => {}
            LineCap::Round => {
                self.cap(at, along, f32::MAX, -1.0);
                self.cap(at, along, f32::MAX, 1.0);
            }
            LineCap::Square => {
                let start = self.cap(at, along, half + pixel, -1.0);
                let end = self.cap(at, along, half + pixel, 1.0);
                self.segment(start, end);
            }
        }
    }

    /// Returns a cross-section at a point, at an angle to the line. `left` and `right` are its
    /// offsets for a line of half the thickness 1.
    fn section(&self, at: Point, left: Point, right: Point) -> CrossSection {
        let ends = |side: Point| [add(at, side, self.inner), add(at, side, self.outer)];
        CrossSection { left: ends(left), right: ends(right) }
    }

    /// Returns the cross-sections at a join, of the segment before it and of the segment after it,
    /// and the offsets of the outer side from which the sections begin: `None` if they are equal.
    fn sections(
        &self,
        at: Point,
        (before, length_before): (Point, f32),
        (after, length_after): (Point, f32),
    ) -> (CrossSection, CrossSection, Option<Corner>) {
        let (n0, n1) = ([-before[1], before[0]], [-after[1], after[0]]);
        let turn = before[0] * after[1] - before[1] * after[0];
        let cosine = dot(before, after);
        let side = if turn > 0.0 { -1.0 } else { 1.0 };
        // Both edges meet at this offset; its length is 1 / cos(half the angle).
        let widened = (1.0 + cosine).max(1e-4);
        let miter = [(n0[0] + n1[0]) / widened, (n0[1] + n1[1]) / widened];
        let reach = dot(miter, miter).max(1.0).sqrt();
        // The inner corner lies within both segments.
        let along = (reach * reach - 1.0).max(0.0).sqrt() * self.outer;
        let fit = (length_before.min(length_after) / along.max(1e-6)).min(1.0);
        let is_straight = turn.abs() < 1e-4 && cosine > 0.0;
        // The line turns back on itself: its edges do not meet.
        let is_back = cosine < -0.9999;
        let inner = match is_back {
            true => [0.0; 2],
            false => [-side * miter[0] * fit, -side * miter[1] * fit],
        };
        let is_miter =
            self.style.join == LineJoin::Miter && reach <= self.style.miter_limit && !is_back;
        let outer = |normal: Point| match is_straight || is_miter {
            true => [side * miter[0], side * miter[1]],
            false => [side * normal[0], side * normal[1]],
        };
        let (v0, v1) = (outer(n0), outer(n1));
        let of = |outer: Point| match side > 0.0 {
            true => self.section(at, outer, inner),
            false => self.section(at, inner, outer),
        };
        let angle = if is_back { -side * PI } else { turn.atan2(cosine) };
        let corner = Corner { at, inner, from: v0, to: v1, angle };
        (of(v0), of(v1), (!is_straight && !is_miter).then_some(corner))
    }

    /// Builds a join. Returns the cross-sections of the segments before and after it.
    fn join(
        &mut self,
        at: Point,
        before: (Point, f32),
        after: (Point, f32),
    ) -> (CrossSection, CrossSection) {
        let (arriving, leaving, corner) = self.sections(at, before, after);
        if let Some(corner) = corner {
            let steps = match self.style.join {
                LineJoin::Round => self.fan_steps(corner.angle.abs()),
                LineJoin::Miter | LineJoin::Bevel => 1,
            };
            let pivot = add(at, corner.inner, self.inner);
            self.fan(corner, pivot, steps);
        }
        (arriving, leaving)
    }

    /// Builds the cap of an end of a segment: `sign` is 1 at its end and -1 at its start. Returns
    /// the cross-section of the segment there.
    fn cap(&mut self, at: Point, along: Point, length: f32, sign: f32) -> CrossSection {
        let normal = [-along[1], along[0]];
        let opposite = [along[1], -along[0]];
        let outward = [along[0] * sign, along[1] * sign];
        if self.style.cap == LineCap::Round {
            // Half a circle, from one side over the end to the other.
            let (from, to) = if sign > 0.0 { (opposite, normal) } else { (normal, opposite) };
            let steps = self.fan_steps(PI);
            self.fan(Corner { at, inner: [0.0; 2], from, to, angle: PI }, at, steps);
            return self.section(at, normal, opposite);
        }
        let beyond = if self.style.cap == LineCap::Square { self.half } else { 0.0 };
        let smooth = (self.pixel / 2.0).min(length / 2.0 + beyond);
        let (near, far) = (add(at, outward, beyond - smooth), add(at, outward, beyond + smooth));
        let ends = |side: Point| [add(near, side, self.inner), add(far, side, self.outer)];
        let section = CrossSection { left: ends(normal), right: ends(opposite) };
        let (first, second) =
            if sign > 0.0 { (section.right, section.left) } else { (section.left, section.right) };
        self.fringe([first[0], second[0], second[1], first[1]]);
        section
    }

    /// Returns the number of triangles of an arc around a corner.
    fn fan_steps(&self, angle: f32) -> usize {
        // The arc is a quarter of a pixel away from the circle at most.
        let pixel = if self.pixel > 0.0 { self.pixel } else { self.half / 64.0 };
        let step = 2.0 * (1.0 - (pixel / 4.0 / self.outer).min(1.0)).acos();
        ((angle / step.max(1e-3)).ceil() as usize).clamp(1, FAN_MAX)
    }

    /// Builds the outer side of a join or cap: triangles around a pivot, and their fringe.
    fn fan(&mut self, corner: Corner, pivot: Point, steps: usize) {
        let Corner { at, from, to, angle, .. } = corner;
        let mut before = from;
        for i in 1..=steps {
            let next = if i == steps {
                to
            } else {
                let (sin, cos) = (angle * i as f32 / steps as f32).sin_cos();
                [from[0] * cos - from[1] * sin, from[0] * sin + from[1] * cos]
            };
            let [a, b] =
                [before, next].map(|side| [add(at, side, self.inner), add(at, side, self.outer)]);
            if self.inner > 0.0 {
                self.into.push(hard_triangle([pivot, a[0], b[0]], self.color));
            }
            self.fringe([a[0], b[0], b[1], a[1]]);
            before = next;
        }
    }

    /// Builds a segment between two cross-sections.
    fn segment(&mut self, start: CrossSection, end: CrossSection) {
        if self.inner > 0.0 {
            self.quad([start.right[0], end.right[0], end.left[0], start.left[0]]);
        }
        self.fringe([start.left[0], end.left[0], end.left[1], start.left[1]]);
        self.fringe([start.right[0], end.right[0], end.right[1], start.right[1]]);
    }

    fn quad(&mut self, [a, b, c, d]: [Point; 4]) {
        let plain = hard_triangle([a, b, c], self.color);
        let corners = [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]];
        self.into.push(QuadInstance { corners, ..plain });
    }

    /// Builds a quad that fades from its first two corners to the others.
    fn fringe(&mut self, [a, b, c, d]: [Point; 4]) {
        if self.pixel <= 0.0 {
            return;
        }
        let plain = hard_triangle([a, b, c], self.color);
        self.into.push(QuadInstance {
            corners: [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]],
            paint: QuadInstance::paint(paint::FRINGE, 0, 0),
            extra: [self.full, 0.0],
            ..plain
        });
    }
}

/// The outer side of a join or cap. Offsets are those of a line of half the thickness 1.
#[derive(Clone, Copy)]
struct Corner {
    at: Point,
    /// Offset of the opposite side.
    inner: Point,
    /// Offsets between which it lies, and the angle from one to the other, counterclockwise.
    from: Point,
    to: Point,
    angle: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(points: &[Point], closed: bool, style: StrokeStyle) -> Vec<QuadInstance> {
        let mut into = Vec::new();
        stroke(points, closed, 4.0, (&style, [255; 4], 0.0), &mut into).unwrap();
        into
    }

    /// Returns the area that is covered, which is right only if nothing overlaps.
    fn area(quads: &[QuadInstance]) -> f32 {
        let of = |it: &QuadInstance| {
            let c = it.corners;
            let cross = |i: usize, j: usize| c[2 * i] * c[2 * j + 1] - c[2 * j] * c[2 * i + 1];
            (cross(0, 1) + cross(1, 2) + cross(2, 3) + cross(3, 0)).abs() / 2.0
        };
        quads.iter().map(of).sum()
    }

    fn style(join: LineJoin, cap: LineCap) -> StrokeStyle {
        StrokeStyle { join, cap, ..StrokeStyle::DEFAULT }
    }

    const CORNER: [Point; 3] = [[0.0, 0.0], [20.0, 0.0], [20.0, 20.0]];

    #[test]
    fn a_corner_covers_exactly_the_area_of_its_join() {
        let check = |join, cap, wanted: f32| {
            for points in [CORNER, [CORNER[2], CORNER[1], CORNER[0]]] {
                let found = area(&build(&points, false, style(join, cap)));
                assert!((found - wanted).abs() < 0.1, "{join:?} {cap:?}: {found}, not {wanted}");
            }
        };
        // Two segments of 20 x 4 share a square of 2 x 2 at the inner side of the corner.
        check(LineJoin::Bevel, LineCap::Butt, 160.0 - 4.0 + 2.0);
        check(LineJoin::Miter, LineCap::Butt, 160.0 - 4.0 + 4.0);
        check(LineJoin::Round, LineCap::Butt, 160.0 - 4.0 + PI);
        check(LineJoin::Miter, LineCap::Square, 160.0 + 16.0);
        check(LineJoin::Miter, LineCap::Round, 160.0 + 4.0 * PI);
    }

    #[test]
    fn a_closed_line_has_no_caps() {
        let square = [[0.0, 0.0], [20.0, 0.0], [20.0, 20.0], [0.0, 20.0]];
        for join in [LineJoin::Miter, LineJoin::Bevel] {
            let found = area(&build(&square, true, style(join, LineCap::Square)));
            let corners = if join == LineJoin::Miter { 0.0 } else { 4.0 * 2.0 };
            let wanted = 24.0 * 24.0 - 16.0 * 16.0 - corners;
            assert!((found - wanted).abs() < 0.1, "{join:?}: {found}, not {wanted}");
        }
    }

    #[test]
    fn a_sharp_miter_becomes_a_bevel() {
        let sharp = [[0.0, 0.0], [20.0, 0.0], [0.0, 1.0]];
        let count = |limit| {
            let sharp_style =
                StrokeStyle { miter_limit: limit, ..style(LineJoin::Miter, LineCap::Butt) };
            build(&sharp, false, sharp_style).len()
        };
        assert_eq!((count(4.0), count(100.0)), (3, 2));
    }

    #[test]
    fn dashes_follow_the_line_around_corners() {
        let mut dashed = style(LineJoin::Miter, LineCap::Butt);
        (dashed.dashes[0], dashed.dashes[1], dashed.dash_count) = (6.0, 4.0, 2);
        let straight = [[0.0, 0.0], [40.0, 0.0]];
        assert!((area(&build(&straight, false, dashed)) - 4.0 * 24.0).abs() < 0.01);
        // 18 to 24 of the second pattern is around the corner, at 20.
        dashed.dash_offset = 2.0;
        let quads = build(&CORNER, false, dashed);
        assert!((area(&quads) - 4.0 * 24.0).abs() < 0.1, "{}", area(&quads));
        dashed.dash_offset = -8.0;
        assert_eq!(build(&CORNER, false, dashed).len(), quads.len());
        // A pattern of one length has gaps as long as its dashes.
        (dashed.dash_count, dashed.dash_offset) = (1, 0.0);
        assert!((area(&build(&straight, false, dashed)) - 4.0 * 22.0).abs() < 0.01);
    }

    #[test]
    fn too_many_dashes_are_refused() {
        let mut dashed = StrokeStyle::DEFAULT;
        (dashed.dashes[0], dashed.dash_count) = (1e-3, 1);
        let mut into = Vec::new();
        let far = [[0.0, 0.0], [1e4, 0.0]];
        let refused = stroke(&far, false, 1.0, (&dashed, [255; 4], 1.0), &mut into);
        assert!(refused.unwrap_err().contains("DASHES_MAX"));
    }

    #[test]
    fn equal_points_are_a_dot() {
        let same = [[3.0, 3.0]; 3];
        let check = |cap, wanted: f32| {
            let found = area(&build(&same, false, style(LineJoin::Round, cap)));
            assert!((found - wanted).abs() < 0.1, "{cap:?}: {found}, not {wanted}");
        };
        check(LineCap::Butt, 0.0);
        check(LineCap::Square, 16.0);
        check(LineCap::Round, 4.0 * PI);
    }

    #[test]
    fn every_number_is_finite() {
        let wild = [[0.0, 0.0], [10.0, 0.0], [0.0, 0.0], [1e-6, 0.0], [1e-6, 1e-6], [-5.0, 3.0]];
        for join in [LineJoin::Round, LineJoin::Miter, LineJoin::Bevel] {
            for (cap, closed) in [(LineCap::Round, true), (LineCap::Square, false)] {
                for pixel in [0.0, 1.0, 50.0] {
                    let mut into = Vec::new();
                    let drawn = (&style(join, cap), [255; 4], pixel);
                    stroke(&wild, closed, 4.0, drawn, &mut into).unwrap();
                    assert!(into.iter().flat_map(|it| it.corners).all(f32::is_finite));
                }
            }
        }
    }
}
