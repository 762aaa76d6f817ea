//! The outline of a Lua file: the names of its top-level locals, where its final `return` stands,
//! and which tables of others its top level writes to. A lexer and a count of blocks, not a parser:
//! whatever it cannot make sense of gives no outline, and such a file loads as it stands.

mod strip;

pub use strip::without_profiler;

/// Upvalues that one function can have; each capturing function stays below it.
const NAMES_IN_GROUP: usize = 50;
/// Locals that stand for locals are followed this many times.
const ALIASES_MAX: usize = 8;

/// What the top level of a file declares and writes.
#[derive(Debug, Default, PartialEq)]
pub struct Outline {
    /// Top-level locals in order of declaration; a name that is declared again stands once.
    pub locals: Vec<String>,
    /// Where the final top-level `return` begins, in bytes, or the end of the text.
    pub end: usize,
    /// Whether there is such a `return`.
    pub returns: bool,
    /// The paths whose fields are assigned outside of functions: `function a.b.c()` gives `a.b`.
    pub written: Vec<Vec<String>>,
    /// Whether something is written or called outside of functions that is named by no path from a
    /// top-level local or a global, so that it may be anything of the game's.
    pub dynamic: bool,
    /// The paths of what is called outside of functions.
    pub called: Vec<Vec<String>>,
    /// Top-level `local name = require "module"` and `local name = other.path`.
    pub aliases: Vec<(String, Alias)>,
}

/// What a top-level local stands for.
#[derive(Debug, PartialEq)]
pub enum Alias {
    Module(String),
    Path(Vec<String>),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Word,
    Text,
    Number,
    Sign,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    start: usize,
}

/// The outline of a text; `None` where its blocks do not fit together.
pub fn outline(text: &str) -> Option<Outline> {
    let tokens = tokens(text)?;
    let mut outline = Outline { end: text.len(), ..Outline::default() };
    // The openers of the blocks that are open: `function` or another word.
    let mut blocks: Vec<&str> = Vec::new();
    let mut inner: Vec<&str> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let outside = !blocks.contains(&"function");
        if token.kind != Kind::Word {
            outline.dynamic |= outside && is_used_result(&tokens, i);
            continue;
        }
        match token.text {
            "function" => {
                if outside {
                    outline.note_function(&tokens[i + 1..]);
                }
                blocks.push("function");
            }
            "do" | "if" | "repeat" => blocks.push(token.text),
            "end" | "until" => {
                blocks.pop()?;
            }
            "local" if blocks.is_empty() => outline.note_local(&tokens[i + 1..]),
            "local" | "for" if outside => inner.extend(names(&tokens[i + 1..])),
            "return" if blocks.is_empty() => {
                (outline.end, outline.returns) = (token.start, true);
            }
            _ if outside => outline.note_path(&tokens, i),
            _ => {}
        }
    }
    let of_block = |path: &Vec<String>| inner.contains(&path[0].as_str());
    outline.dynamic |= outline.written.iter().any(of_block);
    blocks.is_empty().then_some(outline)
}

/// The text with calls added, on the line of the final `return` or of the end, that hand functions
/// which hold every top-level local to `capture`, an expression. `None` where there is no local.
pub fn instrument(text: &str, outline: &Outline, capture: &str) -> Option<String> {
    if outline.locals.is_empty() {
        return None;
    }
    let (before, after) = text.split_at(outline.end);
    let mut result = String::with_capacity(text.len() + 256);
    result.push_str(before);
    if !outline.returns && !before.ends_with('\n') {
        // The last line may end in a comment.
        result.push('\n');
    }
    for names in outline.locals.chunks(NAMES_IN_GROUP) {
        let names = names.join(", ");
        result.push_str(&format!(" do local c = {capture} c(function() return {names} end) end "));
    }
    result.push_str(after);
    Some(result)
}

/// Whether the token uses what a call, an index or a string gave: `f().x`, `t[1]()`, `"x":f()`.
fn is_used_result(tokens: &[Token], i: usize) -> bool {
    let Some(before) = i.checked_sub(1) else { return false };
    let result = tokens[before].kind == Kind::Text || is(tokens, before, ")");
    let item = is(tokens, before, "]");
    let calls = is(tokens, i, "(") || is(tokens, i, "{") || tokens[i].kind == Kind::Text;
    let goes_on = is(tokens, i, ".") || is(tokens, i, ":") || is(tokens, i, "[");
    result && (goes_on || is(tokens, i, "(")) || item && (calls || is(tokens, i, ":"))
}

/// The names of a list such as `a, b`.
fn names<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut i = usize::from(is(tokens, 0, "function"));
    let mut names = Vec::new();
    while is_word(tokens, i) {
        names.push(tokens[i].text);
        if !is(tokens, i + 1, ",") {
            break;
        }
        i += 2;
    }
    names
}

