//! Textures of a running game: by name, where in the renderer's tables they are. Small ones share
//! the layers of an atlas by themselves; what the renderer has to do about them is queued as
//! `TextureChange` and taken by `flush`. Knows no scripts and no graphics interface; files are
//! decoded by the data compiler (compile.rs), and by nothing at run time.
//!
//! A texture loads when it is first asked for. Frames of a sheet are textures, too:
//! `sheets/hero/run_01` is the frame `run_01` of the sheet `sheets/hero`.

mod aseprite;
mod atlas;
pub mod compile;
mod cut;
mod data;
mod inflate;
mod picture;
mod registry;
pub mod sheet;
#[cfg(test)]
pub mod tests;
mod texels;

use crate::packet::texture::{Sampling, TextureSlot};

pub use data::check_own;
#[cfg(test)]
pub use data::{Head, read as read_head};
pub use picture::picture;
pub use registry::{Abilities, Figures, Placed, Textures};
pub use sheet::Direction;

/// The most textures, frames of sheets included, that a game can have asked for by name.
pub const TEXTURES_MAX: usize = 1 << 16;
/// The most textures with a slot of their own that can be there at once.
pub const SLOTS_MAX: u32 = 1 << 14;
/// Textures of at most this many texels a side share the atlas.
pub const SMALL_SIDE_MAX: u32 = 256;

/// A texture's place in the table of a [`Textures`]. It stays the same when the texture is
/// reloaded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TextureNumber(pub u32);

impl TextureNumber {
    /// The checkerboard that stands where a texture is missing.
    pub const MISSING: TextureNumber = TextureNumber(0);
}

/// Where a texture is, as instances and batches say it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry {
    /// Its own slot; [`TextureSlot::SHARED`] where it is in the atlas.
    pub slot: TextureSlot,
    /// `Instance::paint` without a transform, the filter included.
    pub paint: u32,
    /// Left, bottom, right and top in the texture or the atlas's layer; v goes down the picture.
    pub uv: [f32; 4],
    /// In texels of the picture. A texture that was made smaller for the adapter keeps these.
    pub width: u32,
    pub height: u32,
    pub sampling: Sampling,
    /// Whether there is more to it than the checkerboard.
    pub loaded: bool,
}
