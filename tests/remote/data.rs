//! Tests of the messages by which several tools edit a source at once: order and latency, undo,
//! saving, conflicts with the file on disk.

use super::{GameProcess, WAIT_MAX, ask, ask_refused, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use std::time::{Duration, Instant};

const LEVEL: &str = "// The yard.\nunits = {\n  box = { unit = \"crate\" position = [0, 1.50, 0] } \
                     // first\n}\ncount = 1\n";
const PATH: &str = "yard.level";

fn start(name: &str) -> GameProcess {
    let files = [
        ("main.lua", "function update() end\n"),
        ("crate.unit", "name = \"crate\"\n"),
        (PATH, LEVEL),
        ("tune.config", "speed = 1\nlist = [{ id = \"a\" v = 1 } { id = \"b\" v = 2 }]\n"),
    ];
    GameProcess::start_with(name, &files, &[])
}

fn path(path: &str) -> (&'static str, SjsonTree) {
    ("path", json::text(path))
}

fn open(client: &mut RemoteClient, file: &str) -> SjsonTree {
    ask(client, "data_open", vec![path(file)])
}

/// Applies operations, given as JSON.
fn apply(client: &mut RemoteClient, file: &str, operations: &str) -> SjsonTree {
    ask(client, "data_operations", vec![path(file), ("operations", json::text(operations))])
}

const ROOT: &str = "00000000-0000-0000-0000-000000000000";

fn set_count(number: usize) -> String {
    format!("[[\"change_key\", \"{ROOT}\", \"count\", {number}]]")
}

fn value(opened: &SjsonTree, object: &str, key: &str) -> SjsonTree {
    let object = opened.get("objects").and_then(|objects| objects.get(object));
    object.and_then(|object| object.get(key)).cloned().unwrap_or(SjsonTree::Null)
}

fn read(game: &GameProcess, file: &str) -> String {
    std::fs::read_to_string(game.folder.join("game").join(file)).expect("it exists")
}

/// Returns the next messages about data that a client receives.
fn events(client: &mut RemoteClient, count: usize) -> Vec<SjsonTree> {
    let end = Instant::now() + WAIT_MAX;
    let mut found = Vec::new();
    while found.len() < count {
        assert!(Instant::now() < end, "only {} of {count} messages", found.len());
        match client.receive(Duration::from_millis(100)) {
            ClientMessage::Message(tree) if tree.get("type") == Some(&json::text("data")) => {
                found.push(tree);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn three_clients_see_all_operations_in_one_order() {
    let game = start("data-order");
    let mut clients: Vec<RemoteClient> = (0..3).map(|_| game.connect()).collect();
    let mut numbers = Vec::new();
    for client in &mut clients {
        open(client, PATH);
        numbers.push(number(&ask(client, "data_subscribe", vec![path(PATH)]), "client"));
    }
    let rounds = 20;
    let start = Instant::now();
    for round in 0..rounds {
        for (at, client) in clients.iter_mut().enumerate() {
            // Without waiting for answers, so that the clients race.
            let operations = set_count(round * 3 + at);
            let fields = vec![path(PATH), ("operations", json::text(operations))];
            client.send("data_operations", fields).expect("it is sent");
        }
    }
    let received: Vec<Vec<SjsonTree>> =
        clients.iter_mut().map(|client| events(client, rounds * 3)).collect();
    let seconds = start.elapsed().as_secs_f64();
    println!("{} operations of 3 clients reached all of them in {seconds:.3} s", rounds * 3);
    for (at, event) in received[0].iter().enumerate() {
        assert_eq!(number(event, "sequence"), at as f64 + 1.0);
        assert!(numbers.contains(&number(event, "author")));
        assert_eq!(text(event, "reason"), "operations");
        for other in &received[1..] {
            assert_eq!(other[at], *event);
        }
    }
    // All clients have the value of the last operation.
    let last = &list(received[0].last().expect("there are some"), "operations")[0];
    let SjsonTree::Array(last) = last else { panic!("an operation is a list") };
    let opened = open(&mut clients[0], PATH);
    assert_eq!(value(&opened, ROOT, "count"), last[3]);
    assert_eq!(number(&opened, "sequence"), rounds as f64 * 3.0);
}

#[test]
fn a_copied_file_has_objects_of_its_own() {
    let files = [
        ("main.lua", "function update() end\n"),
        ("crate.unit", "name = \"crate\"\n"),
        (PATH, LEVEL),
        ("copy.level", LEVEL),
        ("twice.config", "list = [{ id = \"a\" v = 1 } { id = \"a\" v = 2 }]\n"),
    ];
    let game = GameProcess::start_with("data-copied", &files, &[]);
    let mut client = game.connect();
    let (first, copy) = (open(&mut client, PATH), open(&mut client, "copy.level"));
    // The objects have the same GUIDs, which count within a source.
    assert_eq!(first.get("objects"), copy.get("objects"));
    apply(&mut client, "copy.level", &set_count(7));
    ask(&mut client, "data_save", vec![path("copy.level")]);
    assert_eq!(read(&game, "copy.level"), LEVEL.replace("count = 1", "count = 7"));
    assert_eq!(read(&game, PATH), LEVEL);
    assert_eq!(open(&mut client, PATH).get("objects"), first.get("objects"));
    // Items that share an id differ by their positions.
    let twice = open(&mut client, "twice.config");
    let Some(SjsonTree::Object(objects)) = twice.get("objects") else { panic!("{twice:?}") };
    let values = objects.iter().filter_map(|(_, object)| object.get("v"));
    assert_eq!(values.count(), 2);
}

/// Maximum median time from the message of one client to the messages of the others, on a busy
/// machine. A frame has 17 ms, and the operation is sent in the frame in which it is applied.
const MEDIAN_MAX: Duration = Duration::from_millis(250);

#[test]
fn operations_reach_the_other_clients_soon() {
    let game = start("data-latency");
    let mut clients: Vec<RemoteClient> = (0..3).map(|_| game.connect()).collect();
    for client in &mut clients {
        open(client, PATH);
        ask(client, "data_subscribe", vec![path(PATH)]);
    }
    let mut latencies = Vec::new();
    for round in 0..30 {
        let author = round % clients.len();
        let start = Instant::now();
        let fields = vec![path(PATH), ("operations", json::text(set_count(round)))];
        clients[author].send("data_operations", fields).expect("it is sent");
        for client in &mut clients {
            let event = &events(client, 1)[0];
            assert_eq!(number(event, "sequence"), round as f64 + 1.0);
            let SjsonTree::Array(operation) = &list(event, "operations")[0] else {
                panic!("an operation is a list")
            };
            assert_eq!(operation[3], SjsonTree::Number(round as f64));
        }
        latencies.push(start.elapsed());
    }
    latencies.sort();
    let (median, most) = (latencies[latencies.len() / 2], latencies[latencies.len() - 1]);
    println!("operations reached 3 clients in {median:.1?} (median), {most:.1?} at most");
    assert!(median < MEDIAN_MAX, "{latencies:?}");
}

#[test]
fn a_client_that_joins_late_continues_without_a_gap() {
    let game = start("data-late");
    let (mut one, mut two) = (game.connect(), game.connect());
    open(&mut one, PATH);
    for round in 1..=5 {
        apply(&mut one, PATH, &set_count(round));
    }
    // The state that it opens, and the next operation, fit together.
    ask(&mut one, "data_subscribe", vec![path(PATH)]);
    let opened = open(&mut two, PATH);
    let subscribed = ask(&mut two, "data_subscribe", vec![path(PATH)]);
    assert_eq!(number(&opened, "sequence"), 5.0);
    assert_eq!(number(&subscribed, "sequence"), 5.0);
    assert_eq!(value(&opened, ROOT, "count"), SjsonTree::Number(5.0));
    apply(&mut one, PATH, &set_count(6));
    assert_eq!(number(&events(&mut two, 1)[0], "sequence"), 6.0);
    // The end of a client ends neither the source nor the order.
    drop(one);
    apply(&mut two, PATH, &set_count(7));
    let event = &events(&mut two, 1)[0];
    assert_eq!((number(event, "sequence"), text(event, "reason")), (7.0, "operations".into()));
}

#[test]
fn each_client_undoes_its_own_steps() {
    let game = start("data-undo");
    let (mut one, mut two) = (game.connect(), game.connect());
    open(&mut one, "tune.config");
    open(&mut two, "tune.config");
    let mut listener = game.connect();
    open(&mut listener, "tune.config");
    ask(&mut listener, "data_subscribe", vec![path("tune.config")]);
    let speed = |number: u32| format!("[[\"change_key\", \"{ROOT}\", \"speed\", {number}]]");
    let name = format!("[[\"change_key\", \"{ROOT}\", \"name\", \"x\"]]");
    apply(&mut one, "tune.config", &speed(5));
    apply(&mut two, "tune.config", &name);
    let undone = ask(&mut one, "data_undo", vec![path("tune.config")]);
    assert_eq!((number(&undone, "sequence"), number(&undone, "operations")), (3.0, 1.0));
    let opened = open(&mut one, "tune.config");
    assert_eq!(value(&opened, ROOT, "speed"), SjsonTree::Number(1.0));
    assert_eq!(value(&opened, ROOT, "name"), json::text("x"));
    let nothing = ask(&mut one, "data_undo", vec![path("tune.config")]);
    assert_eq!(number(&nothing, "operations"), 0.0);
    ask(&mut one, "data_redo", vec![path("tune.config")]);
    let reasons: Vec<String> =
        events(&mut listener, 4).iter().map(|event| text(event, "reason")).collect();
    assert_eq!(reasons, ["operations", "operations", "undo", "redo"]);
    // A revert takes everything back, and can itself be taken back.
    ask(&mut one, "data_revert", vec![path("tune.config")]);
    assert_eq!(value(&open(&mut one, "tune.config"), ROOT, "name"), SjsonTree::Null);
    ask(&mut one, "data_undo", vec![path("tune.config")]);
    assert_eq!(value(&open(&mut one, "tune.config"), ROOT, "name"), json::text("x"));
}

#[test]
fn saves_keep_bytes_and_merge_with_the_file() {
    let game = start("data-save");
    let mut client = game.connect();
    open(&mut client, PATH);
    apply(&mut client, PATH, &set_count(7));
    let saved = ask(&mut client, "data_save", vec![path(PATH)]);
    assert_eq!(saved.get("saved"), Some(&SjsonTree::Bool(true)), "{}", json::write(&saved));
    assert_eq!(read(&game, PATH), LEVEL.replace("count = 1", "count = 7"));
    // Somebody edits the file meanwhile: both changes stay, and subscribers get them.
    let mut listener = game.connect();
    open(&mut listener, PATH);
    ask(&mut listener, "data_subscribe", vec![path(PATH)]);
    game.write(PATH, &LEVEL.replace("count = 1", "count = 7").replace("1.50", "2.50"));
    let opened = open(&mut client, PATH);
    assert_eq!(opened.get("on_disk"), Some(&SjsonTree::Bool(false)));
    apply(&mut client, PATH, &set_count(8));
    let saved = ask(&mut client, "data_save", vec![path(PATH)]);
    assert_eq!(saved.get("merged"), Some(&SjsonTree::Bool(true)));
    let both = LEVEL.replace("count = 1", "count = 8").replace("1.50", "2.50");
    assert_eq!(read(&game, PATH), both);
    let received = events(&mut listener, 2);
    assert_eq!(
        (text(&received[1], "reason"), number(&received[1], "author")),
        ("disk".into(), 0.0)
    );
    // The same value on both sides is a conflict, which a person resolves.
    game.write(PATH, &both.replace("count = 8", "count = 100"));
    apply(&mut client, PATH, &set_count(9));
    let answer = ask(&mut client, "data_save", vec![path(PATH)]);
    assert_eq!(answer.get("saved"), Some(&SjsonTree::Bool(false)));
    let conflict = &list(&answer, "conflicts")[0];
    assert_eq!(text(conflict, "path"), "count");
    assert_eq!((text(conflict, "disk"), text(conflict, "mine")), ("100".into(), "9".into()));
    ask(&mut client, "data_save", vec![path(PATH), ("resolve", json::text("disk"))]);
    assert!(read(&game, PATH).contains("count = 100"));
    assert_eq!(value(&open(&mut client, PATH), ROOT, "count"), SjsonTree::Number(100.0));
}

#[cfg(unix)]
#[test]
fn links_lead_no_saved_data_out_of_the_folder() {
    for arguments in [&[][..], &["--unconfined"]] {
        let name = format!("data-link-{}", arguments.len());
        let files = [("main.lua", "function update() end\n"), ("sub/yard.level", "count = 1\n")];
        let game = GameProcess::start_with(&name, &files, arguments);
        let mut client = game.connect();
        let yard = "sub/yard.level";
        open(&mut client, yard);
        apply(&mut client, yard, &set_count(7));
        // The folder becomes a link to one outside of the game.
        let outside = game.folder.join("outside");
        std::fs::rename(game.folder.join("game/sub"), &outside).expect("it is moved");
        std::os::unix::fs::symlink(&outside, game.folder.join("game/sub")).expect("a link");
        ask_refused(&mut client, "data_save", vec![path(yard)]);
        let kept = std::fs::read_to_string(outside.join("yard.level")).expect("it exists");
        assert_eq!(kept, "count = 1\n");
    }
}

#[test]
fn hostile_messages_about_data_are_refused() {
    let game = start("data-refused");
    let mut client = game.connect();
    for name in [
        "../x.config",
        "/etc/passwd",
        "main.lua",
        ".engine/x.config",
        "none.config",
        "",
        "a//x.config",
    ] {
        ask_refused(&mut client, "data_open", vec![path(name)]);
    }
    let message = ask_refused(&mut client, "data_save", vec![path(PATH)]);
    assert_eq!(message, format!("'{PATH}' is not open: send 'data_open' first"));
    open(&mut client, PATH);
    let mut refused = |operations: &str, wanted: &str| {
        let fields = vec![path(PATH), ("operations", json::text(operations))];
        let message = ask_refused(&mut client, "data_operations", fields);
        assert!(message.contains(wanted), "{operations}: {message}");
    };
    refused("{", "'operations'");
    refused("{}", "is a list of operations");
    refused("[[]]", "operation 1: an operation is [name, GUID, key, value]");
    // All or none: the first one is not applied either.
    let good = set_count(5);
    let bad = format!("{}, [\"burn\", \"{ROOT}\", \"k\", 1]]", &good[..good.len() - 1]);
    refused(&bad, "operation 2: there is no operation 'burn'");
    refused(&format!("[[\"change_key\", \"{ROOT}\", \"k\", [1]]]"), "a value is no list");
    let opened = open(&mut client, PATH);
    assert_eq!(value(&opened, ROOT, "count"), SjsonTree::Number(1.0));
    assert_eq!(opened.get("unsaved"), Some(&SjsonTree::Bool(false)));
    // A blob has no form in SJSON: nothing is written.
    apply(&mut client, PATH, &format!("[[\"change_key\", \"{ROOT}\", \"b\", {{\"blob\": \"\"}}]]"));
    let message = ask_refused(&mut client, "data_save", vec![path(PATH)]);
    assert!(message.contains("a blob cannot be saved as SJSON"), "{message}");
    assert_eq!(read(&game, PATH), LEVEL);
    // A broken file on disk is no reason to lose it.
    game.write(PATH, "units = {");
    let message = ask_refused(&mut client, "data_save", vec![path(PATH)]);
    assert!(message.contains("cannot be saved") || message.contains(PATH), "{message}");
    assert_eq!(read(&game, PATH), "units = {");
    let found = ask(&mut client, "data_check", vec![path(PATH)]);
    assert_eq!((list(&found, "dangling").len(), list(&found, "garbage").len()), (0, 0));
}
