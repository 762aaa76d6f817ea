//! The gate: formatting, lints, layers, documents, sizes, dependencies. Features of games are
//! tested elsewhere. Every test says how to fix its findings.

#[path = "gate/commands.rs"]
mod commands;
#[path = "gate/crate_diagram.rs"]
mod crate_diagram;
#[path = "gate/crates.rs"]
mod crates;
#[path = "gate/definitions.rs"]
mod definitions;
#[path = "gate/documents.rs"]
mod documents;
#[path = "gate/file_access.rs"]
mod file_access;
#[path = "gate/language.rs"]
mod language;
#[path = "gate/licenses.rs"]
mod licenses;
#[path = "gate/lua_names.rs"]
mod lua_names;
#[path = "gate/other_platforms.rs"]
mod other_platforms;
#[path = "gate/server_build.rs"]
mod server_build;
#[path = "gate/sinks.rs"]
mod sinks;
#[path = "gate/source.rs"]
mod source;
#[path = "gate/version_control.rs"]
mod version_control;

use source::{File, code, files, is_build_script, is_word, root, without_tests};
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Folders or files that may name a crate from outside. The first is in the crate whose manifest
/// declares it.
const HOMES: &[(&str, &[&str])] = &[
    ("arboard", &["src/system/window/"]),
    ("bytemuck", &["src/frame_packet/", "src/system/particles/", "src/system/render/"]),
    ("cc", &["src/script/build.rs"]),
    ("clap", &["src/command/"]),
    ("data_encoding", &["src/system/models/", "src/system/tilemaps/"]),
    ("draco_core", &["src/system/models/gltf/"]),
    ("flate2", &["src/resource/inflate.rs", "src/package/archive/"]),
    ("glam", &["src/foundation/"]),
    ("gltf", &["src/system/models/"]),
    ("harfrust", &["src/system/text/"]),
    ("image", &["src/resource/image/", "src/test_support/"]),
    ("jpeg_decoder", &["src/resource/image/"]),
    ("jpeg_encoder", &["src/resource/image/"]),
    ("kira", &["src/system/sound/"]),
    ("cpal", &["src/system/sound/"]),
    ("gilrs", &["src/system/input/"]),
    ("landlock", &["src/platform/"]),
    ("windows_sys", &["src/platform/"]),
    ("libc", &["src/platform/"]),
    ("libloading", &["src/system/sound/", "src/system/window/"]),
    ("libm", &["src/foundation/"]),
    ("lzma_rust2", &["src/package/archive/"]),
    ("memmap2", &["src/resource/bundle.rs"]),
    ("mimalloc", &["src/foundation/memory/"]),
    ("mlua", &["src/script/"]),
    ("notify", &["src/resource/watcher.rs"]),
    ("pollster", &["src/system/render/"]),
    ("pulldown_cmark", &["src/command/docs/"]),
    ("rapier3d", &["src/system/physics/"]),
    ("raw_window_handle", &["src/system/window/"]),
    ("rustix", &["src/foundation/atomic_file/disk.rs", "src/foundation/file_access/"]),
    ("ruzstd", &["src/resource/image/"]),
    ("strsim", &["src/foundation/suggest.rs"]),
    ("symphonia", &["src/system/sound/clip_decoder.rs"]),
    ("sysinfo", &["src/platform/"]),
    ("tungstenite", &["src/system/remote/"]),
    ("skrifa", &["src/system/text/"]),
    ("unicode_bidi", &["src/system/text/"]),
    ("unicode_linebreak", &["src/system/text/"]),
    ("unicode_script", &["src/system/text/"]),
    ("unicode_segmentation", &["src/system/text/"]),
    ("wgpu", &["src/system/render/"]),
    ("winit", &["src/system/window/"]),
    ("x11rb", &["src/system/window/"]),
];

/// The folders of the layers below `src/script/`.
const BELOW_SCRIPT: &[&str] =
    &["foundation", "platform", "resource", "frame_packet", "system", "world", "engine"];

