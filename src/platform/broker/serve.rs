//! The broker process itself: it checks requests and answers them.

use super::channel::{BrokerChannel, MESSAGE_BYTES_MAX};
use super::dropped_files::{DroppedFileLimiter, is_hidden};
use super::{BrokerDuties, SOURCE_ENDINGS, answer, kind};
use crate::message_window;
use engine_foundation::atomic_file::Replacement;
use engine_foundation::output_file;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};

/// Process name for the list of processes.
const NAME: &std::ffi::CStr = c"engine-broker";
/// File descriptor of the connection in the broker.
const CONNECTION: libc::c_int = libc::STDERR_FILENO + 1;
/// Maximum time in seconds that the broker may take to end after its process has ended.
const END_SECONDS: libc::c_uint = 5;

/// Serves requests until the other end is closed or `parent` has ended. Then ends this process.
pub fn run(channel: BrokerChannel, duties: BrokerDuties, parent: u32) -> ! {
    let served = catch_unwind(AssertUnwindSafe(|| {
        let channel = detach(channel, parent)?;
        BrokerServer::new(duties, DroppedFileLimiter::of_user()).serve(&channel)
    }));
    // SAFETY: the call ends the child process without running cleanup code that belongs to the
    // parent.
    unsafe { libc::_exit(if matches!(served, Ok(Ok(()))) { 0 } else { 1 }) }
}

extern "C" fn do_nothing(_: libc::c_int) {}

/// Ends the connection, so that the broker removes partial files and ends. Another copy of the
/// process may keep the other end open.
extern "C" fn end_connection(_: libc::c_int) {
    // SAFETY: both calls are allowed in a signal handler. The second one ends the process later.
    unsafe {
        libc::shutdown(CONNECTION, libc::SHUT_RDWR);
        libc::alarm(END_SECONDS);
    }
}

/// Detaches from everything of the other process except the connection: its terminal, files and
/// working directory. Signals that ask the engine to end are meant for the engine: the broker ends
/// after it.
fn detach(channel: BrokerChannel, parent: u32) -> Result<BrokerChannel> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: the system calls affect only this process. The closed descriptors belong to values
    // that this process never drops, because it never returns.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        // Only the superuser may inspect this process.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // The signals are not ignored, because a browser would inherit that.
            let handler = do_nothing as extern "C" fn(libc::c_int);
            libc::signal(signal, handler as libc::sighandler_t);
        }
        let handler = end_connection as extern "C" fn(libc::c_int);
        libc::signal(libc::SIGUSR1, handler as libc::sighandler_t);
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        for number in 0..CONNECTION {
            if libc::dup2(nothing.as_raw_fd(), number) < 0 {
                return Err(Error::last_os_error());
            }
        }
        let inherited = channel.0.as_raw_fd();
        if inherited != CONNECTION && libc::dup2(inherited, CONNECTION) < 0 {
            return Err(Error::last_os_error());
        }
        std::mem::forget((channel, nothing));
        libc::fcntl(CONNECTION, libc::F_SETFD, libc::FD_CLOEXEC);
        if libc::syscall(libc::SYS_close_range, CONNECTION + 1, libc::c_uint::MAX, 0) != 0 {
            // This is the fallback for kernels before 5.9.
            for number in CONNECTION + 1..1024 {
                libc::close(number);
            }
        }
        let channel = BrokerChannel(OwnedFd::from_raw_fd(CONNECTION));
        std::env::set_current_dir("/")?;
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGUSR1);
        // The parent may have ended before that call.
        if libc::getppid() != parent as libc::pid_t {
            return Err(Error::other("the process that was served has ended"));
        }
        Ok(channel)
    }
}

/// An output that is being replaced.
struct PendingOutput {
    number: u8,
    /// The temporary file that replaces the output. It is removed with the server, too: if the
    /// other process ends, or if an answer is lost, the output is never finished.
    replacement: Replacement,
}

/// The broker's side of a connection.
struct BrokerServer {
    duties: BrokerDuties,
    pending: Vec<PendingOutput>,
    /// The source that is being replaced.
    source: Option<(PathBuf, Replacement)>,
    drops: DroppedFileLimiter,
}

fn request_error(message: &str) -> Error {
    Error::other(message)
}

