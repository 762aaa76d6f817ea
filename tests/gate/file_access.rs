//! Checks file access: all code that touches the disk goes through src/foundation/file_access/ or
//! is in a list with its reason. The table of readers in the manual must match the source.

use crate::source::{File, code, files, is_word, root, without_tests};
use crate::{check_findings, rust_files};
use engine::foundation::file_access::readers::{READERS, ReaderRoot, size_text};

/// Calls of the standard library that read, list, inspect or change files.
const CALLS: &[&str] = &[
    "fs::read(",
    "fs::read_to_string(",
    "fs::read_dir(",
    ".read_dir(",
    "fs::read_link(",
    ".read_link(",
    "fs::metadata(",
    "fs::symlink_metadata(",
    ".metadata(",
    ".symlink_metadata(",
    "fs::canonicalize(",
    ".canonicalize(",
    "fs::exists(",
    ".exists()",
    ".try_exists()",
    ".is_file(",
    ".is_dir(",
    "File::open(",
    "File::options(",
    "File::create(",
    "File::create_new(",
    "OpenOptions::new(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::hard_link(",
    "symlink(",
    "fs::create_dir(",
    "create_dir_all",
    "fs::remove_file(",
    "fs::remove_dir(",
    "remove_dir_all(",
    "set_permissions(",
];

/// The only folder whose code opens files directly.
const HOME: &str = "src/foundation/file_access/";

