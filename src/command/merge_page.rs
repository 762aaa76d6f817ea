//! A page in the browser on which a person chooses between both sides of a merge.

use super::local_page::{self, LocalPage, PageAnswer};
use engine_content::merge::{MergeSide, Override};
use engine_foundation::xml::{escape_for_display, escape_lines_for_display};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Maximum number of choices on a page. They are sent in the head of one request.
const CHOICES_MAX: usize = 500;
/// Maximum size of a value that is shown, in bytes.
const VALUE_SHOWN_MAX: usize = 64 << 10;

const STYLE: &str = ":root { color-scheme: light dark } \
    body { font: 15px system-ui, sans-serif; margin: 24px auto; max-width: 70em; padding: 0 16px } \
    fieldset { margin: 0 0 14px; border: 1px solid; border-radius: 6px; display: grid; \
    grid-template-columns: 1fr 1fr; gap: 12px } legend { font-weight: 600 } \
    pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 20em; overflow: auto; \
    margin: 4px 0 0; padding: 6px; border: 1px solid #8888; border-radius: 4px } \
    label:has(:checked) pre { outline: 2px solid #2a7de1 } \
    button { font: inherit; padding: 6px 14px; margin-right: 8px }";

/// Sides by the path of the value. The texts are shared with the report of the merge.
pub type Choices = HashMap<Arc<str>, MergeSide>;

/// The page, and the paths of its values.
struct MergePage {
    html: Arc<str>,
    paths: Vec<Arc<str>>,
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
    let purpose = format!("choose between both sides of {path}");
    local_page::show(&purpose, |token| Box::new(MergePage::new(path, token, overrides)))?
}

impl LocalPage<Result<Choices, String>> for MergePage {
    fn answer(&self, path: &str, query: &str) -> PageAnswer<Result<Choices, String>> {
        match path {
            "" => PageAnswer { status: 200, html: self.html.clone(), outcome: None },
            "choose" => match self.choices(query) {
                Ok(choices) => {
                    let answer =
                        PageAnswer::text(200, "The choice was taken. You can close this page.");
                    PageAnswer { outcome: Some(Ok(choices)), ..answer }
                }
                Err(message) => PageAnswer::text(400, &message),
            },
            "cancel" => {
                let answer = PageAnswer::text(200, "Nothing is written. You can close this page.");
                let outcome = Some(Err("the choice was cancelled: nothing is written".to_string()));
                PageAnswer { outcome, ..answer }
            }
            _ => PageAnswer::text(404, "there is no such page"),
        }
    }
}

impl MergePage {
    fn new(path: &str, token: &str, overrides: &[Override]) -> MergePage {
        let paths = overrides.iter().map(|change| change.path.clone()).collect();
        MergePage { html: page(path, token, overrides).into(), paths }
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
        let name = if change.path.is_empty() { "the file" } else { &*change.path };
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

    fn ask(path: &str, query: &str) -> PageAnswer<Result<Choices, String>> {
        let change = |path: &str| Override {
            path: path.into(),
            kind: OverrideKind::Value,
            winner: MergeSide::Right,
            left: "\"<b>\"".to_string(),
            right: String::new(),
        };
        let overrides = [change("a.b"), change("<i>")];
        MergePage::new("x.level", "t0ken", &overrides).answer(path, query)
    }

    #[test]
    fn choices_are_taken_once_for_each_value() {
        let found = ask("choose", "0=left&1=right").outcome.unwrap().unwrap();
        assert_eq!((found["a.b"], found["<i>"]), (MergeSide::Left, MergeSide::Right));
        let found = ask("choose", "1=left&rest=right").outcome.unwrap().unwrap();
        assert_eq!((found["a.b"], found["<i>"]), (MergeSide::Right, MergeSide::Left));
        assert!(ask("cancel", "").outcome.unwrap().is_err());
    }

    #[test]
    fn other_requests_have_no_outcome() {
        for (path, query, status) in [
            ("", "", 200),
            ("other", "rest=left", 404),
            ("choose", "0=left", 400),
            ("choose", "0=up&rest=left", 400),
            ("choose", "2=left&rest=left", 400),
        ] {
            let answer = ask(path, query);
            assert_eq!((answer.status, answer.outcome.is_none()), (status, true), "{path}");
        }
    }

    #[test]
    fn values_are_shown_as_text() {
        let html = ask("", "").html;
        assert!(html.contains("&lt;b&gt;") && html.contains("&lt;i&gt;"), "{html}");
        assert!(!html.contains("<b>") && html.contains("<i>nothing</i>"), "{html}");
    }
}
