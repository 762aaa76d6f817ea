//! The engine: a Lua-first game runtime. A game is a folder of Lua and resources. This library
//! re-exports the crates below it, under the names that ARCHITECTURE.md uses.

#[cfg(all(feature = "desktop", not(feature = "development")))]
compile_error!(
    "the feature `desktop` needs the feature `development`: without it, the shaders of bundles are \
     not checked, and a renderer would give them to the graphics driver"
);

pub use engine_app as app;
pub use engine_command as command;
pub use engine_command::cli;
pub use engine_content as content;
pub use engine_foundation as foundation;
pub use engine_foundation::{counter, doing, error, error_line, insist, owner, print_line, scope};
pub use engine_frame_packet as frame_packet;
pub use engine_package as package;
pub use engine_platform as platform;
pub use engine_resource as resource;
pub use engine_runtime as engine;
pub use engine_script as script;
pub use engine_world as world;

/// The systems, each a crate of its own.
pub mod system {
    pub use engine_animation as animation;
    pub use engine_flow as flow;
    pub use engine_gui as gui;
    pub use engine_input as input;
    pub use engine_materials as materials;
    pub use engine_models as models;
    pub use engine_navigation as navigation;
    pub use engine_particles as particles;
    pub use engine_physics as physics;
    pub use engine_remote as remote;
    pub use engine_render as render;
    pub use engine_sound as sound;
    pub use engine_text as text;
    pub use engine_textures as textures;
    pub use engine_tilemaps as tilemaps;
    pub use engine_time_step as time_step;
    pub use engine_window as window;
    pub use engine_workers as workers;
}
