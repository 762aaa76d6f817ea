//! A client for caches on a server: `GET` and `PUT` of paths over HTTP/1.1, as Bazel's HTTP cache
//! and WebDAV servers offer them. Connections are kept and used again. Nothing that a server sends
//! is trusted: lengths are limited, and the caller checks the contents. Knows no `https`.

use engine_foundation::panic;
use engine_foundation::{Error, error, json};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Mutex;
use std::time::Duration;

const CONNECT_SECONDS: u64 = 3;
/// Maximum time without a byte from the server.
const WAIT_SECONDS: u64 = 20;
/// Maximum length of a line of a head, and number of lines.
const LINE_BYTES_MAX: u64 = 16 << 10;
const LINES_MAX: usize = 200;
/// Maximum length of the body of an answer that is not used.
const IGNORED_BYTES_MAX: u64 = 1 << 20;

/// Answer of a server: the status, and the body of a success.
pub type HttpAnswer = (u16, Vec<u8>);

/// A server with a cache.
pub struct HttpCache {
    /// Host and port.
    host: String,
    /// Start of all paths: empty, or begins with a slash.
    prefix: String,
    /// The header with user and password.
    authorization: Option<String>,
    idle: Mutex<Vec<BufReader<TcpStream>>>,
}

impl HttpCache {
    /// Reads the address of a cache: `http://host:port/path`.
    ///
    /// # Errors
    /// Returns an error if it is no such address.
    pub fn parse(address: &str) -> Result<HttpCache, Error> {
        let rest = address.strip_prefix("http://").ok_or_else(|| {
            error!(
                "a shared cache on a server begins with http://, and https is not supported: use \
                 the address of a proxy in your network"
            )
        })?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = match host.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, host),
        };
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if host.is_empty() || !is_plain(rest) || path.contains(['?', '#']) {
            return Err(error!("'http://{host}/{path}' is not the address of a shared cache"));
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let path = path.trim_matches('/');
        Ok(HttpCache {
            host: if has_port { host.to_string() } else { format!("{host}:80") },
            prefix: if path.is_empty() { String::new() } else { format!("/{path}") },
            authorization: user.map(|user| format!("Basic {}", json::base64(user.as_bytes()))),
            idle: Mutex::default(),
        })
    }

    /// Returns the address without user and password.
    pub fn shown(&self) -> String {
        format!("http://{}{}", self.host, self.prefix)
    }

    /// Reads a file of the cache of at most `bytes_max` bytes. Returns `None` if it has none.
    pub fn get(&self, path: &str, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        match self.request("GET", path, &[], bytes_max)? {
            (200, body) => Ok(Some(body)),
            (404 | 410, _) => Ok(None),
            (status, _) => Err(io::Error::other(format!("the server answered with {status}"))),
        }
    }

    /// Writes a file of the cache.
    pub fn put(&self, path: &str, body: &[u8]) -> io::Result<()> {
        match self.request("PUT", path, body, IGNORED_BYTES_MAX)? {
            (200..=299, _) => Ok(()),
            (status, _) => Err(io::Error::other(format!("the server answered with {status}"))),
        }
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let mut failed = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for address in self.host.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, Duration::from_secs(CONNECT_SECONDS)) {
                Ok(stream) => {
                    let wait = Some(Duration::from_secs(WAIT_SECONDS));
                    stream.set_read_timeout(wait)?;
                    stream.set_write_timeout(wait)?;
                    stream.set_nodelay(true)?;
                    return Ok(BufReader::new(stream));
                }
                Err(reason) => failed = reason,
            }
        }
        Err(failed)
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
        bytes_max: u64,
    ) -> io::Result<HttpAnswer> {
        let kept = panic::lock(&self.idle).pop();
        if let Some(connection) = kept
            && let Ok(answer) = self.exchange(connection, method, path, body, bytes_max)
        {
            return Ok(answer);
        }
        // The server may have closed the kept connection meanwhile.
        self.exchange(self.connect()?, method, path, body, bytes_max)
    }

    fn exchange(
        &self,
        mut connection: BufReader<TcpStream>,
        method: &str,
        path: &str,
        body: &[u8],
        bytes_max: u64,
    ) -> io::Result<HttpAnswer> {
        let HttpCache { host, prefix, .. } = self;
        let length = match method {
            "PUT" => format!("Content-Length: {}\r\n", body.len()),
            _ => String::new(),
        };
        let authorization = self.authorization.as_ref();
        let authorization =
            authorization.map_or(String::new(), |text| format!("Authorization: {text}\r\n"));
        let head = format!(
            "{method} {prefix}/{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: engine\r\n\
             {authorization}{length}\r\n"
        );
        connection.get_mut().write_all(head.as_bytes())?;
        connection.get_mut().write_all(body)?;
        let (answer, can_stay) = read_answer(&mut connection, bytes_max)?;
        if can_stay {
            panic::lock(&self.idle).push(connection);
        }
        Ok(answer)
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the server's answer is invalid: {message}"))
}

