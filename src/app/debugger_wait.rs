//! The wait of a game for the tool that debugs it, before its scripts are loaded.

use super::App;
use engine_platform as platform;
use std::time::{Duration, Instant};

/// Time after which a wait is announced. An editor that starts the game is there before.
const QUIET: Duration = Duration::from_secs(1);

/// A wait for the debugger, which has to set its breakpoints.
pub struct DebuggerWait {
    most: Duration,
    begun: Instant,
    is_announced: bool,
}

impl DebuggerWait {
    pub fn new(most: Duration) -> DebuggerWait {
        DebuggerWait { most, begun: Instant::now(), is_announced: false }
    }

    /// Returns true while the debugger is missing, and has time left.
    pub fn is_waiting(&mut self, app: &App) -> bool {
        if app.is_debugger_ready() || platform::end_requested().is_some() {
            return false;
        }
        let (passed, seconds) = (self.begun.elapsed(), self.most.as_secs());
        if passed >= self.most {
            engine_foundation::error_line!(
                "engine: no debugger came in {seconds} seconds: the scripts run without one"
            );
            return false;
        }
        if passed >= QUIET && !self.is_announced {
            self.is_announced = true;
            engine_foundation::error_line!(
                "engine: waiting up to {seconds} seconds for a debugger (engine dap)"
            );
        }
        true
    }
}
