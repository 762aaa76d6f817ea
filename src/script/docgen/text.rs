//! Writes the API as plain text: the output of `engine docs` on a terminal.

use super::model::{ApiModel, FunctionDoc, ModuleDoc, first_sentence};
use super::{markdown, standard_library};
use crate::api::flow::manual_types;
use engine_foundation::error;
use engine_foundation::{Error, suggest};
use engine_resource::settings::{SETTINGS, Setting};

/// Returns the documentation of a node type of graphs that is no function, by its name.
pub fn node_help(name: &str) -> Option<String> {
    manual_types().iter().find(|node| node.name == name).map(engine_flow::node_text)
}

/// Maximum line length in columns; longer lines are wrapped.
const COLUMNS: usize = 88;

/// Returns a list of all modules with one sentence each.
pub fn index(api: &ApiModel) -> String {
    let mut text = String::from("Modules\n");
    text += &table(api.modules.iter().map(|module| (module.name.clone(), module.doc.as_str())));
    for (title, functions) in [
        ("Global functions", &api.globals),
        ("Callbacks", &api.callbacks),
        ("Test suites", &api.testing),
    ] {
        text += &format!("\n{title}\n");
        text += &table(functions.iter().map(|function| (function.path(), &*function.doc)));
    }
    text += "\nengine docs NAME shows more: a module (Vector3), a function (Vector3.length, or\n\
             length), a setting (limits.update_seconds), all of them (settings), or a page of the\n\
             manual (physics). engine docs WORDS searches: engine docs draw image.\n";
    text
}

/// The error for a name that is not in the API.
pub struct UnknownName {
    pub error: Error,
    /// True if the error names a similar name, or says why games do not have this one.
    pub has_suggestion: bool,
}

/// Returns the documentation of a name, or a list of the functions with this name. Upper and lower
/// case count only between names that differ in nothing else. The name of a module, a setting or a
/// whole path takes precedence over the functions that several modules have.
///
/// # Errors
/// Returns an error that suggests similar names if the name is unknown.
pub fn help(api: &ApiModel, name: &str) -> Result<String, UnknownName> {
    let same = |known: &str| known == name;
    let same_but_case = |known: &str| known.eq_ignore_ascii_case(name);
    let found = documentation(api, name, same)
        .or_else(|| documentation(api, name, same_but_case))
        .or_else(|| functions_called(api, same))
        .or_else(|| functions_called(api, same_but_case));
    found.ok_or_else(|| unknown(api, name))
}

/// Returns a list of the functions of all modules with a name.
fn functions_called(api: &ApiModel, is_same: impl Fn(&str) -> bool) -> Option<String> {
    let same: Vec<&FunctionDoc> = api.functions().filter(|item| is_same(&item.name)).collect();
    let list = || table(same.iter().map(|function| (function.path(), &*function.doc)));
    (!same.is_empty()).then(list)
}

fn documentation(api: &ApiModel, name: &str, is_same: impl Fn(&str) -> bool) -> Option<String> {
    if let Some(module) = api.modules.iter().find(|module| is_same(&module.name)) {
        return Some(module_text(module));
    }
    let mut all = api.functions().chain(&api.callbacks).chain(&api.testing);
    if let Some(function) = all.find(|function| is_same(&function.path())) {
        return Some(function_text(function));
    }
    if is_same("settings") {
        return Some(table(SETTINGS.iter().map(|item| (item.key.to_string(), item.doc))));
    }
    if let Some(setting) = SETTINGS.iter().find(|setting| is_same(setting.key)) {
        return Some(setting_text(setting));
    }
    let doc = standard_library::documentation_of(name)?;
    Some(format!("{name}\n\n{}", wrap(&doc)))
}

