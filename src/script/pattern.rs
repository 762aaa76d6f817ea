//! Patterns: a matcher for Lua 5.1 string patterns that counts its steps, a plain search in linear
//! time, and (in cost.rs) an estimate of what a pattern can cost. Knows no VM: byte slices in,
//! offsets out. The replacements that games call stand in lua/strings.lua and come here only for
//! the costly cases.
//!
//! The language is that of the Lua 5.1 manual, section 5.4.1, as LuaJIT 2.1 reads it: `%g` is
//! known, `%z` is the zero byte, classes are ASCII, and a pattern ends at its first zero byte. A
//! fault in the pattern is reported only when the matcher reaches it, as there.

mod cost;
#[cfg(test)]
mod tests;

use std::fmt;

pub use cost::direct_bytes_max;

/// Captures in one match; LuaJIT's `LUA_MAXCAPTURES`.
pub const CAPTURES_MAX: usize = 32;
/// Nested choices open at once; LuaJIT's `LJ_MAX_XLEVEL`. It also bounds the use of the stack.
pub const DEPTH_MAX: u32 = 200;
/// Bytes of a pattern: far above any that is written by hand, and it bounds the compiled form.
pub const PATTERN_BYTES_MAX: usize = 1 << 20;

/// One capture of a match, in byte offsets from 0 (scripts count from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// The bytes `start..end` of the subject.
    Span { start: usize, end: usize },
    /// What `()` captures: the offset itself.
    Position(usize),
}

/// A match: the bytes `start..end` of the subject and what was captured in them.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    pub start: usize,
    pub end: usize,
    count: usize,
    slots: [Capture; CAPTURES_MAX],
}

impl Match {
    /// The captures in the order of their opening parentheses; empty where the pattern has none.
    pub fn captures(&self) -> &[Capture] {
        &self.slots[..self.count]
    }
}

/// Why a pattern could not be tried to the end. The words are those of Lua where Lua has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    EndsWithEscape,
    SetNotClosed,
    FrontierWithoutSet,
    BalanceWithoutPair,
    CaptureNotOpen,
    CaptureNotClosed,
    CaptureIndex,
    TooManyCaptures,
    TooComplex,
    TooLong,
    /// The step budget is spent. The caller knows the budget and words the rest.
    OutOfSteps,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::EndsWithEscape => "malformed pattern (ends with '%')",
            Fault::SetNotClosed => "malformed pattern (missing ']')",
            Fault::FrontierWithoutSet => "missing '[' after '%f' in pattern",
            Fault::BalanceWithoutPair => "unbalanced pattern",
            Fault::CaptureNotOpen => "invalid pattern capture",
            Fault::CaptureNotClosed => "unfinished capture",
            Fault::CaptureIndex => "invalid capture index",
            Fault::TooManyCaptures => "too many captures",
            Fault::TooComplex => "pattern too complex",
            Fault::TooLong => "pattern too long (more than 1,048,576 bytes)",
            Fault::OutOfSteps => "the pattern took more steps than its budget",
        })
    }
}

/// Finds the first match of `pattern` in `subject` at or after the offset `init`, which counts from
/// 0 and may be the subject's length (beyond it is taken as the length). A leading `^` anchors the
/// match at `init`. `budget` is lowered by the steps taken: one for each byte tested and each
/// choice opened, 2 to 5 ns.
pub fn find(
    subject: &[u8],
    pattern: &[u8],
    init: usize,
    budget: &mut u64,
) -> Result<Option<Match>, Fault> {
    let (anchored, items) = compile(pattern)?;
    let mut matcher = Matcher {
        subject,
        items: &items,
        budget: *budget,
        depth: 0,
        level: 0,
        slots: [(0, Close::Open); CAPTURES_MAX],
    };
    let result = matcher.search(init.min(subject.len()), anchored);
    *budget = matcher.budget;
    result
}

/// Finds the literal bytes `needle` in `subject` at or after the offset `init`, in time linear in
/// both lengths whatever they hold (Knuth, Morris, Pratt 1977). Returns the offset from 0.
pub fn find_plain(subject: &[u8], needle: &[u8], init: usize) -> Option<usize> {
    let init = init.min(subject.len());
    if needle.len() > subject.len() - init {
        return None;
    }
    if needle.is_empty() {
        return Some(init);
    }
    // border[i] is the length of the longest proper prefix of needle[..=i] that also ends it.
    let mut border = vec![0usize; needle.len()];
    let mut held = 0;
    for i in 1..needle.len() {
        while held > 0 && needle[i] != needle[held] {
            held = border[held - 1];
        }
        held += usize::from(needle[i] == needle[held]);
        border[i] = held;
    }
    held = 0;
    for (i, byte) in subject.iter().enumerate().skip(init) {
        while held > 0 && *byte != needle[held] {
            held = border[held - 1];
        }
        held += usize::from(*byte == needle[held]);
        if held == needle.len() {
            return Some(i + 1 - held);
        }
    }
    None
}

