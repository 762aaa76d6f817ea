//! Full layout of text in every script. The text is cut into runs of one direction, script and
//! font, shaped, broken into lines, and each line is reordered visually (UAX 9). Much slower than
//! fast_layout.rs; results are kept in layout_cache.rs.

use super::fast_layout::{TAB_SPACES, quad, shift};
use super::font::{self, Font, GlyphSource};
use super::glyph_registry::{GlyphRegistry, GlyphState, MISSING};
use super::line_breaking::break_paragraph;
use super::{LayoutContext, missing};
use engine_foundation::log;
use engine_frame_packet::text::{ColorSpan, FontNumber, GlyphQuad, TextExtents, TextRequest};
use harfrust::{Buffer, Direction};
use std::ops::Range;
use unicode_bidi::{Level, ParagraphBidiInfo};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

/// One shaped glyph. Lengths are in ems.
#[derive(Clone, Copy)]
struct ShapedGlyph {
    index: u32,
    /// Byte position in the text of the character that the glyph comes from.
    cluster: u32,
    advance: f32,
    offset: [f32; 2],
}

/// A run of characters that are shaped together.
#[derive(Clone, PartialEq)]
struct TextRun {
    text: Range<usize>,
    level: Level,
    script: Script,
    /// Font of the glyphs, or the font number of [`MISSING`] if no font has them.
    font: u32,
    /// Range of shaped glyphs, in visual order.
    glyphs: Range<usize>,
}

/// Buffers that are reused for shaping.
#[derive(Default)]
pub struct Shaper {
    buffer: Buffer,
    glyphs: Vec<ShapedGlyph>,
    runs: Vec<TextRun>,
    /// Advance of the pen for each byte of the text.
    advances: Vec<f32>,
    lines: Vec<Range<usize>>,
    /// For each line, true if its paragraph is read from right to left.
    from_right: Vec<bool>,
}

/// Lays out any text. Fills `used` with the indices of the glyphs that are shown.
pub fn lay_out(
    part: &mut LayoutContext,
    shaper: &mut Shaper,
    quads: &mut Vec<GlyphQuad>,
    used: &mut Vec<u32>,
    (text, spans): (&str, &[ColorSpan]),
    request: &TextRequest,
    margin: f32,
) -> TextExtents {
    quads.clear();
    used.clear();
    shaper.break_lines(part, text, request);
    let size = request.size;
    let line_height = part.fonts[request.font.0 as usize].metrics().line_height * size;
    let mut extents = TextExtents { lines: shaper.lines.len() as u32, ..TextExtents::default() };
    for number in 0..shaper.lines.len() {
        let y = -line_height * number as f32;
        let first = quads.len();
        let mut x = 0.0;
        for run in shaper.visual_runs(number) {
            for shaped in &shaper.glyphs[shaper.glyphs_of(run, number)] {
                let [dx, dy] = shaped.offset.map(|length| length * size);
                let color = color_at(spans, shaped.cluster);
                if mark_used(part.glyphs, shaped.index, request.is_retained) {
                    let glyph = &part.glyphs.all[shaped.index as usize];
                    quads.push(quad(glyph, x + dx, y + dy, size, margin, color));
                    used.push(shaped.index);
                }
                x += shaped.advance * size;
            }
        }
        let shift = shift(request.align, x, request.max_width);
        for quad in &mut quads[first..] {
            quad.rect[0] += shift;
            quad.rect[2] += shift;
        }
        extents.caret = [if shaper.from_right[number] { shift } else { x + shift }, y];
    }
    extents
}

/// Breaks a text into lines and returns their byte ranges.
pub fn wrap(
    part: &mut LayoutContext,
    shaper: &mut Shaper,
    text: &str,
    request: &TextRequest,
) -> Vec<Range<usize>> {
    shaper.break_lines(part, text, request);
    shaper.lines.clone()
}

fn mark_used(glyphs: &mut GlyphRegistry, index: u32, retained: bool) -> bool {
    if retained {
        glyphs.mark_retained(index);
    }
    let glyph = &mut glyphs.all[index as usize];
    glyph.used = glyphs.frame;
    match glyph.state {
        GlyphState::Ready => true,
        GlyphState::Blank => false,
        GlyphState::Unplaced => glyphs.allocate_slot(index),
    }
}

fn color_at(spans: &[ColorSpan], byte: u32) -> Option<[u8; 4]> {
    let after = spans.partition_point(|span| span.start <= byte);
    spans[..after].last().and_then(|span| span.color)
}

