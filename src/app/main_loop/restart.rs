//! Restart of the game in a run: after a frame in which it was asked for, or from the error state.

use super::GameRun;
use super::debugging::RESTART_WAIT;
use crate::App;
use crate::crash_report;
use engine_foundation::{Error, log};
use engine_runtime::BuildMode;
use engine_script::ErrorReport;

impl GameRun {
    /// Restarts the game at the end of a frame. As at the end of a run, the game's `shutdown` is
    /// called first. An error stops the game.
    pub(super) fn restart_after_frame(&mut self) -> Result<(), Box<ErrorReport>> {
        let ended = self.with_shared_display(App::shutdown);
        let restarted = ended.and_then(|()| self.restart());
        if let Err(report) = restarted {
            self.record_failure(None, &report);
            return self.enter_error_state(report, false);
        }
        Ok(())
    }

    /// Opens the game again, and starts it in the existing window.
    pub(super) fn restart(&mut self) -> Result<(), Box<ErrorReport>> {
        let to_report = |error: Error| Box::new(ErrorReport::from_message(error.to_string()));
        let was_debugged = self.app.is_debugged();
        self.reopen().map_err(to_report)?;
        if self.app.vm().engine().game.build == BuildMode::Development {
            engine_foundation::error_line!("engine: the game was restarted");
        }
        if was_debugged {
            self.wait_for_debugger(RESTART_WAIT);
        }
        self.with_shared_display(App::start)
    }

    /// Opens the game again. If this fails, the old one may still be open.
    fn reopen(&mut self) -> Result<(), Error> {
        self.display.finish_pictures(self.app.vm().engine());
        let app = self.app.reopen(&self.launch)?;
        self.app = app;
        self.is_new = true;
        // Warnings that are logged once are logged again after each start.
        for (location, count) in log::counted_warnings() {
            log::warning(&format!("{location}: warned {count} times"));
        }
        log::forget_warnings();
        let engine = self.app.vm().engine();
        self.session.continue_in(engine);
        self.display.restart(engine)?;
        self.options.profile_outputs.begin_sampling(self.app.vm())?;
        crash_report::watch(self.app.vm());
        Ok(())
    }
}
