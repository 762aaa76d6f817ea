//! A playable game: a folder of sources, or a bundle compiled from one.

use super::resource_kinds::KINDS;
use super::resource_reload;
use engine_foundation::Error;
use engine_platform as platform;
use engine_resource::bundle::{self, Bundle};
use engine_resource::project::Project;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use engine_runtime::BuildMode;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    pub fn at(path: &Path) -> Result<Game, Error> {
        if path.is_dir() || !bundle::looks_like_bundle(path) {
            return Ok(Game::Folder(path.to_path_buf()));
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

    pub(super) fn settings(&self) -> Result<Settings, Error> {
        match self {
            Game::Folder(folder) => Settings::read(folder, platform::NAME),
            Game::Bundle(bundle) => {
                Settings::parse(bundle.settings.clone().into_bytes(), platform::NAME)
            }
        }
    }

    pub(super) fn store(&self) -> ResourceStore {
        match self {
            Game::Folder(folder) => resource_reload::open(folder),
            Game::Bundle(bundle) => ResourceStore::from_bundle(bundle.clone()),
        }
    }
}
