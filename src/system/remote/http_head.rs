//! The head of an HTTP/1 request: its first line and its header fields. Knows no sockets, and not
//! which requests are answered.
//!
//! The parser is ours, and strict. `httparse`, which tungstenite uses, would need as much code
//! here, and it accepts requests that no browser sends: line feeds alone, and leading empty lines.

/// The most bytes of a request, up to its empty line.
pub const HEAD_BYTES_MAX: usize = 16 << 10;

/// The message for bytes that are no request.
pub const NO_REQUEST: &str = "this is not an HTTP/1.1 request";

/// The head of a request.
pub struct HttpHead<'a> {
    pub method: &'a str,
    /// Path of the target; begins with `/`.
    pub path: &'a str,
    /// The target after its `?`.
    pub query: &'a str,
    fields: Vec<(String, &'a str)>,
}

/// Returns the number of bytes up to the end of the empty line that ends a head; `None` if it has
/// not arrived yet.
pub fn head_bytes(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

impl<'a> HttpHead<'a> {
    /// Parses the bytes of a head. Returns `None` if they are no request.
    pub fn parse(bytes: &'a [u8]) -> Option<HttpHead<'a>> {
        let mut lines = std::str::from_utf8(bytes).ok()?.split("\r\n");
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
        Some(HttpHead { method, path, query, fields })
    }

    /// Returns a header field by its name in lower case.
    ///
    /// # Errors
    /// Returns a message if the field occurs twice.
    pub fn field(&self, name: &str) -> Result<Option<&'a str>, String> {
        let mut found = self.fields.iter().filter(|(known, _)| known == name);
        let first = found.next().map(|(_, value)| *value);
        match found.next() {
            Some(_) => Err(format!("the field {name} occurs twice")),
            None => Ok(first),
        }
    }
}

/// Returns the reason phrase of a status.
pub fn reason(status: u16) -> &'static str {
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
