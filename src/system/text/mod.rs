//! Text: fonts, their glyphs as distance fields in the shared atlas, and strings laid out as
//! quadrilaterals. Knows no Guis and draws nothing: whoever draws makes instances of the quads, and
//! [`Texts::flush`] hands over what the atlas lacks, once a frame.
//!
//! Strings of simple scripts take a table's way, a few nanoseconds a letter (simple.rs); all others
//! are shaped (complex.rs) and kept while they are used (cache.rs).

mod angel;
mod atlas;
mod cache;
mod complex;
mod core_fonts;
mod face;
mod field;
mod font;
mod glyphs;
pub mod kind;
mod lines;
mod markup;
mod outline;
mod pairs;
pub mod pages;
mod simple;
mod style;
#[cfg(test)]
mod tests;

use crate::error;
use crate::foundation::tasks::Pool;
use crate::foundation::{Error, log};
use crate::packet::text::{
    Extents, FontNumber, GlyphQuad, Metrics, Page, PageNumber, Request, Span,
};
use crate::packet::texture::TextureChange;
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use cache::Cache;
use font::Font;
use glyphs::Glyphs;
use std::collections::HashMap;
use std::ops::Range;

pub use core_fonts::DEFAULT_FONT;

/// The largest size of text, in units for each em.
pub const SIZE_MAX: f32 = 4096.0;
/// The most bytes of one text.
pub const TEXT_BYTES_MAX: usize = 65_536;
/// The most fonts.
pub const FONTS_MAX: usize = 256;
/// Prewarmed glyphs that one frame makes beside those that it shows.
pub const PREWARMED_EACH_FRAME: usize = 32;

/// Every font, the glyphs that are known of them, and the strings that are laid out.
pub struct Texts {
    fonts: Vec<Font>,
    numbers: HashMap<String, FontNumber>,
    glyphs: Glyphs,
    cache: Cache,
    work: Work,
}

/// Room that is used again for every text.
#[derive(Default)]
struct Work {
    quads: Vec<GlyphQuad>,
    styled: Vec<GlyphQuad>,
    plain: Vec<u8>,
    spans: Vec<Span>,
    /// Where markup was cut out: from this byte of what is shown on, so many were cut out.
    cuts: Vec<(u32, u32)>,
    lines: Vec<Range<usize>>,
    shaper: complex::Shaper,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts::new()
    }
}

impl Texts {
    /// No fonts yet: each is loaded when it is first asked for.
    pub fn new() -> Texts {
        Texts {
            fonts: Vec::new(),
            numbers: HashMap::new(),
            glyphs: Glyphs::default(),
            cache: Cache::default(),
            work: Work::default(),
        }
    }

    /// The number of a font, by its resource name; loads it and its fallback fonts when they are
    /// first asked for. The numbers stay the same for the whole run.
    ///
    /// # Errors
    /// If there is no such font, its data is damaged, or [`FONTS_MAX`] are loaded.
    pub fn find(&mut self, store: &mut Store, name: &str) -> Result<FontNumber, Error> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        self.load(store, name, &mut Vec::new())
    }

    /// The font of a number, where there is one.
    pub fn number(&self, number: u32) -> Option<FontNumber> {
        ((number as usize) < self.fonts.len()).then_some(FontNumber(number))
    }

    /// A font's resource name.
    pub fn name(&self, font: FontNumber) -> &str {
        &self.fonts[font.0 as usize].name
    }

    /// A font's own lengths.
    pub fn metrics(&self, font: FontNumber) -> Metrics {
        self.fonts[font.0 as usize].metrics()
    }

    /// A page that quads name; not [`PageNumber::SHARED`], which is the atlas.
    pub fn page(&self, page: PageNumber) -> &Page {
        self.glyphs.page(page)
    }

    /// Lays a text out. What comes back is valid until the next call; it is in drawing order:
    /// shadows, glows, outlines, letters.
    ///
    /// # Errors
    /// If the size is not above 0 and at most [`SIZE_MAX`], the width is not a number, or the text
    /// is longer than [`TEXT_BYTES_MAX`].
    pub fn layout(&mut self, request: &Request) -> Result<&[GlyphQuad], Error> {
        self.lay_out(request)?;
        let font = &mut self.fonts[request.font.0 as usize];
        Ok(style::apply(&mut self.work, request, font))
    }

    /// How much room a text takes: the family's `text_extents`.
    ///
    /// # Errors
    /// As for [`Texts::layout`].
    pub fn extents(&mut self, request: &Request) -> Result<Extents, Error> {
        self.lay_out(request)
    }

    /// Where a text's lines begin and end, in bytes, when it is broken to `max_width`: without the
    /// spaces and the `\n` that end a line.
    ///
    /// # Errors
    /// As for [`Texts::layout`].
    pub fn word_wrap(&mut self, request: &Request) -> Result<&[Range<usize>], Error> {
        check(request)?;
        let text = markup::strip(&mut self.work, request);
        let text = lines::valid(text, request.text, self.name(request.font));
        complex::wrap(self, &text, request);
        markup::widen(&mut self.work);
        Ok(&self.work.lines)
    }

    /// Whether a font, or one of its fallback fonts, has a glyph for every character of a text.
    pub fn has_all_glyphs(&mut self, font: FontNumber, text: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        text.chars().all(|c| c.is_control() || font::who_has(&self.fonts, font, c).is_some())
    }

    /// Makes glyphs before they are shown: [`PREWARMED_EACH_FRAME`] of them in each frame.
    pub fn prewarm(&mut self, font: FontNumber, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if let Some((number, id)) = font::who_has(&self.fonts, font, c) {
                let glyph = self.glyphs.of(&self.fonts, number, id);
                self.glyphs.prewarm(glyph);
            }
        }
    }

    /// Loads fonts anew that are among the changed resources. What retained Guis show of them stays
    /// as it is until they update it.
    pub fn reload(&mut self, store: &mut Store, changed: &[ResourceName]) {
        for name in changed.iter().filter(|name| name.kind == kind::FONT.name) {
            if let Some(number) = self.numbers.get(&name.name).copied()
                && let Err(error) = self.load_again(store, number)
            {
                log::error(&error.to_string());
            }
        }
    }

    /// Ends a frame: makes the glyphs that it showed for the first time, and some prewarmed ones,
    /// and adds them to the packet's changes.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub fn flush(&mut self, pool: &Pool, changes: &mut Vec<TextureChange>) -> Result<(), Error> {
        self.cache.end_frame();
        self.glyphs.flush(&self.fonts, pool, changes)
    }
}
