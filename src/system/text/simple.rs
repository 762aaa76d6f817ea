//! Simple text, laid out by tables: one glyph a character from left to right, kerning and ligatures
//! by pairs. What is not simple is left to complex.rs. This runs thousands of times a frame.

use super::font::{self, Font, NONE};
use super::glyphs::{Glyph, Glyphs, MISSING, State};
use super::pairs::{self, Half, Pair};
use super::{Part, missing};
use crate::packet::text::{Align, Extents, FontNumber, GlyphQuad, Request, Span};

/// A tab moves the pen to the next multiple of so many widths of a space.
pub const TAB_SPACES: f32 = 4.0;

/// Whether a character beyond ASCII needs no shaping: letters without marks that join, symbols, and
/// ideographs. All of them go from left to right.
fn is_simple(c: char) -> bool {
    matches!(c as u32,
        0xa0..=0xac | 0xae..=0x2ff | 0x370..=0x482 | 0x48a..=0x52f | 0x1e00..=0x1fff
        | 0x2000..=0x200a | 0x2010..=0x2027 | 0x202f..=0x205e | 0x2070..=0x20cf | 0x2100..=0x2bff
        | 0x3000..=0x3029 | 0x3030..=0x3098 | 0x309b..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7a3 | 0xff01..=0xff60 | 0xfffd)
}

/// One character of UTF-8 that begins with a byte above 127, and its length; `None` where it is not
/// UTF-8.
fn decode(text: &[u8]) -> Option<(char, usize)> {
    let length = match text[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let c = std::str::from_utf8(text.get(..length)?).ok()?.chars().next()?;
    Some((c, length))
}

/// A line as it grows.
struct Pen<'a> {
    x: f32,
    y: f32,
    size: f32,
    /// How far around the ink quads go, in ems.
    around: f32,
    quads: &'a mut Vec<GlyphQuad>,
    /// The first quad of the line, and how many lines there are.
    line: usize,
    lines: u32,
}

impl Pen<'_> {
    /// Adds a glyph at the pen, and moves the pen on.
    #[inline(always)]
    fn draw(&mut self, glyph: &Glyph, color: Option<[u8; 4]>) {
        if glyph.state == State::Ready {
            self.quads.push(quad(glyph, self.x, self.y, self.size, self.around, color));
        }
        self.x += glyph.advance * self.size;
    }

    fn end_line(&mut self, align: Align, max_width: f32) {
        let shift = shift(align, self.x, max_width);
        for quad in &mut self.quads[self.line..] {
            quad.rect[0] += shift;
            quad.rect[2] += shift;
        }
        self.x += shift;
        self.line = self.quads.len();
    }
}

/// How far a line of some width moves.
pub fn shift(align: Align, width: f32, max_width: f32) -> f32 {
    match align {
        Align::Left => 0.0,
        Align::Center => (max_width.max(0.0) - width) / 2.0,
        Align::Right => max_width.max(0.0) - width,
    }
}

/// A glyph as a quadrilateral, with the pen at x and y.
#[inline(always)]
pub fn quad(
    glyph: &Glyph,
    x: f32,
    y: f32,
    size: f32,
    around: f32,
    color: Option<[u8; 4]>,
) -> GlyphQuad {
    let texels = (around * glyph.texels).min(glyph.room);
    let wide = texels * glyph.texel * size;
    let [left, bottom, right, top] = glyph.ink;
    let (u, v) = (texels * glyph.uv_texel[0], texels * glyph.uv_texel[1]);
    GlyphQuad {
        rect: [
            x + left * size - wide,
            y + bottom * size - wide,
            x + right * size + wide,
            y + top * size + wide,
        ],
        uv: [glyph.uv[0] - u, glyph.uv[1] + v, glyph.uv[2] + u, glyph.uv[3] - v],
        extra: [0.0; 2],
        color: color.unwrap_or([0; 4]),
        paint: glyph.paint,
        page: glyph.page,
        own_color: color.is_some(),
    }
}

