//! What happens between two letters of simple text: kerning, or a ligature. Every pair is asked of
//! the shaper once, when it is first met, and looked up from then on.

use super::face::Face;
use super::font::{Body, Font, Numbered, Pages};
use harfrust::{Buffer, Direction, Script};
use std::collections::HashMap;

/// The longest ligature, in letters.
const LIGATURE_LETTERS_MAX: usize = 4;

/// What a pair becomes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pair {
    /// The second letter moves by so many ems.
    Kern(f32),
    /// Both become one glyph, with this number in its font.
    Ligate(u32),
    /// Something that a table cannot say: the text has to be shaped.
    Complex,
}

/// A letter as one half of a pair.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Half {
    /// An ASCII letter's byte, or 128 and the index of its glyph.
    pub key: u32,
    /// Its font, and its glyph's number there.
    pub font: u32,
    pub id: u32,
}

/// The pairs of a font that were met.
#[derive(Default)]
pub struct Pairs {
    /// Kerning of ASCII letters; not a number where it has to be looked at closer.
    ascii: Vec<f32>,
    met: Numbered<u64, Pair>,
    /// The letters that ligatures are made of, by key.
    letters: HashMap<u32, String>,
    buffer: Option<Buffer>,
}

impl Pairs {
    /// The kerning of two ASCII letters, or not a number.
    #[inline(always)]
    pub fn ascii(&self, first: u32, second: u32) -> f32 {
        self.ascii.get((first << 7 | second) as usize).copied().unwrap_or(f32::NAN)
    }

    /// What became of a pair, if it was met before.
    pub fn met(&self, first: u32, second: u32) -> Option<Pair> {
        self.met.get(&both(first, second)).copied()
    }

    /// Notes which letters a ligature stands for.
    pub fn note_ligature(&mut self, key: u32, first: u32, letter: char) {
        let mut letters = self.letters_of(first);
        letters.push(letter);
        self.letters.insert(key, letters);
    }

    /// The letters that a key stands for.
    pub fn letters_of(&self, key: u32) -> String {
        match self.letters.get(&key) {
            Some(letters) => letters.clone(),
            None => {
                char::from_u32(key).filter(char::is_ascii).map(String::from).unwrap_or_default()
            }
        }
    }

    /// Notes which letter a glyph beyond ASCII stands for.
    pub fn note_letter(&mut self, key: u32, letter: char) {
        self.letters.entry(key).or_insert_with(|| letter.to_string());
    }

    fn keep(&mut self, first: u32, second: u32, pair: Pair) {
        if let Pair::Kern(amount) = pair
            && first < 128
            && second < 128
        {
            self.ascii.resize(128 * 128, f32::NAN);
            self.ascii[(first << 7 | second) as usize] = amount;
        } else {
            self.met.insert(both(first, second), pair);
        }
    }
}

fn both(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Finds what becomes of two letters, and keeps it. `text` is what the second one stands for.
#[cold]
pub fn meet(fonts: &mut [Font], font: u32, first: Half, second: Half, text: &str) -> Pair {
    let pair = match &fonts[first.font as usize].body {
        Body::Pages(pages) => kern_pages(pages, first, second),
        Body::Outlines(_) => {
            let letters = fonts[font as usize].pairs.letters_of(first.key);
            let mut buffer = fonts[font as usize].pairs.buffer.take().unwrap_or_default();
            let Body::Outlines(face) = &fonts[first.font as usize].body else { unreachable!() };
            let pair = shape(face, &mut buffer, first, second, &letters, text);
            fonts[font as usize].pairs.buffer = Some(buffer);
            pair
        }
    };
    fonts[font as usize].pairs.keep(first.key, second.key, pair);
    pair
}

fn kern_pages(pages: &Pages, first: Half, second: Half) -> Pair {
    Pair::Kern(pages.kerning(first.id, second.id))
}

fn shape(
    face: &Face,
    buffer: &mut Buffer,
    first: Half,
    second: Half,
    letters: &str,
    text: &str,
) -> Pair {
    buffer.clear();
    buffer.push_str(letters);
    buffer.push_str(text);
    buffer.set_direction(Direction::LeftToRight);
    buffer.set_script(Some(script_of(letters, text)));
    if letters.is_empty() || face.shape(buffer).is_err() {
        return Pair::Complex;
    }
    let (infos, places) = (buffer.glyph_infos(), buffer.glyph_positions());
    let advance = |id: u32| face.advance(id);
    let scale = face.scale();
    let is_still = places.iter().all(|p| p.x_offset == 0 && p.y_offset == 0 && p.y_advance == 0);
    match infos {
        [one] if letters.chars().count() < LIGATURE_LETTERS_MAX => {
            let is_plain =
                (places[0].x_advance as f32 * scale - advance(one.glyph_id)).abs() < 1e-4;
            if is_plain && is_still { Pair::Ligate(one.glyph_id) } else { Pair::Complex }
        }
        [a, b] if (a.glyph_id, b.glyph_id) == (first.id, second.id) && is_still => {
            let kern = places[0].x_advance as f32 * scale - advance(a.glyph_id);
            let rest = places[1].x_advance as f32 * scale - advance(b.glyph_id);
            if rest.abs() < 1e-4 { Pair::Kern(kern) } else { Pair::Complex }
        }
        _ => Pair::Complex,
    }
}

/// The script that two letters are shaped as: that of the first one that has any.
fn script_of(letters: &str, text: &str) -> Script {
    use unicode_script::{Script as Found, UnicodeScript};
    let mut scripts = letters.chars().chain(text.chars()).map(|c| c.script());
    let found = scripts.find(|script| !matches!(script, Found::Common | Found::Inherited));
    found.and_then(|script| script.short_name().parse().ok()).unwrap_or(Script::LATIN)
}
