//! The manual and the reference as the pages of a site: plain files that link to each other, and a
//! list for the search. Paths are those of the documents in the project.

use super::html::{self, Page, Targets, page, page_path, way_up};
use super::manual::{DOCUMENTS, PICTURES};
use crate::error;
use crate::foundation::Error;
use crate::foundation::files;
use crate::resource::settings::SETTINGS;
use crate::script::emit::Api;
use crate::script::emit::json::quote;
use crate::script::emit::markdown;
use crate::script::emit::model::FunctionDoc;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// A file of the site.
pub struct File {
    /// Its path, with `/`.
    pub name: String,
    pub bytes: Cow<'static, [u8]>,
}

/// All files of the site.
pub struct Site {
    pub files: Vec<File>,
    targets: Targets,
}

/// The page that a browser sees first, at the root of the site.
pub const FIRST: &str = "docs/README.html";

/// A document: its path in the project, and its text.
type Document = (String, Cow<'static, str>);

const FRAME: &str = include_str!("../../../page/manual/frame.html");
const FILES: &[(&str, &[u8])] = &[
    ("manual.css", include_bytes!("../../../page/manual/manual.css")),
    ("manual.js", include_bytes!("../../../page/manual/manual.js")),
];

impl Site {
    pub fn new(api: &Api) -> Site {
        let documents = documents(api);
        let targets = targets(api, &documents);
        let pages: Vec<(&str, Page)> = documents
            .iter()
            .map(|(path, text)| (path.as_str(), page(path, text, &targets)))
            .collect();
        let mut files: Vec<File> = pages
            .iter()
            .map(|(path, page)| text_file(&page_path(path), framed(path, page, &pages)))
            .collect();
        files.push(text_file("index.html", forward()));
        files.push(text_file("search.js", search(&pages)));
        files.extend(
            FILES
                .iter()
                .chain(PICTURES)
                .map(|(name, bytes)| File { name: name.to_string(), bytes: Cow::Borrowed(*bytes) }),
        );
        Site { files, targets }
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.name == path)
    }

    /// The place of a name's words; a search for it where several have it, or none of its own.
    pub fn place(&self, name: &str) -> String {
        let found = self.targets.names.get(name).cloned();
        found.unwrap_or_else(|| format!("{FIRST}?q={name}"))
    }

    /// Writes all files into a folder.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        for file in &self.files {
            let path = folder.join(&file.name);
            let written = std::fs::create_dir_all(path.parent().unwrap_or(folder))
                .and_then(|()| files::write_safely(&path, &file.bytes));
            written.map_err(|reason| {
                let path = path.display();
                error!("{path} cannot be written: {reason}: choose another folder with --out")
            })?;
        }
        Ok(())
    }
}

fn text_file(name: &str, text: String) -> File {
    File { name: name.to_string(), bytes: Cow::Owned(text.into_bytes()) }
}

/// The documents of the manual, then those that are made from the rows.
fn documents(api: &Api) -> Vec<Document> {
    let written = DOCUMENTS.iter().map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).expect("documents are UTF-8");
        (path.to_string(), Cow::Borrowed(text))
    });
    let made = markdown::files(api).into_iter();
    written.chain(made.map(|file| (format!("docs/{}", file.name), file.text.into()))).collect()
}

/// Names with a dot are told apart from other words; so are modules.
fn targets(api: &Api, documents: &[Document]) -> Targets {
    let mut names = HashMap::new();
    let mut name = |name: String, to: String| names.insert(name, to);
    for module in &api.modules {
        name(module.name.clone(), format!("docs/reference/{}.html", module.name));
    }
    let mut functions = |page: &str, functions: &[FunctionDoc]| {
        for path in functions.iter().map(FunctionDoc::path) {
            let to = format!("docs/reference/{page}.html#{}", html::anchor(&path));
            name(path, to);
        }
    };
    for module in &api.modules {
        functions(&module.name, &module.functions);
    }
    functions("globals", &api.globals);
    functions("callbacks", &api.callbacks);
    let dotted: Vec<FunctionDoc> =
        api.testing.iter().filter(|item| item.path().contains('.')).cloned().collect();
    functions("testing", &dotted);
    for key in SETTINGS.iter().map(|setting| setting.key).filter(|key| key.contains('.')) {
        name(key.to_string(), "docs/settings.html".to_string());
    }
    Targets { documents: documents.iter().map(|(path, _)| path.clone()).collect(), names }
}

/// A page with what is around every page.
fn framed(path: &str, page: &Page, pages: &[(&str, Page)]) -> String {
    FRAME
        .replace("{title}", &html::escape(&page.title))
        .replace("{up}", &way_up(path))
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{list}", &list(path, pages))
        .replace("{body}", &page.body)
}

