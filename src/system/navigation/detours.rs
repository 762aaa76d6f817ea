//! Ways around what the mesh does not know: physics holds a character back, and so its agent makes
//! no progress. It steps aside and walks on, farther each time and on the other side, before it
//! searches its way again. If that does not help either, it is blocked for some seconds. So is an
//! agent before others who stand in its way and do not make way for it.

use super::agent::{Agent, AgentState, STUCK_SECONDS};
use super::mesh::{NavigationMesh, NearestPolygon};
use super::path::PolygonPath;
use super::steering::Steering;
use engine_foundation::{Vec2, Vec3};

/// Part of its way that physics takes from an agent which counts as held back, and the seconds of
/// that after which it may go around.
const HELD_PART: f32 = 0.5;
pub(super) const HELD_SECONDS: f32 = 0.5;
/// Searches without success, before an agent goes around for the first time.
const REPAIRS: f32 = 3.0;
/// Number of times that an agent tries to get around something, before it is blocked.
const DETOURS_MAX: u8 = 6;
/// Way to the side of the first two times, in radii; twice as far in each two that follow. The way
/// on is twice that.
const SIDESTEP_RADII: f32 = 3.0;
/// Seconds without being held back after which an agent has got around.
const FREE_SECONDS: f32 = 3.0;
/// Seconds for which an agent is blocked before it tries again.
const RETRY_SECONDS: f32 = 4.0;
/// Seconds without progress after which an agent is blocked by others who do not make way, and
/// those if it was blocked by them before and has tried again.
const BLOCKED_SECONDS: f32 = 5.0;
const BLOCKED_AGAIN_SECONDS: f32 = 1.0;
/// Distance between destinations that are the same for an agent on a detour, in radii: it can
/// follow something that moves.
const SAME_RADII: f32 = 2.0;
/// Seconds without progress after which a part of a detour is given up.
const LEG_SECONDS: f32 = 0.4;

/// Way around something.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Detour {
    /// Points to the side, and past it.
    legs: [Vec3; 2],
    /// Leg on which the agent is, and the seconds that are left for it.
    at: usize,
    seconds: f32,
}

/// Knowledge of an agent about obstacles that hold it back.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Obstruction {
    /// Way against its direction that physics has moved it since its last step, in metres.
    pub back: f32,
    /// Seconds for which it is held back, and those since it was last.
    pub seconds: f32,
    free: f32,
    pub detour: Option<Detour>,
    /// Number of detours, and the side of the last one.
    count: u8,
    side: f32,
    /// Seconds until a blocked agent tries again.
    wait: f32,
    /// Direction to others that have blocked it; zero if none have.
    pub heading: Vec2,
}

impl Obstruction {
    /// Calls `write` with the numbers that make up the state; with none if nothing holds it back.
    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        if *self == Obstruction::default() {
            return;
        }
        let Vec2 { x, y } = self.heading;
        let numbers = [self.back, self.seconds, self.free, self.side, self.wait, x, y];
        numbers.into_iter().for_each(|number| write(u64::from(number.to_bits())));
        write(u64::from(self.count));
        if let Some(Detour { legs, at, seconds }) = self.detour {
            let numbers = legs.map(|leg| leg.to_array());
            let numbers = numbers.as_flattened().iter();
            numbers.for_each(|number| write(u64::from(number.to_bits())));
            write((at as u64) << 32 | u64::from(seconds.to_bits()));
        }
    }
}

impl Agent {
    /// Notes for a step of `step` seconds whether physics holds the agent back. `wanted` is the way
    /// that it wanted to go. Those behind others wait for them, also where the characters touch.
    pub(super) fn note_held(&mut self, wanted: f32, result: &Steering, step: f32) {
        let held = &mut self.obstruction;
        if wanted > 0.0 && held.back > wanted * HELD_PART && !result.is_behind {
            held.seconds += step;
            held.free = 0.0;
        } else {
            held.seconds = (held.seconds - step * 2.0).max(0.0);
            held.free += if held.count > 0 { step } else { 0.0 };
        }
        held.back = 0.0;
        if held.detour.is_none() && held.free > FREE_SECONDS {
            *held = Obstruction { seconds: held.seconds, ..Obstruction::default() };
        }
    }

    /// Forgets what held the agent back, if it is sent somewhere else than before. Returns false
    /// then.
    pub(super) fn note_new_destination(&mut self, destination: NearestPolygon) -> bool {
        let away = |before: NearestPolygon| before.position.distance(destination.position);
        let is_same =
            self.destination.is_some_and(|at| away(at) <= self.settings.radius * SAME_RADII);
        if !is_same || self.state == AgentState::Blocked {
            self.obstruction = Obstruction::default();
        }
        is_same
    }

