//! Tests of breakpoints when the game is restarted, or its scripts are saved.

use super::*;
use std::time::Instant;

/// Returns the number of the first breakpoint in an answer.
fn id_of(answer: &SjsonTree) -> f64 {
    number(&items(answer, "breakpoints")[0], "id")
}

/// Returns the location of a stop, and the numbers of its breakpoints.
fn stop(editor: &mut Editor) -> (String, Vec<f64>) {
    let stopped = editor.event("stopped");
    let ids = items(&stopped, "hitBreakpointIds").iter().map(|id| match id {
        SjsonTree::Number(id) => *id,
        other => panic!("{other:?}"),
    });
    let ids = ids.collect();
    (editor.locations().remove(0), ids)
}

/// Restarts the game, and waits for its first stop at line 16.
fn restart(editor: &mut Editor) -> Vec<f64> {
    editor.ask("restart", "{}");
    let (at, ids) = stop(editor);
    assert_eq!((at.as_str(), editor.evaluate("frames").as_str()), ("main.lua:16", "nil"));
    ids
}

#[test]
fn a_restart_keeps_the_numbers_of_breakpoints() {
    let mut editor = Editor::start("restart-ids", MAIN);
    editor.launch("{\"line\": 16}");
    editor.stopped();
    let helper = id_of(&editor.set_breakpoints("helper.lua", "{\"line\": 6}"));
    // Each list has new numbers, so that those of a new game would be others.
    editor.set_breakpoints("main.lua", "{\"line\": 17}, {\"line\": 18}");
    let main = id_of(&editor.set_breakpoints("main.lua", "{\"line\": 16}"));
    let function = "{\"breakpoints\": [{\"name\": \"add\"}]}";
    let function = id_of(&editor.ask("setFunctionBreakpoints", function));
    // The breakpoints that follow in the frame do not stop it before the restart.
    assert_eq!(restart(&mut editor), [main]);
    for (wanted, id) in [("main.lua:6", function), ("helper.lua:6", helper), ("main.lua:16", main)]
    {
        editor.ask("continue", THREAD);
        assert_eq!(stop(&mut editor), (wanted.to_string(), vec![id]));
    }
    // The editor knows the breakpoints of both files by the numbers of the first game.
    let mut known = Vec::new();
    for event in editor.events.iter().filter(|event| text(event, "event") == "breakpoint") {
        let point = event.get("body").and_then(|body| body.get("breakpoint")).expect("it has one");
        let is_verified = point.get("verified") == Some(&SjsonTree::Bool(true));
        let name = point.get("source").map_or("", |source| text(source, "name"));
        known.extend(is_verified.then(|| (name.to_string(), number(point, "id"))));
    }
    for wanted in [("main.lua", main), ("helper.lua", helper)] {
        assert!(known.contains(&(wanted.0.to_string(), wanted.1)), "{wanted:?} of {known:?}");
    }
    editor.end();
}

#[test]
fn breakpoints_of_commands_reach_the_editor_and_restarts() {
    let mut editor = Editor::start("restart-command", MAIN);
    editor.launch("{\"line\": 16}");
    editor.stopped();
    editor.events.clear();
    let command = |editor: &mut Editor, line: &str| {
        let line = json::quoted(line);
        let arguments =
            format!("{{\"expression\": {line}, \"frameId\": 1, \"context\": \"repl\"}}");
        editor.ask("evaluate", &arguments);
    };
    command(&mut editor, "break main.lua:18 frames > 0");
    let added = editor.event("breakpoint");
    assert_eq!(text(&added, "reason"), "new");
    let added = added.get("breakpoint").expect("it has one").clone();
    assert_eq!(number(&added, "line"), 18.0);
    let path = added.get("source").map_or("", |source| text(source, "path")).to_string();
    assert!(path.ends_with("main.lua"), "{added:?}");
    let id = number(&added, "id");
    restart(&mut editor);
    editor.ask("continue", THREAD);
    assert_eq!(stop(&mut editor), ("main.lua:18".to_string(), vec![id]));
    editor.events.clear();
    command(&mut editor, "break main.lua:18");
    let removed = editor.event("breakpoint");
    assert_eq!(text(&removed, "reason"), "removed");
    assert_eq!(removed.get("breakpoint").map(|it| number(it, "id")), Some(id));
    restart(&mut editor);
    editor.ask("continue", THREAD);
    assert_eq!(stop(&mut editor).0, "main.lua:16");
    editor.end();
}

