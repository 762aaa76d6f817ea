//! Tests of breakpoints whose conditions, numbers of hits or log messages are no Lua, of commands
//! that change conditions, and of lines in the console that are none.

use super::*;

/// Returns each breakpoint of an answer: true if it is set, and its message.
fn states(answer: &SjsonTree) -> Vec<(bool, String)> {
    let state = |point: &SjsonTree| {
        (point.get("verified") == Some(&SjsonTree::Bool(true)), text(point, "message").to_string())
    };
    items(answer, "breakpoints").iter().map(state).collect()
}

#[test]
fn conditions_that_are_no_lua_have_a_message_at_once() {
    let mut editor = Editor::start("faults", MAIN);
    let faulty = [
        ("condition", "count ++", "the condition is no Lua expression: unexpected symbol near '+'"),
        ("condition", "count = 3", "(== compares)"),
        ("condition", "true end, function() return 1", "the condition is no Lua expression"),
        ("hitCondition", "abc", "the number of hits must be like 5, >= 5 or % 5"),
        ("hitCondition", "-1", "the number of hits must be like"),
        ("hitCondition", "% 0", "the number of hits must be like"),
        ("hitCondition", "< 1", "the number of hits must be like"),
        ("logMessage", "count is {count +}", "the log message has no Lua in {count +}: unexpected"),
    ];
    let point = |(key, text, _): &(&str, &str, &str)| {
        format!("{{\"line\": 7, \"{key}\": {}}}", json::quoted(text))
    };
    let points: Vec<String> = faulty.iter().map(point).collect();
    let points = points.join(", ") + ", {\"line\": 16, \"condition\": \"frames == 3\"}";
    // The message is there before the script is loaded, and after.
    let set = editor.launch(&points);
    let check = |set: &SjsonTree| {
        let states = states(set);
        for ((is_set, message), (_, text, wanted)) in states.iter().zip(faulty) {
            assert!(!is_set && message.contains(wanted), "{text}: {message}");
        }
        states[faulty.len()].clone()
    };
    assert!(check(&set).1.contains("not loaded yet"), "{set:?}");
    // Nothing stops at those.
    assert_eq!(editor.stopped().1, "main.lua:16");
    assert_eq!(editor.evaluate("frames"), "3");
    let set = editor.set_breakpoints("main.lua", &points);
    assert!(check(&set).0, "{set:?}");
    let functions = "{\"breakpoints\": [{\"name\": \"add\", \"condition\": \"a b\"}, \
        {\"name\": \"Unit.alive\", \"hitCondition\": \"x\"}, {\"name\": \"add\"}]}";
    let set = states(&editor.ask("setFunctionBreakpoints", functions));
    assert!(!set[0].0 && set[0].1.contains("no Lua expression"), "{set:?}");
    assert!(!set[1].0 && set[1].1.contains("number of hits"), "{set:?}");
    assert!(set[2].0, "{set:?}");
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped(), ("function breakpoint".to_string(), "main.lua:6".to_string()));
    editor.ask("setFunctionBreakpoints", "{\"breakpoints\": []}");
    let globals = editor.scope("Globals");
    let info = format!("{{\"variablesReference\": {globals}, \"name\": \"frames\"}}");
    let data = text(&editor.ask("dataBreakpointInfo", &info), "dataId").to_string();
    let data = format!("{{\"dataId\": {}, \"condition\": \"frames >\"}}", json::quoted(&data));
    let set = editor.ask("setDataBreakpoints", &format!("{{\"breakpoints\": [{data}]}}"));
    let set = states(&set);
    assert!(!set[0].0 && set[0].1.contains("no Lua expression"), "{set:?}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_command_changes_the_condition_of_a_breakpoint() {
    let mut editor = Editor::start("recondition", MAIN);
    let set = editor.launch("{\"line\": 16}");
    let id = number(&items(&set, "breakpoints")[0], "id");
    editor.stopped();
    let command = |editor: &mut Editor, line: &str| {
        let line = json::quoted(line);
        let arguments =
            format!("{{\"expression\": {line}, \"frameId\": 1, \"context\": \"repl\"}}");
        editor.try_ask("evaluate", &arguments)
    };
    let logged = |editor: &mut Editor, wanted: &str| loop {
        if text(&editor.event("output"), "output").contains(wanted) {
            break;
        }
    };
    let frames = |editor: &mut Editor| {
        editor.ask("continue", THREAD);
        assert_eq!(editor.stopped().1, "main.lua:16");
        editor.evaluate("frames")
    };
    editor.events.clear();
    command(&mut editor, "break main.lua:16 frames == 7");
    logged(&mut editor, "breakpoint at main.lua:16 if frames == 7");
    let changed = editor.event("breakpoint");
    assert_eq!(text(&changed, "reason"), "changed", "{changed:?}");
    assert_eq!(changed.get("breakpoint").map(|point| number(point, "id")), Some(id));
    assert_eq!(frames(&mut editor), "7");
    command(&mut editor, "break main.lua:16 frames == 12");
    assert_eq!(frames(&mut editor), "12");
    // One that is no Lua changes nothing.
    let refused = command(&mut editor, "break main.lua:16 frames ==");
    assert!(text(&refused, "message").contains("no Lua expression"), "{refused:?}");
    command(&mut editor, "break");
    logged(&mut editor, "main.lua:16 if frames == 12");
    command(&mut editor, "break main.lua:16");
    logged(&mut editor, "removed the breakpoint at main.lua:16");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn lines_that_are_no_lua_have_their_own_problem() {
    let mut editor = Editor::start("no-lua", MAIN);
    editor.launch("{\"line\": 16}");
    editor.stopped();
    let lines = [
        ("frames +", "unexpected symbol near '<eof>'"),
        ("2 +", "unexpected symbol near '<eof>'"),
        ("frames = =", "unexpected symbol near '='"),
        ("if frames the", "'then' expected near 'the'"),
        ("2 3", "'<eof>' expected near '3'"),
    ];
    let check = |editor: &mut Editor, frame: &str| {
        for (line, wanted) in lines {
            let arguments = format!("{{\"expression\": {}{frame}}}", json::quoted(line));
            let message = editor.refused("evaluate", &arguments);
            assert!(message.contains(wanted), "{line}: {message}");
        }
    };
    check(&mut editor, ", \"frameId\": 1");
    let endless = "{\"expression\": \"(function() while true do end end)()\", \"frameId\": 1}";
    let message = editor.refused("evaluate", endless);
    assert!(
        message.contains("0.5 seconds") && message.contains("function of the game"),
        "{message}"
    );
    assert!(!message.contains("limits."), "{message}");
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    check(&mut editor, "");
    let message = editor.refused("scopes", "{\"frameId\": 1}");
    assert_eq!(message, "no script is stopped: set a breakpoint, or pause the scripts first");
    editor.end();
}
