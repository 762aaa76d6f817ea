//! Lines that show a grid and one of its flow fields to a developer.

use super::grid::{GridShape, NavigationGrid};
use engine_foundation::Vec2;
use engine_foundation::deterministic_math::sin_cos;

/// Half of the side of an outline of a cell, and half of the length of an arrow, in cells.
const HALF_SIDE: f32 = 0.42;
const HALF_ARROW: f32 = 0.3;
/// Half of the side of the outline of a target, in cells.
const HALF_TARGET: f32 = 0.15;

/// Meaning of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum GridLine {
    Blocked,
    /// Outline of a cell with another cost than 1.
    Cost(f32),
    /// Arrow to the next cell of a flow field.
    Flow,
    /// Outline of a cell at which a flow field ends.
    Target,
}

impl NavigationGrid {
    /// Calls `each` with the lines of the cells, row by row, with positions in cells, until it
    /// returns false. Returns the number of cells that are left out.
    pub fn outline(
        &mut self,
        field: Option<usize>,
        each: &mut dyn FnMut(Vec2, Vec2, GridLine) -> bool,
    ) -> usize {
        let (columns, rows) = self.size();
        let count = (columns * rows) as u32;
        for cell in 0..count {
            if !self.outline_cell(cell, field, each) {
                return (count - cell) as usize;
            }
        }
        0
    }

    fn outline_cell(
        &mut self,
        cell: u32,
        field: Option<usize>,
        each: &mut dyn FnMut(Vec2, Vec2, GridLine) -> bool,
    ) -> bool {
        let (cost, middle) = (self.cost(cell), self.middle_of(cell));
        let kind = if cost == 0.0 { GridLine::Blocked } else { GridLine::Cost(cost) };
        if cost != 1.0 && !self.outline_around(middle, HALF_SIDE, kind, each) {
            return false;
        }
        let Some((_, next)) = field.and_then(|field| self.flow(field, cell)) else { return true };
        let way = (self.middle_of(next) - middle).normalize_or_zero() * HALF_ARROW;
        if way == Vec2::ZERO {
            return self.outline_around(middle, HALF_TARGET, GridLine::Target, each);
        }
        let (tip, side) = (middle + way, Vec2::new(-way.y, way.x) * 0.5);
        let back = middle + way * 0.3;
        [(middle - way, tip), (tip, back + side), (tip, back - side)]
            .into_iter()
            .all(|(from, to)| each(from, to, GridLine::Flow))
    }

    fn middle_of(&self, cell: u32) -> Vec2 {
        let (column, row) = self.column_and_row(cell);
        let (x, y) = self.middle(column as i64, row as i64);
        Vec2::new(x as f32, y as f32)
    }

    /// Shows a square or a hexagon around a point.
    fn outline_around(
        &self,
        middle: Vec2,
        half: f32,
        kind: GridLine,
        each: &mut dyn FnMut(Vec2, Vec2, GridLine) -> bool,
    ) -> bool {
        let (corners, first) = match self.shape {
            GridShape::Hexagonal => (6u8, 1.0 / 6.0),
            _ => (4, 0.25),
        };
        let length = half / sin_cos(std::f32::consts::PI / f32::from(corners)).1;
        let corner = |at: u8| {
            let part = f32::from(at) * 2.0 / f32::from(corners) + first;
            let (sin, cos) = sin_cos(part * std::f32::consts::PI);
            middle + Vec2::new(cos, sin) * length
        };
        (0..corners).all(|at| each(corner(at), corner(at + 1), kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a grid.
    fn lines(grid: &mut NavigationGrid, field: Option<usize>) -> Vec<(Vec2, Vec2, GridLine)> {
        let mut lines = Vec::new();
        let left_out = grid.outline(field, &mut |from, to, kind| {
            lines.push((from, to, kind));
            true
        });
        assert_eq!(left_out, 0);
        lines
    }

    #[test]
    fn lines_show_costs_and_the_way_to_the_target() {
        let mut grid = NavigationGrid::new(3, 1, GridShape::Square4);
        assert_eq!(lines(&mut grid, None), []);
        grid.set_cost(1, 2.0);
        let square = lines(&mut grid, None);
        assert_eq!(square.len(), 4);
        for (from, to, kind) in square {
            assert_eq!(kind, GridLine::Cost(2.0));
            assert!((from - to).length() > 0.8 && from.x > 1.0 && from.x < 2.0 && from.y < 1.0);
            assert!((from - to).x.abs() < 1e-3 || (from - to).y.abs() < 1e-3, "upright");
        }
        grid.set_targets("goal", &[2]);
        let all = lines(&mut grid, Some(0));
        let of = |kind| all.iter().filter(move |line| line.2 == kind);
        assert_eq!((of(GridLine::Flow).count(), of(GridLine::Target).count()), (6, 4));
        let first = of(GridLine::Flow).next().unwrap();
        assert!(first.1.x > first.0.x && first.1.x < 1.0, "from left to right");
        grid.set_cost(1, 0.0);
        let all = lines(&mut grid, Some(0));
        assert_eq!(all.iter().filter(|line| line.2 == GridLine::Blocked).count(), 4);
        assert_eq!(all.iter().filter(|line| line.2 == GridLine::Flow).count(), 0);
    }

    #[test]
    fn cells_without_room_are_counted() {
        let mut grid = NavigationGrid::new(4, 4, GridShape::Hexagonal);
        (0..16).for_each(|cell| grid.set_cost(cell, 0.0));
        assert_eq!(lines(&mut grid, None).len(), 16 * 6);
        let mut room = 20;
        let left_out = grid.outline(None, &mut |_, _, _| {
            room -= 1;
            room >= 0
        });
        assert_eq!(left_out, 13);
    }
}
