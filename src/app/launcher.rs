//! Games that end with the program that has started them. The program holds the other end of their
//! standard input, and lets them outlive it by a line.

use engine_foundation::panic;
use engine_platform as platform;
use std::io::{ErrorKind, Read};

/// Asks this process to end when its standard input is closed, which the system does when the
/// program at its other end dies. A line that was read before ends this. Starts a thread, so that
/// the confinement must have begun.
pub fn end_with_input() {
    let read = || {
        let mut bytes = [0; 256];
        loop {
            match std::io::stdin().lock().read(&mut bytes) {
                Ok(0) => break,
                Ok(count) if bytes[..count].contains(&b'\n') => return,
                Err(error) if error.kind() != ErrorKind::Interrupted => break,
                _ => {}
            }
        }
        platform::request_end();
    };
    if let Err(reason) = panic::spawn("input", read) {
        engine_foundation::error_line!(
            "warning: the game will not end with its launcher: no thread is left: {reason}"
        );
    }
}
