//! Ways within a cluster: from each of its portals to each of its polygons, with the costs between
//! all pairs of portals. They are found by searches without a destination (Dijkstra), which keep
//! the cone of each polygon.

use super::clusters::{Cluster, Member};
use super::cone::Cone;
use super::dispersion::{Crowd, cost_of};
use super::hierarchy::Side;
use super::mesh::{Link, NavigationMesh};
use super::portals::NO_WAY;
use engine_foundation::Vec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Polygons without a way.
pub(super) const NO_PARENT: u16 = u16::MAX;
/// The polygon at which a tree begins.
const ROOT: u16 = u16::MAX - 1;
/// A parent is the number of a polygon in the cluster, and of the link that leads from there.
/// Links with high numbers are searched by their target.
const ORDINAL_BITS: u32 = 6;
const ANY_ORDINAL: u16 = (1 << ORDINAL_BITS) - 1;

/// Ways within a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Cost from each side to each other one; infinite if there is no way.
    pub costs: Vec<f32>,
    /// Parent of each polygon in the tree of each side.
    pub parents: Vec<u16>,
    /// Sums of the costs of the ways between two sides, and of the distances between both.
    pub ways: f64,
    pub distances: f64,
    /// Hash of all that the table depends on.
    pub fingerprint: u64,
}

#[derive(Clone, Copy, Debug)]
struct TreeNode {
    cone: Cone,
    key: f32,
    is_closed: bool,
}

/// Ways from a point to the polygons of its cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<TreeNode>,
    heap: BinaryHeap<Reverse<u64>>,
    pub parents: Vec<u16>,
}

impl Tree {
    /// Finds the ways from a point of a polygon, among a crowd.
    pub fn grow(
        &mut self,
        mesh: &NavigationMesh,
        members: &[Member],
        (index, cluster): (u32, &Cluster),
        (local, point): (u16, Vec3),
        crowd: &Crowd,
    ) {
        let count = cluster.polygons.len();
        let unknown = TreeNode { cone: Cone::at(point, 0.0), key: f32::INFINITY, is_closed: false };
        self.nodes.clear();
        self.nodes.resize(count, unknown);
        self.parents.clear();
        self.parents.resize(count, NO_PARENT);
        self.heap.clear();
        self.nodes[usize::from(local)].key = 0.0;
        self.parents[usize::from(local)] = ROOT;
        self.heap.push(Reverse(u64::from(local)));
        while let Some(Reverse(top)) = self.heap.pop() {
            let here = top as u16;
            let node = &mut self.nodes[usize::from(here)];
            if std::mem::replace(&mut node.is_closed, true) {
                continue;
            }
            let (cone, polygon) = (node.cone, cluster.polygons[usize::from(here)]);
            for (ordinal, link) in (0u16..).zip(mesh.links(polygon)) {
                let Member { cluster: of, local } = members[link.target as usize];
                if of != index || self.nodes[usize::from(local)].is_closed {
                    continue;
                }
                if !mesh.can_follow(link) {
                    continue;
                }
                let mut step = mesh.step(&cone, polygon, link, None);
                step.add(cost_of(crowd, link.target));
                let known = &mut self.nodes[usize::from(local)];
                if known.key <= step.cost {
                    continue;
                }
                (known.key, known.cone) = (step.cost, step.cone);
                self.parents[usize::from(local)] = here << ORDINAL_BITS | ordinal.min(ANY_ORDINAL);
                self.heap.push(Reverse(u64::from(step.cost.to_bits()) << 32 | u64::from(local)));
            }
        }
    }

    /// Returns the cost of the way to a point of a polygon; infinite if there is none.
    pub fn cost(&self, mesh: &NavigationMesh, cluster: &Cluster, local: u16, point: Vec3) -> f32 {
        if self.parents[usize::from(local)] == NO_PARENT {
            return f32::INFINITY;
        }
        let cone = &self.nodes[usize::from(local)].cone;
        cone.cost + cone.distance_to(point) * mesh.rate(cluster.polygons[usize::from(local)])
    }
}

