//! Resources for remote tools: lists them with their references, and reloads some from their files.

use super::eval::refusal;
use super::message_table::{integer, text};
use super::{IncomingCall, Refusal};
use crate::App;
use crate::resource_kinds::KINDS;
use crate::resource_reload::recompile;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, suggest};
use engine_resource::index::{IndexEntry, ResourceIndex};
use engine_resource::resource_name::ResourceName;
use engine_runtime::built_in_resources::is_built_in;
use engine_script::ErrorReport;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Default number of resources to list.
const LISTED: u64 = 5000;

/// Returns the kind that a message names, which must exist.
pub fn kind(fields: &SjsonTree) -> Result<Option<&str>, Refusal> {
    let Some(kind) = text(fields, "kind") else { return Ok(None) };
    if KINDS.by_name(kind).is_none() {
        let hint = suggest::hint(kind, KINDS.0.iter().map(|kind| kind.name));
        return Err(Refusal::of(format!("there is no kind '{kind}'{hint}")));
    }
    Ok(Some(kind))
}

/// Returns the existing resource of a name that includes its kind.
fn find_resource(index: &ResourceIndex, name: &str) -> Result<ResourceName, Refusal> {
    let Some(resource) = ResourceName::parse(name) else {
        let message = "give the resource with its kind, as textures/wall.texture";
        return Err(Refusal::of(format!("'{name}' has no kind: {message}")));
    };
    if index.variants(&resource).is_empty() {
        let names: Vec<String> =
            index.entries.iter().map(|entry| entry.resource.to_string()).collect();
        let hint = suggest::hint(name, names.iter().map(String::as_str));
        return Err(Refusal::of(format!("there is no resource '{name}'{hint}")));
    }
    Ok(resource)
}

/// Returns the existing resources that a variant references.
fn referenced_names(index: &ResourceIndex, entry: &IndexEntry) -> BTreeSet<ResourceName> {
    let named = entry.references.iter().flat_map(|reference| index.named_by(reference));
    named.map(|entry| entry.resource.clone()).filter(|name| *name != entry.resource).collect()
}

/// Returns the references of all resources.
fn graph(index: &ResourceIndex) -> BTreeMap<ResourceName, BTreeSet<ResourceName>> {
    let mut graph: BTreeMap<ResourceName, BTreeSet<ResourceName>> = BTreeMap::new();
    for entry in &index.entries {
        graph.entry(entry.resource.clone()).or_default().extend(referenced_names(index, entry));
    }
    graph
}

/// Lists resources.
pub fn list(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let kind = kind(call.fields)?;
    let filter = text(call.fields, "text").unwrap_or_default().to_lowercase();
    let most = integer(call.fields, "max").unwrap_or(LISTED) as usize;
    let store = &call.app.vm.engine().assets.store;
    let index = store.index();
    let mut listed = Vec::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = 0;
    for variants in index.entries.chunk_by(|a, b| a.resource == b.resource) {
        let resource = &variants[0].resource;
        if !filter.is_empty() && !resource.to_string().to_lowercase().contains(&filter) {
            continue;
        }
        *kinds.entry(&resource.kind).or_default() += 1;
        if kind.is_some_and(|kind| kind != resource.kind) {
            continue;
        }
        count += 1;
        if listed.len() == most {
            continue;
        }
        let named: BTreeSet<_> =
            variants.iter().flat_map(|entry| referenced_names(index, entry)).collect();
        listed.push(json::object([
            ("name", json::text(resource.to_string())),
            ("kind", json::text(&resource.kind)),
            ("path", json::text(store.path(resource).unwrap_or_default())),
            ("variants", json::count(variants.len())),
            ("loaded", loaded(store.kept_bytes(resource))),
            ("names", json::texts(named.iter().map(ToString::to_string))),
        ]));
    }
    let kinds = kinds.into_iter().map(|(name, count)| {
        json::object([("name", json::text(name)), ("count", json::count(count))])
    });
    Ok(Some(json::object([
        ("count", json::count(count)),
        ("kinds", SjsonTree::Array(kinds.collect())),
        ("resources", SjsonTree::Array(listed)),
    ])))
}

/// Returns the size of a resource's loaded data, in bytes.
fn loaded(bytes: Option<usize>) -> SjsonTree {
    bytes.map_or(SjsonTree::Null, json::count)
}

