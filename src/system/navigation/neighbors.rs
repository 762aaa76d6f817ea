//! The agents of a mesh at the beginning of an update, sorted into cells, so that each finds those
//! near it.

use super::agent::{Agent, AgentState};
use super::passages::Turn;
use super::velocity::Body;
use engine_foundation::Vec2;
use std::cmp::Ordering;

/// Number of others that an agent avoids.
pub(super) const NEIGHBORS_MAX: usize = 8;
/// Distance within which others are avoided, in metres, also if agents are so fast or large that
/// they would need more. Without it, one fast agent would compare all with each other.
const REACH_MAX: f32 = 32.0;
/// Height within which others are avoided, in metres.
const STOREY: f32 = 1.5;
/// Cosine of the angle between the ways of two agents above which they walk together.
pub(super) const TOGETHER: f32 = 0.5;
/// Part of a change above one half that the one makes who follows the other, and where both block
/// each other.
const RIGHT_OF_WAY: f32 = 0.3;
const JAM_WAY: f32 = 0.4;
/// Lead below which two agents walk side by side, as a part of the distance at which they touch.
const SIDE_BY_SIDE: f32 = 0.3;
/// Seconds without progress after which an agent is urgent, and in which it becomes so completely:
/// then others make way for the velocity that it would like to have.
const URGENT_SECONDS: f32 = 0.05;
const URGENCY_SECONDS: f32 = 0.15;
/// The same for those who use a platform or follow a leader: their places are close together, and
/// others need not leave theirs at once.
const PATIENT_SECONDS: f32 = 0.1;
const PATIENCE_SECONDS: f32 = 0.3;
/// Seconds without progress after which an agent that waits behind another one, and so does not use
/// its right of way, leaves it to those who would walk. Part of the speed below which it waits.
const YIELD_SECONDS: f32 = 0.2;
const WAITING_PART: f32 = 0.3;
/// Seconds without progress that count as one: those who have waited longer have the right of way.
const AGE_SECONDS: f32 = 0.15;
/// Part of the velocity that others would like to have in the one that is assumed for them.
const INTENT: f32 = 0.3;

/// Speed below which an agent stands, in metres per second.
const STILL_SPEED: f32 = 0.05;

/// Agent at the beginning of an update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub body: Body,
    height: f32,
    priority: u8,
    pub group: u8,
    pub avoids: bool,
    /// True if it waits at a passage, or makes way for those who come through it.
    pub is_holding: bool,
    /// True if it waits behind another agent, and has made no progress.
    is_yielding: bool,
    is_patient: bool,
    /// True if it is on a link, and not on the ground.
    is_in_air: bool,
    /// Line in front of a passage or a link in which it is, and its place there: the lower ones
    /// come first.
    pub line: u32,
    rank: u32,
    pub state: AgentState,
    ignored_groups: u32,
    /// Direction in which it wants to go, or in which it makes way; zero if it does not.
    pub heading: Vec2,
    /// Point to which it was sent.
    pub target: Vec2,
    pub stuck_seconds: f32,
    claim: f32,
    pub still_seconds: f32,
    pub swirl: f32,
    pub slowed: f32,
    wanted: Vec2,
}

impl Other {
    fn of(agent: &Agent) -> Other {
        let body = Body {
            position: agent.at.position.truncate(),
            velocity: agent.velocity,
            radius: agent.settings.radius,
        };
        let target = agent.destination.unwrap_or(agent.at).position.truncate();
        // Those who come to the start of a link from all sides go there one after another, too.
        let (line, rank) = match (agent.approach.line(), agent.queue) {
            (0, (link, distance)) if link != 0 => (u32::MAX - link, distance),
            (line, _) => (line, agent.approach.rank),
        };
        let heading = match agent.turn {
            Turn::Retreat(_) => agent.wanted,
            _ => agent.desired,
        };
        let waits = agent.wanted.length() < agent.desired.length() * WAITING_PART;
        Other {
            body,
            height: agent.at.position.z,
            priority: agent.settings.priority,
            group: agent.settings.group,
            // One that waits on a link stands, and others go around it.
            avoids: agent.settings.avoids && agent.traversal.is_none(),
            is_holding: matches!(agent.turn, Turn::Hold(_) | Turn::Retreat(_)),
            is_yielding: waits && agent.stuck_seconds > YIELD_SECONDS,
            is_patient: agent.is_patient(),
            is_in_air: agent.has_left_ground(),
            line,
            rank,
            state: agent.state,
            ignored_groups: agent.settings.ignored_groups,
            heading: heading.normalize_or_zero(),
            target,
            stuck_seconds: agent.stuck_seconds,
            claim: agent.claim,
            still_seconds: agent.still_seconds,
            swirl: agent.swirl,
            slowed: agent.slowed,
            wanted: agent.wanted,
        }
    }

