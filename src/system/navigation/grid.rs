//! Navigation grids: cells with costs, A* between cells, and flow fields that lead from every cell
//! to the nearest target. Cells are squares with four or eight neighbours, or hexagons.

use super::search::PartialReason;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of columns and of rows.
pub const GRID_SIZE_MAX: usize = 2048;
/// Maximum number of flow fields of a grid.
pub const FLOW_FIELDS_MAX: usize = 64;
/// Smallest and largest cost of a cell that can be entered.
pub const CELL_COST_MIN: f32 = 0.01;
pub const CELL_COST_MAX: f32 = 1000.0;
/// Buckets of distances above which a heap is used instead.
const BUCKETS_MAX: usize = 4096;
/// Length of a diagonal step.
const DIAGONAL: f32 = std::f32::consts::SQRT_2;
const NO_CELL: u32 = u32::MAX;

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

/// Steps to neighbours with their lengths. For hexagons, those of even and of odd rows.
const SQUARE: [(i32, i32); 8] =
    [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
const HEXAGONS: [[(i32, i32); 6]; 2] = [
    [(1, 0), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1)],
    [(1, 0), (1, 1), (0, 1), (-1, 0), (0, -1), (1, -1)],
];

#[derive(Clone, Copy, Debug, Default)]
struct CellMark {
    stamp: u32,
    parent: u32,
    cost: f32,
    is_closed: bool,
}

/// Distances of all cells to the nearest target, and the next cell on the way there.
#[derive(Clone, Debug)]
struct FlowField {
    name: String,
    targets: Vec<u32>,
    /// Version of the grid for which it was computed; `None` if it was not.
    version: Option<u32>,
    distances: Vec<f32>,
    next: Vec<u32>,
}

/// Grid of cells with costs.
#[derive(Clone, Debug)]
pub struct NavigationGrid {
    columns: usize,
    rows: usize,
    shape: GridShape,
    /// Cost of entering each cell, for a step of length 1; 0 if it is blocked.
    costs: Vec<f32>,
    /// Least cost of any cell so far.
    least: f32,
    most: f32,
    version: u32,
    marks: Vec<CellMark>,
    stamp: u32,
    heap: BinaryHeap<Reverse<u64>>,
    fields: Vec<FlowField>,
}

