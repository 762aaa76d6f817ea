//! The search of the manual and the reference: finds headings by words, and by the words of other
//! engines. page/manual/manual.js ranks in the same way, and a test compares the two.

use super::html::{HtmlPage, LinkTargets, page_path};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::json::quoted;
use engine_script::docgen::standard_library;
use engine_script::familiar_names::familiar_names;
use std::collections::HashMap;

/// A heading of the manual or the reference.
pub struct IndexEntry {
    pub title: String,
    /// Address in the site: path and anchor.
    pub address: String,
    /// Title of the page.
    pub page: String,
    /// The text below the heading.
    pub text: String,
    /// Terms of other engines and everyday words for it, best first.
    pub aliases: Vec<&'static str>,
}

/// All headings, in the order of the site.
pub struct SearchIndex {
    pub entries: Vec<IndexEntry>,
}

/// Maximum number of results.
pub const RESULTS_MAX: usize = 12;

/// Terms that carry no meaning in a search, unless it has no others.
const FILLERS: [&str; 20] = [
    "a", "an", "the", "how", "to", "do", "i", "of", "in", "on", "is", "my", "can", "with", "for",
    "and", "take", "make", "use", "using",
];

/// Page of Lua's own library.
const LUA_PAGE: &str = "docs/reference/lua.html";

/// Pages with the functions of another page, `Pad1`, of which the title alone is found.
const REPEATED_PAGES: [&str; 7] = [
    "docs/reference/Pad2.md",
    "docs/reference/Pad3.md",
    "docs/reference/Pad4.md",
    "docs/reference/Pad5.md",
    "docs/reference/Pad6.md",
    "docs/reference/Pad7.md",
    "docs/reference/Pad8.md",
];

/// Pages that follow the others, and the score that their entries lose. The parts of the changelog
/// name everything; the page on security explains few functions.
const LAST_PAGES: [(&str, f64); 3] = [
    ("CHANGELOG.html", 1000.0),
    ("docs/reference/nodes.html", 1000.0),
    ("docs/security.html", 150.0),
];

// Scores of a whole query.
const SAME_TITLE: f64 = 300.0;
const SAME_NAME: f64 = 250.0;
const SAME_ALIAS: f64 = 200.0;
/// Score that each row of the table above loses.
const ROW: f64 = 0.1;
// Scores of one term.
const TITLE_TERM: f64 = 40.0;
const TITLE_START: f64 = 25.0;
const ALIAS_TERM: f64 = 20.0;
const ALIAS_START: f64 = 12.0;
const TITLE_PART: f64 = 10.0;
const PAGE_PART: f64 = 8.0;
const TEXT_PART: f64 = 3.0;
/// Minimum length of a term that matches a part of a word, in characters.
const PART_LENGTH_MIN: usize = 4;
/// Score that each character of a title loses, so that short titles come first.
const LENGTH: f64 = 0.01;

impl SearchIndex {
    pub fn new(pages: &[(&str, HtmlPage)], targets: &LinkTargets) -> SearchIndex {
        let aliases = aliases_by_address(targets);
        let mut entries = Vec::new();
        for (path, page) in pages {
            let is_repeated = REPEATED_PAGES.contains(path);
            for (index, entry) in page.entries.iter().enumerate() {
                if is_repeated && index > 0 {
                    break;
                }
                let address = match index {
                    0 => page_path(path),
                    _ => format!("{}#{}", page_path(path), entry.anchor),
                };
                entries.push(IndexEntry {
                    title: entry.title.clone(),
                    aliases: aliases.get(&address).cloned().unwrap_or_default(),
                    address,
                    page: page.title.clone(),
                    text: entry.text.trim().to_string(),
                });
            }
        }
        SearchIndex { entries }
    }

    /// Returns the best entries for a query, best first. If no entry has all terms of the query,
    /// entries that have the most of them are returned.
    pub fn find(&self, query: &str) -> Vec<&IndexEntry> {
        let (whole, terms) = (squash(query), terms(query));
        let mut hits: Vec<(usize, f64, usize)> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let (found, mut score) = score(entry, &whole, &terms);
            if found > 0 {
                score -= entry.title.chars().count() as f64 * LENGTH;
                let page = entry.address.split('#').next().unwrap_or_default();
                let last = LAST_PAGES.iter().find(|(known, _)| *known == page);
                score -= last.map_or(0.0, |(_, loss)| *loss);
                hits.push((found, score, index));
            }
        }
        let most = hits.iter().map(|hit| hit.0).max().unwrap_or(0);
        hits.retain(|hit| hit.0 == most);
        hits.sort_compact_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
        hits.iter().take(RESULTS_MAX).map(|hit| &self.entries[hit.2]).collect()
    }

    /// Returns true if an entry has all terms of a query.
    pub fn has_all_terms(&self, entry: &IndexEntry, query: &str) -> bool {
        let terms = terms(query);
        score(entry, &squash(query), &terms).0 == terms.len()
    }

    /// Returns true if a query is exactly an alias.
    pub fn has_alias(&self, query: &str) -> bool {
        let whole = squash(query);
        self.entries.iter().any(|entry| entry.aliases.iter().any(|alias| squash(alias) == whole))
    }

    /// Returns the index for manual.js: for every heading, its text, location, page, the text
    /// below, and its aliases.
    pub fn script(&self) -> String {
        let mut script = String::from("const ENTRIES = [\n");
        for entry in &self.entries {
            let aliases = entry.aliases.join(",");
            script.push('[');
            for part in [&entry.title, &entry.address, &entry.page, &entry.text, &aliases] {
                script += &quoted(part);
                script.push(',');
            }
            script += "],\n";
        }
        script + "];\n"
    }
}

