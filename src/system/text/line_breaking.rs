//! Line breaking at the opportunities that Unicode allows (UAX 14), as late as the text fits. Works
//! with widths and knows no glyphs.

use std::ops::Range;
use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_segmentation::UnicodeSegmentation;

/// Breaks one paragraph, which contains no `\n`, into lines. `advances` contains the advance of the
/// pen for each byte and is as long as the text. The resulting ranges exclude the spaces at the
/// ends of broken lines. `from` is added to every position.
pub fn break_paragraph(
    text: &str,
    advances: &[f32],
    max_width: f32,
    from: usize,
    out: &mut Vec<Range<usize>>,
) {
    if max_width.is_nan() || max_width <= 0.0 {
        out.push(from..from + text.len());
        return;
    }
    // A width that is too small only by rounding errors must still fit.
    let max_width = max_width * 1.0001;
    let width = |range: Range<usize>| advances[range].iter().sum::<f32>();
    let mut start = 0;
    // The last break opportunity, and the width of the line up to it including its spaces.
    let (mut good, mut good_width) = (0, 0.0);
    for (at, opportunity) in linebreaks(text) {
        let end = start + text[start..at].trim_end().len();
        let mut piece = width(good.max(start)..end.max(good.max(start)));
        if good_width + piece > max_width && good > start {
            out.push(line(text, start, good, from));
            (start, good_width) = (good, 0.0);
            piece = width(start..end.max(start));
        }
        if good_width + piece > max_width {
            start = break_word(text, advances, max_width, start..end.max(start), from, out);
            good_width = width(start..at);
        } else {
            good_width += width(good.max(start)..at);
        }
        good = at;
        if opportunity == BreakOpportunity::Mandatory && at < text.len() {
            out.push(line(text, start, at, from));
            (start, good_width) = (at, 0.0);
        }
    }
    out.push(from + start..from + text.len());
}

fn line(text: &str, start: usize, end: usize, from: usize) -> Range<usize> {
    let end = start + text[start..end].trim_end().len();
    from + start..from + end
}

/// Breaks a word that is wider than a line between grapheme clusters. Returns the start of the last
/// part.
fn break_word(
    text: &str,
    advances: &[f32],
    max_width: f32,
    word: Range<usize>,
    from: usize,
    out: &mut Vec<Range<usize>>,
) -> usize {
    let (mut start, mut width) = (word.start, 0.0);
    for (offset, character) in text[word.clone()].grapheme_indices(true) {
        let at = word.start + offset;
        let wide: f32 = advances[at..at + character.len()].iter().sum();
        if width + wide > max_width && at > start {
            out.push(from + start..from + at);
            (start, width) = (at, 0.0);
        }
        width += wide;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lines of a text in which every character has a width of 1.
    #[track_caller]
    fn check(text: &str, max_width: f32, wanted: &[&str]) {
        let mut advances = vec![0.0; text.len()];
        for (at, _) in text.char_indices() {
            advances[at] = 1.0;
        }
        let mut lines = Vec::new();
        break_paragraph(text, &advances, max_width, 0, &mut lines);
        let lines: Vec<&str> = lines.into_iter().map(|line| &text[line]).collect();
        assert_eq!(lines, wanted, "{text:?} in {max_width}");
    }

    #[test]
    fn lines_break_late_and_drop_trailing_spaces() {
        check("the quick brown fox", 10.0, &["the quick", "brown fox"]);
        check("the quick brown fox", 9.0, &["the quick", "brown fox"]);
        check("the quick brown fox", 8.0, &["the", "quick", "brown", "fox"]);
        check("a   b", 2.0, &["a", "b"]);
        check("a b ", 3.0, &["a b "]);
        check("", 5.0, &[""]);
        check("   ", 1.0, &["   "]);
        check("one two", 0.0, &["one two"]);
        check("one two", f32::NAN, &["one two"]);
        check("well-known", 6.0, &["well-", "known"]);
        check("(one) \u{201c}two\u{201d}", 6.0, &["(one)", "\u{201c}two\u{201d}"]);
    }

    #[test]
    fn a_word_wider_than_the_line_is_broken() {
        check("abcdefgh", 3.0, &["abc", "def", "gh"]);
        check("ab cdefgh ij", 3.0, &["ab", "cde", "fgh", "ij"]);
        check("abcdefg hi", 3.0, &["abc", "def", "g", "hi"]);
        check("ee\u{301}e\u{301}", 1.5, &["e", "e\u{301}", "e\u{301}"]);
        check("abc", 0.5, &["a", "b", "c"]);
    }

    #[test]
    fn ideographs_break_anywhere_but_not_before_a_full_stop() {
        check("日本語で書く。", 3.0, &["日本語", "で書", "く。"]);
    }
}