/// Files below `src/script/` that may say "Lua" in their code, with the reason.
const LUA_MENTIONS_ALLOWED: &[(&str, &str)] = &[
    ("src/resource/resource_name.rs", "the kind of scripts is the ending of their files"),
    ("src/resource/index.rs", "a text can be the name of a module, which is a script"),
    ("src/resource/project.rs", "finds scripts, which are .lua files"),
    ("src/resource/redirects.rs", "the kind of scripts has no old names"),
    ("src/resource/nearby_game.rs", "finds the script that games start with, and those of others"),
    ("src/resource/resource_kind.rs", "the name of the kind of scripts"),
    ("src/system/flow/resource.rs", "an input's text is no name of the kind of scripts"),
    ("src/engine/error_overlay.rs", "finds the stacks in reports by their headings"),
    ("src/world/component.rs", "a game's own components are resources of the kind of scripts"),
    ("src/resource/settings.rs", "keys and words that people write in settings.sjson"),
    ("src/resource/settings_table.rs", "keys and words that people write in settings.sjson"),
    ("src/resource/release_settings.rs", "keys and words that people write in settings.sjson"),
];

/// Crates that bind C code or an operating system's interface, with the reason why they need no
/// system package.
const NATIVE_CRATES: &[(&str, &str)] = &[
    ("alsa-sys", "a dependency of cpal for Linux, where cpal is not used"),
    ("core-foundation-sys", "binds what every macOS has, used there only"),
    ("fsevent-sys", "declarations alone, used on macOS only"),
    ("inotify-sys", "declarations alone, of the kernel's own calls"),
    ("jni-sys", "declarations alone, used on Android only"),
    ("js-sys", "declarations alone, used in browsers only"),
    ("kqueue-sys", "declarations alone, used on the BSDs only"),
    ("libmimalloc-sys", "compiles its own C source"),
    ("libudev-sys", "a dependency of gilrs for Linux, where gilrs is not used"),
    ("linux-raw-sys", "numbers and structures alone"),
    ("mlua-sys", "compiles LuaJIT (feature vendored), and does not ask pkg-config"),
    ("ndk-sys", "declarations alone, used on Android only"),
    ("objc-sys", "binds what every macOS has, used there only"),
    ("renderdoc-sys", "declarations alone"),
    ("wayland-sys", "opens its library at run time (winit's feature wayland-dlopen)"),
    ("web-sys", "declarations alone, used in browsers only"),
    ("windows-sys", "declarations alone, used on Windows only"),
];

/// Rust and Lua files that are longer than LINES_MAX, with the reason.
const LONG_FILES: &[(&str, &str)] = &[("lua/gui/rows.lua", "generated from the rows of Gui")];

const LINES_MAX: usize = 600;
const COLUMNS_MAX: usize = 100;

/// Fails with all findings, one line each, and the remedy.
#[track_caller]
fn check_findings(found: Vec<String>, remedy: &str) {
    assert!(found.is_empty(), "\n\n{}\n\nWhat to do: {remedy}\n", found.join("\n"));
}

/// Returns the engine's Rust code, without the scripts that build it.
fn rust_files() -> Vec<File> {
    files()
        .into_iter()
        .filter(|file| file.path.starts_with("src/") && file.ends_with(&[".rs"]))
        .filter(|file| !is_build_script(&file.path))
        .collect()
}

/// Reports a skipped test directly on the terminal, because the test harness captures normal
/// output.
fn skip(missing: &str, install: &str) {
    let message = format!("SKIPPED: {missing} (to install it: {install})");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{message}");
    writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
}