fn is_word(tokens: &[Token], i: usize) -> bool {
    tokens.get(i).is_some_and(|token| token.kind == Kind::Word && !KEYWORDS.contains(&token.text))
}

fn is(tokens: &[Token], i: usize, text: &str) -> bool {
    tokens.get(i).is_some_and(|token| token.kind != Kind::Text && token.text == text)
}

/// `a.b.c` from token `i` on, and the token after it.
fn path(tokens: &[Token], mut i: usize) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    while is_word(tokens, i) {
        names.push(tokens[i].text.to_string());
        i += 1;
        if !(is(tokens, i, ".") || is(tokens, i, ":")) {
            break;
        }
        i += 1;
    }
    (names, i)
}

impl Outline {
    /// What the top level calls: the root's name in the globals, or nothing where it is the file's
    /// own or of a module.
    pub fn calls(&self) -> Vec<Option<String>> {
        let root = |path: &Vec<String>| match self.resolve(path, ALIASES_MAX)? {
            (None, path) => path.into_iter().next(),
            (Some(_), _) => None,
        };
        self.called.iter().map(root).collect()
    }

    /// The tables of others that the top level writes to: what a module returned (or, without one,
    /// the globals), and the path from there.
    pub fn foreign(&self) -> Vec<(Option<&str>, Vec<String>)> {
        self.written.iter().filter_map(|path| self.resolve(path, ALIASES_MAX)).collect()
    }

    fn resolve(&self, path: &[String], left: usize) -> Option<(Option<&str>, Vec<String>)> {
        let (root, rest) = path.split_first()?;
        if !self.locals.contains(root) {
            return Some((None, path.to_vec()));
        }
        match &self.aliases.iter().find(|(name, _)| name == root)?.1 {
            Alias::Module(module) => Some((Some(module), rest.to_vec())),
            // `local Enemy = Enemy` stands for the global of that name.
            Alias::Path(names) if names.first() == Some(root) => {
                Some((None, [names, rest].concat()))
            }
            Alias::Path(names) if left > 0 => self.resolve(&[names, rest].concat(), left - 1),
            Alias::Path(_) => None,
        }
    }

    fn note_local(&mut self, rest: &[Token]) {
        let names = names(rest);
        for name in &names {
            self.aliases.retain(|(known, _)| known != name);
            if !self.locals.iter().any(|known| known == name) {
                self.locals.push(name.to_string());
            }
        }
        if is(rest, 0, "function") || names.is_empty() {
            return;
        }
        match alias(rest, names.len() * 2) {
            Some(alias) if names.len() == 1 => self.aliases.push((names[0].to_string(), alias)),
            // `local a, b = require "a", require "b"` may be any two.
            Some(_) => self.dynamic = true,
            None => self.dynamic |= is(rest, names.len() * 2, "require"),
        }
    }

    /// `function a.b.c()` writes to `a.b`.
    fn note_function(&mut self, rest: &[Token]) {
        let (mut names, _) = path(rest, 0);
        names.pop();
        self.note_written(names);
    }

    /// `a.b.c = …`, `a.b[…] = …`, `rawset(a.b, …)` and `setmetatable(a.b, …)` write to `a.b`.
    fn note_path(&mut self, tokens: &[Token], i: usize) {
        let inner = i > 0 && (is(tokens, i - 1, ".") || is(tokens, i - 1, ":"));
        if !is_word(tokens, i) || inner {
            return;
        }
        let (mut names, after) = path(tokens, i);
        let text = tokens.get(after).is_some_and(|token| token.kind == Kind::Text);
        let header = i > 0 && (is(tokens, i - 1, "function") || is(tokens, i - 1, "local"));
        let calls = ["(", "{"].iter().any(|sign| is(tokens, after, sign)) || text;
        if calls && !header && !self.called.contains(&names) {
            self.called.push(names.clone());
        }
        if is(tokens, after, "[") {
            return self.note_written(names);
        }
        if is(tokens, after, "(") && names.len() == 1 {
            let writes = ["rawset", "setmetatable"].contains(&names[0].as_str());
            if writes {
                let (names, _) = path(tokens, after + 1);
                self.note_written(names);
            }
            return;
        }
        if names.len() > 1 && (is(tokens, after, "=") || is(tokens, after, ",")) {
            names.pop();
            self.note_written(names);
        }
    }

    fn note_written(&mut self, names: Vec<String>) {
        // A table in a table of the file's own may be another's.
        self.dynamic |= names.len() > 1 && self.locals.contains(&names[0]);
        if !names.is_empty() && !self.written.contains(&names) {
            self.written.push(names);
        }
    }
}

