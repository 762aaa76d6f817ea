//! The writer: tree to text, in the house layout for new files, and in the surrounding style for
//! values that are inserted into an existing text. Changes no documents.
//!
//! House layout: two spaces per level, `key = value`, one entry per line. Lists of plain values are
//! on one line if they fit in `COLUMNS_MAX`.

use super::parse::is_word_byte;
use super::{NESTING_MAX, SjsonTree, TreeError};
use std::fmt::Write;

/// Maximum length in characters of a line that contains a list.
const COLUMNS_MAX: usize = 100;

/// The formatting style of keys and values.
#[derive(Clone, Debug)]
pub(super) struct WriteStyle {
    /// Text between key and value.
    pub separator: String,
    pub quote_keys: bool,
    /// True if lines end with commas. Lists and objects on one line always have commas.
    pub line_commas: bool,
    pub newline: &'static str,
    /// One level of indentation.
    pub indent: &'static str,
}

impl WriteStyle {
    pub fn default_style() -> WriteStyle {
        WriteStyle {
            separator: " = ".to_string(),
            quote_keys: false,
            line_commas: false,
            newline: "\n",
            indent: "  ",
        }
    }
}

/// Writes a tree in the house layout. An object becomes a file without braces around it.
///
/// Fails for values that SJSON cannot represent: numbers that are not finite, duplicate keys, more
/// than `NESTING_MAX` levels.
pub fn write(tree: &SjsonTree) -> Result<String, TreeError> {
    check(tree, NESTING_MAX)?;
    let mut writer = SjsonWriter { style: &WriteStyle::default_style(), out: String::new() };
    if let SjsonTree::Object(entries) = tree {
        for (key, value) in entries {
            writer.entry(key, value, "");
            writer.out.push('\n');
        }
        return Ok(writer.out);
    }
    writer.lines(tree, "");
    writer.out.push('\n');
    Ok(writer.out)
}

/// Writes a value on one line, in the house layout, for reports.
pub fn line(tree: &SjsonTree) -> String {
    value_text(tree, &WriteStyle::default_style(), "", true)
}

/// Returns the text of a checked value whose line is indented by `indent`.
pub(super) fn value_text(
    tree: &SjsonTree,
    style: &WriteStyle,
    indent: &str,
    on_one_line: bool,
) -> String {
    let out = String::new();
    let mut writer = SjsonWriter { style, out };
    match on_one_line {
        true => writer.line(tree),
        false => writer.lines(tree, indent),
    }
    writer.out
}

