//! Source scanner for hot reload: finds the names of a Lua file's top-level locals, the position of
//! its final `return`, and the foreign tables that its top level writes to. It counts the blocks of
//! the tokens, and is not a parser. A file that it cannot understand has no outline and is loaded
//! unchanged.

mod strip_profiling;
mod tokens;

pub use strip_profiling::without_profiler;
pub use tokens::{KEYWORDS, SourceToken, SourceTokenKind, tokens};

/// Maximum number of locals that one generated function captures, below Lua's limit of upvalues.
const NAMES_IN_GROUP: usize = 50;
/// Maximum number of aliases that are followed (locals that refer to other locals).
const ALIASES_MAX: usize = 8;

/// Declarations and writes at the top level of a file.
#[derive(Debug, Default, PartialEq)]
pub struct SourceOutline {
    /// Top-level locals in order of declaration; a name that is declared twice appears once.
    pub locals: Vec<String>,
    /// Byte offset of the final top-level `return`, or of the end of the text.
    pub end: usize,
    /// True if the file has a final top-level `return`.
    pub returns: bool,
    /// The paths whose fields are assigned outside of functions: `function a.b.c()` gives `a.b`.
    pub written: Vec<Vec<String>>,
    /// True if the top level writes to or calls a value that no path from a top-level local or a
    /// global names. This value may be any object of the game.
    pub dynamic: bool,
    /// The paths of the functions that are called outside of functions.
    pub called: Vec<Vec<String>>,
    /// Top-level `local name = require "module"` and `local name = other.path`.
    pub aliases: Vec<(String, LocalAlias)>,
}

/// The value that a top-level local is an alias of.
#[derive(Debug, PartialEq)]
pub enum LocalAlias {
    Module(String),
    Path(Vec<String>),
}

/// Returns the outline of a text; `None` if its blocks do not match.
pub fn outline(text: &str) -> Option<SourceOutline> {
    let tokens = tokens(text)?;
    let mut outline = SourceOutline { end: text.len(), ..SourceOutline::default() };
    // The keywords that opened the current blocks: `function` or another word.
    let mut blocks: Vec<&str> = Vec::new();
    let mut inner: Vec<&str> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let outside = !blocks.contains(&"function");
        if token.kind != SourceTokenKind::Word {
            outline.dynamic |= outside && is_used_result(&tokens, i);
            continue;
        }
        match token.text {
            "function" => {
                if outside {
                    outline.record_function(&tokens[i + 1..]);
                }
                blocks.push("function");
            }
            "do" | "if" | "repeat" => blocks.push(token.text),
            "end" | "until" => {
                blocks.pop()?;
            }
            "local" if blocks.is_empty() => outline.record_local(&tokens[i + 1..]),
            "local" | "for" if outside => inner.extend(names(&tokens[i + 1..])),
            "return" if blocks.is_empty() => {
                (outline.end, outline.returns) = (token.start, true);
            }
            _ if outside => outline.record_path(&tokens, i),
            _ => {}
        }
    }
    let of_block = |path: &Vec<String>| inner.contains(&path[0].as_str());
    outline.dynamic |= outline.written.iter().any(of_block);
    blocks.is_empty().then_some(outline)
}

/// Adds calls to the text that pass functions holding all top-level locals to `capture`, an
/// expression. The calls are added on the line of the final `return` or of the end. Returns `None`
/// if there is no local.
pub fn instrument(text: &str, outline: &SourceOutline, capture: &str) -> Option<String> {
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

/// Returns true if the token uses the result of a call, an index or a string: `f().x`, `t[1]()`,
/// `"x":f()`.
fn is_used_result(tokens: &[SourceToken], i: usize) -> bool {
    let Some(before) = i.checked_sub(1) else { return false };
    let result = tokens[before].kind == SourceTokenKind::Text || is(tokens, before, ")");
    let item = is(tokens, before, "]");
    let calls = is(tokens, i, "(") || is(tokens, i, "{") || tokens[i].kind == SourceTokenKind::Text;
    let continues = is(tokens, i, ".") || is(tokens, i, ":") || is(tokens, i, "[");
    result && (continues || is(tokens, i, "(")) || item && (calls || is(tokens, i, ":"))
}

/// Parses a list of names such as `a, b`.
fn names<'a>(tokens: &[SourceToken<'a>]) -> Vec<&'a str> {
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

fn is_word(tokens: &[SourceToken], i: usize) -> bool {
    tokens
        .get(i)
        .is_some_and(|token| token.kind == SourceTokenKind::Word && !KEYWORDS.contains(&token.text))
}

fn is(tokens: &[SourceToken], i: usize, text: &str) -> bool {
    tokens.get(i).is_some_and(|token| token.kind != SourceTokenKind::Text && token.text == text)
}

