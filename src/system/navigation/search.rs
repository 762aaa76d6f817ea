//! Searches in a mesh. A near destination is searched from polygon to polygon (A*), a far one over
//! the portals of the hierarchy. A search can be divided: it keeps its state, and goes on with
//! another number of nodes. The marks of a search are in a `Searcher`, so that several searches can
//! use the same mesh at once.
//!
//! The open lists are binary heaps; equal costs are ordered by index, so that results do not depend
//! on anything else.

use super::cone::Cone;
use super::dijkstra_map::DijkstraMap;
use super::dispersion::{Crowd, cost_of};
use super::far_search::{FarProgress, FarSearch, key};
use super::leave_closed::WayOut;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::open_list::OpenList;
use super::straighten::Straightener;
use engine_foundation::Vec3;

pub use super::path::{PartialReason, PointPath, PolygonPath};

/// Default number of polygons that a search may visit.
pub const SEARCH_NODES_DEFAULT: usize = 65_536;
/// Polygons that a search for a near destination visits before it uses the hierarchy.
const NEAR_NODES: usize = 512;
/// Marks the start of a search, which no link leads to.
const NO_LINK: u32 = u32::MAX;
/// Ends the list of the nodes of a polygon.
const NO_NODE: u32 = u32::MAX;

/// Polygon that was entered by a link. A polygon has a node for each link by which it was entered,
/// because the shortest way through it may enter it by another link than the shortest way into it.
#[derive(Clone, Copy, Debug)]
struct Node {
    polygon: u32,
    link: u32,
    /// Node of the polygon before, and the next node of the same polygon.
    parent: u32,
    next: u32,
    is_closed: bool,
    /// Least cost of a way over this node.
    cost: f32,
    cone: Cone,
}

/// Nodes of a polygon: the first one, if they are of the current search.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    stamp: u32,
    first: u32,
}

/// Progress of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    /// The path is the start.
    #[default]
    AtStart,
    Near,
    Far,
    /// The path is one of those that were searched.
    NearEnd(u32),
    FarEnd {
        is_found: bool,
    },
}

/// Marks and open list of searches.
#[derive(Clone, Debug, Default)]
pub struct Searcher {
    nodes: Vec<Node>,
    slots: Vec<Slot>,
    heap: OpenList,
    stamp: u32,
    far: FarSearch,
    /// Crowd that the search avoids.
    pub(super) crowd: Crowd,
    straightener: Straightener,
    /// Clusters in the order of their distance from a point.
    distances: Vec<(f32, u32)>,
    phase: Phase,
    /// Start of the search, and the position of the caller before it with the closed polygons and
    /// links on the way out.
    start: Option<NearestPolygon>,
    inside: Option<Vec3>,
    closed: Vec<(u32, u32)>,
    /// Ends of the path that was finished last.
    ends: (Vec3, Vec3),
    /// Destination of the caller, and the one that is searched.
    wanted: Option<NearestPolygon>,
    destination: Option<NearestPolygon>,
    partial: Option<PartialReason>,
    least: f32,
    /// Nodes that were visited, and that may be visited; those of the near search.
    count: usize,
    nodes_max: usize,
    near_count: usize,
    near_max: usize,
    /// Dead ends into which the near search looks: those of its ends. All, if the destination may
    /// be out of reach, and the nearest point is looked for.
    dead_ends: Option<[u16; 2]>,
    /// Node that is nearest to the destination.
    best: (f32, u32),
    /// Polygons of the nodes that were visited, in order.
    visited: Vec<u32>,
    has_tried_again: bool,
}

impl Searcher {
    /// Returns the polygons of the nodes that the last search visited, in order.
    pub fn visited(&self) -> &[u32] {
        &self.visited
    }

    /// Returns the number of nodes that the last search visited.
    pub fn num_nodes(&self) -> usize {
        self.count
    }

    /// Searches for a path. If the destination cannot be reached, the path leads to the point that
    /// is nearest to it, of those that can.
    pub fn search(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        destination: NearestPolygon,
        nodes_max: usize,
        path: &mut PolygonPath,
    ) {
        self.begin(mesh, start, destination, nodes_max);
        self.advance(mesh, usize::MAX);
        self.finish(mesh, path);
    }

