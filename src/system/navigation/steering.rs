//! Steering of one agent: the direction along its path, and the velocity that avoids others and
//! walls.

use super::agents::{Agent, AgentState};
use super::jumps::NO_JUMP;
use super::mesh::{NavigationMesh, nearest_on_segment};
use super::velocity::{Body, HALF_PLANES_MAX, HalfPlane, avoid, solve, wall};
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Vec2, Vec3};

/// Number of others that an agent avoids.
const NEIGHBORS_MAX: usize = 10;
/// Number of walls that an agent avoids.
const WALLS_MAX: usize = 6;
/// Polygons around an agent that are searched for walls.
const WALL_POLYGONS_MAX: usize = 12;
/// Seconds ahead for which others and walls are avoided.
const HORIZON: f32 = 2.0;
const WALL_HORIZON: f32 = 0.25;
/// Distance within which others are avoided, in metres, also if agents are so fast or large that
/// they would need more. Without it, one fast agent would compare all with each other.
const REACH_MAX: f32 = 32.0;
/// Height within which others are avoided, in metres.
const STOREY: f32 = 1.5;
/// Part of an overlap that is undone in an update.
const PUSH: f32 = 0.4;
/// Angle by which an agent turns to the right, in radians, if others block its way completely.
const KEEP_RIGHT: f32 = 1.4;
/// Part of its speed with which an agent backs off.
const YIELD_SPEED: f32 = 0.5;
/// Cosine of the angle between the ways of two agents above which they walk together.
const TOGETHER: f32 = 0.5;
/// Cosine of the angle to another above which it is in front.
const AHEAD: f32 = 0.1;

/// Decision of an agent in an update.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steering {
    pub desired: Vec2,
    pub velocity: Vec2,
    /// Displacement that ends overlaps.
    pub push: Vec2,
    /// True if the agent sees the end of its path.
    pub is_last_corner: bool,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    body: Body,
    height: f32,
    priority: u8,
    avoids: bool,
    /// Direction in which it wants to go.
    heading: Vec2,
}

/// Agents of a mesh at the beginning of an update, sorted into cells.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    others: Vec<Other>,
    cell: f32,
    /// Agents by bucket of their cell, and the first of each bucket.
    sorted: Vec<u32>,
    starts: Vec<u32>,
}

impl Snapshot {
    /// Copies the state of agents.
    pub fn take<'a>(&mut self, agents: impl Iterator<Item = &'a Agent>) {
        self.others.clear();
        let mut reach: f32 = 0.1;
        for agent in agents {
            reach = reach.max(agent.settings.radius + agent.settings.speed * 0.5);
            let body = Body {
                position: agent.at.position.truncate(),
                velocity: agent.velocity,
                radius: agent.settings.radius,
            };
            self.others.push(Other {
                body,
                height: agent.at.position.z,
                priority: agent.settings.priority,
                avoids: agent.settings.avoids,
                heading: agent.desired.normalize_or_zero(),
            });
        }
        self.cell = (reach * 2.0).min(REACH_MAX);
        let buckets = (self.others.len() * 2).next_power_of_two().max(16);
        self.starts.clear();
        self.starts.resize(buckets + 1, 0);
        for other in &self.others {
            let bucket = self.bucket(self.cell_of(other.body.position), buckets);
            self.starts[bucket] += 1;
        }
        for bucket in 0..buckets {
            self.starts[bucket + 1] += self.starts[bucket];
        }
        self.sorted.clear();
        self.sorted.resize(self.others.len(), 0);
        // Each bucket begins as its end, and is filled from the back until it is its first agent.
        for at in (0..self.others.len()).rev() {
            let bucket = self.bucket(self.cell_of(self.others[at].body.position), buckets);
            let first = &mut self.starts[bucket];
            *first -= 1;
            self.sorted[*first as usize] = at as u32;
        }
    }

    fn cell_of(&self, position: Vec2) -> (i32, i32) {
        let cell = (position / self.cell).floor();
        (cell.x as i32, cell.y as i32)
    }

    fn bucket(&self, (x, y): (i32, i32), buckets: usize) -> usize {
        let hash = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca6b);
        (hash ^ hash >> 15) as usize & (buckets - 1)
    }

    /// Finds the nearest others. Returns their number; they are sorted by distance.
    fn nearest(&self, at: usize, found: &mut [(f32, u32); NEIGHBORS_MAX]) -> usize {
        let own = &self.others[at];
        let reach = self.cell;
        let (cell_x, cell_y) = self.cell_of(own.body.position);
        let buckets = self.starts.len() - 1;
        let mut count = 0;
        let mut visited = [usize::MAX; 9];
        for i in 0..9 {
            let cell = (cell_x.wrapping_add(i % 3 - 1), cell_y.wrapping_add(i / 3 - 1));
            let bucket = self.bucket(cell, buckets);
            // Two cells can share a bucket, whose agents are visited once.
            if visited.contains(&bucket) {
                continue;
            }
            visited[i as usize] = bucket;
            let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
            for &other in &self.sorted[range] {
                let body = &self.others[other as usize];
                let distance = own.body.position.distance_squared(body.body.position);
                let is_near = distance < reach * reach && (own.height - body.height).abs() < STOREY;
                if other as usize == at || !is_near {
                    continue;
                }
                let entry = (distance, other);
                let slot = found[..count].partition_point(|known| *known < entry);
                if slot < NEIGHBORS_MAX {
                    count = (count + 1).min(NEIGHBORS_MAX);
                    found.copy_within(slot..count - 1, slot + 1);
                    found[slot] = entry;
                }
            }
        }
        count
    }

    /// Returns true if an agent and one of those in front of it are in each other's way.
    fn meets(&self, at: usize, desired: Vec2, near: &[(f32, u32)]) -> bool {
        let own = &self.others[at].body;
        let heading = desired.normalize_or_zero();
        near.iter().any(|(distance, other)| {
            let other = &self.others[*other as usize];
            let least = distance.sqrt() * AHEAD;
            let to_other = other.body.position - own.position;
            to_other.dot(heading) > least
                && -to_other.dot(other.heading) > least
                && other.heading.dot(heading) < TOGETHER
        })
    }
}

