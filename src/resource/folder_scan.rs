//! Scan of a game's folder: lists its files and sorts them into resources and their variants. Reads
//! names and times, no contents.

use super::resource_kind::{ResourceKinds, SourceForm};
use super::resource_name::{ResourceName, SourceName};
use super::variant::{self, Platforms, VariantProperties};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access::{self, AccessError, EntryKind, FileState, FolderId};
use engine_foundation::hash::IdString64;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Maximum number of files in a game's folder.
pub const FILES_MAX: usize = 1_000_000;
/// Maximum nesting depth of its folders. A cycle of links ends here at the latest.
pub const FOLDERS_DEEP_MAX: usize = 64;

/// A file with the state that makes changes quick to detect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedFile {
    /// Path relative to the game's folder, with `/` separators.
    pub path: String,
    pub state: FileState,
}

/// The files of a folder.
#[derive(Debug, Default)]
pub struct FolderFiles {
    /// Files sorted by path.
    pub files: Vec<ScannedFile>,
    /// Folders that were reached through a link.
    pub linked: Vec<String>,
    /// Messages about files and folders that could not be examined.
    pub problems: Vec<String>,
}

/// One variant of a resource: its properties, and its one or two source files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedVariant {
    pub properties: VariantProperties,
    /// The file that is compiled, and its form.
    pub file: ScannedFile,
    pub form: SourceForm,
    /// The raw file next to a file in the resource's own form.
    pub raw: Option<ScannedFile>,
}

/// Result of a scan: all resources of a folder, and the problems found.
#[derive(Debug, Default)]
pub struct FolderScan {
    /// Resources with their variants, in order of name.
    pub resources: BTreeMap<ResourceName, Vec<ScannedVariant>>,
    /// Error messages about names.
    pub problems: Vec<String>,
    /// Resources without a usable file, each with its error message, which is also among the
    /// problems.
    pub failed: Vec<(ResourceName, String)>,
}

