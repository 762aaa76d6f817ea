//! A loaded font: its outlines or pages, its fallback fonts, and the tables for simple text.
//! Loading is in mod.rs.

use super::bitmap_font::BitmapFont;
use super::font_face::FontFace;
use super::glyph_registry::{Glyph, GlyphState};
use super::kerning::PairTable;
use engine_frame_packet::gui::{QuadInstance, paint};
use engine_frame_packet::text::{FontMetrics, FontNumber, PageNumber, TextStyle};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Hasher for small numbers that an attacker cannot choose, so it does not resist collisions.
#[derive(Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// Hash map with numeric keys.
pub type NumberTable<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Marks a missing glyph index.
pub const NONE: u32 = u32::MAX;

/// Source of a font's glyphs.
pub enum GlyphSource {
    Outlines(FontFace),
    Pages(Box<BitmapPages>),
}

/// One loaded font.
pub struct Font {
    pub name: String,
    pub body: GlyphSource,
    /// Fonts that are searched for a character, in order, beginning with this one.
    pub order: Vec<u32>,
    /// Fallback fonts that this font names directly.
    pub fallback: Vec<u32>,
    /// Glyph indices of the characters used so far.
    pub ascii: [u32; 128],
    pub non_ascii: NumberTable<char, u32>,
    pub pairs: PairTable,
    /// Problems that were logged already.
    pub logged: LoggedProblems,
}

/// Problems of a font that were logged, so that each is logged once.
#[derive(Default)]
pub struct LoggedProblems {
    pub missing: HashSet<char>,
    pub bad_text: bool,
    pub reach: bool,
}

impl Font {
    pub fn new(name: &str, body: GlyphSource, fallback: Vec<u32>) -> Font {
        let (ascii, non_ascii) = ([NONE; 128], NumberTable::default());
        let (pairs, logged) = (PairTable::default(), LoggedProblems::default());
        Font {
            name: name.to_string(),
            body,
            order: Vec::new(),
            fallback,
            ascii,
            non_ascii,
            pairs,
            logged,
        }
    }

    pub fn metrics(&self) -> FontMetrics {
        match &self.body {
            GlyphSource::Outlines(face) => face.metrics,
            GlyphSource::Pages(pages) => pages.metrics(),
        }
    }

    /// Returns how far distance fields extend around the letters, in ems.
    pub fn field_extent(&self) -> f32 {
        match &self.body {
            GlyphSource::Outlines(_) => TextStyle::FIELD_EXTENT,
            GlyphSource::Pages(pages) => pages.field_range() / pages.font.size,
        }
    }

    /// Returns the number of a character's glyph in this font, without its fallback fonts.
    pub fn glyph(&self, c: char) -> Option<u32> {
        match &self.body {
            GlyphSource::Outlines(face) => face.glyph(c),
            GlyphSource::Pages(pages) => pages.by_character.get(&(c as u32)).copied(),
        }
    }

    /// Returns true if simple text can be laid out with a table of pairs.
    pub fn uses_kerning_table(&self) -> bool {
        match &self.body {
            GlyphSource::Outlines(face) => face.uses_kerning_table,
            GlyphSource::Pages(_) => true,
        }
    }

    /// Clears the mapping from characters to glyphs.
    pub fn forget_glyphs(&mut self) {
        self.ascii = [NONE; 128];
        self.non_ascii.clear();
        self.pairs = PairTable::default();
    }
}

/// Computes the search order of every font: the font itself, then its fallback fonts, each followed
/// by its own fallback fonts, without duplicates.
pub fn compute_fallback_orders(fonts: &mut [Font]) {
    for number in 0..fonts.len() as u32 {
        let mut order = Vec::new();
        let mut open = vec![number];
        while let Some(next) = open.pop() {
            if !order.contains(&next) {
                order.push(next);
                open.extend(fonts[next as usize].fallback.iter().rev());
            }
        }
        fonts[number as usize].order = order;
    }
}

