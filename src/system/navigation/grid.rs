//! Navigation grids: cells with costs. Cells are squares with four or eight neighbours, or
//! hexagons. Paths are in grid_path.rs and grid_jump.rs, other queries in grid_queries.rs, flow
//! fields in grid_flow.rs.
//!
//! Inside, cells are *nodes*: indices into arrays with a border of blocked cells around the grid,
//! so that every neighbour of a cell exists.

use super::grid_flow::FlowField;
pub use super::grid_flow::{FLOW_FIELDS_MAX, GRID_TARGETS_MAX};
use super::grid_jump::JumpMap;
use super::grid_parts::GridParts;
use super::grid_path::DeadEnds;
use super::grid_requests::GridRequests;
use super::grid_search::GridSearch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of columns and of rows.
pub const GRID_SIZE_MAX: usize = 2048;
/// Smallest and largest cost of a cell that can be entered.
pub const CELL_COST_MIN: f32 = 0.01;
pub const CELL_COST_MAX: f32 = 1000.0;
/// Length of a diagonal step.
pub(super) const DIAGONAL: f32 = std::f32::consts::SQRT_2;

/// Neighbours of cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GridShape {
    /// Squares with neighbours on four sides.
    Square4,
    /// Squares with eight neighbours. No diagonal step cuts the corner of a blocked cell.
    Square8,
    /// Hexagons in rows; each second row is shifted to the right by half a cell.
    Hexagonal,
}

/// Steps to neighbours: those of even and of odd rows for hexagons.
pub(super) const SQUARE: [(i32, i32); 8] =
    [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
pub(super) const HEXAGONS: [[(i32, i32); 6]; 2] = [
    [(1, 0), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1)],
    [(1, 0), (1, 1), (0, 1), (-1, 0), (0, -1), (1, -1)],
];

/// Grid of cells with costs.
#[derive(Clone, Debug)]
pub struct NavigationGrid {
    columns: usize,
    rows: usize,
    pub(super) shape: GridShape,
    /// Cost of entering each node, for a step of length 1; 0 if it is blocked.
    pub(super) costs: Vec<f32>,
    /// Least and highest cost of any cell so far.
    pub(super) least: f32,
    pub(super) most: f32,
    pub(super) version: u32,
    /// Nodes of the last changes, one for each version.
    pub(super) changes: Vec<u32>,
    pub(super) searcher: GridSearch,
    pub(super) heap: BinaryHeap<Reverse<u64>>,
    pub(super) dead_ends: DeadEnds,
    pub(super) jumps: JumpMap,
    pub(super) parts: GridParts,
    pub(super) requests: GridRequests,
    pub(super) fields: Vec<FlowField>,
    /// Hash of the costs that differ from those of a new grid.
    costs_hash: u64,
}

impl NavigationGrid {
    /// Creates a grid whose cells all have the cost 1. The caller has checked the size.
    pub fn new(columns: usize, rows: usize, shape: GridShape) -> NavigationGrid {
        assert!((1..=GRID_SIZE_MAX).contains(&columns) && (1..=GRID_SIZE_MAX).contains(&rows));
        let mut grid = NavigationGrid {
            columns,
            rows,
            shape,
            costs: vec![0.0; (columns + 2) * (rows + 2)],
            least: 1.0,
            most: 1.0,
            version: 0,
            changes: Vec::new(),
            searcher: GridSearch::default(),
            heap: BinaryHeap::new(),
            dead_ends: DeadEnds::default(),
            jumps: JumpMap::new(columns, rows),
            parts: GridParts::default(),
            requests: GridRequests::default(),
            fields: Vec::new(),
            costs_hash: 0,
        };
        for row in 0..rows {
            let first = grid.node((row * columns) as u32) as usize;
            grid.costs[first..first + columns].fill(1.0);
            (1..=columns).for_each(|column| grid.jumps.set((column, row + 1), 0.0, 1.0));
        }
        grid
    }

