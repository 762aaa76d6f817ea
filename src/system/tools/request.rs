//! What a browser or a tool asks for first: an HTTP request, its checks, the answer's text. Reads
//! text alone; sockets are in peer.rs.
//!
//! Three checks keep other pages and programs away. The Host must be this server by its number or
//! as `localhost`: a name of elsewhere that was made to lead here (DNS rebinding) is another Host.
//! The Origin, which browsers always send with a WebSocket, must be this server's own page. And
//! whoever connects knows the token of this run.

use super::page;

/// The most bytes of a request, up to its empty line.
pub const HEAD_BYTES_MAX: usize = 16 << 10;

/// The path at which messages are exchanged.
pub const CONNECTION: &str = "/connection";

/// What is done with a request.
#[derive(Debug, PartialEq)]
pub enum Answer {
    /// A file of the page: its kind for browsers, and its bytes.
    File(&'static str, &'static [u8]),
    /// A WebSocket begins, with this key.
    Connect(String),
    /// Nothing, with the status and the words.
    Refuse(u16, String),
}

/// Who this server is, and how it answers.
#[derive(Clone, Debug)]
pub struct Own {
    pub port: u16,
    pub token: String,
    /// The function that decides about the bytes of a request: [`answer`].
    pub answer: fn(&Own, &[u8]) -> Answer,
}

impl Own {
    pub fn new(port: u16, token: &str) -> Own {
        Own { port, token: token.to_string(), answer }
    }

    /// What a request may call this server.
    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port))
    }

    /// Whether a token is this run's. Takes as long for every wrong one of the same length.
    fn knows(&self, token: &str) -> bool {
        let pairs = token.bytes().zip(self.token.bytes());
        token.len() == self.token.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}

/// The lines of a request, taken apart.
struct Head<'a> {
    method: &'a str,
    path: &'a str,
    query: &'a str,
    fields: Vec<(String, &'a str)>,
}

impl<'a> Head<'a> {
    fn parse(text: &'a str) -> Option<Head<'a>> {
        let mut lines = text.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target, version) = (first.next()?, first.next()?, first.next()?);
        if !version.starts_with("HTTP/1.") || first.next().is_some() || !target.starts_with('/') {
            return None;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut fields = Vec::new();
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':')?;
            let letters = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            if name.is_empty() || !name.chars().all(letters) {
                return None;
            }
            fields.push((name.to_ascii_lowercase(), value.trim()));
        }
        Some(Head { method, path, query, fields })
    }

    /// A field that stands there once at most.
    fn field(&self, name: &str) -> Result<Option<&'a str>, Answer> {
        let mut found = self.fields.iter().filter(|(known, _)| known == name);
        let first = found.next().map(|(_, value)| *value);
        match found.next() {
            Some(_) => Err(refuse(400, format!("the field {name} stands there twice"))),
            None => Ok(first),
        }
    }

    fn token(&self) -> &'a str {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == "token").map_or("", |(_, value)| value)
    }
}

fn refuse(status: u16, words: impl Into<String>) -> Answer {
    Answer::Refuse(status, words.into())
}

/// What is done with a request, given by its lines up to the empty one.
pub fn answer(own: &Own, head: &[u8]) -> Answer {
    let head = std::str::from_utf8(head).ok().and_then(Head::parse);
    let Some(head) = head else { return refuse(400, "this is no request of HTTP/1.1") };
    checked(own, &head).unwrap_or_else(|refused| refused)
}

fn checked(own: &Own, head: &Head) -> Result<Answer, Answer> {
    let hosts = own.hosts();
    let host = head.field("host")?.unwrap_or_default();
    if !hosts.iter().any(|known| known == host) {
        return Err(refuse(403, format!("the Host must be {}", hosts[0])));
    }
    if let Some(origin) = head.field("origin")?
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
    if head.path == "/" && !own.knows(head.token()) {
        let words = "the address lacks the token of this run: take the one that the engine printed";
        return Err(refuse(403, words));
    }
    match page::file(head.path) {
        Some((kind, bytes)) => Ok(Answer::File(kind, bytes)),
        None => Err(refuse(404, "there is no such page")),
    }
}

fn connect(own: &Own, head: &Head) -> Result<Answer, Answer> {
    let has = |name: &str, wanted: &str| {
        let value = head.field(name)?.unwrap_or_default();
        Ok(value.split(',').any(|word| word.trim().eq_ignore_ascii_case(wanted)))
    };
    if !has("upgrade", "websocket")? || !has("connection", "upgrade")? {
        return Err(refuse(426, "a WebSocket is opened here"));
    }
    if !has("sec-websocket-version", "13")? {
        return Err(refuse(426, "the version of WebSocket must be 13"));
    }
    let key = head.field("sec-websocket-key")?.unwrap_or_default();
    if key.len() != 24 || !key.ends_with("==") {
        return Err(refuse(400, "the key of the WebSocket is missing or wrong"));
    }
    if !own.knows(head.token()) {
        return Err(refuse(403, "this is not the token of this run (.engine/session.json has it)"));
    }
    Ok(Answer::Connect(key.to_string()))
}

/// The name of a status.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    }
}

/// The page is framed by nobody, loads nothing from elsewhere and tells nobody its address, which
/// has the token in it.
const FIELDS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
     X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
     Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: default-src 'self'; \
     img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; connect-src 'self' \
     ws://127.0.0.1:* ws://localhost:*; frame-ancestors 'none'; form-action 'none'; \
     base-uri 'none'\r\nConnection: close\r\n";

/// The lines of a plain answer, up to its content.
pub fn lines(status: u16, kind: &str, bytes: usize) -> String {
    let reason = reason(status);
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {bytes}\r\n\
         {FIELDS}\r\n"
    )
}

/// The lines with which a WebSocket begins.
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

    fn ask(path: &str, fields: &[(&str, &str)]) -> Answer {
        let own = Own::new(4000, "abcd");
        let fields = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("GET {path} HTTP/1.1\r\n{}\r\n", fields.collect::<String>());
        answer(&own, head.as_bytes())
    }

    fn status(path: &str, fields: &[(&str, &str)]) -> u16 {
        match ask(path, fields) {
            Answer::Refuse(status, _) => status,
            Answer::Connect(_) => 101,
            Answer::File(..) => 200,
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

    /// The fields of a WebSocket, with others in their place or beside them.
    fn socket(others: &[(&'static str, &'static str)]) -> u16 {
        let kept = SOCKET.iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
        let fields: Vec<_> = kept.chain(others).copied().collect();
        status("/connection?token=abcd", &fields)
    }

    #[test]
    fn the_page_needs_the_token_and_the_own_host() {
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
    fn a_socket_opens_for_the_own_page_and_for_tools_alone() {
        assert_eq!(ask("/connection?token=abcd", &SOCKET), Answer::Connect(KEY.into()));
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
    fn what_is_no_request_is_refused() {
        let own = Own::new(4000, "abcd");
        let check = |head: &[u8], wanted: u16| match answer(&own, head) {
            Answer::Refuse(status, _) => assert_eq!(status, wanted, "{head:?}"),
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
    fn a_page_runs_and_loads_nothing_but_what_is_served_here() {
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
    fn the_accepted_key_is_that_of_the_standard() {
        assert!(switching(KEY).contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    }
}