/// Lays simple text out. `None`: it is not simple, and nothing of it is to be used.
pub fn lay_out(
    part: &mut Part,
    quads: &mut Vec<GlyphQuad>,
    text: &[u8],
    spans: &[Span],
    request: &Request,
    around: f32,
) -> Option<Extents> {
    quads.clear();
    let Part { fonts, glyphs } = part;
    let (number, frame) = (request.font, glyphs.frame);
    let mut pen = Pen { x: 0.0, y: 0.0, size: request.size, around, quads, line: 0, lines: 1 };
    let (mut color, mut next_span) = (None, 0);
    let mut before = Before::NOTHING;
    let mut i = 0;
    while i < text.len() {
        while next_span < spans.len() && spans[next_span].start as usize <= i {
            color = spans[next_span].color;
            next_span += 1;
        }
        if text[i] < 32 {
            control(fonts, glyphs, request, &mut pen, text[i])?;
            before = Before::NOTHING;
            i += 1;
            continue;
        }
        let (key, index, letter) = read(fonts, glyphs, number, text, &mut i)?;
        let mut now = Before { key, index, start: pen.x, quads: pen.quads.len(), earlier: None };
        if before.key != NONE {
            let mut kern = f32::NAN;
            if (key | before.key) < 128 {
                kern = fonts[number.0 as usize].pairs.ascii(before.key, key);
            }
            if kern.is_nan() {
                kern = join(fonts, glyphs, number, &mut pen, (&before, &mut now), letter)?;
            }
            if now.index == index {
                now.earlier = Some((before.key, before.index));
            }
            pen.x += kern * request.size;
        }
        if glyphs.all[now.index as usize].state == State::Away {
            glyphs.show(now.index);
        }
        let glyph = &mut glyphs.all[now.index as usize];
        glyph.used = frame;
        pen.draw(glyph, color);
        if request.kept {
            glyphs.keep(now.index);
        }
        before = now;
    }
    pen.end_line(request.align, request.max_width);
    Some(Extents { caret: [pen.x, pen.y], lines: pen.lines, ..Extents::default() })
}

/// The next character: its key, its glyph and itself.
#[inline(always)]
fn read(
    fonts: &mut [Font],
    glyphs: &mut Glyphs,
    number: FontNumber,
    text: &[u8],
    i: &mut usize,
) -> Option<(u32, u32, char)> {
    let byte = text[*i];
    if byte < 128 {
        *i += 1;
        let index = match fonts[number.0 as usize].ascii[byte as usize] {
            NONE => meet_ascii(fonts, glyphs, number, byte),
            known => known,
        };
        return Some((u32::from(byte), index, byte as char));
    }
    let (c, length) = decode(&text[*i..])?;
    *i += length;
    let index = match fonts[number.0 as usize].others.get(&c) {
        Some(known) => *known,
        None => meet(fonts, glyphs, number, c)?,
    };
    Some((index + 128, index, c))
}

/// Does what a control character says.
#[cold]
fn control(
    fonts: &mut [Font],
    glyphs: &mut Glyphs,
    request: &Request,
    pen: &mut Pen,
    byte: u8,
) -> Option<()> {
    match byte {
        b'\n' => {
            pen.end_line(request.align, request.max_width);
            pen.x = 0.0;
            let line_height = fonts[request.font.0 as usize].metrics().line_height;
            pen.y -= line_height * request.size;
            pen.lines += 1;
        }
        b'\t' => tab(fonts, glyphs, request.font, pen),
        b'\r' => {}
        _ => return None,
    }
    Some(())
}

/// Finds the kerning where the table of ASCII does not say. Where two characters become a ligature,
/// it takes their place in `now`, and the first one's quad is taken back.
fn join(
    fonts: &mut [Font],
    glyphs: &mut Glyphs,
    number: FontNumber,
    pen: &mut Pen,
    (before, now): (&Before, &mut Before),
    letter: char,
) -> Option<f32> {
    match between(fonts, glyphs, number, before, now, letter) {
        Pair::Kern(amount) => Some(amount),
        Pair::Complex => None,
        Pair::Ligate(id) => {
            let shown = ligature(fonts, glyphs, number, before, id, letter);
            pen.x = before.start;
            pen.quads.truncate(before.quads);
            *now = Before { key: shown + 128, index: shown, ..*before };
            kern_again(fonts, glyphs, number, before, shown)
        }
    }
}

/// The character before.
#[derive(Clone, Copy)]
struct Before {
    key: u32,
    index: u32,
    /// Where it began, kerning not counted, and with which quad.
    start: f32,
    quads: usize,
    /// The key and the glyph of what was before it on its line.
    earlier: Option<(u32, u32)>,
}

