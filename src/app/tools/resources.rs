//! Resources for tools: what there is, what names whom, and taking some again from their files.

use super::messages::{text, whole};
use super::script::refusal;
use super::{Call, Refusal};
use crate::app::App;
use crate::app::kinds::KINDS;
use crate::app::resources::compile_again;
use crate::foundation::sjson::Tree;
use crate::foundation::{Error, suggest};
use crate::resource::index::{Entry, Index};
use crate::resource::name::ResourceName;
use crate::script::Report;
use crate::system::tools::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many are listed where nothing is said.
const LISTED: u64 = 5000;

fn kind(fields: &Tree) -> Result<Option<&str>, Refusal> {
    let Some(kind) = text(fields, "kind") else { return Ok(None) };
    if KINDS.by_name(kind).is_none() {
        let hint = suggest::hint(kind, KINDS.0.iter().map(|kind| kind.name));
        return Err(Refusal::of(format!("there is no kind '{kind}'{hint}")));
    }
    Ok(Some(kind))
}

/// The resource of a name with its kind, which is there.
fn named(index: &Index, name: &str) -> Result<ResourceName, Refusal> {
    let Some(resource) = ResourceName::parse(name) else {
        let words = "give the resource with its kind, as textures/wall.texture";
        return Err(Refusal::of(format!("'{name}' has no kind: {words}")));
    };
    if index.variants(&resource).is_empty() {
        let names: Vec<String> =
            index.entries.iter().map(|entry| entry.resource.to_string()).collect();
        let hint = suggest::hint(name, names.iter().map(String::as_str));
        return Err(Refusal::of(format!("there is no resource '{name}'{hint}")));
    }
    Ok(resource)
}

/// The resources that a variant names, and those of them that are missing.
fn names(index: &Index, entry: &Entry) -> BTreeSet<ResourceName> {
    let named = entry.references.iter().flat_map(|reference| index.named_by(reference));
    named.map(|entry| entry.resource.clone()).filter(|name| *name != entry.resource).collect()
}

/// Who names whom, of all resources.
fn graph(index: &Index) -> BTreeMap<ResourceName, BTreeSet<ResourceName>> {
    let mut graph: BTreeMap<ResourceName, BTreeSet<ResourceName>> = BTreeMap::new();
    for entry in &index.entries {
        graph.entry(entry.resource.clone()).or_default().extend(names(index, entry));
    }
    graph
}

/// What there is.
pub fn list(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let kind = kind(call.fields)?;
    let filter = text(call.fields, "text").unwrap_or_default();
    let most = whole(call.fields, "max").unwrap_or(LISTED) as usize;
    let store = &call.app.vm.engine().store;
    let index = store.index();
    let mut listed = Vec::new();
    let mut count = 0;
    for variants in index.entries.chunk_by(|a, b| a.resource == b.resource) {
        let resource = &variants[0].resource;
        if kind.is_some_and(|kind| kind != resource.kind) || !resource.name.contains(filter) {
            continue;
        }
        count += 1;
        if listed.len() == most {
            continue;
        }
        let named: BTreeSet<_> = variants.iter().flat_map(|entry| names(index, entry)).collect();
        listed.push(json::object([
            ("name", json::text(resource.to_string())),
            ("kind", json::text(&resource.kind)),
            ("path", json::text(store.path(resource).unwrap_or_default())),
            ("variants", json::count(variants.len())),
            ("loaded", loaded(store.kept_bytes(resource))),
            ("names", json::texts(named.iter().map(ToString::to_string))),
        ]));
    }
    Ok(Some(json::object([("count", json::count(count)), ("resources", Tree::Array(listed))])))
}

/// The bytes that are kept of a resource.
fn loaded(bytes: Option<usize>) -> Tree {
    bytes.map_or(Tree::Null, json::count)
}