/// Decides about an agent, which is number `at` of the snapshot.
pub(super) fn steer(
    mesh: &NavigationMesh,
    agent: &Agent,
    snapshot: &Snapshot,
    at: usize,
    step: f32,
) -> Steering {
    if agent.state == AgentState::Linking {
        return Steering::default();
    }
    let (desired, is_last_corner) = direction(mesh, agent, at, step);
    let own = snapshot.others[at];
    let mut planes = [HalfPlane { point: Vec2::ZERO, direction: Vec2::X }; HALF_PLANES_MAX];
    let mut found = [(0.0, 0); NEIGHBORS_MAX];
    let near = snapshot.nearest(at, &mut found);
    let is_still = desired == Vec2::ZERO && own.body.velocity.length_squared() < 1e-6;
    if near == 0 && is_still {
        return Steering::default();
    }
    let wanted = match agent.blocked > 0.0 && snapshot.meets(at, desired, &found[..near]) {
        true if agent.yield_seconds > 0.0 => desired * -YIELD_SPEED,
        // Agents that block each other on all sides all keep to the right, and turn around the
        // middle instead of waiting for each other.
        true => turned(desired, -KEEP_RIGHT * agent.blocked),
        false => desired,
    };
    let walls = push_walls(mesh, agent, wanted, &mut planes);
    let mut count = walls;
    let mut push = Vec2::ZERO;
    for (distance, other) in &found[..near] {
        let other = &snapshot.others[*other as usize];
        let overlap = own.body.radius + other.body.radius - distance.sqrt();
        let share = match (own.avoids, other.avoids) {
            (false, _) => continue,
            (true, false) => 1.0,
            (true, true) => match own.priority.cmp(&other.priority) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 0.0,
            },
        };
        if overlap > 0.0 {
            let away = own.body.position - other.body.position;
            let away = if *distance > 1e-8 { away.normalize_or_zero() } else { spread(at) };
            push += away * (overlap * share * PUSH);
        }
        if share > 0.0 {
            planes[count] = avoid(own.body, other.body, HORIZON, share, step.max(1e-3));
            count += 1;
        }
    }
    let velocity = solve(&planes[..count], walls, agent.settings.speed, wanted);
    Steering { desired, velocity, push, is_last_corner }
}

fn turned(vector: Vec2, angle: f32) -> Vec2 {
    let (sin, cos) = sin_cos(angle);
    Vec2::new(cos, sin).rotate(vector)
}

/// Returns a direction that differs between agents.
fn spread(at: usize) -> Vec2 {
    let x = ((at * 7 + 3) % 11) as f32 - 5.0;
    let y = ((at * 5 + 1) % 7) as f32 - 2.5;
    Vec2::new(x, y).normalize_or_zero()
}

