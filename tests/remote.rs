//! Tests of remote tools that inspect a running game over real sockets: their requests, and the
//! handling of misbehaving clients. Each test plays its own game in a process.

pub mod browser;
mod changes;
mod console;
mod data;
mod flow_sources;
#[cfg(target_os = "linux")]
mod foreign_window;
mod hostile_clients;
mod inspection;
mod page_address;
mod page_animation;
mod page_changes;
mod page_escaping;
mod page_flow;
mod page_flow_edit;
mod page_flow_session;
mod page_layout;
mod page_log;
mod page_navigation;
mod page_profile;
mod page_references;
mod page_units;
mod pictures;
mod recordings;
mod references;
mod units;

use crate::game_folder::GameFolder;
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use engine::system::remote::endpoint_file::{self, EndpointFile};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum wait for the game, on a busy machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A game that counts its frames.
const COUNTING: &str = "frames = 0\nfunction update() frames = frames + 1 end\n";

/// A game played in its own process, in a folder that is removed on drop.
struct GameProcess {
    process: Child,
    folder: GameFolder,
    session: EndpointFile,
}

/// Creates a folder with a game.
fn create_game(name: &str, files: &[(&str, &str)]) -> GameFolder {
    let folder = GameFolder::new("tools", name);
    for (path, text) in files {
        folder.write(&format!("game/{path}"), text);
    }
    folder
}

