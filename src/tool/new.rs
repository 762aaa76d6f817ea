//! `engine new`: a folder with a small game that runs, tests itself and completes in an editor. The
//! files are those of game_template/, or in place of its game those of templates/.

use super::definitions;
use crate::app::exit;
use crate::error;
use crate::foundation::{Error, log};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name that stands in the template where a game's own name is due.
const TEMPLATE_NAME: &str = "game_template";

/// The longest name of a game, in bytes; with it, every path of the new game fits any file system.
const NAME_BYTES_MAX: usize = 100;

/// Path and content.
type Files = &'static [(&'static str, &'static [u8])];

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../", $folder, "/", $name)) as &[u8])),*]
    };
}

/// What every new game has: settings, for the engine and for editors.
const SHARED: Files = files![
    "game_template":
    "settings.sjson",
    ".gitignore",
    ".luarc.json",
    ".vscode/extensions.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
];

const TWO_D: Files = files![
    "game_template":
    "main.lua",
    "ball.lua",
    "sounds/bounce.wav",
    "tests/ball_test.lua",
    "tests/game_test.lua",
    "README.md",
];

const THREE_D: Files = files![
    "templates/3d":
    "main.lua",
    "materials/ground.material",
    "materials/iron.material",
    "materials/wood.material",
    "tests/tower_test.lua",
    "units/ball.unit",
    "units/box.unit",
    "units/floor.unit",
    "README.md",
];

const EMPTY: Files = files!["templates/empty": "main.lua", "tests/main_test.lua", "README.md"];

/// What a new game begins with.
#[derive(Clone, Copy, PartialEq, Debug, clap::ValueEnum)]
enum Template {
    /// Keep the balls in the air: drawing, actions, sound, saves
    #[value(name = "2d")]
    TwoD,
    /// Knock a tower over: units, lights, physics
    #[value(name = "3d")]
    ThreeD,
    /// The callbacks, and nothing in them
    Empty,
}

impl Template {
    fn files(self) -> Files {
        match self {
            Template::TwoD => TWO_D,
            Template::ThreeD => THREE_D,
            Template::Empty => EMPTY,
        }
    }
}

/// Make a game that runs: a folder with a first script, a test suite and editor settings
#[derive(clap::Args)]
pub struct Args {
    /// The folder to make; its name becomes the game's
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What it begins with
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Template::TwoD)]
    template: Template,
}

pub fn main(args: Args) -> i32 {
    match make(&args.folder, args.template) {
        Ok(name) => {
            definitions::refresh(&args.folder);
            log::info(&next_steps(&name, &args.folder));
            exit::SUCCESS
        }
        Err(error) => {
            log::error(&error.to_string());
            exit::FAILED
        }
    }
}

/// Makes the game: its name.
fn make(folder: &Path, template: Template) -> Result<String, Error> {
    let name = name_of(folder)?;
    check_empty(folder)?;
    let files = SHARED.iter().chain(template.files());
    let named = files.map(|(path, content)| match std::str::from_utf8(content) {
        Ok(text) => (*path, text.replace(TEMPLATE_NAME, &name).into_bytes()),
        Err(_) => (*path, content.to_vec()),
    });
    write(folder, &named.collect::<Vec<_>>())?;
    Ok(name)
}

/// The game's name: that of its folder, which need not exist yet.
fn name_of(folder: &Path) -> Result<String, Error> {
    let shown = folder.display();
    let full = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let Some(name) = full.file_name() else {
        return Err(error!("'{shown}' does not end in a name: give the folder to make"));
    };
    let Some(name) = name.to_str() else {
        return Err(error!("the name '{shown}' is not valid UTF-8: give the folder another name"));
    };
    let allowed = |c: char| c.is_alphanumeric() || " -_.".contains(c);
    if let Some(odd) = name.chars().find(|c| !allowed(*c)) {
        return Err(error!(
            "the name {name:?} has {odd:?} in it: use letters, digits, spaces, '-', '_' and '.', \
             for the game is called like its folder"
        ));
    }
    if name.starts_with(['-', '.', ' ']) || name.ends_with(['.', ' ']) {
        return Err(error!(
            "the name {name:?} should begin with a letter or digit, and not end in '.' or a space"
        ));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(error!(
            "the name has {} bytes, and {NAME_BYTES_MAX} are allowed (NAME_BYTES_MAX): give a \
             shorter one",
            name.len()
        ));
    }
    Ok(name.to_string())
}

