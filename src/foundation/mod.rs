//! Basic libraries that every layer uses: handles, names, errors with their context, the log,
//! SJSON, and numbers. Knows no resources, devices or scripts.

pub mod atomic_file;
pub mod blob;
pub mod color;
pub mod color_source;
pub mod compact_sort;
pub mod context;
pub mod counters;
pub mod deterministic_math;
pub mod error;
pub mod file_access;
pub mod handle;
pub mod hash;
pub mod json;
pub mod log;
pub mod log_file;
pub mod memory;
pub mod noise;
pub mod output_file;
pub mod own_folder;
pub mod panic;
pub mod profile;
pub mod random;
pub mod sjson;
pub mod suggest;
pub mod tasks;
pub mod terminal;
pub mod text_format;
pub mod utc_date;
pub mod xml;

pub use color::Color;
pub use context::Context;
pub use error::Error;
/// Right-handed projections with depth from 0 to 1.
pub use glam::camera::rh::proj::directx as projections;
pub use glam::camera::rh::view as views;
pub use glam::{DMat4, DVec3, DVec4, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
pub use handle::{Handle, HandleKind, Slots};

/// True if the executable has the parts for the development of games: the compilers of resources,
/// hot reload, the connection of tools, the test library, and the commands. Without the feature
/// `development` it only plays bundles. The linker leaves out code that a condition on this
/// constant excludes.
pub const DEVELOPMENT: bool = cfg!(feature = "development");