/// A set of bytes, and what testing one byte against its text costs a matcher that reads the text.
#[derive(Clone, Copy)]
struct Class {
    bits: [u64; 4],
    cost: f64,
}

impl Class {
    const NONE: Class = Class { bits: [0; 4], cost: 1.0 };
    const ANY: Class = Class { bits: [u64::MAX; 4], cost: 1.0 };

    fn has(&self, byte: u8) -> bool {
        self.bits[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    fn add(&mut self, byte: u8) {
        self.bits[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn combine(self, other: &Class, with: fn(u64, u64) -> u64) -> Class {
        let bits = std::array::from_fn(|i| with(self.bits[i], other.bits[i]));
        Class { bits, cost: self.cost }
    }

    fn is_disjoint(&self, other: &Class) -> bool {
        self.bits.iter().zip(&other.bits).all(|(a, b)| a & b == 0)
    }

    fn is_any(&self) -> bool {
        self.bits == Class::ANY.bits
    }

    fn one(byte: u8) -> Class {
        let mut class = Class::NONE;
        class.add(byte);
        class
    }

    /// What `%letter` stands for; a byte without a meaning stands for itself.
    fn escape(letter: u8) -> Class {
        let test: fn(u8) -> bool = match letter.to_ascii_lowercase() {
            b'a' => |b| b.is_ascii_alphabetic(),
            b'c' => |b| b.is_ascii_control(),
            b'd' => |b| b.is_ascii_digit(),
            b'g' => |b| b.is_ascii_graphic(),
            b'l' => |b| b.is_ascii_lowercase(),
            b'p' => |b| b.is_ascii_punctuation(),
            b's' => |b| b == b' ' || (9..=13).contains(&b),
            b'u' => |b| b.is_ascii_uppercase(),
            b'w' => |b| b.is_ascii_alphanumeric(),
            b'x' => |b| b.is_ascii_hexdigit(),
            b'z' => |b| b == 0,
            _ => return Class::one(letter),
        };
        let mut class = Class::NONE;
        (0..=127).filter(|b| test(*b)).for_each(|b| class.add(b));
        if letter.is_ascii_uppercase() {
            class.bits = class.bits.map(|word| !word);
        }
        class
    }

    /// The set whose text between the brackets is `body`, a leading `^` included.
    fn set(body: &[u8]) -> Class {
        let (negated, body) = match body {
            [b'^', rest @ ..] => (true, rest),
            _ => (false, body),
        };
        let mut class = Class::NONE;
        let mut rest = body;
        loop {
            rest = match rest {
                [] => break,
                [b'%', letter, rest @ ..] => {
                    class = class.combine(&Class::escape(*letter), |a, b| a | b);
                    rest
                }
                [low, b'-', high, rest @ ..] => {
                    (*low..=*high).for_each(|b| class.add(b));
                    rest
                }
                [byte, rest @ ..] => {
                    class.add(*byte);
                    rest
                }
            };
        }
        if negated {
            class.bits = class.bits.map(|word| !word);
        }
        class.cost = 1.0 + body.len() as f64;
        class
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Repeat {
    Once,
    Maybe,
    Star,
    Plus,
    Lazy,
}

enum Item {
    Single(Class, Repeat),
    Open,
    Position,
    Close,
    Balance(u8, u8),
    Frontier(Class),
    BackReference(u8),
    SubjectEnd,
    /// The pattern is malformed from here on.
    Malformed(Fault),
}

/// Reads a pattern into items. Returns whether it is anchored, too.
fn compile(pattern: &[u8]) -> Result<(bool, Vec<Item>), Fault> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(Fault::TooLong);
    }
    let text = pattern.split(|byte| *byte == 0).next().unwrap_or(pattern);
    let (anchored, mut rest) = match text {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let mut items = Vec::with_capacity(rest.len().min(32));
    while !rest.is_empty() {
        let item = match rest {
            [b'(', b')', after @ ..] => Ok((Item::Position, after)),
            [b'(', after @ ..] => Ok((Item::Open, after)),
            [b')', after @ ..] => Ok((Item::Close, after)),
            [b'$'] => Ok((Item::SubjectEnd, &rest[1..])),
            [b'%', b'b', open, close, after @ ..] => Ok((Item::Balance(*open, *close), after)),
            [b'%', b'b', ..] => Err(Fault::BalanceWithoutPair),
            [b'%', b'f', b'[', ..] => {
                single(&rest[2..]).map(|(class, after)| (Item::Frontier(class), after))
            }
            [b'%', b'f', ..] => Err(Fault::FrontierWithoutSet),
            [b'%', digit @ b'0'..=b'9', after @ ..] => Ok((Item::BackReference(*digit), after)),
            _ => single(rest).map(|(class, after)| {
                let repeat = match after.first() {
                    Some(b'?') => Repeat::Maybe,
                    Some(b'*') => Repeat::Star,
                    Some(b'+') => Repeat::Plus,
                    Some(b'-') => Repeat::Lazy,
                    _ => return (Item::Single(class, Repeat::Once), after),
                };
                (Item::Single(class, repeat), &after[1..])
            }),
        };
        match item {
            Ok((item, after)) => {
                items.push(item);
                rest = after;
            }
            Err(fault) => {
                items.push(Item::Malformed(fault));
                break;
            }
        }
    }
    Ok((anchored, items))
}

/// Reads one class off the front of `text`, which is not empty.
fn single(text: &[u8]) -> Result<(Class, &[u8]), Fault> {
    match text {
        [b'%', letter, after @ ..] => Ok((Class::escape(*letter), after)),
        [b'%'] => Err(Fault::EndsWithEscape),
        [b'.', after @ ..] => Ok((Class::ANY, after)),
        [b'[', ..] => {
            // The first byte of a set is never its end: `[]]` holds a bracket.
            let first = if text.get(1) == Some(&b'^') { 2 } else { 1 };
            let mut at = first;
            while at < text.len() && (at == first || text[at] != b']') {
                at += if text[at] == b'%' { 2 } else { 1 };
            }
            match text.get(at) {
                Some(_) => Ok((Class::set(&text[1..at]), &text[at + 1..])),
                None => Err(Fault::SetNotClosed),
            }
        }
        _ => Ok((Class::one(text[0]), &text[1..])),
    }
}

#[derive(Clone, Copy)]
enum Close {
    Open,
    Position,
    At(usize),
}

struct Matcher<'a> {
    subject: &'a [u8],
    items: &'a [Item],
    budget: u64,
    depth: u32,
    level: usize,
    slots: [(usize, Close); CAPTURES_MAX],
}

impl Matcher<'_> {
    fn search(&mut self, init: usize, anchored: bool) -> Result<Option<Match>, Fault> {
        for start in init..=self.subject.len() {
            // The first item decides most starts: test it here, where it costs no call.
            let hopeless = match self.items.first() {
                Some(Item::Single(class, Repeat::Once | Repeat::Plus)) => {
                    !self.subject.get(start).is_some_and(|b| class.has(*b))
                }
                _ => false,
            };
            if hopeless {
                self.spend(1)?;
            } else {
                (self.level, self.depth) = (0, 0);
                if let Some(end) = self.step(start, 0)? {
                    return self.finish(start, end).map(Some);
                }
            }
            if anchored {
                break;
            }
        }
        Ok(None)
    }

    fn finish(&self, start: usize, end: usize) -> Result<Match, Fault> {
        let mut slots = [Capture::Position(0); CAPTURES_MAX];
        for (slot, (start, close)) in slots.iter_mut().zip(&self.slots[..self.level]) {
            *slot = match *close {
                Close::Open => return Err(Fault::CaptureNotClosed),
                Close::Position => Capture::Position(*start),
                Close::At(end) => Capture::Span { start: *start, end },
            };
        }
        Ok(Match { start, end, count: self.level, slots })
    }

    fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        match self.budget.checked_sub(steps as u64) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                self.budget = 0;
                Err(Fault::OutOfSteps)
            }
        }
    }

