//! Flow fields of navigation grids: the cost of the way from every cell to the nearest target, or
//! away from the targets of another field. What changed cells change is in grid_flow_change.rs.

use super::grid::{DIAGONAL, GridShape, NavigationGrid, key};
use std::cmp::Reverse;

/// Maximum number of flow fields of a grid.
pub const FLOW_FIELDS_MAX: usize = 64;
/// Maximum number of targets of a flow field of a grid.
pub const GRID_TARGETS_MAX: usize = 65_536;
/// Buckets of distances above which a heap is used instead.
const BUCKETS_MAX: usize = 4096;
/// Distance of blocked nodes: below that of all others, so that no way into them is shorter.
pub(super) const BLOCKED: f32 = -1.0;

/// Distances of all cells to the nearest target.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowField {
    name: String,
    /// Cells in their order, each once.
    pub targets: Vec<u32>,
    /// Field from whose targets it leads away, and how much: a metre towards them costs as much as
    /// this many metres.
    pub threats: Option<(String, f32)>,
    /// Version of the grid for which it was computed; `None` if it was not.
    version: Option<u32>,
    /// Distances of nodes; [`BLOCKED`] if they cannot be entered.
    pub distances: Vec<f32>,
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
        if targets.is_empty() {
            self.fields.retain(|field| field.name != name);
            self.forget_followers(name);
            return true;
        }
        let mut targets = targets.to_vec();
        targets.sort_unstable();
        targets.dedup();
        assert!(targets.len() <= GRID_TARGETS_MAX, "the caller has checked their number");
        self.set_field(FlowField { name: name.to_string(), targets, ..FlowField::default() })
    }

    /// Has a flow field lead away from the targets of another one, which has targets of its own.
    /// Returns false if there are too many fields.
    pub fn set_flee(&mut self, name: &str, threats: &str, factor: f32) -> bool {
        self.set_field(FlowField {
            name: name.to_string(),
            threats: Some((threats.to_string(), factor)),
            ..FlowField::default()
        })
    }

    fn set_field(&mut self, field: FlowField) -> bool {
        self.forget_followers(&field.name);
        match self.field(&field.name) {
            Some(at) => {
                let distances = std::mem::take(&mut self.fields[at].distances);
                self.fields[at] = FlowField { distances, ..field };
            }
            None if self.fields.len() >= FLOW_FIELDS_MAX => return false,
            None => self.fields.push(field),
        }
        true
    }

    /// Has the fields that lead away from a field computed again.
    fn forget_followers(&mut self, name: &str) {
        for field in &mut self.fields {
            if field.threats.as_ref().is_some_and(|(threats, _)| threats == name) {
                field.version = None;
            }
        }
    }

    /// Returns the name of the field from whose targets a field leads away, if it does.
    pub fn field_threats(&self, field: usize) -> Option<&str> {
        self.fields[field].threats.as_ref().map(|(threats, _)| threats.as_str())
    }

    /// Returns the name of a field that leads away from the targets of another one, if one does.
    pub fn follower_of(&self, threats: &str) -> Option<&str> {
        let leads_away = |at: &usize| self.field_threats(*at) == Some(threats);
        (0..self.fields.len()).find(leads_away).map(|at| self.fields[at].name.as_str())
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
    /// on it: the cell itself at a target, or where a field that leads away ends. Returns `None` if
    /// no way leads to a target.
    pub fn flow(&mut self, field: usize, cell: u32) -> Option<(f32, u32)> {
        self.update_field(field);
        let distances = &self.fields[field].distances;
        let node = self.node(cell);
        let distance = distances[node as usize];
        let is_target = || self.fields[field].targets.binary_search(&cell).is_ok();
        if distance == 0.0 || distance == BLOCKED && is_target() {
            return Some((0.0, cell));
        }
        if distance == f32::MAX || distance == BLOCKED {
            return None;
        }
        let is_away = self.fields[field].threats.is_some();
        let mut best = (if is_away { distance } else { f32::MAX }, node);
        self.each_neighbor(node, |near, length, _| {
            let left = distances[near as usize];
            let way = left + length * self.costs[near as usize];
            let is_better = if is_away { way <= best.0 } else { way < best.0 };
            if left < f32::MAX && is_better {
                best = (way, near);
            }
        });
        Some((distance, self.cell_of(best.1)))
    }

    /// Brings a field up to date.
    fn update_field(&mut self, field: usize) {
        let known = &mut self.fields[field];
        let before = known.version.replace(self.version);
        if before == Some(self.version) {
            return;
        }
        if let Some((threats, factor)) = known.threats.clone() {
            let threats = self.field(&threats);
            return self.compute_away(field, threats, factor);
        }
        if !before.is_some_and(|before| self.change_field(field, before)) {
            self.compute(field);
        }
    }

    /// Computes a field by Dijkstra's algorithm from all targets. Cells wait in buckets of
    /// distances that are at most as wide as the shortest step, so that their order within a bucket
    /// does not matter (R. Dial, "Algorithm 360", 1969; E. Denardo and B. Fox, 1979).
    fn compute(&mut self, field: usize) {
        let mut known = std::mem::take(&mut self.fields[field]);
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

    /// Computes a field that leads away: each cell is a target, at which a cost is left that is
    /// lower the farther away the threats are. Cells from which no threat is reached are as good
    /// as the best of the others.
    fn compute_away(&mut self, field: usize, threats: Option<usize>, factor: f32) {
        // A field that leads away from one that does so, too, does not count it.
        let threats = threats.filter(|at| self.fields[*at].threats.is_none());
        if let Some(threats) = threats {
            self.update_field(threats);
        }
        let mut known = std::mem::take(&mut self.fields[field]);
        let away = threats.map(|at| &self.fields[at].distances[..]).unwrap_or_default();
        let is_known = |away: &f32| *away != BLOCKED && *away < f32::MAX;
        let most = away.iter().copied().filter(is_known).fold(0.0, f32::max);
        known.distances.clear();
        known.distances.extend(self.costs.iter().enumerate().map(|(node, cost)| {
            let away = away.get(node).copied().filter(is_known).unwrap_or(most);
            if *cost > 0.0 { (most - away) * factor } else { BLOCKED }
        }));
        // The others are reached from those that are better than the ways over their neighbours.
        let distances = &known.distances;
        let is_first = |node: &u32| {
            let mut is_best = distances[*node as usize] != BLOCKED;
            self.each_neighbor(*node, |near, length, _| {
                let way = distances[near as usize] + length * self.costs[near as usize];
                is_best &= way >= distances[*node as usize];
            });
            is_best
        };
        let stride = self.stride() as u32;
        let inner = stride + 1..self.costs.len() as u32 - stride - 1;
        let first: Vec<u32> = inner.filter(is_first).collect();
        self.fill_by_heap(&mut known.distances, &first);
        self.fields[field] = known;
    }

    fn fill_by_buckets(&self, distances: &mut [f32], targets: &[u32], count: usize) {
        // Each cell waits with its distance. A cell whose distance is another one by now was
        // reached on a shorter way, and waits a second time.
        let mut buckets: Vec<Vec<(u32, f32)>> = vec![Vec::new(); count];
        let width = 1.0 / self.least;
        buckets[0].extend(targets.iter().map(|node| (*node, 0.0)));
        let mut waiting = targets.len();
        let (mut at, mut slot, mut current) = (0usize, 0, Vec::new());
        while waiting > 0 {
            std::mem::swap(&mut current, &mut buckets[slot]);
            waiting -= current.len();
            for &(node, distance) in &current {
                if distances[node as usize] != distance {
                    continue;
                }
                self.relax(distances, node, |near, distance| {
                    // Sums of long ways are rounded by more than the width of a bucket.
                    let ahead = ((distance * width) as usize).clamp(at + 1, at + count - 1) - at;
                    let to = if slot + ahead < count { slot + ahead } else { slot + ahead - count };
                    buckets[to].push((near, distance));
                    waiting += 1;
                });
            }
            current.clear();
            at += 1;
            slot = if slot + 1 == count { 0 } else { slot + 1 };
        }
    }

    /// Finds the ways over some nodes, whose distances are known.
    pub(super) fn fill_by_heap(&mut self, distances: &mut [f32], nodes: &[u32]) {
        let mut heap = std::mem::take(&mut self.heap);
        heap.clear();
        let entry = |node: &u32| Reverse(key(distances[*node as usize], *node));
        heap.extend(nodes.iter().map(entry));
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
