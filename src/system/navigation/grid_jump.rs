//! Jump point search on grids whose open cells all cost the same (D. Harabor and A. Grastien,
//! "Online Graph Pruning for Pathfinding on Grid Maps", 2011). Of all ways that are equally short,
//! it follows one: diagonal steps come first, or vertical ones where there are no diagonal steps.
//! So it visits only the cells at which such a way can turn. Straight lines are looked through 64
//! cells at a time ("Improving Jump Point Search", 2014, by the same authors).

use super::grid::{DIAGONAL, GridShape, NavigationGrid, key};
use super::grid_path::NO_NODE;
use super::grid_search::{CellMark, GridProgress, GridSearch};
use super::search::PartialReason;
use std::cmp::Reverse;

/// Cells in a word.
const WORD: usize = 64;

/// Step from a cell to the next one.
type Step = (i32, i32);

/// Blocked cells of the lines of a grid, with one bit for each.
#[derive(Clone, Debug)]
struct Lines {
    /// Number of integers of a line.
    per_line: usize,
    bits: Vec<u64>,
}

impl Lines {
    /// Makes lines of blocked cells.
    fn new(lines: usize, cells: usize) -> Lines {
        let per_line = cells.div_ceil(WORD);
        Lines { per_line, bits: vec![u64::MAX; lines * per_line] }
    }

    fn set(&mut self, line: usize, at: usize, is_blocked: bool) {
        let word = &mut self.bits[line * self.per_line + at / WORD];
        let bit = 1 << (at % WORD);
        *word = if is_blocked { *word | bit } else { *word & !bit };
    }

    /// Returns a word of a line; all of it is blocked outside of the grid.
    fn word(&self, line: usize, word: usize) -> u64 {
        if word < self.per_line { self.bits[line * self.per_line + word] } else { u64::MAX }
    }

    /// Returns the next cell of a line at which a way can turn, or which is the target; `None` if
    /// a blocked one comes first. A way can turn where a cell next to the line is open, and the one
    /// before it is blocked: without that, a way that turns earlier is as short.
    fn next(
        &self,
        line: usize,
        at: usize,
        is_forward: bool,
        target: Option<usize>,
    ) -> Option<usize> {
        let first = if is_forward { at + 1 } else { at - 1 };
        let mut word = first / WORD;
        let mut mask = match is_forward {
            true => u64::MAX << (first % WORD),
            false => u64::MAX >> (WORD - 1 - first % WORD),
        };
        loop {
            let blocked = self.word(line, word);
            let turns = |line: usize| {
                let side = self.word(line, word);
                let before = match is_forward {
                    true => side << 1 | self.word(line, word.wrapping_sub(1)) >> (WORD - 1),
                    false => side >> 1 | self.word(line, word + 1) << (WORD - 1),
                };
                before & !side
            };
            let end = target.filter(|target| target / WORD == word);
            let end = end.map_or(0, |target| 1 << (target % WORD));
            let stops = (blocked | turns(line - 1) | turns(line + 1) | end) & mask;
            if stops != 0 {
                let bit = match is_forward {
                    true => stops.trailing_zeros(),
                    false => WORD as u32 - 1 - stops.leading_zeros(),
                };
                let is_open = blocked & 1 << bit == 0;
                return is_open.then_some(word * WORD + bit as usize);
            }
            // The border of the grid is blocked, so that there is a stop.
            word = if is_forward { word + 1 } else { word - 1 };
            mask = u64::MAX;
        }
    }
}

/// Blocked cells of a grid, by row and by column, with the border around it.
#[derive(Clone, Debug)]
pub(super) struct JumpMap {
    rows: Lines,
    columns: Lines,
    /// Number of open cells whose cost is not 1.
    uneven: usize,
}

impl JumpMap {
    /// Makes the map of a grid of blocked cells.
    pub fn new(columns: usize, rows: usize) -> JumpMap {
        JumpMap {
            rows: Lines::new(rows + 2, columns + 2),
            columns: Lines::new(columns + 2, rows + 2),
            uneven: 0,
        }
    }

