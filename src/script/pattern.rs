//! Lua patterns: a matcher for Lua 5.1 string patterns that counts its steps, a plain search in
//! linear time, and (in cost.rs) an estimate of the cost of a pattern. Works on byte slices and
//! returns offsets; knows no VM. The replacement functions that games call are in
//! lua/boot/strings.lua, and use this module only for the costly cases.
//!
//! The language is that of the Lua 5.1 manual, section 5.4.1, as LuaJIT 2.1 reads it: `%g` is
//! known, `%z` is the zero byte, classes are ASCII, and a pattern ends at its first zero byte. As
//! in LuaJIT, an error in the pattern is reported only when the matcher reaches it.

mod cost;
#[cfg(test)]
mod tests;

use std::fmt;

pub use cost::direct_bytes_max;

/// Maximum number of captures in one match; LuaJIT's `LUA_MAXCAPTURES`.
pub const CAPTURES_MAX: usize = 32;
/// Maximum number of nested choices; LuaJIT's `LJ_MAX_XLEVEL`. It also bounds the use of the stack.
pub const DEPTH_MAX: u32 = 200;
/// Maximum length of a pattern in bytes. It is far above any pattern written by hand, and it bounds
/// the compiled form.
pub const PATTERN_BYTES_MAX: usize = 1 << 20;

/// One capture of a match, in byte offsets from 0 (scripts count from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// The bytes `start..end` of the subject.
    Span { start: usize, end: usize },
    /// The offset captured by `()`.
    Position(usize),
}

/// A match: the bytes `start..end` of the subject, and the captures in them.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    pub start: usize,
    pub end: usize,
    count: usize,
    slots: [Capture; CAPTURES_MAX],
}

impl Match {
    /// Returns the captures in the order of their opening parentheses; empty if the pattern has
    /// none.
    pub fn captures(&self) -> &[Capture] {
        &self.slots[..self.count]
    }
}

/// The reason why a pattern could not be matched to the end. The messages are Lua's own, where Lua
/// has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
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
    /// The step budget is used up. The caller knows the budget and completes the message.
    OutOfSteps,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PatternError::EndsWithEscape => "malformed pattern (ends with '%')",
            PatternError::SetNotClosed => "malformed pattern (missing ']')",
            PatternError::FrontierWithoutSet => "missing '[' after '%f' in pattern",
            PatternError::BalanceWithoutPair => "unbalanced pattern",
            PatternError::CaptureNotOpen => "invalid pattern capture",
            PatternError::CaptureNotClosed => "unfinished capture",
            PatternError::CaptureIndex => "invalid capture index",
            PatternError::TooManyCaptures => "too many captures",
            PatternError::TooComplex => "pattern too complex",
            PatternError::TooLong => "pattern too long (more than 1,048,576 bytes)",
            PatternError::OutOfSteps => "the pattern took more steps than its budget",
        })
    }
}

/// Finds the first match of `pattern` in `subject` at or after the offset `init`, which counts from
/// 0. An `init` beyond the subject's length is treated as the length. A leading `^` anchors the
/// match at `init`. `budget` is reduced by the steps taken: one for each byte tested and each
/// choice opened, 2 to 5 ns.
pub fn find(
    subject: &[u8],
    pattern: &[u8],
    init: usize,
    budget: &mut u64,
) -> Result<Option<Match>, PatternError> {
    let (anchored, items) = compile(pattern)?;
    let mut matcher = Matcher {
        subject,
        items: &items,
        budget: *budget,
        depth: 0,
        level: 0,
        slots: [(0, CloseKind::Open); CAPTURES_MAX],
    };
    let result = matcher.search(init.min(subject.len()), anchored);
    *budget = matcher.budget;
    result
}

/// Finds the literal bytes `needle` in `subject` at or after the offset `init`, in time linear in
/// both lengths for any content (Knuth, Morris, Pratt 1977). Returns the offset from 0.
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

/// A set of bytes, and the cost of testing one byte for a matcher that reads the set's text each
/// time.
#[derive(Clone, Copy)]
struct ByteClass {
    bits: [u64; 4],
    cost: f64,
}

impl ByteClass {
    const NONE: ByteClass = ByteClass { bits: [0; 4], cost: 1.0 };
    const ANY: ByteClass = ByteClass { bits: [u64::MAX; 4], cost: 1.0 };

