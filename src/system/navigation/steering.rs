//! Steering of one agent: the direction along its path, and the velocity that avoids others and
//! walls.

use super::agent::{Agent, AgentState, STUCK_SECONDS};
use super::jumps::NO_JUMP;
use super::mesh::{NavigationMesh, nearest_on_segment};
use super::neighbors::{NEIGHBORS_MAX, Other, Snapshot, TOGETHER};
use super::passages::Turn;
use super::straighten::is_same;
use super::velocity::{
    Body, HALF_PLANES_MAX, HalfPlane, WALLS_MAX, Wall, avoid, solve, wall_planes,
};
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Vec2, Vec3};

/// Polygons around an agent that are searched for walls.
const WALL_POLYGONS_MAX: usize = 12;
/// Seconds ahead for which others and walls are avoided.
const HORIZON: f32 = 1.0;
const WALL_HORIZON: f32 = 0.25;
/// Seconds ahead for which others are avoided by an agent that they block completely: in a crowd,
/// those who keep a distance get nowhere.
const JAM_HORIZON: f32 = 0.3;
/// Seconds ahead for which agents of the same group avoid each other, so that they walk close
/// together.
const GROUP_HORIZON: f32 = 0.4;
/// Seconds in which agents that overlap walk apart.
const OVERLAP_SECONDS: f32 = 0.1;
/// Part of an overlap that is undone in an update.
const PUSH: f32 = 0.4;
/// Angle by which an agent turns to the right, in radians, if others block its way completely.
const KEEP_RIGHT: f32 = 1.4;
/// Angle by which it turns to the right for each other agent that comes towards it, in radians.
const MEET_ANGLE: f32 = 0.25;
/// Part of the angle that those behind take over, and the angle below which it does not count.
const FOLLOW_SWIRL: f32 = 0.95;
const SWIRL_MIN: f32 = 0.1;
/// Gap within which those who come towards an agent count, in metres.
const MEET_DISTANCE: f32 = 3.0;
/// Cosine of the angle to another above which it is in front.
const AHEAD: f32 = 0.1;
const STRAIGHT_AHEAD: f32 = 0.8;
const BEHIND: f32 = 0.5;
/// Gap within which an agent waits behind another, in radii.
const LINE_RADII: f32 = 0.75;
/// Seconds in which an agent closes the gap to one in front of it.
const LINE_SECONDS: f32 = 0.5;
/// Gap within which two agents touch, in radii.
const TOUCH_RADII: f32 = 0.25;
/// Distance from a passage for the square root of the agents before it, in radii: half a circle of
/// agents with some ground between them.
const LINE_SPACING: f32 = 3.0;
/// Distance in front of a passage at which agents wait, and the part of the ground in front of it
/// that they leave free, in radii.
const HOLD_RADII: f32 = 5.0;
const LANE_RADII: f32 = 2.5;
const LANE_LENGTH_RADII: f32 = 10.0;
/// Seconds without progress after which an agent goes to the next corner exactly.
const HELD_UP_SECONDS: f32 = 0.1;
/// Room to its right that an agent needs to keep to the right, in radii.
const ROOM_RADII: f32 = 3.0;
/// Gap to those on its right against whom it does not turn, in radii, and the part of their speed
/// that others take from them then.
const RIGHT_RADII: f32 = 1.0;
const SLOWED_PART: f32 = 0.25;
/// Seconds without progress after which it goes straight, because others make way for it; and for
/// those who use a platform or follow a leader.
const DETERMINED_SECONDS: f32 = 0.2;
const PATIENT_SECONDS: f32 = 0.4;
/// Gap to those who cross the way of an agent within which it waits for them, in radii.
const CROSSING_RADII: f32 = 2.0;
/// Distance from a corner on its left at which an agent passes it among others, in radii, and the
/// links of its path in which the corner is searched.
const CORNER_RADII: f32 = 4.0;
const CORNER_LINKS: usize = 16;
/// Part of its speed with which an agent makes way.
const LEAVE_SPEED: f32 = 0.6;