impl Shaper {
    /// Shapes a text and breaks it into lines.
    fn break_lines(&mut self, part: &mut LayoutContext, text: &str, request: &TextRequest) {
        self.glyphs.clear();
        self.runs.clear();
        self.lines.clear();
        self.from_right.clear();
        self.advances.clear();
        self.advances.resize(text.len(), 0.0);
        let mut start = 0;
        for paragraph in text.split('\n') {
            let info = ParagraphBidiInfo::new(paragraph, None);
            let first = self.runs.len();
            self.cut_runs(part, paragraph, start, &info, request.font);
            for run in first..self.runs.len() {
                self.shape(part, text, run, request.font);
            }
            let advances = &self.advances[start..start + paragraph.len()];
            let max_width = request.max_width / request.size;
            break_paragraph(paragraph, advances, max_width, start, &mut self.lines);
            self.from_right.resize(self.lines.len(), info.paragraph_level.is_rtl());
            start += paragraph.len() + 1;
        }
    }

    /// Cuts a paragraph into runs.
    fn cut_runs(
        &mut self,
        part: &mut LayoutContext,
        paragraph: &str,
        start: usize,
        info: &ParagraphBidiInfo,
        number: FontNumber,
    ) {
        let mut script = first_script(paragraph);
        let mut last: Option<TextRun> = None;
        for (offset, cluster) in paragraph.grapheme_indices(true) {
            let found = cluster.chars().map(|c| c.script()).find(is_real);
            script = found.unwrap_or(script);
            // A space keeps the font of the text before it, rather than changing to another font.
            let is_space = cluster.chars().all(|c| c.is_whitespace() || is_ignorable(c));
            let before = last.as_ref().map(|run| run.font).filter(|_| is_space);
            let font = font_of(part.fonts, number, cluster, before);
            let text = start + offset..start + offset + cluster.len();
            let level = info.levels[offset];
            let is_control = cluster.chars().all(char::is_control);
            match &mut last {
                Some(run)
                    if !is_control
                        && (run.level, run.script, run.font) == (level, script, font) =>
                {
                    run.text.end = text.end;
                }
                _ => {
                    self.runs.extend(last.take());
                    last = Some(TextRun { text, level, script, font, glyphs: 0..0 });
                    if is_control {
                        // A control character is shaped separately, as a missing character.
                        let run = last.as_mut().expect("it was made here");
                        run.font = MISSING.0;
                        self.runs.extend(last.take());
                    }
                }
            }
        }
        self.runs.extend(last);
    }

    fn shape(&mut self, part: &mut LayoutContext, text: &str, run: usize, number: FontNumber) {
        let first = self.glyphs.len();
        let TextRun { text: range, level, script, font, .. } = self.runs[run].clone();
        match part.fonts.get(font as usize).map(|font| &font.body) {
            None => self.shape_missing(part, &text[range.clone()], range.start, number),
            Some(GlyphSource::Pages(_)) => self.shape_pages(part, text, range, font),
            Some(GlyphSource::Outlines(_)) => {
                self.shape_outlines(part, text, range, (level, script, font), number);
            }
        }
        let is_visual = matches!(
            part.fonts.get(font as usize).map(|f| &f.body),
            Some(GlyphSource::Outlines(_))
        );
        if level.is_rtl() && !is_visual {
            self.glyphs[first..].reverse();
        }
        for shaped in &self.glyphs[first..] {
            self.advances[shaped.cluster as usize] += shaped.advance;
        }
        self.runs[run].glyphs = first..self.glyphs.len();
    }

    /// Adds a box for each character that no font has. Executes control characters.
    fn shape_missing(
        &mut self,
        part: &mut LayoutContext,
        text: &str,
        start: usize,
        number: FontNumber,
    ) {
        for (offset, cluster) in text.grapheme_indices(true) {
            let c = cluster.chars().next().unwrap_or('\u{fffd}');
            if c == '\r' {
                continue;
            }
            let mut index = part.glyphs.of(part.fonts, MISSING.0, MISSING.1);
            let mut advance = part.glyphs.all[index as usize].advance;
            if c == '\t'
                && let Some((font, id)) = font::font_with_glyph(part.fonts, number, ' ')
            {
                index = part.glyphs.of(part.fonts, font, id);
                advance = part.glyphs.all[index as usize].advance * TAB_SPACES;
            } else {
                missing(&mut part.fonts[number.0 as usize], c);
            }
            let cluster = (start + offset) as u32;
            self.glyphs.push(ShapedGlyph { index, cluster, advance, offset: [0.0; 2] });
        }
    }

    fn shape_pages(
        &mut self,
        part: &mut LayoutContext,
        text: &str,
        range: Range<usize>,
        font: u32,
    ) {
        let mut before = None;
        for (offset, c) in text[range.clone()].char_indices() {
            let Some(id) = part.fonts[font as usize].glyph(c) else { continue };
            let index = part.glyphs.of(part.fonts, font, id);
            let GlyphSource::Pages(pages) = &part.fonts[font as usize].body else { unreachable!() };
            if let (Some(before), Some(last)) = (before, self.glyphs.last_mut()) {
                last.advance += pages.kerning(before, id);
            }
            before = Some(id);
            let advance = part.glyphs.all[index as usize].advance;
            let cluster = (range.start + offset) as u32;
            self.glyphs.push(ShapedGlyph { index, cluster, advance, offset: [0.0; 2] });
        }
    }

