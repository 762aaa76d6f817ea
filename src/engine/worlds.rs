//! Worlds and the objects in them: units with their components, levels, physics, particles, cameras.
//! The Guis of worlds are in the drawing group, and the voices of their sounds in the device group.

use super::RenderScenes;
use engine_foundation::{HandleKind, Slots};
use engine_particles::Particles;
use engine_world::broadphase::{BROADPHASES_MAX, Broadphase};
use engine_world::camera::{CAMERAS_MAX, Camera};
use engine_world::debug_lines::DebugLines;
use engine_world::level::Levels;
use engine_world::physics::PhysicsTables;
use engine_world::unit::Units;
use engine_world::{WORLDS_MAX, World, WorldId};

/// All worlds, and the objects that live in them.
pub struct Worlds {
    pub slots: Slots<World>,
    /// The default world, created on the first request.
    pub main: Option<WorldId>,
    pub units: Units,
    pub physics: PhysicsTables,
    pub levels: Levels,
    pub broadphases: Slots<Broadphase>,
    /// Render scenes of the worlds.
    pub scenes: RenderScenes,
    /// Particle effects in worlds and in Guis.
    pub particles: Particles,
    pub cameras: Slots<Camera>,
    /// Debug lines and debug texts.
    pub lines: DebugLines,
}

impl Worlds {
    /// Returns the state without any world. `seed` is the seed of particles.
    pub(super) fn new(seed: u64) -> Worlds {
        Worlds {
            slots: Slots::new(HandleKind::World, WORLDS_MAX),
            main: None,
            units: Units::default(),
            physics: PhysicsTables::default(),
            levels: Levels::default(),
            broadphases: Slots::new(HandleKind::Broadphase, BROADPHASES_MAX),
            scenes: RenderScenes::default(),
            particles: Particles::new(seed),
            cameras: Slots::new(HandleKind::Camera, CAMERAS_MAX),
            lines: DebugLines::default(),
        }
    }
}
