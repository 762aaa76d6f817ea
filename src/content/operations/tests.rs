//! Tests of moves, copies, replacements and removals in small games.

use super::*;
use crate::changes::{apply, undo};
use crate::game_for_tests::TestGame;
use std::fs;

const FILES: &[(&str, &str)] = &[
    (
        "main.lua",
        "local x = require \"game.enemy\"\nWorld.spawn_unit(w, \"units/a\")\ny = \"t/wall\"\n",
    ),
    ("game/enemy.lua", "return 1\n"),
    ("game/enemy_test.lua", "require(\"game.enemy\")\n"),
    ("game/enemy_test.golden/a.png", "png"),
    ("units/a.unit", "// Keeps its comment.\nmodel = \"m/a\"\n"),
    ("l.level", "units = {\n  x = { unit = \"units/a\" }   // here\n}\n"),
    (
        "m/a.gltf",
        "{\"buffers\": [{\"uri\": \"a.bin\"}], \"images\": [{\"uri\": \"../t/wall.png\"}]}",
    ),
    ("m/a.bin", "bytes"),
    ("t/wall.png", "png"),
    ("t/wall.fr.png", "png fr"),
    ("t/wall.texture", "filter = \"nearest\""),
    ("w.material", "textures = { color = \"t/wall\" }\n"),
    ("p.package", "texture = [\"t/*\"]\n"),
];

fn planned(
    plan: impl FnOnce(&ContentGraph) -> Result<OperationPlan, Error>,
) -> Vec<(String, String)> {
    let game = TestGame::new(FILES);
    let graph = game.graph();
    let plan = plan(&graph).unwrap();
    let before = game.files();
    apply(&game.root, &plan.changes(&graph, true).unwrap()).unwrap();
    let files = game.files();
    // No name has become dangling, and everything can be undone.
    assert_eq!(game.graph().missing(), []);
    undo(&game.root).unwrap();
    assert_eq!(game.files(), before);
    files
}

fn text<'f>(files: &'f [(String, String)], path: &str) -> &'f str {
    let file = files.iter().find(|(known, _)| known == path);
    file.map_or_else(|| panic!("no {path}: {files:?}"), |(_, text)| text)
}

#[test]
fn a_moved_texture_takes_its_variants_and_names_along() {
    let files = planned(|graph| plan_move(graph, "t/wall.texture", "stone/brick"));
    for path in ["stone/brick.png", "stone/brick.fr.png", "stone/brick.texture"] {
        text(&files, path);
    }
    assert_eq!(text(&files, "w.material"), "textures = { color = \"stone/brick\" }\n");
    assert!(text(&files, "m/a.gltf").contains("\"../stone/brick.png\""));
    assert!(text(&files, "main.lua").contains("y = \"stone/brick\""));
    assert!(files.iter().all(|(path, _)| !path.starts_with("t/")));
}

#[test]
fn a_moved_script_takes_its_suites_pictures_along() {
    let files = planned(|graph| plan_move(graph, "game/", "logic"));
    assert!(text(&files, "main.lua").starts_with("local x = require \"logic.enemy\"\n"));
    assert_eq!(text(&files, "logic/enemy_test.lua"), "require(\"logic.enemy\")\n");
    text(&files, "logic/enemy_test.golden/a.png");
    let files = planned(|graph| plan_move(graph, "game/enemy_test.lua", "game/foe_test"));
    text(&files, "game/foe_test.golden/a.png");
}

#[test]
fn a_moved_model_keeps_its_relative_paths() {
    let files = planned(|graph| plan_move(graph, "m/a.model", "deep/er/b"));
    let gltf = text(&files, "deep/er/b.gltf");
    assert!(gltf.contains("\"uri\": \"b.bin\"") && gltf.contains("../../t/wall.png"), "{gltf}");
    assert_eq!(text(&files, "deep/er/b.bin"), "bytes");
    assert_eq!(text(&files, "units/a.unit"), "// Keeps its comment.\nmodel = \"deep/er/b\"\n");
    let files = planned(|graph| plan_move(graph, "units/a", "t/"));
    assert_eq!(text(&files, "l.level"), "units = {\n  x = { unit = \"t/a\" }   // here\n}\n");
}

#[test]
fn likely_references_follow_only_if_asked() {
    let game = TestGame::new(FILES);
    let graph = game.graph();
    let plan = plan_move(&graph, "t/wall", "t2/wall").unwrap();
    let likely: Vec<_> = plan.likely.iter().map(|it| (&it.location[..], &it.new[..])).collect();
    assert_eq!(likely, [("main.lua:3", "t2/wall")]);
    assert_eq!(plan.notes, ["p.package:1: 't/*' is a pattern: check its members"]);
    apply(&game.root, &plan.changes(&graph, false).unwrap()).unwrap();
    let main = fs::read_to_string(game.root.join("main.lua")).unwrap();
    assert!(main.contains("y = \"t/wall\""), "{main}");
}

