//! The manual and the reference as a static site: plain files that link to each other, and a search
//! index. Paths are those of the documents in the project.

use super::html::{self, HtmlPage, LinkTargets, page, page_path, path_to_root};
use super::manual::{DOCUMENTS, pictures};
use super::search::SearchIndex;
use engine_foundation::Error;
use engine_foundation::atomic_file;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::xml;
use engine_resource::settings::SETTINGS;
use engine_script::docgen::ApiModel;
use engine_script::docgen::markdown;
use engine_script::docgen::model::FunctionDoc;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// File of the site.
pub struct SiteFile {
    /// Path in the site, with `/`.
    pub name: String,
    pub bytes: Cow<'static, [u8]>,
}

/// All files of the site.
pub struct Site {
    pub files: Vec<SiteFile>,
    pub targets: LinkTargets,
    index: SearchIndex,
}

/// Start page of the site; the page at the root redirects to it.
pub const FIRST: &str = "docs/README.html";

/// Document: its path in the project, and its text.
type SiteDocument = (String, Cow<'static, str>);

const FRAME: &str = include_str!("../../../page/manual/frame.html");
const FILES: &[(&str, &[u8])] = &[
    ("manual.css", include_bytes!("../../../page/manual/manual.css")),
    ("manual.js", include_bytes!("../../../page/manual/manual.js")),
];

impl Site {
    pub fn new(api: &ApiModel) -> Site {
        let documents = documents(api);
        let targets = targets(api, &documents);
        let pages: Vec<(&str, HtmlPage)> = documents
            .iter()
            .map(|(path, text)| (path.as_str(), page(path, text, &targets)))
            .collect();
        let mut files: Vec<SiteFile> = pages
            .iter()
            .map(|(path, page)| text_file(&page_path(path), framed(path, page, &pages)))
            .collect();
        files.push(text_file("index.html", forward()));
        let index = SearchIndex::new(&pages, &targets);
        files.push(text_file("search.js", index.script()));
        files.extend(FILES.iter().chain(pictures()).map(|(name, bytes)| SiteFile {
            name: name.to_string(),
            bytes: Cow::Borrowed(*bytes),
        }));
        Site { files, targets, index }
    }

    pub fn search_index(&self) -> &SearchIndex {
        &self.index
    }

    pub fn file(&self, path: &str) -> Option<&SiteFile> {
        self.files.iter().find(|file| file.name == path)
    }

    /// Returns the location of a name's description, or of a search for the name if the description
    /// is missing or ambiguous.
    pub fn path_of_name(&self, name: &str) -> String {
        let found = self.targets.names.get(name).cloned();
        found.unwrap_or_else(|| format!("{FIRST}?q={}", percent_encoded(name)))
    }

    /// Writes all files to a folder.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        for file in &self.files {
            let path = folder.join(&file.name);
            let written = std::fs::create_dir_all(path.parent().unwrap_or(folder))
                .and_then(|()| atomic_file::write_durably(&path, &file.bytes));
            written.map_err(|reason| {
                let path = path.display();
                error!("{path} cannot be written: {reason}: choose another folder with --out")
            })?;
        }
        Ok(())
    }
}

/// Returns a text as a value in the query of an address.
fn percent_encoded(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn text_file(name: &str, text: String) -> SiteFile {
    SiteFile { name: name.to_string(), bytes: Cow::Owned(text.into_bytes()) }
}

/// Returns the documents of the manual, then those generated from the rows.
fn documents(api: &ApiModel) -> Vec<SiteDocument> {
    let written = DOCUMENTS.iter().map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).expect("documents are UTF-8");
        (path.to_string(), Cow::Borrowed(text))
    });
    let generated = markdown::files(api).into_iter();
    written.chain(generated.map(|file| (format!("docs/{}", file.name), file.text.into()))).collect()
}

/// Collects the link targets: modules, functions, and names with a dot, which cannot be confused
/// with ordinary words.
fn targets(api: &ApiModel, documents: &[SiteDocument]) -> LinkTargets {
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
    LinkTargets { documents: documents.iter().map(|(path, _)| path.clone()).collect(), names }
}

