//! Text rendering: fonts, their glyphs as signed distance fields in the shared atlas, and strings
//! laid out as quads. Knows nothing of GUIs and draws nothing: the caller turns quads into
//! instances, and [`TextSystem::flush`] supplies the glyphs that the atlas lacks once a frame.
//!
//! Strings of simple scripts are laid out from tables, in a few nanoseconds per letter
//! (fast_layout.rs). All other strings are shaped (shaped_layout.rs) and cached while they are in
//! use (layout_cache.rs).

pub mod bitmap_font;
pub mod bmfont;
mod built_in_fonts;
mod fast_layout;
mod font;
mod font_face;
mod glyph_atlas;
mod glyph_outline;
mod glyph_registry;
mod kerning;
mod layout_cache;
mod line_breaking;
mod markup;
pub mod resource;
mod sdf;
pub mod sdf_converter;
mod shaped_layout;
#[cfg(test)]
mod test_rasterizer;
#[cfg(test)]
pub mod tests;
mod text_effects;

use engine_foundation::doing;
use engine_foundation::error;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, log};
use engine_frame_packet::text::{
    FontMetrics, FontNumber, FontPage, GlyphQuad, PageNumber, TextExtents, TextRequest,
};
use engine_frame_packet::texture::TextureChange;
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use font::{BitmapPages, Font, GlyphSource};
use font_face::{FontBytes, FontFace};
use glyph_registry::GlyphRegistry;
use layout_cache::{LayoutCache, LayoutRequest};
use markup::ColorMarkup;
use resource::FontData;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

pub use built_in_fonts::{DEFAULT_FONT, MONO_FONT, is_built_in_font};

/// Largest size of text, in units per em.
pub const SIZE_MAX: f32 = 4096.0;
/// Maximum number of bytes of one text.
pub const TEXT_BYTES_MAX: usize = 65_536;
/// Maximum number of loaded fonts.
pub const FONTS_MAX: usize = 256;
/// Maximum length of a chain of fonts in which each falls back to the next.
pub const FALLBACK_MAX: usize = 16;
/// Number of prewarmed glyphs generated in one frame, in addition to the glyphs that it shows.
pub const PREWARMED_PER_FRAME: usize = 32;
/// Maximum number of missing characters that are logged for one font, each once.
pub const MISSING_LOGGED_MAX: usize = 32;

/// All loaded fonts, their known glyphs, and the cached layouts of shaped texts.
#[derive(Default)]
pub struct TextSystem {
    fonts: Vec<Font>,
    numbers: HashMap<String, FontNumber>,
    glyphs: GlyphRegistry,
    cache: LayoutCache,
    work: LayoutScratch,
}

/// Buffers that are reused for every layout.
#[derive(Default)]
struct LayoutScratch {
    quads: Vec<GlyphQuad>,
    styled: Vec<GlyphQuad>,
    used: Vec<u32>,
    markup: ColorMarkup,
    lines: Vec<Range<usize>>,
    shaper: shaped_layout::Shaper,
}

/// The fonts and glyphs that layout functions work with.
struct LayoutContext<'a> {
    fonts: &'a mut [Font],
    glyphs: &'a mut GlyphRegistry,
}

impl TextSystem {
    /// Creates a text system without fonts. Each font is loaded when it is first requested.
    pub fn new() -> TextSystem {
        TextSystem::default()
    }

    /// Returns the number of a font by its resource name. Loads the font and its fallback fonts at
    /// the first request. Numbers stay the same for the whole run.
    ///
    /// # Errors
    /// Returns an error if the font does not exist, its data is damaged, or [`FONTS_MAX`] fonts are
    /// loaded.
    pub fn find(&mut self, store: &mut ResourceStore, name: &str) -> Result<FontNumber, Error> {
        match self.numbers.get(name) {
            Some(number) => Ok(*number),
            None => {
                engine_foundation::owner!("resources/fonts");
                self.load(store, name, &mut Vec::new())
            }
        }
    }

    /// Returns the font with a number, or `None` if no such font is loaded.
    pub fn number(&self, number: u32) -> Option<FontNumber> {
        ((number as usize) < self.fonts.len()).then_some(FontNumber(number))
    }

    /// Returns the resource name of a font.
    pub fn name(&self, font: FontNumber) -> &str {
        &self.fonts[font.0 as usize].name
    }

    /// Returns the metrics of a font, without its fallback fonts.
    pub fn metrics(&self, font: FontNumber) -> FontMetrics {
        self.fonts[font.0 as usize].metrics()
    }

    /// Returns a page that quads refer to. [`PageNumber::SHARED`] is the atlas and not a valid
    /// argument.
    pub fn page(&self, page: PageNumber) -> &FontPage {
        self.glyphs.page(page)
    }

