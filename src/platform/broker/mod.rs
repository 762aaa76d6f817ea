//! The broker process: a small process next to a confined one, for the few operations that the
//! confined process cannot do. The broker opens addresses in the player's browser, replaces the
//! files that the command line names, and opens files that the player dropped on a window. It is
//! started before the confinement and checks every request itself. It ends when the process that it
//! serves ends, for any reason.

#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod dropped_files;
#[cfg(target_os = "linux")]
mod serve;

#[cfg(target_os = "linux")]
use channel::BrokerChannel;
use engine_foundation::output_file;
use std::fs::File;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A function that checks an address and opens it. The error is the reason why it was not opened.
pub type OpenAddress = fn(&str) -> std::result::Result<(), String>;

/// The operations that a broker performs for its process.
#[derive(Clone, Debug, Default)]
pub struct BrokerDuties {
    /// Checks an address and opens it in the browser.
    pub open_address: Option<OpenAddress>,
    /// Files that the process may replace.
    pub outputs: Vec<PathBuf>,
    /// A folder in which the process may append to one file that is not hidden: the first one that
    /// it requests, until [`end_appends`].
    pub appends: Option<PathBuf>,
    /// A folder in which the process may replace sources that tools edit: files that are not hidden
    /// and have one of the endings in [`SOURCE_ENDINGS`]. Scripts and settings are not among them.
    pub sources: Option<PathBuf>,
    /// True if the process may read the user's regular files, except hidden ones. The player may
    /// drop any of them on a window.
    pub drops: bool,
    /// True if the process may show one message to the player, in a window of its own.
    pub message: bool,
}

/// Endings of the sources that tools edit.
pub const SOURCE_ENDINGS: [&str; 23] = [
    "animation",
    "config",
    "flow",
    "font",
    "json",
    "level",
    "material",
    "mixer",
    "model",
    "navigation",
    "package",
    "particles",
    "physics_properties",
    "render_config",
    "shading_environment",
    "sheet",
    "skeleton",
    "sound",
    "state_machine",
    "strings",
    "texture",
    "tilemap",
    "unit",
];

/// Maximum length of a message to the player in a request, in bytes.
const MESSAGE_REQUEST_BYTES_MAX: usize = 3000;

/// The kinds of requests, as the first byte. It is followed by an address, a path, or the number of
/// an output.
mod kind {
    pub const ADDRESS: u8 = b'a';
    pub const BEGIN: u8 = b'b';
    pub const FINISH: u8 = b'f';
    pub const DISCARD: u8 = b'd';
    pub const APPEND: u8 = b'e';
    pub const NO_APPENDS: u8 = b'n';
    pub const MESSAGE: u8 = b'm';
    pub const DROPPED: u8 = b'r';
    pub const SOURCE: u8 = b's';
    pub const SOURCE_DONE: u8 = b't';
}

/// The kinds of answers, as the first byte. It is followed by nothing, a system error number, or a
/// message.
#[cfg(target_os = "linux")]
mod answer {
    pub const DONE: u8 = 0;
    pub const SYSTEM: u8 = 1;
    pub const MESSAGE: u8 = 2;
}

/// The confined process's end of the connection.
struct BrokerClient {
    #[cfg(target_os = "linux")]
    channel: BrokerChannel,
    duties: BrokerDuties,
    /// Process id of the broker.
    #[cfg(target_os = "linux")]
    process: i32,
}

static CLIENT: Mutex<Option<BrokerClient>> = Mutex::new(None);

fn client() -> MutexGuard<'static, Option<BrokerClient>> {
    // A panic between a request and its answer leaves the connection consistent.
    CLIENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the broker. The process must have a single thread and must not be confined yet.
