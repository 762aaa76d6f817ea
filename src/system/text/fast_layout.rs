//! Fast layout of simple text from tables: one glyph per character from left to right, with kerning
//! and ligatures by pairs. All other text is laid out by shaped_layout.rs. This code runs thousands
//! of times a frame.

use super::font::{self, Font, NONE};
use super::glyph_registry::{Glyph, GlyphRegistry, GlyphState, MISSING};
use super::kerning::{self, PairLetter, PairResult};
use super::{LayoutContext, missing};
use engine_frame_packet::text::{
    ColorSpan, FontNumber, GlyphQuad, TextAlign, TextExtents, TextRequest,
};

/// Distance between tab stops, in widths of a space. A tab moves the pen to the next stop.
pub const TAB_SPACES: f32 = 4.0;

/// Returns true if a character beyond ASCII needs no shaping: letters without combining marks,
/// symbols, and ideographs. All of them are written from left to right.
fn is_simple(c: char) -> bool {
    matches!(c as u32,
        0xa0..=0xac | 0xae..=0x2ff | 0x370..=0x482 | 0x48a..=0x52f | 0x1e00..=0x1fff
        | 0x2000..=0x200a | 0x2010..=0x2027 | 0x202f..=0x205e | 0x2070..=0x20cf | 0x2100..=0x2bff
        | 0x3000..=0x3029 | 0x3030..=0x3098 | 0x309b..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7a3 | 0xff01..=0xff60 | 0xfffd)
}

/// Decodes one character of UTF-8 whose first byte is above 127. Returns the character and its
/// length in bytes, or `None` if the text is not UTF-8.
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

/// Pen position and output of the line that is being laid out.
struct LineCursor<'a> {
    x: f32,
    y: f32,
    size: f32,
    /// How far quads extend beyond the ink, in ems.
    margin: f32,
    quads: &'a mut Vec<GlyphQuad>,
    /// Index of the first quad of the line. `lines` counts the lines.
    line: usize,
    lines: u32,
}

impl LineCursor<'_> {
    /// Adds a glyph at the pen, and advances the pen.
    #[inline(always)]
    fn draw(&mut self, glyph: &Glyph, color: Option<[u8; 4]>) {
        if glyph.state == GlyphState::Ready {
            self.quads.push(quad(glyph, self.x, self.y, self.size, self.margin, color));
        }
        self.x += glyph.advance * self.size;
    }

    fn end_line(&mut self, align: TextAlign, max_width: f32) {
        let shift = shift(align, self.x, max_width);
        for quad in &mut self.quads[self.line..] {
            quad.rect[0] += shift;
            quad.rect[2] += shift;
        }
        self.x += shift;
        self.line = self.quads.len();
    }
}

/// Returns the distance by which the alignment moves a line of a width.
pub fn shift(align: TextAlign, width: f32, max_width: f32) -> f32 {
    match align {
        TextAlign::Left => 0.0,
        TextAlign::Center => (max_width.max(0.0) - width) / 2.0,
        TextAlign::Right => max_width.max(0.0) - width,
    }
}

/// Returns the quad of a glyph, with the pen at `x` and `y`.
#[inline(always)]
pub fn quad(
    glyph: &Glyph,
    x: f32,
    y: f32,
    size: f32,
    margin: f32,
    color: Option<[u8; 4]>,
) -> GlyphQuad {
    let texels = (margin * glyph.texels).min(glyph.room);
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

/// Lays out simple text. Returns `None` if the text is not simple; the quads are then incomplete
/// and must be discarded.
pub fn lay_out(
    part: &mut LayoutContext,
    quads: &mut Vec<GlyphQuad>,
    text: &[u8],
    spans: &[ColorSpan],
    request: &TextRequest,
    margin: f32,
) -> Option<TextExtents> {
    quads.clear();
    let LayoutContext { fonts, glyphs } = part;
    let (number, frame) = (request.font, glyphs.frame);
    let mut cursor =
        LineCursor { x: 0.0, y: 0.0, size: request.size, margin, quads, line: 0, lines: 1 };
    let (mut color, mut next_span) = (None, 0);
    let mut before = PreviousGlyph::FIRST;
    let mut i = 0;
    while i < text.len() {
        while next_span < spans.len() && spans[next_span].start as usize <= i {
            color = spans[next_span].color;
            next_span += 1;
        }
        if !request.is_retained {
            let end = spans.get(next_span).map_or(text.len(), |span| span.start as usize);
            let font = &fonts[number.0 as usize];
            let run = AsciiRun { font, glyphs: &mut glyphs.all, frame, color };
            i = run.lay_out(&mut cursor, &mut before, &text[..end.min(text.len())], i);
            if i >= end.min(text.len()) {
                continue;
            }
        }
        if text[i] < 32 {
            control(fonts, glyphs, request, &mut cursor, text[i])?;
            before = PreviousGlyph::FIRST;
            i += 1;
            continue;
        }
        let (key, index, letter) = read(fonts, glyphs, number, text, &mut i)?;
        let mut now =
            PreviousGlyph { key, index, start: cursor.x, quads: cursor.quads.len(), earlier: None };
        if before.key != NONE {
            let mut kern = f32::NAN;
            if (key | before.key) < 128 {
                kern = fonts[number.0 as usize].pairs.ascii(before.key, key);
            }
            if kern.is_nan() {
                kern = join(fonts, glyphs, number, &mut cursor, (&before, &mut now), letter)?;
            }
            if now.index == index {
                now.earlier = Some((before.key, before.index));
            }
            cursor.x += kern * request.size;
        }
        if glyphs.all[now.index as usize].state == GlyphState::Unplaced {
            glyphs.allocate_slot(now.index);
        }
        let glyph = &mut glyphs.all[now.index as usize];
        glyph.used = frame;
        cursor.draw(glyph, color);
        if request.is_retained {
            glyphs.mark_retained(now.index);
        }
        before = now;
    }
    cursor.end_line(request.align, request.max_width);
    Some(TextExtents { caret: [cursor.x, cursor.y], lines: cursor.lines, ..TextExtents::default() })
}

/// A run of printable ASCII characters whose glyphs and kerning are in the tables of their font,
/// and which have slots in the atlas: nearly all text. Nothing is looked up or allocated for them.
struct AsciiRun<'a> {
    font: &'a Font,
    glyphs: &'a mut [Glyph],
    frame: u32,
    color: Option<[u8; 4]>,
}

