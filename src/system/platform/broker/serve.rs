//! The broker's own process: its requests, checked, and their answers.

use super::channel::{Channel, MESSAGE_BYTES_MAX};
use super::{Duties, answer, kind};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};

/// The name that the list of processes shows.
const NAME: &std::ffi::CStr = c"engine-broker";

/// Serves until the other end is closed, and ends the process.
pub fn run(channel: Channel, duties: Duties) -> ! {
    let served = catch_unwind(AssertUnwindSafe(|| {
        let channel = stand_alone(channel)?;
        Server { duties, begun: Vec::new() }.serve(&channel)
    }));
    // SAFETY: ends this copy of the process without running what belongs to the other one.
    unsafe { libc::_exit(if matches!(served, Ok(Ok(()))) { 0 } else { 1 }) }
}

extern "C" fn do_nothing(_: libc::c_int) {}

/// Parts with everything of the other process but the connection: its terminal, its files, its
/// folder. Signals that ask the engine to end are for the engine: the broker ends after it.
fn stand_alone(channel: Channel) -> Result<Channel> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    let used = libc::STDERR_FILENO + 1;
    // SAFETY: calls of the system about this process alone. The numbers of files that are closed
    // are those of values that this process never drops, for it never returns.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        // Nobody but the system's owner may look into it.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // Not ignored: a browser would inherit that.
            let handler = do_nothing as extern "C" fn(libc::c_int);
            libc::signal(signal, handler as libc::sighandler_t);
        }
        for number in 0..used {
            if libc::dup2(nothing.as_raw_fd(), number) < 0 {
                return Err(Error::last_os_error());
            }
        }
        if channel.0.as_raw_fd() != used && libc::dup2(channel.0.as_raw_fd(), used) < 0 {
            return Err(Error::last_os_error());
        }
        std::mem::forget((channel, nothing));
        libc::fcntl(used, libc::F_SETFD, libc::FD_CLOEXEC);
        if libc::syscall(libc::SYS_close_range, used + 1, libc::c_uint::MAX, 0) != 0 {
            // A kernel before 5.9.
            for number in used + 1..1024 {
                libc::close(number);
            }
        }
        let channel = Channel(OwnedFd::from_raw_fd(used));
        std::env::set_current_dir("/")?;
        Ok(channel)
    }
}

/// An output that is being replaced.
struct Begun {
    number: u8,
    /// The file beside it that takes its place.
    beside: PathBuf,
}

struct Server {
    duties: Duties,
    begun: Vec<Begun>,
}

fn refused(message: &str) -> Error {
    Error::other(message)
}

impl Server {
    fn serve(&mut self, channel: &Channel) -> Result<()> {
        while let Some((request, _)) = channel.receive()? {
            let (answer, file) = match self.answer(&request) {
                Ok(file) => (vec![answer::DONE], file),
                Err(reason) => (error_bytes(&reason), None),
            };
            channel.send(&answer, file.as_ref().map(File::as_fd))?;
        }
        // The engine is gone: nobody will finish these.
        for begun in self.begun.drain(..) {
            let _ = std::fs::remove_file(begun.beside);
        }
        Ok(())
    }

    fn answer(&mut self, request: &[u8]) -> Result<Option<File>> {
        let (kind, content) = request.split_first().ok_or_else(|| refused("an empty request"))?;
        let path = Path::new(OsStr::from_bytes(content));
        match *kind {
            kind::ADDRESS => self.open_address(content).map(|()| None),
            kind::BEGIN => self.begin(content).map(Some),
            kind::FINISH => self.finish(content).map(|()| None),
            kind::DISCARD => self.discard(content).map(|()| None),
            kind::APPEND => self.append(path).map(Some),
            kind::DROPPED => self.open_dropped(path).map(Some),
            _ => Err(refused("an unknown request")),
        }
    }

    fn open_address(&self, content: &[u8]) -> Result<()> {
        let open = self.duties.open_address.ok_or_else(|| refused("no address is opened"))?;
        let address = std::str::from_utf8(content).map_err(|_| refused("it is not UTF-8"))?;
        open(address).map_err(Error::other)
    }

