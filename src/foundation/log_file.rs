//! The log file: every line with the seconds since the file was opened, and the files of earlier
//! runs next to it. The newest file is `game.log`. Older files have increasing numbers, and the
//! oldest is removed. A file that grows too large is rotated in the same manner while the game
//! runs.

use super::log::LogLevel;
use std::fs::{self, File};
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Name of the newest file.
pub const NEWEST: &str = "game.log";
/// File size in bytes above which the log is rotated.
pub const FILE_BYTES_MAX: u64 = 4 << 20;
/// How often a game tries to create its file while other games of the folder create theirs.
const ROTATIONS_MAX: usize = 100;

/// An open log file.
pub struct LogFile {
    folder: PathBuf,
    file: File,
    bytes: u64,
    files_max: usize,
    began: Instant,
}

/// Returns the name of an older file: 1 is the one before the newest.
fn rotated_name(number: usize) -> String {
    format!("game.{number}.log")
}

/// Rotates the files: increases their numbers, so that the newest name is free.
fn rotate(folder: &Path, files_max: usize) -> Result<()> {
    let path_of = |number: usize| match number {
        0 => folder.join(NEWEST),
        number => folder.join(rotated_name(number)),
    };
    // Also removes files from a time when more files were kept.
    for number in files_max.. {
        if fs::remove_file(path_of(number)).is_err() {
            break;
        }
    }
    for number in (0..files_max).rev() {
        // A dangling link also counts as existing.
        if fs::symlink_metadata(path_of(number)).is_err() {
            continue;
        }
        let moved = match number + 1 < files_max {
            true => fs::rename(path_of(number), path_of(number + 1)),
            false => fs::remove_file(path_of(number)),
        };
        match moved {
            // Another game of this folder rotates at the same time.
            Err(problem) if problem.kind() == ErrorKind::NotFound => {}
            moved => moved?,
        }
    }
    Ok(())
}

/// Rotates the files and creates the newest. Two games of one folder can do this at the same time:
/// the one whose name is taken first rotates again. An older log can be lost then.
fn create_newest(folder: &Path, files_max: usize) -> Result<File> {
    for _ in 1..ROTATIONS_MAX {
        rotate(folder, files_max)?;
        match File::create_new(folder.join(NEWEST)) {
            Err(problem) if problem.kind() == ErrorKind::AlreadyExists => {}
            created => return created,
        }
    }
    rotate(folder, files_max)?;
    File::create_new(folder.join(NEWEST))
}

impl LogFile {
    /// Opens a new log file in a folder, which is created if it is missing. At most `files_max`
    /// files are kept, and at least one.
    ///
    /// # Errors
    /// Returns an error if the folder or the file cannot be written.
    pub fn open(folder: &Path, files_max: usize) -> Result<LogFile> {
        let files_max = files_max.max(1);
        fs::create_dir_all(folder)?;
        // A pipe or a link with this name is moved away like a file, and never written to.
        let file = create_newest(folder, files_max)?;
        let folder = folder.to_path_buf();
        Ok(LogFile { folder, file, bytes: 0, files_max, began: Instant::now() })
    }

    /// Writes a line. Write errors are ignored: the terminal has the line, and a full disk must not
    /// end a game.
    pub fn line(&mut self, level: LogLevel, text: &str) {
        let seconds = self.began.elapsed().as_secs_f64();
        let line = format!("{seconds:10.3} {:7} {text}\n", level.name());
        self.bytes += line.len() as u64;
        let _ = self.file.write_all(line.as_bytes());
        if self.bytes > FILE_BYTES_MAX
            && let Ok(file) = create_newest(&self.folder, self.files_max)
        {
            (self.file, self.bytes) = (file, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("engine_log_{}_{name}", std::process::id()));
        // The folder may remain from a test run that was killed.
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it was made");
        let name = |entry: Result<fs::DirEntry>| {
            entry.expect("it can be read").file_name().into_string().expect("it is ours")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn logs_of_a_limited_number_of_runs_are_kept() {
        let folder = scratch("runs");
        for run in 0..5 {
            let mut log = LogFile::open(&folder, 3).unwrap();
            log.line(LogLevel::Warning, &format!("run {run}"));
        }
        assert_eq!(names(&folder), ["game.1.log", "game.2.log", "game.log"]);
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert!(text("game.log").ends_with("warning run 4\n"), "{}", text("game.log"));
        assert!(text("game.2.log").ends_with("warning run 2\n"));
        LogFile::open(&folder, 1).unwrap();
        assert_eq!(names(&folder), ["game.log"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn games_that_start_at_the_same_time_have_a_log_each() {
        let folder = scratch("many");
        let starts: Vec<_> = (0..8)
            .map(|_| {
                let folder = folder.clone();
                std::thread::spawn(move || LogFile::open(&folder, 8).map(|_| ()))
            })
            .collect();
        for start in starts {
            start.join().unwrap().unwrap();
        }
        assert!(folder.join(NEWEST).exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_is_too_large_is_rotated() {
        let folder = scratch("large");
        let mut log = LogFile::open(&folder, 2).unwrap();
        let long = "x".repeat(FILE_BYTES_MAX as usize / 2);
        for _ in 0..3 {
            log.line(LogLevel::Info, &long);
        }
        log.line(LogLevel::Info, "after");
        assert_eq!(names(&folder), ["game.1.log", "game.log"]);
        let newest = fs::read_to_string(folder.join(NEWEST)).unwrap();
        assert!(newest.ends_with("after\n") && newest.len() < FILE_BYTES_MAX as usize);
        fs::remove_dir_all(&folder).unwrap();
    }
}
