//! Plays a game from its start to its end: the main loop, and the messages at the end of the run.

mod debugging;
mod error_state;
mod launch;
mod restart;

use super::confinement;
use super::display::{Display, DisplayPolicy};
use super::frame_input::FrameInput;
use super::launcher;
use super::remote::StoppedGame;
use super::replay_session::ReplaySession;
use super::run_permissions::{check_outputs, plan};
use super::save_folder::remove_if_empty;
use super::{App, Game, GameLaunch, ProfileOutputs, VariantChoice, crash_report, exit};
use engine_foundation::log_file::LogFile;
use engine_foundation::scope;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, log, panic, profile, terminal};
use engine_platform as platform;
use engine_render::has_abandoned_thread;
use engine_runtime::RestartOnSave;
use engine_script::ErrorReport;
use engine_sound::AudioDestination;
use engine_window::WindowChange;
use error_state::ErrorState;
use launch::{game_launch, open_app, open_display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Default step of a headless frame, in seconds.
pub const HEADLESS_STEP: f64 = 1.0 / 60.0;

/// Pace of the frames of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FramePacing {
    /// Frames follow each other without waiting, all with this step: the run is deterministic.
    Fixed(f64),
    /// Frames follow the real clock.
    RealTime,
}

/// Condition under which remote tools may inspect the running game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RemoteAccess {
    Always,
    /// Only if the game is played in a window.
    WithWindow,
    Never,
}

/// Behavior of a run for which no display exists, although it wants a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WithoutDisplay {
    /// Plays this number of frames without a window, if the run has no number of its own.
    Play(u64),
    /// The run ends with a message.
    Refuse,
}

/// Options of a run: the game, and how it is played.
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub game: Game,
    pub pacing: FramePacing,
    /// Number of frames to play. If `None`, the game runs until it is stopped.
    pub frames: Option<u64>,
    pub seed: u64,
    pub boot: Option<String>,
    pub arguments: Vec<String>,
    /// Hot-reload files that change in the folder while the game is played.
    pub watch: bool,
    /// Number of threads that work on a frame. If `None`, one for each core.
    pub threads: Option<usize>,
    /// Record the run to this file, for a later replay.
    pub record: Option<PathBuf>,
    /// Replay this recording and compare the results.
    pub replay: Option<PathBuf>,
    /// Destination of the game's sound.
    pub sound: AudioDestination,
    /// The display of the run.
    pub display: DisplayPolicy,
    /// Profiling outputs of the run.
    pub profile_outputs: ProfileOutputs,
    /// Access of remote tools. Tools can never inspect a bundle.
    pub tools: RemoteAccess,
    /// Wait for a tool that debugs the scripts, before any of them is loaded.
    pub waits_for_debugger: bool,
    /// End the run when standard input is closed.
    pub ends_with_input: bool,
    /// Behavior if a window is wanted but no display exists.
    pub without_display: WithoutDisplay,
    /// Confine the process, if the operating system can.
    pub confined: bool,
    /// The saved files that restart the game.
    pub restart_on_save: RestartOnSave,
    pub variants: VariantChoice,
    /// Print the number of frames at the end of a successful run that nobody could see.
    pub summary: bool,
}

/// Plays a game and returns the exit code of the process.
pub fn play(options: RunOptions) -> i32 {
    let mut options = options;
    options.profile_outputs.begin();
    // A confined process could not read them.
    platform::machine::facts();
    let mut checked = check_outputs(&options);
    if options.confined && checked.is_ok() {
        plan(&options).begin();
        checked = confinement::check_outputs();
    }
    if options.ends_with_input {
        launcher::end_with_input();
    }
    let opened = checked.and_then(|()| ReplaySession::open(&mut options));
    let opened = opened.and_then(|session| {
        let mut display = open_display(&mut options)?;
        // Libraries that open a window may start a program. After this point no code may.
        confinement::forbid_programs(false);
        let launch = game_launch(&options);
        let app = open_app(&launch, &mut display)?;
        let (options, held_input) = (options.clone(), FrameInput::default());
        let (error_state, worker_stop, is_new) = (None, None, true);
        let played = 0;
        Ok(GameRun {
            app,
            display,
            session,
            launch,
            options,
            error_state,
            held_input,
            worker_stop,
            is_new,
            played,
        })
    });
    let opened = opened.and_then(|mut run| {
        let GameRun { session, app, options, .. } = &mut run;
        session.begin(app, options)?;
        options.profile_outputs.begin_sampling(app.vm())?;
        run.open_remote_access().map(|()| run)
    });
    let mut run = match opened.map(|mut run| {
        open_log_file(&mut run);
        run
    }) {
        Ok(run) => run,
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    };
    // Until this point no code of the game ran, and a signal ended the process at once, even during
    // a compilation of several seconds.
    platform::install_signal_handlers();
    crash_report::watch(run.app.vm());
    // An engine panic outside a script's call is caught here and reported like other errors.
    let played = catch_unwind(AssertUnwindSafe(|| run.play_to_end()));
    run.app.vm().end_with_process();
    let code = played.unwrap_or_else(|_| {
        let report =
            ErrorReport { engine_fault: true, ..ErrorReport::from_message(panic::take_panic()) };
        crash_report::report_error(run.app.vm(), &report);
        exit::ENGINE
    });
    end_run(run, code)
}

