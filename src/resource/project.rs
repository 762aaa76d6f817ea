//! A game's folder, and the scripts in it and in the engine's own `core/`. This module handles
//! paths and text; it does not interpret scripts.

use super::{bundle, nearby_game};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access::{self, AccessError, EntryKind, readers};
use engine_foundation::{Error, suggest};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Scripts that are embedded in the engine. `require` finds them if the game has no script of that
/// name.
pub const CORE_SCRIPTS: &[(&str, &str)] = &[
    ("camera_2d.lua", include_str!("../../core/camera_2d.lua")),
    ("stingray.lua", include_str!("../../core/stingray.lua")),
    ("stingray_sound.lua", include_str!("../../core/stingray_sound.lua")),
    ("strict.lua", include_str!("../../core/strict.lua")),
    ("tools/check.lua", include_str!("../../core/tools/check.lua")),
    ("tools/navigation.lua", include_str!("../../core/tools/navigation.lua")),
    ("tools/particle_viewer.lua", include_str!("../../core/tools/particle_viewer.lua")),
    ("tools/resource_viewer.lua", include_str!("../../core/tools/resource_viewer.lua")),
];

/// Maximum length of a script's name in bytes.
pub const NAME_BYTES_MAX: usize = 200;

/// The files of a game: a folder, or the names that a bundle keeps of one.
#[derive(Clone, Debug)]
pub struct Project {
    root: ProjectRoot,
    /// Folders, relative to the root, that are searched for scripts, in order. `""` is the root. A
    /// path with a `?` is a whole path, in which the module's name replaces the `?`.
    pub script_folders: Vec<String>,
    /// Paths of files that are treated as missing.
    simulated_missing: Vec<String>,
}

#[derive(Clone, Debug)]
enum ProjectRoot {
    Folder(PathBuf),
    /// Name of the folder, and paths of its scripts. The text of the scripts is compiled data.
    Bundle {
        name: String,
        scripts: Vec<String>,
    },
}

/// Text of a script, and its name in messages: its path relative to the game's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSource {
    pub chunk: String,
    pub text: String,
}

/// Reason why a script could not be loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptError {
    /// The files that were tried, and the names of existing scripts near them.
    Missing { tried: Vec<String>, near: Vec<String> },
    /// The script exists or could exist, but it cannot be used. The text gives the reason.
    Unusable(String),
}