/// Links to the pages beside this one: those of the reference, or of the manual in the order of its
/// index.
fn list(path: &str, pages: &[(&str, Page)]) -> String {
    let in_reference = path.starts_with("docs/reference/");
    let is_first = |path: &str| page_path(path) == FIRST;
    let of_manual = |path: &str| path.starts_with("docs/") && path.matches('/').count() == 1;
    let index = pages.iter().find(|(path, _)| is_first(path));
    let order = index.map_or("", |(_, page)| page.body.as_str());
    let place = |path: &str| order.find(&format!("\"../{}", page_path(path)));
    let mut beside: Vec<&(&str, Page)> = pages
        .iter()
        .filter(|(other, _)| match in_reference {
            true => other.starts_with("docs/reference/"),
            false => is_first(other) || (of_manual(other) && place(other).is_some()),
        })
        .collect();
    if !in_reference {
        beside.sort_by_key(|(path, _)| (!is_first(path), place(path)));
    }
    let mut text = String::new();
    for (other, page) in beside {
        let here = if *other == path { " aria-current=\"page\"" } else { "" };
        let (to, title) = (page_path(other), html::escape(&page.title));
        text += &format!("<li><a href=\"{}{to}\"{here}>{title}</a></li>\n", way_up(path));
    }
    text
}

/// The page at the root leads to the first one.
fn forward() -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>engine</title>\n\
         <meta http-equiv=\"refresh\" content=\"0; url={FIRST}\">\n\
         <a href=\"{FIRST}\">The manual</a>\n"
    )
}

/// Every heading, for manual.js: its words, its place, its page, and what stands below.
fn search(pages: &[(&str, Page)]) -> String {
    let mut text = String::from("const ENTRIES = [\n");
    for (path, page) in pages {
        for (index, entry) in page.entries.iter().enumerate() {
            let place = match index {
                0 => page_path(path),
                _ => format!("{}#{}", page_path(path), entry.anchor),
            };
            text.push('[');
            for words in [entry.title.as_str(), &place, &page.title, entry.words.trim()] {
                quote(&mut text, words);
                text.push(',');
            }
            text += "],\n";
        }
    }
    text + "];\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// What stands in quotes behind a mark.
    fn quoted<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
        text.split(mark).skip(1).map(|after| after.split('"').next().unwrap_or_default())
    }

    /// What is not ASCII stands in links as its bytes.
    fn as_in_links(id: &str) -> String {
        let byte = |byte: u8| match byte.is_ascii() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        id.bytes().map(byte).collect()
    }

    #[test]
    fn every_link_and_every_picture_of_every_page_is_there() {
        let site = Site::new(&Api::new());
        let mut places = HashSet::new();
        let text = |file: &File| String::from_utf8(file.bytes.to_vec()).expect("it is text");
        for file in &site.files {
            places.insert(file.name.clone());
            if file.name.ends_with(".html") {
                let text = text(file);
                let id = |id: &str| format!("{}#{}", file.name, as_in_links(id));
                places.extend(quoted(&text, " id=\"").map(id));
            }
        }
        let mut dead = Vec::new();
        for file in site.files.iter().filter(|file| file.name.ends_with(".html")) {
            let text = text(file);
            for link in quoted(&text, " href=\"").chain(quoted(&text, " src=\"")) {
                if link.starts_with("http") || link == "data:," {
                    continue;
                }
                let here = file.name.rsplit_once('/').map_or("", |(folder, _)| folder);
                let mut parts: Vec<&str> =
                    here.split('/').filter(|part| !part.is_empty()).collect();
                for part in link.split('/') {
                    match part {
                        ".." => drop(parts.pop()),
                        part => parts.push(part),
                    }
                }
                let to = match link.strip_prefix('#') {
                    Some(id) => format!("{}#{id}", file.name),
                    None => parts.join("/"),
                };
                if !places.contains(&to) {
                    dead.push(format!("{}: {link}", file.name));
                }
            }
        }
        assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
    }

    #[test]
    fn names_lead_to_their_words_and_others_to_a_search() {
        let site = Site::new(&Api::new());
        assert_eq!(site.place("Gui.text"), "docs/reference/Gui.html#guitext");
        assert_eq!(site.place("Vector3"), "docs/reference/Vector3.html");
        assert_eq!(site.place("length"), "docs/README.html?q=length");
    }

    #[test]
    fn the_list_beside_a_page_has_the_order_of_the_index() {
        let site = Site::new(&Api::new());
        let page = site.file("docs/gui.html").expect("the page is there");
        let text = String::from_utf8_lossy(&page.bytes);
        let list = text.split("</nav>").next().unwrap_or_default();
        let place = |name: &str| list.find(&format!("docs/{name}.html")).expect(name);
        assert!(place("README") < place("first_game") && place("first_game") < place("gui"));
        assert!(list.contains("gui.html\" aria-current=\"page\""));
    }
}
