//! The build for servers (`--no-default-features`), as far as it can be checked without compiling
//! it: which libraries it links, and that code of the desktop is behind the feature that servers
//! lack. `packaging/server.sh --check` compiles it.

use crate::check_findings;
use crate::source::{File, code, files, names, root, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Libraries of windows, graphics interfaces, clipboards and sound devices.
const DESKTOP_LIBRARIES: &[&str] = &[
    "arboard",
    "ash",
    "cpal",
    "glow",
    "gpu-allocator",
    "khronos-egl",
    "objc2-metal",
    "wayland-client",
    "winit",
    "x11-dl",
    "x11rb",
];

/// Features of the engine's crates that an executable for servers lacks, on every platform.
const DESKTOP_FEATURES: &[&str] = &["default", "desktop", "development", "devices", "gpu"];

/// Types that exist twice, each with the file for players and that for servers.
const TWIN_TYPES: &[(&str, &str, &str)] = &[
    ("Desktop", "src/system/window/desktop.rs", "src/system/window/no_desktop.rs"),
    (
        "DesktopClipboard",
        "src/system/window/desktop_clipboard.rs",
        "src/system/window/no_desktop.rs",
    ),
    ("ForeignWindow", "src/system/window/foreign_window.rs", "src/system/window/no_desktop.rs"),
    ("FrameRenderer", "src/system/render/frame_renderer.rs", "src/system/render/no_gpu.rs"),
    ("RenderThread", "src/system/render/thread.rs", "src/system/render/no_gpu.rs"),
];

/// Free functions that several files of a crate have. A build compiles one of these files.
const TWIN_FUNCTIONS: &[(&str, &[&str])] = &[(
    "opener",
    &[
        "src/system/sound/alsa.rs",
        "src/system/sound/system_output.rs",
        "src/system/sound/no_output.rs",
    ],
)];

/// Names of libraries, each with its features.
type Libraries = BTreeMap<String, BTreeSet<String>>;

/// Returns the libraries that the executable links.
fn linked(options: &[&str]) -> Libraries {
    let arguments = ["tree", "--offline", "-e", "normal", "-p", "engine", "--prefix", "none"];
    let mut tree = Command::new(env!("CARGO"));
    tree.args(arguments).args(["--format", "{p}|{f}"]).args(options).current_dir(root());
    let tree = tree.output().expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8_lossy(&tree.stdout);
    let mut found = Libraries::new();
    for line in text.lines() {
        let Some((package, features)) = line.rsplit_once('|') else { continue };
        let name = package.split(' ').next().unwrap_or_default();
        // A package that was listed before ends with "(*)".
        let features = features.trim_end_matches("(*)").trim().split(',');
        let features = features.filter(|it| !it.is_empty()).map(str::to_string);
        found.entry(name.to_string()).or_default().extend(features);
    }
    found
}

#[test]
fn servers_link_no_library_of_the_desktop() {
    let of_players = linked(&[]);
    let of_servers = linked(&["--no-default-features"]);
    assert!(of_servers.contains_key("rapier3d"), "cargo tree names the libraries: {of_servers:?}");
    let sound = of_players.get("engine_sound").expect("players have sound");
    assert!(sound.contains("devices"), "cargo tree names the features: {sound:?}");
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock is there");
    let mut found = Vec::new();
    for name in DESKTOP_LIBRARIES {
        if !lock.contains(&format!("\nname = \"{name}\"\n")) {
            found.push(format!("{name} is no library of today: it is not in Cargo.lock"));
        }
        if of_servers.contains_key(*name) {
            found.push(format!("{name} is in the executable for servers"));
        }
    }
    for (name, features) in &of_servers {
        if name.split('_').next() != Some("engine") {
            continue;
        }
        for feature in features.iter().filter(|it| DESKTOP_FEATURES.contains(&it.as_str())) {
            found.push(format!("{name} has the feature {feature} in the executable for servers"));
        }
    }
    check_findings(
        found,
        "make the dependency optional, behind the crate's feature for the desktop, and name the \
         engine's crates with default-features = false in [workspace.dependencies]",
    );
}

/// Returns the optional libraries of a manifest, as Rust code names them.
fn optional_libraries(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().filter(|line| line.contains("optional = true"));
    let names = lines.filter_map(|line| line.split_once([' ', '.', '=']));
    names.map(|(name, _)| name.replace('-', "_")).collect()
}

/// Returns true if the line after an attribute is compiled with a feature only.
fn is_feature_gate(line: &str) -> bool {
    let Some(condition) = line.trim().strip_prefix("#[cfg(") else { return false };
    let is_for_tests_too =
        condition.starts_with("any(test, feature = \"") && condition.matches(',').count() == 1;
    is_for_tests_too
        || condition.starts_with("feature = \"")
        || condition.starts_with("all(feature = \"")
}

/// Returns true if a crate's root compiles the file of a module with a feature only.
fn is_gated_module(crate_root: &str, module: &str) -> bool {
    let declarations = [format!("mod {module};"), format!("pub mod {module};")];
    let lines: Vec<&str> = crate_root.lines().collect();
    lines
        .windows(2)
        .any(|pair| declarations.iter().any(|it| it == pair[1]) && is_feature_gate(pair[0]))
}

/// Returns the lines that name an optional library of the crate in `folder`, and are compiled
/// without its feature.
fn ungated_uses(folder: &str, libraries: &[String], crate_root: &str, file: &File) -> Vec<String> {
    let Some(inside) = file.path.strip_prefix(folder).filter(|path| path.ends_with(".rs")) else {
        return Vec::new();
    };
    let module = inside.split(['/', '.']).next().unwrap_or_default();
    if is_gated_module(crate_root, module) {
        return Vec::new();
    }
    let text = code(&without_tests(&file.text), true);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let is_gated = i > 0 && is_feature_gate(lines[i - 1]);
        for library in libraries.iter().filter(|library| !is_gated && names(line, library)) {
            found.push(format!("{}:{}: names {library} without its feature", file.path, i + 1));
        }
    }
    found
}

