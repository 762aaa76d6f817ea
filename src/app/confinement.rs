//! The confinement of each command: the files and devices that the process can still reach once it
//! reads and runs a game, such as the game's folder, its saves, and the files of the command line.
//! The calls to the kernel are in src/platform/confinement/, the broker process is in
//! src/platform/broker/.

use super::{Game, game_id, resource_reload};
use engine_foundation::error;
use engine_foundation::{Error, log, output_file};
use engine_platform as platform;
use engine_platform::broker::{self, BrokerDuties};
use engine_platform::browser;
use engine_platform::confinement::{self, ConfinementLevel, FileAccessList};
use engine_resource::compile::data_folder;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The environment variable with which a user disables the confinement.
const VARIABLE: &str = "ENGINE_UNCONFINED";

/// The program that winit starts on Wayland when a window is opened, to ask for the desktop's color
/// scheme. It draws window decorations accordingly.
const FRAME_PROGRAM: &str = "dbus-send";

/// Confinement of this process, as far as it is known.
#[derive(Default)]
struct ConfinementStatus {
    begun: bool,
    /// No warnings on the terminal, because the parent process has printed them.
    quiet: bool,
    files: Option<Result<ConfinementLevel, String>>,
    programs: Option<Result<(), String>>,
    broker: Option<NoBroker>,
}

/// A missing broker that the command needs.
struct NoBroker {
    reason: String,
    /// The broker's duties that are lost.
    lost: Vec<&'static str>,
    /// True if the command line names output files, which cannot be written now.
    outputs: bool,
}

static STATE: Mutex<ConfinementStatus> = Mutex::new(ConfinementStatus {
    begun: false,
    quiet: false,
    files: None,
    programs: None,
    broker: None,
});

fn state() -> MutexGuard<'static, ConfinementStatus> {
    // A panic in another thread leaves the state consistent.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true unless the user disables the confinement. `refused` is true if the command line
/// disables it.
pub fn is_enabled(refused: bool) -> bool {
    !refused && std::env::var_os(VARIABLE).is_none_or(|value| value != "1")
}

/// The access to the operating system that a command needs.
#[derive(Clone, Debug, Default)]
pub struct ConfinementPlan {
    pub file_access: FileAccessList,
    pub duties: BrokerDuties,
    /// The game is shown in a window, if a display exists.
    pub window: bool,
    /// The command line names output files, which are replaced.
    pub named_outputs: bool,
    /// The process is a worker: its parent process reports what the operating system lacks.
    pub worker: bool,
}

impl ConfinementPlan {
    /// Returns the plan to read a folder, including the engine's own data in it.
    pub fn of_folder(folder: &Path) -> ConfinementPlan {
        let mut plan = ConfinementPlan::default();
        plan.file_access.read.push(folder.to_path_buf());
        let own = folder.join(resource_reload::FOLDER);
        // A link could lead anywhere. It is refused when data is written.
        if std::fs::symlink_metadata(&own).is_ok_and(|found| found.is_dir()) {
            plan.file_access.write.push(own);
        }
        plan
    }

    /// Returns the plan to read a game and compile its resources for this run. Missing parts of the
    /// game are reported when it is opened.
    pub fn of_game(game: &Game, source_platform: &str) -> ConfinementPlan {
        let Game::Folder(folder) = game else { return ConfinementPlan::default() };
        if !folder.is_dir() {
            return ConfinementPlan::default();
        }
        // A folder that is not a game stays unchanged.
        if game.project().is_err() {
            return ConfinementPlan::of_folder(folder);
        }
        // Creates the data folder if it is missing. If the game's folder is read-only, it is
        // elsewhere.
        let name = resource_reload::data_name(source_platform);
        let data = resource_reload::data_of(folder, &name);
        let mut plan = ConfinementPlan::of_folder(folder);
        let own = data_folder(folder, &name);
        let elsewhere = data.ok().filter(|data| *data != own);
        plan.file_access.write.extend(elsewhere);
        plan
    }

