//! The folder of a game's saves: its name, derived from the game's settings, and its location.

use super::Game;
use engine_foundation::error;
use engine_foundation::{Error, log};
use engine_platform as platform;
use engine_resource::project::Project;
use engine_resource::save::is_device;
use engine_resource::settings::Settings;
use std::path::{Path, PathBuf};

/// Maximum length of a folder name on common file systems, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// Returns the game's save folder. If none can exist, warns the player, and the game runs without
/// saves.
pub(super) fn save_folder(game: &str) -> Option<PathBuf> {
    let folder = platform::save_folder(game);
    if let Err(message) = &folder {
        let message = format!("saves and user settings are lost at the end of this run: {message}");
        log::write(log::LogLevel::Warning, &message);
    }
    folder.ok()
}

/// Removes a save folder if nothing was saved. The confinement needs the folder to exist before
/// that.
pub(super) fn remove_if_empty(folder: &Path) {
    // Fails if the folder has any content.
    let _ = std::fs::remove_dir(folder);
}

/// Returns the name of a game's save folder: a single path component, which never leads out of the
/// folder of all games' saves.
///
/// # Errors
/// Returns an error if neither the settings nor the game's folder name yield a valid name.
pub(super) fn game_id(settings: &Settings, project: &Project) -> Result<String, Error> {
    let folder = project.folder_name();
    let chosen = [("'id' is", settings.text("id")), ("'name' is", settings.text("name"))];
    let chosen = chosen.into_iter().find(|(_, text)| !text.is_empty());
    let (source, text) = chosen.unwrap_or(("the game's folder is called", &folder));
    let name = folder_name(text);
    let problem = match name.len() {
        0 => "which names no folder for saves",
        1..=NAME_BYTES_MAX => return Ok(name),
        _ => "which is too long for the name of a folder",
    };
    let shown: String = text.chars().take(40).collect();
    Err(error!(
        "settings.sjson: {source} '{shown}', {problem}: write an 'id' of letters, digits, '-', '_' \
         and '.' that begins with a letter or digit"
    ))
}

/// Converts a text into a folder name without separators and leading dots. Empty if no character is
/// left.
fn folder_name(text: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let mut name: String = text.trim_start_matches('.').chars().map(letter).collect();
    // Windows drops trailing dots and reserves some names for devices.
    if cfg!(windows) {
        name.truncate(name.trim_end_matches('.').len());
        if is_device(&name) {
            name.push('_');
        }
    }
    name
}

/// Returns the save folder of the game in the folder `game`.
///
/// # Errors
/// Returns an error if the folder has no game, or if the system has no location for saves.
pub fn save_folder_of(game: &Path) -> Result<PathBuf, Error> {
    let game = Game::Folder(game.to_path_buf());
    let (project, settings) = (game.project()?, game.settings(platform::NAME)?);
    platform::save_folder(&game_id(&settings, &project)?).map_err(Error::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(settings: &str, folder: &str) -> Result<String, String> {
        let settings = Settings::parse(settings.as_bytes().to_vec(), "linux").unwrap();
        let project = Project::from_bundle(folder, Vec::new());
        game_id(&settings, &project).map_err(|error| error.message)
    }

    #[test]
    fn the_save_folder_is_a_single_path_component() {
        let check = |settings: &str, wanted: &str| {
            assert_eq!(id(settings, "yard"), Ok(wanted.to_string()), "{settings}");
        };
        check("", "yard");
        check("name = \"My Yard!\"", "My_Yard_");
        check("name = \"My Yard\", id = \"yard2\"", "yard2");
        check("id = \"../../x\"", "_.._x");
        check("id = \"a/b\\\\c:d\"", "a_b_c_d");
        check("id = \"/etc\"", "_etc");
        check("id = \".hidden\"", "hidden");
    }

    #[test]
    fn a_name_that_resolves_to_the_root_save_folder_is_refused() {
        let remedy = "which names no folder for saves: write an 'id' of letters, digits, '-', '_' \
                      and '.' that begins with a letter or digit";
        for (settings, folder, source) in [
            ("id = \"..\"", "yard", "'id' is '..'"),
            ("id = \".\"", "yard", "'id' is '.'"),
            ("name = \"...\"", "yard", "'name' is '...'"),
            ("", "..", "the game's folder is called '..'"),
        ] {
            let wanted = format!("settings.sjson: {source}, {remedy}");
            assert_eq!(id(settings, folder), Err(wanted));
        }
        let long = format!("id = \"{}\"", "x".repeat(256));
        assert!(id(&long, "yard").unwrap_err().contains("too long for the name of a folder"));
    }
}
