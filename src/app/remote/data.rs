//! Sources that tools edit as objects: opening, operations in one order for all clients, undo of
//! each client's own steps, saving with a merge of what changed on disk. The model is in
//! src/content/model, the rows of the messages in remote/data_messages.rs.

use super::message_table::{boolean, text};
use super::{ConnectedClient, IncomingCall, Refusal, RemoteState};
use crate::resource_kinds::KINDS;
use engine_content::merge::{MergeOptions, MergeSide, MergeTexts, Merged, SIDE_LABELS, merge};
use engine_content::model::{
    self, Guid, History, Model, Operation, operation_from_tree, operation_to_tree, value_to_tree,
};
use engine_content::references::has_text_format;
use engine_foundation::file_access::{self, readers};
use engine_foundation::json::{self, object};
use engine_foundation::sjson::{self, Document, SjsonTree};
use engine_platform::broker;
use engine_remote::Bytes;
use engine_resource::resource_kind::SourceForm;
use engine_resource::resource_name::{SourceName, is_inside};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Maximum number of sources that are open at once.
const SOURCES_MAX: usize = 64;
/// Maximum number of operations in one message.
const OPERATIONS_MAX: usize = 200_000;
/// Maximum number of conflicts in an answer.
const CONFLICTS_MAX: usize = 1_000;

type Answer = Result<Option<SjsonTree>, Refusal>;

/// The sources that are open, and the messages to subscribers that are not sent yet.
#[derive(Default)]
pub struct OpenSources {
    sources: BTreeMap<String, OpenSource>,
    events: Vec<SourceEvent>,
}

/// A source that clients edit.
struct OpenSource {
    model: Model,
    /// Text of the file when it was opened or saved last.
    text: String,
    /// Number of operations so far.
    sequence: u64,
    is_changed: bool,
    /// Steps of the clients, by their number.
    histories: HashMap<u64, History>,
    subscribers: Vec<u64>,
    /// Clients that have opened it.
    clients: Vec<u64>,
}

/// Operations that were applied, for subscribers.
struct SourceEvent {
    path: String,
    subscribers: Vec<u64>,
    message: Bytes,
}

/// Reasons of operations in messages to subscribers.
#[derive(Clone, Copy)]
enum Reason {
    Operations,
    Undo,
    Redo,
    Revert,
    /// The file has changed, and was merged.
    Disk,
}

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Reason::Operations => "operations",
            Reason::Undo => "undo",
            Reason::Redo => "redo",
            Reason::Revert => "revert",
            Reason::Disk => "disk",
        }
    }
}

fn refuse(message: impl Into<String>) -> Refusal {
    Refusal::of(message)
}

/// Returns true if a file is a source in SJSON or JSON, and the path is its only one.
fn is_data(path: &str) -> bool {
    if !is_inside(path) || path.split('/').any(str::is_empty) {
        return false;
    }
    let name = SourceName::of(path, &KINDS).and_then(Result::ok);
    name.is_some_and(|name| name.form == SourceForm::Own && has_text_format(&name.resource.kind))
}

fn read(folder: &Path, path: &str) -> Result<String, Refusal> {
    let bytes = file_access::read(folder, path, &readers::SOURCE_TEXT)
        .map_err(|refusal| refuse(refusal.message(path)))?;
    String::from_utf8(bytes).map_err(|_| refuse(format!("{path}: it is not UTF-8")))
}

fn parse(path: &str, text: &str) -> Result<Document, Refusal> {
    sjson::parse(text).map_err(|error| refuse(error.in_file(path)))
}

fn model_of(path: &str, text: &str) -> Result<Model, Refusal> {
    let mut model = Model::new();
    let document = parse(path, text)?;
    model::load(&mut model, Guid::ROOT, &document)
        .map_err(|error| refuse(format!("{path}: {error}")))?;
    Ok(model)
}