/// Returns the text of a key, with quotes if needed.
pub(super) fn key_text(key: &str, style: &WriteStyle) -> String {
    let plain =
        |byte: u8| is_word_byte(byte) && (byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let bare = key == "*" || (!key.is_empty() && key.bytes().all(plain));
    match bare && !style.quote_keys {
        true => key.to_string(),
        false => string_text(key),
    }
}

fn string_text(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    push_string(&mut out, value, |c| c.is_ascii_control());
    out
}

/// Appends a text as a string of JSON and SJSON. `is_escaped` selects the characters that become
/// numbers, such as `\u0001`; they must include those that JSON requires, and be below U+10000.
pub fn push_string(out: &mut String, text: &str, is_escaped: impl Fn(char) -> bool) {
    out.push('"');
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            c if is_escaped(c) => "",
            _ => continue,
        };
        out.push_str(&text[copied..at]);
        match escape {
            "" => write!(out, "\\u{:04x}", u32::from(c)).expect("a string can be written to"),
            escape => out.push_str(escape),
        }
        copied = at + c.len_utf8();
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

/// Appends the shortest digits that parse to the same number. Integers have no decimal point.
pub fn push_number(out: &mut String, value: f64) {
    let size = value.abs();
    let written = match size == 0.0 || (1e-5..1e17).contains(&size) {
        true => write!(out, "{value}"),
        false => write!(out, "{value:e}"),
    };
    written.expect("a string can be written to");
}

/// Returns a number as [`push_number`] writes it.
pub(super) fn number_text(value: f64) -> String {
    let mut out = String::new();
    push_number(&mut out, value);
    out
}

/// Checks that SJSON can represent a tree of at most `levels` levels.
pub(super) fn check(tree: &SjsonTree, levels: usize) -> Result<(), TreeError> {
    match tree {
        SjsonTree::Number(value) if !value.is_finite() => Err(tree_error(format!(
            "number is {value}, which SJSON cannot hold: use a finite number"
        ))),
        SjsonTree::Array(_) | SjsonTree::Object(_) if levels == 0 => Err(tree_error(format!(
            "more than {NESTING_MAX} lists and objects in each other: nest less"
        ))),
        SjsonTree::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check(item, levels - 1)
                    .map_err(|error| prefix_path(&format!("[{}]", index + 1), error))?;
            }
            Ok(())
        }
        SjsonTree::Object(entries) => {
            let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
            keys.sort_unstable();
            if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(tree_error(format!("key '{}' is given twice: remove one", pair[0])));
            }
            for (key, value) in entries {
                check(value, levels - 1).map_err(|error| prefix_path(key, error))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn tree_error(message: String) -> TreeError {
    let path = String::new();
    TreeError { path, message }
}

/// Prepends a step to the path of an error inside a value.
pub(super) fn prefix_path(step: &str, mut error: TreeError) -> TreeError {
    let joint = match step.is_empty() || error.path.is_empty() || error.path.starts_with('[') {
        true => "",
        false => ".",
    };
    error.path = format!("{step}{joint}{}", error.path);
    error
}

struct SjsonWriter<'a> {
    style: &'a WriteStyle,
    out: String,
}

impl SjsonWriter<'_> {
    /// Writes `key = value`; the value may take several lines.
    fn entry(&mut self, key: &str, value: &SjsonTree, indent: &str) {
        self.out.push_str(&key_text(key, self.style));
        self.out.push_str(&self.style.separator);
        self.lines(value, indent);
    }

    fn lines(&mut self, tree: &SjsonTree, indent: &str) {
        let inner = format!("{indent}{}", self.style.indent);
        match tree {
            SjsonTree::Array(items) if !self.fits(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.new_line(&inner, index > 0);
                    self.lines(item, &inner);
                }
                self.new_line(indent, false);
                self.out.push(']');
            }
            SjsonTree::Object(entries) if !entries.is_empty() => {
                self.out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.new_line(&inner, index > 0);
                    self.entry(key, value, &inner);
                }
                self.new_line(indent, false);
                self.out.push('}');
            }
            _ => self.line(tree),
        }
    }

    fn new_line(&mut self, indent: &str, after_value: bool) {
        if after_value && self.style.line_commas {
            self.out.push(',');
        }
        self.out.push_str(self.style.newline);
        self.out.push_str(indent);
    }

    /// Returns true if a list of plain values fits on the rest of the current line.
    fn fits(&self, items: &[SjsonTree]) -> bool {
        let plain = |item: &SjsonTree| match item {
            SjsonTree::Array(items) => items.is_empty(),
            SjsonTree::Object(entries) => entries.is_empty(),
            _ => true,
        };
        if items.is_empty() {
            return true;
        }
        // More items than columns cannot fit. This check avoids formatting giant lists twice.
        if items.len() > COLUMNS_MAX || !items.iter().all(plain) {
            return false;
        }
        let mut trial = SjsonWriter { style: self.style, out: String::new() };
        items.iter().for_each(|item| trial.line(item));
        let commas_and_brackets = 2 * items.len();
        let line = self.out.rsplit('\n').next().map_or(0, |line| line.chars().count());
        line + trial.out.chars().count() + commas_and_brackets <= COLUMNS_MAX
    }

    /// Writes the value on the current line, whatever its length.
    fn line(&mut self, tree: &SjsonTree) {
        match tree {
            SjsonTree::Null => self.out.push_str("null"),
            SjsonTree::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            SjsonTree::Number(value) => push_number(&mut self.out, *value),
            SjsonTree::String(value) => push_string(&mut self.out, value, |c| c.is_ascii_control()),
            SjsonTree::Array(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.out.push_str(if index > 0 { ", " } else { "" });
                    self.line(item);
                }
                self.out.push(']');
            }
            SjsonTree::Object(entries) if entries.is_empty() => self.out.push_str("{}"),
            SjsonTree::Object(entries) => {
                self.out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.out.push_str(if index > 0 { ", " } else { " " });
                    self.out.push_str(&key_text(key, self.style));
                    self.out.push_str(&self.style.separator);
                    self.line(value);
                }
                self.out.push_str(" }");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// Checks that a text in the house layout is written as it was read.
    fn check_layout(text: &str) {
        let tree = parse(text).unwrap().to_tree();
        assert_eq!(write(&tree).unwrap(), text);
    }

    #[test]
    fn the_default_style_gives_the_expected_layout() {
        check_layout("name = \"Barrel\"\nsize = [1, 2.5, -3]\nempty = []\nnone = {}\n");
        check_layout("window = {\n  title = \"A \\\"b\\\"\"\n  size = [640, 480]\n}\n");
        check_layout("rows = [\n  [1, 0]\n  [0, 1]\n]\n");
        check_layout("units = [\n  {\n    id = 1\n  }\n  {\n    id = 2\n  }\n]\n");
        check_layout("\"a b\" = 1\n\"\" = 2\n\"c//d\" = 3\n* = 4\n\"x*\" = 5\n");
        check_layout("[1, [], {}]\n");
        check_layout("\"text\"\n");
        check_layout("");
        check_layout("[\n  {\n    a = null\n  }\n]\n");
    }

    #[test]
    fn long_lists_have_one_item_per_line() {
        let short = format!("a = [\"{}\"]\n", "x".repeat(92));
        assert_eq!(short.trim_end().len(), COLUMNS_MAX);
        check_layout(&short);
        check_layout(&format!("a = [\n  \"{}\"\n]\n", "x".repeat(93)));
    }

    #[test]
    fn numbers_have_the_fewest_digits() {
        for (value, text) in [
            (3.0, "3"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e16, "10000000000000000"),
            (1e17, "1e17"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
            (0.00001, "0.00001"),
            (1.5e-6, "1.5e-6"),
        ] {
            assert_eq!(number_text(value), text);
            let back = parse(text).unwrap().root().as_f64().unwrap();
            assert_eq!(back.to_bits(), value.to_bits());
        }
    }

    fn check_refused(tree: SjsonTree, message: &str) {
        assert_eq!(write(&tree).unwrap_err().to_string(), message);
    }

    fn object(key: &str, value: SjsonTree) -> SjsonTree {
        SjsonTree::Object(vec![(key.to_string(), value)])
    }

    #[test]
    fn values_without_an_sjson_form_are_refused() {
        check_refused(
            object(
                "a",
                SjsonTree::Array(vec![SjsonTree::Null, object("b", SjsonTree::Number(f64::NAN))]),
            ),
            "'a[2].b': number is NaN, which SJSON cannot hold: use a finite number",
        );
        check_refused(
            SjsonTree::Number(f64::INFINITY),
            "the whole document: number is inf, which SJSON cannot hold: use a finite number",
        );
        let twice = vec![("k".to_string(), SjsonTree::Null), ("k".to_string(), SjsonTree::Null)];
        check_refused(
            object("a", SjsonTree::Object(twice)),
            "'a': key 'k' is given twice: remove one",
        );
    }

    #[test]
    fn the_nesting_limit_is_that_of_the_reader() {
        let deep = |levels| {
            (0..levels).fold(SjsonTree::Array(vec![]), |tree, _| SjsonTree::Array(vec![tree]))
        };
        let most = write(&deep(NESTING_MAX - 1)).unwrap();
        assert!(parse(&most).is_ok());
        let error = write(&deep(NESTING_MAX)).unwrap_err();
        assert_eq!(error.message, "more than 100 lists and objects in each other: nest less");
    }

    fn random_tree(state: &mut u64, levels: usize) -> SjsonTree {
        let mut chance = |below: u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) % below
        };
        let letters =
            ['a', ' ', '"', '\\', '=', '/', '*', '\n', '\r', '\t', '\0', 'é', '😀', '\u{7f}'];
        let mut text = || -> String {
            let count = chance(6);
            (0..count).map(|_| letters[chance(letters.len() as u64) as usize]).collect()
        };
        let word = text();
        match chance(if levels == 0 { 5 } else { 8 }) {
            0 => SjsonTree::Null,
            1 => SjsonTree::Bool(chance(2) == 0),
            2 => SjsonTree::Number(chance(1000) as f64 - 500.0),
            3 => {
                let number = f64::from_bits(chance(1 << 31) << 33 | chance(1 << 31) << 2);
                SjsonTree::Number(if number.is_finite() { number } else { 0.0 })
            }
            4 => SjsonTree::String(word),
            5 | 6 => {
                let count = chance(5);
                SjsonTree::Array((0..count).map(|_| random_tree(state, levels - 1)).collect())
            }
            _ => {
                let count = chance(5);
                let entry = |i| (format!("{i}{word}"), random_tree(state, levels - 1));
                SjsonTree::Object((0..count).map(entry).collect())
            }
        }
    }

    #[test]
    fn random_trees_read_back_equal_in_every_style() {
        let json = WriteStyle {
            separator: ":".to_string(),
            quote_keys: true,
            line_commas: true,
            newline: "\r\n",
            indent: "\t",
        };
        let mut state = 7;
        for _ in 0..3_000 {
            let tree = random_tree(&mut state, 4);
            let texts = [
                write(&tree).unwrap(),
                value_text(&tree, &json, "", true),
                value_text(&tree, &json, "\t", false),
                value_text(&tree, &WriteStyle::default_style(), "", true),
            ];
            for text in texts {
                let back = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(back.to_tree(), tree, "{text}");
            }
        }
    }
}
