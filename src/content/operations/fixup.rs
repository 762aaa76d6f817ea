//! The end of redirects: what still uses old names gets the new ones, and the names that nothing
//! uses any more leave the table.

use super::{OperationPlan, PlannedReference, TableChange};
use crate::references::{Certainty, ContentGraph, NAME_BYTES_MAX, Renames, Target};
use engine_foundation::Error;
use engine_foundation::error;
use engine_resource::redirects::Redirect;
use engine_resource::resource_name::ResourceName;
use std::collections::BTreeSet;

/// Maximum number of names that notes list.
const NOTES_MAX: usize = 20;

/// Plans to rewrite the references by old names, and to remove these from the table of redirects.
/// Names that a script may compute stay.
///
/// # Errors
/// Returns an error if the table cannot be read.
pub fn plan_fixup(graph: &ContentGraph) -> Result<OperationPlan, Error> {
    let mut plan = OperationPlan {
        title: "deps --fixup".to_string(),
        table: TableChange::Remove,
        ..OperationPlan::default()
    };
    let table = graph.redirects()?;
    if let Some(path) = graph.unknown_files().next() {
        return Err(error!("{path} cannot be searched for old names: repair it first"));
    }
    for (at, entry) in graph.redirected() {
        let Some(new) = new_text(graph, at, entry) else { continue };
        let reference = graph.reference(at);
        let planned = PlannedReference {
            at,
            location: graph.location(at),
            certainty: reference.certainty,
            old: reference.name.clone(),
            new,
        };
        match reference.certainty {
            Certainty::Certain => plan.references.push(planned),
            _ => plan.likely.push(planned),
        }
    }
    let beginnings = graph.beginnings();
    let mut kept = 0;
    for entry in table.entries() {
        let name = &entry.old.name;
        // The beginning of a computed name has a limit itself.
        let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
        let ends = ends.take_while(|end| *end <= NAME_BYTES_MAX);
        let computed = ends.filter_map(|end| beginnings.get(&name[..end])).min();
        let is_useful = is_useful(graph, entry);
        match computed.filter(|_| is_useful) {
            Some(at) => {
                kept += 1;
                if kept <= NOTES_MAX {
                    let (location, begin) = (graph.location(*at), &graph.reference(*at).name);
                    plan.notes.push(format!(
                        "{location}: '{begin}' begins a computed name, which may be '{}': it stays \
                         in the table",
                        entry.old
                    ));
                }
            }
            None => {
                let end = table.end_of(&entry.old).unwrap_or(&entry.new);
                plan.redirects.push((entry.old.clone(), end.clone()));
            }
        }
    }
    if kept > NOTES_MAX {
        plan.notes.push(format!("{} more names stay in the table", kept - NOTES_MAX));
    }
    Ok(plan)
}

/// Returns true if an entry leads to a resource, and its old name is free.
fn is_useful(graph: &ContentGraph, entry: &Redirect) -> bool {
    let leads = graph.end_of(entry).is_some_and(|end| graph.has_resource(end));
    leads && !graph.has_resource(&entry.old)
}

fn new_text(
    graph: &ContentGraph,
    at: crate::references::ReferenceUse,
    entry: &Redirect,
) -> Option<String> {
    let mut renames = Renames::default();
    renames.resources.insert(entry.old.clone(), graph.end_of(entry)?.clone());
    let target = Target::Resource(entry.old.clone());
    renames.text(graph, &graph.files[at.file], graph.reference(at), &target)
}

impl OperationPlan {
    /// Returns the names that leave the table: those that no reference uses afterwards.
    pub(super) fn removed_names(
        &self,
        graph: &ContentGraph,
        with_likely: bool,
    ) -> BTreeSet<ResourceName> {
        let likely = self.likely.iter().filter(|_| with_likely);
        let changed: BTreeSet<_> = self.references.iter().chain(likely).map(|it| it.at).collect();
        let staying = graph.redirected().filter(|(at, _)| !changed.contains(at));
        let used: BTreeSet<&ResourceName> = staying.map(|(_, entry)| &entry.old).collect();
        let names = self.redirects.iter().map(|(old, _)| old);
        names.filter(|old| !used.contains(old)).cloned().collect()
    }
}
