//! The terminal: redirection of standard input and output, and reading single keys.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::RawTerminal;

use std::fs::File;
use std::io;

/// Redirects all later writes to standard output, from any code, to standard error. Returns the
/// original standard output.
pub fn redirect_output() -> io::Result<File> {
    system::redirect_output()
}

/// Makes standard input empty from now on, for all code that reads it. Returns the original
/// standard input.
pub fn redirect_input() -> io::Result<File> {
    system::redirect_input()
}

/// Makes the terminal understand colors and movements of the cursor, where it does not by itself.
/// Call this function before anything is printed.
pub fn enable_terminal_colors() {
    #[cfg(windows)]
    system::enable_colors();
}
