//! Hints for syntax errors: misspelt keywords, the words and signs of other languages, and the
//! block that has no `end`. Reads LuaJIT's message and the text; knows no Lua state.

use super::source_scanner::{KEYWORDS, SourceToken, SourceTokenKind, tokens};
use engine_foundation::suggest;

/// Words of other languages, and how the same is written in Lua.
const FOREIGN_KEYWORDS: [(&str, &str); 21] = [
    ("elif", "`elseif`"),
    ("elsif", "`elseif`"),
    ("var", "`local`"),
    ("let", "`local`"),
    ("int", "`local`"),
    ("float", "`local`"),
    ("string", "`local`"),
    ("bool", "`local`"),
    ("def", "`function`"),
    ("func", "`function`"),
    ("fn", "`function`"),
    ("void", "`function`"),
    ("import", "`local name = require \"file\"`"),
    ("using", "`local name = require \"file\"`"),
    ("foreach", "`for index, value in ipairs(list) do`"),
    ("switch", "`if` and `elseif`"),
    ("case", "`elseif`"),
    ("try", "`pcall`"),
    ("throw", "`error(message)`"),
    ("new", "a call: `Thing()`"),
    ("is", "`==`"),
];

/// Signs at which LuaJIT stops, with a text that the line has, and the way to write it in Lua.
const FOREIGN_SIGNS: [(&str, &str, &str); 11] = [
    ("{", "{", "blocks are written without braces: `then … end`, `do … end`, `function f() … end`"),
    ("+", "++", "write x = x + 1"),
    ("/", "//", "comments begin with --"),
    ("/", "/*", "comments are written --[[ … ]]"),
    ("#", "#", "comments begin with --"),
    ("[", "[", "lists are written with braces: { 1, 2 }"),
    ("!", "!", "write `not`"),
    ("&", "&", "write `and`; bits are combined with bit.band"),
    ("|", "|", "write `or`; bits are combined with bit.bor"),
    (";", ";", "a loop that counts is written `for i = 1, 10 do`"),
    (":", ":", "the fields of a table are written { name = value }"),
];

/// Minimum number of letters of a word that may be a misspelt keyword.
const KEYWORD_LETTERS_MIN: usize = 3;

/// Returns the hint for LuaJIT's message about a text, whose parser stopped in that line.
pub fn hint(message: &str, text: &str, line: usize) -> Option<String> {
    let (problem, near) = message.rsplit_once(" near '")?;
    let near = near.strip_suffix('\'')?;
    let source = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    // A comment hides the rest of the line before the one at which the parser stops.
    let before = line.checked_sub(2).and_then(|at| text.lines().nth(at)).unwrap_or_default();
    let found = misspelt_keyword(text, line)
        .or_else(|| unclosed_quote(problem, source))
        .or_else(|| foreign_sign(problem, near, source))
        .or_else(|| block_end(problem, near, text))
        .or_else(|| missing_part(problem, near, &[before, source]))?;
    Some(format!(": {found}"))
}

/// Finds a name before another name, in the same line, that is nearly a keyword or the keyword of
/// another language: `fucntion f`, `local fucntion f`, `var x`.
fn misspelt_keyword(text: &str, line: usize) -> Option<String> {
    let end: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let read = tokens(&text[..end]).or_else(|| tokens(before_last_line(&text[..end])))?;
    let is_name = |token: &SourceToken| {
        token.kind == SourceTokenKind::Word && !KEYWORDS.contains(&token.text)
    };
    for (i, pair) in read.windows(2).enumerate() {
        let [word, next] = pair else { continue };
        let is_pair = next.kind == SourceTokenKind::Number
            || is_name(next)
            || ["nil", "true", "false", "not", "function"].contains(&next.text);
        let is_statement = i == 0 || !is_of_expression(&read[i - 1]);
        if !is_name(word)
            || !is_pair
            || !is_statement
            || text[word.start..next.start].contains('\n')
        {
            continue;
        }
        // `x = y z = 3` is correct: there, the first name ends an expression.
        let lua = FOREIGN_KEYWORDS.iter().find(|(foreign, _)| *foreign == word.text);
        let meant = match lua {
            Some((_, lua)) if is_name(next) => lua.to_string(),
            _ => format!("`{}`", near_keyword(word.text)?),
        };
        let at = 1 + text[..word.start].matches('\n').count();
        let of_line = if at == line { String::new() } else { format!(" in line {at}") };
        return Some(format!("did you mean {meant} by '{}'{of_line}?", word.text));
    }
    None
}

