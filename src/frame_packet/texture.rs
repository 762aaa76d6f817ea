//! Textures in a packet: the textures that the renderer creates, fills and removes. Knows no files.
//!
//! Small textures share the layers of one atlas, and glyphs those of another. The code that fills
//! the packet allocates regions in the atlases; the renderer only copies.

use engine_resource::bundle::SharedBytes;

/// A texture's slot in the renderer's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TextureSlot(pub u32);

impl TextureSlot {
    /// No texture of its own: instances use the shared atlases, or no texture.
    pub const SHARED: TextureSlot = TextureSlot(0);
}

/// Width and height of an atlas layer in texels.
pub const ATLAS_SIDE: u32 = 1024;
/// Number of mip levels of the atlas of small textures, including the full size.
pub const ATLAS_LEVELS: u32 = 4;
/// Free texels between two textures of the atlas, so that neither bleeds into the other at the
/// smallest mip level.
pub const ATLAS_GUTTER: u32 = 1 << (ATLAS_LEVELS - 1);
/// Maximum number of layers of either atlas.
pub const ATLAS_LAYERS_MAX: u32 = 64;
/// Range in texels of distances in the glyph atlas, to either side of the outline. The value 0 is
/// this far outside, 1 is this far inside, and the outline is at a half.
pub const GLYPH_SPREAD: f32 = 6.0;

/// The storage format of texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TexelFormat {
    /// Red, green, blue and alpha, one byte each. Color is sRGB; alpha is premultiplied (in linear
    /// light). For visible pictures.
    Rgba8Srgb,
    /// Red, green, blue and alpha, one byte each, as linear numbers without premultiplication.
    /// For data such as normals and masks.
    Rgba8,
    /// One byte per texel.
    R8,
    /// Four half floats, linear, for light brighter than white.
    Rgba16Float,
    /// Compressed blocks of 4 × 4 texels, if the graphics adapter supports them.
    Bc1Srgb,
    Bc3Srgb,
    Bc4,
    Bc5,
    Bc7Srgb,
    Bc7,
}

/// The filtering and the wrap mode of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SamplerSettings {
    /// True for the nearest texel, false for linear filtering of the four nearest texels.
    pub nearest: bool,
    pub wrap: WrapMode,
}

/// The addressing of texture coordinates beyond the edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WrapMode {
    Clamp,
    Repeat,
    Mirror,
    /// Different modes along u and v.
    PerAxis([AxisWrap; 2]),
}

/// The addressing of texture coordinates beyond the edges along one axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AxisWrap {
    Clamp,
    Repeat,
    Mirror,
}

impl WrapMode {
    /// Returns the mode with these modes along u and v.
    pub const fn of_axes(axes: [AxisWrap; 2]) -> WrapMode {
        match axes {
            [AxisWrap::Clamp, AxisWrap::Clamp] => WrapMode::Clamp,
            [AxisWrap::Repeat, AxisWrap::Repeat] => WrapMode::Repeat,
            [AxisWrap::Mirror, AxisWrap::Mirror] => WrapMode::Mirror,
            axes => WrapMode::PerAxis(axes),
        }
    }

    /// Returns the modes along u and v.
    pub const fn axes(self) -> [AxisWrap; 2] {
        match self {
            WrapMode::Clamp => [AxisWrap::Clamp; 2],
            WrapMode::Repeat => [AxisWrap::Repeat; 2],
            WrapMode::Mirror => [AxisWrap::Mirror; 2],
            WrapMode::PerAxis(axes) => axes,
        }
    }
}

/// A texture as data: all mip levels, the largest first, rows from the top, without padding.
#[derive(Clone, Debug)]
pub struct TextureTexels {
    pub width: u32,
    pub height: u32,
    pub levels: u32,
    pub format: TexelFormat,
    pub sampling: SamplerSettings,
    /// The bytes, shared with the resource that contains them. The texels begin at `start`.
    pub bytes: SharedBytes,
    pub start: usize,
}

/// A change to the renderer's textures. Changes are applied in order.
#[derive(Clone, Debug)]
pub enum TextureChange {
    /// Creates or replaces a texture.
    Set { slot: TextureSlot, texels: TextureTexels },
    /// Creates or replaces an empty render target.
    Target { slot: TextureSlot, width: u32, height: u32, sampling: SamplerSettings },
    /// Removes a texture.
    End { slot: TextureSlot },
    /// Fills a region of the atlas of small textures. The levels are in [`TexelFormat::Rgba8Srgb`],
    /// each including its gutter; `x` and `y` are multiples of [`ATLAS_GUTTER`]. If `picture` has a
    /// size, the largest level is only a picture of that size, and [`around`] creates the margin.
    ///
    /// [`around`]: super::atlas_cell::around
    Atlas { layer: u32, x: u32, y: u32, texels: TextureTexels, picture: Option<(u32, u32)> },
    /// Fills a region of the glyph atlas. `TexelFormat::Rgba8`: three distances (red, green, blue)
    /// whose median is the distance, and the true distance in alpha.
    Glyph { layer: u32, x: u32, y: u32, texels: TextureTexels },
}
