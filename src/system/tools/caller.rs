//! The other side of the connection: a client, for `engine console` and for tests. One thread does
//! all; it waits as long as it is told to.

use super::session::Session;
use super::{MESSAGE_BYTES_MAX, json};
use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::Tree;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// How long a game may take to answer that the connection is open.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the game sent.
#[derive(Debug, PartialEq)]
pub enum Received {
    Message(Tree),
    Bytes(Vec<u8>),
    /// Nothing, in the time that was given.
    Nothing,
    /// It has ended the connection: why, where it said so.
    Ended(String),
}

/// A connection to a running game.
pub struct Caller {
    socket: WebSocket<TcpStream>,
    last_id: u64,
}

impl Caller {
    /// Connects to the game of a session.
    ///
    /// # Errors
    /// Where nobody is there, or it refuses.
    pub fn connect(session: &Session) -> Result<Caller, Error> {
        let gone = |reason: io::Error| {
            let process = session.process;
            error!("the game (process {process}) does not answer: {reason}: is it still running?")
        };
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, session.port)).map_err(gone)?;
        stream.set_nodelay(true).map_err(gone)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(gone)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(gone)?;
        let address = format!("ws://127.0.0.1:{}/connection?token={}", session.port, session.token);
        // The game sends more than it takes.
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX << 7))
            .max_frame_size(Some(MESSAGE_BYTES_MAX << 7));
        match tungstenite::client::client_with_config(address, stream, Some(config)) {
            Ok((socket, _)) => Ok(Caller { socket, last_id: 0 }),
            Err(reason) => Err(error!("the game does not let tools in: {reason}")),
        }
    }

    /// Sends a message: its number, which stands in the answer. `fields` join `type` and `id`.
    ///
    /// # Errors
    /// Where the connection has ended.
    pub fn send(&mut self, kind: &str, fields: Vec<(&str, Tree)>) -> Result<u64, Error> {
        self.last_id += 1;
        let mut entries = vec![
            ("type".to_string(), json::text(kind)),
            ("id".to_string(), Tree::Number(self.last_id as f64)),
        ];
        entries.extend(fields.into_iter().map(|(key, value)| (key.to_string(), value)));
        self.send_text(&json::write(&Tree::Object(entries)))?;
        Ok(self.last_id)
    }

    /// Sends a text as it is.
    ///
    /// # Errors
    /// As for [`Caller::send`].
    pub fn send_text(&mut self, text: &str) -> Result<(), Error> {
        let sent = self.socket.send(Message::text(text));
        sent.map_err(|reason| error!("the game ended the connection: {reason}"))
    }

    /// The next thing that the game sends, within a time.
    pub fn receive(&mut self, patience: Duration) -> Received {
        let ended = |reason: String| Received::Ended(reason);
        // A time of nothing means for ever to the system.
        let patience = patience.max(Duration::from_millis(1));
        if let Err(reason) = self.socket.get_ref().set_read_timeout(Some(patience)) {
            return ended(reason.to_string());
        }
        loop {
            return match self.socket.read() {
                Ok(Message::Text(text)) => match json::read(text.as_str()) {
                    Ok(tree) => Received::Message(tree),
                    Err(words) => ended(format!("it sent what is no JSON: {words}")),
                },
                Ok(Message::Binary(bytes)) => Received::Bytes(bytes.to_vec()),
                Ok(Message::Close(Some(frame))) => ended(frame.reason.as_str().to_string()),
                Ok(Message::Close(None)) => ended(String::new()),
                Ok(_) => continue,
                Err(tungstenite::Error::Io(reason))
                    if matches!(
                        reason.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    Received::Nothing
                }
                Err(reason) => ended(reason.to_string()),
            };
        }
    }

    /// Sends a message and waits for its answer. What comes meanwhile is handed to `other`.
    ///
    /// # Errors
    /// The answer's own words where it is an error's, and those of an end or of no answer.
    pub fn ask(
        &mut self,
        kind: &str,
        fields: Vec<(&str, Tree)>,
        patience: Duration,
        mut other: impl FnMut(Tree),
    ) -> Result<Tree, Tree> {
        let words = |words: &str| json::object([("message", json::text(words))]);
        let id = self.send(kind, fields).map_err(|error| words(&error.message))?;
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(words("the game did not answer in time"));
            }
            match self.receive(left) {
                Received::Message(tree) if tree.get("id") == Some(&Tree::Number(id as f64)) => {
                    let failed = tree.get("type") == Some(&json::text("error"));
                    return if failed { Err(tree) } else { Ok(tree) };
                }
                Received::Message(tree) => other(tree),
                Received::Bytes(_) | Received::Nothing => {}
                Received::Ended(reason) => {
                    return Err(words(&format!("the game ended the connection: {reason}")));
                }
            }
        }
    }
}
