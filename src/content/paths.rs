//! The texts of paths to values, in reports and differences: keys joined by periods, items as
//! `[id]` or `[number]`. Different paths have different texts, and each is one line.

use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

/// Returns the step to a key. A key that would be taken for several steps has quotes.
pub fn key_step(key: &str) -> String {
    let is_special = |c: char| c.is_control() || c.is_whitespace() || ".[]\"=".contains(c);
    match key.is_empty() || key.contains(is_special) {
        true => quoted(key),
        false => key.to_string(),
    }
}

/// Returns the step to an item with an id, which is a text in quotes or a number.
pub fn id_step(id: &str) -> String {
    let plain = id.trim_matches('"');
    let is_special = |c: char| c.is_control() || "[]\"".contains(c);
    // The text "3" is not the number 3.
    let is_number_as_text = plain.len() < id.len() && plain.parse::<f64>().is_ok();
    match plain.is_empty() || is_number_as_text || plain.contains(is_special) {
        true => format!("[{}]", quoted(plain)),
        false => format!("[{plain}]"),
    }
}

fn quoted(text: &str) -> String {
    json::write(&SjsonTree::String(text.to_string()))
}

/// Joins steps.
pub fn path_text(steps: &[String]) -> String {
    let mut text = String::new();
    for step in steps {
        if !text.is_empty() && !step.starts_with('[') {
            text.push('.');
        }
        text.push_str(step);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_paths_have_different_texts_of_one_line() {
        let text =
            |keys: &[&str]| path_text(&keys.iter().map(|it| key_step(it)).collect::<Vec<_>>());
        assert_eq!(text(&["a", "b"]), "a.b");
        assert_eq!(text(&["a.b"]), "\"a.b\"");
        assert_eq!(text(&["a\nb = 1", "[x]"]), "\"a\\nb = 1\".\"[x]\"");
        assert_eq!(text(&["", "ü-_/"]), "\"\".ü-_/");
        assert_eq!([id_step("\"x y\""), id_step("3")], ["[x y]", "[3]"]);
        assert_eq!([id_step("\"a]\""), id_step("\"\"")], ["[\"a]\"]", "[\"\"]"]);
    }
}
