//! The page in a real browser, where there is one: Chromium, driven through its debugging protocol.
//! Keys are pressed as a person would; nothing of the page is called from here.

use super::{PATIENCE, Playing, TOWER, UNITS, ask, game, number, text};
use engine::foundation::sjson::Tree;
use engine::system::tools::json;
use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// Says that a test did not run, past the test harness, which would keep it from the terminal.
pub fn skip(what: &str, package: &str) {
    let words = format!("SKIPPED: {what} (to install it: apt-get install {package})");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{words}");
    writeln!(std::io::stderr(), "{words}").expect("stderr can be written to");
}

/// Whether anything can be drawn on.
pub fn has_adapter() -> bool {
    let folders = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    folders
        .iter()
        .any(|folder| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()))
}

/// A browser with one page.
struct Browser {
    process: Child,
    folder: PathBuf,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    last: u64,
    /// What went wrong in the page.
    problems: Vec<String>,
}

impl Browser {
    /// Starts one; none where it is not installed.
    fn start(name: &str) -> Option<Browser> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let found = ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|tool| {
            std::env::split_paths(&paths).map(|folder| folder.join(tool)).find(|it| it.is_file())
        });
        let Some(tool) = found else {
            skip("there is no browser, so the page was not opened", "chromium");
            return None;
        };
        let folder = game(name, &[("x", "")]);
        let process = Command::new(tool)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--remote-debugging-port=0", "--remote-allow-origins=*", "about:blank"])
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        let told = folder.join("DevToolsActivePort");
        let end = Instant::now() + PATIENCE;
        let (port, path) = loop {
            let words = std::fs::read_to_string(&told).unwrap_or_default();
            let mut lines = words.lines();
            if let (Some(port), Some(path)) = (lines.next(), lines.next()) {
                break (port.to_string(), path.to_string());
            }
            assert!(Instant::now() < end, "the browser tells no port");
            std::thread::sleep(Duration::from_millis(20));
        };
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        let address = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client(address, stream).expect("it lets us in");
        let (session, problems) = (None, Vec::new());
        let mut browser = Browser { process, folder, socket, session, last: 0, problems };
        let made = browser.call("Target.createTarget", vec![("url", json::text("about:blank"))]);
        let target = json::text(text(&made, "targetId"));
        let flat = ("flatten", Tree::Bool(true));
        let attached = browser.call("Target.attachToTarget", vec![("targetId", target), flat]);
        browser.session = Some(text(&attached, "sessionId"));
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.call(domain, vec![]);
        }
        Some(browser)
    }

    /// Asks the browser, and notes what the page complains of meanwhile.
    fn call(&mut self, method: &str, parameters: Vec<(&str, Tree)>) -> Tree {
        self.last += 1;
        let parameters = parameters.into_iter().map(|(name, value)| (name.to_string(), value));
        let mut all = vec![
            ("id".to_string(), Tree::Number(self.last as f64)),
            ("method".to_string(), json::text(method)),
            ("params".to_string(), Tree::Object(parameters.collect())),
        ];
        if let Some(session) = &self.session {
            all.push(("sessionId".to_string(), json::text(session)));
        }
        self.socket.send(Message::text(json::write(&Tree::Object(all)))).expect("it is there");
        loop {
            let message = self.socket.read().expect("it is there");
            let Message::Text(words) = message else { continue };
            let tree = json::read(words.as_str()).expect("it speaks JSON");
            if tree.get("id") == Some(&Tree::Number(self.last as f64)) {
                let result = tree.get("result").cloned();
                return result.unwrap_or_else(|| panic!("{method}: {words}"));
            }
            let what = tree.get("method").map(json::write).unwrap_or_default();
            let failed = what.contains("exceptionThrown")
                || (what.contains("entryAdded") && words.contains("\"level\":\"error\""));
            if failed {
                self.problems.push(words.as_str().to_string());
            }
        }
    }

    /// The value of an expression in the page, as text.
    fn value(&mut self, expression: &str) -> String {
        let whole = format!("String({expression})");
        let parameters = vec![("expression", json::text(whole))];
        let answer = self.call("Runtime.evaluate", parameters);
        match answer.get("result").and_then(|result| result.get("value")) {
            Some(Tree::String(text)) => text.clone(),
            _ => json::write(&answer),
        }
    }

    /// Waits until an expression is true.
    fn wait_for(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while self.value(expression) != "true" {
            let page = || "document.body.innerText.slice(0, 2000)";
            if Instant::now() > end {
                let seen = self.value(page());
                panic!("{expression} does not come; the page:\n{seen}\n{:?}", self.problems);
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Presses a key: its name, its place, its modifiers (1 Alt, 8 Shift), the text that it types.
    fn press(&mut self, key: &str, code: &str, modifiers: f64, typed: &str) {
        let number = match key {
            "Tab" => 9.0,
            "Enter" => 13.0,
            "ArrowLeft" => 37.0,
            "ArrowUp" => 38.0,
            "ArrowRight" => 39.0,
            "ArrowDown" => 40.0,
            _ => key.bytes().next().map_or(0.0, |byte| f64::from(byte.to_ascii_uppercase())),
        };
        for what in ["keyDown", "keyUp"] {
            let mut parameters = vec![
                ("type", json::text(what)),
                ("key", json::text(key)),
                ("code", json::text(code)),
                ("modifiers", Tree::Number(modifiers)),
                ("windowsVirtualKeyCode", Tree::Number(number)),
            ];
            if what == "keyDown" && !typed.is_empty() {
                parameters.push(("text", json::text(typed)));
            }
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    fn write(&mut self, words: &str) {
        self.call("Input.insertText", vec![("text", json::text(words))]);
    }

    fn open(&mut self, address: &str) {
        self.call("Page.navigate", vec![("url", json::text(address))]);
        self.wait_for("document.body && document.body.dataset.ready === 'true'");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It is the last to go, and nothing of it is kept.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const SPEAKING: &str = "print('the game begins')\nhero = { lives = 3, level = 1 }\n";

#[test]
fn the_page_is_used_with_the_keyboard_alone() {
    let Some(mut browser) = Browser::start("browser") else { return };
    let main = format!("{SPEAKING}{UNITS}");
    let files = [("main.lua", main.as_str()), ("tower.unit", TOWER)];
    let game = Playing::start_with("page", &files, &[]);
    browser.open(&game.session.address());
    browser.wait_for("document.getElementById('lines').innerText.includes('the game begins')");
    assert_eq!(browser.value("document.getElementById('state').innerText"), "running");
    // A line of Lua, with a name completed and one recalled.
    browser.press("e", "KeyE", 1.0, "");
    browser.write("hero.li");
    browser.press("Tab", "Tab", 0.0, "");
    browser.wait_for("document.getElementById('lua').value === 'hero.lives'");
    browser.write(" + 39");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('#lines .answer')?.innerText === '42'");
    browser.press("ArrowUp", "ArrowUp", 0.0, "");
    assert_eq!(browser.value("document.getElementById('lua').value"), "hero.lives + 39");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelectorAll('#lines .answer').length === 2");
    browser.write("error('ouch')");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('#lines .error')?.innerText.includes('ouch')");
    // Pausing and stepping.
    browser.press("p", "KeyP", 1.0, "");
    browser.wait_for("document.getElementById('state').innerText === 'paused'");
    let mut caller = game.connect();
    let before = number(&ask(&mut caller, "status", vec![]), "frame");
    browser.press("s", "KeyS", 1.0, "");
    let end = Instant::now() + PATIENCE;
    while number(&ask(&mut caller, "status", vec![]), "frame") != before + 1.0 {
        assert!(Instant::now() < end, "no frame is played");
    }
    browser.press("p", "KeyP", 1.0, "");
    browser.wait_for("document.getElementById('state').innerText === 'running'");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn every_view_of_the_page_shows_what_is_there() {
    let Some(mut browser) = Browser::start("views-browser") else { return };
    let main = format!("{SPEAKING}{UNITS}");
    let files = [
        ("main.lua", main.as_str()),
        ("tower.unit", TOWER),
        ("small.unit", "inherit = \"tower\"\n"),
    ];
    let game = Playing::start_with("views", &files, &[]);
    browser.open(&game.session.address());
    let mut shown = Vec::new();
    let count: usize =
        browser.value("document.querySelectorAll('[role=tab]').length").parse().unwrap();
    for at in 1..=count {
        browser.press(&at.to_string(), &format!("Digit{at}"), 1.0, "");
        let name =
            browser.value("document.querySelector('[role=tab][aria-selected=true]').innerText");
        let visible = "[...document.querySelectorAll('[role=tabpanel]')].filter(p => !p.hidden)";
        assert_eq!(browser.value(&format!("{visible}.length")), "1");
        let wanted = match name.as_str() {
            "Units" => "document.querySelector('#view-units [data-unit]') !== null",
            "Resources" => "document.querySelector('#view-resources tbody tr') !== null",
            "Counters" => "document.querySelector('#view-counters tbody tr') !== null",
            "Profile" => "document.querySelector('#view-profile tbody tr') !== null",
            "Memory" => "document.querySelector('#view-memory tbody tr') !== null",
            _ => "document.querySelector('#view-frames canvas') !== null",
        };
        browser.wait_for(wanted);
        shown.push(name);
    }
    assert_eq!(shown, ["Frames", "Counters", "Profile", "Memory", "Units", "Resources"]);
    // From the tab on with the arrow keys, then into a view.
    browser.press("ArrowLeft", "ArrowLeft", 0.0, "");
    browser.wait_for("document.activeElement.innerText === 'Units'");
    browser.press("f", "KeyF", 1.0, "");
    browser.write("tower");
    browser.wait_for("document.querySelectorAll('#view-units [data-unit]').length === 1");
    browser.press("Tab", "Tab", 0.0, "");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.getElementById('inspected')?.innerText.includes('hp = 5')");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn what_stops_the_game_is_seen_on_the_page() {
    let Some(mut browser) = Browser::start("end-browser") else { return };
    let mut game = Playing::start("end", SPEAKING);
    browser.open(&game.session.address());
    ask(&mut game.connect(), "quit", vec![]);
    assert_eq!(game.wait(), 0);
    browser.wait_for("document.getElementById('state').innerText.includes('the game has ended')");
}