/// One of them.
pub fn look(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let store = &call.app.vm.engine().store;
    let index = store.index();
    let resource = named(index, text(call.fields, "name").unwrap_or_default())?;
    let variants = index.variants(&resource).iter().map(|entry| {
        json::object([
            ("properties", json::text(entry.properties.to_string())),
            ("files", json::texts(entry.files.iter().map(|stamp| &stamp.path))),
            ("data", json::text(&entry.data)),
        ])
    });
    let graph = graph(index);
    let missing = index.variants(&resource).iter().flat_map(|entry| &entry.references);
    let missing = missing
        .filter(|name| !name.kind.is_empty() && index.variants(name).is_empty())
        .map(ToString::to_string);
    let direct: BTreeSet<&ResourceName> =
        graph.iter().filter(|(_, names)| names.contains(&resource)).map(|(name, _)| name).collect();
    let mut all: BTreeSet<&ResourceName> = direct.clone();
    let mut new: Vec<&ResourceName> = direct.iter().copied().collect();
    while let Some(next) = new.pop() {
        for (name, _) in graph.iter().filter(|(_, names)| names.contains(next)) {
            if *name != resource && all.insert(name) {
                new.push(name);
            }
        }
    }
    let words = |set: &BTreeSet<&ResourceName>| json::texts(set.iter().map(ToString::to_string));
    let own = graph.get(&resource).map(|names| names.iter().collect()).unwrap_or_default();
    Ok(Some(json::object([
        ("name", json::text(resource.to_string())),
        ("kind", json::text(&resource.kind)),
        ("hash", json::text(resource.id().to_string())),
        ("serves", json::text(store.path(&resource).unwrap_or_default())),
        ("loaded", loaded(store.kept_bytes(&resource))),
        ("variants", Tree::Array(variants.collect())),
        ("names", words(&own)),
        ("missing", json::texts(missing)),
        ("dependents", words(&direct)),
        ("all_dependents", words(&all)),
    ])))
}

/// Takes resources again.
pub fn reload(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let store = &call.app.vm.engine().store;
    let wanted: Option<Vec<ResourceName>> = match (kind(call.fields)?, text(call.fields, "name")) {
        (Some(_), Some(_)) => return Err(Refusal::of("give either 'kind' or 'name'")),
        (None, Some(name)) => Some(vec![named(store.index(), name)?]),
        (Some(kind), None) => {
            let all = store.index().entries.iter().map(|entry| &entry.resource);
            let mut all: Vec<_> = all.filter(|name| name.kind == kind).cloned().collect();
            all.dedup();
            Some(all)
        }
        (None, None) => None,
    };
    let outcome = match wanted {
        Some(names) => call.app.take_again(names),
        None => call.app.take_changes(&call.state.folder),
    };
    call.state.redraw = true;
    let (reloaded, problems) = outcome.map_err(|report| refusal(&report))?;
    Ok(Some(json::object([
        ("reloaded", json::texts(reloaded.iter().map(ToString::to_string))),
        ("problems", json::texts(problems)),
    ])))
}

type Reloaded = (Vec<ResourceName>, Vec<String>);

impl App {
    /// Takes resources again from their compiled data.
    pub(super) fn take_again(&mut self, names: Vec<ResourceName>) -> Result<Reloaded, Box<Report>> {
        self.vm.engine().store.forget(names.iter().map(ResourceName::id));
        self.reload(&names)?;
        Ok((names, Vec::new()))
    }

    /// Compiles what changed in the folder and takes it. Where the folder is watched that happens
    /// by itself, and there is nothing left to do.
    pub(super) fn take_changes(&mut self, folder: &Path) -> Result<Reloaded, Box<Report>> {
        if self.watch.is_some() {
            return Ok((Vec::new(), Vec::new()));
        }
        let in_words = |error: Error| Box::new(Report::of_words(error.to_string()));
        let compiled = compile_again(folder).map_err(in_words)?;
        let names = compiled.changed.iter().chain(&compiled.removed).cloned();
        let mut names: Vec<ResourceName> = names.collect();
        names.sort();
        names.dedup();
        self.vm.engine().store.replace(compiled.index, &names);
        if !names.is_empty() {
            self.reload(&names)?;
        }
        Ok((names, compiled.problems))
    }
}
