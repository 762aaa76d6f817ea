//! HTTP server on 127.0.0.1 for the manual's pages, for a browser on this machine. The content is
//! not secret and the server changes nothing, so there is no token.

use super::site::{Site, SiteFile};
use engine_foundation::{Error, log};
use engine_platform::browser;
use engine_remote::http_head::{HttpHead, NO_REQUEST};
use engine_remote::local_server::{self, LocalAnswer, LocalConnection};
use std::borrow::Cow;

/// Opens a browser at a page of the site and serves until the process ends.
pub fn serve(site: Site, path: &str) -> Result<(), Error> {
    let (listener, port) = local_server::listen().map_err(Error::new)?;
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
    local_server::serve(&listener, "manual-client", move |connection: &mut LocalConnection| {
        let Some(head) = connection.read_head()? else { return Ok(()) };
        let PageOfSite { status, kind, body, is_head } = answer(&site, &head);
        connection.answer(&LocalAnswer { status, kind, fields: POLICY, body: &body, is_head })
    });
    Ok(())
}

/// Response to a request.
struct PageOfSite<'a> {
    status: u16,
    kind: &'static str,
    body: Cow<'a, [u8]>,
    is_head: bool,
}

/// Returns the response to a request.
fn answer<'a>(site: &'a Site, head: &[u8]) -> PageOfSite<'a> {
    let message = |status, text: &str| {
        let body = Cow::Owned(text.as_bytes().to_vec());
        PageOfSite { status, kind: "text/plain", body, is_head: false }
    };
    let Some(HttpHead { method, path, .. }) = HttpHead::parse(head) else {
        return message(400, NO_REQUEST);
    };
    // Browsers keep the anchor of an address to themselves, other programs may send it.
    let path = path.split('#').next().unwrap_or_default();
    let path = match path.trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    if method != "GET" && method != "HEAD" {
        return message(405, "only GET is answered");
    }
    let answer = match site.file(path) {
        Some(file) => {
            let body = Cow::Borrowed(&file.bytes[..]);
            PageOfSite { status: 200, kind: kind(file), body, is_head: false }
        }
        None => message(404, &format!("there is no page {path}: the manual begins at /")),
    };
    PageOfSite { is_head: method == "HEAD", ..answer }
}

/// Content security policy: a page loads only files of this server and runs no inline scripts.
const POLICY: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; \
                      style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'\r\n";

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
        let check = |line: &str, status: u16, kind: &str| {
            let answer = answer(&site, format!("{line}\r\n\r\n").as_bytes());
            assert_eq!((answer.status, answer.kind), (status, kind), "{line}");
            assert_eq!(answer.is_head, line.starts_with("HEAD"), "{line}");
            assert!(!answer.body.is_empty(), "{line}");
        };
        check("GET / HTTP/1.1", 200, "text/html");
        check("GET /docs/README.html?q=x HTTP/1.1", 200, "text/html");
        check("GET /docs/README.html#x HTTP/1.1", 200, "text/html");
        check("HEAD /docs/pictures/tower.png HTTP/1.1", 200, "image/png");
        check("GET /docs/pictures/impact.svg HTTP/1.1", 200, "image/svg+xml");
        check("GET /manual.js HTTP/1.1", 200, "text/javascript");
        check("GET /../Cargo.toml HTTP/1.1", 404, "text/plain");
        check("POST / HTTP/1.1", 405, "text/plain");
        check("", 400, "text/plain");
        check("GET", 400, "text/plain");
    }

    #[test]
    fn every_file_of_the_site_has_a_content_type() {
        for file in &Site::new(&ApiModel::new()).files {
            assert!(kind(file).contains('/'), "{}", file.name);
        }
    }
}