/// Returns the first font in the search order of `font` that has a character, and the character's
/// glyph number there.
pub fn font_with_glyph(fonts: &[Font], font: FontNumber, c: char) -> Option<(u32, u32)> {
    let order = &fonts[font.0 as usize].order;
    order.iter().find_map(|number| Some((*number, fonts[*number as usize].glyph(c)?)))
}

/// A bitmap font with pages, ready for layout.
pub struct BitmapPages {
    font: BitmapFont,
    first_page: u32,
    by_character: HashMap<u32, u32>,
    kernings: HashMap<(u32, u32), f32>,
}

impl BitmapPages {
    pub fn new(font: BitmapFont, first_page: u32) -> BitmapPages {
        let numbers = font.glyphs.iter().enumerate();
        // Glyphs of control characters and BMFont's missing-character glyph represent no character.
        let by_character: HashMap<u32, u32> =
            numbers.map(|(i, glyph)| (glyph.id, i as u32)).filter(|(id, _)| *id >= 32).collect();
        let pair = |first: u32, second: u32| {
            Some((*by_character.get(&first)?, *by_character.get(&second)?))
        };
        let kernings = font.kernings.iter().filter_map(|kerning| {
            Some((pair(kerning.first, kerning.second)?, kerning.amount / font.size))
        });
        let kernings = kernings.collect();
        BitmapPages { font, first_page, by_character, kernings }
    }

    fn metrics(&self) -> FontMetrics {
        let BitmapFont { size, base, line_height, .. } = self.font;
        FontMetrics {
            ascent: base / size,
            descent: (line_height - base).max(0.0) / size,
            line_height: line_height / size,
        }
    }

    /// Returns how far distance fields can be drawn around letters, in pixels of the pages.
    fn field_range(&self) -> f32 {
        self.font.padding.iter().copied().fold(self.font.spread, f32::min).max(0.0)
    }

    /// Returns the kerning of a pair of glyphs, in ems.
    pub fn kerning(&self, first: u32, second: u32) -> f32 {
        self.kernings.get(&(first, second)).copied().unwrap_or(0.0)
    }

    /// Returns the measurements of a glyph by its index in the file.
    pub fn glyph(&self, number: u32) -> Glyph {
        let font = &self.font;
        let glyph = font.glyphs[number as usize];
        // Padding of a distance field is drawn only as far as needed. A color picture is drawn
        // whole.
        let [up, right, down, left] = if font.spread > 0.0 { font.padding } else { [0.0; 4] };
        let room = self.field_range();
        let (x, y) = (glyph.x + left, glyph.y + up);
        let width = (glyph.width - left - right).max(0.0);
        let height = (glyph.height - up - down).max(0.0);
        let (w, h) = (font.page_width, font.page_height);
        let ink_left = (glyph.x_offset + left) / font.size;
        let ink_top = (font.base - glyph.y_offset - up) / font.size;
        let ink = [ink_left, ink_top - height / font.size, ink_left + width / font.size, ink_top];
        let is_blank = width <= 0.0 || height <= 0.0;
        let spread = (font.spread * 8.0).round() as u32;
        let paint = match spread {
            0 => QuadInstance::paint(paint::TEXTURE, 0, 0),
            _ => QuadInstance::paint(
                paint::TEXTURE_FIELD,
                spread.min(QuadInstance::LAYERS_MAX - 1),
                0,
            ),
        };
        Glyph {
            advance: glyph.x_advance / font.size,
            ink: if is_blank { [0.0; 4] } else { ink },
            uv: [x / w, (y + height) / h, (x + width) / w, y / h],
            texels: font.size,
            texel: 1.0 / font.size,
            room,
            uv_texel: [1.0 / w, 1.0 / h],
            paint,
            page: PageNumber(self.first_page + glyph.page),
            used: 0,
            state: if is_blank { GlyphState::Blank } else { GlyphState::Ready },
        }
    }
}