/// Returns the details of one resource.
pub fn inspect(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let store = &call.app.vm.engine().assets.store;
    let index = store.index();
    let resource = find_resource(index, text(call.fields, "name").unwrap_or_default())?;
    let variants = index.variants(&resource).iter().map(|entry| {
        let files = entry.files.iter().filter(|stamp| !stamp.is_missing());
        json::object([
            ("properties", json::text(entry.properties.to_string())),
            ("files", json::texts(files.map(|stamp| &stamp.path))),
            ("data", json::text(&entry.data)),
        ])
    });
    let graph = graph(index);
    let absent = index.variants(&resource).iter().flat_map(|entry| &entry.references);
    let absent = absent.filter(|name| !name.kind.is_empty() && index.variants(name).is_empty());
    // Variants often refer to the same resource.
    let (built_in, missing): (BTreeSet<_>, BTreeSet<_>) =
        absent.partition(|name| is_built_in(name));
    let mut users: HashMap<&ResourceName, Vec<&ResourceName>> = HashMap::new();
    for (user, names) in &graph {
        names.iter().for_each(|name| users.entry(name).or_default().push(user));
    }
    let users_of = |name| users.get(name).into_iter().flatten().copied();
    let direct: BTreeSet<&ResourceName> = users_of(&resource).collect();
    let mut all: BTreeSet<&ResourceName> = direct.clone();
    let mut new: Vec<&ResourceName> = direct.iter().copied().collect();
    while let Some(next) = new.pop() {
        new.extend(users_of(next).filter(|name| **name != resource && all.insert(name)));
    }
    let to_texts = |set: &BTreeSet<&ResourceName>| json::texts(set.iter().map(ToString::to_string));
    let own = graph.get(&resource).map(|names| names.iter().collect()).unwrap_or_default();
    Ok(Some(json::object([
        ("name", json::text(resource.to_string())),
        ("kind", json::text(&resource.kind)),
        ("hash", json::text(resource.id().to_string())),
        ("serves", json::text(store.path(&resource).unwrap_or_default())),
        ("loaded", loaded(store.kept_bytes(&resource))),
        ("variants", SjsonTree::Array(variants.collect())),
        ("names", to_texts(&own)),
        ("built_in", to_texts(&built_in)),
        ("missing", to_texts(&missing)),
        ("dependents", to_texts(&direct)),
        ("all_dependents", to_texts(&all)),
    ])))
}

/// Reloads resources.
pub fn reload(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let store = &call.app.vm.engine().assets.store;
    let wanted: Option<Vec<ResourceName>> = match (kind(call.fields)?, text(call.fields, "name")) {
        (Some(_), Some(_)) => return Err(Refusal::of("give either 'kind' or 'name'")),
        (None, Some(name)) => Some(vec![find_resource(store.index(), name)?]),
        (Some(kind), None) => {
            let all = store.index().entries.iter().map(|entry| &entry.resource);
            let mut all: Vec<_> = all.filter(|name| name.kind == kind).cloned().collect();
            all.dedup();
            Some(all)
        }
        (None, None) => None,
    };
    let outcome = match wanted {
        Some(names) => call.app.reload_selected(names),
        None => call.app.take_changes(&call.state.folder),
    };
    call.state.needs_redraw = true;
    let (reloaded, problems) = outcome.map_err(|report| refusal(&report))?;
    Ok(Some(json::object([
        ("reloaded", json::texts(reloaded.iter().map(ToString::to_string))),
        ("problems", json::texts(problems)),
    ])))
}

type ReloadSelection = (Vec<ResourceName>, Vec<String>);

impl App {
    /// Reloads resources from their compiled data.
    pub(super) fn reload_selected(
        &mut self,
        names: Vec<ResourceName>,
    ) -> Result<ReloadSelection, Box<ErrorReport>> {
        self.vm.engine().assets.store.evict(names.iter().map(ResourceName::id));
        self.reload(&names)?;
        Ok((names, Vec::new()))
    }

    /// Compiles and reloads the changed files of the folder. If the folder is watched, this happens
    /// automatically, and the function does nothing.
    pub(super) fn take_changes(
        &mut self,
        folder: &Path,
    ) -> Result<ReloadSelection, Box<ErrorReport>> {
        if self.watch.is_some() {
            return Ok((Vec::new(), Vec::new()));
        }
        let to_report = |error: Error| Box::new(ErrorReport::from_message(error.to_string()));
        let compiled =
            recompile(folder, &self.vm.engine().game.source_platform).map_err(to_report)?;
        let names = compiled.changed.iter().chain(&compiled.removed).cloned();
        let mut names: Vec<ResourceName> = names.collect();
        compiled.index.add_old_names(&mut names);
        names.sort_compact();
        names.dedup();
        self.vm.engine().assets.store.replace(compiled.index, &names);
        if !names.is_empty() {
            self.reload(&names)?;
        }
        Ok((names, compiled.problems))
    }
}
