//! Tests of single requests of the protocol, and of breakpoints that have no line.

use super::{Editor, MAIN, THREAD, items, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

/// A game with a unit, functions of the engine in locals, and a coroutine that waits.
const WORLD: &str = r##"local time, context = Application.time_since_launch, Script.context
local state = { score = 0 }
frames = 0
local box

local function wait(first)
  local second = coroutine.yield(first)
  return second
end

local waiting = coroutine.create(wait)

function init()
  box = World.spawn_unit(Application.main_world(), "core/units/empty")
  Unit.set_data(box, "hp", 100)
  coroutine.resume(waiting, 7)
end

local function play(...)
  local args = select("#", ...)
  state.score = state.score + 1
  Unit.set_data(box, "hp", 100 - state.score)
  return args
end

function update(dt)
  frames = frames + 1
  local now = time()
  context("When playing:", "once", play, now, "text", nil)
end
"##;

fn start(name: &str) -> Editor {
    Editor::start(name, WORLD)
}

fn message(tree: &SjsonTree) -> Vec<String> {
    items(tree, "breakpoints").iter().map(|it| text(it, "message").to_string()).collect()
}

#[test]
fn functions_of_the_game_and_the_engine_stop() {
    let mut editor = start("functions");
    editor.launch("");
    let names = ["play", "Application.time_since_launch", "Script.context", "math.floor", "nobody"];
    let points: Vec<String> =
        names.iter().map(|name| format!("{{\"name\": \"{name}\"}}")).collect();
    let points = format!("{{\"breakpoints\": [{}]}}", points.join(", "));
    editor.plays_on("frames");
    let set = editor.ask("setFunctionBreakpoints", &points);
    let verified: Vec<bool> = items(&set, "breakpoints")
        .iter()
        .map(|it| it.get("verified") == Some(&SjsonTree::Bool(true)))
        .collect();
    assert_eq!(verified, [true, true, true, false, false], "{set:?}");
    assert!(message(&set)[3].contains("Lua's library"), "{set:?}");
    // Both functions of the engine are in locals of the script.
    let mut found = Vec::new();
    for _ in 0..6 {
        let (reason, at) = editor.stopped();
        assert_eq!(reason, "function breakpoint");
        found.push(at);
        editor.ask("continue", THREAD);
    }
    for line in ["main.lua:20", "main.lua:28", "main.lua:29"] {
        assert_eq!(found.iter().filter(|at| *at == line).count(), 2, "{found:?}");
    }
    editor.ask(
        "setFunctionBreakpoints",
        "{\"breakpoints\": [{\"name\": \"play\", \
        \"condition\": \"state.score >= 10\"}]}",
    );
    loop {
        editor.stopped();
        let score: f64 = editor.evaluate("frames").parse().unwrap();
        if score > 8.0 {
            break;
        }
        editor.ask("continue", THREAD);
    }
    editor.ask("setFunctionBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn function_breakpoints_stop_after_their_list_is_sent_again() {
    let mut editor = start("functions-again");
    editor.launch("");
    editor.plays_on("frames");
    // A native function of the engine, and one of its prelude.
    for (name, line) in
        [("Application.time_since_launch", "main.lua:28"), ("Script.context", "main.lua:29")]
    {
        let points = format!("{{\"breakpoints\": [{{\"name\": \"{name}\"}}]}}");
        editor.ask("setFunctionBreakpoints", &points);
        assert_eq!(editor.stopped().1, line);
        for _ in 0..2 {
            let set = editor.ask("setFunctionBreakpoints", &points);
            let verified = items(&set, "breakpoints")[0].get("verified");
            assert_eq!(verified, Some(&SjsonTree::Bool(true)), "{set:?}");
            editor.ask("continue", THREAD);
            assert_eq!(editor.stopped().1, line);
        }
        editor.ask("setFunctionBreakpoints", "{\"breakpoints\": []}");
        editor.ask("continue", THREAD);
        editor.plays_on("frames");
    }
    editor.end();
}

#[test]
fn values_stop_scripts_when_they_change() {
    let mut editor = start("data");
    editor.launch("");
    editor.stop_at("state.score = state.score + 1");
    let engine = editor.scope("Engine");
    let fields = editor.ask("variables", &format!("{{\"variablesReference\": {engine}}}"));
    let reference = |tree: &SjsonTree, name: &str| {
        let found = items(tree, "variables").iter().find(|it| text(it, "name") == name);
        number(found.unwrap_or_else(|| panic!("{name} in {tree:?}")), "variablesReference")
    };
    for name in ["unit", "world", "main_world", "counters"] {
        assert!(items(&fields, "variables").iter().any(|it| text(it, "name") == name), "{name}");
    }
    let contexts = items(&fields, "variables").iter().find(|it| text(it, "name") == "contexts");
    assert!(text(contexts.expect("there is one"), "value").contains("When playing"), "{fields:?}");
    let unit = reference(&fields, "unit");
    let unit = editor.ask("variables", &format!("{{\"variablesReference\": {unit}}}"));
    let data = reference(&unit, "data");
    let info = format!("{{\"variablesReference\": {data}, \"name\": \"hp\"}}");
    let exact = editor.ask("dataBreakpointInfo", &info);
    assert_eq!(text(&exact, "description"), "hp: compared after each Unit.set_data");
    let upvalues = editor.scope("Upvalues");
    let upvalues = editor.ask("variables", &format!("{{\"variablesReference\": {upvalues}}}"));
    let state = reference(&upvalues, "state");
    let info = format!("{{\"variablesReference\": {state}, \"name\": \"score\"}}");
    let slow = editor.ask("dataBreakpointInfo", &info);
    assert!(text(&slow, "description").contains("slow"), "{slow:?}");
    let locals = editor.scope("Locals");
    let info = format!("{{\"variablesReference\": {locals}, \"name\": \"args\"}}");
    let local = editor.ask("dataBreakpointInfo", &info);
    assert!(text(&local, "description").contains("slow"), "{local:?}");
    let info = format!("{{\"variablesReference\": {engine}, \"name\": \"unit\"}}");
    let none = editor.ask("dataBreakpointInfo", &info);
    assert_eq!(none.get("dataId"), Some(&SjsonTree::Null), "{none:?}");
    let set = |editor: &mut Editor, data: &SjsonTree| {
        let id = json::quoted(text(data, "dataId"));
        let set = editor
            .ask("setDataBreakpoints", &format!("{{\"breakpoints\": [{{\"dataId\": {id}}}]}}"));
        let point = items(&set, "breakpoints")[0].clone();
        assert_eq!(point.get("verified"), Some(&SjsonTree::Bool(true)), "{set:?}");
        point
    };
    set(&mut editor, &exact);
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped(), ("data breakpoint".to_string(), "main.lua:22".to_string()));
    let point = set(&mut editor, &slow);
    assert!(text(&point, "message").contains("slow"), "{point:?}");
    editor.ask("continue", THREAD);
    // The line after the one that changes it.
    assert_eq!(editor.stopped(), ("data breakpoint".to_string(), "main.lua:22".to_string()));
    editor.ask("setDataBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

/// A game with a local that hides an upvalue, and a unit in a local.
const HIDDEN: &str = r#"frames = 0
local box, value = nil, 1

function init()
  box = World.spawn_unit(Application.main_world(), "core/units/empty")
  Unit.set_data(box, "hp", 100)
end

local function play(unit)
  local outer = value
  local value = outer * 10
  frames = frames + 1
  return value
end

function update()
  play(box)
end
"#;

#[test]
fn variables_are_set_in_the_scope_that_shows_them() {
    let mut editor = Editor::start("set", HIDDEN);
    editor.launch("");
    editor.stop_at("frames = frames + 1");
    let set = |reference: f64, name: &str, value: &str| {
        format!(
            "{{\"variablesReference\": {reference}, \"name\": \"{name}\", \
             \"value\": \"{value}\"}}"
        )
    };
    let upvalues = editor.scope("Upvalues");
    editor.ask("setVariable", &set(upvalues, "value", "5"));
    assert_eq!(editor.variables("Upvalues"), ["value = 5"]);
    let locals = editor.variables("Locals");
    assert!(locals.contains(&"value = 10".to_string()), "{locals:?}");
    assert!(editor.refused("setVariable", &set(upvalues, "outer", "5")).contains("no variable"));
    let unit = editor.evaluate("unit");
    let engine = editor.scope("Engine");
    let refused = editor.refused("setVariable", &set(engine, "unit", "7"));
    assert!(refused.contains("cannot be changed here"), "{refused}");
    let inner = |editor: &mut Editor, outer: f64, name: &str| {
        let found = editor.ask("variables", &format!("{{\"variablesReference\": {outer}}}"));
        let found = items(&found, "variables").iter().find(|it| text(it, "name") == name).cloned();
        number(&found.unwrap_or_else(|| panic!("no {name}")), "variablesReference")
    };
    let handle = inner(&mut editor, engine, "unit");
    let refused = editor.refused("setVariable", &set(handle, "outer", "7"));
    assert!(refused.contains("cannot be changed here"), "{refused}");
    assert_eq!(editor.evaluate("unit"), unit);
    assert_eq!(editor.evaluate("outer"), "1");
    // The data of a unit is a table.
    let data = inner(&mut editor, handle, "data");
    editor.ask("setVariable", &set(data, "hp", "50"));
    assert_eq!(editor.evaluate("Unit.get_data(unit, \"hp\")"), "50");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn coroutines_are_threads_with_stacks_and_variables() {
    let mut editor = start("threads");
    editor.launch("");
    editor.stop_at("local args");
    let threads = editor.ask("threads", "{}");
    let names: Vec<&str> = items(&threads, "threads").iter().map(|it| text(it, "name")).collect();
    assert_eq!(names, ["main", "coroutine main.lua:7"]);
    let id = number(&items(&threads, "threads")[1], "id");
    let stack = editor.ask("stackTrace", &format!("{{\"threadId\": {id}}}"));
    let frame = items(&stack, "stackFrames")
        .iter()
        .find(|it| text(it, "name") != "yield" && number(it, "line") == 7.0)
        .expect("the waiting function")
        .clone();
    let frame = number(&frame, "id");
    let scopes = editor.ask("scopes", &format!("{{\"frameId\": {frame}}}"));
    let locals = number(&items(&scopes, "scopes")[0], "variablesReference");
    assert_eq!(editor.fields(locals), ["first = 7"]);
    assert!(editor.refused("stackTrace", "{\"threadId\": 900}").contains("no such coroutine"));
    // Values that `...` has are variables, too.
    let locals = editor.variables("Locals");
    assert!(locals.iter().any(|it| it.starts_with("(vararg 2) = \"text\"")), "{locals:?}");
    editor.ask("continue", THREAD);
    editor.end();
}

#[test]
fn expressions_are_set_completed_and_copied() {
    let mut editor = Editor::start("expressions", MAIN);
    editor.launch("");
    editor.stop_at("count = count + amount");
    let set = "{\"expression\": \"player.hp\", \"value\": \"before + 40\", \"frameId\": 1}";
    assert_eq!(text(&editor.ask("setExpression", set), "value"), editor.evaluate("before + 40"));
    let set = "{\"expression\": \"amount\", \"value\": \"3\", \"frameId\": 1}";
    editor.ask("setExpression", set);
    assert_eq!(editor.evaluate("amount"), "3");
    let wrong = "{\"expression\": \"1\", \"value\": \"3\", \"frameId\": 1}";
    editor.refused("setExpression", wrong);
    let complete = |editor: &mut Editor, typed: &str| -> Vec<String> {
        let column = typed.len() + 1;
        let arguments = format!("{{\"text\": \"{typed}\", \"column\": {column}, \"frameId\": 1}}");
        let found = editor.ask("completions", &arguments);
        items(&found, "targets").iter().map(|it| text(it, "label").to_string()).collect()
    };
    assert_eq!(complete(&mut editor, "print(amo"), ["amount"]);
    assert!(complete(&mut editor, "cou").contains(&"count".to_string()));
    assert_eq!(complete(&mut editor, "player.na"), ["name"]);
    let copy = "{\"expression\": \"player\", \"frameId\": 1, \"context\": \"clipboard\"}";
    assert!(text(&editor.ask("evaluate", copy), "result").contains("name = \"Ada\""));
    editor.end();
}

#[test]
fn console_commands_debug_from_the_editor() {
    let mut editor = Editor::start("commands", MAIN);
    editor.launch("");
    editor.stop_at("count = count + amount");
    let command = |editor: &mut Editor, line: &str| {
        let line = json::quoted(line);
        let arguments =
            format!("{{\"expression\": {line}, \"frameId\": 1, \"context\": \"repl\"}}");
        editor.ask("evaluate", &arguments)
    };
    let logged = |editor: &mut Editor, wanted: &str| loop {
        if text(&editor.event("output"), "output").contains(wanted) {
            break;
        }
    };
    command(&mut editor, "stack");
    logged(&mut editor, "add  main.lua:7");
    command(&mut editor, "locals");
    logged(&mut editor, "local amount = 2");
    command(&mut editor, "break main.lua:8 amount == 2");
    logged(&mut editor, "breakpoint at main.lua:8");
    command(&mut editor, "break");
    logged(&mut editor, "main.lua:8 if amount == 2");
    // A variable of this name is not a command.
    assert_eq!(text(&command(&mut editor, "count"), "result"), editor.evaluate("count"));
    command(&mut editor, "continue");
    editor.event("stopped");
    command(&mut editor, "break main.lua:8");
    logged(&mut editor, "removed the breakpoint");
    command(&mut editor, "step");
    editor.event("stopped");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn sources_of_scripts_and_the_engine_are_listed() {
    let mut editor = start("sources");
    editor.launch("");
    editor.stop_at("local args");
    let sources = editor.ask("loadedSources", "{}");
    let names: Vec<&str> = items(&sources, "sources").iter().map(|it| text(it, "name")).collect();
    assert_eq!(names[0], "main.lua");
    assert!(names.contains(&"[engine] boot/core"), "{names:?}");
    let stack = editor.ask("stackTrace", THREAD);
    let engine = items(&stack, "stackFrames")
        .iter()
        .find(|it| text(it, "presentationHint") == "subtle" && it.get("source").is_some())
        .expect("a function of the engine")
        .clone();
    let source = engine.get("source").unwrap().clone();
    let reference = number(&source, "sourceReference");
    let content = editor.ask("source", &format!("{{\"sourceReference\": {reference}}}"));
    let line = number(&engine, "line") as usize;
    let content = text(&content, "content");
    assert!(content.lines().nth(line - 1).is_some_and(|it| it.contains('(')), "{engine:?}");
    editor.end();
}

#[test]
fn a_frame_and_the_game_start_again() {
    let mut editor = Editor::start("again", MAIN);
    editor.launch("{\"line\": 12}");
    assert_eq!(editor.stopped().1, "main.lua:12");
    let refused = editor.refused("restartFrame", "{\"frameId\": 1}");
    assert!(refused.contains("no frame is played now"), "{refused}");
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    editor.stop_at("player.hp =");
    let frames: f64 = editor.evaluate("frames").parse().unwrap();
    editor.set_breakpoints("main.lua", "{\"line\": 16}");
    editor.ask("restartFrame", "{\"frameId\": 1}");
    assert_eq!(editor.stopped(), ("breakpoint".to_string(), "main.lua:16".to_string()));
    // What the script has changed stays changed.
    assert_eq!(editor.evaluate("frames"), format!("{frames}"));
    editor.ask("restart", "{}");
    loop {
        let (_, at) = editor.stopped();
        assert_eq!(at, "main.lua:16");
        if editor.evaluate("frames") == "nil" {
            break;
        }
        editor.ask("continue", THREAD);
    }
    editor.end();
}

/// Sends a request, and what cancels it, together: the game cannot answer in between. Returns its
/// number.
fn send_and_cancel(editor: &mut Editor, command: &str, arguments: &str) -> f64 {
    let waiting = editor.last + 1;
    // The first ones cancel nothing.
    let none = "{\"requestId\": 100000}".to_string();
    let cancels = [none, "{}".to_string(), format!("{{\"requestId\": {waiting}}}")];
    let cancels = cancels.iter().map(|arguments| ("cancel", arguments.as_str()));
    let mut bytes = Vec::new();
    for (command, arguments) in std::iter::once((command, arguments)).chain(cancels) {
        editor.last += 1;
        let message = format!(
            "{{\"seq\": {}, \"type\": \"request\", \"command\": \"{command}\", \
             \"arguments\": {arguments}}}",
            editor.last
        );
        bytes.extend(format!("Content-Length: {}\r\n\r\n{message}", message.len()).bytes());
    }
    editor.write(&bytes);
    waiting as f64
}

#[test]
fn a_request_that_waits_can_be_cancelled() {
    let main = "frames, score = 0, 1\nlocal slow = setmetatable({}, { __tostring = function()\n  \
        while true do end\nend })\nfunction update()\n  local shown = slow\n  \
        frames = frames + 1\nend\n";
    let mut editor = Editor::start("cancel", main);
    editor.launch("{\"line\": 7}");
    editor.stopped();
    let locals = editor.scope("Locals");
    let variables = format!("{{\"variablesReference\": {locals}}}");
    let waiting = send_and_cancel(&mut editor, "variables", &variables);
    editor.ask("threads", "{}");
    let answers = |editor: &Editor, waiting: f64| {
        let answers = editor.events.iter().filter(|it| text(it, "type") == "response");
        let answers = answers.filter(|it| number(it, "request_seq") == waiting);
        answers.map(|it| text(it, "message").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(answers(&editor, waiting), ["cancelled"]);
    // The game's own answer is left out.
    assert_eq!(editor.evaluate("1 + 1"), "2");
    assert_eq!(answers(&editor, waiting), ["cancelled"]);
    // So can a look at what the mouse points at, but no line that may change something. The game is
    // still busy with this one.
    editor.send("variables", &variables);
    let mouse = "{\"expression\": \"score\", \"frameId\": 1, \"context\": \"hover\"}";
    let line = "{\"expression\": \"score = 5\", \"frameId\": 1, \"context\": \"watch\"}";
    let mouse = send_and_cancel(&mut editor, "evaluate", mouse);
    let line = send_and_cancel(&mut editor, "evaluate", line);
    assert_eq!(editor.evaluate("score"), "5");
    assert_eq!(answers(&editor, mouse), ["cancelled"]);
    assert_eq!(answers(&editor, line), [""]);
    let set = "{\"breakpoints\": [{\"name\": \"update\"}]}";
    let set = editor.send("setFunctionBreakpoints", set);
    editor.ask("cancel", &format!("{{\"requestId\": {set}}}"));
    let answer = editor.events.iter().find(|it| number(it, "request_seq") == set as f64).cloned();
    let answer = answer.unwrap_or_else(|| editor.receive());
    assert_eq!(answer.get("success"), Some(&SjsonTree::Bool(true)), "{answer:?}");
    editor.end();
}

/// A script with lines without a statement.
const LINES: &str = "frames = 0\n\n-- A comment.\n--[[ A long\ncomment. ]]\n\
    function update()\n  frames = frames + 1\n  -- Another comment.\n  local a = 1\n\n  \
    local b = {\n    a,\n  }\n  done = b\nend\n";

#[test]
fn breakpoints_are_at_lines_with_statements() {
    let mut editor = Editor::start("lines", LINES);
    editor.launch("");
    editor.plays_on("frames");
    let path = json::quoted(&editor.path("main.lua").to_string_lossy());
    let lines = |editor: &mut Editor, more: &str| -> Vec<f64> {
        let arguments = format!("{{\"source\": {{\"path\": {path}}}, {more}}}");
        let found = editor.ask("breakpointLocations", &arguments);
        items(&found, "breakpoints").iter().map(|it| number(it, "line")).collect()
    };
    assert_eq!(
        lines(&mut editor, "\"line\": 1, \"endLine\": 100"),
        [1.0, 6.0, 7.0, 9.0, 11.0, 14.0]
    );
    assert_eq!(lines(&mut editor, "\"line\": 3"), [0.0; 0]);
    assert_eq!(lines(&mut editor, "\"line\": 9"), [9.0]);
    assert_eq!(lines(&mut editor, "\"line\": 15, \"endLine\": 1e300"), [0.0; 0]);
    assert_eq!(lines(&mut editor, "\"line\": -5, \"endLine\": -9"), [0.0; 0]);
    // In comments, between statements, inside of one.
    let points = "{\"line\": 3}, {\"line\": 5}, {\"line\": 8}, {\"line\": 10}, {\"line\": 12}";
    let set = editor.set_breakpoints("main.lua", points);
    let found: Vec<f64> = items(&set, "breakpoints").iter().map(|it| number(it, "line")).collect();
    assert_eq!(found, [6.0, 6.0, 9.0, 11.0, 14.0], "{set:?}");
    for line in [9, 11, 14] {
        assert_eq!(editor.stopped().1, format!("main.lua:{line}"));
        editor.ask("continue", THREAD);
    }
    editor.end();
}

#[test]
fn log_points_write_and_do_not_stop() {
    let mut editor = Editor::start("log", MAIN);
    editor.launch("");
    editor.plays_on("frames");
    let log = "{\"line\": 7, \"logMessage\": \"add {amount * 2} of {player.name} {nothing.x} {\"}, \
               {\"line\": 17, \"condition\": \"frames % 2 == 0\", \
               \"logMessage\": \"even {frames % 2}\"}, \
               {\"line\": 18, \"hitCondition\": \"% 3\", \"logMessage\": \"third\"}";
    let set = editor.set_breakpoints("main.lua", log);
    let verified = |it: &SjsonTree| it.get("verified") == Some(&SjsonTree::Bool(true));
    assert!(items(&set, "breakpoints").iter().all(verified), "{set:?}");
    let mut logged = [0, 0, 0];
    while logged.iter().any(|count| *count < 3) {
        let output = editor.event("output");
        let line = text(&output, "output");
        let begins = ["add ", "even ", "third"].iter().position(|it| line.starts_with(it));
        let Some(at) = begins else { continue };
        logged[at] += 1;
        if at == 0 {
            assert!(line.starts_with("add 4 of \"Ada\" {"), "{line}");
            assert!(line.contains("nothing") && line.ends_with(" {\n"), "{line}");
        }
        assert!(at != 1 || line == "even 0\n", "{line}");
    }
    assert!(logged[0] > logged[1] && logged[0] > logged[2], "{logged:?}");
    assert!(!editor.events.iter().any(|event| text(event, "event") == "stopped"));
    // A message with a line that never ends takes its time, and the game plays on.
    let endless = "{\"line\": 17, \"logMessage\": \"{(function() while true do end end)()}\"}";
    editor.set_breakpoints("main.lua", endless);
    loop {
        let output = editor.event("output");
        if text(&output, "output").contains("seconds of CPU time") {
            break;
        }
    }
    editor.set_breakpoints("main.lua", "");
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn capabilities_are_those_that_exist() {
    let mut editor = Editor::start("capabilities", MAIN);
    let capabilities = editor.ask("initialize", "{\"adapterID\": \"engine\"}");
    let SjsonTree::Object(entries) = &capabilities else { panic!("{capabilities:?}") };
    let on: Vec<&str> = entries
        .iter()
        .filter(|(_, value)| *value == SjsonTree::Bool(true))
        .map(|(name, _)| name.as_str())
        .collect();
    editor.launch("{\"line\": 16}");
    editor.stopped();
    // Requests of abilities are known, with whatever arguments.
    let requests = [
        ("supportsFunctionBreakpoints", "setFunctionBreakpoints"),
        ("supportsDataBreakpoints", "dataBreakpointInfo"),
        ("supportsSetExpression", "setExpression"),
        ("supportsCompletionsRequest", "completions"),
        ("supportsLoadedSourcesRequest", "loadedSources"),
        ("supportsBreakpointLocationsRequest", "breakpointLocations"),
        ("supportsSetVariable", "setVariable"),
        ("supportsCancelRequest", "cancel"),
        ("supportsGotoTargetsRequest", "gotoTargets"),
    ];
    for (ability, request) in requests {
        assert!(on.contains(&ability), "{ability}");
        let answer = editor.try_ask(request, "{}");
        assert!(!text(&answer, "message").contains("does not know"), "{answer:?}");
    }
    assert!(!on.contains(&"supportsStepBack"));
    assert!(editor.refused("stepBack", "{}").contains("does not know"));
    editor.end();
}