impl Before {
    const NOTHING: Before = Before { key: NONE, index: NONE, start: 0.0, quads: 0, earlier: None };
}

/// The glyph of an ASCII character that the font did not meet before.
#[cold]
fn meet_ascii(fonts: &mut [Font], glyphs: &mut Glyphs, number: FontNumber, byte: u8) -> u32 {
    let index = glyph_of(fonts, glyphs, number, byte as char);
    fonts[number.0 as usize].ascii[byte as usize] = index;
    index
}

#[cold]
fn meet(fonts: &mut [Font], glyphs: &mut Glyphs, number: FontNumber, c: char) -> Option<u32> {
    if !is_simple(c) {
        return None;
    }
    let index = glyph_of(fonts, glyphs, number, c);
    let font = &mut fonts[number.0 as usize];
    font.others.insert(c, index);
    font.pairs.note_letter(index + 128, c);
    Some(index)
}

/// The glyph of a character, of the first font that has it; or the box, and the log hears of it.
pub fn glyph_of(fonts: &mut [Font], glyphs: &mut Glyphs, number: FontNumber, c: char) -> u32 {
    let (font, id) = font::who_has(fonts, number, c).unwrap_or_else(|| {
        missing(&mut fonts[number.0 as usize], c);
        MISSING
    });
    glyphs.of(fonts, font, id)
}

#[cold]
fn tab(fonts: &mut [Font], glyphs: &mut Glyphs, number: FontNumber, pen: &mut Pen) {
    let space = glyph_of(fonts, glyphs, number, ' ');
    let stop = glyphs.all[space as usize].advance * pen.size * TAB_SPACES;
    if stop > 0.0 {
        pen.x = ((pen.x / stop + 1e-3).floor() + 1.0) * stop;
    }
}

/// What is between two characters, where the table of ASCII does not say.
#[cold]
fn between(
    fonts: &mut [Font],
    glyphs: &Glyphs,
    number: FontNumber,
    before: &Before,
    now: &Before,
    letter: char,
) -> Pair {
    let pairs = &fonts[number.0 as usize].pairs;
    if let Some(met) = pairs.met(before.key, now.key) {
        return met;
    }
    let half = |of: &Before| {
        let (font, id) = glyphs.source(of.index);
        Half { key: of.key, font, id }
    };
    if half(before).font != half(now).font || half(now).font == MISSING.0 {
        return Pair::Kern(0.0);
    }
    if !fonts[half(now).font as usize].has_simple_pairs() {
        return Pair::Complex;
    }
    pairs::meet(fonts, number.0, half(before), half(now), letter.encode_utf8(&mut [0; 4]))
}

/// The glyph of a ligature that takes the place of the character before and this one.
#[cold]
fn ligature(
    fonts: &mut [Font],
    glyphs: &mut Glyphs,
    number: FontNumber,
    before: &Before,
    id: u32,
    letter: char,
) -> u32 {
    let (font, _) = glyphs.source(before.index);
    let index = glyphs.of(fonts, font, id);
    fonts[number.0 as usize].pairs.note_ligature(index + 128, before.key, letter);
    index
}

/// The kerning between what stood before a ligature's first letter, and the ligature. `None`: the
/// text has to be shaped.
#[cold]
fn kern_again(
    fonts: &mut [Font],
    glyphs: &Glyphs,
    number: FontNumber,
    before: &Before,
    ligature: u32,
) -> Option<f32> {
    let Some((earlier, index)) = before.earlier else { return Some(0.0) };
    let half = |key: u32, index: u32| {
        let (font, id) = glyphs.source(index);
        Half { key, font, id }
    };
    let (first, second) = (half(earlier, index), half(ligature + 128, ligature));
    if first.font != second.font {
        // The box of a missing character has no font, and no kerning goes from font to font.
        return Some(0.0);
    }
    let pairs = &fonts[number.0 as usize].pairs;
    let pair = match pairs.met(first.key, second.key) {
        Some(met) => met,
        None => {
            let letters = pairs.letters_of(second.key);
            pairs::meet(fonts, number.0, first, second, &letters)
        }
    };
    if let Pair::Kern(amount) = pair { Some(amount) } else { None }
}
