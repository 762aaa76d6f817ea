//! Texts that were shaped, kept as long as somebody asks for them. Simple text is not kept: laying
//! it out costs less than finding it.

use crate::foundation::hash::StateHash;
use crate::packet::text::{Align, Extents, GlyphQuad, Request, Span};
use std::collections::HashMap;

/// The most texts that are kept.
pub const TEXTS_MAX: usize = 4096;
/// Frames that a text is kept for after its last use.
pub const FRAMES_KEPT: u32 = 120;

/// What is kept of one text.
pub struct Entry {
    text: Vec<u8>,
    spans: Vec<Span>,
    key: Key,
    pub quads: Vec<GlyphQuad>,
    pub glyphs: Vec<u32>,
    pub extents: Extents,
    used: u32,
}

/// Everything but the text that decides what comes out.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    font: u32,
    size: f32,
    max_width: f32,
    align: Align,
    around: f32,
}

/// All kept texts, by a hash of everything that they depend on.
#[derive(Default)]
pub struct Cache {
    entries: HashMap<u64, Entry>,
    frame: u32,
    /// The glyphs' version that the entries are of.
    version: u64,
}

/// What was asked for.
pub struct Wanted<'a> {
    text: &'a [u8],
    spans: &'a [Span],
    key: Key,
    hash: u64,
}

impl<'a> Wanted<'a> {
    pub fn new(text: &'a [u8], spans: &'a [Span], request: &Request, around: f32) -> Wanted<'a> {
        let Request { font, size, max_width, align, .. } = *request;
        let key = Key { font: font.0, size, max_width, align, around };
        let mut hash = StateHash::new(0);
        hash.write_bytes(text);
        for span in spans {
            hash.write_u64(span.start.into());
            hash.write_bytes(&span.color.unwrap_or_default());
        }
        hash.write_u64(u64::from(font.0) << 8 | align as u64);
        for length in [size, max_width, around] {
            hash.write_f32(length);
        }
        Wanted { text, spans, key, hash: hash.finish() }
    }
}

impl Cache {
    /// What is kept of a text, if glyphs are where they were.
    pub fn find(&mut self, wanted: &Wanted, version: u64) -> Option<&Entry> {
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

    /// Keeps a text that was laid out with glyphs of a version.
    pub fn keep(
        &mut self,
        wanted: &Wanted,
        version: u64,
        quads: &[GlyphQuad],
        glyphs: &[u32],
        extents: Extents,
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
            let entry = Entry { text, spans, key, quads, glyphs, extents, used };
            self.entries.insert(wanted.hash, entry);
        }
    }

    /// Counts a frame, and forgets what was not used for [`FRAMES_KEPT`].
    pub fn end_frame(&mut self) {
        self.frame += 1;
        if self.frame.is_multiple_of(16) {
            let frame = self.frame;
            self.entries.retain(|_, entry| frame - entry.used <= FRAMES_KEPT);
        }
    }

    /// How many texts are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}
