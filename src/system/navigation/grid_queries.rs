//! Queries of navigation grids: the free cell that is nearest to a cell, and straight lines of
//! cells.

use super::grid::{GridShape, NavigationGrid};

impl NavigationGrid {
    /// Returns the free cell that is nearest to a cell, whose column and row may be outside of the
    /// grid: within a number of columns and rows, the first one by rows of those at the same
    /// distance.
    pub fn nearest_free(&self, column: i64, row: i64, reach: i64) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for ring in self.rings(column, row, reach) {
            if best.is_some_and(|(distance, _)| distance < self.least_of_ring(ring)) {
                break;
            }
            self.each_of_ring(column, row, ring, |x, y| {
                let Some(cell) = self.cell(x, y).filter(|cell| self.cost(*cell) > 0.0) else {
                    return;
                };
                let distance = self.apart((column, row), (x, y));
                if best.is_none_or(|known| (distance, cell) < known) {
                    best = Some((distance, cell));
                }
            });
        }
        best.map(|(_, cell)| cell)
    }

    /// Returns the square rings around a cell that have cells of the grid.
    fn rings(&self, column: i64, row: i64, reach: i64) -> std::ops::RangeInclusive<i64> {
        let (columns, rows) = self.size();
        let sides = [(column, columns as i64 - 1), (row, rows as i64 - 1)];
        let nearest =
            sides.map(|(at, last)| 0.max(0i64.saturating_sub(at)).max(at.saturating_sub(last)));
        let farthest = sides.map(|(at, last)| at.max(last.saturating_sub(at)));
        nearest[0].max(nearest[1])..=reach.min(farthest[0].max(farthest[1]))
    }

    /// Calls `each` with the columns and rows of the cells of the grid in a square ring.
    fn each_of_ring(&self, column: i64, row: i64, ring: i64, mut each: impl FnMut(i64, i64)) {
        let (columns, rows) = self.size();
        let (left, right) = (column - ring, column + ring);
        for y in (row - ring).max(0)..=(row + ring).min(rows as i64 - 1) {
            if (y - row).abs() == ring {
                let last = right.min(columns as i64 - 1);
                (left.max(0)..=last).for_each(|x| each(x, y));
                continue;
            }
            for x in [left, right] {
                if (0..columns as i64).contains(&x) {
                    each(x, y);
                }
            }
        }
    }

    /// Returns the least squared distance of a ring of columns and rows.
    fn least_of_ring(&self, ring: i64) -> f64 {
        // Rows of hexagons are closer to each other than columns.
        let height = if self.shape == GridShape::Hexagonal { ROW_OF_HEXAGONS } else { 1.0 };
        (ring as f64 * height).powi(2)
    }

    /// Returns the position of the middle of a cell, in cells.
    pub fn middle(&self, column: i64, row: i64) -> (f64, f64) {
        match self.shape {
            GridShape::Hexagonal => {
                let shift = if row.rem_euclid(2) == 1 { 0.5 } else { 0.0 };
                (column as f64 + 0.5 + shift, (row as f64 + 0.5) * ROW_OF_HEXAGONS)
            }
            _ => (column as f64 + 0.5, row as f64 + 0.5),
        }
    }

    /// Returns the squared distance between the middles of two cells.
    fn apart(&self, a: (i64, i64), b: (i64, i64)) -> f64 {
        let (a, b) = (self.middle(a.0, a.1), self.middle(b.0, b.1));
        (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)
    }

    /// Returns the first blocked cell on the straight line from the middle of a cell to that of
    /// another one; `None` if there is none. A line through the corner of a blocked cell is
    /// blocked, as diagonal steps are.
    pub fn raycast(&self, from: u32, to: u32) -> Option<u32> {
        let mut blocked = None;
        self.each_on_line(from, to, |cell| {
            blocked = (self.cost(cell) == 0.0).then_some(cell);
            blocked.is_none()
        });
        blocked
    }

    /// Calls `each` with the cells of a straight line until it returns false.
    fn each_on_line(&self, from: u32, to: u32, mut each: impl FnMut(u32) -> bool) {
        let whole = |cell: u32| {
            let (column, row) = self.column_and_row(cell);
            (column as i64, row as i64)
        };
        let (a, b) = (whole(from), whole(to));
        if self.shape == GridShape::Hexagonal {
            return self.each_hexagon_on_line(a, b, each);
        }
        let mut pass = |x: i64, y: i64| self.cell(x, y).is_none_or(&mut each);
        let (across, up) = ((b.0 - a.0).abs(), (b.1 - a.1).abs());
        let (right, above) = ((b.0 - a.0).signum(), (b.1 - a.1).signum());
        let ((mut x, mut y), mut columns, mut rows) = (a, 0, 0);
        if !pass(x, y) {
            return;
        }
        while columns < across || rows < up {
            // Which border is crossed next: at (1 + 2 i) / (2 n) of the line.
            let order = ((1 + 2 * columns) * up).cmp(&((1 + 2 * rows) * across));
            if order.is_eq() && !(pass(x + right, y) && pass(x, y + above)) {
                return;
            }
            if order.is_le() {
                (x, columns) = (x + right, columns + 1);
            }
            if order.is_ge() {
                (y, rows) = (y + above, rows + 1);
            }
            if !pass(x, y) {
                return;
            }
        }
    }

    /// Walks in steps of at most one hexagon: each is the one whose middle is nearest to a point of
    /// the line.
    fn each_hexagon_on_line(
        &self,
        a: (i64, i64),
        b: (i64, i64),
        mut each: impl FnMut(u32) -> bool,
    ) {
        let axial = |(column, row): (i64, i64)| (column - row.div_euclid(2), row);
        let ((q, r), (to_q, to_r)) = (axial(a), axial(b));
        let (dq, dr) = (to_q - q, to_r - r);
        let count = dq.abs().max(dr.abs()).max((dq + dr).abs());
        for at in 0..=count {
            let part = |from: i64, by: i64| {
                from as f64 + if count > 0 { by as f64 * at as f64 / count as f64 } else { 0.0 }
            };
            // Points between two hexagons are moved to the same side, if that is in the grid.
            let cell = [1e-6, -1e-6].into_iter().find_map(|by| {
                let (q, r) = round_axial(part(q, dq) + by, part(r, dr) + by * 2.0);
                self.cell(q + r.div_euclid(2), r)
            });
            if cell.is_some_and(|cell| !each(cell)) {
                return;
            }
        }
    }
}

