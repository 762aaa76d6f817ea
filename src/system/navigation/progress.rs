//! Progress of agents: the time for which they come no nearer to their destinations, which begins
//! searches for other ways. Those who make way for others walk over the same ground again.

use super::agent::{Agent, CLAIM_MAX, REPAIR_SECONDS};
use super::passages::Turn;
use super::steering::Steering;

/// Duration of the average of [`Agent::slowed`].
const SLOWED_SECONDS: f32 = 0.5;
/// Advance that counts as progress: the way of so many seconds at full speed, at most a part of the
/// radius.
const PROGRESS_SECONDS: f32 = 0.1;
const PROGRESS_RADII: f32 = 0.5;
/// Distance that counts as a detour, in radii, and the seconds for which a detour may last.
const DETOUR_RADII: f32 = 1.0;
const DETOUR_SECONDS: f32 = 3.0;

/// Ground that an agent has given up to make way for others. The way back over it counts as
/// progress once: those who are sent back again and again come no nearer.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct CededGround {
    /// Way to where it was before, in metres; the longest one, and how much has counted.
    behind: f32,
    longest: f32,
    counted: f32,
    /// Way over new ground since then; below 0 if it was pushed back.
    beyond: f32,
}

impl CededGround {
    /// Adds the way of a step toward the destination. Returns the part of it that counts.
    fn add(&mut self, toward: f32, is_making_way: bool) -> f32 {
        if is_making_way && toward < 0.0 {
            self.behind -= toward;
            self.longest = self.longest.max(self.behind);
            return 0.0;
        }
        if self.longest <= 0.0 {
            return toward;
        }
        let again = toward.clamp(0.0, self.behind);
        self.behind -= again;
        self.beyond += toward - again;
        let counts = again.min(self.longest - self.counted);
        self.counted += counts;
        toward - again + counts
    }

    /// Forgets the ground if the agent has come farther than before.
    fn pass(&mut self, progress: f32, radius: f32) {
        self.beyond = self.beyond.max(-radius);
        if self.beyond >= progress {
            *self = CededGround::default();
        }
    }

    /// Calls `write` with the numbers that make up the state; with none if no ground was given up.
    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        if *self != CededGround::default() {
            let numbers = [self.behind, self.longest, self.counted, self.beyond];
            numbers.into_iter().for_each(|number| write(u64::from(number.to_bits())));
        }
    }
}

impl Agent {
    /// Begins to measure the time without progress from here.
    pub(super) fn restart_progress(&mut self) {
        self.ceded_ground = CededGround::default();
        self.note_progress();
    }

    fn note_progress(&mut self) {
        self.stuck_seconds = 0.0;
        self.still_seconds = 0.0;
        self.advance = 0.0;
        self.anchor = self.at.position.truncate();
        self.repair_seconds = REPAIR_SECONDS;
    }

    /// Counts the time without progress. `toward` is the way toward the destination.
    pub(super) fn count_progress(&mut self, toward: f32, result: &Steering, step: f32) {
        let wanted = self.desired.length();
        let part = if wanted > 0.0 { toward / (wanted * step).max(1e-6) } else { 1.0 };
        self.claim = (self.claim - step).max(0.0);
        let slowed = (1.0 - part).clamp(0.0, 1.0) - self.slowed;
        self.slowed += slowed * (step / SLOWED_SECONDS).min(1.0);
        let radius = self.settings.radius;
        let progress = (radius * PROGRESS_RADII).min(self.settings.speed * PROGRESS_SECONDS);
        if wanted <= 0.0 {
            self.restart_progress();
            return;
        }
        let toward = self.ceded_ground.add(toward, matches!(self.turn, Turn::Retreat(_)));
        self.ceded_ground.pass(progress, radius);
        self.advance = (self.advance + toward).max(-radius);
        if self.advance >= progress {
            self.note_progress();
            return;
        }
        self.still_seconds += step;
        // An agent that walks around others is not stuck, unless it comes no nearer in that time.
        let position = self.at.position.truncate();
        if position.distance(self.anchor) > radius * DETOUR_RADII {
            self.anchor = position;
            if self.still_seconds < DETOUR_SECONDS {
                self.stuck_seconds = 0.0;
            }
        }
        self.stuck_seconds = self.stuck_seconds.min(result.line_seconds) + step;
        self.claim = self.claim.max(self.stuck_seconds).min(CLAIM_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{AgentSettings, STUCK_SECONDS};
    use crate::mesh::NearestPolygon;
    use engine_foundation::handle::{HandleKind, Slots};
    use engine_foundation::{Vec2, Vec3};

    const STEP: f32 = 1.0 / 60.0;

    /// Lets an agent walk on for some seconds, or back with a speed below 0, to make way. Returns
    /// the longest time for which it was stuck.
    fn walk(agent: &mut Agent, speed: f32, seconds: f32) -> f32 {
        // Those for whom it makes way get on.
        let (turn, line_seconds) = match speed < 0.0 {
            true => (Turn::Retreat(0.0), 0.0),
            false => (Turn::Free, f32::MAX),
        };
        (agent.turn, agent.desired) = (turn, Vec2::X * agent.settings.speed);
        let result = Steering { line_seconds, ..Steering::default() };
        let mut longest: f32 = 0.0;
        for _ in 0..(seconds / STEP) as u32 {
            agent.at.position.x += speed * STEP;
            agent.count_progress(speed * STEP, &result, STEP);
            longest = longest.max(agent.stuck_seconds);
        }
        longest
    }

    fn agent() -> Agent {
        let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
        let at = NearestPolygon { polygon: 0, position: Vec3::ZERO };
        let settings = AgentSettings { radius: 0.3, speed: 1.5, ..AgentSettings::DEFAULT };
        Agent::new(id, at, settings)
    }

    #[test]
    fn the_way_back_of_one_who_makes_way_counts_as_progress_once() {
        let mut agent = agent();
        walk(&mut agent, 1.5, 1.0);
        walk(&mut agent, -1.0, 4.0);
        assert!(walk(&mut agent, 1.5, 2.7) < 0.2, "the first time");
        walk(&mut agent, -1.0, 4.0);
        assert!(walk(&mut agent, 1.5, 2.0) > STUCK_SECONDS, "no more than before");
        // On new ground, it can make way again.
        assert!(agent.ceded_ground != CededGround::default());
        walk(&mut agent, 1.5, 1.0);
        assert_eq!((agent.stuck_seconds < 0.2, agent.ceded_ground), (true, CededGround::default()));
        walk(&mut agent, -1.0, 4.0);
        assert!(walk(&mut agent, 1.5, 2.5) < 0.2);
    }

    #[test]
    fn one_who_is_sent_back_again_and_again_searches_another_way() {
        let mut agent = agent();
        let mut repairs = 0;
        for _ in 0..20 {
            walk(&mut agent, -1.0, 1.5);
            repairs += u32::from(walk(&mut agent, 1.5, 1.0) > REPAIR_SECONDS);
        }
        assert!(repairs >= 15, "{repairs} of 20");
        assert!(agent.still_seconds > 20.0, "{}", agent.still_seconds);
    }
}
