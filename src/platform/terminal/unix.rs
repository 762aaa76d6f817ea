//! The terminal on Unix.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

pub fn redirect_output() -> io::Result<File> {
    let original = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open as long as the process lives.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(original.into())
}

pub fn redirect_input() -> io::Result<File> {
    let original = io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    // SAFETY: both descriptors are open here.
    if unsafe { libc::dup2(nothing.as_raw_fd(), libc::STDIN_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(original.into())
}

/// The terminal of standard input in raw mode: each key is reported immediately and not echoed.
/// Dropping this value restores the previous mode.
pub struct RawTerminal {
    original: libc::termios,
}

impl RawTerminal {
    /// Switches the terminal to raw mode. Returns `None` if standard input is not a terminal, or if
    /// the system does not support this.
    pub fn open() -> Option<RawTerminal> {
        // SAFETY: the first call fills the records before the second one reads them.
        unsafe {
            let mut original = std::mem::zeroed();
            if libc::tcgetattr(libc::STDIN_FILENO, &mut original) != 0 {
                return None;
            }
            let mut raw = original;
            raw.c_lflag &= !(libc::ICANON | libc::ECHO | libc::ISIG | libc::IEXTEN);
            raw.c_iflag &= !(libc::IXON | libc::ICRNL | libc::BRKINT | libc::ISTRIP);
            // A read returns the available bytes at once.
            raw.c_cc[libc::VMIN] = 0;
            raw.c_cc[libc::VTIME] = 0;
            let failed = libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw) != 0;
            (!failed).then_some(RawTerminal { original })
        }
    }

    /// Reads the input typed within a time limit. Returns an empty list if nothing was typed, and
    /// `None` if the input has ended.
    pub fn read(&self, timeout: std::time::Duration) -> Option<Vec<u8>> {
        // SAFETY: the record and the bytes live as long as the calls.
        unsafe {
            let mut descriptor =
                libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
            let milliseconds = timeout.as_millis().min(60_000) as libc::c_int;
            if libc::poll(&mut descriptor, 1, milliseconds) <= 0 {
                // Nothing was typed, or a signal arrived, which other code handles.
                return Some(Vec::new());
            }
            let mut bytes = [0u8; 1024];
            match libc::read(libc::STDIN_FILENO, bytes.as_mut_ptr().cast(), bytes.len()) {
                0 => None,
                count => Some(bytes[..count.max(0) as usize].to_vec()),
            }
        }
    }

    /// Returns the number of columns, or 80 if it is unknown.
    pub fn columns(&self) -> usize {
        // SAFETY: the call fills the record, or fails and leaves zeros.
        unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            let failed = libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) != 0;
            if !failed && size.ws_col > 0 {
                return usize::from(size.ws_col);
            }
        }
        80
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // SAFETY: the record is the one that the terminal returned.
        unsafe {
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &self.original);
        }
    }
}
