//! The client side of the tool connection, for `engine console` and for tests. It runs on one
//! thread, and blocks up to the timeouts that the caller passes.

use super::MESSAGE_BYTES_MAX;
use super::endpoint_file::EndpointFile;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// The most time that a game may take to confirm the connection.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A message from the game.
#[derive(Debug, PartialEq)]
pub enum ClientMessage {
    Message(SjsonTree),
    Bytes(Vec<u8>),
    /// No message arrived within the timeout.
    Nothing,
    /// The game has closed the connection; the text is its reason, if it sent one.
    Ended(String),
}

/// Waits for messages of a game on a thread of its own.
pub struct MessageArrivals(TcpStream);

impl MessageArrivals {
    /// Blocks until bytes of the game wait to be read. Returns false if the connection has ended.
    pub fn wait(&self) -> bool {
        loop {
            match self.0.peek(&mut [0]) {
                Ok(bytes) => return bytes > 0,
                Err(reason) => match reason.kind() {
                    io::ErrorKind::WouldBlock
                    | io::ErrorKind::TimedOut
                    | io::ErrorKind::Interrupted => {}
                    _ => return false,
                },
            }
        }
    }
}

/// A connection to a running game.
pub struct RemoteClient {
    socket: WebSocket<TcpStream>,
    last_id: u64,
}

impl RemoteClient {
    /// Connects to the game that an endpoint file describes.
    ///
    /// # Errors
    /// Returns an error if no game answers, or if the game refuses the connection.
    pub fn connect(session: &EndpointFile) -> Result<RemoteClient, Error> {
        let no_answer = |reason: io::Error| {
            let process = session.process;
            error!("the game (process {process}) does not answer: {reason}: is it still running?")
        };
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, session.port)).map_err(no_answer)?;
        stream.set_nodelay(true).map_err(no_answer)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(no_answer)?;
        stream.set_write_timeout(Some(TIMEOUT)).map_err(no_answer)?;
        let address = format!("ws://127.0.0.1:{}/connection?token={}", session.port, session.token);
        // Messages from the game are larger than messages to it.
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX << 7))
            .max_frame_size(Some(MESSAGE_BYTES_MAX << 7));
        match tungstenite::client::client_with_config(address, stream, Some(config)) {
            Ok((socket, _)) => Ok(RemoteClient { socket, last_id: 0 }),
            Err(reason) => Err(error!("the game does not let tools in: {reason}")),
        }
    }

    /// Sends a message and returns its id, which the answer repeats. `fields` are added to `type`
    /// and `id`.
    ///
    /// # Errors
    /// Returns an error if the connection has ended.
    pub fn send(&mut self, kind: &str, fields: Vec<(&str, SjsonTree)>) -> Result<u64, Error> {
        self.last_id += 1;
        let mut entries = vec![
            ("type".to_string(), json::text(kind)),
            ("id".to_string(), SjsonTree::Number(self.last_id as f64)),
        ];
        entries.extend(fields.into_iter().map(|(key, value)| (key.to_string(), value)));
        self.send_text(&json::write(&SjsonTree::Object(entries)))?;
        Ok(self.last_id)
    }

    /// Sends a text unchanged.
    ///
    /// # Errors
    /// The same as for [`RemoteClient::send`].
    pub fn send_text(&mut self, text: &str) -> Result<(), Error> {
        let sent = self.socket.send(Message::text(text));
        sent.map_err(|reason| error!("the game ended the connection: {reason}"))
    }

    /// Returns the next message of the game, or [`ClientMessage::Nothing`] after a timeout.
    pub fn receive(&mut self, timeout: Duration) -> ClientMessage {
        // The operating system treats a timeout of zero as infinite.
        let timeout = timeout.max(Duration::from_millis(1));
        if let Err(reason) = self.socket.get_ref().set_read_timeout(Some(timeout)) {
            return ClientMessage::Ended(reason.to_string());
        }
        self.read()
    }

    /// Returns the next message of the game if it has arrived. Must not be called while another
    /// thread waits in [`RemoteClient::arrivals`].
    pub fn receive_now(&mut self) -> ClientMessage {
        let mode = |client: &RemoteClient, on: bool| client.socket.get_ref().set_nonblocking(on);
        if let Err(reason) = mode(self, true) {
            return ClientMessage::Ended(reason.to_string());
        }
        let message = self.read();
        match mode(self, false) {
            Ok(()) => message,
            Err(reason) => ClientMessage::Ended(reason.to_string()),
        }
    }

    /// Returns a handle with which another thread can wait for messages.
    ///
    /// # Errors
    /// Returns an error if the system has no handle left.
    pub fn arrivals(&self) -> io::Result<MessageArrivals> {
        self.socket.get_ref().try_clone().map(MessageArrivals)
    }

    fn read(&mut self) -> ClientMessage {
        let ended = |reason: String| ClientMessage::Ended(reason);
        loop {
            return match self.socket.read() {
                Ok(Message::Text(text)) => match json::read(text.as_str()) {
                    Ok(tree) => ClientMessage::Message(tree),
                    Err(message) => ended(format!("it sent invalid JSON: {message}")),
                },
                Ok(Message::Binary(bytes)) => ClientMessage::Bytes(bytes.to_vec()),
                Ok(Message::Close(Some(frame))) => ended(frame.reason.as_str().to_string()),
                Ok(Message::Close(None)) => ended(String::new()),
                Ok(_) => continue,
                Err(tungstenite::Error::Io(reason))
                    if matches!(
                        reason.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    ClientMessage::Nothing
                }
                Err(reason) => ended(reason.to_string()),
            };
        }
    }

    /// Sends a message and waits for its answer. Other messages that arrive meanwhile are passed to
    /// `on_other_message`.
    ///
    /// # Errors
    /// Returns the answer if it is an error, or a message if the connection ends or no answer
    /// arrives in time.
    pub fn request(
        &mut self,
        kind: &str,
        fields: Vec<(&str, SjsonTree)>,
        timeout: Duration,
        mut on_other_message: impl FnMut(SjsonTree),
    ) -> Result<SjsonTree, SjsonTree> {
        let message_object = |message: &str| json::object([("message", json::text(message))]);
        let id = self.send(kind, fields).map_err(|error| message_object(&error.message))?;
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(message_object("the game did not answer in time"));
            }
            match self.receive(left) {
                ClientMessage::Message(tree)
                    if tree.get("id") == Some(&SjsonTree::Number(id as f64)) =>
                {
                    let failed = tree.get("type") == Some(&json::text("error"));
                    return if failed { Err(tree) } else { Ok(tree) };
                }
                ClientMessage::Message(tree) => on_other_message(tree),
                ClientMessage::Bytes(_) | ClientMessage::Nothing => {}
                ClientMessage::Ended(reason) => {
                    return Err(message_object(&format!(
                        "the game ended the connection: {reason}"
                    )));
                }
            }
        }
    }
}
