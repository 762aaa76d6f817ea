//! The check of extra arguments in the prelude's public functions: `Unit.box(unit, 1, 2)` is
//! refused by a function in Lua as it is by one in Rust. Extra arguments that are nil are accepted.
//! The check is added to the source text before it is compiled, by the build script and where the
//! text is compiled at run time. Lines stay in place. Compiled code counts arguments at no cost.

/// Files whose functions count their arguments themselves: generated ones, and the test library.
const EXEMPT: [&str; 2] = ["gui/rows", "test/"];

/// Returns the source text of a prelude file, by its path below lua/ without the extension, with
/// the check in each function `Module.name` at the top level that has no rest parameter.
pub fn with_checks(name: &str, text: &str) -> String {
    if EXEMPT.iter().any(|exempt| name.starts_with(exempt)) {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    if next_function(text).is_some()
        && let Some(end) = end_of_core(text)
    {
        let (before, after) = text.split_at(end);
        out += before;
        out += " local num_arguments = core.select";
        rest = after;
    }
    while let Some(at) = next_function(rest) {
        let (before, function) = rest.split_at(at);
        out += before;
        let end = function.find(')').map_or(function.len(), |end| end + 1);
        let (head, body) = function.split_at(end);
        out += &checked_head(head).unwrap_or_else(|| head.to_string());
        rest = body;
    }
    out + rest
}

/// Returns the end of the line `local core = ...`, with which files begin.
fn end_of_core(text: &str) -> Option<usize> {
    let at = if text.starts_with("local core") { 0 } else { text.find("\nlocal core")? + 1 };
    let line = text[at..].lines().next()?;
    line.ends_with("= ...").then_some(at + line.len())
}

/// Returns the position of the next line that begins a public function.
fn next_function(text: &str) -> Option<usize> {
    const START: &str = "function ";
    let mut from = 0;
    loop {
        let at = from + text[from..].find(START)?;
        let is_line = at == 0 || text.as_bytes()[at - 1] == b'\n';
        let name = &text[at + START.len()..];
        if is_line && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Some(at);
        }
        from = at + START.len();
    }
}

/// Returns the head `function Module.name(a, b)` with a rest parameter and the check.
fn checked_head(head: &str) -> Option<String> {
    let (start, parameters) = head.strip_suffix(')')?.split_once('(')?;
    let path = start.strip_prefix("function ")?.trim();
    if !path.contains('.') || parameters.contains("...") {
        return None;
    }
    let count = parameters.split(',').filter(|name| !name.trim().is_empty()).count();
    let comma = if count == 0 { "" } else { ", " };
    Some(format!(
        "{start}({parameters}{comma}...) if num_arguments(\"#\", ...) > 0 then \
         core.refuse_extra(\"{path}\", {count}, ...) end"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_functions_without_rest_get_the_check() {
        let text = "-- function Unit.no(a)\nlocal core = ...\nfunction Unit.box(unit, linked)\n  \
                    return 1\nend\n";
        let checked = with_checks("world/unit/x", text);
        assert_eq!(
            checked,
            "-- function Unit.no(a)\nlocal core = ... local num_arguments = core.select\n\
             function Unit.box(unit, linked, ...) if num_arguments(\"#\", ...) > 0 then \
             core.refuse_extra(\"Unit.box\", 2, ...) end\n  return 1\nend\n"
        );
        assert_eq!(checked.lines().count(), text.lines().count());
        let none = with_checks("x", "function Unit.all()\nend");
        assert!(none.starts_with("function Unit.all(...) if num_arguments"), "{none}");
    }

    #[test]
    fn other_functions_are_unchanged() {
        for text in [
            "function World.link(a, ...)\nend",
            "function core.copy(a)\nend",
            "local function Big(a)\nend",
            "  function Unit.inner(a) end",
        ] {
            assert_eq!(with_checks("x", text), text);
        }
        let text = "function Unit.box(a)\nend";
        assert_eq!(with_checks("test/suite", text), text);
    }

    #[test]
    fn heads_of_several_lines_keep_their_lines() {
        let checked = with_checks("x", "function Unit.box(a,\n    b)\nend");
        assert!(checked.starts_with("function Unit.box(a,\n    b, ...) if"), "{checked}");
    }
}
