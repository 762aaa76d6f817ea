//! The opened game: its folder, settings, saves, and the mode in which it runs. Hardly anything
//! here changes between two frames.

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
    /// Treats a file of the game's folder as missing, until [`OpenedGame::end_simulated_failures`].
    pub fn simulate_missing_file(&mut self, store: &mut ResourceStore, file: String) {
        store.simulate_missing(file.clone());
        self.project.simulate_missing(file);
    }

    /// Returns true if a test simulates a failure.
    pub fn is_simulating_failure(&self) -> bool {
        self.saves.is_simulating_full_disk() || self.project.has_simulated_missing()
    }

    /// Ends all simulated failures.
    pub fn end_simulated_failures(&mut self, store: &mut ResourceStore) {
        self.saves.simulate_full_disk(false);
        store.end_simulated_missing();
        self.project.end_simulated_missing();
    }
}
