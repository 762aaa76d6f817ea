//! Agents at rest: those that others have pushed away walk back, and those that have arrived off
//! their destination, because others were on it, try to get there again.

use super::agent::{Agent, AgentState};

/// Distance by which others push an agent away before it walks back, in radii.
const RETURN_RADII: f32 = 3.0;
/// The same for one that waits for a platform: its place is beside the way of the others.
const WAITING_RADII: f32 = 1.0;
/// Distance from its destination, in radii, at which an agent rests for good.
const NEAR_RADII: f32 = 1.0;
/// Seconds of rest before the first try to come nearer, and by which each following rest is longer:
/// others get to their destinations meanwhile.
const TRY_SECONDS: f32 = 3.0;
/// Tries to come nearer.
const TRIES_MAX: u8 = 8;

/// State of an agent at rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rest {
    /// Seconds since it has arrived.
    seconds: f32,
    tries: u8,
    /// True if it may come nearer: nobody near it was sent to its destination when it arrived.
    is_owner: bool,
    /// True while it tries to come nearer. It has arrived all the same.
    is_returning: bool,
}

impl Rest {
    /// Begins with the arrival of an agent.
    pub fn begin(&mut self, is_owner: bool) {
        (self.seconds, self.is_owner) = (0.0, is_owner);
    }

    /// Returns true while the agent tries to come nearer.
    pub fn is_returning(&self) -> bool {
        self.is_returning
    }

    /// Ends all tries: there is no way nearer.
    pub fn give_up(&mut self) {
        self.is_owner = false;
    }

    /// Ends the try to come nearer.
    pub fn end_return(&mut self) {
        self.is_returning = false;
    }

    /// Calls `write` with the numbers that make up the state.
    pub fn write_state(&self, mut write: impl FnMut(u64)) {
        let flags = u64::from(self.is_owner) << 40 | u64::from(self.is_returning) << 41;
        write(u64::from(self.seconds.to_bits()) | u64::from(self.tries) << 32 | flags);
    }
}

impl Agent {
    /// Sends an agent at rest back to its destination: if others have pushed it away from where it
    /// arrived, or after a time if that was not near.
    pub(super) fn return_to_end(&mut self, step: f32) {
        let Some(destination) = self.destination else { return };
        if self.state != AgentState::Arrived || self.leader.is_some() {
            return;
        }
        let (position, radius) = (self.at.position.truncate(), self.settings.radius);
        let radii = if self.ride.is_some() { WAITING_RADII } else { RETURN_RADII };
        let is_pushed = self.end.truncate().distance(position) > radius * radii;
        self.rest.seconds += step;
        let Rest { seconds, tries, is_owner, .. } = self.rest;
        let has_waited = seconds > TRY_SECONDS * f32::from(tries + 1);
        let left = destination.position.truncate().distance(position);
        let tries_again = is_owner && tries < TRIES_MAX && has_waited && left > radius * NEAR_RADII;
        if is_pushed || tries_again {
            self.rest.tries += u8::from(!is_pushed);
            self.rest.is_returning = !is_pushed;
            self.state = AgentState::Waiting;
        }
    }
}