fn alias(tokens: &[Token], i: usize) -> Option<Alias> {
    if is(tokens, i, "require") {
        let name = i + 1 + usize::from(is(tokens, i + 1, "("));
        let token = tokens.get(name).filter(|token| token.kind == Kind::Text)?;
        let quoted = token.text.strip_prefix(['"', '\''])?;
        return Some(Alias::Module(quoted[..quoted.len() - 1].to_string()));
    }
    let (names, after) = path(tokens, i);
    // `local a = b.c(…)` or `b + 1` is a value of its own; `b or {}` may be `b`.
    let whole = tokens.get(after).is_none_or(|next| next.kind == Kind::Word || next.text == ";");
    (!names.is_empty() && whole).then_some(Alias::Path(names))
}

const KEYWORDS: &[&str] = &[
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut i = 0;
    if bytes.first() == Some(&b'#') {
        i = end_of_line(bytes, 0);
    }
    while i < bytes.len() {
        let start = i;
        let byte = bytes[i];
        let kind = match byte {
            b' ' | b'\t'..=b'\r' => {
                i += 1;
                continue;
            }
            b'-' if bytes[i..].starts_with(b"--") => {
                i = match long_bracket(bytes, i + 2) {
                    Some(end) => end?,
                    None => end_of_line(bytes, i),
                };
                continue;
            }
            b'"' | b'\'' => {
                i = end_of_string(bytes, i)?;
                Kind::Text
            }
            b'0'..=b'9' => {
                i = end_of_number(bytes, i);
                Kind::Number
            }
            b'[' if long_bracket(bytes, i).is_some() => {
                i = long_bracket(bytes, i).flatten()?;
                Kind::Text
            }
            _ if is_letter(byte) => {
                while i < bytes.len() && (is_letter(bytes[i]) || bytes[i].is_ascii_digit()) {
                    i += 1;
                }
                Kind::Word
            }
            _ => {
                let long = ["...", "..", "==", "~=", "<=", ">=", "::"];
                let sign = long.iter().find(|sign| bytes[i..].starts_with(sign.as_bytes()));
                i += sign.map_or(1, |sign| sign.len());
                Kind::Sign
            }
        };
        tokens.push(Token { kind, text: &text[start..i], start });
    }
    Some(tokens)
}

/// LuaJIT takes every byte above ASCII as a letter.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn end_of_line(bytes: &[u8], i: usize) -> usize {
    bytes[i..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| i + at)
}

fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut i = start + 1;
    loop {
        match *bytes.get(i)? {
            b'\\' if bytes.get(i + 1) == Some(&b'z') => {
                i += 2;
                while bytes.get(i).is_some_and(u8::is_ascii_whitespace) {
                    i += 1;
                }
            }
            b'\\' => i += 2,
            b'\n' => return None,
            byte if byte == bytes[start] => return Some(i + 1),
            _ => i += 1,
        }
    }
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let mut i = start;
    while i < bytes.len() {
        let sign = matches!(bytes[i], b'+' | b'-') && i > start;
        let exponent = sign && matches!(bytes[i - 1], b'e' | b'E' | b'p' | b'P');
        let hex = bytes[start..].starts_with(b"0x") || bytes[start..].starts_with(b"0X");
        let wrong = exponent && hex && matches!(bytes[i - 1], b'e' | b'E');
        if !(bytes[i].is_ascii_alphanumeric() || bytes[i] == b'.' || exponent && !wrong) {
            break;
        }
        i += 1;
    }
    i
}