/// Returns a page in the frame that all pages share.
fn framed(path: &str, page: &HtmlPage, pages: &[(&str, HtmlPage)]) -> String {
    FRAME
        .replace("{title}", &xml::escape(&page.title))
        .replace("{up}", &path_to_root(path))
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{list}", &list(path, pages))
        .replace("{body}", &page.body)
}

/// Returns links to the neighboring pages: those of the reference, or of the manual in the order of
/// its index.
fn list(path: &str, pages: &[(&str, HtmlPage)]) -> String {
    let in_reference = path.starts_with("docs/reference/");
    let is_first = |path: &str| page_path(path) == FIRST;
    let of_manual = |path: &str| path.starts_with("docs/") && path.matches('/').count() == 1;
    let index = pages.iter().find(|(path, _)| is_first(path));
    let order = index.map_or("", |(_, page)| page.body.as_str());
    let position = |path: &str| order.find(&format!("\"../{}", page_path(path)));
    let mut listed: Vec<&(&str, HtmlPage)> = pages
        .iter()
        .filter(|(other, _)| match in_reference {
            true => other.starts_with("docs/reference/"),
            false => is_first(other) || (of_manual(other) && position(other).is_some()),
        })
        .collect();
    if !in_reference {
        listed.sort_compact_by_key(|(path, _)| (!is_first(path), position(path)));
    }
    let mut text = String::new();
    for (other, page) in listed {
        let here = if *other == path { " aria-current=\"page\"" } else { "" };
        let (to, title) = (page_path(other), xml::escape(&page.title));
        text += &format!("<li><a href=\"{}{to}\"{here}>{title}</a></li>\n", path_to_root(path));
    }
    text
}

/// Returns the page at the root, which redirects to the start page.
fn forward() -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>engine</title>\n\
         <meta http-equiv=\"refresh\" content=\"0; url={FIRST}\">\n\
         <a href=\"{FIRST}\">The manual</a>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Returns the quoted text after each mark.
    fn quoted<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
        text.split(mark).skip(1).map(|after| after.split('"').next().unwrap_or_default())
    }

    /// Percent-encodes non-ASCII characters, as links do.
    fn as_in_links(id: &str) -> String {
        let byte = |byte: u8| match byte.is_ascii() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        id.bytes().map(byte).collect()
    }

    #[test]
    fn every_link_and_image_of_every_page_exists() {
        let site = Site::new(&ApiModel::new());
        let mut targets = HashSet::new();
        let text = |file: &SiteFile| String::from_utf8(file.bytes.to_vec()).expect("it is text");
        for file in &site.files {
            targets.insert(file.name.clone());
            if file.name.ends_with(".html") {
                let text = text(file);
                let id = |id: &str| format!("{}#{}", file.name, as_in_links(id));
                targets.extend(quoted(&text, " id=\"").map(id));
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
                if !targets.contains(&to) {
                    dead.push(format!("{}: {link}", file.name));
                }
            }
        }
        assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
    }

    #[test]
    fn unknown_names_link_to_a_search() {
        let site = Site::new(&ApiModel::new());
        assert_eq!(site.path_of_name("Gui.text"), "docs/reference/Gui.html#guitext");
        assert_eq!(site.path_of_name("Vector3"), "docs/reference/Vector3.html");
        assert_eq!(site.path_of_name("length"), "docs/README.html?q=length");
        assert_eq!(site.path_of_name("a b&c#"), "docs/README.html?q=a%20b%26c%23");
    }

    #[test]
    fn the_sidebar_has_the_order_of_the_index() {
        let site = Site::new(&ApiModel::new());
        let page = site.file("docs/gui.html").expect("the page is there");
        let text = String::from_utf8_lossy(&page.bytes);
        let list = text.split("</nav>").next().unwrap_or_default();
        let position = |name: &str| list.find(&format!("docs/{name}.html")).expect(name);
        assert!(
            position("README") < position("first_game") && position("first_game") < position("gui")
        );
        assert!(list.contains("gui.html\" aria-current=\"page\""));
    }
}
