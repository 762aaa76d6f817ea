//! HTTP server on 127.0.0.1 for the manual's pages, for a browser on this machine. The content is
//! not secret and the server changes nothing, so there is no token.

use super::site::{Site, SiteFile};
use engine_foundation::error;
use engine_foundation::{Error, log, panic};
use engine_platform::browser;
use engine_remote::http_head::{HEAD_BYTES_MAX, HttpHead, NO_REQUEST, head_bytes, reason};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Maximum number of simultaneous connections.
const CONNECTIONS_MAX: usize = 32;
/// Maximum time that a browser may keep a connection open without a request.
const WAIT: Duration = Duration::from_secs(10);

/// Opens a browser at a page of the site and serves until the process ends.
pub fn serve(site: Site, path: &str) -> Result<(), Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener = listener.map_err(|reason| error!("no port can be opened: {reason}"))?;
    let port = listener.local_addr().map_err(|reason| error!("the port is gone: {reason}"))?.port();
    let address = format!("http://127.0.0.1:{port}/{path}");
    log::info(&format!("the manual: {address} (Ctrl+C ends)"));
    let failed = |program: &'static str| {
        log::warning(&format!("{program} opened no browser: open the address above"));
    };
    if let Err((program, reason)) = browser::open(&address, failed) {
        log::warning(&format!(
            "no browser was opened ({program}: {reason}): open the address above"
        ));
    }
    let (site, connected) = (Arc::new(site), Arc::new(AtomicUsize::new(0)));
    for stream in listener.incoming().flatten() {
        // Beyond the limit, a connection is closed at once, and the browser tries again.
        if connected.fetch_add(1, Ordering::Relaxed) < CONNECTIONS_MAX {
            let (site, connected) = (site.clone(), connected.clone());
            let answer = move || {
                // A disconnected browser needs no answer.
                let _ = exchange(&site, stream);
            };
            thread::spawn(move || {
                // The connection is released even after a panic.
                if let Err(error) = panic::contain(answer) {
                    log::error(&format!("a page was not sent: {error}"));
                }
                connected.fetch_sub(1, Ordering::Relaxed);
            });
        } else {
            connected.fetch_sub(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

fn exchange(site: &Site, mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(WAIT))?;
    stream.set_write_timeout(Some(WAIT))?;
    let mut bytes = Vec::new();
    let length = loop {
        let mut piece = [0; 2048];
        let count = stream.read(&mut piece)?;
        bytes.extend_from_slice(&piece[..count]);
        if let Some(length) = head_bytes(&bytes) {
            break length;
        }
        if count == 0 || bytes.len() > HEAD_BYTES_MAX {
            return Ok(());
        }
    };
    stream.write_all(&answer(site, &bytes[..length]))
}

/// Returns the complete response to a request.
fn answer(site: &Site, head: &[u8]) -> Vec<u8> {
    let Some(HttpHead { method, path, .. }) = HttpHead::parse(head) else {
        return response(400, "text/plain", NO_REQUEST.as_bytes(), true);
    };
    // Browsers keep the anchor of an address to themselves, other programs may send it.
    let path = path.split('#').next().unwrap_or_default();
    let path = match path.trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    if method != "GET" && method != "HEAD" {
        return response(405, "text/plain", b"only GET is answered", true);
    }
    let body = method == "GET";
    match site.file(path) {
        Some(file) => response(200, kind(file), &file.bytes, body),
        None => {
            let message = format!("there is no page {path}: the manual begins at /");
            response(404, "text/plain", message.as_bytes(), body)
        }
    }
}

/// Content security policy: a page loads only files of this server and runs no inline scripts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

fn response(status: u16, kind: &str, bytes: &[u8], with_body: bool) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: {POLICY}\r\nConnection: close\r\n\r\n",
        reason(status),
        bytes.len()
    );
    let body = if with_body { bytes } else { &[] };
    [head.as_bytes(), body].concat()
}

/// Returns the content type of a file.
fn kind(file: &SiteFile) -> &'static str {
    match file.name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        other => unreachable!("a file of the site ends in {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_script::docgen::ApiModel;

    #[test]
    fn only_pages_of_the_site_are_served() {
        let site = Site::new(&ApiModel::new());
        let check = |line: &str, wanted: &str, kind: &str| {
            let answer = answer(&site, format!("{line}\r\n\r\n").as_bytes());
            let text = String::from_utf8_lossy(&answer);
            assert!(text.starts_with(&format!("HTTP/1.1 {wanted}\r\n")), "{line}: {text:.60}");
            assert!(text.contains(&format!("Content-Type: {kind};")), "{line}: {text:.99}");
            let policy = "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; ";
            assert!(text.contains(policy), "{line}: {text:.400}");
        };
        check("GET / HTTP/1.1", "200 OK", "text/html");
        check("GET /docs/README.html?q=x HTTP/1.1", "200 OK", "text/html");
        check("GET /docs/README.html#x HTTP/1.1", "200 OK", "text/html");
        check("HEAD /docs/pictures/tower.png HTTP/1.1", "200 OK", "image/png");
        check("GET /docs/pictures/impact.svg HTTP/1.1", "200 OK", "image/svg+xml");
        check("GET /manual.js HTTP/1.1", "200 OK", "text/javascript");
        check("GET /../Cargo.toml HTTP/1.1", "404 Not Found", "text/plain");
        check("POST / HTTP/1.1", "405 Method Not Allowed", "text/plain");
        check("", "400 Bad Request", "text/plain");
        check("GET", "400 Bad Request", "text/plain");
    }

    #[test]
    fn every_file_of_the_site_has_a_content_type() {
        for file in &Site::new(&ApiModel::new()).files {
            assert!(kind(file).contains('/'), "{}", file.name);
        }
    }
}
