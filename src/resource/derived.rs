//! Resources that are compiled from compiled resources, after all of those: the navigation mesh of
//! a level needs the level's units, their models and more. Such a resource depends on the files of
//! every resource that its compile has read.

use super::compile::{CompileJob, CompileTarget, JobResult, OnCompileProgress, run_jobs};
use super::folder_scan::{FolderScan, ScannedVariant};
use super::index::{FileStamp, IndexEntry, ResourceIndex};
use super::resource_kind::{ResourceKind, derived_kind};
use super::resource_name::ResourceName;
use super::store::{DataSource, ResourceStore};
use super::variant::VariantPreferences;
use std::collections::HashSet;

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
    /// Returns all variants of the resources that were requested.
    fn requested_entries(&self) -> impl Iterator<Item = &IndexEntry> {
        let index = self.index();
        self.requested.values().flat_map(|name| match index.variants(name) {
            [] => index.redirected(name).map_or(&[][..], |name| index.variants(name)),
            variants => variants,
        })
    }
}

/// Adds the files of the resources that a compile has read from a store to the files on which its
/// resource depends, without its own source.
pub(super) fn add_files(
    store: &ResourceStore,
    source: &str,
    paths: &mut Vec<String>,
    stamps: &mut Vec<FileStamp>,
) {
    let mut known: HashSet<String> = paths.iter().cloned().collect();
    known.insert(source.to_string());
    // In the order of their names: the index must not depend on the order of a table of hashes.
    let mut files: Vec<&FileStamp> =
        store.requested_entries().flat_map(|entry| &entry.files).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for stamp in files {
        if known.insert(stamp.path.clone()) {
            paths.push(stamp.path.clone());
            stamps.push(stamp.clone());
        }
    }
}
