//! Conversion of the manual's Markdown documents to HTML. Links to other documents lead to their
//! pages, headings get the anchors that links use, and names of the reference become links to it.
//! Knows no files.

use super::lua_highlight;
use engine_foundation::xml::escape;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

/// Targets that links may lead to.
pub struct LinkTargets {
    /// Paths of all documents in the project.
    pub documents: Vec<String>,
    /// Functions, modules and settings with the location of their description, such as
    /// `docs/reference/Gui.html#guitext`.
    pub names: HashMap<String, String>,
}

/// Document as HTML, with its entries for the search.
pub struct HtmlPage {
    pub title: String,
    pub body: String,
    pub entries: Vec<SearchEntry>,
}

/// Search entry: a heading with the text below it, tables included.
#[derive(Debug, PartialEq)]
pub struct SearchEntry {
    pub title: String,
    pub anchor: String,
    pub text: String,
}

/// Length of an entry's text, in bytes, at which no more text is added.
const TEXT_BYTES_MAX: usize = 4000;

/// Converts a document to a page; `path` is the document's path in the project.
pub fn page(path: &str, markdown: &str, targets: &LinkTargets) -> HtmlPage {
    let mut writer = HtmlWriter::new(path, targets);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        writer.take(event);
    }
    let mut body = String::new();
    html::push_html(&mut body, writer.events.into_iter());
    // Wide tables scroll separately from the page.
    let body = body.replace("<table>", "<div class=\"wide\"><table>");
    let body = body.replace("</table>", "</table></div>");
    let title = writer.entries.first().map_or(path.to_string(), |entry| entry.title.clone());
    HtmlPage { title, body, entries: writer.entries }
}

/// Returns the path of a document's page.
pub fn page_path(document: &str) -> String {
    format!("{}.html", document.strip_suffix(".md").unwrap_or(document))
}

