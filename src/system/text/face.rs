//! One font file with outlines: its characters, lengths and outlines, and the shaper's view of it.
//! Knows no atlas and no fallback.

use super::outline::Outline;
use crate::error;
use crate::foundation::Error;
use crate::packet::text::Metrics;
use crate::resource::bundle::Bytes;
use harfrust::{Buffer, Font, GlyphId, ShapeOptions, ShaperFont};
use skrifa::outline::DrawSettings;
use skrifa::prelude::{LocationRef, Size};
use skrifa::raw::tables::cmap::{EncodingRecord, PlatformId};
use skrifa::raw::tables::gsub::{SubstitutionLookup, SubstitutionSubtables};
use skrifa::raw::{FileRef, FontRef, ReadError, TableProvider};
use skrifa::{MetadataProvider, Tag};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// A font's file: embedded, or a part of compiled data.
pub enum Data {
    Embedded(&'static [u8]),
    Part(Bytes, Range<usize>),
}

impl AsRef<[u8]> for Data {
    fn as_ref(&self) -> &[u8] {
        match self {
            Data::Embedded(bytes) => bytes,
            Data::Part(bytes, range) => &bytes[range.clone()],
        }
    }
}

/// Features whose rules look at more than two letters: with one of them a table of pairs is not
/// enough.
const CONTEXTUAL: [Tag; 5] =
    [Tag::new(b"calt"), Tag::new(b"clig"), Tag::new(b"liga"), Tag::new(b"rclt"), Tag::new(b"rlig")];
/// The encodings of Windows that are Unicode (the OpenType specification, table cmap).
const WINDOWS_BMP: u16 = 1;
const WINDOWS_FULL: u16 = 10;
/// Units in an em (the OpenType specification, table head).
const UNITS_PER_EM: RangeInclusive<u16> = 16..=16384;

/// An opened font file.
pub struct Face {
    data: Arc<Data>,
    index: u32,
    shaping: Font,
    units_per_em: f32,
    pub metrics: Metrics,
    /// Whether simple text can be laid out by a table of pairs.
    pub has_simple_pairs: bool,
}

impl Face {
    /// Opens a file; `index` chooses one of a collection.
    ///
    /// # Errors
    /// Words that say what is wrong with the file, for the caller's name of it to stand before.
    pub fn open(data: Arc<Data>, index: u32) -> Result<Face, Error> {
        let font = parse((*data).as_ref(), index)?;
        let metrics = font.metrics(Size::unscaled(), LocationRef::default());
        let units = f32::from(metrics.units_per_em);
        let height = metrics.ascent - metrics.descent + metrics.leading;
        let metrics = Metrics {
            ascent: metrics.ascent / units,
            descent: -metrics.descent / units,
            line_height: if height > 0.0 { height / units } else { 1.2 },
        };
        let has_simple_pairs = !has_contexts(&font);
        let shared: Arc<dyn AsRef<[u8]> + Send + Sync> = data.clone();
        let blob = harfrust::font::Blob::from(shared);
        let shaping = Font::new(blob, index)
            .ok_or_else(|| error!("the font's tables cannot be read: the file is damaged"))?;
        Ok(Face { data, index, shaping, units_per_em: units, metrics, has_simple_pairs })
    }

    /// The glyph of a character.
    pub fn glyph(&self, c: char) -> Option<u32> {
        let glyph = self.shaping.charmap().map_unicode(c)?;
        (glyph.to_u32() != 0).then_some(glyph.to_u32())
    }

    /// How far the pen moves on after a glyph, in ems.
    pub fn advance(&self, glyph: u32) -> f32 {
        ShaperFont::new(&self.shaping).glyph_h_advance(GlyphId::new(glyph)) as f32
            / self.units_per_em
    }

    /// A glyph's outline in ems; `None` where it has none or it cannot be read.
    pub fn outline(&self, glyph: u32) -> Option<Outline> {
        let font = FontRef::from_index((*self.data).as_ref(), self.index).ok()?;
        let glyph = font.outline_glyphs().get(skrifa::GlyphId::new(glyph))?;
        let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
        let mut outline = Outline::default();
        glyph.draw(settings, &mut outline).ok()?;
        (!outline.is_too_long()).then(|| outline.scaled(1.0 / self.units_per_em))
    }

    /// Replaces a buffer's characters by glyphs.
    ///
    /// # Errors
    /// If the font's rules are damaged.
    pub fn shape(&self, buffer: &mut Buffer) -> Result<(), Error> {
        harfrust::shape(&ShaperFont::new(&self.shaping), buffer, ShapeOptions::new())
            .map_err(|reason| error!("the font cannot shape text: {reason}"))
    }

    /// Ems for each of the font's units.
    pub fn scale(&self) -> f32 {
        1.0 / self.units_per_em
    }
}

/// Finds the tables of a font file, and checks that those are there which text needs.
///
/// # Errors
/// As for [`Face::open`].
pub fn parse(bytes: &[u8], index: u32) -> Result<FontRef<'_>, Error> {
    let unreadable = |reason: ReadError| {
        error!("the font cannot be read ({reason}): it is damaged, or no .ttf or .otf file")
    };
    let file = FileRef::new(bytes).map_err(unreadable)?;
    let count = if let FileRef::Collection(collection) = &file { collection.len() } else { 1 };
    if index >= count {
        return Err(error!("the file has {count} fonts, and face {index} is asked for"));
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
            "the font has no outlines (no table glyf, CFF or CFF2): fonts of bitmaps alone cannot \
             be used; make a .fnt of it"
        ));
    }
    Ok(font)
}

/// Whether a rule of the font looks at what stands around a letter. Rules that cannot be read do
/// nothing when text is shaped, either.
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