impl NavigationGrid {
    /// Creates a grid whose cells all have the cost 1. The caller has checked the size.
    pub fn new(columns: usize, rows: usize, shape: GridShape) -> NavigationGrid {
        assert!((1..=GRID_SIZE_MAX).contains(&columns) && (1..=GRID_SIZE_MAX).contains(&rows));
        NavigationGrid {
            columns,
            rows,
            shape,
            costs: vec![1.0; columns * rows],
            least: 1.0,
            most: 1.0,
            version: 0,
            marks: Vec::new(),
            stamp: 0,
            heap: BinaryHeap::new(),
            fields: Vec::new(),
        }
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

    /// Returns the cost of a cell; 0 if it is blocked.
    pub fn cost(&self, cell: u32) -> f32 {
        self.costs[cell as usize]
    }

    /// Sets the cost of a cell. Flow fields follow when they are next asked.
    pub fn set_cost(&mut self, cell: u32, cost: f32) {
        let known = &mut self.costs[cell as usize];
        if *known == cost {
            return;
        }
        *known = cost;
        if cost > 0.0 {
            self.least = self.least.min(cost);
            self.most = self.most.max(cost);
        }
        self.version = self.version.wrapping_add(1);
    }

    fn degree(&self) -> usize {
        match self.shape {
            GridShape::Square4 => 4,
            GridShape::Square8 => 8,
            GridShape::Hexagonal => 6,
        }
    }

    /// Returns a neighbour of a cell that can be entered from it, with the length of the step.
    #[inline]
    fn neighbor(&self, (column, row): (usize, usize), at: usize) -> Option<(u32, f32)> {
        let (dx, dy) = match self.shape {
            GridShape::Hexagonal => HEXAGONS[row % 2][at],
            _ => SQUARE[at],
        };
        let (x, y) = (column as i32 + dx, row as i32 + dy);
        if x < 0 || y < 0 || x >= self.columns as i32 || y >= self.rows as i32 {
            return None;
        }
        let near = y as usize * self.columns + x as usize;
        if self.costs[near] == 0.0 {
            return None;
        }
        if self.shape == GridShape::Square8 && at >= 4 {
            let sides = [row * self.columns + x as usize, y as usize * self.columns + column];
            if sides.into_iter().any(|cell| self.costs[cell] == 0.0) {
                return None;
            }
            return Some((near as u32, DIAGONAL));
        }
        Some((near as u32, 1.0))
    }

    /// Returns the length of the shortest way between two cells of a grid without blocked cells.
    fn distance(&self, from: u32, to: u32) -> f32 {
        let ((a, b), (c, d)) = (self.column_and_row(from), self.column_and_row(to));
        let (x, y) = (a.abs_diff(c) as f32, b.abs_diff(d) as f32);
        match self.shape {
            GridShape::Square4 => x + y,
            GridShape::Square8 => x.max(y) + (DIAGONAL - 1.0) * x.min(y),
            GridShape::Hexagonal => {
                // Axial coordinates: columns minus half of the rows.
                let axial = |column: usize, row: usize| column as i64 - (row / 2) as i64;
                let across = axial(a, b) - axial(c, d);
                let up = b as i64 - d as i64;
                across.abs().max(up.abs()).max((across + up).abs()) as f32
            }
        }
    }

    /// Finds the cheapest path between two cells. `path` has both of them. If there is none, the
    /// path leads to the cell that is nearest to the target.
    pub fn find_path(
        &mut self,
        from: u32,
        to: u32,
        nodes_max: usize,
        path: &mut Vec<u32>,
    ) -> Option<PartialReason> {
        self.begin();
        self.marks[from as usize] =
            CellMark { stamp: self.stamp, parent: NO_CELL, cost: 0.0, is_closed: false };
        let far = self.distance(from, to) * self.least;
        self.heap.push(Reverse(key(far, from)));
        let (mut best, mut nodes) = ((far, from), 0);
        let mut reason = PartialReason::Unreachable;
        while let Some(Reverse(top)) = self.heap.pop() {
            let cell = top as u32;
            if std::mem::replace(&mut self.marks[cell as usize].is_closed, true) {
                continue;
            }
            if cell == to {
                self.trace(cell, path);
                return None;
            }
            if nodes >= nodes_max {
                reason = PartialReason::Budget;
                break;
            }
            nodes += 1;
            let cost_here = self.marks[cell as usize].cost;
            let location = self.column_and_row(cell);
            for at in 0..self.degree() {
                let Some((near, length)) = self.neighbor(location, at) else { continue };
                let cost = cost_here + length * self.costs[near as usize];
                let mark = &mut self.marks[near as usize];
                if mark.stamp == self.stamp && (mark.is_closed || mark.cost <= cost) {
                    continue;
                }
                *mark = CellMark { stamp: self.stamp, parent: cell, cost, is_closed: false };
                let rest = self.distance(near, to) * self.least;
                self.heap.push(Reverse(key(cost + rest, near)));
                if rest < best.0 {
                    best = (rest, near);
                }
            }
        }
        self.trace(best.1, path);
        Some(reason)
    }

    fn begin(&mut self) {
        if self.marks.is_empty() || self.stamp == u32::MAX {
            self.marks.clear();
            self.marks.resize(self.costs.len(), CellMark::default());
            self.stamp = 0;
        }
        self.stamp += 1;
        self.heap.clear();
    }

    fn trace(&self, end: u32, path: &mut Vec<u32>) {
        path.clear();
        let mut at = end;
        while at != NO_CELL {
            path.push(at);
            at = self.marks[at as usize].parent;
        }
        path.reverse();
    }

    /// Sets the targets of the flow field with a name, which is created if it does not exist.
    /// Without targets the field is removed. Returns false if there are too many fields.
    pub fn set_targets(&mut self, name: &str, targets: &[u32]) -> bool {
        let found = self.fields.iter().position(|field| field.name == name);
        match found {
            Some(at) if targets.is_empty() => {
                self.fields.remove(at);
            }
            Some(at) => {
                self.fields[at].targets = targets.to_vec();
                self.fields[at].version = None;
            }
            None if targets.is_empty() => {}
            None if self.fields.len() >= FLOW_FIELDS_MAX => return false,
            None => self.fields.push(FlowField {
                name: name.to_string(),
                targets: targets.to_vec(),
                version: None,
                distances: Vec::new(),
                next: Vec::new(),
            }),
        }
        true
    }

    /// Returns the names of the flow fields.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Returns the index of a flow field.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Returns the cost of the way from a cell to the nearest target of a field, and the next cell
    /// on it: the cell itself at a target. Returns `None` if no way leads to a target.
    pub fn flow(&mut self, field: usize, cell: u32) -> Option<(f32, u32)> {
        if self.fields[field].version != Some(self.version) {
            self.compute(field);
        }
        let field = &self.fields[field];
        let distance = field.distances[cell as usize];
        (distance < f32::MAX).then(|| (distance, field.next[cell as usize]))
    }

    /// Computes a field by Dijkstra's algorithm from all targets. Cells wait in buckets of
    /// distances that are at most as wide as the shortest step, so that their order within a bucket
    /// does not matter (R. Dial, "Algorithm 360", 1969; E. Denardo and B. Fox, 1979).
    fn compute(&mut self, field: usize) {
        let mut field_data = std::mem::replace(
            &mut self.fields[field],
            FlowField {
                name: String::new(),
                targets: Vec::new(),
                version: None,
                distances: Vec::new(),
                next: Vec::new(),
            },
        );
        field_data.version = Some(self.version);
        field_data.distances.clear();
        field_data.distances.resize(self.costs.len(), f32::MAX);
        field_data.next.clear();
        field_data.next.resize(self.costs.len(), NO_CELL);
        let buckets = (self.most * DIAGONAL / self.least) as usize + 2;
        if buckets <= BUCKETS_MAX {
            self.fill_by_buckets(&mut field_data, buckets);
        } else {
            self.fill_by_heap(&mut field_data);
        }
        self.fields[field] = field_data;
    }

    fn fill_by_buckets(&self, field: &mut FlowField, count: usize) {
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); count];
        let width = 1.0 / self.least;
        let mut waiting = 0usize;
        for &target in &field.targets {
            field.distances[target as usize] = 0.0;
            field.next[target as usize] = target;
            buckets[0].push(target);
            waiting += 1;
        }
        let (mut at, mut current) = (0u64, Vec::new());
        while waiting > 0 {
            let slot = (at % count as u64) as usize;
            std::mem::swap(&mut current, &mut buckets[slot]);
            waiting -= current.len();
            for &cell in &current {
                let here = field.distances[cell as usize];
                if (here * width) as u64 + 1 < at {
                    // It was reached on a shorter way, and handled then.
                    continue;
                }
                self.relax(field, cell, |near, distance| {
                    let bucket = ((distance * width) as u64).max(at + 1);
                    buckets[(bucket % count as u64) as usize].push(near);
                    waiting += 1;
                });
            }
            current.clear();
            at += 1;
        }
    }

    fn fill_by_heap(&mut self, field: &mut FlowField) {
        let mut heap = std::mem::take(&mut self.heap);
        heap.clear();
        for &target in &field.targets {
            field.distances[target as usize] = 0.0;
            field.next[target as usize] = target;
            heap.push(Reverse(key(0.0, target)));
        }
        while let Some(Reverse(top)) = heap.pop() {
            let cell = top as u32;
            if key(field.distances[cell as usize], cell) != top {
                continue;
            }
            self.relax(field, cell, |near, distance| heap.push(Reverse(key(distance, near))));
        }
        self.heap = heap;
    }

    /// Shortens the ways of the cells from which a cell can be entered.
    #[inline]
    fn relax(&self, field: &mut FlowField, cell: u32, mut push: impl FnMut(u32, f32)) {
        let here = field.distances[cell as usize];
        let cost = self.costs[cell as usize];
        if cost == 0.0 {
            // A blocked target: nobody can enter it.
            return;
        }
        let location = self.column_and_row(cell);
        for at in 0..self.degree() {
            let Some((near, length)) = self.neighbor(location, at) else { continue };
            let distance = here + length * cost;
            if distance < field.distances[near as usize] {
                field.distances[near as usize] = distance;
                field.next[near as usize] = cell;
                push(near, distance);
            }
        }
    }

    /// Calls `write` with the numbers that make up the state of the grid.
    pub fn write_state(&self, mut write: impl FnMut(u64)) {
        write(self.costs.len() as u64);
        for cost in &self.costs {
            write(u64::from(cost.to_bits()));
        }
        for field in &self.fields {
            field.targets.iter().for_each(|target| write(u64::from(*target)));
        }
    }
}

fn key(cost: f32, cell: u32) -> u64 {
    u64::from(cost.to_bits()) << 32 | u64::from(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    fn path_cost(grid: &NavigationGrid, path: &[u32]) -> f32 {
        let step = |pair: &[u32]| {
            let near = (0..grid.degree()).find_map(|at| {
                grid.neighbor(grid.column_and_row(pair[0]), at).filter(|(near, _)| *near == pair[1])
            });
            let (near, length) = near.expect("cells of a path are neighbours");
            length * grid.cost(near)
        };
        path.windows(2).map(step).sum()
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
                let mut path = Vec::new();
                let partial = grid.find_path(from, to, 10_000, &mut path);
                let flow = grid.flow(0, from);
                assert_eq!(partial.is_none(), flow.is_some(), "{shape:?} {seed}");
                let Some((distance, _)) = flow else { continue };
                let cost = path_cost(&grid, &path);
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
        grid.fields[0].version = None;
        let by_heap: Vec<_> = (0..1200).map(|cell| grid.flow(0, cell).map(|it| it.0)).collect();
        assert_eq!(by_buckets, by_heap);
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
}