/// Returns the velocity along the path, and true if its end is visible.
fn direction(mesh: &NavigationMesh, agent: &Agent, at: usize, step: f32) -> (Vec2, bool) {
    if agent.state != AgentState::Moving || agent.path.polygons.is_empty() {
        return (Vec2::ZERO, false);
    }
    let position = agent.at.position;
    let reached = agent.settings.radius * 0.1;
    let (mut target, mut is_last): (Option<Vec3>, bool) = (None, false);
    let mut number = 0;
    let end = agent.end;
    agent.path.corners(mesh, position, end, |point, _| {
        number += 1;
        target = Some(point);
        is_last = point == end;
        // A corner that is touched no longer guides.
        point.truncate().distance(position.truncate()) <= reached && !is_last && number < 4
    });
    let Some(target) = target else { return (Vec2::ZERO, false) };
    let way = (target - position).truncate();
    let distance = way.length();
    if distance <= 1e-4 {
        return (Vec2::ZERO, is_last);
    }
    let mut speed = agent.settings.speed;
    if is_last {
        // The speed from which the agent can stop at its end, and does not pass it in this update.
        speed = speed.min((2.0 * agent.settings.acceleration * distance).sqrt() * 0.7);
        speed = speed.min(distance / step.max(1e-3));
    }
    // Turned by about a degree, differently for each: two that meet exactly must not wait for each
    // other.
    let turn = ((at * 13 % 17) as f32 - 8.0) * 0.004;
    let unit = way / distance;
    let turned = unit + Vec2::new(-unit.y, unit.x) * turn;
    (turned * speed, is_last)
}

/// Adds the walls around an agent. Returns their number.
fn push_walls(
    mesh: &NavigationMesh,
    agent: &Agent,
    desired: Vec2,
    planes: &mut [HalfPlane; HALF_PLANES_MAX],
) -> usize {
    let position = agent.at.position.truncate();
    let reach = agent.settings.radius + agent.settings.speed * WALL_HORIZON;
    let mut polygons = [agent.at.polygon; WALL_POLYGONS_MAX];
    let mut found = [(0.0f32, Vec2::ZERO, Vec2::ZERO); WALLS_MAX];
    let (mut known, mut next, mut count) = (1, 0, 0);
    while next < known {
        let polygon = polygons[next];
        next += 1;
        let (mut open, links) = (0u32, mesh.links(polygon));
        let ways = links.iter().filter(|link| link.jump == NO_JUMP);
        for link in ways.filter(|link| mesh.is_open(link.target)) {
            open |= 1 << link.edge;
            let on = nearest_on_segment(link.left.truncate(), link.right.truncate(), position);
            let is_near = on.distance_squared(position) < reach * reach;
            if is_near && known < WALL_POLYGONS_MAX && !polygons[..known].contains(&link.target) {
                polygons[known] = link.target;
                known += 1;
            }
        }
        for edge in 0..mesh.polygons[polygon as usize].count {
            if open & 1 << edge != 0 {
                continue;
            }
            let (a, b) = mesh.edge(polygon, edge);
            let (a, b) = (a.truncate() - position, b.truncate() - position);
            let distance = nearest_on_segment(a, b, Vec2::ZERO).length_squared();
            let slot = found[..count].partition_point(|known| known.0 <= distance);
            if distance < reach * reach && slot < WALLS_MAX {
                count = (count + 1).min(WALLS_MAX);
                found.copy_within(slot..count - 1, slot + 1);
                found[slot] = (distance, a, b);
            }
        }
    }
    let mut walls = 0;
    for (_, a, b) in &found[..count] {
        if let Some(plane) = wall(*a, *b, WALL_HORIZON, desired) {
            planes[walls] = plane;
            walls += 1;
        }
    }
    walls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{AgentSettings, Agents};
    use crate::mesh::NearestPolygon;
    use engine_foundation::{HandleKind, Slots};

    #[test]
    fn a_fast_agent_does_not_widen_the_cells_without_limit() {
        let mesh = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
        let mut agents = Agents::default();
        for i in 0..50 {
            let speed = if i == 0 { 1000.0 } else { 3.5 };
            let position = Vec3::new(i as f32 * 10.0, 0.0, 0.0);
            let settings = AgentSettings { speed, ..AgentSettings::DEFAULT };
            agents.add(mesh, NearestPolygon { polygon: 0, position }, settings).unwrap();
        }
        let mut snapshot = Snapshot::default();
        snapshot.take(agents.slots.iter().map(|(_, agent)| agent));
        assert_eq!(snapshot.cell, REACH_MAX);
        // Three on each side are within 32 metres.
        let mut found = [(0.0, 0); NEIGHBORS_MAX];
        for at in 3..47 {
            assert_eq!(snapshot.nearest(at, &mut found), 6, "{at}");
        }
    }
}
