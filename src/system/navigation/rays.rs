//! Rays on a mesh: straight lines along the ground, and steps that slide along walls.

use super::mesh::{Link, NavigationMesh, NearestPolygon};
use engine_foundation::{Vec2, Vec3};

/// Maximum number of polygons that a ray crosses.
pub const RAY_POLYGONS_MAX: usize = 4096;
/// Maximum number of polygons around a corner that a ray goes through.
const CORNER_POLYGONS_MAX: usize = 32;
/// Maximum number of walls along which a point slides in one step.
const SLIDES_MAX: usize = 3;
/// Distance that is kept from walls, in metres.
const WALL_DISTANCE: f32 = 1e-3;
/// Rest of a step, in metres, that is not worth a slide. An agent with a slow drift along a wall
/// has to move, too: by a hundredth of a millimetre in an update.
const SLIDE_MIN: f32 = 1e-5;
/// Distance behind an edge, in metres, at which a ray still ends on it.
const GRAZE: f32 = 1e-4;
/// Distance between two exits of a polygon, in metres, that count as one: a corner.
const CORNER_SLACK: f32 = 1e-3;

/// End of a ray on a mesh.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RayEnd {
    pub polygon: u32,
    pub position: Vec3,
    /// Direction away from the wall that was hit; `None` if the ray reached its end.
    pub wall: Option<Vec2>,
    /// True if the ray was given up, because it crosses too many polygons.
    pub is_cut: bool,
}

/// Line between two points. A position on it is a part of its length, 0 to 1.
#[derive(Clone, Copy)]
struct Ray {
    from: Vec2,
    way: Vec2,
    /// Part of the length that counts as no progress.
    slack: f32,
    /// True if it goes on through closed ground where it begins on such.
    leaves_closed: bool,
}

impl Ray {
    fn at(&self, part: f32) -> Vec2 {
        self.from + self.way * part
    }
}

/// Polygons that meet at a point of a ray, beginning with those that the ray comes from.
struct Corner {
    polygons: [u32; CORNER_POLYGONS_MAX],
    count: usize,
}

impl Corner {
    fn add(&mut self, polygon: u32) {
        if self.count < CORNER_POLYGONS_MAX && !self.polygons[..self.count].contains(&polygon) {
            self.polygons[self.count] = polygon;
            self.count += 1;
        }
    }
}

impl NavigationMesh {
    /// Follows a straight line from a point of a polygon until it meets a wall, or an obstructed
    /// polygon, or has crossed [`RAY_POLYGONS_MAX`] polygons. The height of `to` does not count.
    pub fn raycast(&self, start: NearestPolygon, to: Vec3) -> RayEnd {
        self.ray_within(start, to, RAY_POLYGONS_MAX)
    }

    /// Follows a straight line through at most `polygons_max` polygons.
    pub(super) fn ray_within(
        &self,
        start: NearestPolygon,
        to: Vec3,
        polygons_max: usize,
    ) -> RayEnd {
        self.follow_ray(start, to, polygons_max, false)
    }

    fn follow_ray(
        &self,
        start: NearestPolygon,
        to: Vec3,
        polygons_max: usize,
        leaves_closed: bool,
    ) -> RayEnd {
        let (from, to) = (start.position.truncate(), to.truncate());
        let slack = CORNER_SLACK / (to - from).length().max(CORNER_SLACK);
        let ray = Ray { from, way: to - from, slack, leaves_closed };
        let (mut part, mut polygon) = (0.0, start.polygon);
        for _ in 0..polygons_max {
            // Where polygons meet in a corner, the ray goes on in the one that it points into,
            // which is not always a neighbour of the polygon that it leaves.
            let mut corner = Corner { polygons: [polygon; CORNER_POLYGONS_MAX], count: 1 };
            let (mut next, mut wall, mut exit) = (0, None, None);
            while next < corner.count {
                let here = corner.polygons[next];
                next += 1;
                let Some(leaves) = self.exit(here, ray) else {
                    return self.ray_end(here, to, None);
                };
                if leaves > part + ray.slack {
                    exit = Some((here, leaves));
                    break;
                }
                let inward = self.each_exit(here, ray, part, |target| corner.add(target));
                wall = wall.or(inward.map(|inward| (here, inward)));
            }
            let Some((here, leaves)) = exit else {
                let (here, inward) = wall.unwrap_or((polygon, Vec2::ZERO));
                return self.ray_end(here, ray.at(part), Some(inward));
            };
            let mut onward = None;
            let inward = self.each_exit(here, ray, leaves, |target| {
                onward = onward.or(Some(target));
            });
            (part, polygon) = match onward {
                Some(target) => (leaves, target),
                None => return self.ray_end(here, ray.at(leaves), inward),
            };
        }
        RayEnd { is_cut: true, ..self.ray_end(polygon, ray.at(part), None) }
    }

