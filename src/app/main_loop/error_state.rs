//! The error state: a game with a window that an error stopped. In development the window shows the
//! report until a saved file or a restart lets the game continue. In a release it tells the player
//! what happened, until the player ends the game. Both are drawn by src/engine/error_overlay.rs.

use super::GameRun;
use crate::App;
use crate::crash_report;
use crate::frame_input::FrameInput;
use crate::redraw_throttle::{RedrawThrottle, RedrawTrigger};
use engine_input::button_names::{DeviceClass, MOUSE_WHEEL};
use engine_input::{EventKind, InputEvent, KEYBOARD, MOUSE, PRESSED_AT};
use engine_platform as platform;
use engine_runtime::{BuildMode, ErrorScroll, PlayerErrorText};
use engine_script::ErrorReport;
use std::time::Duration;

/// Sleep between two polls.
const ERROR_SLEEP: Duration = Duration::from_millis(15);

/// Lines that the report scrolls for an arrow key, and for a notch of the wheel.
const KEY_LINES: f32 = 1.0;
const WHEEL_LINES: f32 = 3.0;

/// State of a game that an error stopped.
pub(super) struct ErrorState {
    /// The error that the run ends with, if the player ends it.
    report: Box<ErrorReport>,
    /// Exit code of the run, if the player ends it.
    pub(super) code: i32,
    /// True if the game had started. A game that had not started is restarted.
    started: bool,
    /// Problems of files that were saved since the error, or that the same reload found, the
    /// newest first.
    newer: Vec<String>,
    /// Report of the error before this one, which a saved file did not fix.
    older: Option<String>,
    /// Throttle for the redraws of the report.
    throttle: RedrawThrottle,
}

impl ErrorState {
    /// Returns the reports that are shown, the newest first.
    fn reports(&self) -> Vec<String> {
        let newer = (!self.newer.is_empty()).then(|| self.newer.join("\n\n"));
        newer.into_iter().chain([self.report.to_string()]).chain(self.older.clone()).collect()
    }
}

impl GameRun {
    /// Handles an unexpected error: ends the run, or reports the error and stops the game, if a
    /// person can see the window. `started` is false if the game has to start again.
    pub(super) fn enter_error_state(
        &mut self,
        report: Box<ErrorReport>,
        started: bool,
    ) -> Result<(), Box<ErrorReport>> {
        // A restart that was requested before the error would hide the report, and could lead to
        // the same error again and again.
        self.app.vm().engine().frame.restart = false;
        // A run with an end of its own is watched by a script, which would wait for it.
        let is_watched = self.display.has_window()
            && self.options.frames.is_none()
            && !self.options.display.wants_pictures()
            && platform::end_requested().is_none();
        match self.launch.build {
            BuildMode::Development if is_watched && self.options.watch => {
                if let Some(link) = self.app.pause_link() {
                    // The game plays on without the restart: later scripts can stop.
                    link.leaves.set(false);
                }
                self.stop_in_development(report, started);
                Ok(())
            }
            BuildMode::Release if is_watched => {
                self.stop_for_player(report);
                Ok(())
            }
            _ => Err(report),
        }
    }

    /// Stops a released game, and tells the player in its window what happened.
    fn stop_for_player(&mut self, report: Box<ErrorReport>) {
        let reported = crash_report::report_error(self.app.vm(), &report);
        let engine = self.app.vm().engine();
        let settings = &engine.game.settings;
        let title = match settings.text("error_window.title") {
            "" => format!("{} has stopped", engine.devices.window.opening.title),
            title => title.to_string(),
        };
        let file = reported.file.map(|file| file.display().to_string());
        engine.drawing.show_player_error(&PlayerErrorText {
            title: &title,
            text: settings.text("error_window.text"),
            detail: &file.unwrap_or_else(|| crash_report::line(&report)),
            address: crash_report::address(settings),
            hint: settings.text("error_window.hint"),
        });
        crash_report::mark_shown();
        // The game may have hidden the cursor, and its music would loop.
        engine.devices.window.reset_cursor();
        engine.devices.sounds.silence();
        let (code, throttle) = (reported.code, RedrawThrottle::default());
        let (newer, older) = (Vec::new(), None);
        self.error_state = Some(ErrorState { report, code, started: true, newer, older, throttle });
    }

