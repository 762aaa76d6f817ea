//! The engine's functions for scripts, one file for each Lua module, and the list of all modules.

mod actor;
mod application;
mod blend_shape;
mod broadphase;
mod camera;
mod console;
mod debug;
mod decal;
mod diagnostics;
pub mod flow;
mod fog_volumes;
pub mod gui;
mod images;
mod input;
mod joint;
mod level;
pub mod lfs;
mod light;
mod light_flat;
mod light_layers;
mod light_occluder;
mod light_source;
mod material;
mod math;
mod memory;
mod mesh;
mod mover;
mod navigation;
mod orthographic;
mod particles;
pub mod physics_world;
pub mod prelude_core;
pub mod profiler;
mod remote;
mod render_settings;
mod renderer;
mod resource_package;
mod save;
mod script_names;
mod shading_environment;
mod sound;
mod sprite;
pub mod stats;
mod texture;
mod tilemap;
mod tilemap_bodies;
mod unit;
mod viewport;
mod window;
mod worker;
mod world;
mod world_sky;

use super::api_row::ModuleRows;

pub use input::device::class_of;
pub use input::{device_name, device_of};
pub use window::open::ended_window;

/// All modules with functions in Rust. The prelude's Lua adds functions to some of them, and
/// further modules (see prelude.rs).
pub const MODULES: &[&ModuleRows] = &[
    &actor::ACTOR,
    &actor::material::ACTOR,
    &actor::one_way::ACTOR,
    &application::APPLICATION,
    &render_settings::APPLICATION,
    &blend_shape::ANIMATION_CURVES,
    &blend_shape::BLEND_SHAPE,
    &broadphase::BROADPHASE,
    &camera::CAMERA,
    &orthographic::CAMERA,
    &debug::DEBUG,
    &debug::LINE_OBJECT,
    &gui::GUI,
    &gui::rows::BOXES,
    &gui::rows::IMAGES,
    &gui::rows::SHAPES,
    &gui::rows::ROUND_SHAPES,
    &gui::text_rows::TEXTS,
    &gui::drawing_state::STATE,
    &gui::GUI_OBJECT,
    &input::INPUT,
    &joint::JOINT,
    &input::keyboard::KEYBOARD_MODULE,
    &level::LEVEL,
    &level::resource::LEVEL_RESOURCE,
    &light::LIGHT,
    &light_occluder::LIGHT_OCCLUDER,
    &decal::DECAL,
    &shading_environment::SHADING_ENVIRONMENT,
    &shading_environment::WORLD,
    &material::MATERIAL,
    &math::MATH,
    &memory::MEMORY,
    &mesh::MESH,
    &input::mouse::MOUSE_MODULE,
    &mover::MOVER,
    &navigation::agent_paths::AGENT,
    &navigation::agent_settings::AGENT,
    &navigation::agent::AGENT,
    &navigation::grid::NAVIGATION_GRID,
    &navigation::levels::LEVEL,
    &navigation::platforms::NAVIGATION_MESH,
    &navigation::dispersion::NAVIGATION_MESH,
    &navigation::fields::NAVIGATION_MESH,
    &navigation::polygon_paths::NAVIGATION_MESH,
    &navigation::ways::NAVIGATION_MESH,
    &navigation::grid_paths::NAVIGATION_GRID,
    &navigation::tilemap_grids::NAVIGATION_GRID,
    &navigation::mesh::NAVIGATION_MESH,
    &resource_package::PACKAGE,
    &input::pad::PAD_1,
    &input::pad::PAD_2,
    &input::pad::PAD_3,
    &input::pad::PAD_4,
    &input::pad::PAD_5,
    &input::pad::PAD_6,
    &input::pad::PAD_7,
    &input::pad::PAD_8,
    &physics_world::PHYSICS_WORLD,
    &profiler::PROFILER,
    &save::SAVE,
    &sound::SOUND,
    &sound::world::SOUND_WORLD,
    &sound::VOICE,
    &sprite::SPRITE,
    &sprite::TILEMAP,
    &unit::sprites::UNIT,
    &sprite::material::SPRITE,
    &sprite::material::TILEMAP,
    &stats::STATS,
    &texture::TEXTURE,
    &tilemap::TILEMAP,
    &tilemap_bodies::TILEMAP,
    &input::touch_panel::TOUCH_MODULE,
    &unit::UNIT,
    &unit::animation::UNIT,
    &unit::ragdoll::UNIT,
    &unit::constraints::UNIT,
    &unit::root_motion::UNIT,
    &unit::state_machine::UNIT,
    &unit::animation_events::UNIT,
    &unit::animation_merging::UNIT,
    &unit::skeleton::UNIT,
    &unit::sprite_skeleton::UNIT,
    &unit::animation_events::WORLD,
    &unit::components::UNIT,
    &unit::light_occluders::UNIT,
    &unit::meshes::UNIT,
    &unit::nodes::UNIT,
    &unit::outlines::UNIT,
    &unit::resource::UNIT_RESOURCE,
    &viewport::VIEWPORT,
    &render_settings::VIEWPORT,
    &renderer::RENDERER,
    &window::WINDOW,
    &window::design::DESIGN,
    &worker::MODULE,
    &world::WORLD,
    &world::units::WORLD,
];

/// Functions that only the prelude can call, in its table `core`.
pub const CORE_MODULES: &[&ModuleRows] = &[
    &unit::actors::CORE,
    &unit::animation_events::CORE,
    &unit::skeleton::CORE,
    &application::CORE,
    &prelude_core::CORE,
    &script_names::CORE,
    &diagnostics::CORE,
    &flow::CORE,
    &broadphase::CORE,
    &navigation::agent::CORE,
    &navigation::grid_paths::CORE,
    &navigation::levels::CORE,
    &navigation::polygon_paths::CORE,
    &navigation::queries::CORE,
    &camera::CORE,
    &console::CORE,
    &gui::CORE,
    &gui::drawing_state::CORE,
    &gui::GUI_CORE,
    &gui::WORLD_CORE,
    &images::CORE,
    &input::keyboard::CORE,
    &joint::UNIT_CORE,
    &level::CORE,
    &level::reload::CORE,
    &light::CORE,
    &world_sky::WORLD_CORE,
    &material::CORE,
    &mesh::CORE,
    &light_occluder::CORE,
    &unit::meshes::CORE,
    &particles::GUI_CORE,
    &mover::UNIT_CORE,
    &physics_world::queries::CORE,
    &physics_world::flat_shapes::CORE,
    &physics_world::snapshots::CORE,
    &physics_world::WORLD_CORE,
    &memory::CORE,
    &profiler::CORE,
    &sound::generated::CORE,
    &sprite::CORE,
    &stats::CORE,
    &texture::CORE,
    &tilemap::CORE,
    &tilemap_bodies::CORE,
    &remote::CORE,
    &unit::UNIT_CORE,
    &unit::components::UNIT_CORE,
    &unit::components::WORLD_CORE,
    &unit::WORLD_CORE,
    &world::CORE,
];
