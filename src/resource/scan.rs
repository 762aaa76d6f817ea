//! What is in a game's folder: its files, sorted into resources and their variants. Reads names and
//! times, no contents.

use super::kind::{Form, Kinds};
use super::name::{ResourceName, Source};
use super::variant::{self, Properties};
use crate::error;
use crate::foundation::Error;
use crate::foundation::file_access::{self, EntryKind, FileState, FolderId, Refusal};
use crate::foundation::hash::IdString64;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The most files that a game's folder can have.
pub const FILES_MAX: usize = 1_000_000;
/// How deep its folders can be nested; a circle of links ends here at the latest.
pub const FOLDERS_DEEP_MAX: usize = 64;

/// A file and what tells quickly whether it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// From the game's folder, with `/`.
    pub path: String,
    pub state: FileState,
}

/// The files of a folder.
#[derive(Debug, Default)]
pub struct Found {
    /// Sorted by path.
    pub files: Vec<File>,
    /// Folders that were reached by a link.
    pub linked: Vec<String>,
    /// What could not be looked at, each in words.
    pub problems: Vec<String>,
}

/// One variant of a resource: its properties, and the file or two that it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub properties: Properties,
    /// The file that is compiled, and its form.
    pub file: File,
    pub form: Form,
    /// The raw file beside a file of the resource's own.
    pub raw: Option<File>,
}

/// All that a folder holds.
#[derive(Debug, Default)]
pub struct Scan {
    /// Resources with their variants, in order of name.
    pub resources: BTreeMap<ResourceName, Vec<Variant>>,
    /// What is wrong with names, each in words.
    pub problems: Vec<String>,
    /// Resources that no file can serve, and why: they are among the problems, too.
    pub failed: Vec<(ResourceName, String)>,
}