impl AsciiRun<'_> {
    /// Lays out characters from `start` on. Returns the index of the first one that is not part of
    /// the run.
    #[inline(always)]
    fn lay_out(
        self,
        cursor: &mut LineCursor,
        last: &mut PreviousGlyph,
        text: &[u8],
        start: usize,
    ) -> usize {
        let AsciiRun { font, glyphs, frame, color } = self;
        let mut before = *last;
        let mut i = start;
        cursor.quads.reserve(text.len() - start);
        while let Some(byte) = text.get(i) {
            let key = u32::from(*byte);
            if !(32..128).contains(&key) {
                break;
            }
            let index = font.ascii[key as usize];
            let (mut kern, mut earlier) = (0.0, None);
            if before.key != NONE {
                // A ligature before it has a larger key.
                kern = if before.key < 128 { font.pairs.ascii(before.key, key) } else { f32::NAN };
                earlier = Some((before.key, before.index));
            }
            let Some(glyph) = glyphs.get_mut(index as usize) else { break };
            if kern.is_nan() || glyph.state == GlyphState::Unplaced {
                break;
            }
            let (start, quads) = (cursor.x, cursor.quads.len());
            before = PreviousGlyph { key, index, start, quads, earlier };
            cursor.x += kern * cursor.size;
            glyph.used = frame;
            cursor.draw(glyph, color);
            i += 1;
        }
        *last = before;
        i
    }
}

/// Reads the next character. Returns its key, its glyph index and the character.
#[inline(always)]
fn read(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    number: FontNumber,
    text: &[u8],
    i: &mut usize,
) -> Option<(u32, u32, char)> {
    let byte = text[*i];
    if byte < 128 {
        *i += 1;
        let index = match fonts[number.0 as usize].ascii[byte as usize] {
            NONE => add_ascii_glyph(fonts, glyphs, number, byte),
            known => known,
        };
        return Some((u32::from(byte), index, byte as char));
    }
    let (c, length) = decode(&text[*i..])?;
    *i += length;
    let index = match fonts[number.0 as usize].non_ascii.get(&c) {
        Some(known) => *known,
        None => add_glyph(fonts, glyphs, number, c)?,
    };
    Some((index + 128, index, c))
}

/// Executes a control character: line break, tab or carriage return.
#[cold]
fn control(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    request: &TextRequest,
    cursor: &mut LineCursor,
    byte: u8,
) -> Option<()> {
    match byte {
        b'\n' => {
            cursor.end_line(request.align, request.max_width);
            cursor.x = 0.0;
            let line_height = fonts[request.font.0 as usize].metrics().line_height;
            cursor.y -= line_height * request.size;
            cursor.lines += 1;
        }
        b'\t' => tab(fonts, glyphs, request.font, cursor),
        b'\r' => {}
        _ => return None,
    }
    Some(())
}

/// Returns the kerning of a pair that the ASCII table does not contain. If the two characters form
/// a ligature, replaces them with the ligature in `now` and removes the first character's quad.
fn join(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    number: FontNumber,
    cursor: &mut LineCursor,
    (before, now): (&PreviousGlyph, &mut PreviousGlyph),
    letter: char,
) -> Option<f32> {
    match pair_result(fonts, glyphs, number, before, now, letter) {
        PairResult::Kern(amount) => Some(amount),
        PairResult::Complex => None,
        PairResult::Ligate(id) => {
            let ligature_glyph = ligature(fonts, glyphs, number, before, id, letter);
            cursor.x = before.start;
            cursor.quads.truncate(before.quads);
            *now = PreviousGlyph { key: ligature_glyph + 128, index: ligature_glyph, ..*before };
            re_kern(fonts, glyphs, number, before, ligature_glyph)
        }
    }
}

