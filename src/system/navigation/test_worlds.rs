//! Generated meshes for tests of searches, without a bake, and the exact lengths of shortest ways.

use crate::bake::{
    BakeSettings, BakeSource, CORNERS_OF_POLYGON_MAX, DEFAULT_AREA, TileLayout, TileMesh,
    TilePolygon,
};
use crate::mesh::NavigationMesh;
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

/// Neighbour of edges at a wall.
const NO_NEIGHBOR: u16 = u16::MAX;
/// Quads along the side of a tile, and their size in cells.
const QUADS: usize = 8;
const QUAD_CELLS: usize = 6;
/// Cells by which a corner of quads is moved.
const JITTER: f64 = 1.0;

/// Returns a mesh of tiles of 8 by 8 quads, whose corners are moved, without those quads for which
/// `is_blocked` returns true.
pub(crate) fn world(
    tiles: usize,
    seed: u64,
    mut is_blocked: impl FnMut(usize, usize, &mut Random) -> bool,
) -> NavigationMesh {
    let side = (tiles * QUADS * QUAD_CELLS) as f32 * BakeSettings::DEFAULT.cell_size;
    let settings = BakeSettings::DEFAULT;
    let layout = TileLayout::new(settings, Vec3::ZERO, Vec3::new(side, side, 1.0)).unwrap();
    assert_eq!((layout.tiles_x, layout.tiles_y), (tiles, tiles));
    let mut random = Random::seed(seed);
    let mut meshes = Vec::new();
    for tile in 0..tiles * tiles {
        let mut mesh = TileMesh::default();
        let row = QUADS + 1;
        for at in 0..row * row {
            // Corners on the sides of the tile stay on them.
            let mut moved = |line: usize| {
                let by = (random.next_f64() - 0.5) * JITTER * 2.0;
                let is_side = line == 0 || line == QUADS;
                (line * QUAD_CELLS) as i32 + if is_side { 0 } else { by.round() as i32 }
            };
            let (x, y) = (moved(at % row), moved(at / row));
            mesh.vertices.push([x as u16, y as u16, 2]);
        }
        let (left, bottom) = (tile % tiles * QUADS, tile / tiles * QUADS);
        for at in 0..QUADS * QUADS {
            let (x, y) = (at % QUADS, at / QUADS);
            if is_blocked(left + x, bottom + y, &mut random) {
                continue;
            }
            let first = (y * row + x) as u16;
            let row = row as u16;
            let mut corners = [0; CORNERS_OF_POLYGON_MAX];
            corners[..4].copy_from_slice(&[first, first + 1, first + row + 1, first + row]);
            mesh.polygons.push(TilePolygon {
                corners,
                neighbors: [NO_NEIGHBOR; CORNERS_OF_POLYGON_MAX],
                count: 4,
                area: DEFAULT_AREA,
                heights: None,
            });
        }
        mesh.connect((QUADS * QUAD_CELLS, QUADS * QUAD_CELLS));
        meshes.push(mesh);
    }
    let ground = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let source = BakeSource::new(ground.to_vec(), vec![[0, 1, 2]]).unwrap();
    let mut mesh = NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap();
    (mesh.layout, mesh.tile_meshes) = (layout, meshes);
    mesh.hierarchy = Default::default();
    mesh.assemble().unwrap();
    mesh.update_hierarchy(&TaskPool::new(Some(1))).unwrap();
    mesh
}

/// Returns a mesh with blocked quads at random. Blocked quads that touch at a corner have another
/// one between them, so that there is no way of no width.
pub(crate) fn pillars(tiles: usize, seed: u64, blocked: f64) -> NavigationMesh {
    let (side, mut random) = (tiles * QUADS, Random::seed(seed));
    let mut grid: Vec<bool> = (0..side * side).map(|_| random.next_f64() < blocked).collect();
    let mut has_changed = true;
    while std::mem::take(&mut has_changed) {
        for at in (0..side * (side - 1)).filter(|at| at % side + 1 < side) {
            let corners = [at, at + 1, at + side, at + side + 1].map(|at| grid[at]);
            if corners == [true, false, false, true] || corners == [false, true, true, false] {
                (grid[at], grid[at + 1]) = (true, true);
                has_changed = true;
            }
        }
    }
    world(tiles, seed, |x, y, _| grid[y * side + x])
}

