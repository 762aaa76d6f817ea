//! Parts of a navigation grid between which no way leads, random cells, and the cells around one.

use super::grid::{NavigationGrid, key};
use super::grid_search::CellMark;
use std::cmp::Reverse;

/// Maximum number of cells of a flood.
pub const FLOOD_CELLS_MAX: usize = 1 << 16;
/// Marks nodes that are in no part: blocked ones, and those outside of the grid.
const NO_PART: u32 = u32::MAX;

/// Parts of a grid.
#[derive(Clone, Debug, Default)]
pub(super) struct GridParts {
    /// Version of the grid for which they were found; `None` if they were not.
    version: Option<u32>,
    /// Part of each node, all nodes one part after another, and the first one of each.
    of: Vec<u32>,
    nodes: Vec<u32>,
    first: Vec<u32>,
}

impl NavigationGrid {
    /// Returns a cell that is not blocked: each is equally likely. With `from`, it is one that can
    /// be reached from that cell, which can be blocked. `random` gives numbers from 0 to 1.
    pub fn random_cell(
        &mut self,
        from: Option<u32>,
        mut random: impl FnMut() -> f64,
    ) -> Option<u32> {
        self.find_parts();
        let parts = &self.parts;
        let nodes = match from {
            None => &parts.nodes[..],
            Some(from) => {
                let start = self.node(from);
                let mut part = parts.of[start as usize];
                if part == NO_PART {
                    self.each_neighbor(start, |near, _, _| {
                        part = part.min(parts.of[near as usize])
                    });
                }
                let at = part as usize;
                let ends = parts.first.get(at).zip(parts.first.get(at + 1));
                ends.map_or(&[][..], |(first, end)| &parts.nodes[*first as usize..*end as usize])
            }
        };
        let at = (random() * nodes.len() as f64) as usize;
        nodes.get(at.min(nodes.len().saturating_sub(1))).map(|node| self.cell_of(*node))
    }

    /// Finds the parts of the grid, if cells have changed since. Ways lead in both directions.
    fn find_parts(&mut self) {
        if self.parts.version == Some(self.version) {
            return;
        }
        let mut parts = std::mem::take(&mut self.parts);
        parts.version = Some(self.version);
        parts.of.clear();
        parts.of.resize(self.costs.len(), NO_PART);
        parts.nodes.clear();
        parts.first.clear();
        for node in 0..self.costs.len() as u32 {
            if self.costs[node as usize] == 0.0 || parts.of[node as usize] != NO_PART {
                continue;
            }
            let (number, mut next) = (parts.first.len() as u32, parts.nodes.len());
            parts.first.push(next as u32);
            parts.of[node as usize] = number;
            parts.nodes.push(node);
            while let Some(at) = parts.nodes.get(next).copied() {
                next += 1;
                let GridParts { of, nodes, .. } = &mut parts;
                self.each_neighbor(at, |near, _, _| {
                    if std::mem::replace(&mut of[near as usize], number) != number {
                        nodes.push(near);
                    }
                });
            }
        }
        parts.first.push(parts.nodes.len() as u32);
        self.parts = parts;
    }

