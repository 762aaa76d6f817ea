//! The opened game: its folder, settings, saves, and the mode in which it runs. Hardly anything
//! here changes between two frames.

use super::BuildMode;
use engine_resource::project::Project;
use engine_resource::save::Saves;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use std::path::PathBuf;

/// The saved files that restart the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RestartOnSave {
    #[default]
    Never,
    /// A script that changes `init`.
    Init,
    /// Any file of the game.
    Any,
}

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
    pub restart_on_save: RestartOnSave,
    /// Platform whose variants and settings are used.
    pub source_platform: String,
}

impl OpenedGame {
    /// Returns the name of the key that restarts the game; `None` if no key does. Only a game in
    /// development has one.
    pub fn restart_key(&self) -> Option<&str> {
        let name = self.settings.text("restart.key");
        (self.build == BuildMode::Development && !name.is_empty()).then_some(name)
    }

    /// Returns the name of the key that restarts the game as people write it: F5.
    pub fn restart_key_label(&self) -> Option<String> {
        let name = self.restart_key()?;
        let is_function_key = name.len() > 1 && name[1..].bytes().all(|b| b.is_ascii_digit());
        Some(if is_function_key { name.to_uppercase() } else { name.to_string() })
    }

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
