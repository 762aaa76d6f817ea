//! The mesh of a tile: convex polygons with their neighbours, the edges at which the tile ends, and
//! the heights of uneven ground.

use super::compact::CompactField;
use super::contours::{Contour, Corner};
use super::regions::Regions;
use super::triangulation::{ConvexPolygon, merge_convex};
use super::{BakeCells, CORNERS_OF_POLYGON_MAX};

/// Neighbour of an edge at a wall.
pub const NO_NEIGHBOR: u16 = u16::MAX;
/// Neighbour of an edge at which the tile ends: this number and the side.
pub const TILE_SIDE: u16 = 0xfff0;
/// Maximum number of polygons of a tile.
pub const TILE_POLYGONS_MAX: usize = 0xfff0 - 1;
/// Maximum number of heights of uneven ground in a tile.
pub const TILE_HEIGHTS_MAX: usize = 1 << 22;
/// Cells between two samples of height.
const HEIGHT_STEP: usize = 2;
/// Difference of heights, in cells, below which vertices at the same column are the same.
const SAME_HEIGHT: i32 = 2;

/// Convex polygon, counter-clockwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TilePolygon {
    pub corners: [u16; CORNERS_OF_POLYGON_MAX],
    /// Neighbour of each edge: a polygon, [`NO_NEIGHBOR`], or [`TILE_SIDE`] and a side.
    pub neighbors: [u16; CORNERS_OF_POLYGON_MAX],
    pub count: u8,
    pub area: u8,
    /// Heights of uneven ground, as an index into the grids of the tile.
    pub heights: Option<u16>,
}

/// Heights in a grid over a polygon whose ground is uneven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeightGrid {
    /// Cell of the first sample.
    pub x: u16,
    pub y: u16,
    pub columns: u16,
    pub rows: u16,
    /// First sample in the heights of the tile.
    pub first: u32,
}

/// Polygons of a tile. Lengths are in cells from the tile's lower left corner.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TileMesh {
    pub vertices: Vec<[u16; 3]>,
    pub polygons: Vec<TilePolygon>,
    pub grids: Vec<HeightGrid>,
    pub heights: Vec<u16>,
}

impl TilePolygon {
    /// Returns a polygon whose corners and neighbours are not known yet.
    pub fn without_edges(count: u8, area: u8, heights: Option<u16>) -> TilePolygon {
        let corners = [0; CORNERS_OF_POLYGON_MAX];
        let neighbors = [NO_NEIGHBOR; CORNERS_OF_POLYGON_MAX];
        TilePolygon { corners, neighbors, count, area, heights }
    }

    /// Returns the indices of its vertices.
    pub fn corners(&self) -> &[u16] {
        &self.corners[..usize::from(self.count)]
    }
}

impl HeightGrid {
    /// Cells between two samples.
    pub const STEP: usize = HEIGHT_STEP;
}

/// Returns the height of a polygon at a point: that of the triangle of its fan that contains the
/// point, or is nearest to it.
pub fn fan_height(corners: &[[f32; 3]], x: f32, y: f32) -> f32 {
    let a = corners[0];
    let mut best = (f32::MIN, a[2]);
    for pair in corners[1..].windows(2) {
        let (b, c) = (pair[0], pair[1]);
        let (bx, by, cx, cy) = (b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]);
        let (px, py) = (x - a[0], y - a[1]);
        let area = bx * cy - by * cx;
        if area <= 0.0 {
            continue;
        }
        let (v, w) = ((px * cy - py * cx) / area, (bx * py - by * px) / area);
        let inside = v.min(w).min(1.0 - v - w);
        if inside > best.0 {
            let (v, w) = (v.clamp(0.0, 1.0), w.clamp(0.0, 1.0));
            best = (inside, a[2] + (b[2] - a[2]) * v + (c[2] - a[2]) * w);
        }
        if inside >= 0.0 {
            break;
        }
    }
    best.1
}

struct Builder {
    vertices: Vec<Corner>,
    /// Vertices by column, sorted when they are added: the last one of each bucket.
    buckets: Vec<u16>,
    next: Vec<u16>,
}

const BUCKETS: usize = 1 << 10;

