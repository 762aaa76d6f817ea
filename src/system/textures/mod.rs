//! Textures of a running game: the mapping from names to slots in the renderer's tables. Small
//! textures share the layers of an atlas automatically. Work for the renderer is queued as
//! `TextureChange` and taken by `flush`. Knows no scripts and no graphics API. Files are decoded
//! only by the data compiler (resource.rs), never at run time.
//!
//! A texture is loaded when it is first requested. Frames of a sheet are textures, too:
//! `sheets/hero/run_01` is the frame `run_01` of the sheet `sheets/hero`.

mod aseprite;
mod atlas_allocator;
mod color_table_file;
mod data;
mod light_profile;
mod mipmaps;
mod registry;
pub mod resource;
pub mod sheet_resource;
mod sheet_slicing;
#[cfg(test)]
mod tests;
mod to_image;

use engine_frame_packet::texture::{SamplerSettings, TextureSlot};

pub use data::check_surface_texture;
pub use data::{TextureHeader, read as read_head};
pub use registry::{ImageTextureSettings, SceneTexture, TextureCaps, TextureStats, Textures};
pub use sheet_resource::PlayDirection;
pub use to_image::picture;

/// Maximum number of textures, including frames of sheets, that a game can request by name.
pub const TEXTURES_MAX: usize = 1 << 16;
/// Maximum number of textures outside the atlas, each in a slot, at the same time.
pub const SLOTS_MAX: u32 = 1 << 14;
/// Maximum side in texels of textures that share the atlas.
pub const SMALL_SIDE_MAX: u32 = 256;

/// The part of error messages that says that nothing of the previous texture is left on screen.
pub const SHOWN_AS_PLACEHOLDER: &str = "it is shown as a checkerboard";

/// Index of a texture in the table of a [`Textures`]. It stays the same when the texture is
/// reloaded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TextureNumber(pub u32);

impl TextureNumber {
    /// The checkerboard that is shown in place of a missing texture.
    pub const MISSING: TextureNumber = TextureNumber(0);
}

/// Location of a texture in the renderer, in the form that instances and batches use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TextureEntry {
    /// Slot of the texture; [`TextureSlot::SHARED`] if it is in the atlas.
    pub slot: TextureSlot,
    /// `QuadInstance::paint` without a transform, including the filter.
    pub paint: u32,
    /// Left, bottom, right and top in the texture or the atlas layer. v increases downward.
    pub uv: [f32; 4],
    /// Width of the picture in texels. A texture that was shrunk for the GPU keeps its original
    /// size here.
    pub width: u32,
    pub height: u32,
    pub sampling: SamplerSettings,
    /// True if the texture itself is loaded, and not the checkerboard.
    pub loaded: bool,
}
