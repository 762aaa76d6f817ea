//! Limits of a shader's text, checked before a parser sees it. The parser, the validator and the
//! shader writers of graphics APIs recurse once for each nesting level, and the text of a
//! shader comes from a game. This module reads only tokens: it knows no types, and its counts are
//! never below those of the parser.

use super::arrays::{self, Arrays};
use std::collections::HashMap;

/// The most tokens of a shader, the engine's part included.
pub const TOKENS_MAX: usize = 1 << 16;
/// The most levels of an expression or a type: operators in a row, brackets, members.
pub const NESTING_MAX: u32 = 200;
/// The deepest nesting of blocks. Each `else` of a chain is nested in the one before.
pub const BLOCKS_MAX: u32 = 100;
/// The most tokens of a declaration when everything that it names is expanded in place, as
/// compilers for graphics cards do with functions.
pub const EXPANDED_MAX: u64 = 1 << 18;
/// The longest chain of declarations that each name the next.
pub const CHAIN_MAX: u32 = 300;
/// The stack size, in bytes, that is sufficient for a text within these limits. Measured with naga
/// 30: a level of an expression takes at most 38 KiB (writing GLSL), a block 43 KiB (a `for` in
/// GLSL), which is 12 MiB in all.
pub const STACK_BYTES: usize = 64 << 20;

/// A limit that a text exceeds, and the position.
#[derive(Debug, PartialEq)]
pub struct LimitExceeded {
    /// Byte position of the excess; `None` if it concerns the whole text.
    pub at: Option<usize>,
    pub message: String,
}

/// Checks a whole text.
pub fn check(text: &str) -> Result<(), LimitExceeded> {
    let mut reader = LimitChecker::default();
    let mut arrays = Arrays::new(arrays::constants(text));
    let mut lexer = WgslLexer::new(text);
    while let Some(token) = lexer.next() {
        reader.take(&token)?;
        arrays.take(&token)?;
    }
    reader.end(text.len())?;
    arrays.end()
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum WgslTokenKind {
    /// A name or a keyword.
    Word,
    Number,
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct WgslToken<'a> {
    pub kind: WgslTokenKind,
    pub text: &'a str,
    pub at: usize,
}

/// The lexer. `<` and `>` are separate tokens, because they are brackets as well.
pub(super) struct WgslLexer<'a> {
    text: &'a str,
    at: usize,
}

/// Operators of more than one character.
const SIGNS: [&str; 19] = [
    "->", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<=",
    ">=", "<<", ">>",
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || (!c.is_ascii() && !is_blank(c))
}

/// Returns true for blank space of WGSL.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

fn ends_line(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl<'a> WgslLexer<'a> {
    pub fn new(text: &'a str) -> WgslLexer<'a> {
        WgslLexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blank space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(is_blank).len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find(ends_line).unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += block_comment(rest);
            } else {
                return;
            }
        }
    }

    pub fn next(&mut self) -> Option<WgslToken<'a>> {
        self.skip();
        let rest = self.rest();
        let first = rest.chars().next()?;
        let (kind, length) = if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            (WgslTokenKind::Number, number(rest))
        } else if is_word(first) {
            (WgslTokenKind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
        } else {
            let known = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            (WgslTokenKind::Sign, known.map_or(first.len_utf8(), |sign| sign.len()))
        };
        let token = WgslToken { kind, text: &rest[..length], at: self.at };
        self.at += length;
        Some(token)
    }
}

