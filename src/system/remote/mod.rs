//! The tool connection: a server for pages and programs that inspect a running game. It accepts
//! connections from this machine only. Messages arrive as text and are sent as text or bytes; the
//! application defines their meaning (src/app/remote). The game's thread, which takes and sends
//! them, never waits for a client.
//!
//! WebSocket: RFC 6455. One thread accepts connections and advances all handshakes; each client has
//! a reading thread and a writing thread.

pub mod client;
mod connection;
pub mod endpoint_file;
mod handshake;
pub mod http_head;
mod http_request;
mod listener;
pub mod local_server;
pub mod outbox;
mod page_files;
mod private_file;
mod proof;
pub mod send_queue;
pub mod stable_address;

use endpoint_file::EndpointFile;
use engine_foundation::counter;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, json, panic};
use http_request::{HttpReply, ServerIdentity};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

pub use connection::{RemoteConnection, WRITE_PATIENCE};
pub use handshake::{ANSWER_SECONDS_MAX, LINGER_SECONDS_MAX, REQUEST_SECONDS_MAX};
pub use listener::{ANSWERED_MAX, HANDSHAKES_MAX};
pub use page_files::contents as page_contents;
pub use tungstenite::Bytes;

/// Version of the message protocol. It increases when a change makes old tools misread messages.
pub const VERSION: u32 = 2;
/// The most clients at once.
pub const CLIENTS_MAX: usize = 64;
/// The most connections at once that have shown the token: clients, and connections that are being
/// refused because there are too many clients.
pub const CONNECTIONS_MAX: u64 = 2 * CLIENTS_MAX as u64;
/// The most bytes of an incoming message.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// The most values in an incoming message: the game's thread has to walk over them.
pub const VALUES_MAX: usize = 4096;
/// The most messages of one client that wait for the game. At this limit the client is not read any
/// further.
pub const PENDING_MAX: usize = 64;
/// The most bytes of one client's messages that wait for the game.
pub const PENDING_BYTES_MAX: usize = 4 << 20;

/// The kind of a client event.
#[derive(Debug, PartialEq)]
pub enum ClientEventKind {
    Joined,
    /// The client sent a message: the parsed message, or an error if it is invalid, and its size in
    /// bytes.
    Message(Result<SjsonTree, String>, usize),
    Left,
}

/// An event of a client.
pub struct ClientEvent {
    pub peer: Arc<RemoteConnection>,
    pub kind: ClientEventKind,
}

/// Takes an event on the thread that has read it, or gives it back for the game. While the game has
/// no room for a message, it is asked again.
pub type EventFilter = Box<dyn Fn(ClientEvent) -> Option<ClientEvent> + Send + Sync>;

/// State that all threads of a server share.
pub struct ServerShared {
    incoming: Mutex<Sender<ClientEvent>>,
    filter: OnceLock<EventFilter>,
    peers: Mutex<Vec<Arc<RemoteConnection>>>,
    last_number: AtomicU64,
    connections: AtomicU64,
    refused: AtomicU64,
    closing: AtomicBool,
}

impl ServerShared {
    fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns an event if it is for the game.
    fn filter(&self, event: ClientEvent) -> Option<ClientEvent> {
        match self.filter.get() {
            Some(filter) => filter(event),
            None => Some(event),
        }
    }

    /// Adds an event for the game.
    fn queue_event(&self, event: ClientEvent) {
        // After the game has ended there is no receiver.
        let _ = self.incoming.lock().unwrap_or_else(|poison| poison.into_inner()).send(event);
    }

    fn send_event(&self, event: ClientEvent) {
        if let Some(event) = self.filter(event) {
            self.queue_event(event);
        }
    }

    fn peers(&self) -> std::sync::MutexGuard<'_, Vec<Arc<RemoteConnection>>> {
        self.peers.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Adds a client, if there is room.
    fn admit(&self, peer: &Arc<RemoteConnection>) -> bool {
        let mut peers = self.peers();
        if peers.len() >= CLIENTS_MAX || self.is_closing() {
            drop(peers);
            self.count_refused();
            return false;
        }
        peers.push(peer.clone());
        drop(peers);
        self.send_event(ClientEvent { peer: peer.clone(), kind: ClientEventKind::Joined });
        true
    }

    fn release(&self, peer: &Arc<RemoteConnection>) {
        self.peers().retain(|known| known.number != peer.number);
        self.send_event(ClientEvent { peer: peer.clone(), kind: ClientEventKind::Left });
    }
}

/// The server of one run.
pub struct RemoteServer {
    shared: Arc<ServerShared>,
    incoming: Receiver<ClientEvent>,
    accepting: Option<JoinHandle<()>>,
    session: EndpointFile,
    game: PathBuf,
}

impl RemoteServer {
    /// Opens a port on this machine, and writes an endpoint file with its address into the game's
    /// folder. `state_folder` is a private folder of the user, in which the address is kept for
    /// later runs of the folder; without one, every run has another address.
    ///
    /// # Errors
    /// Returns an error if no port or thread is available, or if the folder cannot be written.
    pub fn open(game: PathBuf, state_folder: Option<&Path>) -> Result<RemoteServer, Error> {
        RemoteServer::open_with(game, state_folder, http_request::answer)
    }

