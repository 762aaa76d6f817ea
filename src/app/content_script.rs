//! Scripts of `engine script`: a Lua file that gets each resource of a game as a table, and changes
//! its data. Runs it in a VM of its own, as games are run, and returns the new texts of the files.
//! Writes no source.

use crate::resource_kinds::KINDS;
use crate::{App, Game, GameLaunch};
use engine_content::model::{self, Guid, Model};
use engine_content::references::{ContentGraph, Target, has_text_format};
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, Document, SjsonTree, ValueKind};
use engine_foundation::{Error, error, log};
use engine_platform as platform;
use engine_resource::image::stated_size;
use engine_resource::resource_kind::SourceForm;
use engine_resource::resource_name::{ResourceName, SourceName};
use engine_resource::store::ResourceStore;
use engine_script::{ScriptValue, Vm};
use std::path::Path;

/// CPU time of the script for one resource, in seconds, if the command line gives none.
pub const RESOURCE_SECONDS: f64 = 10.0;

/// A source that a script has changed, or a new one.
#[derive(Clone, Debug)]
pub struct ScriptedChange {
    pub path: String,
    /// Bytes of the file before; `None` if it is new.
    pub old: Option<Vec<u8>>,
    pub text: String,
}

/// Runs a script over all resources of a game that can have a source in SJSON.
///
/// # Errors
/// Returns an error with the stack of the script if it fails. A source that cannot be read is a
/// warning, and is left out.
pub fn run(
    graph: &ContentGraph,
    script_name: &str,
    script: &str,
    seconds: f64,
) -> Result<Vec<ScriptedChange>, Error> {
    let launch = GameLaunch {
        boot: Some("tools.check".to_string()),
        // The script works on sources: nothing is compiled.
        store: Some(ResourceStore::empty(KINDS)),
        ..GameLaunch::headless(Game::Folder(graph.root.clone()))
    };
    let mut app = App::open(launch)?;
    let vm = app.vm();
    vm.set_time_remedy("give engine script a larger number with --seconds");
    let arguments = [script, script_name].map(|text| ScriptValue::Text(text.to_string()));
    let loaded = vm
        .call_core("load_content_script", &arguments, seconds)
        .map_err(|report| Error::new(report.to_string()))?;
    if let Some(SjsonTree::String(problem)) = loaded.to_tree().get("problem") {
        return Err(Error::new(problem.clone()));
    }
    let mut changes = Vec::new();
    for target in graph.targets() {
        let Target::Resource(resource) = target else { continue };
        if platform::end_requested().is_some() {
            return Err(error!("stopped: nothing was changed"));
        }
        if has_text_format(&resource.kind) {
            let paths = graph.files_of(target).iter().map(|at| &graph.files[*at].path[..]);
            let paths: Vec<&str> = paths.collect();
            let mut script = RunningScript { vm: &mut *vm, root: &graph.root, seconds };
            visit_resource(&mut script, resource, &paths, &mut changes)?;
        }
    }
    Ok(changes)
}

/// The VM of a loaded script.
struct RunningScript<'a> {
    vm: &'a mut Vm,
    root: &'a Path,
    /// CPU time for one resource.
    seconds: f64,
}

/// Calls the script for each source of a resource in SJSON, or once if it has none.
fn visit_resource(
    script: &mut RunningScript,
    resource: &ResourceName,
    paths: &[&str],
    changes: &mut Vec<ScriptedChange>,
) -> Result<(), Error> {
    let is_own = |path: &&&str| {
        let name = SourceName::of(path, &KINDS).and_then(Result::ok);
        name.is_some_and(|name| name.form == SourceForm::Own)
    };
    let sources: Vec<&str> = paths.iter().filter(is_own).copied().collect();
    let picture = paths.iter().find(|path| !is_own(path));
    let size = picture.and_then(|path| {
        let bytes = file_access::read(script.root, path, &readers::SOURCE).ok()?;
        stated_size(&bytes)
    });
    let new_path = resource.to_string();
    match sources.is_empty() {
        true => visit(script, &ScriptedFile { resource, paths, size, path: &new_path }, changes),
        false => sources.iter().try_for_each(|path| {
            visit(script, &ScriptedFile { resource, paths, size, path }, changes)
        }),
    }
}

/// A file that a script gets.
struct ScriptedFile<'a> {
    resource: &'a ResourceName,
    paths: &'a [&'a str],
    size: Option<(u32, u32)>,
    path: &'a str,
}