/// Returns the length of a block comment, which may contain others, as the parser reads it.
fn block_comment(text: &str) -> usize {
    let mut depth = 1;
    let mut letters = text.char_indices().skip(2);
    let mut before = letters.next().map(|(_, c)| c);
    for (at, c) in letters {
        match (before, c) {
            (Some('*'), '/') => {
                before = None;
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            (Some('/'), '*') => {
                before = None;
                depth += 1;
            }
            _ => before = Some(c),
        }
    }
    text.len()
}

/// Returns the length of a number: digits with one point and one sign of an exponent.
fn number(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let exponents: &[char] = if is_hex { &['p', 'P'] } else { &['e', 'E'] };
    let (mut point, mut sign, mut before) = (false, false, ' ');
    for (at, c) in text.char_indices() {
        let continues = match c {
            '.' if !point && !sign => {
                point = true;
                true
            }
            '+' | '-' if !sign && exponents.contains(&before) => {
                sign = true;
                true
            }
            c => c.is_ascii_alphanumeric() || c == '_',
        };
        if !continues {
            return at;
        }
        before = c;
    }
    text.len()
}

/// Precedence levels of operators, from the highest.
const UNARY: usize = 0;
const MULTIPLICATIVE: usize = 1;
const ADDITIVE: usize = 2;
const OTHER: usize = 3;

/// The greatest possible depth of one expression's tree so far: for each level the operators in a
/// row, and the deepest operand between them.
#[derive(Clone, Copy, Default)]
struct ExpressionDepth {
    operators: [u32; 4],
    deepest: [u32; 4],
}

impl ExpressionDepth {
    fn add(&mut self, level: usize) {
        self.reduce_operators(level);
        self.operators[level] += 1;
    }

    /// Notes an expression of this depth in brackets.
    fn record_depth(&mut self, depth: u32) {
        self.deepest[UNARY] = self.deepest[UNARY].max(depth);
    }

    /// Completes the operators of a higher precedence than `level`.
    fn reduce_operators(&mut self, level: usize) {
        for inner in 0..level {
            let depth = self.operators[inner] + self.deepest[inner];
            self.deepest[inner + 1] = self.deepest[inner + 1].max(depth);
            (self.operators[inner], self.deepest[inner]) = (0, 0);
        }
    }

    fn depth(mut self) -> u32 {
        self.reduce_operators(OTHER);
        self.operators[OTHER] + self.deepest[OTHER]
    }
}

/// An open bracket, and its content.
struct OpenBracket {
    /// The character that closes the bracket.
    close: &'static str,
    /// The current item, and the depth of the deepest one before it.
    item: ExpressionDepth,
    deepest: u32,
}

impl OpenBracket {
    fn new(close: &'static str) -> OpenBracket {
        OpenBracket { close, item: ExpressionDepth::default(), deepest: 0 }
    }

    fn end_item(&mut self) {
        self.deepest = self.deepest.max(self.item.depth());
        self.item = ExpressionDepth::default();
    }
}

/// An open block.
#[derive(Default)]
struct OpenBlock {
    depth: u32,
    /// Number of consecutive `else`.
    elses: u32,
}

/// One declaration at module scope.
#[derive(Default)]
struct Declaration<'a> {
    name: Option<&'a str>,
    at: usize,
    tokens: u64,
    identifiers: Vec<&'a str>,
}

/// The checker that counts the tokens.
#[derive(Default)]
struct LimitChecker<'a> {
    tokens: usize,
    blocks: Vec<OpenBlock>,
    /// Open brackets of an expression; the outermost level is a statement of its block.
    brackets: Vec<OpenBracket>,
    statement: ExpressionDepth,
    before: Option<WgslToken<'a>>,
    declared: Vec<Declaration<'a>>,
    open: Declaration<'a>,
    /// True if the next word is the name of the declaration.
    names: bool,
}

/// Returns true for words after which `<` is a bracket: all types and functions that take
/// parameters there.
fn is_generic(word: &str) -> bool {
    const GENERIC_NAMES: [&str; 6] = ["array", "ptr", "atomic", "bitcast", "var", "binding_array"];
    GENERIC_NAMES.contains(&word)
        || ["vec", "mat", "texture_"].iter().any(|start| word.starts_with(start))
}

impl<'a> LimitChecker<'a> {
    fn take(&mut self, token: &WgslToken<'a>) -> Result<(), LimitExceeded> {
        self.tokens += 1;
        if self.tokens > TOKENS_MAX {
            return Err(excess(
                None,
                format!(
                    "the shader has more than {TOKENS_MAX} names, numbers and signs (TOKENS_MAX): \
                     make two of it, or put tables into a texture"
                ),
            ));
        }
        self.declare(token);
        let closed = self.before.is_some_and(|before| before.text == "}");
        if closed && let Some(block) = self.blocks.last_mut() {
            block.elses = if token.text == "else" { block.elses + 1 } else { 0 };
        }
        if token.kind == WgslTokenKind::Sign {
            self.sign(token)?;
        }
        self.before = Some(*token);
        Ok(())
    }