/// A file, the calls that it makes itself, and the reason why they may bypass [`HOME`].
type Allowed = (&'static str, &'static [&'static str], &'static str);

const ALLOWED: &[Allowed] = &[
    ("src/app/game.rs", &[".is_dir("], "tells a folder from a bundle that a person names"),
    (
        "src/app/resource_reload.rs",
        &["fs::canonicalize(", "File::create_new(", "create_dir_all", "fs::remove_file("],
        "finds whether the folder of compiled data can be written; links were refused before",
    ),
    (
        "src/app/confinement.rs",
        &["fs::symlink_metadata(", ".is_dir(", ".is_file(", "create_dir_all"],
        "finds and makes the engine's own folders, and looks for a program of the system",
    ),
    (
        "src/app/save_folder.rs",
        &["fs::remove_dir("],
        "removes the folder of saves if nothing was saved; any other folder is not empty",
    ),
    (
        "src/app/testing/run_confinement.rs",
        &[".is_file("],
        "whether a folder has a .busted file, whose outputs then stay in reach",
    ),
    (
        "src/app/testing/discovery.rs",
        &["fs::metadata(", ".exists()", ".is_file(", ".is_dir("],
        "looks at the folder or file that a person names, to find its root",
    ),
    ("src/app/testing/test_run.rs", &[".is_file("], "looks for the file of --helper"),
    (
        "src/command/diff/drawing.rs",
        &["fs::canonicalize("],
        "finds the game around a file that a person names",
    ),
    (
        "src/command/diff/drawing/scratch.rs",
        &["fs::symlink_metadata(", "fs::read_dir(", ".is_dir(", "remove_dir_all(", "fs::rename("],
        "removes its own copies of games, by their names, owners and locks",
    ),
    ("src/engine/screenshots.rs", &["create_dir_all"], "makes the folder of a screenshot"),
    (
        "src/foundation/atomic_file/disk.rs",
        &[
            ".metadata(",
            "File::open(",
            "File::create_new(",
            "fs::read_dir(",
            "fs::rename(",
            "fs::create_dir(",
            "fs::remove_file(",
            "fs::remove_dir(",
            "fs::hard_link(",
            "fs::symlink_metadata(",
            ".is_file(",
        ],
        "the operations that replace whole files; it opens new files, and folders to flush them",
    ),
    ("src/foundation/atomic_file/mod.rs", &[".is_dir("], "whether a folder is there already"),
    (
        "src/foundation/atomic_file/disk_simulation.rs",
        &["fs::write(", "fs::create_dir(", "create_dir_all", "remove_dir_all("],
        "tests alone: the states of a disk that a loss of power leaves",
    ),
    (
        "src/foundation/log_file.rs",
        &[
            "fs::symlink_metadata(",
            "File::create_new(",
            "fs::rename(",
            "create_dir_all",
            "fs::remove_file(",
        ],
        "renames logs in the save folder, and makes new ones",
    ),
    (
        "src/foundation/output_file.rs",
        &["fs::symlink_metadata(", ".is_file(", ".is_dir(", "File::create(", "OpenOptions::new("],
        "writes files that a person names, after it has refused links, pipes and devices",
    ),
    (
        "src/foundation/own_folder.rs",
        &["fs::symlink_metadata(", "File::create_new(", "create_dir_all"],
        "makes the folder .engine, which must not be a link",
    ),
    (
        "src/command/dap/paths.rs",
        &["fs::canonicalize(", ".is_dir(", ".is_file("],
        "the folder that an editor names, and which of its files are scripts of the game",
    ),
    (
        "src/command/deps.rs",
        &[".is_dir(", ".exists()"],
        "tells a folder that a person names from a resource",
    ),
    ("src/resource/bundle_end.rs", &[".metadata("], "the size of a bundle that is open"),
    (
        "src/resource/bundle_writer.rs",
        &["fs::remove_file("],
        "removes damaged data, named by a hash",
    ),
    (
        "src/resource/compile.rs",
        &["fs::symlink_metadata("],
        "refuses links in the place of the folders of compiled data",
    ),
    ("src/resource/folder_data.rs", &["fs::remove_file("], "removes damaged data, named by a hash"),
    (
        "src/resource/nearby_game.rs",
        &["fs::canonicalize(", "fs::read_dir(", ".is_file(", ".exists()"],
        "looks for a game near the folder that a person names, by names of files",
    ),
    (
        "src/app/flow/renames.rs",
        &["fs::symlink_metadata("],
        "leaves out sources that were removed meanwhile; those that are read go through readers",
    ),
    (
        "src/app/flow.rs",
        &[".is_file(", "fs::symlink_metadata("],
        "whether a graph of a tool is a new file of the game",
    ),
    (
        "src/content/changes/journal.rs",
        &["fs::symlink_metadata(", ".is_file(", "remove_dir_all("],
        "looks at files of a game before it changes them, and removes its own folder",
    ),
    (
        "src/content/changes/records.rs",
        &["fs::read_dir(", ".is_dir(", "remove_dir_all(", ".is_file("],
        "lists and removes records in the engine's own folder, after it has refused links",
    ),
    (
        "src/content/changes/steps.rs",
        &["fs::symlink_metadata(", ".is_file(", "fs::remove_dir(", "set_permissions(", ".is_dir("],
        "moves files of a game, after it has refused links",
    ),
    (
        "src/command/git.rs",
        &[
            "fs::canonicalize(",
            "fs::metadata(",
            "fs::read_to_string(",
            "fs::symlink_metadata(",
            ".exists()",
            ".is_dir(",
            ".is_file(",
        ],
        "finds the work tree of a folder that a person names, and reads its configuration",
    ),
    (
        "src/command/console.rs",
        &[".is_dir(", ".exists()"],
        "tells a folder that a person names from a line of Lua",
    ),
    (
        "src/resource/project.rs",
        &["fs::metadata(", "fs::canonicalize(", ".is_dir("],
        "looks at the game's folder itself, and asks for its name",
    ),
    (
        "src/resource/save/storage.rs",
        &[".is_file("],
        "leaves out what is no regular file in the save folder",
    ),
    (
        "src/resource/folder_scan.rs",
        &[".is_dir("],
        "words for a link that leads out; nothing is listed",
    ),
    (
        "src/resource/watcher.rs",
        &["fs::canonicalize("],
        "the folder as events have it; opens nothing",
    ),
    ("src/resource/watcher/debouncer.rs", &[".exists()"], "whether a file is gone; opens nothing"),
    (
        "src/script/api/lfs.rs",
        &[
            ".read_dir(",
            ".read_link(",
            ".metadata(",
            ".symlink_metadata(",
            ".is_file(",
            ".is_dir(",
            "File::open(",
            "fs::hard_link(",
            "symlink(",
            "fs::create_dir(",
            "fs::remove_dir(",
        ],
        "the module lfs of suites with --no-sandbox, which may use the whole disk",
    ),
    ("src/script/docgen/mod.rs", &["create_dir_all"], "makes the folder that a person names"),
    (
        "src/system/input/pads/device_scan.rs",
        &["fs::read_dir(", "fs::read_link(", "fs::metadata("],
        "the system's own folder of input devices",
    ),
    ("src/platform/broker/mod.rs", &["fs::read_dir("], "counts the process's threads"),
    (
        "src/platform/broker/serve.rs",
        &[".metadata(", ".is_file(", "fs::canonicalize(", "File::options("],
        "what a confined process may ask for: checked in the file itself, without links",
    ),
    (
        "src/platform/broker/dropped_files.rs",
        &[".metadata(", ".is_file(", "fs::read_link(", "File::options(", "create_dir_all"],
        "dropped files for a confined process: checked in the file itself, without links; its log",
    ),
    (
        "src/platform/confinement/libraries.rs",
        &["fs::read_dir(", "fs::canonicalize(", "create_dir_all"],
        "the devices in /dev, the user's folders without links, and the engine's own for drivers",
    ),
    (
        "src/platform/confinement/mod.rs",
        &["fs::read_dir(", "fs::read_to_string("],
        "the process's own threads and memory map, in /proc",
    ),
    (
        "src/platform/evdev.rs",
        &["OpenOptions::new("],
        "input devices, which are opened without waiting",
    ),
    ("src/platform/terminal/unix.rs", &["File::open("], "/dev/null"),
    ("src/platform/terminal/windows.rs", &["File::open("], "NUL"),
    (
        "src/system/render/device.rs",
        &["fs::read_dir(", ".exists()"],
        "the system's own folder of graphics devices",
    ),
    (
        "src/system/text/test_rasterizer.rs",
        &["fs::write("],
        "pictures for people, asked for by a variable",
    ),
    (
        "src/system/remote/endpoint_file.rs",
        &["fs::remove_file("],
        "removes its own file in .engine",
    ),
    (
        "src/system/remote/private_file.rs",
        &["OpenOptions::new(", "fs::rename(", "fs::remove_file("],
        "writes a new file that only its owner can read, and puts it in place",
    ),
    (
        "src/system/remote/stable_address.rs",
        &["fs::canonicalize(", "create_dir_all"],
        "names the game's folder in the list of addresses, and makes the folder of that list",
    ),
    (
        "src/command/compile.rs",
        &[".is_dir(", "create_dir_all", "fs::remove_file("],
        "the folder that --out names, and a bundle of its own that was copied there",
    ),
    (
        "src/command/package.rs",
        &[".metadata(", "fs::symlink_metadata(", "create_dir_all", "remove_dir_all("],
        "looks for engines next to this one, and makes and removes a folder in that of --out",
    ),
    (
        "src/package/signed_files.rs",
        &[".metadata(", "create_dir_all"],
        "an application that a signing tool writes into a folder of its own",
    ),
    (
        "src/package/stores.rs",
        &["remove_dir_all("],
        "removes files of an earlier run from the folders of stores",
    ),
    (
        "src/package/unpacked.rs",
        &["create_dir_all", "File::options(", "fs::remove_file("],
        "writes files into folders of their own, for signing tools and stores",
    ),
    ("src/package/signing.rs", &["fs::symlink_metadata("], "whether a signing tool wrote its file"),
    (
        "src/command/editor_definitions.rs",
        &[
            "fs::metadata(",
            "fs::symlink_metadata(",
            ".is_dir(",
            "fs::write(",
            "fs::rename(",
            "fs::create_dir(",
            "fs::remove_file(",
            "remove_dir_all(",
        ],
        "writes a new folder in .engine, which must not be a link; its own executable's time",
    ),
    (
        "src/system/window/dropped_files.rs",
        &[".metadata(", ".is_dir(", ".is_file("],
        "kind and size",
    ),
    ("src/command/docs/site.rs", &["create_dir_all"], "makes the folder that a person names"),
    (
        "src/command/new.rs",
        &[
            "fs::read_dir(",
            "fs::canonicalize(",
            ".is_file(",
            ".is_dir(",
            "File::create_new(",
            "fs::create_dir(",
            "fs::remove_file(",
            "fs::remove_dir(",
        ],
        "fills a new folder that a person names",
    ),
    (
        "src/command/report.rs",
        &["fs::read_dir(", ".metadata(", ".exists()", ".is_dir("],
        "looks for reports in the save folder",
    ),
];

/// Returns the calls of [`CALLS`] that a file makes, with their lines. Also returns file functions
/// that it imports by name, because they would hide such calls.
fn direct_calls(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (i, line) in code(&without_tests(text), false).lines().enumerate() {
        for call in CALLS {
            // `LogFile::open(` and `is_dir_like(` are different functions.
            let whole = |at: usize| !call.starts_with(is_word) || !line[..at].ends_with(is_word);
            if line.match_indices(call).any(|(at, _)| whole(at)) {
                found.push((i + 1, call.to_string()));
            }
        }
        if let Some((_, names)) = line.split_once("use std::fs::") {
            let function = |name: &str| {
                name != "self" && name.starts_with(|first: char| first.is_ascii_lowercase())
            };
            let names = names.split(|c| !is_word(c)).filter(|name| function(name));
            found.extend(names.map(|name| (i + 1, format!("use std::fs::{name}"))));
        }
    }
    found
}

fn unlisted(file: &File) -> Vec<String> {
    let allowed = ALLOWED.iter().find(|(path, ..)| *path == file.path);
    let allowed = allowed.map_or(&[][..], |(_, calls, _)| calls);
    let mut found = Vec::new();
    let calls = direct_calls(&file.text);
    for (line, call) in &calls {
        if !allowed.contains(&call.as_str()) {
            found.push(format!("{}:{line}: {call}", file.path));
        }
    }
    for call in
        allowed.iter().filter(|call| !calls.iter().any(|(_, found_call)| found_call == *call))
    {
        found.push(format!("{}: {call} is listed in ALLOWED, but is not called", file.path));
    }
    found
}

#[test]
fn files_are_opened_in_one_module_or_with_a_reason() {
    let files = rust_files();
    let reads = |file: &&File| {
        !file.path.starts_with(HOME)
            && !file.path.ends_with("tests.rs")
            && !file.path.contains("/tests/")
    };
    let mut found: Vec<String> = files.iter().filter(reads).flat_map(unlisted).collect();
    let is_missing = |(path, ..): &&Allowed| !files.iter().any(|file| file.path == *path);
    found.extend(ALLOWED.iter().filter(is_missing).map(|(path, ..)| format!("{path} is gone")));
    check_findings(
        found,
        "read files through src/foundation/file_access/, by a row of its readers.rs; or add the \
         file, the call and the reason to ALLOWED (tests/gate/file_access.rs)",
    );
}

#[test]
fn search_for_file_access_finds_calls() {
    let check = |text: &str, expected: &[&str]| {
        let found: Vec<String> = direct_calls(text).into_iter().map(|(_, call)| call).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("fn f() { let a = std::fs::read(path)?; }", &["fs::read("]);
    check("fn f() { std::fs::File::open(path); LogFile::open(path) }", &["File::open("]);
    check("use std::fs::{self, File, read_to_string};", &["use std::fs::read_to_string"]);
    check("fn f() { if root.join(\"a\").is_file() {} }", &[".is_file("]);
    check("// std::fs::read(path)\nconst A: &str = \"fs::read(\";", &[]);
    check("#[cfg(test)]\nmod tests {\n    fn f() { std::fs::read(path) }\n}\n", &[]);
    let planted = File {
        path: "src/world/level.rs".into(),
        text: "fn f() { std::fs::read_to_string(path) }".into(),
    };
    assert_eq!(unlisted(&planted), ["src/world/level.rs:1: fs::read_to_string("]);
}

/// Returns the manual's table: one line for each reader.
fn table() -> Vec<String> {
    let mut lines =
        vec!["| Files | Whose | At most | Read by |".to_string(), "|---|---|---|---|".to_string()];
    let sources = rust_files().into_iter().filter(|file| file.text.contains("readers::"));
    let sources: Vec<(String, String)> =
        sources.map(|file| (file.path, code(&without_tests(&file.text), false))).collect();
    for reader in READERS {
        let mentions = format!("readers::{}", reader.name);
        let names = |(_, text): &&(String, String)| {
            let mut found = text.match_indices(&mentions);
            found.any(|(at, _)| !text[at + mentions.len()..].starts_with(is_word))
        };
        let by: Vec<String> =
            sources.iter().filter(names).map(|(path, _)| format!("`{path}`")).collect();
        assert!(!by.is_empty(), "nothing reads by the row {} of readers.rs", reader.name);
        let owner = match reader.home {
            ReaderRoot::Game => "the game's",
            ReaderRoot::User => "the user's",
        };
        let size = size_text(reader.bytes_max);
        let limit = reader.limit;
        lines.push(format!(
            "| {} | {owner} | {size} (`{limit}`) | {} |",
            reader.files,
            by.join(" ")
        ));
    }
    lines
}

#[test]
fn manual_has_the_table_of_readers() {
    let page = files().into_iter().find(|file| file.path == "docs/security.md");
    let page = page.unwrap_or_else(|| panic!("no docs/security.md in {}", root().display()));
    let section = page.text.split("\n## ").find(|text| text.starts_with("Readers of files"));
    let section = section.expect("docs/security.md has the section 'Readers of files'");
    let expected = table();
    // The section has another table before this one.
    let rows = section.lines().skip_while(|line| *line != expected[0]);
    let written: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert!(
        written == expected,
        "\n\nthe table in docs/security.md, section 'Readers of files', is not the one of the \
         source. What to do: replace it by\n\n{}\n",
        expected.join("\n")
    );
}
