//! Tests of the extension for Visual Studio Code (packaging/editors): its package, its grammar and
//! problem matchers on real text, and its scripts without the editor. Programs that a bare machine
//! lacks (python3, node) are needed for parts of it; if one is missing, the tests report this and
//! pass.

use crate::game_folder::{GameFolder, combined_output, outcome};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::foundation::xml::XmlReader;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn extension() -> PathBuf {
    root().join("packaging/editors/vscode")
}

/// Returns true if a program is installed, and reports it otherwise.
fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).any(|folder| folder.join(program).is_file());
    if !found {
        let message = format!("SKIPPED: there is no {program}, so the extension was not tried");
        let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "{message}");
        writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
    }
    found
}

fn read_json(path: &Path) -> SjsonTree {
    let text = fs::read_to_string(path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    json::read(&text).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
}

fn at<'a>(tree: &'a SjsonTree, path: &str) -> &'a SjsonTree {
    path.split('/').filter(|key| !key.is_empty()).fold(tree, |tree, key| match tree {
        SjsonTree::Array(items) => &items[key.parse::<usize>().expect("an index")],
        _ => tree.get(key).unwrap_or_else(|| panic!("there is no {key} of {path}")),
    })
}

fn text<'a>(tree: &'a SjsonTree, path: &str) -> &'a str {
    match at(tree, path) {
        SjsonTree::String(text) => text,
        other => panic!("{path} is {other:?}"),
    }
}

fn items<'a>(tree: &'a SjsonTree, path: &str) -> &'a [SjsonTree] {
    match at(tree, path) {
        SjsonTree::Array(items) => items,
        other => panic!("{path} is {other:?}"),
    }
}

fn keys<'a>(tree: &'a SjsonTree, path: &str) -> Vec<&'a str> {
    match at(tree, path) {
        SjsonTree::Object(entries) => entries.iter().map(|(key, _)| key.as_str()).collect(),
        other => panic!("{path} is {other:?}"),
    }
}

/// Runs a program with a text as its input. Returns the lines of its output.
fn lines_of(command: &mut Command, input: &str) -> Vec<String> {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it is installed");
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_string();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads its input");
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problems}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(str::to_string).collect()
}

fn python(script: &str, arguments: &[&Path]) -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join(script)).args(arguments);
    command
}

/// Reads an archive whose entries are not compressed: the content by path.
fn entries(zip: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([zip[at], zip[at + 1]]));
    let u32_at = |at: usize| u32::from_le_bytes(zip[at..at + 4].try_into().unwrap()) as usize;
    let end = zip.len() - 22;
    assert_eq!(&zip[end..end + 4], b"PK\x05\x06", "the end of the directory");
    let (count, mut row) = (u16_at(end + 10), u32_at(end + 16));
    let mut found = BTreeMap::new();
    for _ in 0..count {
        assert_eq!(&zip[row..row + 4], b"PK\x01\x02", "a row of the directory");
        let (method, packed, size) = (u16_at(row + 10), u32_at(row + 20), u32_at(row + 24));
        assert_eq!((method, packed), (0, size), "not compressed");
        let name_end = row + 46 + u16_at(row + 28);
        let name = String::from_utf8(zip[row + 46..name_end].to_vec()).expect("UTF-8");
        let local = u32_at(row + 42);
        assert_eq!(&zip[local..local + 4], b"PK\x03\x04", "{name}");
        let data = local + 30 + u16_at(local + 26) + u16_at(local + 28);
        assert_eq!(u32_at(row + 16) as u32, crc32(&zip[data..data + size]), "{name}");
        assert!(found.insert(name, zip[data..data + size].to_vec()).is_none(), "twice");
        row = name_end + u16_at(row + 30) + u16_at(row + 32);
    }
    assert_eq!(row, end, "the directory is before its end");
    found
}