/// Runs a tool of the Rust toolchain on the project, in the target folder of this build.
fn run_tool(component: &str, arguments: &[&str], remedy: &str) {
    let cargo = |arguments: &[&str]| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in a folder");
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.current_dir(root()).env("CARGO_TARGET_DIR", target).args(arguments);
        command.output().expect("cargo, which runs this test, can be started")
    };
    if !cargo(&[arguments[0], "--version"]).status.success() {
        skip(
            &format!("cargo {} is missing", arguments[0]),
            &format!("rustup component add {component}"),
        );
        return;
    }
    let output = cargo(arguments);
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(output.status.success(), "\n\n{printed}\n\nWhat to do: {remedy}\n");
}

#[test]
fn rust_code_is_formatted() {
    run_tool("rustfmt", &["fmt", "--check"], "run `cargo fmt`");
}

#[test]
fn clippy_finds_nothing() {
    let arguments = ["clippy", "--quiet", "--all-targets", "--", "-D", "warnings"];
    run_tool("clippy", &arguments, "fix each; where a lint is wrong, allow it with a reason");
}

/// Files that contribute to state hashes. Their results must be the same on every machine.
const HASHED_FILES: &[&str] = &[
    "src/engine/",
    "src/foundation/noise.rs",
    "src/foundation/random.rs",
    "src/script/api/math.rs",
    "src/system/animation/",
    "src/system/particles/",
    "src/system/physics/",
    "src/world/",
];

/// Files among them with results that are only displayed.
const DISPLAY_ONLY_FILES: &[&str] = &[
    "src/system/particles/draw.rs",
    "src/system/particles/built_in_textures.rs",
    "src/system/physics/debug_draw.rs",
    "src/world/debug_lines.rs",
];

/// Numeric functions for which the standard library calls the C library.
const LIBM_FUNCTIONS: &[&str] = &[
    "acos()",
    "asin()",
    "atan()",
    "atan2(",
    "cbrt()",
    "cos()",
    "exp()",
    "hypot(",
    "ln()",
    "log(",
    "powf(",
    "sin()",
    "sin_cos()",
    "tan()",
    "tanh()",
];

#[test]
fn hashed_code_does_not_call_libm() {
    let mut found = Vec::new();
    for File { path, text } in rust_files() {
        let starts = |all: &[&str]| all.iter().any(|one| path.starts_with(one));
        if !starts(HASHED_FILES) || starts(DISPLAY_ONLY_FILES) || path.ends_with("tests.rs") {
            continue;
        }
        for (i, line) in code(&without_tests(&text), false).lines().enumerate() {
            let called = LIBM_FUNCTIONS.iter().find(|name| line.contains(&format!(".{name}")));
            found.extend(called.map(|name| format!("{path}:{}: .{name}", i + 1)));
        }
    }
    check_findings(
        found,
        "use src/foundation/deterministic_math.rs, which gives the same everywhere",
    );
}

#[test]
fn layers_below_script_do_not_mention_lua() {
    let mut found = Vec::new();
    for file in rust_files().iter().filter(|file| !file.ends_with(&["tests.rs"])) {
        let allowed = LUA_MENTIONS_ALLOWED.iter().any(|(path, _)| *path == file.path);
        let folder = file.path.split('/').nth(1).expect("it is below src/");
        if allowed || !BELOW_SCRIPT.contains(&folder) {
            continue;
        }
        for (i, line) in code(&without_tests(&file.text), true).lines().enumerate() {
            let small =
                line.match_indices("lua").any(|(at, _)| !line[..at].ends_with(char::is_alphabetic));
            if small || line.contains("Lua") || line.contains("LUA") {
                found.push(format!("{}:{}: {}", file.path, i + 1, line.trim()));
            }
        }
    }
    check_findings(
        found,
        "say it in words of the layer (a script, a value), or move it to src/script/. Where the \
         word is data, add the file and the reason to LUA_MENTIONS_ALLOWED.",
    );
}

