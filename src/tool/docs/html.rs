//! A document of the manual as HTML: links to other documents lead to their pages, headings have
//! the anchors that links name, and names of the reference lead into it. Knows no files.

use super::colours;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

/// What links may lead to.
pub struct Targets {
    /// Paths in the project of all documents.
    pub documents: Vec<String>,
    /// Functions, modules and settings with the place of their words, as
    /// `docs/reference/Gui.html#guitext`.
    pub names: HashMap<String, String>,
}

/// A document as HTML, and what a search finds in it.
pub struct Page {
    pub title: String,
    pub body: String,
    pub entries: Vec<Entry>,
}

/// A heading with the first words below it.
#[derive(Debug, PartialEq)]
pub struct Entry {
    pub title: String,
    pub anchor: String,
    pub words: String,
}

/// The most characters of an entry's words.
const WORDS_MAX: usize = 160;

/// The page of a document, by its path in the project.
pub fn page(path: &str, markdown: &str, targets: &Targets) -> Page {
    let mut writer = Writer::new(path, targets);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        writer.take(event);
    }
    let mut body = String::new();
    html::push_html(&mut body, writer.events.into_iter());
    // Wide tables scroll by themselves.
    let body = body.replace("<table>", "<div class=\"wide\"><table>");
    let body = body.replace("</table>", "</table></div>");
    let title = writer.entries.first().map_or(path.to_string(), |entry| entry.title.clone());
    Page { title, body, entries: writer.entries }
}

/// The page that a document becomes.
pub fn page_path(document: &str) -> String {
    format!("{}.html", document.strip_suffix(".md").unwrap_or(document))
}

/// The way from a page to the folder of all pages.
pub fn way_up(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

/// What readers of Markdown make of a heading: its letters, digits, `-` and `_` in lower case.
pub fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Words that stand between the marks of HTML.
pub fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The path that a link from a document means; none where it leads out of the project.
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

/// What is being read.
#[derive(Default)]
enum Within {
    #[default]
    Nothing,
    /// A heading, whose event stands at that place.
    Heading(usize, String),
    /// A block of code, and whether it is Lua.
    Code(bool, String),
}

struct Writer<'a> {
    path: &'a str,
    targets: &'a Targets,
    events: Vec<Event<'a>>,
    entries: Vec<Entry>,
    within: Within,
    /// For each link around: whether it leads somewhere.
    links: Vec<bool>,
}