/// Parses a path such as `a.b.c` that begins at token `i`. Returns the path and the index of the
/// token after it.
fn path(tokens: &[SourceToken], mut i: usize) -> (Vec<String>, usize) {
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

impl SourceOutline {
    /// Returns the functions that the top level calls: the name of the global root, or `None` if
    /// the function belongs to the file itself or to a module.
    pub fn call_roots(&self) -> Vec<Option<String>> {
        let root = |path: &Vec<String>| match self.resolve(path, ALIASES_MAX)? {
            (None, path) => path.into_iter().next(),
            (Some(_), _) => None,
        };
        self.called.iter().map(root).collect()
    }

    /// Returns the foreign tables that the top level writes to: the module that returned the table
    /// (or `None` for the globals), and the path from there.
    pub fn foreign(&self) -> Vec<(Option<&str>, Vec<String>)> {
        self.written.iter().filter_map(|path| self.resolve(path, ALIASES_MAX)).collect()
    }

    fn resolve(&self, path: &[String], left: usize) -> Option<(Option<&str>, Vec<String>)> {
        let (root, rest) = path.split_first()?;
        if !self.locals.contains(root) {
            return Some((None, path.to_vec()));
        }
        match &self.aliases.iter().find(|(name, _)| name == root)?.1 {
            LocalAlias::Module(module) => Some((Some(module), rest.to_vec())),
            // `local Enemy = Enemy` is an alias of the global of that name.
            LocalAlias::Path(names) if names.first() == Some(root) => {
                Some((None, [names, rest].concat()))
            }
            LocalAlias::Path(names) if left > 0 => self.resolve(&[names, rest].concat(), left - 1),
            LocalAlias::Path(_) => None,
        }
    }

    fn record_local(&mut self, rest: &[SourceToken]) {
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
            // `local a, b = require "a", require "b"` may assign any two modules.
            Some(_) => self.dynamic = true,
            None => self.dynamic |= is(rest, names.len() * 2, "require"),
        }
    }

    /// Records that `function a.b.c()` writes to `a.b`.
    fn record_function(&mut self, rest: &[SourceToken]) {
        let (mut names, _) = path(rest, 0);
        names.pop();
        self.record_write(names);
    }

    /// Records that `a.b.c = …`, `a.b[…] = …`, `rawset(a.b, …)` and `setmetatable(a.b, …)` write to
    /// `a.b`.
    fn record_path(&mut self, tokens: &[SourceToken], i: usize) {
        let inner = i > 0 && (is(tokens, i - 1, ".") || is(tokens, i - 1, ":"));
        if !is_word(tokens, i) || inner {
            return;
        }
        let (mut names, after) = path(tokens, i);
        let text = tokens.get(after).is_some_and(|token| token.kind == SourceTokenKind::Text);
        let header = i > 0 && (is(tokens, i - 1, "function") || is(tokens, i - 1, "local"));
        let calls = ["(", "{"].iter().any(|sign| is(tokens, after, sign)) || text;
        if calls && !header && !self.called.contains(&names) {
            self.called.push(names.clone());
        }
        if is(tokens, after, "[") {
            return self.record_write(names);
        }
        if is(tokens, after, "(") && names.len() == 1 {
            let writes = ["rawset", "setmetatable"].contains(&names[0].as_str());
            if writes {
                let (names, _) = path(tokens, after + 1);
                self.record_write(names);
            }
            return;
        }
        if names.len() > 1 && (is(tokens, after, "=") || is(tokens, after, ",")) {
            names.pop();
            self.record_write(names);
        }
    }

    fn record_write(&mut self, names: Vec<String>) {
        // A table inside one of the file's own tables may belong to another file.
        self.dynamic |= names.len() > 1 && self.locals.contains(&names[0]);
        if !names.is_empty() && !self.written.contains(&names) {
            self.written.push(names);
        }
    }
}

fn alias(tokens: &[SourceToken], i: usize) -> Option<LocalAlias> {
    if is(tokens, i, "require") {
        let name = i + 1 + usize::from(is(tokens, i + 1, "("));
        let token = tokens.get(name).filter(|token| token.kind == SourceTokenKind::Text)?;
        let quoted = token.text.strip_prefix(['"', '\''])?;
        return Some(LocalAlias::Module(quoted[..quoted.len() - 1].to_string()));
    }
    let (names, after) = path(tokens, i);
    // `local a = b.c(…)` or `b + 1` is a new value; `b or {}` may be `b`.
    let whole =
        tokens.get(after).is_none_or(|next| next.kind == SourceTokenKind::Word || next.text == ";");
    (!names.is_empty() && whole).then_some(LocalAlias::Path(names))
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
    fn unbalanced_blocks_give_no_outline() {
        for text in ["function f()", "end", "local s = 'x", "--[[ x", "local s = [[x", "until x"] {
            assert_eq!(outline(text), None, "{text}");
        }
    }

    #[test]
    fn assignments_of_the_top_level_are_found() {
        let text = "local M, N = {} function M.a.b:c() end x.y, x.z = 1 p.q[1] = 2 f(x.y.w)\n\
                    function f() g.h = 1 end local E = require 'enemy' local V = Some.Path\n\
                    local C = Some.call() setmetatable(_G, {}) rawset(r, 1, 2) local z = t == x.y";
        let outline = outline(text).unwrap();
        let written: Vec<String> = outline.written.iter().map(|path| path.join(".")).collect();
        assert_eq!(written, ["M.a.b", "x", "p.q", "_G", "r"]);
        let module = LocalAlias::Module("enemy".to_string());
        let path = LocalAlias::Path(vec!["Some".to_string(), "Path".to_string()]);
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
        let calls = outline.call_roots();
        let calls: Vec<&str> = calls.iter().map(|call| call.as_deref().unwrap_or("-")).collect();
        assert_eq!(calls, ["require", "table", "-", "-", "class", "log"]);
    }

    #[test]
    fn unrestricted_writes_are_detected() {
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
    fn line_numbers_are_preserved() {
        let text = "local a = 1\nlocal b\nreturn a";
        let instrumented = instrument(text, &outline(text).unwrap(), "x").unwrap();
        let call = " do local c = x c(function() return a, b end) end ";
        assert_eq!(instrumented, format!("local a = 1\nlocal b\n{call}return a"));
        let text = "local a -- end";
        let instrumented = instrument(text, &outline(text).unwrap(), "x").unwrap();
        assert_eq!(instrumented, "local a -- end\n do local c = x c(function() return a end) end ");
        assert_eq!(instrument("x = 1", &outline("x = 1").unwrap(), "x"), None);
    }
}
