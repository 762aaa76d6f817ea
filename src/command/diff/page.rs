//! `engine diff --page`: the page of `--html` in the browser, with a link that draws both versions
//! again. It is served by this command, which a person started: a running game, which is confined,
//! can start no programs.

use crate::local_page::{self, LocalPage, PageAnswer};
use std::sync::{Arc, Mutex, PoisonError};

/// Function that compares and draws the versions as they are now.
type MakePage = dyn Fn() -> Result<String, String> + Send + Sync;

/// The page as it was drawn last.
struct DifferencePage {
    token: String,
    make: Box<MakePage>,
    html: Mutex<Arc<str>>,
}

/// Shows a page until the person closes it. `make` returns its next content.
///
/// # Errors
/// Returns a message if no page can be shown.
pub fn show(first: String, make: Box<MakePage>) -> Result<(), String> {
    local_page::show("the differences", |token| {
        let html = Mutex::new(with_links(token, &first));
        // Drawing can take a minute: the browser opens after the first one.
        Box::new(DifferencePage { token: token.to_string(), make, html })
    })
}

/// Returns a page with links to draw it again, and to end the command.
fn with_links(token: &str, html: &str) -> Arc<str> {
    format!(
        "{html}<p><a href=\"/{token}/again\">Draw again</a> \
         <a href=\"/{token}/close\">Close</a></p>\n"
    )
    .into()
}

impl LocalPage<()> for DifferencePage {
    fn answer(&self, path: &str, _: &str) -> PageAnswer<()> {
        // One drawing at a time: other requests for the page wait for it.
        let html = || self.html.lock().unwrap_or_else(PoisonError::into_inner);
        match path {
            "" => PageAnswer { status: 200, html: html().clone(), outcome: None },
            "again" => {
                let mut html = html();
                match (self.make)() {
                    Ok(made) => {
                        *html = with_links(&self.token, &made);
                        PageAnswer { status: 200, html: html.clone(), outcome: None }
                    }
                    // The last page stays.
                    Err(message) => PageAnswer::text(200, &message),
                }
            }
            "close" => {
                let answer =
                    PageAnswer::text(200, "The command has ended. You can close this page.");
                PageAnswer { outcome: Some(()), ..answer }
            }
            _ => PageAnswer::text(404, "there is no such page"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn the_page_is_made_again_when_a_person_asks() {
        let count = AtomicU32::new(0);
        let make = move || match count.fetch_add(1, Ordering::Relaxed) {
            2 => Err("old.unit cannot be read".to_string()),
            number => Ok(format!("<p>drawing {number}</p>")),
        };
        let html = Mutex::new(with_links("t", &make().unwrap()));
        let page = DifferencePage { token: "t".to_string(), make: Box::new(make), html };
        let first = page.answer("", "").html;
        assert!(first.contains("drawing 0") && first.contains("href=\"/t/again\""), "{first}");
        assert!(page.answer("again", "").html.contains("drawing 1"));
        assert!(page.answer("again", "").html.contains("old.unit cannot be read"));
        assert!(page.answer("", "").html.contains("drawing 1"), "the last page stays");
        assert_eq!(page.answer("other", "").status, 404);
        assert_eq!(page.answer("close", "").outcome, Some(()));
    }
}