impl<'a> Writer<'a> {
    fn new(path: &'a str, targets: &'a Targets) -> Writer<'a> {
        let (events, entries, links) = (Vec::new(), Vec::new(), Vec::new());
        Writer { path, targets, events, entries, within: Within::Nothing, links }
    }

    fn take(&mut self, event: Event<'a>) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                self.within = Within::Heading(self.events.len(), String::new());
                self.events.push(event);
            }
            Event::End(TagEnd::Heading(_)) => {
                self.end_heading();
                self.events.push(event);
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let lua = matches!(&kind, CodeBlockKind::Fenced(word) if word.starts_with("lua"));
                self.within = Within::Code(lua, String::new());
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
            // The words of a link that leads out of the manual stay without it.
            Event::End(TagEnd::Link) => {
                if self.links.pop() == Some(true) {
                    self.events.push(event);
                }
            }
            Event::Text(words) => self.text(words),
            Event::Code(words) => self.code(words),
            Event::SoftBreak | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => {
                self.below_heading(" ");
                self.events.push(event);
            }
            // Comments.
            Event::Html(_) | Event::InlineHtml(_) => {}
            other => self.events.push(other),
        }
    }

    fn text(&mut self, words: CowStr<'a>) {
        match &mut self.within {
            Within::Code(_, text) => return text.push_str(&words),
            Within::Heading(_, heading) => heading.push_str(&words),
            Within::Nothing => self.below_heading(&words),
        }
        self.events.push(Event::Text(words));
    }

    fn code(&mut self, words: CowStr<'a>) {
        match &mut self.within {
            Within::Heading(_, heading) => heading.push_str(&words),
            _ => self.below_heading(&words),
        }
        let free = self.links.is_empty() && matches!(self.within, Within::Nothing);
        let Some(to) = self.targets.names.get(&*words).filter(|_| free) else {
            return self.events.push(Event::Code(words));
        };
        let (up, words) = (way_up(self.path), escape(&words));
        let link = format!("<a href=\"{up}{to}\"><code>{words}</code></a>");
        self.events.push(Event::InlineHtml(link.into()));
    }

    /// Notes the first words below a heading.
    fn below_heading(&mut self, words: &str) {
        if let Some(entry) = self.entries.last_mut()
            && entry.words.len() < WORDS_MAX
        {
            entry.words.push_str(words);
        }
    }

    fn end_heading(&mut self) {
        let Within::Heading(start, title) = std::mem::take(&mut self.within) else { return };
        let mut own = anchor(&title);
        let same = self.entries.iter().filter(|entry| anchor(&entry.title) == own).count();
        if same > 0 {
            own = format!("{own}-{same}");
        }
        if let Event::Start(Tag::Heading { id, .. }) = &mut self.events[start] {
            *id = Some(own.clone().into());
        }
        self.entries.push(Entry { title, anchor: own, words: String::new() });
    }

    fn end_code(&mut self) {
        let Within::Code(lua, text) = std::mem::take(&mut self.within) else { return };
        let up = way_up(self.path);
        let link = |name: &str| self.targets.names.get(name).map(|to| format!("{up}{to}"));
        let text = if lua { colours::lua(&text, link) } else { escape(&text) };
        self.events.push(Event::Html(format!("<pre><code>{text}</code></pre>\n").into()));
    }

    /// Where a link of the document leads from its page.
    fn leads_to(&self, link: &str) -> Option<String> {
        if link.starts_with("https://") || link.starts_with("http://") || link.starts_with('#') {
            return Some(link.to_string());
        }
        let (file, place) = link.split_once('#').map_or((link, None), |(a, b)| (a, Some(b)));
        let path = resolve(self.path, file)?;
        if !self.targets.documents.contains(&path) {
            return None;
        }
        let place = place.map(|place| format!("#{place}")).unwrap_or_default();
        Some(format!("{}{}{place}", way_up(self.path), page_path(&path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets() -> Targets {
        let names = [("Gui.text", "docs/reference/Gui.html#guitext")];
        Targets {
            documents: ["README.md", "docs/a.md", "docs/b.md"].map(String::from).to_vec(),
            names: names.map(|(name, to)| (name.to_string(), to.to_string())).into(),
        }
    }

    #[track_caller]
    fn check(markdown: &str, wanted: &str) {
        assert_eq!(page("docs/a.md", markdown, &targets()).body.trim_end(), wanted);
    }

    #[test]
    fn links_lead_to_pages_and_those_to_other_files_are_words() {
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
    fn headings_have_the_anchors_that_links_name() {
        check("# Gui.bitmap_3d", "<h1 id=\"guibitmap_3d\">Gui.bitmap_3d</h1>");
        check("# A `b`, c", "<h1 id=\"a-b-c\">A <code>b</code>, c</h1>");
        check("# x\n# x", "<h1 id=\"x\">x</h1>\n<h1 id=\"x-1\">x</h1>");
    }

    #[test]
    fn headings_and_the_words_below_are_what_a_search_finds() {
        let found = page("docs/a.md", "# One\n\nfirst `Gui.text`\n\n## Two\n", &targets());
        let entry = |title: &str, anchor: &str, words: &str| Entry {
            title: title.to_string(),
            anchor: anchor.to_string(),
            words: words.to_string(),
        };
        let wanted = [entry("One", "one", "first Gui.text "), entry("Two", "two", "")];
        assert_eq!((found.title.as_str(), found.entries.as_slice()), ("One", &wanted[..]));
    }

    #[test]
    fn code_is_shown_as_it_stands() {
        check("    a < b & c", "<pre><code>a &lt; b &amp; c</code></pre>");
        check("<!-- made -->\n\nx", "<p>x</p>");
        // Neither does HTML, nor a link that is a script.
        check("<script>owned()</script>\n\nx", "<p>x</p>");
        check("a <img src=x onerror=owned()> b", "<p>a  b</p>");
        check("`<b>`", "<p><code>&lt;b&gt;</code></p>");
        check("# <b>x", "<h1 id=\"x\">x</h1>");
        check("    </code><b>", "<pre><code>&lt;/code&gt;&lt;b&gt;</code></pre>");
        check("[x](javascript:owned()) [y](data:text/html,z)", "<p>x y</p>");
    }
}
