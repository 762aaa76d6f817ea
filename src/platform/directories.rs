//! Standard directories of the platform: saves, caches.

use super::NAME;
use std::path::PathBuf;

/// Folder for the save folders of all games, within the platform's folder for program data. A game
/// chooses its own name, so games must not share a folder with other programs. Otherwise a game's
/// folder could replace folders from which other programs are started (`dbus-1/services`,
/// `applications`).
const GAMES: &str = "engine/games";

/// Returns the folder for a game's saves, settings and reports, by the platform's convention. The
/// folder need not exist. If `ENGINE_SAVE_DIR` is set, it replaces everything except the game's own
/// name.
pub fn save_folder(game: &str) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
    let data = || match NAME {
        "windows" => variable("APPDATA"),
        "macos" => home().map(|home| home.join("Library/Application Support")),
        _ => variable("XDG_DATA_HOME").or_else(|| home().map(|home| home.join(".local/share"))),
    };
    let base = variable("ENGINE_SAVE_DIR").or_else(|| Some(data()?.join(GAMES)));
    let base = base.ok_or("there is no home folder: set HOME, or ENGINE_SAVE_DIR")?;
    Ok(base.join(game))
}

/// Returns the folder for data that programs can recreate, by the platform's convention. The folder
/// need not exist.
pub fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    match NAME {
        "windows" => variable("LOCALAPPDATA"),
        "macos" => variable("HOME").map(|home| home.join("Library/Caches")),
        _ => {
            variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
        }
    }
}
