//! Tests of the inspection of a running game: memory leaks, time spent in scripts, messages of the
//! game, and the frame of a paused game.

use super::browser::{has_adapter, skip};
use super::{PATIENCE, Playing, ask, eval, list, number, refused, text};
use engine::foundation::sjson::SjsonTree;
use engine::resource::image::{DecodedImage, Image, PixelFormat, decode};
use engine::system::remote::client::{ClientMessage, RemoteClient};
use engine::system::remote::json;
use std::time::{Duration, Instant};

/// A game with a leak: hits are stored and never removed.
const LEAKING: &str = "local hits = {}\nlocal function strike() \
    hits[#hits + 1] = { at = Vector3(1, 2, 3), by = 'a sword' } end\n\
    function update() for _ = 1, 20 do strike() end end\n";

fn yes(name: &str) -> (&str, SjsonTree) {
    (name, SjsonTree::Bool(true))
}

#[test]
fn memory_leak_is_named() {
    let game = Playing::start("leak", LEAKING);
    let mut caller = game.connect();
    let marked = ask(&mut caller, "memory", vec![yes("mark")]);
    // The frame of the mark is 0 if the tool was faster than the game.
    assert!(number(&marked, "seconds") > 0.0 && number(&marked, "marked") >= 0.0);
    let end = Instant::now() + PATIENCE;
    loop {
        let walked = ask(&mut caller, "memory", vec![yes("walk")]);
        let most = &list(&walked, "held")[0];
        if text(most, "name") == "main.lua: local hits" && number(most, "more_objects") >= 40.0 {
            assert!(number(most, "more_bytes") > 40.0 * 64.0, "{}", json::write(most));
            break;
        }
        assert!(Instant::now() < end, "the leak is not named: {}", json::write(most));
    }
    assert!(ask(&mut caller, "memory", vec![]).get("held").is_none());
}

const BUSY: &str = "local function burn() local x = 0 for i = 1, 20000 do x = x + math.sin(i) end \
    return x end\nfunction update() burn() end\n";

#[test]
fn script_sampling_can_be_switched_on_and_off() {
    let game = Playing::start("sampling", BUSY);
    let mut caller = game.connect();
    let off = ask(&mut caller, "sampling", vec![]);
    assert_eq!((off.get("on"), number(&off, "samples")), (Some(&SjsonTree::Bool(false)), 0.0));
    let end = Instant::now() + PATIENCE;
    loop {
        let met = ask(&mut caller, "sampling", vec![yes("on")]);
        if number(&met, "samples") > 3.0 {
            assert_eq!(text(&list(&met, "scripts")[0], "name"), "main.lua");
            assert_eq!(text(&list(&met, "functions")[0], "name"), "burn in main.lua");
            assert!(text(&list(&met, "lines")[0], "name").starts_with("main.lua:1 in "));
            break;
        }
        assert!(Instant::now() < end, "nothing is met: {}", json::write(&met));
    }
    let last = ask(&mut caller, "sampling", vec![("on", SjsonTree::Bool(false))]);
    assert!(number(&last, "samples") > 3.0);
    assert_eq!(number(&ask(&mut caller, "sampling", vec![]), "samples"), 0.0);
}

#[test]
fn sampling_of_a_whole_run_cannot_be_switched_off() {
    let game = Playing::start_with("whole", &[("main.lua", BUSY)], &["--profile-scripts"]);
    let mut caller = game.connect();
    let message = refused(&mut caller, "sampling", vec![("on", SjsonTree::Bool(false))]);
    assert_eq!(message, "scripts are sampled, for all of this run (--profile-scripts)");
    assert_eq!(ask(&mut caller, "sampling", vec![]).get("on"), Some(&SjsonTree::Bool(true)));
}

