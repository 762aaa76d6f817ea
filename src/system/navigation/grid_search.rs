//! Searches on navigation grids from cell to cell (A*). They can be divided: a search keeps its
//! state, and goes on with another number of nodes. Jumps are in grid_jump.rs.

use super::grid::{NavigationGrid, key};
use super::grid_path::NO_NODE;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Progress of a search at a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CellMark {
    pub stamp: u32,
    pub parent: u32,
    pub cost: f32,
    pub is_closed: bool,
}

/// Progress of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GridProgress {
    /// The nodes are used up.
    Unfinished,
    Found,
    /// No way leads to the target.
    Failed,
}

/// Marks and open list of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct GridSearch {
    pub marks: Vec<CellMark>,
    pub stamp: u32,
    pub heap: BinaryHeap<Reverse<u64>>,
    pub to: u32,
    /// Number of nodes that were visited.
    pub nodes: usize,
    /// Node that is nearest to the target, and its distance.
    best: (f32, u32),
    leaves_dead_ends_out: bool,
}

impl GridSearch {
    /// Begins a search from node to node.
    pub fn begin(&mut self, grid: &NavigationGrid, (from, to): (u32, u32)) {
        self.renew(grid);
        let far = grid.distance(grid.location(from), grid.location(to)) * grid.least;
        self.mark_start(from);
        self.heap.push(Reverse(key(far, from)));
        (self.to, self.best, self.leaves_dead_ends_out) = (to, (far, from), false);
    }

    /// Leaves out the dead ends of the grid, which are known.
    pub fn leave_dead_ends_out(&mut self) {
        self.leaves_dead_ends_out = true;
    }

    /// Forgets the search before.
    pub fn renew(&mut self, grid: &NavigationGrid) {
        if self.marks.is_empty() || self.stamp == u32::MAX {
            self.marks.clear();
            self.marks.resize(grid.costs.len(), CellMark::default());
            self.stamp = 0;
        }
        self.stamp += 1;
        self.heap.clear();
        self.nodes = 0;
    }

    pub fn mark_start(&mut self, node: u32) {
        let stamp = self.stamp;
        self.marks[node as usize] =
            CellMark { stamp, parent: NO_NODE, cost: 0.0, is_closed: false };
    }

    /// Takes the cheapest node that was not visited; `None` without any.
    pub fn visit(&mut self) -> Option<u32> {
        while let Some(Reverse(top)) = self.heap.pop() {
            let node = top as u32;
            if !std::mem::replace(&mut self.marks[node as usize].is_closed, true) {
                return Some(node);
            }
        }
        None
    }

    /// Searches for at most a number of nodes more.
    pub fn advance(&mut self, grid: &NavigationGrid, nodes_max: usize) -> GridProgress {
        let (target, stamp) = (grid.location(self.to), self.stamp);
        let last = self.nodes.saturating_add(nodes_max);
        while self.nodes < last {
            let Some(node) = self.visit() else { return GridProgress::Failed };
            if node == self.to {
                return GridProgress::Found;
            }
            self.nodes += 1;
            let cost_here = self.marks[node as usize].cost;
            let (column, row) = grid.location(node);
            let GridSearch { marks, heap, best, leaves_dead_ends_out, .. } = self;
            grid.each_neighbor(node, |near, length, (dx, dy)| {
                if *leaves_dead_ends_out && grid.dead_ends.is_in(near) {
                    return;
                }
                let cost = cost_here + length * grid.costs[near as usize];
                let mark = &mut marks[near as usize];
                if mark.stamp == stamp && (mark.is_closed || mark.cost <= cost) {
                    return;
                }
                *mark = CellMark { stamp, parent: node, cost, is_closed: false };
                let rest = grid.distance((column + dx, row + dy), target) * grid.least;
                heap.push(Reverse(key(cost + rest, near)));
                if rest < best.0 {
                    *best = (rest, near);
                }
            });
        }
        GridProgress::Unfinished
    }

    /// Writes the nodes of the way that was found, or of that to the node that is nearest to the
    /// target.
    pub fn trace(&self, progress: GridProgress, path: &mut Vec<u32>) {
        path.clear();
        let mut at = if progress == GridProgress::Found { self.to } else { self.best.1 };
        while at != NO_NODE {
            path.push(at);
            at = self.marks[at as usize].parent;
        }
        path.reverse();
    }
}
