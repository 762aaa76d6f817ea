//! The `lua` resource kind: scripts as text. The syntax is checked by the VM that loads the script,
//! or here for a release. The compiled form includes the string literals that may name resources;
//! their meaning is not known here.

use super::{source_scanner, syntax_check};
use engine_foundation::Error;
use engine_foundation::error;
use engine_resource::data_resources::text;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{ResourceKind, SourceForm, compiler, kind_names};

/// The resource kind of scripts, which ship as text.
pub static LUA: ResourceKind = ResourceKind {
    name: kind_names::LUA,
    doc: "A script",
    extensions: &[("lua", SourceForm::Own)],
    version: 3,
    framed: false,
    reload: &[ReloadStep::Scripts],
    compile: compiler(|compiling| {
        if is_compiled(&compiling.bytes) {
            return Err(compiling.error_at(1, "this is a compiled chunk: games are text"));
        }
        let text = compiling.text()?.to_string();
        // During development a broken script is reported when it is loaded, and the old version
        // stays in use.
        if compiling.release
            && let Some(message) = syntax_check::problem(&compiling.path, &text)
        {
            return Err(Error::new(message));
        }
        for literal in string_literals(&text) {
            compiling.refer("", literal);
        }
        if compiling.release
            && let Some(text) = source_scanner::without_profiler(&text)
        {
            return Ok(text.into_bytes());
        }
        Ok(std::mem::take(&mut compiling.bytes))
    }),
    validate: |bytes| match is_compiled(bytes) {
        true => Err(error!("it is damaged: it is a compiled chunk, and scripts are text")),
        false => text(bytes).map(drop),
    },
};

/// Returns true if LuaJIT could take the bytes for bytecode, which it does not check before running
/// it. Bytecode begins with an escape character, possibly after a byte order mark. A script's text
/// never does.
fn is_compiled(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).starts_with(b"\x1b")
}

/// Maximum length in bytes of a literal that can be a resource name.
const NAME_BYTES_MAX: usize = 200;

/// Returns the short string literals of a script that could be resource names: no blanks, no
/// escapes, no line ends. The dots of `require "a.b"` are converted to slashes later, when the
/// dependency graph is queried.
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

/// Returns the end of a quoted string: its closing quote, or the end of the line if the string is
/// not closed.
fn quoted_end(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

/// Returns the end of the long bracket `[==[ … ]==]` that begins at `from`, if there is one.
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
    fn only_string_literals_are_scanned_for_resource_names() {
        let text = "local a = \"units/barrel\" -- \"no\"\n--[[ \"no\" ]]\n\
                    x('b', [==[\"no\"]==], \"not this\")";
        assert_eq!(string_literals(text), ["units/barrel", "b"]);
    }

    #[test]
    fn invalid_lua_ends_the_scan_without_an_error() {
        for text in ["\"", "'\\", "[[", "--[==[", "[=", "\"a\\\"", "ä'é'"] {
            string_literals(text);
        }
    }
}
