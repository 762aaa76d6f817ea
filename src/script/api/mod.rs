//! The engine's functions for scripts, one file for each Lua module, and the one list of them.

mod application;
mod camera;
pub mod core;
mod debug;
mod device;
mod gui;
pub mod gui_fast;
mod gui_text;
mod input;
mod keyboard;
mod material;
mod math;
mod mouse;
mod package;
mod pad;
mod save;
mod sound;
mod sound_args;
mod sound_world;
mod texture;
mod touch;
mod unit;
mod viewport;
mod window;
mod worker;
mod world;

use super::row::Module;

pub use device::class_of;
pub use input::{device_name, device_of};

/// Every module with functions in Rust. The prelude's Lua adds functions to some, and modules of
/// its own (see prelude.rs).
pub const MODULES: &[&Module] = &[
    &application::APPLICATION,
    &camera::CAMERA,
    &debug::DEBUG,
    &debug::LINE_OBJECT,
    &gui::GUI,
    &gui::GUI_OBJECT,
    &input::INPUT,
    &keyboard::KEYBOARD_MODULE,
    &material::MATERIAL,
    &math::MATH,
    &mouse::MOUSE_MODULE,
    &package::PACKAGE,
    &pad::PAD_1,
    &pad::PAD_2,
    &pad::PAD_3,
    &pad::PAD_4,
    &pad::PAD_5,
    &pad::PAD_6,
    &pad::PAD_7,
    &pad::PAD_8,
    &save::SAVE,
    &sound::SOUND,
    &sound_world::SOUND_WORLD,
    &sound::VOICE,
    &texture::TEXTURE,
    &touch::TOUCH_MODULE,
    &unit::UNIT,
    &viewport::VIEWPORT,
    &window::WINDOW,
    &worker::MODULE,
    &world::WORLD,
];

/// What the prelude alone can call, in its table `core`.
pub const CORE_MODULES: &[&Module] = &[
    &core::CORE,
    &gui::CORE,
    &gui::WORLD_CORE,
    &material::CORE,
    &texture::CORE,
    &unit::UNIT_CORE,
    &unit::WORLD_CORE,
];
