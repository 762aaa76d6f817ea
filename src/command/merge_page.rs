//! A page in the browser on which a person chooses between both sides of a merge. A server on
//! 127.0.0.1 answers only requests with its token, until the choice is made.

use engine_content::merge::{MergeSide, Override};
use engine_foundation::xml::{escape_for_display, escape_lines_for_display};
use engine_foundation::{error_line, log, panic};
use engine_platform::browser;
use engine_remote::http_head::{HEAD_BYTES_MAX, HttpHead, NO_REQUEST, head_bytes, reason};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Maximum number of choices on a page. They are sent in the head of one request.
const CHOICES_MAX: usize = 500;
/// Maximum size of a value that is shown, in bytes.
const VALUE_SHOWN_MAX: usize = 64 << 10;
/// Maximum number of simultaneous connections.
const CONNECTIONS_MAX: usize = 16;
/// Maximum time that a browser may keep a connection open without a request.
const WAIT: Duration = Duration::from_secs(10);

/// Content security policy: no scripts, no files, and a form for this server only.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

const STYLE: &str = ":root { color-scheme: light dark } \
    body { font: 15px system-ui, sans-serif; margin: 24px auto; max-width: 70em; padding: 0 16px } \
    fieldset { margin: 0 0 14px; border: 1px solid; border-radius: 6px; display: grid; \
    grid-template-columns: 1fr 1fr; gap: 12px } legend { font-weight: 600 } \
    pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 20em; overflow: auto; \
    margin: 4px 0 0; padding: 6px; border: 1px solid #8888; border-radius: 4px } \
    label:has(:checked) pre { outline: 2px solid #2a7de1 } \
    button { font: inherit; padding: 6px 14px; margin-right: 8px }";

/// Sides by the path of the value.
pub type Choices = HashMap<String, MergeSide>;

/// The page, and what a request must know.
struct MergePage {
    token: String,
    port: u16,
    html: String,
    paths: Vec<String>,
}

/// Answer to a request: a status, a page, and the outcome if there is one.
struct PageAnswer {
    status: u16,
    html: String,
    outcome: Option<Result<Choices, String>>,
}

/// Shows the values that both sides changed in the browser, and waits for the choice.
///
/// # Errors
/// Returns a message if the person gives up, or if no page can be shown.
pub fn choose(path: &str, overrides: &[Override]) -> Result<Choices, String> {
    if overrides.len() > CHOICES_MAX {
        return Err(format!(
            "both sides changed {} values, and a page has {CHOICES_MAX} at most (CHOICES_MAX): \
             choose --strategy right or left",
            overrides.len()
        ));
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|reason| format!("no port can be opened: {reason}"))?;
    let port = listener.local_addr().map_err(|reason| reason.to_string())?.port();
    let token = engine_remote::token();
    let html = page(path, &token, overrides);
    let paths = overrides.iter().map(|change| change.path.clone()).collect();
    let page = Arc::new(MergePage { token, port, html, paths });
    let address = format!("http://127.0.0.1:{port}/{}", page.token);
    // The output may be the merged text.
    error_line!("choose between both sides of {path}: {address} (Ctrl+C ends)");
    let failed = |program: &'static str| {
        error_line!("{program} opened no browser: open the address above");
    };
    if let Err((program, reason)) = browser::open(&address, failed) {
        error_line!("no browser was opened ({program}: {reason}): open the address above");
    }
    let (sender, outcomes) = channel();
    panic::spawn("merge-page", move || serve(&listener, &page, &sender))
        .map_err(|reason| format!("no thread is left: {reason}"))?;
    outcomes.recv().unwrap_or_else(|_| Err("the page has ended: nothing is written".to_string()))
}

fn serve(listener: &TcpListener, page: &Arc<MergePage>, sender: &Sender<Result<Choices, String>>) {
    let connected = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        // Beyond the limit, a connection is closed at once, and the browser tries again.
        if connected.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            connected.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (page, sender, connected) = (page.clone(), sender.clone(), connected.clone());
        let exchange = move || {
            let outcome = panic::contain(|| exchange(&page, stream));
            connected.fetch_sub(1, Ordering::Relaxed);
            if let Ok(Ok(Some(outcome))) = outcome {
                // After the first choice, nobody waits for another one.
                let _ = sender.send(outcome);
            }
        };
        if let Err(reason) = panic::spawn("merge-page-client", exchange) {
            log::error(&format!("no thread is left: {reason}"));
            return;
        }
    }
}

fn exchange(
    page: &MergePage,
    mut stream: TcpStream,
) -> io::Result<Option<Result<Choices, String>>> {
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
            return Ok(None);
        }
    };
    let PageAnswer { status, html, outcome } = page.answer(&bytes[..length]);
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nContent-Security-Policy: {POLICY}\r\n\
         Connection: close\r\n\r\n",
        reason(status),
        html.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(html.as_bytes())?;
    Ok(outcome)
}

impl MergePage {
    fn answer(&self, head: &[u8]) -> PageAnswer {
        let refuse = |status, text: &str| PageAnswer {
            status,
            html: format!("<!doctype html><p>{}</p>", escape_for_display(text)),
            outcome: None,
        };
        let Some(head) = HttpHead::parse(head) else { return refuse(400, NO_REQUEST) };
        if head.method != "GET" {
            return refuse(405, "only GET is answered");
        }
        let host = format!("127.0.0.1:{}", self.port);
        if head.field("host").ok().flatten() != Some(&host) {
            return refuse(403, "the host is another one");
        }
        let rest = head.path.trim_start_matches('/').strip_prefix(self.token.as_str());
        match rest {
            Some("") => PageAnswer { status: 200, html: self.html.clone(), outcome: None },
            Some("/choose") => match self.choices(head.query) {
                Ok(choices) => {
                    let answer = refuse(200, "The choice was taken. You can close this page.");
                    PageAnswer { outcome: Some(Ok(choices)), ..answer }
                }
                Err(message) => refuse(400, &message),
            },
            Some("/cancel") => {
                let answer = refuse(200, "Nothing is written. You can close this page.");
                let outcome = Some(Err("the choice was cancelled: nothing is written".to_string()));
                PageAnswer { outcome, ..answer }
            }
            _ => refuse(404, "there is no such page"),
        }
    }