impl Table {
    /// Finds the ways between the sides of a cluster.
    pub fn new(
        mesh: &NavigationMesh,
        members: &[Member],
        (index, cluster): (u32, &Cluster),
        (sides, all): (&[Side], &[Side]),
        fingerprint: u64,
    ) -> Table {
        let count = cluster.polygons.len();
        let mut table = Table {
            costs: vec![f32::INFINITY; sides.len() * sides.len()],
            parents: vec![NO_PARENT; sides.len() * count],
            ways: 0.0,
            distances: 0.0,
            fingerprint,
        };
        let mut tree = Tree::default();
        for (at, side) in sides.iter().enumerate() {
            if all[side.twin as usize].ordinal == NO_WAY {
                continue;
            }
            tree.grow(mesh, members, (index, cluster), (side.local, side.point), &None);
            table.parents[at * count..][..count].copy_from_slice(&tree.parents);
            for (to, other) in sides.iter().enumerate() {
                if to != at && other.ordinal != NO_WAY {
                    let cost = tree.cost(mesh, cluster, other.local, other.point);
                    table.costs[at * sides.len() + to] = cost;
                    if cost.is_finite() {
                        table.ways += f64::from(cost);
                        table.distances += f64::from(side.point.distance(other.point));
                    }
                }
            }
        }
        table
    }
}

impl NavigationMesh {
    /// Lists the links of a way in a tree, as numbers of the mesh, from its end to its beginning.
    /// Returns false if there is no way.
    pub(super) fn chain(
        &self,
        cluster: &Cluster,
        parents: &[u16],
        end: u16,
        links: &mut Vec<u32>,
    ) -> bool {
        links.clear();
        let mut at = end;
        loop {
            let parent = parents[usize::from(at)];
            if parent == ROOT {
                return true;
            }
            if parent == NO_PARENT || links.len() > parents.len() {
                return false;
            }
            let below = at;
            at = parent >> ORDINAL_BITS;
            let mut ordinal = usize::from(parent & ANY_ORDINAL);
            if ordinal == usize::from(ANY_ORDINAL) {
                let target = cluster.polygons[usize::from(below)];
                let from = cluster.polygons[usize::from(at)];
                let mut links = self.links(from).iter();
                let open = |link: &Link| link.target == target && self.can_follow(link);
                // It can have been closed since.
                let found = links
                    .position(open)
                    .or_else(|| self.links(from).iter().position(|link| link.target == target));
                ordinal = found.expect("the tree follows links");
            }
            links.push(cluster.first_links[usize::from(at)] + ordinal as u32);
        }
    }

    /// Turns a way in a tree around, from its first polygon to its last one: its links lead through
    /// the same edges in the other direction. The list begins with the end of the way, as before.
    pub(super) fn turn_around(&self, links: &mut [u32], (first, last): (u32, u32)) {
        let mut from = last;
        for at in 0..links.len() {
            let before = match links.get(at + 1) {
                Some(next) => self.links[*next as usize].target,
                None => first,
            };
            let back = self.way_back(before, &self.links[links[at] as usize]);
            links[at] = self.polygons[from as usize].first_link + u32::from(back);
            from = before;
        }
        links.reverse();
    }

    /// Returns a hash of all that the ways within a cluster depend on.
    pub(super) fn fingerprint(
        &self,
        members: &[Member],
        (index, cluster): (u32, &Cluster),
        (sides, all): (&[Side], &[Side]),
    ) -> u64 {
        let mut hash = Mixer(sides.len() as u64);
        for &polygon in &cluster.polygons {
            hash.add(
                u64::from(self.rate(polygon).to_bits()) << 1 | u64::from(self.is_open(polygon)),
            );
            for (ordinal, link) in (0u64..).zip(self.links(polygon)) {
                let Member { cluster: of, local } = members[link.target as usize];
                if of != index {
                    continue;
                }
                hash.add(ordinal << 16 | u64::from(local));
                match self.jump(link) {
                    Some(jump) => {
                        hash.point(jump.start);
                        hash.point(jump.end);
                        hash.add(u64::from(jump.cost.to_bits()));
                    }
                    None => {
                        hash.point(link.left);
                        hash.point(link.right);
                    }
                }
            }
        }
        for side in sides {
            let can_leave = u64::from(side.ordinal != NO_WAY);
            let can_enter = u64::from(all[side.twin as usize].ordinal != NO_WAY);
            hash.add(u64::from(side.local) << 2 | can_leave << 1 | can_enter);
            hash.point(side.point);
        }
        hash.0
    }
}

/// Hash of numbers.
struct Mixer(u64);

impl Mixer {
    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn point(&mut self, point: Vec3) {
        self.add(u64::from(point.x.to_bits()) << 32 | u64::from(point.y.to_bits()));
        self.add(u64::from(point.z.to_bits()));
    }
}
