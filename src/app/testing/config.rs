//! A library's `.busted` file: read, and merged with the command line, which has precedence. Its
//! keys are interpreted in Lua (lua/test/config.lua), because the file is a script.

use super::discovery::{self, DiscoveredTests, folders_of_lpath};
use super::{RunAborted, TestOptions, test_file};
use crate::resource_kinds::KINDS;
use crate::{App, exit};
use engine_foundation::file_access::{self, AccessError, readers};
use engine_foundation::log;
use engine_resource::store::ResourceStore;
use engine_script::{ErrorReport, ScriptValue};
use std::path::Path;

/// Name of the file.
pub const FILE: &str = ".busted";
/// Time limit of the file, in seconds of CPU time.
const SECONDS_MAX: f64 = 1.0;

/// Finds the tests that the options and the folder's `.busted` file select.
pub fn find(root: &Path, options: &mut TestOptions) -> Result<DiscoveredTests, RunAborted> {
    let mut app = None;
    // A pipe or a link of that name is reported when it is read.
    let is_there = !matches!(file_access::inspect(root, FILE), Err(why) if why.is_missing());
    if options.config && is_there {
        let config = open(root, options)?;
        read(root, app.insert(config), options)?;
    } else if let Some(task) = &options.task {
        return Err(usage_error(format!(
            "--run {task}: there is no file '{}' that has tasks",
            root.join(FILE).display()
        )));
    }
    let search_roots = options.search_roots.clone();
    let choose = |files: Vec<String>| {
        let list = |items: &[String]| {
            ScriptValue::List(items.iter().cloned().map(ScriptValue::Text).collect())
        };
        let app = match &mut app {
            Some(app) => app,
            None => app.insert(open(root, options)?),
        };
        // Only exclusions are set, so the usual names apply.
        let usual = ["_spec%.lua$".to_string(), "_test%.lua$".to_string()];
        let patterns =
            if search_roots.patterns.is_empty() { &usual[..] } else { &search_roots.patterns };
        let arguments = [list(&files), list(patterns), list(&search_roots.excludes)];
        match app.vm().call_core("test_chosen", &arguments, SECONDS_MAX).map_err(stop)? {
            ScriptValue::Text(message) => Err(usage_error(message)),
            chosen => Ok(texts(&chosen)),
        }
    };
    discovery::find((root, &options.start), &options.files, &search_roots, choose)
}

/// Opens an engine to run the file, which searches modules in the same folders as the tests'
/// engines.
fn open(root: &Path, options: &TestOptions) -> Result<App, RunAborted> {
    let mut app = test_file::open(root, options, ResourceStore::empty(KINDS))?;
    let folders = discovery::script_folders(root, FILE, &options.lpath);
    test_file::set_folders(&mut app, options, folders).map_err(stop)?;
    Ok(app)
}

fn usage_error(message: String) -> RunAborted {
    RunAborted { code: exit::USAGE, message }
}

fn stop(report: Box<ErrorReport>) -> RunAborted {
    RunAborted { code: exit::FAILED, message: format!("{FILE}: {report}") }
}

/// Applies the file's settings to options that the command line leaves open.
fn read(root: &Path, app: &mut App, options: &mut TestOptions) -> Result<(), RunAborted> {
    let shown = root.join(FILE);
    let unusable = |message: String| {
        usage_error(format!(
            "'{}' cannot be used: {message} (--no-config runs the tests without it)",
            shown.display()
        ))
    };
    let text = read_text(root, FILE).map_err(|reason| unusable(reason.to_string()))?;
    let task = options.task.clone().map_or(ScriptValue::Nil, ScriptValue::Text);
    let read = app.vm().call_core("test_config", &[ScriptValue::Text(text), task], SECONDS_MAX);
    let read = read.map_err(stop)?;
    if let ScriptValue::Text(message) = read {
        return Err(unusable(message));
    }
    for warning in texts(field(&read, "warnings").unwrap_or(&ScriptValue::Nil)) {
        log::warning(&format!("{}: {warning}", shown.display()));
    }
    let settings = field(&read, "settings").unwrap_or(&ScriptValue::Nil);
    apply(root, settings, options).map_err(unusable)?;
    if let Some(ScriptValue::Text(file)) = field(settings, "exclude-names-file") {
        let names = read_text(root, file).map_err(|reason| {
            unusable(format!("exclude-names-file: '{file}' cannot be read: {reason}"))
        })?;
        let names = names.lines().map(str::trim).filter(|name| !name.is_empty());
        options.exclude_names.extend(names.map(str::to_string));
    }
    Ok(())
}