impl Project {
    /// Opens a game's folder.
    pub fn open(folder: &Path) -> Result<Project, Error> {
        let display_path = folder.display();
        match fs::metadata(folder) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => Err(error!(
                "there is no folder '{display_path}': give the game's folder, or make one with \
                 `engine new {display_path}`"
            )),
            Err(reason) => Err(error!("the folder '{display_path}' cannot be opened: {reason}")),
            Ok(found) if !found.is_dir() => Err(match bundle::looks_like_bundle(folder) {
                true => error!(
                    "'{display_path}' is a bundle, which `engine run {display_path}` plays: give \
                     the game's folder that it was made of"
                ),
                false => error!(
                    "'{display_path}' is a file: give the folder that it is in (a game is a \
                     folder with a main.lua)"
                ),
            }),
            Ok(_) => {
                let root = ProjectRoot::Folder(folder.to_path_buf());
                Ok(Project {
                    root,
                    script_folders: vec![String::new()],
                    simulated_missing: Vec::new(),
                })
            }
        }
    }

    /// Creates the project of a game in a bundle. `name` is the name of the folder that the bundle
    /// was built from; `scripts` are the paths of its scripts.
    pub fn from_bundle(name: &str, scripts: Vec<String>) -> Project {
        let root = ProjectRoot::Bundle { name: name.to_string(), scripts };
        Project { root, script_folders: vec![String::new()], simulated_missing: Vec::new() }
    }

    /// Returns the game's folder if the game runs from a folder.
    pub fn folder(&self) -> Option<&Path> {
        match &self.root {
            ProjectRoot::Folder(root) => Some(root),
            ProjectRoot::Bundle { .. } => None,
        }
    }

    /// Returns the name of the game's folder, for a game without a name in its settings.
    pub fn folder_name(&self) -> String {
        let root = match &self.root {
            ProjectRoot::Folder(root) => root,
            ProjectRoot::Bundle { name, .. } => return name.clone(),
        };
        let full = fs::canonicalize(root).unwrap_or_else(|_| root.clone());
        let name = full.file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| "game".to_string())
    }

    /// Returns the error message for a missing boot script, or `None` if the script exists.
    pub fn missing_boot_message(&self, module: &str) -> Option<String> {
        let Err(ScriptError::Missing { tried, near }) = self.script(module) else { return None };
        let hint = suggest::hint(module, near.iter().map(String::as_str));
        if module != "main" {
            let tried = tried.join(", ");
            return Some(format!(
                "there is no module '{module}' to start with{hint} (looked for {tried}): \
                 boot_script in settings.sjson, or --boot, names it"
            ));
        }
        let (display_path, near) = match &self.root {
            ProjectRoot::Folder(root) => (root.display().to_string(), nearby_game::sentence(root)),
            ProjectRoot::Bundle { name, .. } => (name.clone(), None),
        };
        let remedy = near.unwrap_or_else(|| {
            "A game is a folder with a main.lua, which the engine runs: write one, or make a game \
             with `engine new NAME`"
                .to_string()
        });
        Some(format!("'{display_path}' has no main.lua{hint}\n{remedy}"))
    }

    /// Treats a file as missing.
    pub fn simulate_missing(&mut self, file: String) {
        self.simulated_missing.push(file);
    }

    pub fn has_simulated_missing(&self) -> bool {
        !self.simulated_missing.is_empty()
    }

    /// Makes all hidden files visible again.
    pub fn end_simulated_missing(&mut self) {
        self.simulated_missing.clear();
    }

    /// Finds the script of a module. `a.b` is `a/b.lua`, then `a/b/init.lua`, in the game's folders
    /// and in `core/`. `a/b` is another spelling of `a.b`.
    pub fn script(&self, module: &str) -> Result<ScriptSource, ScriptError> {
        check_name(module).map_err(ScriptError::Unusable)?;
        let path = module.replace('.', "/");
        let mut tried = Vec::new();
        for folder in &self.script_folders {
            for chunk in chunks_in(folder, &path) {
                match self.read(&chunk)? {
                    Some(text) => return Ok(ScriptSource { chunk, text }),
                    None => tried.push(chunk),
                }
            }
        }
        for end in [".lua", "/init.lua"] {
            // Also accepts the path that includes the folder: core/tools/particle_viewer.
            let name = format!("{}{end}", path.strip_prefix("core/").unwrap_or(&path));
            if let Some((_, text)) = CORE_SCRIPTS.iter().find(|(known, _)| *known == name) {
                return Ok(ScriptSource { chunk: format!("core/{name}"), text: text.to_string() });
            }
            tried.push(format!("core/{name}"));
        }
        Err(ScriptError::Missing { tried, near: self.scripts_near(&path) })
    }

    /// Returns the error message for a module name with a dot that is part of a file's name. Such a
    /// file is a variant of the module before the dot.
    pub fn variant_name_message(&self, module: &str) -> Option<String> {
        let ProjectRoot::Folder(root) = &self.root else { return None };
        let dots = module.match_indices('.').map(|(at, _)| at);
        self.script_folders.iter().filter(|folder| !folder.contains('?')).find_map(|folder| {
            let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            dots.clone().find_map(|at| {
                let (base, properties) = (&module[..at], &module[at + 1..]);
                let path = format!("{folder}{}.{properties}.lua", base.replace('.', "/"));
                file_access::is_file(root, &path).then(|| {
                    format!(
                        "{path} is variant \"{properties}\" of {base}: rename it (dots in names \
                         are variants)"
                    )
                })
            })
        })
    }

    /// Reads a script by its path relative to the game's folder. Returns `None` if no such file
    /// exists.
    pub fn read(&self, chunk: &str) -> Result<Option<String>, ScriptError> {
        let ProjectRoot::Folder(root) = &self.root else { return Ok(None) };
        if self.simulated_missing.iter().any(|file| file == chunk) {
            return Ok(None);
        }
        let read = match file_access::stays_inside(chunk) {
            true => file_access::read(root, chunk, &readers::SCRIPT),
            false => self.read_outside(root, chunk),
        };
        match read {
            Ok(bytes) => self.text_of(chunk, bytes).map(Some),
            Err(AccessError::Folder) => Ok(None),
            Err(refusal) if refusal.is_missing() => Ok(None),
            // A file in place of a folder, for example `a.lua/init.lua` if `a.lua` is a file.
            Err(AccessError::System(reason)) if reason.kind() == ErrorKind::NotADirectory => {
                Ok(None)
            }
            Err(refusal) => Err(ScriptError::Unusable(refusal.message(chunk))),
        }
    }

    /// Reads a script outside the game's folder that the user named (`--helper`).
    pub fn read_named(&self, path: &str) -> Result<Option<String>, ScriptError> {
        let ProjectRoot::Folder(root) = &self.root else { return Ok(None) };
        match file_access::read_named(&root.join(path), &readers::SCRIPT) {
            Ok(bytes) => self.text_of(path, bytes).map(Some),
            Err(refusal) if refusal.is_missing() => Ok(None),
            Err(refusal) => Err(ScriptError::Unusable(refusal.message(path))),
        }
    }

    /// Reads a script in a folder outside the game's folder that the user named (`--lpath`).
    fn read_outside(&self, root: &Path, chunk: &str) -> Result<Vec<u8>, AccessError> {
        let outside = self.script_folders.iter().filter(|path| !file_access::stays_inside(path));
        for folder in outside.map(|path| fixed_part(path)) {
            if let Some(rest) = chunk.strip_prefix(folder) {
                let rest = rest.trim_start_matches('/');
                return file_access::read(&root.join(folder), rest, &readers::SCRIPT);
            }
        }
        Err(AccessError::Path)
    }

    fn text_of(&self, chunk: &str, bytes: Vec<u8>) -> Result<String, ScriptError> {
        if bytes.starts_with(b"\x1bL") {
            return Err(ScriptError::Unusable(format!(
                "{chunk} is a compiled chunk: games are text, put the Lua source there"
            )));
        }
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => rest.to_vec(),
            None => bytes,
        };
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            ScriptError::Unusable(format!(
                "{chunk}:{line}: the file is not UTF-8: save it as UTF-8 text"
            ))
        })
    }

    /// Returns the modules in the folder where the missing module would be.
    fn scripts_near(&self, path: &str) -> Vec<String> {
        let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
        let prefix = if folder.is_empty() { String::new() } else { folder.replace('/', ".") + "." };
        let names: Vec<String> = match &self.root {
            ProjectRoot::Folder(root) => {
                let Ok(listing) = file_access::list(root, folder) else { return Vec::new() };
                let files =
                    listing.entries.into_iter().filter(|entry| entry.kind == EntryKind::File);
                let names = files.filter_map(|entry| entry.name.into_string().ok());
                let hidden = |name: &String| match folder {
                    "" => self.simulated_missing.contains(name),
                    folder => self.simulated_missing.contains(&format!("{folder}/{name}")),
                };
                names.filter(|name| !hidden(name)).collect()
            }
            ProjectRoot::Bundle { scripts, .. } => {
                let split = |path: &String| match path.rsplit_once('/') {
                    Some((inside, name)) => (inside == folder).then(|| name.to_string()),
                    None => folder.is_empty().then(|| path.clone()),
                };
                scripts.iter().filter_map(split).collect()
            }
        };
        let names = names.iter();
        let scripts = names.filter_map(|name| Some(prefix.clone() + name.strip_suffix(".lua")?));
        let mut scripts: Vec<String> = scripts.collect();
        scripts.sort_compact();
        scripts
    }
}

