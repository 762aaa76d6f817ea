//! A playable game: a folder of sources, or a bundle compiled from one.

use super::resource_kinds::KINDS;
use super::resource_reload;
use engine_foundation::{DEVELOPMENT, Error, error};
use engine_platform as platform;
use engine_resource::bundle::{self, Bundle};
use engine_resource::glob::Glob;
use engine_resource::project::Project;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use engine_resource::variant::VariantPreferences;
use engine_runtime::BuildMode;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variants of a game's resources that a run uses. The default is this platform, and no
/// preferences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariantChoice {
    /// Platform whose variants and settings are used, if it is not the one that the engine runs on.
    pub source_platform: Option<String>,
    /// Properties that are preferred from the start, until the game sets others.
    pub preferences: VariantPreferences,
}

impl VariantChoice {
    /// Returns the platform whose variants and settings are used.
    pub fn platform(&self) -> &str {
        self.source_platform.as_deref().unwrap_or(platform::NAME)
    }

    /// Checks the choice for the game in a folder.
    ///
    /// # Errors
    /// Returns an error if the game has no such platform, or a preference is a platform.
    pub fn check(&self, folder: &Path) -> Result<(), Error> {
        let platforms = Settings::platforms_of(folder);
        self.preferences
            .check_platforms(&platforms)
            .map_err(|message| engine_foundation::error!("--prefer: {message}"))?;
        platforms
            .check(self.platform())
            .map_err(|message| engine_foundation::error!("--source-platform: {message}"))
    }
}

/// A game on disk.
#[derive(Clone, Debug)]
pub enum Game {
    /// A folder with the sources.
    Folder(PathBuf),
    /// A bundle: all of the game's data in one file.
    Bundle(Arc<Bundle>),
}

impl Game {
    /// Returns the game at a path. A folder is not checked yet; a bundle is opened.
    ///
    /// # Errors
    /// Returns an error for a bundle that cannot be opened, and for a folder if the executable only
    /// plays bundles.
    pub fn at(path: &Path) -> Result<Game, Error> {
        Game::find(path, DEVELOPMENT)
    }

    /// Returns the game at a path, for an executable that does or does not play folders.
    fn find(path: &Path, plays_folders: bool) -> Result<Game, Error> {
        match (path.is_dir(), plays_folders) {
            (true, false) => {
                return Err(error!(
                    "'{}' is a folder, and this executable of the engine only plays bundles: \
                     `engine compile --bundle` of an engine for development makes one",
                    path.display()
                ));
            }
            (true, true) => return Ok(Game::Folder(path.to_path_buf())),
            (false, true) if !bundle::looks_like_bundle(path) => {
                return Ok(Game::Folder(path.to_path_buf()));
            }
            // Everything else is opened as a bundle, which reports the reason if it is not one.
            (false, _) => {}
        }
        Bundle::open(path, &KINDS, platform::NAME).map(|bundle| Game::Bundle(Arc::new(bundle)))
    }

    /// Returns the game appended to the running executable, if there is one.
    pub fn from_executable() -> Option<Result<Game, Error>> {
        let found = Bundle::from_executable(&KINDS, platform::NAME)?;
        Some(found.map(|bundle| Game::Bundle(Arc::new(bundle))))
    }

    /// Returns the build mode in which the game is played.
    pub fn build(&self) -> BuildMode {
        match self {
            Game::Folder(_) => BuildMode::Development,
            Game::Bundle(_) => BuildMode::Release,
        }
    }

    pub(super) fn project(&self) -> Result<Project, Error> {
        match self {
            Game::Folder(folder) => Project::open(folder),
            Game::Bundle(bundle) => {
                let paths = bundle.parts().iter().map(|part| part.path.clone());
                let scripts = paths.filter(|path| !path.is_empty()).collect();
                Ok(Project::from_bundle(&bundle.game, scripts))
            }
        }
    }

    /// Reads the settings of the game for a platform.
    ///
    /// # Errors
    /// Returns an error if they cannot be read, or if one is invalid.
    pub fn settings(&self, platform: &str) -> Result<Settings, Error> {
        match self {
            Game::Folder(folder) => Settings::read(folder, platform),
            Game::Bundle(bundle) => Settings::parse(bundle.settings.clone().into_bytes(), platform),
        }
    }

    /// Opens the resources. Files of a folder that `exclude` matches are none.
    pub(super) fn store(&self, platform: &str, exclude: &[Glob]) -> ResourceStore {
        match self {
            Game::Folder(folder) => resource_reload::open(folder, platform, exclude),
            Game::Bundle(bundle) => ResourceStore::from_bundle(bundle.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn paths_that_are_no_bundles_are_reported_with_the_reason() {
        let folder = std::env::temp_dir().join(format!("engine-{}-games", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("notes.txt");
        fs::write(&file, "not a game").unwrap();
        let refused = |path: &Path| {
            let message = Game::find(path, false).unwrap_err().message;
            message.replace(&folder.display().to_string(), "FOLDER").replace('\\', "/")
        };
        let wanted = "'FOLDER' is a folder, and this executable of the engine only plays bundles: \
                      `engine compile --bundle` of an engine for development makes one";
        assert_eq!(refused(&folder), wanted);
        let beginning = "the bundle 'FOLDER/notes.txt' cannot be played: ";
        let message = refused(&file);
        assert!(message.starts_with(beginning), "{message}");
        assert!(!message.contains("only plays bundles"), "{message}");
        for name in ["lost.bundle", "lost"] {
            let message = refused(&folder.join(name));
            let beginning = format!("the bundle 'FOLDER/{name}' cannot be played: ");
            assert!(message.starts_with(&beginning), "{message}");
            assert!(!message.contains("only plays bundles"), "{message}");
        }
        assert!(matches!(Game::find(&folder, true), Ok(Game::Folder(_))));
        assert!(matches!(Game::find(&file, true), Ok(Game::Folder(_))));
        fs::remove_dir_all(&folder).unwrap();
    }
}