/// The end of the long bracket that begins at `i`: nothing where none does, and `Some(None)` where
/// it has no end.
fn long_bracket(bytes: &[u8], i: usize) -> Option<Option<usize>> {
    if bytes.get(i) != Some(&b'[') {
        return None;
    }
    let level = bytes[i + 1..].iter().take_while(|byte| **byte == b'=').count();
    if bytes.get(i + 1 + level) != Some(&b'[') {
        return None;
    }
    let close = [&b"]"[..], &b"=".repeat(level), b"]"].concat();
    let found = bytes[i + level + 2..].windows(close.len()).position(|part| part == close);
    Some(found.map(|at| i + level + 2 + at + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, locals: &str, end: &str) {
        let outline = outline(text).unwrap_or_else(|| panic!("no outline of {text}"));
        assert_eq!(outline.locals.join(" "), locals, "{text}");
        assert_eq!(&text[outline.end..], end, "{text}");
    }

    #[test]
    fn top_level_locals_and_the_final_return_are_found() {
        check("", "", "");
        check(
            "local a, b = 1\nlocal function f() local x return x end return a",
            "a b f",
            "return a",
        );
        check("do local x end if y then local z end local a", "a", "");
        check("for i = 1, 2 do local x end while y do local z end local a", "a", "");
        check("repeat local x until function() local y end local a", "a", "");
        check("if a then local b elseif c then local d else local e end local f", "f", "");
        check("local t = { f = function() local x end } return t", "t", "return t");
        check("-- local a\n--[[ local b\n ]] --[==[ ]] local c ]==] local d", "d", "");
        check(
            "local s = 'local x' local t = \"\\\" local y\" local u = [[ local z ]]",
            "s t u",
            "",
        );
        check("local n = 0x1p-4 local m = 1e+5 local o = 3..4", "n m o", "");
        check("local a local a local b", "a b", "");
        check("#!/usr/bin/engine local x\nlocal a", "a", "");
        check("local größe = 1 return größe", "größe", "return größe");
        check("local s = 'a\\z  \n  b' local t = 0xe+1", "s t", "");
        check("local a = t[ [[x]] ] local b = t[[=[y]=]]", "a b", "");
    }

    #[test]
    fn a_text_whose_blocks_do_not_fit_has_no_outline() {
        for text in ["function f()", "end", "local s = 'x", "--[[ x", "local s = [[x", "until x"] {
            assert_eq!(outline(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_top_level_writes_to_is_found() {
        let text = "local M, N = {} function M.a.b:c() end x.y, x.z = 1 p.q[1] = 2 f(x.y.w)\n\
                    function f() g.h = 1 end local E = require 'enemy' local V = Some.Path\n\
                    local C = Some.call() setmetatable(_G, {}) rawset(r, 1, 2) local z = t == x.y";
        let outline = outline(text).unwrap();
        let written: Vec<String> = outline.written.iter().map(|path| path.join(".")).collect();
        assert_eq!(written, ["M.a.b", "x", "p.q", "_G", "r"]);
        let module = Alias::Module("enemy".to_string());
        let path = Alias::Path(vec!["Some".to_string(), "Path".to_string()]);
        let names = [("E".to_string(), module), ("V".to_string(), path)];
        assert_eq!(outline.aliases, names);
        let text = "local E = require 'enemy' local A = E.parts function A.x() end \
                    local M = {} function M.x() end function V.x() end local V = V V.y = 1";
        let outline = super::outline(text).unwrap();
        let foreign: Vec<String> = outline
            .foreign()
            .iter()
            .map(|(module, path)| format!("{}:{}", module.unwrap_or_default(), path.join(".")))
            .collect();
        assert_eq!(foreign, ["enemy:parts", ":V"]);
        let text = "local E = require 'enemy' local insert = table.insert local M = {} \
                    insert(M, 1) E.on('x') M.go() class() log{} function f() hidden() end";
        let outline = super::outline(text).unwrap();
        assert!(!outline.dynamic);
        let calls = outline.calls();
        let calls: Vec<&str> = calls.iter().map(|call| call.as_deref().unwrap_or("-")).collect();
        assert_eq!(calls, ["require", "table", "-", "-", "class", "log"]);
    }

    #[test]
    fn a_text_that_may_write_to_anything_is_known() {
        for text in [
            "require('a').b = 1",
            "local a, b = require 'a', require 'b'",
            "local name = 'a' local a = require(name)",
            "local M = { a = require 'a' } M.a.b = 1",
            "for _, item in pairs(list) do item.x = 1 end",
            "do local a = b a.x = 1 end",
            "list[1]()",
            "(f or g).x = 1",
        ] {
            assert!(outline(text).unwrap().dynamic, "{text}");
        }
        for text in [
            "local M = {} M.x = 1 function M:f() f().x = 1 end local a = { [1] = 'x', (1 + 2) }",
            "local a = require 'a' a.x = 1 local b = require('b') local c = b",
            "for i = 1, 2 do local x = i end if a then b = 1 end return { f(1), 'x' }",
        ] {
            assert!(!outline(text).unwrap().dynamic, "{text}");
        }
    }

    #[test]
    fn the_lines_of_a_text_stay_where_they_are() {
        let text = "local a = 1\nlocal b\nreturn a";
        let made = instrument(text, &outline(text).unwrap(), "x").unwrap();
        let call = " do local c = x c(function() return a, b end) end ";
        assert_eq!(made, format!("local a = 1\nlocal b\n{call}return a"));
        let text = "local a -- end";
        let made = instrument(text, &outline(text).unwrap(), "x").unwrap();
        assert_eq!(made, "local a -- end\n do local c = x c(function() return a end) end ");
        assert_eq!(instrument("x = 1", &outline("x = 1").unwrap(), "x"), None);
    }
}
