//! Questions about the ground around a point: how far a disc can move, how far the next wall is,
//! which polygons are within a distance, and where characters can gather around a target.

use super::cone::Cone;
use super::far_search::key;
use super::mesh::{NavigationMesh, NearestPolygon, area, nearest_on_segment};
use super::rays::RayEnd;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Vec2, Vec3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of polygons around a disc, and around a point whose next wall is searched.
pub const AROUND_POLYGONS_MAX: usize = 4096;
/// Maximum number of polygons of a flood fill.
pub const FLOOD_POLYGONS_MAX: usize = 65_536;
/// Maximum number of positions around a target.
pub const AROUND_POSITIONS_MAX: usize = 256;
/// Maximum number of positions that are tried for them.
const AROUND_TRIES_MAX: usize = 2048;
/// Maximum number of polygons between a target and a position around it.
const AROUND_RAY_MAX: usize = 512;
/// Distance in metres at which a position off the mesh still counts as on it.
pub const SNAP_DISTANCE: f32 = 2.0;
/// Length of a gap between portals below which it is no wall, in metres.
const GAP: f32 = 1e-3;

/// Wall that is next to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestWall {
    pub distance: f32,
    pub position: Vec3,
    /// True if there are too many polygons around the point to know its next wall.
    pub is_cut: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct FloodNode {
    stamp: u32,
    is_closed: bool,
    cost: f32,
    cone: Cone,
}

/// Memory for questions about the ground around a point.
#[derive(Debug, Default)]
pub struct Flood {
    nodes: Vec<FloodNode>,
    stamp: u32,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Flood {
    pub(super) fn begin(&mut self, mesh: &NavigationMesh, start: NearestPolygon) {
        if self.nodes.len() < mesh.polygons.len() {
            self.nodes.resize(mesh.polygons.len(), FloodNode::default());
        }
        if self.stamp == u32::MAX {
            self.nodes.fill(FloodNode::default());
            self.stamp = 0;
        }
        self.stamp += 1;
        self.heap.clear();
        self.reach(start.polygon, 0.0, Cone::at(start.position, 0.0));
    }

    /// Adds a polygon that costs less than before.
    fn reach(&mut self, polygon: u32, cost: f32, cone: Cone) {
        let node = &mut self.nodes[polygon as usize];
        if node.stamp == self.stamp && (node.is_closed || node.cost <= cost) {
            return;
        }
        *node = FloodNode { stamp: self.stamp, is_closed: false, cost, cone };
        self.heap.push(Reverse(key(cost, polygon)));
    }

    /// Marks a polygon. Returns false if it was reached before.
    pub(super) fn mark(&mut self, polygon: u32) -> bool {
        let node = &mut self.nodes[polygon as usize];
        let is_new = node.stamp != self.stamp;
        *node = FloodNode { stamp: self.stamp, ..*node };
        is_new
    }

    /// Takes the polygon that costs least.
    fn next(&mut self) -> Option<u32> {
        while let Some(Reverse(top)) = self.heap.pop() {
            let polygon = top as u32;
            if !std::mem::replace(&mut self.nodes[polygon as usize].is_closed, true) {
                return Some(polygon);
            }
        }
        None
    }

    /// Lists the polygons within a distance of a point along the ground, the nearest ones first,
    /// with the costs of the ways to them. Returns false if there are too many.
    pub fn fill(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        distance: f32,
        polygons: &mut Vec<(u32, f32)>,
    ) -> bool {
        polygons.clear();
        self.begin(mesh, start);
        while let Some(polygon) = self.next() {
            if polygons.len() >= FLOOD_POLYGONS_MAX {
                return false;
            }
            let FloodNode { cost, cone, .. } = self.nodes[polygon as usize];
            polygons.push((polygon, cost));
            for link in mesh.links(polygon).iter().filter(|link| mesh.is_open(link.target)) {
                let step = mesh.step(&cone, polygon, link, None);
                // Around a corner, the way into a polygon can be shorter than to its neighbour.
                let cost = step.cost.max(cost);
                if cost <= distance {
                    self.reach(link.target, cost, step.cone);
                }
            }
        }
        true
    }

    /// Finds the wall that is nearest to a point, at most a distance away. Walls are the edges of
    /// the mesh and of closed polygons.
    pub fn nearest_wall(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        distance: f32,
    ) -> Option<NearestWall> {
        let point = start.position.truncate();
        let mut best: Option<(f32, Vec2, u32)> = None;
        let mut reach = distance;
        let mut count = 0;
        self.begin(mesh, start);
        while let Some(polygon) = self.next() {
            if self.nodes[polygon as usize].cost > reach {
                break;
            }
            count += 1;
            if count > AROUND_POLYGONS_MAX {
                let nearest = start.position;
                return Some(NearestWall { distance, position: nearest, is_cut: true });
            }
            mesh.each_wall(polygon, |a, b| {
                let near = nearest_on_segment(a.truncate(), b.truncate(), point);
                let away = near.distance(point);
                if away <= reach && best.is_none_or(|(known, ..)| away < known) {
                    (best, reach) = (Some((away, near, polygon)), away);
                }
            });
            for link in mesh.links(polygon) {
                if !link.is_jump() && mesh.is_open(link.target) {
                    let (left, right) = (link.left.truncate(), link.right.truncate());
                    let away = nearest_on_segment(left, right, point).distance(point);
                    if away <= reach {
                        self.reach(link.target, away, Cone::default());
                    }
                }
            }
        }
        best.map(|(distance, near, polygon)| NearestWall {
            distance,
            position: near.extend(mesh.height(polygon, near)),
            is_cut: false,
        })
    }

    /// Moves a disc from a point along a straight line, until it touches a wall. The result has the
    /// middle of the disc. The height of `to` does not count.
    pub fn disc_cast(
        &mut self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        to: Vec3,
        radius: f32,
    ) -> RayEnd {
        let (from, way) = (start.position.truncate(), (to - start.position).truncate());
        let (mut part, mut wall) = (1.0, None);
        // The disc can touch what it is nearest to later.
        let ahead = radius / way.length().max(1e-6);
        let mut count = 0;
        self.begin(mesh, start);
        while let Some(polygon) = self.next() {
            count += 1;
            if count > AROUND_POLYGONS_MAX {
                let RayEnd { polygon, position, .. } = mesh.raycast(start, start.position);
                return RayEnd { polygon, position, wall: None, is_cut: true };
            }
            mesh.each_wall(polygon, |a, b| {
                let (a, b) = (a.truncate(), b.truncate());
                if let Some((at, away)) = touch(from, way, radius, a, b)
                    && at < part
                {
                    (part, wall) = (at, Some(away));
                }
            });
            for link in mesh.links(polygon) {
                if !link.is_jump() && mesh.is_open(link.target) {
                    let (left, right) = (link.left.truncate(), link.right.truncate());
                    let (at, away) = nearest_segments(from, way, left, right);
                    // In the order of the movement, so that what is behind a wall is left out.
                    let first = (at - ahead).max(0.0);
                    if away <= radius && first <= part {
                        self.reach(link.target, first, Cone::default());
                    }
                }
            }
        }
        let end = mesh.raycast(start, (from + way * part).extend(to.z));
        RayEnd { wall: wall.or(end.wall), ..end }
    }
}

impl NavigationMesh {
    /// Calls `each` with the parts of the edges of a polygon behind which there is no open polygon,
    /// with the ground on the left.
    pub fn each_wall(&self, polygon: u32, mut each: impl FnMut(Vec3, Vec3)) {
        for edge in 0..self.polygons[polygon as usize].count {
            let (a, b) = self.edge(polygon, edge);
            let along = (b - a).truncate();
            let length = along.length();
            if length <= 0.0 {
                continue;
            }
            let part = |point: Vec3| (point - a).truncate().dot(along) / (length * length);
            let mut at = 0.0;
            // From portal to portal, in the order in which they follow each other.
            loop {
                let (mut next, mut end) = (1.0, None);
                for link in self.links(polygon).iter().filter(|link| link.edge == edge) {
                    if !self.is_open(link.target) {
                        continue;
                    }
                    let (from, to) = (part(link.right), part(link.left));
                    if to > at + 1e-6 && (end.is_none() || from < next) {
                        (next, end) = (from.max(at), Some(to));
                    }
                }
                if (next - at) * length > GAP {
                    each(a.lerp(b, at), a.lerp(b, next));
                }
                let Some(end) = end else { break };
                at = end;
            }
        }
    }