    /// Returns the plan of `engine check`, which compiles the game for some platforms and plays it
    /// without a window.
    pub fn to_check(game: &Game, platforms: &[&str]) -> ConfinementPlan {
        let mut plan = ConfinementPlan::of_game(game, platform::NAME);
        plan.add_saves(game);
        if let Game::Folder(folder) = game
            && game.project().is_ok()
        {
            // Creates the folders if they are missing.
            let data = |name: &&str| resource_reload::data_of(folder, name).ok();
            plan.file_access.write.extend(platforms.iter().filter_map(data));
        }
        plan
    }

    /// Returns the plan to compile a game's folder into another folder, which exists.
    pub fn to_compile(folder: &Path, out: &Path) -> ConfinementPlan {
        let mut plan = ConfinementPlan::of_folder(folder);
        plan.file_access.write.push(out.to_path_buf());
        plan
    }

    /// Allows to write in another folder that the command line names.
    pub fn with_folder(mut self, folder: Option<&Path>) -> ConfinementPlan {
        self.file_access.write.extend(folder.map(Path::to_path_buf));
        self
    }

    /// Allows to write in the folder of a shared cache, and to link files of the cache into the
    /// other folders that can be written.
    pub fn with_cache(mut self, folder: Option<&Path>) -> ConfinementPlan {
        if let Some(folder) = folder {
            self.file_access.write.push(folder.to_path_buf());
            self.file_access.linked = self.file_access.write.clone();
        }
        self
    }

    /// Returns the plan to compile a game's folder into one file, with its data in the folder
    /// `data`, which exists. The game is checked for some platforms before.
    pub fn to_bundle(
        folder: &Path,
        data: &Path,
        platforms: &[&str],
        file: &PathBuf,
    ) -> ConfinementPlan {
        let mut plan = ConfinementPlan::of_folder(folder);
        plan.file_access.write.push(data.to_path_buf());
        // Creates the folders if they are missing.
        let checked = |name: &&str| resource_reload::data_of(folder, name).ok();
        plan.file_access.write.extend(platforms.iter().filter_map(checked));
        plan.add_outputs([file]);
        plan
    }

    /// Returns the plan to make packages of a game's folder in the folder `out`, with its data in
    /// the folders `data`. All of them exist. The game is checked for some platforms before.
    pub fn to_package(
        folder: &Path,
        data: &[PathBuf],
        platforms: &[&str],
        out: &Path,
    ) -> ConfinementPlan {
        let mut plan = ConfinementPlan::of_folder(folder);
        plan.file_access.write.extend_from_slice(data);
        let checked = |name: &&str| resource_reload::data_of(folder, name).ok();
        plan.file_access.write.extend(platforms.iter().filter_map(checked));
        plan.file_access.write.push(out.to_path_buf());
        plan
    }

    /// Returns the plan to convert a font into another one.
    pub fn to_convert(input: &Path, output: &Path) -> ConfinementPlan {
        let folder = |file: &Path| match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut plan = ConfinementPlan::default();
        plan.file_access.read.push(folder(input));
        plan.file_access.write.push(folder(output));
        plan
    }

    /// Adds the devices of graphics, sound and input. Caches of drivers are kept for each game
    /// separately.
    pub fn add_devices(&mut self, game: &Game) {
        self.file_access.devices = true;
        let (Ok(project), Ok(settings)) = (game.project(), game.settings(platform::NAME)) else {
            return;
        };
        self.file_access.driver_cache = game_id(&settings, &project).ok();
    }

    /// Adds the folder of a game's saves, log and crash reports, and creates it if it is missing.
    pub fn add_saves(&mut self, game: &Game) {
        let (Ok(project), Ok(settings)) = (game.project(), game.settings(platform::NAME)) else {
            return;
        };
        // If the settings name no valid folder, opening the game fails.
        let Ok(game) = game_id(&settings, &project) else { return };
        let folder = platform::save_folder(&game);
        // If the folder cannot be created, saving reports it.
        if let Ok(folder) = folder.map(|folder| (std::fs::create_dir_all(&folder), folder).1) {
            // If nothing was saved, the empty folder is removed at the end.
            self.file_access.removable.extend(folder.parent().map(Path::to_path_buf));
            self.file_access.write.push(folder);
        }
    }