    /// Begins a search, which visits at most `nodes_max` nodes. The mesh must not change until it
    /// is finished.
    pub fn begin(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        destination: NearestPolygon,
        nodes_max: usize,
    ) {
        self.least = mesh.least_cost();
        (self.start, self.wanted) = (Some(start), Some(destination));
        (self.destination, self.inside) = (Some(destination), None);
        self.closed.clear();
        (self.partial, self.has_tried_again) = (None, false);
        (self.count, self.nodes_max) = (0, nodes_max);
        self.phase = Phase::AtStart;
        self.visited.clear();
        if start.polygon == destination.polygon {
            return;
        }
        self.dead_ends = None;
        if !mesh.has_hierarchy() {
            return self.begin_near(mesh, start, destination, nodes_max);
        }
        let mut start = start;
        if !mesh.is_open(start.polygon) {
            let found = mesh.way_out(start, destination, &mut self.visited);
            self.count = self.visited.len();
            let Some(WayOut { closed, outside }) = found else {
                self.partial = Some(PartialReason::Unreachable);
                return;
            };
            (self.inside, self.closed) = (Some(start.position), closed);
            start = outside;
            self.start = Some(start);
        }
        let component =
            |polygon: u32| mesh.hierarchy.component(mesh.hierarchy.members[polygon as usize]);
        let here = component(start.polygon);
        let mut destination = destination;
        if component(destination.polygon) != here {
            self.partial = Some(PartialReason::Unreachable);
            let reachable = |member| mesh.hierarchy.component(member) == here;
            let position = destination.position;
            let nearest = nearest_where(mesh, position, &mut self.distances, reachable);
            let Some(nearest) = nearest else { return };
            destination = nearest;
            self.destination = Some(nearest);
        }
        self.begin_leg(mesh, start, destination);
    }

    fn begin_leg(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        destination: NearestPolygon,
    ) {
        if start.polygon == destination.polygon {
            self.phase = Phase::AtStart;
        } else if mesh.is_near(start, destination) {
            let dead_end = |at: NearestPolygon| mesh.polygons[at.polygon as usize].dead_end;
            self.dead_ends = Some([dead_end(start), dead_end(destination)]);
            self.begin_near(mesh, start, destination, NEAR_NODES);
        } else {
            self.far.begin(mesh, start, destination, (self.least, &self.crowd));
            self.phase = Phase::Far;
        }
    }

    fn begin_near(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        destination: NearestPolygon,
        nodes_max: usize,
    ) {
        if self.slots.len() < mesh.polygons.len() {
            self.slots.resize(mesh.polygons.len(), Slot::default());
        }
        if self.stamp == u32::MAX {
            self.slots.fill(Slot::default());
            self.stamp = 0;
        }
        self.stamp += 1;
        self.heap.clear();
        self.nodes.clear();
        self.phase = Phase::Near;
        (self.near_count, self.near_max) = (0, nodes_max);
        let far = start.position.distance(destination.position) * self.least;
        self.best = (far, 0);
        let known = self.node_of(start.polygon, NO_LINK);
        self.nodes.push(Node {
            polygon: start.polygon,
            link: NO_LINK,
            parent: NO_NODE,
            next: NO_NODE,
            is_closed: false,
            cost: far,
            cone: Cone::at(start.position, 0.0),
        });
        self.reach(known);
    }

    /// Returns the number of the node of a polygon that was entered by a link; [`NO_NODE`] if there
    /// is none.
    #[inline]
    fn node_of(&mut self, polygon: u32, link: u32) -> u32 {
        let slot = &mut self.slots[polygon as usize];
        if slot.stamp != self.stamp {
            *slot = Slot { stamp: self.stamp, first: NO_NODE };
        }
        let mut at = slot.first;
        while at != NO_NODE && self.nodes[at as usize].link != link {
            at = self.nodes[at as usize].next;
        }
        at
    }

    /// Reaches a polygon with the node that was added last: it stays, or replaces the one of the
    /// same link, whose number is `known`. Returns its number; `None` if the known one is better.
    #[inline]
    fn reach(&mut self, known: u32) -> Option<u32> {
        let mut at = self.nodes.len() as u32 - 1;
        let Node { polygon, cost, .. } = self.nodes[at as usize];
        if known == NO_NODE {
            let slot = &mut self.slots[polygon as usize];
            self.nodes[at as usize].next = slot.first;
            slot.first = at;
        } else {
            let node = self.nodes.pop().expect("it was added");
            let known_node = &mut self.nodes[known as usize];
            if known_node.cost <= cost {
                return None;
            }
            *known_node = Node { next: known_node.next, ..node };
            at = known;
        }
        self.heap.push(key(cost, at));
        Some(at)
    }

