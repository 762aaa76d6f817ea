//! Checks that the reference and the API agree: documented names exist, existing names are
//! documented, and sentences are complete. The files in docs/ are those that the engine generates.
//! Examples run.

use crate::game_folder::{GameFolder, Outcome};
use engine::script::api::{CORE_MODULES, MODULES};
use engine::script::api_row::FunctionRow;
use engine::script::docgen::model::{ApiModel, FunctionDoc, FunctionSource};
use engine::script::docgen::standard_library::{ABSENT, LIBRARIES};
use engine::script::docgen::{json, luacats, markdown};
use engine::script::unpacked_chunk;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The test's own folder, removed on drop.
struct Scratch(GameFolder);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(GameFolder::new("reference", name))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn engine(&self, arguments: &[&str]) -> Outcome {
        self.0.engine(arguments)
    }

    /// Plays `main` for one frame and returns its output.
    #[track_caller]
    fn play(&self, main: &str) -> String {
        self.write("main.lua", main);
        let (code, out, err) = self.engine(&["run", ".", "--headless", "--frames", "1"]);
        assert_eq!((code, err.as_str()), (0, ""), "{main}");
        out
    }
}

/// Fails with all findings, one line each.
#[track_caller]
fn check_none(found: Vec<String>, fault: &str) {
    assert!(found.is_empty(), "{fault}:\n  {}", found.join("\n  "));
}

fn location(function: &FunctionDoc) -> String {
    match &function.source {
        FunctionSource::Lua(file, line) => format!("{file}:{line}: {}", function.path()),
        _ => format!("the row of {}", function.path()),
    }
}

/// Script that lists everything a game can reach by name, as seen by Lua:
/// `Vector3.length function`.
const LIST_SCRIPT: &str = r#"
for name, value in pairs(_G) do
  print(name .. " " .. type(value))
  if type(value) == "table" and value ~= _G then
    for key, inner in pairs(value) do
      print(name .. "." .. tostring(key) .. " " .. type(inner))
    end
    local _, message = pcall(value)
    if not tostring(message):find("attempt to call") then print(name .. "() call") end
  end
end
"#;

/// Returns the documented names in the same form.
fn documented(api: &ApiModel) -> BTreeSet<String> {
    let mut all: BTreeSet<String> =
        api.functions().map(|function| format!("{} function", function.path())).collect();
    for module in &api.modules {
        // A type without functions has no table: only its values have members.
        if !(module.is_type() && module.functions.is_empty() && module.class.calls.is_empty()) {
            all.insert(format!("{} table", module.name));
        }
        if !module.class.calls.is_empty() {
            all.insert(format!("{}() call", module.name));
        }
        // A handle is a number: the fields of its module are constants.
        if !module.is_type() || module.handle {
            let fields = &module.class.fields;
            all.extend(
                fields.iter().map(|field| format!("{}.{} {}", module.name, field.name, field.kind)),
            );
        }
    }
    for library in LIBRARIES {
        if !library.name.is_empty() {
            all.insert(format!("{} table", library.name));
            all.extend(library.names.iter().map(|name| {
                let path = format!("{}.{name}", library.name);
                match path.as_str() {
                    "math.huge" | "math.pi" => format!("{path} number"),
                    "package.config" | "package.path" => format!("{path} string"),
                    "package.loaded" | "package.preload" => format!("{path} table"),
                    "package.loaders" | "package.searchers" => format!("{path} table"),
                    "jit.arch" | "jit.os" | "jit.version" => format!("{path} string"),
                    "jit.version_num" => format!("{path} number"),
                    _ => format!("{path} function"),
                }
            }));
            continue;
        }
        all.extend(library.names.iter().map(|name| match *name {
            "_G" => "_G table".to_string(),
            "_VERSION" => "_VERSION string".to_string(),
            name => format!("{name} function"),
        }));
    }
    all
}

#[test]
fn documented_names_match_the_api() {
    let out = Scratch::new("live").play(LIST_SCRIPT);
    let live: BTreeSet<String> = out.lines().map(str::to_string).collect();
    assert!(live.len() > 300, "the list is too short to be true:\n{out}");
    let documented = documented(&ApiModel::new());
    let missing = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect();
    check_none(missing(&live, &documented), "a game sees these, and nothing documents them");
    check_none(missing(&documented, &live), "these are documented, and a game does not see them");
}

/// Names of parameters that are counts, indices or ids.
const WHOLE_PARAMETERS: [&str; 11] = [
    "bytes", "column", "count", "first", "frames", "id", "index", "last", "node", "row", "segments",
];

