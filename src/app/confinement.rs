//! What each command can still reach of the system once it reads and runs a game: the game's
//! folder, its saves, the files of the command line. How the kernel is asked is in
//! src/system/platform/confinement/; what a confined process asks of another one is in
//! src/system/platform/broker/.

use super::{Game, game_id, resources};
use crate::foundation::{log, output_file};
use crate::resource::compile::data_folder;
use crate::system::browser;
use crate::system::platform;
use crate::system::platform::broker::{self, Duties};
use crate::system::platform::confinement::{self, Limited, Reach};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The variable of the environment by which a user switches the confinement off.
const VARIABLE: &str = "ENGINE_UNCONFINED";

/// The program by which frames of windows are drawn as the desktop has them, on Wayland: winit asks
/// it for the desktop's colours when a window is opened.
const FRAME_PROGRAM: &str = "dbus-send";

/// What is known of the confinement of this process.
#[derive(Default)]
struct State {
    begun: bool,
    files: Option<Result<Limited, String>>,
    programs: Option<Result<(), String>>,
    broker: Option<String>,
}

static STATE: Mutex<State> =
    Mutex::new(State { begun: false, files: None, programs: None, broker: None });

fn state() -> MutexGuard<'static, State> {
    // A panic meanwhile leaves what was known before.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the user lets the engine confine itself; `refused`: the command line says no.
pub fn is_wanted(refused: bool) -> bool {
    !refused && std::env::var_os(VARIABLE).is_none_or(|value| value != "1")
}

/// What a command needs of the system.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub reach: Reach,
    pub duties: Duties,
    /// The game is seen in a window, if there is a display.
    pub window: bool,
}

impl Plan {
    /// For reading a folder, with what the engine itself keeps in it.
    pub fn of_folder(folder: &Path) -> Plan {
        let mut plan = Plan::default();
        plan.reach.read.push(folder.to_path_buf());
        let own = folder.join(resources::FOLDER);
        // A link could lead anywhere; it is refused when something is to be written.
        if std::fs::symlink_metadata(&own).is_ok_and(|found| found.is_dir()) {
            plan.reach.write.push(own);
        }
        plan
    }

    /// For reading a game and compiling its resources for this run. What is missing of the game is
    /// said when it is opened.
    pub fn of_game(game: &Game) -> Plan {
        let Game::Folder(folder) = game else { return Plan::default() };
        if !folder.is_dir() {
            return Plan::default();
        }
        // A folder that is no game stays as it is.
        if game.project().is_err() {
            return Plan::of_folder(folder);
        }
        // Made where it is missing. Where the game's folder cannot be written, it is elsewhere.
        let data = resources::data_of(folder, platform::NAME);
        let mut plan = Plan::of_folder(folder);
        let own = data_folder(folder, platform::NAME);
        let elsewhere = data.ok().filter(|data| *data != own);
        plan.reach.write.extend(elsewhere);
        plan
    }

    /// The folder of a game's saves, log and crash reports, made where it is missing.
    pub fn add_saves(&mut self, game: &Game) {
        let (Ok(project), Ok(settings)) = (game.project(), game.settings()) else { return };
        // A game whose settings name no such folder is refused when it is opened.
        let Ok(game) = game_id(&settings, &project) else { return };
        let folder = platform::save_folder(&game);
        // Where it cannot be made, whoever saves is told.
        if let Ok(folder) = folder.map(|folder| (std::fs::create_dir_all(&folder), folder).1) {
            self.reach.write.push(folder);
        }
    }

    /// A file that is written where it is while the program runs. It is made here if it is missing,
    /// because the kernel limits files and not names. If it cannot be made, opening it fails later
    /// with a message.
    pub fn add_file(&mut self, path: &Path) {
        if output_file::append(path).is_ok() {
            self.reach.files.push(path.to_path_buf());
        }
    }

    /// Files that are replaced when they are whole.
    pub fn add_outputs<'a>(&mut self, paths: impl IntoIterator<Item = &'a PathBuf>) {
        self.duties.outputs.extend(paths.into_iter().cloned());
    }

    /// The game is seen in a window: it may open addresses in the browser, and read what is dropped
    /// on the window.
    pub fn add_window(&mut self) {
        self.window = true;
        self.duties.open_address = Some(|address| {
            browser::check(address).map_err(|error| error.message)?;
            browser::open_checked(address)
        });
        self.duties.drops = true;
        if std::env::var_os("WAYLAND_DISPLAY").is_some_and(|value| !value.is_empty()) {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&folders).map(|folder| folder.join(FRAME_PROGRAM));
            self.reach.programs.extend(found.filter(|path| path.is_absolute() && path.is_file()));
        }
    }

    fn needs_broker(&self) -> bool {
        let Duties { open_address, outputs, appends, drops } = &self.duties;
        open_address.is_some() || !outputs.is_empty() || appends.is_some() || *drops
    }

    /// Confines the files of the process, which has no other thread yet. A second time nothing
    /// changes.
    pub fn begin(self) {
        let mut state = state();
        if !cfg!(target_os = "linux") || std::mem::replace(&mut state.begun, true) {
            return;
        }
        if self.needs_broker() {
            state.broker = broker::start(self.duties.clone()).err().map(|it| it.to_string());
        }
        state.files = Some(confinement::limit_files(&self.reach));
    }
}

/// Has no program start from now on, in any thread; with `workers`, this one can start again.
/// Nothing changes in a process that is not confined.
pub fn forbid_programs(workers: bool) {
    let mut state = state();
    if state.begun {
        state.programs = Some(confinement::forbid_programs(workers));
    }
}

/// Says in the log, and not on the terminal, how the process is confined: once, when the log has
/// its file.
pub fn note() {
    let state = state();
    if !cfg!(target_os = "linux") {
        return;
    }
    match state.begun {
        true => state.lines().iter().for_each(|line| log::note(line)),
        false => log::note("confinement: off, as the user wants it"),
    }
}

impl State {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.files {
            Some(Ok(Limited { version, threads_outside: 0 })) => {
                lines.push(format!("confinement: files are limited (Landlock {version})"));
            }
            Some(Ok(Limited { version, threads_outside })) => lines.push(format!(
                "confinement: files are limited (Landlock {version}), but not for \
                 {threads_outside} threads that libraries had started before"
            )),
            Some(Err(reason)) => {
                lines.push(format!("confinement: files are not limited: {reason}"));
            }
            None => {}
        }
        match &self.programs {
            Some(Ok(())) => lines.push("confinement: no programs are started".to_string()),
            Some(Err(reason)) => {
                lines.push(format!("confinement: programs are not forbidden: {reason}"));
            }
            None => {}
        }
        lines.extend(self.broker.as_ref().map(|reason| {
            format!("confinement: there is no broker, so no address is opened: {reason}")
        }));
        lines
    }
}