/// Returns the next message of a type.
pub fn wait_for_message(caller: &mut RemoteClient, wanted: &str) -> SjsonTree {
    let end = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < end, "no '{wanted}' comes");
        match caller.receive(PATIENCE) {
            ClientMessage::Message(message) if text(&message, "type") == wanted => return message,
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
    let game = Playing::start("sends", main);
    let (mut caller, mut deaf) = (game.connect(), game.connect());
    ask(&mut caller, "subscribe", vec![("stream", json::text("game"))]);
    let script = ("script", json::text("spawn('orc', 3)"));
    let done = ask(&mut caller, "script", vec![script]);
    assert!(done.get("values").is_none(), "{}", json::write(&done));
    let spawned = wait_for_message(&mut caller, "spawned");
    assert_eq!((text(&spawned, "kind"), number(&spawned, "count")), ("orc".to_string(), 3.0));
    ask(&mut caller, "subscribe", vec![("stream", json::text("log"))]);
    eval(&mut caller, "flood()");
    // The log line may arrive before the first message.
    let (mut first, mut is_reported) = (None, false);
    let end = Instant::now() + PATIENCE;
    while first.is_none() || !is_reported {
        assert!(Instant::now() < end, "what was dropped is not told: {first:?}");
        let ClientMessage::Message(line) = caller.receive(PATIENCE) else { continue };
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
    let message = refused(&mut caller, "script", vec![("script", json::text("error('no orcs')"))]);
    assert!(message.ends_with("no orcs"), "{message}");
    let endless = vec![("script", json::text("while true do end"))];
    let message = refused(&mut caller, "script", endless);
    assert!(message.contains("('eval' allows more with 'seconds')"), "{message}");
}

#[test]
fn console_commands_pause_and_reload() {
    let files = [("main.lua", "frames = 0 function update() frames = frames + 1 end")];
    let game = Playing::start_with("commands", &files, &["--no-watch"]);
    let mut caller = game.connect();
    eval(&mut caller, "pause");
    let status = |caller: &mut RemoteClient| ask(caller, "status", vec![]);
    let paused =
        |caller: &mut RemoteClient| status(caller).get("paused") == Some(&SjsonTree::Bool(true));
    // The command acts between two frames.
    let becomes = |caller: &mut RemoteClient, wanted: bool| {
        let end = Instant::now() + PATIENCE;
        while paused(caller) != wanted {
            assert!(Instant::now() < end, "it does not become paused: {wanted}");
        }
    };
    becomes(&mut caller, true);
    eval(&mut caller, "pause");
    becomes(&mut caller, false);
    game.write("main.lua", "frames = 0 function update() frames = -5 end");
    eval(&mut caller, "refresh");
    let end = Instant::now() + PATIENCE;
    while eval(&mut caller, "frames") != "-5" {
        assert!(Instant::now() < end, "the script is not taken");
    }
    ask(&mut caller, "subscribe", vec![("stream", json::text("log"))]);
    eval(&mut caller, "reload lua");
    let end = Instant::now() + PATIENCE;
    loop {
        if text(&wait_for_message(&mut caller, "message"), "message") == "reload: main.lua" {
            break;
        }
        assert!(Instant::now() < end, "nothing is taken again");
    }
}

#[test]
fn lines_logged_in_the_subscribing_frame_are_sent() {
    let game = Playing::start("at-once", "");
    for round in 0..20 {
        let mut caller = game.connect();
        // Both are usually handled in one frame.
        let stream = ("stream", json::text("log"));
        caller.send("subscribe", vec![stream]).expect("it is sent");
        let script = format!("print('line {round}')");
        caller.send("script", vec![("script", json::text(&script))]).expect("it is sent");
        let wanted = format!("line {round}");
        while text(&wait_for_message(&mut caller, "message"), "message") != wanted {}
    }
}

#[test]
fn game_error_is_sent_before_the_game_ends() {
    let main = "function update() if stops then error('no weapon') end end";
    let mut game = Playing::start("stops", main);
    let mut caller = game.connect();
    ask(&mut caller, "subscribe", vec![("stream", json::text("log"))]);
    caller.send("script", vec![("script", json::text("stops = true"))]).expect("it is sent");
    let mut log_text = String::new();
    loop {
        match caller.receive(PATIENCE) {
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
    assert_eq!(game.wait(), 1);
}

const COLORED: &str = "color, updates, renders = Color(255, 0, 0), 0, 0\n\
    function update() updates = updates + 1 end\n\
    function render() renders = renders + 1\n  \
    Gui.rect(Application.main_gui(), Vector3(0, 0, 0), Vector2(4000, 4000), color)\n  \
    Application.render_world(Application.main_world())\nend\n";
const SMALL: &str = "window = { width = 64, height = 48 }";

/// Returns the middle texel of a screenshot: red, green, blue.
fn middle(caller: &mut RemoteClient) -> [u8; 3] {
    let picture = ask(caller, "screenshot", vec![]);
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
    let game = Playing::start_with("still", &files, &["--renderer", "software"]);
    let mut caller = game.connect();
    ask(&mut caller, "pause", vec![]);
    assert_eq!(middle(&mut caller), [255, 0, 0]);
    let updates = eval(&mut caller, "updates");
    eval(&mut caller, "color = Color(0, 0, 255)");
    let end = Instant::now() + PATIENCE;
    while middle(&mut caller) != [0, 0, 255] {
        assert!(Instant::now() < end, "the picture stays as it was");
    }
    assert_eq!(eval(&mut caller, "updates"), updates);
    // A step is played and shown.
    eval(&mut caller, "color = Color(0, 255, 0)");
    ask(&mut caller, "step", vec![]);
    assert_eq!(middle(&mut caller), [0, 255, 0]);
    assert_eq!(eval(&mut caller, "updates"), format!("{}", updates.parse::<u32>().unwrap() + 1));
}