/// Returns the aliases of the table by the address of their target.
fn aliases_by_address(targets: &LinkTargets) -> HashMap<String, Vec<&'static str>> {
    let mut aliases: HashMap<String, Vec<&str>> = HashMap::new();
    for row in familiar_names() {
        if let Some(address) = address_of(row.target, targets) {
            aliases.entry(address).or_default().extend(row.aliases());
        }
    }
    aliases
}

/// Returns the address of a function, a module or a page. Functions of Lua's own library share a
/// page.
fn address_of(target: &str, targets: &LinkTargets) -> Option<String> {
    if let Some(page) = target.strip_prefix("docs/") {
        let (page, anchor) = page.split_once('#').unwrap_or((page, ""));
        let hash = if anchor.is_empty() { "" } else { "#" };
        return Some(format!("{}{hash}{anchor}", page_path(&format!("docs/{page}"))));
    }
    let is_of_lua = || standard_library::documentation_of(target).is_some();
    let known = targets.names.get(target).cloned();
    known.or_else(|| is_of_lua().then(|| LUA_PAGE.to_string()))
}

/// Returns how many terms an entry has, and its score.
fn score(entry: &IndexEntry, whole: &str, terms: &[String]) -> (usize, f64) {
    let title = entry.title.to_lowercase();
    let name = title.rsplit('.').next().unwrap_or_default();
    let same_alias = entry.aliases.iter().position(|alias| squash(alias) == whole);
    if squash(&title) == whole {
        return (terms.len(), SAME_TITLE);
    }
    if squash(name) == whole {
        return (terms.len(), SAME_NAME);
    }
    if let Some(at) = same_alias {
        return (terms.len(), SAME_ALIAS - at as f64 * ROW);
    }
    let (page, text) = (entry.page.to_lowercase(), entry.text.to_lowercase());
    let title_terms = self::terms(&entry.title);
    let alias_terms: Vec<String> =
        entry.aliases.iter().flat_map(|alias| self::terms(alias)).collect();
    let of_term = |term: &String| {
        if title_terms.contains(term) {
            TITLE_TERM
        } else if title_terms.iter().any(|known| known.starts_with(term.as_str())) {
            TITLE_START
        } else if alias_terms.contains(term) {
            ALIAS_TERM
        } else if alias_terms.iter().any(|known| known.starts_with(term.as_str())) {
            ALIAS_START
        } else if title.contains(term.as_str()) && !is_short(term) {
            TITLE_PART
        } else if has_word(&page, term) {
            PAGE_PART
        } else if has_word(&text, term) {
            TEXT_PART
        } else {
            0.0
        }
    };
    let scores: Vec<f64> = terms.iter().map(of_term).filter(|score| *score > 0.0).collect();
    (scores.len(), scores.iter().sum())
}

/// Returns true for a term that is a part of many unrelated words.
fn is_short(term: &str) -> bool {
    term.chars().count() < PART_LENGTH_MIN
}

/// Returns true if a word of a text begins with a term, or is the term if that is short.
fn has_word(text: &str, term: &str) -> bool {
    text.match_indices(term).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + term.len()..].chars().next();
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !(is_letter(before) || is_short(term) && is_letter(after))
    })
}

/// Returns the letters and digits of a text, in lower case.
fn squash(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the terms of a text in lower case: `Gui.drawImage` has `gui`, `draw` and `image`.
fn terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = vec![String::new()];
    let mut is_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (is_lower && c.is_uppercase()) {
            terms.push(String::new());
        }
        if c.is_alphanumeric() {
            terms.last_mut().expect("there is always a term").extend(c.to_lowercase());
        }
        is_lower = c.is_lowercase();
    }
    terms.retain(|term| !term.is_empty());
    if terms.iter().any(|term| !FILLERS.contains(&term.as_str())) {
        terms.retain(|term| !FILLERS.contains(&term.as_str()));
    }
    terms
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
