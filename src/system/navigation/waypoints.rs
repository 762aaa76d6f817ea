//! Waypoints: the points of a path that an agent was given. It walks to one after the other, as to
//! destinations, and does not slow down at those between. What avoids others, keeps the agent off
//! walls and gets it unstuck holds on its way to each of them.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::destinations::nearest_ground;
use super::mesh::NavigationMesh;
use engine_foundation::Vec3;
use engine_foundation::handle::Handle;
use std::sync::Arc;

/// Distance at which an agent goes on to the next waypoint, in radii.
pub(super) const PASSED_RADII: f32 = 1.0;
/// Beginning and factor of the hash of points (FNV-1a, 64 bits).
const HASH_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_PRIME: u64 = 0x0100_0000_01b3;

/// Path that an agent was given. The last waypoint is an ordinary destination, with which this
/// ends.
#[derive(Clone, Debug)]
pub(super) struct Waypoints {
    points: Arc<[Vec3]>,
    hash: u64,
    /// The point to which it walks. Others come after it.
    at: usize,
    /// True if it is there.
    is_passed: bool,
}

impl Waypoints {
    fn new(points: &[Vec3]) -> Waypoints {
        let bits = points.iter().flat_map(|point| point.to_array().map(f32::to_bits));
        let hash =
            bits.fold(HASH_BASIS, |hash, bits| (hash ^ u64::from(bits)).wrapping_mul(HASH_PRIME));
        Waypoints { points: points.into(), hash, at: 0, is_passed: false }
    }

    /// Goes on to the first point that is not within a distance of a position, or to the last one.
    fn pass_near(&mut self, position: Vec3, distance: f32) {
        let near = self.points[self.at..].iter();
        let near = near.take_while(|point| point.distance(position) <= distance).count();
        self.at = (self.at + near).min(self.points.len() - 1);
    }

    /// Returns the points after the one to which the agent walks.
    fn rest(&self) -> &[Vec3] {
        &self.points[self.at + 1..]
    }

    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        write(self.hash);
        write(self.at as u64 | u64::from(self.is_passed) << 32);
    }
}

impl Agents {
    /// Gives an agent a path on its mesh: it goes to the first point, and from each point to the
    /// next one. Points at its beginning at which the agent is already are left out. Returns
    /// false, and changes nothing, if there are no points, the first one has no ground, or the
    /// agent is lost or between the ground and a platform.
    pub fn follow_points(&mut self, agent: Handle, mesh: &NavigationMesh, points: &[Vec3]) -> bool {
        let Some(known) = self.slots.get_mut(agent) else { return false };
        let is_crossing = known.ride.is_some_and(|ride| ride.is_crossing());
        if points.is_empty() || known.state == AgentState::Lost || is_crossing {
            return false;
        }
        let mut waypoints = Waypoints::new(points);
        waypoints.pass_near(known.at.position, known.settings.radius * PASSED_RADII);
        let Some(first) = mesh.snap(points[waypoints.at]) else { return false };
        (known.target, known.ride) = (None, None);
        self.send(agent, first);
        self.give_waypoints(agent, Some(waypoints).filter(|known| !known.rest().is_empty()));
        true
    }

    /// Gives an agent that was sent to a waypoint those after it.
    pub(super) fn give_waypoints(&mut self, agent: Handle, waypoints: Option<Waypoints>) {
        if let Some(agent) = self.slots.get_mut(agent) {
            agent.waypoints = waypoints;
        }
    }

    /// Sends the agents that are listed, and have come to a waypoint, to the next one. Points that
    /// have no ground any more are left out, one in an update.
    pub(super) fn advance_waypoints(&mut self, mesh: &NavigationMesh) {
        for at in 0..self.rows.len() {
            let row = self.rows[at] as usize;
            let agent = self.slots.at_mut(row).expect("it was listed");
            // The ground of the waypoint can have been taken away, and all ground near it.
            let has_no_ground = agent.destination.is_none();
            // One that is lost goes on when it is on the ground again.
            let can_go_on = agent.state != AgentState::Lost;
            let passed =
                agent.waypoints.take_if(|known| can_go_on && (known.is_passed || has_no_ground));
            let Some(mut waypoints) = passed else { continue };
            waypoints.at += 1;
            waypoints.is_passed = false;
            waypoints.pass_near(agent.at.position, agent.settings.radius * PASSED_RADII);
            let (point, is_last) = (waypoints.points[waypoints.at], waypoints.rest().is_empty());
            if !is_last && nearest_ground(mesh, point).is_none() {
                waypoints.is_passed = true;
                agent.waypoints = Some(waypoints);
                continue;
            }
            let Some(handle) = self.slots.handle_at(row) else { continue };
            self.send_again_to(mesh, handle, point);
            self.give_waypoints(handle, (!is_last).then_some(waypoints));
        }
    }
}

impl Agent {
    /// Returns true if the agent goes on at the end of its path without a stop.
    pub(super) fn passes_end(&self) -> bool {
        let is_pending = self.request.is_some_and(|request| !request.is_repair);
        self.waypoints.is_some() && !is_pending
    }

    /// Notes that the agent has come to its waypoint. Returns false if it has come to its
    /// destination.
    pub(super) fn pass_waypoint(&mut self) -> bool {
        self.waypoints.as_mut().map(|known| known.is_passed = true).is_some()
    }

    /// Returns the points of its path after the one to which it walks.
    pub(super) fn next_waypoints(&self) -> &[Vec3] {
        self.waypoints.as_ref().map_or(&[], Waypoints::rest)
    }

    /// Returns the length of the part of its path that is after the point to which it walks.
    pub(super) fn waypoints_length(&self) -> f32 {
        let legs = std::iter::once(&self.end).chain(self.next_waypoints());
        legs.zip(self.next_waypoints()).map(|(from, to)| from.distance(*to)).sum()
    }

    /// Returns the last point that it was sent to, on its mesh: that of its path, if it was given
    /// one.
    pub fn last_wanted_point(&self) -> Option<Vec3> {
        self.next_waypoints().last().copied().or_else(|| self.wanted_point())
    }
}
