//! Tests of the start of a session: the confinement of a launched game, arguments of other types,
//! lines that count from 0, and a game that waits for its debugger.

use super::*;
use engine::system::remote::client::RemoteClient;
use engine::system::remote::endpoint_file::EndpointFile;
use std::time::Instant;

/// Asserts that nothing was printed about the confinement.
#[track_caller]
fn check_no_warning(editor: &Editor) {
    let outputs = editor.events.iter().filter(|event| text(event, "event") == "output");
    let outputs = outputs.filter_map(|event| event.get("body").map(|body| text(body, "output")));
    let warnings: Vec<&str> = outputs.filter(|it| it.contains("confinement")).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_launched_game_is_confined_and_graphs_are_saved_in_it() {
    let mut editor = Editor::start("confined", MAIN);
    editor.launch("");
    editor.plays_on("frames");
    check_no_warning(&editor);
    let session = EndpointFile::read(&editor.path("")).expect("the game lets tools in");
    let mut tool = RemoteClient::connect(&session).expect("a second connection");
    let source = "{\"nodes\":{\"n1\":{\"type\":\"event.spawned\"}}}";
    let fields = [("graph", "door.flow"), ("base", "{}"), ("source", source)];
    let fields = fields.map(|(key, value)| (key, json::text(value))).to_vec();
    let saved = tool.request("flow_save", fields, WAIT_MAX, |_| ()).expect("an answer");
    assert_eq!(saved.get("saved"), Some(&SjsonTree::Bool(true)), "{saved:?}");
    assert!(editor.path("door.flow").is_file());
    editor.end();
}

#[test]
fn a_launched_suite_is_confined() {
    let mut editor = Editor::start("confined-suite", MAIN);
    editor.folder.write("game/a_test.lua", "it('runs', function()\n  local one = 1\nend)\n");
    let folder = json::quoted(&editor.path("").to_string_lossy());
    editor.ask("launch", &format!("{{\"folder\": {folder}, \"suite\": \"a_test.lua\"}}"));
    editor.event("initialized");
    editor.set_breakpoints("a_test.lua", "{\"line\": 2}");
    editor.ask("configurationDone", "{}");
    assert_eq!(editor.stopped().1, "a_test.lua:2");
    check_no_warning(&editor);
    editor.ask("continue", THREAD);
    assert_eq!(number(&editor.event("exited"), "exitCode"), 0.0);
    check_no_warning(&editor);
    editor.end();
}

#[test]
fn a_launch_with_wrong_arguments_is_refused() {
    let mut editor = Editor::start("wrong-launch", MAIN);
    let message = editor.refused("launch", "{\"folder\": 5}");
    assert_eq!(message, "'folder' must be a text, and it is 5");
    let folder = json::quoted(&editor.path("").to_string_lossy());
    let wrong = format!("{{\"folder\": {folder}, \"engineArguments\": \"--seed\"}}");
    assert!(editor.refused("launch", &wrong).contains("must be a list of texts"));
    // Nothing in a folder without a game is compiled.
    editor.folder.write("other/big/a.unit", "inherit = \"core/units/empty\"\n");
    let other = editor.folder.join("other");
    let other = format!("{{\"folder\": {}}}", json::quoted(&other.to_string_lossy()));
    assert!(editor.refused("launch", &other).contains("has no main.lua"));
    assert!(!editor.folder.join("other/.engine").exists());
    editor.launch("{\"line\": 16}");
    editor.stopped();
    editor.end();
}

#[test]
fn an_editor_can_count_from_zero() {
    let mut editor = Editor::start("from-zero", MAIN);
    let counts = "{\"linesStartAt1\": false, \"columnsStartAt1\": false}";
    editor.ask("initialize", counts);
    let set = editor.launch("{\"line\": 6}, {\"line\": 15}");
    let lines: Vec<f64> = items(&set, "breakpoints").iter().map(|it| number(it, "line")).collect();
    assert_eq!(lines, [6.0, 15.0], "{set:?}");
    // `frames = …` is the line 15, from 0.
    assert_eq!(editor.stopped().1, "main.lua:15");
    let changed = editor.event("breakpoint");
    assert_eq!(changed.get("breakpoint").map(|point| number(point, "line")), Some(6.0));
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped().1, "main.lua:6");
    let stack = editor.ask("stackTrace", THREAD);
    assert_eq!(number(&items(&stack, "stackFrames")[0], "column"), 0.0, "{stack:?}");
    let path = json::quoted(&editor.path("main.lua").to_string_lossy());
    let source = format!("\"source\": {{\"path\": {path}}}");
    let range = format!("{{{source}, \"line\": 5, \"endLine\": 7}}");
    let found = editor.ask("breakpointLocations", &range);
    let lines: Vec<f64> =
        items(&found, "breakpoints").iter().map(|it| number(it, "line")).collect();
    assert_eq!(lines, [5.0, 6.0, 7.0], "{found:?}");
    let targets = editor.ask("gotoTargets", &format!("{{{source}, \"line\": 7}}"));
    assert_eq!(number(&items(&targets, "targets")[0], "line"), 7.0, "{targets:?}");
    let before = "{\"text\": \"befo + amount\", \"column\": 4, \"frameId\": 1}";
    let found = editor.ask("completions", before);
    let labels: Vec<&str> = items(&found, "targets").iter().map(|it| text(it, "label")).collect();
    assert_eq!(labels, ["before"]);
    editor.end();
}

#[test]
fn a_game_reports_that_it_waits_for_its_debugger() {
    let folder = GameFolder::new("dap", "waits");
    folder.write("game/main.lua", MAIN);
    let mut command = folder.command(&["run", "game", "--debug", "--headless"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut game = command.spawn().expect("the engine starts");
    let output = BufReader::new(game.stderr.take().expect("a pipe"));
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
    });
    let wanted = "engine: waiting up to 60 seconds for a debugger (engine dap)";
    let end = Instant::now() + WAIT_MAX;
    let is_found = std::iter::from_fn(|| {
        lines.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
    })
    .any(|line| line == wanted);
    let _ = game.kill();
    let _ = game.wait();
    assert!(is_found);
}

#[test]
fn functions_of_the_library_stop_if_the_engine_has_them() {
    let main = "frames = 0\nfunction update()\n  frames = frames + 1\n  \
        local shown = string.format('%d', frames)\n  return math.floor(frames), shown\nend\n";
    let mut editor = Editor::start("library", main);
    editor.launch("");
    editor.plays_on("frames");
    let names = "{\"breakpoints\": [{\"name\": \"string.format\"}, {\"name\": \"math.floor\"}]}";
    let set = editor.ask("setFunctionBreakpoints", names);
    let points = items(&set, "breakpoints");
    assert_eq!(points[0].get("verified"), Some(&SjsonTree::Bool(true)), "{set:?}");
    assert!(text(&points[1], "message").contains("of Lua's library"), "{set:?}");
    assert_eq!(editor.stopped(), ("function breakpoint".to_string(), "main.lua:4".to_string()));
    editor.end();
}
