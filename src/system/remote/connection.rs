//! One client: a thread that reads its messages and a thread that writes to it. handshake.rs
//! handles the connection before that, and the application defines the meaning of messages. The
//! game's thread only takes from one queue and adds to another.

use super::send_queue::{OutgoingMessage, SendQueue};
use super::{
    ClientEvent, MESSAGE_BYTES_MAX, PENDING_BYTES_MAX, PENDING_MAX, ServerShared, VALUES_MAX,
};
use super::{ClientEventKind, read_message};
use engine_foundation::counter;
use engine_foundation::memory::OwnerScope;
use engine_foundation::panic;
use engine_platform as platform;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message, WebSocket};

/// A client that accepts no data for this long, while data waits to be sent, is disconnected.
pub const WRITE_PATIENCE: Duration = Duration::from_secs(5);
/// The time that a client has to leave after it was asked to.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The most bytes of a leaving client that are read and discarded.
const DISCARDED_BYTES_MAX: usize = 4 << 20;
/// Stack size of a client's threads: messages are not deeply nested.
const STACK_BYTES: usize = 512 << 10;

/// One client, as the game's thread sees it.
pub struct RemoteConnection {
    /// Number of the client, counted from 1 in the order of connection.
    pub number: u64,
    stream: TcpStream,
    queue: SendQueue,
    /// Messages of this client that the game has not taken yet, and their bytes.
    pending: AtomicUsize,
    pending_bytes: AtomicUsize,
}

impl RemoteConnection {
    /// Sends an answer, which is never dropped. A client whose queue is full is disconnected.
    pub fn answer(&self, text: String) {
        let bytes = text.len();
        match self.queue.push(OutgoingMessage::Text(Bytes::from(text))) {
            true => count_sent(bytes),
            false => self.disconnect(),
        }
    }

    /// Sends a message of a stream. The message is dropped if the client does not keep up.
    pub fn offer(&self, text: &Bytes) -> bool {
        self.offer_item(OutgoingMessage::Text(text.clone()))
    }

    /// Sends a binary message of a stream, with the same rule as [`RemoteConnection::offer`].
    pub fn offer_bytes(&self, bytes: Bytes) -> bool {
        self.offer_item(OutgoingMessage::Binary(bytes))
    }

    fn offer_item(&self, item: OutgoingMessage) -> bool {
        let bytes = item.bytes();
        let fits = self.queue.offer(item);
        match fits {
            true => count_sent(bytes),
            false => counter!("tools/dropped") += 1,
        }
        fits
    }

    /// Returns the number of stream messages that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Ends the connection with a WebSocket close code, after the waiting messages are sent.
    pub(super) fn close(&self, reason: u16, message: &str) {
        self.queue.push(OutgoingMessage::Close(reason, message.to_string()));
        self.queue.end();
    }

    /// Ends the connection immediately.
    pub(super) fn disconnect(&self) {
        self.queue.end();
        // The connection may be gone already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Notes that one message of this size waits for the game.
    fn note_waiting(&self, bytes: usize) {
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.pending_bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Notes that the game has taken one message of this size.
    pub(super) fn note_received(&self, bytes: usize) {
        self.pending_bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.pending.fetch_sub(1, Ordering::AcqRel);
    }

    /// Returns true if another message of this size may be queued for the game.
    pub fn has_room(&self, bytes: usize) -> bool {
        let waiting = self.pending.load(Ordering::Acquire);
        let all = self.pending_bytes.load(Ordering::Acquire) + bytes;
        waiting == 0 || (waiting < PENDING_MAX && all <= PENDING_BYTES_MAX)
    }
}

/// Counts messages that are put into a client's queue.
fn count_sent(bytes: usize) {
    counter!("tools/messages_sent") += 1;
    counter!("tools/bytes_sent") += bytes;
}

/// Serves a client whose WebSocket is open, until it ends. `rest`: the bytes that followed its
/// request.
pub fn serve(shared: &Arc<ServerShared>, stream: TcpStream, rest: Vec<u8>) {
    OwnerScope::of_thread("tools");
    // If this fails, the connection is gone, and the first use reports it.
    let _ = stream.set_write_timeout(Some(WRITE_PATIENCE));
    exchange(shared, stream, rest);
}

/// Ends a connection, and discards what the other side still sends: closing a socket with unread
/// bytes discards its last messages. A side that never stops sending is cut off.
fn drain_and_close(stream: &mut TcpStream) {
    // If one of these fails, the connection is gone.
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(CLOSE_TIMEOUT));
    let end = Instant::now() + CLOSE_TIMEOUT;
    let mut left = DISCARDED_BYTES_MAX;
    let mut piece = [0; 16 << 10];
    while Instant::now() < end && left > 0 {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => left = left.saturating_sub(count),
            _ => return,
        }
    }
}

/// The reading side of a socket. Its answers to pings and closes go into the queue, because only
/// one thread writes to the socket.
struct ReadHalf {
    stream: TcpStream,
    peer: Arc<RemoteConnection>,
    written: Vec<u8>,
}

