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
fn settings_of_packages_follow_the_icon_and_the_licences() {
    let settings = "package = {\n  icon = \"art/icon.png\"\n  license_files = [\"OFL.txt\"]\n}\n\
                    windows = { package = { icon = \"art/icon.png\" } }\n";
    let game = TestGame::new(&[
        ("main.lua", ""),
        ("art/icon.png", "png"),
        ("OFL.txt", "text"),
        ("settings.sjson", settings),
    ]);
    for (from, to) in [("art/icon.png", "shop/front.png"), ("OFL.txt", "licenses/font.txt")] {
        let graph = game.graph();
        let plan = plan_move(&graph, from, to).unwrap();
        apply(&game.root, &plan.changes(&graph, false).unwrap()).unwrap();
    }
    let wanted =
        settings.replace("art/icon.png", "shop/front.png").replace("OFL.txt", "licenses/font.txt");
    assert_eq!(text(&game.files(), "settings.sjson"), wanted);
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
    let files = planned(|graph| plan_copy(graph, "t/wall", "t/brick", Users::None));
    text(&files, "t/brick.fr.png");
    assert_eq!(text(&files, "w.material"), "textures = { color = \"t/wall\" }\n");
    let listed = ["w.material".to_string()];
    let files = planned(|graph| plan_copy(graph, "t/wall", "t/brick", Users::Listed(&listed)));
    assert_eq!(text(&files, "w.material"), "textures = { color = \"t/brick\" }\n");
    assert!(text(&files, "m/a.gltf").contains("../t/wall.png"));
    let files = planned(|graph| plan_copy(graph, "t/wall", "t/brick", Users::All));
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
    let plan = plan_replace(&graph, "old", "new.unit", Users::All).unwrap();
    apply(&game.root, &plan.changes(&graph, false).unwrap()).unwrap();
    assert_eq!(game.graph().missing(), []);
    assert_eq!(game.files()[0].1, "units = { a = { unit = \"new\" } }");
    let message = plan_replace(&game.graph(), "old", "new", Users::All).unwrap_err().message;
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
    assert_eq!(refused("game", "game"), "'game' has this name already");
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

#[test]
fn a_moved_resource_is_found_by_its_old_name() {
    let game = TestGame::new(FILES);
    let mv = |from: &str, to: &str| {
        let graph = game.graph();
        let plan = plan_move(&graph, from, to).unwrap();
        apply(&game.root, &plan.changes(&graph, false).unwrap()).unwrap();
    };
    mv("units/a", "units/b");
    mv("units/b.unit", "c");
    let table = fs::read_to_string(game.root.join("redirects.sjson")).unwrap();
    assert!(
        table.ends_with("\n\"units/a.unit\" = \"units/b.unit\"\n\"units/b.unit\" = \"c.unit\"\n")
    );
    // Scripts have no old names.
    mv("game/enemy.lua", "game/foe");
    assert_eq!(fs::read_to_string(game.root.join("redirects.sjson")).unwrap(), table);
    // An old name is no missing name, and its user counts.
    fs::write(game.root.join("l.level"), "units = { x = { unit = \"units/a\" } }\n").unwrap();
    let graph = game.graph();
    assert_eq!((graph.missing(), graph.redirect_problems()), (vec![], vec![]));
    let unit = graph.find("c.unit").unwrap();
    let users: Vec<_> = graph.used_by(&unit).iter().map(|(_, at)| graph.location(*at)).collect();
    assert_eq!(users, ["l.level:1", "main.lua:2"]);
    let taken = plan_move(&graph, "redirects.sjson", "x.sjson").unwrap();
    assert!(check_found_by_name(&graph, &taken, "main").is_err());
    // The next move changes it, too.
    mv("c", "d/e");
    let level = fs::read_to_string(game.root.join("l.level")).unwrap();
    assert_eq!(level, "units = { x = { unit = \"d/e\" } }\n");
}

#[test]
fn old_names_are_rewritten_and_leave_the_table() {
    let game = TestGame::new(&[
        (
            "redirects.sjson",
            "// mine\n\"o/a.unit\" = \"o/b.unit\"\n\"o/b.unit\" = \"u/c.unit\"\n\
            \"tiles/1.unit\" = \"u/c.unit\"\n\"dead.unit\" = \"no.unit\"\n\
            \"u/d.unit\" = \"u/c.unit\"\n",
        ),
        ("u/c.unit", ""),
        ("u/d.unit", ""),
        ("l.level", "units = { x = { unit = \"o/a\" } y = { unit = \"u/d\" } } // here\n"),
        ("main.lua", "x = \"o/b\"\nWorld.spawn_unit(w, \"o/a\")\ny = \"tiles/\" .. n\n"),
    ]);
    let before = game.files();
    let graph = game.graph();
    assert_eq!(
        graph.redirect_problems(),
        [
            "redirects.sjson:5: 'dead.unit' leads to 'no.unit', which does not exist",
            "redirects.sjson:6: 'u/d.unit' exists, so that its redirect has no effect: remove it",
        ]
    );
    let plan = plan_fixup(&graph).unwrap();
    assert_eq!(
        plan.notes,
        ["main.lua:3: 'tiles/' begins a computed name, which may be 'tiles/1.unit': it stays in \
          the table"]
    );
    // The likely name keeps its entry, which leads to the end of its chain.
    apply(&game.root, &plan.changes(&graph, false).unwrap()).unwrap();
    let files = game.files();
    assert_eq!(
        text(&files, "redirects.sjson"),
        "// mine\n\"o/b.unit\" = \"u/c.unit\"\n\"tiles/1.unit\" = \"u/c.unit\"\n"
    );
    let level = "units = { x = { unit = \"u/c\" } y = { unit = \"u/d\" } } // here\n";
    assert_eq!(text(&files, "l.level"), level);
    assert!(text(&files, "main.lua").starts_with("x = \"o/b\"\nWorld.spawn_unit(w, \"u/c\")\n"));
    undo(&game.root).unwrap();
    assert_eq!(game.files(), before);
    // With the likely name, and without the computed one, nothing stays.
    fs::write(game.root.join("main.lua"), "x = \"o/b\"\n").unwrap();
    let graph = game.graph();
    let plan = plan_fixup(&graph).unwrap();
    apply(&game.root, &plan.changes(&graph, true).unwrap()).unwrap();
    assert!(!game.root.join("redirects.sjson").exists());
    assert_eq!(fs::read_to_string(game.root.join("main.lua")).unwrap(), "x = \"u/c\"\n");
    let graph = game.graph();
    let plan = plan_fixup(&graph).unwrap();
    assert!(plan.is_empty() && plan.changes(&graph, true).unwrap().changes.is_empty());
}

#[test]
fn a_damaged_table_of_redirects_is_not_replaced() {
    let game = TestGame::new(&[
        ("redirects.sjson", "\"a.unit\" = \"b.unit\"\n\"b.unit\" = \"a.unit\"\n"),
        ("u/c.unit", ""),
    ]);
    let graph = game.graph();
    let cycle = "redirects.sjson:1: 'a.unit' leads back to itself: remove one entry of the cycle";
    assert_eq!(graph.problems, [cycle]);
    for refused in [plan_move(&graph, "u/c", "u/d"), plan_fixup(&graph)] {
        assert_eq!(refused.unwrap_err().message, cycle);
    }
}

#[test]
fn copies_name_the_same_files_or_their_copies() {
    let files = planned(|graph| plan_copy(graph, "m/a.model", "deep/er/b", Users::None));
    let gltf = text(&files, "deep/er/b.gltf");
    assert!(gltf.contains("\"uri\": \"b.bin\"") && gltf.contains("\"../../t/wall.png\""), "{gltf}");
    assert!(text(&files, "m/a.gltf").contains("\"../t/wall.png\""), "the original stays");
    let files = planned(|graph| plan_copy(graph, "m/", "deep", Users::None));
    let gltf = text(&files, "deep/a.gltf");
    assert!(gltf.contains("\"uri\": \"a.bin\"") && gltf.contains("\"../t/wall.png\""), "{gltf}");
}

#[test]
fn a_component_that_units_use_stays_in_its_folder() {
    let game = TestGame::new(&[
        ("components/spin.lua", ""),
        ("components/free.lua", ""),
        ("a.unit", "components = { spin = { speed = 1 } }\n"),
    ]);
    let graph = game.graph();
    assert_eq!(
        plan_move(&graph, "components/spin", "other/spin").unwrap_err().message,
        "a.unit:1: 'components/spin.lua' is used as a component, and components are in \
         components/: give it a name in that folder"
    );
    plan_move(&graph, "components/free", "other/free").unwrap();
    let plan = plan_move(&graph, "components/spin", "components/rotate").unwrap();
    assert_eq!(plan.references[0].new, "rotate");
    fs::write(game.root.join("a.unit"), "components = { spim = {} }\n").unwrap();
    let message = game.graph().missing()[0].message();
    assert_eq!(message, "there is no component 'spim', did you mean 'spin'?");
}

#[test]
fn moves_note_computed_names_and_the_patterns_that_they_leave() {
    let game = TestGame::new(&[
        ("main.lua", "a = \"t/\" .. n\nb = \"t/wall/\" .. n\nc = \"s/\" .. n\n"),
        ("t/wall.png", ""),
        ("t/floor.png", ""),
        ("p.package", "texture = [\"t/*\" \"*\"]\n"),
    ]);
    let graph = game.graph();
    let notes = |to: &str| plan_move(&graph, "t/wall", to).unwrap().notes;
    let computed = "main.lua:1: 't/' begins a computed name, which cannot follow";
    let pattern = "p.package:1: 't/*' is a pattern: check its members";
    let mut left = notes("x/wall");
    left.sort();
    assert_eq!(left, [computed, pattern]);
    // The pattern has the new name, too; the script may compute the old one.
    assert_eq!(notes("t/brick"), [computed]);
}

#[test]
fn old_names_are_found_and_hints_are_few() {
    let rows = (0..30).map(|at| format!("\"o/{at}.unit\" = \"units/crate{at}.unit\"\n"));
    let table = rows.collect::<String>() + "\"old.unit\" = \"units/crate.unit\"\n";
    let game = TestGame::new(&[("redirects.sjson", &table), ("units/crate.unit", "")]);
    let graph = game.graph();
    let problems = graph.redirect_problems();
    let hints = problems.iter().filter(|text| text.ends_with(", did you mean 'units/crate'?"));
    assert_eq!((problems.len(), hints.count()), (30, 20));
    for name in ["old", "old.unit"] {
        let (old, new) = graph.renamed(name).unwrap();
        assert_eq!(
            (old.to_string(), new.to_string()),
            ("old.unit".into(), "units/crate.unit".into())
        );
        let message = graph.find(name).unwrap_err();
        assert!(message.ends_with("'old.unit' is an old name of 'units/crate.unit'"), "{message}");
    }
    assert_eq!(graph.renamed("o/1"), None, "it leads to nothing");
    assert_eq!(graph.renamed("units/crate"), None, "it exists");
}

#[test]
fn a_damaged_file_keeps_the_files_it_may_use() {
    let game = TestGame::new(FILES);
    fs::write(game.root.join("w.material"), "textures = { color = \"t/wall\"\n").unwrap();
    fs::write(game.root.join("units/b.unit"), "components = { enemy = {}\n").unwrap();
    fs::create_dir(game.root.join("components")).unwrap();
    fs::write(game.root.join("components/enemy.lua"), "").unwrap();
    fs::write(game.root.join("m/a.gltf"), "{\"images\": [{\"uri\": \"../t/wall.png\"}]").unwrap();
    fs::write(game.root.join("game/enemy.lua"), b"-- \xe4\nrequire(\"game.friend\")\n").unwrap();
    fs::write(game.root.join("game/friend.lua"), "").unwrap();
    let graph = game.graph();
    let users = |name: &str| -> Vec<String> {
        let plan = plan_remove(&graph, name).unwrap();
        let all = plan.references.iter().chain(&plan.likely);
        all.map(|it| it.location.clone()).collect()
    };
    assert_eq!(users("t/wall.texture"), ["m/a.gltf:1", "main.lua:3", "w.material:1"]);
    assert_eq!(users("components/enemy"), ["units/b.unit:1"]);
    assert_eq!(users("game/friend"), ["game/enemy.lua:2"]);
    assert_eq!(graph.unknown_files().count(), 0);
    let plan = plan_move(&graph, "t/wall.texture", "t/brick").unwrap();
    apply(&game.root, &plan.changes(&graph, true).unwrap()).unwrap();
    let read = |path: &str| fs::read_to_string(game.root.join(path)).unwrap();
    assert_eq!(read("w.material"), "textures = { color = \"t/brick\"\n");
    assert!(read("m/a.gltf").contains("../t/brick.png"));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_searched_may_use_anything() {
    let game = TestGame::new(FILES);
    fs::create_dir(game.root.join("x")).unwrap();
    let file = fs::File::create(game.root.join("x/huge.config")).unwrap();
    file.set_len(2 << 30).unwrap();
    let graph = game.graph();
    assert_eq!(graph.unknown_files().collect::<Vec<_>>(), ["x/huge.config"]);
    let plan = plan_remove(&graph, "p.package").unwrap();
    let message = check_known(&graph, &plan).unwrap_err().message;
    assert!(message.starts_with("x/huge.config cannot be searched"), "{message}");
    let plan = plan_remove(&graph, "x/huge.config").unwrap();
    check_known(&graph, &plan).unwrap();
}