    /// Notes that the cost of a cell has changed.
    pub fn set(&mut self, (column, row): (usize, usize), before: f32, cost: f32) {
        let is_uneven = |cost: f32| usize::from(cost != 0.0 && cost != 1.0);
        self.uneven = self.uneven + is_uneven(cost) - is_uneven(before);
        if (before == 0.0) != (cost == 0.0) {
            self.rows.set(row, column, cost == 0.0);
            self.columns.set(column, row, cost == 0.0);
        }
    }
}

/// Search of a grid for one target.
struct Jumps<'a> {
    grid: &'a NavigationGrid,
    target: (i32, i32),
}

impl Jumps<'_> {
    fn is_open(&self, (column, row): (i32, i32)) -> bool {
        let stride = self.grid.stride() as i32;
        self.grid.costs[(row * stride + column) as usize] != 0.0
    }

    /// Returns the next cell in a direction at which a way can turn.
    fn jump(&self, from: (i32, i32), step: Step) -> Option<(i32, i32)> {
        match (step, self.grid.shape) {
            ((dx, 0), _) => self.along_row(from, dx),
            ((0, dy), GridShape::Square8) => self.along_column(from, dy),
            _ => self.jump_across(from, step),
        }
    }

    fn along_row(&self, (column, row): (i32, i32), dx: i32) -> Option<(i32, i32)> {
        let target = (self.target.1 == row).then_some(self.target.0 as usize);
        let lines = &self.grid.jumps.rows;
        let found = lines.next(row as usize, column as usize, dx > 0, target)?;
        Some((found as i32, row))
    }

    fn along_column(&self, (column, row): (i32, i32), dy: i32) -> Option<(i32, i32)> {
        let target = (self.target.0 == column).then_some(self.target.1 as usize);
        let lines = &self.grid.jumps.columns;
        let found = lines.next(column as usize, row as usize, dy > 0, target)?;
        Some((column, found as i32))
    }

    /// Jumps in a direction from whose cells ways lead to the sides: a diagonal one, or a vertical
    /// one without diagonal steps.
    fn jump_across(&self, from: (i32, i32), (dx, dy): Step) -> Option<(i32, i32)> {
        let mut at = from;
        loop {
            let next = (at.0 + dx, at.1 + dy);
            // No diagonal step cuts the corner of a blocked cell.
            let is_free = self.is_open(next)
                && (dx == 0 || self.is_open((next.0, at.1)) && self.is_open((at.0, next.1)));
            if !is_free {
                return None;
            }
            at = next;
            let turns = match dx {
                0 => self.along_row(at, 1).is_some() || self.along_row(at, -1).is_some(),
                _ => self.along_row(at, dx).is_some() || self.along_column(at, dy).is_some(),
            };
            if at == self.target || turns {
                return Some(at);
            }
        }
    }

    /// Calls `each` with the directions in which ways lead on from a cell. `step` is the one by
    /// which it was reached; none at the start.
    fn each_direction(&self, (x, y): (i32, i32), step: Option<Step>, mut each: impl FnMut(Step)) {
        let has_diagonals = self.grid.shape == GridShape::Square8;
        let Some((dx, dy)) = step else {
            let count = if has_diagonals { 8 } else { 4 };
            return super::grid::SQUARE[..count].iter().copied().for_each(each);
        };
        each((dx, dy));
        if dx != 0 && dy != 0 {
            each((dx, 0));
            each((0, dy));
        } else if dx == 0 && !has_diagonals {
            each((1, 0));
            each((-1, 0));
        } else {
            for (sx, sy) in [(dy, dx), (-dy, -dx)] {
                // The side is open, and the cell before it is blocked.
                if self.is_open((x + sx, y + sy)) && !self.is_open((x + sx - dx, y + sy - dy)) {
                    each((sx, sy));
                    if has_diagonals {
                        each((sx + dx, sy + dy));
                    }
                }
            }
        }
    }
}

