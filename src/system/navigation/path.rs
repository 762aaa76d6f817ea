//! Paths: polygons from a start to a destination, and the corners of the shortest way through them.

use super::jumps::Jump;
use super::mesh::{Link, NavigationMesh, NearestPolygon};
use super::straighten::is_same;
use super::volumes::Renumbering;
use engine_foundation::Vec3;

/// Distance in metres from the straight way at which a corner is left out.
const STRAIGHT: f32 = 1e-3;

/// Reason why a path does not reach its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartialReason {
    /// No way leads to the destination.
    Unreachable,
    /// The search visited as many polygons as it may.
    Budget,
    /// No ground is at its start or its destination.
    OffMesh,
}

impl PartialReason {
    /// Returns the name for scripts.
    pub const fn name(self) -> &'static str {
        match self {
            PartialReason::Unreachable => "unreachable",
            PartialReason::Budget => "budget",
            PartialReason::OffMesh => "off_mesh",
        }
    }
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
            let leads_there = |link: &Link| link.target == pair[1];
            let mut ways = mesh.links(pair[0]).iter();
            let open = ways.position(|link| leads_there(link) && mesh.can_follow(link));
            let found = open.or_else(|| mesh.links(pair[0]).iter().position(leads_there));
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
            // Agents leave closed ground through its edges, which this must not keep from them.
            let is_usable = |link: &Link| !link.is_jump() || mesh.can_follow(link);
            let link =
                links.iter().position(|link| link.target == self.polygons[at] && is_usable(link));
            link.map(|link| (at, first + link as u32))
        });
        let Some((at, link)) = found else { return false };
        self.drop_first(at);
        self.polygons.insert(0, polygon);
        self.links.insert(0, link);
        true
    }

    /// Returns the corners of the path between two points. A path that is not complete ends at the
    /// point that is nearest to the destination.
    pub fn find_corners(
        &self,
        mesh: &NavigationMesh,
        start: NearestPolygon,
        destination: NearestPolygon,
        corners_max: usize,
        path: &mut PointPath,
    ) {
        let last = self.polygons[self.polygons.len() - 1];
        let end = match self.partial {
            None => destination.position,
            Some(_) => mesh.constrain(last, destination.position),
        };
        self.funnel(mesh, start.position, end, corners_max, path);
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

    /// Writes a way with these corners, at most `corners_max` points after the start.
    pub(super) fn of_corners(
        &self,
        (start, destination): (Vec3, Vec3),
        corners: impl Iterator<Item = (Vec3, u32)>,
        corners_max: usize,
        path: &mut PointPath,
    ) {
        path.points.clear();
        path.polygons.clear();
        path.push(start, self.polygons[0]);
        let mut each = |point, polygon| {
            path.push(point, polygon);
            path.points.len() <= corners_max
        };
        let last = self.polygons[self.polygons.len() - 1];
        let mut straight = Straight { before: start, pending: None };
        let mut all = corners.chain(std::iter::once((destination, last)));
        if all.all(|(point, polygon)| straight.push(point, polygon, &mut each)) {
            straight.finish(&mut each);
        }
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
        // Most meshes have none, and paths have hundreds of links.
        let links = if mesh.has_jumps() { &self.links[..] } else { &[] };
        for (at, link) in links.iter().enumerate() {
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

    /// Calls `each` with the corners of the part of a path without jumps, and with its end. Returns
    /// false if `each` has.
    fn funnel_part(
        &self,
        mesh: &NavigationMesh,
        part: std::ops::Range<usize>,
        (start, destination): (Vec3, Vec3),
        each: &mut impl FnMut(Vec3, u32) -> bool,
    ) -> bool {
        let last = self.polygons[part.end];
        let mut straight = Straight { before: start, pending: None };
        self.funnel_corners(mesh, part, (start, destination), |bend| {
            straight.push(bend.point, self.polygons[bend.at + 1], each)
        }) && straight.push(destination, last, each)
            && straight.finish(each)
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