    fn stop_in_development(&mut self, report: Box<ErrorReport>, started: bool) {
        let code = crash_report::report_error(self.app.vm(), &report).code;
        let restart = match self.app.vm().engine().game.restart_key_label() {
            Some(key) => format!("{key} restarts the game; "),
            None => String::new(),
        };
        engine_foundation::error_line!(
            "engine: save a file to try again; {restart}Escape, or closing the window, ends it"
        );
        let text = report.to_string();
        let older = self.error_state.take().filter(|before| before.started && started);
        let older = older.map(|before| before.report.to_string()).filter(|older| *older != text);
        // Problems of files from before the error are not newer, unless the error ended the reload
        // that found them.
        self.app.take_new_problems();
        let newer = self.app.take_problems_before_error();
        let throttle = RedrawThrottle::default();
        self.error_state = Some(ErrorState { report, code, started, newer, older, throttle });
        // Keys belong to the report now, and Escape ends the game.
        self.app.vm().engine().devices.console.close();
        self.show_error_state();
    }

    /// Passes the reports of the error state to the window and to remote tools.
    fn show_error_state(&mut self) {
        let Some(error_state) = &self.error_state else { return };
        let reports = error_state.reports();
        self.app.report_error_state(Some(joined(&reports)));
        let engine = self.app.vm().engine();
        let restart_key = engine.game.restart_key_label();
        engine.drawing.show_error(&reports, restart_key.as_deref());
    }

    /// Polls once in the error state, and resumes the game if a file was saved or a restart was
    /// requested. Returns the error if the player ends the game.
    pub(super) fn poll_error_state(
        &mut self,
        mut frame_input: FrameInput,
    ) -> Result<(), Box<ErrorReport>> {
        let Some(error_state) = &self.error_state else { return Ok(()) };
        let restarts =
            frame_input.replace_restart_key(self.app.restart_key()) | self.app.take_tool_restart();
        let ends = frame_input.requests_quit();
        let used = !frame_input.events.is_empty();
        let mut changed = !frame_input.changes.is_empty() | self.display.take_exposed();
        let engine = self.app.vm().engine();
        engine.devices.begin_windows(&frame_input.changes);
        for scroll in frame_input.events.iter().filter_map(scroll_of) {
            changed |= engine.drawing.scroll_error(scroll);
        }
        // A button released during the error state must not be down when the game resumes.
        engine.devices.input.begin_frame(frame_input.events);
        if ends {
            return Err(error_state.report.clone());
        }
        let mut started = error_state.started;
        let mut outcome = match started {
            true if !restarts => self.with_shared_display(App::swap_resources),
            false if self.app.has_pending_changes() => self.restart().map(|()| true),
            _ => Ok(false),
        };
        // A saved file can ask for a restart, too.
        if outcome.is_ok() && (restarts || self.app.vm().engine().frame.restart) {
            started = false;
            outcome = self.restart().map(|()| true);
        }
        let swapped = match outcome {
            Ok(swapped) => swapped,
            Err(report) => return self.enter_error_state(report, started),
        };
        if swapped && self.is_new {
            self.leave_error_state(None);
            return Ok(());
        }
        let newer = self.app.take_new_problems();
        let is_refused = newer.as_ref().is_some_and(|newer| !newer.is_empty());
        if swapped && !is_refused && !self.app.awaits_fix {
            self.leave_error_state(Some("a file was saved"));
            return Ok(());
        }
        if let (Some(mut newer), Some(error_state)) = (newer, &mut self.error_state) {
            // Earlier problems that are not fixed yet follow.
            let earlier = std::mem::take(&mut error_state.newer).into_iter();
            let earlier = earlier.filter(|it| self.app.is_refused(it) && !newer.contains(it));
            newer.extend(earlier.collect::<Vec<_>>());
            error_state.newer = newer;
            self.show_error_state();
            changed = true;
        }
        self.with_shared_display(|app| app.answer_tools(false));
        if self.after_stops()
            && self.held_input.requests_quit()
            && let Some(error_state) = &self.error_state
        {
            return Err(error_state.report.clone());
        }
        let is_last = platform::end_requested().is_some();
        changed |= self.app.take_redraw() | is_last;
        self.show_report(RedrawTrigger { changed, used }, is_last);
        std::thread::sleep(ERROR_SLEEP);
        Ok(())
    }

