//! Agents on links: a jump of their own along an arc, or a wait until a script has moved them.

use super::agent::{Agent, AgentState};
use super::mesh::{NavigationMesh, NearestPolygon};
use super::search::PolygonPath;
use super::sight::jump_point;
use super::volumes::Renumbering;
use engine_foundation::Vec3;

/// Distance from the start of a link at which an agent is on it, in radii.
const START_RADII: f32 = 0.5;
/// Distance from the start of a link at which an agent is in the queue for it, in radii.
const QUEUE_RADII: f32 = 8.0;
/// Number of the traversal of an agent that gets on or off a platform.
const NO_LINK: u32 = 0;
/// Version of the mesh of paths that have to be searched again.
const OUTDATED: u32 = u32::MAX;

/// Use of a link by an agent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Traversal {
    pub number: u32,
    start: Vec3,
    end: NearestPolygon,
    is_manual: bool,
    /// Part of the way, 0 to 1, and its change in a second.
    pub part: f32,
    rate: f32,
}

impl Traversal {
    /// Makes the traversal of an agent that something else moves, on no link.
    pub fn waiting(at: NearestPolygon) -> Traversal {
        let (start, end) = (at.position, at);
        Traversal { number: NO_LINK, start, end, is_manual: true, part: 0.0, rate: 0.0 }
    }
}

impl Agent {
    /// Returns the number of the link that the agent is on.
    pub fn link(&self) -> Option<u32> {
        let number = self.traversal.map(|traversal| traversal.number);
        number.filter(|number| *number != NO_LINK)
    }

    /// Returns true if the agent is on its way through the air. One that waits on a manual link for
    /// a script still stands on the ground at its start.
    pub(super) fn has_left_ground(&self) -> bool {
        self.traversal.is_some_and(|traversal| !traversal.is_manual)
    }

    /// Enters the link that comes next on the path, if its start is reached.
    pub(super) fn enter_link(&mut self, mesh: &NavigationMesh, step: f32) {
        self.queue = (0, 0);
        let Some(jump) = self.path.next_jump(mesh) else { return };
        let flat = self.at.position.truncate().distance(jump.start.truncate());
        let reach = (self.settings.radius * START_RADII).max(self.settings.speed * step);
        if flat <= self.settings.radius * QUEUE_RADII {
            self.queue = (jump.number, (flat * 1000.0) as u32);
        }
        let is_closed = jump.cost == f32::INFINITY || !mesh.is_open(self.path.polygons[1]);
        if flat > reach || is_closed {
            return;
        }
        let length = self.at.position.distance(jump.end);
        let end = NearestPolygon { polygon: self.path.polygons[1], position: jump.end };
        self.traversal = Some(Traversal {
            number: jump.number,
            start: self.at.position,
            end,
            is_manual: jump.is_manual,
            part: 0.0,
            rate: self.settings.speed.max(0.1) / length.max(1e-3),
        });
        self.state = AgentState::Linking;
        self.stuck_seconds = 0.0;
    }

    /// Moves an agent along its link.
    pub(super) fn follow_link(&mut self, traversal: Traversal, step: f32) {
        if traversal.is_manual {
            if !self.ride.is_some_and(|ride| ride.is_crossing()) {
                self.velocity = Default::default();
            }
            return;
        }
        let part = traversal.part + traversal.rate * step;
        if part >= 1.0 {
            self.leave_link();
            return;
        }
        let (start, end) = (traversal.start, traversal.end.position);
        self.at.position = jump_point(start, end, part);
        self.velocity = (end - start).truncate() * traversal.rate;
        self.traversal = Some(Traversal { part, ..traversal });
    }

    /// Puts an agent at the end of its link, from which it goes on. Returns false if it is on none.
    pub fn leave_link(&mut self) -> bool {
        let Some(traversal) = self.traversal.take_if(|of| of.number != NO_LINK) else {
            return false;
        };
        self.at = traversal.end;
        if self.destination.is_none() {
            self.wait_for_ground();
        } else if self.path.polygons.get(1) == Some(&self.at.polygon) {
            self.path.drop_first(1);
            self.state = AgentState::Moving;
        } else {
            self.path = PolygonPath::default();
            self.state = AgentState::Waiting;
        }
        true
    }

    /// Returns true if the agent stands at the start of a manual link, until a script moves it.
    pub fn waits_on_link(&self) -> bool {
        self.traversal.is_some_and(|of| of.is_manual && of.number != NO_LINK)
    }

    /// Takes an agent off a manual link, at whose start it stands.
    pub(super) fn abandon_link(&mut self) {
        if self.waits_on_link() {
            self.traversal = None;
        }
    }

    /// Has the way of an agent on a link searched when it has left the link.
    pub(super) fn search_after_link(&mut self) {
        self.version = OUTDATED;
    }

    /// Has the path searched again in the next update.
    pub(super) fn search_again(&mut self) {
        self.version = OUTDATED;
    }

    /// Gives the polygons of a link their new numbers. Returns false if its end has no ground any
    /// more.
    pub(super) fn renumber_link(
        &mut self,
        renumbering: &Renumbering,
        nearest: impl Fn(Vec3) -> Option<NearestPolygon>,
    ) -> bool {
        let Some(traversal) = &mut self.traversal else { return true };
        let end = traversal.end;
        let moved = match renumbering.polygon(end.polygon) {
            Some(polygon) => Some(NearestPolygon { polygon, ..end }),
            None => nearest(end.position),
        };
        let Some(moved) = moved else { return false };
        traversal.end = moved;
        // One that waits at the start stands on the ground there.
        let is_on_ground = traversal.is_manual && traversal.number != NO_LINK;
        let known = renumbering.polygon(self.at.polygon);
        let known = known.map(|polygon| NearestPolygon { polygon, ..self.at });
        let ground = known.or_else(|| nearest(self.at.position).filter(|_| is_on_ground));
        self.at = ground.unwrap_or(NearestPolygon { polygon: moved.polygon, ..self.at });
        true
    }
}
