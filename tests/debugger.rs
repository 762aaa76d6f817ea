//! Tests of `engine dap`, as an editor uses it: the Debug Adapter Protocol on standard input and
//! output, with a game in a process of its own.

mod conditions;
mod data;
mod editors;
mod errors;
mod flow_stops;
mod graphs;
mod hostile;
mod jumps;
mod launches;
mod requests;
mod restarts;
mod suites;
mod values;
mod workers;

use crate::game_folder::GameFolder;
use engine::foundation::hash::murmur64a;
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::resource::compile::{data_folder, read_index};
use engine::resource::index::FileStamp;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Maximum wait for the adapter, on a busy machine.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Frames of a game that a test launches: ten minutes.
const FRAMES: u32 = 36_000;

const MAIN: &str = r#"local helper = require("helper")
local count = 0
player = { hp = 10, name = "Ada" }

local function add(amount)
  local before = count
  count = count + amount
  return before
end

function init()
  print("init runs")
end

function update(dt)
  frames = (frames or 0) + 1
  local sum = add(2)
  player.hp = helper.clamp(sum, 0, 100)
end
"#;

const HELPER: &str = "local M = {}

function M.clamp(v, low, high)
  if v < low then return low end
  if v > high then return high end
  return v
end

return M
";

/// An editor that debugs a game.
struct Editor {
    adapter: Child,
    input: ChildStdin,
    messages: Receiver<SjsonTree>,
    /// Events that arrived before they were asked for.
    events: Vec<SjsonTree>,
    /// False if it reads nothing now.
    reads: Arc<AtomicBool>,
    /// True if it reads nothing ever again.
    is_closed: Arc<AtomicBool>,
    folder: GameFolder,
    last: u64,
}

fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

fn number(tree: &SjsonTree, key: &str) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => -1.0,
    }
}

fn items<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

fn read_message(input: &mut impl BufRead) -> Option<SjsonTree> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(bytes) => length = bytes.parse().expect("a length"),
            None if line.trim().is_empty() => break,
            None => panic!("{line} is no header"),
        }
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).ok()?;
    Some(json::read(&String::from_utf8(bytes).expect("UTF-8")).expect("JSON"))
}