    fn output(&self, content: &[u8]) -> Result<(u8, &PathBuf)> {
        let output = match content {
            &[number] => self.duties.outputs.get(usize::from(number)).map(|path| (number, path)),
            _ => None,
        };
        output.ok_or_else(|| refused("no such output"))
    }

    /// Opens the file in which an output's new content is written.
    fn begin(&mut self, content: &[u8]) -> Result<File> {
        let (number, path) = self.output(content)?;
        if self.begun.iter().any(|begun| begun.number == number) {
            return Err(refused("it is being written already"));
        }
        let beside = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
        let file = File::options().write(true).create_new(true).open(&beside)?;
        self.begun.push(Begun { number, beside });
        Ok(file)
    }

    fn take(&mut self, number: u8) -> Result<Begun> {
        let at = self.begun.iter().position(|begun| begun.number == number);
        at.map(|at| self.begun.swap_remove(at)).ok_or_else(|| refused("it was not begun"))
    }

    /// Puts an output's new content in its place, so that it outlasts a loss of power.
    fn finish(&mut self, content: &[u8]) -> Result<()> {
        let (number, path) = self.output(content).map(|(number, path)| (number, path.clone()))?;
        let Begun { beside, .. } = self.take(number)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let placed = File::open(&beside)
            .and_then(|file| file.sync_all())
            .and_then(|()| std::fs::rename(&beside, &path))
            .and_then(|()| File::open(folder)?.sync_all());
        if placed.is_err() {
            // It may be in its place already.
            let _ = std::fs::remove_file(&beside);
        }
        placed
    }

    fn discard(&mut self, content: &[u8]) -> Result<()> {
        let (number, _) = self.output(content)?;
        std::fs::remove_file(self.take(number)?.beside)
    }

    /// Opens a file in the folder of appends, which is made where it is missing.
    fn append(&self, path: &Path) -> Result<File> {
        let folder = self.duties.appends.as_ref().ok_or_else(|| refused("nothing is added to"))?;
        let outside = || refused("it is outside of the game's folder, or hidden");
        let inside = path.strip_prefix(folder).map_err(|_| outside())?;
        let plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        if !inside.components().all(plain) || is_hidden(inside) {
            return Err(outside());
        }
        let parent = path.parent().map_or(Ok(PathBuf::from("/")), std::fs::canonicalize)?;
        // The folder itself may be a hidden one.
        let inside = parent.strip_prefix(std::fs::canonicalize(folder)?).map_err(|_| outside())?;
        if is_hidden(inside) {
            return Err(outside());
        }
        let mut options = File::options();
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        options.create(true).append(true).custom_flags(flags);
        let file = options.open(parent.join(path.file_name().ok_or_else(outside)?))?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(refused("it is no plain file")),
        }
    }

    /// Opens a file that the player may have dropped on a window.
    fn open_dropped(&self, path: &Path) -> Result<File> {
        if !self.duties.drops || !path.is_absolute() {
            return Err(refused("no such file is opened"));
        }
        // Opening a pipe waits for whoever writes to it, and a terminal would become the one of
        // this process, which has none.
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        // Where it is without links, for links may lead anywhere.
        let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        if !file.metadata()?.is_file() || is_hidden(&real) || real.starts_with("/proc") {
            return Err(refused(
                "a confined game reads dropped files that are plain and not hidden, in folders \
                 that are not hidden",
            ));
        }
        Ok(file)
    }
}

/// Whether a path has a part that begins with a dot, as what holds keys and configuration does.
fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| match part {
        Component::Normal(name) => name.as_bytes().starts_with(b"."),
        _ => false,
    })
}

