//! The API as JSON, for tools: `engine docs --json`. The order is that of the model, so that two
//! runs give the same bytes.
//!
//! An object with `engine` (the version), `modules`, `globals`, `callbacks`, `testing`
//! (the words of suites) and `settings`.
//! A module has `name`, `doc`, `example`, `handle`, `calls`, `fields`, `operators`, `functions`; a
//! function has `name` (with its module), `signature`, `doc`, `params`, `returns`, `hot` and
//! `source` (`"rust"`, `"declared"`, or the prelude's file and line); a parameter `name`, `type`,
//! `optional`, `doc`; a result `type`, `rest`, `doc`; a field `name`, `type`, `doc`; a setting
//! `key`, `type`, `default` (SJSON text) and `doc`.

use super::model::{Api, FieldDoc, FunctionDoc, ModuleDoc, ParamDoc, ReturnDoc, Source};
use crate::foundation::terminal::steers;
use crate::resource::settings::{SETTINGS, Setting};
use std::fmt::Write;

/// A piece of JSON.
enum Json {
    Text(String),
    Boolean(bool),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// The whole text, with a line break at its end.
pub fn text(api: &Api) -> String {
    let json = Json::Object(vec![
        ("engine", word(env!("CARGO_PKG_VERSION"))),
        ("modules", list(&api.modules, module)),
        ("globals", list(&api.globals, function)),
        ("callbacks", list(&api.callbacks, function)),
        ("testing", list(&api.testing, function)),
        ("settings", list(SETTINGS, setting)),
    ]);
    let mut text = String::new();
    write(&mut text, &json, 0);
    text.push('\n');
    text
}

fn word(text: &str) -> Json {
    Json::Text(text.to_string())
}

fn list<T>(items: &[T], item: impl Fn(&T) -> Json) -> Json {
    Json::List(items.iter().map(item).collect())
}

fn module(module: &ModuleDoc) -> Json {
    Json::Object(vec![
        ("name", word(&module.name)),
        ("doc", word(&module.doc)),
        ("example", word(&module.example)),
        ("handle", Json::Boolean(module.handle)),
        ("calls", list(&module.class.calls, |call| word(call))),
        ("fields", list(&module.class.fields, field)),
        ("operators", list(&module.class.operators, |operator| word(operator))),
        ("functions", list(&module.functions, function)),
    ])
}

fn field(field: &FieldDoc) -> Json {
    Json::Object(vec![
        ("name", word(&field.name)),
        ("type", word(&field.kind)),
        ("doc", word(&field.doc)),
    ])
}

fn function(function: &FunctionDoc) -> Json {
    let source = match &function.source {
        Source::Rust => "rust".to_string(),
        Source::Declared => "declared".to_string(),
        Source::Lua(file, line) => format!("{file}:{line}"),
    };
    Json::Object(vec![
        ("name", word(&function.path())),
        ("signature", word(&function.signature())),
        ("doc", word(&function.doc)),
        ("params", list(&function.params, param)),
        ("returns", list(&function.returns, result)),
        ("hot", Json::Boolean(function.hot)),
        ("source", Json::Text(source)),
    ])
}

fn param(param: &ParamDoc) -> Json {
    Json::Object(vec![
        ("name", word(&param.name)),
        ("type", word(&param.kind)),
        ("optional", Json::Boolean(param.optional)),
        ("doc", word(&param.doc)),
    ])
}

fn result(result: &ReturnDoc) -> Json {
    Json::Object(vec![
        ("type", word(&result.kind)),
        ("rest", Json::Boolean(result.rest)),
        ("doc", word(&result.doc)),
    ])
}

fn setting(setting: &Setting) -> Json {
    Json::Object(vec![
        ("key", word(setting.key)),
        ("type", Json::Text(super::markdown::setting_type(setting))),
        ("default", word(setting.default)),
        ("doc", word(setting.words)),
    ])
}

fn write(text: &mut String, json: &Json, depth: usize) {
    match json {
        Json::Text(words) => quote(text, words),
        Json::Boolean(value) => *text += if *value { "true" } else { "false" },
        Json::List(items) => {
            block(text, "[", "]", depth, items, |text, item| write(text, item, depth + 1));
        }
        Json::Object(entries) => block(text, "{", "}", depth, entries, |text, (key, value)| {
            quote(text, key);
            *text += ": ";
            write(text, value, depth + 1);
        }),
    }
}

fn block<T>(
    text: &mut String,
    open: &str,
    close: &str,
    depth: usize,
    items: &[T],
    item: impl Fn(&mut String, &T),
) {
    *text += open;
    for (i, value) in items.iter().enumerate() {
        *text += if i == 0 { "\n" } else { ",\n" };
        *text += &"  ".repeat(depth + 1);
        item(text, value);
    }
    if !items.is_empty() {
        text.push('\n');
        *text += &"  ".repeat(depth);
    }
    *text += close;
}

/// Adds a text in quotes.
pub fn quote(text: &mut String, words: &str) {
    text.push('"');
    for c in words.chars() {
        match c {
            '"' => *text += "\\\"",
            '\\' => *text += "\\\\",
            '\n' => *text += "\\n",
            '\t' => *text += "\\t",
            c if c.is_control() || steers(c) => {
                write!(text, "\\u{:04x}", u32::from(c)).expect("a string can be written to");
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_blocks_are_indented() {
        let json = Json::Object(vec![
            ("a", Json::List(vec![word("x\"\\\n\t\u{1}é"), Json::Boolean(true)])),
            ("b", Json::List(vec![])),
        ]);
        let mut text = String::new();
        write(&mut text, &json, 0);
        let wanted =
            "{\n  \"a\": [\n    \"x\\\"\\\\\\n\\t\\u0001é\",\n    true\n  ],\n  \"b\": []\n}";
        assert_eq!(text, wanted);
    }
}