impl Builder {
    /// Returns the vertex at a corner. Corners of both sides of an edge are the same vertex.
    fn vertex(&mut self, corner: Corner) -> Result<u16, String> {
        let hash = (corner[0] as u32).wrapping_mul(0x9e37_79b1)
            ^ (corner[1] as u32).wrapping_mul(0x85eb_ca6b);
        let bucket = (hash >> 22) as usize % BUCKETS;
        let mut at = self.buckets[bucket];
        while at != u16::MAX {
            let known = self.vertices[usize::from(at)];
            let same = known[..2] == corner[..2] && (known[2] - corner[2]).abs() <= SAME_HEIGHT;
            if same {
                return Ok(at);
            }
            at = self.next[usize::from(at)];
        }
        let index = self.vertices.len();
        if index >= usize::from(u16::MAX) {
            return Err("a tile has more than 65534 vertices: make tiles smaller".to_string());
        }
        self.vertices.push(corner);
        self.next.push(self.buckets[bucket]);
        self.buckets[bucket] = index as u16;
        Ok(index as u16)
    }
}

/// Builds the mesh of a tile from the outlines of its regions. `inner` is the size of the tile.
pub(super) fn build(
    field: &CompactField,
    regions: &Regions,
    contours: &[Contour],
    cells: &BakeCells,
    inner: (usize, usize),
) -> Result<TileMesh, String> {
    let mut builder =
        Builder { vertices: Vec::new(), buckets: vec![u16::MAX; BUCKETS], next: Vec::new() };
    let mut polygons: Vec<(ConvexPolygon, u8, u16)> = Vec::new();
    let mut indices = Vec::new();
    for contour in contours {
        indices.clear();
        for corner in &contour.corners {
            indices.push(builder.vertex(*corner)?);
        }
        let triangles = contour
            .triangles
            .iter()
            .map(|triangle| triangle.map(|corner| indices[usize::from(corner)]))
            .filter(|[a, b, c]| a != b && b != c && a != c);
        let merged = merge_convex(triangles, &builder.vertices);
        polygons.extend(merged.into_iter().map(|polygon| (polygon, contour.area, contour.region)));
    }
    if polygons.len() > TILE_POLYGONS_MAX {
        return Err(format!(
            "a tile has {} polygons, and {TILE_POLYGONS_MAX} are the most (TILE_POLYGONS_MAX): \
             make tiles smaller",
            polygons.len()
        ));
    }
    let border = cells.border as i32;
    let mut mesh = TileMesh {
        vertices: builder
            .vertices
            .iter()
            .map(|[x, y, z]| [(x - border) as u16, (y - border) as u16, *z as u16])
            .collect(),
        ..TileMesh::default()
    };
    mesh.polygons.extend(polygons.iter().map(|(polygon, area, _)| TilePolygon {
        corners: polygon.corners,
        ..TilePolygon::without_edges(polygon.count as u8, *area, None)
    }));
    mesh.connect(inner);
    let mut heights = HeightSampler { field, regions, cells, mesh: &mut mesh };
    for (at, (_, _, region)) in polygons.iter().enumerate() {
        heights.sample(at, *region)?;
    }
    Ok(mesh)
}

impl TileMesh {
    /// Finds the neighbours of polygons over common edges, and the edges at the sides of the tile.
    pub(crate) fn connect(&mut self, (width, depth): (usize, usize)) {
        let mut edges: Vec<(u16, u16, u16, u8)> = Vec::new();
        for (at, polygon) in self.polygons.iter().enumerate() {
            let corners = polygon.corners();
            for (edge, &a) in corners.iter().enumerate() {
                let b = corners[if edge + 1 == corners.len() { 0 } else { edge + 1 }];
                edges.push((a.min(b), a.max(b), at as u16, edge as u8));
            }
        }
        edges.sort_unstable();
        for pair in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if let [a, b] = pair {
                self.polygons[usize::from(a.2)].neighbors[usize::from(a.3)] = b.2;
                self.polygons[usize::from(b.2)].neighbors[usize::from(b.3)] = a.2;
                continue;
            }
            for &(a, b, polygon, edge) in pair {
                let (a, b) = (self.vertices[usize::from(a)], self.vertices[usize::from(b)]);
                let on = |axis: usize, line: usize| {
                    usize::from(a[axis]) == line && usize::from(b[axis]) == line
                };
                let sides = [on(0, 0), on(1, depth), on(0, width), on(1, 0)];
                if let Some(side) = sides.iter().position(|on| *on) {
                    let polygon = &mut self.polygons[usize::from(polygon)];
                    polygon.neighbors[usize::from(edge)] = TILE_SIDE + side as u16;
                }
            }
        }
    }
}

