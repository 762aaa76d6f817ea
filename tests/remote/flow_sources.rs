//! Tests of the files that saved Flow graphs are written to: a save never destroys what it did not
//! read, and never leaves the game's folder.

use super::{GameProcess, TOWER, ask, ask_refused, check_running};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

const MAIN: &str = "function init()\n  world = Application.main_world()\nend\n";

fn fields(name: &str) -> Vec<(&'static str, SjsonTree)> {
    let source = "{\"nodes\":{\"n1\":{\"type\":\"event.spawned\"}}}";
    let sources = [("graph", name), ("base", "{}"), ("source", source)];
    sources.map(|(key, value)| (key, json::text(value))).to_vec()
}

#[test]
fn file_with_a_syntax_error_is_not_overwritten() {
    let game = GameProcess::start_with("flow-broken", &[("main.lua", MAIN)], &[]);
    let mut client = game.connect();
    check_running(&mut client);
    let broken = "// hours of work\nnodes = { n1 = {";
    game.write("broken.flow", broken);
    ask_refused(&mut client, "flow_save", fields("broken.flow"));
    let kept = std::fs::read_to_string(game.folder.join("game/broken.flow")).expect("it exists");
    assert_eq!(kept, broken);
}

#[test]
fn unit_with_a_shared_graph_keeps_it() {
    let unit = format!("{TOWER}flow = \"shared\"\n");
    let shared = "nodes = { n1 = { type = \"event.spawned\" } }\n";
    let files = [("main.lua", MAIN), ("barrel.unit", unit.as_str()), ("shared.flow", shared)];
    let game = GameProcess::start_with("flow-shared", &files, &[]);
    let mut client = game.connect();
    check_running(&mut client);
    let message = ask_refused(&mut client, "flow_save", fields("barrel.unit"));
    assert!(message.contains("uses the shared graph 'shared'"), "{message}");
    let kept = std::fs::read_to_string(game.folder.join("game/barrel.unit")).expect("it exists");
    assert_eq!(kept, unit);
}

#[cfg(unix)]
#[test]
fn links_lead_no_saved_graph_out_of_the_folder() {
    for arguments in [&[][..], &["--unconfined"]] {
        let name = format!("flow-link-{}", arguments.len());
        let game = GameProcess::start_with(&name, &[("main.lua", MAIN)], arguments);
        let mut client = game.connect();
        check_running(&mut client);
        let outside = game.folder.join("outside");
        std::fs::create_dir_all(&outside).expect("the folder is made");
        std::os::unix::fs::symlink(&outside, game.folder.join("game/out")).expect("a link");
        ask_refused(&mut client, "flow_save", fields("out/door.flow"));
        assert!(!outside.join("door.flow").exists());
        // A link to a hidden folder of the game is followed as little.
        let hidden = game.folder.join("game/.hidden");
        std::fs::create_dir_all(&hidden).expect("the folder is made");
        std::os::unix::fs::symlink(".hidden", game.folder.join("game/inner")).expect("a link");
        ask_refused(&mut client, "flow_save", fields("inner/door.flow"));
        assert!(!hidden.join("door.flow").exists());
    }
}

/// A graph that uses the pin `speed` of door.flow, with a comment.
const USER: &str = "nodes = {\n  d = {\n    type = \"graph\"\n    graph = \"door\"\n    \
                    inputs = {\n      speed = 3 // metres a second\n    }\n  }\n}\n";

#[test]
fn new_names_of_pins_change_all_files_as_one() {
    let door = "inputs = { speed = { type = \"number\" value = 1 } }\n";
    let files = [("main.lua", MAIN), ("door.flow", door), ("a.flow", USER), ("b.flow", USER)];
    for arguments in [&[][..], &["--unconfined"]] {
        let name = format!("flow-renames-{}", arguments.len());
        let game = GameProcess::start_with(&name, &files, arguments);
        let mut client = game.connect();
        check_running(&mut client);
        let read = |path: &str| {
            std::fs::read_to_string(game.folder.join("game").join(path)).expect("it exists")
        };
        // The new name counts at once, also if the game has not compiled the graph yet.
        game.write("door.flow", &door.replace("speed = {", "velo = { was = \"speed\""));
        let answer = json::write(&ask(&mut client, "flow_apply_renames", Vec::new()));
        assert!(answer.contains("\"a.flow\"") && answer.contains("\"b.flow\""), "{answer}");
        assert!(answer.contains("\"skipped\":[]"), "{answer}");
        let renamed = USER.replace("speed", "velo");
        assert_eq!([read("a.flow"), read("b.flow")], [renamed.clone(), renamed]);
        let (code, out, err) = game.folder.engine(&["undo", "game"]);
        assert_eq!(code, 0, "{out}{err}");
        assert_eq!([read("a.flow"), read("b.flow")], [USER, USER]);
    }
}
