//! Colours in a string: `{#color(r,g,b)}`, `{#color(r,g,b,a)}` and `{#reset()}`, as games of the
//! Bitsquid family write them. What only looks like them is shown as it is.

use crate::packet::text::{Request, Span};
use std::ops::Range;

/// What begins every directive; the rest of the text is not looked at.
const BEGIN: &[u8] = b"{#";

/// Where markup was cut out.
#[derive(Default)]
pub struct Markup {
    /// What is shown.
    pub text: Vec<u8>,
    pub spans: Vec<Span>,
    /// From this byte of what is shown on, so many bytes were cut out in all.
    cuts: Vec<(usize, usize)>,
}

impl Markup {
    /// Takes directives out of a text. `None`: there are none, and the text is shown as it is.
    pub fn take_out(&mut self, request: &Request) -> Option<()> {
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
                    self.spans.push(Span { start: self.text.len() as u32, color });
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

    /// Makes ranges of what is shown ranges of the whole text again. A directive at the end of one
    /// line belongs to the next.
    pub fn widen(&self, ranges: &mut [Range<usize>]) {
        let cut_before = |at: usize, included: bool| {
            let cuts = self.cuts.iter().rev();
            let mut cuts = cuts.skip_while(|(from, _)| *from > at || !included && *from == at);
            cuts.next().map_or(0, |(_, cut)| *cut)
        };
        for range in ranges {
            let is_first = range.start == 0;
            range.start += cut_before(range.start, !is_first);
            range.end += cut_before(range.end, false);
            // A line keeps the colours that are set at its own beginning.
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

/// A directive at the beginning of a text: its colour, and its length in bytes.
fn directive(text: &[u8]) -> Option<(Option<[u8; 4]>, usize)> {
    // The longest one: {#color(255, 255, 255, 255)}, with room for spaces.
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
    fn check(text: &str, shown: &str, spans: &[(u32, Option<[u8; 4]>)]) {
        let mut markup = Markup::default();
        let request = Request { text: text.as_bytes(), ..Request::DEFAULT };
        let found = markup.take_out(&request);
        let got = if found.is_some() { &markup.text[..] } else { text.as_bytes() };
        assert_eq!(std::str::from_utf8(got).unwrap(), shown);
        let got: Vec<_> = markup.spans.iter().map(|span| (span.start, span.color)).collect();
        assert_eq!(got, spans);
    }

    #[test]
    fn directives_become_spans_and_everything_else_is_text() {
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
    fn lines_of_what_is_shown_become_lines_of_the_whole_text() {
        let text = "a {#color(1,2,3)}bc{#reset()} d";
        let mut markup = Markup::default();
        let request = Request { text: text.as_bytes(), ..Request::DEFAULT };
        markup.take_out(&request).unwrap();
        // Shown: "a bc d", broken into "a", "bc" and "d".
        let mut lines = [0..1, 2..4, 5..6];
        markup.widen(&mut lines);
        let lines: Vec<&str> = lines.iter().map(|line| &text[line.clone()]).collect();
        assert_eq!(lines, ["a", "bc", "d"]);
    }
}
