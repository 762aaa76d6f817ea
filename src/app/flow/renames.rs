//! New names of pins in the files of all graphs that use old ones. All files of a request change as
//! one, which `engine undo` takes back, or none.

use super::{GRAPH_KINDS, GraphFile};
use crate::App;
use engine_content::changes::{self, ChangeSet, FileChange, content_hash};
use engine_flow::{GraphSource, OldNames};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, error};
use engine_platform::broker;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_world::unit_resource::changed_graph;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of files that one request changes.
pub(crate) const RENAMED_FILES_MAX: usize = 256;
/// Maximum number of nodes of the graphs that one request changes. The first graph may have more.
pub(crate) const RENAMED_NODES_MAX: usize = 65_536;
/// Maximum number of files that are listed which a request could not read.
pub(crate) const SKIPPED_FILES_MAX: usize = 100;

/// Title of the change for `engine undo`.
const TITLE: &str = "new names of pins";

/// Graphs in their sources, by name, or why they cannot be read.
type KnownGraphs = HashMap<String, Result<Arc<GraphSource>, String>>;

/// The changes of a request.
#[derive(Default)]
pub(crate) struct AppliedRenames {
    /// Names of the graphs, sorted.
    pub graphs: Vec<String>,
    /// Files that cannot be read or changed, with the reasons.
    pub skipped: Vec<(String, String)>,
    /// True if other files are left for the next request.
    pub has_more: bool,
}

impl App {
    /// Writes the new names of pins into the files of all graphs that use old ones.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, or has changed meanwhile; then none is.
    pub(crate) fn apply_renames(&mut self) -> Result<AppliedRenames, Error> {
        let folder = self.game_folder().ok_or_else(|| error!("a bundle has no sources"))?;
        self.ready_flow();
        let mut applied = AppliedRenames::default();
        let mut set = ChangeSet { title: TITLE.to_string(), ..ChangeSet::default() };
        let (mut known, mut nodes) = (KnownGraphs::new(), 0);
        for (resource, path) in self.graph_sources(&folder) {
            let name = resource.to_string();
            let found = match self.read_graph_file(resource, &folder, &path) {
                Ok(file) => {
                    let text = self.with_new_names(&file, &folder, &mut known);
                    text.map(|text| text.map(|text| (file, text)))
                }
                Err(problem) => Err(problem.message),
            };
            let (file, text) = match found {
                Ok(Some(changed)) => changed,
                Ok(None) => continue,
                Err(message) => {
                    applied.skipped.push((path, message));
                    continue;
                }
            };
            nodes += node_count(&file.tree);
            let is_full = set.changes.len() >= RENAMED_FILES_MAX || nodes > RENAMED_NODES_MAX;
            if is_full && !set.changes.is_empty() {
                applied.has_more = true;
                break;
            }
            set.expected_hashes.push((path.clone(), content_hash(file.text.as_bytes())));
            set.changes.push(FileChange::Write { path, bytes: text.into_bytes() });
            applied.graphs.push(name);
        }
        applied.graphs.sort_compact();
        applied.graphs.dedup();
        applied.skipped.truncate(SKIPPED_FILES_MAX);
        if !set.changes.is_empty() {
            let write = |path: &str, bytes: &[u8]| broker::replace_source(&folder, path, bytes);
            changes::apply_through(&folder, &set, &write)?;
        }
        Ok(applied)
    }

    /// Returns the sources of all variants of all resources that can have a graph, sorted by path,
    /// also of those that cannot be compiled. Files that were removed are left out.
    fn graph_sources(&mut self, folder: &Path) -> Vec<(ResourceName, String)> {
        let index = self.vm.engine().assets.store.index();
        let compiled = index.entries.iter().map(|entry| (&entry.resource, &entry.files));
        let broken = index.broken.iter().map(|entry| (&entry.resource, &entry.files));
        let mut found = Vec::new();
        for (resource, files) in compiled.chain(broken) {
            let Some(source) = files.first() else { continue };
            let is_graph = GRAPH_KINDS.contains(&resource.kind.as_str());
            // Units can also have sources that are no text.
            if is_graph && source.path.ends_with(&format!(".{}", resource.kind)) {
                found.push((resource.clone(), source.path.clone()));
            }
        }
        found.sort_compact_by(|a, b| a.1.cmp(&b.1));
        found.dedup_by(|a, b| a.1 == b.1);
        found.retain(|(_, path)| fs::symlink_metadata(folder.join(path)).is_ok());
        found
    }

    /// Returns the text of a file with the new names in its graph, or `None` if it has them.
    fn with_new_names(
        &mut self,
        file: &GraphFile,
        folder: &Path,
        known: &mut KnownGraphs,
    ) -> Result<Option<String>, String> {
        if node_count(&file.tree) == 0 && file.tree.get("events").is_none() {
            return Ok(None);
        }
        let engine = self.vm.engine();
        let store = &engine.assets.store;
        // The compiled data of a graph that was just saved is still the one before.
        let mut load = |name: &str| -> Result<Arc<GraphSource>, String> {
            if let Some(known) = known.get(name) {
                return known.clone();
            }
            let resource = ResourceName::new(kind_names::FLOW, name);
            let path = store.path(&resource).unwrap_or_else(|| resource.to_string());
            let source = read_source(folder, &path);
            known.insert(name.to_string(), source.clone());
            source
        };
        let whole = file.inherited.as_ref().map(|base| changed_graph(base, &file.tree));
        let (source, _) = GraphSource::read(whole.as_ref().unwrap_or(&file.tree));
        let catalogue = &engine.worlds.flow.get().catalogue;
        let names = OldNames::of(&source, catalogue, &mut load);
        names.in_text(&file.text, file.block(), &file.tree)
    }
}

/// Reads a `.flow` file.
fn read_source(folder: &Path, path: &str) -> Result<Arc<GraphSource>, String> {
    let bytes = file_access::read(folder, path, &readers::SOURCE_TEXT)
        .map_err(|problem| problem.message(path))?;
    let document = sjson::parse_bytes(&bytes).map_err(|found| found.in_file(path))?;
    Ok(Arc::new(GraphSource::read(&document.to_tree()).0))
}

fn node_count(tree: &SjsonTree) -> usize {
    match tree.get("nodes") {
        Some(SjsonTree::Object(nodes)) => nodes.len(),
        _ => 0,
    }
}
