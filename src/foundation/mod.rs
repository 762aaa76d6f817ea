//! What every layer stands on: handles, names, errors with their context, the log, SJSON, numbers.
//! Nothing here knows of resources, devices or scripts.

pub mod angles;
pub mod blob;
pub mod color;
pub mod context;
pub mod counters;
#[cfg(test)]
pub mod damage;
pub mod error;
pub mod fault;
pub mod file_access;
pub mod files;
pub mod handle;
pub mod hash;
pub mod log;
pub mod log_file;
pub mod memory;
pub mod noise;
pub mod output_file;
pub mod profile;
pub mod random;
pub mod sjson;
pub mod suggest;
pub mod tasks;
pub mod terminal;

pub use color::Color;
pub use context::Context;
pub use error::Error;
/// Right-handed projections with depth from 0 to 1.
pub use glam::camera::rh::proj::directx as projections;
pub use glam::camera::rh::view as views;
pub use glam::{DMat4, DVec3, DVec4, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
pub use handle::{Handle, Kind, Slots};
