//! What exists in a game: worlds, and their time. Units come into them with their components.

pub mod broadphase;
pub mod camera;
pub mod component;
pub mod level;
pub mod level_resource;
pub mod light;
pub mod lines;
pub mod mesh;
pub mod mesh_part;
pub mod model;
pub mod physics;
pub mod scene;
pub mod spline;
pub mod sprite;
pub mod sprite_part;
pub mod unit;
pub mod unit_check;
pub mod unit_map;
mod unit_nodes;
pub mod unit_resource;
pub mod volume;

use crate::foundation::Handle;

/// The handle of a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldId(pub Handle);

/// The most worlds that can be there at once.
pub const WORLDS_MAX: usize = 64;

/// The systems of a world's update. They run as tasks (src/engine/update.rs), and each has a
/// setting for its priority (`tasks.priorities`).
pub const SYSTEMS: [&str; 4] = ["physics", "scene_graph", "sprites", "particles"];

/// One world: a place that is updated and shown by itself.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Seconds of game time since it was made: the sum of its steps.
    pub time: f64,
    /// Seconds of its last step.
    pub delta: f64,
    pub flags: WorldFlags,
}

/// What a world is made with, or without.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorldFlags {
    /// Nothing falls or collides.
    pub no_physics: bool,
    /// Steps of physics run beside scripts and rendering, and are seen one update later.
    pub pipelined_physics: bool,
    /// Bodies stay in the plane of x and y.
    pub flat: bool,
    /// It is never shown.
    pub no_rendering: bool,
    /// Nothing is heard of it.
    pub no_sound: bool,
}

impl World {
    /// Moves its time on. That comes first in an update: scripts in it read the time at its end.
    pub fn begin_update(&mut self, delta: f64) {
        self.time += delta;
        self.delta = delta;
    }
}
