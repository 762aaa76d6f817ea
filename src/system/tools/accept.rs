//! The thread that accepts connections and moves their handshakes on. Whoever has not shown the
//! token has a place among [`HANDSHAKES_MAX`], which are apart from those of clients: where all are
//! taken, an older one gives way to the newest. A client's handshake takes a millisecond or two, so
//! others can keep none out by opening connections and saying nothing, nor by staying when they
//! are answered. A panic ends the connection that it is about, and nothing else.

use super::handshake::{Handshake, Step};
use super::request::Own;
use super::{CONNECTIONS_MAX, Shared, peer};
use crate::foundation::memory::Owner;
use crate::foundation::{fault, log};
use crate::system::platform;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// The most connections at once whose request is not answered yet.
pub const HANDSHAKES_MAX: usize = 128;
/// The most of them whose request is answered, and who have not taken the answer or not left yet.
pub const ANSWERED_MAX: usize = HANDSHAKES_MAX / 2;
/// The most that are accepted between two looks at all handshakes, so that each is looked at a few
/// times before it has to give way.
const ACCEPTED_MAX: usize = HANDSHAKES_MAX / 4;
/// How long the thread sleeps while no handshake moves.
const PAUSE: Duration = Duration::from_millis(1);
/// And while the system accepts nothing: it may lack file numbers.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(20);
/// What a client's thread needs of stack: no message is deep.
const STACK_BYTES: usize = 512 << 10;

/// What came of looking for new connections.
#[derive(Clone, Copy, PartialEq)]
enum Accepted {
    None,
    Some,
    Failed,
}

/// Accepts connections, until the server ends.
pub fn run(shared: &Arc<Shared>, own: &Own, listener: &TcpListener) {
    Owner::of_thread("tools");
    // Whoever opens many connections has this thread deal with them, and no more.
    platform::let_others_go_first();
    let mut handshakes = VecDeque::new();
    while !shared.is_closing() {
        contained("tools", || turn(shared, own, listener, &mut handshakes));
    }
}

/// Does something that may have a fault. Then it is logged, and rests a moment: the next one may
/// have it as well.
fn contained(what: &str, work: impl FnOnce()) {
    if let Err(error) = fault::contain(work) {
        log::error(&format!("the connection of {what} failed: {error}"));
        thread::sleep(PAUSE_AFTER_ERROR);
    }
}

/// Accepts what has come, and moves everything on once.
fn turn(
    shared: &Arc<Shared>,
    own: &Own,
    listener: &TcpListener,
    handshakes: &mut VecDeque<Handshake>,
) {
    // With nothing to move on, the thread waits for the next connection.
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
        shared.note_refused();
    }
    match accepted {
        Accepted::Failed => {
            drop(handshakes.pop_front());
            thread::sleep(PAUSE_AFTER_ERROR);
        }
        Accepted::None if !moved => thread::sleep(PAUSE),
        _ => {}
    }
}

fn accept(
    shared: &Shared,
    listener: &TcpListener,
    handshakes: &mut VecDeque<Handshake>,
    most: usize,
) -> Accepted {
    for count in 0..most {
        let reason = match listener.accept() {
            Ok((stream, _)) => {
                match Handshake::new(stream, Instant::now()) {
                    Ok(handshake) => handshakes.push_back(handshake),
                    Err(_) => shared.note_refused(),
                }
                continue;
            }
            Err(reason) => reason,
        };
        return match reason.kind() {
            ErrorKind::WouldBlock if count == 0 => Accepted::None,
            ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {
                Accepted::Some
            }
            _ => Accepted::Failed,
        };
    }
    Accepted::Some
}

/// Moves all handshakes on: whether any could be.
fn step_all(shared: &Arc<Shared>, own: &Own, handshakes: &mut VecDeque<Handshake>) -> bool {
    let now = Instant::now();
    let mut any = false;
    for _ in 0..handshakes.len() {
        let Some(mut handshake) = handshakes.pop_front() else { break };
        // One with a fault ends.
        let mut step = Step::Ended;
        contained("a tool", || step = handshake.step(own, now));
        any |= step != Step::Waits;
        match step {
            Step::Waits | Step::Moved => handshakes.push_back(handshake),
            Step::Ended => {}
            Step::Connected(rest) => begin_client(shared, handshake.stream, rest),
        }
    }
    any
}