    fn has(&self, byte: u8) -> bool {
        self.bits[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    fn add(&mut self, byte: u8) {
        self.bits[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn combine(self, other: &ByteClass, with: fn(u64, u64) -> u64) -> ByteClass {
        let bits = std::array::from_fn(|i| with(self.bits[i], other.bits[i]));
        ByteClass { bits, cost: self.cost }
    }

    fn is_disjoint(&self, other: &ByteClass) -> bool {
        self.bits.iter().zip(&other.bits).all(|(a, b)| a & b == 0)
    }

    fn is_any(&self) -> bool {
        self.bits == ByteClass::ANY.bits
    }

    fn one(byte: u8) -> ByteClass {
        let mut class = ByteClass::NONE;
        class.add(byte);
        class
    }

    /// Returns the class of `%letter`; a letter without a special meaning matches itself.
    fn escape(letter: u8) -> ByteClass {
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
            _ => return ByteClass::one(letter),
        };
        let mut class = ByteClass::NONE;
        (0..=127).filter(|b| test(*b)).for_each(|b| class.add(b));
        if letter.is_ascii_uppercase() {
            class.bits = class.bits.map(|word| !word);
        }
        class
    }

    /// Returns the set whose text between the brackets is `body`, including a leading `^`.
    fn set(body: &[u8]) -> ByteClass {
        let (negated, body) = match body {
            [b'^', rest @ ..] => (true, rest),
            _ => (false, body),
        };
        let mut class = ByteClass::NONE;
        let mut rest = body;
        loop {
            rest = match rest {
                [] => break,
                [b'%', letter, rest @ ..] => {
                    class = class.combine(&ByteClass::escape(*letter), |a, b| a | b);
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
enum Repetition {
    Once,
    Maybe,
    Star,
    Plus,
    Lazy,
}

enum PatternItem {
    Single(ByteClass, Repetition),
    Open,
    Position,
    Close,
    Balance(u8, u8),
    Frontier(ByteClass),
    BackReference(u8),
    SubjectEnd,
    /// The pattern is malformed from here on.
    Malformed(PatternError),
}

/// Compiles a pattern into items. The returned flag is true if the pattern is anchored.
fn compile(pattern: &[u8]) -> Result<(bool, Vec<PatternItem>), PatternError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(PatternError::TooLong);
    }
    let text = pattern.split(|byte| *byte == 0).next().unwrap_or(pattern);
    let (anchored, mut rest) = match text {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let mut items = Vec::with_capacity(rest.len().min(32));
    while !rest.is_empty() {
        let item = match rest {
            [b'(', b')', after @ ..] => Ok((PatternItem::Position, after)),
            [b'(', after @ ..] => Ok((PatternItem::Open, after)),
            [b')', after @ ..] => Ok((PatternItem::Close, after)),
            [b'$'] => Ok((PatternItem::SubjectEnd, &rest[1..])),
            [b'%', b'b', open, close, after @ ..] => {
                Ok((PatternItem::Balance(*open, *close), after))
            }
            [b'%', b'b', ..] => Err(PatternError::BalanceWithoutPair),
            [b'%', b'f', b'[', ..] => {
                single(&rest[2..]).map(|(class, after)| (PatternItem::Frontier(class), after))
            }
            [b'%', b'f', ..] => Err(PatternError::FrontierWithoutSet),
            [b'%', digit @ b'0'..=b'9', after @ ..] => {
                Ok((PatternItem::BackReference(*digit), after))
            }
            _ => single(rest).map(|(class, after)| {
                let repeat = match after.first() {
                    Some(b'?') => Repetition::Maybe,
                    Some(b'*') => Repetition::Star,
                    Some(b'+') => Repetition::Plus,
                    Some(b'-') => Repetition::Lazy,
                    _ => return (PatternItem::Single(class, Repetition::Once), after),
                };
                (PatternItem::Single(class, repeat), &after[1..])
            }),
        };
        match item {
            Ok((item, after)) => {
                items.push(item);
                rest = after;
            }
            Err(error) => {
                items.push(PatternItem::Malformed(error));
                break;
            }
        }
    }
    Ok((anchored, items))
}

/// Reads one class from the start of `text`, which is not empty.
fn single(text: &[u8]) -> Result<(ByteClass, &[u8]), PatternError> {
    match text {
        [b'%', letter, after @ ..] => Ok((ByteClass::escape(*letter), after)),
        [b'%'] => Err(PatternError::EndsWithEscape),
        [b'.', after @ ..] => Ok((ByteClass::ANY, after)),
        [b'[', ..] => {
            // The first byte of a set never ends it: `[]]` contains a bracket.
            let first = if text.get(1) == Some(&b'^') { 2 } else { 1 };
            let mut at = first;
            while at < text.len() && (at == first || text[at] != b']') {
                at += if text[at] == b'%' { 2 } else { 1 };
            }
            match text.get(at) {
                Some(_) => Ok((ByteClass::set(&text[1..at]), &text[at + 1..])),
                None => Err(PatternError::SetNotClosed),
            }
        }
        _ => Ok((ByteClass::one(text[0]), &text[1..])),
    }
}

#[derive(Clone, Copy)]
enum CloseKind {
    Open,
    Position,
    At(usize),
}

struct Matcher<'a> {
    subject: &'a [u8],
    items: &'a [PatternItem],
    budget: u64,
    depth: u32,
    level: usize,
    slots: [(usize, CloseKind); CAPTURES_MAX],
}

impl Matcher<'_> {
    fn search(&mut self, init: usize, anchored: bool) -> Result<Option<Match>, PatternError> {
        for start in init..=self.subject.len() {
            // The first item rules out most start offsets. It is tested here, where the test costs
            // no call.
            let hopeless = match self.items.first() {
                Some(PatternItem::Single(class, Repetition::Once | Repetition::Plus)) => {
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

    fn finish(&self, start: usize, end: usize) -> Result<Match, PatternError> {
        let mut slots = [Capture::Position(0); CAPTURES_MAX];
        for (slot, (start, close)) in slots.iter_mut().zip(&self.slots[..self.level]) {
            *slot = match *close {
                CloseKind::Open => return Err(PatternError::CaptureNotClosed),
                CloseKind::Position => Capture::Position(*start),
                CloseKind::At(end) => Capture::Span { start: *start, end },
            };
        }
        Ok(Match { start, end, count: self.level, slots })
    }

    fn spend(&mut self, steps: usize) -> Result<(), PatternError> {
        match self.budget.checked_sub(steps as u64) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                self.budget = 0;
                Err(PatternError::OutOfSteps)
            }
        }
    }

    /// Matches the items from `item` on at the offset `at`. Returns the end of the match.
    fn step(&mut self, mut at: usize, mut item: usize) -> Result<Option<usize>, PatternError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(PatternError::TooComplex);
        }
        let items = self.items;
        let end = loop {
            self.spend(1)?;
            let Some(now) = items.get(item) else {
                break Some(at);
            };
            item += 1;
            let next = match now {
                PatternItem::Single(class, repeat) => {
                    let hit = self.subject.get(at).is_some_and(|b| class.has(*b));
                    match repeat {
                        Repetition::Once => hit.then_some(at + 1),
                        Repetition::Maybe => {
                            if hit && let Some(end) = self.step(at + 1, item)? {
                                break Some(end);
                            }
                            Some(at)
                        }
                        Repetition::Star => break self.greedy(class, at, item)?,
                        Repetition::Plus if hit => break self.greedy(class, at + 1, item)?,
                        Repetition::Plus => None,
                        Repetition::Lazy => break self.lazy(class, at, item)?,
                    }
                }
                PatternItem::Open => break self.open(at, item, CloseKind::Open)?,
                PatternItem::Position => break self.open(at, item, CloseKind::Position)?,
                PatternItem::Close => break self.close(at, item)?,
                PatternItem::Balance(open, close) => self.balance(at, *open, *close)?,
                PatternItem::Frontier(class) => {
                    let before = if at == 0 { 0 } else { self.subject[at - 1] };
                    let after = self.subject.get(at).copied().unwrap_or(0);
                    (!class.has(before) && class.has(after)).then_some(at)
                }
                PatternItem::BackReference(digit) => self.repeat_capture(at, *digit)?,
                PatternItem::SubjectEnd => (at == self.subject.len()).then_some(at),
                PatternItem::Malformed(error) => return Err(*error),
            };
            match next {
                Some(next) => at = next,
                None => break None,
            }
        };
        self.depth -= 1;
        Ok(end)
    }

    fn greedy(
        &mut self,
        class: &ByteClass,
        at: usize,
        item: usize,
    ) -> Result<Option<usize>, PatternError> {
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

    fn lazy(
        &mut self,
        class: &ByteClass,
        at: usize,
        item: usize,
    ) -> Result<Option<usize>, PatternError> {
        let mut at = at;
        loop {
            let end = self.step(at, item)?;
            if end.is_some() || !self.subject.get(at).is_some_and(|b| class.has(*b)) {
                return Ok(end);
            }
            at += 1;
        }
    }

    fn open(
        &mut self,
        at: usize,
        item: usize,
        close: CloseKind,
    ) -> Result<Option<usize>, PatternError> {
        let slot = self.slots.get_mut(self.level).ok_or(PatternError::TooManyCaptures)?;
        *slot = (at, close);
        self.level += 1;
        let end = self.step(at, item)?;
        if end.is_none() {
            self.level -= 1;
        }
        Ok(end)
    }

    fn close(&mut self, at: usize, item: usize) -> Result<Option<usize>, PatternError> {
        let open = self.slots[..self.level].iter().rposition(|(_, c)| matches!(c, CloseKind::Open));
        let slot = open.ok_or(PatternError::CaptureNotOpen)?;
        self.slots[slot].1 = CloseKind::At(at);
        let end = self.step(at, item)?;
        if end.is_none() {
            self.slots[slot].1 = CloseKind::Open;
        }
        Ok(end)
    }

    fn balance(&mut self, at: usize, open: u8, close: u8) -> Result<Option<usize>, PatternError> {
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

    fn repeat_capture(&mut self, at: usize, digit: u8) -> Result<Option<usize>, PatternError> {
        let slot =
            usize::from(digit).checked_sub(usize::from(b'1')).ok_or(PatternError::CaptureIndex)?;
        let (start, end) = match self.slots[..self.level].get(slot) {
            Some((start, CloseKind::At(end))) => (*start, *end),
            // LuaJIT treats the length of a position capture as a huge one, which never fits.
            Some((_, CloseKind::Position)) => return Ok(None),
            Some((_, CloseKind::Open)) | None => return Err(PatternError::CaptureIndex),
        };
        let text = &self.subject[start..end];
        // Comparing runs of bytes is far cheaper than one step for each byte.
        self.spend(text.len() / 16)?;
        Ok(self.subject[at..].starts_with(text).then_some(at + text.len()))
    }
}
