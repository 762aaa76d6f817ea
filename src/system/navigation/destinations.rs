//! Destinations of agents whose ground is taken away: an obstacle was put on it, or its tile was
//! built again. The agent keeps the point that it was sent to, and goes to the ground that is
//! nearest to it. That is looked for again with each change, so that the agent gets to its point
//! once there is ground again.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::path::PartialReason;
use super::volumes::Renumbering;
use engine_foundation::Vec3;
use engine_foundation::handle::Handle;

/// Distances within which ground is searched for agents and destinations whose ground is gone, in
/// metres.
const GROUND_DISTANCES: [f32; 3] = [0.5, 4.0, 32.0];
/// Distance from the point that an agent was sent to at which it is at that point, in radii.
const SAME_RADII: f32 = 0.25;

/// Point that an agent was sent to, and under which there was no ground at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct DisplacedDestination {
    wanted: Vec3,
    /// Destination instead of it; `None` if there is no ground near.
    ground: Option<Vec3>,
}

impl Agents {
    /// Gives back what is known about the destination of an agent that was sent there again.
    pub(super) fn displace(&mut self, agent: Handle, displaced: Option<DisplacedDestination>) {
        let known = self.slots.get_mut(agent).filter(|agent| agent.state != AgentState::Lost);
        if let Some(agent) = known {
            agent.displaced = displaced;
        }
    }

    /// Sends an agent to a point of its mesh to which it was sent before. Its ground can have been
    /// taken away since: then it goes to the nearest ground, or waits for some.
    pub(super) fn send_again_to(&mut self, mesh: &NavigationMesh, agent: Handle, wanted: Vec3) {
        let ground = nearest_ground(mesh, wanted);
        let displaced = DisplacedDestination::new(wanted, ground);
        if let Some(ground) = ground {
            self.send(agent, ground);
            self.displace(agent, displaced);
            return;
        }
        let known = self.slots.get_mut(agent).filter(|agent| agent.state != AgentState::Lost);
        if let Some(agent) = known {
            agent.leader = None;
            agent.end = agent.at.position;
            (agent.destination, agent.displaced) = (None, displaced);
            // One on a link waits at its end.
            if agent.traversal.is_none() {
                agent.wait_for_ground();
            }
        }
    }
}

impl DisplacedDestination {
    /// Returns what has to be known about a point, and the ground that is nearest to it; `None` if
    /// the ground is at the point.
    fn new(wanted: Vec3, ground: Option<NearestPolygon>) -> Option<DisplacedDestination> {
        let ground = ground.map(|ground| ground.position);
        let is_same = ground.is_some_and(|ground| ground.truncate() == wanted.truncate());
        (!is_same).then_some(DisplacedDestination { wanted, ground })
    }

    /// Calls `write` with the numbers that make up the state.
    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        let points = [self.wanted, self.ground.unwrap_or(Vec3::INFINITY)];
        let numbers = points.map(|point| point.to_array());
        numbers.as_flattened().iter().for_each(|number| write(u64::from(number.to_bits())));
    }
}

impl Agent {
    /// Returns the point that it was sent to, on its mesh. That can be off the ground by now.
    pub fn wanted_point(&self) -> Option<Vec3> {
        match self.displaced() {
            Some(displaced) => Some(displaced.wanted),
            None => self.destination.map(|destination| destination.position),
        }
    }

    /// Returns why its way does not lead to the point that it was sent to, if there is no ground.
    pub(super) fn displaced_reason(&self) -> Option<PartialReason> {
        let ground = self.destination?.position.truncate();
        let wanted = self.displaced()?.wanted.truncate();
        let is_same = wanted.distance(ground) <= self.settings.radius * SAME_RADII;
        (!is_same).then_some(PartialReason::Unreachable)
    }

    /// Returns what is known about its destination, if it has not got another one since.
    pub(super) fn displaced(&self) -> Option<DisplacedDestination> {
        let destination = self.destination.map(|destination| destination.position);
        let waits =
            matches!(self.state, AgentState::Partial | AgentState::Linking | AgentState::Lost);
        let has_none = destination.is_none() && !waits;
        self.displaced.filter(|displaced| displaced.ground == destination && !has_none)
    }

    /// Gives its destination the polygon that it has now, or the nearest ground.
    pub(super) fn renumber_destination(&mut self, mesh: &NavigationMesh, of: &Renumbering) {
        let displaced = self.displaced();
        if let Some(destination) = self.destination
            && displaced.is_none()
            && let Some(polygon) = of.polygon(destination.polygon)
        {
            self.destination = Some(NearestPolygon { polygon, ..destination });
            return;
        }
        if let Some(wanted) = self.wanted_point() {
            self.find_destination(mesh, wanted);
        }
    }

    /// Looks for the ground that is nearest to the point that it was sent to.
    pub(super) fn find_destination(&mut self, mesh: &NavigationMesh, wanted: Vec3) {
        self.destination = nearest_ground(mesh, wanted);
        let is_own = self.leader.is_none() && self.target.is_none() && self.ride.is_none();
        self.displaced = DisplacedDestination::new(wanted, self.destination).filter(|_| is_own);
        // Points of a formation and beside a stop are chosen again by those. The way to a stop is
        // chosen again, too: another stop can be nearer now, or this one cannot be reached.
        if self.ride.is_none()
            && let Some(target) = &mut self.target
        {
            target.via = None;
        }
    }

    /// Forgets its destination on this mesh.
    pub(super) fn forget_destination(&mut self) {
        (self.destination, self.displaced, self.waypoints) = (None, None, None);
    }

    /// Has an agent without a destination wait until there is ground again near the point that it
    /// was sent to.
    pub(super) fn wait_for_ground(&mut self) {
        match self.displaced {
            Some(_) => {
                self.stop(AgentState::Partial);
                self.partial = Some(PartialReason::Unreachable);
            }
            None => self.stop(AgentState::Idle),
        }
    }
}

/// Returns the ground that is nearest to a position from which it was taken away.
pub(super) fn nearest_ground(mesh: &NavigationMesh, position: Vec3) -> Option<NearestPolygon> {
    let height = mesh.settings().height;
    GROUND_DISTANCES
        .into_iter()
        .find_map(|distance| mesh.nearest(position, distance, distance.min(height)))
}
