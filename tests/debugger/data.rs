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
    pub(super) fn inner(&mut self, reference: f64, name: &str) -> f64 {
        let found = self.ask("variables", &format!("{{\"variablesReference\": {reference}}}"));
        let entry = items(&found, "variables").iter().find(|it| text(it, "name") == name);
        number(entry.unwrap_or_else(|| panic!("{name} in {found:?}")), "variablesReference")
    }

    /// Follows a value. Returns its description.
    #[track_caller]
    pub(super) fn follow(&mut self, reference: f64, name: &str) -> String {
        let name = json::quoted(name);
        let info = format!("{{\"variablesReference\": {reference}, \"name\": {name}}}");
        let data = self.ask("dataBreakpointInfo", &info);
        let point = self.set_data(text(&data, "dataId"));
        assert_eq!(point.get("verified"), Some(&SjsonTree::Bool(true)), "{point:?}");
        text(&data, "description").to_string()
    }

    /// Follows a value by its id, in place of those before. Returns the breakpoint.
    #[track_caller]
    fn set_data(&mut self, id: &str) -> SjsonTree {
        let id = json::quoted(id);
        let points = format!("{{\"breakpoints\": [{{\"dataId\": {id}}}]}}");
        let set = self.ask("setDataBreakpoints", &points);
        items(&set, "breakpoints")[0].clone()
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
fn a_counter_stops_after_the_line_that_counts() {
    let mut editor = Editor::start("data-counter", MAIN);
    editor.launch("");
    editor.plays_on("frames");
    editor.plays_on("frames");
    editor.stop_at("done = frames");
    let engine = editor.scope("Engine");
    let counters = editor.inner(engine, "counters");
    let description = editor.follow(counters, "[\"test/rounds\"]");
    assert!(description.contains("compared at each line"), "{description}");
    let stops = |editor: &mut Editor, wanted: &str| {
        editor.ask("continue", THREAD);
        let stop = editor.event("stopped");
        assert_eq!(text(&stop, "reason"), "data breakpoint");
        assert!(text(&stop, "text").contains(wanted), "{stop:?}");
        assert_eq!(editor.locations()[0], "main.lua:20");
    };
    // A frame begins with 0, which is no change.
    stops(&mut editor, "0 → 1");
    stops(&mut editor, "0 → 1");
    editor.evaluate("fast = true");
    stops(&mut editor, "0 → 2");
    editor.ask("setDataBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("done");
    editor.end();
}

#[test]
fn a_count_at_the_end_of_a_frame_stops_the_next_line() {
    let main = "frames = 0\nlocal rounds = Stats.counter(\"test/last\")\n\
        function update() frames = frames + 1; rounds.value = on and frames or 0 end\n\
        function render()\n  local drawn = frames\nend\n";
    let mut editor = Editor::start("data-counter-last", main);
    editor.launch("");
    editor.plays_on("frames");
    editor.stop_at("local drawn");
    let engine = editor.scope("Engine");
    let counters = editor.inner(engine, "counters");
    editor.follow(counters, "[\"test/last\"]");
    editor.evaluate("on = true");
    editor.ask("continue", THREAD);
    let stop = editor.event("stopped");
    assert_eq!(text(&stop, "reason"), "data breakpoint");
    assert!(text(&stop, "text").contains("0 → "), "{stop:?}");
    assert_eq!(editor.locations()[0], "main.lua:5");
    editor.ask("setDataBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
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

/// A game whose units share a table of its state.
const SHARED: &str = r#"frames = 0
local state = { score = 0, all = {} }
for i = 1, 50000 do state.all[i] = { i } end
local box
function init()
  for i = 1, 300 do
    box = World.spawn_unit(Application.main_world(), "core/units/empty")
    Unit.set_data(box, "game", state)
    Unit.set_data(box, "own", "inner", "level", i)
    Unit.get_data(box, "own").all = state.all
  end
end
function update()
  frames = frames + 1
  local unit = box
  state.score = 1
  state.score = 0
  done = frames
end
"#;

#[test]
fn tables_of_scripts_in_data_are_compared_at_each_line() {
    let mut editor = Editor::start("data-shared", SHARED);
    editor.launch("");
    editor.stop_at("done = frames");
    let locals = editor.scope("Locals");
    let unit = editor.inner(locals, "unit");
    let data = editor.inner(unit, "data");
    let own = editor.inner(data, "own");
    let inner = editor.inner(own, "inner");
    let info = |editor: &mut Editor, reference: f64, name: &str| {
        let arguments = format!("{{\"variablesReference\": {reference}, \"name\": \"{name}\"}}");
        let data = editor.ask("dataBreakpointInfo", &arguments);
        text(&data, "description").to_string()
    };
    let description = info(&mut editor, inner, "level");
    assert!(description.contains("at the end of each frame"), "{description}");
    // What the units have in common is searched once, and not for each of them.
    let globals = editor.scope("Globals");
    let description = info(&mut editor, globals, "frames");
    assert!(description.contains("at each line"), "{description}");
    // The table is the script's, so that a change is noticed at once, also one that is undone.
    let state = editor.inner(data, "game");
    let description = editor.follow(state, "score");
    assert!(description.contains("at each line"), "{description}");
    editor.ask("continue", THREAD);
    assert_eq!(editor.stopped(), ("data breakpoint".to_string(), "main.lua:17".to_string()));
    assert_eq!(editor.evaluate("Unit.get_data(unit, \"game\").score"), "1");
    editor.ask("setDataBreakpoints", "{\"breakpoints\": []}");
    editor.ask("continue", THREAD);
    editor.plays_on("frames");
    editor.end();
}

#[test]
fn a_local_of_a_dead_coroutine_is_followed_no_longer() {
    let main = "frames = 0\nlocal function job()\n  local sum = 0\n  error(\"over \" .. sum)\n\
        end\nfunction update()\n  frames = frames + 1\n  \
        coroutine.resume(coroutine.create(job))\n  done = frames\nend\n";
    let mut editor = Editor::start("data-dead", main);
    editor.launch("");
    editor.ask("setExceptionBreakpoints", "{\"filters\": []}");
    editor.stop_at("error(");
    let locals = editor.scope("Locals");
    editor.follow(locals, "sum");
    editor.events.clear();
    editor.ask("continue", THREAD);
    let ended = editor.event("breakpoint");
    let point = ended.get("breakpoint").expect("it has one");
    assert!(text(point, "message").contains("does not exist any more"), "{point:?}");
    editor.plays_on("done");
    editor.end();
}

#[test]
fn values_that_are_set_again_elsewhere_have_not_changed() {
    let main = "frames = 0\nlocal thread = coroutine.create(function()\n  local held = 5\n  \
        while true do\n    coroutine.yield(held)\n    ticks = (ticks or 0) + 1\n  end\nend)\n\
        function update()\n  frames = frames + 1\n  coroutine.resume(thread)\n  \
        done = frames\nend\n";
    let mut editor = Editor::start("data-again", main);
    editor.launch("");
    editor.stop_at("ticks = ");
    let locals = editor.scope("Locals");
    let info = format!("{{\"variablesReference\": {locals}, \"name\": \"held\"}}");
    let id = text(&editor.ask("dataBreakpointInfo", &info), "dataId").to_string();
    let set = editor.set_data(&id);
    assert_eq!(set.get("verified"), Some(&SjsonTree::Bool(true)), "{set:?}");
    editor.ask("continue", THREAD);
    // Outside of the coroutine, its variable cannot be read.
    editor.stop_at("done = frames");
    editor.set_data(&id);
    editor.ask("continue", THREAD);
    editor.events.clear();
    editor.plays_on("ticks");
    assert!(!editor.events.iter().any(|event| text(event, "event") == "stopped"));
    // An editor sends its whole list, also values of workers.
    let foreign = editor.set_data("value 7:1");
    assert_eq!(foreign.get("verified"), Some(&SjsonTree::Bool(false)), "{foreign:?}");
    assert!(text(&foreign, "message").contains("another script"), "{foreign:?}");
    editor.end();
}