#[test]
fn a_restart_ends_breakpoints_of_values() {
    let mut editor = Editor::start("restart-data", MAIN);
    editor.launch("");
    editor.stop_at("player.hp =");
    let globals = editor.scope("Globals");
    let player = editor.inner(globals, "player");
    editor.follow(player, "name");
    editor.events.clear();
    editor.ask("restart", "{}");
    loop {
        let event = editor.event("breakpoint");
        let point = event.get("breakpoint").expect("it has one");
        if text(point, "message").contains("the game was restarted") {
            assert_eq!(point.get("verified"), Some(&SjsonTree::Bool(false)), "{point:?}");
            break;
        }
    }
    editor.plays_on("frames");
    editor.end();
}

/// Waits until the editor learns that a breakpoint of `main.lua` is at a line.
#[track_caller]
fn moved_to(editor: &mut Editor, line: f64) {
    loop {
        let event = editor.event("breakpoint");
        let point = event.get("breakpoint").expect("it has one");
        if number(point, "line") == line && point.get("verified") == Some(&SjsonTree::Bool(true)) {
            return;
        }
    }
}

/// Continues until the script stops at a location: a saved file is loaded some frames later.
#[track_caller]
fn continue_to(editor: &mut Editor, wanted: &str) {
    let end = Instant::now() + WAIT_MAX;
    loop {
        editor.ask("continue", THREAD);
        let (_, at) = editor.stopped();
        if at == wanted {
            return;
        }
        assert!(Instant::now() < end, "{at}, not {wanted}");
    }
}

#[test]
fn breakpoints_move_with_their_lines() {
    let mut editor = Editor::start("moves", MAIN);
    editor.launch("{\"line\": 8}");
    editor.stopped();
    // Another program saves the file: the editor sends nothing.
    let longer = MAIN.replace("local count = 0\n", "local count = 0\n\n-- A comment.\n");
    editor.folder.write("game/main.lua", &longer);
    editor.events.clear();
    continue_to(&mut editor, "main.lua:10");
    moved_to(&mut editor, 10.0);
    let locals = editor.variables("Locals");
    assert!(locals.len() == 2 && locals[1].starts_with("before = "), "{locals:?}");
    // The line moves in the part that has changed, above another line.
    let swapped = longer.replace(
        "  local before = count\n  count = count + amount\n  return before\n",
        "  local before, more = count, amount\n  count = count + more\n  -- This line is new.\n  \
         return before\n",
    );
    editor.folder.write("game/main.lua", &swapped);
    continue_to(&mut editor, "main.lua:11");
    moved_to(&mut editor, 11.0);
    // Two edits in one save, with an equal line between them that is nearer.
    let other = "local function other(before)\n  return before\nend\n\nlocal function add";
    let twice = swapped.replace("local function add", other).replace("player.hp =", "player.mp =");
    editor.folder.write("game/main.lua", &twice);
    continue_to(&mut editor, "main.lua:15");
    moved_to(&mut editor, 15.0);
    // Shorter by the function's end: the breakpoint stays in the file.
    let short = "frames = 0\nfunction update()\n  frames = frames + 1\nend\n";
    editor.folder.write("game/main.lua", short);
    continue_to(&mut editor, "main.lua:3");
    editor.end();
}

#[test]
fn breakpoints_move_after_a_list_for_the_same_text() {
    let windows = MAIN.replace('\n', "\r\n");
    let mut editor = Editor::start("moves-again", &windows);
    editor.launch("");
    editor.plays_on("frames");
    // The editor sends its list while the file is loaded as it is.
    editor.set_breakpoints("main.lua", "{\"line\": 8}");
    editor.stopped();
    let longer = windows.replace("local count = 0\r\n", "local count = 0\r\n\r\n\r\n");
    editor.folder.write("game/main.lua", &longer);
    editor.events.clear();
    continue_to(&mut editor, "main.lua:10");
    moved_to(&mut editor, 10.0);
    editor.end();
}

