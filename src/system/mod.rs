//! The devices and arrays under a game. Every device has a null form, so that everything runs
//! headless. Systems do not use each other; the engine brings them together.

pub mod browser;
pub mod gui;
pub mod input;
pub mod materials;
pub mod models;
pub mod particles;
pub mod physics;
pub mod platform;
pub mod render;
pub mod sound;
pub mod text;
pub mod textures;
pub mod tilemaps;
pub mod time_step;
pub mod tools;
pub mod window;
pub mod workers;