    fn sign(&mut self, token: &WgslToken<'a>) -> Result<(), LimitExceeded> {
        match token.text {
            "(" => self.open_bracket(")", token),
            "[" => self.open_bracket("]", token),
            "<" if self.before.is_some_and(|before| is_generic(before.text)) => {
                self.open_bracket(">", token)
            }
            ")" => self.close_bracket(")", token),
            "]" => self.close_bracket("]", token),
            ">" | ">>" | ">=" if self.brackets.last().is_some_and(|top| top.close == ">") => {
                self.close_bracket(">", token)?;
                match token.text {
                    ">>" => self.sign(&WgslToken { text: ">", ..*token }),
                    _ => Ok(()),
                }
            }
            "," => self.end_item(token),
            ";" => self.end_statement(token),
            "{" => self.open_block(token),
            "}" => self.close_block(token),
            ":" | "@" | "->" => Ok(()),
            other => {
                let level = match other {
                    "." | "!" | "~" => UNARY,
                    "-" | "*" | "&" if !self.follows_operand() => UNARY,
                    "*" | "/" | "%" => MULTIPLICATIVE,
                    "+" | "-" => ADDITIVE,
                    _ => OTHER,
                };
                self.item().add(level);
                self.check_depth(token)
            }
        }
    }

    /// Returns true if the previous token can end an operand.
    fn follows_operand(&self) -> bool {
        self.before.is_some_and(|before| match before.kind {
            WgslTokenKind::Word | WgslTokenKind::Number => true,
            WgslTokenKind::Sign => matches!(before.text, ")" | "]" | ">" | ">>"),
        })
    }

    fn item(&mut self) -> &mut ExpressionDepth {
        match self.brackets.last_mut() {
            Some(top) => &mut top.item,
            None => &mut self.statement,
        }
    }

    fn open_bracket(
        &mut self,
        close: &'static str,
        token: &WgslToken,
    ) -> Result<(), LimitExceeded> {
        self.item().add(UNARY);
        self.brackets.push(OpenBracket::new(close));
        match self.brackets.len() > NESTING_MAX as usize {
            true => Err(too_deep(token)),
            false => Ok(()),
        }
    }

    fn close_bracket(
        &mut self,
        close: &'static str,
        token: &WgslToken,
    ) -> Result<(), LimitExceeded> {
        if !self.brackets.iter().any(|bracket| bracket.close == close) {
            // The parser will report it.
            return Ok(());
        }
        while let Some(mut bracket) = self.brackets.pop() {
            bracket.end_item();
            self.item().record_depth(bracket.deepest);
            if bracket.close == close {
                break;
            }
        }
        if close == ">" {
            // It may have been a comparison.
            self.item().add(UNARY);
        }
        self.check_depth(token)
    }

    fn check_depth(&mut self, token: &WgslToken) -> Result<(), LimitExceeded> {
        match self.item().depth() > NESTING_MAX {
            true => Err(too_deep(token)),
            false => Ok(()),
        }
    }

    fn end_item(&mut self, token: &WgslToken) -> Result<(), LimitExceeded> {
        self.check_depth(token)?;
        match self.brackets.last_mut() {
            Some(top) => top.end_item(),
            None => self.statement = ExpressionDepth::default(),
        }
        Ok(())
    }

    /// Ends a statement and all its open brackets.
    fn end_statement(&mut self, token: &WgslToken) -> Result<(), LimitExceeded> {
        while let Some(mut bracket) = self.brackets.pop() {
            bracket.end_item();
            self.item().record_depth(bracket.deepest);
        }
        self.end_item(token)?;
        if self.blocks.is_empty() {
            self.end_declaration();
        }
        Ok(())
    }

    fn open_block(&mut self, token: &WgslToken) -> Result<(), LimitExceeded> {
        let inside = !self.blocks.is_empty();
        while let Some(mut bracket) = self.brackets.pop() {
            bracket.end_item();
            self.item().record_depth(bracket.deepest);
        }
        self.end_item(token)?;
        let depth = match self.blocks.last() {
            Some(block) if inside => block.depth + 1 + block.elses,
            _ => 1,
        };
        if depth > BLOCKS_MAX {
            return Err(excess(
                Some(token.at),
                format!(
                    "more than {BLOCKS_MAX} blocks are inside each other, or follow each other \
                     with `else` (BLOCKS_MAX): use `switch`, or functions"
                ),
            ));
        }
        self.blocks.push(OpenBlock { depth, elses: 0 });
        Ok(())
    }

