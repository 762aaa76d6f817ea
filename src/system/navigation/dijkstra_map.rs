//! Dijkstra maps of a mesh: the ways from all of its ground to the nearest of some targets, found
//! from the targets outward (E. Dijkstra, "A note on two problems in connexion with graphs", 1959).
//! The ways bend with the mesh, see cone.rs. A map can be computed in parts.

use super::cone::Cone;
use super::dispersion::{Crowd, cost_of};
use super::far_search::key;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::path::PolygonPath;
use super::portals::NO_WAY;
use engine_foundation::Vec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Link of polygons whose way ends at a target in them.
pub(super) const NO_LINK: u32 = u32::MAX;

/// Way from a polygon to the nearest target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Cost of the way from `entry`; infinite if there is none.
    pub cost: f32,
    /// Point at which the way leaves the polygon, or the target in it.
    pub entry: Vec3,
    /// Link by which it leaves the polygon.
    pub link: u32,
    /// True if it does not change any more.
    is_settled: bool,
}

impl Node {
    const UNKNOWN: Node =
        Node { cost: f32::INFINITY, entry: Vec3::ZERO, link: NO_LINK, is_settled: false };
}

/// Target, and the cost that is left there: 0 at the best ones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Target {
    pub at: NearestPolygon,
    pub cost: f32,
}

/// Ways from the polygons of a mesh to the nearest of some targets.
#[derive(Clone, Debug, Default)]
pub(super) struct DijkstraMap {
    pub nodes: Vec<Node>,
    /// Funnels of the nodes; none when the map is complete.
    cones: Vec<Cone>,
    heap: BinaryHeap<Reverse<u64>>,
    /// Targets on open ground, by polygon.
    targets: Vec<Target>,
    /// Links by the polygon of their end: numbers of usable ones.
    jumps: Vec<(u32, u16)>,
    /// Crowd that its ways avoid.
    pub crowd: Crowd,
    /// Number of polygons whose way is known.
    pub visited: usize,
}

impl DijkstraMap {
    /// Begins the map of some targets. The mesh must not change until it is complete.
    pub fn begin(&mut self, mesh: &NavigationMesh, targets: impl Iterator<Item = Target>) {
        self.nodes.clear();
        self.nodes.resize(mesh.polygons.len(), Node::UNKNOWN);
        self.cones.clear();
        self.cones.resize(mesh.polygons.len(), Cone::default());
        self.heap.clear();
        self.visited = 0;
        self.crowd = None;
        self.targets.clear();
        self.targets.extend(targets.filter(|target| mesh.is_open(target.at.polygon)));
        self.targets
            .sort_by(|a, b| a.at.polygon.cmp(&b.at.polygon).then(a.cost.total_cmp(&b.cost)));
        self.jumps.clear();
        self.jumps
            .extend((0u16..).zip(&mesh.jumps.ways.usable).map(|(at, jump)| (jump.target, at)));
        self.jumps.sort_unstable();
        for Target { at, cost } in &self.targets {
            let node = &mut self.nodes[at.polygon as usize];
            if *cost < node.cost {
                *node = Node { cost: *cost, entry: at.position, ..Node::UNKNOWN };
                self.heap.push(Reverse(key(*cost, at.polygon)));
            }
        }
    }

    /// Returns true if all ways are known.
    pub fn is_complete(&self) -> bool {
        self.heap.is_empty()
    }

    /// Returns true if the way from a polygon is known.
    pub fn is_settled(&self, polygon: u32) -> bool {
        self.nodes[polygon as usize].is_settled
    }

    /// Finds the ways of the next polygons. Returns their number, which is at most `count`.
    pub fn advance(&mut self, mesh: &NavigationMesh, count: usize) -> usize {
        let mut found = 0;
        while found < count
            && let Some(Reverse(top)) = self.heap.pop()
        {
            let polygon = top as u32;
            let node = &mut self.nodes[polygon as usize];
            if node.is_settled {
                continue;
            }
            node.is_settled = true;
            found += 1;
            // Those who come from another polygon enter this one.
            let crowd = cost_of(&self.crowd, polygon);
            if node.link != NO_LINK {
                let mut cone = self.cones[polygon as usize];
                cone.cost += crowd;
                self.reach_around(mesh, polygon, cone);
                continue;
            }
            for at in self.targets_of(polygon) {
                let target = self.targets[at];
                let cone = Cone::at(target.at.position, target.cost + crowd);
                self.reach_around(mesh, polygon, cone);
            }
        }
        self.visited += found;
        if self.heap.is_empty() {
            // They are most of its memory.
            self.cones = Vec::new();
        }
        found
    }

