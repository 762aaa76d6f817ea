//! Better ways through polygons: a path of polygons that turns around a corner which is no wall
//! leads around its other side instead. Each change makes the path shorter. Loops are cut off.

use super::cone::turn;
use super::mesh::NavigationMesh;
use super::path::PolygonPath;
use engine_foundation::{Vec2, Vec3};

/// Maximum number of polygons around a corner.
const FAN_MAX: usize = 32;
/// Number of times that a path is looked at again after it has changed.
const ROUNDS: usize = 8;
/// Squared distance below which two corners are the same.
const SAME: f32 = 1e-6;

/// Corner of the way through a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    pub point: Vec3,
    /// Link of the path at whose end it is.
    pub at: usize,
    pub is_left: bool,
}

/// Memory for changes of paths.
#[derive(Debug, Default)]
pub(super) struct Straightener {
    bends: Vec<Bend>,
    /// Position in the path of each polygon; outdated for those that are not in it.
    positions: Vec<u32>,
    fan: Vec<(u32, u32)>,
}

impl Straightener {
    /// Makes a path shorter where no wall forbids it.
    pub fn straighten(
        &mut self,
        mesh: &NavigationMesh,
        path: &mut PolygonPath,
        start: Vec3,
        destination: Vec3,
    ) {
        self.cut_loops(mesh, path);
        for _ in 0..ROUNDS {
            self.bends.clear();
            path.bends(mesh, start, destination, &mut self.bends);
            let mut has_changed = false;
            let mut changed_from = usize::MAX;
            while let Some(bend) = self.bends.pop() {
                if bend.at < changed_from
                    && let Some((first, end)) = self.extent(mesh, path, bend)
                    && end < changed_from
                    && self.find_fan(mesh, path, bend, (first, end))
                {
                    let fan = &self.fan;
                    path.links.splice(first..=end, fan.iter().map(|(link, _)| *link));
                    let between = &fan[..fan.len() - 1];
                    path.polygons
                        .splice(first + 1..=end, between.iter().map(|(_, polygon)| *polygon));
                    (has_changed, changed_from) = (true, first);
                }
            }
            if !has_changed {
                return;
            }
            self.cut_loops(mesh, path);
        }
    }

    /// Returns the first and the last link of a path that end in a corner.
    fn extent(
        &self,
        mesh: &NavigationMesh,
        path: &PolygonPath,
        bend: Bend,
    ) -> Option<(usize, usize)> {
        let is_at = |at: usize| {
            let link = &mesh.links[path.links[at] as usize];
            let end = if bend.is_left { link.left } else { link.right };
            !link.is_jump() && is_same(end, bend.point)
        };
        if !is_at(bend.at) {
            return None;
        }
        let (mut first, mut end) = (bend.at, bend.at);
        while first > 0 && is_at(first - 1) {
            first -= 1;
        }
        while end + 1 < path.links.len() && is_at(end + 1) {
            end += 1;
        }
        Some((first, end))
    }

    /// Finds the polygons around the other side of a corner. Returns false if there is a wall, or
    /// ground with another cost.
    fn find_fan(
        &mut self,
        mesh: &NavigationMesh,
        path: &PolygonPath,
        bend: Bend,
        (first, end): (usize, usize),
    ) -> bool {
        self.fan.clear();
        let (mut at, last) = (path.polygons[first], path.polygons[end + 1]);
        let rate = mesh.rate(at);
        let mut before = path.polygons[first + 1];
        let is_even = |polygon: u32| mesh.is_open(polygon) && mesh.rate(polygon) == rate;
        if !path.polygons[first + 1..=end + 1].iter().all(|polygon| mesh.rate(*polygon) == rate) {
            return false;
        }
        while self.fan.len() < FAN_MAX {
            let start = mesh.polygons[at as usize].first_link;
            let next = (start..).zip(mesh.links(at)).find(|(_, link)| {
                // Around the other side: the corner is at the other end of each portal.
                let end = if bend.is_left { link.right } else { link.left };
                !link.is_jump() && link.target != before && is_same(end, bend.point)
            });
            let Some((link, way)) = next else { return false };
            if way.target != last && !is_even(way.target) {
                return false;
            }
            self.fan.push((link, way.target));
            if way.target == last {
                return true;
            }
            (before, at) = (at, way.target);
        }
        false
    }

