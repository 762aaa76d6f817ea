//! One font file with outlines: its characters, lengths and outlines, and the shaper's view of it.
//! Knows no atlas and no fallback.

use super::outline::Outline;
use crate::error;
use crate::foundation::Error;
use crate::packet::text::Metrics;
use crate::resource::bundle::Bytes;
use harfrust::{Buffer, Font, GlyphId, ShapeOptions, ShaperFont};
use std::ops::Range;
use std::sync::Arc;
use ttf_parser::gsub::SubstitutionSubtable;

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
const CONTEXTUAL: [&[u8; 4]; 5] = [b"calt", b"clig", b"liga", b"rclt", b"rlig"];

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
        let face = parse((*data).as_ref(), index)?;
        let units = f32::from(face.units_per_em());
        let (ascent, descent) = (f32::from(face.ascender()), -f32::from(face.descender()));
        let height = ascent + descent + f32::from(face.line_gap());
        let metrics = Metrics {
            ascent: ascent / units,
            descent: descent / units,
            line_height: if height > 0.0 { height / units } else { 1.2 },
        };
        let has_simple_pairs = !has_contexts(&face);
        let shared: Arc<dyn AsRef<[u8]> + Send + Sync> = data.clone();
        let blob = harfrust::font::Blob::from(shared);
        let shaping = Font::new(blob, index)
            .ok_or_else(|| error!("the font's tables cannot be read: the file is damaged"))?;
        Ok(Face { data, index, shaping, units_per_em: units, metrics, has_simple_pairs })
    }

    fn parsed(&self) -> Option<ttf_parser::Face<'_>> {
        ttf_parser::Face::parse((*self.data).as_ref(), self.index).ok()
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
        let mut outline = Outline::default();
        let id = ttf_parser::GlyphId(u16::try_from(glyph).ok()?);
        self.parsed()?.outline_glyph(id, &mut outline)?;
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
pub fn parse(bytes: &[u8], index: u32) -> Result<ttf_parser::Face<'_>, Error> {
    let count = ttf_parser::fonts_in_collection(bytes).unwrap_or(1);
    if index >= count {
        return Err(error!("the file has {count} fonts, and face {index} is asked for"));
    }
    let face = ttf_parser::Face::parse(bytes, index).map_err(|reason| {
        error!("the font cannot be read ({reason}): it is damaged, or no .ttf or .otf file")
    })?;
    let tables = face.tables();
    if tables.cmap.is_none_or(|cmap| cmap.subtables.into_iter().all(|t| !t.is_unicode())) {
        return Err(error!(
            "the font does not say which characters it has (no Unicode table cmap): export it again"
        ));
    }
    if tables.glyf.is_none() && tables.cff.is_none() && tables.cff2.is_none() {
        return Err(error!(
            "the font has no outlines (no table glyf, CFF or CFF2): fonts of bitmaps alone cannot \
             be used; make a .fnt of it"
        ));
    }
    Ok(face)
}

fn has_contexts(face: &ttf_parser::Face) -> bool {
    let Some(table) = face.tables().gsub else { return false };
    let features = table.features.into_iter();
    let mut lookups = features
        .filter(|feature| CONTEXTUAL.iter().any(|tag| feature.tag.to_bytes() == **tag))
        .flat_map(|feature| feature.lookup_indices.into_iter());
    lookups.any(|index| {
        let Some(lookup) = table.lookups.get(index) else { return false };
        let mut subtables = lookup.subtables.into_iter::<SubstitutionSubtable>();
        subtables.any(|subtable| {
            matches!(
                subtable,
                SubstitutionSubtable::Context(_) | SubstitutionSubtable::ChainContext(_)
            )
        })
    })
}