    fn shape_outlines(
        &mut self,
        part: &mut LayoutContext,
        text: &str,
        range: Range<usize>,
        (level, script, font): (Level, Script, u32),
        number: FontNumber,
    ) {
        let GlyphSource::Outlines(face) = &part.fonts[font as usize].body else { unreachable!() };
        self.buffer.clear();
        self.buffer.set_pre_context(&text[..range.start]);
        for (offset, c) in text[range.clone()].char_indices() {
            self.buffer.push(c as u32, (range.start + offset) as u32);
        }
        self.buffer.set_post_context(&text[range.end..]);
        let backward = level.is_rtl();
        self.buffer.set_direction(match backward {
            true => Direction::RightToLeft,
            false => Direction::LeftToRight,
        });
        self.buffer.set_script(script.short_name().parse().ok());
        if let Err(error) = face.shape(&mut self.buffer) {
            let name = &part.fonts[font as usize].name;
            log::warn(&format!("font '{name}'"), &error.message);
            self.shape_missing(part, &text[range.clone()], range.start, number);
            return;
        }
        let scale = face.scale();
        let infos = self.buffer.glyph_infos().iter().zip(self.buffer.glyph_positions());
        for (info, position) in infos {
            if info.glyph_id == 0 {
                let c = text[info.cluster as usize..].chars().next().unwrap_or('\u{fffd}');
                missing(&mut part.fonts[number.0 as usize], c);
                let index = part.glyphs.of(part.fonts, MISSING.0, MISSING.1);
                let advance = part.glyphs.all[index as usize].advance;
                let cluster = info.cluster;
                self.glyphs.push(ShapedGlyph { index, cluster, advance, offset: [0.0; 2] });
                continue;
            }
            let index = part.glyphs.of(part.fonts, font, info.glyph_id);
            self.glyphs.push(ShapedGlyph {
                index,
                cluster: info.cluster,
                advance: position.x_advance as f32 * scale,
                offset: [position.x_offset as f32 * scale, position.y_offset as f32 * scale],
            });
        }
    }

    /// Returns the glyphs of a run that are on a line, from left to right.
    fn glyphs_of(&self, run: usize, line: usize) -> Range<usize> {
        let (TextRun { level, glyphs, .. }, line) = (&self.runs[run], &self.lines[line]);
        let all = &self.glyphs[glyphs.clone()];
        // Positions in the text increase in left-to-right runs and decrease in right-to-left runs.
        let first_glyph_at = |at: usize| match level.is_rtl() {
            false => all.partition_point(|shaped| (shaped.cluster as usize) < at),
            true => all.partition_point(|shaped| shaped.cluster as usize >= at),
        };
        let (one, other) = (first_glyph_at(line.start), first_glyph_at(line.end));
        glyphs.start + one.min(other)..glyphs.start + one.max(other)
    }

    /// Returns the runs of a line in visual order, from left to right.
    fn visual_runs(&self, line: usize) -> Vec<usize> {
        let line = &self.lines[line];
        // Runs are stored in the order of the text.
        let first = self.runs.partition_point(|run| run.text.end <= line.start);
        let behind = self.runs.partition_point(|run| run.text.start < line.end);
        let runs: Vec<usize> = (first..behind).collect();
        let levels: Vec<Level> = runs.iter().map(|run| self.runs[*run].level).collect();
        let order = ParagraphBidiInfo::reorder_visual(&levels);
        order.into_iter().map(|index| runs[index]).collect()
    }
}

fn is_real(script: &Script) -> bool {
    !matches!(script, Script::Common | Script::Inherited | Script::Unknown)
}

/// Returns the script used for characters without a script at the beginning of a paragraph.
fn first_script(paragraph: &str) -> Script {
    paragraph.chars().map(|c| c.script()).find(is_real).unwrap_or(Script::Latin)
}

/// Returns true if a character is always invisible and needs no glyph.
fn is_ignorable(c: char) -> bool {
    matches!(c as u32,
        0xad | 0x34f | 0x61c | 0x180b..=0x180f | 0x200b..=0x200f | 0x202a..=0x202e
        | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0xfeff | 0xe0000..=0xe0fff)
}

/// Returns the font for a grapheme cluster: `before`, if it has all characters of the cluster; else
/// the first font that has all of them; else the first font that has its first character.
fn font_of(fonts: &[Font], number: FontNumber, cluster: &str, before: Option<u32>) -> u32 {
    let has_all = |font: &u32| {
        let Some(font) = fonts.get(*font as usize) else { return false };
        cluster.chars().all(|c| is_ignorable(c) || font.glyph(c).is_some())
    };
    let order = &fonts[number.0 as usize].order;
    if cluster.chars().all(is_ignorable) {
        return before.unwrap_or(order[0]);
    }
    let all = before.filter(has_all).or_else(|| order.iter().copied().find(has_all));
    let first =
        || font::font_with_glyph(fonts, number, cluster.chars().next()?).map(|(font, _)| font);
    all.or_else(first).unwrap_or(MISSING.0)
}