impl NavigationGrid {
    /// Returns true if jumps find the cheapest paths: all open cells have the cost of new ones.
    pub(super) fn has_jumps(&self) -> bool {
        self.jumps.uneven == 0 && self.shape != GridShape::Hexagonal
    }

    /// Finds the shortest path between two nodes of a grid that has jumps. `path` has all nodes.
    pub(super) fn search_by_jumps(
        &mut self,
        from: u32,
        to: u32,
        nodes_max: usize,
        path: &mut Vec<u32>,
    ) -> Option<PartialReason> {
        let mut search = std::mem::take(&mut self.searcher);
        search.begin(self, (from, to));
        let progress = search.advance_jumps(self, nodes_max);
        if progress == GridProgress::Found {
            self.trace_jumps(&search.marks, to, path);
        }
        self.dead_ends.add_nodes(search.nodes);
        self.searcher = search;
        match progress {
            GridProgress::Found => None,
            GridProgress::Failed => Some(PartialReason::Unreachable),
            GridProgress::Unfinished => Some(PartialReason::Budget),
        }
    }

    /// Lists the nodes of a path, with those between the jumps.
    pub(super) fn trace_jumps(&self, marks: &[CellMark], end: u32, path: &mut Vec<u32>) {
        path.clear();
        path.push(end);
        let (mut at, stride) = (end, self.stride() as i32);
        while marks[at as usize].parent != NO_NODE {
            let before = marks[at as usize].parent;
            let (a, b) = (self.location(at), self.location(before));
            let step = (b.1 - a.1).signum() * stride + (b.0 - a.0).signum();
            while at != before {
                at = (at as i32 + step) as u32;
                path.push(at);
            }
        }
        path.reverse();
    }
}

