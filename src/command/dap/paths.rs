//! Paths of scripts, as the editor and the game name them.

use std::path::{Component, Path, PathBuf};

/// The folder of a game.
pub struct GamePaths {
    /// As the editor names it, absolute.
    folder: PathBuf,
    /// Without links.
    real: PathBuf,
}

impl GamePaths {
    /// # Errors
    /// Returns a message if the folder does not exist.
    pub fn new(folder: &Path) -> Result<GamePaths, String> {
        let problem =
            |reason| format!("the folder {} cannot be opened: {reason}", folder.display());
        let absolute = std::path::absolute(folder).map_err(problem)?;
        let real = std::fs::canonicalize(&absolute).map_err(problem)?;
        if !real.is_dir() {
            return Err(format!("{} is not a folder: name the game's folder", folder.display()));
        }
        Ok(GamePaths { folder: absolute, real })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the name of a script by its path, or `None` if it is not in the game's folder. Links
    /// are followed.
    pub fn script_of(&self, path: &Path) -> Option<String> {
        let real = without_links(path);
        let inside = match &real {
            Some(real) => {
                real.strip_prefix(&self.real).or_else(|_| path.strip_prefix(&self.folder))
            }
            None => path.strip_prefix(&self.folder),
        };
        let parts = inside.ok()?.components().map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        parts.collect::<Option<Vec<_>>>().map(|parts| parts.join("/"))
    }

    /// Returns the path of a script, if it is a file of the game.
    pub fn path_of(&self, script: &str) -> Option<PathBuf> {
        let path = self.folder.join(script);
        path.is_file().then_some(path)
    }
}

/// Returns a path without links, and in the upper and lower case that the file system has. A part
/// that does not exist is as it is, in the nearest folder that does.
fn without_links(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|ancestor| {
        let real = std::fs::canonicalize(ancestor).ok()?;
        let rest = path.strip_prefix(ancestor).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_by_paths_and_links() {
        let folder = std::env::temp_dir().join(format!("engine-dap-paths-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("game/units")).unwrap();
        std::fs::write(folder.join("game/units/orc.lua"), "").unwrap();
        let game = GamePaths::new(&folder.join("game")).unwrap();
        let orc = folder.join("game/units/orc.lua");
        assert_eq!(game.script_of(&orc).as_deref(), Some("units/orc.lua"));
        assert_eq!(game.script_of(&folder.join("game/new.lua")).as_deref(), Some("new.lua"));
        assert_eq!(game.script_of(&folder.join("other.lua")), None);
        for outside in ["none/../../other.lua", "../other.lua"] {
            assert_eq!(game.script_of(&folder.join("game").join(outside)), None, "{outside}");
        }
        assert_eq!(game.path_of("units/orc.lua"), Some(orc.clone()));
        if cfg!(windows) {
            // Editors write the letter of the drive, and names, in either case.
            let upper = PathBuf::from(orc.to_string_lossy().to_uppercase());
            assert_eq!(game.script_of(&upper).as_deref(), Some("units/orc.lua"));
            let new = PathBuf::from(folder.join("game").to_string_lossy().to_uppercase());
            assert_eq!(game.script_of(&new.join("new.lua")).as_deref(), Some("new.lua"));
        }
        assert_eq!(game.path_of("core/stingray.lua"), None);
        #[cfg(unix)]
        {
            let link = folder.join("link");
            std::os::unix::fs::symlink(folder.join("game"), &link).unwrap();
            let of_link = game.script_of(&link.join("units/orc.lua"));
            assert_eq!(of_link.as_deref(), Some("units/orc.lua"));
            // The file, or its folder, does not exist yet.
            for new in ["units/elf.lua", "items/sword.lua"] {
                assert_eq!(game.script_of(&link.join(new)).as_deref(), Some(new));
            }
        }
        assert!(GamePaths::new(&folder.join("none")).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
