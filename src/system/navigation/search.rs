//! Searches in a mesh: A* over polygons, and string pulling. The marks of a search are in a
//! `Searcher`, so that several searches can use the same mesh at once.
//!
//! A node is a polygon with the point at which the search entered it: the point of the portal that
//! is nearest to the straight way to the destination. The open list is a binary heap; equal costs
//! are ordered by the index of the polygon, so that results do not depend on anything else.

use super::jumps::Jump;
use super::mesh::{Link, NavigationMesh, NearestPolygon};
use super::volumes::Renumbering;
use engine_foundation::Vec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Default number of polygons that a search may visit.
pub const SEARCH_NODES_DEFAULT: usize = 65_536;
/// Distance in metres from the straight way at which a corner is left out.
const STRAIGHT: f32 = 1e-3;
/// Marks the start of a search, which no link leads to.
const NO_LINK: u32 = u32::MAX;

/// Reason why a path does not reach its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartialReason {
    /// No way leads to the destination.
    Unreachable,
    /// The search visited as many polygons as it may.
    Budget,
}

impl PartialReason {
    /// Returns the name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            PartialReason::Unreachable => "unreachable",
            PartialReason::Budget => "budget",
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Number of the search that visited the node last, and its progress.
    stamp: u32,
    is_closed: bool,
    /// Polygon and link by which it was entered.
    parent: u32,
    link: u32,
    cost: f32,
    entry: Vec3,
}

/// Marks and open list of searches.
#[derive(Debug, Default)]
pub struct Searcher {
    nodes: Vec<Node>,
    heap: BinaryHeap<Reverse<u64>>,
    stamp: u32,
    /// Polygons that the last search finished, in order.
    visited: Vec<u32>,
}

/// Polygons from a start to a destination, with the links between them.
#[derive(Clone, Debug, Default)]
pub struct PolygonPath {
    pub polygons: Vec<u32>,
    /// Links as indices into the mesh: one less than polygons.
    pub(super) links: Vec<u32>,
    /// Why the path ends before the destination; `None` if it does not.
    pub partial: Option<PartialReason>,
}

impl Searcher {
    fn begin(&mut self, mesh: &NavigationMesh) {
        if self.nodes.len() != mesh.polygons.len() || self.stamp == u32::MAX {
            self.nodes.clear();
            self.nodes.resize(mesh.polygons.len(), Node::default());
            self.stamp = 0;
        }
        self.stamp += 1;
        self.heap.clear();
        self.visited.clear();
    }

    /// Returns the polygons that the last search finished, in order.
    pub fn visited(&self) -> &[u32] {
        &self.visited
    }

    /// Searches for a path. If the destination cannot be reached, the path leads to the polygon
    /// from which it is nearest.
    pub fn search(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        destination: NearestPolygon,
        nodes_max: usize,
        path: &mut PolygonPath,
    ) {
        self.begin(mesh);
        let areas = mesh.costs.iter().copied().filter(|cost| *cost > 0.0);
        let least = areas.fold(mesh.jumps.least, f32::min);
        let first = Node {
            stamp: self.stamp,
            is_closed: false,
            parent: start.polygon,
            link: NO_LINK,
            cost: 0.0,
            entry: start.position,
        };
        self.nodes[start.polygon as usize] = first;
        let far = start.position.distance(destination.position) * least;
        self.heap.push(Reverse(key(far, start.polygon)));
        let mut best = (far, start.polygon);
        let mut reason = PartialReason::Unreachable;
        while let Some(Reverse(top)) = self.heap.pop() {
            let polygon = top as u32;
            if self.nodes[polygon as usize].is_closed {
                continue;
            }
            self.nodes[polygon as usize].is_closed = true;
            if polygon == destination.polygon {
                self.visited.push(polygon);
                return self.trace(polygon, None, path);
            }
            if self.visited.len() >= nodes_max {
                reason = PartialReason::Budget;
                break;
            }
            self.visited.push(polygon);
            self.expand(mesh, polygon, destination, least, &mut best);
        }
        self.trace(best.1, Some(reason), path);
    }

    fn expand(
        &mut self,
        mesh: &NavigationMesh,
        polygon: u32,
        destination: NearestPolygon,
        least: f32,
        best: &mut (f32, u32),
    ) {
        let node = self.nodes[polygon as usize];
        let of = &mesh.polygons[polygon as usize];
        let cost_here = mesh.costs[usize::from(of.area)];
        for (at, link) in (of.first_link..).zip(mesh.links(polygon)) {
            let target = link.target;
            if target == node.parent || !mesh.is_open(target) {
                continue;
            }
            let known = self.nodes[target as usize];
            let is_known = known.stamp == self.stamp;
            if is_known && known.is_closed {
                continue;
            }
            let (entry, mut cost) = match mesh.jump(link) {
                Some(jump) => (jump.end, node.entry.distance(jump.start) * cost_here + jump.cost),
                None => {
                    let entry = crossing(node.entry, destination.position, link);
                    (entry, node.entry.distance(entry) * cost_here)
                }
            };
            cost += node.cost;
            let mut rest = entry.distance(destination.position) * least;
            if target == destination.polygon {
                let area = mesh.polygons[target as usize].area;
                cost += entry.distance(destination.position) * mesh.costs[usize::from(area)];
                rest = 0.0;
            }
            if is_known && known.cost <= cost {
                continue;
            }
            self.nodes[target as usize] = Node {
                stamp: self.stamp,
                is_closed: false,
                parent: polygon,
                link: at,
                cost,
                entry,
            };
            self.heap.push(Reverse(key(cost + rest, target)));
            if rest < best.0 {
                *best = (rest, target);
            }
        }
    }

