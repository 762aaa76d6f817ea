//! Islands: parts of a mesh between which no way leads. With seed points, the polygons that no way
//! from a seed reaches are left out: roofs, the insides of walls, ledges. They keep their numbers,
//! but nobody finds or enters them. Ways that are closed at the moment count as ways.

use super::bake::AreaShape;
use super::mesh::{NavigationMesh, NearestPolygon, area};
use engine_foundation::Vec3;

/// Maximum number of seed points of a mesh.
pub const SEEDS_MAX: usize = 1024;
/// Columns and rows of the points at which the ground inside a shape is measured.
const SAMPLES: usize = 32;

/// Part of a mesh from which no way leads to other parts, in any direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Island {
    pub polygons: u32,
    /// Square metres.
    pub area: f32,
    /// First of its polygons.
    pub first: u32,
}

impl NavigationMesh {
    /// Sets the seed points. Without any, no ground is left out. At most [`SEEDS_MAX`] are used.
    pub fn set_seeds(&mut self, mut seeds: Vec<Vec3>) {
        seeds.truncate(SEEDS_MAX);
        self.seeds = seeds;
        self.version += 1;
        self.outdate_hierarchies();
        self.leave_out_islands();
    }

    /// Returns the ground of a seed point; `None` if there is none near it. Ground that is left out
    /// is not found.
    pub fn seed_ground(&self, seed: Vec3) -> Option<NearestPolygon> {
        let settings = self.settings();
        self.nearest(seed, settings.radius + settings.cell_size, settings.height)
    }

    /// Returns true if no way from a seed reaches a polygon.
    pub fn is_left_out(&self, polygon: u32) -> bool {
        self.polygons[polygon as usize].is_left_out
    }

    /// Marks the polygons that no way from a seed reaches. If no seed has ground, all stay.
    pub(super) fn leave_out_islands(&mut self) {
        self.polygons.iter_mut().for_each(|polygon| polygon.is_left_out = false);
        let grounds = self.seeds.iter().filter_map(|seed| self.seed_ground(*seed));
        let mut reached: Vec<u32> = grounds.map(|ground| ground.polygon).collect();
        if reached.is_empty() {
            return;
        }
        let mut is_reached = vec![false; self.polygons.len()];
        reached.iter().for_each(|polygon| is_reached[*polygon as usize] = true);
        while let Some(polygon) = reached.pop() {
            for near in self.neighbors(polygon) {
                if !std::mem::replace(&mut is_reached[near as usize], true) {
                    reached.push(near);
                }
            }
        }
        for (polygon, is_reached) in self.polygons.iter_mut().zip(is_reached) {
            polygon.is_left_out = !is_reached;
        }
    }

    /// Returns the islands of the ground that is not left out, the largest ones first.
    pub fn islands(&self) -> Vec<Island> {
        let count = self.polygons.len();
        let mut parents: Vec<u32> = (0..count as u32).collect();
        fn root(parents: &mut [u32], mut at: u32) -> u32 {
            while parents[at as usize] != at {
                parents[at as usize] = parents[parents[at as usize] as usize];
                at = parents[at as usize];
            }
            at
        }
        for polygon in 0..count as u32 {
            for near in self.neighbors(polygon) {
                let (a, b) = (root(&mut parents, polygon), root(&mut parents, near));
                // The smallest number is the root.
                parents[a.max(b) as usize] = a.min(b);
            }
        }
        let mut islands: Vec<Island> = Vec::new();
        let mut island_of = vec![u32::MAX; count];
        for polygon in 0..count as u32 {
            if self.is_left_out(polygon) {
                continue;
            }
            let known = &mut island_of[root(&mut parents, polygon) as usize];
            if *known == u32::MAX {
                *known = islands.len() as u32;
                islands.push(Island { polygons: 0, area: 0.0, first: polygon });
            }
            let island = &mut islands[*known as usize];
            island.polygons += 1;
            island.area += area(self.corners(polygon));
        }
        islands.sort_by(|a, b| b.area.total_cmp(&a.area).then(a.first.cmp(&b.first)));
        islands
    }

    /// Returns about how many square metres of ground a volume with this shape and area changes.
    pub fn ground_inside(&self, shape: &AreaShape, area: u8) -> f32 {
        let grown = self.effective(shape.clone(), area);
        let ([x0, y0, low], [x1, y1, high]) = grown.bounds();
        let step = [(x1 - x0) / SAMPLES as f32, (y1 - y0) / SAMPLES as f32];
        let (side, up) = (self.settings().cell_size * 0.01, (high - low) * 0.5);
        let mut count = 0;
        for sample in 0..SAMPLES * SAMPLES {
            let x = x0 + ((sample % SAMPLES) as f32 + 0.5) * step[0];
            let y = y0 + ((sample / SAMPLES) as f32 + 0.5) * step[1];
            let is_ground = || self.nearest(Vec3::new(x, y, low + up), side, up).is_some();
            count += usize::from(grown.covers([x, y]) && is_ground());
        }
        // Shapes without end have no steps.
        if count == 0 { 0.0 } else { count as f32 * step[0] * step[1] }
    }

    /// Returns the area of a polygon from above, in square metres.
    pub fn ground_area(&self, polygon: u32) -> f32 {
        area(self.corners(polygon))
    }

    /// Returns the memory that the mesh uses for searches, in bytes. Triangles from which it can be
    /// baked again are not counted.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.polygons[..])
            + size_of_val(&self.corners[..])
            + size_of_val(&self.links[..])
            + size_of_val(&self.grids[..])
            + size_of_val(&self.heights[..])
            + size_of_val(&self.tiles[..])
    }

    /// Returns the number of triangles that the mesh was baked from.
    pub fn num_source_triangles(&self) -> usize {
        self.source.len()
    }

    /// Returns the number of tiles.
    pub fn num_tiles(&self) -> usize {
        self.layout.count()
    }
}
