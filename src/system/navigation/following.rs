//! Following: agents that keep a position next to another agent, for example as a formation. The
//! position is on the ground that the leader can reach in a straight line, so that a formation gets
//! narrower between walls. An agent that sees its position walks straight to it; others follow a
//! path, which is searched again when the position has moved.

use super::agent::{Agent, AgentState, Request};
use super::agents::Agents;
use super::detours::Obstruction;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::rest::Rest;
use super::search::PolygonPath;
use super::steering::Steering;
use engine_foundation::Vec2;
use engine_foundation::handle::Handle;

/// Polygons that a straight way to the position crosses at most.
const VISIBLE_POLYGONS_MAX: usize = 24;
/// Seconds between two searches for the path to a position.
const SEARCH_SECONDS: f32 = 0.5;
/// Distance that a position has moved before the path to it is searched again, in radii.
const MOVED_RADII: f32 = 1.0;
/// Distances from the position of a leader that rests, in radii: at which an agent has arrived, and
/// at which it walks again.
const ARRIVED_RADII: f32 = 0.25;
const LEFT_RADII: f32 = 1.0;
/// Part of the distance to its position that an agent makes up for in a second.
const CATCH_UP: f32 = 2.5;
/// Speed below which a leader rests, in metres per second.
const REST_SPEED: f32 = 0.05;

/// Agent that another one follows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Leader {
    pub agent: Handle,
    /// Position next to the leader: to its right, and ahead of it.
    pub offset: Vec2,
    /// The position, if the agent can walk straight to it.
    slot: Option<NearestPolygon>,
    /// Velocity of the leader.
    velocity: Vec2,
    /// Seconds until the path may be searched again.
    search_seconds: f32,
}

impl Leader {
    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        write(self.agent.index() as u64);
        for number in [self.offset.x, self.offset.y, self.search_seconds] {
            write(u64::from(number.to_bits()));
        }
    }
}

impl Agents {
    /// Lets an agent follow another one, at a position to its right and ahead of it. Agents that
    /// are lost stay where they are.
    pub fn follow(&mut self, agent: Handle, leader: Handle, offset: Vec2) {
        let known = self.slots.get_mut(agent).filter(|agent| agent.state != AgentState::Lost);
        if let Some(agent) = known {
            let (slot, velocity, search_seconds) = (None, Vec2::ZERO, 0.0);
            agent.leader = Some(Leader { agent: leader, offset, slot, velocity, search_seconds });
            agent.destination = Some(agent.at);
            agent.displaced = None;
            agent.waypoints = None;
            agent.request = None;
            agent.target = None;
            agent.obstruction = Obstruction::default();
            if !agent.ride.is_some_and(|ride| ride.is_crossing()) {
                agent.ride = None;
            }
            agent.rest = Rest::default();
            agent.restart_progress();
            if agent.traversal.is_none() {
                agent.path = PolygonPath::default();
                agent.state = AgentState::Moving;
            }
        }
    }

    /// Returns true if an agent follows another one, or agents that do.
    pub fn is_led_by(&self, agent: Handle, leader: Handle) -> bool {
        let mut at = agent;
        // Agents that were already in a cycle would be followed without end.
        for _ in 0..self.slots.len() {
            let Some(next) = self.slots.get(at).and_then(Agent::leader) else { return false };
            if next == leader {
                return true;
            }
            at = next;
        }
        false
    }

    /// Finds the positions of agents that follow others.
    pub(super) fn follow_leaders(&mut self, mesh: &NavigationMesh, step: f32) {
        for at in 0..self.rows.len() {
            let row = self.rows[at] as usize;
            let agent = self.slots.at(row).expect("it was listed");
            let Some(leader) = agent.leader else { continue };
            let of = self
                .slots
                .get(leader.agent)
                .filter(|of| of.mesh == agent.mesh && of.state != AgentState::Lost);
            let slot = of.map(|of| (of.slot(mesh, leader.offset), of.velocity));
            let agent = self.slots.at_mut(row).expect("it was listed");
            match slot {
                None => agent.end_following(),
                Some((slot, velocity)) => {
                    if agent.follow_slot(mesh, slot, velocity, step) {
                        self.requests += 1;
                        agent.request = Some(Request { is_repair: true, number: self.requests });
                    }
                }
            }
        }
    }
}