#[test]
fn every_prelude_file_is_embedded() {
    let rust = rust_files();
    let list = rust.iter().find(|file| file.path == "src/script/prelude.rs").expect("it is there");
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.path.starts_with("lua/")) {
        let name = file.path.trim_start_matches("lua/").trim_end_matches(".lua");
        let included = format!("/{}\"", file.path);
        if !list.text.contains(&format!("\"{name}\""))
            && !rust.iter().any(|file| file.text.contains(&included))
        {
            found.push(format!("{} is in no list and included nowhere", file.path));
        }
    }
    check_findings(
        found,
        "add it to src/script/prelude.rs at the place where it should run, or remove it",
    );
}

#[test]
fn files_are_short_and_begin_with_a_summary() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.ends_with(&[".rs", ".lua", ".c"])) {
        let lines = file.text.lines().count();
        let excused = LONG_FILES.iter().any(|(path, _)| *path == file.path);
        if excused != (lines > LINES_MAX) {
            let stale = if excused { ", but it is listed in LONG_FILES" } else { "" };
            found.push(format!("{}: {lines} lines{stale}", file.path));
        }
        let first = if file.ends_with(&[".rs"]) { "//! " } else { "" };
        let first = if file.ends_with(&[".lua"]) { "--" } else { first };
        let first = if file.ends_with(&[".c"]) { "/* " } else { first };
        if !file.text.starts_with(first) {
            found.push(format!("{}: its first line does not say what is in it", file.path));
        }
        for (line, text) in file.lines() {
            let columns = text.chars().count();
            // Expected messages in tests may be on one line, as they are shown.
            let golden = text.contains('"') && file.path.starts_with("tests/");
            if columns > COLUMNS_MAX && !(golden && file.ends_with(&[".rs"])) {
                found.push(format!("{}:{line}: {columns} columns", file.path));
            }
        }
    }
    check_findings(
        found,
        "split a file by what its parts are about; begin it with a comment that says what lives in \
         it and what does not (`//! …`, `-- …`); break long lines at 100 columns.",
    );
}

/// Maximum length of a test's name, in characters.
const TEST_NAME_MAX: usize = 60;

#[test]
fn names_of_tests_are_short() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.ends_with(&[".rs"])) {
        let mut is_test = false;
        for (line, text) in file.lines() {
            let text = text.trim_start();
            is_test |= text == "#[test]";
            let Some(name) = text.strip_prefix("fn ").filter(|_| is_test) else { continue };
            is_test = false;
            let name = name.split('(').next().unwrap_or_default();
            if name.len() > TEST_NAME_MAX {
                found.push(format!("{}:{line}: {name}: {} characters", file.path, name.len()));
            }
        }
    }
    check_findings(
        found,
        "name the subject and what it does in at most 60 characters (CONTRIBUTING.md, \"Tests\")",
    );
}

/// Returns the whitespace errors of a Lua file.
fn whitespace_errors(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut closing: Option<String> = None;
    for (i, line) in text.lines().enumerate() {
        let trimmed = line.trim_start_matches(' ');
        if line.contains('\t') {
            found.push((i + 1, "a tab"));
        } else if line.ends_with(' ') {
            found.push((i + 1, "blanks at the end"));
        } else if closing.is_none() && !(line.len() - trimmed.len()).is_multiple_of(2) {
            found.push((i + 1, "an odd number of blanks at the beginning"));
        }
        // Long strings and comments may be indented freely.
        let mut rest = line;
        loop {
            if let Some(end) = &closing {
                let Some(at) = rest.find(end.as_str()) else { break };
                rest = &rest[at + end.len()..];
                closing = None;
            }
            let opening = [("[[", "]]"), ("[=[", "]=]")];
            let opened =
                opening.iter().filter_map(|(open, end)| Some((rest.find(open)?, open, end)));
            let Some((at, open, end)) = opened.min_by_key(|(at, ..)| *at) else { break };
            rest = &rest[at + open.len()..];
            closing = Some(end.to_string());
        }
    }
    if !text.ends_with('\n') || text.ends_with("\n\n") {
        found.push((text.lines().count(), "the file must end with one line break"));
    }
    found
}

