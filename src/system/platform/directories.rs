//! Directories by the platform's convention: saves, caches.

use super::NAME;
use std::path::PathBuf;

/// The folder that the save folders of all games are in, where the platform keeps data of programs.
/// A game chooses its own name, so it must share no folder with other programs: beside it would be
/// folders that others run programs from (`dbus-1/services`, `applications`).
const GAMES: &str = "engine/games";

/// The folder for a game's saves, settings and reports, by the platform's convention. It need not
/// exist. `ENGINE_SAVE_DIR`, where set, replaces everything but the game's own name.
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

/// The folder in which programs keep what they can make anew, by the platform's convention. It need
/// not exist.
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