impl Agent {
    /// Returns true if the agent uses a platform or follows a leader.
    pub(super) fn is_patient(&self) -> bool {
        self.ride.is_some() || self.leader.is_some()
    }

    /// Returns the agent that it follows.
    pub fn leader(&self) -> Option<Handle> {
        self.leader.map(|leader| leader.agent)
    }

    /// Returns the position next to a leader, if the agent can walk straight to it.
    pub(super) fn visible_slot(&self) -> Option<NearestPolygon> {
        self.leader.and_then(|leader| leader.slot)
    }

    /// Returns the ground at an offset to its right and ahead of it, before the next wall.
    fn slot(&self, mesh: &NavigationMesh, offset: Vec2) -> NearestPolygon {
        let ahead = self.forward;
        let right = Vec2::new(ahead.y, -ahead.x);
        mesh.slide(self.at, right * offset.x + ahead * offset.y)
    }

    pub(super) fn end_following(&mut self) {
        self.leader = None;
        self.forget_destination();
        if self.traversal.is_none() {
            self.stop(AgentState::Idle);
        }
    }

    /// Returns true if a path to the position has to be searched.
    fn follow_slot(
        &mut self,
        mesh: &NavigationMesh,
        slot: NearestPolygon,
        velocity: Vec2,
        step: f32,
    ) -> bool {
        let Some(leader) = &mut self.leader else { return false };
        leader.velocity = velocity;
        leader.slot = None;
        leader.search_seconds = (leader.search_seconds - step).max(0.0);
        if self.traversal.is_some() {
            return false;
        }
        let ray = mesh.ray_within(self.at, slot.position, VISIBLE_POLYGONS_MAX);
        let is_visible = ray.wall.is_none() && !ray.is_cut && ray.polygon == slot.polygon;
        let left = slot.position.truncate().distance(self.at.position.truncate());
        let radius = self.settings.radius;
        if is_visible {
            leader.slot = Some(slot);
            self.destination = Some(slot);
            self.end = slot.position;
            self.request = None;
            self.path = PolygonPath::default();
            let is_resting = velocity.length() < REST_SPEED;
            let is_near = is_resting && left <= radius * LEFT_RADII;
            if !is_near || self.state == AgentState::Partial {
                self.state = AgentState::Moving;
            }
            return false;
        }
        let known = self.destination.map_or(self.at.position, |known| known.position);
        let has_moved = known.distance(slot.position) > radius * MOVED_RADII;
        let is_lost = self.path.polygons.is_empty();
        if (has_moved || is_lost) && leader.search_seconds <= 0.0 && self.request.is_none() {
            leader.search_seconds = SEARCH_SECONDS;
            self.destination = Some(slot);
            // One that stands at the end of its way walks on if another way leads farther.
            if self.state != AgentState::Partial {
                self.state = AgentState::Moving;
            }
            return true;
        }
        false
    }

    /// Returns the velocity toward a position that the agent sees.
    pub(super) fn slot_velocity(&self, slot: NearestPolygon) -> Vec2 {
        let velocity = self.leader.map_or(Vec2::ZERO, |leader| leader.velocity);
        let way = (slot.position - self.at.position).truncate();
        (velocity + way * CATCH_UP).clamp_length_max(self.settings.speed)
    }

    /// Ends the way of an agent next to a leader that rests.
    pub(super) fn end_of_following(&mut self, result: &Steering) {
        let Some(leader) = self.leader else { return };
        let left = self.end.truncate().distance(self.at.position.truncate());
        let is_resting = leader.velocity.length() < REST_SPEED;
        let is_near = left <= self.settings.radius * ARRIVED_RADII || result.touches_arrived;
        if leader.slot.is_some() && is_resting && is_near {
            self.stop(AgentState::Arrived);
        } else if leader.slot.is_none() && self.partial.is_some() && is_near {
            let partial = self.partial;
            self.stop(AgentState::Partial);
            self.partial = partial;
        }
    }
}