/// The checksum of zip archives.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn package_has_the_shape_that_the_editor_reads() {
    if !has("python3") {
        return;
    }
    let folder = GameFolder::new("editor-extension", "package");
    let [first, second] = ["first.vsix", "second.vsix"].map(|name| folder.join(name));
    for file in [&first, &second] {
        let (code, out, err) = outcome(&mut python("packaging/editors/vsix.py", &[file]));
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    }
    let zip = fs::read(&first).unwrap();
    assert!(zip == fs::read(&second).unwrap(), "the same sources give the same bytes");
    let found = entries(&zip);
    let mut files = Vec::new();
    files_below(&extension(), &mut files);
    for file in &files {
        let path = file.strip_prefix(extension()).unwrap().to_str().expect("UTF-8");
        let packed = found.get(&format!("extension/{path}"));
        assert!(packed == Some(&fs::read(file).unwrap()), "{path}");
    }
    let others = ["[Content_Types].xml", "extension.vsixmanifest", "extension/LICENSE.txt"];
    assert_eq!(found.len(), files.len() + others.len(), "{:?}", found.keys());
    let xml = |name: &str| String::from_utf8(found[name].clone()).expect("UTF-8");
    for name in &others[..2] {
        let text = xml(name);
        let mut reader = XmlReader::new(&text);
        while reader.next_event().unwrap_or_else(|_| panic!("{name} is cut short")).is_some() {}
    }
    let (types, manifest) = (xml(others[0]), xml(others[1]));
    for name in found.keys().filter(|name| *name != others[0]) {
        let ending = name.rsplit('.').next().unwrap();
        assert!(types.contains(&format!("Extension=\".{ending}\"")), "{name}");
    }
    let version = format!("Version=\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&version), "{manifest}");
    for asset in manifest.split("Path=\"").skip(1).map(|part| part.split('"').next().unwrap()) {
        assert!(found.contains_key(asset), "{asset}");
    }
    assert!(crc32(b"123456789") == 0xcbf4_3926, "the published check value");
}

#[test]
fn description_names_files_and_fields_that_exist() {
    let package = read_json(&extension().join("package.json"));
    assert_eq!(text(&package, "version"), env!("CARGO_PKG_VERSION"));
    let contributes = at(&package, "contributes");
    let languages = items(contributes, "languages");
    let paths = [
        text(&package, "main"),
        text(&languages[0], "configuration"),
        text(contributes, "grammars/0/path"),
        text(contributes, "snippets/0/path"),
    ];
    for path in paths {
        assert!(extension().join(path).is_file(), "{path}");
    }
    for file in ["sjson.language.json", "syntaxes/sjson.tmLanguage.json", "snippets/lua.json"] {
        read_json(&extension().join(file));
    }
    // Breakpoints of graphs are in files of this language.
    let stops = items(contributes, "breakpoints").iter().map(|it| text(it, "language"));
    assert_eq!(stops.collect::<Vec<_>>(), ["lua", "sjson"]);
    let sjson = items(contributes, "languages").iter().find(|it| text(it, "id") == "sjson");
    let sjson = sjson.expect("the language of graphs");
    let extensions = items(sjson, "extensions").iter().map(|it| text(it, ""));
    let extensions: Vec<&str> = extensions.collect();
    for graph in [".flow", ".unit", ".level"] {
        assert!(extensions.contains(&graph), "{graph} is not in {extensions:?}");
    }
    assert_eq!(text(contributes, "debuggers/0/type"), "engine");
    // The program is chosen by the user, and never by a folder that was opened.
    let scope = text(contributes, "configuration/properties/engine.path/scope");
    assert_eq!(scope, "machine");
    let page = fs::read_to_string(root().join("docs/debugging.md")).unwrap();
    for request in ["launch", "attach"] {
        let path = format!("debuggers/0/configurationAttributes/{request}/properties");
        for key in keys(contributes, &path) {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
            let row = row.unwrap_or_else(|| panic!("{key} is not in docs/debugging.md"));
            assert!(request == "launch" || !row.contains("(`launch`)"), "{key}: {row}");
        }
    }
    let resources = fs::read_to_string(root().join("docs/resources.md")).unwrap();
    for ending in items(&languages[0], "extensions") {
        let SjsonTree::String(ending) = ending else { panic!("{ending:?}") };
        let known = resources.contains(&format!("`{ending}`")) || ending == ".sjson";
        assert!(known, "docs/resources.md has no {ending}");
    }
    let scripts = ["commands.js", "extension.js", "program.js", "suites.js"];
    let scripts = scripts.map(|name| fs::read_to_string(extension().join(name)).unwrap());
    for command in items(contributes, "commands") {
        let name = format!("\"{}\"", text(command, "command"));
        assert!(scripts[0].contains(&name), "{name} does nothing");
    }
    let terms = ["eval(", "execSync", "shell:", "https://"];
    for term in terms {
        assert!(!scripts.iter().any(|script| script.contains(term)), "{term}");
    }
}