impl ScriptedFile<'_> {
    fn table(&self, data: &SjsonTree) -> ScriptValue {
        let text = |text: &str| ScriptValue::Text(text.to_string());
        let mut entries = vec![
            ("path".to_string(), text(self.path)),
            ("kind".to_string(), text(&self.resource.kind)),
            ("name".to_string(), text(&self.resource.name)),
            (
                "files".to_string(),
                ScriptValue::List(self.paths.iter().map(|path| text(path)).collect()),
            ),
            ("data".to_string(), ScriptValue::from_tree(data)),
        ];
        if let Some((width, height)) = self.size {
            entries.push(("width".to_string(), ScriptValue::Number(f64::from(width))));
            entries.push(("height".to_string(), ScriptValue::Number(f64::from(height))));
        }
        ScriptValue::Table(entries)
    }
}

fn visit(
    script: &mut RunningScript,
    file: &ScriptedFile,
    changes: &mut Vec<ScriptedChange>,
) -> Result<(), Error> {
    let path = file.path;
    let old = match file.paths.contains(&path) {
        true => Some(
            file_access::read(script.root, path, &readers::SOURCE_TEXT)
                .map_err(|refusal| Error::new(refusal.message(path)))?,
        ),
        false => None,
    };
    let document = match old.as_deref().map(sjson::parse_bytes).transpose() {
        Ok(document) => document,
        Err(problem) => {
            log::warning(&format!("left out: {}", problem.in_file(path)));
            return Ok(());
        }
    };
    let before = document.as_ref().map_or(SjsonTree::Null, Document::to_tree);
    if has_null_item(&before) {
        log::warning(&format!("left out: {path} has null in a list, which Lua cannot have"));
        return Ok(());
    }
    let result = script
        .vm
        .call_core("visit_content", &[file.table(&before)], script.seconds)
        .map_err(|report| error!("{path}: {report}"))?;
    let result = result.to_tree();
    if let Some(SjsonTree::String(problem)) = result.get("problem") {
        return Err(error!("{path}: {problem}"));
    }
    let after = match result {
        SjsonTree::Object(entries) => entries.into_iter().find(|(key, _)| key == "data"),
        _ => None,
    };
    let after = after.map_or(SjsonTree::Null, |(_, data)| with_lists(&before, data));
    let text = match (&document, &after) {
        (None, SjsonTree::Null) => return Ok(()),
        (Some(_), SjsonTree::Null) => {
            return Err(error!("{path}: the script removed the data: use `engine rm` for a file"));
        }
        (_, after) => new_text(path, document, after)?,
    };
    if old.as_deref() != Some(text.as_bytes()) {
        changes.push(ScriptedChange { path: path.to_string(), old, text });
    }
    Ok(())
}

/// Returns the text of a source with new data. The bytes of values that have not changed stay.
fn new_text(path: &str, document: Option<Document>, after: &SjsonTree) -> Result<String, Error> {
    let failed = |message: String| error!("{path}: {message}");
    let Some(document) = document else {
        return sjson::write(after).map_err(|message| failed(message.to_string()));
    };
    let wanted = Document::from_tree(after).map_err(|error| failed(error.message))?;
    let is_list = |document: &Document| document.root().kind() == ValueKind::Array;
    if is_list(&wanted) != is_list(&document) {
        return Err(failed("the data must stay a list or an object, as it was".to_string()));
    }
    let mut model = Model::new();
    model::load(&mut model, Guid::ROOT, &wanted).map_err(failed)?;
    let saved = model::save(&model, Guid::ROOT, document).map_err(failed)?;
    Ok(saved.into_text())
}

fn has_null_item(tree: &SjsonTree) -> bool {
    match tree {
        SjsonTree::Array(items) => {
            items.iter().any(|item| *item == SjsonTree::Null || has_null_item(item))
        }
        SjsonTree::Object(entries) => entries.iter().any(|(_, value)| has_null_item(value)),
        _ => false,
    }
}

/// Turns empty tables of Lua, which could be both, into empty lists where a list was.
fn with_lists(old: &SjsonTree, new: SjsonTree) -> SjsonTree {
    match (old, new) {
        (SjsonTree::Array(_), SjsonTree::Object(entries)) if entries.is_empty() => {
            SjsonTree::Array(Vec::new())
        }
        (SjsonTree::Array(old), SjsonTree::Array(items)) => {
            let pairs = items.into_iter().enumerate();
            let null = SjsonTree::Null;
            SjsonTree::Array(
                pairs.map(|(at, item)| with_lists(old.get(at).unwrap_or(&null), item)).collect(),
            )
        }
        (old, SjsonTree::Object(entries)) => {
            let entries = entries.into_iter().map(|(key, value)| {
                let value = with_lists(old.get(&key).unwrap_or(&SjsonTree::Null), value);
                (key, value)
            });
            SjsonTree::Object(entries.collect())
        }
        (_, new) => new,
    }
}