    /// Goes on with the search, with at most `nodes` nodes. Returns true if it is finished.
    pub fn advance(&mut self, mesh: &NavigationMesh, nodes: usize) -> bool {
        let mut budget = nodes;
        loop {
            let is_finished = match self.phase {
                Phase::Near => self.advance_near(mesh, &mut budget),
                Phase::Far => self.advance_far(mesh, &mut budget),
                Phase::AtStart | Phase::NearEnd(_) | Phase::FarEnd { .. } => return true,
            };
            if !is_finished && budget == 0 {
                return false;
            }
        }
    }

    /// Returns true if the phase has ended.
    fn advance_near(&mut self, mesh: &NavigationMesh, budget: &mut usize) -> bool {
        let (Some(start), Some(destination)) = (self.start, self.destination) else { return true };
        while let Some(top) = self.heap.peek() {
            let at = top as u32;
            let Node { polygon, is_closed, .. } = self.nodes[at as usize];
            if is_closed {
                self.heap.pop();
                continue;
            }
            if polygon == destination.polygon {
                self.phase = Phase::NearEnd(at);
                return true;
            }
            if self.count >= self.nodes_max {
                self.partial = Some(PartialReason::Budget);
                self.phase = Phase::NearEnd(self.best.1);
                return true;
            }
            if self.near_count >= self.near_max {
                self.far.begin(mesh, start, destination, (self.least, &self.crowd));
                self.phase = Phase::Far;
                return true;
            }
            if *budget == 0 {
                return false;
            }
            *budget -= 1;
            self.heap.pop();
            self.nodes[at as usize].is_closed = true;
            self.count += 1;
            self.near_count += 1;
            self.visited.push(polygon);
            self.expand(mesh, at, destination);
        }
        // All polygons that can be reached were visited.
        self.partial = Some(PartialReason::Unreachable);
        let wanted = self.wanted.unwrap_or(destination).position;
        let mut best = (f32::INFINITY, 0);
        for (at, node) in (0..).zip(&self.nodes) {
            let away = mesh.constrain(node.polygon, wanted).distance_squared(wanted);
            if away < best.0 {
                best = (away, at);
            }
        }
        self.phase = Phase::NearEnd(best.1);
        true
    }

    fn expand(&mut self, mesh: &NavigationMesh, at: u32, destination: NearestPolygon) {
        let Node { polygon, parent, cone, .. } = self.nodes[at as usize];
        let before = self.nodes.get(parent as usize).map(|node| node.polygon);
        let first = mesh.polygons[polygon as usize].first_link;
        for (number, link) in (first..).zip(mesh.links(polygon)) {
            let target = link.target;
            if Some(target) == before || !mesh.can_follow(link) {
                continue;
            }
            let dead_end = mesh.polygons[target as usize].dead_end;
            if dead_end != 0 && self.dead_ends.is_some_and(|ends| !ends.contains(&dead_end)) {
                continue;
            }
            // What was visited is not reached again: its way is known.
            let known = self.node_of(target, number);
            if known != NO_NODE && self.nodes[known as usize].is_closed {
                continue;
            }
            // In its place: funnels are large.
            let (parent, next, is_closed) = (at, NO_NODE, false);
            self.nodes.push(Node {
                polygon: target,
                link: number,
                parent,
                next,
                is_closed,
                cost: 0.0,
                cone,
            });
            let added = self.nodes.len() - 1;
            let node = &mut self.nodes[added];
            let toward = Some(destination.position);
            let (entry, cost) = mesh.step_with(&mut node.cone, polygon, link, toward);
            let crowd = cost_of(&self.crowd, target);
            node.cone.cost += crowd;
            let rest = entry.distance(destination.position);
            let is_last = target == destination.polygon;
            let rate = if is_last { mesh.rate(target) } else { self.least };
            node.cost = cost + crowd + rest * rate;
            let reached = self.reach(known);
            let rest = if is_last { 0.0 } else { rest };
            if let Some(node) = reached.filter(|_| rest < self.best.0) {
                self.best = (rest, node);
            }
        }
    }