    /// Matches the items from `item` on at the offset `at`. Returns where the match ends.
    fn step(&mut self, mut at: usize, mut item: usize) -> Result<Option<usize>, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Fault::TooComplex);
        }
        let items = self.items;
        let end = loop {
            self.spend(1)?;
            let Some(now) = items.get(item) else {
                break Some(at);
            };
            item += 1;
            let next = match now {
                Item::Single(class, repeat) => {
                    let hit = self.subject.get(at).is_some_and(|b| class.has(*b));
                    match repeat {
                        Repeat::Once => hit.then_some(at + 1),
                        Repeat::Maybe => {
                            if hit && let Some(end) = self.step(at + 1, item)? {
                                break Some(end);
                            }
                            Some(at)
                        }
                        Repeat::Star => break self.greedy(class, at, item)?,
                        Repeat::Plus if hit => break self.greedy(class, at + 1, item)?,
                        Repeat::Plus => None,
                        Repeat::Lazy => break self.lazy(class, at, item)?,
                    }
                }
                Item::Open => break self.open(at, item, Close::Open)?,
                Item::Position => break self.open(at, item, Close::Position)?,
                Item::Close => break self.close(at, item)?,
                Item::Balance(open, close) => self.balance(at, *open, *close)?,
                Item::Frontier(class) => {
                    let before = if at == 0 { 0 } else { self.subject[at - 1] };
                    let after = self.subject.get(at).copied().unwrap_or(0);
                    (!class.has(before) && class.has(after)).then_some(at)
                }
                Item::BackReference(digit) => self.repeat_capture(at, *digit)?,
                Item::SubjectEnd => (at == self.subject.len()).then_some(at),
                Item::Malformed(fault) => return Err(*fault),
            };
            match next {
                Some(next) => at = next,
                None => break None,
            }
        };
        self.depth -= 1;
        Ok(end)
    }

    fn greedy(&mut self, class: &Class, at: usize, item: usize) -> Result<Option<usize>, Fault> {
        let most = self.subject[at..].iter().take_while(|b| class.has(**b)).count();
        self.spend(most)?;
        for count in (0..=most).rev() {
            let end = self.step(at + count, item)?;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    fn lazy(&mut self, class: &Class, at: usize, item: usize) -> Result<Option<usize>, Fault> {
        let mut at = at;
        loop {
            let end = self.step(at, item)?;
            if end.is_some() || !self.subject.get(at).is_some_and(|b| class.has(*b)) {
                return Ok(end);
            }
            at += 1;
        }
    }

    fn open(&mut self, at: usize, item: usize, close: Close) -> Result<Option<usize>, Fault> {
        let slot = self.slots.get_mut(self.level).ok_or(Fault::TooManyCaptures)?;
        *slot = (at, close);
        self.level += 1;
        let end = self.step(at, item)?;
        if end.is_none() {
            self.level -= 1;
        }
        Ok(end)
    }

    fn close(&mut self, at: usize, item: usize) -> Result<Option<usize>, Fault> {
        let open = self.slots[..self.level].iter().rposition(|(_, c)| matches!(c, Close::Open));
        let slot = open.ok_or(Fault::CaptureNotOpen)?;
        self.slots[slot].1 = Close::At(at);
        let end = self.step(at, item)?;
        if end.is_none() {
            self.slots[slot].1 = Close::Open;
        }
        Ok(end)
    }

    fn balance(&mut self, at: usize, open: u8, close: u8) -> Result<Option<usize>, Fault> {
        if self.subject.get(at) != Some(&open) {
            return Ok(None);
        }
        let mut nested = 1usize;
        for (i, byte) in self.subject[at + 1..].iter().enumerate() {
            if *byte == close {
                nested -= 1;
                if nested == 0 {
                    self.spend(i)?;
                    return Ok(Some(at + i + 2));
                }
            } else if *byte == open {
                nested += 1;
            }
        }
        self.spend(self.subject.len() - at)?;
        Ok(None)
    }

    fn repeat_capture(&mut self, at: usize, digit: u8) -> Result<Option<usize>, Fault> {
        let slot = usize::from(digit).checked_sub(usize::from(b'1')).ok_or(Fault::CaptureIndex)?;
        let (start, end) = match self.slots[..self.level].get(slot) {
            Some((start, Close::At(end))) => (*start, *end),
            // LuaJIT takes the length of a position capture for a huge one, which never fits.
            Some((_, Close::Position)) => return Ok(None),
            Some((_, Close::Open)) | None => return Err(Fault::CaptureIndex),
        };
        let text = &self.subject[start..end];
        // Comparing runs of bytes is far cheaper than a step each.
        self.spend(text.len() / 16)?;
        Ok(self.subject[at..].starts_with(text).then_some(at + text.len()))
    }
}