    /// Lays out a text and returns its quads in drawing order: shadows, glows, outlines, letters.
    ///
    /// # Errors
    /// Returns an error if the size is not above 0 and at most [`SIZE_MAX`], or if the text is
    /// longer than [`TEXT_BYTES_MAX`].
    pub fn layout(&mut self, request: &TextRequest) -> Result<&[GlyphQuad], Error> {
        check(request)?;
        if text_effects::is_plain(&request.style) {
            self.lay_out(request, PIXEL / request.size);
            return Ok(&self.work.quads);
        }
        let reach = text_effects::effect_extents(request, &mut self.fonts[request.font.0 as usize]);
        self.lay_out(request, (PIXEL + reach.margin) / request.size);
        let width = |page| self.glyphs.page(page).width;
        let (letters, styled) = (&self.work.quads, &mut self.work.styled);
        text_effects::apply(letters, &request.style, reach, width, styled);
        Ok(&self.work.styled)
    }

    /// Returns the extents of a text, as `text_extents` does in the Bitsquid family. Outlines,
    /// glows and shadows are not included.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`TextSystem::layout`].
    pub fn extents(&mut self, request: &TextRequest) -> Result<TextExtents, Error> {
        check(request)?;
        let mut extents = self.lay_out(&TextRequest { is_retained: false, ..*request }, 0.0);
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

    /// Breaks a text to `max_width` and returns the byte range of each line. A range excludes `\n`
    /// and the spaces at which the line was broken.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`TextSystem::layout`], and if the text is not
    /// UTF-8.
    pub fn word_wrap(&mut self, request: &TextRequest) -> Result<&[Range<usize>], Error> {
        check(request)?;
        let TextSystem { fonts, glyphs, work, .. } = self;
        let cut = work.markup.extract(request);
        let plain_text = if cut.is_some() { &work.markup.text[..] } else { request.text };
        let text = std::str::from_utf8(plain_text).map_err(|_| {
            error!("the text is not UTF-8: its lines would not be lines of the text")
        })?;
        let part = &mut LayoutContext { fonts, glyphs };
        work.lines = shaped_layout::wrap(part, &mut work.shaper, text, request);
        if cut.is_some() {
            work.markup.to_source_ranges(&mut work.lines);
        }
        Ok(&work.lines)
    }

    /// Returns true if a font, or one of its fallback fonts, has a glyph for every character of a
    /// text.
    pub fn has_all_glyphs(&self, font: FontNumber, text: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        text.chars()
            .all(|c| c.is_control() || font::font_with_glyph(&self.fonts, font, c).is_some())
    }

    /// Queues glyphs to be generated before they are shown, [`PREWARMED_PER_FRAME`] of them in
    /// each frame.
    pub fn prewarm(&mut self, font: FontNumber, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if let Some((number, id)) = font::font_with_glyph(&self.fonts, font, c) {
                let glyph = self.glyphs.of(&self.fonts, number, id);
                self.glyphs.prewarm(glyph);
            }
        }
    }

    /// Reloads the fonts that are among the changed resources. Text in retained GUIs does not
    /// change until it is updated.
    pub fn reload(&mut self, store: &mut ResourceStore, changed: &ChangedResources) {
        for name in changed.of(ReloadStep::Fonts) {
            if let Some(number) = self.numbers.get(&name.name).copied()
                && let Err(error) = self.reload_font(store, number)
            {
                log::error(&error.to_string());
            }
        }
    }

    /// Ends a frame: generates the glyphs that the frame showed for the first time and some
    /// prewarmed ones, and adds them to the packet's changes.
    ///
    /// # Errors
    /// Returns an error if the operating system cannot create another thread.
    pub fn flush(
        &mut self,
        pool: &TaskPool,
        changes: &mut Vec<TextureChange>,
    ) -> Result<(), Error> {
        let result = self.glyphs.flush(&self.fonts, pool, changes);
        self.end_frame();
        result
    }

    /// Ends a frame that is not displayed, without generating glyphs.
    pub fn end_frame(&mut self) {
        self.glyphs.frame += 1;
        self.cache.end_frame();
    }

    /// Schedules every glyph to be sent again with the next packet, because the renderer has lost
    /// them.
    pub fn send_again(&mut self) {
        self.glyphs.send_again();
    }
}

/// Width of the smooth edge around letters, in units of the size: three quarters of a pixel.
const PIXEL: f32 = 0.75;

