//! Scratch folders with a game, for tests of the executable: files, commands that run the engine in
//! the folder, and the output of processes. Saves go below the folder, which is removed on drop.

use engine::foundation::panic::lock;
use engine_test_support::test_path;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Exit code, standard output and standard error of a process.
pub type Outcome = (i32, String, String);

/// The folders of the tests that run.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A test's own folder.
pub struct GameFolder(PathBuf);

impl GameFolder {
    /// Creates an empty folder.
    ///
    /// # Panics
    /// Panics if another test that runs now uses the same subject and name: it would lose its
    /// files.
    #[track_caller]
    pub fn new(subject: &str, name: &str) -> GameFolder {
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("engine-{subject}-{process}-{name}"));
        let is_free = lock(&FOLDERS).insert(folder.clone());
        assert!(is_free, "{}: two tests use this folder", folder.display());
        // A leftover of an earlier process with the same id.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a scratch folder can be made");
        GameFolder(folder)
    }

    /// Writes a file at once, and creates the folders that it is in. A game that watches the folder
    /// never reads an emptied or a half-written file, however slow the machine is.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        save(&self.join(path), bytes);
    }

    /// Returns the command of a program that is run in the folder. Runs do not print how many
    /// frames they played.
    pub fn program<A: AsRef<OsStr>>(&self, program: impl AsRef<OsStr>, arguments: &[A]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self).env("ENGINE_SAVE_DIR", self.join("saves"));
        command.env("ENGINE_QUIET", "1");
        command
    }

    /// Returns the command of the engine.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        self.program(env!("CARGO_BIN_EXE_engine"), arguments)
    }

    /// Runs the engine to its end.
    #[track_caller]
    pub fn engine<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Outcome {
        outcome(&mut self.command(arguments))
    }
}

impl Deref for GameFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for GameFolder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for GameFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        lock(&FOLDERS).remove(&self.0);
    }
}

/// Writes a file as most editors do: a temporary file, which games ignore, replaces it. Creates the
/// folders that it is in.
pub fn save(path: &Path, bytes: impl AsRef<[u8]>) {
    let name = path.file_name().expect("it has a name").to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.new"));
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
    fs::write(&temporary, bytes).expect("a scratch file can be written");
    fs::rename(&temporary, path).expect("a scratch file can be replaced");
}

/// Runs a command to its end. The process must not be ended by a signal.
#[track_caller]
pub fn outcome(command: &mut Command) -> Outcome {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("its output is text");
    (status.code().expect("no signal ended it"), text(stdout), text(stderr))
}

/// Runs a command to its end. Returns its exit code, and standard output and standard error as one
/// text.
pub fn combined_output(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    (status.code(), String::from_utf8([stdout, stderr].concat()).expect("its output is text"))
}

/// Maximum time until the end of a process that has to end within a second. The rest is the delay
/// of a busy machine.
const END_TIME_MAX: Duration = Duration::from_secs(5);
/// Number of attempts to end a process in time. A busy machine can delay some of them for longer.
const END_ATTEMPT_COUNT: usize = 8;

/// Checks that processes end when they have to. `attempt` starts a process, checks everything else
/// of it, and returns the time that its end took. One attempt in time is enough.
#[track_caller]
pub fn check_end_time(name: &str, mut attempt: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    while times.len() < END_ATTEMPT_COUNT {
        let time = attempt();
        if time < END_TIME_MAX {
            return;
        }
        times.push(time);
    }
    panic!("{name}: no attempt ended in time: {times:?}");
}

/// Writes a program that a test starts. A child process writes the file: were it open here, a child
/// that another test starts at that time would hold it open as well, and the system does not start
/// a program that is open for writing ("text file busy").
#[cfg(unix)]
pub fn write_program(path: &Path, bytes: impl AsRef<[u8]>) {
    let source = path.with_extension("written");
    fs::write(&source, bytes).expect("it can be written");
    let copied = Command::new("install").args(["-m", "755"]).arg(&source).arg(path).status();
    assert!(copied.expect("install runs").success(), "{path:?} can be made");
    fs::remove_file(source).expect("it can be removed");
}

/// Runs a test again, in a process of its own, whose log no other test writes to. Returns true in
/// that process, and false after it has passed. `module` is the test's `module_path!()`.
#[track_caller]
pub fn is_alone(module: &str, test: &str) -> bool {
    const ALONE: &str = "ENGINE_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("it runs");
    let arguments = [&test_path(module, test)[..], "--exact", "--nocapture"];
    let (code, output) = combined_output(Command::new(program).args(arguments).env(ALONE, "1"));
    assert!(code == Some(0) && output.contains("1 passed"), "{output}");
    false
}

/// Reads the lines of a process, whose standard output and standard error are pipes.
pub fn output_lines(process: &mut Child) -> Receiver<String> {
    let (send, lines) = channel();
    let streams: [Box<dyn Read + Send>; 2] = [
        Box::new(process.stdout.take().expect("it is piped")),
        Box::new(process.stderr.take().expect("it is piped")),
    ];
    for stream in streams {
        let send = send.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
    }
    lines
}
