//! Limits of the arrays and structs in a shader's text, checked before a parser sees the text. The
//! parser expands constants: it turns a zero of an array into a list of elements before it checks
//! the size, and copies values that are built from constants wherever they are named. This module
//! reads only tokens; its counts are never below those of the parser.

use super::nesting_limits::{
    CHAIN_MAX, LimitExceeded, WgslLexer, WgslToken, WgslTokenKind, excess,
};
use std::collections::HashMap;

/// The most elements of an array.
pub const ARRAY_LENGTH_MAX: u64 = 65_536;
/// The most elements of all arrays and structs of a text, when each is expanded wherever it is
/// named. Measured with naga 30: the parser needs at most 100 bytes for one.
pub const ELEMENTS_MAX: u64 = 1 << 20;

/// The most tokens of a constant's expression that are read, and the deepest chain of constants
/// that name each other.
const EXPRESSION_TOKENS_MAX: usize = 64;
const NAMED_DEPTH_MAX: u32 = 32;

/// The value of a constant: the largest of those that have its name, in any function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Constant {
    value: u64,
    /// True if all constants of that name are equal, so that the value can be calculated with.
    unique: bool,
}

/// Returns the values of a text's constants, by name. A name has no value if one of its constants
/// is not an integer expression of numbers and other constants.
pub fn constants(text: &str) -> HashMap<&str, Option<Constant>> {
    let mut expressions: HashMap<&str, Vec<Vec<WgslToken>>> = HashMap::new();
    let mut lexer = WgslLexer::new(text);
    let mut token = lexer.next();
    while let Some(now) = token {
        token = lexer.next();
        if now.text != "const" {
            continue;
        }
        let Some(name) = token.filter(|name| name.kind == WgslTokenKind::Word) else { continue };
        // Up to the end: `const NAME: TYPE = EXPRESSION`.
        let mut rest = Vec::new();
        while let Some(next) = lexer.next() {
            token = Some(next);
            if matches!(next.text, ";" | "{" | "}" | "const") || rest.len() > EXPRESSION_TOKENS_MAX
            {
                break;
            }
            rest.push(next);
        }
        let expression = match &rest[..] {
            // The expression was not read to its end.
            long if long.len() > EXPRESSION_TOKENS_MAX => &[],
            [is, expression @ ..] if is.text == "=" => expression,
            [colon, _, is, expression @ ..] if (colon.text, is.text) == (":", "=") => expression,
            // Not a constant expression, so it has no value.
            _ => &[],
        };
        expressions.entry(name.text).or_default().push(expression.to_vec());
    }
    let names: Vec<&str> = expressions.keys().copied().collect();
    let mut known = HashMap::new();
    for name in names {
        resolve(name, &expressions, &mut known, 0);
    }
    known
}

/// Returns the value of a constant, after resolving the constants in its expressions.
fn resolve<'a>(
    name: &'a str,
    expressions: &HashMap<&'a str, Vec<Vec<WgslToken<'a>>>>,
    known: &mut HashMap<&'a str, Option<Constant>>,
    above: u32,
) -> Option<Constant> {
    if let Some(found) = known.get(name) {
        return *found;
    }
    let all = expressions.get(name).filter(|_| above < NAMED_DEPTH_MAX)?;
    // A constant that names itself has no value.
    known.insert(name, None);
    let mut largest: Option<Constant> = None;
    for expression in all {
        let value = evaluate(expression, &mut |name| resolve(name, expressions, known, above + 1));
        // If one constant has no value, the name has none.
        let Some(value) = value else {
            known.insert(name, None);
            return None;
        };
        largest = Some(largest.map_or(value, |largest| Constant {
            value: largest.value.max(value.value),
            unique: largest.unique && value.unique && largest.value == value.value,
        }));
    }
    known.insert(name, largest);
    largest
}

/// Looks up a constant's value by its name.
type Find<'f, 'a> = &'f mut dyn FnMut(&'a str) -> Option<Constant>;

/// Evaluates an expression of numbers, names, `+ - * / %`, parentheses, `u32()` and `i32()`.
fn evaluate<'a>(expression: &[WgslToken<'a>], find: Find<'_, 'a>) -> Option<Constant> {
    if let [name] = expression
        && name.kind == WgslTokenKind::Word
    {
        return find(name.text);
    }
    let mut left = expression;
    let value = sum(&mut left, find)?;
    left.is_empty().then_some(Constant { value, unique: true })
}