    /// Writes the cells to which a way leads that is not more expensive than `most`, with the costs
    /// of the ways, the cheapest ones first. The start is the first one, and can be blocked.
    /// Returns false if there are more than [`FLOOD_CELLS_MAX`].
    pub fn flood_fill(&mut self, from: u32, most: f32, cells: &mut Vec<(u32, f32)>) -> bool {
        cells.clear();
        let mut search = std::mem::take(&mut self.searcher);
        search.renew(self);
        let (start, stamp) = (self.node(from), search.stamp);
        search.mark_start(start);
        search.heap.push(Reverse(key(0.0, start)));
        while let Some(node) = search.visit() {
            if cells.len() == FLOOD_CELLS_MAX {
                self.searcher = search;
                return false;
            }
            let cost_here = search.marks[node as usize].cost;
            cells.push((self.cell_of(node), cost_here));
            let (marks, heap) = (&mut search.marks, &mut search.heap);
            self.each_neighbor(node, |near, length, _| {
                let cost = cost_here + length * self.costs[near as usize];
                let mark = &mut marks[near as usize];
                let is_known = mark.stamp == stamp && (mark.is_closed || mark.cost <= cost);
                if cost <= most && !is_known {
                    *mark = CellMark { stamp, parent: node, cost, is_closed: false };
                    heap.push(Reverse(key(cost, near)));
                }
            });
        }
        self.searcher = search;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GridShape;
    use engine_foundation::random::Random;

    /// Grid with two rooms and a wall between them.
    fn rooms(shape: GridShape) -> NavigationGrid {
        let mut grid = NavigationGrid::new(9, 6, shape);
        for row in 0..6 {
            grid.set_cost(grid.cell(4, row).unwrap(), 0.0);
        }
        grid
    }

    #[test]
    fn random_cells_are_open_and_can_be_reached() {
        for shape in [GridShape::Square4, GridShape::Square8, GridShape::Hexagonal] {
            let (mut grid, mut random) = (rooms(shape), Random::seed(5));
            let mut counts = [0; 54];
            for _ in 0..4800 {
                let cell = grid.random_cell(None, || random.next_f64()).unwrap();
                counts[cell as usize] += 1;
            }
            for cell in 0..54 {
                let is_open = grid.cost(cell) > 0.0;
                let count = counts[cell as usize];
                assert!(is_open && (50..160).contains(&count) || !is_open && count == 0, "{count}");
            }
            let right = grid.cell(8, 5).unwrap();
            for _ in 0..200 {
                let cell = grid.random_cell(Some(right), || random.next_f64()).unwrap();
                assert!(grid.column_and_row(cell).0 > 4);
            }
            // Another number from 0 to 1, and both ends of it.
            assert_eq!(grid.random_cell(None, || 0.0), Some(0));
            assert_eq!(grid.random_cell(None, || 1.0), Some(53));
            // A door joins the rooms, and a cell that is closed in has itself only.
            grid.set_cost(grid.cell(4, 2).unwrap(), 1.0);
            let mut columns: Vec<usize> = Vec::new();
            for _ in 0..200 {
                let cell = grid.random_cell(Some(right), || random.next_f64()).unwrap();
                columns.push(grid.column_and_row(cell).0);
            }
            assert!(columns.iter().any(|column| *column < 4));
            (0..54).filter(|cell| *cell != 7).for_each(|cell| grid.set_cost(cell, 0.0));
            assert_eq!(grid.random_cell(Some(7), || 0.5), Some(7));
            assert_eq!(grid.random_cell(Some(30), || 0.5), None);
            // A blocked cell beside it.
            assert_eq!(grid.random_cell(Some(8), || 0.5), Some(7));
            grid.set_cost(7, 0.0);
            assert_eq!(grid.random_cell(None, || 0.5), None);
        }
    }

    #[test]
    fn floods_have_the_costs_of_flow_fields() {
        for shape in [GridShape::Square4, GridShape::Square8, GridShape::Hexagonal] {
            let (mut grid, mut random) = (NavigationGrid::new(20, 15, shape), Random::seed(3));
            for cell in 0..300 {
                let costs = [0.0, 1.0, 1.0, 1.0, 2.5];
                grid.set_cost(cell, costs[(random.next_f64() * 5.0) as usize]);
            }
            grid.set_cost(17, 1.0);
            let mut cells = Vec::new();
            assert!(grid.flood_fill(17, 9.0, &mut cells));
            assert_eq!(cells[0], (17, 0.0));
            assert!(cells.windows(2).all(|pair| pair[0].1 <= pair[1].1));
            let mut path = Vec::new();
            for cell in 0..300 {
                let found = cells.iter().find(|(known, _)| *known == cell);
                if grid.find_path(17, cell, usize::MAX, &mut path).is_some() {
                    assert_eq!(found, None);
                    continue;
                }
                // The cost of a path is that of the cells that are entered.
                let cost = grid.way_cost(&path);
                match found {
                    Some((_, known)) => assert!((known - cost).abs() < 1e-3),
                    None => assert!(cost > 9.0 - 1e-3, "{cost}"),
                }
            }
        }
        let mut grid = NavigationGrid::new(300, 300, GridShape::Square4);
        let mut cells = Vec::new();
        assert!(!grid.flood_fill(0, 1e6, &mut cells));
        assert!(grid.flood_fill(0, 100.0, &mut cells) && cells.len() == 101 * 102 / 2);
        // From a blocked cell, and with no way at all.
        grid.set_cost(0, 0.0);
        assert!(grid.flood_fill(0, 1.0, &mut cells));
        assert_eq!(cells, [(0, 0.0), (1, 1.0), (300, 1.0)]);
        grid.set_cost(1, 0.0);
        grid.set_cost(300, 0.0);
        assert!(grid.flood_fill(0, 50.0, &mut cells));
        assert_eq!(cells, [(0, 0.0)]);
    }
}
