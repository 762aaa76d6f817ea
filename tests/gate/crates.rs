//! The rules for manifests: which crates of the engine use each other, and which crates from
//! outside each of them uses.

use super::source::{File, code, files, names};
use super::{HOMES, check_findings};

/// The engine's crates, lowest first. A crate uses only crates of earlier rows, not of its own row
/// (ARCHITECTURE.md, "Code map").
pub const LAYERS: &[&[&str]] = &[
    &["test_support"],
    &["foundation"],
    &["platform"],
    &["resource"],
    &["content"],
    &["package"],
    &["frame_packet"],
    &[
        "gui",
        "input",
        "materials",
        "animation",
        "flow",
        "models",
        "navigation",
        "particles",
        "physics",
        "remote",
        "render",
        "sound",
        "text",
        "textures",
        "tilemaps",
        "time_step",
        "window",
        "workers",
    ],
    &["world"],
    &["runtime"],
    &["script"],
    &["app"],
    &["command"],
    &["engine"],
];

/// A dependency that a manifest declares.
#[derive(Debug)]
pub struct Dependency {
    pub line: usize,
    /// As Rust code names it.
    pub name: String,
    pub for_tests: bool,
    /// True if a comment is right above it.
    pub explained: bool,
}

impl Dependency {
    /// Returns the name of a crate of the engine without its prefix, or `None` for a crate from
    /// outside.
    pub fn own(&self) -> Option<&str> {
        self.name.strip_prefix("engine_")
    }
}

/// Returns a manifest's package, without the engine's prefix, and its dependencies.
pub fn read(manifest: &str) -> (String, Vec<Dependency>) {
    let (mut package, mut found) = (String::new(), Vec::new());
    let (mut section, mut before) = ("", "");
    for (i, line) in manifest.lines().enumerate() {
        if line.starts_with('[') {
            section = line;
        } else if let Some(name) = line.strip_prefix("name = \"")
            && section == "[package]"
        {
            let name = name.trim_end_matches('"');
            package = name.strip_prefix("engine_").unwrap_or(name).to_string();
        } else if section.ends_with("dependencies]")
            && section != "[workspace.dependencies]"
            && let Some((name, _)) = line.split_once('=').filter(|_| !line.starts_with('#'))
        {
            let name = name.trim().trim_end_matches(".workspace").replace('-', "_");
            let for_tests = section.contains("dev-dependencies");
            let explained = before.starts_with("# ");
            found.push(Dependency { line: i + 1, name, for_tests, explained });
        }
        before = line;
    }
    (package, found)
}

pub fn manifests() -> Vec<File> {
    let own = |file: &File| file.path == "Cargo.toml" || file.path.starts_with("src/");
    let all = files().into_iter();
    all.filter(|file| own(file) && file.path.ends_with("Cargo.toml")).collect()
}

/// Returns the dependencies of a manifest that break the order of [`LAYERS`].
fn layer_violations(path: &str, manifest: &str) -> Vec<String> {
    let rank = |name: &str| LAYERS.iter().position(|row| row.contains(&name));
    let (package, dependencies) = read(manifest);
    let Some(own) = rank(&package) else {
        return vec![format!("{path}: '{package}' is not in the table of layers")];
    };
    let mut found = Vec::new();
    for dependency in &dependencies {
        let Some(name) = dependency.own() else { continue };
        let at = format!("{path}:{}", dependency.line);
        match rank(name) {
            None => found.push(format!("{at}: '{name}' is not in the table of layers")),
            Some(0) if !dependency.for_tests => {
                found.push(format!("{at}: {package} uses {name} outside of tests"));
            }
            Some(rank) if rank >= own => {
                found.push(format!("{at}: {package} uses {name}, which is not below it"));
            }
            Some(_) => {}
        }
    }
    found
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let manifests = manifests();
    assert!(manifests.len() > 20, "the manifests were not found");
    let mut found: Vec<_> =
        manifests.iter().flat_map(|file| layer_violations(&file.path, &file.text)).collect();
    let root = manifests.iter().find(|file| file.path == "Cargo.toml").expect("it is there");
    for file in manifests.iter().filter(|file| file.path != "Cargo.toml") {
        let folder = file.path.trim_end_matches("/Cargo.toml");
        if root.text.matches(&format!("    \"{folder}\",\n")).count() != 1 {
            found.push(format!("Cargo.toml: {folder} is not in default-members"));
        }
    }
    check_findings(
        found,
        "move what both need to a lower layer, or pass the value in from above. A new crate gets \
         its place in LAYERS (tests/gate/crates.rs), in Cargo.toml and in ARCHITECTURE.md.",
    );
}

