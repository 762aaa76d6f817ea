//! Resources that are compiled from compiled resources, after all of those: the navigation mesh of
//! a level needs the level's units, their models and more. Such a resource depends on the files of
//! every resource that its compile has read, and on those that would provide one that is missing.

use super::compile::{CompileJob, CompileTarget, JobResult, OnCompileProgress, run_jobs};
use super::folder_scan::{FolderScan, ScannedVariant};
use super::index::{FileStamp, ResourceIndex};
use super::resource_kind::{ResourceKind, ResourceKinds, derived_kind, substitute_kind};
use super::resource_name::{ResourceName, is_inside};
use super::source_reader::JobSources;
use super::store::{DataSource, ResourceStore};
use super::variant::{VariantPreferences, VariantProperties};
use engine_foundation::compact_sort::CompactSort;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A variant of a resource to derive, and the variant of the resource that it is derived from.
struct DerivedVariant<'a> {
    kind: &'static ResourceKind,
    resource: ResourceName,
    variant: &'a ScannedVariant,
}

/// Compiles the resources that are derived from those of an index, which is sorted. Those of
/// resources that could not be compiled stay as they are.
pub(super) fn compile(
    target: &CompileTarget,
    scanned: &FolderScan,
    (last, present): (&ResourceIndex, &HashSet<String>),
    index: &ResourceIndex,
    progress: OnCompileProgress,
) -> Vec<JobResult> {
    let wanted = wanted(target, scanned, index);
    if wanted.is_empty() {
        return Vec::new();
    }
    let source = DataSource::Folder(target.data.clone(), target.kinds);
    let store = ResourceStore::new(index.clone(), source);
    let stores: Vec<ResourceStore> =
        wanted.iter().map(|wanted| store_for(&store, wanted.variant)).collect();
    let jobs: Vec<CompileJob> = wanted
        .iter()
        .zip(&stores)
        .map(|(DerivedVariant { kind, resource, variant }, store)| CompileJob {
            kind,
            resource,
            variant,
            last: last
                .variants(resource)
                .iter()
                .find(|entry| entry.properties == variant.properties)
                .filter(|entry| present.contains(&entry.data)),
            last_failure: last.broken.iter().find(|failed| {
                failed.resource == *resource && failed.properties == variant.properties
            }),
            store: Some(store),
            scanned,
        })
        .collect();
    run_jobs(target, &jobs, progress)
}

/// Returns a store that prefers the properties of a variant.
fn store_for(store: &ResourceStore, variant: &ScannedVariant) -> ResourceStore {
    let mut store = store.clone();
    let properties = variant.properties.properties().map(str::to_string).collect();
    // A file with more properties than a game can prefer is never active.
    store.prefer(VariantPreferences::new(properties).unwrap_or_default());
    store.apply_preferences();
    store.record_missing();
    store
}

/// Returns the derived resources to which their resources refer.
fn wanted<'a>(
    target: &CompileTarget,
    scanned: &'a FolderScan,
    index: &ResourceIndex,
) -> Vec<DerivedVariant<'a>> {
    let mut wanted = Vec::new();
    for entry in &index.entries {
        let Some(kind) = derived_kind(&entry.resource.kind) else { continue };
        let resource = ResourceName::new(kind, &entry.resource.name);
        if !entry.references.contains(&resource) {
            continue;
        }
        let mut variants = scanned.resources.get(&entry.resource).into_iter().flatten();
        let variant = variants.find(|variant| variant.properties == entry.properties);
        if let (Some(variant), Some(kind)) = (variant, target.kinds.by_name(kind)) {
            wanted.push(DerivedVariant { kind, resource, variant });
        }
    }
    wanted
}

impl ResourceStore {
    /// Records from now on which resources are requested and have no active variant.
    fn record_missing(&mut self) {
        self.missing = Some(BTreeSet::new());
    }

    /// Records a requested resource that has no active variant, if they are recorded.
    pub(super) fn note_missing(&mut self, resource: &ResourceName) {
        if self.missing.is_some() && !self.has(resource) {
            self.missing.get_or_insert_with(BTreeSet::new).insert(resource.clone());
        }
    }

    /// Returns the names of the resources that were requested, whether they exist or not, and of
    /// those that are or would be in their place.
    fn requested_names(&self) -> HashSet<ResourceName> {
        let mut names = HashSet::new();
        for name in self.requested.values().chain(self.missing.iter().flatten()) {
            if self.index().variants(name).is_empty() {
                names.extend(self.index().redirected(name).cloned());
                let substitute = substitute_kind(&name.kind);
                names.extend(substitute.map(|kind| ResourceName::new(kind, &name.name)));
            }
            names.insert(name.clone());
        }
        names
    }
}

/// Returns the stamps of the files of all variants of the resources that were requested. Those of a
/// variant that could not be compiled are the current ones, and not those of its last data.
fn requested_files(store: &ResourceStore) -> Vec<&FileStamp> {
    let (names, index) = (store.requested_names(), store.index());
    let broken: HashMap<(&ResourceName, &VariantProperties), &[FileStamp]> = index
        .broken
        .iter()
        .filter(|failed| names.contains(&failed.resource))
        .map(|failed| ((&failed.resource, &failed.properties), &failed.files[..]))
        .collect();
    let entries = names.iter().flat_map(|name| index.variants(name));
    let entries =
        entries.filter(|entry| !broken.contains_key(&(&entry.resource, &entry.properties)));
    let files = entries.flat_map(|entry| &entry.files);
    let mut files: Vec<&FileStamp> = files.chain(broken.values().copied().flatten()).collect();
    // In the order of their names: the index must not depend on the order of a table of hashes.
    let order = |stamp: &FileStamp| (stamp.content, stamp.state.changed, stamp.state.size);
    files.sort_compact_by(|a, b| a.path.cmp(&b.path).then_with(|| order(a).cmp(&order(b))));
    files
}

/// Returns the paths of the files that would provide a resource without properties.
fn possible_files(kinds: ResourceKinds, name: &ResourceName) -> impl Iterator<Item = String> {
    let substitute = substitute_kind(&name.kind).and_then(|kind| kinds.by_name(kind));
    let rows = kinds.by_name(&name.kind).into_iter().chain(substitute);
    let endings = rows.flat_map(|kind| kind.extensions);
    endings.map(move |(ending, _)| format!("{}.{ending}", name.name)).filter(|path| is_inside(path))
}

/// Adds the files of the resources that a compile has read from a store to the files on which its
/// resource depends, without its own source. Files that would provide a resource that was not found
/// are among them.
pub(super) fn add_files(
    (store, kinds, sources): (&ResourceStore, ResourceKinds, &JobSources),
    source: &str,
    paths: &mut Vec<String>,
    stamps: &mut Vec<FileStamp>,
) {
    let mut known: HashSet<String> = paths.iter().cloned().collect();
    known.insert(source.to_string());
    for stamp in requested_files(store) {
        if known.insert(stamp.path.clone()) {
            paths.push(stamp.path.clone());
            stamps.push(stamp.clone());
        }
    }
    for path in store.missing.iter().flatten().flat_map(|name| possible_files(kinds, name)) {
        if known.insert(path.clone()) {
            let read = sources.read(&path).map(|(_, stamp)| stamp);
            stamps.push(read.unwrap_or_else(|_| sources.stamp(&path, 0)));
            paths.push(path);
        }
    }
}
