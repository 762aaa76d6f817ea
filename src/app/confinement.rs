//! What each command can still reach of the system once it reads and runs a game: the game's
//! folder, its saves, the files of the command line. How the kernel is asked is in
//! src/system/platform/confinement/; what a confined process asks of another one is in
//! src/system/platform/broker/.

use super::{Game, game_id, resources};
use crate::error;
use crate::foundation::{Error, log, output_file};
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
    /// Nothing is said on the terminal: the process that has started this one has said it.
    quiet: bool,
    files: Option<Result<Limited, String>>,
    programs: Option<Result<(), String>>,
    broker: Option<NoBroker>,
}

/// The broker that a command needs and does not have.
struct NoBroker {
    reason: String,
    /// What it would have done, and nobody does.
    lost: Vec<&'static str>,
    /// Whether the command line names files that nobody can write now.
    outputs: bool,
}

static STATE: Mutex<State> =
    Mutex::new(State { begun: false, quiet: false, files: None, programs: None, broker: None });

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
    /// The command line names files that are replaced.
    pub named_outputs: bool,
    /// The process works for another one, which says what the system lacks.
    pub worker: bool,
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

    /// For `engine check`, which plays the game once, without a window.
    pub fn to_check(game: &Game) -> Plan {
        let mut plan = Plan::of_game(game);
        plan.add_saves(game);
        plan
    }

    /// For compiling a game's folder into another folder, which is there.
    pub fn to_compile(folder: &Path, out: &Path) -> Plan {
        let mut plan = Plan::of_folder(folder);
        plan.reach.write.push(out.to_path_buf());
        plan
    }

    /// For compiling a game's folder into one file.
    pub fn to_bundle(folder: &Path, file: &PathBuf) -> Plan {
        let mut plan = Plan::of_folder(folder);
        plan.add_outputs([file]);
        plan
    }

    /// For converting a font into another one.
    pub fn to_convert(input: &Path, output: &Path) -> Plan {
        let folder = |file: &Path| match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut plan = Plan::default();
        plan.reach.read.push(folder(input));
        plan.reach.write.push(folder(output));
        plan
    }

    /// The devices of graphics, sound and input. What drivers keep is kept for this game alone.
    pub fn add_devices(&mut self, game: &Game) {
        self.reach.devices = true;
        let (Ok(project), Ok(settings)) = (game.project(), game.settings()) else { return };
        self.reach.driver_cache = game_id(&settings, &project).ok();
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

    /// Files that the command line names, and that are replaced when they are whole.
    pub fn add_outputs<'a>(&mut self, paths: impl IntoIterator<Item = &'a PathBuf>) {
        let before = self.duties.outputs.len();
        self.duties.outputs.extend(paths.into_iter().cloned());
        self.named_outputs |= self.duties.outputs.len() > before;
    }

    /// A file that may have to be replaced. A run goes on without it.
    pub fn add_possible_output(&mut self, path: PathBuf) {
        self.duties.outputs.push(path);
    }

    /// The game is seen in a window: it may open addresses in the browser, and read what is dropped
    /// on the window.
    pub fn add_window(&mut self) {
        self.window = true;
        self.reach.abstract_sockets = true;
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

    /// What a broker does for the command, as what is lost without it.
    pub(super) fn broker_work(&self) -> Vec<&'static str> {
        let Duties { open_address, outputs, appends, drops } = &self.duties;
        let work = [
            (open_address.is_some(), "no address is opened in the browser"),
            (!outputs.is_empty(), "no file that the command line names is replaced"),
            (appends.is_some(), "no names are added to the file of 'log-success'"),
            (*drops, "no dropped file is read"),
        ];
        work.into_iter().filter(|(needed, _)| *needed).map(|(_, words)| words).collect()
    }

    /// Confines the files of the process, which has no other thread yet, and warns if the system
    /// cannot. A second time nothing changes.
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
        state.files = Some(confinement::limit_files(&self.reach));
        state.warn(&[state.files_line(), state.broker_line()]);
    }
}

/// Refuses to go on if files that the command line names could not be written at the end. Call it
/// once the confinement has begun.
///
/// # Errors
/// The message says why, and the remedy.
pub fn check_outputs() -> Result<(), Error> {
    state().check_outputs()
}

/// Has no program start from now on, in any thread; with `workers`, this one can start again.
/// Nothing changes in a process that is not confined.
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

/// Says in the log, and not on the terminal, how the process is confined: once, when the log has
/// its file.
pub fn note() {
    let state = state();
    if !cfg!(target_os = "linux") {
        return;
    }
    match state.begun {
        true => state.lines().iter().for_each(|line| log::note(&line.text)),
        false => log::note("confinement: off, as the user wants it"),
    }
}

/// How a part of the confinement is.
#[derive(Clone, PartialEq, Debug)]
struct Line {
    is_fault: bool,
    text: String,
}

impl State {
    fn files_line(&self) -> Option<Line> {
        let (is_fault, words) = match self.files.as_ref()? {
            Ok(Limited { version, threads_outside: 0 }) => {
                (false, format!("files are limited (Landlock {version})"))
            }
            Ok(Limited { version, threads_outside }) => (
                true,
                format!(
                    "files are limited (Landlock {version}), but not for {threads_outside} \
                     threads that libraries had started before"
                ),
            ),
            Err(reason) => (true, format!("files are not limited: {reason}")),
        };
        Some(Line { is_fault, text: format!("confinement: {words}") })
    }

    fn programs_line(&self) -> Option<Line> {
        let (is_fault, words) = match self.programs.as_ref()? {
            Ok(()) => (false, "no programs are started".to_string()),
            Err(reason) => (true, format!("programs are not forbidden: {reason}")),
        };
        Some(Line { is_fault, text: format!("confinement: {words}") })
    }

    fn broker_line(&self) -> Option<Line> {
        let NoBroker { reason, lost, .. } = self.broker.as_ref()?;
        let text = format!("confinement: there is no broker ({reason}): {}", lost.join(", "));
        Some(Line { is_fault: true, text })
    }

    fn lines(&self) -> Vec<Line> {
        let all = [self.files_line(), self.programs_line(), self.broker_line()];
        all.into_iter().flatten().collect()
    }

    /// The warnings about some parts.
    fn warnings(&self, lines: &[Option<Line>]) -> Vec<String> {
        let faults = lines.iter().flatten().filter(|line| line.is_fault && !self.quiet);
        let words = |line: &Line| {
            format!("{} (--unconfined, or ENGINE_UNCONFINED=1, runs without it)", line.text)
        };
        faults.map(words).collect()
    }

    fn warn(&self, lines: &[Option<Line>]) {
        self.warnings(lines).iter().for_each(|text| log::warning(text));
    }

    fn check_outputs(&self) -> Result<(), Error> {
        // Where files are not limited, the process writes them itself.
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
