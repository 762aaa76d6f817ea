//! Velocities that avoid others: optimal reciprocal collision avoidance (J. van den Berg, S. Guy,
//! M. Lin and D. Manocha, "Reciprocal n-body Collision Avoidance", 2011). Each neighbour and each
//! wall forbids a half-plane of velocities; the nearest allowed velocity to the desired one is
//! found by a linear program of two dimensions.

use super::mesh::nearest_on_segment;
use engine_foundation::Vec2;

/// Maximum number of half-planes for one agent.
pub(super) const HALF_PLANES_MAX: usize = 24;
/// Number of walls that an agent avoids.
pub(super) const WALLS_MAX: usize = 6;
const PARALLEL: f32 = 1e-5;
/// Distance behind a wall, in metres, that still counts as in front of it.
const WALL_SLACK: f32 = 1e-3;

/// Half-plane of allowed velocities, to the left of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HalfPlane {
    pub point: Vec2,
    /// Unit vector along the line.
    pub direction: Vec2,
}

impl HalfPlane {
    /// Velocities that are at most `speed` against a direction.
    fn stop(away: Vec2, speed: f32) -> HalfPlane {
        HalfPlane { point: away * -speed, direction: Vec2::new(away.y, -away.x) }
    }

    /// Returns by how much a velocity is on the wrong side; below 0 on the right side.
    fn excess(&self, velocity: Vec2) -> f32 {
        self.direction.perp_dot(self.point - velocity)
    }
}

/// Wall near an agent. The velocities that do not cross it within a time are those that stop before
/// its nearest point, those that pass one of its ends, and those that stop before its line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wall {
    ends: [Vec2; 2],
    nearer: HalfPlane,
    stop: HalfPlane,
}

/// Body that is avoided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub position: Vec2,
    pub velocity: Vec2,
    pub radius: f32,
}

/// Returns the velocities with which a body avoids another for `horizon` seconds. `share` is the
/// part of the change that it makes itself, 0 to 1. `step` is the duration of an update.
pub(super) fn avoid(own: Body, other: Body, horizon: f32, share: f32, step: f32) -> HalfPlane {
    let position = other.position - own.position;
    let velocity = own.velocity - other.velocity;
    let distance = position.length_squared();
    let radius = own.radius + other.radius;
    let (direction, change);
    if distance > radius * radius {
        // The part of the velocity obstacle that is nearest: its round front or one of its legs.
        let from_front = velocity - position / horizon;
        let length = from_front.length_squared();
        let along = from_front.dot(position);
        if along < 0.0 && along * along > radius * radius * length {
            let length = length.sqrt();
            let unit = from_front / length;
            direction = Vec2::new(unit.y, -unit.x);
            change = unit * (radius / horizon - length);
        } else {
            let leg = (distance - radius * radius).sqrt();
            let unit = if position.perp_dot(from_front) > 0.0 {
                Vec2::new(
                    position.x * leg - position.y * radius,
                    position.x * radius + position.y * leg,
                ) / distance
            } else {
                -Vec2::new(
                    position.x * leg + position.y * radius,
                    -position.x * radius + position.y * leg,
                ) / distance
            };
            direction = unit;
            change = unit * velocity.dot(unit) - velocity;
        }
    } else {
        // They overlap already: separate within this update.
        let from_front = velocity - position / step;
        let length = from_front.length();
        let unit = if length > 0.0 { from_front / length } else { Vec2::X };
        direction = Vec2::new(unit.y, -unit.x);
        change = unit * (radius / step - length);
    }
    HalfPlane { point: own.velocity + change * share, direction }
}

impl Wall {
    /// Makes a wall from `a` to `b`, seen from the origin, which is to the left of it, that is not
    /// crossed within `horizon` seconds. Returns `None` if it cannot be crossed from there.
    pub fn new(a: Vec2, b: Vec2, horizon: f32) -> Option<Wall> {
        let along = (b - a).normalize_or_zero();
        let inward = Vec2::new(-along.y, along.x);
        let before = -a.dot(inward);
        let nearest = nearest_on_segment(a, b, Vec2::ZERO);
        // An agent at the tip of a corner is behind both of its walls.
        let is_end = nearest.distance(a).min(nearest.distance(b)) <= WALL_SLACK;
        if before < -WALL_SLACK || is_end && before <= WALL_SLACK {
            return None;
        }
        let stop = HalfPlane::stop(inward, before.max(0.0) / horizon);
        let nearer = match is_end {
            true => HalfPlane::stop(-nearest.normalize_or_zero(), nearest.length() / horizon),
            false => stop,
        };
        Some(Wall { ends: [a, b], nearer, stop })
    }

