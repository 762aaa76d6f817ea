//! Writes the API as JSON, for tools: `engine docs --json`. The order is that of the model, so that
//! two runs produce the same bytes.
//!
//! The root is an object with `engine` (the version), `modules`, `globals`, `callbacks`, `testing`
//! (the functions of test suites) and `settings`. A module has `name`, `doc`, `example`, `handle`,
//! `calls`, `fields`, `operators`, `functions`. A function has `name` (with its module),
//! `signature`, `doc`, `params`, `returns`, `hot`, `node` (`"action"`, `"query"` or `"hidden"`:
//! what it is in graphs) and `source` (`"rust"`, `"declared"`, or the prelude's file and line). A
//! parameter has `name`, `type`, `optional`, `doc`. A result has `type`, `rest`, `doc`. A field has
//! `name`, `type`, `doc`. A setting has `key`, `type`, `default` (SJSON text) and `doc`.

use super::model::{
    ApiModel, FieldDoc, FunctionDoc, FunctionSource, ModuleDoc, ParamDoc, ReturnDoc,
};
use engine_foundation::json::{self, object};
use engine_foundation::sjson::SjsonTree;
use engine_resource::settings::{SETTINGS, Setting};

/// Returns the whole JSON text, with a line break at its end.
pub fn text(api: &ApiModel) -> String {
    let tree = object([
        ("engine", json::text(env!("CARGO_PKG_VERSION"))),
        ("modules", list(&api.modules, module)),
        ("globals", list(&api.globals, function)),
        ("callbacks", list(&api.callbacks, function)),
        ("testing", list(&api.testing, function)),
        ("settings", list(SETTINGS, setting)),
    ]);
    json::write_indented(&tree) + "\n"
}

fn list<T>(items: &[T], item: impl Fn(&T) -> SjsonTree) -> SjsonTree {
    SjsonTree::Array(items.iter().map(item).collect())
}

fn module(module: &ModuleDoc) -> SjsonTree {
    object([
        ("name", json::text(&module.name)),
        ("doc", json::text(&module.doc)),
        ("example", json::text(&module.example)),
        ("handle", SjsonTree::Bool(module.handle)),
        ("calls", list(&module.class.calls, |call| json::text(call))),
        ("fields", list(&module.class.fields, field)),
        ("operators", list(&module.class.operators, |operator| json::text(operator))),
        ("functions", list(&module.functions, function)),
    ])
}

fn field(field: &FieldDoc) -> SjsonTree {
    object([
        ("name", json::text(&field.name)),
        ("type", json::text(&field.kind)),
        ("doc", json::text(&field.doc)),
    ])
}

fn function(function: &FunctionDoc) -> SjsonTree {
    let source = match &function.source {
        FunctionSource::Rust => "rust".to_string(),
        FunctionSource::Declared => "declared".to_string(),
        FunctionSource::Lua(file, line) => format!("{file}:{line}"),
    };
    object([
        ("name", json::text(function.path())),
        ("signature", json::text(function.signature())),
        ("doc", json::text(&function.doc)),
        ("params", list(&function.params, param)),
        ("returns", list(&function.returns, result)),
        ("hot", SjsonTree::Bool(function.hot)),
        ("node", json::text(function.node.name())),
        ("source", json::text(source)),
    ])
}

fn param(param: &ParamDoc) -> SjsonTree {
    object([
        ("name", json::text(&param.name)),
        ("type", json::text(&param.kind)),
        ("optional", SjsonTree::Bool(param.optional)),
        ("doc", json::text(&param.doc)),
    ])
}

fn result(result: &ReturnDoc) -> SjsonTree {
    object([
        ("name", json::text(&result.name)),
        ("type", json::text(&result.kind)),
        ("rest", SjsonTree::Bool(result.rest)),
        ("doc", json::text(&result.doc)),
    ])
}

fn setting(setting: &Setting) -> SjsonTree {
    object([
        ("key", json::text(setting.key)),
        ("type", json::text(super::markdown::setting_type(setting))),
        ("default", json::text(setting.default)),
        ("doc", json::text(setting.doc)),
    ])
}
