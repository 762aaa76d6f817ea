//! Layout of the cells of a map: rectangles, diamonds, and the staggered rows or columns of
//! isometric and hexagonal maps. Knows no tiles.
//!
//! Columns and rows count from 0 at the bottom left, in the order of Tiled's columns and of its
//! rows from the last to the first. Positions are in texels from the grid's bottom left, y up. The
//! formulas are those of the renderers of Tiled (libtiled).

use std::ops::RangeInclusive;

/// Layout of the cells of a layer.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum CellShape {
    /// Rectangles, side by side.
    #[default]
    Rectangles,
    /// Diamonds: the columns run to the bottom right, the rows to the bottom left.
    Diamonds,
    /// Diamonds or hexagons, of which every second row or column is moved by half a cell.
    Staggered(Stagger),
}

/// Parameters of staggered cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stagger {
    /// True if columns are moved down, false if rows are moved to the right.
    pub columns: bool,
    /// True if the moved ones are the first, third, … counted from the top left.
    pub first: bool,
    /// Length of the sides that are parallel to the axis of the staggering; 0 for diamonds.
    pub side: f32,
}

/// Cells of a layer: their layout, number and size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CellGrid {
    pub shape: CellShape,
    pub columns: u32,
    pub rows: u32,
    /// Width and height of a cell's bounding rectangle.
    pub cell: [f32; 2],
}

/// Distances between staggered cells.
struct StaggerSteps {
    /// Size of a cell, which is even.
    cell: [f64; 2],
    /// Length of the parallel sides along x and y; one of them is 0.
    side: [f64; 2],
    /// Distance of two neighbouring columns and rows.
    step: [f64; 2],
}

impl Stagger {
    fn steps(&self, cell: [f32; 2]) -> StaggerSteps {
        let even = |size: f32| ((f64::from(size) * 0.5).floor() * 2.0).max(2.0);
        let cell = cell.map(even);
        let axis = usize::from(!self.columns);
        let mut side = [0.0, 0.0];
        // At least two texels remain for the slopes on both ends.
        side[axis] = f64::from(self.side).clamp(0.0, cell[axis] - 2.0);
        let mut step = [0, 1].map(|axis| ((cell[axis] - side[axis]) * 0.5).floor() + side[axis]);
        step = step.map(|step| step.max(1.0));
        StaggerSteps { cell, side, step }
    }

    /// Returns true if the column or row with this index from the top left is moved.
    fn is_moved(&self, index: i64) -> bool {
        (index.rem_euclid(2) == 0) == self.first
    }
}

impl CellGrid {
    fn size_f64(&self) -> [f64; 2] {
        let count = [f64::from(self.columns), f64::from(self.rows)];
        let cell = self.cell.map(f64::from);
        match self.shape {
            CellShape::Rectangles => [count[0] * cell[0], count[1] * cell[1]],
            CellShape::Diamonds => {
                let both = (count[0] + count[1]) * 0.5;
                [both * cell[0], both * cell[1]]
            }
            CellShape::Staggered(stagger) => {
                let StaggerSteps { cell, side, step } = stagger.steps(self.cell);
                let (along, across) = (usize::from(!stagger.columns), usize::from(stagger.columns));
                let mut size = [0.0; 2];
                size[along] = count[along] * step[along] + step[along] - side[along];
                size[across] = count[across] * (cell[across] + side[across]);
                if count[along] > 1.0 {
                    size[across] += step[across];
                }
                size
            }
        }
    }

    /// Returns the width and height of the grid.
    pub fn size(&self) -> [f32; 2] {
        self.size_f64().map(|side| side as f32)
    }

    /// Returns the bottom left of a cell's bounding rectangle. The cell may be outside of the grid.
    pub fn corner(&self, column: i64, row: i64) -> [f64; 2] {
        let cell = self.cell.map(f64::from);
        let down = i64::from(self.rows) - 1 - row;
        let (x, y) = (column as f64, down as f64);
        match self.shape {
            CellShape::Rectangles => [x * cell[0], row as f64 * cell[1]],
            CellShape::Diamonds => {
                let left = (x - y + f64::from(self.rows) - 1.0) * 0.5 * cell[0];
                let bottom = (x + y) * 0.5 * cell[1] + cell[1];
                [left, self.size_f64()[1] - bottom]
            }
            CellShape::Staggered(stagger) => {
                let StaggerSteps { cell, side, step } = stagger.steps(self.cell);
                let [mut left, mut top] = [0, 1].map(|axis| {
                    let along = (axis == 0) == stagger.columns;
                    let index = [x, y][axis];
                    index * if along { step[axis] } else { cell[axis] + side[axis] }
                });
                if stagger.columns && stagger.is_moved(column) {
                    top += step[1];
                } else if !stagger.columns && stagger.is_moved(down) {
                    left += step[0];
                }
                [left, self.size_f64()[1] - top - cell[1]]
            }
        }
    }

    /// Returns the center of a cell.
    pub fn center(&self, column: i64, row: i64) -> [f64; 2] {
        let [left, bottom] = self.corner(column, row);
        let cell = match self.shape {
            CellShape::Staggered(stagger) => stagger.steps(self.cell).cell,
            _ => self.cell.map(f64::from),
        };
        [left + cell[0] * 0.5, bottom + cell[1] * 0.5]
    }

