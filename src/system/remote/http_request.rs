//! The first HTTP request of a browser or tool: checks, and the text of the answer. Works on text
//! alone; sockets are in handshake.rs and connection.rs.
//!
//! Three checks keep other pages and programs out. The Host must be this server by its number or as
//! `localhost`: a foreign name that resolves to this machine (DNS rebinding) is another Host. The
//! Origin, which browsers always send with a WebSocket, must be this server's own page. And the
//! client must know the token of this run. A page can check that the server knows the token, before
//! it sends the token (proof.rs).

use super::http_head::{HttpHead, NO_REQUEST, reason};
use super::page_files;
use super::proof::{self, PROOF};

/// The path of the WebSocket.
pub const CONNECTION: &str = "/connection";

/// The reply to a request.
#[derive(Debug, PartialEq)]
pub enum HttpReply {
    /// A file of the page: its MIME type and its bytes.
    File(&'static str, &'static [u8]),
    /// A text.
    Text(String),
    /// Opens a WebSocket, with this key.
    Connect(String),
    /// Refuses the request, with the status and a message.
    Refuse(u16, String),
}

/// Identity of this server, and the function that answers requests.
#[derive(Clone, Debug)]
pub struct ServerIdentity {
    pub port: u16,
    pub token: String,
    /// The function that answers the bytes of a request: [`answer`].
    pub answer: fn(&ServerIdentity, &[u8]) -> HttpReply,
}

impl ServerIdentity {
    pub fn new(port: u16, token: &str) -> ServerIdentity {
        ServerIdentity { port, token: token.to_string(), answer }
    }

    /// Returns the Host values that a request may use for this server.
    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port))
    }

    /// Returns true if a token is this run's. Every wrong token of the same length takes the same
    /// time.
    fn has_token(&self, token: &str) -> bool {
        let pairs = token.bytes().zip(self.token.bytes());
        token.len() == self.token.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}

/// Returns a header field, which may occur once at most.
fn field<'a>(head: &HttpHead<'a>, name: &str) -> Result<Option<&'a str>, HttpReply> {
    head.field(name).map_err(|message| refuse(400, message))
}

/// Returns a value in the query of a request.
fn query_value<'a>(head: &HttpHead<'a>, name: &str) -> &'a str {
    let mut pairs = head.query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
}

/// Returns the token in the query of a request.
fn token<'a>(head: &HttpHead<'a>) -> &'a str {
    query_value(head, "token")
}

fn refuse(status: u16, message: impl Into<String>) -> HttpReply {
    HttpReply::Refuse(status, message.into())
}

/// Returns the reply to a request, whose bytes go up to the empty line.
pub fn answer(own: &ServerIdentity, head: &[u8]) -> HttpReply {
    let Some(head) = HttpHead::parse(head) else { return refuse(400, NO_REQUEST) };
    check_request(own, &head).unwrap_or_else(|refused| refused)
}

fn check_request(own: &ServerIdentity, head: &HttpHead) -> Result<HttpReply, HttpReply> {
    let hosts = own.hosts();
    let host = field(head, "host")?.unwrap_or_default();
    if !hosts.iter().any(|known| known == host) {
        return Err(refuse(403, format!("the Host must be {}", hosts[0])));
    }
    if let Some(origin) = field(head, "origin")?
        && !hosts.iter().any(|host| origin.strip_prefix("http://") == Some(host))
    {
        return Err(refuse(403, "only the engine's own page may connect (Origin)"));
    }
    if head.method != "GET" {
        return Err(refuse(405, "only GET is answered"));
    }
    if head.path == CONNECTION {
        return connect(own, head);
    }
    if head.path == PROOF {
        let nonce = query_value(head, "nonce");
        if !proof::is_nonce(nonce) {
            return Err(refuse(400, "the nonce must have 32 hexadecimal digits"));
        }
        return Ok(HttpReply::Text(proof::proof(&own.token, own.port, nonce)));
    }
    if head.path == "/" && !own.has_token(token(head)) {
        let message =
            "the address lacks the game's token: take the address that the engine printed";
        return Err(refuse(403, message));
    }
    match page_files::file(head.path) {
        Some((kind, bytes)) => Ok(HttpReply::File(kind, bytes)),
        None => Err(refuse(404, "this page does not exist")),
    }
}

fn connect(own: &ServerIdentity, head: &HttpHead) -> Result<HttpReply, HttpReply> {
    let has = |name: &str, wanted: &str| {
        let value = field(head, name)?.unwrap_or_default();
        Ok(value.split(',').any(|word| word.trim().eq_ignore_ascii_case(wanted)))
    };
    if !has("upgrade", "websocket")? || !has("connection", "upgrade")? {
        return Err(refuse(426, "only a WebSocket can be opened here"));
    }
    if !has("sec-websocket-version", "13")? {
        return Err(refuse(426, "the WebSocket version must be 13"));
    }
    let key = field(head, "sec-websocket-key")?.unwrap_or_default();
    if key.len() != 24 || !key.ends_with("==") {
        return Err(refuse(400, "the WebSocket key is missing or wrong"));
    }
    if !own.has_token(token(head)) {
        return Err(refuse(403, "this is not the token of this run (.engine/session.json has it)"));
    }
    Ok(HttpReply::Connect(key.to_string()))
}

/// Header fields of all answers: the page cannot be framed, loads nothing from elsewhere, and sends
/// no referrer, because its address contains the token.
const FIELDS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
     X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
     Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: default-src 'self'; \
     img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; connect-src 'self' \
     ws://127.0.0.1:* ws://localhost:*; frame-ancestors 'none'; form-action 'none'; \
     base-uri 'none'\r\nConnection: close\r\n";

