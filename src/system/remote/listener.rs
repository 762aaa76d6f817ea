//! The thread that accepts connections and advances their handshakes. Connections that have not
//! shown the token are limited to [`HANDSHAKES_MAX`], separately from clients. If the limit is
//! reached, an older connection is dropped for the newest. A client's handshake takes a millisecond
//! or two, so others cannot keep clients out by opening connections and sending nothing, or by
//! keeping answered connections open. A panic ends only the connection in which it occurs.

use super::handshake::{Handshake, HandshakeStep};
use super::http_request::ServerIdentity;
use super::{CONNECTIONS_MAX, ServerShared, connection};
use engine_foundation::memory::OwnerScope;
use engine_foundation::{log, panic};
use engine_platform as platform;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// The most connections at once whose request is not answered yet.
pub const HANDSHAKES_MAX: usize = 128;
/// The most connections at once whose request is answered, but that have not read the answer or
/// have not closed yet.
pub const ANSWERED_MAX: usize = HANDSHAKES_MAX / 2;
/// The most connections accepted between two passes over all handshakes. Each handshake is thus
/// advanced a few times before it can be dropped.
const ACCEPTED_MAX: usize = HANDSHAKES_MAX / 4;
/// Sleep time of the thread while no handshake advances.
const PAUSE: Duration = Duration::from_millis(1);
/// Sleep time while the system accepts no connections, for example because it has no free file
/// descriptors.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(20);
/// Stack size of a client's thread: messages are not deeply nested.
const STACK_BYTES: usize = 512 << 10;

/// Result of an attempt to accept new connections.
#[derive(Clone, Copy, PartialEq)]
enum AcceptResult {
    None,
    Some,
    Failed,
}

/// Accepts connections until the server ends.
pub fn run(shared: &Arc<ServerShared>, own: &ServerIdentity, listener: &TcpListener) {
    OwnerScope::of_thread("tools");
    // A flood of connections slows down only this thread.
    platform::lower_thread_priority();
    let mut handshakes = VecDeque::new();
    while !shared.is_closing() {
        run_contained("tools", || serve_once(shared, own, listener, &mut handshakes));
    }
}

/// Runs code that may panic. A panic is logged, and the thread sleeps a moment, because the next
/// attempt may panic as well.
fn run_contained(subject: &str, work: impl FnOnce()) {
    if let Err(error) = panic::contain(work) {
        log::error(&format!("the connection of {subject} failed: {error}"));
        thread::sleep(PAUSE_AFTER_ERROR);
    }
}

/// Accepts waiting connections, and advances all handshakes once.
fn serve_once(
    shared: &Arc<ServerShared>,
    own: &ServerIdentity,
    listener: &TcpListener,
    handshakes: &mut VecDeque<Handshake>,
) {
    // If there are no handshakes, the thread blocks until the next connection.
    let waits = handshakes.is_empty();
    if listener.set_nonblocking(!waits).is_err() {
        return thread::sleep(PAUSE_AFTER_ERROR);
    }
    let accepted = accept(shared, listener, handshakes, if waits { 1 } else { ACCEPTED_MAX });
    if shared.is_closing() {
        return;
    }
    let moved = step_all(shared, own, handshakes);
    for _ in 0..make_room(handshakes) {
        shared.count_refused();
    }
    match accepted {
        AcceptResult::Failed => {
            drop(handshakes.pop_front());
            thread::sleep(PAUSE_AFTER_ERROR);
        }
        AcceptResult::None if !moved => thread::sleep(PAUSE),
        _ => {}
    }
}

fn accept(
    shared: &ServerShared,
    listener: &TcpListener,
    handshakes: &mut VecDeque<Handshake>,
    most: usize,
) -> AcceptResult {
    for count in 0..most {
        let reason = match listener.accept() {
            Ok((stream, _)) => {
                match Handshake::new(stream, Instant::now()) {
                    Ok(handshake) => handshakes.push_back(handshake),
                    Err(_) => shared.count_refused(),
                }
                continue;
            }
            Err(reason) => reason,
        };
        return match reason.kind() {
            ErrorKind::WouldBlock if count == 0 => AcceptResult::None,
            ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {
                AcceptResult::Some
            }
            _ => AcceptResult::Failed,
        };
    }
    AcceptResult::Some
}

/// Advances all handshakes. Returns true if any of them made progress.
fn step_all(
    shared: &Arc<ServerShared>,
    own: &ServerIdentity,
    handshakes: &mut VecDeque<Handshake>,
) -> bool {
    let now = Instant::now();
    let mut any = false;
    for _ in 0..handshakes.len() {
        let Some(mut handshake) = handshakes.pop_front() else { break };
        // A handshake that panics ends.
        let mut step = HandshakeStep::Ended;
        run_contained("a tool", || step = handshake.step(own, now));
        any |= step != HandshakeStep::Waits;
        match step {
            HandshakeStep::Waits | HandshakeStep::Moved => handshakes.push_back(handshake),
            HandshakeStep::Ended => {}
            HandshakeStep::Connected(rest) => start_client(shared, handshake.stream, rest),
        }
    }
    any
}

