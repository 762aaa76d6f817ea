//! Finds the names in a document: paths in backquotes and in code blocks, and the targets of links;
//! and the paths in the comments of source files. Distinguishes paths of the project from other
//! words.

use super::check_findings;
use super::source::{File, code, files, root};

/// The top-level folders of the project. A word that begins with one of them is a path.
pub const FOLDERS: &[&str] = &[
    ".cargo",
    ".ci",
    "benches",
    "core",
    "docs",
    "examples",
    "fuzz",
    "game_template",
    "lua",
    "packaging",
    "page",
    "src",
    "templates",
    "tests",
];

/// File extensions that only the project's own files have.
const EXTENSIONS: &[&str] = &[".rs", ".toml", ".md"];

/// Returns the paths and links of a document that lead nowhere, with their lines.
pub fn dead_names(document: &File, files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (line, text) in document.lines() {
        let fence = text.trim_start().starts_with("```");
        in_block ^= fence;
        let mut quoted_paths: Vec<&str> = Vec::new();
        if in_block || text.starts_with("    ") {
            quoted_paths.extend(text.split_whitespace().filter(|word| word.contains('/')));
        } else {
            let quoted = text.split('`').skip(1).step_by(2);
            quoted_paths.extend(quoted.filter(|text| !text.contains(' ')));
        }
        let folder = folder_of(&document.path);
        for word in quoted_paths.iter().filter(|word| is_path(word) && !exists(word, folder, files))
        {
            found.push(format!("{}:{line}: there is no {word}", document.path));
        }
        for target in links(text).filter(|_| !in_block) {
            if !link_target_exists(&document.path, target) {
                found.push(format!("{}:{line}: the link to {target} is dead", document.path));
            }
        }
    }
    found
}

fn trim(word: &str) -> &str {
    let word = word.trim_start_matches("./").trim_end_matches([',', ':', ';', ')', '.']);
    // A location in a file, such as `src/main.rs:12`.
    word.split_once(':').map_or(word, |(path, _)| path)
}

fn is_path(word: &str) -> bool {
    let word = trim(word);
    let inside = word.split_once('/').is_some_and(|(first, _)| FOLDERS.contains(&first));
    let named = |ending: &&str| word.len() > ending.len() && word.ends_with(*ending);
    let plain = word.chars().all(|c| c.is_alphanumeric() || "._-/*{},".contains(c));
    plain && (inside || EXTENSIONS.iter().any(named))
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Prefixes of resources that code creates: no file has their names.
const GENERATED_PREFIXES: [&str; 2] = ["core/models/", "core/particles/"];

/// Returns true if a file has this name with any extension, as games name resources.
fn is_resource(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let stem = |entry: std::fs::DirEntry| entry.path().file_stem().map(|stem| stem == name);
    GENERATED_PREFIXES.iter().any(|prefix| path.starts_with(prefix))
        || entries.filter_map(stem).any(|same| same)
}

/// Returns true if a path exists, relative to the project's folder or the document's. If a part is
/// in capitals or contains `*`, only the folder before it must exist. A file name without a folder
/// must exist in any folder.
fn exists(word: &str, folder: &str, files: &[File]) -> bool {
    let word = trim(word).trim_end_matches('/');
    let general = |part: &&str| {
        let capitals = part.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_placeholder = capitals.len() > 2 && capitals.chars().all(|c| c.is_uppercase());
        part.contains(['*', '{']) || (is_placeholder && !part.ends_with(".md"))
    };
    let fixed: Vec<&str> = word.split('/').take_while(|part| !general(part)).collect();
    let path = fixed.join("/");
    root().join(&path).exists()
        || root().join(folder).join(&path).exists()
        || (path.starts_with("core/") && is_resource(&path))
        || (!word.contains('/')
            && files.iter().any(|file| file.path.ends_with(&format!("/{word}"))))
}

/// Returns the targets of a line's links, `[words](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|after| after.split_once(')').map(|(target, _)| target))
}

fn link_target_exists(document: &str, target: &str) -> bool {
    let outside = ["http://", "https://", "mailto:"].iter().any(|start| target.starts_with(start));
    let path = target.split('#').next().unwrap_or_default();
    outside || path.is_empty() || root().join(folder_of(document)).join(path).exists()
}

/// Returns the comments of a source file, a line each, with the numbers of their lines.
fn comments(file: &File) -> Vec<(usize, &str)> {
    if file.ends_with(&[".lua"]) {
        let comments =
            file.lines().filter_map(|(line, text)| Some((line, text.split_once("--")?.1)));
        return comments.collect();
    }
    let code = code(&file.text, true);
    let lines = file.lines().zip(code.lines().chain(std::iter::repeat("")));
    lines.map(|((line, text), code)| (line, text.get(code.len()..).unwrap_or_default())).collect()
}

