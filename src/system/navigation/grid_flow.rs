//! Flow fields of navigation grids: the cost of the way from every cell to the nearest target.

use super::grid::{DIAGONAL, GridShape, NavigationGrid, key};
use std::cmp::Reverse;

/// Maximum number of flow fields of a grid.
pub const FLOW_FIELDS_MAX: usize = 64;
/// Buckets of distances above which a heap is used instead.
const BUCKETS_MAX: usize = 4096;
/// Distance of blocked nodes: below that of all others, so that no way into them is shorter.
const BLOCKED: f32 = -1.0;

/// Distances of all cells to the nearest target.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowField {
    name: String,
    pub targets: Vec<u32>,
    /// Version of the grid for which it was computed; `None` if it was not.
    version: Option<u32>,
    /// Distances of nodes; [`BLOCKED`] if they cannot be entered.
    distances: Vec<f32>,
}

impl FlowField {
    /// Has the field computed again when it is next read.
    #[cfg(test)]
    pub fn forget(&mut self) {
        self.version = None;
    }
}

impl NavigationGrid {
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
                ..FlowField::default()
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
        let distances = &self.fields[field].distances;
        let node = self.node(cell);
        let distance = distances[node as usize];
        let is_target = || self.fields[field].targets.contains(&cell);
        if distance == 0.0 || distance == BLOCKED && is_target() {
            return Some((0.0, cell));
        }
        if distance == f32::MAX || distance == BLOCKED {
            return None;
        }
        let mut best = (f32::MAX, node);
        self.each_neighbor(node, |near, length, _| {
            let left = distances[near as usize];
            let way = left + length * self.costs[near as usize];
            if left < f32::MAX && way < best.0 {
                best = (way, near);
            }
        });
        Some((distance, self.cell_of(best.1)))
    }

    /// Computes a field by Dijkstra's algorithm from all targets. Cells wait in buckets of
    /// distances that are at most as wide as the shortest step, so that their order within a bucket
    /// does not matter (R. Dial, "Algorithm 360", 1969; E. Denardo and B. Fox, 1979).
    fn compute(&mut self, field: usize) {
        let mut known = std::mem::take(&mut self.fields[field]);
        known.version = Some(self.version);
        known.distances.clear();
        let free = |cost: &f32| if *cost > 0.0 { f32::MAX } else { BLOCKED };
        known.distances.extend(self.costs.iter().map(free));
        let targets: Vec<u32> = known
            .targets
            .iter()
            .map(|target| self.node(*target))
            .filter(|node| self.costs[*node as usize] > 0.0)
            .collect();
        targets.iter().for_each(|node| known.distances[*node as usize] = 0.0);
        let buckets = (self.most * DIAGONAL / self.least) as usize + 2;
        if buckets <= BUCKETS_MAX {
            self.fill_by_buckets(&mut known.distances, &targets, buckets);
        } else {
            self.fill_by_heap(&mut known.distances, &targets);
        }
        self.fields[field] = known;
    }

    fn fill_by_buckets(&self, distances: &mut [f32], targets: &[u32], count: usize) {
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); count];
        let width = 1.0 / self.least;
        buckets[0].extend_from_slice(targets);
        let mut waiting = targets.len();
        let (mut at, mut slot, mut current) = (0usize, 0, Vec::new());
        while waiting > 0 {
            std::mem::swap(&mut current, &mut buckets[slot]);
            waiting -= current.len();
            for &node in &current {
                if (distances[node as usize] * width) as usize + 1 < at {
                    // It was reached on a shorter way, and handled then.
                    continue;
                }
                self.relax(distances, node, |near, distance| {
                    let ahead = ((distance * width) as usize).max(at + 1) - at;
                    let to = if slot + ahead < count { slot + ahead } else { slot + ahead - count };
                    buckets[to].push(near);
                    waiting += 1;
                });
            }
            current.clear();
            at += 1;
            slot = if slot + 1 == count { 0 } else { slot + 1 };
        }
    }

    fn fill_by_heap(&mut self, distances: &mut [f32], targets: &[u32]) {
        let mut heap = std::mem::take(&mut self.heap);
        heap.clear();
        heap.extend(targets.iter().map(|node| Reverse(key(0.0, *node))));
        while let Some(Reverse(top)) = heap.pop() {
            let node = top as u32;
            if key(distances[node as usize], node) == top {
                self.relax(distances, node, |near, distance| {
                    heap.push(Reverse(key(distance, near)));
                });
            }
        }
        self.heap = heap;
    }

    /// Shortens the ways of the nodes from which a node can be entered.
    #[inline]
    fn relax(&self, distances: &mut [f32], node: u32, mut push: impl FnMut(u32, f32)) {
        let at = node as usize;
        let (here, cost, stride) = (distances[at], self.costs[at], self.stride());
        let straight = here + cost;
        let mut reach = |near: usize, distance: f32| {
            let known = distances[near];
            if distance < known {
                distances[near] = distance;
                push(near as u32, distance);
            }
            known != BLOCKED
        };
        if self.shape == GridShape::Hexagonal {
            for (dx, dy) in self.steps(node) {
                reach((at as i32 + dy * stride as i32 + dx) as usize, straight);
            }
            return;
        }
        let (right, up) = (reach(at + 1, straight), reach(at + stride, straight));
        let (left, down) = (reach(at - 1, straight), reach(at - stride, straight));
        if self.shape == GridShape::Square8 {
            let diagonal = here + DIAGONAL * cost;
            for (is_open, near) in [
                (right && up, at + stride + 1),
                (left && up, at + stride - 1),
                (left && down, at - stride - 1),
                (right && down, at - stride + 1),
            ] {
                if is_open {
                    reach(near, diagonal);
                }
            }
        }
    }
}