/// Parameters with these names that are not whole numbers: ids of any kind, effects that may have
/// ended.
const OTHER_PARAMETERS: [&str; 6] = [
    "DebugUi.push_id",
    "World.are_particles_playing",
    "World.destroy_particles",
    "World.num_particles",
    "World.stop_spawning_particles",
    "World.move_particles",
];

/// Returns true if the name of a function or the text of a result says that it is a whole number.
fn is_whole(name: &str, doc: &str) -> bool {
    let names = name.starts_with("num_") || name.ends_with("_index") || name == "node";
    names || ["the number of ", "number of ", "the id "].iter().any(|start| doc.starts_with(start))
}

#[test]
fn counts_and_indices_are_integers() {
    let api = ApiModel::new();
    let mut found = Vec::new();
    let is_number = |kind: &str| kind.split('|').any(|kind| kind == "number");
    for function in api.functions() {
        let path = function.path();
        for param in &function.params {
            let whole = WHOLE_PARAMETERS.contains(&param.name.as_str());
            if whole && is_number(&param.kind) && !OTHER_PARAMETERS.contains(&path.as_str()) {
                found.push(format!("{path}: parameter '{}' is {}", param.name, param.kind));
            }
        }
        let result = function.returns.first().filter(|result| is_number(&result.kind));
        if let Some(result) = result.filter(|result| is_whole(&function.name, &result.doc)) {
            found.push(format!("{path}: the result is {}", result.kind));
        }
    }
    check_none(found, "editors see these as fractions");
}

