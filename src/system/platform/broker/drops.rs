//! Files that the player may have dropped on a window. The broker cannot know of the drop: the
//! display's server reports it to the confined process alone. So this opens few files, slowly, only
//! plain ones of the user's own that are not hidden, and writes the path of each into a log that
//! the confined process cannot reach.

use std::fs::File;
use std::io::{Error, Result, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// How many files are asked for in a run, at most; those that are refused count, too.
pub const REQUESTS_MAX: u32 = 1024;
/// How many files may follow each other at once, as when a player drops a folder's pictures.
const AT_ONCE: u32 = 64;
/// The time from one file to the next beyond those, at least. A request that comes sooner waits;
/// each such time without a request lets one more follow at once again.
const PAUSE: Duration = Duration::from_millis(100);
/// The size from which on a run begins a new log.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// A longer path is logged by its beginning, of this many bytes.
const LOGGED_BYTES_MAX: usize = 1024;

/// The answer for each file that is not opened. It does not say whether the file exists.
pub const REFUSED: &str = "it is not there, or not a file that a confined game may read: a plain \
                           file of yours that is not hidden, in folders that are not hidden";

/// Folders of the system in which files are not what a player drops.
const SYSTEM: [&str; 4] = ["/proc", "/sys", "/dev", "/run/user"];

/// The requests of a run.
pub struct Drops {
    count: u32,
    /// How many may follow at once, and since when.
    ready: u32,
    last: Instant,
    pause: Duration,
    log: Option<PathBuf>,
}

impl Drops {
    /// With the log in the user's cache.
    pub fn of_user() -> Drops {
        let cache = super::super::cache_folder();
        Drops::new(cache.map(|cache| cache.join("engine/dropped.log")))
    }

    pub fn new(log: Option<PathBuf>) -> Drops {
        Drops { count: 0, ready: AT_ONCE, last: Instant::now(), pause: PAUSE, log }
    }

    /// Without a log, so that each file is refused in the end, and without pauses: for tests that
    /// ask for very many.
    pub fn refused_at_once() -> Drops {
        Drops { pause: Duration::ZERO, ..Drops::new(None) }
    }

    /// Opens a file to read it.
    ///
    /// # Errors
    /// Too many were asked for, this one is refused, or the log cannot be written.
    pub fn open(&mut self, path: &Path) -> Result<File> {
        if self.count >= REQUESTS_MAX {
            return Err(Error::other(format!(
                "a confined game reads {REQUESTS_MAX} dropped files in one run: start it again"
            )));
        }
        self.count += 1;
        self.wait();
        let opened = open_plain(path);
        self.note(if opened.is_ok() { "read" } else { "refused" }, path)?;
        opened.map_err(|_| Error::other(REFUSED))
    }

    /// Waits until the next file may be opened.
    fn wait(&mut self) {
        if self.pause.is_zero() {
            return;
        }
        let passed = self.last.elapsed();
        let more = u32::try_from(passed.as_nanos() / self.pause.as_nanos()).unwrap_or(AT_ONCE);
        if more > 0 {
            self.ready = self.ready.saturating_add(more).min(AT_ONCE);
            self.last = Instant::now();
        }
        if self.ready == 0 {
            sleep(self.pause.saturating_sub(passed));
            self.last = Instant::now();
            return;
        }
        self.ready -= 1;
    }

    /// Writes a line of the log: the time, the process, the answer, the path.
    fn note(&self, answer: &str, path: &Path) -> Result<()> {
        let write = || {
            let log = self.log.as_ref().ok_or_else(|| Error::other("there is no cache folder"))?;
            std::fs::create_dir_all(log.parent().unwrap_or(Path::new("/")))?;
            let mut options = File::options();
            options.create(true).append(true).mode(0o600);
            let mut file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(log)?;
            // Before the first request alone: no run removes its own lines.
            if self.count == 1 && file.metadata()?.len() > LOG_BYTES_MAX {
                file.set_len(0)?;
            }
            let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let seconds = time.map_or(0, |time| time.as_secs());
            let process = std::os::unix::process::parent_id();
            // The debug form escapes what steers a terminal.
            let mut shown = format!("{path:?}");
            shown.truncate(shown.floor_char_boundary(LOGGED_BYTES_MAX));
            file.write_all(format!("{seconds} {process} {answer} {shown}\n").as_bytes())
        };
        write().map_err(|reason: Error| {
            Error::other(format!("the log of dropped files cannot be written: {reason}"))
        })
    }
}

/// Opens a file that passes all checks. They look at the file that is opened then, and not at one
/// that takes its name meanwhile.
fn open_plain(path: &Path) -> Result<File> {
    let refused = || Error::other(REFUSED);
    if !path.is_absolute() {
        return Err(refused());
    }
    // Nothing is read by this, and no pipe or device hears of it.
    let found = File::options().read(true).custom_flags(libc::O_PATH).open(path)?;
    let number = format!("/proc/self/fd/{}", found.as_raw_fd());
    // Its path without links, which may lead anywhere.
    let real = std::fs::read_link(&number)?;
    let about = found.metadata()?;
    // SAFETY: asks for a number.
    let own = about.uid() == unsafe { libc::geteuid() };
    let is_system = SYSTEM.iter().any(|folder| real.starts_with(folder));
    if !about.is_file() || !own || is_system || is_hidden(&real) {
        return Err(refused());
    }
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(number)
}

/// Whether a path has a part that begins with a dot, as what holds keys and configuration does.
pub fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| match part {
        Component::Normal(name) => name.as_bytes().starts_with(b"."),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn scratch(name: &str) -> (PathBuf, Drops) {
        let folder =
            std::env::temp_dir().join(format!("engine-{}-drops-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join(".ssh")).unwrap();
        for name in ["picture.png", ".ssh/key", ".env"] {
            std::fs::write(folder.join(name), name).unwrap();
        }
        let log = folder.join("cache/engine/dropped.log");
        (folder, Drops::new(Some(log)))
    }

    #[test]
    fn a_dropped_file_is_read_where_it_is_plain_and_not_hidden() {
        let (folder, mut drops) = scratch("plain");
        symlink(folder.join(".ssh/key"), folder.join("link.png")).unwrap();
        symlink(folder.join("picture.png"), folder.join("other.png")).unwrap();
        let other_user = folder.join("others.png");
        std::fs::write(&other_user, "x").unwrap();
        // Only the system's owner can give a file away.
        let given_away = std::os::unix::fs::chown(&other_user, Some(12345), None).is_ok();
        let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap();
        assert!(made.success());
        for name in ["picture.png", "other.png"] {
            let mut text = String::new();
            let mut file = drops.open(&folder.join(name)).unwrap();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "picture.png");
            assert!(file.write_all(b"x").is_err());
        }
        for name in [
            ".ssh/key",
            ".env",
            "link.png",
            ".ssh",
            "pipe",
            "missing",
            ".ssh/missing",
            "/dev/zero",
            "/dev/null",
            "/proc/self/environ",
            "/sys/kernel/vmcoreinfo",
        ] {
            // One answer for all: none says what is there.
            let message = drops.open(&folder.join(name)).unwrap_err().to_string();
            assert_eq!(message, REFUSED, "{name}");
        }
        assert_eq!(drops.open(Path::new("picture.png")).unwrap_err().to_string(), REFUSED);
        assert_eq!(drops.open(&other_user).is_err(), given_away);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn dropped_files_are_few_slow_and_logged() {
        let (folder, mut drops) = scratch("few");
        // Many at once are opened at once.
        let began = Instant::now();
        for _ in 0..AT_ONCE {
            drops.wait();
        }
        assert!(began.elapsed() < PAUSE * AT_ONCE / 2);
        (drops.ready, drops.last) = (0, Instant::now());
        let began = Instant::now();
        for name in ["picture.png", ".env\u{1b}[2J\n", "picture.png"] {
            let _ = drops.open(&folder.join(name));
        }
        assert!(began.elapsed() >= 2 * PAUSE);
        let log = folder.join("cache/engine/dropped.log");
        let lines = std::fs::read_to_string(&log).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].contains(" read \"/") && lines[0].ends_with("/picture.png\""));
        assert!(lines[1].contains(" refused ") && lines[1].ends_with("/.env\\u{1b}[2J\\n\""));
        assert_eq!(std::fs::metadata(&log).unwrap().mode() & 0o777, 0o600);
        // A long path fills no log, a full log stays for this run, and the next run begins anew.
        let _ = drops.open(&folder.join("\u{1}".repeat(4000)));
        assert!(std::fs::metadata(&log).unwrap().len() < 2000);
        std::fs::write(&log, vec![b'x'; LOG_BYTES_MAX as usize + 1]).unwrap();
        drops.open(&folder.join("picture.png")).unwrap();
        assert!(std::fs::metadata(&log).unwrap().len() > LOG_BYTES_MAX);
        drops.count = 0;
        drops.open(&folder.join("picture.png")).unwrap();
        assert!(std::fs::metadata(&log).unwrap().len() < 1000);
        // One that cannot be written lets nothing through.
        std::fs::remove_file(&log).unwrap();
        symlink(folder.join("picture.png"), &log).unwrap();
        let message = drops.open(&folder.join("picture.png")).unwrap_err().to_string();
        assert!(message.starts_with("the log of dropped files cannot be written: "), "{message}");
        drops.count = REQUESTS_MAX;
        let message = drops.open(&folder.join("picture.png")).unwrap_err().to_string();
        assert!(message.starts_with("a confined game reads 1024 dropped files"), "{message}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
