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
/// Links that are looked at for each one of a path, above which it is not changed any more.
const LOOKS_MAX: usize = 64;
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

/// Corner that stays, and the last link on which that depends.
#[derive(Clone, Copy, Debug)]
struct Kept {
    point: Vec3,
    portal: usize,
    until: usize,
}

/// Memory for changes of paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Straightener {
    kept: Vec<Kept>,
    /// Position in the path of each polygon; outdated for those that are not in it.
    positions: Vec<u32>,
    fan: Vec<(u32, u32)>,
    /// True if `kept` has all corners of the path.
    has_corners: bool,
    /// True if all ground has the same cost.
    is_even: bool,
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
        self.is_even = mesh.has_even_costs();
        self.has_corners = false;
        self.cut_loops(mesh, path);
        for _ in 0..ROUNDS {
            if !self.change(mesh, path, start, destination) || !self.cut_loops(mesh, path) {
                self.has_corners = !mesh.has_jumps();
                return;
            }
        }
    }

    /// Returns the corners of the path that was made shorter last, with the polygon behind each;
    /// `None` if they have to be found again.
    pub fn corners(&self, path: &PolygonPath) -> Option<impl Iterator<Item = (Vec3, u32)>> {
        let corner = |kept: &Kept| (kept.point, path.polygons[kept.portal]);
        self.has_corners.then(|| self.kept.iter().map(corner))
    }

    /// Goes along a path, and changes it. Returns true if something has changed.
    fn change(
        &mut self,
        mesh: &NavigationMesh,
        path: &mut PolygonPath,
        start: Vec3,
        destination: Vec3,
    ) -> bool {
        let (mut first, mut start, mut has_changed) = (0, start, false);
        loop {
            let links = if mesh.has_jumps() { &path.links[first..] } else { &[] };
            let jumps = links.iter();
            let jump = jumps.enumerate().find_map(|(at, link)| {
                mesh.jump(&mesh.links[*link as usize]).map(|jump| (at, jump))
            });
            let (count, end) = match jump {
                Some((at, jump)) => (at, jump.start),
                None => (path.links.len() - first, destination),
            };
            let changed = self.change_part(mesh, path, first..first + count, (start, end));
            has_changed |= changed.is_some();
            let Some((_, jump)) = jump else { return has_changed };
            (first, start) = (first + changed.unwrap_or(count) + 1, jump.end);
        }
    }

    /// Changes a part of a path without jumps. Returns its new number of links if it has changed.
    fn change_part(
        &mut self,
        mesh: &NavigationMesh,
        path: &mut PolygonPath,
        part: std::ops::Range<usize>,
        (start, end): (Vec3, Vec3),
    ) -> Option<usize> {
        let (first, mut count) = (part.start, part.len());
        let (mut has_changed, mut looks) = (false, part.len() * LOOKS_MAX);
        let mut funnel = Funnel::at(start, 0);
        self.kept.clear();
        loop {
            let from = funnel.at;
            let links = &path.links[first..first + count];
            let Some(corner) = funnel.next(mesh, links, end) else { break };
            looks = looks.saturating_sub(corner.decided_at + 1 - from);
            if corner.portal == 0 || corner.portal > count {
                continue;
            }
            let Corner { point, portal, is_left, decided_at } = corner;
            let bend = Bend { point, at: first + portal - 1, is_left };
            let extent = self.extent(mesh, path, bend);
            if let Some((from, to)) = extent
                && looks > 0
                && self.find_fan(mesh, path, bend, (from, to))
            {
                let fan = &self.fan;
                path.links.splice(from..=to, fan.iter().map(|(link, _)| *link));
                let between = &fan[..fan.len() - 1];
                path.polygons.splice(from + 1..=to, between.iter().map(|(_, polygon)| *polygon));
                count = count + fan.len() - (to + 1 - from);
                has_changed = true;
                // Back to the last corner that does not depend on the links that have changed.
                while self.kept.pop_if(|kept| kept.until >= from).is_some() {}
                let last = self.kept.last().map_or((start, 0), |kept| (kept.point, kept.portal));
                funnel = Funnel::at(last.0, last.1);
                continue;
            }
            let until = (first + decided_at).max(extent.map_or(0, |(_, to)| to));
            self.kept.push(Kept { point, portal, until });
        }
        has_changed.then_some(count)
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
        let mut before = path.polygons[first + 1];
        // Polygons are seldom in the cache of the processor.
        let rate = if self.is_even { 0.0 } else { mesh.rate(at) };
        let has_rate = |polygon: u32| self.is_even || mesh.rate(polygon) == rate;
        let is_even = |polygon: u32| mesh.is_open(polygon) && has_rate(polygon);
        if !path.polygons[first + 1..=end + 1].iter().all(|polygon| has_rate(*polygon)) {
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

    /// Removes the parts of a path between two visits of the same polygon. Returns true if there
    /// are some.
    fn cut_loops(&mut self, mesh: &NavigationMesh, path: &mut PolygonPath) -> bool {
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
        let has_loops = count < path.polygons.len();
        path.polygons.truncate(count);
        path.links.truncate(count - 1);
        has_loops
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
        let mut funnel = Funnel::at(start, 0);
        while let Some(Corner { point, portal, is_left, .. }) =
            funnel.next(mesh, links, destination)
        {
            // The corner of portal 0 is the start, and the last one is the destination.
            let is_between = portal > 0 && portal <= count;
            if is_between && !each(Bend { point, at: first + portal - 1, is_left }) {
                return false;
            }
        }
        true
    }
}

/// Corner of a funnel.
#[derive(Clone, Copy, Debug)]
struct Corner {
    point: Vec3,
    /// Number of links up to it.
    portal: usize,
    is_left: bool,
    /// The link that showed that it is one.
    decided_at: usize,
}

/// Funnel that goes through portals.
#[derive(Clone, Copy, Debug)]
struct Funnel {
    apex: Vec3,
    left: Vec3,
    right: Vec3,
    left_at: usize,
    right_at: usize,
    at: usize,
}

impl Funnel {
    /// Returns the funnel behind a corner, or at the start.
    fn at(apex: Vec3, portal: usize) -> Funnel {
        let (left, right) = (apex, apex);
        Funnel { apex, left, right, left_at: portal, right_at: portal, at: portal }
    }

    /// Returns the next corner, and goes on behind it.
    #[inline]
    fn next(&mut self, mesh: &NavigationMesh, links: &[u32], destination: Vec3) -> Option<Corner> {
        while self.at <= links.len() {
            let (next_left, next_right) = match links.get(self.at) {
                Some(link) => {
                    let link = &mesh.links[*link as usize];
                    (link.left, link.right)
                }
                None => (destination, destination),
            };
            let mut corner = None;
            if turn(self.apex, self.right, next_right) >= 0.0 {
                if is_same(self.apex, self.right) || turn(self.apex, self.left, next_right) < 0.0 {
                    (self.right, self.right_at) = (next_right, self.at + 1);
                } else {
                    corner = Some((self.left, self.left_at, true));
                }
            }
            if corner.is_none() && turn(self.apex, self.left, next_left) <= 0.0 {
                if is_same(self.apex, self.left) || turn(self.apex, self.right, next_left) > 0.0 {
                    (self.left, self.left_at) = (next_left, self.at + 1);
                } else {
                    corner = Some((self.right, self.right_at, false));
                }
            }
            let decided_at = self.at;
            self.at += 1;
            if let Some((point, portal, is_left)) = corner {
                *self = Funnel::at(point, portal);
                return Some(Corner { point, portal, is_left, decided_at });
            }
        }
        None
    }
}

/// Returns true if two points are the same from above.
pub(super) fn is_same(a: Vec3, b: Vec3) -> bool {
    let away: Vec2 = a.truncate() - b.truncate();
    away.length_squared() < SAME
}