/// Ends the game and closes its windows, and returns the exit code of the process.
fn end_run(mut run: GameRun, code: i32) -> i32 {
    let save_folder = run.app.vm().engine().game.save_folder.clone();
    let is_lost = run.display.is_lost();
    let GameRun { app, display, .. } = run;
    // Dropping the app writes the game's pending saves.
    drop(app);
    if let Some(folder) = save_folder {
        remove_if_empty(&folder);
    }
    match is_lost {
        // Destroying the windows would call the display server, which is gone.
        true => std::mem::forget(display),
        false => drop(display),
    }
    if is_lost || has_abandoned_thread() {
        // All output of the game is written. Output that cannot be written now is lost in any case.
        let _ = terminal::output_error();
        platform::exit_immediately(code);
    }
    code
}

/// Starts writing the log to files next to the game's saves, if a player plays. A run with a fixed
/// step belongs to a test or a tool and keeps no log.
fn open_log_file(run: &mut GameRun) {
    let engine = run.app.vm().engine();
    let files = engine.game.settings.number("log.files") as usize;
    let folder = engine.game.save_folder.as_ref().map(|folder| folder.join("logs"));
    let Some(folder) = folder.filter(|_| files > 0 && run.options.pacing == FramePacing::RealTime)
    else {
        return;
    };
    match LogFile::open(&folder, files) {
        Ok(file) => {
            log::attach_file(Some(file));
            log::note(&crash_report::facts(run.app.vm().engine()));
            confinement::log_status();
        }
        Err(reason) => {
            log::warning(&format!("no log can be kept in {}: {reason}", folder.display()))
        }
    }
}

/// A running game with its display and recording.
struct GameRun {
    app: App,
    display: Display,
    session: ReplaySession,
    launch: GameLaunch,
    options: RunOptions,
    /// The error state, if an error stopped the game and its window shows it.
    error_state: Option<ErrorState>,
    /// Input that arrived while a remote tool paused the game.
    held_input: FrameInput,
    /// The stop of a worker that the window shows, and its event.
    worker_stop: Option<(SjsonTree, StoppedGame)>,
    /// True if the game was started, and no frame was played since.
    is_new: bool,
    /// Number of frames played, in all starts of the game.
    played: u64,
}

/// Sleep between two polls while a remote tool pauses the game. Shorter, because tools wait for
/// answers.
const PAUSED_SLEEP: Duration = Duration::from_millis(3);

impl GameRun {
    /// Opens the connection for remote tools, if the options allow it.
    fn open_remote_access(&mut self) -> Result<(), Error> {
        let wanted = match self.options.tools {
            RemoteAccess::Always => true,
            RemoteAccess::WithWindow => self.display.has_window(),
            RemoteAccess::Never => false,
        };
        let folder = match &self.options.game {
            _ if !wanted => return Ok(()),
            Game::Folder(folder) => folder.clone(),
            Game::Bundle(_) if self.options.tools == RemoteAccess::WithWindow => return Ok(()),
            Game::Bundle(_) => {
                let message = "a bundle is a release, which tools cannot connect to";
                return Err(engine_foundation::error!("{message}: run the game's folder"));
            }
        };
        // Frames drawn during a pause would be missing in a recording.
        let redraws = self.options.record.is_none() && self.options.replay.is_none();
        match self.app.start_remote_tools(folder, redraws) {
            Ok(address) => engine_foundation::error_line!("engine: tools: {address}"),
            Err(error) if self.options.tools == RemoteAccess::Always => return Err(error),
            Err(error) => log::warning(&error.message),
        }
        Ok(())
    }