/// Drops connections if there are too many, and returns how many were dropped. Of the answered
/// connections, the oldest is dropped. Of all connections, the oldest without a complete request is
/// dropped, or else the oldest. The newest is never dropped, because it may be a client's.
fn make_room(handshakes: &mut VecDeque<Handshake>) -> usize {
    let before = handshakes.len();
    let answered = handshakes.iter().filter(|handshake| handshake.is_answered()).count();
    for _ in ANSWERED_MAX..answered {
        let oldest = handshakes.iter().position(Handshake::is_answered);
        drop(oldest.and_then(|oldest| handshakes.remove(oldest)));
    }
    while handshakes.len() > HANDSHAKES_MAX {
        let older = handshakes.iter().take(handshakes.len() - 1);
        let oldest = older.into_iter().position(Handshake::is_without_request);
        drop(handshakes.remove(oldest.unwrap_or(0)));
    }
    before - handshakes.len()
}

/// Starts a thread for a client that has shown the token.
fn start_client(shared: &Arc<ServerShared>, stream: TcpStream, rest: Vec<u8>) {
    if shared.connections.load(Ordering::Acquire) >= CONNECTIONS_MAX {
        return shared.count_refused();
    }
    shared.connections.fetch_add(1, Ordering::AcqRel);
    let own = shared.clone();
    let builder = Builder::new().stack_size(STACK_BYTES);
    let started = panic::spawn_with(builder, "tools-read", move || {
        // The connection is uncounted, however it ends.
        if let Err(error) = panic::contain(|| connection::serve(&own, stream, rest)) {
            log::error(&format!("the connection of a tool ended: {error}"));
        }
        own.connections.fetch_sub(1, Ordering::AcqRel);
    });
    if started.is_err() {
        shared.count_refused();
        shared.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::super::http_request::HttpReply;
    use super::super::{RemoteServer, client::RemoteClient, http_request};
    use super::*;
    use std::io::{Read, Write};

    /// Test connections that were answered, or that have sent nothing.
    struct Strangers {
        listener: TcpListener,
        own: ServerIdentity,
        clients: Vec<TcpStream>,
        handshakes: VecDeque<Handshake>,
    }

    impl Strangers {
        fn new() -> Strangers {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let own = ServerIdentity::new(listener.local_addr().unwrap().port(), "0123");
            Strangers { listener, own, clients: Vec::new(), handshakes: VecDeque::new() }
        }

        fn add(&mut self, count: usize, answered: bool) {
            for _ in 0..count {
                let mut client = TcpStream::connect(("127.0.0.1", self.own.port)).unwrap();
                let stream = self.listener.accept().unwrap().0;
                if answered {
                    client.write_all(b"nonsense\r\n\r\n").unwrap();
                    stream.peek(&mut [0]).unwrap();
                }
                let mut handshake = Handshake::new(stream, Instant::now()).unwrap();
                while answered && handshake.step(&self.own, Instant::now()) == HandshakeStep::Moved
                {
                }
                assert_eq!(handshake.is_answered(), answered);
                self.clients.push(client);
                self.handshakes.push_back(handshake);
            }
        }

        /// Calls [`make_room`] and lists for each connection, oldest first, if it is answered.
        fn make_room(&mut self) -> (usize, Vec<bool>) {
            let dropped = make_room(&mut self.handshakes);
            (dropped, self.handshakes.iter().map(Handshake::is_answered).collect())
        }
    }

    #[test]
    fn the_newest_connection_is_never_dropped() {
        let mut strangers = Strangers::new();
        // The connection without a request is the newest.
        strangers.add(HANDSHAKES_MAX, true);
        strangers.add(1, false);
        let wanted = [vec![true; ANSWERED_MAX], vec![false]].concat();
        assert_eq!(strangers.make_room(), (HANDSHAKES_MAX - ANSWERED_MAX, wanted.clone()));
        assert_eq!(strangers.make_room(), (0, wanted));
        strangers.add(ANSWERED_MAX, false);
        let wanted = [vec![true; ANSWERED_MAX], vec![false; HANDSHAKES_MAX - ANSWERED_MAX]];
        assert_eq!(strangers.make_room(), (1, wanted.concat()));
    }

    /// Answers requests as servers do, but panics at one request.
    fn clumsy(own: &ServerIdentity, head: &[u8]) -> HttpReply {
        assert!(!head.starts_with(b"GET /fall "), "it fell over a request");
        http_request::answer(own, head)
    }

    #[test]
    fn a_panic_in_a_handshake_ends_only_that_connection() {
        let folder = std::env::temp_dir().join(format!("engine-{}-clumsy", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let server = RemoteServer::open_with(folder.clone(), None, clumsy).unwrap();
        let errors = log::error_count();
        for _ in 0..3 {
            let mut stranger = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            stranger.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stranger.write_all(b"GET /fall HTTP/1.1\r\n\r\n").unwrap();
            // The connection is closed, with its bytes read or not.
            let mut answer = Vec::new();
            let _ = stranger.read_to_end(&mut answer);
            assert!(answer.is_empty());
        }
        let errors = log::errors_since(errors);
        let ours = errors.iter().filter(|message| message.contains("it fell over a request"));
        assert_eq!(ours.count(), 3, "{errors:?}");
        let known = super::super::endpoint_file::EndpointFile::read(&folder).unwrap();
        assert!(RemoteClient::connect(&known).is_ok(), "tools are let in");
        drop(server);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_panic_outside_a_handshake_is_logged_and_survived() {
        let errors = log::error_count();
        run_contained("tools", || panic!("beside the handshakes"));
        let errors = log::errors_since(errors);
        let start = "the connection of tools failed: the engine failed: beside the handshakes";
        assert!(errors.iter().any(|message| message.starts_with(start)), "{errors:?}");
    }
}
