//! Parser of references in scripts: modules of `require`, arguments of the API that name resources,
//! other literals, and the beginnings of computed names. Reads tokens; knows no scopes.

use super::sjson_parser::{is_name, kind_set};
use super::{Certainty, KindSet, NameForm, Reference};
use engine_foundation::sjson::TextSpan;
use engine_resource::resource_kind::{ResourceKinds, kind_names};
use std::collections::HashMap;

/// The functions of the API that take names of resources.
#[derive(Clone, Debug, Default)]
pub struct ScriptArguments {
    /// Positions of names, from 0, and their kinds, by function: `World.spawn_unit`.
    pub named: HashMap<String, Vec<(usize, Vec<&'static str>)>>,
    /// Functions whose first argument is a kind, and whose second is a name of that kind.
    pub by_kind: Vec<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TokenKind {
    Word,
    Text,
    Symbol,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
}

/// Returns the references of a script.
pub fn references(text: &str, kinds: ResourceKinds, arguments: &ScriptArguments) -> Vec<Reference> {
    let tokens = tokens(text);
    let mut certain: HashMap<usize, (KindSet, NameForm)> = HashMap::new();
    let closes = closing_brackets(text, &tokens);
    let script = Script { text, tokens: &tokens, closes: &closes };
    let lua = kind_set(kinds, &[kind_names::LUA]);
    for at in 0..tokens.len() {
        if script.word(at) == "require" && !script.is_symbol(at.wrapping_sub(1), ".") {
            let first = at + 1 + usize::from(script.is_symbol(at + 1, "("));
            if script.is_literal_argument(first) {
                certain.insert(first, (lua, NameForm::Module));
            }
        }
        let Some(function) = script.called_function(at) else { continue };
        if let Some(positions) = arguments.named.get(&function) {
            for (position, names) in positions {
                let argument = script.argument(at + 4, *position);
                if let Some(argument) = argument.filter(|at| script.is_literal_argument(*at)) {
                    certain.insert(argument, (kind_set(kinds, names), NameForm::Name));
                }
            }
        }
        if arguments.by_kind.contains(&function.as_str())
            && let (Some(kind), Some(name)) =
                (script.argument(at + 4, 0), script.argument(at + 4, 1))
            && script.is_literal_argument(kind)
            && script.is_literal_argument(name)
        {
            let kind = kind_set(kinds, &[script.inside(kind).1]);
            if kind != 0 {
                certain.insert(name, (kind, NameForm::Name));
            }
        }
    }
    script.collect(&certain)
}

struct Script<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// For each token that is an opening bracket: the one that closes it.
    closes: &'a [Option<usize>],
}

impl<'a> Script<'a> {
    fn collect(&self, certain: &HashMap<usize, (KindSet, NameForm)>) -> Vec<Reference> {
        let mut found = Vec::new();
        let (mut line, mut counted) = (1, 0);
        for (at, token) in self.tokens.iter().enumerate() {
            if token.kind != TokenKind::Text {
                continue;
            }
            let (span, name) = self.inside(at);
            let breaks = self.text.as_bytes()[counted..token.start].iter();
            line += breaks.filter(|byte| **byte == b'\n').count() as u32;
            counted = token.start;
            let is_joined =
                self.is_symbol(at + 1, "..") || self.is_symbol(at.wrapping_sub(1), "..");
            let (kinds, form, certainty) = match certain.get(&at) {
                Some((kinds, form)) if !name.contains('\\') && !name.is_empty() => {
                    (*kinds, *form, Certainty::Certain)
                }
                _ if !is_name(name) => continue,
                _ if is_joined && self.is_symbol(at.wrapping_sub(1), "..") => continue,
                // A beginning without a folder could be any text.
                _ if is_joined && name.contains('/') => (0, NameForm::Prefix, Certainty::Computed),
                _ if is_joined => continue,
                _ => (0, NameForm::Text, Certainty::Likely),
            };
            found.push(Reference { kinds, name: name.to_string(), span, line, form, certainty });
        }
        found
    }