    /// Lists positions around a target, from which it can be reached on a straight way: at a
    /// distance, and in rings around it if more are wanted than there is room for. They are
    /// `spacing` apart from each other.
    pub fn positions_around(
        &self,
        target: NearestPolygon,
        count: usize,
        (distance, spacing): (f32, f32),
        positions: &mut Vec<NearestPolygon>,
    ) {
        positions.clear();
        let mut tries = 0;
        for ring in 0..AROUND_TRIES_MAX {
            let radius = distance + spacing * ring as f32;
            let slots = (radius * std::f32::consts::TAU / spacing).clamp(1.0, 1e6) as usize;
            for slot in 0..slots {
                if positions.len() >= count.min(AROUND_POSITIONS_MAX) || tries >= AROUND_TRIES_MAX {
                    return;
                }
                tries += 1;
                // Every second ring is turned by half a slot.
                let turn = slot as f32 + if ring % 2 == 0 { 0.0 } else { 0.5 };
                let (sin, cos) = sin_cos(turn / slots as f32 * std::f32::consts::TAU);
                let wanted = target.position + Vec3::new(cos, sin, 0.0) * radius;
                let end = self.ray_within(target, wanted, AROUND_RAY_MAX);
                if end.wall.is_none() && !end.is_cut {
                    let RayEnd { polygon, position, .. } = end;
                    positions.push(NearestPolygon { polygon, position });
                }
            }
        }
    }
}

impl NavigationMesh {
    /// Returns the ground at a position, or at most [`SNAP_DISTANCE`] away.
    pub fn snap(&self, position: Vec3) -> Option<NearestPolygon> {
        self.nearest(position, SNAP_DISTANCE, SNAP_DISTANCE.max(self.settings().height))
    }

