//! `engine new`: creates a folder with a small game that runs, tests itself and completes in an
//! editor. The files are those of game_template/; templates/ can replace its game.

use super::editor_definitions;
use engine_app::exit;
use engine_foundation::error;
use engine_foundation::{Error, log};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Placeholder in the template for the game's name.
const TEMPLATE_NAME: &str = "game_template";

/// Maximum length of a game's name, in bytes. It keeps every path of the new game within the limits
/// of all file systems.
const NAME_BYTES_MAX: usize = 100;

/// Paths and contents of a template's files.
type TemplateFiles = &'static [(&'static str, &'static [u8])];

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../", $folder, "/", $name)) as &[u8])),*]
    };
}

/// Files of every new game: settings for editors.
const SHARED: TemplateFiles = files![
    "game_template":
    ".emmyrc.json",
    ".gitignore",
    ".luarc.json",
    ".vscode/extensions.json",
    ".vscode/launch.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
];

/// Settings of games whose template has no own.
const SETTINGS: TemplateFiles = files!["game_template": "settings.sjson"];

const TWO_D: TemplateFiles = files![
    "game_template":
    "main.lua",
    "backdrop.lua",
    "ball.lua",
    "particles/hit.particles",
    "sounds/bounce.wav",
    "tests/ball_test.lua",
    "tests/game_test.lua",
    "README.md",
];

const THREE_D: TemplateFiles = files![
    "templates/3d":
    "main.lua",
    "materials/bark.material",
    "materials/grass.material",
    "materials/hill.material",
    "materials/iron.material",
    "materials/leaves.material",
    "materials/wood.material",
    "particles/dust.particles",
    "scenery.lua",
    "sounds/knock.sound",
    "sounds/knock_1.wav",
    "sounds/knock_2.wav",
    "tests/tower_test.lua",
    "textures/crate.png",
    "textures/grass.png",
    "units/ball.unit",
    "units/box.unit",
    "units/floor.unit",
    "units/hill.unit",
    "units/tree.unit",
    "README.md",
];

const PLATFORMER: TemplateFiles = files![
    "templates/platformer":
    "main.lua",
    "game.lua",
    "hero.lua",
    "slime.lua",
    "menu.lua",
    "settings.sjson",
    "maps/level_1.tmx",
    "maps/tiles.tsx",
    "sounds/coin.wav",
    "sounds/hurt.wav",
    "sounds/jump.wav",
    "sounds/land.wav",
    "sounds/select.wav",
    "sounds/stomp.wav",
    "sounds/win.wav",
    "tests/game_test.lua",
    "textures/clouds.png",
    "textures/coin.png",
    "textures/coin.sheet",
    "textures/flag.png",
    "textures/flag.sheet",
    "textures/heart.png",
    "textures/heart.sheet",
    "textures/hero.png",
    "textures/hero.sheet",
    "textures/hills.png",
    "textures/mountains.png",
    "textures/sky.png",
    "textures/slime.png",
    "textures/slime.sheet",
    "textures/spark.png",
    "textures/spark.sheet",
    "textures/tiles.png",
    "textures/trees.png",
    "units/coin.unit",
    "units/goal.unit",
    "units/hero.unit",
    "units/level_1.unit",
    "units/slime.unit",
    "units/spark.unit",
    "README.md",
];

const EMPTY: TemplateFiles =
    files!["templates/empty": "main.lua", "tests/main_test.lua", "README.md"];

/// Initial content of a new game.
#[derive(Clone, Copy, PartialEq, Debug, clap::ValueEnum)]
enum Template {
    /// Keep the balls in the air: drawing, actions, sound, saves
    #[value(name = "2d")]
    TwoD,
    /// Knock a tower over: units, lights, physics
    #[value(name = "3d")]
    ThreeD,
    /// Run, jump and collect coins in two dimensions: tile maps, sprites, a camera, sound
    Platformer,
    /// Only the callbacks, empty
    Empty,
}

impl Template {
    fn files(self) -> TemplateFiles {
        match self {
            Template::TwoD => TWO_D,
            Template::ThreeD => THREE_D,
            Template::Platformer => PLATFORMER,
            Template::Empty => EMPTY,
        }
    }

    fn settings(self) -> TemplateFiles {
        match self {
            Template::Platformer => &[],
            Template::TwoD | Template::ThreeD | Template::Empty => SETTINGS,
        }
    }
}

/// Create a game that runs: a folder with a first script, a test suite and editor settings
#[derive(clap::Args)]
pub struct Args {
    /// The folder to create; its name becomes the name of the game
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Template of the game
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Template::TwoD)]
    template: Template,
}

pub fn main(args: Args) -> i32 {
    match make(&args.folder, args.template) {
        Ok(name) => {
            editor_definitions::refresh(&args.folder);
            log::info(&next_steps(&name, &args.folder));
            exit::SUCCESS
        }
        Err(error) => {
            log::error(&error.to_string());
            exit::FAILED
        }
    }
}

/// Creates the game and returns its name.
fn make(folder: &Path, template: Template) -> Result<String, Error> {
    let name = name_of(folder)?;
    check_empty(folder)?;
    let files = SHARED.iter().chain(template.settings()).chain(template.files());
    let named = files.map(|(path, content)| match std::str::from_utf8(content) {
        Ok(text) => (*path, text.replace(TEMPLATE_NAME, &name).into_bytes()),
        Err(_) => (*path, content.to_vec()),
    });
    write(folder, &named.collect::<Vec<_>>())?;
    Ok(name)
}

