//! The terminal: standard input and output diverted, keys read one by one.

/// Has everything that is written to standard output go to standard error from now on, whoever
/// writes it; the file is what standard output was before. Where the system has no such thing,
/// what is printed stays where it went.
pub fn divert_output() -> std::io::Result<std::fs::File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let before = std::io::stdout().as_fd().try_clone_to_owned()?;
        // SAFETY: both are the numbers of files that are open for as long as the process lives.
        if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(before.into())
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(std::io::stdout().as_handle().try_clone_to_owned()?.into())
    }
}

/// Has standard input be empty from now on, whoever reads it; the file is what it was before. Where
/// the system has no such thing, both are the same.
pub fn divert_input() -> std::io::Result<std::fs::File> {
    #[cfg(unix)]
    {
        use std::os::fd::{AsFd, AsRawFd};
        let before = std::io::stdin().as_fd().try_clone_to_owned()?;
        let nothing = std::fs::File::open("/dev/null")?;
        // SAFETY: both are the numbers of files that are open here.
        if unsafe { libc::dup2(nothing.as_raw_fd(), libc::STDIN_FILENO) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(before.into())
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(std::io::stdin().as_handle().try_clone_to_owned()?.into())
    }
}

/// The terminal that the process reads from, with every key told at once and nothing shown by
/// itself. As it was before when this is dropped.
pub struct RawTerminal {
    #[cfg(unix)]
    before: libc::termios,
}

impl RawTerminal {
    /// None where standard input is no terminal, or the system has no such thing.
    pub fn open() -> Option<RawTerminal> {
        #[cfg(unix)]
        // SAFETY: the records are filled by the first call before the second one reads them.
        unsafe {
            let mut before = std::mem::zeroed();
            if libc::tcgetattr(libc::STDIN_FILENO, &mut before) != 0 {
                return None;
            }
            let mut raw = before;
            raw.c_lflag &= !(libc::ICANON | libc::ECHO | libc::ISIG | libc::IEXTEN);
            raw.c_iflag &= !(libc::IXON | libc::ICRNL | libc::BRKINT | libc::ISTRIP);
            // A read gives what is there, at once.
            raw.c_cc[libc::VMIN] = 0;
            raw.c_cc[libc::VTIME] = 0;
            let failed = libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw) != 0;
            (!failed).then_some(RawTerminal { before })
        }
        #[cfg(not(unix))]
        None
    }

    /// What was typed, within a time; empty where nothing was, none where nobody types any more.
    pub fn read(&self, patience: std::time::Duration) -> Option<Vec<u8>> {
        #[cfg(unix)]
        // SAFETY: the record and the bytes are there for as long as the calls.
        unsafe {
            let mut one = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
            let milliseconds = patience.as_millis().min(60_000) as libc::c_int;
            if libc::poll(&mut one, 1, milliseconds) <= 0 {
                // Nothing, or a signal, which somebody else looks at.
                return Some(Vec::new());
            }
            let mut bytes = [0u8; 1024];
            match libc::read(libc::STDIN_FILENO, bytes.as_mut_ptr().cast(), bytes.len()) {
                0 => None,
                count => Some(bytes[..count.max(0) as usize].to_vec()),
            }
        }
        #[cfg(not(unix))]
        {
            let _ = patience;
            None
        }
    }

    /// How many columns it has; 80 where it does not say.
    pub fn columns(&self) -> usize {
        #[cfg(unix)]
        // SAFETY: fills the record, or fails and leaves zeros.
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
        #[cfg(unix)]
        // SAFETY: the record is the one that the terminal gave.
        unsafe {
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &self.before);
        }
    }
}