/// Returns the header lines of a plain answer, up to its content.
pub fn lines(status: u16, kind: &str, bytes: usize) -> String {
    let reason = reason(status);
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {bytes}\r\n\
         {FIELDS}\r\n"
    )
}

/// Returns the header lines that open a WebSocket.
pub fn switching(key: &str) -> String {
    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(path: &str, fields: &[(&str, &str)]) -> HttpReply {
        let own = ServerIdentity::new(4000, "abcd");
        let fields = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("GET {path} HTTP/1.1\r\n{}\r\n", fields.collect::<String>());
        answer(&own, head.as_bytes())
    }

    fn status(path: &str, fields: &[(&str, &str)]) -> u16 {
        match ask(path, fields) {
            HttpReply::Refuse(status, _) => status,
            HttpReply::Connect(_) => 101,
            HttpReply::File(..) | HttpReply::Text(_) => 200,
        }
    }

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
    const SOCKET: [(&str, &str); 5] = [
        ("Host", "127.0.0.1:4000"),
        ("Upgrade", "websocket"),
        ("Connection", "keep-alive, Upgrade"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", KEY),
    ];

    /// Returns the status of a WebSocket request with some header fields replaced or added.
    fn socket(others: &[(&'static str, &'static str)]) -> u16 {
        let kept = SOCKET.iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
        let fields: Vec<_> = kept.chain(others).copied().collect();
        status("/connection?token=abcd", &fields)
    }

    #[test]
    fn the_page_requires_the_token_and_the_local_host() {
        let host = [("Host", "127.0.0.1:4000")];
        assert_eq!(status("/?token=abcd", &host), 200);
        assert_eq!(status("/?x=1&token=abcd", &[("host", "localhost:4000")]), 200);
        assert_eq!(status("/page.css", &host), 200);
        assert_eq!(status("/nothing", &host), 404);
        assert_eq!(status("/../Cargo.toml", &host), 404);
        for path in ["/", "/?token=", "/?token=abce", "/?token=abcde", "/?TOKEN=abcd"] {
            assert_eq!(status(path, &host), 403, "{path}");
        }
        for host in ["", "127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "127.0.0.1:4000.x"] {
            assert_eq!(status("/?token=abcd", &[("Host", host)]), 403, "{host}");
        }
        assert_eq!(status("/?token=abcd", &[]), 403);
        assert_eq!(status("/?token=abcd", &[host[0], host[0]]), 400);
    }

    #[test]
    fn web_sockets_open_only_for_the_page_and_for_tools() {
        assert_eq!(ask("/connection?token=abcd", &SOCKET), HttpReply::Connect(KEY.into()));
        assert_eq!(status("/connection?token=no", &SOCKET), 403);
        assert_eq!(socket(&[("Origin", "http://127.0.0.1:4000")]), 101);
        assert_eq!(socket(&[("Origin", "http://localhost:4000")]), 101);
        for origin in ["https://evil.example", "null", "", "http://127.0.0.1:4001", "127.0.0.1"] {
            assert_eq!(socket(&[("Origin", Box::leak(origin.to_string().into_boxed_str()))]), 403);
        }
        assert_eq!(socket(&[("Host", "rebound.example:4000")]), 403);
        assert_eq!(socket(&[("Upgrade", "h2c")]), 426);
        assert_eq!(socket(&[("Sec-WebSocket-Version", "8")]), 426);
        assert_eq!(socket(&[("Sec-WebSocket-Key", "short")]), 400);
    }

    #[test]
    fn a_proof_needs_a_nonce_and_the_local_host() {
        let (host, nonce) = ([("Host", "127.0.0.1:4000")], "0123456789abcdef0123456789abcdef");
        let path = format!("/proof?nonce={nonce}");
        assert_eq!(ask(&path, &host), HttpReply::Text(proof::proof("abcd", 4000, nonce)));
        assert_eq!(status("/proof", &host), 400);
        assert_eq!(status("/proof?nonce=0123", &host), 400);
        assert_eq!(status(&path, &[("Host", "rebound.example:4000")]), 403);
        assert_eq!(status(&path, &[host[0], ("Origin", "https://evil.example")]), 403);
    }

    #[test]
    fn malformed_requests_are_refused() {
        let own = ServerIdentity::new(4000, "abcd");
        let check = |head: &[u8], wanted: u16| match answer(&own, head) {
            HttpReply::Refuse(status, _) => assert_eq!(status, wanted, "{head:?}"),
            other => panic!("{other:?}"),
        };
        check(b"", 400);
        check(b"GET / HTTP/2\r\n\r\n", 400);
        check(b"GET http://127.0.0.1:4000/ HTTP/1.1\r\n\r\n", 400);
        check(b"GET / HTTP/1.1\r\nno field\r\n\r\n", 400);
        check(b"GET / HTTP/1.1\r\n: x\r\n\r\n", 400);
        check(&[0xff, 0xfe], 400);
        check(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 405);
    }

    #[test]
    fn the_page_loads_only_files_of_this_server() {
        let head = lines(200, "text/html", 0);
        let policy = head.lines().find_map(|line| line.strip_prefix("Content-Security-Policy: "));
        let rules: Vec<&str> = policy.expect("there is one").split("; ").collect();
        for rule in [
            "default-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "connect-src 'self' ws://127.0.0.1:* ws://localhost:*",
        ] {
            assert!(rules.contains(&rule), "{rule}: {rules:?}");
        }
        let scripts = |rule: &&&str| rule.starts_with("script-src") || rule.contains("eval");
        assert_eq!(rules.iter().find(scripts), None, "scripts come from the server alone");
    }

    #[test]
    fn the_accept_key_matches_the_standard() {
        assert!(switching(KEY).contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    }
}
