//! The error state: a game in development that an error stopped. Its window shows the report until
//! a saved file lets the game continue. The report is drawn by src/engine/error_overlay.rs.

use super::GameRun;
use crate::crash_report;
use crate::frame_input::FrameInput;
use crate::redraw_throttle::{RedrawThrottle, RedrawTrigger};
use engine_input::button_names::{DeviceClass, MOUSE_WHEEL};
use engine_input::{EventKind, InputEvent, KEYBOARD, MOUSE, PRESSED_AT};
use engine_platform as platform;
use engine_runtime::{BuildMode, ErrorScroll};
use engine_script::ErrorReport;
use std::time::Duration;

/// Sleep between two polls.
const ERROR_SLEEP: Duration = Duration::from_millis(15);

/// Lines that the report scrolls for an arrow key, and for a notch of the wheel.
const KEY_LINES: f32 = 1.0;
const WHEEL_LINES: f32 = 3.0;

/// State of a game in development that an error stopped.
pub(super) struct ErrorState {
    /// The error that the run ends with, if the player ends it.
    report: Box<ErrorReport>,
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
    /// Handles an unexpected error. In development with an open window, reports the error and stops
    /// the game; otherwise ends the run.
    pub(super) fn enter_error_state(
        &mut self,
        report: Box<ErrorReport>,
        started: bool,
    ) -> Result<(), Box<ErrorReport>> {
        let can_recover = self.display.has_window()
            && self.options.watch
            && self.launch.build == BuildMode::Development
            && platform::end_requested().is_none();
        if !can_recover {
            return Err(report);
        }
        crash_report::report_error(self.app.vm(), &report);
        engine_foundation::error_line!(
            "engine: save a file to try again; Escape, or closing the window, ends"
        );
        let text = report.to_string();
        let older = self.error_state.take().filter(|before| before.started && started);
        let older = older.map(|before| before.report.to_string()).filter(|older| *older != text);
        // Problems of files from before the error are not newer, unless the error ended the reload
        // that found them.
        self.app.take_new_problems();
        let newer = self.app.take_problems_before_error();
        let throttle = RedrawThrottle::default();
        self.error_state = Some(ErrorState { report, started, newer, older, throttle });
        // Keys belong to the report now, and Escape ends the game.
        self.app.vm().engine().devices.console.close();
        self.show_error_state();
        Ok(())
    }

    /// Passes the reports of the error state to the window and to remote tools.
    fn show_error_state(&mut self) {
        let Some(error_state) = &self.error_state else { return };
        let reports = error_state.reports();
        self.app.report_error_state(Some(joined(&reports)));
        self.app.vm().engine().drawing.show_error(&reports);
    }

    /// Polls once in the error state, and resumes the game if a file was saved. Returns the error
    /// if the player ends the game.
    pub(super) fn poll_error_state(
        &mut self,
        frame_input: FrameInput,
    ) -> Result<(), Box<ErrorReport>> {
        let Some(error_state) = &self.error_state else { return Ok(()) };
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
        let started = error_state.started;
        let outcome = match started {
            true => self.app.swap_resources(),
            false if self.app.has_pending_changes() => self.restart().map(|()| true),
            false => Ok(false),
        };
        let swapped = match outcome {
            Ok(swapped) => swapped,
            Err(report) => return self.enter_error_state(report, started),
        };
        let newer = self.app.take_new_problems();
        let is_refused = newer.as_ref().is_some_and(|newer| !newer.is_empty());
        if swapped && !is_refused && !self.app.awaits_fix {
            self.leave_error_state();
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
        self.app.answer_tools(false);
        let is_last = platform::end_requested().is_some();
        changed |= self.app.take_redraw() | is_last;
        self.show_report(RedrawTrigger { changed, used }, is_last);
        std::thread::sleep(ERROR_SLEEP);
        Ok(())
    }

    fn leave_error_state(&mut self) {
        self.error_state = None;
        self.app.vm().engine().drawing.hide_error();
        self.app.report_error_state(None);
        let then = if self.app.is_paused() { "the game is still paused" } else { "continuing" };
        engine_foundation::error_line!("engine: a file was saved: {then}");
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
