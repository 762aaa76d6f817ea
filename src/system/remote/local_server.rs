//! A server for a browser on this machine: accepts connections on 127.0.0.1, and reads the head of
//! one request from each. A request and its answer have a deadline each, and a connection without a
//! request gives its place to a newer one, so that no program on this machine holds the server up.
//! Knows no pages.

use super::http_head::{HEAD_BYTES_MAX, head_bytes, reason};
use engine_foundation::{log, panic};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of simultaneous connections.
const CONNECTIONS_MAX: usize = 32;
/// Maximum number of threads, also of connections that have lost their place and are about to end.
const THREADS_MAX: usize = 4 * CONNECTIONS_MAX;
/// Maximum time for the whole head of a request, and again for the whole answer.
const WAIT: Duration = Duration::from_secs(10);

/// A connection with a browser.
pub struct LocalConnection {
    stream: TcpStream,
    wait: Duration,
    slots: Arc<Mutex<ConnectionSlots>>,
    number: u64,
}

/// The open connections, by their numbers.
#[derive(Default)]
struct ConnectionSlots {
    /// Connections without a complete head, the oldest first.
    waiting: VecDeque<(u64, TcpStream)>,
    /// Connections with one.
    answered: Vec<u64>,
    threads: usize,
    last: u64,
}

/// An answer to a request.
pub struct LocalAnswer<'a> {
    pub status: u16,
    /// Content type of a text; its encoding is UTF-8.
    pub kind: &'a str,
    /// More header fields, each with a line end.
    pub fields: &'a str,
    pub body: &'a [u8],
    /// True if only the head was asked for.
    pub is_head: bool,
}

/// Opens a port. Returns it with its number.
///
/// # Errors
/// Returns a message if the system has no port.
pub fn listen() -> Result<(TcpListener, u16), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|reason| format!("no port can be opened: {reason}"))?;
    let port = listener.local_addr().map_err(|reason| reason.to_string())?.port();
    Ok((listener, port))
}

/// Accepts connections until the process ends. `exchange` answers one, on a thread of its own; a
/// browser that has disconnected needs no answer, so its errors are ignored.
pub fn serve(
    listener: &TcpListener,
    name: &str,
    exchange: impl Fn(&mut LocalConnection) -> io::Result<()> + Send + Sync + 'static,
) {
    let (exchange, slots) = (Arc::new(exchange), Arc::<Mutex<ConnectionSlots>>::default());
    for stream in listener.incoming().flatten() {
        // Without a place, a connection is closed at once, and the browser tries again.
        let number = lock(&slots).enter(&stream);
        let Some(number) = number else { continue };
        let mut connection = LocalConnection { stream, wait: WAIT, slots: slots.clone(), number };
        let exchange = exchange.clone();
        // The place is free when the connection is dropped, also after a panic.
        let answer = move || {
            if let Err(error) = panic::contain(|| exchange(&mut connection)) {
                log::error(&format!("a page was not sent: {error}"));
            }
        };
        if let Err(reason) = panic::spawn(name, answer) {
            log::error(&format!("a page was not sent: no thread is left: {reason}"));
        }
    }
}

fn lock(slots: &Mutex<ConnectionSlots>) -> MutexGuard<'_, ConnectionSlots> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ConnectionSlots {
    /// Returns the number of a new connection, or `None` if it has no place. At the limit, the
    /// oldest connection without a complete head ends.
    fn enter(&mut self, stream: &TcpStream) -> Option<u64> {
        if self.threads >= THREADS_MAX {
            return None;
        }
        let handle = stream.try_clone().ok()?;
        if self.waiting.len() + self.answered.len() >= CONNECTIONS_MAX {
            let (_, oldest) = self.waiting.pop_front()?;
            // Its thread reads the end of the request. It may have ended by itself.
            let _ = oldest.shutdown(Shutdown::Read);
        }
        self.threads += 1;
        self.last += 1;
        self.waiting.push_back((self.last, handle));
        Some(self.last)
    }

    /// Keeps the place of a connection, whose head is complete.
    fn keep(&mut self, number: u64) {
        self.waiting.retain(|(waiting, _)| *waiting != number);
        self.answered.push(number);
    }

    fn leave(&mut self, number: u64) {
        self.waiting.retain(|(waiting, _)| *waiting != number);
        self.answered.retain(|answered| *answered != number);
        self.threads = self.threads.saturating_sub(1);
    }
}

impl Drop for LocalConnection {
    fn drop(&mut self) {
        lock(&self.slots).leave(self.number);
    }
}

