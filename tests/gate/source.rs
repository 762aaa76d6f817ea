//! Reads the project's files for the gate: walks folders, removes comments from Rust code, and
//! finds the crates that Rust code names. Contains none of the rules.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the project's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text file: its path relative to the project's folder, with `/`, and its content.
pub struct File {
    pub path: String,
    pub text: String,
}

impl File {
    pub fn ends_with(&self, endings: &[&str]) -> bool {
        endings.iter().any(|ending| self.path.ends_with(ending))
    }

    /// Returns the lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

/// Returns every text file of the project, sorted by path, without build output and git's own
/// files.
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

/// Returns Rust source without comments and, unless `strings`, without the content of strings and
/// character literals. Every line keeps its number.
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

/// Returns the index behind the string that begins with the quote at `i`.
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

/// Returns Rust source without its test modules; every line keeps its number.
pub fn without_tests(text: &str) -> String {
    let mut out = String::new();
    let mut skipping = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        skipping |= line == "#[cfg(test)]" && lines.peek().is_some_and(|next| is_module(next));
        if !skipping {
            out += line;
        }
        out.push('\n');
        let ends = line == "}" || (is_module(line) && line.ends_with(';'));
        skipping &= !ends;
    }
    out
}

/// Returns true if a line declares a module or begins one.
fn is_module(line: &str) -> bool {
    ["mod ", "pub mod ", "pub(super) mod "].iter().any(|start| line.starts_with(start))
}

/// Returns true for code that runs when the engine is built, and is no part of it.
pub fn is_build_script(path: &str) -> bool {
    path.ends_with("/build.rs") || path == "src/script/link_wrap.rs"
}

/// Returns true if a character can be part of a Rust name.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns true if `text` uses the crate `word`: as the start of a path, or in a `use` statement.
pub fn names(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], text[at + word.len()..].trim_start());
        // One of our modules, or a variable, may have a crate's name: `resource::image`.
        let inside = before.strip_suffix("::").is_some_and(|path| path.ends_with(is_word));
        let used = before.ends_with("use ") && after.starts_with([';', 'a']);
        !before.ends_with(is_word) && !inside && (after.starts_with("::") || used)
    })
}
