//! The compact heightfield: the open space above the spans on which a character can stand, with
//! neighbours on four sides. Areas are eroded by the radius of the character, and marked by
//! volumes.

use super::heightfield::Heightfield;
use super::{AreaShape, AreaVolume, BakeCells, DIRECTIONS, NULL_AREA};

/// Index that refers to no span.
pub(super) const NONE: u32 = u32::MAX;

/// Open space above a walkable span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OpenSpan {
    /// Spans on the four sides that can be stepped on; [`NONE`] if there is none.
    pub neighbors: [u32; 4],
    /// Column of the span.
    pub column: u32,
    /// Height of its floor.
    pub floor: u16,
    /// Free height above the floor.
    pub clearance: u16,
}

/// Walkable spans of a tile and its border.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompactField {
    pub(super) width: usize,
    pub(super) depth: usize,
    /// First span of each column, and the number of all spans at the end.
    pub(super) starts: Vec<u32>,
    pub(super) spans: Vec<OpenSpan>,
    pub(super) areas: Vec<u8>,
}

impl CompactField {
    pub(super) fn new(field: &Heightfield, cells: &BakeCells) -> CompactField {
        let (width, depth) = (field.width, field.depth);
        let count = field.spans.iter().filter(|span| span.area != NULL_AREA).count();
        let mut starts = Vec::with_capacity(width * depth + 1);
        let (mut spans, mut areas) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for column in 0..width * depth {
            starts.push(spans.len() as u32);
            let solid = field.column(column);
            for (at, span) in solid.iter().enumerate().filter(|(_, span)| span.area != NULL_AREA) {
                let top = solid.get(at + 1).map_or(u16::MAX, |above| above.min);
                spans.push(OpenSpan {
                    neighbors: [NONE; 4],
                    column: column as u32,
                    floor: span.max,
                    clearance: top - span.max,
                });
                areas.push(span.area);
            }
        }
        starts.push(spans.len() as u32);
        let mut field = CompactField { width, depth, starts, spans, areas };
        // A step from each of two floors of a column to the same span needs twice the step between
        // them, and they are at least a character's height apart: without such steps, neighbours
        // are found from one side for both.
        if u32::from(cells.step) * 2 <= u32::from(cells.height) {
            field.connect(cells, &[1, 2]);
        } else {
            field.connect(cells, &[0, 1, 2, 3]);
            field.drop_one_way_neighbors();
        }
        field
    }

    /// Finds the neighbours on some sides. If these are two, they are found for both spans.
    fn connect(&mut self, cells: &BakeCells, sides: &[usize]) {
        let (height, step) = (i32::from(cells.height), i32::from(cells.step));
        let is_mutual = sides.len() == 2;
        for y in 0..self.depth {
            for x in 0..self.width {
                let column = self.range(y * self.width + x);
                if column.is_empty() {
                    continue;
                }
                for &side in sides {
                    let (dx, dy) = DIRECTIONS[side];
                    let Some(other) = self.adjacent_column(x, y, dx, dy) else { continue };
                    let other = self.range(other);
                    for at in column.clone() {
                        let OpenSpan { floor, clearance, .. } = self.spans[at];
                        let (floor, top) =
                            (i32::from(floor), i32::from(floor) + i32::from(clearance));
                        let found = self.spans[other.clone()].iter().position(|near| {
                            let near_floor = i32::from(near.floor);
                            let near_top = near_floor + i32::from(near.clearance);
                            top.min(near_top) - floor.max(near_floor) >= height
                                && (near_floor - floor).abs() <= step
                        });
                        let Some(found) = found else { continue };
                        let near = other.start + found;
                        self.spans[at].neighbors[side] = near as u32;
                        if is_mutual {
                            self.spans[near].neighbors[(side + 2) & 3] = at as u32;
                        }
                    }
                }
            }
        }
    }

    /// Removes neighbours that do not lead back. They exist if a character can step higher than
    /// half of its height.
    fn drop_one_way_neighbors(&mut self) {
        for at in 0..self.spans.len() {
            for side in 0..4 {
                let near = self.spans[at].neighbors[side];
                let back = (side + 2) & 3;
                if near != NONE && self.spans[near as usize].neighbors[back] != at as u32 {
                    self.spans[at].neighbors[side] = NONE;
                }
            }
        }
    }

    fn adjacent_column(&self, x: usize, y: usize, dx: i32, dy: i32) -> Option<usize> {
        let (x, y) = (x as i32 + dx, y as i32 + dy);
        let inside = x >= 0 && y >= 0 && x < self.width as i32 && y < self.depth as i32;
        inside.then(|| y as usize * self.width + x as usize)
    }

