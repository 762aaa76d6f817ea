//! Operations on the resources of a game: move, copy, replace, remove. Each yields a plan, which a
//! person can read before it is applied: the files that change, the references that follow, and
//! those that are not certain. Applies nothing; that is done by the module `changes`.

use crate::changes::{ChangeSet, FileChange, content_hash};
use crate::references::{
    Certainty, ContentGraph, NameForm, ReferenceUse, Renames, Target, is_golden, patched,
};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::TextSpan;
use engine_resource::resource_name::{PATH_BYTES_MAX, ResourceName, SourceName, is_inside};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

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
    renames: Renames,
}

/// Choice of the users of a resource that follow an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followers<'a> {
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
            set.expected.push((path.clone(), content_hash(&bytes)));
            contents.insert(path, new);
        }
        for (from, to) in &self.moves {
            let bytes = contents.remove(from.as_str());
            set.changes.push(FileChange::Move { from: from.clone(), to: to.clone(), bytes });
        }
        for (from, to) in &self.copies {
            let bytes = read(graph, from)?;
            set.changes.push(FileChange::Create { path: to.clone(), bytes });
        }
        let removed = self.removed.iter().map(|path| FileChange::Remove { path: path.clone() });
        set.changes.extend(removed);
        for (path, bytes) in contents {
            set.changes.push(FileChange::Write { path: path.to_string(), bytes });
        }
        Ok(set)
    }

    /// Returns true if nothing would change.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
            && self.copies.is_empty()
            && self.removed.is_empty()
            && self.references.is_empty()
            && self.likely.is_empty()
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
    plan.renames = renames(graph, from, to)?;
    plan.moves = plan.renames.files.clone().into_iter().collect();
    check_destinations(graph, &plan.moves, true)?;
    add_references(graph, &mut plan, |_| true);
    Ok(plan)
}

