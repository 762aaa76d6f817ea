//! Operations on the resources of a game: move, copy, replace, remove. Each yields a plan, which a
//! person can read before it is applied: the files that change, the references that follow, and
//! those that are not certain. Applies nothing; that is done by the module `changes`.

use crate::changes::{ChangeSet, FileChange, content_hash};
use crate::references::{
    Certainty, ContentGraph, NODES_FOLDER, NameForm, Reference, ReferenceUse, Renames, Target,
    is_found_by_name, patched,
};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::TextSpan;
use engine_resource::redirects;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::settings;
use std::collections::{BTreeMap, BTreeSet};

/// Folder of the components of units.
const COMPONENTS_FOLDER: &str = "components/";

mod destinations;
mod fixup;
#[cfg(test)]
mod tests;

use destinations::{check_destinations, device_notes, renames, sidecars};
pub use fixup::plan_fixup;

/// A reference in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedReference {
    pub at: ReferenceUse,
    /// `path:line` before the operation.
    pub location: String,
    pub certainty: Certainty,
    pub old: String,
    /// The new text; empty if the text cannot be changed.
    pub new: String,
}

/// The effects of an operation, before it is applied.
#[derive(Clone, Debug, Default)]
pub struct OperationPlan {
    pub title: String,
    /// Old and new paths of files.
    pub moves: Vec<(String, String)>,
    /// Source and path of new files.
    pub copies: Vec<(String, String)>,
    pub removed: Vec<String>,
    /// References that certainly follow.
    pub references: Vec<PlannedReference>,
    /// References that follow only if a person says so.
    pub likely: Vec<PlannedReference>,
    /// Remarks: computed names, patterns of packages.
    pub notes: Vec<String>,
    /// Old names that enter the table of redirects, or that leave it, each with its resource.
    pub redirects: Vec<(ResourceName, ResourceName)>,
    pub table: TableChange,
    renames: Renames,
}

/// The effect of an operation on the table of redirects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableChange {
    #[default]
    None,
    /// The names enter it.
    Add,
    /// The names leave it, except those that likely references still use.
    Remove,
}

/// Choice of the users of a resource that follow an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users<'a> {
    None,
    All,
    /// Only users whose file or resource is listed.
    Listed(&'a [String]),
}

impl OperationPlan {
    /// Returns the changes of files. Likely references follow if `with_likely` is true.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or has changed since the graph was read.
    pub fn changes(&self, graph: &ContentGraph, with_likely: bool) -> Result<ChangeSet, Error> {
        let mut set = ChangeSet { title: self.title.clone(), ..ChangeSet::default() };
        let mut by_file: BTreeMap<usize, Vec<(TextSpan, String)>> = BTreeMap::new();
        let likely = self.likely.iter().filter(|_| with_likely);
        for planned in self.references.iter().chain(likely).filter(|it| !it.new.is_empty()) {
            let span = graph.reference(planned.at).span;
            by_file.entry(planned.at.file).or_default().push((span, planned.new.clone()));
        }
        let mut contents: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for (file, changes) in by_file {
            let path = &graph.files[file].path;
            let bytes = read(graph, path)?;
            let state = file_access::inspect(&graph.root, path);
            if !state.is_ok_and(|(_, state)| state == graph.files[file].state) {
                return Err(error!("{path}: the file has changed since it was read: try again"));
            }
            let new = patched(path, &bytes, changes)
                .ok_or_else(|| error!("{path}: the references cannot be changed: it is damaged"))?;
            set.expected_hashes.push((path.clone(), content_hash(&bytes)));
            contents.insert(path, new);
        }
        for (from, to) in &self.moves {
            let bytes = contents.remove(from.as_str());
            set.changes.push(FileChange::Move { from: from.clone(), to: to.clone(), bytes });
        }
        for (from, to) in &self.copies {
            let bytes = self.copied(graph, from)?;
            set.changes.push(FileChange::Create { path: to.clone(), bytes });
        }
        let removed = self.removed.iter().map(|path| FileChange::Remove { path: path.clone() });
        set.changes.extend(removed);
        for (path, bytes) in contents {
            set.changes.push(FileChange::Write { path: path.to_string(), bytes });
        }
        self.change_table(graph, with_likely, &mut set)?;
        Ok(set)
    }