    /// Returns the spans of a column.
    pub(super) fn range(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column] as usize..self.starts[column + 1] as usize
    }

    /// Returns the span that is reached by two steps in this order.
    pub(super) fn diagonal(&self, span: usize, first: usize, second: usize) -> u32 {
        match self.spans[span].neighbors[first] {
            NONE => NONE,
            near => self.spans[near as usize].neighbors[second],
        }
    }

    /// Returns the distance of each span to the nearest edge in half cells: two for a step to the
    /// side, three for a diagonal one (Borgefors, "Distance transformations in digital images").
    fn edge_distances(&self, is_edge: impl Fn(usize) -> bool) -> Vec<u16> {
        let mut distances = vec![u16::MAX - 4; self.spans.len()];
        for (at, distance) in distances.iter_mut().enumerate() {
            if is_edge(at) {
                *distance = 0;
            }
        }
        let relax = |distances: &mut [u16], at: usize, sides: [usize; 2]| {
            let mut best = distances[at];
            for side in sides {
                let near = self.spans[at].neighbors[side];
                if near == NONE {
                    continue;
                }
                best = best.min(distances[near as usize] + 2);
                let far = self.spans[near as usize].neighbors[(side + 3) & 3];
                if far != NONE {
                    best = best.min(distances[far as usize] + 3);
                }
            }
            distances[at] = best;
        };
        // Spans are in the order of columns: those to the left and below come before.
        for at in 0..self.spans.len() {
            relax(&mut distances, at, [0, 3]);
        }
        for at in (0..self.spans.len()).rev() {
            relax(&mut distances, at, [2, 1]);
        }
        distances
    }

    /// Returns the distance of each span to the nearest wall, ledge or change of area.
    pub(super) fn distances(&self) -> Vec<u16> {
        self.edge_distances(|at| {
            self.spans[at]
                .neighbors
                .into_iter()
                .any(|near| near == NONE || self.areas[near as usize] != self.areas[at])
        })
    }

    /// Removes the spans that are nearer to an edge than the radius of the character.
    pub(super) fn erode(&mut self, radius: u16) {
        let distances = self.edge_distances(|at| {
            self.areas[at] == NULL_AREA
                || self.spans[at]
                    .neighbors
                    .into_iter()
                    .any(|near| near == NONE || self.areas[near as usize] == NULL_AREA)
        });
        for (area, distance) in self.areas.iter_mut().zip(distances) {
            if distance < radius * 2 {
                *area = NULL_AREA;
            }
        }
    }

    /// Marks the spans inside a volume with its area. Lengths are in metres, `corner` is the
    /// position of the first column.
    pub(super) fn mark(&mut self, volume: &AreaVolume, corner: [f32; 3], cells: &BakeCells) {
        let (low, high) = volume.shape.bounds();
        let column_of = |position: f32, corner: f32, count: usize| {
            ((position - corner) / cells.size).clamp(0.0, count as f32) as usize
        };
        let (x0, x1) =
            (column_of(low[0], corner[0], self.width), column_of(high[0], corner[0], self.width));
        let (y0, y1) =
            (column_of(low[1], corner[1], self.depth), column_of(high[1], corner[1], self.depth));
        for y in y0..(y1 + 1).min(self.depth) {
            for x in x0..(x1 + 1).min(self.width) {
                let center = [
                    corner[0] + (x as f32 + 0.5) * cells.size,
                    corner[1] + (y as f32 + 0.5) * cells.size,
                ];
                if !volume.shape.covers(center) {
                    continue;
                }
                for at in self.range(y * self.width + x) {
                    let z = corner[2] + f32::from(self.spans[at].floor) * cells.level;
                    if self.areas[at] != NULL_AREA && z >= low[2] && z <= high[2] {
                        self.areas[at] = volume.area;
                    }
                }
            }
        }
    }

    /// Returns the memory that the field uses.
    pub fn bytes(&self) -> usize {
        self.starts.len() * 4 + self.spans.len() * (size_of::<OpenSpan>() + 1)
    }
}

impl AreaShape {
    /// Returns the lowest and the highest corner.
    pub fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        match self {
            AreaShape::Cylinder { position: [x, y, z], radius, height } => {
                ([x - radius, y - radius, *z], [x + radius, y + radius, z + height])
            }
            AreaShape::Prism { points, low, high } => {
                let (mut from, mut to) = ([f32::MAX, f32::MAX, *low], [f32::MIN, f32::MIN, *high]);
                for point in points {
                    for axis in 0..2 {
                        from[axis] = from[axis].min(point[axis]);
                        to[axis] = to[axis].max(point[axis]);
                    }
                }
                (from, to)
            }
        }
    }

    /// Returns true if the shape covers a point from above.
    pub fn covers(&self, [x, y]: [f32; 2]) -> bool {
        match self {
            AreaShape::Cylinder { position, radius, .. } => {
                let (dx, dy) = (x - position[0], y - position[1]);
                dx * dx + dy * dy <= radius * radius
            }
            AreaShape::Prism { points, .. } => {
                let mut inside = false;
                let mut before = points[points.len() - 1];
                for point in points {
                    if (point[1] > y) != (before[1] > y) {
                        let along = (y - point[1]) / (before[1] - point[1]);
                        inside ^= x < (before[0] - point[0]) * along + point[0];
                    }
                    before = *point;
                }
                inside
            }
        }
    }
}