    /// Returns a point on the mesh: uniform over the area of all polygons that can be entered.
    /// `random` gives numbers from 0 to 1.
    pub fn random_point(&self, mut random: impl FnMut() -> f64) -> Option<NearestPolygon> {
        let chosen = match self.has_hierarchy() {
            true => {
                let areas = &self.hierarchy.areas;
                let wanted = random() * areas.last()?;
                let index = areas.partition_point(|sum| *sum <= wanted).min(areas.len() - 1);
                let before = if index == 0 { 0.0 } else { areas[index - 1] };
                let polygons = self.hierarchy.clusters[index].polygons.iter().copied();
                self.polygon_by_area(polygons, wanted - before)
            }
            false => {
                let all = 0..self.polygons.len() as u32;
                let open = all.clone().filter(|polygon| self.is_open(*polygon));
                let sum: f64 = open.map(|polygon| f64::from(area(self.corners(polygon)))).sum();
                self.polygon_by_area(all, random() * sum)
            }
        };
        let polygon = chosen?;
        let flat = random_in(self.corners(polygon), random);
        Some(NearestPolygon { polygon, position: flat.extend(self.height(polygon, flat)) })
    }

    /// Returns the open polygon at which the sum of areas exceeds a wanted area.
    pub(super) fn polygon_by_area(
        &self,
        polygons: impl Iterator<Item = u32>,
        wanted: f64,
    ) -> Option<u32> {
        let (mut sum, mut chosen) = (0.0, None);
        for polygon in polygons.filter(|polygon| self.is_open(*polygon)) {
            sum += f64::from(area(self.corners(polygon)));
            chosen = Some(polygon);
            if sum > wanted {
                break;
            }
        }
        chosen
    }
}

/// Returns a random point of a convex polygon from above, uniform over its area.
pub(super) fn random_in(corners: &[Vec3], mut random: impl FnMut() -> f64) -> Vec2 {
    let mut wanted = random() * f64::from(area(corners));
    let (mut x, mut y) = (random() as f32, random() as f32);
    if x + y > 1.0 {
        (x, y) = (1.0 - x, 1.0 - y);
    }
    let mut point = corners[0];
    for pair in corners[1..].windows(2) {
        point = corners[0] + (pair[0] - corners[0]) * x + (pair[1] - corners[0]) * y;
        wanted -= f64::from(area(&[corners[0], pair[0], pair[1]]));
        if wanted <= 0.0 {
            break;
        }
    }
    point.truncate()
}

/// Returns the part of a movement at which a disc touches a segment toward which it moves, and the
/// direction away from it. The ground is on the left of the segment.
fn touch(from: Vec2, way: Vec2, radius: f32, a: Vec2, b: Vec2) -> Option<(f32, Vec2)> {
    let mut best: Option<(f32, Vec2)> = None;
    let mut add = |part: f32, away: Vec2| {
        if (0.0..=1.0).contains(&part) && best.is_none_or(|(known, _)| part < known) {
            best = Some((part, away));
        }
    };
    let along = (b - a).normalize_or_zero();
    let inward = Vec2::new(-along.y, along.x);
    let (height, speed) = ((from - a).dot(inward), way.dot(inward));
    if speed < 0.0 && height >= 0.0 {
        let part = ((height - radius) / -speed).max(0.0);
        let on = (from + way * part - a).dot(along);
        if on >= 0.0 && on <= a.distance(b) {
            add(part, inward);
        }
    }
    for end in [a, b] {
        let apart = from - end;
        let (toward, length) = (apart.dot(way), way.length_squared());
        if toward >= 0.0 || length <= 0.0 {
            continue;
        }
        let inside = apart.length_squared() - radius * radius;
        let root = toward * toward - length * inside;
        if root >= 0.0 {
            let part = ((-toward - root.sqrt()) / length).max(0.0);
            add(part, (from + way * part - end).normalize_or_zero());
        }
    }
    best
}

/// Returns the part of a movement at which it is nearest to a segment, and the distance there.
fn nearest_segments(from: Vec2, way: Vec2, a: Vec2, b: Vec2) -> (f32, f32) {
    let along = b - a;
    let across = way.perp_dot(along);
    if across.abs() > 1e-9 {
        let part = (a - from).perp_dot(along) / across;
        let on = (a - from).perp_dot(way) / across;
        if (0.0..=1.0).contains(&part) && (0.0..=1.0).contains(&on) {
            return (part, 0.0);
        }
    }
    let mut best = (0.0, f32::INFINITY);
    let mut add = |part: f32, away: f32| {
        if away < best.1 {
            best = (part, away);
        }
    };
    let length = way.length_squared();
    for end in [a, b] {
        let part =
            if length > 0.0 { ((end - from).dot(way) / length).clamp(0.0, 1.0) } else { 0.0 };
        add(part, (from + way * part).distance(end));
    }
    for part in [0.0, 1.0] {
        let point = from + way * part;
        add(part, nearest_on_segment(a, b, point).distance(point));
    }
    best
}