/// Returns true if a token is followed by an expression, or by the rest of one: a name after it is
/// no beginning of a statement.
fn is_of_expression(token: &SourceToken) -> bool {
    match token.kind {
        SourceTokenKind::Sign => !matches!(token.text, ")" | "}" | "]" | ";" | "::"),
        SourceTokenKind::Word => {
            ["and", "or", "not", "return", "in", "function", "goto"].contains(&token.text)
        }
        _ => false,
    }
}

fn before_last_line(text: &str) -> &str {
    text.trim_end_matches('\n').rfind('\n').map_or("", |at| &text[..=at])
}

fn near_keyword(word: &str) -> Option<&'static str> {
    if word.len() < KEYWORD_LETTERS_MIN || FOREIGN_KEYWORDS.iter().any(|(known, _)| *known == word)
    {
        return None;
    }
    let long = KEYWORDS.iter().copied().filter(|keyword| keyword.len() >= KEYWORD_LETTERS_MIN);
    suggest::nearest(word, long)
}

/// Finds a quote that is not closed, or that closes a text too early.
fn unclosed_quote(problem: &str, source: &str) -> Option<String> {
    if problem == "unfinished string" {
        return Some("the closing quote of this text is missing".to_string());
    }
    has_open_quote(source).then(|| {
        "a quote ends the text before its end: write it in the other quotes, \"don't\"".to_string()
    })
}

/// Returns true if a text in single quotes is not closed in its line. Quotes in comments and in
/// other texts do not count.
fn has_open_quote(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(['\'', '"', '-', '[']) {
        let from = &rest[at..];
        if from.starts_with("--") {
            return false;
        }
        let end = match from.as_bytes()[0] {
            quote @ (b'\'' | b'"') => match closing_quote(from, quote) {
                Some(end) => end,
                None => return quote == b'\'',
            },
            b'[' if from.starts_with("[[") => from.find("]]").map_or(from.len(), |end| end + 2),
            _ => 1,
        };
        rest = &from[end..];
    }
    false
}

/// Returns the position after the quote that closes a text, which begins with its other quote.
fn closing_quote(text: &str, quote: u8) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        if byte == quote && !is_escaped {
            return Some(at + 1);
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    None
}

/// Finds a sign of another language.
fn foreign_sign(problem: &str, near: &str, source: &str) -> Option<String> {
    if problem == "'then' expected" && near == "=" {
        return Some("two values are compared with ==".to_string());
    }
    if problem.starts_with("malformed number") && near.contains("..") {
        return Some("a loop that counts is written `for i = 1, 10 do`".to_string());
    }
    if problem == "'<name>' expected" && source.contains(':') && source.contains('{') {
        return Some("the fields of a table are written { name = value }".to_string());
    }
    if problem.starts_with("'}' expected") && near == "=" {
        return None;
    }
    let is_stopped = |(stopped, part, _): &&(&str, &str, &str)| {
        near.starts_with(stopped) && source.contains(part)
    };
    // The longest text of the line is the most precise.
    let found = FOREIGN_SIGNS.iter().filter(is_stopped).max_by_key(|(_, part, _)| part.len())?;
    Some(found.2.to_string())
}

