//! Voxelisation of triangles: columns of solid spans, and the filters for where a character
//! can stand. Lengths are in cells; a tile's columns begin at its own corner.
//!
//! A triangle is cut into rows of cells. Within a row, each edge of the cut polygon extends the
//! height range of the cells that it crosses, which gives the exact range without cutting the
//! polygon again for each cell.

use super::{BakeCells, NULL_AREA};
use engine_foundation::Vec3;

/// A solid range of a column, in cells of height.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub min: u16,
    pub max: u16,
    /// Area of its upper side; [`NULL_AREA`] if nobody can stand there.
    pub area: u8,
}

/// Columns of solid spans, the lowest first.
#[derive(Debug, Default)]
pub(super) struct Heightfield {
    pub width: usize,
    pub depth: usize,
    /// First span of each column, and the number of all spans at the end.
    pub starts: Vec<u32>,
    pub spans: Vec<Span>,
}

/// Highest height of a span, in cells.
pub(super) const SPAN_HEIGHT_MAX: u16 = u16::MAX - 1;

/// Maximum number of raw spans of a tile.
pub(super) const SPANS_MAX: usize = 1 << 24;

/// Number of raw spans up to which they are sorted one by one.
const FEW: usize = 12;

/// Raw spans of the triangles of a tile, packed so that their order is that of columns, heights and
/// areas.
pub(super) struct Rasterizer {
    width: usize,
    depth: usize,
    packed: Vec<u64>,
    /// Heights that a polygon covers in the cells of a row.
    ranges: Vec<HeightRange>,
}

#[derive(Clone, Copy)]
struct HeightRange {
    low: f32,
    high: f32,
}

impl HeightRange {
    const EMPTY: HeightRange = HeightRange { low: f32::MAX, high: f32::MIN };

    fn widen(&mut self, a: f32, b: f32) {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        self.low = if low < self.low { low } else { self.low };
        self.high = if high > self.high { high } else { self.high };
    }
}

/// A convex polygon with at most 7 corners: a triangle that was cut four times.
#[derive(Clone, Copy)]
struct Cut {
    points: [Vec3; 8],
    count: usize,
}

impl Cut {
    const EMPTY: Cut = Cut { points: [Vec3::ZERO; 8], count: 0 };

    fn push(&mut self, point: Vec3) {
        // Rounding can add a corner to a sliver; dropping it changes the range by nothing.
        if self.count < self.points.len() {
            self.points[self.count] = point;
            self.count += 1;
        }
    }
}

/// Splits a polygon at a row line into the part below and the part above.
fn split_rows(polygon: &Cut, line: f32, below: &mut Cut, above: &mut Cut) {
    (below.count, above.count) = (0, 0);
    let points = &polygon.points[..polygon.count];
    let Some(&(mut a)) = points.first() else { return };
    for i in 0..points.len() {
        let b = points[if i + 1 == points.len() { 0 } else { i + 1 }];
        let (da, db) = (a.y - line, b.y - line);
        if da <= 0.0 {
            below.push(a);
        }
        if da >= 0.0 {
            above.push(a);
        }
        if (da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0) {
            let mut point = a + (b - a) * (da / (da - db));
            point.y = line;
            below.push(point);
            above.push(point);
        }
        a = b;
    }
}

impl Rasterizer {
    pub fn new(width: usize, depth: usize) -> Rasterizer {
        Rasterizer { width, depth, packed: Vec::new(), ranges: vec![HeightRange::EMPTY; width] }
    }

    /// Returns the number of raw spans, for [`Rasterizer::fill`].
    pub fn mark(&self) -> usize {
        self.packed.len()
    }

    /// Fills a convex solid whose surface was added since a mark: one span a column.
    pub fn fill(&mut self, mark: usize) {
        let solid = &mut self.packed[mark..];
        solid.sort_unstable();
        let (mut count, mut at) = (0, 0);
        while at < solid.len() {
            let (column, min) = (solid[at] >> 40, solid[at] >> 24 & 0xffff);
            let mut top = 0;
            while at < solid.len() && solid[at] >> 40 == column {
                top = top.max(solid[at] & 0xff_ffff);
                at += 1;
            }
            solid[count] = column << 40 | min << 24 | top;
            count += 1;
        }
        self.packed.truncate(mark + count);
    }

