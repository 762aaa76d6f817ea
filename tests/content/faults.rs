//! The faults that make people afraid of their own content: deleting something that is used,
//! changing what others share, renaming, dead resources. And the commands that prevent them.

use super::{PICTURE, game};
use crate::game_folder::GameFolder;
use std::fs;

fn text(game: &GameFolder, path: &str) -> String {
    fs::read_to_string(game.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_used_resource_cannot_be_removed() {
    let game = game("remove");
    let (code, _, errors) = game.engine(&["rm", ".", "textures/wood"]);
    assert_eq!(code, 1);
    assert_eq!(
        errors,
        "error: 'textures/wood' is used:\n  materials/wood.material:1: 'textures/wood'\nNothing was \
         removed: change the users, or use --force\n"
    );
    assert!(game.join("textures/wood.png").exists());
    assert_eq!(game.engine(&["rm", ".", "textures/wood", "--force"]).0, 0);
    let (code, out, _) = game.engine(&["deps", ".", "--missing"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("materials/wood.material:1: there is no texture 'textures/wood'"));
    assert_eq!(game.engine(&["undo", "."]).1, "undone: rm textures/wood\n");
    assert_eq!(fs::read(game.join("textures/wood.png")).unwrap(), PICTURE);
}

#[test]
fn a_shared_texture_is_split_before_it_is_changed() {
    let game = game("shared");
    game.write("materials/old.material", "surface = { base_color_texture = \"textures/wood\" }\n");
    let (_, out, _) = game.engine(&["deps", ".", "textures/wood", "--used-by"]);
    assert!(out.contains("\nUsed by: 2\n"), "{out}");
    let copy = ["cp", ".", "textures/wood", "textures/old", "--users", "materials/old.material"];
    let (code, out, errors) = game.engine(&copy);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(
        out,
        "copy textures/wood.png -> textures/old.png\n  materials/old.material:1: 'textures/wood' -> \
         'textures/old'\n2 files changed: `engine undo .` takes it back\n"
    );
    assert!(text(&game, "materials/old.material").contains("textures/old"));
    assert!(text(&game, "materials/wood.material").contains("textures/wood"));
}

#[test]
fn a_renamed_resource_keeps_its_users() {
    let game = game("rename");
    let (code, out, _) = game.engine(&["mv", ".", "units/box", "units/crate", "--preview"]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "move units/box.unit -> units/crate.unit\n  levels/yard.level:2: 'units/box' -> \
         'units/crate'\nadd 1 old name to redirects.sjson\n"
    );
    assert!(game.join("units/box.unit").exists(), "a preview changes nothing");
    assert_eq!(game.engine(&["mv", ".", "units/box", "units/crate"]).0, 0);
    assert_eq!(
        text(&game, "levels/yard.level"),
        "units = {\n  box = { unit = \"units/crate\" position = [0, 0, 0] }   // the first\n}\n"
    );
    assert!(text(&game, "units/crate.unit").starts_with("// A box.\n"));
    assert_eq!(game.engine(&["deps", ".", "--missing"]).0, 0);
    assert_eq!(game.engine(&["mv", ".", "game/", "logic"]).0, 0);
    assert!(text(&game, "main.lua").contains("require \"logic.enemy\""));
    // Likely references need an answer in scripts.
    game.write("sounds/hit.sound", "play = \"sounds/hit_1\"\n");
    let (code, _, errors) = game.engine(&["mv", ".", "sounds/hit", "sounds/thud"]);
    assert_eq!(code, 1);
    assert!(errors.contains("1 reference is only likely: say --likely yes"), "{errors}");
    let arguments = ["mv", ".", "sounds/hit", "sounds/thud", "--likely", "yes"];
    assert_eq!(game.engine(&arguments).0, 0);
    assert!(text(&game, "main.lua").contains("\"sounds/thud\""));
}

#[test]
fn a_preview_does_not_complete_an_interrupted_change() {
    let game = game("interrupted");
    game.write(".engine/change/contents", "");
    game.write(
        ".engine/change/journal",
        "title = \"mv x y\"\n\
         steps = [[\"move\" \"textures/wood.png\" \"t/oak.png\" 0 0 0 0]]\n",
    );
    let note = "the interrupted 'mv x y' will be completed first";
    let (code, _, errors) = game.engine(&["mv", ".", "units/box", "units/crate", "--preview"]);
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains(note), "{errors}");
    let (code, out, errors) = game.engine(&["undo", ".", "--preview"]);
    assert_eq!((code, out.as_str()), (0, "mv x y\n"));
    assert!(errors.contains(note), "{errors}");
    assert!(game.join("textures/wood.png").exists() && !game.join("t").exists());
    let (code, out, _) = game.engine(&["undo", "."]);
    assert_eq!((code, out.as_str()), (0, "undone: mv x y\n"));
    assert!(game.join("textures/wood.png").exists() && !game.join("t").exists());
    assert_eq!(game.engine(&["undo", ".", "--preview"]).1, "there is nothing to undo\n");
}

#[test]
fn dead_resources_are_listed() {
    let game = game("dead");
    game.write("textures/dead.png", PICTURE);
    let (code, out, _) = game.engine(&["deps", ".", "--unused"]);
    assert_eq!(code, 1);
    // The level is loaded by nobody either, and all that it uses.
    assert!(out.contains("unused: textures/dead.texture"), "{out}");
    assert!(out.contains("unused: levels/yard.level"), "{out}");
    game.write("settings.sjson", "content = { roots = [\"levels/*\" \"textures/dead.png\"] }\n");
    let (code, out, _) = game.engine(&["deps", ".", "--unused"]);
    assert_eq!((code, out.lines().count()), (0, 1), "{out}");
}

#[test]
fn the_script_that_starts_a_game_moves_with_its_setting() {
    let game = game("boot");
    game.write("settings.sjson", "boot_script = \"main\"   // the first\n");
    assert_eq!(game.engine(&["mv", ".", "main", "boot/start", "--likely", "no"]).0, 0);
    assert_eq!(text(&game, "settings.sjson"), "boot_script = \"boot.start\"   // the first\n");
    let (code, _, errors) = game.engine(&["mv", ".", "settings.sjson", "old.sjson"]);
    assert_eq!(code, 1);
    assert!(errors.contains("'settings.sjson' is found by its name"), "{errors}");
}

#[test]
fn a_folder_is_asked_as_one() {
    let game = game("folder");
    let (code, out, errors) = game.engine(&["deps", ".", "units/"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(out.contains("\nUsed by: 1\n  levels/yard.level  levels/yard.level:2\n"), "{out}");
    assert!(out.contains("\n  materials/wood.material  units/box.unit:4\n"), "{out}");
    // In the game's folder, a resource is enough.
    let (code, out, _) = game.engine(&["deps", "textures/wood", "--used-by"]);
    assert_eq!(code, 0);
    assert!(out.contains("\nUsed by: 1\n  materials/wood.material"), "{out}");
    assert_eq!(game.engine(&["deps", ".", "--all"]).0, 2);
}

#[test]
fn answers_for_programs_are_json() {
    let game = game("json");
    let json = |arguments: &[&str]| {
        let (_, out, errors) = game.engine(arguments);
        engine::foundation::json::read(&out)
            .unwrap_or_else(|error| panic!("{error} {errors} {out}"))
    };
    let graph = json(&["deps", ".", "--output", "json"]);
    let missing = graph.get("missing").unwrap();
    assert_eq!(missing.values(), 1, "an empty list");
    assert!(graph.get("references").unwrap().values() > 10);
    let of_unit = json(&["deps", ".", "units/box", "--output", "json"]);
    assert!(of_unit.get("used_by").unwrap().values() > 1);
    let plan = json(&["mv", ".", "units/box", "units/crate", "--preview", "--output", "json"]);
    assert!(plan.get("moves").unwrap().values() > 1);
    let (_, dot, _) = game.engine(&["deps", ".", "--output", "dot"]);
    assert!(dot.contains("\"levels/yard.level\" -> \"units/box.unit\""), "{dot}");
}

#[test]
fn wrong_commands_get_error_messages() {
    let game = game("wrong");
    let error = |arguments: &[&str]| {
        let (code, _, errors) = game.engine(arguments);
        assert_eq!(code, 1, "{errors}");
        errors
    };
    assert_eq!(
        error(&["deps", ".", "units/bax"]),
        "error: there is no resource or file 'units/bax', did you mean 'units/box'?\n"
    );
    assert!(error(&["deps", "nowhere", "x"]).contains("there is no folder 'nowhere'"));
    assert_eq!(
        error(&["deps", ".", "box"]),
        "error: there is no resource or file 'box', did you mean 'units/box.unit'?\n"
    );
    assert_eq!(
        error(&["mv", ".", "main", "start"]),
        "error: 'main.lua' starts the game: set 'boot_script' in settings.sjson to its name, which \
         then follows\n"
    );
    assert!(error(&["rm", ".", "main"]).contains("starts the game"));
    assert!(error(&["mv", ".", "units/box", "../box"]).contains("is not a path in the game's"));
    assert_eq!(game.engine(&["undo", "."]).1, "there is nothing to undo\n");
}

#[test]
fn a_preview_reports_that_a_removal_will_be_refused() {
    let game = game("refused");
    let arguments = ["rm", ".", "textures/wood", "--preview"];
    let (code, out, _) = game.engine(&arguments);
    let note = "note: 'textures/wood' is used once: without --force, nothing will be removed";
    assert!(code == 0 && out.contains(note), "{out}");
    assert_eq!(game.engine(&arguments[..3]).0, 1);
    let (_, out, _) = game.engine(&[&arguments[..], &["--force"]].concat());
    assert!(!out.contains("note: "), "{out}");
}

#[test]
fn an_undo_that_is_refused_can_be_forgotten() {
    let game = game("forgotten");
    assert_eq!(game.engine(&["mv", ".", "textures/wood", "t/oak"]).0, 0);
    let table = text(&game, "redirects.sjson");
    assert_eq!(game.engine(&["mv", ".", "units/box", "units/crate"]).0, 0);
    game.write("levels/yard.level", "units = {}\n");
    let (code, _, errors) = game.engine(&["undo"]);
    assert!(code == 1 && errors.contains("`engine undo --forget` keeps the files"), "{errors}");
    let title = "mv units/box units/crate\n";
    assert_eq!(game.engine(&["undo", "--forget", "--preview"]).1, title);
    assert_eq!(game.engine(&["undo", "--forget"]).1, format!("forgotten: {title}"));
    assert!(game.join("units/crate.unit").exists(), "the files stay");
    // The forgotten change has added its old names to the table, which the one before has written.
    let (code, _, errors) = game.engine(&["undo"]);
    let edited = "redirects.sjson: the file has changed since 'mv textures/wood t/oak'";
    assert!(code == 1 && errors.contains(edited), "{errors}");
    // Without these lines, the change before it can be taken back again.
    let now = text(&game, "redirects.sjson");
    let lines = now.lines().filter(|line| !line.starts_with("\"units/box"));
    let without: String = lines.map(|line| format!("{line}\n")).collect();
    assert_eq!(without, table);
    game.write("redirects.sjson", &without);
    assert_eq!(game.engine(&["undo"]).1, "undone: mv textures/wood t/oak\n");
    assert!(game.join("textures/wood.png").exists());
    assert_eq!(game.engine(&["undo", "--forget"]).1, "there is nothing to forget\n");
}

#[test]
fn old_names_are_explained() {
    let game = game("old-names");
    assert_eq!(game.engine(&["mv", ".", "textures/wood", "t/oak"]).0, 0);
    let note = "note: 'textures/wood.texture' is an old name of 't/oak.texture'";
    for name in ["textures/wood", "textures/wood.texture"] {
        let (code, out, errors) = game.engine(&["explain", ".", name]);
        assert!(code == 0 && errors.contains(note), "{errors}");
        assert!(out.starts_with("t/oak.texture ("), "{out}");
        let (code, out, errors) = game.engine(&["deps", ".", name, "--used-by"]);
        assert!(code == 0 && errors.contains(note), "{errors}");
        assert!(out.contains("materials/wood.material:1"), "{out}");
    }
    let (code, _, errors) = game.engine(&["rm", ".", "textures/wood"]);
    assert!(code == 1 && errors.contains("is an old name of 't/oak.texture'"), "{errors}");
    // Resources of the engine are not missing, and others are.
    let lost = "surface = { base_color_texture = \"textures/nowhere\" }\n";
    game.write("materials/lost.material", lost);
    game.write("units/ball.unit", "inherit = \"core/units/sphere\"\n");
    let (_, out, _) = game.engine(&["explain", ".", "units/ball"]);
    assert!(out.contains("core/units/sphere.unit (built in)"), "{out}");
    let (_, out, _) = game.engine(&["explain", ".", "materials/lost"]);
    assert!(out.contains("textures/nowhere.texture (missing)"), "{out}");
}

const BROKEN: &str = "surface = { base_color_texture = \"textures/only\" ";

#[test]
fn names_in_files_with_errors_count_as_likely() {
    let game = game("broken");
    game.write("textures/only.png", PICTURE);
    game.write("materials/broken.material", BROKEN);
    let (code, _, errors) = game.engine(&["rm", ".", "textures/only"]);
    assert_eq!(code, 1, "{errors}");
    let used = "error: 'textures/only' is used:\n  materials/broken.material:1: 'textures/only' \
                (likely)\n";
    assert!(errors.contains(used), "{errors}");
    let (_, out, errors) = game.engine(&["deps", ".", "textures/only"]);
    assert!(out.contains("materials/broken.material:1 (likely)"), "{out}");
    assert!(errors.contains("note: 1 file has an error: texts there"), "{errors}");
    let (code, _, errors) = game.engine(&["mv", ".", "textures/only", "textures/new"]);
    assert!(code == 1 && errors.contains("1 reference is only likely"), "{errors}");
    let (code, _, errors) =
        game.engine(&["mv", ".", "textures/only", "textures/new", "--likely", "yes"]);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(text(&game, "materials/broken.material"), BROKEN.replace("only", "new"));
}

#[test]
fn a_merge_conflict_of_git_is_named() {
    let game = game("conflict");
    let text = "a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> other\n";
    game.write("units/barrel.unit", text);
    let (code, out, errors) = game.engine(&["check", "."]);
    assert_eq!(code, 1, "{out}");
    let all = format!("{out}{errors}");
    assert!(all.contains("units/barrel.unit:2:1: the file has a merge conflict of git"), "{all}");
}

#[test]
fn a_name_of_a_resource_of_another_type_is_noted() {
    let game = game("namesake");
    let (code, out, errors) =
        game.engine(&["mv", ".", "textures/wood", "materials/wood", "--preview"]);
    assert_eq!(code, 0, "{errors}");
    let note = "note: 'materials/wood.texture' will have the name of 'materials/wood.material': \
                where both fit";
    assert!(out.contains(note), "{out}");
    let (_, out, _) = game.engine(&["mv", ".", "textures/wood", "textures/oak", "--preview"]);
    assert!(!out.contains("note:"), "{out}");
}

#[test]
fn folders_do_not_move_into_themselves() {
    let game = game("itself");
    let errors = |arguments: &[&str]| game.engine(arguments).2;
    let copied = errors(&["cp", ".", "textures", "textures/copy"]);
    assert_eq!(copied, "error: 'textures' cannot be copied into itself\n");
    let same = "error: 'textures' has this name already\n";
    assert_eq!(errors(&["mv", ".", "textures", "textures"]), same);
    game.write("redirects.sjson", "x = {");
    let errors = errors(&["mv", ".", "textures/wood", "textures/oak"]);
    assert_eq!(errors.matches("redirects.sjson").count(), 1, "{errors}");
}

#[test]
fn a_folder_without_a_game_is_refused_and_stays_as_it_is() {
    let game = GameFolder::new("content", "no_game");
    game.write("other/notes.txt", "x");
    game.write("s.lua", "return function() end\n");
    let commands: [&[&str]; 10] = [
        &["deps", "FOLDER"],
        &["deps", "FOLDER", "--fixup"],
        &["mv", "FOLDER", "a", "b"],
        &["cp", "FOLDER", "a", "b"],
        &["replace", "FOLDER", "a", "b"],
        &["rm", "FOLDER", "a"],
        &["undo", "FOLDER"],
        &["undo", "FOLDER", "--forget"],
        &["script", "s.lua", "FOLDER"],
        &["explain", "FOLDER", "a"],
    ];
    for command in commands {
        for (folder, wanted) in [
            ("none", "there is no folder 'none'"),
            ("other", "'other' has no main.lua"),
            ("s.lua", "'s.lua' is a file"),
        ] {
            let arguments: Vec<&str> =
                command.iter().map(|it| if *it == "FOLDER" { folder } else { it }).collect();
            let (code, out, errors) = game.engine(&arguments);
            assert_eq!(code, 1, "{arguments:?}: {out}{errors}");
            assert!(errors.contains(wanted), "{arguments:?}: {errors}");
            assert!(!game.join("none").exists() && !game.join("other/.engine").exists());
        }
    }
    // The change that removed the script which starts the game can be undone.
    let game = super::game("removed_main");
    assert_eq!(game.engine(&["rm", ".", "main.lua", "--force"]).0, 0);
    assert!(game.engine(&["deps"]).2.contains("has no main.lua"));
    assert_eq!(game.engine(&["undo"]).1, "undone: rm main.lua\n");
    assert!(game.join("main.lua").exists());
}

#[test]
fn a_game_whose_script_is_missing_can_be_repaired() {
    let game = super::game("renamed_main");
    game.write("settings.sjson", "name = \"Yard\"\n");
    fs::rename(game.join("main.lua"), game.join("start.lua")).unwrap();
    let (code, _, errors) = game.engine(&["check", "."]);
    assert!(code == 1 && errors.contains("has no main.lua"), "{errors}");
    assert_eq!(game.engine(&["deps", "."]).0, 0);
    let (code, out, errors) = game.engine(&["mv", ".", "start.lua", "main.lua"]);
    assert_eq!(code, 0, "{out}{errors}");
    assert!(game.join("main.lua").exists() && !game.join("start.lua").exists());
}

#[test]
fn wrong_names_are_explained() {
    let game = super::game("wrong_names");
    let check = |arguments: &[&str], code: i32, wanted: &str| {
        let (found, out, errors) = game.engine(arguments);
        let output = out + &errors;
        assert!(found == code && output.contains(wanted), "{arguments:?} {found}: {output}");
    };
    let long = "n".repeat(300);
    let wanted = format!("units/{long}.unit: '{long}.unit' is longer than the 255 bytes");
    check(&["mv", ".", "units/box", &format!("units/{long}"), "--preview"], 1, &wanted);
    check(&["cp", ".", "units/box", &format!("units/{long}")], 1, &wanted);
    let device = "note: 'con.unit' is the name of a device on Windows, where no file can have it";
    check(&["mv", ".", "units/box", "con", "--preview"], 0, device);
    check(&["mv", ".", "core/units/cube", "x"], 1, "'core/units/cube' belongs to the engine");
    check(&["rm", ".", "core/models/cube.model"], 1, "belongs to the engine");
    check(
        &["replace", ".", "units/box", "core/units/cube"],
        1,
        "'core/units/cube' belongs to the engine, and cannot take the place of a resource of the",
    );
    check(&["merge", ".", "main.lua", "main.lua"], 1, "'.' is a folder: give three versions");
    check(&["explain", ".", "units/something"], 1, ": its folder has units/box.unit");
    check(&["explain", ".", "levels/box"], 1, "did you mean 'units/box'?");
}
