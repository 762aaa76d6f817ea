//! Tests of malicious or faulty clients: the game plays on at full speed in any case.

use super::{COUNTING, GameProcess, WAIT_MAX, ask, check_running, eval, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use engine::system::remote::{CLIENTS_MAX, HANDSHAKES_MAX, MESSAGE_BYTES_MAX, WRITE_PATIENCE};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

fn socket(create_game: &GameProcess) -> TcpStream {
    let stream =
        TcpStream::connect(("127.0.0.1", create_game.session.port)).expect("the port is open");
    stream.set_read_timeout(Some(WAIT_MAX)).expect("it can be set");
    stream.set_write_timeout(Some(WAIT_MAX)).expect("it can be set");
    stream
}

/// Returns a request: the header fields that a WebSocket needs, with some replaced by others.
fn request(create_game: &GameProcess, path: &str, others: &[(&str, &str)]) -> String {
    let host = format!("127.0.0.1:{}", create_game.session.port);
    let fields = [
        ("Host", host.as_str()),
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let kept = fields.iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    let lines = kept.chain(others).map(|(name, value)| format!("{name}: {value}\r\n"));
    format!("GET {path} HTTP/1.1\r\n{}\r\n", lines.collect::<String>())
}

/// Sends a request and returns the first line of the reply.
fn status(create_game: &GameProcess, request: &str) -> String {
    let mut stream = socket(create_game);
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    let mut piece = [0; 1024];
    while !answer.contains(&b'\n') {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(reason) => panic!("{reason}"),
        }
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.lines().next().unwrap_or_default().to_string()
}

/// Opens a WebSocket for raw bytes.
fn open(create_game: &GameProcess) -> TcpStream {
    let path = format!("/connection?token={}", create_game.session.token);
    let mut stream = socket(create_game);
    stream.write_all(request(create_game, &path, &[]).as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("it is answered");
        answer.push(byte[0]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
    stream
}

/// Returns the header of a text message of this many bytes, masked with zeros.
fn head(bytes: u64) -> Vec<u8> {
    [&[0x81, 0x80 | 127][..], &bytes.to_be_bytes(), &[0; 4]].concat()
}

#[test]
fn unauthorized_clients_are_refused() {
    let create_game = GameProcess::start("strangers", COUNTING);
    let path = format!("/connection?token={}", create_game.session.token);
    let port = create_game.session.port;
    let open =
        |others: &[(&str, &str)]| status(&create_game, &request(&create_game, &path, others));
    let forbidden = "HTTP/1.1 403 Forbidden";
    assert_eq!(open(&[]), "HTTP/1.1 101 Switching Protocols");
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(open(&[("Origin", &own)]), "HTTP/1.1 101 Switching Protocols");
    // A page from another origin.
    assert_eq!(open(&[("Origin", "https://evil.example")]), forbidden);
    assert_eq!(open(&[("Origin", "null")]), forbidden);
    assert_eq!(
        open(&[("Origin", &format!("http://127.0.0.1:{}", port.wrapping_add(1)))]),
        forbidden
    );
    // A foreign host name that resolves to this machine (DNS rebinding).
    let rebound = format!("rebound.example:{port}");
    assert_eq!(open(&[("Host", &rebound)]), forbidden);
    assert_eq!(open(&[("Host", &rebound), ("Origin", &format!("http://{rebound}"))]), forbidden);
    let wrong = "/connection?token=0123456789abcdef0123456789abcdef";
    assert_eq!(status(&create_game, &request(&create_game, wrong, &[])), forbidden);
    assert_eq!(status(&create_game, &request(&create_game, "/connection", &[])), forbidden);
    assert_eq!(status(&create_game, &request(&create_game, "/", &[])), forbidden);
    assert_eq!(status(&create_game, "nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    let mut other = create_game.session.clone();
    other.token = "0".repeat(32);
    let message = RemoteClient::connect(&other).err().expect("it is refused").message;
    assert!(message.starts_with("the game does not let tools in"), "{message}");
    check_running(&mut create_game.connect());
}

#[test]
fn port_listens_only_on_loopback() {
    let create_game = GameProcess::start("loopback", COUNTING);
    // Every address of 127.0.0.0/8 is this machine, but the server listens only on one of them.
    let elsewhere = std::net::SocketAddr::from(([127, 0, 0, 2], create_game.session.port));
    assert!(TcpStream::connect_timeout(&elsewhere, Duration::from_secs(5)).is_err());
    check_running(&mut create_game.connect());
}

#[test]
fn message_of_100_mb_is_refused() {
    let create_game = GameProcess::start("long", COUNTING);
    let mut stream = open(&create_game);
    stream.write_all(&head(100 << 20)).expect("it is sent");
    let piece = vec![b' '; 1 << 16];
    let end = Instant::now() + WAIT_MAX;
    let mut sent = 0usize;
    while stream.write_all(&piece).is_ok() {
        sent += piece.len();
        assert!(sent < 64 << 20 && Instant::now() < end, "it takes {sent} bytes");
    }
    // A client with a slightly too long message receives the reason.
    let mut client = create_game.connect();
    let long = json::write(&json::object([("type", json::text("x".repeat(MESSAGE_BYTES_MAX)))]));
    // The connection may be closed while the message is being sent.
    let _ = client.send_text(&long);
    loop {
        match client.receive(WAIT_MAX) {
            ClientMessage::Ended(message) => {
                let cut = message.contains("reset") || message.contains("Broken pipe");
                assert!(message.contains("may have at most 1048576 bytes") || cut, "{message}");
                break;
            }
            ClientMessage::Nothing => panic!("it is not cut off"),
            _ => {}
        }
    }
    check_running(&mut create_game.connect());
}

#[test]
fn long_messages_do_not_block_the_game() {
    let create_game = GameProcess::start("values", COUNTING);
    let mut client = create_game.connect();
    let ones = format!("{{\"type\": \"status\", \"id\": 1, \"x\": [{}1]}}", "1,".repeat(500_000));
    client.send_text(&ones).expect("it is sent");
    let ClientMessage::Message(ask_refused) = client.receive(WAIT_MAX) else { panic!("no answer") };
    assert_eq!(
        text(&ask_refused, "message"),
        "the message has 500005 values, and 4096 are allowed"
    );
    // The maximum depth of messages. The reader's thread has a small stack.
    let deep = format!("{{\"type\": \"status\", \"x\": {}{}}}", "[".repeat(99), "]".repeat(99));
    client.send_text(&deep).expect("it is sent");
    let ClientMessage::Message(ask_refused) = client.receive(WAIT_MAX) else { panic!("no answer") };
    assert_eq!(text(&ask_refused, "message"), "'status' has no field 'x'");
    // A long text is one value.
    let long = format!("#[[{}]]", "x".repeat(900_000));
    assert_eq!(eval(&mut client, &long), "900000");
    check_running(&mut client);
}

#[test]
fn incomplete_requests_do_not_block_others() {
    let create_game = GameProcess::start("half", COUNTING);
    let mut halves = Vec::new();
    for _ in 0..5 {
        let mut message = open(&create_game);
        message.write_all(&head(1000)).expect("it is sent");
        message.write_all(b"{\"type\": \"ev").expect("it is sent");
        let mut request = socket(&create_game);
        request.write_all(b"GET /connection HTTP/1.1\r\nHost: 127").expect("it is sent");
        halves.extend([message, request]);
    }
    let mut client = create_game.connect();
    check_running(&mut client);
    drop(halves);
    check_running(&mut client);
}

/// Opens connections that never become clients: they send nothing, half a request, or do not read
/// the reply.
fn open_unauthorized(create_game: &GameProcess, count: usize) -> Vec<TcpStream> {
    let host = format!("127.0.0.1:{}", create_game.session.port);
    let page = format!("GET /uplot.js HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let requests = ["", "GET /connection HTTP/1.1\r\nHost: 127", &page];
    let open = |i: usize| {
        let mut stream = socket(create_game);
        // The server may have closed the connection already.
        let _ = stream.write_all(requests[i % requests.len()].as_bytes());
        stream
    };
    (0..count).map(open).collect()
}

/// Maximum time for a tool's connection and one reply, regardless of other connections. The time
/// limit is a guarantee, so it is measured: slots are freed after a second at the latest, while a
/// tool that is kept out would wait for five seconds or more. The rest is for a busy machine.
const REPLY_TIME_MAX: Duration = Duration::from_millis(4000);

/// Checks that a tool can connect and receives a reply in time.
fn check_prompt_reply(create_game: &GameProcess) {
    let began = Instant::now();
    let mut client = create_game.connect();
    assert_eq!(eval(&mut client, "1 + 1"), "2");
    let took = began.elapsed();
    assert!(took < REPLY_TIME_MAX, "a tool waited for {took:?}");
}

#[test]
fn half_open_connections_do_not_block_tools() {
    let create_game = GameProcess::start("half-open", COUNTING);
    let mut open = open_unauthorized(&create_game, HANDSHAKES_MAX + 100);
    for _ in 0..5 {
        check_prompt_reply(&create_game);
        check_running(&mut create_game.connect());
        open.extend(open_unauthorized(&create_game, 50));
    }
    let mut client = create_game.connect();
    let ask_refused = super::number(&ask(&mut client, "status", vec![]), "refused");
    assert!(ask_refused >= 200.0, "those that gave way are counted: {ask_refused}");
    drop(open);
    check_running(&mut client);
}

#[test]
fn idle_unauthorized_connections_do_not_block_tools() {
    let create_game = GameProcess::start("answered", COUNTING);
    let host = format!("127.0.0.1:{}", create_game.session.port);
    let page = format!("GET /uplot.js HTTP/1.1\r\nHost: {host}\r\n\r\n");
    for _ in 0..3 {
        let mut open = Vec::new();
        for _ in 0..HANDSHAKES_MAX {
            let mut stream = socket(&create_game);
            // The server may have closed the connection already.
            let _ = stream.write_all(page.as_bytes());
            open.push(stream);
        }
        // A slow client: it is the newest connection, and has not sent a request yet.
        let mut client = socket(&create_game);
        std::thread::sleep(Duration::from_millis(50));
        let path = format!("/connection?token={}", create_game.session.token);
        client.write_all(request(&create_game, &path, &[]).as_bytes()).expect("it is sent");
        let mut answer = [0; 12];
        client.read_exact(&mut answer).expect("it is not kept out");
        assert_eq!(&answer, b"HTTP/1.1 101");
        check_prompt_reply(&create_game);
    }
}

#[test]
fn connection_flood_does_not_block_tools() {
    let create_game = GameProcess::start("flooded", COUNTING);
    let ended = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut open = std::collections::VecDeque::new();
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                open.extend(open_unauthorized(&create_game, 3));
                open.drain(..open.len().saturating_sub(300));
            }
        });
        for _ in 0..20 {
            check_running(&mut create_game.connect());
        }
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn endlessly_pinging_client_is_disconnected() {
    let create_game = GameProcess::start("pings", COUNTING);
    let mut client = create_game.connect();
    let mut pings = open(&create_game);
    let ping = [&[0x89, 0x80 | 125, 0, 0, 0, 0][..], &[b'x'; 125]].concat();
    let many = ping.repeat(1000);
    let end = Instant::now() + WAIT_MAX;
    while pings.write_all(&many).is_ok() {
        assert!(Instant::now() < end, "it is still there");
    }
    check_running(&mut client);
}

#[test]
fn invalid_frame_closes_only_its_connection() {
    let create_game = GameProcess::start("no-frame", COUNTING);
    let mut client = create_game.connect();
    let closes = |bytes: &[u8]| {
        let mut stream = open(&create_game);
        stream.write_all(bytes).expect("it is sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it is closed");
        assert_eq!(answer.first(), Some(&0x88), "{bytes:?}: {answer:?}");
        u16::from_be_bytes([answer[2], answer[3]])
    };
    // Reserved bits, an unmasked message, bytes that are not text, a binary message.
    assert_eq!(closes(&[0xff; 20]), 1002);
    assert_eq!(closes(&[0x81, 2, b'{', b'}']), 1002);
    assert_eq!(closes(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]), 1002);
    assert_eq!(closes(&[0x82, 0x81, 0, 0, 0, 0, 1]), 1003);
    check_running(&mut client);
}

/// A game that prints 600 KB in a frame.
const VERBOSE: &str = "function update()\n  for i = 1, 150 do print(('x'):rep(4000)) end\nend\n";

#[test]
fn client_that_never_reads_is_disconnected() {
    let create_game = GameProcess::start("deaf", VERBOSE);
    let mut deaf = open(&create_game);
    let message = b"{\"type\": \"subscribe\", \"stream\": \"log\"}";
    let frame = [&[0x81, 0x80 | message.len() as u8, 0, 0, 0, 0][..], message].concat();
    deaf.write_all(&frame).expect("it is sent");
    let mut client = create_game.connect();
    let end = Instant::now() + WRITE_PATIENCE + WAIT_MAX;
    loop {
        let status = ask(&mut client, "status", vec![]);
        if status.get("clients") == Some(&SjsonTree::Number(1.0)) {
            break;
        }
        assert!(Instant::now() < end, "it is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
    check_running(&mut client);
}

#[test]
fn messages_dropped_for_slow_clients_are_counted() {
    let create_game = GameProcess::start("slow", VERBOSE);
    let mut client = create_game.connect();
    ask(&mut client, "subscribe", vec![("stream", json::text("log"))]);
    // It reads again before the server gives it up.
    std::thread::sleep(WRITE_PATIENCE / 2);
    let end = Instant::now() + WAIT_MAX;
    loop {
        match client.receive(WAIT_MAX) {
            ClientMessage::Message(message) if text(&message, "type") == "dropped" => break,
            ClientMessage::Message(_) => assert!(Instant::now() < end, "nothing was counted"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn clients_beyond_the_limit_are_refused() {
    let create_game = GameProcess::start("many", COUNTING);
    let mut callers: Vec<RemoteClient> = (0..50).map(|_| create_game.connect()).collect();
    for client in &mut callers {
        ask(client, "subscribe", vec![("stream", json::text("time_step"))]);
        ask(client, "subscribe", vec![("stream", json::text("log"))]);
        let every = ("every", SjsonTree::Number(0.01));
        ask(client, "subscribe", vec![("stream", json::text("profile")), every]);
    }
    // Clients that receive nothing in one frame come first in the next. Each client unsubscribes
    // before it waits for the others: on a slow machine, unread messages fill the socket, and the
    // game disconnects such a client after WRITE_PATIENCE.
    for client in &mut callers {
        super::inspection::wait_for_message(client, "profile");
        for stream in ["time_step", "log", "profile"] {
            ask(client, "unsubscribe", vec![("stream", json::text(stream))]);
        }
    }
    for (number, client) in callers.iter_mut().enumerate() {
        assert_eq!(eval(client, &format!("{number} + 1")), (number + 1).to_string());
    }
    for number in callers.len()..CLIENTS_MAX {
        let mut client = create_game.connect();
        // A connection exists before its place is taken. A client that receives an answer has one.
        assert_eq!(eval(&mut client, &number.to_string()), number.to_string());
        callers.push(client);
    }
    let mut turned_away = create_game.connect();
    match turned_away.receive(WAIT_MAX) {
        ClientMessage::Ended(message) => assert!(message.contains("CLIENTS_MAX"), "{message}"),
        other => panic!("{other:?}"),
    }
    check_running(&mut callers[0]);
    drop(callers);
    let end = Instant::now() + WAIT_MAX;
    while RemoteClient::connect(&create_game.session)
        .map(|mut client| eval(&mut client, "1"))
        .is_err()
    {
        assert!(Instant::now() < end, "there is no room again");
    }
}

#[test]
fn client_disconnect_during_stream_is_ignored() {
    let create_game = GameProcess::start("gone", VERBOSE);
    for how in [Shutdown::Both, Shutdown::Read, Shutdown::Write] {
        let mut stream = open(&create_game);
        let message = b"{\"type\": \"subscribe\", \"stream\": \"log\"}";
        let frame = [&[0x81, 0x80 | message.len() as u8, 0, 0, 0, 0][..], message].concat();
        stream.write_all(&frame).expect("it is sent");
        let mut piece = [0; 5000];
        stream.read_exact(&mut piece).expect("it gets a message");
        stream.shutdown(how).expect("it is open");
    }
    check_running(&mut create_game.connect());
}

#[test]
fn flooding_client_delays_only_itself() {
    let create_game = GameProcess::start("flood", COUNTING);
    let mut flood = create_game.connect();
    let mut polite = create_game.connect();
    for _ in 0..2000 {
        flood.send("eval", vec![("text", json::text("1"))]).expect("it is sent");
    }
    assert_eq!(eval(&mut polite, "2"), "2");
    check_running(&mut polite);
    let mut answers = 0;
    while answers < 2000 {
        match flood.receive(WAIT_MAX) {
            ClientMessage::Message(_) => answers += 1,
            other => panic!("after {answers}: {other:?}"),
        }
    }
}
