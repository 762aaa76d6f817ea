//! Fuzz targets for the connection of remote tools to a running game: bytes of HTTP and WebSocket,
//! and messages. The sender need not be a real tool.

use super::game::{CompiledGame, can_continue, open, scene_arguments};
use super::{Target, scratch};
use engine::app::App;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::RemoteServer;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use engine::system::remote::endpoint_file::EndpointFile;
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

pub fn targets() -> Vec<Target> {
    let run = {
        let server = std::cell::OnceCell::new();
        move |bytes: &[u8]| {
            let server = server.get_or_init(|| {
                RemoteServer::open(scratch("tools"), None)
                    .expect("a port of this machine can be opened")
            });
            connect(server, bytes);
        }
    };
    let asked = RefCell::new(None);
    let ask = move |bytes: &[u8]| ask(&mut asked.borrow_mut(), bytes);
    vec![
        Target::new("tool.bytes", 2 << 10, run).sharing_game(),
        Target::new("tool.messages", 1 << 10, ask).sharing_game(),
    ]
}

/// Maximum number of times that the game is polled for its last reply, a millisecond each.
const POLLS_MAX: usize = 2000;

/// Sends each line as a message to a running game, and polls the game until all are answered.
fn ask(game: &mut Option<(App, RemoteClient)>, bytes: &[u8]) {
    let (mut app, mut client) = game.take().unwrap_or_else(|| {
        let compiled_game = CompiledGame::shared();
        let (mut app, _) = open(&compiled_game, &scene_arguments());
        app.start_remote_tools(compiled_game.folder.clone(), false).expect("tools are let in");
        let session = EndpointFile::read(&compiled_game.folder).expect("the game says where it is");
        (app, RemoteClient::connect(&session).expect("the game lets its tools in"))
    });
    for line in String::from_utf8_lossy(bytes).lines() {
        if client.send_text(line).is_err() {
            return;
        }
    }
    let Ok(last) = client.send("status", Vec::new()) else { return };
    let last = SjsonTree::Number(last as f64);
    for look in 0..POLLS_MAX {
        app.answer_tools(false);
        match client.receive(Duration::from_millis(1)) {
            ClientMessage::Message(tree) if tree.get("id") == Some(&last) => break,
            ClientMessage::Message(_) | ClientMessage::Bytes(_) | ClientMessage::Nothing => {}
            ClientMessage::Ended(_) => return,
        }
        assert!(look + 1 < POLLS_MAX, "the game does not answer");
    }
    let plays = can_continue(app.frame(1.0 / 60.0));
    app.end_frame();
    // A game that failed or was asked to end is not used for the next case.
    if plays && app.quit().is_none() {
        *game = Some((app, client));
    }
}

/// Sends bytes, in which PORT and TOKEN are replaced by this run's port and token, and reads the
/// reply.
fn connect(server: &RemoteServer, bytes: &[u8]) {
    let address = server.address();
    let token = address.rsplit_once("token=").map_or("", |(_, token)| token);
    let port = server.port().to_string();
    let sent = replaced(&replaced(bytes, b"PORT", port.as_bytes()), b"TOKEN", token.as_bytes());
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", server.port())) else { return };
    // An error means that the other side closed the connection, which is allowed.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(4)));
    let _ = stream.write_all(&sent).and_then(|()| stream.shutdown(Shutdown::Write));
    let _ = stream.read_to_end(&mut Vec::new());
    while server.take().is_some() {}
}

/// Returns the bytes with every occurrence of `from` replaced by `to`.
pub fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    match bytes.windows(from.len()).position(|window| window == from) {
        Some(at) => {
            let rest = replaced(&bytes[at + from.len()..], from, to);
            [&bytes[..at], to, &rest].concat()
        }
        None => bytes.to_vec(),
    }
}
