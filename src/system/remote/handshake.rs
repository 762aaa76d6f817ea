//! A connection before it belongs to a client: its request is read, and answered with a file, with
//! a refusal, or by opening a WebSocket. Nothing here blocks: sockets are non-blocking, and one
//! thread advances all handshakes, however many there are and however slow they are.

use super::http_head::{HEAD_BYTES_MAX, head_bytes};
use super::http_request::{self, HttpReply, ServerIdentity};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The most time for a complete request to arrive.
pub const REQUEST_SECONDS_MAX: f64 = 1.0;
/// The most time for the answer to be read, counted from the start of the connection.
pub const ANSWER_SECONDS_MAX: f64 = 5.0;
/// The time that a connection stays open for the other side to close it, after the whole answer is
/// sent.
pub const LINGER_SECONDS_MAX: f64 = 1.0;
/// The most bytes after the request that are read and discarded.
const TRAILING_BYTES_MAX: usize = 4 << 20;

/// Result of a step of a handshake.
#[derive(Debug, PartialEq)]
pub enum HandshakeStep {
    /// The socket was not ready: no data was read or written in this step.
    Waits,
    /// Data was read or written, and more work remains.
    Moved,
    /// The connection is over.
    Ended,
    /// The client has shown the token, and was informed that its WebSocket is open. The bytes
    /// followed its request.
    Connected(Vec<u8>),
}

enum HandshakeStage {
    /// The bytes of the request that have arrived so far.
    Request(Vec<u8>),
    /// The answer to send: header lines, content, and number of bytes sent.
    Answer { lines: Vec<u8>, content: ReplyBody, sent: usize },
    /// The answer is sent completely, since this time. Further bytes from the other side are read
    /// and discarded, up to `left`: closing a socket with unread bytes discards its last answer.
    Rest { since: Instant, left: usize },
}