impl OpenSources {
    /// Sends the operations of this frame, in their order.
    pub fn send(&mut self, clients: &[ConnectedClient]) {
        for event in self.events.drain(..) {
            let SourceEvent { path, subscribers, message } = event;
            let receivers =
                clients.iter().filter(|client| subscribers.contains(&client.peer.number));
            for client in receivers {
                // A client that does not keep up notices the gap in the sequence, and opens the
                // source again.
                if !client.peer.offer(&message) {
                    engine_foundation::log::info(&format!(
                        "a tool does not keep up with the operations on {path}"
                    ));
                }
            }
        }
    }

    /// Forgets a client, and the sources that nobody has open any more. Unsaved changes stay.
    pub fn remove_client(&mut self, number: u64) {
        for source in self.sources.values_mut() {
            source.histories.remove(&number);
            source.subscribers.retain(|known| *known != number);
            source.clients.retain(|known| *known != number);
        }
        self.sources.retain(|_, source| source.is_changed || !source.clients.is_empty());
    }
}

impl OpenSource {
    /// Notes operations that the model has, and returns the answer about them.
    fn note(
        &mut self,
        path: &str,
        author: u64,
        reason: Reason,
        operations: &[Operation],
    ) -> (SjsonTree, Option<SourceEvent>) {
        let first = self.sequence + 1;
        self.sequence += operations.len() as u64;
        let answer = object([
            ("sequence", SjsonTree::Number(first as f64)),
            ("operations", json::count(operations.len())),
        ]);
        if operations.is_empty() {
            return (answer, None);
        }
        self.is_changed = true;
        if self.subscribers.is_empty() {
            return (answer, None);
        }
        let list = operations.iter().map(|it| operation_to_tree(&self.model, it)).collect();
        let message = object([
            ("type", json::text("data")),
            ("path", json::text(path)),
            ("sequence", SjsonTree::Number(first as f64)),
            ("author", SjsonTree::Number(author as f64)),
            ("reason", json::text(reason.name())),
            ("operations", SjsonTree::Array(list)),
        ]);
        let event = SourceEvent {
            path: path.to_string(),
            subscribers: self.subscribers.clone(),
            message: Bytes::from(json::write(&message)),
        };
        (answer, Some(event))
    }
}

/// Calls a function with the source that a message names, which must be open, and queues the
/// message to subscribers.
fn with_source(
    call: &mut IncomingCall,
    reason: Reason,
    change: impl FnOnce(&mut OpenSource, u64) -> Result<Vec<Operation>, Refusal>,
) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default();
    let author = call.reply.peer.number;
    let source = opened(call.state, path)?;
    let operations = change(source, author)?;
    let (answer, event) = source.note(path, author, reason, &operations);
    call.state.data.events.extend(event);
    Ok(Some(answer))
}

fn opened<'s>(state: &'s mut RemoteState, path: &str) -> Result<&'s mut OpenSource, Refusal> {
    let source = state.data.sources.get_mut(path);
    source.ok_or_else(|| refuse(format!("'{path}' is not open: send 'data_open' first")))
}

/// Opens a source.
pub fn open(call: &mut IncomingCall) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default();
    if call.app.game_folder().is_none() {
        return Err(refuse("a bundle has no sources"));
    }
    if !is_data(path) {
        return Err(refuse(format!("'{path}' is not the path of a source in SJSON")));
    }
    let on_disk = read(&call.state.folder, path)?;
    let sources = &mut call.state.data.sources;
    if !sources.contains_key(path) {
        if sources.len() >= SOURCES_MAX {
            return Err(refuse(format!("{SOURCES_MAX} sources are open (SOURCES_MAX)")));
        }
        let source = OpenSource {
            model: model_of(path, &on_disk)?,
            text: on_disk.clone(),
            sequence: 0,
            is_changed: false,
            histories: HashMap::new(),
            subscribers: Vec::new(),
            clients: Vec::new(),
        };
        sources.insert(path.to_string(), source);
    }
    let author = call.reply.peer.number;
    let source = opened(call.state, path)?;
    if !source.clients.contains(&author) {
        source.clients.push(author);
    }
    let model = &source.model;
    let of_object = |guid: Guid| {
        let entries = model.entries(guid).into_iter();
        let entries = entries.map(|(key, value)| (key.to_string(), value_to_tree(value)));
        (guid.to_string(), SjsonTree::Object(entries.collect()))
    };
    let objects = model.objects().into_iter().map(of_object).collect();
    Ok(Some(object([
        ("path", json::text(path)),
        ("sequence", SjsonTree::Number(source.sequence as f64)),
        ("unsaved", SjsonTree::Bool(source.is_changed)),
        ("on_disk", SjsonTree::Bool(source.text == on_disk)),
        ("root", json::text(Guid::ROOT.to_string())),
        ("objects", SjsonTree::Object(objects)),
    ])))
}

