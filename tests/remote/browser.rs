//! Tests of the page in a real browser, if one is installed: Chromium, driven through its debugging
//! protocol. Keys are pressed as by a person.

use super::{GameProcess, TOWER, UNITS, WAIT_MAX, ask, create_game, number, text};
use crate::game_folder::GameFolder;
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// Reports a skipped test directly on the terminal, because the test harness captures normal
/// output.
pub fn skip(missing: &str, package: &str) {
    let message = format!("SKIPPED: {missing} (to install it: apt-get install {package})");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{message}");
    writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
}

/// Returns true if a graphics adapter exists.
pub fn has_adapter() -> bool {
    let folders = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    folders
        .iter()
        .any(|folder| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()))
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    /// Removed on drop.
    _folder: GameFolder,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    last: u64,
    /// Errors of the page.
    pub problems: Vec<String>,
}

impl Browser {
    /// Starts a browser. Returns `None` if none is installed.
    pub fn start(name: &str) -> Option<Browser> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let found = ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|tool| {
            std::env::split_paths(&paths).map(|folder| folder.join(tool)).find(|it| it.is_file())
        });
        let Some(tool) = found else {
            skip("there is no browser, so the page was not opened", "chromium");
            return None;
        };
        let folder = create_game(name, &[("x", "")]);
        let process = Command::new(tool)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            // Two columns: a narrow page has one.
            .args(["--window-size=1280,900"])
            .args(["--remote-debugging-port=0", "--remote-allow-origins=*", "about:blank"])
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        let port_file = folder.join("DevToolsActivePort");
        let end = Instant::now() + WAIT_MAX;
        let (port, path) = loop {
            let content = std::fs::read_to_string(&port_file).unwrap_or_default();
            let mut lines = content.lines();
            if let (Some(port), Some(path)) = (lines.next(), lines.next()) {
                break (port.to_string(), path.to_string());
            }
            assert!(Instant::now() < end, "the browser tells no port");
            std::thread::sleep(Duration::from_millis(20));
        };
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
        stream.set_read_timeout(Some(WAIT_MAX)).expect("it can be set");
        let address = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client(address, stream).expect("it lets us in");
        let (session, problems) = (None, Vec::new());
        let mut browser = Browser { process, _folder: folder, socket, session, last: 0, problems };
        let created = browser.call("Target.createTarget", vec![("url", json::text("about:blank"))]);
        let target = json::text(text(&created, "targetId"));
        let flat = ("flatten", SjsonTree::Bool(true));
        let attached = browser.call("Target.attachToTarget", vec![("targetId", target), flat]);
        browser.session = Some(text(&attached, "sessionId"));
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.call(domain, vec![]);
        }
        Some(browser)
    }

    /// Calls a method of the browser, and collects errors that the page reports meanwhile.
    pub fn call(&mut self, method: &str, parameters: Vec<(&str, SjsonTree)>) -> SjsonTree {
        self.last += 1;
        let parameters = parameters.into_iter().map(|(name, value)| (name.to_string(), value));
        let mut all = vec![
            ("id".to_string(), SjsonTree::Number(self.last as f64)),
            ("method".to_string(), json::text(method)),
            ("params".to_string(), SjsonTree::Object(parameters.collect())),
        ];
        if let Some(session) = &self.session {
            all.push(("sessionId".to_string(), json::text(session)));
        }
        self.socket.send(Message::text(json::write(&SjsonTree::Object(all)))).expect("it is there");
        loop {
            let message = self.socket.read().expect("it is there");
            let Message::Text(reply) = message else { continue };
            let tree = json::read(reply.as_str()).expect("it speaks JSON");
            if tree.get("id") == Some(&SjsonTree::Number(self.last as f64)) {
                let result = tree.get("result").cloned();
                return result.unwrap_or_else(|| panic!("{method}: {reply}"));
            }
            let event_type = tree.get("method").map(json::write).unwrap_or_default();
            let failed = event_type.contains("exceptionThrown")
                || (event_type.contains("entryAdded") && reply.contains("\"level\":\"error\""));
            if failed {
                self.problems.push(reply.as_str().to_string());
            }
        }
    }

    /// Returns the value of an expression in the page, as text.
    pub fn value(&mut self, expression: &str) -> String {
        let whole = format!("String({expression})");
        let parameters = vec![("expression", json::text(whole))];
        let answer = self.call("Runtime.evaluate", parameters);
        match answer.get("result").and_then(|result| result.get("value")) {
            Some(SjsonTree::String(text)) => text.clone(),
            _ => json::write(&answer),
        }
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let end = Instant::now() + WAIT_MAX;
        while self.value(expression) != "true" {
            let page = || "document.body.innerText.slice(0, 2000)";
            if Instant::now() > end {
                let page_text = self.value(page());
                panic!("{expression} does not come; the page:\n{page_text}\n{:?}", self.problems);
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until the elements of a selector, nodes of a graph, are drawn where they stay. The
    /// page marks the drawing while it moves; a movement after a key begins some frames later.
    pub fn wait_until_still(&mut self, selector: &str) {
        std::thread::sleep(Duration::from_millis(500));
        self.wait_for(&format!(
            "(nodes => nodes.length > 0 && nodes.every(it => !it.closest('[data-drawing]')))\
             ([...document.querySelectorAll('{selector}')])"
        ));
    }

    /// Presses a key: its name, its code, its modifiers (1 Alt, 8 Shift), the text that it types.
    pub fn press(&mut self, key: &str, code: &str, modifiers: f64, typed: &str) {
        let number = match key {
            "Tab" => 9.0,
            "Enter" => 13.0,
            "ArrowLeft" => 37.0,
            "ArrowUp" => 38.0,
            "ArrowRight" => 39.0,
            "ArrowDown" => 40.0,
            _ => key.bytes().next().map_or(0.0, |byte| f64::from(byte.to_ascii_uppercase())),
        };
        for event_type in ["keyDown", "keyUp"] {
            let mut parameters = vec![
                ("type", json::text(event_type)),
                ("key", json::text(key)),
                ("code", json::text(code)),
                ("modifiers", SjsonTree::Number(modifiers)),
                ("windowsVirtualKeyCode", SjsonTree::Number(number)),
            ];
            if event_type == "keyDown" && !typed.is_empty() {
                parameters.push(("text", json::text(typed)));
            }
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", vec![("text", json::text(text))]);
    }

    /// Sets the size of the page in CSS pixels, and the zoom of the browser.
    pub fn resize(&mut self, width: f64, height: f64, zoom: f64) {
        // A zoomed page has fewer CSS pixels, each of which has more pixels of the screen.
        let size =
            [("width", width / zoom), ("height", height / zoom), ("deviceScaleFactor", zoom)];
        let size = size.map(|(name, number)| (name, SjsonTree::Number(number.floor())));
        let all = size.into_iter().chain([("mobile", SjsonTree::Bool(false))]).collect();
        self.call("Emulation.setDeviceMetricsOverride", all);
    }

    /// Sets the theme that the desktop prefers: dark or light.
    pub fn prefer_theme(&mut self, theme: &str) {
        let feature = [("name", "prefers-color-scheme"), ("value", theme)];
        let feature = json::object(feature.map(|(name, value)| (name, json::text(value))));
        let features = vec![("features", SjsonTree::Array(vec![feature]))];
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Sends an event of the mouse at the middle of an element: moves, presses or wheel.
    pub fn mouse(&mut self, event_type: &str, selector: &str, more: Vec<(&str, SjsonTree)>) {
        let middle = format!(
            "(() => {{ const box = document.querySelector('{selector}').getBoundingClientRect(); \
             return `${{box.x + box.width / 2}} ${{box.y + Math.min(box.height / 2, 60)}}` }})()"
        );
        let middle = self.value(&middle);
        let (x, y) = middle.split_once(' ').expect("the element exists");
        let at = |text: &str| SjsonTree::Number(text.parse().expect("it is a number"));
        let mut all = vec![("type", json::text(event_type)), ("x", at(x)), ("y", at(y))];
        all.extend(more);
        self.call("Input.dispatchMouseEvent", all);
    }

    pub fn open(&mut self, address: &str) {
        self.call("Page.navigate", vec![("url", json::text(address))]);
        self.wait_for("document.body && document.body.dataset.ready === 'true'");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // No data of the browser is needed any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const PRINTING: &str = "print('the game begins')\nhero = { lives = 3, level = 1 }\n";

#[test]
fn page_is_usable_with_the_keyboard_alone() {
    let Some(mut browser) = Browser::start("browser") else { return };
    let main = format!("{PRINTING}{UNITS}");
    let files = [("main.lua", main.as_str()), ("tower.unit", TOWER)];
    let create_game = GameProcess::start_with("page", &files, &[]);
    browser.open(&create_game.session.address());
    browser.wait_for("document.getElementById('lines').innerText.includes('the game begins')");
    assert_eq!(browser.value("document.getElementById('state').innerText"), "running");
    // A line of Lua, with a completed name and a recalled one.
    browser.press("e", "KeyE", 1.0, "");
    browser.write("hero.li");
    browser.press("Tab", "Tab", 0.0, "");
    browser.wait_for("document.getElementById('lua').value === 'hero.lives'");
    browser.write(" + 39");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('#lines .answer .text')?.innerText === '42'");
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
    let mut client = create_game.connect();
    let before = number(&ask(&mut client, "status", vec![]), "frame");
    browser.press("s", "KeyS", 1.0, "");
    let end = Instant::now() + WAIT_MAX;
    while number(&ask(&mut client, "status", vec![]), "frame") != before + 1.0 {
        assert!(Instant::now() < end, "no frame is played");
    }
    browser.press("p", "KeyP", 1.0, "");
    browser.wait_for("document.getElementById('state').innerText === 'running'");
    assert_eq!(browser.problems, Vec::<String>::new());
}

/// The tabs that can be seen; a narrow page has more.
pub const VISIBLE_TABS: &str =
    "[...document.querySelectorAll('#tabs [role=tab]')].filter(it => it.checkVisibility())";

/// Returns a condition for the content of a view, by the name of its tab.
fn content_of(tab: &str) -> &'static str {
    match tab {
        "Units" => "document.querySelector('#view-units [data-unit]') !== null",
        "Animation" => "document.querySelector('#view-animation .aside').innerText !== ''",
        "Flow" => "document.querySelector('.flow-note').innerText.includes('no graphs yet')",
        "Resources" => "document.querySelector('#view-resources tbody tr') !== null",
        "Navigation" => "document.querySelector('#view-navigation p').innerText !== ''",
        "Changes" => "document.querySelector('#view-changes .aside').innerText !== ''",
        "References" => "document.querySelector('#view-references [role=treeitem]') !== null",
        "Counters" => "document.querySelector('#view-counters tbody tr') !== null",
        "Profile" => "document.querySelector('#view-profile tbody tr') !== null",
        "Memory" => "document.querySelector('#view-memory tbody tr') !== null",
        _ => "document.querySelector('#view-frames canvas') !== null",
    }
}

#[test]
fn every_page_view_shows_its_content() {
    let Some(mut browser) = Browser::start("views-browser") else { return };
    let main = format!("{PRINTING}{UNITS}");
    let files = [
        ("main.lua", main.as_str()),
        ("tower.unit", TOWER),
        ("small.unit", "inherit = \"tower\"\n"),
    ];
    let create_game = GameProcess::start_with("views", &files, &[]);
    browser.open(&create_game.session.address());
    let mut shown = Vec::new();
    let count: usize = browser.value(&format!("{VISIBLE_TABS}.length")).parse().expect("a number");
    for at in 1..=count {
        if at <= 10 {
            let digit = at % 10;
            browser.press(&digit.to_string(), &format!("Digit{digit}"), 1.0, "");
        } else {
            browser.value(&format!("{VISIBLE_TABS}[{at} - 1].click()"));
        }
        let name = browser.value("document.querySelector('#tabs [aria-selected=true]').innerText");
        let visible = "[...document.querySelectorAll('[id^=view-][role=tabpanel]')]\
            .filter(it => !it.hidden)";
        assert_eq!(browser.value(&format!("{visible}.length")), "1");
        browser.wait_for(content_of(&name));
        shown.push(name);
    }
    assert_eq!(
        shown,
        [
            "Frames",
            "Counters",
            "Profile",
            "Memory",
            "Units",
            "Resources",
            "Animation",
            "Flow",
            "References",
            "Changes",
            "Navigation",
        ]
    );
    // The memory of scripts is shown on request: the mark, then the walk next to it.
    browser.press("4", "Digit4", 1.0, "");
    browser.press("Tab", "Tab", 0.0, "");
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.wait_for("document.querySelector('#view-memory tbody').innerText.includes('hero')");
    browser.press("Tab", "Tab", 0.0, "");
    let button = "document.activeElement.innerText === 'What grew in scripts?'";
    browser.wait_for(button);
    browser.press("Enter", "Enter", 0.0, "\r");
    browser.press("6", "Digit6", 1.0, "");
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
fn page_shows_why_the_game_stopped() {
    let Some(mut browser) = Browser::start("end-browser") else { return };
    let mut create_game = GameProcess::start("end", PRINTING);
    browser.open(&create_game.session.address());
    ask(&mut create_game.connect(), "quit", vec![]);
    assert_eq!(create_game.wait(), 0);
    browser.wait_for("document.getElementById('state').innerText.includes('the game has ended')");
}

/// Script that renders, and returns the keys and buttons that are down.
const INPUT_STATE: &str = "function render()\n  \
    Application.render_world(Application.main_world())\nend\n\
    function held() return Keyboard.button('a'), Mouse.button('left') end\n";

#[test]
fn page_input_reaches_the_game_and_is_released() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let Some(mut browser) = Browser::start("keys-browser") else { return };
    let files =
        [("main.lua", INPUT_STATE), ("settings.sjson", "window = { width = 64, height = 48 }")];
    let create_game = GameProcess::start_with("keys", &files, &["--renderer", "software"]);
    browser.open(&create_game.session.address());
    browser.wait_for("document.querySelector('#picture canvas').dataset.frame > 0");
    let mut client = create_game.connect();
    let mut becomes = |expected: &str| {
        let end = Instant::now() + WAIT_MAX;
        loop {
            let fields = vec![("text", json::text("held()"))];
            let values = ask(&mut client, "eval", fields).get("values").map(json::write);
            if values.as_deref() == Some(expected) {
                return;
            }
            assert!(Instant::now() < end, "{values:?} is not {expected}");
        }
    };
    let key = |event_type: &str| {
        let entries = [("type", event_type), ("key", "a"), ("code", "KeyA")];
        entries.map(|(name, word)| (name, json::text(word))).to_vec()
    };
    browser.value("document.querySelector('#picture label + label input').click()");
    browser.call("Input.dispatchKeyEvent", key("keyDown"));
    becomes("[\"1\",\"0\"]");
    browser.call("Input.dispatchKeyEvent", key("keyUp"));
    becomes("[\"0\",\"0\"]");
    browser.call("Input.dispatchKeyEvent", key("keyDown"));
    let position = "(() => { const box = document.querySelector('#picture canvas')\
        .getBoundingClientRect(); return `${box.x + box.width / 2} ${box.y + box.height / 2}` })()";
    let position = browser.value(position);
    let (x, y) = position.split_once(' ').expect("it is a place");
    let at = |text: &str| SjsonTree::Number(text.parse().expect("it is a number"));
    let mut press = vec![("type", json::text("mousePressed")), ("button", json::text("left"))];
    press.extend([("x", at(x)), ("y", at(y)), ("clickCount", SjsonTree::Number(1.0))]);
    browser.call("Input.dispatchMouseEvent", press);
    becomes("[\"1\",\"1\"]");
    // The middle of the image is the middle of the window.
    let middle = "math.floor(Mouse.axis('cursor').x + 0.5) * 100 \
        + math.floor(Mouse.axis('cursor').y + 0.5)";
    assert_eq!(super::eval(&mut create_game.connect(), middle), "3224");
    // Losing the keyboard focus releases everything.
    browser.value("document.activeElement.blur()");
    becomes("[\"0\",\"0\"]");
    assert_eq!(browser.problems, Vec::<String>::new());
}

#[test]
fn page_shows_the_picture_after_reconnecting() {
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let Some(mut browser) = Browser::start("lost-browser") else { return };
    let files =
        [("main.lua", INPUT_STATE), ("settings.sjson", "window = { width = 64, height = 48 }")];
    let create_game = GameProcess::start_with("lost", &files, &["--renderer", "software"]);
    let noted = "const Plain = WebSocket; window.sockets = []; window.WebSocket = class extends \
        Plain { constructor(...all) { super(...all); sockets.push(this); } };";
    let source = vec![("source", json::text(noted))];
    browser.call("Page.addScriptToEvaluateOnNewDocument", source);
    browser.open(&create_game.session.address());
    let frame = "document.querySelector('#picture canvas').dataset.frame";
    browser.wait_for(&format!("{frame} > 0"));
    browser.value("sockets[0].close()");
    browser.wait_for("sockets.length === 2 && document.body.dataset.ready === 'true'");
    let before = browser.value(frame);
    browser.wait_for(&format!("{frame} > {before} + 10"));
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("it can be made");
    for entry in std::fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it can be read");
        let into = to.join(entry.file_name());
        match entry.file_type().expect("it has one").is_dir() {
            true => copy(&entry.path(), &into),
            false => drop(std::fs::copy(entry.path(), into).expect("it can be written")),
        }
    }
}

/// With `ENGINE_GOLDEN_UPDATE=1` the test writes the manual's image of the page.
#[test]
fn page_shows_a_running_game() {
    if !has_adapter() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut browser = Browser::start("picture-browser").expect("it is installed");
    let arguments = ["--renderer", "auto"];
    let prepare = |folder: &Path| copy(&root.join("examples/arcade"), folder);
    let create_game = GameProcess::start_prepared("picture", &[], &arguments, &[], prepare);
    browser.resize(1500.0, 853.0, 1.0);
    browser.prefer_theme("dark");
    let address = create_game.session.address();
    browser.open(&address);
    browser.value(
        "sessionStorage.setItem('view', 'Counters'), sessionStorage.setItem('counters', \
         JSON.stringify(['frame/cpu_milliseconds', 'scopes/frame/update', 'scopes/frame/render', \
         'scopes/frame/tools', 'scripts/allocated_bytes', 'scripts/held_bytes']))",
    );
    browser.open(&address);
    let wait = |seconds: f64| std::thread::sleep(Duration::from_secs_f64(seconds));
    // Enters the first cave and walks a few steps in it.
    wait(2.0);
    browser.value("document.querySelector('#picture label + label input').click()");
    browser.press("Enter", "Enter", 0.0, "");
    wait(1.5);
    for (key, times) in [("ArrowRight", 3), ("ArrowDown", 2), ("ArrowLeft", 1), ("ArrowDown", 3)] {
        for _ in 0..times {
            let down = |event_type: &str| {
                [("type", event_type), ("key", key), ("code", key)].map(|(a, b)| (a, json::text(b)))
            };
            browser.call("Input.dispatchKeyEvent", down("keyDown").to_vec());
            wait(0.1);
            browser.call("Input.dispatchKeyEvent", down("keyUp").to_vec());
            wait(0.1);
        }
    }
    browser.press("e", "KeyE", 1.0, "");
    let lines =
        ["Gui.resolution(Application.main_gui())", "Memory.snapshot().held", "help perfhud"];
    for line in lines {
        browser.write(line);
        browser.press("Enter", "Enter", 0.0, "\r");
        wait(0.3);
    }
    browser.write("Sprite.p");
    browser.press("Tab", "Tab", 0.0, "");
    wait(1.0);
    let taken = browser.call("Page.captureScreenshot", vec![("format", json::text("png"))]);
    let png = super::inspection::unbase64(&text(&taken, "data"));
    // Width and height are in a PNG's first chunk.
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((side(16), side(20)), (1500, 853));
    if std::env::var("ENGINE_GOLDEN_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(root.join("docs/pictures/tools.png"), png).expect("it can be written");
    }
}