/// Distance between rows of hexagons, in columns.
const ROW_OF_HEXAGONS: f64 = 0.866_025_403_784_438_6;

/// Returns the hexagon at a position in axial coordinates.
fn round_axial(q: f64, r: f64) -> (i64, i64) {
    let s = -q - r;
    let (mut whole_q, mut whole_r, whole_s) = (q.round(), r.round(), s.round());
    let (away_q, away_r, away_s) = ((whole_q - q).abs(), (whole_r - r).abs(), (whole_s - s).abs());
    if away_q > away_r && away_q > away_s {
        whole_q = -whole_r - whole_s;
    } else if away_r > away_s {
        whole_r = -whole_q - whole_s;
    }
    (whole_q as i64, whole_r as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    fn random_grid(shape: GridShape, blocked: f64) -> NavigationGrid {
        let (mut grid, mut random) = (NavigationGrid::new(20, 15, shape), Random::seed(8));
        for cell in 0..300 {
            grid.set_cost(cell, if random.next_f64() < blocked { 0.0 } else { 1.0 });
        }
        grid
    }

    #[test]
    fn the_nearest_free_cell_is_that_of_a_full_search() {
        for shape in [GridShape::Square4, GridShape::Square8, GridShape::Hexagonal] {
            let grid = random_grid(shape, 0.9);
            for column in -3..23 {
                for row in -3..18 {
                    let free = (0..300u32).filter(|cell| grid.cost(*cell) > 0.0).map(|cell| {
                        let (x, y) = grid.column_and_row(cell);
                        (grid.apart((column, row), (x as i64, y as i64)), cell)
                    });
                    let best = free.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    let found = grid.nearest_free(column, row, 40);
                    assert_eq!(found, best.map(|it| it.1), "{shape:?} {column} {row}");
                }
            }
            assert_eq!(grid.nearest_free(-50, 3, 40), None);
            assert_eq!(grid.nearest_free(i64::MIN, i64::MAX, 3), None);
        }
    }

    #[test]
    fn no_cell_outside_of_the_grid_is_visited() {
        let grid = NavigationGrid::new(20, 15, GridShape::Square8);
        for (column, row, reach) in [(-2048, 5, 2048), (3, 4, 2048), (19, 14, 7), (-9, -9, 8)] {
            let (mut cells, mut visited) = (std::collections::BTreeSet::new(), 0);
            for ring in grid.rings(column, row, reach) {
                grid.each_of_ring(column, row, ring, |x, y| {
                    assert!(grid.cell(x, y).is_some() && cells.insert((x, y)), "{x} {y}");
                    visited += 1;
                });
            }
            let is_near = |x: i64, y: i64| (x - column).abs().max((y - row).abs()) <= reach;
            let near = (0..15).flat_map(|y| (0..20).map(move |x| (x, y)));
            assert_eq!(visited, near.filter(|(x, y)| is_near(*x, *y)).count());
        }
        assert!(grid.rings(-5000, 3, 2048).is_empty());
    }

    #[test]
    fn lines_stop_at_the_first_blocked_cell() {
        let mut grid = NavigationGrid::new(9, 9, GridShape::Square8);
        let cell = |grid: &NavigationGrid, x, y| grid.cell(x, y).unwrap();
        let (from, to) = (cell(&grid, 0, 0), cell(&grid, 8, 4));
        assert_eq!(grid.raycast(from, to), None);
        let (first, second) = (cell(&grid, 2, 1), cell(&grid, 6, 3));
        grid.set_cost(second, 0.0);
        assert_eq!(grid.raycast(from, to), Some(second));
        grid.set_cost(first, 0.0);
        assert_eq!(grid.raycast(from, to), Some(first));
        assert_eq!(grid.raycast(to, from), Some(second));
        assert_eq!(grid.raycast(first, from), Some(first));
        // A corner of a blocked cell stops the line.
        let side = cell(&grid, 7, 8);
        grid.set_cost(side, 0.0);
        assert_eq!(grid.raycast(cell(&grid, 7, 7), cell(&grid, 8, 8)), Some(side));
        assert_eq!(grid.raycast(cell(&grid, 8, 8), cell(&grid, 7, 7)), Some(side));
    }

    #[test]
    fn free_lines_are_ways_of_neighbors() {
        for shape in [GridShape::Square8, GridShape::Hexagonal] {
            let (grid, mut random) = (random_grid(shape, 0.15), Random::seed(2));
            let (mut free, mut stopped) = (0, 0);
            for _ in 0..2000 {
                let [from, to] = [(); 2].map(|_| (random.next_f64() * 300.0) as u32);
                let mut cells = Vec::new();
                grid.each_on_line(from, to, |cell| {
                    cells.push(cell);
                    true
                });
                assert_eq!((cells.first(), cells.last()), (Some(&from), Some(&to)));
                let blocked = cells.iter().find(|cell| grid.cost(**cell) == 0.0).copied();
                assert_eq!(grid.raycast(from, to), blocked);
                for pair in cells.windows(2) {
                    let whole = |cell: u32| {
                        let (x, y) = grid.column_and_row(cell);
                        (x as i64, y as i64)
                    };
                    assert!(grid.apart(whole(pair[0]), whole(pair[1])) < 2.1, "{from} {to}");
                }
                match blocked {
                    Some(_) => stopped += 1,
                    None => free += 1,
                }
            }
            assert!(free > 100 && stopped > 100, "{free} {stopped}");
        }
    }
}
