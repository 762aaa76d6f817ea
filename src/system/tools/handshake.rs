//! A connection before it is a client's: the request is read, and answered with a file, with a
//! refusal, or by opening a WebSocket. Nothing here waits: one thread moves all such connections
//! on, however many there are and however slowly they speak. Sockets are non-blocking here.

use super::request::{self, Answer, HEAD_BYTES_MAX, Own};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How long a request may take to come, all of it.
pub const REQUEST_SECONDS_MAX: f64 = 1.0;
/// How long the answer may take to be read, from the connection's beginning on.
pub const ANSWER_SECONDS_MAX: f64 = 5.0;
/// How long a connection stays open for the other side to close it, once all of its answer is sent.
pub const REST_SECONDS_MAX: f64 = 1.0;
/// How much is read away of what the other side still sends after its request.
const REST_BYTES_MAX: usize = 4 << 20;

/// What comes of a step.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Nothing could be read or written.
    Waits,
    /// Something was, and there is more to do.
    Moved,
    /// The connection is over.
    Ended,
    /// The client knows the token, and was told that its WebSocket is open. These bytes came behind
    /// its request.
    Connected(Vec<u8>),
}

enum Stage {
    /// What came of the request so far.
    Request(Vec<u8>),
    /// What is to be sent: the lines and the content of an answer, and how much was.
    Answer { lines: Vec<u8>, content: Content, sent: usize },
    /// Everything is sent, since then. What the other side still sends is read away, up to so many
    /// bytes: a socket that is closed over unread bytes takes its last answer back.
    Rest { since: Instant, left: usize },
}

enum Content {
    File(&'static [u8]),
    Text(Vec<u8>),
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match self {
            Content::File(bytes) => bytes,
            Content::Text(bytes) => bytes,
        }
    }
}

/// A connection that nobody has shown the token on yet.
pub struct Handshake {
    pub stream: TcpStream,
    since: Instant,
    stage: Stage,
}

impl Handshake {
    /// Fails where the connection is gone already.
    pub fn new(stream: TcpStream, now: Instant) -> io::Result<Handshake> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Handshake { stream, since: now, stage: Stage::Request(Vec::new()) })
    }

    /// Whether its request is not there yet: the first to go where there are too many.
    pub fn is_without_request(&self) -> bool {
        matches!(self.stage, Stage::Request(_))
    }

    /// Finds whether its answer is sent, or some of it is to be.
    pub fn is_answered(&self) -> bool {
        !self.is_without_request()
    }

    /// Does what can be done without waiting.
    pub fn step(&mut self, own: &Own, now: Instant) -> Step {
        let age = now.saturating_duration_since(self.since);
        let stepped = match &mut self.stage {
            Stage::Request(_) => self.read_request(own, age),
            Stage::Answer { .. } => self.send_answer(now),
            Stage::Rest { left, .. } => read_away(&mut self.stream, left),
        };
        let over = match self.stage {
            Stage::Rest { since, .. } => is_over(since, now, REST_SECONDS_MAX),
            _ => is_over(self.since, now, ANSWER_SECONDS_MAX),
        };
        match stepped {
            Ok(Step::Waits) if over => Step::Ended,
            // Whoever goes on sending is not waited for either.
            Ok(Step::Moved) if over && matches!(self.stage, Stage::Rest { .. }) => Step::Ended,
            Ok(step) => step,
            Err(_) => Step::Ended,
        }
    }

    fn read_request(&mut self, own: &Own, age: Duration) -> io::Result<Step> {
        let Stage::Request(bytes) = &mut self.stage else { return Ok(Step::Moved) };
        let mut piece = [0; 2048];
        match self.stream.read(&mut piece) {
            Ok(0) => return Ok(Step::Ended),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(reason) if would_wait(&reason) => {
                if age > Duration::from_secs_f64(REQUEST_SECONDS_MAX) {
                    return Ok(self.refuse(408, "the request did not come in time"));
                }
                return Ok(Step::Waits);
            }
            Err(reason) => return Err(reason),
        }
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            let head = std::mem::take(bytes);
            return self.answer((own.answer)(own, &head), rest);
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Ok(self.refuse(431, "the request is too long"));
        }
        // However little comes at a time, it is for all of it.
        if age > Duration::from_secs_f64(REQUEST_SECONDS_MAX) {
            return Ok(self.refuse(408, "the request did not come in time"));
        }
        Ok(Step::Moved)
    }

    fn answer(&mut self, answer: Answer, rest: Vec<u8>) -> io::Result<Step> {
        match answer {
            Answer::File(kind, bytes) => Ok(self.send(200, kind, Content::File(bytes))),
            Answer::Refuse(status, message) => Ok(self.refuse(status, &message)),
            Answer::Connect(key) => {
                // Nothing was sent yet: there is room for these few bytes.
                self.stream.write_all(request::switching(&key).as_bytes())?;
                self.stream.set_nonblocking(false)?;
                Ok(Step::Connected(rest))
            }
        }
    }

    fn refuse(&mut self, status: u16, message: &str) -> Step {
        let text = format!("{message}\n").into_bytes();
        self.send(status, "text/plain; charset=utf-8", Content::Text(text))
    }

    fn send(&mut self, status: u16, kind: &str, content: Content) -> Step {
        let lines = request::lines(status, kind, content.bytes().len()).into_bytes();
        self.stage = Stage::Answer { lines, content, sent: 0 };
        Step::Moved
    }

    fn send_answer(&mut self, now: Instant) -> io::Result<Step> {
        let Stage::Answer { lines, content, sent } = &mut self.stage else {
            return Ok(Step::Moved);
        };
        let content = content.bytes();
        let left = match sent.checked_sub(lines.len()) {
            None => &lines[*sent..],
            Some(at) => &content[at..],
        };
        if left.is_empty() {
            self.stream.shutdown(Shutdown::Write)?;
            self.stage = Stage::Rest { since: now, left: REST_BYTES_MAX };
            return Ok(Step::Moved);
        }
        match self.stream.write(left) {
            Ok(0) => Ok(Step::Ended),
            Ok(count) => {
                *sent += count;
                Ok(Step::Moved)
            }
            Err(reason) if would_wait(&reason) => Ok(Step::Waits),
            Err(reason) => Err(reason),
        }
    }
}

