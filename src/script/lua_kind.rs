//! Scripts as a kind of resource: text whose syntax is checked by the VM that loads it, or here if
//! it ships, with the strings in it that may name resources. Knows nothing of their meaning.

use super::{outline, syntax};
use crate::error;
use crate::foundation::Error;
use crate::resource::data_kinds::text;
use crate::resource::kind::{Form, Kind};

/// Scripts. They ship as text.
pub static LUA: Kind = Kind {
    name: "lua",
    words: "A script",
    extensions: &[("lua", Form::Own)],
    version: 3,
    compile: |compiling| {
        if is_compiled(&compiling.bytes) {
            return Err(compiling.fault(1, "this is a compiled chunk: games are text"));
        }
        let text = compiling.text()?.to_string();
        // While a game is made, a broken script is told when it is loaded, and the old one goes on.
        if compiling.release
            && let Some(words) = syntax::problem(&compiling.path, &text)
        {
            return Err(Error::new(words));
        }
        for literal in string_literals(&text) {
            compiling.refer("", literal);
        }
        if compiling.release
            && let Some(text) = outline::without_profiler(&text)
        {
            return Ok(text.into_bytes());
        }
        Ok(std::mem::take(&mut compiling.bytes))
    },
    validate: |bytes| match is_compiled(bytes) {
        true => Err(error!("it is damaged: it is a compiled chunk, and scripts are text")),
        false => text(bytes).map(drop),
    },
};

/// Whether LuaJIT could take bytes for bytecode, which it does not check before it runs it: such
/// bytes begin with an escape, behind a byte order mark perhaps. A text never does.
fn is_compiled(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).starts_with(b"\x1b")
}

/// The longest literal that can be a name.
const NAME_BYTES_MAX: usize = 200;

/// The short string literals of a script that could be names: no blanks, no escapes, no line ends.
/// `require "a.b"` counts with its dots as slashes where the graph is asked.
pub fn string_literals(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'-' if bytes[at..].starts_with(b"--") => {
                at = match long_bracket(bytes, at + 2) {
                    Some(end) => end,
                    None => line_end(bytes, at),
                };
            }
            b'[' => at = long_bracket(bytes, at).unwrap_or(at + 1),
            quote @ (b'"' | b'\'') => {
                let end = quoted_end(bytes, at + 1, quote);
                let inside = &text[at + 1..end.min(text.len())];
                if is_name(inside) {
                    found.push(inside);
                }
                at = end + 1;
            }
            _ => at += 1,
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\\%\"'".contains(c);
    !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(plain)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |i| from + i)
}

/// Where a quoted string ends: at its quote, or at the line's end where it is not closed.
fn quoted_end(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

/// The end of `[==[ … ]==]` that begins at `from`, if one does.
fn long_bracket(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?.strip_prefix(b"[")?;
    let level = rest.iter().take_while(|byte| **byte == b'=').count();
    if rest.get(level) != Some(&b'[') {
        return None;
    }
    let mut close = vec![b'='; level + 2];
    close[0] = b']';
    close[level + 1] = b']';
    let inside = from + level + 2;
    let end = bytes[inside..].windows(close.len()).position(|window| window == close);
    Some(end.map_or(bytes.len(), |end| inside + end + close.len()))
}

#[cfg(test)]
mod tests {
    use super::string_literals;

    #[test]
    fn strings_that_could_be_names_are_found_and_comments_are_not() {
        let text = "local a = \"units/barrel\" -- \"no\"\n--[[ \"no\" ]]\n\
                    x('b', [==[\"no\"]==], \"not this\")";
        assert_eq!(string_literals(text), ["units/barrel", "b"]);
    }

    #[test]
    fn text_that_is_not_lua_ends_the_search_without_harm() {
        for text in ["\"", "'\\", "[[", "--[==[", "[=", "\"a\\\"", "ä'é'"] {
            string_literals(text);
        }
    }
}
