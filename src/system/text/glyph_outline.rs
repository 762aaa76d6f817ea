//! Glyph outlines as line segments: curves are flattened, overlapping contours are merged, and
//! every segment knows which of its sides is inside. The resulting segments are the boundary of the
//! glyph, with the inside on their left. Knows nothing of distance fields.

use engine_foundation::Vec2;
use skrifa::outline::OutlinePen;

/// Maximum number of curves and lines of one glyph. A damaged font could ask for any number.
pub const CURVES_MAX: usize = 8192;
/// Maximum number of segments that the curves are flattened into.
const PIECES_MAX: usize = 65_536;
/// Maximum distance between a segment and its curve, in texels.
const FLATNESS: f32 = 0.03;
/// Sine of the angle above which two segments meet in a corner: about eight degrees.
const CORNER_SINE: f32 = 0.14;
/// Distance from a segment at which its two sides are tested, in texels.
const SIDE_OFFSET: f32 = 0.01;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OutlineCurve {
    Line(Vec2, Vec2),
    Quadratic(Vec2, Vec2, Vec2),
    Cubic(Vec2, Vec2, Vec2, Vec2),
}

impl OutlineCurve {
    fn start(&self) -> Vec2 {
        match *self {
            OutlineCurve::Line(a, _)
            | OutlineCurve::Quadratic(a, ..)
            | OutlineCurve::Cubic(a, ..) => a,
        }
    }

    fn end(&self) -> Vec2 {
        match *self {
            OutlineCurve::Line(_, b)
            | OutlineCurve::Quadratic(_, _, b)
            | OutlineCurve::Cubic(.., b) => b,
        }
    }

    /// Returns the directions at the start and at the end. If two points coincide, the next point
    /// is used.
    fn directions(&self) -> (Vec2, Vec2) {
        let points: &[Vec2] = match self {
            OutlineCurve::Line(a, b) => &[*a, *b],
            OutlineCurve::Quadratic(a, b, c) => &[*a, *b, *c],
            OutlineCurve::Cubic(a, b, c, d) => &[*a, *b, *c, *d],
        };
        let (first, last) = (points[0], points[points.len() - 1]);
        let ahead = points.iter().map(|p| *p - first).find(|d| d.length_squared() > 1e-12);
        let behind = points.iter().rev().map(|p| last - *p).find(|d| d.length_squared() > 1e-12);
        let unit = |d: Option<Vec2>| d.unwrap_or(Vec2::X).normalize_or(Vec2::X);
        (unit(ahead), unit(behind))
    }

    /// Flattens the curve into segments and adds the points after its start.
    fn flatten(&self, out: &mut Vec<Vec2>) {
        let count = |bend: f32| (bend / FLATNESS).sqrt().ceil().clamp(1.0, 64.0) as u32;
        match *self {
            OutlineCurve::Line(_, b) => out.push(b),
            OutlineCurve::Quadratic(a, b, c) => {
                let n = count((a - 2.0 * b + c).length() / 4.0);
                out.extend((1..=n).map(|i| {
                    let t = i as f32 / n as f32;
                    let s = 1.0 - t;
                    a * (s * s) + b * (2.0 * s * t) + c * (t * t)
                }));
            }
            OutlineCurve::Cubic(a, b, c, d) => {
                let bend = (a - 2.0 * b + c).length().max((b - 2.0 * c + d).length());
                let n = count(bend * 0.75);
                out.extend((1..=n).map(|i| {
                    let t = i as f32 / n as f32;
                    let s = 1.0 - t;
                    a * (s * s * s)
                        + b * (3.0 * s * s * t)
                        + c * (3.0 * s * t * t)
                        + d * (t * t * t)
                }));
            }
        }
    }
}

/// The closed contours of a glyph, in font units or in the units they were scaled to.
#[derive(Clone, Default, Debug)]
pub struct GlyphOutline {
    pub contours: Vec<Vec<OutlineCurve>>,
    start: Vec2,
    pen: Vec2,
    curves: usize,
}

impl GlyphOutline {
    /// Returns true if the outline has more than [`CURVES_MAX`] curves and lines. It is truncated
    /// in that case.
    pub fn is_too_long(&self) -> bool {
        self.curves > CURVES_MAX
    }

    /// Returns a rectangular frame with lines of thickness `line`. It represents a character that
    /// no font has.
    pub fn frame(width: f32, height: f32, line: f32) -> GlyphOutline {
        let mut outline = GlyphOutline::default();
        let inner = [(line, line), (width - line, height - line)];
        outline.corners(&[(0.0, 0.0), (0.0, height), (width, height), (width, 0.0)]);
        let [(l, b), (r, t)] = inner;
        outline.corners(&[(l, b), (r, b), (r, t), (l, t)]);
        outline
    }

    fn corners(&mut self, corners: &[(f32, f32)]) {
        self.move_to(corners[0].0, corners[0].1);
        for (x, y) in &corners[1..] {
            self.line_to(*x, *y);
        }
        self.close();
    }

