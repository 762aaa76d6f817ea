//! Text: fonts, their glyphs as distance fields in the shared atlas, and strings laid out as
//! quadrilaterals. Knows no Guis and draws nothing: whoever draws makes instances of the quads, and
//! [`Texts::flush`] hands over what the atlas lacks, once a frame.
//!
//! Strings of simple scripts take a table's way, a few nanoseconds a letter (simple.rs); all others
//! are shaped (complex.rs) and kept while they are used (cache.rs).

pub mod angel;
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
pub mod pages;
#[cfg(test)]
mod painter;
mod pairs;
pub mod shrink;
mod simple;
mod style;
#[cfg(test)]
pub mod tests;

use crate::doing;
use crate::error;
use crate::foundation::tasks::Pool;
use crate::foundation::{Error, log};
use crate::packet::text::{Extents, FontNumber, GlyphQuad, Metrics, Page, PageNumber, Request};
use crate::packet::texture::TextureChange;
use crate::resource::containment::contain;
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use cache::{Cache, Wanted};
use face::{Data, Face};
use font::{Body, Font, Pages};
use glyphs::Glyphs;
use kind::Compiled;
use markup::Markup;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

pub use core_fonts::DEFAULT_FONT;

/// The largest size of text, in units for each em.
pub const SIZE_MAX: f32 = 4096.0;
/// The most bytes of one text.
pub const TEXT_BYTES_MAX: usize = 65_536;
/// The most fonts.
pub const FONTS_MAX: usize = 256;
/// The most fonts in a row of which each falls back to the next.
pub const FALLBACK_MAX: usize = 16;
/// Prewarmed glyphs that one frame makes beside those that it shows.
pub const PREWARMED_EACH_FRAME: usize = 32;
/// Missing characters of one font that the log hears of, each once.
pub const MISSING_TOLD_MAX: usize = 32;

/// Every font, the glyphs that are known of them, and the texts that were shaped.
#[derive(Default)]
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
    used: Vec<u32>,
    markup: Markup,
    lines: Vec<Range<usize>>,
    shaper: complex::Shaper,
}

/// What laying out works with.
struct Part<'a> {
    fonts: &'a mut [Font],
    glyphs: &'a mut Glyphs,
}

impl Texts {
    /// No fonts yet: each is loaded when it is first asked for.
    pub fn new() -> Texts {
        Texts::default()
    }

