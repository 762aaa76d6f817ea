//! One client: a thread that reads its messages and one that writes them. What came before that is
//! in handshake.rs, and what the messages mean is told elsewhere; the game's thread only takes from
//! one queue and puts into another.

use super::queue::{Item, Queue};
use super::{Incoming, MESSAGE_BYTES_MAX, PENDING_BYTES_MAX, PENDING_MAX, Shared, VALUES_MAX};
use super::{What, json};
use crate::counter;
use crate::foundation::fault;
use crate::foundation::memory::Owner;
use crate::system::platform;
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

/// A client that takes nothing for this long, while something is to be sent, is disconnected.
pub const WRITE_PATIENCE: Duration = Duration::from_secs(5);
/// How long one is waited for that was told that it has to go.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);
/// And how much is read away of what it still sends.
const HEARD_OUT_MAX: usize = 4 << 20;
/// What its threads need of stack: no message is deep.
const STACK_BYTES: usize = 512 << 10;

/// One client, as the game's thread knows it.
pub struct Peer {
    /// Counts from 1 in the order of coming.
    pub number: u64,
    stream: TcpStream,
    queue: Queue,
    /// Messages of its that the game has not taken yet, and their bytes.
    pending: AtomicUsize,
    pending_bytes: AtomicUsize,
}

impl Peer {
    /// Sends what must arrive: an answer.
    pub fn answer(&self, text: String) {
        let bytes = text.len();
        match self.queue.push(Item::Text(Bytes::from(text))) {
            true => count_told(bytes),
            false => self.cut(),
        }
    }

    /// Sends a message of a stream, which is dropped where the client does not keep up.
    pub fn offer(&self, text: &Bytes) -> bool {
        self.offer_item(Item::Text(text.clone()))
    }

    /// The same, in bytes.
    pub fn offer_bytes(&self, bytes: Bytes) -> bool {
        self.offer_item(Item::Binary(bytes))
    }

    fn offer_item(&self, item: Item) -> bool {
        let bytes = item.bytes();
        let fits = self.queue.offer(item);
        match fits {
            true => count_told(bytes),
            false => counter!("tools/dropped") += 1,
        }
        fits
    }

    /// How many messages of streams did not fit so far.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Ends it with a reason of WebSocket's, once what waits is sent.
    pub(super) fn close(&self, reason: u16, words: &str) {
        self.queue.push(Item::Close(reason, words.to_string()));
        self.queue.end();
    }

    /// Ends it now.
    pub(super) fn cut(&self) {
        self.queue.end();
        // It may be gone already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// One of its messages was taken, of so many bytes.
    pub(super) fn taken(&self, bytes: usize) {
        self.pending_bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.pending.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether the game may be told another message of its, of so many bytes.
    fn has_room(&self, bytes: usize) -> bool {
        let waiting = self.pending.load(Ordering::Acquire);
        let all = self.pending_bytes.load(Ordering::Acquire) + bytes;
        waiting == 0 || (waiting < PENDING_MAX && all <= PENDING_BYTES_MAX)
    }
}

/// Counts what a client is told: whatever is put into its queue.
fn count_told(bytes: usize) {
    counter!("tools/told") += 1;
    counter!("tools/told_bytes") += bytes;
}

/// Serves a client whose WebSocket is open, to its end. `rest`: what came behind its request.
pub fn serve(shared: &Arc<Shared>, stream: TcpStream, rest: Vec<u8>) {
    Owner::of_thread("tools");
    // Where this fails the connection is gone, and the first use says so.
    let _ = stream.set_write_timeout(Some(WRITE_PATIENCE));
    exchange(shared, stream, rest);
}

/// Ends a connection, and reads away what the other side still sends: a socket that is closed over
/// unread bytes takes its last words back. One that sends without end is cut off.
fn hear_out(stream: &mut TcpStream) {
    // Where one of these fails the connection is gone.
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(CLOSE_PATIENCE));
    let end = Instant::now() + CLOSE_PATIENCE;
    let mut left = HEARD_OUT_MAX;
    let mut piece = [0; 16 << 10];
    while Instant::now() < end && left > 0 {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => left = left.saturating_sub(count),
            _ => return,
        }
    }
}

/// What the reading side reads from, and writes its answers to pings and closes into: the queue,
/// for only one thread writes to the socket.
struct Half {
    stream: TcpStream,
    peer: Arc<Peer>,
    written: Vec<u8>,
}

