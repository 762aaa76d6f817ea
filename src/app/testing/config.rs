//! A library's `.busted` file: read, and put behind what the command line says. What its keys mean
//! is Lua's to say (lua/test/config.lua), for the file is a script.

use super::discovery::{self, Found, folders_of_lpath};
use super::{Options, Stop, file};
use crate::app::{App, exit};
use crate::foundation::file_access::{self, Refusal, readers};
use crate::foundation::log;
use crate::resource::store::Store;
use crate::script::{Report, Value};
use std::path::Path;

/// The file's name.
pub const FILE: &str = ".busted";
/// CPU time that the file may take.
const SECONDS_MAX: f64 = 1.0;

/// Finds the tests, by the options and by what the folder's file adds to them.
pub fn find(root: &Path, options: &mut Options) -> Result<Found, Stop> {
    let mut app = None;
    // A pipe or a link of that name is told where it is read.
    let is_there = !matches!(file_access::inspect(root, FILE), Err(why) if why.is_missing());
    if options.config && is_there {
        let config = open(root, options)?;
        read(root, app.insert(config), options)?;
    } else if let Some(task) = &options.task {
        return Err(refused(format!(
            "--run {task}: there is no file '{}' that has tasks",
            root.join(FILE).display()
        )));
    }
    let places = options.places.clone();
    let choose = |files: Vec<String>| {
        let list = |items: &[String]| Value::List(items.iter().cloned().map(Value::Text).collect());
        let app = match &mut app {
            Some(app) => app,
            None => app.insert(open(root, options)?),
        };
        // Only what is left out is said: the names are the usual ones.
        let usual = ["_spec%.lua$".to_string(), "_test%.lua$".to_string()];
        let patterns = if places.patterns.is_empty() { &usual[..] } else { &places.patterns };
        let arguments = [list(&files), list(patterns), list(&places.excludes)];
        match app.vm().call_core("test_chosen", &arguments, SECONDS_MAX).map_err(stop)? {
            Value::Text(words) => Err(refused(words)),
            chosen => Ok(texts(&chosen)),
        }
    };
    discovery::find((root, &options.start), &options.files, &places, choose)
}

/// An engine to ask, which finds modules where the tests' engines do.
fn open(root: &Path, options: &Options) -> Result<App, Stop> {
    let mut app = file::open(root, options, Store::default())?;
    let folders = discovery::script_folders(root, FILE, &options.lpath);
    file::set_folders(&mut app, options, folders).map_err(stop)?;
    Ok(app)
}

fn refused(words: String) -> Stop {
    Stop { code: exit::USAGE, words }
}

fn stop(report: Box<Report>) -> Stop {
    Stop { code: exit::FAILED, words: format!("{FILE}: {report}") }
}

/// Puts the file's settings where the command line says nothing.
fn read(root: &Path, app: &mut App, options: &mut Options) -> Result<(), Stop> {
    let shown = root.join(FILE);
    let unusable = |words: String| {
        refused(format!(
            "'{}' cannot be used: {words} (--no-config runs the tests without it)",
            shown.display()
        ))
    };
    let text = read_text(root, FILE).map_err(|reason| unusable(reason.to_string()))?;
    let task = options.task.clone().map_or(Value::Nil, Value::Text);
    let read = app.vm().call_core("test_config", &[Value::Text(text), task], SECONDS_MAX);
    let read = read.map_err(stop)?;
    if let Value::Text(words) = read {
        return Err(unusable(words));
    }
    for warning in texts(field(&read, "warnings").unwrap_or(&Value::Nil)) {
        log::warning(&format!("{}: {warning}", shown.display()));
    }
    let settings = field(&read, "settings").unwrap_or(&Value::Nil);
    apply(root, settings, options).map_err(unusable)?;
    if let Some(Value::Text(file)) = field(settings, "exclude-names-file") {
        let names = read_text(root, file).map_err(|reason| {
            unusable(format!("exclude-names-file: '{file}' cannot be read: {reason}"))
        })?;
        let names = names.lines().map(str::trim).filter(|name| !name.is_empty());
        options.exclude_names.extend(names.map(str::to_string));
    }
    Ok(())
}

fn read_text(root: &Path, path: &str) -> Result<String, Refusal> {
    file_access::read_text(root, path, &readers::SUITE_CONFIG)
}

/// Refuses a path that the file names outside of the library's folder. Suites without the sandbox
/// are trusted with the whole disk.
fn check_inside(key: &str, path: &str, options: &Options) -> Result<(), String> {
    match options.sandbox && !file_access::stays_inside(path) {
        true => Err(format!(
            "'{key}' names '{path}', which is outside of the folder: name a place in it, or run \
             the suites with --no-sandbox"
        )),
        false => Ok(()),
    }
}

/// Fills what the options leave open.
fn apply(root: &Path, settings: &Value, options: &mut Options) -> Result<(), String> {
    let list = |key: &str| field(settings, key).map(texts).unwrap_or_default();
    let flag = |key: &str| matches!(field(settings, key), Some(Value::Boolean(true)));
    let text = |key: &str| match field(settings, key) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    for (key, open) in [
        ("pattern", &mut options.places.patterns),
        ("exclude-pattern", &mut options.places.excludes),
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
    options.places.roots = list("ROOT");
    if options.places.roots.is_empty() && field(settings, "pattern").is_some() {
        options.places.roots = vec!["spec".to_string()];
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
    options.places.flat = matches!(field(settings, "recursive"), Some(Value::Boolean(false)));
    if let Some(form) = text("output").filter(|form| !form.is_empty()) {
        options.output = options.output.take().or(Some(form));
    }
    if let Some(file) = text("log-success").filter(|file| !file.is_empty()) {
        options.log_success.get_or_insert(file);
    }
    if flag("coverage") && options.coverage.is_none() {
        options.coverage = Some(root.join(super::COVERAGE_FILE));
    }
    if let Some(Value::Number(count)) = field(settings, "repeat") {
        options.repeat = options.repeat.max(*count as u32);
    }
    options.fail_fast |= matches!(field(settings, "keep-going"), Some(Value::Boolean(false)));
    if let Some(Value::Number(seed)) = field(settings, "seed") {
        options.seed = options.seed.or(Some(seed.abs() as u64));
    }
    Ok(())
}

fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let Value::Table(entries) = value else { return None };
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn texts(value: &Value) -> Vec<String> {
    let Value::List(items) = value else { return Vec::new() };
    let text = |item: &Value| match item {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}