enum ReplyBody {
    File(&'static [u8]),
    Text(Vec<u8>),
}

impl ReplyBody {
    fn bytes(&self) -> &[u8] {
        match self {
            ReplyBody::File(bytes) => bytes,
            ReplyBody::Text(bytes) => bytes,
        }
    }
}

/// A connection that has not shown the token yet.
pub struct Handshake {
    pub stream: TcpStream,
    since: Instant,
    stage: HandshakeStage,
}

impl Handshake {
    /// Creates the handshake of a connection. Fails if the connection is already gone.
    pub fn new(stream: TcpStream, now: Instant) -> io::Result<Handshake> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Handshake { stream, since: now, stage: HandshakeStage::Request(Vec::new()) })
    }

    /// Returns true if the request is not complete. Such connections are dropped first if there are
    /// too many.
    pub fn is_without_request(&self) -> bool {
        matches!(self.stage, HandshakeStage::Request(_))
    }

    /// Returns true if the answer is sent, or is being sent.
    pub fn is_answered(&self) -> bool {
        !self.is_without_request()
    }

    /// Does all work that is possible without blocking.
    pub fn step(&mut self, own: &ServerIdentity, now: Instant) -> HandshakeStep {
        let age = now.saturating_duration_since(self.since);
        let stepped = match &mut self.stage {
            HandshakeStage::Request(_) => self.read_request(own, age),
            HandshakeStage::Answer { .. } => self.send_answer(now),
            HandshakeStage::Rest { left, .. } => read_away(&mut self.stream, left),
        };
        let over = match self.stage {
            HandshakeStage::Rest { since, .. } => is_over(since, now, LINGER_SECONDS_MAX),
            _ => is_over(self.since, now, ANSWER_SECONDS_MAX),
        };
        match stepped {
            Ok(HandshakeStep::Waits) if over => HandshakeStep::Ended,
            // A side that never stops sending is not waited for either.
            Ok(HandshakeStep::Moved)
                if over && matches!(self.stage, HandshakeStage::Rest { .. }) =>
            {
                HandshakeStep::Ended
            }
            Ok(step) => step,
            Err(_) => HandshakeStep::Ended,
        }
    }

    fn read_request(&mut self, own: &ServerIdentity, age: Duration) -> io::Result<HandshakeStep> {
        let HandshakeStage::Request(bytes) = &mut self.stage else {
            return Ok(HandshakeStep::Moved);
        };
        let mut piece = [0; 2048];
        match self.stream.read(&mut piece) {
            Ok(0) => return Ok(HandshakeStep::Ended),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(reason) if would_wait(&reason) => {
                if age > Duration::from_secs_f64(REQUEST_SECONDS_MAX) {
                    return Ok(self.refuse(408, "the request did not come in time"));
                }
                return Ok(HandshakeStep::Waits);
            }
            Err(reason) => return Err(reason),
        }
        if let Some(length) = head_bytes(bytes) {
            let rest = bytes.split_off(length);
            let head = std::mem::take(bytes);
            return self.answer((own.answer)(own, &head), rest);
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Ok(self.refuse(431, "the request is too long"));
        }
        // The limit holds for the whole request, however small its pieces are.
        if age > Duration::from_secs_f64(REQUEST_SECONDS_MAX) {
            return Ok(self.refuse(408, "the request did not come in time"));
        }
        Ok(HandshakeStep::Moved)
    }

    fn answer(&mut self, answer: HttpReply, rest: Vec<u8>) -> io::Result<HandshakeStep> {
        match answer {
            HttpReply::File(kind, bytes) => Ok(self.send(200, kind, ReplyBody::File(bytes))),
            HttpReply::Text(text) => {
                let body = ReplyBody::Text(text.into_bytes());
                Ok(self.send(200, "text/plain; charset=utf-8", body))
            }
            HttpReply::Refuse(status, message) => Ok(self.refuse(status, &message)),
            HttpReply::Connect(key) => {
                // Nothing was sent yet, so these few bytes fit into the send buffer.
                self.stream.write_all(http_request::switching(&key).as_bytes())?;
                self.stream.set_nonblocking(false)?;
                Ok(HandshakeStep::Connected(rest))
            }
        }
    }

    fn refuse(&mut self, status: u16, message: &str) -> HandshakeStep {
        let text = format!("{message}\n").into_bytes();
        self.send(status, "text/plain; charset=utf-8", ReplyBody::Text(text))
    }

    fn send(&mut self, status: u16, kind: &str, content: ReplyBody) -> HandshakeStep {
        let lines = http_request::lines(status, kind, content.bytes().len()).into_bytes();
        self.stage = HandshakeStage::Answer { lines, content, sent: 0 };
        HandshakeStep::Moved
    }

    fn send_answer(&mut self, now: Instant) -> io::Result<HandshakeStep> {
        let HandshakeStage::Answer { lines, content, sent } = &mut self.stage else {
            return Ok(HandshakeStep::Moved);
        };
        let content = content.bytes();
        let left = match sent.checked_sub(lines.len()) {
            None => &lines[*sent..],
            Some(at) => &content[at..],
        };
        if left.is_empty() {
            self.stream.shutdown(Shutdown::Write)?;
            self.stage = HandshakeStage::Rest { since: now, left: TRAILING_BYTES_MAX };
            return Ok(HandshakeStep::Moved);
        }
        match self.stream.write(left) {
            Ok(0) => Ok(HandshakeStep::Ended),
            Ok(count) => {
                *sent += count;
                Ok(HandshakeStep::Moved)
            }
            Err(reason) if would_wait(&reason) => Ok(HandshakeStep::Waits),
            Err(reason) => Err(reason),
        }
    }
}

fn is_over(since: Instant, now: Instant, seconds: f64) -> bool {
    now.saturating_duration_since(since) > Duration::from_secs_f64(seconds)
}

fn read_away(stream: &mut TcpStream, left: &mut usize) -> io::Result<HandshakeStep> {
    let mut piece = [0; 4096];
    match stream.read(&mut piece) {
        Ok(0) => Ok(HandshakeStep::Ended),
        Ok(count) if count > *left => Ok(HandshakeStep::Ended),
        Ok(count) => {
            *left -= count;
            Ok(HandshakeStep::Moved)
        }
        Err(reason) if would_wait(&reason) => Ok(HandshakeStep::Waits),
        Err(reason) => Err(reason),
    }
}