fn read_text(root: &Path, path: &str) -> Result<String, AccessError> {
    file_access::read_text(root, path, &readers::SUITE_CONFIG)
}

/// Refuses a path in the file that leads out of the library's folder. Suites without the Lua
/// sandbox are trusted with the whole disk.
fn check_inside(key: &str, path: &str, options: &TestOptions) -> Result<(), String> {
    match options.sandbox && !file_access::stays_inside(path) {
        true => Err(format!(
            "'{key}' names '{path}', which is outside of the folder: name a place in it, or run \
             the suites with --no-sandbox"
        )),
        false => Ok(()),
    }
}

/// Fills options that are still open.
fn apply(root: &Path, settings: &ScriptValue, options: &mut TestOptions) -> Result<(), String> {
    let list = |key: &str| field(settings, key).map(texts).unwrap_or_default();
    let flag = |key: &str| matches!(field(settings, key), Some(ScriptValue::Boolean(true)));
    let text = |key: &str| match field(settings, key) {
        Some(ScriptValue::Text(text)) => Some(text.clone()),
        _ => None,
    };
    for (key, open) in [
        ("pattern", &mut options.search_roots.patterns),
        ("exclude-pattern", &mut options.search_roots.excludes),
        ("tags", &mut options.tags),
        ("exclude-tags", &mut options.exclude_tags),
        ("filter", &mut options.filter),
        ("filter-out", &mut options.filter_out),
        ("name", &mut options.names),
        ("Xhelper", &mut options.helper_arguments),
        ("e", &mut options.statements),
    ] {
        if open.is_empty() {
            *open = list(key);
        }
    }
    options.search_roots.roots = list("ROOT");
    if options.search_roots.roots.is_empty() && field(settings, "pattern").is_some() {
        options.search_roots.roots = vec!["spec".to_string()];
    }
    if let Some(lpath) = text("lpath") {
        let folders = folders_of_lpath(&lpath)?;
        folders.iter().try_for_each(|folder| check_inside("lpath", folder, options))?;
        options.lpath.extend(folders);
    }
    if let Some(helper) = text("helper").filter(|helper| !helper.is_empty()) {
        check_inside("helper", &helper, options)?;
        options.helper.get_or_insert(helper);
    }
    options.shuffle |= ["shuffle", "shuffle-files", "shuffle-tests"].into_iter().any(flag);
    options.sort |= ["sort", "sort-files", "sort-tests"].into_iter().any(flag);
    options.list |= flag("list");
    options.search_roots.flat =
        matches!(field(settings, "recursive"), Some(ScriptValue::Boolean(false)));
    if let Some(form) = text("output").filter(|form| !form.is_empty())
        && options.output_files.is_empty()
    {
        options.output.get_or_insert(form);
    }
    if let Some(file) = text("log-success").filter(|file| !file.is_empty()) {
        options.log_success.get_or_insert(file);
    }
    if flag("coverage") && options.coverage.is_none() {
        options.coverage = Some(root.join(super::COVERAGE_FILE));
    }
    if let Some(ScriptValue::Number(count)) = field(settings, "repeat") {
        options.repeat = options.repeat.max(*count as u32);
    }
    options.fail_fast |= matches!(field(settings, "keep-going"), Some(ScriptValue::Boolean(false)));
    if let Some(ScriptValue::Number(seed)) = field(settings, "seed") {
        options.seed = options.seed.or(Some(seed.abs() as u64));
    }
    Ok(())
}

fn field<'a>(value: &'a ScriptValue, key: &str) -> Option<&'a ScriptValue> {
    let ScriptValue::Table(entries) = value else { return None };
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn texts(value: &ScriptValue) -> Vec<String> {
    let ScriptValue::List(items) = value else { return Vec::new() };
    let text = |item: &ScriptValue| match item {
        ScriptValue::Text(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}