    /// Continues the game. `reason` is printed if there is one.
    fn leave_error_state(&mut self, reason: Option<&str>) {
        self.error_state = None;
        self.app.vm().engine().drawing.hide_error();
        self.app.report_error_state(None);
        let then = if self.app.is_paused() { "the game is still paused" } else { "continuing" };
        if let Some(reason) = reason {
            engine_foundation::error_line!("engine: {reason}: {then}");
        }
    }

    /// Draws the error report, if a redraw is due.
    fn show_report(&mut self, trigger: RedrawTrigger, is_last: bool) {
        let now = platform::seconds_since_start();
        let due = self
            .error_state
            .as_mut()
            .is_some_and(|error_state| error_state.throttle.is_due(now, trigger));
        let engine = self.app.vm().engine();
        match due {
            true => self.display.show(engine, is_last),
            false => self.display.handle_events(engine),
        }
    }
}

/// Returns reports as one text, the newest first.
fn joined(reports: &[String]) -> String {
    reports.join(&format!("\n\n{}\n", engine_runtime::ALSO_STOPPED))
}

/// Returns how far an event scrolls the report.
fn scroll_of(event: &InputEvent) -> Option<ErrorScroll> {
    match event.kind {
        EventKind::Button { button, value, .. }
            if event.device == KEYBOARD && value >= PRESSED_AT =>
        {
            let key = DeviceClass::Keyboard.buttons().get(usize::from(button))?.name;
            Some(match key {
                "up" => ErrorScroll::Lines(-KEY_LINES),
                "down" => ErrorScroll::Lines(KEY_LINES),
                "page up" => ErrorScroll::Pages(-1.0),
                "page down" | "space" => ErrorScroll::Pages(1.0),
                "home" => ErrorScroll::Start,
                "end" => ErrorScroll::End,
                _ => return None,
            })
        }
        EventKind::Motion { axis, by }
            if event.device == MOUSE && usize::from(axis) == MOUSE_WHEEL && by.y != 0.0 =>
        {
            Some(ErrorScroll::Lines(-by.y * WHEEL_LINES))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Vec3;

    #[test]
    fn newer_problems_come_before_the_error_that_stopped_the_game() {
        let mut state = ErrorState {
            report: Box::new(ErrorReport::from_message("first")),
            code: 1,
            started: true,
            newer: Vec::new(),
            older: None,
            throttle: RedrawThrottle::default(),
        };
        assert_eq!(state.reports().len(), 1);
        state.newer = vec!["a.lua:1: no".to_string(), "b.png: no".to_string()];
        state.older = Some("Error: older".to_string());
        let text = joined(&state.reports());
        let parts: Vec<_> = text.split("\n\nThe game is also stopped by this error:\n").collect();
        assert_eq!(
            (parts.len(), parts[0], parts[2]),
            (3, "a.lua:1: no\n\nb.png: no", "Error: older")
        );
        assert!(parts[1].contains("first"), "{text}");
    }

    #[test]
    fn keys_and_the_wheel_scroll_the_report() {
        let key = |name: &str, value| {
            let button = DeviceClass::Keyboard.button(name).unwrap() as u16;
            let kind = EventKind::Button { button, value, repeat: true };
            scroll_of(&InputEvent { device: KEYBOARD, age: 0.0, kind })
        };
        assert_eq!(key("page down", 1.0), Some(ErrorScroll::Pages(1.0)));
        assert_eq!(key("home", 1.0), Some(ErrorScroll::Start));
        assert_eq!((key("page down", 0.0), key("x", 1.0)), (None, None));
        let by = Vec3::new(0.0, 1.0, 0.0);
        let kind = EventKind::Motion { axis: MOUSE_WHEEL as u8, by };
        let wheel = InputEvent { device: MOUSE, age: 0.0, kind };
        assert_eq!(scroll_of(&wheel), Some(ErrorScroll::Lines(-WHEEL_LINES)));
    }
}