fn would_wait(reason: &io::Error) -> bool {
    matches!(reason.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    struct SocketPair {
        client: TcpStream,
        server: Handshake,
        begun: Instant,
        own: ServerIdentity,
    }

    impl SocketPair {
        fn new() -> SocketPair {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let begun = Instant::now();
            let server = Handshake::new(listener.accept().unwrap().0, begun).unwrap();
            SocketPair { client, server, begun, own: ServerIdentity::new(port, TOKEN) }
        }

        /// Calls `step` at a time after the start, until there is no more work at that time.
        fn step_at(&mut self, seconds: f64) -> HandshakeStep {
            let at = self.begun + Duration::from_secs_f64(seconds);
            loop {
                match self.server.step(&self.own, at) {
                    HandshakeStep::Moved => {}
                    other => return other,
                }
            }
        }

        /// Sends bytes, and waits until they have arrived at the server.
        fn send(&mut self, bytes: &[u8]) {
            self.client.write_all(bytes).unwrap();
            let stream = &self.server.stream;
            stream.set_nonblocking(false).unwrap();
            stream.peek(&mut [0]).unwrap();
            stream.set_nonblocking(true).unwrap();
        }

        fn answered(mut self) -> String {
            drop(self.server);
            let mut text = String::new();
            let _ = self.client.read_to_string(&mut text);
            text
        }
    }

    #[test]
    fn a_slow_request_times_out_after_a_second_in_total() {
        let mut pair = SocketPair::new();
        for i in 0..9 {
            pair.send(b"G");
            assert_eq!(pair.step_at(f64::from(i) * 0.1), HandshakeStep::Waits);
            assert!(pair.server.is_without_request());
        }
        pair.send(b"G");
        assert_eq!(
            pair.step_at(REQUEST_SECONDS_MAX + 0.01),
            HandshakeStep::Waits,
            "it is answered"
        );
        assert!(!pair.server.is_without_request());
        assert_eq!(pair.step_at(ANSWER_SECONDS_MAX + 0.01), HandshakeStep::Ended);
        assert!(pair.answered().starts_with("HTTP/1.1 408 "));
    }

    #[test]
    fn a_silent_connection_times_out_after_a_second() {
        let mut pair = SocketPair::new();
        assert_eq!(pair.step_at(REQUEST_SECONDS_MAX - 0.01), HandshakeStep::Waits);
        assert_eq!(pair.step_at(REQUEST_SECONDS_MAX + 0.01), HandshakeStep::Waits);
        pair.client.shutdown(Shutdown::Write).unwrap();
        pair.server.stream.set_nonblocking(false).unwrap();
        assert_eq!(pair.step_at(REQUEST_SECONDS_MAX + 0.02), HandshakeStep::Ended);
        assert!(pair.answered().starts_with("HTTP/1.1 408 "));
    }

    #[test]
    fn an_overlong_request_is_refused_before_its_end() {
        let mut pair = SocketPair::new();
        pair.send(&vec![b'x'; HEAD_BYTES_MAX + 4096]);
        while pair.server.is_without_request() {
            assert_ne!(pair.step_at(0.1), HandshakeStep::Ended);
        }
        assert!(pair.answered().starts_with("HTTP/1.1 431 "));
    }

    #[test]
    fn a_client_that_does_not_read_delays_no_others() {
        let mut pair = SocketPair::new();
        let head = format!("GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", pair.own.port);
        pair.send(head.as_bytes());
        assert_eq!(pair.step_at(0.1), HandshakeStep::Waits);
        let answer = pair.answered();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let mut pair = SocketPair::new();
        pair.send(head.replace(&head[head.find("Host").unwrap()..], "\r\n").as_bytes());
        assert_eq!(pair.step_at(0.1), HandshakeStep::Waits);
        assert_eq!(pair.step_at(ANSWER_SECONDS_MAX + 0.01), HandshakeStep::Ended);
        assert!(pair.answered().starts_with("HTTP/1.1 403 "));
    }

    #[test]
    fn an_answered_connection_is_closed_after_a_second() {
        for continues in [false, true] {
            let mut pair = SocketPair::new();
            let port = pair.own.port;
            let head = format!("GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
            pair.send(head.as_bytes());
            assert_eq!(pair.step_at(0.1), HandshakeStep::Waits);
            assert!(pair.server.is_answered());
            assert_eq!(pair.step_at(0.1 + LINGER_SECONDS_MAX - 0.01), HandshakeStep::Waits);
            if continues {
                pair.send(&[b'x'; 100]);
            }
            assert_eq!(pair.step_at(0.1 + LINGER_SECONDS_MAX + 0.01), HandshakeStep::Ended);
            assert!(pair.answered().starts_with("HTTP/1.1 200 OK\r\n"));
        }
    }

    #[test]
    fn an_upgrade_with_the_token_keeps_the_bytes_after_it() {
        let mut pair = SocketPair::new();
        let port = pair.own.port;
        let head = format!(
            "GET /connection?token={TOKEN} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nbehind"
        );
        pair.send(head.as_bytes());
        assert_eq!(pair.step_at(0.1), HandshakeStep::Connected(b"behind".to_vec()));
        assert!(pair.answered().starts_with("HTTP/1.1 101 "));
    }
}