/// Returns the command of the engine in a scratch folder.
fn engine(folder: &GameFolder, arguments: &[&str]) -> Command {
    let mut command = folder.command(arguments);
    command.env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

impl GameProcess {
    fn start(name: &str, main: &str) -> GameProcess {
        GameProcess::start_with(name, &[("main.lua", main)], &[])
    }

    fn start_with(name: &str, files: &[(&str, &str)], arguments: &[&str]) -> GameProcess {
        GameProcess::start_in(name, files, arguments, &[])
    }

    /// Starts a game with environment variables.
    fn start_in(
        name: &str,
        files: &[(&str, &str)],
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> GameProcess {
        GameProcess::start_prepared(name, files, arguments, environment, |_| ())
    }

    /// Starts a game after `prepare` has added other files to its folder.
    fn start_prepared(
        name: &str,
        files: &[(&str, &str)],
        arguments: &[&str],
        environment: &[(&str, &str)],
        prepare: impl Fn(&Path),
    ) -> GameProcess {
        let folder = create_game(name, files);
        prepare(&folder.join("game"));
        let (process, session) = GameProcess::launch(&folder, arguments, environment);
        GameProcess { process, folder, session }
    }

    /// Runs the game of a folder, and waits until tools can connect.
    fn launch(
        folder: &GameFolder,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> (Child, EndpointFile) {
        let all = [&["run", "game", "--headless", "--realtime", "--tools"], arguments].concat();
        let mut process = engine(folder, &all)
            .envs(environment.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let end = Instant::now() + WAIT_MAX;
        let session = loop {
            // Another run of the folder has a session, too.
            if let Ok(session) = EndpointFile::read(&folder.join("game"))
                && session.process == process.id()
            {
                break session;
            }
            let ended = process.try_wait().expect("it can be asked");
            if ended.is_some() || Instant::now() > end {
                let mut message = String::new();
                let _ = process.kill();
                let _ = process.stderr.take().map(|mut it| it.read_to_string(&mut message));
                panic!("no session in {}: {message}", folder.display());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        (process, session)
    }

    /// Ends the game and runs its folder again.
    fn restart(&mut self) {
        ask(&mut self.connect(), "quit", vec![]);
        self.wait();
        (self.process, self.session) = GameProcess::launch(&self.folder, &[], &[]);
    }

    fn connect(&self) -> RemoteClient {
        RemoteClient::connect(&self.session).expect("the game lets tools in")
    }

    /// Writes a file atomically, as editors do.
    fn write(&self, path: &str, text: &str) {
        let (temporary, file) = (self.folder.join("new"), self.folder.join("game").join(path));
        std::fs::write(&temporary, text).expect("it is written");
        std::fs::rename(&temporary, &file).expect("it is renamed");
    }

    /// Waits until the game has ended by itself, and returns its exit code.
    fn wait(&mut self) -> i32 {
        let end = Instant::now() + WAIT_MAX;
        loop {
            if let Some(status) = self.process.try_wait().expect("it can be asked") {
                return status.code().unwrap_or(-1);
            }
            assert!(Instant::now() < end, "the game does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for GameProcess {
    fn drop(&mut self) {
        // The process may have ended, and no data of it is needed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn ask(client: &mut RemoteClient, kind: &str, fields: Vec<(&str, SjsonTree)>) -> SjsonTree {
    let answer = client.request(kind, fields, WAIT_MAX, |_| ());
    answer.unwrap_or_else(|error| panic!("{kind}: {}", json::write(&error)))
}

/// Sends a request that must be refused, and returns the error message.
fn ask_refused(client: &mut RemoteClient, kind: &str, fields: Vec<(&str, SjsonTree)>) -> String {
    match client.request(kind, fields, WAIT_MAX, |_| ()) {
        Ok(answer) => panic!("{kind} was answered: {}", json::write(&answer)),
        Err(error) => text(&error, "message"),
    }
}

fn text(tree: &SjsonTree, key: &str) -> String {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text.clone(),
        _ => panic!("no text '{key}' in {}", json::write(tree)),
    }
}

fn number(tree: &SjsonTree, key: &str) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => panic!("no number '{key}' in {}", json::write(tree)),
    }
}

fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => panic!("no list '{key}' in {}", json::write(tree)),
    }
}

/// Evaluates a line of Lua and returns its values as joined text.
fn eval(client: &mut RemoteClient, line: &str) -> String {
    let answer = ask(client, "eval", vec![("text", json::text(line))]);
    let values = list(&answer, "values").iter().map(|value| match value {
        SjsonTree::String(text) => text.clone(),
        other => json::write(other),
    });
    values.collect::<Vec<_>>().join(", ")
}

fn frame(client: &mut RemoteClient) -> f64 {
    number(&ask(client, "status", vec![]), "frame")
}

/// Checks that the game continues to play.
fn check_running(client: &mut RemoteClient) {
    let first = frame(client);
    let end = Instant::now() + WAIT_MAX;
    while frame(client) < first + 3.0 {
        assert!(Instant::now() < end, "the game stands");
    }
}

#[test]
fn eval_runs_in_the_game_and_returns_text() {
    let create_game = GameProcess::start("eval", COUNTING);
    let mut client = create_game.connect();
    assert_eq!(eval(&mut client, "1 + 1, 'a\\nb', nil"), "2, \"a\\nb\", nil");
    assert_eq!(eval(&mut client, "lives = 3"), "");
    assert_eq!(eval(&mut client, "lives"), "3");
    assert_eq!(
        eval(&mut client, "Vector3(1, 2, 0.5)"),
        eval(&mut client, "tostring(Vector3(1, 2, 0.5))").replace('"', "")
    );
    assert_eq!(
        eval(&mut client, "{ b = { 1, 2 }, a = 'x', [3] = true }"),
        "{ [3] = true, a = \"x\", b = { 1, 2 } }"
    );
    assert_eq!(eval(&mut client, "local t = {} t.t = t return t"), "{ t = (the same table) }");
    assert_eq!(eval(&mut client, "'a\\255b'"), "\"a\\255b\"");
    let cut = eval(&mut client, "('ä'):rep(20000)");
    assert!(cut.ends_with("ä… (40002 bytes in all)"), "{}", &cut[cut.len() - 60..]);
    let long = eval(&mut client, "local t = {} for i = 1, 200 do t[i] = i end return t");
    assert!(long.ends_with("… (140 more)\n}"), "{long}");
    let fields = vec![("text", json::text("{ a = { 1, 'x' } }")), ("data", SjsonTree::Bool(true))];
    let answer = ask(&mut client, "eval", fields);
    assert_eq!(json::write(answer.get("data").expect("it is there")), "{\"a\":[1,\"x\"]}");
    check_running(&mut client);
}

#[test]
fn failed_eval_returns_its_stack() {
    let create_game =
        GameProcess::start("fails", "function boom(n) error('no weapon ' .. n) end\n");
    let mut client = create_game.connect();
    let fields = vec![("text", json::text("boom(3)"))];
    let error = client.request("eval", fields, WAIT_MAX, |_| ()).expect_err("it fails");
    assert_eq!(text(&error, "message"), "no weapon 3");
    assert_eq!(text(&error, "to"), "eval");
    let report = text(&error, "report");
    assert!(report.contains("In main.lua:1\n") && report.contains("local n = 3"), "{report}");
    assert_eq!(number(error.get("place").expect("a place"), "line"), 1.0);
    let error =
        client.request("eval", vec![("text", json::text("error('ouch')"))], WAIT_MAX, |_| ());
    let report = text(&error.expect_err("it fails"), "report");
    assert!(report.contains("In eval:1\n        1 | error('ouch')\n"), "{report}");
    let message = ask_refused(&mut client, "eval", vec![("text", json::text("1 +"))]);
    assert!(message.contains("unexpected symbol near"), "{message}");
    let fields = vec![("text", json::text("print")), ("data", SjsonTree::Bool(true))];
    let message = ask_refused(&mut client, "eval", fields);
    assert!(message.contains("must be plain data"), "{message}");
    check_running(&mut client);
}

#[test]
fn endless_eval_is_stopped() {
    let create_game = GameProcess::start("endless", COUNTING);
    let mut client = create_game.connect();
    for line in ["while true do end", "pcall(function() while true do end end) while true do end"] {
        let fields = vec![("text", json::text(line)), ("seconds", SjsonTree::Number(0.1))];
        let error = client.request("eval", fields, WAIT_MAX, |_| ()).expect_err("it is stopped");
        assert_eq!(error.get("stopped"), Some(&SjsonTree::Bool(true)), "{}", json::write(&error));
        assert!(text(&error, "message").contains("0.1 seconds of CPU time"));
    }
    check_running(&mut client);
}

#[test]
fn help_lists_every_message_with_its_fields() {
    let create_game = GameProcess::start("help", COUNTING);
    let mut client = create_game.connect();
    let help = ask(&mut client, "help", vec![]);
    assert_eq!(number(&help, "version"), 2.0);
    let names: Vec<String> = list(&help, "messages").iter().map(|it| text(it, "type")).collect();
    for name in ["help", "eval", "complete", "units", "screenshot", "input", "subscribe"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let eval = list(&help, "messages").iter().find(|it| text(it, "type") == "eval");
    assert_eq!(text(&list(eval.expect("it is listed"), "fields")[0], "name"), "text");
    let streams: Vec<String> = list(&help, "streams").iter().map(|it| text(it, "stream")).collect();
    assert!(streams.contains(&"log".to_string()), "{streams:?}");
    assert_eq!(
        ask_refused(&mut client, "evil", vec![]),
        "there is no message 'evil', did you mean \
        'eval'? ('help' lists them)"
    );
    let message = ask_refused(&mut client, "eval", vec![]);
    assert_eq!(message, "'eval' needs the field 'text': Lua (text)");
    client.send_text("no JSON").expect("it is sent");
    match client.receive(WAIT_MAX) {
        ClientMessage::Message(error) => {
            assert!(text(&error, "message").starts_with("the message is not JSON: line 1"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn completion_shows_names_and_signatures() {
    let create_game = GameProcess::start("complete", "hero = { lives = 3, level = 1 }\n");
    let mut client = create_game.connect();
    let mut complete = |before: &str| {
        let answer = ask(&mut client, "complete", vec![("text", json::text(before))]);
        let names = list(&answer, "words").iter().map(|word| match word {
            SjsonTree::String(word) => word.clone(),
            other => json::write(other),
        });
        (text(&answer, "start"), names.collect::<Vec<_>>())
    };
    assert_eq!(complete("print(hero.l"), ("l".into(), vec!["level".into(), "lives".into()]));
    assert_eq!(complete("World.is_al"), ("is_al".into(), vec![]));
    let (start, found) = complete("x = Unit.local_p");
    assert_eq!(start, "local_p");
    assert!(found.contains(&"local_position".to_string()), "{found:?}");
    assert!(complete("func").1.contains(&"function".to_string()));
    assert!(complete("").1.contains(&"hero".to_string()));
    assert!(complete("nothing.at.all").1.is_empty());
    let end = Instant::now() + WAIT_MAX;
    loop {
        // Signatures are generated on another thread, and may be missing at first.
        let answer = ask(&mut client, "complete", vec![("text", json::text("Unit.local_posi"))]);
        if let Some(first) = list(&answer, "signatures").first() {
            assert!(text(first, "signature").contains("local_position("), "{first:?}");
            break;
        }
        assert!(Instant::now() < end, "there are no signatures");
    }
}

#[test]
fn log_stream_starts_with_the_last_lines() {
    let create_game = GameProcess::start("log", "print('ready')\nfunction say(w) print(w) end\n");
    let mut client = create_game.connect();
    ask(&mut client, "subscribe", vec![("stream", json::text("log"))]);
    let mut lines = Vec::new();
    let mut listen = |client: &mut RemoteClient, expected: &str| {
        let end = Instant::now() + WAIT_MAX;
        while !lines.iter().any(|(_, line)| line == expected) {
            assert!(Instant::now() < end, "{expected} is not reported: {lines:?}");
            if let ClientMessage::Message(message) = client.receive(WAIT_MAX)
                && message.get("level").is_some()
            {
                lines.push((text(&message, "level"), text(&message, "message")));
            }
        }
        lines.clone()
    };
    eval(&mut client, "say('after')");
    let lines = listen(&mut client, "after");
    assert_eq!(lines.iter().filter(|(_, line)| line == "after").count(), 1);
    let answer = ask_refused(&mut client, "subscribe", vec![("stream", json::text("logs"))]);
    assert_eq!(answer, "there is no stream 'logs', did you mean 'log'? ('help' lists them)");
    ask(&mut client, "unsubscribe", vec![("stream", json::text("log"))]);
    eval(&mut client, "say('unheard')");
    assert_eq!(client.receive(Duration::from_millis(100)), ClientMessage::Nothing);
}

#[test]
fn game_can_be_paused_and_stepped() {
    let create_game = GameProcess::start("pause", COUNTING);
    let mut client = create_game.connect();
    assert_eq!(
        ask_refused(&mut client, "step", vec![]),
        "the game is not paused: send 'pause' first"
    );
    let paused = ask(&mut client, "pause", vec![]);
    assert_eq!(paused.get("paused"), Some(&SjsonTree::Bool(true)));
    let first = frame(&mut client);
    assert_eq!(eval(&mut client, "frames"), format!("{first}"));
    std::thread::sleep(Duration::from_millis(60));
    assert_eq!(frame(&mut client), first);
    ask(&mut client, "step", vec![]);
    assert_eq!(frame(&mut client), first + 1.0);
    ask(&mut client, "step", vec![("frames", SjsonTree::Number(5.0))]);
    assert_eq!(frame(&mut client), first + 6.0);
    let steps = ask(&mut client, "time_step", vec![("frames", SjsonTree::Number(3.0))]);
    assert_eq!(number(&steps, "frame"), first + 6.0);
    assert_eq!(list(&steps, "delta").len(), 3);
    ask(&mut client, "resume", vec![]);
    check_running(&mut client);
}

#[test]
fn time_step_stream_sends_measurements() {
    let create_game = GameProcess::start("steps", COUNTING);
    let mut client = create_game.connect();
    let fields = vec![("stream", json::text("time_step")), ("every", SjsonTree::Number(0.05))];
    ask(&mut client, "subscribe", fields);
    let mut last = 0.0;
    for _ in 0..3 {
        match client.receive(WAIT_MAX) {
            ClientMessage::Message(message) => {
                let count = list(&message, "measured").len();
                assert!(count > 0 && count == list(&message, "delta").len());
                assert!(number(&message, "frame") > last);
                last = number(&message, "frame");
            }
            other => panic!("{other:?}"),
        }
    }
}

const INPUT: &str = "typed, at, down = '', nil, 0\nfunction update()\n  \
    if Keyboard.pressed('space') then down = down + 1 end\n  \
    for _, s in ipairs(Keyboard.keystrokes()) do typed = typed .. s end\n  \
    at = Mouse.axis('cursor')\nend\n";

#[test]
fn tools_can_simulate_input() {
    let create_game = GameProcess::start("input", INPUT);
    let mut client = create_game.connect();
    let mut input = |fields: Vec<(&str, SjsonTree)>| ask(&mut client, "input", fields);
    let keyboard = ("device", json::text("keyboard"));
    let mut space = vec![keyboard.clone(), ("button", json::text("space"))];
    input(space.clone());
    space.push(("value", SjsonTree::Number(0.0)));
    input(space);
    input(vec![keyboard.clone(), ("text", json::text("hé"))]);
    let to = ("to", json::numbers([30.0, 40.0]));
    input(vec![("device", json::text("mouse")), ("axis", json::text("cursor")), to]);
    let end = Instant::now() + WAIT_MAX;
    while eval(&mut client, "down, typed, at.x, at.y") != "1, \"hé\", 30, 40" {
        let found = eval(&mut client, "down, typed, at.x, at.y");
        assert!(Instant::now() < end, "{found}");
    }
    let wrong = vec![keyboard, ("button", json::text("spase"))];
    let message = ask_refused(&mut client, "input", wrong);
    assert_eq!(message, "the keyboard has no button 'spase', did you mean 'space'?");
}

const UNITS: &str = "function init()\n  world = Application.new_world()\n  \
    tower = World.spawn_unit(world, 'tower', Vector3(1, 2, 3))\n  \
    Unit.set_data(tower, 'hp', 5)\n  World.spawn_unit(world, 'core/units/empty')\nend\n\
    function update(dt) World.update(world, dt) end\n";
const TOWER: &str = "nodes = { base = {}, top = { parent = \"base\", position = [0, 0, 2] } }\n";

#[test]
fn units_are_listed_and_inspected() {
    let files = [("main.lua", UNITS), ("tower.unit", TOWER)];
    let create_game = GameProcess::start_with("units", &files, &[]);
    let mut client = create_game.connect();
    check_running(&mut client);
    let units = ask(&mut client, "units", vec![]);
    let world = list(&units, "worlds").iter().find(|world| number(world, "count") == 2.0);
    let world = world.unwrap_or_else(|| panic!("{}", json::write(&units)));
    let tower = list(world, "units").iter().find(|unit| text(unit, "name") == "tower");
    let tower = tower.expect("it is listed");
    assert_eq!(list(tower, "position"), json_numbers(&[1.0, 2.0, 3.0]));
    let handle = SjsonTree::Number(number(tower, "unit"));
    let unit = ask(&mut client, "unit", vec![("unit", handle.clone())]);
    let top = &list(&unit, "nodes")[2];
    assert_eq!((text(top, "name"), number(top, "parent")), ("top".to_string(), 2.0));
    assert_eq!(list(top, "position"), json_numbers(&[1.0, 2.0, 5.0]));
    assert!(text(&unit, "text").contains("hp = 5"), "{}", json::write(&unit));
    let filtered = ask(&mut client, "units", vec![("text", json::text("tow"))]);
    let counts: f64 = list(&filtered, "worlds").iter().map(|world| number(world, "count")).sum();
    assert_eq!(counts, 1.0);
    let message = ask_refused(&mut client, "unit", vec![("unit", SjsonTree::Number(1.0))]);
    assert_eq!(message, "1 is not a handle of a unit");
    eval(&mut client, "World.destroy_unit(world, tower)");
    let message = ask_refused(&mut client, "unit", vec![("unit", handle)]);
    assert_eq!(message, "the unit is gone");
}

fn json_numbers(numbers: &[f64]) -> Vec<SjsonTree> {
    numbers.iter().map(|number| SjsonTree::Number(*number)).collect()
}

#[test]
fn resources_are_listed_with_dependents_and_reloaded() {
    let small = "inherit = \"tower\"\n";
    let main = "local enemy = require('enemy')\nfunction name() return enemy.name end\n\
        function init() World.spawn_unit(Application.main_world(), 'small') end\n";
    let files = [
        ("main.lua", main),
        ("enemy.lua", "return { name = 'orc' }\n"),
        ("tower.unit", TOWER),
        ("small.unit", small),
    ];
    let create_game = GameProcess::start_with("resources", &files, &["--no-watch"]);
    let mut client = create_game.connect();
    let listed = ask(&mut client, "resources", vec![("kind", json::text("unit"))]);
    assert_eq!(number(&listed, "count"), 2.0);
    let tower = ask(&mut client, "resource", vec![("name", json::text("tower.unit"))]);
    assert_eq!(json::write(tower.get("dependents").expect("a list")), "[\"small.unit\"]");
    assert_eq!(
        json::write(tower.get("all_dependents").expect("a list")),
        "[\"main.lua\",\"small.unit\"]"
    );
    let message = ask_refused(&mut client, "resource", vec![("name", json::text("towr.unit"))]);
    assert_eq!(message, "there is no resource 'towr.unit', did you mean 'tower.unit'?");
    let again = ask(&mut client, "reload", vec![("kind", json::text("unit"))]);
    assert_eq!(list(&again, "reloaded").len(), 2);
    create_game.write("enemy.lua", "return { name = 'troll' }\n");
    assert_eq!(eval(&mut client, "name()"), "\"orc\"");
    let changed = ask(&mut client, "reload", vec![]);
    assert_eq!(json::write(changed.get("reloaded").expect("a list")), "[\"enemy.lua\"]");
    assert_eq!(eval(&mut client, "name()"), "\"troll\"");
    let message = ask_refused(&mut client, "reload", vec![("kind", json::text("units"))]);
    assert_eq!(message, "there is no kind 'units', did you mean 'unit'?");
}

#[test]
fn session_file_exists_only_while_the_game_runs() {
    let mut create_game = GameProcess::start("session", COUNTING);
    let path = endpoint_file::path(&create_game.folder.join("game"));
    assert!(path.exists());
    let ignored = std::fs::read_to_string(path.with_file_name(".gitignore")).expect("it is there");
    assert_eq!(ignored, "*\n");
    let mut client = create_game.connect();
    ask(&mut client, "quit", vec![]);
    assert_eq!(create_game.wait(), 0);
    assert!(!path.exists());
    match client.receive(WAIT_MAX) {
        ClientMessage::Ended(_) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn release_cannot_be_inspected() {
    let folder = create_game("release", &[("main.lua", COUNTING)]);
    let compiled =
        engine(&folder, &["compile", "game", "--out", "game.bundle", "--bundle"]).output();
    let compiled = compiled.expect("the engine starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let arguments = ["run", "game.bundle", "--headless", "--frames", "3", "--tools"];
    let run = engine(&folder, &arguments).output().expect("the engine starts");
    assert_eq!(run.status.code(), Some(1));
    let message = String::from_utf8_lossy(&run.stderr);
    assert!(message.contains("a bundle is a release, which tools cannot connect to"), "{message}");
}