/// Checks the number of heights of a tile.
fn check_heights(count: usize) -> Result<(), String> {
    if count > TILE_HEIGHTS_MAX {
        return Err(format!(
            "its uneven ground has {count} heights, and {TILE_HEIGHTS_MAX} are the most \
             (TILE_HEIGHTS_MAX): reduce 'tile_cells', or increase 'height_error'"
        ));
    }
    Ok(())
}

struct HeightSampler<'a> {
    field: &'a CompactField,
    regions: &'a Regions,
    cells: &'a BakeCells,
    mesh: &'a mut TileMesh,
}

impl HeightSampler<'_> {
    /// Stores a grid of heights for a polygon if its ground differs from its own surface.
    fn sample(&mut self, polygon: usize, region: u16) -> Result<(), String> {
        let of = self.mesh.polygons[polygon];
        let mut corners = [[0.0; 3]; CORNERS_OF_POLYGON_MAX];
        let (mut low, mut high) = ([u16::MAX; 2], [0; 2]);
        for (corner, vertex) in corners.iter_mut().zip(of.corners()) {
            let vertex = self.mesh.vertices[usize::from(*vertex)];
            *corner = vertex.map(f32::from);
            for axis in 0..2 {
                low[axis] = low[axis].min(vertex[axis]);
                high[axis] = high[axis].max(vertex[axis]);
            }
        }
        let corners = &corners[..usize::from(of.count)];
        let samples = |axis: usize| usize::from(high[axis] - low[axis]).div_ceil(HEIGHT_STEP) + 1;
        let (columns, rows) = (samples(0), samples(1));
        let first = self.mesh.heights.len();
        let mut is_uneven = false;
        for row in 0..rows {
            for column in 0..columns {
                let x = usize::from(low[0]) + column * HEIGHT_STEP;
                let y = usize::from(low[1]) + row * HEIGHT_STEP;
                let flat = fan_height(corners, x as f32, y as f32);
                let ground = self.ground(x, y, region, flat);
                is_uneven |=
                    (f32::from(ground) - flat).abs() > f32::from(self.cells.height_error) + 0.5;
                self.mesh.heights.push(ground);
            }
        }
        if !is_uneven || self.mesh.grids.len() >= usize::from(u16::MAX) {
            self.mesh.heights.truncate(first);
            return Ok(());
        }
        check_heights(self.mesh.heights.len())?;
        self.mesh.polygons[polygon].heights = Some(self.mesh.grids.len() as u16);
        self.mesh.grids.push(HeightGrid {
            x: low[0],
            y: low[1],
            columns: columns as u16,
            rows: rows as u16,
            first: first as u32,
        });
        Ok(())
    }

    /// Returns the floor of a region at a corner of cells: the highest of the four cells around it,
    /// or the height of the polygon if the region covers none of them.
    fn ground(&self, x: usize, y: usize, region: u16, flat: f32) -> u16 {
        let border = self.cells.border;
        let mut highest = None;
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let (x, y) = (x + border - dx, y + border - dy);
            if x >= self.field.width || y >= self.field.depth {
                continue;
            }
            let found = self
                .field
                .range(y * self.field.width + x)
                .find(|at| self.regions.of_span[*at] == region);
            let floor = found.map(|at| self.field.spans[at].floor);
            highest = highest.max(floor);
        }
        highest.unwrap_or((flat + 0.5).clamp(0.0, 65_534.0) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_with_too_many_heights_is_refused() {
        assert_eq!(check_heights(TILE_HEIGHTS_MAX), Ok(()));
        let message = check_heights(TILE_HEIGHTS_MAX + 1).unwrap_err();
        assert!(message.contains("(TILE_HEIGHTS_MAX): reduce 'tile_cells'"), "{message}");
    }
}