/// The preceding glyph on the line.
#[derive(Clone, Copy)]
struct PreviousGlyph {
    key: u32,
    index: u32,
    /// Pen position at its beginning, without kerning. `quads` is the number of quads before it.
    start: f32,
    quads: usize,
    /// Key and glyph index of the glyph before this one on its line.
    earlier: Option<(u32, u32)>,
}

impl PreviousGlyph {
    const FIRST: PreviousGlyph =
        PreviousGlyph { key: NONE, index: NONE, start: 0.0, quads: 0, earlier: None };
}

/// Looks up the glyph of an ASCII character that is not in the font's table yet, and stores it
/// there.
#[cold]
fn add_ascii_glyph(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    number: FontNumber,
    byte: u8,
) -> u32 {
    let index = glyph_of(fonts, glyphs, number, byte as char);
    fonts[number.0 as usize].ascii[byte as usize] = index;
    index
}

#[cold]
fn add_glyph(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    number: FontNumber,
    c: char,
) -> Option<u32> {
    if !is_simple(c) {
        return None;
    }
    let index = glyph_of(fonts, glyphs, number, c);
    let font = &mut fonts[number.0 as usize];
    font.non_ascii.insert(c, index);
    font.pairs.record_letter(index + 128, c);
    Some(index)
}

/// Returns the glyph of a character in the first font that has it. If no font has the character,
/// logs it and returns the missing-glyph box.
pub fn glyph_of(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    number: FontNumber,
    c: char,
) -> u32 {
    let (font, id) = font::font_with_glyph(fonts, number, c).unwrap_or_else(|| {
        missing(&mut fonts[number.0 as usize], c);
        MISSING
    });
    glyphs.of(fonts, font, id)
}

#[cold]
fn tab(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    number: FontNumber,
    cursor: &mut LineCursor,
) {
    let space = glyph_of(fonts, glyphs, number, ' ');
    let stop = glyphs.all[space as usize].advance * cursor.size * TAB_SPACES;
    if stop > 0.0 {
        cursor.x = ((cursor.x / stop + 1e-3).floor() + 1.0) * stop;
    }
}

/// Returns the result for a pair of characters that the ASCII table does not contain.
#[cold]
fn pair_result(
    fonts: &mut [Font],
    glyphs: &GlyphRegistry,
    number: FontNumber,
    before: &PreviousGlyph,
    now: &PreviousGlyph,
    letter: char,
) -> PairResult {
    let pairs = &fonts[number.0 as usize].pairs;
    if let Some(known) = pairs.find(before.key, now.key) {
        return known;
    }
    let half = |of: &PreviousGlyph| {
        let (font, id) = glyphs.source(of.index);
        PairLetter { key: of.key, font, id }
    };
    if half(before).font != half(now).font || half(now).font == MISSING.0 {
        return PairResult::Kern(0.0);
    }
    if !fonts[half(now).font as usize].uses_kerning_table() {
        return PairResult::Complex;
    }
    kerning::shape_pair(fonts, number.0, half(before), half(now), letter.encode_utf8(&mut [0; 4]))
}

/// Returns the glyph of the ligature that replaces the preceding character and this one.
#[cold]
fn ligature(
    fonts: &mut [Font],
    glyphs: &mut GlyphRegistry,
    number: FontNumber,
    before: &PreviousGlyph,
    id: u32,
    letter: char,
) -> u32 {
    let (font, _) = glyphs.source(before.index);
    let index = glyphs.of(fonts, font, id);
    fonts[number.0 as usize].pairs.record_ligature(index + 128, before.key, letter);
    index
}

/// Returns the kerning between the glyph before a ligature's first letter and the ligature. Returns
/// `None` if the text must be shaped.
#[cold]
fn re_kern(
    fonts: &mut [Font],
    glyphs: &GlyphRegistry,
    number: FontNumber,
    before: &PreviousGlyph,
    ligature: u32,
) -> Option<f32> {
    let Some((earlier, index)) = before.earlier else { return Some(0.0) };
    let half = |key: u32, index: u32| {
        let (font, id) = glyphs.source(index);
        PairLetter { key, font, id }
    };
    let (first, second) = (half(earlier, index), half(ligature + 128, ligature));
    if first.font != second.font {
        // The missing-glyph box has no font, and kerning does not apply across fonts.
        return Some(0.0);
    }
    let pairs = &fonts[number.0 as usize].pairs;
    let pair = match pairs.find(first.key, second.key) {
        Some(known) => known,
        None => {
            let letters = pairs.letters_of(second.key);
            kerning::shape_pair(fonts, number.0, first, second, &letters)
        }
    };
    if let PairResult::Kern(amount) = pair { Some(amount) } else { None }
}