    /// Returns the number of changes of cells that paths have to know of.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns the number of columns and rows.
    pub fn size(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    /// Returns the index of a cell whose column and row count from 0, if it exists.
    pub fn cell(&self, column: i64, row: i64) -> Option<u32> {
        let inside =
            (0..self.columns as i64).contains(&column) && (0..self.rows as i64).contains(&row);
        inside.then(|| (row * self.columns as i64 + column) as u32)
    }

    /// Returns the column and row of a cell, from 0.
    pub fn column_and_row(&self, cell: u32) -> (usize, usize) {
        (cell as usize % self.columns, cell as usize / self.columns)
    }

    /// Returns the number of nodes in a row.
    pub(super) fn stride(&self) -> usize {
        self.columns + 2
    }

    pub(super) fn node(&self, cell: u32) -> u32 {
        let (column, row) = self.column_and_row(cell);
        ((row + 1) * self.stride() + column + 1) as u32
    }

    pub(super) fn cell_of(&self, node: u32) -> u32 {
        let (column, row) = (node as usize % self.stride(), node as usize / self.stride());
        ((row - 1) * self.columns + column - 1) as u32
    }

    /// Returns the cost of a cell; 0 if it is blocked.
    pub fn cost(&self, cell: u32) -> f32 {
        self.costs[self.node(cell) as usize]
    }

    /// Sets the cost of a cell. Flow fields follow when they are next asked.
    pub fn set_cost(&mut self, cell: u32, cost: f32) {
        let node = self.node(cell) as usize;
        let known = &mut self.costs[node];
        if *known == cost {
            return;
        }
        let (before, stride) = (*known, self.columns + 2);
        self.costs_hash ^= cost_hash(node, before) ^ cost_hash(node, cost);
        *known = cost;
        self.jumps.set((node % stride, node / stride), before, cost);
        if cost > 0.0 {
            self.least = self.least.min(cost);
            self.most = self.most.max(cost);
        }
        self.version = self.version.wrapping_add(1);
        self.note_change(node as u32);
    }

    /// Returns the steps to the neighbours of a node.
    pub(super) fn steps(&self, node: u32) -> &'static [(i32, i32)] {
        match self.shape {
            GridShape::Square4 => &SQUARE[..4],
            GridShape::Square8 => &SQUARE,
            // Rows of nodes count from the border.
            GridShape::Hexagonal => &HEXAGONS[(node as usize / self.stride() + 1) % 2],
        }
    }

    /// Calls `each` with the neighbours that can be entered from a node, the lengths of the steps,
    /// and the steps.
    #[inline]
    pub(super) fn each_neighbor(&self, node: u32, mut each: impl FnMut(u32, f32, (i32, i32))) {
        let stride = self.stride() as i32;
        for (at, &(dx, dy)) in self.steps(node).iter().enumerate() {
            let near = (node as i32 + dy * stride + dx) as u32;
            if self.costs[near as usize] == 0.0 {
                continue;
            }
            if at < 4 || self.shape != GridShape::Square8 {
                each(near, 1.0, (dx, dy));
                continue;
            }
            let sides = [node as i32 + dx, node as i32 + dy * stride];
            if sides.into_iter().all(|side| self.costs[side as usize] != 0.0) {
                each(near, DIAGONAL, (dx, dy));
            }
        }
    }

    /// Calls `write` with the numbers that make up the state of the grid.
    pub fn write_state(&self, mut write: impl FnMut(u64)) {
        write((self.columns as u64) << 32 | self.rows as u64);
        write(self.shape as u64);
        write(self.costs_hash);
        self.requests.write_state(&mut write);
        write(self.fields.len() as u64);
        for (name, field) in self.field_names().zip(&self.fields) {
            write(name.len() as u64);
            name.bytes().for_each(|byte| write(u64::from(byte)));
            write(field.targets.len() as u64);
            field.targets.iter().for_each(|target| write(u64::from(*target)));
            if let Some((threats, factor)) = &field.threats {
                threats.bytes().for_each(|byte| write(u64::from(byte)));
                write(u64::from(factor.to_bits()) << 32 | threats.len() as u64);
            }
        }
    }
}