fn sum<'a>(left: &mut &[WgslToken<'a>], find: Find<'_, 'a>) -> Option<u64> {
    let mut value = product(left, find)?;
    while let Some(sign) = sign(left, &["+", "-"]) {
        let next = product(left, find)?;
        value = if sign == "+" { value.checked_add(next) } else { value.checked_sub(next) }?;
    }
    Some(value)
}

fn product<'a>(left: &mut &[WgslToken<'a>], find: Find<'_, 'a>) -> Option<u64> {
    let mut value = factor(left, find)?;
    while let Some(sign) = sign(left, &["*", "/", "%"]) {
        let next = factor(left, find)?;
        value = match sign {
            "*" => value.checked_mul(next),
            "/" => value.checked_div(next),
            _ => value.checked_rem(next),
        }?;
    }
    Some(value)
}

/// Evaluates a factor. It recurses once for each open parenthesis, of which an expression has few.
fn factor<'a>(left: &mut &[WgslToken<'a>], find: Find<'_, 'a>) -> Option<u64> {
    let (first, rest) = left.split_first()?;
    *left = rest;
    let is_conversion = matches!(first.text, "u32" | "i32") && sign(left, &["("]).is_some();
    if is_conversion || first.text == "(" {
        let value = sum(left, find)?;
        return sign(left, &[")"]).map(|_| value);
    }
    match first.kind {
        WgslTokenKind::Number => number(first),
        // If there are several values, it is unknown which one is meant.
        WgslTokenKind::Word => {
            find(first.text).filter(|constant| constant.unique).map(|it| it.value)
        }
        WgslTokenKind::Sign => None,
    }
}

/// Takes the next token if it is one of these.
fn sign<'a>(left: &mut &[WgslToken<'a>], wanted: &[&str]) -> Option<&'a str> {
    let (first, rest) = left.split_first()?;
    wanted.contains(&first.text).then(|| {
        *left = rest;
        first.text
    })
}

/// Parses an integer literal.
fn number(token: &WgslToken) -> Option<u64> {
    let digits = token.text.strip_suffix(['u', 'i']).unwrap_or(token.text);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// The kinds of declarations.
#[derive(Clone, Copy, Default, PartialEq)]
enum DeclarationKind {
    #[default]
    Nothing,
    /// A type or a constant at module scope.
    Global,
    Struct,
    /// A value of a function.
    Local,
}

/// A statement, or a declaration outside of functions.
#[derive(Default)]
struct Part<'a> {
    declares: DeclarationKind,
    name: Option<&'a str>,
    /// True if the next word is the name.
    names: bool,
    at: usize,
    /// True if it is the first of a function, or outside of functions.
    outside: bool,
    /// Names, and the number of times each is expanded in types of arrays.
    identifiers: Vec<(&'a str, u64)>,
    /// Elements of its own: of array types, and members.
    elements: u64,
    /// Names and numbers that an array without an explicit type could list.
    listed: u64,
    /// True if it has an array without an explicit type, which may hold everything that is named.
    lists: bool,
}

impl<'a> Part<'a> {
    /// Notes a name, which may be that of a type.
    fn name_type(&mut self, word: &'a str) {
        self.identifiers.push((word, 1));
        // Counts the vector or matrix itself, and the columns.
        self.elements += match word {
            word if word.starts_with("vec") => 5,
            word if word.starts_with("mat") => 21,
            _ => 0,
        };
    }
}

/// An open `<`.
#[derive(Default)]
struct Angle<'a> {
    is_array: bool,
    /// Number of identifiers and of elements before this `<`.
    identifiers: usize,
    elements: u64,
    /// Number of commas so far: the array's length follows the first, up to another one.
    commas: usize,
    length: Vec<WgslToken<'a>>,
    /// Number of open brackets in the length.
    brackets: usize,
}

/// The reader that counts the tokens' elements.
pub struct Arrays<'a> {
    constants: HashMap<&'a str, Option<Constant>>,
    parts: Vec<Part<'a>>,
    open: Part<'a>,
    angles: Vec<Angle<'a>>,
    before: &'a str,
    /// Number of open blocks.
    blocks: usize,
}

