//! The opened game: its folder, settings, saves, and the mode in which it runs. Hardly anything here
//! changes between two frames.

use super::BuildMode;
use engine_resource::project::Project;
use engine_resource::save::Saves;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use std::path::PathBuf;

/// The opened game and its files, except its resources.
pub struct OpenedGame {
    pub project: Project,
    pub settings: Settings,
    pub build: BuildMode,
    /// The arguments after `--`.
    pub arguments: Vec<String>,
    /// True for fixed steps and virtual clocks, so that every run is equal.
    pub deterministic: bool,
    /// Folder of saves, user settings and reports; `None` keeps them in memory only.
    pub save_folder: Option<PathBuf>,
    pub saves: Saves,
    /// Content of the file of user settings, if there is no save folder.
    pub user_settings: Option<Vec<u8>>,
}

impl OpenedGame {
    /// Treats a file of the game's folder as missing, until [`OpenedGame::end_pretending`].
    pub fn pretend_missing(&mut self, store: &mut ResourceStore, file: String) {
        store.hide(file.clone());
        self.project.hide(file);
    }

    /// Returns true if a test simulates a failure.
    pub fn pretends(&self) -> bool {
        self.saves.is_pretending() || self.project.hides()
    }

    /// Ends all simulated failures.
    pub fn end_pretending(&mut self, store: &mut ResourceStore) {
        self.saves.pretend_full(false);
        store.show_all();
        self.project.show_all();
    }
}
