//! Searches over the portals between clusters: A* whose nodes are the sides at which a cluster is
//! left. The ways within the clusters are known from their tables, so that the result is a path of
//! polygons without another search.

use super::cluster_table::{NO_PARENT, Tree};
use super::clusters::{Cluster, Member};
use super::cone::Cone;
use super::dispersion::{Crowd, cost_of};
use super::hierarchy::{Hierarchy, Side};
use super::mesh::{NavigationMesh, NearestPolygon};
use super::open_list::OpenList;
use super::path::PolygonPath;
use super::portals::NO_WAY;
use engine_foundation::Vec3;

/// Parent of sides that are reached from the start.
const START: u32 = u32::MAX;
/// Entry of the open list for the destination.
const DESTINATION: u32 = u32::MAX;
/// Marks entries of sides of the start's cluster whose cost is an estimate: the straight way. The
/// cost is computed when the search comes to them, which is the case for a few of them.
const ESTIMATE: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, Default)]
struct FarNode {
    stamp: u32,
    is_closed: bool,
    /// Side at which the cluster before was left.
    parent: u32,
    cost: f32,
    /// Least cost of the rest of the way.
    rest: f32,
}

/// Result of a part of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FarProgress {
    /// It goes on.
    Unfinished,
    Found,
    /// No way leads to the destination.
    Failed,
}

/// Marks and open list of a search over portals.
#[derive(Clone, Debug, Default)]
pub(super) struct FarSearch {
    nodes: Vec<FarNode>,
    stamp: u32,
    heap: OpenList,
    /// Ways in the cluster of the start, if those of its sides cannot be turned around.
    tree: Tree,
    has_tree: bool,
    chain: Vec<u32>,
    sides: Vec<u32>,
    start: Option<NearestPolygon>,
    destination: Option<NearestPolygon>,
    least: f32,
    /// Crowd that the search avoids, and the stamps of the clusters in which it is.
    crowd: Crowd,
    crowded: Vec<u32>,
    /// Factor of the cost of the rest of the way in the order of the open list.
    greed: f32,
    /// Cost of the best way to the destination, and the side before it.
    end: (f32, u32),
    /// The side that is nearest to the destination.
    best: (f32, u32),
}

/// Returns the order of an entry in the open list: by cost, then by index.
pub(super) fn key(cost: f32, index: u32) -> u64 {
    // The bits of numbers that are not negative have the order of the numbers.
    u64::from(cost.max(0.0).to_bits()) << 32 | u64::from(index)
}

impl FarSearch {
    /// Begins a search. The start is an open polygon, and the hierarchy is up to date.
    pub fn begin(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        destination: NearestPolygon,
        (least, crowd): (f32, &Crowd),
    ) {
        let hierarchy = &mesh.hierarchy;
        if self.nodes.len() < hierarchy.sides.len() {
            self.nodes.resize(hierarchy.sides.len(), FarNode::default());
        }
        if self.stamp == u32::MAX {
            self.nodes.fill(FarNode::default());
            self.crowded.clear();
            self.stamp = 0;
        }
        self.stamp += 1;
        self.heap.clear();
        (self.start, self.destination) = (Some(start), Some(destination));
        (self.least, self.greed) = (least, hierarchy.greed);
        (self.end, self.best) = ((f32::INFINITY, START), (f32::INFINITY, START));
        self.find_crowded(hierarchy, crowd);
        let (index, cluster) = hierarchy.cluster_of(start.polygon);
        let to = hierarchy.members[destination.polygon as usize];
        let sides = || (hierarchy.first_side[index as usize]..).zip(hierarchy.sides_of(index));
        let is_one_way = |side: &Side| hierarchy.sides[side.twin as usize].ordinal == NO_WAY;
        self.has_tree = cluster.has_jumps
            || self.is_crowded(index)
            || to.cluster == index
            || hierarchy.sides_of(index).iter().any(is_one_way);
        if !self.has_tree {
            for (at, side) in sides() {
                let way = start.position.distance(side.point) * least + side.cross;
                let rest = side.point.distance(destination.position) * least;
                self.heap.push(key(way + rest * self.greed, at | ESTIMATE));
            }
            return;
        }
        let local = hierarchy.members[start.polygon as usize].local;
        let (of, from) = ((index, cluster), (local, start.position));
        self.tree.grow(mesh, &hierarchy.members, of, from, &self.crowd);
        for (at, side) in sides() {
            if side.ordinal != NO_WAY {
                let cost = self.tree.cost(mesh, cluster, side.local, side.point);
                self.reach(hierarchy, (at, side), cost, START, destination.position);
            }
        }
        if to.cluster == index {
            let cost = self.tree.cost(mesh, cluster, to.local, destination.position);
            self.reach_destination(cost, START);
        }
    }

