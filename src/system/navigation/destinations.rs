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
pub(super) struct Displaced {
    asked: Vec3,
    /// Destination instead of it; `None` if there is no ground near.
    ground: Option<Vec3>,
}

impl Agents {
    /// Gives back what is known about the destination of an agent that was sent there again.
    pub(super) fn displace(&mut self, agent: Handle, displaced: Option<Displaced>) {
        if let Some(agent) = self.slots.get_mut(agent) {
            agent.displaced = displaced;
        }
    }
}

impl Displaced {
    /// Calls `write` with the numbers that make up the state.
    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        let points = [self.asked, self.ground.unwrap_or(Vec3::INFINITY)];
        let numbers = points.map(|point| point.to_array());
        numbers.as_flattened().iter().for_each(|number| write(u64::from(number.to_bits())));
    }
}

impl Agent {
    /// Returns the point that it was sent to, on its mesh. That can be off the ground by now.
    pub fn asked(&self) -> Option<Vec3> {
        match self.displaced() {
            Some(displaced) => Some(displaced.asked),
            None => self.destination.map(|destination| destination.position),
        }
    }

    /// Returns why its way does not lead to the point that it was sent to, if there is no ground.
    pub(super) fn displaced_reason(&self) -> Option<PartialReason> {
        let ground = self.destination?.position.truncate();
        let asked = self.displaced()?.asked.truncate();
        let is_same = asked.distance(ground) <= self.settings.radius * SAME_RADII;
        (!is_same).then_some(PartialReason::Unreachable)
    }

    /// Returns what is known about its destination, if it has not got another one since.
    pub(super) fn displaced(&self) -> Option<Displaced> {
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
        let Some(asked) = self.asked() else { return };
        self.destination = nearest_ground(mesh, asked);
        // Points of a formation and of a way with rides are chosen again by those.
        let is_own = self.leader.is_none() && self.target.is_none() && self.ride.is_none();
        let ground = self.destination.map(|destination| destination.position);
        let is_same = ground.is_some_and(|ground| ground.truncate() == asked.truncate());
        self.displaced = (is_own && !is_same).then_some(Displaced { asked, ground });
    }

    /// Has the agent wait until there is ground again near the point that it was sent to.
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
