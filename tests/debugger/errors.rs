//! Tests of stops at errors: which errors stop, in which places, and what follows.

use super::{Editor, THREAD, items, number, text};

/// A game that catches an error in each frame, warns, and has a coroutine that fails.
const ERRORS: &str = r#"frames = 0
local function fail(what)
  local reason = "no " .. what
  error(reason)
end

function update()
  frames = frames + 1
  pcall(fail, "ammunition")
  xpcall(fail, function(problem) return problem end, "target")
  if frames % 2 == 0 then
    local thread = coroutine.create(fail)
    pcall(coroutine.wrap(function() local inner = 5; error("in a coroutine " .. inner) end))
    coroutine.resume(thread, "answer")
  end
  if broken then
    local orc = nil
    orc.hp = 1
  end
end
"#;

fn filters(editor: &mut Editor, filters: &str, options: &str) {
    editor.ask(
        "setExceptionBreakpoints",
        &format!("{{\"filters\": [{filters}], \"filterOptions\": [{options}]}}"),
    );
}

#[test]
fn caught_errors_stop_where_they_are_raised() {
    let mut editor = Editor::start("caught", ERRORS);
    editor.launch("");
    editor.plays_on("frames");
    filters(&mut editor, "\"caught\"", "");
    let mut messages = Vec::new();
    for _ in 0..8 {
        let (reason, at) = editor.stopped();
        assert_eq!(reason, "exception");
        let info = editor.ask("exceptionInfo", THREAD);
        assert_eq!(text(&info, "breakMode"), "always");
        let details = info.get("details").expect("it has details");
        let report = text(details, "stackTrace");
        let is_in_coroutine = text(&info, "description").contains("in a coroutine");
        let raised = if is_in_coroutine { "main.lua:13" } else { &at };
        assert!(report.contains(&format!("In {raised}\n")), "{report}");
        assert!(report.contains(text(details, "message").split(": ").last().unwrap()), "{report}");
        if is_in_coroutine {
            // `error`, the function that fails, in its coroutine, and the one that has resumed it.
            assert_eq!(editor.locations()[..3], [":0", "main.lua:13", "main.lua:13"]);
            assert!(
                report.contains("Coroutine stack, innermost first:\n  main.lua:13"),
                "{report}"
            );
            assert!(report.contains("local inner = 5"), "{report}");
        }
        if text(&info, "description").contains("ammunition") {
            assert!(report.contains("main.lua:9"), "{report}");
            assert_eq!(at, "main.lua:4");
            assert_eq!(
                editor.variables("Locals"),
                ["what = \"ammunition\"", "reason = \"no ammunition\""]
            );
        }
        messages.push(text(&info, "description").to_string());
        editor.ask("continue", THREAD);
    }
    for wanted in ["no ammunition", "no target", "in a coroutine 5"] {
        assert!(messages.iter().any(|it| it.contains(wanted)), "{wanted}: {messages:?}");
    }
    filters(&mut editor, "", "");
    editor.end();
}

#[test]
fn errors_can_be_chosen_by_their_text() {
    let mut editor = Editor::start("text", ERRORS);
    editor.launch("");
    editor.plays_on("frames");
    filters(&mut editor, "", "{\"filterId\": \"caught\", \"condition\": \"TARGET\"}");
    for _ in 0..3 {
        editor.stopped();
        let info = editor.ask("exceptionInfo", THREAD);
        assert!(text(&info, "description").contains("no target"), "{info:?}");
        editor.ask("continue", THREAD);
    }
    filters(&mut editor, "", "");
    editor.end();
}

#[test]
fn a_saved_fix_plays_the_failed_frame_again() {
    let mut editor = Editor::start("fix", ERRORS);
    editor.launch("");
    editor.plays_on("frames");
    editor.ask("evaluate", "{\"expression\": \"broken = true\"}");
    assert_eq!(editor.stopped(), ("exception".to_string(), "main.lua:18".to_string()));
    let frames: f64 = editor.evaluate("frames").parse().unwrap();
    let fixed = ERRORS.replace("local orc = nil", "local orc = {}; fixed_in = fixed_in or frames");
    editor.save_and_compile("main.lua", &fixed);
    editor.ask("continue", THREAD);
    // The frame counted before it failed, and counts again. The game has not ended.
    editor.plays_on("frames");
    let fixed_in = editor.ask("evaluate", "{\"expression\": \"fixed_in\"}");
    assert_eq!(text(&fixed_in, "result"), format!("{}", frames + 1.0));
    editor.end();
}

#[test]
fn an_error_in_a_coroutine_shows_its_stack() {
    let main = "local function deep(hp)\n  local orc = nil\n  return orc.hp + hp\nend\n\
        function update()\n  coroutine.wrap(function() local hp = 3; deep(hp) end)()\nend\n";
    let mut editor = Editor::start("coroutine", main);
    editor.launch("");
    assert_eq!(editor.stopped(), ("exception".to_string(), "main.lua:3".to_string()));
    let stack = editor.ask("stackTrace", THREAD);
    // LuaJIT does not keep the variables of the function that failed, but those of its callers.
    let frame = number(&items(&stack, "stackFrames")[1], "id");
    let scopes = editor.ask("scopes", &format!("{{\"frameId\": {frame}}}"));
    let locals = number(&items(&scopes, "scopes")[0], "variablesReference");
    assert_eq!(editor.fields(locals), ["hp = 3"]);
    let locations = editor.locations();
    assert!(locations.contains(&"main.lua:6".to_string()), "{locations:?}");
    editor.ask("continue", THREAD);
    editor.event("terminated");
    editor.end();
}

#[test]
fn warnings_stop_the_script_that_causes_them() {
    let main = "frames = 0\nfunction update()\n  frames = frames + 1\n  \
if warns then\n    local c = Color(0.5, 0.5, 0.5)\n  end\nend\n";
    let mut editor = Editor::start("warnings", main);
    editor.launch("");
    filters(&mut editor, "\"warning\"", "");
    editor.plays_on("frames");
    editor.ask("evaluate", "{\"expression\": \"warns = true\"}");
    assert_eq!(editor.stopped(), ("exception".to_string(), "main.lua:5".to_string()));
    let info = editor.ask("exceptionInfo", THREAD);
    assert_eq!(text(&info, "exceptionId"), "warning");
    let report = text(info.get("details").expect("it has details"), "stackTrace").to_string();
    assert!(report.contains("Warning: ") && report.contains("In main.lua:5"), "{report}");
    assert!(!report.contains("Error: "), "{report}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}