    fn trace(&self, end: u32, partial: Option<PartialReason>, path: &mut PolygonPath) {
        path.polygons.clear();
        path.links.clear();
        path.partial = partial;
        let mut at = end;
        loop {
            path.polygons.push(at);
            let node = &self.nodes[at as usize];
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

/// Returns the order of a node in the open list: by cost, then by index.
fn key(cost: f32, polygon: u32) -> u64 {
    // The bits of numbers that are not negative have the order of the numbers.
    u64::from(cost.max(0.0).to_bits()) << 32 | u64::from(polygon)
}

/// Returns the point of a portal that is nearest to the straight way between two points.
fn crossing(from: Vec3, to: Vec3, link: &Link) -> Vec3 {
    let along = link.left - link.right;
    let way = (to - from).truncate();
    let across = way.perp_dot(along.truncate());
    if across.abs() < 1e-12 {
        return (link.left + link.right) * 0.5;
    }
    let part = (link.right - from).truncate().perp_dot(way) / across;
    link.right + along * part.clamp(0.0, 1.0)
}

/// Path as points, and the polygon in which each lies.
#[derive(Clone, Debug, Default)]
pub struct PointPath {
    pub points: Vec<Vec3>,
    pub polygons: Vec<u32>,
}

impl PolygonPath {
    /// Makes a path from polygons that are neighbours.
    ///
    /// # Errors
    /// Returns the index of the first polygon that is no neighbour of the one before.
    pub fn from_polygons(mesh: &NavigationMesh, polygons: &[u32]) -> Result<PolygonPath, usize> {
        let mut links = Vec::with_capacity(polygons.len());
        for (at, pair) in polygons.windows(2).enumerate() {
            let first = mesh.polygons[pair[0] as usize].first_link;
            let found = mesh.links(pair[0]).iter().position(|link| link.target == pair[1]);
            links.push(first + found.ok_or(at + 1)? as u32);
        }
        Ok(PolygonPath { polygons: polygons.to_vec(), links, partial: None })
    }

    /// Gives polygons the numbers that they have now. The path ends before the first one whose tile
    /// was built again; it is empty if that is the first of all.
    pub(super) fn renumber(&mut self, mesh: &NavigationMesh, renumbering: &Renumbering) {
        let known = self.polygons.iter().map_while(|polygon| renumbering.polygon(*polygon));
        let polygons: Vec<u32> = known.collect();
        let partial = self.partial;
        let path = match PolygonPath::from_polygons(mesh, &polygons) {
            Ok(path) => path,
            Err(at) => PolygonPath::from_polygons(mesh, &polygons[..at]).unwrap_or_default(),
        };
        *self = PolygonPath { partial, ..path };
    }

    /// Removes polygons from the beginning that have been walked through.
    pub fn drop_first(&mut self, count: usize) {
        self.polygons.drain(..count);
        self.links.drain(..count.min(self.links.len()));
    }

    /// Adds a polygon before the path, if one of the first `ahead` polygons is its neighbour.
    pub fn rejoin(&mut self, mesh: &NavigationMesh, polygon: u32, ahead: usize) -> bool {
        let first = mesh.polygons[polygon as usize].first_link;
        let links = mesh.links(polygon);
        let ahead = ahead.min(self.polygons.len());
        let found = (0..ahead).rev().find_map(|at| {
            let link = links.iter().position(|link| link.target == self.polygons[at]);
            link.map(|link| (at, first + link as u32))
        });
        let Some((at, link)) = found else { return false };
        self.drop_first(at);
        self.polygons.insert(0, polygon);
        self.links.insert(0, link);
        true
    }

    /// Returns the shortest way through the polygons, at most `corners_max` points after the start.
    pub fn funnel(
        &self,
        mesh: &NavigationMesh,
        start: Vec3,
        destination: Vec3,
        corners_max: usize,
        path: &mut PointPath,
    ) {
        path.points.clear();
        path.polygons.clear();
        path.push(start, self.polygons[0]);
        self.corners(mesh, start, destination, |point, polygon| {
            path.push(point, polygon);
            path.points.len() <= corners_max
        });
    }

    /// Calls `each` with the corners of the shortest way through the polygons, with both ends of
    /// its jumps, and with the destination, until it returns false. The second argument is the
    /// polygon that the way enters at the point.
    pub fn corners(
        &self,
        mesh: &NavigationMesh,
        start: Vec3,
        destination: Vec3,
        mut each: impl FnMut(Vec3, u32) -> bool,
    ) {
        let (mut first, mut start) = (0, start);
        for (at, link) in self.links.iter().enumerate() {
            let Some(jump) = mesh.jump(&mesh.links[*link as usize]) else { continue };
            if !self.funnel_part(mesh, first..at, (start, jump.start), &mut each)
                || !each(jump.end, self.polygons[at + 1])
            {
                return;
            }
            (first, start) = (at + 1, jump.end);
        }
        self.funnel_part(mesh, first..self.links.len(), (start, destination), &mut each);
    }

    /// Returns the jump with which the path goes on in its first polygon.
    pub(super) fn next_jump<'a>(&self, mesh: &'a NavigationMesh) -> Option<&'a Jump> {
        mesh.jump(&mesh.links[*self.links.first()? as usize])
    }

    /// Calls `each` with the corners of the part of a path without jumps: the funnel algorithm
    /// (D. T. Lee and F. P. Preparata, "Euclidean Shortest Paths in the Presence of Rectilinear
    /// Barriers", 1984). `part` has its links, as indices. Returns false if `each` has.
    fn funnel_part(
        &self,
        mesh: &NavigationMesh,
        part: std::ops::Range<usize>,
        (start, destination): (Vec3, Vec3),
        each: &mut impl FnMut(Vec3, u32) -> bool,
    ) -> bool {
        let (links, polygons) = (&self.links[part.clone()], &self.polygons[part.start..=part.end]);
        let portal = |at: usize| match links.get(at) {
            Some(link) => {
                let link = &mesh.links[*link as usize];
                (link.left, link.right)
            }
            None => (destination, destination),
        };
        let last = polygons.len() - 1;
        let mut straight = Straight { before: start, pending: None };
        let (mut apex, mut left, mut right) = (start, start, start);
        let (mut left_at, mut right_at) = (0, 0);
        let mut at = 0;
        while at <= links.len() {
            let (next_left, next_right) = portal(at);
            let mut corner = None;
            if turn(apex, right, next_right) >= 0.0 {
                if is_same(apex, right) || turn(apex, left, next_right) < 0.0 {
                    (right, right_at) = (next_right, at + 1);
                } else {
                    corner = Some((left, left_at));
                }
            }
            if corner.is_none() && turn(apex, left, next_left) <= 0.0 {
                if is_same(apex, left) || turn(apex, right, next_left) > 0.0 {
                    (left, left_at) = (next_left, at + 1);
                } else {
                    corner = Some((right, right_at));
                }
            }
            at += 1;
            if let Some((point, portal)) = corner {
                if !straight.push(point, polygons[portal.min(last)], each) {
                    return false;
                }
                (apex, left, right) = (point, point, point);
                (left_at, right_at) = (portal, portal);
                at = portal;
            }
        }
        straight.push(destination, polygons[last], each) && straight.finish(each)
    }
}

impl PointPath {
    fn push(&mut self, point: Vec3, polygon: u32) {
        if self.points.last().is_none_or(|last| !is_same(*last, point)) || self.points.len() == 1 {
            self.points.push(point);
            self.polygons.push(polygon);
        }
    }

