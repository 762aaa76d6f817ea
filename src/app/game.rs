//! What is played: a game's folder, or a bundle made of one.

use super::kinds::KINDS;
use super::resources;
use crate::engine::Build;
use crate::foundation::Error;
use crate::resource::bundle::{self, Bundle};
use crate::resource::project::Project;
use crate::resource::settings::Settings;
use crate::resource::store::Store;
use crate::system::platform;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A game as it is found on the disk.
#[derive(Clone, Debug)]
pub enum Game {
    /// A folder of sources.
    Folder(PathBuf),
    /// All of its data in one file.
    Bundle(Arc<Bundle>),
}

impl Game {
    /// The game at a path. Of a folder nothing is looked at yet; a bundle is opened.
    pub fn at(path: &Path) -> Result<Game, Error> {
        if path.is_dir() || !bundle::is_meant(path) {
            return Ok(Game::Folder(path.to_path_buf()));
        }
        Bundle::open(path, &KINDS, platform::NAME).map(|bundle| Game::Bundle(Arc::new(bundle)))
    }

    /// The game that was appended to the running executable, if one was.
    pub fn of_executable() -> Option<Result<Game, Error>> {
        let found = Bundle::of_executable(&KINDS, platform::NAME)?;
        Some(found.map(|bundle| Game::Bundle(Arc::new(bundle))))
    }

    /// How the game is run when it is played.
    pub fn build(&self) -> Build {
        match self {
            Game::Folder(_) => Build::Development,
            Game::Bundle(_) => Build::Release,
        }
    }

    pub(super) fn project(&self) -> Result<Project, Error> {
        match self {
            Game::Folder(folder) => Project::open(folder),
            Game::Bundle(bundle) => {
                let paths = bundle.parts().iter().map(|part| part.path.clone());
                let scripts = paths.filter(|path| !path.is_empty()).collect();
                Ok(Project::of_bundle(&bundle.game, scripts))
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

    pub(super) fn store(&self) -> Store {
        match self {
            Game::Folder(folder) => resources::open(folder),
            Game::Bundle(bundle) => Store::of_bundle(bundle.clone()),
        }
    }
}
