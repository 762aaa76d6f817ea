//! Files that the player may have dropped on a window. The broker cannot verify a drop, because the
//! display server reports it only to the confined process. So the broker limits the number and the
//! rate of files, and opens only regular files of the user that are not hidden. It writes each path
//! to a log that the confined process cannot reach.

use std::fs::File;
use std::io::{Error, Result, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// Maximum number of requests in a run, including refused ones.
pub const REQUESTS_MAX: u32 = 1024;
/// Maximum number of files that may be opened at once, as when a player drops a folder's pictures.
const BURST_MAX: u32 = 64;
/// Minimum time between two files beyond that number. An earlier request waits. Each pause without
/// a request allows one more file at once again.
const PAUSE: Duration = Duration::from_millis(100);
/// Log size in bytes above which a new run starts a new log.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// Maximum bytes of a logged path. Only the beginning of a longer path is logged.
const LOGGED_BYTES_MAX: usize = 1024;

/// The answer for each file that is not opened. It does not reveal if the file exists.
pub const REFUSED: &str = "it does not exist, or is not a file that a confined game may read: a \
                           plain file of yours that is not hidden, in folders that are not hidden";

/// System folders whose files a player never drops.
const SYSTEM: [&str; 4] = ["/proc", "/sys", "/dev", "/run/user"];

/// The state of a run's requests.
pub struct DroppedFileLimiter {
    count: u32,
    /// Number of files that may be opened at once. `last` is the time of its last update.
    available: u32,
    last: Instant,
    pause: Duration,
    log: Option<PathBuf>,
}

impl DroppedFileLimiter {
    /// Creates the state with the log in the user's cache folder.
    pub fn of_user() -> DroppedFileLimiter {
        let cache = super::super::cache_folder();
        DroppedFileLimiter::new(cache.map(|cache| cache.join("engine/dropped.log")))
    }

    pub fn new(log: Option<PathBuf>) -> DroppedFileLimiter {
        DroppedFileLimiter {
            count: 0,
            available: BURST_MAX,
            last: Instant::now(),
            pause: PAUSE,
            log,
        }
    }

    /// Creates a state without pauses and without a log. Without the log, every file is refused
    /// after all other checks. For tests with very many requests.
    pub fn without_log() -> DroppedFileLimiter {
        DroppedFileLimiter { pause: Duration::ZERO, ..DroppedFileLimiter::new(None) }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Returns an error if there were too many requests, if this file is refused, or if the log
    /// cannot be written.
    pub fn open(&mut self, path: &Path) -> Result<File> {
        if self.count >= REQUESTS_MAX {
            return Err(Error::other(format!(
                "a confined game reads {REQUESTS_MAX} dropped files in one run: start it again"
            )));
        }
        self.count += 1;
        self.wait();
        let opened = open_plain(path);
        self.append_log(if opened.is_ok() { "read" } else { "refused" }, path)?;
        opened.map_err(|_| Error::other(REFUSED))
    }

    /// Blocks until the next file may be opened.
    fn wait(&mut self) {
        if self.pause.is_zero() {
            return;
        }
        let elapsed = self.last.elapsed();
        let more = u32::try_from(elapsed.as_nanos() / self.pause.as_nanos()).unwrap_or(BURST_MAX);
        if more > 0 {
            self.available = self.available.saturating_add(more).min(BURST_MAX);
            self.last = Instant::now();
        }
        if self.available == 0 {
            sleep(self.pause.saturating_sub(elapsed));
            self.last = Instant::now();
            return;
        }
        self.available -= 1;
    }

    /// Writes a line to the log: the time, the process, the answer and the path.
    fn append_log(&self, answer: &str, path: &Path) -> Result<()> {
        let write = || {
            let log = self.log.as_ref().ok_or_else(|| Error::other("there is no cache folder"))?;
            std::fs::create_dir_all(log.parent().unwrap_or(Path::new("/")))?;
            let mut options = File::options();
            options.create(true).append(true).mode(0o600);
            let mut file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(log)?;
            // The log is cleared only before the first request, so no run removes its own lines.
            if self.count == 1 && file.metadata()?.len() > LOG_BYTES_MAX {
                file.set_len(0)?;
            }
            let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let seconds = time.map_or(0, |time| time.as_secs());
            let process = std::os::unix::process::parent_id();
            // The debug format escapes terminal control characters.
            let mut escaped = format!("{path:?}");
            escaped.truncate(escaped.floor_char_boundary(LOGGED_BYTES_MAX));
            file.write_all(format!("{seconds} {process} {answer} {escaped}\n").as_bytes())
        };
        write().map_err(|reason: Error| {
            Error::other(format!("the log of dropped files cannot be written: {reason}"))
        })
    }
}

/// Opens a file that passes all checks. The checks apply to the file that is then opened, not to
/// another file that takes its name in the meantime.
fn open_plain(path: &Path) -> Result<File> {
    let refused_error = || Error::other(REFUSED);
    if !path.is_absolute() {
        return Err(refused_error());
    }
    // O_PATH reads nothing and does not affect pipes or devices.
    let found = File::options().read(true).custom_flags(libc::O_PATH).open(path)?;
    let number = format!("/proc/self/fd/{}", found.as_raw_fd());
    // The path with links resolved, because links may lead anywhere.
    let canonical = std::fs::read_link(&number)?;
    let metadata = found.metadata()?;
    // SAFETY: the call only returns a number.
    let own = metadata.uid() == unsafe { libc::geteuid() };
    let is_system = SYSTEM.iter().any(|folder| canonical.starts_with(folder));
    if !metadata.is_file() || !own || is_system || is_hidden(&canonical) {
        return Err(refused_error());
    }
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(number)
}

/// Returns true if a part of a path begins with a dot, as for files that hold keys and
/// configuration.
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

    fn scratch(name: &str) -> (PathBuf, DroppedFileLimiter) {
        let folder =
            std::env::temp_dir().join(format!("engine-{}-drops-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join(".ssh")).unwrap();
        for name in ["picture.png", ".ssh/key", ".env"] {
            std::fs::write(folder.join(name), name).unwrap();
        }
        let log = folder.join("cache/engine/dropped.log");
        (folder, DroppedFileLimiter::new(Some(log)))
    }

    #[test]
    fn only_plain_visible_files_are_accepted_as_drops() {
        let (folder, mut drops) = scratch("plain");
        symlink(folder.join(".ssh/key"), folder.join("link.png")).unwrap();
        symlink(folder.join("picture.png"), folder.join("other.png")).unwrap();
        let other_user = folder.join("others.png");
        std::fs::write(&other_user, "x").unwrap();
        // Only the superuser can change a file's owner.
        let is_foreign = std::os::unix::fs::chown(&other_user, Some(12345), None).is_ok();
        let status =
            std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap();
        assert!(status.success());
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
            // The answer is the same for all files, so it does not reveal which exist.
            let message = drops.open(&folder.join(name)).unwrap_err().to_string();
            assert_eq!(message, REFUSED, "{name}");
        }
        assert_eq!(drops.open(Path::new("picture.png")).unwrap_err().to_string(), REFUSED);
        assert_eq!(drops.open(&other_user).is_err(), is_foreign);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn dropped_files_are_rate_limited_and_logged() {
        let (folder, mut drops) = scratch("few");
        // This number of files is opened without pauses.
        let began = Instant::now();
        for _ in 0..BURST_MAX {
            drops.wait();
        }
        assert!(began.elapsed() < PAUSE * BURST_MAX / 2);
        (drops.available, drops.last) = (0, Instant::now());
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
        // A long path does not fill the log. A full log stays for this run, and the next run starts
        // a new one.
        let _ = drops.open(&folder.join("\u{1}".repeat(4000)));
        assert!(std::fs::metadata(&log).unwrap().len() < 2000);
        std::fs::write(&log, vec![b'x'; LOG_BYTES_MAX as usize + 1]).unwrap();
        drops.open(&folder.join("picture.png")).unwrap();
        assert!(std::fs::metadata(&log).unwrap().len() > LOG_BYTES_MAX);
        drops.count = 0;
        drops.open(&folder.join("picture.png")).unwrap();
        assert!(std::fs::metadata(&log).unwrap().len() < 1000);
        // If the log cannot be written, no file is opened.
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