fn unknown(api: &ApiModel, name: &str) -> UnknownName {
    let mut names: Vec<String> = api.modules.iter().map(|module| module.name.clone()).collect();
    let others = api.callbacks.iter().chain(&api.testing);
    names.extend(api.functions().chain(others).map(FunctionDoc::path));
    names.extend(standard_library::names());
    names.extend(manual_types().into_iter().map(|node| node.name));
    names.extend(SETTINGS.iter().map(|setting| setting.key.to_string()));
    let hint = suggest::hint(name, names.iter().map(String::as_str));
    let library = name.split('.').next().unwrap_or_default();
    let is_absent = |absent: &str| absent == name || absent == library;
    let suggesting = |error| UnknownName { error, has_suggestion: true };
    if let Some((absent, why)) =
        standard_library::ABSENT.iter().find(|(absent, _)| is_absent(absent))
    {
        return suggesting(error!("games do not have Lua's '{absent}': {why}"));
    }
    if library == "love" {
        return suggesting(error!("there is no '{name}': {}", standard_library::NO_LOVE));
    }
    if !hint.is_empty() {
        return suggesting(error!("there is no '{name}' in the API{hint}"));
    }
    let error = error!("there is no '{name}' in the API: engine docs lists the modules");
    UnknownName { error, has_suggestion: false }
}

fn module_text(module: &ModuleDoc) -> String {
    let mut text = format!("{}\n\n{}", module.name, wrap(&module.doc));
    for call in &module.class.calls {
        text += &format!("\n  {}{}", module.name, call.strip_prefix("fun").unwrap_or(call));
    }
    for field in &module.class.fields {
        text += &format!("\n  .{}: {}, {}", field.name, field.kind, field.doc);
    }
    if !module.class.calls.is_empty() || !module.class.fields.is_empty() {
        text.push('\n');
    }
    text += "\nFunctions\n";
    text += &table(module.functions.iter().map(|item| (item.name.clone(), item.doc.as_str())));
    if !module.example.is_empty() {
        text += "\nExample\n";
        for line in module.example.lines() {
            text += format!("  {line}").trim_end();
            text.push('\n');
        }
    }
    text
}

fn function_text(function: &FunctionDoc) -> String {
    let mut text = format!("{}\n\n{}", function.signature(), wrap(&function.doc));
    let mut entries: Vec<(String, String)> = Vec::new();
    for param in &function.params {
        let nil = if param.optional { " (may be left out)" } else { "" };
        entries.push((param.name.clone(), format!("{}{nil}", param.doc)));
    }
    for result in &function.returns {
        match result.name.as_str() {
            "" if result.doc.is_empty() => {}
            "" => entries.push((format!("returns {}", result.kind), result.doc.clone())),
            name => {
                entries.push((format!("returns {name}: {}", result.kind), result.doc.clone()));
            }
        }
    }
    if !entries.is_empty() {
        text.push('\n');
        text += &columns(&entries);
    }
    text
}

fn setting_text(setting: &Setting) -> String {
    let kind = markdown::setting_type(setting);
    let head = format!("{} ({kind}; {} if left out)", setting.key, setting.default);
    format!("{head}\n\n{}", wrap(setting.doc))
}

/// Formats names with their first sentences.
fn table<'a>(entries: impl Iterator<Item = (String, &'a str)>) -> String {
    columns(&entries.map(|(name, doc)| (name, first_sentence(doc))).collect::<Vec<_>>())
}

/// Formats pairs of a name and a description as two columns.
pub fn columns(entries: &[(String, String)]) -> String {
    let width = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, doc) in entries {
        let lines = fill(doc, COLUMNS.saturating_sub(width + 4).max(30));
        for (i, line) in lines.iter().enumerate() {
            let name = if i == 0 { name.as_str() } else { "" };
            text += format!("  {name:width$}  {line}").trim_end();
            text.push('\n');
        }
    }
    text
}

fn wrap(text: &str) -> String {
    fill(text, COLUMNS).iter().map(|line| format!("{line}\n")).collect()
}

/// Wraps text into lines.
fn fill(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            *last += word;
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            *last += word;
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}