/// Returns the text of an open source with all changes, as it would be saved without a merge.
pub fn open_text(state: &mut RemoteState, path: &str) -> Result<String, Refusal> {
    let source = opened(state, path)?;
    let document = parse(path, &source.text)?;
    model::save(&source.model, Guid::ROOT, document)
        .map(Document::into_text)
        .map_err(|error| refuse(format!("{path} cannot be shown: {error}")))
}

/// Begins or ends the messages about operations.
pub fn subscribe(call: &mut IncomingCall) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default();
    let is_on = call.fields.get("on").is_none() || boolean(call.fields, "on");
    let author = call.reply.peer.number;
    let source = opened(call.state, path)?;
    source.subscribers.retain(|known| *known != author);
    if is_on {
        source.subscribers.push(author);
    }
    Ok(Some(object([
        ("client", SjsonTree::Number(author as f64)),
        ("sequence", SjsonTree::Number(source.sequence as f64)),
    ])))
}

/// Applies operations.
pub fn operations(call: &mut IncomingCall) -> Answer {
    let list = text(call.fields, "operations").unwrap_or_default();
    let list = json::read(list).map_err(|message| refuse(format!("'operations': {message}")))?;
    let SjsonTree::Array(list) = list else {
        return Err(refuse("'operations' is a list of operations as JSON text"));
    };
    if list.len() > OPERATIONS_MAX {
        return Err(refuse(format!("more than {OPERATIONS_MAX} operations (OPERATIONS_MAX)")));
    }
    with_source(call, Reason::Operations, |source, author| {
        let mut operations = Vec::with_capacity(list.len());
        for (index, tree) in list.iter().enumerate() {
            let operation = operation_from_tree(&mut source.model, tree)
                .map_err(|message| refuse(format!("operation {}: {message}", index + 1)))?;
            operations.push(operation);
        }
        if source.model.len() + operations.len() > model::OBJECTS_MAX {
            return Err(refuse(format!("more than {} objects (OBJECTS_MAX)", model::OBJECTS_MAX)));
        }
        apply(source, author, &operations);
        Ok(operations)
    })
}

/// Applies operations as a step of a client.
fn apply(source: &mut OpenSource, author: u64, operations: &[Operation]) {
    let history = source.histories.entry(author).or_default();
    history.begin();
    for operation in operations {
        history.apply(&mut source.model, operation.clone());
    }
}

/// Takes back the client's last step.
pub fn undo(call: &mut IncomingCall) -> Answer {
    with_source(call, Reason::Undo, |source, author| {
        let history = source.histories.entry(author).or_default();
        Ok(history.undo(&mut source.model).unwrap_or_default())
    })
}

/// Does the client's step again that was undone last.
pub fn redo(call: &mut IncomingCall) -> Answer {
    with_source(call, Reason::Redo, |source, author| {
        let history = source.histories.entry(author).or_default();
        Ok(history.redo(&mut source.model).unwrap_or_default())
    })
}