/// Decision of an agent in an update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steering {
    pub desired: Vec2,
    /// Velocity that the agent wants among others, before it avoids them.
    pub wanted: Vec2,
    pub velocity: Vec2,
    /// Displacement that ends overlaps.
    pub push: Vec2,
    /// True if the agent sees the end of its path.
    pub is_last_corner: bool,
    /// True if it touches an agent that has arrived at the same destination.
    pub touches_arrived: bool,
    /// True if another agent near it has the same destination.
    pub is_contested: bool,
    /// True if another agent that stands in its way does not make way. Known if it has been stuck
    /// for a while, or was blocked.
    pub is_obstructed: bool,
    /// True if another agent that walks is right in front of it.
    pub is_behind: bool,
    /// Shortest time without progress of those for whom it waits.
    pub line_seconds: f32,
    /// Angle by which it keeps to the right.
    pub swirl: f32,
}

impl Default for Steering {
    fn default() -> Steering {
        Steering {
            desired: Vec2::ZERO,
            wanted: Vec2::ZERO,
            velocity: Vec2::ZERO,
            push: Vec2::ZERO,
            is_last_corner: false,
            touches_arrived: false,
            is_contested: false,
            is_obstructed: false,
            is_behind: false,
            line_seconds: f32::MAX,
            swirl: 0.0,
        }
    }
}

/// Situation of an agent among others.
struct Surroundings {
    /// Number of those who come towards it; those who are near count more.
    opposing: f32,
    /// Speed that those in front of it leave.
    free_speed: f32,
    line_seconds: f32,
    touches_arrived: bool,
    is_contested: bool,
    is_behind: bool,
    /// Largest angle of those in front of it, in the same direction.
    swirl: f32,
    /// True if others who are held up come towards it from its right, and are close: if it turned
    /// there, it would push them back.
    is_right_taken: bool,
}

impl Surroundings {
    fn new(
        agent: &Agent,
        at: usize,
        desired: Vec2,
        near: &[(f32, u32)],
        all: &[Other],
    ) -> Surroundings {
        let own = &all[at];
        let mut found = Surroundings {
            opposing: 0.0,
            free_speed: f32::MAX,
            line_seconds: f32::MAX,
            touches_arrived: false,
            is_contested: false,
            is_behind: false,
            swirl: 0.0,
            is_right_taken: false,
        };
        let heading = desired.normalize_or_zero();
        if heading == Vec2::ZERO {
            return found;
        }
        let (radius, end) = (own.body.radius, agent.end.truncate());
        let right = Vec2::new(heading.y, -heading.x);
        // At a passage or a platform, agents take turns instead.
        let is_free = own.line == 0 && !agent.is_patient();
        for (distance, number) in near {
            let other = &all[*number as usize];
            let distance = distance.sqrt();
            let gap = distance - radius - other.body.radius;
            let way = (other.body.position - own.body.position) / distance.max(1e-3);
            let ahead = way.dot(heading);
            if other.state == AgentState::Linking && other.line == own.line && own.line != 0 {
                // It is served at the start of the link, and this one has its turn after it.
                found.line_seconds = 0.0;
            }
            let is_same = other.target.distance(end) <= radius + other.body.radius;
            found.is_contested |= is_same;
            if other.heading == Vec2::ZERO {
                let is_settled = matches!(other.state, AgentState::Arrived | AgentState::Idle);
                found.touches_arrived |= is_same && is_settled && gap <= radius * TOUCH_RADII;
                continue;
            }
            found.is_right_taken |= is_free
                && other.slowed > SLOWED_PART
                && gap < radius * RIGHT_RADII
                && way.dot(right) > TOGETHER
                && other.heading.dot(right) < -TOGETHER;
            if ahead <= AHEAD {
                continue;
            }
            found.is_behind |= ahead > BEHIND && gap < radius * LINE_RADII;
            if own.has_priority_over(other) {
                continue;
            }
            let together = other.heading.dot(heading);
            // At a passage, they take turns instead.
            let is_regulated = own.line != 0 || other.is_holding;
            if !is_regulated && together < TOGETHER && -way.dot(other.heading) > AHEAD {
                found.opposing += (1.0 - gap / MEET_DISTANCE).clamp(0.0, 1.0);
            }
            let touches = gap < radius * TOUCH_RADII;
            // It also waits for those with the right of way who are about to cross its way.
            let aside = heading.perp_dot(other.body.position - own.body.position).abs();
            let crosses = gap < radius * CROSSING_RADII && aside < radius + other.body.radius;
            if (touches || crosses) && !own.has_way(other, at < *number as usize) {
                found.line_seconds = found.line_seconds.min(other.stuck_seconds);
            }
            if together >= TOGETHER && gap < radius * LINE_RADII {
                found.line_seconds = found.line_seconds.min(other.stuck_seconds);
                found.swirl = found.swirl.max(other.swirl);
                if ahead > STRAIGHT_AHEAD && other.still_seconds > 0.0 {
                    let speed = other.body.velocity.dot(heading).max(0.0) + gap / LINE_SECONDS;
                    found.free_speed = found.free_speed.min(speed.max(0.0));
                }
            }
        }
        found
    }

