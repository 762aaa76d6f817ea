//! The engine's functions for scripts, one file for each Lua module, and the one list of them.

mod actor;
mod actor_material;
mod actor_unit;
mod application;
mod broadphase;
mod camera;
pub mod core;
mod debug;
mod device;
pub mod disk;
mod gui;
pub mod gui_fast;
mod gui_text;
mod input;
mod joint;
mod keyboard;
mod level;
mod level_resource;
mod light;
mod material;
mod math;
mod memory;
mod mesh;
mod mesh_make;
mod mesh_unit;
mod mouse;
mod mover;
mod package;
mod pad;
mod particles;
pub mod physics_fast;
mod physics_questions;
mod physics_world;
pub mod profiler;
mod rumble;
mod save;
mod sound;
mod sound_args;
mod sound_world;
mod sprite;
mod sprite_paint;
pub mod stats;
mod texture;
mod tilemap;
mod tools;
mod touch;
mod unit;
mod unit_nodes;
mod unit_resource;
mod viewport;
mod window;
mod window_devices;
mod window_open;
mod worker;
mod world;
mod world_units;

use super::row::Module;

pub use device::class_of;
pub use input::{device_name, device_of};
pub use window_open::ended_window;

/// Every module with functions in Rust. The prelude's Lua adds functions to some, and modules of
/// its own (see prelude.rs).
pub const MODULES: &[&Module] = &[
    &actor::ACTOR,
    &actor_material::ACTOR,
    &application::APPLICATION,
    &broadphase::BROADPHASE,
    &camera::CAMERA,
    &debug::DEBUG,
    &debug::LINE_OBJECT,
    &gui::GUI,
    &gui::GUI_OBJECT,
    &input::INPUT,
    &joint::JOINT,
    &keyboard::KEYBOARD_MODULE,
    &level::LEVEL,
    &level_resource::LEVEL_RESOURCE,
    &light::LIGHT,
    &material::MATERIAL,
    &math::MATH,
    &memory::MEMORY,
    &mesh::MESH,
    &mouse::MOUSE_MODULE,
    &mover::MOVER,
    &package::PACKAGE,
    &pad::PAD_1,
    &pad::PAD_2,
    &pad::PAD_3,
    &pad::PAD_4,
    &pad::PAD_5,
    &pad::PAD_6,
    &pad::PAD_7,
    &pad::PAD_8,
    &physics_world::PHYSICS_WORLD,
    &profiler::PROFILER,
    &save::SAVE,
    &sound::SOUND,
    &sound_world::SOUND_WORLD,
    &sound::VOICE,
    &sprite::SPRITE,
    &sprite::TILEMAP,
    &sprite::UNIT,
    &sprite_paint::SPRITE,
    &sprite_paint::TILEMAP,
    &stats::STATS,
    &texture::TEXTURE,
    &tilemap::TILEMAP,
    &touch::TOUCH_MODULE,
    &unit::UNIT,
    &mesh_unit::UNIT,
    &unit_nodes::UNIT,
    &unit_resource::UNIT_RESOURCE,
    &viewport::VIEWPORT,
    &window::WINDOW,
    &worker::MODULE,
    &world::WORLD,
    &world_units::WORLD,
];

/// What the prelude alone can call, in its table `core`.
pub const CORE_MODULES: &[&Module] = &[
    &actor_unit::CORE,
    &core::CORE,
    &broadphase::CORE,
    &camera::CORE,
    &gui::CORE,
    &gui::GUI_CORE,
    &gui::WORLD_CORE,
    &joint::UNIT_CORE,
    &level::CORE,
    &light::CORE,
    &light::WORLD_CORE,
    &material::CORE,
    &mesh::CORE,
    &mesh_unit::CORE,
    &particles::GUI_CORE,
    &mover::UNIT_CORE,
    &physics_questions::CORE,
    &physics_world::WORLD_CORE,
    &memory::CORE,
    &profiler::CORE,
    &sprite::CORE,
    &stats::CORE,
    &texture::CORE,
    &tilemap::CORE,
    &tools::CORE,
    &unit::UNIT_CORE,
    &unit::WORLD_CORE,
    &world::CORE,
];