    /// Returns the bytes of the copy of a file: its relative paths lead to the same files as
    /// before, or to their copies.
    fn copied(&self, graph: &ContentGraph, from: &str) -> Result<Vec<u8>, Error> {
        let bytes = read(graph, from)?;
        let file = graph.files.iter().position(|file| file.path == from);
        let Some(file) = file.map(|at| &graph.files[at]) else { return Ok(bytes) };
        let text = |reference: &Reference| {
            Some((reference.span, self.renames.copied(graph, file, reference)?))
        };
        let changes: Vec<_> = file.references.iter().filter_map(text).collect();
        if changes.is_empty() {
            return Ok(bytes);
        }
        let state = file_access::inspect(&graph.root, from);
        if !state.is_ok_and(|(_, state)| state == file.state) {
            return Err(error!("{from}: the file has changed since it was read: try again"));
        }
        patched(from, &bytes, changes)
            .ok_or_else(|| error!("{from}: the references cannot be changed: it is damaged"))
    }

    /// Adds the change of the table of redirects.
    fn change_table(
        &self,
        graph: &ContentGraph,
        with_likely: bool,
        set: &mut ChangeSet,
    ) -> Result<(), Error> {
        if self.redirects.is_empty() {
            return Ok(());
        }
        let table = graph.redirects()?;
        let text = match self.table {
            TableChange::None => return Ok(()),
            TableChange::Add => Some(table.with_moved(&self.redirects)?),
            TableChange::Remove => {
                let removed = self.removed_names(graph, with_likely);
                table.with_kept(|entry| !removed.contains(&entry.old))
            }
        };
        let path = redirects::FILE.to_string();
        if table.text().is_empty() {
            if let Some(text) = text {
                set.changes.push(FileChange::Create { path, bytes: text.into_bytes() });
            }
            return Ok(());
        }
        let bytes = read(graph, &path)?;
        if bytes != table.text().as_bytes() {
            return Err(error!("{path}: the file has changed since it was read: try again"));
        }
        set.expected_hashes.push((path.clone(), content_hash(&bytes)));
        set.changes.push(match text {
            Some(text) => FileChange::Write { path, bytes: text.into_bytes() },
            None => FileChange::Remove { path },
        });
        Ok(())
    }

    /// Returns true if nothing would change.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
            && self.copies.is_empty()
            && self.removed.is_empty()
            && self.references.is_empty()
            && self.likely.is_empty()
            && self.redirects.is_empty()
    }
}

fn read(graph: &ContentGraph, path: &str) -> Result<Vec<u8>, Error> {
    file_access::read(&graph.root, path, &readers::SOURCE)
        .map_err(|refusal| Error::new(refusal.message(path)))
}

/// Plans to move or rename a resource, a file or a folder. A destination that is a folder, or ends
/// in `/`, contains it afterwards.
pub fn plan_move(graph: &ContentGraph, from: &str, to: &str) -> Result<OperationPlan, Error> {
    let mut plan = OperationPlan { title: format!("mv {from} {to}"), ..OperationPlan::default() };
    plan.renames = renames(graph, from, to, "moved")?;
    plan.moves = plan.renames.files.clone().into_iter().collect();
    check_destinations(graph, &plan.moves, true)?;
    plan.notes = device_notes(&plan.moves);
    check_folders(graph, &plan.renames)?;
    add_namesakes(graph, &mut plan);
    add_references(graph, &mut plan, |_| true);
    let renamed = plan.renames.resources.iter();
    let renamed = renamed.filter(|(old, _)| redirects::is_redirected_kind(&old.kind));
    plan.redirects = renamed.map(|(old, new)| (old.clone(), new.clone())).collect();
    plan.table = TableChange::Add;
    // A table that cannot be read is not replaced.
    graph.redirects()?;
    Ok(plan)
}

