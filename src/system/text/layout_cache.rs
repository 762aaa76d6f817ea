//! Cache of shaped texts, which stay while they are requested. Simple text is not cached: laying it
//! out costs less than a lookup.

use engine_foundation::hash::StateHash;
use engine_frame_packet::text::{ColorSpan, GlyphQuad, TextAlign, TextExtents, TextRequest};
use std::collections::HashMap;

/// Maximum number of cached texts.
pub const TEXTS_MAX: usize = 4096;
/// Number of frames that a text is kept after its last use.
pub const FRAMES_KEPT: u32 = 120;

/// Cached layout of one text.
pub struct CachedLayout {
    text: Vec<u8>,
    spans: Vec<ColorSpan>,
    key: LayoutKey,
    pub quads: Vec<GlyphQuad>,
    pub glyphs: Vec<u32>,
    pub extents: TextExtents,
    used: u32,
}

/// All parameters of a layout except the text and its color spans.
#[derive(Clone, Copy, PartialEq)]
struct LayoutKey {
    font: u32,
    size: f32,
    max_width: f32,
    align: TextAlign,
    margin: f32,
}

/// All cached texts, by a hash of everything that they depend on.
#[derive(Default)]
pub struct LayoutCache {
    entries: HashMap<u64, CachedLayout>,
    frame: u32,
    /// Version of the glyphs for which the entries are valid.
    version: u64,
}

/// A requested layout and its hash.
pub struct LayoutRequest<'a> {
    text: &'a [u8],
    spans: &'a [ColorSpan],
    key: LayoutKey,
    hash: u64,
}

impl<'a> LayoutRequest<'a> {
    pub fn new(
        text: &'a [u8],
        spans: &'a [ColorSpan],
        request: &TextRequest,
        margin: f32,
    ) -> LayoutRequest<'a> {
        let TextRequest { font, size, max_width, align, .. } = *request;
        let key = LayoutKey { font: font.0, size, max_width, align, margin };
        let mut hash = StateHash::new(0);
        hash.write_bytes(text);
        for span in spans {
            hash.write_u64(span.start.into());
            hash.write_bytes(&span.color.unwrap_or_default());
        }
        hash.write_u64(u64::from(font.0) << 8 | align as u64);
        for length in [size, max_width, margin] {
            hash.write_f32(length);
        }
        LayoutRequest { text, spans, key, hash: hash.finish() }
    }
}

impl LayoutCache {
    /// Returns the cached layout of a text, if no glyph has lost its atlas slot since.
    pub fn find(&mut self, wanted: &LayoutRequest, version: u64) -> Option<&CachedLayout> {
        if self.version != version {
            self.entries.clear();
            self.version = version;
        }
        let entry = self.entries.get_mut(&wanted.hash)?;
        let same =
            entry.key == wanted.key && entry.text == wanted.text && entry.spans == wanted.spans;
        if !same {
            return None;
        }
        entry.used = self.frame;
        Some(entry)
    }

    /// Stores a text that was laid out with a version of the glyphs.
    pub fn insert(
        &mut self,
        wanted: &LayoutRequest,
        version: u64,
        quads: &[GlyphQuad],
        glyphs: &[u32],
        extents: TextExtents,
    ) {
        if self.version != version {
            self.entries.clear();
            self.version = version;
        }
        if self.entries.len() >= TEXTS_MAX {
            let frame = self.frame;
            self.entries.retain(|_, entry| entry.used == frame);
        }
        if self.entries.len() < TEXTS_MAX {
            let (text, spans) = (wanted.text.to_vec(), wanted.spans.to_vec());
            let (quads, glyphs) = (quads.to_vec(), glyphs.to_vec());
            let (key, used) = (wanted.key, self.frame);
            let entry = CachedLayout { text, spans, key, quads, glyphs, extents, used };
            self.entries.insert(wanted.hash, entry);
        }
    }

    /// Counts a frame, and removes entries that were not used for [`FRAMES_KEPT`] frames.
    pub fn end_frame(&mut self) {
        self.frame += 1;
        if self.frame.is_multiple_of(16) {
            let frame = self.frame;
            self.entries.retain(|_, entry| frame - entry.used <= FRAMES_KEPT);
        }
    }

    /// Returns the number of cached texts.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}
