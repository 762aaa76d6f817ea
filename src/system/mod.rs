//! The devices under a game, each with a null form, so that everything runs headless. So far: the
//! operating system itself.

pub mod gui;
pub mod input;
pub mod materials;
pub mod physics;
pub mod platform;
pub mod render;
pub mod sound;
pub mod text;
pub mod textures;
pub mod time_step;
pub mod window;
pub mod workers;