/// Adds a note for each new name that a resource of another kind has, if the old name had none of
/// that kind: a name that can mean both then means one of them.
fn add_namesakes(graph: &ContentGraph, plan: &mut OperationPlan) {
    const SHOWN_MAX: usize = 20;
    let renames = &plan.renames.resources;
    let mut notes = Vec::new();
    for (old, new) in renames {
        let kinds = graph.kinds.0.iter().map(|kind| kind.name).filter(|kind| *kind != new.kind);
        for kind in kinds {
            let other = ResourceName::new(kind, &new.name);
            let is_old = graph.has_resource(&ResourceName::new(kind, &old.name));
            if is_old || renames.contains_key(&other) || !graph.has_resource(&other) {
                continue;
            }
            let is_shadowed = [&new.kind[..], kind]
                .iter()
                .all(|kind| [kind_names::TEXTURE, kind_names::MATERIAL].contains(kind));
            let effect = match is_shadowed {
                true => "where both fit, such as in Gui.bitmap, the material is used",
                false => "commands then need the type, too",
            };
            notes.push(format!("'{new}' will have the name of '{other}': {effect}"));
        }
    }
    let more = notes.len().saturating_sub(SHOWN_MAX);
    notes.truncate(SHOWN_MAX);
    plan.notes.extend(notes);
    if more > 0 {
        plan.notes.push(format!("{more} more new names are names of other resources"));
    }
}

/// Refuses to move a script out of the folder by which it is found: components that units use, and
/// types of nodes that graphs use. Their names have no other folder.
fn check_folders(graph: &ContentGraph, renames: &Renames) -> Result<(), Error> {
    for (old, new) in &renames.resources {
        if old.kind != kind_names::LUA {
            continue;
        }
        for (_, at) in graph.used_by(&Target::Resource(old.clone())) {
            let (noun, nouns, folder) = match graph.reference(at).form {
                NameForm::Component | NameForm::ComponentOrMesh => {
                    ("a component", "components", COMPONENTS_FOLDER)
                }
                NameForm::NodeType => ("a type of nodes", "types of nodes", NODES_FOLDER),
                _ => continue,
            };
            if !new.name.starts_with(folder) {
                return Err(error!(
                    "{}: '{old}' is used as {noun}, and {nouns} are in {folder}: give it a name \
                     in that folder",
                    graph.location(at)
                ));
            }
        }
    }
    Ok(())
}

/// Plans to copy a resource or a folder. The users that `users` selects name the copy.
pub fn plan_copy(
    graph: &ContentGraph,
    from: &str,
    to: &str,
    users: Users,
) -> Result<OperationPlan, Error> {
    let mut plan = OperationPlan { title: format!("cp {from} {to}"), ..OperationPlan::default() };
    let renames = renames(graph, from, to, "copied")?;
    plan.copies = renames.files.clone().into_iter().collect();
    check_destinations(graph, &plan.copies, false)?;
    plan.notes = device_notes(&plan.copies);
    plan.renames = renames;
    add_namesakes(graph, &mut plan);
    check_listed(graph, users)?;
    add_references(graph, &mut plan, |at| follows(graph, users, at));
    // A file inside of the copied folder keeps its names; only users are redirected.
    let copied: BTreeSet<&String> = plan.copies.iter().map(|(from, _)| from).collect();
    let is_user = |it: &PlannedReference| !copied.contains(&graph.files[it.at.file].path);
    plan.references.retain(is_user);
    plan.likely.retain(is_user);
    Ok(plan)
}

/// Plans to replace one resource by another in all references, or in those of some users. The
/// replaced resource may be missing.
pub fn plan_replace(
    graph: &ContentGraph,
    old: &str,
    new: &str,
    users: Users,
) -> Result<OperationPlan, Error> {
    let title = format!("replace {old} {new}");
    let mut plan = OperationPlan { title, ..OperationPlan::default() };
    let Target::Resource(new) = graph.find(new).map_err(Error::new)? else {
        return Err(error!("'{new}' is no resource: only resources are replaced"));
    };
    check_listed(graph, users)?;
    match graph.find(old) {
        Ok(Target::Resource(old)) => {
            if old.kind != new.kind {
                return Err(error!("'{old}' and '{new}' are of different types"));
            }
            if old == new {
                return Err(error!("'{old}' cannot replace itself"));
            }
            plan.renames.resources.insert(old, new);
            add_references(graph, &mut plan, |at| follows(graph, users, at));
        }
        Ok(Target::File(path)) => {
            return Err(error!("'{path}' is no resource: only resources are replaced"));
        }
        // The name of a resource that is missing already.
        Err(message) => {
            add_missing(graph, &mut plan, old, &new, users);
            if plan.references.is_empty() {
                return Err(Error::new(format!("{message}, and nothing names it")));
            }
        }
    }
    Ok(plan)
}