impl Read for Half {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into)
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.written.is_empty() {
            self.peer.queue.push(Item::Frames(std::mem::take(&mut self.written)));
        }
        Ok(())
    }
}

/// Exchanges messages until one side has enough.
fn exchange(shared: &Arc<Shared>, stream: TcpStream, rest: Vec<u8>) {
    let clones = || io::Result::Ok((stream.try_clone()?, stream.try_clone()?));
    let Ok((reading, writing)) = clones() else { return shared.note_refused() };
    // A client that floods the game with messages has its own thread read them, and no more.
    platform::let_others_go_first();
    let _ = stream.set_read_timeout(None);
    let number = shared.next_number();
    let queue = Queue::default();
    let (pending, pending_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let peer = Arc::new(Peer { number, stream, queue, pending, pending_bytes });
    if !shared.admit(&peer) {
        peer.close(1013, "there are too many clients already (CLIENTS_MAX)");
        write_all(&peer, writing);
        return;
    }
    let writer = {
        let peer = peer.clone();
        let builder = Builder::new().stack_size(STACK_BYTES);
        fault::spawn_with(builder, "tools-write", move || write_all(&peer, writing))
    };
    if let Ok(writer) = writer {
        read_all(shared, &peer, reading, rest);
        peer.queue.end();
        // What waits is still sent, unless the client does not take it.
        let _ = writer.join();
    }
    peer.cut();
    shared.release(&peer);
}

/// Reads messages for the game, until the client goes.
fn read_all(shared: &Shared, peer: &Arc<Peer>, stream: TcpStream, rest: Vec<u8>) {
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let half = Half { stream, peer: peer.clone(), written: Vec::new() };
    let mut socket = WebSocket::from_partially_read(half, rest, Role::Server, Some(config));
    loop {
        // One that lets its answers pile up has had its end, and is not read any further.
        if peer.queue.has_ended() {
            return;
        }
        match socket.read() {
            Ok(Message::Text(text)) => {
                let (bytes, fields) = (text.len(), json::read_message(&text, VALUES_MAX));
                // One that sends faster than the game takes has to wait; it alone.
                while !peer.has_room(bytes) {
                    if peer.queue.has_ended() || shared.is_closing() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(2));
                }
                peer.pending.fetch_add(1, Ordering::AcqRel);
                peer.pending_bytes.fetch_add(bytes, Ordering::AcqRel);
                let what = What::Message(fields, bytes);
                shared.tell(Incoming { peer: peer.clone(), what });
            }
            Ok(Message::Binary(_)) => return peer.close(1003, "messages are text: JSON"),
            Ok(_) => {}
            Err(Error::Capacity(_)) => {
                let words = format!("a message may have {MESSAGE_BYTES_MAX} bytes");
                return peer.close(1009, &words);
            }
            Err(Error::Protocol(_) | Error::Utf8(_)) => {
                return peer.close(1002, "this is no WebSocket");
            }
            Err(_) => return,
        }
    }
}

/// Writes what waits for a client, until there is an end of it.
fn write_all(peer: &Peer, mut stream: TcpStream) {
    while let Some(item) = peer.queue.next() {
        let closes = matches!(item, Item::Close(..));
        if write_item(&mut stream, item).is_err() {
            return peer.cut();
        }
        if closes {
            // Its answer is waited for a moment, so that it hears why; then it is cut.
            hear_out(&mut stream);
            return peer.cut();
        }
    }
}

fn write_item(stream: &mut TcpStream, item: Item) -> io::Result<()> {
    let (opcode, bytes) = match item {
        Item::Frames(frames) => return stream.write_all(&frames),
        Item::Text(bytes) => (OpCode::Data(Data::Text), bytes),
        Item::Binary(bytes) => (OpCode::Data(Data::Binary), bytes),
        Item::Close(reason, words) => {
            let bytes = [&reason.to_be_bytes()[..], words.as_bytes()].concat();
            (OpCode::Control(Control::Close), Bytes::from(bytes))
        }
    };
    let header = FrameHeader { opcode, ..FrameHeader::default() };
    let mut head = Vec::with_capacity(16);
    header.format(bytes.len() as u64, &mut head).expect("memory can be written to");
    write_both(stream, &head, &bytes)
}

/// Both in as few calls as it takes: a short message is one packet.
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