/// Returns the part of a node in the hash of all costs; 0 for the cost of new grids.
fn cost_hash(node: usize, cost: f32) -> u64 {
    if cost == 1.0 {
        return 0;
    }
    // The steps of splitmix64, by S. Vigna.
    let mut hash = (node as u64) << 32 | u64::from(cost.to_bits());
    hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

/// Returns the order of a node in an open list: by cost, then by index.
pub(super) fn key(cost: f32, node: u32) -> u64 {
    u64::from(cost.to_bits()) << 32 | u64::from(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::PartialReason;
    use engine_foundation::random::Random;

    impl NavigationGrid {
        /// Returns the cost of a path.
        pub(crate) fn way_cost(&self, path: &[u32]) -> f32 {
            let step = |pair: &[u32]| {
                let (from, to, mut length) = (self.node(pair[0]), self.node(pair[1]), None);
                let mut take = |near, by| length = length.or((near == to).then_some(by));
                self.each_neighbor(from, |near, by, _| take(near, by));
                length.expect("cells of a path are neighbours") * self.cost(pair[1])
            };
            path.windows(2).map(step).sum()
        }
    }

    fn random_grid(shape: GridShape, seed: u64) -> NavigationGrid {
        let (mut grid, mut random) = (NavigationGrid::new(40, 30, shape), Random::seed(seed));
        for cell in 0..1200 {
            let number = random.next_f64();
            let cost = if number < 0.3 {
                0.0
            } else if number < 0.5 {
                2.5
            } else {
                1.0
            };
            grid.set_cost(cell, cost);
        }
        grid
    }

    #[test]
    fn paths_are_as_cheap_as_the_flow_field() {
        for shape in [GridShape::Square4, GridShape::Square8, GridShape::Hexagonal] {
            for seed in 0..20 {
                let mut grid = random_grid(shape, seed);
                let (from, to) = (3, 1190);
                grid.set_cost(from, 1.0);
                grid.set_cost(to, 1.0);
                // The cost of a field counts the cells that are left, that of a path those that
                // are entered: both ends cost the same.
                assert!(grid.set_targets("target", &[to]));
                let (mut path, mut second) = (Vec::new(), Vec::new());
                let partial = grid.find_path(from, to, 10_000, &mut path);
                // After some searches, dead ends are known.
                for _ in 0..12 {
                    assert_eq!(grid.find_path(from, to, 10_000, &mut second), partial);
                    let (first, again) = (grid.way_cost(&path), grid.way_cost(&second));
                    assert!((first - again).abs() < 1e-3, "{shape:?} {seed}: {first} {again}");
                }
                let flow = grid.flow(0, from);
                assert_eq!(partial.is_none(), flow.is_some(), "{shape:?} {seed}");
                let Some((distance, _)) = flow else { continue };
                let cost = grid.way_cost(&path);
                assert!((cost - distance).abs() < 1e-3, "{shape:?} {seed}: {cost} {distance}");
            }
        }
    }

    #[test]
    fn buckets_and_heap_give_the_same_distances() {
        let mut grid = random_grid(GridShape::Square8, 5);
        grid.set_targets("target", &[17, 900]);
        let by_buckets: Vec<_> = (0..1200).map(|cell| grid.flow(0, cell).map(|it| it.0)).collect();
        grid.least = CELL_COST_MIN;
        grid.most = CELL_COST_MAX;
        grid.fields[0].forget();
        let by_heap: Vec<_> = (0..1200).map(|cell| grid.flow(0, cell).map(|it| it.0)).collect();
        assert_eq!(by_buckets, by_heap);
    }

    fn state(grid: &NavigationGrid) -> Vec<u64> {
        let mut numbers = Vec::new();
        grid.write_state(|number| numbers.push(number));
        numbers
    }

    #[test]
    fn the_hash_of_a_grid_has_its_shape_costs_and_fields() {
        let new = NavigationGrid::new;
        let first = state(&new(6, 4, GridShape::Square8));
        assert_ne!(first, state(&new(4, 6, GridShape::Square8)));
        assert_ne!(first, state(&new(6, 4, GridShape::Square4)));
        let mut grid = new(6, 4, GridShape::Square8);
        grid.set_cost(3, 2.0);
        grid.set_cost(5, 0.0);
        let changed = state(&grid);
        assert_ne!(first, changed);
        // The order of changes does not count, and what was undone is as it was.
        let mut other = new(6, 4, GridShape::Square8);
        other.set_cost(5, 4.0);
        other.set_cost(5, 0.0);
        other.set_cost(3, 2.0);
        assert_eq!(changed, state(&other));
        grid.set_cost(3, 1.0);
        grid.set_cost(5, 1.0);
        assert_eq!(first, state(&grid));
        // The fields of both have the same targets together.
        grid.set_targets("a", &[1, 2]);
        grid.set_targets("b", &[3]);
        let fields = state(&grid);
        grid.set_targets("a", &[1]);
        grid.set_targets("b", &[2, 3]);
        assert_ne!(fields, state(&grid));
    }

    #[test]
    fn a_flow_field_follows_changed_cells() {
        let mut grid = NavigationGrid::new(5, 3, GridShape::Square4);
        grid.set_targets("exit", &[4]);
        assert_eq!(grid.flow(0, 0), Some((4.0, 1)));
        grid.set_cost(2, 0.0);
        assert_eq!(grid.flow(0, 0).unwrap().0, 6.0);
        grid.set_cost(7, 0.0);
        grid.set_cost(12, 0.0);
        assert_eq!(grid.flow(0, 0), None);
        grid.set_cost(2, 1.0);
        assert_eq!(grid.flow(0, 0), Some((4.0, 1)));
    }

    #[test]
    fn diagonal_steps_do_not_cut_corners() {
        let mut grid = NavigationGrid::new(2, 2, GridShape::Square8);
        grid.set_cost(1, 0.0);
        let mut path = Vec::new();
        assert_eq!(grid.find_path(0, 3, 100, &mut path), None);
        assert_eq!(path, [0, 2, 3]);
        grid.set_cost(2, 0.0);
        assert_eq!(grid.find_path(0, 3, 100, &mut path), Some(PartialReason::Unreachable));
        assert_eq!(path, [0]);
    }

    /// Maze whose ways are one cell wide, with loops if `holes` is above 0.
    fn maze(shape: GridShape, seed: u64, holes: usize) -> NavigationGrid {
        let (mut grid, mut random) = (NavigationGrid::new(41, 41, shape), Random::seed(seed));
        (0..41 * 41).for_each(|cell| grid.set_cost(cell, 0.0));
        let (mut stack, mut known) = (vec![(0i32, 0i32)], vec![(0, 0)]);
        grid.set_cost(0, 1.0);
        while let Some(&(x, y)) = stack.last() {
            let free = |(dx, dy): &(i32, i32)| {
                let next = (x + dx * 2, y + dy * 2);
                (0..41).contains(&next.0) && (0..41).contains(&next.1) && !known.contains(&next)
            };
            let ways: Vec<_> = SQUARE[..4].iter().copied().filter(free).collect();
            let Some(&(dx, dy)) = ways.get((random.next_f64() * ways.len() as f64) as usize) else {
                stack.pop();
                continue;
            };
            for part in 1..3 {
                grid.set_cost(((y + dy * part) * 41 + x + dx * part) as u32, 1.0);
            }
            known.push((x + dx * 2, y + dy * 2));
            stack.push((x + dx * 2, y + dy * 2));
        }
        for _ in 0..holes {
            grid.set_cost((random.next_f64() * 41.0 * 41.0) as u32, 1.0);
        }
        grid
    }

    #[test]
    fn mazes_are_crossed_the_shortest_way() {
        for (shape, holes) in
            [(GridShape::Square4, 0), (GridShape::Square8, 0), (GridShape::Square8, 60)]
        {
            let mut grid = maze(shape, 4, holes);
            let mut path = Vec::new();
            for (from, to) in [(0, 1680), (1680, 0), (40, 1640), (0, 0), (2, 0), (840, 842)] {
                for search in 0..12 {
                    if grid.cost(from) == 0.0 || grid.cost(to) == 0.0 {
                        continue;
                    }
                    grid.set_targets("target", &[to]);
                    let (distance, _) = grid.flow(0, from).expect("a maze is connected");
                    assert_eq!(grid.find_path(from, to, 10_000, &mut path), None);
                    assert_eq!((path[0], path[path.len() - 1]), (from, to));
                    let cost = grid.way_cost(&path);
                    assert!((cost - distance).abs() < 1e-3, "{shape:?} {search} {cost} {distance}");
                }
            }
        }
    }

    #[test]
    fn changes_open_dead_ends_again() {
        let mut grid = maze(GridShape::Square4, 4, 0);
        let mut path = Vec::new();
        for _ in 0..12 {
            grid.find_path(0, 1680, 10_000, &mut path);
        }
        let long = path.len();
        (0..41 * 41).for_each(|cell| grid.set_cost(cell, 1.0));
        for _ in 0..12 {
            assert_eq!(grid.find_path(0, 1680, 10_000, &mut path), None);
            assert_eq!(path.len(), 81);
        }
        assert!(long > 81);
    }
}
