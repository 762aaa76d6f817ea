//! Text as plain data: requests to the text system, and the quadrilaterals that it returns. Knows
//! no font files and does no layout.

use super::gui::{QuadInstance, paint};

/// A font's index in the text system's table. It stays the same when the font is reloaded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FontNumber(pub u32);

/// A picture that contains glyphs of a font; 0 is none: the shared glyph atlas.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PageNumber(pub u32);

impl PageNumber {
    pub const SHARED: PageNumber = PageNumber(0);
}

/// The horizontal alignment of a line of text relative to its point, or within the wrapping width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TextAlign {
    #[default]
    Left,
    Center,
    Right,
}

/// A part of a text with its own color.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColorSpan {
    /// The first byte of the part, which ends where the next one begins.
    pub start: u32,
    /// Red, green, blue and alpha, sRGB; `None` is the color of the whole text.
    pub color: Option<[u8; 4]>,
}

/// The effects around and behind the letters. Lengths are in the units of the size (logical
/// pixels); 0 draws nothing. The distance field limits their reach:
/// see [`TextStyle::FIELD_EXTENT`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TextStyle {
    /// Thickness of the outline around the letters.
    pub outline: f32,
    pub outline_color: [u8; 4],
    /// Reach of the glow around the letters.
    pub glow: f32,
    pub glow_color: [u8; 4],
    /// Offset of the shadow to the right and up.
    pub shadow: [f32; 2],
    /// Additional width over which the shadow's edge is softened.
    pub shadow_softness: f32,
    pub shadow_color: [u8; 4],
}

impl TextStyle {
    /// A style without effects.
    pub const PLAIN: TextStyle = TextStyle {
        outline: 0.0,
        outline_color: [0, 0, 0, 255],
        glow: 0.0,
        glow_color: [255, 255, 255, 255],
        shadow: [0.0, 0.0],
        shadow_softness: 0.0,
        shadow_color: [0, 0, 0, 160],
    };

    /// Reach of the distance fields of fonts with outlines around the letters, as a fraction of the
    /// size. Letters of 32 pixels can glow for 4 pixels, minus half a pixel. Larger requests get
    /// this reach, and the log reports it once for each font.
    pub const FIELD_EXTENT: f32 = 0.125;
}

/// A request to lay out one text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TextRequest<'a> {
    pub font: FontNumber,
    /// The text as UTF-8. Invalid bytes are shown as U+FFFD and reported once. `\n` starts a new
    /// line.
    pub text: &'a [u8],
    /// Size in units per em, at most `SIZE_MAX` of the text system.
    pub size: f32,
    /// Width at which lines are wrapped; 0 breaks lines only at `\n`.
    pub max_width: f32,
    pub align: TextAlign,
    pub style: TextStyle,
    /// Parts in other colors, sorted by their first bytes. Text before the first part has the
    /// text's own color.
    pub spans: &'a [ColorSpan],
    /// True if `{#color(r,g,b)}`, `{#color(r,g,b,a)}` and `{#reset()}` in the text change its color
    /// and are not shown. Cannot be combined with `spans`.
    pub markup: bool,
    /// True if the text stays until it is removed explicitly (a retained Gui). Its glyphs then keep
    /// their positions in the atlas permanently.
    pub is_retained: bool,
}

impl TextRequest<'_> {
    /// A plain text in one style. Set the font, the text and the size.
    pub const DEFAULT: TextRequest<'static> = TextRequest {
        font: FontNumber(0),
        text: b"",
        size: 16.0,
        max_width: 0.0,
        align: TextAlign::Left,
        style: TextStyle::PLAIN,
        spans: &[],
        markup: true,
        is_retained: false,
    };
}

/// One glyph, or a part of its effects, with its position: x to the right and y up from the left
/// end of the first line's baseline. If the text is aligned otherwise and has no width, the origin
/// is the middle or the right end of the line.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct GlyphQuad {
    /// Left, bottom, right and top.
    pub rect: [f32; 4],
    /// Left, bottom, right and top in the atlas or page, as in [`QuadInstance::uv`].
    pub uv: [f32; 4],
    /// Paint parameters, as in [`QuadInstance::extra`].
    pub extra: [f32; 2],
    /// The glyph's own color if `own_color` is true. Otherwise the text's color is used.
    pub color: [u8; 4],
    /// [`QuadInstance::paint`] without a transform.
    pub paint: u32,
    pub page: PageNumber,
    pub own_color: bool,
}

impl GlyphQuad {
    /// Converts the quadrilateral to an instance of a Gui, at a position, in the text's color, with
    /// one of the Gui's transforms.
    #[inline(always)]
    pub fn instance(&self, x: f32, y: f32, color: [u8; 4], transform: u32) -> QuadInstance {
        let [left, bottom, right, top] = self.rect;
        let (left, bottom, right, top) = (left + x, bottom + y, right + x, top + y);
        let own = [self.color[0], self.color[1], self.color[2], fade(self.color[3], color[3])];
        QuadInstance {
            corners: [left, bottom, right, bottom, right, top, left, top],
            uv: self.uv,
            color: if self.own_color { own } else { color },
            paint: self.paint | transform << 16,
            extra: self.extra,
        }
    }

    /// Returns true if the glyph is drawn from a distance field, of the atlas or of a page.
    pub fn is_field(&self) -> bool {
        matches!(self.paint & 15, paint::GLYPH | paint::TEXTURE_FIELD)
    }
}

/// Fades a part's own alpha with the alpha of the whole text.
#[inline(always)]
fn fade(own: u8, whole: u8) -> u8 {
    ((u32::from(own) * u32::from(whole) + 127) / 255) as u8
}

/// The extents of a text, relative to the point at which it is drawn.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TextExtents {
    /// Bottom left of all glyphs, without outlines and glows. If nothing is drawn, `min` and `max`
    /// are 0, 0.
    pub min: [f32; 2],
    /// Top right of all glyphs.
    pub max: [f32; 2],
    /// Position of the next letter: at the end of the last line.
    pub caret: [f32; 2],
    /// Number of lines, at least one.
    pub lines: u32,
}

/// The vertical metrics of a font, as fractions of the size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FontMetrics {
    /// Distance from the baseline up to the top of the line.
    pub ascent: f32,
    /// Distance from the baseline down to the bottom of the line, above 0.
    pub descent: f32,
    /// Distance from one baseline to the next.
    pub line_height: f32,
}

/// A page of a font: a picture that contains glyphs.
#[derive(Clone, PartialEq, Debug)]
pub struct FontPage {
    /// Name of the texture.
    pub texture: String,
    /// Width of the page in pixels, as the font declares it; `height` is its height.
    pub width: f32,
    pub height: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quad_has_the_text_colour_or_its_own_faded_one() {
        let mut quad = GlyphQuad { rect: [0.0, -1.0, 2.0, 3.0], ..GlyphQuad::default() };
        quad.paint = QuadInstance::paint(paint::GLYPH, 3, 0);
        let instance = quad.instance(10.0, 20.0, [1, 2, 3, 128], 5);
        assert_eq!(instance.corners, [10.0, 19.0, 12.0, 19.0, 12.0, 23.0, 10.0, 23.0]);
        assert_eq!(instance.color, [1, 2, 3, 128]);
        assert_eq!(instance.paint, QuadInstance::paint(paint::GLYPH, 3, 5));
        (quad.color, quad.own_color) = ([9, 8, 7, 255], true);
        assert_eq!(quad.instance(0.0, 0.0, [1, 2, 3, 128], 0).color, [9, 8, 7, 128]);
    }
}
