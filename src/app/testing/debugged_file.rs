//! A test file that is debugged (`engine test --debug`): its choice, and the wait for the tool.

use super::{RunAborted, TestOptions};
use crate::debugger_wait::DebuggerWait;
use crate::{App, exit};
use engine_foundation::Error;
use std::path::Path;
use std::time::Duration;

/// Time that a file waits for the debugger before it runs without one.
const DEBUGGER_WAIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

/// Chooses the only file that is debugged among those that were found.
///
/// # Errors
/// Returns an error if there are several, or if an output needs another process.
pub fn choose(files: &mut Vec<String>, options: &TestOptions) -> Result<(), RunAborted> {
    let refuse = |message: String| RunAborted { code: exit::USAGE, message };
    if let Some(format) = options.output_formats().find(|format| format.strict) {
        let name = format.name;
        return Err(refuse(format!("--debug has no output '{name}': choose plain, dots or spec")));
    }
    if let Some(exact) = files.iter().find(|file| options.files.contains(file)).cloned() {
        *files = vec![exact];
    }
    match files.len() {
        0 | 1 => Ok(()),
        count => Err(refuse(format!(
            "--debug runs one file, and {count} were found: name it, as in \
             `engine test . {} --debug`",
            files[0]
        ))),
    }
}

/// Lets tools connect to the engine of a test file, and waits until a debugger has set its
/// breakpoints.
///
/// # Errors
/// Returns an error if tools cannot connect.
pub fn wait_for_debugger(app: &mut App, root: &Path) -> Result<(), Error> {
    let address = app.start_remote_tools(root.to_path_buf(), false)?;
    app.note_tests();
    engine_foundation::error_line!("engine: tools: {address}");
    let mut wait = DebuggerWait::new(DEBUGGER_WAIT);
    while wait.is_waiting(app) {
        app.answer_tools(false);
        std::thread::sleep(POLL);
    }
    Ok(())
}
