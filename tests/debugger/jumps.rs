//! Tests of jumps to another line (`goto`), and of the earlier texts of running functions.

use super::{Editor, THREAD, items, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

const MAIN: &str = r#"log = {}
local function note(text) log[#log + 1] = text end
local function work(n)
  local before = n
  note("first")
  note("second")
  local late = before + 1
  note("third")
  for i = 1, 2 do
    local held = i * 10
    keep = function() return held end
    note("loop " .. i)
  end
  note("end")
  return late
end
function update()
  log = {}
  result = work(1)
  done = table.concat(log, ",")
  frames = (frames or 0) + 1
end
"#;

impl Editor {
    /// Returns the numbers and lines to which the stopped function can jump, for a wanted line.
    #[track_caller]
    fn targets_in(&mut self, file: &str, line: u32) -> Vec<(f64, f64)> {
        let path = json::quoted(&self.path(file).to_string_lossy());
        let arguments = format!("{{\"source\": {{\"path\": {path}}}, \"line\": {line}}}");
        let found = self.ask("gotoTargets", &arguments);
        let both = |target: &SjsonTree| (number(target, "id"), number(target, "line"));
        items(&found, "targets").iter().map(both).collect()
    }

    /// Returns the lines of `main.lua` to which the stopped function can jump.
    #[track_caller]
    fn jump_targets(&mut self, line: u32) -> Vec<f64> {
        self.targets_in("main.lua", line).iter().map(|(_, line)| *line).collect()
    }

    /// Jumps to a line and returns the reason and the location of the stop there.
    #[track_caller]
    fn jump(&mut self, line: u32) -> (String, String) {
        let targets = self.targets_in("main.lua", line);
        let [(id, at)] = targets[..] else { panic!("{targets:?}") };
        assert_eq!(at, f64::from(line));
        self.ask("goto", &format!("{{\"threadId\": 1, \"targetId\": {id}}}"));
        self.stopped()
    }
}

fn at(line: u32) -> (String, String) {
    ("goto".to_string(), format!("main.lua:{line}"))
}

#[test]
fn a_stopped_function_jumps_over_lines_and_back() {
    let mut editor = Editor::start("jump", MAIN);
    editor.launch("{\"line\": 5}");
    editor.stopped();
    editor.set_breakpoints("main.lua", "");
    assert_eq!(editor.jump(8), at(8));
    assert_eq!(editor.evaluate("late"), "nil");
    assert_eq!(editor.evaluate("before"), "1");
    assert_eq!(editor.evaluate("#log"), "0");
    editor.ask("next", THREAD);
    assert_eq!(editor.stopped().1, "main.lua:9");
    assert_eq!(editor.evaluate("log[1]"), "\"third\"");
    // The hook has stopped it this time.
    assert_eq!(editor.jump(7), at(7));
    editor.ask("next", THREAD);
    editor.stopped();
    assert_eq!(editor.evaluate("late"), "2");
    // A line without a statement means the next one, and some lines cannot be reached.
    assert_eq!(editor.jump_targets(13), [14.0]);
    for unreachable in [8, 10, 12, 2, 17, 20, 999] {
        assert_eq!(editor.jump_targets(unreachable), Vec::<f64>::new(), "{unreachable}");
    }
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    // The instructions are what they were.
    let done = editor.ask("evaluate", "{\"expression\": \"done\"}");
    assert_eq!(text(&done, "result"), "\"first,second,third,loop 1,loop 2,end\"");
    editor.end();
}

#[test]
fn a_jump_out_of_a_loop_keeps_captured_variables() {
    let mut editor = Editor::start("jump-loop", MAIN);
    editor.launch("{\"line\": 12}");
    editor.stopped();
    assert_eq!(editor.evaluate("i"), "1");
    assert_eq!(editor.jump(10), at(10));
    editor.ask("next", THREAD);
    editor.stopped();
    assert_eq!(editor.jump(14), at(14));
    editor.set_breakpoints("main.lua", "");
    editor.ask("stepOut", THREAD);
    editor.stopped();
    assert_eq!(editor.evaluate("keep()"), "10");
    assert_eq!(editor.evaluate("table.concat(log, ',')"), "\"first,second,third,end\"");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    let done = editor.ask("evaluate", "{\"expression\": \"done\"}");
    assert_eq!(text(&done, "result"), "\"first,second,third,loop 1,loop 2,end\"");
    editor.end();
}

#[test]
fn an_error_cannot_be_left_by_a_jump() {
    let main = "function update()\n  local a = 1\n  a = a + 1\n  error(a)\nend\n";
    let mut editor = Editor::start("jump-error", main);
    editor.launch("{\"line\": 2}");
    editor.stopped();
    let id = editor.targets_in("main.lua", 3)[0].0;
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped().1, "main.lua:4");
    assert_eq!(editor.jump_targets(2), Vec::<f64>::new());
    let goto = format!("{{\"threadId\": 1, \"targetId\": {id}}}");
    assert!(editor.refused("goto", &goto).contains("inside of an"));
    editor.ask("continue", THREAD);
    editor.event("exited");
    editor.end();
}

#[test]
fn a_running_function_shows_the_text_that_it_has() {
    let main = "function update()\n  frames = (frames or 0) + 1\n  work()\nend\n\
        function work()\n  coroutine.resume(thread)\n  local unused = 1\nend\n\
        thread = coroutine.wrap and coroutine.create(function()\n  while true do\n    \
        coroutine.yield()\n    ticks = (ticks or 0) + 1\n  end\nend)\n";
    let mut editor = Editor::start("old-text", main);
    editor.launch("");
    editor.plays_on("ticks");
    editor.folder.write("game/main.lua", format!("-- A longer text.\n\n{main}"));
    loop {
        let source = editor.event("loadedSource");
        if text(&source, "reason") == "changed" {
            break;
        }
    }
    editor.set_breakpoints("main.lua", "{\"line\": 9}");
    assert_eq!(editor.stopped().1, "main.lua:9");
    let threads = editor.ask("threads", "{}");
    let waiting = items(&threads, "threads").iter().find(|it| number(it, "id") > 1.0).cloned();
    let id = number(&waiting.expect("a coroutine waits"), "id");
    let stack = editor.ask("stackTrace", &format!("{{\"threadId\": {id}}}"));
    let frames = items(&stack, "stackFrames");
    let own = frames.iter().find(|it| number(it, "line") == 11.0).expect("its function");
    let source = own.get("source").expect("a source");
    assert_eq!(text(source, "name"), "main.lua (before the reload)");
    let reference = number(source, "sourceReference");
    let shown = editor.ask("source", &format!("{{\"sourceReference\": {reference}}}"));
    assert_eq!(text(&shown, "content"), main);
    let listed = editor.ask("loadedSources", "{}");
    let sources = items(&listed, "sources");
    assert!(sources.iter().any(|it| number(it, "sourceReference") == reference), "{sources:?}");
    editor.end();
}

#[test]
fn compiled_loops_of_old_text_are_recognised() {
    let main = "local helper = require(\"helper\")\nthread = coroutine.create(function()\n  \
        while true do\n    for i = 1, 500 do last = i end\n    ticks = (ticks or 0) + 1\n    \
        coroutine.yield()\n  end\nend)\nfunction update()\n  coroutine.resume(thread)\n  \
        helper.clamp(1, 0, 2)\nend\n";
    let mut editor = Editor::start("old-loop", main);
    editor.launch("");
    editor.plays_on("ticks");
    editor.folder.write("game/main.lua", format!("-- A longer text.\n\n{main}"));
    while text(&editor.event("loadedSource"), "reason") != "changed" {}
    editor.plays_on("ticks");
    // Only the other file has a breakpoint, so what runs stays compiled.
    editor.set_breakpoints("helper.lua", "{\"line\": 4}");
    assert_eq!(editor.stopped().1, "helper.lua:4");
    let threads = editor.ask("threads", "{}");
    let waiting = items(&threads, "threads").iter().find(|it| number(it, "id") > 1.0).cloned();
    let id = number(&waiting.expect("a coroutine waits"), "id");
    let stack = editor.ask("stackTrace", &format!("{{\"threadId\": {id}}}"));
    let frames = items(&stack, "stackFrames");
    let own = frames.iter().find(|it| number(it, "line") == 6.0).expect("its function");
    let source = own.get("source").expect("a source");
    assert_eq!(text(source, "name"), "main.lua (before the reload)");
    editor.end();
}

#[test]
fn statements_without_code_are_no_targets() {
    let main = "function note() end\nfunction update()\n  frames = (frames or 0) + 1\n  do\n    \
        note()\n  end\n  local a\n  local b\n  note(a, b)\n  note(1)\nend\n";
    let mut editor = Editor::start("jump-empty", main);
    editor.launch("{\"line\": 5}");
    editor.stopped();
    // The jump would lead to itself.
    assert_eq!(editor.jump_targets(4), Vec::<f64>::new());
    assert_eq!(editor.jump_targets(9), [9.0]);
    for line in [9, 10] {
        editor.set_breakpoints("main.lua", &format!("{{\"line\": {line}}}"));
        editor.ask("continue", THREAD);
        assert_eq!(editor.stopped().1, format!("main.lua:{line}"));
        // Both variables become nil with the instruction of the first.
        assert_eq!(editor.jump_targets(8), Vec::<f64>::new(), "{line}");
        assert_eq!(editor.jump_targets(7), [7.0], "{line}");
    }
    editor.set_breakpoints("main.lua", "");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn captured_variables_are_closed_when_others_follow() {
    let main = "function x() end\nfunction y() end\nfunction update()\n  \
        frames = (frames or 0) + 1\n  do\n    local a = 1\n    \
        keep = function() return a end\n    x()\n  end\n  local b = 2\n  y()\nend\n";
    let mut editor = Editor::start("jump-captured", main);
    editor.launch("{\"line\": 8}");
    editor.stopped();
    editor.set_breakpoints("main.lua", "");
    assert_eq!(editor.jump(11), at(11));
    assert_eq!(editor.evaluate("b"), "nil");
    assert_eq!(editor.evaluate("keep()"), "1");
    editor.evaluate("(function() b = 7 end)()");
    assert_eq!(editor.evaluate("b"), "7");
    assert_eq!(editor.evaluate("keep()"), "1");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_jump_is_for_the_stopped_file_and_thread() {
    let mut editor = Editor::start("jump-file", super::MAIN);
    editor.launch("{\"line\": 8}");
    editor.stopped();
    assert_eq!(editor.jump_targets(6), [6.0]);
    assert!(editor.targets_in("helper.lua", 6).is_empty());
    let id = editor.targets_in("main.lua", 6)[0].0;
    for thread in [2, 2001] {
        let goto = format!("{{\"threadId\": {thread}, \"targetId\": {id}}}");
        assert!(editor.refused("goto", &goto).contains("only the thread that is stopped"));
    }
    let unknown = "{\"threadId\": 1, \"targetId\": 999}";
    assert!(editor.refused("goto", unknown).contains("no target with this number"));
    assert_eq!(editor.jump(6), at(6));
    editor.end();
}

#[test]
fn a_line_on_which_a_function_calls_itself_is_kept() {
    let main = "function note() end\nfunction walk(n)\n  local m = n - 1\n  \
        if m > 0 then walk(m) end\n  note(m)\nend\nfunction update()\n  \
        frames = (frames or 0) + 1\n  walk(2)\nend\n";
    let mut editor = Editor::start("jump-recursion", main);
    editor.launch("{\"line\": 3}");
    let mut wanted = vec![vec![5.0], vec![]];
    while !wanted.is_empty() {
        editor.stopped();
        editor.ask("next", THREAD);
        assert_eq!(editor.stopped().1, "main.lua:4");
        // In the inner call, the outer one waits at this line.
        assert_eq!(editor.jump_targets(5), wanted.remove(0));
        editor.ask("continue", THREAD);
    }
    editor.end();
}