impl<'a> Arrays<'a> {
    /// Creates a reader for the tokens of a text with these constants.
    pub fn new(constants: HashMap<&'a str, Option<Constant>>) -> Arrays<'a> {
        let open = Part { outside: true, ..Part::default() };
        let (parts, angles) = (Vec::new(), Vec::new());
        Arrays { constants, parts, open, angles, before: "", blocks: 0 }
    }

    pub fn take(&mut self, token: &WgslToken<'a>) -> Result<(), LimitExceeded> {
        let is_array = matches!(self.before, "array" | "binding_array");
        if token.text == "<" && (is_array || !self.angles.is_empty()) {
            let (identifiers, elements) = (self.open.identifiers.len(), self.open.elements);
            self.angles.push(Angle { is_array, identifiers, elements, ..Angle::default() });
        } else if self.angles.is_empty() {
            // An array without its type lists its elements.
            self.open.lists |= is_array;
            self.word(token);
        } else {
            self.in_type(token)?;
        }
        self.before = token.text;
        Ok(())
    }

    /// Reads a token of an array's type: names, numbers, commas and angle brackets, and the
    /// expression of the length.
    fn in_type(&mut self, token: &WgslToken<'a>) -> Result<(), LimitExceeded> {
        let top = self.angles.last_mut().expect("one is open");
        let in_length = top.is_array && top.commas == 1;
        match (token.kind, token.text) {
            (WgslTokenKind::Sign, ",") if top.brackets == 0 => top.commas += 1,
            (WgslTokenKind::Sign, ">" | ">>" | ">=") if top.brackets == 0 => {
                self.close()?;
                if token.text == ">>" && !self.angles.is_empty() {
                    self.close()?;
                }
            }
            _ if in_length && top.length.len() < EXPRESSION_TOKENS_MAX => {
                match token.text {
                    "(" => top.brackets += 1,
                    ")" => top.brackets = top.brackets.saturating_sub(1),
                    _ => {}
                }
                top.length.push(*token);
            }
            (WgslTokenKind::Word, word) if !top.is_array || top.commas == 0 => {
                self.open.name_type(word)
            }
            (WgslTokenKind::Number, _) if !top.is_array => {}
            _ => return Err(no_length(token)),
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), LimitExceeded> {
        let Some(angle) = self.angles.pop().filter(|angle| angle.is_array) else { return Ok(()) };
        let count = match angle.length.first() {
            // Its length is known only at run time.
            None => 1,
            Some(first) => {
                let find = &mut |name| self.constants.get(name).copied().flatten();
                let length = evaluate(&angle.length, find).map(|length| length.value);
                let is_allowed = |length: &u64| *length <= ARRAY_LENGTH_MAX;
                length.filter(is_allowed).ok_or_else(|| no_length(first))?.max(1)
            }
        };
        let part = &mut self.open;
        for (_, times) in &mut part.identifiers[angle.identifiers..] {
            *times = times.saturating_mul(count);
        }
        let inner = (part.elements - angle.elements).max(1);
        part.elements = angle.elements.saturating_add(inner.saturating_mul(count));
        Ok(())
    }

    fn word(&mut self, token: &WgslToken<'a>) {
        let part = &mut self.open;
        if part.name.is_none() && part.identifiers.is_empty() {
            part.at = token.at;
        }
        let is_outside = self.blocks == 0;
        match (token.kind, token.text) {
            (WgslTokenKind::Sign, "{") => {
                self.blocks += 1;
                if self.open.declares != DeclarationKind::Struct {
                    self.end_part();
                }
            }
            (WgslTokenKind::Sign, "}") => {
                self.blocks = self.blocks.saturating_sub(1);
                self.end_part();
            }
            (WgslTokenKind::Sign, ";") => self.end_part(),
            (WgslTokenKind::Sign, ":") if part.declares == DeclarationKind::Struct => {
                part.elements += 1
            }
            (WgslTokenKind::Sign, _) => {}
            (WgslTokenKind::Number, _) => part.listed += 1,
            (WgslTokenKind::Word, word) if part.names => {
                (part.name, part.names, part.at) = (Some(word), false, token.at);
            }
            (WgslTokenKind::Word, word) => {
                let declares = match word {
                    "struct" if is_outside => DeclarationKind::Struct,
                    "alias" | "const" | "override" if is_outside => DeclarationKind::Global,
                    "const" | "let" => DeclarationKind::Local,
                    _ => DeclarationKind::Nothing,
                };
                if declares != DeclarationKind::Nothing {
                    (part.declares, part.names) = (declares, true);
                } else if self.before != "." {
                    // Members have names of their own.
                    part.listed += 1;
                    part.name_type(word);
                }
            }
        }
    }

    fn end_part(&mut self) {
        let next = Part { outside: self.blocks == 0, ..Part::default() };
        self.parts.push(std::mem::replace(&mut self.open, next));
    }

    /// Checks the counts after the last token.
    ///
    /// # Errors
    /// Returns an error if the arrays and structs are too large together.
    pub fn end(mut self) -> Result<(), LimitExceeded> {
        self.end_part();
        let parts = &self.parts;
        let is_global = |part: &Part| {
            matches!(part.declares, DeclarationKind::Global | DeclarationKind::Struct)
        };
        let globals = parts.iter().enumerate().filter(|(_, part)| is_global(part));
        let globals = globals.filter_map(|(index, part)| Some((part.name?, index))).collect();
        let mut sizes = Sizes { parts, globals, known: vec![None; parts.len()] };
        let mut locals: HashMap<&str, u64> = HashMap::new();
        let mut all = 0u64;
        for (index, part) in parts.iter().enumerate() {
            if part.outside {
                locals.clear();
            }
            let (written, size) = match is_global(part) {
                true => sizes.global(index, 0),
                false => sizes.part(index, &locals, 0),
            };
            all = all.saturating_add(written);
            if all > ELEMENTS_MAX {
                let with = part.name.map_or(String::new(), |name| format!("with '{name}', "));
                let message = format!(
                    "{with}arrays and structs have more than {ELEMENTS_MAX} elements when each is \
                     written out where it is named (ELEMENTS_MAX): use smaller ones, or a texture"
                );
                return Err(excess(Some(part.at), message));
            }
            if let (DeclarationKind::Local, Some(name)) = (part.declares, part.name) {
                // A variable of the same name in an enclosing block may be the larger one.
                let known = locals.entry(name).or_default();
                *known = size.max(*known);
            }
        }
        Ok(())
    }
}

fn no_length(token: &WgslToken) -> LimitExceeded {
    let message = format!(
        "the length of an array must be a number of at most {ARRAY_LENGTH_MAX}, or made of numbers \
         and constants with + - * / % (ARRAY_LENGTH_MAX): write the number, or use a texture"
    );
    excess(Some(token.at), message)
}

/// Computes the number of elements of the values of parts.
struct Sizes<'s, 'a> {
    parts: &'s [Part<'a>],
    globals: HashMap<&'a str, usize>,
    /// For each global, if known: its expanded elements, and its size. A global that is being read
    /// counts as nothing, because the parser rejects cycles.
    known: Vec<Option<(u64, u64)>>,
}

impl Sizes<'_, '_> {
    /// Returns the expanded elements of a global, and those of its value. It recurses once for each
    /// declaration in a chain, whose length is limited.
    fn global(&mut self, index: usize, above: u32) -> (u64, u64) {
        if let Some(known) = self.known[index] {
            return known;
        }
        // Longer chains were rejected before, if they are chains for the parser as well.
        if above > CHAIN_MAX {
            return (u64::MAX, u64::MAX);
        }
        self.known[index] = Some((0, 0));
        let found = self.part(index, &HashMap::new(), above);
        self.known[index] = Some(found);
        found
    }

    /// Returns the expanded elements and the size of any part, with the sizes of a function's
    /// values.
    fn part(&mut self, index: usize, locals: &HashMap<&str, u64>, above: u32) -> (u64, u64) {
        let part = &self.parts[index];
        let own =
            if part.lists { part.elements.saturating_add(part.listed) } else { part.elements };
        let (mut written, mut largest) = (own, own);
        for (word, times) in &part.identifiers {
            let size = match (locals.get(word).copied(), self.globals.get(word).copied()) {
                (local, Some(global)) => self.global(global, above + 1).1.max(local.unwrap_or(0)),
                (local, None) => local.unwrap_or(0),
            };
            let size = size.saturating_mul(*times);
            written = written.saturating_add(size);
            largest = largest.max(size);
        }
        // A value is one of the named values, or of a named type. If a type is left out, or is
        // declared here, it may hold all of them.
        let holds_all = part.lists || matches!(part.declares, DeclarationKind::Struct);
        (written, if holds_all { written } else { largest })
    }
}