/// Returns a mesh of rooms of 4 by 4 quads, with walls that are a quad wide. Most have a door.
pub(crate) fn rooms(tiles: usize, seed: u64) -> NavigationMesh {
    let hash = |x: usize, y: usize| {
        let mixed = (x as u64 * 0x9e37_79b9 + y as u64 * 0x85eb_ca6b + seed)
            .wrapping_mul(0xff51_afd7_ed55_8ccd);
        (mixed >> 33) as usize
    };
    world(tiles, seed, move |x, y, _| {
        let (in_column, in_row) = (x % 5 == 4, y % 5 == 4);
        match (in_column, in_row) {
            (true, true) => true,
            (false, false) => false,
            _ => {
                let wall = hash(x / 5 * 2 + usize::from(in_column), y / 5);
                let along = if in_column { y % 5 } else { x % 5 };
                wall % 5 == 4 || along != wall / 5 % 4
            }
        }
    })
}

/// Shortest ways on a mesh without heights: a graph of the corners of walls that see each other.
pub(crate) struct Oracle<'a> {
    mesh: &'a NavigationMesh,
    walls: Vec<(Vec2, Vec2)>,
    corners: Vec<Vec2>,
    ways: Vec<Vec<(usize, f32)>>,
}

impl<'a> Oracle<'a> {
    pub fn new(mesh: &'a NavigationMesh) -> Oracle<'a> {
        let (mut walls, mut corners) = (Vec::new(), Vec::new());
        for polygon in 0..mesh.num_polygons() as u32 {
            mesh.each_wall(polygon, |a, b| walls.push((a.truncate(), b.truncate())));
        }
        corners.extend(walls.iter().flat_map(|(a, b)| [*a, *b]));
        corners.sort_by(|a: &Vec2, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        corners.dedup_by(|a, b| a.distance(*b) < 1e-3);
        let mut oracle = Oracle { mesh, walls, corners, ways: Vec::new() };
        for a in 0..oracle.corners.len() {
            let from = oracle.corners[a];
            oracle.ways.push(oracle.visible(from));
        }
        oracle
    }

    /// Returns the corners that a point sees, with their distances.
    fn visible(&self, from: Vec2) -> Vec<(usize, f32)> {
        let corners = self.corners.iter().enumerate();
        let sees = corners.filter(|(_, to)| from.distance(**to) > 1e-3 && self.sees(from, **to));
        sees.map(|(at, to)| (at, from.distance(*to))).collect()
    }

    fn sees(&self, from: Vec2, to: Vec2) -> bool {
        let way = to - from;
        let margin = 1e-4 * way.length();
        let crosses = |&(a, b): &(Vec2, Vec2)| {
            let side = |point: Vec2| way.perp_dot(point - from);
            let along = b - a;
            let other = |point: Vec2| along.perp_dot(point - a);
            let edge = 1e-4 * along.length();
            (side(a) > margin && side(b) < -margin || side(a) < -margin && side(b) > margin)
                && (other(from) > edge && other(to) < -edge
                    || other(from) < -edge && other(to) > edge)
        };
        if self.walls.iter().any(crosses) {
            return false;
        }
        // Through corners of an obstacle, but not along it.
        let parts = (way.length() * 4.0) as usize + 2;
        (1..parts).all(|at| {
            let point = from + way * (at as f32 / parts as f32);
            self.mesh.nearest(point.extend(0.4), 0.02, 2.0).is_some()
        })
    }

    /// Returns the length of the shortest way between two points; `None` if there is none.
    pub fn length(&self, from: Vec2, to: Vec2) -> Option<f32> {
        if self.sees(from, to) {
            return Some(from.distance(to));
        }
        let mut lengths = vec![f32::INFINITY; self.corners.len()];
        let mut is_done = vec![false; self.corners.len()];
        self.visible(from).into_iter().for_each(|(at, length)| lengths[at] = length);
        let ends = self.visible(to);
        loop {
            let open = (0..lengths.len()).filter(|at| !is_done[*at] && lengths[*at].is_finite());
            let Some(at) = open.min_by(|a, b| lengths[*a].total_cmp(&lengths[*b])) else { break };
            is_done[at] = true;
            for &(next, length) in &self.ways[at] {
                lengths[next] = lengths[next].min(lengths[at] + length);
            }
        }
        let best = ends.iter().map(|(at, length)| lengths[*at] + length).min_by(f32::total_cmp)?;
        best.is_finite().then_some(best)
    }
}