    /// Returns how urgent it is that others make way for it: from 0, when it is hardly stuck, to 1.
    fn urgency(&self) -> f32 {
        let (from, within) = match self.is_patient {
            true => (PATIENT_SECONDS, PATIENCE_SECONDS),
            false => (URGENT_SECONDS, URGENCY_SECONDS),
        };
        ((self.stuck_seconds - from) / within).clamp(0.0, 1.0)
    }

    /// Returns the right of way that it has earned by waiting.
    fn age(&self) -> u32 {
        (self.claim / AGE_SECONDS) as u32
    }

    fn does_avoid(&self, other: &Other) -> bool {
        self.avoids && self.ignored_groups & 1 << other.group == 0
    }

    /// Returns true if the agent walks on as if the other were not there, which avoids it.
    pub fn has_priority_over(&self, other: &Other) -> bool {
        let has_priority = self.priority > other.priority && other.does_avoid(self);
        !self.does_avoid(other) || has_priority
    }

    /// Returns true if it stands, and neither walks nor makes way for another that avoids it.
    pub fn obstructs(&self, other: &Other) -> bool {
        let is_still = self.body.velocity.length() < STILL_SPEED;
        let yields = self.state == AgentState::Moving && !self.has_priority_over(other);
        is_still && !yields && !other.has_priority_over(self)
    }

    /// Returns true if both are of the same group.
    pub fn is_companion(&self, other: &Other) -> bool {
        self.group > 0 && self.group == other.group
    }

    /// Returns the part of a change of velocities that this agent makes to avoid another, 0 to 1,
    /// and the velocity of the other that it assumes. The parts of both are 1 together if both
    /// avoid each other. `comes_first` is true if the agent comes before the other in the order of
    /// all.
    pub fn share(&self, other: &Other, comes_first: bool) -> (f32, Vec2) {
        let velocity = other.body.velocity;
        match (self.does_avoid(other), other.does_avoid(self)) {
            (false, _) => return (0.0, velocity),
            (true, false) => return (1.0, velocity),
            (true, true) => {}
        }
        match self.priority.cmp(&other.priority) {
            Ordering::Less => return (1.0, velocity),
            Ordering::Greater => return (0.0, velocity),
            Ordering::Equal => {}
        }
        // Those ahead have the right of way. Where agents block each other, one of the two has it,
        // and the other makes way for the velocity that it would like to have.
        let has_way = self.has_way(other, comes_first);
        let jam = self.slowed.max(other.slowed);
        let urgency = self.urgency().max(other.urgency());
        let jam = jam.max(urgency);
        let way = JAM_WAY + (0.5 - JAM_WAY) * urgency;
        let way = if has_way { -way } else { way };
        let free = match self.heading.dot(other.heading) > TOGETHER {
            true => RIGHT_OF_WAY * self.ahead(other).clamp(-1.0, 1.0),
            false => 0.0,
        };
        let assumed = match has_way {
            true => velocity,
            false => {
                let intent = (other.slowed * INTENT).max(other.urgency());
                velocity + (other.wanted - velocity) * intent
            }
        };
        (0.5 + free + (way - free) * jam, assumed)
    }