/// Plans to copy a resource or a folder. The users that `followers` selects name the copy.
pub fn plan_copy(
    graph: &ContentGraph,
    from: &str,
    to: &str,
    followers: Followers,
) -> Result<OperationPlan, Error> {
    let mut plan = OperationPlan { title: format!("cp {from} {to}"), ..OperationPlan::default() };
    let renames = renames(graph, from, to)?;
    plan.copies = renames.files.clone().into_iter().collect();
    check_destinations(graph, &plan.copies, false)?;
    plan.renames = renames;
    check_listed(graph, followers)?;
    add_references(graph, &mut plan, |at| follows(graph, followers, at));
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
    followers: Followers,
) -> Result<OperationPlan, Error> {
    let title = format!("replace {old} {new}");
    let mut plan = OperationPlan { title, ..OperationPlan::default() };
    let Target::Resource(new) = graph.find(new).map_err(Error::new)? else {
        return Err(error!("'{new}' is no resource: only resources are replaced"));
    };
    check_listed(graph, followers)?;
    match graph.find(old) {
        Ok(Target::Resource(old)) => {
            if old.kind != new.kind {
                return Err(error!("'{old}' and '{new}' are of different types"));
            }
            if old == new {
                return Err(error!("'{old}' cannot replace itself"));
            }
            plan.renames.resources.insert(old, new);
            add_references(graph, &mut plan, |at| follows(graph, followers, at));
        }
        Ok(Target::File(path)) => {
            return Err(error!("'{path}' is no resource: only resources are replaced"));
        }
        // The name of a resource that is missing already.
        Err(message) => {
            add_missing(graph, &mut plan, old, &new, followers);
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
    let targets = targets_of(graph, name)?;
    for target in &targets {
        let files = graph.files_of(target).iter().map(|file| graph.files[*file].path.clone());
        plan.removed.extend(files);
    }
    plan.removed.extend(sidecars(graph, &plan.removed));
    plan.removed.sort();
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
    plan.references.sort_by_key(|it| it.at);
    plan.likely.sort_by_key(|it| it.at);
    Ok(plan)
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
            let is_renamed = matches!(&target, Target::Resource(it)
                if plan.renames.resources.get(it).is_some_and(|new| is_left(reference, new)));
            if is_renamed && visited.insert((at, true)) {
                plan.notes.push(format!("{}: '{}' {note}", graph.location(at), reference.name));
            }
            continue;
        }
        let file = &graph.files[at.file];
        let Some(new) = plan.renames.text(graph, file, reference, &target) else { continue };
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
    plan.references.sort_by_key(|it| it.at);
    plan.likely.sort_by_key(|it| it.at);
}

/// Returns true if a resource with its new name is no longer among those that a pattern, or the
/// beginning of a computed name, means.
fn is_left(reference: &crate::references::Reference, new: &ResourceName) -> bool {
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
    followers: Followers,
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
        if reference.kinds & kind == 0 || !follows(graph, followers, at) {
            continue;
        }
        let is_named = reference.name == old.name
            || (new.kind == "lua" && reference.name.replace('.', "/") == old.name);
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

fn follows(graph: &ContentGraph, followers: Followers, at: ReferenceUse) -> bool {
    let file = &graph.files[at.file];
    match followers {
        Followers::None => false,
        Followers::All => true,
        Followers::Listed(names) => names.iter().any(|name| {
            *name == file.path
                || file.resource.as_ref().is_some_and(|it| *name == it.to_string())
                || file
                    .path
                    .strip_prefix(name.trim_end_matches('/'))
                    .is_some_and(|rest| rest.starts_with('/'))
        }),
    }
}

fn check_listed(graph: &ContentGraph, followers: Followers) -> Result<(), Error> {
    let Followers::Listed(names) = followers else { return Ok(()) };
    for name in names {
        targets_of(graph, name)?;
    }
    Ok(())
}

/// Returns the resources and files that a name on the command line means: one, or all of a folder.
fn targets_of(graph: &ContentGraph, name: &str) -> Result<Vec<Target>, Error> {
    let folder = format!("{}/", name.trim_end_matches('/'));
    let inside: BTreeSet<Target> = graph
        .files
        .iter()
        .filter(|file| file.path.starts_with(&folder))
        .map(|file| match &file.resource {
            Some(resource) => Target::Resource(resource.clone()),
            None => Target::File(file.path.clone()),
        })
        .collect();
    match graph.find(name) {
        Ok(target) if !name.ends_with('/') => Ok(vec![target]),
        _ if !inside.is_empty() => Ok(inside.into_iter().collect()),
        found => found.map(|target| vec![target]).map_err(Error::new),
    }
}

/// Returns the new names and paths of a move or a copy.
fn renames(graph: &ContentGraph, from: &str, to: &str) -> Result<Renames, Error> {
    let to = to.trim();
    if !is_inside(to) || to.is_empty() || to.split('/').any(|part| part.starts_with('.')) {
        return Err(error!("'{to}' is not a path in the game's folder"));
    }
    let is_folder = |path: &str| {
        let start = format!("{}/", path.trim_end_matches('/'));
        graph.files.iter().any(|file| file.path.starts_with(&start))
    };
    let target = graph.find(from).ok().filter(|_| !from.ends_with('/'));
    let into_folder = to.ends_with('/') || is_folder(to);
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_string();
    match target {
        None if is_folder(from) => {
            let from = from.trim_end_matches('/');
            let to = match into_folder {
                true => format!("{}/{}", to.trim_end_matches('/'), last(from)),
                false => to.to_string(),
            };
            if to == from || to.starts_with(&format!("{from}/")) {
                return Err(error!("'{from}' cannot be moved into itself"));
            }
            Ok(of_folder(graph, from, &to))
        }
        None => Err(Error::new(graph.find(from).err().unwrap_or_default())),
        Some(Target::File(path)) => {
            let to = match into_folder {
                true => format!("{}/{}", to.trim_end_matches('/'), last(&path)),
                false => to.to_string(),
            };
            let mut renames = Renames::default();
            renames.files.insert(path, to);
            Ok(renames)
        }
        Some(Target::Resource(old)) => {
            let name = match into_folder {
                true => format!("{}/{}", to.trim_end_matches('/'), last(&old.name)),
                false => without_kind(graph, to, &old)?,
            };
            of_resource(graph, &old, &name)
        }
    }
}

/// Returns a name without the ending of a file. An ending of another type is refused.
fn without_kind(graph: &ContentGraph, to: &str, old: &ResourceName) -> Result<String, Error> {
    let base = last_start(to);
    let Some((stem, ending)) = to[base..].split_once('.') else { return Ok(to.to_string()) };
    let ending = ending.rsplit('.').next().unwrap_or_default();
    let kind = graph.kinds.by_extension(ending).map(|(kind, _)| kind.name);
    match kind {
        Some(kind) if kind == old.kind => Ok(format!("{}{stem}", &to[..base])),
        _ => Err(error!(
            "'{to}' is no name for a {}: give it without an ending, because all files of the \
             resource keep theirs",
            old.kind
        )),
    }
}

fn last_start(path: &str) -> usize {
    path.rfind('/').map_or(0, |at| at + 1)
}

fn of_resource(graph: &ContentGraph, old: &ResourceName, name: &str) -> Result<Renames, Error> {
    let mut renames = Renames::default();
    let new = ResourceName::new(&old.kind, name);
    if new == *old {
        return Err(error!("'{old}' has this name already"));
    }
    let target = Target::Resource(old.clone());
    let paths: Vec<String> =
        graph.files_of(&target).iter().map(|file| graph.files[*file].path.clone()).collect();
    for path in paths.iter().cloned().chain(sidecars(graph, &paths)) {
        // A path is the old name, and then properties and endings.
        let rest = &path[old.name.len()..];
        renames.files.insert(path.clone(), format!("{name}{rest}"));
    }
    renames.resources.insert(old.clone(), new);
    add_resources(graph, &mut renames);
    Ok(renames)
}

fn of_folder(graph: &ContentGraph, from: &str, to: &str) -> Renames {
    let mut renames = Renames::default();
    let start = format!("{from}/");
    for file in graph.files.iter().filter(|file| file.path.starts_with(&start)) {
        renames.files.insert(file.path.clone(), format!("{to}/{}", &file.path[start.len()..]));
    }
    add_resources(graph, &mut renames);
    renames
}

/// Adds the names of resources whose files have new paths.
fn add_resources(graph: &ContentGraph, renames: &mut Renames) {
    for (from, to) in &renames.files {
        let of = |path: &str| SourceName::of(path, &graph.kinds).and_then(Result::ok);
        if let (Some(old), Some(new)) = (of(from), of(to))
            && !is_golden(from)
        {
            renames.resources.insert(old.resource, new.resource);
        }
    }
}

/// Returns the files that belong to files: the pictures of a suite, and the bytes of a `.gltf` that
/// only it names.
fn sidecars(graph: &ContentGraph, paths: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for path in paths {
        if let Some(stem) = path.strip_suffix(".lua") {
            let start = format!("{stem}.golden/");
            let pictures = graph.files.iter().filter(|file| file.path.starts_with(&start));
            found.extend(pictures.map(|file| file.path.clone()));
        }
        if let Some(stem) = path.strip_suffix(".gltf")
            && let Ok(target) = graph.find(&format!("{stem}.bin"))
            && graph.used_by(&target).iter().all(|(_, at)| graph.files[at.file].path == *path)
        {
            found.push(format!("{stem}.bin"));
        }
    }
    found
}

/// Refuses new paths that are too long, exist, or differ from others in case alone.
fn check_destinations(
    graph: &ContentGraph,
    files: &[(String, String)],
    is_move: bool,
) -> Result<(), Error> {
    let leaving: BTreeSet<&String> =
        files.iter().filter(|_| is_move).map(|(from, _)| from).collect();
    let staying = graph.files.iter().filter(|file| !leaving.contains(&file.path));
    let mut by_lower: BTreeMap<String, &str> =
        staying.map(|file| (file.path.to_lowercase(), &file.path[..])).collect();
    for (from, to) in files {
        if to.len() > PATH_BYTES_MAX {
            return Err(error!("{to}: the path is longer than {PATH_BYTES_MAX} bytes"));
        }
        if let Some(Err(message)) = SourceName::of(to, &graph.kinds) {
            return Err(Error::new(message));
        }
        match by_lower.insert(to.to_lowercase(), to) {
            Some(other) if other == to => {
                return Err(error!("{to}: the file exists already: choose another name"));
            }
            Some(other) => {
                return Err(error!(
                    "'{other}' and '{to}' would differ in upper and lower case alone: choose \
                     another name"
                ));
            }
            None => {}
        }
        if from == to {
            return Err(error!("'{from}' has this name already"));
        }
    }
    Ok(())
}