    fn add(&mut self, curve: OutlineCurve) {
        self.pen = curve.end();
        self.curves += 1;
        if !self.is_too_long()
            && let Some(contour) = self.contours.last_mut()
        {
            contour.push(curve);
        }
    }

    /// Returns the left, bottom, right and top of all points, or `None` if nothing is drawn.
    pub fn bounds(&self) -> Option<[f32; 4]> {
        let mut points = Vec::new();
        let mut bounds: Option<[f32; 4]> = None;
        for curve in self.contours.iter().flatten() {
            points.clear();
            points.push(curve.start());
            curve.flatten(&mut points);
            for p in &points {
                let [l, b, r, t] = bounds.unwrap_or([p.x, p.y, p.x, p.y]);
                bounds = Some([l.min(p.x), b.min(p.y), r.max(p.x), t.max(p.y)]);
            }
        }
        bounds.filter(|[l, b, r, t]| r > l && t > b && (r - l).is_finite() && (t - b).is_finite())
    }

    /// Returns the outline with every coordinate multiplied by `scale`.
    pub fn scaled(mut self, scale: f32) -> GlyphOutline {
        for curve in self.contours.iter_mut().flatten() {
            *curve = match *curve {
                OutlineCurve::Line(a, b) => OutlineCurve::Line(a * scale, b * scale),
                OutlineCurve::Quadratic(a, b, c) => {
                    OutlineCurve::Quadratic(a * scale, b * scale, c * scale)
                }
                OutlineCurve::Cubic(a, b, c, d) => {
                    OutlineCurve::Cubic(a * scale, b * scale, c * scale, d * scale)
                }
            };
        }
        self
    }
}

impl OutlinePen for GlyphOutline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.close();
        self.start = Vec2::new(x, y);
        self.pen = self.start;
        if !self.is_too_long() {
            self.contours.push(Vec::new());
        }
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.add(OutlineCurve::Line(self.pen, Vec2::new(x, y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.add(OutlineCurve::Quadratic(self.pen, Vec2::new(x1, y1), Vec2::new(x, y)));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (b, c) = (Vec2::new(x1, y1), Vec2::new(x2, y2));
        self.add(OutlineCurve::Cubic(self.pen, b, c, Vec2::new(x, y)));
    }

    fn close(&mut self) {
        if self.pen != self.start {
            self.add(OutlineCurve::Line(self.pen, self.start));
        }
    }
}

/// A line segment of an outline, with the inside on its left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutlineSegment {
    pub a: Vec2,
    pub b: Vec2,
    /// True if a corner is at its start. `corner_b` is the same for its end.
    pub corner_a: bool,
    pub corner_b: bool,
    /// Number of its contour. Segments of one contour are adjacent.
    pub contour: u32,
}

/// All segments of an outline, in texels.
pub struct OutlineSegments {
    /// The segments on the boundary of the glyph.
    pub boundary: Vec<OutlineSegment>,
    /// All segments of the font's outline. They define the inside by the nonzero winding rule.
    pub all: Vec<OutlineSegment>,
}

/// Flattens an outline into segments, merges overlapping contours and drops segments that lie
/// inside.
pub fn pieces(outline: &GlyphOutline) -> OutlineSegments {
    let mut all = Vec::new();
    for (number, contour) in outline.contours.iter().enumerate() {
        if !contour.is_empty() && all.len() < PIECES_MAX {
            flatten(contour, number as u32, &mut all);
        }
    }
    let crossed = cut_crossings(&mut all);
    let boundary = keep_boundary(&all, crossed);
    OutlineSegments { boundary, all }
}

fn flatten(contour: &[OutlineCurve], number: u32, out: &mut Vec<OutlineSegment>) {
    let first = out.len();
    let mut points = Vec::new();
    let mut before = contour[contour.len() - 1].directions().1;
    for curve in contour {
        let (start, end) = curve.directions();
        let corner = before.dot(start) <= 0.0 || before.perp_dot(start).abs() > CORNER_SINE;
        before = end;
        points.clear();
        curve.flatten(&mut points);
        let mut a = curve.start();
        for (i, b) in points.iter().enumerate() {
            if a.distance_squared(*b) > 1e-10 {
                let corner_a = corner && i == 0;
                out.push(OutlineSegment { a, b: *b, corner_a, corner_b: false, contour: number });
                a = *b;
            }
        }
    }
    join_corners(&mut out[first..]);
}

/// Copies the corner at each segment's start to the end of the preceding segment.
fn join_corners(contour: &mut [OutlineSegment]) {
    for i in 0..contour.len() {
        let next = contour[(i + 1) % contour.len()].corner_a;
        contour[i].corner_b = next;
    }
}