impl BrokerServer {
    fn new(duties: BrokerDuties, drops: DroppedFileLimiter) -> BrokerServer {
        BrokerServer { duties, pending: Vec::new(), source: None, drops }
    }

    fn serve(&mut self, channel: &BrokerChannel) -> Result<()> {
        while let Some(request) = channel.receive()? {
            let (answer, file) = match self.answer(&request) {
                Ok(file) => (vec![answer::DONE], file),
                Err(reason) => (error_bytes(&reason), None),
            };
            channel.send(&answer, file.as_ref().map(File::as_fd))?;
        }
        Ok(())
    }

    fn answer(&mut self, request: &[u8]) -> Result<Option<File>> {
        let (kind, content) =
            request.split_first().ok_or_else(|| request_error("an empty request"))?;
        let path = Path::new(OsStr::from_bytes(content));
        match *kind {
            kind::ADDRESS => self.open_address(content).map(|()| None),
            kind::BEGIN => self.begin(content).map(Some),
            kind::FINISH => self.finish(content).map(|()| None),
            kind::DISCARD => self.discard(content).map(|()| None),
            kind::APPEND => self.append(path).map(Some),
            kind::NO_APPENDS => {
                self.duties.appends = None;
                Ok(None)
            }
            kind::SOURCE => self.begin_source(path).map(Some),
            kind::SOURCE_DONE => self.finish_source().map(|()| None),
            kind::MESSAGE => self.show_message(content).map(|()| None),
            kind::DROPPED if self.duties.drops => self.drops.open(path).map(Some),
            kind::DROPPED => Err(request_error("no dropped file is opened")),
            _ => Err(request_error("an unknown request")),
        }
    }

    fn open_address(&self, content: &[u8]) -> Result<()> {
        let open = self.duties.open_address.ok_or_else(|| request_error("no address is opened"))?;
        let address = std::str::from_utf8(content).map_err(|_| request_error("it is not UTF-8"))?;
        open(address).map_err(Error::other)
    }

    /// Shows a message. Only the first one of a run: a game must not fill the desktop with windows.
    fn show_message(&mut self, content: &[u8]) -> Result<()> {
        if !std::mem::take(&mut self.duties.message) {
            return Err(request_error("no message is shown"));
        }
        let message = std::str::from_utf8(content).map_err(|_| request_error("it is not UTF-8"))?;
        message_window::show_now(message);
        Ok(())
    }

    fn output(&self, content: &[u8]) -> Result<(u8, &PathBuf)> {
        let output = match content {
            &[number] => self.duties.outputs.get(usize::from(number)).map(|path| (number, path)),
            _ => None,
        };
        output.ok_or_else(|| request_error("no such output"))
    }

    /// Opens the temporary file for an output's new content.
    fn begin(&mut self, content: &[u8]) -> Result<File> {
        let (number, path) = self.output(content)?;
        if self.pending.iter().any(|pending| pending.number == number) {
            return Err(request_error("it is being written already"));
        }
        output_file::check(path)?;
        let replacement = Replacement::begin(path)?;
        let file = replacement.file.share()?;
        self.pending.push(PendingOutput { number, replacement });
        Ok(file)
    }

    fn take(&mut self, number: u8) -> Result<Replacement> {
        let at = self.pending.iter().position(|pending| pending.number == number);
        let pending = at.map(|at| self.pending.swap_remove(at));
        pending.map(|pending| pending.replacement).ok_or_else(|| request_error("it was not begun"))
    }

    /// Replaces an output by its new content, so that the content survives a power failure.
    fn finish(&mut self, content: &[u8]) -> Result<()> {
        let (number, path) = self.output(content).map(|(number, path)| (number, path.clone()))?;
        let replacement = self.take(number)?;
        output_file::check(&path)?;
        replacement.finish(&path)
    }

    fn discard(&mut self, content: &[u8]) -> Result<()> {
        let (number, _) = self.output(content)?;
        self.take(number).map(drop)
    }

