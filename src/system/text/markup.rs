//! Color markup in strings: `{#color(r,g,b)}`, `{#color(r,g,b,a)}` and `{#reset()}`, in the syntax
//! of games of the Bitsquid family. Text that only resembles a directive is shown unchanged.

use engine_frame_packet::text::{ColorSpan, TextRequest};
use std::ops::Range;

/// Beginning of every directive. All other text is skipped without parsing.
const BEGIN: &[u8] = b"{#";

/// A text without its markup, its color spans, and the positions at which markup was removed.
#[derive(Default)]
pub struct ColorMarkup {
    /// The text without directives, as it is shown.
    pub text: Vec<u8>,
    pub spans: Vec<ColorSpan>,
    /// Pairs of a byte position in the shown text and the total number of bytes removed before it.
    cuts: Vec<(usize, usize)>,
}

impl ColorMarkup {
    /// Removes the directives from a text. Returns `None` if markup is disabled or the text
    /// contains no `{#`; the text is then shown unchanged.
    pub fn extract(&mut self, request: &TextRequest) -> Option<()> {
        if !request.markup {
            return None;
        }
        let mut rest = request.text;
        let mut at = find(rest)?;
        self.text.clear();
        self.spans.clear();
        self.cuts.clear();
        let mut cut = 0;
        loop {
            self.text.extend(&rest[..at]);
            rest = &rest[at..];
            let length = match directive(rest) {
                Some((color, length)) => {
                    cut += length;
                    self.spans.push(ColorSpan { start: self.text.len() as u32, color });
                    self.cuts.push((self.text.len(), cut));
                    length
                }
                None => {
                    self.text.extend(BEGIN);
                    BEGIN.len()
                }
            };
            rest = &rest[length..];
            let Some(next) = find(rest) else { break };
            at = next;
        }
        self.text.extend(rest);
        Some(())
    }

    /// Converts ranges of the shown text to ranges of the original text. A directive at the end of
    /// a line belongs to the next line.
    pub fn to_source_ranges(&self, ranges: &mut [Range<usize>]) {
        let cut_before = |at: usize, included: bool| {
            let cuts = self.cuts.iter().rev();
            let mut cuts = cuts.skip_while(|(from, _)| *from > at || !included && *from == at);
            cuts.next().map_or(0, |(_, cut)| *cut)
        };
        for range in ranges {
            let is_first = range.start == 0;
            range.start += cut_before(range.start, !is_first);
            range.end += cut_before(range.end, false);
            // A line keeps the colors that are set at its own beginning.
            range.start = range.start.min(range.end);
        }
    }
}

fn find(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|byte| *byte == BEGIN[0]) {
        if text[from + at..].starts_with(BEGIN) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Parses a directive at the beginning of a text. Returns its color and its length in bytes.
fn directive(text: &[u8]) -> Option<(Option<[u8; 4]>, usize)> {
    // The longest directive is {#color(255, 255, 255, 255)}, with room for spaces.
    let window = &text[..text.len().min(48)];
    let end = window.iter().position(|byte| *byte == b'}')?;
    let inner = std::str::from_utf8(&text[BEGIN.len()..end]).ok()?;
    if inner.trim() == "reset()" {
        return Some((None, end + 1));
    }
    let numbers = inner.trim().strip_prefix("color(")?.strip_suffix(')')?;
    let mut color = [255; 4];
    let mut count = 0;
    for number in numbers.split(',') {
        *color.get_mut(count)? = number.trim().parse().ok()?;
        count += 1;
    }
    (count >= 3).then_some((Some(color), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, plain_text: &str, spans: &[(u32, Option<[u8; 4]>)]) {
        let mut markup = ColorMarkup::default();
        let request = TextRequest { text: text.as_bytes(), ..TextRequest::DEFAULT };
        let found = markup.extract(&request);
        let got = if found.is_some() { &markup.text[..] } else { text.as_bytes() };
        assert_eq!(std::str::from_utf8(got).unwrap(), plain_text);
        let got: Vec<_> = markup.spans.iter().map(|span| (span.start, span.color)).collect();
        assert_eq!(got, spans);
    }

    #[test]
    fn directives_become_spans_and_other_characters_are_text() {
        check("plain {text} #1", "plain {text} #1", &[]);
        check(
            "a {#color(255,0,0)}red{#reset()} b",
            "a red b",
            &[(2, Some([255, 0, 0, 255])), (5, None)],
        );
        check("{#color( 1, 2, 3, 4 )}x", "x", &[(0, Some([1, 2, 3, 4]))]);
        for odd in ["{#color(256,0,0)}", "{#color(1,2)}", "{#size(3)}", "{#", "{#color(1,2,3,4,5)}"]
        {
            check(odd, odd, &[]);
        }
    }

    #[test]
    fn lines_of_visible_text_map_to_lines_of_the_source() {
        let text = "a {#color(1,2,3)}bc{#reset()} d";
        let mut markup = ColorMarkup::default();
        let request = TextRequest { text: text.as_bytes(), ..TextRequest::DEFAULT };
        markup.extract(&request).unwrap();
        // The shown text is "a bc d", broken into "a", "bc" and "d".
        let mut lines = [0..1, 2..4, 5..6];
        markup.to_source_ranges(&mut lines);
        let lines: Vec<&str> = lines.iter().map(|line| &text[line.clone()]).collect();
        assert_eq!(lines, ["a", "bc", "d"]);
    }
}