    /// Returns true if the phase has ended.
    fn advance_far(&mut self, mesh: &NavigationMesh, budget: &mut usize) -> bool {
        let (Some(start), Some(wanted)) = (self.start, self.wanted) else { return true };
        let mut left = (*budget).min(self.nodes_max - self.count.min(self.nodes_max));
        let before = left;
        let progress = self.far.advance(mesh, &mut left, &mut self.visited);
        self.count += before - left;
        *budget -= before - left;
        match progress {
            FarProgress::Found => self.phase = Phase::FarEnd { is_found: true },
            FarProgress::Unfinished if self.count >= self.nodes_max => {
                self.partial = Some(PartialReason::Budget);
                self.phase = Phase::FarEnd { is_found: false };
            }
            FarProgress::Unfinished => return false,
            FarProgress::Failed => {
                // Links in one direction: the destination is joined, but cannot be reached.
                self.partial = Some(PartialReason::Unreachable);
                let reached = |member| self.far.has_reached(mesh, member);
                let nearest = nearest_where(mesh, wanted.position, &mut self.distances, reached);
                let is_second = std::mem::replace(&mut self.has_tried_again, true);
                match nearest.filter(|_| !is_second) {
                    Some(nearest) => {
                        self.destination = Some(nearest);
                        self.begin_leg(mesh, start, nearest);
                    }
                    None => self.phase = Phase::FarEnd { is_found: false },
                }
            }
        }
        true
    }

    /// Writes the path of a search that is finished.
    pub fn finish(&mut self, mesh: &NavigationMesh, path: &mut PolygonPath) {
        path.polygons.clear();
        path.links.clear();
        path.partial = self.partial;
        let (Some(start), Some(wanted)) = (self.start, self.wanted) else { return };
        match self.phase {
            Phase::NearEnd(end) => self.trace(end, path),
            Phase::FarEnd { is_found } => self.far.trace(mesh, is_found, path),
            _ => path.polygons.push(start.polygon),
        }
        path.polygons.splice(0..0, self.closed.iter().map(|(polygon, _)| *polygon));
        path.links.splice(0..0, self.closed.iter().map(|(_, link)| *link));
        let from = self.inside.unwrap_or(start.position);
        let last = path.polygons[path.polygons.len() - 1];
        let to = match path.partial {
            None => wanted.position,
            Some(_) => mesh.constrain(last, wanted.position),
        };
        self.straightener.straighten(mesh, path, from, to);
        self.ends = (from, to);
    }

    /// Writes the way of a Dijkstra map from a polygon that it knows to the destination.
    pub(super) fn follow(
        &mut self,
        mesh: &NavigationMesh,
        map: &DijkstraMap,
        (start, destination): (NearestPolygon, NearestPolygon),
        path: &mut PolygonPath,
    ) {
        map.trace(mesh, start.polygon, path);
        self.straightener.straighten(mesh, path, start.position, destination.position);
    }

    /// Writes the corners of the path that was finished last, at most `corners_max` points after
    /// the start: those that [`PolygonPath::find_corners`] finds, without another pass over the
    /// path.
    pub fn corners(
        &self,
        mesh: &NavigationMesh,
        path: &PolygonPath,
        corners_max: usize,
        points: &mut PointPath,
    ) {
        match self.straightener.corners(path) {
            Some(corners) => path.of_corners(self.ends, corners, corners_max, points),
            None => path.funnel(mesh, self.ends.0, self.ends.1, corners_max, points),
        }
    }

    fn trace(&self, end: u32, path: &mut PolygonPath) {
        let mut at = end;
        loop {
            let node = &self.nodes[at as usize];
            path.polygons.push(node.polygon);
            if node.link == NO_LINK {
                break;
            }
            path.links.push(node.link);
            at = node.parent;
        }
        path.polygons.reverse();
        path.links.reverse();
    }
}

/// Returns the point that is nearest to a position, on the polygons that are accepted.
fn nearest_where(
    mesh: &NavigationMesh,
    position: Vec3,
    distances: &mut Vec<(f32, u32)>,
    accept: impl Fn(super::clusters::Member) -> bool,
) -> Option<NearestPolygon> {
    let hierarchy = &mesh.hierarchy;
    distances.clear();
    distances.extend((0..).zip(&hierarchy.clusters).map(|(index, cluster)| {
        let nearest = position.clamp(cluster.low, cluster.high);
        (nearest.distance_squared(position), index)
    }));
    distances.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut best: Option<(f32, NearestPolygon)> = None;
    for &(distance, index) in &*distances {
        if best.is_some_and(|(known, _)| known <= distance) {
            break;
        }
        for &polygon in &hierarchy.clusters[index as usize].polygons {
            let of = &mesh.polygons[polygon as usize];
            let bounds = position.clamp(of.low, of.high).distance_squared(position);
            let is_far = best.is_some_and(|(known, _)| known <= bounds);
            if is_far || !accept(hierarchy.members[polygon as usize]) {
                continue;
            }
            let point = mesh.constrain(polygon, position);
            let away = point.distance_squared(position);
            if best.is_none_or(|(known, _)| away < known) {
                best = Some((away, NearestPolygon { polygon, position: point }));
            }
        }
    }
    best.map(|(_, nearest)| nearest)
}