    /// Opens the temporary file for a source's new content.
    fn begin_source(&mut self, path: &Path) -> Result<File> {
        let folder = self.duties.sources.as_ref();
        let folder = folder.ok_or_else(|| request_error("no source is replaced"))?;
        let refused = || request_error("it is no source of the game");
        let relative = path.strip_prefix(folder).map_err(|_| refused())?;
        let is_plain = |part: Component| matches!(part, Component::Normal(_));
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_source = SOURCE_ENDINGS.contains(&ending);
        if !is_source || !relative.components().all(is_plain) || is_hidden(relative) {
            return Err(refused());
        }
        let parent = std::fs::canonicalize(path.parent().ok_or_else(refused)?)?;
        // The folder itself may be hidden.
        let relative =
            parent.strip_prefix(std::fs::canonicalize(folder)?).map_err(|_| refused())?;
        if is_hidden(relative) {
            return Err(refused());
        }
        let path = parent.join(path.file_name().ok_or_else(refused)?);
        output_file::check(&path)?;
        let replacement = Replacement::begin(&path)?;
        let file = replacement.file.share()?;
        self.source = Some((path, replacement));
        Ok(file)
    }

    fn finish_source(&mut self) -> Result<()> {
        let (path, replacement) =
            self.source.take().ok_or_else(|| request_error("no source was begun"))?;
        output_file::check(&path)?;
        replacement.finish(&path)
    }

    /// Opens a file in the folder for appending, and creates it if it is missing. Allowed once in a
    /// run.
    fn append(&mut self, path: &Path) -> Result<File> {
        let folder =
            &self.duties.appends.take().ok_or_else(|| request_error("nothing is added to"))?;
        let outside_error = || request_error("it is outside of the game's folder, or hidden");
        let relative = path.strip_prefix(folder).map_err(|_| outside_error())?;
        let is_plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        if !relative.components().all(is_plain) || is_hidden(relative) {
            return Err(outside_error());
        }
        let parent = path.parent().map_or(Ok(PathBuf::from("/")), std::fs::canonicalize)?;
        // The folder itself may be hidden.
        let relative =
            parent.strip_prefix(std::fs::canonicalize(folder)?).map_err(|_| outside_error())?;
        if is_hidden(relative) {
            return Err(outside_error());
        }
        let mut options = File::options();
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        options.create(true).append(true).custom_flags(flags);
        let file = options.open(parent.join(path.file_name().ok_or_else(outside_error)?))?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(request_error("it is no plain file")),
        }
    }
}

/// Answers requests until the other end is closed, as the broker process does, but refuses every
/// dropped file after all other checks.
pub fn serve_requests(channel: &BrokerChannel, duties: BrokerDuties) -> Result<()> {
    BrokerServer::new(duties, DroppedFileLimiter::without_log()).serve(channel)
}

