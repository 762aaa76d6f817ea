//! The current frame: its number and time, and the state that belongs to the run as a whole and to
//! no system.

use super::{CollectorSettings, GameHashes, OpenedGame};
use engine_foundation::random::Random;
use engine_time_step::TimeStepPolicy;
use std::time::{SystemTime, UNIX_EPOCH};

/// 2000-01-01, the start of the clock in a deterministic run.
const DETERMINISTIC_EPOCH: f64 = 946_684_800.0;

/// The current frame, and what decides about the next one.
pub struct Frame {
    /// Number of the current frame; the first is 1. 0 during `init`.
    pub index: u64,
    /// Seconds by which the current frame advances the game.
    pub delta: f64,
    /// Seconds of game time since the launch: the sum of all steps.
    pub total: f64,
    pub time_step: TimeStepPolicy,
    /// Generator of the game's random numbers.
    pub random: Random,
    pub collection: CollectorSettings,
    /// Hashes that the game computed in this frame.
    pub game_hash: GameHashes,
    /// Exit code, set when the game requests to quit.
    pub quit: Option<i32>,
    /// True if the game restarts after this frame.
    pub restart: bool,
}

impl Frame {
    /// Returns the state before the first frame, with the seed of the game's random numbers.
    pub(super) fn new(seed: u64) -> Frame {
        Frame {
            index: 0,
            delta: 0.0,
            total: 0.0,
            time_step: TimeStepPolicy::default(),
            random: Random::seed(seed),
            collection: CollectorSettings::DEFAULT,
            game_hash: GameHashes::default(),
            quit: None,
            restart: false,
        }
    }

    /// Returns seconds since 1970, from the system clock, or from the game's own clock in a
    /// deterministic run.
    pub fn clock(&self, game: &OpenedGame) -> f64 {
        if game.deterministic {
            return DETERMINISTIC_EPOCH + self.total;
        }
        // A clock before 1970 counts as 1970.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
    }
}