    /// The number of a font, by its resource name; loads it and its fallback fonts when they are
    /// first asked for. Numbers stay the same for the whole run.
    ///
    /// # Errors
    /// If there is no such font, its data is damaged, or [`FONTS_MAX`] are loaded.
    pub fn find(&mut self, store: &mut Store, name: &str) -> Result<FontNumber, Error> {
        match self.numbers.get(name) {
            Some(number) => Ok(*number),
            None => {
                crate::owner!("resources/fonts");
                self.load(store, name, &mut Vec::new())
            }
        }
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

    /// Lays a text out. What comes back is in drawing order: shadows, glows, outlines, letters.
    ///
    /// # Errors
    /// If the size is not above 0 and at most [`SIZE_MAX`], or the text is longer than
    /// [`TEXT_BYTES_MAX`].
    pub fn layout(&mut self, request: &Request) -> Result<&[GlyphQuad], Error> {
        check(request)?;
        if style::is_plain(&request.style) {
            self.lay_out(request, PIXEL / request.size);
            return Ok(&self.work.quads);
        }
        let reach = style::reach(request, &mut self.fonts[request.font.0 as usize]);
        self.lay_out(request, (PIXEL + reach.around) / request.size);
        let width = |page| self.glyphs.page(page).width;
        let (letters, styled) = (&self.work.quads, &mut self.work.styled);
        style::apply(letters, &request.style, reach, width, styled);
        Ok(&self.work.styled)
    }

    /// How much room a text takes: the family's `text_extents`. Its style takes none.
    ///
    /// # Errors
    /// As for [`Texts::layout`].
    pub fn extents(&mut self, request: &Request) -> Result<Extents, Error> {
        check(request)?;
        let mut extents = self.lay_out(&Request { kept: false, ..*request }, 0.0);
        let none = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let bounds = self.work.quads.iter().fold(none, |[l, b, r, t], quad| {
            let [left, bottom, right, top] = quad.rect;
            [l.min(left), b.min(bottom), r.max(right), t.max(top)]
        });
        if bounds[0] <= bounds[2] {
            (extents.min, extents.max) = ([bounds[0], bounds[1]], [bounds[2], bounds[3]]);
        }
        Ok(extents)
    }

    /// Where a text's lines begin and end, in bytes, when it is broken to `max_width`: without the
    /// spaces that a line was broken at, and without `\n`.
    ///
    /// # Errors
    /// As for [`Texts::layout`]; and if the text is not UTF-8.
    pub fn word_wrap(&mut self, request: &Request) -> Result<&[Range<usize>], Error> {
        check(request)?;
        let Texts { fonts, glyphs, work, .. } = self;
        let cut = work.markup.take_out(request);
        let shown = if cut.is_some() { &work.markup.text[..] } else { request.text };
        let text = std::str::from_utf8(shown).map_err(|_| {
            error!("the text is not UTF-8: its lines would not be lines of the text")
        })?;
        let part = &mut Part { fonts, glyphs };
        work.lines = complex::wrap(part, &mut work.shaper, text, request);
        if cut.is_some() {
            work.markup.widen(&mut work.lines);
        }
        Ok(&work.lines)
    }

    /// Whether a font, or one of its fallback fonts, has a glyph for every character of a text.
    pub fn has_all_glyphs(&self, font: FontNumber, text: &[u8]) -> bool {
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
    /// as it is until it is updated.
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
        let made = self.glyphs.flush(&self.fonts, pool, changes);
        self.end_frame();
        made
    }

    /// Ends a frame that nobody sees: no glyph is made.
    pub fn end_frame(&mut self) {
        self.glyphs.frame += 1;
        self.cache.end_frame();
    }

    /// Has every glyph sent again with the next packet: whoever draws has lost them.
    pub fn send_again(&mut self) {
        self.glyphs.send_again();
    }
}

/// How far around letters their edges are smooth, in units of the size: a pixel and its half.
const PIXEL: f32 = 0.75;

fn check(request: &Request) -> Result<(), Error> {
    let size = request.size;
    if !(size > 0.0 && size <= SIZE_MAX) {
        return Err(error!(
            "the size of text must be above 0 and at most {SIZE_MAX} (SIZE_MAX), got {size}"
        ));
    }
    if request.text.len() > TEXT_BYTES_MAX {
        return Err(error!(
            "a text of {} bytes is longer than {TEXT_BYTES_MAX} (TEXT_BYTES_MAX): draw what can be \
             seen of it",
            request.text.len()
        ));
    }
    Ok(())
}

/// A character that no font has: the log hears of it once.
#[cold]
fn missing(font: &mut Font, c: char) {
    let told = &mut font.told.missing;
    if told.len() >= MISSING_TOLD_MAX || !told.insert(c) {
        return;
    }
    let more = if told.len() == MISSING_TOLD_MAX { "; others are not told" } else { "" };
    log::warning(&format!(
        "the font '{}' has no glyph for U+{:04X} '{}', and no fallback font either: a box is \
         shown{more}",
        font.name,
        c as u32,
        c.escape_debug()
    ));
}

impl Texts {
    /// Lays a text out into the working quads, which reach `around` ems beyond the ink. The bounds
    /// are not filled in.
    fn lay_out(&mut self, request: &Request, around: f32) -> Extents {
        let Texts { fonts, glyphs, work, cache, .. } = self;
        let part = &mut Part { fonts, glyphs };
        let (text, spans) = match work.markup.take_out(request) {
            Some(()) => (&work.markup.text[..], &work.markup.spans[..]),
            None => (request.text, request.spans),
        };
        let quads = &mut work.quads;
        let is_wrapped = request.max_width > 0.0;
        if !is_wrapped
            && let Some(extents) = simple::lay_out(part, quads, text, spans, request, around)
        {
            return extents;
        }
        let wanted = Wanted::new(text, spans, request, around);
        if let Some(entry) = cache.find(&wanted, part.glyphs.version) {
            quads.clear();
            quads.extend(&entry.quads);
            for index in &entry.glyphs {
                part.glyphs.all[*index as usize].used = part.glyphs.frame;
                if request.kept {
                    part.glyphs.keep(*index);
                }
            }
            return entry.extents;
        }
        let valid = String::from_utf8_lossy(text);
        let told = &mut part.fonts[request.font.0 as usize].told.bad_text;
        if matches!(valid, std::borrow::Cow::Owned(_)) && !std::mem::replace(told, true) {
            let beginning: String = valid.chars().take(40).collect();
            log::warning(&format!(
                "a text is not UTF-8, and shows U+FFFD where it is not: \"{beginning}\""
            ));
        }
        let (used, shaper) = (&mut work.used, &mut work.shaper);
        let extents = complex::lay_out(part, shaper, quads, used, (&valid, spans), request, around);
        cache.keep(&wanted, part.glyphs.version, quads, used, extents);
        extents
    }

