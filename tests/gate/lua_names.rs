//! The words that are not names in Lua: of locals, parameters, loop variables and functions, in the
//! prelude, the examples, the templates and the suites.

use super::check_findings;
use super::language::{BANNED, name_parts};
use super::source::{File, files, is_word};

/// Words that say nothing when they are the whole name, each with better names.
const BANNED_ALONE: &[(&str, &str)] = &[
    ("fine", "ok"),
    ("given", "arguments, input, description"),
    ("gone", "destroyed, deleted, released"),
    ("made", "result, created"),
    ("place", "position, location, slot, index"),
    ("places", "positions, locations"),
    ("said", "message"),
    ("told", "reported, events"),
    ("what", "kind, name"),
    ("word", "name, term, text"),
    ("words", "message, text, names"),
];

/// Names that other libraries define: luassert's module of messages.
const OF_LIBRARIES: &[&str] = &["say"];

/// Folders whose names are checked.
const FOLDERS: &[&str] =
    &["lua/", "core/", "examples/", "game_template/", "templates/", "tests/lua/"];

/// Returns the tokens of Lua source with their line numbers, without comments and strings. Long
/// strings are read as code.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '-' if rest.starts_with("--") => break,
                '"' | '\'' => string_length(rest, first),
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            if !first.is_whitespace() && first != '"' && first != '\'' {
                found.push((i + 1, token));
            }
            rest = after;
        }
    }
    found
}

/// Returns the length of the quoted string at the beginning of a line's rest.
fn string_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match (escaped, c) {
            (true, _) => escaped = false,
            (false, '\\') => escaped = true,
            (false, c) if c == quote => return i + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the names that Lua source declares, with their line numbers: locals, loop variables,
/// functions (without the module's name) and parameters.
fn declared_names(text: &str) -> Vec<(usize, &str)> {
    let tokens = tokens(text);
    let is_name = |i: usize| tokens.get(i).is_some_and(|(_, token)| token.starts_with(is_word));
    let is = |i: usize, wanted: &str| tokens.get(i).is_some_and(|(_, token)| *token == wanted);
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        let mut k = i + 1;
        match tokens[i].1 {
            "local" | "for" if !is(k, "function") => {}
            "function" => {
                while is_name(k) && (is(k + 1, ".") || is(k + 1, ":")) {
                    k += 2;
                }
                if is_name(k) {
                    found.push(tokens[k]);
                    k += 1;
                }
                k += 1;
            }
            _ => continue,
        }
        while is_name(k) {
            found.push(tokens[k]);
            k += if is(k + 1, ",") { 2 } else { 1 };
            if !is(k - 1, ",") {
                break;
            }
        }
    }
    found
}

/// Returns the declarations of a Lua file whose names are banned.
fn wrong_names(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    for (line, name) in declared_names(&file.text) {
        if OF_LIBRARIES.contains(&name) {
            continue;
        }
        let parts = name_parts(name);
        let alone = BANNED_ALONE.iter().find(|(word, _)| *word == name);
        let part = || BANNED.iter().find(|(word, _)| parts.iter().any(|part| part == word));
        if let Some((word, better)) = alone.or_else(part) {
            found.push(format!("{}:{line}: {name} has '{word}': say {better}", file.path));
        }
    }
    found
}

#[test]
fn lua_names_are_descriptive() {
    let files = files();
    let checked = files.iter().filter(|file| file.ends_with(&[".lua"]));
    let checked = checked.filter(|file| FOLDERS.iter().any(|folder| file.path.starts_with(folder)));
    check_findings(
        checked.flat_map(wrong_names).collect(),
        "use the term that the field uses, or a noun that says what the value is",
    );
}

#[test]
fn planted_names_in_lua_are_found() {
    let check = |text: &str, wanted: &[&str]| {
        let file = File { path: "lua/a.lua".into(), text: text.into() };
        assert_eq!(wrong_names(&file), wanted, "{text}");
    };
    let expected = "lua/a.lua:1: place has 'place': say position, location, slot, index";
    check("local count, place = 1, 2", &[expected]);
    check("local function place(a) end", &[expected]);
    check("function Unit.place(a) end", &[expected]);
    check("run(function(a, b, place) end)", &[expected]);
    check("for i, place in ipairs(list) do end", &[expected]);
    check(
        "function draw_thing()\nend",
        &["lua/a.lua:1: draw_thing has 'thing': say object, request"],
    );
    check("function f(\n  a,\n  told)", &["lua/a.lua:3: told has 'told': say reported, events"]);
    check("local placed = entry.place -- local place\nprint(\"local \\\"place\", place)", &[]);
    check("local replacement, displaced = 1, 2\nreturn { place = 1 }", &[]);
    check("local say = kit.say", &[]);
}
