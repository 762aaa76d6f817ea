//! Old names of renamed resources: saves find the resources by the table of redirects, in a folder
//! and in a bundle, and the table is checked and emptied.

use super::game;
use crate::game_folder::GameFolder;
use std::fs;

/// A game that saves the names of a unit and of a table. The names are in no text of the script, so
/// that no tool can follow them.
const MAIN: &str = r#"
local saved = Save.read("slot")
if not saved then
  saved = { unit = string.format("%s/%s", "units", "box"), data = ("%s/speed"):format("data") }
  Save.write("slot", saved)
end
local world = Application.new_world()
World.spawn_unit(world, saved.unit)
local speed = Application.data("config", saved.data).speed
print("spawned " .. saved.unit .. " with speed " .. speed)
function update(dt) end
"#;

#[track_caller]
fn expect_run(game: &GameFolder, source: &str) {
    let (code, out, errors) = game.engine(&["run", source, "--headless", "--frames", "2"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    assert!(out.contains("spawned units/box with speed 3"), "{out}");
}

#[test]
fn a_save_finds_resources_that_were_renamed_since() {
    let game = GameFolder::new("content", "redirects");
    game.write("main.lua", MAIN);
    game.write("units/box.unit", "model = \"core/models/cube\"\n");
    game.write("data/speed.config", "speed = 3\n");
    expect_run(&game, ".");
    for (from, to) in [("units/box", "crates/crate"), ("crates/", "props"), ("data/", "tables")] {
        let (code, out, errors) = game.engine(&["mv", ".", from, to]);
        assert_eq!((code, errors.as_str()), (0, ""), "{out}");
        assert!(out.contains("add 1 old name to redirects.sjson"), "{out}");
    }
    assert!(game.join("props/crate.unit").exists() && !game.join("units").exists());
    expect_run(&game, ".");
    let bundle = ["compile", ".", "--bundle", "--out", "game.bundle"];
    let (code, out, errors) = game.engine(&bundle);
    assert_eq!(code, 0, "{out}{errors}");
    expect_run(&game, "game.bundle");
    // Without the table, the resource is missing.
    fs::remove_file(game.join("redirects.sjson")).unwrap();
    let (_, out, errors) = game.engine(&["run", ".", "--headless", "--frames", "2"]);
    assert!(errors.contains("there is no unit 'units/box'"), "{out}{errors}");
}

#[test]
fn a_running_game_follows_a_resource_by_its_old_name() {
    use crate::game_folder::output_lines;
    use std::process::Stdio;
    let game = GameFolder::new("content", "redirects_reload");
    game.write(
        "main.lua",
        "local shown\nfunction update(dt)\n  local value = Application.data(\"config\", \
         (\"%s/enemy\"):format(\"balance\")).speed\n  if value ~= shown then\n    shown = value\n\
         \x20   print(\"speed is \" .. value)\n  end\nend\n",
    );
    game.write("balance/enemy.config", "speed = 1\n");
    let mut command = game.command(&["run", ".", "--headless", "--realtime"]);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = output_lines(&mut running);
    super::reload::wait_for(&lines, "speed is 1");
    let (code, out, errors) = game.engine(&["mv", ".", "balance/enemy", "foe"]);
    assert_eq!(code, 0, "{out}{errors}");
    game.write("foe.config", "speed = 2\n");
    super::reload::wait_for(&lines, "speed is 2");
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn the_table_is_checked_and_emptied() {
    let game = game("redirects_fixup");
    let run = |arguments: &[&str]| {
        let (code, out, errors) = game.engine(arguments);
        (code, out + &errors)
    };
    assert_eq!(run(&["mv", ".", "units/box", "units/crate"]).0, 0);
    // A branch that did not know the new name.
    let level = "units = {\n  box = { unit = \"units/box\" position = [0, 0, 0] }   // old\n}\n";
    game.write("levels/yard.level", level);
    let (code, out) = run(&["check", "."]);
    let old = "levels/yard.level:2: 'units/box.unit' is an old name: run 'engine deps --fixup'";
    assert!(code == 0 && out.contains(old), "{out}");
    let (code, out) = run(&["deps", ".", "--fixup", "--preview"]);
    assert!(code == 0 && out.contains("remove 1 old name from redirects.sjson"), "{out}");
    assert_eq!(fs::read_to_string(game.join("levels/yard.level")).unwrap(), level);
    let (code, out) = run(&["deps", ".", "--fixup"]);
    assert!(code == 0 && out.contains("2 files changed"), "{out}");
    assert!(!game.join("redirects.sjson").exists());
    let new = fs::read_to_string(game.join("levels/yard.level")).unwrap();
    assert_eq!(new, level.replace("units/box", "units/crate"));
    assert_eq!(run(&["deps", ".", "--fixup"]), (0, "nothing changes\n".to_string()));
    assert_eq!(run(&["undo", "."]), (0, "undone: deps --fixup\n".to_string()));
    assert_eq!(fs::read_to_string(game.join("levels/yard.level")).unwrap(), level);
    assert!(game.join("redirects.sjson").exists());
    // Entries that lead nowhere, and cycles.
    game.write("redirects.sjson", "\"a.unit\" = \"units/crat.unit\"\n");
    let (code, out) = run(&["check", "."]);
    let nowhere = "redirects.sjson:1: 'a.unit' leads to 'units/crat.unit', which does not exist, \
                   did you mean 'units/crate'?";
    assert!(code == 1 && out.contains(nowhere), "{out}");
    game.write("levels/yard.level", &new);
    game.write("redirects.sjson", "\"a.unit\" = \"b.unit\"\n\"b.unit\" = \"a.unit\"\n");
    let cycle = "redirects.sjson:1: 'a.unit' leads back to itself: remove one entry of the cycle";
    for arguments in
        [&["check", "."][..], &["mv", ".", "units/crate", "x"], &["deps", ".", "--fixup"]]
    {
        let (code, out) = run(arguments);
        assert!(code == 1 && out.contains(cycle), "{arguments:?}: {out}");
    }
    fs::remove_file(game.join("redirects.sjson")).unwrap();
    assert_eq!(run(&["mv", ".", "units/crate", "x", "--no-redirect"]).0, 0);
    assert!(!game.join("redirects.sjson").exists());
}