/// Lists the files below a folder. Hidden files are left out. Folders that were reached through a
/// link are entered once. Links that lead out of the folder are not followed. A folder that cannot
/// be entered is reported as a problem, and its contents are missing.
pub fn files(root: &Path) -> Result<FolderFiles, Error> {
    let mut found = FolderFiles::default();
    walk(root, "", 0, true, &mut HashSet::new(), &mut found)?;
    found.files.sort_compact_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Lists one folder and its subfolders. `track_visits` is true if the folder was reached through a
/// link, or is the root, because a link may lead back to the root.
fn walk(
    root: &Path,
    prefix: &str,
    depth: usize,
    track_visits: bool,
    visited: &mut HashSet<FolderId>,
    found: &mut FolderFiles,
) -> Result<(), Error> {
    if depth > FOLDERS_DEEP_MAX {
        found.problems.push(format!(
            "{prefix}: folders are nested more than {FOLDERS_DEEP_MAX} deep (FOLDERS_DEEP_MAX): \
             its contents are ignored"
        ));
        return Ok(());
    }
    let listing = match file_access::list_states(root, prefix) {
        Ok(listing) => listing,
        // The folder was removed during the scan.
        Err(refusal) if depth > 0 && refusal.is_missing() => return Ok(()),
        Err(reason) => {
            if depth == 0 {
                return Err(error!("the folder '{}' cannot be read: {reason}", root.display()));
            }
            found.problems.push(format!(
                "{prefix}: the folder cannot be read ({reason}): its contents are ignored"
            ));
            return Ok(());
        }
    };
    if track_visits && !visited.insert(listing.id) {
        return Ok(());
    }
    if track_visits && depth > 0 {
        found.linked.push(prefix.to_string());
    }
    for entry in listing.entries {
        // A name that is not UTF-8 cannot be written in Lua or SJSON, so the file is not a
        // resource.
        let Ok(name) = entry.name.into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        match entry.kind {
            EntryKind::Folder => {
                walk(root, &path, depth + 1, entry.is_link, visited, found)?;
            }
            EntryKind::LinkOut if leads_to_folder(root, &path) => {
                found.problems.push(AccessError::Link.message(&path));
            }
            // Nothing is read through a link that leads out of the root. The compiler reports such
            // links.
            EntryKind::File | EntryKind::LinkOut => {
                if found.files.len() == FILES_MAX {
                    return Err(error!("there are more than {FILES_MAX} files (FILES_MAX)"));
                }
                found.files.push(ScannedFile { path, state: entry.state });
            }
            EntryKind::Special | EntryKind::Dangling => {}
        }
    }
    Ok(())
}

/// Returns true if a link that leads out of the root leads to a folder. Whole folders are reported
/// once, instead of file by file.
fn leads_to_folder(root: &Path, path: &str) -> bool {
    root.join(path).is_dir()
}

/// Returns true for the reference files of a suite's screenshots, in a folder such as
/// `ui/hud_test.golden`. They are not resources of the game.
pub fn is_reference_picture(path: &str) -> bool {
    path.rsplit('/').skip(1).any(|folder| folder.ends_with(".golden"))
}

/// Sorts files into resources and their variants, for a platform.
pub fn group_by_resource(
    found: FolderFiles,
    kinds: &ResourceKinds,
    platform: &str,
    platforms: &Platforms,
) -> FolderScan {
    let mut scan = FolderScan { problems: found.problems, ..FolderScan::default() };
    let mut sources: BTreeMap<(ResourceName, VariantProperties), Vec<(SourceForm, ScannedFile)>> =
        BTreeMap::new();
    for file in found.files.into_iter().filter(|file| !is_reference_picture(&file.path)) {
        match SourceName::of(&file.path, kinds) {
            None => {}
            Some(Err(message)) => scan.problems.push(message),
            Some(Ok(source)) => {
                let key = (source.resource, source.properties);
                sources.entry(key).or_default().push((source.form, file));
            }
        }
    }
    for ((resource, properties), files) in sources {
        match variant_of(&resource, properties, files) {
            Ok(variant) => scan.resources.entry(resource).or_default().push(variant),
            Err(message) => {
                scan.failed.push((resource, message.clone()));
                scan.problems.push(message);
            }
        }
    }
    report_case_clashes(&mut scan);
    for variants in scan.resources.values_mut() {
        let sets: Vec<_> = variants.iter().map(|variant| variant.properties.clone()).collect();
        let kept = variant::for_platform(&sets, platform, platforms);
        *variants = kept.into_iter().map(|i| variants[i].clone()).collect();
    }
    scan.resources.retain(|_, variants| !variants.is_empty());
    report_clashes(&mut scan, ResourceName::id);
    scan
}

fn variant_of(
    resource: &ResourceName,
    properties: VariantProperties,
    files: Vec<(SourceForm, ScannedFile)>,
) -> Result<ScannedVariant, String> {
    let (mut own, mut raw) = (Vec::new(), Vec::new());
    for (form, file) in files {
        match form {
            SourceForm::Own => own.push(file),
            SourceForm::Raw => raw.push(file),
        }
    }
    if let Some(pair) = own.get(..2).or(raw.get(..2)) {
        return Err(format!(
            "{} and {} are both the {} '{}': remove or rename one",
            pair[0].path, pair[1].path, resource.kind, resource.name
        ));
    }
    Ok(match (own.pop(), raw.pop()) {
        (Some(file), raw) => ScannedVariant { properties, file, form: SourceForm::Own, raw },
        (None, Some(file)) => ScannedVariant { properties, file, form: SourceForm::Raw, raw: None },
        (None, None) => unreachable!("every entry has a file"),
    })
}

/// Reports variants with paths that differ in upper and lower case alone, because some file systems
/// treat them as the same file.
fn report_case_clashes(scan: &mut FolderScan) {
    for variants in scan.resources.values().filter(|variants| variants.len() > 1) {
        let mut by_lower: HashMap<String, &str> = HashMap::new();
        for ScannedVariant { file, .. } in variants {
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

/// Reports resource names that differ in case alone, or share a hash: both cannot exist.
fn report_clashes(scan: &mut FolderScan, id: impl Fn(&ResourceName) -> IdString64) {
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
    use super::super::resource_kind::ResourceKind;
    use super::*;
    use std::fs;

    static TEXTURE: ResourceKind = ResourceKind {
        name: "texture",
        doc: "A picture",
        extensions: &[
            ("texture", SourceForm::Own),
            ("png", SourceForm::Raw),
            ("jpg", SourceForm::Raw),
        ],
        version: 1,
        framed: false,
        reload: &[],
        compile: |compiling| Ok(compiling.bytes.clone()),
        validate: |_| Ok(()),
    };
    const KINDS: ResourceKinds = ResourceKinds(&[&TEXTURE]);

    fn scan(paths: &[&str], platform: &str) -> FolderScan {
        let state = FileState::default();
        let file = |path: &&str| ScannedFile { path: path.to_string(), state };
        let files = paths.iter().map(file).collect();
        group_by_resource(
            FolderFiles { files, ..FolderFiles::default() },
            &KINDS,
            platform,
            &Platforms::default(),
        )
    }

    #[test]
    fn a_resource_file_wins_over_the_raw_file_of_its_name() {
        let scan = scan(&["wall.png", "wall.texture", "floor.png"], "linux");
        let wall = &scan.resources[&ResourceName::new("texture", "wall")][0];
        assert_eq!(wall.file.path, "wall.texture");
        assert_eq!(wall.raw.as_ref().unwrap().path, "wall.png");
        assert_eq!(scan.resources[&ResourceName::new("texture", "floor")][0].form, SourceForm::Raw);
    }

    #[test]
    fn references_of_screenshots_are_not_resources() {
        let paths = ["ui/hud_test.golden/menu.png", "a.golden/b/c.png", "d.golden.png", "e.png"];
        let names: Vec<_> = scan(&paths, "linux").resources.into_keys().map(|it| it.name).collect();
        assert_eq!(names, ["d", "e"], "only folders count; d has the property 'golden'");
    }

    #[test]
    fn clashing_names_are_reported_with_both_files() {
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
    fn an_unreadable_folder_hides_only_its_own_files() {
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
                "{deep}: folders are nested more than 64 deep (FOLDERS_DEEP_MAX): its contents are \
                 ignored"
            )]
        );
        let scan = group_by_resource(found, &KINDS, "linux", &Platforms::default());
        assert_eq!((scan.resources.len(), scan.problems.len()), (1, 1));
        fs::remove_dir_all(root).unwrap();
        let message = files(Path::new("/nowhere/game")).unwrap_err().message;
        assert!(message.starts_with("the folder '/nowhere/game' cannot be read: "), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn an_unreadable_folder_is_reported() {
        use std::os::unix::fs::PermissionsExt;
        let root = std::env::temp_dir().join(format!("engine-{}-scan-shut", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("shut")).unwrap();
        fs::write(root.join("y.png"), "y").unwrap();
        let allow = |mode| fs::set_permissions(root.join("shut"), PermissionsExt::from_mode(mode));
        allow(0o000).unwrap();
        let found = files(&root).unwrap();
        assert_eq!(found.files.len(), 1);
        // The superuser can read every folder.
        if fs::read_dir(root.join("shut")).is_err() {
            let message = &found.problems[0];
            assert!(message.starts_with("shut: the folder cannot be read ("), "{message}");
        }
        allow(0o755).unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn hash_collisions_are_reported_with_the_hash() {
        let mut scan = scan(&["a.png", "b.png"], "linux");
        report_clashes(&mut scan, |_| IdString64(7));
        assert_eq!(
            scan.problems,
            ["'a.texture' and 'b.texture' have the same hash 0000000000000007: rename one"]
        );
    }

    #[test]
    fn a_cycle_of_links_is_scanned_once() {
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