#[test]
fn optional_libraries_are_used_with_their_feature_only() {
    let files = files();
    let text_of = |path: &str| files.iter().find(|file| file.path == path).map(|file| &*file.text);
    let (mut found, mut count) = (Vec::new(), 0);
    for manifest in files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let libraries = optional_libraries(&manifest.text);
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let Some(crate_root) = text_of(&format!("{folder}mod.rs")) else { continue };
        count += libraries.len();
        let uses = files.iter().map(|file| ungated_uses(folder, &libraries, crate_root, file));
        found.extend(uses.flatten());
    }
    assert!(count > 3, "manifests have {count} optional libraries");
    check_findings(
        found,
        "put the use into a module that mod.rs declares with the feature, or put the feature right \
         above the line; what servers have instead is in a file such as no_desktop.rs",
    );
}

/// Returns the public functions of a type, each with its parameters' types and its result. The
/// types of windows differ between both builds, and are all called `Window`.
fn functions(text: &str, of_type: &str) -> BTreeSet<String> {
    let header = format!("impl {of_type} {{");
    let (mut found, mut is_inside, mut signature) = (BTreeSet::new(), false, None);
    for line in code(&without_tests(text), false).lines().map(str::trim) {
        if line.starts_with("impl ") {
            is_inside = line == header;
        } else if let Some(rest) = line.strip_prefix("pub fn ").filter(|_| is_inside) {
            signature = Some(rest.to_string());
        } else if let Some(signature) = &mut signature {
            *signature += line;
            signature.push(' ');
        }
        // The body begins at the end of a line, or is empty.
        if let Some(whole) = signature.take_if(|it| it.trim_end().ends_with(['{', '}'])) {
            found.insert(without_names(whole.trim_end_matches([' ', '{', '}'])));
        }
    }
    found
}

/// Returns the parts of a file of which a build compiles one: its modules `platform`, each for
/// other systems, or else the whole file.
fn platform_parts(text: &str) -> Vec<&str> {
    let modules: Vec<&str> = text.split("\nmod platform {\n").skip(1).collect();
    if modules.is_empty() { vec![text] } else { modules }
}

/// Returns a public free function with its parameters' types and its result, or `None`.
fn free_function(text: &str, name: &str) -> Option<String> {
    let text = code(&without_tests(text), false);
    let (_, rest) = text.split_once(&format!("\npub fn {name}("))?;
    let (signature, _) = rest.split_once(" {")?;
    Some(without_names(&format!("{name}({signature}")))
}

/// Returns a signature without the names of parameters.
fn without_names(signature: &str) -> String {
    let (name, rest) = signature.split_once('(').unwrap_or((signature, ""));
    let (parameters, result) = rest.split_once(')').unwrap_or((rest, ""));
    let types = parameters.split([',', '\n']).map(str::trim).filter(|it| !it.is_empty());
    let types = types.map(|it| it.split_once(": ").map_or(it, |(_, kind)| kind));
    let windows = ["DesktopWindow", "ForeignWindowHandle", "NoWindow"];
    let all = format!("{name}({}){result}", types.collect::<Vec<_>>().join(", "));
    windows.iter().fold(all, |text, window| text.replace(window, "Window"))
}

