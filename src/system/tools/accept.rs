//! The thread that accepts connections and moves their handshakes on. Whoever has not shown the
//! token has a place among [`HANDSHAKES_MAX`], which are apart from those of clients: where all are
//! taken, the oldest gives way to the newest. A client's handshake takes a millisecond or two, so
//! others can keep none out by opening connections and saying nothing.

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
pub fn run(shared: &Arc<Shared>, listener: &TcpListener) {
    Owner::of_thread("tools");
    // Whoever opens many connections has this thread deal with them, and no more.
    platform::let_others_go_first();
    let own = Own { port: shared.port, token: shared.token.clone() };
    let mut handshakes = VecDeque::new();
    while !shared.is_closing() {
        // With nothing to move on, the thread waits for the next connection.
        let waits = handshakes.is_empty();
        if listener.set_nonblocking(!waits).is_err() {
            thread::sleep(PAUSE_AFTER_ERROR);
            continue;
        }
        let accepted =
            accept(shared, listener, &mut handshakes, if waits { 1 } else { ACCEPTED_MAX });
        if shared.is_closing() {
            return;
        }
        let moved = step_all(shared, &own, &mut handshakes);
        make_room(shared, &mut handshakes);
        match accepted {
            Accepted::Failed => {
                drop(handshakes.pop_front());
                thread::sleep(PAUSE_AFTER_ERROR);
            }
            Accepted::None if !moved => thread::sleep(PAUSE),
            _ => {}
        }
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
        let step = handshake.step(own, now);
        any |= step != Step::Waits;
        match step {
            Step::Waits | Step::Moved => handshakes.push_back(handshake),
            Step::Ended => {}
            Step::Connected(rest) => begin_client(shared, handshake.stream, rest),
        }
    }
    any
}

/// Where there are too many, those go whose request is not there yet, the oldest first.
fn make_room(shared: &Shared, handshakes: &mut VecDeque<Handshake>) {
    while handshakes.len() > HANDSHAKES_MAX {
        let oldest = handshakes.iter().position(Handshake::is_without_request);
        drop(handshakes.remove(oldest.unwrap_or(0)));
        shared.note_refused();
    }
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