#[test]
fn lines_move_from_the_text_that_the_editor_has_saved() {
    let mut editor = Editor::start("saved-twice", MAIN);
    editor.launch("{\"line\": 8}");
    editor.stopped();
    // What the editor saves cannot be loaded, and another program saves the next text.
    let longer = MAIN.replace("local count = 0\n", "local count = 0\n\n");
    let broken = longer.replace("count = count + amount", "count = = count + amount");
    editor.save_and_compile("main.lua", &broken);
    editor.set_breakpoints("main.lua", "{\"line\": 9}");
    let fixed = longer.replace("local count = 0\n", "local count = 0\n-- One\n-- Two\n");
    editor.folder.write("game/main.lua", &fixed);
    editor.events.clear();
    continue_to(&mut editor, "main.lua:11");
    moved_to(&mut editor, 11.0);
    editor.end();
}

#[test]
fn lines_of_a_file_that_is_loaded_later_move_with_it() {
    let main = "frames = 0\nfunction update()\n  frames = frames + 1\n  \
        if loads then require(\"late\")(frames) end\nend\n";
    let late = "return function(x)\n  local before = x\n  return before\nend\n";
    let mut editor = Editor::start("late", main);
    editor.folder.write("game/late.lua", late);
    editor.launch("");
    editor.plays_on("frames");
    editor.set_breakpoints("late.lua", "{\"line\": 3}");
    editor.save_and_compile("late.lua", &format!("-- One\n-- Two\n{late}"));
    editor.plays_on("frames");
    editor.events.clear();
    editor.ask("evaluate", "{\"expression\": \"loads = true\"}");
    if editor.stopped().1 != "late.lua:5" {
        // On a busy machine, it is compiled later.
        continue_to(&mut editor, "late.lua:5");
    }
    moved_to(&mut editor, 5.0);
    // A restarted game gets the lines as they are now.
    editor.ask("restart", "{}");
    editor.plays_on("frames");
    editor.ask("evaluate", "{\"expression\": \"loads = true\"}");
    assert_eq!(editor.stopped().1, "late.lua:5");
    editor.end();
}

#[test]
fn lines_of_a_saved_file_do_not_move() {
    let mut editor = Editor::start("saved", MAIN);
    editor.launch("{\"line\": 8}");
    editor.stopped();
    // The editor saves the file and sends the new lines before it is loaded.
    let longer = MAIN.replace("local count = 0\n", "local count = 0\n\n");
    editor.folder.write("game/main.lua", longer);
    editor.set_breakpoints("main.lua", "{\"line\": 9}");
    editor.events.clear();
    // Line 9 is the function's `return` in the new text, and its `end` in the old one.
    continue_to(&mut editor, "main.lua:9");
    assert_eq!(editor.variables("Locals").len(), 2);
    // A restarted game has them where they are.
    editor.ask("restart", "{}");
    assert_eq!(editor.stopped().1, "main.lua:9");
    assert_eq!(editor.evaluate("frames"), "1");
    // The next save moves them.
    let longer = MAIN.replace("local count = 0\n", "local count = 0\n\n\n\n");
    editor.folder.write("game/main.lua", longer);
    continue_to(&mut editor, "main.lua:11");
    editor.ask("restart", "{}");
    assert_eq!(editor.stopped().1, "main.lua:11");
    assert_eq!(editor.evaluate("frames"), "1");
    editor.end();
}

#[test]
fn the_note_about_running_functions_ends_with_them() {
    let mut editor = Editor::start("settled", MAIN);
    editor.launch("{\"line\": 17}");
    editor.stopped();
    let set = editor.set_breakpoints("main.lua", "{\"line\": 18}");
    let point = &items(&set, "breakpoints")[0];
    assert!(text(point, "message").contains("are slow until"), "{set:?}");
    let id = number(point, "id");
    editor.events.clear();
    editor.ask("continue", THREAD);
    // The function that ran has its old code, so the hook stops it. The next frame has the new one.
    let mut settled = None;
    while settled.is_none() {
        assert_eq!(editor.stopped().1, "main.lua:18");
        let frames: f64 = editor.evaluate("frames").parse().expect("a number");
        let events = editor.events.iter().filter(|event| text(event, "event") == "breakpoint");
        let mut points = events.filter_map(|event| event.get("body")?.get("breakpoint"));
        settled = points.find(|point| number(point, "id") == id).cloned();
        assert!(frames < 2.0 || settled.is_some(), "{:?}", editor.events);
        editor.ask("continue", THREAD);
    }
    let settled = settled.expect("it is there");
    assert_eq!(settled.get("message"), None, "{settled:?}");
    assert_eq!(settled.get("verified"), Some(&SjsonTree::Bool(true)), "{settled:?}");
    assert_eq!(editor.stopped().1, "main.lua:18");
    editor.end();
}
