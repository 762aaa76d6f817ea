//! Reading the project's files for the gate: walking folders, Rust without its comments, the paths
//! that Rust code names. Knows none of the rules.

use std::fs;
use std::path::{Path, PathBuf};

/// The project's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One text file: its path from the project's folder, with `/`, and what stands in it.
pub struct File {
    pub path: String,
    pub text: String,
}

impl File {
    pub fn ends_with(&self, endings: &[&str]) -> bool {
        endings.iter().any(|ending| self.path.ends_with(ending))
    }

    /// Numbered lines.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

/// Every text file of the project, in order; not what is built, and not git's own.
pub fn files() -> Vec<File> {
    let mut found = Vec::new();
    walk(root(), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 50, "the project's files were not found in {}", root().display());
    found
}

fn walk(folder: &Path, found: &mut Vec<File>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path: PathBuf = entry.expect("a folder's entry can be read").path();
        let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
        let kept = !name.starts_with('.') || [".ci", ".cargo", ".gitignore"].contains(&&*name);
        if path.is_dir() {
            if kept && name != "target" {
                walk(&path, found);
            }
        } else if kept && let Ok(text) = fs::read_to_string(&path) {
            let path = path.strip_prefix(root()).expect("it is inside").to_string_lossy();
            found.push(File { path: path.replace('\\', "/"), text });
        }
    }
}

/// Rust source without comments and, unless `strings`, without what stands in strings and character
/// literals. Every line keeps its number.
pub fn code(text: &str, strings: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let mut shown = true;
        match (at(i), at(i + 1)) {
            ('/', '/') => {
                i = (i..chars.len()).find(|&k| at(k) == '\n').unwrap_or(chars.len());
                shown = false;
            }
            ('/', '*') => {
                let mut depth = 0;
                loop {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        _ => i += 1,
                    }
                    if depth == 0 || i >= chars.len() {
                        break;
                    }
                }
                shown = false;
            }
            ('"', _) => {
                i = string_end(&chars, i);
                shown = strings;
            }
            ('\'', '\\') => {
                i = (i + 3..chars.len()).find(|&k| at(k) == '\'').unwrap_or(i) + 1;
                shown = strings;
            }
            ('\'', _) if at(i + 2) == '\'' => {
                i += 3;
                shown = strings;
            }
            _ => i += 1,
        }
        let part = &chars[start..i.min(chars.len())];
        match shown {
            true => out.extend(part),
            false => out.extend(part.iter().filter(|c| **c == '\n')),
        }
    }
    out
}

/// Where the string that begins with the quote at `i` ends.
fn string_end(chars: &[char], i: usize) -> usize {
    let hashes = chars[..i].iter().rev().take_while(|c| **c == '#').count();
    let before: String = chars[..i - hashes].iter().rev().take(3).collect();
    let raw = before.starts_with('r')
        && !before[1..].trim_start_matches(['b', 'c']).starts_with(|c: char| c.is_alphanumeric());
    let closes = |k: usize| {
        chars[k] == '"'
            && (!raw || chars[k + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes)
    };
    let mut k = i + 1;
    while k < chars.len() {
        if chars[k] == '\\' && !raw {
            k += 2;
        } else if closes(k) {
            return k + 1 + if raw { hashes } else { 0 };
        } else {
            k += 1;
        }
    }
    chars.len()
}

/// Rust source without its modules of tests; every line keeps its number.
pub fn without_tests(text: &str) -> String {
    let mut out = String::new();
    let mut skipping = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        skipping |= line == "#[cfg(test)]" && lines.peek().is_some_and(|l| l.starts_with("mod "));
        if !skipping {
            out += line;
        }
        out.push('\n');
        let ends = line == "}" || (line.starts_with("mod ") && line.ends_with(';'));
        skipping &= !ends;
    }
    out
}

/// A path that code names, resolved from the crate's root: `["script", "row"]`.
#[derive(Debug, PartialEq)]
pub struct Use {
    pub line: usize,
    pub path: Vec<String>,
}

/// The module that a file of `src/` is: `src/script/api/mod.rs` is `["script", "api"]`, and
/// `src/script/vm_tests.rs` the module `tests` in vm.rs.
pub fn module_of(path: &str) -> Vec<String> {
    let inner = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
    let inner = inner.strip_suffix("_tests").map_or(inner.into(), |of| format!("{of}/tests"));
    let parts = inner.split('/').map(String::from);
    parts.filter(|part| part != "mod").collect()
}

/// Everything of the crate that a file's code names through `crate::` or `super::`, and in the
/// executable through `engine::`.
pub fn uses(path: &str, text: &str) -> Vec<Use> {
    let tokens = tokens(&code(text, false));
    let own = module_of(path);
    let mut inline = Vec::new();
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let (line, token) = (tokens[i].0, tokens[i].1.as_str());
        let next = |k: usize| tokens.get(i + k).map_or("", |token| token.1.as_str());
        match token {
            "{" => inline.push(None),
            "}" => drop(inline.pop()),
            "mod" if next(2) == "{" => {
                inline.push(Some(next(1).to_string()));
                i += 2;
            }
            "crate" | "super" | "engine" if next(1) == "::" => {
                let root = token == "crate" || path == "src/main.rs" && token == "engine";
                if root || token == "super" {
                    let mut base = own.clone();
                    base.extend(inline.iter().flatten().cloned());
                    let mut k = i;
                    while tokens[k].1 == "super" && tokens[k + 1].1 == "::" {
                        base.pop();
                        k += 2;
                    }
                    if root {
                        base.clear();
                        k = i + 2;
                    }
                    let mut paths = Vec::new();
                    i = tree(&tokens, k, &mut base, &mut paths) - 1;
                    found.extend(paths.into_iter().map(|path| Use { line, path }));
                }
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// Reads a path or a tree of paths from token `i` on, all under `path`: where it ends.
fn tree(
    tokens: &[(usize, String)],
    mut i: usize,
    path: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> usize {
    let token = |i: usize| tokens.get(i).map_or("", |token| token.1.as_str());
    if token(i) == "{" {
        i += 1;
        while !["}", ""].contains(&token(i)) {
            let before = i;
            i = tree(tokens, i, path, found);
            i += usize::from(token(i) == "," || i == before);
        }
        return i + 1;
    }
    let name = token(i);
    if name != "*" && !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        found.push(path.clone());
        return i;
    }
    path.push(name.to_string());
    i += 1;
    if token(i) == "::" {
        i = tree(tokens, i + 1, path, found);
    } else {
        found.push(path.clone());
        i += if token(i) == "as" { 2 } else { 0 };
    }
    path.pop();
    i
}

/// Names, `::` and single characters, with their lines.
fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (i, line) in code.lines().enumerate() {
        let mut joins = false;
        for c in line.chars() {
            let word = c.is_alphanumeric() || c == '_';
            match found.last_mut() {
                Some((_, last)) if joins && word && last.ends_with(is_word) => last.push(c),
                Some((_, last)) if joins && c == ':' && last == ":" => last.push(c),
                _ if !c.is_whitespace() => found.push((i + 1, c.to_string())),
                _ => {}
            }
            joins = !c.is_whitespace();
        }
    }
    found
}

/// Whether a character can stand in a Rust name.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `word` stands in `text` as a whole name.
pub fn names(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], text[at + word.len()..].trim_start());
        // A module of ours, or a variable, may have a crate's name: `resource::image`.
        let inside = before.strip_suffix("::").is_some_and(|path| path.ends_with(is_word));
        let used = before.ends_with("use ") && after.starts_with([';', 'a']);
        !before.ends_with(is_word) && !inside && (after.starts_with("::") || used)
    })
}