#[test]
fn snippets_are_scripts_of_the_engine() {
    let snippets = read_json(&extension().join("snippets/lua.json"));
    let folder = GameFolder::new("editor-extension", "snippets");
    folder.write("game/main.lua", "");
    let reference = fs::read_to_string(root().join("docs/reference/README.md")).unwrap();
    for (i, name) in keys(&snippets, "").iter().enumerate() {
        let body: Vec<String> = items(&snippets, &format!("{name}/body"))
            .iter()
            .map(|line| match line {
                SjsonTree::String(line) => line.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        let script = expanded(&body.join("\n"));
        folder.write(&format!("game/snippet_{i}.lua"), &script);
        for call in script.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_') {
            let Some((module, function)) = call.split_once('.') else { continue };
            let page = root().join(format!("docs/reference/{module}.md"));
            let Ok(page) = fs::read_to_string(page) else { continue };
            assert!(reference.contains(module), "{module}");
            assert!(page.contains(&format!("## {module}.{function}")), "{name}: {call}");
        }
    }
    let (code, text) = combined_output(&mut folder.command(&["check", "game"]));
    assert_eq!(code, Some(0), "{text}");
}

/// Returns a snippet as the editor inserts it, with its defaults.
fn expanded(body: &str) -> String {
    let (mut script, mut rest) = (String::new(), body);
    while let Some(at) = rest.find('$') {
        script += &rest[..at];
        rest = &rest[at + 1..];
        if let Some(inner) = rest.strip_prefix('{') {
            let end = inner.find('}').expect("it is closed");
            script += inner[..end].split_once(':').map_or("", |(_, default)| default);
            rest = &inner[end + 1..];
        } else {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    (script + rest).replace('\t', "  ")
}

#[test]
fn grammar_colors_every_source_of_the_examples() {
    if !has("python3") {
        return;
    }
    let grammar = extension().join("syntaxes/sjson.tmLanguage.json");
    let parts =
        |text: &str| lines_of(&mut python("tests/editor_extension/grammar.py", &[&grammar]), text);
    let sample = "// a = 1\nname = \"B \\\" \\q\" \"spawn rate\": -2.5e3, on = true\n\
                  help = \"\"\"Raw \"x\" //\nmore\"\"\" sub = [{ a = null }, word]";
    let names = |scope: &str| {
        let scope = format!("{scope}.sjson\t");
        let parts = parts(sample).into_iter();
        parts.filter_map(|part| part.strip_prefix(&scope).map(str::to_string)).collect::<Vec<_>>()
    };
    assert_eq!(names("comment.line.double-slash"), ["// a = 1"]);
    let keys = ["name", "\"spawn rate\"", "on", "help", "sub", "a"];
    assert_eq!(names("support.type.property-name"), keys);
    assert_eq!(names("constant.numeric"), ["-2.5e3"]);
    assert_eq!(names("constant.language"), ["true", "null"]);
    assert_eq!(names("constant.character.escape"), ["\\\""]);
    assert_eq!(names("invalid.illegal.escape"), ["\\q"]);
    assert_eq!(names("invalid.illegal"), ["word"]);
    assert_eq!(names("string.quoted.triple"), ["\"\"\"", "Raw \"x\" //", "more", "\"\"\""]);
    let package = read_json(&extension().join("package.json"));
    let endings: Vec<&str> = items(&package, "contributes/languages/0/extensions")
        .iter()
        .map(|ending| match ending {
            SjsonTree::String(ending) => ending.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    let mut files = Vec::new();
    for folder in ["game_template", "templates", "examples", "tests/lua"] {
        files_below(&root().join(folder), &mut files);
    }
    let is_source = |path: &PathBuf| {
        let text = path.to_string_lossy();
        endings.iter().any(|ending| text.ends_with(ending)) && !text.contains("/.engine/")
    };
    files.retain(is_source);
    assert!(files.len() > 100, "{}", files.len());
    // One run for all: starting the program takes longer than the work.
    let all: String = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .filter(|text| engine::foundation::sjson::parse(text).is_ok())
        .map(|text| text.trim_end().to_string() + "\n")
        .collect();
    let found = parts(&all);
    let wrong = |line: &&String| line.starts_with("invalid") || line.starts_with("open\t");
    let wrong: Vec<&String> = found.iter().filter(wrong).collect();
    assert!(wrong.is_empty() && found.len() > 1000, "{wrong:?}");
}

#[test]
fn problem_matchers_find_every_kind_of_error() {
    if !has("python3") {
        return;
    }
    let folder = GameFolder::new("editor-extension", "matchers");
    let package = extension().join("package.json");
    let find = |arguments: &[&str]| {
        let (_, output) = combined_output(&mut folder.command(arguments));
        let found =
            lines_of(&mut python("tests/editor_extension/matchers.py", &[&package]), &output);
        (found, output)
    };
    let check = |arguments: &[&str], expected: &[&str]| {
        let (found, output) = find(arguments);
        for line in expected {
            assert!(found.iter().any(|it| it == line), "{line} is not in {found:?} of {output}");
        }
    };
    let run = ["run", "game", "--headless", "--frames", "2"];
    folder.write("game/main.lua", "function update()\n  local a\n  a.b = 1\nend\n");
    let report = "engine-report\terror\tmain.lua\t3\t\tattempt to index local 'a' (a nil value)";
    check(&run, &[report]);
    let warns = "local warned\nfunction update() Script.warn('the wind') end\n";
    folder.write("game/main.lua", warns);
    check(&run, &["engine\twarning\tmain.lua\t2\t\tthe wind"]);
    folder.write("game/settings.sjson", "a = {");
    check(&run, &["engine\terror\tsettings.sjson\t1\t5\tobject is not closed: add '}'"]);
    folder.write("game/settings.sjson", "");
    folder.write("game/bad_test.lua", "it('walks', function()\n  assert.equal(1, 2)\nend)");
    check(
        &["test", "game", "--output", "plain"],
        &["engine-test\terror\tbad_test.lua\t2\t\twalks"],
    );
}

#[test]
fn scripts_run_tests_and_start_the_adapter() {
    if !has("node") {
        return;
    }
    let folder = GameFolder::new("editor-extension", "scripts");
    let suite = "describe('a', function()\n  it('fails', function() error('no') end)\n  \
                 it('waits', function() pending('x') end)\nend)\nit('--help', function() end)\n";
    folder.write("game/main.lua", "function update() end");
    folder.write("game/tests/a_test.lua", suite);
    let engine = env!("CARGO_BIN_EXE_engine");
    let mut command = folder.program("node", &[root().join("tests/editor_extension/stub.js")]);
    command.arg(extension()).arg(engine).arg(folder.join("game"));
    let lines = lines_of(&mut command, "");
    let step = |name: &str| {
        let found = lines.iter().find(|line| line.contains(&format!("{{\"step\":\"{name}\"")));
        found.unwrap_or_else(|| panic!("no {name} in {lines:?}")).clone()
    };
    let check = |name: &str, expected: &str| {
        assert!(step(name).contains(expected), "{expected} is not in {}", step(name));
    };
    check("found", &format!("[\"none\",\"none\",\"{engine}\"]"));
    check("adapter", &format!("\"command\":\"{engine}\",\"parameters\":[\"dap\"]"));
    check("play", "\"type\":\"engine\",\"request\":\"launch\",\"name\":\"Play\"");
    check("named", "\"request\":\"attach\",\"name\":\"A\"");
    check("tasks", "[\"run\",[\"run\",\".\"],[\"$engine\",\"$engine-report\"]]");
    check("tests", "[[\"tests/a_test.lua\",[\"a fails\",\"a waits\",\"--help\"]]]");
    check("results", "[\"failed\",\"a fails\",\"tests/a_test.lua:2\",\"no\"]");
    check("results", "[\"skipped\",\"a waits\"],[\"passed\",\"--help\"]");
    check("one", "\"results\":[[\"failed\",\"a fails\"");
    assert!(!step("one").contains("--help"), "{}", step("one"));
    check("debugged", "\"suite\":\"tests/a_test.lua\",\"test\":\"a fails\"");
    check("page", "run it first");
    check("none", "start it with F5");
    check("sampled", "\"opened\":[\"the report\"]");
    check(
        "nodes",
        "[\"engineFlowBreakpoints\",{\"nodes\":[{\"graph\":\"units/door\",\"node\":2}]}]",
    );
    let package = read_json(&extension().join("package.json"));
    for command in items(&package, "contributes/commands") {
        check("commands", &format!("\"{}\"", text(command, "command")));
    }
}

#[test]
fn an_untrusted_workspace_starts_no_program() {
    if !has("node") {
        return;
    }
    let folder = GameFolder::new("editor-extension", "untrusted");
    folder.write("game/main.lua", "function update() end");
    folder.write("game/tests/a_test.lua", "it('a', function() end)");
    let engine = env!("CARGO_BIN_EXE_engine");
    let mut command = folder.program("node", &[root().join("tests/editor_extension/stub.js")]);
    command.arg(extension()).arg(engine).arg(folder.join("game")).arg("untrusted");
    let lines = lines_of(&mut command, "");
    let [refused, trusted] = &lines[..] else { panic!("{lines:?}") };
    let expected = "\"spawned\":[],\"isRefused\":true,\"opened\":[\"Games are run only in trusted";
    assert!(refused.contains(expected), "{refused}");
    assert!(trusted.contains("\"spawned\":1,\"suites\":1"), "{trusted}");
}