fn error_bytes(reason: &Error) -> Vec<u8> {
    match reason.raw_os_error() {
        Some(code) => [&[answer::SYSTEM], &code.to_le_bytes()[..]].concat(),
        None => {
            let mut message = reason.to_string();
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX - 1));
            [&[answer::MESSAGE], message.as_bytes()].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(debug_assertions)]
    use engine_foundation::atomic_file::disk_simulation::SimulationGuard;
    use std::io::{ErrorKind, Write};
    use std::os::unix::fs::symlink;

    fn server(name: &str) -> (PathBuf, BrokerServer) {
        let folder =
            std::env::temp_dir().join(format!("engine-{}-broker-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("game/spec")).unwrap();
        let duties = BrokerDuties {
            outputs: vec![folder.join("a.png"), folder.join("nowhere/b.png")],
            appends: Some(folder.join("game")),
            drops: true,
            ..BrokerDuties::default()
        };
        let drops = DroppedFileLimiter::new(Some(folder.join("dropped.log")));
        (folder, BrokerServer::new(duties, drops))
    }

    impl BrokerServer {
        fn ask(&mut self, kind: u8, content: &[u8]) -> Result<Option<File>> {
            self.answer(&[&[kind], content].concat())
        }

        /// Requests a file for appending, as if no earlier request existed.
        fn append_to(&mut self, path: &Path) -> std::result::Result<File, String> {
            let folder = self.duties.outputs[0].parent().unwrap();
            self.duties.appends = Some(folder.join("game"));
            let file = self.ask(kind::APPEND, path.as_os_str().as_bytes());
            file.map_err(|reason| reason.to_string()).map(|file| file.expect("a file comes"))
        }
    }

    #[test]
    fn only_one_message_is_shown_in_a_run() {
        let (folder, mut server) = server("message");
        let refused = |server: &mut BrokerServer, message: &[u8]| {
            server.ask(kind::MESSAGE, message).unwrap_err().to_string()
        };
        assert_eq!(refused(&mut server, b"a"), "no message is shown");
        server.duties.message = true;
        // Nothing is shown of what is no text, and it counts.
        assert_eq!(refused(&mut server, b"\xff"), "it is not UTF-8");
        assert_eq!(refused(&mut server, b"a"), "no message is shown");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_outputs_of_the_command_line_are_replaced() {
        let (folder, mut server) = server("outputs");
        let write = |server: &mut BrokerServer, text: &[u8]| {
            server.ask(kind::BEGIN, &[0]).unwrap().unwrap().write_all(text).unwrap();
        };
        let count = || std::fs::read_dir(&folder).unwrap().count();
        write(&mut server, b"one");
        server.ask(kind::FINISH, &[0]).unwrap();
        write(&mut server, b"two");
        // The output is not replaced before the new content is complete.
        assert_eq!((std::fs::read(folder.join("a.png")).unwrap(), count()), (b"one".to_vec(), 3));
        assert!(server.ask(kind::BEGIN, &[0]).is_err());
        server.ask(kind::DISCARD, &[0]).unwrap();
        assert_eq!((std::fs::read(folder.join("a.png")).unwrap(), count()), (b"one".to_vec(), 2));
        for (kind, content) in [
            (kind::FINISH, &[0][..]),
            (kind::BEGIN, &[2]),
            (kind::BEGIN, &[]),
            (kind::BEGIN, &[0, 0]),
            (kind::ADDRESS, b"https://example.org"),
            (b'x', b"/etc/passwd"),
        ] {
            assert!(server.ask(kind, content).is_err(), "{kind} {content:?}");
        }
        assert!(server.answer(b"").is_err());
        let lost = server.ask(kind::BEGIN, &[1]).unwrap_err().to_string();
        assert!(lost.starts_with("there is no folder '"), "{lost}");
        assert_eq!(
            error_bytes(&Error::from_raw_os_error(libc::ENOENT)),
            [&[answer::SYSTEM], &libc::ENOENT.to_le_bytes()[..]].concat()
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_output_replaces_only_plain_files_and_cleans_up() {
        let (folder, mut server) = server("plain");
        let output = folder.join("a.png");
        symlink(folder.join("b.png"), &output).unwrap();
        let wanted = "it is a link, and only plain files are written: give another path";
        assert_eq!(server.ask(kind::BEGIN, &[0]).unwrap_err().to_string(), wanted);
        // A link that appears in the meantime is not replaced, either.
        std::fs::remove_file(&output).unwrap();
        server.ask(kind::BEGIN, &[0]).unwrap().unwrap().write_all(b"x").unwrap();
        symlink(folder.join("b.png"), &output).unwrap();
        assert_eq!(server.ask(kind::FINISH, &[0]).unwrap_err().to_string(), wanted);
        let names = || {
            let found = std::fs::read_dir(&folder).unwrap();
            let mut names: Vec<_> = found.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(), ["a.png", "game"]);
        std::fs::remove_file(&output).unwrap();
        // The answer is lost because the other end is closed.
        let (ours, theirs) = BrokerChannel::pair().unwrap();
        ours.send(&[kind::BEGIN, 0], None).unwrap();
        drop(ours);
        assert!(server.serve(&theirs).is_err());
        assert_eq!(names().len(), 2, "{:?}", names());
        drop(server);
        assert_eq!(names(), ["game"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failed_operation_leaves_the_old_or_the_new_output() {
        let (folder, mut server) = server("faults");
        let output = folder.join("a.png");
        for nth in 0.. {
            std::fs::write(&output, b"old").unwrap();
            let disk = SimulationGuard::below(&folder);
            disk.fail(nth, ErrorKind::StorageFull);
            let written = server.ask(kind::BEGIN, &[0]).and_then(|file| {
                file.expect("a file comes").write_all(b"new")?;
                server.ask(kind::FINISH, &[0])
            });
            let reached = disk.repair();
            drop(disk);
            let found = std::fs::read(&output).unwrap();
            match &written {
                Ok(_) => assert_eq!(found, b"new"),
                // The content is new if only the flush of the folder failed.
                Err(_) => assert!(found == b"old" || found == b"new", "operation {nth}"),
            }
            assert_eq!(written.is_err(), reached, "operation {nth}");
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "operation {nth}");
            if !reached {
                // The four operations create, flush and rename the file, and flush the folder.
                assert_eq!(nth, 4);
                break;
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn text_is_appended_only_to_plain_files_of_the_game() {
        let (folder, mut server) = server("appends");
        let game = folder.join("game");
        std::fs::create_dir(game.join(".git")).unwrap();
        symlink(&folder, game.join("out")).unwrap();
        symlink(".git", game.join("git")).unwrap();
        symlink(folder.join("a.png"), game.join("link.txt")).unwrap();
        for name in ["passed.txt", "./spec/passed.txt"] {
            for _ in 0..2 {
                server.append_to(&game.join(name)).unwrap().write_all(b"x").unwrap();
            }
            assert_eq!(std::fs::read(game.join(name)).unwrap(), b"xx");
        }
        let outside_error = "it is outside of the game's folder, or hidden";
        for (name, message) in [
            ("../a.txt", outside_error),
            ("spec/../../a.txt", outside_error),
            ("/etc/a.txt", outside_error),
            (".git/hooks", outside_error),
            (".bashrc", outside_error),
            ("out/a.txt", outside_error),
            ("git/config", outside_error),
            ("link.txt", "Too many levels of symbolic links (os error 40)"),
            ("spec", "Is a directory (os error 21)"),
            ("no/such.txt", "No such file or directory (os error 2)"),
        ] {
            assert_eq!(server.append_to(&game.join(name)).unwrap_err(), message, "{name}");
        }
        // One file may be opened in a run, and none after the tests begin.
        let path = game.join("passed.txt");
        assert!(server.append_to(&path).is_ok());
        let mut again = || server.ask(kind::APPEND, path.as_os_str().as_bytes()).unwrap_err();
        assert_eq!(again().to_string(), "nothing is added to");
        server.duties.appends = Some(game.clone());
        server.ask(kind::NO_APPENDS, &[]).unwrap();
        let mut again = || server.ask(kind::APPEND, path.as_os_str().as_bytes()).unwrap_err();
        assert_eq!(again().to_string(), "nothing is added to");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_sources_of_the_game_are_replaced() {
        let (folder, mut server) = server("sources");
        let game = folder.join("game");
        std::fs::create_dir(game.join(".git")).unwrap();
        symlink(&folder, game.join("out")).unwrap();
        symlink(".git", game.join("git")).unwrap();
        symlink(folder.join("a.level"), game.join("link.level")).unwrap();
        let ask = |server: &mut BrokerServer, path: &str| {
            let file = server.ask(kind::SOURCE, game.join(path).as_os_str().as_bytes());
            file.map(|file| file.expect("a file comes")).map_err(|reason| reason.to_string())
        };
        assert_eq!(ask(&mut server, "a.level").unwrap_err(), "no source is replaced");
        server.duties.sources = Some(game.clone());
        ask(&mut server, "spec/a.level").unwrap().write_all(b"x").unwrap();
        server.ask(kind::SOURCE_DONE, &[]).unwrap();
        assert_eq!(std::fs::read(game.join("spec/a.level")).unwrap(), b"x");
        assert!(server.ask(kind::SOURCE_DONE, &[]).is_err());
        let refused = "it is no source of the game";
        for (path, message) in [
            ("main.lua", refused),
            ("../a.level", refused),
            ("spec/../../a.level", refused),
            ("/etc/a.level", refused),
            (".git/a.level", refused),
            ("git/a.level", refused),
            ("out/a.level", refused),
            ("link.level", "it is a link, and only plain files are written: give another path"),
        ] {
            assert_eq!(ask(&mut server, path).unwrap_err(), message, "{path}");
        }
        assert!(!folder.join("a.level").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn dropped_files_are_opened_only_with_that_duty() {
        let (folder, mut server) = server("drops");
        let path = folder.join("picture.png");
        std::fs::write(&path, "x").unwrap();
        assert!(server.ask(kind::DROPPED, path.as_os_str().as_bytes()).unwrap().is_some());
        server.duties.drops = false;
        assert!(server.ask(kind::DROPPED, path.as_os_str().as_bytes()).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
