//! Text as plain data: what is asked of the text system, and the quadrilaterals that it answers
//! with. Knows no fonts' files and lays nothing out.

use super::gui::{Instance, paint};

/// A font's place in the text system's table; it stays the same when the font is reloaded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FontNumber(pub u32);

/// A picture that a font keeps its glyphs in; 0 is none: the shared atlas of glyphs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PageNumber(pub u32);

impl PageNumber {
    pub const SHARED: PageNumber = PageNumber(0);
}

/// Where a line of text stands around the point that it is drawn at, or in the width it is wrapped
/// to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Align {
    #[default]
    Left,
    Center,
    Right,
}

/// A part of a text in a colour of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first byte of the part; it ends where the next one begins.
    pub start: u32,
    /// Red, green, blue, alpha, sRGB; `None`: the colour of the whole text.
    pub color: Option<[u8; 4]>,
}

/// What is drawn around and behind the letters. Lengths are in the units of the size (logical
/// pixels); 0 draws nothing. How far they can reach is limited by the distance field: see
/// [`Style::REACH`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Style {
    /// How thick a line around the letters is.
    pub outline: f32,
    pub outline_color: [u8; 4],
    /// How far light around the letters reaches.
    pub glow: f32,
    pub glow_color: [u8; 4],
    /// How far to the right and up a shadow is moved.
    pub shadow: [f32; 2],
    /// Over how much more the shadow's edge is softened.
    pub shadow_softness: f32,
    pub shadow_color: [u8; 4],
}

impl Style {
    /// Letters alone.
    pub const PLAIN: Style = Style {
        outline: 0.0,
        outline_color: [0, 0, 0, 255],
        glow: 0.0,
        glow_color: [255, 255, 255, 255],
        shadow: [0.0, 0.0],
        shadow_softness: 0.0,
        shadow_color: [0, 0, 0, 160],
    };

    /// How far the fields of fonts with outlines go around the letters, as a part of the size:
    /// 32-pixel letters can glow for 4 pixels, less half a pixel. What asks for more gets this
    /// much, and the log says so once for each font.
    pub const REACH: f32 = 0.125;
}

/// One text to lay out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request<'a> {
    pub font: FontNumber,
    /// UTF-8; what is not is shown as U+FFFD and told once. `\n` begins a new line.
    pub text: &'a [u8],
    /// Units for each em, at most `SIZE_MAX` of the text system.
    pub size: f32,
    /// Lines are broken where they would become wider than this; 0: only at `\n`.
    pub max_width: f32,
    pub align: Align,
    pub style: Style,
    /// Parts in other colours, in the order of their bytes; what is before the first has the
    /// text's own.
    pub spans: &'a [Span],
    /// Whether `{#color(r,g,b)}`, `{#color(r,g,b,a)}` and `{#reset()}` in the text change its
    /// colour and are not shown. Not together with `spans`.
    pub markup: bool,
    /// Whether what is drawn stays until somebody ends it (a retained Gui): its glyphs then keep
    /// their places in the atlas for good.
    pub kept: bool,
}

impl Request<'_> {
    /// Plain text in one style; give it font, text and size.
    pub const DEFAULT: Request<'static> = Request {
        font: FontNumber(0),
        text: b"",
        size: 16.0,
        max_width: 0.0,
        align: Align::Left,
        style: Style::PLAIN,
        spans: &[],
        markup: true,
        kept: false,
    };
}

/// One glyph, or a part of what is around it, where it is drawn: x to the right and y up from the
/// left end of the first line's baseline (its middle or right end where the text is aligned so and
/// has no width).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct GlyphQuad {
    /// Left, bottom, right, top.
    pub rect: [f32; 4],
    /// Left, bottom, right and top in the atlas or page, as in [`Instance::uv`].
    pub uv: [f32; 4],
    /// As in [`Instance::extra`].
    pub extra: [f32; 2],
    /// Its colour, where `own_color` says that it has one; else the text's own.
    pub color: [u8; 4],
    /// [`Instance::paint`] without a transform.
    pub paint: u32,
    pub page: PageNumber,
    pub own_color: bool,
}

impl GlyphQuad {
    /// The quadrilateral as an instance of a Gui: at a place, in the text's colour, with one of the
    /// Gui's transforms.
    #[inline(always)]
    pub fn instance(&self, x: f32, y: f32, color: [u8; 4], transform: u32) -> Instance {
        let [left, bottom, right, top] = self.rect;
        let (left, bottom, right, top) = (left + x, bottom + y, right + x, top + y);
        let own = [self.color[0], self.color[1], self.color[2], fade(self.color[3], color[3])];
        Instance {
            corners: [left, bottom, right, bottom, right, top, left, top],
            uv: self.uv,
            color: if self.own_color { own } else { color },
            paint: self.paint | transform << 16,
            extra: self.extra,
        }
    }

    /// Whether it is taken from a distance field, of the atlas or of a page.
    pub fn is_field(&self) -> bool {
        matches!(self.paint & 15, paint::GLYPH | paint::TEXTURE_FIELD)
    }
}

/// What has a colour of its own fades with the whole text.
#[inline(always)]
fn fade(own: u8, whole: u8) -> u8 {
    ((u32::from(own) * u32::from(whole) + 127) / 255) as u8
}

/// How much room a text takes, from the point that it is drawn at.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Extents {
    /// The left bottom of all that is drawn, outlines and glows not counted. Without anything
    /// drawn: 0, 0, as is `max`.
    pub min: [f32; 2],
    /// The right top of it.
    pub max: [f32; 2],
    /// Where the next letter would stand: at the end of the last line.
    pub caret: [f32; 2],
    /// How many lines there are, at least one.
    pub lines: u32,
}

/// A font's own lengths, as parts of the size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Metrics {
    /// From the baseline up to the top of the line.
    pub ascent: f32,
    /// From the baseline down to the bottom of the line, above 0.
    pub descent: f32,
    /// From one baseline to the next.
    pub line_height: f32,
}

/// A font's page: a picture with glyphs in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// The texture's name.
    pub texture: String,
    /// Its size in pixels, as the font says.
    pub width: f32,
    pub height: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quad_takes_the_texts_colour_or_fades_its_own() {
        let mut quad = GlyphQuad { rect: [0.0, -1.0, 2.0, 3.0], ..GlyphQuad::default() };
        quad.paint = Instance::paint(paint::GLYPH, 3, 0);
        let instance = quad.instance(10.0, 20.0, [1, 2, 3, 128], 5);
        assert_eq!(instance.corners, [10.0, 19.0, 12.0, 19.0, 12.0, 23.0, 10.0, 23.0]);
        assert_eq!(instance.color, [1, 2, 3, 128]);
        assert_eq!(instance.paint, Instance::paint(paint::GLYPH, 3, 5));
        (quad.color, quad.own_color) = ([9, 8, 7, 255], true);
        assert_eq!(quad.instance(0.0, 0.0, [1, 2, 3, 128], 0).color, [9, 8, 7, 128]);
    }
}
