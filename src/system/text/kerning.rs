//! Pairs of letters in simple text: kerning or a ligature. The shaper is asked once for each pair,
//! at its first use; later uses look up the stored result.

use super::font::{BitmapPages, Font, GlyphSource, NumberTable};
use super::font_face::FontFace;
use harfrust::{Buffer, Direction, Script};
use std::collections::HashMap;

/// Maximum number of letters in a ligature.
const LIGATURE_LETTERS_MAX: usize = 4;

/// Result of shaping a pair of letters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PairResult {
    /// The second letter moves by this distance, in ems.
    Kern(f32),
    /// Both letters become one glyph, with this number in its font.
    Ligate(u32),
    /// A result that a table cannot represent: the text must be shaped.
    Complex,
}

/// One letter of a pair.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PairLetter {
    /// The byte of an ASCII letter, or 128 plus the index of its glyph.
    pub key: u32,
    /// Font of the letter. `id` is its glyph's number in that font.
    pub font: u32,
    pub id: u32,
}

/// Results for the pairs of a font that were used so far.
#[derive(Default)]
pub struct PairTable {
    /// Kerning of pairs of ASCII letters. NaN if the pair must be looked up in `other_pairs`.
    ascii: Vec<f32>,
    other_pairs: NumberTable<u64, PairResult>,
    /// Letters that a key represents, for ligatures and letters beyond ASCII.
    letters: HashMap<u32, String>,
    buffer: Option<Buffer>,
}

impl PairTable {
    /// Returns the kerning of two ASCII letters, or NaN if it is not in the table.
    #[inline(always)]
    pub fn ascii(&self, first: u32, second: u32) -> f32 {
        self.ascii.get((first << 7 | second) as usize).copied().unwrap_or(f32::NAN)
    }

    /// Returns the stored result of a pair, or `None` if the pair was not shaped yet.
    pub fn find(&self, first: u32, second: u32) -> Option<PairResult> {
        self.other_pairs.get(&pair_key(first, second)).copied()
    }

    /// Stores the letters that a ligature represents.
    pub fn record_ligature(&mut self, key: u32, first: u32, letter: char) {
        let mut letters = self.letters_of(first);
        letters.push(letter);
        self.letters.insert(key, letters);
    }

    /// Returns the letters that a key represents.
    pub fn letters_of(&self, key: u32) -> String {
        match self.letters.get(&key) {
            Some(letters) => letters.clone(),
            None => {
                char::from_u32(key).filter(char::is_ascii).map(String::from).unwrap_or_default()
            }
        }
    }

    /// Stores the letter that a glyph beyond ASCII represents.
    pub fn record_letter(&mut self, key: u32, letter: char) {
        self.letters.entry(key).or_insert_with(|| letter.to_string());
    }

    fn store(&mut self, first: u32, second: u32, pair: PairResult) {
        if let PairResult::Kern(amount) = pair
            && first < 128
            && second < 128
        {
            self.ascii.resize(128 * 128, f32::NAN);
            self.ascii[(first << 7 | second) as usize] = amount;
        } else {
            self.other_pairs.insert(pair_key(first, second), pair);
        }
    }
}

fn pair_key(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Shapes a pair of letters and stores the result. `text` contains the letters that the second
/// glyph represents.
#[cold]
pub fn shape_pair(
    fonts: &mut [Font],
    font: u32,
    first: PairLetter,
    second: PairLetter,
    text: &str,
) -> PairResult {
    let pair = match &fonts[first.font as usize].body {
        GlyphSource::Pages(pages) => kern_pages(pages, first, second),
        GlyphSource::Outlines(_) => {
            let letters = fonts[font as usize].pairs.letters_of(first.key);
            let mut buffer = fonts[font as usize].pairs.buffer.take().unwrap_or_default();
            let GlyphSource::Outlines(face) = &fonts[first.font as usize].body else {
                unreachable!()
            };
            let pair = shape(face, &mut buffer, first, second, &letters, text);
            fonts[font as usize].pairs.buffer = Some(buffer);
            pair
        }
    };
    fonts[font as usize].pairs.store(first.key, second.key, pair);
    pair
}

fn kern_pages(pages: &BitmapPages, first: PairLetter, second: PairLetter) -> PairResult {
    PairResult::Kern(pages.kerning(first.id, second.id))
}

fn shape(
    face: &FontFace,
    buffer: &mut Buffer,
    first: PairLetter,
    second: PairLetter,
    letters: &str,
    text: &str,
) -> PairResult {
    buffer.clear();
    buffer.push_str(letters);
    buffer.push_str(text);
    buffer.set_direction(Direction::LeftToRight);
    buffer.set_script(Some(script_of(letters, text)));
    if letters.is_empty() || face.shape(buffer).is_err() {
        return PairResult::Complex;
    }
    let (infos, positions) = (buffer.glyph_infos(), buffer.glyph_positions());
    let advance = |id: u32| face.advance(id);
    let scale = face.scale();
    let is_still = positions.iter().all(|p| p.x_offset == 0 && p.y_offset == 0 && p.y_advance == 0);
    match infos {
        [one] if letters.chars().count() < LIGATURE_LETTERS_MAX => {
            let is_plain =
                (positions[0].x_advance as f32 * scale - advance(one.glyph_id)).abs() < 1e-4;
            if is_plain && is_still {
                PairResult::Ligate(one.glyph_id)
            } else {
                PairResult::Complex
            }
        }
        [a, b] if (a.glyph_id, b.glyph_id) == (first.id, second.id) && is_still => {
            let kern = positions[0].x_advance as f32 * scale - advance(a.glyph_id);
            let rest = positions[1].x_advance as f32 * scale - advance(b.glyph_id);
            if rest.abs() < 1e-4 { PairResult::Kern(kern) } else { PairResult::Complex }
        }
        _ => PairResult::Complex,
    }
}

/// Returns the script used to shape two letters: that of the first letter that has a script.
fn script_of(letters: &str, text: &str) -> Script {
    use unicode_script::{Script as Found, UnicodeScript};
    let mut scripts = letters.chars().chain(text.chars()).map(|c| c.script());
    let found = scripts.find(|script| !matches!(script, Found::Common | Found::Inherited));
    found.and_then(|script| script.short_name().parse().ok()).unwrap_or(Script::LATIN)
}