#[test]
fn lua_library_matches_the_reference() {
    let mut main = String::from("local function check(name, value, wanted)\n");
    main += "  if (value ~= nil) ~= wanted then print(name, value) end\nend\n";
    for library in LIBRARIES {
        for name in library.names {
            let path = match library.name.is_empty() {
                true => name.to_string(),
                false => format!("{}.{name}", library.name),
            };
            main += &format!("check(\"{path}\", {path}, true)\n");
        }
        let differs = library.differs.iter().map(|(name, _)| name);
        let unknown: Vec<_> = differs.filter(|name| !library.names.contains(name)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", library.name);
    }
    for (path, _) in ABSENT {
        main += &format!("check(\"{path}\", {path}, false)\n");
    }
    assert_eq!(Scratch::new("library").play(&main), "");
}

#[test]
fn suite_functions_match_the_reference() {
    let scratch = Scratch::new("suite");
    let mut suite =
        String::from("describe(\"the functions\", function()\n  it(\"exist\", function()\n");
    let mut check = |name: &str, known: bool| {
        // Without arguments every assertion fails. A missing assertion has a different message.
        suite += &format!("    local _, message = pcall(function() return {name}() end)\n");
        suite += "    local unknown = tostring(message):find(\"unknown\", 1, true)\n";
        suite += &format!("    assert.equals({known}, unknown == nil, \"{name}\")\n");
    };
    check("assert.is_numbr", false);
    let (assertions, word_functions): (Vec<_>, Vec<_>) =
        ApiModel::new().testing.into_iter().partition(|function| function.module == "assert");
    assert!(assertions.len() > 10 && word_functions.len() > 10);
    for function in assertions {
        check(&function.path(), true);
    }
    for function in word_functions {
        suite += &format!("    assert.is_not_nil({0}, \"{0}\")\n", function.path());
    }
    suite += "  end)\nend)\n";
    scratch.write("tests/functions_test.lua", &suite);
    let (code, out, err) = scratch.engine(&["test", "."]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn prelude_comments_are_valid() {
    check_none(ApiModel::new().problems, "these comments in lua/ cannot be read");
}

#[test]
fn every_item_is_documented() {
    let api = ApiModel::new();
    let mut found = Vec::new();
    for module in &api.modules {
        if module.doc.is_empty() || module.example.is_empty() {
            let message = "needs ---@module in lua/, or a row, with a sentence and an example";
            found.push(format!("{} {message}", module.name));
        }
    }
    for function in api.functions().chain(&api.callbacks).chain(&api.testing) {
        let location = location(function);
        if !function.doc.ends_with(['.', '`']) {
            found.push(format!("{location}: its sentence is missing, or does not end"));
        }
        let params = function.params.iter().map(|param| (&param.name, &param.kind, &param.doc));
        for (name, kind, doc) in params {
            if name.is_empty() || kind.is_empty() || doc.is_empty() {
                found.push(format!("{location}: argument '{name}' needs a type and a description"));
            }
        }
        // A row's description covers its results, and their types come from Rust.
        let from_rust = function.source == FunctionSource::Rust;
        let is_undocumented = |doc: &String| doc.is_empty() && !from_rust;
        if function.returns.iter().any(|result| {
            result.kind.is_empty() || is_undocumented(&result.doc) && result.name.is_empty()
        }) {
            found.push(format!("{location}: every @return needs a type and a description"));
        }
    }
    check_none(found, "descriptions are missing");
}

/// Returns true if a native function behind a function of the prelude has these arguments.
fn is_native(path: &str, names: &[&str]) -> bool {
    let mut rows = CORE_MODULES.iter().flat_map(|module| module.funcs);
    let argument_names =
        |row: &FunctionRow| row.params.iter().map(|param| param.0).collect::<Vec<_>>();
    rows.any(|row| row.public_name == Some(path) && argument_names(row) == names.to_vec())
}

#[test]
fn several_results_have_different_names() {
    let mut found = Vec::new();
    for function in ApiModel::new().functions().filter(|function| function.returns.len() > 1) {
        let names: Vec<&str> = function.returns.iter().map(|result| &*result.name).collect();
        let different: BTreeSet<&str> = names.iter().copied().collect();
        let has_rest = function.returns.iter().any(|result| result.rest);
        if !has_rest && (names.contains(&"") || different.len() < names.len()) {
            found.push(format!("{} returns {names:?}", location(function)));
        }
    }
    check_none(found, "these have several results: give each a name, as `width in texels`");
}

#[test]
fn arguments_are_documented_in_order() {
    let mut found = Vec::new();
    for function in ApiModel::new().functions() {
        if function.source == FunctionSource::Rust {
            continue;
        }
        let names: Vec<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
        // A function that only passes its arguments on has the names of the native function, which
        // checks them.
        if function.declared == ["..."] && is_native(&function.path(), &names) {
            continue;
        }
        // A `...` that only serves to refuse arguments is not documented.
        let mut declared: Vec<&str> = function.declared.iter().map(String::as_str).collect();
        if declared.last() == Some(&"...") && names.last() != Some(&"...") {
            declared.pop();
        }
        if names != declared {
            found.push(format!("{}: takes {declared:?}, documents {names:?}", location(function)));
        }
    }
    check_none(found, "the @param lines are not those of the function");
}

/// Returns the names in a type that are neither Lua's types nor types of the API.
fn unknown_types(api: &ApiModel, kind: &str, types: &BTreeSet<&str>) -> Vec<String> {
    let mut rest = kind.replace("?:", ":");
    for name in ["fun(", "table<"] {
        rest = rest.replace(name, " ");
    }
    // Argument names of a function type precede a colon.
    let type_names = rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':' && c != '.');
    let type_names = type_names.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    let unknown = type_names.filter(|word| !word.ends_with(':') && !types.contains(word));
    let known = |word: &&str| api.modules.iter().any(|m| m.is_type() && m.name == *word);
    unknown.filter(|word| !known(word)).map(str::to_string).collect()
}

#[test]
fn every_named_type_exists() {
    let api = ApiModel::new();
    let types = [
        "any", "nil", "false", "boolean", "number", "integer", "string", "table", "function",
        // Types of the test library.
        "luassert", "spy",
    ];
    let types: BTreeSet<&str> = types.into_iter().collect();
    let mut found = Vec::new();
    for function in api.functions().chain(&api.callbacks).chain(&api.testing) {
        let params = function.params.iter().map(|param| &param.kind);
        for kind in params.chain(function.returns.iter().map(|result| &result.kind)) {
            for word in unknown_types(&api, kind, &types) {
                found.push(format!("{}: '{word}' in '{kind}'", location(function)));
            }
        }
    }
    check_none(found, "these are no types");
    let check = |kind: &str, expected: &[&str]| {
        assert_eq!(unknown_types(&api, kind, &types), expected, "{kind}");
    };
    check("fun(a: Vector3, b?: number): World|nil", &[]);
    check("table<string, Vektor3[]>", &["Vektor3"]);
    check("Math", &["Math"]);
}

#[test]
fn generated_docs_are_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let remedy = "run: cargo run -- docs --markdown --out docs";
    let files = markdown::files(&ApiModel::new());
    for file in &files {
        let found = fs::read_to_string(docs.join(&file.name)).unwrap_or_default();
        let pairs = found.lines().zip(file.text.lines());
        let line = pairs.take_while(|(found, expected)| found == expected).count() + 1;
        let location = format!("docs/{}:{line}", file.name);
        assert!(found == file.text, "{location} is not what is generated; {remedy}");
    }
    let pages: BTreeSet<String> = files.into_iter().map(|file| file.name).collect();
    for entry in fs::read_dir(docs.join("reference")).unwrap() {
        let name = format!("reference/{}", entry.unwrap().file_name().to_str().unwrap());
        assert!(pages.contains(&name), "docs/{name} is of a module that is gone; remove it");
    }
}

#[test]
fn generated_functions_of_rows_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/gui/rows.lua");
    let text = unpacked_chunk::file(MODULES);
    if std::env::var("ENGINE_ROWS_UPDATE").is_ok_and(|value| value == "1") {
        fs::write(&path, &text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "lua/gui/rows.lua is not what is generated; ENGINE_ROWS_UPDATE=1 writes it"
    );
}

#[test]
fn every_reference_example_runs() {
    let scratch = Scratch::new("examples");
    // Models of the examples.
    for (name, from) in [("face", "face"), ("orc", "column")] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(root.join(format!("tests/lua/models/{from}.gltf"))).unwrap();
        scratch.write(&format!("models/{name}.gltf"), &text);
    }
    for module in ApiModel::new().modules {
        assert!(module.example.contains(&module.name), "{}: not in its example", module.name);
        scratch.play(&module.example);
    }
}