/// Returns the folder that all paths of a script folder with a `?` begin with.
fn fixed_part(folder: &str) -> &str {
    let Some(mark) = folder.find('?') else { return folder };
    match folder[..mark].rfind('/') {
        Some(0) => "/",
        Some(end) => &folder[..end],
        None => "",
    }
}

/// Returns the possible paths of a module's script in one of the script folders.
fn chunks_in(folder: &str, path: &str) -> Vec<String> {
    if folder.contains('?') {
        return vec![folder.replace('?', path)];
    }
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    [".lua", "/init.lua"].map(|end| format!("{folder}{path}{end}")).to_vec()
}

/// Refuses names that could lead out of the game's folder, or to a different file on another
/// system.
pub fn check_name(module: &str) -> Result<(), String> {
    let problem = if module.is_empty() {
        "is empty"
    } else if module.len() > NAME_BYTES_MAX {
        "is longer than 200 bytes (NAME_BYTES_MAX)"
    } else if module.contains(['\\', ':']) || module.contains(char::is_control) {
        "must be written with dots, as in require \"scripts.enemy\""
    } else if module.split(['.', '/']).any(str::is_empty) {
        "must have a name between its dots or slashes, as in require \"scripts.enemy\", and \
         stays inside of the game's folder"
    } else {
        return Ok(());
    };
    Err(format!("the module's name '{module}' {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str, files: &[(&str, &[u8])]) -> Project {
        let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Project::open(&root).unwrap()
    }

    #[test]
    fn modules_are_searched_as_file_then_folder_then_engine_module() {
        let project = scratch(
            "order",
            &[("a/b.lua", b"1"), ("a/b/init.lua", b"2"), ("c/init.lua", b"3"), ("d.lua", b"4")],
        );
        let chunk = |name| project.script(name).map(|script| script.chunk);
        assert_eq!(chunk("a.b"), Ok("a/b.lua".to_string()));
        assert_eq!(chunk("a/b"), Ok("a/b.lua".to_string()));
        assert_eq!(chunk("c"), Ok("c/init.lua".to_string()));
        assert_eq!(chunk("strict"), Ok("core/strict.lua".to_string()));
        let tried = ["e.lua", "e/init.lua", "core/e.lua", "core/e/init.lua"].map(String::from);
        let near = vec!["d".to_string()];
        assert_eq!(chunk("e"), Err(ScriptError::Missing { tried: tried.to_vec(), near }));
    }

    #[test]
    fn a_module_file_with_a_dot_is_reported_as_a_variant() {
        let project = scratch("dots", &[("mod.v.lua", b"1"), ("a/b.c.lua", b"2"), ("d.lua", b"4")]);
        assert!(matches!(project.script("mod.v"), Err(ScriptError::Missing { .. })));
        let rename = "rename it (dots in names are variants)";
        let message = format!("mod.v.lua is variant \"v\" of mod: {rename}");
        assert_eq!(project.variant_name_message("mod.v"), Some(message));
        let message = format!("a/b.c.lua is variant \"c\" of a.b: {rename}");
        assert_eq!(project.variant_name_message("a.b.c"), Some(message));
        assert_eq!(project.variant_name_message("d.e"), None);
    }

    #[test]
    fn names_that_lead_out_of_the_game_are_refused() {
        let project = scratch("names", &[]);
        let names = [
            "",
            "../x",
            "a..b",
            "a//b",
            "/a",
            "a/",
            "/etc/passwd",
            "a/../b",
            "./a",
            "C:x",
            "a\\b",
            ".a",
            "a\0b",
        ];
        for name in names {
            assert!(matches!(project.script(name), Err(ScriptError::Unusable(_))), "{name}");
        }
    }

    #[test]
    fn compiled_chunks_and_binary_files_are_refused() {
        let project = scratch("text", &[("b.lua", b"\x1bLJ\x02"), ("l.lua", b"x = 1\n\xff")]);
        let message = |name| match project.script(name) {
            Err(ScriptError::Unusable(message)) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            message("b"),
            "b.lua is a compiled chunk: games are text, put the Lua source there"
        );
        assert_eq!(message("l"), "l.lua:2: the file is not UTF-8: save it as UTF-8 text");
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let project = scratch("mark", &[("m.lua", b"\xef\xbb\xbfreturn 1")]);
        assert_eq!(project.script("m").unwrap().text, "return 1");
    }

    #[test]
    fn the_error_for_a_folder_without_main_lua_explains_games() {
        let project = scratch("boot", &[("man.lua", b"")]);
        let message = project.missing_boot_message("main").unwrap();
        assert!(message.contains("has no main.lua, did you mean 'man'?\nA game is"), "{message}");
        let message = project.missing_boot_message("start").unwrap();
        assert!(
            message.starts_with("there is no module 'start' to start with (looked"),
            "{message}"
        );
        assert_eq!(project.missing_boot_message("man"), None);
    }

    #[test]
    fn the_error_for_a_missing_folder_names_the_new_command() {
        let error = Project::open(Path::new("/nowhere/game")).unwrap_err();
        assert!(error.message.starts_with("there is no folder '/nowhere/game'"), "{error}");
    }
}
