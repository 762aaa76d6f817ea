//! Tests of the page's address: it stays the same between runs, and only a server that knows the
//! token gets it.

use super::browser::Browser;
use super::{COUNTING, GameProcess, WAIT_MAX, ask};
use engine::foundation::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

#[test]
fn runs_of_a_folder_have_the_same_address() {
    let mut create_game = GameProcess::start("same-address", COUNTING);
    let first = create_game.session.address();
    create_game.restart();
    assert_eq!(create_game.session.address(), first);
    let other = GameProcess::start("other-address", COUNTING);
    assert_ne!(other.session.token, create_game.session.token);
    // A second run at the same time has an address of its own.
    let (mut second, session) = GameProcess::launch(&create_game.folder, &[], &[]);
    assert_ne!(session.token, create_game.session.token);
    assert_ne!(session.port, create_game.session.port);
    let _ = second.kill();
    second.wait().expect("it ends");
    ask(&mut create_game.connect(), "status", vec![]);
}

#[test]
fn page_connects_again_after_a_restart() {
    let Some(mut browser) = Browser::start("again-browser") else { return };
    let mut create_game = GameProcess::start("again", "print('run')\nfunction update() end\n");
    browser.open(&create_game.session.address());
    browser.wait_for("document.getElementById('lines').innerText.includes('run')");
    // Nothing of the page is loaded again.
    browser.value("window.kept = 1");
    create_game.restart();
    browser.wait_for("document.getElementById('state').innerText === 'running'");
    browser.wait_for("document.body.dataset.ready === 'true'");
    assert_eq!(browser.value("window.kept"), "1");
    browser.press("e", "KeyE", 1.0, "");
    browser.write("6 * 7");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('#lines .answer .text')?.innerText === '42'");
}

/// Listens on a port as another program until a text is sent to it, and then for more seconds.
/// Collects what is sent to it.
fn collect_requests(port: u16, text: &str, seconds: f64) -> String {
    let mut end = Instant::now() + WAIT_MAX;
    let mut is_found = false;
    let listener = loop {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => break listener,
            Err(reason) => assert!(Instant::now() < end, "{reason}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    listener.set_nonblocking(true).expect("it can be set");
    let mut requests = String::new();
    while Instant::now() < end {
        let Ok((mut stream, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        stream.set_nonblocking(false).expect("it can be set");
        stream.set_read_timeout(Some(Duration::from_millis(300))).expect("it can be set");
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).unwrap_or(0);
        requests += &String::from_utf8_lossy(&piece[..count]);
        if !is_found && requests.contains(text) {
            (is_found, end) = (true, Instant::now() + Duration::from_secs_f64(seconds));
        }
        // It does not know the token, so it can only guess.
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 28\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(format!("{answer}{}", "A".repeat(28)).as_bytes());
    }
    requests
}

#[test]
fn page_shows_its_token_only_to_the_game() {
    let Some(mut browser) = Browser::start("stranger-browser") else { return };
    let mut create_game = GameProcess::start("stranger", COUNTING);
    let (port, token) = (create_game.session.port, create_game.session.token.clone());
    browser.open(&create_game.session.address());
    ask(&mut create_game.connect(), "quit", vec![]);
    assert_eq!(create_game.wait(), 0);
    let proof = "GET /proof?nonce=";
    let requests = collect_requests(port, proof, 4.0);
    assert!(requests.contains(proof), "the page tries to connect: {requests}");
    assert!(!requests.contains(&token), "{requests}");
    assert_eq!(browser.value("document.body.dataset.ready"), "false");
}

#[test]
fn a_taken_port_gives_the_next_run_another_token() {
    let mut create_game = GameProcess::start("taken-port", COUNTING);
    let (port, token) = (create_game.session.port, create_game.session.token.clone());
    ask(&mut create_game.connect(), "quit", vec![]);
    create_game.wait();
    let end = Instant::now() + WAIT_MAX;
    let stranger = loop {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => break listener,
            Err(reason) => assert!(Instant::now() < end, "{reason}"),
        }
    };
    let (process, session) = GameProcess::launch(&create_game.folder, &[], &[]);
    (create_game.process, create_game.session) = (process, session);
    drop(stranger);
    assert_ne!(create_game.session.token, token);
    let stored = create_game.folder.join("saves/game/tools.json");
    let stored = std::fs::read_to_string(stored).expect("the address is kept");
    assert!(!stored.contains(&token) && stored.contains(&create_game.session.token), "{stored}");
    let status = ask(&mut create_game.connect(), "status", vec![]);
    assert!(json::write(&status).contains("\"folder\""));
}
