//! What exists in a game: worlds, and their time. Units come into them with their components.

use crate::foundation::Handle;

/// The handle of a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldId(pub Handle);

/// The most worlds that can be there at once.
pub const WORLDS_MAX: usize = 64;

/// One world: a place that is updated and shown by itself.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Seconds of game time since it was made: the sum of its steps.
    pub time: f64,
    /// Seconds of its last step.
    pub delta: f64,
}

impl World {
    /// Moves everything in the world on by `delta` seconds.
    pub fn update(&mut self, delta: f64) {
        self.time += delta;
        self.delta = delta;
    }
}