/// Gives a source the values on disk.
pub fn revert(call: &mut IncomingCall) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default().to_string();
    let on_disk = read(&call.state.folder, &path)?;
    let wanted = model_of(&path, &on_disk)?;
    let answer = with_source(call, Reason::Revert, |source, author| {
        let operations = source.model.difference(&wanted).map_err(refuse)?;
        apply(source, author, &operations);
        source.text = on_disk;
        Ok(operations)
    })?;
    opened(call.state, &path)?.is_changed = false;
    Ok(answer)
}

/// Saves a source, merged with the file on disk.
pub fn save(call: &mut IncomingCall) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default().to_string();
    let resolve = text(call.fields, "resolve").map(str::to_string);
    if resolve.as_deref().is_some_and(|resolve| !["mine", "disk"].contains(&resolve)) {
        return Err(refuse("'resolve' is \"mine\" or \"disk\""));
    }
    let on_disk = read(&call.state.folder, &path)?;
    let source = opened(call.state, &path)?;
    let mine = model::save(&source.model, Guid::ROOT, parse(&path, &source.text)?)
        .map_err(|error| refuse(format!("{path} cannot be saved: {error}")))?
        .into_text();
    let is_merged = source.text != on_disk;
    let mut result = mine.clone();
    if is_merged {
        parse(&path, &on_disk)?;
        let winner =
            if resolve.as_deref() == Some("disk") { MergeSide::Left } else { MergeSide::Right };
        let options = MergeOptions {
            winner: &|_| winner,
            is_json: path.ends_with(".json"),
            labels: SIDE_LABELS,
        };
        let texts = MergeTexts { base: &source.text, left: &on_disk, right: &mine };
        let merged = merge(texts, options);
        if let Some(reason) = merged.by_lines {
            return Err(refuse(format!("{path} cannot be merged with the file: {reason}")));
        }
        if !merged.overrides.is_empty() && resolve.is_none() {
            return Ok(Some(conflicts(&merged)));
        }
        result = merged.text;
    }
    if result != on_disk {
        broker::replace_source(&call.state.folder, &path, result.as_bytes())
            .map_err(|reason| refuse(format!("{path} cannot be written: {reason}")))?;
    }
    let source = opened(call.state, &path)?;
    source.is_changed = false;
    source.text = result;
    if source.text != mine {
        // The values of the file that the model does not have.
        let operations =
            source.model.difference(&model_of(&path, &source.text)?).map_err(refuse)?;
        for operation in &operations {
            source.model.apply(operation.clone());
        }
        let (_, event) = source.note(&path, 0, Reason::Disk, &operations);
        source.is_changed = false;
        call.state.data.events.extend(event);
    }
    Ok(Some(object([("saved", SjsonTree::Bool(true)), ("merged", SjsonTree::Bool(is_merged))])))
}

fn conflicts(merged: &Merged) -> SjsonTree {
    let row = |change: &engine_content::merge::Override| {
        object([
            ("path", json::text(&*change.path)),
            ("kind", json::text(change.kind.name())),
            ("disk", json::text(&change.left)),
            ("mine", json::text(&change.right)),
        ])
    };
    let rows = merged.overrides.iter().take(CONFLICTS_MAX).map(row).collect();
    object([("saved", SjsonTree::Bool(false)), ("conflicts", SjsonTree::Array(rows))])
}

/// Checks the references between the objects of a source.
pub fn check(call: &mut IncomingCall) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default();
    let source = opened(call.state, path)?;
    let found = source.model.integrity();
    let dangling = found.dangling.iter().map(|it| {
        object([
            ("object", json::text(it.object.to_string())),
            ("key", json::text(source.model.key_text(it.key))),
            ("to", json::text(it.to.to_string())),
        ])
    });
    let dangling = dangling.collect();
    let garbage = json::texts(found.garbage.iter().map(Guid::to_string));
    Ok(Some(object([("dangling", SjsonTree::Array(dangling)), ("garbage", garbage)])))
}