    fn play_to_end(&mut self) -> i32 {
        let played = self.play_frames();
        let reported = self.error_state.as_ref().map(|state| state.code);
        let mut code = match &played {
            Ok(()) => exit::SUCCESS,
            Err(report) => match reported {
                // The error was reported when it happened.
                Some(code) => code,
                None => crash_report::report_error(self.app.vm(), report).code,
            },
        };
        // A game that failed is not called again. A game that was interrupted because the process
        // was asked to end may still have data to save.
        let stopped =
            played.is_err_and(|report| report.stopped && platform::end_requested().is_some());
        if (code == exit::SUCCESS || stopped)
            && let Err(report) = self.with_shared_display(App::shutdown)
        {
            code = crash_report::report_error(self.app.vm(), &report).code;
        }
        for (location, count) in log::counted_warnings() {
            log::warning(&format!("{location}: warned {count} times"));
        }
        if self.display.is_lost() {
            log::error(
                "the display is gone: its server ended, or closed the connection; the game was \
                 ended as if its window had been closed",
            );
            code = code.max(exit::FAILED);
        }
        let display_ended = self.display.end(self.app.vm().engine());
        let sound_ended = self.app.vm().engine().devices.sounds.finish();
        if let Err(error) = &sound_ended {
            log::error(&error.to_string());
        }
        let profiles_written = self.options.profile_outputs.end(self.app.vm());
        if code == exit::FAILED && self.session.failed_as_recorded() {
            code = exit::SUCCESS;
        }
        let all_written = self.session.end(&self.options)
            && display_ended
            && sound_ended.is_ok()
            && profiles_written;
        if !all_written && code == exit::SUCCESS {
            code = exit::FAILED;
        }
        if code == exit::SUCCESS {
            self.print_summary();
            code = self.code_of_unseen_run();
        }
        self.app.end_tools();
        match code {
            exit::SUCCESS => self.app.quit().unwrap_or(exit::SUCCESS),
            failed => failed,
        }
    }

    /// Returns the exit code of a run without an error of the game. Nobody sees the log of a run
    /// without a window, such as one of a build server: files that cannot be compiled fail it.
    fn code_of_unseen_run(&mut self) -> i32 {
        let has_own_code = self.app.quit().is_some_and(|code| code != exit::SUCCESS);
        if self.display.has_window() || has_own_code {
            return exit::SUCCESS;
        }
        let failed = &self.app.vm().engine().assets.store.index().failed;
        match failed.len() {
            0 => return exit::SUCCESS,
            1 => log::error(&format!("the run fails, because {} cannot be compiled", failed[0].0)),
            count => {
                log::error(&format!("the run fails, because {count} files cannot be compiled"));
            }
        }
        exit::FAILED
    }

    /// Prints the number of frames of a run that nobody could see. Recordings and replays have a
    /// line of their own.
    fn print_summary(&mut self) {
        let RunOptions { summary, record, replay, .. } = &self.options;
        if *summary && record.is_none() && replay.is_none() && !self.display.has_window() {
            let frames = match self.played {
                1 => "1 frame".to_string(),
                played => format!("{played} frames"),
            };
            let and = match (log::error_count(), self.app.quit()) {
                (0, None | Some(exit::SUCCESS)) => "without an error".to_string(),
                (0, Some(code)) => format!("and then the game ended with code {code}"),
                (1, _) => "with an error, which is above".to_string(),
                (count, _) => format!("with {count} errors, which are above"),
            };
            engine_foundation::error_line!("engine: played {frames}, {and}");
        }
    }

