//! Pages in the browser for one command: a server on 127.0.0.1 answers only requests with a random
//! token in their address, and with its own host. A page has no scripts.

use engine_foundation::xml::escape_for_display;
use engine_foundation::{error_line, panic};
use engine_platform::{self as platform, browser};
use engine_remote::http_head::{HttpHead, NO_REQUEST};
use engine_remote::local_server::{self, LocalAnswer, LocalConnection};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two looks at the signals that end the command.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

/// Header fields: pictures of the page itself, no scripts, and forms for this server only.
const FIELDS: &str = "Referrer-Policy: no-referrer\r\n\
                      Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'\r\n";

/// Answer to a request: a status, a page, and the outcome if the request ends the command.
pub struct PageAnswer<T> {
    pub status: u16,
    pub html: Arc<str>,
    pub outcome: Option<T>,
}

impl<T> PageAnswer<T> {
    /// Returns a page that says one sentence.
    pub fn text(status: u16, text: &str) -> PageAnswer<T> {
        let html = format!("<!doctype html><p>{}</p>", escape_for_display(text)).into();
        PageAnswer { status, html, outcome: None }
    }
}

/// A page that answers requests below its own address.
pub trait LocalPage<T>: Send + Sync {
    /// Answers a request. `path` follows the token; it is empty for the page itself.
    fn answer(&self, path: &str, query: &str) -> PageAnswer<T>;
}

/// Shows a page in the browser, and waits for its outcome. `purpose` is printed before its address.
/// `make` creates the page from the token, which is a part of the addresses of its links.
///
/// # Errors
/// Returns a message if the page cannot be shown.
pub fn show<T: Send + 'static>(
    purpose: &str,
    make: impl FnOnce(&str) -> Box<dyn LocalPage<T>>,
) -> Result<T, String> {
    let (listener, port) = local_server::listen()?;
    let token = engine_remote::token();
    let server = PageServer { page: make(&token), token, port };
    let address = format!("http://127.0.0.1:{port}/{}", server.token);
    // The output may be the result of the command.
    error_line!("{purpose}: {address} (Ctrl+C ends)");
    let failed = |program: &'static str| {
        error_line!("{program} opened no browser: open the address above");
    };
    if let Err((program, reason)) = browser::open(&address, failed) {
        error_line!("no browser was opened ({program}: {reason}): open the address above");
    }
    let (sender, outcomes) = channel();
    let exchange = move |connection: &mut LocalConnection| -> io::Result<()> {
        let Some(head) = connection.read_head()? else { return Ok(()) };
        let PageAnswer { status, html, outcome } = server.answer(&head);
        let (kind, body) = ("text/html", html.as_bytes());
        let answer = LocalAnswer { status, kind, fields: FIELDS, body, is_head: false };
        let sent = connection.answer(&answer);
        // A choice counts, also if the browser has left before the answer.
        if let Some(outcome) = outcome {
            // After the first choice, nobody waits for another one.
            let _ = sender.send(outcome);
        }
        sent
    };
    panic::spawn("local-page", move || {
        local_server::serve(&listener, "local-page-client", exchange);
    })
    .map_err(|reason| format!("no thread is left: {reason}"))?;
    loop {
        match outcomes.recv_timeout(SIGNAL_INTERVAL) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Disconnected) => return Err("the page has ended".to_string()),
            Err(RecvTimeoutError::Timeout) if platform::end_requested().is_some() => {
                return Err("stopped".to_string());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The page with the checks of its requests.
struct PageServer<T> {
    page: Box<dyn LocalPage<T>>,
    token: String,
    port: u16,
}

impl<T> PageServer<T> {
    fn answer(&self, head: &[u8]) -> PageAnswer<T> {
        let Some(head) = HttpHead::parse(head) else { return PageAnswer::text(400, NO_REQUEST) };
        if head.method != "GET" {
            return PageAnswer::text(405, "only GET is answered");
        }
        let host = format!("127.0.0.1:{}", self.port);
        if head.field("host").ok().flatten() != Some(&host) {
            return PageAnswer::text(403, "the host is another one");
        }
        let rest = head.path.trim_start_matches('/').strip_prefix(self.token.as_str());
        match rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => self.page.answer(rest.trim_start_matches('/'), head.query),
            None => PageAnswer::text(404, "there is no such page"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo;

    impl LocalPage<String> for Echo {
        fn answer(&self, path: &str, query: &str) -> PageAnswer<String> {
            let outcome = Some(format!("{path}?{query}"));
            PageAnswer { outcome, ..PageAnswer::text(200, path) }
        }
    }

    fn ask(request: &str) -> PageAnswer<String> {
        let server = PageServer { page: Box::new(Echo), token: "t0ken".to_string(), port: 5 };
        server.answer(request.as_bytes())
    }

    #[test]
    fn only_requests_with_the_token_reach_the_page() {
        let get =
            |target: &str| ask(&format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:5\r\n\r\n"));
        assert_eq!(get("/t0ken").outcome.unwrap(), "?");
        assert_eq!(get("/t0ken/choose?0=left").outcome.unwrap(), "choose?0=left");
        for target in ["/", "/other", "/t0ken2", "/t0kenx/choose", "/choose?rest=left"] {
            assert_eq!((get(target).status, get(target).outcome), (404, None), "{target}");
        }
    }

    #[test]
    fn other_hosts_and_methods_are_refused() {
        let other = ask("GET /t0ken HTTP/1.1\r\nHost: evil:5\r\n\r\n");
        assert_eq!((other.status, other.outcome), (403, None));
        let twice = ask("GET /t0ken HTTP/1.1\r\nHost: 127.0.0.1:5\r\nHost: a\r\n\r\n");
        assert_eq!((twice.status, twice.outcome), (403, None));
        let posted = ask("POST /t0ken HTTP/1.1\r\nHost: 127.0.0.1:5\r\n\r\n");
        assert_eq!((posted.status, posted.outcome), (405, None));
        assert_eq!(ask("x").status, 400);
    }
}
