//! `engine diff --page`: the page of `--html` in the browser, with a link that draws both versions
//! again. It is served by this command, which a person started: a running game, which is confined,
//! can start no programs.

use crate::local_page::{self, LocalPage, PageAnswer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Function that compares and draws the versions as they are now, until the flag is set.
type MakePage = dyn Fn(&AtomicBool) -> Result<String, String> + Send + Sync;

const ENDED: &str = "The command has ended. You can close this page.";

/// The page as it was drawn last.
struct DifferencePage {
    token: String,
    make: Box<MakePage>,
    /// Locked during a drawing: one at a time, and other requests for the page wait for it.
    html: Mutex<Arc<str>>,
    /// True when no drawing may go on.
    is_stopped: AtomicBool,
}

/// Shows a page until the person closes it. `make` returns its next content.
///
/// # Errors
/// Returns a message if no page can be shown.
pub fn show(first: String, make: Box<MakePage>) -> Result<(), String> {
    let mut shown = None;
    let outcome: Result<(), String> = local_page::show("the differences", |token| {
        // Drawing can take a minute: the browser opens after the first one.
        let page = Arc::new(DifferencePage::new(token, &first, make));
        shown = Some(page.clone());
        Box::new(page)
    });
    // No run and no copy outlives the command, also if it ends by a signal.
    if let Some(page) = shown {
        page.stop();
    }
    outcome
}

impl DifferencePage {
    fn new(token: &str, first: &str, make: Box<MakePage>) -> DifferencePage {
        let (token, html) = (token.to_string(), Mutex::new(with_links(token, first)));
        DifferencePage { token, make, html, is_stopped: AtomicBool::new(false) }
    }

    fn html(&self) -> MutexGuard<'_, Arc<str>> {
        self.html.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a drawing, and waits for its end.
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        drop(self.html());
    }

    fn draw_again(&self) -> PageAnswer<()> {
        let mut html = self.html();
        if self.is_stopped.load(Ordering::SeqCst) {
            return PageAnswer::text(200, ENDED);
        }
        match (self.make)(&self.is_stopped) {
            Ok(made) => {
                *html = with_links(&self.token, &made);
                PageAnswer { status: 200, html: html.clone(), outcome: None }
            }
            // The last page stays.
            Err(message) => PageAnswer::text(200, &message),
        }
    }
}

/// Returns a page with links to draw it again, and to end the command.
fn with_links(token: &str, html: &str) -> Arc<str> {
    format!(
        "{html}<p><a href=\"/{token}/again\">Draw again</a> \
         <a href=\"/{token}/close\">Close</a></p>\n"
    )
    .into()
}

impl LocalPage<()> for Arc<DifferencePage> {
    fn answer(&self, path: &str, _: &str) -> PageAnswer<()> {
        match path {
            "" => PageAnswer { status: 200, html: self.html().clone(), outcome: None },
            "again" => self.draw_again(),
            "close" => PageAnswer { outcome: Some(()), ..PageAnswer::text(200, ENDED) },
            _ => PageAnswer::text(404, "there is no such page"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_page_is_drawn_again_when_a_person_asks() {
        let count = AtomicU32::new(0);
        let make = move |_: &AtomicBool| match count.fetch_add(1, Ordering::Relaxed) {
            2 => Err("old.unit cannot be read".to_string()),
            number => Ok(format!("<p>drawing {number}</p>")),
        };
        let first = make(&AtomicBool::new(false)).unwrap();
        let page = Arc::new(DifferencePage::new("t", &first, Box::new(make)));
        let first = page.answer("", "").html;
        assert!(first.contains("drawing 0") && first.contains("href=\"/t/again\""), "{first}");
        assert!(page.answer("again", "").html.contains("drawing 1"));
        assert!(page.answer("again", "").html.contains("old.unit cannot be read"));
        assert!(page.answer("", "").html.contains("drawing 1"), "the last page stays");
        assert_eq!(page.answer("other", "").status, 404);
        assert_eq!(page.answer("close", "").outcome, Some(()));
    }

    #[test]
    fn the_end_waits_for_a_drawing_that_it_stops() {
        let (sender, begun) = channel();
        let ended = Arc::new(AtomicBool::new(false));
        let own = ended.clone();
        let make = move |is_stopped: &AtomicBool| {
            sender.send(()).unwrap();
            while !is_stopped.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            // The copies are removed.
            thread::sleep(Duration::from_millis(50));
            own.store(true, Ordering::SeqCst);
            Err("stopped".to_string())
        };
        let page = Arc::new(DifferencePage::new("t", "", Box::new(make)));
        let drawn = page.clone();
        let drawing = thread::spawn(move || drawn.answer("again", "").html);
        begun.recv().unwrap();
        page.stop();
        assert!(ended.load(Ordering::SeqCst));
        assert!(drawing.join().unwrap().contains("stopped"));
        assert!(page.answer("again", "").html.contains("has ended"), "no drawing begins");
        assert!(begun.try_recv().is_err());
    }
}
