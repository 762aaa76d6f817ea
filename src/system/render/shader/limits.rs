//! Limits of a shader's text, checked before a parser sees it. The parser, the validator and the
//! writers for graphics interfaces call themselves once for each level of a text, and the text of a
//! shader comes from a game. Reads tokens alone: it knows no types, and what it counts is never
//! less than what the parser will meet.

use super::arrays::{self, Arrays};
use std::collections::HashMap;

/// The most tokens of a shader, the engine's part included.
pub const TOKENS_MAX: usize = 1 << 16;
/// The most levels of an expression or a type: operators in a row, brackets, members.
pub const NESTING_MAX: u32 = 200;
/// The most blocks inside each other. Each `else` of a chain is one inside the one before.
pub const BLOCKS_MAX: u32 = 100;
/// The most tokens of a declaration when everything that it names is written out in its place, as
/// compilers for graphics cards do with functions.
pub const EXPANDED_MAX: u64 = 1 << 18;
/// The most declarations in a row of which each names the next.
pub const CHAIN_MAX: u32 = 300;
/// The stack, in bytes, that is enough for a text within these limits. Measured with naga 30: a
/// level of an expression takes 38 KiB at most (writing GLSL), a block 43 KiB (a `for` in GLSL),
/// which is 12 MiB in all.
pub const STACK_BYTES: usize = 64 << 20;

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq)]
pub struct Excess {
    /// The byte at which it shows; none where it is about the whole.
    pub at: Option<usize>,
    pub message: String,
}

/// Checks a whole text.
pub fn check(text: &str) -> Result<(), Excess> {
    let mut reader = Reader::default();
    let mut arrays = Arrays::new(arrays::constants(text));
    let mut lexer = Lexer::new(text);
    while let Some(token) = lexer.next() {
        reader.take(&token)?;
        arrays.take(&token)?;
    }
    reader.end(text.len())?;
    arrays.end()
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    Number,
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub at: usize,
}

/// Cuts a text into tokens. `<` and `>` stand alone, for they are brackets as well.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// Signs of more than one letter.
const SIGNS: [&str; 19] = [
    "->", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<=",
    ">=", "<<", ">>",
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || (!c.is_ascii() && !is_blank(c))
}

/// Blank space as WGSL has it.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

fn ends_line(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Passes blanks and comments.
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

    pub fn next(&mut self) -> Option<Token<'a>> {
        self.skip();
        let rest = self.rest();
        let first = rest.chars().next()?;
        let (kind, length) = if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            (Kind::Number, number(rest))
        } else if is_word(first) {
            (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
        } else {
            let known = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            (Kind::Sign, known.map_or(first.len_utf8(), |sign| sign.len()))
        };
        let token = Token { kind, text: &rest[..length], at: self.at };
        self.at += length;
        Some(token)
    }
}

/// The length of a comment that may have others in it, as the parser reads it.
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

/// The length of a number: digits with one point and one sign of an exponent.
fn number(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let exponents: &[char] = if is_hex { &['p', 'P'] } else { &['e', 'E'] };
    let (mut point, mut sign, mut before) = (false, false, ' ');
    for (at, c) in text.char_indices() {
        let goes_on = match c {
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
        if !goes_on {
            return at;
        }
        before = c;
    }
    text.len()
}

/// The levels at which operators stand, from the ones that bind most.
const UNARY: usize = 0;
const MULTIPLICATIVE: usize = 1;
const ADDITIVE: usize = 2;
const OTHER: usize = 3;

/// How deep the tree of one expression can be so far: for each level the operators in a row, and
/// the deepest of what stands between them.
#[derive(Clone, Copy, Default)]
struct Tree {
    operators: [u32; 4],
    deepest: [u32; 4],
}

impl Tree {
    fn add(&mut self, level: usize) {
        self.fold(level);
        self.operators[level] += 1;
    }

    /// Something of this depth stands in brackets.
    fn hold(&mut self, depth: u32) {
        self.deepest[UNARY] = self.deepest[UNARY].max(depth);
    }

    /// Ends what binds more than `level`.
    fn fold(&mut self, level: usize) {
        for inner in 0..level {
            let depth = self.operators[inner] + self.deepest[inner];
            self.deepest[inner + 1] = self.deepest[inner + 1].max(depth);
            (self.operators[inner], self.deepest[inner]) = (0, 0);
        }
    }

    fn depth(mut self) -> u32 {
        self.fold(OTHER);
        self.operators[OTHER] + self.deepest[OTHER]
    }
}

/// An open bracket, and what is in it.
struct Bracket {
    /// The sign that closes it.
    close: &'static str,
    /// The item that is being read, and the deepest one before it.
    item: Tree,
    deepest: u32,
}

impl Bracket {
    fn new(close: &'static str) -> Bracket {
        Bracket { close, item: Tree::default(), deepest: 0 }
    }

    fn end_item(&mut self) {
        self.deepest = self.deepest.max(self.item.depth());
        self.item = Tree::default();
    }
}

/// An open block.
#[derive(Default)]
struct Block {
    depth: u32,
    /// How many `else` there were in a row.
    elses: u32,
}

/// One declaration of the whole text.
#[derive(Default)]
struct Declaration<'a> {
    name: Option<&'a str>,
    at: usize,
    tokens: u64,
    words: Vec<&'a str>,
}

/// Reads tokens, and counts.
#[derive(Default)]
struct Reader<'a> {
    tokens: usize,
    blocks: Vec<Block>,
    /// What an expression has open; the outermost is a statement of its block.
    brackets: Vec<Bracket>,
    statement: Tree,
    before: Option<Token<'a>>,
    declared: Vec<Declaration<'a>>,
    open: Declaration<'a>,
    /// The next word is the name of what is declared.
    names: bool,
}