    /// Notes in which clusters the crowd is.
    fn find_crowded(&mut self, hierarchy: &Hierarchy, crowd: &Crowd) {
        self.crowd.clone_from(crowd);
        let Some(crowd) = crowd else { return };
        if self.crowded.len() != hierarchy.clusters.len() {
            self.crowded.clear();
            self.crowded.resize(hierarchy.clusters.len(), 0);
        }
        for polygon in crowd.polygons() {
            self.crowded[hierarchy.members[*polygon as usize].cluster as usize] = self.stamp;
        }
    }

    fn is_crowded(&self, cluster: u32) -> bool {
        self.crowd.is_some() && self.crowded[cluster as usize] == self.stamp
    }

    /// Returns what the crowd adds to the cost of the way from a side to a polygon of its cluster.
    fn crowd_within(&mut self, mesh: &NavigationMesh, side: u32, local: u16) -> f32 {
        let index = mesh.hierarchy.sides[side as usize].cluster;
        if !self.is_crowded(index) {
            return 0.0;
        }
        let cluster = &mesh.hierarchy.clusters[index as usize];
        mesh.chain(cluster, parents_of(&mesh.hierarchy, side), local, &mut self.chain);
        let targets = self.chain.iter().map(|link| mesh.links[*link as usize].target);
        targets.map(|target| cost_of(&self.crowd, target)).sum()
    }

    /// Reaches a side by which a cluster is left.
    #[inline]
    fn reach(
        &mut self,
        hierarchy: &Hierarchy,
        (at, side): (u32, &Side),
        cost: f32,
        parent: u32,
        to: Vec3,
    ) {
        let cost = cost + side.cross;
        let node = &mut self.nodes[at as usize];
        let is_known = node.stamp == self.stamp;
        if cost == f32::INFINITY || is_known && (node.is_closed || node.cost <= cost) {
            return;
        }
        let rest = if is_known {
            node.rest
        } else {
            // Only jumps have another end.
            let is_jump = side.cross > 0.0;
            let point =
                if is_jump { hierarchy.sides[side.twin as usize].point } else { side.point };
            point.distance(to) * self.least
        };
        *node = FarNode { stamp: self.stamp, is_closed: false, parent, cost, rest };
        self.heap.push(key(cost + rest * self.greed, at));
        if rest < self.best.0 {
            self.best = (rest, at);
        }
    }

    fn reach_destination(&mut self, cost: f32, parent: u32) {
        if cost < self.end.0 {
            self.end = (cost, parent);
            self.heap.push(key(cost, DESTINATION));
        }
    }

    /// Visits at most a number of sides, which is counted down. Adds their polygons to `visited`.
    pub fn advance(
        &mut self,
        mesh: &NavigationMesh,
        budget: &mut usize,
        visited: &mut Vec<u32>,
    ) -> FarProgress {
        let Some(destination) = self.destination else { return FarProgress::Failed };
        let hierarchy = &mesh.hierarchy;
        let to = hierarchy.members[destination.polygon as usize];
        loop {
            if *budget == 0 {
                return FarProgress::Unfinished;
            }
            let Some(top) = self.heap.pop() else { return FarProgress::Failed };
            let at = top as u32;
            if at == DESTINATION {
                return FarProgress::Found;
            }
            if at & ESTIMATE != 0 {
                self.leave_start(mesh, at & !ESTIMATE, destination);
                *budget -= 1;
                continue;
            }
            let node = &mut self.nodes[at as usize];
            if std::mem::replace(&mut node.is_closed, true) {
                continue;
            }
            *budget -= 1;
            let entry = hierarchy.sides[at as usize].twin;
            let Side { cluster, polygon, .. } = hierarchy.sides[entry as usize];
            let cost = node.cost + cost_of(&self.crowd, polygon);
            visited.push(polygon);
            let first = hierarchy.first_side[cluster as usize];
            let sides = hierarchy.sides_of(cluster);
            let row = (entry - first) as usize * sides.len();
            if cluster == to.cluster {
                let rest = self.cost_within(mesh, entry, destination);
                let crowd = self.crowd_within(mesh, entry, to.local);
                self.reach_destination(cost + rest + crowd, at);
            }
            let costs = &hierarchy.tables[cluster as usize].costs[row..row + sides.len()];
            for (side, within) in (first..).zip(sides).zip(costs) {
                let cost = cost + within + self.crowd_within(mesh, entry, side.1.local);
                self.reach(hierarchy, side, cost, at, destination.position);
            }
        }
    }