#[test]
fn planted_dependency_on_higher_layer_is_found() {
    let manifest = |package: &str, rest: &str| {
        layer_violations("a/Cargo.toml", &format!("[package]\nname = \"{package}\"\n\n{rest}"))
    };
    let below = "[dependencies]\nengine_foundation.workspace = true\nserde = \"1\"\n";
    assert_eq!(manifest("engine_world", below), [""; 0]);
    assert_eq!(
        manifest("engine_sound", "[dependencies]\nengine_input.workspace = true\n"),
        ["a/Cargo.toml:5: sound uses input, which is not below it"]
    );
    assert_eq!(
        manifest("engine_world", "[dependencies]\nengine_script.workspace = true\n"),
        ["a/Cargo.toml:5: world uses script, which is not below it"]
    );
    let for_tests = "dependencies]\nengine_test_support.workspace = true\n";
    assert_eq!(manifest("engine_world", &format!("[dev-{for_tests}")), [""; 0]);
    assert_eq!(
        manifest("engine_world", &format!("[{for_tests}")),
        ["a/Cargo.toml:5: world uses test_support outside of tests"]
    );
    assert_eq!(manifest("engine_new", ""), ["a/Cargo.toml: 'new' is not in the table of layers"]);
}

#[test]
fn every_dependency_has_a_reason_and_a_home() {
    let (mut found, mut checked) = (Vec::new(), Vec::new());
    for file in manifests() {
        let folder = file.path.trim_end_matches("Cargo.toml");
        for dependency in read(&file.text).1 {
            if dependency.own().is_some() {
                continue;
            }
            let Dependency { line, name, for_tests, explained } = dependency;
            let at = format!("{}:{line}", file.path);
            if !explained {
                found.push(format!("{at}: no comment with a reason is above {name}"));
            }
            let home = HOMES.iter().find(|(known, _)| *known == name);
            match home {
                None => found.push(format!("{at}: {name} has no home")),
                // Tests of the executable may use what a crate of the engine uses.
                Some(_) if for_tests => {}
                Some((_, homes)) if !homes.iter().any(|home| home.starts_with(folder)) => {
                    found.push(format!("{at}: the home of {name} is {homes:?}"));
                }
                Some(_) => checked.push(name),
            }
        }
    }
    for (name, _) in HOMES.iter().filter(|(name, _)| !checked.iter().any(|known| known == name)) {
        found.push(format!("tests/gate.rs: {name} has a home and is in no manifest"));
    }
    check_findings(
        found,
        "say in a comment right above the dependency what it is for, in the manifest of its one \
         home, and give it its row in HOMES (tests/gate.rs)",
    );
}

#[test]
fn external_crates_are_used_only_in_their_home() {
    let mut found = Vec::new();
    for file in
        files().iter().filter(|file| file.path == "build.rs" || file.path.starts_with("src/"))
    {
        let text = code(&file.text, false);
        for (name, homes) in HOMES {
            if file.ends_with(&[".rs"])
                && names(&text, name)
                && !homes.iter().any(|home| file.path.starts_with(home))
            {
                found.push(format!("{}: names {name}, whose home is {homes:?}", file.path));
            }
        }
    }
    check_findings(found, "ask the home for what is needed, through a function of its own");
}