    /// Returns true if there are more raw spans than a tile may have.
    pub fn is_full(&self) -> bool {
        self.packed.len() > SPANS_MAX
    }

    /// Adds a triangle, in cells from the corner of the columns.
    pub fn add(&mut self, triangle: [Vec3; 3], area: u8) {
        let low = triangle[0].min(triangle[1]).min(triangle[2]);
        let high = triangle[0].max(triangle[1]).max(triangle[2]);
        let outside = high.x < 0.0
            || high.y < 0.0
            || low.x > self.width as f32
            || low.y > self.depth as f32
            || high.z < 0.0
            || low.z > f32::from(SPAN_HEIGHT_MAX);
        if outside {
            return;
        }
        let (mut rest, mut here, mut above) = (Cut::EMPTY, Cut::EMPTY, Cut::EMPTY);
        triangle.into_iter().for_each(|point| rest.push(point));
        let first = low.y.max(0.0) as usize;
        let last = (high.y as usize).min(self.depth - 1);
        if low.y < first as f32 {
            split_rows(&rest, first as f32, &mut here, &mut above);
            std::mem::swap(&mut rest, &mut above);
        }
        for row in first..=last {
            let line = (row + 1) as f32;
            if high.y <= line {
                // The last row: nothing is above it.
                if rest.count >= 3 {
                    self.add_row(&rest, row, area);
                }
                return;
            }
            split_rows(&rest, line, &mut here, &mut above);
            if here.count >= 3 {
                self.add_row(&here, row, area);
            }
            std::mem::swap(&mut rest, &mut above);
            if rest.count < 3 {
                break;
            }
        }
    }

    /// Adds the spans of a polygon that lies within a row.
    fn add_row(&mut self, polygon: &Cut, row: usize, area: u8) {
        let points = &polygon.points[..polygon.count];
        let (mut left, mut right) = (f32::MAX, f32::MIN);
        for point in points {
            left = left.min(point.x);
            right = right.max(point.x);
        }
        if right < 0.0 || left >= self.width as f32 {
            return;
        }
        let first = left.max(0.0) as u32 as usize;
        let last = (right as u32 as usize).min(self.width - 1);
        if first == last {
            let low = points.iter().fold(f32::MAX, |low, point| low.min(point.z));
            let high = points.iter().fold(f32::MIN, |high, point| high.max(point.z));
            // A polygon that leaves the columns is cut by the general form.
            if left >= 0.0 && right <= self.width as f32 {
                self.push(row * self.width + first, low, high, area);
                return;
            }
        }
        self.ranges[first..=last].fill(HeightRange::EMPTY);
        let mut a = points[points.len() - 1];
        for &b in points {
            let (left, right) = if a.x <= b.x { (a, b) } else { (b, a) };
            self.widen_edge(left, right, first, last);
            a = b;
        }
        self.packed.reserve(last - first + 1);
        for column in first..=last {
            let HeightRange { low, high } = self.ranges[column];
            if low <= high {
                self.push(row * self.width + column, low, high, area);
            }
        }
    }

    /// Extends the height ranges of the cells that an edge crosses; `a` is its left end.
    fn widen_edge(&mut self, a: Vec3, b: Vec3, first: usize, last: usize) {
        let (start, end) = (first as f32, (last + 1) as f32);
        if b.x < start || a.x > end {
            return;
        }
        let across = b.x - a.x;
        let slope = if across > 0.0 { (b.z - a.z) / across } else { 0.0 };
        let (low, high) = if a.z < b.z { (a.z, b.z) } else { (b.z, a.z) };
        let height_at = |x: f32| {
            let z = a.z + (x - a.x) * slope;
            let z = if z < low { low } else { z };
            if z > high { high } else { z }
        };
        let cell = |x: f32| (x as u32 as usize).min(last);
        let (column, mut z) =
            if a.x < start { (first, height_at(start)) } else { (cell(a.x), a.z) };
        let (end_column, end_z) = if b.x > end { (last, height_at(end)) } else { (cell(b.x), b.z) };
        let mut line = column as f32;
        let ranges = &mut self.ranges[column..=end_column.max(column)];
        let (range, rest) = ranges.split_last_mut().expect("there is one cell at least");
        for range in rest {
            line += 1.0;
            let next = height_at(line);
            range.widen(z, next);
            z = next;
        }
        range.widen(z, end_z);
    }

