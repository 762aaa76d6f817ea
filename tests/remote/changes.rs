//! Tests of the messages about versions of files: what has changed since a mark, and the
//! differences by path, by lines and as pictures.

use super::{GameProcess, ask, ask_refused, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::resource::image::encode_png;

const UNIT: &str = "name = \"tower\"\nnodes = { top = { position = [0, 0, 2] } }\n";

/// Starts a game that does not follow changes of its files: broken ones do not stop it.
fn start(name: &str) -> GameProcess {
    let files = [("main.lua", "function update() end\n"), ("tower.unit", UNIT)];
    GameProcess::start_with(name, &files, &["--no-watch"])
}

fn path(path: &str) -> (&'static str, SjsonTree) {
    ("path", json::text(path))
}

fn rows(answer: &SjsonTree) -> Vec<String> {
    let row = |row: &SjsonTree| format!("{} {}", text(row, "change"), text(row, "path"));
    list(answer, "rows").iter().map(row).collect()
}

fn write_picture(game: &GameProcess, path: &str, rgba: &[u8]) {
    let width = (rgba.len() / 4) as u32;
    std::fs::write(game.folder.join("game").join(path), encode_png(width, 1, rgba)).unwrap();
}

#[test]
fn files_that_changed_since_the_mark_are_listed_and_compared() {
    let game = start("changes");
    write_picture(&game, "wall.png", &[10, 20, 30, 255, 1, 2, 3, 255]);
    let mut client = game.connect();
    let marked = ask(&mut client, "changed_files", vec![]);
    assert_eq!((number(&marked, "count"), number(&marked, "without_content")), (0.0, 0.0));
    game.write("tower.unit", &UNIT.replace('2', "3"));
    game.write("new.lua", "return 1\n");
    write_picture(&game, "wall.png", &[10, 20, 30, 255, 9, 2, 3, 255]);
    let changed = ask(&mut client, "changed_files", vec![]);
    assert_eq!(rows(&changed), ["added new.lua", "changed tower.unit", "changed wall.png"]);
    let found = ask(&mut client, "difference", vec![path("tower.unit")]);
    let change = &list(&found, "changes")[0];
    assert_eq!(text(change, "path"), "nodes.top.position");
    let values = (text(change, "old"), text(change, "new"));
    assert_eq!(values, ("[0, 0, 2]".into(), "[0, 0, 3]".into()));
    let found = ask(&mut client, "difference", vec![path("wall.png")]);
    assert_eq!(text(&found, "form"), "picture");
    assert_eq!(number(found.get("texels").expect("a number"), "count"), 1.0);
    assert!(text(found.get("old_picture").expect("a picture"), "png").len() > 50);
    let found = ask(&mut client, "difference", vec![path("new.lua")]);
    assert_eq!(text(&list(&found, "changes")[0], "kind"), "added");
    // Two files of the folder.
    let two = vec![path("new.lua"), ("old", json::text("disk")), ("with", json::text("main.lua"))];
    let found = ask(&mut client, "difference", two);
    assert_eq!((text(&found, "with"), text(&found, "form")), ("main.lua".into(), "text".into()));
    // A new mark, and a file that is written again with the same content.
    ask(&mut client, "changed_files", vec![("mark", SjsonTree::Bool(true))]);
    game.write("new.lua", "return 1\n");
    assert_eq!(number(&ask(&mut client, "changed_files", vec![]), "count"), 0.0);
}

#[test]
fn unsaved_changes_of_tools_are_a_version() {
    let game = start("changes-open");
    let mut client = game.connect();
    let root = "00000000-0000-0000-0000-000000000000";
    ask(&mut client, "data_open", vec![path("tower.unit")]);
    let operations = format!("[[\"change_key\", \"{root}\", \"name\", \"mast\"]]");
    let fields = vec![path("tower.unit"), ("operations", json::text(operations))];
    ask(&mut client, "data_operations", fields);
    let fields = vec![path("tower.unit"), ("old", json::text("disk")), ("new", json::text("open"))];
    let found = ask(&mut client, "difference", fields);
    let change = &list(&found, "changes")[0];
    assert_eq!((text(change, "path"), text(change, "new")), ("name".into(), "\"mast\"".into()));
}

#[test]
fn hostile_questions_about_versions_are_refused() {
    let game = start("changes-refused");
    let mut client = game.connect();
    for name in ["../x", "/etc/passwd", ".engine/session.json", "a//b", ""] {
        let message = ask_refused(&mut client, "difference", vec![path(name)]);
        assert!(message.contains("is not the path of a file"), "{message}");
        let with = vec![path("main.lua"), ("with", json::text(name))];
        ask_refused(&mut client, "difference", with);
    }
    let mut refused = |field: &'static str, value: &str, wanted: &str| {
        let fields = vec![path("main.lua"), (field, json::text(value))];
        let message = ask_refused(&mut client, "difference", fields);
        assert!(message.contains(wanted), "{message}");
    };
    refused("old", "makr", "did you mean 'mark'?");
    refused("new", "open", "'main.lua' is not open");
    let message = ask_refused(&mut client, "difference", vec![path("none.lua")]);
    assert!(message.contains("neither version has a file"), "{message}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/passwd", game.folder.join("game/link.txt")).unwrap();
        let fields = vec![path("link.txt"), ("old", json::text("disk"))];
        let message = ask_refused(&mut client, "difference", fields);
        assert!(!message.contains("root:"), "{message}");
    }
}