    /// Adds a file that is written in place while the program runs. It is created here if it is
    /// missing, because the kernel limits files and not names. If it cannot be created, opening it
    /// fails later with a message.
    pub fn add_file(&mut self, path: &Path) {
        if output_file::append(path).is_ok() {
            self.file_access.files.push(path.to_path_buf());
        }
    }

    /// Adds output files that the command line names. They are replaced atomically when complete.
    pub fn add_outputs<'a>(&mut self, paths: impl IntoIterator<Item = &'a PathBuf>) {
        let before = self.duties.outputs.len();
        self.duties.outputs.extend(paths.into_iter().cloned());
        self.named_outputs |= self.duties.outputs.len() > before;
    }

    /// Adds a folder for output files that [`make_output_folder`] has created.
    pub fn add_output_folder(&mut self, folder: &Path) {
        self.file_access.write.push(folder.to_path_buf());
    }

    /// Adds a file that may have to be replaced. The run continues if it cannot be.
    pub fn add_possible_output(&mut self, path: PathBuf) {
        self.duties.outputs.push(path);
    }

    /// Adds the sources of a game's folder that tools save.
    pub fn add_sources(&mut self, game: &Game) {
        if let Game::Folder(folder) = game {
            self.duties.sources = std::path::absolute(folder).ok();
        }
    }

    /// Adds the needs of a window: opening addresses in the browser, and reading files dropped on
    /// the window.
    pub fn add_window(&mut self) {
        self.window = true;
        self.file_access.abstract_sockets = true;
        self.duties.open_address = Some(|address| {
            browser::check(address).map_err(|error| error.message)?;
            browser::open_checked(address)
        });
        self.duties.drops = true;
        if std::env::var_os("WAYLAND_DISPLAY").is_some_and(|value| !value.is_empty()) {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&folders).map(|folder| folder.join(FRAME_PROGRAM));
            self.file_access
                .programs
                .extend(found.filter(|path| path.is_absolute() && path.is_file()));
        }
    }

    /// Returns the broker's duties for this command, as names of the features lost without it.
    pub(super) fn broker_work(&self) -> Vec<&'static str> {
        let BrokerDuties { open_address, outputs, appends, sources, drops, message } = &self.duties;
        let work = [
            (open_address.is_some(), "no address is opened in the browser"),
            (!outputs.is_empty(), "no file that the command line names is replaced"),
            (appends.is_some(), "no names are added to the file of 'log-success'"),
            (sources.is_some(), "no graph is saved by the page of tools"),
            (*drops, "no dropped file is read"),
            (*message, "no error is shown before the game has its window"),
        ];
        work.into_iter().filter(|(needed, _)| *needed).map(|(_, loss)| loss).collect()
    }

    /// Confines the process's file access, and warns if the operating system cannot do so. Must be
    /// called before other threads start. A second call has no effect.
    pub fn begin(self) {
        let mut state = state();
        if !cfg!(target_os = "linux") || std::mem::replace(&mut state.begun, true) {
            return;
        }
        state.quiet = self.worker;
        let work = self.broker_work();
        if !work.is_empty()
            && let Err(reason) = broker::start(self.duties.clone())
        {
            let outputs = self.named_outputs;
            state.broker = Some(NoBroker { reason: reason.to_string(), lost: work, outputs });
        }
        state.files = Some(confinement::limit_files(&self.file_access));
        state.warn(&[state.files_line(), state.broker_line()]);
    }
}

/// Creates a folder for output files that the command line names. The process may write everything
/// in it, so it must not contain anything else: a folder that exists is refused.
///
/// # Errors
/// Returns an error if it exists, or cannot be created.
pub fn make_output_folder(folder: &Path) -> Result<(), Error> {
    let path = folder.display();
    if std::fs::symlink_metadata(folder).is_ok() {
        return Err(error!("{path} exists already: name a new folder, which is created"));
    }
    std::fs::create_dir_all(folder)
        .map_err(|reason| error!("the folder {path} cannot be created: {reason}"))
}