///
/// # Errors
/// Returns an error if no process can be created, or if other threads exist.
#[cfg(target_os = "linux")]
pub fn start(duties: BrokerDuties) -> Result<()> {
    let (ours, theirs) = BrokerChannel::pair()?;
    if std::fs::read_dir("/proc/self/task")?.count() > 1 {
        return Err(Error::other("another thread of the process runs already"));
    }
    let mut served = duties.clone();
    // The broker has a different working directory.
    for path in served.outputs.iter_mut().chain(&mut served.appends) {
        *path = std::path::absolute(&*path)?;
    }
    let parent = std::process::id();
    // SAFETY: no other thread exists that could hold a lock that the child process needs. The child
    // never returns to the caller's code.
    match unsafe { libc::fork() } {
        ..0 => Err(Error::last_os_error()),
        0 => {
            drop(ours);
            serve::run(theirs, served, parent)
        }
        process => {
            drop(theirs);
            *client() = Some(BrokerClient { channel: ours, duties, process });
            Ok(())
        }
    }
}

/// Maximum time that the broker may take to end by itself.
#[cfg(target_os = "linux")]
const END_WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(2);

/// Ends the broker, if it exists, and waits for it, so that a process that ends normally leaves
/// nothing behind. The broker of another process ends by itself.
#[cfg(target_os = "linux")]
pub fn end() {
    let Some(BrokerClient { process, channel, .. }) = client().take() else { return };
    channel.end();
    let began = std::time::Instant::now();
    // SAFETY: the calls wait for a child of this process and end it. Its exit status is not needed.
    unsafe {
        while libc::waitpid(process, std::ptr::null_mut(), libc::WNOHANG) == 0 {
            // A confined process may not be allowed to kill the broker. The broker then ends by
            // itself soon after this process.
            if began.elapsed() > END_WAIT_MAX {
                libc::kill(process, libc::SIGKILL);
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// Does nothing: this platform has no broker.
#[cfg(not(target_os = "linux"))]
pub fn end() {
    drop(client().take());
}

/// Does not start a broker: this platform has none.
#[cfg(not(target_os = "linux"))]
pub fn start(_: BrokerDuties) -> Result<()> {
    Err(Error::other("this system has no confinement, and needs no broker"))
}

/// Calls `request` with the connection. Returns `None` without a broker.
fn with_client<R>(request: impl FnOnce(&BrokerClient) -> R) -> Option<R> {
    // The lock allows one request with its answer at a time.
    client().as_ref().map(request)
}

impl BrokerClient {
    #[cfg(target_os = "linux")]
    fn request(&self, kind: u8, content: &[u8]) -> Result<Option<File>> {
        let ended = || Error::other("the broker, a process of the engine's own, has ended");
        self.channel.send(&[&[kind], content].concat(), None).map_err(|_| ended())?;
        let (answer, file) = self.channel.receive_file()?.ok_or_else(ended)?;
        match answer.split_first() {
            Some((&answer::DONE, _)) => Ok(file),
            Some((&answer::SYSTEM, &[a, b, c, d])) => {
                Err(Error::from_raw_os_error(i32::from_le_bytes([a, b, c, d])))
            }
            Some((_, message)) => Err(Error::other(String::from_utf8_lossy(message).into_owned())),
            None => Err(ended()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn request(&self, _: u8, _: &[u8]) -> Result<Option<File>> {
        Err(Error::other("there is no broker on this system"))
    }

    fn open(&self, kind: u8, content: &[u8]) -> Result<File> {
        self.request(kind, content)?.ok_or_else(|| Error::other("the broker gave no file"))
    }
}

/// Opens an address in the browser through the broker. Returns `None` without a broker.
pub fn open_address(address: &str) -> Option<std::result::Result<(), String>> {
    with_client(|client| {
        let opened = client.request(kind::ADDRESS, address.as_bytes());
        opened.map(|_| ()).map_err(|reason| reason.to_string())
    })
}

/// New content that replaces a file's content when it is complete.
#[derive(Debug)]
pub struct FileReplacement {
    /// The file to which the new content is written.
    pub file: File,
    number: u8,
    finished: bool,
}

/// Returns true if a file is one of those that the broker may replace.
pub fn replaces(path: &Path) -> bool {
    with_client(|client| client.duties.outputs.iter().any(|output| output == path)).unwrap_or(false)
}

/// Starts to replace a file that the broker may replace. Returns `None` for other files, and
/// without a broker.
pub fn replace(path: &Path) -> Option<Result<FileReplacement>> {
    with_client(|client| {
        let at = client.duties.outputs.iter().position(|output| output == path)?;
        let number = u8::try_from(at).ok()?;
        let file = client.open(kind::BEGIN, &[number]);
        Some(file.map(|file| FileReplacement { file, number, finished: false }))
    })?
}

impl FileReplacement {
    /// Replaces the file by the new content.
    pub fn finish(mut self) -> Result<()> {
        self.finished = true;
        let result = with_client(|client| client.request(kind::FINISH, &[self.number]));
        result.unwrap_or_else(|| Err(Error::other("the broker has ended"))).map(|_| ())
    }
}

impl Drop for FileReplacement {
    fn drop(&mut self) {
        if !self.finished {
            // A partial file is useless. If this request fails, the broker removes the file when
            // the process ends.
            let _ = with_client(|client| client.request(kind::DISCARD, &[self.number]));
        }
    }
}

/// Opens a file in the folder of [`BrokerDuties::appends`] for appending, once in a run. Returns
/// `None` without a broker.
pub fn append(path: &Path) -> Option<Result<File>> {
    let open = |client: &BrokerClient| {
        let path = std::path::absolute(path)?;
        client.open(kind::APPEND, path.as_os_str().as_encoded_bytes())
    };
    with_client(open)
}

/// Replaces a source of [`BrokerDuties::sources`] by its path below the game's folder. Without a
/// broker, the process writes the file itself.
///
/// # Errors
/// Returns an error if a link is on the path, or if the file cannot be written.
pub fn replace_source(folder: &Path, path: &str, bytes: &[u8]) -> Result<()> {
    let full = folder.join(path);
    output_file::check_no_links(folder, Path::new(path))?;
    output_file::check(&full)?;
    let replaced = with_client(|client| {
        let full = std::path::absolute(&full)?;
        let mut file = client.open(kind::SOURCE, full.as_os_str().as_encoded_bytes())?;
        std::io::Write::write_all(&mut file, bytes)?;
        client.request(kind::SOURCE_DONE, &[]).map(|_| ())
    });
    replaced.unwrap_or_else(|| engine_foundation::atomic_file::write_durably(&full, bytes))
}

/// Makes the broker refuse all files of [`BrokerDuties::appends`] from now on.
pub fn end_appends() {
    // A broker that has ended also opens none.
    with_client(|client| client.request(kind::NO_APPENDS, &[]).map(drop));
}

/// Opens a file that the player dropped on a window. Returns `None` if the broker has no such duty,
/// or without a broker.
pub fn open_dropped(path: &Path) -> Option<Result<File>> {
    let open =
        |client: &BrokerClient| client.open(kind::DROPPED, path.as_os_str().as_encoded_bytes());
    with_client(|client| client.duties.drops.then(|| open(client)))?
}

/// Shows a message to the player through the broker. Returns `None` if the broker has no such duty,
/// or without a broker.
pub fn show_message(message: &str) -> Option<()> {
    let end = message.floor_char_boundary(MESSAGE_REQUEST_BYTES_MAX);
    let message = &message.as_bytes()[..end];
    with_client(|client| {
        // A message that cannot be shown has no other reader.
        client.duties.message.then(|| drop(client.request(kind::MESSAGE, message)))
    })?
}

/// Serves the requests of a socket in this process until an empty message, or until the other end
/// is closed. The broker process does the same. For tests that send arbitrary requests.
///
/// # Errors
/// Returns an error if the socket fails, or if a message is too long.
#[cfg(target_os = "linux")]
pub fn serve_here(socket: std::os::fd::OwnedFd, duties: BrokerDuties) -> Result<()> {
    serve::serve_requests(&BrokerChannel(socket), duties)
}