    /// Removes the parts of a path between two visits of the same polygon.
    fn cut_loops(&mut self, mesh: &NavigationMesh, path: &mut PolygonPath) {
        if self.positions.len() < mesh.polygons.len() {
            self.positions.resize(mesh.polygons.len(), 0);
        }
        let mut count = 0;
        for at in 0..path.polygons.len() {
            let polygon = path.polygons[at];
            let known = self.positions[polygon as usize] as usize;
            if known < count && path.polygons[known] == polygon {
                count = known + 1;
                continue;
            }
            if at > 0 {
                path.links[count - 1] = path.links[at - 1];
            }
            path.polygons[count] = polygon;
            self.positions[polygon as usize] = count as u32;
            count += 1;
        }
        path.polygons.truncate(count);
        path.links.truncate(count - 1);
    }
}

impl PolygonPath {
    /// Adds links to the end of a path, with the polygons to which they lead.
    pub(super) fn extend<'a>(
        &mut self,
        mesh: &NavigationMesh,
        links: impl Iterator<Item = &'a u32>,
    ) {
        for &link in links {
            self.links.push(link);
            self.polygons.push(mesh.links[link as usize].target);
        }
    }

    /// Lists the corners of the shortest way through the polygons.
    fn bends(&self, mesh: &NavigationMesh, start: Vec3, destination: Vec3, bends: &mut Vec<Bend>) {
        let (mut first, mut start) = (0, start);
        for (at, link) in self.links.iter().enumerate() {
            let Some(jump) = mesh.jump(&mesh.links[*link as usize]) else { continue };
            self.funnel_corners(mesh, first..at, (start, jump.start), |bend| {
                bends.push(bend);
                true
            });
            (first, start) = (at + 1, jump.end);
        }
        self.funnel_corners(mesh, first..self.links.len(), (start, destination), |bend| {
            bends.push(bend);
            true
        });
    }

    /// Calls `each` with the corners of the part of a path without jumps, without its ends: the
    /// funnel algorithm (D. T. Lee and F. P. Preparata, "Euclidean Shortest Paths in the Presence
    /// of Rectilinear Barriers", 1984). `part` has its links, as indices. Returns false if `each`
    /// has.
    pub(super) fn funnel_corners(
        &self,
        mesh: &NavigationMesh,
        part: std::ops::Range<usize>,
        (start, destination): (Vec3, Vec3),
        mut each: impl FnMut(Bend) -> bool,
    ) -> bool {
        let (first, count) = (part.start, part.len());
        let links = &self.links[part];
        let portal = |at: usize| match links.get(at) {
            Some(link) => {
                let link = &mesh.links[*link as usize];
                (link.left, link.right)
            }
            None => (destination, destination),
        };
        let (mut apex, mut left, mut right) = (start, start, start);
        let (mut left_at, mut right_at) = (0, 0);
        let mut at = 0;
        while at <= count {
            let (next_left, next_right) = portal(at);
            let mut corner = None;
            if turn(apex, right, next_right) >= 0.0 {
                if is_same(apex, right) || turn(apex, left, next_right) < 0.0 {
                    (right, right_at) = (next_right, at + 1);
                } else {
                    corner = Some((left, left_at, true));
                }
            }
            if corner.is_none() && turn(apex, left, next_left) <= 0.0 {
                if is_same(apex, left) || turn(apex, right, next_left) > 0.0 {
                    (left, left_at) = (next_left, at + 1);
                } else {
                    corner = Some((right, right_at, false));
                }
            }
            at += 1;
            if let Some((point, portal, is_left)) = corner {
                // The corner of portal 0 is the start, and the last one is the destination.
                let is_between = portal > 0 && portal <= count;
                if is_between && !each(Bend { point, at: first + portal - 1, is_left }) {
                    return false;
                }
                (apex, left, right) = (point, point, point);
                (left_at, right_at) = (portal, portal);
                at = portal;
            }
        }
        true
    }
}

/// Returns true if two points are the same from above.
pub(super) fn is_same(a: Vec3, b: Vec3) -> bool {
    let away: Vec2 = a.truncate() - b.truncate();
    away.length_squared() < SAME
}
