//! Lines that show a mesh and its agents to a developer.

use super::agents::{Agent, AgentState, Agents};
use super::jumps::NO_JUMP;
use super::mesh::{NavigationMesh, NearestPolygon, nearest_in_polygon};
use super::neighbors::Snapshot;
use super::steering;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Handle, Vec2, Vec3};

/// Height of lines above the ground, in metres.
const LIFT: f32 = 0.05;
/// Parts of the arc of a link, and of the circle of an agent.
const ARC_PARTS: u16 = 8;
const CIRCLE_PARTS: u16 = 12;
/// Distance between the arrows of a flow field, and their length, in metres. On large meshes, they
/// are farther apart, so that there are about this many, and at most one more for each polygon.
const ARROW_SPACING: f32 = 2.0;
const ARROW_LENGTH: f32 = 1.0;
const ARROWS_MAX: f32 = 50_000.0;
/// Half of the side of the square at the end of a flow field, in metres.
const END_SIZE: f32 = 0.2;
/// Length of ticks, as a part of the highest speed of an agent.
const TICK: f32 = 0.15;

/// Meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineKind {
    /// Edge between two polygons, with the area of the first.
    Edge(u8),
    /// Edge at which the mesh ends.
    Wall,
    /// Edge of a closed polygon.
    Closed,
    Link,
    /// Way between the ground and a platform, while it can be used, and while it cannot.
    OpenStop,
    ClosedStop,
    /// Outline of an agent, and the rest of its path.
    Agent,
    Path,
    /// Velocity of an agent, and the velocity that it would have without others.
    Velocity,
    Desired,
    /// Border of the velocities that an agent may have, because of another one or of a wall, and
    /// its highest speed.
    Avoided,
    AvoidedWall,
    Speed,
    /// Arrow along the ways of a flow field, and place at which they end.
    Flow,
    FlowEnd,
    /// Edge of a polygon that the last search visited.
    Searched,
}

impl NavigationMesh {
    /// Calls `each` with the edges of the polygons and with the links.
    pub fn outline(&self, each: &mut dyn FnMut(Vec3, Vec3, LineKind)) {
        let lift = Vec3::Z * LIFT;
        for polygon in 0..self.polygons.len() as u32 {
            let ways = self.links(polygon).iter().filter(|link| link.jump == NO_JUMP);
            let open = ways.fold(0u32, |open, link| open | 1 << link.edge);
            let kind = match self.is_open(polygon) {
                true => LineKind::Edge(self.area(polygon)),
                false => LineKind::Closed,
            };
            for edge in 0..self.polygons[polygon as usize].count {
                let (a, b) = self.edge(polygon, edge);
                let is_wall = open & 1 << edge == 0 && kind != LineKind::Closed;
                each(a + lift, b + lift, if is_wall { LineKind::Wall } else { kind });
            }
        }
        for jump in &self.jumps.ways.usable {
            let length = jump.start.truncate().distance(jump.end.truncate());
            let point = |at: u16| {
                let part = f32::from(at) / f32::from(ARC_PARTS);
                jump.start.lerp(jump.end, part) + Vec3::Z * (length * part * (1.0 - part))
            };
            for at in 0..ARC_PARTS {
                each(point(at) + lift, point(at + 1) + lift, LineKind::Link);
            }
        }
    }
}

impl NavigationMesh {
    /// Calls `each` with the arrows of a flow field that is up to date, and with squares where it
    /// ends.
    pub fn outline_field(&self, field: usize, each: &mut dyn FnMut(Vec3, Vec3, LineKind)) {
        let spacing = self.arrow_spacing(ARROWS_MAX);
        for polygon in 0..self.polygons.len() as u32 {
            if !self.is_open(polygon) {
                continue;
            }
            let corners = self.corners(polygon);
            let of = &self.polygons[polygon as usize];
            let first = |low: f32| (low / spacing).ceil() as i32;
            let last = |high: f32| (high / spacing).floor() as i32;
            let mut has_arrow = false;
            for row in first(of.low.y)..=last(of.high.y) {
                for column in first(of.low.x)..=last(of.high.x) {
                    let at = Vec2::new(column as f32, row as f32) * spacing;
                    if nearest_in_polygon(corners, at) == at {
                        self.outline_way(field, (polygon, at), each);
                        has_arrow = true;
                    }
                }
            }
            if !has_arrow {
                let middle = corners.iter().sum::<Vec3>() / corners.len() as f32;
                self.outline_way(field, (polygon, middle.truncate()), each);
            }
        }
        let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let square = square.map(|(x, y)| Vec3::new(x, y, 0.0) * END_SIZE);
        for end in self.field_ends(field) {
            let end = end + Vec3::Z * LIFT;
            for at in 0..4 {
                each(end + square[at], end + square[(at + 1) % 4], LineKind::FlowEnd);
            }
        }
    }

    /// Returns the distance between the arrows of a flow field of which about this many are shown.
    pub(super) fn arrow_spacing(&self, most: f32) -> f32 {
        let sizes = self.polygons.iter().map(|of| {
            let size = of.high - of.low;
            f64::from(size.x) * f64::from(size.y)
        });
        ARROW_SPACING.max((sizes.sum::<f64>() as f32 / most).sqrt())
    }