    fn close_block(&mut self, token: &WgslToken) -> Result<(), LimitExceeded> {
        self.blocks.pop();
        self.end_statement(token)
    }

    /// Adds a token to the current declaration.
    fn declare(&mut self, token: &WgslToken<'a>) {
        if self.open.tokens == 0 {
            self.open.at = token.at;
        }
        self.open.tokens += 1;
        if token.kind != WgslTokenKind::Word {
            return;
        }
        let outside = self.blocks.is_empty() && self.brackets.is_empty();
        if outside && self.open.name.is_none() {
            if self.names {
                (self.open.name, self.open.at, self.names) = (Some(token.text), token.at, false);
                return;
            }
            const DECLARE: [&str; 6] = ["fn", "struct", "alias", "const", "override", "var"];
            self.names = DECLARE.contains(&token.text);
        }
        self.open.identifiers.push(token.text);
    }

    fn end_declaration(&mut self) {
        self.names = false;
        self.declared.push(std::mem::take(&mut self.open));
    }

    fn end(mut self, at: usize) -> Result<(), LimitExceeded> {
        let end = WgslToken { kind: WgslTokenKind::Sign, text: "", at };
        self.end_statement(&end)?;
        self.end_declaration();
        ExpandedSize::of(&self.declared).check()
    }
}

pub(super) fn excess(at: Option<usize>, message: String) -> LimitExceeded {
    LimitExceeded { at, message }
}

fn too_deep(token: &WgslToken) -> LimitExceeded {
    excess(
        Some(token.at),
        format!(
            "the expression is more than {NESTING_MAX} levels deep (NESTING_MAX): put parts of it \
             into variables with `let`"
        ),
    )
}

/// The sizes of declarations when everything that they name is expanded.
struct ExpandedSize<'a> {
    declared: &'a [Declaration<'a>],
    by_name: HashMap<&'a str, usize>,
    /// For each declaration, if known: the tokens, and the length of the longest chain. A
    /// declaration that is being read counts as nothing, because the parser rejects cycles.
    known: Vec<Option<(u64, u32)>>,
}

impl<'a> ExpandedSize<'a> {
    fn of(declared: &'a [Declaration<'a>]) -> ExpandedSize<'a> {
        let names = declared.iter().enumerate();
        let by_name = names.filter_map(|(index, one)| Some((one.name?, index))).collect();
        ExpandedSize { declared, by_name, known: vec![None; declared.len()] }
    }

    fn check(mut self) -> Result<(), LimitExceeded> {
        for index in 0..self.declared.len() {
            self.expand(index, 0)?;
        }
        Ok(())
    }

    /// Returns the tokens and the chain length of one declaration.
    fn expand(&mut self, index: usize, above: u32) -> Result<(u64, u32), LimitExceeded> {
        if let Some(known) = self.known[index] {
            return Ok(known);
        }
        let declared = self.declared;
        let declaration = &declared[index];
        let name = declaration.name.unwrap_or_default();
        let too_long = || {
            excess(
                Some(declaration.at),
                format!(
                    "'{name}' is one of more than {CHAIN_MAX} declarations of which each names the \
                     next (CHAIN_MAX)"
                ),
            )
        };
        if above > CHAIN_MAX {
            return Err(too_long());
        }
        self.known[index] = Some((0, 0));
        let (mut tokens, mut chain) = (declaration.tokens, 0);
        for word in &declaration.identifiers {
            let Some(other) = self.by_name.get(word).copied() else { continue };
            let (more, longer) = self.expand(other, above + 1)?;
            tokens = tokens.saturating_add(more);
            chain = chain.max(longer + 1);
        }
        if chain > CHAIN_MAX {
            return Err(too_long());
        }
        if tokens > EXPANDED_MAX {
            return Err(excess(
                Some(declaration.at),
                format!(
                    "'{name}' is more than {EXPANDED_MAX} names, numbers and signs long when all \
                     that it calls and names is written out (EXPANDED_MAX): call less from it"
                ),
            ));
        }
        self.known[index] = Some((tokens, chain));
        Ok((tokens, chain))
    }
}

#[cfg(test)]
#[path = "nesting_limits_tests.rs"]
mod tests;
