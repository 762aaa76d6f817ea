//! A face of an outline font file: its characters, metrics, outlines and shaping data. Knows no
//! atlas and no fallback fonts.

use super::glyph_outline::GlyphOutline;
use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::text::FontMetrics;
use engine_resource::bundle::SharedBytes;
use harfrust::{Buffer, Font, GlyphId, ShapeOptions, ShaperFont};
use skrifa::outline::DrawSettings;
use skrifa::prelude::{LocationRef, Size};
use skrifa::raw::tables::cmap::{EncodingRecord, PlatformId};
use skrifa::raw::tables::gsub::{SubstitutionLookup, SubstitutionSubtables};
use skrifa::raw::{FileRef, FontRef, ReadError, TableProvider};
use skrifa::{MetadataProvider, Tag};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Bytes of a font file: embedded in the executable, or a part of compiled data.
pub enum FontBytes {
    Embedded(&'static [u8]),
    Part(SharedBytes, Range<usize>),
}

impl AsRef<[u8]> for FontBytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            FontBytes::Embedded(bytes) => bytes,
            FontBytes::Part(bytes, range) => &bytes[range.clone()],
        }
    }
}

/// OpenType features whose rules may depend on more than two letters. A table of pairs cannot
/// represent such rules.
const CONTEXTUAL: [Tag; 5] =
    [Tag::new(b"calt"), Tag::new(b"clig"), Tag::new(b"liga"), Tag::new(b"rclt"), Tag::new(b"rlig")];
/// Unicode encodings of the Windows platform (the OpenType specification, table cmap).
const WINDOWS_BMP: u16 = 1;
const WINDOWS_FULL: u16 = 10;
/// Valid units per em (the OpenType specification, table head).
const UNITS_PER_EM: RangeInclusive<u16> = 16..=16384;

/// An opened font file.
pub struct FontFace {
    data: Arc<FontBytes>,
    index: u32,
    shaping: Font,
    units_per_em: f32,
    pub metrics: FontMetrics,
    /// True if simple text can be laid out with a table of pairs.
    pub uses_kerning_table: bool,
}

impl FontFace {
    /// Opens a font file. `index` selects one face of a collection.
    ///
    /// # Errors
    /// Returns an error that describes the problem if the file is not usable. The caller adds the
    /// file's name before the message.
    pub fn open(data: Arc<FontBytes>, index: u32) -> Result<FontFace, Error> {
        let font = parse((*data).as_ref(), index)?;
        let metrics = font.metrics(Size::unscaled(), LocationRef::default());
        let units = f32::from(metrics.units_per_em);
        let height = metrics.ascent - metrics.descent + metrics.leading;
        let metrics = FontMetrics {
            ascent: metrics.ascent / units,
            descent: -metrics.descent / units,
            line_height: if height > 0.0 { height / units } else { 1.2 },
        };
        let uses_kerning_table = !has_contexts(&font);
        let shared: Arc<dyn AsRef<[u8]> + Send + Sync> = data.clone();
        let blob = harfrust::font::Blob::from(shared);
        let shaping = Font::new(blob, index)
            .ok_or_else(|| error!("the font's tables cannot be read: the file is damaged"))?;
        Ok(FontFace { data, index, shaping, units_per_em: units, metrics, uses_kerning_table })
    }

    /// Returns the glyph of a character.
    pub fn glyph(&self, c: char) -> Option<u32> {
        let glyph = self.shaping.charmap().map_unicode(c)?;
        (glyph.to_u32() != 0).then_some(glyph.to_u32())
    }

    /// Returns the advance of a glyph, in ems.
    pub fn advance(&self, glyph: u32) -> f32 {
        ShaperFont::new(&self.shaping).glyph_h_advance(GlyphId::new(glyph)) as f32
            / self.units_per_em
    }

    /// Returns the outline of a glyph in ems, or `None` if the glyph has none or its outline is
    /// unreadable or too long.
    pub fn outline(&self, glyph: u32) -> Option<GlyphOutline> {
        let font = FontRef::from_index((*self.data).as_ref(), self.index).ok()?;
        let glyph = font.outline_glyphs().get(skrifa::GlyphId::new(glyph))?;
        let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
        let mut outline = GlyphOutline::default();
        glyph.draw(settings, &mut outline).ok()?;
        (!outline.is_too_long()).then(|| outline.scaled(1.0 / self.units_per_em))
    }

    /// Replaces the characters in a buffer with glyphs.
    ///
    /// # Errors
    /// Returns an error if the shaping rules of the font are damaged.
    pub fn shape(&self, buffer: &mut Buffer) -> Result<(), Error> {
        harfrust::shape(&ShaperFont::new(&self.shaping), buffer, ShapeOptions::new())
            .map_err(|reason| error!("the font cannot shape text: {reason}"))
    }

    /// Returns the number of ems per font unit.
    pub fn scale(&self) -> f32 {
        1.0 / self.units_per_em
    }
}

/// Parses a font file and checks that the tables required for text exist.
///
/// # Errors
/// Returns an error under the conditions of [`FontFace::open`].
pub fn parse(bytes: &[u8], index: u32) -> Result<FontRef<'_>, Error> {
    let unreadable = |reason: ReadError| {
        error!("the font cannot be read ({reason}): it is damaged, or not a .ttf or .otf file")
    };
    let file = FileRef::new(bytes).map_err(unreadable)?;
    let count = if let FileRef::Collection(collection) = &file { collection.len() } else { 1 };
    if index >= count {
        return Err(error!("the file has {count} fonts, and face {index} is requested"));
    }
    let font = FontRef::from_index(bytes, index).map_err(unreadable)?;
    let units = font.head().map_err(unreadable)?.units_per_em();
    if !UNITS_PER_EM.contains(&units) {
        return Err(error!("the font cannot be read ({units} units in an em): it is damaged"));
    }
    font.hhea().map_err(unreadable)?;
    font.maxp().map_err(unreadable)?;
    let is_unicode = |record: &EncodingRecord| match record.platform_id() {
        PlatformId::Unicode => true,
        PlatformId::Windows => matches!(record.encoding_id(), WINDOWS_BMP | WINDOWS_FULL),
        _ => false,
    };
    if !font.cmap().is_ok_and(|cmap| cmap.encoding_records().iter().any(is_unicode)) {
        return Err(error!(
            "the font does not say which characters it has (no Unicode table cmap): export it again"
        ));
    }
    if font.outline_glyphs().format().is_none() {
        return Err(error!(
            "the font has no outlines (no table glyf, CFF or CFF2): fonts with only bitmaps cannot \
             be used; convert it to a .fnt"
        ));
    }
    Ok(font)
}

/// Returns true if a rule of the font depends on the letters around a letter. Unreadable rules are
/// ignored, as they are when text is shaped.
fn has_contexts(font: &FontRef) -> bool {
    let contexts = || -> Result<bool, ReadError> {
        let table = font.gsub()?;
        let (features, lookups) = (table.feature_list()?, table.lookup_list()?.lookups());
        for record in features.feature_records() {
            if !CONTEXTUAL.contains(&record.feature_tag()) {
                continue;
            }
            let Ok(feature) = record.feature(features.offset_data()) else { continue };
            let mut indices = feature.lookup_list_indices().iter();
            if indices.any(|i| lookups.get(usize::from(i.get())).is_ok_and(is_context)) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    contexts().unwrap_or(false)
}

fn is_context(lookup: SubstitutionLookup) -> bool {
    matches!(
        lookup.subtables(),
        Ok(SubstitutionSubtables::Contextual(_) | SubstitutionSubtables::ChainContextual(_))
    )
}