/// Returns true if a word of a comment names a source file or a folder of the project. Names of one
/// letter, names in capitals and names of test files are examples of a game's files.
fn is_source_path(word: &str) -> bool {
    let name = word.rsplit_once('/').map_or(word, |(_, name)| name);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let inside = word.split_once('/').is_some_and(|(first, _)| FOLDERS.contains(&first));
    let example = stem.len() < 2
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || stem.contains(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '_');
    match ending {
        _ if inside => true,
        "rs" | "wgsl" => !example,
        // A game's scripts are in folders; the engine's are named with `lua/` before them.
        "lua" => !word.contains('/') && !example,
        _ => false,
    }
}

/// Returns the paths in comments of a source file that lead nowhere. A path may begin at any
/// folder: `forward/mesh.wgsl`. Pages of the manual may be named by their form for browsers.
pub fn dead_paths_in_comments(source: &File, files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for (line, comment) in comments(source) {
        let parts = comment.split(|c: char| !(c.is_alphanumeric() || "._-/*{}".contains(c)));
        for word in parts.map(|word| word.trim_end_matches('.')).filter(|word| is_source_path(word))
        {
            let page = word.strip_suffix(".html").map(|page| format!("{page}.md"));
            let ending = format!("/{word}");
            let known = exists(page.as_deref().unwrap_or(word), folder_of(&source.path), files)
                || files.iter().any(|file| file.path.ends_with(&ending));
            if !known {
                found.push(format!("{}:{line}: there is no {word}", source.path));
            }
        }
    }
    found
}

#[test]
fn comments_name_only_files_that_exist() {
    let files = files();
    let engine = |file: &&File| {
        let inside = ["src/", "lua/", "core/"].iter().any(|folder| file.path.starts_with(folder));
        inside && file.ends_with(&[".rs", ".wgsl", ".lua"])
    };
    let sources = files.iter().filter(engine);
    check_findings(
        sources.flat_map(|file| dead_paths_in_comments(file, &files)).collect(),
        "name the path that it has now, or take it out of the comment",
    );
}

#[test]
fn dead_paths_in_comments_are_found_and_examples_ignored() {
    let check = |path: &str, text: &str, expected: &[&str]| {
        let source = File { path: path.into(), text: text.into() };
        let files = [File { path: "src/system/render/forward/mesh.wgsl".into(), text: "".into() }];
        assert_eq!(dead_paths_in_comments(&source, &files), expected, "{text}");
    };
    check("src/a.rs", "// As in mesh.wgsl, forward/mesh.wgsl, src/main.rs and docs/*.md.", &[]);
    check("src/a.rs", "// See docs/gui.html, x.lua, enemy_test.lua, NAME.lua, a/b/init.lua", &[]);
    check("src/a.rs", "let path = \"src/gone.rs\";", &[]);
    check("src/a.rs", "let a = 1; // (src/gone.rs).", &["src/a.rs:1: there is no src/gone.rs"]);
    check("src/a.rs", "\n/// gone.rs", &["src/a.rs:2: there is no gone.rs"]);
    check("lua/a.lua", "a() -- (lua/gone.lua)", &["lua/a.lua:1: there is no lua/gone.lua"]);
    check("lua/a.lua", "-- see gone.lua", &["lua/a.lua:1: there is no gone.lua"]);
}

#[test]
fn list_of_folders_is_complete() {
    let entries = std::fs::read_dir(root()).expect("the project's folder can be read");
    for entry in entries.map(|entry| entry.expect("its entries can be read")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let known = FOLDERS.contains(&name.as_str()) || [".git", "target"].contains(&name.as_str());
        let local = [".vscode", ".idea", ".zed"].contains(&name.as_str());
        assert!(
            !entry.path().is_dir() || known || local,
            "'{name}' is a new folder: add it to FOLDERS in tests/gate/documents.rs, so that \
             documents' paths into it are checked"
        );
    }
}

#[test]
fn dead_names_are_found_and_other_text_ignored() {
    let check = |text: &str, expected: &[&str]| {
        let document = File { path: "docs/x.md".into(), text: text.into() };
        let files = [File { path: "src/script/vm.rs".into(), text: String::new() }];
        assert_eq!(dead_names(&document, &files), expected, "{text}");
    };
    check(
        "`src/main.rs`, `vm.rs`, `units/barrel.unit`, `a/b.lua`, `src/script/*.rs`, `cargo test`",
        &[],
    );
    check("`tests/lua/NAME_test.lua` and [the start](../README.md#x) and [out](https://x.y)", &[]);
    check("see `src/gone.rs:12`", &["docs/x.md:1: there is no src/gone.rs:12"]);
    check("see `gone.rs`", &["docs/x.md:1: there is no gone.rs"]);
    check("    src/gone/   words", &["docs/x.md:1: there is no src/gone/"]);
    check("x\n```\nlua/gone.lua\n```", &["docs/x.md:3: there is no lua/gone.lua"]);
    check("[x](gone.md)", &["docs/x.md:1: the link to gone.md is dead"]);
}