    /// Returns a half-plane with a velocity: that which leaves the most room to all sides. If the
    /// velocity crosses the wall, those that stop before it, or the nearest one if `passes` is
    /// true.
    fn choose(&self, velocity: Vec2, passes: bool) -> HalfPlane {
        let of_nearer = self.nearer.excess(velocity);
        if of_nearer <= 0.0 {
            return self.nearer;
        }
        let [to_a, to_b] = self.ends.map(Vec2::normalize_or_zero);
        let past = |direction: Vec2| HalfPlane { point: Vec2::ZERO, direction };
        let (past_a, past_b) = (past(-to_a), past(to_b));
        let (of_a, of_b) = (past_a.excess(velocity), past_b.excess(velocity));
        let (past, of_past) = if of_a <= of_b { (past_a, of_a) } else { (past_b, of_b) };
        let of_stop = self.stop.excess(velocity);
        match passes {
            _ if of_past <= 0.0 => past,
            true if of_past < of_stop.min(of_nearer) => past,
            true if of_nearer < of_stop => self.nearer,
            _ => self.stop,
        }
    }
}

/// Half-planes of walls, the first ones of all.
pub(super) type WallPlanes = [HalfPlane; WALLS_MAX];

/// Chooses half-planes of walls, which are in the order of their distances. Those that are nearest
/// to the desired velocity for each wall alone can leave nothing together, as where an agent enters
/// a passage at an angle. So each is chosen for the velocity that those before it leave, and agents
/// stop before the walls that this crosses, which leaves a part of it in any case; or they pass
/// their ends, if all together leave more then.
pub(super) fn wall_planes(walls: &[Wall], speed: f32, desired: Vec2) -> WallPlanes {
    let desired = desired.clamp_length_max(speed);
    let (mut planes, left) = choose_planes(walls, speed, desired, true);
    if left != desired {
        let (stopping, after) = choose_planes(walls, speed, desired, false);
        if after.distance_squared(desired) < left.distance_squared(desired) {
            planes = stopping;
        }
    }
    planes
}

/// Returns half-planes, and the velocity that they leave.
fn choose_planes(walls: &[Wall], speed: f32, desired: Vec2, passes: bool) -> (WallPlanes, Vec2) {
    let (mut planes, mut left) = (WallPlanes::default(), desired);
    for (at, wall) in walls.iter().enumerate() {
        planes[at] = wall.choose(left, passes);
        let is_left = planes[at].excess(left) <= 0.0;
        if !is_left && !solve_line(&planes, at, speed, desired, false, &mut left) {
            left = Vec2::ZERO;
        }
    }
    (planes, left)
}

/// Returns the allowed velocity that is nearest to the desired one. The first `hard` half-planes
/// are kept in any case; if the others leave nothing, they are violated as little as possible.
pub(super) fn solve(planes: &[HalfPlane], hard: usize, speed: f32, desired: Vec2) -> Vec2 {
    let mut result = Vec2::ZERO;
    let failed = solve_plane(planes, speed, desired, false, &mut result);
    if failed < planes.len() {
        relax(planes, hard, failed, speed, &mut result);
    }
    result
}

/// Finds the best point on one line within the half-planes before it.
fn solve_line(
    planes: &[HalfPlane],
    at: usize,
    speed: f32,
    desired: Vec2,
    is_direction: bool,
    result: &mut Vec2,
) -> bool {
    let line = planes[at];
    let along = line.point.dot(line.direction);
    let square = along * along + speed * speed - line.point.length_squared();
    if square < 0.0 {
        return false;
    }
    let root = square.sqrt();
    let (mut low, mut high) = (-along - root, -along + root);
    for other in &planes[..at] {
        let across = line.direction.perp_dot(other.direction);
        let offset = other.direction.perp_dot(line.point - other.point);
        if across.abs() <= PARALLEL {
            if offset < 0.0 {
                return false;
            }
            continue;
        }
        let part = offset / across;
        if across >= 0.0 {
            high = high.min(part);
        } else {
            low = low.max(part);
        }
        if low > high {
            return false;
        }
    }
    let part = if is_direction {
        if desired.dot(line.direction) > 0.0 { high } else { low }
    } else {
        line.direction.dot(desired - line.point).clamp(low, high)
    };
    *result = line.point + line.direction * part;
    true
}

/// Returns the index of the first half-plane that cannot be kept, or their number.
fn solve_plane(
    planes: &[HalfPlane],
    speed: f32,
    desired: Vec2,
    is_direction: bool,
    result: &mut Vec2,
) -> usize {
    *result = if is_direction {
        desired * speed
    } else if desired.length_squared() > speed * speed {
        desired.normalize_or_zero() * speed
    } else {
        desired
    };
    for at in 0..planes.len() {
        if planes[at].direction.perp_dot(planes[at].point - *result) > 0.0 {
            let before = *result;
            if !solve_line(planes, at, speed, desired, is_direction, result) {
                *result = before;
                return at;
            }
        }
    }
    planes.len()
}

