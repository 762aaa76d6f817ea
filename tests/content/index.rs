//! The references that are parsed from source files are those that the data compiler finds.

use crate::game_folder::GameFolder;
use engine::app::content;
use engine::app::resource_kinds::KINDS;
use engine::content::references::Target;
use engine::resource::compile::{CompileTarget, compile};
use engine::world::component::{COMPONENTS, FieldKind};
use std::collections::BTreeSet;
use std::path::Path;

/// Compares both for a game. A part of a resource counts as the resource.
fn check(game: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(game);
    let name = game.replace('/', "-");
    let data = std::env::temp_dir().join(format!("engine-index-{}-{name}", std::process::id()));
    let target = CompileTarget {
        root: &root,
        data: data.clone(),
        kinds: KINDS,
        source_platform: "linux",
        release: false,
        exclude: &[],
        threads: 2,
    };
    let index = compile(&target, &|_, _| {}).unwrap().index;
    let graph = content::graph(&root).unwrap();
    let mut lacking = BTreeSet::new();
    let mut count = 0;
    for entry in &index.entries {
        let from = Target::Resource(entry.resource.clone());
        let parsed: BTreeSet<String> =
            graph.uses(&from).iter().map(|(to, _)| to.to_string()).collect();
        let typed = entry.references.iter().filter(|reference| !reference.kind.is_empty());
        for reference in typed.filter(|it| graph.contains(&Target::Resource((*it).clone()))) {
            count += 1;
            if !parsed.contains(&reference.to_string()) {
                lacking.insert(format!("{} -> {reference}", entry.resource));
            }
        }
    }
    let _ = std::fs::remove_dir_all(data);
    assert!(lacking.is_empty(), "{game}: {lacking:#?}");
    assert!(count > 0, "{game}");
}

#[test]
fn parsers_find_the_references_of_the_compiler() {
    for game in ["examples/plaza", "examples/arcade", "examples/crowd", "examples/playground"] {
        check(game);
    }
    check("tests/lua");
}

#[test]
fn the_examples_have_no_missing_names() {
    for game in crate::examples::examples() {
        let game = format!("examples/{game}");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(&game);
        let graph = content::graph(&folder).unwrap();
        let missing: Vec<String> = content::missing(&graph)
            .iter()
            .map(|problem| format!("{}: {}", problem.location, problem.message()))
            .collect();
        assert_eq!(missing, [] as [&str; 0], "{game}");
    }
}

#[test]
fn the_names_in_all_components_of_the_engine_are_found() {
    for component in COMPONENTS.0 {
        let game = GameFolder::new("content", &format!("names_in_{}", component.name));
        let fields = component.fields.iter();
        let mut names: Vec<&str> = fields
            .filter(|field| matches!(field.kind, FieldKind::Resource(_)))
            .map(|field| field.name)
            .collect();
        names.sort_unstable();
        let block: String = names.iter().map(|name| format!(" {name} = \"gone/{name}\"")).collect();
        let unit = format!("components = {{ {} = {{{block} }} }}\n", component.name);
        game.write("a.unit", unit);
        let missing = content::graph(&game).unwrap().missing();
        let mut missing: Vec<String> = missing.into_iter().map(|problem| problem.name).collect();
        missing.sort_unstable();
        let wanted: Vec<String> = names.iter().map(|name| format!("gone/{name}")).collect();
        assert_eq!(missing, wanted, "{}", component.name);
    }
}
