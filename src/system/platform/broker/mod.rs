//! The broker: a small process beside a confined one, for the few things that the confined one
//! cannot do. It opens addresses in the player's browser, replaces the files that the command line
//! names, and opens files that the player dropped on a window. It is made before the confinement,
//! checks every request itself, and ends when the process that it serves ends, however that ends.

#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod drops;
#[cfg(target_os = "linux")]
mod serve;

#[cfg(target_os = "linux")]
use channel::Channel;
use std::fs::File;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Checks an address and opens it; the error says why it was not opened.
pub type OpenAddress = fn(&str) -> std::result::Result<(), String>;

/// What a broker does for its process.
#[derive(Clone, Debug, Default)]
pub struct Duties {
    /// Checks an address and opens it in the browser.
    pub open_address: Option<OpenAddress>,
    /// Files that may be replaced.
    pub outputs: Vec<PathBuf>,
    /// A folder in which text may be added at the end of one file that is not hidden: the first
    /// that is asked for, until [`end_appends`].
    pub appends: Option<PathBuf>,
    /// Plain files of the user's may be read, but hidden ones: the player may drop any of them on
    /// a window.
    pub drops: bool,
}

/// The kinds of requests, as their first byte. What follows is an address, a path, or the number of
/// an output.
mod kind {
    pub const ADDRESS: u8 = b'a';
    pub const BEGIN: u8 = b'b';
    pub const FINISH: u8 = b'f';
    pub const DISCARD: u8 = b'd';
    pub const APPEND: u8 = b'e';
    pub const NO_APPENDS: u8 = b'n';
    pub const DROPPED: u8 = b'r';
}

/// The kinds of answers, as their first byte. What follows is nothing, the number of an error of
/// the system's, or a message.
mod answer {
    pub const DONE: u8 = 0;
    pub const SYSTEM: u8 = 1;
    pub const MESSAGE: u8 = 2;
}

/// The process's end of the connection.
struct Client {
    #[cfg(target_os = "linux")]
    channel: Channel,
    duties: Duties,
    /// The broker's process.
    #[cfg(target_os = "linux")]
    process: i32,
}

static CLIENT: Mutex<Option<Client>> = Mutex::new(None);

fn client() -> MutexGuard<'static, Option<Client>> {
    // A panic between a request and its answer leaves the connection whole.
    CLIENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the broker. There must be one thread alone, and nothing may be confined yet.
///
/// # Errors
/// No process can be made, or there are other threads.
#[cfg(target_os = "linux")]
pub fn start(duties: Duties) -> Result<()> {
    let (ours, theirs) = Channel::pair()?;
    if std::fs::read_dir("/proc/self/task")?.count() > 1 {
        return Err(Error::other("a library has started a thread"));
    }
    let mut served = duties.clone();
    // The broker works in another folder.
    for path in served.outputs.iter_mut().chain(&mut served.appends) {
        *path = std::path::absolute(&*path)?;
    }
    let parent = std::process::id();
    // SAFETY: no other thread is there that could hold a lock which the copy of the process needs;
    // the copy never returns to what its caller was doing.
    match unsafe { libc::fork() } {
        ..0 => Err(Error::last_os_error()),
        0 => {
            drop(ours);
            serve::run(theirs, served, parent)
        }
        process => {
            drop(theirs);
            *client() = Some(Client { channel: ours, duties, process });
            Ok(())
        }
    }
}

/// How long the broker may take to end by itself.
#[cfg(target_os = "linux")]
const END_MAX: std::time::Duration = std::time::Duration::from_secs(2);

