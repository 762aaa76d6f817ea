//! New names of a move or a copy: the paths of all files that belong together, and the reasons why
//! they are refused. Reads no files.

use crate::references::{ContentGraph, Renames, Target};
use engine_foundation::Error;
use engine_foundation::error;
use engine_resource::folder_scan::is_reference_picture;
use engine_resource::resource_name::{
    PATH_BYTES_MAX, ResourceName, SourceName, is_device_name, is_inside,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length in bytes of the name of a file or a folder, which file systems set.
const FILE_NAME_BYTES_MAX: usize = 255;
/// Maximum number of names of devices that notes list.
const DEVICE_NOTES_MAX: usize = 5;

/// Returns the new names and paths of a move or a copy.
/// `done` says in messages that it is moved or copied.
pub fn renames(graph: &ContentGraph, from: &str, to: &str, done: &str) -> Result<Renames, Error> {
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
    let requested = to;
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_string();
    match target {
        None if is_folder(from) => {
            let from = from.trim_end_matches('/');
            let to = match into_folder {
                true => format!("{}/{}", to.trim_end_matches('/'), last(from)),
                false => to.to_string(),
            };
            if to.trim_end_matches('/') == from || requested == from {
                return Err(error!("'{from}' has this name already"));
            }
            if to.starts_with(&format!("{from}/")) {
                return Err(error!("'{from}' cannot be {done} into itself"));
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
            && !is_reference_picture(from)
        {
            renames.resources.insert(old.resource, new.resource);
        }
    }
}

/// Returns the files that belong to files: the pictures of a suite, and the bytes of a `.gltf` that
/// only it names.
pub fn sidecars(graph: &ContentGraph, paths: &[String]) -> Vec<String> {
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
pub fn check_destinations(
    graph: &ContentGraph,
    files: &[(String, String)],
    is_move: bool,
) -> Result<(), Error> {
    let leaving: BTreeSet<&String> =
        files.iter().filter(|_| is_move).map(|(from, _)| from).collect();
    let staying = graph.files.iter().filter(|file| !leaving.contains(&file.path));
    let mut by_lower: BTreeMap<String, &str> =
        staying.map(|file| (file.path.to_lowercase(), &file.path[..])).collect();
    let staying = graph.files.iter().filter(|file| !leaving.contains(&file.path));
    let mut folders: BTreeMap<String, &str> = staying
        .flat_map(|file| folders_of(&file.path))
        .map(|folder| (folder.to_lowercase(), folder))
        .collect();
    for (from, to) in files {
        if to.len() > PATH_BYTES_MAX {
            return Err(error!("{to}: the path is longer than {PATH_BYTES_MAX} bytes"));
        }
        if let Some(part) = to.split('/').find(|part| part.len() > FILE_NAME_BYTES_MAX) {
            return Err(error!(
                "{to}: '{part}' is longer than the {FILE_NAME_BYTES_MAX} bytes that the name of a \
                 file can have: choose a shorter name"
            ));
        }
        if to.contains(|c: char| c.is_control() || "\\\"'".contains(c)) {
            return Err(error!(
                "'{to}' has a quotation mark, a '\\' or a control character, which would end or \
                 change texts that name it: choose another name"
            ));
        }
        if to.contains(is_unsafe_in_name) && !from.contains(is_unsafe_in_name) {
            return Err(error!(
                "'{to}' has a character that names in scripts are not searched for (a space, a \
                 quotation mark, '%' or '\\'): choose another name"
            ));
        }
        for folder in folders_of(to) {
            let known = *folders.entry(folder.to_lowercase()).or_insert(folder);
            if known != folder {
                return Err(differ_in_case(known, folder));
            }
        }
        if let Some(Err(message)) = SourceName::of(to, &graph.kinds) {
            return Err(Error::new(message));
        }
        match by_lower.insert(to.to_lowercase(), to) {
            Some(other) if other == to => {
                return Err(error!("{to}: the file exists already: choose another name"));
            }
            Some(other) => return Err(differ_in_case(other, to)),
            None => {}
        }
        if from == to {
            return Err(error!("'{from}' has this name already"));
        }
    }
    Ok(())
}

/// Returns notes about new names of files and folders that Windows reserves for devices.
pub fn device_notes(files: &[(String, String)]) -> Vec<String> {
    let parts = files.iter().flat_map(|(_, to)| to.split('/'));
    let names: BTreeSet<&str> = parts.filter(|part| is_device_name(part)).collect();
    let note = |name: &&str| {
        format!("'{name}' is the name of a device on Windows, where no file can have it")
    };
    names.iter().take(DEVICE_NOTES_MAX).map(note).collect()
}

/// Returns true for a character that a text in a script which is likely a name never has.
fn is_unsafe_in_name(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\\%\"'".contains(c)
}

fn differ_in_case(one: &str, other: &str) -> Error {
    error!("'{one}' and '{other}' would differ in upper and lower case alone: choose another name")
}

/// Returns the paths of the folders around a file, without the game's folder.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
