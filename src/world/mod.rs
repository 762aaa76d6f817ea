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
pub mod unit;
pub mod unit_resource;
pub mod volume;

use crate::foundation::tasks::Pool;
use crate::foundation::{Error, Handle};

/// The handle of a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldId(pub Handle);

/// The most worlds that can be there at once.
pub const WORLDS_MAX: usize = 64;

/// The systems of a world's update. They run as tasks, and each has a setting for its priority
/// (`tasks.priorities`).
pub const SYSTEMS: [&str; 4] = ["time", "physics", "scene_graph", "particles"];

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
    /// Bodies stay in the plane of x and y.
    pub flat: bool,
    /// It is never shown.
    pub no_rendering: bool,
    /// Nothing is heard of it.
    pub no_sound: bool,
}

impl World {
    /// How many things the largest of its systems goes over: few are not worth other threads.
    fn items(&self) -> usize {
        1
    }

    /// Moves everything in the world on by `delta` seconds: the table of its systems, each with
    /// what it reads and writes. The order of running follows from that, see
    /// [`Systems`](crate::foundation::tasks::systems::Systems).
    ///
    /// # Errors
    /// That of the first system that failed.
    pub fn update(&mut self, delta: f64, pool: &Pool) -> Result<(), Error> {
        let items = self.items();
        let World { time, delta: step, .. } = self;
        pool.frame(items, |frame| {
            let (time, step) = (frame.part("time", time), frame.part("step", step));
            frame.system("time", (time.write(), step.write()), move |(time, step)| {
                *time += delta;
                *step = delta;
            });
        })
    }
}
