//! The rules for language that a program can check: how documentation begins, and words that are
//! not names (CONTRIBUTING.md, "Code" 7).

use super::check_findings;
use super::source::{File, code, files, is_word};

/// Words that are no part of the name of a type, function, constant or module, each with a better
/// word.
pub const BANNED: &[(&str, &str)] = &[
    ("anew", "again, restart"),
    ("bell", "condvar"),
    ("census", "hasher"),
    ("crew", "process pool"),
    ("desk", "mailbox, translation"),
    ("eyes", "watcher"),
    ("figures", "statistics"),
    ("gait", "controller settings"),
    ("given", "input, the noun itself"),
    ("goal", "target"),
    ("goes", "a verb of what happens"),
    ("gone", "removed, stale"),
    ("had", "previous"),
    ("hands", "simulated input"),
    ("knob", "parameter"),
    ("lent", "foreign"),
    ("made", "created, generated"),
    ("office", "mailbox"),
    ("place", "location, slot, transform"),
    ("places", "locations, slots, transforms"),
    ("said", "reported, message"),
    ("say", "report, message"),
    ("says", "reports, message"),
    ("seen", "visible, visited, recorded"),
    ("shows", "is drawn, uses"),
    ("stands", "exists, is at"),
    ("stumble", "enter the error state"),
    ("tape", "recording"),
    ("tell", "report"),
    ("tells", "reports"),
    ("thing", "object, request"),
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

/// Returns the definitions whose names have a banned word.
fn banned_names(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    for (i, line) in code(&file.text, false).lines().enumerate() {
        let tokens: Vec<_> = line.split(|c: char| !is_word(c)).filter(|w| !w.is_empty()).collect();
        for pair in tokens.windows(2) {
            if !DEFINES.contains(&pair[0]) {
                continue;
            }
            let name_parts = name_parts(pair[1]);
            let banned = BANNED.iter().find(|(word, _)| name_parts.iter().any(|part| part == word));
            if let Some((word, better)) = banned {
                let (path, line, name) = (&file.path, i + 1, pair[1]);
                found.push(format!("{path}:{line}: {name} has '{word}': say {better}"));
            }
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
    let checked = checked.filter(|file| file.path.starts_with("src/"));
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
    check("let thing = 1; // fn thing", &[]);
    check("fn placement_of_somewhat() {}", &[]);
}