    fn play_frames(&mut self) -> Result<(), Box<ErrorReport>> {
        let frame_input = self.display.poll(self.app.vm().engine());
        self.app.begin(self.session.initial_input(frame_input));
        self.wait_for_first_debugger();
        if let Err(report) = self.with_shared_display(App::start) {
            self.record_failure(None, &report);
            self.enter_error_state(report, false)?;
        }
        let mut last = Instant::now();
        while self.app.quit().is_none()
            && (platform::end_requested().is_none() || self.display.needs_last_frame())
        {
            if self.options.frames.is_some_and(|frames| self.played >= frames) {
                break;
            }
            if self.error_state.is_none() && !self.app.is_paused() {
                profile::begin_frame();
            }
            let frame_input = self.poll();
            self.show_stopped_worker(&frame_input.changes);
            if let Some(window) = self.app.window_request() {
                self.apply_window_request(window);
            }
            if self.error_state.is_some() {
                self.poll_error_state(frame_input)?;
                last = Instant::now();
                continue;
            }
            if self.app.is_paused() {
                self.poll_paused(frame_input)?;
                last = Instant::now();
                continue;
            }
            let frame_input = self.with_held_input(frame_input);
            let measured = self.measure_frame(&mut last);
            let began = Instant::now();
            self.is_new = false;
            let Some((measured, frame_input)) = self.session.next_frame(measured, frame_input)
            else {
                break;
            };
            if let Err(report) = self.play_frame(measured, &frame_input, &mut last) {
                self.record_failure(Some((measured, frame_input)), &report);
                self.enter_error_state(report, true)?;
                continue;
            }
            self.played += 1;
            let is_last = self.is_last_frame();
            let engine = self.app.vm().engine();
            self.display.show(engine, is_last);
            self.display.count_statistics();
            let should_continue = self.session.frame(measured, frame_input, engine);
            self.app.end_frame();
            self.options.profile_outputs.after_frame(self.played);
            if !should_continue {
                break;
            }
            if !is_last && let Err(report) = self.wait_for_next_frame(began) {
                self.record_failure(None, &report);
                self.enter_error_state(report, true)?;
                continue;
            }
            if self.app.vm().engine().frame.restart && self.options.frames != Some(self.played) {
                self.restart_after_frame()?;
                last = Instant::now();
            }
        }
        Ok(())
    }

    /// Returns the duration of the last frame in seconds. `last` is the time of the last call.
    fn measure_frame(&mut self, last: &mut Instant) -> f64 {
        if self.after_stops() {
            // A script was stopped between two frames, such as `on_reload`.
            *last = Instant::now();
        }
        match self.options.pacing {
            FramePacing::Fixed(seconds) => seconds,
            // Nothing was measured before the first frame. If its step were almost zero, the
            // smoothing would also shorten the steps after it.
            FramePacing::RealTime if self.app.is_stepping() || self.is_new => HEADLESS_STEP,
            FramePacing::RealTime => {
                let now = Instant::now();
                (now - std::mem::replace(last, now)).as_secs_f64()
            }
        }
    }

    /// Returns true if the run ends after the frame that was just played.
    fn is_last_frame(&mut self) -> bool {
        self.app.quit().is_some()
            || self.session.is_last()
            || self.options.frames == Some(self.played)
            || platform::end_requested().is_some()
    }

    /// Notes an error in the recording, unless it results from a request to end the process.
    fn record_failure(&mut self, frame: Option<(f64, FrameInput)>, report: &ErrorReport) {
        if !(report.stopped && platform::end_requested().is_some()) {
            self.session.fail(frame, report, &self.app.vm().engine().assets.store);
        }
    }

    fn poll(&mut self) -> FrameInput {
        scope!("poll");
        self.display.poll(self.app.vm().engine())
    }

    /// Returns the input of a frame, together with the input held during a pause and the events
    /// simulated by remote tools.
    fn with_held_input(&mut self, frame_input: FrameInput) -> FrameInput {
        let mut all = std::mem::take(&mut self.held_input);
        all.append(frame_input);
        all.events.extend(self.app.take_tool_events());
        all.replace_restart_key(self.app.restart_key());
        if self.app.take_tool_restart() {
            all.changes.push(WindowChange::Restart);
        }
        all
    }

