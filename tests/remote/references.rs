//! Tests of the messages about references: the neighbourhood of a resource, and the lists of unused
//! resources, missing names, cycles and shared resources.

use super::{GameProcess, ask, ask_refused, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

/// A level of two houses with one material, a missing texture, a ring of scripts, and an unused
/// unit.
pub const FILES: &[(&str, &str)] = &[
    ("main.lua", "require 'one'\nlocal level = 'town'\nfunction update() end\n"),
    ("one.lua", "package.loaded.one = {}\nlocal two = require 'two'\nreturn {}\n"),
    ("two.lua", "local one = require 'one'\nreturn {}\n"),
    ("town.level", "units = {\n  a = { unit = \"h1\" }\n  b = { unit = \"h2\" }\n}\n"),
    ("h1.unit", "components = { sprite = { material = \"brick\" } }\n"),
    ("h2.unit", "components = { sprite = { material = \"brick\" } }\n"),
    ("lonely.unit", "name = \"lonely\"\n"),
    ("brick.material", "shader = \"core/shaders/sprite\"\ntextures = { base = \"brik\" }\n"),
    ("brick.png", "no picture"),
];

/// Starts a game without compiling: what is wrong in the folder is reported, and the game runs.
fn start(name: &str) -> GameProcess {
    GameProcess::start_with(name, &[("main.lua", "function update() end\n")], &["--no-watch"])
}

/// Writes the files after the start, so that the problems in them do not stop the game.
fn start_with_files(name: &str) -> GameProcess {
    let game = start(name);
    for (path, content) in FILES {
        game.write(path, content);
    }
    game
}

fn names(answer: &SjsonTree, key: &str) -> Vec<String> {
    let mut names: Vec<String> = list(answer, key).iter().map(|row| text(row, "name")).collect();
    names.sort();
    names
}

#[test]
fn neighbourhoods_have_users_uses_and_missing_names() {
    let game = start_with_files("references");
    let mut client = game.connect();
    let name = ("name", json::text("brick.material"));
    let answer = ask(&mut client, "references", vec![name.clone()]);
    assert_eq!(names(&answer, "nodes"), ["brick.material", "h1.unit", "h2.unit"]);
    let first = &list(&answer, "nodes")[0];
    assert_eq!((number(first, "used_by"), number(first, "missing")), (2.0, 1.0));
    let missing = &list(&answer, "missing")[0];
    assert_eq!((text(missing, "name"), text(missing, "near")), ("brik".into(), "brick".into()));
    assert_eq!((text(missing, "file"), number(missing, "line")), ("brick.material".into(), 2.0));
    let above = answer.get("all_used_by").expect("a size");
    assert_eq!(number(above, "count"), 4.0, "{}", json::write(&answer));
    // The level is two steps away; a filter keeps the way to it.
    let far =
        vec![name.clone(), ("used_by", SjsonTree::Number(64.0)), ("kind", json::text("level"))];
    let answer = ask(&mut client, "references", far);
    assert_eq!(names(&answer, "nodes"), ["brick.material", "h1.unit", "town.level"]);
    let arrows = list(&answer, "arrows");
    assert!(arrows.iter().any(|it| text(it, "file") == "town.level" && number(it, "line") == 2.0));
    let few = vec![name, ("max", SjsonTree::Number(1.0))];
    let answer = ask(&mut client, "references", few);
    assert_eq!((list(&answer, "nodes").len(), number(&answer, "left_out")), (1, 2.0));
}

#[test]
fn lists_name_unused_missing_cycles_and_shared() {
    let game = start_with_files("reference-lists");
    let mut client = game.connect();
    let mut rows = |which: &str| {
        let answer = ask(&mut client, "reference_list", vec![("list", json::text(which))]);
        list(&answer, "rows").to_vec()
    };
    let unused: Vec<String> = rows("unused").iter().map(|row| text(row, "name")).collect();
    // The largest first.
    assert_eq!(unused, ["lonely.unit", "brick.texture"]);
    let missing = rows("missing");
    assert_eq!((text(&missing[0], "by"), missing.len()), ("brick.material".into(), 1));
    let cycles = rows("cycles");
    assert_eq!(json::write(cycles[0].get("names").expect("names")), "[\"one.lua\",\"two.lua\"]");
    let shared = rows("shared");
    assert!(shared.iter().any(|row| text(row, "name") == "brick.material"), "{shared:?}");
    assert!(number(&shared[0], "used_by") >= 2.0);
    let fields = vec![
        ("text", json::text("H1")),
        ("kind", json::text("unit")),
        ("max", SjsonTree::Number(1.0)),
    ];
    let answer = ask(&mut client, "reference_list", fields);
    assert_eq!(names(&answer, "rows"), ["h1.unit"]);
    assert_eq!(number(answer.get("totals").expect("totals"), "missing"), 1.0);
}

#[test]
fn wrong_questions_about_references_are_refused() {
    let game = start("reference-refused");
    let mut client = game.connect();
    let mut refused = |kind: &str, fields: Vec<(&str, SjsonTree)>, wanted: &str| {
        let message = ask_refused(&mut client, kind, fields);
        assert!(message.contains(wanted), "{message}");
    };
    refused("references", vec![], "needs the field 'name'");
    refused("references", vec![("name", json::text("mian.lua"))], "did you mean 'main.lua'?");
    refused("references", vec![("name", json::text("../../etc/passwd"))], "there is no resource");
    let deep = vec![("name", json::text("main.lua")), ("uses", SjsonTree::Number(65.0))];
    refused("references", deep, "'uses' must be a whole number from 0 to 64");
    refused("reference_list", vec![("list", json::text("unusd"))], "did you mean 'unused'?");
    refused("reference_list", vec![("kind", json::text("units"))], "did you mean 'unit'?");
    refused("reference_list", vec![("max", SjsonTree::Number(1e6))], "from 1 to 1000");
}

#[test]
fn files_that_change_are_read_again() {
    let game = start("reference-changes");
    let mut client = game.connect();
    let unused = |client: &mut _| {
        let answer = ask(client, "reference_list", vec![("list", json::text("unused"))]);
        number(&answer, "count")
    };
    assert_eq!(unused(&mut client), 0.0);
    game.write("late.unit", "name = \"late\"\n");
    let end = std::time::Instant::now() + super::WAIT_MAX;
    while unused(&mut client) != 1.0 {
        assert!(std::time::Instant::now() < end, "the folder is not read again");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
