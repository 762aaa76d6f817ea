//! Tests of the inspection of a running game: memory leaks, time spent in scripts, messages of the
//! game, and the frame of a paused game.

use super::browser::{has_adapter, skip};
use super::{GameProcess, WAIT_MAX, ask, ask_refused, eval, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::resource::image::{DecodedImage, Image, PixelFormat, decode};
use engine::system::remote::client::{ClientMessage, RemoteClient};
use std::time::{Duration, Instant};

/// A game with a leak: hits are stored and never removed.
const LEAKING: &str = "local hits = {}\nlocal function strike() \
    hits[#hits + 1] = { at = Vector3(1, 2, 3), by = 'a sword' } end\n\
    function update() for _ = 1, 20 do strike() end end\n";

fn flag(name: &str) -> (&str, SjsonTree) {
    (name, SjsonTree::Bool(true))
}

#[test]
fn memory_leak_is_named() {
    let create_game = GameProcess::start("leak", LEAKING);
    let mut client = create_game.connect();
    let marked = ask(&mut client, "memory", vec![flag("mark")]);
    // The frame of the mark is 0 if the tool was faster than the game.
    assert!(number(&marked, "seconds") > 0.0 && number(&marked, "marked") >= 0.0);
    let end = Instant::now() + WAIT_MAX;
    loop {
        let walk = ask(&mut client, "memory", vec![flag("walk")]);
        let most = &list(&walk, "held")[0];
        if text(most, "name") == "main.lua: local hits" && number(most, "more_objects") >= 40.0 {
            assert!(number(most, "more_bytes") > 40.0 * 64.0, "{}", json::write(most));
            break;
        }
        assert!(Instant::now() < end, "the leak is not named: {}", json::write(most));
    }
    assert!(ask(&mut client, "memory", vec![]).get("held").is_none());
}

const BUSY: &str = "local function burn() local x = 0 for i = 1, 20000 do x = x + math.sin(i) end \
    return x end\nfunction update() burn() end\n";

#[test]
fn script_sampling_can_be_switched_on_and_off() {
    let create_game = GameProcess::start("sampling", BUSY);
    let mut client = create_game.connect();
    let off = ask(&mut client, "sampling", vec![]);
    assert_eq!((off.get("on"), number(&off, "samples")), (Some(&SjsonTree::Bool(false)), 0.0));
    let end = Instant::now() + WAIT_MAX;
    loop {
        let samples = ask(&mut client, "sampling", vec![flag("on")]);
        if number(&samples, "samples") > 3.0 {
            assert_eq!(text(&list(&samples, "scripts")[0], "name"), "main.lua");
            assert_eq!(text(&list(&samples, "functions")[0], "name"), "burn in main.lua");
            assert!(text(&list(&samples, "lines")[0], "name").starts_with("main.lua:1 in "));
            break;
        }
        assert!(Instant::now() < end, "nothing is met: {}", json::write(&samples));
    }
    let last = ask(&mut client, "sampling", vec![("on", SjsonTree::Bool(false))]);
    assert!(number(&last, "samples") > 3.0);
    assert_eq!(number(&ask(&mut client, "sampling", vec![]), "samples"), 0.0);
}

#[test]
fn sampling_of_a_whole_run_cannot_be_switched_off() {
    let create_game =
        GameProcess::start_with("whole", &[("main.lua", BUSY)], &["--profile-scripts"]);
    let mut client = create_game.connect();
    let message = ask_refused(&mut client, "sampling", vec![("on", SjsonTree::Bool(false))]);
    assert_eq!(message, "scripts are sampled, for all of this run (--profile-scripts)");
    assert_eq!(ask(&mut client, "sampling", vec![]).get("on"), Some(&SjsonTree::Bool(true)));
}

/// Returns the next message of a type.
pub fn wait_for_message(client: &mut RemoteClient, expected: &str) -> SjsonTree {
    let end = Instant::now() + WAIT_MAX;
    loop {
        assert!(Instant::now() < end, "no '{expected}' comes");
        match client.receive(WAIT_MAX) {
            ClientMessage::Message(message) if text(&message, "type") == expected => {
                return message;
            }
            ClientMessage::Ended(message) => panic!("{message}"),
            _ => {}
        }
    }
}

#[test]
fn game_messages_reach_subscribers() {
    let main = "function spawn(kind, count) Application.console_send({ type = 'spawned', \
        kind = kind, count = count, places = { 1, 2 } }) end\n\
        function flood() for i = 1, 300 do Application.console_send({ type = 'drop', n = i }) \
        end end\n";
    let create_game = GameProcess::start("sends", main);
    let (mut client, mut deaf) = (create_game.connect(), create_game.connect());
    ask(&mut client, "subscribe", vec![("stream", json::text("game"))]);
    let script = ("script", json::text("spawn('orc', 3)"));
    let done = ask(&mut client, "script", vec![script]);
    assert!(done.get("values").is_none(), "{}", json::write(&done));
    let spawned = wait_for_message(&mut client, "spawned");
    assert_eq!((text(&spawned, "kind"), number(&spawned, "count")), ("orc".to_string(), 3.0));
    ask(&mut client, "subscribe", vec![("stream", json::text("log"))]);
    eval(&mut client, "flood()");
    // The log line may arrive before the first message.
    let (mut first, mut is_reported) = (None, false);
    let end = Instant::now() + WAIT_MAX;
    while first.is_none() || !is_reported {
        assert!(Instant::now() < end, "the number of dropped messages is not reported: {first:?}");
        let ClientMessage::Message(line) = client.receive(WAIT_MAX) else { continue };
        match text(&line, "type").as_str() {
            "drop" => first = first.or(Some(number(&line, "n"))),
            "message" => {
                let message = text(&line, "message");
                is_reported |=
                    message.contains("more was sent in a frame than is passed on to tools");
            }
            _ => {}
        }
    }
    assert_eq!(first, Some(1.0));
    // A client without a subscription receives nothing.
    eval(&mut deaf, "1");
    assert_eq!(deaf.receive(Duration::from_millis(50)), ClientMessage::Nothing);
    let message =
        ask_refused(&mut client, "script", vec![("script", json::text("error('no orcs')"))]);
    assert!(message.ends_with("no orcs"), "{message}");
    let endless = vec![("script", json::text("while true do end"))];
    let message = ask_refused(&mut client, "script", endless);
    assert!(message.contains("('eval' allows more with 'seconds')"), "{message}");
}

#[test]
fn console_commands_pause_and_reload() {
    let files = [("main.lua", "frames = 0 function update() frames = frames + 1 end")];
    let create_game = GameProcess::start_with("commands", &files, &["--no-watch"]);
    let mut client = create_game.connect();
    eval(&mut client, "pause");
    let status = |client: &mut RemoteClient| ask(client, "status", vec![]);
    let paused =
        |client: &mut RemoteClient| status(client).get("paused") == Some(&SjsonTree::Bool(true));
    // The command acts between two frames.
    let becomes = |client: &mut RemoteClient, expected: bool| {
        let end = Instant::now() + WAIT_MAX;
        while paused(client) != expected {
            assert!(Instant::now() < end, "it does not become paused: {expected}");
        }
    };
    becomes(&mut client, true);
    eval(&mut client, "pause");
    becomes(&mut client, false);
    create_game.write("main.lua", "frames = 0 function update() frames = -5 end");
    eval(&mut client, "refresh");
    let end = Instant::now() + WAIT_MAX;
    while eval(&mut client, "frames") != "-5" {
        assert!(Instant::now() < end, "the script is not taken");
    }
    ask(&mut client, "subscribe", vec![("stream", json::text("log"))]);
    eval(&mut client, "reload lua");
    let end = Instant::now() + WAIT_MAX;
    loop {
        if text(&wait_for_message(&mut client, "message"), "message") == "reload: main.lua" {
            break;
        }
        assert!(Instant::now() < end, "nothing is taken again");
    }
}

#[test]
fn lines_logged_in_the_subscribing_frame_are_sent() {
    let create_game = GameProcess::start("at-once", "");
    for round in 0..20 {
        let mut client = create_game.connect();
        // Both are usually handled in one frame.
        let stream = ("stream", json::text("log"));
        client.send("subscribe", vec![stream]).expect("it is sent");
        let script = format!("print('line {round}')");
        client.send("script", vec![("script", json::text(&script))]).expect("it is sent");
        let expected = format!("line {round}");
        while text(&wait_for_message(&mut client, "message"), "message") != expected {}
    }
}

#[test]
fn game_error_is_sent_before_the_game_ends() {
    let main = "function update() if stops then error('no weapon') end end";
    let mut create_game = GameProcess::start("stops", main);
    let mut client = create_game.connect();
    ask(&mut client, "subscribe", vec![("stream", json::text("log"))]);
    client.send("script", vec![("script", json::text("stops = true"))]).expect("it is sent");
    let mut log_text = String::new();
    loop {
        match client.receive(WAIT_MAX) {
            ClientMessage::Message(message) if message.get("level").is_some() => {
                log_text += &text(&message, "message");
            }
            ClientMessage::Message(_) => {}
            ClientMessage::Ended(message) => {
                assert!(message.contains("the game has ended"), "{message}");
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(
        log_text.contains("Error: no weapon") && log_text.contains("In main.lua:1"),
        "{log_text}"
    );
    assert_eq!(create_game.wait(), 1);
}

const COLORED: &str = "color, updates, renders = Color(255, 0, 0), 0, 0\n\
    function update() updates = updates + 1 end\n\
    function render() renders = renders + 1\n  \
    Gui.rect(Application.main_gui(), Vector3(0, 0, 0), Vector2(4000, 4000), color)\n  \
    Application.render_world(Application.main_world())\nend\n";
const SMALL: &str = "window = { width = 64, height = 48 }";

/// Returns the middle texel of a screenshot: red, green, blue.
fn middle_texel(client: &mut RemoteClient) -> [u8; 3] {
    let picture = ask(client, "screenshot", vec![]);
    let bytes = unbase64(&text(&picture, "png"));
    match decode(&bytes, "png") {
        Ok(DecodedImage::Image(Image { width, height, pixels: PixelFormat::Bytes(rgba) })) => {
            let at = ((height / 2 * width + width / 2) * 4) as usize;
            [rgba[at], rgba[at + 1], rgba[at + 2]]
        }
        other => panic!("it is no picture: {other:?}"),
    }
}

pub fn unbase64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        held = held << 6 | u32::from(value(letter));
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}

#[test]
fn screenshot_of_paused_game_shows_remote_changes() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let files = [("main.lua", COLORED), ("settings.sjson", SMALL)];
    let create_game = GameProcess::start_with("still", &files, &["--renderer", "software"]);
    let mut client = create_game.connect();
    ask(&mut client, "pause", vec![]);
    assert_eq!(middle_texel(&mut client), [255, 0, 0]);
    let updates = eval(&mut client, "updates");
    eval(&mut client, "color = Color(0, 0, 255)");
    let end = Instant::now() + WAIT_MAX;
    while middle_texel(&mut client) != [0, 0, 255] {
        assert!(Instant::now() < end, "the picture stays as it was");
    }
    assert_eq!(eval(&mut client, "updates"), updates);
    // A step is played and shown.
    eval(&mut client, "color = Color(0, 255, 0)");
    ask(&mut client, "step", vec![]);
    assert_eq!(middle_texel(&mut client), [0, 255, 0]);
    assert_eq!(eval(&mut client, "updates"), format!("{}", updates.parse::<u32>().unwrap() + 1));
}