/// Splits segments where they cross others. Returns true if any cross.
fn cut_crossings(all: &mut Vec<OutlineSegment>) -> bool {
    let mut order: Vec<usize> = (0..all.len()).collect();
    let low = |piece: &OutlineSegment| piece.a.y.min(piece.b.y);
    order.sort_by(|i, j| low(&all[*i]).total_cmp(&low(&all[*j])));
    let mut cuts: Vec<(usize, f32)> = Vec::new();
    for (k, i) in order.iter().enumerate() {
        let (p, top) = (&all[*i], all[*i].a.y.max(all[*i].b.y));
        let (left, right) = (p.a.x.min(p.b.x), p.a.x.max(p.b.x));
        for j in &order[k + 1..] {
            let q = &all[*j];
            if low(q) > top {
                break;
            }
            if q.a.x.max(q.b.x) < left || q.a.x.min(q.b.x) > right {
                continue;
            }
            if let Some((s, t)) = crossing(p, q) {
                cuts.extend(is_within(s).then_some((*i, s)));
                cuts.extend(is_within(t).then_some((*j, t)));
            }
        }
        if cuts.len() > PIECES_MAX {
            break;
        }
    }
    if cuts.is_empty() {
        return false;
    }
    cuts.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut cuts = cuts.into_iter().peekable();
    let mut cut = Vec::with_capacity(all.len() * 2);
    for (i, piece) in all.iter().enumerate() {
        let mut rest = *piece;
        while let Some((_, t)) = cuts.next_if(|(of, _)| *of == i) {
            let at = piece.a + (piece.b - piece.a) * t;
            cut.push(OutlineSegment { b: at, corner_b: true, ..rest });
            rest = OutlineSegment { a: at, corner_a: true, ..rest };
        }
        cut.push(rest);
    }
    *all = cut;
    true
}

fn is_within(t: f32) -> bool {
    t > 1e-4 && t < 1.0 - 1e-4
}

/// Returns the crossing of two segments as a fraction of the length of each. Segments that touch at
/// the ends of both do not cross.
fn crossing(p: &OutlineSegment, q: &OutlineSegment) -> Option<(f32, f32)> {
    let (d, e) = (p.b - p.a, q.b - q.a);
    let area = d.perp_dot(e);
    if area.abs() < 1e-9 {
        return None;
    }
    let between = q.a - p.a;
    let (s, t) = (between.perp_dot(e) / area, between.perp_dot(d) / area);
    let ends = -1e-4..=1.0 + 1e-4;
    (ends.contains(&s) && ends.contains(&t) && (is_within(s) || is_within(t))).then_some((s, t))
}

/// Returns the winding number of the outline around a point.
pub fn winding<'a>(all: impl IntoIterator<Item = &'a OutlineSegment>, at: Vec2) -> i32 {
    let mut turns = 0;
    for piece in all {
        let (a, b) = (piece.a, piece.b);
        if (a.y <= at.y) != (b.y <= at.y) {
            let x = a.x + (at.y - a.y) / (b.y - a.y) * (b.x - a.x);
            if x > at.x {
                turns += if b.y > a.y { 1 } else { -1 };
            }
        }
    }
    turns
}

/// Returns the segments that have the inside on exactly one side, turned so that the inside is on
/// their left.
fn keep_boundary(all: &[OutlineSegment], crossed: bool) -> Vec<OutlineSegment> {
    let mut boundary = Vec::with_capacity(all.len());
    for contour in all.chunk_by(|a, b| a.contour == b.contour) {
        let start = boundary.len();
        if crossed {
            let mut turns = false;
            for piece in contour {
                let left = bounding(all, piece);
                turns |= left == Some(false);
                boundary.extend(left.map(|left| oriented(piece, left)));
            }
            if turns {
                boundary[start..].reverse();
            }
            continue;
        }
        // If nothing crosses, all segments of a contour have the same inner side. The longest
        // segment is the most reliable test.
        let length = |piece: &&OutlineSegment| (piece.b - piece.a).length_squared();
        let longest = contour.iter().max_by(|p, q| length(p).total_cmp(&length(q)));
        if let Some(left) = longest.and_then(|piece| bounding(all, piece)) {
            boundary.extend(contour.iter().map(|piece| oriented(piece, left)));
            if !left {
                boundary[start..].reverse();
            }
        }
    }
    boundary
}

/// Returns true if the inside is on the left of a segment, or `None` if both sides are the same.
fn bounding(all: &[OutlineSegment], piece: &OutlineSegment) -> Option<bool> {
    let middle = (piece.a + piece.b) / 2.0;
    let aside = (piece.b - piece.a).perp().normalize_or_zero() * SIDE_OFFSET;
    let left = winding(all, middle + aside) != 0;
    let right = winding(all, middle - aside) != 0;
    (left != right).then_some(left)
}

fn oriented(piece: &OutlineSegment, left: bool) -> OutlineSegment {
    if left {
        return *piece;
    }
    let OutlineSegment { a, b, corner_a, corner_b, contour } = *piece;
    OutlineSegment { a: b, b: a, corner_a: corner_b, corner_b: corner_a, contour }
}