    /// Moves a point of a polygon by a distance, and along the walls that it meets. On closed
    /// ground, it can be moved out of there.
    pub fn slide(&self, start: NearestPolygon, by: Vec2) -> NearestPolygon {
        let (mut at, mut by) = (start, by);
        for _ in 0..SLIDES_MAX {
            let to = at.position + by.extend(0.0);
            let end = self.follow_ray(at, to, RAY_POLYGONS_MAX, true);
            let moved = (end.position - at.position).truncate();
            at = NearestPolygon { polygon: end.polygon, position: end.position };
            let Some(wall) = end.wall else { return at };
            // A little away from the wall, so that the next step does not begin behind it.
            let away = at.position + wall.extend(0.0) * WALL_DISTANCE;
            at.position = self.constrain(at.polygon, away);
            let rest = by - moved;
            by = rest - wall * rest.dot(wall).min(0.0);
            if by.length_squared() < SLIDE_MIN * SLIDE_MIN {
                break;
            }
        }
        at
    }

    fn ray_end(&self, polygon: u32, at: Vec2, wall: Option<Vec2>) -> RayEnd {
        let position = at.extend(self.height(polygon, at));
        RayEnd { polygon, position, wall, is_cut: false }
    }

    /// Returns the part of a ray at which it leaves a polygon; `None` if it ends inside.
    fn exit(&self, polygon: u32, ray: Ray) -> Option<f32> {
        let mut first: Option<f32> = None;
        for edge in 0..self.polygons[polygon as usize].count {
            let part = self.crossing_of_edge(polygon, edge, ray);
            first = match (first, part) {
                (Some(known), Some(part)) => Some(known.min(part)),
                (known, part) => known.or(part),
            };
        }
        first
    }

    /// Calls `each` with the open polygons behind the edges through which a ray leaves a polygon
    /// at a part of its length. Returns the direction away from the first edge without one.
    fn each_exit(
        &self,
        polygon: u32,
        ray: Ray,
        part: f32,
        mut each: impl FnMut(u32),
    ) -> Option<Vec2> {
        let at = ray.at(part);
        let mut wall = None;
        for edge in 0..self.polygons[polygon as usize].count {
            let crossing = self.crossing_of_edge(polygon, edge, ray);
            if crossing.is_none_or(|crossing| crossing > part + ray.slack) {
                continue;
            }
            let mut is_open = false;
            for link in self.links(polygon).iter().filter(|link| link.edge == edge) {
                let can_enter = match ray.leaves_closed {
                    true => self.can_cross(polygon, link.target),
                    false => self.is_open(link.target),
                };
                if can_enter && is_on_portal(link, at) {
                    is_open = true;
                    each(link.target);
                }
            }
            if !is_open && wall.is_none() {
                let (a, b) = self.edge(polygon, edge);
                let along = (b - a).truncate();
                wall = Some(Vec2::new(-along.y, along.x).normalize_or_zero());
            }
        }
        wall
    }

    /// Returns the part of a ray at which it leaves a polygon through the line of an edge.
    fn crossing_of_edge(&self, polygon: u32, edge: u8, ray: Ray) -> Option<f32> {
        let (a, b) = self.edge(polygon, edge);
        let (a, along) = (a.truncate(), (b - a).truncate());
        // A ray along an edge does not leave through it.
        if along.perp_dot(ray.at(1.0) - a) >= -GRAZE * along.length() {
            return None;
        }
        let across = along.perp_dot(ray.way);
        if across >= 0.0 {
            return None;
        }
        Some((along.perp_dot(a - ray.from) / across).clamp(0.0, 1.0))
    }
}

/// Returns true if a point on the edge of a link is within its portal.
fn is_on_portal(link: &Link, at: Vec2) -> bool {
    let (left, right) = (link.left.truncate(), link.right.truncate());
    let along = left - right;
    let part = (at - right).dot(along);
    let slack = CORNER_SLACK * along.length();
    part >= -slack && part <= along.length_squared() + slack
}
