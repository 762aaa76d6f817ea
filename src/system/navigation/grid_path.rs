//! Paths on navigation grids: A* between cells, or jumps where all cells cost the same, see
//! grid_jump.rs. When searches have visited as many cells as the grid has, without a change, dead
//! ends are found: cells from which only one way leads on, to the rest of the grid. These form
//! trees, in which the way is known without a search. In a maze, that is most of the grid: then
//! searches leave them out, and do not jump. Elsewhere, A* leaves them out, and jumps do not need
//! to.

use super::grid::{DIAGONAL, GridShape, NavigationGrid};
use super::grid_search::GridProgress;
use super::search::PartialReason;

pub(super) const NO_NODE: u32 = u32::MAX;

/// Dead ends of a grid.
#[derive(Clone, Debug, Default)]
pub(super) struct DeadEnds {
    /// Version of the grid that was searched last, the number of nodes of these searches, and the
    /// version for which the dead ends were found.
    searched: Option<u32>,
    nodes: usize,
    found: Option<u32>,
    /// Next node on the way out of a dead end, and number of nodes on that way.
    out: Vec<u32>,
    depths: Vec<u32>,
    /// True if they are most of the grid.
    are_most: bool,
}

impl DeadEnds {
    /// Adds nodes that a search has visited.
    pub fn add_nodes(&mut self, count: usize) {
        self.nodes = self.nodes.saturating_add(count);
    }

    /// Returns true if a node is in a dead end.
    #[inline]
    pub fn is_in(&self, node: u32) -> bool {
        self.out[node as usize] != NO_NODE
    }
}

impl NavigationGrid {
    /// Returns the length of the shortest way between two nodes of a grid without blocked cells.
    #[inline]
    pub(super) fn distance(&self, (a, b): (i32, i32), (c, d): (i32, i32)) -> f32 {
        let (x, y) = ((a - c).abs(), (b - d).abs());
        match self.shape {
            GridShape::Square4 => (x + y) as f32,
            GridShape::Square8 => x.max(y) as f32 + (DIAGONAL - 1.0) * x.min(y) as f32,
            GridShape::Hexagonal => {
                // Axial coordinates: columns minus half of the rows, which count from the border.
                let axial = |column: i32, row: i32| column - (row - 1).div_euclid(2);
                let (across, up) = (axial(a, b) - axial(c, d), b - d);
                across.abs().max(up.abs()).max((across + up).abs()) as f32
            }
        }
    }

    pub(super) fn location(&self, node: u32) -> (i32, i32) {
        let stride = self.stride() as u32;
        ((node % stride) as i32, (node / stride) as i32)
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
        let (from, to) = (self.node(from), self.node(to));
        if self.dead_ends.searched.replace(self.version) != Some(self.version) {
            self.dead_ends.nodes = 0;
        }
        let mut reason = Some(PartialReason::Unreachable);
        // Finding the dead ends visits all nodes: done when searches have visited as many.
        let is_worth = self.dead_ends.nodes >= self.costs.len();
        if self.costs[from as usize] > 0.0 && self.costs[to as usize] > 0.0 {
            if is_worth {
                self.find_dead_ends();
            }
            if self.has_jumps() && !(is_worth && self.dead_ends.are_most) {
                let failed = self.search_by_jumps(from, to, nodes_max, path);
                // The other search knows how far one gets.
                reason = failed.map(|_| PartialReason::Unreachable);
            } else if is_worth {
                reason = self.search_without_dead_ends(from, to, nodes_max, path);
            }
        }
        // Nodes of dead ends may be nearest to a target that cannot be reached.
        if reason == Some(PartialReason::Unreachable) {
            reason = self.search(from, to, nodes_max, false, path);
        }
        path.iter_mut().for_each(|node| *node = self.cell_of(*node));
        reason
    }

    fn search_without_dead_ends(
        &mut self,
        from: u32,
        to: u32,
        nodes_max: usize,
        path: &mut Vec<u32>,
    ) -> Option<PartialReason> {
        let DeadEnds { out, depths, .. } = &self.dead_ends;
        let (mut start, mut end) = (from, to);
        let (mut first, mut last) = (vec![from], vec![to]);
        // Both ways out, the longer one first, until they meet or have left the dead ends.
        while start != end && (out[start as usize] != NO_NODE || out[end as usize] != NO_NODE) {
            if depths[start as usize] >= depths[end as usize] {
                start = out[start as usize];
                first.push(start);
            } else {
                end = out[end as usize];
                last.push(end);
            }
        }
        let mut reason = None;
        path.clear();
        if start != end {
            reason = self.search(start, end, nodes_max, true, path);
            if reason.is_some() {
                first.pop();
                first.append(path);
                std::mem::swap(&mut first, path);
                return reason;
            }
            first.pop();
        } else {
            last.pop();
        }
        if start != end {
            last.pop();
        }
        first.append(path);
        first.extend(last.iter().rev());
        std::mem::swap(&mut first, path);
        reason
    }

    pub(super) fn search(
        &mut self,
        from: u32,
        to: u32,
        nodes_max: usize,
        leaves_dead_ends_out: bool,
        path: &mut Vec<u32>,
    ) -> Option<PartialReason> {
        let mut search = std::mem::take(&mut self.searcher);
        search.begin(self, (from, to));
        if leaves_dead_ends_out {
            search.leave_dead_ends_out();
        }
        let progress = search.advance(self, nodes_max);
        search.trace(progress, path);
        self.dead_ends.add_nodes(search.nodes);
        self.searcher = search;
        match progress {
            GridProgress::Found => None,
            GridProgress::Failed => Some(PartialReason::Unreachable),
            GridProgress::Unfinished => Some(PartialReason::Budget),
        }
    }

    /// Finds the dead ends: removes cells with one neighbour until none is left.
    fn find_dead_ends(&mut self) {
        if self.dead_ends.found == Some(self.version) {
            return;
        }
        let mut ends = std::mem::take(&mut self.dead_ends);
        ends.found = Some(self.version);
        ends.out.clear();
        ends.out.resize(self.costs.len(), NO_NODE);
        ends.depths.clear();
        ends.depths.resize(self.costs.len(), 0);
        let mut neighbors = vec![0u8; self.costs.len()];
        let mut removed = Vec::new();
        for node in (0..self.costs.len() as u32).filter(|node| self.costs[*node as usize] > 0.0) {
            let mut count = 0;
            self.each_neighbor(node, |_, _, _| count += 1);
            neighbors[node as usize] = count;
            if count == 1 {
                removed.push(node);
            }
        }
        let mut next = 0;
        while let Some(&node) = removed.get(next) {
            next += 1;
            // The last cell of a part without loops has no neighbour left: it is the root.
            if neighbors[node as usize] != 1 {
                continue;
            }
            let mut way = NO_NODE;
            self.each_neighbor(node, |near, _, _| {
                if ends.out[near as usize] == NO_NODE {
                    way = near;
                }
            });
            ends.out[node as usize] = way;
            neighbors[node as usize] = 0;
            neighbors[way as usize] -= 1;
            if neighbors[way as usize] == 1 {
                removed.push(way);
            }
        }
        for &node in removed.iter().rev() {
            if let Some(depth) = ends.depths.get(ends.out[node as usize] as usize) {
                ends.depths[node as usize] = depth + 1;
            }
        }
        let open = self.costs.iter().filter(|cost| **cost > 0.0).count();
        ends.are_most = ends.out.iter().filter(|out| **out != NO_NODE).count() * 2 > open;
        self.dead_ends = ends;
    }
}
