//! The tool connection: a server on this machine alone, to which pages and programs connect that
//! look into a game. Messages come in as text and go out as text or bytes; what they mean is the
//! application's (src/app/tools). The thread that takes and gives them never waits for a client.
//!
//! WebSocket: RFC 6455. One thread accepts and moves all handshakes on; each client has one that
//! reads and one that writes.

mod accept;
pub mod caller;
mod handshake;
pub mod json;
pub mod outbox;
mod page;
mod peer;
pub mod queue;
mod request;
pub mod session;

use crate::foundation::sjson::Tree;
use crate::foundation::{Error, fault};
use crate::{counter, error};
use request::{Answer, Own};
use session::Session;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

pub use accept::{ANSWERED_MAX, HANDSHAKES_MAX};
pub use handshake::{ANSWER_SECONDS_MAX, REQUEST_SECONDS_MAX, REST_SECONDS_MAX};
pub use peer::{Peer, WRITE_PATIENCE};
pub use tungstenite::Bytes;

/// Of the messages. It rises when one changes so that old tools misread it.
pub const VERSION: u32 = 1;
/// The most clients at once.
pub const CLIENTS_MAX: usize = 64;
/// The most connections at once that have shown the token: clients, and those that are told that
/// there are too many.
pub const CONNECTIONS_MAX: u64 = 2 * CLIENTS_MAX as u64;
/// The most bytes of a message that comes in.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// The most values in a message: what the game's thread has to walk over.
pub const VALUES_MAX: usize = 4096;
/// The most messages of one client that wait for the game; then it is read no further.
pub const PENDING_MAX: usize = 64;
/// And the most bytes of their texts.
pub const PENDING_BYTES_MAX: usize = 4 << 20;

/// What a client did.
#[derive(Debug, PartialEq)]
pub enum What {
    Joined,
    /// What it said, or why that is no message, and how many bytes it took to say.
    Message(Result<Tree, String>, usize),
    Left,
}

/// News of a client.
pub struct Incoming {
    pub peer: Arc<Peer>,
    pub what: What,
}

/// What all threads of a server share.
pub struct Shared {
    incoming: Mutex<Sender<Incoming>>,
    peers: Mutex<Vec<Arc<Peer>>>,
    last_number: AtomicU64,
    connections: AtomicU64,
    refused: AtomicU64,
    closing: AtomicBool,
}

impl Shared {
    fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    fn note_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    fn tell(&self, incoming: Incoming) {
        // Once the game is gone nobody listens.
        let _ = self.incoming.lock().unwrap_or_else(|poison| poison.into_inner()).send(incoming);
    }

    fn peers(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Takes a client in, if there is room.
    fn admit(&self, peer: &Arc<Peer>) -> bool {
        let mut peers = self.peers();
        if peers.len() >= CLIENTS_MAX || self.is_closing() {
            drop(peers);
            self.note_refused();
            return false;
        }
        peers.push(peer.clone());
        drop(peers);
        self.tell(Incoming { peer: peer.clone(), what: What::Joined });
        true
    }

    fn release(&self, peer: &Arc<Peer>) {
        self.peers().retain(|known| known.number != peer.number);
        self.tell(Incoming { peer: peer.clone(), what: What::Left });
    }
}

/// The server of one run.
pub struct Server {
    shared: Arc<Shared>,
    incoming: Receiver<Incoming>,
    accepting: Option<JoinHandle<()>>,
    session: Session,
    game: PathBuf,
}

impl Server {
    /// Opens a port of the system's choice on this machine, and writes where it is into the game's
    /// folder.
    ///
    /// # Errors
    /// Where there is no port, no thread, or the folder cannot be written.
    pub fn open(game: PathBuf) -> Result<Server, Error> {
        Server::open_with(game, request::answer)
    }

    fn open_with(game: PathBuf, answer: fn(&Own, &[u8]) -> Answer) -> Result<Server, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|reason| error!("no port can be opened for tools: {reason}"))?;
        let port = listener.local_addr().map_err(|reason| error!("{reason}"))?.port();
        let (sender, incoming) = channel();
        let token = token();
        let own = Own { answer, ..Own::new(port, &token) };
        let shared = Arc::new(Shared {
            incoming: Mutex::new(sender),
            peers: Mutex::new(Vec::new()),
            last_number: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            closing: AtomicBool::new(false),
        });
        let session = Session { version: VERSION, port, token, process: std::process::id() };
        session.write(&game).map_err(|reason| {
            let path = session::path(&game);
            error!("tools cannot find the game: {} is not written: {reason}", path.display())
        })?;
        let accepting = {
            let shared = shared.clone();
            fault::spawn("tools-accept", move || accept::run(&shared, &own, &listener))
        };
        match accepting {
            Ok(accepting) => {
                Ok(Server { shared, incoming, accepting: Some(accepting), session, game })
            }
            Err(reason) => {
                session.remove(&game);
                Err(error!("no thread is left for tools: {reason}"))
            }
        }
    }

    /// Where a browser finds the page.
    pub fn address(&self) -> String {
        self.session.address()
    }

    pub fn port(&self) -> u16 {
        self.session.port
    }

    /// The next news of a client, if there is any. Never waits.
    pub fn take(&self) -> Option<Incoming> {
        let incoming = self.incoming.try_recv().ok()?;
        if let What::Message(_, bytes) = incoming.what {
            incoming.peer.taken(bytes);
            counter!("tools/heard") += 1;
            counter!("tools/heard_bytes") += bytes;
        }
        Some(incoming)
    }

    /// How many connections were turned away for want of room.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.session.remove(&self.game);
        self.shared.closing.store(true, Ordering::Release);
        // What is accepted from now on is dropped at once; this one wakes the thread.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.session.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let peers = std::mem::take(&mut *self.shared.peers());
        for peer in &peers {
            peer.close(1001, "the game has ended");
        }
        // Their threads are not waited for by the clients' leave, but they get a moment to say it.
        let mut patience = 20;
        while self.shared.connections.load(Ordering::Acquire) > 0 && patience > 0 {
            std::thread::sleep(Duration::from_millis(5));
            patience -= 1;
        }
        for peer in &peers {
            peer.cut();
        }
    }
}

/// What only this run and those know that can read its file: 128 bits of a keyed hash (SipHash)
/// whose key the system drew at random.
fn token() -> String {
    let key = RandomState::new();
    format!("{:016x}{:016x}", key.hash_one(1), key.hash_one(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_runs_have_the_same_token() {
        let (a, b) = (token(), token());
        assert_eq!(a.len(), 32);
        assert!(a != b && a.bytes().all(|letter| letter.is_ascii_hexdigit()));
    }
}