impl GridSearch {
    /// Searches on a grid that has jumps, for at most a number of nodes more.
    pub fn advance_jumps(&mut self, grid: &NavigationGrid, nodes_max: usize) -> GridProgress {
        let (stamp, stride) = (self.stamp, grid.stride() as i32);
        let target = grid.location(self.to);
        let jumps = Jumps { grid, target };
        let last = self.nodes.saturating_add(nodes_max);
        while self.nodes < last {
            let Some(node) = self.visit() else { return GridProgress::Failed };
            if node == self.to {
                return GridProgress::Found;
            }
            self.nodes += 1;
            let CellMark { parent, cost: cost_here, .. } = self.marks[node as usize];
            let here = grid.location(node);
            let step = (parent != NO_NODE).then(|| {
                let before = grid.location(parent);
                ((here.0 - before.0).signum(), (here.1 - before.1).signum())
            });
            let (marks, heap) = (&mut self.marks, &mut self.heap);
            jumps.each_direction(here, step, |step| {
                let Some(next) = jumps.jump(here, step) else { return };
                let length = (next.0 - here.0).abs().max((next.1 - here.1).abs()) as f32;
                let is_diagonal = step.0 != 0 && step.1 != 0;
                let cost = cost_here + if is_diagonal { length * DIAGONAL } else { length };
                let near = (next.1 * stride + next.0) as u32;
                let mark = &mut marks[near as usize];
                if mark.stamp == stamp && (mark.is_closed || mark.cost <= cost) {
                    return;
                }
                *mark = CellMark { stamp, parent: node, cost, is_closed: false };
                heap.push(Reverse(key(cost + grid.distance(next, target), near)));
            });
        }
        GridProgress::Unfinished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    const SHAPES: [GridShape; 2] = [GridShape::Square4, GridShape::Square8];

    /// Returns a grid with blocked cells at random, in blocks of a size.
    fn blocked(shape: GridShape, part: f64, block: usize, seed: u64) -> NavigationGrid {
        // More than a word wide and high.
        let (columns, rows) = (150, 70);
        let (mut grid, mut random) =
            (NavigationGrid::new(columns, rows, shape), Random::seed(seed));
        for at in 0..(columns / block) * (rows / block) {
            if random.next_f64() < part {
                let (x, y) = (at % (columns / block) * block, at / (columns / block) * block);
                for cell in 0..block * block {
                    let (x, y) = (x + cell % block, y + cell / block);
                    grid.set_cost((y * columns + x) as u32, 0.0);
                }
            }
        }
        grid
    }

    /// Returns the numbers of straight and of diagonal steps of a path.
    fn steps(grid: &NavigationGrid, path: &[u32]) -> (usize, usize) {
        let mut diagonal = 0;
        for pair in path.windows(2) {
            let mut found = None;
            grid.each_neighbor(pair[0], |near, length, _| {
                found = found.or((near == pair[1]).then_some(length));
            });
            diagonal += usize::from(found.expect("nodes of a path are neighbours") != 1.0);
        }
        (path.len() - 1 - diagonal, diagonal)
    }

    #[test]
    fn jumps_find_paths_as_short_as_those_of_a_star() {
        for (at, shape) in SHAPES.into_iter().cycle().take(120).enumerate() {
            let (part, block) = ([0.0, 0.1, 0.25, 0.4][at / 2 % 4], [1, 3, 7][at / 8 % 3]);
            let mut grid = blocked(shape, part, block, at as u64);
            let (mut random, mut path, mut other) = (Random::seed(7), Vec::new(), Vec::new());
            for _ in 0..12 {
                let mut any = || grid.node((random.next_f64() * 150.0 * 70.0) as u32);
                let (from, to) = (any(), any());
                if grid.costs[from as usize] == 0.0 || grid.costs[to as usize] == 0.0 {
                    continue;
                }
                let found = grid.search_by_jumps(from, to, usize::MAX, &mut path);
                let expected = grid.search(from, to, usize::MAX, false, &mut other);
                assert_eq!(found, expected, "{shape:?} {part} {block}");
                if found.is_none() {
                    assert_eq!((path[0], path[path.len() - 1]), (from, to));
                    assert_eq!(steps(&grid, &path), steps(&grid, &other), "{shape:?} {part}");
                }
            }
        }
    }

    #[test]
    fn jumps_follow_changes_and_end_where_costs_differ() {
        for shape in SHAPES {
            let (mut grid, mut random) = (blocked(shape, 0.3, 1, 3), Random::seed(4));
            let (mut path, mut other) = (Vec::new(), Vec::new());
            for at in 0..400 {
                let cell = (random.next_f64() * 150.0 * 70.0) as u32;
                grid.set_cost(cell, [0.0, 1.0, 1.0, 2.5][at % 4]);
                assert_eq!(
                    grid.has_jumps(),
                    grid.costs.iter().all(|cost| [0.0, 1.0].contains(cost))
                );
                if at % 4 == 3 {
                    grid.set_cost(cell, 1.0);
                }
                let (from, to) = (grid.node(cell), grid.node(75));
                if at % 9 == 0 && grid.costs[from as usize] * grid.costs[to as usize] > 0.0 {
                    let found = grid.search_by_jumps(from, to, usize::MAX, &mut path);
                    assert_eq!(found, grid.search(from, to, usize::MAX, false, &mut other));
                    let same = found.is_some() || steps(&grid, &path) == steps(&grid, &other);
                    assert!(same, "{shape:?} {at}");
                }
            }
        }
        assert!(!NavigationGrid::new(5, 5, GridShape::Hexagonal).has_jumps());
    }

    #[test]
    fn searches_by_jumps_are_limited() {
        let mut grid = blocked(GridShape::Square8, 0.25, 1, 1);
        let (from, to, mut path) = (grid.node(0), grid.node(150 * 70 - 1), vec![1, 2, 3]);
        [from, to].iter().for_each(|node| {
            let cell = grid.cell_of(*node);
            grid.set_cost(cell, 1.0);
        });
        let found = grid.search_by_jumps(from, to, 2, &mut path);
        assert_eq!((found, path.len()), (Some(PartialReason::Budget), 3));
        // A path to the nearest cell comes from the other search.
        let cell = grid.cell_of(to);
        assert_eq!(grid.find_path(0, cell, 2, &mut path), Some(PartialReason::Budget));
        assert!(path[0] == 0 && path.len() > 1);
    }
}