impl Editor {
    fn start(name: &str, main: &str) -> Editor {
        let folder = GameFolder::new("dap", name);
        folder.write("game/main.lua", main);
        folder.write("game/helper.lua", HELPER);
        let mut command = folder.command(&["dap"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut adapter = command.spawn().expect("the engine starts");
        let input = adapter.stdin.take().expect("a pipe");
        let output = adapter.stdout.take().expect("a pipe");
        let (sender, messages) = channel();
        let reads = Arc::new(AtomicBool::new(true));
        let is_closed = Arc::new(AtomicBool::new(false));
        let (reads_now, is_closed_now) = (reads.clone(), is_closed.clone());
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read_message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
                while !reads_now.load(Ordering::SeqCst) {
                    if is_closed_now.load(Ordering::SeqCst) {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        });
        let events = Vec::new();
        let mut editor =
            Editor { adapter, input, messages, events, reads, is_closed, folder, last: 0 };
        editor.ask("initialize", "{\"adapterID\": \"engine\"}");
        editor
    }

    /// Starts the game and sets breakpoints in `main.lua`. Returns the answer. The game ends by
    /// itself, also if a test fails after its editor has left it.
    fn launch(&mut self, breakpoints: &str) -> SjsonTree {
        let folder = json::quoted(&self.path("").to_string_lossy());
        let ends = format!("\"engineArguments\": [\"--frames\", \"{FRAMES}\"]");
        self.ask("launch", &format!("{{\"folder\": {folder}, \"headless\": true, {ends}}}"));
        self.event("initialized");
        let set = self.set_breakpoints("main.lua", breakpoints);
        self.ask("setExceptionBreakpoints", "{\"filters\": [\"uncaught\"]}");
        self.ask("configurationDone", "{}");
        set
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join("game").join(file)
    }

    /// Writes a file of the game, and waits until it is compiled: a game that is stopped has the
    /// result when it continues.
    #[track_caller]
    fn save_and_compile(&self, file: &str, text: &str) {
        self.folder.write(&format!("game/{file}"), text);
        let data = data_folder(&self.path(""), std::env::consts::OS);
        let content = murmur64a(text.as_bytes(), 0);
        let has_it = |stamp: &FileStamp| stamp.path == file && stamp.content == content;
        let end = std::time::Instant::now() + WAIT_MAX;
        // The index is written after the game was given the result.
        while !read_index(&data).entries.iter().any(|entry| has_it(&entry.files[0])) {
            assert!(std::time::Instant::now() < end, "{file} is not compiled");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn set_breakpoints(&mut self, file: &str, breakpoints: &str) -> SjsonTree {
        let path = json::quoted(&self.path(file).to_string_lossy());
        let source = format!("{{\"path\": {path}}}");
        self.ask(
            "setBreakpoints",
            &format!("{{\"source\": {source}, \"breakpoints\": [{breakpoints}]}}"),
        )
    }

    fn send(&mut self, command: &str, arguments: &str) -> u64 {
        self.last += 1;
        let seq = self.last;
        let text = format!(
            "{{\"seq\": {seq}, \"type\": \"request\", \"command\": \"{command}\", \
             \"arguments\": {arguments}}}"
        );
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
        seq
    }

    fn write(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).expect("the adapter reads");
        self.input.flush().expect("the adapter reads");
    }

    #[track_caller]
    fn receive(&mut self) -> SjsonTree {
        self.messages.recv_timeout(WAIT_MAX).expect("the adapter answers")
    }

    /// Sends a request and returns the response, which may be a refusal.
    #[track_caller]
    fn try_ask(&mut self, command: &str, arguments: &str) -> SjsonTree {
        let seq = self.send(command, arguments) as f64;
        loop {
            let message = self.receive();
            if text(&message, "type") == "response" && number(&message, "request_seq") == seq {
                return message;
            }
            self.events.push(message);
        }
    }

    /// Sends a request and returns the body of the response.
    #[track_caller]
    fn ask(&mut self, command: &str, arguments: &str) -> SjsonTree {
        let response = self.try_ask(command, arguments);
        assert_eq!(response.get("success"), Some(&SjsonTree::Bool(true)), "{response:?}");
        response.get("body").cloned().unwrap_or(SjsonTree::Null)
    }

    /// Returns the message of a refused request.
    #[track_caller]
    fn refused(&mut self, command: &str, arguments: &str) -> String {
        let response = self.try_ask(command, arguments);
        assert_eq!(response.get("success"), Some(&SjsonTree::Bool(false)), "{response:?}");
        text(&response, "message").to_string()
    }

    /// Waits for an event and returns its body.
    #[track_caller]
    fn event(&mut self, name: &str) -> SjsonTree {
        loop {
            let found = self.events.iter().position(|event| text(event, "event") == name);
            if let Some(at) = found {
                return self.events.remove(at).get("body").cloned().unwrap_or(SjsonTree::Null);
            }
            let message = self.receive();
            self.events.push(message);
        }
    }

    /// Waits until the script stops. Returns the reason, and its location as `main.lua:3`.
    #[track_caller]
    fn stopped(&mut self) -> (String, String) {
        let reason = text(&self.event("stopped"), "reason").to_string();
        (reason, self.locations().remove(0))
    }

    /// Returns the locations of the stack.
    #[track_caller]
    fn locations(&mut self) -> Vec<String> {
        self.locations_of(THREAD)
    }

    /// Returns the locations of the stack of a thread.
    #[track_caller]
    fn locations_of(&mut self, thread: &str) -> Vec<String> {
        let stack = self.ask("stackTrace", thread);
        let location = |frame: &SjsonTree| {
            let source = frame.get("source").map_or("", |source| text(source, "name"));
            format!("{source}:{}", number(frame, "line"))
        };
        items(&stack, "stackFrames").iter().map(location).collect()
    }

    /// Sets a breakpoint in `main.lua` at the first line with this text, waits until it is reached,
    /// and removes it.
    #[track_caller]
    fn stop_at(&mut self, text_of_line: &str) {
        let main = std::fs::read_to_string(self.path("main.lua")).expect("it is there");
        let line = main.lines().position(|line| line.contains(text_of_line)).expect("a line") + 1;
        self.set_breakpoints("main.lua", &format!("{{\"line\": {line}}}"));
        assert_eq!(self.stopped().1, format!("main.lua:{line}"));
        self.set_breakpoints("main.lua", "");
    }

    /// Waits until a number that the game counts is greater, so that it plays on.
    #[track_caller]
    fn plays_on(&mut self, counter: &str) {
        let value = |editor: &mut Editor| -> f64 {
            let arguments = format!("{{\"expression\": \"{counter}\"}}");
            let shown = editor.ask("evaluate", &arguments);
            match text(&shown, "result") {
                "nil" => 0.0,
                number => number.parse().expect("a number"),
            }
        };
        let before = value(self);
        let end = std::time::Instant::now() + WAIT_MAX;
        while value(self) <= before {
            assert!(std::time::Instant::now() < end, "the game does not play on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the variables of a reference, as `name = value`.
    #[track_caller]
    fn fields(&mut self, reference: f64) -> Vec<String> {
        let found = self.ask("variables", &format!("{{\"variablesReference\": {reference}}}"));
        let variables = items(&found, "variables").iter();
        variables.map(|it| format!("{} = {}", text(it, "name"), text(it, "value"))).collect()
    }

    /// Returns the variables of a scope of the innermost function, as `name = value`.
    #[track_caller]
    fn variables(&mut self, scope: &str) -> Vec<String> {
        let reference = self.scope(scope);
        self.fields(reference)
    }

    #[track_caller]
    fn scope(&mut self, scope: &str) -> f64 {
        let scopes = self.ask("scopes", "{\"frameId\": 1}");
        let scope = items(&scopes, "scopes").iter().find(|it| text(it, "name") == scope);
        number(scope.expect("there is such a scope"), "variablesReference")
    }

    #[track_caller]
    fn evaluate(&mut self, expression: &str) -> String {
        let expression = json::quoted(expression);
        let arguments = format!("{{\"expression\": {expression}, \"frameId\": 1}}");
        text(&self.ask("evaluate", &arguments), "result").to_string()
    }

    /// Ends the session, and with it the adapter.
    #[track_caller]
    fn end(&mut self) {
        self.ask("disconnect", "{}");
        assert!(self.adapter.wait().expect("it can be asked").success());
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.adapter.kill();
        let _ = self.adapter.wait();
    }
}

const THREAD: &str = "{\"threadId\": 1}";

#[test]
fn a_session_stops_shows_steps_and_continues() {
    let mut editor = Editor::start("session", MAIN);
    let set = editor.launch("{\"line\": 7}, {\"line\": 12}");
    // No script is loaded before the breakpoints are set.
    let points = items(&set, "breakpoints");
    assert!(points.iter().all(|it| it.get("verified") == Some(&SjsonTree::Bool(false))), "{set:?}");
    assert_eq!(editor.stopped(), ("breakpoint".to_string(), "main.lua:12".to_string()));
    let verified = editor.event("breakpoint");
    let verified = verified.get("breakpoint").expect("it has one").get("verified").cloned();
    assert_eq!(verified, Some(SjsonTree::Bool(true)));
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped(), ("breakpoint".to_string(), "main.lua:7".to_string()));
    assert_eq!(editor.locations()[1], "main.lua:17");
    assert_eq!(editor.variables("Locals"), ["amount = 2", "before = 0"]);
    assert_eq!(editor.variables("Upvalues"), ["count = 0"]);
    let globals = editor.variables("Globals");
    assert!(globals.iter().any(|it| it.starts_with("player = {")), "{globals:?}");
    assert_eq!(editor.evaluate("before + amount * 10"), "20");
    assert_eq!(editor.evaluate("player.name"), "\"Ada\"");
    let locals = editor.scope("Locals");
    let arguments =
        format!("{{\"variablesReference\": {locals}, \"name\": \"amount\", \"value\": \"50\"}}");
    assert_eq!(text(&editor.ask("setVariable", &arguments), "value"), "50");
    editor.ask("next", THREAD);
    assert_eq!(editor.stopped(), ("step".to_string(), "main.lua:8".to_string()));
    assert_eq!(editor.evaluate("count"), "50");
    editor.ask("stepOut", THREAD);
    let (_, at) = editor.stopped();
    assert!(["main.lua:17", "main.lua:18"].contains(&at.as_str()), "{at}");
    editor.set_breakpoints("main.lua", "");
    editor.set_breakpoints("helper.lua", "{\"line\": 6, \"condition\": \"v == 54\"}");
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped(), ("breakpoint".to_string(), "helper.lua:6".to_string()));
    editor.set_breakpoints("helper.lua", "");
    editor.ask("continue", THREAD);
    editor.ask("pause", THREAD);
    assert_eq!(editor.stopped().0, "pause");
    editor.end();
}

#[test]
fn an_error_is_shown_before_the_game_ends() {
    let text_of_main = "function update()\n  local orc = {}\n  orc.weapon.hit = 1\nend\n";
    let mut editor = Editor::start("error", text_of_main);
    editor.launch("");
    assert_eq!(editor.stopped(), ("exception".to_string(), "main.lua:3".to_string()));
    assert_eq!(editor.variables("Locals"), ["orc = {}"]);
    let info = editor.ask("exceptionInfo", THREAD);
    assert!(text(&info, "description").contains("weapon"), "{info:?}");
    editor.ask("continue", THREAD);
    assert_eq!(number(&editor.event("exited"), "exitCode"), 1.0);
    editor.event("terminated");
    editor.end();
}

#[test]
fn bad_requests_are_refused_and_the_session_continues() {
    let mut editor = Editor::start("bad", MAIN);
    assert!(editor.refused("stackTrace", THREAD).contains("no game is debugged"));
    assert!(editor.refused("launch", "{\"folder\": \"/no/such/folder\"}").contains("no/such"));
    editor.write(b"garbage\r\n\r\n\r\nContent-Length: 2\r\n\r\n{,");
    editor.launch("{\"line\": 10000}");
    assert!(text(&editor.event("output"), "output").contains("is not a header"));
    assert!(editor.refused("scopes", "{\"frameId\": 1}").contains("no script is stopped"));
    assert!(editor.refused("launch", "{\"folder\": \".\"}").contains("debugged already"));
    assert!(editor.refused("fly", "{}").contains("does not know the request 'fly'"));
    let outside = editor.ask(
        "setBreakpoints",
        "{\"source\": {\"path\": \"/etc/hosts\"}, \"breakpoints\": [{\"line\": 1}]}",
    );
    let point = &items(&outside, "breakpoints")[0];
    assert!(text(point, "message").contains("not in the game's folder"), "{outside:?}");
    let none = editor.set_breakpoints("none.lua", "{\"line\": 1}");
    assert!(text(&items(&none, "breakpoints")[0], "message").contains("not loaded yet"));
    // The main program of the file has ended, so nothing stops at these.
    let wrong = "{\"line\": 0}, {\"line\": 4}, {\"line\": 10000}, {\"line\": -3}";
    let wrong = editor.set_breakpoints("main.lua", wrong);
    let lines: Vec<f64> =
        items(&wrong, "breakpoints").iter().map(|it| number(it, "line")).collect();
    assert_eq!(lines, [1.0, 5.0, 10000.0, 1.0]);
    editor.set_breakpoints("main.lua", "{\"line\": 17}");
    editor.stopped();
    assert!(editor.refused("variables", "{\"variablesReference\": 77}").contains("reference"));
    let endless = "{\"expression\": \"(function() while true do end end)()\", \"frameId\": 1}";
    assert!(editor.refused("evaluate", endless).contains("seconds of CPU time"));
    let hover = "{\"expression\": \"init()\", \"frameId\": 1, \"context\": \"hover\"}";
    assert!(editor.refused("evaluate", hover).contains("only names"));
    assert_eq!(editor.evaluate("1 + 1"), "2");
    editor.end();
}

#[test]
fn a_game_continues_when_its_editor_leaves() {
    let mut first = Editor::start("leaves", MAIN);
    first.launch("{\"line\": 17}");
    first.stopped();
    let folder = json::quoted(&first.path("").to_string_lossy());
    // Another editor cannot debug the stopped game.
    let mut second = Editor::start("leaves-2", MAIN);
    let attach = format!("{{\"folder\": {folder}}}");
    assert!(second.refused("attach", &attach).contains("another tool debugs"));
    first.ask("disconnect", "{\"terminateDebuggee\": false}");
    // The game plays on: its next editor finds it, and more frames.
    second.ask("attach", &attach);
    second.event("initialized");
    second.ask("configurationDone", "{}");
    let result = second.ask("evaluate", "{\"expression\": \"frames > 0\"}");
    assert_eq!(text(&result, "result"), "true");
    second.ask("disconnect", "{\"terminateDebuggee\": true}");
}