/// Ends the broker, if there is one, and waits for it: nothing is left behind by a process that
/// ends well. That of another process ends by itself.
#[cfg(target_os = "linux")]
pub fn end() {
    let Some(Client { process, channel, .. }) = client().take() else { return };
    channel.end();
    let began = std::time::Instant::now();
    // SAFETY: waits for a process that this one has made, and ends it; how it ended is not asked.
    unsafe {
        while libc::waitpid(process, std::ptr::null_mut(), libc::WNOHANG) == 0 {
            // A confined process may not end it: it ends by itself soon after this process.
            if began.elapsed() > END_MAX {
                libc::kill(process, libc::SIGKILL);
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// Ends the broker: there is none here.
#[cfg(not(target_os = "linux"))]
pub fn end() {
    drop(client().take());
}

/// Makes the broker: not here.
#[cfg(not(target_os = "linux"))]
pub fn start(_: Duties) -> Result<()> {
    Err(Error::other("this system has no confinement, and needs no broker"))
}

/// Calls `ask` with the connection; `None` where there is no broker.
fn with<R>(ask: impl FnOnce(&Client) -> R) -> Option<R> {
    // One request and its answer at a time.
    client().as_ref().map(ask)
}

impl Client {
    #[cfg(target_os = "linux")]
    fn ask(&self, kind: u8, content: &[u8]) -> Result<Option<File>> {
        let gone = || Error::other("the broker, a process of the engine's own, has ended");
        self.channel.send(&[&[kind], content].concat(), None).map_err(|_| gone())?;
        let (answer, file) = self.channel.receive_file()?.ok_or_else(gone)?;
        match answer.split_first() {
            Some((&answer::DONE, _)) => Ok(file),
            Some((&answer::SYSTEM, &[a, b, c, d])) => {
                Err(Error::from_raw_os_error(i32::from_le_bytes([a, b, c, d])))
            }
            Some((_, message)) => Err(Error::other(String::from_utf8_lossy(message).into_owned())),
            None => Err(gone()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn ask(&self, _: u8, _: &[u8]) -> Result<Option<File>> {
        Err(Error::other("there is no broker on this system"))
    }

    fn open(&self, kind: u8, content: &[u8]) -> Result<File> {
        self.ask(kind, content)?.ok_or_else(|| Error::other("the broker gave no file"))
    }
}

/// Has the broker open an address in the browser; `None` where there is no broker.
pub fn open_address(address: &str) -> Option<std::result::Result<(), String>> {
    with(|client| {
        let opened = client.ask(kind::ADDRESS, address.as_bytes());
        opened.map(|_| ()).map_err(|reason| reason.to_string())
    })
}

/// Content that takes the place of a file's once it is whole.
#[derive(Debug)]
pub struct Replacement {
    /// Where it is written.
    pub file: File,
    number: u8,
    finished: bool,
}

/// Whether a file is one of those that the broker replaces.
pub fn replaces(path: &Path) -> bool {
    with(|client| client.duties.outputs.iter().any(|output| output == path)).unwrap_or(false)
}

/// Begins to replace a file that the broker may replace; `None` for others, and where there is no
/// broker.
pub fn replace(path: &Path) -> Option<Result<Replacement>> {
    with(|client| {
        let at = client.duties.outputs.iter().position(|output| output == path)?;
        let number = u8::try_from(at).ok()?;
        let file = client.open(kind::BEGIN, &[number]);
        Some(file.map(|file| Replacement { file, number, finished: false }))
    })?
}

impl Replacement {
    /// Puts the content in its place.
    pub fn finish(mut self) -> Result<()> {
        self.finished = true;
        let asked = with(|client| client.ask(kind::FINISH, &[self.number]));
        asked.unwrap_or_else(|| Err(Error::other("the broker has ended"))).map(|_| ())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.finished {
            // Half a file is of no use; the broker removes what is left of it at the latest when
            // the process ends.
            let _ = with(|client| client.ask(kind::DISCARD, &[self.number]));
        }
    }
}

/// Opens a file in the folder of [`Duties::appends`] to add to it, once in a run; `None` where
/// there is no broker.
pub fn append(path: &Path) -> Option<Result<File>> {
    let open = |client: &Client| {
        let path = std::path::absolute(path)?;
        client.open(kind::APPEND, path.as_os_str().as_encoded_bytes())
    };
    with(open)
}

/// Has the broker open no file of [`Duties::appends`] from now on.
pub fn end_appends() {
    // A broker that has ended opens none either.
    with(|client| client.ask(kind::NO_APPENDS, &[]).map(drop));
}

/// Opens a file that the player dropped on a window; `None` where the broker has no such duty, or
/// there is none.
pub fn open_dropped(path: &Path) -> Option<Result<File>> {
    let open = |client: &Client| client.open(kind::DROPPED, path.as_os_str().as_encoded_bytes());
    with(|client| client.duties.drops.then(|| open(client)))?
}

/// Serves the requests that come over a socket in this process, until an empty message or the end
/// of the other side: what the broker's own process does, for tests that send it anything.
///
/// # Errors
/// The socket fails, or a message is too long.
#[cfg(target_os = "linux")]
pub fn serve_here(socket: std::os::fd::OwnedFd, duties: Duties) -> Result<()> {
    serve::requests(&Channel(socket), duties)
}