/// Returns the game's name: that of its folder, which does not have to exist yet.
fn name_of(folder: &Path) -> Result<String, Error> {
    let shown = folder.display();
    let full = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let Some(name) = full.file_name() else {
        return Err(error!("'{shown}' does not end in a name: give the folder to create"));
    };
    let Some(name) = name.to_str() else {
        return Err(error!("the name '{shown}' is not valid UTF-8: give the folder another name"));
    };
    let allowed = |c: char| c.is_alphanumeric() || " -_.".contains(c);
    if let Some(odd) = name.chars().find(|c| !allowed(*c)) {
        return Err(error!(
            "the name {name:?} has {odd:?} in it: use letters, digits, spaces, '-', '_' and '.', \
             because the game is named like its folder"
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

/// Returns an error if a folder is not empty. A Git repository without files counts as empty.
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

/// Writes all files with their folders, or none of them.
fn write(folder: &Path, files: &[(&str, Vec<u8>)]) -> Result<(), Error> {
    let mut created = Vec::new();
    for (path, content) in files {
        if let Err(error) = write_file(&folder.join(path), content, &mut created) {
            // Removes only what was created here. A failed removal is ignored, because the write
            // error is reported.
            for path in created.iter().rev() {
                let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
            }
            return Err(error);
        }
    }
    Ok(())
}

fn write_file(path: &Path, content: &[u8], created: &mut Vec<PathBuf>) -> Result<(), Error> {
    let folder = path.parent().expect("a file is in a folder");
    make_folders(folder, created)
        .map_err(|reason| error!("the folder '{}' cannot be made: {reason}", folder.display()))?;
    let shown = path.display();
    let write_error = |reason| error!("'{shown}' cannot be written: {reason}");
    let mut file = File::create_new(path).map_err(write_error)?;
    created.push(path.to_path_buf());
    file.write_all(content).map_err(write_error)
}

/// Creates a folder and its missing parents, and records the created ones.
fn make_folders(folder: &Path, created: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(outer) = folder.parent() {
        make_folders(outer, created)?;
    }
    fs::create_dir(folder)?;
    created.push(folder.to_path_buf());
    Ok(())
}

fn next_steps(name: &str, folder: &Path) -> String {
    let engine = program();
    let there = folder.display().to_string();
    let change = if there == "." { String::new() } else { format!("  cd {}\n", quoted(&there)) };
    format!("Made the game \"{name}\". Next:\n\n{change}  {engine} run .\n  {engine} test .")
}

/// Returns a command for this program that works in any folder: its name if the shell found it by
/// name, otherwise its path.
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

    /// Returns the files in a folder of the project, without the files that a run leaves there.
    fn files_in(root: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(root);
        let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true if path.ends_with(".engine") => {}
                    true => folders.push(path),
                    false => {
                        let relative = path.strip_prefix(&root).unwrap();
                        found.push(relative.to_str().unwrap().replace('\\', "/"));
                    }
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn exactly_the_files_of_the_template_are_written() {
        for (folder, lists) in [
            ("game_template", &[SHARED, SETTINGS, TWO_D][..]),
            ("templates/3d", &[THREE_D]),
            ("templates/platformer", &[PLATFORMER]),
            ("templates/empty", &[EMPTY]),
        ] {
            let files = lists.iter().copied().flatten();
            let mut listed: Vec<&str> = files.map(|(path, _)| *path).collect();
            listed.sort();
            assert_eq!(files_in(folder), listed);
        }
    }

    #[test]
    fn a_failed_write_leaves_no_files() {
        let base = std::env::temp_dir().join(format!("engine-{}-half", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir(&base).unwrap();
        // The second file would have to be inside the first.
        let files = [("tests/a", Vec::new()), ("tests/a/b", Vec::new())];
        let error = write(&base.join("deep/game"), &files).unwrap_err();
        assert!(error.message.contains("a' cannot be made: "), "{error}");
        assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
        fs::remove_dir(base).unwrap();
    }

    #[test]
    fn a_game_is_named_after_its_folder() {
        let name = |path: &str| name_of(Path::new(path)).map_err(|error| error.message);
        assert_eq!(name("/nowhere/my game"), Ok("my game".to_string()));
        assert_eq!(name("spiel_für_2"), Ok("spiel_für_2".to_string()));
        let message = |path: &str| name(path).unwrap_err();
        assert_eq!(message("/"), "'/' does not end in a name: give the folder to create");
        assert_eq!(
            message("a\"b"),
            "the name \"a\\\"b\" has '\"' in it: use letters, digits, spaces, '-', '_' and '.', \
             because the game is named like its folder"
        );
        assert_eq!(
            message(".hidden"),
            "the name \".hidden\" should begin with a letter or digit, and not end in '.' or a \
             space"
        );
        assert_eq!(
            message(&"x".repeat(101)),
            "the name has 101 bytes, and 100 are allowed (NAME_BYTES_MAX): give a shorter one"
        );
    }

    #[test]
    fn paths_with_spaces_are_quoted() {
        assert_eq!(quoted("games/yard"), "games/yard");
        assert_eq!(quoted("my games/yard"), "\"my games/yard\"");
    }
}
