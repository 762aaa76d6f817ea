//! Worlds of a game and their time, and the units, components and levels in them.

pub mod agent_component;
pub mod animation;
pub mod broadphase;
pub mod camera;
pub mod camera_component;
pub mod component;
mod component_fields;
pub mod component_table;
pub mod debug_lines;
pub mod decal;
pub mod decal_component;
pub mod environment;
pub mod instance_table;
pub mod level;
pub mod level_navigation;
pub mod level_resource;
pub mod level_update;
pub mod light;
pub mod light_component;
pub mod light_occluder;
pub mod light_occluder_component;
pub mod mesh;
pub mod mesh_component;
pub mod model_resource;
pub mod navigation_file;
mod node_order;
pub mod particles_component;
pub mod physics;
pub mod reflection_probe;
pub mod render_scenes;
pub mod scene_graph;
pub mod shading;
pub mod skeleton_file;
pub mod sound_component;
pub mod spline;
pub mod sprite;
pub mod sprite_component;
pub mod sprite_sequence;
pub mod sprite_skeleton;
pub mod sprite_skeleton_component;
pub mod tilemap;
pub mod tilemap_collision;
pub mod tilemap_component;
pub mod tilemap_solids;
pub mod unit;
mod unit_agent_snapshot;
pub mod unit_compiler;
pub mod unit_resource;
pub mod unit_template;
mod viewing_cameras;
pub mod volume;

use engine_foundation::Handle;
pub use viewing_cameras::ViewingCameras;

/// Handle of a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldId(pub Handle);

/// Maximum number of worlds at one time.
pub const WORLDS_MAX: usize = 64;

/// Systems of a world's update. They run as tasks (src/engine/world_update.rs), and each one has a
/// setting for its priority (`tasks.priorities`).
pub const UPDATE_SYSTEMS: [&str; 5] =
    ["physics", "animation", "scene_graph", "sprites", "particles"];

/// A world: an independent space that is updated and rendered separately.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Seconds of game time since the world was created: the sum of its steps.
    pub time: f64,
    /// Duration of the last step in seconds.
    pub delta: f64,
    pub flags: WorldFlags,
    /// Camera of a two-dimensional world, created on the first request.
    pub camera: Option<camera::CameraId>,
    /// Cameras that show the world.
    pub viewing: ViewingCameras,
}

/// Options at the creation of a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorldFlags {
    /// No physics: no gravity and no collisions.
    pub no_physics: bool,
    /// Physics steps run in parallel with scripts and rendering, and become visible one update
    /// later.
    pub pipelined_physics: bool,
    /// The world is two-dimensional: bodies stay in the plane of x and y, and up is y.
    pub flat: bool,
    /// The world is never rendered.
    pub no_rendering: bool,
    /// Sounds triggered in the world are not played.
    pub no_sound: bool,
    /// No default sky and sun.
    pub no_sky: bool,
}

impl World {
    /// Advances the world's time. This is the first action of an update, so scripts in the update
    /// read the time at its end.
    pub fn begin_update(&mut self, delta: f64) {
        self.time += delta;
        self.delta = delta;
    }
}
