//! The rules for language that a program can check: how documentation begins, and words that are
//! not names (CONTRIBUTING.md, "Code" 7).

use super::check_findings;
use super::source::{File, code, files, is_word};

/// Words that are no part of a name in Rust or in Lua, each with a better word.
pub const BANNED: &[(&str, &str)] = &[
    ("bell", "condvar"),
    ("census", "hasher"),
    ("crew", "process pool"),
    ("desk", "mailbox, translation"),
    ("eyes", "watcher"),
    ("gait", "controller settings"),
    ("hands", "simulated input"),
    ("knob", "parameter"),
    ("lent", "foreign"),
    ("office", "mailbox"),
    ("stumble", "enter the error state"),
    ("tape", "recording"),
    ("thing", "object, request"),
];

/// Words that are no part of any name that Rust code defines either.
const BANNED_IN_RUST: &[(&str, &str)] = &[
    ("anew", "again, restart"),
    ("beside", "asynchronous, in parallel, next to"),
    ("figures", "statistics"),
    ("given", "input, the noun itself"),
    ("goal", "target"),
    ("goes", "a verb of what happens"),
    ("gone", "removed, stale"),
    ("had", "previous"),
    ("made", "created, generated"),
    ("place", "location, slot, transform"),
    ("places", "locations, slots, transforms"),
    ("said", "reported, message"),
    ("say", "report, message"),
    ("says", "reports, message"),
    ("seen", "visible, visited, recorded"),
    ("stands", "exists, is at"),
    ("tell", "report"),
    ("teller", "writer"),
    ("tells", "reports"),
    ("things", "objects, requests"),
    ("told", "reported, message"),
    ("what", "kind, noun"),
    ("whether", "is, has"),
    ("whoever", "user, client"),
    ("wish", "command, request"),
    ("words", "message, names, text"),
];

/// Returns the lines whose documentation begins with a clause in place of a noun or a verb.
fn invalid_beginnings(file: &File) -> Vec<String> {
    let marks: &[&str] = if file.ends_with(&[".lua"]) { &["---"] } else { &["///", "//!"] };
    let mut found = Vec::new();
    let mut inside = false;
    for (line, text) in file.lines() {
        let mark = marks.iter().find_map(|mark| text.trim_start().strip_prefix(mark));
        let Some(comment) = mark else {
            inside = false;
            continue;
        };
        let begins = ["What ", "Whether "].iter().any(|word| comment.trim().starts_with(word));
        if begins && !inside {
            found.push(format!("{}:{line}: {}", file.path, text.trim()));
        }
        // A blank line of a comment ends its first sentence.
        inside = !comment.trim().is_empty();
    }
    found
}

/// Returns the parts of a name: `Parts` and `of` of `PartsOf` and of `parts_of`.
pub fn name_parts(name: &str) -> Vec<String> {
    let mut name_parts = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && before.is_lowercase() {
            name_parts.push(String::new());
        }
        if c != '_' {
            name_parts.last_mut().expect("it has one part").extend(c.to_lowercase());
        }
        before = c;
    }
    name_parts
}

/// The keywords before the names that are checked.
const DEFINES: &[&str] = &["const", "enum", "fn", "mod", "static", "struct", "trait", "type"];

/// Splits code without strings into words, `::` and single characters, each with its line, from 1.
fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (i, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                c => c.len_utf8(),
            };
            found.push((i + 1, &rest[..length]));
            rest = rest[length..].trim_start();
        }
    }
    found
}

/// Returns the indices of the variants' names of the enum whose keyword is at `start`.
fn variants(tokens: &[(usize, &str)], start: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = 0;
    for i in start + 2..tokens.len() {
        let text = tokens[i].1;
        match text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            ";" if depth == 0 => break,
            _ if depth == 1 && ["{", ",", "]"].contains(&tokens[i - 1].1) => found.push(i),
            _ => {}
        }
        if depth == 0 && text == "}" {
            break;
        }
    }
    found
}