/// Reads a line without its end.
fn read_line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(invalid("a line does not end"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).map_err(|_| invalid("a line is not text"))
}

/// Reads an answer. Returns true if the connection can be used again.
fn read_answer(from: &mut impl BufRead, bytes_max: u64) -> io::Result<(HttpAnswer, bool)> {
    loop {
        let status_line = read_line(from)?;
        let mut parts = status_line.split(' ');
        let is_http = parts.next().is_some_and(|version| version.starts_with("HTTP/1."));
        let status = parts.next().and_then(|status| status.parse::<u16>().ok());
        let status = status.filter(|_| is_http).ok_or_else(|| invalid("it is not HTTP"))?;
        let (mut length, mut is_chunked, mut closes) = (None, false, false);
        for at in 0.. {
            let line = read_line(from)?;
            if line.is_empty() {
                break;
            }
            if at >= LINES_MAX {
                return Err(invalid("it has too many headers"));
            }
            let (name, value) = line.split_once(':').ok_or_else(|| invalid("a header"))?;
            let value = value.trim();
            match &name.to_ascii_lowercase()[..] {
                "content-length" => {
                    let number = value.parse::<u64>().map_err(|_| invalid("its length"))?;
                    if length.is_some_and(|known| known != number) {
                        return Err(invalid("it has two lengths"));
                    }
                    length = Some(number);
                }
                "transfer-encoding" => is_chunked = value.eq_ignore_ascii_case("chunked"),
                "connection" => closes |= value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        // `100 Continue` precedes the answer.
        if (100..200).contains(&status) {
            continue;
        }
        let bytes_max = if status == 200 { bytes_max } else { IGNORED_BYTES_MAX };
        let body = match (status, length) {
            (204 | 304, _) => Vec::new(),
            _ if is_chunked => read_chunks(from, bytes_max)?,
            (_, Some(length)) => read_exact(from, length, bytes_max)?,
            (_, None) => {
                closes = true;
                let mut body = Vec::new();
                from.by_ref().take(bytes_max + 1).read_to_end(&mut body)?;
                if body.len() as u64 > bytes_max {
                    return Err(invalid("it is too long"));
                }
                body
            }
        };
        return Ok(((status, body), !closes));
    }
}

/// Reads bytes whose number the server has announced. Memory grows with the bytes that arrive.
fn read_exact(from: &mut impl BufRead, length: u64, bytes_max: u64) -> io::Result<Vec<u8>> {
    if length > bytes_max {
        return Err(invalid("it is too long"));
    }
    let mut body = Vec::new();
    from.by_ref().take(length).read_to_end(&mut body)?;
    match body.len() as u64 == length {
        true => Ok(body),
        false => Err(invalid("it is cut short")),
    }
}

fn read_chunks(from: &mut impl BufRead, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(from)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = u64::from_str_radix(digits, 16).map_err(|_| invalid("a chunk"))?;
        if length == 0 {
            // Trailers, up to an empty line.
            for _ in 0..LINES_MAX {
                if read_line(from)?.is_empty() {
                    return Ok(body);
                }
            }
            return Err(invalid("it has too many trailers"));
        }
        let rest = bytes_max.saturating_sub(body.len() as u64);
        body.extend(read_exact(from, length, rest)?);
        if !read_line(from)?.is_empty() {
            return Err(invalid("a chunk does not end"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_caches_are_read() {
        let of = |address: &str| HttpCache::parse(address).map(|cache| cache.shown());
        let shown = |address: &str| of(address).unwrap();
        assert_eq!(shown("http://cache"), "http://cache:80");
        assert_eq!(shown("http://cache:8080/a/b/"), "http://cache:8080/a/b");
        assert_eq!(shown("http://me:secret@cache:9"), "http://cache:9");
        let cache = HttpCache::parse("http://me:secret@cache:9").unwrap();
        assert_eq!(cache.authorization.as_deref(), Some("Basic bWU6c2VjcmV0"));
        for wrong in
            ["https://cache", "ftp://x", "http://", "http://a b", "http://a/b?c", "http://\n"]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        assert!(of("https://cache").unwrap_err().message.contains("https is not supported"));
    }

    fn answer(text: &str) -> Result<(u16, String, bool), String> {
        let ((status, body), can_stay) =
            read_answer(&mut text.as_bytes(), 100).map_err(|error| error.to_string())?;
        Ok((status, String::from_utf8(body).unwrap(), can_stay))
    }

    #[test]
    fn answers_of_servers_are_read() {
        let ok = |text: &str, status: u16, body: &str, can_stay: bool| {
            assert_eq!(answer(text), Ok((status, body.to_string(), can_stay)), "{text}");
        };
        ok("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiX", 200, "hi", true);
        ok("HTTP/1.1 200 OK\ncontent-length:2\n\nhi", 200, "hi", true);
        ok("HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 404, "", false);
        ok("HTTP/1.1 204 No Content\r\n\r\n", 204, "", true);
        ok("HTTP/1.0 200 OK\r\n\r\nrest", 200, "rest", false);
        ok(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
            201,
            "",
            true,
        );
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        ok(&format!("{chunked}2;x=y\r\nhi\r\n1\r\n!\r\n0\r\nT: x\r\n\r\n"), 200, "hi!", true);
    }

    #[test]
    fn hostile_answers_are_refused() {
        let wrong = |text: &str, wanted: &str| {
            let message = answer(text).unwrap_err();
            assert!(message.contains(wanted), "{text}: {message}");
        };
        let ok = "HTTP/1.1 200 OK\r\n";
        wrong("", "a line does not end");
        wrong("SSH-2.0\r\n\r\n", "it is not HTTP");
        wrong("HTTP/1.1 abc\r\n\r\n", "it is not HTTP");
        wrong(&format!("{ok}Content-Length: 101\r\n\r\n"), "too long");
        wrong(&format!("{ok}Content-Length: 9\r\n\r\nhi"), "cut short");
        wrong(&format!("{ok}Content-Length: -1\r\n\r\n"), "its length");
        wrong(&format!("{ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi"), "two lengths");
        wrong(&format!("{ok}nonsense\r\n\r\n"), "a header");
        wrong(&format!("{ok}\r\n{}", "x".repeat(101)), "too long");
        wrong(&format!("{ok}{}\r\n", "a: b\r\n".repeat(300)), "too many headers");
        wrong(&"x".repeat(1 << 20), "a line does not end");
        let chunked = format!("{ok}Transfer-Encoding: chunked\r\n\r\n");
        wrong(&format!("{chunked}zz\r\n"), "a chunk");
        wrong(&format!("{chunked}ffffffffffffffff\r\n"), "too long");
        wrong(&format!("{chunked}1\r\nab\r\n"), "a chunk does not end");
        wrong(&format!("{chunked}40\r\n{}\r\n40\r\n", "x".repeat(64)), "too long");
    }
}
