//! Tests of the debugger in workers.

use super::{Editor, THREAD, items, number, text};
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;
use engine::system::remote::endpoint_file::EndpointFile;
use std::time::Instant;

const MAIN: &str = r#"frames, results = 0, 0
local worker
function update()
  frames = frames + 1
  if not worker then
    worker = Worker.start("jobs/count", { most = 3 })
  elseif Worker.status(worker) ~= "running" then
    result, problem = Worker.result(worker)
    worker = nil
    results = results + 1
  end
end
"#;

const COUNT: &str = r#"local step = 1
local function add(sum, i)
  local before = sum
  return before + i * step
end
return function(data)
  local sum = 0
  for i = 1, data.most do
    sum = add(sum, i)
  end
  return sum
end
"#;

/// The thread of the first worker.
const FIRST_WORKER: f64 = 2000.0;

fn start(name: &str) -> Editor {
    let editor = Editor::start(name, MAIN);
    editor.folder.write("game/jobs/count.lua", COUNT);
    editor
}

#[test]
fn a_worker_stops_shows_steps_and_continues() {
    let mut editor = start("worker");
    editor.launch("");
    editor.set_breakpoints("jobs/count.lua", "{\"line\": 4, \"condition\": \"i == 2\"}");
    let stop = editor.event("stopped");
    assert_eq!(text(&stop, "reason"), "breakpoint");
    let thread = number(&stop, "threadId");
    assert!(thread > FIRST_WORKER, "{stop:?}");
    let of_worker = format!("{{\"threadId\": {thread}}}");
    let threads = editor.ask("threads", "{}");
    let names: Vec<&str> = items(&threads, "threads").iter().map(|it| text(it, "name")).collect();
    assert!(names.contains(&"main"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("worker jobs")), "{names:?}");
    let stack = editor.ask("stackTrace", &of_worker);
    let lines: Vec<f64> =
        items(&stack, "stackFrames").iter().map(|frame| number(frame, "line")).collect();
    assert_eq!(lines[..2], [4.0, 9.0]);
    assert_eq!(editor.variables("Locals"), ["sum = 1", "i = 2", "before = 1"]);
    assert_eq!(editor.variables("Upvalues"), ["step = 1"]);
    assert_eq!(editor.evaluate("before + i * 10"), "21");
    // Other tools see where, and that sounds pause.
    let session = EndpointFile::read(&editor.path("")).expect("the game lets tools in");
    let mut tool = RemoteClient::connect(&session).expect("a second connection");
    let mut status =
        || tool.request("status", vec![], super::WAIT_MAX, |_| ()).expect("it answers");
    let end = Instant::now() + super::WAIT_MAX;
    while status().get("sound_held") != Some(&SjsonTree::Bool(true)) {
        assert!(Instant::now() < end, "{:?}", status());
    }
    assert_eq!(text(&status(), "stopped"), "jobs/count.lua:4");
    let upvalues = editor.scope("Upvalues");
    let set =
        format!("{{\"variablesReference\": {upvalues}, \"name\": \"step\", \"value\": \"5\"}}");
    assert_eq!(text(&editor.ask("setVariable", &set), "value"), "5");
    // The game waits, and has no stack meanwhile.
    let main = editor.ask("stackTrace", THREAD);
    assert!(items(&main, "stackFrames").is_empty(), "{main:?}");
    editor.ask("next", &of_worker);
    let stop = editor.event("stopped");
    assert_eq!((text(&stop, "reason"), number(&stop, "threadId")), ("step", thread));
    assert_eq!(editor.locations_of(&of_worker)[0], "count.lua:9");
    assert_eq!(editor.evaluate("i"), "2");
    // A breakpoint that is set meanwhile is in the worker at once.
    editor.set_breakpoints("jobs/count.lua", "{\"line\": 11}");
    editor.ask("continue", &of_worker);
    editor.event("stopped");
    assert_eq!(editor.locations_of(&of_worker)[0], "count.lua:11");
    assert_eq!(editor.evaluate("sum"), "26");
    editor.set_breakpoints("jobs/count.lua", "");
    editor.ask("continue", &of_worker);
    editor.plays_on("results");
    assert_eq!(status().get("sound_held"), Some(&SjsonTree::Bool(false)));
    editor.end();
}