/// Answers requests until the other end is closed.
pub fn requests(channel: &Channel, duties: Duties) -> Result<()> {
    Server { duties, begun: Vec::new() }.serve(channel)
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
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;

    fn server(name: &str) -> (PathBuf, Server) {
        let folder =
            std::env::temp_dir().join(format!("engine-{}-broker-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("game/spec")).unwrap();
        let duties = Duties {
            outputs: vec![folder.join("a.png"), folder.join("nowhere/b.png")],
            appends: Some(folder.join("game")),
            drops: true,
            ..Duties::default()
        };
        (folder, Server { duties, begun: Vec::new() })
    }

    impl Server {
        fn ask(&mut self, kind: u8, content: &[u8]) -> Result<Option<File>> {
            self.answer(&[&[kind], content].concat())
        }

        fn ask_of(&mut self, kind: u8, path: &Path) -> std::result::Result<File, String> {
            let file = self.ask(kind, path.as_os_str().as_bytes());
            file.map_err(|reason| reason.to_string()).map(|file| file.expect("a file comes"))
        }
    }

    #[test]
    fn the_outputs_of_the_command_line_are_replaced_whole_and_nothing_else() {
        let (folder, mut server) = server("outputs");
        let write = |server: &mut Server, text: &[u8]| {
            server.ask(kind::BEGIN, &[0]).unwrap().unwrap().write_all(text).unwrap();
        };
        let count = || std::fs::read_dir(&folder).unwrap().count();
        write(&mut server, b"one");
        server.ask(kind::FINISH, &[0]).unwrap();
        write(&mut server, b"two");
        // Not before it is whole.
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
        let lost = server.ask(kind::BEGIN, &[1]).unwrap_err();
        assert_eq!(
            error_bytes(&lost),
            [&[answer::SYSTEM], &libc::ENOENT.to_le_bytes()[..]].concat()
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn text_is_added_to_plain_files_of_the_games_folder_alone() {
        let (folder, mut server) = server("appends");
        let game = folder.join("game");
        std::fs::create_dir(game.join(".git")).unwrap();
        symlink(&folder, game.join("out")).unwrap();
        symlink(".git", game.join("git")).unwrap();
        symlink(folder.join("a.png"), game.join("link.txt")).unwrap();
        for name in ["passed.txt", "./spec/passed.txt"] {
            for _ in 0..2 {
                server.ask_of(kind::APPEND, &game.join(name)).unwrap().write_all(b"x").unwrap();
            }
            assert_eq!(std::fs::read(game.join(name)).unwrap(), b"xx");
        }
        let outside = "it is outside of the game's folder, or hidden";
        for (name, message) in [
            ("../a.txt", outside),
            ("spec/../../a.txt", outside),
            ("/etc/a.txt", outside),
            (".git/hooks", outside),
            (".bashrc", outside),
            ("out/a.txt", outside),
            ("git/config", outside),
            ("link.txt", "Too many levels of symbolic links (os error 40)"),
            ("spec", "Is a directory (os error 21)"),
            ("no/such.txt", "No such file or directory (os error 2)"),
        ] {
            assert_eq!(
                server.ask_of(kind::APPEND, &game.join(name)).unwrap_err(),
                message,
                "{name}"
            );
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_dropped_file_is_read_where_it_is_plain_and_not_hidden() {
        let (folder, mut server) = server("drops");
        std::fs::create_dir(folder.join(".ssh")).unwrap();
        for name in ["picture.png", ".ssh/key", ".env"] {
            std::fs::write(folder.join(name), name).unwrap();
        }
        symlink(folder.join(".ssh/key"), folder.join("link.png")).unwrap();
        let mut text = String::new();
        let mut file = server.ask_of(kind::DROPPED, &folder.join("picture.png")).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "picture.png");
        assert!(file.write_all(b"x").is_err());
        for name in [".ssh/key", ".env", "link.png", "game", "/dev/zero", "/proc/self/environ"] {
            let message = server.ask_of(kind::DROPPED, &folder.join(name)).unwrap_err();
            assert!(message.starts_with("a confined game reads dropped files that"), "{message}");
        }
        assert!(server.ask_of(kind::DROPPED, Path::new("picture.png")).is_err());
        server.duties.drops = false;
        assert!(server.ask_of(kind::DROPPED, &folder.join("picture.png")).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