/// Finds the block that has no `end`, or the `end` that closes nothing.
fn block_end(problem: &str, near: &str, text: &str) -> Option<String> {
    let is_missing = problem.starts_with("'end' expected") && near == "<eof>";
    let is_extra = problem == "'<eof>' expected" && near == "end";
    if !is_missing && !is_extra {
        return None;
    }
    let read = tokens(text)?;
    let is_else_if = |pair: &[SourceToken]| {
        pair[0].text == "else" && pair[1].text == "if" && same_line(text, pair[0], pair[1])
    };
    if is_missing && let Some(pair) = read.windows(2).find(|pair| is_else_if(pair)) {
        let line = line_of(text, pair[0]);
        return Some(format!(
            "`else if` in line {line} begins another `if`, with its own `end`: write `elseif`"
        ));
    }
    let (opener, keyword) = unbalanced_block(text, &read, is_extra)?;
    Some(match is_extra {
        true => format!("the `end` in line {opener} closes no block"),
        false => format!("the `{keyword}` in line {opener} seems to have no `end`"),
    })
}

/// Returns the line of the first block that is closed by an `end` of other indentation, and its
/// keyword. For an extra `end`, returns the line of the `end` that is indented as no open block is.
fn unbalanced_block<'a>(
    text: &str,
    read: &[SourceToken<'a>],
    is_extra: bool,
) -> Option<(usize, &'a str)> {
    let mut open: Vec<(SourceToken<'a>, usize)> = Vec::new();
    for (i, token) in read.iter().enumerate() {
        let is_block = matches!(token.text, "function" | "if" | "do" | "repeat");
        if token.kind != SourceTokenKind::Word {
            continue;
        }
        if is_block {
            // The `do` of a loop is indented as its `for` or `while`.
            open.push((*token, indentation(text, token.start)));
        } else if matches!(token.text, "end" | "until") {
            let Some((opener, indented)) = open.pop() else {
                return is_extra.then(|| (line_of(text, *token), "end"));
            };
            let starts_line = i == 0 || !same_line(text, read[i - 1], *token);
            let one_line = same_line(text, opener, *token);
            if starts_line && !one_line && indentation(text, token.start) != indented {
                return match is_extra {
                    true => Some((line_of(text, *token), "end")),
                    false => Some((line_of(text, opener), opener.text)),
                };
            }
        }
    }
    let (opener, _) = open.last()?;
    (!is_extra).then(|| (line_of(text, *opener), opener.text))
}

/// Returns the number of blanks before the first character of the line of an offset.
fn indentation(text: &str, at: usize) -> usize {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    text[start..].chars().take_while(|c| *c == ' ' || *c == '\t').count()
}

fn line_of(text: &str, token: SourceToken) -> usize {
    1 + text[..token.start].matches('\n').count()
}

fn same_line(text: &str, a: SourceToken, b: SourceToken) -> bool {
    !text[a.start..b.start].contains('\n')
}

/// Names the part that is missing before the token at which the parser stopped.
fn missing_part(problem: &str, near: &str, lines: &[&str]) -> Option<String> {
    let of = |sign: &str| format!("a comma or the closing {sign} is missing before it");
    match problem {
        _ if problem.starts_with("'}' expected") => Some(of("}")),
        _ if problem.starts_with("')' expected") => Some(of(")")),
        "'<eof>' expected" if ["else", "elseif"].contains(&near) => Some(format!(
            "no `if` is open at this `{near}`: an `end` before it may have closed the `if`"
        )),
        "'<eof>' expected" if near == "until" => {
            Some("no `repeat` is open at this `until`".to_string())
        }
        "'<eof>' expected" if near != "end" => {
            Some("`return` must be the last statement of its block".to_string())
        }
        "'=' expected" if lines.iter().any(|line| is_decrement(line)) => {
            Some("-- begins a comment: write x = x - 1".to_string())
        }
        "'=' expected" => Some("a statement is a call or an assignment".to_string()),
        _ => None,
    }
}

/// Returns true if a line is `x--`, which other languages use to subtract 1.
fn is_decrement(line: &str) -> bool {
    let name = line.split_once("--").map_or("", |(name, _)| name.trim());
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax_check;

    /// Compiles a text that has a syntax error, and compares the hint of the error.
    #[track_caller]
    fn check(text: &str, wanted: &str) {
        let message = syntax_check::problem("a.lua", text).expect("the text has an error");
        let hint = message.split_once("': ").map_or("", |(_, hint)| hint);
        assert_eq!(hint, wanted, "{message}");
    }

    #[test]
    fn misspelt_keywords_are_corrected() {
        check("functon init()\nend", "did you mean `function` by 'functon'?");
        check("local fucntion f()\nend", "did you mean `function` by 'fucntion' in line 1?");
        check("x = 1\nlocl y = 2", "did you mean `local` by 'locl'?");
        check("f()\nretrun 1", "did you mean `return` by 'retrun'?");
        check("whlie x do end", "did you mean `while` by 'whlie'?");
    }

    #[test]
    fn keywords_of_other_languages_are_translated() {
        check("var x = 1", "did you mean `local` by 'var'?");
        check("def init():\n  pass", "did you mean `function` by 'def'?");
        check("func init()\nend", "did you mean `function` by 'func'?");
        check("if x then\nelif y then\nend", "did you mean `elseif` by 'elif'?");
    }

    #[test]
    fn signs_of_other_languages_are_translated() {
        let braces =
            "blocks are written without braces: `then … end`, `do … end`, `function f() … end`";
        check("if x == 1 {\n}", braces);
        check("function init() {\n}", braces);
        check("if x = 1 then end", "two values are compared with ==");
        check("x++", "write x = x + 1");
        check("// text\nlocal x = 1", "comments begin with --");
        check("local t = { a: 1 }", "the fields of a table are written { name = value }");
        check("local t = [1, 2]", "lists are written with braces: { 1, 2 }");
        let counts = "a loop that counts is written `for i = 1, 10 do`";
        check("for i = 1; i < 3; i = i + 1 do end", counts);
        check("for i in 1..3 do end", counts);
        check("x--\ny()", "-- begins a comment: write x = x - 1");
    }

    #[test]
    fn the_block_without_an_end_is_found_by_its_indentation() {
        check(
            "function init()\n  if x then\n    y()\nend\n",
            "the `if` in line 2 seems to have no `end`",
        );
        check("while x do\n  y()\n", "the `do` in line 1 seems to have no `end`");
        check(
            "function a()\n  for i = 1, 3 do\n    y()\nend\n\nfunction b()\nend\n",
            "the `do` in line 2 seems to have no `end`",
        );
        check(
            "if x then y() else if z then y() end",
            "`else if` in line 1 begins another `if`, with its own `end`: write `elseif`",
        );
        check("x = 3\nend\ny()", "the `end` in line 2 closes no block");
        check(
            "function a()\n  if x then\n    y()\n  end\n  end\nend\n",
            "the `end` in line 5 closes no block",
        );
    }

    #[test]
    fn missing_quotes_and_parentheses_are_named() {
        check("print(\"x)", "the closing quote of this text is missing");
        check(
            "print('don't')",
            "a quote ends the text before its end: write it in the other quotes, \"don't\"",
        );
        check("local x = {1, 2\nprint(x)", "a comma or the closing } is missing before it");
        check("f(1, 2\ng()", "a comma or the closing ) is missing before it");
        check("return 1\nprint(2)", "`return` must be the last statement of its block");
        let stray = |word| {
            format!("no `if` is open at this `{word}`: an `end` before it may have closed the `if`")
        };
        check("if x then\n  y()\nend\nelse\nend", &stray("else"));
        check("if x then y() end\nelseif z then\nend", &stray("elseif"));
        check("y()\nuntil x", "no `repeat` is open at this `until`");
    }

    #[test]
    fn quotes_in_comments_and_other_texts_are_no_texts() {
        let comma = "a comma or the closing ) is missing before it";
        check("print(1 2) -- don't", comma);
        check("print(\"it's\" 2)", comma);
        check("print([[it's]] 2)", comma);
        check("print('it\\'s' 2)", comma);
    }

    #[test]
    fn correct_code_before_the_error_is_left_alone() {
        check("local x = y z = 3\nreturn 1 end", "the `end` in line 2 closes no block");
        check("for key in pairs(forms) do end\nx = = 1", "");
        assert_eq!(hint("no weapon", "x = 1", 1), None);
        assert_eq!(hint("'=' expected near 'x'", "", 7), Some(STATEMENT.to_string()));
    }

    const STATEMENT: &str = ": a statement is a call or an assignment";
}