/// Plans to remove a resource, a file or a folder. The uses by others are in `references`, with
/// empty new texts.
pub fn plan_remove(graph: &ContentGraph, name: &str) -> Result<OperationPlan, Error> {
    let mut plan = OperationPlan { title: format!("rm {name}"), ..OperationPlan::default() };
    let targets = graph.find_all(name).map_err(Error::new)?;
    for target in &targets {
        let files = graph.files_of(target).iter().map(|file| graph.files[*file].path.clone());
        plan.removed.extend(files);
    }
    plan.removed.extend(sidecars(graph, &plan.removed));
    plan.removed.sort_compact();
    plan.removed.dedup();
    let removed: BTreeSet<String> = plan.removed.iter().cloned().collect();
    for target in &targets {
        for (_, at) in graph.used_by(target) {
            let reference = graph.reference(at);
            if removed.contains(&graph.files[at.file].path) || reference.form == NameForm::Pattern {
                continue;
            }
            let planned = PlannedReference {
                at,
                location: graph.location(at),
                certainty: reference.certainty,
                old: reference.name.clone(),
                new: String::new(),
            };
            match reference.certainty {
                Certainty::Certain => plan.references.push(planned),
                _ => plan.likely.push(planned),
            }
        }
    }
    plan.references.sort_compact_by_key(|it| it.at);
    plan.likely.sort_compact_by_key(|it| it.at);
    Ok(plan)
}

/// Refuses a plan while a file that stays could not even be searched for names: it may use
/// anything.
pub fn check_known(graph: &ContentGraph, plan: &OperationPlan) -> Result<(), Error> {
    let unknown = graph.unknown_files().find(|path| !plan.removed.iter().any(|it| it == path));
    match unknown {
        None => Ok(()),
        Some(path) => Err(error!(
            "{path} cannot be searched for names, and may use anything\nNothing was changed: \
             repair it, or use --force"
        )),
    }
}

/// Refuses to move or remove what the engine finds by its name. The script that starts the game may
/// move if the settings name it, because that name follows.
pub fn check_found_by_name(
    graph: &ContentGraph,
    plan: &OperationPlan,
    boot_script: &str,
) -> Result<(), Error> {
    let follows = |target: &Target| {
        matches!(target, Target::Resource(old) if plan.renames.resources.contains_key(old))
            && plan.references.iter().any(|planned| {
                let is_boot = planned.old == boot_script && !planned.new.is_empty();
                is_boot && graph.files[planned.at.file].path == settings::FILE
            })
    };
    let leaving = plan.moves.iter().map(|(from, _)| from).chain(&plan.removed);
    for path in leaving {
        let Some(target) = graph.target_of(path) else { continue };
        if !is_found_by_name(&target, boot_script) || follows(&target) {
            continue;
        }
        return Err(match &target {
            Target::Resource(resource) if resource.kind == kind_names::LUA => error!(
                "'{target}' starts the game: set 'boot_script' in settings.sjson to its name, \
                 which then follows"
            ),
            _ if !plan.removed.is_empty() => error!(
                "'{target}' is used by the engine, which finds it by its name\nNothing was \
                 removed: use --force"
            ),
            _ => error!("'{target}' is found by its name: the engine would not find it elsewhere"),
        });
    }
    Ok(())
}