    fn push(&mut self, column: usize, low: f32, high: f32, area: u8) {
        let top = f32::from(SPAN_HEIGHT_MAX);
        if high < 0.0 || low > top {
            return;
        }
        // Heights are not negative here, so that the conversion rounds down.
        let min = low.max(0.0) as u16;
        let high = high.min(top);
        let floor = high as u16;
        let max = if f32::from(floor) < high { floor + 1 } else { floor };
        let max = max.max(min + 1);
        let key = (column as u64) << 40 | u64::from(min) << 24 | u64::from(max) << 8;
        self.packed.push(key | u64::from(area));
    }

    /// Sorts the raw spans into columns, and merges those that touch. Tops within `step` of each
    /// other take the greater area.
    pub fn finish(self, step: u16) -> Heightfield {
        let (width, depth) = (self.width, self.depth);
        let mut starts = vec![0u32; width * depth + 1];
        for key in &self.packed {
            starts[(key >> 40) as usize + 1] += 1;
        }
        for column in 0..width * depth {
            starts[column + 1] += starts[column];
        }
        let mut sorted = vec![0u64; self.packed.len()];
        let mut next = starts.clone();
        for key in &self.packed {
            let at = &mut next[(key >> 40) as usize];
            sorted[*at as usize] = *key;
            *at += 1;
        }
        let mut spans: Vec<Span> = Vec::with_capacity(sorted.len());
        for column in 0..width * depth {
            let raw = starts[column] as usize..next[column] as usize;
            starts[column] = spans.len() as u32;
            let raw = &mut sorted[raw];
            sort_few(raw);
            let first = spans.len();
            for key in raw.iter() {
                let (min, max) = ((key >> 24) as u16, (key >> 8) as u16);
                let span = Span { min, max, area: *key as u8 };
                match spans[first..].last_mut() {
                    Some(before) if before.max >= span.min => merge(before, span, step),
                    _ => spans.push(span),
                }
            }
        }
        starts[width * depth] = spans.len() as u32;
        Heightfield { width, depth, starts, spans }
    }
}

/// Sorts the raw spans of a column, most often a few.
fn sort_few(raw: &mut [u64]) {
    if raw.len() > FEW {
        return raw.sort_unstable();
    }
    for at in 1..raw.len() {
        let (key, mut to) = (raw[at], at);
        while to > 0 && raw[to - 1] > key {
            raw[to] = raw[to - 1];
            to -= 1;
        }
        raw[to] = key;
    }
}

fn merge(before: &mut Span, span: Span, step: u16) {
    if before.max.abs_diff(span.max) <= step {
        before.area = before.area.max(span.area);
    } else if span.max > before.max {
        before.area = span.area;
    }
    before.max = before.max.max(span.max);
}

impl Heightfield {
    pub fn column(&self, column: usize) -> &[Span] {
        &self.spans[self.starts[column] as usize..self.starts[column + 1] as usize]
    }

    /// Applies the filters: low obstacles on walkable ground can be stepped on, ledges and ground
    /// under low ceilings cannot be stood on.
    pub fn filter(&mut self, cells: &BakeCells) {
        self.filter_low_obstacles(cells.step);
        self.filter_ledges(cells);
        self.filter_low_ceilings(cells.height);
    }

    fn filter_low_obstacles(&mut self, step: u16) {
        for column in 0..self.width * self.depth {
            let range = self.starts[column] as usize..self.starts[column + 1] as usize;
            let mut before: Option<Span> = None;
            for span in &mut self.spans[range] {
                let original = *span;
                if span.area == NULL_AREA
                    && let Some(below) = before
                    && below.area != NULL_AREA
                    && span.max.abs_diff(below.max) <= step
                {
                    span.area = below.area;
                }
                before = Some(original);
            }
        }
    }

    /// Refuses spans from which a step to the side falls too far, and those on slopes that are
    /// steeper than the step allows.
    fn filter_ledges(&mut self, cells: &BakeCells) {
        let (width, depth) = (self.width as i32, self.depth as i32);
        for y in 0..depth {
            for x in 0..width {
                let column = (y * width + x) as usize;
                let (first, end) = (self.starts[column], self.starts[column + 1]);
                for at in first..end {
                    if self.spans[at as usize].area == NULL_AREA {
                        continue;
                    }
                    let bottom = i32::from(self.spans[at as usize].max);
                    let top = match at + 1 < end {
                        true => i32::from(self.spans[at as usize + 1].min),
                        false => i32::from(u16::MAX),
                    };
                    if self.is_ledge((x, y), bottom, top, cells) {
                        self.spans[at as usize].area = NULL_AREA;
                    }
                }
            }
        }
    }

