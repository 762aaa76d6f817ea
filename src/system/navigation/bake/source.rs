//! Triangles to bake, sorted by the tiles that they touch.

use super::{DEFAULT_AREA, NULL_AREA, TileLayout, Vec3};
use engine_foundation::hash::StateHash;

/// Maximum number of triangles of a bake.
pub const SOURCE_TRIANGLES_MAX: usize = 1 << 24;

/// Maximum number of triangles of all tiles; a triangle counts once for each tile that it touches.
const TILE_TRIANGLES_MAX: u64 = 1 << 24;

/// Triangles of a level. Counter-clockwise triangles face the viewer; those that face up are
/// walkable.
#[derive(Clone, Debug, Default)]
pub struct BakeSource {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Number of the convex solid of each triangle; 0 for open surfaces. Empty if there are none.
    solids: Vec<u32>,
    /// Triangles of each tile, and the first one of each tile.
    by_tile: Vec<u32>,
    starts: Vec<u32>,
}

/// Largest coordinate of a vertex in metres.
const COORDINATE_MAX: f32 = 1e6;

impl BakeSource {
    /// Checks triangles.
    ///
    /// # Errors
    /// Returns an error message if an index or a coordinate is out of range.
    pub fn new(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<BakeSource, String> {
        if triangles.len() > SOURCE_TRIANGLES_MAX {
            return Err(format!(
                "{} triangles, and {SOURCE_TRIANGLES_MAX} are the most (SOURCE_TRIANGLES_MAX)",
                triangles.len()
            ));
        }
        if let Some(at) = vertices.iter().position(|vertex| {
            !(vertex.is_finite() && vertex.abs().max_element() <= COORDINATE_MAX)
        }) {
            return Err(format!(
                "vertex {} is at {}: coordinates must be within {COORDINATE_MAX} metres",
                at + 1,
                vertices[at]
            ));
        }
        let count = vertices.len();
        if let Some(at) = triangles
            .iter()
            .position(|triangle| triangle.iter().any(|vertex| *vertex as usize >= count))
        {
            return Err(format!("triangle {} refers to a vertex that does not exist", at + 1));
        }
        Ok(BakeSource {
            vertices,
            triangles,
            solids: Vec::new(),
            by_tile: Vec::new(),
            starts: Vec::new(),
        })
    }

    /// Sets which triangles are the surface of a convex solid, whose inside is filled: a number for
    /// each triangle, the same for all of a solid, and 0 for open surfaces.
    pub fn set_solids(&mut self, solids: Vec<u32>) {
        assert_eq!(solids.len(), self.triangles.len(), "a number for each triangle");
        self.solids = solids;
    }

    /// Hashes the triangles, in their order. Equal hashes mean equal bakes with equal settings.
    pub fn write_state(&self, hash: &mut StateHash) {
        hash.write_u64(self.vertices.len() as u64);
        for number in self.vertices.iter().flat_map(|vertex| vertex.to_array()) {
            hash.write_u64(u64::from(number.to_bits()));
        }
        hash.write_u64(self.triangles.len() as u64);
        for [a, b, c] in &self.triangles {
            hash.write_u64(u64::from(*a) << 32 | u64::from(*b));
            hash.write_u64(u64::from(*c));
        }
        self.solids.iter().for_each(|solid| hash.write_u64(u64::from(*solid)));
    }

    /// Returns the number of the solid of a triangle; 0 if it belongs to none.
    pub(super) fn solid(&self, triangle: u32) -> u32 {
        self.solids.get(triangle as usize).copied().unwrap_or(0)
    }

    /// Returns the number of triangles.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Returns true if there are no triangles.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Returns the lowest and the highest corner of all triangles, if there are any.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let mut bounds: Option<(Vec3, Vec3)> = None;
        for corner in self.triangles.iter().flat_map(|triangle| triangle.iter()) {
            let corner = self.vertices[*corner as usize];
            bounds = Some(match bounds {
                Some((low, high)) => (low.min(corner), high.max(corner)),
                None => (corner, corner),
            });
        }
        bounds
    }

    /// Sorts the triangles by tiles.
    ///
    /// # Errors
    /// Returns an error message if too many triangles touch too many tiles.
    pub fn sort(&mut self, layout: &TileLayout) -> Result<(), String> {
        let tiles_of = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|corner| self.vertices[corner as usize]);
            layout.tiles_in(a.min(b).min(c), a.max(b).max(c))
        };
        let touched: Vec<_> = self.triangles.iter().map(tiles_of).collect();
        let count = touched.iter().map(|(x, y)| (x.len() * y.len()) as u64).sum::<u64>();
        if count > TILE_TRIANGLES_MAX {
            return Err(format!(
                "{} triangles are too large for {} tiles: together they touch {count} times, and \
                 {TILE_TRIANGLES_MAX} are the most (TILE_TRIANGLES_MAX): increase 'tile_cells'",
                self.triangles.len(),
                layout.count()
            ));
        }
        let mut counts = vec![0u32; layout.count() + 1];
        let each = |visit: &mut dyn FnMut(usize, u32)| {
            for (at, (x, y)) in (0..).zip(&touched) {
                for row in y.clone() {
                    for column in x.clone() {
                        visit(row * layout.tiles_x + column, at);
                    }
                }
            }
        };
        each(&mut |tile, _| counts[tile + 1] += 1);
        for tile in 0..layout.count() {
            counts[tile + 1] += counts[tile];
        }
        let mut sorted = vec![0; counts[layout.count()] as usize];
        let mut next = counts.clone();
        each(&mut |tile, triangle| {
            sorted[next[tile] as usize] = triangle;
            next[tile] += 1;
        });
        (self.by_tile, self.starts) = (sorted, counts);
        Ok(())
    }

    /// Returns the triangles of a tile.
    pub fn triangles_of(&self, tile: usize) -> &[u32] {
        &self.by_tile[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }

    /// Returns the corners of a triangle.
    pub(crate) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|corner| self.vertices[corner as usize])
    }

    /// Returns the area of a triangle: [`NULL_AREA`] if it is too steep or has no size.
    pub(super) fn area(&self, triangle: u32, slope_cos: f32) -> u8 {
        let [a, b, c] = self.corners(triangle);
        let normal = (b - a).cross(c - a);
        // Compared without a division, so that a triangle without size is not walkable.
        if normal.z > slope_cos * normal.length() { DEFAULT_AREA } else { NULL_AREA }
    }
}