/// Violates the half-planes from `failed` on as little as possible.
fn relax(planes: &[HalfPlane], hard: usize, failed: usize, speed: f32, result: &mut Vec2) {
    let mut worst = 0.0;
    let mut projected = [HalfPlane { point: Vec2::ZERO, direction: Vec2::X }; HALF_PLANES_MAX];
    for at in failed..planes.len() {
        let plane = planes[at];
        if plane.direction.perp_dot(plane.point - *result) <= worst {
            continue;
        }
        let mut count = hard.min(at);
        projected[..count].copy_from_slice(&planes[..count]);
        for other in &planes[count..at] {
            let across = plane.direction.perp_dot(other.direction);
            let point = if across.abs() <= PARALLEL {
                if plane.direction.dot(other.direction) > 0.0 {
                    continue;
                }
                (plane.point + other.point) * 0.5
            } else {
                let part = other.direction.perp_dot(plane.point - other.point) / across;
                plane.point + plane.direction * part
            };
            let direction = (other.direction - plane.direction).normalize_or_zero();
            projected[count] = HalfPlane { point, direction };
            count += 1;
        }
        let before = *result;
        let wanted = Vec2::new(-plane.direction.y, plane.direction.x);
        if solve_plane(&projected[..count], speed, wanted, true, result) < count {
            *result = before;
        }
        worst = plane.direction.perp_dot(plane.point - *result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(x: f32, y: f32, vx: f32, vy: f32) -> Body {
        Body { position: Vec2::new(x, y), velocity: Vec2::new(vx, vy), radius: 0.5 }
    }

    fn walls(all: &[(Vec2, Vec2)], desired: Vec2) -> Vec<HalfPlane> {
        let walls: Vec<Wall> = all.iter().filter_map(|(a, b)| Wall::new(*a, *b, 0.3)).collect();
        wall_planes(&walls, 9.0, desired)[..walls.len()].to_vec()
    }

    #[test]
    fn two_that_meet_step_aside_and_share_the_change() {
        let (a, b) = (body(0.0, 0.0, 1.0, 0.0), body(3.0, 0.1, -1.0, 0.0));
        let plane = [avoid(a, b, 2.0, 0.5, 0.1)];
        let new = solve(&plane, 0, 2.0, a.velocity);
        assert!(new.y < -0.05, "{new}");
        let all = [avoid(a, b, 2.0, 1.0, 0.1)];
        assert!(solve(&all, 0, 2.0, a.velocity).y < new.y);
    }

    #[test]
    fn velocities_without_conflict_are_kept() {
        let (a, b) = (body(0.0, 0.0, 1.0, 0.0), body(3.0, 0.0, 1.0, 0.0));
        let plane = [avoid(a, b, 2.0, 0.5, 0.1)];
        assert_eq!(solve(&plane, 0, 2.0, a.velocity), a.velocity);
    }

    #[test]
    fn walls_are_kept_when_others_leave_no_room() {
        let own = body(0.0, 0.0, 0.0, 0.0);
        let (a, b) = (Vec2::new(0.0, 9.0), Vec2::new(0.0, -9.0));
        let mut planes = walls(&[(a, b)], Vec2::new(-2.0, 0.0));
        for y in [-0.6, 0.6] {
            planes.push(avoid(own, body(0.5, y, -2.0, 0.0), 2.0, 1.0, 0.1));
        }
        let new = solve(&planes, 1, 2.0, Vec2::new(-2.0, 0.0));
        assert!(new.x >= -1e-4, "{new}");
    }

    #[test]
    fn walls_do_not_slow_down_those_who_pass_their_ends() {
        let (a, b) = (Vec2::new(-4.0, -0.1), Vec2::new(0.2, -0.1));
        let past = Vec2::new(4.0, -1.9);
        let plane = walls(&[(a, b)], past);
        assert!(solve(&plane, 1, 9.0, past).distance(past) < 1e-3);
        let (b, into) = (Vec2::new(4.0, -0.1), Vec2::new(0.0, -4.0));
        let plane = walls(&[(a, b)], into);
        assert!(solve(&plane, 1, 9.0, into).y > -0.4);
        // From behind, and from beyond an end, it is no wall.
        assert!(Wall::new(b, a, 0.3).is_none());
        assert!(Wall::new(Vec2::new(-4.0, 0.1), Vec2::new(-0.2, 0.1), 0.3).is_none());
    }

    #[test]
    fn walls_of_a_passage_that_is_entered_at_an_angle_leave_a_way() {
        // The wall of a room with a door, and the two walls in the door. The end of the first has
        // to be passed; before the third, the agent stops.
        let at = |x: f32, y: f32| Vec2::new(x - 15.9965, y - 13.5147);
        let all = [
            (at(16.0, 9.6), at(16.2, 13.6)),
            (at(16.2, 13.6), at(19.0, 13.4)),
            (at(16.2, 13.8), at(16.0, 19.2)),
            (at(19.0, 14.0), at(16.2, 13.8)),
        ];
        let desired = Vec2::new(3.2711, 1.25);
        let planes = walls(&all, desired);
        let new = solve(&planes, planes.len(), 3.5, desired);
        assert!(new.dot(desired.normalize()) > 2.5, "{new}");
    }
}