/// Words behind which `<` is a bracket: all types and functions that take parameters there.
fn is_generic(word: &str) -> bool {
    const WORDS: [&str; 6] = ["array", "ptr", "atomic", "bitcast", "var", "binding_array"];
    WORDS.contains(&word) || ["vec", "mat", "texture_"].iter().any(|start| word.starts_with(start))
}

impl<'a> Reader<'a> {
    fn take(&mut self, token: &Token<'a>) -> Result<(), Excess> {
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
        if token.kind == Kind::Sign {
            self.sign(token)?;
        }
        self.before = Some(*token);
        Ok(())
    }

    fn sign(&mut self, token: &Token<'a>) -> Result<(), Excess> {
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
                    ">>" => self.sign(&Token { text: ">", ..*token }),
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

    /// Whether the token before can end an operand.
    fn follows_operand(&self) -> bool {
        self.before.is_some_and(|before| match before.kind {
            Kind::Word | Kind::Number => true,
            Kind::Sign => matches!(before.text, ")" | "]" | ">" | ">>"),
        })
    }

    fn item(&mut self) -> &mut Tree {
        match self.brackets.last_mut() {
            Some(top) => &mut top.item,
            None => &mut self.statement,
        }
    }

    fn open_bracket(&mut self, close: &'static str, token: &Token) -> Result<(), Excess> {
        self.item().add(UNARY);
        self.brackets.push(Bracket::new(close));
        match self.brackets.len() > NESTING_MAX as usize {
            true => Err(too_deep(token)),
            false => Ok(()),
        }
    }

    fn close_bracket(&mut self, close: &'static str, token: &Token) -> Result<(), Excess> {
        if !self.brackets.iter().any(|bracket| bracket.close == close) {
            // The parser will say so.
            return Ok(());
        }
        while let Some(mut bracket) = self.brackets.pop() {
            bracket.end_item();
            self.item().hold(bracket.deepest);
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

    fn check_depth(&mut self, token: &Token) -> Result<(), Excess> {
        match self.item().depth() > NESTING_MAX {
            true => Err(too_deep(token)),
            false => Ok(()),
        }
    }

    fn end_item(&mut self, token: &Token) -> Result<(), Excess> {
        self.check_depth(token)?;
        match self.brackets.last_mut() {
            Some(top) => top.end_item(),
            None => self.statement = Tree::default(),
        }
        Ok(())
    }

    /// Ends a statement with all that is open in it.
    fn end_statement(&mut self, token: &Token) -> Result<(), Excess> {
        while let Some(mut bracket) = self.brackets.pop() {
            bracket.end_item();
            self.item().hold(bracket.deepest);
        }
        self.end_item(token)?;
        if self.blocks.is_empty() {
            self.end_declaration();
        }
        Ok(())
    }

    fn open_block(&mut self, token: &Token) -> Result<(), Excess> {
        let inside = !self.blocks.is_empty();
        while let Some(mut bracket) = self.brackets.pop() {
            bracket.end_item();
            self.item().hold(bracket.deepest);
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
        self.blocks.push(Block { depth, elses: 0 });
        Ok(())
    }

    fn close_block(&mut self, token: &Token) -> Result<(), Excess> {
        self.blocks.pop();
        self.end_statement(token)
    }

    /// Notes what a token says of the declaration that it is in.
    fn declare(&mut self, token: &Token<'a>) {
        if self.open.tokens == 0 {
            self.open.at = token.at;
        }
        self.open.tokens += 1;
        if token.kind != Kind::Word {
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
        self.open.words.push(token.text);
    }

    fn end_declaration(&mut self) {
        self.names = false;
        self.declared.push(std::mem::take(&mut self.open));
    }

    fn end(mut self, at: usize) -> Result<(), Excess> {
        let end = Token { kind: Kind::Sign, text: "", at };
        self.end_statement(&end)?;
        self.end_declaration();
        Expansion::of(&self.declared).check()
    }
}

pub(super) fn excess(at: Option<usize>, message: String) -> Excess {
    Excess { at, message }
}

fn too_deep(token: &Token) -> Excess {
    excess(
        Some(token.at),
        format!(
            "the expression is more than {NESTING_MAX} levels deep (NESTING_MAX): put parts of it \
             into variables with `let`"
        ),
    )
}

/// What declarations are when everything that they name is written out.
struct Expansion<'a> {
    declared: &'a [Declaration<'a>],
    by_name: HashMap<&'a str, usize>,
    /// Of each one: the tokens and the length of the longest chain, as far as they are known. One
    /// that is being read counts as nothing: the parser refuses circles.
    known: Vec<Option<(u64, u32)>>,
}

impl<'a> Expansion<'a> {
    fn of(declared: &'a [Declaration<'a>]) -> Expansion<'a> {
        let names = declared.iter().enumerate();
        let by_name = names.filter_map(|(index, one)| Some((one.name?, index))).collect();
        Expansion { declared, by_name, known: vec![None; declared.len()] }
    }

    fn check(mut self) -> Result<(), Excess> {
        for index in 0..self.declared.len() {
            self.expand(index, 0)?;
        }
        Ok(())
    }

    /// Tokens and chain of one declaration.
    fn expand(&mut self, index: usize, above: u32) -> Result<(u64, u32), Excess> {
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
        for word in &declaration.words {
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
#[path = "limits_tests.rs"]
mod tests;