    /// Returns the choices of a form: `0=left&1=right`, and `rest=left` for the others.
    fn choices(&self, query: &str) -> Result<Choices, String> {
        let mut chosen: Vec<Option<MergeSide>> = vec![None; self.paths.len()];
        let mut others = None;
        for field in query.split('&').filter(|field| !field.is_empty()) {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let side = match value {
                "left" => MergeSide::Left,
                "right" => MergeSide::Right,
                _ => return Err("a side is left or right".to_string()),
            };
            let index = name.parse::<usize>().ok().filter(|index| *index < chosen.len());
            match index {
                Some(index) => chosen[index] = Some(side),
                None if name == "rest" => others = Some(side),
                None => return Err("there is no such value".to_string()),
            }
        }
        let pairs = self.paths.iter().zip(chosen);
        let all = pairs.map(|(path, side)| Some((path.clone(), side.or(others)?)));
        all.collect::<Option<Choices>>().ok_or_else(|| "choose a side for each value".to_string())
    }
}

fn shown(text: &str) -> String {
    if text.is_empty() {
        return "<i>nothing</i>".to_string();
    }
    let end = text.floor_char_boundary(VALUE_SHOWN_MAX);
    let more = if end < text.len() { "…" } else { "" };
    format!("<pre>{}{more}</pre>", escape_lines_for_display(&text[..end]))
}

fn page(path: &str, token: &str, overrides: &[Override]) -> String {
    let path = escape_for_display(path);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Merge {path}</title>\n\
         <style>{STYLE}</style>\n<h1>{path}</h1>\n<p>Both sides changed these values. Choose a \
         side for each.</p>\n<form action=\"/{token}/choose\">\n"
    );
    for (index, change) in overrides.iter().enumerate() {
        let name = if change.path.is_empty() { "the file" } else { &change.path };
        let (name, kind) = (escape_for_display(name), change.kind.name());
        let side = |side: &str, text: &str| {
            format!(
                "<label><input type=\"radio\" name=\"{index}\" value=\"{side}\" required> {side} \
                 {}</label>\n",
                shown(text)
            )
        };
        let _ = writeln!(
            html,
            "<fieldset><legend>{name} ({kind})</legend>\n{}{}</fieldset>",
            side("left", &change.left),
            side("right", &change.right)
        );
    }
    html += "<p><button>Merge</button>\
             <button name=\"rest\" value=\"left\" formnovalidate>Left for all others</button>\
             <button name=\"rest\" value=\"right\" formnovalidate>Right for all others</button>\
             </p>";
    let _ = write!(html, "</form>\n<p><a href=\"/{token}/cancel\">Cancel</a></p></html>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_content::merge::OverrideKind;

    fn merge_page() -> MergePage {
        let change = |path: &str| Override {
            path: path.to_string(),
            kind: OverrideKind::Value,
            winner: MergeSide::Right,
            left: "\"<b>\"".to_string(),
            right: String::new(),
        };
        let overrides = [change("a.b"), change("<i>")];
        let paths = overrides.iter().map(|change| change.path.clone()).collect();
        let token = "t0ken".to_string();
        MergePage { html: page("x.level", &token, &overrides), token, port: 5, paths }
    }

    fn ask(target: &str) -> PageAnswer {
        let head = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:5\r\n\r\n");
        merge_page().answer(head.as_bytes())
    }

    #[test]
    fn choices_are_taken_once_for_each_value() {
        let found = ask("/t0ken/choose?0=left&1=right").outcome.unwrap().unwrap();
        assert_eq!((found["a.b"], found["<i>"]), (MergeSide::Left, MergeSide::Right));
        let found = ask("/t0ken/choose?1=left&rest=right").outcome.unwrap().unwrap();
        assert_eq!((found["a.b"], found["<i>"]), (MergeSide::Right, MergeSide::Left));
        assert!(ask("/t0ken/cancel").outcome.unwrap().is_err());
    }

    #[test]
    fn other_requests_have_no_outcome() {
        for (target, status) in [
            ("/t0ken", 200),
            ("/", 404),
            ("/other/choose?rest=left", 404),
            ("/t0ken/choose?0=left", 400),
            ("/t0ken/choose?0=up&rest=left", 400),
            ("/t0ken/choose?2=left&rest=left", 400),
        ] {
            let answer = ask(target);
            assert_eq!((answer.status, answer.outcome.is_none()), (status, true), "{target}");
        }
        let page = merge_page();
        let other = page.answer(b"GET /t0ken/cancel HTTP/1.1\r\nHost: evil:5\r\n\r\n");
        assert_eq!((other.status, other.outcome.is_none()), (403, true));
        let posted = page.answer(b"POST /t0ken/cancel HTTP/1.1\r\nHost: 127.0.0.1:5\r\n\r\n");
        assert_eq!(posted.status, 405);
    }

    #[test]
    fn values_are_shown_as_text() {
        let html = ask("/t0ken").html;
        assert!(html.contains("&lt;b&gt;") && html.contains("&lt;i&gt;"), "{html}");
        assert!(!html.contains("<b>") && html.contains("<i>nothing</i>"), "{html}");
    }
}
