//! A font as the text system holds it: outlines or pages, the fonts it falls back to, and the
//! tables of simple text. Loading is in mod.rs.

use super::face::Face;
use super::glyphs::{Glyph, State};
use super::pages::PageFont;
use super::pairs::Pairs;
use crate::packet::gui::{Instance, paint};
use crate::packet::text::{FontNumber, Metrics, PageNumber, Style};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes small numbers, which nobody chooses to collide.
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

/// A table by numbers.
pub type Numbered<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// No glyph.
pub const NONE: u32 = u32::MAX;

/// Where a font's glyphs come from.
pub enum Body {
    Outlines(Face),
    Pages(Box<Pages>),
}

/// One font.
pub struct Font {
    pub name: String,
    pub body: Body,
    /// The fonts that are asked, in order: this one first.
    pub order: Vec<u32>,
    /// The fonts that it names itself.
    pub fallback: Vec<u32>,
    /// Indices of glyphs, for characters that were met.
    pub ascii: [u32; 128],
    pub others: Numbered<char, u32>,
    pub pairs: Pairs,
    /// What was told of already.
    pub told: Told,
}

/// What the log has heard about a font.
#[derive(Default)]
pub struct Told {
    pub missing: HashSet<char>,
    pub bad_text: bool,
    pub reach: bool,
}

impl Font {
    pub fn new(name: &str, body: Body, fallback: Vec<u32>) -> Font {
        let (ascii, others) = ([NONE; 128], Numbered::default());
        let (pairs, told) = (Pairs::default(), Told::default());
        Font {
            name: name.to_string(),
            body,
            order: Vec::new(),
            fallback,
            ascii,
            others,
            pairs,
            told,
        }
    }

    pub fn metrics(&self) -> Metrics {
        match &self.body {
            Body::Outlines(face) => face.metrics,
            Body::Pages(pages) => pages.metrics(),
        }
    }

    /// How far fields go around the letters, in ems.
    pub fn reach(&self) -> f32 {
        match &self.body {
            Body::Outlines(_) => Style::REACH,
            Body::Pages(pages) => pages.room() / pages.font.size,
        }
    }

    /// The number of a character's glyph in this font alone.
    pub fn glyph(&self, c: char) -> Option<u32> {
        match &self.body {
            Body::Outlines(face) => face.glyph(c),
            Body::Pages(pages) => pages.by_character.get(&(c as u32)).copied(),
        }
    }

    /// Whether simple text can be laid out by a table of pairs.
    pub fn has_simple_pairs(&self) -> bool {
        match &self.body {
            Body::Outlines(face) => face.has_simple_pairs,
            Body::Pages(_) => true,
        }
    }

    /// Forgets which glyphs characters have.
    pub fn forget_glyphs(&mut self) {
        self.ascii = [NONE; 128];
        self.others.clear();
        self.pairs = Pairs::default();
    }
}

/// Finds for every font which ones it asks: itself, then those that it falls back to, each with
/// what that one falls back to, and none twice.
pub fn order_all(fonts: &mut [Font]) {
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

/// The first font, of those that a font asks, that has a character: its number and the glyph's.
pub fn who_has(fonts: &[Font], font: FontNumber, c: char) -> Option<(u32, u32)> {
    let order = &fonts[font.0 as usize].order;
    order.iter().find_map(|number| Some((*number, fonts[*number as usize].glyph(c)?)))
}

/// A font with pages, ready to be laid out.
pub struct Pages {
    font: PageFont,
    first_page: u32,
    by_character: HashMap<u32, u32>,
    kernings: HashMap<(u32, u32), f32>,
}

impl Pages {
    pub fn new(font: PageFont, first_page: u32) -> Pages {
        let numbers = font.glyphs.iter().enumerate();
        // A control character's glyph, or BMFont's for what is missing, is no character's.
        let by_character: HashMap<u32, u32> =
            numbers.map(|(i, glyph)| (glyph.id, i as u32)).filter(|(id, _)| *id >= 32).collect();
        let pair = |first: u32, second: u32| {
            Some((*by_character.get(&first)?, *by_character.get(&second)?))
        };
        let kernings = font.kernings.iter().filter_map(|kerning| {
            Some((pair(kerning.first, kerning.second)?, kerning.amount / font.size))
        });
        let kernings = kernings.collect();
        Pages { font, first_page, by_character, kernings }
    }

    fn metrics(&self) -> Metrics {
        let PageFont { size, base, line_height, .. } = self.font;
        Metrics {
            ascent: base / size,
            descent: (line_height - base).max(0.0) / size,
            line_height: line_height / size,
        }
    }

    /// How far around letters fields can be drawn, in pixels of the pages.
    fn room(&self) -> f32 {
        self.font.padding.iter().copied().fold(self.font.spread, f32::min).max(0.0)
    }

    /// How much a glyph moves after another one, in ems.
    pub fn kerning(&self, first: u32, second: u32) -> f32 {
        self.kernings.get(&(first, second)).copied().unwrap_or(0.0)
    }

    /// A glyph's measurements, by its place in the file.
    pub fn glyph(&self, number: u32) -> Glyph {
        let font = &self.font;
        let glyph = font.glyphs[number as usize];
        // A field is drawn as far as it is needed; of a picture everything is meant.
        let [up, right, down, left] = if font.spread > 0.0 { font.padding } else { [0.0; 4] };
        let room = self.room();
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
            0 => Instance::paint(paint::TEXTURE, 0, 0),
            _ => Instance::paint(paint::TEXTURE_FIELD, spread.min(Instance::LAYERS_MAX - 1), 0),
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
            state: if is_blank { State::Blank } else { State::Ready },
        }
    }
}