fn is_over(since: Instant, now: Instant, seconds: f64) -> bool {
    now.saturating_duration_since(since) > Duration::from_secs_f64(seconds)
}

fn read_away(stream: &mut TcpStream, left: &mut usize) -> io::Result<Step> {
    let mut piece = [0; 4096];
    match stream.read(&mut piece) {
        Ok(0) => Ok(Step::Ended),
        Ok(count) if count > *left => Ok(Step::Ended),
        Ok(count) => {
            *left -= count;
            Ok(Step::Moved)
        }
        Err(reason) if would_wait(&reason) => Ok(Step::Waits),
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

    struct Pair {
        client: TcpStream,
        server: Handshake,
        begun: Instant,
        own: Own,
    }

    impl Pair {
        fn new() -> Pair {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let begun = Instant::now();
            let server = Handshake::new(listener.accept().unwrap().0, begun).unwrap();
            Pair { client, server, begun, own: Own::new(port, TOKEN) }
        }

        /// Steps at a time after the beginning, until there is nothing more to do at that time.
        fn step_at(&mut self, seconds: f64) -> Step {
            let at = self.begun + Duration::from_secs_f64(seconds);
            loop {
                match self.server.step(&self.own, at) {
                    Step::Moved => {}
                    other => return other,
                }
            }
        }

        /// What the client sent has arrived.
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
    fn a_request_has_a_second_in_all_however_slowly_it_drips() {
        let mut pair = Pair::new();
        for i in 0..9 {
            pair.send(b"G");
            assert_eq!(pair.step_at(f64::from(i) * 0.1), Step::Waits);
            assert!(pair.server.is_without_request());
        }
        pair.send(b"G");
        assert_eq!(pair.step_at(REQUEST_SECONDS_MAX + 0.01), Step::Waits, "it is answered");
        assert!(!pair.server.is_without_request());
        assert_eq!(pair.step_at(ANSWER_SECONDS_MAX + 0.01), Step::Ended);
        assert!(pair.answered().starts_with("HTTP/1.1 408 "));
    }

    #[test]
    fn a_connection_that_says_nothing_is_answered_after_a_second_and_ends() {
        let mut pair = Pair::new();
        assert_eq!(pair.step_at(REQUEST_SECONDS_MAX - 0.01), Step::Waits);
        assert_eq!(pair.step_at(REQUEST_SECONDS_MAX + 0.01), Step::Waits);
        pair.client.shutdown(Shutdown::Write).unwrap();
        pair.server.stream.set_nonblocking(false).unwrap();
        assert_eq!(pair.step_at(REQUEST_SECONDS_MAX + 0.02), Step::Ended);
        assert!(pair.answered().starts_with("HTTP/1.1 408 "));
    }

    #[test]
    fn a_request_that_is_too_long_is_refused_before_it_ends() {
        let mut pair = Pair::new();
        pair.send(&vec![b'x'; HEAD_BYTES_MAX + 4096]);
        while pair.server.is_without_request() {
            assert_ne!(pair.step_at(0.1), Step::Ended);
        }
        assert!(pair.answered().starts_with("HTTP/1.1 431 "));
    }

    #[test]
    fn a_file_is_sent_whole_to_one_who_reads_and_one_who_does_not_holds_nobody_up() {
        let mut pair = Pair::new();
        let head = format!("GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", pair.own.port);
        pair.send(head.as_bytes());
        assert_eq!(pair.step_at(0.1), Step::Waits);
        let answer = pair.answered();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let mut pair = Pair::new();
        pair.send(head.replace(&head[head.find("Host").unwrap()..], "\r\n").as_bytes());
        assert_eq!(pair.step_at(0.1), Step::Waits);
        assert_eq!(pair.step_at(ANSWER_SECONDS_MAX + 0.01), Step::Ended);
        assert!(pair.answered().starts_with("HTTP/1.1 403 "));
    }

    #[test]
    fn whoever_is_answered_and_stays_has_a_second_even_if_it_goes_on_sending() {
        for goes_on in [false, true] {
            let mut pair = Pair::new();
            let port = pair.own.port;
            let head = format!("GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
            pair.send(head.as_bytes());
            assert_eq!(pair.step_at(0.1), Step::Waits);
            assert!(pair.server.is_answered());
            assert_eq!(pair.step_at(0.1 + REST_SECONDS_MAX - 0.01), Step::Waits);
            if goes_on {
                pair.send(&[b'x'; 100]);
            }
            assert_eq!(pair.step_at(0.1 + REST_SECONDS_MAX + 0.01), Step::Ended);
            assert!(pair.answered().starts_with("HTTP/1.1 200 OK\r\n"));
        }
    }

    #[test]
    fn with_the_token_it_is_connected_with_what_came_behind() {
        let mut pair = Pair::new();
        let port = pair.own.port;
        let head = format!(
            "GET /connection?token={TOKEN} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nbehind"
        );
        pair.send(head.as_bytes());
        assert_eq!(pair.step_at(0.1), Step::Connected(b"behind".to_vec()));
        assert!(pair.answered().starts_with("HTTP/1.1 101 "));
    }
}
