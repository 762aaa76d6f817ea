//! Tests of screenshots and of the stream of pictures.

use super::browser::{has_adapter, skip};
use super::{GameProcess, WAIT_MAX, ask, ask_refused, frame, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use std::time::{Duration, Instant};

const RED: &str = "function render() Gui.rect(Application.main_gui(), Vector3(0, 0, 0), \
    Vector2(2000, 2000), Color(255, 0, 0))\n  \
    Application.render_world(Application.main_world())\nend\n";

/// Starts a game that draws a red picture, without waiting for a display.
fn start(name: &str) -> GameProcess {
    let files = [("main.lua", RED), ("settings.sjson", "window = { width = 320, height = 200 }")];
    GameProcess::start_with(name, &files, &["--renderer", "software"])
}

/// Returns the next picture within a time: the fields of its first line, and its file.
fn next_picture(client: &mut RemoteClient, wait: Duration) -> Option<(SjsonTree, Vec<u8>)> {
    let end = Instant::now() + wait;
    while Instant::now() < end {
        if let ClientMessage::Bytes(bytes) = client.receive(end - Instant::now()) {
            let line = bytes.iter().position(|byte| *byte == b'\n').expect("a line");
            let head = json::read(std::str::from_utf8(&bytes[..line]).expect("text"));
            return Some((head.expect("JSON"), bytes[line + 1..].to_vec()));
        }
    }
    None
}

fn subscribe(client: &mut RemoteClient, more: Vec<(&str, SjsonTree)>) {
    let fields = vec![("stream", json::text("picture")), ("every", SjsonTree::Number(0.01))];
    ask(client, "subscribe", [fields, more].concat());
}

#[test]
fn screenshots_need_a_renderer() {
    let create_game = GameProcess::start("no-picture", super::COUNTING);
    let message = ask_refused(&mut create_game.connect(), "screenshot", vec![]);
    assert!(message.starts_with("nothing is drawn in this run"), "{message}");
}

#[test]
fn screenshots_are_png_and_streams_are_jpeg_or_png() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let create_game = start("picture");
    let mut client = create_game.connect();
    let picture = ask(&mut client, "screenshot", vec![("width", SjsonTree::Number(160.0))]);
    assert_eq!((number(&picture, "width"), number(&picture, "height")), (160.0, 100.0));
    assert!(text(&picture, "png").starts_with("iVBORw0KGgo"), "it is a PNG");
    let png = vec![("format", json::text("png"))];
    for (more, format, start) in [(vec![], "jpeg", &b"\xff\xd8\xff"[..]), (png, "png", b"\x89PNG")]
    {
        let mut client = create_game.connect();
        subscribe(&mut client, more);
        for _ in 0..3 {
            let (head, file) = next_picture(&mut client, WAIT_MAX).expect("a picture");
            assert_eq!((number(&head, "width"), text(&head, "format").as_str()), (320.0, format));
            assert!(file.starts_with(start), "{format}: {:?}", &file[..8]);
        }
    }
    let wrong = vec![("stream", json::text("picture")), ("format", json::text("jpg"))];
    let message = ask_refused(&mut client, "subscribe", wrong);
    assert_eq!(message, "there is no format 'jpg', did you mean 'jpeg'? (jpeg, png)");
    ask(&mut client, "pause", vec![]);
    ask(&mut client, "screenshot", vec![]);
}

#[test]
fn jpeg_pictures_have_the_colors_of_the_frame() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let create_game = start("jpeg");
    let mut client = create_game.connect();
    subscribe(&mut client, vec![("width", SjsonTree::Number(64.0))]);
    let (_, file) = next_picture(&mut client, WAIT_MAX).expect("a picture");
    let image = image::load_from_memory(&file).expect("it is a JPEG").to_rgb8();
    assert_eq!(image.dimensions(), (64, 40));
    let [red, green, blue] = image.get_pixel(32, 20).0;
    assert!(red > 245 && green < 12 && blue < 12, "{red} {green} {blue}");
}

#[test]
fn one_picture_is_in_flight_until_it_is_shown() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let create_game = start("in-flight");
    let mut client = create_game.connect();
    let message = ask_refused(&mut client, "picture_shown", vec![]);
    assert_eq!(message, "the stream 'picture' is not followed: subscribe to it first");
    subscribe(&mut client, vec![]);
    let message = ask_refused(&mut client, "picture_shown", vec![]);
    assert_eq!(message, "the stream 'picture' was subscribed to without 'acknowledge'");
    ask(&mut client, "unsubscribe", vec![("stream", json::text("picture"))]);
    let mut client = create_game.connect();
    subscribe(&mut client, vec![("acknowledge", SjsonTree::Bool(true))]);
    let (first, _) = next_picture(&mut client, WAIT_MAX).expect("a picture");
    let before = frame(&mut client);
    let again = next_picture(&mut client, Duration::from_millis(300));
    assert!(again.is_none(), "the first picture was not shown yet");
    while frame(&mut client) < before + 3.0 {}
    client.send("picture_shown", vec![]).expect("it is sent");
    let (second, _) = next_picture(&mut client, WAIT_MAX).expect("a picture");
    assert!(number(&second, "frame") > number(&first, "frame") + 2.0, "it is the newest frame");
}