fn check(request: &TextRequest) -> Result<(), Error> {
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

/// Logs a character that no font has, once per character.
#[cold]
fn missing(font: &mut Font, c: char) {
    let logged = &mut font.logged.missing;
    if logged.len() >= MISSING_LOGGED_MAX || !logged.insert(c) {
        return;
    }
    let more = if logged.len() == MISSING_LOGGED_MAX { "; others are not reported" } else { "" };
    log::warning(&format!(
        "the font '{}' has no glyph for U+{:04X} '{}', and no fallback font either: a box is \
         shown{more}",
        font.name,
        c as u32,
        c.escape_debug()
    ));
}

impl TextSystem {
    /// Lays out a text into the working quads, which extend `margin` ems beyond the ink. The bounds
    /// of the returned extents are not filled in.
    fn lay_out(&mut self, request: &TextRequest, margin: f32) -> TextExtents {
        let TextSystem { fonts, glyphs, work, cache, .. } = self;
        let part = &mut LayoutContext { fonts, glyphs };
        let (text, spans) = match work.markup.extract(request) {
            Some(()) => (&work.markup.text[..], &work.markup.spans[..]),
            None => (request.text, request.spans),
        };
        let quads = &mut work.quads;
        let is_wrapped = request.max_width > 0.0;
        if !is_wrapped
            && let Some(extents) = fast_layout::lay_out(part, quads, text, spans, request, margin)
        {
            return extents;
        }
        let wanted = LayoutRequest::new(text, spans, request, margin);
        if let Some(entry) = cache.find(&wanted, part.glyphs.version) {
            quads.clear();
            quads.extend(&entry.quads);
            for index in &entry.glyphs {
                part.glyphs.all[*index as usize].used = part.glyphs.frame;
                if request.is_retained {
                    part.glyphs.mark_retained(*index);
                }
            }
            return entry.extents;
        }
        let valid = String::from_utf8_lossy(text);
        let logged = &mut part.fonts[request.font.0 as usize].logged.bad_text;
        if matches!(valid, std::borrow::Cow::Owned(_)) && !std::mem::replace(logged, true) {
            let beginning: String = valid.chars().take(40).collect();
            log::warning(&format!(
                "a text is not UTF-8, and shows U+FFFD where it is not: \"{beginning}\""
            ));
        }
        let (used, shaper) = (&mut work.used, &mut work.shaper);
        let extents =
            shaped_layout::lay_out(part, shaper, quads, used, (&valid, spans), request, margin);
        cache.insert(&wanted, part.glyphs.version, quads, used, extents);
        extents
    }

    /// Loads a font. `above` lists the fonts that fall back to it.
    fn load(
        &mut self,
        store: &mut ResourceStore,
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
        font::compute_fallback_orders(&mut self.fonts);
        self.prewarm(number, &prewarm);
        Ok(number)
    }

    fn reload_font(&mut self, store: &mut ResourceStore, number: FontNumber) -> Result<(), Error> {
        let name = self.name(number).to_string();
        doing!("When loading font again:", &name);
        let (body, fallback, prewarm) = self.read(store, &name, &mut Vec::new())?;
        self.fonts[number.0 as usize] = Font::new(&name, body, fallback);
        font::compute_fallback_orders(&mut self.fonts);
        self.glyphs.remove_glyphs_of(number.0);
        self.cache.clear();
        // Other fonts may fall back to this one and hold its old glyphs.
        self.fonts.iter_mut().for_each(Font::forget_glyphs);
        self.prewarm(number, &prewarm);
        Ok(())
    }

    /// Reads a font and loads its fallback fonts. Returns the source of its glyphs, its fallback
    /// fonts and the characters to prewarm.
    fn read(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        above: &mut Vec<String>,
    ) -> Result<(GlyphSource, Vec<u32>, String), Error> {
        let resource = ResourceName::new(resource::FONT.name, name);
        if !store.has(&resource) {
            let Some(file) = built_in_fonts::find(name) else {
                let message = store.missing_message(&resource);
                return Err(error!("{message}; the engine's own font is '{DEFAULT_FONT}'"));
            };
            let face = FontFace::open(Arc::new(FontBytes::Embedded(file)), 0)?;
            let fallback = self.fallback(store, name, built_in_fonts::fallback(name), above)?;
            return Ok((GlyphSource::Outlines(face), fallback, String::new()));
        }
        let bytes = store.read(&resource)?;
        let damaged = |error: Error| error!("the font '{name}' cannot be used: {}", error.message);
        let compiled = contain(&resource, || FontData::from_bytes(&bytes).map_err(damaged))?;
        let body = match compiled.body {
            resource::FontBody::Outlines { file, face } => {
                let data = Arc::new(FontBytes::Part(bytes.clone(), file));
                let open = || FontFace::open(data, face).map_err(damaged);
                GlyphSource::Outlines(contain(&resource, open)?)
            }
            resource::FontBody::Pages(font) => {
                let first_page = self.glyphs.add_pages(&font);
                GlyphSource::Pages(Box::new(BitmapPages::new(font, first_page)))
            }
        };
        let fallback = self.fallback(store, name, &compiled.fallback, above)?;
        Ok((body, fallback, compiled.prewarm))
    }

    /// Returns the numbers of the fallback fonts of a font, and loads those that are not loaded
    /// yet.
    fn fallback(
        &mut self,
        store: &mut ResourceStore,
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