/// Returns the relative path from a page to the root of the site.
pub fn path_to_root(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

/// Returns the anchor that Markdown renderers give a heading: its letters, digits, `-` and `_` in
/// lower case.
pub fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Resolves a link relative to a document; `None` if it leads out of the project.
fn resolve(document: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// State of the parser.
#[derive(Default)]
enum ParseState {
    #[default]
    Nothing,
    /// A heading, with the index of its event.
    Heading(usize, String),
    /// A code block; true if it is Lua.
    Code(bool, String),
}

struct HtmlWriter<'a> {
    path: &'a str,
    targets: &'a LinkTargets,
    events: Vec<Event<'a>>,
    entries: Vec<SearchEntry>,
    within: ParseState,
    /// For each enclosing link: true if it has a target.
    links: Vec<bool>,
}

impl<'a> HtmlWriter<'a> {
    fn new(path: &'a str, targets: &'a LinkTargets) -> HtmlWriter<'a> {
        let (events, entries, links) = (Vec::new(), Vec::new(), Vec::new());
        HtmlWriter { path, targets, events, entries, within: ParseState::Nothing, links }
    }

    fn take(&mut self, event: Event<'a>) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                self.within = ParseState::Heading(self.events.len(), String::new());
                self.events.push(event);
            }
            Event::End(TagEnd::Heading(_)) => {
                self.end_heading();
                self.events.push(event);
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let lua = matches!(&kind, CodeBlockKind::Fenced(word) if word.starts_with("lua"));
                self.within = ParseState::Code(lua, String::new());
            }
            Event::End(TagEnd::CodeBlock) => self.end_code(),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let to = self.leads_to(&dest_url);
                self.links.push(to.is_some());
                if let Some(to) = to {
                    let dest_url = CowStr::from(to);
                    self.events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            // A link that leads out of the manual becomes plain text.
            Event::End(TagEnd::Link) => {
                if self.links.pop() == Some(true) {
                    self.events.push(event);
                }
            }
            Event::Text(text) => self.text(text),
            Event::Code(text) => self.code(text),
            Event::SoftBreak | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => {
                self.below_heading(" ");
                self.events.push(event);
            }
            // HTML comments and tags are dropped.
            Event::Html(_) | Event::InlineHtml(_) => {}
            other => self.events.push(other),
        }
    }

    fn text(&mut self, text: CowStr<'a>) {
        match &mut self.within {
            ParseState::Code(_, code) => return code.push_str(&text),
            ParseState::Heading(_, heading) => heading.push_str(&text),
            ParseState::Nothing => self.below_heading(&text),
        }
        self.events.push(Event::Text(text));
    }

    fn code(&mut self, text: CowStr<'a>) {
        match &mut self.within {
            ParseState::Heading(_, heading) => heading.push_str(&text),
            _ => self.below_heading(&text),
        }
        let free = self.links.is_empty() && matches!(self.within, ParseState::Nothing);
        let Some(to) = self.targets.names.get(&*text).filter(|_| free) else {
            return self.events.push(Event::Code(text));
        };
        let (up, text) = (path_to_root(self.path), escape(&text));
        let link = format!("<a href=\"{up}{to}\"><code>{text}</code></a>");
        self.events.push(Event::InlineHtml(link.into()));
    }

    /// Adds text to the search entry of the last heading.
    fn below_heading(&mut self, text: &str) {
        if let Some(entry) = self.entries.last_mut()
            && entry.text.len() < TEXT_BYTES_MAX
        {
            entry.text.push_str(text);
        }
    }

    fn end_heading(&mut self) {
        let ParseState::Heading(start, title) = std::mem::take(&mut self.within) else { return };
        let mut own = anchor(&title);
        let same = self.entries.iter().filter(|entry| anchor(&entry.title) == own).count();
        if same > 0 {
            own = format!("{own}-{same}");
        }
        if let Event::Start(Tag::Heading { id, .. }) = &mut self.events[start] {
            *id = Some(own.clone().into());
        }
        self.entries.push(SearchEntry { title, anchor: own, text: String::new() });
    }

    fn end_code(&mut self) {
        let ParseState::Code(lua, text) = std::mem::take(&mut self.within) else { return };
        let up = path_to_root(self.path);
        let link = |name: &str| self.targets.names.get(name).map(|to| format!("{up}{to}"));
        let text = if lua { lua_highlight::lua(&text, link) } else { escape(&text) };
        self.events.push(Event::Html(format!("<pre><code>{text}</code></pre>\n").into()));
    }

    /// Returns the target of a document's link, relative to its page.
    fn leads_to(&self, link: &str) -> Option<String> {
        if link.starts_with("https://") || link.starts_with("http://") || link.starts_with('#') {
            return Some(link.to_string());
        }
        let (file, anchor) = link.split_once('#').map_or((link, None), |(a, b)| (a, Some(b)));
        let path = resolve(self.path, file)?;
        if !self.targets.documents.contains(&path) {
            return None;
        }
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        Some(format!("{}{}{anchor}", path_to_root(self.path), page_path(&path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets() -> LinkTargets {
        let names = [("Gui.text", "docs/reference/Gui.html#guitext")];
        LinkTargets {
            documents: ["README.md", "docs/a.md", "docs/b.md"].map(String::from).to_vec(),
            names: names.map(|(name, to)| (name.to_string(), to.to_string())).into(),
        }
    }

    #[track_caller]
    fn check(markdown: &str, wanted: &str) {
        assert_eq!(page("docs/a.md", markdown, &targets()).body.trim_end(), wanted);
    }

    #[test]
    fn links_to_pages_are_kept_and_other_file_links_become_text() {
        check("[b](b.md#x)", "<p><a href=\"../docs/b.html#x\">b</a></p>");
        check("[up](../README.md)", "<p><a href=\"../README.html\">up</a></p>");
        check("[code](../src/x.rs), [out](../../x.md)", "<p>code, out</p>");
        check("[site](https://a.b)", "<p><a href=\"https://a.b\">site</a></p>");
        let link = "<a href=\"../docs/reference/Gui.html#guitext\">";
        check(
            "`Gui.text`, `x`",
            &format!("<p>{link}<code>Gui.text</code></a>, <code>x</code></p>"),
        );
        check("[`Gui.text`](#t)", "<p><a href=\"#t\"><code>Gui.text</code></a></p>");
    }

    #[test]
    fn headings_have_the_anchors_used_by_links() {
        check("# Gui.bitmap_3d", "<h1 id=\"guibitmap_3d\">Gui.bitmap_3d</h1>");
        check("# A `b`, c", "<h1 id=\"a-b-c\">A <code>b</code>, c</h1>");
        check("# x\n# x", "<h1 id=\"x\">x</h1>\n<h1 id=\"x-1\">x</h1>");
    }

    #[test]
    fn the_search_index_contains_headings_and_their_text() {
        let found = page("docs/a.md", "# One\n\nfirst `Gui.text`\n\n## Two\n", &targets());
        let entry = |title: &str, anchor: &str, text: &str| SearchEntry {
            title: title.to_string(),
            anchor: anchor.to_string(),
            text: text.to_string(),
        };
        let wanted = [entry("One", "one", "first Gui.text "), entry("Two", "two", "")];
        assert_eq!((found.title.as_str(), found.entries.as_slice()), ("One", &wanted[..]));
    }

    #[test]
    fn code_blocks_are_printed_unchanged() {
        check("    a < b & c", "<pre><code>a &lt; b &amp; c</code></pre>");
        check("<!-- made -->\n\nx", "<p>x</p>");
        // Raw HTML is removed, and so are links that contain scripts.
        check("<script>owned()</script>\n\nx", "<p>x</p>");
        check("a <img src=x onerror=owned()> b", "<p>a  b</p>");
        check("`<b>`", "<p><code>&lt;b&gt;</code></p>");
        check("# <b>x", "<h1 id=\"x\">x</h1>");
        check("    </code><b>", "<pre><code>&lt;/code&gt;&lt;b&gt;</code></pre>");
        check("[x](javascript:owned()) [y](data:text/html,z)", "<p>x y</p>");
    }
}