/// Adds the references that follow the renames of a plan.
fn add_references(
    graph: &ContentGraph,
    plan: &mut OperationPlan,
    follows: impl Fn(ReferenceUse) -> bool,
) {
    let mut visited = BTreeSet::new();
    let renamed: Vec<Target> =
        plan.renames.resources.keys().cloned().map(Target::Resource).collect();
    let moved_files = plan.renames.files.keys().filter_map(|path| {
        let at = graph.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        graph.files[at].resource.is_none().then(|| Target::File(path.clone()))
    });
    let targets: Vec<Target> = renamed.into_iter().chain(moved_files).collect();
    let mut found = Vec::new();
    for target in &targets {
        for (_, at) in graph.used_by(target) {
            found.push((at, target.clone()));
        }
        // Relative paths of a moved file to files that stay.
        for (to, at) in graph.uses(target) {
            found.push((at, to.clone()));
        }
    }
    for (at, target) in found {
        let reference = graph.reference(at);
        if !follows(at) {
            continue;
        }
        let note = match reference.form {
            NameForm::Prefix => "begins a computed name, which cannot follow",
            NameForm::Pattern if reference.name.contains('*') => "is a pattern: check its members",
            _ => "",
        };
        if !note.is_empty() {
            // Other names with the same beginning can be the computed ones: the note asks to look.
            let is_computed = reference.form == NameForm::Prefix;
            let is_renamed = matches!(&target, Target::Resource(it)
                if plan.renames.resources.get(it)
                    .is_some_and(|new| is_computed || is_left(reference, new)));
            if is_renamed && visited.insert((at, true)) {
                plan.notes.push(format!("{}: '{}' {note}", graph.location(at), reference.name));
            }
            continue;
        }
        let file = &graph.files[at.file];
        let new = match (graph.redirect_of(at), &target) {
            (Some(entry), Target::Resource(it)) => plan.renames.resources.get(it).and_then(|new| {
                let mut renames = Renames::default();
                renames.resources.insert(entry.old.clone(), new.clone());
                renames.text(graph, file, reference, &Target::Resource(entry.old.clone()))
            }),
            _ => plan.renames.text(graph, file, reference, &target),
        };
        let Some(new) = new else { continue };
        if !visited.insert((at, false)) {
            continue;
        }
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
    plan.references.sort_compact_by_key(|it| it.at);
    plan.likely.sort_compact_by_key(|it| it.at);
}

/// Returns true if a resource with its new name is no longer among those that a pattern, or the
/// beginning of a computed name, means.
fn is_left(reference: &Reference, new: &ResourceName) -> bool {
    match reference.name.split_once('*') {
        Some((before, after)) => {
            let rest = new.name.strip_prefix(before);
            !rest.is_some_and(|rest| rest.ends_with(after))
        }
        None => !new.name.starts_with(&reference.name),
    }
}

/// Adds the references to a resource that is missing.
fn add_missing(
    graph: &ContentGraph,
    plan: &mut OperationPlan,
    old: &str,
    new: &ResourceName,
    users: Users,
) {
    let old = match ResourceName::parse(old).filter(|it| it.kind == new.kind) {
        Some(old) => old,
        None => ResourceName::new(&new.kind, old),
    };
    plan.renames.resources.insert(old.clone(), new.clone());
    let target = Target::Resource(old.clone());
    for problem in graph.missing() {
        let (at, reference) = (problem.at, graph.reference(problem.at));
        let kind = graph.kinds.index_of(&new.kind).map_or(0, |at| 1 << at);
        if reference.kinds & kind == 0 || !follows(graph, users, at) {
            continue;
        }
        let is_named = reference.name == old.name
            || (new.kind == "lua" && reference.name.replace('.', "/") == old.name)
            // Its text has the name of the script then.
            || reference.form == NameForm::NodeType;
        let file = &graph.files[at.file];
        let text = plan.renames.text(graph, file, reference, &target);
        if let (true, Some(new)) = (is_named, text) {
            plan.references.push(PlannedReference {
                at,
                location: graph.location(at),
                certainty: reference.certainty,
                old: reference.name.clone(),
                new,
            });
        }
    }
}

fn follows(graph: &ContentGraph, users: Users, at: ReferenceUse) -> bool {
    let file = &graph.files[at.file];
    match users {
        Users::None => false,
        Users::All => true,
        Users::Listed(names) => names.iter().any(|name| {
            *name == file.path
                || file.resource.as_ref().is_some_and(|it| *name == it.to_string())
                || file
                    .path
                    .strip_prefix(name.trim_end_matches('/'))
                    .is_some_and(|rest| rest.starts_with('/'))
        }),
    }
}

fn check_listed(graph: &ContentGraph, users: Users) -> Result<(), Error> {
    let Users::Listed(names) = users else { return Ok(()) };
    for name in names {
        graph.find_all(name).map_err(Error::new)?;
    }
    Ok(())
}
