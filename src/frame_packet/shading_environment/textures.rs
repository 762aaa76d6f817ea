//! The textures of an environment: they are named by slots, in parallel to its values.

use crate::texture::TextureSlot;

/// The textures of a view's environment; `None`: the effect does without.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EnvironmentTextures {
    /// The color table of color grading: a strip of squares, one for each level of blue, in which
    /// red rises to the right and green downwards. Its texels are encoded colors.
    pub color_table: Option<TextureSlot>,
    /// The sky of the mode "texture": an equirectangular map, whose middle is in the direction of
    /// y and whose upper edge is above. Without it, the mode is "gradient".
    pub sky: Option<TextureSlot>,
}
