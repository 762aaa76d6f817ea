//! Outlines of draws: lines around their shapes on the screen. Plain data.

/// Maximum number of different outlines that a view shows. Draws with further ones have none.
pub const OUTLINE_STYLES_MAX: usize = 64;
/// Maximum width of an outline in pixels.
pub const OUTLINE_WIDTH_MAX: f32 = 32.0;

/// The outline of a draw.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutlineStyle {
    /// Red, green, blue (sRGB) and alpha.
    pub color: [u8; 4],
    /// Width in logical pixels.
    pub width: f32,
    /// True if the whole shape has the outline, and not only the part that nothing hides.
    pub through: bool,
}