#[test]
fn editor_definitions_are_valid_lua() {
    let scratch = Scratch::new("definitions");
    let mut main = String::new();
    let files = luacats::files(&ApiModel::new());
    for file in &files {
        assert!(file.text.starts_with("---@meta\n"), "{}", file.name);
        scratch.write(&format!("definitions/{}", file.name), &file.text);
        main += &format!("require \"definitions.{}\"\n", file.name.trim_end_matches(".lua"));
    }
    main += "print(type(Vector3.length), type(update), type(World), type(os.time), type(wait))\n";
    assert_eq!(scratch.play(&main), "function\tfunction\ttable\tfunction\tfunction\n");
}

#[test]
fn editor_definitions_have_classes_and_types() {
    let files = luacats::files(&ApiModel::new());
    let check = |name: &str, expected: &str| {
        let file = files.iter().find(|file| file.name == name).expect(name);
        assert!(file.text.contains(expected), "{name} lacks:\n{expected}\nand has:\n{}", file.text);
    };
    check("World.lua", "---@class World: EngineHandle\n\n---A world is");
    check("handles.lua", "---@class EngineHandle: integer\n");
    check(
        "Application.lua",
        "---@overload fun(type: \"config\"|\"strings\", name: string): table\n",
    );
    check("World.lua", "---@param world World a world\n---@return number\nfunction World.time(");
    check("World.lua", "---@param world? World|number|false a number that may be");
    check("Vector3.lua", "---@class (exact) Vector3\n---@field x number ");
    check("Vector3.lua", "fun(x?: number, y?: number, z?: number): Vector3\nVector3 = {}\n");
    check("Math.lua", "---@param min? integer the smallest");
    check("callbacks.lua", "---@param dt number seconds");
    check("callbacks.lua", "---@param names string[] names of");
    check("library.lua", "function os.clock() end");
    assert!(files.iter().all(|file| !file.text.contains('{') || !file.text.contains("{os.")));
}

