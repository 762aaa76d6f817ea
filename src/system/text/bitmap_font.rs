//! Bitmap fonts as data: glyphs as rectangles of page pictures, with their measurements (the
//! AngelCode format, .fnt). Written as XML here; read in bmfont.rs.

use engine_foundation::xml;
use std::fmt::Write;

/// Maximum number of glyphs of one font.
pub const GLYPHS_MAX: usize = 131_072;
/// Maximum number of kerning pairs.
pub const KERNINGS_MAX: usize = 1 << 20;
/// Maximum number of pages.
pub const PAGES_MAX: usize = 256;

/// One glyph: its rectangle on its page (pixels from the top left) and its position relative to the
/// pen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BitmapGlyph {
    /// Code point of the character.
    pub id: u32,
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
    /// Distance from the pen to the left of the rectangle. `y_offset` is the distance from the top
    /// of the line down to the top of the rectangle.
    pub x_offset: f32,
    pub y_offset: f32,
    pub x_advance: f32,
    pub page: u32,
    /// Channels that contain the glyph, as the format encodes them; 15 is all.
    pub channel: u32,
}

/// Kerning of a pair: the distance added between two characters, negative to move them closer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KerningPair {
    pub first: u32,
    pub second: u32,
    pub amount: f32,
}

/// A bitmap font. Lengths are in pixels of the pages.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BitmapFont {
    /// Name of the typeface that the pages were generated from.
    pub face: String,
    /// Pixels per em, above 0.
    pub size: f32,
    /// True if `size` was written as a negative number. BMFont uses this to state that the size
    /// fits the em and not the whole line.
    pub fits_em: bool,
    /// Attributes of `info` that are not lengths, unchanged: bold, charset and so on.
    pub about: Vec<(String, String)>,
    /// Distances by which each rectangle extends beyond its glyph: up, right, down and left.
    pub padding: [f32; 4],
    /// Distance between two rectangles of a page, horizontally and vertically.
    pub spacing: [f32; 2],
    pub outline: f32,
    pub line_height: f32,
    /// Distance from the top of the line down to the baseline.
    pub base: f32,
    pub page_width: f32,
    pub page_height: f32,
    /// Attributes of `common` that are not lengths.
    pub channels: Vec<(String, String)>,
    /// Range of the distance field on either side of the outline. 0 if the pages are color
    /// pictures.
    pub spread: f32,
    /// Files of the pages, relative to the font's folder.
    pub pages: Vec<String>,
    pub glyphs: Vec<BitmapGlyph>,
    pub kernings: Vec<KerningPair>,
}

impl BitmapFont {
    /// Returns the font with every length divided by `factor`.
    pub fn divided(&self, factor: f32) -> BitmapFont {
        let glyph = |glyph: &BitmapGlyph| BitmapGlyph {
            x: glyph.x / factor,
            y: glyph.y / factor,
            width: glyph.width / factor,
            height: glyph.height / factor,
            x_offset: glyph.x_offset / factor,
            y_offset: glyph.y_offset / factor,
            x_advance: glyph.x_advance / factor,
            ..*glyph
        };
        let kerning = |k: &KerningPair| KerningPair { amount: k.amount / factor, ..*k };
        BitmapFont {
            size: self.size / factor,
            padding: self.padding.map(|length| length / factor),
            spacing: self.spacing.map(|length| length / factor),
            outline: self.outline / factor,
            line_height: self.line_height / factor,
            base: self.base / factor,
            page_width: self.page_width / factor,
            page_height: self.page_height / factor,
            spread: self.spread / factor,
            glyphs: self.glyphs.iter().map(glyph).collect(),
            kernings: self.kernings.iter().map(kerning).collect(),
            ..self.clone()
        }
    }

    /// Returns the font as AngelCode XML. Fractional lengths are written with their fraction.
    pub fn to_xml(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\"?>\n<font>\n  <info");
        let size = if self.fits_em { -self.size } else { self.size };
        attribute(&mut out, "face", &self.face);
        attribute(&mut out, "size", size);
        for (name, value) in &self.about {
            attribute(&mut out, name, value);
        }
        attribute(&mut out, "padding", join_numbers(&self.padding));
        attribute(&mut out, "spacing", join_numbers(&self.spacing));
        attribute(&mut out, "outline", self.outline);
        out += "/>\n  <common";
        attribute(&mut out, "lineHeight", self.line_height);
        attribute(&mut out, "base", self.base);
        attribute(&mut out, "scaleW", self.page_width);
        attribute(&mut out, "scaleH", self.page_height);
        attribute(&mut out, "pages", self.pages.len());
        for (name, value) in &self.channels {
            attribute(&mut out, name, value);
        }
        out += "/>\n";
        if self.spread > 0.0 {
            out += "  <distanceField fieldType=\"sdf\"";
            attribute(&mut out, "distanceRange", self.spread * 2.0);
            out += "/>\n";
        }
        out += "  <pages>\n";
        for (id, file) in self.pages.iter().enumerate() {
            out += "    <page";
            attribute(&mut out, "id", id);
            attribute(&mut out, "file", file);
            out += "/>\n";
        }
        out += "  </pages>\n";
        self.write_glyphs(&mut out);
        out + "</font>\n"
    }

    fn write_glyphs(&self, out: &mut String) {
        let _ = writeln!(out, "  <chars count=\"{}\">", self.glyphs.len());
        for glyph in &self.glyphs {
            *out += "    <char";
            attribute(out, "id", glyph.id);
            attribute(out, "x", glyph.x);
            attribute(out, "y", glyph.y);
            attribute(out, "width", glyph.width);
            attribute(out, "height", glyph.height);
            attribute(out, "xoffset", glyph.x_offset);
            attribute(out, "yoffset", glyph.y_offset);
            attribute(out, "xadvance", glyph.x_advance);
            attribute(out, "page", glyph.page);
            attribute(out, "chnl", glyph.channel);
            *out += "/>\n";
        }
        *out += "  </chars>\n";
        let _ = writeln!(out, "  <kernings count=\"{}\">", self.kernings.len());
        for kerning in &self.kernings {
            *out += "    <kerning";
            attribute(out, "first", kerning.first);
            attribute(out, "second", kerning.second);
            attribute(out, "amount", kerning.amount);
            *out += "/>\n";
        }
        *out += "  </kernings>\n";
    }
}

fn join_numbers(lengths: &[f32]) -> String {
    lengths.iter().map(|length| length.to_string()).collect::<Vec<_>>().join(",")
}

fn attribute(out: &mut String, name: &str, value: impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = write!(out, " {name}=\"");
    for c in xml::escape(&value.to_string()).chars() {
        match c {
            c if c.is_control() => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
