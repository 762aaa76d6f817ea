//! Tests of jumps to another line (`goto`), and of the earlier texts of running functions.

use super::{Editor, THREAD, items, number, text};

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
    /// Returns the lines to which the stopped function can jump, for a wanted line.
    #[track_caller]
    fn jump_targets(&mut self, line: u32) -> Vec<f64> {
        let arguments = format!("{{\"source\": {{}}, \"line\": {line}}}");
        let found = self.ask("gotoTargets", &arguments);
        items(&found, "targets").iter().map(|target| number(target, "id")).collect()
    }

    /// Jumps to a line and returns the reason and the location of the stop there.
    #[track_caller]
    fn jump(&mut self, line: u32) -> (String, String) {
        assert_eq!(self.jump_targets(line), [f64::from(line)]);
        self.ask("goto", &format!("{{\"threadId\": 1, \"targetId\": {line}}}"));
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
        let arguments = format!("{{\"threadId\": 1, \"targetId\": {unreachable}}}");
        editor.refused("goto", &arguments);
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
    let mut editor =
        Editor::start("jump-error", "function update()\n  local a = 1\n  error(a)\nend\n");
    editor.launch("");
    editor.stopped();
    assert_eq!(editor.jump_targets(2), Vec::<f64>::new());
    assert!(editor.refused("goto", "{\"threadId\": 1, \"targetId\": 2}").contains("inside of an"));
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