impl Read for ReadHalf {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into)
    }
}

impl Write for ReadHalf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.written.is_empty() {
            self.peer.queue.push(OutgoingMessage::Frames(std::mem::take(&mut self.written)));
        }
        Ok(())
    }
}

/// Exchanges messages until one side ends the connection.
fn exchange(shared: &Arc<ServerShared>, stream: TcpStream, rest: Vec<u8>) {
    let clones = || io::Result::Ok((stream.try_clone()?, stream.try_clone()?));
    let Ok((reading, writing)) = clones() else { return shared.count_refused() };
    // A client that floods the game with messages slows down only its own thread.
    platform::lower_thread_priority();
    let _ = stream.set_read_timeout(None);
    let number = shared.next_number();
    let queue = SendQueue::default();
    let (pending, pending_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let peer = Arc::new(RemoteConnection { number, stream, queue, pending, pending_bytes });
    if !shared.admit(&peer) {
        peer.close(1013, "there are too many clients already (CLIENTS_MAX)");
        write_all(&peer, writing);
        return;
    }
    let writer = {
        let peer = peer.clone();
        let builder = Builder::new().stack_size(STACK_BYTES);
        panic::spawn_with(builder, "tools-write", move || write_all(&peer, writing))
    };
    if let Ok(writer) = writer {
        read_all(shared, &peer, reading, rest);
        peer.queue.end();
        // Waiting messages are still sent, unless the client does not accept them.
        let _ = writer.join();
    }
    peer.disconnect();
    shared.release(&peer);
}

/// Reads messages for the game until the client disconnects.
fn read_all(shared: &ServerShared, peer: &Arc<RemoteConnection>, stream: TcpStream, rest: Vec<u8>) {
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let read_half = ReadHalf { stream, peer: peer.clone(), written: Vec::new() };
    let mut socket = WebSocket::from_partially_read(read_half, rest, Role::Server, Some(config));
    loop {
        // A client that lets its answers pile up is disconnected, and not read any further.
        if peer.queue.has_ended() {
            return;
        }
        match socket.read() {
            Ok(Message::Text(text)) => {
                let (bytes, fields) = (text.len(), read_message(&text, VALUES_MAX));
                let kind = ClientEventKind::Message(fields, bytes);
                let mut filtered = shared.filter(ClientEvent { peer: peer.clone(), kind });
                // A client that sends faster than the game takes has to wait; other clients do not.
                // The filter sees the message again, because what it depends on may change.
                while let Some(event) = filtered.take_if(|_| !peer.has_room(bytes)) {
                    if peer.queue.has_ended() || shared.is_closing() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(2));
                    filtered = shared.filter(event);
                }
                if let Some(event) = filtered {
                    peer.note_waiting(bytes);
                    shared.queue_event(event);
                }
            }
            Ok(Message::Binary(_)) => return peer.close(1003, "messages are text: JSON"),
            Ok(_) => {}
            Err(Error::Capacity(_)) => {
                let message = format!("a message may have at most {MESSAGE_BYTES_MAX} bytes");
                return peer.close(1009, &message);
            }
            Err(Error::Protocol(_) | Error::Utf8(_)) => {
                return peer.close(1002, "this is not a WebSocket");
            }
            Err(_) => return,
        }
    }
}

/// Writes a client's queue to its socket until the queue ends.
fn write_all(peer: &RemoteConnection, mut stream: TcpStream) {
    while let Some(item) = peer.queue.next() {
        let closes = matches!(item, OutgoingMessage::Close(..));
        if write_item(&mut stream, item).is_err() {
            return peer.disconnect();
        }
        if closes {
            // The client gets a moment to read the reason; then the connection is cut.
            drain_and_close(&mut stream);
            return peer.disconnect();
        }
    }
}

fn write_item(stream: &mut TcpStream, item: OutgoingMessage) -> io::Result<()> {
    let (opcode, bytes) = match item {
        OutgoingMessage::Frames(frames) => return stream.write_all(&frames),
        OutgoingMessage::Text(bytes) => (OpCode::Data(Data::Text), bytes),
        OutgoingMessage::Binary(bytes) => (OpCode::Data(Data::Binary), bytes),
        OutgoingMessage::Close(reason, message) => {
            let bytes = [&reason.to_be_bytes()[..], message.as_bytes()].concat();
            (OpCode::Control(Control::Close), Bytes::from(bytes))
        }
    };
    let header = FrameHeader { opcode, ..FrameHeader::default() };
    let mut head = Vec::with_capacity(16);
    header.format(bytes.len() as u64, &mut head).expect("memory can be written to");
    write_both(stream, &head, &bytes)
}

/// Writes both parts in as few calls as possible: a short message is one packet.
fn write_both(stream: &mut TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let written = loop {
        match stream.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]) {
            Err(reason) if reason.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if let Some(rest) = head.get(written..) {
        stream.write_all(rest)?;
        return stream.write_all(body);
    }
    stream.write_all(&body[written - head.len()..])
}
