//! Removes development-only code from scripts: the statements that call `Profiler.start`, `stop`
//! and `record_statistics`. They are replaced by a statement without effect, and every line keeps
//! its number.

use super::{KEYWORDS, SourceToken, SourceTokenKind, is, tokens};

/// The functions whose calls are removed if they are statements.
const FUNCTIONS: [&str; 3] = ["start", "stop", "record_statistics"];
/// A statement without effect, shorter than any statement that it replaces. Without it, the code
/// before and after would be joined.
const EMPTY_BLOCK: &str = "do end";

/// Returns the text without these statements; `None` if there are none, or if the file has a local
/// with the name `Profiler`.
pub fn without_profiler(text: &str) -> Option<String> {
    if !text.contains("Profiler") {
        return None;
    }
    let tokens = tokens(text)?;
    let own = |i: usize| is(&tokens, i, "local") && is(&tokens, i + 1, "Profiler");
    if (0..tokens.len()).any(own) {
        return None;
    }
    let mut stripped = String::with_capacity(text.len());
    let mut copied = 0;
    let mut i = 0;
    while i < tokens.len() {
        let Some(close) = statement(&tokens, i) else {
            i += 1;
            continue;
        };
        let (start, end) = (tokens[i].start, tokens[close].start + 1);
        stripped += &text[copied..start];
        stripped += EMPTY_BLOCK;
        // Line breaks inside the statement are kept, so that the lines after it keep their numbers.
        stripped.extend(text[start..end].chars().filter(|letter| *letter == '\n'));
        copied = end;
        i = close + 1;
    }
    (copied > 0).then(|| stripped + &text[copied..])
}

/// Returns the index of the closing parenthesis if one of these statements begins at token `i`.
fn statement(tokens: &[SourceToken], i: usize) -> Option<usize> {
    let named = is(tokens, i, "Profiler")
        && is(tokens, i + 1, ".")
        && FUNCTIONS.iter().any(|name| is(tokens, i + 2, name))
        && is(tokens, i + 3, "(");
    if !named || i.checked_sub(1).is_some_and(|before| !ends_statement(&tokens[before])) {
        return None;
    }
    let mut depth = 0usize;
    let close = (i + 3..tokens.len()).find(|at| {
        match (tokens[*at].kind, tokens[*at].text) {
            (SourceTokenKind::Sign, "(") => depth += 1,
            (SourceTokenKind::Sign, ")") => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    // A call that continues is part of an expression.
    let continues = tokens.get(close + 1).is_some_and(|next| match next.kind {
        SourceTokenKind::Word => ["and", "or"].contains(&next.text),
        SourceTokenKind::Text => true,
        SourceTokenKind::Number => false,
        SourceTokenKind::Sign => next.text != ";" && next.text != "::",
    });
    (!continues).then_some(close)
}

/// Returns true if a statement can begin after a token.
fn ends_statement(token: &SourceToken) -> bool {
    match token.kind {
        SourceTokenKind::Text | SourceTokenKind::Number => true,
        SourceTokenKind::Word => {
            let begins = ["do", "else", "repeat", "then", "end", "nil", "true", "false", "break"];
            !KEYWORDS.contains(&token.text) || begins.contains(&token.text)
        }
        SourceTokenKind::Sign => [";", ")", "]", "}", "...", "::"].contains(&token.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(without_profiler(text).as_deref().unwrap_or(text), expected);
    }

    #[test]
    fn statements_are_removed_and_line_numbers_preserved() {
        check("Profiler.start(\"a\")\nf()\nProfiler.stop()", "do end\nf()\ndo end");
        check("if x then Profiler.stop(name(\n1)) end", "if x then do end\n end");
        check("local a = b\nProfiler.start 'x'", "local a = b\nProfiler.start 'x'");
        check("local a = b Profiler.start('x') c()", "local a = b do end c()");
        check("f(function() Profiler.stop() end)", "f(function() do end end)");
        check("Profiler.record_statistics('a/b', 1);", "do end;");
    }

    #[test]
    fn other_code_is_unchanged() {
        for text in [
            "local f = Profiler.start",
            "return Profiler.stop()",
            "x = Profiler.stop() or 1",
            "print(Profiler.start('a'))",
            "my.Profiler.start('a')",
            "Profiler.stop().x = 1",
            "Profiler.report()",
            "-- Profiler.start('a')",
            "local text = \"Profiler.stop()\"",
            "local Profiler = require(\"mine\") Profiler.start(1)",
        ] {
            check(text, text);
        }
    }
}