    /// Returns the angle by which the agent keeps to the right. Agents that block each other on all
    /// sides turn around the middle instead of waiting for each other, and those behind them, too.
    fn angle(&self, agent: &Agent) -> f32 {
        let own = match self.opposing > 0.0 {
            true => (self.opposing * MEET_ANGLE).max(KEEP_RIGHT * agent.slowed),
            false => 0.0,
        };
        own.max(self.swirl * FOLLOW_SWIRL).min(KEEP_RIGHT)
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
    let own = &snapshot.others[at];
    let mut planes = [HalfPlane::default(); HALF_PLANES_MAX];
    let mut found = [(0.0, 0); NEIGHBORS_MAX];
    let near = snapshot.nearest(at, &mut found);
    let near = &found[..near];
    let is_among =
        near.iter().any(|(_, number)| is_passing(own, &snapshot.others[*number as usize]));
    let (desired, is_last_corner) = direction(mesh, agent, at, step, is_among);
    let is_still = desired == Vec2::ZERO && own.body.velocity.length_squared() < 1e-6;
    if near.is_empty() && is_still {
        return Steering { is_last_corner, ..Steering::default() };
    }
    let around = Surroundings::new(agent, at, desired, near, &snapshot.others);
    let turn = if agent.obstruction.detour.is_some() { Turn::Free } else { agent.turn };
    let (wanted, line_seconds) = match turn {
        Turn::Free => (adapted(mesh, agent, &around, desired), around.line_seconds),
        Turn::Hold(seconds) => (held(agent, desired), around.line_seconds.min(seconds)),
        Turn::Line(rank, seconds) => (
            in_line(agent, rank, adapted(mesh, agent, &around, desired)),
            around.line_seconds.min(seconds),
        ),
        Turn::Retreat(seconds) => {
            (agent.approach.inward * (-LEAVE_SPEED * agent.settings.speed), seconds)
        }
    };
    let walls = push_walls(mesh, agent, wanted, &mut planes);
    let (count, push) = push_others(agent, (snapshot, at), near, step, (&mut planes, walls));
    let velocity = solve(&planes[..count], walls, agent.settings.speed, wanted);
    Steering {
        desired,
        wanted,
        velocity,
        push,
        is_last_corner,
        touches_arrived: around.touches_arrived,
        is_contested: around.is_contested,
        is_obstructed: is_obstructed(agent, (own, desired), near, &snapshot.others),
        is_behind: around.is_behind,
        line_seconds,
        swirl: around.angle(agent),
    }
}

/// Returns the half-planes of velocities that an agent may have, with those of walls first, and the
/// number of these. The agent is number `at` of the snapshot.
pub(super) fn half_planes(
    mesh: &NavigationMesh,
    agent: &Agent,
    snapshot: &Snapshot,
    at: usize,
) -> (Vec<HalfPlane>, usize) {
    let mut planes = [HalfPlane::default(); HALF_PLANES_MAX];
    let mut found = [(0.0, 0); NEIGHBORS_MAX];
    let near = snapshot.nearest(at, &mut found);
    let walls = push_walls(mesh, agent, agent.wanted, &mut planes);
    let others = (&mut planes, walls);
    let (count, _) = push_others(agent, (snapshot, at), &found[..near], OVERLAP_SECONDS, others);
    (planes[..count].to_vec(), walls)
}

/// Adds the half-planes of others after the first ones. Returns the number of all, and the
/// displacement that ends overlaps.
fn push_others(
    agent: &Agent,
    (snapshot, at): (&Snapshot, usize),
    near: &[(f32, u32)],
    step: f32,
    (planes, first): (&mut [HalfPlane; HALF_PLANES_MAX], usize),
) -> (usize, Vec2) {
    let own = &snapshot.others[at];
    let (mut count, mut push) = (first, Vec2::ZERO);
    for (distance, number) in near {
        let other = &snapshot.others[*number as usize];
        let (share, velocity) = own.share(other, at < *number as usize);
        if share <= 0.0 {
            continue;
        }
        let overlap = own.body.radius + other.body.radius - distance.sqrt();
        if overlap > 0.0 {
            let away = own.body.position - other.body.position;
            let away = if *distance > 1e-8 { away.normalize_or_zero() } else { spread(at) };
            push += away * (overlap * share * PUSH);
        }
        let horizon = match own.is_companion(other) {
            true => GROUP_HORIZON,
            false => HORIZON + (JAM_HORIZON - HORIZON) * agent.slowed,
        };
        let body = Body { velocity, ..other.body };
        planes[count] = avoid(own.body, body, horizon, share, OVERLAP_SECONDS.max(step));
        count += 1;
    }
    (count, push)
}

/// Returns true if others that do not make way for an agent stand right in front of it.
fn is_obstructed(
    agent: &Agent,
    (own, desired): (&Other, Vec2),
    near: &[(f32, u32)],
    all: &[Other],
) -> bool {
    let heading = match agent.state {
        AgentState::Moving => desired.normalize_or_zero(),
        _ => agent.obstruction.heading,
    };
    let was_blocked = agent.obstruction.heading != Vec2::ZERO;
    if heading == Vec2::ZERO || !was_blocked && agent.stuck_seconds < STUCK_SECONDS {
        return false;
    }
    let radius = own.body.radius;
    near.iter().any(|(distance, number)| {
        let other = &all[*number as usize];
        let distance = distance.sqrt();
        let way = (other.body.position - own.body.position) / distance.max(1e-3);
        let is_ahead = distance - radius - other.body.radius < radius * LINE_RADII
            && way.dot(heading) > BEHIND;
        is_ahead && other.obstructs(own)
    })
}

/// Returns true if another agent is under way, is not in the same group, and is avoided.
fn is_passing(own: &Other, other: &Other) -> bool {
    other.heading != Vec2::ZERO && !own.is_companion(other) && !own.has_priority_over(other)
}

/// Returns the velocity that an agent wants among others.
fn adapted(mesh: &NavigationMesh, agent: &Agent, around: &Surroundings, desired: Vec2) -> Vec2 {
    let seconds = if agent.is_patient() { PATIENT_SECONDS } else { DETERMINED_SECONDS };
    let turns = agent.swirl > SWIRL_MIN && agent.stuck_seconds < seconds;
    if turns && !around.is_right_taken {
        // To the right if there is room. Between walls, it waits instead.
        let right = Vec2::new(desired.y, -desired.x).normalize_or_zero();
        let right = right * (agent.settings.radius * ROOM_RADII);
        let slid = mesh.slide(agent.at, right).position - agent.at.position;
        if slid.truncate().dot(right) > right.length_squared() * 0.5 {
            return turned(desired, -agent.swirl);
        }
    }
    desired.clamp_length_max(around.free_speed)
}

/// Returns the velocity that an agent wants while it waits in front of a passage: it comes near,
/// and leaves the ground in front of the mouth free.
fn held(agent: &Agent, desired: Vec2) -> Vec2 {
    let (entry, inward) = (agent.approach.entry, agent.approach.inward);
    let radius = agent.settings.radius;
    let offset = agent.at.position.truncate() - entry;
    let (along, across) = (-offset.dot(inward), inward.perp_dot(offset));
    let is_in_lane = along < radius * LANE_LENGTH_RADII && across.abs() < radius * LANE_RADII;
    if is_in_lane {
        // To the side on which it is, or to the right.
        let left = Vec2::new(-inward.y, inward.x);
        let aside = if across > radius * 0.2 { left } else { -left };
        let back = if along < radius * 2.0 { -inward } else { Vec2::ZERO };
        let speed = LEAVE_SPEED * agent.settings.speed;
        return (aside + back).normalize_or_zero() * speed;
    }
    let rank = agent.approach.rank as f32;
    let left = offset.length() - radius * (HOLD_RADII + LINE_SPACING * rank.sqrt());
    desired.clamp_length_max((left / LINE_SECONDS).max(0.0))
}

/// Returns the velocity that an agent wants in the line in front of a passage: those that come
/// later keep a larger distance, so that nobody presses against the mouth.
fn in_line(agent: &Agent, rank: u32, wanted: Vec2) -> Vec2 {
    let radius = agent.settings.radius;
    let distance = agent.at.position.truncate().distance(agent.approach.entry);
    if rank == 0 {
        return wanted;
    }
    let keep = radius * LINE_SPACING * (rank as f32).sqrt();
    wanted.clamp_length_max(((distance - keep) / LINE_SECONDS).max(0.0))
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

/// Returns the velocity along the path, and true if its end is visible. `is_among` is true if
/// others walk near it.
fn direction(
    mesh: &NavigationMesh,
    agent: &Agent,
    at: usize,
    step: f32,
    is_among: bool,
) -> (Vec2, bool) {
    if agent.state != AgentState::Moving {
        return (Vec2::ZERO, false);
    }
    if let Some(slot) = agent.visible_slot() {
        return (agent.slot_velocity(slot), true);
    }
    if let Some(point) = agent.detour_point() {
        let way = (point - agent.at.position).truncate();
        return (way.normalize_or_zero() * agent.settings.speed, false);
    }
    if agent.path.polygons.is_empty() {
        return (Vec2::ZERO, false);
    }
    let position = agent.at.position;
    // A touched corner can still be in the way: then it guides until the agent is on it. Among
    // others, it guides to a point at its side.
    let is_held_up = agent.still_seconds > HELD_UP_SECONDS;
    let reached = if is_held_up { 1e-4 } else { agent.settings.radius * 0.1 };
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
    let target = if is_last || !is_among { target } else { past_corner(mesh, agent, target) };
    let way = (target - position).truncate();
    let distance = way.length();
    if distance <= 1e-4 {
        return (Vec2::ZERO, is_last);
    }
    let mut speed = agent.settings.speed;
    if is_last && !agent.passes_end() {
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

/// Returns the point at which an agent passes a corner: on its left, at a distance, so that those
/// who come towards it, on whose right the corner is, have room. If the agent is beside that point
/// already, it goes to the corner: it would turn around whenever others come near.
fn past_corner(mesh: &NavigationMesh, agent: &Agent, corner: Vec3) -> Vec3 {
    let mut found = None;
    for link in agent.path.links.iter().take(CORNER_LINKS) {
        let link = &mesh.links[*link as usize];
        if is_same(link.left, corner) && link.jump == NO_JUMP {
            let width = link.left.distance(link.right);
            if found.is_none_or(|(known, _)| width < known) {
                found = Some((width, link.right));
            }
        } else if found.is_some() {
            break;
        }
    }
    let Some((width, right)) = found else { return corner };
    let by = (agent.settings.radius * CORNER_RADII).min(width * 0.5);
    let passing = corner + (right - corner) * (by / width.max(1e-3));
    let way = |to: Vec3| (to - agent.at.position).truncate();
    if way(passing).dot(way(corner)) > 0.0 { passing } else { corner }
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
        for link in ways.filter(|link| mesh.can_cross(polygon, link.target)) {
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
    let (mut walls, mut number) = ([Wall::default(); WALLS_MAX], 0);
    for (_, a, b) in &found[..count] {
        if let Some(wall) = Wall::new(*a, *b, WALL_HORIZON) {
            walls[number] = wall;
            number += 1;
        }
    }
    let chosen = wall_planes(&walls[..number], agent.settings.speed, desired);
    planes[..number].copy_from_slice(&chosen[..number]);
    number
}