#[test]
fn commands_set_breakpoints_in_workers() {
    let mut editor = start("worker-command");
    editor.launch("{\"line\": 4}");
    editor.event("stopped");
    let command = "{\"expression\": \"break jobs/count.lua:4 i == 3\", \"frameId\": 1, \
                    \"context\": \"repl\"}";
    editor.ask("evaluate", command);
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    let stop = editor.event("stopped");
    assert!(number(&stop, "threadId") > FIRST_WORKER, "{stop:?}");
    assert_eq!(editor.evaluate("i"), "3");
    editor.end();
}

#[test]
fn a_running_worker_is_paused_and_cancelled() {
    let main = "frames = 0\nfunction update()\n  frames = frames + 1\n  \
        worker = worker or Worker.start(\"jobs/endless\", {}, { seconds = 600 })\nend\n";
    let mut editor = Editor::start("worker-pause", main);
    editor.folder.write(
        "game/jobs/endless.lua",
        "return function()\n  local n = 0\n  while true do\n    n = n + 1\n  end\nend\n",
    );
    editor.launch("");
    editor.plays_on("frames");
    let id = loop {
        let threads = editor.ask("threads", "{}");
        let ids = items(&threads, "threads").iter().map(|it| number(it, "id"));
        if let Some(id) = ids.into_iter().find(|id| *id > FIRST_WORKER) {
            break id;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let of_worker = format!("{{\"threadId\": {id}}}");
    editor.ask("pause", &of_worker);
    let stop = editor.event("stopped");
    assert_eq!((text(&stop, "reason"), number(&stop, "threadId")), ("pause", id));
    assert!(editor.evaluate("n").parse::<f64>().expect("a number") > 0.0);
    // Compiled code is left for a breakpoint that is set while it runs.
    editor.ask("continue", &of_worker);
    editor.set_breakpoints("jobs/endless.lua", "{\"line\": 4, \"condition\": \"n % 7 == 0\"}");
    let stop = editor.event("stopped");
    assert_eq!(number(&stop, "threadId"), id);
    editor.set_breakpoints("jobs/endless.lua", "");
    // The game cancels what is stopped.
    editor.ask("evaluate", "{\"expression\": \"Worker.cancel(worker)\"}");
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_worker_continues_when_the_editor_leaves() {
    let mut editor = start("worker-leave");
    editor.launch("");
    editor.set_breakpoints("jobs/count.lua", "{\"line\": 4}");
    editor.event("stopped");
    let folder = engine::foundation::json::quoted(&editor.path("").to_string_lossy());
    editor.ask("disconnect", "{\"terminateDebuggee\": false}");
    let mut second = Editor::start("worker-leave-2", MAIN);
    second.ask("attach", &format!("{{\"folder\": {folder}}}"));
    second.event("initialized");
    second.ask("configurationDone", "{}");
    second.plays_on("results");
    // The second editor stops workers, too.
    second.folder.write("unused", "");
    let path = engine::foundation::json::quoted(&editor.path("jobs/count.lua").to_string_lossy());
    second.ask(
        "setBreakpoints",
        &format!("{{\"source\": {{\"path\": {path}}}, \"breakpoints\": [{{\"line\": 4}}]}}"),
    );
    assert!(number(&second.event("stopped"), "threadId") > FIRST_WORKER);
    second.ask("disconnect", "{\"terminateDebuggee\": true}");
}

const WAITING: &str = r#"return function()
  local parent = Worker.parent()
  while true do
    local message = Worker.wait(parent)
    Worker.send(parent, message + 1)
  end
end
"#;

fn start_waiting(name: &str) -> Editor {
    let main = "frames, answers = 0, 0\nfunction init()\n  \
        worker = Worker.start(\"jobs/waiting\", {}, { seconds = 600 })\nend\n\
        function update()\n  frames = frames + 1\n  \
        if once or always then Worker.send(worker, 1) end\n  once = nil\n  \
        if Worker.receive(worker) then answers = answers + 1 end\n  \
        if asks then\n    asks = nil\n    Worker.send(worker, 5)\n    \
        answer = Worker.wait(worker)\n  end\nend\n";
    let editor = Editor::start(name, main);
    editor.folder.write("game/jobs/waiting.lua", WAITING);
    editor
}

#[test]
fn a_waiting_worker_forgets_an_ended_session() {
    let mut editor = start_waiting("worker-sessions");
    editor.launch("");
    editor.set_breakpoints("jobs/waiting.lua", "{\"line\": 5}");
    editor.ask("evaluate", "{\"expression\": \"once = true\"}");
    let thread = number(&editor.event("stopped"), "threadId");
    editor.ask("continue", &format!("{{\"threadId\": {thread}}}"));
    editor.plays_on("frames");
    let folder = engine::foundation::json::quoted(&editor.path("").to_string_lossy());
    editor.ask("disconnect", "{\"terminateDebuggee\": false}");
    let mut second = Editor::start("worker-sessions-2", MAIN);
    second.ask("attach", &format!("{{\"folder\": {folder}}}"));
    second.event("initialized");
    second.ask("configurationDone", "{}");
    // The worker ran no instruction between the two.
    second.ask("evaluate", "{\"expression\": \"always = true\"}");
    second.plays_on("answers");
    assert!(!second.events.iter().any(|event| text(event, "event") == "stopped"));
    second.ask("disconnect", "{\"terminateDebuggee\": true}");
}

#[test]
fn a_worker_continues_whatever_else_the_tool_has_sent() {
    let mut editor = start_waiting("worker-waited-for");
    editor.launch("");
    editor.set_breakpoints("jobs/waiting.lua", "{\"line\": 5}");
    editor.ask("evaluate", "{\"expression\": \"asks = true\"}");
    let thread = number(&editor.event("stopped"), "threadId");
    assert_eq!(editor.evaluate("message"), "5");
    // The game waits for the worker, and takes none of these.
    for _ in 0..100 {
        editor.send("evaluate", "{\"expression\": \"1\"}");
    }
    editor.ask("continue", &format!("{{\"threadId\": {thread}}}"));
    editor.plays_on("frames");
    let answer = editor.ask("evaluate", "{\"expression\": \"answer\"}");
    assert_eq!(text(&answer, "result"), "6");
    editor.end();
}

#[test]
fn a_worker_gets_the_lines_of_the_text_that_it_loads() {
    let main = "local helper = require(\"helper\")\nframes = 0\nfunction init()\n  \
        early = Worker.start(\"jobs/early\", {}, { seconds = 600 })\n  \
        late = Worker.start(\"jobs/late\", {}, { seconds = 600 })\nend\n\
        function update()\n  frames = frames + 1\n  \
        if asks then Worker.send(asks, 3) end\n  asks = nil\nend\n";
    let job = "  local parent = Worker.parent()\n  while true do\n    \
        local helper = require(\"helper\")\n    \
        helper.clamp(Worker.wait(parent), 0, 5)\n  end\nend\n";
    let mut editor = Editor::start("worker-moved", main);
    // One has loaded the file before it is saved, the other one loads it afterwards.
    editor.folder.write("game/jobs/early.lua", format!("return function()\n{job}"));
    let late = format!("return function()\n  Worker.wait(Worker.parent())\n{job}");
    editor.folder.write("game/jobs/late.lua", late);
    editor.launch("");
    editor.plays_on("frames");
    editor.set_breakpoints("helper.lua", "{\"line\": 6}");
    let ask = |editor: &mut Editor, worker: &str| {
        let expression = format!("{{\"expression\": \"asks = {worker}\"}}");
        editor.ask("evaluate", &expression);
    };
    let stops = |editor: &mut Editor, variables: &str| {
        let thread = number(&editor.event("stopped"), "threadId");
        assert!(thread > FIRST_WORKER);
        let of_worker = format!("{{\"threadId\": {thread}}}");
        assert_eq!(editor.variables("Locals"), ["v = 3", "low = 0", "high = 5"], "{variables}");
        let at = editor.locations_of(&of_worker).remove(0);
        editor.ask("continue", &of_worker);
        at
    };
    ask(&mut editor, "early");
    assert_eq!(stops(&mut editor, "before"), "helper.lua:6");
    let longer = super::HELPER.replace("local M = {}\n", "local M = {}\n\n-- A comment.\n");
    editor.folder.write("game/helper.lua", longer);
    loop {
        let event = editor.event("breakpoint");
        let point = event.get("breakpoint").expect("it has one");
        if number(point, "line") == 8.0 {
            break;
        }
    }
    ask(&mut editor, "early");
    assert_eq!(stops(&mut editor, "its old code"), "helper.lua:6");
    ask(&mut editor, "late");
    editor.plays_on("frames");
    ask(&mut editor, "late");
    let at = stops(&mut editor, "loaded after the save");
    // It may have either text, and stops at the same statement.
    assert!(["helper.lua:6", "helper.lua:8"].contains(&at.as_str()), "{at}");
    editor.end();
}

#[test]
fn a_waiting_worker_gets_breakpoints_that_have_moved_since() {
    let main = "local helper = require(\"helper\")\nframes, loaded = 0, 0\nfunction init()\n  \
        worker = Worker.start(\"jobs/load\", {}, { seconds = 600 })\nend\n\
        function update()\n  frames = frames + 1\n  \
        if Worker.receive(worker) then loaded = 1 end\n  \
        if asks then Worker.send(worker, 3) end\n  asks = nil\nend\n";
    let job = "return function()\n  local parent, helper = Worker.parent(), require(\"helper\")\n  \
        Worker.send(parent, 1)\n  helper.clamp(Worker.wait(parent), 0, 5)\nend\n";
    let mut editor = Editor::start("worker-missed", main);
    editor.folder.write("game/jobs/load.lua", job);
    editor.launch("");
    let end = Instant::now() + super::WAIT_MAX;
    let loaded = "{\"expression\": \"loaded\"}";
    while text(&editor.ask("evaluate", loaded), "result") != "1" {
        assert!(Instant::now() < end, "the worker loads nothing");
    }
    // The worker waits in the engine, and takes neither of the two lists before it has a message.
    editor.set_breakpoints("helper.lua", "{\"line\": 6}");
    let longer = super::HELPER.replace("local M = {}\n", "local M = {}\n\n-- A comment.\n");
    editor.folder.write("game/helper.lua", longer);
    loop {
        let event = editor.event("breakpoint");
        let point = event.get("breakpoint").expect("it has one");
        if number(point, "line") == 8.0 {
            break;
        }
    }
    editor.ask("evaluate", "{\"expression\": \"asks = true\"}");
    let thread = number(&editor.event("stopped"), "threadId");
    assert!(thread > FIRST_WORKER);
    let at = editor.locations_of(&format!("{{\"threadId\": {thread}}}")).remove(0);
    assert_eq!(at, "helper.lua:6", "the line in the code that it has loaded");
    editor.end();
}

#[test]
fn scripts_stop_one_after_the_other() {
    let mut editor = start("worker-both");
    editor.launch("{\"line\": 4}");
    editor.set_breakpoints("jobs/count.lua", "{\"line\": 4}");
    let mut stops = [0, 0];
    while stops.iter().any(|count| *count < 3) {
        let thread = number(&editor.event("stopped"), "threadId");
        stops[usize::from(thread > FIRST_WORKER)] += 1;
        assert!(stops.iter().sum::<usize>() < 100, "{stops:?}");
        let arguments = format!("{{\"threadId\": {thread}}}");
        assert!(editor.locations_of(&arguments)[0].ends_with(":4"));
        // The game, which may wait for its own stop, answers this.
        editor.set_breakpoints("jobs/count.lua", "{\"line\": 4}");
        editor.ask("continue", &arguments);
    }
    editor.end();
}
