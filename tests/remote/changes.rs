//! Tests of the messages about versions of files: what has changed since a mark, and the
//! differences by path, by lines and as pictures.

use super::{GameProcess, WAIT_MAX, ask, ask_refused, list, number, text};
use crate::game_folder::save;
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::resource::image::encode_png;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    save(&game.folder.join("game").join(path), encode_png(width, 1, rgba));
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

/// Takes the next message of type `draw`.
fn next_drawing(client: &mut RemoteClient) -> SjsonTree {
    let end = Instant::now() + WAIT_MAX;
    loop {
        assert!(Instant::now() < end, "no drawing is asked for");
        if let ClientMessage::Message(message) = client.receive(Duration::from_secs(1))
            && text(&message, "type") == "draw"
        {
            return message;
        }
    }
}

fn drawn(number: f64, part: &str, more: Vec<(&'static str, SjsonTree)>) -> Fields {
    let mut fields = vec![("number", SjsonTree::Number(number)), ("part", json::text(part))];
    fields.extend(more);
    fields
}

type Fields = Vec<(&'static str, SjsonTree)>;

#[test]
fn pictures_of_units_come_from_a_client_that_draws() {
    let game = start("changes-drawn");
    let (mut page, mut drawer) = (game.connect(), game.connect());
    ask(&mut page, "changed_files", vec![]);
    let changed = UNIT.replace('2', "3");
    game.write("tower.unit", &changed);
    // Without a client that draws, the answer names the command.
    let found = ask(&mut page, "difference", vec![path("tower.unit")]);
    assert_eq!(found.get("draws"), Some(&SjsonTree::Bool(false)));
    assert!(json::write(&found).contains("engine diff --serve"), "{found:?}");
    let message = ask_refused(&mut page, "draw_difference", vec![path("tower.unit")]);
    assert!(message.contains("engine diff --serve"), "{message}");
    ask(&mut drawer, "draw_offer", vec![]);
    let message = ask_refused(&mut page, "draw_offer", vec![]);
    assert!(message.contains("another command already draws"), "{message}");
    let found = ask(&mut page, "difference", vec![path("tower.unit")]);
    assert_eq!(found.get("draws"), Some(&SjsonTree::Bool(true)));
    // Two questions: the second one is passed on after the first answer.
    let ids: Vec<u64> =
        (0..2).map(|_| page.send("draw_difference", vec![path("tower.unit")]).unwrap()).collect();
    let png = encode_png(1, 1, &[1, 2, 3, 255]);
    for _ in 0..2 {
        let asked = next_drawing(&mut drawer);
        assert_eq!(text(&asked, "path"), "tower.unit");
        let bytes = |name: &str| json::bytes_of_base64(&text(&asked, name)).unwrap();
        assert_eq!((bytes("old"), bytes("new")), (UNIT.into(), changed.clone().into_bytes()));
        let number = number(&asked, "number");
        let size = ("width", SjsonTree::Number(640.0));
        let fields = vec![("png", json::text(json::base64(&png))), size];
        ask(&mut drawer, "drawn", drawn(number, "new", fields));
        let notes = vec![("notes", json::text("no picture: it fails\nsecond"))];
        // The next question can arrive before the answer to this message.
        drawer.send("drawn", drawn(number, "end", notes)).unwrap();
    }
    for id in ids {
        let answer = loop {
            match page.receive(WAIT_MAX) {
                ClientMessage::Message(tree) if number(&tree, "id") == id as f64 => break tree,
                ClientMessage::Ended(reason) => panic!("{reason}"),
                _ => {}
            }
        };
        assert_eq!(text(&answer, "type"), "draw_difference");
        assert_eq!(answer.get("old_picture"), Some(&SjsonTree::Null));
        let picture = answer.get("new_picture").unwrap();
        assert_eq!((text(picture, "png"), number(picture, "width")), (json::base64(&png), 640.0));
        assert_eq!(answer.get("notes"), Some(&json::texts(["no picture: it fails", "second"])));
    }
}

#[test]
fn hostile_drawings_are_refused() {
    let game = start("changes-drawn-refused");
    let (mut page, mut drawer) = (game.connect(), game.connect());
    ask(&mut page, "changed_files", vec![]);
    for name in ["main.lua", "../tower.unit", "/etc/a.unit", ".git/a.unit", ""] {
        ask_refused(&mut page, "draw_difference", vec![path(name)]);
    }
    let message = ask_refused(&mut page, "drawn", drawn(1.0, "end", vec![]));
    assert!(message.contains("only the client that sent draw_offer"), "{message}");
    ask(&mut drawer, "draw_offer", vec![]);
    let message = ask_refused(&mut drawer, "drawn", drawn(1.0, "end", vec![]));
    assert!(message.contains("drawing 1 is not asked for"), "{message}");
    let large = format!("name = \"{}\"\n", "x".repeat(5 << 20));
    game.write("tower.unit", &large);
    let message = ask_refused(&mut page, "draw_difference", vec![path("tower.unit")]);
    assert!(message.contains("VERSION_BYTES_MAX"), "{message}");
    game.write("tower.unit", "name = \"other\"\n");
    let id = page.send("draw_difference", vec![path("tower.unit")]).unwrap();
    let number = number(&next_drawing(&mut drawer), "number");
    let script = json::base64(b"<script>alert(1)</script>");
    for png in ["", "\" onerror=x", &script] {
        let fields = vec![("png", json::text(png))];
        let message = ask_refused(&mut drawer, "drawn", drawn(number, "old", fields));
        assert!(message.contains("no PNG"), "{message}");
    }
    ask_refused(&mut drawer, "drawn", drawn(number, "side", vec![]));
    ask_refused(&mut drawer, "drawn", drawn(number + 1.0, "end", vec![]));
    // If the drawer leaves, its questions are answered with an error, which the page shows.
    drop(drawer);
    let message = loop {
        match page.receive(WAIT_MAX) {
            ClientMessage::Message(tree) if super::number(&tree, "id") == id as f64 => break tree,
            ClientMessage::Ended(reason) => panic!("{reason}"),
            _ => {}
        }
    };
    assert!(text(&message, "message").contains("has ended"), "{message:?}");
    // Another one can draw.
    let mut other = game.connect();
    ask(&mut other, "draw_offer", vec![]);
}

#[test]
fn a_command_draws_for_the_page() {
    let game = start("changes-served");
    let mut page = game.connect();
    ask(&mut page, "changed_files", vec![]);
    game.write("tower.unit", "inherit = \"core/units/cube\"\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.args(["diff", "--serve"]).arg(game.folder.join("game"));
    command.env("ENGINE_SAVE_DIR", game.folder.join("saves")).stdout(Stdio::null());
    let mut served = command.spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let found = ask(&mut page, "difference", vec![path("tower.unit")]);
        if found.get("draws") == Some(&SjsonTree::Bool(true)) {
            break;
        }
        assert!(Instant::now() < end, "the command does not offer to draw");
        std::thread::sleep(Duration::from_millis(50));
    }
    let fields = vec![path("tower.unit")];
    let answer = page.request("draw_difference", fields, Duration::from_secs(200), |_| ());
    let answer = answer.unwrap_or_else(|error| panic!("{error:?}"));
    // Without a graphics adapter, the notes say why there is no picture.
    let has_picture = answer.get("new_picture") != Some(&SjsonTree::Null);
    let notes = list(&answer, "notes").len();
    assert!(has_picture || notes > 0, "{answer:?}");
    if has_picture {
        let picture = answer.get("new_picture").unwrap();
        let png = json::bytes_of_base64(&text(picture, "png")).unwrap();
        assert!(png.len() > 500, "a drawn cube: {} bytes", png.len());
    }
    // It ends with the game.
    drop(page);
    drop(game);
    let end = Instant::now() + WAIT_MAX;
    let status = loop {
        match served.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > end => {
                let _ = served.kill();
                panic!("the command does not end with the game");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert!(status.success(), "{status}");
}