/// Refuses a folder that has something in it; a Git repository without files is as good as empty.
fn check_empty(folder: &Path) -> Result<(), Error> {
    let shown = folder.display();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(_) if folder.is_file() => {
            return Err(error!("there is a file '{shown}' already: give another name"));
        }
        Err(reason) => return Err(error!("the folder '{shown}' cannot be read: {reason}")),
    };
    for entry in entries {
        let entry = entry.map_err(|why| error!("the folder '{shown}' cannot be read: {why}"))?;
        if entry.file_name() != ".git" {
            return Err(error!(
                "the folder '{shown}' is not empty ('{}' is in it): give the name of a new folder",
                entry.file_name().display()
            ));
        }
    }
    Ok(())
}

/// Writes the files, all or none, and the folders they are in.
fn write(folder: &Path, files: &[(&str, Vec<u8>)]) -> Result<(), Error> {
    let mut made = Vec::new();
    for (path, content) in files {
        if let Err(error) = write_file(&folder.join(path), content, &mut made) {
            // Only what was made here goes; what cannot be removed is left, for the error is told.
            for path in made.iter().rev() {
                let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
            }
            return Err(error);
        }
    }
    Ok(())
}

fn write_file(path: &Path, content: &[u8], made: &mut Vec<PathBuf>) -> Result<(), Error> {
    let inside = path.parent().expect("a file is in a folder");
    make_folders(inside, made)
        .map_err(|reason| error!("the folder '{}' cannot be made: {reason}", inside.display()))?;
    let shown = path.display();
    let fault = |reason| error!("'{shown}' cannot be written: {reason}");
    let mut file = File::create_new(path).map_err(fault)?;
    made.push(path.to_path_buf());
    file.write_all(content).map_err(fault)
}

/// Makes a folder and those it is in, and notes each that was not there.
fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(outer) = folder.parent() {
        make_folders(outer, made)?;
    }
    fs::create_dir(folder)?;
    made.push(folder.to_path_buf());
    Ok(())
}

fn next_steps(name: &str, folder: &Path) -> String {
    let engine = program();
    let there = folder.display().to_string();
    let change = if there == "." { String::new() } else { format!("  cd {}\n", quoted(&there)) };
    format!("Made the game \"{name}\". Next:\n\n{change}  {engine} run .\n  {engine} test .")
}

/// How the reader can call this program from any folder: by its name where the shell found it by
/// that, else by its path.
fn program() -> String {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let by_name = called.components().count() == 1;
    match std::env::current_exe() {
        Ok(path) if !by_name => quoted(&path.display().to_string()),
        _ => "engine".to_string(),
    }
}

fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./\\:".contains(c);
    if path.chars().all(plain) { path.to_string() } else { format!("\"{path}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files in a folder of the project, without what playing it left there.
    fn files_in(root: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true if path.ends_with(".engine") => {}
                    true => folders.push(path),
                    false => {
                        let inside = path.strip_prefix(&root).unwrap();
                        found.push(inside.to_str().unwrap().replace('\\', "/"));
                    }
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn every_file_of_a_template_is_written_and_no_other() {
        for (folder, lists) in [
            ("game_template", &[SHARED, TWO_D][..]),
            ("templates/3d", &[THREE_D]),
            ("templates/empty", &[EMPTY]),
        ] {
            let files = lists.iter().copied().flatten();
            let mut listed: Vec<&str> = files.map(|(path, _)| *path).collect();
            listed.sort();
            assert_eq!(files_in(folder), listed);
        }
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let base = std::env::temp_dir().join(format!("engine-{}-half", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir(&base).unwrap();
        // The second file would have to stand inside of the first.
        let files = [("tests/a", Vec::new()), ("tests/a/b", Vec::new())];
        let error = write(&base.join("deep/game"), &files).unwrap_err();
        assert!(error.message.contains("a' cannot be made: "), "{error}");
        assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
        fs::remove_dir(base).unwrap();
    }

    #[test]
    fn a_game_is_called_like_its_folder() {
        let name = |path: &str| name_of(Path::new(path)).map_err(|error| error.message);
        assert_eq!(name("/nowhere/my game"), Ok("my game".to_string()));
        assert_eq!(name("spiel_für_2"), Ok("spiel_für_2".to_string()));
        let words = |path: &str| name(path).unwrap_err();
        assert_eq!(words("/"), "'/' does not end in a name: give the folder to make");
        assert_eq!(
            words("a\"b"),
            "the name \"a\\\"b\" has '\"' in it: use letters, digits, spaces, '-', '_' and '.', \
             for the game is called like its folder"
        );
        assert_eq!(
            words(".hidden"),
            "the name \".hidden\" should begin with a letter or digit, and not end in '.' or a \
             space"
        );
        assert_eq!(
            words(&"x".repeat(101)),
            "the name has 101 bytes, and 100 are allowed (NAME_BYTES_MAX): give a shorter one"
        );
    }

    #[test]
    fn paths_with_spaces_are_quoted() {
        assert_eq!(quoted("games/yard"), "games/yard");
        assert_eq!(quoted("my games/yard"), "\"my games/yard\"");
    }
}
