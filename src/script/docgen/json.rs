//! Writes the API as JSON, for tools: `engine docs --json`. The order is that of the model, so that
//! two runs produce the same bytes.
//!
//! The root is an object with `engine` (the version), `modules`, `globals`, `callbacks`, `testing`
//! (the functions of test suites) and `settings`. A module has `name`, `doc`, `example`, `handle`,
//! `calls`, `fields`, `operators`, `functions`. A function has `name` (with its module),
//! `signature`, `doc`, `params`, `returns`, `hot` and `source` (`"rust"`, `"declared"`, or the
//! prelude's file and line). A parameter has `name`, `type`, `optional`, `doc`. A result has
//! `type`, `rest`, `doc`. A field has `name`, `type`, `doc`. A setting has `key`, `type`, `default`
//! (SJSON text) and `doc`.

use super::model::{
    ApiModel, FieldDoc, FunctionDoc, FunctionSource, ModuleDoc, ParamDoc, ReturnDoc,
};
use engine_foundation::terminal::controls_terminal;
use engine_resource::settings::{SETTINGS, Setting};
use std::fmt::Write;

/// A JSON value.
enum JsonValue {
    Text(String),
    Boolean(bool),
    List(Vec<JsonValue>),
    Object(Vec<(&'static str, JsonValue)>),
}

/// Returns the whole JSON text, with a line break at its end.
pub fn text(api: &ApiModel) -> String {
    let json = JsonValue::Object(vec![
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

fn word(text: &str) -> JsonValue {
    JsonValue::Text(text.to_string())
}

fn list<T>(items: &[T], item: impl Fn(&T) -> JsonValue) -> JsonValue {
    JsonValue::List(items.iter().map(item).collect())
}

fn module(module: &ModuleDoc) -> JsonValue {
    JsonValue::Object(vec![
        ("name", word(&module.name)),
        ("doc", word(&module.doc)),
        ("example", word(&module.example)),
        ("handle", JsonValue::Boolean(module.handle)),
        ("calls", list(&module.class.calls, |call| word(call))),
        ("fields", list(&module.class.fields, field)),
        ("operators", list(&module.class.operators, |operator| word(operator))),
        ("functions", list(&module.functions, function)),
    ])
}

fn field(field: &FieldDoc) -> JsonValue {
    JsonValue::Object(vec![
        ("name", word(&field.name)),
        ("type", word(&field.kind)),
        ("doc", word(&field.doc)),
    ])
}

fn function(function: &FunctionDoc) -> JsonValue {
    let source = match &function.source {
        FunctionSource::Rust => "rust".to_string(),
        FunctionSource::Declared => "declared".to_string(),
        FunctionSource::Lua(file, line) => format!("{file}:{line}"),
    };
    JsonValue::Object(vec![
        ("name", word(&function.path())),
        ("signature", word(&function.signature())),
        ("doc", word(&function.doc)),
        ("params", list(&function.params, param)),
        ("returns", list(&function.returns, result)),
        ("hot", JsonValue::Boolean(function.hot)),
        ("source", JsonValue::Text(source)),
    ])
}

fn param(param: &ParamDoc) -> JsonValue {
    JsonValue::Object(vec![
        ("name", word(&param.name)),
        ("type", word(&param.kind)),
        ("optional", JsonValue::Boolean(param.optional)),
        ("doc", word(&param.doc)),
    ])
}

fn result(result: &ReturnDoc) -> JsonValue {
    JsonValue::Object(vec![
        ("type", word(&result.kind)),
        ("rest", JsonValue::Boolean(result.rest)),
        ("doc", word(&result.doc)),
    ])
}

fn setting(setting: &Setting) -> JsonValue {
    JsonValue::Object(vec![
        ("key", word(setting.key)),
        ("type", JsonValue::Text(super::markdown::setting_type(setting))),
        ("default", word(setting.default)),
        ("doc", word(setting.doc)),
    ])
}

fn write(text: &mut String, json: &JsonValue, depth: usize) {
    match json {
        JsonValue::Text(value) => quote(text, value),
        JsonValue::Boolean(value) => *text += if *value { "true" } else { "false" },
        JsonValue::List(items) => {
            block(text, "[", "]", depth, items, |text, item| write(text, item, depth + 1));
        }
        JsonValue::Object(entries) => {
            block(text, "{", "}", depth, entries, |text, (key, value)| {
                quote(text, key);
                *text += ": ";
                write(text, value, depth + 1);
            })
        }
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

/// Appends a quoted and escaped string.
pub fn quote(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => *text += "\\\"",
            '\\' => *text += "\\\\",
            '\n' => *text += "\\n",
            '\t' => *text += "\\t",
            c if c.is_control() || controls_terminal(c) => {
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
        let json = JsonValue::Object(vec![
            ("a", JsonValue::List(vec![word("x\"\\\n\t\u{1}é"), JsonValue::Boolean(true)])),
            ("b", JsonValue::List(vec![])),
        ]);
        let mut text = String::new();
        write(&mut text, &json, 0);
        let wanted =
            "{\n  \"a\": [\n    \"x\\\"\\\\\\n\\t\\u0001é\",\n    true\n  ],\n  \"b\": []\n}";
        assert_eq!(text, wanted);
    }
}