#[test]
fn lua_code_is_formatted() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.ends_with(&[".lua"])) {
        for (line, message) in whitespace_errors(&file.text) {
            found.push(format!("{}:{line}: {message}", file.path));
        }
    }
    check_findings(
        found,
        "indent by two blanks, no tabs (write \\t in strings), nothing at a line's end",
    );
    assert_eq!(
        whitespace_errors("a = [[\n x\n]]\n   b = 1 \n c()\n\td()"),
        [
            (4, "blanks at the end"),
            (5, "an odd number of blanks at the beginning"),
            (6, "a tab"),
            (6, "the file must end with one line break"),
        ]
    );
}

#[test]
fn build_needs_no_system_package() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("it is there");
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let native = names.filter(|name| name.ends_with("-sys"));
    let unknown = native.filter(|name| NATIVE_CRATES.iter().all(|(known, _)| known != name));
    check_findings(
        unknown.map(|name| format!("Cargo.lock: {name}")).collect(),
        "find out whether the crate needs a library that is not on a bare machine (does its build \
         ask pkg-config?). If so, find another way; if not, say why in NATIVE_CRATES.",
    );
}

#[test]
fn files_have_no_machine_paths_or_todos() {
    // Split, so that this file does not match itself.
    let forbidden = [
        (["/ho", "me/"], "a path of one machine"),
        (["/ro", "ot/"], "a path of one machine"),
        (["/wo", "rk/"], "a path of one machine"),
        (["/Us", "ers/"], "a path of one machine"),
        (["crates", ".io"], "a package registry: Cargo.toml's names are enough"),
        (["regi", "stry."], "a package registry"),
        (["TO", "DO"], "work undone: do it, or open an issue"),
        (["FIX", "ME"], "work undone: do it, or open an issue"),
        (
            ["#[ig", "nore"],
            "a test that does not run: say SKIPPED when it cannot, as tests/gate.rs",
        ),
    ];
    let forbidden = forbidden.map(|(parts, why)| (parts.concat(), why));
    let mut found = Vec::new();
    for file in files().iter().filter(|file| !file.path.ends_with("Cargo.lock")) {
        for (line, text) in file.lines() {
            for (word, why) in &forbidden {
                let whole =
                    |at: usize| !text[..at].ends_with(|c: char| is_word(c) || ".~-".contains(c));
                if text.match_indices(word.as_str()).any(|(at, _)| whole(at)) {
                    found.push(format!("{}:{line}: '{word}': {why}", file.path));
                }
            }
        }
    }
    check_findings(found, "use a relative path or a scratch folder; do what is to be done");
}

#[test]
fn documents_name_only_existing_paths() {
    let files = files();
    let is_document = |file: &&File| file.ends_with(&[".md"]) && !file.path.starts_with("tests/");
    let documents: Vec<_> = files.iter().filter(is_document).collect();
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        assert!(documents.iter().any(|file| file.path == name), "{name} is missing");
    }
    let found = documents.iter().flat_map(|file| documents::dead_names(file, &files)).collect();
    check_findings(found, "name the path that it has now, or take the sentence out");
}

#[test]
fn every_manual_page_is_in_its_index() {
    let files = files();
    let mut found = Vec::new();
    for file in
        files.iter().filter(|file| file.path.starts_with("docs/") && file.ends_with(&[".md"]))
    {
        // A folder's own index is a page of the parent folder.
        let page = file.path.strip_suffix("/README.md").unwrap_or(&file.path);
        let Some((folder, _)) = page.rsplit_once('/') else { continue };
        let index = format!("{folder}/README.md");
        let link = format!("({})", &file.path[folder.len() + 1..]);
        if !files.iter().any(|file| file.path == index && file.text.contains(&link)) {
            found.push(format!("{} is not linked from {index}", file.path));
        }
    }
    check_findings(found, "add a line to the index, in words of somebody who looks for the page");
}
