//! The parts of the main loop that the debugger changes: the wait for a tool before the start, and
//! the display that a stopped script polls.

use super::{GameRun, PAUSED_SLEEP};
use crate::App;
use crate::debugger_wait::DebuggerWait;
use crate::display::Display;
use crate::frame_input::FrameInput;
use crate::remote::{FrameReplay, StoppedGame};
use engine_foundation::log;
use engine_script::ErrorReport;
use engine_window::WindowChange;
use std::time::{Duration, Instant};

/// Time that a run waits for the debugger before it starts without one.
const DEBUGGER_WAIT: Duration = Duration::from_secs(60);
/// Time that a restarted game waits for the debugger, which has to set its breakpoints again.
pub(super) const RESTART_WAIT: Duration = Duration::from_secs(10);
/// Time in which a file must arrive that was saved while an error had stopped the frame: it is
/// compiled meanwhile.
const FIX_WAIT: Duration = Duration::from_millis(500);

impl GameRun {
    /// Waits for a tool that debugs the scripts, if the run's options ask for that.
    pub(super) fn wait_for_first_debugger(&mut self) {
        if self.options.waits_for_debugger {
            self.wait_for_debugger(DEBUGGER_WAIT);
        }
    }

    /// Plays a frame, which the debugger may stop. `last` is the time at which the next frame is
    /// measured from: that of a stop does not count. The frame is played again, from its start and
    /// with the same input, clock and time step, if the tool asks for that, or if a file was saved
    /// after an error has stopped it. Gestures and rumble effects advance twice then.
    pub(super) fn play_frame(
        &mut self,
        measured: f64,
        frame_input: &FrameInput,
        last: &mut Instant,
    ) -> Result<(), Box<ErrorReport>> {
        loop {
            self.app.add_input(frame_input.clone());
            let is_debugged = self.app.is_debugged();
            let frame = &self.app.vm().engine().frame;
            let (index, delta, total) = (frame.index, frame.delta, frame.total);
            // The history that smooths the time steps.
            let time_step = is_debugged.then(|| frame.time_step.clone());
            self.app.note_frame(true);
            let outcome = self.with_shared_display(|app| app.frame(measured));
            self.app.note_frame(false);
            if self.after_stops() {
                *last = Instant::now();
            }
            if outcome.is_ok() {
                return outcome;
            }
            // A saved file of settings may change it again.
            if let Some(time_step) = time_step {
                self.app.vm().engine().frame.time_step = time_step;
            }
            if !self.plays_again() {
                return outcome;
            }
            let frame = &mut self.app.vm().engine().frame;
            (frame.index, frame.delta, frame.total) = (index, delta, total);
        }
    }

    /// Returns true if the frame that has just failed is played again.
    fn plays_again(&mut self) -> bool {
        let Some(link) = self.app.pause_link() else { return false };
        match link.take_replay() {
            FrameReplay::Never => return false,
            FrameReplay::Asked => return true,
            FrameReplay::AfterFix => {}
        }
        let end = Instant::now() + FIX_WAIT;
        loop {
            match self.with_shared_display(App::swap_resources) {
                Ok(true) if !self.app.awaits_fix => {
                    engine_foundation::error_line!(
                        "engine: a file was saved: the frame is played again"
                    );
                    return true;
                }
                Ok(_) if Instant::now() < end => std::thread::sleep(PAUSED_SLEEP),
                Ok(_) => return false,
                Err(report) => {
                    log::error(&report.to_string());
                    return false;
                }
            }
        }
    }

    /// Waits until a tool has set its breakpoints, for at most `most`.
    pub(super) fn wait_for_debugger(&mut self, most: Duration) {
        let mut wait = DebuggerWait::new(most);
        while self.app.quit().is_none() && wait.is_waiting(&self.app) {
            let input = self.poll();
            self.held_input.append_limited(input.during_pause(None));
            self.app.answer_tools(false);
            std::thread::sleep(PAUSED_SLEEP);
        }
    }

    /// Calls scripts, which the debugger may stop: it polls the display meanwhile.
    pub(super) fn with_shared_display<T>(&mut self, call: impl FnOnce(&mut App) -> T) -> T {
        let Some(link) = self.app.pause_link() else { return call(&mut self.app) };
        let display = std::mem::replace(&mut self.display, Display::unopened());
        link.lend(display);
        let result = call(&mut self.app);
        if let Some(display) = link.take_display() {
            self.display = display;
        }
        result
    }

    /// Shows that the script of a worker is stopped, as if it were one of the game: nothing else
    /// draws meanwhile, because no frame is played. A report of an error stays in the window.
    /// `changes` are those of the window.
    pub(super) fn show_stopped_worker(&mut self, changes: &[WindowChange]) {
        let event = self.app.pause_link().and_then(|link| link.workers.stop());
        let engine = self.app.vm().engine();
        let Some(event) = event else {
            if self.worker_stop.take().is_some() {
                StoppedGame::default().end(engine);
                // A game that tools have paused draws its last frame without the banner.
                self.app.request_redraw();
            }
            return;
        };
        if self.worker_stop.as_ref().is_none_or(|(known, _)| *known != event) {
            let mut stopped = StoppedGame::default();
            stopped.note(&event);
            self.worker_stop = Some((event, stopped));
        }
        if let Some((_, stopped)) = &mut self.worker_stop {
            // A stop of the game meanwhile, by a line of a tool, has ended with sound.
            stopped.hold_sound(engine);
            if self.error_state.is_none() {
                stopped.show(&mut self.display, engine, changes);
            }
        }
    }

    /// Takes over the input that arrived while the debugger stopped scripts. Returns true if it
    /// stopped any: the time of the stop does not count as that of a frame.
    pub(super) fn after_stops(&mut self) -> bool {
        let Some(link) = self.app.pause_link() else { return false };
        let (input, stopped) = link.take_input();
        self.held_input.append_limited(input);
        stopped
    }
}