    fn open_with(
        game: PathBuf,
        state_folder: Option<&Path>,
        answer: fn(&ServerIdentity, &[u8]) -> HttpReply,
    ) -> Result<RemoteServer, Error> {
        let (listener, token) = stable_address::open(state_folder, &game)?;
        let port = listener.local_addr().map_err(|reason| error!("{reason}"))?.port();
        let (sender, incoming) = channel();
        let own = ServerIdentity { answer, ..ServerIdentity::new(port, &token) };
        let shared = Arc::new(ServerShared {
            incoming: Mutex::new(sender),
            filter: OnceLock::new(),
            peers: Mutex::new(Vec::new()),
            last_number: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            closing: AtomicBool::new(false),
        });
        let session = EndpointFile { version: VERSION, port, token, process: std::process::id() };
        session.write(&game).map_err(|reason| {
            let path = endpoint_file::path(&game);
            error!("tools cannot find the game: {} is not written: {reason}", path.display())
        })?;
        let accepting = {
            let shared = shared.clone();
            panic::spawn("tools-accept", move || listener::run(&shared, &own, &listener))
        };
        match accepting {
            Ok(accepting) => {
                Ok(RemoteServer { shared, incoming, accepting: Some(accepting), session, game })
            }
            Err(reason) => {
                session.remove(&game);
                Err(error!("no thread can be started for tools: {reason}"))
            }
        }
    }

    /// Returns the address of the page for a browser.
    pub fn address(&self) -> String {
        self.session.address()
    }

    pub fn port(&self) -> u16 {
        self.session.port
    }

    /// Sets the filter of all events; it can be set once.
    pub fn set_filter(&self, filter: EventFilter) {
        // A second one is an error of the caller, and changes nothing.
        let set = self.shared.filter.set(filter);
        debug_assert!(set.is_ok(), "the filter is set once");
    }

    /// Returns the next event of a client, if there is one. Never waits.
    pub fn take(&self) -> Option<ClientEvent> {
        self.incoming.try_recv().ok().map(counted)
    }

    /// Returns the next event of a client, or `None` if there is none within this time.
    pub fn wait(&self, most: Duration) -> Option<ClientEvent> {
        self.incoming.recv_timeout(most).ok().map(counted)
    }

    /// Returns the number of connections that were refused because of a limit.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

/// Counts an event that the game has taken.
fn counted(incoming: ClientEvent) -> ClientEvent {
    if let ClientEventKind::Message(_, bytes) = incoming.kind {
        incoming.peer.note_received(bytes);
        counter!("tools/messages_received") += 1;
        counter!("tools/bytes_received") += bytes;
    }
    incoming
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.session.remove(&self.game);
        self.shared.closing.store(true, Ordering::Release);
        // Connections accepted from now on are dropped at once; this connection wakes the thread.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.session.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let peers = std::mem::take(&mut *self.shared.peers());
        for peer in &peers {
            peer.close(1001, "the game has ended");
        }
        // Clients could delay the end of their threads, so the wait is limited to a moment for
        // their last messages.
        let mut waits_left = 20;
        while self.shared.connections.load(Ordering::Acquire) > 0 && waits_left > 0 {
            std::thread::sleep(Duration::from_millis(5));
            waits_left -= 1;
        }
        for peer in &peers {
            peer.disconnect();
        }
    }
}

/// Returns a new token: 128 bits of a keyed hash (SipHash) whose key the system drew at random.
pub fn token() -> String {
    let key = RandomState::new();
    format!("{:016x}{:016x}", key.hash_one(1), key.hash_one(2))
}

/// Parses a client's message of at most `most` values. It is called on the thread that receives the
/// message, so that the game's thread never waits for a long one.
///
/// # Errors
/// Returns a message that says why the text is not a valid message.
pub fn read_message(text: &str, most: usize) -> Result<SjsonTree, String> {
    let tree = json::read(text).map_err(|message| format!("the message is not JSON: {message}"))?;
    match tree.values() {
        count if count > most => {
            Err(format!("the message has {count} values, and {most} are allowed"))
        }
        _ => Ok(tree),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_takes_messages_while_others_wait() {
        let folder = std::env::temp_dir().join(format!("engine-{}-filter", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let server = RemoteServer::open(folder.clone(), None).unwrap();
        let (sender, taken) = channel();
        server.set_filter(Box::new(move |event| {
            let ClientEventKind::Message(Ok(fields), _) = &event.kind else { return Some(event) };
            if fields.get("type") != Some(&json::text("own")) {
                return Some(event);
            }
            sender.send(()).expect("the test waits");
            None
        }));
        let mut client = client::RemoteClient::connect(&server.session).unwrap();
        for _ in 0..PENDING_MAX {
            client.send("other", Vec::new()).unwrap();
        }
        client.send("own", Vec::new()).unwrap();
        assert!(taken.recv_timeout(Duration::from_secs(60)).is_ok(), "the game takes nothing");
        drop(client);
        drop(server);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn no_two_tokens_are_the_same() {
        let (a, b) = (token(), token());
        assert_eq!(a.len(), 32);
        assert!(a != b && a.bytes().all(|letter| letter.is_ascii_hexdigit()));
    }

    #[test]
    fn a_message_has_so_many_values_and_no_more() {
        let four = "{\"a\": [1, {\"b\": 2}]}";
        assert!(read_message(four, 5).is_ok());
        let message = read_message(four, 4).unwrap_err();
        assert_eq!(message, "the message has 5 values, and 4 are allowed");
        let message = read_message("{\"a\"", 4).unwrap_err();
        assert!(message.starts_with("the message is not JSON: line 1, column 2: "), "{message}");
    }
}
