//! Tests of the messages that list units and resources, and of the memory that units take.

use super::{GameProcess, TOWER, WAIT_MAX, ask, check_running, eval, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;
use std::time::Instant;

/// A game with many units, two of them linked, one with data, and some in a level.
const MANY: &str = "function init()\n  world = Application.main_world()\n  towers = {}\n  \
    for i = 1, 300 do towers[i] = World.spawn_unit(world, 'tower', Vector3(i, 0, 0)) end\n  \
    World.link_unit(world, towers[300], towers[1], 1)\n  \
    Unit.set_data(towers[7], 'Loot', { gold = 35, of = { 'Ruby Ring' } })\n  \
    World.spawn_level(world, 'cave')\nend\n";
const CAVE: &str = "units = { entrance = { unit = \"tower\" }, exit = { unit = \"tower\" } }\n";

fn start(name: &str) -> GameProcess {
    let files = [("main.lua", MANY), ("tower.unit", TOWER), ("cave.level", CAVE)];
    let create_game = GameProcess::start_with(name, &files, &[]);
    check_running(&mut create_game.connect());
    create_game
}

/// Returns the number of units that match, and the listed ones.
fn units(client: &mut RemoteClient, fields: Vec<(&str, SjsonTree)>) -> (f64, Vec<SjsonTree>) {
    let answer = ask(client, "units", fields);
    let worlds = list(&answer, "worlds");
    let count = worlds.iter().map(|world| number(world, "count")).sum();
    (count, worlds.iter().flat_map(|world| list(world, "units").to_vec()).collect())
}

#[test]
fn units_are_sent_in_parts_and_in_the_order_of_the_tree() {
    let create_game = start("parts");
    let mut client = create_game.connect();
    let (count, all) = units(&mut client, vec![]);
    assert_eq!((count, all.len()), (302.0, 302));
    // The last tower is linked to the first one.
    let depths: Vec<f64> = all.iter().map(|unit| number(unit, "depth")).collect();
    assert_eq!(depths[..3], [0.0, 1.0, 0.0]);
    assert_eq!(number(&all[1], "parent"), number(&all[0], "unit"));
    let number_of = |value: f64| SjsonTree::Number(value);
    let part = vec![("first", number_of(100.0)), ("max", number_of(20.0))];
    let (count, part) = units(&mut client, part);
    assert_eq!((count, part.len()), (302.0, 20));
    let handles = |units: &[SjsonTree]| -> Vec<f64> {
        units.iter().map(|unit| number(unit, "unit")).collect()
    };
    assert_eq!(handles(&part), handles(&all[100..120]));
    let beyond = vec![("first", number_of(5000.0))];
    assert_eq!(units(&mut client, beyond).1.len(), 0);
}

#[test]
fn units_are_found_by_name_level_data_and_handle() {
    let create_game = start("found");
    let mut client = create_game.connect();
    let mut find = |wanted: &str| units(&mut client, vec![("text", json::text(wanted))]);
    assert_eq!(find("TOWER").0, 302.0);
    let (count, found) = find("entrance");
    assert_eq!((count, text(&found[0], "level")), (1.0, "cave".to_string()));
    assert_eq!(text(&found[0], "level_unit"), "entrance");
    assert_eq!(find("cave").0, 2.0);
    for data in ["loot.gold = 35", "ruby ring", "Loot.of.1"] {
        assert_eq!(find(data).0, 1.0, "{data}");
    }
    let handle = number(&find("loot.gold").1[0], "unit");
    let (count, found) = find(&handle.to_string());
    assert_eq!((count, number(&found[0], "unit")), (1.0, handle));
    assert_eq!(find("loot.silver").0, 0.0);
}

#[test]
fn endless_data_does_not_stop_the_search_of_units() {
    let create_game = start("endless-data");
    let mut client = create_game.connect();
    // Tables that contain themselves, and text that costs time to make.
    eval(&mut client, "local t = {} t.t, t.u = t, { t } Unit.set_data(towers[1], 'ring', t)");
    let (count, _) = units(&mut client, vec![("text", json::text("ring"))]);
    assert!(count >= 1.0);
    eval(
        &mut client,
        "local slow = setmetatable({}, { __tostring = function() while true do end end }) \
         Unit.set_data(towers[1], 'slow', slow)",
    );
    check_running(&mut client);
    let (count, _) = units(&mut client, vec![("text", json::text("tower"))]);
    assert_eq!(count, 302.0);
    check_running(&mut client);
}

#[test]
fn built_in_resources_are_not_missing() {
    let unit = "nodes = { base = {} }\n\
        components = { body = { component = \"mesh\", model = \"core/models/cube\" } }\n";
    let inherits = "inherit = \"core/units/cube\"\n";
    let files = [("main.lua", ""), ("box.unit", unit), ("crate.unit", inherits)];
    let create_game = GameProcess::start_with("built-in", &files, &[]);
    let mut client = create_game.connect();
    let all = ask(&mut client, "resources", vec![("kind", json::text("unit"))]);
    assert_eq!(number(&all, "count"), 2.0, "{}", json::write(&all));
    for (name, wanted) in
        [("box.unit", "core/models/cube.model"), ("crate.unit", "core/units/cube.unit")]
    {
        let one = ask(&mut client, "resource", vec![("name", json::text(name))]);
        assert_eq!(json::write(one.get("missing").expect("a list")), "[]", "{name}");
        let built_in = json::write(one.get("built_in").expect("a list"));
        assert!(built_in.contains(wanted), "{name}: {built_in}");
    }
}

#[test]
fn reserved_tables_of_nodes_do_not_count_as_held_memory() {
    let files = [("main.lua", super::UNITS), ("tower.unit", TOWER)];
    let create_game = GameProcess::start_with("reserved", &files, &[]);
    let mut client = create_game.connect();
    check_running(&mut client);
    let memory = ask(&mut client, "memory", vec![]);
    let rows = list(&memory, "rows");
    for path in ["worlds", "worlds/nodes"] {
        let row = rows.iter().find(|row| text(row, "path") == path);
        let row = row.unwrap_or_else(|| panic!("{path}: {}", json::write(&memory)));
        let bytes = number(row, "bytes");
        assert!((1.0..4e6).contains(&bytes), "{path} holds {bytes} bytes with two units");
    }
}

#[test]
fn log_lines_have_their_frame_and_time() {
    let main = "function say(text) print(text) return Application.frame_index() end\n";
    let create_game = GameProcess::start("stamps", main);
    let mut client = create_game.connect();
    let before: f64 = eval(&mut client, "say('early')").parse().expect("a number");
    let started = std::time::SystemTime::now();
    // The lines arrive before the answer.
    client.send("subscribe", vec![("stream", json::text("log"))]).expect("it is sent");
    let end = Instant::now() + WAIT_MAX;
    loop {
        let line = super::inspection::wait_for_message(&mut client, "message");
        if text(&line, "message") == "early" {
            let frame = number(&line, "frame");
            assert!((before..before + 3.0).contains(&frame), "{frame} is not {before}");
            let now = started.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as f64;
            assert!((number(&line, "time") - now).abs() < 60_000.0, "{}", json::write(&line));
            return;
        }
        assert!(Instant::now() < end, "the line is not sent");
    }
}

#[test]
fn one_kept_frame_of_the_profiler_is_sent_completely() {
    let main =
        "function update() for i = 1, 5000 do Profiler.start('x') Profiler.stop('x') end end\n";
    let create_game = GameProcess::start("frame", main);
    let mut client = create_game.connect();
    check_running(&mut client);
    let newest = ask(&mut client, "profile", vec![("frames", SjsonTree::Number(2.0))]);
    let frame = &list(&newest, "frames")[0];
    assert!(number(frame, "left_out") > 500.0, "{}", number(frame, "left_out"));
    let index = number(frame, "index");
    let whole = ask(&mut client, "profile", vec![("frame", SjsonTree::Number(index))]);
    let frame = &list(&whole, "frames")[0];
    assert_eq!((number(frame, "index"), number(frame, "left_out")), (index, 0.0));
    assert!(list(frame, "scopes").len() > 5000);
    let future = vec![("frame", SjsonTree::Number(index + 1e6))];
    let message = super::ask_refused(&mut client, "profile", future);
    assert!(message.ends_with("is not kept any more (the last 600 are)"), "{message}");
}