    /// Returns the length of the path in metres.
    pub fn length(&self) -> f32 {
        self.points.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
    }
}

/// Corners of a way, without those between which it is straight: a way can touch a corner of
/// polygons without a turn.
struct Straight {
    /// Last corner that was passed on.
    before: Vec3,
    /// Corner that is passed on if the way turns there, and the polygon behind it.
    pending: Option<(Vec3, u32)>,
}

impl Straight {
    /// Adds a corner. Returns false if `each` has returned false for the one before.
    fn push(
        &mut self,
        point: Vec3,
        polygon: u32,
        each: &mut impl FnMut(Vec3, u32) -> bool,
    ) -> bool {
        if let Some((known, _)) = self.pending {
            let way = (point - self.before).truncate();
            let part = (known - self.before).truncate();
            let across = way.perp_dot(part).abs();
            let is_between = part.dot(way) >= 0.0 && part.dot(way) <= way.length_squared();
            let is_turn = !is_between || across > STRAIGHT * way.length();
            if is_turn && !self.finish(each) {
                return false;
            }
        }
        self.pending = Some((point, polygon));
        true
    }

    /// Passes the last corner on.
    fn finish(&mut self, each: &mut impl FnMut(Vec3, u32) -> bool) -> bool {
        let Some((point, polygon)) = self.pending.take() else { return true };
        self.before = point;
        each(point, polygon)
    }
}

/// Returns twice the area of a triangle from above, positive if it is counter-clockwise.
fn turn(a: Vec3, b: Vec3, c: Vec3) -> f32 {
    (b - a).truncate().perp_dot((c - a).truncate())
}

fn is_same(a: Vec3, b: Vec3) -> bool {
    a.truncate().distance_squared(b.truncate()) < 1e-6
}
