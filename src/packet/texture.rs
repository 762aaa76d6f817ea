//! Textures in a packet: what the renderer should make, fill and forget. Knows no files.
//!
//! Small textures share the layers of one atlas, and glyphs those of another: which place is whose
//! is decided where the packet is made, the renderer only copies.

use crate::resource::bundle::Bytes;

/// A texture's place in the renderer's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TextureSlot(pub u32);

impl TextureSlot {
    /// No texture of its own: instances take from the shared atlases, or from none.
    pub const SHARED: TextureSlot = TextureSlot(0);
}

/// Texels of an atlas layer's side.
pub const ATLAS_SIDE: u32 = 1024;
/// How many levels the atlas of small textures has, the full size included.
pub const ATLAS_LEVELS: u32 = 4;
/// Free texels between two textures of the atlas, so that none shows in another's smallest level.
pub const ATLAS_GUTTER: u32 = 1 << (ATLAS_LEVELS - 1);
/// The most layers of either atlas.
pub const ATLAS_LAYERS_MAX: u32 = 64;
/// Distances in the atlas of glyphs reach this many texels to either side of the outline: 0 is so
/// far outside, 1 so far inside, the outline is at a half.
pub const GLYPH_SPREAD: f32 = 6.0;

/// How texels are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Red, green, blue, alpha, a byte each; colour is sRGB, alpha is multiplied in (in linear
    /// light). For what is seen.
    Rgba8Srgb,
    /// The same bytes as plain numbers, nothing multiplied in. For data: normals, masks.
    Rgba8,
    /// One byte.
    R8,
    /// Four half floats, linear: light beyond white.
    Rgba16Float,
    /// Compressed blocks of 4 × 4, where the adapter has them.
    Bc1Srgb,
    Bc3Srgb,
    Bc4,
    Bc5,
    Bc7Srgb,
    Bc7,
}

/// How texels between and beyond are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampling {
    /// The nearest texel instead of a mixture of the four around.
    pub nearest: bool,
    pub wrap: Wrap,
}

/// What is beyond a texture's edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wrap {
    Clamp,
    Repeat,
    Mirror,
}

/// A texture as data: every level, the largest first, rows from the top, without padding.
#[derive(Clone, Debug)]
pub struct Texels {
    pub width: u32,
    pub height: u32,
    pub levels: u32,
    pub format: Format,
    pub sampling: Sampling,
    /// Shared with the resource it came from; the texels begin at `start`.
    pub bytes: Bytes,
    pub start: usize,
}

/// One thing to do, in order.
#[derive(Clone, Debug)]
pub enum TextureChange {
    /// Makes or replaces a texture.
    Put { slot: TextureSlot, texels: Texels },
    /// Makes or replaces an empty texture to draw to.
    Target { slot: TextureSlot, width: u32, height: u32 },
    /// Ends a texture.
    End { slot: TextureSlot },
    /// Fills a place in the atlas of small textures: the levels are of [`Format::Rgba8Srgb`], every
    /// one including its gutter; `x` and `y` are multiples of [`ATLAS_GUTTER`]. Where `picture` has
    /// a size, the largest level is a picture of that size alone, and [`cell::around`] makes the
    /// rest of it.
    ///
    /// [`cell::around`]: super::cell::around
    Atlas { layer: u32, x: u32, y: u32, texels: Texels, picture: Option<(u32, u32)> },
    /// Fills a place in the atlas of glyphs. `Format::Rgba8`: three distances (red, green, blue),
    /// whose median is the distance, and the true distance in alpha.
    Glyph { layer: u32, x: u32, y: u32, texels: Texels },
}