impl LocalConnection {
    /// Reads the head of a request. Returns `None` if the browser sends none, or a too long one.
    ///
    /// # Errors
    /// Returns an error if the head is not complete within the deadline.
    pub fn read_head(&mut self) -> io::Result<Option<Vec<u8>>> {
        let end = Instant::now() + self.wait;
        let mut bytes = Vec::new();
        loop {
            let mut piece = [0; 2048];
            self.stream.set_read_timeout(Some(time_left(end)?))?;
            let count = self.stream.read(&mut piece)?;
            // The empty line can begin in the piece before.
            let from = bytes.len().saturating_sub(3);
            bytes.extend_from_slice(&piece[..count]);
            if let Some(length) = head_bytes(&bytes[from..]) {
                bytes.truncate(from + length);
                lock(&self.slots).keep(self.number);
                return Ok(Some(bytes));
            }
            if count == 0 || bytes.len() > HEAD_BYTES_MAX {
                return Ok(None);
            }
        }
    }

    /// Sends an answer, and ends the connection.
    ///
    /// # Errors
    /// Returns an error if the browser does not take all of it within the deadline.
    pub fn answer(&mut self, answer: &LocalAnswer) -> io::Result<()> {
        let LocalAnswer { status, kind, fields, body, is_head } = *answer;
        let head = format!(
            "HTTP/1.1 {status} {}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n{fields}\
             Connection: close\r\n\r\n",
            reason(status),
            body.len()
        );
        let end = Instant::now() + self.wait;
        for mut bytes in [head.as_bytes(), if is_head { &[] } else { body }] {
            while !bytes.is_empty() {
                self.stream.set_write_timeout(Some(time_left(end)?))?;
                match self.stream.write(bytes)? {
                    0 => return Err(ErrorKind::WriteZero.into()),
                    count => bytes = &bytes[count..],
                }
            }
        }
        Ok(())
    }
}

/// Returns the time until a deadline.
fn time_left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    // A timeout of zero would mean none.
    match left.is_zero() {
        true => Err(ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Returns both ends of a connection.
    fn pair(wait: Duration) -> (TcpStream, LocalConnection) {
        let (listener, port) = listen().unwrap();
        let client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let (stream, _) = listener.accept().unwrap();
        (client, LocalConnection { stream, wait, slots: Arc::default(), number: 0 })
    }

    #[test]
    fn idle_connections_make_room_for_new_ones() {
        let (listener, port) = listen().unwrap();
        let exchange = |connection: &mut LocalConnection| {
            let Some(_) = connection.read_head()? else { return Ok(()) };
            let (kind, body) = ("text/plain", &b"served"[..]);
            connection.answer(&LocalAnswer { status: 200, kind, fields: "", body, is_head: false })
        };
        thread::spawn(move || serve(&listener, "local-server-test", exchange));
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let mut idle: Vec<TcpStream> = (0..2 * CONNECTIONS_MAX).map(|_| connect()).collect();
        for _ in 0..3 {
            let (mut client, mut text) = (connect(), String::new());
            client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            client.read_to_string(&mut text).unwrap();
            assert!(text.ends_with("served"), "{text}");
        }
        let mut byte = [0];
        assert_eq!(idle[0].read(&mut byte).unwrap(), 0, "the oldest connection has ended");
        let last = idle.last_mut().unwrap();
        last.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(last.read(&mut byte).is_err(), "a newer one waits");
    }

    #[test]
    fn a_slow_head_ends_at_its_deadline() {
        let (mut client, mut connection) = pair(Duration::from_millis(300));
        let sender = thread::spawn(move || {
            // Each byte alone would be in time.
            while client.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
        let start = Instant::now();
        assert!(connection.read_head().is_err());
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        drop(connection);
        sender.join().unwrap();
    }

    #[test]
    fn a_slow_reader_ends_the_answer_at_its_deadline() {
        let (_client, mut connection) = pair(Duration::from_millis(300));
        let body = vec![b'x'; 64 << 20];
        let (kind, body) = ("text/html", &body[..]);
        let answer = LocalAnswer { status: 200, kind, fields: "", body, is_head: false };
        let start = Instant::now();
        assert!(connection.answer(&answer).is_err());
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }

    #[test]
    fn heads_are_read_in_pieces_up_to_their_limit() {
        let (mut client, mut connection) = pair(Duration::from_secs(10));
        let sender = thread::spawn(move || {
            for piece in ["GET / HTTP/1.1\r\nHost: a\r\n", "\r", "\nrest"] {
                client.write_all(piece.as_bytes()).unwrap();
                thread::sleep(Duration::from_millis(20));
            }
            client
        });
        let head = connection.read_head().unwrap().unwrap();
        assert_eq!(head, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        drop(sender.join().unwrap());
        let (mut client, mut connection) = pair(Duration::from_secs(10));
        client.write_all(&vec![b'x'; HEAD_BYTES_MAX + 1]).unwrap();
        assert_eq!(connection.read_head().unwrap(), None);
    }
}