    /// Reaches a side of the start's cluster.
    fn leave_start(&mut self, mesh: &NavigationMesh, at: u32, destination: NearestPolygon) {
        let Some(start) = self.start else { return };
        // The way is as long in the other direction.
        let cost = self.cost_within(mesh, at, start);
        let side = &mesh.hierarchy.sides[at as usize];
        self.reach(&mesh.hierarchy, (at, side), cost, START, destination.position);
    }

    /// Returns the cost of the way from a side to a point in the same cluster.
    fn cost_within(&mut self, mesh: &NavigationMesh, side: u32, point: NearestPolygon) -> f32 {
        let to = mesh.hierarchy.members[point.polygon as usize];
        let parents = parents_of(&mesh.hierarchy, side);
        let cluster = &mesh.hierarchy.clusters[to.cluster as usize];
        if !mesh.chain(cluster, parents, to.local, &mut self.chain) {
            return f32::INFINITY;
        }
        let from = mesh.hierarchy.sides[side as usize];
        let mut polygon = from.polygon;
        let mut cone = Cone::at(from.point, 0.0);
        for link in self.chain.iter().rev() {
            let link = &mesh.links[*link as usize];
            mesh.step_with(&mut cone, polygon, link, Some(point.position));
            polygon = link.target;
        }
        cone.cost + cone.distance_to(point.position) * mesh.rate(polygon)
    }

    /// Returns true if the search has found a way to a polygon.
    pub fn has_reached(&self, mesh: &NavigationMesh, member: Member) -> bool {
        let hierarchy = &mesh.hierarchy;
        let Some(start) = self.start else { return false };
        let start = hierarchy.members[start.polygon as usize];
        let local = usize::from(member.local);
        if start.cluster == member.cluster {
            let parts = &hierarchy.clusters[start.cluster as usize].components;
            let is_joined = match self.has_tree {
                true => self.tree.parents[local] != NO_PARENT,
                false => parts[local] == parts[usize::from(start.local)],
            };
            if is_joined {
                return true;
            }
        }
        let first = hierarchy.first_side[member.cluster as usize];
        (first..).zip(hierarchy.sides_of(member.cluster)).any(|(side, of)| {
            let node = &self.nodes[of.twin as usize];
            node.stamp == self.stamp && parents_of(hierarchy, side)[local] != NO_PARENT
        })
    }

    /// Writes the path that was found, or the one that leads nearest to the destination.
    pub fn trace(&mut self, mesh: &NavigationMesh, is_found: bool, path: &mut PolygonPath) {
        let hierarchy = &mesh.hierarchy;
        path.polygons.clear();
        path.links.clear();
        let Some(start) = self.start else { return };
        path.polygons.push(start.polygon);
        let last = if is_found { self.end.1 } else { self.best.1 };
        self.sides.clear();
        let mut at = last;
        while at != START {
            self.sides.push(at);
            at = self.nodes[at as usize].parent;
        }
        let mut chain = std::mem::take(&mut self.chain);
        let mut entered = START;
        for &next in self.sides.iter().rev() {
            let exit = hierarchy.sides[next as usize];
            let cluster = &hierarchy.clusters[exit.cluster as usize];
            let polygon = exit.polygon;
            if entered == START && !self.has_tree {
                let to = hierarchy.members[start.polygon as usize];
                mesh.chain(cluster, parents_of(hierarchy, next), to.local, &mut chain);
                mesh.turn_around(&mut chain, (polygon, start.polygon));
            } else {
                mesh.chain(cluster, self.parents(hierarchy, entered), exit.local, &mut chain);
            }
            let first = mesh.polygons[polygon as usize].first_link;
            chain.insert(0, first + u32::from(exit.ordinal));
            path.extend(mesh, chain.iter().rev());
            entered = exit.twin;
        }
        if let Some(destination) = self.destination.filter(|_| is_found) {
            let to = hierarchy.members[destination.polygon as usize];
            let cluster = &hierarchy.clusters[to.cluster as usize];
            mesh.chain(cluster, self.parents(hierarchy, entered), to.local, &mut chain);
            path.extend(mesh, chain.iter().rev());
        }
        self.chain = chain;
    }

    /// Returns the tree of a side, or that of the start.
    fn parents<'a>(&'a self, hierarchy: &'a Hierarchy, side: u32) -> &'a [u16] {
        if side == START { &self.tree.parents } else { parents_of(hierarchy, side) }
    }
}

/// Returns the tree of a side.
fn parents_of(hierarchy: &Hierarchy, side: u32) -> &[u16] {
    let index = hierarchy.sides[side as usize].cluster as usize;
    let Cluster { polygons, .. } = &hierarchy.clusters[index];
    let row = (side - hierarchy.first_side[index]) as usize;
    &hierarchy.tables[index].parents[row * polygons.len()..][..polygons.len()]
}