/// Drops connections where there are too many, and gives how many. Of those that are answered the
/// oldest goes. Of all it is the oldest whose request is not there yet, or else the oldest; never
/// the newest, which may be a client's.
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

/// Gives a client that knows the token a thread of its own.
fn begin_client(shared: &Arc<Shared>, stream: TcpStream, rest: Vec<u8>) {
    if shared.connections.load(Ordering::Acquire) >= CONNECTIONS_MAX {
        return shared.note_refused();
    }
    shared.connections.fetch_add(1, Ordering::AcqRel);
    let own = shared.clone();
    let builder = Builder::new().stack_size(STACK_BYTES);
    let started = fault::spawn_with(builder, "tools-read", move || {
        // Its place is free again, however it ends.
        if let Err(error) = fault::contain(|| peer::serve(&own, stream, rest)) {
            log::error(&format!("the connection of a tool ended: {error}"));
        }
        own.connections.fetch_sub(1, Ordering::AcqRel);
    });
    if started.is_err() {
        shared.note_refused();
        shared.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::Answer;
    use super::super::{Server, caller::Caller, request};
    use super::*;
    use std::io::{Read, Write};

    /// Connections that have come to the answer, or have said nothing.
    struct Strangers {
        listener: TcpListener,
        own: Own,
        clients: Vec<TcpStream>,
        handshakes: VecDeque<Handshake>,
    }

    impl Strangers {
        fn new() -> Strangers {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let own = Own::new(listener.local_addr().unwrap().port(), "0123");
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
                while answered && handshake.step(&self.own, Instant::now()) == Step::Moved {}
                assert_eq!(handshake.is_answered(), answered);
                self.clients.push(client);
                self.handshakes.push_back(handshake);
            }
        }

        /// Who is answered, from the oldest to the newest.
        fn make_room(&mut self) -> (usize, Vec<bool>) {
            let dropped = make_room(&mut self.handshakes);
            (dropped, self.handshakes.iter().map(Handshake::is_answered).collect())
        }
    }

    #[test]
    fn the_newest_never_gives_way() {
        let mut strangers = Strangers::new();
        // The one without a request is the newest.
        strangers.add(HANDSHAKES_MAX, true);
        strangers.add(1, false);
        let wanted = [vec![true; ANSWERED_MAX], vec![false]].concat();
        assert_eq!(strangers.make_room(), (HANDSHAKES_MAX - ANSWERED_MAX, wanted.clone()));
        assert_eq!(strangers.make_room(), (0, wanted));
        strangers.add(ANSWERED_MAX, false);
        let wanted = [vec![true; ANSWERED_MAX], vec![false; HANDSHAKES_MAX - ANSWERED_MAX]];
        assert_eq!(strangers.make_room(), (1, wanted.concat()));
    }

    /// Answers as servers do, but falls over one request.
    fn clumsy(own: &Own, head: &[u8]) -> Answer {
        assert!(!head.starts_with(b"GET /fall "), "it fell over a request");
        request::answer(own, head)
    }

    #[test]
    fn a_fault_in_one_handshake_ends_that_connection_alone() {
        let folder = std::env::temp_dir().join(format!("engine-{}-clumsy", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let server = Server::open_with(folder.clone(), clumsy).unwrap();
        let errors = log::error_count();
        for _ in 0..3 {
            let mut stranger = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            stranger.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stranger.write_all(b"GET /fall HTTP/1.1\r\n\r\n").unwrap();
            // It is closed, with its bytes read or not.
            let mut answer = Vec::new();
            let _ = stranger.read_to_end(&mut answer);
            assert!(answer.is_empty());
        }
        let said = log::errors_since(errors);
        let ours = said.iter().filter(|words| words.contains("it fell over a request"));
        assert_eq!(ours.count(), 3, "{said:?}");
        let known = super::super::session::Session::read(&folder).unwrap();
        assert!(Caller::connect(&known).is_ok(), "tools are let in");
        drop(server);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_fault_beside_the_handshakes_is_logged_and_the_thread_goes_on() {
        let errors = log::error_count();
        contained("tools", || panic!("beside the handshakes"));
        let said = log::errors_since(errors);
        let start = "the connection of tools failed: the engine failed: beside the handshakes";
        assert!(said.iter().any(|words| words.starts_with(start)), "{said:?}");
    }
}
