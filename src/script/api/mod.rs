//! The engine's functions for scripts, one file for each Lua module, and the one list of them.

mod application;
pub mod core;
mod math;
mod package;
mod save;
mod world;

use super::row::Module;

/// Every module with functions in Rust. The prelude's Lua adds functions to some, and modules of
/// its own (see prelude.rs).
pub const MODULES: &[&Module] =
    &[&application::APPLICATION, &math::MATH, &package::PACKAGE, &save::SAVE, &world::WORLD];
