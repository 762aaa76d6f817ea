//! Tests of data breakpoints: on local variables, counters, and what the engine knows of a unit.

use super::{Editor, THREAD, items, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

const MAIN: &str = r#"frames = 0
local rounds = Stats.counter("test/rounds")
local box

function init()
  box = World.spawn_unit(Application.main_world(), "core/units/empty")
end

local function work(count)
  local sum = 0
  for i = 1, count do
    sum = sum + (i == 3 and 5 or 0)
  end
  return sum
end

function update()
  frames = frames + 1
  rounds.value = frames > 5 and fast and 2 or 1
  local unit = box
  work(4)
  Unit.set_local_position(unit, 1, Vector3(moved or 0, 0, 0))
  Unit.alive(unit)
  done = frames
end
"#;

impl Editor {
    /// Returns the reference of an entry of a scope or of a table.
    #[track_caller]
    fn inner(&mut self, reference: f64, name: &str) -> f64 {
        let found = self.ask("variables", &format!("{{\"variablesReference\": {reference}}}"));
        let entry = items(&found, "variables").iter().find(|it| text(it, "name") == name);
        number(entry.unwrap_or_else(|| panic!("{name} in {found:?}")), "variablesReference")
    }

    /// Follows a value. Returns its description.
    #[track_caller]
    fn follow(&mut self, reference: f64, name: &str) -> String {
        let name = json::quoted(name);
        let info = format!("{{\"variablesReference\": {reference}, \"name\": {name}}}");
        let data = self.ask("dataBreakpointInfo", &info);
        let id = json::quoted(text(&data, "dataId"));
        let points = format!("{{\"breakpoints\": [{{\"dataId\": {id}}}]}}");
        let set = self.ask("setDataBreakpoints", &points);
        let verified = items(&set, "breakpoints")[0].get("verified").cloned();
        assert_eq!(verified, Some(SjsonTree::Bool(true)), "{set:?}");
        text(&data, "description").to_string()
    }
}

#[test]
fn a_local_variable_is_followed_until_its_function_returns() {
    let mut editor = Editor::start("data-local", MAIN);
    editor.launch("");
    editor.stop_at("for i = 1, count do");
    let locals = editor.scope("Locals");
    assert!(editor.follow(locals, "sum").contains("slow"));
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped().0, "data breakpoint");
    assert_eq!(editor.evaluate("sum"), "5");
    editor.ask("continue", THREAD);
    let ended = editor.event("breakpoint");
    let point = ended.get("breakpoint").expect("it has one");
    assert!(text(point, "message").contains("does not exist any more"), "{point:?}");
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn counters_are_compared_at_the_end_of_each_frame() {
    let mut editor = Editor::start("data-counter", MAIN);
    editor.launch("");
    editor.plays_on("frames");
    editor.plays_on("frames");
    editor.stop_at("done = frames");
    let engine = editor.scope("Engine");
    let counters = editor.inner(engine, "counters");
    let description = editor.follow(counters, "[\"test/rounds\"]");
    assert!(description.contains("end of each frame"), "{description}");
    editor.ask("continue", THREAD);
    editor.plays_on("done");
    editor.ask("evaluate", "{\"expression\": \"fast = true\"}");
    let stop = editor.event("stopped");
    assert_eq!(text(&stop, "reason"), "data breakpoint");
    assert!(text(&stop, "text").contains("1 → 2"), "{stop:?}");
    editor.ask("setDataBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("done");
    editor.end();
}

#[test]
fn a_unit_is_compared_after_functions_of_the_engine() {
    let mut editor = Editor::start("data-unit", MAIN);
    editor.launch("");
    editor.stop_at("done = frames");
    let locals = editor.scope("Locals");
    let unit = editor.inner(locals, "unit");
    let description = editor.follow(unit, "position");
    assert!(description.contains("each function of Unit"), "{description}");
    editor.ask("continue", THREAD);
    editor.plays_on("done");
    editor.ask("evaluate", "{\"expression\": \"moved = 7\"}");
    assert_eq!(editor.stopped(), ("data breakpoint".to_string(), "main.lua:22".to_string()));
    editor.ask("setDataBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("done");
    editor.end();
}