    /// Loads a font; `above` are the fonts that fall back to it.
    fn load(
        &mut self,
        store: &mut Store,
        name: &str,
        above: &mut Vec<String>,
    ) -> Result<FontNumber, Error> {
        doing!("When loading font:", name);
        if above.iter().any(|known| known == name) {
            return Err(error!(
                "fonts fall back to each other in a circle: {} → {name}: take one out",
                above.join(" → ")
            ));
        }
        if above.len() >= FALLBACK_MAX {
            return Err(error!(
                "fonts fall back to each other more than {FALLBACK_MAX} deep: {} → {name}: list \
                 them all in the first one",
                above.join(" → ")
            ));
        }
        let (body, fallback, prewarm) = self.read(store, name, above)?;
        if self.fonts.len() >= FONTS_MAX {
            return Err(error!("{FONTS_MAX} fonts are loaded already (FONTS_MAX): use fewer"));
        }
        let number = FontNumber(self.fonts.len() as u32);
        self.fonts.push(Font::new(name, body, fallback));
        self.numbers.insert(name.to_string(), number);
        font::order_all(&mut self.fonts);
        self.prewarm(number, &prewarm);
        Ok(number)
    }

    fn load_again(&mut self, store: &mut Store, number: FontNumber) -> Result<(), Error> {
        let name = self.name(number).to_string();
        doing!("When loading font again:", &name);
        let (body, fallback, prewarm) = self.read(store, &name, &mut Vec::new())?;
        self.fonts[number.0 as usize] = Font::new(&name, body, fallback);
        font::order_all(&mut self.fonts);
        self.glyphs.forget(number.0);
        self.cache.clear();
        // Others may fall back to it, and hold what it had.
        self.fonts.iter_mut().for_each(Font::forget_glyphs);
        self.prewarm(number, &prewarm);
        Ok(())
    }

    /// Reads a font and loads what it falls back to: where its glyphs are, its fallback fonts and
    /// what is to be prewarmed.
    fn read(
        &mut self,
        store: &mut Store,
        name: &str,
        above: &mut Vec<String>,
    ) -> Result<(Body, Vec<u32>, String), Error> {
        let resource = ResourceName::new(kind::FONT.name, name);
        if !store.has(&resource) {
            let Some(file) = core_fonts::find(name) else {
                let words = store.missing_words(&resource);
                return Err(error!("{words}; the engine's own font is '{DEFAULT_FONT}'"));
            };
            let face = Face::open(Arc::new(Data::Embedded(file)), 0)?;
            let fallback = self.fallback(store, name, core_fonts::fallback(name), above)?;
            return Ok((Body::Outlines(face), fallback, String::new()));
        }
        let bytes = store.read(&resource)?;
        let damaged = |error: Error| error!("the font '{name}' cannot be used: {}", error.message);
        let compiled = contain(&resource, || Compiled::from_bytes(&bytes).map_err(damaged))?;
        let body = match compiled.body {
            kind::Body::Outlines { file, face } => {
                let data = Arc::new(Data::Part(bytes.clone(), file));
                let open = || Face::open(data, face).map_err(damaged);
                Body::Outlines(contain(&resource, open)?)
            }
            kind::Body::Pages(font) => {
                let first_page = self.glyphs.add_pages(&font);
                Body::Pages(Box::new(Pages::new(font, first_page)))
            }
        };
        let fallback = self.fallback(store, name, &compiled.fallback, above)?;
        Ok((body, fallback, compiled.prewarm))
    }

    /// The numbers of the fonts that a font falls back to, which are loaded where they are not yet.
    fn fallback(
        &mut self,
        store: &mut Store,
        name: &str,
        others: &[impl AsRef<str>],
        above: &mut Vec<String>,
    ) -> Result<Vec<u32>, Error> {
        above.push(name.to_string());
        let mut fallback = Vec::with_capacity(others.len());
        for other in others.iter().map(AsRef::as_ref) {
            let number = match self.numbers.get(other) {
                Some(number) => *number,
                None => self.load(store, other, above)?,
            };
            fallback.push(number.0);
        }
        above.pop();
        Ok(fallback)
    }
}