#[test]
fn copies_are_used_by_the_chosen_users() {
    let files = planned(|graph| plan_copy(graph, "t/wall", "t/brick", Followers::None));
    text(&files, "t/brick.fr.png");
    assert_eq!(text(&files, "w.material"), "textures = { color = \"t/wall\" }\n");
    let listed = ["w.material".to_string()];
    let files = planned(|graph| plan_copy(graph, "t/wall", "t/brick", Followers::Listed(&listed)));
    assert_eq!(text(&files, "w.material"), "textures = { color = \"t/brick\" }\n");
    assert!(text(&files, "m/a.gltf").contains("../t/wall.png"));
    let files = planned(|graph| plan_copy(graph, "t/wall", "t/brick", Followers::All));
    assert!(text(&files, "m/a.gltf").contains("../t/brick.png"));
}

#[test]
fn a_resource_that_is_missing_can_be_replaced() {
    let game = TestGame::new(&[
        ("main.lua", "World.spawn_unit(w, \"old\")"),
        ("new.unit", ""),
        ("l.level", "units = { a = { unit = \"old\" } }"),
    ]);
    let graph = game.graph();
    assert_eq!(graph.missing().len(), 2);
    let plan = plan_replace(&graph, "old", "new.unit", Followers::All).unwrap();
    apply(&game.root, &plan.changes(&graph, false).unwrap()).unwrap();
    assert_eq!(game.graph().missing(), []);
    assert_eq!(game.files()[0].1, "units = { a = { unit = \"new\" } }");
    let message = plan_replace(&game.graph(), "old", "new", Followers::All).unwrap_err().message;
    assert!(message.ends_with("and nothing names it"), "{message}");
}

#[test]
fn a_removal_lists_the_uses() {
    let game = TestGame::new(FILES);
    let graph = game.graph();
    let plan = plan_remove(&graph, "t/wall").unwrap();
    assert_eq!(plan.removed, ["t/wall.fr.png", "t/wall.png", "t/wall.texture"]);
    let uses: Vec<&str> = plan.references.iter().map(|it| &it.location[..]).collect();
    assert_eq!(uses, ["m/a.gltf:1", "w.material:1"]);
    assert_eq!(plan.likely[0].location, "main.lua:3");
    let free = plan_remove(&graph, "m/").unwrap();
    assert_eq!(free.references[0].location, "units/a.unit:2");
    assert_eq!(plan_remove(&graph, "l.level").unwrap().references, []);
}

#[test]
fn impossible_operations_are_refused() {
    let game = TestGame::new(FILES);
    let graph = game.graph();
    let refused = |from: &str, to: &str| plan_move(&graph, from, to).unwrap_err().message;
    assert_eq!(refused("t/wall", "t/wall"), "'t/wall.texture' has this name already");
    assert_eq!(refused("game", "game/old"), "'game' cannot be moved into itself");
    assert_eq!(refused("t/wall", "../x"), "'../x' is not a path in the game's folder");
    assert_eq!(refused("t/wall", ".hidden/x"), "'.hidden/x' is not a path in the game's folder");
    assert!(refused("t/wall", "x.unit").starts_with("'x.unit' is no name for a texture"));
    assert!(refused("t/wal", "x").contains("did you mean 't/wall'?"));
    let game = TestGame::new(&[("a.lua", ""), ("B.lua", "")]);
    let graph = game.graph();
    let refused = |from: &str, to: &str| plan_move(&graph, from, to).unwrap_err().message;
    assert_eq!(refused("a", "B"), "B.lua: the file exists already: choose another name");
    assert_eq!(
        refused("a", "b"),
        "'B.lua' and 'b.lua' would differ in upper and lower case alone: choose another name"
    );
    let game = TestGame::new(&[("a.lua", ""), ("Units/b.lua", "")]);
    let graph = game.graph();
    let refused = |from: &str, to: &str| plan_move(&graph, from, to).unwrap_err().message;
    assert_eq!(
        refused("a", "units/a"),
        "'Units' and 'units' would differ in upper and lower case alone: choose another name"
    );
    assert!(refused("a", "my scripts/a").contains("has a character that names in scripts"));
    // Quotation marks are refused, also if the old name has an unusual character.
    let game = TestGame::new(&[("my a.png", ""), ("w.material", "texture = \"my a\"")]);
    let graph = game.graph();
    assert!(plan_move(&graph, "my a", "my b").is_ok());
    for name in ["c\"d", "c'd", "c\td"] {
        let message = plan_move(&graph, "my a", name).unwrap_err().message;
        assert!(message.contains("has a quotation mark, a '\\' or a control"), "{message}");
    }
    let game = TestGame::new(&[("a.lua", ""), ("Units/b.lua", "")]);
    let graph = game.graph();
    // Only the case of a name changes.
    let plan = plan_move(&graph, "a", "A").unwrap();
    assert_eq!(plan.moves, [("a.lua".to_string(), "A.lua".to_string())]);
}