    /// Returns true if physics or others hold the agent back, or have until it gave up.
    pub fn is_held(&self) -> bool {
        self.state == AgentState::Blocked || self.obstruction.seconds >= HELD_SECONDS
    }

    /// Returns the point to which a detour leads the agent.
    pub(super) fn detour_point(&self) -> Option<Vec3> {
        self.obstruction.detour.map(|detour| detour.legs[detour.at])
    }

    /// Begins a detour, for an agent that has made no progress for `stuck_seconds`. Returns false
    /// if it has no reason for one.
    pub(super) fn begin_detour(&mut self, mesh: &NavigationMesh) -> bool {
        let repairs = if self.obstruction.count == 0 { REPAIRS } else { 1.0 };
        let heading = self.desired.normalize_or_zero();
        let is_alone = self.leader.is_none() && self.traversal.is_none() && self.ride.is_none();
        if !is_alone
            || self.obstruction.seconds < HELD_SECONDS
            || self.stuck_seconds < STUCK_SECONDS * repairs
            || heading == Vec2::ZERO
        {
            return false;
        }
        if self.obstruction.count >= DETOURS_MAX {
            self.block();
            return true;
        }
        let radius = self.settings.radius;
        let width = radius * SIDESTEP_RADII * f32::from(1u8 << (self.obstruction.count / 2));
        let right = Vec2::new(heading.y, -heading.x);
        let aside = |side: f32| mesh.slide(self.at, right * (side * width) - heading * radius);
        let room = |side: f32| aside(side).position.distance(self.at.position);
        let side = match self.obstruction.count % 2 {
            0 if room(1.0) + radius >= room(-1.0) => 1.0,
            0 => -1.0,
            _ => -self.obstruction.side,
        };
        let first = aside(side);
        let second = mesh.slide(first, heading * (width * 2.0 + radius));
        self.obstruction.count += 1;
        self.obstruction.side = side;
        self.obstruction.detour = Some(Detour {
            legs: [first.position, second.position],
            at: 0,
            seconds: self.leg_seconds(first.position),
        });
        self.obstruction.seconds = 0.0;
        // Its character stands. Without this, it would walk on into what holds it back.
        self.velocity = Vec2::ZERO;
        self.restart_progress();
        true
    }

    /// Stops the agent, which tries again after some seconds.
    pub(super) fn block(&mut self) {
        self.stop(AgentState::Blocked);
        self.velocity = Vec2::ZERO;
        self.obstruction = Obstruction { wait: RETRY_SECONDS, ..Obstruction::default() };
    }

    /// Returns the seconds within which an agent comes to a point, if nothing holds it back.
    fn leg_seconds(&self, point: Vec3) -> f32 {
        let speed = self.settings.speed.max(0.01);
        0.5 + 2.0 * self.at.position.distance(point) / speed
    }

    /// Goes on with a detour after a step. At its end, the agent searches its way again.
    pub(super) fn follow_detour(&mut self, mut detour: Detour, step: f32) {
        detour.seconds -= step;
        let left = detour.legs[detour.at].truncate().distance(self.at.position.truncate());
        let is_over = left <= self.settings.radius * 0.5
            || detour.seconds <= 0.0
            || self.stuck_seconds > LEG_SECONDS;
        if is_over && detour.at + 1 < detour.legs.len() {
            detour.at += 1;
            detour.seconds = self.leg_seconds(detour.legs[detour.at]);
            self.velocity = Vec2::ZERO;
            self.restart_progress();
        } else if is_over {
            self.obstruction.detour = None;
            self.path = PolygonPath::default();
            self.state = AgentState::Waiting;
            self.velocity = Vec2::ZERO;
            self.restart_progress();
            return;
        }
        self.obstruction.detour = Some(detour);
    }

    /// Blocks the agent if others stand in its way and do not make way, and has a blocked one try
    /// again after some seconds, or as soon as they are gone.
    pub(super) fn update_blocked(&mut self, result: &Steering, step: f32) {
        let was_blocked = self.obstruction.heading != Vec2::ZERO;
        if self.state == AgentState::Blocked {
            self.obstruction.wait -= step;
            let is_free = was_blocked && !result.is_obstructed;
            if (self.obstruction.wait <= 0.0 || is_free) && self.destination.is_some() {
                self.state = AgentState::Waiting;
            }
        } else if self.state == AgentState::Moving && result.is_obstructed {
            let is_alone = self.leader.is_none() && self.ride.is_none();
            let most = if was_blocked { BLOCKED_AGAIN_SECONDS } else { BLOCKED_SECONDS };
            if is_alone && self.stuck_seconds > most {
                let heading = self.desired.normalize_or_zero();
                self.block();
                self.obstruction.heading = heading;
            }
        } else if self.state == AgentState::Moving {
            self.obstruction.heading = Vec2::ZERO;
        }
    }
}
