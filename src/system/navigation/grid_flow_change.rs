//! Changes of flow fields: a field follows some changed cells without being computed again. Cells
//! whose ways led through them lose these, the others keep theirs, and the ways of those that lost
//! them are found from there (after G. Ramalingam and T. Reps, "An Incremental Algorithm for a
//! Generalization of the Shortest-Path Problem", 1996). The distances are those of a new field, bit
//! for bit.

use super::grid::{NavigationGrid, key};
use super::grid_flow::BLOCKED;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Changes of cells that are kept. A field that has missed more of them is computed again.
const CHANGES_MAX: usize = 256;

impl NavigationGrid {
    /// Notes that the cost of a node has changed.
    pub(super) fn note_change(&mut self, node: u32) {
        if self.changes.len() >= CHANGES_MAX * 2 {
            self.changes.drain(..CHANGES_MAX);
        }
        // Without fields, nobody asks for them.
        match self.fields.is_empty() {
            true => self.changes.clear(),
            false => self.changes.push(node),
        }
    }

    /// Brings a field up to date that was computed for an older version of the grid. Returns false
    /// if too much has changed since then.
    pub(super) fn change_field(&mut self, field: usize, before: u32) -> bool {
        let missed = self.version.wrapping_sub(before) as usize;
        if missed > self.changes.len().min(CHANGES_MAX) {
            return false;
        }
        let mut changed = self.changes[self.changes.len() - missed..].to_vec();
        changed.sort_unstable();
        changed.dedup();
        let mut known = std::mem::take(&mut self.fields[field]);
        for node in &changed {
            let is_target = known.targets.binary_search(&self.cell_of(*node)).is_ok();
            let distance = &mut known.distances[*node as usize];
            *distance = match (self.costs[*node as usize] > 0.0, is_target) {
                (false, _) => BLOCKED,
                (true, true) => 0.0,
                (true, false) if *distance == BLOCKED => f32::MAX,
                (true, false) => *distance,
            };
        }
        let mut near = self.around(&changed);
        let lost = self.lose_ways(&mut known.distances, &near);
        near.extend(lost);
        near.sort_unstable();
        near.dedup();
        // The ways of all of them over what is still known.
        let mut found = Vec::new();
        for node in near {
            let here = known.distances[node as usize];
            let best = self.way_over_neighbors(&known.distances, node, f32::MAX);
            if here != BLOCKED && best < here {
                known.distances[node as usize] = best;
                found.push(node);
            } else if here == 0.0 {
                found.push(node);
            }
        }
        self.fill_by_heap(&mut known.distances, &found);
        self.fields[field] = known;
        true
    }

    /// Returns some nodes and those around them, without those of the border.
    fn around(&self, nodes: &[u32]) -> Vec<u32> {
        let stride = self.stride() as i32;
        let (columns, rows) = self.size();
        let mut found = Vec::new();
        for node in nodes {
            for step in [-stride, 0, stride].into_iter().flat_map(|up| [up - 1, up, up + 1]) {
                let near = (*node as i32 + step) as u32;
                let (column, row) = (near as usize % (columns + 2), near as usize / (columns + 2));
                if (1..=columns).contains(&column) && (1..=rows).contains(&row) {
                    found.push(near);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the cost of the way from a node over the best neighbour with a distance below
    /// `limit`.
    fn way_over_neighbors(&self, distances: &[f32], node: u32, limit: f32) -> f32 {
        let mut best = f32::MAX;
        self.each_neighbor(node, |near, length, _| {
            let left = distances[near as usize];
            if left < limit {
                best = best.min(left + length * self.costs[near as usize]);
            }
        });
        best
    }

    /// Forgets the distances of nodes that no neighbour explains any more, beginning with some.
    /// Those with short ways come first, so that all before a node are known to hold. Returns the
    /// nodes whose distances were forgotten.
    fn lose_ways(&self, distances: &mut [f32], first: &[u32]) -> Vec<u32> {
        let mut lost = Vec::new();
        let is_way = |distance: f32| distance > 0.0 && distance < f32::MAX;
        let mut heap: BinaryHeap<Reverse<u64>> = first
            .iter()
            .filter(|node| is_way(distances[**node as usize]))
            .map(|node| Reverse(key(distances[*node as usize], *node)))
            .collect();
        while let Some(Reverse(top)) = heap.pop() {
            let node = top as u32;
            let here = distances[node as usize];
            if key(here, node) != top || self.way_over_neighbors(distances, node, here) <= here {
                continue;
            }
            distances[node as usize] = f32::MAX;
            lost.push(node);
            self.each_neighbor(node, |near, _, _| {
                let distance = distances[near as usize];
                if is_way(distance) && distance >= here {
                    heap.push(Reverse(key(distance, near)));
                }
            });
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GridShape;
    use engine_foundation::random::Random;

    /// Returns the distances of a field of a grid that has no history.
    fn new_distances(grid: &NavigationGrid, targets: &[u32]) -> Vec<Option<u32>> {
        let (columns, rows) = grid.size();
        let mut other = NavigationGrid::new(columns, rows, grid.shape);
        (0..(columns * rows) as u32).for_each(|cell| other.set_cost(cell, grid.cost(cell)));
        other.set_targets("goal", targets);
        distances(&mut other)
    }

    /// Returns the bits of the distances of the first field.
    fn distances(grid: &mut NavigationGrid) -> Vec<Option<u32>> {
        let (columns, rows) = grid.size();
        let cells = 0..(columns * rows) as u32;
        cells.map(|cell| grid.flow(0, cell).map(|(distance, _)| distance.to_bits())).collect()
    }

    #[test]
    fn changed_fields_are_those_that_are_computed_again() {
        for shape in [GridShape::Square4, GridShape::Square8, GridShape::Hexagonal] {
            let (mut grid, mut random) = (NavigationGrid::new(24, 17, shape), Random::seed(4));
            let targets = [30, 31, 300];
            grid.set_targets("goal", &targets);
            let mut below = |count: usize| (random.next_f64() * count as f64) as usize;
            for round in 0..150 {
                for _ in 0..[1, 1, 2, 9, 60][below(5)] {
                    // Often at the targets, and often blocked.
                    let cell =
                        if below(8) == 0 { targets[below(3)] } else { below(24 * 17) as u32 };
                    grid.set_cost(cell, [0.0, 0.0, 1.0, 1.0, 2.5, 0.3, 40.0][below(7)]);
                }
                assert_eq!(
                    distances(&mut grid),
                    new_distances(&grid, &targets),
                    "{shape:?} {round}"
                );
            }
        }
    }

    #[test]
    fn too_many_changes_compute_the_field_again() {
        let mut grid = NavigationGrid::new(40, 40, GridShape::Square8);
        grid.set_targets("goal", &[0]);
        distances(&mut grid);
        for cell in (1..1600).step_by(2) {
            grid.set_cost(cell, 3.0);
        }
        assert!(!grid.change_field(0, 0));
        assert_eq!(distances(&mut grid), new_distances(&grid, &[0]));
        assert!(grid.changes.len() < CHANGES_MAX * 2);
    }
}
