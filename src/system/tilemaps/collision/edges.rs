//! Sets of directed edges, and their outline: the parts of edges that are not covered by an edge in
//! the opposite direction. All comparisons are exact, on a grid of fractions of a texel.

/// Fractions of a texel that edges are rounded to.
const UNITS: f64 = 256.0;

/// A directed edge, in texels of the map.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Segment {
    pub from: [f64; 2],
    pub to: [f64; 2],
}

type Point = [i64; 2];

/// A line: its direction without common divisors, and its distance from the origin.
type Line = (Point, i128);

/// An edge on its line.
#[derive(Clone, Copy)]
struct Span {
    line: Line,
    /// Positions of the ends along the direction of the line, and the ends.
    ends: [(i128, Point); 2],
    /// True if the edge has the direction of the line.
    forward: bool,
    /// False if the edge only covers others.
    own: bool,
}

/// Directed edges of polygons that have their inside on the left.
pub struct EdgeSet {
    /// Point near which the edges are.
    origin: [f64; 2],
    spans: Vec<Span>,
    /// Edges without an inside.
    open: Vec<Segment>,
}

fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl EdgeSet {
    pub fn new(origin: [f64; 2]) -> EdgeSet {
        EdgeSet { origin, spans: Vec::new(), open: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.spans.len() + self.open.len()
    }

    fn point(&self, at: [f64; 2]) -> Point {
        [0, 1].map(|axis| ((at[axis] - self.origin[axis]) * UNITS).round() as i64)
    }

    fn texels(&self, point: Point) -> [f64; 2] {
        [0, 1].map(|axis| self.origin[axis] + point[axis] as f64 / UNITS)
    }

    /// Adds an edge with its inside on the left. An edge that is not `own` only covers others.
    pub fn add(&mut self, from: [f64; 2], to: [f64; 2], own: bool) {
        let (from, to) = (self.point(from), self.point(to));
        let step = [to[0] - from[0], to[1] - from[1]];
        let common = divisor(step[0].abs(), step[1].abs());
        if common == 0 {
            return;
        }
        let forward = step[0] > 0 || step[0] == 0 && step[1] > 0;
        let sign = if forward { 1 } else { -1 };
        let direction = step.map(|part| part / common * sign);
        let [dx, dy] = direction.map(i128::from);
        let along = |[x, y]: Point| dx * i128::from(x) + dy * i128::from(y);
        let offset = dx * i128::from(from[1]) - dy * i128::from(from[0]);
        let (low, high) = if forward { (from, to) } else { (to, from) };
        let ends = [(along(low), low), (along(high), high)];
        self.spans.push(Span { line: (direction, offset), ends, forward, own });
    }

    /// Adds a polygon in either direction.
    pub fn add_polygon(&mut self, points: &[[f64; 2]], own: bool) {
        let next = |at: usize| points[(at + 1) % points.len()];
        let cross = |at: usize| points[at][0] * next(at)[1] - next(at)[0] * points[at][1];
        let area: f64 = (0..points.len()).map(cross).sum();
        for (at, point) in points.iter().enumerate() {
            match area >= 0.0 {
                true => self.add(*point, next(at), own),
                false => self.add(next(at), *point, own),
            }
        }
    }

    /// Adds a line through points, which has two sides and covers nothing.
    pub fn add_open(&mut self, points: &[[f64; 2]]) {
        for pair in points.windows(2).filter(|pair| pair[0] != pair[1]) {
            self.open.push(Segment { from: pair[0], to: pair[1] });
            self.open.push(Segment { from: pair[1], to: pair[0] });
        }
    }

    /// Returns the parts of own edges that no opposite edge covers. Parts that follow each other on
    /// a line are joined.
    pub fn outline(mut self) -> Vec<Segment> {
        let mut spans = std::mem::take(&mut self.spans);
        spans.sort_by_key(|span| (span.line, span.ends[0].0, span.ends[1].0));
        let mut outline = Vec::new();
        for line in spans.chunk_by(|a, b| a.line == b.line) {
            self.outline_of(line, &mut outline);
        }
        outline.append(&mut self.open);
        outline
    }

    /// Appends the outline of the edges on one line.
    fn outline_of(&self, spans: &[Span], outline: &mut Vec<Segment>) {
        let mut ends: Vec<(i128, Point)> = spans.iter().flat_map(|span| span.ends).collect();
        ends.sort_unstable();
        ends.dedup();
        // Changes of the number of edges at each end, by direction: own ones, and all.
        let mut changes = vec![[[0i32; 2]; 2]; ends.len()];
        for span in spans {
            let direction = usize::from(!span.forward);
            for (end, by) in span.ends.iter().zip([1, -1]) {
                let at = ends.binary_search(end).expect("all ends are listed");
                changes[at][direction][0] += if span.own { by } else { 0 };
                changes[at][direction][1] += by;
            }
        }
        let mut counts = [[0i32; 2]; 2];
        // Start of the current part in each direction.
        let mut starts: [Option<Point>; 2] = [None; 2];
        for (at, (_, point)) in ends.iter().enumerate() {
            let changed = counts.as_flattened_mut().iter_mut().zip(changes[at].as_flattened());
            changed.for_each(|(count, change)| *count += change);
            for direction in 0..2 {
                let is_outer = counts[direction][0] > 0 && counts[1 - direction][1] == 0;
                match (starts[direction], is_outer) {
                    (None, true) => starts[direction] = Some(*point),
                    (Some(start), false) => {
                        starts[direction] = None;
                        let (from, to) =
                            if direction == 0 { (start, *point) } else { (*point, start) };
                        let (from, to) = (self.texels(from), self.texels(to));
                        outline.push(Segment { from, to });
                    }
                    _ => {}
                }
            }
        }
    }
}