    /// Polls once while a remote tool pauses the game. Releases of buttons and touches are kept for
    /// the next frame. All other input to devices is discarded.
    fn poll_paused(&mut self, frame_input: FrameInput) -> Result<(), Box<ErrorReport>> {
        if frame_input.changes.iter().any(closes_window) {
            self.app.resume();
        }
        let restart_key = self.app.restart_key();
        if frame_input.has_press_of(restart_key) {
            self.app.play_one_step();
        }
        // A frame of the game would be drawn over the banner of a stopped worker, and run scripts.
        let may_redraw = self.worker_stop.is_none();
        if may_redraw && frame_input.changes.iter().any(needs_redraw) {
            self.app.vm().engine().devices.begin_windows(&frame_input.changes);
            self.app.request_redraw();
        }
        self.held_input.append_limited(frame_input.during_pause(restart_key));
        self.display.handle_events(self.app.vm().engine());
        self.with_shared_display(|app| app.answer_tools(false));
        if self.after_stops() && self.held_input.changes.iter().any(closes_window) {
            self.app.resume();
        }
        if may_redraw && self.app.take_redraw() {
            if let Err(report) = self.with_shared_display(App::redraw) {
                return self.enter_error_state(report, true);
            }
            self.display.show(self.app.vm().engine(), false);
            profile::discard_events();
        }
        std::thread::sleep(PAUSED_SLEEP);
        Ok(())
    }

    /// Attaches the renderer to the window of a remote tool, or detaches it if `window` is `None`.
    fn apply_window_request(&mut self, window: Option<u64>) {
        let outcome = match window {
            Some(window) => self.display.attach(window).map(Some),
            None if self.display.detach() => Ok(None),
            None => Err("no tool has provided a window".to_string()),
        };
        self.app.answer_window_request(outcome);
    }

    /// Sleeps until the frame has lasted as long as the throttle or the display demands; without a
    /// display, a sixtieth of a second. Files saved during the wait are reloaded.
    fn wait_for_next_frame(&mut self, began: Instant) -> Result<(), Box<ErrorReport>> {
        let engine = self.app.vm().engine();
        let throttle = engine.frame.time_step.frame_seconds_min();
        let display = match (self.display.has_window(), self.options.pacing) {
            (true, _) => self.display.frame_seconds_min(&engine.devices.window),
            (false, FramePacing::RealTime) => Some(throttle.unwrap_or(HEADLESS_STEP)),
            (false, FramePacing::Fixed(_)) => return Ok(()),
        };
        let wanted = display.into_iter().chain(throttle).reduce(f64::max);
        let Some(seconds) = wanted else { return Ok(()) };
        // A recording notes input at the beginning of a frame only.
        let uses_recording = self.options.record.is_some() || self.options.replay.is_some();
        // Sleeps in slices so that a signal is noticed. A game that ends does not wait.
        while platform::end_requested().is_none() && self.app.quit().is_none() {
            let left = Duration::from_secs_f64(seconds).saturating_sub(began.elapsed());
            if left.is_zero() {
                break;
            }
            let slice = left.min(Duration::from_millis(50));
            match uses_recording {
                true => std::thread::sleep(slice),
                false => self.with_shared_display(|app| app.wait_for_files(slice))?,
            }
        }
        // The game quit because of a reloaded file, so the last frame was the final one.
        if self.app.quit().is_some() {
            self.display.show(self.app.vm().engine(), true);
        }
        Ok(())
    }
}

/// Returns true if the player wants to close the window with this change.
fn closes_window(change: &WindowChange) -> bool {
    matches!(change, WindowChange::Close | WindowChange::Removed)
}

/// Returns true if a paused game must redraw its window after this change.
fn needs_redraw(change: &WindowChange) -> bool {
    match change {
        WindowChange::Of(_, change) => needs_redraw(change),
        WindowChange::Opened | WindowChange::Resized { .. } | WindowChange::Scale(_) => true,
        WindowChange::Hidden(hidden) | WindowChange::Minimized(hidden) => !hidden,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_game_is_redrawn_when_a_window_becomes_visible() {
        let of = |change| WindowChange::Of(7, Box::new(change));
        for change in [WindowChange::Opened, WindowChange::Hidden(false), WindowChange::Scale(2.0)]
        {
            assert!(needs_redraw(&change) && needs_redraw(&of(change.clone())), "{change:?}");
        }
        for change in [WindowChange::Hidden(true), WindowChange::Focus(true), WindowChange::Close] {
            assert!(!needs_redraw(&change) && !needs_redraw(&of(change.clone())), "{change:?}");
        }
    }
}