/// Returns the names that Rust code defines, with their lines: of items, enum variants, fields,
/// parameters, and variables of `let`, `for` and closures.
fn defined_names(code: &str) -> Vec<(usize, &str)> {
    let tokens = tokens(code);
    let text = |i: usize| tokens.get(i).map_or("", |token| token.1);
    let mut indices = Vec::new();
    for i in 0..tokens.len() {
        if DEFINES.contains(&text(i)) {
            indices.push(i + 1);
        }
        match text(i) {
            "enum" => indices.extend(variants(&tokens, i)),
            "let" | "for" => {
                let ends = |k: &usize| !["=", ";", ":", "{", "in"].contains(&text(*k));
                let pattern = (i + 1..tokens.len()).take_while(ends);
                indices.extend(pattern.filter(|k| text(*k).starts_with(char::is_lowercase)));
            }
            // A field or a parameter, before its type; a closure's parameter without one.
            ":" | "|" if i > 0 => indices.push(i - 1),
            _ => {}
        }
    }
    let is_name = |i: &usize| text(*i).starts_with(|c: char| c.is_alphabetic() || c == '_');
    indices.retain(is_name);
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().map(|i| tokens[i]).collect()
}

/// Names with a banned word that are the field's own terms.
const STANDARD_TERMS: &[&str] = &["in_place"];

/// Returns the definitions whose names have a banned word.
fn banned_names(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    for (line, name) in defined_names(&code(&file.text, false)) {
        let name_parts = name_parts(name);
        let mut all = BANNED.iter().chain(BANNED_IN_RUST);
        let banned = all.find(|(word, _)| name_parts.iter().any(|part| part == word));
        if let (Some((word, better)), false) = (banned, STANDARD_TERMS.contains(&name)) {
            found.push(format!("{}:{line}: {name} has '{word}': say {better}", file.path));
        }
    }
    found
}

#[test]
fn documentation_begins_with_its_subject() {
    let files = files();
    let checked = files.iter().filter(|file| file.ends_with(&[".rs", ".lua"]));
    check_findings(
        checked.flat_map(invalid_beginnings).collect(),
        "begin with a noun, or with the verb of what a function does: 'Returns true if …' in place \
         of 'Whether …', 'The number of …' in place of 'What …'",
    );
}

#[test]
fn names_use_standard_terms() {
    let files = files();
    let checked = files.iter().filter(|file| file.ends_with(&[".rs"]));
    check_findings(
        checked.flat_map(banned_names).collect(),
        "use the term that the field uses (if a search engine finds an article under it, it is \
         right)",
    );
}

#[test]
fn planted_language_errors_are_found() {
    let file = |text: &str| File { path: "src/a.rs".into(), text: text.into() };
    let check = |text: &str, expected: &[&str]| {
        assert_eq!([invalid_beginnings(&file(text)), banned_names(&file(text))].concat(), expected);
    };
    check("/// What adds up.\nstruct A;", &["src/a.rs:1: /// What adds up."]);
    check("//! Whether it is.\n", &["src/a.rs:1: //! Whether it is."]);
    check("/// A sum. It says\n/// What it is.\n// What else?\nstruct Thin;", &[]);
    check("struct FrontDesk;", &["src/a.rs:1: FrontDesk has 'desk': say mailbox, translation"]);
    check("fn draw_thing() {}", &["src/a.rs:1: draw_thing has 'thing': say object, request"]);
    for defines in DEFINES {
        let wanted = "src/a.rs:1: WHAT_FAILS has 'what': say kind, noun";
        check(&format!("pub(super) {defines} WHAT_FAILS"), &[wanted]);
    }
    let banned = "src/a.rs:1: gone has 'gone': say removed, stale";
    for text in [
        "let gone = 1;",
        "let mut gone: u8;",
        "let Some((a, gone)) = b else { return };",
        "for (i, gone) in b {}",
        "fn f(a: u8, gone: u8) {}",
        "struct A { b: u8, gone: u8 }",
        "let f = |a, gone| a;",
    ] {
        check(text, &[banned]);
    }
    let banned = "src/a.rs:2: Gone has 'gone': say removed, stale";
    check("enum A {\n    #[default] Gone,\n    Open { a: B, c: (D, E) },\n}", &[banned]);
    check("enum A {\n    B(u8), Gone(Told),\n}", &[banned]);
    check("let a = gone(b::gone, \"gone: {}\"); // fn thing", &[]);
    check("fn f(in_place: bool) { gone.seen() }", &[]);
    check("fn placement_of_somewhat() {}", &[]);
}