    /// Returns the column and row of the cell at a position. They can be outside of the grid.
    pub fn cell_at(&self, x: f64, y: f64) -> [f64; 2] {
        let cell = self.cell.map(f64::from);
        match self.shape {
            CellShape::Rectangles => [(x / cell[0]).floor(), (y / cell[1]).floor()],
            CellShape::Diamonds => {
                let [column, down] = self.diamond_at(x, y);
                [column.floor(), f64::from(self.rows) - 1.0 - down.floor()]
            }
            CellShape::Staggered(stagger) => self.staggered_at(&stagger, x, y),
        }
    }

    /// Returns the column, and the row from the top, of a position in a grid of diamonds.
    fn diamond_at(&self, x: f64, y: f64) -> [f64; 2] {
        let cell = self.cell.map(f64::from);
        let across = x / cell[0] - f64::from(self.rows) * 0.5;
        let down = (self.size_f64()[1] - y) / cell[1];
        [down + across, down - across]
    }

    fn staggered_at(&self, stagger: &Stagger, x: f64, y: f64) -> [f64; 2] {
        let StaggerSteps { cell, side, step } = stagger.steps(self.cell);
        let at = [x, self.size_f64()[1] - y];
        let (along, across) = (usize::from(!stagger.columns), usize::from(stagger.columns));
        let last = (at[along] / step[along]).floor();
        let slope = [0, 1].map(|axis| (cell[axis] - side[axis]) * 0.5);
        let mut found = ([0.0; 2], f64::INFINITY);
        // The bounding rectangles of two neighbours along the axis of the staggering overlap.
        for index in [last, last - 1.0] {
            // Beyond this the parity of an index is no longer exact, and no cell is there.
            let whole = index.clamp(-1e15, 1e15) as i64;
            let moved = if stagger.is_moved(whole) { step[across] } else { 0.0 };
            let other = ((at[across] - moved) / cell[across]).floor();
            let mut center = [0.0; 2];
            center[along] = index * step[along] + cell[along] * 0.5;
            center[across] = other * cell[across] + moved + cell[across] * 0.5;
            let away = [0, 1].map(|axis| {
                ((at[axis] - center[axis]).abs() - side[axis] * 0.5).max(0.0) / slope[axis]
            });
            let distance = away[0] + away[1];
            if distance < found.1 {
                let mut cell = [0.0; 2];
                (cell[along], cell[across]) = (index, other);
                found = (cell, distance);
            }
        }
        [found.0[0], f64::from(self.rows) - 1.0 - found.0[1]]
    }

    /// Returns ranges of columns and rows that contain all cells whose bounding rectangles touch a
    /// rectangle: left, bottom, right, top. `None` if no cell does.
    pub fn cells_in(&self, rectangle: [f32; 4]) -> Option<CellRanges> {
        if self.columns == 0 || self.rows == 0 {
            return None;
        }
        let size = self.size();
        let [left, bottom, right, top] = rectangle;
        if right < 0.0 || top < 0.0 || left > size[0] || bottom > size[1] {
            return None;
        }
        let [left, right] = [left, right].map(|x| f64::from(x.clamp(0.0, size[0])));
        let [bottom, top] = [bottom, top].map(|y| f64::from(y.clamp(0.0, size[1])));
        let corners = [[left, bottom], [right, bottom], [left, top], [right, top]];
        let around = match self.shape {
            CellShape::Rectangles => 0.0,
            _ => 1.0,
        };
        let cells = corners.map(|[x, y]| self.cell_at(x, y));
        let range = |axis: usize, count: u32| {
            let of = |fold: fn(f64, f64) -> f64| {
                cells.iter().map(|cell| cell[axis]).reduce(fold).expect("four corners")
            };
            let last = f64::from(count - 1);
            let (low, high) = (of(f64::min) - around, of(f64::max) + around);
            low.clamp(0.0, last) as u32..=high.clamp(0.0, last) as u32
        };
        Some((range(0, self.columns), range(1, self.rows)))
    }
}