    /// Returns the indices of the targets in a polygon.
    fn targets_of(&self, polygon: u32) -> std::ops::Range<usize> {
        let first = self.targets.partition_point(|target| target.at.polygon < polygon);
        let count = self.targets[first..].partition_point(|target| target.at.polygon == polygon);
        first..first + count
    }

    /// Returns the target in a polygon that is best from a position there, and the cost of the way.
    pub fn target_near(&self, at: NearestPolygon, rate: f32) -> Option<(Target, f32)> {
        let targets = self.targets[self.targets_of(at.polygon)].iter();
        let ways = targets
            .map(|target| (*target, target.at.position.distance(at.position) * rate + target.cost));
        ways.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Reaches the polygons from which a polygon can be entered.
    fn reach_around(&mut self, mesh: &NavigationMesh, polygon: u32, cone: Cone) {
        for link in mesh.links(polygon).iter().filter(|link| !link.is_jump()) {
            if !mesh.is_open(link.target) || self.is_settled(link.target) {
                continue;
            }
            let back = mesh.way_back(polygon, link);
            if back == NO_WAY {
                continue;
            }
            let step = mesh.step(&cone, polygon, link, None);
            let link_back = mesh.polygons[link.target as usize].first_link + u32::from(back);
            let node =
                Node { entry: step.entry, cost: step.cost, link: link_back, ..Node::UNKNOWN };
            self.reach(mesh, link.target, node, step.cone);
        }
        let first = self.jumps.partition_point(|(target, _)| *target < polygon);
        for at in first..self.jumps.len() {
            let (target, number) = self.jumps[at];
            if target != polygon {
                break;
            }
            let jump = mesh.jumps.ways.usable[usize::from(number)];
            let is_closed = jump.cost == f32::INFINITY || !mesh.is_open(jump.polygon);
            if is_closed || self.is_settled(jump.polygon) {
                continue;
            }
            let is_same = |link: &super::mesh::Link| link.jump == number;
            let Some(link) = mesh.links(jump.polygon).iter().position(is_same) else { continue };
            let link = mesh.polygons[jump.polygon as usize].first_link + link as u32;
            let rest = cone.distance_to(jump.end) * mesh.rate(polygon);
            let cost = cone.cost + rest + jump.cost;
            let node = Node { cost, entry: jump.start, link, ..Node::UNKNOWN };
            self.reach(mesh, jump.polygon, node, Cone::at(jump.start, cost));
        }
    }

    fn reach(&mut self, mesh: &NavigationMesh, polygon: u32, node: Node, cone: Cone) {
        let known = &mut self.nodes[polygon as usize];
        // A polygon that has a target is left if that is better from there.
        let is_target = known.cost < f32::INFINITY && known.link == NO_LINK;
        let way = match is_target {
            true => node.entry.distance(known.entry) * mesh.rate(polygon),
            false => 0.0,
        };
        if node.cost + way < known.cost {
            *known = node;
            self.cones[polygon as usize] = cone;
            self.heap.push(Reverse(key(node.cost, polygon)));
        }
    }

    /// Writes the way from a polygon to its target, which is returned. The way is known.
    pub fn trace(&self, mesh: &NavigationMesh, from: u32, path: &mut PolygonPath) {
        path.polygons.clear();
        path.links.clear();
        path.partial = None;
        path.polygons.push(from);
        let mut link = self.nodes[from as usize].link;
        while link != NO_LINK {
            let target = mesh.links[link as usize].target;
            path.links.push(link);
            path.polygons.push(target);
            link = self.nodes[target as usize].link;
        }
    }
}