#[test]
fn types_of_servers_have_the_functions_of_the_desktop() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("the file is there");
    let mut found = Vec::new();
    for (name, path, server_path) in TWIN_TYPES {
        let servers = functions(&read(server_path), name);
        for part in platform_parts(&read(path)) {
            let own = functions(part, name);
            assert!(own.len() > 2, "{path}: the functions of {name} were found: {own:?}");
            let missing = own.difference(&servers);
            found.extend(missing.map(|it| format!("{server_path}: no {name}::{it}")));
            found.extend(servers.difference(&own).map(|it| format!("{path}: no {name}::{it}")));
        }
    }
    check_findings(found, "give both types the same public functions, on every system");
}

#[test]
fn functions_of_servers_have_the_form_of_the_desktop() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("the file is there");
    let mut found = Vec::new();
    for (name, paths) in TWIN_FUNCTIONS {
        let forms: Vec<_> = paths.iter().map(|path| free_function(&read(path), name)).collect();
        assert!(forms[0].is_some(), "{}: the function {name} was found", paths[0]);
        let others = paths.iter().zip(&forms).filter(|(_, form)| **form != forms[0]);
        found.extend(others.map(|(path, form)| {
            format!("{path}: {form:?} differs from {:?} of {}", forms[0], paths[0])
        }));
    }
    check_findings(found, "give the function the same parameters and result in each of the files");
}

/// The engine knows the marks backwards only, so that they are in no executable for players.
#[test]
fn the_marks_of_servers_are_the_same_everywhere() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("the file is there");
    let package = read("src/package/engine_file.rs");
    let mark = |name: &str| -> String {
        let start = format!("{name}_MARK_REVERSED: &[u8] = b\"");
        let (_, rest) = package.split_once(&start).expect("the engine knows the mark");
        let (reversed, _) = rest.split_once('"').expect("the mark ends");
        reversed.chars().rev().collect()
    };
    let marks = [mark("SERVER"), mark("BUNDLES")];
    assert!(marks.iter().all(|mark| mark.len() > 20), "the marks are found: {marks:?}");
    let wanted = marks.iter().flat_map(|mark| {
        [
            ("src/main.rs", format!(" = *b\"{mark}\";")),
            ("src/package/writer_tests.rs", format!("b\"{mark}\"")),
            ("packaging/server.sh", format!("'{mark}'")),
        ]
    });
    let missing = wanted.filter(|(path, mark)| !read(path).contains(mark.as_str()));
    check_findings(
        missing.map(|(path, mark)| format!("{path}: lacks the mark {mark}")).collect(),
        "write the marks of engines for servers as src/package/engine_file.rs has them, reversed",
    );
}

/// Without the feature `development`, the shaders of bundles are not checked.
#[test]
fn renderers_without_checks_of_shaders_do_not_compile() {
    let path = root().join("src/lib.rs");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let condition = "#[cfg(all(feature = \"desktop\", not(feature = \"development\")))]\n\
                     compile_error!(";
    assert!(text.contains(condition), "src/lib.rs: the combination of features is an error");
}

/// Returns the rows of resource kinds in a file whose compile functions servers would link.
fn kinds_with_linked_compilers(file: &File) -> Vec<String> {
    let text = without_tests(&file.text);
    let rows = text.split("static ").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once(": ResourceKind = ResourceKind {\n")?;
        Some((name, rest.split("\n};").next().unwrap_or(rest)))
    });
    let is_left_out = |line: &str| line.starts_with("    compile: ") && line.contains("compiler(");
    let is_linked = |row: &str| !row.lines().any(is_left_out);
    let linked = rows.filter(|(_, row)| is_linked(row));
    linked.map(|(name, _)| format!("{}: the row {name}", file.path)).collect()
}

#[test]
fn servers_link_no_compile_function_of_resource_kinds() {
    let of_sources = |file: &&File| {
        let path = file.path.as_str();
        path.starts_with("src/") && path.ends_with(".rs") && !path.contains("tests")
    };
    let files = files();
    let rows = files.iter().filter(of_sources).map(|file| {
        let text = without_tests(&file.text);
        text.matches(": ResourceKind = ResourceKind {").count()
    });
    let count: usize = rows.sum();
    assert!(count > 20, "{count} rows of resource kinds were found");
    check_findings(
        files.iter().filter(of_sources).flat_map(kinds_with_linked_compilers).collect(),
        "write `compile: compiler(function)`, with `resource_kind::compiler`",
    );
}