/// Ranges of columns and rows.
pub type CellRanges = (RangeInclusive<u32>, RangeInclusive<u32>);

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(shape: CellShape, columns: u32, rows: u32, cell: [f32; 2]) -> CellGrid {
        CellGrid { shape, columns, rows, cell }
    }

    fn staggered(columns: bool, first: bool, side: f32) -> CellShape {
        CellShape::Staggered(Stagger { columns, first, side })
    }

    #[test]
    fn sizes_are_those_of_tiled() {
        let check = |shape, columns, rows, cell, wanted: [f32; 2]| {
            assert_eq!(grid(shape, columns, rows, cell).size(), wanted);
        };
        check(CellShape::Rectangles, 3, 2, [8.0, 4.0], [24.0, 8.0]);
        check(CellShape::Diamonds, 25, 25, [64.0, 32.0], [1600.0, 800.0]);
        // The example maps of Tiled, as its exporter draws them.
        check(staggered(false, false, 6.0), 20, 20, [14.0, 12.0], [287.0, 183.0]);
        check(staggered(true, false, 30.0), 20, 20, [60.0, 60.0], [915.0, 1230.0]);
        check(staggered(false, false, 0.0), 1, 1, [64.0, 32.0], [64.0, 32.0]);
    }

    #[test]
    fn corners_of_cells_count_from_the_bottom_left() {
        let check = |shape, (column, row), wanted: [f64; 2]| {
            assert_eq!(grid(shape, 3, 2, [8.0, 4.0]).corner(column, row), wanted);
        };
        check(CellShape::Rectangles, (2, 1), [16.0, 4.0]);
        // The first column of the top row is the topmost diamond.
        check(CellShape::Diamonds, (0, 1), [4.0, 6.0]);
        check(CellShape::Diamonds, (2, 1), [12.0, 2.0]);
        check(CellShape::Diamonds, (0, 0), [0.0, 4.0]);
        check(staggered(false, false, 0.0), (0, 1), [0.0, 2.0]);
        check(staggered(false, false, 0.0), (0, 0), [4.0, 0.0]);
        check(staggered(false, true, 0.0), (0, 1), [4.0, 2.0]);
        check(staggered(true, false, 0.0), (0, 0), [0.0, 2.0]);
        check(staggered(true, false, 0.0), (1, 0), [4.0, 0.0]);
        check(staggered(true, false, 4.0), (1, 0), [6.0, 0.0]);
    }

    #[test]
    fn the_cell_at_the_center_of_a_cell_is_that_cell() {
        let mut shapes = vec![CellShape::Rectangles, CellShape::Diamonds];
        for (columns, first) in [(true, true), (true, false), (false, true), (false, false)] {
            shapes.extend([0.0, 6.0, 100.0].map(|side| staggered(columns, first, side)));
        }
        for shape in shapes {
            for cell in [[16.0, 12.0], [15.0, 9.0], [64.0, 32.0]] {
                let grid = grid(shape, 5, 4, cell);
                for (column, row) in (-2..7).flat_map(|column| (-2..6).map(move |r| (column, r))) {
                    let [x, y] = grid.center(column, row);
                    let found = grid.cell_at(x, y);
                    assert_eq!(found, [column as f64, row as f64], "{grid:?}");
                }
            }
        }
    }

    #[test]
    fn corners_of_hexagons_belong_to_their_neighbours() {
        // A pointed hexagon of 14 x 12 texels with upright sides of 6.
        let grid = grid(staggered(false, false, 6.0), 4, 4, [14.0, 12.0]);
        let top = f64::from(grid.size()[1]);
        assert_eq!(grid.cell_at(7.0, top - 0.5), [0.0, 3.0]);
        assert_eq!(grid.cell_at(0.5, top - 6.0), [0.0, 3.0]);
        assert_eq!(grid.cell_at(0.5, top - 11.5), [-1.0, 2.0]);
        assert_eq!(grid.cell_at(13.5, top - 11.5), [0.0, 2.0]);
    }

    #[test]
    fn cells_in_a_rectangle_are_all_that_touch_it() {
        let shapes = [
            CellShape::Rectangles,
            CellShape::Diamonds,
            staggered(true, false, 4.0),
            staggered(false, true, 0.0),
        ];
        for shape in shapes {
            let grid = grid(shape, 9, 7, [16.0, 8.0]);
            for (x, y) in
                (0..12).flat_map(|x| (0..8).map(move |y| (x as f32 * 17.3, y as f32 * 11.1)))
            {
                let rectangle = [x, y, x + 21.0, y + 9.0];
                let found = grid.cells_in(rectangle);
                for (column, row) in (0..9u32).flat_map(|c| (0..7u32).map(move |r| (c, r))) {
                    let [left, bottom] = grid.corner(column.into(), row.into());
                    let (left, bottom) = (left as f32, bottom as f32);
                    let touches =
                        left < x + 21.0 && left + 16.0 > x && bottom < y + 9.0 && bottom + 8.0 > y;
                    let listed = found.as_ref().is_some_and(|(columns, rows)| {
                        columns.contains(&column) && rows.contains(&row)
                    });
                    assert!(listed || !touches, "{grid:?} {rectangle:?} {column} {row}");
                }
            }
        }
        assert_eq!(grid(CellShape::Diamonds, 0, 3, [8.0; 2]).cells_in([0.0, 0.0, 9.0, 9.0]), None);
        let grid = grid(CellShape::Rectangles, 3, 3, [8.0; 2]);
        assert_eq!(grid.cells_in([-9.0, 0.0, -1.0, 9.0]), None);
        assert_eq!(grid.cells_in([0.0, 30.0, 9.0, 99.0]), None);
    }

    #[test]
    fn positions_far_outside_are_finite() {
        for shape in [CellShape::Diamonds, staggered(true, true, 3.0), staggered(false, true, 0.0)]
        {
            let grid = grid(shape, 2, 2, [8.0, 8.0]);
            for at in [1e300, -1e300, 1e18] {
                assert!(grid.cell_at(at, at).iter().all(|part| part.is_finite()), "{shape:?}");
            }
        }
    }
}