#[test]
fn json_reference_is_complete() {
    let api = ApiModel::new();
    let text = json::text(&api);
    let scratch = Scratch::new("json");
    scratch.write("api.lua", &format!("return [==========[\n{text}]==========]"));
    let main = r#"
local api = Json.decode(require("api"))
local count = #api.globals
for _, module in ipairs(api.modules) do count = count + #module.functions end
print(#api.modules, count, #api.callbacks, api.settings[1].key)
"#;
    let (modules, functions) = (api.modules.len(), api.functions().count());
    let expected = format!("{modules}\t{functions}\t{}\tname\n", api.callbacks.len());
    assert_eq!(scratch.play(main), expected);
}

#[test]
fn docs_command_shows_help_for_a_name() {
    let scratch = Scratch::new("help");
    let check = |name: &str, expected: &str| {
        let (code, out, err) = scratch.engine(&["docs", name]);
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
        assert!(out.contains(expected), "{name}: {out}");
    };
    let length = "Vector3.length(v: Vector3): number\n\nReturns the length of a vector.\n\n  \
                  v                       the vector to measure\n  \
                  returns length: number  in the units of v\n";
    assert_eq!(scratch.engine(&["docs", "Vector3.length"]), (0, length.into(), String::new()));
    check("Vector3", "\n  length             Returns the length of a vector.\n");
    check("length", "  Vector2.length  Returns the length of a vector.\n");
    check("update", "update(dt: number)\n");
    check("limits.update_seconds", "(number, 0.05 to 3600; 2 if left out)");
    check("settings", "  boot_script ");
    check("print", "Writes a line to the engine's log");
    let (code, out, _) = scratch.engine(&["docs"]);
    assert_eq!(code, 0);
    for name in ApiModel::new().modules.iter().map(|module| &module.name) {
        assert!(out.contains(&format!("\n  {name} ")), "{name} is missing:\n{out}");
    }
}

#[test]
fn docs_command_suggests_for_unknown_names() {
    let scratch = Scratch::new("unknown");
    let check = |name: &str, expected: &str| {
        let outcome = scratch.engine(&["docs", name]);
        assert_eq!(outcome, (1, String::new(), format!("error: {expected}\n")));
    };
    check(
        "Vector3.lenght",
        "there is no 'Vector3.lenght' in the API, did you mean 'Vector3.length'?",
    );
    check("xyzzy", "there is no 'xyzzy' in the API: engine docs lists the modules");
    check("dofile", "games do not have Lua's 'dofile': use require");
    check(
        "io.open",
        "games do not have Lua's 'io': files of the game are resources, and what it keeps is \
         written with Save",
    );
    check(
        "love.graphics",
        "there is no 'love.graphics': this is not LÖVE: 'Coming from LÖVE' in the manual lists the \
         replacements (engine docs --open)",
    );
}

#[test]
fn docs_command_writes_files_or_reports_why_not() {
    let scratch = Scratch::new("out");
    let (code, out, err) = scratch.engine(&["docs", "--luacats", "--out", "a/b"]);
    let files = luacats::files(&ApiModel::new());
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, format!("{} files written to a/b\n", files.len()));
    for file in &files {
        assert_eq!(fs::read_to_string(scratch.0.join("a/b").join(&file.name)).unwrap(), file.text);
    }
    scratch.write("taken", "a file");
    let (code, out, err) = scratch.engine(&["docs", "--json", "--out", "taken"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error: the folder taken cannot be made: "), "{err}");
    assert!(err.ends_with(": choose another with --out\n"), "{err}");
    let (code, out, err) = scratch.engine(&["docs", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, json::text(&ApiModel::new()));
    assert_eq!(scratch.engine(&["docs", "--json", "Vector3"]).0, 2);
    let (code, out, err) = scratch.engine(&["docs", "--html", "--out", "site"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.ends_with(" files written to site\n"), "{out}");
    let page = fs::read_to_string(scratch.0.join("site/docs/reference/Gui.html")).unwrap();
    assert!(page.contains("<h2 id=\"guitext\">Gui.text</h2>"));
    let (code, _, err) = scratch.engine(&["docs", "--html", "--out", "taken"]);
    assert_eq!(code, 1);
    assert!(err.contains(": choose another folder with --out"), "{err}");
    assert_eq!(scratch.engine(&["docs", "--html"]).0, 2);
}

/// A process that is killed on drop.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
#[test]
fn manual_is_served_and_opened_in_the_browser() {
    use crate::game_folder::write_program;
    let scratch = Scratch::new("open");
    for program in ["xdg-open", "open"] {
        // Written under another name first, so that it is complete when it becomes visible.
        let text =
            "#!/bin/sh\ncd \"${0%/*}\" && printf %s \"$1\" > asked.new && mv asked.new asked\n";
        write_program(&scratch.0.join(program), text);
    }
    let path = format!("{}:{}", scratch.0.display(), std::env::var("PATH").unwrap());
    let process = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["docs", "Gui.text", "--open"])
        .current_dir(&scratch.0)
        .env("PATH", path)
        .stdout(Stdio::piped())
        .spawn();
    let mut process = KilledOnDrop(process.unwrap());
    let mut line = String::new();
    // The pipe stays open until the end.
    let mut out = BufReader::new(process.0.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let address = line.strip_prefix("the manual: ").and_then(|rest| rest.split(' ').next());
    let address = address.unwrap_or_else(|| panic!("no address: {line}"));
    let (host, page) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    assert_eq!(page, "docs/reference/Gui.html#guitext");
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{page} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:.80}");
    assert!(answer.contains("<h2 id=\"guitext\">Gui.text</h2>"));
    let began = Instant::now();
    while !scratch.0.join("asked").exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was opened");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(fs::read_to_string(scratch.0.join("asked")).unwrap(), address);
}