    /// Calls `each` with the arrow of a field at a point.
    fn outline_way(
        &self,
        field: usize,
        (polygon, at): (u32, Vec2),
        each: &mut dyn FnMut(Vec3, Vec3, LineKind),
    ) {
        let position = at.extend(self.height(polygon, at));
        let Some(next) = self.field_corner(field, NearestPolygon { polygon, position }) else {
            return;
        };
        let way = next - position;
        let length = way.length().min(ARROW_LENGTH);
        let along = way.normalize_or_zero() * length;
        if along == Vec3::ZERO {
            return;
        }
        let (from, tip) = (position + Vec3::Z * LIFT, position + along + Vec3::Z * LIFT);
        let side = Vec3::new(-along.y, along.x, 0.0) * 0.2;
        let back = tip - along * 0.35;
        each(from, tip, LineKind::Flow);
        each(tip, back + side, LineKind::Flow);
        each(tip, back - side, LineKind::Flow);
    }

    /// Calls `each` with the edges of polygons that a search visited. Those that do not exist any
    /// more are left out.
    pub fn outline_visited(&self, visited: &[u32], each: &mut dyn FnMut(Vec3, Vec3, LineKind)) {
        let lift = Vec3::Z * (LIFT * 1.6);
        let count = self.polygons.len() as u32;
        for polygon in visited.iter().filter(|polygon| **polygon < count) {
            let corners = self.corners(*polygon);
            for (at, corner) in corners.iter().enumerate() {
                let next = corners[(at + 1) % corners.len()];
                each(*corner + lift, next + lift, LineKind::Searched);
            }
        }
    }
}

impl Agents {
    /// Calls `each` with the outlines, paths and velocities of the agents of a mesh, and with the
    /// stops of a platform, in the world.
    pub fn outline(
        &self,
        id: Handle,
        mesh: &NavigationMesh,
        each: &mut dyn FnMut(Vec3, Vec3, LineKind),
    ) {
        let pose = self.pose(id);
        let each = &mut |from, to, kind| each(pose.to_world(from), pose.to_world(to), kind);
        let of_mesh = self.slots.iter().filter(|(_, agent)| agent.mesh == id);
        for (_, agent) in of_mesh.filter(|(_, agent)| agent.state != AgentState::Lost) {
            outline_agent(agent, mesh, each);
        }
        let Some(platform) = self.platform(id) else { return };
        let ground = self.pose(platform.ground);
        for stop in &platform.stops {
            let kind = if stop.is_open { LineKind::OpenStop } else { LineKind::ClosedStop };
            let ashore = pose.to_local(ground.to_world(stop.settings.ashore));
            let lift = Vec3::Z * LIFT;
            each(stop.settings.aboard + lift, ashore + lift, kind);
        }
    }

    /// Calls `each` with the borders of the velocities that an agent may have, as others and walls
    /// leave them: a metre is a metre a second. Ticks point to the velocities that it may not have.
    pub fn outline_avoidance(
        &self,
        handle: Handle,
        mesh: &NavigationMesh,
        each: &mut dyn FnMut(Vec3, Vec3, LineKind),
    ) {
        let Some(agent) = self.slots.get(handle) else { return };
        let of_mesh = || self.slots.iter().filter(|(_, other)| other.mesh == agent.mesh);
        let on_ground = || of_mesh().filter(|(_, other)| other.state != AgentState::Lost);
        let Some(at) = on_ground().position(|(other, _)| other == handle) else { return };
        let mut snapshot = Snapshot::default();
        snapshot.take(on_ground().map(|(_, other)| other));
        let pose = self.pose(agent.mesh);
        let middle = agent.at.position + Vec3::Z * LIFT;
        let mut each = |from: Vec2, to: Vec2, kind| {
            let point = |by: Vec2| pose.to_world(middle + by.extend(0.0));
            each(point(from), point(to), kind);
        };
        let speed = agent.settings.speed;
        let rim = |at: u16| {
            let angle = f32::from(at) / f32::from(CIRCLE_PARTS) * std::f32::consts::TAU;
            let (sin, cos) = sin_cos(angle);
            Vec2::new(cos, sin) * speed
        };
        (0..CIRCLE_PARTS).for_each(|at| each(rim(at), rim(at + 1), LineKind::Speed));
        let (planes, walls) = steering::half_planes(mesh, agent, &snapshot, at);
        for (number, plane) in planes.iter().enumerate() {
            let kind = if number < walls { LineKind::AvoidedWall } else { LineKind::Avoided };
            // The part of the line within the highest speed.
            let nearest = plane.point - plane.direction * plane.point.dot(plane.direction);
            let half = (speed * speed - nearest.length_squared()).max(0.0).sqrt();
            if half > 0.0 {
                let along = plane.direction * half;
                each(nearest - along, nearest + along, kind);
                let right = Vec2::new(plane.direction.y, -plane.direction.x);
                each(nearest, nearest + right * (speed * TICK), kind);
            }
        }
    }

    /// Returns the number of agents of a mesh.
    pub fn count(&self, id: Handle) -> usize {
        self.slots.iter().filter(|(_, agent)| agent.mesh == id).count()
    }
}

fn outline_agent(agent: &Agent, mesh: &NavigationMesh, each: &mut dyn FnMut(Vec3, Vec3, LineKind)) {
    let lift = Vec3::Z * LIFT;
    let position = agent.at.position + lift;
    let rim = |at: u16| {
        let angle = f32::from(at) / f32::from(CIRCLE_PARTS) * std::f32::consts::TAU;
        let (sin, cos) = sin_cos(angle);
        position + Vec3::new(cos, sin, 0.0) * agent.settings.radius
    };
    for at in 0..CIRCLE_PARTS {
        each(rim(at), rim(at + 1), LineKind::Agent);
    }
    let (mut corners, mut before) = (Vec::new(), position);
    agent.corners(mesh, &mut corners);
    for corner in corners {
        each(before, corner + lift, LineKind::Path);
        before = corner + lift;
    }
    each(position, position + agent.velocity.extend(0.0), LineKind::Velocity);
    each(position, position + agent.desired.extend(0.0), LineKind::Desired);
}