    fn is_ledge(&self, (x, y): (i32, i32), bottom: i32, top: i32, cells: &BakeCells) -> bool {
        let (height, step) = (i32::from(cells.height), i32::from(cells.step));
        let (mut lowest, mut highest) = (bottom, bottom);
        for (dx, dy) in super::DIRECTIONS {
            let (nx, ny) = (x + dx, y + dy);
            if nx < 0 || ny < 0 || nx >= self.width as i32 || ny >= self.depth as i32 {
                return true;
            }
            let spans = self.column(ny as usize * self.width + nx as usize);
            let first = spans.first().map_or(i32::from(u16::MAX), |span| i32::from(span.min));
            if top.min(first) - bottom > height && bottom > 0 {
                // Down to the bottom of the level, which is a step below the first cell.
                return true;
            }
            for (i, span) in spans.iter().enumerate() {
                let floor = i32::from(span.max);
                if top - floor <= height {
                    // There is no room above this span and all that follow.
                    break;
                }
                let ceiling =
                    spans.get(i + 1).map_or(i32::from(u16::MAX), |next| i32::from(next.min));
                if top.min(ceiling) - bottom.max(floor) > height {
                    if floor - bottom < -step {
                        return true;
                    }
                    if floor - bottom <= step {
                        lowest = lowest.min(floor);
                        highest = highest.max(floor);
                    }
                }
            }
        }
        highest - lowest > step
    }

    fn filter_low_ceilings(&mut self, height: u16) {
        for column in 0..self.width * self.depth {
            let (first, end) = (self.starts[column] as usize, self.starts[column + 1] as usize);
            for at in first..end {
                let top = if at + 1 < end { self.spans[at + 1].min } else { u16::MAX };
                if top - self.spans[at].max < height {
                    self.spans[at].area = NULL_AREA;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(triangles: &[[Vec3; 3]]) -> Heightfield {
        let mut rasterizer = Rasterizer::new(8, 8);
        triangles.iter().for_each(|triangle| rasterizer.add(*triangle, 1));
        rasterizer.finish(2)
    }

    #[test]
    fn a_sloped_triangle_fills_the_exact_range_of_each_cell() {
        let ramp = [Vec3::ZERO, Vec3::new(8.0, 0.0, 8.0), Vec3::new(0.0, 8.0, 0.0)];
        let field = spans(&[ramp]);
        assert_eq!(field.column(0), [Span { min: 0, max: 1, area: 1 }]);
        assert_eq!(field.column(3), [Span { min: 3, max: 4, area: 1 }]);
        assert!(field.column(8 * 7 + 7).is_empty(), "the other side of the diagonal");
    }

    #[test]
    fn a_wall_under_a_ramp_does_not_rise_above_it() {
        let wall = [Vec3::new(0.0, 2.5, 0.0), Vec3::new(8.0, 2.5, 0.0), Vec3::new(8.0, 2.5, 8.0)];
        let field = spans(&[wall]);
        assert_eq!(field.column(8 * 2 + 1), [Span { min: 0, max: 2, area: 1 }]);
        assert_eq!(field.column(8 * 2 + 7), [Span { min: 0, max: 8, area: 1 }]);
    }

    #[test]
    fn triangles_that_leave_the_columns_are_cut() {
        let large =
            [Vec3::new(-1e4, -1e4, 3.0), Vec3::new(1e4, -1e4, 3.0), Vec3::new(0.0, 1e4, 3.0)];
        let field = spans(&[large]);
        assert!((0..64).all(|column| field.column(column) == [Span { min: 3, max: 4, area: 1 }]));
    }

    #[test]
    fn touching_spans_are_merged_in_any_order() {
        let flat =
            |z: f32| [Vec3::new(0.0, 0.0, z), Vec3::new(8.0, 0.0, z), Vec3::new(0.0, 8.0, z)];
        let (a, b) =
            (spans(&[flat(1.0), flat(2.0), flat(6.0)]), spans(&[flat(6.0), flat(2.0), flat(1.0)]));
        assert_eq!(a.spans, b.spans);
        assert_eq!(a.column(0).len(), 2);
    }
}