/// Lists the files below a folder. Hidden ones are left out, folders that were reached by a link
/// are entered once, and links that lead out are not followed. A folder that cannot be entered is a
/// problem, and costs what is in it.
pub fn files(root: &Path) -> Result<Found, Error> {
    let mut found = Found::default();
    walk(root, "", 0, true, &mut HashSet::new(), &mut found)?;
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// `once`: the folder was reached by a link, or is the root, to which a link may lead back.
fn walk(
    root: &Path,
    prefix: &str,
    depth: usize,
    once: bool,
    entered: &mut HashSet<FolderId>,
    found: &mut Found,
) -> Result<(), Error> {
    if depth > FOLDERS_DEEP_MAX {
        found.problems.push(format!(
            "{prefix}: folders are nested more than {FOLDERS_DEEP_MAX} deep (FOLDERS_DEEP_MAX): \
             what is in it is left out"
        ));
        return Ok(());
    }
    let listing = match file_access::list_states(root, prefix) {
        Ok(listing) => listing,
        // One that goes away meanwhile.
        Err(refusal) if depth > 0 && refusal.is_missing() => return Ok(()),
        Err(reason) => {
            if depth == 0 {
                return Err(error!("the folder '{}' cannot be read: {reason}", root.display()));
            }
            found.problems.push(format!(
                "{prefix}: the folder cannot be read ({reason}): what is in it is left out"
            ));
            return Ok(());
        }
    };
    if once && !entered.insert(listing.id) {
        return Ok(());
    }
    if once && depth > 0 {
        found.linked.push(prefix.to_string());
    }
    for entry in listing.entries {
        // A name that is not UTF-8 cannot be written in Lua or SJSON, so it is no resource.
        let Ok(name) = entry.name.into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        match entry.kind {
            EntryKind::Folder => {
                walk(root, &path, depth + 1, entry.is_link, entered, found)?;
            }
            EntryKind::LinkOut if leads_to_folder(root, &path) => {
                found.problems.push(Refusal::Link.message(&path));
            }
            // Nothing is read through a link that leads out: the compiler says so.
            EntryKind::File | EntryKind::LinkOut => {
                if found.files.len() == FILES_MAX {
                    return Err(error!("there are more than {FILES_MAX} files (FILES_MAX)"));
                }
                found.files.push(File { path, state: entry.state });
            }
            EntryKind::Special | EntryKind::Dangling => {}
        }
    }
    Ok(())
}

/// Whether a link that leads out of the root leads to a folder: whole folders are told once, and
/// not file by file.
fn leads_to_folder(root: &Path, path: &str) -> bool {
    root.join(path).is_dir()
}

/// Sorts files into resources and their variants, for a platform.
pub fn sort(found: Found, kinds: &Kinds, platform: &str) -> Scan {
    let mut scan = Scan { problems: found.problems, ..Scan::default() };
    let mut sources: BTreeMap<(ResourceName, Properties), Vec<(Form, File)>> = BTreeMap::new();
    for file in found.files {
        match Source::of(&file.path, kinds) {
            None => {}
            Some(Err(words)) => scan.problems.push(words),
            Some(Ok(source)) => {
                let key = (source.resource, source.properties);
                sources.entry(key).or_default().push((source.form, file));
            }
        }
    }
    for ((resource, properties), files) in sources {
        match variant_of(&resource, properties, files) {
            Ok(variant) => scan.resources.entry(resource).or_default().push(variant),
            Err(words) => {
                scan.failed.push((resource, words.clone()));
                scan.problems.push(words);
            }
        }
    }
    find_variants_in_two_cases(&mut scan);
    for variants in scan.resources.values_mut() {
        let sets: Vec<_> = variants.iter().map(|variant| variant.properties.clone()).collect();
        let kept = variant::for_platform(&sets, platform);
        *variants = kept.into_iter().map(|i| variants[i].clone()).collect();
    }
    scan.resources.retain(|_, variants| !variants.is_empty());
    find_clashes(&mut scan, ResourceName::id);
    scan
}

fn variant_of(
    resource: &ResourceName,
    properties: Properties,
    files: Vec<(Form, File)>,
) -> Result<Variant, String> {
    let (mut own, mut raw) = (Vec::new(), Vec::new());
    for (form, file) in files {
        match form {
            Form::Own => own.push(file),
            Form::Raw => raw.push(file),
        }
    }
    if let Some(two) = own.get(..2).or(raw.get(..2)) {
        return Err(format!(
            "{} and {} are both the {} '{}': remove or rename one",
            two[0].path, two[1].path, resource.kind, resource.name
        ));
    }
    Ok(match (own.pop(), raw.pop()) {
        (Some(file), raw) => Variant { properties, file, form: Form::Own, raw },
        (None, Some(file)) => Variant { properties, file, form: Form::Raw, raw: None },
        (None, None) => unreachable!("every entry has a file"),
    })
}

/// What a file is called where upper and lower case are not told apart.
fn find_variants_in_two_cases(scan: &mut Scan) {
    for variants in scan.resources.values().filter(|variants| variants.len() > 1) {
        let mut by_lower: HashMap<String, &str> = HashMap::new();
        for Variant { file, .. } in variants {
            if let Some(other) = by_lower.insert(file.path.to_lowercase(), &file.path) {
                scan.problems.push(format!(
                    "'{other}' and '{}' differ in upper and lower case alone, which some file \
                     systems do not tell apart: rename one",
                    file.path
                ));
            }
        }
    }
}

/// Names that differ by case alone, or share a hash, cannot both be there.
fn find_clashes(scan: &mut Scan, id: impl Fn(&ResourceName) -> IdString64) {
    let mut by_lower: HashMap<String, &ResourceName> = HashMap::new();
    let mut by_id: HashMap<u64, &ResourceName> = HashMap::new();
    let mut problems = Vec::new();
    for resource in scan.resources.keys() {
        if let Some(other) = by_lower.insert(resource.to_string().to_lowercase(), resource) {
            problems.push(format!(
                "'{other}' and '{resource}' differ in upper and lower case alone, which some file \
                 systems do not tell apart: rename one"
            ));
        }
        if let Some(other) = by_id.insert(id(resource).0, resource) {
            problems.push(format!(
                "'{other}' and '{resource}' have the same hash {}: rename one",
                id(resource)
            ));
        }
    }
    scan.problems.extend(problems);
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::*;
    use std::fs;

    static TEXTURE: Kind = Kind {
        name: "texture",
        words: "A picture",
        extensions: &[("texture", Form::Own), ("png", Form::Raw), ("jpg", Form::Raw)],
        version: 1,
        compile: |compiling| Ok(compiling.bytes.clone()),
        validate: |_| Ok(()),
    };
    const KINDS: Kinds = Kinds(&[&TEXTURE]);

    fn scan(paths: &[&str], platform: &str) -> Scan {
        let state = FileState::default();
        let file = |path: &&str| File { path: path.to_string(), state };
        let files = paths.iter().map(file).collect();
        sort(Found { files, ..Found::default() }, &KINDS, platform)
    }

    #[test]
    fn an_own_file_wins_over_the_raw_one_beside_it() {
        let scan = scan(&["wall.png", "wall.texture", "floor.png"], "linux");
        let wall = &scan.resources[&ResourceName::new("texture", "wall")][0];
        assert_eq!(wall.file.path, "wall.texture");
        assert_eq!(wall.raw.as_ref().unwrap().path, "wall.png");
        assert_eq!(scan.resources[&ResourceName::new("texture", "floor")][0].form, Form::Raw);
    }

    #[test]
    fn names_that_clash_are_told_with_both_files() {
        let problems = |paths: &[&str]| scan(paths, "linux").problems;
        assert_eq!(
            problems(&["a.png", "a.jpg"]),
            ["a.png and a.jpg are both the texture 'a': remove or rename one"]
        );
        assert_eq!(
            problems(&["A.png", "a.png"]),
            ["'A.texture' and 'a.texture' differ in upper and lower case alone, which some file \
              systems do not tell apart: rename one"]
        );
        assert_eq!(
            problems(&["a.FR.png", "a.fr.png", "a.png"]),
            ["'a.FR.png' and 'a.fr.png' differ in upper and lower case alone, which some file \
              systems do not tell apart: rename one"]
        );
    }

    #[test]
    fn a_folder_that_cannot_be_entered_costs_what_is_in_it_alone() {
        let root = std::env::temp_dir().join(format!("engine-{}-scan-deep", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let deep = ["d"; FOLDERS_DEEP_MAX + 1].join("/");
        fs::create_dir_all(root.join(&deep)).unwrap();
        fs::write(root.join(&deep).join("x.png"), "x").unwrap();
        fs::write(root.join("y.png"), "y").unwrap();
        let found = files(&root).unwrap();
        let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["y.png"]);
        assert_eq!(
            found.problems,
            [format!(
                "{deep}: folders are nested more than 64 deep (FOLDERS_DEEP_MAX): what is in it is \
                 left out"
            )]
        );
        let scan = sort(found, &KINDS, "linux");
        assert_eq!((scan.resources.len(), scan.problems.len()), (1, 1));
        fs::remove_dir_all(root).unwrap();
        let words = files(Path::new("/nowhere/game")).unwrap_err().message;
        assert!(words.starts_with("the folder '/nowhere/game' cannot be read: "), "{words}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_may_not_be_read_is_told() {
        use std::os::unix::fs::PermissionsExt;
        let root = std::env::temp_dir().join(format!("engine-{}-scan-shut", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("shut")).unwrap();
        fs::write(root.join("y.png"), "y").unwrap();
        let allow = |mode| fs::set_permissions(root.join("shut"), PermissionsExt::from_mode(mode));
        allow(0o000).unwrap();
        let found = files(&root).unwrap();
        assert_eq!(found.files.len(), 1);
        // Nothing is shut to the superuser.
        if fs::read_dir(root.join("shut")).is_err() {
            let words = &found.problems[0];
            assert!(words.starts_with("shut: the folder cannot be read ("), "{words}");
        }
        allow(0o755).unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn names_that_share_a_hash_are_told_with_it() {
        let mut scan = scan(&["a.png", "b.png"], "linux");
        find_clashes(&mut scan, |_| IdString64(7));
        assert_eq!(
            scan.problems,
            ["'a.texture' and 'b.texture' have the same hash 0000000000000007: rename one"]
        );
    }

    #[test]
    fn a_circle_of_links_is_entered_once() {
        let root = std::env::temp_dir().join(format!("engine-{}-scan", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/x.png"), "x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&root, root.join("a/b/again")).unwrap();
        let found = files(&root).unwrap();
        assert!(found.files.iter().any(|file| file.path == "a/b/x.png"));
        assert_eq!(found.files.len(), 1, "a link back to the folder itself is none: {found:?}");
        fs::remove_dir_all(root).unwrap();
    }
}