#[test]
fn planted_compile_functions_are_found() {
    let found = |text: &str| {
        let file = File { path: "src/a.rs".to_string(), text: text.to_string() };
        kinds_with_linked_compilers(&file)
    };
    let row =
        |line: &str| format!("pub static A: ResourceKind = ResourceKind {{\n    {line}\n}};\n");
    assert_eq!(found(&row("compile: compiler(compile),")), [""; 0]);
    assert_eq!(found(&row("compile,")), ["src/a.rs: the row A"]);
    assert_eq!(found(&row("compile: compile_a,")), ["src/a.rs: the row A"]);
}

#[test]
fn planted_errors_in_the_build_for_servers_are_found() {
    let manifest = "[dependencies]\na-b = { version = \"1\", optional = true }\nc = \"1\"\n\
                    d.workspace = true\ne = { workspace = true, optional = true }\n";
    let libraries = optional_libraries(manifest);
    assert_eq!(libraries, ["a_b", "e"]);
    let crate_root = "mod open;\n#[cfg(feature = \"x\")]\nmod gated;\n#[cfg(windows)]\nmod half;\n";
    let check = |path: &str, text: &str, wanted: &[&str]| {
        let file = File { path: path.to_string(), text: text.to_string() };
        assert_eq!(ungated_uses("src/f/", &libraries, crate_root, &file), wanted, "{text}");
    };
    check("src/f/gated.rs", "use a_b::C;\n", &[]);
    check("src/f/gated/deep.rs", "use a_b::C;\n", &[]);
    check("src/f/open.rs", "#[cfg(feature = \"x\")]\nuse a_b::C;\n// e::f\n", &[]);
    check("src/g/open.rs", "use a_b::C;\n", &[]);
    let wanted = ["src/f/open.rs:2: names a_b without its feature"];
    check("src/f/open.rs", "#[cfg(windows)]\nuse a_b::C;\n", &wanted);
    check("src/f/open.rs", "#[cfg(any(feature = \"x\", windows))]\nuse a_b::C;\n", &wanted);
    check("src/f/open.rs", "#[cfg(not(feature = \"x\"))]\nuse a_b::C;\n", &wanted);
    check("src/f/open.rs", "#[cfg(any(test, feature = \"x\"))]\nuse a_b::C;\n", &[]);
    check("src/f/open.rs", "#[cfg(all(feature = \"x\", windows))]\nuse a_b::C;\n", &[]);
    check(
        "src/f/half.rs",
        "fn f() {}\nfn g(_: a_b::C) {}\n",
        &["src/f/half.rs:2: names a_b without its feature"],
    );
    let text = "impl A {\n    pub fn f(&self, n: u64, s: &str) -> Arc<NoWindow> {\n    }\n\
                fn g() {}\n}\nimpl B {\npub fn h() {}\n}\n";
    assert_eq!(functions(text, "A"), BTreeSet::from(["f(&self, u64, &str) -> Arc<Window>".into()]));
    assert_eq!(functions(text, "B"), BTreeSet::from(["h()".to_string()]));
    let text =
        "impl C {\n    pub fn open(\n        a: A,\n        _: u8,\n    ) -> io::Result<C> {\n";
    assert_eq!(functions(text, "C"), BTreeSet::from(["open(A, u8) -> io::Result<C>".to_string()]));
}

#[test]
fn planted_differences_between_platforms_are_found() {
    let text = "use a;\n#[cfg(unix)]\nmod platform {\n    impl A {\n        pub fn f() {\n        \
                }\n        pub fn g() {\n        }\n    }\n}\n\n#[cfg(not(unix))]\nmod platform \
                {\n    impl A {\n        pub fn f() {}\n    }\n}\n";
    let parts: Vec<_> = platform_parts(text).iter().map(|part| functions(part, "A")).collect();
    let names = |names: &[&str]| names.iter().map(|it| it.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(parts, [names(&["f()", "g()"]), names(&["f()"])]);
    assert_eq!(platform_parts("impl A {\n}\n").len(), 1);
    let check = |text: &str, wanted: Option<&str>| {
        assert_eq!(free_function(text, "open").as_deref(), wanted, "{text}");
    };
    check("//! F\n\npub fn open(name: String) -> Device {\n}\n", Some("open(String) -> Device"));
    check("\npub fn open(\n    _: String,\n    n: u8,\n) {\n}\n", Some("open(String, u8)"));
    check("\n// pub fn open() {}\nimpl A {\n    pub fn open() {}\n}\n", None);
    check("\npub fn opened() {}\n", None);
}