/// Checks that the files named on the command line can be written at the end. Call it after the
/// confinement has begun.
///
/// # Errors
/// Returns an error with the reason and the remedy if they cannot be written.
pub fn check_outputs() -> Result<(), Error> {
    state().check_outputs()
}

/// Forbids all threads to start programs from now on. With `workers`, the engine's own executable
/// can still be started. Has no effect in a process that is not confined.
pub fn forbid_programs(workers: bool) {
    let mut state = state();
    if !state.begun {
        return;
    }
    let known = matches!(state.programs, Some(Err(_)));
    state.programs = Some(confinement::forbid_programs(workers));
    if !known {
        state.warn(&[state.programs_line()]);
    }
}

/// Writes the state of the confinement to the log, not to the terminal. Called once, when the log
/// has its file.
pub fn log_status() {
    let state = state();
    if !cfg!(target_os = "linux") {
        return;
    }
    match state.begun {
        true => state.lines().iter().for_each(|line| log::note(&line.text)),
        false => log::note("confinement: off, as the user wants it"),
    }
}

/// The state of one part of the confinement.
#[derive(Clone, PartialEq, Debug)]
struct PartStatus {
    is_fault: bool,
    text: String,
}

impl ConfinementStatus {
    fn files_line(&self) -> Option<PartStatus> {
        let (is_fault, state_text) = match self.files.as_ref()? {
            Ok(ConfinementLevel { version, threads_outside: 0 }) => {
                (false, format!("files are limited (Landlock {version})"))
            }
            Ok(ConfinementLevel { version, threads_outside }) => (
                true,
                format!(
                    "files are limited (Landlock {version}), but not for {threads_outside} \
                     other threads, which run already"
                ),
            ),
            Err(reason) => (true, format!("files are not limited: {reason}")),
        };
        Some(PartStatus { is_fault, text: format!("confinement: {state_text}") })
    }

    fn programs_line(&self) -> Option<PartStatus> {
        let (is_fault, state_text) = match self.programs.as_ref()? {
            Ok(()) => (false, "no programs are started".to_string()),
            Err(reason) => (true, format!("programs are not forbidden: {reason}")),
        };
        Some(PartStatus { is_fault, text: format!("confinement: {state_text}") })
    }

    fn broker_line(&self) -> Option<PartStatus> {
        let NoBroker { reason, lost, .. } = self.broker.as_ref()?;
        let text = format!("confinement: there is no broker ({reason}): {}", lost.join(", "));
        Some(PartStatus { is_fault: true, text })
    }

    fn lines(&self) -> Vec<PartStatus> {
        let all = [self.files_line(), self.programs_line(), self.broker_line()];
        all.into_iter().flatten().collect()
    }

    /// Returns the warnings about some parts.
    fn warnings(&self, lines: &[Option<PartStatus>]) -> Vec<String> {
        let faults = lines.iter().flatten().filter(|line| line.is_fault && !self.quiet);
        let to_text = |line: &PartStatus| {
            format!("{} (--unconfined, or ENGINE_UNCONFINED=1, runs without it)", line.text)
        };
        faults.map(to_text).collect()
    }

    fn warn(&self, lines: &[Option<PartStatus>]) {
        self.warnings(lines).iter().for_each(|text| log::warning(text));
    }

    fn check_outputs(&self) -> Result<(), Error> {
        // If file access is not limited, the process itself can write the files.
        match (&self.broker, &self.files) {
            (Some(NoBroker { reason, outputs: true, .. }), Some(Ok(_))) => Err(error!(
                "the files that the command line names cannot be written, because the process \
                 that writes them for a confined one was not started: {reason} (--unconfined \
                 writes them without it)"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "confinement_tests.rs"]
mod tests;