    /// Returns true if this agent has the right of way over another where they block each other:
    /// those who walk over those who rest, those who go through a passage over those who wait for
    /// it, the first ones of a line, those who would walk over those who wait behind others, and
    /// those who have waited longer. Without the rule before the last, three wait for each other if
    /// each has the right of way over the next one, and does not use it because it waits.
    pub fn has_way(&self, other: &Other, comes_first: bool) -> bool {
        let is_walking = |of: &Other| of.state == AgentState::Moving;
        match is_walking(self).cmp(&is_walking(other)) {
            Ordering::Equal => {}
            order => return order == Ordering::Greater,
        }
        if self.is_holding != other.is_holding {
            return other.is_holding;
        }
        if self.line != 0 && self.line == other.line && self.rank != other.rank {
            return self.rank < other.rank;
        }
        if self.is_yielding != other.is_yielding {
            return other.is_yielding;
        }
        if self.age() != other.age() {
            return self.age() > other.age();
        }
        if self.heading.dot(other.heading) > TOGETHER {
            let ahead = self.ahead(other);
            if ahead.abs() > SIDE_BY_SIDE {
                return ahead < 0.0;
            }
        }
        comes_first
    }

    /// Returns how far another that walks in about the same direction is ahead of it, as a part of
    /// the distance at which both touch.
    fn ahead(&self, other: &Other) -> f32 {
        let apart = other.body.position - self.body.position;
        let way = apart.dot((self.heading + other.heading).normalize_or_zero());
        way / (self.body.radius + other.body.radius)
    }
}

/// Agents of a mesh at the beginning of an update, sorted into cells.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub others: Vec<Other>,
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
            reach = reach.max(agent.settings.radius + agent.settings.speed * 0.4);
            self.others.push(Other::of(agent));
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
    pub fn nearest(&self, at: usize, found: &mut [(f32, u32); NEIGHBORS_MAX]) -> usize {
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
                if other as usize == at || !is_near || body.is_in_air {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{AgentSettings, Agents};
    use crate::mesh::NearestPolygon;
    use engine_foundation::{HandleKind, Slots, Vec3};

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

    #[test]
    fn two_that_avoid_each_other_share_the_change() {
        let mesh = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
        let at = |x: f32| NearestPolygon { polygon: 0, position: Vec3::new(x, 0.0, 0.0) };
        let other = |x: f32, settings: AgentSettings, heading: Vec2, blocked: f32| {
            let mut agent = Agent::new(mesh, at(x), settings);
            (agent.desired, agent.wanted, agent.slowed) = (heading, heading, blocked);
            agent.state = AgentState::Moving;
            Other::of(&agent)
        };
        let parts = |a: &Other, b: &Other| (a.share(b, true).0, b.share(a, false).0);
        let usual = AgentSettings::DEFAULT;
        let (behind, ahead) = (other(0.0, usual, Vec2::X, 0.0), other(1.0, usual, Vec2::X, 0.0));
        let (first, second) = parts(&behind, &ahead);
        assert!(first > 0.7 && (first + second - 1.0).abs() < 1e-6);
        let facing = other(1.0, usual, -Vec2::X, 0.0);
        assert_eq!(parts(&behind, &facing), (0.5, 0.5));
        // In a jam, the first one has the right of way, and the other knows where it wants to go.
        let jammed = other(0.0, usual, Vec2::X, 1.0);
        let (first, second) = parts(&jammed, &facing);
        assert!(first < 0.2 && (first + second - 1.0).abs() < 1e-6);
        assert!(facing.share(&jammed, false).1.x > 0.2);
        assert_eq!(jammed.share(&facing, true).1, Vec2::ZERO);
        let important = other(1.0, AgentSettings { priority: 1, ..usual }, -Vec2::X, 0.0);
        assert_eq!(parts(&behind, &important), (1.0, 0.0));
        // One that is ignored avoids the other alone.
        let cat = other(0.0, AgentSettings { group: 3, ..usual }, Vec2::X, 0.0);
        let settings = AgentSettings { ignored_groups: 1 << 3, ..usual };
        let dog = other(1.0, settings, -Vec2::X, 0.0);
        assert_eq!(parts(&dog, &cat), (0.0, 1.0));
    }
}