    fn word(&self, at: usize) -> &'a str {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => &self.text[token.start..token.end],
            _ => "",
        }
    }

    fn is_symbol(&self, at: usize, symbol: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| {
            token.kind == TokenKind::Symbol && &self.text[token.start..token.end] == symbol
        })
    }

    /// Returns the text of a literal without quotes, and its position.
    fn inside(&self, at: usize) -> (TextSpan, &'a str) {
        let token = self.tokens[at];
        let source = &self.text[token.start..token.end];
        let edge = match source.as_bytes() {
            [b'[', ..] => source[1..].find('[').map_or(1, |at| at + 2),
            _ => 1,
        };
        let end = match source.len() > edge {
            true => (token.end - edge).max(token.start + edge),
            false => token.end,
        };
        let start = (token.start + edge).min(end);
        (TextSpan { start, end }, self.text.get(start..end).unwrap_or_default())
    }

    /// Returns `Module.function` if a call of it begins at a token.
    fn called_function(&self, at: usize) -> Option<String> {
        let is_call = self.is_symbol(at + 1, ".") && self.is_symbol(at + 3, "(");
        let (module, function) = (self.word(at), self.word(at + 2));
        let is_function = is_call && !module.is_empty() && !function.is_empty();
        is_function.then(|| format!("{module}.{function}"))
    }

    /// Returns the first token of an argument, counted from 0. `at` is the first token of the
    /// first. Goes over brackets in one step, so that nested and unclosed calls cost no more.
    fn argument(&self, at: usize, position: usize) -> Option<usize> {
        let (mut count, mut at) = (0, at);
        loop {
            if count == position {
                return (at < self.tokens.len() && !self.is_symbol(at, ")")).then_some(at);
            }
            let token = self.tokens.get(at)?;
            match &self.text[token.start..token.end] {
                "(" | "{" | "[" => at = self.closes[at]?,
                ")" | "}" | "]" | "function" | "do" | "then" => return None,
                "," => count += 1,
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns true if an argument is a literal and nothing else.
    fn is_literal_argument(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Text)
            && !["..", ".", ":", "==", "~="].iter().any(|symbol| self.is_symbol(at + 1, symbol))
    }
}

/// Returns for each token that is an opening bracket the one that closes it.
fn closing_brackets(text: &str, tokens: &[Token]) -> Vec<Option<usize>> {
    let mut closes = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match &text[token.start..token.end] {
            "(" | "{" | "[" => open.push(at),
            ")" | "}" | "]" => {
                if let Some(opened) = open.pop() {
                    closes[opened] = Some(at);
                }
            }
            _ => {}
        }
    }
    closes
}

/// Splits a script into tokens. Comments and numbers are left out.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b'-' if bytes[at..].starts_with(b"--") => {
                at = match long_bracket(bytes, at + 2) {
                    Some(end) => end,
                    None => line_end(bytes, at),
                };
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at = quoted_end(bytes, at + 1, quote);
                TokenKind::Text
            }
            b'[' if long_bracket(bytes, at).is_some() => {
                at = long_bracket(bytes, at).unwrap_or(at + 1);
                TokenKind::Text
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                at +=
                    bytes[at..].iter().position(|byte| !is_word(byte)).unwrap_or(bytes.len() - at);
                TokenKind::Word
            }
            b'.' if bytes[at..].starts_with(b"..") => {
                at += 2;
                TokenKind::Symbol
            }
            b'=' | b'~' if bytes.get(at + 1) == Some(&b'=') => {
                at += 2;
                TokenKind::Symbol
            }
            byte if byte.is_ascii_whitespace() || byte.is_ascii_digit() => {
                at += 1;
                continue;
            }
            byte if byte < 0x80 => {
                at += 1;
                TokenKind::Symbol
            }
            _ => {
                at += 1;
                continue;
            }
        };
        tokens.push(Token { kind, start, end: at });
    }
    tokens
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| from + at)
}

/// Returns the position after the quote that closes a text, or the end of its line.
fn quoted_end(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the end of a text in long brackets that begins at a position.
fn long_bracket(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let level = rest.get(1..)?.iter().take_while(|byte| **byte == b'=').count();
    if rest.first() != Some(&b'[') || rest.get(level + 1) != Some(&b'[') {
        return None;
    }
    let close: Vec<u8> = [&b"]"[..], &vec![b'='; level], b"]"].concat();
    let inside = from + level + 2;
    let end = bytes[inside..].windows(close.len()).position(|window| window == close);
    Some(end.map_or(bytes.len(), |end| inside + end + close.len()))
}
