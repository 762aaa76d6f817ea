//! Syntax highlighting of Lua as HTML: comments, strings, numbers, keywords, and links for names.

use engine_foundation::xml::escape;
use engine_script::KEYWORDS;

/// Converts Lua code to HTML. `link` returns the target of a name such as `Gui.text`.
pub fn lua(text: &str, link: impl Fn(&str) -> Option<String>) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = token(rest, first);
        let (token, after) = rest.split_at(length);
        rest = after;
        let escaped = escape(token);
        html += &match kind(token, first) {
            Some(kind) => format!("<span class=\"{kind}\">{escaped}</span>"),
            None => match link(token) {
                Some(to) => format!("<a href=\"{to}\">{escaped}</a>"),
                None => escaped,
            },
        };
    }
    html
}

/// Returns the CSS class of a token if it has a color.
fn kind(token: &str, first: char) -> Option<&'static str> {
    match first {
        '-' if token.starts_with("--") => Some("comment"),
        '"' | '\'' => Some("string"),
        '[' if token.len() > 1 => Some("string"),
        '0'..='9' => Some("number"),
        _ => KEYWORDS.contains(&token).then_some("keyword"),
    }
}

/// Returns the length in bytes of the token at the start of a text.
fn token(text: &str, first: char) -> usize {
    let until = |mark: &str| text.find(mark).map_or(text.len(), |at| at + mark.len());
    match first {
        '-' if text.starts_with("--[[") => until("]]"),
        '-' if text.starts_with("--") => text.find('\n').unwrap_or(text.len()),
        '[' if text.starts_with("[[") => until("]]"),
        '"' | '\'' => quoted(text, first),
        '0'..='9' => length(text, |c| c.is_ascii_alphanumeric() || c == '.'),
        'a'..='z' | 'A'..='Z' | '_' => {
            length(text, |c| c.is_ascii_alphanumeric() || "_.".contains(c))
        }
        _ => first.len_utf8(),
    }
}

fn length(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|c| !fits(c)).unwrap_or(text.len())
}

/// Returns the length in bytes of a string literal; it ends with its line at the latest.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = true;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::lua;

    #[track_caller]
    fn check(text: &str, wanted: &str) {
        let link = |name: &str| (name == "Gui.text").then(|| "Gui.html".to_string());
        let short = wanted.replace("<k ", "<span class=\"keyword\">");
        let short = short.replace("<s ", "<span class=\"string\">").replace('|', "</span>");
        let short = short.replace("<c ", "<span class=\"comment\">");
        assert_eq!(lua(text, link), short.replace("<n ", "<span class=\"number\">"));
    }

    #[test]
    fn keywords_strings_numbers_and_comments_are_highlighted() {
        check("local x = 1.5", "<k local| x = <n 1.5|");
        check("ended = -2 -- not\nx", "ended = -<n 2| <c -- not|\nx");
        check(
            "f('a\\'<', [[b\nc]], --[[ d ]] e)",
            "f(<s 'a\\'&lt;'|, <s [[b\nc]]|, <c --[[ d ]]| e)",
        );
        check("a[\"é\"]", "a[<s &quot;é&quot;|]");
        check("x = \"open\ny", "x = <s &quot;open|\ny");
    }

    #[test]
    fn names_link_to_their_documentation() {
        check("Gui.text(gui)", "<a href=\"Gui.html\">Gui.text</a>(gui)");
        check("Gui.textual", "Gui.textual");
    }
}
