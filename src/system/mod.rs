//! The devices under a game, each with a null form, so that everything runs headless. So far: the
//! operating system itself.

pub mod platform;
pub mod time_step;
